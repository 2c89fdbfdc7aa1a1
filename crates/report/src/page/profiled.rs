//! Profiles on a page: a table of the functions that matter, and the tree of calls as the page draws it.

use std::collections::HashMap;

use measure::profiled::{Function, Unit};
use measure::{RunProfile, Summary};
use serde::Serialize;

use super::{Table, finished};
use crate::profiles::{self, Growth, HEADS, ProfiledRun};
use crate::visible::shortened;

/// The sections that tables of profiles stand in; what there is no section for is in the JSON result.
pub(super) const SECTIONS: [&str; 6] = ["profile", "profile-2", "profile-3", "profile-4", "profile-5", "profile-6"];
/// So many functions are in a table.
const ROWS_MAX: usize = 40;
/// Of a name, so much is drawn.
const NAME_LETTERS_MAX: usize = 200;

/// A tree of calls that is drawn with as much width as was spent.
#[derive(Debug, Serialize)]
pub(super) struct Flame {
    id: String,
    title: String,
    about: String,
    unit: Unit,
    total: i64,
    /// Every name once.
    names: Vec<String>,
    /// In preorder: which name, how deep, spent in itself, and with all it called.
    frames: Vec<(usize, u32, i64, i64)>,
    /// By how much each frame's share is greater than before; empty where nothing is compared.
    grown: Vec<f64>,
}

impl Flame {
    pub(super) fn of(section: &str, run: &Summary, profiled: &RunProfile) -> Self {
        Self::drawn(section, format!("Where it went: {}", profiles::of(profiled)), &profiles::about(run, profiled), profiled, None)
    }

    fn drawn(section: &str, title: String, about: &str, profiled: &RunProfile, before: Option<&RunProfile>) -> Self {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut names = Vec::new();
        let mut number = |name| {
            *numbers.entry(name).or_insert_with(|| {
                names.push(shortened(name, NAME_LETTERS_MAX));
                names.len() - 1
            })
        };
        let frames = profiled.frames.iter().map(|it| (number(it.name.as_str()), it.depth, it.flat, it.cum)).collect();
        let rounded = |grown: f64| (grown * 1e4).round() / 1e4;
        let grown =
            before.map_or_else(Vec::new, |before| profiles::grown(&profiled.frames, profiled, before).into_iter().map(rounded).collect());
        Self {
            id: format!("flame-{section}"),
            title,
            about: finished(about),
            unit: profiled.unit,
            total: profiled.total,
            names,
            frames,
            grown,
        }
    }
}

/// The functions of a profile.
pub(super) fn table(section: &'static str, run: &Summary, profiled: &RunProfile) -> Table {
    let row = |function: &Function| {
        let mut cells = vec![shortened(&function.name, NAME_LETTERS_MAX)];
        cells.extend(profiles::cells(profiled, function));
        cells
    };
    let heads: Vec<String> = std::iter::once("function".to_owned()).chain(HEADS.map(|head| format!("#{head}"))).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rows: Vec<Vec<String>> = profiled.functions.iter().take(ROWS_MAX).map(row).collect();
    Table::new(section, &format!("Profile: {}", profiles::of(profiled)), &heads, rows).noted(format!(
        "{} Flat is what a function spent in itself, cum that and all that it called; of {}, those that spent most.",
        finished(&profiles::about(run, profiled)),
        profiles::how_many(profiled)
    ))
}

/// What grew, a table for each profile.
pub(super) fn growth(taken: &[ProfiledRun<'_>]) -> Vec<Table> {
    let made = |(growth, section): (Growth<'_>, &'static str)| {
        let mut heads: Vec<String> = growth.heads().into_iter().map(|head| format!("#{head}")).collect();
        heads.rotate_right(1);
        heads[0] = "function".to_owned();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let mut rows = growth.rows();
        rows.iter_mut().for_each(|row| row.rotate_right(1));
        Table::new(section, &growth.title(), &heads, rows)
            .noted(format!("{} Shares of all that was spent in each; cum is with all that a function calls.", growth.sentence()))
    };
    profiles::growth(taken).into_iter().zip(SECTIONS).filter(|(growth, _)| !growth.changes.is_empty()).map(made).collect()
}

/// What is remarked of them: what grew, in a sentence each, and what went wrong.
pub(super) fn remarks(taken: &[ProfiledRun<'_>]) -> Vec<String> {
    profiles::warnings(taken).into_iter().chain(profiles::growth(taken).iter().map(Growth::sentence)).collect()
}

/// The trees of the last run, coloured by what grew from the first to it; or of whichever of the two was had.
pub(super) fn flames(taken: &[ProfiledRun<'_>]) -> Vec<Flame> {
    let Some(last) = taken.iter().rposition(|one| !one.run.profiles.is_empty()) else { return Vec::new() };
    let (first, last) = (taken[..last].first(), &taken[last]);
    let drawn = |((place, profiled), section): ((usize, &RunProfile), &'static str)| {
        let before = first.and_then(|first| Some((first, first.partner(last, place)?)));
        let compared = before.map_or_else(String::new, |(first, _)| format!(" Coloured by what grew from {} to here.", first.name));
        let about = format!("{}. {}{compared}", last.beginning(), finished(&profiles::about(last.run, profiled)));
        Flame::drawn(section, format!("Where it went: {}", profiles::of(profiled)), &about, profiled, before.map(|(_, before)| before))
    };
    last.run.profiles.iter().enumerate().zip(SECTIONS).map(drawn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::{Level, Sweep, Trial};
    use measure::fixtures;

    fn run() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_profiled").unwrap().1
    }

    #[test]
    fn a_tree_has_every_name_once_and_none_that_steers() {
        let run = run();
        let flame = Flame::of(SECTIONS[0], &run, &run.profiles[0]);
        assert_eq!((flame.frames.len(), flame.grown.len()), (run.profiles[0].frames.len(), 0));
        assert_eq!(flame.names.len(), 9);
        assert!(flame.names.iter().all(|name| !name.chars().any(char::is_control)), "{:?}", flame.names);
        assert_eq!(flame.frames[0], (0, 0, 180_000_000, 4_700_000_000));
    }

    #[test]
    fn of_two_loads_the_higher_is_drawn_and_coloured_by_what_grew() {
        let trial = |users: u32| Trial { level: Level::Users(std::num::NonZeroU32::new(users).unwrap()), repetition: 1, summary: run() };
        let mut sweep = Sweep::new("it".to_owned(), String::new(), Vec::new());
        assert!(flames(&profiles::of_sweep(&sweep)).is_empty());
        sweep.profiled = vec![trial(10), trial(50)];
        sweep.profiled[0].summary.edit_for_test().profiles[0].frames.truncate(1);
        let flames = flames(&profiles::of_sweep(&sweep));
        assert_eq!(flames.len(), 2);
        let about = &flames[0].about;
        assert!(
            about.starts_with("At 50 users. Processor time") && about.ends_with("Coloured by what grew from 10 users to here."),
            "{about}"
        );
        assert_eq!((flames[0].grown[0], flames[0].grown.len()), (0.0, flames[0].frames.len()));
        assert!(flames[0].grown[1] > 0.4);
    }
}
