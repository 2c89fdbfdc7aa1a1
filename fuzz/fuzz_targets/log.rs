//! An access log in every form: the first byte chooses it, or leaves it to the guess.
//!
//! Whatever the bytes: no panic, every line is a request or counted as none, and what was read can be written, and sent.
#![no_main]

use import::{FormChoice, KNOWN, Personal, Survey, SurveyPart};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((first, log)) = bytes.split_first() else { return };
    let (asked, log) = match KNOWN.get(usize::from(*first)) {
        Some(known) => (FormChoice::named(known.name).expect("a known form can be asked for"), log),
        // A format string in the first line.
        None if *first == 255 => {
            let (format, log) = log.iter().position(|letter| *letter == b'\n').map_or((log, &log[..0]), |end| (&log[..end], &log[end + 1..]));
            let Some(asked) = std::str::from_utf8(format).ok().and_then(|format| FormChoice::named(format).ok()) else { return };
            (asked, log)
        }
        None => (FormChoice::default(), log),
    };
    let mut survey = Survey::new(asked, Personal::LeftOut).with_line_bytes_most(4096).with_targets();
    if survey.read("log", log).is_err() {
        return;
    }
    let part = survey.part();
    let again = SurveyPart::read(&part.written()).expect("a part that was written can be read").traffic();
    let traffic = part.traffic();
    assert_eq!((again.requests, again.lines, again.users), (traffic.requests, traffic.lines, traffic.users.clone()), "and says the same");
    assert_eq!(traffic.requests + traffic.unread_lines(), traffic.lines, "every line is counted once");
    let listed: u64 = traffic.routes.iter().chain(&traffic.others).map(|route| route.requests).sum();
    assert_eq!(listed, traffic.requests, "every request has a route");
    for targets in traffic.routes.iter().filter_map(|route| route.targets.as_ref()) {
        let may_be_sent = |path: &str| path.starts_with('/') && path.bytes().all(|letter| letter.is_ascii_graphic());
        assert!(targets.listed.iter().all(|target| may_be_sent(&target.path)), "what was asked for can be sent");
        assert!(targets.distinct >= targets.listed.len() as u64 && (0.0..=1.0).contains(&targets.covered));
    }
    serde_json::to_string(&traffic).expect("traffic can be written");
});
