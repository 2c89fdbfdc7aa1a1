//! siege's report, its JSON, its lines of verbose output and of its log.

use plan::Nanos;

use crate::visible;

/// What a siege counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Siege {
    /// Answers.
    pub transactions: u64,
    /// Of them, those with a status below 400.
    pub succeeded: u64,
    /// Answers with status 200.
    pub okay: u64,
    /// Requests without an answer, and answers with an error status.
    pub failed: u64,
    /// Bytes of the answers' bodies.
    pub bytes: u64,
    /// From the first request to the last answer.
    pub elapsed: Nanos,
    /// Of all transactions together.
    pub time: Nanos,
    /// The longest transaction.
    pub longest: Nanos,
    /// The shortest; `None` without any.
    pub shortest: Option<Nanos>,
}

/// Bytes of what siege calls a megabyte.
const MEGABYTE: f64 = 1024.0 * 1024.0;

impl Siege {
    /// Another's counts too.
    pub fn merge(&mut self, other: &Self) {
        self.transactions += other.transactions;
        self.succeeded += other.succeeded;
        self.okay += other.okay;
        self.failed += other.failed;
        self.bytes += other.bytes;
        self.time = self.time.plus(other.time);
        self.elapsed = self.elapsed.max(other.elapsed);
        self.longest = self.longest.max(other.longest);
        self.shortest = [self.shortest, other.shortest].into_iter().flatten().min();
    }

    fn availability(&self) -> f64 {
        if self.transactions == 0 { 0.0 } else { self.transactions as f64 / (self.transactions + self.failed) as f64 * 100.0 }
    }

    fn megabytes(&self) -> f64 {
        self.bytes as f64 / MEGABYTE
    }

    fn a_second(&self, value: f64) -> f64 {
        if self.elapsed > Nanos::ZERO { value / self.elapsed.as_secs_f64() } else { 0.0 }
    }

    fn response_s(&self) -> f64 {
        if self.transactions == 0 { 0.0 } else { self.time.as_secs_f64() / self.transactions as f64 }
    }

    /// The report, for standard error.
    #[must_use]
    pub fn report(&self) -> String {
        let secs = Nanos::as_secs_f64;
        let mut text = format!("\nTransactions:\t\t{:>12} hits\n", self.transactions);
        for (name, value, unit) in [
            ("Availability:\t\t", self.availability(), " %"),
            ("Elapsed time:\t\t", secs(self.elapsed), " secs"),
            ("Data transferred:\t", self.megabytes(), " MB"),
            ("Response time:\t\t", self.response_s(), " secs"),
            ("Transaction rate:\t", self.a_second(self.transactions as f64), " trans/sec"),
            ("Throughput:\t\t", self.a_second(self.megabytes()), " MB/sec"),
            ("Concurrency:\t\t", self.a_second(secs(self.time)), ""),
        ] {
            text += &format!("{name}{value:>12.2}{unit}\n");
        }
        text += &format!("Successful transactions:{:>12}\nFailed transactions:\t{:>12}\n", self.succeeded, self.failed);
        let (longest, shortest) = (secs(self.longest), secs(self.shortest.unwrap_or_default()));
        text + &format!("Longest transaction:\t{longest:>12.2}\nShortest transaction:\t{shortest:>12.2}\n \n")
    }

    /// The same as JSON, for standard output.
    #[must_use]
    pub fn json(&self) -> String {
        let secs = Nanos::as_secs_f64;
        let whole = |value: u64| format!("{value:>12}");
        let two = |value: f64| format!("{value:>12.2}");
        let rows = [
            ("transactions", 3, whole(self.transactions)),
            ("availability", 3, two(self.availability())),
            ("elapsed_time", 3, two(secs(self.elapsed))),
            ("data_transferred", 2, two(self.megabytes())),
            ("response_time", 2, two(self.response_s())),
            ("transaction_rate", 2, two(self.a_second(self.transactions as f64))),
            ("throughput", 3, two(self.a_second(self.megabytes()))),
            ("concurrency", 3, two(self.a_second(secs(self.time)))),
            ("successful_transactions", 1, whole(self.succeeded)),
            ("failed_transactions", 2, whole(self.failed)),
            ("longest_transaction", 2, two(secs(self.longest))),
            ("shortest_transaction", 2, two(secs(self.shortest.unwrap_or_default()))),
        ];
        let rows: Vec<String> = rows.iter().map(|(name, tabs, value)| format!("\t\"{name}\":{}{value}", "\t".repeat(*tabs))).collect();
        format!("{{{}\n}}\n", rows.join(",\n"))
    }

    /// A line of the log; `when` is `YYYY-MM-DD HH:MM:SS`.
    #[must_use]
    pub fn log_line(&self, when: &str) -> String {
        format!(
            "{when},{:>7},{:>11.2},{:>12},{:>11.2},{:>12.2},{:>12.2},{:>12.2},{:>8},{:>8}\n",
            self.transactions,
            self.elapsed.as_secs_f64(),
            self.megabytes() as u64,
            self.response_s(),
            self.a_second(self.transactions as f64),
            self.a_second(self.megabytes()),
            self.a_second(self.time.as_secs_f64()),
            self.succeeded,
            self.failed,
        )
    }
}

/// The first line of a new log.
pub const LOG_HEAD: &str =
    "      Date & Time,  Trans,  Elap Time,  Data Trans,  Resp Time,  Trans Rate,  Throughput,  Concurrent,    OKAY,   Failed\n";

/// One answer, as its line tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerLine<'a> {
    /// The status.
    pub status: u16,
    /// How long it took.
    pub took: Nanos,
    /// Of its body.
    pub bytes: u64,
    /// The request's method.
    pub method: &'a str,
    /// As shown.
    pub url: &'a str,
}

impl AnswerLine<'_> {
    /// The line; siege colours it by the status, wherever it goes.
    #[must_use]
    pub fn text(&self, colour: Colouring) -> String {
        let Self { status, took, bytes, method, url } = self;
        let line = format!("HTTP/1.1 {status}    {:>5.2} secs: {bytes:>7} bytes ==> {method:<4} {}", took.as_secs_f64(), visible(url));
        let ink = match status {
            200..=299 => 34,
            300..=399 => 36,
            400..=499 => 35,
            _ => 31,
        };
        if colour == Colouring::On { format!("\x1b[0;{ink}m{line}\x1b[0m\n") } else { line + "\n" }
    }
}

/// Whether lines are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colouring {
    /// They are.
    On,
    /// They are not.
    Off,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn siege() -> Siege {
        Siege {
            transactions: 2_000,
            succeeded: 1_990,
            okay: 1_900,
            failed: 10,
            bytes: 6_029_312,
            elapsed: Nanos::from_millis(58_570),
            time: Nanos::from_millis(494_917),
            longest: Nanos::from_millis(4_620),
            shortest: Some(Nanos::from_micros(1_499)),
        }
    }

    #[test]
    fn reports_have_siege_s_columns() {
        insta::assert_snapshot!(siege().report());
        insta::assert_snapshot!(siege().json());
        insta::assert_snapshot!(Siege::default().report());
        assert!(serde_json::from_str::<serde_json::Value>(&siege().json()).unwrap()["availability"].as_f64().unwrap() > 99.4);
    }

    #[test]
    fn a_line_of_the_log_stands_below_its_heads() {
        let line = siege().log_line("2026-11-21 08:00:00");
        assert_eq!(
            line,
            "2026-11-21 08:00:00,   2000,      58.57,           5,       0.25,       34.15,        0.10,        8.45,    1990,      10\n"
        );
        assert_eq!(line.split(',').count(), LOG_HEAD.split(',').count());
    }

    #[test]
    fn an_answer_s_line_has_the_original_s_widths() {
        let line = AnswerLine { status: 200, took: Nanos::from_millis(14), bytes: 1_234, method: "GET", url: "/path" };
        assert_eq!(line.text(Colouring::Off), "HTTP/1.1 200     0.01 secs:    1234 bytes ==> GET  /path\n");
        assert_eq!(line.text(Colouring::On), "\x1b[0;34mHTTP/1.1 200     0.01 secs:    1234 bytes ==> GET  /path\x1b[0m\n");
    }

    #[test]
    fn parts_add_up() {
        let mut all = Siege::default();
        all.merge(&siege());
        assert_eq!(all, siege());
        all.merge(&siege());
        assert_eq!((all.transactions, all.elapsed, all.shortest), (4_000, siege().elapsed, siege().shortest));
    }
}
