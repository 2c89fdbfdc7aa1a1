//! A run as a few lines of Markdown: for a pull request or a ticket.
//!
//! A reviewer wants the answer, the tail and what failed; the rest is in the JSON beside it. Text from outside is escaped,
//! because a server's error page must not become a link or a mention in a discussion.

use std::io;

use analysis::quantity::{self, NONE, count, nanos, share, time};
use analysis::{disturbances, generator_limit};
use measure::{Histogram, Summary};

use crate::{Format, Style, story, visible};

/// Markdown.
pub const FORMAT: Format = Format { name: "markdown", about: "a short table for a pull request or a ticket", extension: "md", render };

/// What a reviewer looks at.
const SHOWN: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

fn render(summary: &Summary, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    if let Some(ending) = story::ending(summary) {
        writeln!(out, "> {ending}.\n")?;
    }
    writeln!(out, "**{}.**\n", story::answer(summary))?;
    writeln!(out, "{}: {}.\n", visible::markdown(&story::request(summary)), visible::markdown(&story::load(summary)[0]))?;
    if !summary.response_time.is_empty() {
        times(summary, out)?;
    }
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
        writeln!(out, "\n{} never sent: no connection came free in time.", quantity::counted(requests.unsent, "request"))?;
    }
    if let Some(limit) = generator_limit(summary) {
        writeln!(out, "\n**The load generator was the limit: {limit}.** The server may carry more.")?;
    }
    for disturbance in disturbances(summary) {
        writeln!(out, "\n> {disturbance}")?;
    }
    for warning in &summary.warnings {
        writeln!(out, "\n> {}", visible::markdown(warning))?;
    }
    let machine = &summary.machine;
    writeln!(
        out,
        "\nMeasured {} by {} on {}, {}.",
        visible::markdown(&summary.started),
        visible::markdown(&machine.loadline),
        visible::markdown(&machine.processor),
        quantity::counted(machine.cores.into(), "core")
    )
}

fn times(summary: &Summary, out: &mut dyn io::Write) -> io::Result<()> {
    let mut heads: Vec<String> = vec![String::new(), "mean".to_owned()];
    heads.extend(SHOWN.iter().map(|q| quantity::quantile(*q)));
    heads.push("max".to_owned());
    writeln!(out, "| {} |", heads.join(" | "))?;
    writeln!(out, "|---|{}", "---:|".repeat(heads.len() - 1))?;
    let mut row = |name: &str, times: &Histogram| {
        let mut cells = vec![name.to_owned(), times.mean().map_or_else(|| NONE.to_owned(), time)];
        cells.extend(SHOWN.iter().map(|q| nanos(times.known_quantile(*q))));
        cells.push(nanos(times.max()));
        writeln!(out, "| {} |", cells.join(" | "))
    };
    row("response time", &summary.response_time)?;
    if summary.response_time_succeeded.count() < summary.response_time.count() && !summary.response_time_succeeded.is_empty() {
        row("of successes", &summary.response_time_succeeded)?;
    }
    row("service time", &summary.service_time)?;
    if SHOWN.iter().any(|q| !measure::quantile_is_known(summary.response_time.count(), *q)) {
        writeln!(out, "\n{NONE} stands where too few requests were timed to tell.")?;
    }
    Ok(())
}
