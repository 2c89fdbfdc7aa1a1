//! What is spoken on a connection.
//!
//! A protocol is written sans I/O: bytes come in as slices, verdicts go out as values. A reader that owned its
//! socket could only be tested against timing; one that is handed slices is tested on every reply cut at every byte.

pub mod http1;
