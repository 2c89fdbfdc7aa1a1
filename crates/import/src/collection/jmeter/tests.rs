//! Plans as they are written by JMeter, cut down to what they say, and what becomes of them.

use plan::work::{Duration, Item, Pacing, Resources, Work, each_item};

use super::*;
use crate::collection::work::Import;

mod data;
mod flow;
mod found;
mod plugins;
mod requests;
mod texts;
mod values;

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
            Item::Pacing(Pacing { rates: Some(rates), of, .. }) => format!("pace {rates} of {of}"),
            Item::Pacing(Pacing { pace, of, catches_up, together, name, .. }) => {
                let pace = match pace {
                    Duration::Drawn(pace) => pace.to_string(),
                    Duration::Written(pace) => pace.to_string(),
                };
                let name = name.as_ref().map_or(String::new(), |name| format!(" as {name}"));
                let together = if *together > 1 { format!(" by {together}") } else { String::new() };
                format!("pace {pace} of {of}{together}{name}{}", if *catches_up { ", caught up" } else { "" })
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
    assert_eq!((text.as_str(), left.as_str()), ("{name:Users,journeys:[Users],connections:0 to 5 for 10s, 5,iterations_per_user:3}", ""));
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
    assert!(told(plan(&short, "-1")).0.contains("connections:0 to 5 for 5s}"));
    let between = [&short[..3], &[("ThreadGroup.duration", "5.5")]].concat();
    assert!(told(plan(&between, "-1")).0.contains("connections:0 to 5 for 5s, 6 for 500ms}"));
    let (_, left) = told(plan(&[("ThreadGroup.num_threads", "2")], "-1"));
    assert!(left.contains("line 4, Users: the ThreadGroup 'Users': it has no end of its own"), "{left}");
    let (made, left) = plan(&[("ThreadGroup.num_threads", "2"), ("ThreadGroup.on_sample_error", "startnextloop")], "1");
    assert!(left.is_empty() && made.work.steps().iter().all(|step| step.failure_ends == Some(Extent::Journey) && !step.may_fail));
    assert!(made.work.keeps_variables && !made.work.cookies);
    let (made, _) = plan(&[], "1");
    assert!(made.work.steps().iter().all(|step| step.may_fail && step.failure_ends.is_none()));
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
    let include = outline_of(&[element("IncludeController", "i", &[("IncludeController.includepath", "b.jmx")], &[]), one()]);
    assert!(include.starts_with("a !line ") && include.contains("the plan 'b.jmx' that it names was not read"), "{include}");
    let across = of("InterleaveControl", &[("InterleaveControl.accrossThreads", "true")], &[one(), get("b", "/b", &[])]);
    assert_eq!(across, "turn_1={{turn_1}} + 1, switch ({{turn_1}} + {{user_number}} - 2) % 2 (a | b)");
    // What is done once in a loop is done each time that the loop begins.
    let once = element("OnceOnlyController", "o", &[], &[one()]);
    let twice = [("LoopController.loops", "2")];
    assert_eq!(
        of("LoopController", &twice, &[once.clone(), get("b", "/b", &[])]),
        "round_1=0, 2x(round_1={{round_1}} + 1, if {{round_1}} == 1 (a), b)"
    );
    assert_eq!(of("LoopController", &twice, &[element("GenericController", "g", &[], &[once])]), "2x(once (a))");
}

#[test]
fn a_switch_of_a_value_on_the_way_takes_the_first_for_a_number_that_it_has_not() {
    let kind = element("RegexExtractor", "x", &[("RegexExtractor.refname", "kind"), ("RegexExtractor.regex", "k=(.)")], &[]);
    let switch =
        element("SwitchController", "s", &[("SwitchController.value", "${kind}")], &[get("a", "/a", &[]), get("Default", "/b", &[])]);
    assert_eq!(
        outline_of(&[get("k", "/k", &[kind]), switch]),
        "k, switch {{kind}} (a | Default | if {{kind}} matches \"^\\s*-?\\d+\\s*$\" (a | Default))"
    );
}

#[test]
fn functions_that_set_variables_do_so_before_what_names_them() {
    let dice = get("roll", "/r?n=${__Random(1,6,dice)}", &[]);
    let later =
        element("IfController", "c", &[("IfController.condition", "${__jexl3(${__intSum(${dice},1)} > 3)}")], &[get("b", "/b", &[])]);
    assert_eq!(
        outline_of(&[dice, get("a", "/a/${dice}", &[]), later]),
        "dice={{random 1 6}}, roll, a, sum_1={{dice}} + 1, if {{sum_1}} > 3 (b)"
    );
    let during =
        element("WhileController", "w", &[("WhileController.condition", "${__jexl3(${__strLen(${id})} < 9)}")], &[get("b", "/b", &[])]);
    let id = element("RegexExtractor", "x", &[("RegexExtractor.refname", "id"), ("RegexExtractor.regex", "(.)")], &[]);
    assert_eq!(
        outline_of(&[get("a", "/a", std::slice::from_ref(&id)), during]),
        "a, text_1=length({{id}}), while {{text_1}} < 9 (b, text_1=length({{id}}))"
    );
    // What is not sent sets nothing, nor what would follow from that.
    let lost = get("lost", "/l?n=${__Random(1,6,chance)}&x=${__nothing(x)}", &[]);
    let told = outline_of(&[lost, get("c", "/c/${__intSum(${chance},1,more)}", &[]), get("d", "/d/${more}", &[]), get("a", "/a", &[])]);
    assert!(told.starts_with("a !") && told.contains("the variable 'more' has no value here"), "{told}");
    let split = get("s", "/s?x=${__split(${id},part,;)}", &[]);
    let each = element(
        "ForeachController",
        "f",
        &[("ForeachController.inputVal", "part"), ("ForeachController.returnVal", "one")],
        &[get("item", "/i/${one}", &[])],
    );
    let told = outline_of(&[get("a", "/a", &[id]), split, get("b", "/b/${part_2}/${part_n}", &[]), each]);
    assert!(
        told.starts_with(
            "a, part={{id}},part_list=split({{id}}, \";\"),part_n=count({{part_list}}),part_2=if(count({{part_list}}) >= 2, if(item("
        ) && told.contains("each one of Array(Template { pieces: [Value(Variable(\"part_list\"))] }) (item)")
            && !told.contains('!'),
        "{told}"
    );
}

#[test]
fn user_defined_variables_are_computed_once_before_the_load() {
    let plan = |groups: &[String]| {
        let variables = format!(
            "<elementProp name=\"TestPlan.user_defined_variables\">{}</elementProp>",
            arguments(&[("key", "${__MD5(secret)}"), ("plain", "x")])
        );
        let (made, left) = import(&plan_of(&[], groups).replacen("</TestPlan>", &(variables + "</TestPlan>"), 1));
        assert_eq!(left, Vec::<String>::new());
        made
    };
    let users = group(
        &[("ThreadGroup.num_threads", "2"), ("ThreadGroup.scheduler", "true"), ("ThreadGroup.duration", "9")],
        &[get("a", "/${key}", &[])],
    );
    let made = plan(std::slice::from_ref(&users));
    let computed = "digest_1=digest(secret, md5),key={{digest_1}}".to_owned();
    assert_eq!((outline(&made.work.setup), outline(&made.work.journeys[0].items)), (computed, "a".to_owned()));
    let main = "<stringProp name=\"LoopController.loops\">1</stringProp>";
    let before = element("SetupThreadGroup", "before", &[("ThreadGroup.main_controller", main)], &[get("s", "/s", &[])]);
    let made = plan(&[before, users]);
    assert_eq!(
        (outline(&made.work.setup), outline(&made.work.journeys[0].items)),
        ("digest_1=digest(secret, md5),key={{digest_1}}, s".to_owned(), "a".to_owned())
    );
}

#[test]
fn a_variable_may_hold_a_whole_url_and_no_two_are_called_the_same() {
    let defined = |named: &[(&str, &str)], path: &str| {
        let variables = format!("<elementProp name=\"TestPlan.user_defined_variables\">{}</elementProp>", arguments(named));
        let samplers = [get("a", path, &[]), get("b", "/b", &[])];
        let (made, left) = import(&plan_of(&[], &[group(&[], &samplers)]).replacen("</TestPlan>", &(variables + "</TestPlan>"), 1));
        let paths: Vec<String> = made.work.steps().iter().map(|step| step.path.to_string()).collect();
        (paths.join(" "), left.join("; "))
    };
    assert_eq!(defined(&[("base", "http://a.test")], "${base}/a"), ("/a /b".to_owned(), String::new()));
    // The server of the first request is the load's.
    assert_eq!(defined(&[("base", "http://c.test")], "${base}/a").0, "/a http://a.test/b");
    let (paths, left) = defined(&[("a.b", "1"), ("a_b", "2"), ("a_dot_b", "3")], "/${a.b}");
    assert!(paths == "/b" && left.contains("'a_dot_b' is called the same"), "{paths} {left}");
}

#[test]
fn users_have_values_by_their_number() {
    let sets = |sets: &[&[&str]]| -> String {
        let text = |text: &&str| format!("<stringProp name=\"1\">{text}</stringProp>");
        sets.iter().map(|set| format!("<collectionProp name=\"1\">{}</collectionProp>", set.iter().map(text).collect::<String>())).collect()
    };
    let parameters = |per_iteration: &str, values: &[&[&str]]| {
        let names = "<stringProp name=\"1\">who</stringProp><stringProp name=\"2\">pin</stringProp>";
        let values = sets(values);
        element(
            "UserParameters",
            "u",
            &[("UserParameters.names", names), ("UserParameters.thread_values", &values), ("UserParameters.per_iteration", per_iteration)],
            &[],
        )
    };
    let two: &[&[&str]] = &[&["ada", "1"], &["bob", "2"]];
    let of = |parameters: String| {
        outline_of(&[get("x", "/x", &[]), element("GenericController", "g", &[], &[parameters, get("a", "/${who}/${pin}", &[])])])
    };
    assert_eq!(of(parameters("false", two)), "x, switch ({{user_number}} - 1) % 2 (who=ada,pin=1 | who=bob,pin=2), a");
    assert_eq!(of(parameters("true", &[&["ada"]])), "x, who=ada,pin=\"\", a");
    assert!(of(parameters("true", &[])).contains("the variable 'who' has no value here"));
}

#[test]
fn counters_count_the_rounds_of_what_they_stand_in() {
    let counter = element(
        "CounterConfig",
        "n",
        &[("CounterConfig.start", "1"), ("CounterConfig.name", "n"), ("CounterConfig.per_user", "true")],
        &[],
    );
    let looped = element("LoopController", "l", &[("LoopController.loops", "3")], &[counter, get("a", "/${n}", &[])]);
    assert_eq!(outline_of(&[looped]), "3x(n={{n}} + 1, a)");
    assert_eq!(outline_of(&[get("a", "/${__iterationNum}", &[])]), "iteration_number={{iteration_number}} + 1, a");
}

#[test]
fn groups_of_plugins_become_stages_and_rates() {
    let row = |numbers: &[&str]| -> String {
        let each: String = numbers.iter().map(|number| format!("<stringProp name=\"1\">{number}</stringProp>")).collect();
        format!("<collectionProp name=\"1\">{each}</collectionProp>")
    };
    // What else is sent, where a group is not.
    let always = group(&[], &[get("z", "/z", &[])]);
    let of = |class: &str, settings: &[(&str, &str)]| {
        let main = "<stringProp name=\"LoopController.loops\">-1</stringProp>";
        let settings = [settings, &[("ThreadGroup.main_controller", main)]].concat();
        let (made, left) = import(&plan_of(&[], &[element(class, "g", &settings, &[get("a", "/a", &[])]), always.clone()]));
        let text = made
            .populations
            .first()
            .map(|only| serde_json::to_string(only).unwrap().replace('"', "").replacen("{name:g,journeys:[g],", "{", 1));
        text.unwrap_or_default() + &left.join("; ")
    };
    let concurrency = [("TargetLevel", "10"), ("RampUp", "2"), ("Hold", "5"), ("Unit", "M")];
    let class = "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";
    assert_eq!(of(class, &concurrency), "{connections:0 to 10 for 2m, 10 for 5m}");
    assert_eq!(of(class, &[&concurrency[..], &[("Steps", "2")]].concat()), "{connections:5 for 1m, 10 for 6m}");
    let stepping = [
        ("ThreadGroup.num_threads", "5"),
        ("Threads initial delay", "3"),
        ("Start users count", "2"),
        ("Start users count burst", "1"),
        ("Start users period", "10"),
        ("Stop users count", "3"),
        ("Stop users period", "1"),
        ("flighttime", "60"),
        ("rampUp", "0"),
    ];
    assert_eq!(
        of("kg.apc.jmeter.threads.SteppingThreadGroup", &stepping),
        "{connections:1 for 10s, 3 for 10s, 5 for 1m, 2 for 1s,start_after:3s}"
    );
    let rows = row(&["10", "0", "30", "60", "10"]) + &row(&["5", "30", "0", "30", "0"]);
    assert_eq!(
        of("kg.apc.jmeter.threads.UltimateThreadGroup", &[("ultimatethreadgroupdata", &rows)]),
        "{connections:0 to 10 for 30s, 15 for 30s, 10 for 30s, 10 to 0 for 10s}"
    );
    let arrivals = [("TargetLevel", "30"), ("RampUp", "1"), ("Hold", "2"), ("Unit", "M"), ("ConcurrencyLimit", "7")];
    assert_eq!(
        of("com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup", &arrivals),
        "{connections:7,rate:0/s to 0.5/s for 1m, 0.5/s for 2m,arrivals:even}"
    );
    let rows = row(&["1", "3", "10"]) + &row(&["3", "3", "5"]);
    assert_eq!(
        of("com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup", &[("Schedule", &rows), ("Unit", "S")]),
        "{rate:1/s to 3/s for 10s, 3/s for 5s,arrivals:even}"
    );
    let schedule =
        [("OpenModelThreadGroup.schedule", "rate(1/sec) random_arrivals(10 sec) rate(3/sec) pause(5 sec) random_arrivals(2 sec)")];
    assert_eq!(
        of("org.apache.jmeter.threads.openmodel.OpenModelThreadGroup", &schedule),
        "{rate:1/s to 3/s for 10s, 0/s for 5s, 3/s for 2s,arrivals:poisson}"
    );
    assert!(of("OpenModelThreadGroup", &[("OpenModelThreadGroup.schedule", "rate(1)")]).contains("is not understood"));
    assert!(of("OddThreadGroup", &[]).contains("its kind of group is not carried over"));
}

#[test]
fn parts_of_other_plans_are_included_and_not_in_circles() {
    let include = |path: &str| element("IncludeController", "i", &[("IncludeController.includepath", path)], &[]);
    let plan = plan_of(&[], &[group(&[], &[include("${__P(dir,parts)}/login.jmx"), include("none.jmx"), get("a", "/a/${token}", &[])])]);
    let token = element("RegexExtractor", "x", &[("RegexExtractor.refname", "token"), ("RegexExtractor.regex", "t=(.)")], &[]);
    let inner =
        plan_of(&[], &[element("TestFragmentController", "f", &[], &[get("login", "/login", &[token]), include("parts/login.jmx")])]);
    let mut wishes = Wishes::default();
    assert_eq!(Collection::includes(Kind::Jmeter, plan.as_bytes(), &wishes), ["none.jmx", "parts/login.jmx"]);
    wishes.included.insert("parts/login.jmx".to_owned(), Ok(inner));
    wishes.included.insert("none.jmx".to_owned(), Err("there is no such file".to_owned()));
    assert_eq!(Collection::includes(Kind::Jmeter, plan.as_bytes(), &wishes), Vec::<String>::new());
    let read = read_with(&plan, &wishes);
    let left: Vec<String> = read.left_out.iter().map(|left| left.wording().marked().to_owned()).collect();
    assert_eq!(outline(&read.work("").work.journeys[0].items), "login, a");
    assert!(left[0].contains("parts/login.jmx line ") && left[0].contains("leads back to where it stands"), "{left:?}");
    assert!(left[1].contains("'none.jmx' that it names cannot be read: there is no such file"), "{left:?}");
}

#[test]
fn modules_that_lead_to_several_of_each_other_have_an_end() {
    let path = |name: &str| {
        ["Test Plan", "Shop", name].iter().map(|name| format!("<stringProp name=\"1\">{name}</stringProp>")).collect::<String>()
    };
    let module = |name: &str| element("ModuleController", name, &[("ModuleController.node_path", &path(name))], &[]);
    let fragments: Vec<String> = (0..40)
        .map(|number| {
            let next = format!("f{}", number + 1);
            element("TestFragmentController", &format!("f{number}"), &[], &[module(&next), module(&next), get("a", "/a", &[])])
        })
        .chain([group(&[], &[get("x", "/x", &[]), module("f0")])])
        .collect();
    let told = Collection::read(Kind::Jmeter, plan_of(&[], &fragments).as_bytes(), &Wishes::default());
    let left = told.map(|read| read.left_out.iter().map(|left| left.wording().marked().to_owned()).collect::<Vec<_>>().join("; "));
    let left = left.unwrap_or_else(|why| why.wording().marked().to_owned());
    assert!(left.contains("the plan has more than") || left.contains("requests"), "{left}");
}

#[test]
fn servers_have_the_addresses_of_the_plan() {
    let host = item(&[("StaticHost.Name", "A.test"), ("StaticHost.Address", "10.0.0.7")]);
    let manager = element("DNSCacheManager", "d", &[("DNSCacheManager.hosts", &host)], &[]);
    let (made, left) = import(&plan_of(&[], &[manager.clone(), group(&[], &[get("a", "/a", &[])])]));
    assert_eq!((made.settings.connect_to.map(|to| to.to_string()), left), (Some("10.0.0.7:80".to_owned()), vec![]));
    let other = get("b", "/b", &[]).replace("a.test", "b.test");
    let (made, left) = import(&plan_of(&[], &[manager, group(&[], &[get("a", "/a", &[]), other])]));
    assert!(made.settings.connect_to.is_none() && left[0].contains("the address 10.0.0.7 of 'a.test'"), "{left:?}");
}

#[test]
fn plans_of_old_versions_and_odd_values_are_read() {
    let old = "<jmeterTestPlan version=\"1.2\" properties=\"2.1\"><hashTree>
<TestPlan testname=\"T\"/><hashTree><ThreadGroup testname=\"g\"><stringProp name=\"ThreadGroup.num_threads\"> 2 </stringProp>
<longProp name=\"ThreadGroup.start_time\">1</longProp><stringProp name=\"ThreadGroup.ramp_time\"></stringProp></ThreadGroup>
<hashTree><HTTPSampler2 testname=\"a\"><stringProp name=\"HTTPSampler.domain\">a.test</stringProp>
<stringProp name=\"HTTPSampler.path\">&#xd;
/a </stringProp></HTTPSampler2><hashTree><HeaderManager testname=\"h\"><collectionProp name=\"HeaderManager.headers\">
<elementProp name=\"\" elementType=\"Header\"><stringProp name=\"Header.name\">X </stringProp><stringProp name=\"Header.value\">1&#xd;
</stringProp></elementProp></collectionProp></HeaderManager><hashTree/></hashTree></hashTree></hashTree>
<WorkBench testname=\"WorkBench\"/><hashTree><HTTPSampler testname=\"never\"/><hashTree/></hashTree></hashTree></jmeterTestPlan>";
    let (made, left) = import(old);
    let steps = made.work.steps();
    assert_eq!((steps.len(), steps[0].path.to_string(), left), (1, "/a".to_owned(), vec![]));
    assert_eq!(steps[0].headers.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>(), ["X=1"]);
    assert_eq!(made.populations[0].connections.as_ref().unwrap().to_string(), "2");
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
    assert_eq!(when("${token}"), "a, if lower({{token}}) == true (b)");
    assert_eq!(when("TRUE"), "a, b");
    assert_eq!((when("${__jexl3(1 == 1,)}").as_str(), when("${__groovy(\"a\" != 'a')}").as_str()), ("a, b", "a"));
    assert_eq!(when("false"), "a");
    let told = when("${__groovy(vars.get('token').size() > 3)}");
    assert!(told.starts_with("a, Script(") && told.ends_with("== true (b)"), "{told}");
    for script in ["length(${token}) > 1", "\"open"] {
        let told = when(&format!("${{__groovy({script})}}"));
        assert!(told.starts_with("a !line "), "{script}: {told}");
    }
    for script in ["${token}.equals(\"a\")", "\"${token}\" =~ \"a\"", "\"${token}\" + \"a\" == \"ba\""] {
        let told = when(&format!("${{__groovy({script})}}"));
        assert!(told.starts_with("a, Script("), "{script}: {told}");
    }
    assert_eq!(when("${__jexl3(${token} >= 1.5 && !(${token} == 7))}"), "a, if {{token}} >= 1.5 and not {{token}} == 7 (b)");
    // Without the tick it is a script.
    let bare = element("IfController", "c", &[("IfController.condition", "${token} < 10")], &[get("b", "/b", &[])]);
    assert_eq!(outline_of(&[get("a", "/a", std::slice::from_ref(&token)), bare]), "a, if {{token}} < 10 (b)");
    let during = |condition: &str| of("WhileController", "WhileController.condition", condition);
    assert_eq!(during("${token}"), "a, while lower({{token}}) != false (b)");
    assert_eq!(during("${token}-x"), "a, while lower(\"{{token}}-x\") != false (b)");
    assert_eq!(during("LAST"), "a, while not {{last_succeeded}} == false (b)");
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
    let wait = element("TestAction", "w", &[("ActionProcessor.action", "1"), ("ActionProcessor.duration", "250")], &[]);
    assert_eq!(outline_of(&[wait, get("a", "/a", &[])]), "pause 250ms, a");
}

#[test]
fn throughput_timers_are_paces_of_those_whom_they_hold_back() {
    let pace =
        |throughput: &str, mode: &str| element("ConstantThroughputTimer", "p", &[("throughput", throughput), ("calcMode", mode)], &[]);
    let single = |mode: &str| outline_of(&[get("a", "/a", &[pace("30.0", mode)])]);
    assert_eq!(single("0"), "pace 2s of each user, a");
    assert_eq!(single("1"), "pace 2s of all users, a");
    assert_eq!(single("calcMode.3"), "pace 2s of population, a");
    assert_eq!(single("3"), "pace 2s of all users as all active threads (shared), a");
    assert_eq!(single("4"), "pace 2s of population as all active threads in the group (shared), a");
    assert!(single("7").contains("its mode '7' is unknown"));
    // Over several samplers it is one pace, and another timer has another.
    let several = [
        pace("600", "0"),
        get("a", "/a", &[]),
        element("GenericController", "c", &[], &[pace("60", "0"), get("b", "/b", &[]), get("c", "/c", &[])]),
    ];
    let (wide, narrow) = ("pace 100ms of each user as p", "pace 1s of each user as p (2)");
    assert_eq!(outline_of(&several), format!("{wide}, a, {wide}, {narrow}, b, {wide}, {narrow}, c"));
    let none = outline_of(&[get("a", "/a", &[pace("0", "0")])]);
    assert!(none.starts_with("a !line ") && none.contains("its throughput '0' lets nobody go on"), "{none}");
    // What an answer says.
    let rate = element(
        "RegexExtractor",
        "e",
        &[("RegexExtractor.refname", "n"), ("RegexExtractor.regex", "(.)"), ("RegexExtractor.template", "$1$")],
        &[],
    );
    let written = outline_of(&[get("a", "/a", &[rate]), get("b", "/b", &[pace("${n}", "1")])]);
    assert_eq!(written, "a, pace {{n}}/m of all users, b");
    let precise = |settings: &[(&str, &str)]| outline_of(&[element("PreciseThroughputTimer", "p", settings, &[]), get("a", "/a", &[])]);
    let drawn = "pace exponential 500ms of population as precise throughput, caught up, a";
    assert_eq!(precise(&[("throughput", "2.0"), ("throughputPeriod", "1"), ("duration", "60"), ("batchSize", "1")]), drawn);
    assert_eq!(precise(&[("throughput", "7200")]), drawn);
    let two = drawn.replace("500ms of population", "1s of population by 2");
    assert_eq!(precise(&[("throughput", "7200"), ("batchSize", "2"), ("batchThreadDelay", "3")]), two);
    assert!(precise(&[("throughput", "5"), ("batchSize", "2000")]).contains("it lets 2000 requests go on at the same moment"));
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
    assert_eq!((steps[0].path.to_string().as_str(), steps[0].redirects, steps[0].method.as_str()), ("/find?q=a+b&raw=x%20y", 20, "GET"));
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
fn each_of_several_servers_has_the_users_and_paces_of_the_plan() {
    let timer = |mode: &str| element("ConstantThroughputTimer", "t", &[("throughput", "60"), ("calcMode", mode)], &[]);
    let asking = [get("a", "/a", &[timer("0")]), get("b", "/b", &[timer("1")])];
    let groups = [group(&[("ThreadGroup.num_threads", "5"), ("ThreadGroup.ramp_time", "10")], &asking)];
    let first = element("SetupThreadGroup", "first", &[("ThreadGroup.num_threads", "2")], &[get("log in", "/in", &[])]);
    let open = element(
        "OpenModelThreadGroup",
        "open",
        &[("OpenModelThreadGroup.schedule", "rate(4/s) even_arrivals(3 s)")],
        &[get("c", "/c", &[])],
    );
    let text = plan_of(&[], &[vec![first], groups.to_vec(), vec![open]].concat());
    let made = read_with(&text, &Wishes { servers: NonZeroU32::new(3), ..Wishes::default() }).work("");
    let loads: Vec<String> = made.populations.iter().map(|population| serde_json::to_string(population).unwrap()).collect();
    assert!(loads[0].contains("\"0 to 15 for 10s, 15\""), "{}", loads[0]);
    assert!(loads[1].contains("\"12/s for 3s\""), "{}", loads[1]);
    assert!(made.work.each_place, "what users have together they have on each server");
    assert_eq!(outline(&made.work.setup), "6x(log in)");
    assert_eq!(outline(&made.work.journeys[0].items), "pace 1s of each user, a, pace 333ms333us333ns of all users, b");
    let together = element("SyncTimer", "s", &[("groupSize", "0")], &[]);
    let meeting = plan_of(&[], &[group(&[("ThreadGroup.num_threads", "5")], &[get("a", "/a", &[together])])]);
    let made = read_with(&meeting, &Wishes { servers: NonZeroU32::new(3), ..Wishes::default() }).work("");
    assert!(outline(&made.work.journeys[0].items).starts_with("together 5 "), "those of one server wait for each other");
}

#[test]
fn a_request_that_would_lack_a_value_is_not_sent() {
    let lost = element("RegexExtractor", "x", &[("RegexExtractor.refname", "token"), ("RegexExtractor.useHeaders", "cookies")], &[]);
    let told = outline_of(&[get("a", "/a", &[lost]), get("b", "/b?t=${token}", &[]), get("c", "/c?u=${nobody}", &[])]);
    let (items, left) = told.split_once(" !").unwrap();
    assert_eq!(items, "a, c");
    assert!(left.contains("the RegexExtractor 'x': 'token' is not taken out of answers: it looks into 'cookies'"), "{left}");
    assert!(left.contains("the HTTPSamplerProxy 'b': it is not sent: the variable 'token' has no value here"), "{left}");
    assert!(left.contains("the variable 'nobody': nothing in the plan gives it a value, so it is sent with its braces"), "{left}");
    // What a script or a function names may get its value there.
    let script = element("JSR223PreProcessor", "s", &[("script", "vars.put('signature', sign())")], &[]);
    let found = element("RegexExtractor", "x", &[("RegexExtractor.refname", "id"), ("RegexExtractor.regex", "(.)")], &[]);
    let told = outline_of(&[
        get("a", "/a?s=${signature}", &[script]),
        get("roll", "/r?n=${__Random(1,6,dice)}", &[found]),
        get("b", "/b?n=${dice}", &[]),
        get("c", "/c/${id}/${id_matchNr}", &[]),
        get("d", "/d/${id}/${COOKIE_id}", &[]),
        get("e", "/e/${id}", &[]),
    ]);
    let (items, left) = told.split_once(" !").unwrap();
    assert_eq!(items, "dice={{random 1 6}}, roll, b, e", "{left}");
    for name in ["signature", "id_matchNr", "COOKIE_id"] {
        assert!(left.contains(&format!("the variable '{name}' has no value here")), "{name}: {left}");
    }
    let script = element("JSR223PreProcessor", "s", &[("script", "\nsampler.setDomain('b')")], &[]);
    let told = outline_of(&[get("a", "/a", &[script]), element("JDBCSampler", "db", &[], &[]), element("Odd", "o", &[], &[])]);
    for part in ["a !", "line 2 of its script: ", "the JDBCSampler 'db': it is no HTTP request", "the Odd 'o': it is unknown here"] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

#[test]
fn scripts_are_run_where_they_were() {
    let script = |class: &str, text: &str| element(class, "s", &[("scriptLanguage", "groovy"), ("script", text)], &[]);
    let (made, left) = import(&plan_of(
        &[],
        &[group(
            &[],
            &[
                script("JSR223PreProcessor", "vars.put('x', 'a' + vars.get('who'))"),
                get(
                    "a",
                    "/a?x=${x}&y=${y.z}",
                    &[
                        script("JSR223Assertion", "if (prev.getResponseCode() != '200') AssertionResult.setFailure(true)"),
                        script("JSR223PostProcessor", "vars.put('y.z', prev.getResponseDataAsString())"),
                        script("JSR223Timer", "return 300"),
                    ],
                ),
                script("JSR223Sampler", "vars.put('n', '${who}')"),
                get("b", "/b?n=${n}&v=${__groovy(vars.get('n').reverse())}", &[]),
            ],
        )],
    ));
    assert_eq!(left, Vec::<String>::new());
    let mut told = Vec::new();
    for item in &made.work.journeys[0].items {
        match item {
            Item::Script(script) => {
                told.push(format!("{} sets {}{}", script.name, script.sets.join(""), script.into.as_deref().unwrap_or_default()));
            }
            Item::Step(step) => {
                told.push(format!("{} {}", step.path, step.after.iter().map(|script| format!("[{}]", script.name)).collect::<String>()));
            }
            Item::Pause(Duration::Written(time)) => told.push(time.to_string()),
            _ => {}
        }
    }
    // How made-up names are numbered is nobody's business.
    let told: Vec<String> = told.iter().map(|line| line.replace(|letter: char| letter.is_ascii_digit(), "")).collect();
    let before = "the JSRPreProcessor 's' sets x";
    let expected = [
        before,
        "the JSRTimer 's' sets pause_",
        "{{pause_}}ms",
        "/a?x={{raw (x)}}&y={{raw (y_z)}} [the JSRPostProcessor 's'][the JSRAssertion 's']",
        before,
        "the JSRSampler 's' sets n",
        before,
        "the script of __groovy sets script_",
        "/b?n={{raw (n)}}&v={{raw (script_)}} ",
    ];
    assert_eq!(told, expected);
}

#[test]
fn what_looks_at_what_a_script_returns_is_computed_behind_it() {
    let sampler = |children: &[String]| element("JSR223Sampler", "s", &[("script", "return 'id=7'")], children);
    let regex = |more: (&str, &str)| {
        let settings = [("RegexExtractor.refname", "t"), ("RegexExtractor.regex", "id=(.)"), more];
        element("RegexExtractor", "x", &settings, &[])
    };
    let with = |children: &[String]| outline_of(&[sampler(children), get("a", "/a?t=${t}", &[]), get("b", "/b", &[])]);
    let first = with(&[regex(("RegexExtractor.match_number", "1"))]);
    let expected = "matches_1=find({{returned_1}}, \"id=(.)\"),t=if(count({{matches_1}}) > 0, item({{matches_1}}, 0), {{t}}), a, b";
    assert!(first.ends_with(expected), "{first}");
    let path = [
        ("JSONPostProcessor.referenceNames", "t"),
        ("JSONPostProcessor.jsonPathExprs", "$.t"),
        ("JSONPostProcessor.defaultValues", "none"),
    ];
    let found = with(&[element("JSONPostProcessor", "j", &path, &[])]);
    let there = "if(count({{matches_1}}) > 0, item({{matches_1}}, 0), null) != null";
    let expected = format!("matches_1=select({{{{returned_1}}}}, json, \"$.t\"),t=if({there}, item({{{{matches_1}}}}, 0), none), a, b");
    assert!(found.ends_with(&expected), "{found}");
    let page = [
        ("HtmlExtractor.refname", "t"),
        ("HtmlExtractor.expr", "a"),
        ("HtmlExtractor.attribute", "href"),
        ("HtmlExtractor.match_number", "1"),
    ];
    let found = with(&[element("HtmlExtractor", "c", &page, &[])]);
    assert!(found.contains("matches_1=select({{returned_1}}, css, \"a::attr(href)\")"), "{found}");
    let told = with(&[regex(("RegexExtractor.useHeaders", "true"))]);
    assert!(told.contains("nothing but that text is looked into"), "{told}");
    let behind = |text: &str| with(&[element("JSR223PostProcessor", "p", &[("script", text)], &[])]);
    assert!(behind("vars.put('t', prev.getResponseCode())").contains("it looks at an answer"));
    assert_eq!(behind("vars.put('t', '1')").matches("Script(").count(), 2);
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
    assert_eq!(
        (made.settings.data_file.clone(), made.files.clone()),
        (vec!["users(name,pass word)[header,no-quotes,uneven,end=stop-user]=data/users.csv".to_owned()], vec!["users".to_owned()])
    );
    let paths: Vec<String> = made.work.steps().iter().map(|step| step.path.to_string()).collect();
    assert_eq!(paths, ["/{{raw (users.name)}}/{{raw (users \"pass word\")}}", "/i/{{raw (one)}}/{{raw (n)}}"]);
    assert_eq!(made.work.variables.iter().map(|known| format!("{}={}", known.name, known.value)).collect::<Vec<_>>(), ["n=3"]);
    assert_eq!(left, [""; 0]);
}

#[test]
fn counters_count_for_a_user_or_all_and_what_is_made_of_others_is_left_out() {
    let counter = |settings: &[(&str, &str)]| {
        element("CounterConfig", "n", &[&[("CounterConfig.name", "n"), ("CounterConfig.start", "5")], settings].concat(), &[])
    };
    assert_eq!(outline_of(&[counter(&[]), get("a", "/a/${n}", &[])]), "n=5 + (next(n) - 1) * 1, a");
    assert_eq!(
        outline_of(&[counter(&[("CounterConfig.end", "9"), ("CounterConfig.incr", "2")]), get("a", "/${n}", &[])]),
        "n=5 + (next(n) - 1) % 3 * 2, a"
    );
    let own = ("CounterConfig.per_user", "true");
    assert_eq!(outline_of(&[counter(&[own, ("CounterConfig.end", "9")]), get("a", "/${n}", &[])]), "n=if({{n}} + 1 > 9, 5, {{n}} + 1), a");
    assert_eq!(
        outline_of(&[counter(&[own, ("CounterConfig.format", "u_000")]), get("a", "/${n}", &[])]),
        "n_number={{n_number}} + 1,n_digits=substring(\"000{{n_number}}\", length(\"000{{n_number}}\") - max(3, length({{n_number}}))),n=\"u_{{n_digits}}\", a"
    );
    let looped = element("LoopController", "l", &[("LoopController.loops", "2")], &[counter(&[]), get("a", "/a/${n}", &[])]);
    assert_eq!(outline_of(&[looped, get("b", "/b", &[])]), "2x(n=5 + (next(n) - 1) * 1, a), b");
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
    assert!(circle.0 == "a" && circle.1[0].contains("leads back to where it stands"), "{circle:?}");
}

#[test]
fn setup_and_teardown_groups_are_done_once_around_the_load() {
    let main = "<stringProp name=\"LoopController.loops\">1</stringProp>";
    let of = |class: &str, name: &str| element(class, name, &[("ThreadGroup.main_controller", main)], &[get(name, "/", &[])]);
    let (made, left) =
        import(&plan_of(&[], &[of("SetupThreadGroup", "before"), group(&[], &[get("a", "/a", &[])]), of("PostThreadGroup", "after")]));
    assert_eq!((outline(&made.work.setup), outline(&made.work.teardown), left), ("before".to_owned(), "after".to_owned(), vec![]));
    let (made, left) =
        import(&plan_of(&[], &[element("org.odd.OddThreadGroup", "s", &[], &[get("a", "/a", &[])]), group(&[], &[get("b", "/b", &[])])]));
    assert!(count(&made.work) == 1 && left[0].contains("its kind of group is not carried over"), "{left:?}");
}

#[test]
fn what_a_page_embeds_is_loaded_behind_it() {
    let of = |settings: &[(&str, &str)]| {
        let asked = [("HTTPSampler.domain", "a.test"), ("HTTPSampler.method", "GET"), ("HTTPSampler.image_parser", "true")];
        let (made, left) =
            import(&plan_of(&[], &[group(&[], &[element("HTTPSamplerProxy", "page", &[&asked[..], settings].concat(), &[])])]));
        (made.work.steps()[0].resources.clone().unwrap(), left)
    };
    let one = Resources { at_once: NonZeroU32::MIN, are_part: true, ..Resources::default() };
    assert_eq!(of(&[]), (one.clone(), vec![]));
    let pool = [("HTTPSampler.concurrentDwn", "true"), ("HTTPSampler.concurrentPool", "4"), ("HTTPSampler.embedded_url_re", ".*[.]png")];
    let expected = Resources { at_once: NonZeroU32::new(4).unwrap(), only: Some("^(?:.*[.]png)$".to_owned()), ..one.clone() };
    assert_eq!(of(&pool), (expected, vec![]));
    let (resources, left) = of(&[("HTTPSampler.embedded_url_exclude_re", "${__time()}")]);
    assert_eq!(resources, one);
    assert!(left.iter().any(|left| left.contains("which embedded resources it does not load: it is known only on the way")), "{left:?}");
}

#[test]
fn what_is_evaluated_may_name_variables_of_its_own_list() {
    let named = [("a", "A"), ("t", "v-${a}")].map(|(name, value)| item(&[("Argument.name", name), ("Argument.value", value)]));
    let variables = element("Arguments", "v", &[("Arguments.arguments", &named.concat())], &[]);
    let asking = group(&[], &[get("g", "/${__eval(${t})}/${__evalVar(t)}/${t}", &[])]);
    let (made, left) = import(&plan_of(&[], &[variables, asking]));
    assert_eq!(made.work.steps()[0].path.to_string(), "/v-{{raw (a)}}/v-{{raw (a)}}/{{raw (t)}}");
    assert!(left.len() == 1 && left[0].contains("sent with its braces"), "{left:?}");
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
