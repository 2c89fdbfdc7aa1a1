//! What wrk's or wrk2's words ask for, read as they read them.
//!
//! Numbers are whole, with an SI unit behind; times are whole seconds, with a unit of time behind. Whatever cannot be read ends in
//! the usage text on standard output and the number 1, in the order in which the originals look.

use std::ffi::OsString;

use crate::getopt::{self, Item, Opt, Order, Takes, both, long, short};
use crate::host::Verbosity;
use crate::url::Url;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// wrk.
    Wrk,
    /// wrk2: with a rate.
    Wrk2,
}

/// The command line, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub flavour: Flavour,
    pub url: Url,
    /// What stands behind the URL: for the script.
    pub arguments: Vec<String>,
    pub threads: u64,
    pub connections: u64,
    pub duration_s: u64,
    pub timeout_s: u64,
    pub script: Option<String>,
    /// Lines as given.
    pub header: Vec<String>,
    pub latency: bool,
    pub uncorrected: bool,
    /// Requests a second over all connections; there in wrk2.
    pub rate: Option<u64>,
    pub faithful: bool,
    pub verbosity: Verbosity,
}

/// Why nothing can be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// For standard error.
    pub complaint: Option<String>,
    /// Whether the usage text follows, on standard output.
    pub usage: bool,
}

impl Flavour {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrk => "wrk",
            Self::Wrk2 => "wrk2",
        }
    }

    /// Its options, and the two of ours.
    pub fn options(self) -> Vec<Opt> {
        let mut options = vec![
            both('c', "connections", Takes::Value),
            both('d', "duration", Takes::Value),
            both('t', "threads", Takes::Value),
            both('s', "script", Takes::Value),
            both('H', "header", Takes::Value),
            both('L', "latency", Takes::Nothing),
            both('T', "timeout", Takes::Value),
            both('v', "version", Takes::Nothing),
            short('r', Takes::Nothing),
            long("help", Takes::Nothing),
            both('q', "quiet", Takes::Nothing),
            long("faithful", Takes::Nothing),
        ];
        if self == Self::Wrk2 {
            options.extend([
                both('R', "rate", Takes::Value),
                both('U', "u_latency", Takes::Nothing),
                both('B', "batch_latency", Takes::Nothing),
            ]);
        }
        options
    }

    /// What `-v` prints: the version whose behaviour this is, and who does it.
    pub fn version(self) -> String {
        let version = match self {
            Self::Wrk => "4.2.0",
            Self::Wrk2 => "4.0.0",
        };
        format!("wrk {version} [epoll] by loadline {}\n", env!("CARGO_PKG_VERSION"))
    }

    /// What is shown to whoever made a mistake.
    pub fn usage(self) -> String {
        let rate = match self {
            Self::Wrk => "",
            Self::Wrk2 => "    -R, --rate        <N>  Requests a second, over all connections (required)\n",
        };
        let distribution = match self {
            Self::Wrk => "        --latency          Print percentiles of the latency\n",
            Self::Wrk2 => {
                "    -L, --latency          Print the whole distribution of the latency\n    -U, --u_latency        Print it also as if requests had been due when they were sent\n"
            }
        };
        format!(
            "\
Usage: {} <options> <url>
  Options:
    -c, --connections <N>  Connections to keep open
    -d, --duration    <T>  How long to test
    -t, --threads     <N>  Threads to use

    -s, --script      <S>  Lua script to load
    -H, --header      <H>  Header to add to requests
{distribution}        --timeout     <T>  Count slower answers as timeouts
{rate}    -v, --version          Print the version

    -q, --quiet            Print the report only, without remarks of loadline's
        --faithful         Use the original's formulas, with their errors

  Numbers may have an SI unit (1k, 1M, 1G)
  Times may have a unit of time (2s, 2m, 2h)
",
            self.name()
        )
    }
}

/// The refusal that is only the usage text.
const USAGE: Refusal = Refusal { complaint: None, usage: true };

/// Reads the words behind the name. Whether the version was asked for is told apart: it is printed whatever else is wrong.
pub fn read(flavour: Flavour, words: &[OsString]) -> (bool, Result<Options, Refusal>) {
    let mut version = false;
    let options = read_on(flavour, words, &mut version);
    (version, options)
}

fn read_on(flavour: Flavour, words: &[OsString], version: &mut bool) -> Result<Options, Refusal> {
    let complain = |complaint: String| Refusal { complaint: Some(complaint), usage: true };
    let (mut threads, mut connections, mut duration_s, mut timeout_s) = (2, 10, 10, 2);
    let (mut script, mut rate, mut header) = (None, None, Vec::new());
    let (mut latency, mut uncorrected, mut faithful) = (false, false, false);
    let mut verbosity = Verbosity::Normal;
    let mut operands = Vec::new();
    for item in getopt::read(&flavour.options(), Order::Permute, words) {
        let (opt, value) = match item {
            Item::Operand(word) => {
                operands.push(word);
                continue;
            }
            Item::Mistake(mistake) => return Err(complain(format!("{}: {mistake}", flavour.name()))),
            Item::Option { opt, value } => (opt, value.unwrap_or_default()),
        };
        match (opt.short, opt.long) {
            (Some('c'), _) => connections = metric(&value).ok_or(USAGE)?,
            (Some('t'), _) => threads = metric(&value).ok_or(USAGE)?,
            (Some('d'), _) => duration_s = time(&value).ok_or(USAGE)?,
            (Some('T'), _) => timeout_s = time(&value).ok_or(USAGE)?,
            (Some('R'), _) => rate = Some(metric(&value).ok_or(USAGE)?),
            (Some('s'), _) => script = Some(value),
            (Some('H'), _) => header.push(value),
            (Some('L'), _) => latency = true,
            (Some('U'), _) => (latency, uncorrected) = (true, true),
            (Some('v'), _) => *version = true,
            (Some('q'), _) => verbosity = Verbosity::Quiet,
            (Some('B'), _) => {
                return Err(Refusal {
                    complaint: Some("wrk2: --batch_latency is not supported: every answer of a batch is recorded; leave it out".to_owned()),
                    usage: false,
                });
            }
            (None, Some("faithful")) => faithful = true,
            _ => return Err(USAGE),
        }
    }
    let mut operands = operands.into_iter();
    let url = operands.next().filter(|_| threads > 0 && duration_s > 0).ok_or(USAGE)?;
    let url = Url::read(&url).ok_or_else(|| complain(format!("invalid URL: {url}")))?;
    if connections == 0 || connections < threads {
        return Err(complain("number of connections must be >= threads".to_owned()));
    }
    if flavour == Flavour::Wrk2 && rate.unwrap_or(0) == 0 {
        return Err(complain("Throughput MUST be specified with the --rate or -R option".to_owned()));
    }
    Ok(Options {
        flavour,
        url,
        arguments: operands.collect(),
        threads,
        connections,
        duration_s,
        timeout_s,
        script,
        header,
        latency,
        uncorrected,
        rate,
        faithful,
        verbosity,
    })
}

/// `400`, `10k`, `1M`: the letters' case does not matter, so `1m` is a million.
pub fn metric(text: &str) -> Option<u64> {
    scaled(text, &[("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000), ("t", 1_000_000_000_000), ("p", 1_000_000_000_000_000)])
}

/// Seconds: `30`, `30s`, `2m`, `1h`.
pub fn time(text: &str) -> Option<u64> {
    scaled(text, &[("s", 1), ("m", 60), ("h", 3_600)])
}

/// As `scanf` reads `%u%2s`: a whole number, blanks, and up to two letters of a unit.
fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim_start();
    let text = text.strip_prefix('+').unwrap_or(text);
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return None;
    }
    // What does not fit is more than any machine has, and the plan says so.
    let number: u64 = number.parse().unwrap_or(u64::MAX);
    let unit: String = unit.trim_start().chars().take_while(|letter| !letter.is_whitespace()).take(2).collect();
    if unit.is_empty() {
        return Some(number);
    }
    let (_, scale) = units.iter().find(|(name, _)| unit.eq_ignore_ascii_case(name))?;
    Some(number.saturating_mul(*scale))
}

/// The name and value of a header line; `None` for a line that wrk passes over, which is one without `: `.
pub fn header(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    value.strip_prefix(' ').map(|value| (name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split('|').filter(|word| !word.is_empty()).map(OsString::from).collect()
    }

    fn wrk(line: &str) -> Options {
        read(Flavour::Wrk, &words(line)).1.unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"))
    }

    fn refused(flavour: Flavour, line: &str) -> Refusal {
        read(flavour, &words(line)).1.expect_err(line)
    }

    #[test]
    fn words_are_read_as_wrk_reads_them() {
        let options = wrk("http://h/|-c1k|-t|12|--dur=2m|--latency|-T30s|-Ha: b|--header|c: d|-sx.lua|--|-y|z");
        assert_eq!((options.connections, options.threads, options.duration_s, options.timeout_s), (1_000, 12, 120, 30));
        assert_eq!((options.header.len(), options.latency, options.script.as_deref()), (2, true, Some("x.lua")));
        assert_eq!(options.arguments, ["-y", "z"]);
        let options = wrk("http://h/");
        assert_eq!((options.connections, options.threads, options.duration_s, options.timeout_s), (10, 2, 10, 2));
    }

    #[test]
    fn numbers_and_times_are_whole_with_units() {
        for (text, value) in [
            ("7", Some(7)),
            ("1m", Some(1_000_000)),
            ("3 K", Some(3_000)),
            ("1.5k", None),
            ("k", None),
            ("-1", None),
            ("2kk", None),
            ("1P", Some(1_000_000_000_000_000)),
            ("99999999999999999999", Some(u64::MAX)),
            ("0x10", None),
            ("1k m", Some(1_000)),
        ] {
            assert_eq!(metric(text), value, "{text}");
        }
        for (text, value) in [("90", Some(90)), ("2M", Some(120)), ("1h", Some(3_600)), ("100ms", None), ("1d", None), ("", None)] {
            assert_eq!(time(text), value, "{text}");
        }
    }

    #[test]
    fn mistakes_end_in_usage_with_a_word_where_wrk_has_one() {
        for line in ["", "-t0|http://h/", "-d0|http://h/", "-c1.5k|http://h/", "-d5ms|http://h/", "--help|http://h/", "-r|http://h/", "-L"]
        {
            assert_eq!(refused(Flavour::Wrk, line), USAGE, "{line}");
        }
        for (line, complaint) in [
            ("-h|http://h/", "wrk: invalid option -- 'h'"),
            ("--nope|http://h/", "wrk: unrecognized option '--nope'"),
            ("http://h/|-c", "wrk: option requires an argument -- 'c'"),
            ("h:80/x", "invalid URL: h:80/x"),
            ("http://", "invalid URL: http://"),
            ("http://h:x/", "invalid URL: http://h:x/"),
            ("-c1|http://h/", "number of connections must be >= threads"),
            ("-c0|http://h/", "number of connections must be >= threads"),
            ("-R5|http://h/", "wrk: invalid option -- 'R'"),
        ] {
            let refusal = refused(Flavour::Wrk, line);
            assert_eq!((refusal.complaint.as_deref(), refusal.usage), (Some(complaint), true), "{line}");
        }
    }

    #[test]
    fn wrk2_wants_a_rate() {
        assert!(refused(Flavour::Wrk2, "http://h/").complaint.unwrap().starts_with("Throughput MUST be specified"));
        let options = read(Flavour::Wrk2, &words("-R2k|-U|http://h/")).1.unwrap();
        assert_eq!((options.rate, options.latency, options.uncorrected), (Some(2_000), true, true));
        assert!(refused(Flavour::Wrk2, "-R1|-B|http://h/").complaint.unwrap().contains("--batch_latency"));
    }

    #[test]
    fn the_version_is_told_though_usage_follows() {
        assert_eq!(read(Flavour::Wrk, &words("-v")), (true, Err(USAGE)));
    }

    #[test]
    fn a_header_without_colon_and_blank_is_passed_over() {
        assert_eq!(header("A: b: c"), Some(("A", "b: c")));
        assert_eq!((header("A:b"), header("A"), header("A: ")), (None, None, Some(("A", ""))));
    }
}
