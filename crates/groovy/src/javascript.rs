//! JavaScript of a plan as JavaScript of here: it stays as it is, but for classes of Java and for what JMeter puts into it.
//!
//! It is read as tokens and not as a tree: whoever wrote it wrote valid JavaScript, and the engine says so if not. Java's classes are the
//! library's; `.length()` of a Java text becomes a property.
//!
//! Invariant: texts, comments and regular expressions come out as they went in, but for `${name}`, which JMeter would have replaced.

use std::collections::BTreeSet;

use crate::classes::{class_named, reason};
use crate::jmeter::{Object, object_named, value_named};
use crate::lexer::is_name_start;
use crate::print::{note, reference};
use crate::translation::{Mistake, Translation};

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    /// A text in quotes, with its quotes.
    Text(String),
    /// Anything else of one letter.
    Letter(char),
    /// Space, comments, regular expressions, templates: kept.
    Kept(String),
    Reference(String),
}

pub(crate) fn translate(source: &str) -> Result<Translation, Vec<Mistake>> {
    let tokens = read(source);
    let mut rewriter = Rewriter { tokens, at: 0, ..Rewriter::default() };
    rewriter.rewrite();
    rewriter.finish()
}

/// Tokens, each with its line.
fn read(source: &str) -> Vec<(Token, usize)> {
    let letters: Vec<char> = source.chars().collect();
    let mut tokens: Vec<(Token, usize)> = Vec::new();
    let mut at = 0;
    let mut line = 1;
    while at < letters.len() {
        let begin = at;
        let letter = letters[at];
        let next = letters.get(at + 1).copied();
        let token = if letter == '$' && next == Some('{') {
            at += 2;
            while at < letters.len() && letters[at] != '}' {
                at += 1;
            }
            let text: String = letters[begin + 2..at.min(letters.len())].iter().collect();
            at = (at + 1).min(letters.len());
            Token::Reference(text)
        } else if is_name_start(letter) {
            while at < letters.len() && (is_name_start(letters[at]) || letters[at].is_numeric()) {
                at += 1;
            }
            Token::Name(letters[begin..at].iter().collect())
        } else if letter.is_ascii_digit() {
            while at < letters.len() && (letters[at].is_alphanumeric() || letters[at] == '_' || letters[at] == '.') {
                at += 1;
            }
            Token::Kept(letters[begin..at].iter().collect())
        } else if matches!(letter, '"' | '\'') {
            at = closing(&letters, at, letter);
            Token::Text(letters[begin..at].iter().collect())
        } else if letter == '`' {
            at = closing(&letters, at, letter);
            Token::Kept(letters[begin..at].iter().collect())
        } else if letter == '/' && next == Some('/') {
            while at < letters.len() && !matches!(letters[at], '\n' | '\r') {
                at += 1;
            }
            Token::Kept(String::new())
        } else if letter == '/' && next == Some('*') {
            at += 2;
            while at < letters.len() && !(letters[at] == '*' && letters.get(at + 1) == Some(&'/')) {
                at += 1;
            }
            at = (at + 2).min(letters.len());
            Token::Kept(" ".to_owned() + &"\n".repeat(letters[begin..at].iter().filter(|letter| **letter == '\n').count()))
        } else if letter == '/' && begins_value(&tokens) {
            at = regex_end(&letters, at);
            Token::Kept(letters[begin..at].iter().collect())
        } else if letter.is_whitespace() {
            while at < letters.len() && letters[at].is_whitespace() {
                at += 1;
            }
            Token::Kept(letters[begin..at].iter().collect())
        } else {
            at += 1;
            Token::Letter(letter)
        };
        tokens.push((token, line));
        line += letters[begin..at].iter().filter(|letter| **letter == '\n').count();
    }
    tokens
}

/// Behind the quote that closes the text that begins at `at`.
fn closing(letters: &[char], at: usize, quote: char) -> usize {
    let mut end = at + 1;
    while end < letters.len() && letters[end] != quote {
        end += if letters[end] == '\\' { 2 } else { 1 };
    }
    (end + 1).min(letters.len())
}

fn regex_end(letters: &[char], at: usize) -> usize {
    let mut end = at + 1;
    let mut in_class = false;
    while end < letters.len() && letters[end] != '\n' && (in_class || letters[end] != '/') {
        match letters[end] {
            '[' => in_class = true,
            ']' => in_class = false,
            '\\' => end += 1,
            _ => {}
        }
        end += 1;
    }
    (end + 1).min(letters.len())
}

/// Whether a value may begin here, so that `/` is a regular expression.
fn begins_value(tokens: &[(Token, usize)]) -> bool {
    let before = tokens.iter().rev().map(|(token, _)| token).find(|token| !is_space(token));
    match before {
        None => true,
        Some(Token::Letter(letter)) => !matches!(letter, ')' | ']' | '}'),
        Some(Token::Name(name)) => matches!(name.as_str(), "return" | "typeof" | "case" | "in"),
        Some(_) => false,
    }
}

fn is_space(token: &Token) -> bool {
    matches!(token, Token::Kept(text) if text.chars().all(char::is_whitespace))
}

#[derive(Default)]
struct Rewriter {
    tokens: Vec<(Token, usize)>,
    at: usize,
    out: String,
    mistakes: Vec<Mistake>,
    /// Names that are about something of the script itself.
    declared: BTreeSet<String>,
    /// Names of JMeter that are no object of the library.
    bound: BTreeSet<String>,
    reads: Vec<String>,
    sets: Vec<String>,
    computed: bool,
    reads_answer: bool,
    request: Option<usize>,
    reads_request: bool,
    sets_path: bool,
    judges: bool,
}

impl Rewriter {
    /// The token that stands some places on, blanks left out, and its place.
    fn ahead(&self, from: usize, places: usize) -> Option<(&Token, usize)> {
        self.tokens.iter().enumerate().skip(from).filter(|(_, (token, _))| !is_space(token)).map(|(at, (token, _))| (token, at)).nth(places)
    }

    fn letter_ahead(&self, from: usize, places: usize, letter: char) -> bool {
        matches!(self.ahead(from, places), Some((Token::Letter(found), _)) if *found == letter)
    }

    fn rewrite(&mut self) {
        for (at, (token, _)) in self.tokens.iter().enumerate() {
            if let (Token::Name(word), Some((Token::Name(name), _))) = (token, self.ahead(at + 1, 0))
                && matches!(word.as_str(), "var" | "let" | "const" | "function")
            {
                self.declared.insert(name.clone());
            }
        }
        while self.at < self.tokens.len() {
            let (token, line) = self.tokens[self.at].clone();
            let after_dot = self.out.trim_end().ends_with('.');
            match token {
                Token::Name(name) if !after_dot => self.name(&name, line),
                Token::Name(name)
                    if name == "length" && self.letter_ahead(self.at + 1, 0, '(') && self.letter_ahead(self.at + 1, 1, ')') =>
                {
                    self.out.push_str(&name);
                    self.at = self.ahead(self.at + 1, 1).map_or(self.at, |(_, at)| at);
                }
                Token::Name(text) | Token::Kept(text) => self.out.push_str(&text),
                Token::Letter(letter) => self.out.push(letter),
                Token::Text(text) => self.text(&text, line),
                Token::Reference(text) => {
                    let code = self.reference(&text, line);
                    self.out.push_str(&format!("$code({line}, {code}, true)"));
                }
            }
            self.at += 1;
        }
    }

    fn reference(&mut self, text: &str, line: usize) -> String {
        match reference(text) {
            Ok((code, name)) => {
                if let Some(name) = name {
                    note(&mut self.reads, &name);
                }
                code
            }
            Err(message) => {
                self.mistakes.push(Mistake { line, message });
                "null".into()
            }
        }
    }

    /// A text; what JMeter puts into it is added up.
    fn text(&mut self, text: &str, line: usize) {
        if !text.contains("${") {
            self.out.push_str(text);
            return;
        }
        let quote = &text[..1];
        let mut pieces = Vec::new();
        let mut rest = text[1..].strip_suffix(quote).unwrap_or(&text[1..]);
        let mut kept = String::new();
        while let Some((before, after)) = rest.split_once("${") {
            if before.ends_with('\\') {
                kept.push_str(before);
                kept.push_str("${");
                rest = after;
                continue;
            }
            let before = format!("{}{before}", std::mem::take(&mut kept));
            let (name, behind) = after.split_once('}').unwrap_or((after, ""));
            pieces.push(format!("{quote}{before}{quote}"));
            pieces.push(self.reference(name, line));
            rest = behind;
        }
        pieces.push(format!("{quote}{kept}{rest}{quote}"));
        self.out.push_str(&format!("({})", pieces.join(" + ")));
    }

    fn name(&mut self, name: &str, line: usize) {
        if self.declared.contains(name) {
            self.out.push_str(name);
            return;
        }
        match name {
            "Java" if self.letter_ahead(self.at + 1, 0, '.') => return self.java_type(line),
            "Packages" | "java" | "javax" | "org" | "com" if self.letter_ahead(self.at + 1, 0, '.') => return self.package(name, line),
            "importPackage" | "importClass" | "JavaImporter" | "load" | "importPackages" if self.letter_ahead(self.at + 1, 0, '(') => {
                self.mistakes.push(Mistake { line, message: format!("`{name}`: write the whole name of a class where it is used") });
            }
            _ => {}
        }
        if let Some(object) = object_named(name) {
            self.reads_answer |= object == Object::Sample;
            self.judges |= object == Object::Assertion;
            if object == Object::Vars {
                self.vars();
            }
            self.check(object, line);
            self.out.push_str(object.code());
            return;
        }
        let is_assigned =
            self.letter_ahead(self.at + 1, 0, '=') && !self.letter_ahead(self.at + 1, 1, '=') && !self.letter_ahead(self.at + 1, 1, '>');
        if is_assigned {
            // The function may be a strict one, where what is given a value has to be declared.
            self.bound.insert(format!("var {name};\n"));
        } else if let Some((code, of_answer)) = value_named(name)
            && !self.letter_ahead(self.at + 1, 0, ':')
        {
            self.reads_answer |= of_answer;
            self.bound.insert(format!("const {name} = {code};\n"));
        }
        self.out.push_str(name);
    }

    /// What is called on an object is known, or a mistake.
    fn check(&mut self, object: Object, line: usize) {
        if !self.letter_ahead(self.at + 1, 0, '.') || !self.letter_ahead(self.at + 1, 2, '(') {
            return;
        }
        let Some((Token::Name(method), _)) = self.ahead(self.at + 1, 1) else { return };
        let method = method.clone();
        // What is called on what a call gives is not followed here.
        let leads_to_it = matches!(method.as_str(), "getArguments" | "getHeaderManager" | "getCurrentSampler");
        let is_named = matches!(self.ahead(self.at + 1, 3), Some((Token::Text(text), _)) if text.len() > 2);
        if let Some(reads) = object.uses_request(&method, is_named).or(leads_to_it.then_some(true)) {
            self.reads_request |= reads;
            self.sets_path |= method == "setPath";
            self.request.get_or_insert(line);
        }
        if !object.knows(&method) {
            let message = format!("`{}.{method}`: {}", object.shown(), object.reason(&method));
            self.mistakes.push(Mistake { line, message });
        }
    }

    /// Notes which variable is read or set.
    fn vars(&mut self) {
        let method = match self.ahead(self.at + 1, 1) {
            Some((Token::Name(method), _)) if self.letter_ahead(self.at + 1, 0, '.') && self.letter_ahead(self.at + 1, 2, '(') => {
                method.clone()
            }
            _ => {
                self.computed = true;
                return;
            }
        };
        let is_fixed = self.letter_ahead(self.at + 1, 4, ')') || self.letter_ahead(self.at + 1, 4, ',');
        let name = match self.ahead(self.at + 1, 3) {
            Some((Token::Text(text), _)) if is_fixed && !text.contains(['\\', '$']) => text.trim_matches(['"', '\'']).to_owned(),
            _ => {
                self.computed = true;
                return;
            }
        };
        match method.as_str() {
            "get" | "getObject" => note(&mut self.reads, &name),
            "put" | "putObject" | "remove" => note(&mut self.sets, &name),
            _ => self.computed = true,
        }
    }

    /// `Java.type("java.util.UUID")`
    fn java_type(&mut self, line: usize) {
        let name = match self.ahead(self.at + 1, 3) {
            Some((Token::Text(text), at)) => Some((text.trim_matches(['"', '\'']).to_owned(), at)),
            _ => None,
        };
        let Some((whole, at)) = name else {
            self.mistakes.push(Mistake { line, message: "`Java`: only `Java.type(\"a.whole.Name\")` is known".into() });
            return;
        };
        self.class(&whole, line);
        self.at = if self.letter_ahead(at + 1, 0, ')') { self.ahead(at + 1, 0).map_or(at, |(_, at)| at) } else { at };
    }

    /// `java.util.UUID`, `Packages.java.util.UUID`
    fn package(&mut self, root: &str, line: usize) {
        let mut whole = if root == "Packages" { String::new() } else { root.to_owned() };
        let mut at = self.at;
        while self.letter_ahead(at + 1, 0, '.') {
            let Some((Token::Name(part), next)) = self.ahead(at + 1, 1).map(|(token, at)| (token.clone(), at)) else { break };
            at = next;
            if !whole.is_empty() {
                whole.push('.');
            }
            whole.push_str(&part);
            if part.starts_with(char::is_uppercase) {
                break;
            }
        }
        self.at = at;
        self.class(&whole, line);
    }

    fn class(&mut self, whole: &str, line: usize) {
        let (package, name) = whole.rsplit_once('.').unwrap_or(("", whole));
        if class_named(name).is_some_and(|class| class.packages.contains(&package)) {
            // `new` makes what the library makes.
            let made = self.out.trim_end().ends_with("new");
            self.out.push_str(&if made { format!("$java.{name}") } else { format!("$class.{name}") });
            return;
        }
        self.mistakes.push(Mistake { line, message: format!("`{whole}`: {}", reason(name)) });
    }

    fn finish(self) -> Result<Translation, Vec<Mistake>> {
        if !self.mistakes.is_empty() {
            return Err(self.mistakes);
        }
        let bound: String = self.bound.into_iter().collect();
        let begin = if self.judges { "$assertion.$begin();\n" } else { "" };
        let body = self.out.trim().trim_end_matches(';');
        let javascript = format!("{begin}{bound}{}\n", with_return(body));
        Ok(Translation {
            javascript,
            reads: self.reads,
            sets: self.sets,
            names_are_computed: self.computed,
            reads_answer: self.reads_answer,
            request: self.request,
            reads_request: self.reads_request,
            sets_path: self.sets_path,
            files: Vec::new(),
        })
    }
}

/// Words that begin a statement that has no value, or none that anybody asks for.
const STATEMENTS: &[&str] = &[
    "var", "let", "const", "function", "if", "for", "while", "do", "switch", "try", "throw", "return", "class", "break", "continue",
    "else", "catch", "finally", "with", "import", "export",
];

/// A script that gives back the value of its last statement, as JMeter's engines do, where that is an expression.
fn with_return(body: &str) -> String {
    let tokens = read(body);
    let mut out = String::new();
    let (mut last, mut depth) = (0, 0_usize);
    for (at, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::Name(text) | Token::Text(text) | Token::Kept(text) => out.push_str(text),
            Token::Reference(text) => out.push_str(&format!("${{{text}}}")),
            Token::Letter(letter) => {
                out.push(*letter);
                match letter {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if depth == 0 && matches!(letter, ';' | '}') {
                    last = out.len();
                }
            }
        }
        let ends_line = is_space(token) && matches!(token, Token::Kept(text) if text.contains('\n'));
        if depth == 0 && ends_line && ends_statement(&tokens[..at], &tokens[at..], &out[last..]) {
            last = out.len();
        }
    }
    let word: String = out[last..].trim_start().chars().take_while(|letter| is_name_start(*letter)).collect();
    if !out[last..].trim().is_empty() && !STATEMENTS.contains(&word.as_str()) {
        let begin = last + (out[last..].len() - out[last..].trim_start().len());
        out.insert_str(begin, "return ");
    }
    out
}

/// Whether the end of a line ends a statement: a value stands before it, another behind, and the statement is no head of a loop.
fn ends_statement(before: &[(Token, usize)], after: &[(Token, usize)], statement: &str) -> bool {
    let last = before.iter().rev().map(|(token, _)| token).find(|token| !is_space(token));
    let next = after.iter().map(|(token, _)| token).find(|token| !is_space(token));
    let is_head = ["if", "for", "while", "else", "do", "with"].iter().any(|word| statement.trim_start().starts_with(word));
    let valued = match last {
        Some(Token::Letter(letter)) => matches!(letter, ')' | ']') && !is_head,
        Some(Token::Name(name)) => !matches!(name.as_str(), "else" | "do" | "return" | "in" | "typeof" | "new"),
        Some(_) => true,
        None => false,
    };
    valued && matches!(next, Some(Token::Name(_) | Token::Text(_) | Token::Kept(_)))
}
