//! `loadline wrk`: wrk's command line, requests and report.
//!
//! Most load tests that were ever typed begin with `wrk -t12 -c400 -d30s`. The words are read as wrk reads them, mistakes end as
//! they end there, and the request on the wire is the same to the byte. What wrk gets wrong is put right where it stands: every
//! connection asked for is opened, an answer that comes late is counted late and not left out, and one that never comes is waited
//! for as long as the timeout and then counted.
//!
//! A timeout never breaks a connection in wrk, it only names answers slow. Giving such requests up, as `loadline run` does, would
//! turn a server that takes three seconds into one that answers nothing, so here too they are waited for.

pub(super) mod asked;
pub mod script_uses;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use engine::Runner;
use engine::net::Reach;
use measure::{Failure, Summary};
use plan::{Draft, Given, Nanos, Plan};
use report::wrk::{Facts, Formulas, Latency, Samples, SocketErrors, completed, error_statuses, latency, received};
use script::{DoneArguments, DoneErrors, Globals, Interface, Libraries, Script, Source, Statistics};
use trial::RunError;

use super::{Dialect, Manners, Support, Use, getopt};
use crate::outputs::to_stdout;
use crate::screen::{Voice, complain};
use asked::{Asked, Flavour, Refusal, Url};

/// wrk.
pub const DIALECT: Dialect = Dialect { name: "wrk", about: "closed load on N connections, Lua scripts, text report", main, uses };

/// How wrk ends when it cannot begin, whatever the reason.
pub(super) const REFUSED: u8 = 1;

fn main(words: &[OsString]) -> ExitCode {
    let asked = match begin(Flavour::Wrk, words) {
        Ok(asked) => asked,
        Err(exit) => return exit,
    };
    let facts = asked.facts();
    let draft = asked.draft();
    carry_out(&asked, draft, &|run| report::wrk::report(run, &facts))
}

/// Reads the words; says what is wrong with them as the original does, on both streams.
pub(super) fn begin(flavour: Flavour, words: &[OsString]) -> Result<Asked, ExitCode> {
    let (version, asked) = asked::read(flavour, words);
    if version {
        let _ = to_stdout(flavour.version().as_bytes());
    }
    asked.map_err(|Refusal { complaint, usage }| {
        if let Some(complaint) = complaint {
            complain(&complaint);
        }
        if usage {
            let _ = to_stdout(flavour.usage().as_bytes());
        }
        ExitCode::from(REFUSED)
    })
}

/// Runs, prints the banner when the load begins and the report when it has ended, and remarks. A script has the last word.
pub(super) fn carry_out(asked: &Asked, draft: Draft, report: &dyn Fn(&Summary) -> String) -> ExitCode {
    let name = asked.flavour.name();
    let plan = match super::decide(draft) {
        Ok(plan) => plan,
        Err(failed) => return super::refuse(name, &failed, REFUSED),
    };
    match measure_and_print(asked, &plan, report) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&unreached(&asked.url, &error).unwrap_or_else(|| format!("{name}: {error}")));
            ExitCode::from(REFUSED)
        }
    }
}

fn measure_and_print(asked: &Asked, plan: &Plan, report: &dyn Fn(&Summary) -> String) -> Result<(), RunError> {
    let banner = report::wrk::banner(&asked.facts());
    // As in wrk, when all is looked at and before the first request; what cannot be written shows at the end.
    let mut say_banner = || drop(to_stdout(banner.as_bytes()));
    let manners = Manners { voice: asked.voice, patience: Some(asked.timeout()) };
    let stop = super::stop_on_signals(asked.voice)?;
    let mut script = asked.script.as_ref().map(|path| Script::load(&asked.source(path), asked.globals(), &stop)).transpose()?;
    let measured = super::measure_by(plan, manners, &stop, &mut |_| (), |watch| match &mut script {
        None => {
            let prepared = engine::prepare(plan)?;
            say_banner();
            prepared.run(watch, &stop)
        }
        Some(script) => script.run(plan, &Runner::threads(), &mut say_banner, watch, &stop),
    });
    let (summary, error) = match measured {
        Ok(summary) => (Some(summary), None),
        Err(mut error) => (error.measured.take().map(|summary| *summary), Some(error)),
    };
    if let Some(summary) = &summary {
        to_stdout(report(summary).as_bytes()).map_err(|why| {
            RunError::run(format!("standard output cannot be written: {}", crate::inputs::plainly(&why)), "make room, or send it elsewhere")
        })?;
        super::remark(summary, asked.voice, asked.remark().as_deref());
    }
    match (error, summary, script) {
        (Some(error), ..) => Err(error),
        (None, Some(summary), Some(mut script)) => Ok(script.done(&asked.done(&summary), &stop)?),
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

impl Asked {
    /// What the report repeats.
    pub(super) fn facts(&self) -> Facts {
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
    pub(super) fn timeout(&self) -> Nanos {
        Nanos::from_secs(self.timeout_s)
    }

    /// The load as a draft: wrk's request, its connections, and a timeout that no request meets before the run has ended.
    pub(super) fn draft(&self) -> Draft {
        fn number<T: std::str::FromStr<Err: std::fmt::Display>>(value: u64) -> Option<Given<T>> {
            value.to_string().parse().ok()
        }
        let duration = Nanos::from_secs(self.duration_s);
        Draft {
            url: Some(self.url.without_credentials()),
            connections: number(self.connections),
            threads: number(self.threads),
            duration: Some(Given::Value(duration)),
            header: self.headers(),
            timeout: Some(Given::Value(duration.plus(self.timeout()).plus(Nanos::SECOND))),
            connect_timeout: Some(Given::Value(self.timeout().max(CONNECT_TIMEOUT_MIN))),
            insecure: self.url.scheme == "https",
            ..Draft::default()
        }
    }

    /// The script, with the words behind the URL.
    fn source(&self, path: &str) -> Source {
        Source { path: path.to_owned(), arguments: self.arguments.clone(), libraries: Libraries::Whole }
    }

    /// What the table `wrk` holds before the script changes it.
    fn globals(&self) -> Globals {
        let Url { text, scheme, host, port, path } = self.url.clone();
        let headers = self.header.iter().filter_map(|line| asked::header(line));
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
            Flavour::Wrk2 => Samples::of_times(&run.response_time),
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
        for (name, value) in self.header.iter().filter_map(|line| asked::header(line)) {
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
            self.header.iter().filter(|line| asked::header(line).is_none()).map(|line| format!("'{}'", line.escape_debug())).collect();
        (!ignored.is_empty())
            .then(|| format!("not sent, as by {}: -H {} (write 'Name: value')", self.flavour.name(), ignored.join(", -H ")))
    }
}

/// A dial that a busy server drops is tried again by the system after 1 s and 3 s.
const CONNECT_TIMEOUT_MIN: Nanos = Nanos::from_secs(5);

/// What the words ask for.
fn uses(words: &[OsString]) -> Vec<Use> {
    uses_of(Flavour::Wrk, words)
}

/// The same for both flavours: the options by the same reading that a run gets.
pub(super) fn uses_of(flavour: Flavour, words: &[OsString]) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut script = None;
    for item in getopt::read(&flavour.options(), getopt::Order::Permute, words) {
        let getopt::Item::Option { opt, value } = item else { continue };
        let name = opt.short.map_or_else(|| format!("--{}", opt.long.unwrap_or_default()), |letter| format!("-{letter}"));
        let what = value.as_ref().map_or_else(|| name.clone(), |value| format!("{name} {value}"));
        let support = match (opt.short, value) {
            (Some('T'), _) => Support::Differs("what is never answered counts as a timeout too".to_owned()),
            (Some('H'), Some(line)) if asked::header(&line).is_none() => {
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
    match asked::read(flavour, words).1 {
        Ok(asked) => {
            uses.push(Use { what: asked.url.text.clone(), support: target(&asked) });
            if !asked.connections.is_multiple_of(asked.threads) {
                let how = format!("all {} connections are opened, the remainder spread over the threads", asked.connections);
                uses.push(Use { what: "connections over threads".to_owned(), support: Support::Differs(how) });
            }
        }
        Err(Refusal { complaint, .. }) => {
            let why = complaint.unwrap_or_else(|| "a number or time cannot be read, or there is no URL: usage is shown".to_owned());
            uses.push(Use { what: "the command line".to_owned(), support: Support::Refused(why) });
        }
    }
    if let Some(path) = script {
        uses.extend(script_uses::of_file(&path).into_iter().map(|used| match (flavour, used.what.as_str()) {
            (Flavour::Wrk2, "delay()") => {
                Use { support: Support::Differs("wrk2 never calls it, and neither does loadline".to_owned()), ..used }
            }
            _ => used,
        }));
    }
    uses
}

/// Whether a plan can be made of it; nothing is looked up.
fn target(asked: &Asked) -> Support {
    let draft = Draft { threads: asked.threads.to_string().parse().ok(), no_templates: true, ..asked.draft() };
    match Plan::try_from(draft) {
        Ok(_) => Support::Same,
        Err(errors) => Support::Refused(errors.0.first().map_or_else(String::new, |error| format!("{}; {}", error.message, error.help))),
    }
}

/// Whether remarks are made.
pub(super) fn voice(quiet: bool) -> Voice {
    if quiet { Voice::Quiet } else { Voice::Talking }
}
