//! JMeter's command line, of a test without windows.
//!
//! All its options are known by name, so that each is honoured, or said to change nothing, or refused with what to do. Properties come from
//! files (`-p`, `-q`) and from words (`-J`), in the order of the command line, and the last one of a name holds, as there.

use std::ffi::OsString;
use std::io::BufRead as _;

use import::collection::properties;
use plan::{Draft, Nanos, plainly};

use crate::dialect::{Support, Use};
use crate::getopt::{self, Item, Opt, Order, Takes, both, long};
use crate::host::{Host, Verbosity};
use report::jmeter::INDEX;

/// The version whose command line this is.
pub const VERSION: &str = "5.6.3";

const OPTIONS: &[Opt] = &[
    both('?', "?", Takes::Nothing),
    both('h', "help", Takes::Nothing),
    both('v', "version", Takes::Nothing),
    both('p', "propfile", Takes::Value),
    both('q', "addprop", Takes::Value),
    both('t', "testfile", Takes::Value),
    both('l', "logfile", Takes::Value),
    both('i', "jmeterlogconf", Takes::Value),
    both('j', "jmeterlogfile", Takes::Value),
    both('n', "nongui", Takes::Nothing),
    both('s', "server", Takes::Nothing),
    both('E', "proxyScheme", Takes::Value),
    both('H', "proxyHost", Takes::Value),
    both('P', "proxyPort", Takes::Value),
    both('N', "nonProxyHosts", Takes::Value),
    both('u', "username", Takes::Value),
    both('a', "password", Takes::Value),
    both('J', "jmeterproperty", Takes::Value),
    both('G', "globalproperty", Takes::Value),
    both('D', "systemproperty", Takes::Value),
    both('S', "systemPropertyFile", Takes::Value),
    both('f', "forceDeleteResultFile", Takes::Nothing),
    both('L', "loglevel", Takes::Value),
    both('r', "runremote", Takes::Nothing),
    both('R', "remotestart", Takes::Value),
    both('d', "homedir", Takes::Value),
    both('X', "remoteexit", Takes::Nothing),
    both('g', "reportonly", Takes::Value),
    both('e', "reportatendofloadtests", Takes::Nothing),
    both('o', "reportoutputfolder", Takes::Value),
    long("no-remarks", Takes::Nothing),
];

pub const USAGE: &str = "\
jmeter -n -t plan.jmx [options]
  -n, --nongui                   without windows: there are none here
  -t, --testfile <file>          the test plan
  -J, --jmeterproperty <n>=<v>   a property (__P)
  -q, --addprop <file>           a file of properties, also -p, --propfile
  -l, --logfile <file>           a file of samples (JTL); -f replaces one that is there
  -e, --reportatendofloadtests   a dashboard of them, with -o, --reportoutputfolder <folder>
  -g, --reportonly <file>        a dashboard of a file of samples, and no test
  -j, --jmeterlogfile <file>     the log, jmeter.log where nothing is said
  -R, --remotestart <hosts>      each of these carries the plan out, by ssh: a,b; -r takes those of the property remote_hosts
  -G, --globalproperty <n>=<v>   a property, or a file of them, there
  -H, --proxyHost <host>         a proxy, with -P, --proxyPort <port>
  -u, --username <name>          a name for it, with -a, --password <password>
      --no-remarks               no remarks of loadline's
  -v, --version                  the version
  -h, --help                     this text
";

/// The command line, as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The test plan's file.
    pub plan: String,
    /// The log's.
    pub log: String,
    /// In their order; the last of a name holds.
    pub properties: Vec<(String, String)>,
    /// How often the summariser prints; zero: at the end only.
    pub interval: Nanos,
    /// What the words say of the load itself.
    pub draft: Draft,
    /// The file of samples that is written.
    pub samples: Option<String>,
    /// The folder of the dashboard that is made of them.
    pub folder: Option<String>,
    /// Whether loadline says more than the original.
    pub verbosity: Verbosity,
    /// Other machines that carry the test out, each the whole of it.
    pub servers: Vec<String>,
}

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// A test.
    Test(Box<Options>),
    /// A dashboard of a file of samples.
    Dashboard {
        /// The file.
        samples: String,
        /// Where it goes.
        folder: String,
    },
}

/// The summariser's interval where no property says it.
const INTERVAL_SECS: u64 = 30;

/// Where a dashboard goes where nothing is said.
const FOLDER: &str = "report-output";

/// Why nothing is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Help,
    Version,
    /// Usage, after a word on what is wrong.
    Usage(String),
    Wrong(String),
}

/// What cannot be honoured, and what to do instead.
fn refused(letter: char) -> Option<&'static str> {
    Some(match letter {
        's' => "'loadline agent' waits for loads of others",
        'N' => "all requests go through the proxy, or none",
        'E' => "a proxy is spoken to over HTTP",
        _ => return None,
    })
}

/// What changes nothing here, and why.
fn passed_over(letter: char) -> Option<&'static str> {
    Some(match letter {
        'D' | 'S' => "there is no Java here whose properties it would be",
        'i' | 'L' => "the log has one form",
        'd' => "nothing is read from there",
        'X' => "nothing goes on there when the test is over",
        _ => return None,
    })
}

/// As it is written.
fn spelt(opt: Opt) -> String {
    let name = opt.long.unwrap_or_default();
    opt.short.map_or_else(|| format!("--{name}"), |letter| format!("-{letter} (--{name})"))
}

impl Task {
    /// Reads the words and the files that they name.
    pub fn read(words: &[OsString], host: &dyn Host) -> Result<Self, Refusal> {
        let wrong = |why: String| Refusal::Wrong(why);
        let (mut plan, mut log, mut pairs, mut no_window) = (None, "jmeter.log".to_owned(), Vec::new(), false);
        let (mut samples, mut dashboard_of, mut folder, mut at_end, mut replaces) = (None, None, None, false, false);
        let (mut proxy, mut port, mut user, mut password) = (None, None, None, None);
        let (mut is_remote, mut named, mut there) = (false, None, Vec::new());
        let mut verbosity = Verbosity::Normal;
        for item in getopt::read(OPTIONS, Order::Permute, words) {
            let (opt, value) = match item {
                Item::Operand(word) => return Err(wrong(format!("'{word}' is no option; the test plan stands behind -t"))),
                Item::Mistake(mistake) => return Err(Refusal::Usage(mistake)),
                Item::Option { opt, value } => (opt, value.unwrap_or_default()),
            };
            let letter = opt.short.unwrap_or_default();
            if let Some(instead) = refused(letter) {
                return Err(wrong(format!("{} is not supported: {instead}", spelt(opt))));
            }
            match letter {
                '?' | 'h' => return Err(Refusal::Help),
                'v' => return Err(Refusal::Version),
                't' => plan = Some(value),
                'j' => log = value,
                'n' => no_window = true,
                'l' => samples = Some(value),
                'g' => dashboard_of = Some(value),
                'o' => folder = Some(value),
                'e' => at_end = true,
                'f' => replaces = true,
                'J' => {
                    let (name, value) = value.split_once('=').unwrap_or((&value, ""));
                    pairs.push((name.to_owned(), value.to_owned()));
                }
                'p' | 'q' => pairs.extend(of_file(&value, host)?),
                'G' => match value.split_once('=') {
                    Some((name, value)) => there.push((name.to_owned(), value.to_owned())),
                    None => match of_file(&value, host) {
                        Err(Refusal::Wrong(why)) => return Err(wrong(format!("{why}; a property is written as -Gname=value"))),
                        read => there.extend(read?),
                    },
                },
                'r' => is_remote = true,
                'R' => named = Some(value),
                'H' => proxy = Some(value),
                'P' => port = Some(value),
                'u' => user = Some(value),
                'a' => password = Some(value),
                _ if opt.long == Some("no-remarks") => verbosity = Verbosity::Quiet,
                _ => {}
            }
        }
        let files = host.files();
        // A file that holds nothing is no loss.
        let holds = |path: &str| files.open(path.as_ref()).is_ok_and(|mut file| file.fill_buf().is_ok_and(|bytes| !bytes.is_empty()));
        let is_in_the_way = |path: &str| !replaces && holds(path);
        let with_folder = at_end || dashboard_of.is_some();
        let folder = folder.or_else(|| with_folder.then(|| FOLDER.to_owned()));
        let index = |folder: &String| format!("{folder}/{INDEX}");
        if let Some(folder) = folder.as_ref().filter(|folder| is_in_the_way(&index(folder))) {
            return Err(wrong(format!("there is a dashboard in '{folder}'; name another folder with -o, or replace it with -f")));
        }
        if let Some(samples) = dashboard_of {
            return Ok(Self::Dashboard { samples, folder: folder.unwrap_or_default() });
        }
        if !no_window {
            return Err(wrong("there are no windows here: give -n, and the test plan behind -t".to_owned()));
        }
        let plan = plan.ok_or_else(|| wrong("which test plan? Give -t plan.jmx".to_owned()))?;
        let proxy = match (proxy, port) {
            (Some(host), Some(port)) => {
                let login = user.map(|user| format!("{user}:{}@", password.unwrap_or_default())).unwrap_or_default();
                Some(format!("http://{login}{host}:{port}"))
            }
            (None, None) => None,
            _ => return Err(wrong("a proxy has a host (-H) and a port (-P)".to_owned())),
        };
        if let Some(samples) = samples.as_ref().filter(|samples| is_in_the_way(samples)) {
            return Err(wrong(format!("the file of samples '{samples}' is there already; name another with -l, or replace it with -f")));
        }
        if at_end && samples.is_none() {
            return Err(wrong("a dashboard (-e) is made of a file of samples: name one with -l".to_owned()));
        }
        let of = |name: &str| pairs.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.trim());
        let secs = match of("summariser.interval").map(str::parse) {
            None => INTERVAL_SECS,
            Some(Ok(secs)) => secs,
            Some(Err(_)) => return Err(wrong("the property summariser.interval is no number of seconds".to_owned())),
        };
        let interval = Nanos::from_secs(secs);
        let draft = Draft { proxy, ..Draft::default() };
        let folder = folder.filter(|_| at_end);
        let hosts = named.or_else(|| is_remote.then(|| of("remote_hosts").unwrap_or("127.0.0.1").to_owned()));
        let servers: Vec<String> = hosts.iter().flat_map(|hosts| hosts.split(',')).map(|host| host.trim().to_owned()).collect();
        if servers.iter().any(String::is_empty) {
            return Err(wrong("which servers? Name them with commas between, as in -R 10.0.0.5,10.0.0.6".to_owned()));
        }
        if !servers.is_empty() {
            pairs.extend(there);
        }
        Ok(Self::Test(Box::new(Options { plan, log, properties: pairs, interval, draft, samples, folder, verbosity, servers })))
    }
}

/// The properties of a file.
fn of_file(path: &str, host: &dyn Host) -> Result<Vec<(String, String)>, Refusal> {
    let text = host.files().read_text(path);
    text.map(|text| properties(&text)).map_err(|why| Refusal::Wrong(format!("'{path}' cannot be read: {}", plainly(&why))))
}

/// What the words ask for, without doing it.
pub fn uses(words: &[OsString], host: &dyn Host) -> Vec<Use> {
    let mut uses = Vec::new();
    for item in getopt::read(OPTIONS, Order::Permute, words) {
        let Item::Option { opt, value } = item else { continue };
        let letter = opt.short.unwrap_or_default();
        let what = value.map_or_else(|| spelt(opt), |value| format!("{} {value}", spelt(opt)));
        let support = match (refused(letter), passed_over(letter)) {
            (Some(instead), _) => Support::Refused(instead.to_owned()),
            (None, Some(why)) => Support::Differs(format!("it changes nothing: {why}")),
            (None, None) => Support::Same,
        };
        uses.push(Use { what, support });
    }
    if let Err(Refusal::Wrong(why) | Refusal::Usage(why)) = Task::read(words, host)
        && !uses.iter().any(|used| matches!(used.support, Support::Refused(_)))
    {
        uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why) });
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    fn task(line: &str, files: &[(&str, &str)]) -> Result<Task, Refusal> {
        Task::read(&line.split(' ').map(OsString::from).collect::<Vec<_>>(), &Memory::new(files))
    }

    fn read(line: &str, files: &[(&str, &str)]) -> Result<Options, Refusal> {
        task(line, files).map(|task| match task {
            Task::Test(options) => *options,
            Task::Dashboard { .. } => panic!("{line} is no test"),
        })
    }

    #[test]
    fn a_dashboard_is_made_after_a_test_or_of_a_file() {
        let options = read("-n -t p -l out.jtl -e -o pages", &[]).unwrap();
        assert_eq!((options.samples.as_deref(), options.folder.as_deref()), (Some("out.jtl"), Some("pages")));
        assert_eq!(read("-n -t p -l out.jtl", &[]).unwrap().folder, None);
        let dashboard = |line: &str, files: &[(&str, &str)]| task(line, files);
        let of = |folder: &str| Ok(Task::Dashboard { samples: "out.jtl".to_owned(), folder: folder.to_owned() });
        assert_eq!(dashboard("-g out.jtl -o pages", &[]), of("pages"));
        assert_eq!(dashboard("-g out.jtl", &[]), of("report-output"));
        assert!(read("-n -t p -l out.jtl", &[("out.jtl", "")]).is_ok());
        // What is there is replaced on purpose alone.
        let there = [("out.jtl", "x"), ("pages/index.html", "x")];
        for (line, part) in [
            ("-g out.jtl -o pages", "there is a dashboard in 'pages'"),
            ("-n -t p -l out.jtl", "'out.jtl' is there already"),
            ("-n -t p -e", "name one with -l"),
        ] {
            let Err(Refusal::Wrong(why)) = dashboard(line, &there) else { panic!("{line}") };
            assert!(why.contains(part), "{line}: {why}");
        }
        assert_eq!(dashboard("-f -g out.jtl -o pages", &there), of("pages"));
        assert!(read("-n -t p -l out.jtl -f", &there).is_ok());
    }

    #[test]
    fn properties_come_in_the_order_of_the_words() {
        let files = [("a.properties", "users=1\nhost=h\nsummariser.interval=6"), ("b.properties", "users = 2")];
        let options = read("-n -tplan.jmx -qa.properties -Jusers=50 --addprop b.properties -Jempty -j my.log", &files).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            options.properties,
            [
                pair("users", "1"),
                pair("host", "h"),
                pair("summariser.interval", "6"),
                pair("users", "50"),
                pair("users", "2"),
                pair("empty", "")
            ]
        );
        assert_eq!((options.plan.as_str(), options.log.as_str()), ("plan.jmx", "my.log"));
        assert_eq!(options.interval, Nanos::from_secs(6));
        assert_eq!(read("-n -t p", &[]).unwrap().interval, Nanos::from_secs(30));
    }

    #[test]
    fn servers_are_named_or_those_of_a_property() {
        let files = [("j.properties", "remote_hosts=10.0.0.5, 10.0.0.6:1099\nusers=1"), ("g.properties", "users=3")];
        let of = |line: &str| read(line, &files).map(|options| (options.servers.join(" "), options.properties)).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(of("-n -t p -Gusers=2"), (String::new(), Vec::new()), "who is nowhere has no properties");
        assert_eq!(of("-n -t p -r").0, "127.0.0.1");
        let (servers, properties) = of("-n -t p -r -G g.properties -Gmore=1 -p j.properties -X");
        assert_eq!(servers, "10.0.0.5 10.0.0.6:1099");
        assert_eq!(properties[1..], [pair("users", "1"), pair("users", "3"), pair("more", "1")]);
        assert_eq!(of("-n -t p -Ra,b -r -p j.properties").0, "a b");
    }

    #[test]
    fn a_proxy_is_put_together() {
        let proxy = |line: &str| read(line, &[]).map(|options| options.draft.proxy.unwrap_or_default());
        assert_eq!(proxy("-n -t p -H h -P 3128").unwrap(), "http://h:3128");
        assert_eq!(proxy("-n -t p -Hh -P3128 -u ann -a secret").unwrap(), "http://ann:secret@h:3128");
        assert!(matches!(proxy("-n -t p -H h"), Err(Refusal::Wrong(why)) if why.contains("(-P)")));
    }

    #[test]
    fn what_cannot_be_honoured_is_told_by_name() {
        for (line, part) in [
            ("-t p", "no windows here"),
            ("-n", "which test plan?"),
            ("-n p.jmx", "'p.jmx' is no option"),
            ("-n -t p -R a,,b", "-R 10.0.0.5,10.0.0.6"),
            ("-n -t p -s", "'loadline agent' waits"),
            ("-n -t p -q none.properties", "'none.properties' cannot be read"),
            ("-n -t p -R a -Gusers", "a property is written as -Gname=value"),
            ("-n -t p -Jsummariser.interval=x", "no number of seconds"),
            ("-n -t p --nothing", "nothing"),
        ] {
            let Err(Refusal::Wrong(why) | Refusal::Usage(why)) = read(line, &[]) else { panic!("{line}") };
            assert!(why.contains(part), "{line}: {why}");
        }
        assert_eq!(read("-h", &[]), Err(Refusal::Help));
        assert_eq!(read("--version", &[]), Err(Refusal::Version));
    }
}
