//! Result files in JMeter's form: what a row of each request costs the load, and what reading such a file costs.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::launch::run_on;
use crate::logs::Chance;
use crate::tool::{Count, Tool};

/// 2026-01-02T00:00:00Z, in milliseconds.
const BEGINS_MS: u64 = 1_767_312_000_000;
const COLUMNS: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,\
                       grpThreads,allThreads,URL,Latency,IdleTime,Connect";
const LABELS: [&str; 6] = ["Home", "Log in", "Search", "Product", "Into the cart", "Pay"];

/// What was measured, round by round.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// Processor time of a request with a row of its own, more than without, in microseconds.
    pub written_us: Vec<f64>,
    /// Rows that the file was too slow for, of all, in percent.
    pub left_out_percent: Vec<f64>,
    /// Millions of bytes that are read in a second of processor time.
    pub megabytes_a_second: Vec<f64>,
}

/// Loads and files, on one core.
pub(crate) struct Files<'a> {
    pub loadline: &'a Path,
    pub core: usize,
    pub url: String,
    pub connections: u32,
    pub seconds: u32,
    /// MiB of the file that is read.
    pub mebi: u64,
}

impl Files<'_> {
    /// A load with rows and one without, in turns, and a file that is read.
    ///
    /// # Errors
    /// If a run fails, or counts other rows than there are.
    pub fn measure(&self, rounds: usize) -> Result<Rows> {
        let dir = tempfile::tempdir()?;
        let (written, long, told) = (dir.path().join("out.jtl"), dir.path().join("long.jtl"), dir.path().join("told.json"));
        let mut out = BufWriter::new(File::create(&long)?);
        let lines = write(self.mebi << 20, &mut out)?;
        out.flush()?;
        let bytes = std::fs::metadata(&long)?.len() as f64;
        let mut rows = Rows::default();
        for round in 0..rounds {
            let mut us = [0.0; 2];
            for turn in [round % 2, 1 - round % 2] {
                let mut command = Tool::Loadline.command(self.loadline, &self.url, self.connections, self.seconds, None, None);
                if turn == 1 {
                    command.extend(["--force".to_owned(), "--out".to_owned(), format!("jtl={}", written.display())]);
                }
                let ran = run_on(self.core, &command)?;
                let Count { requests, .. } = Tool::Loadline.count(&ran.stdout).with_context(|| ran.stderr)?;
                us[turn] = ran.usage.cpu_us as f64 / requests as f64;
                if turn == 1 {
                    // The first line names the columns.
                    let there = BufReader::new(File::open(&written)?).lines().count().saturating_sub(1);
                    rows.left_out_percent.push((1.0 - there as f64 / requests as f64) * 100.0);
                }
            }
            rows.written_us.push(us[1] - us[0]);
            let read = format!("{} report {} --quiet --force --out json={}", self.loadline.display(), long.display(), told.display());
            let command: Vec<String> = read.split(' ').map(str::to_owned).collect();
            let ran = run_on(self.core, &command)?;
            rows.megabytes_a_second.push(bytes / ran.usage.cpu_us as f64);
            let result: Value = serde_json::from_slice(&std::fs::read(&told)?)?;
            if result["requests"]["due"].as_u64() != Some(lines) {
                bail!("loadline read {} requests of {lines}", result["requests"]["due"]);
            }
            eprintln!("result files, round {}: {:.2} µs a row", round + 1, us[1] - us[0]);
        }
        Ok(rows)
    }
}

/// Writes rows as JMeter writes them, one of them failed in a hundred, until they come to so many bytes, and says how many.
///
/// # Errors
/// If `out` does not take them.
fn write(bytes: u64, out: &mut impl Write) -> io::Result<u64> {
    let (mut written, mut number, mut random) = (0, 0_u64, Chance::new());
    let mut line = Vec::new();
    writeln!(out, "{COLUMNS}")?;
    while written < bytes {
        let chance = random.draw();
        let (elapsed, user) = (5 + (chance >> 20) % 200, chance % 50 + 1);
        let label = LABELS[(chance >> 40) as usize % LABELS.len()];
        let (code, message, success) = if number % 100 == 99 { (500, "Internal Server Error", false) } else { (200, "OK", true) };
        line.clear();
        writeln!(
            line,
            "{},{elapsed},{label},{code},{message},Users 1-{user},text,{success},,{},{},50,50,http://127.0.0.1:8080/item/{},{},0,{}",
            BEGINS_MS + number,
            200 + (chance >> 8) % 5_000,
            120 + user,
            (chance >> 30) % 10_000,
            elapsed - 2,
            u64::from(number < 50)
        )?;
        out.write_all(&line)?;
        written += line.len() as u64;
        number += 1;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_rows_it_says_and_each_has_all_columns() {
        let mut file = Vec::new();
        let rows = write(100_000, &mut file).expect("memory takes every byte");
        let text = String::from_utf8(file).expect("it is text");
        assert_eq!(text.lines().count() as u64, rows + 1);
        assert!(text.lines().all(|line| line.split(',').count() == 17), "{}", &text[..400]);
        assert!(text.lines().skip(1).any(|line| line.contains(",false,")));
    }
}
