//! JMeter's result files (JTL), CSV and XML: written row by row.
//!
//! Pure: rows go to whoever is handed in as an argument, and one row is held at a time, whatever the size of the file.

mod sample;
mod write;

pub use sample::Sample;
pub use write::{HEADER, XML_FOOT, XML_HEAD, write_csv, write_xml};
