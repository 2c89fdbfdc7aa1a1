//! Plans as they are written by JMeter, cut down to what they say, and what becomes of them.

use plan::work::{Duration, Item, Work, each_item};

use super::*;
use crate::collection::work::Import;

/// An element with settings and what stands in it.
fn element(class: &str, name: &str, settings: &[(&str, &str)], children: &[String]) -> String {
    let settings: String = settings
        .iter()
        .map(|(name, value)| match value.strip_prefix('<') {
            Some(_) => format!("<collectionProp name=\"{name}\">{value}</collectionProp>"),
            None => format!("<stringProp name=\"{name}\">{}</stringProp>", value.replace('&', "&amp;").replace('<', "&lt;")),
        })
        .collect();
    format!("<{class} testname=\"{name}\">{settings}</{class}>\n<hashTree>{}</hashTree>\n", children.concat())
}

fn item(settings: &[(&str, &str)]) -> String {
    let settings: String = settings.iter().map(|(name, value)| format!("<stringProp name=\"{name}\">{value}</stringProp>")).collect();
    format!("<elementProp name=\"\" elementType=\"x\">{settings}</elementProp>")
}

fn arguments(named: &[(&str, &str)]) -> String {
    let each: String = named.iter().map(|(name, value)| item(&[("Argument.name", name), ("Argument.value", value)])).collect();
    format!("<collectionProp name=\"Arguments.arguments\">{each}</collectionProp>")
}

fn plan_of(settings: &[(&str, &str)], children: &[String]) -> String {
    let plan = element("TestPlan", "Shop", settings, children);
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<jmeterTestPlan version=\"1.2\"><hashTree>\n{plan}</hashTree></jmeterTestPlan>")
}

fn group(settings: &[(&str, &str)], children: &[String]) -> String {
    element("ThreadGroup", "Users", settings, children)
}

fn get(name: &str, path: &str, children: &[String]) -> String {
    element(
        "HTTPSamplerProxy",
        name,
        &[("HTTPSampler.domain", "a.test"), ("HTTPSampler.path", path), ("HTTPSampler.method", "GET")],
        children,
    )
}

fn read_with(text: &str, wishes: &Wishes) -> Collection {
    Collection::read(Kind::Jmeter, text.as_bytes(), wishes).unwrap_or_else(|why| panic!("{}", why.wording().marked()))
}

fn import(text: &str) -> (Import, Vec<String>) {
    let read = read_with(text, &Wishes::default());
    let endless = read.course.iter().flat_map(|course| &course.endless);
    let left = read.left_out.iter().chain(endless).map(|left| left.wording().marked().to_owned()).collect();
    (read.work(""), left)
}

/// What is done, in short.
fn outline(items: &[Item]) -> String {
    let each = items.iter().map(|item| {
        let inner: Vec<String> = item.parts().into_iter().filter(|part| !part.is_empty()).map(outline).collect();
        let inner = inner.join(" | ");
        match item {
            Item::Step(step) => step.name.clone(),
            Item::Pause(Duration::Drawn(wait)) => format!("pause {wait}"),
            Item::Pause(Duration::Written(wait)) => format!("pause {wait}"),
            Item::Repeat { times, .. } => format!("{times}x({inner})"),
            Item::If { condition, .. } => format!("if {condition} ({inner})"),
            Item::While { condition, .. } => format!("while {condition} ({inner})"),
            Item::Switch { value, .. } => format!("switch {value} ({inner})"),
            Item::ForEach { variable, list, .. } => format!("each {variable} of {list:?} ({inner})"),
            Item::Transaction { name, pauses, .. } => format!("{name} {pauses} ({inner})"),
            Item::Share { amount, per_user, .. } => format!("{amount} {per_user} ({inner})"),
            Item::Interleave { per_user, .. } => format!("turns {per_user} ({inner})"),
            Item::Pick { .. } => format!("pick ({inner})"),
            Item::RandomOrder(_) => format!("shuffle ({inner})"),
            Item::RunFor { .. } => format!("for ({inner})"),
            Item::Once(_) => format!("once ({inner})"),
            Item::CriticalSection { name, .. } => format!("alone {name} ({inner})"),
            Item::Rendezvous { users, within } => {
                format!("together {users} {}", within.map_or_else(String::new, |within| within.to_string()))
            }
            Item::Set(values) => values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(","),
            other => format!("{other:?}"),
        }
    });
    each.collect::<Vec<_>>().join(", ")
}

fn outline_of(children: &[String]) -> String {
    let (made, left) = import(&plan_of(&[], &[group(&[], children)]));
    let told = if left.is_empty() { String::new() } else { format!(" !{}", left.join("; ")) };
    made.work.journeys.first().map_or(String::new(), |journey| outline(&journey.items)) + &told
}

#[test]
fn groups_become_populations_that_come_as_their_threads_do() {
    let main = |loops: &str| format!("<stringProp name=\"LoopController.loops\">{loops}</stringProp>");
    let plan = |settings: &[(&str, &str)], loops: &str| {
        let mut settings = settings.to_vec();
        let main = main(loops);
        settings.push(("ThreadGroup.main_controller", &main));
        import(&plan_of(&[], &[group(&settings, &[get("home", "/", &[])])]))
    };
    let told = |(made, left): (Import, Vec<String>)| {
        let [only] = &made.populations[..] else { panic!("{made:?}") };
        let text = serde_json::to_string(only).unwrap().replace('"', "");
        (text, left.join("; "))
    };
    let (text, left) = told(plan(&[("ThreadGroup.num_threads", " 5 "), ("ThreadGroup.ramp_time", "10")], "3"));
    assert_eq!((text.as_str(), left.as_str()), ("{name:Users,journeys:[Users],connections:1 to 5 for 8s, 5,iterations_per_user:3}", ""));
    let timed =
        [("ThreadGroup.num_threads", "2"), ("ThreadGroup.scheduler", "true"), ("ThreadGroup.duration", "60"), ("ThreadGroup.delay", "5")];
    let (text, left) = told(plan(&timed, "-1"));
    assert_eq!((text.as_str(), left.as_str()), ("{name:Users,journeys:[Users],connections:2,start_after:5s,duration:1m}", ""));
    let short = [
        ("ThreadGroup.num_threads", "11"),
        ("ThreadGroup.ramp_time", "11"),
        ("ThreadGroup.scheduler", "true"),
        ("ThreadGroup.duration", "5"),
    ];
    assert!(told(plan(&short, "-1")).0.contains("connections:1 to 6 for 5s}"));
    let (_, left) = told(plan(&[("ThreadGroup.num_threads", "2")], "-1"));
    assert!(left.contains("line 4, Users: the ThreadGroup 'Users': it has no end of its own"), "{left}");
    let (made, left) = plan(&[("ThreadGroup.num_threads", "2"), ("ThreadGroup.on_sample_error", "startnextloop")], "1");
    assert!(left.is_empty() && made.work.steps().iter().all(|step| step.must_succeed) && made.work.keeps_variables && !made.work.cookies);
}

#[test]
fn controllers_become_items_that_do_the_same() {
    let one = || get("a", "/a", &[]);
    let of = |class: &str, settings: &[(&str, &str)], children: &[String]| outline_of(&[element(class, "c", settings, children)]);
    assert_eq!(of("GenericController", &[], &[one(), get("b", "/b", &[])]), "a, b");
    assert_eq!(of("LoopController", &[("LoopController.loops", "4")], &[one()]), "4x(a)");
    assert_eq!(of("LoopController", &[("LoopController.loops", "-1")], &[one()]), "1000000000x(a)");
    assert_eq!(of("TransactionController", &[("TransactionController.includeTimers", "false")], &[one()]), "c false (a)");
    assert_eq!(of("OnceOnlyController", &[], &[one()]), "once (a)");
    assert_eq!(of("CriticalSectionController", &[("CriticalSectionController.lockName", "till")], &[one()]), "alone till (a)");
    assert_eq!(of("InterleaveControl", &[], &[one(), get("b", "/b", &[])]), "turns true (a | b)");
    assert_eq!(of("RandomController", &[], &[one(), get("b", "/b", &[])]), "pick (a | b)");
    assert_eq!(of("RandomOrderController", &[], &[one(), get("b", "/b", &[])]), "shuffle (a | b)");
    let share = [("ThroughputController.style", "1"), ("ThroughputController.percentThroughput", "25.0")];
    assert_eq!(of("ThroughputController", &share, &[one()]), "25.0% false (a)");
    assert_eq!(of("RunTime", &[("RunTime.seconds", "5")], &[one()]), "for (a)");
    assert_eq!(of("SwitchController", &[("SwitchController.value", "b")], &[one(), get("b", "/b", &[])]), "b");
    assert_eq!(of("SwitchController", &[("SwitchController.value", "7")], &[one(), get("b", "/b", &[])]), "a");
    let parallel = of("com.blazemeter.jmeter.controller.ParallelSampler", &[], &[one(), get("b", "/b", &[])]);
    assert!(parallel.starts_with("Parallel { parts: [[Step(") && parallel.ends_with("at_once: None }"), "{parallel}");
    let include = outline_of(&[element("IncludeController", "i", &[], &[]), one()]);
    assert!(include.starts_with("a !line ") && include.contains("another plan is not read"), "{include}");
}

#[test]
fn conditions_are_read_and_others_leave_out_what_depends_on_them() {
    let token = element("RegexExtractor", "x", &[("RegexExtractor.refname", "token"), ("RegexExtractor.regex", "t=(.)")], &[]);
    let of = |class: &str, key: &str, condition: &str| {
        let inner = element(class, "c", &[(key, condition), ("IfController.useExpression", "true")], &[get("b", "/b", &[])]);
        outline_of(&[get("a", "/a", std::slice::from_ref(&token)), inner])
    };
    let when = |condition: &str| of("IfController", "IfController.condition", condition);
    assert_eq!(when("${__jexl3(&quot;${token}&quot; == &quot;x&quot;,)}".replace("&quot;", "\"").as_str()), "a, if {{token}} == x (b)");
    assert_eq!(when("${__groovy(vars.get('token') != 'x')}"), "a, if {{token}} != x (b)");
    assert_eq!(when("${token}"), "a, if {{token}} == true (b)");
    assert_eq!(when("true"), "a, b");
    assert_eq!(when("false"), "a");
    let told = when("${__groovy(vars.get('token').size() > 3)}");
    assert!(told.starts_with("a !line ") && told.contains("is more than a comparison"), "{told}");
    for script in
        ["x == 1", "${token}.equals(\"a\")", "\"${token}\" =~ \"a\"", "\"${token}\" + \"a\" == \"ba\"", "length(${token}) > 1", "\"open"]
    {
        let told = when(&format!("${{__groovy({script})}}"));
        assert!(told.starts_with("a !line "), "{script}: {told}");
    }
    assert_eq!(when("${__jexl3(${token} >= 1.5 && !(${token} == 7))}"), "a, if {{token}} >= 1.5 and not {{token}} == 7 (b)");
    // Without the tick it is a script.
    let bare = element("IfController", "c", &[("IfController.condition", "${token} < 10")], &[get("b", "/b", &[])]);
    assert_eq!(outline_of(&[get("a", "/a", std::slice::from_ref(&token)), bare]), "a, if {{token}} < 10 (b)");
    let during = |condition: &str| of("WhileController", "WhileController.condition", condition);
    assert_eq!(during("${token}"), "a, while {{token}} != false (b)");
    assert_eq!(during("${token}-x"), "a, while \"{{token}}-x\" != false (b)");
    assert!(during("LAST").contains("goes on until a sampler fails"));
}

#[test]
fn timers_wait_before_each_sampler_in_their_scope() {
    let constant = element("ConstantTimer", "t", &[("ConstantTimer.delay", "500")], &[]);
    let uniform = element("UniformRandomTimer", "u", &[("ConstantTimer.delay", "100"), ("RandomTimer.range", "200.0")], &[]);
    assert_eq!(
        outline_of(&[constant, get("a", "/a", &[uniform]), get("b", "/b", &[])]),
        "pause 500ms, pause 100ms..300ms, a, pause 500ms, b"
    );
    let together = element("SyncTimer", "s", &[("groupSize", "0"), ("timeoutInMs", "2000")], &[]);
    assert_eq!(outline_of(&[get("a", "/a", &[together])]), "together 1 2s, a");
    let pace = element("ConstantThroughputTimer", "p", &[("throughput", "60")], &[]);
    assert!(outline_of(&[get("a", "/a", &[pace])]).starts_with("a !line "));
    let wait = element("TestAction", "w", &[("ActionProcessor.action", "1"), ("ActionProcessor.duration", "250")], &[]);
    assert_eq!(outline_of(&[wait, get("a", "/a", &[])]), "pause 250ms, a");
}

#[test]
fn a_sampler_is_sent_with_what_holds_for_it() {
    let defaults = [("HTTPSampler.domain", "${host}"), ("HTTPSampler.port", "8080"), ("HTTPSampler.protocol", "https")];
    let defaults = element("ConfigTestElement", "d", &defaults, &[]);
    let headers = |named: &[(&str, &str)]| {
        let each: String = named.iter().map(|(name, value)| item(&[("Header.name", name), ("Header.value", value)])).collect();
        element("HeaderManager", "h", &[("HeaderManager.headers", &each)], &[])
    };
    let variables =
        format!("<elementProp name=\"TestPlan.user_defined_variables\">{}</elementProp>", arguments(&[("host", "${__P(host,api.test)}")]));
    let query = format!(
        "<elementProp name=\"HTTPsampler.Arguments\"><collectionProp name=\"Arguments.arguments\">{}{}</collectionProp></elementProp>",
        item(&[("Argument.name", "q"), ("Argument.value", "a b"), ("HTTPArgument.always_encode", "true")]),
        item(&[("Argument.name", "raw"), ("Argument.value", "x%20y")])
    );
    let raw = format!("<elementProp name=\"HTTPsampler.Arguments\">{}</elementProp>", arguments(&[("", "{\"id\": ${__Random(1,6)}}")]));
    let sampler = |name: &str, settings: &str| {
        format!("<HTTPSamplerProxy testname=\"{name}\">{settings}</HTTPSamplerProxy><hashTree>{}</hashTree>", headers(&[("X-Mine", name)]))
    };
    let path = |path: &str| format!("<stringProp name=\"HTTPSampler.path\">{path}</stringProp>");
    let search = sampler("search", &(path("find") + &query + "<boolProp name=\"HTTPSampler.follow_redirects\">true</boolProp>"));
    let order = sampler("order", &(path("/orders") + &raw + "<stringProp name=\"HTTPSampler.method\">POST</stringProp>"));
    let text = plan_of(&[], &[defaults, headers(&[("X-Mine", "plan"), ("Accept", "*/*")]), group(&[], &[search, order])]).replacen(
        "</TestPlan>",
        &(variables + "</TestPlan>"),
        1,
    );
    let read = read_with(&text, &Wishes::default());
    assert_eq!(read.left_out, []);
    let made = read.work("");
    assert_eq!(made.settings.url.as_deref(), Some("https://api.test:8080/"));
    let steps = made.work.steps();
    assert_eq!((steps[0].path.to_string().as_str(), steps[0].redirects, steps[0].method.as_str()), ("/find?q=a%20b&raw=x%20y", 20, "GET"));
    let headers: Vec<String> = steps[0].headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(headers, ["Accept: */*", "X-Mine: search"]);
    assert!(format!("{:?}", steps[1].body).contains("Random { low: 1, high: 6 }"), "{:?}", steps[1].body);
    // Properties and user-defined variables may be given.
    let given = Wishes { variables: vec![("host".to_owned(), "other.test".to_owned())], ..Wishes::default() };
    assert_eq!(read_with(&text, &given).work("").settings.url.as_deref(), Some("https://other.test:8080/"));
}

#[test]
fn properties_are_no_variables_and_groups_at_a_rate_are_kinds_of_journeys() {
    let host = item(&[("Argument.name", "host"), ("Argument.value", "fixed")]);
    let defined = element("Arguments", "v", &[("Arguments.arguments", &host)], &[]);
    let asking = [get("a", "/a?x=${host}&y=${__P(host)}", &[])];
    let groups = [group(&[("ThreadGroup.num_threads", "3")], &asking), group(&[("ThreadGroup.num_threads", "1")], &asking)];
    let text = plan_of(&[], &[vec![defined], groups.to_vec()].concat());
    let given = Wishes { properties: vec![("host".to_owned(), "given".to_owned())], ..Wishes::default() };
    let made = read_with(&text, &given).work("");
    assert!(made.work.steps()[0].path.to_string().ends_with("&y=given"), "{}", made.work.steps()[0].path);
    assert_eq!(made.work.variables[0].value.to_string(), "fixed");
    assert_eq!(made.populations.len(), 2);
    let at_a_rate = read_with(&text, &Wishes { comes_at_a_rate: true, ..given }).work("");
    assert!(at_a_rate.populations.is_empty() && at_a_rate.settings.duration.is_none());
    assert_eq!(at_a_rate.work.journeys.iter().map(|journey| journey.weight).collect::<Vec<_>>(), [3.0, 1.0]);
}

#[test]
fn a_request_that_would_lack_a_value_is_not_sent() {
    let lost = element("RegexExtractor", "x", &[("RegexExtractor.refname", "token"), ("RegexExtractor.useHeaders", "true")], &[]);
    let told = outline_of(&[get("a", "/a", &[lost]), get("b", "/b?t=${token}", &[]), get("c", "/c?u=${nobody}", &[])]);
    let (items, left) = told.split_once(" !").unwrap();
    assert_eq!(items, "a, c");
    assert!(left.contains("the RegexExtractor 'x': 'token' is not taken out of answers: it looks into 'true'"), "{left}");
    assert!(left.contains("the HTTPSamplerProxy 'b': it is not sent: the variable 'token' has no value here"), "{left}");
    assert!(left.contains("the variable 'nobody': nothing in the plan gives it a value, so it is sent with its braces"), "{left}");
    // What a script or a function names may get its value there.
    let script = element("JSR223PreProcessor", "s", &[("script", "vars.put('signature', sign())")], &[]);
    let dice = get("roll", "/r?n=${__Random(1,6,dice)}", &[]);
    let found = element("RegexExtractor", "x", &[("RegexExtractor.refname", "id"), ("RegexExtractor.regex", "(.)")], &[]);
    let told = outline_of(&[
        get("a", "/a?s=${signature}", &[script, found]),
        dice,
        get("b", "/b?n=${dice}", &[]),
        get("c", "/c/${id}/${id_g1}", &[]),
        get("d", "/d/${id}/${START.MS}", &[]),
        get("e", "/e/${id}", &[]),
    ]);
    let (items, left) = told.split_once(" !").unwrap();
    assert_eq!(items, "e", "{left}");
    for name in ["signature", "dice", "id_g1", "START.MS"] {
        assert!(left.contains(&format!("the variable '{name}' has no value here")), "{name}: {left}");
    }
    let script = element("JSR223PreProcessor", "s", &[("script", "1")], &[]);
    let told = outline_of(&[get("a", "/a", &[script]), element("JDBCSampler", "db", &[], &[]), element("Odd", "o", &[], &[])]);
    for part in ["a !", "scripts are not carried out", "the JDBCSampler 'db': it is no HTTP request", "the Odd 'o': it is unknown here"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn rows_of_data_files_counters_and_lists_are_values() {
    let users = [
        ("filename", "data/users.csv"),
        ("variableNames", "name,pass word"),
        ("ignoreFirstLine", "true"),
        ("recycle", "false"),
        ("stopThread", "true"),
    ];
    let counter = element(
        "CounterConfig",
        "n",
        &[("CounterConfig.start", "5"), ("CounterConfig.incr", "2"), ("CounterConfig.name", "n"), ("CounterConfig.per_user", "true")],
        &[],
    );
    let ids = element(
        "JSONPostProcessor",
        "j",
        &[
            ("JSONPostProcessor.referenceNames", "id"),
            ("JSONPostProcessor.jsonPathExprs", "$.ids[*]"),
            ("JSONPostProcessor.match_numbers", "-1"),
        ],
        &[],
    );
    let each = element(
        "ForeachController",
        "f",
        &[("ForeachController.inputVal", "id"), ("ForeachController.returnVal", "one")],
        &[get("item", "/i/${one}/${n}", &[])],
    );
    let csv = element("CSVDataSet", "csv", &users, &[]);
    let text = plan_of(&[], &[csv, group(&[], &[counter, get("list", "/${name}/${pass word}", &[ids]), each])]);
    let (made, left) = import(&text);
    assert_eq!(
        outline(&made.work.journeys[0].items),
        "n={{n}} + 2, list, each one of Array(Template { pieces: [Value(Variable(\"id\"))] }) (item)"
    );
    assert_eq!((made.settings.data_file.clone(), made.files.clone()), (vec!["users=data/users.csv".to_owned()], vec!["users".to_owned()]));
    let paths: Vec<String> = made.work.steps().iter().map(|step| step.path.to_string()).collect();
    assert_eq!(paths, ["/{{users.name}}/{{users \"pass word\"}}", "/i/{{one}}/{{n}}"]);
    assert_eq!(made.work.variables.iter().map(|known| format!("{}={}", known.name, known.value)).collect::<Vec<_>>(), ["n=3"]);
    assert_eq!(left, ["line 4, csv: the CSVDataSet 'csv': after its last row the load ends, for all users at once"]);
    let bare = element("CSVDataSet", "csv", &[("filename", "u.csv"), ("variableNames", "name")], &[]);
    let told = outline_of(&[bare, get("a", "/${name}", &[]), get("b", "/b", &[])]);
    assert!(
        told.starts_with("b !")
            && told.contains("write 'name' into its first line")
            && told.contains("the variable 'name' has no value here"),
        "{told}"
    );
}

#[test]
fn a_counter_over_all_users_leaves_out_what_is_made_of_it() {
    let counter = element("CounterConfig", "n", &[("CounterConfig.name", "n"), ("CounterConfig.start", "1")], &[]);
    let told = outline_of(&[counter, get("a", "/a/${n}", &[]), get("b", "/b", &[])]);
    assert!(
        told.starts_with("b !") && told.contains("it counts all users together") && told.contains("the variable 'n' has no value here"),
        "{told}"
    );
}

#[test]
fn modules_lead_to_their_part_of_the_plan_and_not_in_circles() {
    let path = |names: &[&str]| names.iter().map(|name| format!("<stringProp name=\"1\">{name}</stringProp>")).collect::<String>();
    let fragment = element("TestFragmentController", "login", &[], &[get("in", "/in", &[])]);
    let module = |names: &[&str]| element("ModuleController", "m", &[("ModuleController.node_path", &path(names))], &[]);
    let of = |module: String| {
        let (made, left) = import(&plan_of(&[], &[fragment.clone(), group(&[], &[module, get("a", "/a", &[])])]));
        (outline(&made.work.journeys[0].items), left)
    };
    assert_eq!(
        of(module(&["WorkBench", "Shop", "login"]) + &module(&["Test Plan", "Shop", "login"])),
        ("in, in (2), a".to_owned(), vec![])
    );
    assert!(of(module(&["Test Plan", "Shop", "nobody"])).1[0].contains("no such part"));
    let circle = of(module(&["Test Plan", "Shop", "Users", "m"]));
    assert!(circle.0 == "a" && circle.1[0].contains("too deep"), "{circle:?}");
}

#[test]
fn setup_and_teardown_groups_are_done_once_around_the_load() {
    let main = "<stringProp name=\"LoopController.loops\">1</stringProp>";
    let of = |class: &str, name: &str| element(class, name, &[("ThreadGroup.main_controller", main)], &[get(name, "/", &[])]);
    let (made, left) =
        import(&plan_of(&[], &[of("SetupThreadGroup", "before"), group(&[], &[get("a", "/a", &[])]), of("PostThreadGroup", "after")]));
    assert_eq!((outline(&made.work.setup), outline(&made.work.teardown), left), ("before".to_owned(), "after".to_owned(), vec![]));
    let (made, left) = import(&plan_of(
        &[],
        &[element("kg.apc.jmeter.threads.SteppingThreadGroup", "s", &[], &[get("a", "/a", &[])]), group(&[], &[get("b", "/b", &[])])],
    ));
    assert!(count(&made.work) == 1 && left[0].contains("its kind of group is not carried over"), "{left:?}");
}

fn count(work: &Work) -> usize {
    let mut steps = 0;
    for items in work.parts() {
        each_item(items, &mut |item| steps += usize::from(matches!(item, Item::Step(_))));
    }
    steps
}

#[test]
fn plans_without_anything_to_send_are_refused() {
    let told = |text: &str| Collection::read(Kind::Jmeter, text.as_bytes(), &Wishes::default()).unwrap_err().wording().marked().to_owned();
    assert!(told(&plan_of(&[], &[])).contains("no request in it can be sent"));
    assert!(told("<jmeterTestPlan><hashTree/></jmeterTestPlan>").contains("there is no test plan in it"));
    let empty_loop = element("LoopController", "l", &[("LoopController.loops", "-1")], &[]);
    assert_eq!(outline_of(&[empty_loop, get("a", "/a", &[])]), "a");
}
