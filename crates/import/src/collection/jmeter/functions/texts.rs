//! Functions of a test plan that write a text otherwise.
//!
//! Of what is known before the load they are carried out here, so that they may stand in a setting; of anything else they are computed before
//! the request that names them, as far as expressions can.

use plan::template::Template;
use plan::work::{Expression, Function, Script};

use super::super::expressions::fixed;
use super::super::java;
use super::found::pattern;
use super::{Call, Outcome};

/// What stands between the words of a text.
const BETWEEN_WORDS: &str = "[\\x09-\\x0d\\x20_-]+";

/// A way to write words together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// Each begins with a capital but for the first, or that one too.
    Camel { is_upper: bool },
    /// In small letters or in capitals, with this between.
    Parted { sign: &'static str, is_upper: bool },
}

impl Words {
    /// By its name, in capitals.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "" | "LOWER_CAMEL_CASE" => Self::Camel { is_upper: false },
            "UPPER_CAMEL_CASE" => Self::Camel { is_upper: true },
            "SNAKE_CASE" | "LOWER_UNDERSCORE" => Self::Parted { sign: "_", is_upper: false },
            "KEBAB_CASE" | "LISP_CASE" | "SPINAL_CASE" | "LOWER_HYPHEN" => Self::Parted { sign: "-", is_upper: false },
            "TRAIN_CASE" => Self::Parted { sign: "-", is_upper: true },
            "UPPER_UNDERSCORE" => Self::Parted { sign: "_", is_upper: true },
            _ => return None,
        })
    }

    /// A text that is known, written so.
    fn of(self, text: &str) -> String {
        let is_between = |letter: char| ('\t'..='\r').contains(&letter) || " _-".contains(letter);
        // What stands before the first word makes an empty one before it, and what stands behind the last one makes none.
        let words = text.trim_end_matches(is_between).split(is_between).enumerate();
        let words: Vec<&str> = words.filter(|(place, word)| *place == 0 || !word.is_empty()).map(|(_, word)| word).collect();
        match self {
            Self::Camel { is_upper } => {
                let written = words.iter().enumerate().map(|(place, word)| {
                    let word = word.to_lowercase();
                    if place > 0 || is_upper { capitalized(&word) } else { word }
                });
                written.collect()
            }
            Self::Parted { sign, is_upper: false } => words.join(sign).to_lowercase(),
            Self::Parted { sign, is_upper: true } => words.join(sign).to_uppercase(),
        }
    }
}

impl Call<'_, '_> {
    /// A text in which each match of a regular expression is written otherwise.
    pub(super) fn rewritten(&self) -> Result<Outcome, String> {
        if self.arguments.len() < 3 {
            return self.unfit("it wants a text, a regular expression, and what is written in its place");
        }
        let (pattern, groups) = pattern(self.names, &self.text(1)?, java::replaced).or_else(|why| self.unfit(&why))?;
        let form = match self.known(2)? {
            Some(form) => Some(java::form(&form, groups).or_else(|why| self.unfit(&why))?),
            None => None,
        };
        if let (Some(text), Some(form)) = (self.known(0)?, &form)
            && pattern.is_fixed()
        {
            return self.now(&pattern.fixed_text(), form, &text);
        }
        let form = match form {
            Some(form) => fixed_text(form),
            None => {
                // A group's number ends where there are no more groups, whatever digit a value puts behind it.
                let form = self.value(2)?;
                let form = if groups <= 10 { rewrite(form, r"(?<!\\)((?:\\\\)*)\$([0-9])", "$1$${$2}") } else { form };
                // Backslashes in it mean what stands behind them, and there they would stand for themselves.
                rewrite(form, r"\\(\$)|\\([^$])", "$1$1$2")
            }
        };
        Ok(Outcome::Computed("text", Expression::Call(Function::Rewrite, vec![self.value(0)?, Expression::Text(pattern), form])))
    }

    /// A text that is known with each match written otherwise.
    fn now(&self, pattern: &str, form: &str, text: &str) -> Result<Outcome, String> {
        let mut written = Vec::new();
        let made = step::Rewrite::new(pattern, form).map_err(|mistake| mistake.message);
        let made = made.and_then(|made| made.write(text.as_bytes(), &mut written).map_err(|why| format!("its text {why}")));
        match made {
            Ok(()) => Ok(String::from_utf8_lossy(&written).into_owned().into()),
            Err(why) => self.unfit(&why),
        }
    }

    /// The words of a text, written together in a way that has a name; a name that nobody knows changes nothing.
    pub(super) fn in_words(&self) -> Result<Outcome, String> {
        let Some(name) = self.known(1)? else { return self.unfit("its form is known only on the way") };
        let Some(way) = Words::named(&name.to_uppercase()) else { return Ok(self.text(0)?.into()) };
        if let Some(text) = self.known(0)? {
            return Ok(way.of(&text).into());
        }
        let Words::Parted { sign, is_upper } = way else {
            return self.unfit("it is given a value that is known only on the way");
        };
        let ended = rewrite(self.value(0)?, &format!("{BETWEEN_WORDS}$"), "");
        let parted = rewrite(ended, BETWEEN_WORDS, sign);
        let cased = if is_upper { Function::Upper } else { Function::Lower };
        Ok(Outcome::Computed("text", Expression::Call(cased, vec![parted])))
    }

    /// Letters by their codes. What is no code is passed over.
    pub(super) fn letters(&self) -> Result<Outcome, String> {
        let codes: Vec<Template> = (0..self.arguments.len()).map(|place| self.text(place)).collect::<Result<_, _>>()?;
        let known: Option<Vec<String>> = codes.iter().map(|code| self.names.settled(code)).collect();
        match known {
            Some(codes) => Ok(codes.iter().filter_map(|code| char::from_u32(whole_number(code.trim())?)).collect::<String>().into()),
            None => Ok(computed_by(LETTERS, codes.into_iter().enumerate().map(|(place, code)| (format!("code_{place}"), code)))),
        }
    }

    /// A text with the escapes of Java carried out.
    pub(super) fn unescaped(&self) -> Result<Outcome, String> {
        let text = self.text(0)?;
        match self.names.settled(&text) {
            Some(text) => Ok(unescaped(&text).into()),
            None => Ok(computed_by(UNESCAPED, [("text".to_owned(), text)])),
        }
    }

    /// A text as a regular expression that finds it: whatever is neither a letter, a digit nor `_` stands behind a backslash.
    pub(super) fn escaped(&self) -> Result<Outcome, String> {
        let Some(text) = self.known(0)? else {
            return Ok(Outcome::Computed("text", rewrite(self.value(0)?, "[^\\p{L}\\p{Nd}_]", "\\$0")));
        };
        let is_plain = |letter: char| letter.is_alphanumeric() || letter == '_';
        let letters = text.chars().flat_map(|letter| [(!is_plain(letter)).then_some('\\'), Some(letter)]);
        Ok(letters.flatten().collect::<String>().into())
    }
}

/// What a program makes of values that are known only on the way.
fn computed_by(text: &str, given: impl IntoIterator<Item = (String, Template)>) -> Outcome {
    Outcome::Script(Box::new(Script { given: given.into_iter().collect(), ..Script::new(text.to_owned()) }))
}

/// [`whole_number`] of each code, as a letter.
const LETTERS: &str = r#"let letters = "";
for (let place = 0; vars.get("code_" + place) !== null; place += 1) {
  const [, hexadecimal, octal, decimal] = /^(?:(?:0[xX]|#)([0-9a-fA-F]+)|0([0-7]+)|(0|[1-9]\d*))$/.exec(vars.get("code_" + place).trim()) ?? [];
  const code = hexadecimal ? parseInt(hexadecimal, 16) : octal ? parseInt(octal, 8) : Number(decimal);
  if (code <= 0x10ffff) letters += String.fromCodePoint(code);
}
return letters;"#;

/// [`unescaped`] of a text.
const UNESCAPED: &str = r#"const signs = {b: "\b", t: "\t", n: "\n", f: "\f", r: "\r"};
return vars.get("text").replace(/\\(?:u+([0-9a-fA-F]{4})|([0-3][0-7]{0,2}|[4-7][0-7]?)|([^]?))/g, (whole, hexadecimal, octal, letter) =>
  hexadecimal ? String.fromCharCode(parseInt(hexadecimal, 16)) : octal ? String.fromCharCode(parseInt(octal, 8)) : signs[letter] ?? letter);"#;

/// A text in which each match is written so.
fn rewrite(text: Expression, pattern: &str, form: &str) -> Expression {
    Expression::Call(Function::Rewrite, vec![text, fixed_text(pattern), fixed_text(form)])
}

fn fixed_text(text: impl Into<String>) -> Expression {
    fixed(text.into().as_str())
}

/// A word whose first letter is a capital, if that is a single letter.
fn capitalized(word: &str) -> String {
    let mut rest = word.chars();
    let Some(first) = rest.next() else { return String::new() };
    let mut upper = first.to_uppercase();
    let capital = if upper.len() == 1 { upper.next().unwrap_or(first) } else { first };
    std::iter::once(capital).chain(rest).collect()
}

/// A whole number as Java's `Long.decode` reads it: `65`, `0x41`, `#41`, `0101`.
fn whole_number(text: &str) -> Option<u32> {
    let hexadecimal = ["0x", "0X", "#"].iter().find_map(|mark| text.strip_prefix(mark));
    match (hexadecimal, text.strip_prefix('0').filter(|digits| !digits.is_empty())) {
        (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) => u32::from_str_radix(digits, 8).ok(),
        (None, None) => text.parse().ok(),
    }
}

/// A text with the escapes of Java carried out; a backslash that begins none is left out.
fn unescaped(text: &str) -> String {
    let (mut written, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find('\\') {
        written.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let digits = |from: usize, most: usize, radix: u32| {
            let digits = rest[from..].chars().take(most).take_while(|letter| letter.is_digit(radix)).count();
            (from + digits, rest.get(from..from + digits).and_then(|digits| u32::from_str_radix(digits, radix).ok()))
        };
        let (length, code) = match rest.chars().next() {
            Some('u') => digits(rest.len() - rest.trim_start_matches('u').len(), 4, 16),
            Some('0'..='3') => digits(0, 3, 8),
            Some('4'..='7') => digits(0, 2, 8),
            Some(letter) => {
                let known = [('b', 8), ('t', 9), ('n', 10), ('f', 12), ('r', 13)].into_iter().find(|(known, _)| *known == letter);
                (letter.len_utf8(), Some(known.map_or(letter.into(), |(_, code)| code)))
            }
            None => (0, None),
        };
        written.extend(code.and_then(char::from_u32));
        rest = &rest[length..];
    }
    written + rest
}
