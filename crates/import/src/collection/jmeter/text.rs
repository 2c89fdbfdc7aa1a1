//! Texts of a test plan: variables and functions in them become values of a template.
//!
//! What JMeter writes as it is stays as it is: a variable that nothing gives a value is sent with its braces. A function that has no equal
//! here is told, and whatever it stands in is left out: a request with the function's name in it would be one that nobody planned.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use plan::template::{Moment, Piece, Template, TimeForm, Value};
use plan::work::{Expression, Function, Item, LAST_SUCCEEDED, Operator, USER_NUMBER};
use plan::{DataFile, percent_encoded};

use super::answer::{group_count_list, group_list};
use super::data::DataSets;
use super::expressions::{fixed, two};
use super::functions::{ITERATION, Sequence};
use crate::collection::Variable;
use crate::collection::url::filled;

/// The variable that holds whether the last sample of a thread was successful.
const LAST_SAMPLE_OK: &str = "JMeterThread.last_sample_ok";
/// Functions in functions, so deep.
pub(super) const DEPTH_MAX: usize = 16;

/// What names in texts stand for.
#[derive(Debug, Default)]
pub(super) struct Names<'e> {
    /// Columns of data files: the file and its column, by the plan's name.
    pub(super) columns: BTreeMap<String, (String, String)>,
    /// Variables that get values on the way.
    pub(super) set: BTreeSet<String>,
    /// The same by their names here.
    pub(super) varying: BTreeSet<String>,
    /// Those of them that hold whole numbers alone.
    pub(super) numbers: BTreeSet<String>,
    /// What variables are called here whose names would be those of others else.
    pub(super) renamed: BTreeMap<String, String>,
    /// Variables that have the same name here as another one of the plan.
    pub(super) namesakes: BTreeMap<String, String>,
    /// Variables whose values are not carried over, and why.
    pub(super) lost: BTreeMap<String, String>,
    /// Data files whose first lines name their columns: of a single one, whatever nothing else gives a value is one of them.
    pub(super) open_files: Vec<String>,
    /// Variables whose values are known.
    pub(super) known: Vec<Variable>,
    /// Values of properties.
    pub(super) properties: BTreeMap<String, String>,
    /// What the plan is called.
    pub(super) plan: String,
    /// What the machine is called, and its address.
    pub(super) machine: (String, String),
    /// Variables that are not in the environment.
    pub(super) unset: BTreeSet<String>,
    /// What texts of the plan name.
    pub(super) mentions: Mentions<'e>,
    /// Variables that hold all matches of an extractor.
    pub(super) lists: BTreeSet<String>,
    /// Variables whose parts a function numbers.
    pub(super) splits: BTreeSet<String>,
    /// How templates call the data files.
    pub(super) files: Vec<String>,
    /// Data sets of the plan.
    pub(super) data: DataSets<'e>,
    /// Those of which functions read columns, by their paths.
    pub(super) read_files: BTreeMap<String, String>,
    /// Those of them of which the group that is read has used rows.
    pub(super) rows_used: RefCell<BTreeSet<String>>,
    /// Those that a function reads line by line, for each place where it is called.
    pub(super) called_files: RefCell<Vec<DataFile>>,
    /// What has to be done behind the request that is read.
    pub(super) behind: RefCell<Vec<Item>>,
    /// The group that is read.
    pub(super) group: String,
    /// The sampler that is read.
    pub(super) sampler: String,
    /// What has to be computed before what is read, in order.
    pub(super) computed: RefCell<Vec<(String, Expression)>>,
    /// What else is done among that, each behind so many of those that are computed.
    pub(super) between: RefCell<Vec<(usize, Item)>>,
    /// Variables that count up from 0, by their own names here.
    pub(super) counters: RefCell<Vec<String>>,
    /// So many names were made up.
    pub(super) named: Cell<usize>,
    /// Whether users count their iterations.
    pub(super) counts_iterations: Cell<bool>,
    /// Files that functions write there.
    pub(super) unwritten: RefCell<BTreeSet<String>>,
    /// Names that nothing gives a value.
    pub(super) unknown: RefCell<BTreeSet<String>>,
    /// User-defined variables of lists that were not read yet, and in how many of these.
    pub(super) not_yet: BTreeMap<String, usize>,
    /// Those of them that were named all the same.
    pub(super) early: RefCell<Vec<String>>,
    /// Properties that users or their scripts set.
    pub(super) shared: BTreeSet<String>,
    /// The variables that hold properties which the plan sets itself, by the properties' names.
    pub(super) set_properties: BTreeMap<String, String>,
    /// Whether the group that is read comes before all others.
    pub(super) is_before: bool,
    /// Files that the plan names, as far as they were read.
    pub(super) included: Option<&'e BTreeMap<String, Result<String, String>>>,
    /// Variables that are made up and hold the same for ever.
    pub(super) made: RefCell<Vec<Variable>>,
    /// What values are called that scripts keep, by where these are and what they were.
    pub(super) kept: RefCell<BTreeMap<(usize, String), String>>,
    /// What functions have found in files, by these and their expressions.
    pub(super) sequences: RefCell<BTreeMap<(String, String), Sequence>>,
    /// The variable that holds the answer before, where a function looks at that.
    pub(super) answer_before: Option<String>,
}

impl Names<'_> {
    /// A text as a template.
    ///
    /// # Errors
    /// In words, if a function in it has no equal here.
    pub(super) fn template(&self, text: &str) -> Result<Template, String> {
        self.within(text, 0)
    }

    /// A text whose value is known now, without blanks around it.
    pub(super) fn literal(&self, text: &str) -> Option<String> {
        self.exact(text).map(|text| text.trim().to_owned())
    }

    /// A text whose value is known now, as it is.
    pub(super) fn exact(&self, text: &str) -> Option<String> {
        // What would have to be computed is not known.
        let template = self.tried(|| self.template(text));
        self.settled(&template.ok()?)
    }

    /// A setting that is understood before the load.
    ///
    /// # Errors
    /// In words, if a value in it is known only on the way.
    pub(super) fn setting(&self, text: &str) -> Result<String, String> {
        if !text.contains("${") {
            return Ok(text.to_owned());
        }
        self.exact(text).ok_or_else(|| format!("'{text}' holds values that are known only on the way, and it is understood before"))
    }

    /// What comes of reading something, without what would have to be computed for it.
    pub(super) fn tried<T>(&self, read: impl FnOnce() -> T) -> T {
        let before = (self.computed.borrow().len(), self.between.borrow().len(), self.called_files.borrow().len());
        let behind = self.behind.borrow().len();
        let given = read();
        self.computed.borrow_mut().truncate(before.0);
        self.between.borrow_mut().truncate(before.1);
        self.called_files.borrow_mut().truncate(before.2);
        self.behind.borrow_mut().truncate(behind);
        given
    }

    /// The text of a template that is the same each time, with the values that are known.
    pub(super) fn settled(&self, template: &Template) -> Option<String> {
        if template.variables().any(|name| self.varying.contains(name)) {
            return None;
        }
        let template = filled(template, &self.known);
        template.is_fixed().then(|| template.fixed_text())
    }

    /// What has to be done before what was read last.
    pub(super) fn taken(&self) -> Vec<Item> {
        let (mut computed, mut items, mut passed) = (self.computed.take(), Vec::new(), 0);
        for (at, item) in self.between.take() {
            let rest = computed.split_off((at - passed).min(computed.len()));
            let before = std::mem::replace(&mut computed, rest);
            passed = at;
            items.extend((!before.is_empty()).then_some(Item::Set(before)));
            items.push(item);
        }
        items.extend((!computed.is_empty()).then_some(Item::Set(computed)));
        items
    }

    /// Does something before what is read, behind what is computed so far.
    pub(super) fn do_before(&self, item: Item) {
        self.between.borrow_mut().push((self.computed.borrow().len(), item));
    }

    /// The variable that holds what is computed before what is read.
    pub(super) fn compute(&self, word: &str, expression: Expression) -> Template {
        let mut name = format!("{word}_{}", self.computed.borrow().len() + 1);
        while self.is_called(&name) {
            name.push('_');
        }
        self.computed.borrow_mut().push((name.clone(), expression));
        Value::Variable(name).into()
    }

    /// A name that nothing else has.
    pub(super) fn fresh(&self, word: &str) -> String {
        let number = self.named.get() + 1;
        self.named.set(number);
        let mut name = format!("{word}_{number}");
        while self.is_called(&name) {
            name.push('_');
        }
        name
    }

    /// Whether something in the plan has this name here.
    pub(super) fn is_called(&self, plain: &str) -> bool {
        self.varying.contains(plain) || self.known.iter().any(|known| known.name == plain)
    }

    /// A script as an expression: one that only compares, or one that computes with numbers.
    ///
    /// # Errors
    /// In words, if it does more.
    pub(super) fn expression(&self, script: &str, is_condition: bool) -> Result<Expression, String> {
        let written = with_variables(script);
        // What `vars` gives is a text there, which `+` puts together.
        let is_simple = is_comparison(&written) && (is_condition || !written.contains('/') && (written == script || !computes(&written)));
        if !is_simple {
            return Err(format!("'{}' is more than a comparison", script.trim()));
        }
        let template = self.template(&written)?;
        let typed = template.to_string();
        let mut variables: Vec<&str> = Vec::new();
        template.each_value(&mut |value| {
            if let Value::Variable(name) = value {
                variables.push(name);
            }
        });
        let called = self.called_files.borrow();
        let files: Vec<&str> = self.files.iter().chain(called.iter().map(|file| &file.name)).map(String::as_str).collect();
        let read = if is_condition { Expression::parse_condition } else { Expression::parse };
        read(&typed, &files, &variables).map_err(|mistakes| {
            let why = mistakes.first().map_or(String::new(), |mistake| format!(": {}", mistake.message));
            format!("'{}' is not understood{why}", script.trim())
        })
    }

    /// Whether a value that is known only on the way is always a whole number, as it is written in programs.
    pub(super) fn is_whole_number(&self, value: &Template) -> bool {
        let [Piece::Value(value)] = value.pieces() else { return false };
        match value {
            Value::Random { .. } | Value::Sequence { .. } => true,
            Value::Now { form: TimeForm::Usual(form), .. } => matches!(form, Moment::Unix | Moment::UnixMillis | Moment::UnixNanos),
            Value::Variable(name) => name == USER_NUMBER || name == ITERATION || self.numbers.contains(name) || self.is_counted(name),
            _ => false,
        }
    }

    /// Whether a variable counts before what is read.
    fn is_counted(&self, name: &str) -> bool {
        let is_count = |value: &Expression| matches!(value, Expression::Call(Function::Next | Function::Count | Function::Length, _));
        let computed = self.computed.borrow();
        self.counters.borrow().iter().any(|known| known == name) || computed.iter().any(|(known, value)| known == name && is_count(value))
    }

    /// Whether a property of JMeter's own is switched on.
    pub(super) fn is_property_on(&self, name: &str) -> bool {
        self.properties.get(name).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"))
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
        if name == LAST_SAMPLE_OK {
            return Some(Value::Variable(LAST_SUCCEEDED.to_owned()).into());
        }
        let plain = self.plain(name);
        (self.set.contains(name) || self.known.iter().any(|known| known.name == plain)).then(|| Value::Variable(plain).into())
    }

    /// Whether a script that is always the same holds; nothing of any other.
    pub(super) fn decided(&self, script: &str) -> Option<bool> {
        let known = self.literal(script)?;
        let (before, after) = known.split_once("==").or_else(|| known.split_once("!="))?;
        // More than one comparison is more than is seen here.
        if !is_comparison(&known) || after.contains(['=', '&', '|', '<', '>', '(']) || before.contains(['&', '|', '<', '>', '(', '!']) {
            return None;
        }
        // A text in quotation marks, a number or a truth; anything else is computed.
        let bare = |text: &str| {
            let text = text.trim();
            let inner = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
            let is_value = inner.is_some() || text.parse::<f64>().is_ok() || matches!(text, "true" | "false");
            is_value.then(|| inner.unwrap_or(text).to_owned())
        };
        let (one, other) = (bare(before)?, bare(after)?);
        let is_same = match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => one == other,
            _ => one == other,
        };
        Some(is_same != known.contains("!="))
    }

    pub(super) fn within(&self, text: &str, depth: usize) -> Result<Template, String> {
        if depth > DEPTH_MAX {
            return Err("functions stand in it too deep".to_owned());
        }
        let mut written = Template::default();
        let mut rest = text;
        // An argument of a function is read as what holds a value.
        let has_values = depth > 0 || text.contains("${");
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
            written.append(if is_call(inner) { self.function(inner, depth)? } else { self.named(inner)? });
            rest = &rest[at + 2 + length + 1..];
        }
        written.push(&plain(rest, has_values));
        Ok(written)
    }

    fn named(&self, name: &str) -> Result<Template, String> {
        let plain = name.trim();
        if let Some(other) = self.namesakes.get(plain) {
            return Err(format!("the variable '{plain}' has no value here: '{other}' is called the same; give one of them another name"));
        }
        if let Some(value) = self.valued(plain) {
            return Ok(value);
        }
        if self.not_yet.contains_key(plain) {
            self.early.borrow_mut().push(plain.to_owned());
            return Ok(Template::fixed(format!("${{{name}}}")));
        }
        if let Some(why) = self.lost.get(plain) {
            return Err(format!("the variable '{plain}' has no value here: {why}"));
        }
        match self.open_files.as_slice() {
            [] => {}
            [file] => return Ok(Value::Column { file: file.clone(), column: plain.to_owned() }.into()),
            _ => {
                let why = "several data files name their columns themselves; write the names into 'Variable Names'";
                return Err(format!("the variable '{plain}' has no value here: {why}"));
            }
        }
        if !self.unknown.borrow().contains(plain) && self.may_be_set(plain) {
            return Err(format!("the variable '{plain}' has no value here: what gives it one is not carried over"));
        }
        self.unknown.borrow_mut().insert(plain.to_owned());
        Ok(Template::fixed(format!("${{{name}}}")))
    }

    /// What a name stands for, one of several matches too; nothing if nothing gives it a value.
    pub(super) fn valued(&self, name: &str) -> Option<Template> {
        self.value(name).or_else(|| self.part(name))
    }

    /// All that a name stands for, of which each has a number.
    pub(super) fn list(&self, name: &str) -> Expression {
        Expression::Text(if self.splits.contains(name) { self.variable(&list_name(name)) } else { self.variable(name) })
    }

    /// The parts of a text that is split into this name which the plan names, with their numbers.
    pub(super) fn split_parts(&self, name: &str) -> Vec<(&str, u32)> {
        let beginning = format!("{name}_");
        let number = |part: &str| part.strip_prefix(beginning.as_str())?.parse().ok().filter(|number| *number > 0);
        let references = self.mentions.references.range::<str, _>((Bound::Included(beginning.as_str()), Bound::Unbounded));
        references.take_while(|part| part.starts_with(beginning.as_str())).filter_map(|part| Some((*part, number(part)?))).collect()
    }

    /// How many matches an extractor has found, or one of them by its number.
    fn part(&self, name: &str) -> Option<Template> {
        let (list, part) = name.rsplit_once('_')?;
        if let (Some(group), Some((list, number))) = (part.strip_prefix('g'), list.rsplit_once('_')) {
            let groups = if group.is_empty() { group_count_list(list) } else { group_list(list, group.parse().ok()?) };
            let number: u32 = number.parse().ok().filter(|number| *number > 0)?;
            return self.lists.contains(&groups).then(|| self.compute("match", numbered(self.list(&groups), number, name, |item| item)));
        }
        if !self.lists.contains(list) {
            return None;
        }
        if part == "matchNr" {
            return Some(self.compute("count", Expression::Call(Function::Count, vec![self.list(list)])));
        }
        let number: u32 = part.parse().ok().filter(|number| *number > 0)?;
        Some(self.compute("match", numbered(self.list(list), number, name, |item| item)))
    }

    /// Whether something that is not carried over may give a variable a value: a script or a function that names it, a part of what an
    /// extractor found, or JMeter itself.
    fn may_be_set(&self, name: &str) -> bool {
        let is_a_part = name.match_indices('_').any(|(at, _)| self.set.contains(&name[..at]) || self.lost.contains_key(&name[..at]));
        let is_own = ["JMeter", "__jm__", "START.", "TESTSTART.", "COOKIE_"].iter().any(|beginning| name.starts_with(beginning));
        is_own || is_a_part || self.mentions.has(name)
    }
}

/// Whether a value is what a function gives, and not what a loop tells of itself.
fn is_call(inner: &str) -> bool {
    inner.starts_with("__") && !inner.starts_with("__jm__")
}

/// The variable that holds all parts of a text that is split.
pub(super) fn list_name(name: &str) -> String {
    format!("{name}_list")
}

/// What `shown` makes of what is at a place of a list, from 1; the name with its braces where the list is shorter, as JMeter does.
pub(super) fn numbered(list: Expression, number: u32, name: &str, shown: impl FnOnce(Expression) -> Expression) -> Expression {
    let has = two(Expression::Call(Function::Count, vec![list.clone()]), Operator::AtLeast, fixed(number));
    let item = Expression::Call(Function::Item, vec![list, fixed(number - 1)]);
    Expression::Call(Function::If, vec![has, shown(item), Expression::Text(Template::fixed(format!("${{{name}}}")))])
}

/// What the texts of a plan name: variables in their braces, and all other words, of which one may be a variable that a script sets.
///
/// Looking for each name in all texts would take as long as the plan is large, for each of its names; so words are told apart once.
#[derive(Debug, Default)]
pub(super) struct Mentions<'e> {
    /// Names in braces.
    pub(super) references: BTreeSet<&'e str>,
    words: BTreeSet<&'e str>,
    /// What a call of a function gives a value: the function, and its arguments.
    pub(super) calls: Vec<(&'e str, Vec<&'e str>)>,
}

impl<'e> Mentions<'e> {
    /// Takes up a text.
    pub(super) fn add(&mut self, text: &'e str) {
        // Places behind braces that are open, of values and of others.
        let mut open: Vec<Option<usize>> = Vec::new();
        let (mut word, mut passed) = (None, 0);
        let bytes = text.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            let is_letter = byte.is_ascii_alphanumeric() || b"_-.".contains(byte) || !byte.is_ascii();
            if !is_letter {
                self.add_word(word.take().map_or("", |from| &text[from..at]));
            }
            match byte {
                b'{' => {
                    let is_value = at > 0 && bytes[at - 1] == b'$';
                    passed = if is_value { at + 1 + plain_name(&text[at + 1..]) } else { passed };
                    open.push(is_value.then_some(at + 1));
                }
                b'}' => {
                    if let Some(Some(from)) = open.pop() {
                        self.add_value(&text[from..at], open.len());
                    }
                }
                _ if is_letter && word.is_none() && at >= passed => word = Some(at),
                _ => {}
            }
        }
        self.add_word(word.map_or("", |from| &text[from..]));
    }

    fn add_word(&mut self, word: &'e str) {
        if word.is_empty() {
            return;
        }
        self.words.insert(word);
        if word.contains(['.', '-']) {
            self.words.extend(word.split(['.', '-']));
        }
    }

    fn add_value(&mut self, inner: &'e str, depth: usize) {
        if !is_call(inner) {
            self.references.insert(inner.trim());
        } else if depth <= DEPTH_MAX {
            let (name, arguments) = call(inner);
            self.calls.push((name, arguments));
        }
    }

    /// Whether a text names this, in braces or otherwise.
    pub(super) fn names(&self, name: &str) -> bool {
        self.references.contains(name) || self.has(name)
    }

    /// Whether a text names this otherwise than in braces.
    fn has(&self, name: &str) -> bool {
        let is_word = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte) || !byte.is_ascii());
        // A name with blanks is in no script that would tell it from others.
        if is_word { self.words.contains(name) } else { name.split_whitespace().all(|word| self.words.contains(word)) }
    }
}

/// A text as Java writes it in forms and queries: a blank is +, `*` stays and `~` does not.
pub(super) fn form_encoded(text: &str) -> String {
    as_in_forms(&percent_encoded(text))
}

/// A percent-encoded text with the same signs encoded as Java does in forms.
pub(super) fn as_in_forms(encoded: &str) -> String {
    encoded.replace("%20", "+").replace('~', "%7E").replace("%2A", "*")
}

/// How long the name is that stands there, up to the brace that closes it; nothing of what is more than a name.
fn plain_name(text: &str) -> usize {
    let end = text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || b"_-. ".contains(&byte) || !byte.is_ascii()));
    end.filter(|end| text.as_bytes()[*end] == b'}' && !text.starts_with("__")).unwrap_or(0)
}

/// The name of a function and its arguments.
pub(super) fn call(inner: &str) -> (&str, Vec<&str>) {
    match inner.split_once('(') {
        Some((name, arguments)) => (name.trim(), split(arguments.trim_end().strip_suffix(')').unwrap_or(arguments))),
        None => (inner.trim(), Vec::new()),
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
pub(super) fn closing(text: &str) -> Option<usize> {
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

/// Whether a script only compares: it calls nothing, and what stands outside of quotation marks means the same here.
fn is_comparison(script: &str) -> bool {
    let (mut outside, mut rest) = (String::new(), script);
    while let Some(letter) = rest.chars().next() {
        let behind = &rest[letter.len_utf8()..];
        let end = match letter {
            '"' | '\'' => behind.find(letter).map(|at| at + 1),
            '$' if behind.starts_with('{') => closing(&behind[1..]).map(|at| at + 2),
            _ => {
                outside.push(letter);
                Some(0)
            }
        };
        let Some(end) = end else { return false };
        // What was passed over parts words.
        outside.push_str(if end > 0 { " \u{1} " } else { "" });
        rest = &behind[end..];
    }
    let has_texts = script.contains(['"', '\'']);
    let is_known = |letter: char| {
        letter.is_ascii_alphanumeric()
            || letter.is_ascii_whitespace()
            || "\u{1}()!&|=<>-*/%._".contains(letter)
            || letter == '+' && !has_texts
    };
    // A name, a call or a member is something else there; numbers have a point between digits.
    let words =
        outside.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.' || letter == '_')).filter(|word| !word.is_empty());
    let mut words = words.filter(|word| word.parse::<f64>().is_err() || word.starts_with(|letter: char| letter.is_ascii_alphabetic()));
    outside.chars().all(is_known) && !outside.contains("=~") && words.all(|word| matches!(word, "true" | "false" | "and" | "or" | "not"))
}

/// A script with `${name}` in the place of what asks for a variable.
fn with_variables(script: &str) -> String {
    let mut written = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find("vars.get(") {
        let behind = &rest[at + "vars.get(".len()..];
        let quote = behind.chars().next().filter(|letter| "\"'".contains(*letter));
        let name = quote.and_then(|quote| behind[1..].split_once(quote)).filter(|(_, after)| after.starts_with(')'));
        written.push_str(&rest[..at]);
        match name {
            Some((name, after)) => {
                written.push_str(&format!("${{{name}}}"));
                rest = &after[1..];
            }
            None => {
                written.push_str("vars.get(");
                rest = behind;
            }
        }
    }
    written + rest
}

/// Whether a script computes with what stands in it.
fn computes(script: &str) -> bool {
    script.contains(['+', '-', '*', '%'])
}
