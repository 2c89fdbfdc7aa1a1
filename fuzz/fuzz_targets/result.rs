//! A result file of any kind, as reports and comparisons read it.
//!
//! Whatever the text: no panic, and what was read can be told in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use report::{FORMATS, Style};

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(document) = report::Document::read(text) else { return };
    let _ = (document.text(&Style::PLAIN), document.page(), document.outcome(), document.json());
    let report::Document::Run(run, terms) = document else { return };
    let reading = terms.reading(&run);
    for format in FORMATS {
        let mut written = Vec::new();
        (format.render)(&reading, &Style::PLAIN, &mut written).expect("memory takes every byte");
    }
});
