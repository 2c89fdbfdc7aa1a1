//! A part of a survey, as `traffic merge` reads it.
//!
//! Whatever the bytes: no panic, what was read can be written and says the same, and adds up with itself.
#![no_main]

use import::{PartError, SurveyPart};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(part) = SurveyPart::read(bytes) else { return };
    let written = part.written();
    let again = SurveyPart::read(&written).expect("a part that was written can be read");
    let mut whole = SurveyPart::read(&written).expect("and once more");
    let is_named = !part.ids().is_empty();
    let traffic = part.traffic();
    match whole.merge(again) {
        Ok(()) => {
            assert!(!is_named, "what has a number is not counted twice");
            let whole = SurveyPart::read(&whole.written()).expect("what was put together can be read");
            assert_eq!(whole.traffic().requests, 2 * traffic.requests);
        }
        Err(why) => assert!(matches!(why, PartError::Twice | PartError::Requests), "{why}"),
    }
    serde_json::to_string(&traffic).expect("traffic can be written");
});
