//! One user on its journeys: what it knows, where it stands, and what it hears.

use engine::protocol::Encoded;
use measure::{Begun, Failure};
use plan::{Nanos, Random, Target};
use step::auth::Digest;
use step::{Broken, Jar};
use template::{AnswerSink, Fields};

use crate::order::Progress;

/// Streams of chance from here on belong to users on journeys.
const USERS: u64 = 3 << 48;

/// A user; in open load, one after the other on the same Lane.
pub(crate) struct User {
    /// Counts over the whole run.
    pub(crate) number: u64,
    pub(crate) random: Random,
    pub(crate) variables: Vec<Vec<u8>>,
    /// Whether a variable keeps its value from journey to journey.
    pub(crate) kept: Vec<bool>,
    pub(crate) rows: Vec<Fields>,
    pub(crate) jar: Jar,
    /// What was done of what is done only once.
    pub(crate) done: Vec<bool>,
    pub(crate) loops: Vec<Turns>,
    pub(crate) journey: usize,
    /// The instruction that is next.
    pub(crate) at: usize,
    /// Whether a request is before it, which is then this step's.
    pub(crate) travels: bool,
    pub(crate) step: usize,
    /// How long it thinks before that.
    pub(crate) pause: Nanos,
    /// When the journey began, once it has sent something.
    pub(crate) began: Option<Begun>,
    /// Whether a step of the journey failed.
    pub(crate) failed: bool,
    /// Whether it has ever sent anything.
    pub(crate) set_out: bool,
    /// How many journeys it has begun.
    pub(crate) begun: u64,
    /// Whether it has sent nothing on the journey that it is on.
    pub(crate) is_fresh: bool,
    /// What the journey before left, where users leave with that.
    pub(crate) before: Option<Box<LeftState>>,
    /// The request, while it is under way.
    pub(crate) sent: Encoded,
    pub(crate) sink: AnswerSink,
    /// Its answers to the challenge of a server.
    pub(crate) digest: Option<Box<Digest>>,
    /// Whether the request under way answers a challenge.
    pub(crate) challenged: bool,
    /// Where a redirect led, and how many were followed.
    pub(crate) led: Option<Box<Led>>,
    /// Whether the request at hand holds what no header can.
    pub(crate) is_unsendable: bool,
    /// Whether a value that decides what comes next cannot: then the next request is not sent either.
    pub(crate) is_lost: bool,
    /// What it keeps of turns, times and transactions, where the scenario has any.
    pub(crate) progress: Option<Box<Progress>>,
}

/// What a journey left to its user: a journey that was begun and sent nothing took it away.
#[derive(Default)]
pub(crate) struct LeftState {
    pub(crate) variables: Vec<Vec<u8>>,
    pub(crate) rows: Vec<Fields>,
}

/// Where redirects led.
pub(crate) struct Led {
    /// The bodies of the answers on the way, where a step looks for something in them.
    pub(crate) bodies: Vec<u8>,
    pub(crate) place: Target,
    pub(crate) hops: u8,
    /// What did not hold of these answers, by the numbers of checks.
    pub(crate) broken: Vec<(usize, Broken)>,
}

/// What is left of a loop.
#[derive(Debug, Clone, Default)]
pub(crate) enum Turns {
    #[default]
    None,
    Times(u64),
    /// The last comes first.
    Items(Vec<Vec<u8>>),
    /// Places of what is left; the last comes first.
    Order(Vec<u32>),
    /// For this long after the first request of the loop; without one, until the user is to pause so long.
    For {
        span: Nanos,
        over: Nanos,
    },
    /// Up to this time.
    Until(Nanos),
}

impl User {
    /// Why the request at hand is not sent.
    #[cold]
    pub(crate) fn refusal(&self) -> Failure {
        if self.progress.as_ref().is_some_and(|progress| progress.thrown.is_some()) { Failure::ScriptUnsent } else { Failure::RequestValue }
    }

    /// What the script that keeps a request from being sent has said, if one does.
    pub(crate) fn thrown(&self, failure: Failure) -> Option<String> {
        self.progress.as_ref().filter(|_| failure == Failure::ScriptUnsent)?.thrown.clone()
    }

    pub(crate) fn new(number: u64, seed: u64, variables: usize, onces: usize, loops: usize) -> Self {
        Self {
            number,
            random: Random::new(seed, USERS + number),
            variables: vec![Vec::new(); variables],
            kept: vec![false; variables],
            rows: Vec::new(),
            jar: Jar::new(),
            done: vec![false; onces],
            loops: vec![Turns::None; loops],
            journey: 0,
            at: 0,
            travels: false,
            step: 0,
            pause: Nanos::ZERO,
            began: None,
            failed: false,
            set_out: false,
            begun: 0,
            is_fresh: true,
            before: None,
            sent: Encoded::default(),
            sink: AnswerSink::default(),
            digest: None,
            challenged: false,
            led: None,
            is_unsendable: false,
            is_lost: false,
            progress: None,
        }
    }
}
