//! What a test plan holds answers against.
//!
//! An assertion of JMeter is about one text (the body, the headers, a variable) and several patterns, of which all or one have to be found.
//! Here it is a check for each pattern, or one check of all of them together. What it compares with may hold values.

use plan::template::{Piece, Template};
use plan::work::{Along, AnswerCheck, AnswerPart, Kind, Subject};
use step::Pattern;

use super::answer::{escaped, understood};
use super::dialects;
use super::text::Names;
use super::tree::Element;
use super::{Reading, Scope};
use crate::collection::Request;
use crate::collection::tree::json_string;

/// Whether an element holds answers against something.
pub(super) fn is_assertion(class: &str) -> bool {
    class.ends_with("Assertion")
}

/// What an assertion holds answers against.
///
/// # Errors
/// In words, if that cannot be said here.
pub(super) fn checks(element: &Element, names: &Names<'_>) -> Result<Vec<AnswerCheck>, String> {
    let mut checks = held(element, names)?;
    if let Ok(failure) = failure(element, names) {
        checks.iter_mut().for_each(|check| check.failure.clone_from(&failure));
    }
    Ok(checks)
}

/// What is told of what does not hold, if a plan has words of its own for it.
///
/// # Errors
/// In words, if they are known only on the way.
pub(super) fn failure(element: &Element, names: &Names<'_>) -> Result<Option<String>, String> {
    let told = names.setting(element.text("Assertion.custom_message"))?;
    Ok(Some(told).filter(|told| !told.is_empty()))
}

/// Which samples an assertion or an extractor looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Samples {
    /// The answer itself, or a variable.
    Own,
    /// What it is made of: answers along redirects, and what its page loads.
    Parts,
    /// Both.
    All,
}

impl Samples {
    pub(super) fn of(scope: &str) -> Self {
        match scope {
            "children" => Self::Parts,
            "all" => Self::All,
            _ => Self::Own,
        }
    }
}

impl<'e> Reading<'e> {
    /// Holds the answer to a request against these assertions, as far as they can be said of it.
    pub(super) fn hold(&mut self, request: &mut Request, assertions: &[&'e Element], scope: &Scope<'e>) {
        for assertion in assertions.iter().copied() {
            let mut checks = checks(assertion, &self.names).unwrap_or_default();
            let samples = Samples::of(assertion.text("Assertion.scope"));
            let is_made_of_others = request.connection.follow.is_some() || request.resources.is_some();
            if samples != Samples::Own && is_made_of_others {
                // What took time, and what came over the wire, is known of the whole.
                let (of_whole, of_each): (Vec<_>, Vec<_>) =
                    checks.into_iter().partition(|check| matches!(check.subject, Subject::Time | Subject::TotalSize));
                if !of_whole.is_empty() {
                    self.leave_out(
                        assertion,
                        scope,
                        "the time and all bytes of each answer along redirects, and of what a page loads, are not held against it",
                    );
                }
                let along = if samples == Samples::All { Along::All } else { Along::Parts };
                checks = of_each.into_iter().map(|check| AnswerCheck { along, ..check }).collect();
                checks.extend(of_whole.into_iter().filter(|_| samples == Samples::All));
            } else if samples == Samples::Parts {
                // Where there are no others, it looks at none.
                continue;
            }
            // What the same answer gives a value is not known yet when it is held against that.
            let is_new = |name: &str| request.extractions.iter().any(|taken| taken.variable == name);
            if checks.iter().filter_map(|check| check.against.as_ref()).any(|against| against.variables().any(is_new)) {
                let why = "the answer is not held against it: what it compares with is taken out of the same answer";
                self.leave_out(assertion, scope, why);
                continue;
            }
            request.checks.extend(checks);
        }
    }
}

fn held(element: &Element, names: &Names<'_>) -> Result<Vec<AnswerCheck>, String> {
    match element.class.as_str() {
        "ResponseAssertion" => response(element, names),
        "JSONPathAssertion" => json_path(element, names),
        "JMESPathAssertion" => jmespath(element, names),
        "XPathAssertion" | "XPath2Assertion" => xpath(element, names),
        "DurationAssertion" => match names.setting(element.text("DurationAssertion.duration"))?.trim().parse::<u64>() {
            Ok(0) => Ok(Vec::new()),
            Err(_) if element.text("DurationAssertion.duration").trim().is_empty() => Ok(Vec::new()),
            Ok(most) => Ok(vec![check(Subject::Time, format!("<= {most}ms"))]),
            Err(_) => Err("its duration is no whole number of milliseconds".to_owned()),
        },
        "SizeAssertion" => size(element, names),
        "MD5HexAssertion" => {
            let wanted = names.setting(element.text("MD5HexAssertion.size"))?.trim().to_ascii_lowercase();
            Ok(vec![check(Subject::Digest("md5".to_owned()), format!("== {}", json_string(&wanted)))])
        }
        "XMLAssertion" => Ok(vec![check(Subject::Format, "xml".to_owned())]),
        "HTMLAssertion" => Err(
            "nothing here judges a page as it does; hold the answer against a text that the page holds (Response Assertion), or with an XPath Assertion"
                .to_owned(),
        ),
        "CompareAssertion" => {
            Err("answers are not kept for it; hold each answer against a text, its size or its MD5 sum (MD5Hex Assertion)".to_owned())
        }
        "XMLSchemaAssertion" => Err(
            "no schema is read here; an XML Assertion holds that it is XML, and XPath Assertions hold what has to be in it".to_owned(),
        ),
        _ => Err("it is not carried out here; hold the answer against a text or a JSONPath".to_owned()),
    }
}

fn check(subject: Subject, condition: String) -> AnswerCheck {
    AnswerCheck::new(subject, condition)
}

/// A variable of users that an assertion looks at.
fn variable(name: &str, names: &Names<'_>) -> Result<String, String> {
    let is_set = names.set.contains(name) && !names.columns.contains_key(name);
    if is_set {
        Ok(names.plain(name))
    } else {
        Err(format!("it looks at the variable '{name}', to which nothing gives a value on the way"))
    }
}

/// What a text is compared with: the condition behind its word, and the template in it.
fn wanted(names: &Names<'_>, text: &str) -> Result<(String, Option<Template>), String> {
    let template = if text.contains("${") { names.template(text)? } else { Template::fixed(text) };
    let settled = names.settled(&template);
    match settled {
        Some(text) if !text.contains("{{") => Ok((json_string(&text), None)),
        // Braces would be read as those of a template, so that they are one that writes them.
        Some(text) => {
            let template = Template::fixed(text);
            Ok((json_string(&template.to_string()), Some(template)))
        }
        None => Ok((json_string(&template.to_string()), Some(template))),
    }
}

const MATCHES: u32 = 1;
const CONTAINS: u32 = 2;
const NOT: u32 = 4;
const EQUALS: u32 = 8;
const SUBSTRING: u32 = 16;
const OR: u32 = 32;

/// How a pattern is held against a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Matches,
    Contains,
    Equals,
    Substring,
}

impl Way {
    fn of(kind: u32) -> Self {
        match kind & (MATCHES | CONTAINS | EQUALS | SUBSTRING) {
            EQUALS => Self::Equals,
            SUBSTRING => Self::Substring,
            MATCHES => Self::Matches,
            _ => Self::Contains,
        }
    }

    const fn is_regex(self) -> bool {
        matches!(self, Self::Matches | Self::Contains)
    }

    const fn is_whole(self) -> bool {
        matches!(self, Self::Matches | Self::Equals)
    }

    /// A pattern as a regular expression that is found where it is.
    fn regex(self, pattern: &str) -> Result<String, String> {
        match self {
            Self::Matches => dialects::regex_ending(pattern, "\\z"),
            Self::Contains => dialects::regex(pattern),
            Self::Equals | Self::Substring => Ok(escaped(pattern)),
        }
    }
}

fn response(element: &Element, names: &Names<'_>) -> Result<Vec<AnswerCheck>, String> {
    let kind: u32 = element.text("Assertion.test_type").trim().parse().unwrap_or(CONTAINS);
    let (way, is_not, patterns) = (Way::of(kind), kind & NOT > 0, element.texts("Asserion.test_strings"));
    let is_any = kind & OR > 0 && patterns.len() > 1;
    let assumes = element.is_on("Assertion.assume_success", false);
    let subject = match element.text("Assertion.scope") {
        "" | "parent" | "children" | "all" => match element.text("Assertion.test_field").trim_start_matches("Assertion.") {
            "" | "response_data" => Subject::Body,
            "response_data_as_document" => Subject::Part(AnswerPart::Text),
            "response_code" if patterns.is_empty() => Subject::Body,
            "response_code" => return statuses(&patterns, (way, is_not, is_any), assumes, names),
            "response_message" => Subject::Part(AnswerPart::Message),
            "response_headers" => Subject::Part(AnswerPart::Headers),
            "request_headers" => Subject::Part(AnswerPart::RequestHeaders),
            "request_data" => Subject::Part(AnswerPart::Request),
            _ => Subject::Part(AnswerPart::Url),
        },
        "variable" => Subject::Variable(variable(element.text("Scope.variable").trim(), names)?),
        scope => return Err(format!("it looks at '{scope}', and checks are about the answer itself")),
    };
    let mut checks = if is_any {
        vec![check(subject, any_of(&patterns, way, is_not, names)?)]
    } else {
        let not = if is_not { "not " } else { "" };
        let mut checks = Vec::with_capacity(patterns.len());
        for pattern in &patterns {
            let (condition, against) = condition(pattern, way, names)?;
            checks.push(AnswerCheck { against, ..AnswerCheck::new(subject.clone(), format!("{not}{condition}")) });
        }
        checks
    };
    if assumes {
        checks.push(check(Subject::Status, "100-599".to_owned()));
    }
    Ok(checks)
}

/// One pattern as a condition.
fn condition(pattern: &str, way: Way, names: &Names<'_>) -> Result<(String, Option<Template>), String> {
    let regex = |pattern: &str| way.regex(pattern).map(|pattern| if way.is_whole() { whole(&pattern) } else { pattern });
    if way.is_regex() {
        return match names.setting(pattern) {
            Ok(pattern) => Ok((matching(&regex(&pattern)?), None)),
            Err(_) => matching_values(&names.template(pattern)?, regex),
        };
    }
    let (text, against) = wanted(names, pattern)?;
    Ok(match way {
        // Everything contains an empty text.
        Way::Substring if text == "\"\"" => (matching(""), None),
        Way::Substring => (format!("contains {text}"), against),
        _ => (format!("== {text}"), against),
    })
}

/// One of several patterns as a condition: that any of them is found, or that any of them is not.
fn any_of(patterns: &[&str], way: Way, is_not: bool, names: &Names<'_>) -> Result<String, String> {
    let each: Vec<String> = patterns.iter().map(|pattern| way.regex(&names.setting(pattern)?)).collect::<Result<_, _>>()?;
    if is_not {
        // Not all of them.
        let (before, after) = if way.is_whole() { ("(?=(?:", ")\\z)") } else { ("(?=[\\s\\S]*?(?:", "))") };
        let all: String = each.iter().map(|pattern| format!("{before}{pattern}{after}")).collect();
        return Ok(format!("not {}", matching(&format!("\\A{all}"))));
    }
    let joined = if way.is_regex() { each.iter().map(|pattern| format!("(?:{pattern})")).collect() } else { each };
    let joined = joined.join("|");
    Ok(matching(&if way.is_whole() { whole(&joined) } else { joined }))
}

/// A regular expression that a text fulfils as a whole.
fn whole(pattern: &str) -> String {
    format!("\\A(?:{pattern})\\z")
}

/// The condition to match a regular expression.
fn matching(pattern: &str) -> String {
    format!("matches \"{}\"", in_marks(pattern))
}

/// A regular expression as it stands in quotation marks: only those are special there, so they are written by number.
fn in_marks(pattern: &str) -> String {
    pattern.replace("\\\"", "\"").replace('"', "\\x22").replace('\n', "\\n").replace('\r', "\\r")
}

/// The condition to match a regular expression in which values stand that are known only on the way: it is made as if each were a letter.
fn matching_values(template: &Template, regex: impl Fn(&str) -> Result<String, String>) -> Result<(String, Option<Template>), String> {
    let values: Vec<_> = template.values().cloned().collect();
    let mark = |number: usize| char::from_u32(0xe000 + u32::try_from(number % 0x1000).unwrap_or(0)).unwrap_or_default();
    let made = in_marks(&regex(&template.marked(|number| mark(number).to_string()))?);
    let (mut pieces, mut text, mut put) = (Vec::new(), String::new(), 0);
    for letter in made.chars() {
        if put < values.len() && letter == mark(put) {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(Piece::Value(values[put].clone()));
            put += 1;
        } else {
            text.push(letter);
        }
    }
    pieces.push(Piece::Text(text));
    let against = Template::of(pieces);
    let written = against.to_string();
    // What a value itself has in quotation marks would end the expression's.
    if put < values.len() || written.contains('"') {
        return Err(format!("'{template}' holds values that cannot be a part of a regular expression here"));
    }
    Ok((format!("matches \"{written}\""), Some(against)))
}

/// Which statuses fulfil an assertion about the code. What has failed by its status stays so, whatever is asked of that.
fn statuses(
    patterns: &[&str],
    (way, is_not, is_any): (Way, bool, bool),
    assumes: bool,
    names: &Names<'_>,
) -> Result<Vec<AnswerCheck>, String> {
    let mut expressions = Vec::with_capacity(patterns.len());
    for pattern in patterns {
        let pattern = way.regex(&names.setting(pattern)?)?;
        let pattern = if way.is_whole() { whole(&pattern) } else { pattern };
        expressions.push(Pattern::new(&pattern).map_err(|mistake| mistake.message)?);
    }
    let is_right = |status: &u16| {
        let text = status.to_string();
        let mut passed = expressions.iter().map(|pattern| pattern.is_in(text.as_bytes()) == Ok(!is_not));
        (assumes || *status < 400) && if is_any { passed.any(|passed| passed) } else { passed.all(|passed| passed) }
    };
    let right: Vec<u16> = (100..600).filter(is_right).collect();
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for status in right {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == status => *to = status,
            _ => ranges.push((status, status)),
        }
    }
    let shown = |(from, to): &(u16, u16)| match (from, to) {
        (from, to) if from == to => from.to_string(),
        (from, to) if from % 100 == 0 && *to == from + 99 => format!("{}xx", from / 100),
        (from, to) => format!("{from}-{to}"),
    };
    let condition = ranges.iter().map(shown).collect::<Vec<_>>().join(", ");
    // Where no status is right, each is wrong.
    Ok(vec![check(Subject::Status, if condition.is_empty() { "not 100-999".to_owned() } else { condition })])
}

/// A value of JSON as it is compared with: a text as a text, anything else as it is.
fn json_value(expected: &str, names: &Names<'_>) -> Result<(String, Option<Template>), String> {
    if let Ok(expected) = names.setting(expected) {
        let bare = expected.trim();
        let in_quotes = bare.len() > 1 && bare.starts_with('\'') && bare.ends_with('\'');
        return match serde_json::from_str::<serde_json::Value>(bare) {
            Ok(serde_json::Value::String(text)) => wanted(names, &text),
            Ok(_) => Ok((bare.to_owned(), None)),
            Err(_) if in_quotes => wanted(names, &bare[1..bare.len() - 1]),
            Err(_) => wanted(names, &expected),
        };
    }
    let template = names.template(expected)?;
    // What is filled in may be a number.
    Ok((template.to_string(), Some(template)))
}

fn json_path(element: &Element, names: &Names<'_>) -> Result<Vec<AnswerCheck>, String> {
    let path = dialects::json_path(&names.setting(element.text("JSON_PATH"))?)?;
    json(element, names, &Subject::Json(path), false)
}

fn jmespath(element: &Element, names: &Names<'_>) -> Result<Vec<AnswerCheck>, String> {
    let path = understood(Kind::JmesPath, names.setting(element.text("JMES_PATH"))?)?;
    json(element, names, &Subject::JmesPath(path), true)
}

/// What an assertion wants of what is found in JSON: any of several values, or a member of one that is a list. Where null is nothing, there is
/// nothing to be compared with null.
fn json(element: &Element, names: &Names<'_>, subject: &Subject, null_is_nothing: bool) -> Result<Vec<AnswerCheck>, String> {
    let (is_inverted, expected) = (element.is_on("INVERT", false), element.text("EXPECTED_VALUE"));
    let plain = |condition: &str| Ok(vec![check(subject.clone(), condition.to_owned())]);
    if !element.is_on("JSONVALIDATION", false) {
        return plain(if is_inverted { "missing" } else { "exists" });
    }
    let quantity = if is_inverted { "none" } else { "any" };
    if element.is_on("EXPECT_NULL", false) {
        return match (null_is_nothing, is_inverted) {
            (true, false) => plain("missing"),
            (true, true) => plain("exists"),
            (false, _) => plain(&format!("{quantity} == null")),
        };
    }
    let (condition, against) = if element.is_on("ISREGEX", true) {
        (matching(&whole(&Way::Matches.regex(&names.setting(expected)?)?)), None)
    } else {
        let (value, against) = json_value(expected, names)?;
        (format!("== {value}"), against)
    };
    Ok(vec![AnswerCheck { against, ..AnswerCheck::new(subject.clone(), format!("{quantity} {condition}")) }])
}

fn xpath(element: &Element, names: &Names<'_>) -> Result<Vec<AnswerCheck>, String> {
    let scope = element.text("Assertion.scope");
    if !matches!(scope, "" | "parent" | "children" | "all") {
        return Err(format!("it looks at '{scope}', and checks are about the answer itself"));
    }
    let path = names.setting(element.text("XPath.xpath"))?;
    let path = if path.trim().is_empty() { "/" } else { path.trim() };
    let extractor = step::Extractor::compile(Kind::XPath, path)
        .map_err(|mistake| format!("the XPath '{path}' is not understood here: {}", mistake.message))?;
    let is_negated = element.is_on("XPath.negate", false);
    let subject = Subject::XPath(path.to_owned());
    let mut checks = Vec::new();
    // What is read as it comes may be anything; else it has to be XML.
    if !element.is_on("XPath.tolerant", false) {
        checks.push(check(Subject::Format, "xml".to_owned()));
    }
    match (extractor.gives_truth(), is_negated) {
        (true, false) => checks.push(check(subject, "== true".to_owned())),
        // The older one is content with a truth that is turned, whatever it is.
        (true, true) if element.class == "XPathAssertion" => {}
        (true, true) => checks.push(check(subject, "== false".to_owned())),
        (false, false) => checks.push(check(subject, "exists".to_owned())),
        (false, true) => checks.push(check(subject, "missing".to_owned())),
    }
    Ok(checks)
}

fn size(element: &Element, names: &Names<'_>) -> Result<Vec<AnswerCheck>, String> {
    let size: u64 =
        names.setting(element.text("SizeAssertion.size"))?.trim().parse().map_err(|_| "its size is no whole number of bytes".to_owned())?;
    let operator = match element.text("SizeAssertion.operator").trim() {
        "1" | "" => "==",
        "2" => "!=",
        "3" => ">",
        "4" => "<",
        "5" => ">=",
        "6" => "<=",
        _ => return Err("its comparison is unknown".to_owned()),
    };
    if element.text("Assertion.scope") == "variable" {
        let name = variable(element.text("Scope.variable").trim(), names)?;
        return Ok(vec![check(Subject::Variable(name), format!("{operator} {size}"))]);
    }
    let lettered = |part: AnswerPart| {
        // That there are so many letters, and not how many they are else.
        let (not, operator) = if operator == "!=" { ("not ", "==") } else { ("", operator) };
        Ok(vec![check(Subject::Part(part), format!("{not}length {operator} {size}"))])
    };
    let subject = match element.text("Assertion.test_field").trim_start_matches("SizeAssertion.") {
        "response_data" => Subject::Size,
        "response_headers" => Subject::HeadersSize,
        "response_message" => return lettered(AnswerPart::Message),
        "response_code" => {
            let holds = match operator {
                "==" => size == 3,
                "!=" => size != 3,
                ">" => size < 3,
                "<" => size > 3,
                ">=" => size <= 3,
                _ => size >= 3,
            };
            // Each status has three letters.
            return Ok(if holds { Vec::new() } else { vec![check(Subject::Status, "not 100-999".to_owned())] });
        }
        _ => Subject::TotalSize,
    };
    Ok(vec![check(subject, format!("{operator} {size}"))])
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Content, Property};
    use super::*;

    fn element(class: &str, properties: &[(&str, &str)], patterns: &[&str]) -> Element {
        let text = |name: &str, value: &str| Property { name: name.to_owned(), value: Content::Text(value.to_owned()) };
        let list = patterns.iter().map(|pattern| text("", pattern)).collect();
        let mut properties: Vec<Property> = properties.iter().map(|(name, value)| text(name, value)).collect();
        properties.push(Property { name: "Asserion.test_strings".to_owned(), value: Content::List(list) });
        Element { class: class.to_owned(), properties, ..Element::default() }
    }

    fn told(class: &str, properties: &[(&str, &str)], patterns: &[&str]) -> String {
        let names = Names {
            set: ["token".to_owned()].into(),
            varying: ["token".to_owned()].into(),
            known: vec![crate::collection::Variable { name: "word".to_owned(), value: Template::fixed("a{{b"), secret: false }],
            ..Names::default()
        };
        match checks(&element(class, properties, patterns), &names) {
            Ok(checks) => {
                let line = |check: &AnswerCheck| {
                    let (understood, _) = step::Check::compile_open(&check.subject, &check.condition).unwrap();
                    assert!(!understood.words().is_empty());
                    let target = check.subject.target().map(|target| format!(" {target}")).unwrap_or_default();
                    format!("{}{target} {}", check.subject.word(), check.condition)
                };
                checks.iter().map(line).collect::<Vec<_>>().join("; ")
            }
            Err(why) => why,
        }
    }

    fn of(kind: &str, field: &str, patterns: &[&str]) -> String {
        told("ResponseAssertion", &[("Assertion.test_type", kind), ("Assertion.test_field", &format!("Assertion.{field}"))], patterns)
    }

    #[test]
    fn response_assertions_hold_texts_against_the_same() {
        assert_eq!(of("16", "response_data", &["a\"b", "c"]), "body contains \"a\\\"b\"; body contains \"c\"");
        assert_eq!(of("20", "response_data", &["a"]), "body not contains \"a\"");
        assert_eq!(of("2", "response_data", &["a.c"]), "body matches \"a.c\"");
        assert_eq!(of("2", "response_data", &["a.c$"]), "body matches \"a.c(?:\\n?\\z)\"");
        assert_eq!(of("1", "response_data", &["a.c$"]), "body matches \"\\A(?:a.c\\z)\\z\"");
        assert_eq!(of("48", "response_data", &["a.", "b"]), "body matches \"a\\.|b\"");
        assert_eq!(of("40", "response_data", &["a", "b"]), "body matches \"\\A(?:a|b)\\z\"");
        assert_eq!(of("52", "response_data", &["a", "b"]), "body not matches \"\\A(?=[\\s\\S]*?(?:a))(?=[\\s\\S]*?(?:b))\"");
        assert_eq!(of("37", "response_data", &["a", "b"]), "body not matches \"\\A(?=(?:a)\\z)(?=(?:b)\\z)\"");
        assert_eq!(of("2", "response_data", &["One(?!x)"]), "body matches \"One(?!x)\"");
        assert_eq!(of("2", "response_data", &["say \"a\" \\\"\\d\nx"]), "body matches \"say \\x22a\\x22 \\x22\\d\\nx\"");
        assert_eq!(of("16", "response_data", &[""]), "body matches \"\"");
        assert_eq!(of("16", "response_data", &["${token}x"]), "body contains \"{{token}}x\"");
        assert_eq!(of("16", "response_data", &["${word}"]), "body contains \"a{{\\\"{{\\\"}}b\"");
        assert_eq!(of("2", "response_data", &["(id|\"x)=${token}$"]), "body matches \"(id|\\x22x)={{token}}(?:\\n?\\z)\"");
        assert!(of("34", "response_data", &["${token}", "x"]).contains("known only on the way"));
        assert_eq!(of("16", "response_message", &["OK"]), "message contains \"OK\"");
        assert_eq!(of("2", "response_headers", &["X-A: \\w"]), "headers matches \"X-A: \\w\"");
        assert_eq!(of("16", "request_headers", &["Host"]), "request_headers contains \"Host\"");
        assert_eq!(of("16", "request_data", &["GET"]), "request contains \"GET\"");
        assert_eq!(of("16", "sample_label", &["/a"]), "url contains \"/a\"");
        let of_variable = |name| {
            told("ResponseAssertion", &[("Assertion.test_type", "8"), ("Assertion.scope", "variable"), ("Scope.variable", name)], &["7"])
        };
        assert_eq!(of_variable("token"), "variable token == \"7\"");
        assert!(of_variable("nobody").contains("'nobody', to which nothing"));
    }

    #[test]
    fn codes_become_the_statuses_that_are_right() {
        assert_eq!(of("8", "response_code", &["200"]), "status 200");
        assert_eq!(of("33", "response_code", &["2..", "304"]), "status 2xx, 304");
        assert_eq!(of("1", "response_code", &["200|201"]), "status 200-201");
        assert_eq!(of("6", "response_code", &["5\\d\\d"]), "status 100-399");
        assert_eq!(of("8", "response_code", &["404"]), "status not 100-999");
        assert_eq!(of("16", "response_code", &["01"]), "status 101, 201, 301");
        assert_eq!(of("8", "response_code", &["200", "201"]), "status not 100-999");
        let assumed =
            [("Assertion.test_type", "8"), ("Assertion.test_field", "Assertion.response_code"), ("Assertion.assume_success", "true")];
        assert_eq!(told("ResponseAssertion", &assumed, &["404"]), "status 404");
    }

    #[test]
    fn other_assertions_say_the_same() {
        let json = [("JSON_PATH", "$.a"), ("EXPECTED_VALUE", "7"), ("JSONVALIDATION", "true")];
        let with = |more: &[(&str, &str)]| told("JSONPathAssertion", &[more, &json[..]].concat(), &[]);
        assert_eq!(with(&[]), "json $.a any matches \"\\A(?:7)\\z\"");
        assert_eq!(with(&[("ISREGEX", "false")]), "json $.a any == 7");
        assert_eq!(with(&[("ISREGEX", "false"), ("INVERT", "true")]), "json $.a none == 7");
        assert_eq!(with(&[("ISREGEX", "false"), ("EXPECTED_VALUE", "${token}")]), "json $.a any == {{token}}");
        assert_eq!(with(&[("ISREGEX", "false"), ("EXPECTED_VALUE", "Ann Lee")]), "json $.a any == \"Ann Lee\"");
        assert_eq!(with(&[("EXPECT_NULL", "true")]), "json $.a any == null");
        assert_eq!(with(&[("JSON_PATH", "$..b-c"), ("ISREGEX", "false")]), "json $..['b-c'] any == 7");
        assert_eq!(told("JSONPathAssertion", &[json[0], ("INVERT", "true")], &[]), "json $.a missing");
        let jmes = [("JMES_PATH", "a[0]"), ("JSONVALIDATION", "true"), ("ISREGEX", "false")];
        assert_eq!(told("JMESPathAssertion", &[&jmes[..], &[("EXPECTED_VALUE", "x")]].concat(), &[]), "jmespath a[0] any == \"x\"");
        assert_eq!(told("JMESPathAssertion", &[&jmes[..], &[("EXPECT_NULL", "true")]].concat(), &[]), "jmespath a[0] missing");
        assert!(told("JMESPathAssertion", &[("JMES_PATH", "a[")], &[]).contains("is not understood here"));
        assert_eq!(told("DurationAssertion", &[("DurationAssertion.duration", " 500 ")], &[]), "time <= 500ms");
        let size = |field: &str, operator: &str| {
            let field = format!("SizeAssertion.{field}");
            let properties = [("Assertion.test_field", field.as_str()), ("SizeAssertion.size", "10"), ("SizeAssertion.operator", operator)];
            told("SizeAssertion", &properties, &[])
        };
        assert_eq!(size("response_data", "5"), "size >= 10");
        assert_eq!(size("response_network_size", "1"), "total_size == 10");
        assert_eq!(size("response_headers", "3"), "headers_size > 10");
        assert_eq!(size("response_message", "2"), "message not length == 10");
        assert_eq!((size("response_code", "4"), size("response_code", "3")), (String::new(), "status not 100-999".to_owned()));
        assert_eq!(told("XPathAssertion", &[("XPath.xpath", "//a")], &[]), "format xml; xpath //a exists");
        assert_eq!(
            told("XPathAssertion", &[("XPath.xpath", "count(//a)=2"), ("XPath.tolerant", "true")], &[]),
            "xpath count(//a)=2 == true"
        );
        assert_eq!(told("XPath2Assertion", &[("XPath.xpath", "//a"), ("XPath.negate", "true")], &[]), "format xml; xpath //a missing");
        assert_eq!(told("MD5HexAssertion", &[("MD5HexAssertion.size", "AB")], &[]), "digest md5 == \"ab\"");
        assert_eq!(told("XMLAssertion", &[], &[]), "format xml");
        assert!(told("HTMLAssertion", &[], &[]).contains("Response Assertion"));
        assert!(told("CompareAssertion", &[], &[]).contains("MD5Hex"));
        assert!(told("XMLSchemaAssertion", &[], &[]).contains("XPath Assertions"));
    }
}
