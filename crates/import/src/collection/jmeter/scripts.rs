//! Scripts of a test plan as scripts of a scenario: found, put together with what JMeter puts into them, and translated.
//!
//! JMeter writes values into the text of a script before it runs it. What is known before the load is written into it here as well; in the
//! place of what is known only on the way stands a read of it, which is the same within quotation marks. Anywhere else it is a piece of
//! program that nobody has seen: a number, a truth, a text in quotation marks or a list of these is read as that when the script is run,
//! and anything else makes it fail, as a name that there is not does there.
//!
//! A script that JMeter keeps as it was compiled keeps the values of that time, too. What was read then is kept for each user.
//!
//! Invariant: a script of which any part has no equal is not carried out at all, and told with all of these parts.

use std::collections::BTreeMap;

use groovy::Language;
use plan::template::{Template, Value};
use plan::work::{Duration, Item, Script};

use super::text::{Names, closing};
use super::tree::{self, Element};
use super::{Reading, Scope};

/// When a script is run, beside the samplers in whose scope it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// Before each of them.
    Before,
    /// Before each of them, as a pause.
    Timer,
    /// In their place.
    Sampler,
    /// Behind each answer, before those that follow here.
    Post,
    /// Behind each answer, to judge it.
    Assertion,
    /// Behind each answer, at last.
    Listener,
}

impl Role {
    /// That of an element, if it is a script.
    pub(super) fn of(class: &str) -> Option<Self> {
        let kind = ["JSR223", "BeanShell", "BSF"].iter().find_map(|family| class.strip_prefix(family))?;
        Some(match kind {
            "PreProcessor" => Self::Before,
            "Timer" => Self::Timer,
            "Sampler" => Self::Sampler,
            "PostProcessor" => Self::Post,
            "Assertion" => Self::Assertion,
            "Listener" => Self::Listener,
            _ => return None,
        })
    }
}

/// A setting of a script, which each family of elements calls otherwise.
fn setting<'e>(element: &'e Element, names: [&str; 2]) -> &'e str {
    let own = element.text(names[0]);
    if own.is_empty() { element.text(&format!("{}.{}", element.class, names[1])) } else { own }
}

/// The file that holds a script, as the element names it.
pub(super) fn file_of(element: &Element) -> Option<&str> {
    Role::of(&element.class)?;
    Some(setting(element, ["filename", "filename"]).trim()).filter(|path| !path.is_empty())
}

fn language(element: &Element) -> Result<Language, String> {
    if element.class.starts_with("BeanShell") {
        return Ok(Language::BeanShell);
    }
    let word = setting(element, ["scriptLanguage", "language"]).trim().to_ascii_lowercase();
    language_named(&word).ok_or_else(|| format!("it is written in '{word}': Groovy, BeanShell, JavaScript and JEXL are understood here"))
}

fn language_named(word: &str) -> Option<Language> {
    Some(match word {
        "" | "groovy" => Language::Groovy,
        "beanshell" | "bsh" | "java" => Language::BeanShell,
        "javascript" | "js" | "ecmascript" | "nashorn" | "rhino" => Language::JavaScript,
        "jexl" | "jexl2" | "jexl3" => Language::Jexl,
        _ => return None,
    })
}

/// The language of a function that is given a script.
pub(super) fn language_of_function(name: &str) -> Option<Language> {
    language_named(&name.strip_prefix("__")?.to_ascii_lowercase())
}

/// What a script says of files, if it says no more: the folder of the plan, beside which files are looked for, and what parts names.
pub(super) fn said_of_files(script: &str) -> Option<&'static str> {
    let text: String = script.chars().filter(|letter| !letter.is_whitespace()).collect();
    let text = text.strip_prefix("importorg.apache.jmeter.services.FileServer;").unwrap_or(&text).trim_end_matches(';');
    match text.trim_start_matches("return").trim_start_matches("org.apache.jmeter.services.").trim_start_matches("java.io.") {
        "FileServer.getFileServer().getBaseDir()" | "FileServer.getFileServer().baseDir" => Some("."),
        "File.separator" => Some("/"),
        _ => None,
    }
}

/// What a script has to do with the request that comes next.
pub(super) struct RequestUse {
    is_used: bool,
    sets_path: bool,
}

/// What is done before a sampler.
#[derive(Default)]
pub(super) struct ScriptsBefore {
    pub(super) items: Vec<Item>,
    /// Scripts that may change its request.
    pub(super) of_request: Vec<Script>,
    sets_path: bool,
}

/// What the values of functions are called within a script, each with a number.
const OF_FUNCTION: &str = "value of function ";

/// How the values come into a script whose text names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// They do not: it is the text of a file.
    None,
    /// As they are each time that it is run.
    Each,
    /// As they are when a user runs it first: that of an element that is there, which JMeter keeps as it was compiled.
    First(usize),
}

/// What stands in the place of a value in a script.
enum Put {
    /// This text.
    Text(String),
    /// A read of this variable.
    Read(String),
    /// The same of one that holds a whole number.
    Number(String),
    /// The braces: it is a name of the script's own.
    Nothing,
}

/// A script with its values, as far as they are told by `put`, or the lines and reasons why it cannot have them.
fn filled(text: &str, language: Language, mut put: impl FnMut(&str) -> Result<Put, String>) -> Result<String, Vec<(usize, String)>> {
    let (mut out, mut wrong) = (String::with_capacity(text.len()), Vec::new());
    let mut rest = text;
    // The last sign that means anything: behind some of them a slash begins a text.
    let mut last = '(';
    while let Some(letter) = rest.chars().next() {
        let line = || text[..text.len() - rest.len()].matches('\n').count() + 1;
        if let Some(end) = ["//", "/*"].iter().position(|begin| rest.starts_with(begin)) {
            let length = if end == 0 { rest.find('\n') } else { rest.find("*/").map(|at| at + 2) }.unwrap_or(rest.len());
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        let is_slashy = letter == '/' && "(,=:[!&|?{};~+<>".contains(last);
        let quote = ["\"\"\"", "'''", "\"", "'", "/"].into_iter().find(|quote| rest.starts_with(quote) && (*quote != "/" || is_slashy));
        if let Some(quote) = quote {
            let length = literal(&rest[quote.len()..], quote);
            if length + quote.len() == rest.len() {
                // It is not closed, which the translation tells.
                out.push_str(rest);
                break;
            }
            let inside = &rest[quote.len()..quote.len() + length];
            match parts(inside, &mut put) {
                Err(why) => wrong.push((line(), why)),
                Ok((_, reads)) if reads > 0 && quote == "/" => {
                    wrong.push((line(), "a value that is known only on the way stands between slashes".to_owned()));
                }
                Ok((parts, reads)) => {
                    // A quotation mark at the end would be taken for the first of three.
                    let closed = |text: String| match text.strip_suffix(&quote[..1]) {
                        Some(before) if quote.len() == 3 && !before.ends_with('\\') => format!("{before}\\{}", &quote[..1]),
                        _ => text,
                    };
                    let written = |(is_read, text): (bool, String)| {
                        if is_read { format!("vars.get(\"{text}\")") } else { format!("{quote}{}{quote}", closed(text)) }
                    };
                    let whole: Vec<String> = parts.into_iter().map(written).collect();
                    let together = whole.join(" + ");
                    out.push_str(&if reads > 0 { format!("({together})") } else { together });
                }
            }
            rest = &rest[(2 * quote.len() + length).min(rest.len())..];
            last = '"';
            continue;
        }
        if let Some(length) = rest.strip_prefix("${").and_then(closing) {
            let inner = &rest[2..2 + length];
            match put(inner) {
                Ok(Put::Text(text)) => out.push_str(&text),
                Ok(Put::Nothing) => out.push_str(&rest[..length + 3]),
                Ok(Put::Number(name)) if language != Language::Jexl => {
                    let read = format!("vars.get(\"{}\")", in_quotes(&name));
                    let number = if language == Language::JavaScript { "Number" } else { "Long.parseLong" };
                    out.push_str(&format!("{number}({read})"));
                }
                Ok(Put::Read(name) | Put::Number(name)) => out.push_str(&format!("${{{name}}}")),
                Err(why) => wrong.push((line(), why)),
            }
            rest = &rest[length + 3..];
            last = 'x';
            continue;
        }
        if !letter.is_whitespace() {
            last = letter;
        }
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
    }
    if wrong.is_empty() { Ok(out) } else { Err(wrong) }
}

/// How far a text goes that ends with this quotation mark.
fn literal(text: &str, quote: &str) -> usize {
    let mut from = 0;
    while let Some(letter) = text[from..].chars().next() {
        if text[from..].starts_with(quote) {
            return from;
        }
        from += letter.len_utf8();
        if letter == '\\' {
            from += text[from..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

/// A text in quotation marks, taken apart into texts and names of variables that are read, and how many these are.
fn parts(inside: &str, put: &mut dyn FnMut(&str) -> Result<Put, String>) -> Result<(Vec<(bool, String)>, usize), String> {
    let (mut parts, mut reads, mut rest) = (vec![(false, String::new())], 0, inside);
    while let Some(at) = rest.find("${") {
        let Some(length) = closing(&rest[at + 2..]) else { break };
        let inner = &rest[at + 2..at + 2 + length];
        let (before, behind) = (&rest[..at], &rest[at + length + 3..]);
        let written = match put(inner)? {
            Put::Text(text) => text,
            Put::Nothing => rest[at..at + length + 3].to_owned(),
            Put::Read(name) | Put::Number(name) => {
                parts.last_mut().expect("there is one").1 += before;
                parts.extend([(true, in_quotes(&name)), (false, String::new())]);
                reads += 1;
                rest = behind;
                continue;
            }
        };
        parts.last_mut().expect("there is one").1 += &format!("{before}{written}");
        rest = behind;
    }
    parts.last_mut().expect("there is one").1 += rest;
    if reads > 0 && parts.last().is_some_and(|(_, text)| text.is_empty()) {
        parts.pop();
    }
    Ok((parts, reads))
}

/// A name as it stands between quotation marks.
fn in_quotes(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"")
}

/// The variables that a script sets, as far as that is known before the values of others are.
pub(super) fn set_by(source: &str, language: Language) -> Vec<String> {
    let text = filled(source, language, |_| Ok(Put::Read("x".to_owned())));
    let text = text.or_else(|_| filled(source, language, |_| Ok(Put::Text("0".to_owned()))));
    text.ok().and_then(|text| groovy::translate(&text, language).ok()).map_or_else(Vec::new, |translation| translation.sets)
}

impl Names<'_> {
    /// A script of this text. `before_request`: whether the next request is there for it.
    ///
    /// # Errors
    /// Everything in it that has no equal, with its line in it.
    pub(super) fn script(
        &self,
        source: &str,
        language: Language,
        values: Values,
        before_request: bool,
    ) -> Result<(Script, RequestUse), Vec<(usize, String)>> {
        let mut given: BTreeMap<String, Template> = BTreeMap::new();
        // What is kept of them, by its name.
        let mut kept: BTreeMap<String, String> = BTreeMap::new();
        let text = if values != Values::None {
            filled(source, language, |inner| {
                let plain = inner.trim();
                let value = if plain.starts_with("__") {
                    Some(self.template(&format!("${{{inner}}}"))?)
                } else if self.lost.contains_key(plain) || self.namesakes.contains_key(plain) {
                    return Err(self.template(&format!("${{{inner}}}")).err().unwrap_or_default());
                } else {
                    self.valued(plain)
                };
                let Some(value) = value else { return Ok(Put::Nothing) };
                if let Some(text) = self.settled(&value) {
                    return Ok(Put::Text(text));
                }
                let is_number = self.is_whole_number(&value);
                // What a function gives has no name.
                let name = if plain.starts_with("__") { format!("{OF_FUNCTION}{}", given.len() + 1) } else { plain.to_owned() };
                given.insert(name.clone(), value);
                let name = match values {
                    Values::First(element) => {
                        let own = self.kept_name(element, &name);
                        kept.insert(own.clone(), name);
                        own
                    }
                    Values::Each | Values::None => name,
                };
                Ok(if is_number { Put::Number(name) } else { Put::Read(name) })
            })?
        } else {
            source.to_owned()
        };
        let translated = groovy::translate(&text, language);
        let translation =
            translated.map_err(|mistakes| mistakes.into_iter().map(|mistake| (mistake.line, mistake.message)).collect::<Vec<_>>())?;
        if let (Some(line), false) = (translation.request, before_request) {
            let why = "`sampler`: the next request is seen and changed by PreProcessors of its sampler, and by no other script";
            return Err(vec![(line, why.to_owned())]);
        }
        let request = RequestUse { is_used: translation.request.is_some(), sets_path: translation.sets_path };
        for name in &translation.reads {
            if let Some(value) = self.valued(name) {
                given.entry(name.clone()).or_insert(value);
            }
        }
        if translation.names_are_computed {
            for (name, (file, column)) in &self.columns {
                given.entry(name.clone()).or_insert_with(|| Value::Column { file: file.clone(), column: column.clone() }.into());
            }
        }
        // What a variable of its own holds it finds by itself.
        given.retain(|name, value| *value != self.variable(name));
        if source.contains("props") || source.contains("__P") {
            given.extend(self.properties.iter().map(|(name, value)| (format!("property {name}"), Template::fixed(value))));
        }
        let plain = |names: &[String]| {
            let mut plain: Vec<String> = names.iter().map(|name| self.plain(name)).collect();
            plain.sort_unstable();
            plain.dedup();
            plain
        };
        let reads = translation.reads.into_iter().map(|name| kept.get(&name).cloned().unwrap_or(name));
        let reads: Vec<String> = reads.filter(|name| !name.starts_with(OF_FUNCTION)).collect();
        let quoted = crate::collection::tree::json_string;
        let keeps: String = kept.iter().map(|(own, name)| format!("$keep({}, {});", quoted(own), quoted(name))).collect();
        let script = Script {
            translated: true,
            given: given.into_iter().collect(),
            reads: plain(&reads),
            sets: plain(&translation.sets),
            reads_answer: translation.reads_answer,
            reads_request: translation.reads_request,
            files: translation.files.into_iter().map(|path| (path.clone(), path)).collect(),
            text: keeps + &translation.javascript,
            ..Script::default()
        };
        Ok((script, request))
    }

    /// What a value is called that a script keeps, by where its element is.
    fn kept_name(&self, element: usize, name: &str) -> String {
        let known = self.kept.borrow().get(&(element, name.to_owned())).cloned();
        known.unwrap_or_else(|| {
            let own = self.fresh("kept");
            self.kept.borrow_mut().insert((element, name.to_owned()), own.clone());
            own
        })
    }
}

impl<'e> Reading<'e> {
    /// The text of a script, and whether it stands in the plan itself.
    pub(super) fn source(&self, element: &'e Element) -> Result<(&'e str, bool), String> {
        let Some(path) = file_of(element) else { return Ok((setting(element, ["script", "query"]), true)) };
        let path = self.names.literal(path).ok_or("the name of its file is known only on the way; write the script into the element")?;
        match self.texts.get(&path) {
            Some(Ok(text)) => Ok((text, false)),
            Some(Err(why)) => Err(format!("its file '{path}' cannot be read: {why}")),
            None => Err(format!("its file '{path}' was not read with the plan; write the script into the element")),
        }
    }

    /// The variables that an element sets as a script, as far as it is known what it does.
    pub(super) fn set_by_script(&self, element: &'e Element) -> Vec<String> {
        match (self.source(element), language(element)) {
            (Ok((text, _)), Ok(language)) => set_by(text, language),
            _ => Vec::new(),
        }
    }

    /// The script of an element. What has to be computed for it is left with the names.
    ///
    /// # Errors
    /// Everything that has no equal.
    pub(super) fn script(&self, element: &'e Element) -> Result<Script, Vec<String>> {
        self.script_with_request(element).map(|(script, _)| script)
    }

    /// The same, and what it has to do with the request that comes next.
    fn script_with_request(&self, element: &'e Element) -> Result<(Script, RequestUse), Vec<String>> {
        let (text, is_written) = self.source(element).map_err(|why| vec![why])?;
        let language = language(element).map_err(|why| vec![why])?;
        let told = |(line, why): (usize, String)| format!("line {line} of its script: {why}");
        let is_before = Role::of(&element.class) == Some(Role::Before);
        // JMeter compiles what can be compiled, unless its element says otherwise.
        let keeps = element.class.starts_with("JSR223")
            && matches!(language, Language::Groovy | Language::Jexl)
            && element.text("cacheKey") != "false";
        let values = match (is_written, keeps) {
            (false, _) => Values::None,
            (true, false) => Values::Each,
            (true, true) => Values::First(std::ptr::from_ref(element).addr()),
        };
        let script = self.names.script(text, language, values, is_before);
        let (mut script, request) = script.map_err(|wrong| wrong.into_iter().map(told).collect::<Vec<_>>())?;
        let parameters = setting(element, ["parameters", "parameters"]);
        if !parameters.is_empty() {
            script.given.push(("Parameters".to_owned(), self.names.template(parameters).map_err(|why| vec![why])?));
        }
        Ok((Script { name: element.said(), ..script }, request))
    }

    /// The scripts that are run before a sampler, with what is computed for them. From the first on that has to do with its request, they
    /// belong to that.
    pub(super) fn scripts_before(&self, scope: &Scope<'e>) -> ScriptsBefore {
        let mut before = ScriptsBefore::default();
        for element in scope.scripts.iter().filter(|element| Role::of(&element.class) == Some(Role::Before)) {
            let script = self.script_with_request(element);
            let computed = self.names.taken();
            let Ok((script, request)) = script else { continue };
            let script = Script { may_fail: scope.step_ends().is_none(), ..script };
            before.items.extend(computed);
            before.sets_path |= request.sets_path;
            if request.is_used || !before.of_request.is_empty() {
                before.of_request.push(script);
            } else {
                before.items.push(Item::Script(Box::new(script)));
            }
        }
        before
    }

    /// The same before a sampler that sends nothing.
    pub(super) fn items_before(&mut self, element: &'e Element, scope: &Scope<'e>, inner: &Scope<'e>) -> Vec<Item> {
        let before = self.scripts_before(inner);
        if !before.of_request.is_empty() {
            self.leave_out(element, scope, "scripts before it change a request, and it sends none: they are not run");
        }
        before.items
    }

    /// Why a sampler cannot be sent as these scripts want it, if it cannot. Its request is written before the first that looks at it.
    pub(super) fn wrong_with_request(&self, element: &'e Element, inner: &Scope<'e>, before: &ScriptsBefore) -> Option<String> {
        if before.sets_path && element.text("HTTPSampler.path").contains('?') {
            return Some("a script gives it another path, and its own has a query: write that as parameters".to_owned());
        }
        let written = before.of_request.iter().skip_while(|script| !script.reads_request);
        let late: Vec<&str> = written.flat_map(Script::assigned).collect();
        let mut mentions = Vec::new();
        let mut look = |element: &'e Element| tree::each_text(&element.properties, &mut |text| mentions.push(text));
        look(element);
        inner.surroundings.each(&mut look);
        let parts = mentions.iter().flat_map(|text| text.split("${").skip(1)).filter_map(|part| part.split('}').next());
        let named: Vec<String> = parts.map(|name| self.names.plain(name)).collect();
        let name = late.iter().find(|late| named.iter().any(|name| name == *late))?;
        Some(format!("a script looks at it and sets '{name}', which it names: set that in a script of its own before"))
    }

    /// The scripts that are run behind the answer of a sampler, in their order.
    pub(super) fn scripts_after(&self, scope: &Scope<'e>) -> Vec<Script> {
        let carried = self.each_script_after(scope).into_iter();
        carried.map(|(_, script)| Script { may_fail: scope.step_ends().is_none(), ..script }).collect()
    }

    /// The scripts behind a sampler, in their order, with their elements.
    pub(super) fn each_script_after(&self, scope: &Scope<'e>) -> Vec<(&'e Element, Script)> {
        let role = |element: &&'e Element| Role::of(&element.class).filter(|role| *role >= Role::Post);
        let mut elements: Vec<&'e Element> = scope.scripts.iter().copied().filter(|element| role(element).is_some()).collect();
        elements.sort_by_key(role);
        elements.into_iter().filter_map(|element| Some((element, self.script(element).ok()?))).collect()
    }

    /// The pause that a script computes.
    ///
    /// # Errors
    /// Everything that has no equal.
    pub(super) fn script_pause(&self, element: &'e Element) -> Result<Vec<Item>, Vec<String>> {
        let script = self.script(element)?;
        let mut items = self.names.taken();
        let name = self.names.fresh("pause");
        let mut time = Template::from(Value::Variable(name.clone()));
        time.push("ms");
        // What is no number is no pause.
        let text = format!("const pause = Number((function () {{{}\n}})()); return pause > 0 ? pause : 0;", script.text);
        items.push(Item::Script(Box::new(Script { text, into: Some(name), may_fail: true, ..script })));
        items.push(Item::Pause(Duration::Written(time)));
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str) -> Result<String, Vec<(usize, String)>> {
        filled(text, Language::Groovy, |inner| match inner {
            "known" => Ok(Put::Text("7".to_owned())),
            "n" => Ok(Put::Number("n".to_owned())),
            "user" | "value" => Ok(Put::Read(inner.to_owned())),
            "__bad()" => Err("no".to_owned()),
            _ => Ok(Put::Nothing),
        })
    }

    #[test]
    fn values_stand_where_they_can() {
        for (text, filled) in [
            ("def n = ${known} + 1 // ${user}", "def n = 7 + 1 // ${user}"),
            ("int i = ${n} * 2; '${n}'", "int i = Long.parseLong(vars.get(\"n\")) * 2; ('' + vars.get(\"n\"))"),
            ("log.info(\"a ${user}\" + '${known}')", "log.info((\"a \" + vars.get(\"user\")) + '7')"),
            ("'${user}'.length()", "('' + vars.get(\"user\")).length()"),
            ("\"\"\"{\n\"a\": \"${user}\"}\"\"\"", "(\"\"\"{\n\"a\": \\\"\"\"\" + vars.get(\"user\") + \"\"\"\"}\"\"\")"),
            ("def own = 1; \"${own} \\\"${user}\"", "def own = 1; (\"${own} \\\"\" + vars.get(\"user\"))"),
            ("x =~ /\"id\":'(\\d+)\\/${own}/; a / b", "x =~ /\"id\":'(\\d+)\\/${own}/; a / b"),
            ("/* '${user} */ 'b'", "/* '${user} */ 'b'"),
            ("'open ${known}", "'open ${known}"),
            ("def n = ${value} + 1", "def n = ${value} + 1"),
        ] {
            assert_eq!(put(text).as_deref(), Ok(filled), "{text}");
        }
        let wrong = put("def a = ${__bad()}\ndef n = ${user}\nx = '${__bad()}'").unwrap_err();
        assert_eq!(wrong.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [1, 3]);
    }
}
