//! A run as a few lines of Markdown: for a pull request or a ticket.
//!
//! A reviewer wants the answer, the tail and what failed; the rest is in the JSON beside it. Text from outside is escaped,
//! because a server's error page must not become a link or a mention in a discussion.

use std::io;

use analysis::gate::{Change, Verdict};
use analysis::quantity::{self, NONE, count, nanos, share, time};
use analysis::server_side::ServerSide;
use analysis::warmup::in_words;
use analysis::{Reading, Standing, capitalised, disturbances};
use measure::{Histogram, Summary};
use plan::Nanos;

use crate::machines::{first_of_machines, other_machines};
use crate::{Format, Style, journeys, profiles, story, streamed, visible, websockets, wire};

/// Markdown.
pub const FORMAT: Format = Format { name: "markdown", about: "a short table for a pull request or a ticket", extension: "md", render };

/// What a reviewer looks at.
const SHOWN: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

fn render(reading: &Reading<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let summary = reading.run;
    if let Some(ending) = story::ending(reading) {
        writeln!(out, "> {ending}.\n")?;
    }
    writeln!(out, "**{}.**\n", visible::markdown(&story::answer(reading)))?;
    match reading.validity.standing {
        Standing::Valid => {}
        standing @ (Standing::Degraded | Standing::Invalid) => writeln!(out, "> **{standing}:** {}.\n", reading.validity.why())?,
    }
    checks(reading, out)?;
    against(reading, out)?;
    writeln!(out, "{}: {}.\n", visible::markdown(&story::requests_of(summary)), visible::markdown(&story::load(summary)[0]))?;
    if !summary.response_time.is_empty() {
        times(reading, out)?;
    }
    events(summary, out)?;
    for (name, said) in [("Packed", wire::packed(summary)), ("Bodies", wire::awaited(summary)), ("Unasked", websockets::unasked(summary))] {
        if let Some(said) = said {
            writeln!(out, "\n{name}: {}.", visible::markdown(&said))?;
        }
    }
    rows(summary, out)?;
    let requests = &summary.requests;
    if !summary.failures.is_empty() {
        writeln!(out, "\n| failed | share | side | why |\n|---:|---:|---|---|")?;
        for failure in &summary.failures {
            writeln!(
                out,
                "| {} | {} | {} | {} (`{}`) |",
                count(failure.count),
                share(failure.count, requests.due),
                crate::text::side_named(failure.side),
                failure.class.about(),
                failure.class.code()
            )?;
        }
    }
    if requests.unsent > 0 {
        writeln!(out, "\n{} never sent: {}.", quantity::counted(requests.unsent, "request"), crate::text::UNSENT)?;
    }
    if let Some(found) = summary.excluded.found {
        let length = quantity::length(Nanos((summary.excluded.duration_s * 1e9) as u64));
        writeln!(out, "\nWarm-up of {length} left out: {}.", in_words(found))?;
    }
    for sentence in reading.noticed() {
        writeln!(out, "\n> {sentence}")?;
    }
    for sentence in crate::limits::markdown(&reading.bottleneck) {
        writeln!(out, "\n> {sentence}")?;
    }
    server_side(summary, out)?;
    profiled(reading, out)?;
    for disturbance in disturbances(&reading.validity) {
        writeln!(out, "\n> {disturbance}")?;
    }
    for warning in &summary.warnings {
        writeln!(out, "\n> {}", visible::markdown(warning))?;
    }
    if let Some(tool) = &summary.measured_by {
        return writeln!(out, "\nMeasured {} by {}.", visible::markdown(&summary.started), visible::markdown(tool));
    }
    let machine = &summary.machine;
    writeln!(
        out,
        "\nMeasured {} by {} on {}, {}{}.",
        visible::markdown(&summary.started),
        visible::markdown(&machine.loadline),
        visible::markdown(&machine.processor),
        quantity::counted(machine.cores.into(), "core"),
        first_of_machines(summary)
    )?;
    for (names, machine) in other_machines(summary) {
        writeln!(out, "\nFrom {}: {}.", visible::markdown(&names), visible::markdown(&machine))?;
    }
    Ok(())
}

/// What the server's side showed, where it was watched.
fn server_side(summary: &Summary, out: &mut dyn io::Write) -> io::Result<()> {
    for side in ServerSide::of(summary) {
        let lines = side.lines();
        let Some((name, said)) = lines.split_first() else { continue };
        writeln!(out, "\nThe server's side: {}.\n", visible::markdown(name))?;
        for line in said {
            writeln!(out, "- {}", visible::markdown(line))?;
        }
    }
    Ok(())
}

/// Where the server spent what it spent.
fn profiled(reading: &Reading<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    for profiled in &reading.run.profiles {
        writeln!(out, "\nProfile: {}.", visible::markdown(&profiles::about(reading.run, profiled)))?;
        for (title, functions) in profiles::most(profiled) {
            writeln!(out, "\n| {title} | {} |\n|---|---:|---:|---:|---:|", profiles::HEADS.join(" | "))?;
            for function in functions {
                writeln!(out, "| {} | {} |", visible::markdown(&function.name), profiles::cells(profiled, function).join(" | "))?;
            }
        }
    }
    Ok(())
}

/// Each check, whether it held, and by what.
fn checks(reading: &Reading<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    if reading.checks.is_empty() {
        return Ok(());
    }
    writeln!(out, "| | check | measured |\n|---|---|---|")?;
    for judgement in &reading.checks {
        let sign = match judgement.verdict {
            Verdict::Held => "✅",
            Verdict::Broken => "❌",
            Verdict::NotJudgeable { .. } => "❔",
        };
        writeln!(out, "| {sign} {} | `{}` | {} |", judgement.verdict.name(), judgement.check, visible::markdown(&judgement.about()))?;
    }
    writeln!(out)
}

/// What came of holding it against a saved run.
fn against(reading: &Reading<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(ruling) = &reading.against else { return Ok(()) };
    let sign = match ruling.verdict {
        Change::Within => "✅",
        Change::Worse => "❌",
        Change::CannotTell => "❔",
    };
    writeln!(out, "{sign} {}.\n", visible::markdown(&capitalised(&ruling.sentence())))?;
    writeln!(out, "| figure | saved | now | change | |\n|---|---:|---:|---|---|")?;
    for row in &ruling.rows {
        let [figure, before, now] = [&row.figure, &row.before, &row.now].map(|cell| visible::markdown(cell));
        writeln!(out, "| {figure} | {before} | {now} | {} | {} |", row.change(), row.word())?;
    }
    writeln!(out)
}

/// The events of answers that streamed.
fn events(summary: &Summary, out: &mut dyn io::Write) -> io::Result<()> {
    let Some(said) = streamed::said(summary) else { return Ok(()) };
    if summary.streams.is_some() {
        table(&streamed::HEADS.map(|head| head.trim_start_matches('#')), &streamed::rows(summary), out)?;
    }
    writeln!(out, "\nEvents: {}.", visible::markdown(&said))
}

/// The rows of a scenario, or of a list of URLs.
fn rows(summary: &Summary, out: &mut dyn io::Write) -> io::Result<()> {
    if let Some(scenario) = &summary.scenario {
        writeln!(out, "\n{}.", visible::markdown(&journeys::transactions(scenario, summary.qps)))?;
    }
    for rows in journeys::Rows::all(summary) {
        table(rows.heads, &rows.cells, out)?;
    }
    broken_checks(journeys::counted(summary), out)
}

fn broken_checks(rows: &[measure::StepRow], out: &mut dyn io::Write) -> io::Result<()> {
    for line in journeys::broken(rows) {
        writeln!(out, "\n> {}", visible::markdown(&line))?;
    }
    Ok(())
}

fn table(heads: &[&str], rows: &[Vec<String>], out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "\n| {} |\n|---|{}", heads.join(" | "), "---:|".repeat(heads.len() - 1))?;
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| visible::markdown(cell)).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn times(reading: &Reading<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let summary = reading.run;
    let mut heads: Vec<String> = vec![String::new(), "mean".to_owned()];
    heads.extend(SHOWN.iter().map(|q| quantity::quantile(*q)));
    heads.push("max".to_owned());
    writeln!(out, "| {} |", heads.join(" | "))?;
    writeln!(out, "|---|{}", "---:|".repeat(heads.len() - 1))?;
    let row = |out: &mut dyn io::Write, name: &str, times: &Histogram| {
        let mut cells = vec![name.to_owned(), times.mean().map_or_else(|| NONE.to_owned(), time)];
        cells.extend(SHOWN.iter().map(|q| story::quantile(reading, times, *q)));
        cells.push(nanos(times.max()));
        writeln!(out, "| {} |", cells.join(" | "))
    };
    row(out, "response time", &summary.response_time)?;
    if SHOWN.iter().any(|q| story::plus_minus(reading, *q) != NONE) {
        let cells: Vec<String> = SHOWN.iter().map(|q| story::plus_minus(reading, *q)).collect();
        writeln!(out, "| ± (95 %, within this run) | | {} | |", cells.join(" | "))?;
    }
    if summary.response_time_succeeded.count() < summary.response_time.count() && !summary.response_time_succeeded.is_empty() {
        row(out, "of successes", &summary.response_time_succeeded)?;
    }
    if summary.measured_by.is_none() {
        row(out, "service time", &summary.service_time)?;
    }
    if let Some(missing) = story::missing(reading, &SHOWN) {
        writeln!(out, "\n{missing}")?;
    }
    Ok(())
}
