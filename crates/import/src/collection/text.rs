//! Text with places in it that are filled in later: a variable of the file, or a value that loadline makes.
//!
//! Each tool marks them in its own way (`{{id}}`, `$ID`, `{% uuid %}`), and what marks one for the one is plain text for the other. A
//! string in which everybody replaces a little would sooner or later take a user's `{{` for a template. So text is kept in parts, and
//! becomes a template of loadline in one place.
//!
//! Invariant: a literal is sent as it stands, whatever is in it.

use plan::{Target, percent_encoded};

use super::Variable;

/// Text in parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(Vec<Part>);

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// As it stands.
    Literal(String),
    /// The value of a variable of the file.
    Variable(String),
    /// An expression of loadline's templates, such as `uuid` or `env TOKEN`.
    Expression(String),
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::literal(text)
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::literal(text)
    }
}

/// Variables in variables, so deep.
const DEPTH_MAX: usize = 8;
/// A value that is put in is at most so long, variables in it included.
const FILLED_BYTES_MAX: usize = 1 << 20;

impl Text {
    /// A text without any places.
    #[must_use]
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        Self(if text.is_empty() { Vec::new() } else { vec![Part::Literal(text)] })
    }

    /// Only a variable.
    #[must_use]
    pub fn variable(name: &str) -> Self {
        Self(vec![Part::Variable(variable_name(name))])
    }

    /// Only an expression.
    #[must_use]
    pub fn expression(expression: impl Into<String>) -> Self {
        Self(vec![Part::Expression(expression.into())])
    }

    /// Its parts: no two literals follow each other, and none is empty.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text, if there is no place in it.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// As a template of loadline.
    #[must_use]
    pub fn written(&self) -> String {
        let mut text = String::new();
        for part in &self.0 {
            match part {
                Part::Literal(literal) => text += &literal.replace("{{", "{{\"{{\"}}"),
                Part::Variable(expression) | Part::Expression(expression) => {
                    text += "{{";
                    text += expression;
                    text += "}}";
                }
            }
        }
        text
    }

    /// As a template for a place where text that begins with '@' would name a file.
    #[must_use]
    pub fn written_as_text(&self) -> String {
        let written = self.written();
        match written.strip_prefix('@') {
            Some(rest) => format!("{{{{\"@\"}}}}{rest}"),
            None => written,
        }
    }

    /// Every variable it names.
    pub fn variables(&self) -> impl Iterator<Item = &String> {
        self.0.iter().filter_map(|part| match part {
            Part::Variable(name) => Some(name),
            Part::Literal(_) | Part::Expression(_) => None,
        })
    }

    pub(crate) fn push(&mut self, literal: &str) {
        if literal.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(Part::Literal(last)) => last.push_str(literal),
            _ => self.0.push(Part::Literal(literal.to_owned())),
        }
    }

    pub(crate) fn push_part(&mut self, part: Part) {
        match part {
            Part::Literal(literal) => self.push(&literal),
            part => self.0.push(part),
        }
    }

    pub(crate) fn append(&mut self, other: Self) {
        other.0.into_iter().for_each(|part| self.push_part(part));
    }

    pub(crate) fn starts_with(&self, letter: char) -> bool {
        matches!(self.0.first(), Some(Part::Literal(literal)) if literal.starts_with(letter))
    }

    pub(crate) fn contains(&self, letter: char) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Literal(literal) if literal.contains(letter)))
    }

    /// What stands before and behind the first of these letters.
    pub(crate) fn split_once(&self, letter: char) -> Option<(Self, Self)> {
        let place = self.0.iter().position(|part| matches!(part, Part::Literal(literal) if literal.contains(letter)))?;
        let Part::Literal(literal) = &self.0[place] else { return None };
        let (before, after) = literal.split_once(letter)?;
        let mut first = Self(self.0[..place].to_vec());
        first.push(before);
        let mut second = Self::literal(after);
        second.0.extend_from_slice(&self.0[place + 1..]);
        Some((first, second))
    }

    /// The pieces between these letters; at least one.
    pub(crate) fn split(&self, letter: char) -> Vec<Self> {
        let mut pieces = vec![Self::default()];
        for part in &self.0 {
            let Part::Literal(literal) = part else {
                pieces.last_mut().expect("there is one").push_part(part.clone());
                continue;
            };
            for (place, piece) in literal.split(letter).enumerate() {
                if place > 0 {
                    pieces.push(Self::default());
                }
                pieces.last_mut().expect("there is one").push(piece);
            }
        }
        pieces
    }

    /// Without blanks at both ends.
    pub(crate) fn trimmed(mut self) -> Self {
        if let Some(Part::Literal(first)) = self.0.first_mut() {
            *first = first.trim_start().to_owned();
        }
        if let Some(Part::Literal(last)) = self.0.last_mut() {
            *last = last.trim_end().to_owned();
        }
        self.0.retain(|part| !matches!(part, Part::Literal(literal) if literal.is_empty()));
        self
    }

    /// With every literal changed.
    pub(crate) fn map_literals(self, change: impl Fn(&str) -> String) -> Self {
        let mut changed = Self::default();
        for part in self.0 {
            match part {
                Part::Literal(literal) => changed.push(&change(&literal)),
                part => changed.push_part(part),
            }
        }
        changed
    }

    /// With the values of these variables in the place of their names. What has no value stays a variable.
    #[must_use]
    pub fn filled(&self, variables: &[Variable]) -> Self {
        let mut filled = Self::default();
        let mut left = FILLED_BYTES_MAX;
        self.fill(variables, 0, &mut left, &mut filled);
        filled
    }

    fn fill(&self, variables: &[Variable], depth: usize, left: &mut usize, into: &mut Self) {
        for part in &self.0 {
            let length = match part {
                Part::Literal(text) | Part::Variable(text) | Part::Expression(text) => text.len(),
            };
            // What is the text's own is not a value that is put in.
            if depth > 0 {
                if length > *left {
                    return;
                }
                *left -= length;
            }
            match part {
                Part::Variable(name) if depth < DEPTH_MAX => match variables.iter().find(|variable| variable.name == *name) {
                    Some(variable) => variable.value.fill(variables, depth + 1, left, into),
                    None => into.push_part(part.clone()),
                },
                part => into.push_part(part.clone()),
            }
        }
    }

    /// Of a URL: with the values of those variables that decide where it leads. Those in path and query stay variables.
    pub(crate) fn with_origin_of(self, variables: &[Variable]) -> Self {
        let mut url = Self::default();
        let mut complete = false;
        for part in self.0 {
            match part {
                Part::Variable(name) if !complete => url.append(Self(vec![Part::Variable(name)]).filled(variables)),
                part => url.push_part(part),
            }
            complete = url.beginning().is_some_and(|text| text[plan::server_in(text).start..].contains(['/', '?', '#']));
        }
        let url = url.trimmed();
        match url.beginning() {
            // As curl and browsers take what has no scheme.
            Some(text) if !plan::has_scheme(text) && !text.starts_with(['/', '?', '#']) => {
                let mut whole = Self::literal("http://");
                whole.append(url);
                whole
            }
            _ => url,
        }
    }

    /// Of a URL whose host is not known: its path and query on this server. What stands at once behind a variable of the host is a part of
    /// the path, such as `{{base_path}}`.
    pub(crate) fn placed_on(&self, server: &str, variables: &[Variable]) -> Self {
        // What stands behind the first slash or question mark is path and query, whatever URL they hold.
        let is_host = |part: &&Part| !matches!(part, Part::Literal(text) if !plan::has_scheme(text) && text.contains(['/', '?', '#']));
        let scheme = self.0.iter().take_while(is_host).position(|part| matches!(part, Part::Literal(text) if plan::has_scheme(text)));
        let mut behind = Self::default();
        match scheme.map(|at| (at, &self.0[at])) {
            Some((at, Part::Literal(text))) => {
                behind.push(text.split_once("://").map_or("", |(_, rest)| rest));
                self.0[at + 1..].iter().for_each(|part| behind.push_part(part.clone()));
            }
            _ => behind = self.clone(),
        }
        let (mut path, mut in_path, mut after_variable) = (Self::default(), false, false);
        for part in behind.0 {
            match part {
                part if in_path => path.push_part(part),
                Part::Literal(text) => {
                    after_variable = false;
                    if let Some(at) = text.find(['/', '?', '#']) {
                        in_path = true;
                        path.push(&text[at..]);
                    }
                }
                part if after_variable => {
                    in_path = true;
                    path.append(Self(vec![part]).filled(variables));
                }
                _ => after_variable = true,
            }
        }
        let mut url = Self::literal(server.trim_end_matches('/'));
        // A base of "/" before a path makes two slashes.
        let doubled = scheme.is_none() && self.starts_with('/');
        if let (true, Some(Part::Literal(first))) = (doubled, path.0.first_mut()) {
            *first = format!("/{}", first.trim_start_matches('/'));
        }
        if !path.starts_with('/') && !path.starts_with('?') {
            url.push("/");
        }
        url.append(path);
        url
    }

    fn beginning(&self) -> Option<&str> {
        match self.0.first() {
            Some(Part::Literal(text)) => Some(text),
            _ => None,
        }
    }

    /// Of a URL: scheme, host and port, with what is behind them; path and query begin with '/'.
    ///
    /// # Errors
    /// In words, if it leads nowhere.
    pub fn origin(&self) -> Result<(Target, Self), String> {
        let Some(text) = self.beginning() else {
            let name = self.variables().next().cloned().unwrap_or_default();
            let is_part = matches!(self.0.as_slice(), [_, Part::Literal(next), ..] if !next.starts_with(['/', '?', '#']));
            return Err(if self.is_empty() {
                "it has no URL".to_owned()
            } else if is_part {
                let names = self.variables().map(|name| format!("'{name}'")).take(3).collect::<Vec<_>>().join(", ");
                format!(
                    "its scheme and host are the values of {names}, which are not known; give --environment, --target or --variable {name}=VALUE"
                )
            } else {
                format!("its host is the value of '{name}', which is not known; give it with --variable {name}=http://HOST")
            });
        };
        if text.starts_with('/') {
            return Err("it names no server; give --target http://HOST".to_owned());
        }
        let end = Some(plan::server_in(text).end).filter(|end| *end < text.len());
        if end.is_none() && self.0.len() > 1 {
            let name = self.variables().next().cloned().unwrap_or_default();
            return Err(format!("a part of its host is not known; give it with --variable {name}=VALUE"));
        }
        let end = end.unwrap_or(text.len());
        let target: Target = text[..end].parse().map_err(|why| format!("the URL {why}"))?;
        let mut path = Self::default();
        if !text[end..].starts_with('/') {
            path.push("/");
        }
        path.push(&text[end..]);
        path.0.extend_from_slice(&self.0[1..]);
        // What stands behind '#' is the browser's affair.
        let path = path.split_once('#').map_or(path.clone(), |(before, _)| before);
        let path = Self(path.0).map_literals(encoded);
        Ok((target, path))
    }
}

/// What may not stand in a request line, percent-encoded; what is encoded already stays.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_ascii_graphic() && !"\"<>`".contains(letter) {
            encoded.push(letter);
        } else {
            letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| encoded += &format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Adds a parameter to the query of a URL.
pub(crate) fn with_parameter(url: &Text, name: &Text, value: &Text) -> Text {
    let mut url = ready_for_a_parameter(url);
    url.append(name.clone().map_literals(percent_encoded));
    url.push("=");
    url.append(value.clone().map_literals(percent_encoded));
    url
}

/// A URL behind which the next parameter may be written, without its fragment, which is not sent.
pub(crate) fn ready_for_a_parameter(url: &Text) -> Text {
    let mut url = url.split_once('#').map_or_else(|| url.clone(), |(before, _)| before);
    let ends_open = matches!(url.parts().last(), Some(Part::Literal(text)) if text.ends_with(['?', '&']));
    if !ends_open {
        url.push(if url.contains('?') { "&" } else { "?" });
    }
    url
}

/// A name as it may stand in a template: letters, digits and underscores, and none of the words that mean something there.
#[must_use]
pub fn variable_name(name: &str) -> String {
    let mut plain: String = name.trim().chars().take(64).map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if !plain.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        plain.insert(0, '_');
    }
    // The words of templates, and the variable that every scenario has.
    const TAKEN: [&str; 12] = ["uuid", "random", "sequence", "choice", "now", "env", "file", "base64", "hmac", "raw", "body", "status"];
    if TAKEN.contains(&plain.as_str()) { format!("{plain}_value") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::template::{Piece, Template};
    use proptest::prelude::*;

    fn variable(name: &str, value: Text) -> Variable {
        Variable { name: name.to_owned(), value, secret: false }
    }

    #[test]
    fn variables_that_decide_where_a_url_leads_get_their_values_and_others_stay() {
        let variables = [variable("host", Text::literal("api.example.com")), variable("id", Text::literal("7"))];
        let mut url = Text::literal("https://");
        url.append(Text::variable("host"));
        url.push("/users/");
        url.append(Text::variable("id"));
        let (target, path) = url.with_origin_of(&variables).origin().unwrap();
        assert_eq!((target.to_string().as_str(), path.written().as_str()), ("https://api.example.com/", "/users/{{id}}"));
        let why = Text::variable("base").with_origin_of(&variables).origin().unwrap_err();
        assert!(why.contains("--variable base="), "{why}");
        let bare = Text::literal("localhost:8080?q=a b#x").with_origin_of(&[]);
        let (target, path) = bare.origin().unwrap();
        assert_eq!((target.to_string().as_str(), path.written().as_str()), ("http://localhost:8080/", "/?q=a%20b"));
    }

    #[test]
    fn variables_that_name_each_other_end() {
        let variables = [variable("a", Text::variable("b")), variable("b", Text::variable("a"))];
        assert!(Text::variable("a").filled(&variables).plain().is_none());
        let mut wide = Text::default();
        (0..200).for_each(|_| wide.append(Text::variable("w")));
        wide.push("x");
        let filled = Text::variable("w").filled(&[variable("w", wide)]);
        assert!(filled.written().len() < 8 << 20);
    }

    #[test]
    fn a_name_becomes_one_that_templates_have() {
        for (name, plain) in [("base-url", "base_url"), ("2fa", "_2fa"), ("env", "env_value"), ("Größe", "Gr__e"), ("", "_")] {
            assert_eq!(variable_name(name), plain);
        }
    }

    proptest! {
        #[test]
        fn a_literal_is_sent_as_it_stands(text in "[{}a\"@ \\\\é]{0,24}") {
            for written in [Text::literal(text.clone()).written(), Text::literal(text.clone()).written_as_text()] {
                let template = Template::parse(&written, &[]).unwrap();
                let sent: String = template.pieces().iter().map(|piece| match piece {
                    Piece::Text(text) => text.as_str(),
                    Piece::Value(value) => panic!("{value:?}"),
                }).collect();
                prop_assert_eq!(sent, text.clone());
            }
        }
    }
}
