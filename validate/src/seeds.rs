//! Seeds that nothing was tuned on.
//!
//! Block lengths, thresholds and rules of the search were chosen while looking at simulations. Held against the same
//! simulations they would look better than they are. Tests and examples elsewhere use seeds below [`FIRST`]; everything
//! here begins at it, and a test looks that nobody else does.

/// Below are the seeds that constants were chosen with.
pub const FIRST: u64 = 9_000_001;

/// Of simulated runs with intervals.
pub const INTERVALS: u64 = FIRST;
/// Of comparisons of a target with itself.
pub const FALSE_ALARMS: u64 = FIRST + 1_000;
/// Of comparisons with a change.
pub const POWER: u64 = FIRST + 2_000;
/// Of the intervals of changes.
pub const CHANGES: u64 = FIRST + 2_500;
/// The first of the simulated searches'; each has the next.
pub const SEARCHES: u64 = FIRST + 3_000;
/// The first of the ladders'; each has the next.
pub const CURVES: u64 = FIRST + 10_000;
/// Of what arrives when the truth about a server is computed.
pub const TRUTHS: u64 = FIRST + 20_000;
/// The first of real comparisons'; each has the next.
pub const SAME_TARGET: u64 = FIRST + 30_000;
/// The first of real searches'; each is given room for the trials it numbers on.
pub const CAPACITIES: u64 = FIRST + 40_000;
