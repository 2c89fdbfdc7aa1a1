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

/// An element of a test plan, and what stands in it.
fn element(class: &str, name: &str, settings: &[(&str, &str)], children: &[String]) -> String {
    let settings: String = settings.iter().map(|(name, value)| format!("<stringProp name=\"{name}\">{value}</stringProp>")).collect();
    format!(
        "<{class} testclass=\"{class}\" testname=\"{name}\" enabled=\"true\">{settings}</{class}><hashTree>{}</hashTree>",
        children.concat()
    )
}

#[test]
fn a_test_plan_signs_its_requests_and_searches_their_answers() {
    let server = Recorder::start_with(|request| {
        let body = request.rsplit("\r\n\r\n").next().unwrap_or_default();
        match line(request) {
            "POST /orders?by=ann" if header("x-length", request) == body.len().to_string() => {
                answer(200, "Content-Type: application/json\r\n", r#"{"items": [{"id": 7, "open": false}, {"id": 8, "open": true}]}"#)
            }
            "GET /orders/8" => answer(200, "", "open"),
            _ => answer(403, "", "no"),
        }
    });
    let (host, port) = server.url.strip_prefix("http://").unwrap().trim_end_matches('/').rsplit_once(':').unwrap();
    let script = |class: &str, text: &str| element(class, class, &[("scriptLanguage", "groovy"), ("script", text)], &[]);
    let sampler = |method: &str, path: &str, body: &str, children: &[String]| {
        let place = [("HTTPSampler.domain", host), ("HTTPSampler.port", port), ("HTTPSampler.method", method), ("HTTPSampler.path", path)];
        let sampler = element("HTTPSamplerProxy", path, &place, children);
        let argument = format!(
            "<elementProp name=\"\" elementType=\"HTTPArgument\"><stringProp name=\"Argument.value\">{body}</stringProp></elementProp>"
        );
        let arguments = format!(
            "<boolProp name=\"HTTPSampler.postBodyRaw\">true</boolProp><elementProp name=\"HTTPsampler.Arguments\" elementType=\"Arguments\"><collectionProp name=\"Arguments.arguments\">{argument}</collectionProp></elementProp>"
        );
        if body.is_empty() { sampler } else { sampler.replacen("</HTTPSamplerProxy>", &format!("{arguments}</HTTPSamplerProxy>"), 1) }
    };
    let sign = "import org.apache.jmeter.protocol.http.control.Header\ndef body = sampler.getArguments().getArgument(0).getValue()\n\
                sampler.getHeaderManager().add(new Header('X-Length', body.length() as String))";
    let find = "def order = new groovy.json.JsonSlurper().parseText(prev.getResponseDataAsString()).items.find { it.open }\n\
                vars.put('order', order.id as String)\nlog.info('order ' + order.id)";
    let judge = "if (prev.getResponseDataAsString() != 'open') { AssertionResult.setFailure(true); AssertionResult.setFailureMessage('it is ' + prev.getResponseDataAsString()) }";
    let plan = |judge: &str| {
        let order = sampler(
            "POST",
            "/orders?by=ann",
            "{&quot;n&quot;: &quot;${__UUID}&quot;}",
            &[script("JSR223PreProcessor", sign), script("JSR223PostProcessor", find)],
        );
        let look = sampler("GET", "/orders/${order}", "", &[script("JSR223Assertion", judge)]);
        let loops = "<elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\"><stringProp name=\"LoopController.loops\">2</stringProp></elementProp>";
        let group = element("ThreadGroup", "Users", &[("ThreadGroup.num_threads", "2")], &[order, look]);
        let group = group.replacen("</ThreadGroup>", &format!("{loops}</ThreadGroup>"), 1);
        let plan = element("TestPlan", "Plan", &[], &[group]);
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><jmeterTestPlan version=\"1.2\"><hashTree>{plan}</hashTree></jmeterTestPlan>")
    };
    let mut session = Session::new().file("shop.jmx", &plan(judge)).file("shut.jmx", &plan(&judge.replace("!= 'open'", "!= 'shut'")));
    session.loadline("run shop.jmx --strict --no-save --out json=r.json").exits(0).says("order 8");
    // The scenario that is made of it does the same.
    session.loadline("import shop.jmx --output shop.yaml --strict").exits(0);
    assert!(session.read("shop.yaml").contains("before:"), "{}", session.read("shop.yaml"));
    session.loadline("run shop.yaml --no-save --out json=y.json").exits(0);
    for result in ["r.json", "y.json"] {
        let requests = &session.json(result)["requests"];
        assert_eq!((requests["due"].as_u64(), requests["succeeded"].as_u64()), (Some(8), Some(8)), "{result}");
    }
    session.loadline("run shut.jmx --strict --no-save").says("script.failed").says("it is open");
}
