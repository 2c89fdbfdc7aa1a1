//! What scripts do with JMeter's objects: variables, properties, the log, and the last answer.

use crate::runtime::{Script, beanshell, groovy, javascript, jexl};

fn answered(script: Script) -> Script {
    script
        .answer("code", "200")
        .answer("message", "OK")
        .answer("body", "{\"id\": 17, \"token\": \"t-1\", \"items\": [{\"id\": 1, \"name\": \"pen\"}, {\"id\": 2, \"name\": \"ink\"}], \"big\": 1234567890123456789}")
        .answer("headers", "HTTP/1.1 200 OK\nContent-Type: application/json; charset=utf-8\nLocation: /next?a=1")
        .answer("url", "http://host.example:8080/a/b?q=1")
        .answer("data", "{\"sent\": true}")
        .answer("label", "GET /a")
        .setup("host.state.answer.ok = true; host.state.answer.time = 123; host.state.answer.latency = 100; host.state.answer.connect = 5; host.state.answer.bytes = 2048; host.state.answer.start = 1000;")
}

#[test]
fn variables_are_read_and_set() {
    let done = groovy(
        "vars.put('sum', ((vars.get('a') as int) + vars['b'].toInteger()).toString())\nvars.c = 'd'\nvars['e'] = vars.a\nvars.remove('b')",
    );
    let translation = done.translated();
    assert_eq!(
        (translation.reads, translation.sets),
        (vec!["a".into(), "b".into()], vec!["sum".into(), "c".into(), "e".into(), "b".into()])
    );
    assert!(!translation.names_are_computed && !translation.reads_answer);
    done.var("a", "1").var("b", "2").run().vars(&["a=1", "c=d", "e=1", "sum=3"]);
}

#[test]
fn names_that_are_computed_are_told() {
    let script = groovy(
        "int n = vars.get('ids_matchNr') as int\ndef all = (1..n).collect { vars.get('ids_' + it) }\nvars.put('all', all.join(','))",
    );
    assert!(script.translated().names_are_computed);
    script.var("ids_matchNr", "2").var("ids_1", "x").var("ids_2", "y").run().vars(&["all=x,y", "ids_1=x", "ids_2=y", "ids_matchNr=2"]);
    assert!(groovy("for (e in vars.entrySet()) log.info(e.key)").translated().names_are_computed);
}

#[test]
fn objects_stay_beside_variables() {
    groovy(
        "vars.putObject('list', [1, 2]); def l = vars.getObject('list'); l << 3; vars.put('n', vars.getObject('list').size() as String)",
    )
    .run()
    .vars(&["n=3"]);
    groovy("vars.getObject('none')").run().gives("null");
}

#[test]
fn properties_are_shared() {
    groovy("props.put('token', 'x'); props.setProperty('n', '5'); vars.put('t', props.get('token') + props.getProperty('n') + props.getProperty('none', 'd'))")
        .run()
        .props(&["n=5", "token=x"]);
    groovy("def n = (props.get('count') ?: '0') as int; props.put('count', (n + 1).toString())")
        .prop("count", "4")
        .run()
        .props(&["count=5"]);
    groovy("props.put('list', [1, 'a', [b: 2]]); def l = props.get('list'); l[2].b + l.size()").run().gives("5");
    groovy("props.put('list', [1]); props.get('list').add(2)").run().throws("");
    groovy("props.put('c', new java.util.concurrent.atomic.AtomicInteger(1))").run().throws("use a Counter");
    groovy("props.containsKey('a') + ' ' + props.containsKey('b') + ' ' + props.a + props['a']")
        .prop("a", "1")
        .run()
        .gives("true false 11");
}

#[test]
fn lines_of_the_log() {
    groovy("log.info('a {} b {}', 1, [2]); log.warn(\"w\"); log.error('bad', new Exception('why')); log.debug('d'); OUT.println('o'); System.out.println('s'); println 'p'")
        .run()
        .logs(&["info: a 1 b [2]", "warn: w", "error: bad: java.lang.Exception: why", "debug: d", "info: o", "info: s", "info: p"]);
}

#[test]
fn the_last_answer_is_read() {
    let script = answered(groovy(
        "import groovy.json.JsonSlurper\ndef json = new JsonSlurper().parseText(prev.getResponseDataAsString())\nvars.put('token', json.token)\nvars.put('ids', json.items*.id.join(','))\nvars.put('pen', json.items.find { it.name == 'pen' }.id.toString())\nvars.put('big', json.big.toString())",
    ));
    assert!(script.translated().reads_answer);
    script.run().vars(&["big=1234567890123456789", "ids=1,2", "pen=1", "token=t-1"]);
    answered(groovy("[prev.responseCode, prev.getResponseMessage(), prev.isSuccessful(), prev.successful, prev.time, prev.getLatency(), prev.connectTime, prev.bytes, prev.sampleLabel].join(' ')"))
        .run()
        .gives("200 OK true true 123 100 5 2048 GET /a");
    answered(groovy("prev.getURL().getHost() + prev.URL.port + prev.urlAsString"))
        .run()
        .gives("host.example8080http://host.example:8080/a/b?q=1");
    answered(groovy("prev.getResponseHeaders().readLines().find { it.startsWith('Location') }.split(': ')[1]")).run().gives("/next?a=1");
    answered(groovy("prev.getRedirectLocation() + prev.contentType")).run().gives("/next?a=1application/json; charset=utf-8");
    answered(groovy("new String(prev.getResponseData(), 'UTF-8').contains('t-1')")).run().gives("true");
    answered(groovy("prev.responseDataAsString.length() > 50 && prev.getResponseData().length > 50")).run().gives("true");
    answered(groovy("if (prev.getResponseCode().toInteger() != 200) 'bad' else 'good'")).run().gives("good");
    answered(groovy("ctx.getPreviousResult().getResponseCode() + ctx.previousResult.responseMessage")).run().gives("200OK");
    answered(groovy("def sr = ctx.getPreviousResult(); sr.getResponseCode()")).run().gives("200");
    answered(groovy("prev.subResults.size()")).run().gives("0");
    answered(groovy("def data = prev.getSamplerData(); data.substring(data.indexOf('\\n\\n')).trim()")).run().gives("{\"sent\": true}");
}

#[test]
fn answers_are_judged() {
    answered(groovy("def code = prev.getResponseCode()\nif (code != '200') { AssertionResult.setFailure(true); AssertionResult.setFailureMessage(\"got ${code}\") }")).run().passes();
    answered(groovy(
        "if (prev.responseCode == '200') { AssertionResult.setFailureMessage('first the words'); AssertionResult.setFailure(true) }",
    ))
    .run()
    .fails("first the words");
    answered(groovy("AssertionResult.setFailure(true)\nAssertionResult.setFailureMessage('then the words')")).run().fails("then the words");
    answered(groovy("AssertionResult.setResultForFailure('error')")).run().fails("error");
    answered(groovy("AssertionResult.failure = true\nAssertionResult.failureMessage = 'as properties'")).run().fails("as properties");
    answered(groovy("prev.setSuccessful(false); prev.setResponseMessage('no token'); prev.setResponseCode('500')")).run().fails("");
    answered(groovy("prev.successful = false")).run().fails("");
    answered(groovy("SampleResult.setSuccessful(true); SampleResult.setDataType(SampleResult.TEXT); SampleResult.setDataType(org.apache.jmeter.samplers.SampleResult.TEXT)")).run().passes();
    let done = answered(groovy("SampleResult.setResponseData('new body', 'UTF-8'); SampleResult.setResponseCode('201')")).run();
    assert!(done.answer.contains(&"body=new body".to_owned()) && done.answer.contains(&"code=201".to_owned()), "{:?}", done.answer);
    answered(beanshell("if (!prev.getResponseDataAsString().contains(\"t-1\")) { Failure = true; FailureMessage = \"no token\"; }"))
        .run()
        .passes();
    answered(beanshell("String r = new String(ResponseData);\nif (r.contains(\"t-1\")) {\n  Failure = true;\n  FailureMessage = \"a token: \" + ResponseCode;\n} else { Failure = false; }"))
        .run()
        .fails("a token: 200");
    answered(beanshell("IsSuccess = false; ResponseMessage = \"no\";")).run().fails("no");
    answered(javascript(
        "if (prev.getResponseCode() != '404') { AssertionResult.setFailure(true); AssertionResult.setFailureMessage('not 404'); }",
    ))
    .run()
    .fails("not 404");
}

#[test]
fn users_and_tests_are_ended() {
    let ended = |source: &str| groovy(source).run().ended;
    assert_eq!(ended("ctx.getEngine().stopTest()"), "test");
    assert_eq!(ended("prev.setStopThread(true)"), "user");
    assert_eq!(ended("prev.setStopTest(true)"), "test");
    assert_eq!(ended("ctx.getThread().stop()"), "user");
    assert_eq!(ended("prev.setIgnore()"), "ignore");
    assert_eq!(ended("ctx.setStartNextThreadLoop(true)"), "iteration");
    assert_eq!(ended("prev.setStopThread(false)"), "");
}

#[test]
fn where_a_script_stands() {
    groovy("[ctx.getThreadNum(), ctx.threadGroup.name, ctx.getThread().getThreadName(), Thread.currentThread().getName(), vars.getIteration(), sampler.getName(), ctx.currentSampler.name].join('|')")
        .run()
        .gives("2|Users|Users 1-3|Users 1-3|7|home|home");
    groovy("\"$Label $Parameters ${args.length} ${args[1]}\"").setup("host.state.parameters = 'a bc';").run().gives("home a bc 2 bc");
    beanshell("return bsh.args[0];").setup("host.state.parameters = 'x y';").run().gives("x");
    groovy("org.apache.jmeter.threads.JMeterContextService.getContext().getVariables().get('a')").var("a", "1").run().gives("1");
}

#[test]
fn files_are_read_by_a_fixed_name() {
    let script = groovy(
        "def f = new File('users.csv')\ndef lines = f.readLines()\nvars.put('n', lines.size().toString())\nvars.put('first', new File('users.csv').text.split('\\n')[0])",
    );
    assert_eq!(script.translated().files, ["users.csv"]);
    script.file("users.csv", "ann,1\nbo,2\n").run().vars(&["first=ann,1", "n=2"]);
    groovy("def n = 0; new File('a').eachLine { line -> n += line.toInteger() }; n").file("a", "1\n2").run().gives("3");
    groovy("new File('gone').exists()").run().gives("false");
}

#[test]
fn what_jmeter_puts_in() {
    let script = groovy("def a = '${user}'\ndef n = ${count} + 1\n\"${user}-$n-${none}\" + a");
    assert_eq!(script.translated().reads, ["user", "count", "none"]);
    script.var("user", "ann").var("count", "4").run().gives("ann-5-${none}ann");
    groovy("'${__P(host,localhost)}' + ${__threadNum} + '${__property(p)}'").prop("p", "q").run().gives("localhost3q");
    groovy("def name = 'local'; \"${name}\"").var("name", "of the plan").run().gives("local");
    jexl("\"${scenario}\" == \"nginx\"").var("scenario", "nginx").run().gives("true");
    jexl("${n} % 7 == 0 && ${n} > 1").var("n", "14").run().gives("true");
    javascript("\"${count}\" < \"10\"").var("count", "05").run().gives("true");
    javascript("${a} + ${b}").var("a", "1").var("b", "2").run().gives("3");
    javascript("${a}.b.length + ${t}").var("a", "{\"b\": [1, 2]}").var("t", "1").run().gives("3");
    for (value, wanted) in [
        ("-41", "-41"),
        ("2.50", "2.5"),
        ("1e3", "1000"),
        ("010", "8"),
        ("7L", "7"),
        ("true", "true"),
        ("null", "null"),
        ("'a b'", "a b"),
        ("\"a\"", "a"),
        ("[1, [2, \"x\"]]", "[1, [2, x]]"),
        ("12345678901234567890", "12345678901234567890"),
    ] {
        groovy("'' + ${x}").var("x", value).run().gives(wanted);
    }
    for value in ["abc", "08", "1+2", "{\"a\": 1}", "[{}]", "\"$a\"", "", "[1", "'a' 'b'"] {
        groovy("'' + ${x}").var("x", value).run().throws("stands in the script as it is");
    }
}
