//! What is sent, and where to: targets, headers, bodies, credentials, and the files and templates that fill them.

use crate::encoding::is_token;
use crate::plan::{ACCEPT_ENCODING, Confinement, DEFAULT_HEADERS, EXPECT_CONTINUE, ScriptFile};
use crate::reading::Reading;
use crate::setting::{BEARER, COOKIE, DATA, DATA_FILE, FORM, HEADER, JSON, METHOD, NO_TEMPLATES, SANDBOX, SCRIPT, URLS, USER};
use crate::template::{Piece, Template, Value, is_templated};
use crate::variation::{MISTAKES_MAX, Route, told};
use crate::{Also, Body, DataFile, FormPart, FormValue, Mix, Request, Target, Templating, Turns, Variation, base64, variation};

pub(crate) struct ScriptWords {
    pub(crate) script: Option<String>,
    pub(crate) sandbox: bool,
    pub(crate) script_arguments: Vec<String>,
    pub(crate) script_sha256: Option<String>,
}

pub(crate) fn read_script(r: &mut Reading, words: ScriptWords) -> Option<ScriptFile> {
    let ScriptWords { script, sandbox, script_arguments, script_sha256 } = words;
    let Some(path) = script else {
        if sandbox {
            r.wrong(
                SANDBOX,
                format!("{SANDBOX} is about a script, and there is none"),
                format!("name one with {SCRIPT}, or leave {SANDBOX} out"),
            );
        }
        if let Some(word) = script_arguments.first() {
            r.wrong(
                SCRIPT,
                format!("the words after -- ('{word}' …) are for a script, and there is none"),
                format!("name one with {SCRIPT}, or leave them out"),
            );
        }
        return None;
    };
    if path.is_empty() {
        r.wrong(SCRIPT, format!("{SCRIPT} names no file"), format!("give a Lua file, such as {SCRIPT:#} requests.lua"));
        return None;
    }
    let confinement = if sandbox { Confinement::Sandbox } else { Confinement::None };
    Some(ScriptFile { path, arguments: script_arguments, confinement, sha256: script_sha256 })
}

pub(crate) struct UrlsWords<'a> {
    pub(crate) path: String,
    pub(crate) sha256: Option<String>,
    pub(crate) lines: Option<Vec<String>>,
    /// Where whole URLs may go if not to the URL's server; `None`: to their own.
    pub(crate) elsewhere: Option<&'a Also>,
}

pub(crate) fn read_data_files(r: &mut Reading, data_file: &[String], sha256: Vec<String>) -> Vec<DataFile> {
    let mut files: Vec<DataFile> = Vec::new();
    let mut sha256 = sha256.into_iter();
    for text in data_file {
        let known = sha256.next();
        match DataFile::named(text) {
            Ok(file) if files.iter().any(|other| other.name == file.name) => r.wrong(
                DATA_FILE,
                format!("two data files are called '{}'", file.name),
                format!("give one another name, as in {}2={}", file.name, file.path),
            ),
            Ok(file) => files.push(DataFile { sha256: known, ..file }),
            Err(error) => r.errors.push(error),
        }
    }
    files
}

/// Where requests go: the URL, the list, or a list whose lines begin at the URL.
pub(crate) fn read_targets(
    r: &mut Reading,
    url: Option<&str>,
    list: Option<UrlsWords<'_>>,
    files: &[&str],
    braces: Templating,
) -> (Option<Target>, Option<Mix>) {
    let is_needed = list.as_ref().is_none_or(|list| list.lines.is_none());
    let base = match url {
        None if is_needed => {
            r.wrong("url", "no URL is given", "say where to send requests, such as http://127.0.0.1:8080/healthz");
            None
        }
        None => None,
        Some(url) => match variation::target(url, files, braces) {
            Ok(target) => Some(target),
            Err(mistakes) => {
                mistakes.into_iter().for_each(|(why, help)| r.wrong("url", format!("the URL '{url}' {why}"), help));
                return (None, None);
            }
        },
    };
    let Some(UrlsWords { path, sha256, lines, elsewhere }) = list else { return (base, None) };
    let at_url = elsewhere.is_some();
    // A plan that was saved has the path alone, until its list is read again.
    let Some(lines) = lines else { return (base, Some(Mix { path, sha256, at_url, routes: Vec::new(), turns: Turns::InOrder })) };
    match variation::routes(&path, &lines, base.as_ref(), files, braces) {
        Ok((mut routes, turns)) => {
            if let (Some(also), Some(base)) = (elsewhere, &base) {
                for route in routes.iter_mut().filter(|route| !also.holds(&route.target)) {
                    route.target = base.clone().with_path_and_query(route.target.path_and_query().to_owned());
                }
            }
            let credentials = read_credentials(r, base.as_ref(), &routes);
            let first = routes.first().map(|route| route.target.clone().with_path_and_query("/".to_owned()));
            let base = base.or(first).map(|base| base.with_credentials(credentials));
            (base, Some(Mix { path, sha256, at_url, routes, turns }))
        }
        Err(mistakes) => {
            mistakes.into_iter().for_each(|mistake| r.errors.push(mistake));
            // No further complaint that there is no URL.
            (base, None)
        }
    }
}

/// The user and password of a list's URLs: one server's, since they are sent with every request.
fn read_credentials(r: &mut Reading, base: Option<&Target>, routes: &[Route]) -> Option<(String, String)> {
    let targets = || base.into_iter().chain(routes.iter().map(|route| &route.target));
    let with = targets().find(|target| target.credentials().is_some())?;
    if let Some(other) = targets().find(|target| !target.same_origin(with)) {
        let (server, other) = (with.authority(), other.authority());
        r.wrong(
            URLS,
            format!("the URLs of {URLS} have a user and password for {server}, and lead to {other} too"),
            format!("give {USER:#} NAME:PASSWORD, without them in the URLs, if every server may have it; else a list for each server"),
        );
    } else if targets().any(|target| target.credentials().is_some_and(|own| Some(own) != with.credentials())) {
        r.wrong(
            URLS,
            format!("the URLs of {URLS} have several users"),
            format!("give one of them with {USER:#} NAME:PASSWORD, or a list for each user"),
        );
    }
    with.credentials().cloned()
}

/// Complains of every mistake in the templates of headers and body; those of URLs were read with them.
pub(crate) fn read_templates(r: &mut Reading, target: Option<&Target>, request: &Request, variation: &Variation) {
    if variation.braces == Templating::Text {
        if !variation.files.is_empty() {
            r.wrong(
                DATA_FILE,
                format!("{DATA_FILE} is for templates, and {NO_TEMPLATES} says that there are none"),
                "leave one of them out",
            );
        }
        return;
    }
    let before = r.errors.0.len();
    let files: Vec<&str> = variation.files.iter().map(|file| file.name.as_str()).collect();
    let mut used: Vec<String> = Vec::new();
    let mut read = |r: &mut Reading, setting: &'static str, what: String, text: &str, is_body: bool| {
        if !is_templated(text) {
            return;
        }
        let template = match Template::parse(text, &files) {
            Ok(template) => template,
            Err(mistakes) => {
                // A file of another kind has a mistake in each of its lines.
                for (why, help) in mistakes.iter().take(MISTAKES_MAX).map(|mistake| told(mistake, text)) {
                    let is_file = is_body && matches!(request.body, Body::File(_));
                    let help =
                        if is_file { format!("{}; or send the file as it is with {NO_TEMPLATES}", help.marked()).into() } else { help };
                    r.wrong(setting, format!("{what} {why}"), help);
                }
                return;
            }
        };
        template.each_value(&mut |value| match value {
            Value::Body if is_body => {
                r.wrong(setting, format!("{what} holds {{{{body}}}}, which is itself"), "use it in a header or the URL");
            }
            Value::Column { file, .. } => used.push(file.clone()),
            _ => {}
        });
    };
    for (name, value) in &request.headers {
        if is_templated(value) && matches!(name.to_ascii_lowercase().as_str(), "content-length" | "transfer-encoding") {
            r.wrong(HEADER, format!("the header {name} cannot be a template: it follows from the body"), "leave it out");
            continue;
        }
        read(r, "header", format!("the header {name}"), value, false);
    }
    match &request.body {
        Body::Empty => {}
        Body::File(path) => {
            if let Some(text) = &variation.body {
                read(r, "data", format!("the file '{path}' of the body"), text, true);
            }
        }
        Body::Bytes(bytes) => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                read(r, "data", "the body".to_owned(), text, true);
            }
        }
        Body::Form { parts, .. } => {
            for part in parts {
                if let FormValue::Text(text) = &part.value {
                    read(r, "form", format!("the field '{}' of the form", part.name), text, true);
                }
            }
        }
    }
    let routes = variation.mix.iter().flat_map(|mix| &mix.routes).map(|route| &route.target);
    for target in routes.chain(target) {
        read(r, "url", "the URL".to_owned(), target.path_and_query(), false);
    }
    // In a plan that was saved, until its files are read again.
    let unread = variation.mix.as_ref().is_some_and(|mix| mix.routes.is_empty())
        || matches!(request.body, Body::File(_)) && variation.body.is_none();
    if r.errors.0.len() > before || target.is_none() || unread {
        return;
    }
    for DataFile { name, path, .. } in variation.files.iter().filter(|file| !used.contains(&file.name)) {
        r.wrong(
            DATA_FILE,
            format!("no template takes anything from {DATA_FILE:#} {path}"),
            format!("write {{{{{name}.COLUMN}}}} in the URL, a header or the body, or leave it out"),
        );
    }
}

pub(crate) fn read_body(r: &mut Reading, data: Option<String>, json: Option<String>, form: &[String], seed: u64) -> Body {
    let given: Vec<String> = [(data.is_some(), DATA), (json.is_some(), JSON), (!form.is_empty(), FORM)]
        .iter()
        .filter(|g| g.0)
        .map(|g| g.1.to_string())
        .collect();
    if given.len() > 1 {
        r.wrong(DATA, format!("{} {} give the body", given.join(" and "), both_or_all(given.len())), "keep one of them");
    }
    if !form.is_empty() {
        let parts = form.iter().filter_map(|field| read_form_part(r, field)).collect();
        // Random enough not to occur in a file, and the same every time the plan is run.
        let mut random = crate::Random::new(seed, 2);
        let boundary = format!("loadline-{:016x}{:016x}", random.between(0, u64::MAX - 1), random.between(0, u64::MAX - 1));
        return Body::Form { boundary, parts };
    }
    match data.or(json) {
        None => Body::Empty,
        Some(text) => match text.strip_prefix('@') {
            Some("") => {
                r.wrong(DATA, "a body of '@' names no file", "write @FILE, or @- for standard input");
                Body::Empty
            }
            Some(path) => Body::File(path.to_owned()),
            None => Body::Bytes(text.into_bytes()),
        },
    }
}

fn both_or_all(count: usize) -> &'static str {
    if count == 2 { "both" } else { "all" }
}

fn read_form_part(r: &mut Reading, field: &str) -> Option<FormPart> {
    let Some((name, value)) = field.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        r.wrong(FORM, format!("{FORM:#} '{field}' is not a field"), "write name=value, or name=@FILE to upload");
        return None;
    };
    if name.contains(['"', '\r', '\n']) {
        r.wrong(FORM, format!("{FORM:#} '{}' has a quote or line break in its name", field.escape_debug()), "give a plain name");
        return None;
    }
    let value = match value.strip_prefix('@') {
        None => FormValue::Text(value.to_owned()),
        Some(file) => {
            let (path, media_type) = file.split_once(";type=").unwrap_or((file, crate::FILE_TYPE));
            FormValue::File { path: path.to_owned(), media_type: media_type.to_owned() }
        }
    };
    Some(FormPart { name: name.to_owned(), value })
}

pub(crate) fn read_method(r: &mut Reading, method: Option<String>, body: &Body) -> String {
    let Some(method) = method else {
        return if *body == Body::Empty { "GET" } else { "POST" }.to_owned();
    };
    if method.is_empty() || !method.bytes().all(is_token) {
        r.wrong(METHOD, format!("{METHOD:#} '{}' is not an HTTP method", method.escape_debug()), "give a word such as GET or POST");
    } else if method == "CONNECT" {
        r.wrong(METHOD, format!("{METHOD:#} CONNECT opens a tunnel and has no answer to measure"), "give another method");
    }
    method
}

pub(crate) struct HeaderWords {
    pub(crate) header: Vec<String>,
    pub(crate) user: Option<String>,
    pub(crate) bearer: Option<String>,
    pub(crate) cookie: Vec<String>,
    pub(crate) credentials: Option<(String, String)>,
    pub(crate) json: bool,
    pub(crate) compressed: bool,
    pub(crate) expect_continue: bool,
    pub(crate) braces: Templating,
}

pub(crate) fn read_headers(r: &mut Reading, words: &HeaderWords, target: Option<&Target>, body: &Body) -> Vec<(String, String)> {
    let mut given: Vec<(String, String)> = Vec::new();
    let mut removed: Vec<String> = Vec::new();
    for line in &words.header {
        // As in curl: 'Name;' sends the header with no value, 'Name:' does not send it.
        let (name, value) = match (line.split_once(':'), line.strip_suffix(';')) {
            (Some((name, value)), _) => (name, Some(value.trim()).filter(|value| !value.is_empty())),
            (None, Some(name)) => (name, Some("")),
            (None, None) => {
                r.wrong(HEADER, format!("{HEADER:#} '{}' has no colon", line.escape_debug()), "write 'Name: value'");
                continue;
            }
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            r.wrong(
                HEADER,
                format!("{HEADER:#} '{}' has no valid name", line.escape_debug()),
                "write 'Name: value', the name without spaces",
            );
        } else if value.is_some_and(|value| value.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f)) {
            r.wrong(HEADER, format!("{HEADER:#} '{}' has a control character in its value", line.escape_debug()), "leave it out");
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            r.wrong(HEADER, format!("{HEADER:#} Transfer-Encoding contradicts the Content-Length that loadline sends"), "leave it out");
        } else if let Some(value) = value {
            given.push((name.to_owned(), value.to_owned()));
        } else {
            removed.push(name.to_ascii_lowercase());
        }
    }
    let has = |name: &str| given.iter().any(|(given, _)| given.eq_ignore_ascii_case(name)) || removed.iter().any(|gone| gone == name);

    let mut headers: Vec<(String, String)> = Vec::new();
    let host = given.iter().position(|(name, _)| name.eq_ignore_ascii_case("host"));
    match (host, target) {
        (Some(at), _) => headers.push(given[at].clone()),
        (None, Some(target)) if !has("host") => headers.push(("Host".to_owned(), target.authority())),
        _ => {}
    }
    let accept = if words.json { "application/json" } else { "*/*" };
    let is_grpc = target.is_some_and(|target| target.scheme().is_grpc());
    for (name, value) in DEFAULT_HEADERS {
        if is_grpc && name == "Accept" {
            continue;
        }
        if !has(&name.to_ascii_lowercase()) {
            headers.push((name.to_owned(), if name == "Accept" { accept } else { value }.to_owned()));
        }
    }
    let awaits = words.expect_continue && *body != Body::Empty;
    for (name, value) in
        [(words.compressed, ACCEPT_ENCODING), (awaits, EXPECT_CONTINUE)].into_iter().filter(|(asked, _)| *asked).map(|(_, header)| header)
    {
        if !has(&name.to_ascii_lowercase()) {
            headers.push((name.to_owned(), value.to_owned()));
        }
    }
    let authorization: Vec<(&'static str, String, String)> = [
        words.user.as_ref().map(|user| (USER.flag(), USER.to_string(), basic(user, words.braces))),
        words.bearer.as_ref().map(|token| (BEARER.flag(), BEARER.to_string(), format!("Bearer {token}"))),
        words.credentials.as_ref().map(|(user, password)| {
            ("url", "the URL's user".to_owned(), format!("Basic {}", base64(format!("{user}:{password}").as_bytes())))
        }),
    ]
    .into_iter()
    .flatten()
    .collect();
    if authorization.len() > 1 || (authorization.len() == 1 && has("authorization")) {
        let mut names: Vec<String> = authorization.iter().map(|(_, name, _)| name.clone()).collect();
        if has("authorization") {
            names.push(format!("{HEADER:#} Authorization"));
        }
        r.wrong(
            authorization[0].0,
            format!("{} {} say how to authenticate", names.join(" and "), both_or_all(names.len())),
            "keep one of them",
        );
    } else if let Some((setting, name, value)) = authorization.into_iter().next() {
        if value.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            r.wrong(setting, format!("{name} has a control character in it"), "leave it out");
        }
        headers.push(("Authorization".to_owned(), value.trim_end().to_owned()));
    }
    if !words.cookie.is_empty() {
        for cookie in &words.cookie {
            if !cookie.contains('=') || cookie.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
                r.wrong(COOKIE, format!("{COOKIE:#} '{}' is not a cookie", cookie.escape_debug()), "write name=value");
            }
        }
        if has("cookie") {
            r.wrong(COOKIE, format!("{COOKIE} and {HEADER:#} Cookie both give cookies"), "keep one of them");
        }
        headers.push(("Cookie".to_owned(), words.cookie.join("; ").trim().to_owned()));
    }
    let typed = has("content-type");
    headers.extend(given.into_iter().enumerate().filter(|(at, _)| Some(*at) != host).map(|(_, header)| header));
    let content_type = match body {
        Body::Empty => None,
        Body::Form { boundary, .. } => Some(format!("multipart/form-data; boundary={boundary}")),
        Body::Bytes(_) | Body::File(_) if words.json => Some("application/json".to_owned()),
        Body::Bytes(_) | Body::File(_) => Some(crate::FORM_TYPE.to_owned()),
    };
    if let Some(content_type) = content_type.filter(|_| !typed) {
        headers.push(("Content-Type".to_owned(), content_type));
    }
    headers
}

/// The value of Authorization for `name:password`, which may be a template.
pub(crate) fn basic(user: &str, braces: Templating) -> String {
    if braces == Templating::Template && is_templated(user) {
        // Any name may be that of a data file here; a wrong one is found in what is made.
        return match Template::parse_any(user) {
            Ok(template) if template.is_fixed() => {
                let text: String = template.pieces().iter().map(|piece| if let Piece::Text(text) = piece { text } else { "" }).collect();
                format!("Basic {}", base64(text.as_bytes()))
            }
            Ok(template) => format!("Basic {{{{{}}}}}", Value::Base64(template.pieces().to_vec())),
            // The mistake is told with the header.
            Err(_) => format!("Basic {user}"),
        };
    }
    format!("Basic {}", base64(user.as_bytes()))
}
