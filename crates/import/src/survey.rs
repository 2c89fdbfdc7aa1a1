//! Logs in, traffic out.
//!
//! Every line is looked at once and forgotten; what is kept is bounded, so that ten gigabytes need no more memory than ten
//! megabytes. Files are not opened here: a stream is an argument.
//!
//! Invariant: every line is a request or is counted under the reason why it is none.

use std::io::{self, Read};

use crate::agents;
use crate::course;
use crate::entry::{Entry, Reason};
use crate::form::{Form, FormChoice};
use crate::gor::CapturedRecords;
use crate::har;
use crate::key::Key;
use crate::lines::{self, Line};
use crate::part::SurveyPart;
use crate::reader::Reader;
use crate::referers;
use crate::route::{Counts, Routes};
use crate::scrub::{self, Personal};
use crate::stamp::SECOND_NS;
use crate::traffic::{Example, File, Traffic};
use crate::unpacked::{Compression, sample, unpacked};
use crate::users;

/// Lines are cut off as too long from here on: no request line that a server takes is near this.
pub const LINE_BYTES_MOST: usize = 1 << 20;
/// Examples of a reason.
const EXAMPLES: usize = 3;
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
    tally: Tally,
    /// What is known of files that were read.
    part: SurveyPart,
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
    /// Nothing read yet. The figures are for this process alone: parts that are put together have a key.
    #[must_use]
    pub fn new(asked: FormChoice, personal: Personal) -> Self {
        Self::with_key(asked, personal, Key::default())
    }

    /// The same as a part of a survey whose other parts have the same key.
    #[must_use]
    pub fn with_key(asked: FormChoice, personal: Personal, key: Key) -> Self {
        let tally = Tally {
            requests: 0,
            left_out: 0,
            agents: agents::Counter::default(),
            referers: referers::Counter::default(),
            all: Counts::default(),
            routes: Routes::default().with_key(key),
            users: users::Counter::new(key, personal),
            course: course::Counter::default(),
            last_ns: i64::MIN / 2,
            backwards: 0,
            samples: false,
        };
        Self { asked, wanted: None, personal, line_bytes_most: LINE_BYTES_MOST, tally, part: SurveyPart::new(key, personal) }
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
                self.part.files.push(File { ended_early: Some(why.to_string()), ..file(name, packed) });
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
        let mut unread: [(u64, Vec<Example>); Reason::ALL.len()] = Default::default();
        let personal = self.personal;
        let before = tally.requests;
        // What another file says of time says nothing of this one.
        tally.last_ns = i64::MIN / 2;
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
        self.part.files.push(file);
        for (reason, (lines, examples)) in Reason::ALL.into_iter().zip(unread).filter(|(_, (lines, _))| *lines > 0) {
            self.part.add_unread(reason, lines, examples);
        }
        Ok(())
    }

    /// What they say, to be put together with what others say.
    #[must_use]
    pub fn part(self) -> SurveyPart {
        let Self { personal, tally, part, .. } = self;
        SurveyPart {
            requests: tally.requests,
            left_out: tally.left_out,
            backwards: tally.backwards,
            has_targets: tally.samples,
            all: tally.all,
            course: tally.course,
            routes: tally.routes.sealed(personal),
            users: tally.users.sorted(),
            agents: tally.agents.counted(),
            referers: tally.referers.counted(),
            ..part
        }
    }

    /// What all of them say.
    #[must_use]
    pub fn finish(self) -> Traffic {
        self.part().traffic()
    }
}

fn file(name: &str, packed: Compression) -> File {
    File { name: name.to_owned(), packed, form: None, guessed: true, lines: 0, requests: 0, bytes_read: 0, ended_early: None }
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
