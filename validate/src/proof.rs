//! A claim, what was asked of it, what came out, and whether that is enough.

use std::fmt;

use analysis::proportion::Share;
use serde::{Deserialize, Serialize};

/// Whether a claim came true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// The figure meets the target.
    Held,
    /// It does not, and its interval reaches the target: chance may have done it.
    Open,
    /// It does not, interval and all.
    Missed,
    /// There is no target.
    Shown,
}

impl Held {
    /// Of something that either is or is not.
    #[must_use]
    pub fn when(true_: bool) -> Self {
        if true_ { Self::Held } else { Self::Missed }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Held => "held",
            Self::Open => "**cannot tell**",
            Self::Missed => "**missed**",
            Self::Shown => "",
        })
    }
}

/// Where a share should lie, ends included, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

impl Band {
    /// What intervals that promise 95 % may do: too wide is wrong too.
    pub const COVERAGE: Self = Self { low: 0.93, high: 0.97 };

    /// No more than this.
    #[must_use]
    pub const fn at_most(high: f64) -> Self {
        Self { low: 0.0, high }
    }

    /// No less than this.
    #[must_use]
    pub const fn at_least(low: f64) -> Self {
        Self { low, high: 1.0 }
    }

    /// Whether a share lies in it, judged with the share's 95 % interval (Clopper and Pearson's).
    #[must_use]
    pub fn judge(self, share: Share) -> Held {
        let interval = share.interval(0.95);
        if share.of > 0 && (self.low..=self.high).contains(&share.value()) {
            Held::Held
        } else if interval.low <= self.high && interval.high >= self.low {
            Held::Open
        } else {
            Held::Missed
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (self.low * 100.0, self.high * 100.0);
        match (self.low > 0.0, self.high < 1.0) {
            (true, true) => write!(f, "{low:.0}–{high:.0} %"),
            (true, false) => write!(f, "at least {low:.0} %"),
            (false, _) => write!(f, "at most {high:.0} %"),
        }
    }
}

/// A row of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// What is claimed.
    pub claim: String,
    /// What was asked of it.
    pub target: String,
    /// What came out, with its interval.
    pub figure: String,
    /// Whether that is enough.
    pub held: Held,
}

impl Proof {
    /// That a share lies in a band.
    #[must_use]
    pub fn of_share(claim: impl Into<String>, band: Band, share: Share) -> Self {
        Self { claim: claim.into(), target: band.to_string(), figure: percent(share), held: band.judge(share) }
    }

    /// That something is so.
    #[must_use]
    pub fn of_fact(claim: impl Into<String>, target: impl Into<String>, figure: impl Into<String>, true_: bool) -> Self {
        Self { claim: claim.into(), target: target.into(), figure: figure.into(), held: Held::when(true_) }
    }
}

/// A table of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows, a sentence or two.
    pub about: String,
    /// Above each column.
    pub head: Vec<String>,
    /// The rest.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// Without rows.
    #[must_use]
    pub fn new(about: impl Into<String>, head: &[&str]) -> Self {
        Self { about: about.into(), head: head.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }
}

/// What a part of the page says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Section {
    /// Rows of the table of claims.
    pub proofs: Vec<Proof>,
    /// The figures behind them.
    pub tables: Vec<Table>,
}

/// A share with its interval: `94.8 % (93.2–96.1, 948 of 1000)`.
#[must_use]
pub(crate) fn percent(share: Share) -> String {
    let interval = share.interval(0.95);
    format!("{:.1} % ({:.1}–{:.1}; {} of {})", share.value() * 100.0, interval.low * 100.0, interval.high * 100.0, share.hits, share.of)
}

/// Both together.
#[must_use]
pub(crate) fn sum(a: Share, b: Share) -> Share {
    Share { hits: a.hits + b.hits, of: a.of + b.of }
}

/// How many of these are so.
pub(crate) fn share_of(seen: impl IntoIterator<Item = bool>) -> Share {
    seen.into_iter().fold(Share { hits: 0, of: 0 }, |share, hit| Share { hits: share.hits + u64::from(hit), of: share.of + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_beside_its_band_is_missed_only_if_chance_cannot_have_done_it() {
        let of = |hits, of| Band::COVERAGE.judge(Share { hits, of });
        assert_eq!([of(950, 1000), of(920, 1000), of(900, 1000), of(995, 1000)], [Held::Held, Held::Open, Held::Missed, Held::Missed]);
        assert_eq!(Band::at_most(0.05).judge(Share { hits: 2, of: 30 }), Held::Open);
        assert_eq!(Band::at_most(0.05).judge(Share { hits: 0, of: 0 }), Held::Open, "nothing measured proves nothing");
    }

    #[test]
    fn bands_are_said_as_they_are_meant() {
        let said = [Band::COVERAGE, Band::at_most(0.05), Band::at_least(0.8)].map(|band| band.to_string());
        assert_eq!(said, ["93–97 %", "at most 5 %", "at least 80 %"]);
    }
}
