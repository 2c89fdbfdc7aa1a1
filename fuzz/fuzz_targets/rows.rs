//! A data file, as CSV and as JSON lines, in memory and read where its rows are.
//!
//! Whatever the bytes: no panic, no more memory than a record may take, and the rows are the same either way.
#![no_main]

use libfuzzer_sys::fuzz_target;
use template::Data;

fuzz_target!(|bytes: &[u8]| {
    let folder = std::env::temp_dir();
    for ending in ["csv", "jsonl"] {
        let path = folder.join(format!("loadline-fuzz-rows-{}.{ending}", std::process::id()));
        std::fs::write(&path, bytes).expect("a file can be written");
        let path = path.to_str().expect("a plain path");
        let (small, large) = (Data::open(path), Data::open_within(path, 0));
        if let Ok(small) = small {
            let large = large.expect("what can be read into memory can be read where it is");
            assert_eq!((small.count(), small.columns(), small.fingerprint()), (large.count(), large.columns(), large.fingerprint()));
            for row in (0..small.count()).rev().chain(0..small.count()).take(64) {
                assert_eq!(small.row(row), large.row(row));
            }
        }
    }
});
