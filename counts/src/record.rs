//! The figures on record, and the figures now.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::work::Work;
use crate::{bytes, instructions};

/// A figure that is above the one on record by more than this fails.
const MORE_MAX: f64 = 0.02;

/// Figures of all kinds of work, and the compiler that made the program: another one's are not comparable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    compiler: String,
    instructions_per_request: BTreeMap<String, f64>,
    bytes_per_idle_user: BTreeMap<String, f64>,
}

impl Record {
    /// Counts everything.
    ///
    /// # Errors
    /// If Valgrind is not installed, or a run fails.
    pub fn count() -> Result<Self> {
        let mut bytes_per_idle_user = BTreeMap::new();
        for work in [Work::Plain, Work::Journey] {
            bytes_per_idle_user.insert(work.name().to_owned(), bytes::per_user(work)?);
        }
        Ok(Self { compiler: compiler()?, instructions_per_request: instructions::per_request()?, bytes_per_idle_user })
    }

    /// Reads a file that [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// If it is none.
    pub fn read(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read (make counts WRITE=1 makes a new record)", file.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no record of counts", file.display()))
    }

    /// Writes the figures down.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        std::fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
    }

    /// The figures as text, beside those on record if there are comparable ones.
    pub fn table(&self, record: Option<&Self>) -> String {
        let (is_compared, record) = (record.is_some(), record.filter(|record| record.compiler == self.compiler));
        let mut text = String::new();
        for (title, of) in [
            ("Instructions per request beyond a bare exchange", Self::instructions as fn(&Self) -> &BTreeMap<String, f64>),
            ("Bytes per idle user", Self::bytes),
        ] {
            let _ = writeln!(text, "{title} ({})", self.compiler);
            for (name, now) in of(self) {
                let before = record.and_then(|record| of(record).get(name));
                let beside = before.map_or(String::new(), |before| format!("  {:+.1} %", (now / before - 1.0) * 100.0));
                let _ = writeln!(text, "  {name:<10}{now:>8.0}{beside}");
            }
        }
        if is_compared && record.is_none() {
            text.push_str("  nothing on record of this compiler to compare with\n");
        }
        text
    }

    /// What has become dearer by more than a fiftieth, in words; nothing against the record of another compiler.
    pub fn dearer_than(&self, record: &Self) -> Vec<String> {
        if self.compiler != record.compiler {
            return Vec::new();
        }
        let dearer = |unit: &'static str, now: &BTreeMap<String, f64>, before: &BTreeMap<String, f64>| {
            let line = |(name, now): (&String, &f64)| {
                let before = before.get(name)?;
                let change = now / before - 1.0;
                (change > MORE_MAX).then(|| format!("{name}: {now:.0} {unit}, {:+.1} % of the {before:.0} on record", change * 100.0))
            };
            now.iter().filter_map(line).collect::<Vec<_>>()
        };
        let mut lines = dearer("instructions per request", &self.instructions_per_request, &record.instructions_per_request);
        lines.extend(dearer("bytes per idle user", &self.bytes_per_idle_user, &record.bytes_per_idle_user));
        lines
    }

    fn instructions(&self) -> &BTreeMap<String, f64> {
        &self.instructions_per_request
    }

    fn bytes(&self) -> &BTreeMap<String, f64> {
        &self.bytes_per_idle_user
    }
}

fn compiler() -> Result<String> {
    let output = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).context("rustc does not say which it is");
    Ok(format!("rustc {} for {}", field("release:")?, field("host:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(figures: &[(&str, f64)]) -> Record {
        let instructions_per_request = figures.iter().map(|(name, figure)| ((*name).to_owned(), *figure)).collect();
        Record { compiler: "rustc 1".to_owned(), instructions_per_request, bytes_per_idle_user: BTreeMap::new() }
    }

    #[test]
    fn dearer_is_what_takes_more_than_a_fiftieth_more() {
        let record = of(&[("a", 10_000.0), ("b", 10_000.0), ("c", 10_000.0)]);
        let now = of(&[("a", 10_199.0), ("b", 10_300.0), ("c", 5_000.0), ("d", 1.0)]);
        assert_eq!(now.dearer_than(&record), ["b: 10300 instructions per request, +3.0 % of the 10000 on record"]);
        let other = Record { compiler: "rustc 2".to_owned(), ..record };
        assert_eq!(now.dearer_than(&other), Vec::<String>::new());
        assert!(now.table(Some(&other)).contains("nothing on record of this compiler"));
    }
}
