//! What happened: from one request's [`Outcome`] to the [`Summary`] of a whole run.
//!
//! Pure: no I/O, no clock, no Tokio. Time comes in as an argument. Workers record into a [`Recorder`] of their own and
//! hand over a [`Snapshot`] once an interval; Snapshots add up exactly, so the [`Collector`] cannot tell one thread
//! from many, nor a thread from a machine.

mod awaited;
mod buckets;
mod collector;
mod counted;
mod cut_short;
mod failure;
pub mod fixtures;
mod foreign;
mod gap;
mod grouped;
mod histogram;
mod leftovers;
mod machine;
pub mod observed;
mod outcome;
mod packed;
mod population;
pub mod profiled;
mod quirk;
mod rates;
mod recorder;
mod replayed;
mod request_log;
mod requests;
mod row;
mod site;
mod site_row;
mod snapshot;
mod source;
mod sparse;
mod statistics;
mod status;
mod streamed;
mod summary;
mod tally;
mod tick;
mod warmup;
mod websockets;

pub use awaited::{Awaited, AwaitedBodies};
pub use collector::Collector;
pub use counted::{IntervalCounts, SnapshotRecord};
pub use cut_short::cut_short;
pub use failure::{Failure, FailureCount, Side};
pub use foreign::{ForeignRequest, ForeignRun, Origin};
pub use gap::{Gaps, OwnDelay};
pub use grouped::grouped;
pub use histogram::{Histogram, PackedHistogram, QUANTILES, bucket_of_rank, quantile_is_known, rank_of};
pub use leftovers::{DataWaits, Leftovers, Position, ReplayCounts, ScriptNotes, Teardowns};
pub use machine::Machine;
pub use observed::ServerObservation;
pub use outcome::Outcome;
pub use packed::{PackedAnswers, Packing};
pub use plan::{reason, registered_reason};
pub use population::{PopulationCounts, PopulationRow};
pub use profiled::RunProfile;
pub use quirk::{Quirk, Quirks};
pub use rates::Rates;
pub use recorder::{Begun, Recorder, Span, SuccessRule};
pub use replayed::{ComparisonCounts, OTHER_ROUTES, ReplayComparison, RouteReplayed, StatusChange};
pub use request_log::{RecordBatch, RecordBuffer, RecordName, RecordSource, RequestLog, RequestRecord, RequestSums, TransactionRecord};
pub use requests::Requests;
pub use row::{Row, RowKind, RowSoFar, RowsSoFar};
pub use site::Site;
pub use site_row::{SiteMember, SiteRow};
pub use snapshot::{Closer, Connections, Example, SPEAKS_TLS, Snapshot};
pub use source::SourceId;
pub use sparse::SparseHistogram;
pub use statistics::Statistics;
pub use status::Status;
pub use streamed::{StreamCounts, StreamEvent, StreamRow, StreamTokens, TokenCounts, TokenRow};
pub use summary::{
    Bytes, End, Ending, Generator, QuirkCount, Resolution, SCHEMA, Summary, SummaryBuilder, SummaryError, SummaryRecord, WarmUpCounts,
};
pub use tally::{CheckCounts, CheckRow, JourneyCounts, JourneyEnd, JourneyRow, Scenario, StepCounts, StepRow, Tally, Took};
pub use tick::{JourneysTick, Tick};
pub use warmup::{Series, WarmUp};
pub use websockets::{Unasked, WebSocketCounts};
