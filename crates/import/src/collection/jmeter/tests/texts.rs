//! Texts of a plan as templates, and what is computed before them.

use std::collections::{BTreeMap, BTreeSet};

use plan::template::Template;
use plan::work::Item;

use crate::collection::Variable;
use crate::collection::jmeter::text::Names;

fn names() -> Names<'static> {
    Names {
        columns: BTreeMap::from([("user".to_owned(), ("users".to_owned(), "user".to_owned()))]),
        set: BTreeSet::from(["a.token".to_owned()]),
        varying: BTreeSet::from(["a_token".to_owned()]),
        known: vec![Variable { name: "host".to_owned(), value: Template::fixed("api.test"), secret: false }],
        properties: BTreeMap::from([("users".to_owned(), "50".to_owned())]),
        lists: BTreeSet::from(["ids".to_owned(), "ids group 1".to_owned(), "ids group count".to_owned()]),
        files: vec!["users".to_owned()],
        plan: "Shop.jmx".to_owned(),
        unset: BTreeSet::from(["NONE".to_owned()]),
        group: "Users".to_owned(),
        sampler: "Buy".to_owned(),
        ..Names::default()
    }
}

/// A text as a template, and what is computed before it.
fn read(names: &Names<'_>, text: &str) -> String {
    let template = names.template(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    let computed = names.computed.take().into_iter().map(|(name, value)| format!("{name} = {value}; "));
    computed.collect::<String>() + &template.to_string()
}

#[test]
fn what_is_made_of_values_on_the_way_is_computed_before() {
    let names = names();
    for (text, written) in [
        ("${__Random(1,6,dice)}", "dice = {{random 1 6}}; {{dice}}"),
        ("${__uppercase(${user})}!", "text_1 = upper({{users.user}}); {{text_1}}!"),
        (
            "${__changeCase(${__lowercase(${user},low)},CAPITALIZE)}",
            "low = lower({{users.user}}); text_2 = capitalize({{low}}); {{text_2}}",
        ),
        ("${__intSum(${user},-1)}", "sum_1 = {{users.user}} + \"-1\"; {{sum_1}}"),
        ("${__MD5(${user})}", "digest_1 = digest({{users.user}}, md5); {{digest_1}}"),
        ("${__digest(SHA-256,${user},salt,true,)}", "digest_1 = upper(digest(\"{{users.user}}salt\", sha256)); {{digest_1}}"),
        (
            "${__base64Decode(${user})}${__escapeXml(a<b)}",
            "text_1 = decode({{users.user}}, base64); text_2 = encode(\"a<b\", xml); {{text_1}}{{text_2}}",
        ),
        ("${__strReplaceRegex(${user},(\\d+),<$1>,r)}", "r = rewrite({{users.user}}, \"([0-9]+)\", \"<${1}>\"); {{r}}"),
        (
            "${__strReplaceRegex(x,x${user},${user}$0)}",
            "text_1 = rewrite(x, \"x{{users.user}}\", rewrite(rewrite(\"{{users.user}}$0\", \"(?<!\\\\)((?:\\\\\\\\)*)\\$([0-9])\", \"$1$${$2}\"), \"\\\\(\\$)|\\\\([^$])\", \"$1$1$2\")); {{text_1}}",
        ),
        (
            "${__caseFormat(${user},kebab_case)}",
            "text_1 = lower(rewrite(rewrite({{users.user}}, \"[\\x09-\\x0d\\x20_-]+$\", \"\"), \"[\\x09-\\x0d\\x20_-]+\", \"-\")); {{text_1}}",
        ),
        ("${__escapeOroRegexpChars(${user},)}", "text_1 = rewrite({{users.user}}, \"[^\\p{L}\\p{Nd}_]\", \"\\$0\"); {{text_1}}"),
        ("${__substring(${user},1,3)}", "text_1 = substring({{users.user}}, 1, 3); {{text_1}}"),
        ("${__if(${user},x,1,0)}", "text_1 = if({{users.user}} == x, 1, 0); {{text_1}}"),
        ("${__counter(FALSE,)}", "count_1 = next(counter_1); {{count_1}}"),
        ("${__counter(TRUE)}", "counter_2 = {{counter_2}} + 1; {{counter_2}}"),
        ("${__time(/60000)}", "time_1 = int({{now unix-ms}} / 60000); {{time_1}}"),
        (
            "${ids_matchNr}/${ids_2}",
            "count_1 = count({{ids}}); match_2 = if(count({{ids}}) >= 2, item({{ids}}, 1), \"${ids_2}\"); {{count_1}}/{{match_2}}",
        ),
        ("${ids_2_g1}", "match_1 = if(count({{ids_group_1}}) >= 2, item({{ids_group_1}}, 1), \"${ids_2_g1}\"); {{match_1}}"),
        ("${ids_1_g}", "match_1 = if(count({{ids_group_count}}) >= 1, item({{ids_group_count}}, 0), \"${ids_1_g}\"); {{match_1}}"),
        ("${__V(ids_${user})}", "match_1 = item({{ids}}, {{users.user}} - 1); {{match_1}}"),
        ("${__isVarDefined(a.token)}", "defined_1 = if({{a_token}} != \"\", true, false); {{defined_1}}"),
        ("${__jexl3(${user} + 1)}", "value_1 = {{users.user}} + 1; {{value_1}}"),
        ("${__Random(1,${user})}", "number_1 = 1 + {{random 0 9007199254740991}} % ({{users.user}} - 1 + 1); {{number_1}}"),
    ] {
        assert_eq!(read(&names, text), written, "{text}");
    }
    // What is computed is known to nobody before the load.
    assert_eq!((names.literal("${__uppercase(${user})}"), names.taken()), (None, vec![]));
}

#[test]
fn variables_and_functions_become_values_and_what_is_unknown_stays_as_it_is() {
    let names = names();
    for (text, written) in [
        ("plain \\, text", "plain \\, text"),
        ("http://${host}/${user}?t=${a.token}", "http://{{host}}/{{users.user}}?t={{a_token}}"),
        ("${nobody}-${host}", "${nobody}-{{host}}"),
        ("a\\,b ${__UUID} \\${host}", "a,b {{uuid}} ${host}"),
        ("${__urlencode(a\\,b)}${__samplerName}/${__threadGroupName}/${__threadNum}", "a%2CbBuy/Users/{{user_number}}"),
        ("${__time(dd.MM.yyyy HH:mm)}${__timeShift(yyyy-MM-dd,,P1D,,)}", "{{now \"%d.%m.%Y %H:%M\"}}{{now %Y-%m-%d +1d}}"),
        ("${__timeShift(yyyy-MM-dd,2024-02-28,P1D,,)}${__dateTimeConvert(0,,yyyy,)}", "2024-02-291970"),
        ("${__RandomString(5,abc)}${__RandomDate(,2024-01-01,2024-01-03)}", "{{random-text 5 abc}}{{random-date 2024-01-01 2024-01-02}}"),
        ("${__intSum(1,2,${__P(users)})}${__doubleSum(1,2)}${__longSum(1,2,)}", "533.03"),
        ("${__uppercase(ab)}${__changeCase(AB,LOWER)}${__strLen(äb)}${__if(a,a,yes,no)}", "ABab2yes"),
        ("${__isVarDefined(host)}${__isDefined(nothing)}${__isPropDefined(users)}", "true0true"),
        ("${__log(said)}${__logn(unsaid)}${__eval(${host})}${__evalVar(user)}", "said{{host}}{{users.user}}"),
        ("${__RandomFromMultipleVars(host|user)}", "{{choice (host) (users.user)}}"),
        ("${__Random(1,6)}${__time()}${__time(/1000,)}", "{{random 1 6}}{{now unix-ms}}{{now unix}}"),
        ("${__P(users)}/${__P(other,7)}/${__P(none)}/${__property(none)}", "50/7/1/none"),
        ("${__P(x,${__P(users,1)})}", "50"),
        ("${__TestPlanName}${__env(HOME)}${__char(65,66)}", "Shop.jmx{{env HOME}}AB"),
        ("${__env(NONE)}${__env(NONE,,${user}!)}${__env(NONE,,)}${__env(HOME,,home)}", "{{env NONE}}{{users.user}}!{{env HOME}}"),
        ("${__strReplaceRegex(a1b22c,[0-9]+,#)} ${__strReplaceRegex(${host},(\\w+)\\.,$1-)}", "a#b#c api-test"),
        ("${__strReplace(a1b22c,[0-9]+,#)} ${__strReplace(a-b,-,+)} ${__strReplace(${host},.,x)}", "a#b#c a+b xxxxxxxx"),
        ("${__dateTimeConvert(05/03/2024,dd/MM/yyyy,yyyy-MM-dd HH:mm)}|${__dateTimeConvert(05/03/2024,dd/MM/yyyy,yyyyMMdd)}", "|20240305"),
        ("${__caseFormat(ab cd)} ${__caseFormat(-ab_CD- ,UPPER_CAMEL_CASE)} ${__caseFormat(ab cd,kebab-case)}", "abCd AbCd ab cd"),
        ("${__caseFormat(ab  Cd_,snake_case)} ${__caseFormat( ab cd,TRAIN_CASE)} ${__caseFormat(--,SNAKE_CASE)}", "ab_cd -AB-CD "),
        ("${__escapeOroRegexpChars([ä b_],)}", "\\[ä\\ b_\\]"),
        ("${__V(host)} ${__V(no,d)} ${__urlencode(a b&c)}", "{{host}} d a+b%26c"),
        ("${open", "${open"),
    ] {
        assert_eq!(names.template(text).unwrap().to_string(), written, "{text}");
    }
    assert_eq!(names.unknown.borrow().iter().map(String::as_str).collect::<Vec<_>>(), ["nobody"]);
    assert_eq!(
        (names.literal(" ${host} "), names.literal("${user}"), names.number("${__P(users)} ")),
        (Some("api.test".to_owned()), None, Some(50.0))
    );
}

#[test]
fn times_that_are_known_only_on_the_way_are_converted_by_a_script() {
    let names = names();
    for text in ["${__timeShift(yyyy-MM-dd,${user},P1D,,)}", "${__dateTimeConvert(${user},,yyyy)}"] {
        assert_eq!(names.template(text).unwrap().variables().count(), 1, "{text}");
        let [(_, Item::Script(script))] = &names.between.take()[..] else { panic!("{text}") };
        let given: Vec<&str> = script.given.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((given, &script.reads), (vec!["a time", "its form", "another form"], &Vec::new()), "{text}");
    }
}

#[test]
fn functions_without_an_equal_are_told() {
    let names = names();
    for (text, told) in [
        ("${__groovy(sampler.setPath('/'))}", "the function __groovy: "),
        ("${__time(YYYY)}", "the letters 'YYYY'"),
        ("${__fifoPop(orders)}", "put the values into a data file"),
        ("${__caseFormat(${user},UPPER_CAMEL_CASE)}", "known only on the way"),
        ("${__strReplaceRegex(a,\\p{Alpha},b)}", "the function __strReplaceRegex: the regular expression '\\p{Alpha}' is not understood"),
        ("${__strReplaceRegex(a,a,$1)}", "names group 1, which there is not"),
        ("${__strReplaceRegex(${user},a*,b)}", "may find nothing at all"),
        ("${__timeShift(,,P1M,,)}", "no duration of days"),
        ("${__dateTimeConvert(1,${user},yyyy)}", "known only on the way"),
        ("${__strReplace(a,[,b)}", "the function __strReplace: the regular expression '[' is not understood"),
        ("${__digest(MD2,x)}", "the digest 'MD2' is unknown"),
        ("${__eval(${__FileToString(a.txt)})}", "is not looked through"),
        ("${__regexFunction(a(,$1$,,,,,a.token)}", "the function __regexFunction"),
    ] {
        assert!(names.template(text).unwrap_err().contains(told), "{text}: {:?}", names.template(text));
    }
    let deep = "${__P(a,".repeat(100) + "1" + &")}".repeat(100);
    assert!(names.template(&deep).unwrap_err().contains("too deep"));
}
