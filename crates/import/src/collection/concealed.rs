//! A collection without its secrets: variables of the environment in their place.
//!
//! A recording holds the session of whoever recorded it, and a scenario is a file that goes into a repository. Leaving the secrets out
//! would make a scenario that cannot run; so each becomes `{{env NAME}}`, and its user is told which names to set. The same value is the
//! same name wherever it stands.
//!
//! Invariant: no value that its name tells to be a secret is in what is given back.

use plan::setting::PROXY;
use plan::template::{Piece, Template, Value};
use plan::work::{Auth, Body, FieldValue};
use plan::{is_secret, percent_decoded, secret_values};

use super::{Collection, Omission};

/// A variable of the environment in the place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// The variable, such as `AUTHORIZATION`.
    pub name: String,
    /// What it stands for, such as `the header Authorization`.
    pub what: String,
}

impl Collection {
    /// The same with a variable of the environment in the place of each secret, and which these are.
    #[must_use]
    pub fn concealed(&self) -> (Self, Vec<Placeholder>) {
        let mut hiding = Hiding::default();
        let mut collection = self.clone();
        let texts = self.requests.iter().flat_map(|request| request.texts()).chain(self.variables.iter().map(|variable| &variable.value));
        for value in texts.flat_map(Template::values) {
            if let Value::Env(name) = value {
                hiding.named(name);
            }
        }
        for variable in &mut collection.variables {
            if variable.secret || is_secret(&variable.name) {
                variable.value = hiding.hide(&variable.name, &format!("the variable {}", variable.name), &variable.value);
            }
        }
        for request in &mut collection.requests {
            request.url = hiding.url(&request.url);
            for (name, value) in &mut request.headers {
                if is_secret(name) {
                    *value = hiding.header(name, value);
                }
            }
            match &mut request.body {
                Body::Empty | Body::File(_) => {}
                Body::Text(text) | Body::Json(text) => *text = hiding.body(text),
                Body::Form(fields) => fields.iter_mut().for_each(|(name, value)| hiding.field(name, value)),
                Body::Multipart(fields) => {
                    for field in fields {
                        if let FieldValue::Text(value) = &mut field.value {
                            hiding.field(&field.name, value);
                        }
                    }
                }
            }
            match &mut request.auth {
                None => {}
                Some(Auth::Header(name, value) | Auth::Query(name, value)) => *value = hiding.hide(name, &format!("the key {name}"), value),
                Some(Auth::Basic { user, password } | Auth::Digest { user, password }) => {
                    let what = format!("the password of '{user}'");
                    *password = hiding.hide("PASSWORD", &what, password);
                }
                Some(Auth::Bearer(token)) => *token = hiding.hide("TOKEN", "the bearer token", token),
                Some(Auth::Aws(aws)) => {
                    aws.secret_key = hiding.hide("AWS_SECRET_ACCESS_KEY", "the secret key for AWS", &aws.secret_key);
                    if let Some(token) = &mut aws.session_token {
                        *token = hiding.hide("AWS_SESSION_TOKEN", "the session token for AWS", token);
                    }
                }
            }
            if let Some(proxy) = &mut request.connection.proxy
                && let Some((scheme, rest)) = proxy.split_once("://")
                && let Some((_, host)) = rest.rsplit_once('@')
            {
                let without = format!("{scheme}://{host}");
                *proxy = without;
                let why = format!("it is a secret; give it with {PROXY:#} http://NAME:PASSWORD@HOST:PORT").into();
                collection.left_out.push(Omission { what: "the password of the proxy".to_owned(), place: request.place.clone(), why });
            }
        }
        let values: Vec<String> = hiding.found.iter().map(|(_, value)| value.clone()).collect();
        let secrets = plan::Secrets::of_values(values.iter().map(String::as_str));
        for left in &mut collection.left_out {
            left.what = secrets.conceal(&left.what);
        }
        collection.requests.iter_mut().for_each(|request| request.name = secrets.conceal(&request.name));
        (collection, hiding.found.into_iter().map(|(placeholder, _)| placeholder).collect())
    }
}

/// Nobody sets more variables than so many; the secrets beyond share one, so that none is written down.
const PLACEHOLDERS_MAX: usize = 200;
const MORE: &str = "MORE_SECRETS";

/// What was hidden, and the values, in the order of the file.
#[derive(Default)]
struct Hiding {
    found: Vec<(Placeholder, String)>,
}

impl Hiding {
    /// A variable of the environment that the file names itself.
    fn named(&mut self, name: &str) {
        if !self.found.iter().any(|(known, _)| known.name == name) {
            self.found.push((Placeholder { name: name.to_owned(), what: "named by the file".to_owned() }, String::new()));
        }
    }

    /// With a variable of the environment for every literal part that says something.
    fn hide(&mut self, base: &str, what: &str, text: &Template) -> Template {
        let mut hidden = Template::default();
        for part in text.pieces() {
            match part {
                Piece::Text(literal) if literal.chars().any(char::is_alphanumeric) => {
                    let name = self.name(base, what, literal);
                    hidden.append(Value::Env(name).into());
                }
                part => hidden.push_piece(part.clone()),
            }
        }
        hidden
    }

    fn name(&mut self, base: &str, what: &str, value: &str) -> String {
        if let Some((known, _)) = self.found.iter().find(|(_, known)| !known.is_empty() && known == value) {
            return known.name.clone();
        }
        if self.found.len() >= PLACEHOLDERS_MAX {
            self.named(MORE);
            return MORE.to_owned();
        }
        let mut plain: String =
            base.chars().take(48).map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' }).collect();
        plain = plain.trim_matches('_').to_owned();
        if !plain.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            plain = format!("SECRET_{plain}").trim_end_matches('_').to_owned();
        }
        let mut name = plain.clone();
        let mut number = 2;
        while self.found.iter().any(|(known, _)| known.name == name) {
            name = format!("{plain}_{number}");
            number += 1;
        }
        self.found.push((Placeholder { name: name.clone(), what: what.to_owned() }, value.to_owned()));
        name
    }

    /// The scheme before a credential is no secret: `Bearer …`.
    fn header(&mut self, name: &str, value: &Template) -> Template {
        let what = format!("the header {name}");
        if name.eq_ignore_ascii_case("cookie") && !value.is_fixed() {
            return self.cookies(value, &what);
        }
        let is_credential = name.to_ascii_lowercase().ends_with("authorization");
        match value.split_once(' ') {
            Some((scheme, rest))
                if is_credential
                    && scheme.plain().is_some_and(|scheme| scheme.bytes().all(|letter| letter.is_ascii_alphabetic() || letter == b'-')) =>
            {
                let mut hidden = scheme;
                hidden.push(" ");
                hidden.append(self.hide(name, &what, &rest));
                hidden
            }
            _ => self.hide(name, &what, value),
        }
    }

    /// Cookies of which some have their values from elsewhere: the names stay.
    fn cookies(&mut self, value: &Template, what: &str) -> Template {
        let mut hidden = Template::default();
        for (place, pair) in value.split(';').into_iter().enumerate() {
            hidden.push(if place > 0 { "; " } else { "" });
            match pair.clone().trimmed().split_once('=') {
                Some((name, value)) if name.plain().is_some() => {
                    let base = name.to_string();
                    hidden.append(name);
                    hidden.push("=");
                    hidden.append(self.hide(&base, what, &value));
                }
                _ => hidden.append(self.hide("cookie", what, &pair)),
            }
        }
        hidden
    }

    fn field(&mut self, name: &str, value: &mut Template) {
        if is_secret(name) {
            *value = self.hide(name, &format!("the field {name}"), value);
        }
    }

    /// Parameters of the path (`/a;jsessionid=…/b`) and of the query. What is put in is percent-encoded when it is sent.
    fn url(&mut self, url: &Template) -> Template {
        let (path, query) = url.split_once('?').map_or_else(|| (url.clone(), None), |(path, query)| (path, Some(query)));
        let mut hidden = Template::default();
        for (place, part) in path.split(';').into_iter().enumerate() {
            hidden.push(if place > 0 { ";" } else { "" });
            match part.split_once('/').filter(|_| place > 0) {
                Some((pair, rest)) => {
                    hidden.append(self.parameter(pair));
                    hidden.push("/");
                    hidden.append(rest);
                }
                None if place > 0 => hidden.append(self.parameter(part)),
                None => hidden.append(part),
            }
        }
        for (place, pair) in query.iter().flat_map(|query| query.split('&')).enumerate() {
            hidden.push(if place > 0 { "&" } else { "?" });
            hidden.append(self.parameter(pair));
        }
        hidden
    }

    fn parameter(&mut self, pair: Template) -> Template {
        match pair.split_once('=') {
            Some((name, value)) if is_secret(&percent_decoded(&name.to_string())) => {
                let plain = percent_decoded(&name.to_string());
                let mut hidden = name;
                hidden.push("=");
                hidden.append(self.hide(&plain, &format!("the parameter {plain}"), &value.map_text(percent_decoded)));
                hidden
            }
            _ => pair,
        }
    }

    fn body(&mut self, text: &Template) -> Template {
        let mut hidden = Template::default();
        for piece in text.pieces() {
            let Piece::Text(literal) = piece else {
                hidden.push_piece(piece.clone());
                continue;
            };
            let mut from = 0;
            for (start, end) in secret_values(literal) {
                let value = &literal[start..end];
                if start < from || !value.chars().any(char::is_alphanumeric) {
                    continue;
                }
                let key = key_before(&literal[..start]);
                let name = self.name(key, &format!("the field {key}"), value);
                hidden.push(&literal[from..start]);
                hidden.append(Value::Env(name).into());
                from = end;
            }
            hidden.push(&literal[from..]);
        }
        hidden
    }
}

/// What a value is called: `…"password": "` and `…&password=` end with it.
fn key_before(text: &str) -> &str {
    let text = text.trim_end_matches(|letter: char| letter.is_whitespace() || "\"':=".contains(letter));
    let from = text
        .rfind(|letter: char| !(letter.is_alphanumeric() || "_-".contains(letter)))
        .map_or(0, |at| at + text[at..].chars().next().map_or(1, char::len_utf8));
    &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::{Kind, Wishes};

    #[test]
    fn every_secret_has_a_variable_and_the_same_secret_the_same_one() {
        let text = "curl 'http://h/a?api_key=k%20ey12345&page=2' -H 'Authorization: Bearer tok3n-of-mine' -b 'sid=s3ss1on'\n\
                    curl http://h/b -H 'Authorization: Bearer tok3n-of-mine' --json '{\"user\": \"me\", \"password\": \"hunter22\"}'\n\
                    curl http://h/c -u me:hunter22 -d 'a=1&client_secret=zzzzzz1'\n";
        let read = Collection::read(Kind::Curl, text.as_bytes(), &Wishes::default()).unwrap();
        let (concealed, placeholders) = read.concealed();
        let told: Vec<String> = placeholders.iter().map(|placeholder| format!("{}: {}", placeholder.name, placeholder.what)).collect();
        assert_eq!(
            told,
            [
                "API_KEY: the parameter api_key",
                "AUTHORIZATION: the header Authorization",
                "COOKIE: the header Cookie",
                "PASSWORD: the field password",
                "CLIENT_SECRET: the field client_secret"
            ]
        );
        let [first, second, third] = &concealed.requests[..] else { panic!() };
        assert_eq!(first.url.to_string(), "http://h/a?api_key={{env API_KEY}}&page=2");
        assert_eq!(first.header("authorization").unwrap().to_string(), "Bearer {{env AUTHORIZATION}}");
        assert_eq!(second.body, {
            let mut body = Template::fixed("{\"user\": \"me\", \"password\": \"");
            body.append(Value::Env("PASSWORD".to_owned()).into());
            body.push("\"}");
            Body::Text(body)
        });
        assert_eq!(third.auth, Some(Auth::Basic { user: "me".into(), password: Value::Env("PASSWORD".to_owned()).into() }));
        let whole = format!("{concealed:?}");
        for secret in ["hunter22", "tok3n", "s3ss1on", "k ey", "zzzzzz1"] {
            assert!(!whole.contains(secret), "{secret}");
        }
    }

    #[test]
    fn a_session_in_the_path_is_hidden_too() {
        let text = "curl 'http://h/a;jsessionid=Sk1x9/b;v=1?page=2' 'http://h/c;jsessionid=Sk1x9' 'http://h/d?'";
        let read = Collection::read(Kind::Curl, text.as_bytes(), &Wishes::default()).unwrap();
        let (concealed, placeholders) = read.concealed();
        let urls: Vec<String> = concealed.requests.iter().map(|request| request.url.to_string()).collect();
        assert_eq!(
            urls,
            ["http://h/a;jsessionid={{env JSESSIONID}}/b;v=1?page=2", "http://h/c;jsessionid={{env JSESSIONID}}", "http://h/d?"]
        );
        assert_eq!(placeholders.len(), 1);
    }

    #[test]
    fn what_is_a_variable_already_stays_one() {
        let text = "curl http://h/ -H \"Authorization: Bearer $TOKEN\"";
        let read = Collection::read(Kind::Curl, text.as_bytes(), &Wishes::default()).unwrap();
        let (concealed, placeholders) = read.concealed();
        assert_eq!(concealed, read);
        assert_eq!(placeholders, [Placeholder { name: "TOKEN".to_owned(), what: "named by the file".to_owned() }]);
    }
}
