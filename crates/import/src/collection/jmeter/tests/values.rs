//! What variables, properties and functions stand for.

use super::requests::made;
use super::*;

fn variables(named: &[(&str, &str)]) -> String {
    element(
        "Arguments",
        "v",
        &[(
            "Arguments.arguments",
            &named.iter().map(|(name, value)| item(&[("Argument.name", name), ("Argument.value", value)])).collect::<String>(),
        )],
        &[],
    )
}

fn setup(children: &[String]) -> String {
    let main = "<stringProp name=\"LoopController.loops\">1</stringProp>";
    element("SetupThreadGroup", "before", &[("ThreadGroup.main_controller", main)], children)
}

fn extractor(name: &str) -> String {
    element("RegexExtractor", "x", &[("RegexExtractor.refname", name), ("RegexExtractor.regex", "(.)")], &[])
}

#[test]
fn a_list_of_variables_knows_those_of_the_lists_before_it() {
    let (made, left) = import(&plan_of(
        &[],
        &[
            variables(&[("a", "1"), ("b", "${a}2")]),
            variables(&[("c", "${a}3"), ("d", "${e}")]),
            variables(&[("e", "5")]),
            group(&[], &[get("x", "/${b}/${c}/${d}/${e}", &[])]),
        ],
    ));
    let known: Vec<String> = made.work.variables.iter().map(|variable| format!("{}={}", variable.name, variable.value)).collect();
    assert_eq!(known, ["a=1", "b=${a}2", "c=13", "d=${e}", "e=5"]);
    assert!(
        matches!(&left[..], [one, other] if one.contains("'${a}' in the variable 'b'") && other.contains("'${e}' in the variable 'd'")),
        "{left:?}"
    );
}

#[test]
fn what_is_drawn_for_a_variable_is_drawn_once_for_all_users() {
    let (made, left) =
        import(&plan_of(&[], &[variables(&[("n", "${__Random(1,9)}"), ("plain", "x")]), group(&[], &[get("a", "/${n}", &[])])]));
    assert_eq!(
        (outline(&made.work.setup), outline(&made.work.journeys[0].items), left),
        ("n={{random 1 9}}".to_owned(), "a".to_owned(), vec![])
    );
    assert_eq!(made.work.variables.iter().map(|variable| variable.name.as_str()).collect::<Vec<_>>(), ["plain"]);
}

#[test]
fn users_know_properties_of_a_setup_and_none_of_its_variables() {
    let before = setup(&[
        get("login", "/login", &[extractor("token"), extractor("t"), extractor("own")]),
        get("keep", "/keep?x=${__setProperty(token,${token})}", &[]),
    ]);
    let users = group(&[], &[get("a", "/${__P(token,none)}/${t}/${own}", &[extractor("own")])]);
    let (made, left) = import(&plan_of(&[], &[variables(&[("t", "start")]), before, users]));
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(outline(&made.work.setup), "login, property_token={{token}}, keep, own=\"\",t=start,token=\"\", token=\"${token}\"");
    assert_eq!(outline(&made.work.journeys[0].items), "property_1=if({{property_token}} == \"\", none, {{property_token}}), a");
    // What is known is the same for all users; what is not is each user's.
    let sets = |value: &str| outline_of(&[get("x", "/x", &[extractor("id")]), get("s", &format!("/${{__setProperty(p,{value})}}"), &[])]);
    assert_eq!(sets("1"), "x, property_p=1, s");
    assert!(sets("${id}").contains("set it in a setUp group"), "{}", sets("${id}"));
}

#[test]
fn functions_give_what_they_gave() {
    let path = |text: &str| {
        let told = outline_of(&[get("x", "/x", &[extractor("id")]), get("a", &format!("/{text}"), &[])]);
        let (made, _) = import(&plan_of(&[], &[group(&[], &[get("x", "/x", &[extractor("id")]), get("a", &format!("/{text}"), &[])])]));
        made.work.steps().get(1).map_or(told, |step| step.path.to_string())
    };
    assert_eq!(path("${__P( none , d )}${__P(none,(a))}"), "/d(a)");
    assert_eq!(path("${__char(65,0x42,0103,C)}"), "/ABC");
    assert_eq!(path("${__unescape(a\\u0041\\101\\\"\\q)}"), "/aAA%22q");
    assert_eq!(path("${__escapeOroRegexpChars([a.b]_1,)}"), "/\\[a\\.b\\]_1");
    assert_eq!(path("${__unescape(${id})}"), "/{{raw (script_1)}}");
    let split = outline_of(&[get("a", "/${__split(a||c,part,|)}/${part_2}", &[])]);
    assert!(
        split.contains(
            "part_2=if(count({{part_list}}) >= 2, if(item({{part_list}}, 1) == \"\", \"?\", item({{part_list}}, 1)), \"${part_2}\")"
        ),
        "{split}"
    );
}

#[test]
fn the_machine_is_the_one_that_the_plan_is_read_on() {
    let plan = plan_of(&[], &[group(&[], &[get("x", "/x", &[]), get("a", "/${__machineName()}/${__machineIP(ip)}/${ip}", &[])])]);
    let on = Wishes { machine: ("box".to_owned(), "10.0.0.7".to_owned()), ..Wishes::default() };
    assert_eq!(outline(&read_with(&plan, &on).work("").work.journeys[0].items), "x, ip=\"10.0.0.7\", a");
    let unknown = read_with(&plan, &Wishes::default()).left_out;
    assert!(unknown[0].wording().marked().contains("that is not known of this machine"), "{unknown:?}");
}

#[test]
fn conditions_that_compute_are_not_decided_before() {
    let when = |condition: &str| {
        let when = element("IfController", "c", &[("IfController.condition", condition)], &[get("b", "/b", &[])]);
        let (made, left) = import(&plan_of(&[], &[variables(&[("n", "5")]), group(&[], &[get("a", "/a", &[]), when])]));
        outline(&made.work.journeys[0].items) + &left.join("; ")
    };
    assert_eq!(when("${__jexl3(${n} * 2 == 10,)}"), "a, if {{n}} * 2 == 10 (b)");
    assert_eq!((when("${__jexl3(${n} == 5.0,)}").as_str(), when("${__jexl3(\"${n}\" != \"5\",)}").as_str()), ("a, b", "a"));
}

#[test]
fn what_sends_nothing_has_its_turn() {
    let debug = element("DebugSampler", "d", &[], &[]);
    let turns = |parts: &[String]| outline_of(&[element("InterleaveControl", "i", &[], parts), get("z", "/z", &[])]);
    assert_eq!(turns(&[get("a", "/a", &[]), debug.clone(), get("b", "/b", &[])]), "turns true (a | pause 0s | b), z");
    assert_eq!(turns(&[debug]), "z");
}

#[test]
fn names_that_differ_in_signs_are_told_apart_wherever_they_stand() {
    let (work, left) = made(&[
        get("a", "/a", &[extractor("user.id"), extractor("user_id")]),
        element("ForeachController", "each", &[("ForeachController.inputVal", "x"), ("ForeachController.returnVal", "user id")], &[]),
        get("b", "/${user.id}/${user_id}/${user-id}", &[]),
    ]);
    assert!(left.iter().all(|told| !told.contains("user.id") && !told.contains("user_id")), "{left:?}");
    let taken: Vec<&str> = work.steps()[0].extractions.iter().map(|taken| taken.variable.as_str()).collect();
    assert_eq!(taken, ["user_dot_id", "user_id"]);
    // What has no value is none of them.
    assert_eq!(work.steps()[1].path.to_string(), "/{{raw (user_dot_id)}}/{{raw (user_id)}}/${user-id}");
    let script =
        element("JSR223PostProcessor", "s", &[("scriptLanguage", "groovy"), ("script", "vars.put('user.id', vars.get('user_id'))")], &[]);
    let (work, _) = made(&[get("a", "/a", &[extractor("user_id"), script]), get("b", "/${user.id}", &[])]);
    assert_eq!(work.steps()[0].after[0].sets, ["user_dot_id"]);
    assert_eq!(work.steps()[1].path.to_string(), "/{{raw (user_dot_id)}}");
}

#[test]
fn a_variable_that_is_not_in_the_environment_has_its_default() {
    let name = item(&[("Argument.name", "name"), ("Argument.value", "NONE")]);
    let defined = element("Arguments", "v", &[("Arguments.arguments", &name)], &[]);
    let asked = "/${__env(${name},,d)}/${__env(HOME,h,home)}/${h}/${__env(NONE)}";
    let text = plan_of(&[], &[defined, group(&[], &[get("a", asked, &[])])]);
    let variables = Collection::variables_with_default(Kind::Jmeter, text.as_bytes(), &Wishes::default());
    assert_eq!(variables.iter().map(String::as_str).collect::<Vec<_>>(), ["HOME", "NONE"]);
    let wishes = Wishes { unset: ["NONE".to_owned()].into(), ..Wishes::default() };
    let made = read_with(&text, &wishes).work("");
    assert_eq!(outline(&made.work.journeys[0].items), "h={{env HOME}}, a");
    let path = made.work.steps()[0].path.to_string();
    assert!(path.starts_with("/d/{{") && path.contains("env NONE"), "{path}");
}

/// The scripts between the requests of a journey, and what they are given.
fn scripts_of(items: &[Item]) -> Vec<(String, Vec<String>)> {
    let mut scripts = Vec::new();
    each_item(items, &mut |item| {
        if let Item::Script(script) = item {
            scripts.push((script.text.clone(), script.given.iter().map(|(name, value)| format!("{name}={value}")).collect()));
        }
    });
    scripts
}

#[test]
fn a_property_that_users_set_is_read_by_a_script_and_one_that_setup_groups_set_is_a_variable() {
    let extractor = element("RegexExtractor", "x", &[("RegexExtractor.refname", "t"), ("RegexExtractor.regex", "(.)")], &[]);
    let users = group(
        &[],
        &[
            get("in", "/in", &[extractor]),
            get("set", "/${__setProperty(token,${t})}", &[]),
            get("a", "/${__P(token,none)}/${__P(other)}", &[]),
        ],
    );
    let (made, left) = import(&plan_of(&[], &[users]));
    assert_eq!(left, Vec::<String>::new());
    let scripts = scripts_of(&made.work.journeys[0].items);
    assert_eq!(
        scripts.iter().map(|(_, given)| given.clone()).collect::<Vec<_>>(),
        [
            vec!["a property=token".to_owned(), "its value={{t}}".to_owned()],
            vec!["a property=token".to_owned(), "its default=none".to_owned()]
        ]
    );
    assert!(scripts[0].0.contains("$props.put") && scripts[1].0.contains("$props.get"), "{scripts:?}");
    // What a script of a setup group sets is kept for all processes, and the group is there for it alone.
    let script = element("JSR223Sampler", "s", &[("script", "props.put('token', '1')")], &[]);
    let before = element("SetupThreadGroup", "before", &[("ThreadGroup.num_threads", "1")], &[script]);
    let (made, left) = import(&plan_of(&[], &[before, group(&[], &[get("a", "/${__P(token)}", &[])])]));
    assert_eq!(left, Vec::<String>::new());
    let kept = scripts_of(&made.work.setup);
    assert!(kept[1].0.contains("$vars.put(\"property_token\", left)"), "{kept:?}");
    assert!(outline(&made.work.journeys[0].items).starts_with("property_1=if({{property_token}} == \"\", 1, {{property_token}})"));
}

#[test]
fn values_stand_in_scripts_as_a_part_of_them_and_are_kept_where_these_are() {
    let scripted = |class: &str, settings: &[(&str, &str)]| {
        let settings = [&[("script", "vars.put('x', '' + ${t} + '${t}' + '${__UUID}')")], settings].concat();
        let extractor = element("RegexExtractor", "x", &[("RegexExtractor.refname", "t"), ("RegexExtractor.regex", "(.)")], &[]);
        let (made, left) =
            import(&plan_of(&[], &[group(&[], &[get("in", "/in", &[extractor]), element(class, "s", settings.as_slice(), &[])])]));
        assert_eq!(left, Vec::<String>::new());
        scripts_of(&made.work.journeys[0].items).remove(0)
    };
    let each = scripted("JSR223Sampler", &[("cacheKey", "false")]);
    assert!(each.0.contains("$code(1, $ref(\"t\"))") && !each.0.contains("$keep"), "{each:?}");
    assert_eq!(each.1, ["value of function 2={{uuid}}"]);
    let first = scripted("JSR223Sampler", &[]);
    assert!(first.0.starts_with("$keep(\"kept_1\", \"t\");$keep(\"kept_2\", \"value of function 2\");"), "{first:?}");
    assert!(first.0.contains("$ref(\"kept_1\")"), "{first:?}");
    assert_eq!(scripted("BeanShellSampler", &[("BeanShellSampler.query", "vars.put(\"x\", \"\" + ${t});")]).0.matches("$keep").count(), 0);
}
