use std::collections::BTreeMap;

use super::*;

/// A host that keeps everything in maps, and whose chance counts.
#[derive(Default)]
struct Desk {
    variables: BTreeMap<String, String>,
    properties: BTreeMap<String, String>,
    answer: BTreeMap<String, Said>,
    request: BTreeMap<&'static str, &'static str>,
    lines: Vec<String>,
    acts: Vec<Act>,
    drawn: u32,
}

impl Host for Desk {
    fn get(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn put(&mut self, name: &str, text: Option<String>) {
        match text {
            Some(text) => _ = self.variables.insert(name.to_owned(), text),
            None => _ = self.variables.remove(name),
        }
    }

    fn names(&self) -> Vec<String> {
        self.variables.keys().cloned().collect()
    }

    fn property(&self, name: &str) -> Option<String> {
        self.properties.get(name).cloned()
    }

    fn set_property(&mut self, name: &str, text: Option<String>) {
        match text {
            Some(text) => _ = self.properties.insert(name.to_owned(), text),
            None => _ = self.properties.remove(name),
        }
    }

    fn log(&mut self, level: &str, text: &str) {
        self.lines.push(format!("{level}: {text}"));
    }

    fn answer(&self, what: &str) -> Said {
        self.answer.get(what).cloned().unwrap_or(Said::Nothing)
    }

    fn request(&self, what: &str) -> Said {
        self.request.get(what).cloned().map_or(Said::Nothing, |text| Said::Text(text.to_owned()))
    }

    fn about(&self, what: &str) -> Said {
        if what == "threadNumber" { Said::Number(3.0) } else { Said::Text(what.to_owned()) }
    }

    fn act(&mut self, act: Act) -> Result<(), String> {
        if act == Act::Ignore {
            return Err("it is counted".to_owned());
        }
        self.acts.push(act);
        Ok(())
    }

    fn now(&self) -> f64 {
        86_400_000.0
    }

    fn random(&mut self) -> f64 {
        self.drawn += 1;
        f64::from(self.drawn) / 8.0
    }

    fn digest(&self, algorithm: &str, bytes: &[u8]) -> Option<Vec<u8>> {
        (algorithm == "SHA-256").then(|| bytes.iter().rev().copied().collect())
    }

    fn hmac(&self, algorithm: &str, key: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        (algorithm == "SHA256").then(|| [key, bytes].concat())
    }

    fn file(&self, name: &str) -> Option<Arc<[u8]>> {
        (name == "key.pem").then(|| Arc::from(b"k\xc3\xbc".as_slice()))
    }
}

fn engine() -> Engine<Desk> {
    Engine::new(Desk::default(), None).unwrap()
}

/// Runs a script once, for a user of its own.
fn run(text: &str) -> Result<Option<String>, Thrown> {
    let mut engine = engine();
    let script = engine.compile(text)?;
    engine.call(script, &mut None)
}

fn value(text: &str) -> String {
    run(text).unwrap_or_else(|thrown| panic!("{text}: {thrown}")).unwrap_or_default()
}

#[test]
fn variables_are_the_hosts_and_values_are_texts() {
    let mut engine = engine();
    let script = engine.compile("vars.set('n', Number(vars.get('n')) + 1); vars.set('gone', null); return vars.names().join()").unwrap();
    engine.host().put("n", Some("41".to_owned()));
    engine.host().put("gone", Some("x".to_owned()));
    assert_eq!(engine.call(script, &mut None).unwrap().as_deref(), Some("n"));
    assert_eq!(engine.host().get("n").as_deref(), Some("42"));
    assert_eq!((value("return vars.get('nobody')"), run("return undefined").unwrap()), (String::new(), None));
    assert_eq!(value("return [1, true, {}]"), "1,true,[object Object]");
}

#[test]
fn chance_and_time_are_the_hosts() {
    assert_eq!(value("return Math.random() + ' ' + Math.random()"), "0.125 0.25");
    assert_eq!(value("return Date.now() + ' ' + new Date().toISOString()"), "86400000 1970-01-02T00:00:00.000Z");
    assert_eq!(value("return new Date(0).toISOString() + (new Date() instanceof Date)"), "1970-01-01T00:00:00.000Ztrue");
    assert_eq!(value("return typeof performance + typeof require + typeof std + typeof os"), "undefined".repeat(4));
}

#[test]
fn what_is_signed_is_written_as_servers_want_it() {
    assert_eq!(value("return crypto.digest('SHA-256', 'abü')"), "bcc36261");
    assert_eq!(value("return crypto.hmac('SHA256', 'k', 'v', 'base64')"), "a3Y=");
    assert_eq!(value("return crypto.hmac('SHA256', 'k', new Uint8Array([255, 254]), 'base64url')"), "a__-");
    assert_eq!(
        value("return crypto.hmac('SHA256', crypto.digest('SHA-256', 'ab', 'bytes'), 'c', 'bytes').length + crypto.encode('hex', 'a')"),
        "361"
    );
    assert!(run("crypto.digest('MD2', '')").unwrap_err().message.contains("there is no digest 'MD2'"));
    assert!(run("crypto.encode('rot13', '')").unwrap_err().message.contains("'rot13'"));
    assert_eq!(value("return file('key.pem')"), "kü");
    assert!(run("file('other')").unwrap_err().message.contains("'other' was not named"));
}

#[test]
fn answers_are_looked_at_and_found_to_have_failed() {
    let mut engine = engine();
    let text = "const order = JSON.parse(answer.body).items.find(item => item.open);\nif (!order) fail('no open order');\nreturn `${answer.status + 1} ${answer.header('X-A')} ${answer.header('x-b')} ${order.id}`";
    let script = engine.compile(text).unwrap();
    let none = engine.call(script, &mut None).unwrap_err();
    assert!(none.message.contains("there is no answer here"), "{none}");
    let say = |engine: &Engine<Desk>, what: &str, said: &str| _ = engine.host().answer.insert(what.to_owned(), Said::Text(said.to_owned()));
    say(&engine, "code", "200");
    say(&engine, "headers", "Content-Type: x\r\nx-a:  1 \r\n");
    say(&engine, "body", r#"{"items": [{"id": 7}, {"id": 8, "open": true}]}"#);
    assert_eq!(engine.call(script, &mut None).unwrap().as_deref(), Some("201 1 null 8"));
    say(&engine, "body", r#"{"items": []}"#);
    assert_eq!(engine.call(script, &mut None).unwrap_err().to_string(), "line 2: no open order");
}

#[test]
fn requests_are_looked_at_and_changed() {
    let mut engine = engine();
    let text = "request.setHeader('X-Signature', crypto.hmac('SHA256', 'k', request.body));\nrequest.path = `${request.path}&m=${request.method}`;\nrequest.method = 'PUT';\nrequest.setHeader('X-Old', null);\nrequest.body = new Uint8Array([65]);\nreturn request.header('x-a');";
    let script = engine.compile(text).unwrap();
    assert!(engine.call(script, &mut None).unwrap_err().message.contains("there is no request here"));
    engine.host().request.extend([("method", "POST"), ("path", "/a?n=1"), ("body", "b"), ("headers", "Host: a\nX-A: 1\n")]);
    engine.host().acts.clear();
    assert_eq!(engine.call(script, &mut None).unwrap().as_deref(), Some("1"));
    let set = |what: &str, text: &str| Act::SetRequest(what.to_owned(), text.to_owned());
    let header = |name: &str, value: Option<&str>| Act::SetHeader(name.to_owned(), value.map(str::to_owned));
    let expected =
        [header("X-Signature", Some("6b62")), set("path", "/a?n=1&m=POST"), set("method", "PUT"), header("X-Old", None), set("body", "A")];
    assert_eq!(engine.host().acts, expected);
}

#[test]
fn the_host_of_translated_scripts_is_whole() {
    let mut engine = Engine::new(Desk::default(), Some("const twice = text => text + text; function Thing() {}")).unwrap();
    let text = "host.put('a', 1); host.remove('b'); host.setProperty('p', twice('x')); host.log('warn', 2); host.fail(null); host.fail('w');
        host.succeed(); host.setAnswer('body', new Uint8Array([65])); host.addField('a', 1); host.stopUser(); host.stopTest(); host.nextIteration();
        return [host.get('a'), host.getProperty('p'), host.getProperty('q'), host.names(), host.answer('time'), host.threadNumber() + 1,
        host.threadName(), host.groupName(), host.iteration(), host.label(), host.parameters(), host.now(), host.random(), new Thing() instanceof Thing].join('|')";
    let script = engine.compile(text).unwrap();
    let said = engine.call(script, &mut None).unwrap().unwrap();
    assert_eq!(said, "1|xx||a||4|threadName|groupName|iteration|label|parameters|86400000|0.125|true");
    let host = engine.host();
    assert_eq!(host.lines, ["warn: 2"]);
    let set = Act::SetAnswer("body".to_owned(), "A".to_owned());
    let added = Act::AddField("a".to_owned(), "1".to_owned());
    let acts =
        [Act::Fail(None), Act::Fail(Some("w".to_owned())), Act::Succeed, set, added, Act::StopUser, Act::StopTest, Act::NextIteration];
    assert_eq!(host.acts, acts);
    drop(host);
    let ignored = engine.compile("\n\nhost.ignore()").unwrap();
    assert_eq!(engine.call(ignored, &mut None).unwrap_err().to_string(), "line 3: Error: it is counted");
}

#[test]
fn users_do_not_see_what_others_leave() {
    let mut engine = engine();
    let count = engine.compile("objects.n = (objects.n || 0) + 1; host.objects.list = []; return objects.n").unwrap();
    let (mut one, mut other) = (None, None);
    for expected in ["1", "2", "3"] {
        assert_eq!(engine.call(count, &mut one).unwrap().as_deref(), Some(expected));
    }
    assert_eq!(engine.call(count, &mut other).unwrap().as_deref(), Some("1"));
    for leak in [
        "leaked = 1",
        "globalThis.leaked = 1",
        "Array.prototype.leaked = 1",
        "Math.leaked = 1",
        "vars.leaked = 1",
        "host.get = 1",
        "Object.prototype.leaked = 1",
        "answer.leaked = 1",
    ] {
        let script = engine.compile(leak).unwrap();
        assert!(engine.call(script, &mut None).is_err(), "{leak}");
    }
    // What was thrown leaves the objects as they are, and they may outlive the engine.
    let throws = engine.compile("objects.n = 10; throw new TypeError('no')").unwrap();
    assert_eq!(engine.call(throws, &mut one).unwrap_err().to_string(), "line 1: TypeError: no");
    assert_eq!(engine.call(count, &mut one).unwrap().as_deref(), Some("11"));
    drop(engine);
    drop(one);
}

#[test]
fn a_call_ends_whatever_the_script_does() {
    let mut engine = engine();
    for endless in [
        "for (;;) {}",
        "while (true) { try { throw 1 } catch (e) {} }",
        "const again = () => Promise.resolve().then(again); again()",
        "/^(a+)+$/.test('a'.repeat(60) + 'b')",
        "function deep() { return deep() + 1 } deep()",
    ] {
        let script = engine.compile(endless).unwrap();
        let ended = engine.call(script, &mut None);
        assert!(ended.is_err() || endless.contains("Promise"), "{endless}: {ended:?}");
    }
    let endless = engine.compile("\nfor (;;) {}").unwrap();
    let thrown = engine.call(endless, &mut None).unwrap_err();
    assert!(thrown.message.contains("ran too long"), "{thrown}");
    let greedy = engine.compile("const all = []; for (;;) all.push(new Array(1e6).fill(1))").unwrap();
    let thrown = engine.call(greedy, &mut None).unwrap_err();
    assert!(thrown.message.contains("64 MiB"), "{thrown}");
    // And the next goes as if nothing had been.
    let fine = engine.compile("return 'x'.repeat(5)").unwrap();
    assert_eq!(engine.call(fine, &mut None).unwrap().as_deref(), Some("xxxxx"));
}

#[test]
fn what_was_put_off_is_done_before_the_call_ends() {
    let mut engine = engine();
    let script = engine.compile("(async () => { await null; vars.set('late', 'yes') })()").unwrap();
    engine.call(script, &mut None).unwrap();
    assert_eq!(engine.host().get("late").as_deref(), Some("yes"));
}

#[test]
fn what_cannot_be_run_is_told_with_its_place() {
    assert_eq!(check("const a = 1;\nreturn a;"), Ok(()));
    let wrong = check("const a = 1;\nconst b = ;\n").unwrap_err();
    assert_eq!((wrong.line, wrong.column > 0), (2, true), "{wrong:?}");
    assert!(wrong.message.starts_with("SyntaxError: "), "{wrong:?}");
    let wrong = check("let = 5 5").unwrap_err();
    assert!(wrong.line == 1 && wrong.column < 10, "{wrong:?}");
    assert!(check("while (true) {").is_err());
    assert!(engine().compile("return (").is_err());
    // What would break out of its function does not run for ever either.
    assert!(check("}); for (;;) {} (function () {").is_err());
}

#[test]
fn the_same_calls_give_the_same_values() {
    let drawn = || {
        let mut engine = engine();
        let script = engine.compile("return Math.random()").unwrap();
        (0..4).map(|_| engine.call(script, &mut None).unwrap().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(drawn(), drawn());
    assert_eq!(drawn(), ["0.125", "0.25", "0.375", "0.5"]);
}
