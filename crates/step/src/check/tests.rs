use proptest::prelude::*;

use super::*;
use crate::answer::{Answer, Headers};

const HEADERS: &[u8] = b"Content-Type: application/json; charset=utf-8\r\nX-Cache: MISS\r\nX-Cache: HIT\r\nAge: 12\r\n\
    Set-Cookie: session=abc; Path=/\r\n";
const BODY: &[u8] = br#"{"ok": true, "id": 7, "price": "12.50", "name": "ann \"b\"", "none": null, "items": [{"n": 1}, {"n": 2}], "tags": ["a", "b"], "empty": []}"#;

fn answer(body: &[u8]) -> Answer<'_> {
    Answer { status: 201, headers: Headers::lines(HEADERS), body, elapsed: Nanos::from_millis(150) }
}

fn check(line: &str) -> Check {
    Check::parse(line).unwrap_or_else(|mistake| panic!("{line}: {mistake:?}"))
}

#[test]
fn checks_hold_or_are_broken_with_what_was_there() {
    // None where it holds, else what was there instead.
    let nothing = format!("nothing in {}", excerpt(BODY));
    let cases = [
        ("format json", None),
        ("format == json", None),
        ("format not json", Some("was JSON")),
        ("json $..n any == 2", None),
        ("json $..n any == 3", Some("1")),
        ("json $..n none == 3", None),
        ("json $..n none == 2", Some("2")),
        ("json $.tags any == b", None),
        ("json $.tags none == b", Some("[\"a\",\"b\"]")),
        ("json $.nothing none == 1", None),
        ("json $.nothing any == 1", Some(&*nothing)),
        ("json $..n any not == 1", None),
        ("jmespath items[].n any == 2", None),
        ("jmespath items[].n length 2", None),
        ("digest md5 length 32", None),
        ("message == Created", None),
        ("message length > 20", Some("Created")),
        ("headers contains \"Age: 12\"", None),
        ("headers starts with \"HTTP/1.1 201\"", None),
        ("headers_size > 100", None),
        ("total_size < 10 B", Some("280 bytes")),
        ("url == x", Some("empty")),
        ("unescaped contains \"id\"", None),
        ("variable token contains \"ok\"", None),
        ("body matches \"ok(?=\\\")\"", None),
        ("body not matches \"(?<=o)k\"", Some(&*excerpt(BODY))),
        ("status 201", None),
        ("status 2xx", None),
        ("status is 201", None),
        ("status == 200", Some("201")),
        ("status 200, 201", None),
        ("status 200-299", None),
        ("status 3xx, 400..499", Some("201")),
        ("status not 5xx", None),
        ("status != 201", Some("201")),
        ("status not 200, 201", Some("201")),
        ("status < 400", None),
        ("status >= 400", Some("201")),
        ("header Content-Type exists", None),
        ("header content-type contains json", None),
        ("header content-type == application/json", Some("application/json; charset=utf-8")),
        ("header content-type starts with application/json", None),
        ("header content-type ends with utf-8", None),
        ("header content-type matches ^application/(json|xml)", None),
        ("header X-Cache HIT", None),
        ("header X-Cache == STALE", Some("MISS")),
        ("header X-Cache not contains HIT", Some("HIT")),
        ("header X-Cache count 2", None),
        ("header Age < 60", None),
        ("header Age not < 60", Some("12")),
        ("header Location missing", None),
        ("header Location not exists", None),
        ("header Age missing", Some("12")),
        ("header Location == /x", Some("nothing in Content-Type, X-Cache, X-Cache, Age, Set-Cookie")),
        ("header Location != /x", Some("nothing in Content-Type, X-Cache, X-Cache, Age, Set-Cookie")),
        ("cookie session exists", None),
        ("cookie session length 3", None),
        ("cookie csrf exists", Some("nothing in session")),
        ("body exists", None),
        ("body contains \"\\\"ok\\\": true\"", None),
        ("body contains ok", None),
        ("body not contains error", None),
        ("body matches \"id\": [0-9]+", None),
        ("body matches \"\\\"id\\\": \\d+\"", None),
        ("body starts with {", None),
        ("body missing", Some(&*excerpt(BODY))),
        ("json $.ok true", None),
        ("json $.ok == false", Some("true")),
        ("json $.id == 7", None),
        ("json $.id 7.0", None),
        ("json $.id == \"7\"", Some("7")),
        ("json $.id != 8", None),
        ("json $.id > 6.5", None),
        ("json $.id <= 6", Some("7")),
        ("json $.price > 12", None),
        ("json $.price 12.50", None),
        ("json $.price 12.5", Some("\"12.50\"")),
        ("json $.name == ann \"b\"", None),
        ("json $.name \"ann \\\"b\\\"\"", None),
        ("json $.name length 7", None),
        ("json $.none exists", None),
        ("json $.none null", None),
        ("json $.absent exists", Some(&nothing)),
        ("json $.absent missing", None),
        ("json $.absent != 1", Some(&nothing)),
        ("json $.items length >= 2", None),
        ("json $.items length > 2", Some("[{\"n\":1},{\"n\":2}]")),
        ("json $.empty not length 0", Some("[]")),
        ("json $.items[*].n > 0", None),
        ("json $.items[*].n > 1", Some("1")),
        ("json $.items[*].n not > 2", None),
        ("json $.items[*] count 2", None),
        ("json $.absent count == 0", None),
        ("json $.items[0] {\"n\": 1}", None),
        ("json $.tags contains b", None),
        ("json $.tags contains c", Some("[\"a\",\"b\"]")),
        ("json $.items[?@.n == 2].n 2", None),
        ("json $..n count > 1", None),
        ("size > 100", None),
        ("size < 10 KiB", None),
        ("size <= 1kB", None),
        ("size < 0.05 KiB", Some(&*format!("{} bytes", BODY.len()))),
        ("time < 200ms", None),
        ("time <= 0.1s", Some("150ms")),
        ("time not > 1s", None),
    ];
    for (line, expected) in cases {
        let reading = Reading::new(answer(BODY));
        let broken = check(line).of(&reading).err();
        assert_eq!(broken.as_ref().map(|broken| broken.actual.as_str()), expected, "{line}");
    }
}

#[test]
fn pages_are_checked_by_selector_and_path() {
    let page = b"<h1 class=x>Hello <b>Ann</b></h1><ul><li>1<li>2<li>30</ul>";
    let cases = [
        ("css h1 == Hello Ann", None),
        ("css h1::attr(class) x", None),
        ("css \"ul > li\" count 3", None),
        ("css li < 10", Some("30")),
        ("css h2 missing", None),
        ("xpath //h1/b/text() Ann", None),
        ("xpath count(//li) == 3", None),
        ("xpath //li[. = '30'] exists", None),
        ("xpath \"//li[1] | //li[2]\" length 1", None),
        (
            "json $.a missing",
            Some("the body is not JSON: expected value at line 1 column 1 in <h1 class=x>Hello <b>Ann</b></h1><ul><li>1<li>2<li>30</ul>"),
        ),
    ];
    for (line, expected) in cases {
        let broken = check(line).of(&Reading::new(answer(page))).err();
        assert_eq!(broken.as_ref().map(|broken| broken.actual.as_str()), expected, "{line}");
    }
}

#[test]
fn a_broken_check_is_told_in_a_sentence() {
    let told = |line: &str, body: &[u8]| check(line).of(&Reading::new(answer(body))).unwrap_err();
    assert_eq!(told("status 3xx, 404 ", b"").to_string(), "status 3xx, 404: was 201");
    let broken = told("json $.items  length>0", b"{\"items\":[]}");
    assert_eq!(broken.to_string(), "json $.items length > 0: was []");
    assert_eq!((broken.check.as_str(), broken.expected.as_str()), ("json $.items length > 0", "length > 0"));
    assert_eq!(told("body contains welcome", b"").to_string(), "body contains welcome: was empty");
    assert_eq!(
        told("json $.ok true", b"<html>").to_string(),
        "json $.ok == true: the body is not JSON: expected value at line 1 column 1 in <html>"
    );
    let long = told("body == x", "y".repeat(1_000_000).as_bytes());
    assert!(long.actual.len() <= EXCERPT_BYTES_MAX);
}

#[test]
fn a_check_has_one_form_in_words_however_it_was_written() {
    for (line, words) in [
        ("status  == 200 ,2XX", "status 200, 2xx"),
        ("status 200..299", "status 2xx"),
        ("status != 5xx", "status not 5xx"),
        ("header  Age  is 12", "header Age == 12"),
        ("header Age absent", "header Age missing"),
        ("header Age not missing", "header Age exists"),
        ("json $.a[?@.b == 1] = x", "json $.a[?@.b == 1] == x"),
        ("json \"$.a\" x", "json $.a == x"),
        ("json $.a not x", "json $.a != x"),
        ("json $.a length 3", "json $.a length == 3"),
        ("css \"ul > li\" exists", "css \"ul > li\" exists"),
        ("body matches a\"b\\d", "body matches \"a\\\"b\\d\""),
        ("body contains \"a b\"", "body contains \"a b\""),
        ("time < 0.2s", "time < 200ms"),
        ("size == 10", "size == 10"),
        ("size <  10  KiB", "size < 10 KiB"),
        ("json $.code not-found", "json $.code == not-found"),
    ] {
        assert_eq!(check(line).words(), words);
        assert_eq!(check(words).words(), words, "read again");
    }
}

#[test]
fn the_two_halves_may_be_given_apart() {
    let subject = Subject::of_word("json", "$.items").unwrap();
    assert_eq!(Check::compile(&subject, "length > 0").unwrap().words(), "json $.items length > 0");
    assert_eq!(Check::compile(&Subject::Status, "2xx").unwrap().words(), "status 2xx");
    assert!(matches!(Check::compile(&Subject::Json("items".to_owned()), "exists"), Err(Mistaken::Subject(mistake)) if mistake.at == 0));
    assert!(matches!(Check::compile(&subject, "length x"), Err(Mistaken::Condition(mistake)) if mistake.at == 7));
    assert_eq!(Subject::of_word("weather", ""), None);
    for word in ["status", "header", "cookie", "body", "json", "css", "xpath", "size", "time"] {
        assert_eq!(Subject::of_word(word, "x").unwrap().word(), word);
        assert!(SUBJECTS.contains(word));
    }
}

fn open(line: &str) -> (Check, Blank) {
    let (check, blank) = Check::parse_open(line).unwrap_or_else(|mistake| panic!("{line}: {mistake:?}"));
    (check, blank.unwrap_or_else(|| panic!("{line} is not open")))
}

#[test]
fn an_open_check_compares_with_what_is_filled_in() {
    let nothing = format!("nothing in {}", excerpt(BODY));
    let cases = [
        ("json $.id == {{id}}", "7", None),
        ("json $.id {{id}}", "7.0", None),
        ("json $.id == {{id}}", "8", Some("7")),
        ("json $.id == {{id}}", "seven", Some("7")),
        ("json $.id == \"{{id}}\"", "7", Some("7")),
        ("json $.id != {{id}}", "8", None),
        ("json $.ok == {{truth}}", "true", None),
        ("json $.none == {{nothing}}", "null", None),
        ("json $.name == {{name}}", "ann \"b\"", None),
        ("json $.name == \"{{name}}\"", "ann \"b\"", None),
        ("json $.price == {{price}}", "12.50", None),
        ("json $.price == {{price}}", "12.5", Some("\"12.50\"")),
        ("json $.price > {{low}}", "12", None),
        ("json $.price > {{low}}", "13", Some("\"12.50\"")),
        ("json $.price > {{low}}", "cheap", Some("was not judged: what is filled in is no number")),
        ("json $.items length == {{count}}", "2", None),
        ("json $.items length {{count}}", "3", Some("[{\"n\":1},{\"n\":2}]")),
        ("json $.items length {{count}}", "", Some("was not judged: what is filled in is no whole number")),
        ("json $..n count > {{count}}", "1", None),
        ("json $..n count > {{count}}", "2", Some("2 found")),
        ("json $.tags contains {{tag}}", "b", None),
        ("json $.tags contains {{tag}}", "c", Some("[\"a\",\"b\"]")),
        ("json $.absent == {{id}}", "7", Some(&nothing)),
        ("json $.items[0] == {{item}}", "{\"n\": 1}", None),
        ("body contains {{name}}", "price", None),
        ("body contains \"price\\\": \\\"{{price}}\"", "price\": \"12", None),
        ("body not contains {{name}}", "price", Some(&*excerpt(BODY))),
        ("body matches {{name}}", "^.\"ok", None),
        ("body matches \"{{name}}\"", "xprice", Some(&*excerpt(BODY))),
        ("body matches {{name}}", "(a", Some("was not judged: what is filled in is no regular expression")),
        ("json $..n any == {{n}}", "2", None),
        ("json $..n none == {{n}}", "2", Some("2")),
        ("body contains {{name}}", "", Some("was not judged: what is filled in is empty, and everything contains that")),
        ("body starts with {{name}}", "{\"ok\"", None),
        ("body ends with {{name}}", "[]}", None),
        ("header Age == {{age}}", "12", None),
        ("header X-Cache == {{cache}}", "HIT", None),
        ("header Age < {{age}}", "12", Some("12")),
        ("cookie session == {{session}}", "abc", None),
        ("status {{status}}", "201", None),
        ("status == {{status}}", "404, 2xx", None),
        ("status not {{status}}", "201", Some("201")),
        ("status < {{status}}", "400", None),
        ("status {{status}}", "fine", Some("was not judged: what is filled in is no status")),
    ];
    for (line, filled, expected) in cases {
        let (check, _) = open(line);
        assert_eq!(check.words().matches("{{").count(), 1, "{line}");
        let broken = check.of_filled(&Reading::new(answer(BODY)), filled.as_bytes()).err();
        assert_eq!(broken.as_ref().map(|broken| broken.actual.as_str()), expected, "{line} with {filled}");
        // Filled in beforehand it is the same check, or there is none.
        match check.filled(filled) {
            Ok(closed) => {
                let known = closed.of(&Reading::new(answer(BODY))).err();
                assert_eq!(known.map(|broken| broken.actual), broken.map(|broken| broken.actual), "{line} with {filled}");
                assert_eq!(closed.words(), check.words());
            }
            Err(_) => assert!(expected.is_some_and(|expected| expected.starts_with("was not judged")), "{line} with {filled}"),
        }
    }
}

#[test]
fn an_open_check_that_is_broken_tells_what_was_filled_in() {
    let told = |line: &str, filled: &str| open(line).0.of_filled(&Reading::new(answer(BODY)), filled.as_bytes()).unwrap_err().to_string();
    assert_eq!(told("json $.id  =={{id}}", "8"), "json $.id == {{id}} (here 8): was 7");
    assert_eq!(told("json $.id > {{low}}", ""), "json $.id > {{low}} (here empty): was not judged: what is filled in is no number");
    assert!(told("body == {{text}}", &"y".repeat(1_000_000)).len() < 3 * EXCERPT_BYTES_MAX);
}

#[test]
fn the_blank_of_an_open_check_has_its_place() {
    for (line, text, is_verbatim) in [
        ("json $.id == {{id}} ", "{{id}}", true),
        ("  body contains \"a {{b}} c\"", "a {{b}} c", true),
        ("body contains \"{{choice \\\"a b\\\" c}}\"", "{{choice \"a b\" c}}", false),
        ("status {{status}}, 200", "{{status}}, 200", true),
    ] {
        let (_, blank) = open(line);
        assert_eq!((blank.text.as_str(), blank.is_verbatim), (text, is_verbatim), "{line}");
        assert!(!is_verbatim || line[blank.at..blank.at + blank.length] == *text, "{line}: {blank:?}");
    }
    let (check, blank) = Check::parse_open("json $.id == 7").unwrap();
    assert!(blank.is_none() && check.of(&Reading::new(answer(BODY))).is_ok());
    // Where nothing is filled in, braces are letters.
    assert!(Check::parse("body contains {{id}}").unwrap().of(&Reading::new(answer(b"a {{id}} b"))).is_ok());
    assert_eq!(Check::compile_open(&Subject::Body, "contains {{id}}").unwrap().1.unwrap().at, 9);
}

#[test]
fn what_cannot_be_filled_in_is_told() {
    for (line, at, message) in [
        ("json $.a[{{n}}] exists", 9, "where a value is looked for cannot be a template"),
        ("header {{name}} exists", 7, "where a value is looked for cannot be a template"),
        ("size < {{x}}", 7, "what the size is compared with cannot be a template"),
        ("time < {{x}}", 7, "what the time is compared with cannot be a template"),
        ("json $.a length != {{x}}", 9, "length knows no !="),
        ("body contains \"{{x}}\" b", 22, "nothing can follow here"),
    ] {
        let mistake = Check::parse_open(line).unwrap_err();
        assert_eq!((mistake.at, mistake.message.as_str()), (at, message), "{line}");
    }
}

#[test]
fn a_mistake_in_a_check_is_shown_at_its_place() {
    let cases = [
        ("", 0, "a check is missing here"),
        ("  weather fine", 2, "`weather` is nothing that can be checked"),
        ("status", 6, "a condition is missing"),
        ("status 20", 7, "`20` is no status"),
        ("status 200, ", 12, "a status is missing"),
        ("status 200,2x", 11, "`2x` is no status"),
        ("status < 5xx", 9, "this is no status"),
        ("status contains 2", 7, "`contains 2` is no status"),
        ("header", 6, "after header the name or path is missing"),
        ("header A:b exists", 8, "`:` cannot stand in the name of a header"),
        ("header Age", 10, "a condition is missing"),
        ("header Age exists now", 18, "nothing can follow here"),
        ("header Age ==", 13, "a value is missing"),
        ("header Age > old", 13, "this is no number"),
        ("header Age contains \"\"", 20, "the text is empty, and everything contains that"),
        ("header Age contains \"a", 20, "this quote does not end"),
        ("header Age contains \"a\" b", 24, "nothing can follow here"),
        ("header Age == \"\\x\"", 14, "this is no text in quotes as JSON writes it"),
        ("body matches a(b", 14, "unclosed group"),
        ("body matches \"a(b\"", 15, "unclosed group"),
        ("body length > 0", 5, "the body has no length"),
        ("json items exists", 5, "a JSONPath begins with $"),
        ("json $.a length many", 16, "this is no whole number"),
        ("json $.a length != 3", 9, "length knows no !="),
        ("css \"ul >\" exists", 9, "here an element is missing"),
        ("size < big", 7, "this is no size"),
        ("time 200ms", 5, "no two requests take the same time"),
        ("time < soon", 7, "the time 'soon' is not a time such as 10s, 250ms or 1m30s"),
    ];
    for (line, at, message) in cases {
        let mistake = Check::parse(line).unwrap_err();
        assert_eq!((mistake.at, mistake.message.as_str()), (at, message), "{line}");
    }
}

proptest! {
    #[test]
    fn any_line_is_a_check_that_reads_back_or_a_mistake_inside_it(line in prop_oneof![
        "\\PC{0,40}",
        "(status|header|cookie|body|json|jmespath|css|xpath|digest|variable|format|headers|message|url|size|total_size|time) (X|a|md5|\\$\\.a|\\$..b\\[0\\]|li|\"a b\"|)( |  )(any |none |)(not |)(exists|missing|contains|starts with|matches|length|count|==|!=|<|>=|)( |)(200|2xx|x|\"y\"|\"|10 KiB|1s|true|json|a.b|)",
    ]) {
        match Check::parse(&line) {
            Ok(check) => {
                let again = Check::parse(check.words());
                prop_assert_eq!(again.as_ref().map(Check::words), Ok(check.words()), "{}", line);
                let one = check.of(&Reading::new(answer(BODY)));
                prop_assert_eq!(one, again.unwrap().of(&Reading::new(answer(BODY))), "{}", line);
            }
            Err(mistake) => {
                prop_assert!(line.is_char_boundary(mistake.at) && line.is_char_boundary(mistake.at + mistake.length), "{:?}", mistake);
                prop_assert!(!mistake.pointed_out(&line).is_empty());
            }
        }
    }

    #[test]
    fn any_open_line_reads_back_or_is_a_mistake_inside_it(
        line in "(status|header|cookie|body|json|css|xpath|size|time) (X|\\$\\.a|li|\"a b\"|) (not |)(exists|contains|starts with|ends with|matches|length|count|==|!=|<|>=|) (\\{\\{x\\}\\}|\"a \\{\\{x\\}\\}\"|\"\\{\\{x\\}\\} b|7|\\{\\{)",
        filled in "\\PC{0,8}|[0-9.]{0,4}|[1-9]xx",
    ) {
        match Check::parse_open(&line) {
            Ok((check, blank)) => {
                let (again, same) = Check::parse_open(check.words()).unwrap();
                prop_assert_eq!(again.words(), check.words(), "{}", line);
                prop_assert_eq!(same.map(|blank| blank.text), blank.map(|blank| blank.text), "{}", line);
                let judged = check.of_filled(&Reading::new(answer(BODY)), filled.as_bytes());
                if let Ok(closed) = check.filled(&filled) {
                    prop_assert_eq!(closed.of(&Reading::new(answer(BODY))).is_ok(), judged.is_ok(), "{} with {}", line, filled);
                } else {
                    prop_assert!(judged.is_err(), "{} with {}", line, filled);
                }
            }
            Err(mistake) => {
                prop_assert!(line.is_char_boundary(mistake.at) && line.is_char_boundary(mistake.at + mistake.length), "{:?}", mistake);
            }
        }
    }

    #[test]
    fn any_body_is_judged_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
        for line in ["body == x", "json $..a > 1", "css a == x", "xpath //a == x", "body matches .*", "size < 1 KiB", "body contains x"] {
            if let Err(broken) = check(line).of(&Reading::new(answer(&body))) {
                prop_assert!(broken.actual.len() <= EXCERPT_BYTES_MAX);
                prop_assert!(!broken.to_string().chars().any(char::is_control));
            }
        }
    }
}
