//! `loadline try FILE|URL`: one request or one journey, once, with everything that was sent and answered.
//!
//! Whoever writes a scenario guesses from one example that was cut after two hundred bytes. So before a load there is a walk through it:
//! by the same engine, with the same cookies, redirects and checks, and without pauses. `loadline run --debug` is the same with the
//! flags of a run that are there already.

use clap::{ArgAction, Args};
use engine::{Runner, Stop, Urgency};
use measure::Status;
use plan::{Draft, LoadRecord, PlanError, PlanErrors, Secrets, is_secret, url_without_secrets};
use report::walk::{self, WALK_FORMATS, Walk};
use report::{request_of, visible};
use resolve::KnownSecrets;

use super::{given, print};
use crate::exit::{Exit, Failed};
use crate::imported::{ImportedLoad, Importing};
use crate::outputs::{Out, Renderings, StandardOutput, out_help};
use crate::screen::Remarks;
use crate::workload::Workload;
use crate::{inputs, interrupt};

/// What is tried, and where it is shown.
#[derive(Debug, Args)]
pub struct Try {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    importing: Importing,

    /// Go through this journey of the scenario [default: its first]
    #[arg(long, value_name = "NAME", help_heading = "Load")]
    journey: Option<String>,

    /// Write it also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(WALK_FORMATS), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    /// The plan of a saved run that is sent again.
    #[arg(skip)]
    saved: Option<LoadRecord>,
}

impl Try {
    /// The same as a run that is to be looked through first.
    pub fn of_run(draft: Draft, saved: Option<LoadRecord>, importing: Importing, out: Vec<Out>, force: bool) -> Self {
        Self { draft, importing, journey: None, out, force, saved }
    }
}

/// Sends it once, and shows everything.
pub fn carry_out(asked: Try, known: &KnownSecrets) -> Result<Exit, Failed> {
    let Try { draft, importing, journey, out, force, saved } = asked;
    let mut errors = PlanErrors::default();
    let outs = Renderings::check(&out, WALK_FORMATS, force.into(), StandardOutput::Free, &mut errors);
    let ImportedLoad { mut load, scenarios, left_out } = importing.take(draft, saved.as_ref(), (known, Remarks::Talking), &mut errors);
    let scenario = scenarios.of(&load);
    // Whatever load was asked for, this is one request. A journey is one user's, whatever load its file has.
    if scenario.is_none() {
        load.draft = Draft {
            rate: None,
            duration: None,
            arrivals: None,
            pause: None,
            warmup: None,
            connections: given("1"),
            requests: given("1"),
            ..load.draft
        };
    }
    inputs::read(&mut load.draft, &mut errors);
    let plan = inputs::decide(load, &scenarios, &mut errors);
    if let Some(plan) = plan.as_ref().filter(|_| saved.is_some()) {
        inputs::look_for_redacted(plan, &mut errors);
    }
    let names: Vec<&str> = scenario.iter().flat_map(|scenario| &scenario.work.journeys).map(|journey| journey.name.as_str()).collect();
    let place = match &journey {
        None => Some(0),
        Some(name) => names.iter().position(|known| known == name),
    };
    if place.is_none() {
        let help =
            if names.is_empty() { "leave it out: this is no scenario".to_owned() } else { format!("there are {}", names.join(", ")) };
        errors.push(PlanError::new("journey", format!("--journey '{}' is not in the scenario", journey.unwrap_or_default()), help));
    }
    let (Some(plan), Some(place)) = (plan.filter(|_| errors.is_empty()), place) else { return Err(errors.into()) };
    importing.look([(&plan, &scenarios)], &left_out, (known, Remarks::Talking))?;

    let stop = Stop::new();
    let screen = crate::screen::Screen::new(Remarks::Quiet, known);
    interrupt::raise_on_signal(&stop, &screen)?;
    let title = match names.get(place) {
        Some(name) => format!("one journey '{}' of {}, once", visible(name), request_of(&plan)),
        None => format!("{}, once", request_of(&plan)),
    };
    let variables = scenario.as_ref().map_or_else(Vec::new, |scenario| scenario.work.names());
    let walked =
        Workload::new(&plan, &scenarios, &Runner::threads(), &stop).and_then(|drive| drive.walk(&scenarios, place, &variables, &stop))?;
    let walk = shown(&title, walked, known);
    let exit = match walk.wrong {
        _ if stop.urgency() > Urgency::None => Exit::Interrupted,
        Some(_) => Exit::CheckFailed,
        None => Exit::Done,
    };
    if !outs.to_stdout() {
        print(walk::text(&walk).as_bytes())?;
    }
    let mut lost = PlanErrors::default();
    outs.write(&walk, &mut lost);
    if lost.is_empty() { Ok(exit) } else { Err(Failed::unwritten(lost)) }
}

/// As it is shown: in words, and without secrets.
fn shown(title: &str, walked: scenario::Walk, known: &KnownSecrets) -> Walk {
    let exchanges: Vec<walk::Exchange> = walked
        .exchanges
        .into_iter()
        .map(|(part, exchange)| {
            // What came out of a file or an answer is known to be a secret by its place in the request.
            let own = Secrets::of_request(&exchange.request);
            let hidden = |text: &str| own.conceal(&known.conceal(text));
            walk::Exchange {
                part,
                name: hidden(&line(&exchange.name)),
                request: hidden(&request(&String::from_utf8_lossy(&exchange.request))),
                result: exchange.result.map_err(|failure| failure.about().to_owned()),
                headers: hidden(&headers(&String::from_utf8_lossy(&exchange.headers))),
                body: hidden(&body(&String::from_utf8_lossy(&exchange.body))),
                bytes_left_out: exchange.body_bytes - exchange.body.len(),
                took: exchange.took.map_or_else(String::new, |took| analysis::quantity::nanos(Some(took))),
                checks: exchange.checks.into_iter().map(|(check, held)| (hidden(&check), held.map_err(|why| hidden(&why)))).collect(),
                missing: exchange.missing.iter().map(|missing| hidden(missing)).collect(),
                variables: exchange
                    .variables
                    .into_iter()
                    .map(|(name, value)| {
                        let value = if is_secret(&name) { HIDDEN.to_owned() } else { hidden(&value) };
                        (name, value)
                    })
                    .collect(),
            }
        })
        .collect();
    let failed = exchanges.iter().find_map(|exchange| {
        let status = exchange
            .result
            .as_ref()
            .ok()
            .filter(|status| !Status(**status).is_success() && exchange.checks.iter().all(|(check, _)| !check.starts_with("status")));
        let broken = exchange.checks.iter().find_map(|(_, held)| held.as_ref().err());
        let why = match &exchange.result {
            Err(why) => Some(why.clone()),
            Ok(_) => broken.cloned().or_else(|| status.map(|status| format!("answered with the status {status}"))),
        };
        why.map(|why| format!("{}: {why}", exchange.name))
    });
    Walk { title: known.conceal(title), wrong: walked.wrong.map(|why| known.conceal(&why)).or(failed), exchanges }
}

/// What stands in a secret's place.
const HIDDEN: &str = "***";

fn request(text: &str) -> String {
    let (head, content) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let (first, lines) = head.split_once("\r\n").unwrap_or((head, ""));
    format!("{}\n{}\n{}", line(first), headers(lines), body(content))
}

/// The first line of a request, or its name.
fn line(text: &str) -> String {
    let (asked, version) = text.strip_suffix(" HTTP/1.1").map_or((text, ""), |asked| (asked, " HTTP/1.1"));
    format!("{}{version}", url_without_secrets(asked))
}

fn headers(lines: &str) -> String {
    let hidden = |line: &str| match line.split_once(':') {
        Some((name, _)) if is_secret(name) => format!("{name}: {HIDDEN}\n"),
        _ => format!("{line}\n"),
    };
    lines.lines().map(hidden).collect()
}

fn body(text: &str) -> String {
    without_values(text)
}

/// Without the values of fields that their names call secrets.
fn without_values(text: &str) -> String {
    let mut places = plan::secret_values(text);
    places.sort_unstable();
    let (mut shown, mut from) = (String::new(), 0);
    for (begins, ends) in places {
        if begins >= from {
            shown += &text[from..begins];
            shown += HIDDEN;
            from = ends;
        }
    }
    shown + &text[from..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_left_out_wherever_their_names_say_what_they_are() {
        let shown = request(
            "POST /login;jsessionid=j1?api_key=k1&page=2 HTTP/1.1\r\nHost: a.test\r\nCookie: session=s1\r\nX-Id: 7\r\n\r\nuser=ada&password=p1",
        );
        assert_eq!(
            shown,
            "POST /login;jsessionid=***?api_key=***&page=2 HTTP/1.1\nHost: a.test\nCookie: ***\nX-Id: 7\n\nuser=ada&password=***"
        );
        assert_eq!(line("GET /a?token=t1&b=2"), "GET /a?token=***&b=2");
        assert_eq!(body("{\"token\":\"t1\",\"id\":7}"), "{\"token\":\"***\",\"id\":7}");
        assert_eq!(headers("Set-Cookie: a=b\nServer: x\n"), "Set-Cookie: ***\nServer: x\n");
    }
}
