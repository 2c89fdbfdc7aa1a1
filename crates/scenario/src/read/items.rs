//! Items about other items: in turn, by chance, by a value, for a time, timed together.

use std::collections::BTreeSet;

use plan::Timetable;
use plan::template::is_templated;
use plan::work::{Amount, Case, Duration, Expression, Item, Pace, PacedUsers, Pacing, Think, each_step};

use super::{Defaults, Entries, Reading};
use crate::keys::CASE;
use crate::yaml::{Node, Value};

/// No load has more users.
pub(super) const USERS_MAX: u64 = 1_000_000;

impl Reading<'_> {
    /// A time, drawn by chance or written by a template. `what` is what takes it.
    pub(super) fn duration(&mut self, node: &Node, what: &str) -> Option<Duration> {
        let help = "write 2s, 1s..3s, exponential 2s, gaussian 2s 500ms, poisson 300ms, or a template such as '{{ms}}ms'";
        self.timed(node, what, str::parse, help)
    }

    /// The same, of what is read so.
    fn timed(&mut self, node: &Node, what: &str, read: fn(&str) -> Result<Think, String>, help: &str) -> Option<Duration> {
        let text = self.plain(node)?;
        if is_templated(&text) {
            return self.template(node).map(Duration::Written);
        }
        read(&text).map(Duration::Drawn).map_err(|why| self.wrong(node.spot, format!("the {what} {why}"), help)).ok()
    }

    /// How often users go on here.
    pub(super) fn pacing(&mut self, node: &Node, entries: &mut Entries<'_>) -> Option<Item> {
        if matches!(node.value, Value::Map(_)) {
            self.wrong(node.spot, "a pace is no mapping: what is said of it stands beside it", "write {pacing: 120/m, of: all users}");
            return None;
        }
        let help = "write 10s, 120/m, exponential 120/m for random times at that rate, or a template such as '{{rate}}/m'";
        let is_staged = matches!(&node.value, Value::Scalar { text, .. } if text.contains(" for "));
        let paced = if is_staged {
            self.rates(node).map(|rates| Pacing::at(rates, PacedUsers::Each))
        } else {
            self.timed(node, "pace", |text| text.parse().map(|Pace(think)| think), help).map(Pacing::each)
        };
        let of = entries.value("of").and_then(|node| {
            let of = self.plain(node)?.parse::<PacedUsers>().map_err(|why: String| {
                self.wrong(node.spot, why, "write of: all users, of: population for those of each population, or leave it out");
            });
            of.ok()
        });
        let catches_up = entries.value("catch_up").and_then(|node| self.truth(node)).unwrap_or(false);
        let name = entries.value("name").and_then(|node| self.plain(node));
        let of = of.unwrap_or(PacedUsers::Each);
        let together = entries.value("together").and_then(|node| {
            let text = self.plain(node)?;
            let count = text.parse().ok().filter(|count| (1..=Pacing::TOGETHER_MAX).contains(count));
            if count.is_none() {
                let message = format!("'{}' is no number of users from 1 to {}", text.escape_debug(), Pacing::TOGETHER_MAX);
                self.wrong(node.spot, message, "write how many go on at the same time, such as 10");
            } else if of == PacedUsers::Each {
                self.wrong(
                    node.spot,
                    "each user keeps this pace by itself, and nobody goes on with it",
                    "write of: all users beside it, or leave it out",
                );
            }
            count
        });
        if is_staged && of == PacedUsers::Each {
            let message = "a rate that changes over the load is kept by users together";
            self.wrong(node.spot, message, "write of: all users beside it, or of: population");
        } else if is_staged && together.is_some_and(|together| together > 1) {
            self.wrong(node.spot, "at a rate that changes over the load one user goes on at a time", "leave out 'together'");
        }
        Some(Item::Pacing(Pacing { of, catches_up, together: together.unwrap_or(1), name, ..paced? }))
    }

    /// A rate that changes over the load.
    fn rates(&mut self, node: &Node) -> Option<Timetable> {
        let text = self.plain(node)?;
        let help = "write stages, such as '0/s to 50/s for 1m, 50/s for 5m'";
        text.parse().map_err(|why| self.wrong(node.spot, format!("the rate {why}"), help)).ok()
    }

    /// Steps that are timed as one.
    pub(super) fn transaction(&mut self, node: &Node, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Option<Item> {
        let name = self.plain(node).unwrap_or_default();
        let name = if group.is_empty() { name } else { format!("{group} / {name}") };
        let pauses = entries.value("include_pauses").and_then(|node| self.truth(node)).unwrap_or(false);
        let only_row = entries.value("only_row").and_then(|node| self.truth(node)).unwrap_or(false);
        let items = self.steps_of(entries, defaults, group);
        self.sends_something(node, &items, "there is nothing to time: a transaction lasts from its first request to its last answer");
        Some(Item::Transaction { name: plan::url_without_secrets(&name), pauses, only_row, items })
    }

    /// Complains of items that send nothing, where that makes no sense.
    fn sends_something(&mut self, node: &Node, items: &[Item], message: &str) {
        let mut sends = false;
        each_step(items, &mut |_| sends = true);
        if !sends && self.mistakes.is_empty() {
            self.wrong(node.spot, message, "put a step into it that sends something");
        }
    }

    /// One of several, by a value.
    pub(super) fn switch(&mut self, node: &Node, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Option<Item> {
        let value = self.expression(node);
        if value.as_ref().is_some_and(Expression::is_fixed) {
            self.wrong(node.spot, "the value is always the same", "choose by a variable, such as switch: '{{kind}}'");
        }
        let before = self.known.clone();
        let mut after: Option<BTreeSet<String>> = None;
        let mut cases: Vec<Case> = Vec::new();
        let Some((word, list)) = entries.take("cases") else {
            self.wrong(entries.spot, "'switch' has no cases", "write them below cases:, each as - value: and steps:");
            return None;
        };
        for (number, node) in self.list(list).into_iter().enumerate() {
            let Some(mut case) = self.shape(node, &CASE) else { continue };
            let mut values = Vec::new();
            match case.value("value") {
                None => values.push(number.to_string()),
                Some(node) => {
                    let texts = self.each(node);
                    if texts.is_empty() {
                        let help = "write one, such as value: gold, or leave value out: then it is the number of the case, from 0";
                        self.wrong(node.spot, "the case has no value", help);
                    }
                    for node in texts {
                        let Some(text) = self.plain(node) else { continue };
                        if is_templated(&text) {
                            let help = "write it out, or compare in the steps, with if:";
                            self.wrong(node.spot, "the value of a case is a text as it stands, and no template", help);
                        } else if cases.iter().any(|case| case.values.contains(&text)) {
                            self.wrong(
                                node.spot,
                                format!("two cases have the value '{}'", text.escape_debug()),
                                "the first would be taken",
                            );
                        } else {
                            values.push(text);
                        }
                    }
                }
            }
            self.known.clone_from(&before);
            let items = self.steps_of(&mut case, defaults, group);
            self.meet(&mut after);
            cases.push(Case { values, items });
        }
        if cases.is_empty() && self.mistakes.is_empty() {
            self.wrong(word.spot, "there are no cases here", "write them as - value: and steps:");
        }
        self.known.clone_from(&before);
        let otherwise = entries.value("else").map_or_else(Vec::new, |node| self.items(node, defaults, group));
        self.meet(&mut after);
        self.known = after.unwrap_or(before);
        Some(Item::Switch { value: value?, cases, otherwise })
    }

    /// Of several ways, only what all of them set has a value behind them.
    fn meet(&self, after: &mut Option<BTreeSet<String>>) {
        let now = &self.known;
        *after = Some(after.take().map_or_else(|| now.clone(), |after| after.intersection(now).cloned().collect()));
    }

    /// One of them each time.
    pub(super) fn interleave(&mut self, node: &Node, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Item {
        let per_user = self.per_user(entries);
        let before = self.known.clone();
        let mut after: Option<BTreeSet<String>> = None;
        let parts = self.parts(node, |reading, node| {
            reading.known.clone_from(&before);
            let items = reading.part(node, defaults, group);
            reading.meet(&mut after);
            items
        });
        self.known = after.unwrap_or(before);
        Item::Interleave { parts, per_user }
    }

    /// All of them, in another order each time.
    pub(super) fn random_order(&mut self, node: &Node, defaults: &Defaults<'_>, group: &str) -> Item {
        Item::RandomOrder(self.all_of(node, defaults, group))
    }

    /// All of them at the same time.
    pub(super) fn parallel(&mut self, node: &Node, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Item {
        let at_once = entries.value("at_once").and_then(|node| self.at_once(node, "branches"));
        let is_inner = std::mem::replace(&mut self.is_in_branch, true);
        let is_in_loop = std::mem::replace(&mut self.is_in_loop, false);
        if is_inner {
            let message = "steps at the same time stand in others at the same time";
            self.wrong(node.spot, message, "write the inner ones beside the outer ones, each as a branch of its own");
        }
        let parts = self.all_of(node, defaults, group);
        (self.is_in_branch, self.is_in_loop) = (is_inner, is_in_loop);
        let item = Item::Parallel { parts, at_once };
        self.sends_something(node, std::slice::from_ref(&item), "nothing is sent here that could be under way at the same time");
        item
    }

    /// Several, of which each is read as if it stood alone, and all are done.
    fn all_of(&mut self, node: &Node, defaults: &Defaults<'_>, group: &str) -> Vec<Vec<Item>> {
        let before = self.known.clone();
        let mut all = before.clone();
        let parts = self.parts(node, |reading, node| {
            reading.known.clone_from(&before);
            let items = reading.part(node, defaults, group);
            all.extend(reading.known.iter().cloned());
            items
        });
        self.known = all;
        parts
    }

    /// The steps of a list, each by itself.
    fn parts(&mut self, node: &Node, mut read: impl FnMut(&mut Self, &Node) -> Vec<Item>) -> Vec<Vec<Item>> {
        let nodes = self.list(node);
        if nodes.is_empty() && matches!(node.value, Value::List(_)) {
            self.wrong(node.spot, "there are no steps here", "write one, such as - get: /");
        }
        nodes.into_iter().map(|node| read(self, node)).collect()
    }

    /// A step, or several below `steps` alone.
    fn part(&mut self, node: &Node, defaults: &Defaults<'_>, group: &str) -> Vec<Item> {
        match &node.value {
            Value::Map(entries) if entries.len() == 1 && entries[0].0.text == "steps" => self.items(&entries[0].1, defaults, group),
            _ => {
                let mut items = Vec::new();
                self.item(node, defaults, group, &mut items);
                items
            }
        }
    }

    fn per_user(&mut self, entries: &mut Entries<'_>) -> bool {
        entries.value("per_user").and_then(|node| self.truth(node)).unwrap_or(false)
    }

    /// Again until a time is over.
    pub(super) fn run_for(&mut self, node: &Node, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Option<Item> {
        let time = self.duration(node, "time");
        let before = self.known.clone();
        let items = self.rounds_of(entries, defaults, group);
        self.known = before;
        self.sends_something(node, &items, "nothing is sent here, and so no time passes");
        Some(Item::RunFor { time: time?, items })
    }

    /// One user at a time.
    pub(super) fn critical_section(
        &mut self,
        node: &Node,
        entries: &mut Entries<'_>,
        defaults: &Defaults<'_>,
        group: &str,
    ) -> Option<Item> {
        let name = self.plain(node);
        let is_inner = std::mem::replace(&mut self.is_in_section, true);
        if is_inner {
            let message = "a critical section stands in another: users could wait for each other for ever";
            self.wrong(node.spot, message, "put it behind the other, or let one section hold all of it");
        }
        let items = self.steps_of(entries, defaults, group);
        self.is_in_section = is_inner;
        self.sends_something(node, &items, "nothing is sent here, which nobody need wait for");
        Some(Item::CriticalSection { name: name?, items })
    }

    /// Users wait for each other.
    pub(super) fn rendezvous(&mut self, node: &Node, entries: &mut Entries<'_>) -> Option<Item> {
        let is_endless = !entries.has("within");
        if self.is_in_branch {
            let message = "users wait for each other as a whole, and this rendezvous stands in a branch of one";
            self.wrong(node.spot, message, "put it before the steps that are done in parallel, or behind them");
        }
        let within = entries.value("within").and_then(|node| self.timeout(node));
        if is_endless && self.is_in_section {
            let message = "one user at a time comes to this rendezvous, which stands in a critical section, and waits for ever";
            self.wrong(node.spot, message, "put it before the section, or write within: 10s beside it");
        }
        let users = self.whole(node, USERS_MAX)?;
        if users < 2 {
            self.wrong(node.spot, "one user need not wait for others", "write how many users go on together, such as rendezvous: 10");
        }
        Some(Item::Rendezvous { users, within })
    }

    /// Some of the times that users come here.
    pub(super) fn share(&mut self, node: &Node, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Option<Item> {
        let amount = self.template(node);
        if let Some(text) = amount.as_ref().filter(|amount| amount.is_fixed()).map(ToString::to_string)
            && text.parse::<Amount>().is_err()
        {
            let message = format!("'{}' is no share of iterations", text.escape_debug());
            self.wrong(node.spot, message, "write 30%, or 500 times for that many in all; or a template such as '{{percent}}%'");
        }
        let per_user = self.per_user(entries);
        let before = self.known.clone();
        let items = self.steps_of(entries, defaults, group);
        self.known = before;
        Some(Item::Share { amount: amount?, per_user, items })
    }
}
