//! Expressions as they are written: read with a cursor, so that every mistake has its place.
//!
//! A table-driven grammar was the alternative. What is hard here is none of its matter: where a text without quotation marks ends, and what was
//! meant by somebody who wrote something else.
//!
//! Invariant: it goes on behind a mistake wherever it can, and its depth is bounded, whatever stands there.

use std::ops::Range;

use super::{ARGUMENTS_MAX, Expression, FUNCTIONS, Function, Level, Numbers, OPERATORS, Operator};
use crate::Wording;
use crate::template::{Mistake, Piece, Template, after_expression, nearest};

/// Expressions in expressions, so deep.
const DEPTH_MAX: usize = 32;
/// So many operators in one: each stands in the next, and is computed in it.
const OPERATORS_MAX: usize = 200;
/// What is looked through several times; a longer text is none that a person computes with.
const BYTES_MAX: usize = 10_000;
const COMPARISONS: &str = "compare with ==, !=, <, <=, >, >=, contains or matches";

/// An expression on its way to being read.
pub(super) struct Reading<'a> {
    text: &'a str,
    at: usize,
    files: &'a [&'a str],
    variables: &'a [&'a str],
    /// How many expressions it stands in.
    depth: usize,
    /// How many operators there were.
    operators: usize,
    /// Whether that is in parentheses: then ) and a comma end it.
    is_enclosed: bool,
    /// Whether what is read stands to the right of a comparison, where another is a letter of a text: `{{page}} contains <b>`.
    compared: bool,
    /// Whether it is computed with: then it is a number or a variable, and a word behind it belongs to no text.
    computed: bool,
    mistakes: Vec<Mistake>,
    /// Texts that look as if they were meant to be computed; those of a single comparison always were texts.
    doubts: Vec<Mistake>,
}

/// A part of an expression, and where it stands.
struct Part {
    expression: Expression,
    range: Range<usize>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a str, files: &'a [&'a str], variables: &'a [&'a str]) -> Self {
        Self {
            text,
            at: 0,
            files,
            variables,
            depth: 0,
            operators: 0,
            is_enclosed: false,
            compared: false,
            computed: false,
            mistakes: Vec::new(),
            doubts: Vec::new(),
        }
    }

    pub(super) fn whole(mut self, is_condition: bool) -> Result<Expression, Vec<Mistake>> {
        if self.text.len() > BYTES_MAX {
            let help = "put long texts under variables, and set variables in between";
            self.wrong(0..0, format!("the expression is longer than {BYTES_MAX} bytes"), help);
            return Err(self.mistakes);
        }
        let part = self.expression(Level::Or);
        if part.is_some() && self.skip_blanks() < self.text.len() {
            self.operator_is_missing();
        }
        if let Some(part) = part.as_ref().filter(|_| is_condition) {
            if self.mistakes.is_empty() && part.expression.is_fixed() {
                self.always_the_same(part.range.clone());
            } else {
                self.decides(part);
            }
        }
        let was_always_a_text = |expression: &Expression| match expression {
            Expression::Text(_) => true,
            Expression::Two(operator, sides) => {
                operator.level() == Level::Comparison && matches!(**sides, (Expression::Text(_), Expression::Text(_)))
            }
            _ => false,
        };
        if part.as_ref().is_none_or(|part| !is_condition || !was_always_a_text(&part.expression)) {
            self.mistakes.append(&mut self.doubts);
        }
        self.mistakes.sort_by_key(|mistake| mistake.at);
        match part {
            Some(part) if self.mistakes.is_empty() => Ok(part.expression),
            _ => Err(self.mistakes),
        }
    }

    fn wrong(&mut self, range: Range<usize>, message: impl Into<String>, help: impl Into<Wording>) {
        self.mistakes.push(Mistake { at: range.start, length: range.len(), message: message.into(), help: help.into() });
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Where the next part begins.
    fn skip_blanks(&mut self) -> usize {
        self.at += self.rest().len() - self.rest().trim_start().len();
        self.at
    }

    /// Whether a word stands here by itself; it is then behind us.
    fn eat_word(&mut self, word: &str) -> bool {
        let eaten = self.rest().strip_prefix(word).is_some_and(ends_word);
        self.at += if eaten { word.len() } else { 0 };
        eaten
    }

    /// What binds at least as closely as this.
    fn expression(&mut self, least: Level) -> Option<Part> {
        let from = self.skip_blanks();
        let is_not = least <= Level::Not
            && (self.rest().starts_with('!') && !self.rest().starts_with("!=") && {
                self.at += 1;
                true
            } || self.eat_word("not"));
        let mut left = if is_not {
            self.deeper(from)?;
            let inner = self.expression(Level::Not);
            self.depth -= 1;
            let inner = inner?;
            self.decides(&inner);
            self.is_not_fixed(&inner);
            Part { expression: Expression::Not(Box::new(inner.expression)), range: from..self.at }
        } else {
            self.operand()?
        };
        while let Some((operator, range)) = self.operator()? {
            if operator.level() < least {
                self.at = range.start;
                break;
            }
            self.operators += 1;
            if self.operators > OPERATORS_MAX {
                self.wrong(range, format!("the expression has more than {OPERATORS_MAX} operators"), "set a variable in between");
                return None;
            }
            if operator.level() == Level::Comparison && left.expression.level() == Level::Comparison {
                let help = "join two comparisons, as in 1 < {{n}} and {{n}} < 9, or put quotation marks around a text";
                self.wrong(range, "a comparison cannot be compared", help);
                return None;
            }
            let outer = (self.compared, self.computed);
            self.compared |= operator.level() == Level::Comparison;
            self.computed = matches!(operator.level(), Level::Sum | Level::Product);
            let right = if operator == Operator::Matches { self.pattern() } else { self.expression(operator.right_level()) };
            (self.compared, self.computed) = outer;
            let right = right?;
            match operator.level() {
                Level::Or | Level::And => {
                    for side in [&left, &right] {
                        self.decides(side);
                        self.is_not_fixed(side);
                    }
                }
                Level::Comparison if left.expression.is_fixed() && right.expression.is_fixed() && self.mistakes.is_empty() => {
                    self.always_the_same(left.range.start..right.range.end);
                }
                Level::Sum | Level::Product => {
                    self.is_number(&left, operator.word());
                    self.is_number(&right, operator.word());
                }
                Level::Comparison | Level::Not | Level::Value => {}
            }
            let range = left.range.start..right.range.end;
            left = Part { expression: Expression::Two(operator, Box::new((left.expression, right.expression))), range };
        }
        Some(left)
    }

    /// Goes one expression deeper, unless that is too deep.
    fn deeper(&mut self, from: usize) -> Option<()> {
        if self.depth == DEPTH_MAX {
            self.wrong(from..self.at, format!("expressions stand in each other more than {DEPTH_MAX} deep"), "set a variable in between");
            return None;
        }
        self.depth += 1;
        Some(())
    }

    /// The operator that comes next, if one does, and behind it; `None` after a mistake.
    #[allow(clippy::option_option)]
    fn operator(&mut self) -> Option<Option<(Operator, Range<usize>)>> {
        let from = self.skip_blanks();
        let rest = self.rest();
        if rest.is_empty() || self.is_enclosed && rest.starts_with([')', ',']) {
            return Some(None);
        }
        let Some(word) = operator_word(rest) else {
            self.operator_is_missing();
            return None;
        };
        let range = from..from + word.len();
        let operator = match word {
            "&&" => Some(Operator::And),
            "||" => Some(Operator::Or),
            _ => OPERATORS.iter().find(|(known, _)| *known == word).map(|(_, operator)| *operator),
        };
        let Some(operator) = operator else {
            let help = format!("{COMPARISONS}, or put quotation marks around a text");
            self.wrong(range, "this compares in a way that there is not", help);
            return None;
        };
        self.at = range.end;
        Some(Some((operator, range)))
    }

    fn operator_is_missing(&mut self) {
        let from = self.at;
        let message = if self.rest().starts_with(')') { "this parenthesis closes nothing" } else { "an operator is missing here" };
        let length = self.rest().find(char::is_whitespace).unwrap_or(self.rest().len());
        self.wrong(from..from + length, message, "write one such as + or ==, or put quotation marks around the whole text");
    }

    /// A value, whatever stands behind it.
    fn operand(&mut self) -> Option<Part> {
        let from = self.skip_blanks();
        let rest = self.rest();
        if rest.is_empty() || self.is_enclosed && rest.starts_with([')', ',']) {
            let before = self.text[..from].trim_end();
            let begin = before.char_indices().next_back().map_or(0, |(at, _)| at);
            self.wrong(begin..before.len(), "a value is missing here", "write a number, a text, or a variable as {{NAME}}");
            return None;
        }
        if rest.starts_with(['"', '\'']) {
            return self.quoted();
        }
        if rest.starts_with('(') {
            self.at += 1;
            let inner = self.enclosed(from, |reading| reading.expression(Level::Or))?;
            return Some(Part { expression: inner.expression, range: from..self.at });
        }
        if let Some(behind) = rest.strip_prefix('-')
            && (behind.trim_start().starts_with("{{") || behind.starts_with(|next: char| next == '(' || next.is_whitespace()))
        {
            self.at += 1;
            self.deeper(from)?;
            let outer = std::mem::replace(&mut self.computed, true);
            let inner = self.operand();
            self.computed = outer;
            self.depth -= 1;
            let inner = inner?;
            self.is_number(&inner, "-");
            return Some(Part { expression: Expression::Negative(Box::new(inner.expression)), range: from..self.at });
        }
        let name = rest.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).next().unwrap_or_default();
        if !name.is_empty() && rest[name.len()..].starts_with('(') {
            return self.call(name);
        }
        if !self.compared
            && let Some(word) = operator_word(rest)
            && !(word.len() == 1 && "+-*/%".contains(word) && !ends_word(&rest[1..]))
        {
            let help = "write a number, a text or a variable as {{NAME}} before it; a text that begins so stands in quotation marks";
            self.wrong(from..from + word.len(), format!("a value is missing before '{word}'"), help);
            return None;
        }
        Some(self.bare())
    }

    /// What is in parentheses that were just opened, and the parenthesis that closes them.
    fn enclosed<T>(&mut self, from: usize, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.deeper(from)?;
        let outer = (self.is_enclosed, self.compared, self.computed);
        (self.is_enclosed, self.compared, self.computed) = (true, false, false);
        let inner = read(self);
        (self.is_enclosed, self.compared, self.computed) = outer;
        self.depth -= 1;
        let inner = inner?;
        self.skip_blanks();
        if !self.rest().starts_with(')') {
            self.wrong(from..from + 1, "the parenthesis is not closed", "close it with )");
            return None;
        }
        self.at += 1;
        Some(inner)
    }

    fn call(&mut self, name: &str) -> Option<Part> {
        let from = self.at;
        let Some((_, function, least, most, numbers, example)) = FUNCTIONS.into_iter().find(|(known, ..)| *known == name) else {
            let names = FUNCTIONS.iter().map(|(known, ..)| *known);
            let help = match nearest(name, names.clone()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("there are {}; a text stands in quotation marks", names.collect::<Vec<_>>().join(", ")),
            };
            self.wrong(from..from + name.len(), format!("the function '{name}' is unknown"), help);
            return None;
        };
        self.at += name.len() + 1;
        let values = self.enclosed(from + name.len(), |reading| {
            let mut values = Vec::new();
            loop {
                if values.is_empty() && reading.text[reading.skip_blanks()..].starts_with(')') {
                    return Some(values);
                }
                values.push(reading.expression(Level::Or)?);
                if !reading.rest().starts_with(',') {
                    return Some(values);
                }
                reading.at += 1;
            }
        })?;
        if !(least..=most).contains(&values.len()) {
            let takes = match (least, most) {
                (1, 1) => "one value".to_owned(),
                (_, ARGUMENTS_MAX) => format!("up to {most} values"),
                _ if least == most => format!("{least} values"),
                _ => format!("{least} or {most} values"),
            };
            self.wrong(from..self.at, format!("'{name}' takes {takes} and has {}", values.len()), format!("write it as in {example}"));
            return None;
        }
        for (place, value) in values.iter().enumerate() {
            match numbers {
                Numbers::All => self.is_number(value, name),
                Numbers::AfterFirst if place > 0 => self.is_number(value, name),
                Numbers::AfterFirst | Numbers::None => {}
            }
        }
        if let Some(words) = function.words() {
            self.is_word(&values[1], name, words);
        }
        if function == Function::Next && !matches!(&values[0].expression, Expression::Text(name) if name.is_fixed()) {
            let help = "write it as in next(orders): counters of the same name are one";
            self.wrong(values[0].range.clone(), "a counter has a name that is always the same", help);
        }
        if function == Function::If {
            self.decides(&values[0]);
            self.is_not_fixed(&values[0]);
        }
        let values = values.into_iter().map(|value| value.expression).collect();
        Some(Part { expression: Expression::Call(function, values), range: from..self.at })
    }

    /// A text in quotation marks of either kind; templates in it may hold more of them.
    fn quoted(&mut self) -> Option<Part> {
        let from = self.at;
        let mark = self.rest().as_bytes()[0];
        let mut at = from + 1;
        loop {
            let Some(byte) = self.text.as_bytes().get(at) else {
                let help = "close it; a text that holds one stands between those of the other kind";
                self.wrong(from..from + 1, "the quotation mark is not closed", help);
                return None;
            };
            if *byte == mark {
                break;
            }
            at = if self.text.as_bytes()[at..].starts_with(b"{{") { after_expression(self.text, at) } else { at + 1 };
        }
        self.at = at + 1;
        let template = self.template(from + 1..at);
        Some(Part { expression: Expression::Text(template), range: from..self.at })
    }

    /// A regular expression, which is the same each time.
    fn pattern(&mut self) -> Option<Part> {
        let from = self.skip_blanks();
        if !self.rest().starts_with(['"', '\'']) {
            let length = self.rest().find(char::is_whitespace).unwrap_or(self.rest().len());
            let message = "a regular expression stands in quotation marks";
            self.wrong(from..from + length, message, "write it as in {{name}} matches \"^[a-z]+$\"");
            return None;
        }
        let part = self.quoted()?;
        if !part.expression.is_fixed() {
            let help = "write it out; whether a text holds a value, contains tells";
            self.wrong(part.range.clone(), "a regular expression is read before the run, and holds no values", help);
        }
        Some(part)
    }

    fn template(&mut self, range: Range<usize>) -> Template {
        match Template::parse_with(&self.text[range.clone()], self.files, self.variables) {
            Ok(template) => template,
            Err(mistakes) => {
                let moved = mistakes.into_iter().map(|mistake| Mistake { at: range.start + mistake.at, ..mistake });
                self.mistakes.extend(moved);
                Template::default()
            }
        }
    }

    /// A text without quotation marks: up to where an operator stands.
    fn bare(&mut self) -> Part {
        let from = self.at;
        let mut open = 0_usize;
        while let Some(next) = self.rest().chars().next() {
            let rest = self.rest();
            if rest.starts_with("{{") {
                self.at = after_expression(self.text, self.at);
                continue;
            }
            if next.is_whitespace() {
                let ahead = rest.trim_start();
                let is_over = ahead.is_empty() || open == 0 && self.is_enclosed && ahead.starts_with([')', ',']);
                if is_over || self.goes_on_with_operator(&self.text[from..self.at], ahead) {
                    break;
                }
                self.at += rest.len() - ahead.len();
                continue;
            }
            match next {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' | ',' if self.is_enclosed && open == 0 => break,
                '=' | '!' | '<' | '>' | '&' | '|' if self.at > from => {
                    let is_operator = operator_word(rest).is_some_and(|word| match word {
                        "&&" | "||" => true,
                        "=" | "!" => false,
                        _ => !self.compared,
                    });
                    if is_operator {
                        break;
                    }
                }
                _ => {}
            }
            self.at += next.len_utf8();
        }
        let text = &self.text[from..self.at];
        let range = from..self.at;
        self.doubt(range.clone(), text);
        let template = self.template(range.clone());
        Part { expression: Expression::Text(template), range }
    }

    /// Whether what stands after a blank is an operator, and no word of the text so far.
    fn goes_on_with_operator(&self, so_far: &str, ahead: &str) -> bool {
        let Some(word) = operator_word(ahead) else { return false };
        let behind = &ahead[word.len()..];
        match word {
            "&&" | "||" => true,
            "and" | "or" => {
                let decides = ["{{", "==", "!=", "<", ">", "\"", "'"].iter().any(|mark| behind.contains(mark));
                !has_words(so_far) || self.compared && decides
            }
            "contains" | "matches" => {
                !self.compared && (self.computed || so_far.contains("{{") || !so_far.contains(char::is_whitespace) && behind.contains("{{"))
            }
            "+" | "-" | "*" | "/" | "%" => {
                // A variable without its braces is told as what it was meant for.
                let is_value = so_far.contains("{{") || !has_words(so_far) || self.variables.contains(&so_far);
                behind.is_empty() || behind.starts_with(char::is_whitespace) && is_value
            }
            // Comparisons, and what looks like one.
            _ => !self.compared || behind.starts_with(char::is_whitespace) && word != "=",
        }
    }

    /// Notes a text that was perhaps meant to be computed.
    fn doubt(&mut self, range: Range<usize>, text: &str) {
        let outside = outside_templates(text);
        let computes = outside.chars().all(|letter| letter.is_ascii_digit() || letter.is_whitespace() || ".+-*/%".contains(letter));
        let operators =
            |letters: &str| outside.trim_start_matches('-').trim_end_matches('%').contains(|letter: char| letters.contains(letter));
        if computes && (operators("*%+") || text.contains("{{") && operators("/-")) && !text.starts_with('/') && number(&outside).is_none()
        {
            let spaced: String = text.trim().to_owned();
            let message = format!("'{spaced}' is a text as it stands: operators stand between blanks");
            let help = format!("put blanks around them to compute, as in {{{{n}}}} + 1; or quotation marks around it: \"{spaced}\"");
            self.doubts.push(Mistake { at: range.start, length: range.len(), message, help: help.into() });
        }
    }

    /// Complains of a text where a number is computed with.
    fn is_number(&mut self, part: &Part, of: &str) {
        let Expression::Text(template) = &part.expression else { return };
        let fixed = template.fixed_text();
        let is_one = match template.is_fixed() {
            true => number(&fixed).is_some(),
            false => fixed.chars().all(|letter| letter.is_ascii_digit() || letter.is_whitespace() || ".-+eE".contains(letter)),
        };
        if is_one || !self.mistakes.is_empty() {
            return;
        }
        let text = &self.text[part.range.clone()];
        let help = if self.variables.contains(&text) {
            format!("write {{{{{text}}}}}: in braces it is the variable")
        } else {
            "write a number or a variable there, or quotation marks around the whole text".to_owned()
        };
        self.wrong(part.range.clone(), format!("'{}' is a text, and '{of}' computes with numbers", text.escape_debug()), help);
    }

    /// Complains of what is none of the words that stand there.
    fn is_word(&mut self, part: &Part, of: &str, words: &'static [&'static str]) {
        let said = match &part.expression {
            Expression::Text(text) => text.plain().unwrap_or_default(),
            _ => "",
        };
        if words.contains(&said) || !self.mistakes.is_empty() {
            return;
        }
        let help = match nearest(said, words.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("write one of {}", words.join(", ")),
        };
        let text = self.text[part.range.clone()].escape_debug().to_string();
        self.wrong(part.range.clone(), format!("'{of}' does not know '{text}'"), help);
    }

    /// Complains of a text that decides something and always holds.
    fn decides(&mut self, part: &Part) {
        let Expression::Text(template) = &part.expression else { return };
        let has_text = template.pieces().iter().any(|piece| matches!(piece, Piece::Text(fixed) if !fixed.trim().is_empty()));
        if has_text && !template.is_fixed() && self.mistakes.is_empty() {
            let text = self.text[part.range.clone()].escape_debug().to_string();
            let message = format!("'{text}' compares nothing, and so would always hold");
            self.wrong(part.range.clone(), message, format!("{COMPARISONS}, as in {{{{status}}}} == 200"));
        }
    }

    fn is_not_fixed(&mut self, part: &Part) {
        if part.expression.is_fixed() && self.mistakes.is_empty() {
            self.always_the_same(part.range.clone());
        }
    }

    /// Complains of what nothing changes, most often for want of braces.
    fn always_the_same(&mut self, range: Range<usize>) {
        let text = self.text[range.clone()].to_owned();
        let word =
            text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_' || letter == '-')).next().unwrap_or_default();
        let help = if self.variables.contains(&word) {
            format!("write '{{{{{word}}}}}{}': in braces it is the variable", &text[word.len()..])
        } else {
            "compare something, such as '{{status}} == 200'".to_owned()
        };
        self.wrong(range, format!("'{}' is always the same", text.escape_debug()), help);
    }
}

/// Whether no letter of a word follows.
fn ends_word(behind: &str) -> bool {
    behind.is_empty() || behind.starts_with(|next: char| next.is_whitespace() || "()\"'".contains(next)) || behind.starts_with("{{")
}

/// The operator that stands at the beginning, or what looks like a comparison.
fn operator_word(text: &str) -> Option<&str> {
    if text.starts_with("&&") || text.starts_with("||") {
        return Some(&text[..2]);
    }
    let length = text.find(|letter: char| !"=!<>".contains(letter)).unwrap_or(text.len());
    // A mark of negation may follow a comparison at once.
    let length = if length > 1 && text[..length].ends_with('!') { length - 1 } else { length };
    if length > 0 {
        return Some(&text[..length]).filter(|word| *word != "!");
    }
    if text.starts_with(['+', '-', '*', '/', '%']) {
        return Some(&text[..1]);
    }
    ["and", "or", "contains", "matches"]
        .into_iter()
        .find(|word| text.strip_prefix(word).is_some_and(ends_word))
        .map(|word| &text[..word.len()])
}

/// A text with a 0 in the place of each of its templates.
fn outside_templates(text: &str) -> String {
    let mut outside = String::new();
    let mut at = 0;
    while let Some(open) = text[at..].find("{{").map(|open| at + open) {
        outside += &text[at..open];
        outside.push('0');
        at = after_expression(text, open);
    }
    outside + &text[at..]
}

/// Whether words stand in a text outside of its templates, and not only numbers.
fn has_words(text: &str) -> bool {
    outside_templates(text).split_whitespace().any(|word| number(word).is_none())
}

pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}
