//! What a log says its requests were answered, beside what they are answered now.
//!
//! A replay sends what production was sent, so the first question is whether the answers are the same. Bodies are not in logs;
//! statuses are. What a log cannot repeat must not look like a difference: a browser that had the page already was told 304, and
//! without its `If-None-Match`, which no log holds, the same server rightly says 200.
//!
//! Invariant: every request that was sent is compared, or counted as having nothing to be compared with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Routes that are told one by one.
const ROUTES_MOST: usize = 200;

/// The answers of a replay beside those of its log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReplayComparison {
    /// Requests that were sent, and whose logged status is known.
    pub compared: u64,
    /// Those that were answered as they were then.
    pub same: u64,
    /// Requests that were sent, and whose log says no status.
    pub without_status: u64,
    /// By route, those with most differences first.
    pub by_route: Vec<RouteReplayed>,
    /// Routes that are not listed, since there are too many.
    pub routes_left_out: u64,
}

/// The requests of one route.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RouteReplayed {
    /// `GET`, or nothing where routes stand together.
    pub method: String,
    /// `/users/{id}`.
    pub route: String,
    /// Those that were compared.
    pub compared: u64,
    /// Those that were answered as they were then.
    pub same: u64,
    /// What the others were answered, most first.
    pub changes: Vec<StatusChange>,
}

/// Requests that were answered otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusChange {
    /// What the log says.
    pub logged: u16,
    /// What was answered; `None` where no answer came.
    pub answered: Option<u16>,
    /// How many.
    pub count: u64,
}

/// Requests by what was logged and what was answered, as they are counted: a route's number, the logged status (0: none), the
/// answered one (0: none came).
pub type ComparisonCounts = BTreeMap<(u32, u16, u16), u64>;

/// Whether an answer is what the log lets expect: the same status, or a whole answer in the place of one that headers had asked to
/// be left out (304) or cut (206).
#[must_use]
pub const fn is_as_logged(logged: u16, answered: u16) -> bool {
    logged == answered || (matches!(logged, 304 | 206) && answered == 200)
}

/// Whether a log tells what a server answered: a client that went away (0, nginx's 499) was told nothing.
const fn is_told(logged: u16) -> bool {
    !matches!(logged, 0 | 499)
}

/// What routes beyond the number that is told apart are called.
pub const OTHER_ROUTES: &str = "other routes";

impl ReplayComparison {
    /// From the counts of all workers, and the names of routes by their numbers.
    #[must_use]
    pub fn new(counted: &ComparisonCounts, names: &[(u32, String, String)]) -> Self {
        let mut all = Self::default();
        let mut routes: BTreeMap<u32, RouteReplayed> = BTreeMap::new();
        for (&(route, logged, answered), &count) in counted {
            if !is_told(logged) {
                all.without_status += count;
                continue;
            }
            let row = routes.entry(route).or_default();
            row.compared += count;
            if is_as_logged(logged, answered) {
                row.same += count;
            } else {
                row.changes.push(StatusChange { logged, answered: (answered > 0).then_some(answered), count });
            }
        }
        let named: BTreeMap<u32, (&str, &str)> =
            names.iter().map(|(number, method, route)| (*number, (method.as_str(), route.as_str()))).collect();
        for (number, mut row) in routes {
            let (method, route) = named.get(&number).copied().unwrap_or(("", OTHER_ROUTES));
            (row.method, row.route) = (method.to_owned(), route.to_owned());
            row.changes.sort_by_key(|change| (std::cmp::Reverse(change.count), change.logged, change.answered));
            all.compared += row.compared;
            all.same += row.same;
            all.by_route.push(row);
        }
        all.by_route.sort_by(|a, b| {
            let differing = |row: &RouteReplayed| row.compared - row.same;
            (differing(b), b.compared).cmp(&(differing(a), a.compared)).then_with(|| (&a.route, &a.method).cmp(&(&b.route, &b.method)))
        });
        all.routes_left_out = all.by_route.len().saturating_sub(ROUTES_MOST) as u64;
        all.by_route.truncate(ROUTES_MOST);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_with_most_differences_come_first_and_every_request_is_counted() {
        let names = [(1, "GET".to_owned(), "/a".to_owned()), (2, "GET".to_owned(), "/b/{id}".to_owned())];
        let counted: ComparisonCounts = [
            ((1, 200, 200), 90),
            ((1, 200, 500), 3),
            ((2, 200, 404), 7),
            ((2, 200, 0), 9),
            ((2, 304, 200), 40),
            ((2, 200, 304), 1),
            ((0, 200, 200), 2),
            ((1, 499, 200), 5),
            ((1, 0, 200), 6),
        ]
        .into();
        let all = ReplayComparison::new(&counted, &names);
        assert_eq!((all.compared, all.same, all.without_status), (152, 132, 11));
        let rows: Vec<(&str, u64, u64)> = all.by_route.iter().map(|row| (row.route.as_str(), row.compared, row.same)).collect();
        assert_eq!(rows, [("/b/{id}", 57, 40), ("/a", 93, 90), ("other routes", 2, 2)]);
        let changes: Vec<(u16, Option<u16>, u64)> = all.by_route[0].changes.iter().map(|it| (it.logged, it.answered, it.count)).collect();
        assert_eq!(changes, [(200, None, 9), (200, Some(404), 7), (200, Some(304), 1)]);
    }

    #[test]
    fn the_table_is_bounded() {
        let counted: ComparisonCounts = (0..500).map(|route| ((route, 200, 404), 1)).collect();
        let all = ReplayComparison::new(&counted, &[]);
        assert_eq!((all.by_route.len(), all.routes_left_out, all.compared), (200, 300, 500));
    }
}
