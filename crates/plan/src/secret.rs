//! What must not be written down: passwords, tokens and keys, by their names and by their values.
//!
//! Results are kept, sent to colleagues and shown on pages, and a token in one of them is a token that has leaked. Where a
//! setting has a name, the name tells that its value is a secret, and the value is left out. But a server may send back what
//! it was sent, in an error page that is kept as an example, and a message may quote what was typed; there only the
//! value itself can be looked for. Asking users to mark their secrets was rejected: the one who forgets is the one who leaks.
//!
//! Invariant: what stands here instead of a secret tells nothing about it, not even its length.

mod places;

use std::fmt;

use self::places::{Place, in_body, in_url};
use crate::{Body, Draft, FormValue, Plan, Target, percent_decoded, server_in, template};

/// Stands for a secret.
pub(crate) const REDACTED: &str = "***";

/// Shorter values would be found in text that has nothing to do with them (docs/measurement.md §6.5).
const VALUE_LETTERS_MIN: usize = 6;
/// Of a value that was cut off, so much of its beginning gives it away.
const BEGINNING_LETTERS: usize = 8;

/// So much of a request is looked at: an answer's example is shorter, and what is beyond is seldom sent back first.
const REQUEST_BYTES: usize = 64 << 10;

/// Names that are those of secrets, without what stands between their words.
const NAMES: [&str; 15] = [
    "authorization",
    "proxyauthorization",
    "cookie",
    "cookie2",
    "setcookie",
    "auth",
    "xauth",
    "dpop",
    // Parameters of URLs and fields, too short to be words in others.
    "key",
    "sig",
    "pwd",
    "pass",
    "sid",
    "otp",
    "pin",
];
/// Words that make a name that of a secret (docs/measurement.md §6.5).
const WORDS: [&str; 16] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "subscriptionkey",
    "functionskey",
    "session",
    "signature",
    "credential",
    "jwt",
    "csrf",
    "xsrf",
];

/// Whether what is called so is a secret: a header, a parameter of a URL, a field of a form, of JSON or of XML.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name: String = name.trim().chars().filter(|letter| !"-_. ".contains(*letter)).map(|letter| letter.to_ascii_lowercase()).collect();
    NAMES.contains(&name.as_str()) || WORDS.iter().any(|word| name.contains(word))
}

/// The values of the secrets of one load. Never printed, and never written down.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// In every form in which they may be found, the longest first.
    forms: Vec<String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} forms of secrets", self.forms.len())
    }
}

impl Secrets {
    /// Everything in a draft that is a secret, whether or not it can be used.
    #[must_use]
    pub fn of_draft(draft: &Draft) -> Self {
        let mut found = Found::default();
        draft.url.iter().chain(&draft.proxy).chain(&draft.also_target).for_each(|url| found.url(url));
        for line in &draft.header {
            if let Some((name, value)) = line.split_once(':') {
                found.header(name, value);
            }
        }
        draft.user.iter().for_each(|user| found.user(user));
        draft.bearer.iter().for_each(|token| found.value(token));
        draft.cookie.iter().for_each(|cookie| found.header("cookie", cookie));
        draft.data.iter().chain(&draft.json).filter(|body| !body.starts_with('@')).for_each(|body| found.body(body));
        draft.form.iter().filter_map(|field| field.split_once('=')).for_each(|(name, value)| found.field(name, value));
        found.secrets()
    }

    /// Everything in a plan that is a secret.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        let mut found = Found::default();
        found.target(plan.target());
        for (name, value) in &plan.request().headers {
            found.header(name, value);
        }
        if let Some(authorization) = plan.connection().proxy.as_ref().and_then(|proxy| proxy.authorization.as_deref()) {
            found.header("authorization", authorization);
        }
        match &plan.request().body {
            Body::Empty | Body::File(_) => {}
            Body::Bytes(bytes) => found.body(&String::from_utf8_lossy(bytes)),
            Body::Form { parts, .. } => {
                for part in parts {
                    if let FormValue::Text(text) = &part.value {
                        found.field(&part.name, text);
                    }
                }
            }
        }
        let environment = plan.filling().environment.iter().map(|(_, value)| value.as_str());
        found.secrets().and(Self::of_values(environment.chain(plan.filling().concealed.iter().map(String::as_str))))
    }

    /// Everything in a request, as it was sent, that is a secret.
    #[must_use]
    pub fn of_request(request: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&request[..request.len().min(REQUEST_BYTES)]);
        let mut found = Found::default();
        // Several may follow one another. A line of a body that looks like one of a head is treated as such.
        for line in text.lines() {
            match (line.strip_suffix(" HTTP/1.1"), line.split_once(':')) {
                (Some(asked), _) => found.url(asked.split_once(' ').map_or(asked, |(_, url)| url)),
                (None, Some((name, value))) => found.header(name, value),
                (None, None) => {}
            }
        }
        if let Some((_, body)) = text.split_once("\r\n\r\n") {
            found.body(body);
        }
        found.secrets()
    }

    /// These values, whatever they are called.
    pub fn of_values<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found = Found::default();
        values.into_iter().for_each(|value| found.value(value));
        found.secrets()
    }

    /// These and others.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.forms.extend(others.forms);
        self.forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        self.forms.dedup();
        self
    }

    /// The text with every secret left out: as it is, in base64, percent-encoded, in hexadecimal digits or escaped, and one
    /// that was cut off as far as it goes.
    #[must_use]
    pub fn conceal(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in &self.forms {
            if text.contains(form.as_str()) {
                text = text.replace(form.as_str(), REDACTED);
            }
        }
        for form in self.forms.iter().filter(|form| form.len() > BEGINNING_LETTERS) {
            let Some(beginning) = form.get(..BEGINNING_LETTERS) else { continue };
            while let Some(at) = text.find(beginning) {
                let alike = text[at..].chars().zip(form.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
                text.replace_range(at..at + alike, REDACTED);
            }
        }
        text
    }
}

/// Values on their way to [`Secrets`].
#[derive(Default)]
struct Found(Vec<String>);

impl Found {
    fn value(&mut self, value: &str) {
        let value = value.trim();
        let around = template::around(value);
        if around.len() > 1 {
            // What a template names is no secret; what stands around it may be.
            around.into_iter().for_each(|piece| self.value(piece));
            return;
        }
        if value != REDACTED && value.chars().count() >= VALUE_LETTERS_MIN {
            self.0.push(value.to_owned());
        }
    }

    fn header(&mut self, name: &str, value: &str) {
        if !is_secret(name) {
            if value.contains('?') {
                self.parameters(value);
            }
            return;
        }
        let value = value.trim();
        if name.trim().to_ascii_lowercase().trim_end_matches('2').ends_with("cookie") {
            value.split(';').for_each(|pair| self.value(pair.split_once('=').map_or(pair, |(_, value)| value)));
            return;
        }
        match value.split_once(' ') {
            Some((scheme, rest)) if scheme.bytes().all(|letter| letter.is_ascii_alphabetic()) => {
                self.value(rest);
                if let Some(user) = unbase64(rest.trim()).filter(|_| scheme.eq_ignore_ascii_case("basic")) {
                    self.user(&user);
                }
            }
            _ => self.value(value),
        }
    }

    /// `name:password`.
    fn user(&mut self, user: &str) {
        self.value(user);
        self.value(user.split_once(':').map_or(user, |(_, password)| password));
    }

    fn target(&mut self, target: &Target) {
        if let Some((user, password)) = target.credentials() {
            self.user(&format!("{user}:{password}"));
        }
        self.parameters(target.path_and_query());
    }

    /// A URL as typed, which may be none.
    fn url(&mut self, url: &str) {
        if url.starts_with(['/', '?']) {
            return self.parameters(url);
        }
        let rest = &url[server_in(url).start..];
        // A password may hold what ends a host, and then the URL is none; it is a password all the same.
        let user = rest.rsplit_once('@').map(|(user, _)| user);
        if let Some(user) = user {
            self.user(user);
            self.user(&percent_decoded(user));
        }
        self.parameters(rest);
    }

    fn parameters(&mut self, url: &str) {
        self.places(url, in_url(url));
    }

    fn body(&mut self, text: &str) {
        self.places(text, in_body(text));
    }

    fn field(&mut self, name: &str, value: &str) {
        if is_secret(name) { self.value(value) } else { self.body(value) }
    }

    fn places(&mut self, text: &str, places: Vec<Place>) {
        for Place { range: (start, end), value } in places {
            self.value(&text[start..end]);
            self.value(&percent_decoded(&value));
            self.value(&value);
        }
    }

    fn secrets(self) -> Secrets {
        let mut forms: Vec<String> = Vec::new();
        for value in self.0 {
            let bytes = value.as_bytes();
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let percent = |plain: &dyn Fn(u8) -> bool, upper: bool| -> String {
                bytes
                    .iter()
                    .map(|byte| match (plain(*byte), upper) {
                        (true, _) => char::from(*byte).to_string(),
                        (_, true) => format!("%{byte:02X}"),
                        (_, false) => format!("%{byte:02x}"),
                    })
                    .collect()
            };
            let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            let base64 = crate::plan::base64(bytes);
            forms.extend([
                percent(&unreserved, true),
                percent(&unreserved, false),
                base64.trim_end_matches('=').replace('+', "-").replace('/', "_"),
                base64.trim_end_matches('=').to_owned(),
                hex.to_uppercase(),
                hex,
                bytes.escape_ascii().to_string(),
                value.escape_debug().to_string(),
                value.replace('\\', "\\\\").replace('"', "\\\""),
                value,
            ]);
        }
        Secrets::default().and(Secrets { forms })
    }
}

/// Where in a body the values of secrets stand, as the bytes from and to: of fields of JSON, GraphQL and XML, and of forms.
#[must_use]
pub fn secret_values(text: &str) -> Vec<(usize, usize)> {
    in_body(text).into_iter().map(|place| place.range).collect()
}

/// The same in a URL, or a path with its query.
#[must_use]
pub fn secret_parameters(text: &str) -> Vec<(usize, usize)> {
    in_url(text).into_iter().map(|place| place.range).collect()
}

/// A body with its secrets left out.
pub(crate) fn body_without(text: &str) -> String {
    around_templates(text, |text| without(text, in_body(text)))
}

/// A URL, a path with its query, or a text that ends with one, with the secrets of its parameters left out.
#[must_use]
pub fn url_without_secrets(text: &str) -> String {
    around_templates(text, |text| without(text, in_url(text)))
}

fn without(text: &str, places: Vec<Place>) -> String {
    let mut shown = text.to_owned();
    for (start, end) in places.into_iter().rev().map(|place| place.range).filter(|(start, end)| !only_refers(&text[*start..*end])) {
        shown.replace_range(start..end, REDACTED);
    }
    shown
}

/// The value of a secret header or field, left out unless it only refers to one, as `Bearer {{env TOKEN}}` does.
pub(crate) fn value_without(text: &str) -> String {
    around_templates(text, |text| if only_refers(text) { text.to_owned() } else { REDACTED.to_owned() })
}

/// Stand around the number of an expression that only refers to what it writes. In no language, for private use (Unicode).
const REFERENCE: (char, char) = ('\u{E000}', '\u{E001}');
/// The same for an expression in which a secret may stand.
const EXPRESSION: (char, char) = ('\u{E002}', '\u{E003}');

/// Leaves secrets out of a text whose templates are taken for one letter each: they hold quotation marks and ampersands of
/// their own, and are kept or left out whole.
fn around_templates(text: &str, without: impl Fn(&str) -> String) -> String {
    let own = [REFERENCE.0, REFERENCE.1, EXPRESSION.0, EXPRESSION.1];
    if !text.contains(own) {
        return around_marked(text, without);
    }
    // Others for private use stand in for them, of which there are more than a text holds.
    let free = ('\u{F0000}'..='\u{FFFFD}').filter(|letter| !text.contains(*letter));
    let stand_ins: Vec<(char, char)> = own.into_iter().zip(free).collect();
    let standing = stand_ins.iter().fold(text.to_owned(), |text, (own, other)| text.replace(*own, &other.to_string()));
    let shown = around_marked(&standing, without);
    stand_ins.iter().fold(shown, |text, (own, other)| text.replace(*other, &own.to_string()))
}

fn around_marked(text: &str, without: impl Fn(&str) -> String) -> String {
    let expressions = match template::expressions(text) {
        Some(expressions) if !expressions.is_empty() => expressions,
        _ => return without(text),
    };
    let mut marked = String::new();
    let mut from = 0;
    for (number, (range, is_reference)) in expressions.iter().enumerate() {
        let (open, close) = if *is_reference { REFERENCE } else { EXPRESSION };
        marked += &text[from..range.start];
        marked += &format!("{open}{number}{close}");
        from = range.end;
    }
    marked += &text[from..];
    let mut shown = without(&marked);
    for (number, (range, is_reference)) in expressions.into_iter().enumerate() {
        let (open, close) = if is_reference { REFERENCE } else { EXPRESSION };
        shown = shown.replace(&format!("{open}{number}{close}"), &text[range]);
    }
    shown
}

/// Whether a marked text holds nothing but references, after the name of a scheme if there is one.
fn only_refers(marked: &str) -> bool {
    let value = match marked.trim().split_once(' ') {
        Some((scheme, rest)) if scheme.bytes().all(|letter| letter.is_ascii_alphabetic()) => rest,
        _ => marked.trim(),
    };
    let mut inside = false;
    let mut any = false;
    for letter in value.chars() {
        match letter {
            _ if letter == REFERENCE.0 => (inside, any) = (true, true),
            _ if letter == REFERENCE.1 => inside = false,
            _ if inside => {}
            // What stands between a name and its password.
            ':' | '.' | '-' | '_' | ' ' => {}
            _ => return false,
        }
    }
    any
}

/// Whether secrets were left out of a body.
pub(crate) fn is_body_without(text: &str) -> bool {
    in_body(text).iter().any(|Place { range: (start, end), .. }| &text[*start..*end] == REDACTED)
}

/// The value of a field of a form with its secrets left out.
pub(crate) fn field_without(name: &str, value: &str) -> String {
    if is_secret(name) { value_without(value) } else { body_without(value) }
}

/// Whether secrets were left out of it.
pub(crate) fn is_field_without(value: &str) -> bool {
    value == REDACTED || is_body_without(value)
}

/// Whether secrets were left out of a URL.
pub(crate) fn is_url_without(text: &str) -> bool {
    in_url(text).iter().any(|Place { range: (start, end), .. }| &text[*start..*end] == REDACTED)
}

/// The value of a header with its secrets left out: all of it by its name, or parameters of a URL in it, as in `Referer`.
pub(crate) fn header_without(name: &str, value: &str) -> String {
    match is_secret(name) {
        true => value_without(value),
        false if value.contains('?') => url_without_secrets(value),
        false => value.to_owned(),
    }
}

/// Whether secrets were left out of it.
pub(crate) fn is_header_without(value: &str) -> bool {
    value == REDACTED || value.contains('?') && is_url_without(value)
}

fn unbase64(text: &str) -> Option<String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for letter in text.trim_end_matches('=').bytes() {
        let value = LETTERS.iter().position(|known| *known == letter)?;
        bits = bits << 6 | u32::try_from(value).ok()?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    String::from_utf8(bytes).ok()
}

/// A text that is saved as a whole, without these values. All of it is left out where one is so short that it stands in half of the words.
pub(crate) fn text_without(text: &str, values: &[String]) -> String {
    const LETTERS_MIN: usize = 3;
    let held = |value: &&String| !value.is_empty() && *value != REDACTED && text.contains(value.as_str());
    let mut values: Vec<&String> = values.iter().filter(held).collect();
    if values.iter().any(|value| value.chars().count() < LETTERS_MIN) {
        return REDACTED.to_owned();
    }
    // Of one that is the beginning of another nothing is to be left.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values.into_iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), REDACTED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_url_in_a_query_hides_no_secret_before_it() {
        let request = b"GET /login?api_key=S3cretkey&next=http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n";
        assert_eq!(Secrets::of_request(request).conceal("it was S3cretkey"), "it was ***");
        let typed = |url: &str| Secrets::of_draft(&Draft { url: Some(url.to_owned()), ..Draft::default() }).conceal("it was S3cretkey");
        assert_eq!(typed("a.test/x?api_key=S3cretkey&next=http://b.test/"), "it was ***");
        assert_eq!(typed("http://me:S3cretkey@a.test/"), "it was ***");
        let also = Draft { also_target: vec!["https://me:S3cretkey@a.test".to_owned()], ..Draft::default() };
        assert_eq!(Secrets::of_draft(&also).conceal("it was S3cretkey"), "it was ***");
    }

    #[test]
    fn names_tell_what_is_secret() {
        for name in [
            "Authorization",
            "COOKIE",
            "Cookie2",
            "X-Api-Key",
            "x-auth-token",
            "X-Auth",
            "api_key",
            "apiKey",
            "sessionId",
            "key",
            "X-Amz-Signature",
            "client_secret",
            "Ocp-Apim-Subscription-Key",
            "X-Functions-Key",
            "X-Access-Key",
            "DPoP",
            "X-Goog-IAP-JWT-Assertion",
            "X-CSRF",
            "jwt",
            "sid",
            "otp",
            "pin",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["Accept", "Host", "page", "keyword", "monkey", "User-Agent", "author", "sign", "spin", "code", "side"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_bodies_are_left_out_and_the_rest_is_kept() {
        for (body, without) in [
            ("a=1&password=hunter22&b=2", "a=1&password=***&b=2"),
            (r#"{"user": "me", "password": "hun\"ter22", "n": 1}"#, r#"{"user": "me", "password": "***", "n": 1}"#),
            (r#"[{"api_key":123456,"a":{"token" : "x"}}]"#, r#"[{"api_key":***,"a":{"token" : "***"}}]"#),
            (r#"{"session": {"id": 7}}"#, r#"{"session": {"id": ***}}"#),
            ("plain text, token: none", "plain text, token: none"),
            (r#"{"password""#, r#"{"password""#),
            (
                "--b1\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter22\r\n--b1\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nkept\r\n--b1--\r\n",
                "--b1\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n***\r\n--b1\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nkept\r\n--b1--\r\n",
            ),
        ] {
            assert_eq!(body_without(body), without);
            assert_eq!(is_body_without(&body_without(body)), body != without, "{body}");
        }
        assert_eq!(url_without_secrets("/a?page=2&api_key=abc&tok%65n=x"), "/a?page=2&api_key=***&tok%65n=***");
    }

    #[test]
    fn what_is_not_json_is_the_same_after_its_secrets_were_left_out_twice() {
        let once = body_without(r#"{"password":"a,api_key[":2d{"s,9d{":D,api_key[":2d{"s,9d{":D"}"#);
        assert_eq!(body_without(&once), once);
    }

    #[test]
    fn letters_for_private_use_hide_no_template() {
        let text = |password: &str| format!("{{\"password\":\"{password}\",\"n\":\"\u{E000}\u{F0000}\"}}");
        assert_eq!(body_without(&text("\u{E001}{{choice \"one\" \"two\"}}")), text(REDACTED));
        assert_eq!(body_without(&text("{{env PASS}}")), text("{{env PASS}}"));
    }

    #[test]
    fn a_secret_that_was_cut_off_is_left_out_as_far_as_it_goes() {
        let secrets = Secrets::of_draft(&Draft { bearer: Some("s3cr3t-t0ken-of-mine".to_owned()), ..Draft::default() });
        assert_eq!(secrets.conceal("401: bad s3cr3t-t0ken… (cut)"), "401: bad ***… (cut)");
        assert!(!format!("{secrets:?}").contains("s3cr3t"));
    }

    #[test]
    fn what_was_sent_is_left_out_of_what_was_seen_whichever_file_it_came_from() {
        let request = b"POST /a?token=S3cret-of-url HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer S3cret-of-header\r\n\r\n{\"password\": \"S3cret-of-body\"}";
        let seen = Secrets::of_request(request).conceal("h: S3cret-of-url, S3cret-of-header, S3cret-of-body");
        assert_eq!(seen, "h: ***, ***, ***");
    }

    #[test]
    fn what_is_inside_basic_authentication_is_secret_too() {
        let draft = Draft { header: vec!["Authorization: Basic bWU6aHVudGVyMjI=".to_owned()], ..Draft::default() };
        assert_eq!(Secrets::of_draft(&draft).conceal("hunter22 me:hunter22 bWU6aHVudGVyMjI="), "*** *** ***");
    }

    proptest! {
        #[test]
        fn a_planted_secret_is_found_in_every_form(secret in "[a-zA-Z0-9+/=._~ %\"\\\\é-]{12,40}", place in 0..8usize) {
            let secret = secret.trim().replace(' ', "_");
            prop_assume!(secret.chars().count() >= 12);
            let draft = match place {
                0 => Draft { bearer: Some(secret.clone()), ..Draft::default() },
                1 => Draft { user: Some(format!("me:{secret}")), ..Draft::default() },
                2 => Draft { header: vec![format!("X-Api-Key: {secret}")], ..Draft::default() },
                3 => Draft { cookie: vec![format!("sid={}", secret.replace(';', ""))], ..Draft::default() },
                4 => Draft { header: vec![format!("Authorization: Bearer {secret}")], ..Draft::default() },
                5 => Draft { form: vec![format!("password={secret}")], ..Draft::default() },
                6 => Draft { json: Some(format!("{{\"token\": {secret:?}}}")), ..Draft::default() },
                _ => Draft { proxy: Some(format!("http://me:{secret}@p:1")), ..Draft::default() },
            };
            let secrets = Secrets::of_draft(&draft);
            let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            for form in [secret.clone(), crate::plan::base64(secret.as_bytes()), hex, secret.as_bytes().escape_ascii().to_string()] {
                let shown = secrets.conceal(&format!("before {form} after"));
                prop_assert!(!shown.contains(form.trim_end_matches('=')), "{} is in {}", form, shown);
                prop_assert!(shown.starts_with("before") && shown.ends_with("after"), "{}", shown);
            }
        }
    }

    #[test]
    fn a_text_is_saved_without_its_secrets_or_not_at_all() {
        let without =
            |values: &[&str]| text_without("a: pw1\nb: pw1-long\n", &values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>());
        assert_eq!(without(&["pw1", "pw1-long"]), "a: ***\nb: ***\n");
        assert_eq!(without(&["elsewhere", ""]), "a: pw1\nb: pw1-long\n");
        assert_eq!(without(&["a"]), "***");
    }
}
