use proptest::prelude::*;

use super::*;

const PAGE: &str = r#"<!doctype html><html><head><title> Shop </title><meta name=csrf content="m-1"></head><body>
    <form id=login class="box  wide" action="/login"><input type=hidden name=csrf value="t-42"><input name=user>
    <select name=lang><option value=de>German<option value=en selected>English</select></form>
    <ul class=items><li class="item first" data-id=7><a href="/p/7">Seven</a></li><li class=item data-id=8><a href="/p/8">Eight</a>
    <b>!</b></li><li data-id="9 a" lang="en-GB"><a href="https://x.test/p/9">Nine</a></li></ul><p></p><p>last</p></body></html>"#;

fn all(page: &str, selector: &str) -> Vec<String> {
    let mut found = Vec::new();
    let document = Document::read(page.as_bytes());
    let done = Selector::parse(selector).unwrap_or_else(|mistake| panic!("{selector}: {mistake:?}")).each(&document, &mut |text| {
        found.push(text.into_owned());
        ControlFlow::Continue(())
    });
    done.unwrap();
    found
}

#[test]
fn selectors_find_what_browsers_find() {
    let cases: [(&str, &[&str]); 46] = [
        ("title", &["Shop"]),
        ("TITLE::text", &["Shop"]),
        ("input[name=csrf]::attr(value)", &["t-42"]),
        ("form#login.box.wide > input[type='hidden'] ::attr(VALUE)", &["t-42"]),
        ("meta[name=\"csrf\"]::attr(content)", &["m-1"]),
        ("input::attr(value)", &["t-42"]),
        ("li a", &["Seven", "Eight", "Nine"]),
        ("ul>li>a", &["Seven", "Eight", "Nine"]),
        ("body > a", &[]),
        (".item", &["Seven", "Eight\n    !"]),
        (".item::line", &["Seven", "Eight !"]),
        ("body > ul::line", &["Seven Eight ! Nine"]),
        (".item.first", &["Seven"]),
        ("li:not(.item) a", &["Nine"]),
        ("li:not(.item, .other):not(#x)", &["Nine"]),
        ("li:first-child", &["Seven"]),
        ("li:last-child a::attr(href)", &["https://x.test/p/9"]),
        ("li:nth-child(2) b", &["!"]),
        ("li:nth-child(odd)", &["Seven", "Nine"]),
        ("li:nth-child(even) > a", &["Eight"]),
        ("li:nth-child(n+2) a", &["Eight", "Nine"]),
        ("li:nth-child(-n + 1)", &["Seven"]),
        ("li:nth-last-child(1)", &["Nine"]),
        ("p:nth-of-type(2)", &["last"]),
        ("p:last-of-type", &["last"]),
        ("p:first-of-type", &[""]),
        ("ul:only-of-type > li:first-of-type", &["Seven"]),
        ("a:only-child", &["Seven", "Nine"]),
        ("p:empty", &[""]),
        ("[data-id=7]::attr(class)", &["item first"]),
        ("[data-id~=a]", &["Nine"]),
        ("[lang|=en]", &["Nine"]),
        ("a[href^='/p/']::attr(href)", &["/p/7", "/p/8"]),
        ("a[href$=\"9\"]", &["Nine"]),
        ("a[href*='x.test']", &["Nine"]),
        ("a[href*='']", &[]),
        ("a[href*='X.TEST' i]", &["Nine"]),
        ("li + li a", &["Eight", "Nine"]),
        (".first ~ li:not([class])", &["Nine"]),
        ("form ~ p:last-child", &["last"]),
        ("a + b", &["!"]),
        ("option:checked", &["English"]),
        ("title, p:last-child", &["Shop", "last"]),
        (":root::attr(lang)", &[]),
        ("html:root > head > title", &["Shop"]),
        (":is(ul, ol) :where(a, b)", &["Seven", "Eight", "!", "Nine"]),
    ];
    for (selector, expected) in cases {
        assert_eq!(all(PAGE, selector), expected, "{selector}");
    }
}

#[test]
fn going_back_finds_the_ancestor_that_fits() {
    let page = "<div class=a><div class=b><div class=c><div class=b><p>x</p></div></div></div></div>";
    assert_eq!(all(page, ".a > .b p"), ["x"]);
    assert_eq!(all(page, ".a > .b > .c p"), ["x"]);
    assert_eq!(all(page, ".a > .c p"), [""; 0]);
    assert_eq!(all("<i></i><b></b><i></i><u></u><p>x</p>", "b + i ~ p"), ["x"]);
    assert_eq!(all("<i></i><u></u><i></i><p>x</p>", "u + i + p"), ["x"]);
}

#[test]
fn elements_are_found_by_their_texts_and_by_what_stands_in_them() {
    let page = "<body><p>a</p><a href=1>One</a><a href=2 data-x=y>Two <b>b  c</b></a><ul><li>1</li><li>22</li><li>3</li></ul>";
    for (selector, found) in [
        ("a:contains(two b c)", &["Two b  c"][..]),
        ("a:containsOwn(b)", &[]),
        ("a:containsOwn(TWO)", &["Two b  c"]),
        ("li:matches(^\\d$)", &["1", "3"]),
        ("a:matchesOwn(^Two$)", &["Two b  c"]),
        ("li:matches(a(b)c)", &[]),
        ("a:has(b)", &["Two b  c"]),
        ("a:not(:has(b))", &["One"]),
        ("body:has(> a) > p", &["a"]),
        ("ul:has(> b)", &[]),
        ("li:eq(1)", &["22"]),
        ("li:lt(2)", &["1", "22"]),
        ("li:gt(0)", &["22", "3"]),
        ("a[href!=1]", &["Two b  c"]),
        ("a[^data-]", &["Two b  c"]),
        ("[^data-x]:contains(c) > b", &["b  c"]),
    ] {
        assert_eq!(all(page, selector), found, "{selector}");
    }
    for (selector, at, message) in [
        ("a:contains()", 11, "the text is missing"),
        ("a:matches(b(c)", 10, "here a ) is missing"),
        ("a:matches(*)", 10, "repetition operator missing expression"),
        ("li:eq(x)", 6, "this is no position"),
    ] {
        let mistake = Selector::parse(selector).unwrap_err();
        assert_eq!((mistake.at, mistake.message.as_str()), (at, message), "{selector}");
    }
}

#[test]
fn a_mistake_in_a_selector_is_shown_at_its_place() {
    let cases = [
        ("", 0, "here an element is missing"),
        ("ul >", 4, "here an element is missing"),
        ("a,,b", 2, "here an element is missing"),
        ("a:hover", 1, "`:hover` is not understood here"),
        ("a[href", 6, "here a ] is missing"),
        ("a[=x]", 2, "an attribute's name is missing"),
        ("a[b=]", 4, "a value is missing"),
        ("a[b='x]", 4, "this quote does not end"),
        ("a.", 2, "a class is missing after the dot"),
        ("a#", 2, "an id is missing after #"),
        ("li:nth-child(x)", 13, "this is no position"),
        ("li:nth-child(99999999999)", 13, "this is no position"),
        ("li:not(a", 8, "here a ) is missing"),
        ("a::before", 1, "this is not understood here"),
        ("a::attr()", 8, "an attribute's name is missing"),
        ("a::text b", 8, "this is no part of a selector"),
        ("a ! b", 2, "here an element is missing"),
    ];
    for (selector, at, message) in cases {
        let mistake = Selector::parse(selector).unwrap_err();
        assert_eq!((mistake.at, mistake.message.as_str()), (at, message), "{selector}");
    }
    let deep = format!("{}a{}", ":not(".repeat(500), ")".repeat(500));
    assert!(Selector::parse(&deep).unwrap_err().message.contains("deep"));
    assert!(Selector::parse(&"a ".repeat(500)).unwrap_err().message.contains("in a row"));
    assert!(Selector::parse(&"a ".repeat(5000)).unwrap_err().message.contains("bytes"));
}

#[test]
fn a_search_that_would_take_for_ever_is_given_up() {
    let page = "<i></i>".repeat(100_000);
    let document = Document::read(page.as_bytes());
    let searched = Selector::parse("b ~ i").unwrap().each(&document, &mut |_| ControlFlow::Continue(()));
    assert_eq!(searched, Err(crate::html::TOO_LONG));
    let nested = format!("{}<p>x", "<div>".repeat(400));
    let selector = format!(".z {}p", "div ".repeat(100));
    assert_eq!(all(&nested, &selector), [""; 0], "and deep pages are not slow");
}

proptest! {
    #[test]
    fn any_text_is_a_selector_or_a_mistake_inside_it(text in prop_oneof![
        "\\PC*",
        "([a-z#.:>+~,()\\[\\]='\" ]|:not\\(|:nth-child\\(|::attr\\(|2n\\+1|\u{e4}){0,20}",
    ]) {
        match Selector::parse(&text) {
            Ok(selector) => {
                let document = Document::read(PAGE.as_bytes());
                let _ = selector.each(&document, &mut |_| ControlFlow::Continue(()));
            }
            Err(mistake) => {
                prop_assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length));
                prop_assert!(!mistake.pointed_out(&text).is_empty());
            }
        }
    }
}
