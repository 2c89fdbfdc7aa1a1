//! The machines that a load came from, where they are several: in words, the same in every format.

use analysis::quantity::{bytes, count, counted};
use measure::{Machine, Summary};

use crate::visible::visible;

/// More names of machines that are alike are counted.
const NAMES_MAX: usize = 4;

/// What stands behind a machine that is one of several: that the others are like it, or that it is the first.
pub(crate) fn first_of_machines(summary: &Summary) -> String {
    let several = match summary.other_machines().count() {
        0 | 1 => return String::new(),
        several => several,
    };
    let first = words(&summary.machine);
    let is_like = |machine: &Option<Machine>| machine.as_ref().is_some_and(|machine| words(machine) == first);
    if summary.other_machines().all(|site| is_like(&site.machine)) {
        return format!(", one of {several} machines that are alike");
    }
    format!(", the first of {several} machines")
}

/// The machines that differ from the first: the names of those that are alike among them, and what they are.
pub(crate) fn other_machines(summary: &Summary) -> Vec<(String, String)> {
    let mut groups = vec![(words(&summary.machine), Vec::new())];
    for site in summary.other_machines() {
        let Some(machine) = &site.machine else { continue };
        let words = words(machine);
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, names)) => names.push(&site.name),
            None => groups.push((words, vec![&site.name])),
        }
    }
    let named = |(words, names): (String, Vec<&String>)| {
        let mut shown: Vec<String> = names.iter().take(NAMES_MAX).map(|name| visible(name)).collect();
        let rest = names.len().saturating_sub(NAMES_MAX);
        shown.extend((rest > 0).then(|| format!("{} more", count(rest as u64))));
        (shown.join(", "), words)
    };
    groups.into_iter().skip(1).map(named).collect()
}

/// What a machine is, but for the program on it, which is the same on all.
fn words(machine: &Machine) -> String {
    format!(
        "{}, {}, {} of memory, {} files may be open, {}",
        visible(&machine.processor),
        counted(machine.cores.into(), "core"),
        bytes(machine.memory_bytes as f64),
        count(machine.files_max),
        visible(&machine.system)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn machines_that_differ_from_the_first_are_told_in_groups() {
        let (_, mut summary) = fixtures::summaries().remove(0);
        let own = summary.machine.clone();
        let site = |(name, machine): (&str, &Machine)| measure::SiteRow { machine: Some(machine.clone()), ..fixtures::other_machine(name) };
        summary.edit_for_test().sites = [("a", &own), ("b", &own)].map(site).into();
        assert_eq!(first_of_machines(&summary), ", one of 2 machines that are alike");
        assert_eq!(other_machines(&summary), []);
        let larger = Machine { cores: own.cores + 2, ..own.clone() };
        let names = ["b", "c", "d", "e", "f"].map(|name| (name, &larger));
        summary.edit_for_test().sites = std::iter::once(("a", &own)).chain(names).map(site).collect();
        assert_eq!(first_of_machines(&summary), ", the first of 6 machines");
        let [(names, words)] = &other_machines(&summary)[..] else { panic!("one group") };
        assert_eq!(names, "b, c, d, e, 1 more");
        assert!(words.contains(&format!(" {} cores, ", own.cores + 2)), "{words}");
        // Results of before it was told.
        summary.edit_for_test().sites = ["a", "b"].map(fixtures::other_machine).into();
        assert_eq!((first_of_machines(&summary).as_str(), other_machines(&summary).len()), (", the first of 2 machines", 0));
    }
}
