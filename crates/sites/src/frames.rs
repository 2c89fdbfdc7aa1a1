//! What a commander and its sites say to each other: first a site's greeting as a line of JSON, then frames.
//!
//! The greeting says the version of the frames: another version is refused by name, before anything of a plan is sent. It is text, because
//! whatever else a machine says at first is text too, and is shown to people. A frame is the length of what follows, in four bytes
//! with the highest first, and then a thing said, as [`engine::to_bytes`] writes it.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read};

use engine::{Message, RunError, RunErrorKind, SoFar, Urgency, to_bytes};
use measure::{Failure, Machine, RequestRecord, TransactionRecord};
use plan::{Nanos, Wording};
use serde::{Deserialize, Serialize};

/// The version of these frames. Both ends have the same.
pub const SITE_SCHEMA: &str = "loadline.site/7";

/// No frame is longer: a plan without its files is not, and no counts are.
const FRAME_BYTES_MAX: u32 = 64 << 20;
/// Files and blocks are sent in pieces, so that other orders come in between, and each shows that the commander is there.
pub(crate) const PIECE_BYTES: usize = 256 << 10;
/// What files hold may take so much of a site's memory.
pub(crate) const FILES_BYTES_MAX: u64 = 1 << 30;
/// No greeting is longer.
const GREETING_BYTES_MAX: u64 = 64 << 10;

/// An order of a commander to a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A piece of a file by its number, after those before it. A file is sent once as long as plans name it.
    File {
        /// The commander's.
        number: u32,
        /// Whether it is read while load is sent, and is not to be in memory a second time.
        is_large: bool,
        /// The bytes of this piece.
        #[serde(with = "serde_bytes")]
        piece: Vec<u8>,
    },
    /// The plan of the next job, as [`plan::Plan::encode`] writes it, and the numbers of its files by their paths. Others are forgotten.
    Plan(String, BTreeMap<String, u32>),
    /// Get these parts of a load ready.
    Prepare(Box<Job>),
    /// A piece of the next block of what a source sends, after those before it.
    Block {
        /// The source's number.
        source: u32,
        /// The bytes of this piece.
        #[serde(with = "serde_bytes")]
        piece: Vec<u8>,
        /// Whether the block ends with it.
        is_last: bool,
    },
    /// What time is it there? With a number, which the answer repeats.
    Clock(u32),
    /// Begin the load at this time of the site's own clock.
    Start {
        /// As [`engine::monotonic_now`] tells it there.
        #[serde(rename = "at_ns")]
        at: Nanos,
    },
    /// End the load: let what is under way finish.
    Drain,
    /// End the load at once.
    Quit,
    /// Go on: the commander is there.
    Stay,
}

impl Order {
    /// How a load is told to end.
    pub(crate) const fn to_end(urgency: Urgency) -> Self {
        match urgency {
            Urgency::None => Self::Stay,
            Urgency::Drain => Self::Drain,
            Urgency::Now => Self::Quit,
        }
    }
}

/// The parts of a load that a site has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The numbers of its sources, of all the plan's.
    pub sources: Vec<u32>,
    /// What the load takes up from those before it.
    pub so_far: SoFar,
    /// Whether the site is on the commander's machine: it may open the same files, and the target was looked at.
    pub is_here: bool,
    /// All processes of the run on the site's machine, for the site that looks for others on its cores.
    pub processes: Option<Vec<u32>>,
    /// Where it may connect to, as patterns; with none, everywhere.
    pub allowed: Vec<String>,
    /// Whether it is to tell of every request.
    pub rows: bool,
}

/// What a site says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What time it is there.
    Clock {
        /// That of the order.
        number: u32,
        /// As [`engine::monotonic_now`] tells it there.
        #[serde(rename = "now_ns")]
        now: Nanos,
    },
    /// A source has taken the next of its blocks.
    Taken(u32),
    /// Its sources are ready, and all their connections open.
    Ready,
    /// It cannot carry its parts out.
    Refused(Refusal),
    /// Something of its sources.
    Told(Message),
    /// Requests of a source.
    Rows(Box<Rows>),
    /// So many requests and transactions of its sources are in no rows: they were made faster than they could be sent.
    Missing(u64),
    /// It is there still: once a second.
    Here,
    /// Its load is over, and everything has been told.
    Done,
}

/// Requests and transactions of a source, as its log has them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// The source's number.
    pub source: u32,
    /// What they are called, and the checks of their answers; only with the first of a source.
    pub names: Vec<(String, Vec<String>)>,
    /// The requests.
    pub records: Vec<RequestRecord>,
    /// The transactions, each behind so many of the requests.
    pub transactions: Vec<(usize, TransactionRecord)>,
}

/// How a site greets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`SITE_SCHEMA`], of the site.
    pub schema: String,
    /// The program's version.
    pub loadline: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Connections that it may have open at once.
    pub connections_max: u32,
    /// Its process.
    pub process: u32,
    /// The machine it is on.
    #[serde(default)]
    pub machine: Machine,
    /// What tells its machine from others, if the system says so: processes where this is the same share cores, and know each other by number.
    #[serde(default)]
    pub kernel: Option<String>,
}

impl Greeting {
    /// That of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self {
            schema: SITE_SCHEMA.to_owned(),
            loadline: env!("CARGO_PKG_VERSION").to_owned(),
            cores: engine::machine::cores().get(),
            connections_max: engine::machine::connections_max().get(),
            process: std::process::id(),
            machine: engine::machine::machine(),
            kernel: engine::machine::kernel(),
        }
    }
}

/// Why a site cannot carry its parts out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    kind: RunErrorKind,
    message: Wording,
    help: Wording,
    unreached: Option<(Failure, String)>,
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        let RunError { kind, message, help, unreached, measured: _ } = error;
        Self { kind, message, help, unreached }
    }
}

impl From<Refusal> for RunError {
    fn from(Refusal { kind, message, help, unreached }: Refusal) -> Self {
        Self { kind, unreached, ..Self::run(message, help) }
    }
}

/// The line of a greeting.
#[derive(Serialize, Deserialize)]
struct Hello {
    hello: Greeting,
}

impl Greeting {
    /// As a line, with its end.
    pub(crate) fn to_line(&self) -> String {
        serde_json::to_string(&Hello { hello: self.clone() }).expect("a greeting holds nothing that JSON cannot") + "\n"
    }

    /// Reads such a line.
    ///
    /// # Errors
    /// The line, if it is something else; nothing if there is none.
    pub(crate) fn read(stream: &mut impl BufRead) -> Result<Self, Option<String>> {
        let mut line = Vec::new();
        stream.take(GREETING_BYTES_MAX).read_until(b'\n', &mut line).map_err(|_| None)?;
        let Ok(Hello { hello }) = serde_json::from_slice(&line) else {
            return Err((!line.is_empty()).then(|| String::from_utf8_lossy(&line).trim_end().to_owned()));
        };
        Ok(hello)
    }
}

/// Something as a frame.
pub(crate) fn frame(said: &impl Serialize) -> Vec<u8> {
    let said = to_bytes(said);
    let length = u32::try_from(said.len()).expect("no plan has four gigabytes");
    [&length.to_be_bytes()[..], &said].concat()
}

/// The next frame's bytes, without its length; `None` at the end of the stream.
///
/// # Errors
/// If the stream breaks off in a frame, or says a length that no frame has.
pub(crate) fn read_frame(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match stream.read_exact(&mut length) {
        Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        ended => ended?,
    }
    let length = u32::from_be_bytes(length);
    if length > FRAME_BYTES_MAX {
        return Err(io::ErrorKind::InvalidData.into());
    }
    // Room is made as it arrives, and not for what a length says.
    let mut bytes = Vec::new();
    if stream.take(length.into()).read_to_end(&mut bytes)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_read_back_one_after_the_other_and_a_wrong_length_is_refused() {
        let mut stream = [frame(&Order::Clock(7)), frame(&Order::Stay)].concat();
        let mut read = &stream[..];
        let mut next = || read_frame(&mut read).unwrap().map(|bytes| engine::from_bytes::<Order>(&bytes).unwrap());
        assert_eq!([next(), next(), next()], [Some(Order::Clock(7)), Some(Order::Stay), None]);
        stream.pop();
        let mut read = &stream[..];
        assert!(read_frame(&mut read).is_ok() && read_frame(&mut read).is_err(), "it breaks off");
        assert_eq!(read_frame(&mut &[0xff; 9][..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_greeting_reads_back_and_anything_else_is_shown() {
        let greeting = Greeting::of_this_process();
        assert_eq!(Greeting::read(&mut greeting.to_line().as_bytes()), Ok(greeting));
        assert_eq!(Greeting::read(&mut &b"Welcome to web1\n"[..]), Err(Some("Welcome to web1".to_owned())));
        assert_eq!(Greeting::read(&mut &b""[..]), Err(None));
    }
}
