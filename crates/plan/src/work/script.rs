//! A program among what users do, as data.
//!
//! What it is written in is JavaScript, whoever wrote it: people's own scripts, and those of other tools, translated. What is known about it
//! beside its text (which variables it names, whether it looks at the answer) decides how it is carried out, and is read off the text
//! where its maker says nothing else; so that most scripts are their text alone.
//!
//! Invariant: with nothing but its text it is [`Script::new`] of that text, which is how a printer knows what needs no word.

use super::{JOURNEY_NUMBER, LAST_SUCCEEDED, STATUS, USER_NUMBER};
use crate::template::{Template, words};

/// A program that users run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Script {
    /// What it is called where it is told of; empty: by where it stands.
    pub name: String,
    /// What stands in the body of a function.
    pub text: String,
    /// Whether it was translated from another tool's language: then variables have any names in it, as they had there.
    pub translated: bool,
    /// Values that it finds under these names, before those of variables; written anew each time.
    pub given: Vec<(String, Template)>,
    /// The variable that holds afterwards what it returns.
    pub into: Option<String>,
    /// Variables that it reads, by their names here.
    pub reads: Vec<String>,
    /// Variables that it may give a value, by their names here; others it keeps beside them, where only scripts find them.
    pub sets: Vec<String>,
    /// Whether it looks at the answer, of a step whose answer was read before.
    pub reads_answer: bool,
    /// Whether it looks at the request that it is run before, which is written first then; else it is written behind the script, with what
    /// that has set.
    pub reads_request: bool,
    /// Whether the journey goes on where it throws.
    pub may_fail: bool,
    /// Files that it reads: what it calls them, and where they are.
    pub files: Vec<(String, String)>,
}

impl Script {
    /// A script of which only its text is known.
    #[must_use]
    pub fn new(text: String) -> Self {
        let (reads, sets) = (named(&text, "vars.get"), named(&text, "vars.set"));
        let is_word = |at: usize, word: &str| {
            let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '$';
            !text[..at].ends_with(is_letter) && !text[at + word.len()..].starts_with(is_letter)
        };
        let reads_answer = text.match_indices("answer").any(|(at, word)| is_word(at, word));
        let reads_request = text.match_indices("request").any(|(at, word)| is_word(at, word) && is_read(&text[at + word.len()..]));
        Self { text, reads, sets, reads_answer, reads_request, ..Self::default() }
    }

    /// The variables that it may give a value.
    pub fn assigned(&self) -> impl Iterator<Item = &str> {
        self.sets.iter().chain(&self.into).map(String::as_str)
    }
}

/// The names that stand as they are in calls of a function, each once.
fn named(text: &str, function: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, found) in text.match_indices(function) {
        let Some(inside) = text[at + found.len()..].trim_start().strip_prefix('(').map(str::trim_start) else { continue };
        let Some(quote) = inside.chars().next().filter(|letter| "'\"`".contains(*letter)) else { continue };
        let Some(name) = inside[1..].split(quote).next().filter(|name| inside.len() > name.len() + 1) else { continue };
        if is_variable_name(name) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether what follows the name of the request does more than set a part of it.
fn is_read(behind: &str) -> bool {
    let Some(part) = behind.trim_start().strip_prefix('.').map(str::trim_start) else { return true };
    let name = part.find(|letter: char| !letter.is_ascii_alphanumeric()).map_or(part, |end| &part[..end]);
    let next = part[name.len()..].trim_start();
    name != "setHeader" && (!next.starts_with('=') || next.starts_with("=="))
}

/// Whether a variable can be called so in a template.
#[must_use]
pub fn is_variable_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-')
}

/// Any name as one that may stand in a template: letters, digits and underscores, and none of the words that mean something there.
#[must_use]
pub fn variable_name(name: &str) -> String {
    let mut plain: String = name.trim().chars().take(64).map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if !plain.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
        plain.insert(0, '_');
    }
    let is_taken = [STATUS, LAST_SUCCEEDED, USER_NUMBER, JOURNEY_NUMBER].contains(&plain.as_str()) || words().any(|word| word == plain);
    if is_taken { format!("{plain}_value") } else { plain }
}

/// A name of another tool as one of loadline's in which its signs are spelled: for one of two that would have the same name else.
///
/// Where scripts of that tool name a variable while they run, they find it by this.
#[must_use]
pub fn spelled_name(name: &str) -> String {
    let mut spelled = String::new();
    for letter in name.trim().chars() {
        let word = match letter {
            _ if letter.is_ascii_alphanumeric() || letter == '_' => {
                spelled.push(letter);
                continue;
            }
            '.' => "dot",
            '-' => "dash",
            ' ' => "blank",
            ':' => "colon",
            '/' => "slash",
            _ => "",
        };
        let word = if word.is_empty() { format!("{:x}", u32::from(letter)) } else { word.to_owned() };
        spelled.push_str(&format!("_{word}_"));
    }
    variable_name(&spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_in_signs_are_told_apart_where_these_are_spelled() {
        let names = ["a.b", "a-b", " a b ", "a:b", "a_b", "ä", "1.2"].map(spelled_name);
        assert_eq!(names, ["a_dot_b", "a_dash_b", "a_blank_b", "a_colon_b", "a_b", "_e4_", "_1_dot_2"]);
    }

    #[test]
    fn what_a_script_names_is_read_off_its_text() {
        let text = "const id = vars.get( 'id' );\nvars.set(\"order\", JSON.parse(answer.body).id + vars.get(`id`));\nvars.set(name, 1);\nvars.set('a b', vars.get('open";
        let script = Script::new(text.to_owned());
        assert_eq!((script.reads, script.sets, script.reads_answer), (vec!["id".to_owned()], vec!["order".to_owned()], true));
        assert!(!Script::new("const answers = 1, my_answer = 2".to_owned()).reads_answer);
        assert!(Script::new("return answer".to_owned()).reads_answer);
    }

    #[test]
    fn a_script_that_only_sets_parts_of_the_request_does_not_read_it() {
        for (text, reads) in [
            ("request.setHeader('a', 1); request.path = '/b'; request . body=x", false),
            ("request.setHeader('a', request.body)", true),
            ("request.path == '/b'", true),
            ("request.path += '?a=1'", true),
            ("const {body} = request", true),
            ("const requests = 1, a_request = 2", false),
        ] {
            assert_eq!(Script::new(text.to_owned()).reads_request, reads, "{text}");
        }
    }

    #[test]
    fn any_name_becomes_one_that_templates_can_have() {
        for (name, plain) in [("a.b", "a_b"), (" 1st ", "_1st"), ("status", "status_value"), ("", "_")] {
            assert_eq!(variable_name(name), plain);
            assert!(is_variable_name(plain));
        }
    }
}
