//! Routes as a part of a survey has them: their names are numbers by a key, and beside these stand the names that may be told.
//!
//! Which names are folded shows when all parts are together, and a part on its own must not say what its report would leave out: the
//! names of a thousand users. So a part names what its own report would name, and of all others it has the number, by which they are put
//! together. A name that no part would have told is folded in the end, however often it is asked for.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Counts, OTHERS, PATHS_MOST, PLACES_MOST, Place, ROUTES_MOST, Routes, is_name};
use crate::entry::is_method;
use crate::key::Subject;
use crate::sample::Sample;
use crate::scrub::Personal;
use crate::took::WrittenTook;

impl Routes {
    /// With names and paths as they may leave this machine.
    pub(crate) fn sealed(mut self, personal: Personal) -> Self {
        let key = self.key;
        let shown = (personal == Personal::LeftOut).then(|| self.shown());
        let mut texts = FxHashMap::default();
        for place in &mut self.places {
            let below = std::mem::take(&mut place.below).into_iter().map(|(name, at)| {
                if !is_name(&name) {
                    return (name, at);
                }
                let number: Box<[u8]> = format!("{:016x}", key.number(Subject::Name, &name)).into_bytes().into();
                if shown.as_ref().is_none_or(|shown| shown.contains(&name)) {
                    texts.insert(number.clone(), String::from_utf8_lossy(&name).into());
                }
                (number, at)
            });
            place.below = below.collect();
        }
        for counts in &mut self.counts {
            counts.sample = counts.sample.take().map(|sample| Box::new(sample.sealed(personal)));
        }
        self.texts = Some(texts);
        self
    }

    /// The names that a report of these routes has.
    fn shown(&self) -> FxHashSet<Box<[u8]>> {
        let counts = self.counts.iter().map(|counts| Counts { requests: counts.requests, ..Counts::default() }).collect();
        let mut report = Self { places: self.places.clone(), counts, methods: self.methods.clone(), ..Self::default() };
        report.settle();
        report.places.into_iter().flat_map(|place| place.below.into_keys()).filter(|name| is_name(name)).collect()
    }

    /// Adds sealed routes of another part, with the same key.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        if let (Some(texts), Some(others)) = (&mut self.texts, other.texts.take()) {
            texts.extend(others);
        }
        self.counts[OTHERS as usize].absorb(std::mem::take(&mut other.counts[OTHERS as usize]));
        let methods: Vec<u8> = other.methods.iter().map(|method| self.method(method)).collect();
        self.absorb_below(&mut other, &methods, 0, 0);
        self.paths = self.counts.iter().filter_map(|counts| counts.sample.as_ref()).map(|sample| sample.paths()).sum();
        // Parts keep as many as they have room for by themselves. Fewer are kept only where as many as before are too many.
        if self.paths > PATHS_MOST {
            self.limit_paths();
        }
        if self.paths > PATHS_MOST {
            self.keep_fewer_paths();
        }
        let are_many = self.live() > ROUTES_MOST;
        if are_many {
            self.settle();
            self.drop_rarest();
        }
        // Places without a route take room, too.
        if are_many || self.places.len() - self.free_places.len() > PLACES_MOST {
            self.prune(0);
        }
    }

    fn absorb_below(&mut self, other: &mut Self, methods: &[u8], from: u32, into: u32) {
        let Place { below, ends, folded } = std::mem::take(&mut other.places[from as usize]);
        self.places[into as usize].folded |= folded;
        for (method, route) in ends {
            let method = methods[usize::from(method)];
            let known = self.places[into as usize].ends.iter().find(|(known, _)| *known == method);
            let mine = match known {
                Some((_, mine)) => *mine,
                None => {
                    let new = self.new_counts();
                    self.places[into as usize].ends.push((method, new));
                    new
                }
            };
            self.counts[mine as usize].absorb(std::mem::take(&mut other.counts[route as usize]));
        }
        let mut below: Vec<(Box<[u8]>, u32)> = below.into_iter().filter(|(_, at)| other.requests_below(*at) > 0).collect();
        below.sort_unstable();
        for (name, at) in below {
            let mine = match self.places[into as usize].below.get(&name) {
                Some(mine) => *mine,
                None => {
                    let new = self.new_place();
                    self.places[into as usize].below.insert(name, new);
                    new
                }
            };
            self.absorb_below(other, methods, at, mine);
        }
    }

    /// Routes that have counts of their own.
    fn live(&self) -> usize {
        self.counts.len() - 1 - self.free_counts.len()
    }

    /// Puts the routes that are asked for least to the others, until there is room for the rest.
    fn drop_rarest(&mut self) {
        let mut all: Vec<(u64, u32)> =
            self.places.iter().flat_map(|place| &place.ends).map(|(_, route)| (self.counts[*route as usize].requests, *route)).collect();
        all.sort_unstable();
        all.truncate(self.live().saturating_sub(ROUTES_MOST));
        let rarest: FxHashSet<u32> = all.into_iter().map(|(_, route)| route).collect();
        self.places.iter_mut().for_each(|place| place.ends.retain(|(_, route)| !rarest.contains(route)));
        for route in rarest {
            let counts = Counts { sample: None, ..std::mem::take(&mut self.counts[route as usize]) };
            self.counts[OTHERS as usize].absorb(counts);
            self.free_counts.push(route);
        }
    }

    /// Takes away places without a route; whether one is left.
    fn prune(&mut self, place: u32) -> bool {
        let below = std::mem::take(&mut self.places[place as usize].below);
        let left = below.into_iter().filter(|(_, at)| self.prune(*at)).collect();
        self.places[place as usize].below = left;
        let Place { below, ends, .. } = &self.places[place as usize];
        let is_left = place == 0 || !below.is_empty() || !ends.is_empty();
        if !is_left {
            // Whoever gets it folds nothing yet.
            self.places[place as usize] = Place::default();
            self.free_places.push(place);
        }
        is_left
    }
}

#[derive(Serialize, Deserialize)]
struct WrittenRoutes<C> {
    /// The names that may be told, by their numbers.
    names: BTreeMap<String, String>,
    root: WrittenPlace<C>,
    others: C,
}

#[derive(Serialize, Deserialize)]
#[serde(bound(deserialize = "C: Deserialize<'de>"))]
struct WrittenPlace<C> {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    folded: bool,
    /// By method.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    routes: BTreeMap<String, C>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    below: BTreeMap<String, Self>,
}

/// Counts as they are read: histograms are made of them when it is known that they are not too many.
#[derive(Deserialize)]
pub(super) struct WrittenCounts {
    requests: u64,
    statuses: Vec<(u16, u64)>,
    bytes: u64,
    #[serde(default)]
    took: Option<WrittenTook>,
    #[serde(default)]
    sample: Option<Box<Sample>>,
}

impl From<WrittenCounts> for Counts {
    fn from(WrittenCounts { requests, statuses, bytes, took, sample }: WrittenCounts) -> Self {
        Self { requests, statuses, bytes, took: took.map(|took| Box::new(took.into())), sample }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Routes {
    fn written(&self, place: u32) -> WrittenPlace<Counts> {
        let Place { below, ends, folded } = &self.places[place as usize];
        let mut routes: BTreeMap<String, Counts> = BTreeMap::new();
        for (method, route) in ends {
            routes.entry(text(&self.methods[usize::from(*method)])).or_default().absorb(self.counts[*route as usize].clone());
        }
        WrittenPlace { folded: *folded, routes, below: below.iter().map(|(name, at)| (text(name), self.written(*at))).collect() }
    }

    fn read(&mut self, written: WrittenPlace<WrittenCounts>, place: u32) -> Result<(), &'static str> {
        let WrittenPlace { folded, routes, below } = written;
        self.places[place as usize].folded = folded;
        for (name, counts) in routes {
            if !is_method(name.as_bytes()) {
                return Err("a method is none");
            }
            let method = self.method(name.as_bytes());
            if let Some((_, others)) = self.places[place as usize].ends.iter().find(|(known, _)| *known == method) {
                let others = *others as usize;
                self.counts[others].absorb(counts.into());
                continue;
            }
            if self.counts.len() > ROUTES_MOST {
                return Err("it has more routes than are kept");
            }
            let route = self.new_counts();
            self.counts[route as usize] = counts.into();
            self.places[place as usize].ends.push((method, route));
        }
        for (name, below) in below {
            if self.places.len() >= PLACES_MOST {
                return Err("its routes have more places than are kept");
            }
            let new = self.new_place();
            self.places[place as usize].below.insert(name.into_bytes().into(), new);
            self.read(below, new)?;
        }
        Ok(())
    }

    /// Whether each route is of as many requests everywhere.
    pub(crate) fn adds_up(&self) -> bool {
        self.counts.iter().all(Counts::adds_up)
    }
}

impl Serialize for Routes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = self.texts.iter().flatten().map(|(number, name)| (text(number), name.to_string())).collect();
        WrittenRoutes { names, root: self.written(0), others: self.counts[OTHERS as usize].clone() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Routes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let WrittenRoutes { names, root, others } = WrittenRoutes::<WrittenCounts>::deserialize(deserializer)?;
        let mut routes = Self::default();
        routes.counts[OTHERS as usize] = others.into();
        routes.read(root, 0).map_err(serde::de::Error::custom)?;
        routes.texts = Some(names.into_iter().map(|(number, name)| (number.into_bytes().into(), name.into())).collect());
        Ok(routes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NAMES_KEPT;
    use super::*;
    use crate::key::Key;

    #[test]
    fn samples_of_many_parts_are_as_large_as_that_of_one_log() {
        // More paths than are kept, so that fewer are kept of each route.
        const ROUTES: u32 = 1200;
        const PARTS: u32 = 16;
        const PATHS: u32 = 200;
        let counted = |parts: std::ops::Range<u32>| {
            let mut routes = Routes::default().with_key(Key::new([5; 16]));
            for part in parts {
                for route in 0..ROUTES {
                    let path = format!("/a{}/b{}/c{}", route / 100, route / 10 % 10, route % 10);
                    for at in 0..PATHS {
                        routes.of_target(b"GET", path.as_bytes(), format!("{path}?{}", part * PATHS + at).as_bytes()).add(200, 0, None);
                    }
                }
            }
            routes.sealed(Personal::Kept)
        };
        let paths =
            |routes: &Routes| routes.counts.iter().filter_map(|counts| counts.sample.as_ref()).map(|sample| sample.paths()).sum::<usize>();
        let one = paths(&counted(0..PARTS));
        let mut whole = counted(0..1);
        (1..PARTS).for_each(|part| whole.absorb(counted(part..part + 1)));
        assert!(one <= PATHS_MOST && paths(&whole) >= one / 2, "{} of parts, {one} of one log", paths(&whole));
    }

    #[test]
    fn of_names_that_are_asked_for_as_often_a_part_tells_as_many_as_a_report() {
        let name = |at: u32| (0..3).map(|place| char::from(b'a' + (at / 10u32.pow(place) % 10) as u8)).collect::<String>();
        let counted = || {
            let mut routes = Routes::default().with_key(Key::new([5; 16]));
            for at in 0..300 {
                (0..if at < 40 { 9 } else { 1 }).for_each(|_| routes.of(b"GET", format!("/u/{}", name(at)).as_bytes()).add(200, 0, None));
            }
            routes
        };
        let told = |routes: Routes| routes.finish().0.into_iter().map(|(_, path, counts)| (path, counts.requests)).collect::<Vec<_>>();
        let whole = told(counted());
        assert_eq!((whole.len(), whole[0].clone()), (NAMES_KEPT + 1, ("/u/{name}".to_owned(), 15 * 9 + 260)));
        assert_eq!(told(counted().sealed(Personal::LeftOut)), whole);
    }
}
