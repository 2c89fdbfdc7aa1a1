//! A script as tokens: names, numbers, texts with what is put into them, and signs.
//!
//! One reader for the three languages with Java's look; what differs is which quotes take values and whether the end of a line ends a
//! statement. What JMeter itself puts into a script, `${name}`, is read here too: it is no part of any of these languages, and outside
//! of texts none of them could read it.
//!
//! Invariant: any text ends in tokens and mistakes, never in a panic; texts in texts are read to a depth of [`DEPTH_MAX`].

use crate::translation::{Language, Mistake};

/// How deep a script may be nested. Written by hand they reach ten; the parser's stack holds a few hundred.
pub(crate) const DEPTH_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    Name(String),
    /// As JavaScript writes it, and whether it is a decimal.
    Number(String, bool),
    Text(Vec<Piece>),
    Letter(String),
    Reference(String),
    Sign(&'static str),
    End,
}

/// A part of a text; code in it as tokens.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Code(Vec<Lexeme>),
    Reference(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lexeme {
    pub token: Token,
    pub line: usize,
    /// Whether a line ended before it, where that means something.
    pub newline: bool,
    /// Whether nothing stands between it and the token before.
    pub glued: bool,
}

/// Longest first.
const SIGNS: &[&str] = &[
    "<<=", ">>=", "**=", "==~", "===", "!==", "<=>", "..<", "...", "?.", "?:", "?=", "->", "::", ".&", "..", "++", "--", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "==", "!=", "<=", ">=", "&&", "||", "=~", "!~", "=^", "=$", "<<", "**", "{", "}", "(", ")", "[", "]",
    ";", ",", ".", "?", ":", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!", "~", "@",
];

/// Names after which a value is expected, so that a `/` begins a text.
const BEFORE_VALUE: &[&str] = &["return", "in", "case", "assert", "else", "throw", "and", "or", "not"];

pub(crate) struct Lexer<'a> {
    rest: std::str::Chars<'a>,
    line: usize,
    language: Language,
    depth: usize,
    /// A line ended inside of a text that was not closed.
    line_ended: bool,
    pub(crate) mistakes: Vec<Mistake>,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(source: &'a str, language: Language) -> Self {
        Self { rest: source.chars(), line: 1, language, depth: 0, line_ended: false, mistakes: Vec::new() }
    }

    /// All tokens, with an [`Token::End`] behind them.
    pub(crate) fn tokens(&mut self) -> Vec<Lexeme> {
        if self.looks_at("#!") {
            self.skip_line();
        }
        self.until_brace(false)
    }

    fn peek(&self) -> Option<char> {
        self.rest.clone().next()
    }

    fn looks_at(&self, text: &str) -> bool {
        self.rest.as_str().starts_with(text)
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.rest.next();
        if letter == Some('\n') {
            self.line += 1;
        }
        letter
    }

    fn skip(&mut self, letters: usize) {
        for _ in 0..letters {
            self.next();
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|letter| !matches!(letter, '\n' | '\r')) {
            self.next();
        }
    }

    fn fail(&mut self, message: impl Into<String>) {
        self.mistakes.push(Mistake { line: self.line, message: message.into() });
    }

    /// Tokens up to the end, or up to the brace that closes a value in a text.
    fn until_brace(&mut self, in_text: bool) -> Vec<Lexeme> {
        let mut lexemes: Vec<Lexeme> = Vec::new();
        let mut braces = 0_usize;
        loop {
            let before = self.rest.as_str().len();
            let newline = (self.skip_space() | std::mem::take(&mut self.line_ended)) && self.language == Language::Groovy;
            let glued = before == self.rest.as_str().len();
            let line = self.line;
            let Some(letter) = self.peek() else {
                if in_text {
                    self.fail("a `${` in a text that is not closed");
                }
                lexemes.push(Lexeme { token: Token::End, line, newline: true, glued: false });
                return lexemes;
            };
            if in_text && letter == '}' && braces == 0 {
                self.next();
                lexemes.push(Lexeme { token: Token::End, line, newline: true, glued: false });
                return lexemes;
            }
            let Some(token) = self.token(letter, lexemes.last().map(|lexeme| &lexeme.token)) else { continue };
            match token {
                Token::Sign("{") => braces += 1,
                Token::Sign("}") => braces = braces.saturating_sub(1),
                _ => {}
            }
            lexemes.push(Lexeme { token, line, newline, glued });
        }
    }

    /// Passes over blanks and comments; whether a line ended.
    fn skip_space(&mut self) -> bool {
        let mut newline = false;
        loop {
            if self.looks_at("//") || (self.language == Language::Jexl && self.looks_at("##")) {
                self.skip_line();
            } else if self.looks_at("/*") {
                let begin = self.line;
                self.skip(2);
                while !self.looks_at("*/") {
                    if self.next().is_none() {
                        self.mistakes.push(Mistake { line: begin, message: "a comment that is not closed".into() });
                        return newline;
                    }
                }
                self.skip(2);
            } else if self.looks_at("\\\n") || self.looks_at("\\\r\n") {
                self.next();
                while self.peek().is_some_and(|letter| letter == '\r') {
                    self.next();
                }
                self.next();
            } else if self.peek().is_some_and(|letter| letter.is_whitespace() || letter == '\u{feff}') {
                newline |= matches!(self.next(), Some('\n' | '\r'));
            } else {
                return newline;
            }
        }
    }

    fn token(&mut self, letter: char, before: Option<&Token>) -> Option<Token> {
        let is_groovy = self.language == Language::Groovy;
        if self.looks_at("${") {
            self.skip(2);
            return Some(Token::Reference(self.reference()));
        }
        if is_name_start(letter) {
            return Some(Token::Name(self.name()));
        }
        if letter.is_ascii_digit() || (letter == '.' && self.rest.as_str()[1..].starts_with(|next: char| next.is_ascii_digit())) {
            return Some(self.number());
        }
        let takes_values = is_groovy;
        for (quote, interpolated) in [("\"\"\"", takes_values), ("'''", false), ("\"", takes_values), ("'", false)] {
            if self.looks_at(quote) && (is_groovy || quote.len() == 1) {
                self.skip(quote.len());
                let pieces = self.text(quote, interpolated);
                if self.language == Language::BeanShell && quote == "'" {
                    let text = pieces.into_iter().map(|piece| if let Piece::Text(text) = piece { text } else { String::new() }).collect();
                    return Some(Token::Letter(text));
                }
                return Some(Token::Text(pieces));
            }
        }
        let value_before = match before {
            Some(Token::Name(name)) => !BEFORE_VALUE.contains(&name.as_str()),
            Some(Token::Sign(sign)) => matches!(*sign, ")" | "]" | "}" | "++" | "--"),
            Some(_) => true,
            None => false,
        };
        if is_groovy && self.looks_at("$/") {
            self.skip(2);
            return Some(Token::Text(self.text("/$", true)));
        }
        if is_groovy && letter == '/' && !value_before {
            self.skip(1);
            return Some(Token::Text(self.text("/", true)));
        }
        for sign in SIGNS {
            if self.looks_at(sign) {
                // `=^` and `=$` are Jexl's; elsewhere `a=^…` is two signs.
                if matches!(*sign, "=^" | "=$" | "!~") && self.language != Language::Jexl {
                    continue;
                }
                if *sign == "?." && self.rest.as_str()[2..].starts_with(|next: char| next.is_ascii_digit()) {
                    continue;
                }
                self.skip(sign.len());
                return Some(Token::Sign(sign));
            }
        }
        self.next();
        self.fail(format!("`{letter}` is not understood here"));
        None
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(letter) = self.peek().filter(|letter| is_name_start(*letter) || letter.is_numeric()) {
            name.push(letter);
            self.next();
        }
        name
    }

    /// What stands up to the brace that closes it; braces in it are counted.
    fn reference(&mut self) -> String {
        let mut text = String::new();
        let mut open = 0_usize;
        loop {
            match self.next() {
                None => {
                    self.fail("a `${` that is not closed");
                    return text;
                }
                Some('}') if open == 0 => return text,
                Some(letter) => {
                    match letter {
                        '{' => open += 1,
                        '}' => open -= 1,
                        _ => {}
                    }
                    text.push(letter);
                }
            }
        }
    }

    fn digits(&mut self, into: &mut String, radix: u32) {
        while let Some(letter) = self.peek().filter(|letter| letter.is_digit(radix) || *letter == '_') {
            if letter != '_' {
                into.push(letter);
            }
            self.next();
        }
    }

    fn number(&mut self) -> Token {
        let mut text = String::new();
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2)] {
            if self.looks_at(prefix) {
                self.skip(2);
                self.digits(&mut text, radix);
                self.suffix();
                return match u128::from_str_radix(&text, radix) {
                    Ok(value) => Token::Number(whole(&value.to_string()), false),
                    Err(_) => {
                        self.fail(format!("`{prefix}{text}` is no number"));
                        Token::Number("0".into(), false)
                    }
                };
            }
        }
        self.digits(&mut text, 10);
        let mut decimal = false;
        let rest = self.rest.as_str();
        if rest.starts_with('.') && rest[1..].starts_with(|next: char| next.is_ascii_digit()) {
            decimal = true;
            self.next();
            text.push('.');
            self.digits(&mut text, 10);
        }
        let rest = self.rest.as_str();
        let exponent = rest.strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        if exponent.is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit())) {
            decimal = true;
            text.push('e');
            self.next();
            if let Some(sign) = self.peek().filter(|sign| matches!(sign, '+' | '-')) {
                text.push(sign);
                self.next();
            }
            self.digits(&mut text, 10);
        }
        decimal |= self.suffix();
        if decimal {
            let text = if text.starts_with('.') { format!("0{text}") } else { text };
            let zeros = text.len() - text.trim_start_matches('0').len();
            let text = if text[zeros..].starts_with(|next: char| next.is_ascii_digit()) { text[zeros..].to_owned() } else { text };
            let text = if text.starts_with("00") { format!("0{}", text.trim_start_matches('0')) } else { text };
            return Token::Number(text, true);
        }
        if text.len() > 1 && text.starts_with('0') {
            return match u128::from_str_radix(&text, 8) {
                Ok(value) => Token::Number(whole(&value.to_string()), false),
                Err(_) => {
                    self.fail(format!("`{text}` is no number: one that begins with 0 is of the digits 0 to 7"));
                    Token::Number("0".into(), false)
                }
            };
        }
        Token::Number(whole(&text), false)
    }

    /// The letter behind a number that says its type; whether it makes a decimal of it.
    fn suffix(&mut self) -> bool {
        let rest = self.rest.as_str();
        let mut letters = rest.chars();
        let Some(suffix) = letters.next().filter(|letter| "lLgGiIfFdD".contains(*letter)) else { return false };
        if letters.next().is_some_and(|next| is_name_start(next) || next.is_numeric()) {
            return false;
        }
        self.next();
        matches!(suffix, 'f' | 'F' | 'd' | 'D')
    }

    /// The rest of a text, up to its closing quote.
    fn text(&mut self, quote: &'static str, interpolated: bool) -> Vec<Piece> {
        let begin = self.line;
        let slashy = quote == "/" || quote == "/$";
        let mut pieces = Vec::new();
        let mut text = String::new();
        loop {
            if self.looks_at(quote) {
                self.skip(quote.len());
                break;
            }
            let Some(letter) = self.next() else {
                self.mistakes
                    .push(Mistake { line: begin, message: format!("a text that begins with `{}` and is not closed", opening(quote)) });
                break;
            };
            match letter {
                '\n' if quote.len() == 1 && !slashy => {
                    self.line_ended = true;
                    self.mistakes
                        .push(Mistake { line: begin, message: format!("a text that begins with `{quote}` and is not closed in its line") });
                    break;
                }
                '\r' if self.looks_at("\n") => {}
                '\\' if slashy => match self.peek() {
                    Some('/') if quote == "/" => {
                        text.push('/');
                        self.next();
                    }
                    _ => text.push('\\'),
                },
                '$' if quote == "/$" && (self.looks_at("$") || (self.looks_at("/") && !self.looks_at("/$"))) => {
                    text.extend(self.next());
                }
                '\\' => self.escape(&mut text),
                '$' if self.looks_at("{") => {
                    let is_reference = !interpolated || self.looks_at("{__");
                    self.next();
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(if is_reference { Piece::Reference(self.reference()) } else { self.code() });
                }
                '$' if interpolated && self.peek().is_some_and(|next| is_name_start(next) && next != '$') => {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(Piece::Code(self.dotted()));
                }
                letter => text.push(letter),
            }
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(Piece::Text(text));
        }
        pieces
    }

    fn code(&mut self) -> Piece {
        if self.depth >= DEPTH_MAX {
            self.fail("texts in texts, too deep");
            self.rest = "".chars();
            return Piece::Text(String::new());
        }
        self.depth += 1;
        let lexemes = self.until_brace(true);
        self.depth -= 1;
        Piece::Code(lexemes)
    }

    /// `$name.part.part` in a text.
    fn dotted(&mut self) -> Vec<Lexeme> {
        let line = self.line;
        let lexeme = |token| Lexeme { token, line, newline: false, glued: true };
        let mut lexemes = Vec::new();
        loop {
            let mut name = String::new();
            while let Some(letter) = self.peek().filter(|letter| (is_name_start(*letter) && *letter != '$') || letter.is_numeric()) {
                name.push(letter);
                self.next();
            }
            lexemes.push(lexeme(Token::Name(name)));
            let rest = self.rest.as_str();
            if !(rest.starts_with('.') && rest[1..].starts_with(|next: char| is_name_start(next) && next != '$')) {
                break;
            }
            self.next();
            lexemes.push(lexeme(Token::Sign(".")));
        }
        lexemes.push(lexeme(Token::End));
        lexemes
    }

    fn escape(&mut self, text: &mut String) {
        let Some(letter) = self.next() else { return };
        match letter {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            's' if self.language == Language::Groovy => text.push(' '),
            '\n' => {}
            '\r' => {
                if self.looks_at("\n") {
                    self.next();
                }
            }
            'u' => {
                while self.looks_at("u") {
                    self.next();
                }
                let mut digits = String::new();
                while digits.len() < 4 && self.peek().is_some_and(|letter| letter.is_ascii_hexdigit()) {
                    digits.extend(self.next());
                }
                self.unicode(&digits, text);
            }
            '0'..='7' => {
                let mut code = letter.to_digit(8).unwrap_or(0);
                while let Some(digit) = self.peek().and_then(|letter| letter.to_digit(8)).filter(|digit| code * 8 + digit < 256) {
                    code = code * 8 + digit;
                    self.next();
                }
                text.extend(char::from_u32(code));
            }
            '\\' | '\'' | '"' | '$' | '`' => text.push(letter),
            letter if self.language == Language::Jexl => {
                text.push('\\');
                text.push(letter);
            }
            letter => self.fail(format!("`\\{letter}` in a text: write `\\\\{letter}` for a backslash")),
        }
    }

    /// Half a pair waits for its other half.
    fn unicode(&mut self, digits: &str, text: &mut String) {
        let Ok(code) = u32::from_str_radix(digits, 16) else {
            self.fail(format!("`\\u{digits}` in a text has not four digits"));
            return;
        };
        if (0xd800..0xdc00).contains(&code) && self.looks_at("\\u") {
            let low = self.rest.as_str().get(2..6).and_then(|digits| u32::from_str_radix(digits, 16).ok());
            if let Some(low) = low.filter(|low| (0xdc00..0xe000).contains(low)) {
                self.skip(6);
                text.extend(char::from_u32(0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00)));
                return;
            }
        }
        text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    }
}

pub(crate) fn is_name_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_' || letter == '$'
}

fn opening(quote: &str) -> &str {
    if quote == "/$" { "$/" } else { quote }
}

/// A whole number as JavaScript keeps it exactly.
fn whole(digits: &str) -> String {
    const EXACT_MAX: u128 = (1 << 53) - 1;
    match digits.parse::<u128>() {
        Ok(value) if value <= EXACT_MAX => value.to_string(),
        _ => format!("{digits}n"),
    }
}
