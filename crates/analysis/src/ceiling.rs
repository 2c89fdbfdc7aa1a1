//! How near a run came to what its generator can do at all.
//!
//! The generator's processor share says how busy it was; the ceiling, measured against a server that does nothing, says how
//! much more it could have sent. Near the ceiling the generator's own queues are in every figure, long before it is the limit.

use measure::Summary;

use crate::quantity::{count, figure};

/// From this share of the ceiling on a run should be read with care, and a search tries no more (docs/measurement.md §1.9, §2.4).
pub const SHARE_MAX: f64 = 0.7;

/// How much of the ceiling a run used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CeilingUse {
    /// From 0; above 1 where the run did better than the calibration.
    pub share: f64,
    /// The ceiling in requests a second.
    pub ceiling_qps: f64,
}

impl CeilingUse {
    /// Of this run; `None` where the ceiling is not known.
    #[must_use]
    pub fn of(run: &Summary) -> Option<Self> {
        let ceiling_qps = run.generator.ceiling_qps.filter(|ceiling| *ceiling > 0.0)?;
        Some(Self { share: run.qps / ceiling_qps, ceiling_qps })
    }

    /// Of the run that used most of it.
    #[must_use]
    pub fn greatest<'a>(runs: impl IntoIterator<Item = &'a Summary>) -> Option<Self> {
        runs.into_iter().filter_map(Self::of).max_by(|a, b| a.share.total_cmp(&b.share))
    }

    /// Whether so much of it was used that the generator's own queues may be in the figures.
    #[must_use]
    pub fn is_near(&self) -> bool {
        self.share > SHARE_MAX
    }

    /// `used 31 % of this machine's ceiling of 210,000 requests a second`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let mut text = format!(
            "used {} % of this machine's ceiling of {} requests a second",
            figure((self.share * 1e3).round() / 10.0),
            count(self.ceiling_qps.round() as u64)
        );
        if self.is_near() {
            text.push_str(&format!(
                "; above {} % its own queues may be in the figures: use another machine or more threads",
                SHARE_MAX * 100.0
            ));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn near_the_ceiling_is_said_and_without_one_nothing_is() {
        let (_, mut run) = fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap();
        assert_eq!(CeilingUse::of(&run), None);
        run.edit_for_test().qps = 31_000.0;
        run.edit_for_test().generator.ceiling_qps = Some(100_000.0);
        assert_eq!(CeilingUse::of(&run).unwrap().in_words(), "used 31 % of this machine's ceiling of 100,000 requests a second");
        run.edit_for_test().qps = 71_000.0;
        let near = CeilingUse::greatest([&run]).unwrap();
        assert!(near.is_near() && near.in_words().contains("above 70 %"), "{}", near.in_words());
    }
}
