//! What users do with the requests of a file that says more than their order: loops, choices, kinds of users.
//!
//! A file of requests is a [`Collection`](super::Collection), and what is the same for all of them (servers, secrets, headers, limits) is
//! done with its requests. A test plan of another tool has a structure beside them. So the structure stands apart, with a mark in the place
//! of each request, and both are put together when the work is made; requests that were left out meanwhile leave no loop without an end.

use plan::work::{Item, Journey, Step, Weights, each_item};
use plan::{DataFile, PopulationDraft};

use super::{Omission, Request};

/// The structure around requests. A step in it is a mark: its name is the place of the request that it stands for, and its letters, its
/// cookies, its cache, its time and what its failure ends are its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Course {
    /// Done once, before the load.
    pub setup: Vec<Item>,
    /// Done once, after the load.
    pub teardown: Vec<Item>,
    /// Whether that is left out where the load was ended before its end.
    pub skips_teardown: bool,
    /// What users go through.
    pub journeys: Vec<Journey>,
    /// Kinds of users side by side, each with its journeys.
    pub populations: Vec<PopulationDraft>,
    /// Whether users wait for each other, and take turns, with those of their own machine alone.
    pub each_place: bool,
    /// Whether users keep cookies.
    pub cookies: bool,
    /// Data files; their paths begin where the file is.
    pub data: Vec<DataFile>,
    /// Whether users end by what they have done, and no time is said.
    pub ends_by_itself: bool,
    /// Users without an end of their own, each told as what is left out where no duration is said.
    pub endless: Vec<Omission>,
}

impl Course {
    /// Makes kinds of users kinds of journeys, which begin as often as their weights say.
    pub(super) fn come_at_a_rate(&mut self) {
        self.populations.clear();
        self.endless.clear();
        self.ends_by_itself = false;
    }

    /// The variables that get values on the way, of these requests and by the structure itself.
    pub(super) fn assigned<'a>(&'a self, requests: &'a [Request]) -> Vec<&'a str> {
        let mut names: Vec<&str> = requests.iter().flat_map(|request| &request.extractions).map(|taken| taken.variable.as_str()).collect();
        let journeys = self.journeys.iter().map(|journey| journey.items.as_slice());
        for items in journeys.chain([self.setup.as_slice(), &self.teardown]) {
            each_item(items, &mut |item| names.extend(item.assigned()));
        }
        names
    }
}

/// These items with each mark replaced by what `step` makes of it. What has nothing to send any more is left out.
pub(super) fn filled(items: Vec<Item>, step: &mut dyn FnMut(&Step) -> Option<Step>) -> Vec<Item> {
    let mut filled_items = Vec::with_capacity(items.len());
    for mut item in items {
        if let Item::Step(mark) = &mut item {
            match step(mark) {
                Some(made) => **mark = made,
                None => continue,
            }
        }
        let mut has_parts = false;
        for part in item.parts_mut() {
            has_parts = true;
            *part = filled(std::mem::take(part), step);
        }
        match &mut item {
            Item::Interleave { parts, .. } | Item::RandomOrder(parts) | Item::Parallel { parts, .. } => {
                parts.retain(|part| !part.is_empty());
            }
            Item::Pick { weights, choices } => {
                let left = weights.each().iter().zip(&*choices).filter(|(_, choice)| !choice.is_empty()).map(|(weight, _)| *weight);
                if let Ok(left) = Weights::new(&left.collect::<Vec<_>>()) {
                    *weights = left;
                }
                choices.retain(|choice| !choice.is_empty());
            }
            _ => {}
        }
        let is_loop = matches!(item, Item::Repeat { .. } | Item::While { .. } | Item::ForEach { .. } | Item::RunFor { .. });
        if !has_parts || item.parts().iter().any(|part| sends(part)) || !is_loop && item.parts().iter().any(|part| sets(part)) {
            filled_items.push(item);
        }
    }
    filled_items
}

/// Whether something in these gives a variable a value for what comes after, or keeps that from being done.
fn sets(items: &[Item]) -> bool {
    items.iter().any(|item| {
        matches!(
            item,
            Item::Set(_) | Item::Script(_) | Item::EndRound | Item::EndLoop | Item::End(_) | Item::KeepCookie(_) | Item::NextRow(_)
        ) || item.parts().iter().any(|part| sets(part))
    })
}

/// Whether there is anything to send in these.
fn sends(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::Step(_) => true,
        item => item.parts().iter().any(|part| sends(part)),
    })
}
