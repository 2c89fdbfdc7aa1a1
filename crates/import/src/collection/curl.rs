//! Command lines of curl.
//!
//! What a browser copies is a dozen options; what people keep in their notes is any of curl's two hundred and fifty. Those that say
//! what is sent, and to where, are carried over. Those about curl's own output and its files mean nothing to a load and are passed
//! over. All others are told, since a request without its client certificate is another request.

use base64::Engine as _;
use plan::setting::{CONNECT_TO, CONNECTIONS, HTTP, RATE, SOURCE_IP, TLS_VERSION};
use plan::template::{Template, Value};
use plan::work::{Auth, AwsKeys, Body, Field, FieldValue};
use plan::{FILE_TYPE, FORM_TYPE, Wording, percent_decoded, percent_encoded};

use super::url::ready_for_a_parameter;
use super::words::{Command, commands};
use super::{Collection, Connection, Kind, ReadError, Request, is_method, shortened};

/// How an option is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It says something about the request, and takes a value.
    Takes(Word),
    /// The same without a value.
    Is(Word),
    /// It means nothing to a load, and takes a value or none.
    Passed { value: bool },
    /// It cannot be carried over, and takes a value or none.
    Left { value: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Method,
    Header,
    Data,
    DataRaw,
    DataBinary,
    DataUrlencode,
    Json,
    Form,
    FormString,
    User,
    Cookie,
    Agent,
    Referer,
    Url,
    UrlQuery,
    Range,
    Upload,
    Bearer,
    Signature,
    Get,
    Head,
    Compressed,
    Insecure,
    Location,
    RedirectsMax,
    Digest,
    Basic,
    Timeout,
    ConnectTimeout,
    Proxy,
    Socks,
    SocksNames,
    Socket,
    ConnectTo,
    Issuers,
    Certificate,
    Key,
    Next,
}

use Does::{Is, Left, Passed, Takes};

/// curl's options: the letter, the name, and what becomes of it.
const OPTIONS: &[(&str, &str, Does)] = &[
    ("X", "request", Takes(Word::Method)),
    ("H", "header", Takes(Word::Header)),
    ("d", "data", Takes(Word::Data)),
    ("", "data-ascii", Takes(Word::Data)),
    ("", "data-raw", Takes(Word::DataRaw)),
    ("", "data-binary", Takes(Word::DataBinary)),
    ("", "data-urlencode", Takes(Word::DataUrlencode)),
    ("", "json", Takes(Word::Json)),
    ("F", "form", Takes(Word::Form)),
    ("", "form-string", Takes(Word::FormString)),
    ("u", "user", Takes(Word::User)),
    ("b", "cookie", Takes(Word::Cookie)),
    ("A", "user-agent", Takes(Word::Agent)),
    ("e", "referer", Takes(Word::Referer)),
    ("", "url", Takes(Word::Url)),
    ("", "url-query", Takes(Word::UrlQuery)),
    ("r", "range", Takes(Word::Range)),
    ("T", "upload-file", Takes(Word::Upload)),
    ("", "oauth2-bearer", Takes(Word::Bearer)),
    ("", "aws-sigv4", Takes(Word::Signature)),
    ("G", "get", Is(Word::Get)),
    ("I", "head", Is(Word::Head)),
    ("", "compressed", Is(Word::Compressed)),
    ("k", "insecure", Is(Word::Insecure)),
    ("L", "location", Is(Word::Location)),
    ("", "location-trusted", Is(Word::Location)),
    ("", "max-redirs", Takes(Word::RedirectsMax)),
    ("", "digest", Is(Word::Digest)),
    ("", "basic", Is(Word::Basic)),
    ("", "anyauth", Is(Word::Basic)),
    ("m", "max-time", Takes(Word::Timeout)),
    ("", "connect-timeout", Takes(Word::ConnectTimeout)),
    ("x", "proxy", Takes(Word::Proxy)),
    ("", "socks5", Takes(Word::Socks)),
    ("", "socks5-hostname", Takes(Word::SocksNames)),
    ("", "unix-socket", Takes(Word::Socket)),
    ("", "connect-to", Takes(Word::ConnectTo)),
    ("", "cacert", Takes(Word::Issuers)),
    ("E", "cert", Takes(Word::Certificate)),
    ("", "key", Takes(Word::Key)),
    (":", "next", Is(Word::Next)),
    ("s", "silent", Passed { value: false }),
    ("S", "show-error", Passed { value: false }),
    ("v", "verbose", Passed { value: false }),
    ("i", "include", Passed { value: false }),
    ("", "show-headers", Passed { value: false }),
    ("f", "fail", Passed { value: false }),
    ("", "fail-with-body", Passed { value: false }),
    ("", "fail-early", Passed { value: false }),
    ("#", "progress-bar", Passed { value: false }),
    ("", "no-progress-meter", Passed { value: false }),
    ("N", "no-buffer", Passed { value: false }),
    ("O", "remote-name", Passed { value: false }),
    ("J", "remote-header-name", Passed { value: false }),
    ("R", "remote-time", Passed { value: false }),
    ("g", "globoff", Passed { value: false }),
    ("q", "disable", Passed { value: false }),
    ("4", "ipv4", Passed { value: false }),
    ("6", "ipv6", Passed { value: false }),
    ("", "http1.1", Passed { value: false }),
    ("", "tcp-nodelay", Passed { value: false }),
    ("", "path-as-is", Passed { value: false }),
    ("", "create-dirs", Passed { value: false }),
    ("", "ssl-reqd", Passed { value: false }),
    ("", "tlsv1", Passed { value: false }),
    ("o", "output", Passed { value: true }),
    ("", "output-dir", Passed { value: true }),
    ("w", "write-out", Passed { value: true }),
    ("D", "dump-header", Passed { value: true }),
    ("c", "cookie-jar", Passed { value: true }),
    ("", "stderr", Passed { value: true }),
    ("", "trace", Passed { value: true }),
    ("", "trace-ascii", Passed { value: true }),
    ("", "keepalive-time", Passed { value: true }),
    ("", "max-filesize", Passed { value: true }),
    ("0", "http1.0", Left { value: false }),
    ("", "http2", Left { value: false }),
    ("", "http2-prior-knowledge", Left { value: false }),
    ("", "http3", Left { value: false }),
    ("", "http3-only", Left { value: false }),
    ("", "tlsv1.2", Left { value: false }),
    ("", "tlsv1.3", Left { value: false }),
    ("", "ntlm", Left { value: false }),
    ("", "negotiate", Left { value: false }),
    ("n", "netrc", Left { value: false }),
    ("", "retry-all-errors", Left { value: false }),
    ("", "haproxy-protocol", Left { value: false }),
    ("", "no-keepalive", Left { value: false }),
    ("Z", "parallel", Left { value: false }),
    ("K", "config", Left { value: true }),
    ("", "netrc-file", Left { value: true }),
    ("", "retry", Left { value: true }),
    ("", "retry-delay", Left { value: true }),
    ("", "retry-max-time", Left { value: true }),
    ("", "limit-rate", Left { value: true }),
    ("", "rate", Left { value: true }),
    ("", "interface", Left { value: true }),
    ("", "resolve", Left { value: true }),
    ("", "tls-max", Left { value: true }),
    ("", "ciphers", Left { value: true }),
    ("", "tls13-ciphers", Left { value: true }),
    ("", "curves", Left { value: true }),
    ("", "pass", Left { value: true }),
    ("", "cert-type", Left { value: true }),
    ("", "key-type", Left { value: true }),
    ("", "capath", Left { value: true }),
    ("", "pinnedpubkey", Left { value: true }),
    ("", "proxy-header", Left { value: true }),
    ("U", "proxy-user", Left { value: true }),
    ("", "noproxy", Left { value: true }),
    ("", "preproxy", Left { value: true }),
    ("", "doh-url", Left { value: true }),
    ("", "dns-servers", Left { value: true }),
    ("", "local-port", Left { value: true }),
    ("", "hsts", Left { value: true }),
    ("", "alt-svc", Left { value: true }),
    ("", "request-target", Left { value: true }),
    ("z", "time-cond", Left { value: true }),
    ("C", "continue-at", Left { value: true }),
    ("Y", "speed-limit", Left { value: true }),
    ("y", "speed-time", Left { value: true }),
    ("", "expect100-timeout", Left { value: true }),
    ("", "variable", Left { value: true }),
    ("", "url-file", Left { value: true }),
];

/// Reads every command in a text.
pub(super) fn read(text: &str) -> Result<Collection, ReadError> {
    let found = commands(text).map_err(|open| ReadError::at(open.line, open.column, "this quotation mark is not closed"))?;
    let mut collection = Collection::new(Kind::Curl);
    for command in found {
        let place = format!("line {}", command.line);
        for unread in &command.unread {
            collection.leave_out(
                format!("'{}'", shortened(unread)),
                &place,
                "a shell would put something in here; it is sent as it stands",
            );
        }
        let Some(words) = after_curl(&command) else {
            if let Some(names) = assigned(&command) {
                collection.leave_out(
                    format!("the value of {names}"),
                    &place,
                    "it is taken from the environment: set it there before the run",
                );
                continue;
            }
            let first = command.words.first().map(ToString::to_string).unwrap_or_default();
            collection.leave_out(format!("the command '{}'", shortened(&first)), &place, "it is not curl");
            continue;
        };
        command_line(words, &place, &mut collection);
    }
    settle_packing(&mut collection);
    Ok(collection)
}

/// A load asks for packed answers with all of its requests or with none: where commands differ, it is left to the headers of those that do.
fn settle_packing(collection: &mut Collection) {
    if collection.requests.iter().all(|request| request.connection.compressed) {
        return;
    }
    for request in &mut collection.requests {
        if std::mem::take(&mut request.connection.compressed) {
            request.header_if_none("Accept-Encoding", "deflate, gzip, br, zstd");
        }
    }
}

/// Reads one command that a shell has taken apart.
pub(super) fn of_words(words: &[String]) -> Result<Collection, ReadError> {
    let words: Vec<Template> = words.iter().map(|word| Template::fixed(word.as_str())).collect();
    let command = Command { words, line: 1, unread: Vec::new() };
    let mut collection = Collection::new(Kind::Curl);
    command_line(after_curl(&command).unwrap_or(&command.words), "the command line", &mut collection);
    settle_packing(&mut collection);
    Ok(collection)
}

/// What follows the word `curl`, before which a prompt, variables and `time` may stand.
fn after_curl(command: &Command) -> Option<&[Template]> {
    let is_curl = |word: &Template| word.plain().is_some_and(|word| matches!(word.rsplit(['/', '\\']).next(), Some("curl" | "curl.exe")));
    let at = command.words.iter().position(is_curl)?;
    let before = command.words[..at].iter().all(|word| {
        word.plain().is_some_and(|word| matches!(word, "$" | "%" | ">" | "#" | "time" | "sudo" | "env" | "exec")) || word.contains('=')
    });
    before.then(|| &command.words[at + 1..])
}

/// The names of variables, if a command only gives values to some. The values may be secrets.
fn assigned(command: &Command) -> Option<String> {
    let words = command.words.iter().filter(|word| word.plain() != Some("export"));
    let names: Option<Vec<String>> = words.map(|word| word.split_once('=').and_then(|(name, _)| Some(name.plain()?.to_owned()))).collect();
    let is_name = |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    names.filter(|names| !names.is_empty() && names.iter().all(is_name)).map(|names| names.join(", "))
}

/// What one request is made of, on the way.
#[derive(Default)]
struct CurlRequest {
    method: Option<String>,
    urls: Vec<Template>,
    headers: Vec<(String, Option<Template>)>,
    data: Vec<Template>,
    /// A whole body from a file.
    file: Option<String>,
    has_data: bool,
    json: bool,
    form: Vec<Field>,
    /// As it stands in a URL.
    query: Template,
    user: Option<Template>,
    digest: bool,
    signature: Option<Template>,
    bearer: Option<Template>,
    get: bool,
    head: bool,
    location: bool,
    compressed: bool,
    /// Whether the body is a file that is put where the URL says.
    uploads: bool,
    redirects: Option<u8>,
    connection: Connection,
}

fn command_line(words: &[Template], place: &str, collection: &mut Collection) {
    let mut asked = CurlRequest::default();
    let mut words = words.iter();
    let mut options = true;
    while let Some(word) = words.next() {
        let text = word.plain().unwrap_or_default();
        if options && text == "--" {
            options = false;
        } else if options && let Some(name) = text.strip_prefix("--") {
            long(name, &mut words, place, &mut asked, collection);
        } else if options && begins(word, '-') && text != "-" {
            short(word, &mut words, place, &mut asked, collection);
        } else {
            asked.urls.push(word.clone());
        }
    }
    asked.finish(place, collection);
}

fn long(name: &str, words: &mut std::slice::Iter<'_, Template>, place: &str, asked: &mut CurlRequest, collection: &mut Collection) {
    let Some((.., does)) = OPTIONS.iter().find(|(_, known, _)| *known == name) else {
        // What turns a switch off that is on, or off already.
        let off = name
            .strip_prefix("no-")
            .is_some_and(|name| OPTIONS.iter().any(|(_, known, does)| *known == name && matches!(does, Is(_) | Passed { value: false })));
        if !off {
            collection.leave_out(format!("the option --{}", shortened(name)), place, "it is not known here");
        }
        return;
    };
    done(*does, &format!("--{name}"), &mut || words.next().cloned(), place, asked, collection);
}

/// Letters behind one dash, of which the last may have its value behind it.
fn short(word: &Template, words: &mut std::slice::Iter<'_, Template>, place: &str, asked: &mut CurlRequest, collection: &mut Collection) {
    let Some((_, mut rest)) = word.split_once('-') else { return };
    loop {
        let Some(literal) = rest.beginning() else { return };
        let Some(letter) = literal.chars().next() else { return };
        let Some((_, after)) = rest.split_once(letter) else { return };
        let name = letter.to_string();
        let Some((.., does)) = OPTIONS.iter().find(|(known, ..)| *known == name) else {
            collection.leave_out(format!("the option -{name}"), place, "it is not known here");
            return;
        };
        if matches!(does, Takes(_) | Passed { value: true } | Left { value: true }) {
            let mut value = || if after.is_empty() { words.next().cloned() } else { Some(after.clone()) };
            done(*does, &format!("-{name}"), &mut value, place, asked, collection);
            return;
        }
        done(*does, &format!("-{name}"), &mut || None, place, asked, collection);
        rest = after;
    }
}

fn done(
    does: Does,
    shown: &str,
    value: &mut dyn FnMut() -> Option<Template>,
    place: &str,
    asked: &mut CurlRequest,
    collection: &mut Collection,
) {
    match does {
        Passed { value: false } => {}
        Passed { value: true } => drop(value()),
        Left { value: takes } => {
            let given = if takes { value() } else { None };
            // A password may stand there.
            let hidden = plan::is_secret(shown) || matches!(shown, "-U" | "--proxy-user" | "--pass");
            let given = given.filter(|_| !hidden).map_or_else(String::new, |given| format!(" {}", shortened(&given.to_string())));
            collection.leave_out(format!("the option {shown}{given}"), place, left_because(shown));
        }
        Is(Word::Next) => {
            let before = std::mem::take(asked);
            before.finish(place, collection);
        }
        Is(word) => asked.is(word),
        Takes(word) => match value() {
            Some(value) => asked.takes(word, &value, place, collection),
            None => collection.leave_out(format!("the option {shown}"), place, "its value is missing"),
        },
    }
}

fn left_because(shown: &str) -> Wording {
    let why = match shown {
        "-K" | "--config" | "--url-file" => "no file is read for what stands in it; write its options out",
        "--http2" | "--http2-prior-knowledge" => return format!("give {HTTP:#} 2").into(),
        "--http3" | "--http3-only" => return format!("give {HTTP:#} 3").into(),
        "-0" | "--http1.0" => "loadline speaks no version before HTTP/1.1",
        "-Z" | "--parallel" | "--limit-rate" | "--rate" | "-Y" | "-y" | "--speed-limit" | "--speed-time" => {
            return format!("how much is sent at once is said by {CONNECTIONS} and {RATE} of loadline run").into();
        }
        "--resolve" => return format!("give {CONNECT_TO:#} HOST:PORT").into(),
        "--interface" => return format!("give {SOURCE_IP:#} ADDRESS").into(),
        "--tlsv1.2" | "--tlsv1.3" | "--tls-max" => return format!("give {TLS_VERSION:#} 1.2 or 1.3").into(),
        "--no-keepalive" => "give loadline run --no-keepalive",
        name if name.starts_with("--retry") => "a load test counts a failure as one",
        "--ntlm" | "--negotiate" => "loadline authenticates with Basic, bearer tokens, or what stands in a header",
        _ => "loadline has nothing like it",
    };
    why.into()
}

impl CurlRequest {
    fn is(&mut self, word: Word) {
        match word {
            Word::Get => self.get = true,
            Word::Head => self.head = true,
            Word::Compressed => self.compressed = true,
            Word::Insecure => self.connection.insecure = true,
            Word::Location => self.location = true,
            Word::Digest => self.digest = true,
            _ => self.digest = false,
        }
    }

    fn takes(&mut self, word: Word, value: &Template, place: &str, collection: &mut Collection) {
        let plain = || value.to_string();
        match word {
            Word::Method => self.method = Some(plain()),
            Word::Header => self.header(value, place, collection),
            Word::Data | Word::DataBinary | Word::Json => {
                self.json |= word == Word::Json;
                let joined = if word == Word::Json { Join::Directly } else { Join::With("&") };
                self.data(value, joined, place, collection);
            }
            Word::DataRaw => self.append(value.clone(), "&"),
            Word::DataUrlencode => match urlencoded(value) {
                Ok(pair) => self.append(pair, "&"),
                Err(file) => collection.leave_out(format!("--data-urlencode of the file '{file}'"), place, "give its text instead"),
            },
            Word::Form | Word::FormString => self.field(value, word == Word::FormString, place, collection),
            Word::User => self.user = Some(value.clone()),
            Word::Bearer => self.bearer = Some(value.clone()),
            Word::Signature => self.signature = Some(value.clone()),
            Word::Cookie if value.contains('=') => self.headers.push(("Cookie".to_owned(), Some(value.clone()))),
            Word::Cookie => {
                collection.leave_out(
                    format!("the file of cookies '{}'", shortened(&plain())),
                    place,
                    "write them out, as in -b 'name=value'",
                );
            }
            Word::Agent => self.headers.push(("User-Agent".to_owned(), Some(value.clone()).filter(|value| !value.is_empty()))),
            Word::Referer => self.headers.push(("Referer".to_owned(), Some(value.clone()))),
            Word::Range => {
                let mut range = Template::fixed("bytes=");
                range.append(value.clone());
                range.push(if value.contains('-') { "" } else { "-" });
                self.headers.push(("Range".to_owned(), Some(range)));
            }
            Word::Url => self.urls.push(value.clone()),
            Word::UrlQuery => {
                let pair = match value.plain().and_then(|text| text.strip_prefix('+')) {
                    Some(raw) => Ok(Template::fixed(raw)),
                    None => urlencoded(value),
                };
                match pair {
                    Ok(pair) => {
                        self.query.push(if self.query.is_empty() { "" } else { "&" });
                        self.query.append(pair);
                    }
                    Err(file) => collection.leave_out(format!("--url-query of the file '{file}'"), place, "give its text instead"),
                }
            }
            Word::Upload => {
                self.uploads = true;
                self.file = Some(plain());
            }
            Word::RedirectsMax => self.redirects = plain().parse::<i64>().ok().map(|most| u8::try_from(most).unwrap_or(u8::MAX)),
            Word::Timeout => self.connection.timeout = seconds(&plain()),
            Word::ConnectTimeout => self.connection.connect_timeout = seconds(&plain()),
            Word::Proxy => {
                let text = plain();
                if text.starts_with("socks4") {
                    collection.leave_out("the SOCKS proxy", place, "loadline speaks SOCKS 5 alone");
                } else {
                    let text = if text.starts_with("socks://") { text.replacen("socks", "socks5", 1) } else { text };
                    self.connection.proxy = Some(if text.contains("://") { text } else { format!("http://{text}") });
                }
            }
            Word::Socks | Word::SocksNames => {
                let text = plain();
                let at = text.split_once("://").map_or(text.as_str(), |(_, at)| at);
                let scheme = if word == Word::Socks { "socks5" } else { "socks5h" };
                self.connection.proxy = Some(format!("{scheme}://{at}"));
            }
            Word::Socket => self.connection.unix_socket = Some(plain()),
            Word::ConnectTo => {
                let text = plain();
                let parts: Vec<&str> = text.splitn(3, ':').collect();
                match parts[..] {
                    [_, _, to] if !to.is_empty() && !to.starts_with(':') => self.connection.connect_to = Some(to.to_owned()),
                    _ => collection.leave_out(
                        format!("--connect-to {}", shortened(&text)),
                        place,
                        "give loadline run --connect-to HOST:PORT",
                    ),
                }
            }
            Word::Issuers => self.connection.cacert = Some(plain()),
            Word::Certificate => {
                let text = plain();
                // A password may follow; one letter before a colon is a drive of Windows.
                let file = match text.rsplit_once(':') {
                    Some((file, _)) if file.len() > 1 => {
                        collection.leave_out("the password of the certificate", place, "loadline reads keys that have none");
                        file.to_owned()
                    }
                    _ => text,
                };
                self.connection.cert = Some(file);
            }
            Word::Key => self.connection.key = Some(plain()),
            _ => {}
        }
    }

    /// `Name: value`; `Name;` sends it empty, `Name:` does not send it.
    fn header(&mut self, value: &Template, place: &str, collection: &mut Collection) {
        if begins(value, '@') {
            collection.leave_out(format!("the headers in the file '{}'", shortened(&value.to_string())), place, "write them out");
            return;
        }
        if let Some((name, value)) = value.split_once(':') {
            let value = value.trimmed();
            self.headers.push((name.to_string().trim().to_owned(), Some(value).filter(|value| !value.is_empty())));
        } else if let Some(name) = value.plain().and_then(|text| text.trim().strip_suffix(';')) {
            self.headers.push((name.to_owned(), Some(Template::default())));
        } else {
            collection.leave_out(format!("the header '{}'", shortened(&value.to_string())), place, "it has no colon");
        }
    }

    /// A body, or `@FILE`.
    fn data(&mut self, value: &Template, joined: Join, place: &str, collection: &mut Collection) {
        let separator = if let Join::With(separator) = joined { separator } else { "" };
        if !begins(value, '@') {
            self.append(value.clone(), separator);
            return;
        }
        let file = value.to_string()[1..].to_owned();
        if file == "-" {
            // The request is still one with a body.
            self.has_data = true;
            collection.leave_out("a body from standard input", place, "save it to a file, and name that with --data-binary @FILE");
        } else if self.has_data || self.file.is_some() {
            collection.leave_out(format!("the file '{}' as a part of the body", shortened(&file)), place, "a body is text or one file");
        } else {
            self.file = Some(file);
        }
    }

    fn append(&mut self, text: Template, separator: &str) {
        if self.has_data && !separator.is_empty() {
            self.data.push(Template::fixed(separator));
        }
        self.has_data = true;
        self.data.push(text);
    }

    /// `name=value`, `name=@FILE;type=MEDIA`.
    fn field(&mut self, value: &Template, as_text: bool, place: &str, collection: &mut Collection) {
        let Some((name, value)) = value.split_once('=') else {
            collection.leave_out(format!("the field '{}'", shortened(&value.to_string())), place, "it has no '='");
            return;
        };
        let name = name.to_string();
        if as_text || !(begins(&value, '@') || begins(&value, '<')) {
            // A type behind a text is told by few and read by fewer.
            let value =
                if as_text { value } else { value.split_once(';').filter(|(_, after)| is_media(after)).map_or(value, |(value, _)| value) };
            let value = match value.plain().and_then(|text| text.strip_prefix('"')?.strip_suffix('"')).filter(|_| !as_text) {
                Some(inner) => Template::fixed(inner),
                None => value,
            };
            self.form.push(Field { name, value: FieldValue::Text(value), headers: Vec::new() });
            return;
        }
        let whole = value.to_string();
        let mut parts = whole[1..].split(';');
        let path = parts.next().unwrap_or_default().trim_matches('"').to_owned();
        let mut media_type = None;
        for part in parts {
            match part.trim().split_once('=') {
                Some(("type", media)) => media_type = Some(media.to_owned()),
                _ => {
                    collection.leave_out(
                        format!("'{}' of the field '{name}'", shortened(part)),
                        place,
                        "a file is sent under its own name",
                    );
                }
            }
        }
        if path.is_empty() || path == "-" {
            collection.leave_out(format!("the field '{name}' from standard input"), place, "save it to a file");
        } else if begins(&value, '<') {
            self.form.push(Field { name, value: FieldValue::Text(Value::File(path, None).into()), headers: Vec::new() });
        } else {
            let media_type = media_type.unwrap_or_else(|| media_of(&path).unwrap_or(FILE_TYPE).to_owned());
            self.form.push(Field { name, value: FieldValue::File { path, media_type }, headers: Vec::new() });
        }
    }

    fn finish(self, place: &str, collection: &mut Collection) {
        if self.urls.is_empty() {
            collection.leave_out("a curl command", place, "it names no URL");
            return;
        }
        let mut body = Body::Empty;
        let mut content_type = None;
        let mut query = self.query;
        let mut data = Template::default();
        self.data.into_iter().for_each(|part| data.append(part));
        if !self.form.is_empty() {
            body = Body::Multipart(self.form);
        } else if let Some(file) = self.file {
            if self.get {
                collection.leave_out(format!("the query in the file '{}'", shortened(&file)), place, "write it into the URL");
            } else {
                body = Body::File(file);
                content_type = Some(if self.json { "application/json" } else { FORM_TYPE });
            }
        } else if self.has_data && !self.get {
            body = Body::Text(data.clone());
            content_type = Some(if self.json { "application/json" } else { FORM_TYPE });
        }
        // A file that is uploaded has no type of its own.
        if self.uploads {
            content_type = content_type.filter(|_| self.json);
        }
        let method = self.method.unwrap_or_else(|| {
            if self.head {
                "HEAD"
            } else if self.uploads {
                "PUT"
            } else if body == Body::Empty {
                "GET"
            } else {
                "POST"
            }
            .to_owned()
        });
        if !is_method(&method) {
            collection.leave_out(format!("the request with the method '{}'", shortened(&method)), place, "it is no method");
            return;
        }
        let mut request = Request { method, place: place.to_owned(), connection: self.connection, ..Request::default() };
        request.connection.follow = self.location.then(|| self.redirects.unwrap_or(50));
        for (name, value) in self.headers {
            if let Some(value) = value {
                request.take_header(&name, value);
            }
        }
        request.connection.compressed = self.compressed;
        if self.json {
            request.header_if_none("Accept", "application/json");
        }
        if let Some(content_type) = content_type {
            request.header_if_none("Content-Type", content_type);
        }
        match (self.user, self.bearer) {
            (_, Some(token)) => request.auth = Some(Auth::Bearer(token)),
            (Some(user), _) => {
                let (user, password) = user.split_once(':').unwrap_or((user, Template::default()));
                request.auth = Some(match self.signature {
                    Some(signature) => aws(&signature, user, password),
                    None if self.digest => Auth::Digest { user, password },
                    None => Auth::Basic { user, password },
                });
            }
            (None, None) => {}
        }
        if self.get && self.has_data {
            query.push(if query.is_empty() || data.is_empty() { "" } else { "&" });
            query.append(data);
        }
        request.body = body;
        for url in self.urls {
            let mut request = request.clone();
            request.url = url;
            if let (true, Body::File(path)) = (self.uploads, &request.body) {
                request.url = uploaded(request.url, path);
            }
            if !query.is_empty() {
                request.url = ready_for_a_parameter(&request.url);
                request.url.append(query.clone());
            }
            credentials_apart(&mut request);
            collection.requests.push(request);
        }
    }
}

/// Where a file is put: a URL that ends with a directory has the file's name behind it.
fn uploaded(url: Template, path: &str) -> Template {
    // Standard input has no name.
    let Some(text) = url.plain().filter(|text| path != "-" && !text.contains(['?', '#'])) else { return url };
    let behind = &text[plan::server_in(text).start..];
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    match behind.contains('/') {
        true if text.ends_with('/') => Template::fixed(format!("{text}{}", percent_encoded(name))),
        true => url,
        false => Template::fixed(format!("{text}/{}", percent_encoded(name))),
    }
}

/// The types that curl knows by the ends of names (curl's lib/mime.c).
fn media_of(path: &str) -> Option<&'static str> {
    let name = path.to_ascii_lowercase();
    let known = [
        (".gif", "image/gif"),
        (".jpg", "image/jpeg"),
        (".jpeg", "image/jpeg"),
        (".png", "image/png"),
        (".svg", "image/svg+xml"),
        (".txt", "text/plain"),
        (".htm", "text/html"),
        (".html", "text/html"),
        (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ];
    known.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, media)| *media)
}

/// How a text joins what stands before it.
#[derive(Clone, Copy)]
enum Join {
    Directly,
    With(&'static str),
}

/// `name=value` with the value percent-encoded; `=value`, `value`; a file is refused with its name.
fn urlencoded(value: &Template) -> Result<Template, String> {
    let text = value.to_string();
    if let Some((name, rest)) = value.split_once('=') {
        let mut pair = name.clone();
        if !name.is_empty() {
            pair.push("=");
        }
        pair.append(rest.map_text(percent_encoded));
        return Ok(pair);
    }
    match text.split_once('@') {
        Some((_, file)) => Err(shortened(file)),
        None => Ok(value.clone().map_text(percent_encoded)),
    }
}

fn is_media(text: &Template) -> bool {
    text.plain().is_some_and(|text| text.trim_start().starts_with("type="))
}

fn begins(text: &Template, letter: char) -> bool {
    text.beginning().is_some_and(|text| text.starts_with(letter))
}

/// `provider1:provider2:region:service`.
fn aws(signature: &Template, access_key: Template, secret_key: Template) -> Auth {
    let text = signature.to_string();
    let mut parts = text.split(':').skip(2);
    let region = Template::fixed(parts.next().unwrap_or_default());
    let service = Template::fixed(parts.next().unwrap_or_default());
    Auth::Aws(Box::new(AwsKeys { access_key, secret_key, session_token: None, region, service }))
}

/// curl takes seconds, with decimals.
fn seconds(text: &str) -> Option<String> {
    let seconds: f64 = text.parse().ok()?;
    (seconds.is_finite() && seconds > 0.0 && seconds < 1e6).then(|| format!("{}ms", (seconds * 1000.0).round().max(1.0)))
}

/// User and password of a URL become those of the request.
pub(super) fn credentials_apart(request: &mut Request) {
    let Some(text) = request.url.plain() else { return };
    let server = plan::server_in(text);
    let (scheme, behind) = (&text[..server.start], &text[server.end..]);
    let Some((user, host)) = text[server.clone()].rsplit_once('@').filter(|_| !scheme.is_empty()) else { return };
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let auth = Auth::Basic { user: percent_decoded(name).into(), password: percent_decoded(password).into() };
    let url = format!("{scheme}{host}{behind}");
    request.auth.get_or_insert(auth);
    request.url = Template::fixed(url);
}

/// `name:password` of Basic authentication.
pub(super) fn basic(value: &str) -> Option<(String, String)> {
    let coded = value.strip_prefix("Basic ").or_else(|| value.strip_prefix("basic "))?.trim();
    let bytes = base64::engine::general_purpose::STANDARD.decode(coded).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    text.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;
    use proptest::prelude::*;

    fn collection(text: &str) -> Collection {
        Collection::read(Kind::Curl, text.as_bytes(), &Wishes::default()).unwrap()
    }

    fn one(text: &str) -> Request {
        let mut collection = collection(text);
        assert_eq!(collection.left_out, [], "{text}");
        assert_eq!(collection.requests.len(), 1);
        collection.requests.remove(0)
    }

    fn headers(request: &Request) -> Vec<String> {
        request.headers.iter().map(|(name, value)| format!("{name}: {}", value)).collect()
    }

    #[test]
    fn a_request_as_a_browser_copies_it_is_whole() {
        let request = one(
            "curl 'https://shop.example.com/api/cart?lang=de' \\\n  -X 'PUT' \\\n  -H 'accept: application/json' \\\n  -H 'content-type: application/json' \\\n  -H $'x-note: it\\'s mine' \\\n  -b 'sid=abc; theme=dark' \\\n  -H 'user-agent: Mozilla/5.0 (X11; Linux x86_64)' \\\n  --data-raw $'{\"item\":\"caf\\u00e9\\u0021\",\"n\":2}' \\\n  --compressed --insecure",
        );
        assert_eq!((request.method.as_str(), request.url.to_string().as_str()), ("PUT", "https://shop.example.com/api/cart?lang=de"));
        assert_eq!(
            headers(&request),
            [
                "accept: application/json",
                "content-type: application/json",
                "x-note: it's mine",
                "Cookie: sid=abc; theme=dark",
                "user-agent: Mozilla/5.0 (X11; Linux x86_64)",
            ]
        );
        assert_eq!(request.body, Body::Text(Template::fixed("{\"item\":\"café!\",\"n\":2}")));
        assert!(request.connection.insecure && request.connection.follow.is_none());
        assert_eq!(request.name, "PUT /api/cart");
    }

    #[test]
    fn a_request_as_a_browser_copies_it_for_windows_is_the_same() {
        let request = one(
            "curl ^\"https://shop.example.com/api/cart?a=1^&b=2^\" ^\r\n  -H ^\"content-type: application/json^\" ^\r\n  --data-raw ^\"^{^\\^\"n^\\^\":2^}^\"\r\n",
        );
        assert_eq!(request.url.to_string(), "https://shop.example.com/api/cart?a=1&b=2");
        assert_eq!(request.body, Body::Text(Template::fixed("{\"n\":2}")));
    }

    #[test]
    fn options_say_what_they_say_to_curl() {
        let request = one("$ curl -sSLkXPOST -u me:s3cret -A tool/1 -e http://h/ http://h/x -d a=1 -d 'b=two words'");
        assert_eq!(request.auth, Some(Auth::Basic { user: "me".into(), password: "s3cret".into() }));
        assert_eq!(request.body, Body::Text("a=1&b=two words".into()));
        assert_eq!(request.connection.follow, Some(50));
        assert_eq!(headers(&request), ["User-Agent: tool/1", "Referer: http://h/", "Content-Type: application/x-www-form-urlencoded"]);
        let request = one("curl -G http://h/search -d q=a+b --data-urlencode 'name=a b&c' --url-query 'page=1'");
        assert_eq!((request.method.as_str(), request.url.to_string().as_str()), ("GET", "http://h/search?page=1&q=a+b&name=a%20b%26c"));
        assert_eq!(one("curl \"http://h/?a=$A\" --url-query b=1").url.to_string(), "http://h/?a={{env A}}&b=1");
        let request = one("curl --json '{\"a\":1}' h:8080/items");
        assert_eq!((request.method.as_str(), request.url.to_string().as_str()), ("POST", "http://h:8080/items"));
        assert_eq!(headers(&request), ["Accept: application/json", "Content-Type: application/json"]);
        let request = one("curl -F name=me -F 'photo=@me.png;type=image/png' http://h/");
        let Body::Multipart(fields) = &request.body else { panic!("{request:?}") };
        assert_eq!(fields[1].value, FieldValue::File { path: "me.png".to_owned(), media_type: "image/png".to_owned() });
        assert_eq!(one("curl -T big.bin http://h/x").body, Body::File("big.bin".to_owned()));
        assert_eq!(one("curl -I http://h/").method, "HEAD");
        assert_eq!(one("curl http://me:p%40ss@h/").auth, Some(Auth::Basic { user: "me".into(), password: "p@ss".into() }));
        assert_eq!(one("curl -m 2.5 http://h/").connection.timeout.as_deref(), Some("2500ms"));
        let request = one("curl -H \"Authorization: Bearer $TOKEN\" http://h/");
        assert_eq!(headers(&request), ["Authorization: Bearer {{env TOKEN}}"]);
    }

    #[test]
    fn several_commands_are_several_requests() {
        let read = collection("# login\ncurl http://h/login -d a=1\ncurl http://h/a http://h/b --next -XDELETE http://h/c\nls -l\n");
        let told: Vec<String> =
            read.requests.iter().map(|request| format!("{} {} {}", request.method, request.url, request.place)).collect();
        assert_eq!(told, ["POST http://h/login line 2", "GET http://h/a line 3", "GET http://h/b line 3", "DELETE http://h/c line 3"]);
        assert_eq!(read.left_out[0].wording().spelt(plan::Spelling::Flags), "line 4: the command 'ls': it is not curl");
    }

    #[test]
    fn what_cannot_be_carried_over_is_told_with_its_place() {
        let read = collection("\ncurl --retry 3 --http2 --frobnicate -b cookies.txt --proxy-user me:hunter22 http://h/");
        let told: Vec<String> = read.left_out.iter().map(|left| left.wording().spelt(plan::Spelling::Flags)).collect();
        assert_eq!(told[0], "line 2: the option --retry 3: a load test counts a failure as one");
        assert_eq!(told[1], "line 2: the option --http2: give --http 2");
        assert_eq!(told[2], "line 2: the option --frobnicate: it is not known here");
        assert!(told[3].contains("the file of cookies 'cookies.txt'"));
        assert!(!told.concat().contains("hunter22"));
    }

    #[test]
    fn what_curl_makes_of_an_option_is_made_of_it() {
        let value = |text: &str, name: &str| one(text).header(name).map(ToString::to_string);
        assert_eq!(
            value("curl -H 'Accept-Encoding: gzip, deflate, br' http://h/ --compressed", "accept-encoding").as_deref(),
            Some("gzip, deflate, br")
        );
        assert_eq!(value("curl --compressed http://h/ -H 'accept-encoding: gzip'", "accept-encoding").as_deref(), Some("gzip"));
        assert_eq!(value("curl -X PUT --data @a.json http://h/", "content-type").as_deref(), Some("application/x-www-form-urlencoded"));
        assert_eq!(value("curl -T a.json http://h/x", "content-type"), None);
        assert_eq!(value("curl --range 600 http://h/", "range").as_deref(), Some("bytes=600-"));
        assert_eq!(value("curl -r 0-99 http://h/", "range").as_deref(), Some("bytes=0-99"));
        for (line, url) in
            [("-T a/b.bin http://h/d/", "http://h/d/b.bin"), ("-T b.bin http://h", "http://h/b.bin"), ("-T b.bin http://h/c", "http://h/c")]
        {
            let request = one(&format!("curl {line}"));
            assert_eq!((request.method.as_str(), request.url.to_string().as_str()), ("PUT", url));
        }
        assert_eq!(one("curl -X POST -T b.bin http://h/c").method, "POST");
        let request = one("curl -F a=@x.JPG -F b=@y -F 'c=@z.txt;type=text/csv' http://h/");
        let Body::Multipart(fields) = &request.body else { panic!("{request:?}") };
        let types: Vec<&str> = fields
            .iter()
            .map(|field| if let FieldValue::File { media_type, .. } = &field.value { media_type.as_str() } else { "" })
            .collect();
        assert_eq!(types, ["image/jpeg", FILE_TYPE, "text/csv"]);
        let read = collection("curl -d @- http://h/");
        assert_eq!((read.requests[0].method.as_str(), read.left_out.len()), ("POST", 1));
        let read = collection("curl http://h/ --url-query name@file");
        assert_eq!(
            read.left_out[0].wording().spelt(plan::Spelling::Flags),
            "line 1: --url-query of the file 'file': give its text instead"
        );
    }

    #[test]
    fn packed_answers_are_asked_for_by_the_load_where_all_commands_do() {
        let read = collection("curl --compressed http://h/a\ncurl http://h/b --compressed\n");
        assert!(read.requests.iter().all(|request| request.connection.compressed && request.header("accept-encoding").is_none()));
        let read = collection("curl --compressed http://h/a\ncurl http://h/b\n");
        assert!(read.requests.iter().all(|request| !request.connection.compressed));
        let asked: Vec<Option<String>> =
            read.requests.iter().map(|request| request.header("accept-encoding").map(ToString::to_string)).collect();
        assert_eq!(asked, [Some("deflate, gzip, br, zstd".to_owned()), None]);
    }

    #[test]
    fn proxies_of_socks_are_carried_over() {
        for (line, proxy) in [
            ("-x socks5://me:pw@p:9", Some("socks5://me:pw@p:9")),
            ("-x socks5h://p", Some("socks5h://p")),
            ("--socks5 p:9", Some("socks5://p:9")),
            ("--socks5-hostname p", Some("socks5h://p")),
            ("-x socks4://p", None),
        ] {
            assert_eq!(collection(&format!("curl {line} http://h/")).requests[0].connection.proxy.as_deref(), proxy, "{line}");
        }
    }

    #[test]
    fn a_script_around_curl_is_read_for_its_commands() {
        let script = "#!/bin/bash\nset -e\nTOKEN=abcdefgh-secret\nexport BASE=http://h\necho '{}' | curl -d @- -H \"X-T: $TOKEN\" \"$BASE/a\" http://h/b\n";
        assert_eq!(crate::collection::guess(script.as_bytes()), Ok(Kind::Curl));
        let read =
            Collection::read(Kind::Curl, script.as_bytes(), &Wishes { host: Some("http://h".to_owned()), ..Wishes::default() }).unwrap();
        assert!(read.requests.iter().any(|request| request.url.to_string() == "http://h/b"));
        let told: Vec<String> = read.left_out.iter().map(|left| left.wording().spelt(plan::Spelling::Flags)).collect();
        assert!(
            told.contains(&"line 3: the value of TOKEN: it is taken from the environment: set it there before the run".to_owned()),
            "{told:?}"
        );
        assert!(!told.concat().contains("abcdefgh"), "{told:?}");
    }

    proptest! {
        #[test]
        fn no_command_makes_reading_panic(text in "curl( (-[A-Za-z]|--[a-z-]{1,12}|[a-z@=:;'\"/&?#$]{0,8})){0,8}") {
            let _ = Collection::read(Kind::Curl, text.as_bytes(), &Wishes::default());
        }
    }
}
