//! How many requests began in each second: the course of the traffic, its peaks and its bursts.
//!
//! Lines are not in order: servers write them when requests end, and files are given in any order. So seconds are counted in hours
//! that may come in any order, exactly, and only when a log has more hours than are kept is the oldest folded into its figures.
//!
//! Invariant: every request counted is in exactly one hour.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::stamp::SECOND_NS;

mod written;

const HOUR_S: i64 = 3600;
/// Hours kept to the second: a hundred days, 35 MB.
const HOURS_MOST: usize = 2400;
/// Hours at all: twenty years, 20 MB. More hours are times made up.
const HOURS_EVER: usize = 180_000;
/// A silence of so many hours is a gap in the log and not a quiet night.
const GAP_HOURS: i64 = 24;
/// Points of the chart.
const POINTS_MOST: usize = 1500;

#[derive(Debug)]
struct Hour {
    requests: u64,
    /// Of these, those whose seconds are not known: the hour had been folded already.
    late: u64,
    seconds: Option<Box<[u32; HOUR_S as usize]>>,
    figures: Figures,
}

/// What is kept of an hour that was folded.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Figures {
    second: (u32, u16),
    minute: (u32, u8),
    /// Of windows of 1, 10 and 60 seconds: the sum of squares.
    squares: [u64; WINDOWS.len()],
}

impl Figures {
    /// Those of both: the higher peaks. That both fall together is not known.
    fn with(mut self, other: Self) -> Self {
        self.second = self.second.max(other.second);
        self.minute = self.minute.max(other.minute);
        self.squares.iter_mut().zip(other.squares).for_each(|(mine, others)| *mine = mine.saturating_add(others));
        self
    }
}

/// Windows of the index of dispersion, in seconds.
pub(crate) const WINDOWS: [u32; 3] = [1, 10, 60];

/// The most requests in a span of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// How many requests began in it.
    pub requests: u64,
    /// When it begins, seconds since 1970.
    pub at_s: i64,
}

/// How much arrivals crowd together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Dispersion {
    /// Arrivals are counted in windows of so many seconds.
    pub window_s: u32,
    /// Variance over mean of the counts within an hour, averaged over hours by their requests: 1 for independent arrivals at an even
    /// rate (a Poisson process), 0 for a metronome, more for bursts. `None` where no hour has enough windows.
    pub within_the_hour: Option<f64>,
}

/// A point of the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Point {
    /// When it begins, seconds since 1970.
    pub at_s: i64,
    /// Requests in it.
    pub requests: u64,
    /// Of its seconds, the one with most.
    pub second_max: u32,
}

/// The course of the traffic.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrafficTimeline {
    /// When the first request began, seconds since 1970.
    pub first_s: i64,
    /// When the last began.
    pub last_s: i64,
    /// Seconds from the first to the last, both counted, without gaps.
    pub covered_s: u64,
    /// Seconds in gaps of a day or more without a request.
    pub gaps_s: u64,
    /// Requests a second over what is covered.
    pub mean_per_s: f64,
    /// The second with most.
    pub peak_second: Peak,
    /// The minute of the clock with most.
    pub peak_minute: Peak,
    /// The hour of the clock (UTC) with most.
    pub peak_hour: Peak,
    /// Burstiness.
    pub dispersion: Vec<Dispersion>,
    /// Requests by the hour of the server's wall clock.
    pub time_of_day: [u64; 24],
    /// How long each point of the timeline is.
    pub step_s: u32,
    /// The timeline.
    pub timeline: Vec<Point>,
}

/// Counts requests by the second.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    places: FxHashMap<i64, usize>,
    hours: Vec<(i64, Hour)>,
    dense: usize,
    /// The hour of the last request.
    current: Option<(i64, usize)>,
    time_of_day: [u64; 24],
    /// When the first and the last request began.
    span_ns: Option<(i64, i64)>,
}

impl Counter {
    /// Whether the time was one to count.
    #[inline]
    pub(crate) fn add(&mut self, start_ns: i64, offset_s: i32) -> bool {
        let at_s = start_ns.div_euclid(SECOND_NS);
        let (hour, second) = (at_s.div_euclid(HOUR_S), at_s.rem_euclid(HOUR_S) as usize);
        let place = match self.current {
            Some((current, place)) if current == hour => place,
            _ => match self.place(hour) {
                Some(place) => place,
                None => return false,
            },
        };
        let it = &mut self.hours[place].1;
        it.requests += 1;
        match &mut it.seconds {
            Some(seconds) => seconds[second] = seconds[second].saturating_add(1),
            None => it.late += 1,
        }
        self.time_of_day[((at_s + i64::from(offset_s)).div_euclid(HOUR_S).rem_euclid(24)) as usize] += 1;
        self.widen((start_ns, start_ns));
        true
    }

    #[inline]
    fn widen(&mut self, (first_ns, last_ns): (i64, i64)) {
        self.span_ns = Some(self.span_ns.map_or((first_ns, last_ns), |(first, last)| (first.min(first_ns), last.max(last_ns))));
    }

    /// Requests that were counted.
    pub(crate) fn requests(&self) -> u64 {
        self.hours.iter().fold(0, |sum, (_, hour)| sum.saturating_add(hour.requests))
    }

    /// Requests in hours that had been folded already: their seconds are not known.
    pub(crate) fn late(&self) -> u64 {
        self.hours.iter().map(|(_, hour)| hour.late).sum()
    }

    /// Requests by the hour of the server's wall clock.
    pub(crate) fn time_of_day(&self) -> &[u64; 24] {
        &self.time_of_day
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn absorb(&mut self, other: Self) {
        other.span_ns.into_iter().for_each(|span_ns| self.widen(span_ns));
        self.time_of_day.iter_mut().zip(other.time_of_day).for_each(|(mine, others)| *mine += others);
        for (hour, theirs) in other.hours {
            let place = match self.places.get(&hour) {
                Some(place) => *place,
                None if theirs.seconds.is_none() => {
                    self.push(hour, theirs);
                    continue;
                }
                None => self.new_place(hour),
            };
            let it = &mut self.hours[place].1;
            let known = (it.requests - it.late).max(theirs.requests - theirs.late);
            it.requests += theirs.requests;
            match (&mut it.seconds, theirs.seconds) {
                (Some(mine), Some(others)) => mine.iter_mut().zip(*others).for_each(|(mine, other)| *mine = mine.saturating_add(other)),
                (mine, others) => {
                    // Of one of both figures are left, and how they fall together is not known: the seconds of the larger are.
                    it.late = it.requests - known;
                    let folded = [mine.as_deref().map_or(it.figures, figures), others.as_deref().map_or(theirs.figures, figures)];
                    self.dense -= usize::from(mine.take().is_some());
                    it.figures = folded[0].with(folded[1]);
                }
            }
        }
        self.current = None;
    }

    fn place(&mut self, hour: i64) -> Option<usize> {
        if let Some(place) = self.places.get(&hour) {
            self.current = Some((hour, *place));
            return Some(*place);
        }
        if self.hours.len() >= HOURS_EVER {
            return None;
        }
        let place = self.new_place(hour);
        self.current = Some((hour, place));
        Some(place)
    }

    /// A place for an hour that has none.
    fn new_place(&mut self, hour: i64) -> usize {
        if self.dense == HOURS_MOST {
            let oldest = self.hours.iter_mut().filter(|(_, it)| it.seconds.is_some()).min_by_key(|(hour, _)| *hour);
            if let Some((_, oldest)) = oldest {
                oldest.figures = oldest.seconds.as_deref().map(figures).unwrap_or_default();
                oldest.seconds = None;
                self.dense -= 1;
            }
        }
        self.dense += 1;
        let seconds = vec![0u32; HOUR_S as usize].into_boxed_slice().try_into().expect("an hour has its seconds");
        self.push(hour, Hour { requests: 0, late: 0, seconds: Some(seconds), figures: Figures::default() })
    }

    fn push(&mut self, hour: i64, it: Hour) -> usize {
        self.hours.push((hour, it));
        self.places.insert(hour, self.hours.len() - 1);
        self.hours.len() - 1
    }

    /// The course, if there was a request.
    pub(crate) fn finish(mut self) -> Option<TrafficTimeline> {
        let (first_s, last_s) = (self.span_ns?.0.div_euclid(SECOND_NS), self.span_ns?.1.div_euclid(SECOND_NS));
        self.hours.sort_by_key(|(hour, _)| *hour);
        let mut gaps_s = 0;
        for pair in self.hours.windows(2) {
            let empty = pair[1].0 - pair[0].0 - 1;
            if empty >= GAP_HOURS {
                gaps_s += empty * HOUR_S;
            }
        }
        let requests: u64 = self.hours.iter().map(|(_, hour)| hour.requests).sum();
        let covered_s = (last_s - first_s + 1 - gaps_s).max(1);
        let (mut second, mut minute, mut peak_hour) = (none(), none(), none());
        let mut spread = [(0.0f64, 0.0f64); WINDOWS.len()];
        for (hour, it) in &self.hours {
            let figures = it.seconds.as_deref().map_or(it.figures, figures);
            let begin = hour * HOUR_S;
            most(&mut second, u64::from(figures.second.0), begin + i64::from(figures.second.1));
            most(&mut minute, u64::from(figures.minute.0), begin + 60 * i64::from(figures.minute.1));
            most(&mut peak_hour, it.requests, begin);
            // Only windows that lie within the log whole.
            let (from, to) = ((first_s - begin).clamp(0, HOUR_S), (last_s + 1 - begin).clamp(0, HOUR_S));
            for (index, window) in WINDOWS.iter().enumerate() {
                let window = i64::from(*window);
                let (low, high) = ((from + window - 1) / window, to / window);
                if high - low < 30 {
                    continue;
                }
                let (sum, squares) = match it.seconds.as_deref() {
                    Some(seconds) => windows(&seconds[(low * window) as usize..(high * window) as usize], window as usize),
                    None => (it.requests as f64, figures.squares[index] as f64),
                };
                let count = (high - low) as f64;
                let mean = sum / count;
                if mean > 0.0 {
                    let variance = (squares - count * mean * mean).max(0.0) / (count - 1.0);
                    spread[index].0 += variance / mean * sum;
                    spread[index].1 += sum;
                }
            }
        }
        let dispersion = WINDOWS
            .iter()
            .zip(spread)
            .map(|(window_s, (weighted, weight))| Dispersion {
                window_s: *window_s,
                within_the_hour: (weight > 0.0).then(|| weighted / weight),
            })
            .collect();
        let (step_s, timeline) = self.timeline(first_s, last_s);
        Some(TrafficTimeline {
            first_s,
            last_s,
            covered_s: covered_s as u64,
            gaps_s: gaps_s as u64,
            mean_per_s: requests as f64 / covered_s as f64,
            peak_second: second,
            peak_minute: minute,
            peak_hour,
            dispersion,
            time_of_day: self.time_of_day,
            step_s,
            timeline,
        })
    }

    /// In steps that leave no more points than a chart shows.
    fn timeline(&self, first_s: i64, last_s: i64) -> (u32, Vec<Point>) {
        const STEPS: [u32; 9] = [1, 5, 10, 60, 300, 600, 3600, 21_600, 86_400];
        let span = last_s - first_s + 1;
        let step = STEPS
            .into_iter()
            .find(|step| span / i64::from(*step) < POINTS_MOST as i64)
            .unwrap_or(STEPS[8] * (span / 86_400 / POINTS_MOST as i64 + 1) as u32);
        let long = i64::from(step);
        let mut points: Vec<Point> = Vec::new();
        let mut tell = |at_s: i64, requests: u64, second: u32| {
            let begin = at_s.div_euclid(long) * long;
            match points.last_mut() {
                Some(last) if last.at_s == begin => {
                    last.requests += requests;
                    last.second_max = last.second_max.max(second);
                }
                last => {
                    // A silence is drawn as one: a point where it begins, one where it ends, and all between if they are few.
                    if let Some(silent) = last.map(|last| last.at_s + long).filter(|at| *at < begin) {
                        let many = (begin - silent) / long > POINTS_MOST as i64;
                        let mut at = silent;
                        while at < begin {
                            points.push(Point { at_s: at, requests: 0, second_max: 0 });
                            at += if many { (begin - silent - long).max(long) } else { long };
                        }
                    }
                    points.push(Point { at_s: begin, requests, second_max: second });
                }
            }
        };
        for (hour, it) in &self.hours {
            match it.seconds.as_deref() {
                None => tell(hour * HOUR_S, it.requests, it.figures.second.0),
                Some(seconds) => {
                    for (at, count) in seconds.iter().enumerate().filter(|(_, count)| **count > 0) {
                        tell(hour * HOUR_S + at as i64, u64::from(*count), *count);
                    }
                }
            }
        }
        (step, points)
    }
}

const fn none() -> Peak {
    Peak { requests: 0, at_s: 0 }
}

/// The first of several that are alike.
fn most(peak: &mut Peak, requests: u64, at_s: i64) {
    if requests > peak.requests {
        *peak = Peak { requests, at_s };
    }
}

fn figures(seconds: &[u32; HOUR_S as usize]) -> Figures {
    let mut figures = Figures::default();
    for (at, count) in seconds.iter().enumerate() {
        if *count > figures.second.0 {
            figures.second = (*count, at as u16);
        }
    }
    for (at, minute) in seconds.chunks_exact(60).enumerate() {
        let count = minute.iter().fold(0u32, |sum, count| sum.saturating_add(*count));
        if count > figures.minute.0 {
            figures.minute = (count, at as u8);
        }
    }
    for (index, window) in WINDOWS.iter().enumerate() {
        figures.squares[index] = windows(seconds, *window as usize).1 as u64;
    }
    figures
}

/// Sum, and sum of squares.
fn windows(seconds: &[u32], window: usize) -> (f64, f64) {
    seconds
        .chunks_exact(window)
        .map(|chunk| chunk.iter().map(|count| f64::from(*count)).sum::<f64>())
        .fold((0.0, 0.0), |(sum, squares), count| (sum + count, squares + count * count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(seconds: impl IntoIterator<Item = i64>) -> TrafficTimeline {
        let mut counter = Counter::default();
        for at in seconds {
            assert!(counter.add(at * SECOND_NS, 3600));
        }
        counter.finish().unwrap()
    }

    #[test]
    fn peaks_and_means_do_not_depend_on_the_order() {
        let times: Vec<i64> = (0..7200).chain([100, 100, 100, 5000, 5001]).collect();
        let forward = course(times.iter().copied());
        assert_eq!(forward, course(times.iter().rev().copied()));
        assert_eq!((forward.peak_second.requests, forward.peak_second.at_s), (4, 100));
        assert_eq!((forward.peak_minute.requests, forward.peak_minute.at_s), (63, 60));
        assert_eq!((forward.peak_hour.requests, forward.covered_s), (3603, 7200));
        assert_eq!((forward.time_of_day[1], forward.time_of_day[2]), (3603, 3602));
        assert_eq!(forward.timeline.iter().map(|it| it.requests).sum::<u64>(), 7205);
    }

    #[test]
    fn a_metronome_has_no_dispersion_and_bursts_have_much() {
        let even = course(0..3600).dispersion[0].within_the_hour.unwrap();
        let bursts = course((0..3600).map(|at| at / 60 * 60)).dispersion[0].within_the_hour.unwrap();
        assert!(even < 1e-9 && bursts > 50.0, "{even} {bursts}");
    }

    #[test]
    fn a_line_of_another_year_is_a_gap_and_not_a_rate() {
        let course = course((0..1000).chain([400 * 86_400]));
        assert!(course.gaps_s > 390 * 86_400 && course.mean_per_s > 0.1, "{course:?}");
    }

    #[test]
    fn more_hours_than_are_kept_are_still_all_there() {
        let hours = HOURS_MOST as i64 + 100;
        let course = course((0..hours).flat_map(|hour| [hour * HOUR_S, hour * HOUR_S + 5, hour * HOUR_S + 5]));
        assert_eq!(course.timeline.iter().map(|it| it.requests).sum::<u64>(), 3 * hours as u64);
        assert_eq!((course.peak_second.requests, course.peak_hour.requests), (2, 3));
        assert!(course.timeline.len() <= POINTS_MOST + 1);
    }

    #[test]
    fn courses_of_parts_add_up() {
        let counted = |seconds: &[i64]| {
            let mut counter = Counter::default();
            assert!(seconds.iter().all(|at| counter.add(at * SECOND_NS, 3600)));
            counter
        };
        let hours = |count: i64| (0..count).flat_map(|hour| [hour * HOUR_S, hour * HOUR_S + 5, hour * HOUR_S + 5, hour * HOUR_S + 70]);
        for count in [50, HOURS_MOST as i64 + 100] {
            let mut all: Vec<i64> = hours(count).chain([7 * HOUR_S + 5]).collect();
            // An hour that has no room any more is not told late.
            all.sort_unstable();
            let (even, odd): (Vec<i64>, Vec<i64>) = all.iter().partition(|at| *at % 2 == 0);
            let mut merged = counted(&odd);
            merged.absorb(counted(&even));
            assert_eq!(merged.requests(), all.len() as u64);
            let (merged, whole) = (merged.finish().unwrap(), counted(&all).finish().unwrap());
            assert_eq!((merged.peak_hour, merged.time_of_day, merged.covered_s), (whole.peak_hour, whole.time_of_day, whole.covered_s));
            if count == 50 {
                assert_eq!(merged, whole);
            }
            assert_eq!((merged.peak_second.requests, whole.peak_second.requests), (3, 3));
        }
        // An hour that left memory in one of both, after which something came late.
        let one = || counted(&hours(HOURS_MOST as i64 + 10).chain([10, 20, 30]).collect::<Vec<_>>());
        let other = || counted(&[40, 50]);
        assert_eq!((one().late(), other().late()), (3, 0));
        for (mut first, second) in [(one(), other()), (other(), one())] {
            first.absorb(second);
            assert_eq!(first.late(), 5, "of that hour the four are known that were there in time");
            let read: Counter = serde_json::from_str(&serde_json::to_string(&first).unwrap()).unwrap();
            assert_eq!((read.late(), read.dense), (5, first.dense));
            assert_eq!(read.finish(), first.finish());
        }
    }

    #[test]
    fn hours_that_are_none_are_refused() {
        let mut counter = Counter::default();
        assert!([5, 7300].iter().all(|at| counter.add(at * SECOND_NS, 0)));
        let written = serde_json::to_string(&counter).unwrap();
        for (was, is) in [
            ("[5000000000,7300000000000]", "[5000000000,3500000000000]"),
            ("[5000000000,7300000000000]", "[-5000000000,7300000000000]"),
            ("[5000000000,7300000000000]", "null"),
            ("\"hour\":2,\"requests\":1", "\"hour\":2,\"requests\":1,\"late\":1"),
            ("\"hour\":2", "\"hour\":0"),
        ] {
            assert!(written.contains(was), "{was}: {written}");
            assert!(serde_json::from_str::<Counter>(&written.replacen(was, is, 1)).is_err(), "{is}");
        }
    }
}
