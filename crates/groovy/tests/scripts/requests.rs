//! What scripts do to the request that comes next.

use crate::runtime::{Script, beanshell, groovy, javascript};

/// A script before a request with these parts.
fn before(script: Script, method: &str, path: &str, headers: &str, body: &str) -> Script {
    script.setup(&format!("host.state.request = {{ method: {method:?}, path: {path:?}, headers: {headers:?}, body: {body:?} }};"))
}

#[test]
fn what_only_sets_parts_needs_no_request_that_is_written() {
    let source = "sampler.addArgument('sign', 'a b&c')\nsampler.setPath('/v2')\nsampler.path = '/v3'\nsampler.setMethod('PUT')\n\
                  import org.apache.jmeter.protocol.http.control.Header\n\
                  sampler.getHeaderManager().removeHeaderNamed('X-Old')\nsampler.getHeaderManager().add(new Header('X-New', vars.get('n')))\n\
                  ctx.getCurrentSampler().addEncodedArgument('q', 'a%20b')";
    let script = groovy(source);
    let translation = script.translated();
    assert_eq!((translation.request, translation.reads_request, translation.sets_path), (Some(1), false, true));
    script.var("n", "7").run().logs(&[
        "field sign=a+b%26c",
        "place: /v2",
        "place: /v3",
        "method: PUT",
        "header X-Old: null",
        "header X-New: 7",
        "field q=a%20b",
    ]);
    assert_eq!(groovy("vars.put('a', sampler.getName())").translated().request, None);
    assert!(groovy("1\nsampler.addArgument('', 'body')").translated().reads_request, "a body, or a part of it");
    let translation = javascript("vars.put('a', 'b');\nsampler.addArgument('a', 'b');").translated();
    assert_eq!((translation.request, translation.reads_request), (Some(2), false));
    assert!(javascript("sampler.getArguments().getArgument(0).setValue('x')").translated().reads_request);
}

#[test]
fn a_body_is_read_signed_and_replaced() {
    let headers = "Content-Type: application/json\nX-A: 1\n";
    let source = "def body = sampler.getArguments().getArgument(0).getValue()\n\
                  sampler.getHeaderManager().add(new org.apache.jmeter.protocol.http.control.Header('X-Length', body.length() as String))\n\
                  sampler.arguments.getArgument(0).setValue(body.replace('old', 'new'))";
    before(groovy(source), "POST", "/a", headers, "{\"v\": \"old\"}").run().logs(&["header X-Length: 12", "body: {\"v\": \"new\"}"]);
    let source =
        "sampler.getArguments().removeAllArguments()\nsampler.addNonEncodedArgument('', '{\"a\": 1}', '')\nsampler.setPostBodyRaw(true)";
    before(groovy(source), "POST", "/a", headers, "old").run().logs(&["body: ", "body: {\"a\": 1}"]);
    let source = "import org.apache.jmeter.config.Arguments;\nArguments all = new Arguments();\nall.addArgument(\"a\", \"b c\");\nsampler.setArguments(all);";
    before(beanshell(source), "POST", "/a", "", "").run().logs(&["body: a=b+c", "header Content-Type: application/x-www-form-urlencoded"]);
    // A request that is read where there is none is told.
    assert!(groovy("sampler.getUrl().toString()").run().value.unwrap_err().contains("there is no request here"));
}

#[test]
fn arguments_stand_in_the_query_or_in_the_form() {
    let all = "sampler.getArguments().getArgumentsAsMap().collect { k, v -> k + ':' + v }.join(',')";
    before(groovy(all), "GET", "/a?n=1&m=a+b", "", "").run().gives("n:1,m:a b");
    before(groovy(all), "POST", "/a?n=1", "Content-Type: application/x-www-form-urlencoded\n", "x=%26").run().gives("x:&");
    let remove = "sampler.getArguments().removeArgument('n')";
    before(groovy(remove), "GET", "/a?n=1&m=2", "", "").run().logs(&["path: /a?m=2"]);
    let told = "[sampler.getMethod(), sampler.getPath(), sampler.getUrl(), sampler.getDomain(), sampler.getPort(), sampler.protocol, sampler.queryString].join(' ')";
    before(groovy(told), "GET", "/a?n=1", "", "").run().gives("GET /a http://host.example:8080/a?n=1 host.example 8080 http n=1");
    let header = "sampler.headerManager.getFirstHeaderNamed('x-a').value + sampler.headerManager.size()";
    before(groovy(header), "GET", "/", "X-A: 1\nHost: b\n", "").run().gives("12");
}
