//! Profiles in the words that formats share: what each is of, where most was spent, and what grew between two loads.
//!
//! Names of functions are the server's own, and reach a reader only by way of [`visible`].

use analysis::quantity::{self, bytes, counted, decimal, time};
use analysis::{Level, Sweep, Trial};
use measure::profiled::{CPU, Frame, Function, Unit};
use measure::{Profiled, Summary};
use profile::{Change, Order, changes};

use crate::visible::{shortened, visible};

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
pub(crate) fn of(profiled: &Profiled) -> String {
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
pub(crate) fn about(run: &Summary, profiled: &Profiled) -> String {
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
pub fn in_all(profiled: &Profiled) -> String {
    let functions = counted(profiled.functions_all, "function");
    format!("{}, {} in all, in {functions}", of(profiled), value(profiled.total, profiled.unit))
}

/// Processor time for each answer, nanoseconds.
fn each(run: &Summary, profiled: &Profiled) -> Option<f64> {
    (run.qps > 0.0).then_some(())?;
    profiled.cores().map(|cores| cores * 1e9 / run.qps)
}

/// The functions that spent most with all they called, and those that did by themselves.
pub(crate) fn most(profiled: &Profiled) -> [(&'static str, Vec<&Function>); 2] {
    [
        ("most with all it calls", profiled.functions.iter().take(NAMED).collect()),
        ("most by itself", profiled.by_flat().into_iter().take(NAMED).collect()),
    ]
}

/// The heads of a table of functions, but for their names.
pub(crate) const HEADS: [&str; 4] = ["flat", "flat %", "cum", "cum %"];

/// Its cells.
pub(crate) fn cells(profiled: &Profiled, function: &Function) -> Vec<String> {
    let both = |it: i64| [value(it, profiled.unit), percent(profiled.share(it))];
    [both(function.flat), both(function.cum)].concat()
}

/// The table of a profile as lines of letters, the names last.
pub(crate) fn lines(profiled: &Profiled) -> Vec<String> {
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

/// Two runs of a sweep with a profile of each: at a part of the knee, and at it.
#[derive(Debug, Clone)]
pub struct Growth<'a> {
    /// The level of each.
    pub levels: [Level; 2],
    /// The runs.
    pub runs: [&'a Summary; 2],
    /// The profiles.
    pub profiles: [&'a Profiled; 2],
    /// What grew, and then what shrank.
    pub changes: Vec<Change>,
}

/// What grew, for each profile that both of the sweep's profiled runs have.
#[must_use]
pub fn growth(sweep: &Sweep) -> Vec<Growth<'_>> {
    let [low, knee] = sweep.profiled.as_slice() else { return Vec::new() };
    let mut all = Vec::new();
    for after in &knee.summary.profiles {
        let before = low.summary.profiles.iter().find(|it| (&it.asked, &it.kind) == (&after.asked, &after.kind));
        if let Some(before) = before
            && let Ok(changes) = changes(before, after, Order::Cum)
        {
            let (levels, runs) = ([low.level, knee.level], [&low.summary, &knee.summary]);
            all.push(Growth { levels, runs, profiles: [before, after], changes });
        }
    }
    all
}

impl Growth<'_> {
    /// What is compared.
    #[must_use]
    pub fn title(&self) -> String {
        format!("What grew from {} to {}: {}", self.levels[0], self.levels[1], of(self.profiles[1]))
    }

    /// What it comes to, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let [low, knee] = &self.levels;
        let each = [0, 1].map(|side| each(self.runs[side], self.profiles[side]));
        let cost = match each {
            [Some(before), Some(after)] => {
                format!("A request took {} of processor time at {low} and {} at {knee}. ", time(before), time(after))
            }
            _ => String::new(),
        };
        match self.changes.first().filter(|first| first.grown(Order::Cum) > 0.0) {
            Some(first) => format!(
                "{cost}The share of {} grew most: from {} to {} with all it calls.",
                visible(&first.name),
                percent(first.cum[0]),
                percent(first.cum[1])
            ),
            None => format!("{cost}No function's share grew by half a per cent: it does more of the same."),
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
        let [low, knee] = &self.levels;
        [
            format!("cum at {low}"),
            format!("at {knee}"),
            "grew by".to_owned(),
            format!("flat at {low}"),
            format!("at {knee}"),
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

/// What the profiles of a sweep show, as text beneath its conclusion; nothing where none were taken.
#[must_use]
pub fn of_sweep(sweep: &Sweep) -> Vec<(String, String)> {
    let whole = |growth: &Growth<'_>| {
        let names = growth.levels.map(|level| level.to_string());
        (format!("{}. {}", growth.title(), growth.sentence()), difference(&growth.changes, [&names[0], &names[1]], Order::Cum))
    };
    let said: Vec<(String, String)> = growth(sweep).iter().map(whole).collect();
    if !said.is_empty() {
        return said;
    }
    // Only one of the two could be had, or there is only one.
    let single = |trial: &Trial| {
        let (run, level) = (&trial.summary, trial.level);
        let table = |it: &Profiled| -> String { lines(it).iter().map(|line| format!("  {line}\n")).collect() };
        let told = |it: &Profiled| (format!("Profile at {level}: {}.", about(run, it)), table(it));
        run.profiles.iter().map(told).collect::<Vec<_>>()
    };
    sweep.profiled.iter().rev().map(single).find(|told| !told.is_empty()).unwrap_or_default()
}

/// What went wrong with them, each once.
#[must_use]
pub fn warnings(sweep: &Sweep) -> Vec<String> {
    let said = |trial: &Trial| {
        let level = trial.level;
        let about = trial.summary.warnings.iter().filter(|warning| warning.starts_with("--profile"));
        about.map(|warning| format!("At {level}: {}", visible(warning))).collect::<Vec<_>>()
    };
    sweep.profiled.iter().flat_map(said).collect()
}

/// Of each frame, by how much its share of the whole is greater than that of the same calls in another profile.
pub(crate) fn grown(frames: &[Frame], profiled: &Profiled, before: &Profiled) -> Vec<f64> {
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
pub(crate) fn how_many(profiled: &Profiled) -> String {
    counted(profiled.functions_all, "function")
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    fn run() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_profiled").unwrap().1
    }

    fn sweep(change: impl Fn(&mut Profiled)) -> Sweep {
        let level = |users| Level::Users(std::num::NonZeroU32::new(users).unwrap());
        let mut sweep = Sweep::new("it".to_owned(), String::new(), Vec::new());
        let (low, mut knee) = (run(), run());
        change(&mut knee.profiles[0]);
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
        let all = growth(&swept);
        assert_eq!(all[0].told()[0].name, "sync.\x1b[2J(*Mutex).Lock");
        let (sentence, table) = &of_sweep(&swept)[0];
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
        let (sentence, table) = &of_sweep(&swept)[0];
        assert!(sentence.contains("more of the same") && table.contains("No function's share"), "{sentence}\n{table}");
    }

    #[test]
    fn a_profile_that_was_had_once_is_shown_by_itself() {
        let mut swept = sweep(|_| ());
        swept.profiled[0].summary.profiles.clear();
        swept.profiled[1].summary.warnings.clear();
        swept.profiled[0].summary.warnings = vec!["--profile http://x/: gone\x07".to_owned(), "other".to_owned()];
        assert!(growth(&swept).is_empty());
        assert!(of_sweep(&swept)[0].0.starts_with("Profile at 50 users: processor time"), "{:?}", of_sweep(&swept));
        assert_eq!(warnings(&swept), ["At 10 users: --profile http://x/: gone\\x07"]);
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
        let other = Profiled { frames: Vec::new(), ..before.clone() };
        assert_eq!(grown(&before.frames, before, &other)[0], before.share(before.frames[0].cum));
    }
}
