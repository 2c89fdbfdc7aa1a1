//! The answer of a capacity search, said to a person.
//!
//! Pure text. The first sentence is the answer and stands alone; the others say what was found beside it, what is not
//! proven, and what would prove it. An answer is never just a number: it names the promise it holds for, and where it ends.

use crate::found::RateUnit;
use crate::quantity::{Written, figure, told_apart};
use crate::search::{AfterOverload, Answer, Break, Confirmation, LimitedBy, Mistake, Promise, Unit};

/// Every sentence about an answer, the answer itself first. Lower case, without a full stop.
#[must_use]
pub fn sentences(answer: &Answer, promises: &[Promise], rated: RateUnit) -> Vec<String> {
    let unit = rated.unit();
    let rate = written(answer);
    let mut sentences = vec![headline(answer, promises, rated)];
    sentences.extend(answer.soak.map(|it| soak(promises, &it, (rate, unit))));
    sentences.extend(answer.from_above.map(|it| from_above(promises, &it, (rate, unit))));
    if let Some(after) = answer.unrecovered_after {
        let rested = format!("does not recover: after {} {unit} it was not back to normal when the longest pause ended", rate(after));
        sentences.push(rested);
    }
    if let Some(it) = answer.inversion {
        let written = told_apart(it.failed, it.passed);
        let (failed, passed) = (written(it.failed), written(it.passed));
        sentences.push(format!("{passed} {unit} passed although {failed} {unit} failed; the lower rate counts"));
    }
    if answer.carries.is_some() && answer.soak.is_none() {
        sentences.push("not proven by a longer trial: the budget was used up".to_owned());
    }
    if let Some(seconds) = answer.wants_s {
        sentences.push(format!("--budget {} would likely settle it", time(seconds)));
    }
    sentences
}

/// How the rates of an answer are written: what is carried and what is not are never one number.
#[must_use]
pub fn written(answer: &Answer) -> Written {
    match (answer.carries, answer.breaks_at) {
        (Some(carries), Some(breaks)) => told_apart(carries, breaks.rate),
        _ => figure,
    }
}

/// The answer in one sentence.
#[must_use]
pub fn headline(answer: &Answer, promises: &[Promise], rated: RateUnit) -> String {
    let unit = rated.unit();
    let number = written(answer);
    let with = promised(promises);
    let breaks = answer.breaks_at.map(|it| format!("; breaks at {}", broken(promises, &it, number))).unwrap_or_default();
    let range = match answer.capacity.high {
        Some(high) => {
            let bound = told_apart(answer.capacity.low, high);
            format!("{}–{}", bound(answer.capacity.low), bound(high))
        }
        None => format!("at least {}", number(answer.capacity.low)),
    };
    match (answer.carries, answer.limited_by) {
        (_, LimitedBy::Generator) => {
            let rate = answer.carries.unwrap_or(answer.capacity.low);
            format!("carries at least {} {unit} with {with}; the load generator is the limit", number(rate))
        }
        (Some(rate), LimitedBy::RateMax) => {
            format!("carries {} {unit} with {with}, and no more was tried: it is the highest rate allowed", number(rate))
        }
        (Some(rate), LimitedBy::Promise(_)) => format!("carries {} {unit} ({range}) with {with}{breaks}", number(rate)),
        (Some(rate), LimitedBy::Budget) => {
            format!("carries at least {} {unit} with {with}; the budget was used up before a rate failed", number(rate))
        }
        (Some(rate), LimitedBy::Invalid) => {
            format!("carries at least {} {unit} with {with}; further trials were invalid, one after the other", number(rate))
        }
        (None, LimitedBy::Invalid) => "cannot tell: trials were invalid, one after the other".to_owned(),
        (None, LimitedBy::Promise(_)) if answer.capacity.low <= 0.0 => {
            let at = answer.breaks_at.map(|it| format!(" even at {}", broken(promises, &it, number))).unwrap_or_default();
            format!("does not keep {with}{at}")
        }
        (None, _) if answer.capacity.high.is_some() => {
            format!("carries some {range} {unit} with {with}, but no rate was proven in {}{breaks}", time(answer.spent_s))
        }
        (None, _) => format!("cannot tell: no rate was proven in {}", time(answer.spent_s)),
    }
}

/// What is wrong with the settings of a search, and what to do.
#[must_use]
pub fn mistake(mistake: &Mistake) -> String {
    match mistake {
        Mistake::NoPromise => "nothing is promised, so every rate would keep it; say for instance --slo 'p99 < 50ms'".to_owned(),
        Mistake::Share { promise, share } => {
            format!("{promise} allows {} % of requests to be bad; it has to be from 0 to below 100 %", figure(share * 100.0))
        }
        Mistake::Rates { first, max } => {
            format!(
                "the search cannot begin at {} req/s and end at {} req/s; it climbs from the first to the second",
                figure(*first),
                figure(*max)
            )
        }
        Mistake::Ratios { width, exceed } => {
            format!(
                "a width of {width} and an exceed ratio of {exceed} cannot be searched with; the width lies between 0 and 1, the ratio from 0 to below 1"
            )
        }
        Mistake::BudgetTooShort { budget_s, needed_s } => {
            format!("a budget of {} is too short to find a capacity; it would take {}", time(*budget_s), time(*needed_s))
        }
    }
}

fn soak(promises: &[Promise], it: &Confirmation, (number, unit): (Written, &str)) -> String {
    match it.missed {
        None => format!("held {} {unit} for {}", number(it.rate), time(it.seconds)),
        Some((promise, value)) => {
            format!("did not hold {} {unit} in a trial of {}: {}", number(it.rate), time(it.seconds), seen(promises, promise, value))
        }
    }
}

fn from_above(promises: &[Promise], it: &AfterOverload, (number, unit): (Written, &str)) -> String {
    let (rate, overload) = (number(it.rate), number(it.overload));
    let Some((promise, value)) = it.missed else {
        return format!("carries {rate} {unit} again straight after {overload} {unit}");
    };
    let until = it.until_s.map(|seconds| format!(" for {}", time(seconds))).unwrap_or_default();
    format!(
        "remembers an overload: straight after {overload} {unit} it did not keep {} at {rate} {unit}{until}: {}",
        promises[promise].text,
        seen(promises, promise, value)
    )
}

/// `828: p99 190 ms`
fn broken(promises: &[Promise], it: &Break, number: Written) -> String {
    format!("{}: {}", number(it.rate), seen(promises, it.promise, it.value))
}

fn seen(promises: &[Promise], promise: usize, value: f64) -> String {
    let Promise { name, unit, .. } = &promises[promise];
    let value = match unit {
        Unit::Seconds => span(value),
        Unit::Share => format!("{} %", three_digits(value * 100.0)),
    };
    format!("{name} {value}")
}

fn promised(promises: &[Promise]) -> String {
    match promises {
        [] => String::new(),
        [only] => only.text.clone(),
        [all @ .., last] => format!("{} and {}", all.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join(", "), last.text),
    }
}

fn span(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{} ms", three_digits(s * 1e3)),
        s => format!("{} s", three_digits(s)),
    }
}

/// As it is written in a flag: whole seconds up to two minutes, then minutes and seconds.
fn time(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match (seconds / 60, seconds % 60) {
        (0 | 1, _) => format!("{seconds}s"),
        (minutes, 0) => format!("{minutes}m"),
        (minutes, rest) => format!("{minutes}m{rest}s"),
    }
}

fn three_digits(value: f64) -> String {
    let places = if value >= 100.0 || value == 0.0 { 0 } else { (2.0 - value.abs().log10().floor()).clamp(0.0, 4.0) as usize };
    trimmed(format!("{value:.places$}"))
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Capacity, Inversion};

    fn p99() -> Promise {
        Promise { text: "p99 < 50ms".into(), name: "p99".into(), unit: Unit::Seconds, bad_share_max: 0.01, limit_s: Some(0.05) }
    }

    /// Said with one promise.
    fn said(answer: &Answer) -> Vec<String> {
        sentences(answer, &[p99()], RateUnit::Requests)
    }

    fn answer() -> Answer {
        Answer {
            carries: Some(812.0),
            capacity: Capacity { low: 804.0, high: Some(820.0) },
            limited_by: LimitedBy::Promise(0),
            breaks_at: Some(Break { rate: 828.0, promise: 0, value: 0.19 }),
            regular: true,
            soak: Some(Confirmation { rate: 812.0, seconds: 30.0, missed: None }),
            from_above: None,
            unrecovered_after: None,
            inversion: None,
            wants_s: None,
            spent_s: 150.0,
        }
    }

    #[test]
    fn the_answer_is_an_interval_with_its_promise_and_its_end() {
        assert_eq!(said(&answer())[0], "carries 812 req/s (804–820) with p99 < 50ms; breaks at 828: p99 190 ms");
        assert_eq!(said(&answer())[1..], ["held 812 req/s for 30s"]);
    }

    #[test]
    fn a_rate_that_is_carried_and_one_that_is_not_are_two_numbers() {
        let it = Answer {
            carries: Some(348.6),
            capacity: Capacity { low: 321.0, high: Some(364.0) },
            breaks_at: Some(Break { rate: 349.3, promise: 0, value: 0.065 }),
            soak: Some(Confirmation { rate: 348.6, seconds: 10.0, missed: None }),
            ..answer()
        };
        assert_eq!(said(&it), ["carries 348.6 req/s (321–364) with p99 < 50ms; breaks at 349.3: p99 65 ms", "held 348.6 req/s for 10s"]);
    }

    #[test]
    fn what_is_begun_by_rate_is_said() {
        let it = sentences(&answer(), &[p99()], RateUnit::Journeys);
        assert_eq!(it, ["carries 812 journeys/s (804–820) with p99 < 50ms; breaks at 828: p99 190 ms", "held 812 journeys/s for 30s"]);
    }

    #[test]
    fn every_promise_is_named_and_the_one_that_broke_shows_its_value() {
        let mut it = answer();
        let failed =
            Promise { text: "failed < 0.1%".into(), name: "failed".into(), unit: Unit::Share, bad_share_max: 0.001, limit_s: None };
        it.breaks_at = Some(Break { rate: 828.0, promise: 1, value: 0.012_34 });
        assert_eq!(
            headline(&it, &[p99(), failed], RateUnit::Requests),
            "carries 812 req/s (804–820) with p99 < 50ms and failed < 0.1%; breaks at 828: failed 1.23 %"
        );
    }

    #[test]
    fn whatever_limited_the_search_is_said() {
        let limited = |by, carries, capacity| {
            headline(&Answer { limited_by: by, carries, capacity, breaks_at: None, ..answer() }, &[p99()], RateUnit::Requests)
        };
        let open = Capacity { low: 812.0, high: None };
        assert_eq!(
            limited(LimitedBy::Generator, Some(812.0), open),
            "carries at least 812 req/s with p99 < 50ms; the load generator is the limit"
        );
        assert_eq!(
            limited(LimitedBy::RateMax, Some(812.0), open),
            "carries 812 req/s with p99 < 50ms, and no more was tried: it is the highest rate allowed"
        );
        assert_eq!(
            limited(LimitedBy::Budget, Some(812.0), open),
            "carries at least 812 req/s with p99 < 50ms; the budget was used up before a rate failed"
        );
        assert_eq!(limited(LimitedBy::Invalid, None, open), "cannot tell: trials were invalid, one after the other");
        assert_eq!(
            headline(&Answer { carries: None, ..answer() }, &[p99()], RateUnit::Requests),
            "carries some 804–820 req/s with p99 < 50ms, but no rate was proven in 2m30s; breaks at 828: p99 190 ms"
        );
        let never = Answer {
            carries: None,
            capacity: Capacity { low: 0.0, high: Some(0.625) },
            breaks_at: Some(Break { rate: 0.625, promise: 0, value: 1.904 }),
            ..answer()
        };
        assert_eq!(headline(&never, &[p99()], RateUnit::Requests), "does not keep p99 < 50ms even at 0.625: p99 1.9 s");
    }

    #[test]
    fn what_was_found_beside_the_answer_is_said() {
        let it = Answer {
            soak: Some(Confirmation { rate: 812.0, seconds: 30.0, missed: Some((0, 0.0612)) }),
            from_above: Some(AfterOverload { overload: 1624.0, rate: 731.0, seconds: 10.0, missed: Some((0, 2.0)), until_s: Some(4.2) }),
            unrecovered_after: Some(1624.0),
            inversion: Some(Inversion { failed: 828.0, passed: 900.0 }),
            wants_s: Some(240.0),
            ..answer()
        };
        assert_eq!(
            said(&it)[1..],
            [
                "did not hold 812 req/s in a trial of 30s: p99 61.2 ms",
                "remembers an overload: straight after 1,624 req/s it did not keep p99 < 50ms at 731 req/s for 5s: p99 2 s",
                "does not recover: after 1,624 req/s it was not back to normal when the longest pause ended",
                "900 req/s passed although 828 req/s failed; the lower rate counts",
                "--budget 4m would likely settle it",
            ]
        );
        let it = Answer { soak: None, ..answer() };
        assert_eq!(said(&it)[1..], ["not proven by a longer trial: the budget was used up"]);
    }

    #[test]
    fn mistakes_say_what_to_do() {
        assert_eq!(
            mistake(&Mistake::BudgetTooShort { budget_s: 10.0, needed_s: 64.2 }),
            "a budget of 10s is too short to find a capacity; it would take 65s"
        );
        assert_eq!(mistake(&Mistake::NoPromise), "nothing is promised, so every rate would keep it; say for instance --slo 'p99 < 50ms'");
        assert_eq!(
            mistake(&Mistake::Rates { first: 100.0, max: 50.0 }),
            "the search cannot begin at 100 req/s and end at 50 req/s; it climbs from the first to the second"
        );
        assert_eq!(
            mistake(&Mistake::Share { promise: "failed < 100%".into(), share: 1.0 }),
            "failed < 100% allows 100 % of requests to be bad; it has to be from 0 to below 100 %"
        );
    }
}
