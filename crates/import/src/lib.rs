//! Other tools' files, read for what they say about load.
//!
//! Before a load test there is a question that no load test answers: what does the real traffic look like? Servers write it
//! down, each in its own form. Here their logs are read at the speed of memory and told as [`Traffic`].
//!
//! And there are the requests themselves, which other tools keep in files of their own: those become a
//! [`Collection`](collection::Collection). Both can be sent: they make the model of what users do ([`plan::work`]).
//!
//! Invariants: no file is opened and no clock is read here, a stream is an argument; memory does not grow with the log; every line
//! is a request or counted as none; nothing personal is in a result unless it was asked for.

mod agents;
pub mod collection;
mod course;
mod entries;
mod entry;
mod form;
mod gor;
mod har;
mod json_line;
mod key;
mod layout;
mod lines;
mod multipart;
mod names;
mod part;
mod prefix;
mod reader;
mod referers;
mod route;
mod routed;
mod sample;
mod scrub;
mod segment;
mod spans;
mod stamp;
mod stand_in;
mod survey;
mod took;
mod traffic;
mod unpacked;
mod users;
pub mod workload;

pub use agents::Agents;
pub use course::{Dispersion, Peak, Point, TrafficTimeline};
pub use entries::{Entries, LogEvent};
pub use entry::{Entry, Reason, sendable, unescaped};
pub use form::{AskedError, FieldRole, FormChoice, KNOWN, KnownForm};
pub use key::Key;
pub use layout::LayoutError;
pub use names::NameCount;
pub use part::{PART_SCHEMA, PartError, SurveyPart};
pub use referers::Referers;
pub use routed::RouteIndex;
pub use sample::{Target, Targets};
pub use scrub::{Personal, example};
pub use stamp::{moment, utc};
pub use survey::{LINE_BYTES_MOST, Survey};
pub use took::Times;
pub use traffic::{Example, File, Route, SCHEMA, StatusCount, Traffic, Unread};
pub use unpacked::Compression;
pub use users::{LargeUser, UserShare, Users, Visits};
