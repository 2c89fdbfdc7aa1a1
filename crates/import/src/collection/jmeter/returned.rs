//! Samplers of a test plan that are no requests: scripts in the place of one, and what shows variables.
//!
//! JMeter runs what stands around a sampler also where nothing is sent: pauses, scripts before it and behind it, and extractors, which look
//! at the text that a script returned. A request to nobody, which would have an answer, was the alternative; each report would count it.
//!
//! Invariant: what looks at an answer where there is none is told.

use plan::template::{Template, Value};
use plan::work::{AnswerPart, Expression, Extraction, Function, Item, Kind, Operator, SELECTORS, Script, Where, Which};

use super::expressions::{fixed, held, two};
use super::functions::CHANCE_MAX;
use super::text::Names;
use super::tree::Element;
use super::{Reading, Scope, answer, assertions};

impl<'e> Reading<'e> {
    /// What a script does in the place of a sampler.
    pub(super) fn script_sampler(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let inner = scope.within(element);
        element.name.clone_into(&mut self.names.sampler);
        let mut items = self.items_before(element, scope, &inner);
        items.extend(self.pauses(&inner));
        let into = (!inner.extractors.is_empty()).then(|| self.names.fresh("returned"));
        match self.script(element) {
            Ok(script) => {
                items.extend(self.names.taken());
                items.push(Item::Script(Box::new(Script { may_fail: scope.step_ends().is_none(), into: into.clone(), ..script })));
                items.extend(self.taken_out(&inner, scope, into.as_deref()));
            }
            Err(wrong) => {
                self.names.taken();
                wrong.into_iter().for_each(|why| self.leave_out(element, scope, why));
            }
        }
        if element.children.iter().any(|child| assertions::is_assertion(&child.class)) {
            self.leave_out(element, scope, "what it returns is no answer here, and nothing is held against it");
        }
        items.extend(self.done_behind(&inner, scope));
        items
    }

    /// What is done around a sampler that shows variables, which is waited for all the same.
    pub(super) fn debug_sampler(&mut self, element: &'e Element, scope: &Scope<'e>) -> Vec<Item> {
        let inner = scope.within(element);
        let mut items = self.items_before(element, scope, &inner);
        items.extend(self.pauses(&inner));
        let mut items = super::controllers::behind(self.names.taken(), items);
        if !inner.extractors.is_empty() {
            self.leave_out(element, scope, "what it shows is no answer here, and nothing is taken out of it");
        }
        items.extend(self.done_behind(&inner, scope));
        items
    }

    /// What extractors take out of the text that a variable holds.
    fn taken_out(&mut self, inner: &Scope<'e>, scope: &Scope<'e>, text: Option<&str>) -> Vec<Item> {
        let Some(text) = text else { return Vec::new() };
        for extractor in inner.extractors.iter().copied() {
            for taken in answer::taken(extractor, &self.names.mentions, Some(&self.names)) {
                // What cannot be taken out of any answer was told.
                let Ok(taken) = taken.found else { continue };
                match found_in(&self.names, &taken, text) {
                    Some(value) => self.names.computed.borrow_mut().push((taken.variable, value)),
                    None => {
                        let why = "out of what a script returns in the place of a sampler, nothing but that text is looked into";
                        self.leave_out(extractor, scope, format!("'{}': {why}", taken.variable));
                    }
                }
            }
        }
        self.names.taken()
    }

    /// The scripts that are run behind a sampler without an answer.
    fn done_behind(&mut self, inner: &Scope<'e>, scope: &Scope<'e>) -> Vec<Item> {
        let scripts = self.each_script_after(inner);
        let mut items = self.names.taken();
        for (element, script) in scripts {
            if script.reads_answer {
                self.leave_out(element, scope, "behind a sampler that sends nothing it is not run: it looks at an answer");
                continue;
            }
            items.push(Item::Script(Box::new(Script { may_fail: scope.step_ends().is_none(), ..script })));
        }
        items
    }
}

/// What an extractor finds in the text that a variable holds; nothing if it looks at more than that text.
fn found_in(names: &Names<'_>, taken: &Extraction, text: &str) -> Option<Expression> {
    let text = match &taken.within {
        Where::Part(AnswerPart::Body) => held(text),
        Where::Part(_) => return None,
        Where::Written(text) => Expression::Text(text.clone()),
    };
    let sought = Expression::Text(taken.open.clone().unwrap_or_else(|| Template::fixed(&taken.expression)));
    let found = match taken.kind {
        Kind::Regex => {
            let form = taken.written.iter().map(|form| Expression::Text(Template::fixed(form)));
            Expression::Call(Function::Find, [text, sought].into_iter().chain(form).collect())
        }
        kind if SELECTORS.contains(&kind.word()) => Expression::Call(Function::Select, vec![text, fixed(kind.word()), sought]),
        _ => return None,
    };
    let list = Expression::Text(names.compute("matches", found));
    let count = Expression::Call(Function::Count, vec![list.clone()]);
    let place = match taken.which {
        Which::Every => return Some(list),
        Which::Count => return Some(count),
        Which::Joined => return Some(Expression::Call(Function::Join, vec![list, fixed(",")])),
        Which::First => fixed(0),
        Which::Nth(place) => fixed(place),
        Which::Random => {
            let drawn = Expression::Text(Value::Random { low: 0, high: CHANCE_MAX }.into());
            let is_any = two(count.clone(), Operator::More, fixed(0));
            let drawn = Expression::Call(Function::If, vec![is_any, two(drawn, Operator::Modulo, count.clone()), fixed(0)]);
            Expression::Text(names.compute("place", drawn))
        }
        Which::Last => return None,
    };
    let otherwise = match &taken.default {
        Some(default) => Expression::Text(Template::fixed(default)),
        None => held(&taken.variable),
    };
    let item = Expression::Call(Function::Item, vec![list, place.clone()]);
    let has = two(count, Operator::More, place);
    let has = if taken.null_is_missing {
        // In a list a null is written as a word.
        two(Expression::Call(Function::If, vec![has, item.clone(), fixed("null")]), Operator::IsNot, fixed("null"))
    } else {
        has
    };
    Some(Expression::Call(Function::If, vec![has, item, otherwise]))
}
