//! What ends before its end: where users come to an item, and where a step fails.

use plan::work::{Extent, Item};

use super::{Entries, Reading};
use crate::yaml::{Node, Spot};

/// What can end where users come to it.
const ENDS: &str = "write end: round, loop, journey, user, load or load at once";

impl Reading<'_> {
    /// An item that ends something.
    pub(super) fn end(&mut self, node: &Node) -> Option<Item> {
        let text = self.plain(node)?;
        let word = text.trim();
        if let "round" | "loop" = word {
            if !self.is_in_loop {
                let message = format!("there is no loop here whose {} could end", if word == "loop" { "rounds" } else { "round" });
                let help = "put it into the steps of repeat, while, for_each or run_for, or write end: journey";
                self.wrong(node.spot, message, help);
            }
            return Some(if word == "loop" { Item::EndLoop } else { Item::EndRound });
        }
        let extent = self.extent(node, word, ENDS)?;
        if self.is_in_branch {
            let message = format!("a branch of 'parallel' cannot end the {word}: others are under way");
            self.wrong(node.spot, message, "put it behind the steps that are done in parallel, below an if: of its own");
        }
        Some(Item::End(extent))
    }

    fn extent(&mut self, node: &Node, word: &str, help: &str) -> Option<Extent> {
        word.parse().map_err(|why: String| self.wrong(node.spot, why, help)).ok()
    }

    /// What a failure ends, and whether the journey goes on in any case. What is said here goes over what all steps have.
    pub(super) fn on_failure(&mut self, entries: &mut Entries<'_>, (all_end, all_may): (Option<Extent>, bool)) -> (Option<Extent>, bool) {
        let must = entries.value("must_succeed").and_then(|node| self.truth(node));
        let ends = entries.take("failure_ends").and_then(|(word, node)| {
            let text = self.plain(node)?;
            let extent = self.extent(node, &text, "write failure_ends: journey, user, load or load at once");
            Some((word.spot, extent?))
        });
        let may = entries.take("may_fail").and_then(|(word, node)| Some((word.spot, self.truth(node)?)));
        let mut contradict = |spot: Spot, one: &str, other: &str| {
            self.wrong(spot, format!("'{one}' and '{other}' contradict each other"), "leave one of them out");
        };
        match (must, ends, may) {
            (Some(_), Some((spot, _)), _) => contradict(spot, "failure_ends", "must_succeed"),
            (Some(true), _, Some((spot, true))) => contradict(spot, "may_fail", "must_succeed"),
            (_, Some(_), Some((spot, true))) => contradict(spot, "may_fail", "failure_ends"),
            _ => {}
        }
        let own = ends.map(|(_, extent)| Some(extent)).or(must.map(|must| must.then_some(Extent::Journey)));
        let may = may.map(|(_, may)| may);
        let failure_ends = own.unwrap_or(if may == Some(true) { None } else { all_end });
        (failure_ends, may.unwrap_or(all_may && own.flatten().is_none()))
    }
}
