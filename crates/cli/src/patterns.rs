//! Names of files with stars in them, where no shell reads them first: on another machine, or in a job that names its command word by word.
//!
//! A star is any letters but a slash, `?` is one, `[a-z]` one of these; names that begin with a point are meant only by a pattern that
//! does too, all as in a shell (POSIX, 2.13). A file that is called like the pattern goes before.

use std::fs;
use std::io;
use std::path::Path;

/// The files that a name means, in order; the name itself where it is none of a pattern.
///
/// # Errors
/// If no file is meant, or a folder on the way cannot be read.
pub fn files_of(name: &str) -> io::Result<Vec<String>> {
    if !is_pattern(name) || Path::new(name).exists() {
        return Ok(vec![name.to_owned()]);
    }
    let mut found = vec![if name.starts_with('/') { "/".to_owned() } else { String::new() }];
    let mut parts = name.split('/').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let mut next = Vec::new();
        for folder in found {
            if is_pattern(part) {
                next.extend(matching(&folder, part, is_last)?);
            } else if Path::new(&joined(&folder, part)).exists() {
                next.push(joined(&folder, part));
            }
        }
        found = next;
    }
    if found.is_empty() {
        return Err(io::Error::other("no file has such a name"));
    }
    found.sort();
    Ok(found)
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}

/// What in a folder is meant; folders alone where more of the pattern follows.
fn matching(folder: &str, pattern: &str, is_last: bool) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(if folder.is_empty() { "." } else { folder })? {
        let name = entry?.file_name();
        let text = name.to_string_lossy();
        let is_hidden = text.starts_with('.') && !pattern.starts_with('.');
        if is_hidden || !is_match(pattern, &text) {
            continue;
        }
        if name.to_str().is_none() {
            return Err(io::Error::other(format!("'{}' is not text in UTF-8", joined(folder, &text))));
        }
        let path = joined(folder, &text);
        if is_last || Path::new(&path).is_dir() {
            names.push(path);
        }
    }
    Ok(names)
}

/// Whether a pattern means a name.
fn is_match(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut from) = (0, 0);
    // Where the last star stands, and how much of the name it was tried with.
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        let one = match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
                continue;
            }
            Some('?') => Some(at + 1),
            Some('[') => class(&pattern[at..], name[from])
                .map_or_else(|| (name[from] == '[').then_some(at + 1), |(length, is_in)| is_in.then_some(at + length)),
            Some(letter) => (*letter == name[from]).then_some(at + 1),
            None => None,
        };
        match (one, &mut star) {
            (Some(next), _) => (at, from) = (next, from + 1),
            (None, Some((place, tried))) => {
                *tried += 1;
                (at, from) = (*place + 1, *tried);
            }
            (None, None) => return false,
        }
    }
    pattern[at..].iter().all(|letter| *letter == '*')
}

/// How long a class such as `[a-z]` or `[!0-9]` is, and whether a letter is in it; `None` where it does not end.
fn class(pattern: &[char], letter: char) -> Option<(usize, bool)> {
    let is_not = matches!(pattern.get(1), Some('!' | '^'));
    let begin = 1 + usize::from(is_not);
    // A bracket that comes first is one of the letters.
    let end = begin + 1 + pattern.get(begin + 1..)?.iter().position(|letter| *letter == ']')?;
    let letters = &pattern[begin..end];
    let (mut at, mut is_in) = (0, false);
    while let Some(low) = letters.get(at) {
        let high = letters.get(at + 2).filter(|_| letters.get(at + 1) == Some(&'-'));
        is_in |= (*low..=*high.unwrap_or(low)).contains(&letter);
        at += if high.is_some() { 3 } else { 1 };
    }
    Some((end + 1, is_in != is_not))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_what_a_shell_means_by_it() {
        for (pattern, name, is_meant) in [
            ("access.log*", "access.log", true),
            ("access.log*", "access.log.2.gz", true),
            ("access.log*", "error.log", false),
            ("*.log*", "access.log.1", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("log.[0-9]", "log.7", true),
            ("log.[!0-9]", "log.7", false),
            ("log.[]x]", "log.]", true),
            ("log.[7", "log.[7", true),
            ("**a**b", "xxaxxab", true),
            ("*a*b", "xxaxx", false),
        ] {
            assert_eq!(is_match(pattern, name), is_meant, "{pattern} {name}");
        }
    }

    #[test]
    fn files_are_found_in_order_and_hidden_ones_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let here = |name: &str| folder.path().join(name).display().to_string();
        for file in ["web1/access.log", "web1/access.log.1", "web2/access.log", "web2/.access.log", "access.log*"] {
            fs::create_dir_all(Path::new(&here(file)).parent().unwrap()).unwrap();
            fs::write(here(file), "").unwrap();
        }
        let found = |pattern: &str| files_of(&here(pattern)).map_err(|why| why.to_string());
        assert_eq!(found("web*/access*"), Ok(["web1/access.log", "web1/access.log.1", "web2/access.log"].map(here).to_vec()));
        assert_eq!(found("access.log*"), Ok(vec![here("access.log*")]), "it is there by that name");
        assert_eq!(found("web?/.a*"), Ok(vec![here("web2/.access.log")]));
        assert_eq!(found("web3/access*"), Err("no file has such a name".to_owned()));
        assert_eq!(found("missing"), Ok(vec![here("missing")]), "who opens it says that it is not there");
    }
}
