//! Paths put together into routes: `/users/17/orders` and `/users/4/orders` are `/users/{id}/orders`.
//!
//! A log has as many paths as it has customers, and an API has some dozen routes. What a segment looks like tells most of it: a
//! number, a UUID, a date. The rest shows in numbers: where hundreds of different names stand below one path, they are names of
//! things. So paths are put into a tree, and a place where too many names stand is folded into one, but for those that are asked
//! for far more often than the others. What is there already is added up, so no request is lost to folding. Folding waits until all is
//! counted, or until there is no more room: what is decided by everything does not depend on what came first.
//!
//! Most lines repeat a path seen just before, so a small table leads from paths to routes past the tree.
//!
//! Invariants: memory is bounded, and what does not fit goes to the one row of others; all routes together are all requests; while there is
//! room, the order of requests changes nothing.

use std::borrow::Cow;
use std::hash::Hasher as _;

use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::sample::{KEPT_MOST, Sample};
use crate::segment::classified;
use crate::took::Took;

mod sealed;
mod versions;

use versions::without_versions;

/// Names below one path before they are folded.
const NAMES_MOST: usize = 100;
/// Names that stay where others are folded.
const NAMES_KEPT: usize = 25;
/// A name stays that is asked for so many times as often as the one in the middle.
const OFTEN: u64 = 4;
/// Segments; what follows is one.
const DEPTH_MOST: usize = 16;
/// Places in the tree: some 20 MB.
const PLACES_MOST: usize = 100_000;
/// Routes with counts of their own.
const ROUTES_MOST: usize = 4_000;
/// Methods that are told apart, those beyond as one.
const METHODS_MOST: usize = 32;
/// What methods beyond are called.
const OTHER_METHODS: &[u8] = b"OTHER";
/// Paths that are kept of all routes, where any are: some 40 MB.
const PATHS_MOST: usize = 425_000;
/// Less room than this part of all is none.
const ROOM_PART: usize = 8;
/// So many requests without room are passed over before it is looked for again.
const WAITING: u32 = 4_096;

const SLOTS: usize = 1 << 14;
const SLOT_LETTERS: usize = 44;

/// What is counted of a route.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "sealed::WrittenCounts")]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) statuses: Vec<(u16, u64)>,
    pub(crate) bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) took: Option<Box<Took>>,
    /// What it was asked for, where that is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sample: Option<Box<Sample>>,
}

impl Counts {
    #[inline]
    pub(crate) fn add(&mut self, status: u16, bytes: u64, took_ns: Option<i64>) {
        self.requests += 1;
        self.bytes += bytes;
        match self.statuses.iter_mut().find(|(known, _)| *known == status) {
            Some((_, count)) => *count += 1,
            None => self.statuses.push((status, 1)),
        }
        if let Some(took_ns) = took_ns {
            self.took.get_or_insert_default().record(took_ns, 1);
        }
    }

    /// Whether it is of as many requests everywhere.
    pub(crate) fn adds_up(&self) -> bool {
        let statuses = self.statuses.iter().fold(0u64, |sum, (_, requests)| sum.saturating_add(*requests));
        let took = self.took.as_ref().map_or(0, |took| took.count());
        statuses == self.requests && took <= self.requests && self.sample.as_ref().is_none_or(|sample| sample.adds_up(self.requests))
    }

    pub(crate) fn absorb(&mut self, other: Self) {
        self.requests += other.requests;
        self.bytes = self.bytes.saturating_add(other.bytes);
        for (status, count) in other.statuses {
            match self.statuses.iter_mut().find(|(known, _)| *known == status) {
                Some((_, mine)) => *mine += count,
                None => self.statuses.push((status, count)),
            }
        }
        match (&mut self.took, other.took) {
            (Some(mine), Some(others)) => mine.absorb(&others),
            (mine @ None, others) => *mine = others,
            (Some(_), None) => {}
        }
        match (&mut self.sample, other.sample) {
            (Some(mine), Some(others)) => mine.absorb(*others),
            (mine @ None, others) => *mine = others,
            (Some(_), None) => {}
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Place {
    below: FxHashMap<Box<[u8]>, u32>,
    /// Routes that end here, by method.
    ends: Vec<(u8, u32)>,
    /// Whether names are folded here.
    folded: bool,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u64,
    route: u32,
    epoch: u32,
    length: u8,
    method: u8,
    text: [u8; SLOT_LETTERS],
}

/// Every route, and what was counted of it.
#[derive(Debug)]
pub(crate) struct Routes {
    places: Vec<Place>,
    free_places: Vec<u32>,
    counts: Vec<Counts>,
    free_counts: Vec<u32>,
    methods: Vec<Box<[u8]>>,
    slots: Box<[Slot]>,
    /// Slots of an earlier one hold routes that were folded since.
    epoch: u32,
    /// So many requests are passed over before room is looked for.
    waiting: u32,
    /// Paths that are kept of all routes.
    paths: usize,
    /// As many are kept of one.
    paths_each: usize,
    key: Key,
    /// Where names are numbers by the key, those that may be told.
    texts: Option<FxHashMap<Box<[u8]>, Box<str>>>,
}

/// Requests whose route did not fit.
const OTHERS: u32 = 0;

/// The name of folded names.
const FOLDED: &[u8] = b"{name}";

/// Whether it is a name of something, and not of a kind of things.
fn is_name(name: &[u8]) -> bool {
    name.first() != Some(&b'{') || std::str::from_utf8(name).is_err()
}

impl Default for Routes {
    fn default() -> Self {
        let empty = Slot { hash: 0, route: 0, epoch: 0, length: 0, method: 0, text: [0; SLOT_LETTERS] };
        Self {
            places: vec![Place::default()],
            free_places: Vec::new(),
            counts: vec![Counts::default()],
            free_counts: Vec::new(),
            methods: Vec::new(),
            slots: vec![empty; SLOTS].into_boxed_slice(),
            epoch: 1,
            waiting: 0,
            paths: 0,
            paths_each: KEPT_MOST,
            key: Key::default(),
            texts: None,
        }
    }
}

impl Routes {
    /// With another key.
    pub(crate) fn with_key(self, key: Key) -> Self {
        Self { key, ..self }
    }

    /// The counts of a request's route.
    #[inline]
    pub(crate) fn of(&mut self, method: &[u8], path: &[u8]) -> &mut Counts {
        let route = self.number(method, path);
        &mut self.counts[route as usize]
    }

    /// The same, with what was asked for taken into its sample.
    #[inline]
    pub(crate) fn of_target(&mut self, method: &[u8], path: &[u8], target: &[u8]) -> &mut Counts {
        let route = self.number(method, path);
        // Others are of many routes, and of any method.
        if route != OTHERS {
            let sample = self.counts[route as usize].sample.get_or_insert_with(|| Box::new(Sample::new(self.paths_each, self.key)));
            let before = sample.paths();
            sample.add(target);
            self.paths = self.paths + sample.paths() - before;
            if self.paths > PATHS_MOST {
                self.keep_fewer_paths();
            }
        }
        &mut self.counts[route as usize]
    }

    /// Halves how many paths are kept of each route, until there is room for those of all.
    fn keep_fewer_paths(&mut self) {
        while self.paths > PATHS_MOST / 4 * 3 && self.paths_each > 1 {
            self.paths_each /= 2;
            self.limit_paths();
        }
    }

    /// Keeps no more paths of each route than are kept of each.
    fn limit_paths(&mut self) {
        let each = self.paths_each;
        let samples = self.counts.iter_mut().filter_map(|counts| counts.sample.as_mut());
        self.paths = samples.map(|sample| sample.limited(each)).sum();
    }

    /// The number of a request's route, for now: it changes when routes are folded.
    #[inline]
    fn number(&mut self, method: &[u8], path: &[u8]) -> u32 {
        let method = self.method(method);
        if path.len() > SLOT_LETTERS {
            return self.find(method, path);
        }
        let mut hasher = FxHasher::default();
        hasher.write(path);
        hasher.write_u8(method);
        let hash = hasher.finish();
        let at = (hash >> 40) as usize % SLOTS;
        let slot = &self.slots[at];
        if slot.hash == hash
            && slot.epoch == self.epoch
            && slot.method == method
            && usize::from(slot.length) == path.len()
            && slot.text[..path.len()] == *path
        {
            return slot.route;
        }
        let route = self.find(method, path);
        let slot = &mut self.slots[at];
        (slot.hash, slot.route, slot.epoch, slot.method, slot.length) = (hash, route, self.epoch, method, path.len() as u8);
        slot.text[..path.len()].copy_from_slice(path);
        route
    }

    #[inline]
    fn method(&mut self, method: &[u8]) -> u8 {
        match self.known_method(method) {
            Some(at) => at,
            None => self.new_method(method),
        }
    }

    /// The number of a method that was counted, or of those beyond that are told apart.
    #[inline]
    fn known_method(&self, method: &[u8]) -> Option<u8> {
        let of = |method: &[u8]| self.methods.iter().position(|known| **known == *method).map(|at| at as u8);
        of(method).or_else(|| if self.methods.len() < METHODS_MOST { None } else { of(OTHER_METHODS) })
    }

    #[cold]
    fn new_method(&mut self, method: &[u8]) -> u8 {
        let has_others = self.methods.iter().any(|known| **known == *OTHER_METHODS);
        let has_room = self.methods.len() + usize::from(!has_others) < METHODS_MOST;
        self.methods.push(if has_room { method.into() } else { OTHER_METHODS.into() });
        (self.methods.len() - 1) as u8
    }

    fn find(&mut self, method: u8, path: &[u8]) -> u32 {
        if let Some(route) = self.grown(method, path) {
            return route;
        }
        if self.waiting > 0 {
            self.waiting -= 1;
            return OTHERS;
        }
        self.settle();
        let room = |held: usize, free: usize, most: usize| (most + free).saturating_sub(held) >= most / ROOM_PART;
        let has_room =
            room(self.places.len(), self.free_places.len(), PLACES_MOST) && room(self.counts.len(), self.free_counts.len(), ROUTES_MOST);
        self.waiting = if has_room { 0 } else { WAITING };
        self.grown(method, path).unwrap_or(OTHERS)
    }

    /// The number of a route, which is put into the tree; `None` where there is no room.
    fn grown(&mut self, method: u8, path: &[u8]) -> Option<u32> {
        let mut place = 0;
        match path.strip_prefix(b"/") {
            None => place = self.below(place, path)?,
            Some(rest) => {
                for (depth, segment) in rest.split(|letter| *letter == b'/').enumerate() {
                    let end = depth + 1 == DEPTH_MOST;
                    place = self.below(place, if end { b"{rest}" } else { segment })?;
                    if end {
                        break;
                    }
                }
            }
        }
        if let Some((_, route)) = self.places[place as usize].ends.iter().find(|(known, _)| *known == method) {
            return Some(*route);
        }
        let has_room = !self.free_counts.is_empty() || self.counts.len() <= ROUTES_MOST;
        let route = has_room.then(|| self.new_counts())?;
        self.places[place as usize].ends.push((method, route));
        Some(route)
    }

    fn new_counts(&mut self) -> u32 {
        self.free_counts.pop().unwrap_or_else(|| {
            self.counts.push(Counts::default());
            (self.counts.len() - 1) as u32
        })
    }

    fn new_place(&mut self) -> u32 {
        self.free_places.pop().unwrap_or_else(|| {
            self.places.push(Place::default());
            (self.places.len() - 1) as u32
        })
    }

    /// The place of a segment below another.
    fn below(&mut self, place: u32, segment: &[u8]) -> Option<u32> {
        let mut label = [0u8; 32];
        let name: &[u8] = match classified(segment, &mut label) {
            Some(length) => &label[..length],
            None => segment,
        };
        let here = &self.places[place as usize];
        if let Some(below) = here.below.get(name) {
            return Some(*below);
        }
        let name = if here.folded && is_name(name) { FOLDED } else { name };
        if let Some(below) = here.below.get(name) {
            return Some(*below);
        }
        let has_room = !self.free_places.is_empty() || self.places.len() < PLACES_MOST;
        let new = has_room.then(|| self.new_place())?;
        self.places[place as usize].below.insert(name.into(), new);
        Some(new)
    }

    /// Folds every place where too many names stand, from the first segment to the last.
    pub(crate) fn settle(&mut self) {
        self.epoch += 1;
        let mut ahead = vec![0u32];
        while let Some(place) = ahead.pop() {
            self.fold(place);
            let mut below: Vec<(&Box<[u8]>, &u32)> = self.places[place as usize].below.iter().collect();
            below.sort_unstable();
            ahead.extend(below.into_iter().map(|(_, at)| *at));
        }
    }

    /// Folds the names below a place into one, if they are too many, but for the few that are asked for often. Those that may not be told are
    /// folded however few they are.
    fn fold(&mut self, place: u32) {
        let Place { below, folded, .. } = &self.places[place as usize];
        let names: Vec<(Box<[u8]>, u32)> = below.iter().filter(|(name, _)| is_name(name)).map(|(name, at)| (name.clone(), *at)).collect();
        let are_many = names.len() > NAMES_MOST || (*folded && names.len() > NAMES_KEPT);
        if !are_many && names.iter().all(|(name, _)| self.told(name).is_some()) {
            return;
        }
        let mut weighed: Vec<(u64, Box<[u8]>, u32)> = names.into_iter().map(|(name, at)| (self.requests_below(at), name, at)).collect();
        // By name where the counts are the same, so that the same log folds in the same way. What may not be told takes no place of what may.
        let is_hidden = |name: &[u8]| self.told(name).is_none();
        weighed.sort_by(|(a, name, _), (b, other, _)| {
            let by_name = || (is_hidden(name), self.told(name), name).cmp(&(is_hidden(other), self.told(other), other));
            b.cmp(a).then_with(by_name)
        });
        let middle = weighed.get(weighed.len() / 2).map_or(0, |it| it.0);
        let mut rank = 0;
        weighed.retain(|(requests, name, _)| {
            rank += 1;
            let stays = !are_many || (rank <= NAMES_KEPT && *requests > middle * OFTEN);
            !stays || self.told(name).is_none()
        });
        self.places[place as usize].folded = true;
        let Some((_, first, at)) = weighed.first() else { return };
        let into = match self.places[place as usize].below.get(FOLDED) {
            Some(into) => *into,
            None => {
                self.places[place as usize].below.remove(first);
                self.places[place as usize].below.insert(FOLDED.into(), *at);
                *at
            }
        };
        for (_, name, at) in weighed {
            if at != into {
                self.places[place as usize].below.remove(&name);
                self.merge(at, into);
            }
        }
    }

    /// A name as it may be told.
    fn told<'a>(&'a self, name: &'a [u8]) -> Option<Cow<'a, str>> {
        match &self.texts {
            Some(texts) if is_name(name) => texts.get(name).map(|text| Cow::Borrowed(&**text)),
            _ => Some(String::from_utf8_lossy(name)),
        }
    }

    fn requests_below(&self, place: u32) -> u64 {
        let place = &self.places[place as usize];
        place.ends.iter().map(|(_, route)| self.counts[*route as usize].requests).sum::<u64>()
            + place.below.values().map(|below| self.requests_below(*below)).sum::<u64>()
    }

    /// Adds everything of one place to another.
    fn merge(&mut self, from: u32, into: u32) {
        let Place { below, ends, folded } = std::mem::take(&mut self.places[from as usize]);
        self.free_places.push(from);
        for (method, route) in ends {
            match self.places[into as usize].ends.iter().find(|(known, _)| *known == method) {
                Some((_, mine)) => {
                    let mine = *mine;
                    let counts = std::mem::take(&mut self.counts[route as usize]);
                    self.counts[mine as usize].absorb(counts);
                    self.free_counts.push(route);
                }
                None => self.places[into as usize].ends.push((method, route)),
            }
        }
        let mut below: Vec<(Box<[u8]>, u32)> = below.into_iter().collect();
        below.sort();
        for (name, at) in below {
            match self.places[into as usize].below.get(&name) {
                Some(mine) => {
                    let mine = *mine;
                    self.merge(at, mine);
                }
                None => {
                    self.places[into as usize].below.insert(name, at);
                }
            }
        }
        self.places[into as usize].folded |= folded;
    }

    /// The number of a request's route, once all were counted; [`OTHERS`] where it has none.
    pub(crate) fn known(&self, method: &[u8], path: &[u8]) -> u32 {
        let Some(method) = self.known_method(method) else { return OTHERS };
        let mut place = Some(0);
        match path.strip_prefix(b"/") {
            None => place = self.known_below(0, path),
            Some(rest) => {
                for (depth, segment) in rest.split(|letter| *letter == b'/').enumerate() {
                    let end = depth + 1 == DEPTH_MOST;
                    place = place.and_then(|place| self.known_below(place, if end { b"{rest}" } else { segment }));
                    if end {
                        break;
                    }
                }
            }
        }
        let ends = place.map(|place| &self.places[place as usize].ends);
        ends.and_then(|ends| ends.iter().find(|(known, _)| *known == method)).map_or(OTHERS, |(_, route)| *route)
    }

    fn known_below(&self, place: u32, segment: &[u8]) -> Option<u32> {
        let mut label = [0u8; 32];
        let name: &[u8] = match classified(segment, &mut label) {
            Some(length) => &label[..length],
            None => segment,
        };
        let here = &self.places[place as usize];
        here.below.get(name).or_else(|| here.folded.then(|| here.below.get(FOLDED)).flatten()).copied()
    }

    /// The numbers of routes that were counted, each with its method and text.
    pub(crate) fn numbered(&self) -> Vec<(u32, String, String)> {
        let mut routes = Vec::new();
        let mut ahead = vec![(0u32, String::new(), 0usize)];
        while let Some((at, text, depth)) = ahead.pop() {
            let place = &self.places[at as usize];
            for (method, route) in &place.ends {
                routes.push((*route, String::from_utf8_lossy(&self.methods[usize::from(*method)]).into_owned(), text.clone()));
            }
            for (name, below) in &place.below {
                let name = String::from_utf8_lossy(name);
                let odd = depth == 0 && &*name == "*";
                ahead.push((*below, if odd { name.into_owned() } else { format!("{text}/{name}") }, depth + 1));
            }
        }
        routes
    }

    /// Requests of all routes.
    pub(crate) fn requests(&self) -> u64 {
        self.counts.iter().fold(0, |sum, counts| sum.saturating_add(counts.requests))
    }

    /// Every route with a request, by method and text; and what did not fit.
    pub(crate) fn finish(mut self) -> (Vec<(String, String, Counts)>, Counts) {
        self.settle();
        let others = std::mem::take(&mut self.counts[OTHERS as usize]);
        let mut routes = Vec::new();
        let mut ahead = vec![(0u32, String::new(), 0usize)];
        while let Some((at, text, depth)) = ahead.pop() {
            let Place { below, ends, .. } = std::mem::take(&mut self.places[at as usize]);
            for (method, route) in ends {
                let counts = std::mem::take(&mut self.counts[route as usize]);
                if counts.requests > 0 {
                    let method = String::from_utf8_lossy(&self.methods[usize::from(method)]).into_owned();
                    routes.push((method, text.clone(), counts));
                }
            }
            for (name, below) in below {
                let name = self.told(&name).unwrap_or_default();
                let odd = depth == 0 && &*name == "*";
                ahead.push((below, if odd { name.into_owned() } else { format!("{text}/{name}") }, depth + 1));
            }
        }
        let mut routes = without_versions(routes);
        routes.sort_by(|a, b| b.2.requests.cmp(&a.2.requests).then_with(|| (&a.1, &a.0).cmp(&(&b.1, &b.0))));
        (routes, others)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::scrub::Personal;
    use proptest::prelude::*;

    fn routes(paths: impl IntoIterator<Item = String>) -> BTreeMap<String, u64> {
        let mut routes = Routes::default();
        for path in paths {
            routes.of(b"GET", path.as_bytes()).add(200, 1, None);
        }
        routes.finish().0.into_iter().map(|(_, path, counts)| (path, counts.requests)).collect()
    }

    #[test]
    fn what_a_segment_looks_like_tells_its_kind() {
        for (path, route) in [
            ("/", "/"),
            ("/users/17/orders", "/users/{id}/orders"),
            ("/v1/users/", "/v1/users/"),
            ("/a/123e4567-e89b-12d3-a456-426614174000", "/a/{uuid}"),
            ("/a/2024-05-01", "/a/{date}"),
            ("/a/9f86d081884c7d65", "/a/{hex}"),
            ("/img/0042.jpg", "/img/{id}.jpg"),
            ("/u/me@x.example", "/u/{email}"),
            ("/u/me%40x.example", "/u/{email}"),
            ("/from/192.0.2.7", "/from/{address}"),
            ("/reset/Zm9vYmFyMTIzNDU2Nzg5MA", "/reset/{token}"),
            ("/2fa/enable", "/2fa/enable"),
            ("*", "*"),
            ("//", "//"),
        ] {
            assert_eq!(routes([path.to_owned()]).into_keys().collect::<Vec<_>>(), [route], "{path}");
        }
    }

    #[test]
    fn versions_of_a_file_are_one_route() {
        let version = |at: u32| format!("{}{}", char::from(b'a' + (at % 26) as u8), at % 10);
        let routes = routes(
            (0..54).map(|at| format!("/js/app.{}.js", version(at))).chain(["/js/app.min.js".to_owned(), "/js/old.v1.js".to_owned()]),
        );
        assert_eq!(
            routes.into_iter().collect::<Vec<_>>(),
            [("/js/app.min.js".to_owned(), 1), ("/js/app.{version}.js".to_owned(), 54), ("/js/old.v1.js".to_owned(), 1)]
        );
    }

    #[test]
    fn hundreds_of_names_are_one_route_and_what_is_asked_for_often_stays() {
        let names =
            (0..500u32).map(|at| format!("/shop/{}", (0..5).map(|k| char::from(b'a' + (at / 6u32.pow(k) % 6) as u8)).collect::<String>()));
        let often = (0..300).flat_map(|_| ["/shop/cart".to_owned(), "/shop/zz/reviews".to_owned()]);
        let routes = routes(often.chain(names));
        assert_eq!(routes["/shop/cart"], 300);
        assert_eq!(routes["/shop/zz/reviews"], 300);
        assert_eq!(routes["/shop/{name}"], 500, "{routes:?}");
        assert_eq!(routes.len(), 3);
    }

    #[test]
    fn a_route_is_found_again_by_its_number() {
        let paths: Vec<String> = (0..500u32)
            .map(|at| format!("/shop/{}/x{}", (0..5).map(|k| char::from(b'a' + (at / 6u32.pow(k) % 6) as u8)).collect::<String>(), at % 3))
            .chain((0..40).map(|at| format!("/users/{at}")))
            .collect();
        let mut routes = Routes::default();
        for path in &paths {
            routes.of(b"GET", path.as_bytes()).add(200, 0, None);
        }
        routes.settle();
        let names: BTreeMap<u32, String> = routes.numbered().into_iter().map(|(number, _, text)| (number, text)).collect();
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for path in &paths {
            *found.entry(names[&routes.known(b"GET", path.as_bytes())].clone()).or_default() += 1;
        }
        let counted: BTreeMap<String, u64> = routes.finish().0.into_iter().map(|(_, path, counts)| (path, counts.requests)).collect();
        assert_eq!(found, counted);
    }

    #[test]
    fn methods_beyond_those_that_are_told_apart_are_others_in_one_log_and_in_parts() {
        let method = |at: u32| format!("M{}{}", char::from(b'A' + (at / 26) as u8), char::from(b'A' + (at % 26) as u8));
        let counted = |methods: std::ops::Range<u32>| {
            let mut routes = Routes::default().with_key(Key::new([5; 16]));
            methods.for_each(|at| routes.of(method(at).as_bytes(), b"/a").add(200, 1, None));
            routes
        };
        let others = |routes: Routes| {
            let listed = routes.finish().0;
            assert_eq!((listed.len(), listed.iter().map(|it| it.2.requests).sum::<u64>()), (METHODS_MOST, 60));
            listed.into_iter().find(|it| it.0 == "OTHER").unwrap().2.requests
        };
        let mut whole = counted(0..60);
        whole.settle();
        let known = whole.known(method(59).as_bytes(), b"/a");
        assert_eq!(whole.counts[known as usize].requests, 29, "it is found again");
        assert_eq!(others(whole), 29);
        let sealed = |routes: Routes| {
            let written = serde_json::to_string(&routes.sealed(Personal::LeftOut)).unwrap();
            serde_json::from_str::<Routes>(&written).unwrap()
        };
        let mut first = sealed(counted(0..40));
        first.absorb(sealed(counted(40..60)));
        assert_eq!(others(sealed(first)), 29);
    }

    #[test]
    fn a_hostile_log_does_not_grow_the_tree_for_ever() {
        let mut routes = Routes::default();
        for at in 0..300_000u32 {
            let path: String =
                (0..6).map(|depth| format!("/{}", ["a", "b", "c", "d", "e", "f", "g", "h"][(at as usize >> (3 * depth)) % 8])).collect();
            routes.of(b"GET", path.as_bytes()).add(200, 0, None);
        }
        assert!(routes.places.len() <= PLACES_MOST && routes.counts.len() <= ROUTES_MOST + 1);
        let (listed, others) = routes.finish();
        assert_eq!(listed.iter().map(|it| it.2.requests).sum::<u64>() + others.requests, 300_000);
        assert!(others.requests > 0);
    }

    proptest! {
        #[test]
        fn no_request_is_lost_to_folding(paths in prop::collection::vec("(/[a-z]{1,2}){1,4}", 1..1500)) {
            let mut routes = Routes::default();
            for path in &paths {
                routes.of(b"GET", path.as_bytes()).add(200, 3, Some(1));
            }
            let (listed, others) = routes.finish();
            let all = |of: fn(&Counts) -> u64| listed.iter().map(|it| of(&it.2)).sum::<u64>() + of(&others);
            prop_assert_eq!(all(|it| it.requests), paths.len() as u64);
            prop_assert_eq!(all(|it| it.bytes), 3 * paths.len() as u64);
            prop_assert_eq!(all(|it| it.statuses.iter().map(|it| it.1).sum()), paths.len() as u64);
            prop_assert_eq!(all(|it| it.took.as_ref().map_or(0, |it| it.count())), paths.len() as u64);
        }
    }

    #[test]
    fn more_routes_of_parts_than_are_kept_are_still_all_requests() {
        let part = |of: u32| {
            let mut routes = Routes::default().with_key(Key::new([5; 16]));
            for at in 0..3_900u32 {
                let segments: String = (0..4)
                    .map(|depth| {
                        format!(
                            "/{}{}",
                            ["a", "b"][(of % 2) as usize],
                            ["c", "d", "e", "f", "g", "h", "i", "j"][(at as usize >> (3 * depth)) % 8]
                        )
                    })
                    .collect();
                routes.of(b"GET", segments.as_bytes()).add(200, 1, None);
            }
            routes.of(b"GET", b"/often").requests += 50;
            routes.sealed(Personal::LeftOut)
        };
        let mut whole = part(0);
        whole.absorb(part(1));
        assert!(whole.counts.len() - whole.free_counts.len() <= ROUTES_MOST + 1);
        let (listed, others) = whole.finish();
        assert_eq!(listed.iter().map(|it| it.2.requests).sum::<u64>() + others.requests, 2 * 3_950);
        assert_eq!((listed[0].1.as_str(), listed[0].2.requests), ("/often", 100));
        assert!(others.requests >= 3_800 && listed.iter().all(|(_, path, _)| path.starts_with('/')), "{}", others.requests);
    }
}
