//! The forms of logs that are known, and a guess which one a log has.
//!
//! A guess is a trial: every form reads the first lines, and the one that reads most is it. Forms that are beginnings of others
//! (Apache's common of its combined) are no danger, since a line must be read to its end; of forms that read as many lines it is
//! the one with most places, and one that takes whatever follows only if no other does.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use crate::entry::Entry;
use crate::gor::is_gor;
use crate::json_line::{Fields, ROLES, Role};
use crate::layout::{Layout, LayoutError, LoggedTime};
use crate::prefix::Prefix;
use crate::reader::Reader;

/// The form of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    Text(Layout),
    Json(Fields),
    /// Behind what a collector wrote.
    Prefixed(Prefix, Box<Self>),
    Har,
    Gor,
}

/// A form with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownForm {
    /// What `--log-format` calls it.
    pub name: &'static str,
    /// What it is, in words.
    pub about: &'static str,
    form: Written,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    /// Times are those of the end.
    AtEnd(&'static str),
    /// Times are those of the beginning.
    AtBeginning(&'static str),
    Caddy,
    EnvoyJson,
    Json,
    Har,
    Gor,
}

const COMBINED: &str =
    r#"$remote_addr $ignored $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent""#;
/// Fields 1 to 12 of an Application Load Balancer's line; new ones are appended at its end. The three spans add up.
const ALB: &str = r#"$type $time_iso8601 $elb $client_port $target $took_s $took_s $took_s $status $target_status $request_length $bytes_sent "$request" "$http_user_agent" $rest"#;
const ENVOY: &str = r#"[$time_iso8601] "$request_method $request_uri $protocol" $status $flags $received $bytes_sent $took_ms $upstream_time "$remote_addr" "$http_user_agent" "$id" "$authority" "$upstream""#;

/// Every form, in the order of the guess.
pub const KNOWN: &[KnownForm] = &[
    KnownForm { name: "combined", about: "nginx's and Apache's combined", form: Written::AtEnd(COMBINED) },
    KnownForm {
        name: "main",
        about: "nginx's main: combined and the X-Forwarded-For header",
        form: Written::AtEnd(
            r#"$remote_addr $ignored $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for""#,
        ),
    },
    KnownForm {
        name: "common",
        about: "Apache's common",
        form: Written::AtBeginning(r#"$remote_addr $ignored $remote_user [$time_local] "$request" $status $bytes_sent"#),
    },
    KnownForm {
        name: "combinedio",
        about: "Apache's combined with bytes in and out",
        form: Written::AtBeginning(
            r#"$remote_addr $ignored $remote_user [$time_local] "$request" $status $bytes "$http_referer" "$http_user_agent" $received $bytes_sent"#,
        ),
    },
    KnownForm {
        name: "vhost-combined",
        about: "Apache's combined behind the name of the host",
        form: Written::AtBeginning(
            r#"$host:$port $remote_addr $ignored $remote_user [$time_local] "$request" $status $bytes_sent "$http_referer" "$http_user_agent""#,
        ),
    },
    KnownForm {
        name: "vhost",
        about: "the same behind the name of the host alone",
        form: Written::AtBeginning(
            r#"$host $remote_addr $ignored $remote_user [$time_local] "$request" $status $bytes_sent "$http_referer" "$http_user_agent""#,
        ),
    },
    KnownForm {
        name: "vhost-common",
        about: "Apache's common behind the name of the host",
        form: Written::AtBeginning(r#"$host $remote_addr $ignored $remote_user [$time_local] "$request" $status $bytes_sent"#),
    },
    KnownForm { name: "alb", about: "an AWS Application Load Balancer's", form: Written::AtEnd(ALB) },
    KnownForm { name: "envoy", about: "Envoy's default", form: Written::AtBeginning(ENVOY) },
    KnownForm { name: "caddy", about: "Caddy's JSON", form: Written::Caddy },
    KnownForm { name: "envoy-json", about: "Envoy's and Istio's JSON", form: Written::EnvoyJson },
    KnownForm { name: "json", about: "JSON lines", form: Written::Json },
    KnownForm { name: "har", about: "HAR, as browsers save it", form: Written::Har },
    KnownForm { name: "gor", about: "what GoReplay captured", form: Written::Gor },
];

impl KnownForm {
    pub(crate) fn form(&self) -> Form {
        let text = |text: &str, logged| Form::Text(Layout::known(text, logged));
        match self.form {
            Written::AtEnd(it) => text(it, LoggedTime::End),
            Written::AtBeginning(it) => text(it, LoggedTime::Beginning),
            Written::Caddy => Form::Json(Fields::caddy()),
            Written::EnvoyJson => Form::Json(Fields::envoy()),
            Written::Json => Form::Json(Fields::common()),
            Written::Har => Form::Har,
            Written::Gor => Form::Gor,
        }
    }
}

/// The form a user asked for, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormChoice {
    form: Option<(String, Form)>,
    fields: Vec<(String, Role)>,
}

/// Why a form cannot be asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskedError {
    /// Neither a name nor a format string.
    #[error("'{0}' is no known form and no format string")]
    Unknown(String),
    /// A format string that cannot be used.
    #[error("the format string cannot be used: {0}")]
    Layout(#[from] LayoutError),
}

impl FormChoice {
    /// A name of [`KNOWN`], or the format string of nginx, Apache or Envoy.
    ///
    /// # Errors
    /// If it is neither.
    pub fn named(text: &str) -> Result<Self, AskedError> {
        if let Some(known) = KNOWN.iter().find(|known| known.name == text.trim()) {
            return Ok(Self { form: Some((known.name.to_owned(), known.form())), fields: Vec::new() });
        }
        if !text.contains(['$', '%']) {
            return Err(AskedError::Unknown(text.to_owned()));
        }
        Ok(Self { form: Some(("the given format".to_owned(), Form::Text(Layout::new(text)?))), fields: Vec::new() })
    }

    /// With names of JSON's fields.
    #[must_use]
    pub fn with_fields(mut self, fields: impl IntoIterator<Item = FieldRole>) -> Self {
        self.fields = fields.into_iter().map(|named| (named.field, named.role)).collect();
        if !self.fields.is_empty() && self.form.is_none() {
            self.form = Some(("json".to_owned(), Form::Json(Fields::common())));
        }
        self
    }

    /// Whether the form is found out from the log.
    pub(crate) fn is_guess(&self) -> bool {
        self.form.is_none()
    }

    /// The form of a log that begins so; `None` where nothing known reads it.
    pub(crate) fn guess(&self, sample: &[u8]) -> Option<(String, Form)> {
        if let Some((name, form)) = &self.form {
            let form = match form {
                Form::Json(fields) => Form::Json(fields.clone().with(&self.fields)),
                form => form.clone(),
            };
            return Some((name.clone(), form));
        }
        if is_har(sample) {
            return Some(("har".to_owned(), Form::Har));
        }
        if is_gor(sample) {
            return Some(("gor".to_owned(), Form::Gor));
        }
        let mut lines: Vec<&[u8]> = sample.split(|letter| *letter == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).collect();
        if lines.len() > 1 {
            // The last one may be cut by the end of the sample.
            lines.pop();
        }
        lines.retain(|line| !line.is_empty());
        lines.truncate(LINES_TRIED);
        // The guess without the prefix goes before: with it the collector's words would be taken for a client.
        let behind = Prefix::of(&lines).and_then(|prefix| {
            let lines: Vec<&[u8]> = lines.iter().filter_map(|line| prefix.rest(line)).collect();
            let (name, form) = guess_of_lines(&lines)?;
            Some((format!("{name} {}", prefix.words()), Form::Prefixed(prefix, Box::new(form))))
        });
        behind.or_else(|| guess_of_lines(&lines))
    }
}

/// The form that reads most of these lines.
fn guess_of_lines(lines: &[&[u8]]) -> Option<(String, Form)> {
    let mut best: Option<((usize, usize), String, Form)> = None;
    // Of two forms that read as much, the one with more places knows more about the line.
    let mut attempt = |name: String, form: Form, places: usize, is_one: fn(&Entry<'_>) -> bool| {
        let mut reader = Reader::new(&form);
        let read = lines.iter().filter(|line| reader.line(line).is_ok_and(|entry| is_one(&entry))).count();
        if read > 0 && best.as_ref().is_none_or(|it| (read, places) > it.0) {
            best = Some(((read, places), name, form));
        }
    };
    for known in KNOWN.iter().filter(|known| !matches!(known.form, Written::Har | Written::Gor)) {
        let form = known.form();
        let places = if let Form::Text(layout) = &form { layout.places() } else { 0 };
        // A name before the client reads like any other first word: what follows has to be an address.
        let behind_host = known.name.starts_with("vhost");
        attempt(known.name.to_owned(), form, places, if behind_host { client_is_address } else { |_| true });
    }
    // Many add fields of their own at the end of a form that is known.
    for known in &KNOWN[..1] {
        if let Form::Text(layout) = known.form() {
            attempt(format!("{} and more", known.name), Form::Text(layout.and_more()), 0, |_| true);
        }
    }
    best.map(|(_, name, form)| (name, form))
}

fn client_is_address(entry: &Entry<'_>) -> bool {
    entry.client.and_then(|client| std::str::from_utf8(client).ok()).is_some_and(|client| client.parse::<IpAddr>().is_ok())
}

/// Lines that are read to guess by.
const LINES_TRIED: usize = 200;

/// A document, not lines: what a log line never has is an object called `log` with entries.
fn is_har(sample: &[u8]) -> bool {
    let start = sample.iter().position(|letter| !letter.is_ascii_whitespace() && !matches!(letter, 0xEF | 0xBB | 0xBF));
    let head = &sample[..sample.len().min(4096)];
    start.is_some_and(|at| sample[at] == b'{')
        && memchr::memmem::find(head, b"\"log\"").is_some()
        && (memchr::memmem::find(head, b"\"creator\"").is_some() || memchr::memmem::find(head, b"\"entries\"").is_some())
}

/// One `ROLE=FIELD`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldRole {
    role: Role,
    field: String,
}

impl FromStr for FieldRole {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || ROLES.map(|(name, _)| name).join(", ");
        let (role, field) = text
            .split_once('=')
            .filter(|(_, field)| !field.is_empty())
            .ok_or_else(|| format!("write what it is and its name, such as path=request.uri; known are {}", known()))?;
        let role = ROLES.iter().find(|(name, _)| *name == role).ok_or_else(|| format!("'{role}' is none of {}", known()))?.1;
        Ok(Self { role, field: field.to_owned() })
    }
}

/// As it is read.
impl fmt::Display for FieldRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = ROLES.iter().find(|(_, role)| *role == self.role).map_or("", |(name, _)| name);
        write!(f, "{name}={}", self.field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_form_is_a_form() {
        for known in KNOWN {
            let _ = known.form();
        }
    }

    #[test]
    fn what_cannot_be_asked_for_says_why() {
        for (text, why) in [
            ("combine", "no known form"),
            ("$remote_addr$status $time_local $request", "nothing stands between $remote_addr and $status"),
            ("$remote_addr $status", "it has no time"),
            ("%h %t", "it has no request"),
            ("%{x", "is not finished"),
            ("[%START_TIME", "is not finished"),
        ] {
            let error = FormChoice::named(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
        assert!("colour=x".parse::<FieldRole>().unwrap_err().contains("none of time, method"));
        assert!("path".parse::<FieldRole>().unwrap_err().contains("path=request.uri"));
    }
}
