//! A template in each place of a plan.
//!
//! Whatever the text: no panic; what is read prints and reads back; mistakes lie in the text; a plan that is saved can be read, and
//! saved again is the same; and each request written has the length it says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::template::Template;
use plan::{Draft, Plan};

fuzz_target!(|text: &str| {
    match Template::parse(text, &["users"]) {
        Ok(template) => assert_eq!(Template::parse(&template.to_string(), &["users"]), Ok(template)),
        Err(mistakes) => {
            assert!(!mistakes.is_empty());
            mistakes.iter().for_each(|mistake| assert!(mistake.pointed_out(text).contains('^')));
        }
    }
    let draft = Draft {
        url: Some(format!("http://a.test/{text}")),
        header: vec![format!("X-Text: {text}"), format!("Authorization: Bearer {text}")],
        json: Some(format!("{{\"password\":\"{text}\"}}")).filter(|_| !text.is_empty()),
        ..Draft::default()
    };
    let Ok(plan) = Plan::try_from(draft) else { return };
    let saved = serde_json::to_string(&plan).expect("a plan can be saved");
    let read: Plan = serde_json::from_str(&saved).expect("a saved plan can be read");
    assert_eq!(serde_json::to_string(&read).expect("it can be saved again"), saved);
    // What names files and variables is not looked for.
    if plan::template::reads_outside(text) || !plan.is_filled_in() {
        return;
    }
    let Ok(ready) = template::Ready::new(&plan, &[]) else { return };
    for request in ready.preview(2).unwrap_or_default() {
        let at = request.windows(4).position(|window| window == b"\r\n\r\n").expect("a head ends");
        let head = String::from_utf8_lossy(&request[..at]);
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).and_then(|length| length.parse().ok());
        assert_eq!(length.unwrap_or(0), request.len() - at - 4);
    }
});
