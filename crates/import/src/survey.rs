//! Logs in, traffic out.
//!
//! Every line is looked at once and forgotten; what is kept is bounded, so that ten gigabytes need no more memory than ten
//! megabytes. Files are not opened here: a stream is an argument.
//!
//! Invariant: every line is a request or is counted under the reason why it is none.

use std::io::{self, Read};

use crate::agents;
use crate::course;
use crate::entry::{Entry, Reason, sendable};
use crate::form::{Form, FormChoice};
use crate::gor::CapturedRecords;
use crate::har;
use crate::lines::{self, Line};
use crate::reader::Reader;
use crate::referers;
use crate::route::{Counts, Routes};
use crate::sample::{RouteSample, Target, Targets};
use crate::scrub::{self, Personal};
use crate::stamp::SECOND_NS;
use crate::stand_in::StandIns;
use crate::took::Took;
use crate::traffic::{Example, File, Route, SCHEMA, StatusCount, Traffic, Unread};
use crate::unpacked::{Compression, sample, unpacked};
use crate::users;

/// Lines are cut off as too long from here on: no request line that a server takes is near this.
pub const LINE_BYTES_MOST: usize = 1 << 20;
/// Examples of a reason.
const EXAMPLES: usize = 3;
/// That so many requests are of one client is worth a remark.
const ONE_CLIENT_REQUESTS: u64 = 100;
/// Beyond this, a time before the one of the line above is no matter of long requests.
const BACKWARDS_NS: i64 = 3600 * SECOND_NS;

/// Whether a request is counted.
type Wanted = Box<dyn Fn(&Entry<'_>) -> bool>;

/// Reads logs, and keeps what they say.
pub struct Survey {
    asked: FormChoice,
    wanted: Option<Wanted>,
    personal: Personal,
    line_bytes_most: usize,
    files: Vec<File>,
    tally: Tally,
    unread: [(u64, Vec<Example>); Reason::ALL.len()],
}

/// What is counted of requests.
struct Tally {
    requests: u64,
    /// Requests that are not wanted.
    left_out: u64,
    agents: agents::Counter,
    referers: referers::Counter,
    all: Counts,
    routes: Routes,
    users: users::Counter,
    course: course::Counter,
    last_ns: i64,
    backwards: u64,
    /// Whether what routes are asked for is sampled.
    samples: bool,
}

impl Tally {
    #[inline]
    fn add_wanted(&mut self, entry: &Entry<'_>, wanted: Option<&dyn Fn(&Entry<'_>) -> bool>) -> Result<(), Reason> {
        if wanted.is_some_and(|wanted| !wanted(entry)) {
            self.left_out += 1;
            return Ok(());
        }
        self.add(entry)
    }

    #[inline]
    fn add(&mut self, entry: &Entry<'_>) -> Result<(), Reason> {
        if !self.course.add(entry.start_ns, entry.offset_s) {
            return Err(Reason::Time);
        }
        self.requests += 1;
        let bytes = entry.bytes.unwrap_or(0);
        self.all.add(entry.status, bytes, entry.took_ns);
        let counts = match entry.path_and_query().filter(|_| self.samples) {
            Some(target) => self.routes.of_target(entry.method, entry.path, target),
            None => self.routes.of(entry.method, entry.path),
        };
        counts.add(entry.status, bytes, entry.took_ns);
        if let Some(client) = entry.client {
            self.users.add(client, (entry.stamp_ns, entry.start_ns), entry.took_ns.unwrap_or(0));
        }
        self.agents.add(entry.agent);
        self.referers.add(entry.referer);
        self.backwards += u64::from(entry.start_ns < self.last_ns - BACKWARDS_NS);
        self.last_ns = entry.start_ns;
        Ok(())
    }
}

impl Survey {
    /// Nothing read yet.
    #[must_use]
    pub fn new(asked: FormChoice, personal: Personal) -> Self {
        let tally = Tally {
            requests: 0,
            left_out: 0,
            agents: agents::Counter::default(),
            referers: referers::Counter::default(),
            all: Counts::default(),
            routes: Routes::default(),
            users: users::Counter::new(personal),
            course: course::Counter::default(),
            last_ns: i64::MIN / 2,
            backwards: 0,
            samples: false,
        };
        Self { asked, wanted: None, personal, line_bytes_most: LINE_BYTES_MOST, files: Vec::new(), tally, unread: Default::default() }
    }

    /// With a sample of what each route was asked for.
    #[must_use]
    pub fn with_targets(mut self) -> Self {
        self.tally.samples = true;
        self
    }

    /// Of these requests alone; how many others there were is told.
    #[must_use]
    pub fn of(self, wanted: impl Fn(&Entry<'_>) -> bool + 'static) -> Self {
        Self { wanted: Some(Box::new(wanted)), ..self }
    }

    /// With another limit for lines.
    #[must_use]
    pub fn with_line_bytes_most(self, line_bytes_most: usize) -> Self {
        Self { line_bytes_most, ..self }
    }

    /// Reads a file to its end, or as far as it goes.
    ///
    /// # Errors
    /// If not a byte of it can be read. What fails later is said in the result.
    pub fn read(&mut self, name: &str, source: impl Read) -> io::Result<()> {
        let (packed, source) = unpacked(source)?;
        let (head, source) = match sample(source) {
            Ok(both) => both,
            Err(why) if packed != Compression::Plain => {
                self.files.push(File { ended_early: Some(why.to_string()), ..file(name, packed) });
                return Ok(());
            }
            Err(why) => return Err(why),
        };
        let mut file = file(name, packed);
        file.guessed = self.asked.is_guess();
        // What nothing known reads is counted line by line all the same, as lines of another form.
        let (form_name, form) = match self.asked.guess(&head) {
            Some((name, form)) => (Some(name), form),
            None => (None, crate::form::KNOWN[0].form()),
        };
        file.form = form_name;
        let whole = io::Cursor::new(head).chain(source);
        let tally = &mut self.tally;
        let wanted = self.wanted.as_deref();
        let unread = &mut self.unread;
        let personal = self.personal;
        let before = tally.requests;
        let mut number = 0u64;
        let mut refused = |reason: Reason, number: u64, text: &[u8]| {
            let (lines, examples) = &mut unread[reason as usize];
            *lines += 1;
            if examples.len() < EXAMPLES && reason != Reason::Blank {
                examples.push(Example { file: name.to_owned(), line: number, text: scrub::example(text, personal) });
            }
        };
        let ended = if form == Form::Har {
            let mut counting = Counting { source: whole, bytes: 0 };
            let ended = har::read(io::BufReader::with_capacity(1 << 16, &mut counting), &mut |entry| {
                number += 1;
                if let Err(reason) = entry.and_then(|entry| tally.add_wanted(&entry, wanted)) {
                    refused(reason, number, b"(an entry of a HAR document)");
                }
            });
            file.bytes_read = counting.bytes;
            ended.map_err(io::Error::other)
        } else if form == Form::Gor {
            let mut counting = Counting { source: whole, bytes: 0 };
            let mut captured = CapturedRecords::new(Box::new(&mut counting));
            let mut ended = Ok(());
            while let Some(row) = captured.next() {
                number += 1;
                match row {
                    Ok(Ok(entry)) => {
                        if let Err(reason) = tally.add_wanted(&entry, wanted) {
                            refused(reason, number, entry.target);
                        }
                    }
                    Ok(Err((reason, text))) => refused(reason, number, text),
                    Err(why) => ended = Err(why),
                }
            }
            drop(captured);
            file.bytes_read = counting.bytes;
            ended
        } else {
            let mut reader = Reader::new(&form);
            let mut bytes = 0;
            let ended = lines::each(whole, self.line_bytes_most, |line| {
                number += 1;
                match line {
                    Line::Long(text) => {
                        bytes += text.len() as u64;
                        refused(Reason::Long, number, text);
                    }
                    Line::Whole(text) => {
                        bytes += text.len() as u64 + 1;
                        if let Err(reason) = reader.line(text).and_then(|entry| tally.add_wanted(&entry, wanted)) {
                            refused(reason, number, text);
                        }
                    }
                }
            });
            file.bytes_read = *ended.as_ref().unwrap_or(&bytes);
            ended.map(|_| ())
        };
        file.ended_early = ended.err().map(|why| why.to_string());
        file.lines = number;
        file.requests = tally.requests - before;
        self.files.push(file);
        Ok(())
    }

    /// What all of them say.
    #[must_use]
    pub fn finish(self) -> Traffic {
        let Self { personal, files, tally, unread, .. } = self;
        let requests = tally.requests;
        let late = tally.course.late;
        let (listed, others) = tally.routes.finish();
        let mut above = 0;
        let mut stand_ins = StandIns::default();
        let routes: Vec<Route> = listed
            .into_iter()
            .map(|(method, path, mut counts)| {
                above += counts.requests;
                let targets = counts.sample.take().map(|sample| targets(&sample.finish(), personal, &mut stand_ins));
                Route { targets, ..route(method, path, &counts, above, requests) }
            })
            .collect();
        let others = (others.requests > 0).then(|| route(String::new(), "others".to_owned(), &others, requests, requests));
        let unread: Vec<Unread> = Reason::ALL
            .into_iter()
            .zip(unread)
            .filter(|(_, (lines, _))| *lines > 0)
            .map(|(reason, (lines, examples))| Unread { reason, lines, examples })
            .collect();
        let course = tally.course.finish();
        let users = tally.users.finish();
        let mut remarks = Vec::new();
        if tally.left_out > 0 {
            remarks.push(format!("{} requests are left out, as they are not wanted", tally.left_out));
        }
        for file in files.iter().filter(|file| file.ended_early.is_some()) {
            remarks.push(format!(
                "{} could not be read to its end: {}; what came before is counted",
                file.name,
                file.ended_early.as_deref().unwrap_or_default()
            ));
        }
        for file in files.iter().filter(|file| file.form.is_none() && file.lines > 0) {
            remarks.push(format!("the form of {} is not known: name it with --log-format or --field", file.name));
        }
        if let Some(gaps) = course.as_ref().map(|course| course.gaps_s).filter(|gaps| *gaps > 0) {
            remarks.push(format!("the log has gaps of together {} days without a request; averages leave them out", gaps / 86_400));
        }
        if tally.backwards > 0 {
            remarks.push(format!("the time goes back by more than an hour {} times: files in another order, or a clock that was set; sessions may be told wrong there", tally.backwards));
        }
        if late > 0 {
            remarks.push(format!("{late} requests are of hours that had left memory: they are counted, but their seconds are not known"));
        }
        if let Some(others) = &others {
            remarks
                .push(format!("{} requests have routes beyond the number that is kept, and are told together as others", others.requests));
        }
        if let Some(users) = users.as_ref().filter(|users| users.users == 1 && users.requests >= ONE_CLIENT_REQUESTS) {
            remarks.push(format!(
                "all {} requests are of one client: if a proxy or a collector stands before the address, name the form with --log-format, or \
                 sessions and pauses mean nothing",
                users.requests
            ));
        }
        if let Some(users) = users.as_ref().filter(|users| !users.exact) {
            remarks.push(format!("figures of users are estimates, from a sample of {} of about {}", users.sample, users.users));
        }
        Traffic {
            schema: SCHEMA,
            lines: files.iter().map(|file| file.lines).sum(),
            files,
            requests,
            unread,
            personal,
            course,
            statuses: statuses(&tally.all),
            bytes: tally.all.bytes,
            took: tally.all.took.as_ref().and_then(|took| took.times()),
            routes,
            others,
            users,
            agents: tally.agents.finish(),
            referers: tally.referers.finish(),
            remarks,
            stand_ins: stand_ins.count(),
        }
    }
}

/// What was kept of a route, as it may be written down.
fn targets(kept: &RouteSample, personal: Personal, stand_ins: &mut StandIns) -> Targets {
    let listed = kept.paths.iter().map(|(logged, requests)| {
        let mut bytes = Vec::with_capacity(logged.len());
        sendable(logged, &mut bytes);
        let path = String::from_utf8_lossy(&bytes).into_owned();
        let written = if personal == Personal::Kept { path.clone() } else { stand_ins.target(&path) };
        Target { is_altered: written != path, path: written, requests: *requests }
    });
    Targets { listed: listed.collect(), distinct: kept.distinct, covered: kept.covered }
}

fn file(name: &str, packed: Compression) -> File {
    File { name: name.to_owned(), packed, form: None, guessed: true, lines: 0, requests: 0, bytes_read: 0, ended_early: None }
}

fn statuses(counts: &Counts) -> Vec<StatusCount> {
    let mut all: Vec<StatusCount> =
        counts.statuses.iter().map(|(status, requests)| StatusCount { status: *status, requests: *requests }).collect();
    all.sort_by_key(|it| it.status);
    all
}

fn route(method: String, path: String, counts: &Counts, above: u64, all: u64) -> Route {
    let share = |part: u64| part as f64 / all.max(1) as f64;
    Route {
        method,
        path,
        requests: counts.requests,
        share: share(counts.requests),
        cumulative_share: share(above),
        statuses: statuses(counts),
        bytes: counts.bytes,
        took: counts.took.as_deref().and_then(Took::times),
        targets: None,
    }
}

/// Counts what goes through.
struct Counting<R> {
    source: R,
    bytes: u64,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.bytes += read as u64;
        Ok(read)
    }
}
