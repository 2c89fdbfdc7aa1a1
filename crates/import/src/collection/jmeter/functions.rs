//! Functions of a test plan as values of templates, and as what is computed before a request.
//!
//! JMeter's functions stand in the middle of texts, and some also set a variable. A template has values for what is drawn anew (numbers,
//! texts, days, the time), and an expression computes whatever is made of other values; what it is computed into is set right before the
//! request that names it, as JMeter has it. A language of functions in templates was the alternative, and a second one beside that of
//! expressions.
//!
//! Invariant: a function that has no equal is told by its name, and nothing is sent with something else in its place.

mod found;
mod properties;
mod texts;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use groovy::Language;
use plan::template::{Day, Form, LETTERS_AND_DIGITS, Moment, Piece, RANDOM_LETTERS_MAX, Template, TimeForm, Value};
use plan::work::{Expression, Function, Item, Operator, Script, USER_NUMBER};
use plan::{Charset, DataFile, RowForm};

use super::data::free_file_name;
use super::expressions::{fixed, held, two};
use super::text::{Names, call, form_encoded, list_name, numbered};
use super::{Reading, Wishes, scripts, times, trees};

pub(super) use found::{Sequence, looks_back, parts_of_match};

/// The variables of the environment for which a plan, or one that it includes, has a default.
pub(in super::super) fn variables_with_default(text: &str, wishes: &Wishes) -> BTreeSet<String> {
    let mut texts = std::iter::once(text).chain(wishes.included.values().flatten().map(String::as_str));
    if !texts.any(|text| text.contains("__env(")) {
        return BTreeSet::new();
    }
    let Ok((plan, included)) = trees(text, wishes) else { return BTreeSet::new() };
    let mut reading = Reading::new(&plan, &included, wishes);
    reading.variables(wishes, &BTreeMap::new());
    let calls = reading.names.mentions.calls.iter().filter(|(function, arguments)| *function == "__env" && arguments.len() > 2);
    calls.filter_map(|(_, arguments)| reading.names.literal(arguments[0])).filter(|name| !name.is_empty()).collect()
}

/// Whole numbers by chance, of which a share is taken where the range is known only on the way.
pub(super) const CHANCE_MAX: i64 = (1 << 53) - 1;

/// What a function becomes.
enum Outcome {
    /// Written in its place.
    Text(Template),
    /// Computed before, into a variable of such a name.
    Computed(&'static str, Expression),
    /// What a program returns that is run before.
    Script(Box<Script>),
}

impl From<Template> for Outcome {
    fn from(text: Template) -> Self {
        Self::Text(text)
    }
}

impl From<Value> for Outcome {
    fn from(value: Value) -> Self {
        Self::Text(value.into())
    }
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

/// A function as it is called in a text.
struct Call<'n, 't> {
    names: &'n Names<'n>,
    name: &'t str,
    arguments: Vec<&'t str>,
    depth: usize,
    /// Arguments that were read: what is computed for one is computed once.
    read: RefCell<BTreeMap<usize, Template>>,
}

/// The variables that a call gives values, by the function's arguments; what is itself a value is known only on the way.
pub(super) fn assigned<'t>(name: &str, arguments: &[&'t str]) -> Option<&'t str> {
    let last = arguments.len().checked_sub(1)?;
    let place = match name {
        "__samplerName" | "__machineName" | "__machineIP" => 0,
        "__time"
        | "__property"
        | "__base64Encode"
        | "__base64Decode"
        | "__StringFromFile"
        | "__counter"
        | "__uppercase"
        | "__lowercase"
        | "__MD5"
        | "__strLen"
        | "__split"
        | "__escapeOroRegexpChars"
        | "__RandomFromMultipleVars" => 1,
        "__Random" | "__RandomString" | "__FileToString" | "__changeCase" | "__caseFormat" => 2,
        "__dateTimeConvert" | "__substring" | "__strReplace" | "__strReplaceRegex" => 3,
        "__RandomDate" | "__digest" | "__if" => 4,
        "__regexFunction" => 5,
        "__timeShift" => last.clamp(3, 4),
        "__chooseRandom" => last,
        // The last of them is a number, or the name of a variable.
        "__intSum" | "__longSum" | "__doubleSum" if arguments[last].trim().parse::<f64>().is_err() => last,
        "__groovy" | "__jexl2" | "__jexl3" | "__javaScript" | "__BeanShell" | "__env" => 1,
        _ => return None,
    };
    arguments.get(place).map(|variable| variable.trim()).filter(|variable| !variable.is_empty() && !variable.contains("${"))
}

impl Names<'_> {
    /// A function with its arguments, as they stand between the braces.
    ///
    /// # Errors
    /// In words, if it has no equal.
    pub(super) fn function(&self, inner: &str, depth: usize) -> Result<Template, String> {
        let (name, arguments) = call(inner);
        let into = assigned(name, &arguments);
        let outcome = Call { names: self, name, arguments: arguments.clone(), depth, read: RefCell::default() }.outcome()?;
        // What splits a text, or looks for something in it, gives that to its variables by itself.
        let into = into.filter(|_| !matches!(name, "__split" | "__regexFunction"));
        Ok(match (outcome, into) {
            (Outcome::Text(text), None) => text,
            (Outcome::Computed(word, expression), None) => self.compute(word, expression),
            (Outcome::Text(text), Some(name)) => self.set_now(name, Expression::Text(text)),
            (Outcome::Computed(_, expression), Some(name)) => self.set_now(name, expression),
            (Outcome::Script(script), into) => {
                let into = into.map_or_else(|| self.fresh("script"), |name| self.plain(name));
                let script = Script { name: format!("the script of {name}"), into: Some(into.clone()), may_fail: true, ..*script };
                self.do_before(Item::Script(Box::new(script)));
                Value::Variable(into).into()
            }
        })
    }

    fn set_now(&self, name: &str, expression: Expression) -> Template {
        self.computed.borrow_mut().push((self.plain(name), expression));
        self.variable(name)
    }
}

impl Call<'_, '_> {
    fn unfit<T>(&self, why: &str) -> Result<T, String> {
        Err(format!("the function {}: {why}", self.name))
    }

    /// An argument as it stands; empty if there is none.
    fn raw(&self, place: usize) -> &str {
        self.arguments.get(place).copied().unwrap_or_default()
    }

    fn text(&self, place: usize) -> Result<Template, String> {
        if let Some(text) = self.read.borrow().get(&place) {
            return Ok(text.clone());
        }
        let text = self.names.within(self.raw(place), self.depth + 1)?;
        self.read.borrow_mut().insert(place, text.clone());
        Ok(text)
    }

    /// An argument that is known now.
    fn known(&self, place: usize) -> Result<Option<String>, String> {
        Ok(self.names.settled(&self.text(place)?))
    }

    /// An argument that must be known now, without the blanks around it.
    fn fixed(&self, place: usize) -> Result<String, String> {
        match self.known(place)? {
            Some(text) => Ok(text.trim().to_owned()),
            None => self.unfit("it is given a value that is known only on the way"),
        }
    }

    fn value(&self, place: usize) -> Result<Expression, String> {
        let text = self.text(place)?;
        Ok(Expression::Text(self.names.settled(&text).map_or(text, Template::fixed)))
    }

    /// An argument that is a number.
    fn number(&self, place: usize) -> Result<Expression, String> {
        match self.known(place)? {
            Some(text) if text.trim().parse::<f64>().is_ok_and(f64::is_finite) => Ok(fixed(text.trim())),
            Some(text) => self.unfit(&format!("'{text}' is no number")),
            None => self.value(place),
        }
    }

    /// A text that is changed: now if it is known, else when it is.
    fn changed(&self, function: Function, now: impl Fn(&str) -> String) -> Result<Outcome, String> {
        Ok(match self.known(0)? {
            Some(text) => now(&text).into(),
            None => Outcome::Computed("text", Expression::Call(function, vec![self.value(0)?])),
        })
    }

    fn of_machine(&self, known: &str) -> Result<Outcome, String> {
        if known.is_empty() { self.unfit("that is not known of this machine") } else { Ok(known.to_owned().into()) }
    }

    fn coded(&self, function: Function, word: &'static str) -> Result<Outcome, String> {
        Ok(Outcome::Computed("text", Expression::Call(function, vec![self.value(0)?, fixed(word)])))
    }

    fn outcome(&self) -> Result<Outcome, String> {
        let names = self.names;
        match self.name {
            "__UUID" => Ok(Value::Uuid.into()),
            "__Random" => self.random(),
            "__RandomString" => self.random_text(),
            "__RandomDate" => self.random_date(),
            "__RandomFromMultipleVars" => self.random_variable(),
            "__chooseRandom" => {
                let [choices @ .., _] = &self.arguments[..] else {
                    return self.unfit("it wants values, and the name of a variable or nothing");
                };
                let choices: Result<Vec<Piece>, String> = (0..choices.len()).map(|place| self.piece(place)).collect();
                Ok(Value::Choice(choices?).into())
            }
            "__time" => self.time(),
            "__timeShift" => self.shifted_time(),
            "__dateTimeConvert" => self.converted_time(),
            "__P" | "__property" => self.property(),
            "__isPropDefined" => self.is_property(),
            "__V" => self.variable(),
            "__eval" => self.text(0).and_then(|text| self.whole(text)),
            "__evalVar" => match names.value(&self.fixed(0)?) {
                Some(value) => self.whole(value),
                None => self.unfit(&format!("nothing gives '{}' a value", self.raw(0).trim())),
            },
            "__isVarDefined" => self.is_defined(("true", "false")),
            "__isDefined" => self.is_defined(("1", "0")),
            "__env" => match self.fixed(0)? {
                name if names.unset.contains(&name) && self.arguments.len() > 2 => Ok(self.text(2)?.into()),
                name => Ok(Value::Env(name).into()),
            },
            "__TestPlanName" => Ok(names.plan.clone().into()),
            "__machineName" => self.of_machine(&names.machine.0),
            "__machineIP" => self.of_machine(&names.machine.1),
            "__threadGroupName" => Ok(names.group.clone().into()),
            "__samplerName" => Ok(names.sampler.clone().into()),
            "__threadNum" => Ok(Value::Variable(USER_NUMBER.to_owned()).into()),
            "__iterationNum" => {
                names.counts_iterations.set(true);
                Ok(Value::Variable(ITERATION.to_owned()).into())
            }
            "__counter" => self.counter(),
            "__intSum" | "__longSum" | "__doubleSum" => self.sum(),
            "__uppercase" => self.changed(Function::Upper, str::to_uppercase),
            "__lowercase" => self.changed(Function::Lower, str::to_lowercase),
            "__changeCase" => match self.fixed(1)?.to_ascii_uppercase().as_str() {
                "" | "UPPER" => self.changed(Function::Upper, str::to_uppercase),
                "LOWER" => self.changed(Function::Lower, str::to_lowercase),
                "CAPITALIZE" => Ok(Outcome::Computed("text", Expression::Call(Function::Capitalize, vec![self.value(0)?]))),
                way => self.unfit(&format!("'{way}' is none of UPPER, LOWER and CAPITALIZE")),
            },
            "__strLen" => self.changed(Function::Length, |text| text.chars().count().to_string()),
            "__substring" => {
                Ok(Outcome::Computed("text", Expression::Call(Function::Substring, vec![self.value(0)?, self.number(1)?, self.number(2)?])))
            }
            "__split" => self.split(),
            "__regexFunction" => self.matched(),
            "__XPath" => self.next_of_file(),
            "__if" => self.chosen(),
            "__digest" => {
                let mut message = self.text(1)?;
                message.append(self.text(2)?);
                self.digest(&self.fixed(0)?, message)
            }
            "__MD5" => self.digest("MD5", self.text(0)?),
            "__escapeHtml" => self.coded(Function::Encode, "html"),
            "__unescapeHtml" => self.coded(Function::Decode, "html"),
            "__escapeXml" => self.coded(Function::Encode, "xml"),
            "__urldecode" => self.coded(Function::Decode, "form"),
            "__base64Decode" => self.coded(Function::Decode, "base64"),
            "__base64Encode" => Ok(Value::Base64(self.text(0)?.pieces().to_vec()).into()),
            "__urlencode" => match self.known(0)? {
                Some(text) => Ok(form_encoded(&text).into()),
                None => self.coded(Function::Encode, "form"),
            },
            "__FileToString" => {
                let charset = Some(self.fixed(1)?).filter(|name| !name.is_empty()).map_or(Ok(None), |name| Charset::named(&name));
                let charset = charset.or_else(|why| self.unfit(&why))?;
                Ok(Value::File(self.fixed(0)?, charset).into())
            }
            "__StringFromFile" => {
                if !self.raw(2).trim().is_empty() || !self.raw(3).trim().is_empty() {
                    return self.unfit("it reads several files, one after the other; put them together into one");
                }
                self.next_line()
            }
            "__CSVRead" => match self.fixed(1)?.as_str() {
                "next" | "next()" => {
                    // Columns stand before it, and are those of the row at hand.
                    names.behind.borrow_mut().push(Item::NextRow(self.file_read()?));
                    Ok(Template::default().into())
                }
                column => match column.parse::<usize>() {
                    Ok(column) => Ok(Value::Column { file: self.file_read()?, column: format!("column_{column}") }.into()),
                    Err(_) => self.unfit(&format!("'{column}' is neither the number of a column nor next")),
                },
            },
            "__StringToFile" => {
                let path = self.known(0)?.unwrap_or_else(|| self.raw(0).to_owned());
                names.unwritten.borrow_mut().insert(path.trim().to_owned());
                // What is written may be worth computing for what it gives to variables.
                self.text(1)?;
                Ok("true".to_owned().into())
            }
            "__char" => self.letters(),
            "__escapeOroRegexpChars" => self.escaped(),
            "__caseFormat" => self.in_words(),
            // The plugin gives two functions the first name, of which the one with regular expressions is there; nothing of it has the second.
            "__strReplace" | "__strReplaceRegex" => self.rewritten(),
            "__unescape" => self.unescaped(),
            "__setProperty" => self.set_property(),
            "__log" => Ok(self.text(0)?.into()),
            "__logn" => Ok(Template::default().into()),
            "__groovy" | "__jexl2" | "__jexl3" | "__javaScript" | "__BeanShell" => {
                let script = self.raw(0).replace("\\,", ",");
                if let Some(known) = scripts::said_of_files(&script) {
                    return Ok(known.to_owned().into());
                }
                if let Some(expression) = names.expression(&script, false).ok().filter(|expression| !expression.is_fixed()) {
                    return Ok(Outcome::Computed("value", expression));
                }
                let language = scripts::language_of_function(self.name).unwrap_or(Language::Groovy);
                match names.script(&script, language, scripts::Values::Each, false).map(|(script, _)| script) {
                    Ok(script) => Ok(Outcome::Script(Box::new(script))),
                    Err(wrong) => self.unfit(&wrong.into_iter().map(|(_, why)| why).collect::<Vec<_>>().join("; ")),
                }
            }
            "__fifoPut" | "__fifoPop" | "__fifoGet" | "__fifoSize" => self.unfit(
                "queues that all users share are not carried over; put the values into a data file, of which each user takes the next row (CSV Data Set Config)",
            ),
            _ => self.unfit("it is not carried out here; give its result as a user-defined variable"),
        }
    }

    /// The file of which the function reads columns.
    fn file_read(&self) -> Result<String, String> {
        let Some(file) = self.names.read_files.get(&self.fixed(0)?) else {
            return self.unfit("the name of its file is not known before the load");
        };
        self.names.rows_used.borrow_mut().insert(file.clone());
        Ok(file.clone())
    }

    /// The next line of a file, which each place that calls the function reads by itself, for all users together.
    fn next_line(&self) -> Result<Outcome, String> {
        let path = self.fixed(0)?;
        if path.is_empty() {
            return self.unfit("the name of its file is not known before the load");
        }
        let names = self.names;
        let is_taken = |name: &str| {
            let is_called = |file: &DataFile| file.name == name;
            names.files.iter().any(|known| known == name) || names.is_called(name) || names.called_files.borrow().iter().any(is_called)
        };
        let file = free_file_name(&path, is_taken);
        let form = RowForm { quotes: false, ..RowForm::default() };
        names.called_files.borrow_mut().push(DataFile { header: Some("line".to_owned()), form, ..DataFile::of(&file, &path) });
        names.do_before(Item::NextRow(file.clone()));
        Ok(Value::Column { file, column: "line".to_owned() }.into())
    }

    /// An argument as the only piece of a text.
    fn piece(&self, place: usize) -> Result<Piece, String> {
        match self.text(place)?.pieces() {
            [] => Ok(Piece::Text(String::new())),
            [only] => Ok(only.clone()),
            _ => self.unfit("it is given texts with values in them"),
        }
    }

    fn random(&self) -> Result<Outcome, String> {
        if let (Some(low), Some(high)) = (self.known(0)?, self.known(1)?) {
            return match (low.trim().parse::<i64>(), high.trim().parse::<i64>()) {
                (Ok(low), Ok(high)) if low <= high && high.abs_diff(low) <= CHANCE_MAX.unsigned_abs() => {
                    Ok(Value::Random { low, high }.into())
                }
                _ => self.unfit("it wants two whole numbers, the smaller first"),
            };
        }
        let (low, high) = (self.number(0)?, self.number(1)?);
        let count = two(two(high, Operator::Minus, low.clone()), Operator::Plus, fixed("1"));
        let drawn = Expression::Text(Value::Random { low: 0, high: CHANCE_MAX }.into());
        Ok(Outcome::Computed("number", two(low, Operator::Plus, two(drawn, Operator::Modulo, count))))
    }

    fn random_text(&self) -> Result<Outcome, String> {
        let length = self.fixed(0)?.parse().ok().filter(|length| (1..=RANDOM_LETTERS_MAX).contains(length));
        let Some(length) = length else { return self.unfit("it wants a number of letters") };
        let letters = Some(self.fixed(1)?).filter(|letters| !letters.is_empty()).unwrap_or_else(|| LETTERS_AND_DIGITS.to_owned());
        Ok(Value::RandomText { length, letters }.into())
    }

    fn random_date(&self) -> Result<Outcome, String> {
        let form = self.form(0, 3)?.unwrap_or_else(Form::of_days);
        let day = |place: usize| -> Result<Day, String> {
            let text = self.fixed(place)?;
            let day = times::converted(&text, Some(&form), 0, Some(&Form::of_days())).and_then(|day| day.parse().ok());
            day.map_or_else(|| self.unfit(&format!("'{text}' is no day in its form; give the first and the last")), Ok)
        };
        let (first, end) = (day(1)?, day(2)?);
        // The last day that it is given is never drawn.
        let last = times::converted(&end.to_string(), Some(&Form::of_days()), -86_400, Some(&Form::of_days()));
        match last.and_then(|last| last.parse::<Day>().ok()) {
            Some(last) if first <= last => Ok(Value::RandomDate { first, last, form }.into()),
            _ => self.unfit("its last day must be behind its first"),
        }
    }

    fn random_variable(&self) -> Result<Outcome, String> {
        let variables = self.fixed(0)?;
        let choices: Option<Vec<Piece>> = variables
            .split('|')
            .filter(|name| !name.is_empty())
            .map(|name| match self.names.value(name.trim())?.pieces() {
                [only] if !self.names.lists.contains(name.trim()) => Some(only.clone()),
                _ => None,
            })
            .collect();
        match choices {
            Some(choices) if !choices.is_empty() => Ok(Value::Choice(choices).into()),
            _ => self.unfit(&format!("one of '{variables}' has no single value here")),
        }
    }

    /// A form of times, if there is one. Names of days and months are English.
    fn form(&self, place: usize, locale: usize) -> Result<Option<Form>, String> {
        let pattern = self.fixed(place)?;
        if pattern.is_empty() {
            return Ok(None);
        }
        let form = times::form(&pattern).or_else(|why| self.unfit(&why))?;
        let locale = self.fixed(locale)?;
        let has_names = ["%a", "%A", "%b", "%B"].iter().any(|name| form.text().contains(name));
        if has_names && !locale.is_empty() && !locale.starts_with("en") {
            return self.unfit("names of days and months are written in English alone");
        }
        Ok(Some(form))
    }

    fn time(&self) -> Result<Outcome, String> {
        let now = |form: TimeForm| Value::Now { form, shift: 0 };
        let pattern = self.fixed(0)?;
        match pattern.strip_prefix('/').and_then(|by| by.parse::<u32>().ok()).filter(|by| *by > 0) {
            Some(1000) => Ok(now(TimeForm::Usual(Moment::Unix)).into()),
            Some(by) => {
                let milliseconds = Expression::Text(now(TimeForm::Usual(Moment::UnixMillis)).into());
                let divided = two(milliseconds, Operator::Over, fixed(by));
                Ok(Outcome::Computed("time", Expression::Call(Function::Int, vec![divided])))
            }
            None => Ok(now(self.form(0, usize::MAX)?.map_or(TimeForm::Usual(Moment::UnixMillis), TimeForm::Written)).into()),
        }
    }

    fn shifted_time(&self) -> Result<Outcome, String> {
        let locale = if self.arguments.len() > 4 { 3 } else { usize::MAX };
        let form = self.form(0, locale)?;
        let shift = match self.fixed(2)?.as_str() {
            "" => 0,
            text => match times::seconds(text) {
                Some(seconds) => seconds,
                None => return self.unfit(&format!("'{text}' is no duration of days and smaller, such as P1D or PT-5M")),
            },
        };
        let moment = self.text(1)?;
        if moment.is_empty() {
            let form = form.map_or(TimeForm::Usual(Moment::UnixMillis), TimeForm::Written);
            return Ok(Value::Now { form, shift }.into());
        }
        match (self.names.settled(&moment), &form) {
            (Some(known), _) => match times::converted(&known, form.as_ref(), shift, form.as_ref()) {
                Some(text) => Ok(text.into()),
                None => self.unfit(&format!("'{known}' is no time in its form")),
            },
            (None, None) => Ok(Outcome::Computed("time", two(Expression::Text(moment), Operator::Plus, fixed(shift.saturating_mul(1000))))),
            (None, Some(_)) => self.converted_later(moment, [0, 0], shift, "System.currentTimeMillis()"),
        }
    }

    /// A time that is known only on the way in another form, so many seconds later. `forms` are the places of the arguments that say how it is
    /// written, without which it is in milliseconds; `otherwise` is the time of what is none, in Groovy.
    fn converted_later(&self, moment: Template, forms: [usize; 2], shift: i64, otherwise: &str) -> Result<Outcome, String> {
        let [from, to] = [self.fixed(forms[0])?, self.fixed(forms[1])?];
        let form = |name: &str| format!("new java.text.SimpleDateFormat(vars.get('{name}'))");
        // What is written otherwise than its form has it is no time there; only zones may be other ones.
        let holds = if from.contains(['Z', 'z', 'X', 'x']) { "true" } else { "form.format(day) == vars.get('a time')" };
        let read = if from.is_empty() {
            "time = vars.get('a time') as long".to_owned()
        } else {
            format!("def form = {}\ndef day = form.parse(vars.get('a time'))\nif ({holds}) time = day.getTime()", form("its form"))
        };
        let written = if to.is_empty() { "time as String".to_owned() } else { format!("{}.format(new Date(time))", form("another form")) };
        let shift = shift.saturating_mul(1000);
        let text = format!(
            "def time = {otherwise}\ntry {{ {read}\n}} catch (Exception e) {{ }}\nif (time == null) return ''\ntime = time + {shift}\nreturn {written}"
        );
        self.by_script(&text, [("a time", moment), ("its form", Template::fixed(from)), ("another form", Template::fixed(to))])
    }

    fn converted_time(&self) -> Result<Outcome, String> {
        let (from, to) = (self.form(1, usize::MAX)?, self.form(2, usize::MAX)?);
        let [read, written] = [self.fixed(1)?, self.fixed(2)?].map(|pattern| times::says_time_of_day(&pattern));
        if from.is_some() && written && !read {
            // A day has none.
            return Ok(String::new().into());
        }
        let Some(moment) = self.known(0)?.map(|moment| moment.trim().to_owned()) else {
            return self.converted_later(self.text(0)?, [1, 2], 0, "null");
        };
        match times::converted(&moment, from.as_ref(), 0, to.as_ref()) {
            Some(text) => Ok(text.into()),
            None => self.unfit(&format!("'{moment}' is no time in its form")),
        }
    }

    /// The variable of a name that is put together.
    fn variable(&self) -> Result<Outcome, String> {
        let name = self.text(0)?;
        if let Some(name) = self.names.settled(&name) {
            return match (self.names.valued(&name), self.arguments.get(1)) {
                (Some(value), _) => Ok(value.into()),
                (None, Some(_)) => Ok(self.text(1)?.into()),
                (None, None) => Ok(name.into()),
            };
        }
        // One of several that were found, by its number.
        let Some((list, number)) = name.beginning().and_then(|text| text.strip_suffix('_')).zip(name.pieces().get(1..)) else {
            return self.unfit("the name of its variable is known only on the way");
        };
        if !self.names.lists.contains(list) && !self.names.splits.contains(list) {
            return self.unfit("the name of its variable is known only on the way");
        }
        let place = two(Expression::Text(Template::of(number.iter().cloned())), Operator::Minus, fixed("1"));
        Ok(Outcome::Computed("match", Expression::Call(Function::Item, vec![self.names.list(list), place])))
    }

    /// A text whose own values are looked for: those of a file are not known here.
    fn whole(&self, text: Template) -> Result<Outcome, String> {
        // What is known may name variables that were none where it was written.
        let text = match self.names.settled(&text) {
            Some(known) if known.contains("${") => self.names.within(&known, self.depth + 1)?,
            _ => text,
        };
        let mut reads_file = false;
        text.each_value(&mut |value| reads_file |= matches!(value, Value::File(..)));
        if reads_file { self.unfit("what is in a file is not looked through for values") } else { Ok(text.into()) }
    }

    fn is_defined(&self, (yes, no): (&str, &str)) -> Result<Outcome, String> {
        let name = self.fixed(0)?;
        let is_known = self.names.known.iter().any(|known| known.name == self.names.plain(&name)) || self.names.columns.contains_key(&name);
        if is_known || !self.names.set.contains(&name) {
            return Ok(if is_known { yes } else { no }.to_owned().into());
        }
        Ok(is_there(Expression::Text(self.names.variable(&name)), (yes, no)))
    }

    fn counter(&self) -> Result<Outcome, String> {
        if !self.fixed(0)?.eq_ignore_ascii_case("true") {
            // Each place where it stands counts by itself.
            let counter = self.names.fresh("counter");
            return Ok(self.names.compute("count", Expression::Call(Function::Next, vec![fixed(counter.as_str())])).into());
        }
        let name = self.names.fresh("counter");
        self.names.counters.borrow_mut().push(name.clone());
        self.names.computed.borrow_mut().push((name.clone(), two(held(&name), Operator::Plus, fixed("1"))));
        Ok(Value::Variable(name).into())
    }

    fn sum(&self) -> Result<Outcome, String> {
        let count = self.arguments.len() - usize::from(assigned(self.name, &self.arguments).is_some());
        // An empty name of a variable.
        let count = if count > 0 && self.raw(count - 1).trim().is_empty() { count - 1 } else { count };
        let numbers: Vec<Expression> = (0..count).map(|place| self.number(place)).collect::<Result<_, _>>()?;
        let known: Option<Vec<String>> = (0..count).map(|place| self.known(place).ok().flatten()).collect();
        if let Some(known) = known {
            let mut parts = known.iter().map(|text| text.trim());
            let sum = if self.name == "__doubleSum" {
                parts.map(|part| part.parse::<f64>().ok()).sum::<Option<f64>>().map(|sum| format!("{sum:?}"))
            } else {
                parts.try_fold(0_i64, |sum, part| sum.checked_add(part.parse().ok()?)).map(|sum| sum.to_string())
            };
            return sum.map_or_else(|| self.unfit("it adds up whole numbers"), |sum| Ok(sum.into()));
        }
        match numbers.into_iter().reduce(|sum, number| two(sum, Operator::Plus, number)) {
            Some(sum) => Ok(Outcome::Computed("sum", sum)),
            None => self.unfit("it has no numbers"),
        }
    }

    /// The parts of a text, each a variable of its own; the text itself.
    fn split(&self) -> Result<Outcome, String> {
        let Some(name) = assigned(self.name, &self.arguments) else { return self.unfit("it wants the name of a variable") };
        let text = self.value(0)?;
        let between = Some(self.value(2)?).filter(|between| *between != fixed("")).unwrap_or_else(|| fixed(","));
        let (plain, list) = (self.names.plain(name), self.names.list(name));
        let mut set = vec![
            (plain.clone(), text.clone()),
            (self.names.plain(&list_name(name)), Expression::Call(Function::Split, vec![text, between])),
            (self.names.plain(&format!("{name}_n")), Expression::Call(Function::Count, vec![list.clone()])),
        ];
        for (part, number) in self.names.split_parts(name) {
            // A part without a letter is shown so.
            let shown = |part: Expression| {
                let is_empty = two(part.clone(), Operator::Is, fixed(""));
                Expression::Call(Function::If, vec![is_empty, fixed("?"), part])
            };
            set.push((self.names.plain(part), numbered(list.clone(), number, part, shown)));
        }
        self.names.computed.borrow_mut().extend(set);
        Ok(self.names.variable(name).into())
    }

    fn chosen(&self) -> Result<Outcome, String> {
        let (one, other) = (self.known(0)?, self.known(1)?);
        if let (Some(one), Some(other)) = (one, other) {
            return Ok(self.text(if one == other { 2 } else { 3 })?.into());
        }
        let is_same = two(self.value(0)?, Operator::Is, self.value(1)?);
        Ok(Outcome::Computed("text", Expression::Call(Function::If, vec![is_same, self.value(2)?, self.value(3)?])))
    }

    fn digest(&self, name: &str, message: Template) -> Result<Outcome, String> {
        let word = match name.to_ascii_uppercase().as_str() {
            "MD5" => "md5",
            "SHA-1" | "SHA1" | "SHA" => "sha1",
            "SHA-256" | "SHA256" => "sha256",
            "SHA-384" | "SHA384" => "sha384",
            "SHA-512" | "SHA512" => "sha512",
            _ => return self.unfit(&format!("the digest '{name}' is unknown here")),
        };
        let digest = Expression::Call(Function::Digest, vec![Expression::Text(message), fixed(word)]);
        let is_upper = self.name == "__digest" && self.fixed(3)?.eq_ignore_ascii_case("true");
        Ok(Outcome::Computed("digest", if is_upper { Expression::Call(Function::Upper, vec![digest]) } else { digest }))
    }
}

/// One word or the other, by whether a variable holds anything.
fn is_there(value: Expression, (yes, no): (&str, &str)) -> Outcome {
    let holds = two(value, Operator::IsNot, fixed(""));
    Outcome::Computed("defined", Expression::Call(Function::If, vec![holds, fixed(yes), fixed(no)]))
}

/// The variable that counts a user's iterations.
pub(super) const ITERATION: &str = "iteration_number";
