//! `loadline vegeta`: its command line, its lists of targets, its results and reports.
//!
//! vegeta is four small programs around a stream of results: `attack` writes it, `encode` rewrites it, `report` and `plot` read it.
//! People keep such streams and pipe them between machines, so each half works with the real other half: gob, JSON and CSV are
//! written and read as the original does. An attack is open load (closed with `-rate=0`), so a result's latency counts from when its
//! request fell due, and no worker that was busy hides a wait.
//!
//! What the attack measured besides (its own standing, failures by class and side) goes to standard error, and `-quiet` keeps it
//! there to itself.

mod attack;
mod results;
mod run;
mod shot;
mod targets;

use std::ffi::OsString;
use std::io;
use std::num::NonZeroU32;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use engine::Urgency;
use plan::{Spelling, plainly};
use report::vegeta::{Buckets, Hit, Metrics, Plot};

use crate::dialect::{DONE, Dialect, Support, Use};
use crate::goflag::{self, Flag, Mistake, switch, valued};
use crate::host::{Host, Verbosity};
use attack::{Options, Refusal};
use results::{Encoding, Results, Writer};

/// vegeta.
pub const DIALECT: Dialect = Dialect { name: "vegeta", about: "open load on a list of targets; results, reports and plots", main, uses };

/// How vegeta ends when something went wrong, and when the command line did.
const FAILED: u8 = 1;
const MISUSED: u8 = 2;

const GLOBAL: &[Flag] = &[
    valued("cpus", "int", "Threads to use (all cores)"),
    valued("profile", "string", "Not supported"),
    switch("version", "Print the version"),
];

const ENCODE: &[Flag] =
    &[valued("to", "string", "Encoding to write: csv, gob or json (json)"), valued("output", "string", "File to write (stdout)")];

const REPORT: &[Flag] = &[
    valued("type", "string", "Report: text, json, hist[buckets] or hdrplot (text)"),
    valued("every", "duration", "Report so often, not only at the end (0)"),
    valued("output", "string", "File to write (stdout)"),
    valued("buckets", "string", "Bounds of the buckets: \"[0,1ms,10ms]\""),
];

const PLOT: &[Flag] = &[
    valued("title", "string", "Title of the page (Vegeta Plot)"),
    valued("threshold", "int", "Thin series to N points (4000)"),
    valued("output", "string", "File to write (stdout)"),
];

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    let global = match goflag::read(GLOBAL, words) {
        Ok(read) => read,
        Err(mistake) => return misused(host, mistake, &usage()),
    };
    let mut cpus = None;
    for (name, value) in &global.flags {
        match *name {
            "cpus" => match goflag::whole::<u32>("cpus", value) {
                Ok(number) => cpus = Some(number),
                Err(mistake) => return misused(host, mistake, &usage()),
            },
            "profile" => return failed(host, "-profile is not supported: profile loadline with perf"),
            _ if value == "true" => {
                return print(
                    host,
                    &format!(
                        "Version: v12.12.0 by loadline {}\nCommit: \nRuntime: rust {}/{}\nDate: \n",
                        env!("CARGO_PKG_VERSION"),
                        std::env::consts::OS,
                        std::env::consts::ARCH
                    ),
                );
            }
            _ => {}
        }
    }
    let Some((command, _)) = global.operands.split_first() else {
        host.complain(usage().trim_end());
        return FAILED;
    };
    let words = &words[words.len() - global.operands.len() + 1..];
    match command.as_str() {
        "attack" => attack(words, cpus, host),
        "encode" => encode(words, host),
        "report" => report(words, host),
        "plot" => plot(words, host),
        "dump" => failed(host, "vegeta dump has been deprecated and succeeded by the vegeta encode command"),
        _ => failed(host, &format!("Unknown command: {command}")),
    }
}

fn usage() -> String {
    let mut text = format!("Usage: vegeta [global flags] <command> [command flags]\n\nglobal flags:\n{}", goflag::list(GLOBAL));
    for (name, flags) in [("attack", attack::FLAGS), ("encode", ENCODE), ("plot", PLOT), ("report", REPORT)] {
        text += &format!("\n{name} command:\n{}", goflag::list(flags));
    }
    text + "\nexamples:\n  echo \"GET http://localhost/\" | vegeta attack -duration=5s | tee results.bin | vegeta report\n  vegeta report -type=json results.bin > metrics.json\n  vegeta plot results.bin > plot.html\n"
}

/// Ends as the package `flag` ends a program: with the mistake and the flags on standard error.
fn misused(host: &dyn Host, mistake: Mistake, usage: &str) -> u8 {
    match mistake {
        Mistake::Help => {
            host.complain(usage.trim_end());
            DONE
        }
        Mistake::Wrong(why) => {
            host.complain(&format!("{why}\n{}", usage.trim_end()));
            MISUSED
        }
    }
}

fn usage_of(command: &str, flags: &[Flag]) -> String {
    format!("Usage of vegeta {command}:\n{}", goflag::list(flags))
}

fn failed(host: &dyn Host, why: &str) -> u8 {
    if why != HUNG_UP {
        host.complain(&format!("vegeta: {why}"));
    }
    FAILED
}

/// Whoever read the output has enough, and wants no words on it.
const HUNG_UP: &str = "";

/// Why `what` could not be written.
fn unwritten(what: &str, why: &io::Error) -> String {
    if why.kind() == io::ErrorKind::BrokenPipe { HUNG_UP.to_owned() } else { format!("{what} cannot be written: {}", plainly(why)) }
}

fn print(host: &dyn Host, text: &str) -> u8 {
    match host.print(text) {
        Ok(()) => DONE,
        Err(why) => failed(host, &format!("standard output cannot be written: {}", plainly(&why))),
    }
}

fn exit_code(host: &dyn Host, done: Result<(), String>) -> u8 {
    done.map_or_else(|why| failed(host, &why), |()| DONE)
}

fn attack(words: &[OsString], cpus: Option<u32>, host: &dyn Host) -> u8 {
    match Options::read(words) {
        Ok(options) => exit_code(host, run::attack(&options, cpus.and_then(NonZeroU32::new), host)),
        Err(Refusal::Misused(mistake)) => misused(host, mistake, &attack::usage()),
        Err(Refusal::Failed(why)) => failed(host, &why),
    }
}

fn encode(words: &[OsString], host: &dyn Host) -> u8 {
    let read = match goflag::read(ENCODE, words) {
        Ok(read) => read,
        Err(mistake) => return misused(host, mistake, &usage_of("encode", ENCODE)),
    };
    let to = read.last("to").unwrap_or("json");
    let Some(encoding) = Encoding::named(to) else { return failed(host, &format!("encode: unknown encoding {to:?}")) };
    let encoded = || -> Result<(), String> {
        let results = Results::open(&read.operands, host)?;
        let mut writer = Writer::new(encoding, results::create(read.last("output").unwrap_or("stdout"), host)?);
        each(host, results, None, &mut |hit| match hit {
            Some(hit) => writer.write(&hit).map_err(|why| unwritten("the results", &why)),
            None => Ok(()),
        })?;
        writer.flush().map_err(|why| unwritten("the results", &why))
    };
    exit_code(host, encoded())
}

/// What a report is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
    Histogram,
    Hdrplot,
}

fn report(words: &[OsString], host: &dyn Host) -> u8 {
    let read = match goflag::read(REPORT, words) {
        Ok(read) => read,
        Err(mistake) => return misused(host, mistake, &usage_of("report", REPORT)),
    };
    let every = match goflag::time("every", read.last("every").unwrap_or("0")) {
        Ok(every) => u64::try_from(every).ok().filter(|every| *every > 0).map(Duration::from_nanos),
        Err(mistake) => return misused(host, mistake, &usage_of("report", REPORT)),
    };
    let written = || -> Result<(), String> {
        let (kind, buckets) = kind(read.last("type").unwrap_or("text"), read.last("buckets").unwrap_or_default())?;
        let results = Results::open(&read.operands, host)?;
        let output = read.last("output").unwrap_or("stdout");
        let mut out = results::create(output, host)?;
        let mut metrics = Metrics::with_buckets(buckets);
        let mut write = |metrics: &Metrics, clear: bool| {
            let clear = if clear && output == "stdout" { CLEAR } else { "" };
            let text = match kind {
                Kind::Text => metrics.text(),
                Kind::Json => metrics.json(),
                Kind::Histogram => metrics.histogram(),
                Kind::Hdrplot => metrics.hdrplot(),
            };
            let done = out.write_all(format!("{clear}{text}").as_bytes()).and_then(|()| out.flush());
            done.map_err(|why| unwritten("the report", &why))
        };
        each(host, results, every, &mut |hit| match hit {
            Some(hit) => {
                metrics.add(&hit);
                Ok(())
            }
            None => write(&metrics, true),
        })?;
        write(&metrics, every.is_some())
    };
    exit_code(host, written())
}

/// Clears a terminal.
const CLEAR: &str = "\x1b[2J\x1b[0;0H";

fn kind(kind: &str, buckets: &str) -> Result<(Kind, Option<Buckets>), String> {
    let given = || if buckets.is_empty() { Ok(None) } else { Buckets::parse(buckets).map(Some) };
    Ok(match kind {
        "text" => (Kind::Text, None),
        "json" => (Kind::Json, given()?),
        "hdrplot" => (Kind::Hdrplot, None),
        "plot" => return Err("The plot reporter has been deprecated and succeeded by the vegeta plot command".to_owned()),
        _ => match kind.strip_prefix("hist") {
            Some(own) => {
                let buckets = if buckets.is_empty() { own } else { buckets };
                (Kind::Histogram, Some(Buckets::parse(buckets)?))
            }
            None => return Err(format!("unknown report type: {kind:?}")),
        },
    })
}

fn plot(words: &[OsString], host: &dyn Host) -> u8 {
    let read = match goflag::read(PLOT, words) {
        Ok(read) => read,
        Err(mistake) => return misused(host, mistake, &usage_of("plot", PLOT)),
    };
    let threshold = match goflag::whole::<i64>("threshold", read.last("threshold").unwrap_or("4000")) {
        Ok(threshold) => usize::try_from(threshold).unwrap_or(0),
        Err(mistake) => return misused(host, mistake, &usage_of("plot", PLOT)),
    };
    let plotted = || -> Result<(), String> {
        let results = Results::open(&read.operands, host)?;
        let mut out = results::create(read.last("output").unwrap_or("stdout"), host)?;
        let mut plot = Plot::default();
        each(host, results, None, &mut |hit| {
            if let Some(hit) = hit {
                plot.add(&hit);
            }
            Ok(())
        })?;
        let page = plot.html(read.last("title").unwrap_or("Vegeta Plot"), threshold);
        out.write_all(&page).and_then(|()| out.flush()).map_err(|why| unwritten("the page", &why))
    };
    exit_code(host, plotted())
}

/// Hands over every result, and nothing once every `every`. Ctrl-C ends the results, not what is made of them.
///
/// Reading may wait for a pipe that says nothing for hours, so it has its own thread.
fn each(
    host: &dyn Host,
    mut results: Results,
    every: Option<Duration>,
    take: &mut dyn FnMut(Option<Hit>) -> Result<(), String>,
) -> Result<(), String> {
    /// So many results are read ahead, at most.
    const AHEAD: usize = 1_024;
    /// How often an interruption is looked for.
    const LOOK: Duration = Duration::from_millis(100);
    let stop = host.stop(Verbosity::Quiet).map_err(|error| error.spelt(Spelling::Flags))?;
    let (sender, read) = sync_channel(AHEAD);
    thread::Builder::new()
        .name("results".to_owned())
        .spawn(move || {
            loop {
                let next = results.next();
                let more = matches!(next, Ok(Some(_)));
                if sender.send(next).is_err() || !more {
                    return;
                }
            }
        })
        .map_err(|why| plainly(&why))?;
    let mut due = every.map(|every| Instant::now() + every);
    while stop.urgency() == Urgency::None {
        if let (Some(at), Some(every)) = (due, every)
            && Instant::now() >= at
        {
            take(None)?;
            due = Some(at + every);
        }
        let wait = due.map_or(LOOK, |at| at.saturating_duration_since(Instant::now()).min(LOOK));
        match read.recv_timeout(wait) {
            Ok(next) => match next? {
                Some(hit) => take(Some(hit))?,
                None => return Ok(()),
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
    Ok(())
}

/// What the words ask for, without doing it.
fn uses(words: &[OsString], _host: &dyn Host) -> Vec<Use> {
    let refused = |what: &str, why: &str| Use { what: what.to_owned(), support: Support::Refused(why.to_owned()) };
    let global = match goflag::read(GLOBAL, words) {
        Ok(read) => read,
        Err(Mistake::Help) => return vec![Use { what: "-h".to_owned(), support: Support::Same }],
        Err(Mistake::Wrong(why)) => return vec![refused("the command line", &why)],
    };
    let mut uses: Vec<Use> = (global.flags.iter())
        .map(|(name, value)| match *name {
            "profile" => refused("-profile", "profile loadline with perf"),
            "version" => Use { what: "-version".to_owned(), support: Support::Differs("names loadline too".to_owned()) },
            _ => Use { what: format!("-{name}={value}"), support: Support::Same },
        })
        .collect();
    let Some(command) = global.operands.first() else { return uses };
    let words = &words[words.len() - global.operands.len() + 1..];
    let flags = match command.as_str() {
        "attack" => {
            uses.extend(attack::uses(words));
            return uses;
        }
        "encode" => ENCODE,
        "report" => REPORT,
        "plot" => PLOT,
        "dump" => {
            uses.push(refused("dump", "as in the original: encode has taken its place"));
            return uses;
        }
        other => {
            uses.push(refused(other, "vegeta has no such command"));
            return uses;
        }
    };
    match goflag::read(flags, words) {
        Err(Mistake::Help) => uses.push(Use { what: "-h".to_owned(), support: Support::Same }),
        Err(Mistake::Wrong(why)) => uses.push(refused("the command line", &why)),
        Ok(read) => {
            let buckets = read.last("buckets").unwrap_or_default();
            for (name, value) in &read.flags {
                let support = match *name {
                    "to" if Encoding::named(value).is_none() => Support::Refused("give csv, gob or json".to_owned()),
                    "type" => kind(value, buckets).map_or_else(Support::Refused, |_| Support::Same),
                    _ => Support::Same,
                };
                uses.push(Use { what: format!("-{name}={value}"), support });
            }
            uses.extend(read.operands.iter().map(|file| Use { what: file.clone(), support: Support::Same }));
            uses.push(Use { what: command.clone(), support: differs(command) });
        }
    }
    uses
}

fn differs(command: &str) -> Support {
    match command {
        "report" => Support::Differs("quantiles are within 0.1 %, where the original estimates them".to_owned()),
        "plot" => Support::Differs("the page is loadline's".to_owned()),
        _ => Support::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_reports_are_told_by_their_names() {
        assert_eq!(kind("text", "").unwrap().0, Kind::Text);
        assert_eq!(kind("hist[0,1ms]", "").unwrap().0, Kind::Histogram);
        assert!(kind("json", "[0,1ms]").unwrap().1.is_some());
        for (name, buckets, part) in [
            ("hist", "", "bad buckets"),
            ("hist[1]", "", "missing unit"),
            ("nope", "", "unknown report type: \"nope\""),
            ("plot", "", "vegeta plot command"),
            ("json", "[x]", "invalid duration"),
        ] {
            let why = kind(name, buckets).unwrap_err();
            assert!(why.contains(part), "{name}: {why}");
        }
    }
}
