//! All loads of a measurement together: which one carried most, and whether throughput stopped growing.
//!
//! Most causes show only where the server is at its end, and whether it is there is the same question for all of them. In a ladder
//! of closed loads it is where twice the users bring no more, only longer times. In open load it is where less is answered than
//! falls due. A single load does not show it: whoever waits in a line of five may be all the users there are. So nothing that follows
//! from an end is ever said of one.

use super::law::UtilisationLaw;
use super::point::{Point, ServerFigures};
use crate::curve::Model;

/// A load that reaches this share of the greatest throughput reaches it for all purposes.
pub(super) const NEARLY: f64 = 0.9;
/// So many times the users, and nothing to show for it.
const LEVELS_RATIO: f64 = 1.8;
/// … but times so much longer.
const TIMES_RATIO: f64 = 1.5;
/// Loads at which so many of the requests fail or are refused show how it fails, and not where throughput ends.
pub(super) const FAILING_MIN: f64 = 0.01;
/// A server that uses no more than this of what it may is not limited by it.
const IDLE_MAX: f64 = 0.75;
/// Threads with requests that are on a core or ready for one for no more of their time wait for something else: waking up on a busy
/// machine takes as much.
pub(super) const WANTS_MAX: f64 = 0.3;
/// A machine busier than this may keep cores from threads that are ready, though not all of the time.
const MACHINE_FREE_MAX: f64 = 0.8;
/// A machine this busy has no core left, not even for a burst.
pub(super) const MACHINE_FULL_MIN: f64 = 0.92;
/// A thread that does this share of a server's work is its only one, for all purposes.
pub(super) const ALONE_MIN: f64 = 0.7;
/// A quota that stopped the server in so many of its periods is at work.
pub(super) const THROTTLED_MIN: f64 = 0.25;

/// The loads, ascending, and what they show together.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) points: Vec<&'a Point>,
    /// That with the greatest throughput.
    pub(super) top: &'a Point,
    /// Where throughput stops growing.
    pub(super) flat: Option<Flat>,
    /// The law that the levels of a sweep follow, where one was accepted.
    pub(super) model: Option<Model>,
}

/// What the course of throughput over closed loads rules out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Growth in proportion, and then a ceiling: what so many workers carry.
    Ceiling,
    /// Less and less for each user, or less in all: what is shared and agreed upon.
    Bent,
    /// Too little to tell.
    Unknown,
}

/// Throughput that does not grow any more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Flat {
    /// Requests a second.
    pub(super) capacity: f64,
    /// The lowest load that reaches it, and the highest that was measured.
    pub(super) from: f64,
    pub(super) to: f64,
    /// The service time in seconds before anything waits.
    pub(super) idle_s: f64,
    /// The mean at the highest load.
    pub(super) response_s: f64,
}

impl Flat {
    /// N = X·R: how many requests are worked on at once.
    pub(super) fn at_once(&self) -> f64 {
        self.capacity * self.idle_s
    }
}

impl Point {
    /// Whether requests failed or were turned away.
    pub(super) fn is_failing(&self) -> bool {
        self.errors.max(self.refused()) >= FAILING_MIN
    }
}

impl<'a> Scene<'a> {
    /// `None` where nothing fell due.
    pub(super) fn new(points: &'a [Point], model: Option<Model>) -> Option<Self> {
        let mut points: Vec<&Point> = points.iter().filter(|point| point.requests > 0.0).collect();
        // Throughput of a load in which loadline stood still is not the server's; that requests failed is.
        let says_something = |point: &Point| !point.stood_still || point.is_failing();
        if points.iter().any(|point| !point.stood_still) {
            points.retain(|point| says_something(point));
        }
        points.sort_by(|a, b| a.level.total_cmp(&b.level));
        // Of equals the lowest.
        let top = points.iter().rev().copied().max_by(|a, b| a.good.total_cmp(&b.good))?;
        // Throughput that follows a straight line has no end here, however it wobbles.
        let flat = flat(&points, top).filter(|_| !matches!(model, Some(Model::Linear { .. })));
        Some(Self { points, top, flat, model })
    }

    /// Whether this is one load, which shows no course.
    pub(super) fn is_single(&self) -> bool {
        self.points.first().zip(self.points.last()).is_none_or(|(first, last)| last.level <= first.level)
    }

    /// Whether a load below that at which throughput stops growing was measured, or there is none. Of the lowest of all the users that are worked
    /// on at once are by Little's law as many as there are, which tells nothing of the server.
    pub(super) fn has_grown(&self) -> bool {
        self.top.open || self.flat.is_some_and(|flat| flat.from <= 1.0 || self.points.iter().any(|point| point.level < flat.from))
    }

    /// What the course of throughput looks like: as the accepted model says, else held against a pool of the size that Little's law gives.
    pub(super) fn shape(&self) -> Shape {
        /// A pool carries this share of what its size and its idle time make, at least.
        const CARRIED_MIN: f64 = 0.9;
        /// Near its size chance leaves workers idle.
        const NEAR_KNEE: std::ops::RangeInclusive<f64> = 0.6..=1.7;
        const CARRIED_NEAR_MIN: f64 = 0.72;
        /// A throughput that has fallen to this share is no ceiling.
        const FALLEN: f64 = 0.85;
        match self.model {
            Some(Model::Pool { .. }) => return Shape::Ceiling,
            Some(Model::Universal { .. } | Model::Amdahl { .. } | Model::Linear { .. }) => return Shape::Bent,
            None => {}
        }
        let Some(flat) = self.flat.filter(|_| !self.top.open) else { return Shape::Unknown };
        let sound = self.points.iter().filter(|point| !point.is_failing() && point.level <= flat.to);
        for point in sound {
            let expected = (point.level / flat.idle_s).min(flat.capacity);
            let near = NEAR_KNEE.contains(&(point.level / flat.at_once()));
            let least = match (point.level > self.top.level, near) {
                (true, _) => FALLEN,
                (false, true) => CARRIED_NEAR_MIN,
                (false, false) => CARRIED_MIN,
            };
            if point.good < least * expected {
                return Shape::Bent;
            }
        }
        Shape::Ceiling
    }

    /// The loads at which the server did its utmost: that with the greatest throughput and all above, but where it was at its end
    /// before it failed, those at which it failed say nothing of that end.
    pub(super) fn loaded(&self) -> impl Iterator<Item = &'a Point> {
        let from = self.top.level;
        let to = self.flat.map(|flat| flat.to).filter(|to| *to >= from).unwrap_or(f64::INFINITY);
        self.points.iter().copied().filter(move |point| (from..=to).contains(&point.level))
    }

    /// Among those, the one at which a figure of the server was greatest.
    pub(super) fn most(&self, figure: impl Fn(&ServerFigures) -> Option<f64>) -> Option<(&'a Point, &'a ServerFigures, f64)> {
        let seen = self.loaded().filter_map(|point| Some((point, point.server.as_ref()?)));
        seen.filter_map(|(point, seen)| Some((point, seen, figure(seen)?))).max_by(|a, b| a.2.total_cmp(&b.2))
    }

    /// Among those, the one with the highest load: what is true of it is true of whoever waits there, and not of a single user.
    pub(super) fn hardest(&self, figure: impl Fn(&ServerFigures) -> Option<f64>) -> Option<(&'a Point, &'a ServerFigures, f64)> {
        let seen = self.loaded().filter_map(|point| Some((point, point.server.as_ref()?)));
        seen.filter_map(|(point, seen)| Some((point, seen, figure(seen)?))).last()
    }

    /// The utilisation law of a figure of the server.
    pub(super) fn law(&self, capacity: f64, figure: impl Fn(&ServerFigures) -> Option<f64>) -> Option<UtilisationLaw> {
        let pairs = self.points.iter().filter_map(|point| Some((point.answered, figure(point.server.as_ref()?)?)));
        UtilisationLaw::of(&pairs.collect::<Vec<_>>(), capacity)
    }

    /// Whether the server was watched, and was not short of cores; `None` where it was not watched. A machine that others fill is
    /// nothing to a server whose threads get their cores all the same.
    pub(super) fn is_idle(&self) -> Option<bool> {
        let (_, _, used) = self.most(|seen| Some(seen.cpu? / seen.capacity().filter(|cores| *cores > 0.0)?))?;
        let machine = self.most(ServerFigures::machine_share).map_or(0.0, |(_, _, share)| share);
        let thread = self.most(|seen| seen.busiest.first().map(|(_, used)| *used)).map_or(0.0, |(_, _, used)| used);
        Some(used <= IDLE_MAX && thread <= 0.8 && (machine <= MACHINE_FREE_MAX || !self.wants_cores()))
    }

    /// Whether the host gave more of the machine's processors to others at one load than at another, or loadline stood still, so that the
    /// course of throughput over the loads is not the server's own.
    pub(super) fn is_disturbed(&self) -> bool {
        const APART_MAX: f64 = 0.1;
        if self.points.iter().any(|point| point.stood_still) {
            return true;
        }
        let steal = || self.points.iter().filter_map(|point| point.server.as_ref()?.steal);
        steal().fold(0.0, f64::max) - steal().fold(1.0, f64::min) > APART_MAX
    }

    /// The server at the highest load that it answered: beyond that it may be busy with refusing.
    pub(super) fn answering(&self) -> Option<&'a ServerFigures> {
        let sound = self.points.iter().rfind(|point| !point.is_failing());
        sound.or(self.points.last())?.server.as_ref()
    }

    /// Whether what the server's threads wait for is cores, at the highest load.
    pub(super) fn wants_cores(&self) -> bool {
        self.loaded().filter_map(Point::wants_cores).last().is_some_and(|wants| wants > WANTS_MAX)
    }

    /// The greatest of a figure over all loads, with its load.
    pub(super) fn anywhere(&self, figure: impl Fn(&Point) -> f64) -> Option<(&'a Point, f64)> {
        self.points.iter().map(|point| (*point, figure(point))).max_by(|a, b| a.1.total_cmp(&b.1))
    }
}

fn flat(points: &[&Point], top: &Point) -> Option<Flat> {
    if top.good <= 0.0 {
        return None;
    }
    let idle_below = |level: f64| points.iter().filter(|point| point.level <= level).filter_map(|point| point.service_s).reduce(f64::min);
    let last = points.last()?;
    if top.open {
        let behind = |point: &&&Point| point.is_behind();
        let first = points.iter().find(behind)?;
        let capacity = points.iter().filter(behind).map(|point| point.good).fold(0.0, f64::max);
        // Without a load that was kept up with, it is not known what an answer takes where nothing waits.
        let idle_s = points.iter().filter(|point| point.level < first.level).filter_map(|point| point.service_s).reduce(f64::min)?;
        let (from, to) = (first.level, last.level);
        return Some(Flat { capacity, from, to, idle_s, response_s: last.service_s? });
    }
    // Where requests fail, times are those of failures, which are quick.
    let sound: Vec<&Point> = points.iter().copied().filter(|point| !point.is_failing()).collect();
    let points = if sound.len() > 1 { &sound } else { points };
    let (first, last) = (points.iter().find(|point| point.good >= top.good * NEARLY)?, points.last()?);
    if last.level <= points[0].level {
        return None;
    }
    let (before, after) = (first.service_s?, last.service_s?);
    let stops = last.level >= first.level * LEVELS_RATIO && after >= before * TIMES_RATIO;
    let idle_s = idle_below(first.level)?;
    stops.then_some(Flat { capacity: top.good, from: first.level, to: last.level, idle_s, response_s: after })
}
