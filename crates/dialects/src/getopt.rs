//! Words of a command line taken apart as `getopt_long` of the GNU C library does.
//!
//! People's command lines lean on its habits: options after the URL, values attached (`-c100`) or after an equals sign,
//! several letters behind one dash, long names cut short as long as they are unambiguous. A parser with rules of its own would
//! accept most of them and break the rest, so these rules are here in full, with the library's own words for mistakes, which
//! some scripts look for.
//!
//! Reading never fails: a mistake is an [`Item`] at its place, because the programs act on options in order and some go on
//! after a mistake.

use std::ffi::OsString;

/// One option of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opt {
    /// The letter behind one dash.
    pub short: Option<char>,
    /// The name behind two dashes.
    pub long: Option<&'static str>,
    /// Whether a value belongs to it.
    pub takes: Takes,
}

/// Whether a value belongs to an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// None.
    Nothing,
    /// One, attached or as the next word.
    Value,
    /// One if it is attached, else none.
    Attached,
}

/// What to do with a word that is no option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Go on: options may follow it (GNU).
    Permute,
    /// Stop: everything from it on is an operand, and so is everything from a mistake on (APR's `getopt`, which has letters only).
    StopAtOperand,
}

/// One thing that stood on the command line, in the order it stood there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// An option, found by its letter or name.
    Option {
        /// As in the table.
        opt: Opt,
        /// Its value; there exactly if it takes one, or had one attached that it may do without.
        value: Option<String>,
    },
    /// A word that is no option, or any word after `--`.
    Operand(String),
    /// What the library would print, without the program's name: `invalid option -- 'x'`.
    Mistake(String),
}

/// A letter without a long name.
pub const fn short(letter: char, takes: Takes) -> Opt {
    Opt { short: Some(letter), long: None, takes }
}

/// A long name without a letter.
pub const fn long(name: &'static str, takes: Takes) -> Opt {
    Opt { short: None, long: Some(name), takes }
}

/// A letter and a long name.
pub const fn both(letter: char, name: &'static str, takes: Takes) -> Opt {
    Opt { short: Some(letter), long: Some(name), takes }
}

/// Takes the words after the program's name apart.
pub fn read(options: &[Opt], order: Order, words: &[OsString]) -> Vec<Item> {
    if order == Order::StopAtOperand {
        return read_until_operand(options, words);
    }
    let mut words = words.iter().map(|word| word.to_string_lossy().into_owned());
    let mut items = Vec::new();
    while let Some(word) = words.next() {
        if word == "--" {
            items.extend(words.by_ref().map(Item::Operand));
        } else if let Some(name) = word.strip_prefix("--") {
            items.push(read_long(options, name, &mut words));
        } else if word.len() > 1 && word.starts_with('-') {
            read_letters(options, &word[1..], &mut words, &mut items);
        } else {
            items.push(Item::Operand(word));
        }
    }
    items
}

/// As the Apache Portable Runtime reads: two dashes end the options whatever stands behind them, and a letter that is none leaves its
/// word among the operands if others follow it there.
fn read_until_operand(options: &[Opt], words: &[OsString]) -> Vec<Item> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let mut items = Vec::new();
    let mut at = 0;
    'words: while let Some(letters) = words.get(at).and_then(|word| word.strip_prefix('-')).filter(|letters| !letters.is_empty()) {
        at += 1;
        if letters.starts_with('-') {
            break;
        }
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let attached = rest.as_str();
            let Some(opt) = options.iter().find(|opt| opt.short == Some(letter)).copied() else {
                items.push(Item::Mistake(format!("invalid option -- '{letter}'")));
                at -= usize::from(!attached.is_empty());
                break 'words;
            };
            if opt.takes != Takes::Value {
                items.push(Item::Option { opt, value: None });
                continue;
            }
            if !attached.is_empty() {
                items.push(Item::Option { opt, value: Some(attached.to_owned()) });
                break;
            }
            let Some(value) = words.get(at) else {
                items.push(Item::Mistake(format!("option requires an argument -- '{letter}'")));
                break 'words;
            };
            items.push(Item::Option { opt, value: Some(value.clone()) });
            at += 1;
        }
    }
    items.extend(words[at..].iter().cloned().map(Item::Operand));
    items
}

fn read_long(options: &[Opt], word: &str, words: &mut dyn Iterator<Item = String>) -> Item {
    let (name, attached) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value.to_owned())));
    let mut meant: Vec<&Opt> = options.iter().filter(|opt| opt.long == Some(name)).collect();
    if meant.is_empty() {
        meant = options.iter().filter(|opt| opt.long.is_some_and(|long| long.starts_with(name))).collect();
    }
    let opt = match meant.as_slice() {
        [] => return Item::Mistake(format!("unrecognized option '--{word}'")),
        [one] => **one,
        several => {
            let possible: String = several.iter().filter_map(|opt| opt.long).map(|long| format!(" '--{long}'")).collect();
            return Item::Mistake(format!("option '--{word}' is ambiguous; possibilities:{possible}"));
        }
    };
    let name = opt.long.unwrap_or(name);
    match (opt.takes, attached) {
        (Takes::Nothing, Some(_)) => Item::Mistake(format!("option '--{name}' doesn't allow an argument")),
        (Takes::Nothing, None) | (Takes::Attached, None) => Item::Option { opt, value: None },
        (Takes::Value | Takes::Attached, Some(value)) => Item::Option { opt, value: Some(value) },
        (Takes::Value, None) => match words.next() {
            Some(value) => Item::Option { opt, value: Some(value) },
            None => Item::Mistake(format!("option '--{name}' requires an argument")),
        },
    }
}

fn read_letters(options: &[Opt], letters: &str, words: &mut dyn Iterator<Item = String>, items: &mut Vec<Item>) {
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        let Some(opt) = options.iter().find(|opt| opt.short == Some(letter)).copied() else {
            items.push(Item::Mistake(format!("invalid option -- '{letter}'")));
            continue;
        };
        if opt.takes == Takes::Nothing {
            items.push(Item::Option { opt, value: None });
            continue;
        }
        let attached = rest.as_str();
        if opt.takes == Takes::Attached {
            items.push(Item::Option { opt, value: Some(attached.to_owned()).filter(|value| !value.is_empty()) });
            return;
        }
        let value = if attached.is_empty() { words.next() } else { Some(attached.to_owned()) };
        items.push(match value {
            Some(value) => Item::Option { opt, value: Some(value) },
            None => Item::Mistake(format!("option requires an argument -- '{letter}'")),
        });
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &[Opt] = &[
        both('c', "connections", Takes::Value),
        both('L', "latency", Takes::Nothing),
        long("load", Takes::Value),
        short('r', Takes::Nothing),
        long("version", Takes::Nothing),
        long("versions", Takes::Nothing),
        both('g', "log", Takes::Attached),
    ];

    /// `c=5 L !mistake operand`.
    fn told(order: Order, line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        let told = read(OPTIONS, order, &words).into_iter().map(|item| match item {
            Item::Option { opt, value } => {
                let name = opt.short.map_or_else(|| opt.long.unwrap_or_default().to_owned(), String::from);
                value.map_or(name.clone(), |value| format!("{name}={value}"))
            }
            Item::Operand(word) => format!("<{word}>"),
            Item::Mistake(text) => format!("!{text}"),
        });
        told.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn values_are_attached_or_follow() {
        for line in ["-c5", "-c 5", "--connections=5", "--connections 5", "--conn=5", "--c 5"] {
            assert_eq!(told(Order::Permute, line), "c=5", "{line}");
        }
        assert_eq!(told(Order::Permute, "-Lrc5"), "L r c=5");
        assert_eq!(told(Order::Permute, "-cL -L"), "c=L L", "what is attached is the value, whatever it looks like");
        assert_eq!(told(Order::Permute, "-c -L"), "c=-L", "and so is the next word");
        assert_eq!(told(Order::Permute, "--load="), "load=");
        assert_eq!(told(Order::Permute, "-gx -g x --log=y --log y"), "g=x g <x> g=y g <y>", "a value that may be left out is attached");
    }

    #[test]
    fn options_may_follow_operands_until_two_dashes() {
        assert_eq!(told(Order::Permute, "http://a -L x -- -c --b"), "<http://a> L <x> <-c> <--b>");
        assert_eq!(told(Order::StopAtOperand, "-L http://a -r -- x"), "L <http://a> <-r> <--> <x>");
        assert_eq!(told(Order::Permute, "- -L"), "<-> L", "a dash alone is an operand");
    }

    #[test]
    fn where_options_end_at_an_operand_they_end_at_a_mistake_too() {
        for (line, items) in [
            ("-L -x -c 5", "L !invalid option -- 'x' <-c> <5>"),
            ("-L -xL http://a", "L !invalid option -- 'x' <-xL> <http://a>"),
            ("-Lx http://a", "L !invalid option -- 'x' <http://a>"),
            ("-L -c", "L !option requires an argument -- 'c'"),
            ("-Lc5 -c 6 a", "L c=5 c=6 <a>"),
            ("-L --load x -r", "L <x> <-r>"),
            ("-L - -r", "L <-> <-r>"),
            ("", ""),
        ] {
            assert_eq!(told(Order::StopAtOperand, line), items, "{line}");
        }
    }

    #[test]
    fn a_name_cut_short_must_be_unambiguous_unless_it_is_whole() {
        assert_eq!(told(Order::Permute, "--version"), "version");
        assert_eq!(told(Order::Permute, "--vers"), "!option '--vers' is ambiguous; possibilities: '--version' '--versions'");
        assert_eq!(told(Order::Permute, "--l"), "!option '--l' is ambiguous; possibilities: '--latency' '--load' '--log'");
    }

    #[test]
    fn mistakes_are_told_in_the_library_s_words_and_reading_goes_on() {
        assert_eq!(told(Order::Permute, "-xL"), "!invalid option -- 'x' L");
        assert_eq!(told(Order::Permute, "--nope=3 -L"), "!unrecognized option '--nope=3' L");
        assert_eq!(told(Order::Permute, "-c"), "!option requires an argument -- 'c'");
        assert_eq!(told(Order::Permute, "--conn"), "!option '--connections' requires an argument");
        assert_eq!(told(Order::Permute, "--latency=1"), "!option '--latency' doesn't allow an argument");
    }
}
