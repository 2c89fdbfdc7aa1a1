//! Letters that are not written as UTF-8, as a server sees them.

use super::*;

#[test]
fn what_is_typed_and_what_is_filled_in_is_written_as_the_step_says() {
    let (server, log) = serving(|seen| plain(1, if seen.line == "GET /who" { "J\u{fc}rgen \u{20ac}" } else { "" }));
    let text = "\
load: {users: 1, requests: 6}
defaults: {encoding: latin1}
variables: {city: K\u{f6}ln}
steps:
  - {get: /who, extract: {name: 'regex ^(.*)$'}}
  - {get: '/\u{e4}?q=\u{df}&n={{name}}&c={{city}}&u={{uuid}}&r={{raw (name)}}'}
  - {post: /form, form: {'\u{fc}': '\u{df} {{name}}', b: '{{base64 (name)}}'}}
  - {post: /utf, form: {c: '{{city}}'}, encoding: utf-8}
  - {put: /text, body: 'ASCII {{city}} only', encoding: us-ascii}
  - {put: /json, json: {n: '{{name}}', q: \"'\"}, encoding: ascii}
";

    let Collected { summary, .. } = run(&server, text);
    assert_eq!(summary.requests.succeeded, 6, "{:?}", summary.failures);
    let log = log.borrow();
    let query = &log[1].line;
    assert!(query.starts_with("GET /%E4?q=%DF&n=J%FCrgen%20%3F&c=K%F6ln&u="), "{query}");
    assert!(query.ends_with("&r=J%C3%BCrgen%20%E2%82%AC"), "{query}");
    let bodies: Vec<&str> = log[2..].iter().map(|seen| seen.body.as_str()).collect();
    let expected = ["%FC=%DF+J%FCrgen+%3F&b=SsO8cmdlbiDigqw%3D", "c=K%C3%B6ln", "ASCII K?ln only", "{\"n\":\"J?rgen ?\",\"q\":\"'\"}"];
    assert_eq!(bodies, expected);
    assert!(log[2].header("content-type") == "application/x-www-form-urlencoded");
}

#[test]
fn fields_of_a_form_in_parts_are_written_as_their_types_say() {
    let (server, log) = serving(|_| plain(1, ""));
    let text = "\
load: {users: 1, requests: 1}
variables: {city: K\u{f6}ln}
steps:
  - post: /
    encoding: us-ascii
    multipart:
      a: '{{city}} \u{fc}'
      b: {text: '{{city}} \u{fc}', headers: {Content-Type: text/plain; charset=UTF-8}}
";
    run(&server, text);
    let body = &log.borrow()[0].body;
    assert!(body.contains("K?ln ?\r\n"), "{body}");
}

#[test]
fn mistakes_have_places() {
    let text =
        "target: http://a.test\ndata: [{file: a.csv, encoding: no such}]\nsteps: [{get: /, encoding: utf-16}, {get: /, encoding: x}]\n";
    let mistakes: Vec<String> = crate::read("s.yaml", text).unwrap_err().iter().map(ToString::to_string).collect();
    let mistakes = mistakes.join("\n");
    for part in ["no encoding is called 'no such'", "no request is written in utf-16be", "no encoding is called 'x'"] {
        assert!(mistakes.contains(part), "{part}: {mistakes}");
    }
}
