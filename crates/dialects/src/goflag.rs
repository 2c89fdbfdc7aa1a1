//! Words of a command line taken apart as Go's package `flag` does.
//!
//! Its rules are few and unlike everybody else's: one dash or two mean the same, a word after a switch is an operand (so a switch
//! is turned off only by `-x=false`), the first operand ends the flags, and a mistake ends the program with 2 and the list of all
//! flags. Reading through `getopt` would accept most command lines and take `-rate=50` for seven letters.
//!
//! As there, a mistake is told at its place and what stood before it holds.

use std::ffi::OsString;

/// One flag of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// What stands behind the dash.
    pub name: &'static str,
    /// What its value is called in the list of flags; empty for a switch.
    pub value: &'static str,
    /// What it does, in the list of flags.
    pub about: &'static str,
}

/// A switch.
pub const fn switch(name: &'static str, about: &'static str) -> Flag {
    Flag { name, value: "", about }
}

/// A flag with a value.
pub const fn valued(name: &'static str, value: &'static str, about: &'static str) -> Flag {
    Flag { name, value, about }
}

/// A command line, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Flags and their values in the order in which they stood there; switches have `true` or `false`.
    pub flags: Vec<(&'static str, String)>,
    /// From the first word on that is no flag.
    pub operands: Vec<String>,
}

impl CommandLine {
    /// The value given last, which is the one that holds.
    pub fn last(&self, name: &str) -> Option<&str> {
        self.flags.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}

/// Why reading ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mistake {
    /// The list of flags was asked for.
    Help,
    /// In the package's words.
    Wrong(String),
}

/// The mistake of a value that cannot be read.
pub fn invalid(name: &str, value: &str, why: &str) -> Mistake {
    Mistake::Wrong(format!("invalid value {value:?} for flag -{name}: {why}"))
}

/// Takes the words after the program's name apart.
///
/// # Errors
/// At the first word that is a flag but none of these.
pub fn read(flags: &[Flag], words: &[OsString]) -> Result<CommandLine, Mistake> {
    let mut words = words.iter().map(|word| word.to_string_lossy().into_owned());
    let mut found = Vec::new();
    while let Some(word) = words.next() {
        let Some(rest) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            return Ok(CommandLine { flags: found, operands: [word].into_iter().chain(words).collect() });
        };
        let name = rest.strip_prefix('-').unwrap_or(rest);
        if rest == "-" {
            return Ok(CommandLine { flags: found, operands: words.collect() });
        }
        if name.starts_with(['-', '=']) {
            return Err(Mistake::Wrong(format!("bad flag syntax: {word}")));
        }
        let (name, attached) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value.to_owned())));
        let Some(flag) = flags.iter().find(|flag| flag.name == name) else {
            let asks = matches!(name, "h" | "help");
            return Err(if asks { Mistake::Help } else { Mistake::Wrong(format!("flag provided but not defined: -{name}")) });
        };
        let value = if flag.value.is_empty() {
            let value = attached.unwrap_or_else(|| "true".to_owned());
            match value.as_str() {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => "true",
                "0" | "f" | "F" | "false" | "FALSE" | "False" => "false",
                _ => return Err(Mistake::Wrong(format!("invalid boolean value {value:?} for -{name}: parse error"))),
            }
            .to_owned()
        } else {
            let value = attached.or_else(|| words.next());
            value.ok_or_else(|| Mistake::Wrong(format!("flag needs an argument: -{name}")))?
        };
        found.push((flag.name, value));
    }
    Ok(CommandLine { flags: found, operands: Vec::new() })
}

/// The list of all flags, as the package lays it out.
pub fn list(flags: &[Flag]) -> String {
    let mut flags: Vec<&Flag> = flags.iter().collect();
    flags.sort_by_key(|flag| flag.name);
    let mut text = String::new();
    for Flag { name, value, about } in flags {
        let space = if value.is_empty() { "" } else { " " };
        text += &format!("  -{name}{space}{value}\n    \t{}\n", about.replace('\n', "\n    \t"));
    }
    text
}

/// A whole number, as the package reads one: decimal, or with `0x`, `0o`, `0b` before it.
///
/// # Errors
/// In the package's words.
pub fn whole<T: TryFrom<i128>>(name: &str, value: &str) -> Result<T, Mistake> {
    let (sign, digits) = match value.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, value.strip_prefix('+').unwrap_or(value)),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(prefix, radix)| lower.strip_prefix(prefix).map(|rest| (radix, rest)))
        .unwrap_or(if lower.len() > 1 && lower.starts_with('0') { (8, &lower[1..]) } else { (10, &lower) });
    let readable = !digits.is_empty() && !digits.starts_with(['+', '-']);
    let number = i128::from_str_radix(digits, radix).ok().filter(|_| readable).ok_or_else(|| invalid(name, value, "parse error"))?;
    T::try_from(sign * number).map_err(|_| invalid(name, value, "value out of range"))
}

/// A time, as the package reads one.
///
/// # Errors
/// In the package's words.
pub fn time(name: &str, value: &str) -> Result<i128, Mistake> {
    report::go::parse_duration(value).map_err(|_| invalid(name, value, "parse error"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: &[Flag] = &[switch("lazy", "Read late"), valued("rate", "value", "How many"), valued("n", "int", "Number\nof them")];

    fn told(line: &str) -> Result<String, Mistake> {
        let words: Vec<OsString> = line.split(' ').filter(|word| !word.is_empty()).map(OsString::from).collect();
        let CommandLine { flags, operands } = read(FLAGS, &words)?;
        let flags: Vec<String> = flags.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Ok(format!("{} <{}>", flags.join(" "), operands.join(" ")))
    }

    #[test]
    fn one_dash_or_two_and_attached_or_not_are_the_same() {
        for line in ["-rate=5/s -lazy", "--rate=5/s --lazy", "-rate 5/s -lazy=1", "--rate 5/s -lazy=TRUE"] {
            assert_eq!(told(line).unwrap(), "rate=5/s lazy=true <>", "{line}");
        }
        assert_eq!(told("-lazy false -rate 1").unwrap(), "lazy=true <false -rate 1>", "a switch takes no word");
        assert_eq!(told("-lazy=false").unwrap(), "lazy=false <>");
        assert_eq!(told("-rate -5").unwrap(), "rate=-5 <>", "the next word is the value whatever it looks like");
    }

    #[test]
    fn operands_end_the_flags() {
        assert_eq!(told("-lazy http://h -rate 5").unwrap(), "lazy=true <http://h -rate 5>");
        assert_eq!(told("-lazy -- -rate").unwrap(), "lazy=true <-rate>");
        assert_eq!(told("- -lazy").unwrap(), " <- -lazy>");
    }

    #[test]
    fn mistakes_are_told_in_the_package_s_words() {
        for (line, why) in [
            ("-nope=3", "flag provided but not defined: -nope"),
            ("---rate", "bad flag syntax: ---rate"),
            ("-=x", "bad flag syntax: -=x"),
            ("-rate", "flag needs an argument: -rate"),
            ("-lazy=maybe", "invalid boolean value \"maybe\" for -lazy: parse error"),
        ] {
            assert_eq!(told(line), Err(Mistake::Wrong(why.to_owned())), "{line}");
        }
        assert_eq!(told("-help"), Err(Mistake::Help));
        assert_eq!(list(FLAGS), "  -lazy\n    \tRead late\n  -n int\n    \tNumber\n    \tof them\n  -rate value\n    \tHow many\n");
    }

    #[test]
    fn numbers_are_read_in_any_base() {
        assert_eq!((whole("n", "12"), whole("n", "0x1F"), whole("n", "-3"), whole("n", "010")), (Ok(12), Ok(31), Ok(-3), Ok(8)));
        for (text, why) in [("1.5", "parse error"), ("", "parse error"), ("--1", "parse error"), ("300", "value out of range")] {
            assert_eq!(whole::<u8>("n", text), Err(invalid("n", text, why)), "{text}");
        }
        assert_eq!(time("t", "5"), Err(invalid("t", "5", "parse error")));
    }
}
