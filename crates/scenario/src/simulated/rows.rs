//! Rows of data files: who takes them, where, and what comes behind the last.

use super::*;

/// What was asked, of a scenario with a file `users` of these rows, which is named so.
fn asked(rows: &str, data: &str, rest: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.csv");
    fs::write(&path, format!("id\n{rows}")).unwrap();
    let files = [Arc::new(Data::open(path.to_str().unwrap()).unwrap())];
    let (server, log) = serving(|_| plain(10, ""));
    let text = format!("data: [{{file: '{}'{data}}}]\n{rest}", path.display());
    let Collected { broken, .. } = run_with(&server, &text, &files);
    assert_eq!(broken, None);
    lines(&log)
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[test]
fn a_row_is_taken_where_the_journey_asks_for_it() {
    let text = "load: {duration: 1m}
populations: [{name: all, users: 1, iterations: 2}]
steps: [{repeat: 2, steps: [{next_row: users}, {get: '/{{users.id}}'}, {get: '/{{users.id}}/again'}]}]
";
    let lines = asked("1\n2\n3\n", "", text);
    assert_eq!(lines, ["GET /1", "GET /1/again", "GET /2", "GET /2/again", "GET /3", "GET /3/again", "GET /1", "GET /1/again"]);
}

#[test]
fn rows_are_for_all_users_each_population_or_each_user() {
    let text = "load: {duration: 1m, threads: 2}
populations: [{name: a, users: 2, iterations_per_user: 2, journeys: [a]}, {name: b, users: 1, iterations_per_user: 3, journeys: [b]}]
journeys: [{name: a, steps: [{get: '/a/{{users.id}}'}]}, {name: b, steps: [{get: '/b/{{users.id}}'}]}]
";
    let own = sorted(asked("1\n2\n3\n", ", for: each user", text));
    assert_eq!(own, ["GET /a/1", "GET /a/1", "GET /a/2", "GET /a/2", "GET /b/1", "GET /b/2", "GET /b/3"]);
    let of_each = sorted(asked("1\n2\n3\n4\n", ", for: each population", text));
    assert_eq!(of_each, ["GET /a/1", "GET /a/2", "GET /a/3", "GET /a/4", "GET /b/1", "GET /b/2", "GET /b/3"]);
    let together = sorted(asked("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "", text));
    let ids: Vec<&str> = together.iter().map(|line| &line[line.len() - 1..]).collect();
    let mut once = ids.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!((ids.len(), once.len()), (7, 7), "no row twice: {together:?}");
}

#[test]
fn only_those_who_ask_for_rows_have_a_share_of_them() {
    let text = "load: {duration: 1m, threads: 1}
populations: [{name: a, users: 1, iterations_per_user: 3, journeys: [a]}, {name: b, users: 1, iterations_per_user: 3, journeys: [b]}]
journeys: [{name: a, steps: [{next_row: users}, {get: '/a/{{users.id}}'}]}, {name: b, steps: [{get: '/b/{{users.id}}'}]}]
";
    let lines = sorted(asked("1\n2\n3\n", "", text));
    assert_eq!(lines, ["GET /a/1", "GET /a/2", "GET /a/3", "GET /b/", "GET /b/", "GET /b/"]);
}

#[test]
fn behind_the_last_row_users_go_or_have_a_mark() {
    let text = "populations: [{name: a, users: 2, duration: 1m, journeys: [a]}, {name: b, users: 1, iterations_per_user: 5, journeys: [b]}]
journeys: [{name: a, steps: [{get: '/a/{{users.id}}'}]}, {name: b, steps: [{get: /b}]}]
load: {duration: 1m, threads: 1}
";
    let lines = sorted(asked("1\n2\n3\n", ", for: each user, end: stop-user", text));
    assert_eq!(lines[..6], ["GET /a/1", "GET /a/1", "GET /a/2", "GET /a/2", "GET /a/3", "GET /a/3"]);
    assert_eq!(lines[6..], ["GET /b"; 3], "a user that asks for no row goes as well when each journey has one");
    let text = "load: {users: 1, requests: 4}\nsteps: [{post: /, body: '{{users.id}}'}, {next_row: users}, {post: '/{{users.id}}'}]\n";
    let lines = asked("1\n", ", end: mark", text);
    assert_eq!(lines, ["POST /", "POST /1", "POST /", "POST /%3CEOF%3E"]);
    // In the midst of a journey, that is over.
    let text = "load: {duration: 1m}\npopulations: [{name: a, users: 1, duration: 1m}]
steps: [{get: /first}, {next_row: users}, {get: '/{{users.id}}'}]\n";
    assert_eq!(asked("1\n2\n", ", end: stop-user", text), ["GET /first", "GET /1", "GET /first", "GET /2", "GET /first"]);
}
