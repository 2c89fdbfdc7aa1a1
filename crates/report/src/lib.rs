//! A finished measurement as bytes.
//!
//! A number that reaches the reader in the wrong shape is as good as lost: this crate turns what was measured into what
//! people read. Everything here is a function from values to bytes. It opens no file, reads no clock, no environment and
//! no installed font, so the same input gives the same bytes on every machine.

pub mod ab;
pub mod chart;
mod columns;
pub mod compare;
pub mod csv;
pub mod dat;
pub mod diff;
pub mod document;
pub mod experiment;
pub mod find;
mod format;
pub mod go;
pub mod hdr;
pub mod hey;
pub mod jmeter;
mod journeys;
pub mod json;
pub mod junit;
pub mod limits;
mod machines;
pub mod markdown;
pub mod page;
pub mod png;
pub mod profiles;
mod rendering;
pub mod server_side;
mod short;
pub mod siege;
mod story;
mod streamed;
mod style;
pub mod sweep;
pub mod text;
pub mod traffic;
pub mod unlike;
pub mod vegeta;
mod visible;
pub mod walk;
pub mod webbench;
mod websockets;
mod wire;
pub mod wrk;
pub mod wrk2;

pub use columns::prose;
pub use document::Document;
pub use experiment::Experiment;
pub use format::{Format, ResultFile};
pub use json::ReadError;
pub use measure::{reason, registered_reason};
pub use rendering::{COMPARE_FORMATS, DIFF_FORMATS, FIND_FORMATS, FORMATS, Rendering, SWEEP_FORMATS, TRAFFIC_FORMATS, Two, format};
pub use short::{LINES_MAX, closing, short};
pub use story::{causes, load_of, request_of, requests_of};
pub use style::{Colour, Style};
pub use visible::visible;
