//! A file that says what users do.
//!
//! Whatever the text: no panic; what is no scenario is told, each mistake with a place and short enough for a terminal; and what was
//! read is compiled, or told why not, without being looked at again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::{Draft, Plan};
use scenario::Ready;

fuzz_target!(|text: &str| {
    let scenario = match scenario::read("x.yaml", text) {
        Ok(scenario) => scenario,
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            for mistake in mistakes {
                assert!(mistake.line >= 1 && mistake.column >= 1 && mistake.length >= 1, "{mistake:?}");
                let said = mistake.to_string();
                assert!(said.len() < 20_000 && !said.chars().any(|letter| letter.is_control() && letter != '\n'), "{said}");
            }
            return;
        }
    };
    // What names files is not looked for.
    if text.contains("file") {
        return;
    }
    let draft = Draft { scenario: Some("x.yaml".to_owned()), url: Some("http://a.test/".to_owned()), ..Draft::default() };
    let plan = Plan::try_from(draft).expect("a URL and a scenario are a plan");
    let _ = Ready::new(&plan, &scenario, &[]);
});
