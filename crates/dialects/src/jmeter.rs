//! `loadline jmeter`: test plans of JMeter from its own command line, with its standard output, its log and its exit codes.
//!
//! A pipeline calls `jmeter -n -t plan.jmx -Jusers=50`, looks for `summary =` and goes on when the program ends with 0. So these words
//! are read as JMeter reads them, the lines stand where they stand there, and what of a plan is not carried over is in `jmeter.log`, and
//! in one line on standard error, since nobody reads the log of a test that went well.
//!
//! Invariants: samples that failed do not change the exit code; an option that cannot be honoured is an error that names it, before
//! anything is sent.

mod folder;
mod log;
mod options;
mod summariser;

use std::ffi::OsString;

use jiff::Zoned;
use measure::Ending;
use plan::Spelling;
use trial::Observer;

use crate::dialect::{DONE, Dialect};
use crate::host::{Host, TestPlan, TestPlanWords};
use crate::session::Session;
use log::Log;
use options::{Options, Refusal, Task, USAGE, VERSION};
use summariser::Summariser;

/// JMeter.
pub const DIALECT: Dialect =
    Dialect { name: "jmeter", about: "a test plan without its windows, as jmeter -n -t plan.jmx", main, uses: options::uses };

/// How it ends when nothing could be sent, and when the command line is wrong.
const FAILED: u8 = 1;

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    let task = match Task::read(words, host) {
        Ok(task) => task,
        Err(Refusal::Help) => return printed(host, USAGE),
        Err(Refusal::Version) => {
            return printed(host, &format!("Apache JMeter's command line, version {VERSION}, by loadline {}\n", env!("CARGO_PKG_VERSION")));
        }
        Err(Refusal::Usage(why)) => {
            host.complain(&format!("Error: {why}\n{}", USAGE.trim_end()));
            return FAILED;
        }
        Err(Refusal::Wrong(why)) => {
            host.complain(&format!("An error occurred: {why}"));
            return FAILED;
        }
    };
    let done = match task {
        Task::Test(options) => test(*options, host),
        Task::Dashboard { samples, folder } => made(&samples, &folder, host),
    };
    match done {
        Ok(()) => DONE,
        Err(why) => {
            // What is loadline's begins with that word already.
            host.complain(&format!("An error occurred: {}", why.trim_start_matches("error: ")));
            FAILED
        }
    }
}

fn printed(host: &dyn Host, text: &str) -> u8 {
    if host.print(text).is_ok() { DONE } else { FAILED }
}

/// Looks whether what a test leaves behind can be written: after an hour it would be too late.
fn look(samples: Option<&str>, folder: Option<&str>, host: &dyn Host) -> Result<(), String> {
    let files = host.files();
    let unwritten = |what: &str, path: &str, why: std::io::Error, option: &str| {
        format!("{what} '{path}' cannot be written: {}\n  help: name another with {option}", plan::plainly(&why))
    };
    if let Some(path) = samples {
        files.ensure_writable(path.as_ref()).map_err(|why| unwritten("the file of samples", path, why, "-l FILE"))?;
    }
    if let Some(path) = folder {
        files.make_directory(path.as_ref()).map_err(|why| unwritten("the folder of the dashboard", path, why, "-o FOLDER"))?;
    }
    Ok(())
}

/// Makes a dashboard, and says what its file lacks.
fn made(samples: &str, folder: &str, host: &dyn Host) -> Result<(), String> {
    let lack = folder::write(samples, folder, host)?;
    lack.iter().for_each(|lack| host.complain(&format!("loadline: {}", report::visible(lack))));
    Ok(())
}

/// What is said of a test that begins at this moment, on these servers.
fn beginning(servers: &[String], at: &str) -> String {
    if servers.is_empty() {
        return format!("Starting standalone test @ {at}\n");
    }
    let each: String = servers.iter().map(|server| format!("Configuring remote engine: {server}\n")).collect();
    let all = servers.join(", ");
    format!("{each}Starting distributed test with remote engines: [{all}] @ {at}\nRemote engines have been started:[{all}]\n")
}

/// Carries the test out.
///
/// # Errors
/// In words, if nothing could be sent, or a file could not be written.
fn test(options: Options, host: &dyn Host) -> Result<(), String> {
    let Options { plan: path, log, properties, interval, draft, samples, folder, verbosity, servers } = options;
    let unwritable = |why: std::io::Error| format!("standard output cannot be written: {}", plan::plainly(&why));
    let zone = host.time_zone();
    let mut log = Log::create(&log, &zone, host)?;
    look(samples.as_deref(), folder.as_deref(), host).inspect_err(|why| log.error(why))?;
    host.print(&format!("Creating summariser <{}>\n", summariser::NAME)).map_err(unwritable)?;
    let words = TestPlanWords { path: path.clone(), properties, draft, samples: samples.clone(), servers: servers.clone() };
    let read = host.test_plan(words).map_err(|mistakes| mistakes.spelt(Spelling::Flags));
    let TestPlan { plan, left_out, load, mut samples_file } = read.inspect_err(|why| log.error(why))?;
    host.print(&format!("Created the tree successfully using {path}\n")).map_err(unwritable)?;
    for left in &left_out {
        log.warn(&format!("not carried over: {left}"));
    }
    let remark = match left_out.as_slice() {
        [] => None,
        [one] => Some(format!("of '{path}' is left out: {one}")),
        [first, more @ ..] => Some(format!("of '{path}' is left out: {first}; and {} more, in {}", more.len(), log.path())),
    };
    // It is known before anything is sent, and a test that is to be stopped for it should be stopped now.
    let session = Session::new(host, verbosity);
    remark.iter().for_each(|remark| session.say(&report::visible(remark)));

    let moment = |at: &Zoned| format!("{} ({})", at.strftime("%Y %b %-d %H:%M:%S %Z"), at.timestamp().as_millisecond());
    let stop = session.stop().map_err(|error| error.spelt(Spelling::Flags))?;
    let began = jiff::Timestamp::now();
    let at = moment(&began.to_zoned(zone.clone()));
    host.print(&beginning(&servers, &at)).map_err(unwritable)?;
    log.info("the test begins");
    let mut summariser = Summariser::new(began, interval, host.output());
    let mut own: Vec<&mut dyn Observer> = vec![&mut summariser];
    own.extend(samples_file.as_mut().map(|file| file.observer()));
    let measured = session.measure(&plan, None, &stop, &mut own, |watch, stop| load(&plan, watch, stop));
    let run = match &measured {
        Ok(run) => Some(run),
        Err(error) => error.measured.as_deref(),
    };
    if let Some(run) = run {
        summariser.finish(run);
        session.remark(run, None);
        if run.ended.how == Ending::Interrupted {
            log.warn("the test was interrupted");
        }
    }
    let is_measured = measured.is_ok();
    let mut wrong: Vec<String> = measured.err().map(|error| error.spelt(Spelling::Flags)).into_iter().collect();
    wrong.extend(samples_file.and_then(|file| file.finish().err()).map(|mistakes| mistakes.spelt(Spelling::Flags)));
    if let (Some(samples), Some(folder), true) = (&samples, &folder, is_measured) {
        wrong.extend(made(samples, folder, host).err());
    }
    let now = Zoned::now().with_time_zone(zone);
    let what = if servers.is_empty() { "...   " } else { "remote" };
    host.print(&format!("Tidying up {what} @ {}\n... end of run\n", moment(&now))).map_err(unwritable)?;
    wrong.iter().for_each(|why| log.error(why));
    if is_measured {
        log.info("the test is over");
    }
    wrong.extend(log.close().err());
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
