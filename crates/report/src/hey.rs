//! hey's report and its rows of CSV.
//!
//! hey keeps up to a million samples and sorts them. Here the same figures come from histograms within 0.1 %, so that a run of any
//! length takes the same memory; sums, extremes and counts are exact. The layout is hey's, down to its lines of two blanks.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use measure::Histogram;
use plan::Nanos;

use crate::visible;
use crate::wrk::Formulas;

/// What is known of one request that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answer {
    /// From its beginning to its last byte.
    pub response: Nanos,
    /// Until it had a connection: nothing for one that was open.
    pub connect: Nanos,
    /// Until its name was resolved.
    pub lookup: Nanos,
    /// While it was written.
    pub write: Nanos,
    /// From then to its first byte.
    pub wait: Nanos,
    /// From its first byte to its last.
    pub read: Nanos,
    /// The status.
    pub status: u16,
    /// What Content-Length said, if it did.
    pub length: Option<u64>,
    /// When it began, since the start.
    pub began: Nanos,
}

/// What the report is made of.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    response: Histogram,
    connect: Histogram,
    lookup: Histogram,
    write: Histogram,
    wait: Histogram,
    read: Histogram,
    statuses: BTreeMap<u16, u64>,
    errors: BTreeMap<String, u64>,
    bytes: u64,
}

/// So many different errors are told apart; a server that numbers them would fill the memory.
const ERRORS_MAX: usize = 10_000;

impl Answers {
    /// One more answer.
    pub fn add(&mut self, answer: &Answer) {
        self.response.record(answer.response);
        self.connect.record(answer.connect);
        self.lookup.record(answer.lookup);
        self.write.record(answer.write);
        self.wait.record(answer.wait);
        self.read.record(answer.read);
        *self.statuses.entry(answer.status).or_default() += 1;
        self.bytes += answer.length.unwrap_or(0);
    }

    /// One more request without an answer, and why.
    pub fn fail(&mut self, why: String) {
        self.fail_often(why, 1);
    }

    fn fail_often(&mut self, why: String, count: u64) {
        let why = if self.errors.len() < ERRORS_MAX || self.errors.contains_key(&why) { why } else { "other errors".to_owned() };
        *self.errors.entry(why).or_default() += count;
    }

    /// Another's answers too.
    pub fn merge(&mut self, other: Self) {
        self.response.add(&other.response);
        self.connect.add(&other.connect);
        self.lookup.add(&other.lookup);
        self.write.add(&other.write);
        self.wait.add(&other.wait);
        self.read.add(&other.read);
        other.statuses.into_iter().for_each(|(status, count)| *self.statuses.entry(status).or_default() += count);
        other.errors.into_iter().for_each(|(why, count)| self.fail_often(why, count));
        self.bytes += other.bytes;
    }

    fn requests(&self) -> u64 {
        self.response.count() + self.errors.values().sum::<u64>()
    }

    /// The report; `total` is how long the run took.
    #[must_use]
    pub fn report(&self, total: Nanos, formulas: Formulas) -> String {
        let rate = if total > Nanos::ZERO { self.requests() as f64 / total.as_secs_f64() } else { 0.0 };
        let (least, greatest) = (secs(self.response.min()), secs(self.response.max()));
        let mut text = format!(
            "\nSummary:\n  Total:\t{:.4} secs\n  Slowest:\t{greatest:.4} secs\n  Fastest:\t{least:.4} secs\n  Average:\t{} secs\n  Requests/sec:\t{rate:.4}\n  ",
            total.as_secs_f64(),
            mean(&self.response, divided_by(&self.response, formulas)),
        );
        if self.bytes > 0 {
            let each = self.bytes / self.response.count().max(1);
            let _ = write!(text, "\n  Total data:\t{} bytes\n  Size/request:\t{each} bytes", self.bytes);
        }
        text += "\n\nResponse time histogram:\n";
        text += &self.histogram(least, greatest);
        text += "\n\nLatency distribution:";
        for (percent, latency) in self.distribution(formulas) {
            let _ = write!(text, "\n  {percent}% in {latency:.4} secs");
        }
        text += "\n\nDetails (average, fastest, slowest):";
        for (name, times) in [
            ("DNS+dialup", &self.connect),
            ("DNS-lookup", &self.lookup),
            ("req write", &self.write),
            ("resp wait", &self.wait),
            ("resp read", &self.read),
        ] {
            let average = mean(times, divided_by(times, formulas));
            let _ = write!(text, "\n  {name}:\t{average} secs, {:.4} secs, {:.4} secs", secs(times.min()), secs(times.max()));
        }
        text += "\n\nStatus code distribution:";
        for (status, count) in &self.statuses {
            let _ = write!(text, "\n  [{status}]\t{count} responses");
        }
        text += "\n\n";
        if !self.errors.is_empty() {
            text += "Error distribution:";
            for (why, count) in &self.errors {
                let _ = write!(text, "\n  [{count}]\t{}", visible(why));
            }
        }
        text + "\n\n"
    }

    /// Eleven marks from the fastest to the slowest, each with the answers up to it and beyond the one before.
    fn histogram(&self, least: f64, greatest: f64) -> String {
        if self.response.is_empty() {
            return String::new();
        }
        let mark = |place: usize| if place == MARKS { greatest } else { least + (greatest - least) / MARKS as f64 * place as f64 };
        let mut counts = [0_u64; MARKS + 1];
        let mut place = 0;
        for (bucket, (time, count)) in self.response.recorded().enumerate() {
            // A bucket is named by its greatest time, and the first holds the least of all.
            let time = if bucket == 0 { least } else { time.as_secs_f64().clamp(least, greatest) };
            while place < MARKS && time > mark(place) {
                place += 1;
            }
            counts[place] += count;
        }
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let row = |(place, count): (usize, &u64)| {
            let bar = "■".repeat(((count * BAR + most / 2) / most) as usize);
            format!("  {:.3} [{count}]\t|{bar}\n", mark(place))
        };
        counts.iter().enumerate().map(row).collect()
    }

    /// Percentiles as hey takes them: of n sorted answers, the first whose place × 100 / n is not below. Where there is none, that is
    /// the slowest; the original has a line of zeros.
    fn distribution(&self, formulas: Formulas) -> Vec<(u64, f64)> {
        let count = self.response.count();
        if count == 0 {
            return Vec::new();
        }
        let buckets: Vec<(Nanos, u64)> = self.response.recorded().collect();
        let at = |place: u64| {
            let mut passed = 0;
            let found = buckets.iter().find(|(_, count)| {
                passed += count;
                passed > place
            });
            let greatest = self.response.max().unwrap_or_default();
            found.map_or(greatest, |(time, _)| (*time).min(greatest)).as_secs_f64()
        };
        let row = |percent: u64| match (percent * count).div_ceil(100) {
            place if place >= count && formulas == Formulas::Original => (0, 0.0),
            place => (percent, at(place.min(count - 1))),
        };
        PERCENTS.into_iter().map(row).collect()
    }
}

const MARKS: usize = 10;
const BAR: u64 = 40;
const PERCENTS: [u64; 7] = [10, 25, 50, 75, 90, 95, 99];

fn secs(time: Option<Nanos>) -> f64 {
    time.unwrap_or_default().as_secs_f64()
}

/// By how many answers a sum is divided for the average: all of them, or in the original no more than it keeps.
fn divided_by(times: &Histogram, formulas: Formulas) -> u64 {
    match formulas {
        Formulas::True => times.count(),
        Formulas::Original => times.count().min(KEPT_MAX),
    }
}

/// So many answers the original keeps.
const KEPT_MAX: u64 = 1_000_000;

/// As Go prints it, which has a word for what is no number.
fn mean(times: &Histogram, divided_by: u64) -> String {
    let mean = times.mean().map(|mean| mean * times.count() as f64 / divided_by as f64);
    mean.map_or_else(|| " NaN".to_owned(), |mean| format!("{:.4}", mean / 1e9))
}

/// The first line of the CSV.
pub const CSV_HEAD: &str = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n";

impl Answer {
    /// Its line of the CSV.
    #[must_use]
    pub fn csv(&self) -> String {
        let [response, connect, lookup, write, wait, read, began] =
            [self.response, self.connect, self.lookup, self.write, self.wait, self.read, self.began].map(Nanos::as_secs_f64);
        format!("{response:.4},{connect:.4},{lookup:.4},{write:.4},{wait:.4},{read:.4},{},{began:.4}\n", self.status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(ms: u64, status: u16, length: Option<u64>) -> Answer {
        Answer {
            response: Nanos::from_millis(ms),
            connect: Nanos::from_micros(1_500),
            wait: Nanos::from_millis(ms - 2),
            read: Nanos::from_micros(500),
            status,
            length,
            began: Nanos::from_millis(10 * ms),
            ..Answer::default()
        }
    }

    fn answers() -> Answers {
        let mut answers = Answers::default();
        for ms in 2..102 {
            answers.add(&answer(ms, if ms % 10 == 0 { 503 } else { 200 }, Some(612)));
        }
        answers
    }

    #[test]
    fn a_report_has_hey_s_lines() {
        let mut all = answers();
        all.fail("Get \"http://h/\": EOF".to_owned());
        all.fail("Get \"http://h/\": EOF".to_owned());
        insta::assert_snapshot!(all.report(Nanos::from_millis(12_345), Formulas::True));
    }

    #[test]
    fn what_is_not_there_leaves_its_lines_empty() {
        insta::assert_snapshot!(Answers::default().report(Nanos::ZERO, Formulas::True));
        let mut one = Answers::default();
        one.add(&answer(2, 200, None));
        let text = one.report(Nanos::SECOND, Formulas::True);
        assert!(!text.contains("Total data") && text.contains("\n  0.002 [1]\t|■■■■■"), "{text}");
        assert!(text.contains("  99% in 0.0020 secs"), "{text}");
    }

    #[test]
    fn percentiles_are_the_original_s_places() {
        let text = answers().report(Nanos::SECOND, Formulas::True);
        for (percent, ms) in [(10, 12), (25, 27), (50, 52), (75, 77), (90, 92), (95, 97), (99, 101)] {
            let line = format!("  {percent}% in 0.{ms:03}");
            assert!(text.contains(&line), "{line} is not in {text}");
        }
    }

    #[test]
    fn the_original_s_formulas_come_back_when_asked_for() {
        let mut few = Answers::default();
        (2..52).for_each(|ms| few.add(&answer(ms, 200, None)));
        assert!(few.report(Nanos::SECOND, Formulas::Original).contains("  95% in 0.0500 secs\n  0% in 0.0000 secs\n"));
        assert!(few.report(Nanos::SECOND, Formulas::True).contains("  95% in 0.0500 secs\n  99% in 0.0510 secs\n"));
        let mut many = Answers::default();
        (0..2 * KEPT_MAX).for_each(|_| many.add(&answer(10, 200, None)));
        assert!(many.report(Nanos::SECOND, Formulas::Original).contains("  Average:\t0.0200 secs\n"));
        assert!(many.report(Nanos::SECOND, Formulas::True).contains("  Average:\t0.0100 secs\n"));
    }

    #[test]
    fn parts_add_up() {
        let mut all = Answers::default();
        let mut odd = Answers::default();
        for ms in 2..102 {
            if ms % 2 == 0 { &mut all } else { &mut odd }.add(&answer(ms, if ms % 10 == 0 { 503 } else { 200 }, Some(612)));
        }
        all.merge(odd);
        assert_eq!(all.report(Nanos::SECOND, Formulas::True), answers().report(Nanos::SECOND, Formulas::True));
    }

    #[test]
    fn a_row_of_csv_has_a_cell_for_each_head() {
        assert_eq!(answer(10, 200, None).csv(), "0.0100,0.0015,0.0000,0.0000,0.0080,0.0005,200,0.1000\n");
        assert_eq!(CSV_HEAD.split(',').count(), 8);
    }
}
