//! What a test plan takes out of answers.
//!
//! An extractor of JMeter sets one variable and, where a plan names them, more: the groups of a match, how many there were, each of them by
//! its number. Here each of these is an extraction of its own, and there are only those that something names.

use std::cell::Cell;

use plan::template::Template;
use plan::work::{AnswerPart, Expression, Extraction, Function, Kind, Where, Which};

use super::dialects;
use super::expressions::fixed;
use super::text::{Mentions, Names, closing, list_name};
use super::tree::Element;
use crate::collection::url::{filled, variable, variable_name};

/// A variable that an extractor fills: its name in the plan, and how it is found.
pub(super) struct Taken {
    /// As the plan calls it.
    pub(super) name: String,
    /// How it is found, or why it is not.
    pub(super) found: Result<Extraction, String>,
    /// Whether all matches are numbered parts of the variable.
    pub(super) is_list: bool,
    /// Whether these stand in a variable of their own beside it, which has the name of a list.
    pub(super) stands_beside: bool,
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
            | "JSONPathExtractor"
    )
}

/// What an extractor takes out of answers, for a plan that names this. Values are put in where `names` are known.
pub(super) fn taken(element: &Element, mentions: &Mentions<'_>, names: Option<&Names<'_>>) -> Vec<Taken> {
    let extractor = Extractor { element, mentions, names };
    match element.class.as_str() {
        "JSONPostProcessor" => extractor.json(),
        "JSONPathExtractor" => extractor.json_of_plugin(),
        "RegexExtractor" => extractor.regex(),
        "BoundaryExtractor" => extractor.boundary(),
        "HtmlExtractor" => extractor.css(),
        "XPathExtractor" => extractor.xpath("XPathExtractor", "-1"),
        "XPath2Extractor" => extractor.xpath("XPathExtractor2", "0"),
        _ => extractor.jmespath(),
    }
}

/// An extractor while it is read.
struct Extractor<'e> {
    element: &'e Element,
    mentions: &'e Mentions<'e>,
    names: Option<&'e Names<'e>>,
}

/// What becomes of a variable for which nothing is found.
#[derive(Clone)]
enum Otherwise {
    Becomes(String),
    /// The same without values in it.
    Stays(String),
    Keeps,
}

/// An expression, and the template that it is, if it holds values that are known only on the way.
type LookedFor = (String, Option<Template>);

/// What a group of all matches of an extractor is called, which no plan can name.
pub(super) fn group_list(name: &str, group: usize) -> String {
    format!("{name} group {group}")
}

/// What the numbers of groups of all matches of an extractor are called, which no plan can name.
pub(super) fn group_count_list(name: &str) -> String {
    format!("{name} group count")
}

/// What an extractor looks for, whatever it does with what it finds.
struct Sought<'s> {
    name: &'s str,
    kind: Kind,
    expression: Result<LookedFor, String>,
    within: Result<Where, String>,
    number: &'s str,
    otherwise: Otherwise,
}

/// Which of several matches a number names, from 1; all of them below 0, and one by chance at 0.
fn which(number: &str) -> Result<Which, String> {
    match number.trim().parse::<i64>() {
        Ok(0) => Ok(Which::Random),
        Ok(1) => Ok(Which::First),
        Ok(number @ 2..) => Ok(Which::Nth(usize::try_from(number - 1).unwrap_or(usize::MAX))),
        Ok(_) => Ok(Which::Every),
        Err(_) => Err(format!("its match number '{number}' is no number")),
    }
}

fn or<'t>(text: &'t str, default: &'t str) -> &'t str {
    if text.trim().is_empty() { default } else { text }
}

/// A text as a regular expression that finds it.
pub(super) fn escaped(text: &str) -> String {
    text.chars().flat_map(|letter| ["\\^$.|?*+()[]{}".contains(letter).then_some('\\'), Some(letter)]).flatten().collect()
}

impl Extractor<'_> {
    /// A setting with the values in it that are known.
    fn setting(&self, text: &str) -> Result<String, String> {
        self.names.map_or_else(|| Ok(text.to_owned()), |names| names.setting(text))
    }

    /// What is looked for, by a text that `made` makes an expression of.
    fn looked_for(&self, text: &str, beginnings: &[&str], made: impl Fn(&str) -> Result<String, String>) -> Result<LookedFor, String> {
        let Some(names) = self.names else {
            // Whatever a value is, it is a part of the expression.
            let mut tried = beginnings.iter().map(|beginning| made(&as_if_valued(text, &format!("{beginning}0"))));
            let first = tried.next().unwrap_or_else(|| Ok(String::new()));
            return first.or_else(|why| tried.find_map(Result::ok).ok_or(why)).map(|made| (made, None));
        };
        if let Ok(known) = names.setting(text) {
            return made(&known).map(|made| (made, None));
        }
        let open = dialects::open(&filled(&names.template(text)?, &names.known), beginnings, made)?;
        Ok((open.to_string(), Some(open)))
    }

    /// In which text it looks, by a setting that says so where it looks at the answer itself.
    fn within(&self, field: &str) -> Result<Where, String> {
        let part = match field.trim() {
            "" | "false" => AnswerPart::Body,
            "unescaped" => AnswerPart::Unescaped,
            "as_document" => AnswerPart::Text,
            "true" => AnswerPart::Headers,
            "request_headers" => AnswerPart::RequestHeaders,
            "URL" => AnswerPart::Url,
            "code" => AnswerPart::Status,
            "message" => AnswerPart::Message,
            field => return Err(format!("it looks into '{field}', which is unknown here")),
        };
        match self.element.text("Sample.scope") {
            "" | "parent" | "all" => Ok(Where::Part(part)),
            "variable" => self.of_variable(self.element.text("Scope.variable").trim()),
            // The answers of which a sample is made are those along redirects.
            "children" if part == AnswerPart::Body => Ok(Where::Part(AnswerPart::Hops)),
            scope => Err(format!("it looks at '{scope}', and values are taken out of the answer itself")),
        }
    }

    fn of_variable(&self, name: &str) -> Result<Where, String> {
        let value = self.names.map_or_else(|| Some(variable(name)), |names| names.value(name));
        value.map(Where::Written).ok_or_else(|| format!("it looks at the variable '{name}', to which nothing here gives a value"))
    }

    /// What it is if nothing is found, by two settings: an empty default leaves the old value, unless it is meant.
    fn otherwise(&self, prefix: &str) -> Otherwise {
        let default = self.element.text(&format!("{prefix}.default"));
        let is_meant = self.element.is_on(&format!("{prefix}.default_empty_value"), false);
        if default.is_empty() && !is_meant { Otherwise::Keeps } else { Otherwise::Becomes(default.to_owned()) }
    }

    /// A single extraction into a variable of this name in the plan.
    fn one(&self, sought: &Sought<'_>, name: &str, which: Result<Which, String>, written: Option<String>, otherwise: Otherwise) -> Taken {
        let found = || {
            let (expression, open) = sought.expression.clone()?;
            let (default, optional) = match otherwise {
                Otherwise::Becomes(default) => (Some(self.setting(&default)?), false),
                Otherwise::Stays(text) => (Some(text), false),
                Otherwise::Keeps => (None, true),
            };
            let is_list = which == Ok(Which::Every);
            // What is no list has no parts that could be kept.
            let (default, optional) = if is_list { (Some(String::new()), false) } else { (default, optional) };
            Ok(Extraction {
                open,
                within: sought.within.clone()?,
                which: which?,
                written,
                default,
                optional,
                null_is_missing: sought.kind == Kind::JsonPath,
                ..Extraction::new(self.names.map_or_else(|| variable_name(name), |names| names.plain(name)), sought.kind, expression)
            })
        };
        Taken { name: name.to_owned(), found: found(), is_list: false, stands_beside: false }
    }

    /// The variable of an extractor, and those that count and number its matches, where something names them.
    fn with_parts(&self, sought: &Sought<'_>, written: Option<&str>, numbers_beside: bool) -> Vec<Taken> {
        let written = || written.map(str::to_owned);
        let which = which(sought.number);
        let is_list = which == Ok(Which::Every);
        let mut all = vec![self.one(sought, sought.name, which, written(), sought.otherwise.clone())];
        all[0].is_list = is_list;
        if is_list {
            return all;
        }
        let count = format!("{}_matchNr", sought.name);
        let names_part = |name: &&str| name.strip_prefix(sought.name).and_then(|part| part.strip_prefix('_')).is_some_and(is_number);
        if numbers_beside && self.mentions.references.iter().any(names_part) {
            let mut list = self.one(sought, &list_name(sought.name), Ok(Which::Every), written(), Otherwise::Keeps);
            sought.name.clone_into(&mut list.name);
            (list.is_list, list.stands_beside) = (true, true);
            all.push(list);
        } else if numbers_beside && self.mentions.names(&count) {
            all.push(self.one(sought, &count, Ok(Which::Count), None, Otherwise::Becomes("0".to_owned())));
        }
        all
    }

    /// What the settings of the older extractors say alike.
    fn sought(&self, prefix: &str, kind: Kind, expression: Result<LookedFor, String>) -> Sought<'_> {
        let of = |name: &str| self.element.text(&format!("{prefix}.{name}"));
        Sought {
            name: of("refname").trim(),
            kind,
            expression,
            within: self.within(of("useHeaders")),
            number: or(of("match_number"), "0"),
            otherwise: self.otherwise(prefix),
        }
    }

    fn regex(&self) -> Vec<Taken> {
        let of = |name: &str| self.element.text(&format!("RegexExtractor.{name}"));
        let template = or(of("template"), "$1$");
        let end = if template.contains("$0$") { Some(dialects::END_UNTAKEN) } else { None };
        let groups = Cell::new(1);
        let expression = self.looked_for(of("regex"), &[""], |pattern| {
            let made = match end {
                Some(end) => dialects::regex_ending(pattern, end),
                None => dialects::regex(pattern),
            }?;
            groups.set(dialects::groups_count(&made));
            Ok(made)
        });
        let groups = groups.get();
        let sought = self.sought("RegexExtractor", Kind::Regex, expression);
        let form = form_of(template, groups);
        // Its first group is what is taken where nothing else is said, and the whole match of an expression without one.
        let is_usual = form == "$1" && groups == 2 || form == "$0" && groups == 1;
        let mut all = self.with_parts(&sought, (!is_usual).then_some(form.as_str()), false);
        let is_list = all[0].is_list;
        if is_list {
            let count = ("_g".to_owned(), group_count_list(sought.name), (groups - 1).to_string());
            let each = (0..groups).map(|group| (format!("_g{group}"), group_list(sought.name, group), format!("${group}")));
            for (part, name, form) in std::iter::once(count).chain(each) {
                let is_numbered = |name: &&str| {
                    let number = name.strip_prefix(sought.name).and_then(|rest| rest.strip_prefix('_')?.strip_suffix(&part));
                    number.is_some_and(is_number)
                };
                if self.mentions.references.iter().any(is_numbered) {
                    let list = self.one(&sought, &name, Ok(Which::Every), Some(form), Otherwise::Keeps);
                    all.push(Taken { is_list: true, ..list });
                }
            }
            return all;
        }
        let which = which(sought.number);
        let mut part = |part: String, form: String| {
            let name = format!("{}_{part}", sought.name);
            if self.mentions.names(&name) {
                let unset = Otherwise::Stays(format!("${{{name}}}"));
                all.push(self.one(&sought, &name, which.clone(), Some(form), unset));
            }
        };
        part("g".to_owned(), (groups - 1).to_string());
        (0..groups).for_each(|number| part(format!("g{number}"), format!("${number}")));
        all
    }

    fn boundary(&self) -> Vec<Taken> {
        let of = |name: &str| self.element.text(&format!("BoundaryExtractor.{name}"));
        let side = |name: &str, edge: &str| match (self.setting(of(name)), self.names) {
            (Ok(text), _) if text.is_empty() => Ok(Template::fixed(edge)),
            (Ok(text), _) => Ok(Template::fixed(escaped(&text))),
            (Err(_), Some(names)) => {
                let text = Expression::Text(names.template(of(name))?);
                Ok(names.compute("text", Expression::Call(Function::Encode, vec![text, fixed("regex")])))
            }
            (Err(why), None) => Err(why),
        };
        let expression = side("lboundary", "\\A").and_then(|left| {
            let mut whole = Template::fixed("(?s)");
            whole.append(left);
            whole.push("(.*?)");
            whole.append(side("rboundary", "\\z")?);
            if whole.is_fixed() { Ok((whole.fixed_text(), None)) } else { Ok((whole.to_string(), Some(whole))) }
        });
        let sought = self.sought("BoundaryExtractor", Kind::Regex, expression);
        self.with_parts(&sought, None, false)
    }

    fn css(&self) -> Vec<Taken> {
        let of = |name: &str| self.element.text(&format!("HtmlExtractor.{name}"));
        let attribute = of("attribute").trim();
        let taken = if attribute.is_empty() { "line".to_owned() } else { format!("attr({attribute})") };
        let expression = self.looked_for(of("expr"), &["x", ""], |selector| understood(Kind::Css, format!("{selector}::{taken}")));
        let sought = self.sought("HtmlExtractor", Kind::Css, expression);
        self.with_parts(&sought, None, false)
    }

    fn xpath(&self, prefix: &str, any: &str) -> Vec<Taken> {
        let of = |name: &str| self.element.text(&format!("{prefix}.{name}"));
        let expression = if of("fragment").trim() == "true" {
            Err("it takes a part of the document, and texts are taken here".to_owned())
        } else {
            self.looked_for(of("xpathQuery"), &["", "x"], |path| understood(Kind::XPath, path.to_owned()))
        };
        // -1 of the older one and 0 of the newer one mean the first, where nothing else is said.
        let number = match or(of("matchNumber"), any) {
            number if number.trim() == any => "1",
            number => number,
        };
        let sought = Sought {
            name: of("refname").trim(),
            kind: Kind::XPath,
            expression,
            within: self.within(""),
            number,
            otherwise: Otherwise::Becomes(of("default").to_owned()),
        };
        self.with_parts(&sought, None, true)
    }

    fn jmespath(&self) -> Vec<Taken> {
        let of = |name: &str| self.element.text(&format!("JMESExtractor.{name}"));
        let sought = Sought {
            name: of("referenceName").trim(),
            kind: Kind::JmesPath,
            expression: self.looked_for(of("jmesPathExpr"), &["", "x"], |path| understood(Kind::JmesPath, path.to_owned())),
            within: self.within(""),
            number: or(of("matchNumber"), "0"),
            otherwise: Otherwise::Becomes(of("defaultValue").to_owned()),
        };
        self.with_parts(&sought, None, true)
    }

    /// That of a plugin, which plans of the time had before JMeter had one of its own.
    fn json_of_plugin(&self) -> Vec<Taken> {
        let of = |name: &str| self.element.text(name).trim();
        let expression = if of("INPUT_FORMAT").eq_ignore_ascii_case("yaml") {
            Err("it reads YAML, and JSON is read here".to_owned())
        } else {
            self.looked_for(of("JSONPATH"), &[""], dialects::json_path)
        };
        let finds_several = expression.as_ref().is_ok_and(|(path, _)| dialects::finds_several(path));
        let within = match of("SUBJECT") {
            "VAR" => self.of_variable(of("VARIABLE")),
            _ => Ok(Where::default()),
        };
        let sought = Sought {
            name: of("VAR"),
            kind: Kind::JsonPath,
            expression,
            within,
            number: if finds_several { "-1" } else { "1" },
            otherwise: Otherwise::Becomes(self.element.text("DEFAULT").to_owned()),
        };
        self.with_parts(&sought, None, false)
    }

    fn json(&self) -> Vec<Taken> {
        let of = |name: &str| self.element.text(&format!("JSONPostProcessor.{name}")).split(';').map(str::trim).collect::<Vec<_>>();
        let (names, paths, numbers, defaults) = (of("referenceNames"), of("jsonPathExprs"), of("match_numbers"), of("defaultValues"));
        let mut all = Vec::new();
        for (place, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let path = self.looked_for(paths.get(place).copied().unwrap_or_default(), &[""], dialects::json_path);
            // One by chance of those that a path finds which finds a single one is that one.
            let is_one = path.as_ref().is_ok_and(|(path, _)| !dialects::finds_several(path));
            let number = or(numbers.get(place).copied().unwrap_or_default(), "0");
            let sought = Sought {
                name,
                kind: Kind::JsonPath,
                expression: path,
                within: self.within(""),
                number: if is_one && number == "0" { "1" } else { number },
                otherwise: Otherwise::Becomes(defaults.get(place).copied().unwrap_or_default().to_owned()),
            };
            let parts = self.with_parts(&sought, None, true);
            let joined = format!("{name}_ALL");
            if parts[0].is_list && self.element.is_on("JSONPostProcessor.compute_concat", false) && self.mentions.names(&joined) {
                all.push(self.one(&sought, &joined, Ok(Which::Joined), None, Otherwise::Becomes(String::new())));
            }
            all.extend(parts);
        }
        all
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A text with this in the place of each value.
fn as_if_valued(text: &str, value: &str) -> String {
    let (mut written, mut rest) = (String::new(), text);
    while let Some(at) = rest.find("${") {
        let Some(length) = closing(&rest[at + 2..]) else { break };
        written.push_str(&rest[..at]);
        written.push_str(value);
        rest = &rest[at + 2 + length + 1..];
    }
    written + rest
}

/// An expression, if it is understood here.
pub(super) fn understood(kind: Kind, expression: String) -> Result<String, String> {
    match step::Extractor::compile(kind, &expression) {
        Ok(_) => Ok(expression),
        Err(mistake) => Err(format!("'{expression}' is not understood here: {}", mistake.message)),
    }
}

/// `$2$-$1$` as it is written here. A group that the expression does not have is the word null there.
pub(super) fn form_of(template: &str, groups: usize) -> String {
    let (mut form, mut rest) = (String::new(), template);
    while let Some(at) = rest.find('$') {
        form.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let number = behind.split_once('$').filter(|(number, _)| is_number(number));
        match number {
            Some((number, after)) => {
                match number.parse::<usize>() {
                    Ok(number) if number < groups && after.starts_with(|next: char| next.is_ascii_digit()) => {
                        form.push_str(&format!("${{{number}}}"));
                    }
                    Ok(number) if number < groups => form.push_str(&format!("${number}")),
                    _ => form.push_str("null"),
                }
                rest = after;
            }
            None => {
                form.push_str("$$");
                rest = behind;
            }
        }
    }
    form + rest
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Content, Property};
    use super::*;

    fn found(element: &Element) -> Vec<Taken> {
        taken(element, &Mentions::default(), None)
    }

    fn element(class: &str, properties: &[(&str, &str)]) -> Element {
        let text = |(name, value): &(&str, &str)| Property { name: (*name).to_owned(), value: Content::Text((*value).to_owned()) };
        Element { class: class.to_owned(), properties: properties.iter().map(text).collect(), ..Element::default() }
    }

    fn said(found: &Taken) -> String {
        match &found.found {
            Ok(Extraction { variable, kind, expression, within, written, which, default, optional, .. }) => {
                let within = match within {
                    Where::Part(AnswerPart::Body) => String::new(),
                    Where::Part(part) => format!(" in {}", part.word()),
                    Where::Written(text) => format!(" in {text}"),
                };
                let written = written.as_ref().map(|form| format!(" as {form}")).unwrap_or_default();
                let default = if *optional { "what it was" } else { default.as_deref().unwrap_or_default() };
                format!("{variable}: {} {expression}{within}{written} {which:?} or {default}", kind.word())
            }
            Err(why) => format!("{}: {why}", found.name),
        }
    }

    #[test]
    fn extractors_take_what_they_took() {
        let regex = [
            ("RegexExtractor.refname", "a b"),
            ("RegexExtractor.regex", "id=(\\d+)"),
            ("RegexExtractor.match_number", "1"),
            ("RegexExtractor.default", "none"),
        ];
        assert_eq!(said(&found(&element("RegexExtractor", &regex))[0]), "a_b: regex id=(\\d+) First or none");
        let with = |more: (&str, &str)| said(&found(&element("RegexExtractor", &[&[more], &regex[..]].concat()))[0]);
        assert_eq!(with(("RegexExtractor.match_number", "-1")), "a_b: regex id=(\\d+) Every or ");
        assert_eq!(with(("RegexExtractor.match_number", "0")), "a_b: regex id=(\\d+) Random or none");
        assert_eq!(with(("RegexExtractor.template", "$1$-$0$$$2$")), "a_b: regex id=(\\d+) as $1-$0$$null First or none");
        assert_eq!(with(("RegexExtractor.useHeaders", "true")), "a_b: regex id=(\\d+) in headers First or none");
        assert_eq!(with(("RegexExtractor.useHeaders", "code")), "a_b: regex id=(\\d+) in status First or none");
        let of_variable = [("Sample.scope", "variable"), ("Scope.variable", "page")];
        let of_variable = found(&element("RegexExtractor", &[&regex[..], &of_variable].concat()));
        assert_eq!(said(&of_variable[0]), "a_b: regex id=(\\d+) in {{page}} First or none");
        assert_eq!(with(("Sample.scope", "children")), "a_b: regex id=(\\d+) in hops First or none");
        assert!(with(("Sample.scope", "others")).contains("looks at 'others'"));
        let kept = said(&found(&element("RegexExtractor", &regex[..2]))[0]);
        assert_eq!(kept, "a_b: regex id=(\\d+) Random or what it was");
        let json = [
            ("JSONPostProcessor.referenceNames", "id; name;x"),
            ("JSONPostProcessor.jsonPathExprs", "$.id;$..name;y"),
            ("JSONPostProcessor.match_numbers", "1;2"),
            ("JSONPostProcessor.defaultValues", "0;;"),
        ];
        let told: Vec<String> = found(&element("JSONPostProcessor", &json)).iter().map(said).collect();
        assert_eq!(told, ["id: json $.id First or 0", "name: json $..name Nth(1) or ", "x: json $.y First or "]);
        let of_plugin = [("VAR", "who"), ("JSONPATH", "user.name"), ("DEFAULT", "none"), ("SUBJECT", "BODY")];
        assert_eq!(said(&found(&element("JSONPathExtractor", &of_plugin))[0]), "who: json $.user.name First or none");
        let several = [("VAR", "ids"), ("JSONPATH", "$..id"), ("SUBJECT", "VAR"), ("VARIABLE", "page")];
        assert_eq!(said(&found(&element("JSONPathExtractor", &several))[0]), "ids: json $..id in {{page}} Every or ");
        let boundary = [("BoundaryExtractor.refname", "t"), ("BoundaryExtractor.lboundary", "a(\""), ("BoundaryExtractor.rboundary", "")];
        assert_eq!(said(&found(&element("BoundaryExtractor", &boundary))[0]), "t: regex (?s)a\\(\"(.*?)\\z Random or what it was");
        let css = [("HtmlExtractor.refname", "t"), ("HtmlExtractor.expr", "input[name=csrf]"), ("HtmlExtractor.attribute", "value")];
        assert_eq!(said(&found(&element("HtmlExtractor", &css))[0]), "t: css input[name=csrf]::attr(value) Random or what it was");
        assert_eq!(said(&found(&element("HtmlExtractor", &css[..2]))[0]), "t: css input[name=csrf]::line Random or what it was");
        let nulls = [found(&element("JSONPostProcessor", &json)), found(&element("HtmlExtractor", &css))];
        let nulls = nulls.map(|taken| taken[0].found.as_ref().unwrap().null_is_missing);
        assert_eq!(nulls, [true, false]);
    }

    #[test]
    fn groups_of_all_matches_are_lists_of_their_own_where_something_names_one() {
        let mut mentions = Mentions::default();
        mentions.add("${t_2_g1} ${t_x_g2} ${t_1_g9} ${t_3_g} ${t_x_g}");
        let regex = [("RegexExtractor.refname", "t"), ("RegexExtractor.regex", "(a)(b)"), ("RegexExtractor.match_number", "-1")];
        let all = taken(&element("RegexExtractor", &regex), &mentions, None);
        assert_eq!(
            all.iter().map(said).collect::<Vec<_>>(),
            ["t: regex (a)(b) as $1 Every or ", "t_group_count: regex (a)(b) as 2 Every or ", "t_group_1: regex (a)(b) as $1 Every or "]
        );
    }

    #[test]
    fn what_is_looked_for_may_hold_values_that_are_known_only_on_the_way() {
        let names = Names {
            set: ["id".to_owned()].into(),
            varying: ["id".to_owned()].into(),
            known: vec![value_of("word", "x")],
            ..Names::default()
        };
        let with = |class: &str, properties: &[(&str, &str)]| {
            let mentions = Mentions::default();
            let found = taken(&element(class, properties), &mentions, Some(&names));
            assert!(taken(&element(class, properties), &mentions, None)[0].found.is_ok(), "{properties:?}");
            let computed: Vec<String> = names.computed.take().iter().map(|(name, value)| format!("; {name} = {value}")).collect();
            match &found[0].found {
                Ok(found) => found.open.as_ref().map_or_else(|| found.expression.clone(), ToString::to_string) + &computed.concat(),
                Err(why) => why.clone(),
            }
        };
        let regex = |expression| with("RegexExtractor", &[("RegexExtractor.refname", "t"), ("RegexExtractor.regex", expression)]);
        assert_eq!(regex("${word}=(.)"), "x=(.)");
        assert_eq!(regex("7100 ${id}=(\\d+)$"), "7100 {{id}}=(\\d+)(?:\\n?\\z)");
        let json =
            |path| with("JSONPostProcessor", &[("JSONPostProcessor.referenceNames", "t"), ("JSONPostProcessor.jsonPathExprs", path)]);
        assert_eq!(json("$.items[${id}].a-b"), "$.items[{{id}}]['a-b']");
        assert_eq!(json("$..book[?(@.id == '${id}')].${word}"), "$..book[?(@.id == '{{id}}')].x");
        let css = |selector| with("HtmlExtractor", &[("HtmlExtractor.refname", "t"), ("HtmlExtractor.expr", selector)]);
        assert_eq!(
            (css("#${id} > a"), css("li:nth-child(${id})")),
            ("#{{id}} > a::line".to_owned(), "li:nth-child({{id}})::line".to_owned())
        );
        assert_eq!(with("XPathExtractor", &[("XPathExtractor.refname", "t"), ("XPathExtractor.xpathQuery", "//a[${id}]")]), "//a[{{id}}]");
        let sides = [("BoundaryExtractor.refname", "t"), ("BoundaryExtractor.lboundary", "[${id}:"), ("BoundaryExtractor.rboundary", "]")];
        assert_eq!(with("BoundaryExtractor", &sides), "(?s){{text_1}}(.*?)\\]; text_1 = encode(\"[{{id}}:\", regex)");
    }

    fn value_of(name: &str, value: &str) -> crate::collection::Variable {
        crate::collection::Variable { name: name.to_owned(), value: Template::fixed(value), secret: false }
    }

    #[test]
    fn what_else_an_extractor_sets_is_taken_where_something_names_it() {
        let mut mentions = Mentions::default();
        for text in ["${t_g} ${t_g1}", "vars.get('t_g0')", "${p_ALL} ${q_matchNr} ${x_2}"] {
            mentions.add(text);
        }
        let told = |element: Element| taken(&element, &mentions, None).iter().map(said).collect::<Vec<_>>();
        let regex = [
            ("RegexExtractor.refname", "t"),
            ("RegexExtractor.regex", "(a)(b)"),
            ("RegexExtractor.template", "$2$"),
            ("RegexExtractor.match_number", "1"),
        ];
        assert_eq!(
            told(element("RegexExtractor", &regex)),
            [
                "t: regex (a)(b) as $2 First or what it was",
                "t_g: regex (a)(b) as 2 First or ${t_g}",
                "t_g0: regex (a)(b) as $0 First or ${t_g0}",
                "t_g1: regex (a)(b) as $1 First or ${t_g1}",
            ]
        );
        let json = [
            ("JSONPostProcessor.referenceNames", "p;q"),
            ("JSONPostProcessor.jsonPathExprs", "$..p;$..q"),
            ("JSONPostProcessor.match_numbers", "-1;1"),
            ("JSONPostProcessor.compute_concat", "true"),
        ];
        assert_eq!(
            told(element("JSONPostProcessor", &json)),
            ["p_ALL: json $..p Joined or ", "p: json $..p Every or ", "q: json $..q First or ", "q_matchNr: json $..q Count or 0"]
        );
        let xpath = element("XPathExtractor", &[("XPathExtractor.refname", "x"), ("XPathExtractor.xpathQuery", "//a")]);
        let all = taken(&xpath, &mentions, None);
        assert_eq!(all.iter().map(said).collect::<Vec<_>>(), ["x: xpath //a First or ", "x_list: xpath //a Every or "]);
        assert_eq!((all[1].name.as_str(), all[1].is_list, all[1].stands_beside), ("x", true, true));
    }
}
