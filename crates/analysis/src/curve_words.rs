//! What a ladder shows, said to a person.
//!
//! Pure text: one sentence for the model, one for each thing that cannot be said, one for what was left out. A coefficient
//! alone ("σ = 0.04") is read by few; what it does to requests and users is read by all, so that comes first, with its
//! uncertainty beside it. Numbers are rounded to what their interval supports.

use crate::curve::{Estimate, Misfit, Model, Reading, Refusal};

/// Every sentence about a reading, the model first. Lower case, without a full stop.
#[must_use]
pub fn sentences(reading: &Reading) -> Vec<String> {
    let mut sentences: Vec<String> = reading.model.iter().map(model).collect();
    sentences.extend(reading.refusals.iter().map(refusal));
    if !reading.left_out.is_empty() {
        let them: Vec<String> = reading.left_out.iter().map(|it| number(*it)).collect();
        sentences.push(format!("left out, because the load generator was the limit there: {} users", listed(&them)));
    }
    sentences
}

/// What the chosen model says.
#[must_use]
pub fn model(model: &Model) -> String {
    match model {
        Model::Linear { lambda } => {
            format!("throughput grows in proportion to users: each adds {} req/s, and nothing is shared that can be seen", about(lambda))
        }
        // Contention that may be none sets no ceiling.
        Model::Amdahl { sigma, limit, .. } if !limit.high.is_finite() => contention(sigma),
        Model::Amdahl { sigma, limit, .. } => {
            format!("{}; however many users are added, throughput stays below {} req/s", contention(sigma), about(limit))
        }
        Model::Universal { sigma, peak: Some(peak), .. } => {
            format!("{}; adding users beyond {} makes it slower", contention(sigma), about(&peak.level))
        }
        Model::Universal { sigma, peak: None, .. } => contention(sigma),
        Model::Pool { capacity, knee, .. } => {
            format!("throughput grows until {} users and then stays at {} req/s; users beyond that only wait", about(knee), about(capacity))
        }
    }
}

/// What cannot be said, and why.
#[must_use]
pub fn refusal(refusal: &Refusal) -> String {
    match refusal {
        Refusal::TooFewLevels { levels, spread, left_out } => {
            let without = match left_out {
                0 => String::new(),
                1 => " (1 more was limited by the load generator)".to_owned(),
                n => format!(" ({n} more were limited by the load generator)"),
            };
            if *levels < crate::curve::LEVELS_MIN {
                format!("not enough levels for a model: {levels}{without}, and it takes {}", crate::curve::LEVELS_MIN)
            } else {
                format!(
                    "not enough levels for a model: the highest is {} times the lowest{without}, and it takes {}",
                    number(*spread),
                    number(crate::curve::SPREAD_MIN)
                )
            }
        }
        Refusal::NoRetrograde { tested, .. } => {
            format!("no decline seen up to {} users, so no best number of users can be named", number(*tested))
        }
        Refusal::PeakOutside { above, tested } if above > tested => {
            format!("the peak lies outside the tested range: above {} users, and {} were tested", number(*above), number(*tested))
        }
        Refusal::PeakOutside { above, tested } => {
            format!("where the peak lies cannot be told from levels up to {}: somewhere above {} users", number(*tested), number(*above))
        }
        Refusal::NotTheLaw { pool: Some(knee), .. } => {
            format!("this is a worker pool of about {}, not a scalability curve", number(knee.value.round()))
        }
        Refusal::NotTheLaw { evidence, pool: None } => format!("no model describes this system: {}", misfit(evidence)),
    }
}

fn misfit(evidence: &Misfit) -> String {
    match evidence {
        Misfit::Runs { runs, levels } => {
            let runs = if *runs == 1 { "one run".to_owned() } else { format!("{runs} runs") };
            format!("over {levels} levels the measurements lie above and below the best curve in {runs}, as chance would not have it")
        }
        Misfit::Far { level, by } => {
            let side = if *by < 0.0 { "below" } else { "above" };
            format!("at {} users it is {:.0} % {side} the best curve", number(*level), by.abs() * 100.0)
        }
        Misfit::Bound { .. } => "a ceiling fits better than a curve".to_owned(),
    }
}

fn contention(sigma: &Estimate) -> String {
    // One in two hundred: below it, the percentage would round to nothing.
    if sigma.value < 0.005 {
        let most = (sigma.high * 100.0).max(0.1);
        return format!("contention below {} %: hardly a request waits for something shared", round_up(most));
    }
    let margin = half(sigma) * 100.0;
    let (share, margin) = if margin >= 1.0 {
        (format!("{:.0}", sigma.value * 100.0), format!("{margin:.0}"))
    } else {
        (format!("{:.1}", sigma.value * 100.0), format!("{:.1}", margin.max(0.1)))
    };
    let (share, margin) = (share.trim_end_matches(".0"), margin.trim_end_matches(".0"));
    format!("contention {share} % ± {margin}: one request in {:.0} waits for something shared", 1.0 / sigma.value)
}

/// A value with half its interval, both to the digit the interval supports.
fn about(it: &Estimate) -> String {
    let half = half(it);
    if half <= it.value.abs() * 5e-4 {
        return number(it.value);
    }
    let digit = 10.0_f64.powf(half.log10().floor()).max(if it.value >= 20.0 { 1.0 } else { 0.1 });
    let places = usize::from(digit < 1.0);
    // A margin that begins with 1 is rounded to two digits: 1 and 2 differ too much.
    let digit = if half / digit < 2.0 && digit > 1.0 { digit / 10.0 } else { digit };
    let round = |value: f64| (value / digit).round() * digit;
    format!("{:.places$} ± {:.places$}", round(it.value), round(half).max(digit))
}

fn half(it: &Estimate) -> f64 {
    (it.high - it.low) / 2.0
}

/// Three digits, whole from a hundred on.
fn number(value: f64) -> String {
    if value >= 100.0 || value.fract() == 0.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
    .trim_end_matches(".0")
    .to_owned()
}

/// Up to one significant digit.
fn round_up(value: f64) -> f64 {
    let digit = 10.0_f64.powf(value.log10().floor());
    // The nudge keeps 0.1, which no float is exactly, from becoming 0.2.
    ((value / digit - 1e-9).ceil() * digit * 1e6).round() / 1e6
}

fn listed(them: &[String]) -> String {
    match them {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => them.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{Peak, tests::LEVELS};

    fn between(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low, high }
    }

    const LAMBDA: Estimate = Estimate { value: 1000.0, low: 990.0, high: 1010.0 };

    #[test]
    fn contention_and_peak_are_said_as_what_users_meet() {
        let peak = Peak { level: between(48.0, 42.0, 54.0), throughput: between(9_000.0, 8_900.0, 9_100.0) };
        let universal = |sigma, peak| model(&Model::Universal { lambda: LAMBDA, sigma, kappa: between(4e-4, 3e-4, 5e-4), peak });
        assert_eq!(
            universal(between(0.04, 0.03, 0.05), Some(peak)),
            "contention 4 % ± 1: one request in 25 waits for something shared; adding users beyond 48 ± 6 makes it slower"
        );
        assert_eq!(universal(between(0.125, 0.122, 0.128), None), "contention 12.5 % ± 0.3: one request in 8 waits for something shared");
        assert_eq!(universal(between(0.001, 0.0, 0.0042), None), "contention below 0.5 %: hardly a request waits for something shared");
    }

    #[test]
    fn the_other_models_are_said_too() {
        assert_eq!(
            model(&Model::Linear { lambda: LAMBDA }),
            "throughput grows in proportion to users: each adds 1000 ± 10 req/s, and nothing is shared that can be seen"
        );
        assert_eq!(
            model(&Model::Amdahl { lambda: LAMBDA, sigma: between(0.05, 0.045, 0.055), limit: between(20_000.0, 18_000.0, 22_000.0) }),
            "contention 5 % ± 0.5: one request in 20 waits for something shared; however many users are added, throughput stays below 20000 ± 2000 req/s"
        );
        assert_eq!(
            model(&Model::Pool {
                round_s: between(0.01, 0.0099, 0.0101),
                capacity: between(802.0, 795.0, 809.0),
                knee: between(8.02, 7.9, 8.1)
            }),
            "throughput grows until 8.0 ± 0.1 users and then stays at 802 ± 7 req/s; users beyond that only wait"
        );
    }

    #[test]
    fn a_ceiling_that_may_be_infinite_is_not_named() {
        let limit = between(20_000.0, 18_000.0, f64::INFINITY);
        let said = model(&Model::Amdahl { lambda: LAMBDA, sigma: between(0.05, 0.0, 0.07), limit });
        assert_eq!(said, "contention 5 % ± 4: one request in 20 waits for something shared");
    }

    #[test]
    fn refusals_name_their_evidence() {
        let said = |it: Refusal| refusal(&it);
        assert_eq!(said(Refusal::TooFewLevels { levels: 4, spread: 8.0, left_out: 0 }), "not enough levels for a model: 4, and it takes 6");
        assert_eq!(
            said(Refusal::TooFewLevels { levels: 5, spread: 16.0, left_out: 3 }),
            "not enough levels for a model: 5 (3 more were limited by the load generator), and it takes 6"
        );
        assert_eq!(
            said(Refusal::TooFewLevels { levels: 7, spread: 4.5, left_out: 1 }),
            "not enough levels for a model: the highest is 4.50 times the lowest (1 more was limited by the load generator), and it takes 8"
        );
        assert_eq!(
            said(Refusal::NoRetrograde { tested: 128.0, share_at_zero: 0.4 }),
            "no decline seen up to 128 users, so no best number of users can be named"
        );
        assert_eq!(
            said(Refusal::PeakOutside { above: 70.4, tested: 64.0 }),
            "the peak lies outside the tested range: above 70.4 users, and 64 were tested"
        );
        assert_eq!(
            said(Refusal::PeakOutside { above: 30.0, tested: 64.0 }),
            "where the peak lies cannot be told from levels up to 64: somewhere above 30 users"
        );
        assert_eq!(
            said(Refusal::NotTheLaw { evidence: Misfit::Runs { runs: 2, levels: 8 }, pool: Some(between(8.02, 7.9, 8.1)) }),
            "this is a worker pool of about 8, not a scalability curve"
        );
        assert_eq!(
            said(Refusal::NotTheLaw { evidence: Misfit::Runs { runs: 2, levels: 8 }, pool: None }),
            "no model describes this system: over 8 levels the measurements lie above and below the best curve in 2 runs, as chance would not have it"
        );
        assert_eq!(
            said(Refusal::NotTheLaw { evidence: Misfit::Far { level: 64.0, by: -0.22 }, pool: None }),
            "no model describes this system: at 64 users it is 22 % below the best curve"
        );
    }

    #[test]
    fn what_was_left_out_is_said_last() {
        let reading = Reading {
            left_out: vec![256.0, 512.0],
            levels: LEVELS.to_vec(),
            model: Some(Model::Linear { lambda: LAMBDA }),
            refusals: vec![Refusal::NoRetrograde { tested: 128.0, share_at_zero: 1.0 }],
            fits: None,
        };
        let said = sentences(&reading);
        assert_eq!(said.len(), 3);
        assert_eq!(said[2], "left out, because the load generator was the limit there: 256 and 512 users");
    }
}
