//! The table of functions: what each spent by itself (flat) and with all that it called (cum).
//!
//! The rules are those of `go tool pprof -top`, whose table engineers know, so that nobody has to wonder which of the two is right: a
//! function counts once in a stack however often it stands there, shares are of the whole even where only a part is looked at, and what
//! is below half a per cent is left out with a word.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write as _;

use measure::profiled::Unit;
use regex::Regex;

use crate::figures::{Scale, percent};
use crate::profile::{Frame, Profile};

/// Less than this share of what is looked at is left out.
pub(crate) const SHARE_MIN: f64 = 0.005;

/// What comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// What spent most by itself.
    #[default]
    Flat,
    /// What spent most with all that it called.
    Cum,
}

/// Which part of a profile is looked at.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// What comes first.
    pub order: Order,
    /// Only stacks in which a function has a name like this.
    pub focus: Option<Regex>,
    /// No more rows than these.
    pub rows_max: Option<usize>,
}

/// The table.
#[derive(Debug, Clone, PartialEq)]
pub struct Top {
    /// What its values are of.
    pub kind: String,
    unit: Unit,
    duration_ns: u64,
    /// All values of the profile, of which shares are taken.
    pub total: i64,
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// Rows there would be without a limit to their number.
    pub rows_all: usize,
    /// How many functions are left out since they are too small.
    pub dropped: usize,
    focused: bool,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its name, as the profile tells it.
    pub name: String,
    /// Spent in itself.
    pub flat: i64,
    /// Spent in it and in all that it called.
    pub cum: i64,
    /// Whether its code was put into those that call it.
    pub inlined: Inlined,
}

/// Whether a function's code was put into those that call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Inlined {
    /// Into none.
    #[default]
    No,
    /// Into some.
    Partly,
    /// Into all.
    Everywhere,
}

/// What each function spent, by the number of its name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) flat: i64,
    pub(crate) cum: i64,
}

/// The table of a profile.
#[must_use]
pub fn top(profile: &Profile, selection: &Selection) -> Top {
    let focused = FocusedStacks::on(profile, selection.focus.as_ref());
    let spent = focused.spent();
    let whole = spent.iter().fold(0_i64, |sum, it| sum.saturating_add(it.flat));
    let least = (whole.unsigned_abs() as f64 * SHARE_MIN) as u64;
    let there: Vec<u32> = (0..spent.len() as u32).filter(|it| spent[*it as usize] != Spent::default()).collect();
    let mut kept: Vec<u32> = there.iter().copied().filter(|it| spent[*it as usize].cum.unsigned_abs() >= least).collect();
    let dropped = there.len() - kept.len();
    let of = |it: &u32| (spent[*it as usize], profile.name_of(*it));
    kept.sort_by(|a, b| before(selection.order, of(a), of(b)));
    let rows_all = kept.len();
    kept.truncate(selection.rows_max.unwrap_or(usize::MAX));
    let inlined = focused.inlined(&kept);
    let rows = kept
        .iter()
        .map(|it| {
            let Spent { flat, cum } = spent[*it as usize];
            Row { name: profile.name_of(*it).to_owned(), flat, cum, inlined: inlined.get(it).copied().unwrap_or_default() }
        })
        .collect();
    Top {
        kind: profile.kind.clone(),
        unit: profile.unit,
        duration_ns: profile.duration_ns,
        total: profile.total(),
        rows,
        rows_all,
        dropped,
        focused: selection.focus.is_some(),
    }
}

/// The greater first, then by name.
fn before(order: Order, (a, a_name): (Spent, &str), (b, b_name): (Spent, &str)) -> Ordering {
    let [flat, cum] = [(a.flat, b.flat), (a.cum, b.cum)].map(|(a, b)| b.unsigned_abs().cmp(&a.unsigned_abs()));
    let (first, last) = if order == Order::Flat { (flat, cum) } else { (cum, flat) };
    first.then_with(|| a_name.cmp(b_name)).then(last)
}

/// The stacks that are looked at.
pub(crate) struct FocusedStacks<'a> {
    profile: &'a Profile,
    /// Of each name, whether it is like what is looked for; `None` where everything is looked at.
    wanted: Option<Vec<bool>>,
}

impl<'a> FocusedStacks<'a> {
    pub(crate) fn on(profile: &'a Profile, focus: Option<&Regex>) -> Self {
        let wanted = focus.map(|focus| (0..profile.names() as u32).map(|it| focus.is_match(profile.name_of(it))).collect());
        Self { profile, wanted }
    }

    fn stacks(&self) -> impl Iterator<Item = (&'a [Frame], i64)> {
        let wanted = |frame: &Frame| self.wanted.as_ref().is_none_or(|wanted| wanted[frame.name as usize]);
        let profile = self.profile;
        profile.stacks().iter().map(|stack| (profile.frames(stack), stack.value)).filter(move |(frames, _)| frames.iter().any(wanted))
    }

    /// What each function spent.
    pub(crate) fn spent(&self) -> Vec<Spent> {
        let mut spent = vec![Spent::default(); self.profile.names()];
        // In which stack a function was counted last.
        let mut counted = vec![usize::MAX; self.profile.names()];
        for (number, (frames, value)) in self.stacks().enumerate() {
            for frame in frames {
                let name = frame.name as usize;
                if std::mem::replace(&mut counted[name], number) != number {
                    spent[name].cum = spent[name].cum.saturating_add(value);
                }
            }
            if let Some(last) = frames.last() {
                let flat = &mut spent[last.name as usize].flat;
                *flat = flat.saturating_add(value);
            }
        }
        spent
    }

    /// Of those kept, whether their code was put into their callers: a caller is the nearest that is kept.
    fn inlined(&self, kept: &[u32]) -> HashMap<u32, Inlined> {
        let mut is_kept = vec![false; self.profile.names()];
        kept.iter().for_each(|it| is_kept[*it as usize] = true);
        // Of each pair, whether every call was put in.
        let mut calls: HashMap<(u32, u32), bool> = HashMap::new();
        let mut seen: Vec<(u32, u32)> = Vec::new();
        for (frames, _) in self.stacks() {
            seen.clear();
            let mut caller = None;
            for frame in frames.iter().filter(|frame| is_kept[frame.name as usize]) {
                if let Some(caller) = caller.filter(|caller| *caller != frame.name) {
                    let pair = (caller, frame.name);
                    // Of one stack, the first call counts.
                    if !seen.contains(&pair) {
                        seen.push(pair);
                        let all = calls.entry(pair).or_insert(true);
                        *all &= frame.inlined;
                    }
                }
                caller = Some(frame.name);
            }
        }
        let mut into: HashMap<u32, (bool, bool)> = HashMap::new();
        for ((_, callee), all) in calls {
            let (some, other) = into.entry(callee).or_default();
            *(if all { some } else { other }) = true;
        }
        let judged = |(some, other)| match (some, other) {
            (true, false) => Inlined::Everywhere,
            (true, true) => Inlined::Partly,
            (false, _) => Inlined::No,
        };
        into.into_iter().map(|(callee, ways)| (callee, judged(ways))).collect()
    }
}

impl Top {
    /// In which unit its values are shown.
    #[must_use]
    pub fn scale(&self) -> Scale {
        let value = |row: &Row| if row.flat == 0 { row.cum } else { row.flat }.saturating_abs();
        let least = self.rows.iter().map(value).filter(|value| *value > 0).min().unwrap_or(0);
        Scale::shared(least, self.total, self.unit)
    }

    /// As text; `shown` makes names harmless.
    #[must_use]
    pub fn text(&self, shown: impl Fn(&str) -> String) -> String {
        let scale = self.scale();
        let mut text = format!("Type: {}\n", shown(&self.kind));
        let mut line = |line: String| writeln!(text, "{line}").expect("memory takes every letter");
        if self.duration_ns > 0 {
            let (length, total) = (i64::try_from(self.duration_ns).unwrap_or(i64::MAX), self.total);
            let share = if self.unit == Unit::Nanoseconds { format!(" ({})", percent(total, length).trim()) } else { String::new() };
            let all = Scale::of(total, self.unit).show(total);
            line(format!("Duration: {}, Total samples = {all}{share}", Scale::of(length, Unit::Nanoseconds).show(length)));
        }
        let sum = self.rows.iter().fold(0_i64, |sum, row| sum.saturating_add(row.flat));
        line(format!(
            "Showing nodes accounting for {}, {} of {} total",
            scale.show(sum),
            percent(sum, self.total).trim(),
            scale.show(self.total)
        ));
        if self.dropped > 0 {
            let least = (self.total as f64 * SHARE_MIN) as i64;
            let nodes = if self.dropped == 1 { "node" } else { "nodes" };
            line(format!("Dropped {} {nodes} (cum <= {})", self.dropped, scale.show(least)));
        }
        if self.rows.len() < self.rows_all {
            line(format!("Showing top {} nodes out of {}", self.rows.len(), self.rows_all));
        }
        if self.rows.is_empty() {
            line(if self.focused { "No function has such a name.".to_owned() } else { "Nothing was spent.".to_owned() });
            return text;
        }
        line(format!("{:>10} {:>5}% {:>5}% {:>10} {:>5}%", "flat", "flat", "sum", "cum", "cum"));
        let mut sum = 0_i64;
        for row in &self.rows {
            sum = sum.saturating_add(row.flat);
            line(format!(
                "{:>10} {} {} {:>10} {}  {}{}",
                scale.show(row.flat),
                percent(row.flat, self.total),
                percent(sum, self.total),
                scale.show(row.cum),
                percent(row.cum, self.total),
                shown(&row.name),
                row.inlined
            ));
        }
        text
    }
}

impl fmt::Display for Inlined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::No => "",
            Self::Partly => " (partial-inline)",
            Self::Everywhere => " (inline)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::folded;
    use proptest::prelude::*;

    fn shown(text: &str, selection: &Selection) -> Vec<String> {
        top(&folded(text), selection).rows.iter().map(|row| format!("{} {} {}{}", row.flat, row.cum, row.name, row.inlined)).collect()
    }

    const TEXT: &str = "main;serve;dump 60\nmain;serve;dump;format 20\nmain;serve 10\nmain;gc 10\nmain 0";

    #[test]
    fn flat_is_in_itself_and_cum_with_all_it_called() {
        let flat = Selection::default();
        assert_eq!(shown(TEXT, &flat), ["60 80 dump", "20 20 format", "10 10 gc", "10 90 serve", "0 100 main"]);
        let cum = Selection { order: Order::Cum, ..flat };
        assert_eq!(shown(TEXT, &cum), ["0 100 main", "10 90 serve", "60 80 dump", "20 20 format", "10 10 gc"]);
        assert_eq!(shown(TEXT, &Selection { rows_max: Some(2), ..cum }), ["0 100 main", "10 90 serve"]);
    }

    #[test]
    fn a_function_that_calls_itself_counts_once() {
        assert_eq!(shown("main;fib;fib;fib 5\nmain;fib 5", &Selection::default()), ["10 10 fib", "0 10 main"]);
    }

    #[test]
    fn focus_keeps_whole_stacks_and_shares_of_the_whole() {
        let selection = Selection { focus: Some(Regex::new("^dump$").unwrap()), ..Selection::default() };
        assert_eq!(shown(TEXT, &selection), ["60 80 dump", "20 20 format", "0 80 main", "0 80 serve"]);
        let text = top(&folded(TEXT), &selection).text(str::to_owned);
        assert!(text.contains("accounting for 80ns, 80.00% of 100ns total"), "{text}");
        let nobody = Selection { focus: Some(Regex::new("nobody").unwrap()), ..selection };
        assert!(top(&folded(TEXT), &nobody).text(str::to_owned).contains("No function has such a name"));
    }

    #[test]
    fn what_was_put_into_its_caller_is_told() {
        let text = "main;work;~add 50\nmain;work;~mul 30\nmain;other;mul 20";
        assert_eq!(
            shown(text, &Selection::default()),
            ["50 50 add (inline)", "50 50 mul (partial-inline)", "0 100 main", "0 20 other", "0 80 work"]
        );
    }

    #[test]
    fn what_is_too_small_is_left_out_with_a_word() {
        let table = top(&folded("main;a 9960\nmain;b 39\nmain;c 1"), &Selection::default());
        assert_eq!((table.rows.len(), table.dropped), (2, 2));
        assert!(table.text(str::to_owned).contains("Dropped 2 nodes (cum <= 0.05us)"), "{}", table.text(str::to_owned));
    }

    #[test]
    fn the_table_is_the_one_engineers_know() {
        let profile = folded("main;serve;dump 1200000000\nmain;serve 300000000\nmain;gc 2500000000\nmain;~small 30000000");
        let table = top(&profile, &Selection::default());
        assert_eq!(
            table.text(str::to_owned),
            "Type: cpu\n\
             Showing nodes accounting for 4.03s, 100% of 4.03s total\n\
             \x20     flat  flat%   sum%        cum   cum%\n\
             \x20    2.50s 62.03% 62.03%      2.50s 62.03%  gc\n\
             \x20    1.20s 29.78% 91.81%      1.20s 29.78%  dump\n\
             \x20    0.30s  7.44% 99.26%      1.50s 37.22%  serve\n\
             \x20    0.03s  0.74%   100%      0.03s  0.74%  small (inline)\n\
             \x20        0     0%   100%      4.03s   100%  main\n"
        );
    }

    proptest! {
        #[test]
        fn flat_adds_up_to_the_whole_and_is_never_more_than_cum(
            stacks in prop::collection::vec((prop::collection::vec("[a-e]", 1..6), 0..1_000i64), 1..20)
        ) {
            let text: String = stacks.iter().map(|(names, value)| format!("{} {value}\n", names.join(";"))).collect();
            let profile = folded(&text);
            let spent = FocusedStacks::on(&profile, None).spent();
            prop_assert_eq!(spent.iter().map(|it| it.flat).sum::<i64>(), profile.total());
            prop_assert!(spent.iter().all(|it| it.flat <= it.cum && it.cum <= profile.total()));
        }
    }
}
