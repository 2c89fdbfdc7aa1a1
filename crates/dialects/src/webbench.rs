//! `loadline webbench`: closed load with a new connection for every request, two lines of report.
//!
//! Webbench is twenty years old and still in every list of load testers, because its report is two lines long. Each of its clients
//! is a process that connects, sends, reads to the end and closes. Here clients are users of one engine; the request is the same to
//! the byte. An answer counts whatever its status is, and one that breaks off counts as failed, where the original takes what it was
//! reading when the time was over for a success.

use std::ffi::OsString;

use engine::protocol::{Encoded, EncodedRef};
use engine::{Behaviour, Client, End, Request, Transport};
use measure::{Failure, Summary};
use plan::{Draft, Nanos, Setting, Spelling};
use report::webbench::{Counts, report};

use crate::dialect::{DONE, Dialect, Support, Use};
use crate::getopt::{self, Item, Opt, Order, Takes, both, long, short};
use crate::host::{Host, Verbosity};
use crate::session::Session;

/// Webbench.
pub const DIALECT: Dialect = Dialect { name: "webbench", about: "closed load, a connection a request, two lines of report", main, uses };

/// How it ends when the server is not there, and when the command line is wrong.
const NOBODY: u8 = 1;
const MISUSED: u8 = 2;

/// After the end of the load, answers are waited for so long.
const PATIENCE: Nanos = Nanos::from_secs(10);

const OPTIONS: &[Opt] = &[
    both('f', "force", Takes::Nothing),
    both('r', "reload", Takes::Nothing),
    both('t', "time", Takes::Value),
    both('p', "proxy", Takes::Value),
    both('c', "clients", Takes::Value),
    both('9', "http09", Takes::Nothing),
    both('1', "http10", Takes::Nothing),
    both('2', "http11", Takes::Nothing),
    long("get", Takes::Nothing),
    long("head", Takes::Nothing),
    long("options", Takes::Nothing),
    long("trace", Takes::Nothing),
    both('?', "help", Takes::Nothing),
    short('h', Takes::Nothing),
    both('V', "version", Takes::Nothing),
    both('q', "quiet", Takes::Nothing),
];

const USAGE: &str = "\
webbench [option]... URL
  -f|--force               Do not read the answer (not supported).
  -r|--reload              Ask caches for a fresh copy: Pragma: no-cache, through a proxy.
  -t|--time <sec>          Run for so many seconds. Default 30.
  -p|--proxy <server:port> Send the requests to this proxy.
  -c|--clients <n>         So many clients at once. Default one.
  -9|--http09              HTTP/0.9 requests (not supported).
  -1|--http10              HTTP/1.0 requests.
  -2|--http11              HTTP/1.1 requests.
  --get                    The method GET.
  --head                   The method HEAD.
  --options                The method OPTIONS.
  --trace                  The method TRACE.
  -?|-h|--help             This text.
  -V|--version             The version.
  -q|--quiet               No remarks of loadline's.
";

const BANNER: &str = "Webbench - Simple Web Benchmark 1.5, by loadline";

/// The command line, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Options {
    clients: u32,
    secs: u64,
    method: &'static str,
    reload: bool,
    /// Host and port.
    proxy: Option<(String, u16)>,
    version: Version,
    /// As given.
    url: String,
    host: String,
    port: u16,
    /// With what follows it.
    path: String,
    verbosity: Verbosity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    Http10,
    Http11,
}

/// Why nothing is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Refusal {
    /// Usage, after a word on what is wrong.
    Usage(Option<String>),
    /// A word on what is wrong.
    Wrong(String),
    /// The version was asked for.
    Version,
}

/// As `atoi` reads: what begins like a number, else 0.
fn number(text: &str) -> i64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    sign * digits[..end].parse::<i64>().unwrap_or(if end > 0 { i64::MAX } else { 0 })
}

fn read(words: &[OsString]) -> Result<Options, Refusal> {
    let (mut clients, mut secs, mut method, mut reload, mut proxy) = (1, 30, "GET", false, None);
    let (mut version, mut verbosity) = (Version::Http10, Verbosity::Normal);
    let mut operands = Vec::new();
    if words.is_empty() {
        return Err(Refusal::Usage(None));
    }
    let wrong = |why: &str| Refusal::Wrong(format!("webbench: {why}"));
    for item in getopt::read(OPTIONS, Order::Permute, words) {
        let (opt, value) = match item {
            Item::Operand(word) => {
                operands.push(word);
                continue;
            }
            Item::Mistake(mistake) => return Err(Refusal::Usage(Some(format!("webbench: {mistake}")))),
            Item::Option { opt, value } => (opt, value.unwrap_or_default()),
        };
        match (opt.short, opt.long) {
            (Some('c'), _) => clients = number(&value),
            (Some('t'), _) => secs = number(&value),
            (Some('r'), _) => reload = true,
            (Some('1'), _) => version = Version::Http10,
            (Some('2'), _) => version = Version::Http11,
            (Some('q'), _) => verbosity = Verbosity::Quiet,
            (Some('V'), _) => return Err(Refusal::Version),
            (Some('f'), _) => return Err(wrong("-f (--force) is not supported: an answer nobody reads cannot be counted; leave it out")),
            (Some('9'), _) => {
                return Err(wrong("-9 (--http09) is not supported: such an answer cannot be told from a broken one; give -1"));
            }
            (Some('p'), _) => proxy = Some(proxy_of(&value)?),
            (_, Some("get")) => method = "GET",
            (_, Some("head")) => method = "HEAD",
            (_, Some("options")) => method = "OPTIONS",
            (_, Some("trace")) => method = "TRACE",
            _ => return Err(Refusal::Usage(None)),
        }
    }
    let Some(url) = operands.into_iter().next() else { return Err(Refusal::Usage(Some("webbench: Missing URL!".to_owned()))) };
    if matches!(method, "OPTIONS" | "TRACE") {
        version = Version::Http11;
    }
    let (host, port, path) = taken_apart(&url)?;
    let count = |value: i64, default: i64, what: &str| match value {
        0 => Ok(default),
        value if value > 0 => Ok(value),
        value => Err(wrong(&format!("{what} {value} is less than nothing"))),
    };
    let clients = u32::try_from(count(clients, 1, "-c")?).map_err(|_| wrong("-c is more than any machine has"))?;
    let secs = count(secs, 30, "-t")?.unsigned_abs();
    Ok(Options { clients, secs, method, reload, proxy, version, url, host, port, path, verbosity })
}

fn proxy_of(value: &str) -> Result<(String, u16), Refusal> {
    match value.rsplit_once(':') {
        None => Ok((value.to_owned(), 80)),
        Some(("", _)) => Err(Refusal::Wrong(format!("Error in option --proxy {value}: Missing hostname."))),
        Some((_, "")) => Err(Refusal::Wrong(format!("Error in option --proxy {value} Port number is missing."))),
        Some((host, port)) => {
            let port = u16::try_from(number(port)).ok().filter(|port| *port > 0);
            port.map(|port| (host.to_owned(), port))
                .ok_or_else(|| Refusal::Wrong(format!("Error in option --proxy {value}: that is no port.")))
        }
    }
}

/// Host, port, and the path with what follows it.
fn taken_apart(url: &str) -> Result<(String, u16, String), Refusal> {
    let wrong = |why: String| Err(Refusal::Wrong(why));
    if !url.contains("://") {
        return wrong(format!("\n{url}: is not a valid URL."));
    }
    if url.len() > 1_500 {
        return wrong("URL is too long.".to_owned());
    }
    let Some(rest) = url.get(..7).filter(|begin| begin.eq_ignore_ascii_case("http://")).map(|_| &url[7..]) else {
        return wrong("\nOnly HTTP protocol is directly supported, set --proxy for others.".to_owned());
    };
    let Some(slash) = rest.find('/') else {
        return wrong("\nInvalid URL syntax - hostname don't ends with '/'.".to_owned());
    };
    let (authority, path) = rest.split_at(slash);
    let (host, port) = authority.split_once(':').map_or((authority, 80), |(host, port)| (host, number(port)));
    let port = if port == 0 { 80 } else { port };
    match u16::try_from(port) {
        Ok(port) if !host.is_empty() => Ok((host.to_owned(), port, path.to_owned())),
        _ => wrong(format!("\n{url}: is not a valid URL.")),
    }
}

impl Options {
    /// The request, as the original writes it.
    fn request(&self) -> String {
        let line = if self.proxy.is_some() { &self.url } else { &self.path };
        let version = if self.version == Version::Http10 { "HTTP/1.0" } else { "HTTP/1.1" };
        let mut request = format!("{} {line} {version}\r\nUser-Agent: WebBench 1.5\r\n", self.method);
        if self.proxy.is_none() {
            request += &format!("Host: {}\r\n", self.host);
        }
        if self.reload && self.proxy.is_some() {
            request += "Pragma: no-cache\r\n";
        }
        if self.version == Version::Http11 {
            request += "Connection: close\r\n";
        }
        request + "\r\n"
    }

    /// What stands there while the load runs.
    fn info(&self) -> String {
        let mut info = format!("\nRequest:\n{}\nRuning info: ", self.request());
        info += &if self.clients == 1 { "1 client".to_owned() } else { format!("{} clients", self.clients) };
        info += &format!(", running {} sec", self.secs);
        if let Some((host, port)) = &self.proxy {
            info += &format!(", via proxy server {host}:{port}");
        }
        if self.reload {
            info += ", forcing reload";
        }
        info + ".\n"
    }

    fn draft(&self) -> Draft {
        let (host, port) = self.proxy.clone().unwrap_or_else(|| (self.host.clone(), self.port));
        Draft {
            url: Some(format!("http://{host}:{port}/")),
            connections: self.clients.to_string().parse().ok(),
            duration: Some(Setting::Value(Nanos::from_secs(self.secs))),
            no_keepalive: true,
            // The original waits as long as the run takes.
            timeout: Some(Setting::Value(Nanos::from_secs(self.secs).plus(PATIENCE).plus(Nanos::SECOND))),
            ..Draft::default()
        }
    }
}

/// The same bytes for everybody.
struct FixedRequest {
    request: Encoded,
}

impl Behaviour for FixedRequest {
    type User = ();

    fn opens_first(&self) -> bool {
        false
    }

    fn user(&self, _number: u64) {}

    async fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> Result<(), End> {
        client.send(&Request::new(self.request.as_ref()), &mut ()).await?;
        Ok(())
    }
}

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    let options = match read(words) {
        Ok(options) => options,
        Err(Refusal::Version) => {
            let _ = host.print("1.5\n");
            return DONE;
        }
        Err(Refusal::Usage(why)) => {
            if let Some(why) = why {
                host.complain(&why);
            }
            host.complain(USAGE.trim_end());
            return MISUSED;
        }
        Err(Refusal::Wrong(why)) => {
            host.complain(&why);
            return MISUSED;
        }
    };
    if options.verbosity == Verbosity::Normal {
        host.complain(BANNER);
    }
    let session = Session::new(host, options.verbosity);
    let plan = match session.decide(options.draft()) {
        Ok(plan) => plan,
        Err(mistakes) => {
            host.complain(&format!("webbench: {}", mistakes.spelt(Spelling::Flags)));
            return MISUSED;
        }
    };
    if host.print(&options.info()).is_err() {
        return NOBODY;
    }
    let bytes = options.request().into_bytes();
    let request = Encoded { layout: EncodedRef::read(&bytes).layout(), bytes };
    let runner = host.runner();
    let measured = session.stop().and_then(|stop| {
        session.measure(&plan, Some(PATIENCE), &stop, &mut [], |watch, stop| {
            runner.prepare(&plan)?.run_with(move |_| FixedRequest { request: request.clone() }, watch, stop)
        })
    });
    match measured {
        Ok(run) => {
            session.remark(&run, None);
            match host.print(&report(&counts(&run), options.secs)) {
                Ok(()) => DONE,
                Err(_) => NOBODY,
            }
        }
        Err(error) if error.unreached.is_some() => {
            host.complain("\nConnect to server failed. Aborting benchmark.");
            NOBODY
        }
        Err(error) => {
            host.complain(&format!("webbench: {}", error.spelt(Spelling::Flags)));
            NOBODY
        }
    }
}

/// Answers succeed whatever their status is.
fn counts(run: &Summary) -> Counts {
    let answered: u64 = run.status.values().sum();
    let failed = run.failures.iter().filter(|failure| failure.class != Failure::CheckStatus).map(|failure| failure.count).sum();
    Counts { succeeded: answered, failed, bytes: run.bytes.received }
}

/// What the words ask for, without doing it.
fn uses(words: &[OsString], _host: &dyn Host) -> Vec<Use> {
    let mut uses = Vec::new();
    for item in getopt::read(OPTIONS, Order::Permute, words) {
        let Item::Option { opt, value } = item else { continue };
        let name = opt.short.map_or_else(|| format!("--{}", opt.long.unwrap_or_default()), |letter| format!("-{letter}"));
        let support = match opt.short {
            Some('f') => Support::Refused("an answer nobody reads cannot be counted; leave it out".to_owned()),
            Some('9') => Support::Refused("such an answer cannot be told from a broken one; give -1".to_owned()),
            Some('t') => {
                Support::Differs("what is on its way at the end is waited for, at most 10 s, and counted as what it is".to_owned())
            }
            _ => Support::Same,
        };
        uses.push(Use { what: value.map_or_else(|| name.clone(), |value| format!("{name} {value}")), support });
    }
    match read(words) {
        Ok(options) => uses.push(Use { what: options.url, support: Support::Same }),
        Err(Refusal::Version) => {}
        Err(Refusal::Usage(why)) => {
            let why = why.unwrap_or_else(|| "usage is shown".to_owned());
            uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why) });
        }
        Err(Refusal::Wrong(why)) => {
            if !uses.iter().any(|it| matches!(it.support, Support::Refused(_))) {
                uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why.trim().to_owned()) });
            }
        }
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &str) -> Result<Options, Refusal> {
        read(&line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect::<Vec<_>>())
    }

    fn request(line: &str) -> String {
        options(line).unwrap().request()
    }

    #[test]
    fn requests_are_the_original_s() {
        assert_eq!(request("http://h:81/a?b"), "GET /a?b HTTP/1.0\r\nUser-Agent: WebBench 1.5\r\nHost: h\r\n\r\n");
        assert_eq!(request("-2 --head http://h/"), "HEAD / HTTP/1.1\r\nUser-Agent: WebBench 1.5\r\nHost: h\r\nConnection: close\r\n\r\n");
        assert!(request("--trace http://h/").starts_with("TRACE / HTTP/1.1\r\n"));
        assert_eq!(
            request("-r -p proxy:3128 http://h:81/a"),
            "GET http://h:81/a HTTP/1.0\r\nUser-Agent: WebBench 1.5\r\nPragma: no-cache\r\n\r\n"
        );
        assert!(!request("-r http://h/").contains("Pragma"));
    }

    #[test]
    fn the_line_before_the_run_tells_what_is_done() {
        assert!(
            options("-c 10 -t5 -r http://h/").unwrap().info().ends_with("\r\n\nRuning info: 10 clients, running 5 sec, forcing reload.\n")
        );
        assert!(
            options("-c0 -t0 -p x http://h/").unwrap().info().ends_with("Runing info: 1 client, running 30 sec, via proxy server x:80.\n")
        );
    }

    #[test]
    fn mistakes_are_told_in_the_original_s_words() {
        for (line, part) in [
            ("h/", "h/: is not a valid URL."),
            ("https://h/", "Only HTTP protocol is directly supported"),
            ("http://h", "hostname don't ends with '/'"),
            ("-p :3 http://h/", "Missing hostname."),
            ("-p x: http://h/", "Port number is missing."),
            ("-f http://h/", "-f (--force) is not supported"),
            ("-9 http://h/", "-9 (--http09) is not supported"),
            ("-c -3 http://h/", "-c -3 is less than nothing"),
        ] {
            let Err(Refusal::Wrong(why)) = options(line) else { panic!("{line}") };
            assert!(why.contains(part), "{line}: {why}");
        }
        assert_eq!(options("-c1"), Err(Refusal::Usage(Some("webbench: Missing URL!".to_owned()))));
        assert_eq!(options("-x http://h/"), Err(Refusal::Usage(Some("webbench: invalid option -- 'x'".to_owned()))));
        assert_eq!(options("-?"), Err(Refusal::Usage(None)));
        assert_eq!(options(""), Err(Refusal::Usage(None)));
        assert_eq!(options("-V"), Err(Refusal::Version));
        let long = format!("http://h/{}", "x".repeat(1_500));
        assert_eq!(options(&long), Err(Refusal::Wrong("URL is too long.".to_owned())));
    }
}
