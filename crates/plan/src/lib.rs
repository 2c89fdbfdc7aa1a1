//! What to do: from what the user wrote ([`Draft`]) by way of what was read of it ([`Resolved`]) to what will be done ([`Plan`]).
//!
//! Pure: no I/O, no clock, no Tokio. A [`Plan`] can only be made from a [`Resolved`], in one place, which reports every
//! mistake at once; whoever holds a Plan never asks again whether it is valid.

mod arrivals;
mod bounds;
mod carets;
mod charset;
mod data_file;
mod decision;
mod draft;
mod encoding;
mod error;
mod event_path;
mod experiment;
mod given;
mod grpc;
mod ladder;
mod load;
mod load_settings;
mod margin;
pub mod multipart;
mod plan;
mod population;
mod proxy;
mod random;
mod reading;
mod reason;
mod record;
mod replay;
mod request;
mod request_settings;
mod resolved;
mod resumption;
mod secret;
mod secrets;
pub mod setting;
mod share;
mod ssh;
mod target;
pub mod template;
mod timetable;
mod units;
mod variation;
mod window;
mod wording;
pub mod work;
mod written;

pub use arrivals::Arrivals;
pub use bounds::{Also, Bounds};
pub use carets::carets;
pub use charset::Charset;
pub use data_file::{DELIMITER_HELP, DataFile, Delimiter, RowForm, RowsAt, RowsFor, named_delimiter};
pub use draft::Draft;

pub use encoding::{base64, base64_bytes, is_token, path_encoded, percent_decoded, percent_encoded, write_percent_encoded};
pub use error::{PlanError, PlanErrors, plainly, steers};
pub use event_path::{EventPath, EventStep, TokenCount};
pub use experiment::{ComparisonDraft, SearchDraft};
pub use given::Setting;
pub use grpc::{DESCRIPTORS, MessageSource, method_of};
pub use ladder::{Choice, Ladder, LadderDraft, Level, Rung};
pub use load::{Load, Pause, Spacing, Warmup};
pub use margin::Margin;
pub use plan::{
    ACCEPT_ENCODING, Confinement, Connection, EXPECT_CONTINUE, HttpVersion, Identity, Keepalive, Plan, Preflight, SCENARIO_TEXT,
    SaidOfVariables, ScenarioFile, ScriptFile, StreamForm, THREADS_MAX, Tls, TlsVersion, Verification,
};
pub use population::{Part, Population, PopulationDraft};
pub use proxy::{Proxy, ProxyKind};
pub use random::Random;
pub use reason::{reason, registered_reason};
pub use record::{LoadRecord, Sources};
pub use replay::{Replay, Speed};
pub use request::{Body, FILE_TYPE, FORM_TYPE, FormPart, FormValue, Request};
pub use resolved::{Contents, LargeFile, ReadFrom, Resolved};
pub use resumption::Resumption;
pub use secret::{is_secret, secret_parameters, secret_values, url_without_secrets};
pub use secrets::Secrets;
pub use share::Share;
pub use ssh::{SSH_CONNECT_SECONDS, SshHost, sh_quoted};
pub use target::{HostPort, Scheme, Target, begins_with_host, has_scheme, is_address, server_in};
pub use timetable::{Amount, Stage, Stages, Timetable, Users};
pub use units::{Nanos, Rate};
pub use variation::{DataEnd, END_MARK, Mix, Placeholder, Route, RowOrder, Templating, Turns, Variation};
pub use window::WindowBytes;
pub use wording::{Spelling, Wording};
pub use written::DecodeError;
