//! What limits the server, on a page: the fourth answer, and the table that it leads to.

use analysis::bottleneck::Finding;
use analysis::quantity::decimal;

use super::{Answer, Question, Table, Tone, finished};
use crate::visible::visible;

/// The section of the table.
pub(super) const SECTION: &str = "bottleneck";

/// What limits it, in a sentence that leads to the table; `None` where nothing can be said.
pub(super) fn answer(findings: &[Finding]) -> Option<Answer> {
    let (first, rest) = findings.split_first()?;
    let said = finished(&visible(&first.headline()));
    if !first.is_named() {
        return Some(Answer::measured(Question::Limits, said, SECTION));
    }
    let next = rest.first().map_or_else(String::new, |next| format!(" The next candidate is {}.", next.kind.name()));
    Some(Answer::measured(Question::Limits, format!("{said}{next}"), SECTION).toned(Tone::Caution))
}

/// Every Finding, the strongest first, with what speaks for it and what would refute it.
pub(super) fn table(findings: &[Finding]) -> Option<Table> {
    let row = |finding: &Finding| {
        vec![
            visible(&finished(&finding.headline())),
            decimal(finding.strength, 2),
            visible(&finding.evidence.iter().map(|it| finished(it)).collect::<Vec<_>>().join(" ")),
            finished(&finding.refuted_by),
            finished(&finding.remedy),
        ]
    };
    let heads = ["what", "#strength", "evidence", "how to check", "fix"];
    (!findings.is_empty()).then(|| {
        Table::new(SECTION, "What limits it", &heads, findings.iter().map(row).collect())
            .noted("The strongest first. The strength, from 0 to 1, is an order and no probability; below 0.5 nothing is named.")
    })
}
