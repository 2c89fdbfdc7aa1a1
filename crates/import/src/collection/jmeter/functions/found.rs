//! Functions of a test plan that look for something: in a text, in the answer before, in a file beside the plan.
//!
//! What a regular expression finds is a list, which is computed before the request; which of it is meant is said by its place. What an XPath
//! finds in a file is known before the load, and all users take it in turns.

use plan::template::{Template, Value};
use plan::work::{Expression, Function, Kind, Operator};

use super::super::answer::{form_of, understood};
use super::super::dialects;
use super::super::expressions::{fixed, held, two};
use super::super::text::Names;
use super::{CHANCE_MAX, Call, Outcome};
use crate::collection::Variable;
use crate::collection::url::filled;

/// A file's values of which users take one after the other are so many at most.
const VALUES_MAX: usize = 10_000;
/// Groups of a match that are looked for in a plan by their names.
const GROUPS_MAX: usize = 20;

/// Values that an XPath has found in a file, which users take in turns.
#[derive(Debug, Clone)]
pub(in super::super) struct Sequence {
    /// The variable that holds them, and the counter.
    name: String,
    count: usize,
    /// The only one, if there is none or one.
    only: Option<String>,
}

/// Whether a call looks at the answer before, and not at a variable.
pub(in super::super) fn looks_back(name: &str, arguments: &[&str]) -> bool {
    name == "__regexFunction" && arguments.get(6).is_none_or(|variable| variable.trim().is_empty())
}

/// What else a match is given to beside its variable, where the plan names it: how many there are, and its groups.
pub(in super::super) fn parts_of_match(name: &str, is_named: impl Fn(&str) -> bool) -> Vec<String> {
    let groups = (0..GROUPS_MAX).map(|number| format!("{name}_g{number}"));
    std::iter::once(format!("{name}_matchNr")).chain(groups).filter(|part| is_named(part)).collect()
}

/// What is looked for, as `made` writes it here: an expression with values in it, or one that is always the same. How many groups it has.
pub(super) fn pattern(
    names: &Names<'_>,
    text: &Template,
    made: impl Fn(&str) -> Result<String, String>,
) -> Result<(Template, usize), String> {
    if let Some(known) = names.settled(text) {
        let made = made(&known)?;
        let groups = dialects::groups_count(&made);
        return Ok((Template::fixed(made), groups));
    }
    let groups = std::cell::Cell::new(1);
    let open = dialects::open(&filled(text, &names.known), &[""], |pattern| {
        let made = made(pattern)?;
        groups.set(dialects::groups_count(&made));
        Ok(made)
    })?;
    Ok((open, groups.get()))
}

impl Call<'_, '_> {
    /// What a regular expression finds.
    pub(super) fn matched(&self) -> Result<Outcome, String> {
        if self.arguments.len() < 2 {
            return self.unfit("it wants an expression, and what is written of a match");
        }
        let template = self.fixed(1)?;
        let is_whole = template.contains("$0$");
        let made = |pattern: &str| if is_whole { dialects::regex_ending(pattern, dialects::END_UNTAKEN) } else { dialects::regex(pattern) };
        let (pattern, groups) = pattern(self.names, &self.text(0)?, made).or_else(|why| self.unfit(&why))?;
        let default = self.value(4)?;
        let Some(text) = self.looked_at()? else { return Ok(Outcome::Computed("match", default)) };
        let found = |form: Option<String>| {
            let form = form.map(|form| Expression::Text(Template::fixed(form)));
            Expression::Call(Function::Find, [text.clone(), Expression::Text(pattern.clone())].into_iter().chain(form).collect())
        };
        let form = form_of(&template, groups);
        let is_usual = form == "$1" && groups == 2 || form == "$0" && groups == 1;
        let list = self.kept("matches", found((!is_usual).then_some(form)));
        let count = || Expression::Call(Function::Count, vec![list.clone()]);
        let is_any = two(count(), Operator::More, fixed(0));
        let either = |holds: Expression, value: Expression| Expression::Call(Function::If, vec![holds, value, default.clone()]);
        let at = |list: Expression, place: Expression| Expression::Call(Function::Item, vec![list, place]);
        // What is returned; of all of them the variable holds the last one.
        let (whole, place) = match self.known(2)?.as_deref().map(str::trim) {
            Some("ALL") => {
                let joined = Expression::Call(Function::Join, vec![list.clone(), self.value(3)?]);
                (Some(either(is_any.clone(), joined)), Expression::Text(Template::fixed("-1")))
            }
            Some("RAND") => {
                let drawn = Expression::Text(Value::Random { low: 0, high: CHANCE_MAX }.into());
                let drawn = Expression::Call(Function::If, vec![is_any.clone(), two(drawn, Operator::Modulo, count()), fixed(0)]);
                (None, self.kept("place", drawn))
            }
            Some("") => (None, fixed(0)),
            Some(number) => match (number.parse::<u32>(), number.parse::<f64>()) {
                (Ok(number @ 1..), _) => (None, fixed(number - 1)),
                // A part of them: the one that stands so far.
                (Err(_), Ok(part)) if part > 0.0 && part <= 1.0 => {
                    let place = two(two(count(), Operator::Times, fixed(part)), Operator::Minus, fixed("0.5"));
                    (None, self.kept("place", Expression::Call(Function::Int, vec![place])))
                }
                _ => return self.unfit(&format!("its match number '{number}' is neither a number from 1, RAND nor ALL")),
            },
            None => (None, two(self.value(2)?, Operator::Minus, fixed(1))),
        };
        let has = if whole.is_some() { is_any } else { two(count(), Operator::More, place.clone()) };
        let value = either(has.clone(), at(list.clone(), place.clone()));
        let Some(name) = super::assigned(self.name, &self.arguments) else {
            return Ok(Outcome::Computed("match", whole.unwrap_or(value)));
        };
        let mut set = vec![(self.names.plain(name), value)];
        for part in parts_of_match(name, |part| self.names.mentions.names(part)) {
            let unset = Expression::Text(Template::fixed(format!("${{{part}}}")));
            let of_part = match part.rsplit_once("_g").and_then(|(_, number)| number.parse::<usize>().ok()) {
                None => count(),
                Some(number) if number < groups => {
                    Expression::Call(Function::If, vec![has.clone(), at(found(Some(format!("${number}"))), place.clone()), unset])
                }
                Some(_) => unset,
            };
            set.push((self.names.plain(&part), of_part));
        }
        self.names.computed.borrow_mut().extend(set);
        Ok(match whole {
            Some(whole) => Outcome::Computed("match", whole),
            None => self.names.variable(name).into(),
        })
    }

    /// A value that several others are made of.
    fn kept(&self, word: &'static str, value: Expression) -> Expression {
        Expression::Text(self.names.compute(word, value))
    }

    /// The text that is looked at; nothing of a variable that has no value.
    fn looked_at(&self) -> Result<Option<Expression>, String> {
        if looks_back(self.name, &self.arguments) {
            return Ok(self.names.answer_before.as_deref().map(held));
        }
        Ok(self.names.valued(&self.fixed(6)?).map(Expression::Text))
    }

    /// The next one of what an XPath finds in a file, for all users together.
    pub(super) fn next_of_file(&self) -> Result<Outcome, String> {
        let (path, expression) = (self.fixed(0)?, self.fixed(1)?);
        let known = self.names.sequences.borrow().get(&(path.clone(), expression.clone())).cloned();
        let sequence = match known {
            Some(known) => known,
            None => self.sequence(path, expression)?,
        };
        if let Some(only) = sequence.only {
            return Ok(only.into());
        }
        let number = Expression::Call(Function::Next, vec![fixed(sequence.name.as_str())]);
        let place = two(two(number, Operator::Minus, fixed(1)), Operator::Modulo, fixed(sequence.count));
        Ok(Outcome::Computed("text", Expression::Call(Function::Item, vec![held(&sequence.name), place])))
    }

    fn sequence(&self, path: String, expression: String) -> Result<Sequence, String> {
        let names = self.names;
        let text = match names.included.and_then(|included| included.get(&path)) {
            Some(Ok(text)) => text,
            Some(Err(why)) => return self.unfit(&format!("its file '{path}' cannot be read: {why}")),
            None => return self.unfit("the name of its file is not known before the load"),
        };
        let values = texts_at(&expression, text).or_else(|why| self.unfit(&why))?;
        if values.len() > VALUES_MAX {
            return self.unfit(&format!("it finds more than {VALUES_MAX} values; put them into a data file, a line each"));
        }
        let only = if values.len() < 2 { Some(values.first().cloned().unwrap_or_default()) } else { None };
        let name = super::super::data::free_file_name(&path, |name| {
            names.is_called(name)
                || names.files.iter().any(|known| known == name)
                || names.sequences.borrow().values().any(|known| known.name == name)
        });
        if only.is_none() {
            let list = serde_json::to_string(&values).unwrap_or_default();
            names.made.borrow_mut().push(Variable { name: name.clone(), value: Template::fixed(list), secret: false });
        }
        let sequence = Sequence { name, count: values.len(), only };
        names.sequences.borrow_mut().insert((path, expression), sequence.clone());
        Ok(sequence)
    }
}

/// What an XPath finds in a text.
fn texts_at(expression: &str, text: &str) -> Result<Vec<String>, String> {
    let expression = understood(Kind::XPath, expression.to_owned())?;
    let extractor = step::Extractor::compile(Kind::XPath, &expression).map_err(|mistake| mistake.message)?;
    let found = extractor.taking(step::Which::Every).of_text(text.as_bytes());
    let texts = found.ok().and_then(|found| found.as_array().cloned()).unwrap_or_default();
    Ok(texts.iter().map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned)).collect())
}
