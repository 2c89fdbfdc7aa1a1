//! Any text ends in a translation or in mistakes: mangled scripts, deep ones, long ones.

use groovy::{Language, translate};
use proptest::prelude::*;

const LANGUAGES: [Language; 4] = [Language::Groovy, Language::BeanShell, Language::JavaScript, Language::Jexl];

const SCRIPT: &str = "import groovy.json.JsonSlurper\n@Field def x = [a: 1, 'b': [1, 2..3]]\ndef f(a, b = \"${x.a} $b\") { if (a ==~ /\\d+/) return a as int; b?.c*.d }\nfor (int i = 0; i < 3; i++) { switch (i) { case 1..2: vars.put(\"a${i}\", '${y}'); break; default: log.info 'x', i } }\ntry { prev.getResponseCode().collect { k, v -> k << v } } catch (Exception | Error e) { throw new Exception(e.message ?: '''none''') } finally { vars.z = $/a/b/$ }\n(1..3).each { x -> x ? y : -z }";

#[test]
fn every_cut_of_a_script_ends() {
    for at in 0..=SCRIPT.len() {
        for language in LANGUAGES {
            let _ = translate(&SCRIPT[..at], language);
            let _ = translate(&SCRIPT[at..], language);
        }
    }
}

#[test]
fn every_script_without_one_of_its_letters_ends() {
    for at in 0..SCRIPT.len() {
        let without = format!("{}{}", &SCRIPT[..at], &SCRIPT[at + 1..]);
        for language in LANGUAGES {
            let _ = translate(&without, language);
        }
    }
}

#[test]
fn what_is_deep_is_refused() {
    for open in [
        "(",
        "[",
        "{",
        "\"${",
        "!",
        "-",
        "if (a) ",
        "a ? ",
        "a = ",
        "[a: ",
        "f { ",
        "new A(",
        "(int) ",
        "x -> ",
        "a ** ",
        "for (;;) ",
        "\"${\"${",
    ] {
        for language in LANGUAGES {
            if language == Language::JavaScript {
                continue;
            }
            assert!(translate(&open.repeat(20_000), language).is_err(), "{open} in {language:?}");
        }
    }
}

#[test]
fn what_is_long_is_not_deep() {
    let long = format!("def s = 'a'{}", " + 'a'".repeat(20_000));
    assert!(translate(&long, Language::Groovy).is_ok());
    assert!(translate(&format!("vars{}", ".get('a')".repeat(20_000)), Language::Groovy).is_ok());
    assert!(translate(&"x".repeat(1 << 21), Language::Groovy).unwrap_err()[0].message.contains("bytes"));
    crate::runtime::groovy(&format!("(''{}).length()", " + 'ab'".repeat(3_000))).run().gives("6000");
}

proptest! {
    #[test]
    fn any_text_ends(text in "\\PC{0,200}") {
        for language in LANGUAGES {
            let _ = translate(&text, language);
        }
    }

    #[test]
    fn any_words_end(words in proptest::collection::vec(prop_oneof![
        Just("def"), Just("x"), Just("="), Just("("), Just(")"), Just("{"), Just("}"), Just("["), Just("]"), Just("->"), Just("'a'"), Just("\"${"), Just("\""),
        Just("if"), Just("for"), Just("in"), Just("as"), Just("int"), Just("?"), Just(":"), Just("."), Just("?."), Just("*"), Just("+"), Just("\n"), Just(";"),
        Just("1"), Just(".."), Just("new"), Just("Map"), Just("<"), Just(">"), Just("vars"), Just("@"), Just("/"), Just("$/"), Just("case"), Just("switch"),
        Just("try"), Just("catch"), Just("return"), Just(","), Just("::"), Just("++"), Just("import"), Just("else"), Just("while"), Just("void"), Just("${a}"),
    ], 0..40)) {
        for language in LANGUAGES {
            let _ = translate(&words.join(" "), language);
            let _ = translate(&words.concat(), language);
        }
    }
}
