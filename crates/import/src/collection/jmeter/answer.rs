//! What a test plan takes out of answers, and what it holds them against.

use plan::work::{AnswerCheck, Extraction, Kind, Subject, Which};

use super::tree::Element;
use crate::collection::tree::json_string;
use crate::collection::url::variable_name;

/// A variable that an extractor fills: its name in the plan, and how it is found.
pub(super) struct Taken {
    /// As the plan calls it.
    pub(super) name: String,
    /// How it is found, or why it is not.
    pub(super) found: Result<Extraction, String>,
}

/// Whether an element takes something out of answers.
pub(super) fn is_extractor(class: &str) -> bool {
    matches!(
        class,
        "RegexExtractor"
            | "JSONPostProcessor"
            | "BoundaryExtractor"
            | "HtmlExtractor"
            | "XPathExtractor"
            | "XPath2Extractor"
            | "JMESPathExtractor"
    )
}

/// What an extractor takes out of answers.
pub(super) fn taken(element: &Element) -> Vec<Taken> {
    let scope = element.text("Sample.scope");
    if !matches!(scope, "" | "parent" | "all") {
        let names = [
            ("RegexExtractor.refname"),
            ("BoundaryExtractor.refname"),
            ("HtmlExtractor.refname"),
            ("XPathExtractor.refname"),
            ("XPathExtractor2.refname"),
        ];
        let name = names.into_iter().map(|name| element.text(name)).find(|name| !name.is_empty()).unwrap_or_default();
        return vec![Taken {
            name: name.to_owned(),
            found: Err(format!("it looks at '{scope}', and values are taken out of the answer itself")),
        }];
    }
    match element.class.as_str() {
        "JSONPostProcessor" => json(element),
        "RegexExtractor" => vec![regex(element)],
        "BoundaryExtractor" => vec![boundary(element)],
        "HtmlExtractor" => vec![css(element)],
        "XPathExtractor" => vec![xpath(element, "XPathExtractor", "-1")],
        "XPath2Extractor" => vec![xpath(element, "XPathExtractor2", "0")],
        _ => {
            let found = Err("JMESPath is not read here; write it as a JSON extractor".to_owned());
            vec![Taken { name: element.text("JMESExtractor.referenceName").to_owned(), found }]
        }
    }
}

/// What regular expressions of Perl have, and those here, which take time as the text is long, have not.
const ODD_IN_REGEX: &[&str] =
    &["(?=", "(?!", "(?<=", "(?<!", "(?>", "\\1", "\\2", "\\3", "\\4", "\\5", "\\6", "\\7", "\\8", "\\9", "*+", "++"];

/// Which of several matches a number names, from 1; all of them below 0.
fn which(number: &str) -> Result<Which, String> {
    match number.trim().parse::<i64>() {
        Ok(0) => Err("it takes one match by chance; give it a number from 1 on".to_owned()),
        Ok(1) => Ok(Which::First),
        Ok(number @ 2..) => Ok(Which::Nth(usize::try_from(number - 1).unwrap_or(usize::MAX))),
        Ok(_) => Ok(Which::Every),
        Err(_) => Err(format!("its match number '{number}' is no number")),
    }
}

fn made(name: &str, kind: Kind, expression: Result<String, String>, (number, default): (&str, &str)) -> Taken {
    let found = expression.and_then(|expression| {
        let odd: &[&str] = match kind {
            Kind::Regex => ODD_IN_REGEX,
            Kind::JsonPath => &["length()", "=~", "size()", "keys()", "min()", "max()"],
            Kind::Css => &[":contains", ":eq(", ":gt(", ":lt(", ":matches"],
            Kind::XPath => &["string-join(", "matches(", "tokenize(", "replace("],
            _ => &[],
        };
        if let Some(odd) = odd.iter().find(|odd| expression.contains(**odd)) {
            return Err(format!("'{odd}' in '{expression}' is not understood here"));
        }
        let default = Some(default.to_owned());
        let null_is_missing = kind == Kind::JsonPath;
        Ok(Extraction { variable: variable_name(name), kind, expression, which: which(number)?, default, null_is_missing })
    });
    Taken { name: name.to_owned(), found }
}

fn or<'t>(text: &'t str, default: &'t str) -> &'t str {
    if text.trim().is_empty() { default } else { text }
}

fn regex(element: &Element) -> Taken {
    let of = |name: &str| element.text(&format!("RegexExtractor.{name}"));
    let expression = match (of("useHeaders"), of("template").trim()) {
        ("" | "false", "" | "$1$") => Ok(of("regex").to_owned()),
        ("" | "false", "$0$") if !of("regex").contains('(') => Ok(of("regex").to_owned()),
        ("" | "false", template) => Err(format!("its template '{template}' is not '$1$': a value is the first group here")),
        (field, _) => Err(format!("it looks into '{field}', and a regular expression into the body here")),
    };
    made(of("refname"), Kind::Regex, expression, (or(of("match_number"), "1"), of("default")))
}

fn boundary(element: &Element) -> Taken {
    let of = |name: &str| element.text(&format!("BoundaryExtractor.{name}"));
    let (left, right) = (of("lboundary"), of("rboundary"));
    let expression = match of("useHeaders") {
        "" | "false" => {
            let left = if left.is_empty() { "\\A".to_owned() } else { escaped(left) };
            let right = if right.is_empty() { "\\z".to_owned() } else { escaped(right) };
            Ok(format!("(?s){left}(.*?){right}"))
        }
        field => Err(format!("it looks into '{field}', and boundaries are looked for in the body here")),
    };
    made(of("refname"), Kind::Regex, expression, (or(of("match_number"), "1"), of("default")))
}

/// A text as a regular expression that finds it.
fn escaped(text: &str) -> String {
    text.chars().flat_map(|letter| ["\\^$.|?*+()[]{}".contains(letter).then_some('\\'), Some(letter)]).flatten().collect()
}

fn css(element: &Element) -> Taken {
    let of = |name: &str| element.text(&format!("HtmlExtractor.{name}"));
    let attribute = of("attribute").trim();
    let taken = if attribute.is_empty() { "line".to_owned() } else { format!("attr({attribute})") };
    let expression = format!("{}::{taken}", of("expr"));
    made(of("refname"), Kind::Css, Ok(expression), (or(of("match_number"), "1"), of("default")))
}

fn xpath(element: &Element, prefix: &str, any: &str) -> Taken {
    let of = |name: &str| element.text(&format!("{prefix}.{name}"));
    let expression = if of("fragment").trim() == "true" {
        Err("it takes a part of the document, and texts are taken here".to_owned())
    } else {
        Ok(of("xpathQuery").to_owned())
    };
    // -1 of the older one and 0 of the newer one mean the first, where nothing else is said.
    let number = match or(of("matchNumber"), any) {
        number if number.trim() == any => "1",
        number => number,
    };
    made(of("refname"), Kind::XPath, expression, (number, of("default")))
}

fn json(element: &Element) -> Vec<Taken> {
    let of = |name: &str| element.text(&format!("JSONPostProcessor.{name}")).split(';').map(str::trim).collect::<Vec<_>>();
    let (names, paths, numbers, defaults) = (of("referenceNames"), of("jsonPathExprs"), of("match_numbers"), of("defaultValues"));
    let taken = names.iter().zip(0..).filter(|(name, _)| !name.is_empty()).map(|(name, place): (&&str, usize)| {
        let path = paths.get(place).copied().unwrap_or_default();
        let expression =
            if path.starts_with('$') { Ok(path.to_owned()) } else { Err(format!("its JSONPath '{path}' does not begin with $")) };
        let number = or(numbers.get(place).copied().unwrap_or_default(), "1");
        made(name, Kind::JsonPath, expression, (number, defaults.get(place).copied().unwrap_or_default()))
    });
    taken.collect()
}

/// Whether an element holds answers against something.
pub(super) fn is_assertion(class: &str) -> bool {
    class.ends_with("Assertion")
}

/// What an assertion holds answers against.
///
/// # Errors
/// In words, if that cannot be said here.
pub(super) fn checks(element: &Element) -> Result<Vec<AnswerCheck>, String> {
    let checks = match element.class.as_str() {
        "ResponseAssertion" => response(element),
        "JSONPathAssertion" => json_path(element),
        "DurationAssertion" => match element.text("DurationAssertion.duration").trim().parse::<u64>() {
            Ok(0) => Ok(Vec::new()),
            Ok(most) => Ok(vec![check(Subject::Time, format!("<= {most}ms"))]),
            Err(_) => Err("its duration is no whole number of milliseconds".to_owned()),
        },
        "SizeAssertion" => size(element),
        _ => Err("it is not carried out here; hold the answer against a text or a JSONPath".to_owned()),
    }?;
    // Braces of a template would be filled in.
    let has_values = |check: &AnswerCheck| check.condition.contains("${") || check.condition.contains("{{");
    if checks.iter().any(has_values) {
        return Err("what it compares with holds values, which are not put in there".to_owned());
    }
    Ok(checks)
}

fn check(subject: Subject, condition: String) -> AnswerCheck {
    AnswerCheck { subject, condition, against: None }
}

const MATCHES: u32 = 1;
const CONTAINS: u32 = 2;
const NOT: u32 = 4;
const EQUALS: u32 = 8;
const SUBSTRING: u32 = 16;
const OR: u32 = 32;

fn response(element: &Element) -> Result<Vec<AnswerCheck>, String> {
    let scope = element.text("Assertion.scope");
    if !matches!(scope, "" | "parent" | "all") {
        return Err(format!("it looks at '{scope}', and checks are about the answer itself"));
    }
    let patterns = element.texts("Asserion.test_strings");
    if let Some(odd) = patterns.iter().find(|pattern| ODD_IN_REGEX.iter().any(|odd| pattern.contains(odd)))
        && !matches!(element.text("Assertion.test_type").trim().parse().unwrap_or(CONTAINS) & (EQUALS | SUBSTRING), EQUALS | SUBSTRING)
    {
        return Err(format!("its regular expression '{odd}' looks ahead or back, which is not done here"));
    }
    let kind: u32 = element.text("Assertion.test_type").trim().parse().unwrap_or(CONTAINS);
    let (way, is_not) = (kind & (MATCHES | CONTAINS | EQUALS | SUBSTRING), kind & NOT > 0);
    let together = kind & OR > 0 && patterns.len() > 1;
    let not = if is_not { "not " } else { "" };
    let mut checks = match element.text("Assertion.test_field").trim_start_matches("Assertion.") {
        "" | "response_data" => {
            let one = |pattern: &str| match way {
                EQUALS => format!("== {}", json_string(pattern)),
                SUBSTRING => format!("contains {}", json_string(pattern)),
                MATCHES => matching(&whole(pattern)),
                _ => matching(pattern),
            };
            match (together, way) {
                (false, _) => patterns.iter().map(|pattern| check(Subject::Body, format!("{not}{}", one(pattern)))).collect(),
                (true, _) if is_not => return Err("it is fulfilled by any of several texts that are not there".to_owned()),
                (true, EQUALS) => return Err("it compares the whole answer with several texts".to_owned()),
                (true, _) => {
                    let each = patterns.iter().map(|pattern| if way == SUBSTRING { escaped(pattern) } else { format!("(?:{pattern})") });
                    vec![check(Subject::Body, one_of(&each.collect::<Vec<_>>().join("|"), way))]
                }
            }
        }
        "response_code" => {
            let codes: Option<Vec<String>> = patterns.iter().map(|pattern| status(pattern)).collect();
            let codes = codes.ok_or("it compares the status with something that is no number, such as 200 or 2..")?;
            match (is_not, together || codes.len() == 1) {
                (_, false) => return Err("it wants several statuses at once; tick OR".to_owned()),
                (false, true) => vec![check(Subject::Status, codes.join(", "))],
                (true, true) if codes.len() == 1 => vec![check(Subject::Status, format!("not {}", codes[0]))],
                (true, true) => return Err("it is fulfilled by any of several statuses that are not there".to_owned()),
            }
        }
        field => return Err(format!("it looks into '{field}', and checks are about the status, the body or a header by its name")),
    };
    let is_about_status = checks.iter().any(|check| check.subject == Subject::Status);
    if element.is_on("Assertion.assume_success", false) {
        if !is_about_status {
            checks.push(check(Subject::Status, "100-599".to_owned()));
        }
    } else if is_about_status && (is_not || patterns.iter().any(|code| code.trim().starts_with(['4', '5']))) {
        // What has failed by its status stays so, whatever is asked of that.
        checks.push(check(Subject::Status, "100-399".to_owned()));
    }
    Ok(checks)
}

/// A regular expression that a text fulfils as a whole.
fn whole(pattern: &str) -> String {
    format!("\\A(?:{pattern})\\z")
}

/// The condition to match a regular expression. In its quotation marks, only those are special, so they are written by number.
fn matching(pattern: &str) -> String {
    let written = pattern.replace("\\\"", "\"").replace('"', "\\x22").replace('\n', "\\n").replace('\r', "\\r");
    format!("matches \"{written}\"")
}

fn one_of(patterns: &str, way: u32) -> String {
    matching(&if way == MATCHES { whole(patterns) } else { patterns.to_owned() })
}

/// A status, or a pattern of several, as checks have it.
fn status(pattern: &str) -> Option<String> {
    let pattern = pattern.trim();
    if pattern.len() == 3 && pattern.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(pattern.to_owned());
    }
    let class = pattern.chars().next().filter(|letter| ('1'..='5').contains(letter))?;
    matches!(&pattern[1..], ".." | "\\d\\d" | "\\d{2}" | ".*" | "[0-9][0-9]" | "[0-9]{2}").then(|| format!("{class}xx"))
}

fn json_path(element: &Element) -> Result<Vec<AnswerCheck>, String> {
    let path = element.text("JSON_PATH").trim();
    if !path.starts_with('$') {
        return Err(format!("its JSONPath '{path}' does not begin with $"));
    }
    let finds_several = ["..", "*", "?(", ",", ":"].iter().any(|sign| path.contains(sign));
    if finds_several && element.is_on("JSONVALIDATION", false) {
        return Err(format!("any of several values that '{path}' finds may be the one, and they are held against it together here"));
    }
    let not = if element.is_on("INVERT", false) { "not " } else { "" };
    let expected = element.text("EXPECTED_VALUE");
    let condition = if element.is_on("EXPECT_NULL", false) {
        "== null".to_owned()
    } else if !element.is_on("JSONVALIDATION", false) {
        "exists".to_owned()
    } else if element.is_on("ISREGEX", true) {
        matching(&whole(expected))
    } else {
        let bare = expected.trim();
        let is_value = serde_json::from_str::<serde_json::Value>(bare).is_ok_and(|value| !value.is_string());
        format!("== {}", if is_value { bare.to_owned() } else { json_string(expected) })
    };
    let condition = format!("{not}{condition}");
    // What is not there keeps no promise, but the one to be missing.
    Ok(vec![check(Subject::Json(path.to_owned()), if condition == "not exists" { "missing".to_owned() } else { condition })])
}

fn size(element: &Element) -> Result<Vec<AnswerCheck>, String> {
    let field = element.text("Assertion.test_field");
    if field != "SizeAssertion.response_data" {
        return Err("it counts bytes of the head too, and a size is that of the body here; let it look at the body".to_owned());
    }
    let size: u64 = element.text("SizeAssertion.size").trim().parse().map_err(|_| "its size is no whole number of bytes".to_owned())?;
    let operator = match element.text("SizeAssertion.operator").trim() {
        "1" | "" => "==",
        "2" => "!=",
        "3" => ">",
        "4" => "<",
        "5" => ">=",
        "6" => "<=",
        _ => return Err("its comparison is unknown".to_owned()),
    };
    Ok(vec![check(Subject::Size, format!("{operator} {size}"))])
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Content, Property};
    use super::*;

    fn element(class: &str, properties: &[(&str, &str)]) -> Element {
        let text = |(name, value): &(&str, &str)| Property { name: (*name).to_owned(), value: Content::Text((*value).to_owned()) };
        Element { class: class.to_owned(), properties: properties.iter().map(text).collect(), ..Element::default() }
    }

    fn said(found: &Taken) -> String {
        match &found.found {
            Ok(Extraction { variable, kind, expression, which, default, .. }) => {
                format!("{variable}: {} {expression} {which:?} or {}", kind.word(), default.as_deref().unwrap_or_default())
            }
            Err(why) => format!("{}: {why}", found.name),
        }
    }

    #[test]
    fn extractors_take_what_they_took() {
        let regex = [("RegexExtractor.refname", "a b"), ("RegexExtractor.regex", "id=(\\d+)"), ("RegexExtractor.default", "none")];
        assert_eq!(said(&taken(&element("RegexExtractor", &regex))[0]), "a_b: regex id=(\\d+) First or none");
        let with = |more: (&str, &str)| said(&taken(&element("RegexExtractor", &[&regex[..], &[more]].concat()))[0]);
        assert_eq!(with(("RegexExtractor.match_number", "-1")), "a_b: regex id=(\\d+) Every or none");
        assert!(with(("RegexExtractor.match_number", "0")).contains("by chance"));
        assert!(with(("RegexExtractor.template", "$1$-$2$")).contains("'$1$-$2$' is not '$1$'"));
        assert!(with(("RegexExtractor.useHeaders", "true")).contains("looks into 'true'"));
        assert!(with(("Sample.scope", "variable")).contains("looks at 'variable'"));
        let json = [
            ("JSONPostProcessor.referenceNames", "id; name;x"),
            ("JSONPostProcessor.jsonPathExprs", "$.id;$..name;y"),
            ("JSONPostProcessor.match_numbers", "1;2"),
            ("JSONPostProcessor.defaultValues", "0;;"),
        ];
        let found: Vec<String> = taken(&element("JSONPostProcessor", &json)).iter().map(said).collect();
        assert_eq!(found, ["id: json $.id First or 0", "name: json $..name Nth(1) or ", "x: its JSONPath 'y' does not begin with $"]);
        let boundary = [("BoundaryExtractor.refname", "t"), ("BoundaryExtractor.lboundary", "a(\""), ("BoundaryExtractor.rboundary", "")];
        assert_eq!(said(&taken(&element("BoundaryExtractor", &boundary))[0]), "t: regex (?s)a\\(\"(.*?)\\z First or ");
        let css = [("HtmlExtractor.refname", "t"), ("HtmlExtractor.expr", "input[name=csrf]"), ("HtmlExtractor.attribute", "value")];
        assert_eq!(said(&taken(&element("HtmlExtractor", &css))[0]), "t: css input[name=csrf]::attr(value) First or ");
        assert_eq!(said(&taken(&element("HtmlExtractor", &css[..2]))[0]), "t: css input[name=csrf]::line First or ");
        let nulls = [taken(&element("JSONPostProcessor", &json)), taken(&element("HtmlExtractor", &css))];
        let nulls = nulls.map(|taken| taken[0].found.as_ref().unwrap().null_is_missing);
        assert_eq!(nulls, [true, false]);
    }

    #[test]
    fn assertions_hold_answers_against_the_same() {
        let told = |class: &str, properties: &[(&str, &str)], patterns: &[&str]| {
            let mut element = element(class, properties);
            let list = patterns.iter().map(|text| Property { name: String::new(), value: Content::Text((*text).to_owned()) }).collect();
            element.properties.push(Property { name: "Asserion.test_strings".to_owned(), value: Content::List(list) });
            match checks(&element) {
                Ok(checks) => {
                    checks.iter().map(|check| format!("{} {}", check.subject.word(), check.condition)).collect::<Vec<_>>().join("; ")
                }
                Err(why) => why,
            }
        };
        let of = |kind: &str, field: &str, patterns: &[&str]| {
            told("ResponseAssertion", &[("Assertion.test_type", kind), ("Assertion.test_field", &format!("Assertion.{field}"))], patterns)
        };
        assert_eq!(of("16", "response_data", &["a\"b", "c"]), "body contains \"a\\\"b\"; body contains \"c\"");
        assert_eq!(of("20", "response_data", &["a"]), "body not contains \"a\"");
        assert_eq!(of("2", "response_data", &["a.c"]), "body matches \"a.c\"");
        assert_eq!(of("1", "response_data", &["a.c"]), "body matches \"\\A(?:a.c)\\z\"");
        assert_eq!(of("48", "response_data", &["a.", "b"]), "body matches \"a\\.|b\"");
        assert_eq!(of("8", "response_code", &["200"]), "status 200");
        assert_eq!(of("33", "response_code", &["2..", "304"]), "status 2xx, 304");
        assert_eq!(of("6", "response_code", &["5\\d\\d"]), "status not 5xx; status 100-399");
        assert_eq!(of("8", "response_code", &["404"]), "status 404; status 100-399");
        assert_eq!(of("2", "response_data", &["say \"a\" \\\"\\d\nx"]), "body matches \"say \\x22a\\x22 \\x22\\d\\nx\"");
        for condition in [of("1", "response_data", &["one.*\n"]), of("33", "response_data", &["a", "say \"b\""])] {
            assert!(condition.starts_with("body matches \"\\A(?:"), "{condition}");
        }
        assert!(of("8", "response_code", &["OK"]).contains("no number") && of("8", "response_code", &["200", "201"]).contains("tick OR"));
        assert!(of("2", "response_headers", &["x"]).contains("looks into 'response_headers'"));
        assert!(of("16", "response_data", &["${token}"]).contains("holds values"));
        let json = [("JSON_PATH", "$.a"), ("EXPECTED_VALUE", "7"), ("JSONVALIDATION", "true")];
        assert_eq!(told("JSONPathAssertion", &json, &[]), "json matches \"\\A(?:7)\\z\"");
        assert_eq!(told("JSONPathAssertion", &[&json[..], &[("ISREGEX", "false")]].concat(), &[]), "json == 7");
        assert_eq!(told("JSONPathAssertion", &[json[0], ("INVERT", "true")], &[]), "json missing");
        assert_eq!(told("DurationAssertion", &[("DurationAssertion.duration", " 500 ")], &[]), "time <= 500ms");
        let size = [("Assertion.test_field", "SizeAssertion.response_data"), ("SizeAssertion.size", "10"), ("SizeAssertion.operator", "5")];
        assert_eq!(told("SizeAssertion", &size, &[]), "size >= 10");
        assert!(told("XPathAssertion", &[], &[]).contains("not carried out here"));
    }
}
