//! A line of text by its format string: what the server was told to write, turned round into what is read.
//!
//! nginx, Apache and Envoy each have a language for log lines, and people use them freely. Regular expressions made from them
//! are slow and fail without saying where. So a format string becomes a list of captures and the text between them, and a line
//! is walked once: each capture ends where the next text begins. In quotation marks, a backslash keeps the mark from ending it.
//!
//! Invariant: reading a line does not allocate.

use crate::entry::{Entry, Line, Reason, is_method, path, request};
use crate::stamp::{Clock, SECOND_NS, Stamp, digits, epoch, in_any_form, iso, span_ns};

/// What stands at a place of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capture {
    /// Of no use here.
    Ignored,
    /// A whole number of no use here: what is none is of another form.
    Number,
    /// Whatever follows, up to the end of the line.
    Rest,
    Client,
    /// The host that was asked.
    Host,
    /// `1.2.3.4:80`.
    ClientPort,
    Local,
    Iso,
    Epoch,
    AnyTime,
    Request,
    Method,
    /// Path and query.
    Target,
    Status,
    Bytes,
    /// `User-Agent`
    Agent,
    /// `Referer`
    Referer,
    /// One span of the time it took, with its unit in nanoseconds; several add up.
    Took(i64),
}

impl Capture {
    /// Whether there is no blank in it.
    const fn is_word(self) -> bool {
        matches!(
            self,
            Self::Number
                | Self::Client
                | Self::ClientPort
                | Self::Iso
                | Self::Epoch
                | Self::Method
                | Self::Status
                | Self::Bytes
                | Self::Took(_)
        )
    }
}

/// Whether a time is that of the beginning of a request or of its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoggedTime {
    Beginning,
    End,
}

/// A line: text, capture, text, capture, …, text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    captures: Vec<(Box<[u8]>, Capture)>,
    tail: Box<[u8]>,
    logged: LoggedTime,
}

/// Why a format string cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Two captures with nothing between them cannot be told apart.
    #[error("nothing stands between {0} and {1}, so where the first ends cannot be told")]
    Adjacent(String, String),
    /// What a description of traffic cannot do without.
    #[error("it has no {0}")]
    Missing(&'static str),
    /// A mark that is never closed, or a lone sign.
    #[error("'{0}' is not finished")]
    Unfinished(String),
}

impl Layout {
    /// From the format string of nginx (`$remote_addr …`, or the whole `log_format name '…';`), Apache (`%h %l …`) or Envoy
    /// (`%START_TIME% …`).
    pub(crate) fn new(text: &str) -> Result<Self, LayoutError> {
        let text = bare(text);
        let (pieces, logged) = if text.contains('$') { (nginx(&text)?, LoggedTime::End) } else { percent(&text)? };
        Self::of(pieces, logged)
    }

    /// One of the known ones, in nginx's language.
    pub(crate) fn known(text: &str, logged: LoggedTime) -> Self {
        nginx(text).and_then(|pieces| Self::of(pieces, logged)).expect("known forms can be read")
    }

    /// How many places a line of it has.
    pub(crate) fn places(&self) -> usize {
        self.captures.len()
    }

    fn of(pieces: Vec<Piece>, logged: LoggedTime) -> Result<Self, LayoutError> {
        let mut captures: Vec<(Box<[u8]>, Capture)> = Vec::new();
        let mut between: Vec<u8> = Vec::new();
        let mut last: Option<String> = None;
        for piece in pieces {
            match piece {
                Piece::Text(text) => between.extend_from_slice(text.as_bytes()),
                Piece::Capture(capture, name) => {
                    if let Some(last) = last.as_ref().filter(|_| between.is_empty()) {
                        return Err(LayoutError::Adjacent(last.clone(), name));
                    }
                    captures.push((std::mem::take(&mut between).into(), capture));
                    last = Some(name);
                }
            }
        }
        let has = |wanted: &[Capture]| captures.iter().any(|(_, capture)| wanted.contains(capture));
        if !has(&[Capture::Local, Capture::Iso, Capture::Epoch, Capture::AnyTime]) {
            return Err(LayoutError::Missing("time (such as $time_local, %t or %START_TIME%)"));
        }
        if !has(&[Capture::Request, Capture::Target]) {
            return Err(LayoutError::Missing("request (such as $request, %r or %REQ(:PATH)%)"));
        }
        Ok(Self { captures, tail: between.into(), logged })
    }

    /// Whether lines may go on after what is known.
    pub(crate) fn and_more(mut self) -> Self {
        self.captures.push((std::mem::take(&mut self.tail), Capture::Rest));
        self
    }

    /// A line without its end.
    #[inline]
    pub(crate) fn read<'a>(&self, line: &'a [u8], clock: &mut Clock) -> Result<Entry<'a>, Reason> {
        let mut at = 0;
        let mut time: Option<Option<Stamp>> = None;
        let mut asked: Option<Option<Line<'_>>> = None;
        let mut host = None;
        let (mut method, mut target, mut status) = (&b"GET"[..], None, None);
        let (mut bytes, mut took_ns, mut client) = (None, None::<i64>, None);
        let (mut agent, mut referer) = (None, None);
        // A value ends where the text before the next begins, which need not be looked at again.
        let mut found = false;
        for (index, (before, capture)) in self.captures.iter().enumerate() {
            if !std::mem::take(&mut found) && !begins(&line[at..], before) {
                return Err(if line.len() - at < before.len() && before.starts_with(&line[at..]) { Reason::Cut } else { Reason::Form });
            }
            at += before.len();
            let rest = &line[at..];
            let after: &[u8] = self.captures.get(index + 1).map_or(&self.tail, |(text, _)| text);
            let length = match capture {
                Capture::Rest => rest.len(),
                // What is one word does not go on: such a line has more than this form.
                _ if after.is_empty() && capture.is_word() && memchr::memchr(b' ', rest).is_some() => return Err(Reason::Form),
                _ if after.is_empty() => rest.len(),
                _ => match end(rest, after, before.last() == Some(&b'"')) {
                    Some(length) => {
                        found = true;
                        length
                    }
                    // What agrees in half of its places is a line that was cut, and not one of another form.
                    None => return Err(if 2 * index >= self.captures.len() { Reason::Cut } else { Reason::Form }),
                },
            };
            let value = &rest[..length];
            at += length;
            match capture {
                Capture::Ignored | Capture::Rest => {}
                Capture::Number if value == b"-" || value.iter().all(u8::is_ascii_digit) => {}
                Capture::Number => return Err(Reason::Form),
                Capture::Client => client = Some(value),
                Capture::Host => host = Some(value),
                Capture::Agent => agent = Some(value),
                Capture::Referer => referer = Some(value),
                Capture::ClientPort => {
                    client = Some(value.iter().rposition(|letter| *letter == b':').map_or(value, |colon| &value[..colon]));
                }
                // The finer of two times is kept: $msec stands beside $time_local.
                Capture::Local => time = Some(time.flatten().or_else(|| clock.local(value))),
                Capture::Iso => time = Some(iso(value).map(|it| keep_offset(it, time.flatten()))),
                Capture::Epoch => time = Some(epoch(value).map(|it| keep_offset(it, time.flatten()))),
                Capture::AnyTime => time = Some(in_any_form(value, clock)),
                Capture::Request => asked = Some(request(value)),
                Capture::Method => method = value,
                Capture::Target => target = Some(value),
                Capture::Status => status = Some(if value == b"-" { Some(0) } else { self::status(value) }),
                Capture::Bytes => bytes = digits(value).filter(|_| !value.is_empty()).and_then(|it| u64::try_from(it).ok()),
                Capture::Took(unit_ns) => {
                    if let Some(span) = span_ns(value, *unit_ns) {
                        took_ns = Some(took_ns.unwrap_or(0).saturating_add(span));
                    }
                }
            }
        }
        if line[at..] != self.tail[..] {
            return Err(if self.tail.starts_with(&line[at..]) { Reason::Cut } else { Reason::Form });
        }
        let stamp = time.flatten().ok_or(Reason::Time)?;
        let status = match status {
            Some(None) => return Err(Reason::Status),
            Some(Some(status)) => status,
            None => 0,
        };
        let (method, path, target) = match (asked, target) {
            (Some(asked), _) => asked.ok_or(Reason::Request)?,
            (None, Some(target)) if is_method(method) => (method, path(target).ok_or(Reason::Request)?, target),
            _ => return Err(Reason::Request),
        };
        let start_ns = match self.logged {
            LoggedTime::Beginning => stamp.at_ns,
            LoggedTime::End => stamp.at_ns.saturating_sub(took_ns.unwrap_or(0)),
        };
        Ok(Entry {
            start_ns,
            stamp_ns: stamp.at_ns,
            target,
            named_host: host,
            agent: agent.filter(|it| !it.is_empty() && *it != b"-"),
            referer: referer.filter(|it| !it.is_empty() && *it != b"-"),
            sent: None,
            is_partial: false,
            offset_s: stamp.offset_s,
            method,
            path,
            status,
            bytes,
            took_ns,
            client: client.filter(|it| !it.is_empty() && *it != b"-"),
        })
    }
}

/// A finer time without a zone, in that of the other.
fn keep_offset(finer: Stamp, other: Option<Stamp>) -> Stamp {
    Stamp { offset_s: other.map_or(finer.offset_s, |other| other.offset_s), ..finer }
}

/// Whether it begins so. What stands between the values of a line is so short that a call of the library's comparison costs more.
#[inline]
fn begins(text: &[u8], with: &[u8]) -> bool {
    text.len() >= with.len() && with.iter().zip(text).all(|(a, b)| a == b)
}

/// Where the letter is. A status or a dash is over before a search of many letters at once has begun.
#[inline]
fn place(letter: u8, text: &[u8]) -> Option<usize> {
    const NEAR: usize = 6;
    let (near, far) = text.split_at(text.len().min(NEAR));
    match near.iter().position(|other| *other == letter) {
        Some(at) => Some(at),
        None => memchr::memchr(letter, far).map(|at| NEAR + at),
    }
}

/// Where `after` begins. What stands in quotation marks may hold one after a backslash.
#[inline]
fn end(text: &[u8], after: &[u8], quoted: bool) -> Option<usize> {
    let first = after[0];
    let mut from = 0;
    loop {
        let at = from + place(first, &text[from..])?;
        let escaped = quoted && first == b'"' && {
            let slashes = text[..at].iter().rev().take_while(|letter| **letter == b'\\').count();
            slashes % 2 == 1
        };
        if !escaped && begins(&text[at..], after) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Three digits, or the 0 of a client that went away.
#[inline]
pub(crate) fn status(text: &[u8]) -> Option<u16> {
    match text {
        [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => {
            Some(u16::from(a - b'0') * 100 + u16::from(b - b'0') * 10 + u16::from(c - b'0'))
        }
        b"0" | b"000" => Some(0),
        _ => None,
    }
}

/// Part of a format string.
enum Piece {
    Text(String),
    Capture(Capture, String),
}

/// Without `log_format name escape=… '` and `';`, and with pieces joined.
fn bare(text: &str) -> String {
    let text = text.trim().trim_end_matches(';').trim_end();
    let rest = match text.strip_prefix("log_format") {
        Some(rest) if rest.starts_with(char::is_whitespace) => {
            rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start()
        }
        _ if text.starts_with('\'') && text.ends_with('\'') && text.len() > 1 => text,
        _ => return text.to_owned(),
    };
    let rest = match rest.strip_prefix("escape=") {
        Some(rest) => rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest).trim_start(),
        None => rest,
    };
    if !rest.starts_with('\'') {
        return rest.trim_matches('"').to_owned();
    }
    rest.split('\'').skip(1).step_by(2).collect()
}

/// The names of nginx's variables, with and without braces.
fn nginx(text: &str) -> Result<Vec<Piece>, LayoutError> {
    let mut pieces = Vec::new();
    let mut parts = text.split('$');
    pieces.push(Piece::Text(parts.next().unwrap_or_default().to_owned()));
    for part in parts {
        let (name, rest) = match part.strip_prefix('{') {
            Some(part) => part.split_once('}').ok_or_else(|| LayoutError::Unfinished(format!("${{{part}")))?,
            None => part.split_at(part.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(part.len())),
        };
        if name.is_empty() {
            return Err(LayoutError::Unfinished(format!("${part}")));
        }
        let capture = match name {
            "remote_addr" | "realip_remote_addr" | "client" => Capture::Client,
            "client_port" => Capture::ClientPort,
            "host" | "http_host" | "authority" => Capture::Host,
            "http_user_agent" => Capture::Agent,
            "http_referer" => Capture::Referer,
            "time_local" => Capture::Local,
            "time_iso8601" => Capture::Iso,
            "msec" => Capture::Epoch,
            "request" => Capture::Request,
            "request_method" => Capture::Method,
            "request_uri" | "uri" | "document_uri" => Capture::Target,
            "status" => Capture::Status,
            "bytes_sent" | "body_bytes_sent" => Capture::Bytes,
            "request_time" | "took_s" => Capture::Took(SECOND_NS),
            "took_ms" => Capture::Took(1_000_000),
            "rest" => Capture::Rest,
            "port" | "received" => Capture::Number,
            _ => Capture::Ignored,
        };
        pieces.push(Piece::Capture(capture, format!("${name}")));
        pieces.push(Piece::Text(rest.to_owned()));
    }
    // `$uri$is_args$args` is one target with its query; what is read of it is the path.
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        let part_of_target =
            matches!(&piece, Piece::Capture(Capture::Ignored, name) if name == "$is_args" || name == "$args" || name == "$query_string");
        match (&piece, joined.last()) {
            (Piece::Text(text), _) if text.is_empty() => {}
            (_, Some(Piece::Capture(Capture::Target, _))) if part_of_target => {}
            _ => joined.push(piece),
        }
    }
    Ok(joined)
}

/// Apache's directives, and Envoy's operators.
fn percent(text: &str) -> Result<(Vec<Piece>, LoggedTime), LayoutError> {
    let envoy = text.contains("%START_TIME");
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut logged = LoggedTime::Beginning;
    while let Some(at) = rest.find('%') {
        if at > 0 {
            pieces.push(Piece::Text(plain(&rest[..at])));
        }
        let after = &rest[at + 1..];
        if let Some(more) = after.strip_prefix('%') {
            pieces.push(Piece::Text("%".to_owned()));
            rest = more;
            continue;
        }
        let unfinished = || LayoutError::Unfinished(rest[at..].chars().take(20).collect());
        if envoy {
            let end = after.find('%').ok_or_else(unfinished)?;
            // A percent sign inside parentheses is that of a time's own format.
            let end = match after.find('(').filter(|open| *open < end) {
                Some(open) => after[open..].find(")%").map(|close| open + close + 1).ok_or_else(unfinished)?,
                None => end,
            };
            pieces.push(Piece::Capture(operator(&after[..end]), format!("%{}%", &after[..end])));
            rest = &after[end + 1..];
            continue;
        }
        let bare = after
            .trim_start_matches(|letter: char| letter == '>' || letter == '<' || letter == '!' || letter == ',' || letter.is_ascii_digit());
        let (argument, bare) = match bare.strip_prefix('{') {
            Some(inner) => inner.split_once('}').map(|(argument, rest)| (Some(argument), rest)).ok_or_else(unfinished)?,
            None => (None, bare),
        };
        let bare = bare.trim_start_matches(['>', '<']);
        let letter = bare.chars().next().ok_or_else(unfinished)?;
        let name = format!("%{}{letter}", argument.map_or_else(String::new, |it| format!("{{{it}}}")));
        rest = &bare[letter.len_utf8()..];
        let capture = match (letter, argument) {
            ('h' | 'a', _) => Capture::Client,
            ('t', None) => {
                pieces.push(Piece::Text("[".to_owned()));
                pieces.push(Piece::Capture(Capture::Local, name));
                rest = rest.strip_prefix(']').unwrap_or(rest);
                pieces.push(Piece::Text("]".to_owned()));
                continue;
            }
            ('t', Some(form)) => {
                if form.starts_with("end:") {
                    logged = LoggedTime::End;
                }
                Capture::AnyTime
            }
            ('r', _) => Capture::Request,
            ('v' | 'V', _) => Capture::Host,
            ('i', Some(header)) if header.eq_ignore_ascii_case("user-agent") => Capture::Agent,
            ('i', Some(header)) if header.eq_ignore_ascii_case("referer") => Capture::Referer,
            ('m', _) => Capture::Method,
            ('U', _) => Capture::Target,
            // The query follows the path with nothing between: it is part of that capture.
            ('q', _) if matches!(pieces.last(), Some(Piece::Capture(Capture::Target, _))) => continue,
            ('s', _) => Capture::Status,
            ('b' | 'B' | 'O', _) => Capture::Bytes,
            ('D', _) | ('T', Some("us")) => Capture::Took(1000),
            ('T', Some("ms")) => Capture::Took(1_000_000),
            ('T', _) => Capture::Took(SECOND_NS),
            _ => Capture::Ignored,
        };
        pieces.push(Piece::Capture(capture, name));
    }
    pieces.push(Piece::Text(plain(rest)));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    // Two spans of one request are the same span twice: the finest is read.
    let finest =
        pieces.iter().filter_map(|piece| if let Piece::Capture(Capture::Took(unit), _) = piece { Some(*unit) } else { None }).min();
    let mut seen = false;
    for piece in &mut pieces {
        if let Piece::Capture(capture @ Capture::Took(_), _) = piece {
            if seen || Some(*capture) != finest.map(Capture::Took) {
                *capture = Capture::Ignored;
            } else {
                seen = true;
            }
        }
    }
    Ok((pieces, logged))
}

/// Text as a configuration file writes it.
fn plain(text: &str) -> String {
    text.replace("\\\"", "\"").replace("\\t", "\t").replace("\\n", "")
}

/// One of Envoy's.
fn operator(text: &str) -> Capture {
    let upper = text.to_ascii_uppercase();
    match upper.split('(').next().unwrap_or_default() {
        "START_TIME" => Capture::AnyTime,
        "RESPONSE_CODE" => Capture::Status,
        "BYTES_SENT" => Capture::Bytes,
        "DURATION" => Capture::Took(1_000_000),
        "DOWNSTREAM_REMOTE_ADDRESS" => Capture::ClientPort,
        "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT" | "DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT" => Capture::Client,
        "REQ" if upper.contains(":AUTHORITY") => Capture::Host,
        "REQ" if upper.contains(":METHOD") => Capture::Method,
        "REQ" if upper.contains("PATH") => Capture::Target,
        "REQ" if upper.contains("USER-AGENT") => Capture::Agent,
        "REQ" if upper.contains("REFERER") => Capture::Referer,
        "REQ" if upper.contains("X-FORWARDED-FOR") => Capture::Client,
        _ => Capture::Ignored,
    }
}
