use plan::Nanos;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::answer::Headers;

const HEADERS: &[u8] = b"Content-Type: text/html\r\nLocation:  /orders/7 \r\nX-Id: 1\r\nx-id: 2\r\n\
    Set-Cookie: session=abc; Path=/\r\nSet-Cookie: lang=de\r\nset-cookie: session=def\r\n";

fn reading(body: &[u8]) -> Reading<'_> {
    Reading::new(Answer { status: 201, headers: Headers::lines(HEADERS), body, elapsed: Nanos::ZERO })
}

fn extracted(kind: Kind, text: &str, which: Which, body: &[u8]) -> Result<Value, Missing> {
    let mut extractor = Extractor::compile(kind, text).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}")).taking(which);
    let reading = reading(body);
    let value = extractor.of(&reading);
    // Written it is the same, twice in a row.
    for _ in 0..2 {
        let mut written = b"before".to_vec();
        let wrote = extractor.write(&reading, &mut written);
        assert_eq!(wrote.err(), value.as_ref().err().cloned(), "{text}");
        let expected = value.as_ref().map_or(Cow::Borrowed(""), text_of);
        assert_eq!(String::from_utf8_lossy(&written), format!("before{expected}"), "{text}");
    }
    value
}

const ORDER: &[u8] = br#"{"id": 7, "token": "t-42", "none": null, "items": [{"sku": "a", "price": 2.5}, {"sku": "b", "price": 1e3}],
    "big": 18446744073709551615, "text": "\u00e4\"", "ok": true}"#;
const PAGE: &[u8] = b"<title> Shop </title><form><input name=csrf value='c-1'><a href=/1>One</a><a href=/2>Two</a>";

#[test]
fn what_is_looked_for_may_change_with_each_answer_and_come_again() {
    let mut extractor = Extractor::compile(Kind::Regex, "x(.)").unwrap();
    let reading = reading(b"x1 y2 z3");
    for (text, value) in [("x(.)", "1"), (" y(.) ", "2"), ("x(.)", "1"), ("z(.)", "3"), ("y(.)", "2")] {
        extractor.seek(text).unwrap();
        assert_eq!(extractor.of(&reading), Ok(json!(value)), "{text}");
    }
    assert!(extractor.seek("(").is_err());
    assert_eq!(extractor.of(&reading), Ok(json!("2")), "it looks for what it looked for");
    for number in 0..100 {
        extractor.seek(&format!("x(.)|{number}")).unwrap();
    }
    assert_eq!((extractor.of(&reading), extractor.before.len()), (Ok(json!("1")), BEFORE_MAX));
}

#[test]
fn values_are_found_in_every_part_of_an_answer() {
    use Kind::{Body, Cookie, Css, Digest, Header, JmesPath, JsonPath, Regex, Status, XPath};
    let cases: [(Kind, &str, &[u8], Value); 35] = [
        (JsonPath, "$.token", ORDER, json!("t-42")),
        (JsonPath, " $.id ", ORDER, json!(7)),
        (JsonPath, "$['items'][1].price", ORDER, json!(1e3)),
        (JsonPath, "$.items[-1].sku", ORDER, json!("b")),
        (JsonPath, "$.items[?@.price < 100].sku", ORDER, json!("a")),
        (JsonPath, "$.items[?search(@.sku, '[b-z]')].sku", ORDER, json!("b")),
        (JsonPath, "$..sku", ORDER, json!("a")),
        (JsonPath, "$.none", ORDER, Value::Null),
        (JsonPath, "$.items[0]", ORDER, json!({"sku": "a", "price": 2.5})),
        (JsonPath, "$.big", ORDER, json!(18_446_744_073_709_551_615_u64)),
        (JsonPath, "$.text", ORDER, json!("\u{e4}\"")),
        (JsonPath, "$", b"5", json!(5)),
        (Regex, "\"token\": *\"([^\"]*)\"", ORDER, json!("t-42")),
        (Regex, "t-[0-9]+", ORDER, json!("t-42")),
        (Regex, "x-(\\d)|t-(\\d)", ORDER, json!("4")),
        (Regex, "(x)?t-4", ORDER, json!("t-4")),
        (Regex, "b(.*)", b"a\nb\xffc\n", json!("")),
        (Regex, "(?-u)b(.*)", b"a\nb\xffc\n", json!("\u{fffd}c")),
        (Regex, "\"sku\": \"(.)(?=\", \"price\": 1)", ORDER, json!("b")),
        (Regex, "(\\d)\\1", ORDER, json!("4")),
        (JsonPath, "$.items.length()", ORDER, json!(2)),
        (JmesPath, "items[?price > `100`].sku", ORDER, json!("b")),
        (JmesPath, "{n: id}", ORDER, json!({"n": 7})),
        (Digest, "md5", b"ok", json!("444bcb3a3fcf8389296c49467f27e1d6")),
        (Header, "location", b"", json!("/orders/7")),
        (Header, "X-ID", b"", json!("1")),
        (Cookie, "lang", b"", json!("de")),
        (Cookie, "session", b"", json!("abc")),
        (Css, "input[name=csrf]::attr(value)", PAGE, json!("c-1")),
        (Css, "a", PAGE, json!("One")),
        (XPath, "//input[@name='csrf']/@value", PAGE, json!("c-1")),
        (XPath, "count(//a)", PAGE, json!(2)),
        (XPath, "count(//a) = 2", PAGE, json!(true)),
        (Body, "", b" all \xff", json!(" all \u{fffd}")),
        (Status, "", b"", json!(201)),
    ];
    for (kind, text, body, expected) in cases {
        assert_eq!(extracted(kind, text, Which::First, body), Ok(expected), "{} {text}", kind.word());
    }
}

#[test]
fn other_matches_than_the_first_may_be_taken() {
    let cases = [
        (Kind::JsonPath, "$..sku", Which::Last, json!("b")),
        (Kind::JsonPath, "$..sku", Which::Nth(1), json!("b")),
        (Kind::JsonPath, "$..sku", Which::Every, json!(["a", "b"])),
        (Kind::JsonPath, "$..sku", Which::Count, json!(2)),
        (Kind::JsonPath, "$..absent", Which::Count, json!(0)),
        (Kind::JsonPath, "$..price", Which::Joined, json!("2.5,1000.0")),
        (Kind::JmesPath, "items[].sku", Which::Every, json!(["a", "b"])),
        (Kind::Regex, "\"sku\": \"(.)\"", Which::Every, json!(["a", "b"])),
        (Kind::Header, "x-id", Which::Last, json!("2")),
        (Kind::Cookie, "session", Which::Every, json!(["abc", "def"])),
    ];
    for (kind, text, which, expected) in cases {
        assert_eq!(extracted(kind, text, which, ORDER), Ok(expected), "{text} {which:?}");
    }
    assert_eq!(extracted(Kind::Css, "a", Which::Every, PAGE), Ok(json!(["One", "Two"])));
    assert_eq!(extracted(Kind::XPath, "//a/@href", Which::Last, PAGE), Ok(json!("/2")));
    let many = "a".repeat(EVERY_MAX + 10);
    let every = extracted(Kind::Regex, "a", Which::Every, many.as_bytes()).unwrap();
    assert_eq!(every.as_array().unwrap().len(), EVERY_MAX);
}

#[test]
fn one_of_several_is_drawn_and_groups_are_put_together() {
    let mut any = Extractor::compile(Kind::Regex, "(\\w+)=(\\d)").unwrap().taking(Which::Random).writing(Some("$2$1")).unwrap();
    let reading = reading(b"a=1 b=2 c=3");
    let mut drawn = |place: u64| {
        let mut out = Vec::new();
        any.write_drawn(&reading, &mut out, |count| {
            assert_eq!(count, 3);
            place
        })
        .unwrap();
        String::from_utf8(out).unwrap()
    };
    assert_eq!([drawn(0), drawn(2), drawn(9)], ["1a", "3c", "3c"]);
    let mut none = Extractor::compile(Kind::Css, "h1").unwrap().taking(Which::Random);
    assert!(none.write_drawn(&reading, &mut Vec::new(), |_| unreachable!()).is_err());
    assert!(Extractor::compile(Kind::Css, "h1").unwrap().writing(Some("$1")).is_err());
    let missing = Extractor::compile(Kind::Regex, "a(.)").unwrap().writing(Some("$2")).unwrap_err();
    assert_eq!((missing.at, missing.message.as_str()), (0, "the regular expression has no group 2"));
}

#[test]
fn a_null_is_a_value_or_nothing_as_one_wants() {
    let body = b"{\"a\": null, \"b\": [null, 1]}";
    let written = |path: &str, which: Which| {
        let mut extractor = Extractor::compile(Kind::JsonPath, path).unwrap().taking(which).without_null(true);
        let (reading, mut out) = (reading(body), Vec::new());
        let wrote = extractor.write(&reading, &mut out).map_err(|missing| missing.to_string());
        assert_eq!(extractor.of(&reading).is_ok(), wrote.is_ok(), "{path}");
        wrote.map(|()| String::from_utf8(out).unwrap())
    };
    assert_eq!(extracted(Kind::JsonPath, "$.a", Which::First, body), Ok(Value::Null));
    assert!(written("$.a", Which::First).unwrap_err().starts_with("json $.a found null in "), "{:?}", written("$.a", Which::First));
    assert!(written("$.b[*]", Which::First).is_err() && written("$.b[*]", Which::Nth(0)).is_err());
    assert_eq!((written("$.b[*]", Which::Nth(1)), written("$.b[*]", Which::Last)), (Ok("1".to_owned()), Ok("1".to_owned())));
    assert_eq!(written("$.b[*]", Which::Every), Ok("[null,1]".to_owned()));
}

#[test]
fn what_is_not_there_is_told_with_what_was() {
    let cases: [(Kind, &str, Which, &[u8], &str); 11] = [
        (
            Kind::JsonPath,
            "$.token",
            Which::First,
            b"{\"error\":\"no such user\"}",
            "json $.token found nothing, or the path is wrong (the answer has the keys error), in {\"error\":\"no such user\"}",
        ),
        (Kind::JsonPath, "$..sku", Which::Nth(2), b"[{\"sku\":1}]", "json $..sku found only 1 in [{\"sku\":1}]"),
        (Kind::JsonPath, "$.a", Which::Every, b"[]", "json $.a found nothing, or the path is wrong (the answer is a list of 0), in []"),
        (
            Kind::JsonPath,
            "$.user.name.first",
            Which::First,
            b"{\"user\":{\"id\":7,\"mail\":\"a\"}}",
            "json $.user.name.first found nothing, or the path is wrong ('user' has the keys id, mail), in {\"user\":{\"id\":7,\"mail\":\"a\"}}",
        ),
        (Kind::JsonPath, "$.a", Which::Count, b"<p>", "json $.a: the body is not JSON: expected value at line 1 column 1 in <p>"),
        (Kind::JsonPath, "$.a", Which::First, b"", "json $.a: the body is empty"),
        (Kind::Regex, "id=(\\d+)", Which::First, b"no\n id", "regex id=(\\d+) found nothing in no id"),
        (
            Kind::Header,
            "ETag",
            Which::First,
            b"",
            "header ETag found nothing in Content-Type, Location, X-Id, x-id, Set-Cookie, Set-Cookie, set-cookie",
        ),
        (Kind::Cookie, "csrf", Which::First, b"", "cookie csrf found nothing in session, lang, session"),
        (Kind::Css, "h1", Which::First, b"<h2>", "css h1 found nothing in <h2>"),
        (Kind::XPath, "string(//h1)", Which::First, b"<h2>", "xpath string(//h1) found nothing in <h2>"),
    ];
    for (kind, text, which, body, expected) in cases {
        assert_eq!(extracted(kind, text, which, body).unwrap_err().to_string(), expected);
    }
    let missing = extracted(Kind::Regex, "y", Which::First, "x".repeat(1_000_000).as_bytes()).unwrap_err();
    assert!(missing.found.len() <= crate::check::EXCERPT_BYTES_MAX);
}

#[test]
fn a_mistake_in_an_expression_is_shown_at_its_place() {
    let cases = [
        (Kind::JsonPath, "items[0]", 0, 8, "a JSONPath begins with $"),
        (Kind::JsonPath, "", 0, 0, "a JSONPath begins with $"),
        (Kind::Regex, "id=(\\d+", 3, 1, "unclosed group"),
        (Kind::Regex, "\u{e4}[z-a]", 3, 3, "invalid character class range, the start must be <= the end"),
        (Kind::Regex, "(?:a{1000}){10000}", 0, 18, "compiled, the regular expression is larger than 4 MiB"),
        (Kind::Header, " ", 0, 1, "the name of a header is missing"),
        (Kind::Header, "X Y", 1, 1, "` ` cannot stand in the name of a header"),
        (Kind::Header, "Location:", 8, 1, "`:` cannot stand in the name of a header"),
        (Kind::Cookie, "a=b", 1, 1, "`=` cannot stand in the name of a cookie"),
        (Kind::Css, "ul >", 4, 0, "here an element is missing"),
        (Kind::XPath, "//a]", 3, 1, "this is no part of the path"),
    ];
    for (kind, text, at, length, message) in cases {
        let mistake = Extractor::compile(kind, text).unwrap_err();
        assert_eq!((mistake.at, mistake.length, mistake.message.as_str()), (at, length, message), "{text}");
    }
    for (text, least) in [("$.items[", 7), ("$.a b", 1), ("$[?@.a ==]", 1), ("$..", 1)] {
        let mistake = Extractor::compile(Kind::JsonPath, text).unwrap_err();
        assert!(mistake.at >= least && mistake.at <= text.len(), "{text}: {mistake:?}");
    }
    for text in
        ["$[?(".to_owned() + &"(".repeat(2000), "$[?".to_owned() + &"!".repeat(2000), "$".to_owned() + &"..a".repeat(5), "$".repeat(5000)]
    {
        assert!(Extractor::compile(Kind::JsonPath, &text).is_err());
    }
}

#[test]
fn hostile_answers_are_searched_in_bounded_time() {
    let bomb = "a".repeat(100_000) + "!";
    assert!(extracted(Kind::Regex, "(a+)+$", Which::First, bomb.as_bytes()).is_err());
    assert!(extracted(Kind::Regex, "(a|a)*b", Which::First, bomb.as_bytes()).is_err());
    let deep = "{\"a\":".repeat(100) + "1" + &"}".repeat(100);
    assert_eq!(extracted(Kind::JsonPath, "$..a..a..a", Which::Count, deep.as_bytes()).map(|count| count.as_u64() > Some(1000)), Ok(true));
    let deeper = "[".repeat(1_000_000);
    assert!(extracted(Kind::JsonPath, "$..*", Which::First, deeper.as_bytes()).unwrap_err().reason.contains("recursion limit"));
    let heavy = format!("{{\"a\":[\"{}\"]}}", "x".repeat(VALUE_BYTES_MAX));
    for (kind, text) in [(Kind::JsonPath, "$.a"), (Kind::JsonPath, "$..*"), (Kind::Regex, "(?s).*"), (Kind::Body, "")] {
        for which in [Which::First, Which::Last, Which::Every] {
            let missing = extracted(kind, text, which, heavy.as_bytes()).unwrap_err();
            assert_eq!(missing.reason, "found more than 1 MiB, which is not kept", "{text} {which:?}");
        }
        assert!(extracted(kind, text, Which::Count, heavy.as_bytes()).is_ok());
    }
    let long = format!("X: {}\r\nY: 1\r\n", "x".repeat(100_000));
    let answer = Answer { status: 200, headers: Headers::lines(long.as_bytes()), body: b"", elapsed: Nanos::ZERO };
    let found = Extractor::compile(Kind::Header, "y").unwrap().of(&Reading::new(answer));
    assert_eq!(found, Ok(json!("1")));
}

#[test]
fn a_value_is_written_as_text_or_as_json() {
    for (value, expected) in [
        (json!("a\"b"), "a\"b"),
        (json!(7), "7"),
        (json!(true), "true"),
        (Value::Null, "null"),
        (json!({"a": [1, "x"]}), "{\"a\":[1,\"x\"]}"),
    ] {
        assert_eq!(text_of(&value), expected);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_searched_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..200), head in proptest::collection::vec(any::<u8>(), 0..100)) {
        let answer = Answer { status: 200, headers: Headers::lines(&head), body: &body, elapsed: Nanos::ZERO };
        let reading = Reading::new(answer);
        for (kind, text) in [(Kind::JsonPath, "$..a"), (Kind::Regex, "(a)|b"), (Kind::Header, "a"), (Kind::Cookie, "a"), (Kind::Css, "a b"), (Kind::XPath, "//a"), (Kind::Body, "")] {
            for which in [Which::First, Which::Last, Which::Nth(1), Which::Every, Which::Count] {
                if let Err(missing) = Extractor::compile(kind, text).unwrap().taking(which).of(&reading) {
                    prop_assert!(missing.found.len() <= crate::check::EXCERPT_BYTES_MAX);
                    prop_assert!(!missing.to_string().chars().any(char::is_control));
                }
            }
        }
    }

    #[test]
    fn any_text_is_an_expression_or_a_mistake_inside_it(text in "\\PC{0,40}|[$.@?\\[\\]()'!*a-c0-9:, <=-]{0,30}") {
        for kind in Kind::ALL {
            if let Err(mistake) = Extractor::compile(kind, &text) {
                prop_assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length));
                prop_assert!(!mistake.pointed_out(&text).is_empty());
            }
        }
    }
}
