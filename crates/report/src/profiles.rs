//! Profiles in the words that formats share: what each is of, where most was spent, and what grew between two loads or two sides.
//!
//! Names of functions are the server's own, and reach a reader only by way of [`visible()`].

use std::fmt::Write as _;

use analysis::Sweep;
use analysis::comparison::{Comparison, Side};
use analysis::found::CapacityReport;
use analysis::quantity::{self, bytes, counted, decimal, figure, time};
use measure::profiled::{CPU, Frame, Function, Unit};
use measure::{RunProfile, Summary};
use profile::{Change, Order, changes};

use crate::prose;
use crate::visible;
use crate::visible::shortened;

/// So many functions are named by each order.
pub(crate) const NAMED: usize = 5;
/// So many that grew, and half as many that shrank.
const GREW: usize = 8;
/// Of the name of a file above a column, so much.
const HEAD_LETTERS_MAX: usize = 24;
/// Of a name, so much stands in a table of letters: its end, where the function is, and not the path to it.
const NAME_LETTERS_MAX: usize = 48;

/// A value with its unit, in the way of all other figures of a report.
pub(crate) fn value(value: i64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds if value == 0 => "0".to_owned(),
        Unit::Nanoseconds => time(value as f64),
        Unit::Bytes => bytes(value as f64),
        Unit::Count => quantity::count(value.unsigned_abs()),
    }
}

/// A share with one digit after the point.
pub(crate) fn percent(share: f64) -> String {
    format!("{} %", decimal(share * 100.0, 1))
}

/// What its values are of, in words.
pub(crate) fn of(profiled: &RunProfile) -> String {
    match profiled.kind.as_str() {
        CPU => "processor time".to_owned(),
        "samples" => "samples of its stacks".to_owned(),
        "inuse_space" => "memory in use".to_owned(),
        "inuse_objects" => "objects in use".to_owned(),
        "alloc_space" => "memory allocated".to_owned(),
        "alloc_objects" => "objects allocated".to_owned(),
        "delay" => "time spent waiting".to_owned(),
        "contentions" => "times something was waited for".to_owned(),
        "goroutine" => "goroutines".to_owned(),
        other => visible(other),
    }
}

/// What it is, when it was taken and what it comes to.
pub(crate) fn about(run: &Summary, profiled: &RunProfile) -> String {
    let span = profiled.to_ns.since(profiled.from_ns);
    let when = |at: plan::Nanos| quantity::length(plan::Nanos(at.0 / 100_000_000 * 100_000_000));
    let taken = if span < plan::Nanos::SECOND {
        format!("at {}", when(profiled.to_ns))
    } else {
        format!("from {} to {}", when(profiled.from_ns), when(profiled.to_ns))
    };
    let mut text = format!("{}: {} in all, {taken}; {}", of(profiled), value(profiled.total, profiled.unit), visible(&profiled.asked));
    if let Some(cores) = profiled.cores() {
        text += &format!("; {} of a core", decimal(cores, 2));
        if let Some(each) = each(run, profiled) {
            text += &format!(", {} a request", time(each));
        }
    }
    text
}

/// What it is, and what it comes to.
#[must_use]
pub fn in_all(profiled: &RunProfile) -> String {
    let functions = counted(profiled.functions_all, "function");
    format!("{}, {} in all, in {functions}", of(profiled), value(profiled.total, profiled.unit))
}

/// Processor time for each answer, nanoseconds.
fn each(run: &Summary, profiled: &RunProfile) -> Option<f64> {
    (run.qps > 0.0).then_some(())?;
    profiled.cores().map(|cores| cores * 1e9 / run.qps)
}

/// The functions that spent most with all they called, and those that did by themselves.
pub(crate) fn most(profiled: &RunProfile) -> [(&'static str, Vec<&Function>); 2] {
    [
        ("most with all it calls", profiled.functions.iter().take(NAMED).collect()),
        ("most by itself", profiled.by_flat().into_iter().take(NAMED).collect()),
    ]
}

/// The heads of a table of functions, but for their names.
pub(crate) const HEADS: [&str; 4] = ["flat", "flat %", "cum", "cum %"];

/// Its cells.
pub(crate) fn cells(profiled: &RunProfile, function: &Function) -> Vec<String> {
    let both = |it: i64| [value(it, profiled.unit), percent(profiled.share(it))];
    [both(function.flat), both(function.cum)].concat()
}

/// The table of a profile as lines of letters, the names last.
pub(crate) fn lines(profiled: &RunProfile) -> Vec<String> {
    let mut lines = Vec::new();
    for (title, functions) in most(profiled) {
        let heads = HEADS.map(str::to_owned).to_vec();
        let mut rows = vec![(heads, title.to_owned())];
        rows.extend(functions.iter().map(|it| (cells(profiled, it), ending(&it.name))));
        lines.extend(named(&rows));
    }
    lines
}

/// The end of a name that is too long.
fn ending(name: &str) -> String {
    let shown = visible(name);
    let Some(too_many) = shown.chars().count().checked_sub(NAME_LETTERS_MAX).filter(|too_many| *too_many > 0) else { return shown };
    format!("…{}", shown.chars().skip(too_many).collect::<String>())
}

/// Figures, aligned to the right, with a name behind them.
fn named(rows: &[(Vec<String>, String)]) -> Vec<String> {
    let width = |column: usize| rows.iter().filter_map(|(cells, _)| cells.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let line = |(cells, name): &(Vec<String>, String)| {
        let figures = cells.iter().enumerate().map(|(column, cell)| format!("{cell:>width$}  ", width = width(column).max(WIDTH)));
        figures.collect::<String>() + name
    };
    rows.iter().map(line).collect()
}

/// Figures are at least this wide, so that tables below each other stand in line.
const WIDTH: usize = 8;

/// A run that was profiled beside another: at one of two loads, or of one of two sides.
#[derive(Debug, Clone)]
pub struct ProfiledRun<'a> {
    /// What it is called: `50 users`, `640/s`, `B`.
    pub name: String,
    /// The same within a sentence: `at 50 users`, `in B`.
    pub place: String,
    /// The run.
    pub run: &'a Summary,
    pair: Pairing,
}

/// Which profile of one run belongs to which of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pairing {
    /// That of the same: it is one server.
    Same,
    /// That of the same, or else the next one of its kind: two servers have their profiles in two places.
    Kind,
}

/// The profiled runs of a sweep: at a part of the knee, and at it.
#[must_use]
pub fn of_sweep(sweep: &Sweep) -> Vec<ProfiledRun<'_>> {
    sweep.profiled.iter().map(|trial| ProfiledRun::at(trial.level.to_string(), &trial.summary)).collect()
}

/// Those of a search: at a part of the rate that was found, and at it.
#[must_use]
pub fn of_search(found: &CapacityReport) -> Vec<ProfiledRun<'_>> {
    found.profiled.iter().map(|trial| ProfiledRun::at(format!("{}/s", figure(trial.level.value())), &trial.summary)).collect()
}

/// Those of a comparison: one of each side.
#[must_use]
pub(crate) fn of_comparison(compared: &Comparison) -> Vec<ProfiledRun<'_>> {
    let taken = |side: Side, run| {
        let name = if side == Side::A { "A" } else { "B" };
        ProfiledRun { name: name.to_owned(), place: format!("in {name}"), run, pair: Pairing::Kind }
    };
    compared.profiled.iter().map(|one| taken(one.side, &one.summary)).collect()
}

impl<'a> ProfiledRun<'a> {
    fn at(name: String, run: &'a Summary) -> Self {
        Self { place: format!("at {name}"), name, run, pair: Pairing::Same }
    }

    /// The profile of this run that the one at `place` of another's belongs to.
    pub(crate) fn partner(&self, of: &ProfiledRun<'_>, place: usize) -> Option<&'a RunProfile> {
        let wanted = of.run.profiles.get(place)?;
        let same = self.run.profiles.iter().find(|it| (&it.asked, &it.kind) == (&wanted.asked, &wanted.kind));
        let nth = of.run.profiles[..place].iter().filter(|it| it.kind == wanted.kind).count();
        let alike = || self.run.profiles.iter().filter(|it| it.kind == wanted.kind).nth(nth).filter(|_| self.pair == Pairing::Kind);
        same.or_else(alike)
    }

    /// Its place at the beginning of a sentence.
    pub(crate) fn beginning(&self) -> String {
        let mut letters = self.place.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    }
}

/// Two runs with a profile of each.
#[derive(Debug, Clone)]
pub struct Growth<'a> {
    /// What is held against each other.
    pub taken: [ProfiledRun<'a>; 2],
    /// The profiles.
    pub profiles: [&'a RunProfile; 2],
    /// What grew, and then what shrank.
    pub changes: Vec<Change>,
}

/// What grew, for each profile that both runs have; nothing unless there are two.
#[must_use]
pub fn growth<'a>(taken: &[ProfiledRun<'a>]) -> Vec<Growth<'a>> {
    let [first, last] = taken else { return Vec::new() };
    let mut all = Vec::new();
    for (place, after) in last.run.profiles.iter().enumerate() {
        if let Some(before) = first.partner(last, place)
            && let Ok(changes) = changes(before, after, Order::Cum)
        {
            all.push(Growth { taken: [first.clone(), last.clone()], profiles: [before, after], changes });
        }
    }
    all
}

impl Growth<'_> {
    /// What is compared.
    #[must_use]
    pub fn title(&self) -> String {
        format!("What grew from {} to {}: {}", self.taken[0].name, self.taken[1].name, of(self.profiles[1]))
    }

    /// What it comes to, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let each = [0, 1].map(|side| each(self.taken[side].run, self.profiles[side]));
        let cost = match each {
            [Some(before), Some(after)] => {
                let [low, knee] = self.taken.each_ref().map(|taken| taken.place.as_str());
                format!("A request took {} of processor time {low} and {} {knee}. ", time(before), time(after))
            }
            _ => String::new(),
        };
        let of = of(self.profiles[1]);
        match self.changes.first().filter(|first| first.grown(Order::Cum) > 0.0) {
            Some(first) => format!(
                "{cost}Of {of} the share of {} grew most: from {} to {} with all it calls.",
                visible(&first.name),
                percent(first.cum[0]),
                percent(first.cum[1])
            ),
            None => format!("{cost}Of {of} no function's share grew by half a per cent: it does more of the same."),
        }
    }

    /// Those that grew and those that shrank most, and by how much.
    #[must_use]
    pub fn told(&self) -> Vec<&Change> {
        told(&self.changes, Order::Cum)
    }

    /// The rows of a table: what each function's share was, is, and by how much it grew.
    pub(crate) fn rows(&self) -> Vec<Vec<String>> {
        let row = |change: &&Change| {
            let mut cells = shares(change, Order::Cum);
            cells.extend(shares(change, Order::Flat));
            cells.push(visible(&change.name));
            cells
        };
        self.told().iter().map(row).collect()
    }

    /// The heads of that table.
    pub(crate) fn heads(&self) -> [String; 7] {
        let [low, knee] = self.taken.each_ref().map(|taken| taken.place.as_str());
        [
            format!("cum {low}"),
            knee.to_owned(),
            "grew by".to_owned(),
            format!("flat {low}"),
            knee.to_owned(),
            "grew by".to_owned(),
            "function".to_owned(),
        ]
    }
}

fn told(changes: &[Change], order: Order) -> Vec<&Change> {
    let grew = changes.iter().take_while(|it| it.grown(order) > 0.0).take(GREW);
    let shrank: Vec<&Change> = changes.iter().rev().take_while(|it| it.grown(order) < 0.0).take(GREW / 2).collect();
    grew.chain(shrank.into_iter().rev()).collect()
}

fn shares(change: &Change, order: Order) -> Vec<String> {
    let [before, after] = if order == Order::Flat { change.flat } else { change.cum };
    let points = (after - before) * 100.0;
    let sign = if points >= 0.0 { "+" } else { "−" };
    vec![percent(before), percent(after), format!("{sign}{}", decimal(points.abs(), 1))]
}

/// What grew as a table of letters; `names` say what stands in its two columns.
#[must_use]
pub fn difference(changes: &[Change], names: [&str; 2], order: Order) -> String {
    let shown = told(changes, order);
    if shown.is_empty() {
        return "  No function's share of the whole changed by half a per cent.\n".to_owned();
    }
    let title = match order {
        Order::Cum => "function, with all it calls",
        Order::Flat => "function, by itself",
    };
    let mut heads = names.map(|name| shortened(name, HEAD_LETTERS_MAX)).to_vec();
    heads.push("grew by".to_owned());
    let mut rows = vec![(heads, title.to_owned())];
    rows.extend(shown.iter().map(|change| (shares(change, order), ending(&change.name))));
    named(&rows).iter().map(|line| format!("  {line}\n")).collect()
}

/// What the profiles show, as sentences with a table each; nothing where none were taken.
#[must_use]
pub(crate) fn told_of(taken: &[ProfiledRun<'_>]) -> Vec<(String, String)> {
    let whole = |growth: &Growth<'_>| {
        let names = growth.taken.each_ref().map(|taken| taken.name.as_str());
        (format!("{}. {}", growth.title(), growth.sentence()), difference(&growth.changes, names, Order::Cum))
    };
    let said: Vec<(String, String)> = growth(taken).iter().map(whole).collect();
    if !said.is_empty() {
        return said;
    }
    // Only one of the two could be had, or there is only one.
    let single = |ProfiledRun { place, run, .. }: &ProfiledRun<'_>| {
        let table = |it: &RunProfile| -> String { lines(it).iter().map(|line| format!("  {line}\n")).collect() };
        let told = |it: &RunProfile| (format!("Profile {place}: {}.", about(run, it)), table(it));
        run.profiles.iter().map(told).collect::<Vec<_>>()
    };
    taken.iter().rev().map(single).find(|told| !told.is_empty()).unwrap_or_default()
}

/// The same as sections of Markdown, with what went wrong.
pub(crate) fn markdown(taken: &[ProfiledRun<'_>]) -> String {
    let mut page = String::new();
    let mut say = |line: &str| writeln!(page, "{line}").expect("writing to memory does not fail");
    for growth in growth(taken) {
        say(&format!("## {}\n\n{}\n", visible::markdown(&growth.title()), visible::markdown(&growth.sentence())));
        say(&format!("| {} |\n|{}---|", growth.heads().join(" | "), "---:|".repeat(6)));
        for row in growth.rows() {
            say(&format!("| {} |", row.iter().map(|cell| visible::markdown(cell)).collect::<Vec<_>>().join(" | ")));
        }
        say("");
    }
    for warning in warnings(taken) {
        say(&format!("> {}\n", visible::markdown(&warning)));
    }
    page
}

/// What went wrong with them, each once.
#[must_use]
pub fn warnings(taken: &[ProfiledRun<'_>]) -> Vec<String> {
    let said = |taken: &ProfiledRun<'_>| {
        let about = taken.run.warnings.iter().filter(|warning| warning.starts_with("--profile"));
        about.map(|warning| format!("{}: {}", taken.beginning(), visible(warning))).collect::<Vec<_>>()
    };
    taken.iter().flat_map(said).collect()
}

/// Of each frame, by how much its share of the whole is greater than that of the same calls in another profile.
pub(crate) fn grown(frames: &[Frame], profiled: &RunProfile, before: &RunProfile) -> Vec<f64> {
    let mut path: Vec<&str> = Vec::new();
    let mut shares = std::collections::HashMap::new();
    for frame in &before.frames {
        path.truncate(frame.depth as usize);
        path.push(&frame.name);
        shares.insert(path.join("\n"), before.share(frame.cum));
    }
    let mut path: Vec<&str> = Vec::new();
    frames
        .iter()
        .map(|frame| {
            path.truncate(frame.depth as usize);
            path.push(&frame.name);
            profiled.share(frame.cum) - shares.get(&path.join("\n")).copied().unwrap_or(0.0)
        })
        .collect()
}

/// Functions in words, for where a count is all that is wanted.
pub(crate) fn how_many(profiled: &RunProfile) -> String {
    counted(profiled.functions_all, "function")
}

/// What profiles show below a table, set apart from what stands before; nothing where none were taken.
pub(crate) fn text(taken: &[ProfiledRun<'_>], width: u16) -> String {
    let mut text = String::new();
    for (sentence, table) in told_of(taken) {
        text += &format!("\n{}\n{table}", prose(&sentence, width));
    }
    for warning in warnings(taken) {
        text += &prose(&warning, width);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::{Level, Trial};
    use measure::fixtures;

    fn run() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_profiled").unwrap().1
    }

    fn sweep(change: impl Fn(&mut RunProfile)) -> Sweep {
        let level = |users| Level::Users(std::num::NonZeroU32::new(users).unwrap());
        let mut sweep = Sweep::new("it".to_owned(), String::new(), Vec::new());
        let (low, mut knee) = (run(), run());
        change(&mut knee.edit_for_test().profiles[0]);
        sweep.profiled = [(10, low), (50, knee)].map(|(users, summary)| Trial { level: level(users), repetition: 1, summary }).to_vec();
        sweep
    }

    #[test]
    fn what_grew_is_told_with_its_shares() {
        let swept = sweep(|knee| {
            let total = knee.total;
            knee.total *= 2;
            knee.functions.insert(0, Function { name: "sync.\x1b[2J(*Mutex).Lock".to_owned(), flat: total, cum: total });
        });
        let all = growth(&of_sweep(&swept));
        assert_eq!(all[0].told()[0].name, "sync.\x1b[2J(*Mutex).Lock");
        let (sentence, table) = &told_of(&of_sweep(&swept))[0];
        assert!(
            sentence.contains("What grew from 10 users to 50 users: processor time")
                && sentence.contains("grew most: from 0.0 % to 50.0 %"),
            "{sentence}"
        );
        assert!(table.contains("+50") && table.contains("sync.\\x1b[2J(*Mutex).Lock"), "{table}");
        assert!(!table.contains('\x1b') && !sentence.contains('\x1b'));
    }

    #[test]
    fn more_of_the_same_is_told_as_that() {
        let swept = sweep(|_| ());
        let (sentence, table) = &told_of(&of_sweep(&swept))[0];
        assert!(sentence.contains("more of the same") && table.contains("No function's share"), "{sentence}\n{table}");
    }

    #[test]
    fn a_profile_that_was_had_once_is_shown_by_itself() {
        let mut swept = sweep(|_| ());
        swept.profiled[0].summary.edit_for_test().profiles.clear();
        swept.profiled[1].summary.edit_for_test().warnings.clear();
        swept.profiled[0].summary.edit_for_test().warnings = vec!["--profile http://x/: gone\x07".to_owned(), "other".to_owned()];
        let taken = of_sweep(&swept);
        assert!(growth(&taken).is_empty());
        assert!(told_of(&taken)[0].0.starts_with("Profile at 50 users: processor time"), "{:?}", told_of(&taken));
        assert_eq!(warnings(&taken), ["At 10 users: --profile http://x/: gone\\x07"]);
    }

    #[test]
    fn two_servers_have_their_profiles_in_two_places() {
        let (mut a, mut b) = (run(), run());
        let named = |run: &mut Summary, host: &str| {
            run.edit_for_test().profiles.iter_mut().for_each(|it| it.asked = it.asked.replacen("http://", host, 1));
        };
        named(&mut a, "http://old.");
        named(&mut b, "http://new.");
        let side = |place: &str, run, pair| ProfiledRun { name: place.to_owned(), place: format!("in {place}"), run, pair };
        let sides = [side("A", &a, Pairing::Kind), side("B", &b, Pairing::Kind)];
        let all = growth(&sides);
        assert_eq!(all.len(), b.profiles.len());
        assert!(all.iter().all(|growth| growth.profiles[0].kind == growth.profiles[1].kind));
        assert!(all[0].title().starts_with("What grew from A to B: ") && all[0].heads()[0] == "cum in A", "{:?}", all[0].heads());
        // Of one server at two loads, something else is something else.
        let loads = [side("A", &a, Pairing::Same), side("B", &b, Pairing::Same)];
        assert!(growth(&loads).is_empty());
        let grew = |taken: &[ProfiledRun<'_>]| markdown(taken).matches("## What grew from A to B").count();
        assert_eq!((grew(&sides), grew(&loads)), (all.len(), 0), "{}", markdown(&loads));
    }

    #[test]
    fn of_a_long_name_its_end_is_shown() {
        let name = format!("github.com/{}.(*Context).Next", "long/".repeat(20));
        assert!(ending(&name).starts_with('…') && ending(&name).ends_with(".(*Context).Next"), "{}", ending(&name));
        assert_eq!(ending(&name).chars().count(), NAME_LETTERS_MAX + 1);
        assert_eq!(ending("main.dump\x07"), "main.dump\\x07");
    }

    #[test]
    fn frames_are_compared_along_their_calls() {
        let run = run();
        let before = &run.profiles[0];
        assert!(grown(&before.frames, before, before).iter().all(|grown| *grown == 0.0));
        let other = RunProfile { frames: Vec::new(), ..before.clone() };
        assert_eq!(grown(&before.frames, before, &other)[0], before.share(before.frames[0].cum));
    }
}
