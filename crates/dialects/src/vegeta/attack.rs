//! The command line of `vegeta attack`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::IpAddr;
use std::num::NonZeroU32;

use engine::body::BYTES_MAX;
use plan::{Draft, HttpVersion, Keepalive, Nanos, Rate, Resumption, Scheme, Setting, Stage, Timetable, plainly};
use report::go;

use super::shot::{Body, RequestOptions};
use super::targets::{Common, Format};
use super::usage_of;
use crate::dialect::{Support, Use};
use crate::goclient::STREAMS;
use crate::goflag::{self, Flag, Mistake, invalid, switch, valued};
use crate::host::{Files, Verbosity};

pub const FLAGS: &[Flag] = &[
    valued("body", "string", "File with the body of targets that have none"),
    valued("cert", "string", "File with the client's certificate, PEM"),
    switch("chunked", "Send bodies in chunks"),
    valued("connect-to", "value", "src:port:dst:port: connect there instead (repeatable)"),
    valued("connections", "int", "Idle connections a host, at most (10000)"),
    valued("dns-ttl", "value", "Only 0 is supported: names are looked up once"),
    valued("duration", "duration", "How long to attack (0: without end)"),
    valued("format", "string", "Format of the targets: http or json (http)"),
    switch("h2c", "Speak HTTP/2 from the first byte, without TLS too"),
    valued("header", "value", "Header 'Name: value' of every request (repeatable)"),
    switch("http2", "Speak HTTP/2 over TLS with servers that do (true)"),
    switch("insecure", "Accept any certificate"),
    switch("keepalive", "Use connections again (true)"),
    valued("key", "string", "File with the client's key, PEM (the certificate's file)"),
    valued("laddr", "value", "Local address (0.0.0.0)"),
    switch("lazy", "Read targets as they are needed; the attack ends with them"),
    valued("max-body", "value", "Bytes kept of each answer's body (-1: all)"),
    valued("max-connections", "int", "Connections, at most (0: no limit)"),
    valued("max-workers", "uint", "Requests at once, at most (no limit)"),
    valued("name", "string", "Name of the attack, in results and as X-Vegeta-Attack"),
    valued("output", "string", "File for the results, gob (stdout)"),
    valued("prometheus-addr", "string", "Not supported"),
    valued("proxy-header", "value", "Not supported"),
    switch("quiet", "No remarks of loadline's"),
    valued("rate", "value", "Requests per time: 50, 50/s, 50/1m; 0 for as fast as -max-workers go (50/1s)"),
    valued("redirects", "int", "Redirects followed at most; -1: none, and they are successes (10)"),
    valued("resolvers", "value", "Not supported"),
    valued("root-certs", "value", "File with trusted issuers, PEM"),
    switch("session-tickets", "Resume TLS sessions on new connections"),
    valued("targets", "string", "File with the targets (stdin)"),
    valued("timeout", "duration", "Give a request up after this time; 0: never (30s)"),
    valued("unix-socket", "string", "Connect to this socket instead of the hosts"),
    valued("workers", "uint", "Requests at once to begin with (10)"),
];

/// The flags, as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub request: RequestOptions,
    pub targets: String,
    pub format: Format,
    pub lazy: bool,
    pub output: String,
    pub body: Option<String>,
    pub headers: BTreeMap<String, Vec<String>>,
    /// `None`: without end.
    pub duration: Option<Nanos>,
    /// `None`: as fast as answers come.
    pub rate: Option<Rate>,
    pub requests_at_once: Option<NonZeroU32>,
    pub redirects: Redirects,
    /// Bytes kept of each body; `None`: all.
    pub body_bytes_max: Option<u64>,
    /// Where targets are connected to instead: `host:port` and `host:port`.
    pub connect_to: BTreeMap<String, String>,
    pub verbosity: Verbosity,
    timeout: Nanos,
    insecure: bool,
    session_tickets: bool,
    cert: Option<String>,
    key: Option<String>,
    cacert: Option<String>,
    pub source_ip: Option<IpAddr>,
    unix_socket: Option<String>,
}

/// What is done about redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redirects {
    /// They are successes.
    Answers,
    /// So many are followed; one more is an error.
    Follow(u8),
}

/// Longer than any attack or request; an end is wanted by the plan.
const NEVER: Nanos = Nanos::from_secs(10 * 365 * 86_400);

/// Why an attack is not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The command line is wrong.
    Misused(Mistake),
    /// It is right, and cannot be done.
    Failed(String),
}

impl From<Mistake> for Refusal {
    fn from(mistake: Mistake) -> Self {
        Self::Misused(mistake)
    }
}

impl Options {
    /// Reads the words behind `attack`.
    pub fn read(words: &[OsString]) -> Result<Self, Refusal> {
        let read = goflag::read(FLAGS, words)?;
        let given = |name: &str| read.last(name);
        let text = |name: &str| given(name).filter(|value| !value.is_empty()).map(str::to_owned);
        let on = |name: &str| given(name) == Some("true");
        let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut connect_to = BTreeMap::new();
        for (name, value) in &read.flags {
            match *name {
                "header" => {
                    let (key, own) = header(value).ok_or_else(|| invalid(name, value, &format!("header '{value}' has a wrong format")))?;
                    headers.entry(key).or_default().push(own);
                }
                "connect-to" => {
                    let (from, to) = connection(value).ok_or_else(|| {
                        invalid(name, value, &format!("invalid -connect-to {value:?}, expected format: src:port:dst:port"))
                    })?;
                    if connect_to.insert(from.clone(), to).is_some() {
                        return Err(Refusal::Failed(format!(
                            "-connect-to: {from} is given twice, and taking turns is not supported; give it once"
                        )));
                    }
                }
                _ => {}
            }
        }
        let rate = rate(given("rate").unwrap_or("50/1s"))?;
        let whole = |name: &str, default: u64| given(name).map_or(Ok(default), |value| goflag::whole::<u64>(name, value));
        let max_workers = whole("max-workers", u64::MAX)?;
        whole("workers", 10)?;
        given("connections").map(|value| goflag::whole::<i64>("connections", value)).transpose()?;
        let max_connections = given("max-connections").map_or(Ok(0), |value| goflag::whole::<i64>("max-connections", value))?;
        let time =
            |name: &str, default: &str| goflag::time(name, given(name).unwrap_or(default)).map(|time| u64::try_from(time).unwrap_or(0));
        let redirects = match given("redirects").map_or(Ok(10), |value| goflag::whole::<i64>("redirects", value))? {
            -1 => Redirects::Answers,
            count => Redirects::Follow(u8::try_from(count.max(0)).unwrap_or(u8::MAX)),
        };
        let body_bytes_max = bytes(given("max-body").unwrap_or("-1"))?;
        let source_ip = match given("laddr") {
            None | Some("0.0.0.0") => None,
            Some(value) => Some(value.parse().map_err(|_| invalid("laddr", value, "give an IP address"))?),
        };
        let (timeout, duration) = (time("timeout", "30s")?, time("duration", "0")?);
        for (name, value) in &read.flags {
            if let Some(why) = refusal(name, value) {
                return Err(Refusal::Failed(format!("-{name}={value} is not supported: {why}")));
            }
        }
        if rate == Pace::Unlimited && max_workers == u64::MAX {
            return Err(Refusal::Failed("-rate=0 requires setting -max-workers".to_owned()));
        }
        let format = match given("format").unwrap_or("http") {
            "http" => Format::Http,
            "json" => Format::Json,
            other => return Err(Refusal::Failed(format!("format {other:?} isn't one of [http, json]"))),
        };
        let http = match (on("h2c"), given("http2")) {
            (true, _) => HttpVersion::V2,
            (false, Some("false")) => HttpVersion::V1,
            (false, _) => HttpVersion::Auto,
        };
        // Where many requests share a connection for sure, a limit on connections is none on them.
        let max_connections = u64::try_from(max_connections).ok().filter(|max| *max > 0 && http != HttpVersion::V2);
        let limits = [Some(max_workers).filter(|max| *max < u64::MAX), max_connections];
        let requests_at_once = limits.into_iter().flatten().min().map(|max| u32::try_from(max).unwrap_or(u32::MAX));
        let cert = text("cert");
        Ok(Self {
            request: RequestOptions {
                name: text("name").unwrap_or_default(),
                body: if on("chunked") { Body::Chunked } else { Body::Whole },
                keepalive: if given("keepalive") == Some("false") { Keepalive::CloseEach } else { Keepalive::Reuse },
                http,
            },
            targets: text("targets").unwrap_or_else(|| "stdin".to_owned()),
            format,
            lazy: on("lazy"),
            output: text("output").unwrap_or_else(|| "stdout".to_owned()),
            body: text("body"),
            headers,
            duration: Some(Nanos(duration)).filter(|duration| *duration > Nanos::ZERO),
            rate: match rate {
                Pace::Unlimited => None,
                Pace::Even(rate) => Some(rate),
            },
            // Without workers nobody would ever send anything; the original begins with one.
            requests_at_once: requests_at_once.map(|max| NonZeroU32::new(max).unwrap_or(NonZeroU32::MIN)),
            redirects,
            body_bytes_max,
            connect_to,
            verbosity: if on("quiet") { Verbosity::Quiet } else { Verbosity::Normal },
            timeout: if timeout == 0 { NEVER } else { Nanos(timeout) },
            insecure: on("insecure"),
            session_tickets: on("session-tickets"),
            key: text("key").or_else(|| cert.clone()),
            cert,
            cacert: text("root-certs"),
            source_ip,
            unix_socket: text("unix-socket"),
        })
    }

    /// What every target gets besides its own; reads the body.
    pub fn common(&self, files: &dyn Files) -> Result<Common, String> {
        let read = |path: &str| files.read(path, BYTES_MAX).map_err(|why| format!("error opening {path}: {}", plainly(&why)));
        Ok(Common { headers: self.headers.clone(), body: self.body.as_deref().map_or(Ok(Vec::new()), read)? })
    }

    /// The load as a draft; `first` is where the attack begins.
    pub fn draft(&self, first: &plan::Target) -> Draft {
        let duration = self.duration.unwrap_or(NEVER);
        let authority = first.authority();
        let may_be_tls = first.scheme() == Scheme::Https || matches!(self.redirects, Redirects::Follow(1..));
        Draft {
            url: Some(format!("{}://{authority}{}", first.scheme(), first.path_and_query())),
            connections: self.requests_at_once.map(|users| Setting::Value(users.into())),
            duration: Some(Setting::Value(duration)),
            rate: self.rate.map(|rate| Setting::Value(Timetable::new(vec![Stage::constant(rate, None)]))),
            arrivals: self.rate.and_then(|_| "even".parse().ok()),
            timeout: Some(Setting::Value(self.timeout)),
            connect_timeout: Some(Setting::Value(self.timeout)),
            follow: match self.redirects {
                Redirects::Answers => None,
                Redirects::Follow(count) => Some(Setting::Value(count)),
            },
            no_keepalive: self.request.keepalive == Keepalive::CloseEach,
            http: Some(Setting::Value(self.request.http)),
            streams: (self.request.http != HttpVersion::V1).then_some(Setting::Value(STREAMS)),
            no_preflight: true,
            source_ip: self.source_ip.map(Setting::Value).into_iter().collect(),
            unix_socket: self.unix_socket.clone(),
            // The plan takes them only where TLS may come.
            insecure: self.insecure && may_be_tls,
            tls_resumption: (self.session_tickets && may_be_tls).then_some(Setting::Value(Resumption::On)),
            cert: self.cert.clone(),
            key: self.cert.as_ref().and(self.key.clone()),
            cacert: self.cacert.clone(),
            ..Draft::default()
        }
    }
}

/// Why a flag that is read cannot be honoured.
fn refusal(name: &str, value: &str) -> Option<&'static str> {
    match (name, value) {
        ("prometheus-addr", "") => None,
        ("prometheus-addr", _) => Some("leave it out, and read the results with 'vegeta report -every'"),
        ("proxy-header", _) => Some("there is no proxy; leave it out"),
        ("resolvers", _) => Some("names are looked up as the system does"),
        ("dns-ttl", value) if value != "0" && go::parse_duration(value) != Ok(0) => {
            Some("names are looked up once, before the attack; give 0")
        }
        ("root-certs", value) if value.contains(',') => Some("put all issuers into one file"),
        _ => None,
    }
}

/// How fast.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pace {
    Unlimited,
    Even(Rate),
}

/// `50`, `50/s`, `50/1m`, `0`, `infinity`.
fn rate(value: &str) -> Result<Pace, Refusal> {
    if value == "infinity" {
        return Ok(Pace::Unlimited);
    }
    let (count, per) = value.split_once('/').unwrap_or((value, "1s"));
    let digits = count.strip_prefix(['-', '+']).unwrap_or(count);
    let number: i64 = count
        .parse()
        .ok()
        .filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))
        .ok_or_else(|| invalid("rate", value, &format!("strconv.Atoi: parsing {count:?}: invalid syntax")))?;
    if number == 0 {
        return Ok(Pace::Unlimited);
    }
    let unit = matches!(per, "ns" | "us" | "µs" | "ms" | "s" | "m" | "h");
    let per = if unit { format!("1{per}") } else { per.to_owned() };
    let per = go::parse_duration(&per).map_err(|why| invalid("rate", value, &why))?;
    if per == 0 {
        return Ok(Pace::Unlimited);
    }
    let rate = Rate::per_second(number as f64 * 1e9 / per as f64).filter(|_| number > 0 && per > 0);
    rate.map(Pace::Even).ok_or_else(|| Refusal::Failed(format!("-rate={value} would send nothing: give a rate above 0")))
}

/// `-1`, `512`, `10 MB`, `28 kilobytes`, `5 peta`: powers of 1024.
fn bytes(value: &str) -> Result<Option<u64>, Mistake> {
    const NAMES: [&str; 7] = ["", "kilo", "mega", "giga", "tera", "peta", "exa"];
    if value == "-1" {
        return Ok(None);
    }
    let wrong = || invalid("max-body", value, "give a size such as 512, 10MB or -1");
    let digits = value.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits);
    let number: u64 = number.parse().map_err(|_| wrong())?;
    let unit = unit.trim().to_ascii_lowercase();
    let power = (0..NAMES.len()).find(|power| {
        let name = NAMES[*power];
        let short = name.get(..1).unwrap_or_default();
        [short, name].iter().any(|prefix| ["", "b", "byte", "bytes"].iter().any(|rest| unit == format!("{prefix}{rest}")))
    });
    let scale = 1_u64 << (10 * power.ok_or_else(wrong)?);
    number
        .checked_mul(scale)
        .filter(|bytes| i64::try_from(*bytes).is_ok())
        .map(Some)
        .ok_or_else(|| invalid("max-body", value, "overflows int64"))
}

fn header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    (!name.is_empty() && !value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// `src:port:dst:port`; IPv6 addresses in brackets.
fn connection(value: &str) -> Option<(String, String)> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut bracketed = false;
    for letter in value.chars() {
        match letter {
            '[' => bracketed = true,
            ']' => bracketed = false,
            _ => {}
        }
        if letter == ':' && !bracketed { parts.push(std::mem::take(&mut part)) } else { part.push(letter) }
    }
    parts.push(part);
    let [from, from_port, to, to_port] = parts.as_slice() else { return None };
    let number = |port: &String| port.parse::<u16>().is_ok();
    (number(from_port) && number(to_port) && !from.is_empty() && !to.is_empty())
        .then(|| (format!("{from}:{from_port}"), format!("{to}:{to_port}")))
}

/// What the words ask for, without doing it.
pub fn uses(words: &[OsString]) -> Vec<Use> {
    let mut uses = Vec::new();
    if let Ok(read) = goflag::read(FLAGS, words) {
        for (name, value) in &read.flags {
            let support = match *name {
                _ if refusal(name, value).is_some() => Support::Refused(refusal(name, value).unwrap_or_default().to_owned()),
                "connections" => Support::Differs("a connection that was opened stays open; -max-connections limits them".to_owned()),
                "max-connections" if read.last("h2c") == Some("true") => {
                    Support::Differs("no limit, as in the original: requests share connections".to_owned())
                }
                "max-workers" | "max-connections" => {
                    Support::Differs("what finds none free waits, and the wait is in its latency, where the original sends less".to_owned())
                }
                "rate" if value == "infinity" => Support::Differs("the same as 0, where the original falls back to 50/1s".to_owned()),
                "dns-ttl" => Support::Same,
                _ => Support::Same,
            };
            uses.push(Use { what: format!("-{name}={value}"), support });
        }
    }
    match Options::read(words) {
        Ok(options) => {
            let what = match options.rate {
                Some(rate) => format!("{} requests a second", rate.as_per_second()),
                None => "as fast as answers come".to_owned(),
            };
            let time = options.duration.map_or_else(|| "without end".to_owned(), |time| go::duration(time.0.into()));
            uses.push(Use {
                what: format!("{what}, {time}"),
                support: Support::Differs("latency counts from when a request fell due".to_owned()),
            });
        }
        Err(Refusal::Misused(Mistake::Help)) => uses.push(Use { what: "-h".to_owned(), support: Support::Same }),
        Err(Refusal::Misused(Mistake::Wrong(why)) | Refusal::Failed(why)) => {
            if !uses.iter().any(|it| matches!(it.support, Support::Refused(_))) {
                uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why) });
            }
        }
    }
    uses
}

/// The flags, for whoever made a mistake.
pub fn usage() -> String {
    usage_of("attack", FLAGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, Refusal> {
        Options::read(&line.split('|').filter(|word| !word.is_empty()).map(OsString::from).collect::<Vec<_>>())
    }

    fn per_second(line: &str) -> f64 {
        read(line).unwrap().rate.unwrap().as_per_second()
    }

    #[test]
    fn flags_are_read_as_vegeta_reads_them() {
        let options =
            read("-rate=100/1m|-duration|5s|-header=A: 1|-header|A:2|--name=x|-lazy|-keepalive=false|-workers=3|-timeout=0").unwrap();
        assert_eq!((options.duration, options.lazy, options.request.name.as_str()), (Some(Nanos::from_secs(5)), true, "x"));
        assert_eq!((options.request.keepalive, options.timeout), (Keepalive::CloseEach, NEVER));
        assert_eq!(options.headers["A"], ["1", "2"]);
        let options = read("").unwrap();
        assert_eq!(
            (options.duration, options.redirects, options.body_bytes_max, options.targets.as_str()),
            (None, Redirects::Follow(10), None, "stdin")
        );
        assert_eq!(read("-redirects=-1").unwrap().redirects, Redirects::Answers);
        assert_eq!(read("-max-workers=0").unwrap().requests_at_once, NonZeroU32::new(1));
        assert_eq!(read("-max-workers=50|-max-connections=7").unwrap().requests_at_once, NonZeroU32::new(7));
    }

    #[test]
    fn http_2_is_offered_over_tls_and_spoken_at_once_where_it_is_asked_for() {
        let first: plan::Target = "https://h/".parse().unwrap();
        let spoken = |line: &str| read(line).unwrap().draft(&first).http;
        for line in ["", "-http2", "-http2=true", "-h2c=false"] {
            assert_eq!(spoken(line), Some(Setting::Value(HttpVersion::Auto)), "{line}");
        }
        assert_eq!(spoken("-http2=false"), Some(Setting::Value(HttpVersion::V1)));
        assert_eq!(spoken("-h2c|-http2=false"), Some(Setting::Value(HttpVersion::V2)));
        assert_eq!(read("-h2c|-max-workers=50|-max-connections=7").unwrap().requests_at_once, NonZeroU32::new(50));
    }

    #[test]
    fn rates_are_a_number_and_a_time() {
        for (line, rate) in [("", 50.0), ("-rate=7", 7.0), ("-rate=600/m", 10.0), ("-rate=1/100ms", 10.0), ("-rate=5/1m30s", 5.0 / 90.0)] {
            assert!((per_second(line) - rate).abs() < 1e-9, "{line}");
        }
        for line in ["-rate=0|-max-workers=5", "-rate=0/s|-max-workers=5", "-rate=infinity|-max-workers=5"] {
            assert_eq!(read(line).unwrap().rate, None, "{line}");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (text, size) in [
            ("-1", None),
            ("0", Some(0)),
            ("12", Some(12)),
            ("10 MB", Some(10 << 20)),
            ("28 kilobytes", Some(28 << 10)),
            ("5 peta", Some(5 << 50)),
            ("1k", Some(1024)),
            ("3B", Some(3)),
        ] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for text in ["", "-2", "x", "1.5k", "1 kilograms", "99999999999 P"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn mistakes_and_what_cannot_be_honoured_are_named() {
        for (line, part) in [
            ("-rate=x", "invalid value \"x\" for flag -rate: strconv.Atoi: parsing \"x\": invalid syntax"),
            ("-rate=5/x", "time: invalid duration"),
            ("-rate=0", "-rate=0 requires setting -max-workers"),
            ("-rate=-5", "-rate=-5 would send nothing"),
            ("-duration=5", "invalid value \"5\" for flag -duration: parse error"),
            ("-header=x", "header 'x' has a wrong format"),
            ("-format=xml", "format \"xml\" isn't one of [http, json]"),
            ("-prometheus-addr=:8880", "-prometheus-addr=:8880 is not supported"),
            ("-proxy-header=A: b", "-proxy-header=A: b is not supported"),
            ("-resolvers=1.1.1.1", "-resolvers=1.1.1.1 is not supported"),
            ("-dns-ttl=5s", "-dns-ttl=5s is not supported"),
            ("-root-certs=a,b", "put all issuers into one file"),
            ("-laddr=eth0", "give an IP address"),
            ("-connect-to=a:b", "expected format: src:port:dst:port"),
            ("-connect-to=a:1:b:2|-connect-to=a:1:c:2", "a:1 is given twice"),
            ("-max-workers=-1", "value out of range"),
            ("-nope", "flag provided but not defined: -nope"),
        ] {
            let (Refusal::Misused(Mistake::Wrong(why)) | Refusal::Failed(why)) = read(line).unwrap_err() else { panic!("{line}") };
            assert!(why.contains(part), "{line}: {why}");
        }
        for line in ["-dns-ttl=0", "-dns-ttl=0s", "-session-tickets", "-session-tickets=false", "-laddr=0.0.0.0", "-prometheus-addr="] {
            assert!(read(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn connections_are_redirected_by_host_and_port() {
        assert_eq!(connection("a:1:b:2"), Some(("a:1".to_owned(), "b:2".to_owned())));
        assert_eq!(connection("[::1]:1:[::2]:2"), Some(("[::1]:1".to_owned(), "[::2]:2".to_owned())));
        assert_eq!(connection("a:1:b"), None);
    }
}
