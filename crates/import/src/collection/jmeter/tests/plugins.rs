//! Timers of plugins.

use super::*;

const SHAPING: &str = "kg.apc.jmeter.timers.VariableThroughputTimer";

/// Rows of a schedule: requests a second at its beginning and end, and its seconds.
fn profile(rows: &[[&str; 3]]) -> String {
    let row = |row: &[&str; 3]| {
        let each: String = row.iter().map(|number| format!("<stringProp name=\"1\">{number}</stringProp>")).collect();
        format!("<collectionProp name=\"1\">{each}</collectionProp>")
    };
    rows.iter().map(row).collect()
}

#[test]
fn a_schedule_of_requests_is_a_pace_of_all_users_and_ends_the_test() {
    let rows = profile(&[["1", "10", "${time}"], ["10", "10", "60"]]);
    let shaping = element(SHAPING, "rps", &[("load_profile", &rows)], &[]);
    let time = item(&[("Argument.name", "time"), ("Argument.value", "30")]);
    let defined = element("Arguments", "v", &[("Arguments.arguments", &time)], &[]);
    let main = "<stringProp name=\"LoopController.loops\">-1</stringProp>";
    let endless = [("ThreadGroup.num_threads", "20"), ("ThreadGroup.main_controller", main)];
    let longer =
        [("ThreadGroup.num_threads", "2"), ("ThreadGroup.scheduler", "true"), ("ThreadGroup.duration", "600"), ("ThreadGroup.delay", "30")];
    let groups = [group(&endless, &[get("a", "/a", &[]), get("b", "/b", &[])]), group(&longer, &[get("c", "/c", &[])])];
    let text = plan_of(&[], &[vec![defined, shaping], groups.to_vec()].concat());
    let made = read_with(&text, &Wishes::default());
    assert_eq!(made.left_out, []);
    let made = made.work("");
    let pace = "pace 1/s to 10/s for 30s, 10/s for 1m of all users";
    assert_eq!(outline(&made.work.journeys[0].items), format!("{pace}, a, {pace}, b"));
    let durations: Vec<String> = made.populations.iter().map(|one| one.duration.as_ref().unwrap().to_string()).collect();
    assert_eq!(durations, ["1m30s", "1m"], "the test is over with the schedule");
    let given = Wishes { properties: vec![("load_profile".to_owned(), "const(5,10s)".to_owned())], ..Wishes::default() };
    assert!(outline(&read_with(&text, &given).work("").work.journeys[0].items).starts_with("pace 5/s for 10s of all users, a"));
}

#[test]
fn what_older_plans_say_otherwise_is_understood() {
    let timer = |mode: &str| element("ConstantThroughputTimer", "t", &[("throughput", "60"), ("calcMode", mode)], &[]);
    let in_words = outline_of(&[timer("all active threads (shared)"), get("a", "/a", &[])]);
    assert_eq!(in_words, outline_of(&[timer("3"), get("a", "/a", &[])]));
    let variable = |value: &str| {
        let value = item(&[("Argument.name", "place"), ("Argument.value", value)]);
        let defined = element("Arguments", "v", &[("Arguments.arguments", &value)], &[]);
        let (made, left) = import(&plan_of(&[], &[defined, group(&[], &[get("a", "/a", &[])])]));
        assert_eq!(left, Vec::<String>::new());
        made.work.variables[0].value.to_string()
    };
    let folder = "import org.apache.jmeter.services.FileServer; FileServer.getFileServer().getBaseDir();";
    assert_eq!(variable(&format!("${{__BeanShell({folder})}}${{__BeanShell(File.separator,)}}rows.csv")), "./rows.csv");
    let when =
        |condition: &str| outline_of(&[element("IfController", "i", &[("IfController.condition", condition)], &[get("a", "/a", &[])])]);
    assert!(when("'${__threadNum}'.length > 1").ends_with("if lower({{script_1}}) == true (a)"), "{}", when("'${__threadNum}'.length > 1"));
}

#[test]
fn a_schedule_that_is_none_is_told() {
    let rows = profile(&[["0", "0", "60"]]);
    let told = outline_of(&[element(SHAPING, "rps", &[("load_profile", &rows)], &[]), get("a", "/a", &[])]);
    assert!(told.starts_with("a !") && told.contains("its schedule lets nobody go on"), "{told}");
    let rows = profile(&[["${later}", "5", "60"]]);
    let told = outline_of(&[element(SHAPING, "rps", &[("load_profile", &rows)], &[]), get("a", "/a", &[])]);
    assert!(told.contains("'${later}' in its schedule is no number that is known before the load"), "{told}");
}

#[test]
fn parts_by_weight_take_turns_that_come_again_or_are_drawn() {
    let row = |texts: [&str; 3]| texts.map(|text| format!("<stringProp name=\"1\">{text}</stringProp>")).concat();
    let weighted = |weights: [&str; 2], random: &str| {
        let rows = [row(["a", weights[0], "true"]), row(["off", "9", "false"]), row(["b", weights[1], "true"])];
        let rows: String = rows.iter().map(|row| format!("<collectionProp name=\"1\">{row}</collectionProp>")).collect();
        let settings = [("Weights", rows.as_str()), ("IsRandomChoice", random)];
        outline_of(&[element(
            "com.blazemeter.jmeter.control.WeightedSwitchController",
            "w",
            &settings,
            &[get("a", "/a", &[]), get("b", "/b", &[])],
        )])
    };
    assert_eq!(weighted(["2", "1"], "false"), "turn_1={{turn_1}} + 1, switch ({{turn_1}} - 1) % 3 (a | b)");
    assert_eq!(weighted(["70", "30"], "true"), "pick (a | b)");
    assert!(weighted(["many", "1"], "false").contains("its weights are no whole numbers"));
    assert!(weighted(["10007", "1"], "false").contains("more than 10000 turns"));
}
