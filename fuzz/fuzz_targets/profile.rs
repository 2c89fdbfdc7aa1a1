//! A profile in every form: what it begins with says which.
//!
//! Whatever the bytes: no panic, no more memory than a profile may take, and what was read can be listed, kept and compared.
#![no_main]

use libfuzzer_sys::fuzz_target;
use profile::{Order, Regex, Selection, changes, kept, read, top};

fuzz_target!(|bytes: &[u8]| {
    let Ok(profile) = read(bytes, None) else { return };
    for order in [Order::Flat, Order::Cum] {
        for focus in [None, Regex::new("a").ok()] {
            let selection = Selection { order, focus, rows_max: Some(20) };
            let top = top(&profile, &selection);
            assert!(top.rows.len() <= 20 && top.rows.len() <= top.rows_all);
            let _ = top.text(str::to_owned);
        }
    }
    let kept = kept(&profile);
    let mut deepest = 0;
    for frame in &kept.frames {
        assert!(frame.depth <= deepest, "one level at a time");
        deepest = frame.depth + 1;
    }
    assert!(changes(&kept, &kept, Order::Cum).expect("one profile is of one thing").is_empty());
    let text = serde_json::to_string(&kept).expect("what is kept can be written");
    assert_eq!(serde_json::from_str::<measure::RunProfile>(&text).expect("and read"), kept);
});
