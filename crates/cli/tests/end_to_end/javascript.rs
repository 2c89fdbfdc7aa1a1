//! Scripts between requests and behind answers: those of scenarios, and those of test plans.

use crate::recorder::{Recorder, answer, header, line};
use crate::session::Session;

/// A shop that wants its requests signed, and has one open order.
fn shop() -> Recorder {
    Recorder::start_with(|request| match line(request) {
        "GET /orders" if header("x-signature", request).len() == 64 => {
            answer(200, "Content-Type: application/json\r\n", r#"{"items": [{"id": 7, "open": false}, {"id": 8, "open": true}]}"#)
        }
        "GET /orders/8" => answer(200, "", "open"),
        _ => answer(403, "", "no"),
    })
}

#[test]
fn a_scenario_signs_its_requests_and_searches_their_answers() {
    let server = shop();
    let text = r#"
target: TARGET
load: {users: 2, requests: 8}
variables: {key: Jefe}
steps:
  - script: |
      vars.set("signature", crypto.hmac("sha256", vars.get("key"), "GET /orders"));
  - get: /orders
    headers: {X-Signature: '{{signature}}'}
    after: |
      const order = JSON.parse(answer.body).items.find(item => item.open);
      if (!order) fail("no open order");
      vars.set("order", order.id);
      log("order", order.id);
  - get: /orders/{{order}}
    after: if (answer.body !== "open") fail("it is " + answer.body);
"#
    .replace("TARGET", &server.url);
    let mut session = Session::new().file("orders.yaml", &text).file("shut.yaml", &text.replace(r#""open")"#, r#""shut")"#));
    session.loadline("run orders.yaml --no-save --out json=r.json").exits(0).says("scripts said 4 lines, the first of them: order 8");
    assert_eq!(session.json("r.json")["requests"]["succeeded"], 8);
    assert_eq!(server.raw().iter().filter(|request| line(request) == "GET /orders/8").count(), 4);
    session.loadline("try orders.yaml").exits(0);
    session.loadline("run shut.yaml --no-save").says("script.failed").says("the script after 'GET /orders/{{order}}': line 1: it is open");
    // What cannot be run is told before anything is sent.
    server.raw();
    let mut session = session.file("wrong.yaml", &text.replace("const order", "const const"));
    session.loadline("run wrong.yaml --no-save").exits(2).complains("wrong.yaml:11:").complains("the script cannot be run: SyntaxError");
    assert!(server.raw().is_empty());
}
