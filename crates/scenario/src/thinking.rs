//! For how long a journey pauses in all, before anybody goes on it.
//!
//! Journeys that begin at a rate come to a steady load only when the first of them are over: until then their later steps are not asked for. A
//! measurement of ten seconds of journeys of thirty seconds shows the first steps alone. So whoever measures briefly wants to
//! know beforehand; running one to see would take as long as the journey, and tell of one.

use plan::Nanos;
use plan::work::{Amount, Duration, Item, List};

use crate::file::Scenario;

impl Scenario {
    /// The pauses of the journey that has most of them, on average; what is repeated as often as the answers say counts once.
    #[must_use]
    pub fn thinking(&self) -> Nanos {
        let chosen = self.work.journeys.iter().filter(|journey| journey.weight > 0.0);
        let longest = chosen.map(|journey| seconds(&journey.items)).fold(0.0, f64::max);
        // A century is long enough.
        Nanos((longest.min(3.2e9) * 1e9) as u64)
    }
}

fn seconds(items: &[Item]) -> f64 {
    items.iter().map(of_item).sum()
}

fn of_item(item: &Item) -> f64 {
    let greatest = |parts: &[Vec<Item>]| parts.iter().map(|items| seconds(items)).fold(0.0, f64::max);
    match item {
        Item::Pause(pause) => of_duration(pause),
        Item::Repeat { times, items } => {
            let times = if times.is_fixed() { times.fixed_text().trim().parse().unwrap_or(1.0) } else { 1.0 };
            times * seconds(items)
        }
        Item::If { items, otherwise, .. } => seconds(items).max(seconds(otherwise)),
        // As long as it says, or the one turn that it has begun.
        Item::RunFor { time, items } => of_duration(time).max(seconds(items)),
        Item::Share { amount, items, .. } => match amount.fixed_text().parse() {
            Ok(Amount::Percent(0.0) | Amount::Times(0)) if amount.is_fixed() => 0.0,
            _ => seconds(items),
        },
        Item::ForEach { list: List::Items(texts), items, .. } => texts.len() as f64 * seconds(items),
        Item::Pick { choices: parts, .. } | Item::Interleave { parts, .. } | Item::Parallel { parts, .. } => greatest(parts),
        Item::Switch { cases, otherwise, .. } => cases.iter().map(|case| seconds(&case.items)).fold(seconds(otherwise), f64::max),
        // As long as what stands in it. A pace is a pause only where the requests are quicker, and only from the second time on.
        _ => item.parts().into_iter().map(seconds).sum(),
    }
}

/// The mean; of what is written anew each time nothing is known.
fn of_duration(duration: &Duration) -> f64 {
    match duration {
        Duration::Drawn(think) => think.mean().as_secs_f64(),
        Duration::Written(_) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use crate::read;
    use plan::Nanos;

    #[test]
    fn the_journey_that_pauses_most_counts_with_its_loops() {
        let text = "target: http://a.test\njourneys:\n  - name: long\n    steps:\n      - get: /\n        pause: 1s..3s\n      - repeat: 3\n        steps: [{get: /a, pause: 2s}]\n      - for_each: {variable: id, in: [1, 2]}\n        steps: [{pause: exponential 500ms}, {get: '/{{id}}'}]\n      - pick: [{steps: [{pause: 4s}]}, {steps: [{get: /b}]}]\n  - name: others\n    steps: [{run_for: 5s, steps: [{get: /c, pause: 1s}]}, {switch: '{{status}}', cases: [{steps: [{pause: 2s}, {get: /}]}], else: [{pause: 3s}, {get: /}]}, {random_order: [{pause: 1s}, {pause: 2s}]}]\n  - name: never\n    weight: 0\n    steps: [{pause: 1h}]\n";
        let scenario = read("s.yaml", text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
        assert_eq!(scenario.thinking(), Nanos::from_secs(2 + 6 + 1 + 4));
        let scenario = read("s.yaml", "target: http://a.test\nsteps: [{get: /}]\n").unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
        assert_eq!(scenario.thinking(), Nanos::ZERO);
    }
}
