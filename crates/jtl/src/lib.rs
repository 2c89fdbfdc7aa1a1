//! JMeter's result files (JTL), CSV and XML: written row by row, and read as a run.
//!
//! Whoever has measured with JMeter has such files, of all its versions, and programs that read them. So they are written as JMeter
//! writes them, and read however somebody set them up: columns in any order and any number, with a header or without one, with any
//! delimiter, with times as numbers or as dates. A reader of what JMeter writes by default, the alternative, refuses half of the files
//! that there are.
//!
//! Pure: bytes come in as an argument, and rows go to whoever is handed in. One row is held at a time, whatever the size of the file.

mod csv;
mod failure;
mod read;
mod run;
mod sample;
mod stamp;
mod write;
mod xml;

pub use failure::{response_code, response_message};
pub use read::{FirstByte, Form, ReadError, read};
pub use run::JtlRun;
pub use sample::{NO_URL, Sample, transaction_message};
pub use write::{HEADER, XML_FOOT, XML_HEAD, write_csv, write_xml};
