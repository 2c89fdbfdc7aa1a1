//! Scripts of collections, as far as they are promises: `pm.response.to.have.status(200)`.
//!
//! Postman and Insomnia test answers with JavaScript, and nine scripts of ten say one of a handful of sentences: the status, the time, a
//! word in the body, and a token kept for the next request. Those are read as sentences. Running the scripts was rejected: what they do
//! beyond that (send more requests, change what is sent next) is what a load test must not do without saying so.
//!
//! Invariant: what is not understood is told with its first line.

use plan::Nanos;
use plan::work::{AnswerCheck, Extraction, Kind, Subject};

use super::url::variable_name;
use super::{Request, shortened};

/// A script is read so far.
const STATEMENTS_MAX: usize = 2000;

/// What a script says; the lines that say something else.
pub(super) fn read(script: &str, request: &mut Request) -> Vec<String> {
    let script = without_comments(script);
    // Variables of the script, and what of the answer they hold.
    let mut answers: Vec<(String, String)> = Vec::new();
    let mut unread = Vec::new();
    for (number, statement) in statements(&script).into_iter().enumerate() {
        if number >= STATEMENTS_MAX {
            unread.push("… and what follows".to_owned());
            break;
        }
        let plain: String = statement.replace("insomnia.", "pm.");
        let plain = plain.trim();
        if is_frame(plain) {
            continue;
        }
        if let Some(kept) = answer_kept(plain, &answers) {
            answers.push(kept);
        } else if let Some(check) = check(plain) {
            if !request.checks.contains(&check) {
                request.checks.push(check);
            }
        } else if let Some(taken) = taken(plain, &answers) {
            request.extractions.retain(|known| known.variable != taken.variable);
            request.extractions.push(taken);
        } else {
            unread.push(shortened(plain));
        }
    }
    unread
}

/// Without `// …` and `/* … */`; what stands in quotation marks stays.
fn without_comments(script: &str) -> String {
    let mut plain = String::with_capacity(script.len());
    let mut letters = script.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', Some(_)) => {
                plain.push(letter);
                plain.extend(letters.next());
                continue;
            }
            (letter, Some(open)) if letter == open || letter == '\n' && open != '`' => quote = None,
            ('"' | '\'' | '`', None) => quote = Some(letter),
            ('/', None) if letters.peek() == Some(&'/') => {
                while letters.peek().is_some_and(|letter| *letter != '\n') {
                    letters.next();
                }
                continue;
            }
            ('/', None) if letters.peek() == Some(&'*') => {
                letters.next();
                let mut last = ' ';
                for letter in letters.by_ref() {
                    if last == '*' && letter == '/' {
                        break;
                    }
                    last = letter;
                }
                continue;
            }
            _ => {}
        }
        plain.push(letter);
    }
    plain
}

/// Pieces between semicolons, braces and line breaks that end something. Chains that go on in the next line are joined.
fn statements(script: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut now = String::new();
    let mut depth = 0_usize;
    let mut quote: Option<char> = None;
    let mut letters = script.chars().peekable();
    let end = |now: &mut String, found: &mut Vec<String>| {
        let statement = std::mem::take(now);
        if !statement.trim().is_empty() {
            found.push(statement.trim().to_owned());
        }
    };
    while let Some(letter) = letters.next() {
        if let Some(open) = quote {
            now.push(letter);
            if letter == '\\' {
                now.extend(letters.next());
            } else if letter == open {
                quote = None;
            }
            continue;
        }
        match letter {
            '"' | '\'' | '`' => {
                quote = Some(letter);
                now.push(letter);
            }
            // A function's body: what is in it are statements of their own.
            '{' => {
                now.push('{');
                depth = 0;
                end(&mut now, &mut found);
            }
            '}' => {
                depth = 0;
                end(&mut now, &mut found);
                now.push('}');
            }
            ';' => {
                depth = 0;
                now.push(';');
                end(&mut now, &mut found);
            }
            '\n' => {
                while letters.peek().is_some_and(|letter| letter.is_whitespace()) {
                    letters.next();
                }
                if depth == 0 && letters.peek() != Some(&'.') {
                    end(&mut now, &mut found);
                }
            }
            letter => {
                depth = match letter {
                    '(' | '[' => depth + 1,
                    ')' | ']' => depth.saturating_sub(1),
                    _ => depth,
                };
                now.push(letter);
            }
        }
    }
    end(&mut now, &mut found);
    found
}

/// The status is one of these.
pub(super) fn status_check(statuses: &[u16]) -> AnswerCheck {
    let statuses: Vec<String> = statuses.iter().map(ToString::to_string).collect();
    check_of(Subject::Status, statuses.join(", "))
}

/// The status is from 200 to 299.
pub(super) fn success() -> AnswerCheck {
    check_of(Subject::Status, "2xx".to_owned())
}

/// The body holds this.
fn holds(text: &str) -> AnswerCheck {
    check_of(Subject::Body, format!("contains {}", super::tree::json_string(text)))
}

fn check_of(subject: Subject, condition: String) -> AnswerCheck {
    AnswerCheck::new(subject, condition)
}

/// What stands around a promise and says nothing itself.
fn is_frame(statement: &str) -> bool {
    let opens = statement.ends_with('{')
        && (statement.starts_with("pm.test(") || statement.starts_with("describe(") || statement.starts_with("it("))
        && (statement.contains("function") || statement.contains("=>"));
    opens
        || statement.chars().all(|letter| "{}();, \t".contains(letter))
        || statement.starts_with("console.")
        || matches!(statement, "'use strict';" | "\"use strict\";")
}

/// `const json = pm.response.json()`: a variable of the script, and where in the answer its value stands.
fn answer_kept(statement: &str, answers: &[(String, String)]) -> Option<(String, String)> {
    let rest = ["const ", "let ", "var "].iter().find_map(|word| statement.strip_prefix(word)).unwrap_or(statement);
    let (name, value) = rest.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$');
    let path = json_path(value.trim().trim_end_matches(';').trim(), answers)?;
    is_name.then(|| (name.to_owned(), path))
}

fn check(statement: &str) -> Option<AnswerCheck> {
    let statement = statement.trim_end_matches(['}', ')', ';', ' ']).to_owned();
    // The old way: tests["…"] = responseCode.code === 200
    if statement.starts_with("tests[") {
        let (_, code) = statement.split_once("responseCode.code")?;
        return status(code.trim_start_matches(['=', ' '])).map(|status| status_check(&[status]));
    }
    // A whole test on one line has the promise behind its arrow.
    let from = statement.find("pm.response.").into_iter().chain(statement.find("pm.expect(")).min()?;
    let before = statement[..from].trim();
    if !(before.is_empty() || before.ends_with("=>") || before.ends_with("return") || before.ends_with('{')) {
        return None;
    }
    let rest = &statement[from..];
    let inside = |prefix: &str| rest.strip_prefix(prefix).map(str::trim);
    if let Some(argument) = inside("pm.response.to.have.status(") {
        return status(argument).map(|status| status_check(&[status])).or_else(|| status_named(argument));
    }
    if matches!(rest, "pm.response.to.be.ok" | "pm.response.to.be.success") {
        return Some(success());
    }
    if let Some(rest) =
        ["pm.expect(pm.response.code).", "pm.expect(pm.response.status).", "pm.expect(pm.response).to.have.property('code', "]
            .iter()
            .find_map(|prefix| inside(prefix))
    {
        let (verb, argument) = rest.split_once('(').unwrap_or(("to.eql", rest));
        return match verb {
            "to.eql" | "to.equal" | "to.be.equal" | "to.eq" | "to.be.eql" | "to.deep.equal" => {
                status(argument).map(|status| status_check(&[status])).or_else(|| status_named(argument))
            }
            "to.be.oneOf" => {
                let list = argument.trim().trim_start_matches('[').split(']').next()?;
                list.split(',').map(status).collect::<Option<Vec<u16>>>().filter(|list| !list.is_empty()).map(|list| status_check(&list))
            }
            _ => None,
        };
    }
    if let Some(rest) = inside("pm.expect(pm.response.responseTime).to.be.") {
        let (verb, argument) = rest.split_once('(')?;
        let most: u64 = argument.trim().parse().ok()?;
        return matches!(verb, "below" | "lessThan" | "at.most" | "lte" | "lt")
            .then(|| check_of(Subject::Time, format!("< {}", Nanos::from_millis(most))));
    }
    if let Some(rest) = inside("pm.expect(pm.response.text()).to.") {
        let (verb, argument) = rest.split_once('(')?;
        let text = quoted(argument)?;
        return matches!(verb, "include" | "contain" | "includes" | "contains").then(|| holds(&text));
    }
    let text = quoted(inside("pm.response.to.have.body(")?);
    text.map(|text| holds(&text))
}

fn status(text: &str) -> Option<u16> {
    text.trim().parse().ok().filter(|status| (100..600).contains(status))
}

/// By its words, as Postman's snippets have it.
fn status_named(argument: &str) -> Option<AnswerCheck> {
    const NAMES: [(&str, u16); 12] = [
        ("OK", 200),
        ("Created", 201),
        ("Accepted", 202),
        ("No Content", 204),
        ("Moved Permanently", 301),
        ("Found", 302),
        ("Not Modified", 304),
        ("Bad Request", 400),
        ("Unauthorized", 401),
        ("Forbidden", 403),
        ("Not Found", 404),
        ("Conflict", 409),
    ];
    let name = quoted(argument)?;
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name)).map(|(_, status)| status_check(&[*status]))
}

/// What stands in quotation marks at the beginning.
fn quoted(text: &str) -> Option<String> {
    let text = text.trim();
    let quote = text.chars().next().filter(|letter| "\"'".contains(*letter))?;
    let mut inner = String::new();
    let mut letters = text[1..].chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                'n' => inner.push('\n'),
                't' => inner.push('\t'),
                letter => inner.push(letter),
            },
            letter if letter == quote => return Some(inner),
            letter => inner.push(letter),
        }
    }
    // The mark at the end went with the brackets.
    None
}

/// `pm.environment.set("token", json.data.token)`.
fn taken(statement: &str, answers: &[(String, String)]) -> Option<Extraction> {
    const SETS: [&str; 9] = [
        "pm.environment.set(",
        "pm.collectionVariables.set(",
        "pm.globals.set(",
        "pm.variables.set(",
        "pm.baseEnvironment.set(",
        "pm.folder.set(",
        "postman.setEnvironmentVariable(",
        "postman.setGlobalVariable(",
        "pm.baseGlobals.set(",
    ];
    let arguments = SETS.iter().find_map(|set| statement.strip_prefix(set))?;
    let name = quoted(arguments)?;
    let value = arguments.split_once(',')?.1.trim().trim_end_matches(';').trim_end();
    let value = value.strip_suffix(')')?.trim();
    let json_path = json_path(value, answers)?;
    (json_path != "$").then(|| Extraction::new(variable_name(&name), Kind::JsonPath, json_path))
}

/// `json.data[0].token` as `$.data[0].token`.
fn json_path(value: &str, answers: &[(String, String)]) -> Option<String> {
    const WHOLE: [&str; 4] =
        ["pm.response.json()", "JSON.parse(responseBody)", "JSON.parse(pm.response.text())", "JSON.parse(pm.response.body)"];
    let whole = WHOLE.iter().find_map(|whole| value.strip_prefix(whole)).map(|rest| ("$".to_owned(), rest));
    let (mut path, mut rest) = whole.or_else(|| {
        let end = value.find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == '$')).unwrap_or(value.len());
        let known = answers.iter().rev().find(|(known, _)| *known == value[..end]);
        known.map(|(_, path)| (path.clone(), &value[end..]))
    })?;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.')) {
            let end = after.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(after.len());
            if end == 0 {
                return None;
            }
            path.push('.');
            path += &after[..end];
            rest = &after[end..];
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            match quoted(inside) {
                Some(name) if !name.contains(['\'', '"', '\\']) => path += &format!("['{name}']"),
                Some(_) => return None,
                None => {
                    inside.trim().parse::<u32>().ok()?;
                    path += &format!("[{}]", inside.trim());
                }
            }
            rest = after;
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn told(script: &str) -> (Vec<AnswerCheck>, Vec<(String, String)>, Vec<String>) {
        let mut request = Request::default();
        let unread = read(script, &mut request);
        (request.checks, request.extractions.into_iter().map(|taken| (taken.variable, taken.expression)).collect(), unread)
    }

    #[test]
    fn the_usual_sentences_are_understood() {
        let script = "// what it promises\n\
                      pm.test(\"Status code is 200\", function () {\n    pm.response.to.have.status(200);\n});\n\
                      pm.test('quick', () => {\n  pm.expect(pm.response.responseTime).to.be.below(300);\n})\n\
                      pm.test('one line', () => pm.expect(pm.response.code).to.be.oneOf([201, 202]));\n\
                      pm.test('body', function () { pm.expect(pm.response.text()).to.include(\"it's {here}\"); });\n\
                      const json = pm.response.json();\n\
                      pm.environment.set(\"access-token\", json.data.tokens[0].value);\n\
                      pm.collectionVariables.set('id', pm.response.json()['order id'].id)\n\
                      let first = json.items[0]\n\
                      pm.globals.set('item', first.id);\n";
        let (checks, taken, unread) = told(script);
        assert_eq!(
            checks,
            [status_check(&[200]), check_of(Subject::Time, "< 300ms".to_owned()), status_check(&[201, 202]), holds("it's {here}")]
        );
        assert_eq!(
            taken,
            [("access_token", "$.data.tokens[0].value"), ("id", "$['order id'].id"), ("item", "$.items[0].id")]
                .map(|(name, path)| (name.to_owned(), path.to_owned()))
        );
        assert_eq!(unread, Vec::<String>::new());
    }

    #[test]
    fn other_spellings_of_the_same_are_understood() {
        for (script, check) in [
            ("pm.expect(pm.response.code).to.eql(200)", status_check(&[200])),
            ("pm.expect(pm.response.code).to.equal(204);", status_check(&[204])),
            ("pm.response.to.be.ok;", success()),
            ("pm.response.to.have.status(\"Created\");", status_check(&[201])),
            ("tests[\"Status code is 200\"] = responseCode.code === 200;", status_check(&[200])),
            ("insomnia.test('x', () => {\n insomnia.response.to.have.status(200);\n});", status_check(&[200])),
            ("pm.test(\"x\", function () {\n    pm.expect(pm.response.code)\n      .to.eql(200);\n});", status_check(&[200])),
        ] {
            assert_eq!(told(script), (vec![check], vec![], vec![]), "{script}");
        }
    }

    #[test]
    fn what_is_not_understood_is_told() {
        let (checks, _, unread) = told(
            "pm.test('x', () => {\n  pm.expect(json.total).to.be.above(3);\n});\npm.sendRequest('http://h/');\nif (pm.response.code === 200) {\n  pm.response.to.have.status(200);\n}",
        );
        assert_eq!(checks, [status_check(&[200])]);
        assert_eq!(unread, ["pm.expect(json.total).to.be.above(3);", "pm.sendRequest('http://h/');", "if (pm.response.code === 200) {"]);
    }

    proptest! {
        #[test]
        fn no_script_makes_reading_panic(script in "(pm\\.(response|test|expect|environment\\.set)|[a-z\"'`(){}\\[\\];.,=/*\\\\ \né0-9]){0,40}") {
            let _ = told(&script);
        }
    }
}
