//! The reports of ApacheBench 2.3: text, HTML tables, and the two files it writes.
//!
//! Parsers of this report are everywhere and read it by columns, so labels, widths and roundings are the original's, its
//! inverted median rule included. The original keeps every sample to sort them at the end; here columns come from
//! histograms, exact in mean, deviation, least and greatest, and within 0.1 % in between, so that memory does not grow with
//! the number of requests.

use std::fmt::Write as _;

use measure::Histogram;
use plan::Nanos;

/// What stands above every text report.
pub const BANNER: &str = "This is ApacheBench, Version 2.3 <$Revision$>\n\
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/\n\
Licensed to The Apache Software Foundation, http://www.apache.org/\n\n";

/// What stands above the HTML tables.
pub const BANNER_HTML: &str = "<p>\n This is ApacheBench, Version 2.3 <i>&lt;$Revision$&gt;</i><br>\n \
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/<br>\n \
Licensed to The Apache Software Foundation, http://www.apache.org/<br>\n</p>\n<p>\n";

/// Everything a report of ab says.
#[derive(Debug, Clone)]
pub struct Figures {
    /// The value of `Server` in the first answer, up to its first blank.
    pub software: String,
    /// The host as typed.
    pub host: String,
    /// The port.
    pub port: u16,
    /// What TLS came to.
    pub tls: Option<Tls>,
    /// The path of the URL.
    pub path: String,
    /// Bytes of the first document; `None` where lengths may vary.
    pub document_bytes: Option<u64>,
    /// Connections at once.
    pub concurrency: u64,
    /// From the start to the last event.
    pub seconds: f64,
    /// Requests that came to an end, good or bad.
    pub complete: u64,
    /// Of these, or beside them, what failed.
    pub failed: AbFailures,
    /// Requests that could not be sent.
    pub write_errors: u64,
    /// Answers with a status that does not begin with 2.
    pub not_2xx: u64,
    /// Answers that kept the connection; `None` unless that was asked for.
    pub kept: Option<u64>,
    /// Bytes read, heads included.
    pub received: u64,
    /// Bytes written, heads included; `None` unless requests have a body.
    pub sent: Option<u64>,
    /// Bytes of documents.
    pub documents_bytes: u64,
    /// Opening the connection, TLS included; 0 where it was kept.
    pub connect: Histogram,
    /// From then to the end.
    pub processing: Histogram,
    /// From the request's last byte to the answer's first.
    pub waiting: Histogram,
    /// All together.
    pub total: Histogram,
}

/// What TLS came to.
#[derive(Debug, Clone)]
pub struct Tls {
    /// Protocol, cipher, bits of the server's key, bits of the cipher.
    pub protocol: String,
    /// The key exchange.
    pub exchange: Option<String>,
    /// The name that was asked for, if one was.
    pub name: Option<String>,
}

/// Failed requests by ab's own kinds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AbFailures {
    /// No connection.
    pub connect: u64,
    /// The connection broke while reading.
    pub receive: u64,
    /// The document was of another length than the first.
    pub length: u64,
    /// Anything else.
    pub exceptions: u64,
}

impl AbFailures {
    /// All of them.
    #[must_use]
    pub const fn all(self) -> u64 {
        self.connect + self.receive + self.length + self.exceptions
    }
}

/// Whether the percentiles are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Percentiles {
    /// As by default.
    Shown,
    /// Left out (`-d`).
    Hidden,
}

/// How the connection times are summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimators {
    /// Mean, deviation, median, and warnings where they disagree.
    Shown,
    /// Least, mean and greatest (`-S`).
    Hidden,
}

/// The text report, without banner and progress.
#[must_use]
pub fn text(figures: &Figures, percentiles: Percentiles, estimators: Estimators) -> String {
    let mut text = "\n\n".to_owned();
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<24}{value}");
    };
    line("Server Software:", figures.software.clone());
    line("Server Hostname:", figures.host.clone());
    line("Server Port:", figures.port.to_string());
    if let Some(tls) = &figures.tls {
        line("SSL/TLS Protocol:", tls.protocol.clone());
        if let Some(exchange) = &tls.exchange {
            line("Server Temp Key:", exchange.clone());
        }
        if let Some(name) = &tls.name {
            line("TLS Server Name:", name.clone());
        }
    }
    text.push('\n');
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<24}{value}");
    };
    line("Document Path:", figures.path.clone());
    line("Document Length:", figures.document_bytes.map_or("Variable".to_owned(), |bytes| format!("{bytes} bytes")));
    text.push('\n');
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<24}{value}");
    };
    line("Concurrency Level:", figures.concurrency.to_string());
    line("Time taken for tests:", format!("{:.3} seconds", figures.seconds));
    line("Complete requests:", figures.complete.to_string());
    let failed = figures.failed;
    line("Failed requests:", failed.all().to_string());
    if failed.all() > 0 {
        let AbFailures { connect, receive, length, exceptions } = failed;
        line(&format!("   (Connect: {connect}, Receive: {receive}, Length: {length}, Exceptions: {exceptions})"), String::new());
    }
    if figures.write_errors > 0 {
        line("Write errors:", figures.write_errors.to_string());
    }
    if figures.not_2xx > 0 {
        line("Non-2xx responses:", figures.not_2xx.to_string());
    }
    if let Some(kept) = figures.kept {
        line("Keep-Alive requests:", kept.to_string());
    }
    line("Total transferred:", format!("{} bytes", figures.received));
    if let Some(sent) = figures.sent {
        line("Total body sent:", sent.to_string());
    }
    line("HTML transferred:", format!("{} bytes", figures.documents_bytes));
    if figures.seconds > 0.0 && figures.complete > 0 {
        let done = figures.complete as f64;
        line("Requests per second:", format!("{:.2} [#/sec] (mean)", done / figures.seconds));
        line("Time per request:", format!("{:.3} [ms] (mean)", figures.concurrency as f64 * figures.seconds * 1e3 / done));
        line("Time per request:", format!("{:.3} [ms] (mean, across all concurrent requests)", figures.seconds * 1e3 / done));
        line("Transfer rate:", format!("{:.2} [Kbytes/sec] received", figures.kilobytes_a_second(figures.received)));
        if let Some(sent) = figures.sent {
            line("", format!("{:.2} kb/s sent", figures.kilobytes_a_second(sent)));
            line("", format!("{:.2} kb/s total", figures.kilobytes_a_second(sent + figures.received)));
        }
    }
    // Parsers look for the table also where no request succeeded: then it holds zeros.
    if figures.complete > 0 {
        text += &times(figures, estimators);
        if percentiles == Percentiles::Shown && figures.complete > 1 {
            text += "\nPercentage of the requests served within a certain time (ms)\n";
            let count = figures.total.count();
            for percent in [50, 66, 75, 80, 90, 95, 98, 99] {
                let _ = writeln!(text, "  {percent}%  {:5}", millis(rank(&figures.total, count * percent / 100)));
            }
            let _ = writeln!(text, " 100%  {:5} (longest request)", millis(rank(&figures.total, count.saturating_sub(1))));
        }
    }
    text
}

impl Figures {
    fn kilobytes_a_second(&self, bytes: u64) -> f64 {
        bytes as f64 / 1024.0 / self.seconds
    }

    fn columns(&self) -> [(&'static str, Column); 4] {
        [
            ("Connect:", Column::of(&self.connect)),
            ("Processing:", Column::of(&self.processing)),
            ("Waiting:", Column::of(&self.waiting)),
            ("Total:", Column::of(&self.total)),
        ]
    }
}

/// One row of the connection times, in microseconds as ab keeps them.
struct Column {
    min: u64,
    mean: u64,
    deviation: f64,
    median: u64,
    max: u64,
}

impl Column {
    fn of(times: &Histogram) -> Self {
        let micros = |time: Option<Nanos>| time.unwrap_or_default().0 / 1_000;
        let count = times.count();
        // Parity is inverted, as in the original: an odd count takes the middle of the two after the middle.
        let median =
            if count > 1 && count % 2 == 1 { (rank(times, count / 2) + rank(times, count / 2 + 1)) / 2 } else { rank(times, count / 2) };
        Self {
            min: micros(times.min()),
            mean: (times.mean().unwrap_or(0.0) / 1e3) as u64,
            deviation: times.stdev().unwrap_or(0.0) / 1e3,
            median,
            max: micros(times.max()),
        }
    }
}

/// The time of that place, from 0, in ascending order; in microseconds.
fn rank(times: &Histogram, place: u64) -> u64 {
    let (min, max) = (times.min().unwrap_or_default(), times.max().unwrap_or_default());
    let mut below = 0;
    for (value, count) in times.recorded() {
        below += count;
        if place < below {
            return value.clamp(min, max).0 / 1_000;
        }
    }
    max.0 / 1_000
}

/// Microseconds as whole milliseconds.
const fn millis(micros: u64) -> u64 {
    (micros + 500) / 1_000
}

fn times(figures: &Figures, estimators: Estimators) -> String {
    let mut text = "\nConnection Times (ms)\n".to_owned();
    let columns = figures.columns();
    if estimators == Estimators::Hidden {
        text += "              min   avg   max\n";
        for (label, column) in &columns {
            let _ = writeln!(text, "{label:<12}{:5} {:5}{:5}", millis(column.min), millis(column.mean), millis(column.max));
        }
        return text;
    }
    text += "              min  mean[+/-sd] median   max\n";
    for (label, column) in &columns {
        let _ = writeln!(
            text,
            "{label:<12}{:5} {:4} {:5.1} {:6} {:7}",
            millis(column.min),
            millis(column.mean),
            column.deviation / 1e3,
            millis(column.median),
            millis(column.max)
        );
    }
    let what = ["the initial connection time", "the processing time", "the waiting time", "the total time"];
    for (what, (_, column)) in what.iter().zip(&columns) {
        let apart = (millis(column.mean) as f64 - millis(column.median) as f64).abs();
        let deviation = column.deviation / 1e3;
        if apart > 2.0 * deviation {
            let _ = writeln!(
                text,
                "ERROR: The median and mean for {what} are more than twice the standard\n       deviation apart. These results are NOT reliable."
            );
        } else if apart > deviation {
            let _ = writeln!(
                text,
                "WARNING: The median and mean for {what} are not within a normal deviation\n        These results are probably not that reliable."
            );
        }
    }
    text
}

/// What `-x`, `-y` and `-z` put into the tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attributes {
    /// Of the table.
    pub table: String,
    /// Of its rows.
    pub row: String,
    /// Of its cells.
    pub cell: String,
}

impl Default for Attributes {
    fn default() -> Self {
        Self { table: String::new(), row: String::new(), cell: "bgcolor=white".to_owned() }
    }
}

/// The HTML report (`-w`), without banner and progress.
#[must_use]
pub fn html(figures: &Figures, attributes: &Attributes) -> String {
    let Attributes { table, row, cell } = attributes;
    let mut text = format!("\n\n<table {table}>\n");
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "<tr {row}><th colspan=2 {cell}>{label}</th><td colspan=2 {cell}>{value}</td></tr>");
    };
    line("Server Software:", escaped(&figures.software));
    line("Server Hostname:", escaped(&figures.host));
    line("Server Port:", figures.port.to_string());
    line("Document Path:", escaped(&figures.path));
    line("Document Length:", figures.document_bytes.map_or("Variable".to_owned(), |bytes| format!("{bytes} bytes")));
    line("Concurrency Level:", figures.concurrency.to_string());
    line("Time taken for tests:", format!("{:.3} seconds", figures.seconds));
    line("Complete requests:", figures.complete.to_string());
    let failed = figures.failed;
    line("Failed requests:", failed.all().to_string());
    if failed.all() > 0 {
        let _ = writeln!(
            text,
            "<tr {row}><td colspan=4 {cell} >   (Connect: {}, Length: {}, Exceptions: {})</td></tr>",
            failed.connect, failed.length, failed.exceptions
        );
    }
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "<tr {row}><th colspan=2 {cell}>{label}</th><td colspan=2 {cell}>{value}</td></tr>");
    };
    if figures.not_2xx > 0 {
        line("Non-2xx responses:", figures.not_2xx.to_string());
    }
    if let Some(kept) = figures.kept {
        line("Keep-Alive requests:", kept.to_string());
    }
    line("Total transferred:", format!("{} bytes", figures.received));
    if let Some(sent) = figures.sent {
        line("Total body sent:", sent.to_string());
    }
    line("HTML transferred:", format!("{} bytes", figures.documents_bytes));
    if figures.seconds > 0.0 && figures.complete > 0 {
        line("Requests per second:", format!("{:.2}", figures.complete as f64 / figures.seconds));
        line("Transfer rate:", format!("{:.2} kb/s received", figures.kilobytes_a_second(figures.received)));
        if let Some(sent) = figures.sent {
            for (bytes, which) in [(sent, "sent"), (sent + figures.received, "total")] {
                let _ = writeln!(
                    text,
                    "<tr {row}><td colspan=2 {cell}>&nbsp;</td><td colspan=2 {cell}>{:.2} kb/s {which}</td></tr>",
                    figures.kilobytes_a_second(bytes)
                );
            }
        }
    }
    if figures.complete > 0 {
        let _ = writeln!(text, "<tr {row}><th {cell} colspan=4>Connection Times (ms)</th></tr>");
        let _ = writeln!(text, "<tr {row}><th {cell}>&nbsp;</th> <th {cell}>min</th>   <th {cell}>avg</th>   <th {cell}>max</th></tr>");
        let [(_, connect), _, _, (_, total)] = figures.columns();
        let between =
            [total.min - connect.min.min(total.min), total.mean - connect.mean.min(total.mean), total.max - connect.max.min(total.max)];
        for (label, [min, mean, max]) in [
            ("Connect:", [connect.min, connect.mean, connect.max]),
            ("Processing:", between),
            ("Total:", [total.min, total.mean, total.max]),
        ] {
            let _ = writeln!(
                text,
                "<tr {row}><th {cell}>{label}</th><td {cell}>{:5}</td><td {cell}>{:5}</td><td {cell}>{:5}</td></tr>",
                millis(min),
                millis(mean),
                millis(max)
            );
        }
        text += "</table>\n";
    }
    text
}

/// What a server sends must not become markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The file of `-e`: percent served, and within how many milliseconds.
#[must_use]
pub fn csv(total: &Histogram) -> String {
    let mut text = "Percentage served,Time in ms\n".to_owned();
    let count = total.count();
    for percent in 0..=100 {
        let place = match percent {
            0 => 0,
            100 => count.saturating_sub(1),
            _ => ((0.5 + count as f64 * percent as f64 / 100.0) as u64).min(count.saturating_sub(1)),
        };
        let _ = writeln!(text, "{percent},{:.3}", rank(total, place) as f64 / 1e3);
    }
    text
}

/// The heading of the file of `-g`.
pub const SAMPLES_HEADING: &str = "starttime\tseconds\tctime\tdtime\tttime\twait\n";

/// One row of the file of `-g`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When it began, in microseconds since 1970.
    pub began_us: u64,
    /// Opening the connection.
    pub connect_us: u64,
    /// Everything.
    pub total_us: u64,
    /// Until the first byte.
    pub waiting_us: u64,
}

impl Sample {
    /// As a line; `local` is the time it began as the C library writes it.
    #[must_use]
    pub fn line(&self, local: &str) -> String {
        format!(
            "{local}\t{}\t{}\t{}\t{}\t{}\n",
            self.began_us / 1_000_000,
            millis(self.connect_us),
            millis(self.total_us.saturating_sub(self.connect_us)),
            millis(self.total_us),
            millis(self.waiting_us)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(micros: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        micros.iter().for_each(|micros| histogram.record(Nanos::from_micros(*micros)));
        histogram
    }

    fn figures() -> Figures {
        Figures {
            software: "nginx/1.22.1".to_owned(),
            host: "127.0.0.1".to_owned(),
            port: 8080,
            tls: None,
            path: "/".to_owned(),
            document_bytes: Some(612),
            concurrency: 10,
            seconds: 0.1234,
            complete: 4,
            failed: AbFailures::default(),
            write_errors: 0,
            not_2xx: 0,
            kept: None,
            received: 3400,
            sent: None,
            documents_bytes: 2448,
            connect: histogram(&[0, 0, 0, 1400]),
            processing: histogram(&[900, 1100, 1600, 7000]),
            waiting: histogram(&[800, 1000, 1500, 2400]),
            total: histogram(&[900, 1100, 1600, 8400]),
        }
    }

    #[test]
    fn a_plain_report_has_the_original_s_columns() {
        insta::assert_snapshot!(text(&figures(), Percentiles::Shown, Estimators::Shown));
    }

    #[test]
    fn everything_that_may_be_in_a_report_is_in_its_place() {
        let all = Figures {
            tls: Some(Tls {
                protocol: "TLSv1.3,TLS_AES_256_GCM_SHA384,2048,256".to_owned(),
                exchange: Some("X25519 253 bits".to_owned()),
                name: Some("localhost".to_owned()),
            }),
            document_bytes: None,
            failed: AbFailures { connect: 1, receive: 2, length: 3, exceptions: 4 },
            write_errors: 5,
            not_2xx: 6,
            kept: Some(7),
            sent: Some(720),
            ..figures()
        };
        insta::assert_snapshot!(text(&all, Percentiles::Hidden, Estimators::Hidden));
        insta::assert_snapshot!(html(&all, &Attributes { table: "border=1".to_owned(), ..Attributes::default() }));
    }

    #[test]
    fn mean_and_median_far_apart_are_warned_of() {
        let odd = Figures { total: histogram(&[1_000, 1_000, 1_000, 1_000, 90_000, 1_000, 1_000]), ..figures() };
        assert!(!text(&odd, Percentiles::Shown, Estimators::Shown).contains("the total time"));
        let level = Figures { processing: histogram(&[1_400, 1_400, 1_400, 1_900]), ..figures() };
        let text = text(&level, Percentiles::Shown, Estimators::Shown);
        assert!(text.contains("ERROR: The median and mean for the processing time are more than twice the standard\n"), "{text}");
    }

    #[test]
    fn no_answer_at_all_leaves_the_times_out() {
        let none = Figures {
            complete: 0,
            connect: histogram(&[]),
            processing: histogram(&[]),
            waiting: histogram(&[]),
            total: histogram(&[]),
            ..figures()
        };
        let text = text(&none, Percentiles::Shown, Estimators::Shown);
        assert!(text.ends_with("HTML transferred:       2448 bytes\n"), "{text}");
    }

    #[test]
    fn the_median_s_parity_is_inverted_as_in_the_original() {
        let median = |micros: &[u64]| Column::of(&histogram(micros)).median;
        assert_eq!(median(&[10, 20, 30, 40]), 30);
        assert_eq!(median(&[10, 20, 30]), 25);
        assert_eq!(median(&[10]), 10);
    }

    #[test]
    fn the_percentages_of_the_file_go_from_the_fastest_to_the_slowest() {
        let csv = csv(&histogram(&[253, 258, 4_365, 4_403]));
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(lines.len(), 102);
        // Within 0.1 % between the least and the greatest.
        assert_eq!((lines[1], lines[51], lines[101]), ("0,0.253", "50,4.366", "100,4.403"));
    }

    #[test]
    fn a_sample_is_a_row_of_rounded_milliseconds() {
        let sample = Sample { began_us: 1_795_236_083_999_999, connect_us: 499, total_us: 2_500, waiting_us: 1_600 };
        assert_eq!(sample.line("Sat Nov 21 04:41:23 2026"), "Sat Nov 21 04:41:23 2026\t1795236083\t0\t2\t3\t2\n");
    }
}
