use std::rc::Rc;

use import::collection::Wishes;
use plan::Sources;

use super::*;
use crate::{KnownSecrets, MemoryInputs, Reader, fingerprint};

const SHOP: &str = "target: http://a.test
load: {users: 7, duration: 20s}
data: ['users=users.csv']
variables: {password: s3cr3t-of-scenario}
steps:
  - {post: '/{{users.id}}', body: {file: body.bin}, headers: {X: '{{env T}}'}}
";

fn scenarios(inputs: MemoryInputs) -> Scenarios {
    Scenarios::new(&Reader::new(inputs, KnownSecrets::default()), Wishes::default())
}

fn shop() -> MemoryInputs {
    let inputs = MemoryInputs::default().with_file("shop/shop.yaml", SHOP).with_file("shop/users.csv", "id\n1\n2\n");
    inputs.with_file("shop/body.bin", [0, 255]).with_variable("T", "t0ken-of-mine")
}

fn named(path: &str) -> LoadRecord {
    Draft { scenario: Some(path.to_owned()), ..Draft::default() }.into()
}

fn decided(inputs: MemoryInputs, load: LoadRecord) -> Result<Plan, String> {
    let mut errors = PlanErrors::default();
    let plan = scenarios(inputs).decide(load, OwnLoad::Whole, &mut errors);
    plan.filter(|_| errors.is_empty()).ok_or_else(|| errors.spelt(plan::Spelling::Flags))
}

#[test]
fn a_plan_holds_everything_that_its_scenario_names() {
    let plan = decided(shop(), named("shop/shop.yaml")).unwrap();
    let held: Vec<&str> = plan.contents().iter().map(|(path, _)| path).collect();
    assert_eq!(held, ["shop/body.bin", "shop/shop.yaml", "shop/users.csv"]);
    assert_eq!(plan.connections_max().get(), 7);
    assert_eq!(plan.scenario().unwrap().sha256, Some(fingerprint(SHOP.as_bytes())));
    assert_eq!(plan.secrets().conceal("t0ken-of-mine s3cr3t-of-scenario"), "*** ***");
    let saved = serde_json::to_string(&plan).unwrap();
    assert!(!saved.contains("t0ken") && !saved.contains("s3cr3t"), "{saved}");
}

#[test]
fn what_a_scenario_names_and_is_not_there_is_told_at_once() {
    let why = decided(MemoryInputs::default().with_file("shop/shop.yaml", SHOP), named("shop/shop.yaml")).unwrap_err();
    for what in ["users.csv", "body.bin", "variable T"] {
        assert!(why.contains(what), "{what}:\n{why}");
    }
}

#[test]
fn a_plan_is_carried_out_from_what_it_holds_alone() {
    let plan = decided(shop(), named("shop/shop.yaml")).unwrap();
    let far = Plan::decode(&plan.encode(), plan.contents().clone()).unwrap();
    assert_eq!(far, plan);
    let there = scenarios(MemoryInputs::of_plan(&far));
    assert!(there.journeys(&far).unwrap_or_else(|why| panic!("{why:?}")).is_some());
    let draft = Draft {
        url: Some("http://a.test/{{users.id}}".to_owned()),
        data: Some("@body".to_owned()),
        data_file: vec!["users=shop/users.csv".to_owned()],
        ..Draft::default()
    };
    let plan = decided(shop().with_file("body", "{{file shop/body.bin}}"), draft.into()).unwrap();
    let far = Plan::decode(&plan.encode(), plan.contents().clone()).unwrap();
    let ready = scenarios(MemoryInputs::of_plan(&far)).requests_of(&far).unwrap().expect("its requests differ");
    let sent: Vec<String> = ready.preview(2).unwrap().iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect();
    assert!(sent[0].starts_with("POST /1 ") && sent[1].starts_with("POST /2 "), "{sent:?}");
}

#[test]
fn a_level_takes_its_load_from_the_command_and_the_rest_from_the_scenario() {
    let level = Draft { connections: "3".parse().ok(), ..named("shop/shop.yaml").draft };
    let mut errors = PlanErrors::default();
    let resolved = scenarios(shop()).resolve(level.into(), OwnLoad::AllButHowMuch, &mut errors);
    assert!(errors.is_empty(), "{errors:?}");
    let text = |value: Option<String>| value.unwrap_or_default();
    assert_eq!(text(resolved.draft.connections.map(|users| users.to_string())), "3");
    assert_eq!(text(resolved.draft.duration.map(|time| time.to_string())), "20s");
}

#[test]
fn a_scenario_that_changed_since_the_plan_was_saved_is_told() {
    let sources = Sources { scenario_sha256: Some(fingerprint(b"old")), ..Sources::default() };
    let why = decided(shop(), LoadRecord { sources, ..named("shop/shop.yaml") }).unwrap_err();
    assert!(why.contains("the scenario 'shop/shop.yaml' is not what it was when this plan was saved"), "{why}");
}

#[test]
fn a_missing_variable_and_a_missing_column_are_told_together() {
    let draft = Draft {
        url: Some("http://a.test/{{env A}}{{users.nmae}}".to_owned()),
        data_file: vec!["users=shop/users.csv".to_owned()],
        ..Draft::default()
    };
    let why = decided(shop(), draft.into()).unwrap_err();
    assert!(why.contains("the variable A, which is not in the environment") && why.contains("no column 'nmae'"), "{why}");
}

#[test]
fn loads_of_one_command_are_made_of_what_was_read_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.yaml");
    std::fs::write(&path, "target: http://a.test\nsteps: [{get: /first}]\n").unwrap();
    let scenarios = Scenarios::new(&Reader::of_this_machine(KnownSecrets::default()), Wishes::default());
    let load = named(path.to_str().unwrap());
    let first = scenarios.decide(load.clone(), OwnLoad::Whole, &mut PlanErrors::default()).unwrap();
    std::fs::write(&path, "nonsense").unwrap();
    assert_eq!(scenarios.decide(load, OwnLoad::Whole, &mut PlanErrors::default()), Some(first));
}

#[test]
fn whoever_asks_for_requests_gets_as_many_threads_as_share_the_users_evenly() {
    let threads_for = |users: u32, requests: Option<&str>| {
        let draft = Draft {
            connections: users.to_string().parse().ok(),
            requests: requests.map(|number| number.parse().unwrap()),
            ..Draft::default()
        };
        threads(&draft.into(), NonZeroU32::new(4).unwrap(), (NonZeroU32::new(1000).unwrap(), NonZeroU32::MIN)).get()
    };
    assert_eq!(threads_for(6, Some("600")), 3);
    assert_eq!(threads_for(7, Some("600")), 1);
    assert_eq!(threads_for(8, Some("600")), 4);
    assert_eq!(threads_for(50, Some("600")), 4, "12 or 13 users are as good as equal");
    assert_eq!(threads_for(6, None), 4, "whoever loads for a time loads with all cores");
}

#[test]
fn whoever_needs_several_processes_gets_a_thread_in_each() {
    let threads_for = |users: u32, processes: Option<&str>, requests: Option<&str>| {
        let draft = Draft {
            connections: users.to_string().parse().ok(),
            requests: requests.map(|number| number.parse().unwrap()),
            processes: processes.map(|number| number.parse().unwrap()),
            ..Draft::default()
        };
        threads(&draft.into(), NonZeroU32::new(4).unwrap(), (NonZeroU32::new(1000).unwrap(), NonZeroU32::MIN)).get()
    };
    assert_eq!(threads_for(4000, None, None), 4);
    assert_eq!(threads_for(5500, None, None), 6, "a process may open a thousand connections");
    assert_eq!(threads_for(100, Some("3"), None), 6, "as many threads in each");
    assert_eq!(threads_for(7, Some("3"), Some("70")), 6, "never fewer than processes");
}

#[test]
fn a_secret_of_one_reader_is_unknown_to_another() {
    let known = KnownSecrets::default();
    let reader: Rc<Reader> = Reader::new(shop(), known.clone());
    let _ = Scenarios::new(&reader, Wishes::default()).resolve(named("shop/shop.yaml"), OwnLoad::Whole, &mut PlanErrors::default());
    assert_eq!(known.conceal("t0ken-of-mine"), "***");
    assert_eq!(KnownSecrets::default().conceal("t0ken-of-mine"), "t0ken-of-mine");
}

#[test]
fn populations_with_rates_share_what_one_load_would_take() {
    let of = |rate: Option<&str>, connections: Option<&str>| PopulationDraft {
        rate: rate.map(|rate| rate.parse().unwrap()),
        connections: connections.map(|number| number.parse().unwrap()),
        ..PopulationDraft::default()
    };
    let open = || of(Some("5/s"), None);
    let mut populations = vec![open(), of(None, Some("7")), open(), of(Some("5/s"), Some("20")), open()];
    share_connections(&mut populations, NonZeroU32::new(10_000).unwrap());
    let most = |populations: &[PopulationDraft]| -> Vec<String> {
        let number = |population: &PopulationDraft| match &population.connections {
            Some(Setting::Value(users)) => users.peak().to_string(),
            _ => String::new(),
        };
        populations.iter().map(number).collect()
    };
    assert_eq!(most(&populations), ["3333", "7", "3333", "20", "3333"]);
    let mut many = vec![open(), open(), open()];
    share_connections(&mut many, NonZeroU32::new(2).unwrap());
    assert_eq!(most(&many), ["1", "1", "1"]);
}

const PROTO: &str = "syntax = \"proto3\"; package a; message M { string name = 1; int32 age = 2; } service S { rpc Get(M) returns (M); }";

/// A load of calls, with this message.
fn calling(message: &str) -> Draft {
    let text = |text: &str| Some(text.to_owned());
    Draft { url: text("grpc://127.0.0.1:1/a.S/Get"), message: text(message), proto: vec!["p/a.proto".to_owned()], ..Draft::default() }
}

#[test]
fn messages_of_calls_are_held_against_what_describes_them() {
    let inputs = || MemoryInputs::default().with_file("p/a.proto", PROTO);
    let plan = decided(inputs(), calling("{\"name\": \"{{uuid}}\", \"age\": 3}").into()).unwrap();
    assert!(plan.contents().get(plan::DESCRIPTORS).is_some_and(|set| !set.is_empty()));
    // Whoever carries it out has neither the file nor a server to ask.
    let again = Plan::decode(&plan.encode(), plan.contents().clone()).unwrap();
    assert_eq!(again, plan);
    let wrong = |inputs: MemoryInputs, draft: Draft| decided(inputs, draft.into()).unwrap_err();
    for (message, part) in [
        ("{\"nam\": 1}", "did you mean 'name'?"),
        ("{\"age\": \"{{uuid}}\"}", "the message's field age"),
        ("[1]", "one message, and not a list of them"),
    ] {
        let errors = wrong(inputs(), calling(message));
        assert!(errors.contains(part), "{message}: {errors}");
    }
    let errors = wrong(MemoryInputs::default(), calling("{}"));
    assert!(errors.contains("the file 'p/a.proto' cannot be read"), "{errors}");
    let errors = wrong(MemoryInputs::default().with_file("p/a.proto", "syntax = \"proto3\";\nmessage {"), calling("{}"));
    assert!(errors.contains("p/a.proto:2:9"), "{errors}");
    let set = grpc::compile(&["a.proto".to_owned()], &[], |_| Ok(PROTO.as_bytes().to_vec())).unwrap();
    let with_set = Draft { proto: Vec::new(), descriptors: Some("a.pb".to_owned()), ..calling("{}") };
    decided(MemoryInputs::default().with_file("a.pb", &set), with_set.clone().into()).unwrap();
    let errors = wrong(MemoryInputs::default().with_file("a.pb", "none"), with_set);
    assert!(errors.contains("what describes the messages cannot be used"), "{errors}");
}
