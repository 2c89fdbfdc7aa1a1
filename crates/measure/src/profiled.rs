//! Where a server spent its time while load was on it: what is kept of a profile in a result.
//!
//! A profile is megabytes and a million frames, and whoever reads a result wants the dozen functions that matter and a flame graph.
//! So what is kept is bounded: the functions above half a per cent, and the tree of calls with everything smaller folded into the
//! gap beside its siblings. Keeping the file itself was rejected: it would be most of every result, and can be written beside it.
//!
//! Invariant: frames stand in preorder, each one level at most below the one before it; a frame's `cum` is never less than its
//! `flat` and the `cum` of those right below it.

use plan::Nanos;
use serde::{Deserialize, Serialize};

/// One profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunProfile {
    /// What was asked for, such as `http://127.0.0.1:6060/debug/pprof/profile` or `pid:812`.
    pub asked: String,
    /// What its values are of, as its source calls it: `cpu`, `inuse_space`, `delay`, `goroutine`.
    pub kind: String,
    /// Of its values.
    pub unit: Unit,
    /// When it began to be taken, from the start of the run.
    pub from_ns: Nanos,
    /// When it ended; the same moment where it tells what is there then, such as the heap.
    pub to_ns: Nanos,
    /// All its values together.
    pub total: i64,
    /// Functions, the greatest `cum` first.
    pub functions: Vec<Function>,
    /// How many functions there were.
    pub functions_all: u64,
    /// The tree of calls.
    pub frames: Vec<Frame>,
}

/// What a profile's values count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Bytes.
    Bytes,
    /// Things: samples, objects, goroutines.
    #[default]
    Count,
}

/// One function, wherever it was called from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Function {
    /// As the profile calls it.
    pub name: String,
    /// Spent in itself.
    pub flat: i64,
    /// Spent in it and in all that it called.
    pub cum: i64,
}

/// One function as it was called from one place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Frame {
    /// As the profile calls it.
    pub name: String,
    /// From 0, which nobody called.
    pub depth: u32,
    /// Spent in itself.
    pub flat: i64,
    /// Spent in it and in all that it called.
    pub cum: i64,
}

/// The name by which a profile of processor time goes.
pub const CPU: &str = "cpu";

impl RunProfile {
    /// The functions that spent most by themselves, most first.
    #[must_use]
    pub fn by_flat(&self) -> Vec<&Function> {
        let mut all: Vec<&Function> = self.functions.iter().filter(|function| function.flat > 0).collect();
        all.sort_by(|a, b| b.flat.cmp(&a.flat).then_with(|| a.name.cmp(&b.name)));
        all
    }

    /// A value's share of all, from 0 to 1.
    #[must_use]
    pub fn share(&self, value: i64) -> f64 {
        if self.total == 0 { 0.0 } else { value as f64 / self.total as f64 }
    }

    /// Processor time in cores' worth while it was taken; `None` where it tells of something else.
    #[must_use]
    pub fn cores(&self) -> Option<f64> {
        let span = self.to_ns.since(self.from_ns).as_secs_f64();
        (self.kind == CPU && self.unit == Unit::Nanoseconds && span > 0.0).then(|| self.total as f64 / 1e9 / span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_reads_as_it_was_written() {
        let profiled = RunProfile {
            asked: "pid:812".to_owned(),
            kind: CPU.to_owned(),
            unit: Unit::Nanoseconds,
            to_ns: Nanos::from_secs(2),
            total: 3_000_000_000,
            functions: vec![
                Function { name: "main".to_owned(), flat: 0, cum: 3_000_000_000 },
                Function { name: "work".to_owned(), flat: 3_000_000_000, cum: 3_000_000_000 },
            ],
            functions_all: 9,
            ..RunProfile::default()
        };
        let text = serde_json::to_string(&profiled).unwrap();
        assert_eq!(serde_json::from_str::<RunProfile>(&text).unwrap(), profiled);
        assert_eq!(profiled.cores(), Some(1.5));
        assert_eq!(profiled.by_flat().iter().map(|function| function.name.as_str()).collect::<Vec<_>>(), ["work"]);
        assert_eq!(RunProfile { kind: "delay".to_owned(), ..profiled }.cores(), None);
    }
}
