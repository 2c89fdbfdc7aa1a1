//! What a ladder shows, said to a person.
//!
//! Pure text: one sentence for the model, one for each thing that cannot be said, one for what was left out. A coefficient
//! alone ("σ = 0.04") is read by few; what it does to requests and users is read by all, so that comes first, with its
//! uncertainty beside it. Numbers are rounded to what their interval supports.

use crate::curve::{Estimate, Misfit, Model, Reading, Refusal};
use crate::quantity::{decimal, figure, time};

/// Whether users pause between an answer and their next request. Where they do, the knee counts users in thought too, and
/// is no number of workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pausing {
    /// They send again at once.
    Never,
    /// They pause.
    Between,
}

/// Every sentence about a reading, the model first. Lower case, without a full stop.
#[must_use]
pub fn sentences(reading: &Reading, pausing: Pausing) -> Vec<String> {
    let mut sentences: Vec<String> = reading.model.iter().map(|it| model(it, reading)).collect();
    // Who was told that there is no knee need not be told that there is no peak.
    let told = |it: &&Refusal| !matches!((it, &reading.model), (Refusal::NoRetrograde { .. }, Some(Model::Linear { .. })));
    sentences.extend(reading.refusals.iter().filter(told).map(|it| match it {
        // Which were left out is said below.
        Refusal::TooFewLevels { levels, spread, .. } => {
            refusal(&Refusal::TooFewLevels { levels: *levels, spread: *spread, left_out: 0 }, pausing)
        }
        other => refusal(other, pausing),
    }));
    if !reading.left_out.is_empty() {
        sentences.push(format!("left out of the model, because the load generator was the limit there: {}", users(&reading.left_out)));
    }
    sentences
}

/// What the chosen model is, in a few words: for a legend.
#[must_use]
pub fn name(model: &Model, pausing: Pausing) -> String {
    match (model, pausing) {
        (Model::Linear { .. }, _) => "straight line".to_owned(),
        (Model::Amdahl { .. }, _) => "Amdahl's law".to_owned(),
        (Model::Universal { .. }, _) => "Universal Scalability Law".to_owned(),
        (Model::Pool { knee, .. }, Pausing::Never) => format!("ceiling at about {} requests at once", whole(knee)),
        (Model::Pool { knee, .. }, Pausing::Between) => format!("ceiling reached at {} users", whole(knee)),
    }
}

/// A parameter of a model as a row of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// What it is.
    pub about: &'static str,
    /// The best guess, with its unit.
    pub value: String,
    /// Where it lies with 95 % confidence; `None` where it has no end.
    pub interval: Option<String>,
}

/// The parameters of a model, the most telling first.
#[must_use]
pub fn parameters(model: &Model, pausing: Pausing) -> Vec<Parameter> {
    let row = |about, it: &Estimate, shown: fn(f64) -> String| Parameter {
        about,
        value: shown(it.value),
        interval: (it.low.is_finite() && it.high.is_finite()).then(|| format!("{} to {}", shown(it.low), shown(it.high))),
    };
    let rate: fn(f64) -> String = |it| format!("{}/s", figure(it));
    let users: fn(f64) -> String = figure;
    let share: fn(f64) -> String = |it| format!("{} %", figure(it * 100.0));
    let small: fn(f64) -> String = |it| if it == 0.0 { "0".to_owned() } else { format!("{it:.2e}") };
    let span: fn(f64) -> String = |it| time(it * 1e9);
    match model {
        Model::Linear { lambda } => vec![row("one user alone (λ)", lambda, rate)],
        Model::Amdahl { lambda, sigma, limit } => {
            vec![row("contention (σ)", sigma, share), row("one user alone (λ)", lambda, rate), row("limit (λ/σ)", limit, rate)]
        }
        Model::Universal { lambda, sigma, kappa, peak } => {
            let mut rows =
                vec![row("contention (σ)", sigma, share), row("coherency (κ)", kappa, small), row("one user alone (λ)", lambda, rate)];
            if let Some(peak) = peak {
                rows.push(row("users at the peak (N*)", &peak.level, users));
                rows.push(row("throughput at the peak (X*)", &peak.throughput, rate));
            }
            rows
        }
        Model::Pool { round_s, capacity, knee } => vec![
            row(if pausing == Pausing::Never { "requests at once (N₀)" } else { "users at the ceiling (N₀)" }, knee, users),
            row("ceiling (C)", capacity, rate),
            row(if pausing == Pausing::Never { "answer of the idle server (R₀)" } else { "answer and pause (R₀ + Z)" }, round_s, span),
        ],
    }
}

/// Levels in words: `200 and 500 users`.
#[must_use]
pub fn users(levels: &[f64]) -> String {
    let them: Vec<String> = levels.iter().map(|it| number(*it)).collect();
    format!("{} user{}", listed(&them), if levels == [1.0] { "" } else { "s" })
}

/// What the chosen model says, beside what was measured: no bound stands below a throughput that was seen.
#[must_use]
pub fn model(model: &Model, reading: &Reading) -> String {
    match model {
        Model::Linear { lambda } => {
            let tested = reading.tested().map_or_else(String::new, |tested| format!(" up to {}", users(&[tested])));
            format!("throughput grows in proportion to users: each adds {} requests a second, and there is no knee{tested}", about(lambda))
        }
        // The interval of λ/σ has no end where σ may be zero.
        Model::Amdahl { sigma, limit, .. } if !limit.high.is_finite() || limit.high > limit.low * LIMIT_FACTOR_MAX => {
            format!("{}; how far throughput would still grow cannot be told", contention(sigma))
        }
        Model::Amdahl { sigma, limit, .. } if limit.high <= reading.highest => {
            format!("{}; more users brought no more than {} requests a second", contention(sigma), number(reading.highest))
        }
        Model::Amdahl { sigma, limit, .. } if limit.value <= reading.highest => {
            format!("{}; more users bring no more than about {} requests a second", contention(sigma), number(limit.high))
        }
        Model::Amdahl { sigma, limit, .. } => {
            format!("{}; however many users are added, throughput stays below {} requests a second", contention(sigma), about(limit))
        }
        Model::Universal { sigma, peak: Some(peak), .. } => {
            format!("{}; adding users beyond {} makes it slower", contention(sigma), about(&peak.level))
        }
        Model::Universal { sigma, peak: None, .. } => contention(sigma),
        Model::Pool { capacity, knee, .. } => {
            format!(
                "throughput grows until {} users and then stays at {} requests a second; users beyond that only wait",
                about(knee),
                about(capacity)
            )
        }
    }
}

/// A limit whose interval spans more than this factor is no figure to plan with, as for the peak.
const LIMIT_FACTOR_MAX: f64 = 2.0;

/// What cannot be said, and why.
#[must_use]
pub fn refusal(refusal: &Refusal, pausing: Pausing) -> String {
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
            format!("throughput was not seen to fall up to {}, so the model names no peak", users(&[*tested]))
        }
        Refusal::PeakOutside { above, tested } if above > tested => {
            format!("the peak lies outside the tested range: above {} users, and {} were tested", number(*above), number(*tested))
        }
        Refusal::PeakOutside { above, tested } => {
            format!("where the peak lies cannot be told from levels up to {}: somewhere above {} users", number(*tested), number(*above))
        }
        Refusal::NotTheLaw { pool: Some(knee), .. } => match pausing {
            Pausing::Never => format!("this is a ceiling at about {} requests at once, not a scalability curve", whole(knee)),
            Pausing::Between => "this is a ceiling, not a scalability curve".to_owned(),
        },
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
            format!("at {} it is {:.0} % {side} the best curve", users(&[*level]), by.abs() * 100.0)
        }
        Misfit::Bound { .. } => "a ceiling fits better than a curve".to_owned(),
    }
}

/// From this contention on, no second request gets on.
const SERIAL_MIN: f64 = 0.9;
/// From this on, one request in so many is no whole number any more.
const MUCH_MIN: f64 = 0.4;

fn contention(sigma: &Estimate) -> String {
    // One in two hundred: below it, the percentage would round to nothing.
    if sigma.value < 0.005 {
        let most = (sigma.high * 100.0).max(0.1);
        return format!("contention below {} %: hardly a request waits for something shared", round_up(most));
    }
    if sigma.low <= 0.0 {
        return format!("contention at most {} %: it may be none", round_up(sigma.high * 100.0));
    }
    // Of a law of one after the other a percentage tells nobody anything.
    if sigma.value >= SERIAL_MIN {
        return "nearly all of the work is done for one request at a time".to_owned();
    }
    let margin = half(sigma) * 100.0;
    let (share, margin) = if margin >= 1.0 {
        (format!("{:.0}", sigma.value * 100.0), format!("{margin:.0}"))
    } else {
        (format!("{:.1}", sigma.value * 100.0), format!("{:.1}", margin.max(0.1)))
    };
    let (share, margin) = (share.trim_end_matches(".0"), margin.trim_end_matches(".0"));
    if sigma.value >= MUCH_MIN {
        return format!("contention {share} % ± {margin}: so much of the work is done for one request at a time");
    }
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
    format!("{} ± {}", decimal(round(it.value), places), decimal(round(half).max(digit), places))
}

/// To the nearest whole number, of which there is at least one.
fn whole(it: &Estimate) -> String {
    number(it.value.round().max(1.0))
}

fn half(it: &Estimate) -> f64 {
    (it.high - it.low) / 2.0
}

/// Three digits, whole from a hundred on.
fn number(value: f64) -> String {
    figure(if value >= 100.0 { value.round() } else { value })
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

    fn model(model: &Model) -> String {
        super::model(model, &reading(9_000.0))
    }

    /// Of levels that carried so much at most.
    fn reading(highest: f64) -> Reading {
        Reading { left_out: Vec::new(), levels: LEVELS.to_vec(), model: None, refusals: Vec::new(), fits: None, highest }
    }

    #[test]
    fn no_bound_stands_below_what_was_measured() {
        let limit = between(500.0, 430.0, 570.0);
        let amdahl = Model::Amdahl { lambda: LAMBDA, sigma: between(1.0, 0.86, 1.0), limit };
        assert_eq!(
            super::model(&amdahl, &reading(561.0)),
            "nearly all of the work is done for one request at a time; more users bring no more than about 570 requests a second"
        );
        assert!(super::model(&amdahl, &reading(600.0)).ends_with("more users brought no more than 600 requests a second"));
        let half = Model::Amdahl { lambda: LAMBDA, sigma: between(0.5, 0.45, 0.55), limit: between(2_000.0, 1_800.0, 2_200.0) };
        assert!(
            super::model(&half, &reading(1_900.0))
                .starts_with("contention 50 % ± 5: so much of the work is done for one request at a time")
        );
    }

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
            "throughput grows in proportion to users: each adds 1,000 ± 10 requests a second, and there is no knee up to 128 users"
        );
        assert_eq!(
            model(&Model::Amdahl { lambda: LAMBDA, sigma: between(0.05, 0.045, 0.055), limit: between(20_000.0, 18_000.0, 22_000.0) }),
            "contention 5 % ± 0.5: one request in 20 waits for something shared; however many users are added, throughput stays below 20,000 ± 2,000 requests a second"
        );
        assert_eq!(
            model(&Model::Pool {
                round_s: between(0.01, 0.0099, 0.0101),
                capacity: between(802.0, 795.0, 809.0),
                knee: between(8.02, 7.9, 8.1)
            }),
            "throughput grows until 8.0 ± 0.1 users and then stays at 802 ± 7 requests a second; users beyond that only wait"
        );
    }

    #[test]
    fn a_ceiling_that_may_be_infinite_is_not_named() {
        let limit = between(20_000.0, 18_000.0, f64::INFINITY);
        let said = model(&Model::Amdahl { lambda: LAMBDA, sigma: between(0.05, 0.0, 0.07), limit });
        assert_eq!(said, "contention at most 7 %: it may be none; how far throughput would still grow cannot be told");
    }

    #[test]
    fn refusals_name_their_evidence() {
        let said = |it: Refusal| refusal(&it, Pausing::Never);
        assert_eq!(said(Refusal::TooFewLevels { levels: 4, spread: 8.0, left_out: 0 }), "not enough levels for a model: 4, and it takes 6");
        assert_eq!(
            said(Refusal::TooFewLevels { levels: 5, spread: 16.0, left_out: 3 }),
            "not enough levels for a model: 5 (3 more were limited by the load generator), and it takes 6"
        );
        assert_eq!(
            said(Refusal::TooFewLevels { levels: 7, spread: 4.5, left_out: 1 }),
            "not enough levels for a model: the highest is 4.5 times the lowest (1 more was limited by the load generator), and it takes 8"
        );
        assert_eq!(
            said(Refusal::NoRetrograde { tested: 128.0, share_at_zero: 0.4 }),
            "throughput was not seen to fall up to 128 users, so the model names no peak"
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
            "this is a ceiling at about 8 requests at once, not a scalability curve"
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
    fn parameters_stand_with_their_units_and_intervals() {
        let pool = Model::Pool {
            round_s: between(0.005, 0.0049, 0.0051),
            capacity: between(1_602.0, 1_590.0, 1_614.0),
            knee: between(8.02, 7.9, 8.1),
        };
        let shown: Vec<String> = parameters(&pool, Pausing::Never)
            .iter()
            .map(|it| format!("{}: {} ({})", it.about, it.value, it.interval.as_deref().unwrap_or("no end")))
            .collect();
        assert_eq!(
            shown,
            [
                "requests at once (N₀): 8.02 (7.9 to 8.1)",
                "ceiling (C): 1,602/s (1,590/s to 1,614/s)",
                "answer of the idle server (R₀): 5.00 ms (4.90 ms to 5.10 ms)"
            ]
        );
        let endless = Model::Amdahl { lambda: LAMBDA, sigma: between(0.0, 0.0, 0.01), limit: between(9e9, 1e5, f64::INFINITY) };
        assert_eq!(parameters(&endless, Pausing::Never)[2].interval, None);
    }

    #[test]
    fn what_may_be_zero_or_without_end_is_no_figure() {
        let amdahl = |sigma, limit| model(&Model::Amdahl { lambda: LAMBDA, sigma, limit });
        assert_eq!(
            amdahl(between(0.02, 0.0, 0.043), between(50_000.0, 20_000.0, f64::INFINITY)),
            "contention at most 5 %: it may be none; how far throughput would still grow cannot be told"
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
            highest: 128_000.0,
        };
        let said = sentences(&reading, Pausing::Never);
        assert_eq!(said.len(), 2);
        assert_eq!(said[1], "left out of the model, because the load generator was the limit there: 256 and 512 users");
    }
}
