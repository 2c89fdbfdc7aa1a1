//! What a Lua script for wrk uses of wrk, found by reading it.
//!
//! Running a script to see what it needs would send requests and write files. Its words are enough: comments and texts are left
//! out, and what remains is looked through for the functions wrk calls, the members of `wrk`, and libraries from elsewhere. A name
//! that is put together while the script runs (`_G["re".."quest"]`) is not found, and no script in use does that.

use std::collections::BTreeSet;

use plan::plainly;

use crate::dialect::{Support, Use};
use crate::host::{Files, TEXT_BYTES_MAX};

/// The functions that wrk calls.
const CALLED: &[&str] = &["setup", "init", "delay", "request", "response", "done"];
/// What the table `wrk` has from the start; anything else in it is the script's own.
const MEMBERS: &[&str] = &[
    "scheme", "host", "port", "method", "path", "headers", "body", "thread", "addrs", "format", "lookup", "connect", "init", "setup",
    "resolve", "request", "time_us",
];
/// What a thread has.
const OF_THREADS: &[&str] = &["get", "set", "stop", "addr"];
/// Libraries that are there without `require`.
const LIBRARIES: &[&str] = &["io", "os", "ffi", "jit", "bit", "debug", "package", "string", "table", "math", "coroutine"];

/// Of the script in a file.
#[must_use]
pub fn of_file(path: &str, files: &dyn Files) -> Vec<Use> {
    match files.read(path, TEXT_BYTES_MAX) {
        Ok(bytes) => of(&String::from_utf8_lossy(&bytes)),
        Err(why) => vec![Use { what: path.to_owned(), support: Support::Refused(format!("the script cannot be read: {}", plainly(&why))) }],
    }
}

/// Of a script's text.
#[must_use]
pub fn of(text: &str) -> Vec<Use> {
    let words = words(text);
    let mut found = BTreeSet::new();
    let mut refused = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| words[before].as_str());
        let after = |by: usize| words.get(at + by).map_or("", String::as_str);
        let is_global = !matches!(before, "." | ":" | "local");
        let is_member = matches!(before, "." | ":");
        if is_global && CALLED.contains(&word.as_str()) && (before == "function" && after(1) == "(" || after(1) == "=") {
            found.insert(format!("{word}()"));
        } else if is_global && word == "wrk" && matches!(after(1), "." | ":") {
            let member = after(2);
            let own = if MEMBERS.contains(&member) { "" } else { " (the script's own)" };
            found.insert(format!("wrk.{member}{own}"));
        } else if is_member && OF_THREADS.contains(&word.as_str()) && (before == ":" && after(1) == "(" || word == "addr") {
            found.insert(if word == "addr" { "thread.addr".to_owned() } else { format!("thread:{word}()") });
        } else if is_member && word == "percentile" {
            found.insert("latency:percentile()".to_owned());
        } else if is_global && LIBRARIES.contains(&word.as_str()) && after(1) == "." {
            found.insert(format!("{word}.{}", after(2)));
        } else if is_global && word == "require" {
            let name = if after(1) == "(" { after(2) } else { after(1) };
            let name = name.trim_matches(['"', '\'']);
            if LIBRARIES.contains(&name) {
                found.insert(format!("require {name}"));
            } else {
                refused.push(Use {
                    what: format!("require {name}"),
                    support: Support::Differs(
                        "not of wrk: looked for in Lua files along package.path, then in compiled ones along package.cpath".to_owned(),
                    ),
                });
            }
        }
    }
    let mut uses: Vec<Use> = found.into_iter().map(|what| Use { what, support: Support::Same }).collect();
    uses.extend(refused);
    uses
}

/// Names, quoted texts and single characters; comments and blanks are left out.
fn words(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let mut words = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        let from = at;
        if letter == '-' && letters.get(at + 1) == Some(&'-') {
            at += 2;
            at = match long_bracket(&letters, at) {
                Some(end) => end,
                None => at + letters[at..].iter().take_while(|letter| **letter != '\n').count(),
            };
        } else if let Some(end) = long_bracket(&letters, at) {
            at = end;
        } else if letter == '"' || letter == '\'' {
            at += 1;
            while at < letters.len() && letters[at] != letter && letters[at] != '\n' {
                at += 1 + usize::from(letters[at] == '\\');
            }
            at = (at + 1).min(letters.len());
            words.push(letters[from..at].iter().collect());
        } else if letter.is_alphanumeric() || letter == '_' {
            at += letters[at..].iter().take_while(|letter| letter.is_alphanumeric() || **letter == '_').count();
            words.push(letters[from..at].iter().collect());
        } else {
            at += 1;
            if !letter.is_whitespace() {
                words.push(letter.to_string());
            }
        }
    }
    words
}

/// Where a text in long brackets (`[[…]]`, `[==[…]==]`) that begins here ends.
fn long_bracket(letters: &[char], at: usize) -> Option<usize> {
    let rest = letters.get(at..)?.strip_prefix(&['['])?;
    let level = rest.iter().take_while(|letter| **letter == '=').count();
    rest[level..].strip_prefix(&['['])?;
    let close: Vec<char> = std::iter::once(']').chain(std::iter::repeat_n('=', level)).chain([']']).collect();
    let inside = at + level + 2;
    let length = letters[inside..].windows(close.len()).position(|window| window == close);
    Some(length.map_or(letters.len(), |length| inside + length + close.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        of(text).into_iter().map(|used| format!("{}{}", used.what, if used.support == Support::Same { "" } else { " !" })).collect()
    }

    #[test]
    fn what_a_script_uses_of_wrk_is_found() {
        let script = r#"
            -- request() is mentioned in a comment: wrk.nothing
            --[[ function done() end ]]
            local counter = 0
            wrk.method = "POST"
            wrk.headers["A"] = "function response()"
            function setup(thread) thread:set("id", 1); thread.addr = wrk.lookup(wrk.host, "http")[1] end
            request = function() counter = counter + 1; return wrk.format(nil, "/" .. counter) end
            done = function(summary, latency) io.write(latency:percentile(99)) end
            wrk.mine = 1
            local json = require "cjson"
            local ffi = require('ffi')
        "#;
        assert_eq!(
            told(script),
            [
                "done()",
                "io.write",
                "latency:percentile()",
                "request()",
                "require ffi",
                "setup()",
                "thread.addr",
                "thread:set()",
                "wrk.format",
                "wrk.headers",
                "wrk.host",
                "wrk.lookup",
                "wrk.method",
                "wrk.mine (the script's own)",
                "require cjson !"
            ]
        );
    }

    #[test]
    fn names_of_others_and_texts_are_not_taken_for_wrk_s() {
        assert_eq!(told("local request = 1; t.done = 2; x = [==[ wrk.format ]] ]==] y = 'wrk.body' t:init()"), Vec::<String>::new());
    }

    #[test]
    fn a_script_cut_off_in_the_middle_ends_the_reading() {
        for text in ["wrk.", "wrk", "x = 'abc", "x = [[abc", "--[[", "require", "require("] {
            let _ = of(text);
        }
    }
}
