use proptest::prelude::*;

use super::*;

const PAGE: &str = r#"<!doctype html><html><head><title> Shop </title></head><body>
    <form id=login action="/login"><input type=hidden name=csrf value="t-42"><input name=user></form>
    <ul><li data-id=7><a href="/p/7">Seven</a> <b>7.50</b></li><li data-id=8><a href="/p/8">Eight</a> <b>8.25</b></li>
    <li data-id=9><a href="/p/9">Nine  and more</a></li></ul><table><tr><td>1</td><td>2</td></tr></table></body></html>"#;

pub(super) fn shown(page: &str, path: &str) -> String {
    let document = Document::read(page.as_bytes());
    match XPath::parse(path).unwrap_or_else(|mistake| panic!("{path}: {mistake:?}")).find(&document) {
        Ok(XPathResult::Texts(texts)) => texts.join("|"),
        Ok(XPathResult::Text(text)) => format!("text {text}"),
        Ok(XPathResult::Number(number)) => format!("number {}", text_of_number(number)),
        Ok(XPathResult::Truth(truth)) => truth.to_string(),
        Err(words) => words.to_owned(),
    }
}

#[test]
fn paths_find_what_xpath_says() {
    let cases = [
        ("//input[@name='csrf']/@value", "t-42"),
        ("//INPUT[@NAME=\"csrf\"]/attribute::value", "t-42"),
        ("/html/head/title", "Shop"),
        ("/html/head/title/text()", "Shop"),
        ("//title/..//title", "Shop"),
        ("//li/a", "Seven|Eight|Nine  and more"),
        ("//li[2]/a", "Eight"),
        ("//li[last()]/a/@href", "/p/9"),
        ("//li[position()>1]/a", "Eight|Nine  and more"),
        ("(//li/a)[1]", "Seven"),
        ("(//li/a)[last()]/@href", "/p/9"),
        ("//li[b]/@data-id", "7|8"),
        ("//li[not(b)]/@data-id", "9"),
        ("//li[b > 8]/a", "Eight"),
        ("//li[@data-id='7' or @data-id='9']/a", "Seven|Nine  and more"),
        ("//li[@data-id>=8 and b]/a", "Eight"),
        ("//a[contains(@href, '/p/') and starts-with(., 'S')]", "Seven"),
        ("//a[normalize-space()='Nine and more']/@href", "/p/9"),
        ("//a[text()='Eight']/ancestor::li/@data-id", "8"),
        ("//b/preceding-sibling::a", "Seven|Eight"),
        ("//li[@data-id=7]/following-sibling::li[1]/@data-id", "8"),
        ("//li[@data-id=9]/preceding-sibling::li[1]/@data-id", "8"),
        ("//li[@data-id=9]/preceding-sibling::li/@data-id", "7|8"),
        ("//form/following::td", "1|2"),
        ("//table/preceding::title", "Shop"),
        ("//table/tbody/tr/td[2]", "2"),
        ("//td/ancestor-or-self::*[last()]/@lang", ""),
        ("//input/@*", "hidden|csrf|t-42|user"),
        ("//form/@id | //li[1]/@data-id", "login|7"),
        ("//*[@id='login']/input[2]/@name", "user"),
        ("//li/descendant::b/self::b", "7.50|8.25"),
        ("//nothing", ""),
        ("count(//li)", "number 3"),
        ("sum(//b)", "number 15.75"),
        ("count(//li) * 2 + 1 - 10 div 4", "number 4.5"),
        ("7 mod 4", "number 3"),
        ("-count(//li)", "number -3"),
        ("string(//li[2]/a)", "text Eight"),
        ("concat('id=', //li/@data-id, ';')", "text id=7;"),
        ("substring-after(//form/@action, '/')", "text login"),
        ("substring-before('a-b', '-')", "text a"),
        ("substring('12345', 2, 3)", "text 234"),
        ("substring('12345', 1.5, 2.6)", "text 234"),
        ("substring('12345', 0 div 0)", "text "),
        ("translate('2,5', ',', '.')", "text 2.5"),
        ("translate('abc', 'b', '')", "text ac"),
        ("string-length('äöü')", "number 3"),
        ("number('1e3')", "number NaN"),
        ("round(2.5) + floor(-1.5) + ceiling(1.2)", "number 3"),
        ("1 div 0", "number Infinity"),
        ("boolean(//li)", "true"),
        ("count(//li) = 3", "true"),
        ("//li/@data-id = 8", "true"),
        ("//li/@data-id != 8", "true"),
        ("not(//li/@data-id = 8)", "false"),
        ("//b = //a", "false"),
        ("true() and not(false())", "true"),
        ("name(//form/*)", "text input"),
        ("local-name(//form/@*[2])", "text action"),
        ("'a' < 'b'", "false"),
        (".5 + 1.", "number 1.5"),
        ("//@href[../../@data-id=8]", "/p/8"),
    ];
    for (path, expected) in cases {
        assert_eq!(shown(PAGE, path), expected, "{path}");
    }
}

#[test]
fn positions_count_among_siblings_unless_the_whole_is_in_parentheses() {
    let page = "<ul><li>1<li>2</ul><ul><li>3<li>4</ul>";
    assert_eq!(shown(page, "//li[1]"), "1|3");
    assert_eq!(shown(page, "(//li)[1]"), "1");
    assert_eq!(shown(page, "//li[2][1]"), "2|4");
    assert_eq!(shown(page, "//ul[2]/li[last()]"), "4");
    assert_eq!(shown(page, "//li[count(preceding::li) = 2]"), "3");
}

#[test]
fn a_mistake_in_a_path_is_shown_at_its_place() {
    let cases = [
        ("", 0, "here the name of an element is missing"),
        ("//", 2, "here the name of an element is missing"),
        ("//a[", 4, "here the name of an element is missing"),
        ("//a[@b='c", 7, "this quote does not end"),
        ("//a[1", 5, "here a ] is missing"),
        ("//a]", 3, "this is no part of the path"),
        ("//a[contains(.)]", 4, "contains() takes 2 arguments, not 1"),
        ("//a[tokenize(., 'x')]", 4, "there is no function tokenize()"),
        ("//a/sibling::b", 4, "there is no axis sibling"),
        ("//a[$x]", 4, "variables are not understood here"),
        ("count('x')", 0, "count() takes a path"),
        ("//a | 'x'", 4, "only paths can be joined by |"),
        ("'x'/a", 3, "only what a path finds has parts"),
        ("//a#b", 3, "`#` is no part of a path"),
        ("//comment()", 2, "this finds no nodes"),
    ];
    for (path, at, message) in cases {
        let mistake = XPath::parse(path).unwrap_err();
        assert_eq!((mistake.at, mistake.message.as_str()), (at, message), "{path}");
    }
    for deep in ["(".repeat(2000), "-".repeat(2000), "a[".repeat(2000), "not(".repeat(1000)] {
        assert!(XPath::parse(&deep).unwrap_err().message.contains("deep"), "{deep}");
    }
    assert!(XPath::parse(&"1+".repeat(2000)).unwrap_err().message.contains("operators"));
}

#[test]
fn a_search_that_would_take_for_ever_is_given_up() {
    let page = "<i>x</i>".repeat(50_000);
    assert_eq!(shown(&page, "//i[count(following::i) > 5]"), TOO_LONG);
    assert_eq!(shown(&page, "//i[. = //b or . != 'x']"), TOO_LONG);
    let nested = format!("{}<p>x", "<div>".repeat(400));
    assert_eq!(shown(&nested, "count(//div//div//div)"), "number 398");
}

proptest! {
    #[test]
    fn any_text_is_a_path_or_a_mistake_inside_it(text in prop_oneof![
        "\\PC*",
        "(//|/|@|\\[|\\]|\\(|\\)|\\*|\\.\\.|\\.|li|a|::| and | or |=|<|-|\\||1|'x'|text\\(\\)|last\\(\\)|count|not|,|following::|preceding::){0,15}",
    ]) {
        match XPath::parse(&text) {
            Ok(path) => {
                let _ = path.find(&Document::read(PAGE.as_bytes()));
            }
            Err(mistake) => {
                prop_assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length));
                prop_assert!(!mistake.pointed_out(&text).is_empty());
            }
        }
    }
}
