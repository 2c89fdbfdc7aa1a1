//! A collection as a scenario: the file that `loadline run` reads, written for the person who goes on with it.
//!
//! What is printed is a beginning, not an end: someone takes steps out, puts pauses in, and lets a step use what another found. So it
//! is written as a person would: what all requests have in common stands once at the top, JSON stands as JSON, and what could not be
//! carried over is said in comments where it will be looked for. All that is known here of how scenarios are written is in this file.
//!
//! Invariant: what is read back from it is what the collection says.

use std::collections::BTreeMap;

use super::{Auth, Body, Check, Collection, Connection, FieldValue, Part, Placeholder, Request, Text};
use crate::yaml::scalar;

/// The scenario, as text. `source` is the file it comes from, as it is shown.
#[must_use]
pub fn printed(collection: &Collection, source: &str, placeholders: &[Placeholder]) -> String {
    let mut page = Page::default();
    page.comment(&format!("From {source}: {}.", collection.kind.about()));
    if !placeholders.is_empty() {
        page.line("#");
        page.comment("Secrets are not in this file. Before it is run, the environment must have");
        for Placeholder { name, what } in placeholders {
            page.comment(&format!("  {name}  {what}"));
        }
    }
    let common = Common::of(collection);
    let left: Vec<String> = collection.left_out.iter().map(ToString::to_string).chain(common.unsaid.iter().cloned()).collect();
    if !left.is_empty() {
        page.line("#");
        page.comment("Not carried over:");
        left.iter().for_each(|left| page.comment(&format!("- {left}")));
    }
    page.line("");
    if !collection.name.is_empty() {
        page.pair(0, "name", &collection.name);
    }
    page.pair(0, "target", &common.target);
    page.load(&common.connection);
    let variables: Vec<(&str, String)> = collection
        .variables
        .iter()
        .filter(|variable| names_it(collection, &variable.name))
        // What it names may stand below it.
        .map(|variable| (variable.name.as_str(), variable.value.filled(&collection.variables).written()))
        .collect();
    if !variables.is_empty() {
        page.line("");
        page.line("variables:");
        variables.iter().for_each(|(name, value)| page.pair(1, name, value));
    }
    page.defaults(&common);
    page.line("");
    page.line("steps:");
    let mut group: &[String] = &[];
    for (request, name) in collection.requests.iter().zip(names(&collection.requests)) {
        if request.group != group {
            group = &request.group;
            if !group.is_empty() {
                page.item(1, "group", &group.join(" / "));
                page.line("    steps:");
            }
        }
        page.step(if group.is_empty() { 1 } else { 3 }, request, &name, &common);
    }
    page.text
}

/// Headers and body of one request, as keys of a step that stand `depth` levels of two blanks deep. Who asks is not among them.
#[must_use]
pub fn printed_body(request: &Request, depth: usize) -> String {
    let mut page = Page::default();
    let body = Written::of(request);
    let said = |name: &str| body.says_type && name.eq_ignore_ascii_case("content-type");
    let form = ("Content-Type".to_owned(), Text::literal(FORM));
    let headers = request.headers.iter().filter(|(name, _)| !said(name)).chain(body.is_form_as_text.then_some(&form));
    page.headers(depth, &headers.collect::<Vec<_>>());
    page.body(depth, &body);
    page.text
}

/// What all requests have in common, and so stands once.
struct Common {
    /// Where most of them go.
    target: String,
    headers: Vec<(String, Text)>,
    auth: Auth,
    connection: Connection,
    follow: u8,
    /// Whether any request brings cookies of its own.
    cookies: bool,
    /// Whether answers are looked into, which must not be compressed then.
    reads_answers: bool,
    unsaid: Vec<String>,
}

impl Common {
    fn of(collection: &Collection) -> Self {
        let requests = &collection.requests;
        let mut origins: BTreeMap<String, usize> = BTreeMap::new();
        for request in requests {
            *origins.entry(origin(request)).or_default() += 1;
        }
        let most = origins.values().max().copied().unwrap_or(0);
        // Of several the first.
        let target = requests.iter().map(origin).find(|origin| origins.get(origin) == Some(&most)).unwrap_or_default();
        let first = requests.first().cloned().unwrap_or_default();
        let shared = |has: &dyn Fn(&Request) -> bool| requests.len() > 1 && requests.iter().all(has);
        let reads_answers = requests
            .iter()
            .any(|request| !request.extractions.is_empty() || request.checks.iter().any(|check| matches!(check, Check::Holds(_))));
        let headers = first
            .headers
            .iter()
            .filter(|(name, _)| !(reads_answers && is_about_packing(name)))
            .filter(|(name, value)| {
                // What is a secret is, under what all steps have, for the target alone.
                let is_for_all = !plan::is_secret(name) || requests.iter().all(|request| origin(request) == target);
                !name.eq_ignore_ascii_case("content-type")
                    && is_for_all
                    && shared(&|request| request.headers.iter().any(|other| other == &(name.clone(), value.clone())))
            })
            .cloned()
            .collect();
        let auth = if shared(&|request| request.auth == first.auth && origin(request) == target) { first.auth.clone() } else { Auth::None };
        let mut unsaid = Vec::new();
        if reads_answers && let Some(request) = requests.iter().find(|request| request.header("accept-encoding").is_some()) {
            unsaid.push(format!(
                "{}: the header Accept-Encoding: answers are looked into, and compressed ones are not unpacked",
                request.place
            ));
        }
        let connection = first.connection.clone();
        let without_follow = |connection: &Connection| Connection { follow: None, ..connection.clone() };
        for request in requests {
            if without_follow(&request.connection) != without_follow(&connection) {
                unsaid.push(format!(
                    "{}: what is said of its connection: a load has one for all requests, here that of {}",
                    request.place, first.place
                ));
            }
            if let Body::Form(fields) = &request.body {
                for (at, field) in fields.iter().enumerate() {
                    if fields[..at].iter().any(|before| before.name == field.name) {
                        unsaid.push(format!("{}: the field '{}' a second time: a scenario has each name once", request.place, field.name));
                    }
                }
            }
            for (at, check) in request.checks.iter().enumerate() {
                let same = |other: &Check| std::mem::discriminant(other) == std::mem::discriminant(check);
                if request.checks[..at].iter().any(same) {
                    unsaid.push(format!("{}: a second check of the same kind: a scenario has one", request.place));
                }
                if matches!(check, Check::Holds(text) if text.contains("{{")) {
                    unsaid.push(format!("{}: the check on the body: a check cannot hold {{{{", request.place));
                }
            }
        }
        let follow = if requests.iter().all(|request| request.connection.follow == first.connection.follow) {
            first.connection.follow
        } else {
            None
        };
        let cookies = requests.iter().any(|request| request.header("cookie").is_some());
        Self { target, headers, auth, connection, follow: follow.unwrap_or(0), cookies, reads_answers, unsaid }
    }
}

/// What a scenario leaves out beyond what the collection says already, in the same words.
pub(super) fn unsaid(collection: &Collection) -> Vec<String> {
    Common::of(collection).unsaid
}

fn origin(request: &Request) -> String {
    request.url.origin().map_or_else(|_| String::new(), |(target, _)| target.absolute().trim_end_matches('/').to_owned())
}

fn is_about_packing(name: &str) -> bool {
    name.eq_ignore_ascii_case("accept-encoding")
}

fn names_it(collection: &Collection, name: &str) -> bool {
    collection.requests.iter().any(|request| request.texts().any(|text| text.variables().any(|known| known == name)))
}

/// Reports know steps by their names, so each has one of its own.
fn names(requests: &[Request]) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    requests
        .iter()
        .map(|request| {
            let plain: String = request.name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(120).collect();
            let times = seen.entry(format!("{} / {plain}", request.group.join(" / "))).or_default();
            *times += 1;
            if *times > 1 { format!("{plain} ({times})") } else { plain }
        })
        .collect()
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn comment(&mut self, text: &str) {
        let plain: String =
            text.chars().map(|letter| if letter.is_control() || "\u{2028}\u{2029}".contains(letter) { ' ' } else { letter }).collect();
        self.line(format!("# {plain}").trim_end());
    }

    /// `key: value`, so many levels of two blanks deep.
    fn pair(&mut self, depth: usize, key: &str, value: &str) {
        let indent = "  ".repeat(depth);
        let value = scalar(value, depth + 1);
        let key = scalar(key, 0);
        self.line(&format!("{indent}{key}: {value}"));
    }

    /// The same as the first of an item.
    fn item(&mut self, depth: usize, key: &str, value: &str) {
        let indent = "  ".repeat(depth);
        let value = scalar(value, depth + 2);
        self.line(&format!("{indent}- {key}: {value}"));
    }

    fn load(&mut self, connection: &Connection) {
        let mut lines: Vec<(&str, String)> = Vec::new();
        let texts = [
            ("timeout", &connection.timeout),
            ("connect_timeout", &connection.connect_timeout),
            ("connect_to", &connection.connect_to),
            ("unix_socket", &connection.unix_socket),
            ("proxy", &connection.proxy),
            ("cacert", &connection.cacert),
            ("cert", &connection.cert),
            ("key", &connection.key),
        ];
        lines.extend(texts.into_iter().filter_map(|(key, value)| Some((key, value.clone()?))));
        if lines.is_empty() && !connection.insecure {
            return;
        }
        self.line("");
        self.line("load:");
        if connection.insecure {
            self.line("  insecure: true");
        }
        lines.iter().for_each(|(key, value)| self.pair(1, key, value));
    }

    fn defaults(&mut self, common: &Common) {
        if common.headers.is_empty() && common.auth == Auth::None && !common.cookies && common.follow == 0 {
            return;
        }
        self.line("");
        self.line("defaults:");
        if common.cookies {
            self.line("  # Requests bring the cookies that were written down. Without these, and this line, each user has its own.");
            self.line("  cookies: false");
        }
        if common.follow > 0 {
            self.line(&format!("  redirects: {}", common.follow));
        }
        self.auth(1, &common.auth);
        if !common.headers.is_empty() {
            self.line("  headers:");
            common.headers.iter().for_each(|(name, value)| self.pair(2, name, &value.written()));
        }
    }

    fn auth(&mut self, depth: usize, auth: &Auth) {
        let indent = "  ".repeat(depth);
        if *auth == Auth::None {
            return;
        }
        self.line(&format!("{indent}auth:"));
        match auth {
            Auth::None => {}
            Auth::Bearer(token) => self.pair(depth + 1, "bearer", &token.written()),
            Auth::Basic(user, password) | Auth::Digest(user, password) => {
                let kind = if matches!(auth, Auth::Basic(..)) { "basic" } else { "digest" };
                self.line(&format!("{indent}  {kind}:"));
                self.pair(depth + 2, "user", &user.written());
                self.pair(depth + 2, "password", &password.written());
            }
            Auth::Aws(aws) => {
                self.line(&format!("{indent}  aws:"));
                self.pair(depth + 2, "access_key", &aws.access_key.written());
                self.pair(depth + 2, "secret_key", &aws.secret_key.written());
                aws.session_token.iter().for_each(|token| self.pair(depth + 2, "session_token", &token.written()));
                self.pair(depth + 2, "region", &aws.region.written());
                self.pair(depth + 2, "service", &aws.service.written());
            }
        }
    }

    /// A step is an item; its keys stand one level deeper.
    fn step(&mut self, depth: usize, request: &Request, name: &str, common: &Common) {
        let path = request.path().written();
        let origin = origin(request);
        let whole = origin != common.target || path.starts_with("//");
        let path = if whole { format!("{origin}{path}") } else { path };
        let lower = request.method.to_ascii_lowercase();
        let is_short = matches!(request.method.as_str(), "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD" | "OPTIONS");
        let inner = depth + 1;
        let indent = "  ".repeat(inner);
        if is_short {
            self.item(depth, &lower, &path);
        } else {
            self.item(depth, "method", &request.method);
            self.pair(inner, "path", &path);
        }
        self.pair(inner, "name", name);
        if request.auth != common.auth {
            if request.auth == Auth::None {
                self.line(&format!("{indent}auth: none"));
            }
            self.auth(inner, &request.auth);
        }
        let body = Written::of(request);
        let headers: Vec<&(String, Text)> = request
            .headers
            .iter()
            .filter(|(name, _)| !(common.reads_answers && is_about_packing(name)))
            .filter(|header| !common.headers.contains(header))
            .filter(|(name, _)| !body.says_type || !name.eq_ignore_ascii_case("content-type"))
            .collect();
        let form = ("Content-Type".to_owned(), Text::literal(FORM));
        let headers: Vec<&(String, Text)> = headers.into_iter().chain(body.is_form_as_text.then_some(&form)).collect();
        self.headers(inner, &headers);
        self.body(inner, &body);
        if let Some(follow) = request.connection.follow.filter(|follow| *follow != common.follow) {
            self.line(&format!("{indent}redirects: {follow}"));
        }
        if !request.extractions.is_empty() {
            self.line(&format!("{indent}extract:"));
            for taken in &request.extractions {
                self.pair(inner + 1, &taken.variable, &format!("json {}", taken.json_path));
            }
        }
        self.checks(inner, &request.checks);
    }

    fn headers(&mut self, depth: usize, headers: &[&(String, Text)]) {
        if headers.is_empty() {
            return;
        }
        self.line(&format!("{}headers:", "  ".repeat(depth)));
        headers.iter().for_each(|(name, value)| self.pair(depth + 1, name, &value.written()));
    }

    fn body(&mut self, depth: usize, body: &Written) {
        let indent = "  ".repeat(depth);
        match &body.body {
            WrittenBody::None => {}
            WrittenBody::Text(key, text) => self.pair(depth, key, text),
            WrittenBody::File(path) => {
                self.line(&format!("{indent}body:"));
                self.pair(depth + 1, "file", path);
            }
            WrittenBody::Fields(fields) => {
                self.line(&format!("{indent}form:"));
                fields.iter().for_each(|(name, value)| self.pair(depth + 1, name, value));
            }
            WrittenBody::Form(fields) => {
                self.line(&format!("{indent}multipart:"));
                for (name, value, media_type) in fields {
                    match value {
                        Ok(text) => self.pair(depth + 1, name, text),
                        Err(path) => {
                            self.line(&format!("{indent}  {}:", scalar(name, 0)));
                            self.pair(depth + 2, "file", path);
                            media_type.iter().for_each(|media_type| self.pair(depth + 2, "type", media_type));
                        }
                    }
                }
            }
        }
    }

    fn checks(&mut self, depth: usize, checks: &[Check]) {
        let mut lines: Vec<(&str, String)> = Vec::new();
        for check in checks {
            let line = match check {
                Check::Status(statuses) => {
                    let texts: Vec<String> = statuses.iter().map(ToString::to_string).collect();
                    ("status", texts.join(", "))
                }
                Check::Success => ("status", "2xx".to_owned()),
                Check::BelowMillis(most) => ("time", format!("< {most}ms")),
                Check::Holds(text) if text.contains("{{") => continue,
                Check::Holds(text) => ("body", format!("contains \"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))),
            };
            // Two of a kind cannot both stand there; the first is the one that was written first.
            if !lines.iter().any(|(key, _)| *key == line.0) {
                lines.push(line);
            }
        }
        if lines.is_empty() {
            return;
        }
        self.line(&format!("{}checks:", "  ".repeat(depth)));
        for (key, value) in lines {
            // A number is one to its reader, and text otherwise.
            if key == "status" && value.bytes().all(|byte| byte.is_ascii_digit()) {
                self.line(&format!("{}{key}: {value}", "  ".repeat(depth + 1)));
            } else {
                self.pair(depth + 1, key, &value);
            }
        }
    }
}

/// A body as a scenario says it.
struct Written {
    body: WrittenBody,
    /// Whether the type follows from how it is said.
    says_type: bool,
    /// Whether it is a form that stands as text, and no header says so.
    is_form_as_text: bool,
}

/// The type of a form whose fields are percent-encoded.
const FORM: &str = "application/x-www-form-urlencoded";

enum WrittenBody {
    None,
    Text(&'static str, String),
    File(String),
    Fields(Vec<(String, String)>),
    /// A text, or the path of a file.
    Form(Vec<(String, Result<String, String>, Option<String>)>),
}

impl Written {
    fn of(request: &Request) -> Self {
        let content_type = request.header("content-type").and_then(Text::plain).unwrap_or_default();
        let plain_type = content_type.split(';').next().unwrap_or_default().trim();
        let of = |body: WrittenBody, says_type: bool| Self { body, says_type, is_form_as_text: false };
        match &request.body {
            Body::None => of(WrittenBody::None, false),
            Body::Raw(text) if plain_type.eq_ignore_ascii_case("application/json") && is_json(text) => {
                of(WrittenBody::Text("json", text.written()), content_type.eq_ignore_ascii_case("application/json"))
            }
            Body::Raw(text) => of(WrittenBody::Text("body", text.written()), false),
            Body::File(path) => of(WrittenBody::File(path.clone()), false),
            Body::Fields(fields) => {
                let mut named: Vec<(String, String)> = Vec::new();
                for (name, value) in fields {
                    match name.plain().filter(|name| !named.iter().any(|(known, _)| known == name)) {
                        Some(name) => named.push((name.to_owned(), value.written())),
                        None => {
                            // A name twice, or one with a value in it: the text itself says it.
                            let text = super::draft::fields_as_text(fields, &Text::clone);
                            let is_form_as_text = content_type.is_empty();
                            return Self { body: WrittenBody::Text("body", text.written()), says_type: false, is_form_as_text };
                        }
                    }
                }
                of(WrittenBody::Fields(named), content_type.eq_ignore_ascii_case(FORM))
            }
            Body::Form(fields) => {
                let mut written: Vec<(String, Result<String, String>, Option<String>)> = Vec::new();
                for field in fields {
                    // A name that comes again cannot be said, and has been told.
                    if written.iter().any(|(name, ..)| *name == field.name) {
                        continue;
                    }
                    written.push(match &field.value {
                        FieldValue::Text(text) => (field.name.clone(), Ok(text.written()), None),
                        FieldValue::File { path, media_type } => (field.name.clone(), Err(path.clone()), media_type.clone()),
                    });
                }
                of(WrittenBody::Form(written), true)
            }
        }
    }
}

/// Whether a text is JSON once values stand in it, as numbers or in strings.
fn is_json(text: &Text) -> bool {
    let mut marked = String::new();
    for part in text.parts() {
        marked += match part {
            Part::Literal(literal) => literal,
            Part::Variable(_) | Part::Expression(_) => "0",
        };
    }
    marked.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(&marked).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::tree::Tree;
    use crate::collection::{Kind, Wishes};
    use proptest::prelude::*;

    fn scenario(text: &str) -> String {
        let read = Collection::read(Kind::Curl, text.as_bytes(), &Wishes::default()).unwrap();
        let (concealed, placeholders) = read.concealed();
        printed(&concealed, "requests.sh", &placeholders)
    }

    #[test]
    fn a_scenario_is_written_as_a_person_would() {
        let text = scenario(
            "curl 'https://api.example.com/login' -H 'User-Agent: shop/1' --json '{\"user\":\"me\",\"password\":\"hunter22\"}'\n\
             curl https://api.example.com/items?page=2 -H 'User-Agent: shop/1' -u me:hunter22 --retry 2\n\
             curl -X PURGE https://cdn.example.com/items -H 'User-Agent: shop/1' -d 'a=1&b={{x}}'\n",
        );
        let expected = "\
# From requests.sh: command lines of curl, as browsers copy them.
#
# Secrets are not in this file. Before it is run, the environment must have
#   PASSWORD  the field password
#
# Not carried over:
# - line 2: the option --retry 2: a load test counts a failure as one

target: https://api.example.com

defaults:
  headers:
    User-Agent: shop/1

steps:
  - post: /login
    name: POST /login
    headers:
      Accept: application/json
    json: '{\"user\":\"me\",\"password\":\"{{env PASSWORD}}\"}'
  - get: /items?page=2
    name: GET /items
    auth:
      basic:
        user: me
        password: '{{env PASSWORD}}'
  - method: PURGE
    path: https://cdn.example.com/items
    name: PURGE /items
    headers:
      Content-Type: application/x-www-form-urlencoded
    body: 'a=1&b={{\"{{\"}}x}}'
";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_scenario_is_yaml_and_says_what_the_collection_says() {
        let text =
            scenario("curl http://h/ -F 'a=x: y' -F 'f=@p.png;type=image/png' -k -m 2\ncurl http://h/2 -d $'line one\\n  two: #3\\n'\n");
        let tree = Tree::read_yaml(&text).unwrap();
        assert_eq!(tree.at("load").json(), "{\"insecure\":true,\"timeout\":\"2000ms\"}");
        let steps = tree.at("steps").list();
        assert_eq!(steps[0].at("multipart").json(), "{\"a\":\"x: y\",\"f\":{\"file\":\"p.png\",\"type\":\"image/png\"}}");
        assert_eq!(steps[1].at("body").text(), Some("line one\n  two: #3\n"));
    }

    #[test]
    fn folders_checks_and_what_answers_give_stand_where_a_scenario_has_them() {
        let text = r#"{"info": {"name": "Shop"}, "item": [
          {"name": "Log in", "request": {"method": "POST", "url": "https://h/login", "header": [{"key": "Accept-Encoding", "value": "gzip"}]},
           "event": [{"listen": "test", "script": {"exec": ["pm.response.to.have.status(200);", "pm.expect(pm.response.responseTime).to.be.below(300);",
             "pm.environment.set('token', pm.response.json().token);"]}}]},
          {"name": "Orders", "item": [
            {"name": "One", "request": {"url": "https://h/orders/{{id}}", "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]}}},
            {"name": "One", "request": {"url": "https://h/b", "auth": {"type": "awsv4", "awsv4": [{"key": "accessKey", "value": "AK"}, {"key": "secretKey", "value": "hunter22"},
              {"key": "region", "value": "eu-west-1"}, {"key": "service", "value": "s3"}]}}}]}],
          "variable": [{"key": "id", "value": "7"}, {"key": "unused", "value": "1"}]}"#;
        let read = Collection::read(Kind::Postman, text.as_bytes(), &Wishes::default()).unwrap();
        let (concealed, placeholders) = read.concealed();
        let expected = "\
# From shop.json: a Postman collection.
#
# Secrets are not in this file. Before it is run, the environment must have
#   AWS_SECRET_ACCESS_KEY  the secret key for AWS
#
# Not carried over:
# - Log in: the header Accept-Encoding: answers are looked into, and compressed ones are not unpacked

name: Shop
target: https://h

variables:
  id: '7'

steps:
  - post: /login
    name: Log in
    extract:
      token: 'json $.token'
    checks:
      status: 200
      time: '< 300ms'
  - group: Orders
    steps:
      - get: '/orders/{{id}}'
        name: One
        auth:
          bearer: '{{token}}'
      - get: /b
        name: One (2)
        auth:
          aws:
            access_key: AK
            secret_key: '{{env AWS_SECRET_ACCESS_KEY}}'
            region: eu-west-1
            service: s3
";
        assert_eq!(printed(&concealed, "shop.json", &placeholders), expected.replace("'json $.token'", "json $.token"));
    }

    proptest! {
        #[test]
        fn every_text_is_read_back_as_it_was(text in "[-a-c \n\t\r'\":#{}\\[\\]&*!|>%@,?`~0-9é\u{7f}\u{85}\u{2028}\u{feff}]{0,24}") {
            let mut page = Page::default();
            page.pair(0, "before", "x");
            page.line("inner:");
            page.pair(1, "key", &text);
            page.pair(1, "after", "y");
            let tree = Tree::read_yaml(&page.text).unwrap();
            prop_assert_eq!(tree.at("inner").at("key").text(), Some(text.as_str()), "{}", page.text);
            prop_assert_eq!(tree.at("inner").at("after").text(), Some("y"));
        }
    }
}
