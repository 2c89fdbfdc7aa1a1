//! A search as a page of Markdown beside its chart: the answer, the chart, every trial, and how it was measured.

use std::fmt::Write;

use analysis::found::{CapacityReport, RateUnit};
use analysis::quantity::{counted, nanos};

use super::table;
use crate::server_side::{self, Rows};
use crate::sweep::markdown::{Charts, conditions, file_link};
use crate::{profiles, story, visible};

/// The page. The chart is linked by the name that [`super::files`] gives it.
#[must_use]
pub fn markdown(found: &CapacityReport) -> String {
    page(found, Charts::Linked)
}

/// The page for where no files can stand beside it, such as the summary of a job.
#[must_use]
pub fn without_charts(found: &CapacityReport) -> String {
    page(found, Charts::Left)
}

fn page(found: &CapacityReport, charts: Charts) -> String {
    let mut page = String::new();
    let mut say = |line: &str| writeln!(page, "{line}").expect("writing to memory does not fail");
    say(&format!("# {}\n", visible::markdown(&found.name)));
    for sentence in found.sentences() {
        say(&format!("- {}", visible::markdown(&sentence)));
    }
    for sentence in crate::limits::markdown(&analysis::limits::of_search(found)) {
        say(&format!("- {sentence}"));
    }
    say("");
    if charts == Charts::Linked {
        say(&format!("![Throughput, goodput and response time by offered rate]({}_find.svg)\n", file_link(&found.name)));
    }
    let heads = table::heads(found);
    let rule = |head: &String| if matches!(head.as_str(), "for" | "verdict") { "---|" } else { "---:|" };
    say(&format!("| {} |", heads.join(" | ")));
    say(&format!("|{}", heads.iter().map(rule).collect::<String>()));
    for trial in &found.trials {
        let cells: Vec<String> = table::cells(found, trial).iter().map(|cell| visible::markdown(cell)).collect();
        say(&format!("| {} |", cells.join(" | ")));
    }
    say(&format!("\n{}\n", table::legend(found)));
    if let Some(rows) = Rows::of_loads(&server_side::trials(found)) {
        say(&rows.markdown());
    }
    let grown = profiles::markdown(&profiles::of_search(found));
    if !grown.is_empty() {
        say(grown.trim_end_matches('\n'));
        say("");
    }
    if let Some(trial) = found.trials.first() {
        let summary = &trial.summary;
        say("## How it was measured\n");
        say(&format!("- request: {}", visible::markdown(&story::request_of(&summary.plan))));
        say(match found.rated {
            RateUnit::Requests => {
                "- load: open: requests fall due at the offered rate, whether or not the server keeps up; each trial has its own seed"
            }
            RateUnit::Journeys => {
                "- load: open: journeys begin at the offered rate, whether or not the server keeps up; each trial has its own seed"
            }
        });
        say(&format!("- unloaded: a median of {}", nanos(found.unloaded_median)));
        let rested: f64 = found.rests.iter().map(|rest| rest.seconds).sum();
        say(&format!(
            "- time: {:.0} s of {:.0} s, {} of them in {} until the server had recovered",
            found.answer.spent_s,
            found.settings.budget_s,
            format_args!("{rested:.0} s"),
            counted(found.rests.len() as u64, "pause")
        ));
        conditions(found.trials.iter().map(|trial| &trial.summary), &found.warnings).iter().for_each(|line| say(line));
    }
    say(&format!("- started: {}", visible::markdown(&found.started)));
    page
}
