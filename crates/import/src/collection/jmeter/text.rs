//! Texts of a test plan: variables and functions in them become values of a template.
//!
//! What JMeter writes as it is stays as it is: a variable that nothing gives a value is sent with its braces. A function that has no equal
//! here is told, and whatever it stands in is left out: a request with the function's name in it would be one that nobody planned.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use plan::percent_encoded;
use plan::template::{Moment, Piece, Template, Value};

use crate::collection::Variable;
use crate::collection::url::{filled, variable, variable_name};

/// Functions in functions, so deep.
const DEPTH_MAX: usize = 16;

/// What names in texts stand for.
#[derive(Debug, Default)]
pub(super) struct Names<'e> {
    /// Columns of data files: the file and its column, by the plan's name.
    pub(super) columns: BTreeMap<String, (String, String)>,
    /// Variables that get values on the way.
    pub(super) set: BTreeSet<String>,
    /// Variables whose values are not carried over, and why.
    pub(super) lost: BTreeMap<String, String>,
    /// The data file whose first line names its columns: whatever nothing else gives a value is one of them.
    pub(super) open_file: Option<String>,
    /// Variables whose values are known.
    pub(super) known: Vec<Variable>,
    /// Values of properties.
    pub(super) properties: BTreeMap<String, String>,
    /// What the plan is called.
    pub(super) plan: String,
    /// All texts of the plan, in which what gives a variable its value names it.
    pub(super) mentions: Vec<&'e str>,
    /// Names that nothing gives a value.
    pub(super) unknown: RefCell<BTreeSet<String>>,
}

impl Names<'_> {
    /// A text as a template.
    ///
    /// # Errors
    /// In words, if a function in it has no equal here.
    pub(super) fn template(&self, text: &str) -> Result<Template, String> {
        self.within(text, 0)
    }

    /// A text whose value is known now.
    pub(super) fn literal(&self, text: &str) -> Option<String> {
        let template = filled(&self.template(text).ok()?, &self.known);
        template.is_fixed().then(|| template.fixed_text().trim().to_owned())
    }

    /// A number that is known now.
    pub(super) fn number(&self, text: &str) -> Option<f64> {
        self.literal(text)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// What a name stands for; nothing if nothing gives it a value.
    pub(super) fn value(&self, name: &str) -> Option<Template> {
        if let Some((file, column)) = self.columns.get(name) {
            return Some(Value::Column { file: file.clone(), column: column.clone() }.into());
        }
        let plain = variable_name(name);
        (self.set.contains(name) || self.known.iter().any(|known| known.name == plain)).then(|| variable(name))
    }

    fn within(&self, text: &str, depth: usize) -> Result<Template, String> {
        if depth > DEPTH_MAX {
            return Err("functions stand in it too deep".to_owned());
        }
        let mut written = Template::default();
        let mut rest = text;
        let has_values = text.contains("${");
        while let Some(at) = rest.find("${") {
            if is_escaped(rest, at) {
                written.push(&plain(&rest[..at], has_values));
                written.push("${");
                rest = &rest[at + 2..];
                continue;
            }
            written.push(&plain(&rest[..at], has_values));
            let Some(length) = closing(&rest[at + 2..]) else {
                written.push(&rest[at..]);
                return Ok(written);
            };
            let inner = &rest[at + 2..at + 2 + length];
            written.append(if inner.starts_with("__") { self.function(inner, depth)? } else { self.named(inner)? });
            rest = &rest[at + 2 + length + 1..];
        }
        written.push(&plain(rest, has_values));
        Ok(written)
    }

    fn named(&self, name: &str) -> Result<Template, String> {
        let plain = name.trim();
        if let Some(value) = self.value(plain) {
            return Ok(value);
        }
        if let Some(why) = self.lost.get(plain) {
            return Err(format!("the variable '{plain}' has no value here: {why}"));
        }
        if let Some(file) = &self.open_file {
            return Ok(Value::Column { file: file.clone(), column: plain.to_owned() }.into());
        }
        if !self.unknown.borrow().contains(plain) && self.may_be_set(plain) {
            return Err(format!("the variable '{plain}' has no value here: what gives it one is not carried over"));
        }
        self.unknown.borrow_mut().insert(plain.to_owned());
        Ok(Template::fixed(format!("${{{name}}}")))
    }

    /// Whether something that is not carried over may give a variable a value: a script or a function that names it, a part of what an
    /// extractor found, or JMeter itself.
    fn may_be_set(&self, name: &str) -> bool {
        let reference = format!("${{{name}}}");
        let is_named = |text: &&str| text.contains(name) && text.replace(&reference, "").contains(name);
        let extracted = self.set.iter().chain(self.lost.keys());
        let is_a_part = extracted.into_iter().any(|of| name.strip_prefix(of.as_str()).is_some_and(|part| part.starts_with('_')));
        let is_own = ["JMeter", "__jm__", "START.", "TESTSTART.", "COOKIE_"].iter().any(|beginning| name.starts_with(beginning));
        is_own || is_a_part || self.mentions.iter().any(is_named)
    }

    fn function(&self, inner: &str, depth: usize) -> Result<Template, String> {
        let (name, arguments) = match inner.split_once('(') {
            Some((name, arguments)) => (name.trim(), split(arguments.trim_end().strip_suffix(')').unwrap_or(arguments))),
            None => (inner.trim(), Vec::new()),
        };
        let argument = |place: usize| arguments.get(place).map_or("", |argument| argument.trim());
        let unfit = |why: &str| Err(format!("the function {name}: {why}"));
        let without_variable = |place: usize| {
            if argument(place).is_empty() {
                Ok(())
            } else {
                Err(format!("the function {name} puts its result into the variable '{}'", argument(place)))
            }
        };
        let fixed = |place: usize| {
            let text = self.within(argument(place), depth + 1)?;
            let text = filled(&text, &self.known);
            if text.is_fixed() {
                Ok(text.fixed_text())
            } else {
                Err(format!("the function {name} is given a value that is known only on the way"))
            }
        };
        match name {
            "__UUID" => Ok(Value::Uuid.into()),
            "__Random" => {
                without_variable(2)?;
                match (fixed(0)?.trim().parse(), fixed(1)?.trim().parse()) {
                    (Ok(low), Ok(high)) if low <= high => Ok(Value::Random { low, high }.into()),
                    _ => unfit("it wants two whole numbers, the smaller first"),
                }
            }
            "__time" => {
                without_variable(1)?;
                match argument(0) {
                    "" => Ok(Value::Now(Moment::UnixMillis).into()),
                    "/1000" => Ok(Value::Now(Moment::Unix).into()),
                    "yyyy-MM-dd" => Ok(Value::Now(Moment::Date).into()),
                    _ => unfit("times in this form are not written here; without one it is milliseconds, with /1000 seconds"),
                }
            }
            "__P" | "__property" => {
                let default = if name == "__P" { 1 } else { 2 };
                if name == "__property" {
                    without_variable(1)?;
                }
                let property = fixed(0)?;
                let property = property.trim();
                match self.properties.get(property) {
                    Some(value) => Ok(Template::fixed(value)),
                    None if arguments.len() > default => self.within(argument(default), depth + 1),
                    None if name == "__P" => Ok(Template::fixed("1")),
                    None => Ok(Template::fixed(property)),
                }
            }
            "__chooseRandom" => {
                let [choices @ .., _] = &arguments[..] else { return unfit("it wants values, and the name of a variable or nothing") };
                without_variable(arguments.len() - 1)?;
                let choices: Result<Vec<Piece>, String> =
                    choices.iter().map(|choice| self.within(choice, depth + 1).and_then(|text| single(&text, name))).collect();
                Ok(Value::Choice(choices?).into())
            }
            "__V" => {
                let named = fixed(0)?;
                match (self.value(&named), arguments.get(1)) {
                    (Some(value), _) => Ok(value),
                    (None, Some(default)) => self.within(default, depth + 1),
                    (None, None) => Ok(Template::fixed(named)),
                }
            }
            "__env" => Ok(Value::Env(fixed(0)?).into()),
            "__TestPlanName" => Ok(Template::fixed(self.plan.trim_end_matches(".jmx"))),
            "__urlencode" => Ok(Template::fixed(percent_encoded(&fixed(0)?))),
            "__base64Encode" => {
                without_variable(1)?;
                Ok(Value::Base64(self.within(argument(0), depth + 1)?.pieces().to_vec()).into())
            }
            "__FileToString" => {
                without_variable(2)?;
                Ok(Value::File(fixed(0)?).into())
            }
            "__char" => {
                let letters = arguments.iter().map(|code| code.trim().parse().ok().and_then(char::from_u32));
                letters.collect::<Option<String>>().map_or_else(|| unfit("it wants codes of letters"), |text| Ok(Template::fixed(text)))
            }
            _ => unfit("it is not carried out here; give its result as a user-defined variable"),
        }
    }
}

/// The only piece of a text.
fn single(text: &Template, of: &str) -> Result<Piece, String> {
    match text.pieces() {
        [] => Ok(Piece::Text(String::new())),
        [only] => Ok(only.clone()),
        _ => Err(format!("the function {of} is given texts with values in them")),
    }
}

/// Whether what stands there is meant as it is.
fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Text between values: a backslash before `$`, `,` or another one is not meant, where there are values at all.
fn plain(text: &str, has_values: bool) -> String {
    if !has_values || !text.contains('\\') {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some('$' | ',' | '\\')) => plain.extend(letters.next()),
            // What stands before an escaped value.
            ('\\', None) => {}
            _ => plain.push(letter),
        }
    }
    plain
}

/// Where the brace that ends a value stands.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 0 => return Some(at),
            b'}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// Arguments of a function, at the commas that are not in values, parentheses or escaped.
pub(super) fn split(text: &str) -> Vec<&str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let (mut found, mut from, mut open, mut escaped) = (Vec::new(), 0, 0_usize, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' | b'(' => open += 1,
            b'}' | b')' => open = open.saturating_sub(1),
            b',' if open == 0 => {
                found.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[from..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names<'static> {
        Names {
            columns: BTreeMap::from([("user".to_owned(), ("users".to_owned(), "user".to_owned()))]),
            set: BTreeSet::from(["a.token".to_owned()]),
            known: vec![Variable { name: "host".to_owned(), value: Template::fixed("api.test"), secret: false }],
            properties: BTreeMap::from([("users".to_owned(), "50".to_owned())]),
            plan: "Shop.jmx".to_owned(),
            ..Names::default()
        }
    }

    #[test]
    fn variables_and_functions_become_values_and_what_is_unknown_stays_as_it_is() {
        let names = names();
        for (text, written) in [
            ("plain \\, text", "plain \\, text"),
            ("http://${host}/${user}?t=${a.token}", "http://{{host}}/{{users.user}}?t={{a_token}}"),
            ("${nobody}-${host}", "${nobody}-{{host}}"),
            ("a\\,b ${__UUID} \\${host}", "a,b {{uuid}} ${host}"),
            ("${__Random(1,6)}${__time()}${__time(/1000,)}", "{{random 1 6}}{{now unix-ms}}{{now unix}}"),
            ("${__P(users)}/${__P(other,7)}/${__P(none)}/${__property(none)}", "50/7/1/none"),
            ("${__P(x,${__P(users,1)})}", "50"),
            ("${__TestPlanName}${__env(HOME)}${__char(65,66)}", "Shop{{env HOME}}AB"),
            ("${__V(host)} ${__V(no,d)} ${__urlencode(a b&c)}", "{{host}} d a%20b%26c"),
            ("${open", "${open"),
        ] {
            assert_eq!(names.template(text).unwrap().to_string(), written, "{text}");
        }
        assert_eq!(names.unknown.borrow().iter().map(String::as_str).collect::<Vec<_>>(), ["nobody"]);
        assert_eq!(
            (names.literal(" ${host} "), names.literal("${user}"), names.number("${__P(users)} ")),
            (Some("api.test".to_owned()), None, Some(50.0))
        );
    }

    #[test]
    fn functions_without_an_equal_are_told() {
        let names = names();
        for (text, told) in [
            ("${__groovy(1+1)}", "the function __groovy"),
            ("x${__Random(1,6,dice)}", "into the variable 'dice'"),
            ("${__Random(${user},6)}", "known only on the way"),
            ("${__time(HH:mm)}", "times in this form"),
        ] {
            assert!(names.template(text).unwrap_err().contains(told), "{text}: {:?}", names.template(text));
        }
        let deep = "${__P(a,".repeat(100) + "1" + &")}".repeat(100);
        assert!(names.template(&deep).unwrap_err().contains("too deep"));
    }
}
