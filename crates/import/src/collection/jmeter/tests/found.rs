//! What functions look for, in answers and in files.

use super::*;

fn extractor(name: &str) -> String {
    element("RegexExtractor", "x", &[("RegexExtractor.refname", name), ("RegexExtractor.regex", "(.)")], &[])
}

/// What is done where a sampler sends this, behind one that takes `t`.
fn around(text: &str) -> String {
    outline_of(&[get("x", "/x", &[extractor("t")]), get("a", &format!("/{text}"), &[])])
}

#[test]
fn what_a_function_finds_in_a_variable_is_computed_before() {
    assert_eq!(
        around("${__regexFunction(b(.),$1$,,,none,,t)}"),
        "x, matches_1=find({{t}}, \"b(.)\"),match_2=if(count({{matches_1}}) > 0, item({{matches_1}}, 0), none), a"
    );
    let named = around("${__regexFunction(b(.)(c),<$2$-$0$>,3,,,m,t)}/${m_matchNr}/${m_g2}/${m_g7}");
    for part in [
        "matches_1=find({{t}}, \"b(.)(c)\", \"<$2-$0>\")",
        "m=if(count({{matches_1}}) > 2, item({{matches_1}}, 2), \"\")",
        "m_matchNr=count({{matches_1}})",
        "m_g2=if(count({{matches_1}}) > 2, item(find({{t}}, \"b(.)(c)\", \"$2\"), 2), \"${m_g2}\")",
    ] {
        assert!(named.contains(part), "{part} in {named}");
    }
    let all = around("${__regexFunction(b(.),$1$,ALL,-,,,t)}");
    assert!(all.contains("match_2=if(count({{matches_1}}) > 0, join({{matches_1}}, \"-\"), \"\")"), "{all}");
    let drawn = around("${__regexFunction(b(.),$1$,RAND,,,,t)}");
    assert!(drawn.contains("place_2=if(count({{matches_1}}) > 0, {{random 0 9007199254740991}} % count({{matches_1}}), 0)"), "{drawn}");
    let part = around("${__regexFunction(b(.),$1$,0.5,,,,t)}");
    assert!(part.contains("place_2=int(count({{matches_1}}) * 0.5 - 0.5)"), "{part}");
    let open = around("${__regexFunction(${t}=(.),$1$,,,,,t)}");
    assert!(open.contains("matches_1=find({{t}}, \"{{t}}=(.)\")"), "{open}");
    assert!(around("${__regexFunction([b,$1$,,,,,t)}").contains("is not understood here"));
    assert!(around("${__regexFunction(b,$1$,x,,,,t)}").contains("neither a number from 1, RAND nor ALL"));
    assert_eq!(around("${__regexFunction(b,$0$,,,none,,nobody)}"), "x, match_1=none, a");
}

#[test]
fn a_function_that_looks_at_the_answer_before_has_it_kept() {
    let (made, left) = import(&plan_of(&[], &[group(&[], &[get("x", "/x", &[]), get("a", "/${__regexFunction(b(.),$1$)}", &[])])]));
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(
        outline(&made.work.journeys[0].items),
        "x, matches_1=find({{answer_before}}, \"b(.)\"),match_2=if(count({{matches_1}}) > 0, item({{matches_1}}, 0), \"\"), a"
    );
    let taken: Vec<&str> = made.work.steps()[0].extractions.iter().map(|taken| taken.variable.as_str()).collect();
    assert_eq!(taken, ["answer_before"]);
    let (made, _) = import(&plan_of(&[], &[group(&[], &[get("x", "/x", &[])])]));
    assert!(made.work.steps()[0].extractions.is_empty());
}

#[test]
fn what_an_xpath_finds_in_a_file_is_taken_in_turns() {
    let asks = |text: &str| plan_of(&[], &[group(&[], &[get("a", &format!("/{text}"), &[]), get("z", "/z", &[])])]);
    let twice = asks("${__XPath(shop.xml,//item/text())}/${__XPath(shop.xml,//item/text())}");
    assert_eq!(includes(&twice, &Wishes::default()), ["shop.xml"]);
    let held = BTreeMap::from([("shop.xml".to_owned(), Ok("<shop><item>One</item><item>Two</item><id>7</id></shop>".to_owned()))]);
    let wishes = Wishes { included: held, ..Wishes::default() };
    let made = read_with(&twice, &wishes).work("");
    assert_eq!(
        outline(&made.work.journeys[0].items),
        "text_1=item({{shop}}, (next(shop) - 1) % 2),text_2=item({{shop}}, (next(shop) - 1) % 2), a, z"
    );
    assert_eq!(made.work.variables[0].value.to_string(), "[\"One\",\"Two\"]");
    let one = read_with(&asks("${__XPath(shop.xml,//id)}${__XPath(shop.xml,//none)}"), &wishes).work("");
    assert_eq!((one.work.steps()[0].path.to_string(), one.work.variables.len()), ("/7".to_owned(), 0));
    let told = |text: &str| read_with(&asks(text), &wishes).left_out[0].wording().marked().to_owned();
    assert!(told("${__XPath(shop.xml,//)}").contains("is not understood here"), "{}", told("${__XPath(shop.xml,//)}"));
    assert!(told("${__XPath(other.xml,//a)}").contains("the name of its file is not known"));
}
