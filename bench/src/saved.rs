//! Results as they pile up: a history of very many runs, and a run of an hour.
//!
//! Measuring these for real would take a week and an hour. What is listed is saved by the same code as any run, so that the file has its
//! usual shape; the hour is a short run whose seconds are repeated, so that its figures are as long as real ones.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use history::{Figures, Fresh, Id, Kind, Moment, Origin, RunNotes, Store};
use measure::Machine;
use serde_json::Value;

/// A day, in milliseconds.
const DAY: i64 = 86_400_000;
/// 2026-01-01T00:00:00Z.
const FIRST: i64 = 1_767_225_600_000;
/// Runs of different names.
const NAMES: u32 = 40;

/// Fills a history with so many runs.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn history(path: &Path, runs: u32) -> Result<()> {
    let mut store = Store::open(path)?;
    let machine = Machine { loadline: "loadline 0.1.0".to_owned(), cores: 2, ..Machine::default() };
    for number in 0..runs {
        let kept = RunNotes {
            kind: Kind::Run,
            name: format!("service-{}", number % NAMES),
            target: format!("http://127.0.0.1:8080/service-{}", number % NAMES),
            started: Moment(FIRST + i64::from(number) * DAY / 100),
            outcome: "5000/s, p99 4 ms, none failed".to_owned(),
            figures: Figures { qps: Some(5_000.0), p50_ns: Some(1_000_000), p99_ns: Some(4_000_000), failed_share: Some(0.0) },
            machine: machine.clone(),
            revision: None,
            tags: if number % 10 == 0 { vec!["release".to_owned()] } else { Vec::new() },
            note: String::new(),
        };
        // Nothing of a result is listed.
        let fresh = Fresh { id: Id::fresh(), kept, origin: Origin::Saved, plan: "{}", result: b"{}" };
        store.save(&fresh)?;
    }
    Ok(())
}

/// Writes the result of a run once more, with so many seconds.
///
/// # Errors
/// If it is no result, or cannot be written.
pub(crate) fn lengthened(from: &Path, to: &Path, seconds: u32) -> Result<()> {
    let mut run: Value = serde_json::from_reader(BufReader::new(File::open(from)?))?;
    let ticks = run["timeline"].as_array().cloned().unwrap_or_default();
    let whole = ticks.first().context("a run of a second and a half has a whole second")?;
    let longer = (0..u64::from(seconds)).map(|second| {
        let mut tick = whole.clone();
        tick["from_ns"] = (second * 1_000_000_000).into();
        tick["to_ns"] = ((second + 1) * 1_000_000_000).into();
        tick
    });
    run["timeline"] = longer.collect();
    let mut out = BufWriter::new(File::create(to)?);
    serde_json::to_writer(&mut out, &run)?;
    Ok(out.flush()?)
}
