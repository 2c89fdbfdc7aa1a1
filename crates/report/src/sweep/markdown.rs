//! A sweep as a page of Markdown beside its charts: the conclusion, the charts, the table, and how it was measured.

use std::collections::BTreeSet;
use std::fmt::Write;

use analysis::ceiling::CeilingUse;
use analysis::curve_words::parameters;
use analysis::quantity::counted;
use analysis::{Scaling, Sweep, conclusion, promises_kept};
use measure::Summary;
use plan::Load;

use super::table::{self, CountUnit};
use crate::machines::{first_of_machines, other_machines};
use crate::server_side::{self, Rows};
use crate::{profiles, story, visible};

/// The page; `scaling` is what the levels say together. Charts are linked by the names that [`super::files`] gives them.
#[must_use]
pub fn markdown(sweep: &Sweep, scaling: &Scaling) -> String {
    page(sweep, scaling, Charts::Linked)
}

/// The page for where no files can stand beside it, such as the summary of a job.
#[must_use]
pub fn without_charts(sweep: &Sweep) -> String {
    page(sweep, &analysis::scaling(sweep), Charts::Left)
}

/// Whether the charts stand beside the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charts {
    Linked,
    Left,
}

fn page(sweep: &Sweep, scaling: &Scaling, charts: Charts) -> String {
    let rows = sweep.rows();
    let mut page = String::new();
    let name = visible::markdown(&sweep.name);
    let mut say = |line: &str| writeln!(page, "{line}").expect("writing to memory does not fail");
    say(&format!("# {name}\n"));
    for sentence in conclusion(&rows, scaling, sweep.stopped.as_ref()).into_iter().chain(promises_kept(&sweep.checks, &rows)) {
        say(&format!("- {}", visible::markdown(&sentence)));
    }
    for sentence in crate::limits::markdown(&analysis::limits::of_sweep(sweep)) {
        say(&format!("- {sentence}"));
    }
    say("");
    let linked = [("QPS and mean latency by level", "_qps_ttlb"), ("Success rate by level", "_successrate")];
    for (title, ending) in linked.into_iter().filter(|_| charts == Charts::Linked) {
        say(&format!("![{title}]({}{ending}.svg)\n", file_link(&sweep.name)));
    }
    if let Some(first) = rows.first() {
        let heads = table::heads(first.level, CountUnit::of(first));
        say(&format!("| {} | |", heads.join(" | ")));
        say(&format!("|{}---|", "---:|".repeat(heads.len())));
    }
    for row in &rows {
        say(&format!("| {} | {} |", table::cells(row).join(" | "), visible::markdown(&table::remark(row))));
    }
    say(&format!("\n{}\n", table::legend(&rows)));
    if let Some(failed) = table::failed_parts(&rows) {
        say(&format!("| {} |\n|---:|---|---:|---:|---|", failed.heads.join(" | ")));
        for row in failed.rows {
            say(&format!("| {} |", row.map(|cell| visible::markdown(&cell)).join(" | ")));
        }
        say("");
    }
    if let Some((curve, model)) = scaling.curve.as_ref().and_then(|curve| Some((curve, curve.reading.model.as_ref()?))) {
        say(&format!("## The model: {}\n", analysis::curve_words::name(model, curve.pausing)));
        say("| parameter | value | 95 % interval |");
        say("|---|---:|---:|");
        for it in parameters(model, curve.pausing) {
            say(&format!("| {} | {} | {} |", visible::markdown(it.about), it.value, it.interval.as_deref().unwrap_or("without end")));
        }
        say("");
    }
    if let Some(rows) = Rows::of_loads(&server_side::levels(sweep)) {
        say(&rows.markdown());
    }
    let grown = profiles::markdown(&profiles::of_sweep(sweep));
    if !grown.is_empty() {
        say(grown.trim_end_matches('\n'));
        say("");
    }
    if let Some(trial) = sweep.trials.first() {
        let summary = &trial.summary;
        say("## How it was measured\n");
        say(&format!("- request: {}", visible::markdown(&story::request_of(&summary.plan))));
        say(&format!("- load: {}", load(sweep)));
        if let Some(duration) = summary.plan.duration() {
            let warmup = summary.plan.warmup();
            let before = match warmup {
                _ if summary.plan.finds_warmup() => ", less the warm-up found in each".to_owned(),
                plan::Nanos::ZERO => String::new(),
                warmup => format!(" after a warm-up of {warmup}"),
            };
            let repetitions = sweep.trials.iter().map(|trial| trial.repetition).max().unwrap_or(1);
            let times = if repetitions > 1 {
                format!(", {}: first ascending, then in random order", counted(repetitions.into(), "time"))
            } else {
                String::new()
            };
            say(&format!("- each level for {duration}{before}{times}"));
        }
        conditions(sweep.trials.iter().map(|trial| &trial.summary), &sweep.warnings).iter().for_each(|line| say(line));
    }
    say(&format!("- started: {}", visible::markdown(&sweep.started)));
    page
}

/// How the ladder's load is made, whatever the level.
fn load(sweep: &Sweep) -> &'static str {
    let plan = sweep.trials.first().map(|trial| &trial.summary.plan);
    match plan.map(|plan| (plan.load(), plan.scenario().is_some())) {
        Some((Load::Open { .. }, true)) => "open: journeys begin at the rate of the level, whether or not the server keeps up",
        Some((Load::Open { .. }, false)) => "open: requests fall due at the offered rate, whether or not the server keeps up",
        Some((Load::Mixed(_), _)) => "several populations, each level divided among them as the scenario does",
        Some((Load::Closed { .. }, true)) => {
            "closed: each user goes on when the last answer is there and its pause over, so users slow down with the server; independent \
             users would wait longer whenever it falters"
        }
        _ => {
            "closed: each user sends again as soon as the last answer is there, so users slow down with the server; independent users \
             would wait longer whenever it falters"
        }
    }
}

/// Where the trials were measured from, and everything they and the whole of them warn of, one line each.
pub(crate) fn conditions<'a>(trials: impl Iterator<Item = &'a Summary> + Clone, warnings: &'a [String]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(trial) = trials.clone().next() {
        let machine = &trial.machine;
        lines.push(format!(
            "- from: {}, {}, {}, {}{}",
            visible::markdown(&machine.processor),
            counted(machine.cores.into(), "core"),
            visible::markdown(&machine.system),
            visible::markdown(&machine.loadline),
            first_of_machines(trial)
        ));
        let told = |(names, machine): (String, String)| format!("- from {}: {}", visible::markdown(&names), visible::markdown(&machine));
        lines.extend(other_machines(trial).into_iter().map(told));
    }
    if let Some(most) = CeilingUse::greatest(trials.clone()) {
        lines.push(format!("- loadline {}", most.in_words()));
    }
    let warnings: BTreeSet<&String> = trials.flat_map(|trial| &trial.warnings).chain(warnings).collect();
    lines.extend(warnings.into_iter().map(|warning| format!("- warning: {}", visible::markdown(warning))));
    lines
}

/// The name as the address of a link: anything but letters, digits and harmless signs is percent-encoded.
pub(crate) fn file_link(name: &str) -> String {
    let mut link = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            link.push(char::from(byte));
        } else {
            link.push_str(&format!("%{byte:02X}"));
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Machine, SiteRow, fixtures};

    #[test]
    fn the_names_of_machines_are_no_markup() {
        let (_, mut trial) = fixtures::summaries().remove(0);
        let larger = Machine { cores: trial.machine.cores + 2, ..trial.machine.clone() };
        trial.edit_for_test().sites =
            vec![SiteRow { machine: Some(larger), ..fixtures::other_machine("<b>*eu*") }, fixtures::other_machine("eu-2")];
        let lines = conditions(std::iter::once(&trial), &[]);
        assert!(lines.iter().any(|line| line.starts_with("- from &lt;b&gt;\\*eu\\*: ")), "{lines:?}");
    }
}
