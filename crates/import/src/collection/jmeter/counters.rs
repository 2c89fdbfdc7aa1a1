//! What a test plan gives users at each iteration: counters, numbers by chance, and values by the user's number.
//!
//! JMeter sets these with each iteration of the nearest controller above them, a loop's round as well as a group's. So they are set where
//! such an iteration begins; as functions of their own in templates they would count each request that names them.

use std::collections::BTreeSet;

use plan::template::{Template, Value};
use plan::work::{Expression, Function, Item, Operator, USER_NUMBER};

use super::expressions::{fixed, held, part_at, two};
use super::flow::loop_index;
use super::functions::assigned;
use super::groups::is_group;
use super::tree::{Element, Property};
use super::{Reading, Scope, answer, controllers, scripts};
use crate::collection::Variable;

/// Chance has so many numbers at most.
const RANGE_MAX: u64 = (1 << 53) - 1;

impl<'e> Reading<'e> {
    /// What config elements set before each iteration of the group or the controller that they stand in.
    pub(super) fn set_at_each_iteration(&mut self, group: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let of_plan: &'e [Element] = if is_group(&group.class) { &self.plan.children } else { &[] };
        // What stands in a sampler belongs to what the sampler stands in.
        let in_samplers = group.children.iter().filter(|child| controllers::is_sampler(&child.class)).flat_map(|child| &child.children);
        let is_counted = |element: &&'e Element| is_counter(&element.class) || is_for_iterations(element) || element.class == "CSVDataSet";
        let counted: Vec<&'e Element> = of_plan.iter().chain(&group.children).chain(in_samplers).filter(is_counted).collect();
        let (mut set, mut items) = (Vec::new(), Vec::new());
        for element in counted {
            if element.class == "CSVDataSet" {
                items.extend(self.row_taken(element));
                continue;
            }
            if element.class == "UserParameters" {
                // What is wrong with it was told.
                items.extend(self.user_parameters(element).unwrap_or_default());
                continue;
            }
            match self.counter(element, is_group(&group.class)) {
                Ok(values) => set.extend(values),
                // What names it is left out when it is seen that nothing sets it.
                Err(why) => self.leave_out(element, scope, format!("its variable has no value: {why}")),
            }
        }
        if !set.is_empty() {
            items.insert(0, Item::Set(set));
        }
        items
    }

    /// The variables of a user, by its number: each user takes the next set of values, and the first again behind the last.
    ///
    /// # Errors
    /// In words, if they cannot be said here.
    pub(super) fn user_parameters(&self, element: &Element) -> Result<Vec<Item>, String> {
        let names: Vec<String> = element.texts("UserParameters.names").into_iter().map(|name| self.names.plain(name)).collect();
        let mut sets = Vec::new();
        for values in element.list("UserParameters.thread_values") {
            let values: Vec<&str> = values.own().iter().filter_map(Property::text).collect();
            let mut set = Vec::new();
            for (place, name) in names.iter().enumerate() {
                let value = self.names.template(values.get(place).copied().unwrap_or_default())?;
                set.push((name.clone(), Expression::Text(value)));
            }
            let mut items = self.names.taken();
            items.push(Item::Set(set));
            sets.push(items);
        }
        if names.is_empty() || sets.is_empty() {
            return Ok(Vec::new());
        }
        if sets.len() == 1 {
            return Ok(sets.remove(0));
        }
        let place = two(two(held(USER_NUMBER), Operator::Minus, fixed(1)), Operator::Modulo, fixed(sets.len()));
        Ok(vec![part_at(place, sets)])
    }

    /// The variable of a counter, or of a number by chance, and what it becomes at each iteration of a group, or of something in one.
    fn counter(&mut self, element: &Element, is_in_group: bool) -> Result<Vec<(String, Expression)>, String> {
        let whole = |text: &str, default: i64| {
            if text.trim().is_empty() {
                return Ok(default);
            }
            self.names
                .literal(text)
                .and_then(|text| text.parse().ok())
                .ok_or_else(|| format!("'{}' is no whole number that is known before the load", text.trim()))
        };
        let name = self.names.plain(counter_name(element));
        if element.class == "RandomVariableConfig" {
            let (low, high) = (whole(element.text("minimumValue"), 1)?, whole(element.text("maximumValue"), i64::MAX)?);
            if low > high || high.abs_diff(low) > RANGE_MAX {
                return Err("its numbers go from the least to the greatest, at most 2^53 of them".to_owned());
            }
            let drawn = Expression::Text(Value::Random { low, high }.into());
            return self.formed((name, low < 0), drawn, element.text("outputFormat"));
        }
        let of = |name: &str| element.text(&format!("CounterConfig.{name}"));
        let (start, step) = (whole(of("start"), 0)?, whole(of("incr"), 1)?);
        let end = if of("end").trim().is_empty() { None } else { Some(whole(of("end"), 0)?) };
        // So many numbers come before the first one again.
        let count = end.map(|end| if step > 0 && end >= start { end.abs_diff(start) / step.unsigned_abs() + 1 } else { 1 });
        if !element.is_on("CounterConfig.per_user", false) {
            let next = Expression::Call(Function::Next, vec![fixed(self.counter_of(element, &name).as_str())]);
            let before = two(next, Operator::Minus, fixed(1));
            let before = count.map_or(before.clone(), |count| two(before, Operator::Modulo, fixed(count)));
            let value = two(fixed(start), Operator::Plus, two(before, Operator::Times, fixed(step)));
            return self.formed((name, start < 0 || step < 0), value, of("format"));
        }
        // With a form, the number is counted by itself.
        let counted = if of("format").trim().is_empty() { name.clone() } else { format!("{name}_number") };
        // It is at its start after the first step. Several groups may have it.
        self.names.known.retain(|known| known.name != counted);
        let value = Template::fixed(start.saturating_sub(step).to_string());
        self.names.known.push(Variable { name: counted.clone(), value, secret: false });
        let next = two(held(&counted), Operator::Plus, fixed(step));
        if element.is_on("CounterConfig.reset_on_tg_iteration", false) && !is_in_group {
            let reset = (counted.clone(), fixed(start.saturating_sub(step)));
            if !self.reset.contains(&reset) {
                self.reset.push(reset);
            }
        }
        let next = match end {
            Some(end) => Expression::Call(Function::If, vec![two(next.clone(), Operator::More, fixed(end)), fixed(start), next]),
            None => next,
        };
        if counted == name {
            return Ok(vec![(name, next)]);
        }
        let mut set = vec![(counted.clone(), next)];
        set.extend(self.formed((name, start < 0 || step < 0), held(&counted), of("format"))?);
        Ok(set)
    }

    /// What the counter of an element for all users is called, wherever its place leads.
    fn counter_of(&mut self, element: &Element, name: &str) -> String {
        let place = std::ptr::from_ref(element).addr();
        if let Some(known) = self.counted.get(&place) {
            return known.clone();
        }
        let is_taken = |name: &str| self.counted.values().any(|known| known == name);
        let counter = super::free_name(name, |number| format!("{name}_{number}"), is_taken);
        self.counted.insert(place, counter.clone());
        counter
    }

    /// A variable that becomes a number in a form such as `user_000`; whether the number may be below 0.
    fn formed(&self, (name, is_signed): (String, bool), value: Expression, form: &str) -> Result<Vec<(String, Expression)>, String> {
        let form = form.trim();
        if form.is_empty() {
            return Ok(vec![(name, value)]);
        }
        let (from, to) = (form.find('0').unwrap_or(form.len()), form.rfind('0').map_or(form.len(), |at| at + 1));
        let (before, zeros, behind) = (&form[..from], &form[from..to], &form[to..]);
        // An E is an exponent behind the digits alone.
        let is_odd = |text: &str| text.contains(['#', ',', '.', ';', '%', '\'', '\u{a4}', '\u{2030}']);
        if zeros.is_empty() || !zeros.bytes().all(|byte| byte == b'0') || is_odd(before) || is_odd(behind) || behind.starts_with('E') {
            return Err(format!("its form '{form}' is not one of zeros, such as 000"));
        }
        let plain = format!("{name}_number");
        let mut set = if value == held(&plain) { Vec::new() } else { vec![(plain.clone(), value)] };
        let mut size = plain.clone();
        if is_signed {
            size = format!("{name}_size");
            let is_below = two(held(&plain), Operator::Less, fixed(0));
            let sign = |below: Expression, else_: Expression| Expression::Call(Function::If, vec![is_below.clone(), below, else_]);
            set.push((size.clone(), sign(two(fixed(0), Operator::Minus, held(&plain)), held(&plain))));
            set.push((format!("{name}_sign"), sign(fixed("-"), fixed(""))));
        }
        let mut padded = Template::fixed(zeros);
        padded.push_piece(plan::template::Piece::Value(Value::Variable(size.clone())));
        let padded = Expression::Text(padded);
        // As many of its last digits as there are zeros, and all of a longer number.
        let length = |of: Expression| Expression::Call(Function::Length, vec![of]);
        let kept = Expression::Call(Function::Max, vec![fixed(zeros.len()), length(held(&size))]);
        let digits = Expression::Call(Function::Substring, vec![padded.clone(), two(length(padded), Operator::Minus, kept)]);
        if before.is_empty() && behind.is_empty() && !is_signed {
            set.push((name, digits));
            return Ok(set);
        }
        let named = |part: &str| plan::template::Piece::Value(Value::Variable(format!("{name}_{part}")));
        let mut whole = Template::default();
        if is_signed {
            whole.push_piece(named("sign"));
        }
        whole.push(before);
        whole.push_piece(named("digits"));
        whole.push(behind);
        set.extend([(format!("{name}_digits"), digits), (name, Expression::Text(whole))]);
        Ok(set)
    }
}

impl Reading<'_> {
    /// The variables that hold whole numbers alone, by their names here: counters, numbers by chance and sums, which nothing else sets.
    pub(super) fn whole_numbers(&self) -> BTreeSet<String> {
        let (mut numbers, mut others): (BTreeSet<String>, BTreeSet<String>) = Default::default();
        let listed = |arguments| super::listed(arguments).map(|(name, _)| name.to_owned());
        others.extend(listed(self.plan.list("TestPlan.user_defined_variables")));
        for root in self.roots() {
            super::each(root, &mut |element| match element.class.as_str() {
                class if is_counter(class) => {
                    let is_plain = element.text("CounterConfig.format").trim().is_empty() && element.text("outputFormat").trim().is_empty();
                    let held = if is_plain { &mut numbers } else { &mut others };
                    held.insert(counter_name(element).to_owned());
                }
                class if scripts::Role::of(class).is_some() => others.extend(self.set_by_script(element)),
                class if answer::is_extractor(class) => {
                    others.extend(answer::taken(element, &self.names.mentions, None).into_iter().map(|taken| taken.name));
                }
                "Arguments" => others.extend(listed(element.properties.as_slice())),
                "UserParameters" => others.extend(element.texts("UserParameters.names").into_iter().map(|name| name.trim().to_owned())),
                "LoopController" | "WhileController" => _ = numbers.insert(loop_index(&element.name)),
                "ForeachController" => {
                    numbers.insert(loop_index(&element.name));
                    others.insert(element.text("ForeachController.returnVal").trim().to_owned());
                }
                _ => {}
            });
        }
        for (function, arguments) in &self.names.mentions.calls {
            if let (Some(language), Some(script)) = (scripts::language_of_function(function), arguments.first()) {
                others.extend(scripts::set_by(&script.replace("\\,", ","), language));
            }
            let Some(name) = assigned(function, arguments) else { continue };
            let is_number = matches!(*function, "__counter" | "__Random" | "__intSum" | "__longSum" | "__strLen");
            let held = if is_number { &mut numbers } else { &mut others };
            held.insert(name.to_owned());
        }
        numbers.difference(&others).map(|name| self.names.plain(name)).collect()
    }
}

/// The variable of a counter, or of a number by chance.
pub(super) fn counter_name(element: &Element) -> &str {
    element.text(if element.class == "CounterConfig" { "CounterConfig.name" } else { "variableName" }).trim()
}

/// Whether it gives users values at each iteration, and not before each sampler.
fn is_for_iterations(element: &Element) -> bool {
    element.class == "UserParameters" && element.is_on("UserParameters.per_iteration", false)
}

pub(super) fn is_counter(class: &str) -> bool {
    matches!(class, "CounterConfig" | "RandomVariableConfig")
}
