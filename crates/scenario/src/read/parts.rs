//! The parts of a step: what is sent, what is taken out of the answer, and what it is held against.

use plan::template::{Piece, Template, Value as Filled};
use plan::work::{Along, AnswerCheck, Auth, AwsKeys, Body, Field, FieldValue, Script, Step, Subject};
use plan::{Nanos, Placeholder, Target, is_token};
use step::check::Mistaken;
use step::{Blank, Check};

use super::{Defaults, Entries, OTHERS_MAX, Reading};
use crate::keys::{API_KEY, AUTH, AWS, BODY_FILE, CHECKS, FIELD, LOGIN};
use crate::yaml::{Node, Spot, Value};

/// Methods that have a word of their own.
const SHORT: [&str; 7] = ["get", "post", "put", "patch", "delete", "head", "options"];

impl Reading<'_> {
    pub(super) fn step(&mut self, kind: &str, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Option<Step> {
        let known = self.known.clone();
        let before = entries.value("before").map_or_else(Vec::new, |node| self.scripts(node));
        let set = std::mem::replace(&mut self.known, known);
        // From the first that looks at the request on, what they set is for others.
        let early = before.iter().take_while(|script| !script.reads_request);
        self.known.extend(early.flat_map(Script::assigned).map(str::to_owned));
        let (word, node) = entries.take(kind).expect("it was looked for");
        let (method, path) = if SHORT.contains(&kind) {
            if let Some((word, _)) = entries.take("path") {
                self.wrong(word.spot, format!("'{kind}' and 'path' both say where to"), "keep one of them");
            }
            (kind.to_ascii_uppercase(), Some(node))
        } else {
            let method = self.plain(node).unwrap_or_default();
            if !method.is_empty() && (!method.bytes().all(is_token) || method == "CONNECT") {
                let message = format!("'{}' is no method that has an answer", method.escape_debug());
                self.wrong(node.spot, message, "write a word such as GET or POST");
            }
            let path = entries.value("path");
            if path.is_none() {
                self.wrong(word.spot, "'method' needs 'path'", "write - get: /path, or method: and path:");
            }
            (method, path)
        };
        let typed = path.and_then(|node| self.plain(node)).unwrap_or_default();
        let place = path.and_then(|node| self.place_of(node));
        if let (Some(node), Some((_, Some(elsewhere)))) = (path, &place)
            && elsewhere.scheme().is_grpc()
        {
            self.wrong(node.spot, format!("'{typed}' is a URL of gRPC"), "write - grpc: URL, and its message");
        } else if let (Some(node), Some((_, Some(elsewhere)))) = (path, &place)
            && elsewhere.scheme().is_websocket()
        {
            self.wrong(node.spot, format!("'{typed}' is a URL of WebSocket"), "write - connect: URL, and what is sent in steps behind it");
        }
        let name = entries.value("name").and_then(|node| self.plain(node)).unwrap_or_else(|| format!("{method} {typed}"));
        // It is in every report, whatever the path is a secret of.
        let name = plan::url_without_secrets(&name);
        let name = if group.is_empty() { name } else { format!("{group} / {name}") };
        let elsewhere = place.as_ref().and_then(|(_, elsewhere)| elsewhere.as_ref());
        let (headers, shared_secrets, auth) = self.head(entries, defaults, elsewhere);
        let body = self.body(entries);
        self.known.extend(set);
        let redirects = entries.value("redirects").and_then(|node| self.whole(node, u8::MAX.into()));
        let resources = entries.value("resources").map_or_else(|| defaults.resources.clone(), |node| self.resources(node));
        let cache = entries.value("cache").map_or(defaults.cache, |node| self.cache(node));
        let encoding = entries.value("encoding").map_or(defaults.encoding, |node| self.encoding(node));
        let closes = !entries.value("keep_alive").and_then(|node| self.truth(node)).unwrap_or(true);
        let stream_for = entries.value("stream_for").and_then(|node| {
            let time = self.limit(node, "stream_for");
            if time.is_some() && !self.streams {
                let message = "stream_for is about answers that stream, and load does not say that any do";
                self.wrong(node.spot, message, "write stream: auto under load");
            }
            time
        });
        let common = self.common(entries, defaults);
        let (path, elsewhere) = place?;
        Some(Step {
            name,
            method,
            path,
            elsewhere,
            headers,
            shared_secrets,
            body,
            auth,
            before,
            redirects: redirects.map_or(defaults.redirects, |redirects| u8::try_from(redirects).unwrap_or(u8::MAX)),
            resources,
            cache,
            encoding,
            closes,
            stream_for,
            ..common
        })
    }

    /// Headers, the names of secrets among them that all steps send, and how the user says who it is.
    pub(super) fn head(
        &mut self,
        entries: &mut Entries<'_>,
        defaults: &Defaults<'_>,
        elsewhere: Option<&Target>,
    ) -> (Vec<(String, Template)>, Vec<String>, Option<Auth>) {
        let (headers, shared_secrets) = self.headers(defaults.headers, entries.value("headers"));
        let own_auth = entries.value("auth").map(|node| self.auth(node));
        // What all steps send to say who the user is, is for the target alone.
        let auth = own_auth.unwrap_or_else(|| defaults.auth.clone().filter(|_| elsewhere.is_none()));
        (headers, shared_secrets, auth)
    }

    /// What steps of every kind say: their limits, what their failure means, and what is done with their answer.
    pub(super) fn common(&mut self, entries: &mut Entries<'_>, defaults: &Defaults<'_>) -> Step {
        let cookies = entries.value("cookies").and_then(|node| self.truth(node)).unwrap_or(true);
        let (failure_ends, may_fail) = self.on_failure(entries, (defaults.failure_ends, defaults.may_fail));
        let timeout = entries.value("timeout").and_then(|node| self.timeout(node)).or(defaults.timeout);
        let requests_max = entries.value("maximum_requests").and_then(|node| self.whole(node, u64::MAX));
        let (checks, judges_status) = entries.value("checks").map_or_else(|| (Vec::new(), false), |node| self.checks(node));
        let extractions = entries.value("extract").map_or_else(Vec::new, |node| self.extractions(node));
        self.judge_checked();
        let after = entries.value("after").map_or_else(Vec::new, |node| self.scripts(node));
        let nothing = Step::new(String::new(), String::new(), Template::default());
        Step { cookies, failure_ends, may_fail, timeout, requests_max, checks, judges_status, extractions, after, ..nothing }
    }

    /// Complains of checks about variables that have no value, once those that are taken out of the answer are known.
    fn judge_checked(&mut self) {
        for (spot, name) in std::mem::take(&mut self.checked) {
            if !self.known.contains(&name) {
                let help = "extract it in this step or one before it of the same journey, or give it one under variables";
                self.wrong(spot, format!("the variable '{name}' has no value here"), help);
            }
        }
    }

    pub(super) fn timeout(&mut self, node: &Node) -> Option<Nanos> {
        self.limit(node, "the timeout")
    }

    /// A time that is not 0, as errors call it.
    pub(super) fn limit(&mut self, node: &Node, what: &str) -> Option<Nanos> {
        let text = self.plain(node)?;
        let why = match Nanos::with_unit(&text) {
            Ok(Nanos::ZERO) => format!("'{}' gives no answer any time", text.escape_debug()),
            Ok(timeout) => return Some(timeout),
            Err(why) => why,
        };
        self.wrong(node.spot, format!("{what} {why}"), "write 2s or 500ms");
        None
    }

    /// A path, or a whole URL and its server.
    pub(super) fn place_of(&mut self, node: &Node) -> Option<(Template, Option<Target>)> {
        let template = self.template(node)?;
        let Value::Scalar { text, .. } = &node.value else { return None };
        self.single_braces(node, text);
        if text.starts_with('/') && !text.starts_with("//") {
            return Some((template, None));
        }
        if let Some(Piece::Value(Filled::Weighted { .. })) = template.pieces().first() {
            // Whole paths out of a file, which begin with the slash that stands here for all of them.
            return Some((Template::of([Piece::Text("/".to_owned())].into_iter().chain(template.pieces().iter().cloned())), None));
        }
        if !plan::has_scheme(text) {
            self.wrong(
                node.spot,
                format!("'{}' is no path", text.escape_debug()),
                "begin with /, or write a whole URL such as https://login.test/token",
            );
            return None;
        }
        let server = plan::server_in(text);
        if let Some(at) = text[..server.end].find("{{") {
            let spot = self.within(node, text, at, 2);
            self.wrong(
                spot,
                "only path and query can be a template: the server is looked up before the run",
                "write scheme, host and port out",
            );
            return None;
        }
        let mark = Placeholder::absent_from(text);
        match template.marked(|number| mark.number(number)).parse::<Target>() {
            Ok(target) if target.credentials().is_none() => Some((template, Some(target.with_path_and_query("/".to_owned())))),
            Ok(_) => {
                self.wrong(node.spot, "the URL holds a password", "write it under auth: {basic: {user: …, password: …}}");
                None
            }
            Err(why) => {
                self.wrong(node.spot, format!("the URL '{}' {why}", text.escape_debug()), "begin with /, or write a whole URL");
                None
            }
        }
    }

    /// Headers of all steps and of one, and the names of secrets that it only has from all.
    pub(super) fn headers(&mut self, common: Option<&Node>, own: Option<&Node>) -> (Vec<(String, Template)>, Vec<String>) {
        let mut headers: Vec<(String, Template)> = Vec::new();
        let mut shared_secrets: Vec<String> = Vec::new();
        for (node, is_own) in [(common, false), (own, true)].into_iter().filter_map(|(node, is_own)| Some((node?, is_own))) {
            for (word, node) in self.named(node) {
                let name = &word.text;
                if headers.len() == OTHERS_MAX {
                    self.wrong(word.spot, format!("a request has at most {OTHERS_MAX} headers"), "leave some out");
                    break;
                }
                if name.is_empty() || !name.bytes().all(is_token) {
                    self.wrong(word.spot, format!("'{}' is no name of a header", name.escape_debug()), "write a name such as X-Request-Id");
                    continue;
                }
                let lower = name.to_ascii_lowercase();
                if matches!(lower.as_str(), "content-length" | "transfer-encoding" | "connection") {
                    self.wrong(word.spot, format!("the header {name} follows from the request and the connection"), "leave it out");
                    continue;
                }
                let Some(value) = self.template(node) else { continue };
                if let Value::Scalar { text, .. } = &node.value
                    && text.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)
                {
                    self.wrong(node.spot, format!("the header {name} has a control character in its value"), "leave it out");
                    continue;
                }
                headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
                headers.push((name.clone(), value));
                shared_secrets.retain(|other| !other.eq_ignore_ascii_case(name));
                if !is_own && plan::is_secret(name) {
                    shared_secrets.push(name.clone());
                }
            }
        }
        (headers, shared_secrets)
    }

    fn body(&mut self, entries: &mut Entries<'_>) -> Body {
        const KINDS: [&str; 4] = ["body", "json", "form", "multipart"];
        let given: Vec<_> = KINDS.into_iter().filter_map(|kind| entries.take(kind)).collect();
        if let [(first, _), (second, _), ..] = given[..] {
            self.wrong(second.spot, format!("'{}' and '{}' both are the body", first.text, second.text), "keep one of them");
        }
        let Some((word, node)) = given.first().copied() else { return Body::Empty };
        match word.text.as_str() {
            "body" => match &node.value {
                Value::Map(_) => {
                    let file = self.shape(node, &BODY_FILE).and_then(|mut entries| entries.value("file"));
                    if let Some(node) = file {
                        self.reaches_out(node.spot, "this names a file of the machine that serves");
                    }
                    match file.and_then(|node| Some((node.spot, self.plain(node)?))) {
                        Some((spot, path)) => {
                            let path = self.beside(&path);
                            self.look_for(spot, &path);
                            Body::File(path)
                        }
                        None => {
                            self.wrong(node.spot, "no file is named", "write body: {file: PATH}");
                            Body::Empty
                        }
                    }
                }
                _ => self.template(node).map_or(Body::Empty, Body::Text),
            },
            "json" => self.json_body(node).map_or(Body::Empty, Body::Json),
            "form" => {
                let fields = self.named(node).into_iter().map(|(word, node)| (word.text.clone(), node)).collect::<Vec<_>>();
                Body::Form(fields.into_iter().filter_map(|(name, node)| Some((name, self.template(node)?))).collect())
            }
            _ => {
                let mut fields = Vec::new();
                for (word, node) in self.named(node) {
                    let mut headers = Vec::new();
                    let value = match &node.value {
                        Value::Map(_) => {
                            let Some(mut entries) = self.shape(node, &FIELD) else { continue };
                            headers = entries.value("headers").map_or_else(Vec::new, |node| self.part_headers(node));
                            if let Some((key, text)) = entries.take("text") {
                                if entries.has("file") || entries.has("type") {
                                    self.wrong(key.spot, "a field is a text or a file", "leave out text:, or file: and type:");
                                }
                                let Some(text) = self.template(text) else { continue };
                                fields.push(Field { name: word.text.clone(), value: FieldValue::Text(text), headers });
                                continue;
                            }
                            let path = entries.value("file");
                            if let Some(node) = path {
                                self.reaches_out(node.spot, "this names a file of the machine that serves");
                            }
                            let spot = path.map_or(node.spot, |node| node.spot);
                            let path = path.and_then(|node| self.plain(node));
                            let media_type = entries.value("type").and_then(|node| self.plain(node));
                            let Some(path) = path else {
                                self.wrong(node.spot, "no file is named", "write {file: PATH}, and type: MEDIA if it matters");
                                continue;
                            };
                            let path = self.beside(&path);
                            self.look_for(spot, &path);
                            FieldValue::File { path, media_type: media_type.unwrap_or_else(|| plan::FILE_TYPE.to_owned()) }
                        }
                        _ => match self.template(node) {
                            Some(text) => FieldValue::Text(text),
                            None => continue,
                        },
                    };
                    fields.push(Field { name: word.text.clone(), value, headers });
                }
                Body::Multipart(fields)
            }
        }
    }

    /// Headers of a form's part, which are the same each time.
    fn part_headers(&mut self, node: &Node) -> Vec<(String, String)> {
        let mut headers = Vec::new();
        for (word, node) in self.named(node) {
            let Some(value) = self.plain(node) else { continue };
            if !word.text.is_empty() && word.text.bytes().all(is_token) && !value.contains(char::is_control) {
                headers.push((word.text.clone(), value));
            } else {
                self.wrong(word.spot, format!("'{}' is no header", word.text.escape_debug()), "write a name and a value in one line");
            }
        }
        headers
    }

    /// `None` also for `auth: none`, which takes that of all steps away.
    pub(super) fn auth(&mut self, node: &Node) -> Option<Auth> {
        if matches!(&node.value, Value::Scalar { text, .. } if text == "none") {
            return None;
        }
        let mut entries = self.shape(node, &AUTH)?;
        if let [_, (second, _), ..] = entries.entries[..] {
            self.wrong(second.spot, "two ways to say who the user is", "keep one of them");
        }
        if let Some(node) = entries.value("bearer") {
            return self.template(node).map(Auth::Bearer);
        }
        if let Some((word, node)) = entries.take("basic").or_else(|| entries.take("digest")) {
            let mut login = self.shape(node, &LOGIN)?;
            let (user, password) = (login.value("user"), login.value("password"));
            let kind = word.text.as_str();
            let (Some(user), Some(password)) = (user, password) else {
                let help = format!("write {kind}: {{user: NAME, password: '{{{{env PASSWORD}}}}'}}");
                self.wrong(node.spot, format!("'{kind}' wants a user and a password"), help);
                return None;
            };
            let (user, password) = (self.template(user)?, self.template(password)?);
            return Some(if kind == "basic" { Auth::Basic { user, password } } else { Auth::Digest { user, password } });
        }
        if let Some(node) = entries.value("aws") {
            let mut keys = self.shape(node, &AWS)?;
            let mut of = |reading: &mut Self, name: &str| keys.value(name).and_then(|node| reading.template(node));
            let found = (of(self, "access_key"), of(self, "secret_key"), of(self, "region"), of(self, "service"));
            let session_token = of(self, "session_token");
            let (Some(access_key), Some(secret_key), Some(region), Some(service)) = found else {
                let help =
                    "write aws: {access_key: '{{env KEY}}', secret_key: '{{env SECRET}}', region: eu-central-1, service: execute-api}";
                self.wrong(node.spot, "'aws' wants an access_key, a secret_key, a region and a service", help);
                return None;
            };
            return Some(Auth::Aws(Box::new(AwsKeys { access_key, secret_key, session_token, region, service })));
        }
        let Some(node) = entries.value("api_key") else {
            self.wrong(
                node.spot,
                "nothing says who the user is",
                "write bearer: TOKEN, basic: {user: …, password: …} or api_key: {header: …, value: …}",
            );
            return None;
        };
        let mut key = self.shape(node, &API_KEY)?;
        let (header, query, value) = (key.value("header"), key.value("query"), key.value("value"));
        let value = value.and_then(|node| self.template(node));
        match (header, query, value) {
            (Some(header), None, Some(value)) => Some(Auth::Header(self.plain(header)?, value)),
            (None, Some(query), Some(value)) => Some(Auth::Query(self.plain(query)?, value)),
            _ => {
                let help = "write api_key: {header: X-Api-Key, value: '{{env KEY}}'}, or query: in place of header:";
                self.wrong(node.spot, "'api_key' wants a value, and a header or a parameter of the query", help);
                None
            }
        }
    }

    pub(super) fn checks(&mut self, node: &Node) -> (Vec<AnswerCheck>, bool) {
        let mut checks = Vec::new();
        let mut judges_status = false;
        let nodes = match &node.value {
            Value::List(nodes) => nodes.iter().collect(),
            _ => vec![node],
        };
        for node in nodes {
            match &node.value {
                Value::Scalar { text, .. } => {
                    judges_status |= text.trim_start().starts_with("status");
                    match Check::parse_open(text) {
                        Ok((check, blank)) => checks.extend(self.promise(node, text, &check, blank)),
                        Err(mistake) => {
                            let spot = self.within(node, text, mistake.at, mistake.length);
                            self.wrong(spot, mistake.message, mistake.help);
                        }
                    }
                }
                _ => judges_status |= self.mapped_checks(node, &mut checks),
            }
        }
        (checks, judges_status)
    }

    /// Whether one of them is about the status.
    fn mapped_checks(&mut self, node: &Node, checks: &mut Vec<AnswerCheck>) -> bool {
        let Some(mut entries) = self.shape(node, &CHECKS) else { return false };
        let mut judges_status = false;
        let failure = entries.value("failure").and_then(|node| self.plain(node));
        let along = entries.value("answers").map_or(Along::Last, |node| self.along(node));
        let before = checks.len();
        for (word, node) in entries.entries {
            type Of = fn(String) -> Subject;
            let of: Of = match word.text.as_str() {
                "header" => Subject::Header,
                "cookie" => Subject::Cookie,
                "json" => Subject::Json,
                "css" => Subject::Css,
                "xpath" => Subject::XPath,
                "jmespath" => Subject::JmesPath,
                "digest" => Subject::Digest,
                "variable" => Subject::Variable,
                other => {
                    judges_status |= other == "status";
                    let subject = Subject::of_word(other, "").unwrap_or(Subject::Body);
                    // A list of statuses may stand as one.
                    match &node.value {
                        Value::List(nodes) if other == "status" => {
                            let texts: Vec<String> = nodes.iter().filter_map(|node| self.plain(node)).collect();
                            self.check(&subject, node.spot, node, &texts.join(", "), checks);
                        }
                        _ => {
                            if let Some(text) = self.plain(node) {
                                self.check(&subject, word.spot, node, &text, checks);
                            }
                        }
                    }
                    continue;
                }
            };
            for (word, node) in self.named(node) {
                if let Some(text) = self.plain(node) {
                    self.check(&of(word.text.clone()), word.spot, node, &text, checks);
                }
            }
        }
        for check in &mut checks[before..] {
            check.failure.clone_from(&failure);
            check.along = along;
        }
        judges_status
    }

    /// Which answers a check is about.
    fn along(&mut self, node: &Node) -> Along {
        let Some(word) = self.plain(node) else { return Along::Last };
        Along::of_word(word.trim()).unwrap_or_else(|| {
            self.wrong(node.spot, format!("'{}' names no answers", word.trim()), "write last, parts or all");
            Along::Last
        })
    }

    fn check(&mut self, subject: &Subject, named: Spot, node: &Node, condition: &str, checks: &mut Vec<AnswerCheck>) {
        match Check::compile_open(subject, condition) {
            Ok((check, blank)) => checks.extend(self.promise(node, condition, &check, blank)),
            Err(Mistaken::Subject(mistake)) => self.wrong(named, mistake.message, mistake.help),
            Err(Mistaken::Condition(mistake)) => {
                let spot = self.within(node, condition, mistake.at, mistake.length);
                self.wrong(spot, mistake.message, mistake.help);
            }
        }
    }

    /// A check of a node's text, and what is filled in for each answer.
    fn promise(&mut self, node: &Node, text: &str, check: &Check, blank: Option<Blank>) -> Option<AnswerCheck> {
        if let Some(name) = check.variable() {
            self.checked.push((self.within(node, text, 0, text.len()), name.to_owned()));
        }
        let of = |against| AnswerCheck { against, ..AnswerCheck::new(check.subject(), check.condition().to_owned()) };
        let Some(blank) = blank else { return Some(of(None)) };
        let whole = |reading: &Self| reading.within(node, text, blank.at, blank.length);
        let against = self.template_at(&blank.text, |reading, at, length| {
            if blank.is_verbatim { reading.within(node, text, blank.at + at, length) } else { whole(reading) }
        })?;
        let mut other = None;
        against.each_value(&mut |value| {
            if let Some(word) = anew(value) {
                other = other.or(Some(word));
            }
        });
        if let Some(word) = other {
            let spot = whole(self);
            let message = format!("'{word}' would write another value here than it wrote into the request");
            self.wrong(
                spot,
                message,
                format!("give it a name under variables, such as mine: '{{{{{word} …}}}}', and write {{{{mine}}}} in both"),
            );
            return None;
        }
        if against.is_fixed()
            && let Err(why) = check.filled(&against.fixed_text())
        {
            let spot = whole(self);
            self.wrong(spot, why, "write what the answer is to be compared with");
            return None;
        }
        Some(of(Some(against)))
    }
}

/// The word of a value that is drawn or counted anew wherever it stands.
fn anew(value: &Filled) -> Option<&'static str> {
    match value {
        Filled::Uuid => Some("uuid"),
        Filled::Random { .. } => Some("random"),
        Filled::Sequence { .. } => Some("sequence"),
        Filled::Choice(_) => Some("choice"),
        Filled::Weighted { .. } => Some("weighted"),
        Filled::Body => Some("body"),
        _ => None,
    }
}
