//! Regular expressions and JSONPaths as JMeter has them, in the words of a scenario.
//!
//! JMeter's regular expressions are those of Perl 5 (Jakarta ORO), its JSONPaths those of Jayway, which is older than the standard. Most of
//! what people write means the same here; what is written otherwise is rewritten, and what has no equal is told. An expression that would
//! only nearly be the same is none.

use plan::template::{Piece, Template, Value};
use plan::work::Kind;
use step::{Extractor, Pattern};

/// The end of a text, or before the end of its last line, as `$` has it: it may take that up where nobody looks at it.
const END: &str = "(?:\\n?\\z)";
/// The same where what is found is looked at as a whole.
pub(super) const END_UNTAKEN: &str = "(?=\\n?\\z)";

/// Numbers from here on stand in the place of values.
const FIRST_MARK: u32 = 7100;

/// A regular expression of Perl's in the syntax here.
///
/// # Errors
/// In words, if it is not understood.
pub(super) fn regex(pattern: &str) -> Result<String, String> {
    regex_ending(pattern, END)
}

/// The same with this for its end of a text.
///
/// # Errors
/// In words, if it is not understood.
pub(super) fn regex_ending(pattern: &str, end: &str) -> Result<String, String> {
    let mut written = String::with_capacity(pattern.len() + 8);
    let letters: Vec<char> = pattern.chars().collect();
    let (mut at, mut in_class) = (0, false);
    while let Some(letter) = letters.get(at).copied() {
        let next = letters.get(at + 1).copied();
        at += 1;
        match (letter, next) {
            ('\\', Some(escaped)) => {
                at += 1;
                match escaped {
                    // Here these are boundaries of words.
                    '<' | '>' => written.push(escaped),
                    'Z' if !in_class => written.push_str(end),
                    'b' if in_class => written.push_str("\\x08"),
                    'e' => written.push_str("\\x1b"),
                    '0' => written.push_str("\\x00"),
                    'c' => {
                        let control = letters.get(at).map_or(0, |letter| (*letter as u32 & 0x1f) as u8);
                        at += 1;
                        written.push_str(&format!("\\x{control:02x}"));
                    }
                    '1'..='9' if in_class => return Err(not_understood(pattern)),
                    _ if !escaped.is_alphanumeric() && !escaped.is_ascii() => written.push(escaped),
                    _ if escaped.is_ascii_alphabetic() && !"abBdDfnrstvwWxAzGQE".contains(escaped) => written.push(escaped),
                    _ => written.extend(['\\', escaped]),
                }
            }
            ('[', Some(':')) if in_class => written.push('['),
            ('[', _) if in_class => written.push_str("\\["),
            ('[', _) => {
                in_class = true;
                written.push('[');
                if letters.get(at) == Some(&'^') {
                    written.push('^');
                    at += 1;
                }
                // A bracket that stands first is a letter.
                if letters.get(at) == Some(&']') {
                    written.push_str("\\]");
                    at += 1;
                }
            }
            (']', _) if in_class => {
                // The end of a class by name, such as [:alpha:], ends no class.
                in_class = written.ends_with(':') && open_names(&written);
                written.push(']');
            }
            // Two of a kind take classes apart here.
            ('&' | '~', _) if in_class => written.extend(['\\', letter]),
            ('-', Some('-')) if in_class => written.push_str("\\-"),
            ('(', Some('?')) if letters.get(at + 1) == Some(&'#') => {
                at += letters[at..].iter().position(|letter| *letter == ')').ok_or_else(|| not_understood(pattern))? + 1;
            }
            ('{', _) if !in_class && !is_quantifier(&letters[at..]) => written.push_str("\\{"),
            ('}', _) if !in_class && !ends_quantifier(&written) => written.push_str("\\}"),
            // The end of a text may stand before the end of its last line.
            ('$', None) if !pattern.starts_with("(?m") => written.push_str(end),
            _ => written.push(letter),
        }
    }
    Pattern::new(&written).map_err(|mistake| format!("{}: {}", not_understood(pattern), mistake.message))?;
    Ok(written)
}

/// An expression in which values stand that are known only on the way: it is made as if each were a number of its own, behind one of these
/// beginnings.
///
/// # Errors
/// In words, if it is not understood, or a value would be more than a part of it.
pub(super) fn open(template: &Template, beginnings: &[&str], made: impl Fn(&str) -> Result<String, String>) -> Result<Template, String> {
    let fixed = template.fixed_text();
    let values: Vec<&Value> = template.values().collect();
    let numbers = (FIRST_MARK..).map(|mark| mark.to_string()).filter(|mark| !fixed.contains(mark.as_str()));
    let numbers: Vec<String> = numbers.take(values.len()).collect();
    let mut wrong = format!("'{template}' holds values that cannot be a part of it here");
    for beginning in beginnings {
        let mark = |number: usize| format!("{beginning}{}", numbers[number]);
        let written = match made(&template.marked(mark)) {
            Ok(written) => written,
            Err(why) => {
                wrong = why;
                continue;
            }
        };
        let (mut pieces, mut rest) = (Vec::new(), written.as_str());
        for (number, value) in values.iter().enumerate() {
            let Some((before, after)) = rest.split_once(mark(number).as_str()) else { return Err(wrong) };
            pieces.extend([Piece::Text(before.to_owned()), Piece::Value((*value).clone())]);
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        return Ok(Template::of(pieces));
    }
    Err(wrong)
}

/// Why an expression is none here.
pub(super) fn not_understood(pattern: &str) -> String {
    format!("the regular expression '{pattern}' is not understood here")
}

/// Whether digits, and maybe a comma and digits, stand there before a brace.
fn is_quantifier(behind: &[char]) -> bool {
    let Some(end) = behind.iter().position(|letter| *letter == '}') else { return false };
    let inner = &behind[..end];
    inner.first().is_some_and(char::is_ascii_digit)
        && inner.iter().all(|letter| letter.is_ascii_digit() || *letter == ',')
        && inner.iter().filter(|letter| **letter == ',').count() <= 1
}

/// Whether the brace that is to be written ends a quantifier.
fn ends_quantifier(written: &str) -> bool {
    let Some(open) = written.rfind('{') else { return false };
    let is_escaped = written[..open].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    // Classes of letters are written in braces, too.
    !is_escaped && !written[open..].contains('}')
}

/// Whether a class by name is open at the end.
fn open_names(written: &str) -> bool {
    written.rfind("[:").is_some_and(|open| !written[open + 2..].contains(']') && written.len() > open + 2)
}

/// How many groups an expression has, the whole among them.
pub(super) fn groups_count(pattern: &str) -> usize {
    Pattern::new(pattern).map_or(1, |pattern| pattern.groups_count())
}

/// A JSONPath of Jayway's by RFC 9535.
///
/// # Errors
/// In words, if it is not understood.
pub(super) fn json_path(path: &str) -> Result<String, String> {
    let path = path.trim();
    let not_understood = || format!("the JSONPath '{path}' is not understood here");
    // A path may begin with its first name.
    let rooted = if path.starts_with('$') { path.to_owned() } else { format!("$.{path}") };
    let mut written = String::with_capacity(rooted.len() + 8);
    let mut rest = rooted.as_str();
    while let Some(letter) = rest.chars().next() {
        match letter {
            '[' => {
                let end = closing(rest).ok_or_else(not_understood)?;
                let inner = rest[1..end].trim();
                written.push('[');
                match inner.strip_prefix('?') {
                    Some(filter) => {
                        written.push('?');
                        written.push_str(&filtered(filter).ok_or_else(not_understood)?);
                    }
                    None if inner.starts_with("(@.length") => written.push_str(from_end(inner).ok_or_else(not_understood)?),
                    None => written.push_str(inner),
                }
                written.push(']');
                rest = &rest[end + 1..];
            }
            '.' => {
                let dots = if rest.starts_with("..") { 2 } else { 1 };
                let name = &rest[dots..];
                let end = name.find(['.', '[']).unwrap_or(name.len());
                let plain = name[..end].trim();
                let is_call = plain.ends_with(')');
                if plain.is_empty() || plain == "*" || is_call || is_shorthand(plain) {
                    if !(plain.is_empty() && dots == 1) {
                        written.push_str(&rest[..dots]);
                    }
                    written.push_str(plain);
                } else {
                    written.push_str(if dots == 2 { ".." } else { "" });
                    written.push_str(&quoted(plain));
                }
                rest = &name[end..];
            }
            _ => {
                written.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    Extractor::compile(Kind::JsonPath, &written).map_err(|mistake| format!("{}: {}", not_understood(), mistake.message))?;
    Ok(written)
}

/// Whether a path may find several values.
pub(super) fn finds_several(path: &str) -> bool {
    ["..", "*", "[?", ",", ":"].iter().any(|sign| path.contains(sign))
}

/// Whether a name may stand behind a point by the standard.
fn is_shorthand(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_' || !letter.is_ascii())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || !letter.is_ascii())
}

fn quoted(name: &str) -> String {
    format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Where the bracket that stands first is closed.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut is_escaped) = (0_usize, None, false);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            _ if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), letter) => quote = (open != letter).then_some(open),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            (None, _) => {}
        }
    }
    None
}

/// `(@.length-1)` as a place from the end.
fn from_end(inner: &str) -> Option<&str> {
    let number = inner.strip_prefix("(@.length")?.trim_start_matches("()").strip_suffix(')')?.trim();
    number.strip_prefix('-').is_some_and(|digits| digits.trim().parse::<u32>().is_ok()).then_some(number)
}

/// A filter: names behind `@.` that the standard wants in brackets, and comparisons with regular expressions and lists.
fn filtered(filter: &str) -> Option<String> {
    let mut written = String::new();
    let mut rest = filter;
    // Where what is compared last begins in what is written.
    let mut operand = None;
    while let Some(letter) = rest.chars().next() {
        match letter {
            '\'' | '"' => {
                let end = rest[1..].char_indices().scan(false, |is_escaped, (at, next)| {
                    let ends = next == letter && !*is_escaped;
                    *is_escaped = next == '\\' && !*is_escaped;
                    Some((at, ends))
                });
                let end = end.into_iter().find(|(_, ends)| *ends)?.0 + 2;
                written.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            '@' | '$' => {
                operand = Some(written.len());
                let end = path_length(rest)?;
                written.push_str(&relative(&rest[..end])?);
                rest = &rest[end..];
            }
            '=' if rest.starts_with("=~") => {
                let behind = rest[2..].trim_start();
                let (pattern, after) = between_slashes(behind)?;
                let from = operand.take()?;
                let value = written.split_off(from);
                written.push_str(&format!("like({}, {})", value.trim(), text_of(&regex(&pattern).ok()?)));
                rest = after;
            }
            'i' | 'n' if operand.is_some() && written.ends_with(' ') && (rest.starts_with("in ") || rest.starts_with("nin ")) => {
                let is_not = letter == 'n';
                let list = rest.trim_start_matches("nin").trim_start_matches("in").trim_start();
                let end = closing(list).filter(|_| list.starts_with('['))?;
                let from = operand.take()?;
                let value = written.split_off(from);
                let (sign, joint) = if is_not { ("!=", " && ") } else { ("==", " || ") };
                let each: Vec<String> = members(&list[1..end]).iter().map(|member| format!("{} {sign} {member}", value.trim())).collect();
                if each.is_empty() {
                    return None;
                }
                written.push_str(&format!("({})", each.join(joint)));
                rest = &list[end + 1..];
            }
            _ => {
                written.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
    Some(written)
}

/// How far a path goes that stands in a filter.
fn path_length(text: &str) -> Option<usize> {
    let mut at = 1;
    loop {
        let rest = &text[at..];
        match rest.chars().next() {
            Some('[') => at += closing(rest)? + 1,
            Some('.') => {
                let name =
                    rest[1..].find(|letter: char| letter.is_whitespace() || ".[]()=!<>&|,".contains(letter)).unwrap_or(rest.len() - 1);
                at += 1 + name;
                // What is called has no arguments.
                if text[at..].starts_with("()") {
                    at += 2;
                }
            }
            _ => return Some(at),
        }
    }
}

/// A path in a filter by the standard; the length of a list is a function there.
fn relative(path: &str) -> Option<String> {
    let (first, rest) = path.split_at(1);
    let (rest, called) = match rest.strip_suffix("()") {
        Some(called) => {
            let (path, name) = called.rsplit_once('.')?;
            (path, Some(name))
        }
        None => (rest, None),
    };
    let written = json_path(&format!("${rest}")).ok()?.replacen('$', first, 1);
    match called {
        None => Some(written),
        Some("length" | "size") => Some(format!("length({written})")),
        Some(_) => None,
    }
}

/// A regular expression between slashes, with its flags, and what stands behind.
fn between_slashes(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('/')?;
    let mut is_escaped = false;
    let end = inner.char_indices().find(|(_, letter)| {
        let ends = *letter == '/' && !is_escaped;
        is_escaped = *letter == '\\' && !is_escaped;
        ends
    })?;
    let after = &inner[end.0 + 1..];
    let flags = after.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(after.len());
    let (flags, after) = after.split_at(flags);
    if !flags.chars().all(|flag| "ims".contains(flag)) {
        return None;
    }
    let pattern = &inner[..end.0];
    let pattern = if flags.is_empty() { pattern.to_owned() } else { format!("(?{flags}){pattern}") };
    Some((pattern, after))
}

/// What stands between the commas of a list.
fn members(list: &str) -> Vec<&str> {
    let (mut found, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, letter) in list.char_indices() {
        match (quote, letter) {
            (Some(open), letter) => quote = (open != letter).then_some(open),
            (None, '\'' | '"') => quote = Some(letter),
            (None, ',') => {
                found.push(list[from..at].trim());
                from = at + 1;
            }
            (None, _) => {}
        }
    }
    found.push(list[from..].trim());
    found.retain(|member| !member.is_empty());
    found
}

/// A text as JSONPath writes it.
fn text_of(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_of_perl_mean_the_same_here() {
        for (pattern, written) in [
            ("id=(\\d+)", "id=(\\d+)"),
            ("{\"id\":\"(.+?)\"}", "\\{\"id\":\"(.+?)\"\\}"),
            ("a{2,3}b{4}", "a{2,3}b{4}"),
            ("\\<input name=\"(\\w+)\"\\>", "<input name=\"(\\w+)\">"),
            ("[^[\\]]+", "[^\\[\\]]+"),
            ("[[:alpha:]_]x", "[[:alpha:]_]x"),
            ("[]a&&b]", "[\\]a\\&\\&b]"),
            ("(?#nothing)a", "a"),
            ("end$", "end(?:\\n?\\z)"),
            ("a(?=b)\\1?(c)", "a(?=b)\\1?(c)"),
            ("\\y\\/\\_", "y\\/\\_"),
            ("(?i)ok", "(?i)ok"),
        ] {
            assert_eq!(regex(pattern).as_deref(), Ok(written), "{pattern}");
        }
        for wrong in ["(a", "*a", "a(?<x"] {
            assert!(regex(wrong).unwrap_err().contains("is not understood here"), "{wrong}");
        }
        assert_eq!((groups_count("(a)(?:b)(c)"), groups_count("a")), (3, 1));
    }

    #[test]
    fn paths_of_jayway_mean_the_same_here() {
        for (path, written) in [
            ("$.a.b[0]", "$.a.b[0]"),
            ("a.b", "$.a.b"),
            ("$.first-name", "$['first-name']"),
            ("$..@type", "$..['@type']"),
            ("$.a['b c'].d", "$.a['b c'].d"),
            ("$.a[(@.length-1)]", "$.a[-1]"),
            ("$.items.length()", "$.items.length()"),
            ("$.items[?(@.id == 1)].name", "$.items[?(@.id == 1)].name"),
            ("$.items[?(@.first-name=='a')]", "$.items[?(@['first-name']=='a')]"),
            ("$.items[?(@.id =~ /2/)].price", "$.items[?(like(@.id, '2'))].price"),
            ("$.items[?(@.n =~ /a\\/b.*/i && @.x)]", "$.items[?(like(@.n, '(?i)a\\\\/b.*') && @.x)]"),
            ("$[?(@.c in ['a','b'])]", "$[?((@.c == 'a' || @.c == 'b'))]"),
            ("$[?(@.c nin [1, 2])].d", "$[?((@.c != 1 && @.c != 2))].d"),
            ("$[?(@.tags.length() > 1)]", "$[?(length(@.tags) > 1)]"),
            ("$.a[*].b", "$.a[*].b"),
            ("$.a.*", "$.a.*"),
        ] {
            assert_eq!(json_path(path).as_deref(), Ok(written), "{path}");
        }
        for wrong in ["$.a[", "$.a[?(@.b empty)]", "$.a[?(@.b =~ x)]", "$.a.concat($.b)"] {
            assert!(json_path(wrong).unwrap_err().contains("is not understood here"), "{wrong}: {:?}", json_path(wrong));
        }
        assert!(finds_several("$..a") && finds_several("$.a[?@.b]") && !finds_several("$.a[0].b"));
    }
}
