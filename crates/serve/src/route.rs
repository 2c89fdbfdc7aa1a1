//! Every route, as rows of one table.
//!
//! A router that is put together in code cannot be asked what it routes, and its description is wrong after the second change.
//! So a route that is not in the table does not exist, and a test compares the table with `docs/api/openapi.json`.

use hyper::Method;

/// One route.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// The method.
    pub method: Verb,
    /// The path; `{…}` stands for one part of it.
    pub path: &'static str,
    /// What is done.
    pub operation: Operation,
}

/// A method as the table writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Changes nothing.
    Get,
    /// Does something.
    Post,
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// A page: the same for all of them, its script looks at the address.
    Page,
    /// The script of the pages.
    Script,
    /// Their style.
    Style,
    /// This description.
    Describe,
    /// Exchanges the token for a cookie.
    SignIn,
    /// The machines that tests may come from.
    Agents,
    /// Saved runs.
    List,
    /// Starts a test.
    Start,
    /// What is wrong with a test.
    Check,
    /// What is known of a saved run.
    Read,
    /// Its page.
    Show,
    /// Its page as one file.
    Save,
    /// Its whole result.
    Result,
    /// Its course in a few values.
    Course,
    /// Writes down what is said of it: name, note, tags, baseline.
    Change,
    /// Removes it.
    Remove,
    /// Two saved runs side by side.
    Compare,
    /// One name over time.
    Trend,
    /// What goes on.
    State,
    /// The same as it happens.
    Stream,
    /// Ends it.
    Stop,
}

const fn get(path: &'static str, operation: Operation) -> Route {
    Route { method: Verb::Get, path, operation }
}

const fn post(path: &'static str, operation: Operation) -> Route {
    Route { method: Verb::Post, path, operation }
}

/// Every route.
pub const ROUTES: &[Route] = &[
    get("/", Operation::Page),
    get("/new", Operation::Page),
    get("/live", Operation::Page),
    get("/compare", Operation::Page),
    get("/trend", Operation::Page),
    get("/runs/{run}", Operation::Page),
    get("/assets/app.js", Operation::Script),
    get("/assets/app.css", Operation::Style),
    get("/api/v1/openapi.json", Operation::Describe),
    post("/api/v1/session", Operation::SignIn),
    get("/api/v1/agents", Operation::Agents),
    get("/api/v1/runs", Operation::List),
    post("/api/v1/runs", Operation::Start),
    post("/api/v1/check", Operation::Check),
    get("/api/v1/runs/{run}", Operation::Read),
    get("/api/v1/runs/{run}/page", Operation::Show),
    get("/api/v1/runs/{run}/html", Operation::Save),
    get("/api/v1/runs/{run}/result", Operation::Result),
    get("/api/v1/runs/{run}/course", Operation::Course),
    post("/api/v1/runs/{run}/change", Operation::Change),
    post("/api/v1/runs/{run}/remove", Operation::Remove),
    get("/api/v1/compare", Operation::Compare),
    get("/api/v1/trend", Operation::Trend),
    get("/api/v1/live", Operation::State),
    get("/api/v1/live/stream", Operation::Stream),
    post("/api/v1/live/stop", Operation::Stop),
];

/// Where a request leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Led {
    /// There, with what stood in the place of `{…}`.
    To(Operation, String),
    /// The path is there, the method is not: these are.
    OtherMethod(Vec<&'static str>),
    /// Nowhere.
    Nowhere,
}

pub(crate) fn lead(method: &Method, path: &str) -> Led {
    let mut allowed = Vec::new();
    for route in ROUTES {
        let Some(part) = part(route.path, path) else { continue };
        if method.as_str() == route.method.name() {
            return Led::To(route.operation, part);
        }
        allowed.push(route.method.name());
    }
    if allowed.is_empty() { Led::Nowhere } else { Led::OtherMethod(allowed) }
}

impl Verb {
    /// As it stands in a request.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

impl Operation {
    /// Whether it is there for whoever has no token yet: nothing that was measured is in it.
    pub(crate) const fn is_open(self) -> bool {
        matches!(self, Self::Page | Self::Script | Self::Style | Self::SignIn)
    }
}

/// What stands in the place of `{…}`, decoded; `None` if the path is another.
fn part(pattern: &str, path: &str) -> Option<String> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut part = String::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(part),
            (Some(wanted), Some(given)) if wanted.starts_with('{') && !given.is_empty() => part = decoded(given)?,
            (Some(wanted), Some(given)) if wanted == given => {}
            _ => return None,
        }
    }
}

/// Percent-encoded text as it was meant; `None` where that is none.
fn decoded(text: &str) -> Option<String> {
    // What means something in a form stands for itself in a path.
    let field = format!("x={}", text.replace('+', "%2B").replace('&', "%26"));
    let (_, value) = url::form_urlencoded::parse(field.as_bytes()).next()?;
    (!value.contains('\u{fffd}')).then(|| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_request_leads_to_its_operation_or_says_which_methods_there_are() {
        let to = |operation, part: &str| Led::To(operation, part.to_owned());
        assert_eq!(lead(&Method::GET, "/"), to(Operation::Page, ""));
        assert_eq!(lead(&Method::GET, "/api/v1/runs/%40last/page"), to(Operation::Show, "@last"));
        assert_eq!(lead(&Method::GET, "/api/v1/runs/a+b"), to(Operation::Read, "a+b"));
        assert_eq!(lead(&Method::DELETE, "/api/v1/runs"), Led::OtherMethod(vec!["GET", "POST"]));
        for path in ["/api/v1/runs/", "/api/v1/runs//page", "/api/v1/runs/a/b/c", "//", "/api/v1/runs/%ff"] {
            assert_eq!(lead(&Method::GET, path), Led::Nowhere, "{path}");
        }
    }

    #[test]
    fn the_description_has_every_route_of_the_api_and_no_other() {
        let described: serde_json::Value = serde_json::from_str(crate::OPENAPI).unwrap();
        let mut theirs = BTreeSet::new();
        for (path, methods) in described["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys().filter(|key| *key != "parameters") {
                theirs.insert((method.to_uppercase(), path.clone()));
            }
        }
        let ours: BTreeSet<(String, String)> = ROUTES
            .iter()
            .filter(|route| route.path.starts_with("/api/"))
            .map(|route| (route.method.name().to_owned(), route.path.to_owned()))
            .collect();
        assert_eq!(ours, theirs);
    }
}
