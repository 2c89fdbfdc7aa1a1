//! A line of JSON by the names of its fields.
//!
//! A tree of values for each line would cost ten times what is read of it. So a line is walked once as bytes: scalars are
//! handed over with the names above them, and the few that matter are kept as slices. What has an escape in it is unescaped
//! into a buffer that stays.
//!
//! Invariant: an object that does not end is no entry.

use crate::entry::{Entry, Reason, is_method, path, request};
use crate::layout::{LoggedTime, status};
use crate::stamp::{Clock, SECOND_NS, digits, in_any_form, span_ns};

/// What a named field says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Time,
    Method,
    /// Path and query, or a URL.
    Path,
    /// `GET /path HTTP/1.1`.
    Request,
    Status,
    Bytes,
    Client,
    Host,
    /// `User-Agent`
    Agent,
    /// `Referer`
    Referer,
    Seconds,
    Milliseconds,
    Microseconds,
}

/// Every role by the name `--field` gives it.
pub(crate) const ROLES: [(&str, Role); 13] = [
    ("time", Role::Time),
    ("method", Role::Method),
    ("path", Role::Path),
    ("request", Role::Request),
    ("status", Role::Status),
    ("bytes", Role::Bytes),
    ("client", Role::Client),
    ("host", Role::Host),
    ("agent", Role::Agent),
    ("referer", Role::Referer),
    ("seconds", Role::Seconds),
    ("milliseconds", Role::Milliseconds),
    ("microseconds", Role::Microseconds),
];

/// Which field says what; the first that a line has counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) named: Vec<(String, Role)>,
    pub(crate) logged: LoggedTime,
}

/// Names that programs use, the most telling first. Times without a unit in their name are not guessed: Caddy's `duration` is in
/// seconds and Envoy's in milliseconds.
const COMMON: &[(&str, Role)] = &[
    ("time", Role::Time),
    ("timestamp", Role::Time),
    ("@timestamp", Role::Time),
    ("ts", Role::Time),
    ("time_iso8601", Role::Time),
    ("time_local", Role::Time),
    ("msec", Role::Time),
    ("start_time", Role::Time),
    ("datetime", Role::Time),
    ("date", Role::Time),
    ("StartUTC", Role::Time),
    ("request_method", Role::Method),
    ("method", Role::Method),
    ("request.method", Role::Method),
    ("http.request.method", Role::Method),
    ("http.method", Role::Method),
    ("verb", Role::Method),
    ("RequestMethod", Role::Method),
    ("httpRequest.requestMethod", Role::Method),
    ("req.method", Role::Method),
    ("request_uri", Role::Path),
    ("request.uri", Role::Path),
    ("request.url", Role::Path),
    ("req.url", Role::Path),
    ("uri", Role::Path),
    ("path", Role::Path),
    ("url", Role::Path),
    ("url.path", Role::Path),
    ("http.target", Role::Path),
    ("RequestPath", Role::Path),
    ("httpRequest.requestUrl", Role::Path),
    ("request", Role::Request),
    ("status", Role::Status),
    ("status_code", Role::Status),
    ("response_code", Role::Status),
    ("response.status", Role::Status),
    ("http.response.status_code", Role::Status),
    ("http.status_code", Role::Status),
    ("code", Role::Status),
    ("DownstreamStatus", Role::Status),
    ("httpRequest.status", Role::Status),
    ("res.statusCode", Role::Status),
    ("body_bytes_sent", Role::Bytes),
    ("bytes_sent", Role::Bytes),
    ("bytes", Role::Bytes),
    ("size", Role::Bytes),
    ("remote_addr", Role::Client),
    ("client_ip", Role::Client),
    ("request.client_ip", Role::Client),
    ("request.remote_ip", Role::Client),
    ("remote_ip", Role::Client),
    ("client", Role::Client),
    ("ip", Role::Client),
    ("ClientHost", Role::Client),
    ("httpRequest.remoteIp", Role::Client),
    ("host", Role::Host),
    ("http_host", Role::Host),
    ("request.host", Role::Host),
    ("RequestHost", Role::Host),
    ("http_user_agent", Role::Agent),
    ("user_agent", Role::Agent),
    ("request.headers.User-Agent", Role::Agent),
    ("req.headers.user-agent", Role::Agent),
    ("user_agent.original", Role::Agent),
    ("http.user_agent", Role::Agent),
    ("httpRequest.userAgent", Role::Agent),
    ("request_User-Agent", Role::Agent),
    ("userAgent", Role::Agent),
    ("useragent", Role::Agent),
    ("agent", Role::Agent),
    ("http_referer", Role::Referer),
    ("referer", Role::Referer),
    ("referrer", Role::Referer),
    ("request.headers.Referer", Role::Referer),
    ("req.headers.referer", Role::Referer),
    ("http.request.referrer", Role::Referer),
    ("httpRequest.referer", Role::Referer),
    ("request_Referer", Role::Referer),
    ("request_time", Role::Seconds),
    ("duration_s", Role::Seconds),
    ("duration_ms", Role::Milliseconds),
    ("latency_ms", Role::Milliseconds),
    ("response_time_ms", Role::Milliseconds),
    ("elapsed_ms", Role::Milliseconds),
    ("responseTime", Role::Milliseconds),
    ("duration_us", Role::Microseconds),
    ("latency_us", Role::Microseconds),
];

impl Fields {
    fn of(named: &[(&str, Role)], logged: LoggedTime) -> Self {
        Self { named: named.iter().map(|(name, role)| ((*name).to_owned(), *role)).collect(), logged }
    }

    /// By the names that are common.
    pub(crate) fn common() -> Self {
        Self::of(COMMON, LoggedTime::End)
    }

    /// As Caddy 2 writes them.
    pub(crate) fn caddy() -> Self {
        Self::of(
            &[
                ("ts", Role::Time),
                ("request.method", Role::Method),
                ("request.uri", Role::Path),
                ("status", Role::Status),
                ("size", Role::Bytes),
                ("request.client_ip", Role::Client),
                ("request.remote_ip", Role::Client),
                ("request.remote_addr", Role::Client),
                ("request.host", Role::Host),
                ("request.headers.User-Agent", Role::Agent),
                ("request.headers.Referer", Role::Referer),
                ("duration", Role::Seconds),
            ],
            LoggedTime::End,
        )
    }

    /// As Envoy and Istio write them when asked for JSON.
    pub(crate) fn envoy() -> Self {
        Self::of(
            &[
                ("start_time", Role::Time),
                ("method", Role::Method),
                ("path", Role::Path),
                ("x-envoy-origin-path", Role::Path),
                ("response_code", Role::Status),
                ("bytes_sent", Role::Bytes),
                ("x_forwarded_for", Role::Client),
                ("downstream_remote_address", Role::Client),
                ("authority", Role::Host),
                ("user_agent", Role::Agent),
                ("referer", Role::Referer),
                ("duration", Role::Milliseconds),
            ],
            LoggedTime::Beginning,
        )
    }

    /// These, with what the user named before them.
    pub(crate) fn with(mut self, named: &[(String, Role)]) -> Self {
        self.named.retain(|(_, role)| !named.iter().any(|(_, mine)| mine == role));
        self.named.splice(0..0, named.iter().cloned());
        self
    }
}

/// Reads lines; keeps what was unescaped.
#[derive(Debug)]
pub(crate) struct JsonLines {
    /// By the last part of the name, which is compared first.
    fields: Vec<Field>,
    logged: LoggedTime,
    /// Of the path, of who asked, and of where that came from.
    unescaped: [Vec<u8>; 3],
}

#[derive(Debug)]
struct Field {
    name: Box<[u8]>,
    role: Role,
}

/// Deeper than any log.
const DEPTH_MOST: usize = 32;

/// A value found for a role: by which name, and where it stands in the line.
#[derive(Clone, Copy, Default)]
struct RoleValue {
    rank: usize,
    start: usize,
    end: usize,
    there: bool,
    escaped: bool,
}

impl JsonLines {
    pub(crate) fn new(fields: &Fields) -> Self {
        let named = fields.named.iter().map(|(name, role)| Field { name: name.as_bytes().into(), role: *role }).collect();
        Self { fields: named, logged: fields.logged, unescaped: Default::default() }
    }

    /// A line without its end.
    pub(crate) fn read<'a>(&'a mut self, line: &'a [u8], clock: &mut Clock) -> Result<Entry<'a>, Reason> {
        let mut found = [RoleValue::default(); ROLES.len()];
        let whole = walk(line, &mut |names, start, end, escaped, stands| {
            for (rank, field) in self.fields.iter().enumerate() {
                // A header is a list of values; of anything else, the first of a list is not it.
                if stands == Place::FirstOfList && !matches!(field.role, Role::Agent | Role::Referer) {
                    continue;
                }
                let place = &mut found[field.role as usize];
                if (!place.there || rank < place.rank) && is_called(&field.name, names) {
                    *place = RoleValue { rank, start, end, there: true, escaped };
                }
            }
        });
        match whole {
            Walked::Whole => {}
            Walked::Cut => return Err(Reason::Cut),
            Walked::Broken => return Err(Reason::Form),
        }
        let value = |role: Role| -> Option<&'a [u8]> {
            let found = found[role as usize];
            found.there.then(|| &line[found.start..found.end]).filter(|it| !it.is_empty() && *it != b"null" && *it != b"-")
        };
        let stamp = value(Role::Time).and_then(|text| in_any_form(text, clock)).ok_or(Reason::Time)?;
        let status = match value(Role::Status) {
            Some(text) => status(text).ok_or(Reason::Status)?,
            None => 0,
        };
        let took_ns = [(Role::Microseconds, 1000), (Role::Milliseconds, 1_000_000), (Role::Seconds, SECOND_NS)]
            .iter()
            .find_map(|(role, unit_ns)| span_ns(value(*role)?, *unit_ns));
        let bytes = value(Role::Bytes).and_then(digits).and_then(|it| u64::try_from(it).ok());
        let client = value(Role::Client).map(without_port);
        let asked = if value(Role::Path).is_some() { Role::Path } else { Role::Request };
        let raw = value(asked).ok_or(Reason::Request)?;
        let method_text = value(Role::Method).unwrap_or(b"GET");
        let [of_path, of_agent, of_referer] = &mut self.unescaped;
        let plain = |role: Role, text: &'a [u8], into: &'a mut Vec<u8>| -> &'a [u8] {
            if !found[role as usize].escaped {
                return text;
            }
            unescape(text, into);
            into
        };
        let text = plain(asked, raw, of_path);
        let agent = value(Role::Agent).map(|text| plain(Role::Agent, text, of_agent));
        let referer = value(Role::Referer).map(|text| plain(Role::Referer, text, of_referer));
        let (method, path, target) = match request(text) {
            Some(all) if asked == Role::Request => all,
            _ if is_method(method_text) => (method_text, path(text).ok_or(Reason::Request)?, text),
            _ => return Err(Reason::Request),
        };
        let start_ns = match self.logged {
            LoggedTime::Beginning => stamp.at_ns,
            LoggedTime::End => stamp.at_ns.saturating_sub(took_ns.unwrap_or(0)),
        };
        Ok(Entry {
            start_ns,
            stamp_ns: stamp.at_ns,
            offset_s: stamp.offset_s,
            method,
            path,
            target,
            named_host: value(Role::Host),
            status,
            bytes,
            took_ns,
            client,
            agent,
            referer,
            sent: None,
            is_partial: false,
        })
    }
}

/// `1.2.3.4:80` and `[::1]:80` without what follows the address; the first of several.
fn without_port(text: &[u8]) -> &[u8] {
    let text = memchr::memchr(b',', text).map_or(text, |comma| &text[..comma]);
    if text.first() == Some(&b'[') {
        return memchr::memchr(b']', text).map_or(text, |end| &text[1..end]);
    }
    match (memchr::memchr(b':', text), memchr::memrchr(b':', text)) {
        (Some(first), Some(last)) if first == last => &text[..first],
        _ => text,
    }
}

/// Whether `a.b` is the name of a value in `b` in `a`. A name with a point in it may be one name too.
fn is_called(name: &[u8], names: &[&[u8]]) -> bool {
    let mut rest = name;
    for (index, part) in names.iter().enumerate() {
        rest = match rest.strip_prefix(*part) {
            Some(rest) => rest,
            None => return false,
        };
        if index + 1 < names.len() {
            rest = match rest.strip_prefix(b".") {
                Some(rest) => rest,
                None => return false,
            };
        }
    }
    rest.is_empty()
}

/// Where a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// By its name.
    Named,
    /// First in the list that has the name.
    FirstOfList,
}

enum Walked {
    Whole,
    Cut,
    Broken,
}

/// Hands over every scalar that is not in a list, or the first text of one: the names above it, where it stands, and whether it has an
/// escape in it.
fn walk<'a>(line: &'a [u8], tell: &mut impl FnMut(&[&'a [u8]], usize, usize, bool, Place)) -> Walked {
    let mut names: [&[u8]; DEPTH_MOST] = [b""; DEPTH_MOST];
    // Of what is open: whether it is a list.
    let mut lists = [false; DEPTH_MOST];
    let (mut depth, mut at, mut in_lists) = (0usize, 0usize, 0usize);
    let (mut wants_name, mut wants_value) = (false, false);
    // Whether the last mark began a list.
    let mut is_first = false;
    loop {
        while line.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        let Some(letter) = line.get(at) else { return if depth == 0 && at > 0 { Walked::Broken } else { Walked::Cut } };
        if depth == 0 && *letter != b'{' {
            return Walked::Broken;
        }
        if std::mem::take(&mut wants_value) && matches!(letter, b'}' | b']' | b',') {
            return Walked::Broken;
        }
        let was_first = std::mem::replace(&mut is_first, *letter == b'[');
        match letter {
            b'{' | b'[' => {
                if depth == DEPTH_MOST {
                    return Walked::Broken;
                }
                lists[depth] = *letter == b'[';
                in_lists += usize::from(lists[depth]);
                depth += 1;
                wants_name = *letter == b'{';
                at += 1;
            }
            b'}' | b']' => {
                depth -= 1;
                if lists[depth] != (*letter == b']') {
                    return Walked::Broken;
                }
                in_lists -= usize::from(lists[depth]);
                at += 1;
                if depth == 0 {
                    return if line[at..].iter().all(u8::is_ascii_whitespace) { Walked::Whole } else { Walked::Broken };
                }
                wants_name = false;
            }
            b',' => {
                wants_name = !lists[depth - 1];
                at += 1;
            }
            b'"' => {
                let Some((end, escaped)) = string_end(line, at + 1) else { return Walked::Cut };
                if wants_name {
                    names[depth - 1] = &line[at + 1..end];
                    at = end + 1;
                    while line.get(at).is_some_and(u8::is_ascii_whitespace) {
                        at += 1;
                    }
                    match line.get(at) {
                        Some(b':') => at += 1,
                        None => return Walked::Cut,
                        Some(_) => return Walked::Broken,
                    }
                    (wants_name, wants_value) = (false, true);
                } else {
                    if in_lists == 0 {
                        tell(&names[..depth], at + 1, end, escaped, Place::Named);
                    } else if was_first && in_lists == 1 {
                        tell(&names[..depth - 1], at + 1, end, escaped, Place::FirstOfList);
                    }
                    at = end + 1;
                }
            }
            _ if wants_name => return Walked::Broken,
            _ => {
                let length =
                    line[at..].iter().take_while(|letter| letter.is_ascii_alphanumeric() || matches!(letter, b'-' | b'+' | b'.')).count();
                if length == 0 {
                    return Walked::Broken;
                }
                if in_lists == 0 {
                    tell(&names[..depth], at, at + length, false, Place::Named);
                }
                at += length;
            }
        }
    }
}

/// Where a string ends whose mark was read, and whether something in it is escaped.
fn string_end(line: &[u8], start: usize) -> Option<(usize, bool)> {
    let (mut at, mut escaped) = (start, false);
    loop {
        at += memchr::memchr2(b'"', b'\\', line.get(at..)?)?;
        if line[at] == b'"' {
            return Some((at, escaped));
        }
        escaped = true;
        at += 2;
    }
}

/// What JSON's escapes stand for. Half a pair of surrogates is a question mark.
fn unescape(text: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'\\' || at + 1 >= text.len() {
            into.push(text[at]);
            at += 1;
            continue;
        }
        at += 2;
        match text[at - 1] {
            b'n' => into.push(b'\n'),
            b't' => into.push(b'\t'),
            b'r' => into.push(b'\r'),
            b'b' => into.push(8),
            b'f' => into.push(12),
            b'u' => {
                let code = text.get(at..at + 4).and_then(|hex| u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
                let letter = code.and_then(char::from_u32).unwrap_or('?');
                into.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                at = (at + 4).min(text.len());
            }
            other => into.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &Fields, line: &str) -> Result<(String, String, u16, Option<i64>), Reason> {
        let mut lines = JsonLines::new(fields);
        let entry = lines.read(line.as_bytes(), &mut Clock::default())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((text(entry.method), text(entry.path), entry.status, entry.took_ns))
    }

    #[test]
    fn names_of_names_and_escapes_are_read() {
        let line = r#"{"ts":1700000000.5,"tags":["a",{"status":999}],"request":{"method":"GET","uri":"\/a\u002fb?x=1"},"status":200,"duration":0.25}"#;
        assert_eq!(read(&Fields::caddy(), line), Ok(("GET".into(), "/a/b".into(), 200, Some(250_000_000))));
    }

    #[test]
    fn who_asked_and_from_where_is_read_under_its_usual_names() {
        let caddy = r#"{"ts":1700000000.5,"request":{"method":"GET","uri":"/","headers":{"Accept":["a","b"],"User-Agent":["c\u00fc\"r\\l","no"],"Referer":["https:\/\/a.example\/"]}},"status":200,"duration":0.25}"#;
        let nginx = r#"{"time_iso8601":"2024-01-01T00:00:00Z","request":"GET / HTTP/1.1","status":"200","http_user_agent":"cü\"r\\l","http_referer":"https://a.example/"}"#;
        let envoy = r#"{"start_time":"2024-01-01T00:00:00Z","method":"GET","path":"/","response_code":200,"user_agent":"cü\"r\\l","referer":"https://a.example/"}"#;
        let pino = r#"{"time":1700000000500,"req":{"method":"GET","url":"/","headers":{"user-agent":"cü\"r\\l","referer":"https://a.example/"}},"res":{"statusCode":200}}"#;
        for (fields, line) in [(Fields::caddy(), caddy), (Fields::common(), nginx), (Fields::envoy(), envoy), (Fields::common(), pino)] {
            let mut lines = JsonLines::new(&fields);
            let entry = lines.read(line.as_bytes(), &mut Clock::default()).unwrap();
            assert_eq!(entry.agent.map(String::from_utf8_lossy).as_deref(), Some("cü\"r\\l"), "{line}");
            assert_eq!(entry.referer, Some(&b"https://a.example/"[..]), "{line}");
        }
        let none = r#"{"ts":1700000000.5,"request":{"method":"GET","uri":"/","headers":{"User-Agent":[],"Referer":["-"]}},"status":200}"#;
        let mut lines = JsonLines::new(&Fields::caddy());
        let entry = lines.read(none.as_bytes(), &mut Clock::default()).unwrap();
        assert_eq!((entry.agent, entry.referer), (None, None));
        // What is not a header and stands in a list is not read.
        assert_eq!(read(&Fields::common(), r#"{"time":["2024-01-01T00:00:00Z"],"path":"/"}"#), Err(Reason::Time));
    }

    #[test]
    fn what_is_cut_or_broken_is_told_apart() {
        let line = r#"{"time":"2024-01-01T00:00:00Z","method":"GET","path":"/","status":200}"#;
        assert!(read(&Fields::common(), line).is_ok());
        for end in 1..line.len() {
            assert_eq!(read(&Fields::common(), &line[..end]), Err(Reason::Cut), "{}", &line[..end]);
        }
        for broken in ["[]", "x", r#"{"a" 1}"#, r#"{"a":}"#, r#"{} {}"#, r#"{"a":[}"#, r#"{1:2}"#] {
            assert_eq!(read(&Fields::common(), broken), Err(Reason::Form), "{broken}");
        }
    }

    #[test]
    fn what_the_user_names_counts_before_what_is_common() {
        let fields = Fields::common().with(&[("where".into(), Role::Path), ("took".into(), Role::Milliseconds)]);
        let line = r#"{"ts":"1700000000","path":"/no","where":"/yes","took":3,"status":"204","verb":"PUT"}"#;
        assert_eq!(read(&fields, line), Ok(("PUT".into(), "/yes".into(), 204, Some(3_000_000))));
    }

    #[test]
    fn addresses_lose_their_ports() {
        for (text, address) in
            [("1.2.3.4:80", "1.2.3.4"), ("[::1]:80", "::1"), ("2001:db8::1", "2001:db8::1"), ("1.2.3.4, 5.6.7.8", "1.2.3.4")]
        {
            assert_eq!(without_port(text.as_bytes()), address.as_bytes());
        }
    }
}
