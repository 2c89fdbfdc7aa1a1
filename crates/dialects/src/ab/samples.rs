//! Every request of a run, sorted, in memory that does not grow with their number.
//!
//! `ab -g` lists all requests by their time. The original keeps them all, which is why nobody runs it for a night. Here they go
//! into sorted runs on disk, a bounded number in memory at once, and are merged when they are written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use report::ab::Sample;

/// So many are sorted in memory: 32 MB.
const IN_MEMORY: usize = 1 << 20;

/// Requests, to be sorted by their total time.
#[derive(Debug)]
pub struct Samples {
    memory: Vec<[u64; 4]>,
    memory_max: usize,
    runs: Vec<File>,
}

impl Samples {
    /// None yet.
    pub fn new() -> Self {
        Self { memory: Vec::new(), memory_max: IN_MEMORY, runs: Vec::new() }
    }

    /// One more.
    ///
    /// # Errors
    /// If the system's directory for temporary files is full.
    pub fn add(&mut self, sample: Sample) -> io::Result<()> {
        // In the order they are sorted by; what began first comes first among equals.
        self.memory.push([sample.total_us, sample.began_us, sample.connect_us, sample.waiting_us]);
        if self.memory.len() < self.memory_max {
            return Ok(());
        }
        self.memory.sort_unstable();
        let mut file = BufWriter::new(tempfile::tempfile()?);
        for row in self.memory.drain(..) {
            for number in row {
                file.write_all(&number.to_le_bytes())?;
            }
        }
        self.runs.push(file.into_inner().map_err(io::IntoInnerError::into_error)?);
        Ok(())
    }

    /// All of them by their total time, ascending.
    ///
    /// # Errors
    /// If a run cannot be read back, or as `each` says.
    pub fn sorted(mut self, mut each: impl FnMut(Sample) -> io::Result<()>) -> io::Result<()> {
        self.memory.sort_unstable();
        let mut runs = Vec::with_capacity(self.runs.len());
        for mut run in self.runs {
            run.rewind()?;
            runs.push(BufReader::new(run));
        }
        let mut memory = self.memory.into_iter();
        // What is still in memory is one more run, the last.
        let last = runs.len();
        let mut next = |run: usize| -> io::Result<Option<[u64; 4]>> { if run == last { Ok(memory.next()) } else { row(&mut runs[run]) } };
        let mut heads = BinaryHeap::new();
        for run in 0..=last {
            heads.extend(next(run)?.map(|row| Reverse((row, run))));
        }
        while let Some(Reverse(([total_us, began_us, connect_us, waiting_us], run))) = heads.pop() {
            each(Sample { began_us, connect_us, total_us, waiting_us })?;
            heads.extend(next(run)?.map(|row| Reverse((row, run))));
        }
        Ok(())
    }
}

/// The next row of a run on disk; `None` at its end.
fn row(run: &mut impl Read) -> io::Result<Option<[u64; 4]>> {
    let mut bytes = [0; 32];
    match run.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|place| bytes[at * 8 + place]));
    Ok(Some(std::array::from_fn(number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_back_sorted_however_many_runs_there_were() {
        for memory_max in [1, 7, 1_000] {
            let mut samples = Samples { memory_max, ..Samples::new() };
            for k in 0..100u64 {
                let sample = Sample { began_us: k, connect_us: k + 1, total_us: k * 37 % 100, waiting_us: k + 2 };
                samples.add(sample).unwrap();
            }
            let mut sorted = Vec::new();
            samples
                .sorted(|sample| {
                    sorted.push(sample);
                    Ok(())
                })
                .unwrap();
            let totals: Vec<u64> = sorted.iter().map(|sample| sample.total_us).collect();
            assert_eq!(totals, (0..100).collect::<Vec<_>>(), "{memory_max}");
            assert!(sorted.iter().all(|sample| (sample.began_us + 1, sample.began_us + 2) == (sample.connect_us, sample.waiting_us)));
        }
    }
}
