//! Requests that other tools keep: the first byte chooses the kind, or leaves it to the guess.
//!
//! Whatever the bytes: no panic, what was read can be printed and is read back, nothing secret is printed, and a run of it is a plan or is refused.
#![no_main]

use import::collection::{Collection, Described, Environment, KINDS, Wishes, guess};
use libfuzzer_sys::fuzz_target;
use plan::Plan;
use scenario::Scenario;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, file)) = bytes.split_first() else { return };
    let environment = Environment::read(file).ok();
    if let Ok(described) = Described::read(file) {
        let _ = described.find("POST", "/a/{id}");
    }
    let kind = match KINDS.get(usize::from(*first)) {
        Some((kind, ..)) => *kind,
        None => match guess(file) {
            Ok(kind) => kind,
            Err(_) => return,
        },
    };
    let wishes = Wishes { environment, ..Wishes::default() };
    let Ok(read) = Collection::read(kind, file, &wishes) else { return };
    assert!(!read.requests.is_empty(), "what was read can be sent");
    let (concealed, placeholders) = read.concealed();
    let made = concealed.work("file");
    let notes = concealed.notes("file", &placeholders, &made);
    let made = Scenario::new(made.name, made.settings, made.work);
    let text = scenario::print(&made, &notes);
    if let Ok(back) = scenario::read("file", &text) {
        assert_eq!(back, made, "what is printed is read back");
    }
    for request in read.requests.iter().take(8) {
        if let Ok(draft) = read.draft(request) {
            let _ = Plan::try_from(draft);
        }
    }
});
