//! What a log holds, looked at before a request is sent.
//!
//! Whoever starts an hour of load wants to know before it what will be sent, and what not. And what is needed to put lines in order
//! is known only when all of them were seen: how far they are behind, whether their times are whole seconds, when the last one is.
//!
//! Invariant: every line is sent, left out for a reason, or no request; what is told here is what is played.

use std::collections::BTreeMap;
use std::io;

use import::{Compression, Entries, Entry, LogEvent, Personal, Reason, RouteIndex};
use plan::Nanos;

use crate::log::Log;
use crate::order::{HELD_MOST, LATE_NS_MOST, LINE_BYTES_MOST, Lateness};
use crate::pick::{LeftOut, Options, Pick, SECOND_NS, is_safe};

/// Examples of lines that tell of no request.
pub type Examples = Vec<String>;

/// So many of each are kept.
const EXAMPLES: usize = 2;
/// Of requests whose bodies are not whole.
const PARTIAL_SHOWN: usize = 10;
/// Methods that are told apart.
const METHODS_MOST: usize = 32;
/// Hosts that are told apart.
const HOSTS_MOST: usize = 100;

/// What was found of one log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFound {
    /// Its name.
    pub name: String,
    /// How it was packed.
    pub packed: Compression,
    /// Its form; `None` where it is empty or nothing known reads it.
    pub form: Option<String>,
    /// Its lines.
    pub lines: u64,
    /// Requests in it that are sent.
    pub sent: u64,
    /// Why it was not read to its end.
    pub ended_early: Option<String>,
    /// Whether its times are whole seconds.
    pub whole_seconds: bool,
    /// No request of it that is sent is before this moment.
    pub(crate) first_ns: i64,
    /// How far a line is behind at most: its time, its beginning, and the one before the other.
    pub(crate) late_stamp_ns: i64,
    pub(crate) late_start_ns: i64,
    pub(crate) longest_ns: i64,
}

/// What was found of all logs together.
#[derive(Debug)]
pub struct LogFacts {
    /// Each log.
    pub files: Vec<FileFound>,
    /// Lines that tell of no request, by reason, with examples.
    pub unread: BTreeMap<Reason, (u64, Examples)>,
    /// Requests that are not sent, by reason.
    pub left_out: BTreeMap<LeftOut, u64>,
    /// Their methods, where they may change something.
    pub writes: BTreeMap<String, u64>,
    /// Hosts that were asked, among them those of requests that are left out; empty where none is logged.
    pub hosts: BTreeMap<String, u64>,
    /// Requests that are sent.
    pub sent: u64,
    /// Those of them that may change something, and whose bodies no log holds.
    pub bodiless: u64,
    /// Those of them of whose bodies something was not recorded, such as what was in the files of a form.
    pub partial: u64,
    /// The first of those, each by place and name.
    pub partial_first: Examples,
    /// Lines that begin before the one above them.
    pub backwards: u64,
    /// The first and the last moment of a request that is sent, and of any, in nanoseconds since 1970.
    pub span_ns: (i64, i64),
    /// The same of all requests.
    pub whole_span_ns: (i64, i64),
    /// Seconds to add for the log's own clock.
    pub offset_s: i32,
    pub(crate) logs: Vec<Log>,
    pub(crate) pick: Pick,
    pub(crate) routed: RouteIndex,
}

/// Looks at all of them.
///
/// # Errors
/// If a log cannot be read at all, with its name.
pub fn look(logs: Vec<Log>, options: Options) -> Result<LogFacts, (String, io::Error)> {
    let begun = begun(&logs, &options)?;
    let offset_s = begun.as_ref().map_or(0, |first| first.offset_s);
    let mut found = LogFacts {
        files: Vec::new(),
        unread: BTreeMap::new(),
        left_out: BTreeMap::new(),
        writes: BTreeMap::new(),
        hosts: BTreeMap::new(),
        sent: 0,
        bodiless: 0,
        partial: 0,
        partial_first: Vec::new(),
        backwards: 0,
        span_ns: (i64::MAX, i64::MIN),
        whole_span_ns: (i64::MAX, i64::MIN),
        offset_s,
        pick: pick(begun.as_ref(), options),
        routed: RouteIndex::default(),
        logs: Vec::new(),
    };
    for log in &logs {
        found.read(log).map_err(|why| (log.name().to_owned(), why))?;
    }
    found.routed.settle();
    found.logs = logs;
    Ok(found)
}

/// Which requests of these logs are wanted by their time, their path and their host; whether they could be sent does not matter.
///
/// # Errors
/// If a log cannot be read at all, with its name.
pub fn wanted(logs: &[Log], options: Options) -> Result<impl Fn(&Entry<'_>) -> bool + use<>, (String, io::Error)> {
    let pick = pick(begun(logs, &options)?.as_ref(), options);
    Ok(move |entry: &Entry<'_>| match pick.look(entry) {
        Err(LeftOut::Time | LeftOut::Pattern | LeftOut::Host) => false,
        Err(LeftOut::NoPath) => pick.options.only.is_empty(),
        Ok(_) | Err(LeftOut::Write | LeftOut::Upgrade | LeftOut::Late) => true,
    })
}

/// The options, held against where the logs begin.
fn pick(begun: Option<&Begun>, options: Options) -> Pick {
    let (begins_ns, offset_s) = begun.map_or((0, 0), |first| (first.start_ns, first.offset_s));
    let from_ns = options.from.as_ref().map_or(i64::MIN, |from| from.resolved(begins_ns, begins_ns, offset_s));
    let to_ns = options.to.as_ref().map_or(i64::MAX, |to| to.resolved(begins_ns, from_ns.max(begins_ns), offset_s));
    let mut hosts = options.hosts.clone();
    if let Some(host) = begun.and_then(|first| first.page.clone()).filter(|_| hosts.is_empty()) {
        // A browser asks many servers, and the page it was on is one's.
        hosts.push(host);
    }
    hosts.retain(|host| host != "*");
    Pick { options, from_ns, to_ns, hosts }
}

/// The first request of all logs by their times: lines stand behind their times, so it need not be in the first line.
struct Begun {
    start_ns: i64,
    offset_s: i32,
    /// The host of a page that a browser was on.
    page: Option<String>,
}

fn begun(logs: &[Log], options: &Options) -> Result<Option<Begun>, (String, io::Error)> {
    let mut first: Option<Begun> = None;
    for log in logs {
        let named = |why| (log.name().to_owned(), why);
        let mut entries = Entries::open(log.read().map_err(named)?, &options.form, LINE_BYTES_MOST).map_err(named)?;
        let is_page = entries.form() == Some("har");
        let mut of_log: Option<Begun> = None;
        let mut looked_at = 0;
        while let Some(Ok(told)) = entries.read() {
            let LogEvent::Request(entry) = told else { continue };
            looked_at += 1;
            match &mut of_log {
                None => {
                    let page = entry.host().filter(|_| is_page).map(|host| String::from_utf8_lossy(host).into_owned());
                    of_log = Some(Begun { start_ns: entry.start_ns, offset_s: entry.offset_s, page });
                }
                Some(begun) if entry.start_ns > begun.start_ns.saturating_add(LATE_NS_MOST) || looked_at > HELD_MOST => break,
                Some(begun) => begun.start_ns = begun.start_ns.min(entry.start_ns),
            }
        }
        first = [first, of_log].into_iter().flatten().min_by_key(|begun| begun.start_ns);
    }
    Ok(first)
}

impl LogFacts {
    fn read(&mut self, log: &Log) -> io::Result<()> {
        let mut entries = Entries::open(log.read()?, &self.pick.options.form, LINE_BYTES_MOST)?;
        let mut file = FileFound {
            name: log.name().to_owned(),
            packed: entries.packed(),
            form: entries.form().map(str::to_owned),
            lines: 0,
            sent: 0,
            ended_early: None,
            whole_seconds: true,
            first_ns: i64::MAX,
            late_stamp_ns: 0,
            late_start_ns: 0,
            longest_ns: 0,
        };
        let mut lateness = Lateness::new();
        let mut above_ns = i64::MIN;
        let (mut least_ns, mut most_ns) = (i64::MAX, i64::MIN);
        loop {
            let number = entries.number() + 1;
            let entry = match entries.read() {
                None => break,
                Some(Err(why)) => {
                    file.ended_early = Some(why.to_string());
                    break;
                }
                Some(Ok(LogEvent::Unread(reason, text))) => {
                    file.lines += 1;
                    let (lines, examples) = self.unread.entry(reason).or_default();
                    *lines += 1;
                    if examples.len() < EXAMPLES && reason != Reason::Blank {
                        examples.push(format!("{}:{number} {}", file.name, import::example(text, Personal::LeftOut)));
                    }
                    continue;
                }
                Some(Ok(LogEvent::Request(entry))) => entry,
            };
            file.lines += 1;
            self.whole_span_ns = (self.whole_span_ns.0.min(entry.start_ns), self.whole_span_ns.1.max(entry.start_ns));
            self.note_host(&entry);
            let behind = match self.pick.look(&entry) {
                Ok(_) => lateness.judge(&entry).ok_or(LeftOut::Late),
                Err(why) => Err(why),
            };
            let behind = match behind {
                Ok(behind) => behind,
                Err(why) => {
                    *self.left_out.entry(why).or_default() += 1;
                    if why == LeftOut::Write {
                        let method = String::from_utf8_lossy(entry.method).into_owned();
                        // A hostile log has a method a line.
                        let method = if self.writes.len() < METHODS_MOST || self.writes.contains_key(&method) {
                            method
                        } else {
                            "others".to_owned()
                        };
                        *self.writes.entry(method).or_default() += 1;
                    }
                    continue;
                }
            };
            self.routed.note(entry.method, entry.path);
            file.sent += 1;
            self.bodiless += u64::from(entry.sent.is_none() && !is_safe(entry.method));
            if entry.is_partial {
                self.partial += 1;
                if self.partial_first.len() < PARTIAL_SHOWN {
                    let named = [entry.method, b" ", entry.path].concat();
                    self.partial_first.push(format!("{}: entry {number}: {}", file.name, import::example(&named, Personal::LeftOut)));
                }
            }
            self.backwards += u64::from(entry.start_ns < above_ns);
            above_ns = entry.start_ns;
            (least_ns, most_ns) = (least_ns.min(entry.start_ns), most_ns.max(entry.start_ns));
            file.whole_seconds &= entry.stamp_ns.rem_euclid(SECOND_NS) == 0;
            file.late_stamp_ns = file.late_stamp_ns.max(behind.stamp_ns);
            file.late_start_ns = file.late_start_ns.max(behind.start_ns);
            file.longest_ns = file.longest_ns.max(entry.stamp_ns - entry.start_ns);
        }
        if file.sent > 0 {
            file.first_ns = least_ns;
            // A moment within the last second.
            let most_ns = if file.whole_seconds { most_ns + SECOND_NS - 1 } else { most_ns };
            self.span_ns = (self.span_ns.0.min(least_ns), self.span_ns.1.max(most_ns));
            self.sent += file.sent;
        }
        self.files.push(file);
        Ok(())
    }

    fn note_host(&mut self, entry: &Entry<'_>) {
        let Some(host) = entry.host().and_then(|host| std::str::from_utf8(host).ok()) else { return };
        if let Some(count) = self.hosts.get_mut(host) {
            *count += 1;
        } else if self.hosts.len() < HOSTS_MOST {
            self.hosts.insert(host.to_owned(), 1);
        }
    }

    /// Lines of all logs.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.files.iter().map(|file| file.lines).sum()
    }

    /// Lines that tell of no request.
    #[must_use]
    pub fn unread_lines(&self) -> u64 {
        self.unread.values().map(|(lines, _)| lines).sum()
    }

    /// How long it takes to send all of it.
    #[must_use]
    pub fn length(&self) -> Nanos {
        if self.sent == 0 {
            return Nanos::ZERO;
        }
        let last = self.due(self.span_ns.1).plus(Nanos(1));
        Nanos::from_millis(last.0.div_ceil(1_000_000))
    }

    /// The logs' mean rate when they are sent so, in requests a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.sent as f64 / self.length().as_secs_f64().max(1e-3)
    }

    /// The hosts whose requests are sent alone; empty where all are.
    #[must_use]
    pub fn only_hosts(&self) -> &[String] {
        &self.pick.hosts
    }

    /// The span that was wanted, in nanoseconds since 1970.
    #[must_use]
    pub fn wanted_ns(&self) -> (i64, i64) {
        (self.pick.from_ns, self.pick.to_ns)
    }

    fn due(&self, at_ns: i64) -> Nanos {
        due(at_ns, self.span_ns.0, self.pick.options.speed.factor())
    }
}

/// When a request falls due whose log begins there.
pub(crate) fn due(at_ns: i64, begins_ns: i64, factor: f64) -> Nanos {
    let span = at_ns.saturating_sub(begins_ns).max(0);
    // A speed of one keeps every nanosecond, however long the log.
    Nanos(if factor == 1.0 { span as u64 } else { (span as f64 / factor).round() as u64 })
}
