//! The level below the best one.

use std::num::NonZeroU32;

use analysis::Level;
use plan::Rate;

/// Of the best level, the part at which the other profile is taken.
const PART_OF_KNEE: f64 = 0.2;

/// The level below the best one at which a profile is taken, where nothing is in short supply yet; `None` where there is none.
#[must_use]
pub fn below(knee: Level) -> Option<Level> {
    let part = knee.value() * PART_OF_KNEE;
    let low = match knee {
        Level::Users(_) => Level::Users(NonZeroU32::new((part.round() as u32).max(1))?),
        Level::Offered(_) => Level::Offered(Rate::per_second(part)?),
        Level::Journeys(_) => Level::Journeys(Rate::per_second(part)?),
    };
    (low != knee).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_taken_at_a_fifth_of_the_best_level() {
        let users = |users| Level::Users(NonZeroU32::new(users).unwrap());
        assert_eq!(below(users(50)), Some(users(10)));
        assert_eq!(below(users(3)), Some(users(1)));
        assert_eq!(below(users(1)), None);
        let rate = |rate| Level::Offered(Rate::per_second(rate).unwrap());
        assert_eq!(below(rate(500.0)), Some(rate(100.0)));
    }
}
