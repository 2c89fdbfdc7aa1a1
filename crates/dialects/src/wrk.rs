//! `loadline wrk`: wrk's command line, requests and report.
//!
//! Most load tests that were ever typed begin with `wrk -t12 -c400 -d30s`. The words are read as wrk reads them, mistakes end as
//! they end there, and the request on the wire is the same to the byte. What wrk gets wrong is put right where it stands: every
//! connection asked for is opened, an answer that comes late is counted late and not left out, and one that never comes is waited
//! for as long as the timeout and then counted.
//!
//! A timeout never breaks a connection in wrk, it only names answers slow. Giving such requests up, as `loadline run` does, would
//! turn a server that takes three seconds into one that answers nothing, so here too they are waited for.

pub mod options;
pub mod script_uses;

use std::ffi::OsString;
use std::sync::Arc;

use engine::net::Reach;
use measure::{Failure, Statistics, Summary};
use plan::{Draft, Nanos, Plan, Setting, Spelling, plainly};
use report::wrk::{Facts, Formulas, Latency, SocketErrors, completed, error_statuses, latency, received};
use script::{DoneArguments, DoneErrors, Globals, Interface, Libraries, Script, Source};
use trial::RunError;

use crate::dialect::{DONE, Dialect, Support, Use};
use crate::getopt;
use crate::host::{Host, TEXT_BYTES_MAX};
use crate::session::Session;
use crate::url::Url;
use options::{Flavour, Options, Refusal};

/// wrk.
pub const DIALECT: Dialect = Dialect { name: "wrk", about: "closed load on N connections, Lua scripts, text report", main, uses };

/// How wrk ends when it cannot begin, whatever the reason.
const REFUSED: u8 = 1;

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    let options = match begin(Flavour::Wrk, words, host) {
        Ok(options) => options,
        Err(exit) => return exit,
    };
    let facts = options.facts();
    let draft = options.draft();
    carry_out(&options, draft, host, &|run| report::wrk::report(run, &facts))
}

/// Reads the words; says what is wrong with them as the original does, on both streams.
///
/// # Errors
/// The exit code.
pub fn begin(flavour: Flavour, words: &[OsString], host: &dyn Host) -> Result<Options, u8> {
    let (version, options) = options::read(flavour, words);
    if version {
        let _ = host.print(&flavour.version());
    }
    options.map_err(|Refusal { complaint, usage }| {
        if let Some(complaint) = complaint {
            host.complain(&complaint);
        }
        if usage {
            let _ = host.print(&flavour.usage());
        }
        REFUSED
    })
}

/// Runs, prints the banner when the load begins and the report when it has ended, and remarks. A script has the last word.
pub fn carry_out(options: &Options, draft: Draft, host: &dyn Host, report: &dyn Fn(&Summary) -> String) -> u8 {
    let name = options.flavour.name();
    let session = Session::new(host, options.verbosity);
    let plan = match session.decide(draft) {
        Ok(plan) => plan,
        Err(mistakes) => {
            host.complain(&format!("{name}: {}", mistakes.spelt(Spelling::Flags)));
            return REFUSED;
        }
    };
    match measure_and_print(options, &plan, host, &session, report) {
        Ok(()) => DONE,
        Err(error) => {
            host.complain(&unreached(&options.url, &error).unwrap_or_else(|| format!("{name}: {}", error.spelt(Spelling::Flags))));
            REFUSED
        }
    }
}

fn measure_and_print(
    options: &Options,
    plan: &Plan,
    host: &dyn Host,
    session: &Session<'_>,
    report: &dyn Fn(&Summary) -> String,
) -> Result<(), RunError> {
    let banner = report::wrk::banner(&options.facts());
    // As in wrk, when all is looked at and before the first request; what cannot be written shows at the end.
    let mut say_banner = || drop(host.print(&banner));
    let runner = host.runner();
    let stop = session.stop()?;
    let mut script = match &options.script {
        Some(path) => Some(Script::load(&options.source(path, host)?, options.globals(), &stop)?),
        None => None,
    };
    let measured = session.measure(plan, Some(options.timeout()), &stop, &mut [], |watch, stop| match &mut script {
        None => {
            let prepared = runner.prepare(plan)?;
            say_banner();
            prepared.run(watch, stop)
        }
        Some(script) => script.run(plan, &runner, &mut say_banner, watch, stop),
    });
    let (summary, error) = match measured {
        Ok(summary) => (Some(summary), None),
        Err(mut error) => (error.measured.take().map(|summary| *summary), Some(error)),
    };
    if let Some(summary) = &summary {
        host.print(&report(summary)).map_err(|why| {
            RunError::run(format!("standard output cannot be written: {}", plainly(&why)), "make room, or send it elsewhere")
        })?;
        session.remark(summary, options.remark().as_deref());
    }
    match (error, summary, script) {
        (Some(error), ..) => Err(error),
        (None, Some(summary), Some(mut script)) => Ok(script.done(&options.done(&summary), &stop)?),
        (None, ..) => Ok(()),
    }
}

/// That nobody answers there, in wrk's words.
fn unreached(url: &Url, error: &RunError) -> Option<String> {
    let (failure, why) = error.unreached.as_ref()?;
    let mut letters = why.chars();
    let why: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let what = if is_of_the_name(*failure) { "resolve" } else { "connect to" };
    Some(format!("unable to {what} {}:{} {why}", url.host, url.service()))
}

fn is_of_the_name(failure: Failure) -> bool {
    matches!(failure, Failure::DnsNotFound | Failure::DnsTimeout | Failure::DnsEmpty | Failure::DnsOther)
}

impl Options {
    /// What the report repeats.
    pub fn facts(&self) -> Facts {
        Facts {
            url: self.url.text.clone(),
            threads: self.threads,
            connections: self.connections,
            duration_s: self.duration_s,
            timeout: self.timeout(),
            latency: if self.latency { Latency::Percentiles } else { Latency::Brief },
            formulas: if self.faithful { Formulas::Original } else { Formulas::True },
        }
    }

    /// Answers that take longer are timeouts, and are waited for so long after the end.
    pub fn timeout(&self) -> Nanos {
        Nanos::from_secs(self.timeout_s)
    }

    /// The load as a draft: wrk's request, its connections, and a timeout that no request meets before the run has ended.
    pub fn draft(&self) -> Draft {
        fn number<T: std::str::FromStr<Err: std::fmt::Display>>(value: u64) -> Option<Setting<T>> {
            value.to_string().parse().ok()
        }
        let duration = Nanos::from_secs(self.duration_s);
        Draft {
            url: Some(self.url.without_credentials()),
            connections: number(self.connections),
            threads: number(self.threads),
            duration: Some(Setting::Value(duration)),
            header: self.headers(),
            timeout: Some(Setting::Value(duration.plus(self.timeout()).plus(Nanos::SECOND))),
            connect_timeout: Some(Setting::Value(self.timeout().max(CONNECT_TIMEOUT_MIN))),
            insecure: self.url.scheme == "https",
            ..Draft::default()
        }
    }

    /// The script, with the words behind the URL.
    fn source(&self, path: &str, host: &dyn Host) -> Result<Source, RunError> {
        let text = host
            .files()
            .read(path, TEXT_BYTES_MAX)
            .map_err(|why| RunError::input(format!("the script '{path}' cannot be read: {}", plainly(&why)), "give a readable Lua file"))?;
        Ok(Source { path: path.to_owned(), text: text.into(), arguments: self.arguments.clone(), libraries: Libraries::Whole })
    }

    /// What the table `wrk` holds before the script changes it.
    fn globals(&self) -> Globals {
        let Url { text, scheme, host, port, path } = self.url.clone();
        let headers = self.header.iter().filter_map(|line| options::header(line));
        Globals {
            interface: match self.flavour {
                Flavour::Wrk => Interface::Wrk,
                Flavour::Wrk2 => Interface::Wrk2,
            },
            url: text,
            scheme,
            host,
            port,
            path,
            method: "GET".to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            body: None,
            // As in the original.
            reach: Arc::new(Reach::open()),
        }
    }

    /// What the script's `done` is given: the figures of the report.
    fn done(&self, run: &Summary) -> DoneArguments {
        let facts = self.facts();
        let SocketErrors { connect, read, write, timeout } = SocketErrors::of(run, facts.timeout);
        let times = match self.flavour {
            Flavour::Wrk => latency(run, &facts),
            Flavour::Wrk2 => Statistics::of_times(&run.response_time),
        };
        DoneArguments {
            duration_us: (run.duration_s * 1e6).round() as u64,
            requests: completed(run),
            bytes: received(run),
            errors: DoneErrors { connect, read, write, status: error_statuses(run), timeout },
            latency: Statistics::from_counts(times.counts().iter().map(|(us, count)| (us.round() as u64, *count))),
            rates: Statistics::from_counts(run.worker_rates.recorded()),
        }
    }

    /// Every header as it is sent: Host with the port if one was written, those given, and none of ours.
    fn headers(&self) -> Vec<String> {
        let mut headers: Vec<(String, String)> = Vec::new();
        for (name, value) in self.header.iter().filter_map(|line| options::header(line)) {
            headers.retain(|(other, _)| other != name);
            headers.push((name.to_owned(), value.to_owned()));
        }
        let given = |name: &str| headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let mut lines: Vec<String> = Vec::new();
        if !given("Host") {
            lines.push(format!("Host: {}", self.url.authority()));
        }
        for ours in ["User-Agent", "Accept"] {
            if !given(ours) {
                lines.push(format!("{ours}:"));
            }
        }
        // wrk sets Content-Length itself, and leaves it out where there is no body.
        let sent = headers.iter().filter(|(name, _)| name != "Content-Length");
        lines.extend(sent.map(|(name, value)| if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") }));
        lines
    }

    /// What the user should know of how these words were taken.
    fn remark(&self) -> Option<String> {
        let ignored: Vec<String> =
            self.header.iter().filter(|line| options::header(line).is_none()).map(|line| format!("'{}'", line.escape_debug())).collect();
        (!ignored.is_empty())
            .then(|| format!("not sent, as by {}: -H {} (write 'Name: value')", self.flavour.name(), ignored.join(", -H ")))
    }
}

/// A dial that a busy server drops is tried again by the system after 1 s and 3 s.
const CONNECT_TIMEOUT_MIN: Nanos = Nanos::from_secs(5);

/// What the words ask for.
fn uses(words: &[OsString], host: &dyn Host) -> Vec<Use> {
    uses_of(Flavour::Wrk, words, host)
}

/// The same for both flavours: the options by the same reading that a run gets.
pub fn uses_of(flavour: Flavour, words: &[OsString], host: &dyn Host) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut script = None;
    for item in getopt::read(&flavour.options(), getopt::Order::Permute, words) {
        let getopt::Item::Option { opt, value } = item else { continue };
        let name = opt.short.map_or_else(|| format!("--{}", opt.long.unwrap_or_default()), |letter| format!("-{letter}"));
        let what = value.as_ref().map_or_else(|| name.clone(), |value| format!("{name} {value}"));
        let support = match (opt.short, value) {
            (Some('T'), _) => Support::Differs("what is never answered counts as a timeout too".to_owned()),
            (Some('H'), Some(line)) if options::header(&line).is_none() => {
                Support::Differs(format!("{} sends it not, and neither does loadline: write 'Name: value'", flavour.name()))
            }
            (Some('v'), _) => Support::Differs("names loadline too".to_owned()),
            (Some('B'), _) => Support::Refused("every answer of a batch is recorded; leave it out".to_owned()),
            (Some('s'), Some(path)) => {
                script = Some(path);
                Support::Same
            }
            _ => Support::Same,
        };
        uses.push(Use { what, support });
    }
    match options::read(flavour, words).1 {
        Ok(options) => {
            uses.push(Use { what: options.url.text.clone(), support: target(&options) });
            if !options.connections.is_multiple_of(options.threads) {
                let how = format!("all {} connections are opened, the remainder spread over the threads", options.connections);
                uses.push(Use { what: "connections over threads".to_owned(), support: Support::Differs(how) });
            }
        }
        Err(Refusal { complaint, .. }) => {
            let why = complaint.unwrap_or_else(|| "a number or time cannot be read, or there is no URL: usage is shown".to_owned());
            uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why) });
        }
    }
    if let Some(path) = script {
        uses.extend(script_uses::of_file(&path, &*host.files()).into_iter().map(|used| match (flavour, used.what.as_str()) {
            (Flavour::Wrk2, "delay()") => {
                Use { support: Support::Differs("wrk2 never calls it, and neither does loadline".to_owned()), ..used }
            }
            _ => used,
        }));
    }
    uses
}

/// Whether a plan can be made of it; nothing is looked up.
fn target(options: &Options) -> Support {
    let draft = Draft { threads: options.threads.to_string().parse().ok(), no_templates: true, ..options.draft() };
    match Plan::try_from(draft) {
        Ok(_) => Support::Same,
        Err(errors) => {
            Support::Refused(errors.0.first().map_or_else(String::new, |error| {
                format!("{}; {}", error.message.spelt(Spelling::Flags), error.help.spelt(Spelling::Flags))
            }))
        }
    }
}
