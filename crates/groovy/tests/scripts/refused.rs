//! What has no equal is told before anything runs: every mistake, with its line.

use groovy::{Language, translate};

#[track_caller]
fn refused(source: &str, language: Language, wanted: &[(usize, &str)]) {
    let mistakes = translate(source, language).expect_err(source);
    let found: Vec<(usize, &str)> = mistakes.iter().map(|mistake| (mistake.line, mistake.message.as_str())).collect();
    assert_eq!(found.len(), wanted.len(), "{source}\n{found:#?}");
    for ((line, message), (wanted_line, words)) in found.iter().zip(wanted) {
        assert!(line == wanted_line && message.contains(words), "line {wanted_line}, '{words}' is not {line}, '{message}'\n{source}");
    }
}

#[test]
fn all_of_it_at_once() {
    refused(
        "import org.apache.http.client.methods.HttpPost\ndef a = 1\nsampler.setDomain('x')\nThread.sleep(100)\nvars.put('a', 'b')\nnew HttpPost('http://x')\nprev.setSampleLabel('x')\nfoo(1)\nunknown + 1",
        Language::Groovy,
        &[
            (3, "`sampler.setDomain`: a request goes where its sampler says"),
            (4, "`Thread.sleep`: pauses are timers"),
            (6, "`new HttpPost()`: requests are samplers"),
            (7, "`prev.setSampleLabel`: requests keep their names"),
            (8, "`foo()`: there is no such method"),
            (9, "`unknown`: nothing gives it a value"),
        ],
    );
}

#[test]
fn one_by_one() {
    for (source, words) in [
        ("System.getenv('HOME')", "`System.getenv`: the environment"),
        ("System.exit(1)", "stopTest"),
        ("new File('out.txt').append('x')", "files are only read"),
        ("new File('out.txt') << 'x'", "`<<` to a file"),
        ("def f = new File('o'); f.write('x')", "`File.write`: files are only read"),
        ("new File(vars.get('name')).text", "this one is computed"),
        ("new FileWriter('x')", "files are not written"),
        ("new XmlSlurper().parseText('<a/>')", "XPath Extractor"),
        ("com.jayway.jsonpath.JsonPath.read('{}', '$')", "JSON Extractor"),
        ("javax.crypto.Cipher.getInstance('AES')", "encrypted"),
        ("'ls'.execute()", "programs and connections"),
        ("new URL('http://x').openConnection()", "programs and connections"),
        ("prev.setStartTime(1)", "times are measured"),
        ("log.shout('x')", "`log.shout`"),
        ("props.clear()", "`props.clear`"),
        ("vars.names", ""),
        ("UUID.make()", "`UUID.make`"),
        ("class A { }", "classes of one's own"),
        ("new Runnable() { void run() { } }", "classes of one's own"),
        ("sampler.setName('a')", "name the sampler `${variable}`"),
        ("ctx.getCurrentSampler().setProperty('a', 'b')", "put other values into variables"),
        ("sampler.getArguments().getProperty('a')", "`sampler.getArguments().getProperty`"),
        ("sampler.headerManager.clear()", "`sampler.getHeaderManager().clear`"),
        ("ctx.getEngine().register()", "how a test is carried out"),
        ("import static java.lang.Math.max\n1", "write the class before"),
        ("'${__RandomString(5,abc)}'", "set a variable to it before"),
        ("import com.mine.UUID\nUUID.randomUUID()", "`com.mine.UUID`"),
        ("new java.util.concurrent.LinkedBlockingQueue()", "no queues"),
        ("new com.mine.Date()", "`com.mine.Date`"),
        ("new java.io.File(vars.get('a')).text", "this one is computed"),
        ("evaluate('1')", "`evaluate()`"),
    ] {
        if words.is_empty() {
            assert!(translate(source, Language::Groovy).is_ok(), "{source}");
            continue;
        }
        let mistakes = translate(source, Language::Groovy).expect_err(source);
        assert!(mistakes.iter().any(|mistake| mistake.message.contains(words)), "'{words}' of {source}: {mistakes:#?}");
    }
}

#[test]
fn syntax_goes_on_at_the_next_statement() {
    refused(
        "def a = = 1\nvars.put('a', 'b')\nfoo)\nthis is no groovy at all ]\n1",
        Language::Groovy,
        &[(1, "`=` where a value"), (3, "`)` where"), (4, "")],
    );
    refused("def x = 'open\n1", Language::Groovy, &[(1, "not closed in its line")]);
    refused("/* open\n1", Language::Groovy, &[(1, "a comment that is not closed")]);
    refused("int a = 1\nint b = 2;", Language::BeanShell, &[(2, "`int` where `;` is expected")]);
}

#[test]
fn other_languages() {
    refused(
        "var x = 1;\nsampler.setPort(1);\njavax.swing.JFrame.show()",
        Language::JavaScript,
        &[(2, "`sampler.setPort`"), (3, "`javax.swing.JFrame`")],
    );
    refused("new('java.util.Date')", Language::Jexl, &[(1, "")]);
}
