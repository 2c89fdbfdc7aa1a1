//! Expressions: operators by rank in one loop, then values and what follows them.

use super::{KEYWORDS, PRIMITIVES, Parser, Read, Stop};
use crate::lexer::{DEPTH_MAX, Piece, Token};
use crate::translation::Language;
use crate::tree::{Expression, Kind, Parameter, Part, Statement, StatementKind, Suffix, SuffixKind, Type};

/// Ranks of operators, the loosest first; what Jexl writes as a word stands with its sign.
const RANKS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!=", "===", "!==", "<=>", "=~", "==~", "!~", "=^", "=$"],
    &["<", "<=", ">", ">=", "in", "!in", "instanceof", "!instanceof", "as"],
    &["<<", ">>", ">>>", "..", "..<"],
    &["+", "-"],
    &["*", "/", "%"],
];

const JEXL_WORDS: &[(&str, &str)] = &[
    ("or", "||"),
    ("and", "&&"),
    ("eq", "=="),
    ("ne", "!="),
    ("lt", "<"),
    ("le", "<="),
    ("gt", ">"),
    ("ge", ">="),
    ("div", "/"),
    ("mod", "%"),
];

const ASSIGNMENTS: &[(&str, &str)] = &[
    ("=", ""),
    ("+=", "+"),
    ("-=", "-"),
    ("*=", "*"),
    ("/=", "/"),
    ("%=", "%"),
    ("**=", "**"),
    ("<<=", "<<"),
    (">>=", ">>"),
    ("&=", "&"),
    ("|=", "|"),
    ("^=", "^"),
    ("?=", "?:"),
];

impl Parser {
    pub(super) fn expression(&mut self) -> Read<Expression> {
        self.nested(Self::assignment)
    }

    fn assignment(&mut self) -> Read<Expression> {
        let line = self.line();
        let target = self.choice()?;
        let Token::Sign(sign) = *self.token() else { return Ok(target) };
        let Some((_, operator)) = ASSIGNMENTS.iter().find(|(found, _)| *found == sign) else { return Ok(target) };
        self.advance();
        let value = Box::new(self.expression()?);
        self.note_assigned(&target);
        let kind = match target.kind {
            Kind::Name(_) => Kind::Assign(Box::new(target), operator, value),
            Kind::Path(_, ref suffixes)
                if matches!(
                    suffixes.last(),
                    Some(Suffix { kind: SuffixKind::Property(_) | SuffixKind::Computed(_) | SuffixKind::Index(_), .. })
                ) =>
            {
                Kind::Assign(Box::new(target), operator, value)
            }
            _ => return self.fail(line, "a value is given to something that holds none"),
        };
        Ok(Expression { line, kind })
    }

    fn choice(&mut self) -> Read<Expression> {
        let line = self.line();
        let condition = self.row(0)?;
        if self.take_sign("?:") {
            let other = Box::new(self.nested(Self::choice)?);
            return Ok(Expression { line, kind: Kind::Elvis(Box::new(condition), other) });
        }
        if self.take_sign("?") {
            let then = Box::new(self.expression()?);
            self.expect(":")?;
            let other = Box::new(self.expression()?);
            return Ok(Expression { line, kind: Kind::Choice(Box::new(condition), then, other) });
        }
        Ok(condition)
    }

    /// The operator that stands here, its rank, and of how many tokens it is.
    fn operator(&self) -> Option<(&'static str, usize, usize)> {
        let (word, tokens): (&str, usize) = match self.token() {
            Token::Sign(">") if self.sign_ahead(1, ">") && self.ahead(1).glued => {
                if self.sign_ahead(2, ">") && self.ahead(2).glued {
                    (">>>", 3)
                } else {
                    (">>", 2)
                }
            }
            Token::Sign("!") if matches!(self.name_ahead(1), Some("in" | "instanceof")) && self.ahead(1).glued => {
                (if self.name_ahead(1) == Some("in") { "!in" } else { "!instanceof" }, 2)
            }
            Token::Sign(sign) => (sign, 1),
            Token::Name(name) if self.newline() => return self.jexl_word(name).map(|(operator, rank)| (operator, rank, 1)),
            Token::Name(name) => match name.as_str() {
                "in" | "instanceof" | "as" => (name, 1),
                _ => return self.jexl_word(name).map(|(operator, rank)| (operator, rank, 1)),
            },
            _ => return None,
        };
        if self.newline() && matches!(word, "+" | "-") {
            return None;
        }
        let rank = RANKS.iter().position(|operators| operators.contains(&word))?;
        let operator = RANKS[rank].iter().find(|operator| **operator == word)?;
        Some((operator, rank, tokens))
    }

    fn jexl_word(&self, name: &str) -> Option<(&'static str, usize)> {
        if self.language != Language::Jexl {
            return None;
        }
        let (_, operator) = JEXL_WORDS.iter().find(|(word, _)| *word == name)?;
        Some((operator, RANKS.iter().position(|operators| operators.contains(operator))?))
    }

    /// Operators of this rank and those that bind tighter.
    fn row(&mut self, rank_min: usize) -> Read<Expression> {
        let line = self.line();
        let mut left = self.power()?;
        let mut wraps = 0;
        while let Some((_, rank, _)) = self.operator().filter(|(_, rank, _)| *rank >= rank_min) {
            wraps += 1;
            if wraps > DEPTH_MAX {
                return self.fail(line, "too many operators in one expression");
            }
            let mut rest = Vec::new();
            while let Some((operator, _, tokens)) = self.operator().filter(|(_, found, _)| *found == rank) {
                if matches!(operator, "as" | "instanceof" | "!instanceof" | ".." | "..<") && !rest.is_empty() {
                    break;
                }
                for _ in 0..tokens {
                    self.advance();
                }
                match operator {
                    "as" | "instanceof" | "!instanceof" => {
                        let Some(kind) = self.take_type() else { return self.unexpected("a type") };
                        let value = Box::new(left);
                        left = Expression {
                            line,
                            kind: if operator == "as" {
                                Kind::Cast(kind, value, true)
                            } else {
                                Kind::InstanceOf(value, kind, operator == "instanceof")
                            },
                        };
                        break;
                    }
                    ".." | "..<" => {
                        let right = self.nested(|parser| parser.row(rank + 1))?;
                        left = Expression { line, kind: Kind::Range(Box::new(left), Box::new(right), operator == "..") };
                        break;
                    }
                    _ => rest.push((operator, self.nested(|parser| parser.row(rank + 1))?)),
                }
            }
            if !rest.is_empty() {
                left = Expression { line, kind: Kind::Row(Box::new(left), rest) };
            }
        }
        Ok(left)
    }

    fn power(&mut self) -> Read<Expression> {
        let line = self.line();
        let base = self.unary()?;
        if self.take_sign("**") {
            let exponent = Box::new(self.nested(Self::power)?);
            return Ok(Expression { line, kind: Kind::Power(Box::new(base), exponent) });
        }
        Ok(base)
    }

    fn unary(&mut self) -> Read<Expression> {
        let line = self.line();
        let sign = match self.token() {
            Token::Sign(sign) if matches!(*sign, "-" | "+" | "!" | "~") => *sign,
            Token::Sign(sign) if matches!(*sign, "++" | "--") => {
                let sign = *sign;
                self.advance();
                let target = self.nested(Self::unary)?;
                self.note_assigned(&target);
                return Ok(Expression { line, kind: Kind::Step(sign, true, Box::new(target)) });
            }
            Token::Name(name) if self.language == Language::Jexl && name == "not" => "!",
            Token::Sign("(") => {
                if let Some(kind) = self.cast() {
                    let value = Box::new(self.nested(Self::unary)?);
                    return Ok(Expression { line, kind: Kind::Cast(kind, value, false) });
                }
                return self.path();
            }
            _ => return self.path(),
        };
        self.advance();
        let value = self.nested(Self::unary)?;
        Ok(Expression { line, kind: Kind::Unary(sign, Box::new(value)) })
    }

    /// `(Type)` before a value; else nothing is read.
    fn cast(&mut self) -> Option<Type> {
        let begin = self.at;
        self.advance();
        let found = self.take_type().filter(|_| self.is_sign(")"));
        let follows = found.as_ref().is_some_and(|kind| {
            let primitive = PRIMITIVES.contains(&kind.name.as_str());
            let next = self.ahead(1);
            !next.newline
                && match &next.token {
                    Token::Name(name) => !matches!(name.as_str(), "in" | "as" | "instanceof" | "and" | "or" | "eq" | "ne"),
                    Token::Number(..) | Token::Text(_) | Token::Letter(_) | Token::Reference(_) => true,
                    Token::Sign("(" | "[" | "!" | "~") => true,
                    Token::Sign("-" | "+") => primitive,
                    _ => false,
                }
        });
        if follows {
            self.advance();
            return found;
        }
        self.at = begin;
        None
    }

    /// A value and what follows it: `.a`, `.b()`, `[c]`, `(d)`, `{ … }`.
    fn path(&mut self) -> Read<Expression> {
        let line = self.line();
        let value = self.value()?;
        let mut suffixes: Vec<Suffix> = Vec::new();
        // Whether a call without parentheses may follow: `each { … }`.
        let mut callable = matches!(value.kind, Kind::Name(_));
        loop {
            let line = self.line();
            let newline = self.newline();
            let (safe, spread) = (self.is_sign("?."), self.is_sign("*."));
            // `*` and `.` as they come from the lexer.
            let spread = spread || (self.is_sign("*") && self.sign_ahead(1, ".") && self.ahead(1).glued);
            let kind = if self.is_sign(".") || safe || spread {
                let double = self.is_sign("*");
                self.advance();
                if double {
                    self.advance();
                }
                self.pass_call_types();
                callable = true;
                match self.advance().token {
                    Token::Name(name) => {
                        if self.is_sign("(") && !self.newline() {
                            let mut arguments = self.arguments()?;
                            self.closures(&mut arguments)?;
                            SuffixKind::Method(name, arguments)
                        } else if self.opens_closure() {
                            let mut arguments = Vec::new();
                            self.closures(&mut arguments)?;
                            SuffixKind::Method(name, arguments)
                        } else {
                            SuffixKind::Property(name)
                        }
                    }
                    Token::Text(pieces) => {
                        let text = self.text(line, pieces)?;
                        SuffixKind::Computed(Box::new(text))
                    }
                    Token::Sign("@") => return self.fail(line, "`.@`: fields by their names"),
                    _ => {
                        self.at -= 1;
                        return self.unexpected("a name");
                    }
                }
            } else if (self.is_sign("::") || self.is_sign(".&")) && self.name_ahead(1).is_some() {
                self.advance();
                let Token::Name(name) = self.advance().token else { return self.unexpected("a name") };
                SuffixKind::Pointer(name)
            } else if newline {
                break;
            } else if self.is_sign("[") {
                self.advance();
                callable = false;
                let items = self.items("]")?;
                self.expect("]")?;
                SuffixKind::Index(items)
            } else if self.is_sign("(") && (callable || matches!(value.kind, Kind::Closure(..)) || !suffixes.is_empty()) {
                let mut arguments = self.arguments()?;
                self.closures(&mut arguments)?;
                callable = true;
                SuffixKind::Call(arguments)
            } else if callable && self.opens_closure() && (suffixes.is_empty()) {
                let mut arguments = Vec::new();
                self.closures(&mut arguments)?;
                SuffixKind::Call(arguments)
            } else {
                break;
            };
            suffixes.push(Suffix { line, kind, safe, spread });
        }
        let mut expression = value;
        if !suffixes.is_empty() {
            expression = Expression { line, kind: Kind::Path(Box::new(expression), suffixes) };
        }
        for sign in ["++", "--"] {
            if self.is_sign(sign) && !self.newline() {
                self.advance();
                self.note_assigned(&expression);
                return Ok(Expression { line, kind: Kind::Step(sign, false, Box::new(expression)) });
            }
        }
        Ok(expression)
    }

    /// `.<String>name()`
    fn pass_call_types(&mut self) {
        if self.is_sign("<") {
            let begin = self.at;
            if !self.pass_type_parameters() {
                self.at = begin;
            }
        }
    }

    fn opens_closure(&self) -> bool {
        self.language == Language::Groovy && self.is_sign("{") && !self.newline()
    }

    /// Closures behind the parentheses of a call.
    fn closures(&mut self, arguments: &mut Vec<Expression>) -> Read<()> {
        while self.opens_closure() {
            arguments.push(self.closure()?);
        }
        Ok(())
    }

    fn arguments(&mut self) -> Read<Vec<Expression>> {
        self.expect("(")?;
        let arguments = self.items(")")?;
        self.expect(")")?;
        Ok(arguments)
    }

    /// Elements up to a closing sign, which stays; what is named among them is one map, in front.
    fn items(&mut self, end: &str) -> Read<Vec<Expression>> {
        let line = self.line();
        let (mut items, named) = self.elements(end)?;
        if !named.is_empty() {
            items.insert(0, Expression { line, kind: Kind::Map(named) });
        }
        Ok(items)
    }

    /// Elements, and those that have names.
    #[allow(clippy::type_complexity, reason = "two lists, taken apart at once")]
    fn elements(&mut self, end: &str) -> Read<(Vec<Expression>, Vec<(Expression, Expression)>)> {
        let mut items = Vec::new();
        let mut named = Vec::new();
        while !self.is_sign(end) {
            let line = self.line();
            if self.take_sign("*") {
                let list = Box::new(self.expression()?);
                items.push(Expression { line, kind: Kind::Spread(list) });
            } else {
                match self.entry()? {
                    (item, None) => items.push(item),
                    (key, Some(value)) => named.push((key, value)),
                }
            }
            if !self.take_sign(",") {
                break;
            }
        }
        Ok((items, named))
    }

    /// An element, or a key and its value.
    fn entry(&mut self) -> Read<(Expression, Option<Expression>)> {
        let line = self.line();
        if let Some(name) = self.name_ahead(0).filter(|_| self.sign_ahead(1, ":")).map(str::to_owned) {
            self.advance();
            self.advance();
            self.keys.insert(name.clone());
            let key = Expression { line, kind: Kind::Text(vec![Part::Text(name)]) };
            return Ok((key, Some(self.expression()?)));
        }
        let item = self.expression()?;
        let value = if self.take_sign(":") { Some(self.expression()?) } else { None };
        Ok((item, value))
    }

    /// `println x`, `log.info "a", b`: a call without parentheses.
    pub(super) fn command(&mut self, called: Expression) -> Read<Expression> {
        let is_callable = match &called.kind {
            Kind::Name(_) => true,
            Kind::Path(_, suffixes) => matches!(suffixes.last(), Some(Suffix { kind: SuffixKind::Property(_), .. })),
            _ => false,
        };
        let follows = match self.token() {
            Token::Name(name) => !KEYWORDS.contains(&name.as_str()) || matches!(name.as_str(), "new" | "null" | "true" | "false"),
            Token::Text(_) | Token::Number(..) | Token::Reference(_) => true,
            _ => false,
        };
        if self.language != Language::Groovy || !is_callable || !follows || self.newline() {
            return Ok(called);
        }
        let line = called.line;
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.expression()?);
            if !self.take_sign(",") {
                break;
            }
        }
        let kind = match called.kind {
            Kind::Path(value, mut suffixes) => {
                if let Some(Suffix { kind: SuffixKind::Property(name), line, safe, spread }) = suffixes.pop() {
                    suffixes.push(Suffix { line, kind: SuffixKind::Method(name, arguments), safe, spread });
                }
                Kind::Path(value, suffixes)
            }
            _ => {
                let call = Suffix { line, kind: SuffixKind::Call(arguments), safe: false, spread: false };
                Kind::Path(Box::new(called), vec![call])
            }
        };
        Ok(Expression { line, kind })
    }

    fn value(&mut self) -> Read<Expression> {
        let line = self.line();
        let made = |kind| Ok(Expression { line, kind });
        match self.token().clone() {
            Token::Number(text, decimal) => {
                self.advance();
                made(Kind::Number { text, decimal })
            }
            Token::Text(pieces) => {
                self.advance();
                self.text(line, pieces)
            }
            Token::Letter(text) => {
                self.advance();
                made(Kind::Letter(text))
            }
            Token::Reference(text) => {
                self.advance();
                made(Kind::Reference(text))
            }
            Token::Sign("(") => self.parenthesis(line),
            Token::Sign("[") => self.list_or_map(line),
            Token::Sign("{") if self.language == Language::Groovy => self.closure(),
            Token::Sign("{") => {
                self.advance();
                let items = self.items("}")?;
                self.expect("}")?;
                made(Kind::List(items))
            }
            Token::Name(name) => match name.as_str() {
                "null" | "void" => {
                    self.advance();
                    made(Kind::Null)
                }
                "true" | "false" => {
                    self.advance();
                    made(Kind::Boolean(name == "true"))
                }
                "new" if self.language != Language::Jexl => self.creation(line),
                _ if self.sign_ahead(1, "->") => {
                    self.advance();
                    let parameter = Parameter { name, kind: None, default: None };
                    self.lambda(line, vec![parameter])
                }
                _ if KEYWORDS.contains(&name.as_str()) => self.unexpected("a value"),
                _ => {
                    self.advance();
                    made(Kind::Name(name))
                }
            },
            Token::Sign(_) | Token::End => self.unexpected("a value"),
        }
    }

    fn text(&mut self, line: usize, pieces: Vec<Piece>) -> Read<Expression> {
        let mut parts = Vec::new();
        for piece in pieces {
            parts.push(match piece {
                Piece::Text(text) => Part::Text(text),
                Piece::Reference(text) => Part::Reference(text),
                Piece::Code(tokens) => {
                    let mut parser = Self::new(tokens, self.language, self.depth);
                    let code = if *parser.token() == Token::End {
                        Ok(Expression { line, kind: Kind::Text(Vec::new()) })
                    } else {
                        parser.expression()
                    };
                    let whole = code.is_err() || *parser.token() == Token::End;
                    let unread = if whole { None } else { Some(parser.unexpected::<()>("the end of a value in a text")) };
                    self.assigned.append(&mut parser.assigned);
                    self.keys.append(&mut parser.keys);
                    self.mistakes.append(&mut parser.mistakes);
                    if unread.is_some() {
                        return Err(Stop);
                    }
                    Part::Code(code?)
                }
            });
        }
        Ok(Expression { line, kind: Kind::Text(parts) })
    }

    /// `(a, b) -> …`, `(a, b) = …` or an expression in parentheses.
    fn parenthesis(&mut self, line: usize) -> Read<Expression> {
        let mut open = 0_usize;
        let mut ahead = 0;
        let mut plain = true;
        loop {
            match &self.ahead(ahead).token {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => open -= 1,
                Token::Name(_) | Token::Sign(",") => {}
                Token::End => break,
                _ => plain = false,
            }
            if open == 0 {
                break;
            }
            // A list of names is short; so looking for its end costs nothing that grows.
            if ahead > 64 {
                break;
            }
            ahead += 1;
        }
        if self.sign_ahead(ahead + 1, "->") && open == 0 {
            self.advance();
            let parameters = self.parameters(")")?;
            self.expect(")")?;
            return self.lambda(line, parameters);
        }
        if plain && ahead > 2 && open == 0 && self.sign_ahead(ahead + 1, "=") {
            self.advance();
            let mut names = Vec::new();
            while !self.is_sign(")") {
                names.push(self.expect_name()?);
                self.take_sign(",");
            }
            self.advance();
            self.advance();
            self.assigned.extend(names.iter().cloned());
            let value = Box::new(self.expression()?);
            return Ok(Expression { line, kind: Kind::AssignMany(names, value) });
        }
        self.expect("(")?;
        let expression = self.expression()?;
        self.expect(")")?;
        // Kept apart from what follows: `(a as int).b`.
        Ok(expression)
    }

    fn lambda(&mut self, line: usize, parameters: Vec<Parameter>) -> Read<Expression> {
        self.expect("->")?;
        let body = if self.is_sign("{") {
            self.block()?
        } else {
            let value = self.expression()?;
            vec![Statement { line, kind: StatementKind::Expression(value) }]
        };
        Ok(Expression { line, kind: Kind::Closure(parameters, body, true) })
    }

    fn list_or_map(&mut self, line: usize) -> Read<Expression> {
        self.expect("[")?;
        if self.is_sign(":") && self.sign_ahead(1, "]") {
            self.advance();
            self.advance();
            return Ok(Expression { line, kind: Kind::Map(Vec::new()) });
        }
        let (items, named) = self.elements("]")?;
        self.expect("]")?;
        if named.is_empty() {
            return Ok(Expression { line, kind: Kind::List(items) });
        }
        if !items.is_empty() {
            return self.fail(line, "a list in which only some elements have names");
        }
        Ok(Expression { line, kind: Kind::Map(named) })
    }

    fn closure(&mut self) -> Read<Expression> {
        let line = self.line();
        self.expect("{")?;
        let begin = self.at;
        let noted = self.mistakes.len();
        let mut parameters = Vec::new();
        let mut has_arrow = self.take_sign("->");
        if !has_arrow {
            match self.parameters("->") {
                Ok(found) if self.take_sign("->") => {
                    parameters = found;
                    has_arrow = true;
                }
                _ => {
                    self.at = begin;
                    self.mistakes.truncate(noted);
                }
            }
        }
        let body = self.nested(|parser| Ok(parser.statements(true)))?;
        self.expect("}")?;
        Ok(Expression { line, kind: Kind::Closure(parameters, body, has_arrow) })
    }

    fn creation(&mut self, line: usize) -> Read<Expression> {
        self.advance();
        let whole = self.dotted()?;
        let name = whole.rsplit('.').next().unwrap_or_default().to_owned();
        if self.is_sign("<") && !self.pass_type_parameters() {
            return self.unexpected("`>`");
        }
        if self.is_sign("[") {
            let mut sizes = Vec::new();
            while self.take_sign("[") {
                if !self.is_sign("]") {
                    sizes.push(self.expression()?);
                }
                self.expect("]")?;
            }
            let kind = Type { name, is_array: true };
            if self.take_sign("{") {
                let items = self.items("}")?;
                self.expect("}")?;
                let list = Box::new(Expression { line, kind: Kind::List(items) });
                return Ok(Expression { line, kind: Kind::Cast(kind, list, true) });
            }
            return Ok(Expression { line, kind: Kind::NewArray(kind, sizes) });
        }
        let arguments = self.arguments()?;
        if self.is_sign("{") && !self.newline() {
            return self.fail(line, format!("`new {name}() {{`: classes of one's own are not carried out"));
        }
        Ok(Expression { line, kind: Kind::New(Type { name: whole, is_array: false }, arguments) })
    }
}
