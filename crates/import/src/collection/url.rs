//! URLs with values in them: where they lead, and what of them is path and query.
//!
//! Each tool marks values in its own way (`{{id}}`, `$ID`, `{% uuid %}`), also in the scheme and the host, which have to be known before
//! anything is sent. So the variables that decide where a URL leads get their values here, and those behind the host stay what they are.
//!
//! Invariant: what stands behind the host is sent as it stands in the file, but for what no request line can hold.

use plan::setting::{ENVIRONMENT, TARGET, VARIABLE};
use plan::template::{Piece, Template, Value};
use plan::{Target, Wording, path_encoded, percent_encoded};

use super::Variable;

pub(crate) use plan::work::variable_name;

/// Variables in variables, so deep.
const DEPTH_MAX: usize = 8;
/// A value that is put in is at most so long, variables in it included.
const FILLED_BYTES_MAX: usize = 1 << 20;

/// Only a variable, by the name that a file has for it.
pub(crate) fn variable(name: &str) -> Template {
    Value::Variable(variable_name(name)).into()
}

/// Only an expression of loadline's templates, such as `uuid` or `random 0 1000`.
pub(crate) fn expression(expression: &str) -> Template {
    Template::parse(&format!("{{{{{expression}}}}}"), &[]).unwrap_or_else(|_| Template::fixed(expression))
}

/// A text with the values of these variables in the place of their names. What has no value stays a variable.
#[must_use]
pub(crate) fn filled(text: &Template, variables: &[Variable]) -> Template {
    let mut filled = Template::default();
    let mut left = FILLED_BYTES_MAX;
    fill(text, variables, 0, &mut left, &mut filled);
    filled
}

fn fill(text: &Template, variables: &[Variable], depth: usize, left: &mut usize, into: &mut Template) {
    for piece in text.pieces() {
        let length = match piece {
            Piece::Text(text) | Piece::Value(Value::Variable(text) | Value::Env(text) | Value::File(text, _)) => text.len(),
            Piece::Value(_) => 1,
        };
        // What is the text's own is not a value that is put in.
        if depth > 0 {
            if length > *left {
                return;
            }
            *left -= length;
        }
        match piece {
            Piece::Value(Value::Variable(name)) if depth < DEPTH_MAX => match variables.iter().find(|variable| variable.name == *name) {
                Some(variable) => fill(&variable.value, variables, depth + 1, left, into),
                None => into.push_piece(piece.clone()),
            },
            piece => into.push_piece(piece.clone()),
        }
    }
}

/// A URL with the values of those variables that decide where it leads. Those in path and query stay variables.
pub(crate) fn with_origin_of(url: &Template, variables: &[Variable]) -> Template {
    let (before, behind) = url.pieces().split_at(pieces_of_origin(url, variables));
    let mut known = filled(&Template::of(before.iter().cloned()), variables);
    behind.iter().for_each(|piece| known.push_piece(piece.clone()));
    let known = known.trimmed();
    match known.beginning() {
        // As curl and browsers take what has no scheme.
        Some(text) if !plan::has_scheme(text) && !text.starts_with(['/', '?', '#']) => {
            let mut whole = Template::fixed("http://");
            whole.append(known);
            whole
        }
        _ => known,
    }
}

/// How many pieces of a URL, from its beginning, decide where it leads.
pub(crate) fn pieces_of_origin(url: &Template, variables: &[Variable]) -> usize {
    let mut known = Template::default();
    let is_open = |piece: &&Piece| {
        let is_open = !known.beginning().is_some_and(|text| text[plan::server_in(text).start..].contains(['/', '?', '#']));
        known.append(filled(&Template::of([(*piece).clone()]), variables));
        is_open
    };
    url.pieces().iter().take_while(is_open).count()
}

/// A URL whose host is not known: its path and query on this server. What stands at once behind a variable of the host is a part of
/// the path, such as `{{base_path}}`.
pub(crate) fn placed_on(url: &Template, server: &str, variables: &[Variable]) -> Template {
    // What stands behind the first slash or question mark is path and query, whatever URL they hold.
    let is_host = |piece: &&Piece| !matches!(piece, Piece::Text(text) if !plan::has_scheme(text) && text.contains(['/', '?', '#']));
    let pieces = url.pieces();
    let scheme = pieces.iter().take_while(is_host).position(|piece| matches!(piece, Piece::Text(text) if plan::has_scheme(text)));
    let mut behind = Template::default();
    match scheme.map(|at| (at, &pieces[at])) {
        Some((at, Piece::Text(text))) => {
            behind.push(text.split_once("://").map_or("", |(_, rest)| rest));
            pieces[at + 1..].iter().for_each(|piece| behind.push_piece(piece.clone()));
        }
        _ => behind = url.clone(),
    }
    let (mut path, mut in_path, mut after_variable) = (Template::default(), false, false);
    for piece in behind.pieces() {
        match piece {
            piece if in_path => path.push_piece(piece.clone()),
            Piece::Text(text) => {
                after_variable = false;
                if let Some(at) = text.find(['/', '?', '#']) {
                    in_path = true;
                    path.push(&text[at..]);
                }
            }
            piece if after_variable => {
                in_path = true;
                path.append(filled(&Template::of([piece.clone()]), variables));
            }
            _ => after_variable = true,
        }
    }
    let begins = |template: &Template, letter: char| template.beginning().is_some_and(|text| text.starts_with(letter));
    let mut placed = Template::fixed(server.trim_end_matches('/'));
    if let (true, [Piece::Text(first), rest @ ..]) = (scheme.is_none() && begins(url, '/'), path.pieces()) {
        // A base of "/" before a path makes two slashes.
        placed.push("/");
        placed.push(first.trim_start_matches('/'));
        rest.iter().for_each(|piece| placed.push_piece(piece.clone()));
        return placed;
    }
    if !begins(&path, '/') && !begins(&path, '?') {
        placed.push("/");
    }
    placed.append(path);
    placed
}

/// Scheme, host and port of a URL, with what is behind them; path and query begin with '/'.
///
/// # Errors
/// In words, if it leads nowhere.
pub(crate) fn origin(url: &Template) -> Result<(Target, Template), Wording> {
    let Some(text) = url.beginning() else {
        let name = url.variables().next().unwrap_or_default();
        let is_part = matches!(url.pieces(), [_, Piece::Text(next), ..] if !next.starts_with(['/', '?', '#']));
        return Err(if url.is_empty() {
            Wording::from("it has no URL")
        } else if is_part {
            let names = url.variables().map(|name| format!("'{name}'")).take(3).collect::<Vec<_>>().join(", ");
            format!(
                "its scheme and host are the values of {names}, which are not known; give {ENVIRONMENT}, {TARGET} or {VARIABLE:#} {name}=VALUE"
            )
            .into()
        } else {
            format!("its host is the value of '{name}', which is not known; give it with {VARIABLE:#} {name}=http://HOST").into()
        });
    };
    if text.starts_with('/') {
        return Err(format!("it names no server; give {TARGET:#} http://HOST").into());
    }
    let end = Some(plan::server_in(text).end).filter(|end| *end < text.len());
    if end.is_none() && url.pieces().len() > 1 {
        let name = url.variables().next().unwrap_or_default();
        return Err(format!("a part of its host is not known; give it with {VARIABLE:#} {name}=VALUE").into());
    }
    let end = end.unwrap_or(text.len());
    let target: Target = text[..end].parse().map_err(|why| Wording::from(format!("the URL {why}")))?;
    if target.scheme().is_websocket() {
        return Err("it is over WebSocket; write it as steps that connect and send (docs/guide/websocket.md)".into());
    }
    let mut path = Template::default();
    if !text[end..].starts_with('/') {
        path.push("/");
    }
    path.push(&text[end..]);
    url.pieces()[1..].iter().for_each(|piece| path.push_piece(piece.clone()));
    // What stands behind '#' is the browser's affair.
    let path = path.split_once('#').map_or(path.clone(), |(before, _)| before);
    Ok((target, path.map_text(path_encoded)))
}

/// Adds a parameter to the query of a URL.
pub(crate) fn with_parameter(url: &Template, name: &Template, value: &Template) -> Template {
    let mut url = ready_for_a_parameter(url);
    url.append(name.map_text(percent_encoded));
    url.push("=");
    url.append(value.map_text(percent_encoded));
    url
}

/// A URL behind which the next parameter may be written, without its fragment, which is not sent.
pub(crate) fn ready_for_a_parameter(url: &Template) -> Template {
    let mut url = url.split_once('#').map_or_else(|| url.clone(), |(before, _)| before);
    let ends_open = matches!(url.pieces().last(), Some(Piece::Text(text)) if text.ends_with(['?', '&']));
    if !ends_open {
        url.push(if url.contains('?') { "&" } else { "?" });
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, value: Template) -> Variable {
        Variable { name: name.to_owned(), value, secret: false }
    }

    #[test]
    fn variables_that_decide_where_a_url_leads_get_their_values_and_others_stay() {
        let variables = [named("host", Template::fixed("api.example.com")), named("id", Template::fixed("7"))];
        let mut url = Template::fixed("https://");
        url.append(variable("host"));
        url.push("/users/");
        url.append(variable("id"));
        let (target, path) = origin(&with_origin_of(&url, &variables)).unwrap();
        assert_eq!((target.to_string().as_str(), path.to_string().as_str()), ("https://api.example.com/", "/users/{{id}}"));
        let why = origin(&with_origin_of(&variable("base"), &variables)).unwrap_err();
        assert!(why.spelt(plan::Spelling::Flags).contains("--variable base="), "{why:?}");
        let bare = with_origin_of(&Template::fixed("localhost:8080?q=a b#x"), &[]);
        let (target, path) = origin(&bare).unwrap();
        assert_eq!((target.to_string().as_str(), path.to_string().as_str()), ("http://localhost:8080/", "/?q=a%20b"));
    }

    #[test]
    fn variables_that_name_each_other_end() {
        let variables = [named("a", variable("b")), named("b", variable("a"))];
        assert!(filled(&variable("a"), &variables).plain().is_none());
        let mut wide = Template::default();
        (0..200).for_each(|_| wide.append(variable("w")));
        wide.push("x");
        let filled = filled(&variable("w"), &[named("w", wide)]);
        assert!(filled.to_string().len() < 8 << 20);
    }

    #[test]
    fn a_name_becomes_one_that_templates_have() {
        for (name, plain) in [("base-url", "base_url"), ("2fa", "_2fa"), ("env", "env_value"), ("Größe", "Gr__e"), ("", "_")] {
            assert_eq!(variable_name(name), plain);
        }
    }
}
