//! `loadline wrktest`: the well-known script that climbs through concurrencies with wrk and draws with gnuplot.
//!
//! The same words, levels, file names and columns, so that old `.dat` files and new ones can be laid side by side, without wrk, awk,
//! join or gnuplot. Action the script gets wrong is put right: an answer with an error status is no success, a mean of minutes is a
//! number, levels are joined whatever their order, and a level that could not be measured is told instead of left out in silence.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use measure::{Ending, Summary};
use plan::{Spelling, plainly};
use report::chart::sweep::{Ladder, SweepCurve, SweepPoint, qps_ttlb, success_rate};
use report::dat::{self, DatRow};
use report::png::Density;
use report::wrk::{Facts, Formulas, SocketErrors, completed, latency};

use crate::dialect::{DONE, Dialect, Support, Use};
use crate::getopt::{self, Item, Opt, Order, Takes, both, long};
use crate::host::{Host, Verbosity};
use crate::session::{Session, remarks};
use crate::url::Url;
use crate::wrk::options::{self as of_wrk, Flavour};

/// The script.
pub const DIALECT: Dialect = Dialect { name: "wrktest", about: "the sweep script around wrk and gnuplot: table, charts, diff", main, uses };

/// The script's levels.
const LEVELS: [u64; 10] = [200, 500, 1_000, 3_000, 5_000, 10_000, 15_000, 20_000, 25_000, 50_000];
/// How long it measures each.
const DURATION_S: u64 = 300;
/// Beyond this, an answer is a timeout.
const TIMEOUT_S: u64 = 30;
/// So many threads for each core.
const THREADS_A_CORE: u64 = 3;

const OPTIONS: &[Opt] = &[
    both('h', "help", Takes::Nothing),
    both('n', "name", Takes::Value),
    both('d', "dir", Takes::Value),
    long("duration", Takes::Value),
    long("levels", Takes::Value),
    both('q', "quiet", Takes::Nothing),
    long("faithful", Takes::Nothing),
];

const USAGE: &str = "\
Usage: wrktest [-h] [-n NAME] [-d DIR] URL
       wrktest [-d DIR] diff FILE1.dat FILE2.dat

  URL              Measure this address at 200 to 50000 concurrent connections
  diff             Draw two of its results into the same charts

  -h               This text
  -n NAME          Begin the names of all files with this (apiserver)
  -d DIR           Write files into this directory (_output/wrk)

  --duration TIME  Measure each level for this long (300s)
  --levels N,N,…   Measure at these levels instead
  -q, --quiet      No remarks of loadline's
  --faithful       Use the script's formulas, with their errors

  To all that 'loadline sweep' can do beyond this: loadline sweep --help
";

/// The command line, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Options {
    name: String,
    dir: PathBuf,
    duration_s: u64,
    levels: Vec<u64>,
    formulas: Formulas,
    verbosity: Verbosity,
    action: Action,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Action {
    Help,
    Measure(String),
    Diff(String, String),
}

/// Reads the words; an error is what is wrong with them.
fn read(words: &[OsString]) -> Result<Options, Option<String>> {
    let mut read = Options {
        name: "apiserver".to_owned(),
        dir: PathBuf::from("_output/wrk"),
        duration_s: DURATION_S,
        levels: LEVELS.to_vec(),
        formulas: Formulas::True,
        verbosity: Verbosity::Normal,
        action: Action::Help,
    };
    let mut operands = Vec::new();
    let mut help = false;
    for item in getopt::read(OPTIONS, Order::Permute, words) {
        let (opt, value) = match item {
            Item::Operand(word) => {
                operands.push(word);
                continue;
            }
            Item::Mistake(mistake) => return Err(Some(mistake)),
            Item::Option { opt, value } => (opt.long.unwrap_or_default(), value.unwrap_or_default()),
        };
        match opt {
            "name" if value.is_empty() || value.contains('/') => {
                return Err(Some(format!("-n '{value}' is not the beginning of a file's name")));
            }
            "name" => read.name = value,
            "dir" => read.dir = PathBuf::from(value),
            "duration" => {
                read.duration_s = of_wrk::time(&value)
                    .filter(|secs| *secs > 0)
                    .ok_or(Some(format!("--duration '{value}' is not a time such as 10s or 5m")))?;
            }
            "levels" => {
                let levels: Option<Vec<u64>> =
                    value.split(',').map(|level| of_wrk::metric(level.trim()).filter(|level| *level > 0)).collect();
                read.levels = levels.ok_or(Some(format!("--levels '{value}' is not a list of numbers such as 200,500,1k")))?;
            }
            "quiet" => read.verbosity = Verbosity::Quiet,
            "faithful" => read.formulas = Formulas::Original,
            _ => help = true,
        }
    }
    read.action = match operands.as_slice() {
        _ if help => Action::Help,
        [diff, a, b] if diff == "diff" => Action::Diff(a.clone(), b.clone()),
        [diff, ..] if diff == "diff" => return Err(Some("diff takes two files".to_owned())),
        [url] => Action::Measure(url.clone()),
        [] => return Err(None),
        [_, more, ..] => return Err(Some(format!("'{more}' is one word too many"))),
    };
    Ok(read)
}

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    let options = match read(words) {
        Ok(options) => options,
        // The script ends with 0 whatever it was told.
        Err(mistake) => {
            if let Some(mistake) = mistake {
                host.complain(&format!("wrktest: {mistake}"));
            }
            let _ = host.print(USAGE);
            return DONE;
        }
    };
    let done = match &options.action {
        Action::Help => host.print(USAGE).map(|()| DONE).map_err(|why| format!("standard output: {}", plainly(&why))),
        Action::Measure(url) => climb(&options, url, host),
        Action::Diff(a, b) => diff(&options, a, b, host).map(|()| DONE),
    };
    done.unwrap_or_else(|why| {
        host.complain(&format!("wrktest: {why}"));
        FAILED
    })
}

/// How it ends when something is wrong, when a level could not be measured, and when it was interrupted.
const FAILED: u8 = 1;
const NOT_CARRIED_OUT: u8 = 3;
const INTERRUPTED: u8 = 130;

/// Measures level by level; the data file is whole after each.
fn climb(options: &Options, url: &str, host: &dyn Host) -> Result<u8, String> {
    let session = Session::new(host, options.verbosity);
    let runner = host.runner();
    let threads = THREADS_A_CORE * u64::from(engine::machine::cores().get());
    let file = |ending: &str| options.dir.join(format!("{}{ending}", options.name));
    make(host, &options.dir)?;
    let data = file(".dat");
    write(host, &data, b"")?;
    let mut rows: Vec<DatRow> = Vec::new();
    let mut remarks_of_all: Vec<(u64, String)> = Vec::new();
    let mut exit = DONE;
    for level in &options.levels {
        let line = format!("-t{threads} -d{}s -T{TIMEOUT_S}s --latency -c {level} {url}", options.duration_s);
        say(host, &format!("Running wrk command: wrk {line}\n"))?;
        let load = load_of(&line, *level)?;
        let plan = session.decide(load.draft()).map_err(|mistakes| mistakes.spelt(Spelling::Flags))?;
        let measured = session.stop().and_then(|stop| {
            session.measure(&plan, Some(load.timeout()), &stop, &mut [], |watch, stop| runner.prepare(&plan)?.run(watch, stop))
        });
        let run = match measured {
            Ok(run) => run,
            Err(error) => {
                // What cannot be opened at this level cannot be opened at a higher one.
                host.complain(&format!("wrktest: at {level} connections: {}", error.spelt(Spelling::Flags)));
                exit = NOT_CARRIED_OUT;
                break;
            }
        };
        remarks_of_all.extend(remarks(&run, None).into_iter().map(|remark| (*level, remark)));
        rows.extend(row(&run, *level, &Facts { formulas: options.formulas, ..load.facts() }));
        write(host, &data, text(&rows, options.formulas).as_bytes())?;
        if run.ended.how == Ending::Interrupted {
            exit = INTERRUPTED;
            break;
        }
    }
    session.remark_on_levels(&remarks_of_all);
    if rows.is_empty() {
        return Err("no level could be measured".to_owned());
    }
    say(host, &format!("\nNow plot according to {}\n", magenta(&data)))?;
    let curve = SweepCurve {
        name: options.name.clone(),
        target: Some(url.to_owned()),
        level_seconds: Some(options.duration_s as f64),
        threads: u32::try_from(threads).ok(),
        ladder: Ladder::Users,
        points: rows.iter().map(SweepPoint::from).collect(),
        fit: None,
    };
    for (ending, chart, name) in [("_qps_ttlb.png", qps_ttlb(&curve), "QPS"), ("_successrate.png", success_rate(&curve), "Success rate")] {
        write(host, &file(ending), &chart.png(Density::DOCUMENT))?;
        say(host, &format!("{name} graphic file is: {}\n", magenta(&file(ending))))?;
    }
    Ok(exit)
}

/// The load of one level, by wrk's own words; fewer connections than threads are no mistake here.
fn load_of(line: &str, level: u64) -> Result<of_wrk::Options, String> {
    let line = line.replacen(&format!("-c {level}"), "-c1M", 1);
    let words: Vec<OsString> = line.splitn(6, ' ').map(OsString::from).collect();
    let (_, load) = of_wrk::read(Flavour::Wrk, &words);
    let load = load.map_err(|refusal| refusal.complaint.unwrap_or_else(|| "the URL or a number cannot be read".to_owned()))?;
    Ok(of_wrk::Options { connections: level, threads: load.threads.min(level), ..load })
}

/// One level's row; `None` where the script's own formula has none.
fn row(run: &Summary, level: u64, facts: &Facts) -> Option<DatRow> {
    let latency = latency(run, facts);
    let ttlb_ms = (latency.count() > 0).then(|| latency.mean() / 1_000.0);
    let requests = completed(run);
    let success_percent = match facts.formulas {
        Formulas::True => run.requests.success_percent(),
        Formulas::Original if requests == 0 => return None,
        Formulas::Original => {
            let SocketErrors { connect, read, write, timeout } = SocketErrors::of(run, facts.timeout);
            (requests as f64 - (connect + read + write + timeout) as f64) * 100.0 / requests as f64
        }
    };
    Some(DatRow { level: level as f64, qps: run.qps, ttlb_ms, success_percent })
}

/// The data file; the script's own formula leaves a mean of minutes empty.
fn text(rows: &[DatRow], formulas: Formulas) -> String {
    let kept = |row: &DatRow| match formulas {
        Formulas::Original => DatRow { ttlb_ms: row.ttlb_ms.filter(|ms| *ms < 51_000.0), ..*row },
        Formulas::True => *row,
    };
    dat::write(&rows.iter().map(kept).collect::<Vec<_>>())
}

/// Draws two results into the same charts. Says nothing where it succeeds.
fn diff(options: &Options, a: &str, b: &str, host: &dyn Host) -> Result<(), String> {
    let (a, b) = (curve(host, a)?, curve(host, b)?);
    make(host, &options.dir)?;
    for chart in report::diff::charts(&a, &b).into_iter().filter(|chart| chart.ending.ends_with(".png")) {
        write(host, &options.dir.join(format!("{}_{}{}", a.name, b.name, chart.ending)), &chart.bytes)?;
    }
    Ok(())
}

fn curve(host: &dyn Host, path: &str) -> Result<SweepCurve, String> {
    let name = Path::new(path).file_name().map_or_else(String::new, |name| name.to_string_lossy().replace(".dat", ""));
    let text = host.files().read_text(path).map_err(|why| format!("'{path}' cannot be read: {}", plainly(&why)))?;
    report::document::read_curve(&name, &text).map_err(|why| format!("'{path}': {why}"))
}

fn make(host: &dyn Host, dir: &Path) -> Result<(), String> {
    host.files().make_directory(dir).map_err(|why| format!("'{}' cannot be made: {}", dir.display(), plainly(&why)))
}

fn write(host: &dyn Host, path: &Path, bytes: &[u8]) -> Result<(), String> {
    host.files().replace(path, bytes).map_err(|why| format!("'{}' cannot be written: {}", path.display(), plainly(&why)))
}

fn say(host: &dyn Host, text: &str) -> Result<(), String> {
    host.print(text).map_err(|why| format!("standard output cannot be written: {}", plainly(&why)))
}

/// As the script shows paths.
fn magenta(path: &Path) -> String {
    format!("\x1b[35m{}\x1b[0m", path.display())
}

/// What the words ask for, without doing it.
fn uses(words: &[OsString], _host: &dyn Host) -> Vec<Use> {
    let same = |what: String| Use { what, support: Support::Same };
    match read(words) {
        Err(why) => vec![Use {
            what: "the command line".to_owned(),
            support: Support::Refused(why.unwrap_or_else(|| "no URL and no files: usage is shown".to_owned())),
        }],
        Ok(Options { action: Action::Help, .. }) => vec![same("-h".to_owned())],
        Ok(Options { action: Action::Diff(a, b), .. }) => vec![same(format!("diff {a} {b}"))],
        Ok(options @ Options { action: Action::Measure(_), .. }) => {
            let Action::Measure(url) = &options.action else { return Vec::new() };
            let success = "an answer with status 400 or above is no success (--faithful: as in the script)".to_owned();
            vec![
                same(format!("-n {}", options.name)),
                same(format!("-d {}", options.dir.display())),
                match Url::read(url) {
                    Some(_) => same(url.clone()),
                    None => Use { what: url.clone(), support: Support::Refused("give a URL with scheme and host".to_owned()) },
                },
                Use { what: "column 4".to_owned(), support: Support::Differs(success) },
            ]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Options, Option<String>> {
        read(&line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn words_are_the_script_s_and_a_few_of_ours() {
        let read = words("-n api -d /tmp/x http://h/").unwrap();
        assert_eq!((read.name.as_str(), read.dir.as_path(), read.duration_s), ("api", Path::new("/tmp/x"), 300));
        assert_eq!((read.levels.len(), read.action), (10, Action::Measure("http://h/".to_owned())));
        let read = words("--duration 2s --levels 1,2k http://h/").unwrap();
        assert_eq!((read.duration_s, read.levels), (2, vec![1, 2_000]));
        assert_eq!(words("-d x diff a.dat b.dat").unwrap().action, Action::Diff("a.dat".to_owned(), "b.dat".to_owned()));
        assert_eq!(words("-h").unwrap().action, Action::Help);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, part) in [
            ("-x http://h/", "invalid option -- 'x'"),
            ("diff a.dat", "diff takes two files"),
            ("http://h/ more", "'more'"),
            ("--duration 0 http://h/", "--duration '0'"),
            ("--levels 1,,2 http://h/", "--levels '1,,2'"),
            ("-n a/b http://h/", "-n 'a/b'"),
        ] {
            let why = words(line).unwrap_err().unwrap();
            assert!(why.contains(part), "{line}: {why}");
        }
        assert_eq!(words(""), Err(None));
    }

    #[test]
    fn a_level_below_the_threads_is_measured_all_the_same() {
        let load = load_of("-t6 -d2s -T30s --latency -c 3 http://h/a b", 3).unwrap_err();
        assert!(load.contains("invalid URL"), "{load}");
        let load = load_of("-t6 -d2s -T30s --latency -c 3 http://h/", 3).unwrap();
        assert_eq!((load.connections, load.threads, load.timeout_s), (3, 3, 30));
    }

    #[test]
    fn an_error_status_is_no_success_unless_the_script_s_formula_is_asked_for() {
        let (_, run) = measure::fixtures::summaries().into_iter().find(|(name, _)| *name == "failures_of_every_side").unwrap();
        let facts = load_of("-t6 -d2s -T30s --latency -c 3 http://h/", 3).unwrap().facts();
        let truth = row(&run, 3, &facts).unwrap();
        assert!(truth.success_percent < 100.0 && truth.success_percent >= 0.0);
        let original = row(&run, 3, &Facts { formulas: Formulas::Original, ..facts }).unwrap();
        assert!(original.success_percent > truth.success_percent, "{original:?} {truth:?}");
    }
}
