//! What was measured, put into words: how far a run can be trusted, what a ladder of loads shows, when to stop climbing.
//!
//! Pure: no I/O, no clock, no Tokio. Everything here is a function from Summaries to figures and sentences.

pub mod adaptive;
pub mod answers;
pub mod asymptote;
pub mod bottleneck;
pub mod ceiling;
pub mod climb;
pub mod compare;
pub mod comparison;
mod conclusion;
mod contradiction;
pub mod curve;
pub mod curve_words;
pub mod distribution;
pub mod doubt;
pub mod drift;
pub mod early_stop;
mod events;
pub mod found;
mod freezes;
pub mod gate;
pub mod interval;
pub mod knee;
pub mod limits;
pub mod littles_law;
pub mod outage;
pub mod peaks;
pub mod proportion;
pub mod quantity;
mod reading;
pub mod scaling;
pub mod search;
pub mod search_words;
pub mod server_side;
pub mod simulated;
mod sites;
mod sweep;
pub mod usl;
mod validity;
pub mod warmup;

pub use climb::{StopReason, StopRule};
pub use conclusion::{Topic, by_topic, conclusion};
pub use contradiction::contradictions;
pub use events::{EventLevel, EventScaling, LevelEvents, StreamUnit};
pub use freezes::Freezes;
pub use quantity::capitalised;
pub use reading::Reading;
pub use scaling::{Scaling, scaling};
pub use sweep::{Level, LevelJourneys, LevelPart, LevelRow, SWEEP_SCHEMA, Sweep, Trial, promises_kept};
pub use validity::{
    Cause, ConnectionsLimit, GeneratorLimit, Standing, Validity, What, connections_limit, disturbances, generator_limit,
    processor_share_is_known,
};
