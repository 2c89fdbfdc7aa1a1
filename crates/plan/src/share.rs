//! One worker's part of the whole: index of count.
//!
//! Handing work out at run time (a ticker, a channel) makes the generator's own scheduling part of the load. Instead
//! each participant computes which requests are its own; all shares together are the whole, whatever their number.

use std::num::NonZeroU32;

/// The part `index` of `of` equal parts. `index < of` always holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    index: u32,
    of: NonZeroU32,
}

impl Share {
    /// The only part: everything.
    pub const WHOLE: Self = Self { index: 0, of: NonZeroU32::MIN };

    /// The part `index` of `of`; `None` if there is no such part.
    #[must_use]
    pub const fn new(index: u32, of: u32) -> Option<Self> {
        match NonZeroU32::new(of) {
            Some(of) if index < of.get() => Some(Self { index, of }),
            _ => None,
        }
    }

    /// All parts, in order.
    pub fn all(of: NonZeroU32) -> impl Iterator<Item = Self> {
        (0..of.get()).map(move |index| Self { index, of })
    }

    /// Which part this is, from 0.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// How many parts there are.
    #[must_use]
    pub const fn of(self) -> u32 {
        self.of.get()
    }

    /// Whether the `k`-th thing (from 0) belongs to this part.
    #[must_use]
    pub const fn owns(self, k: u64) -> bool {
        self.owner(k) == self.index
    }

    /// Which of the parts the `k`-th thing (from 0) belongs to.
    #[must_use]
    pub const fn owner(self, k: u64) -> u32 {
        (k % self.of.get() as u64) as u32
    }

    /// The number among all things of the `k`-th (from 0) that belongs to this part.
    #[must_use]
    pub const fn number(self, k: u64) -> u64 {
        k * self.of.get() as u64 + self.index as u64
    }

    /// How many of `total` things belong to this part. The remainder is spread over the first parts.
    #[must_use]
    pub const fn part(self, total: u64) -> u64 {
        let of = self.of.get() as u64;
        total / of + if (self.index as u64) < total % of { 1 } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_shares_together_are_the_whole(total in 0u64..100_000, of in 1u32..64) {
            let of = NonZeroU32::new(of).unwrap();
            prop_assert_eq!(Share::all(of).map(|share| share.part(total)).sum::<u64>(), total);
        }

        #[test]
        fn a_part_is_the_number_of_things_it_owns(total in 0u64..2_000, of in 1u32..16) {
            for share in Share::all(NonZeroU32::new(of).unwrap()) {
                let owned = (0..total).filter(|k| share.owns(*k)).count() as u64;
                prop_assert_eq!(owned, share.part(total));
                prop_assert!((0..owned).all(|k| share.owns(share.number(k)) && share.number(k) < total));
            }
        }
    }
}
