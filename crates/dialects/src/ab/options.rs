//! ab's command line: its letters, its words for mistakes, and the request it puts together.
//!
//! APR's getopt stops at the first operand, numbers are read as C reads them, and some options act where they stand (`-t` sets the
//! number of requests, a later `-n` sets it again). What is asked for and cannot be had is refused by name.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::net::IpAddr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::Naming;
use engine::body::BYTES_MAX;
use plan::{Draft, Setting};
use report::ab::{self, Attributes, Estimators, Percentiles};

use crate::dialect::{Support, Use};
use crate::getopt::{Item, Opt, Order, Takes, read, short};
use crate::host::{Files, Host};

/// No single request is given up: ab waits as long as anything at all happens, and `-s` ends a run in which nothing does.
const FOR_EVER: &str = "24h";

/// Letters with a value, and letters without, of 2.4 with TLS.
const WITH_VALUE: &str = "nctsbTpuvxyzCHPAgXeBmZfE";
const ALONE: &str = "lrkVhwiIdSq";

/// What a mistake in the command line ends with: EINVAL.
pub(super) const MISTAKE: u8 = 22;
/// As ab says it.
const CONCURRENCY_MAX: i64 = 200_000;
/// The request's head is written into a buffer of this size.
const HEAD_BYTES_MAX: usize = 8_191;
/// Below this no progress is told.
const QUIET_UP_TO: i64 = 150;

const USAGE: &str = "\
Usage: ab [options] [http[s]://]hostname[:port]/path
Options are:
    -n requests     Number of requests to perform
    -c concurrency  Number of multiple requests to make at a time
    -t timelimit    Seconds to max. to spend on benchmarking
                    This implies -n 50000
    -s timeout      Seconds to max. wait for each response
                    Default is 30 seconds
    -b windowsize   Size of TCP send/receive buffer, in bytes
    -B address      Address to bind to when making outgoing connections
    -p postfile     File containing data to POST. Remember also to set -T
    -u putfile      File containing data to PUT. Remember also to set -T
    -T content-type Content-type header to use for POST/PUT data, eg.
                    'application/x-www-form-urlencoded'
                    Default is 'text/plain'
    -v verbosity    How much troubleshooting info to print
    -w              Print out results in HTML tables
    -i              Use HEAD instead of GET
    -x attributes   String to insert as table attributes
    -y attributes   String to insert as tr attributes
    -z attributes   String to insert as td or th attributes
    -C attribute    Add cookie, eg. 'Apache=1234'. (repeatable)
    -H attribute    Add Arbitrary header line, eg. 'Accept-Encoding: gzip'
                    Inserted after all normal header lines. (repeatable)
    -A attribute    Add Basic WWW Authentication, the attributes
                    are a colon separated username and password.
    -P attribute    Add Basic Proxy Authentication, the attributes
                    are a colon separated username and password.
    -X proxy:port   Proxyserver and port number to use
    -V              Print version number and exit
    -k              Use HTTP KeepAlive feature
    -d              Do not show percentiles served table.
    -S              Do not show confidence estimators and warnings.
    -q              Do not show progress when doing more than 150 requests
    -l              Accept variable document length (use this for dynamic pages)
    -g filename     Output collected data to gnuplot format file.
    -e filename     Output CSV file with percentages served
    -r              Don't exit on socket receive errors.
    -m method       Method name
    -h              Display usage information (this message)
    -I              Disable TLS Server Name Indication (SNI) extension
    -Z ciphersuite  Specify SSL/TLS cipher suite (See openssl ciphers)
    -f protocol     Specify SSL/TLS protocol
                    (SSL2, TLS1, TLS1.1, TLS1.2, TLS1.3 or ALL)
    -E certfile     Specify optional client certificate chain and private key
";

/// Why there is nothing to measure: what is said, and the exit code.
pub(super) struct Refusal {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) exit: u8,
}

impl Refusal {
    fn usage(message: &str) -> Self {
        let message = if message.is_empty() { String::new() } else { format!("ab: {message}\n") };
        Self { stdout: String::new(), stderr: message + USAGE, exit: MISTAKE }
    }

    /// As ab's own `err`, which adds an empty line.
    fn error(message: &str) -> Self {
        Self { stdout: String::new(), stderr: format!("{message}\n\n"), exit: 1 }
    }

    /// What ab can do and loadline cannot.
    fn of_loadline(message: &str, help: &str) -> Self {
        Self { stdout: String::new(), stderr: format!("ab: error: {message}\n  help: {help}\n"), exit: MISTAKE }
    }
}

/// The command line, as it was read.
#[derive(Debug)]
pub(super) struct Options {
    /// `-n`.
    pub(super) requests: i64,
    /// `-c`.
    pub(super) concurrency: i64,
    /// `-t`.
    pub(super) seconds: Option<i64>,
    /// `-s`.
    pub(super) timeout_s: i64,
    /// `-b`.
    pub(super) buffer_bytes: Option<u32>,
    /// `-B`.
    pub(super) bind: Option<Setting<IpAddr>>,
    /// `-m`, or what follows from `-i`, `-p` and `-u`.
    pub(super) method: Option<String>,
    /// `-p` or `-u`: its file and what is in it.
    pub(super) body: Option<(String, Vec<u8>)>,
    /// `-T`.
    pub(super) content_type: String,
    /// `-v`.
    pub(super) verbosity: i64,
    /// `-w`.
    pub(super) html: bool,
    /// `-x`, `-y`, `-z`.
    pub(super) attributes: Attributes,
    /// `-C` as a line.
    pub(super) cookie: String,
    /// `-A` and `-P` as lines.
    pub(super) authorization: String,
    /// `-H`.
    pub(super) headers: Vec<String>,
    /// `-X`.
    pub(super) proxy: Option<String>,
    /// `-k`.
    pub(super) keepalive: bool,
    /// `-d`.
    pub(super) percentiles: Percentiles,
    /// `-S`.
    pub(super) estimators: Estimators,
    /// Not `-q`.
    pub(super) progress: bool,
    /// `-l`.
    pub(super) any_length: bool,
    /// `-r`.
    pub(super) go_on: bool,
    /// `-g`.
    pub(super) samples: Option<String>,
    /// `-e`.
    pub(super) csv: Option<String>,
    /// `-I`.
    pub(super) naming: Naming,
    /// `-f`.
    pub(super) tls_version: Option<&'static str>,
    /// `-E`.
    pub(super) identity: Option<String>,
    /// What is measured.
    pub(super) url: Url,
}

/// The URL, taken apart as ab does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Url {
    pub(super) typed: String,
    pub(super) over_tls: bool,
    /// As typed, brackets included.
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) path: String,
}

impl Url {
    pub(super) fn read(typed: &str) -> Option<Self> {
        let lower = typed.to_ascii_lowercase();
        let (over_tls, rest) = match () {
            () if lower.starts_with("http://") => (false, &typed[7..]),
            () if lower.starts_with("https://") => (true, &typed[8..]),
            () => (false, typed),
        };
        let slash = rest.find('/')?;
        let (authority, path) = rest.split_at(slash);
        let colon = authority.rfind(':').filter(|at| !authority[*at..].contains(']'));
        let (host, port) = match colon {
            Some(at) => (&authority[..at], authority[at + 1..].parse().ok().filter(|port| *port > 0)?),
            None => (authority, if over_tls { 443 } else { 80 }),
        };
        (!host.is_empty()).then(|| Self { typed: typed.to_owned(), over_tls, host: host.to_owned(), port, path: path.to_owned() })
    }

    fn authority(&self) -> String {
        let meant = if self.over_tls { 443 } else { 80 };
        if self.port == meant { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }

    /// For our own target, where the whole of it cannot be: what is sent is what was typed.
    fn origin(&self) -> String {
        format!("{}://{}:{}/", if self.over_tls { "https" } else { "http" }, self.host, self.port)
    }
}

/// The leading whole number of a text, as C reads it.
pub(super) fn number(text: &str) -> i64 {
    let text = text.trim_start();
    let end =
        text.char_indices().find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && (*c == '-' || *c == '+'))).map_or(text.len(), |(at, _)| at);
    text[..end].parse().unwrap_or(0)
}

fn letters() -> Vec<Opt> {
    WITH_VALUE.chars().map(|letter| short(letter, Takes::Value)).chain(ALONE.chars().map(|letter| short(letter, Takes::Nothing))).collect()
}

pub(super) fn parse(words: &[OsString], files: &dyn Files) -> Result<Options, Refusal> {
    let mut options = Options {
        requests: 1,
        concurrency: 1,
        seconds: None,
        timeout_s: 30,
        buffer_bytes: None,
        bind: None,
        method: None,
        body: None,
        content_type: "text/plain".to_owned(),
        verbosity: 0,
        html: false,
        attributes: Attributes::default(),
        cookie: String::new(),
        authorization: String::new(),
        headers: Vec::new(),
        proxy: None,
        keepalive: false,
        percentiles: Percentiles::Shown,
        estimators: Estimators::Shown,
        progress: true,
        any_length: false,
        go_on: false,
        samples: None,
        csv: None,
        naming: Naming::Named,
        tls_version: None,
        identity: None,
        url: Url::default(),
    };
    let mut urls = Vec::new();
    let mut said = String::new();
    for item in read(&letters(), Order::StopAtOperand, words) {
        match item {
            Item::Option { opt, value } => options.take(opt.short.unwrap_or_default(), value.as_deref().unwrap_or_default(), files)?,
            Item::Operand(word) => urls.push(word),
            // APR's words for what GNU's library says.
            Item::Mistake(text) => said = format!("ab: {}\n", text.replace("invalid option", "illegal option").replace('\'', "")),
        }
    }
    let told = |mut refusal: Refusal| {
        refusal.stderr.insert_str(0, &said);
        refusal
    };
    let [url] = urls.as_slice() else { return Err(told(Refusal::usage("wrong number of arguments"))) };
    options.url = Url::read(url).ok_or_else(|| told(Refusal::usage("invalid URL")))?;
    if !said.is_empty() {
        return Err(told(Refusal::usage("")));
    }
    if !(0..=CONCURRENCY_MAX).contains(&options.concurrency) {
        return Err(Refusal::usage(&format!("Invalid Concurrency [Range 0..{CONCURRENCY_MAX}]")));
    }
    if options.concurrency > options.requests {
        return Err(Refusal::usage("Cannot use concurrency level greater than total number of requests"));
    }
    if options.concurrency == 0 {
        return Err(Refusal::of_loadline("-c 0 sends nothing", "give -c 1 or more"));
    }
    Ok(options)
}

impl Options {
    fn take(&mut self, letter: char, value: &str, files: &dyn Files) -> Result<(), Refusal> {
        let mixed = |method: &str| Refusal::error(&format!("Cannot mix {method} with other methods"));
        match letter {
            'n' => {
                self.requests = number(value);
                if self.requests <= 0 {
                    return Err(Refusal::error("Invalid number of requests"));
                }
            }
            'c' => self.concurrency = number(value),
            't' => {
                self.seconds = Some(number(value));
                self.requests = 50_000;
            }
            's' => self.timeout_s = number(value),
            'b' => self.buffer_bytes = u32::try_from(number(value)).ok().filter(|bytes| *bytes > 0),
            'B' => {
                value.parse::<IpAddr>().map_err(|_| {
                    let help = "give the address of an interface of this machine, such as -B 127.0.0.2";
                    Refusal::of_loadline(&format!("-B {value} is no IP address"), help)
                })?;
                self.bind = given(value);
            }
            'T' => self.content_type = value.to_owned(),
            'p' | 'u' => {
                let method = if letter == 'p' { "POST" } else { "PUT" };
                if self.method.is_some() {
                    return Err(mixed(method));
                }
                self.method = Some(method.to_owned());
                let body = files.read(value, BYTES_MAX).map_err(|why| {
                    let words = system_words(&why);
                    Refusal { stdout: String::new(), stderr: format!("ab: Could not open POST data file ({value}): {words}\n"), exit: 1 }
                })?;
                self.body = Some((value.to_owned(), body));
            }
            'm' => self.method = Some(value.to_owned()),
            'i' => {
                if self.method.is_some() {
                    return Err(mixed("HEAD"));
                }
                self.method = Some("HEAD".to_owned());
            }
            'v' => self.verbosity = number(value),
            'w' => self.html = true,
            'x' | 'y' | 'z' => {
                self.html = true;
                match letter {
                    'x' => self.attributes.table = value.to_owned(),
                    'y' => self.attributes.row = value.to_owned(),
                    _ => self.attributes.cell = value.to_owned(),
                }
            }
            'C' => self.cookie = format!("Cookie: {value}\r\n"),
            'A' | 'P' => {
                let encoded = BASE64_STANDARD.encode(value.trim_start());
                if encoded.len() > 1_024 {
                    return Err(Refusal::error(if letter == 'A' {
                        "Authentication credentials too long"
                    } else {
                        "Proxy credentials too long"
                    }));
                }
                let name = if letter == 'A' { "Authorization" } else { "Proxy-Authorization" };
                let _ = write!(self.authorization, "{name}: Basic {encoded}\r\n");
            }
            'H' => self.headers.push(value.to_owned()),
            'X' => self.proxy = Some(value.to_owned()),
            'k' => self.keepalive = true,
            'd' => self.percentiles = Percentiles::Hidden,
            'S' => self.estimators = Estimators::Hidden,
            'q' => self.progress = false,
            'l' => self.any_length = true,
            'r' => self.go_on = true,
            'g' => self.samples = Some(value.to_owned()),
            'e' => self.csv = Some(value.to_owned()),
            'I' => self.naming = Naming::Unnamed,
            'E' => self.identity = Some(value.to_owned()),
            'f' => self.tls_version = protocol(value)?,
            'Z' => {
                return Err(Refusal::of_loadline(
                    &format!("-Z {value} chooses cipher suites, which loadline leaves to the handshake"),
                    "leave -Z out; -f TLS1.2 or -f TLS1.3 chooses the protocol",
                ));
            }
            'V' => return Err(Refusal { stdout: ab::BANNER.to_owned(), stderr: String::new(), exit: 0 }),
            _ => return Err(Refusal::usage("")),
        }
        Ok(())
    }

    /// The head of every request, as ab puts it together.
    pub(super) fn request_head(&self) -> Result<Vec<u8>, Refusal> {
        let method = self.method.as_deref().unwrap_or("GET");
        let url = if self.proxy.is_some() && !self.url.over_tls { &self.url.typed } else { &self.url.path };
        let mut head = format!("{method} {url} HTTP/1.0\r\n");
        if self.keepalive {
            head += "Connection: Keep-Alive\r\n";
        }
        head += &self.cookie;
        head += &self.authorization;
        if let Some((_, body)) = &self.body {
            let _ = write!(head, "Content-length: {}\r\nContent-type: {}\r\n", body.len(), self.content_type);
        }
        for line in &self.headers {
            let _ = write!(head, "{line}\r\n");
        }
        for (name, value) in [
            ("Host", self.url.authority()),
            ("User-Agent", concat!("loadline/", env!("CARGO_PKG_VERSION")).to_owned()),
            ("Accept", "*/*".to_owned()),
        ] {
            if self.given(name).is_none() {
                let _ = write!(head, "{name}: {value}\r\n");
            }
        }
        head += "\r\n";
        if head.len() > HEAD_BYTES_MAX {
            return Err(Refusal::error("Request too long"));
        }
        Ok(head.into_bytes())
    }

    /// The value of a header given with `-H`.
    fn given(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The name TLS asks for: a Host that was given is one, and an address is none.
    pub(super) fn tls_name(&self) -> Option<String> {
        let name = self.given("host").map_or(self.url.host.as_str(), |host| host.rsplit_once(':').map_or(host, |(host, _)| host));
        let name = name.trim_matches(['[', ']']);
        (self.naming == Naming::Named && name.parse::<IpAddr>().is_err()).then(|| name.to_owned())
    }

    /// The load as drafts, the second where the first cannot be decided: what was typed need not be a URL or a header, and is sent
    /// as it stands. The plan is what the history keeps; the bytes come from [`Self::request_head`].
    pub(super) fn drafts(&self) -> [Draft; 2] {
        let numeral = self.url.host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok();
        let bare = Draft {
            url: Some(self.url.origin()),
            connections: given(&self.concurrency.to_string()),
            requests: given(&self.requests.to_string()),
            duration: self.seconds.filter(|seconds| *seconds > 0).and_then(|seconds| given(&format!("{seconds}s"))),
            timeout: given(FOR_EVER),
            connect_timeout: given(FOR_EVER),
            no_keepalive: !self.keepalive,
            source_ip: self.bind.clone().into_iter().collect(),
            proxy: self.proxy.as_ref().map(|proxy| format!("http://{proxy}")),
            // A name may have addresses nobody listens at; an address is there or not, and then the first request says so.
            no_preflight: numeral,
            insecure: self.url.over_tls,
            cert: self.identity.clone().filter(|_| self.url.over_tls),
            key: self.identity.clone().filter(|_| self.url.over_tls),
            sni: self.tls_name().filter(|_| self.url.over_tls && self.given("host").is_some()),
            tls_version: self.tls_version.filter(|_| self.url.over_tls).and_then(given),
            ..Draft::default()
        };
        let lines = [&self.cookie, &self.authorization].into_iter().flat_map(|lines| lines.lines().map(str::to_owned));
        let whole = Draft {
            url: Some(format!("{}{}", self.url.origin().trim_end_matches('/'), self.url.path)),
            method: self.method.clone(),
            header: lines.chain(self.headers.iter().cloned()).collect(),
            data: self.body.as_ref().map(|(file, _)| format!("@{file}")),
            ..bare.clone()
        };
        [whole, bare]
    }

    /// Progress is told every so many requests; `None`: never.
    pub(super) fn beat(&self) -> Option<u64> {
        (self.progress && self.requests > QUIET_UP_TO).then(|| (self.requests as u64 / 10).max(100))
    }
}

fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

/// `-f`: the one version spoken; `None` for all.
pub(super) fn protocol(name: &str) -> Result<Option<&'static str>, Refusal> {
    let upper = name.to_ascii_uppercase();
    match upper.as_str() {
        "TLS1.2" => Ok(Some("1.2")),
        "TLS1.3" => Ok(Some("1.3")),
        _ if upper.starts_with("ALL") => Ok(None),
        _ if ["SSL2", "SSL3", "TLS1", "TLS1.1"].iter().any(|old| upper.starts_with(old)) => Err(Refusal::of_loadline(
            &format!("-f {name} is a protocol that loadline does not speak: it is broken (RFC 8996)"),
            "give -f TLS1.2, TLS1.3 or ALL",
        )),
        _ => Err(Refusal::usage("Invalid SSL/TLS protocol")),
    }
}

/// The system's words without the number Rust adds.
pub(super) fn system_words(why: &io::Error) -> String {
    let text = why.to_string();
    text.rsplit_once(" (os error ").map_or(text.clone(), |(words, _)| words.to_owned())
}

/// What a command line asks for, for `loadline compat`.
pub(super) fn uses(words: &[OsString], host: &dyn Host) -> Vec<Use> {
    let mut uses = Vec::new();
    for item in read(&letters(), Order::StopAtOperand, words) {
        let (what, support) = match item {
            Item::Option { opt, value } => {
                let letter = opt.short.unwrap_or_default();
                let value = value.unwrap_or_default();
                let support = match letter {
                    'Z' => Support::Refused("cipher suites are left to the handshake: leave -Z out".to_owned()),
                    'f' => {
                        protocol(&value).map_or_else(|_| Support::Refused("give -f TLS1.2, TLS1.3 or ALL".to_owned()), |_| Support::Same)
                    }
                    'v' if number(&value) >= 2 => Support::Differs("without certificate details and TLS byte dumps".to_owned()),
                    'e' => Support::Differs("times are within 0.1 %: samples are not kept".to_owned()),
                    _ => Support::Same,
                };
                (format!("-{letter}"), support)
            }
            Item::Operand(word) => {
                let support = match Url::read(&word) {
                    Some(_) => Support::Same,
                    None => Support::Refused("ab wants a URL with a path, such as http://127.0.0.1/".to_owned()),
                };
                (word, support)
            }
            Item::Mistake(text) => (text, Support::Refused("ab does not know it either".to_owned())),
        };
        uses.push(Use { what, support });
    }
    // What is wrong with the words together, if none is wrong by itself.
    if !uses.iter().any(|used| matches!(used.support, Support::Refused(_)))
        && let Err(refusal) = parse(words, &*host.files())
        && refusal.exit != 0
    {
        let why = refusal.stderr.lines().next().unwrap_or_default().trim_start_matches("ab: ").to_owned();
        uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why) });
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryFiles;

    fn words(line: &str) -> Vec<OsString> {
        line.split('|').map(OsString::from).collect()
    }

    fn parsed(line: &str) -> Result<Options, Refusal> {
        parse(&words(line), &MemoryFiles::new(&[("empty", "")]))
    }

    fn head(line: &str) -> String {
        String::from_utf8(parsed(line).unwrap_or_else(|refusal| panic!("{}", refusal.stderr)).request_head().unwrap_or_default()).unwrap()
    }

    #[test]
    fn a_request_has_ab_s_lines_in_ab_s_order() {
        let agent = concat!("User-Agent: loadline/", env!("CARGO_PKG_VERSION"));
        assert_eq!(head("http://a.test/"), format!("GET / HTTP/1.0\r\nHost: a.test\r\n{agent}\r\nAccept: */*\r\n\r\n"));
        assert_eq!(
            head("-k|-C|a=b|-C|c=d|-A|u:p|-P| x:y|-H|X-A: b|-H|accept: text/html|a.test:81/p?q"),
            format!(
                "GET /p?q HTTP/1.0\r\nConnection: Keep-Alive\r\nCookie: c=d\r\nAuthorization: Basic dTpw\r\n\
                 Proxy-Authorization: Basic eDp5\r\nX-A: b\r\naccept: text/html\r\nHost: a.test:81\r\n{agent}\r\n\r\n"
            )
        );
        assert!(head("-X|proxy:8|http://a.test/x").starts_with("GET http://a.test/x HTTP/1.0\r\n"));
        assert!(head("-i|https://[::1]:8443/x").contains("Host: [::1]:8443\r\n"));
    }

    #[test]
    fn mistakes_end_as_in_the_original() {
        let refused = |line: &str| parsed(line).map(|_| ()).map_err(|refusal| (refusal.exit, refusal.stderr)).unwrap_err();
        for (line, exit, first) in [
            ("-n|5|-c|10|http://a/", 22, "ab: Cannot use concurrency level greater than total number of requests"),
            ("-n|0|http://a/", 1, "Invalid number of requests"),
            ("-c|200001|-n|300000|http://a/", 22, "ab: Invalid Concurrency [Range 0..200000]"),
            ("-i|-p|empty|http://a/", 1, "Cannot mix POST with other methods"),
            ("-p|empty|-u|empty|http://a/", 1, "Cannot mix PUT with other methods"),
            ("-p|/nonexistent|http://a/", 1, "ab: Could not open POST data file (/nonexistent): No such file or directory"),
            ("http://a", 22, "ab: invalid URL"),
            ("http://a/|x", 22, "ab: wrong number of arguments"),
            ("-Q|x", 22, "ab: illegal option -- Q"),
            ("-n", 22, "ab: option requires an argument -- n"),
            ("-B|here|http://a/", 22, "ab: error: -B here is no IP address"),
            ("-h", 22, "Usage: ab [options] [http[s]://]hostname[:port]/path"),
            ("-Z|AES|https://a/", 22, "ab: error: -Z AES chooses cipher suites, which loadline leaves to the handshake"),
            ("-f|SSL3|https://a/", 22, "ab: error: -f SSL3 is a protocol that loadline does not speak: it is broken (RFC 8996)"),
        ] {
            let (code, stderr) = refused(line);
            assert_eq!((code, stderr.lines().next()), (exit, Some(first)), "{line}");
        }
    }

    #[test]
    fn a_time_limit_sets_the_number_of_requests_where_it_stands() {
        let requests = |line: &str| parsed(line).map(|options| options.requests).unwrap_or_default();
        assert_eq!(requests("-t|5|http://a/"), 50_000);
        assert_eq!(requests("-n|10|-t|5|http://a/"), 50_000);
        assert_eq!(requests("-t|5|-n|10|http://a/"), 10);
    }

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        assert_eq!(["12x", "x", " 7", "-3", "", "1.5"].map(number), [12, 0, 7, -3, 0, 1]);
    }
}
