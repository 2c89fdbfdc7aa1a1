use super::*;
use crate::{ExportedRun, Follower, Header, Journal, Kind, RunNews};
use measure::{Ending, IntervalCounts, Machine, Outcome, Recorder, Snapshot, Span, fixtures};
use plan::Nanos;
use tempfile::TempDir;

fn open() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("a/history.db")).unwrap();
    (dir, store)
}

fn kept(name: &str, started: i64) -> RunNotes {
    RunNotes {
        kind: Kind::Run,
        name: name.to_owned(),
        target: format!("http://a.test/{name}"),
        started: Moment(started),
        outcome: "100/s, none failed".to_owned(),
        figures: Figures { qps: Some(100.0), p50_ns: Some(1_000_000), p99_ns: None, failed_share: Some(0.0) },
        machine: Machine { loadline: "loadline 0".to_owned(), ..Machine::default() },
        revision: None,
        tags: Vec::new(),
        note: String::new(),
    }
}

fn saved(store: &mut Store, kept: RunNotes) -> Entry {
    store.save(&Fresh { id: Id::fresh(), kept, origin: Origin::Saved, plan: "{\"url\":\"x\"}", result: b"{\"a\": 1}" }).unwrap()
}

fn names(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.kept.name.as_str()).collect()
}

#[test]
fn what_is_saved_is_listed_and_reads_back() {
    let (_dir, mut store) = open();
    let revision = Revision { commit: "ab".repeat(20), branch: Some("main".to_owned()), changes: Changes::Some };
    let mine =
        RunNotes { revision: Some(revision), tags: vec!["a".to_owned(), "b".to_owned()], note: "n".to_owned(), ..kept("healthz", 5) };
    let entry = saved(&mut store, mine.clone());
    assert_eq!((&entry.kept, entry.short.as_str(), entry.origin), (&mine, &entry.id.as_str()[..4], Origin::Saved));
    assert_eq!(store.list(&Filter::default()).unwrap(), std::slice::from_ref(&entry));
    assert_eq!(store.result(&entry.id).unwrap(), "{\"a\": 1}");
    assert_eq!(store.plan(&entry.id).unwrap(), "{\"url\":\"x\"}");
    let twice = Fresh { id: entry.id.clone(), kept: mine, origin: Origin::Saved, plan: "", result: b"" };
    assert_eq!(store.save(&twice), Err(HistoryError::Twice { id: entry.id.to_string() }));
}

#[test]
fn a_filter_lets_through_what_it_says() {
    let (_dir, mut store) = open();
    for (name, started) in [("users", 1_000), ("users-new", 2_000), ("sum", 3_000)] {
        let entry = saved(&mut store, kept(name, started));
        if name == "sum" {
            store.tag(&entry.id, &["fast".to_owned(), "new".to_owned()], &[]).unwrap();
        }
    }
    let listed = |filter: Filter| names(&store.list(&filter).unwrap()).join(" ");
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(listed(Filter::default()), "sum users-new users");
    assert_eq!(listed(Filter { text: some("USERS-new"), ..Filter::default() }), "users-new");
    assert_eq!(listed(Filter { text: some("users nothing-like-it"), ..Filter::default() }), "");
    assert_eq!(listed(Filter { name: some("users"), ..Filter::default() }), "users");
    assert_eq!(listed(Filter { name: some("users*"), ..Filter::default() }), "users-new users");
    assert_eq!(listed(Filter { name: some("u?ers*"), ..Filter::default() }), "", "only * stands for anything");
    assert_eq!(listed(Filter { target: some("test/s"), ..Filter::default() }), "sum");
    assert_eq!(listed(Filter { since: Some(Moment(2_000)), ..Filter::default() }), "sum users-new");
    assert_eq!(listed(Filter { tags: vec!["fast".to_owned(), "new".to_owned()], ..Filter::default() }), "sum");
    assert_eq!(listed(Filter { tags: vec!["fast".to_owned(), "old".to_owned()], ..Filter::default() }), "");
    assert_eq!(listed(Filter { kind: Some(Kind::Sweep), ..Filter::default() }), "");
    assert_eq!(listed(Filter { limit: Some(1), offset: 1, ..Filter::default() }), "users-new");
    assert_eq!(store.count(&Filter { name: some("users*"), limit: Some(1), ..Filter::default() }), Ok(2));
}

#[test]
fn a_list_reads_no_result_and_needs_no_sorting() {
    let (_dir, store) = open();
    for filter in [Filter::default(), Filter { name: Some("a".to_owned()), ..Filter::default() }] {
        let (condition, mut values) = condition(&filter);
        values.extend([Value::Integer(-1), Value::Integer(0)]);
        let question = format!("EXPLAIN QUERY PLAN {LISTED} {condition} ORDER BY started_ms DESC, run.seq DESC LIMIT ? OFFSET ?");
        let mut asked = store.connection.prepare(&question).unwrap();
        let steps: Vec<String> =
            asked.query_map(params_from_iter(values), |row| row.get(3)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        let steps = steps.join("\n");
        assert!(steps.contains("run USING INDEX run_by_"), "{steps}");
        assert!(!steps.contains("result"), "{steps}");
        // The tags of one run are sorted; the runs are not.
        assert!(!steps.lines().any(|step| step.contains("TEMP B-TREE FOR ORDER BY") && !steps.contains("CORRELATED")), "{steps}");
    }
}

#[test]
fn references_mean_one_run_or_say_why_not() {
    let (_dir, mut store) = open();
    let resolve = |store: &Store, text: &str| store.resolve(&text.parse().unwrap());
    assert!(resolve(&store, "@last").unwrap_err().to_string().ends_with("none is saved yet"));
    let old = saved(&mut store, kept("users", 1_000));
    let new = saved(&mut store, kept("users", 2_000));
    let odd = saved(&mut store, kept("a*b", 500));
    assert_eq!(resolve(&store, "@last").unwrap().id, new.id);
    assert_eq!(resolve(&store, "@last-1").unwrap().id, old.id);
    assert!(resolve(&store, "@last-3").unwrap_err().to_string().ends_with("only 3 are saved"));
    assert_eq!(resolve(&store, "@users").unwrap().id, new.id);
    assert_eq!(resolve(&store, "@a*b").unwrap().id, odd.id);
    assert_eq!(resolve(&store, "@users-1").unwrap().id, old.id);
    assert!(resolve(&store, "@users-2").unwrap_err().to_string().contains("2 before the last one called 'users' there is none"));
    let named = saved(&mut store, kept("users-2", 400));
    assert_eq!(resolve(&store, "@users-2").unwrap().id, named.id, "a name goes before");
    assert!(matches!(resolve(&store, "@nobody"), Err(HistoryError::Unknown { .. })));
    assert_eq!(resolve(&store, &old.short).unwrap().id, old.id);
    assert!(matches!(resolve(&store, "@baseline"), Err(HistoryError::Unknown { .. })));
    store.set_baseline(&new.id).unwrap();
    assert!(store.set_baseline(&old.id).unwrap().baseline);
    store.set_baseline(&odd.id).unwrap();
    assert_eq!(resolve(&store, "@baseline").unwrap().id, odd.id, "the one set last");
    assert_eq!(resolve(&store, "@baseline:users").unwrap().id, old.id, "a name has one");
    assert_eq!(store.baseline_of("users", Kind::Sweep), Ok(None));
    assert_eq!(names(&store.baselines().unwrap()), ["a*b", "users"]);
}

#[test]
fn ids_are_shown_as_far_as_they_differ() {
    let (_dir, mut store) = open();
    for id in ["aaaabbbbcccc", "aaaabbcccccc", "zzzzzzzzzzzz"] {
        let id = Id::try_from(id.to_owned()).unwrap();
        store.save(&Fresh { id, kept: kept("x", 1), origin: Origin::Saved, plan: "", result: b"" }).unwrap();
    }
    let mut shorts: Vec<String> = store.list(&Filter::default()).unwrap().into_iter().map(|entry| entry.short).collect();
    shorts.sort();
    assert_eq!(shorts, ["aaaabbb", "aaaabbc", "zzzz"]);
    // Among very many they are found in another way, and are the same.
    (0..2 * ASKED_ONE_BY_ONE).for_each(|_| drop(saved(&mut store, kept("other", 2))));
    let all = store.list(&Filter::default()).unwrap();
    let of_before: Vec<&str> = all.iter().filter(|entry| entry.kept.name == "x").map(|entry| entry.short.as_str()).collect();
    assert!(shorts.iter().all(|short| of_before.contains(&short.as_str())), "{of_before:?}");
    for entry in &all {
        assert_eq!(store.by_id(&entry.id).unwrap().short, entry.short);
    }
    let Err(HistoryError::Ambiguous { ids, .. }) = store.resolve(&"aaaa".parse().unwrap()) else { panic!("it means two") };
    assert_eq!(ids, ["aaaabbb (x)", "aaaabbc (x)"]);
}

#[test]
fn what_is_removed_takes_everything_along_and_baselines_survive_pruning() {
    let (_dir, mut store) = open();
    let entries: Vec<Entry> = (0..10).map(|k| saved(&mut store, kept("x", k))).collect();
    store.tag(&entries[0].id, &["t".to_owned()], &[]).unwrap();
    store.set_baseline(&entries[0].id).unwrap();
    assert_eq!(store.prune(Some(3), None), Ok(6));
    assert_eq!(store.prune(None, Some(Moment(9))), Ok(2));
    let left: Vec<i64> = store.list(&Filter::default()).unwrap().iter().map(|entry| entry.kept.started.0).collect();
    assert_eq!(left, [9, 0]);
    store.remove(&entries[0].id).unwrap();
    assert!(store.remove(&entries[0].id).is_err());
    for table in ["run", "result", "tag", "baseline"] {
        let rows: i64 = store.connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, i64::from(table == "run" || table == "result"), "{table}");
    }
}

#[test]
fn tags_and_notes_change_and_a_tag_that_cannot_be_found_is_refused() {
    let (_dir, mut store) = open();
    let id = saved(&mut store, kept("x", 1)).id;
    let words = |them: &[&str]| them.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    assert_eq!(store.tag(&id, &words(&["b", "a", "b"]), &[]).unwrap().kept.tags, ["a", "b"]);
    assert_eq!(store.tag(&id, &words(&["c"]), &words(&["a", "z"])).unwrap().kept.tags, ["b", "c"]);
    for bad in ["", "a b", "a,b", "a\u{1b}"] {
        assert!(matches!(store.tag(&id, &words(&[bad]), &[]), Err(HistoryError::NoTag(_))), "{bad:?}");
    }
    assert_eq!(store.note(&id, "it's \u{1F600} '; DROP TABLE run").unwrap().kept.note, "it's \u{1F600} '; DROP TABLE run");
}

#[test]
fn a_trend_is_one_name_in_the_order_of_time() {
    let (_dir, mut store) = open();
    for started in [3, 1, 2] {
        saved(&mut store, kept("x", started));
    }
    saved(&mut store, kept("y", 4));
    let moments: Vec<i64> = store.trend("x", Kind::Run).unwrap().iter().map(|point| point.started.0).collect();
    assert_eq!(moments, [1, 2, 3]);
    assert_eq!(store.trend("x", Kind::Find).unwrap(), []);
}

#[test]
fn a_run_travels_as_a_file_and_is_not_there_twice() {
    let (_dir, mut store) = open();
    let entry = saved(&mut store, RunNotes { tags: vec!["t".to_owned()], ..kept("x", 1) });
    let text = serde_json::to_string(&ExportedRun::of(&store, &entry).unwrap()).unwrap();
    let read = || serde_json::from_str::<ExportedRun>(&text).unwrap();
    assert_eq!(read().import(&mut store), Err(HistoryError::Twice { id: entry.id.to_string() }));
    let (_elsewhere, mut other) = open();
    let there = read().import(&mut other).unwrap();
    assert_eq!((there.id.clone(), there.kept, there.origin), (entry.id, entry.kept, Origin::Imported));
    let value: serde_json::Value = serde_json::from_str(&other.result(&there.id).unwrap()).unwrap();
    assert_eq!(value, serde_json::json!({"a": 1}));
}

#[test]
fn another_file_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    fs::write(&path, "notes of mine").unwrap();
    assert!(matches!(Store::open(&path), Err(HistoryError::Foreign { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "notes of mine");

    let other = dir.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)").unwrap();
    let before = fs::read(&other).unwrap();
    let refused = Store::open(&other).unwrap_err();
    assert!(refused.to_string().contains("another program"), "{refused}");
    assert_eq!(fs::read(&other).unwrap(), before);
    assert!(matches!(Store::open(dir.path()), Err(HistoryError::Unusable { .. } | HistoryError::Foreign { .. })));
    assert!(matches!(look(Path::new("/dev/null")), Err(HistoryError::Foreign { .. })));
    assert!(look(&path.join("below/a/file")).is_err());
}

#[test]
fn a_later_file_is_refused_by_its_version() {
    let (dir, store) = open();
    let path = store.path().to_owned();
    store.connection.pragma_update(None, "user_version", version() + 1).unwrap();
    store.move_log().unwrap();
    drop(store);
    let newer = HistoryError::Newer { path: path.clone(), version: version() + 1, known: version() };
    assert_eq!(look(&path), Err(newer.clone()), "seen before anything is opened");
    assert_eq!(Store::open(&path).err(), Some(newer));
    drop(dir);
}

#[test]
fn looking_makes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/b/history.db");
    assert_eq!(look(&path), Ok(()));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    assert_eq!(look(Path::new("history-that-is-not-there.db")), Ok(()), "the directory it would be made in is this one");
}

#[test]
fn many_that_open_and_save_at_once_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    let (writers, each) = (8, 10);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let path = &path;
            scope.spawn(move || {
                for k in 0..each {
                    let mut store = Store::open(path).unwrap();
                    saved(&mut store, kept(&format!("w{writer}"), k));
                }
            });
        }
    });
    let store = Store::open(&path).unwrap();
    assert_eq!(store.count(&Filter::default()), Ok(u64::try_from(writers * each).unwrap()));
}

#[test]
fn the_log_does_not_grow_with_programs_that_save_one_run_each() {
    let (_dir, store) = open();
    let path = store.path().to_owned();
    drop(store);
    let mut most = 0;
    for number in 0..120 {
        saved(&mut Store::open(&path).unwrap(), kept("alone", number));
        most = most.max(fs::metadata(beside(&path, "-wal")).unwrap().len());
    }
    assert!(most < u64::from(LOG_PAGES) * 3 / 2 * 4096, "{most} bytes of log");
    assert_eq!(Store::open(&path).unwrap().count(&Filter::default()), Ok(120));
}

#[cfg(unix)]
#[test]
fn what_was_saved_is_there_whoever_reads_it_and_the_log_does_not_grow() {
    let (_dir, mut store) = open();
    let log = beside(store.path(), "-wal");
    let saved_bytes = |store: &Store| store.list(&Filter::default()).unwrap().iter().map(|entry| entry.stored_bytes).sum::<u64>();
    let mut most = 0;
    for number in 0..600 {
        saved(&mut store, kept("many", number));
        most = most.max(fs::metadata(&log).unwrap().len());
    }
    // Some pages more than it is moved at: the last result was written whole.
    assert!(most < u64::from(LOG_PAGES) * 3 / 2 * 4096, "{most} bytes of log");
    let path = store.path().to_owned();
    drop(store);
    assert!(log.exists(), "closing does not wait for the disk");
    let mut again = Store::open(&path).unwrap();
    assert_eq!(again.count(&Filter::default()).unwrap(), 600);
    assert!(saved_bytes(&again) > 0);
    let full = fs::metadata(&path).unwrap().len();
    assert_eq!(again.prune(Some(10), None).unwrap(), 590);
    assert!(fs::metadata(&path).unwrap().len() < full / 2, "what was removed is given back at once");
    assert_eq!(fs::metadata(&log).unwrap().len(), 0);
}

#[test]
fn a_new_history_says_whose_it_is_from_its_first_bytes_on() {
    let (_dir, store) = open();
    let copy = store.path().with_file_name("copy.db");
    fs::copy(store.path(), &copy).unwrap();
    look(&copy).unwrap();
    assert!(Store::open(&copy).unwrap().list(&Filter::default()).unwrap().is_empty());
}

#[test]
fn the_file_is_the_users_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (_dir, store) = open();
    assert_eq!(fs::metadata(store.path()).unwrap().permissions().mode() & 0o777, 0o600);
}

fn header(name: &str) -> Header {
    Header {
        id: Id::fresh(),
        kind: Kind::Run,
        name: name.to_owned(),
        started: Moment(1_700_000_000_000),
        machine: Machine::default(),
        revision: None,
        tags: vec!["t".to_owned()],
        note: String::new(),
    }
}

fn second(number: u32, requests: u64) -> IntervalCounts {
    let mut recorder = Recorder::new(Span { from: Nanos::ZERO, until: Nanos::NEVER });
    for k in 0..requests {
        let due = Nanos(u64::from(number) * 1_000_000_000 + k);
        let done = Nanos(due.0 + 1_000_000);
        recorder.due(due);
        recorder.record(&Outcome { due, ready: due, sent: due, first_byte: done, done, bytes_out: 1, bytes_in: 1, result: Ok(200) });
    }
    let mut counts = recorder.swap(Snapshot::empty(0));
    counts.interval = number;
    IntervalCounts { counts, cpu_busiest: Nanos(1) }
}

/// As the command line composes a single run, but only what the tests look at.
fn compose(journaled: &JournalContent) -> Result<Option<RecoveredRun>, String> {
    let Some(under_way) = &journaled.under_way else { return Ok(None) };
    let outcome = format!("{} {}", under_way.what, under_way.run.requests.succeeded);
    let kept = RunNotes { outcome, tags: journaled.header.tags.clone(), ..kept(&journaled.header.name, journaled.header.started.0) };
    let result = serde_json::to_vec(&under_way.run.clone().close()).unwrap();
    Ok(Some(RecoveredRun { kept, plan: String::new(), result }))
}

/// A journal of so many seconds whose program is gone.
fn left_behind(store: &Store, name: &str, seconds: u32) -> PathBuf {
    let header = header(name);
    let path = beside(store.path(), ".running").join(format!("{}.journal", header.id));
    let journal = Journal::begin(store.path(), header, || {});
    journal.load(&fixtures::plan("http://a.test/"), "all of it");
    (0..seconds).for_each(|number| journal.second(&second(number, 10)));
    // Dropping what holds it is what the end of a program does.
    drop(journal.end().unwrap());
    path
}

#[test]
fn a_run_whose_program_is_gone_is_taken_in_once() {
    let (_dir, mut store) = open();
    let path = left_behind(&store, "gone", 3);
    let taken = store.take_in(&mut compose).unwrap();
    let [RecoveryOutcome::In(entry, _)] = taken.as_slice() else { panic!("{taken:?}") };
    assert_eq!((entry.kept.outcome.as_str(), entry.origin, entry.kept.started.0), ("all of it 30", Origin::CutShort, 1_700_000_000_000));
    assert!(!path.exists() && !path.parent().unwrap().exists(), "nothing is left beside the history");
    assert_eq!(store.take_in(&mut compose).unwrap(), []);
    let summary: measure::Summary = serde_json::from_str(&store.result(&entry.id).unwrap()).unwrap();
    assert_eq!((summary.requests.due, summary.timeline.len()), (30, 3));
}

#[test]
fn a_run_that_goes_on_is_let_be() {
    let (_dir, mut store) = open();
    let journal = Journal::begin(store.path(), header("running"), || {});
    journal.load(&fixtures::plan("http://a.test/"), "x");
    journal.second(&second(0, 1));
    let ended = journal.end().unwrap();
    assert_eq!(store.take_in(&mut compose).unwrap(), []);
    ended.remove();
    assert!(!beside(store.path(), ".running").exists());
}

#[test]
fn a_run_that_goes_on_is_followed_and_asked_to_end() {
    let (_dir, store) = open();
    assert!(Follower::find(store.path()).is_none());
    let (asked, heard) = std::sync::mpsc::channel();
    let journal = Journal::begin(store.path(), header("running"), move || asked.send(()).unwrap());
    journal.load(&fixtures::plan("http://a.test/"), "x");
    journal.second(&second(0, 10));
    let until = |condition: &mut dyn FnMut() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !condition() {
            assert!(Instant::now() < deadline, "it was waited for in vain");
            std::thread::yield_now();
        }
    };
    let mut found = None;
    until(&mut || {
        found = Follower::find(store.path());
        found.is_some()
    });
    let mut follower = found.unwrap();
    assert_eq!(follower.header().name, "running");
    let mut all = Vec::new();
    until(&mut || {
        all.extend(follower.listen());
        all.len() == 2
    });
    assert!(matches!(&all[0], RunNews::Load { what, .. } if what == "x"), "{all:?}");
    assert!(matches!(&all[1], RunNews::Second(tick) if tick.succeeded == 10), "{all:?}");
    assert!(follower.listen().is_empty() && !follower.is_over());

    follower.stopper()();
    assert!(heard.try_recv().is_err(), "a run looks for it once a second, when it writes that down");
    journal.second(&second(1, 10));
    heard.recv_timeout(Duration::from_secs(60)).unwrap();
    journal.second(&second(2, 10));
    until(&mut || {
        all.extend(follower.listen());
        all.len() == 4
    });
    assert!(heard.try_recv().is_err(), "it was asked once");
    journal.end().unwrap().remove();
    assert!(follower.is_over() && !beside(store.path(), ".running").exists());
}

#[test]
fn a_run_whose_program_is_gone_is_not_followed() {
    let (_dir, store) = open();
    left_behind(&store, "gone", 3);
    assert!(Follower::find(store.path()).is_none());
}

#[test]
fn a_run_under_another_name_is_no_baseline_any_more() {
    let (_dir, mut store) = open();
    let entry = saved(&mut store, kept("before", 1));
    store.set_baseline(&entry.id).unwrap();
    assert!(store.rename(&entry.id, "before").unwrap().baseline, "the same name changes nothing");
    let entry = store.rename(&entry.id, "after").unwrap();
    assert!(entry.kept.name == "after" && !entry.baseline);
    assert_eq!(store.baseline_of("before", Kind::Run).unwrap(), None);
}

#[test]
fn a_journal_without_a_second_is_cleared_away_and_said() {
    let (_dir, mut store) = open();
    let path = left_behind(&store, "short", 0);
    assert!(matches!(store.take_in(&mut compose).unwrap().as_slice(), [RecoveryOutcome::Empty { name, .. }] if name == "short"));
    assert!(!path.exists());
}

#[test]
fn a_journal_whose_disk_was_full_does_not_tell_of_an_end_from_outside() {
    let (_dir, mut store) = open();
    for (name, seconds) in [("full", 2), ("full at once", 0)] {
        let journal = Journal::begin(store.path(), header(name), || {});
        journal.load(&fixtures::plan("http://a.test/"), "x");
        (0..seconds).for_each(|number| journal.second(&second(number, 1)));
        journal.end().unwrap().leave().unwrap();
    }
    let mut ended = Vec::new();
    let taken = store.take_in(&mut |journaled: &JournalContent| {
        ended.extend(journaled.under_way.iter().map(|under_way| (under_way.run.ended.how, under_way.run.warnings.clone())));
        compose(journaled)
    });
    let taken = taken.unwrap();
    let ends: Vec<End> = taken
        .iter()
        .map(|taken| match taken {
            RecoveryOutcome::In(_, end) | RecoveryOutcome::Empty { end, .. } => *end,
            RecoveryOutcome::Damaged { .. } => panic!("{taken:?}"),
        })
        .collect();
    assert_eq!(ends, [End::Unwritten; 2]);
    let [(how, warnings)] = ended.as_slice() else { panic!("{ended:?}") };
    assert_eq!(*how, Ending::CutShort);
    assert!(warnings.iter().all(|warning| !warning.contains("outside")), "{warnings:?}");
    assert!(!beside(store.path(), ".running").exists(), "nothing is left of them");
}

#[test]
fn a_journal_cut_at_any_byte_gives_every_whole_second_before() {
    let (_dir, mut store) = open();
    let path = left_behind(&store, "cut", 3);
    let bytes = fs::read(&path).unwrap();
    let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    assert_eq!(ends.len(), 5);
    // Around the end of each line, and in the middle of it.
    let cuts = ends.iter().flat_map(|end| [end.saturating_sub(1), *end, end + 7]).chain([0, 1, 12]).filter(|cut| *cut <= bytes.len());
    for cut in cuts {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &bytes[..cut]).unwrap();
        let whole = ends.iter().filter(|end| **end <= cut).count();
        let taken = store.take_in(&mut compose).unwrap();
        match (whole, taken.as_slice()) {
            (0, []) if cut == 0 => assert!(!path.exists(), "there is nothing in it to tell"),
            (0, [RecoveryOutcome::Damaged { .. }]) if cut > 0 => {}
            (1 | 2, [RecoveryOutcome::Empty { .. }]) => {}
            (3.., [RecoveryOutcome::In(entry, _)]) => {
                assert_eq!(entry.kept.outcome, format!("all of it {}", (whole - 2) * 10), "cut at {cut}");
                store.remove(&entry.id.clone()).unwrap();
            }
            other => panic!("cut at {cut}: {other:?}"),
        }
    }
}

#[test]
fn a_journal_with_a_wrong_byte_is_told_and_what_came_before_is_kept() {
    let (_dir, mut store) = open();
    let path = left_behind(&store, "flipped", 3);
    let mut bytes = fs::read(&path).unwrap();
    let lines: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    // In the last but one second.
    bytes[lines[3] - 40] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let taken = store.take_in(&mut compose).unwrap();
    let [RecoveryOutcome::In(entry, _)] = taken.as_slice() else { panic!("{taken:?}") };
    assert_eq!(entry.kept.outcome, "all of it 10");
    let summary: measure::Summary = serde_json::from_str(&store.result(&entry.id).unwrap()).unwrap();
    assert!(summary.warnings.iter().any(|warning| warning.contains("damaged from there on: line 4")), "{:?}", summary.warnings);

    // In the first line nothing can be told, and the file stays for a look.
    let path = left_behind(&store, "headless", 1);
    let mut bytes = fs::read(&path).unwrap();
    bytes[20] ^= 1;
    fs::write(&path, &bytes).unwrap();
    for _ in 0..2 {
        assert!(matches!(store.take_in(&mut compose).unwrap().as_slice(), [RecoveryOutcome::Damaged { .. }]));
    }
    assert!(path.exists());
}

#[test]
fn what_is_in_the_result_so_far_is_not_counted_again() {
    let (_dir, mut store) = open();
    let journal = Journal::begin(store.path(), header("ladder"), || {});
    for level in 0..3 {
        journal.load(&fixtures::plan("http://a.test/"), format!("level {level}"));
        journal.second(&second(0, 5));
        journal.result_so_far(format!("{{\"levels\": {}}}", level + 1).into_bytes());
    }
    journal.load(&fixtures::plan("http://a.test/"), "level 3");
    journal.second(&second(0, 7));
    drop(journal.end().unwrap());
    let mut seen = None;
    store
        .take_in(&mut |journaled| {
            seen = Some(journaled.clone());
            Ok(None)
        })
        .unwrap();
    let seen = seen.unwrap();
    assert_eq!(seen.result.as_deref(), Some("{\"levels\": 3}"));
    assert_eq!(seen.under_way.map(|under_way| (under_way.what, under_way.run.requests.due)), Some(("level 3".to_owned(), 7)));
    assert!(!beside(store.path(), ".running").exists());
}

#[test]
fn a_journal_that_cannot_be_written_is_told_at_the_end() {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join("history.db");
    fs::write(beside(&database, ".running"), "in the way").unwrap();
    let journal = Journal::begin(&database, header("x"), || {});
    journal.load(&fixtures::plan("http://a.test/"), "x");
    journal.second(&second(0, 1));
    let why = journal.end().unwrap_err();
    assert!(why.contains("cannot be written"), "{why}");
}
