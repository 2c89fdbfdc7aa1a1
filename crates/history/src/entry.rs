//! A saved run: what is known of it without reading its result.

use std::fmt;
use std::str::FromStr;

use measure::Machine;
use serde::{Deserialize, Serialize};

use crate::Revision;

/// What a saved result is the result of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// One load.
    Run,
    /// A ladder of loads.
    Sweep,
    /// A capacity search.
    Find,
    /// Two sides in pairs.
    Compare,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Run, Self::Sweep, Self::Find, Self::Compare];

    /// Its name: that of the command.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Sweep => "sweep",
            Self::Find => "find",
            Self::Compare => "compare",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// It is not the name of a kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("is not one of run, sweep, find, compare")]
pub struct UnknownKind;

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or(UnknownKind)
    }
}

/// A moment in milliseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Moment(pub i64);

impl Moment {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_millisecond())
    }
}

impl FromStr for Moment {
    type Err = jiff::Error;

    /// From RFC 3339, as results write it.
    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(|moment| Self(moment.as_millisecond()))
    }
}

/// RFC 3339, UTC, to the millisecond.
impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl Serialize for Moment {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The name of one saved run for good: twelve letters and digits that are not mistaken for each other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Id(String);

/// Without i, l, o, 0 and 1.
const LETTERS: &[u8; 31] = b"abcdefghjkmnpqrstuvwxyz23456789";
const ID_LETTERS: usize = 12;
/// Of an id, as many are shown as tell it from all others, and never fewer.
pub(crate) const SHORT_LETTERS: usize = 4;

impl Id {
    /// One that nobody has: 31¹² are 8 × 10¹⁷.
    #[must_use]
    pub fn fresh() -> Self {
        use std::hash::{BuildHasher as _, Hasher as _};
        // The keys of the standard library's maps are drawn from the system's source of chance.
        let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
        hasher.write_i64(Moment::now().0);
        hasher.write_u32(std::process::id());
        let mut drawn = hasher.finish();
        let mut text = String::with_capacity(ID_LETTERS);
        for _ in 0..ID_LETTERS {
            text.push(char::from(LETTERS[(drawn % LETTERS.len() as u64) as usize]));
            drawn /= LETTERS.len() as u64;
        }
        Self(text)
    }

    /// As text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the text can be the beginning of an id.
    #[must_use]
    pub fn may_begin_with(text: &str) -> bool {
        (1..=ID_LETTERS).contains(&text.len()) && text.bytes().all(|letter| LETTERS.contains(&letter))
    }
}

impl TryFrom<String> for Id {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.len() == ID_LETTERS && Self::may_begin_with(&text) { Ok(Self(text)) } else { Err(format!("'{text}' is no id of a run")) }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a result came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Saved when it ended.
    Saved,
    /// Put together from its journal, because loadline was ended from outside.
    CutShort,
    /// Read from a file.
    Imported,
}

impl Origin {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Saved => "saved",
            Self::CutShort => "cut_short",
            Self::Imported => "imported",
        }
    }

    pub(crate) fn of(name: &str) -> Option<Self> {
        [Self::Saved, Self::CutShort, Self::Imported].into_iter().find(|origin| origin.name() == name)
    }
}

/// The figures that lists and trends show; `None` where a result has none.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Requests a second: of a run those that succeeded, of a sweep its highest, of a search the rate it found.
    pub qps: Option<f64>,
    /// The median response time in nanoseconds, where that rate was measured.
    pub p50_ns: Option<u64>,
    /// The 99th percentile in nanoseconds, where that rate was measured.
    pub p99_ns: Option<u64>,
    /// The share of requests that did not succeed, from 0 to 1.
    pub failed_share: Option<f64>,
}

/// What is said of a result beside the result itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunNotes {
    /// What it is the result of.
    pub kind: Kind,
    /// What the user calls it, or its URL suggests.
    pub name: String,
    /// Where requests went, without secrets; of a comparison both sides.
    pub target: String,
    /// When it began.
    pub started: Moment,
    /// How it came out, in a few words.
    pub outcome: String,
    /// Its main figures.
    pub figures: Figures,
    /// Where the load came from.
    pub machine: Machine,
    /// What was checked out in the working directory; `None` outside of any.
    pub revision: Option<Revision>,
    /// Words to find it by, sorted.
    pub tags: Vec<String>,
    /// What the user wrote about it; may be empty.
    pub note: String,
}

/// A result on its way into the history.
#[derive(Debug, Clone, PartialEq)]
pub struct Fresh<'a> {
    /// Its name for good.
    pub id: Id,
    /// What is said of it.
    pub kept: RunNotes,
    /// How it comes here.
    pub origin: Origin,
    /// The plan as JSON, without secrets; of several the first.
    pub plan: &'a str,
    /// The whole result as JSON, without secrets.
    pub result: &'a [u8],
}

/// A saved run, without its result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its name for good.
    pub id: Id,
    /// As much of it as tells it from all others here.
    pub short: String,
    /// What is said of it.
    #[serde(flatten)]
    pub kept: RunNotes,
    /// How it came here.
    pub origin: Origin,
    /// When it came here.
    pub saved: Moment,
    /// Bytes its result takes here.
    pub stored_bytes: u64,
    /// Whether it is the baseline of its name and kind.
    pub baseline: bool,
}

/// Which runs. What is `None` or empty does not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// With each of these words in its name, target, tags, note, revision or outcome, in letters large or small.
    pub text: Option<String>,
    /// Called exactly so; with `*` in it, like that.
    pub name: Option<String>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// With this in the target.
    pub target: Option<String>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Begun then or later.
    pub since: Option<Moment>,
    /// Whose revision begins so.
    pub revision: Option<String>,
    /// So many at most, the newest.
    pub limit: Option<u32>,
    /// After leaving out so many, for pages.
    pub offset: u32,
}

/// One run in the trend of a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// Which.
    pub id: Id,
    /// When it began.
    pub started: Moment,
    /// Its main figures.
    pub figures: Figures,
    /// The revision in full; `None` outside of any.
    pub revision: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_twelve_letters_and_no_two_are_the_same() {
        let ids: std::collections::BTreeSet<Id> = (0..1_000).map(|_| Id::fresh()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| Id::try_from(id.as_str().to_owned()).as_ref() == Ok(id)));
        assert!(Id::try_from("k3f9".to_owned()).is_err() && Id::try_from("k3f9k3f9k3fl".to_owned()).is_err());
    }

    #[test]
    fn a_moment_reads_back() {
        let moment: Moment = "2026-11-20T17:09:58.123Z".parse().unwrap();
        assert_eq!((moment.to_string().as_str(), moment.0 % 1_000), ("2026-11-20T17:09:58.123Z", 123));
    }
}
