//! Expressions of `__groovy`, `__jexl3`, `__javaScript` and `__BeanShell`, and scripts of JavaScript.

use crate::runtime::{beanshell, groovy, javascript, jexl};

#[test]
fn jexl_expressions() {
    let cases = [
        ("1 + 2", "3"),
        ("\"a\" == \"a\"", "true"),
        ("\"1\" == 1", "true"),
        ("5 gt 3 and 2 lt 1", "false"),
        ("5 ge 5 or false", "true"),
        ("not (1 eq 2)", "true"),
        ("\"abc\" ne \"abd\" && 1 le 1", "true"),
        ("\"10\" > 9", "true"),
        ("empty(\"\")", "true"),
        ("empty(\"a\")", "false"),
        ("size(\"abc\")", "3"),
        ("\"abc\" =~ \"a.*\"", "true"),
        ("\"abc\" !~ \"b.*\"", "true"),
        ("vars.get(\"x\") == \"5\" ? \"yes\" : \"no\"", "yes"),
        ("vars.get(\"x\") * 2", "10"),
        ("vars.get(\"none\") == null", "true"),
        ("7 / 2", "3"),
        ("7.0 / 2", "3.5"),
        ("empty(0)", "true"),
        ("7 % 4", "3"),
        ("\"a\" + 1", "a1"),
        ("ctx.getThreadGroup().getName()", "Users"),
        ("\"abc\".substring(1)", "bc"),
        ("var n = 3; n * 2", "6"),
        ("\"abc\" =^ \"ab\"", "true"),
        ("true && !false", "true"),
    ];
    for (source, wanted) in cases {
        jexl(source).var("x", "5").run().gives(wanted);
    }
}

#[test]
fn scripts_of_javascript() {
    let cases = [
        ("1 + 2", "3"),
        ("vars.get('x') == '5' && vars.get('x').length() > 0", "true"),
        ("Math.floor(7 / 2)", "3"),
        ("var a = [3, 1]; a.sort(); a.join('-');", "1-3"),
        ("var o = JSON.parse('{\"a\": [1, 2]}'); o.a.length", "2"),
        ("function twice(x) { return x * 2; }\ntwice(4)", "8"),
        ("'abc'.replace(/[bc]/g, 'x')", "axx"),
        ("Java.type('java.util.UUID').randomUUID().toString().length", "36"),
        ("var UUID = Java.type('java.util.UUID'); '' + UUID.randomUUID().toString().length", "36"),
        ("java.lang.System.currentTimeMillis()", "1700000000123"),
        ("new java.text.SimpleDateFormat('yyyy').format(new java.util.Date())", "2023"),
        ("Packages.java.lang.Integer.parseInt('12') + 1", "13"),
        ("var l = new java.util.ArrayList(); l.add('a'); l.add('b'); l.size()", "2"),
        ("+vars.get('x') + 1", "6"),
        ("if (vars.get('x') === '5') { vars.put('y', 'yes'); }\nvars.get('y')", "yes"),
        ("'a'.equals('a') && 'abc'.contains('b')", "true"),
        ("// a comment with 'quotes\nvar s = \"it's\"; /* more */ s", "it's"),
        ("prev.getResponseCode() + sampleResult.getResponseMessage()", "200OK"),
        ("JSON.parse(prev.getResponseDataAsString()).n", "7"),
        ("(function () { return threadName; })()", "Users 1-3"),
        ("true ? 'a' : 'b';", "a"),
        ("new Date().getTime() + ' ' + Date.now() + ' ' + new Date(5).getTime()", "1700000000123 1700000000123 5"),
        ("x = 5; y = x + 1\ny * 2", "12"),
        ("var s = 0\nfor (var i = 0; i < 3; i++)\n  s += i\ns", "3"),
        ("var s = ''; for (var k in {a: 1, b: 2}) { s += k; }\ns", "ab"),
        ("[1, 2]\n  .map(function (x) { return x * 2; })\n  .join('+')", "2+4"),
        ("/a\\/b;/.test('a/b;') ? 'yes' : 'no'", "yes"),
    ];
    for (source, wanted) in cases {
        javascript(source).var("x", "5").answer("code", "200").answer("message", "OK").answer("body", "{\"n\": 7}").run().gives(wanted);
    }
    let script = javascript("vars.put('a', vars.get('b')); vars.get('c' + 1); prev.getResponseCode()");
    let translation = script.translated();
    assert_eq!((translation.reads, translation.sets), (vec!["b".to_owned()], vec!["a".to_owned()]));
    assert!(translation.names_are_computed && translation.reads_answer);
    javascript("log.info('n = ' + 5); OUT.println('o');").run().logs(&["info: n = 5", "info: o"]);
}

#[test]
fn expressions_of_functions() {
    groovy("vars.get('role') == 'admin'").var("role", "admin").run().gives("true");
    groovy("(props.get('TPS') ?: '600').toDouble() * 60.0").run().gives("36000");
    groovy("vars.get('x') != null && !vars.get('x').isEmpty() && vars.get('x') != 'NOT_FOUND'").var("x", "1").run().gives("true");
    groovy("new Date().format('yyyyMMdd') + UUID.randomUUID().toString().replaceAll('-', '').length()").run().gives("2023111432");
    groovy("org.apache.commons.lang3.RandomStringUtils.randomAlphanumeric(12).size()").run().gives("12");
    beanshell("import java.util.UUID; UUID.randomUUID().toString().length()").run().gives("36");
    beanshell("vars.get(\"run\").equals(\"1\")").var("run", "1").run().gives("true");
    beanshell("10 * 19").run().gives("190");
}

#[test]
fn chance_is_the_users() {
    let draw = "[new Random().nextInt(1000), Math.random(), UUID.randomUUID(), org.apache.commons.lang3.RandomStringUtils.randomNumeric(5), java.util.concurrent.ThreadLocalRandom.current().nextInt(5, 9)].toString()";
    let one = groovy(draw).run().value.unwrap();
    assert_eq!(Ok(one.clone()), groovy(draw).run().value, "the same seed gives the same");
    assert_ne!(Ok(one), groovy(draw).setup("host.state.random = 77;").run().value);
    let draw = "[Math.random(), new Date().getTime()].join(' ')";
    assert_eq!(javascript(draw).run().value, javascript(draw).run().value, "in JavaScript, too");
    groovy("def r = new Random(); (1..200).every { def n = 5 + r.nextInt(3); n >= 5 && n < 8 }").run().gives("true");
    groovy("def all = (1..300).collect { java.util.concurrent.ThreadLocalRandom.current().nextInt(1, 4) } as Set; all.sort()")
        .run()
        .gives("[1, 2, 3]");
    groovy("def l = ['a', 'b', 'c']; l.contains(l[new Random().nextInt(l.size())])").run().gives("true");
    groovy("(UUID.randomUUID().toString() ==~ /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)").run().gives("true");
}
