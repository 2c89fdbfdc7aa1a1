//! A comparison and everything it was made from: its pairs, what is judged of them, and its file.
//!
//! Invariant: the file holds every run whole, so that another judgement needs no other measurement.

use measure::Summary;
use plan::Random;
use serde::{Deserialize, Serialize};

use crate::compare::{
    AnswerCurve, Calibration, Distance, Margins, Need, PAIRS_MIN, QuantileShift, Values, Verdict, Verdicts, paired, shift_by_quantile,
    values,
};
use crate::gate::{self, Check, Judgement};
use crate::{Standing, Validity, generator_limit};

mod words;

pub use words::{apart, reading};

/// The version of the comparison file.
pub const COMPARE_SCHEMA: &str = "loadline.compare/1";
/// That of the exchanges of sides that tell how wide a gap is by chance.
const DISTANCE_STREAM: u64 = 0xD157;

/// Which side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Side {
    /// The one compared with.
    A,
    /// The one in question.
    B,
}

/// What was run as one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What the user calls it: an address, a file, a command.
    pub name: String,
    /// The command that was started for each of its runs.
    pub command: Option<String>,
}

/// One run of each side, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pair {
    /// The side that was run first.
    pub first: Side,
    /// The run of A.
    pub a: Summary,
    /// The run of B.
    pub b: Summary,
    /// Why the pair is left out of the comparison.
    pub left_out: Option<String>,
}

impl Pair {
    /// A pair; left out if the generator was the limit in either run, either is INVALID, or nothing fell due.
    #[must_use]
    pub fn new(first: Side, a: Summary, b: Summary) -> Self {
        let limit = |name: &str, run: &Summary| {
            generator_limit(run)
                .map(|limit| format!("the load generator was the limit of {name}: {limit}"))
                .or_else(|| {
                    let validity = Validity::of(run);
                    (validity.standing == Standing::Invalid).then(|| format!("the run of {name} is INVALID: {}", validity.why()))
                })
                .or_else(|| (run.requests.due == 0).then(|| format!("no request of {name} fell due")))
        };
        let left_out = limit("A", &a).or_else(|| limit("B", &b));
        Self { first, a, b, left_out }
    }
}

/// A run of one side with profiles of its server, after the pairs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProfiledSide {
    /// Which.
    pub side: Side,
    /// The whole run.
    pub summary: Summary,
}

/// A comparison and everything it was made from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Record")]
pub struct Comparison {
    /// Always [`COMPARE_SCHEMA`].
    pub schema: String,
    /// What its files are named after.
    pub name: String,
    /// What A is.
    pub a: Subject,
    /// What B is.
    pub b: Subject,
    /// How many pairs were asked for; where that was left open, how many their noise asks for.
    pub pairs_planned: u32,
    /// The changes that do not matter.
    pub margins: Margins,
    /// What the target differs from itself by, if that was measured before.
    pub calibration: Option<Calibration>,
    /// What the plans differ in besides the target, where that was let pass.
    pub differences: Vec<String>,
    /// Verdict by verdict; `None` without a single pair that counts.
    #[serde(rename = "comparison")]
    pub verdicts: Option<Verdicts>,
    /// What B has to keep to.
    #[serde(skip)]
    pub promises: Vec<Check>,
    /// Whether it did, by all its runs that count together.
    pub checks: Vec<Judgement>,
    /// How each percentile changed.
    pub shifts: Vec<QuantileShift>,
    /// How far apart the whole distributions are; `None` if nothing was answered.
    pub distance: Option<Distance>,
    /// What that looks like, in sentences.
    pub reading: Vec<String>,
    /// Why it ended before its last pair.
    pub stopped: Option<String>,
    /// Every pair that was measured, in order.
    pub pairs: Vec<Pair>,
    /// A run more of each side with profiles of its server; they are no part of the comparison.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiled: Vec<ProfiledSide>,
}

impl Comparison {
    /// Nothing measured yet. The margins are made no narrower than what the target differs from itself by.
    #[must_use]
    pub fn new(name: String, a: Subject, b: Subject, pairs_planned: u32, margins: Margins, calibration: Option<Calibration>) -> Self {
        let margins = match &calibration {
            Some(calibration) => margins.widened(calibration),
            None => margins,
        };
        Self {
            schema: COMPARE_SCHEMA.to_owned(),
            name,
            a,
            b,
            pairs_planned,
            margins,
            calibration,
            differences: Vec::new(),
            verdicts: None,
            promises: Vec::new(),
            checks: Vec::new(),
            shifts: Vec::new(),
            distance: None,
            reading: Vec::new(),
            stopped: None,
            pairs: Vec::new(),
            profiled: Vec::new(),
        }
    }

    /// Compares what was measured so far.
    pub fn judge(&mut self) {
        let sound: Vec<&Pair> = self.sound().collect();
        let both = self.values();
        let all_of_b = Summary::together(&sound.iter().map(|pair| &pair.b).collect::<Vec<&Summary>>());
        let seed = sound.first().map_or(0, |pair| pair.a.plan.seed());
        let answered: Vec<_> = sound.iter().map(|pair| (AnswerCurve::from(&pair.a), AnswerCurve::from(&pair.b))).collect();
        let shifts = shift_by_quantile(&sound.iter().map(|pair| (&pair.a, &pair.b)).collect::<Vec<_>>());
        self.verdicts = (!both.is_empty()).then(|| paired(&both, &self.margins));
        self.checks = match all_of_b {
            Some(all) => gate::judge(&self.promises, &all),
            None => self.promises.iter().map(Judgement::of_nothing).collect(),
        };
        self.shifts = shifts;
        self.distance = Distance::of(&answered, &mut Random::new(seed, DISTANCE_STREAM));
        self.reading = reading(self);
    }

    /// The figures of the pairs that count.
    fn values(&self) -> Vec<(Values, Values)> {
        self.sound().map(|pair| (values(&pair.a), values(&pair.b))).collect()
    }

    /// How many pairs it takes, by the noise of those that count so far.
    #[must_use]
    pub fn need(&self) -> Option<Need> {
        Need::of(&self.values(), &self.margins)
    }

    /// The pairs that count.
    pub fn sound(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| pair.left_out.is_none())
    }

    /// The verdict on the whole; `None` where too few pairs count for any.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let enough = self.sound().count() >= PAIRS_MIN;
        self.verdicts.as_ref().filter(|_| enough).map(|verdicts| verdicts.verdict)
    }
}

/// What stands in the file of a comparison and does not follow from its pairs.
#[derive(Deserialize)]
struct Record {
    name: String,
    a: Subject,
    b: Subject,
    pairs_planned: u32,
    margins: Margins,
    calibration: Option<Calibration>,
    #[serde(default)]
    differences: Vec<String>,
    #[serde(default)]
    checks: Vec<PromiseInFile>,
    stopped: Option<String>,
    pairs: Vec<Pair>,
    #[serde(default)]
    profiled: Vec<ProfiledSide>,
}

/// A promise in a file; whether it was kept is found anew.
#[derive(Deserialize)]
struct PromiseInFile {
    check: Check,
}

/// As read from a file: what follows from its pairs is found anew.
impl From<Record> for Comparison {
    fn from(record: Record) -> Self {
        let Record { name, a, b, pairs_planned, margins, calibration, differences, checks, stopped, pairs, profiled } = record;
        let promises = checks.into_iter().map(|promised| promised.check).collect();
        let new = Self::new(name, a, b, pairs_planned, Margins::default(), calibration);
        let mut read = Self { margins, differences, promises, stopped, pairs, profiled, ..new };
        read.judge();
        read
    }
}
