//! Which routes of a log can be sent, and as what.
//!
//! A log says what was asked for and neither who asked nor what was in it: so what may write is not sent, and where only the kind of a
//! value is known, one is made up.

use plan::template::{Template, literally};

use crate::Route;

/// What can be made up for a place of a route.
const MADE_UP: [(&str, &str); 3] = [("{id}", "{{random 1 1000}}"), ("{uuid}", "{{uuid}}"), ("{date}", "{{now date}}")];

/// Methods that only read (RFC 9110 §9.2.1), and have no body.
pub(super) const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// Why a route is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsendable {
    /// Its method may change something, and a log has no bodies.
    MayWrite,
    /// The same, and the description of the API has no such request.
    Undescribed,
    /// It is no path.
    NoPath,
    /// A place in it whose values cannot be made up.
    Open(String),
    /// Others were asked for more often, and a scenario has no more steps.
    TooMany,
}

/// Whether a route is a path that can be sent.
pub(super) fn is_path(path: &str) -> bool {
    path.starts_with('/') && !path.chars().any(|letter| letter.is_control() || letter.is_whitespace())
}

/// Whether a route only reads, and is a path.
///
/// # Errors
/// Why it cannot be sent.
pub fn is_sendable(route: &Route) -> Result<(), Unsendable> {
    if !SAFE.contains(&route.method.as_str()) {
        return Err(Unsendable::MayWrite);
    }
    if is_path(&route.path) { Ok(()) } else { Err(Unsendable::NoPath) }
}

/// The path of a route with its places filled in.
///
/// # Errors
/// Why it cannot be sent.
pub fn path_of(route: &Route) -> Result<Template, Unsendable> {
    is_sendable(route)?;
    let mut path = literally(&route.path);
    for (place, template) in MADE_UP {
        path = path.replace(place, template);
    }
    let open = path.split('/').find_map(|segment| {
        let plain = MADE_UP.iter().fold(segment.to_owned(), |segment, (_, template)| segment.replace(template, ""));
        let place = plain.split_once('{')?.1.split_once('}')?.0.to_owned();
        (!place.is_empty() && place.bytes().all(|letter| letter.is_ascii_lowercase())).then_some(place)
    });
    match open {
        None => Template::parse(&path, &[]).map_err(|_| Unsendable::NoPath),
        Some(place) => Err(Unsendable::Open(place)),
    }
}
