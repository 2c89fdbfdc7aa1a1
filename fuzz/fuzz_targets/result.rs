//! A result file, as `--from` and later comparisons read it.
//!
//! Whatever the text: no panic, and what was read can be told in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use report::{FORMATS, Style};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(summary) = report::read_summary(text) else { return };
    let reading = analysis::Reading::new(&summary, &[]);
    for format in FORMATS {
        let mut written = Vec::new();
        (format.render)(&reading, &Style::PLAIN, &mut written).expect("memory takes every byte");
    }
});
