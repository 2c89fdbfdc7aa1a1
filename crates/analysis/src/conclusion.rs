//! What a sweep shows, in sentences.
//!
//! A table of twelve rows leaves its reader to find the highest figure, to notice that half the users reach nearly as much,
//! and to wonder whether the load generator was simply at its end. Each of these is a sentence here, and each names the
//! level it is about.

use plan::Spelling;

use crate::knee::{Best, PromiseState};
use crate::quantity::{NONE, capitalised, count, figure, share, time};
use crate::{LevelRow, Scaling, Standing, StopReason};

/// A level that reaches this share of the highest QPS reaches it for all purposes: noise between runs is about as large.
const NEARLY: f64 = 0.98;

/// What a sentence of the conclusion is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// The most it carried.
    Carries,
    /// The load at which it carries nearly as much with less waiting, or keeps a promise.
    Knee,
    /// Where events of answers that stream stop growing.
    Events,
    /// Where requests began to fail.
    Failures,
    /// Whether the generator was the limit.
    Generator,
    /// What the shape of the curve says.
    Curve,
    /// Why measuring ended.
    Ended,
}

/// What the levels show, one sentence each, the answer first. `rows` are ascending; `scaling` is what they say together, and
/// `stopped` why there are no more.
#[must_use]
pub fn conclusion(rows: &[LevelRow], scaling: &Scaling, stopped: Option<&StopReason>) -> Vec<String> {
    by_topic(rows, scaling, stopped).into_iter().map(|(_, sentence)| sentence).collect()
}

/// The same sentences in the same order, each with what it is about.
#[must_use]
pub fn by_topic(rows: &[LevelRow], scaling: &Scaling, stopped: Option<&StopReason>) -> Vec<(Topic, String)> {
    let Some(last) = rows.last() else {
        return vec![(Topic::Carries, "No level was measured.".to_owned())];
    };
    let mut said = Vec::new();
    // Of equals the lowest: it has the same throughput at less waiting.
    let best =
        rows.iter().fold(last, |best, row| if row.qps > best.qps || (row.qps == best.qps && row.level < best.level) { row } else { best });
    if best.qps <= 0.0 {
        let sentence = match best.failure.or(last.failure) {
            Some(failure) => {
                format!(
                    "No request succeeded at any level; most often: {}. {}.",
                    failure.about(),
                    capitalised(&failure.remedy().spelt(Spelling::Flags))
                )
            }
            None => "No request succeeded at any level.".to_owned(),
        };
        said.push((Topic::Carries, sentence));
    } else {
        let mut peak = peak(rows, best, last, stopped).into_iter();
        said.extend(peak.next().map(|sentence| (Topic::Carries, sentence)));
        said.extend(peak.chain(recommended(rows, best, scaling)).map(|sentence| (Topic::Knee, sentence)));
    }
    if let Some(events) = &scaling.events {
        said.extend(events.words.iter().map(|sentence| (Topic::Events, sentence.clone())));
    }
    said.push((Topic::Failures, failures(rows)));
    said.push((Topic::Generator, generator(rows, best)));
    if rows.len() > 1
        && best.qps > 0.0
        && let Some(curve) = &scaling.curve
    {
        said.extend(curve.sentences().iter().map(|it| (Topic::Curve, format!("{}.", capitalised(it)))));
    }
    if let Some(stopped) = stopped {
        said.push((Topic::Ended, format!("{}.", capitalised(&stopped.to_string()))));
    }
    said
}

fn peak(rows: &[LevelRow], best: &LevelRow, last: &LevelRow, stopped: Option<&StopReason>) -> Vec<String> {
    let took = |row: &LevelRow| row.ttlb_mean_ns.map_or_else(|| NONE.to_owned(), time);
    let tail = best.ttlb_p99.map_or_else(String::new, |p99| format!(" and {} (p99)", time(p99.0 as f64)));
    let (qps, level) = (figure(best.qps), best.level);
    let mut said = vec![match best.standing {
        // So many were answered, whatever held loadline back; how long they took is not the server's.
        Standing::Invalid => format!("It carries at least {qps} requests a second, at {level}; that level is INVALID."),
        _ => format!("It carries {qps} requests a second, at {level}, where latency is {} (mean){tail}.", took(best)),
    }];
    if rows.len() == 1 {
        said.push("One level alone does not show the limit: measure more of them.".to_owned());
        return said;
    }
    if best.level == last.level && stopped.is_none() {
        said.push(format!("QPS was the highest at the last level, so the limit may lie beyond {}.", last.level));
    }
    said
}

/// Where to run the server: nearly all of the throughput, within what was promised.
fn recommended(rows: &[LevelRow], highest: &LevelRow, scaling: &Scaling) -> Option<String> {
    let took = |row: &LevelRow| row.ttlb_mean_ns.map_or_else(|| NONE.to_owned(), time);
    if !scaling.slo.is_empty() {
        return Some(promised(rows, scaling));
    }
    if rows.len() == 1 {
        return None;
    }
    let row = rows.iter().find(|row| row.qps >= highest.qps * NEARLY)?;
    let sure = matches!(scaling.best, Best::At { level, .. } if level == row.level.value());
    let edge = rows.last().is_some_and(|last| last.level == row.level);
    if row.level == highest.level {
        let users = matches!(row.level, crate::Level::Users(_)) && sure && !edge;
        return users.then(|| "That is also the best concurrency measured: fewer users carry less, and more gain nothing.".to_owned());
    }
    let reached = figure((row.qps / highest.qps * 100.0).floor());
    let waiting = match row.ttlb_mean_ns.zip(highest.ttlb_mean_ns) {
        Some((less, more)) if more > 0.0 && less < more => {
            format!(", with a mean of {}: {} % of the time", took(row), figure((less / more * 100.0).round()))
        }
        _ => String::new(),
    };
    let reaches = if row.level.value() == 1.0 { "reaches" } else { "reach" };
    Some(match row.level {
        // Where the generator was the limit nothing is recommended: the server's own best may lie elsewhere.
        crate::Level::Users(_) if sure => {
            format!("The best concurrency is {}, which {reaches} {reached} % of that{waiting}.", row.level)
        }
        _ => format!("{} already {reaches} {reached} % of that{waiting}.", row.level),
    })
}

/// The best level that keeps the promise, and where it breaks.
fn promised(rows: &[LevelRow], scaling: &Scaling) -> String {
    let slo: Vec<String> = scaling.slo.iter().map(ToString::to_string).collect();
    let slo = slo.join(" and ");
    match scaling.best {
        Best::At { level, throughput, response_s, edge, .. } => {
            let row = rows.iter().find(|row| row.level.value() == level);
            let at = row.map_or_else(String::new, |row| row.level.to_string());
            let what = if row.is_some_and(|row| row.level.is_open()) { "rate" } else { "concurrency" };
            let mean = response_s.map_or_else(String::new, |it| format!(", with a mean response time of {}", time(it * 1e9)));
            let beyond = scaling.kept.iter().find(|(beyond, kept)| beyond.value() > level && *kept != PromiseState::Yes);
            let then = match beyond {
                Some((beyond, PromiseState::No)) => format!("; it is first broken at {beyond}"),
                Some((beyond, _)) => format!("; whether it was kept at {beyond} cannot be told from so few requests"),
                None if edge => "; it is kept at every level up to there, so more may be possible".to_owned(),
                None => "; no level above broke it, but none carried more".to_owned(),
            };
            format!("The best {what} that keeps {slo} is {at}: {} requests a second{mean}{then}.", figure(throughput))
        }
        Best::PromiseNeverKept { level, response_s, kept: PromiseState::No } => {
            let row = rows.iter().find(|row| row.level.value() == level);
            let at = row.map_or_else(String::new, |row| format!(" (at {})", row.level));
            format!("No level keeps {slo}: the shortest mean response time was {}{at}.", time(response_s * 1e9))
        }
        Best::PromiseNeverKept { .. } => {
            format!("Whether {slo} was kept cannot be told at any level: too few requests. Measure longer, with --duration.")
        }
        Best::NothingMeasured => format!("Nothing can be said about {slo}: at every level the load generator was the limit."),
    }
}

fn failures(rows: &[LevelRow]) -> String {
    let Some(first) = rows.iter().find(|row| row.failed > 0) else {
        return "No request failed at any level.".to_owned();
    };
    let why = first.most_often();
    let until = match rows.iter().take_while(|row| row.failed == 0).last() {
        Some(well) => format!("Up to {} every request succeeded; the first failures came at {}", well.level, first.level),
        None => format!("Requests failed from the first level on, {}", first.level),
    };
    format!("{until}: {} of {} ({}), most often: {why}.", count(first.failed), count(first.due), share(first.failed, first.due))
}

fn generator(rows: &[LevelRow], best: &LevelRow) -> String {
    if let Some(limit) = best.generator_limit {
        return format!("At the peak the load generator was the limit ({limit}), so the server may carry more.");
    }
    // Why an invalid level is none stands with it.
    match rows.iter().find(|row| row.generator_limit.is_some() && row.standing != Standing::Invalid) {
        Some(row) => format!("The load generator was not the limit at the peak, but it was at {}: read that level with care.", row.level),
        None => {
            let busiest = rows.iter().map(|row| row.generator_cpu_busiest).fold(0.0, f64::max);
            let invalid = rows.iter().filter(|row| row.standing == Standing::Invalid).count();
            let at = match invalid {
                0 => "",
                some if some < rows.len() => " at the levels that are valid",
                // Why none is stands with each of them.
                _ => return "No level is valid.".to_owned(),
            };
            format!("The load generator was not the limit{at}: its busiest thread used at most {:.0} % of a core.", busiest * 100.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GeneratorLimit;
    use crate::climb::stop;
    use crate::knee::{LevelFigures, best};
    use crate::sweep::tests::row;

    /// The conclusion of levels that nothing more is known of.
    fn conclusion(rows: &[LevelRow], stopped: Option<&StopReason>) -> Vec<String> {
        super::conclusion(rows, &knee(rows), stopped)
    }

    fn knee(rows: &[LevelRow]) -> Scaling {
        let loaded: Vec<LevelFigures> = rows
            .iter()
            .map(|row| LevelFigures {
                level: row.level.value(),
                throughput: row.qps,
                response_s: row.ttlb_mean_ns.map(|ns| ns / 1e9),
                kept: PromiseState::Yes,
                generator_limited: row.generator_limit.is_some(),
            })
            .collect();
        Scaling { slo: Vec::new(), kept: Vec::new(), best: best(&loaded), curve: None, events: None }
    }

    #[test]
    fn a_linear_server_has_its_limit_beyond_the_last_level() {
        let rows = [row(1, 1_000.0, 1.0, 100.0), row(10, 10_000.0, 1.0, 100.0), row(100, 100_000.0, 1.0, 100.0)];
        assert_eq!(
            conclusion(&rows, None),
            [
                "It carries 100,000 requests a second, at 100 users, where latency is 1.00 ms (mean) and 3.00 ms (p99).",
                "QPS was the highest at the last level, so the limit may lie beyond 100 users.",
                "No request failed at any level.",
                "The load generator was not the limit: its busiest thread used at most 40 % of a core.",
            ]
        );
    }

    #[test]
    fn a_saturating_server_is_said_to_be_reached_with_fewer_users() {
        let rows = [
            row(10, 38_410.0, 0.26, 100.0),
            row(50, 50_046.0, 1.0, 100.0),
            row(200, 51_010.0, 3.92, 100.0),
            row(1_000, 49_120.0, 20.36, 100.0),
            row(5_000, 47_000.0, 100.0, 100.0),
        ];
        let said = conclusion(&rows, None);
        assert_eq!(said[0], "It carries 51,010 requests a second, at 200 users, where latency is 3.92 ms (mean) and 11.8 ms (p99).");
        assert_eq!(said[1], "The best concurrency is 50 users, which reach 98 % of that, with a mean of 1.00 ms: 26 % of the time.");
        assert!(!said.iter().any(|sentence| sentence.contains("beyond")));
    }

    #[test]
    fn a_retrograde_server_is_stopped_and_says_why() {
        let rows = [row(100, 50_000.0, 2.0, 100.0), row(200, 30_000.0, 7.0, 100.0), row(500, 28_000.0, 18.0, 100.0)];
        let stopped = stop(&rows);
        assert_eq!(
            conclusion(&rows, stopped.as_ref()).last().unwrap(),
            "Stopped: at 500 users QPS was 44 % under the highest, and low at the level before too (--all-levels goes on)."
        );
    }

    #[test]
    fn a_failing_server_is_named_with_its_first_failing_level() {
        let rows = [row(100, 50_000.0, 2.0, 100.0), row(200, 51_000.0, 4.0, 99.2), row(500, 12_000.0, 30.0, 38.0)];
        assert_eq!(
            conclusion(&rows, None)[1..3],
            [
                "The best concurrency is 100 users, which reach 98 % of that, with a mean of 2.00 ms: 50 % of the time.",
                "Up to 100 users every request succeeded; the first failures came at 200 users: 80 of 10,000 (0.8 %), most often: connection \
                 reset before the answer was complete.",
            ]
        );
    }

    #[test]
    fn a_server_that_answers_nothing_is_said_to_carry_nothing() {
        let rows = [row(1, 0.0, 30_000.0, 0.0), row(2, 0.0, 30_000.0, 0.0)];
        let said = conclusion(&rows, stop(&rows).as_ref());
        assert!(said[0].starts_with("No request succeeded at any level; most often: connection reset"), "{}", said[0]);
        assert!(said[1].starts_with("Requests failed from the first level on, 1 user: 10,000 of 10,000 (100 %)"), "{}", said[1]);
    }

    #[test]
    fn a_limited_generator_convicts_itself_at_the_peak_and_elsewhere() {
        let mut rows = [row(10, 10_000.0, 1.0, 100.0), row(100, 50_000.0, 2.0, 100.0), row(500, 40_000.0, 12.0, 100.0)];
        rows[2].generator_limit = Some(GeneratorLimit::Processor(0.96));
        assert_eq!(
            conclusion(&rows, None).last().unwrap(),
            "The load generator was not the limit at the peak, but it was at 500 users: read that level with care."
        );
        rows[1].generator_limit = Some(GeneratorLimit::Processor(0.97));
        assert_eq!(
            conclusion(&rows, None).last().unwrap(),
            "At the peak the load generator was the limit (its busiest thread used 97 % of a core), so the server may carry more."
        );
        rows[1].standing = Standing::Invalid;
        assert_eq!(conclusion(&rows, None)[0], "It carries at least 50,000 requests a second, at 100 users; that level is INVALID.");
    }

    #[test]
    fn of_levels_that_are_not_valid_it_is_not_said_that_the_generator_was_not_the_limit() {
        let mut rows = [row(10, 10_000.0, 1.0, 100.0), row(100, 50_000.0, 2.0, 100.0)];
        rows[0].standing = Standing::Invalid;
        let said = conclusion(&rows, None);
        let last = said.last().unwrap();
        assert!(last.starts_with("The load generator was not the limit at the levels that are valid: "), "{last}");
        rows[1].standing = Standing::Invalid;
        assert_eq!(conclusion(&rows, None).last().unwrap(), "No level is valid.");
    }

    #[test]
    fn no_concurrency_is_recommended_where_the_generator_was_the_limit() {
        let mut rows = [row(10, 49_500.0, 0.2, 100.0), row(100, 50_000.0, 2.0, 100.0), row(500, 40_000.0, 12.0, 100.0)];
        rows[0].generator_limit = Some(GeneratorLimit::Processor(0.97));
        rows[1].generator_limit = Some(GeneratorLimit::Processor(0.97));
        assert_eq!(
            conclusion(&rows, None)[1],
            "10 users already reach 99 % of that, with a mean of 0.20 ms: 10 % of the time.".replace("0.20 ms", "200 µs")
        );
        assert!(!conclusion(&rows, None).iter().any(|it| it.contains("best concurrency")));
    }

    #[test]
    fn a_promise_names_the_level_that_keeps_it_and_the_one_that_breaks_it() {
        let rows = [row(10, 38_000.0, 0.26, 100.0), row(50, 50_000.0, 1.0, 100.0), row(200, 51_010.0, 3.92, 100.0)];
        let mut scaling = Scaling { slo: vec!["p99 < 5ms".parse().unwrap()], ..knee(&rows) };
        scaling.kept = rows.iter().map(|row| row.level).zip([PromiseState::Yes, PromiseState::Yes, PromiseState::No]).collect();
        let said = |scaling: &Scaling| super::conclusion(&rows, scaling, None)[2].clone();
        scaling.best = Best::At { level: 50.0, throughput: 50_000.0, response_s: Some(1e-3), peak: 50_000.0, edge: false };
        assert_eq!(
            said(&scaling),
            "The best concurrency that keeps p99 < 5ms is 50 users: 50,000 requests a second, with a mean response time of 1.00 ms; it is \
             first broken at 200 users."
        );
        scaling.best = Best::PromiseNeverKept { level: 10.0, response_s: 0.26e-3, kept: PromiseState::No };
        assert_eq!(said(&scaling), "No level keeps p99 < 5ms: the shortest mean response time was 260 µs (at 10 users).");
        scaling.best = Best::PromiseNeverKept { level: 10.0, response_s: 0.26e-3, kept: PromiseState::Unknown };
        assert!(said(&scaling).contains("cannot be told at any level: too few requests"), "{}", said(&scaling));
    }

    #[test]
    fn what_the_curve_says_follows_what_was_measured() {
        let sweep = crate::scaling::tests::swept(&[1, 2, 4, 8, 16, 32, 64, 128], |n| n.min(8.0) * 200.0);
        let said = super::conclusion(&sweep.rows(), &crate::scaling(&sweep), None);
        assert!(said[0].starts_with("It carries 1,60"), "{said:?}");
        assert!(said.iter().any(|it| it.starts_with("The best concurrency is 8 users, which reach 99 % of that")), "{said:?}");
        assert_eq!(said.last().unwrap(), "This is a ceiling at about 8 requests at once, not a scalability curve.");
    }

    #[test]
    fn a_single_level_is_no_limit() {
        let said = conclusion(&[row(50, 9_000.0, 5.5, 100.0)], None);
        assert_eq!(said[1], "One level alone does not show the limit: measure more of them.");
        assert_eq!(conclusion(&[], None), ["No level was measured."]);
    }
}
