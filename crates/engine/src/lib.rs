//! Doing it: what turns a Plan into requests on the wire and replies into Outcomes.

pub mod protocol;
