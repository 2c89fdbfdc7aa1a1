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
fn a_schedule_that_is_none_is_told() {
    let rows = profile(&[["0", "0", "60"]]);
    let told = outline_of(&[element(SHAPING, "rps", &[("load_profile", &rows)], &[]), get("a", "/a", &[])]);
    assert!(told.starts_with("a !") && told.contains("its schedule lets nobody go on"), "{told}");
    let rows = profile(&[["${later}", "5", "60"]]);
    let told = outline_of(&[element(SHAPING, "rps", &[("load_profile", &rows)], &[]), get("a", "/a", &[])]);
    assert!(told.contains("'${later}' in its schedule is no number that is known before the load"), "{told}");
}
