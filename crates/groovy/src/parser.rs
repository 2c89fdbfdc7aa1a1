//! Tokens as a tree: statements here, expressions in [`expression`].
//!
//! Written by hand and not generated: Groovy's grammar asks at every turn whether a line ended, and a mistake must not hide the next
//! one. After a statement that is not understood the parser goes on at the next.
//!
//! Invariant: no text makes it go deeper than [`DEPTH_MAX`].

mod expression;
mod types;

use std::collections::BTreeSet;

use crate::lexer::{DEPTH_MAX, Lexeme, Lexer, Token};
use crate::translation::{Language, Mistake};
use crate::tree::{Catch, Expression, Kind, Parameter, Part, Statement, StatementKind, SuffixKind};

/// A statement is given up; its mistake is noted.
pub(crate) struct Stop;
type Read<T> = Result<T, Stop>;

/// What was read, with all that is wrong.
pub(crate) struct Script {
    pub statements: Vec<Statement>,
    /// Names that get a value anywhere without being declared there.
    pub assigned: BTreeSet<String>,
    /// Imported classes: the name they have here, and their whole name.
    pub imports: Vec<(String, String, usize)>,
    /// Keys of maps and properties that the script sets: what they hold may be called.
    pub keys: BTreeSet<String>,
    pub mistakes: Vec<Mistake>,
}

pub(crate) fn read(source: &str, language: Language) -> Script {
    let mut lexer = Lexer::new(source, language);
    let tokens = lexer.tokens();
    let mut parser = Parser::new(tokens, language, 0);
    parser.mistakes = lexer.mistakes;
    let statements = parser.statements(false);
    Script { statements, assigned: parser.assigned, imports: parser.imports, keys: parser.keys, mistakes: parser.mistakes }
}

pub(crate) struct Parser {
    tokens: Vec<Lexeme>,
    at: usize,
    language: Language,
    depth: usize,
    assigned: BTreeSet<String>,
    imports: Vec<(String, String, usize)>,
    keys: BTreeSet<String>,
    mistakes: Vec<Mistake>,
}

const PRIMITIVES: &[&str] = &["int", "long", "short", "byte", "double", "float", "boolean", "char", "void"];
const MODIFIERS: &[&str] =
    &["final", "static", "public", "private", "protected", "transient", "volatile", "synchronized", "abstract", "native"];
/// Names that begin a statement or stand for something, and so name no variable and no method.
const KEYWORDS: &[&str] = &[
    "def",
    "if",
    "else",
    "while",
    "do",
    "for",
    "in",
    "switch",
    "case",
    "default",
    "try",
    "catch",
    "finally",
    "throw",
    "return",
    "break",
    "continue",
    "new",
    "instanceof",
    "as",
    "null",
    "true",
    "false",
    "assert",
    "import",
    "package",
    "class",
    "interface",
    "enum",
    "trait",
    "super",
];

impl Parser {
    fn new(tokens: Vec<Lexeme>, language: Language, depth: usize) -> Self {
        Self { tokens, at: 0, language, depth, assigned: BTreeSet::new(), imports: Vec::new(), keys: BTreeSet::new(), mistakes: Vec::new() }
    }

    fn ahead(&self, tokens: usize) -> &Lexeme {
        &self.tokens[(self.at + tokens).min(self.tokens.len() - 1)]
    }

    fn token(&self) -> &Token {
        &self.ahead(0).token
    }

    fn line(&self) -> usize {
        self.ahead(0).line
    }

    fn newline(&self) -> bool {
        self.ahead(0).newline
    }

    fn advance(&mut self) -> Lexeme {
        let lexeme = self.ahead(0).clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        lexeme
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.sign_ahead(0, sign)
    }

    fn sign_ahead(&self, tokens: usize, sign: &str) -> bool {
        matches!(&self.ahead(tokens).token, Token::Sign(found) if *found == sign)
    }

    fn name_ahead(&self, tokens: usize) -> Option<&str> {
        if let Token::Name(name) = &self.ahead(tokens).token { Some(name) } else { None }
    }

    fn is_word(&self, word: &str) -> bool {
        self.name_ahead(0) == Some(word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is = self.is_sign(sign);
        if is {
            self.advance();
        }
        is
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        if is {
            self.advance();
        }
        is
    }

    fn fail<T>(&mut self, line: usize, message: impl Into<String>) -> Read<T> {
        self.mistakes.push(Mistake { line, message: message.into() });
        Err(Stop)
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Read<T> {
        let found = match self.token() {
            Token::Name(name) => format!("`{name}`"),
            Token::Number(text, _) => format!("`{text}`"),
            Token::Text(_) | Token::Letter(_) => "a text".to_owned(),
            Token::Reference(text) => format!("`${{{text}}}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".to_owned(),
        };
        let line = self.line();
        self.fail(line, format!("{found} where {wanted} is expected"))
    }

    fn expect(&mut self, sign: &str) -> Read<()> {
        if self.take_sign(sign) { Ok(()) } else { self.unexpected(&format!("`{sign}`")) }
    }

    fn expect_name(&mut self) -> Read<String> {
        match self.token() {
            Token::Name(name) if !KEYWORDS.contains(&name.as_str()) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => self.unexpected("a name"),
        }
    }

    /// Reads something that may hold itself, to a depth.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEPTH_MAX {
            let line = self.line();
            self.at = self.tokens.len() - 1;
            return self.fail(line, format!("nested more than {DEPTH_MAX} deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Statements up to a `}`, which stays, or to the end.
    fn statements(&mut self, in_braces: bool) -> Vec<Statement> {
        let mut statements = Vec::new();
        loop {
            while self.take_sign(";") {}
            if *self.token() == Token::End || (self.is_sign("}") && in_braces) {
                return statements;
            }
            let begin = self.at;
            match self.statement() {
                Ok(statement) if self.ends_statement() => statements.push(statement),
                Ok(_) => {
                    let _ = self.unexpected::<()>(if self.language == Language::Groovy { "the end of a statement" } else { "`;`" });
                    self.recover(begin);
                }
                Err(Stop) => self.recover(begin),
            }
        }
    }

    /// Whether a statement may end before the next token.
    fn ends_statement(&self) -> bool {
        let after_block = self.at > 0 && matches!(self.tokens[self.at - 1].token, Token::Sign("}" | ";"));
        self.newline() || after_block || matches!(self.token(), Token::Sign(";" | "}") | Token::End)
    }

    /// Goes on behind what was not understood: at the end of its line or statement, over whole blocks.
    fn recover(&mut self, begin: usize) {
        if self.at == begin {
            self.advance();
        }
        let mut open = 0_usize;
        loop {
            match self.token() {
                Token::End => return,
                Token::Sign("{" | "(" | "[") => open += 1,
                Token::Sign("}") if open == 0 => return,
                Token::Sign("}" | ")" | "]") => open = open.saturating_sub(1),
                Token::Sign(";") if open == 0 => return,
                _ if open == 0 && self.newline() => return,
                _ => {}
            }
            self.advance();
        }
    }

    fn block(&mut self) -> Read<Vec<Statement>> {
        self.expect("{")?;
        let statements = self.nested(|parser| Ok(parser.statements(true)))?;
        self.expect("}")?;
        Ok(statements)
    }

    fn statement(&mut self) -> Read<Statement> {
        self.nested(Self::statement_inside)
    }

    fn statement_inside(&mut self) -> Read<Statement> {
        let line = self.line();
        let made = |kind| Ok(Statement { line, kind });
        self.pass_annotations()?;
        if self.is_sign("{") {
            return Ok(Statement { line, kind: StatementKind::Block(self.block()?) });
        }
        if self.take_sign(";") {
            return made(StatementKind::Nothing);
        }
        let Some(word) = self.name_ahead(0).map(str::to_owned) else { return self.expression_statement() };
        match word.as_str() {
            "import" | "package" => self.import(word == "import"),
            "if" => {
                self.advance();
                let condition = self.in_parentheses()?;
                let then = Box::new(self.statement()?);
                let semicolon = self.is_sign(";") && self.ahead(1).token == Token::Name("else".into());
                if semicolon {
                    self.advance();
                }
                let other = if self.take_word("else") { Some(Box::new(self.statement()?)) } else { None };
                made(StatementKind::If(condition, then, other))
            }
            "while" => {
                self.advance();
                let condition = self.in_parentheses()?;
                made(StatementKind::While(condition, Box::new(self.statement()?)))
            }
            "do" => {
                self.advance();
                let body = Box::new(self.statement()?);
                self.take_sign(";");
                if !self.take_word("while") {
                    return self.unexpected("`while`");
                }
                made(StatementKind::DoWhile(body, self.in_parentheses()?))
            }
            "for" => self.repeat(),
            "switch" => self.switch(),
            "try" => self.attempt(),
            "throw" => {
                self.advance();
                made(StatementKind::Throw(self.expression()?))
            }
            "return" => {
                self.advance();
                let value = if self.ends_value() { None } else { Some(self.expression()?) };
                made(StatementKind::Return(value))
            }
            "break" | "continue" => {
                self.advance();
                let label = if self.ends_value() { None } else { Some(self.expect_name()?) };
                made(if word == "break" { StatementKind::Break(label) } else { StatementKind::Continue(label) })
            }
            "assert" => {
                self.advance();
                let condition = self.expression()?;
                let message = if self.take_sign(":") || self.take_sign(",") { Some(self.expression()?) } else { None };
                made(StatementKind::Assert(condition, message))
            }
            "synchronized" if self.sign_ahead(1, "(") => {
                self.advance();
                self.in_parentheses()?;
                Ok(Statement { line, kind: StatementKind::Block(self.block()?) })
            }
            "class" | "interface" | "enum" | "trait" => {
                self.fail(line, format!("`{word}`: classes of one's own are not carried out; use methods and maps"))
            }
            _ if self.sign_ahead(1, ":") && !self.sign_ahead(1, "::") && !KEYWORDS.contains(&word.as_str()) => {
                self.advance();
                self.advance();
                made(StatementKind::Label(word, Box::new(self.statement()?)))
            }
            _ => self.declaration_or_expression(),
        }
    }

    /// Whether a value that may follow does not.
    fn ends_value(&self) -> bool {
        self.newline() || matches!(self.token(), Token::Sign(";" | "}") | Token::End)
    }

    fn in_parentheses(&mut self) -> Read<Expression> {
        self.expect("(")?;
        let expression = self.expression()?;
        self.expect(")")?;
        Ok(expression)
    }

    fn pass_annotations(&mut self) -> Read<()> {
        while self.is_sign("@") && self.name_ahead(1).is_some_and(|name| name != "interface") {
            self.advance();
            self.dotted()?;
            if self.is_sign("(") && self.ahead(0).glued {
                let mut open = 0_usize;
                loop {
                    match self.advance().token {
                        Token::Sign("(") => open += 1,
                        Token::Sign(")") if open == 1 => break,
                        Token::Sign(")") => open -= 1,
                        Token::End => return self.unexpected("`)`"),
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }

    fn dotted(&mut self) -> Read<String> {
        let mut name = match self.advance().token {
            Token::Name(name) => name,
            _ => return self.unexpected("a name"),
        };
        while self.is_sign(".") && self.name_ahead(1).is_some() {
            self.advance();
            if let Token::Name(part) = self.advance().token {
                name.push('.');
                name.push_str(&part);
            }
        }
        Ok(name)
    }

    fn import(&mut self, is_import: bool) -> Read<Statement> {
        let line = self.line();
        self.advance();
        let of_members = self.take_word("static");
        let whole = self.dotted()?;
        let mut name = whole.rsplit('.').next().unwrap_or_default().to_owned();
        let all = self.is_sign(".") && self.sign_ahead(1, "*");
        if all {
            self.advance();
            self.advance();
        } else if self.take_word("as") {
            name = self.expect_name()?;
        }
        if of_members {
            return self.fail(line, format!("`import static {whole}`: write the class before its methods"));
        }
        if is_import && !all {
            self.imports.push((name, whole, line));
        }
        Ok(Statement { line, kind: StatementKind::Nothing })
    }

    fn repeat(&mut self) -> Read<Statement> {
        let line = self.line();
        self.advance();
        self.expect("(")?;
        let begin = self.at;
        while self.is_modifier() || (matches!(self.name_ahead(0), Some("def" | "var")) && self.name_ahead(1).is_some()) {
            self.advance();
        }
        self.type_before_name();
        if let Some(name) = self.name_ahead(0).map(str::to_owned)
            && (self.sign_ahead(1, ":") || self.name_ahead(1) == Some("in"))
        {
            self.advance();
            self.advance();
            let list = self.expression()?;
            self.expect(")")?;
            let body = Box::new(self.statement()?);
            return Ok(Statement { line, kind: StatementKind::ForEach(name, list, body) });
        }
        self.at = begin;
        let mut first = Vec::new();
        while !self.is_sign(";") {
            first.push(self.declaration_or_expression()?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect(";")?;
        let condition = if self.is_sign(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let mut steps = Vec::new();
        while !self.is_sign(")") {
            steps.push(self.expression()?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect(")")?;
        let body = Box::new(self.statement()?);
        Ok(Statement { line, kind: StatementKind::For(first, condition, steps, body) })
    }

    fn switch(&mut self) -> Read<Statement> {
        let line = self.line();
        self.advance();
        let value = self.in_parentheses()?;
        self.expect("{")?;
        let mut cases = Vec::new();
        while !self.is_sign("}") {
            let case = if self.take_word("default") {
                None
            } else if self.take_word("case") {
                Some(self.expression()?)
            } else {
                return self.unexpected("`case`");
            };
            if !self.take_sign(":") && !self.is_sign("->") {
                return self.unexpected("`:`");
            }
            let mut body = Vec::new();
            if self.take_sign("->") {
                body.push(self.statement()?);
                body.push(Statement { line, kind: StatementKind::Break(None) });
            }
            while !(self.is_sign("}") || self.is_word("case") || self.is_word("default") || *self.token() == Token::End) {
                if self.take_sign(";") {
                    continue;
                }
                body.push(self.statement()?);
                if !self.ends_statement() {
                    return self.unexpected("the end of a statement");
                }
            }
            cases.push((case, body));
        }
        self.expect("}")?;
        Ok(Statement { line, kind: StatementKind::Switch(value, cases) })
    }

    fn attempt(&mut self) -> Read<Statement> {
        let line = self.line();
        self.advance();
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.take_word("catch") {
            self.expect("(")?;
            while self.is_modifier() {
                self.advance();
            }
            let mut kinds = vec![self.dotted()?];
            while self.take_sign("|") {
                kinds.push(self.dotted()?);
            }
            let name = if self.is_sign(")") { kinds.pop().unwrap_or_default() } else { self.expect_name()? };
            self.expect(")")?;
            let kinds =
                kinds.iter().filter(|kind| *kind != "def").map(|kind| kind.rsplit('.').next().unwrap_or_default().to_owned()).collect();
            catches.push(Catch { kinds, name, body: self.block()? });
        }
        let last = if self.take_word("finally") { Some(self.block()?) } else { None };
        if catches.is_empty() && last.is_none() {
            return self.unexpected("`catch`");
        }
        Ok(Statement { line, kind: StatementKind::Try(body, catches, last) })
    }

    fn is_modifier(&self) -> bool {
        self.name_ahead(0).is_some_and(|name| MODIFIERS.contains(&name)) && !self.sign_ahead(1, "(") && !self.sign_ahead(1, ".")
    }

    fn declaration_or_expression(&mut self) -> Read<Statement> {
        let line = self.line();
        let mut declares = false;
        while self.is_modifier() {
            self.advance();
            declares = true;
        }
        self.pass_annotations()?;
        let mut kind = None;
        let loose = self.is_word("def") || (self.is_word("var") && self.name_ahead(1).is_some());
        if loose {
            self.advance();
            declares = true;
            if self.is_sign("(") {
                return self.declare_many(line);
            }
            kind = self.type_before_name();
        } else if let Some(found) = self.type_before_name() {
            kind = Some(found);
            declares = true;
        }
        if !declares && self.begins_untyped_method() {
            declares = true;
        }
        if !declares {
            return self.expression_statement();
        }
        let name = match self.token() {
            // A method's name may be a text.
            Token::Text(_) => return self.fail(line, "a method whose name is a text"),
            _ => self.expect_name()?,
        };
        if self.is_sign("(") {
            return self.function(line, name);
        }
        let mut names = Vec::new();
        let mut name = name;
        loop {
            while self.is_sign("[") && self.sign_ahead(1, "]") {
                self.advance();
                self.advance();
            }
            let value = if self.take_sign("=") { Some(self.expression()?) } else { None };
            names.push((name, value));
            if !self.take_sign(",") {
                break;
            }
            name = self.expect_name()?;
        }
        Ok(Statement { line, kind: StatementKind::Declare(kind, names) })
    }

    /// BeanShell's `add(a, b) {`.
    fn begins_untyped_method(&self) -> bool {
        if self.language != Language::BeanShell || self.name_ahead(0).is_none() || !self.sign_ahead(1, "(") {
            return false;
        }
        let end = (2..64).find(|ahead| !matches!(self.ahead(*ahead).token, Token::Name(_) | Token::Sign("," | "[" | "]")));
        end.is_some_and(|end| self.sign_ahead(end, ")") && self.sign_ahead(end + 1, "{"))
    }

    fn declare_many(&mut self, line: usize) -> Read<Statement> {
        self.expect("(")?;
        let mut names = Vec::new();
        while !self.is_sign(")") {
            self.type_before_name();
            names.push(self.expect_name()?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect(")")?;
        self.expect("=")?;
        let value = self.expression()?;
        Ok(Statement { line, kind: StatementKind::DeclareMany(names, value) })
    }

    fn function(&mut self, line: usize, name: String) -> Read<Statement> {
        self.expect("(")?;
        let parameters = self.parameters(")")?;
        self.expect(")")?;
        if self.take_word("throws") {
            self.dotted()?;
            while self.take_sign(",") {
                self.dotted()?;
            }
        }
        let body = self.block()?;
        Ok(Statement { line, kind: StatementKind::Function(name, parameters, body) })
    }

    /// Parameters up to a sign, which stays.
    fn parameters(&mut self, end: &str) -> Read<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while !self.is_sign(end) {
            self.pass_annotations()?;
            while self.is_modifier() || self.is_word("def") {
                self.advance();
            }
            let kind = self.type_before_name();
            if self.is_sign("...") {
                let line = self.line();
                return self.fail(line, "`...`: a method of any number of arguments; hand over a list");
            }
            let name = self.expect_name()?;
            let default = if self.take_sign("=") { Some(self.expression()?) } else { None };
            parameters.push(Parameter { name, kind, default });
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(parameters)
    }

    fn expression_statement(&mut self) -> Read<Statement> {
        let line = self.line();
        let expression = self.expression()?;
        let expression = self.command(expression)?;
        Ok(Statement { line, kind: StatementKind::Expression(expression) })
    }

    fn note_assigned(&mut self, target: &Expression) {
        match &target.kind {
            Kind::Name(name) => {
                self.assigned.insert(name.clone());
            }
            Kind::Path(_, suffixes) => match suffixes.last().map(|suffix| &suffix.kind) {
                Some(SuffixKind::Property(name)) => {
                    self.keys.insert(name.clone());
                }
                Some(SuffixKind::Index(items)) => self.note_keys(items),
                _ => {}
            },
            _ => {}
        }
    }

    fn note_keys(&mut self, keys: &[Expression]) {
        for key in keys {
            if let Kind::Text(parts) = &key.kind
                && let [Part::Text(name)] = parts.as_slice()
            {
                self.keys.insert(name.clone());
            }
        }
    }
}
