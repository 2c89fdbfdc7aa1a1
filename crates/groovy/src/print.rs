//! A tree as JavaScript.
//!
//! Operators, calls and properties become calls of the library, since they mean other things in Groovy: `==` compares what lists hold, an
//! empty text is false, `a.b` may be a key or a method. What is known before it runs is checked here: objects of JMeter, classes, and
//! names that nothing has given a value.
//!
//! Invariant: whatever the tree holds, what is printed is one function's body; names of the script can not meet those of the library,
//! which all begin with `$`.

mod expression;
mod path;

pub(crate) use expression::{note, reference};

use std::collections::{BTreeMap, BTreeSet};

use crate::jmeter::{OUTCOMES, Object};
use crate::parser::Script;
use crate::translation::{Language, Mistake, Translation};
use crate::tree::{Catch, Expression, Kind, Parameter, Statement, StatementKind, Type};

/// What is known of a variable's value.
#[derive(Debug, Clone, PartialEq)]
enum Held {
    Anything,
    Whole,
    Decimal,
    Text,
    Object(Object),
    /// A file by its name.
    File(String),
}

pub(crate) struct Printer {
    language: Language,
    mistakes: Vec<Mistake>,
    /// Variables in sight, the innermost block last.
    scopes: Vec<BTreeMap<String, Held>>,
    assigned: BTreeSet<String>,
    hoisted: BTreeSet<String>,
    functions: BTreeSet<String>,
    imports: BTreeMap<String, String>,
    keys: BTreeSet<String>,
    reads: Vec<String>,
    sets: Vec<String>,
    files: Vec<String>,
    names_are_computed: bool,
    reads_answer: bool,
    request: Option<usize>,
    reads_request: bool,
    sets_path: bool,
    judges: bool,
    /// The values whose methods need no name in front, of `with { … }`: the innermost last.
    delegates: usize,
    /// Whether all of it was understood; else names may get their values in what was not.
    whole: bool,
    /// Of the loop that comes next.
    label: Option<String>,
}

/// The translation of what was read, with all mistakes.
pub(crate) fn print(script: Script, language: Language) -> Result<Translation, Vec<Mistake>> {
    let mut functions = BTreeSet::new();
    for statement in &script.statements {
        if let StatementKind::Function(name, ..) = &statement.kind {
            functions.insert(name.clone());
        }
    }
    let mut printer = Printer {
        language,
        delegates: 0,
        whole: script.mistakes.is_empty(),
        mistakes: script.mistakes,
        scopes: vec![BTreeMap::new()],
        assigned: script.assigned,
        hoisted: BTreeSet::new(),
        functions,
        imports: script.imports.into_iter().map(|(name, whole, _)| (name, whole)).collect(),
        keys: script.keys,
        reads: Vec::new(),
        sets: Vec::new(),
        files: Vec::new(),
        names_are_computed: false,
        reads_answer: false,
        request: None,
        reads_request: false,
        sets_path: false,
        judges: false,
        label: None,
    };
    let mut body = String::new();
    printer.statements(&script.statements, true, &mut body);
    printer.finish(&body)
}

impl Printer {
    fn finish(mut self, body: &str) -> Result<Translation, Vec<Mistake>> {
        if !self.mistakes.is_empty() {
            self.mistakes.sort_by_key(|mistake| mistake.line);
            self.mistakes.dedup();
            return Err(self.mistakes);
        }
        let mut javascript = String::new();
        if self.judges {
            javascript.push_str("$assertion.$begin();\n");
        }
        let outcomes: Vec<&str> = OUTCOMES.iter().copied().filter(|name| self.hoisted.contains(*name)).collect();
        let outcomes = if self.language == Language::BeanShell { outcomes } else { Vec::new() };
        for name in &self.hoisted {
            javascript.push_str(&format!("let {} = null;\n", mangled(name)));
        }
        if outcomes.is_empty() {
            javascript.push_str(body);
        } else {
            javascript.push_str(&format!("try {{\n{body}}} finally {{ $judge({{ {} }}); }}\n", outcomes.join(", ")));
        }
        Ok(Translation {
            javascript,
            reads: self.reads,
            sets: self.sets,
            names_are_computed: self.names_are_computed,
            reads_answer: self.reads_answer,
            request: self.request,
            reads_request: self.reads_request,
            sets_path: self.sets_path,
            files: self.files,
        })
    }

    fn fail(&mut self, line: usize, message: impl Into<String>) {
        self.mistakes.push(Mistake { line, message: message.into() });
    }

    fn label(&mut self) -> String {
        self.label.take().map(|label| format!("{label}: ")).unwrap_or_default()
    }

    /// A name that nothing gives a value, or a method that is not there.
    fn fail_of_name(&mut self, line: usize, message: impl Into<String>) {
        if self.whole {
            self.fail(line, message);
        }
    }

    fn declare(&mut self, name: &str, held: Held) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), held);
        }
    }

    fn held(&self, name: &str) -> Option<&Held> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// Statements in a block of their own; with `last`, the value of the last one is given back.
    fn block(&mut self, statements: &[Statement], last: bool) -> String {
        self.scopes.push(BTreeMap::new());
        let mut out = String::from("{\n");
        self.statements(statements, last, &mut out);
        out.push('}');
        self.scopes.pop();
        out
    }

    fn statements(&mut self, statements: &[Statement], last: bool, out: &mut String) {
        for (at, statement) in statements.iter().enumerate() {
            let is_last = last
                && statements[at + 1..]
                    .iter()
                    .all(|statement| matches!(statement.kind, StatementKind::Nothing | StatementKind::Function(..)));
            self.statement(statement, is_last, out);
        }
    }

    /// A statement that stands where a block may: `if (a) b`.
    fn body(&mut self, statement: &Statement, last: bool) -> String {
        match &statement.kind {
            StatementKind::Block(statements) => self.block(statements, last),
            _ => self.block(std::slice::from_ref(statement), last),
        }
    }

    fn statement(&mut self, statement: &Statement, last: bool, out: &mut String) {
        let line = statement.line;
        match &statement.kind {
            StatementKind::Nothing => {}
            StatementKind::Expression(expression) => {
                let code = if last { self.expression(expression) } else { self.effect(expression) };
                out.push_str(&if last { format!("return {code};\n") } else { format!("{code};\n") });
            }
            StatementKind::Declare(kind, names) => {
                for (name, value) in names {
                    self.declaration(kind.as_ref(), name, value.as_ref(), out);
                }
            }
            StatementKind::DeclareMany(names, value) => {
                let value = self.expression(value);
                for name in names {
                    self.declare(name, Held::Anything);
                }
                let names: Vec<String> = names.iter().map(|name| format!("{} = null", mangled(name))).collect();
                out.push_str(&format!("let [{}] = $list({value});\n", names.join(", ")));
            }
            StatementKind::Block(statements) => {
                out.push_str(&self.block(statements, last));
                out.push('\n');
            }
            StatementKind::If(condition, then, other) => {
                let condition = self.truth(condition);
                out.push_str(&format!("if ({condition}) {}", self.body(then, last)));
                if let Some(other) = other {
                    out.push_str(&format!(" else {}", self.body(other, last)));
                }
                out.push('\n');
            }
            StatementKind::While(condition, body) => {
                let label = self.label();
                let condition = self.truth(condition);
                out.push_str(&format!("{label}while ({condition}) {}\n", self.body(body, false)));
            }
            StatementKind::DoWhile(body, condition) => {
                let label = self.label();
                let body = self.body(body, false);
                let condition = self.truth(condition);
                out.push_str(&format!("{label}do {body} while ({condition});\n"));
            }
            StatementKind::For(first, condition, steps, body) => self.repeat(first, condition.as_ref(), steps, body, out),
            StatementKind::ForEach(name, list, body) => {
                let label = self.label();
                let list = self.expression(list);
                self.scopes.push(BTreeMap::new());
                self.declare(name, Held::Anything);
                let body = self.body(body, false);
                self.scopes.pop();
                out.push_str(&format!("{label}for (let {} of $list({list})) {body}\n", mangled(name)));
            }
            StatementKind::Switch(value, cases) => self.switch(value, cases, last, out),
            StatementKind::Try(body, catches, finally) => self.attempt(body, catches, finally.as_deref(), last, out),
            StatementKind::Throw(value) => {
                let value = self.expression(value);
                out.push_str(&format!("throw $thrown({value});\n"));
            }
            StatementKind::Return(value) => {
                let value = value.as_ref().map_or_else(|| "null".to_owned(), |value| self.expression(value));
                out.push_str(&format!("return {value};\n"));
            }
            StatementKind::Break(label) => out.push_str(&jump("break", label.as_deref())),
            StatementKind::Continue(label) => out.push_str(&jump("continue", label.as_deref())),
            StatementKind::Label(name, statement) => {
                self.label = Some(mangled(name));
                self.statement(statement, false, out);
                if self.label.take().is_some() {
                    self.fail(line, format!("`{name}:` stands before no loop"));
                }
            }
            StatementKind::Function(name, parameters, body) => {
                if self.held(name).is_some() {
                    self.fail(line, format!("`{name}`: a method and a variable of one name"));
                }
                self.functions.insert(name.clone());
                let (parameters, body) = self.function(parameters, body);
                out.push_str(&format!("function {}({parameters}) {body}\n", mangled(name)));
            }
            StatementKind::Assert(condition, message) => {
                let condition = self.truth(condition);
                let message =
                    message.as_ref().map_or_else(|| format!("\"line {line}: the assertion does not hold\""), |text| self.expression(text));
                out.push_str(&format!("if (!({condition})) throw $error(\"AssertionError\", {message});\n"));
            }
        }
    }

    fn declaration(&mut self, kind: Option<&Type>, name: &str, value: Option<&Expression>, out: &mut String) {
        let held = match kind {
            Some(kind) if !kind.is_array => held_by(&kind.name),
            _ => Held::Anything,
        };
        let held = if held == Held::Anything { value.map_or(Held::Anything, |value| self.subject(value)) } else { held };
        let is_boolean = kind.is_some_and(|kind| kind.name == "boolean" && !kind.is_array);
        let code = match value {
            Some(value) => self.coerced(&held, kind, value),
            None if held == Held::Whole && kind.is_some_and(|kind| kind.name.starts_with(char::is_lowercase)) => "0".to_owned(),
            None if held == Held::Decimal && kind.is_some_and(|kind| kind.name.starts_with(char::is_lowercase)) => "0".to_owned(),
            None if is_boolean => "false".to_owned(),
            None => "null".to_owned(),
        };
        let again = self.scopes.last().is_some_and(|scope| scope.contains_key(name));
        if self.functions.contains(name) && self.scopes.len() == 1 {
            self.functions.remove(name);
        }
        self.declare(name, held);
        out.push_str(&format!("{}{} = {code};\n", if again { "" } else { "let " }, mangled(name)));
    }

    /// A value as a variable of this type holds it.
    fn coerced(&mut self, held: &Held, kind: Option<&Type>, value: &Expression) -> String {
        let code = self.expression(value);
        let is_number = matches!(value.kind, Kind::Number { decimal: false, .. });
        match (held, kind.map(|kind| kind.name.as_str())) {
            (Held::Whole, _) if !is_number => format!("$whole({code})"),
            (Held::Text, _) if !matches!(value.kind, Kind::Text(_)) => format!("$string({code})"),
            (_, Some("boolean")) if kind.is_some_and(|kind| !kind.is_array) => format!("$truth({code})"),
            (_, Some("char")) if kind.is_some_and(|kind| !kind.is_array) => format!("$as({code}, \"char\")"),
            (_, Some(set @ ("Set" | "HashSet" | "LinkedHashSet" | "TreeSet"))) => format!("$as({code}, \"{set}\")"),
            _ => code,
        }
    }

    fn repeat(&mut self, first: &[Statement], condition: Option<&Expression>, steps: &[Expression], body: &Statement, out: &mut String) {
        let label = self.label();
        self.scopes.push(BTreeMap::new());
        let mut begin = String::new();
        for statement in first {
            self.statement(statement, false, &mut begin);
        }
        let condition = condition.map(|condition| self.truth(condition)).unwrap_or_default();
        let steps: Vec<String> = steps.iter().map(|step| self.effect(step)).collect();
        let body = self.body(body, false);
        self.scopes.pop();
        out.push_str(&format!("{{\n{begin}{label}for (; {condition}; {}) {body}\n}}\n", steps.join(", ")));
    }

    fn switch(&mut self, value: &Expression, cases: &[(Option<Expression>, Vec<Statement>)], last: bool, out: &mut String) {
        let value = self.expression(value);
        self.scopes.push(BTreeMap::new());
        out.push_str(&format!("{{\nconst $value = {value};\nswitch (true) {{\n"));
        for (at, (case, body)) in cases.iter().enumerate() {
            match case {
                Some(case) => {
                    let case = self.expression(case);
                    out.push_str(&format!("case $case({case}, $value): "));
                }
                None => out.push_str("default: "),
            }
            // A case that ends in `break` as the last statement gives its value back.
            let mut body = body.as_slice();
            let mut gives = last && at + 1 == cases.len();
            if last && let Some((Statement { kind: StatementKind::Break(None), .. }, before)) = body.split_last() {
                if matches!(before.last().map(|statement| &statement.kind), Some(StatementKind::Expression(_) | StatementKind::If(..))) {
                    gives = true;
                }
                if gives {
                    body = before;
                }
            }
            let code = self.block(body, gives);
            out.push_str(&format!("{code}{}\n", if gives { " break;" } else { "" }));
        }
        self.scopes.pop();
        out.push_str("}\n}\n");
    }

    fn attempt(&mut self, body: &[Statement], catches: &[Catch], finally: Option<&[Statement]>, last: bool, out: &mut String) {
        out.push_str(&format!("try {}", self.block(body, last)));
        if !catches.is_empty() {
            out.push_str(" catch ($caught) {\n");
            for (at, catch) in catches.iter().enumerate() {
                self.scopes.push(BTreeMap::new());
                self.declare(&catch.name, Held::Anything);
                let body = self.block(&catch.body, last);
                self.scopes.pop();
                let kinds: Vec<String> = catch.kinds.iter().map(|kind| quoted(kind)).collect();
                let otherwise = if at == 0 { "" } else { "else " };
                out.push_str(&format!(
                    "{otherwise}if ($catches($caught, [{}])) {{ let {} = $caught; {body} }}\n",
                    kinds.join(", "),
                    mangled(&catch.name)
                ));
            }
            out.push_str("else throw $caught;\n}");
        }
        if let Some(finally) = finally {
            out.push_str(&format!(" finally {}", self.block(finally, false)));
        }
        out.push('\n');
    }

    /// Parameters and body of a method or a closure.
    fn function(&mut self, parameters: &[Parameter], body: &[Statement]) -> (String, String) {
        self.scopes.push(BTreeMap::new());
        let mut printed = Vec::new();
        for parameter in parameters {
            let held = match &parameter.kind {
                Some(kind) if !kind.is_array => held_by(&kind.name),
                _ => Held::Anything,
            };
            let default = parameter.default.as_ref().map(|default| self.expression(default));
            self.declare(&parameter.name, held);
            let name = mangled(&parameter.name);
            printed.push(default.map_or_else(|| name.clone(), |default| format!("{name} = {default}")));
        }
        let body = self.block(body, true);
        self.scopes.pop();
        (printed.join(", "), body)
    }
}

/// What a variable of that type holds.
fn held_by(name: &str) -> Held {
    match name {
        "int" | "long" | "short" | "byte" | "Integer" | "Long" | "Short" | "Byte" | "BigInteger" => Held::Whole,
        "double" | "float" | "Double" | "Float" | "BigDecimal" => Held::Decimal,
        "String" => Held::Text,
        _ => Held::Anything,
    }
}

fn jump(word: &str, label: Option<&str>) -> String {
    label.map_or_else(|| format!("{word};\n"), |label| format!("{word} {};\n", mangled(label)))
}

/// Names that mean something in JavaScript.
const RESERVED: &[&str] = &[
    "arguments",
    "async",
    "await",
    "const",
    "debugger",
    "delete",
    "eval",
    "export",
    "extends",
    "function",
    "let",
    "typeof",
    "undefined",
    "var",
    "void",
    "with",
    "yield",
    "of",
    "get",
    "set",
    "NaN",
    "Infinity",
    "host",
    "globalThis",
    "this",
    "super",
    "enum",
    "implements",
    "interface",
    "package",
    "private",
    "protected",
    "public",
    "static",
    "finally",
    "in",
    "instanceof",
    "new",
    "null",
    "true",
    "false",
    "class",
    "default",
    "do",
    "else",
    "for",
    "if",
    "import",
    "return",
    "switch",
    "case",
    "throw",
    "try",
    "catch",
    "while",
    "break",
    "continue",
];

/// A name of the script as one of JavaScript that meets no other.
fn mangled(name: &str) -> String {
    if name.contains('$') || RESERVED.contains(&name) { format!("$${}", name.replace('$', "$S")) } else { name.to_owned() }
}

/// A text as JavaScript writes it.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            letter if (letter as u32) < 0x20 || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{7f}') => {
                out.push_str(&format!("\\u{:04x}", letter as u32));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
