//! What decides in a test plan whether users go on: conditions, loops and their rounds, and what ends them.
//!
//! JMeter ends the round of a loop, a loop, an iteration of the group, a thread or the test from within a sampler's place, and so do items here.
//! A loop tells its round in a variable of its name, counted from 0; it is set where the round begins, which every way into it passes.

use plan::Nanos;
use plan::template::{Template, Value};
use plan::work::{Expression, Extent, Item, LAST_SUCCEEDED, List, Operator, each_item};

use super::controllers::{ENDLESS, behind};
use super::expressions::{fixed, held, two};
use super::text;
use super::tree::Element;
use super::{Reading, Scope};

/// What of loops something stands in, the innermost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Around {
    /// None: the group itself is the loop.
    #[default]
    Group,
    /// A loop, whose rounds can end.
    Loop,
    /// What goes on for a time, whose rounds are none there.
    Timed,
    /// None that it could leave: others are under way beside it.
    Branch,
}

/// The index of a loop, as items.
struct Index {
    before: Vec<Item>,
    round: Vec<Item>,
    after: Vec<Item>,
}

impl Index {
    /// Puts it around a loop that is made of its rounds.
    fn around(self, rounds: Vec<Item>, made: impl FnOnce(Vec<Item>) -> Item) -> Vec<Item> {
        if rounds.is_empty() {
            return rounds;
        }
        let looped = made(behind(self.round, rounds));
        self.before.into_iter().chain([looped]).chain(self.after).collect()
    }
}

/// The variable that holds the round of a loop, by the name of the loop.
pub(super) fn loop_index(name: &str) -> String {
    format!("__jm__{name}__idx")
}

/// The setting of what limits the time of samplers, in milliseconds.
pub(super) const TIME_LIMIT: &str = "InterruptTimer.timeout";

/// What is done after a failure by a handler of results.
fn action_of(handler: &Element) -> &str {
    handler.text("OnError.action").trim()
}

/// What a failure ends by a handler of results, if that is more than a loop.
pub(super) fn ended_by(handler: &Element) -> Option<Extent> {
    match action_of(handler) {
        "1" => Some(Extent::User),
        "2" => Some(Extent::Load),
        "3" => Some(Extent::LoadAtOnce),
        "4" => Some(Extent::Journey),
        _ => None,
    }
}

/// What ends where both say what does.
pub(super) fn the_larger(one: Option<Extent>, other: Option<Extent>) -> Option<Extent> {
    one.into_iter().chain(other).max_by_key(|extent| *extent as u8)
}

impl<'e> Reading<'e> {
    /// What a user does in place of a request.
    pub(super) fn action(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let inner = scope.within(element);
        let mut items = self.items_before(element, scope, &inner);
        items.extend(self.pauses(&inner));
        let of = |name: &str| element.text(&format!("ActionProcessor.{name}")).trim();
        let ended = match (of("action"), of("target")) {
            ("1", _) => {
                match self.wait(of("duration")) {
                    Ok(wait) => items.extend(wait),
                    Err(why) => self.leave_out(element, scope, why),
                }
                return behind(self.names.taken(), items);
            }
            ("" | "0", "2") => self.end(scope, Extent::Load),
            ("2", "2") => self.end(scope, Extent::LoadAtOnce),
            ("" | "0" | "2", _) => self.end(scope, Extent::User),
            ("3", _) => self.end(scope, Extent::Journey),
            ("4", _) => self.end_round(scope),
            ("5", _) => self.end_loop(scope),
            _ => Err("it is unknown"),
        };
        match ended {
            Ok(item) => items.push(item),
            Err(why) => {
                self.leave_out(element, scope, format!("{why}, and users go on here"));
                return Vec::new();
            }
        }
        behind(self.names.taken(), items)
    }

    /// What ends the round of the nearest loop.
    fn end_round(&self, scope: &Scope<'e>) -> Result<Item, &'static str> {
        match scope.around {
            Around::Loop => Ok(Item::EndRound),
            Around::Group => self.end(scope, Extent::Journey),
            Around::Timed | Around::Branch => Err("it ends the round of a loop around what it stands in"),
        }
    }

    /// What leaves the nearest loop.
    fn end_loop(&self, scope: &Scope<'e>) -> Result<Item, &'static str> {
        match scope.around {
            Around::Loop => Ok(Item::EndLoop),
            Around::Group => self.end(scope, Extent::User),
            Around::Timed | Around::Branch => Err("it leaves a loop around what it stands in"),
        }
    }

    /// What ends so much here.
    fn end(&self, scope: &Scope<'e>, extent: Extent) -> Result<Item, &'static str> {
        if scope.is_in_branch {
            return Err("it ends what others are under way in beside it");
        }
        // A group that is done by itself is one loop in another.
        match (extent, scope.around) {
            (Extent::Journey, Around::Group) if scope.is_apart => Ok(Item::EndRound),
            (Extent::User, Around::Group) if scope.is_apart => Ok(Item::EndLoop),
            (Extent::Journey | Extent::User, _) if scope.is_apart => Err("it stands in a loop of a group that is done once"),
            _ => Ok(Item::End(extent)),
        }
    }

    /// What a failure of the sampler before ends, where a group is done by itself, and of loops; else its step says it.
    pub(super) fn end_after_failure(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let mut ends: Vec<_> = scope.failure_ends.filter(|_| scope.is_apart).map(|extent| self.end(scope, extent)).into_iter().collect();
        ends.extend(scope.on_failure.iter().filter_map(|handler| match action_of(handler) {
            "5" => Some(self.end_round(scope)),
            "6" => Some(self.end_loop(scope)),
            _ => None,
        }));
        let mut items = Vec::new();
        for end in ends {
            match end {
                Ok(item) => items.push(Item::If { condition: has_failed(), items: vec![item], otherwise: Vec::new() }),
                Err(why) => self.leave_out(element, scope, format!("its failure ends nothing: {why}")),
            }
        }
        items
    }

    /// The times after which a sampler is given up, by what limits it.
    pub(super) fn limits<'s>(&'s self, inner: &'s Scope<'e>) -> impl Iterator<Item = Nanos> + 's {
        let times = inner.time_limits.iter().filter_map(|limit| self.names.number(limit.text(TIME_LIMIT)));
        times.filter(|time| *time > 0.0).map(|time| Nanos::from_millis(time as u64))
    }

    /// A loop that goes round a number of times.
    pub(super) fn looped(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let times = self.times(element, scope, element.text("LoopController.loops"));
        let mut before = self.names.taken();
        let Some(times) = times else { return Vec::new() };
        let scope = &Scope { around: Around::Loop, ..scope.clone() };
        let index = self.index(element, 0);
        let (begins, items) = self.round(element, scope);
        before.extend(begins);
        behind(before, index.around(items, |items| Item::Repeat { times, items }))
    }

    /// What is done before a loop begins, and in each of its rounds. What is done once is done in the first round, each time that it begins.
    fn round(&mut self, element: &'e Element, scope: &Scope<'e>) -> (Option<Item>, Vec<Item>) {
        if !element.children.iter().any(|child| child.class == "OnceOnlyController") {
            return (None, self.inner(element, scope));
        }
        let round = self.names.fresh("round");
        let inner = Scope { round: Some(round.clone()), ..scope.within(element) };
        let mut items = self.set_at_each_iteration(element, scope);
        items.extend(self.items(&element.children, &inner));
        if items.is_empty() {
            return (None, items);
        }
        let set = |value: Expression| Item::Set(vec![(round.clone(), value)]);
        // It counts before anything that may end it.
        items.insert(0, set(two(held(&round), Operator::Plus, fixed(1))));
        (Some(set(fixed(0))), items)
    }

    /// What keeps the index of a loop that begins with this number, where something names it.
    fn index(&self, element: &Element, first: i64) -> Index {
        let name = loop_index(&element.name);
        if !self.names.set.contains(&name) {
            return Index { before: Vec::new(), round: Vec::new(), after: Vec::new() };
        }
        let name = self.names.plain(&name);
        let set = |value: Expression| vec![Item::Set(vec![(name.clone(), value)])];
        let next = two(held(&name), Operator::Plus, fixed(1));
        Index { before: set(fixed(first - 1)), round: set(next), after: set(fixed(first)) }
    }

    pub(super) fn when(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let text = element.text("IfController.condition").trim();
        let decided = script_of(text).and_then(|script| self.names.decided(&script));
        match (self.names.literal(text).map(|text| text.to_ascii_lowercase()).as_deref(), decided) {
            (Some("true"), _) | (_, Some(true)) => return self.inner(element, scope),
            (Some("false"), _) | (_, Some(false)) => return Vec::new(),
            _ => {}
        }
        let condition = match script_of(text) {
            Some(script) => self.comparison(&script).or_else(|_| self.is_text(Operator::Is, text, "true")),
            None if element.is_on("IfController.useExpression", false) => self.is_text(Operator::Is, text, "true"),
            // It is JavaScript by itself.
            None => self.comparison(text).or_else(|why| {
                let script = format!("${{__javaScript({})}}", text.replace(',', "\\,"));
                self.is_text(Operator::Is, &script, "true").map_err(|_| why)
            }),
        };
        let before = self.names.taken();
        let is_looked_at_again = element.is_on("IfController.evaluateAll", false);
        if is_looked_at_again && !before.is_empty() {
            self.leave_out(element, scope, "what its condition is made of is computed once, and not before each sampler in it");
        }
        match condition {
            Ok(condition) if is_looked_at_again => {
                behind(before, self.around(element, scope, Some(move |items| Item::AsLongAs { condition, items })))
            }
            Ok(condition) => {
                behind(before, self.around(element, scope, Some(move |items| Item::If { condition, items, otherwise: Vec::new() })))
            }
            Err(why) => {
                self.leave_out(element, scope, format!("nothing in it is sent: {why}"));
                Vec::new()
            }
        }
    }

    pub(super) fn while_it_holds(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let scope = &Scope { around: Around::Loop, ..scope.clone() };
        let text = element.text("WhileController.condition").trim();
        let index = self.index(element, 0);
        let endless = |items| Item::Repeat { times: Template::fixed(ENDLESS), items };
        if text.is_empty() {
            // It is looked at behind each round.
            let (first, items) = self.round(element, scope);
            if items.is_empty() {
                return items;
            }
            let begins = self.names.fresh("begins");
            let set = |value: i64| Item::Set(vec![(begins.clone(), fixed(value))]);
            let condition = two(two(held(&begins), Operator::Is, fixed(1)), Operator::Or, Expression::Not(Box::new(has_failed())));
            let rounds = std::iter::once(set(0)).chain(items).collect();
            let before = first.into_iter().chain([set(1)]).collect();
            return behind(before, index.around(rounds, |items| Item::While { condition, items }));
        }
        if text.eq_ignore_ascii_case("LAST") {
            let condition = Expression::Not(Box::new(has_failed()));
            let (first, items) = self.round(element, scope);
            return behind(first.into_iter().collect(), index.around(items, |items| Item::While { condition, items }));
        }
        match self.names.literal(text) {
            Some(word) if word.eq_ignore_ascii_case("false") => return Vec::new(),
            Some(_) => {
                let (first, items) = self.round(element, scope);
                return behind(first.into_iter().collect(), index.around(items, endless));
            }
            None => {}
        }
        // It ends with the text `false`, whatever else it is.
        let condition = script_of(text)
            .and_then(|script| self.comparison(&script).ok())
            .map_or_else(|| self.is_text(Operator::IsNot, text, "false"), Ok);
        let before = self.names.taken();
        match condition {
            Ok(condition) => {
                let (begins, mut items) = self.round(element, scope);
                if items.is_empty() {
                    return items;
                }
                let mut ends = false;
                each_item(&items, &mut |item| ends |= matches!(item, Item::EndRound));
                if ends && !(before.is_empty() && index.round.is_empty()) {
                    // A round that ends passes only what stands first in the next one.
                    let over =
                        Item::If { condition: Expression::Not(Box::new(condition)), items: vec![Item::EndLoop], otherwise: Vec::new() };
                    let rounds = index.round.into_iter().chain(before).chain([over]).chain(items).collect();
                    return begins.into_iter().chain(index.before).chain([endless(rounds)]).chain(index.after).collect();
                }
                // What the condition is made of is computed anew before it is looked at again, and the index is that of the next round.
                items.extend(index.round);
                items.extend(before.iter().cloned());
                let first = index.after.clone();
                begins.into_iter().chain(first).chain(before).chain([Item::While { condition, items }]).chain(index.after).collect()
            }
            Err(why) => {
                self.leave_out(element, scope, format!("nothing in it is sent: {why}"));
                Vec::new()
            }
        }
    }

    pub(super) fn for_each(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let of = |name: &str| element.text(&format!("ForeachController.{name}")).trim();
        let (from, variable) = (of("inputVal"), self.names.plain(of("returnVal")));
        let [first, end] = ["startIndex", "endIndex"].map(|name| match of(name) {
            "" => Ok(None),
            text => self.names.number(text).filter(|number| *number >= 0.0).map(|number| Some(number as usize)).ok_or(text),
        });
        let (first, end) = match (first, end) {
            (Ok(first), Ok(end)) => (first.unwrap_or(0), end),
            (Err(text), _) | (_, Err(text)) => {
                self.leave_out(element, scope, format!("'{text}' is no place that is known before the load, and nothing in it is sent"));
                return Vec::new();
            }
        };
        let separator = if element.is_on("ForeachController.useSeparator", true) { "_" } else { "" };
        let numbered = |number: usize| self.names.value(&format!("{from}{separator}{number}"));
        let places = first + 1..=end.unwrap_or(usize::MAX - 1);
        let known: Vec<Template> = places.map_while(numbered).collect();
        let is_split = self.names.splits.contains(from);
        let scope = &Scope { around: Around::Loop, ..scope.clone() };
        if !is_split && (!known.is_empty() || numbered(1).is_some()) {
            if known.is_empty() {
                return Vec::new();
            }
            let index = self.index(element, first as i64);
            let items = self.inner(element, scope);
            return index.around(items, |items| Item::ForEach { variable, list: List::Items(known), items });
        }
        let list = if is_split {
            self.names.plain(&text::list_name(from))
        } else if self.names.lists.contains(from) {
            self.names.plain(from)
        } else {
            self.leave_out(element, scope, format!("no extractor before it takes all matches into '{from}', and nothing in it is sent"));
            return Vec::new();
        };
        let list = List::Array(Value::Variable(list).into());
        let index = self.index(element, 0);
        let items = self.inner(element, scope);
        if items.is_empty() || (first, end) == (0, None) {
            return index.around(items, |items| Item::ForEach { variable, list, items });
        }
        // Of all those of the list the rounds between two places are gone.
        let place = self.names.fresh("place");
        let set = |value: Expression| Item::Set(vec![(place.clone(), value)]);
        let is_behind = two(held(&place), Operator::AtLeast, fixed(first));
        let condition = match end {
            None => is_behind,
            Some(end) => two(is_behind, Operator::And, two(held(&place), Operator::Less, fixed(end))),
        };
        let next = set(two(held(&place), Operator::Plus, fixed(1)));
        let rounds = vec![next, Item::If { condition, items, otherwise: Vec::new() }];
        let looped = index.around(rounds, |items| Item::ForEach { variable, list, items });
        std::iter::once(set(fixed(-1))).chain(looped).collect()
    }
}

/// Whether something in these ends the round, or the iteration, that they are a part of.
pub(super) fn ends_early(items: &[Item]) -> bool {
    items.iter().any(|item| match item {
        Item::EndRound | Item::End(Extent::Journey) => true,
        Item::Repeat { items, .. } | Item::While { items, .. } | Item::ForEach { items, .. } => {
            let mut ends = false;
            each_item(items, &mut |item| ends |= matches!(item, Item::End(Extent::Journey)));
            ends
        }
        item => item.parts().into_iter().any(ends_early),
    })
}

/// Whether the last sample failed.
fn has_failed() -> Expression {
    two(held(LAST_SUCCEEDED), Operator::Is, fixed("false"))
}

/// What stands in an expression of JEXL, Groovy or JavaScript, if a text is one.
pub(super) fn script_of(text: &str) -> Option<String> {
    ["__jexl3", "__jexl2", "__groovy", "__javaScript", "__BeanShell"].iter().find_map(|name| {
        let inner = text.strip_prefix("${")?.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(")}")?;
        Some(text::split(inner).first().map_or(String::new(), |first| first.replace("\\,", ",")))
    })
}
