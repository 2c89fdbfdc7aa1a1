//! siege's command line and its file of settings.
//!
//! siege takes its defaults from `~/.siege/siege.conf`, which people edit once and forget. So it is read here too; what stands in it
//! and cannot be honoured is an error with its name, like an option. Without the file the defaults are those that siege ships.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU32;

use plan::{Draft, Nanos, Scheme, Setting, plainly};
use report::siege::Colouring;

use super::urls::{self, Entry};
use crate::dialect::{Support, Use};
use crate::getopt::{self, Item, Opt, Order, Takes, both, long, short};
use crate::host::{Host, Verbosity};

pub const OPTIONS: &[Opt] = &[
    both('V', "version", Takes::Nothing),
    both('h', "help", Takes::Nothing),
    both('C', "config", Takes::Nothing),
    both('v', "verbose", Takes::Nothing),
    both('q', "quiet", Takes::Nothing),
    both('g', "get", Takes::Nothing),
    both('p', "print", Takes::Nothing),
    both('D', "debug", Takes::Nothing),
    both('c', "concurrent", Takes::Value),
    both('r', "reps", Takes::Value),
    both('t', "time", Takes::Value),
    both('d', "delay", Takes::Value),
    both('b', "benchmark", Takes::Nothing),
    both('i', "internet", Takes::Nothing),
    both('f', "file", Takes::Value),
    both('R', "rc", Takes::Value),
    both('l', "log", Takes::Attached),
    both('m', "mark", Takes::Value),
    both('H', "header", Takes::Value),
    both('A', "user-agent", Takes::Value),
    both('T', "content-type", Takes::Value),
    both('j', "json-output", Takes::Nothing),
    both('N', "no-parser", Takes::Nothing),
    both('F', "no-follow", Takes::Nothing),
    short('Q', Takes::Nothing),
    long("no-remarks", Takes::Nothing),
];

pub const USAGE: &str = "\
Usage: siege [options]
       siege [options] URL
Options:
  -V, --version             the version
  -h, --help                this text
  -v, --verbose             a line for each answer
  -q, --quiet               no lines and no report
  -c, --concurrent=NUM      so many users, default is 25
  -r, --reps=NUM            each user sends so many requests; once: each URL is hit once
  -t, --time=NUMm           for so long; m is S, M or H
  -d, --delay=NUM           a random pause of up to so many seconds after each request
  -b, --benchmark           no pauses
  -i, --internet            URLs in random order
  -f, --file=FILE           the list of URLs
  -R, --rc=FILE             the file of settings
  -l, --log[=FILE]          add a line to this log
  -m, --mark=\"text\"         and a line of text
  -H, --header=\"text\"       a header (repeatable)
  -A, --user-agent=\"text\"   the User-Agent
  -T, --content-type=\"text\" the Content-Type of bodies
  -j, --json-output         the report as JSON on standard output
      --no-parser           leave out what pages need besides
      --no-follow           do not follow redirects
      --no-remarks          no remarks of loadline's
";

/// The command line and the file of settings, as they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    pub entries: Vec<Entry>,
    pub users: NonZeroU32,
    pub amount: Amount,
    /// At most so long between two requests of a user.
    pub delay: Nanos,
    pub order: Sequence,
    pub parser: bool,
    pub follow: bool,
    pub cookies: bool,
    pub verbose: bool,
    pub quiet: bool,
    pub json: bool,
    pub log: Option<String>,
    pub mark: Option<String>,
    /// The run ends after so many failures; `None`: never.
    pub failures_max: Option<u64>,
    pub full_url: bool,
    pub colour: Colouring,
    pub verbosity: Verbosity,
    pub lines: Lines,
    timeout_s: u64,
}

/// What of a request is the same for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    pub agent: String,
    pub encoding: String,
    pub headers: Vec<(String, String)>,
    pub content_type: String,
    pub keepalive: bool,
}

/// How much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Until it is interrupted.
    Endless,
    Time(Nanos),
    /// Requests of each user.
    Each(u64),
    /// Each URL once.
    Once,
}

/// In which order a user takes the URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    InTurn,
    Random,
}

/// Why nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Help,
    Version,
    /// A word, and the list of options.
    Usage(String),
    Failed(String),
}

/// After so many redirects it is a circle.
pub const HOPS_MAX: u8 = 20;
const USERS: u64 = 25;
const TIMEOUT_S: u64 = 30;
const FAILURES_MAX: u64 = 1_024;
/// Longer than any siege.
const NEVER: Nanos = Nanos::from_secs(10 * 365 * 86_400);
pub const VERSION: &str = "4.0.7";

/// Settings by name, from the file and then from the words.
struct Settings(BTreeMap<String, String>);

impl Settings {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn is(&self, name: &str, default: bool) -> bool {
        self.text(name).map_or(default, |value| value.get(..4).is_some_and(|begin| begin.eq_ignore_ascii_case("true")))
    }

    fn whole(&self, name: &str, default: u64) -> Result<u64, Refusal> {
        let Some(value) = self.text(name) else { return Ok(default) };
        value.trim().parse().map_err(|_| Refusal::Failed(format!("{name} '{value}' is not a whole number")))
    }
}

/// What a file of settings says, name by name; `header` and the like more than once.
fn conf(text: &str) -> (BTreeMap<String, String>, Vec<String>) {
    let mut settings = BTreeMap::new();
    let mut headers = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let end = line.find(|letter: char| letter.is_whitespace() || letter == '=').unwrap_or(line.len());
        let (name, value) = line.split_at(end);
        let value = value.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '=').trim_end();
        if name == "header" { headers.push(value.to_owned()) } else { drop(settings.insert(name.to_owned(), value.to_owned())) }
    }
    (settings, headers)
}

/// Settings of the file that would change the load and are not honoured.
const REFUSED: [(&str, &str); 8] = [
    ("login-url", "no page is visited before the siege"),
    ("login", "put an Authorization header into the file instead"),
    ("proxy-host", "requests go straight to the server"),
    ("ssl-cert", "the client shows no certificate"),
    ("ssl-ciphers", "TLS 1.2 and 1.3 choose their own"),
    ("csv", "lines are plain"),
    ("display-id", "lines are plain"),
    ("cache", "every request is sent whole"),
];

impl Options {
    pub fn read(words: &[OsString], host: &dyn Host) -> Result<Self, Refusal> {
        let files = host.files();
        let variable = |name: &str| host.variable(name).filter(|value| !value.is_empty());
        let (home, siegerc) = (variable("HOME"), variable("SIEGERC"));
        let items = getopt::read(OPTIONS, Order::Permute, words);
        let rc = items.iter().find_map(|item| match item {
            Item::Option { opt, value } if opt.short == Some('R') => value.clone(),
            _ => None,
        });
        let failed = |why: String| Refusal::Failed(why);
        let path = rc.clone().or_else(|| siegerc.clone()).or_else(|| home.as_ref().map(|home| format!("{home}/.siege/siege.conf")));
        let named = rc.is_some() || siegerc.is_some();
        // What a file of settings does not say has other defaults than siege's own file, which holds where there is none.
        let ((settings, mut headers), shipped) = match path.as_ref().map(|path| files.read_text(path)) {
            Some(Ok(text)) => (conf(&text), false),
            Some(Err(why)) if named => return Err(failed(format!("'{}' cannot be read: {}", path.unwrap_or_default(), plainly(&why)))),
            _ => ((BTreeMap::new(), Vec::new()), true),
        };
        let mut settings = Settings(settings);
        let mut set = |name: &str, value: &str| drop(settings.0.insert(name.to_owned(), value.to_owned()));
        let (mut operands, mut mark, mut reps, mut verbosity) = (Vec::new(), None, None, Verbosity::Normal);
        for item in items {
            let (opt, value) = match item {
                Item::Operand(word) => {
                    operands.push(word);
                    continue;
                }
                Item::Mistake(mistake) => return Err(Refusal::Usage(format!("siege: {mistake}"))),
                Item::Option { opt, value } => (opt, value),
            };
            let value = value.unwrap_or_default();
            match opt.short.unwrap_or('-') {
                'V' => return Err(Refusal::Version),
                'h' => return Err(Refusal::Help),
                'v' => set("verbose", "true"),
                'q' => set("quiet", "true"),
                'c' => set("concurrent", &value),
                'r' => reps = Some(value),
                't' => set("time", &value),
                'd' => set("delay", &value),
                'b' => set("benchmark", "true"),
                'i' => set("internet", "true"),
                'f' => set("file", &value),
                'l' => {
                    set("logging", "true");
                    if !value.is_empty() {
                        set("logfile", &value);
                    }
                }
                'm' => {
                    set("logging", "true");
                    mark = Some(value);
                }
                'H' => headers.push(value),
                'A' => set("user-agent", &value),
                'T' => set("content-type", &value),
                'j' => set("json_output", "true"),
                'N' => set("parser", "false"),
                'F' => set("follow-location", "false"),
                'R' => {}
                letter @ ('C' | 'g' | 'p' | 'D') => {
                    let why = match letter {
                        'C' => "look into the file of settings",
                        'D' => "'loadline run' explains failures",
                        _ => "'curl -i' shows one answer",
                    };
                    return Err(failed(format!("-{letter} (--{}) is not supported: {why}", opt.long.unwrap_or_default())));
                }
                _ => verbosity = Verbosity::Quiet,
            }
        }
        for (name, why) in REFUSED {
            let given = settings.text(name).is_some_and(|value| !value.eq_ignore_ascii_case("false"));
            if given {
                return Err(failed(format!("'{name}' in '{}' is not supported: {why}", path.unwrap_or_default())));
            }
        }
        if settings.text("protocol").is_some_and(|protocol| !protocol.eq_ignore_ascii_case("HTTP/1.1")) {
            return Err(failed("the protocol HTTP/1.0 is not supported: give 'protocol = HTTP/1.1'".to_owned()));
        }
        let entries = match operands.last() {
            Some(url) => vec![urls::entry(url, &*files).map_err(failed)?],
            None => match (settings.text("url"), settings.text("file")) {
                (Some(url), _) => vec![urls::entry(url, &*files).map_err(failed)?],
                (None, Some(file)) => {
                    let text =
                        files.read_text(file).map_err(|why| Refusal::Usage(format!("unable to open file: {file}: {}", plainly(&why))))?;
                    urls::read(&text, &*files).map_err(|why| failed(format!("{file}, {why}")))?
                }
                (None, None) => return Err(Refusal::Usage("give a URL, or a list of them with -f".to_owned())),
            },
        };
        if entries.is_empty() {
            return Err(Refusal::Usage("the list of URLs is empty".to_owned()));
        }
        let users = settings.whole("concurrent", if shipped { USERS } else { 1 })?;
        let users =
            u32::try_from(users).ok().and_then(NonZeroU32::new).ok_or_else(|| failed(format!("-c {users} is no number of users")))?;
        let amount = match (reps.as_deref().or(settings.text("reps")), settings.text("time")) {
            // The original warns, and takes the time.
            (_, Some(text)) => Amount::Time(time(text).ok_or_else(|| failed(format!("-t '{text}' is not a time such as 30S, 5M or 1H")))?),
            (Some(text), None) if text.eq_ignore_ascii_case("once") => Amount::Once,
            (Some(text), None) => {
                let count = text.trim().parse().ok().filter(|count| *count > 0);
                Amount::Each(count.ok_or_else(|| failed(format!("-r '{text}' is neither a number nor once")))?)
            }
            (None, None) => Amount::Endless,
        };
        let delay = match settings.text("delay") {
            None => 0.0,
            Some(text) => text
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|secs| secs.is_finite())
                .ok_or_else(|| failed(format!("-d '{text}' is not a number of seconds")))?,
        };
        let headers: Vec<(String, String)> = (headers.iter())
            .map(|line| match line.split_once(':') {
                Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
                None => Err(failed(format!("no ':' in http-header: '{line}'"))),
            })
            .collect::<Result<_, _>>()?;
        let keepalive = settings.text("connection").is_some_and(|value| value.eq_ignore_ascii_case("keep-alive"));
        let failures = settings.whole("failures", FAILURES_MAX)?;
        let home = home.unwrap_or_else(|| ".".to_owned());
        Ok(Self {
            users,
            amount,
            delay: if settings.is("benchmark", false) { Nanos::ZERO } else { Nanos((delay.max(0.0) * 1e9) as u64) },
            order: if settings.is("internet", false) { Sequence::Random } else { Sequence::InTurn },
            parser: settings.is("parser", shipped),
            follow: settings.is("follow-location", true),
            cookies: settings.is("cookies", true),
            verbose: settings.is("verbose", shipped),
            quiet: settings.is("quiet", false),
            json: settings.is("json_output", shipped),
            log: settings.is("logging", false).then(|| {
                settings
                    .text("logfile")
                    .map_or_else(|| format!("{home}/siege.log"), |file| file.replace("$(HOME)", &home).replace("${HOME}", &home))
            }),
            mark,
            failures_max: Some(failures).filter(|max| *max > 0),
            full_url: settings.is("fullurl", false),
            colour: if settings.text("color").is_some_and(|value| matches!(value, "off" | "false")) {
                Colouring::Off
            } else {
                Colouring::On
            },
            verbosity: if settings.is("quiet", false) { Verbosity::Quiet } else { verbosity },
            lines: Lines {
                agent: settings
                    .text("user-agent")
                    .map_or_else(|| format!("Mozilla/5.0 (pc-x86_64-linux-gnu) Siege/{VERSION}"), str::to_owned),
                encoding: settings.text("accept-encoding").unwrap_or("gzip, deflate").to_owned(),
                headers,
                content_type: settings.text("content-type").unwrap_or("application/x-www-form-urlencoded").to_owned(),
                keepalive,
            },
            timeout_s: settings.whole("timeout", TIMEOUT_S)?.max(1),
            entries,
        })
    }

    pub fn draft(&self) -> Draft {
        // TLS is made ready for a plan that needs it.
        let secure = self.entries.iter().find(|entry| entry.target.scheme() == Scheme::Https);
        let first = &secure.unwrap_or(&self.entries[0]).target;
        let duration = match self.amount {
            Amount::Time(time) => time,
            _ => NEVER,
        };
        Draft {
            url: Some(format!("{}://{}{}", first.scheme(), first.authority(), first.path_and_query())),
            connections: Some(Setting::Value(self.users.into())),
            duration: Some(Setting::Value(duration)),
            timeout: Some(Setting::Value(Nanos::from_secs(self.timeout_s))),
            connect_timeout: Some(Setting::Value(Nanos::from_secs(self.timeout_s))),
            no_keepalive: !self.lines.keepalive,
            no_preflight: true,
            follow: self.follow.then_some(Setting::Value(HOPS_MAX)),
            insecure: self.follow || secure.is_some(),
            ..Draft::default()
        }
    }
}

/// `30S`, `5m`, `1 H`; minutes without a letter.
fn time(text: &str) -> Option<Nanos> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let scale = match unit.trim().to_ascii_lowercase().chars().next() {
        Some('s') => 1,
        Some('m') | None => 60,
        Some('h') => 3_600,
        Some(_) => return None,
    };
    Some(Nanos::from_secs(number.checked_mul(scale)?)).filter(|time| *time > Nanos::ZERO)
}

/// What the words ask for, without doing it.
pub fn uses(words: &[OsString], host: &dyn Host) -> Vec<Use> {
    let mut uses = Vec::new();
    for item in getopt::read(OPTIONS, Order::Permute, words) {
        let Item::Option { opt, value } = item else { continue };
        let name = opt.short.map_or_else(|| format!("--{}", opt.long.unwrap_or_default()), |letter| format!("-{letter}"));
        let support = match opt.short {
            Some('C' | 'g' | 'p' | 'D') => Support::Refused("loadline has other means; leave it out".to_owned()),
            Some('c') => Support::Differs("every user asked for is there: there is no limit of 255".to_owned()),
            Some('V') => Support::Differs("names loadline too".to_owned()),
            _ => Support::Same,
        };
        uses.push(Use { what: value.map_or_else(|| name.clone(), |value| format!("{name} {value}")), support });
    }
    match Options::read(words, host) {
        Ok(options) => {
            uses.extend(
                options
                    .entries
                    .iter()
                    .take(URLS_SHOWN)
                    .map(|entry| Use { what: format!("{} {}", entry.method, entry.url), support: Support::Same }),
            );
        }
        Err(Refusal::Help | Refusal::Version) => {}
        Err(Refusal::Usage(why) | Refusal::Failed(why)) => {
            if !uses.iter().any(|it| matches!(it.support, Support::Refused(_))) {
                uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why) });
            }
        }
    }
    uses
}

/// A list may hold a million.
const URLS_SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    fn read(line: &str, host: &Memory) -> Result<Options, Refusal> {
        let words: Vec<OsString> = line.split('|').filter(|word| !word.is_empty()).map(OsString::from).collect();
        Options::read(&words, host)
    }

    fn at_home(files: &[(&str, &str)]) -> Memory {
        Memory::new(files).with_variable("HOME", "/home/me")
    }

    #[test]
    fn words_go_before_the_file_and_the_file_before_the_defaults() {
        let options = read("h", &at_home(&[])).unwrap();
        assert_eq!(
            (options.users.get(), options.amount, options.delay, options.verbose, options.json),
            (25, Amount::Endless, Nanos::ZERO, true, true)
        );
        let conf = "# mine\nverbose = false\nconcurrent = 7\njson_output=false\ndelay = 2.5\nheader = A: 1\nconnection = keep-alive\nlogfile = $(HOME)/x.log\n";
        let home = at_home(&[("/home/me/.siege/siege.conf", conf), ("empty", "")]);
        let options = read("-r10|-l|-HB: 2|h", &home).unwrap();
        assert_eq!(
            (options.users.get(), options.amount, options.delay, options.verbose, options.json),
            (7, Amount::Each(10), Nanos::from_millis(2_500), false, false)
        );
        assert_eq!(options.lines.headers, [("A".to_owned(), "1".to_owned()), ("B".to_owned(), "2".to_owned())]);
        assert_eq!(options.log, Some("/home/me/x.log".to_owned()));
        // A file that says nothing takes the place of siege's own; `siege -C -R /dev/null` lists what holds then.
        let options = read("-R|empty|h", &home).unwrap();
        assert_eq!((options.users.get(), options.verbose, options.json, options.parser, options.follow), (1, false, false, false, true));
        let options = read("-c3|-b|-v|-i|-lown.log|--no-follow|--no-parser|-r|once|h", &home).unwrap();
        assert_eq!((options.users.get(), options.amount, options.delay, options.verbose), (3, Amount::Once, Nanos::ZERO, true));
        assert_eq!(
            (options.order, options.follow, options.parser, options.log.as_deref()),
            (Sequence::Random, false, false, Some("own.log"))
        );
    }

    #[test]
    fn times_have_a_letter() {
        for (text, secs) in
            [("30S", Some(30)), ("5m", Some(300)), ("1 H", Some(3_600)), ("2", Some(120)), ("0S", None), ("x", None), ("5D", None)]
        {
            assert_eq!(time(text), secs.map(Nanos::from_secs), "{text}");
        }
    }

    #[test]
    fn mistakes_and_what_cannot_be_honoured_are_named() {
        let home = at_home(&[("rc", "proxy-host = p\n"), ("urls", "h/1\nftp://h/\n")]);
        for (line, part) in [
            ("-c9999999999|h", "-c 9999999999 is no number of users"),
            ("-c|x|h", "concurrent 'x' is not a whole number"),
            ("-t5D|h", "-t '5D' is not a time"),
            ("-r|x|h", "-r 'x' is neither a number nor once"),
            ("-d|x|h", "-d 'x' is not a number of seconds"),
            ("-g|h", "-g (--get) is not supported"),
            ("-Hx|h", "no ':' in http-header: 'x'"),
            ("-R|rc|h", "'proxy-host' in '"),
            ("-R|/no/such|h", "'/no/such' cannot be read"),
            ("-f|urls", "urls, line 2: 'ftp://h/'"),
        ] {
            let Err(Refusal::Failed(why)) = read(line, &home) else { panic!("{line}") };
            assert!(why.contains(part), "{line}: {why}");
        }
        for line in ["", "-f|/no/such", "-x|h", "-c"] {
            assert!(matches!(read(line, &home), Err(Refusal::Usage(_))), "{line}");
        }
        assert_eq!((read("-V", &home), read("-h", &home)), (Err(Refusal::Version), Err(Refusal::Help)));
    }
}
