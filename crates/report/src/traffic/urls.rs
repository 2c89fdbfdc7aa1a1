//! A log's routes as a list of URLs for `--urls`: as often as in the log, and asking for what the log asked for.
//!
//! A log tells how often each route is asked for, which is most of what makes a load like the real one, and a sample of what for, drawn as
//! for a scenario: a line a path, with its share of the route's weight. Where nothing was sampled, numbers, UUIDs and dates are made up.
//! What cannot be made up or would write is there as a comment with its weight, to be filled in by somebody who knows.
//!
//! Invariant: the weights of a route's lines are those of its requests, but for what rounding up to one adds.

use std::fmt::Write as _;

use analysis::quantity::{count, counted, percent};
use import::workload::{Unsendable, is_sendable, path_of};
use import::{Route, Target, Traffic};
use plan::template::literally;

use super::notes::{stand_ins, why_not};

/// The list: a weight, a method and a path a line.
pub(crate) fn urls(traffic: &Traffic) -> String {
    let lines: Vec<(bool, &Route, String)> = traffic
        .routes
        .iter()
        .map(|route| lines(route).map_or_else(|why| (false, route, why_not(&why)), |lines| (true, route, lines)))
        .collect();
    let told: u64 = lines.iter().filter(|(is_used, ..)| *is_used).map(|(_, route, _)| route.requests).sum();
    let share = if traffic.requests == 0 { 0.0 } else { told as f64 / traffic.requests as f64 * 100.0 };
    let mut list = format!(
        "# The routes of {}, as often as there: {} % of them.\n# loadline run http://HOST:PORT/ --urls THIS_FILE\n",
        counted(traffic.requests, "logged request"),
        percent(share)
    );
    if let Some(said) = stand_ins(traffic) {
        let _ = writeln!(list, "# {said}");
    }
    for (is_used, route, lines) in lines {
        if is_used {
            list += &lines;
        } else {
            let path = literally(&route.path).escape_debug().to_string();
            let _ = writeln!(list, "# {lines}:\n# {} {} {path}", route.requests, route.method);
        }
    }
    if let Some(others) = &traffic.others {
        let _ = writeln!(list, "# And {} of routes that are not listed.", count(others.requests));
    }
    list
}

/// The lines of a route, or why it cannot be sent.
fn lines(route: &Route) -> Result<String, Unsendable> {
    let listed = route.targets.as_ref().map_or(&[][..], |targets| &targets.listed);
    if listed.is_empty() {
        return path_of(route).map(|path| format!("{} {} {path}\n", route.requests, route.method));
    }
    is_sendable(route)?;
    let mut text = String::new();
    if let Some(targets) = route.targets.as_ref().filter(|targets| targets.distinct > targets.listed.len() as u64) {
        let shown = literally(&route.path).escape_debug().to_string();
        let _ = writeln!(
            text,
            "# Of {} {shown} a sample: {} of about {} different paths, which {} % of its requests asked for.",
            route.method,
            count(listed.len() as u64),
            count(targets.distinct),
            percent((targets.covered * 1_000.0).round() / 10.0)
        );
    }
    let all: u64 = listed.iter().map(|target| target.requests).sum();
    for Target { path, requests, .. } in listed {
        // A sample's counts are estimates of the route's.
        let weight = (*requests as f64 * route.requests as f64 / all.max(1) as f64).round().max(1.0) as u64;
        let _ = writeln!(text, "{weight} {} {}", route.method, literally(path));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use import::{FormChoice, Personal, Survey};

    fn list(survey: Survey, requests: &[(&str, usize)]) -> String {
        let mut survey = survey;
        let line = |request: &str| format!("192.0.2.1 - - [01/Mar/2016:00:36:41 +0100] \"{request} HTTP/1.1\" 200 612 \"-\" \"curl/8\"\n");
        let log: String = requests.iter().map(|(request, times)| line(request).repeat(*times)).collect();
        survey.read("access.log", log.as_bytes()).unwrap();
        urls(&survey.finish())
    }

    fn weights(list: &str) -> Vec<u64> {
        let draft = plan::Draft { url: Some("http://a.test/".to_owned()), urls: Some("list".to_owned()), ..plan::Draft::default() };
        let resolved = plan::Resolved::from(draft).with_file("list", list.as_bytes());
        let plan = plan::Plan::try_from(resolved).unwrap_or_else(|errors| panic!("{errors:?}\n{list}"));
        plan.variation().mix.as_ref().unwrap().routes.iter().map(|route| route.weight).collect()
    }

    #[test]
    fn what_was_asked_for_is_asked_for_as_often() {
        let survey = Survey::new(FormChoice::default(), Personal::LeftOut).with_targets();
        let list = list(
            survey,
            &[
                ("GET /users/17", 40),
                ("GET /users/18?tab=a", 20),
                ("GET /me?token=s3cr3t-of-mine", 12),
                ("GET /u/x@example.org", 5),
                ("GET /a{{b", 3),
                ("POST /orders", 10),
            ],
        );
        assert!(list.contains("\n40 GET /users/17\n20 GET /users/18?tab=a\n"), "{list}");
        assert!(list.contains("5 GET /u/user") && !list.contains("x@example") && !list.contains("s3cr3t"), "{list}");
        assert!(list.contains("# 2 values that look personal or secret were replaced"), "{list}");
        assert!(list.contains("# 10 POST /orders\n"), "{list}");
        assert_eq!(weights(&list), [40, 20, 12, 5, 3]);
    }

    #[test]
    fn of_many_paths_a_sample_has_the_weight_of_all() {
        let requests: Vec<(String, usize)> = (0..3_000).map(|at| (format!("GET /items/{at}"), 3)).collect();
        let requests: Vec<(&str, usize)> = requests.iter().map(|(request, times)| (request.as_str(), *times)).collect();
        let list = list(Survey::new(FormChoice::default(), Personal::LeftOut).with_targets(), &requests);
        assert!(list.contains("# Of GET /items/{id} a sample: "), "{}", &list[..400]);
        let weights = weights(&list);
        assert!(weights.len() <= 500 && weights.len() > 100, "{}", weights.len());
        let all: u64 = weights.iter().sum();
        assert!((8_700..=9_300).contains(&all), "{all}");
    }

    #[test]
    fn where_nothing_was_sampled_values_are_made_up() {
        let list = list(
            Survey::new(FormChoice::default(), Personal::LeftOut),
            &[
                ("GET /users/17", 60),
                ("HEAD /a/123e4567-e89b-12d3-a456-426614174000", 25),
                ("POST /orders", 10),
                ("GET /u/x@example.org", 5),
            ],
        );
        assert!(list.contains("\n60 GET /users/{{random 1 1000}}\n25 HEAD /a/{{uuid}}\n"), "{list}");
        assert!(list.contains("may write, and its body is not in a log:\n# 10 POST /orders\n"), "{list}");
        assert!(list.contains("To be filled in: {email}") && list.contains("# 5 GET /u/{email}\n"), "{list}");
        assert!(list.starts_with("# The routes of 100 logged requests, as often as there: 85 % of them.\n"), "{list}");
        assert_eq!(weights(&list), [60, 25]);
    }
}
