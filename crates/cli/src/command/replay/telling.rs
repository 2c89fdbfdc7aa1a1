//! What was found in a log, in words: before the first request is sent.
//!
//! Whoever reads it decides whether this is the load they meant: how much, from when to when, what is not sent and why.

use ::replay::{LeftOut, LogFacts};
use analysis::quantity::{count, counted, figure, length};
use import::{Compression, Reason, utc};
use plan::{Load, Nanos, Plan, PlanError, Spacing, Spelling};
use report::{prose, visible};

/// Where the text beside a name begins.
const MARGIN: usize = 19;
/// Hosts and examples that are shown.
const SHOWN: usize = 3;

/// All of it.
pub fn told(found: &LogFacts, plan: &Plan, width: u16) -> String {
    let mut text = String::new();
    let mut entry = |name: &str, said: &str| {
        let margin = MARGIN - 2;
        // Its lines come indented by two.
        let lines = prose(said, width.saturating_sub(MARGIN as u16 - 2).max(20));
        for (at, line) in lines.lines().enumerate() {
            text += &format!("  {:margin$}{}\n", if at == 0 { name } else { "" }, &line[2..]);
        }
    };
    let mut name = "log";
    for file in &found.files {
        let packed = match file.packed {
            Compression::Plain => "",
            Compression::Gzip => ", gzip",
            Compression::Zstd => ", Zstandard",
        };
        let form = file.form.as_deref().unwrap_or(if file.lines == 0 { "empty" } else { "of no known form" });
        let early = file.ended_early.as_ref().map_or_else(String::new, |why| format!("; it cannot be read to its end: {}", visible(why)));
        entry(name, &format!("{}: {form}{packed}, {}{early}", visible(&file.name), counted(file.lines, "line")));
        name = "";
    }
    let span = Nanos(u64::try_from(found.span_ns.1 - found.span_ns.0).unwrap_or(0));
    let factor = plan.replay().map_or(1.0, |replay| replay.speed.factor());
    let played = if factor == 1.0 { String::new() } else { format!(", sent within {} at {factor}x", length(found.length())) };
    entry(
        "sent",
        &format!(
            "{} of {} to {}, within {}{played}: {} a second on average",
            counted(found.sent, "request"),
            moment(found.span_ns.0, found.offset_s),
            moment(found.span_ns.1, found.offset_s),
            length(whole_seconds(span)),
            figure(found.per_second())
        ),
    );
    if found.bodiless > 0 {
        entry("", &format!("{} that may change something, with empty bodies: the log holds none", counted(found.bodiless, "request")));
    }
    if found.partial > 0 {
        let bodies = if found.partial == 1 { "its body" } else { "their bodies" };
        entry("", &format!("{} without something of {bodies}, which the recording does not hold:", counted(found.partial, "request")));
        found.partial_first.iter().for_each(|request| entry("", &format!("  {}", visible(request))));
        let more = found.partial - found.partial_first.len() as u64;
        if more > 0 {
            entry("", &format!("  and {more} more"));
        }
    }
    let mut name = "left out";
    for (why, requests) in &found.left_out {
        let methods = if *why == LeftOut::Write { format!(" ({})", listed(&found.writes)) } else { String::new() };
        entry(name, &format!("{} {}{methods}", counted(*requests, "request"), why.words().spelt(Spelling::Flags)));
        name = "";
    }
    for (reason, (lines, examples)) in &found.unread {
        let verb = if *lines == 1 { singular(*reason) } else { reason.words() };
        entry(name, &format!("{} {verb}", counted(*lines, "line")));
        name = "";
        for example in examples {
            entry("", &format!("  {}", visible(example)));
        }
    }
    if found.hosts.len() > 1 {
        let only = found.only_hosts();
        let sent = if only.is_empty() {
            "requests of all are sent".to_owned()
        } else {
            format!("those of {} are sent", visible(&only.join(", ")))
        };
        entry("hosts", &format!("{}: {sent}", visible(&listed(&found.hosts))));
    }
    if found.files.iter().any(|file| file.sent > 0 && file.whole_seconds) {
        let how = match plan.load() {
            Load::Open { spacing: Spacing::Even, .. } => "evenly",
            _ => "at random moments, as independent users come (--arrivals even: evenly)",
        };
        entry("times", &format!("whole seconds: the lines of each are spread over it in their order, {how}"));
    }
    if found.backwards > 0 {
        let verb = if found.backwards == 1 { "begins before the one above it, and is" } else { "begin before the one above them, and are" };
        entry(
            if found.files.iter().any(|file| file.sent > 0 && file.whole_seconds) { "" } else { "times" },
            &format!("{} {verb} put in order", counted(found.backwards, "line")),
        );
    }
    text
}

/// Why there is nothing to be sent; `None` where there is.
pub fn nothing(found: &LogFacts) -> Option<PlanError> {
    if found.sent > 0 {
        return None;
    }
    let (from, to) = found.wanted_ns();
    if from >= to {
        return Some(PlanError::new(
            "from",
            format!("--from is {}, and --to is {}: nothing lies between", moment(from, found.offset_s), moment(to, found.offset_s)),
            "give an earlier --from or a later --to",
        ));
    }
    let early = found.files.iter().find_map(|file| file.ended_early.as_ref().map(|why| format!("{}: {}", file.name, visible(why))));
    if found.lines() == 0 {
        let what = early.map_or_else(|| "the log is empty".to_owned(), |why| format!("nothing can be read of the log: {why}"));
        return Some(PlanError::new("log", what, "give a log with requests in it"));
    }
    if found.unread_lines() == found.lines() {
        let example =
            found.unread.values().flat_map(|(_, examples)| examples).next().map_or_else(String::new, |line| format!(": {}", visible(line)));
        return Some(PlanError::new(
            "log",
            format!("no line of the log could be read{example}"),
            "name its form with --log-format, or its fields with --field",
        ));
    }
    let said: Vec<String> = found
        .left_out
        .iter()
        .map(|(why, requests)| format!("{} {}", counted(*requests, "request"), why.words().spelt(Spelling::Flags)))
        .collect();
    let (first, last) = found.whole_span_ns;
    Some(PlanError::new(
        "log",
        format!("nothing of the log is left to be sent: {}", said.join("; ")),
        format!("the log has requests of {} to {}", moment(first, found.offset_s), moment(last, found.offset_s)),
    ))
}

/// With the largest first, and no more than a few.
fn listed(counts: &std::collections::BTreeMap<String, u64>) -> String {
    let mut all: Vec<(&String, &u64)> = counts.iter().collect();
    all.sort_by_key(|(_, requests)| std::cmp::Reverse(**requests));
    let mut said: Vec<String> = all.iter().take(SHOWN).map(|(name, requests)| format!("{name} {}", count(**requests))).collect();
    if all.len() > SHOWN {
        said.push(format!("{} more", all.len() - SHOWN));
    }
    said.join(", ")
}

/// A moment by the log's clock.
fn moment(at_ns: i64, offset_s: i32) -> String {
    let at_s = at_ns.div_euclid(1_000_000_000).saturating_add(offset_s.into());
    let zone = match offset_s {
        0 => " UTC".to_owned(),
        _ => format!(" {}{:02}{:02}", if offset_s < 0 { '-' } else { '+' }, offset_s.abs() / 3600, offset_s.abs() / 60 % 60),
    };
    utc(at_s).replace(" UTC", &zone)
}

/// Nobody wants to know how many milliseconds an hour was longer.
fn whole_seconds(span: Nanos) -> Nanos {
    if span < Nanos::from_secs(10) { span } else { Nanos::from_secs(span.0.div_ceil(1_000_000_000)) }
}

/// The words for one line.
fn singular(reason: Reason) -> &'static str {
    match reason {
        Reason::Form => "has another form",
        Reason::Cut => "ends too early",
        Reason::Time => "has no readable time",
        Reason::Request => "holds no HTTP request",
        Reason::Status => "has no readable status",
        Reason::Long => "is too long",
        Reason::Blank => "is blank",
    }
}
