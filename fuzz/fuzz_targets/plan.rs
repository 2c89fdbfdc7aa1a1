//! A plan as JSON, as it stands in a result file somebody else wrote.
//!
//! Whatever the text: no panic; and a plan that was accepted means the same after it was written and read again, but for
//! its secrets, of which `***` is written; and it is the same plan after it was encoded whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::Plan;

fuzz_target!(|bytes: &[u8]| {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    assert_eq!(Plan::decode(&plan.encode(), plan.contents().clone()).as_ref(), Ok(&plan));
    let written = serde_json::to_string(&plan).expect("a plan can be written");
    let again: Plan = serde_json::from_str(&written).expect("what was written can be read");
    assert!(again == plan || written.contains("***"), "{written}");
    assert_eq!(serde_json::to_string(&again).expect("a plan can be written"), written);
});
