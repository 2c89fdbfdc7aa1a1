//! What was promised, on a page: the answer before all others where a promise was not kept, and the table of them all.
//!
//! A run has two kinds of promises, each with a table: its checks, and not to be worse than a saved run. One that is broken and one that
//! cannot be judged are not the same news. So tone and evidence are those of the worst that is told.

use analysis::gate::{Change, Judgement, Regression, Verdict};

use super::{Answer, Table, Tone};
use crate::visible::visible;

/// The section of the table.
const SECTION: &str = "checks";
/// The section of the figures of a run beside those of a saved one.
pub(super) const AGAINST: &str = "against";

/// A promise that was not kept.
struct Unkept {
    said: String,
    evidence: &'static str,
    tone: Tone,
}

/// What was not kept, each with what was measured; nothing where all was.
pub(super) fn answer(checks: &[Judgement], against: Option<&Regression>) -> Option<Answer> {
    let unkept: Vec<Unkept> = checks.iter().filter_map(of_check).chain(against.and_then(of_regression)).collect();
    let worst = unkept.iter().find(|it| it.tone == Tone::Bad).or(unkept.first())?;
    let said: Vec<String> = unkept.iter().map(|it| it.said.clone()).collect();
    Answer::unkept(&said, worst.evidence).map(|answer| answer.toned(worst.tone))
}

fn of_check(judgement: &Judgement) -> Option<Unkept> {
    let (said, tone) = match judgement.verdict {
        Verdict::Held => return None,
        Verdict::Broken => (format!("{}: {}; measured: {}", judgement.verdict.name(), judgement.check, judgement.about()), Tone::Bad),
        Verdict::NotJudgeable { .. } => (format!("Cannot tell: {}; {}", judgement.check, judgement.about()), Tone::Caution),
    };
    Some(Unkept { said: visible(&said), evidence: SECTION, tone })
}

fn of_regression(ruling: &Regression) -> Option<Unkept> {
    let tone = match ruling.verdict {
        Change::Within => return None,
        Change::CannotTell => Tone::Caution,
        Change::Worse => Tone::Bad,
    };
    Some(Unkept { said: visible(&ruling.sentence()), evidence: AGAINST, tone })
}

/// Every check with its verdict; `None` where nothing was promised.
pub(super) fn table(checks: &[Judgement]) -> Option<Table> {
    let row = |it: &Judgement| vec![it.verdict.name().to_owned(), visible(&it.check.to_string()), visible(&it.about())];
    (!checks.is_empty()).then(|| Table::new(SECTION, "Checks", &["verdict", "check", "measured"], checks.iter().map(row).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Reading;
    use analysis::gate::Check;
    use measure::fixtures;

    /// What became of these checks in a run in which all went well.
    fn judged(texts: &[&str]) -> Vec<Judgement> {
        let (_, summary) = fixtures::summaries().remove(0);
        let checks: Vec<Check> = texts.iter().map(|text| text.parse().expect("a check")).collect();
        Reading::new(&summary, &checks).checks
    }

    fn ruling(verdict: Change) -> Regression {
        Regression {
            reference: "@baseline".to_owned(),
            allowed: 0.05,
            rows: Vec::new(),
            is_invalid: false,
            is_reference_invalid: false,
            is_other_machine: false,
            runs: 5,
            verdict,
        }
    }

    /// The tone and the section of the answer.
    fn opened(texts: &[&str], against: Option<Change>) -> Option<(Tone, Option<&'static str>)> {
        let ruling = against.map(ruling);
        answer(&judged(texts), ruling.as_ref()).map(|answer| (answer.tone, answer.evidence))
    }

    const HELD: &str = "p50 < 1h";
    const BROKEN: &str = "p50 < 1ns";
    const UNKNOWN: &str = "tls.p99 < 1s";

    #[test]
    fn tone_and_evidence_are_those_of_the_worst_that_was_not_kept() {
        assert_eq!(opened(&[], None), None);
        assert_eq!(opened(&[HELD], Some(Change::Within)), None);
        assert_eq!(opened(&[HELD, BROKEN], None), Some((Tone::Bad, Some("checks"))));
        assert_eq!(opened(&[HELD], Some(Change::Worse)), Some((Tone::Bad, Some("against"))));
        assert_eq!(opened(&[HELD, UNKNOWN], None), Some((Tone::Caution, Some("checks"))));
        assert_eq!(opened(&[HELD], Some(Change::CannotTell)), Some((Tone::Caution, Some("against"))));
        assert_eq!(opened(&[UNKNOWN], Some(Change::Worse)), Some((Tone::Bad, Some("against"))));
        assert_eq!(opened(&[UNKNOWN, BROKEN], Some(Change::Worse)), Some((Tone::Bad, Some("checks"))));
    }

    #[test]
    fn the_table_has_every_check_with_the_name_of_its_verdict() {
        let table = table(&judged(&[HELD, BROKEN, UNKNOWN])).expect("there are checks");
        let verdicts: Vec<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!((table.id, verdicts), ("checks", vec!["held", "FAILED", "not judgeable"]));
        assert!(super::table(&[]).is_none());
    }
}
