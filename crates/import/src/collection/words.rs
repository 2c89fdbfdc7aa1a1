//! Words of a command line, as a shell makes them of a text.
//!
//! Browsers copy a request as a command for a shell, and quote what is in it as that shell wants: bash with `'…'` and `$'…'`, the
//! command prompt of Windows with `^` before almost everything. Handing the text to a shell was rejected: it would run what somebody
//! pasted. So its rules of quoting are here, and nothing else of it: a variable becomes one of the environment, and a command in a
//! command is told, not carried out.
//!
//! Invariant: what was quoted by these rules comes out as it was.

use memchr::{memchr, memchr_iter, memchr2, memchr3, memmem, memrchr};

use plan::template::{Template, Value};

/// A command: its words, and the line it begins on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Command {
    pub(crate) words: Vec<Template>,
    /// From 1.
    pub(crate) line: usize,
    /// What a shell would have put in, and nobody does here.
    pub(crate) unread: Vec<String>,
}

/// A quotation mark that is not closed: its line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Open {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// Takes a text apart: as the command prompt does if it is quoted for that, else as bash does.
pub(crate) fn commands(text: &str) -> Result<Vec<Command>, Open> {
    if is_for_the_command_prompt(text) { Ok(prompt_commands(text)) } else { Bash::new(text).commands() }
}

/// A caret before a quotation mark, or at the end of a line: bash knows no use for either.
fn is_for_the_command_prompt(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"^\"").is_some() || text.lines().any(|line| line.trim_end().ends_with(" ^"))
}

/// A text is gone through letter by letter only where a letter may mean something: what stands in quotation marks is a body of a
/// hundred megabytes as often as a name.
struct Bash<'a> {
    text: &'a str,
    /// The byte that is next.
    at: usize,
    /// The line of a place before that, and the place.
    line: (usize, usize),
    done: Vec<Command>,
    command: Command,
    word: Option<Template>,
}

impl<'a> Bash<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, at: 0, line: (1, 0), done: Vec::new(), command: Command::default(), word: None }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Takes what stands before the first of some letters, which is so far away; all the rest if there is none.
    fn take_until(&mut self, length: Option<usize>) {
        let rest = self.rest();
        let plain = &rest[..length.unwrap_or(rest.len())];
        self.at += plain.len();
        if !plain.is_empty() {
            self.word().push(plain);
        }
    }

    /// Where the letter before this byte stands.
    fn open(&self, at: usize) -> Open {
        let before = &self.text.as_bytes()[..at];
        let begins = memrchr(b'\n', before).map_or(0, |end| end + 1);
        Open { line: memchr_iter(b'\n', before).count() + 1, column: self.text[begins..at].chars().count() }
    }

    fn word(&mut self) -> &mut Template {
        if self.command.words.is_empty() && self.word.is_none() {
            let (line, counted) = self.line;
            let line = line + memchr_iter(b'\n', &self.text.as_bytes()[counted..self.at]).count();
            self.line = (line, self.at);
            self.command.line = line;
        }
        self.word.get_or_insert_default()
    }

    fn push(&mut self, letter: char) {
        self.word().push(letter.encode_utf8(&mut [0; 4]));
    }

    fn end_word(&mut self) {
        self.command.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        let command = std::mem::take(&mut self.command);
        if !command.words.is_empty() {
            self.done.push(command);
        }
    }

    fn commands(mut self) -> Result<Vec<Command>, Open> {
        while let Some(letter) = self.next() {
            let open = self.at;
            match letter {
                '\n' | ';' | '|' | '&' => self.end_command(),
                '\\' => match self.next() {
                    None | Some('\n') => {}
                    Some('\r') if self.peek() == Some('\n') => {
                        self.next();
                    }
                    Some(letter) => self.push(letter),
                },
                '\'' => {
                    self.word();
                    self.until_quote(open)?;
                }
                '"' => {
                    self.word();
                    self.double(open)?;
                }
                '$' => self.dollar(true)?,
                '`' => self.substitution('`'),
                '#' if self.word.is_none() => self.at += memchr(b'\n', self.rest().as_bytes()).unwrap_or(self.rest().len()),
                letter if letter.is_whitespace() => self.end_word(),
                letter => self.push(letter),
            }
        }
        self.end_command();
        Ok(self.done)
    }

    /// Everything up to the next single quotation mark. `open` is behind the one that opens.
    fn until_quote(&mut self, open: usize) -> Result<(), Open> {
        self.take_until(memchr(b'\'', self.rest().as_bytes()));
        self.next().map(|_| ()).ok_or_else(|| self.open(open))
    }

    fn double(&mut self, open: usize) -> Result<(), Open> {
        loop {
            let rest = self.rest().as_bytes();
            let first = memchr3(b'"', b'\\', b'$', rest);
            self.take_until(memchr(b'`', &rest[..first.unwrap_or(rest.len())]).or(first));
            match self.next() {
                None => return Err(self.open(open)),
                Some('"') => return Ok(()),
                Some('\\') => match self.peek() {
                    Some('\n') => {
                        self.next();
                    }
                    Some('"' | '\\' | '$' | '`') => {
                        let letter = self.next().unwrap_or_default();
                        self.push(letter);
                    }
                    _ => self.push('\\'),
                },
                Some('$') => self.dollar(false)?,
                Some('`') => self.substitution('`'),
                Some(letter) => self.push(letter),
            }
        }
    }

    /// What follows a dollar: `'…'` outside of quotation marks, a variable, a command, or nothing of its own.
    fn dollar(&mut self, outside: bool) -> Result<(), Open> {
        let open = self.at;
        match self.peek() {
            Some('\'') if outside => {
                self.next();
                self.word();
                self.ansi(open)
            }
            // "$" before a double quotation mark translates, and nobody does that.
            Some('"') if outside => Ok(()),
            Some('(') => {
                self.substitution(')');
                Ok(())
            }
            Some('{') => {
                self.next();
                let mut name = String::new();
                loop {
                    match self.next() {
                        None => return Err(self.open(open)),
                        Some('}') => break,
                        Some(letter) => name.push(letter),
                    }
                }
                if is_name(&name) {
                    self.word().append(Value::Env(name).into());
                } else {
                    let whole = format!("${{{name}}}");
                    self.word().push(&whole);
                    self.command.unread.push(whole);
                }
                Ok(())
            }
            Some(letter) if letter.is_ascii_alphabetic() || letter == '_' => {
                let mut name = String::new();
                while let Some(letter) = self.peek().filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_') {
                    name.push(letter);
                    self.next();
                }
                self.word().append(Value::Env(name).into());
                Ok(())
            }
            _ => {
                self.push('$');
                Ok(())
            }
        }
    }

    /// A command in a command: it stays as it is, and is told.
    fn substitution(&mut self, end: char) {
        let mut whole = if end == ')' { "$".to_owned() } else { "`".to_owned() };
        let mut depth = 0_u32;
        while let Some(letter) = self.next() {
            whole.push(letter);
            match letter {
                '(' if end == ')' => depth += 1,
                ')' if end == ')' && depth > 1 => depth -= 1,
                letter if letter == end => break,
                _ => {}
            }
        }
        self.word().push(&whole);
        self.command.unread.push(whole);
    }

    /// `$'…'`, with the escapes of C.
    fn ansi(&mut self, open: usize) -> Result<(), Open> {
        loop {
            self.take_until(memchr2(b'\'', b'\\', self.rest().as_bytes()));
            let letter = match self.next() {
                None => return Err(self.open(open)),
                Some('\'') => return Ok(()),
                Some('\\') => match self.next().ok_or_else(|| self.open(open))? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'a' => '\x07',
                    'b' => '\x08',
                    'e' | 'E' => '\x1b',
                    'f' => '\x0c',
                    'v' => '\x0b',
                    'x' => self.code(0, 2, 16),
                    'u' => self.utf16(),
                    'U' => self.code(0, 8, 16),
                    digit @ '0'..='7' => self.code(digit.to_digit(8).unwrap_or_default(), 2, 8),
                    letter @ ('\\' | '\'' | '"' | '?') => letter,
                    letter => {
                        self.push('\\');
                        letter
                    }
                },
                Some(letter) => letter,
            };
            self.push(letter);
        }
    }

    /// A letter by its number, of at most so many more digits.
    fn code(&mut self, first: u32, digits: usize, radix: u32) -> char {
        let mut code = first;
        for _ in 0..digits {
            let Some(digit) = self.peek().and_then(|letter| letter.to_digit(radix)) else { break };
            code = code.saturating_mul(radix).saturating_add(digit);
            self.next();
        }
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// `\uXXXX`, of which browsers write two for what is beyond the first plane.
    fn utf16(&mut self) -> char {
        let four = |letters: &str| u32::from_str_radix(letters, 16).ok();
        let mut digits = String::new();
        while digits.len() < 4
            && let Some(letter) = self.peek().filter(char::is_ascii_hexdigit)
        {
            digits.push(letter);
            self.next();
        }
        let high = four(&digits).unwrap_or(0);
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
        let ahead: String = self.rest().chars().take(6).collect();
        let low = ahead.strip_prefix("\\u").filter(|low| low.len() == 4).and_then(four).filter(|low| (0xDC00..0xE000).contains(low));
        let Some(low) = low else { return char::REPLACEMENT_CHARACTER };
        for _ in 0..6 {
            self.next();
        }
        char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The command prompt takes carets away, and the program then takes its line apart by the rules of Microsoft's C.
fn prompt_commands(text: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut line_number = 1;
    let mut letters = text.chars().peekable();
    loop {
        // A letter, and whether it ends the command: a line break behind a caret is no end, and one behind that is text.
        let mut line: Vec<char> = Vec::new();
        let began = line_number;
        let mut quoted = false;
        let mut ended = false;
        while let Some(letter) = letters.next() {
            match letter {
                '^' if !quoted => {
                    if letters.peek() == Some(&'\r') {
                        letters.next();
                    }
                    match letters.next() {
                        Some('\n') => {
                            line_number += 1;
                            if letters.peek() == Some(&'\r') {
                                letters.next();
                            }
                            if letters.peek() == Some(&'\n') {
                                letters.next();
                                line_number += 1;
                                line.push('\n');
                            }
                        }
                        Some(letter) => line.push(letter),
                        None => {}
                    }
                }
                '\n' => {
                    line_number += 1;
                    ended = true;
                    break;
                }
                '\r' if letters.peek() == Some(&'\n') => {}
                '&' | '|' if !quoted => {
                    ended = true;
                    break;
                }
                '"' => {
                    quoted = !quoted;
                    line.push('"');
                }
                letter => line.push(letter),
            }
        }
        let words = microsoft_words(&line);
        if !words.is_empty() {
            commands.push(Command { words: words.into_iter().map(Template::fixed).collect(), line: began, unread: Vec::new() });
        }
        if !ended {
            return commands;
        }
    }
}

/// Backslashes mean something before a quotation mark only, and two quotation marks in quotation marks are one.
fn microsoft_words(line: &[char]) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    let mut at = 0;
    while let Some(letter) = line.get(at) {
        match letter {
            '\\' => {
                let count = line[at..].iter().take_while(|letter| **letter == '\\').count();
                at += count;
                let text = word.get_or_insert_default();
                if line.get(at) == Some(&'"') {
                    text.extend(std::iter::repeat_n('\\', count / 2));
                    if count % 2 == 1 {
                        text.push('"');
                        at += 1;
                    }
                } else {
                    text.extend(std::iter::repeat_n('\\', count));
                }
                continue;
            }
            '"' if quoted && line.get(at + 1) == Some(&'"') => {
                word.get_or_insert_default().push('"');
                at += 1;
            }
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' | '\t' if !quoted => words.extend(word.take()),
            letter => word.get_or_insert_default().push(*letter),
        }
        at += 1;
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let commands = commands(text).unwrap();
        commands.into_iter().flat_map(|command| command.words).map(|word| word.to_string()).collect()
    }

    #[test]
    fn words_are_those_of_bash() {
        assert_eq!(words("a 'b c' \"d\\\"e\\n\" f\\ g ''\\\n h # i\n"), ["a", "b c", "d\"e\\n", "f g", "", "h"]);
        assert_eq!(words("$'it\\'s\\u0021\\n\\x41\\101\\ud83d\\ude00'"), ["it's!\nAA😀"]);
        assert_eq!(
            words("-H \"Authorization: Bearer $TOKEN\" '$X' ${Y}z a$"),
            ["-H", "Authorization: Bearer {{env TOKEN}}", "$X", "{{env Y}}z", "a$"]
        );
        let found = commands("a b; c && d\n\n  e|f").unwrap();
        assert_eq!(
            found.iter().map(|command| (command.words.len(), command.line)).collect::<Vec<_>>(),
            [(2, 1), (1, 1), (1, 1), (1, 3), (1, 3)]
        );
    }

    #[test]
    fn a_command_in_a_command_is_told_and_not_carried_out() {
        let found = commands("a \"$(cat $(ls) x)\" `id`").unwrap();
        assert_eq!(found[0].unread, ["$(cat $(ls) x)", "`id`"]);
    }

    #[test]
    fn a_quotation_mark_that_is_not_closed_has_its_place() {
        assert_eq!(commands("a\n b 'c"), Err(Open { line: 2, column: 4 }));
        assert_eq!(commands("\"a"), Err(Open { line: 1, column: 1 }));
    }

    #[test]
    fn words_are_those_of_the_command_prompt() {
        let text =
            "curl ^\"http://h/a?b=1^&c=2^\" ^\r\n  -H ^\"a: ^\\^\"b^\\^\"^\" ^\r\n  --data-raw ^\"^{^\\^\"n^\\^\":^\\^\"x^%^41^\\^\"^}^\"";
        assert_eq!(words(text), ["curl", "http://h/a?b=1&c=2", "-H", "a: \"b\"", "--data-raw", "{\"n\":\"x%41\"}"]);
        let text = "curl \"http://h/\" ^\n -d \"{\\\"a\\\": 1}\"^\n\n\"b\"";
        assert_eq!(words(text), ["curl", "http://h/", "-d", "{\"a\": 1}\nb"]);
    }

    /// As Chrome quotes for bash.
    fn quoted(text: &str) -> String {
        if text.chars().any(|letter| letter.is_control() || letter == '\'' || letter == '!' || !letter.is_ascii()) {
            let mut quoted = "$'".to_owned();
            for letter in text.chars() {
                match letter {
                    '\\' => quoted += "\\\\",
                    '\'' => quoted += "\\'",
                    '\n' => quoted += "\\n",
                    '\r' => quoted += "\\r",
                    letter if letter.is_ascii_graphic() && letter != '!' || letter == ' ' => quoted.push(letter),
                    letter => letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| quoted += &format!("\\u{unit:04x}")),
                }
            }
            quoted + "'"
        } else {
            format!("'{text}'")
        }
    }

    /// As Chrome quotes for the command prompt.
    fn quoted_for_the_prompt(text: &str) -> String {
        let mut inner = String::new();
        let mut backslashes = 0;
        for letter in text.chars() {
            match letter {
                '\\' => backslashes += 1,
                letter => {
                    if letter == '"' {
                        inner += &"\\".repeat(backslashes + 1);
                    }
                    backslashes = 0;
                }
            }
            inner.push(letter);
        }
        inner += &"\\".repeat(backslashes);
        let mut quoted = "^\"".to_owned();
        for letter in inner.chars() {
            match letter {
                '\n' => quoted += "^\n\n",
                letter if letter.is_ascii_alphanumeric() || " -:=_.,/".contains(letter) || !letter.is_ascii() => quoted.push(letter),
                letter => {
                    quoted.push('^');
                    quoted.push(letter);
                }
            }
        }
        quoted + "^\""
    }

    proptest! {
        #[test]
        fn what_was_quoted_comes_out_as_it_was(parts in prop::collection::vec("[a-z '\"\\\\$`!{}\n\r\t&;|#%^é😀]{0,12}", 1..6)) {
            let line: Vec<String> = parts.iter().map(|part| quoted(part)).collect();
            let found = Bash::new(&line.join(" ")).commands().unwrap();
            let found: Vec<String> = found.into_iter().flat_map(|command| command.words).map(|word| word.plain().unwrap().to_owned()).collect();
            prop_assert_eq!(found, parts);
        }

        #[test]
        fn what_was_quoted_for_the_command_prompt_comes_out_as_it_was(parts in prop::collection::vec("[a-z '\"\\\\$`!{}\n&;|#%^é]{0,12}", 1..6)) {
            let line: Vec<String> = parts.iter().map(|part| quoted_for_the_prompt(part)).collect();
            let found = prompt_commands(&line.join(" "));
            let found: Vec<String> = found.into_iter().flat_map(|command| command.words).map(|word| word.plain().unwrap().to_owned()).collect();
            prop_assert_eq!(found, parts);
        }

        #[test]
        fn no_text_makes_reading_panic(text in "[a-c '\"\\\\$(){}`\n^&u0-9]{0,40}") {
            let _ = commands(&text);
            let _ = prompt_commands(&text);
        }
    }
}
