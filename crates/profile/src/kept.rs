//! What of a profile is kept in a result: the functions that matter and the tree of calls, both within bounds.

use measure::RunProfile;
use measure::profiled::{Frame, Function};

use crate::profile::{Profile, Stack};
use crate::top::{FocusedStacks, SHARE_MIN, Spent};

/// So many functions are kept at most, those with the greatest `cum`.
const FUNCTIONS_MAX: usize = 300;
/// And so many by their `flat`, wherever they stand by `cum`.
const BY_FLAT: usize = 20;
/// A tree of more frames than these is folded once more.
const FRAMES_MAX: usize = 1_500;
/// Calls deeper than these are left to their callers: no reader follows them, and a function that calls itself goes on for ever.
const DEPTH_MAX: usize = 100;

/// What is kept. The source and the times stay empty: whoever took the profile knows them.
#[must_use]
pub fn kept(profile: &Profile) -> RunProfile {
    let spent = FocusedStacks::on(profile, None).spent();
    let total = profile.total();
    let least = (total as f64 * SHARE_MIN) as i64;
    let mut all: Vec<(u32, Spent)> = (0..).zip(spent).filter(|(_, it)| *it != Spent::default()).collect();
    let functions_all = all.len() as u64;
    all.sort_by(|a, b| b.1.cum.cmp(&a.1.cum).then_with(|| profile.name_of(a.0).cmp(profile.name_of(b.0))));
    let mut flats: Vec<i64> = all.iter().map(|(_, it)| it.flat).filter(|flat| *flat > 0).collect();
    flats.sort_unstable_by(|a, b| b.cmp(a));
    let flat_least = flats.get(BY_FLAT - 1).copied().unwrap_or(1).max(1);
    let mut functions = Vec::new();
    let mut others = FUNCTIONS_MAX;
    for (name, Spent { flat, cum }) in all {
        let much = flat >= flat_least && flat >= least;
        if much || (cum >= least && others > 0) {
            others = others.saturating_sub(1);
            functions.push(Function { name: profile.name_of(name).to_owned(), flat, cum });
        }
    }
    functions.truncate(FUNCTIONS_MAX + BY_FLAT);
    RunProfile {
        kind: profile.kind.clone(),
        unit: profile.unit,
        total,
        functions,
        functions_all,
        frames: frames(profile, least.max(1)),
        ..RunProfile::default()
    }
}

/// The tree in preorder, the greatest first among siblings; folded more and more until it is small enough.
fn frames(profile: &Profile, least: i64) -> Vec<Frame> {
    let mut stacks: Vec<&Stack> = profile.stacks().iter().filter(|stack| stack.value > 0).collect();
    let names = |stack: &Stack| profile.frames(stack).iter().map(|frame| frame.name);
    stacks.sort_by(|a, b| names(a).cmp(names(b)));
    let mut least = least;
    loop {
        match tree(profile, &stacks, least) {
            Some(frames) => return frames,
            None => least = least.saturating_mul(2),
        }
    }
}

/// Part of the stacks that begin alike: those from one place to another, and how deep they are alike.
struct Alike {
    from: usize,
    to: usize,
    depth: usize,
    cum: i64,
}

/// Without frames below `least`; `None` if there are too many.
fn tree(profile: &Profile, stacks: &[&Stack], least: i64) -> Option<Vec<Frame>> {
    let mut frames = Vec::new();
    let mut open = calls(profile, stacks, &Alike { from: 0, to: stacks.len(), depth: 0, cum: 0 }, least).0;
    while let Some(alike) = open.pop() {
        if frames.len() >= FRAMES_MAX {
            return None;
        }
        let name = profile.frames(stacks[alike.from])[alike.depth - 1].name;
        let (depth, cum) = ((alike.depth - 1) as u32, alike.cum);
        let deep = alike.depth >= DEPTH_MAX;
        let (below, flat) = calls(profile, stacks, &alike, least);
        frames.push(Frame { name: profile.name_of(name).to_owned(), depth, flat, cum });
        if !deep {
            open.extend(below);
        }
    }
    Some(frames)
}

/// What is called right below, the smallest first, and what was spent there without calling anything.
fn calls(profile: &Profile, stacks: &[&Stack], alike: &Alike, least: i64) -> (Vec<Alike>, i64) {
    let mut flat = 0_i64;
    let mut below: Vec<(u32, Alike)> = Vec::new();
    for (at, stack) in stacks.iter().enumerate().take(alike.to).skip(alike.from) {
        let Some(frame) = profile.frames(stack).get(alike.depth) else {
            flat = flat.saturating_add(stack.value);
            continue;
        };
        match below.last_mut() {
            Some((name, last)) if *name == frame.name => {
                last.to = at + 1;
                last.cum = last.cum.saturating_add(stack.value);
            }
            _ => below.push((frame.name, Alike { from: at, to: at + 1, depth: alike.depth + 1, cum: stack.value })),
        }
    }
    below.retain(|(_, it)| it.cum >= least);
    below.sort_by(|(a_name, a), (b_name, b)| a.cum.cmp(&b.cum).then_with(|| profile.name_of(*b_name).cmp(profile.name_of(*a_name))));
    (below.into_iter().map(|(_, it)| it).collect(), flat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::tests::folded;
    use proptest::prelude::*;

    fn shown(frames: &[Frame]) -> Vec<String> {
        frames.iter().map(|frame| format!("{}{} {} {}", " ".repeat(frame.depth as usize), frame.name, frame.flat, frame.cum)).collect()
    }

    #[test]
    fn the_tree_stands_in_preorder_with_the_greatest_first() {
        let profiled = kept(&folded("main;gc 30\nmain;serve;dump 60\nmain;serve 10\nmain;serve;dump;format 20\nother;dump 5"));
        assert_eq!(
            shown(&profiled.frames),
            ["main 0 120", " serve 10 90", "  dump 60 80", "   format 20 20", " gc 30 30", "other 0 5", " dump 5 5"]
        );
        assert_eq!((profiled.total, profiled.functions_all), (125, 6));
        let dump = profiled.functions.iter().find(|function| function.name == "dump").unwrap();
        assert_eq!((dump.flat, dump.cum), (65, 85));
    }

    #[test]
    fn what_is_small_is_folded_away_and_leaves_a_gap() {
        let profiled = kept(&folded("main;a 990\nmain;b 9\nmain;c 1"));
        assert_eq!(shown(&profiled.frames), ["main 0 1000", " a 990 990", " b 9 9"]);
        assert_eq!(profiled.functions.len(), 3);
    }

    #[test]
    fn a_profile_of_any_size_is_kept_small() {
        let wide: String =
            (0..180).map(|it| format!("main;{} 1\n", (0..60).map(|at| format!("f{it}_{at}")).collect::<Vec<_>>().join(";"))).collect();
        let profiled = kept(&folded(&wide));
        assert!(profiled.frames.len() <= FRAMES_MAX && !profiled.frames.is_empty(), "{}", profiled.frames.len());
        assert!(profiled.functions.len() <= FUNCTIONS_MAX + BY_FLAT, "{}", profiled.functions.len());
        let deep = format!("main;{} 7", vec!["fib"; 5_000].join(";"));
        let profiled = kept(&folded(&deep));
        assert_eq!(profiled.frames.len(), DEPTH_MAX);
        assert_eq!(profiled.functions.iter().map(|it| (it.flat, it.cum)).collect::<Vec<_>>(), [(7, 7), (0, 7)]);
    }

    #[test]
    fn nothing_is_kept_of_nothing() {
        let profiled = kept(&folded(""));
        assert!(profiled.frames.is_empty() && profiled.functions.is_empty() && profiled.total == 0);
    }

    proptest! {
        #[test]
        fn children_never_spend_more_than_their_caller(
            stacks in prop::collection::vec((prop::collection::vec("[a-d]", 1..7), 1..100i64), 1..40)
        ) {
            let text: String = stacks.iter().map(|(names, value)| format!("{} {value}\n", names.join(";"))).collect();
            let profiled = kept(&folded(&text));
            let mut room: Vec<i64> = vec![profiled.total];
            for frame in &profiled.frames {
                let depth = frame.depth as usize;
                prop_assert!(depth < room.len(), "one level at a time");
                room.truncate(depth + 1);
                room[depth] -= frame.cum;
                prop_assert!(room[depth] >= 0 && frame.flat <= frame.cum);
                room.push(frame.cum - frame.flat);
            }
        }
    }
}
