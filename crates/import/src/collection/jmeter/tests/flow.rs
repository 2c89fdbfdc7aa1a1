//! What ends what, and conditions about the last sample.

use plan::work::Extent;

use super::*;

fn action(action: &str, target: &str) -> String {
    element("TestAction", "act", &[("ActionProcessor.action", action), ("ActionProcessor.target", target)], &[])
}

fn looped(class: &str, name: &str, settings: &[(&str, &str)], children: &[String]) -> String {
    element(class, name, settings, children)
}

fn one() -> String {
    get("a", "/a", &[])
}

#[test]
fn actions_end_what_they_say_from_where_they_stand() {
    for (kind, target, ended) in [
        ("0", "0", "End(User)"),
        ("2", "0", "End(User)"),
        ("0", "2", "End(Load)"),
        ("2", "2", "End(LoadAtOnce)"),
        ("3", "0", "End(Journey)"),
        ("4", "0", "End(Journey)"),
        ("5", "0", "End(User)"),
    ] {
        assert_eq!(outline_of(&[one(), action(kind, target)]), format!("a, {ended}"), "{kind} {target}");
    }
    let in_loop = |kind: &str| {
        outline_of(&[looped(
            "LoopController",
            "l",
            &[("LoopController.loops", "2")],
            &[one(), element("GenericController", "s", &[], &[action(kind, "0")])],
        )])
    };
    assert_eq!((in_loop("4"), in_loop("5")), ("2x(a, EndRound)".to_owned(), "2x(a, EndLoop)".to_owned()));
    // What goes on for a time is no loop there.
    let timed = looped("RunTime", "t", &[("RunTime.seconds", "1")], &[one(), action("4", "0")]);
    assert!(outline_of(&[timed]).contains("it ends the round of a loop around what it stands in, and users go on here"));
    let parallel = element("ParallelSampler", "p", &[], &[element("GenericController", "s", &[], &[one(), action("0", "0")])]);
    assert!(outline_of(&[parallel]).contains("it ends what others are under way in beside it"));
    assert!(outline_of(&[one(), action("9", "0")]).contains("it is unknown, and users go on here"));
}

#[test]
fn handlers_of_results_end_what_they_say_where_a_sampler_fails() {
    let handler = |action: &str| element("ResultAction", "r", &[("OnError.action", action)], &[]);
    let ended = |group_says: &str, action: &str| {
        let asked = get("a", "/a", &[handler(action)]);
        let (made, left) = import(&plan_of(&[], &[group(&[("ThreadGroup.on_sample_error", group_says)], &[asked, one()])]));
        assert_eq!(left, Vec::<String>::new());
        made.work.steps().iter().map(|step| step.failure_ends.map_or("nothing".to_owned(), |extent| extent.to_string())).collect::<Vec<_>>()
    };
    assert_eq!(ended("continue", "0"), ["nothing", "nothing"]);
    assert_eq!(ended("continue", "1"), ["user", "nothing"]);
    assert_eq!(ended("startnextloop", "3"), ["load at once", "journey"]);
    assert_eq!(ended("stopthread", "4"), ["user", "user"]);
    let looped = looped("LoopController", "l", &[("LoopController.loops", "2")], &[handler("6"), one(), get("b", "/b", &[])]);
    assert_eq!(outline_of(&[looped]), "2x(a, if {{last_succeeded}} == false (EndLoop), b, if {{last_succeeded}} == false (EndLoop))");
}

#[test]
fn a_sampler_may_take_as_long_as_the_least_of_its_limits() {
    let limit = |time: &str| element("SampleTimeout", "t", &[("InterruptTimer.timeout", time)], &[]);
    let of = |limits: &[String], own: &str| {
        let sampler = [("HTTPSampler.domain", "a.test"), ("HTTPSampler.path", "/a"), ("HTTPSampler.response_timeout", own)];
        let (made, left) = import(&plan_of(&[], &[group(&[], &[limit("900"), element("HTTPSamplerProxy", "a", &sampler, limits)])]));
        (made.work.steps()[0].timeout.map(|time| time.to_string()), left.len())
    };
    assert_eq!(of(&[limit("200")], "500"), (Some("200ms".to_owned()), 0));
    assert_eq!(of(&[], "500"), (Some("500ms".to_owned()), 0));
    assert_eq!(of(&[limit("0")], ""), (Some("900ms".to_owned()), 0));
    // That nothing gives it a value is told as well.
    assert_eq!(of(&[limit("${later}")], ""), (Some("900ms".to_owned()), 2));
}

#[test]
fn what_records_a_plan_and_what_looks_on_is_passed_over() {
    let inside = element("ResultCollector", "tree", &[], &[]);
    let recorder = element("ProxyControl", "HTTP(S) Test Script Recorder", &[], &[inside]);
    let looks_on = [
        "ResultSaver",
        "kg.apc.jmeter.vizualizers.CorrectedResultCollector",
        "MailerResultCollector",
        "kg.apc.jmeter.perfmon.PerfMonCollector",
    ];
    let others = looks_on.map(|class| element(class, "l", &[], &[]));
    let (_, left) = import(&plan_of(&[], &[&[recorder][..], &others, &[group(&[], &[one()])]].concat()));
    assert_eq!(left, Vec::<String>::new());
    let told = outline_of(&[element("SoapSampler", "s", &[], &[]), element("URLRewritingModifier", "u", &[], &[]), one()]);
    assert!(told.contains("HTTP Request whose body is the envelope") && told.contains("with an extractor"), "{told}");
}

#[test]
fn what_is_done_after_the_load_is_left_out_where_that_was_ended_unless_the_plan_says_otherwise() {
    let behind = element("PostThreadGroup", "p", &[], &[one()]);
    let skips = |settings: &[(&str, &str)], groups: &[String]| import(&plan_of(settings, groups)).0.work.skips_teardown;
    let both = [group(&[], &[one()]), behind];
    assert!(skips(&[], &both));
    assert!(!skips(&[("TestPlan.tearDown_on_shutdown", "true")], &both));
    assert!(!skips(&[], &both[..1]));
}

#[test]
fn what_is_done_once_and_ends_its_round_is_told() {
    let once = |inner: &[String]| element("OnceOnlyController", "o", &[], inner);
    let twice = [("LoopController.loops", "2")];
    let told = outline_of(&[once(&[one(), action("3", "0"), get("b", "/b", &[])])]);
    assert!(told.starts_with("once (a, End(Journey), b) !") && told.contains("it is done again with the next one there"), "{told}");
    let told = outline_of(&[looped("LoopController", "l", &twice, &[once(&[one(), action("4", "0")]), get("b", "/b", &[])])]);
    assert!(told.contains("it is done again with the next one there"), "{told}");
    let inner = looped("LoopController", "l", &twice, &[one(), action("4", "0")]);
    assert_eq!(outline_of(&[once(&[inner])]), "once (2x(a, EndRound))");
}

#[test]
fn a_failure_ends_what_the_group_says() {
    for (said, extent) in [
        ("startnextloop", Some(Extent::Journey)),
        ("stopthread", Some(Extent::User)),
        ("stoptest", Some(Extent::Load)),
        ("stoptestnow", Some(Extent::LoadAtOnce)),
        ("continue", None),
    ] {
        let (made, left) = import(&plan_of(&[], &[group(&[("ThreadGroup.on_sample_error", said)], &[one()])]));
        let step = made.work.steps()[0].clone();
        assert_eq!((step.failure_ends, step.may_fail, left), (extent, extent.is_none(), vec![]), "{said}");
    }
    let before = |settings: &[(&str, &str)], children: &[String]| {
        let (made, left) = import(&plan_of(&[], &[element("SetupThreadGroup", "before", settings, children), group(&[], &[one()])]));
        (outline(&made.work.setup), left)
    };
    let failing = |said| [("ThreadGroup.on_sample_error", said)];
    let setup = |ended: &str| (format!("1x(a, if {{{{last_succeeded}}}} == false ({ended}))"), vec![]);
    assert_eq!(before(&failing("startnextloop"), &[one()]), setup("EndRound"));
    assert_eq!(before(&failing("stopthread"), &[one()]), setup("EndLoop"));
    assert_eq!(before(&failing("stoptest"), &[one()]).0, "a, if {{last_succeeded}} == false (End(Load))");
    let users = [("ThreadGroup.num_threads", "2"), ("ThreadGroup.on_sample_error", "continue")];
    assert_eq!(before(&users, &[one()]), ("2x(a)".to_owned(), vec![]));
    let inner = looped("LoopController", "l", &[("LoopController.loops", "2")], &[one()]);
    assert!(before(&failing("stopthread"), &[inner]).1[0].contains("its failure ends nothing: it stands in a loop of a group"));
}

#[test]
fn conditions_are_about_the_last_sample_and_looked_at_as_often_as_there() {
    let when = |condition: &str, each: &str| {
        let settings = [("IfController.condition", condition), ("IfController.useExpression", "true"), ("IfController.evaluateAll", each)];
        outline_of(&[element("IfController", "if", &settings, &[one()])])
    };
    assert_eq!(when("${JMeterThread.last_sample_ok}", "false"), "if lower({{last_succeeded}}) == true (a)");
    assert_eq!(when("${__jexl3(${JMeterThread.last_sample_ok})}", "false"), "if {{last_succeeded}} (a)");
    let each = when("${__jexl3(${JMeterThread.last_sample_ok} == true)}", "true");
    assert!(each.starts_with("AsLongAs {"), "{each}");
    let repeat = |condition: &str| outline_of(&[element("WhileController", "w", &[("WhileController.condition", condition)], &[one()])]);
    assert_eq!(repeat("LAST"), "while not {{last_succeeded}} == false (a)");
    assert_eq!(repeat(""), "begins_1=1, while {{begins_1}} == 1 or not {{last_succeeded}} == false (begins_1=0, a)");
}

#[test]
fn loops_tell_their_index_where_something_asks_for_it() {
    let named = |class: &str, settings: &[(&str, &str)]| {
        outline_of(&[looped(class, "L", settings, &[get("a", "/a?i=${__jm__L__idx}", &[])]), one()])
    };
    assert_eq!(
        named("LoopController", &[("LoopController.loops", "2")]),
        "__jm__L__idx=\"-1\", 2x(__jm__L__idx={{__jm__L__idx}} + 1, a), __jm__L__idx=0, a (2)"
    );
    assert!(named("WhileController", &[("WhileController.condition", "LAST")]).starts_with("__jm__L__idx=\"-1\", while"));
    assert_eq!(outline_of(&[looped("LoopController", "L", &[("LoopController.loops", "2")], &[one()])]), "2x(a)", "nobody asks");
}
