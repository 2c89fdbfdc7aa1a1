//! Freezes: moments at which a server answers nobody, again and again.
//!
//! A server that stops for 400 ms every two seconds has a fine median, and a p99 that says nothing of the reason: a collector that stops
//! the world, a checkpoint, a job that holds what all need. What tells is that everybody waits at the same time. In closed load each
//! freeze catches every user once, so that slow answers come in multiples of the number of users. In open load requests fall due all
//! through a freeze, so that their times are spread evenly from nothing to its length, and come in some seconds and not in others.
//!
//! Rejected: a peak of slow answers by itself, which a route that is slow for every tenth request has too; and autocorrelation of
//! throughput, which intervals of a second do not show for freezes shorter than they are.
//!
//! Invariant: one freeze is none, since nothing shows that it comes again.

use std::fmt;

use measure::{Histogram, Summary, Tick};
use plan::{Load, Nanos, Timetable};
use serde::Serialize;

use crate::quantity::{figure, percent, time};

/// Shorter ones are a busy machine's.
const LASTING_MIN: Nanos = Nanos::from_millis(50);
/// They take so many times as long as the median answer, or the server is slow rather than frozen.
const MEDIANS_MIN: f64 = 8.0;
/// So often it froze, or it may be chance.
const COUNT_MIN: f64 = 3.0;
/// With fewer users, any number of slow answers is a multiple of theirs.
const USERS_MIN: f64 = 4.0;
/// Of the users, so many wait in a freeze; the others were between two requests.
const CAUGHT_MIN: f64 = 0.85;
/// A freeze more of the time than this is no interruption of anything.
const SHARE_MAX: f64 = 0.6;
/// A gap of loadline's own that is this share of the longest answer explains it.
const OWN_MAX: f64 = 0.5;
/// Less of the time is nothing to look for.
const SHARE_MIN: f64 = 0.01;
/// Slow answers that come independently vary from second to second by as much as their mean; in freezes by so many times that.
const CLUSTERED_MIN: f64 = 5.0;

/// Freezes of a whole server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Freezes {
    /// How often it froze.
    pub count: f64,
    /// How long each lasted, in seconds.
    pub lasting_s: f64,
    /// From one to the next, in seconds; `None` where they do not come regularly.
    pub every_s: Option<f64>,
    /// The share of the time in which it was frozen, from 0 to 1.
    pub share: f64,
}

/// `the server froze 6 times for about 400 ms, every 2.00 s (20 % of the time)`.
impl fmt::Display for Freezes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let every = self.every_s.map_or_else(String::new, |every| format!(", every {}", time((every * 10.0).round() * 1e8)));
        write!(
            f,
            "the server froze {} times for about {}{every} ({} % of the time)",
            figure(self.count),
            time(self.lasting_s * 1e9),
            percent((self.share * 100.0).round())
        )
    }
}

/// The freezes of a run, if there were several.
#[must_use]
pub fn freezes(run: &Summary) -> Option<Freezes> {
    // Most runs have none, and are not looked through. Of another tool's it is not known when its users were there, and when they paused.
    if run.response_time.max()? < LASTING_MIN || run.measured_by.is_some() {
        return None;
    }
    let whole = |tick: &&Tick| !tick.warmup && tick.to <= run.ended.load_until;
    let ticks: Vec<&Tick> = run.timeline.iter().filter(whole).collect();
    // One at a time: an hour of them unpacked is hundreds of megabytes.
    let mut all = Histogram::new();
    for tick in &ticks {
        all.add(&tick.response_time.unpack().ok()?);
    }
    let (median, longest) = (all.quantile(0.5)?, all.max()?);
    let failed: u64 = ticks.iter().map(|tick| tick.failed + tick.unsent).sum();
    if longest < LASTING_MIN || (longest.0 as f64) < MEDIANS_MIN * median.0 as f64 || failed * 100 > all.count() {
        return None;
    }
    // A pause of loadline's own holds up everybody too.
    if run.generator.gaps.longest.0 as f64 >= OWN_MAX * longest.0 as f64 {
        return None;
    }
    let span = ticks.last()?.to.since(ticks.first()?.from).as_secs_f64();
    let each = span / ticks.len() as f64;
    let slow = |part: f64| -> Option<Vec<f64>> {
        let is_slow = |time: Nanos| time.0 as f64 > longest.0 as f64 * part;
        ticks.iter().map(|tick| Some(tick.response_time.unpack().ok()?.count_where(is_slow) as f64)).collect()
    };
    match run.plan.load() {
        Load::Closed { users, pause: None } if run.scenario.is_none() && users.is_constant() => {
            caught(&slow(0.5)?, &all, f64::from(users.peak()), longest, span, each)
        }
        Load::Closed { .. } | Load::Mixed(_) => None,
        // Where the rate itself rises for a while, requests of that while wait together as well.
        Load::Open { timetable, .. } if run.plan.replay().is_some() || !is_constant(timetable) => None,
        Load::Open { .. } => spread(&slow(0.25)?, &all, longest, span, each),
    }
}

/// Whether requests fall due at one rate all the time.
fn is_constant(timetable: &Timetable) -> bool {
    matches!(timetable.stages(), [stage] if stage.from == stage.to)
}

/// In closed load: slow answers in multiples of the users; of each interval, those that took more than half as long as the longest.
fn caught(slow_counts: &[f64], all: &Histogram, users: f64, longest: Nanos, span: f64, each: f64) -> Option<Freezes> {
    let slow = |time: Nanos| time.0 > longest.0 / 2;
    if users < USERS_MIN {
        return None;
    }
    let mut counts = Vec::with_capacity(slow_counts.len());
    for slow in slow_counts {
        let caught = slow / users;
        let freezes = caught.round();
        if caught > freezes.max(1.0) * 1.02 || caught < freezes * CAUGHT_MIN || (freezes == 0.0 && caught > 0.0) {
            return None;
        }
        counts.push(freezes);
    }
    let count = counts.iter().sum::<f64>();
    // They last about equally long, or they are no freezes of one kind.
    let lengths: Vec<(Nanos, u64)> = all.recorded().filter(|(time, _)| slow(*time)).collect();
    let lasting_s = lengths.iter().map(|(time, many)| time.as_secs_f64() * *many as f64).sum::<f64>()
        / lengths.iter().map(|(_, many)| *many as f64).sum::<f64>();
    told(&counts, count, lasting_s, span, each)
}

/// In open load: times spread evenly up to the length of a freeze, in some intervals and not in others; of each interval, those that took
/// more than a quarter of the longest.
fn spread(slow: &[f64], all: &Histogram, longest: Nanos, span: f64, each: f64) -> Option<Freezes> {
    let above = |of: &Histogram, part: f64| of.count_where(|time| time.0 as f64 > longest.0 as f64 * part) as f64;
    let (quarter, half, most) = (above(all, 0.25), above(all, 0.5), above(all, 0.75));
    let even = (0.5..=0.83).contains(&(half / quarter)) && (0.2..=0.5).contains(&(most / quarter));
    let share = quarter / 0.75 / all.count() as f64;
    let lasting_s = longest.as_secs_f64();
    let count = span * share / lasting_s;
    let mean = quarter / slow.len() as f64;
    let variance = slow.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / slow.len() as f64;
    if !even || variance < CLUSTERED_MIN * mean {
        return None;
    }
    let one = quarter / count;
    let counts: Vec<f64> = slow.iter().map(|slow| (slow / one).round()).collect();
    told(&counts, count.round(), lasting_s, span, each)
}

/// As found, where they come again and are worth a word. `counts` are those of each interval.
fn told(counts: &[f64], count: f64, lasting_s: f64, span: f64, each: f64) -> Option<Freezes> {
    let share = count * lasting_s / span;
    let with: Vec<usize> = (0..counts.len()).filter(|at| counts[*at] > 0.0).collect();
    let (first, last) = (*with.first()?, *with.last()?);
    // Over most of the run: what happens three times at the beginning is a beginning.
    let lasting = (last - first + 1) as f64 >= 0.5 * counts.len() as f64;
    if count < COUNT_MIN || !lasting || !(SHARE_MIN..=SHARE_MAX).contains(&share) {
        return None;
    }
    let regular = if with.len() as f64 >= 0.9 * counts.len() as f64 {
        let mean = count / counts.len() as f64;
        // The first interval and the last may hold a part of one; without any between them nothing shows a period.
        let inner = counts.get(1..counts.len() - 1).unwrap_or_default();
        !inner.is_empty() && inner.iter().all(|count| (count - mean).abs() <= 1.0)
    } else {
        let gap = (last - first) as f64 / (with.len() - 1).max(1) as f64;
        with.windows(2).all(|pair| ((pair[1] - pair[0]) as f64 - gap).abs() <= 1.0)
    };
    let every_s = regular.then(|| if with.len() as f64 == count { (last - first) as f64 * each / (count - 1.0) } else { span / count });
    Some(Freezes { count, lasting_s, every_s, share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;
    use plan::{Draft, Random};

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    fn tick(second: u64, times: &[Nanos]) -> Tick {
        let mut packed = Histogram::new();
        times.iter().for_each(|time| packed.record(*time));
        let mut tick = crate::simulated::ticks(1, 1, 1, |_| 1.0).remove(0);
        (tick.from, tick.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        (tick.answered, tick.due, tick.succeeded) = (times.len() as u64, times.len() as u64, times.len() as u64);
        tick.response_time = packed.pack();
        tick
    }

    fn run(load: Draft, seconds: &[Vec<Nanos>]) -> Summary {
        let mut run = fixture("closed_all_well");
        let url = Some("http://127.0.0.1:8080/".to_owned());
        run.edit_for_test().plan = Draft { url, duration: "60s".parse().ok(), ..load }.try_into().unwrap();
        run.edit_for_test().timeline = seconds.iter().enumerate().map(|(second, times)| tick(second as u64, times)).collect();
        run.edit_for_test().response_time = Histogram::new();
        seconds.iter().flatten().for_each(|time| run.edit_for_test().response_time.record(*time));
        run.edit_for_test().ended.load_until = Nanos::from_secs(seconds.len() as u64);
        run
    }

    fn closed(users: &str) -> Draft {
        Draft { connections: users.parse().ok(), ..Draft::default() }
    }

    fn open(rate: &str) -> Draft {
        Draft { rate: rate.parse().ok(), ..Draft::default() }
    }

    /// So many answers of 5 ms, and so many of about 400 ms.
    fn answers(quick: usize, slow: usize) -> Vec<Nanos> {
        let slow = (0..slow).map(|at| Nanos::from_micros(398_000 + 200 * at as u64 % 7_000));
        std::iter::repeat_n(Nanos::from_millis(5), quick).chain(slow).collect()
    }

    #[test]
    fn freezes_that_catch_every_user_are_found_with_their_period() {
        let seconds: Vec<_> = (0..12).map(|second| if second % 2 == 1 { answers(1_200, 10) } else { answers(2_000, 0) }).collect();
        let found = freezes(&run(closed("10"), &seconds)).unwrap();
        assert_eq!((found.count, found.every_s), (6.0, Some(2.0)));
        assert!((found.share - 0.2).abs() < 0.01 && (found.lasting_s - 0.4).abs() < 0.01, "{found:?}");
        // Once in each of them.
        let often: Vec<_> = (0..6).map(|_| answers(1_200, 10)).collect();
        assert!(freezes(&run(closed("10"), &often)).unwrap().every_s.is_some_and(|every| (every - 1.0).abs() < 0.21));
    }

    #[test]
    fn slow_answers_that_come_one_by_one_are_no_freezes() {
        let mut random = Random::new(3, 1);
        let slow: Vec<_> = (0..12).map(|_| answers(1_000, random.between(4, 16) as usize)).collect();
        assert_eq!(freezes(&run(closed("10"), &slow)), None);
        let once: Vec<_> = (0..12).map(|second| answers(1_000, if second == 4 { 10 } else { 0 })).collect();
        assert_eq!(freezes(&run(closed("10"), &once)), None, "once is not again and again");
        let beginning: Vec<_> = (0..12).map(|second| answers(1_000, if second < 3 { 10 } else { 0 })).collect();
        assert_eq!(freezes(&run(closed("10"), &beginning)), None, "as of a server that warms up");
    }

    #[test]
    fn times_spread_evenly_in_some_seconds_are_freezes_in_open_load() {
        let frozen = |slow: u64| (0..slow).map(move |at| Nanos::from_micros(5_000 + 400_000 * at / slow.max(1)));
        let second = |slow: u64| std::iter::repeat_n(Nanos::from_millis(5), 500 - slow as usize).chain(frozen(slow)).collect::<Vec<_>>();
        let seconds: Vec<_> = (0..12).map(|at| if at % 2 == 1 { second(200) } else { second(0) }).collect();
        let found = freezes(&run(open("500/s"), &seconds)).unwrap();
        assert_eq!((found.count, found.every_s), (6.0, Some(2.0)));
        assert!((found.share - 0.2).abs() < 0.02, "{found:?}");
        // A route that takes anything up to 400 ms for every fifth request.
        let always: Vec<_> = (0..12).map(|_| second(100)).collect();
        assert_eq!(freezes(&run(open("500/s"), &always)), None);
    }

    #[test]
    fn freezes_within_one_interval_have_no_period() {
        let times: Vec<_> = (0..230).map(|at| Nanos::from_millis(if at < 200 { 5 } else { 60 })).collect();
        let one = freezes(&run(closed("10"), &[times])).unwrap();
        assert_eq!((one.count, one.every_s), (3.0, None));
    }

    #[test]
    fn what_loadline_did_itself_is_no_freeze_of_the_server() {
        let seconds: Vec<_> = (0..12).map(|second| if second % 2 == 1 { answers(1_200, 10) } else { answers(2_000, 0) }).collect();
        let mut paused = run(closed("10"), &seconds);
        paused.edit_for_test().generator.gaps.record(Nanos::from_millis(390));
        assert_eq!(freezes(&paused), None, "loadline was stopped");
        let frozen = |slow: u64| (0..slow).map(move |at| Nanos::from_micros(5_000 + 400_000 * at / slow.max(1)));
        let second = |slow: u64| std::iter::repeat_n(Nanos::from_millis(5), 500 - slow as usize).chain(frozen(slow)).collect::<Vec<_>>();
        let seconds: Vec<_> = (0..12).map(|at| if at % 2 == 1 { second(200) } else { second(0) }).collect();
        let rising = open("500/s for 6s, 900/s");
        assert_eq!(freezes(&run(rising, &seconds)), None, "the rate rose for a while");
    }

    #[test]
    fn no_fixture_freezes_again_and_again() {
        for (name, run) in fixtures::summaries() {
            assert_eq!(freezes(&run), None, "{name}");
        }
    }
}
