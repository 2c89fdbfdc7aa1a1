//! Regular expressions as users write them: in linear time where that can be, and with looking around and groups again where it must.
//!
//! Almost all expressions are of the kind that takes time as the text is long, and these are carried out by the crate `regex`. What looks
//! ahead or back (`(?=…)`, `(?<!…)`), or names a group again (`\1`), cannot be done so; other load testers know it, and scripts of theirs
//! use it. Such an expression goes back and tries again, for which `fancy-regex` sets a bound.
//!
//! Invariant: no text of a server is searched for long: beyond [`BACKTRACKS_MAX`] a search is given up, and that is no match and no miss.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use fancy_regex::Regex as Backtracking;
use plan::template::Mistake;
use regex::bytes::{Captures, Regex, RegexBuilder};

/// Of a compiled expression. A Unicode class repeated fifty times fits; what does not would slow down every answer.
const REGEX_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The table that a regular expression fills as it goes; one a thread.
const REGEX_TABLE_BYTES_MAX: usize = 1024 * 1024;

/// So often an expression goes back in one search: some tens of milliseconds.
const BACKTRACKS_MAX: usize = 1_000_000;
/// What one that goes back is compiled to at most, in instructions.
const PROGRAM_MAX: usize = 100_000;

/// Why a search was given up.
pub(crate) const GIVEN_UP: &str = "was given up: the regular expression went back more than 1,000,000 times";

/// A regular expression over bytes, of bounded size and in bounded time.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// In linear time.
    Linear(Regex),
    /// One that goes back.
    Backtracking(Box<Backtracking>),
}

/// A regular expression over bytes, of bounded size.
///
/// # Errors
/// Where and why it is none.
pub fn regex(text: &str) -> Result<Regex, Mistake> {
    let built = RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).dfa_size_limit(REGEX_TABLE_BYTES_MAX).build();
    built.map_err(|error| match error {
        regex::Error::Syntax(words) => {
            let (at, length) = place_in(text, &words);
            let message = words.rsplit_once("error: ").map_or("this is no regular expression", |(_, message)| message.trim());
            let help = "the syntax is that of the crate regex: letters that mean something, such as ( [ { ., stand behind a backslash";
            Mistake { at, length, message: message.to_owned(), help: help.into() }
        }
        _ => Mistake {
            at: 0,
            length: text.len(),
            message: "compiled, the regular expression is larger than 4 MiB".to_owned(),
            help: "repeat less, or write (?-u) before it if it means bytes and not letters".into(),
        },
    })
}

/// Where the carets stand in the words of the crate, which shows the text on one line, four blanks in.
fn place_in(text: &str, words: &str) -> (usize, usize) {
    let carets = words.lines().find(|line| line.contains('^') && line.trim_matches([' ', '^']).is_empty());
    let Some(carets) = carets.filter(|_| !text.contains('\n')) else { return (0, text.len()) };
    let before = carets.chars().take_while(|letter| *letter == ' ').count().saturating_sub(4);
    let length = carets.chars().filter(|letter| *letter == '^').count();
    let byte_of = |letters: usize| text.char_indices().nth(letters).map_or(text.len(), |(at, _)| at);
    (byte_of(before), byte_of(before + length) - byte_of(before))
}

/// Where the groups of a match are, by their numbers; 0 is the whole.
pub(crate) type Groups<'g> = &'g dyn Fn(usize) -> Option<(usize, usize)>;

impl Pattern {
    /// Understands an expression.
    ///
    /// # Errors
    /// Where and why it is none.
    pub fn new(text: &str) -> Result<Self, Mistake> {
        let mistake = match regex(text) {
            Ok(regex) => return Ok(Self::Linear(regex)),
            Err(mistake) => mistake,
        };
        // What is too large as such is no smaller in the other way.
        if !looks_around(text) {
            return Err(mistake);
        }
        let mut builder = fancy_regex::RegexBuilder::new(text);
        builder.backtrack_limit(BACKTRACKS_MAX).max_prog_size(PROGRAM_MAX);
        builder.delegate_size_limit(REGEX_BYTES_MAX).delegate_dfa_size_limit(REGEX_TABLE_BYTES_MAX);
        match builder.build() {
            Ok(regex) => Ok(Self::Backtracking(Box::new(regex))),
            Err(error) => Err(Mistake {
                at: 0,
                length: text.len(),
                message: format!("this is no regular expression: {}", error.to_string().replace('\n', " ")),
                help: "write it in another way".into(),
            }),
        }
    }

    /// How many groups it has, the whole among them.
    #[must_use]
    pub fn groups_count(&self) -> usize {
        match self {
            Self::Linear(regex) => regex.captures_len(),
            Self::Backtracking(regex) => regex.captures_len(),
        }
    }

    /// Whether it is found in a text.
    ///
    /// # Errors
    /// If the search was given up, in words.
    #[inline]
    pub fn is_in(&self, text: &[u8]) -> Result<bool, &'static str> {
        match self {
            Self::Linear(regex) => Ok(regex.is_match(text)),
            Self::Backtracking(regex) => regex.is_match(text).map_err(|_| GIVEN_UP),
        }
    }

    /// Calls `found` with the groups of each match until it breaks.
    ///
    /// # Errors
    /// If the search was given up, in words.
    pub(crate) fn each(&self, text: &[u8], found: &mut dyn FnMut(Groups<'_>) -> ControlFlow<()>) -> Result<(), &'static str> {
        match self {
            Self::Linear(regex) if regex.captures_len() == 1 => {
                for whole in regex.find_iter(text) {
                    if found(&|number| (number == 0).then(|| (whole.start(), whole.end()))).is_break() {
                        break;
                    }
                }
            }
            Self::Linear(regex) => {
                for groups in regex.captures_iter(text) {
                    if found(&|number| span(&groups, number)).is_break() {
                        break;
                    }
                }
            }
            Self::Backtracking(regex) => {
                for groups in regex.captures_iter(text) {
                    let groups = groups.map_err(|_| GIVEN_UP)?;
                    let spans = |number| groups.get(number).map(|group| (group.start(), group.end()));
                    if found(&spans).is_break() {
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

fn span(groups: &Captures<'_>, number: usize) -> Option<(usize, usize)> {
    groups.get(number).map(|group| (group.start(), group.end()))
}

thread_local! {
    /// The expressions that were asked for last while answers were looked at: who asks for one asks for it again.
    static LATELY: RefCell<Vec<(String, Option<Rc<Pattern>>)>> = const { RefCell::new(Vec::new()) };
}

/// So many are kept.
const LATELY_MAX: usize = 8;

/// A regular expression that is known only while an answer is looked at; nothing if it is none.
pub(crate) fn lately(text: &str) -> Option<Rc<Pattern>> {
    LATELY.with_borrow_mut(|lately| {
        if let Some((_, known)) = lately.iter().find(|(known, _)| known == text) {
            return known.clone();
        }
        let made = Pattern::new(text).ok().map(Rc::new);
        lately.truncate(LATELY_MAX - 1);
        lately.insert(0, (text.to_owned(), made.clone()));
        made
    })
}

/// Whether an expression has what only one that goes back can do. It may stand in brackets, as letters: then it is read once more for nothing.
fn looks_around(text: &str) -> bool {
    let back = || text.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && (pair[1].is_ascii_digit() || b"kKGZ".contains(&pair[1])));
    let possessive = || ["*+", "++", "?+", "}+"].iter().any(|sign| text.contains(sign));
    ["(?=", "(?!", "(?<=", "(?<!", "(?>", "(?("].iter().any(|sign| text.contains(sign)) || back() || possessive()
}

/// What is written of a match: its groups among other letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Form(Box<[Piece]>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Box<str>),
    Group(usize),
}

impl Form {
    /// Reads `$2-$1`: `$` and digits are a group, also in braces, `$$` is a dollar.
    ///
    /// # Errors
    /// Where a group is named that the expression does not have, or a dollar is followed by something else.
    pub(crate) fn parse(text: &str, groups: usize) -> Result<Self, Mistake> {
        let (mut pieces, mut plain, mut at) = (Vec::new(), String::new(), 0);
        while let Some(next) = text[at..].find('$') {
            plain.push_str(&text[at..at + next]);
            at += next;
            let behind = &text[at + 1..];
            if behind.starts_with('$') {
                plain.push('$');
                at += 2;
                continue;
            }
            let in_braces = behind.strip_prefix('{').and_then(|inner| inner.split_once('}')).map(|(digits, _)| digits);
            let digits = in_braces.unwrap_or_else(|| &behind[..behind.bytes().take_while(u8::is_ascii_digit).count()]);
            let length = 1 + digits.len() + if in_braces.is_some() { 2 } else { 0 };
            let wrong = |message: String| {
                let help = "write $1 for the first group, $0 for the whole match and $$ for a dollar";
                Mistake { at, length, message, help: help.into() }
            };
            let number: usize = digits.parse().map_err(|_| wrong("behind this dollar no number of a group follows".to_owned()))?;
            if number >= groups {
                return Err(wrong(format!("the regular expression has no group {number}")));
            }
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain).into()));
            }
            pieces.push(Piece::Group(number));
            at += length;
        }
        plain.push_str(&text[at..]);
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.into()));
        }
        Ok(Self(pieces.into()))
    }

    /// What it makes of a match in a text; a group without a part in it is empty.
    pub(crate) fn of<'t>(&self, text: &'t [u8], groups: Groups<'_>) -> Cow<'t, str> {
        let part = |number| groups(number).map_or(Cow::Borrowed(""), |(from, to)| String::from_utf8_lossy(&text[from..to]));
        if let [Piece::Group(number)] = *self.0 {
            return part(number);
        }
        let mut written = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => written.push_str(text),
                Piece::Group(number) => written.push_str(&part(*number)),
            }
        }
        Cow::Owned(written)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(pattern: &str, form: &str, text: &[u8]) -> Vec<String> {
        let pattern = Pattern::new(pattern).unwrap_or_else(|mistake| panic!("{pattern}: {mistake:?}"));
        let form = Form::parse(form, pattern.groups_count()).unwrap_or_else(|mistake| panic!("{form}: {mistake:?}"));
        let mut found = Vec::new();
        let searched = pattern.each(text, &mut |groups| {
            found.push(form.of(text, groups).into_owned());
            ControlFlow::Continue(())
        });
        assert_eq!((searched, pattern.is_in(text)), (Ok(()), Ok(!found.is_empty())));
        found
    }

    #[test]
    fn expressions_of_both_kinds_find_the_same_way() {
        let text = b"id=11 name=one; id=22 name=two\nid=34";
        for (pattern, form, found) in [
            ("id=(\\d+)", "$1", &["11", "22", "34"][..]),
            ("id=\\d+", "$0", &["id=11", "id=22", "id=34"]),
            ("id=(\\d+) name=(\\w+)", "<$2-$1>$$", &["<one-11>$", "<two-22>$"]),
            ("name=(\\w+)(?=;)", "$1", &["one"]),
            ("(\\d)\\1", "${1}0", &["10", "20"]),
            ("(?<!=)(\\d)", "$1", &["1", "2", "4"]),
            ("(x)?id", "[$1]", &["[]", "[]", "[]"]),
            ("(?>\\w+)=2", "$0", &["id=2"]),
            ("name", "as it is", &["as it is", "as it is"]),
        ] {
            assert_eq!(all(pattern, form, text), found, "{pattern} {form}");
        }
        assert!(matches!(Pattern::new("a[(?=]").unwrap(), Pattern::Linear(_)), "what stands in brackets is letters");
    }

    #[test]
    fn a_search_that_goes_back_for_ever_is_given_up() {
        let pattern = Pattern::new("^(?=(a+)+$)(a|aa)+\\1b").unwrap();
        let text = "a".repeat(5_000);
        assert_eq!(pattern.is_in(text.as_bytes()), Err(GIVEN_UP));
        assert_eq!(pattern.each(text.as_bytes(), &mut |_| ControlFlow::Continue(())), Err(GIVEN_UP));
    }

    #[test]
    fn mistakes_are_told_where_they_are() {
        for (form, at, message) in [
            ("a $2", 2, "the regular expression has no group 2"),
            ("$", 0, "behind this dollar no number of a group follows"),
            ("${x}", 0, "behind this dollar no number of a group follows"),
        ] {
            let mistake = Form::parse(form, 2).unwrap_err();
            assert_eq!((mistake.at, mistake.message.as_str()), (at, message), "{form}");
        }
        assert!(Pattern::new("(?=a").unwrap_err().message.starts_with("this is no regular expression: "));
        assert_eq!(Pattern::new("a(b").unwrap_err().message, "unclosed group");
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern_and_a_form_or_neither(text in "\\PC{0,20}|[a$0-9{}()?=!<>\\\\*+.|\\[\\]]{0,16}", body in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(pattern) = Pattern::new(&text) {
                let _ = pattern.each(&body, &mut |groups| {
                    assert!(groups(0).is_some_and(|(from, to)| from <= to && to <= body.len()));
                    ControlFlow::Continue(())
                });
            }
            if let Err(mistake) = Form::parse(&text, 3) {
                prop_assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length));
            }
        }
    }
}
