//! hey's command line.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroU64};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::body::BYTES_MAX;
use engine::protocol::Encoded;
use engine::protocol::http1::request;
use plan::{Draft, HttpVersion, Nanos, Setting, plainly};
use report::wrk::Formulas;

use crate::dialect::{Support, Use};
use crate::goclient::{STREAMS, address, canonical};
use crate::goflag::{self, Flag, Mistake, invalid, switch, valued};
use crate::host::{Files, Host, Verbosity};
use crate::url::Url;

const FLAGS: &[Flag] = &[
    valued("n", "int", ""),
    valued("c", "int", ""),
    valued("q", "float", ""),
    valued("z", "duration", ""),
    valued("o", "string", ""),
    valued("m", "string", ""),
    valued("H", "value", ""),
    valued("h", "string", ""),
    valued("t", "int", ""),
    valued("A", "string", ""),
    valued("d", "string", ""),
    valued("D", "string", ""),
    valued("T", "string", ""),
    valued("U", "string", ""),
    valued("a", "string", ""),
    valued("x", "string", ""),
    valued("host", "string", ""),
    valued("cpus", "int", ""),
    switch("h2", ""),
    switch("disable-compression", ""),
    switch("disable-keepalive", ""),
    switch("disable-redirects", ""),
    switch("faithful", ""),
    switch("quiet", ""),
];

pub const USAGE: &str = "\
Usage: hey [options...] <url>

Options:
  -n  Requests to send, at least as many as workers. Default is 200.
  -c  Workers that send at once. Default is 50.
  -q  Requests a second of each worker, at most. Default is no limit.
  -z  Send for so long instead of -n requests. Examples: -z 10s -z 3m.
  -o  csv: a row for each answer instead of the summary.

  -m  Method: GET, POST, PUT, DELETE, HEAD, OPTIONS.
  -H  Header 'Name: value'. Repeat it for more.
  -t  Seconds for each request. Default is 20, 0 is no limit.
  -A  Accept header.
  -d  Body.
  -D  File with the body.
  -T  Content-Type. Default is \"text/html\".
  -U  User-Agent, before hey's own.
  -a  Basic authentication, user:password.
  -x  HTTP proxy, host:port.

  -host                 Host header.

  -h2                   Speak HTTP/2 over TLS with servers that do.
  -disable-compression  Do not ask for compressed answers.
  -disable-keepalive    Open a new connection for every request.
  -disable-redirects    Take redirects as answers.
  -cpus                 Threads to use. Default is all cores.
  -faithful             Use the original's formulas, with their errors.
  -quiet                No remarks of loadline's.
";

/// The command line, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub url: String,
    pub method: String,
    pub target: plan::Target,
    /// The whole request.
    pub request: Encoded,
    pub workers: NonZeroU32,
    pub amount: Amount,
    /// Between two requests of a worker, at least.
    pub gap: Nanos,
    pub output: Output,
    pub redirects: u8,
    pub formulas: Formulas,
    pub verbosity: Verbosity,
    timeout: Nanos,
    keepalive: bool,
    /// Whether HTTP/2 is offered over TLS.
    h2: bool,
    proxy: Option<String>,
    threads: Option<NonZeroU32>,
}

/// How much is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    Requests(NonZeroU64),
    Time(Nanos),
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    Summary,
    Csv,
}

/// Why nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The flags are wrong: usage, and 2.
    Flags(Mistake),
    /// They ask for something wrong: a word, usage, and 1.
    Usage(String),
    /// It cannot be done: a word, and 1.
    Failed(String),
}

impl From<Mistake> for Refusal {
    fn from(mistake: Mistake) -> Self {
        Self::Flags(mistake)
    }
}

/// Longer than any run.
const NEVER: Nanos = Nanos::from_secs(10 * 365 * 86_400);

/// So many redirects Go's client follows.
const REDIRECTS: u8 = 10;

const AGENT: &str = "hey/0.0.1";

impl Options {
    pub fn read(words: &[OsString], files: &dyn Files) -> Result<Self, Refusal> {
        let read = goflag::read(FLAGS, words)?;
        let given = |name: &str| read.last(name);
        let on = |name: &str| given(name) == Some("true");
        let text = |name: &str| given(name).unwrap_or_default();
        let whole = |name: &str, default: i64| given(name).map_or(Ok(default), |value| goflag::whole::<i64>(name, value));
        let (requests, workers, timeout_s) = (whole("n", 200)?, whole("c", 50)?, whole("t", 20)?);
        let cpus = given("cpus").map(|value| goflag::whole::<u32>("cpus", value)).transpose()?;
        let time = given("z").map_or(Ok(0), |value| goflag::time("z", value))?;
        let rate: f64 = given("q").map_or(Ok(0.0), |value| value.parse().map_err(|_| invalid("q", value, "parse error")))?;
        let usage = |why: &str| Refusal::Usage(why.to_owned());
        let Some(url) = read.operands.first() else { return Err(usage("")) };
        let workers = u32::try_from(workers).ok().and_then(NonZeroU32::new);
        let amount = match (u64::try_from(time).ok().filter(|time| *time > 0), workers) {
            (Some(_), None) => return Err(usage("-c cannot be smaller than 1.")),
            (Some(time), Some(_)) => Amount::Time(Nanos(time)),
            (None, Some(workers)) if requests > 0 => {
                // Each worker sends the same number; the rest is dropped.
                let each = requests.unsigned_abs() / u64::from(workers.get());
                let all = NonZeroU64::new(each * u64::from(workers.get())).ok_or_else(|| usage("-n cannot be less than -c."))?;
                Amount::Requests(all)
            }
            (None, _) => return Err(usage("-n and -c cannot be smaller than 1.")),
        };
        if given("h").is_some() {
            return Err(usage("Flag '-h' is deprecated, please use '-H' instead."));
        }
        let refused = |what: &str, why: &str| Refusal::Failed(format!("{what} is not supported: {why}"));
        let output = match text("o") {
            "" => Output::Summary,
            "csv" => Output::Csv,
            other => return Err(refused(&format!("-o {other}"), "templates are hey's own; give csv, or nothing for the summary")),
        };
        let target = address(url).ok_or_else(|| usage(&format!("'{url}' is no http or https URL")))?;
        let body = match text("D") {
            "" => text("d").as_bytes().to_vec(),
            path => files.read(path, BYTES_MAX).map_err(|why| Refusal::Failed(format!("open {path}: {}", plainly(&why))))?,
        };
        let method = Some(text("m").to_uppercase()).filter(|method| !method.is_empty()).unwrap_or_else(|| "GET".to_owned());
        let mut headers: Vec<(String, String)> = vec![("Content-Type".to_owned(), given("T").unwrap_or("text/html").to_owned())];
        let mut set = |name: &str, value: &str| {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((canonical(name), value.to_owned()));
        };
        for (_, line) in read.flags.iter().filter(|(name, _)| *name == "H") {
            let (name, value) = header(line).ok_or_else(|| usage(&format!("could not parse the provided input; input = {line}")))?;
            set(name, value);
        }
        if !text("A").is_empty() {
            set("Accept", text("A"));
        }
        if !text("a").is_empty() {
            let (user, password) = text("a")
                .rsplit_once(':')
                .filter(|(user, password)| !user.is_empty() && !password.is_empty() && !password.starts_with(char::is_whitespace))
                .ok_or_else(|| usage(&format!("could not parse the provided input; input = {}", text("a"))))?;
            set("Authorization", &format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))));
        }
        let own = headers.iter().find(|(name, _)| name == "User-Agent").map(|(_, value)| value.clone());
        let agent = [Some(text("U").to_owned()).filter(|agent| !agent.is_empty()).or(own), Some(AGENT.to_owned())];
        headers.retain(|(name, _)| name != "User-Agent");
        // Go's client sets these itself, whatever is given.
        headers.retain(|(name, _)| !matches!(name.as_str(), "Host" | "Content-Length" | "Transfer-Encoding" | "Trailer"));
        headers.sort();
        let has = |name: &str| headers.iter().any(|(known, _)| known == name);
        let compressed = !on("disable-compression") && !has("Accept-Encoding") && !has("Range") && method != "HEAD";
        let keepalive = !on("disable-keepalive");
        let host = Some(text("host").to_owned()).filter(|host| !host.is_empty());
        let host = host.unwrap_or_else(|| Url::read(url).map_or_else(|| target.authority(), |url| url.authority()));
        let mut lines = vec![("Host".to_owned(), host)];
        lines.push(("User-Agent".to_owned(), agent.into_iter().flatten().collect::<Vec<_>>().join(" ")));
        lines.extend(headers.iter().cloned());
        if compressed {
            lines.push(("Accept-Encoding".to_owned(), "gzip".to_owned()));
        }
        if !keepalive && !has("Connection") {
            lines.push(("Connection".to_owned(), "close".to_owned()));
        }
        let proxy = Some(text("x").to_owned()).filter(|proxy| !proxy.is_empty());
        let proxy = proxy.map(|proxy| if proxy.contains("://") { proxy } else { format!("http://{proxy}") });
        let line = match &proxy {
            Some(_) if target.scheme() == plan::Scheme::Http => format!("http://{}{}", target.authority(), target.path_and_query()),
            _ => target.path_and_query().to_owned(),
        };
        let request = request::serialise(&method, &line, &lines, &body).map_err(|why| usage(&why.to_string()))?;
        Ok(Self {
            url: url.clone(),
            request,
            target,
            workers: workers.unwrap_or(NonZeroU32::MIN),
            amount,
            gap: if rate > 0.0 { Nanos((1e9 / rate) as u64) } else { Nanos::ZERO },
            output,
            redirects: if on("disable-redirects") { 0 } else { REDIRECTS },
            formulas: if on("faithful") { Formulas::Original } else { Formulas::True },
            verbosity: if on("quiet") { Verbosity::Quiet } else { Verbosity::Normal },
            timeout: if timeout_s > 0 { Nanos::from_secs(timeout_s.unsigned_abs()) } else { NEVER },
            keepalive,
            h2: on("h2"),
            proxy,
            threads: cpus.and_then(NonZeroU32::new),
            method,
        })
    }

    pub fn draft(&self) -> Draft {
        let (requests, duration) = match self.amount {
            Amount::Requests(requests) => (Some(Setting::Value(requests)), None),
            Amount::Time(time) => (None, Some(Setting::Value(time))),
        };
        Draft {
            url: Some(format!("{}://{}{}", self.target.scheme(), self.target.authority(), self.target.path_and_query())),
            method: Some(self.method.clone()),
            connections: Some(Setting::Value(self.workers.into())),
            threads: self.threads.map(Setting::Value),
            requests,
            duration,
            timeout: Some(Setting::Value(self.timeout)),
            connect_timeout: Some(Setting::Value(self.timeout)),
            follow: Some(Setting::Value(self.redirects)),
            no_keepalive: !self.keepalive,
            http: self.h2.then_some(Setting::Value(HttpVersion::Auto)),
            streams: self.h2.then_some(Setting::Value(STREAMS)),
            no_preflight: true,
            insecure: self.redirects > 0 || self.target.scheme() == plan::Scheme::Https,
            proxy: self.proxy.clone(),
            ..Draft::default()
        }
    }
}

/// Letters, digits, `_` and `-`; a colon; blanks; something.
fn header(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let readable = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_');
    let value = value.trim_start();
    (readable && !value.is_empty()).then_some((name, value))
}

/// What the words ask for, without doing it.
pub fn uses(words: &[OsString], host: &dyn Host) -> Vec<Use> {
    let mut uses = Vec::new();
    if let Ok(read) = goflag::read(FLAGS, words) {
        for (name, value) in &read.flags {
            let support = match *name {
                "o" if !matches!(value.as_str(), "" | "csv") => Support::Refused("templates are hey's own; give csv".to_owned()),
                "H" if line_of_its_own(value) => Support::Differs("hey does not send it, and neither does loadline".to_owned()),
                _ => Support::Same,
            };
            uses.push(Use { what: format!("-{name} {value}"), support });
        }
    }
    match Options::read(words, &*host.files()) {
        Ok(options) => {
            uses.push(Use { what: options.url, support: Support::Same });
            uses.push(Use {
                what: "DNS-lookup".to_owned(),
                support: Support::Differs("nothing: names are looked up once, before the run".to_owned()),
            });
            uses.push(Use { what: "req write".to_owned(), support: Support::Differs("nothing: writing is in resp wait".to_owned()) });
        }
        Err(Refusal::Flags(Mistake::Help)) => uses.push(Use { what: "-help".to_owned(), support: Support::Same }),
        Err(Refusal::Flags(Mistake::Wrong(why)) | Refusal::Usage(why) | Refusal::Failed(why)) => {
            if !uses.iter().any(|it| matches!(it.support, Support::Refused(_))) {
                let why = if why.is_empty() { "no URL: usage is shown".to_owned() } else { why };
                uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why) });
            }
        }
    }
    uses
}

/// A header that Go's client sets itself.
fn line_of_its_own(line: &str) -> bool {
    header(line).is_some_and(|(name, _)| matches!(canonical(name).as_str(), "Host" | "Content-Length" | "Transfer-Encoding" | "Trailer"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFiles;

    fn read(line: &str) -> Result<Options, Refusal> {
        let words: Vec<OsString> = line.split('|').filter(|word| !word.is_empty()).map(OsString::from).collect();
        Options::read(&words, &MemoryFiles::new(&[]))
    }

    fn request(line: &str) -> String {
        String::from_utf8(read(line).unwrap().request.bytes).unwrap()
    }

    #[test]
    fn requests_are_what_hey_sends() {
        assert_eq!(
            request("http://h:80/a?b"),
            "GET /a?b HTTP/1.1\r\nHost: h:80\r\nUser-Agent: hey/0.0.1\r\nContent-Type: text/html\r\nAccept-Encoding: gzip\r\n\r\n"
        );
        assert_eq!(
            request(
                "-m|post|-d|hi|-T|text/plain|-A|*/*|-a|u:p|-U|me|-H|x-my-id:  1|-H|Host: no|-host|other|-disable-keepalive|-disable-compression|http://h/"
            ),
            "POST / HTTP/1.1\r\nHost: other\r\nUser-Agent: me hey/0.0.1\r\nAccept: */*\r\nAuthorization: Basic dTpw\r\nContent-Type: text/plain\r\n\
             X-My-Id: 1\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
        );
        assert!(request("-H|User-Agent: mine|http://h/").contains("\r\nUser-Agent: mine hey/0.0.1\r\n"));
        assert!(request("-x|p:3128|http://h/a").starts_with("GET http://h/a HTTP/1.1\r\n"));
    }

    #[test]
    fn amounts_are_divided_among_the_workers() {
        let all = |line: &str| read(line).unwrap().amount;
        assert_eq!(all("http://h/"), Amount::Requests(NonZeroU64::new(200).unwrap()));
        assert_eq!(all("-n=107|-c=10|http://h/"), Amount::Requests(NonZeroU64::new(100).unwrap()));
        assert_eq!(all("-n|1|-c|3|-z|2s|http://h/"), Amount::Time(Nanos::from_secs(2)));
        assert_eq!(read("-q|4|http://h/").unwrap().gap, Nanos::from_millis(250));
        assert_eq!((read("-t|0|http://h/").unwrap().timeout, read("http://h/").unwrap().timeout), (NEVER, Nanos::from_secs(20)));
    }

    #[test]
    fn http_2_is_offered_where_it_is_asked_for() {
        let offered = |line: &str| read(line).unwrap().draft().http;
        assert_eq!(offered("-h2|https://h/"), Some(Setting::Value(HttpVersion::Auto)));
        assert_eq!((offered("-h2=false|https://h/"), offered("https://h/")), (None, None));
    }

    #[test]
    fn mistakes_are_told_in_hey_s_words() {
        for (line, why) in [
            ("-n|0|http://h/", "-n and -c cannot be smaller than 1."),
            ("-z|1s|-c|0|http://h/", "-c cannot be smaller than 1."),
            ("-n|5|-c|6|http://h/", "-n cannot be less than -c."),
            ("-h|A: b|http://h/", "Flag '-h' is deprecated, please use '-H' instead."),
            ("-H|nocolon|http://h/", "could not parse the provided input; input = nocolon"),
            ("-a|nopassword|http://h/", "could not parse the provided input; input = nopassword"),
            ("h/", "'h/' is no http or https URL"),
            ("", ""),
        ] {
            assert_eq!(read(line), Err(Refusal::Usage(why.to_owned())), "{line}");
        }
        for (line, part) in [("-o|{{.Rps}}|http://h/", "-o {{.Rps}} is not supported"), ("-D|/no/such|http://h/", "open /no/such: ")] {
            let Err(Refusal::Failed(why)) = read(line) else { panic!("{line}") };
            assert!(why.contains(part), "{why}");
        }
        assert_eq!(read("-h"), Err(Refusal::Flags(Mistake::Wrong("flag needs an argument: -h".to_owned()))));
        assert_eq!(read("-n|x|http://h/"), Err(Refusal::Flags(invalid("n", "x", "parse error"))));
    }
}
