//! A log's routes as a list of URLs for `--urls`: as often as in the log, with values made up where the log had one for each.
//!
//! A log tells how often each route is asked for, which is most of what makes a load like the real one. It does not tell which
//! items exist, nor what was sent to be written. So numbers, UUIDs and dates are drawn anew, and what cannot be made up or would
//! write is there as a comment with its weight, to be filled in by somebody who knows.

use std::fmt::Write as _;

use analysis::quantity::{count, counted, percent};
use import::{Route, Traffic};
use plan::template::literally;

/// What can be made up for a place of a route.
const MADE_UP: [(&str, &str); 3] = [("{id}", "{{random 1 1000}}"), ("{uuid}", "{{uuid}}"), ("{date}", "{{now date}}")];

/// Methods that only read (RFC 9110 §9.2.1), and have no body.
pub(super) const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];

/// The list: a weight, a method and a path a line.
pub(crate) fn urls(traffic: &Traffic) -> String {
    let lines: Vec<(bool, &Route, String)> =
        traffic.routes.iter().map(|route| line(route).map_or_else(|why| (false, route, why), |line| (true, route, line))).collect();
    let told: u64 = lines.iter().filter(|(is_used, ..)| *is_used).map(|(_, route, _)| route.requests).sum();
    let share = if traffic.requests == 0 { 0.0 } else { told as f64 / traffic.requests as f64 * 100.0 };
    let mut list = format!(
        "# The routes of {}, as often as there: {} % of them.\n# loadline run http://HOST:PORT/ --urls THIS_FILE\n",
        counted(traffic.requests, "logged request"),
        percent(share)
    );
    for (is_used, route, line) in lines {
        if is_used {
            let _ = writeln!(list, "{} {} {line}", route.requests, route.method);
        } else {
            let path = literally(&route.path).escape_debug().to_string();
            let _ = writeln!(list, "# {line}:\n# {} {} {path}", route.requests, route.method);
        }
    }
    if let Some(others) = &traffic.others {
        let _ = writeln!(list, "# And {} of routes that are not listed.", count(others.requests));
    }
    list
}

pub(super) const MAY_WRITE: &str = "Left out, since it may write, and its body is not in a log";
pub(super) const NO_PATH: &str = "Left out, since it is no path";

/// Whether a route is a path that can be sent.
pub(super) fn is_path(path: &str) -> bool {
    path.starts_with('/') && !path.chars().any(|letter| letter.is_control() || letter.is_whitespace())
}

/// The path with its places filled in, or why it cannot be sent.
pub(super) fn line(route: &Route) -> Result<String, String> {
    if !SAFE.contains(&route.method.as_str()) {
        return Err(MAY_WRITE.to_owned());
    }
    if !is_path(&route.path) {
        return Err(NO_PATH.to_owned());
    }
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
        None => Ok(path),
        Some(place) => Err(format!("To be filled in: {{{place}}}, for example from a data file, as {{{{items.{place}}}}}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use import::{Asked, Personal, Survey};

    fn list(requests: &[(&str, usize)]) -> String {
        let mut survey = Survey::new(Asked::default(), Personal::LeftOut);
        let line = |request: &str| format!("192.0.2.1 - - [01/Mar/2016:00:36:41 +0100] \"{request} HTTP/1.1\" 200 612 \"-\" \"curl/8\"\n");
        let log: String = requests.iter().map(|(request, times)| line(request).repeat(*times)).collect();
        survey.read("access.log", log.as_bytes()).unwrap();
        urls(&survey.finish())
    }

    #[test]
    fn a_log_becomes_a_list_that_can_be_sent() {
        let list = list(&[
            ("GET /users/17", 60),
            ("HEAD /a/123e4567-e89b-12d3-a456-426614174000", 25),
            ("POST /orders", 10),
            ("GET /u/x@example.org", 5),
        ]);
        assert!(list.contains("\n60 GET /users/{{random 1 1000}}\n25 HEAD /a/{{uuid}}\n"), "{list}");
        assert!(list.contains("may write, and its body is not in a log:\n# 10 POST /orders\n"), "{list}");
        assert!(list.contains("To be filled in: {email}") && list.contains("# 5 GET /u/{email}\n"), "{list}");
        assert!(list.starts_with("# The routes of 100 logged requests, as often as there: 85 % of them.\n"), "{list}");
        let draft = plan::Draft {
            url: Some("http://a.test/".to_owned()),
            urls: Some("list".to_owned()),
            urls_lines: Some(list.lines().map(str::to_owned).collect()),
            ..plan::Draft::default()
        };
        let plan = plan::Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors}\n{list}"));
        let weights: Vec<u64> = plan.filling().mix.as_ref().unwrap().routes.iter().map(|route| route.weight).collect();
        assert_eq!(weights, [60, 25]);
    }
}
