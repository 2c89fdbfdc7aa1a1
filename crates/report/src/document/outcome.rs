//! How a result came out, in a few words: what a list of results says of each.

use analysis::gate::{Judgement, Regression, Verdict, judge};
use analysis::outage::outage;
use analysis::quantity::{count, counted, figure, length, nanos};
use analysis::{Standing, StopReason, StopRule, Validity, answers};
use measure::Ending;

use super::Document;
use crate::causes;

impl Document {
    /// How it came out, in a few words.
    #[must_use]
    pub fn outcome(&self) -> String {
        match self {
            Self::Run(run, terms) => {
                let mut parts = Vec::new();
                match run.ended.how {
                    Ending::Finished => {}
                    Ending::Interrupted => parts.push("interrupted".to_owned()),
                    Ending::Aborted => parts.push("aborted".to_owned()),
                    Ending::CutShort | Ending::Killed => parts.push("cut short".to_owned()),
                }
                let standing = Validity::of(run).standing;
                if standing != Standing::Valid {
                    parts.push(standing.to_string());
                }
                let judged = if standing == Standing::Invalid { Vec::new() } else { judge(&terms.checks, run) };
                parts.extend(unkept(&judged));
                parts.extend(terms.against.as_ref().and_then(Regression::worse));
                let (due, bad) = (run.requests.due, run.requests.failed + run.requests.unsent);
                if bad == due && due > 0 {
                    parts.push(format!("all {} failed: {}", count(bad), causes(run)));
                    return parts.join(", ");
                }
                if answers::late(run).is_some() {
                    parts.push("no answer within the run".to_owned());
                    return parts.join(", ");
                }
                let redirects = answers::redirects_not_followed(run).filter(|(number, _)| *number == due);
                if let Some((number, statuses)) = redirects {
                    let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
                    parts.push(format!("all {} were redirects ({}) that were not followed", count(number), statuses.join(", ")));
                    return parts.join(", ");
                }
                if let Some(outage) = outage(run) {
                    parts.push(format!("stopped answering after {}, {}/s before", length(outage.at), figure(outage.qps_before)));
                } else {
                    // The figure of the column beside it, by which lists are sorted and trends drawn.
                    let succeeded = if bad == 0 { "" } else { " succeeded" };
                    parts.push(format!("{}/s{succeeded}", figure(run.qps_succeeded)));
                }
                if let Some(p99) = run.response_time.known_quantile(0.99) {
                    parts.push(format!("p99 {}", nanos(Some(p99))));
                }
                parts.push(if bad == 0 { "none failed".to_owned() } else { format!("{} failed: {}", count(bad), causes(run)) });
                parts.join(", ")
            }
            Self::Sweep(sweep) => {
                let rows = sweep.rows();
                let best = rows.iter().max_by(|a, b| a.qps.total_cmp(&b.qps));
                let said = best.map_or_else(|| "nothing measured".to_owned(), |best| format!("{}/s at {}", figure(best.qps), best.level));
                let levels = if rows.len() == 1 { "1 level".to_owned() } else { format!("{} levels", rows.len()) };
                let broken = sweep.checks.iter().filter(|check| rows.iter().any(|row| row.broken.contains(check))).count();
                format!("{said}, {levels}{}{}", ended(sweep.stopped.as_ref()), behind(broken_of(broken, sweep.checks.len())))
            }
            Self::Find(found) => {
                let said = found.answer.carries.map_or_else(|| "no rate proven".to_owned(), |rate| format!("carries {}/s", figure(rate)));
                let promises: Vec<&str> = found.slo.iter().map(|promise| promise.text.as_str()).collect();
                format!("{said} with {}{}{}", promises.join(" and "), ended(found.stopped.as_ref()), behind(unkept(&found.judged())))
            }
            Self::Compare(compared) => {
                let verdict = compared.verdict().map_or_else(|| "no verdict".to_owned(), |verdict| format!("B is {verdict}"));
                let pairs = compared.sound().count();
                let stopped = compared.stopped.as_ref().map_or_else(String::new, |why| format!(", stopped: {why}"));
                format!("{verdict}, {pairs} pairs{stopped}{}", behind(unkept(&compared.checks))).replace("B is cannot", "cannot")
            }
        }
    }
}

/// How many of these did not hold, if any did not: `1 of 2 checks FAILED`.
fn unkept(judged: &[Judgement]) -> Option<String> {
    broken_of(judged.iter().filter(|judgement| judgement.verdict == Verdict::Broken).count(), judged.len())
}

fn broken_of(broken: usize, all: usize) -> Option<String> {
    (broken > 0).then(|| format!("{broken} of {} {}", counted(all as u64, "check"), Verdict::Broken.name()))
}

/// Behind what was said before.
fn behind(said: Option<String>) -> String {
    said.map_or_else(String::new, |said| format!(", {said}"))
}

fn ended(stopped: Option<&StopReason>) -> String {
    match stopped.map(|stopped| stopped.rule) {
        Some(StopRule::Interrupted) => ", interrupted".to_owned(),
        Some(StopRule::Aborted) => ", given up".to_owned(),
        Some(StopRule::CutShort | StopRule::Killed) => ", cut short".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::{Sweep, Trial};
    use measure::{Failure, FailureCount, Requests, Side, Summary, fixtures};

    use crate::document::Terms;

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    fn outcome(run: Summary, terms: Terms) -> String {
        Document::Run(Box::new(run), terms).outcome()
    }

    #[test]
    fn a_server_that_stopped_answering_is_listed_as_that() {
        let mut run = fixture("closed_all_well");
        for tick in run.edit_for_test().timeline.iter_mut().skip(4) {
            (tick.failed, tick.answered, tick.succeeded) = (200, 0, 0);
        }
        run.edit_for_test().requests = Requests { due: 49_200, succeeded: 48_000, failed: 1_200, unsent: 0 };
        run.edit_for_test().failures =
            vec![FailureCount { class: Failure::ConnectRefused, side: Side::Server, count: 1_200, example: None }];
        let said = outcome(run, Terms::default());
        assert!(said.starts_with("stopped answering after 4 s, 1") && said.contains("/s before, "), "{said}");
        assert!(said.ends_with("1,200 failed: connection refused"), "{said}");
    }

    #[test]
    fn redirects_that_nobody_followed_are_listed_as_that() {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().status = [(302, run.requests.due)].into();
        assert_eq!(outcome(run, Terms::default()), "all 120,000 were redirects (302) that were not followed");
    }

    #[test]
    fn broken_checks_of_a_sweep_are_listed() {
        let level = analysis::Level::Users(std::num::NonZeroU32::MIN);
        let mut sweep = Sweep::new("api".to_owned(), String::new(), vec![level]);
        sweep.trials.push(Trial { level, repetition: 1, summary: fixture("closed_all_well") });
        sweep.checks = ["p99 < 1us", "failed < 1%"].map(|check| check.parse().unwrap()).to_vec();
        let said = Document::Sweep(Box::new(sweep)).outcome();
        assert!(said.ends_with("1 level, 1 of 2 checks FAILED"), "{said}");
    }
}
