//! Controllers of which one part is done each time, by its weight: BlazeMeter's Weighted Switch Controller.
//!
//! Without chance each user takes the parts in an order that comes again: always the one that is furthest behind its share. So that order is
//! known before the load, and a user only counts its turns.

use plan::work::{Case, Item, Operator, Weights};

use super::expressions::{fixed, held, two};
use super::tree::{Element, Property};
use super::{Reading, Scope, controllers};

/// An order of parts is so long at most.
const TURNS_MAX: usize = 10_000;

impl<'e> Reading<'e> {
    /// One part of a controller each time.
    pub(super) fn weighted(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let weights: Option<Vec<u64>> = element.list("Weights").iter().filter_map(|row| self.weight(row)).collect();
        let before = self.set_at_each_iteration(element, scope);
        let inner = scope.within(element);
        let of_order = element.children.iter().filter(|child| controllers::is_of_order(&child.class));
        let parts: Vec<Vec<Item>> = of_order.map(|child| self.turn(child, &inner)).collect();
        if parts.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        let Some(weights) = weights.filter(|weights| weights.len() == parts.len() && weights.iter().any(|weight| *weight > 0)) else {
            self.leave_out(
                element,
                scope,
                "its weights are no whole numbers that are known before the load, one for each part, and nothing in it is sent",
            );
            return Vec::new();
        };
        if element.is_on("IsRandomChoice", false) {
            let weights = Weights::new(&weights.iter().map(|weight| *weight as f64).collect::<Vec<_>>());
            return controllers::behind(before, weights.map(|weights| vec![Item::Pick { weights, choices: parts }]).unwrap_or_default());
        }
        let Some(order) = turns(&weights) else {
            self.leave_out(
                element,
                scope,
                format!("its weights come out even after more than {TURNS_MAX} turns, and nothing in it is sent"),
            );
            return Vec::new();
        };
        let turn = self.names.fresh("turn");
        self.names.counters.borrow_mut().push(turn.clone());
        let next = two(held(&turn), Operator::Plus, fixed(1));
        let value = two(two(held(&turn), Operator::Minus, fixed(1)), Operator::Modulo, fixed(order.len()));
        let of_part = |(part, items): (usize, Vec<Item>)| {
            let values = order.iter().enumerate().filter(|(_, taken)| **taken == part).map(|(place, _)| place.to_string()).collect();
            Case { values, items }
        };
        let cases = parts.into_iter().enumerate().map(of_part).filter(|case| !case.values.is_empty()).collect();
        controllers::behind(before, vec![Item::Set(vec![(turn, next)]), Item::Switch { value, cases, otherwise: Vec::new() }])
    }

    /// The weight in a row, if that is of a part that is there: nothing within it if it is none.
    fn weight(&self, row: &Property) -> Option<Option<u64>> {
        let texts: Vec<&str> = row.own().iter().filter_map(Property::text).collect();
        let is_there = texts.get(2).is_none_or(|word| *word == "true");
        is_there.then(|| self.names.literal(texts.get(1)?)?.parse().ok())
    }
}

/// The parts in their order, up to where it comes again: each time the one whose share is furthest from what it has had.
fn turns(weights: &[u64]) -> Option<Vec<usize>> {
    let sum = weights.iter().try_fold(0_u64, |sum, weight| sum.checked_add(*weight))?;
    let common = weights.iter().fold(0, |common, weight| greatest_common(common, *weight));
    let length = usize::try_from(sum / common.max(1)).ok().filter(|length| *length <= TURNS_MAX)?;
    let shares: Vec<f64> = weights.iter().map(|weight| *weight as f64 / sum as f64).collect();
    let mut counts = vec![0_u64; weights.len()];
    let mut order = Vec::with_capacity(length);
    for total in 0..length {
        let had = |count: u64| if total > 0 { count as f64 / total as f64 } else { 0.0 };
        let mut best = (0.0, 0);
        for (part, share) in shares.iter().enumerate() {
            let behind = share - had(counts[part]);
            best = if behind > best.0 { (behind, part) } else { best };
        }
        counts[best.1] += 1;
        order.push(best.1);
    }
    Some(order)
}

fn greatest_common(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_take_turns_by_their_weights() {
        assert_eq!(turns(&[70, 30]).unwrap(), [0, 1, 0, 0, 1, 0, 0, 1, 0, 0]);
        assert_eq!(turns(&[1, 1, 2]).unwrap(), [2, 0, 1, 2]);
        assert_eq!(turns(&[0, 5]).unwrap(), [1]);
        assert_eq!(turns(&[10_000, 1]), None);
        assert_eq!(turns(&[u64::MAX, 1]), None);
    }
}
