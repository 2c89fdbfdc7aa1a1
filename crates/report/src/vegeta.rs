//! vegeta's results and reports: one [`Hit`] a request, in gob, JSON or CSV, and what `vegeta report` makes of them.
//!
//! Results travel through pipes between programs of different versions, so they are written and read exactly as the original
//! does. Quantiles come from a histogram within 0.1 % instead of a t-digest, whose answers depend on the order of what it was
//! given; sums, extremes and counts are exact.
//!
//! Invariant: memory does not grow with the number of results, save that of a plot.

pub mod gob;
mod plot;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use measure::{Histogram, Status};
use plan::Nanos;
use serde::{Deserialize, Serialize, Serializer};

pub use plot::Plot;

use crate::{go, visible};

/// One result of an attack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hit {
    /// The attack's name.
    pub attack: String,
    /// Its number in the attack, from 0.
    pub seq: u64,
    /// The status, or 0.
    pub code: u16,
    /// When it began, in nanoseconds since 1970.
    pub timestamp: i128,
    /// How long it took, in nanoseconds.
    pub latency: i64,
    /// Bytes of the request's body.
    pub bytes_out: u64,
    /// Bytes of the answer's body.
    pub bytes_in: u64,
    /// Why it failed, or empty.
    pub error: String,
    /// The answer's body.
    pub body: Vec<u8>,
    /// The request's method.
    pub method: String,
    /// The request's URL.
    pub url: String,
    /// The answer's headers.
    pub headers: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(default)]
    attack: String,
    #[serde(default)]
    seq: u64,
    #[serde(default)]
    code: u16,
    timestamp: String,
    #[serde(default)]
    latency: i64,
    #[serde(default)]
    bytes_out: u64,
    #[serde(default)]
    bytes_in: u64,
    #[serde(default)]
    error: String,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    headers: Option<BTreeMap<String, Vec<String>>>,
}

/// A time as RFC 3339 with as many digits as it needs.
#[must_use]
pub fn rfc3339(nanos: i128) -> String {
    jiff::Timestamp::from_nanosecond(nanos).map_or_else(|_| "0001-01-01T00:00:00Z".to_owned(), |at| at.to_string())
}

impl Hit {
    /// As a line of JSON, with its line end.
    #[must_use]
    pub fn json(&self) -> String {
        let line = Line {
            attack: self.attack.clone(),
            seq: self.seq,
            code: self.code,
            timestamp: rfc3339(self.timestamp),
            latency: self.latency,
            bytes_out: self.bytes_out,
            bytes_in: self.bytes_in,
            error: self.error.clone(),
            body: (self.code != 0 || !self.body.is_empty()).then(|| BASE64_STANDARD.encode(&self.body)),
            method: self.method.clone(),
            url: self.url.clone(),
            headers: (!self.headers.is_empty()).then(|| self.headers.clone()),
        };
        serde_json::to_string(&line).expect("text and numbers can be written") + "\n"
    }

    /// Reads a line of JSON.
    ///
    /// # Errors
    /// In words that follow the line's number.
    pub fn from_json(line: &str) -> Result<Self, String> {
        let line: Line = serde_json::from_str(line).map_err(|why| why.to_string())?;
        let at: jiff::Timestamp = line.timestamp.parse().map_err(|why| format!("timestamp '{}': {why}", line.timestamp))?;
        Ok(Self {
            attack: line.attack,
            seq: line.seq,
            code: line.code,
            timestamp: at.as_nanosecond(),
            latency: line.latency,
            bytes_out: line.bytes_out,
            bytes_in: line.bytes_in,
            error: line.error,
            body: decoded(&line.body.unwrap_or_default())?,
            method: line.method,
            url: line.url,
            headers: line.headers.unwrap_or_default(),
        })
    }

    /// As a record of CSV, with its line end.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut wire = String::new();
        for (name, values) in &self.headers {
            for value in values {
                let _ = write!(wire, "{name}: {value}\r\n");
            }
        }
        if !wire.is_empty() {
            wire += "\r\n";
        }
        format!(
            "{},{},{},{},{},{},{},{},{},{},{},{}\n",
            self.timestamp,
            self.code,
            self.latency,
            self.bytes_out,
            self.bytes_in,
            quoted(&self.error),
            BASE64_STANDARD.encode(&self.body),
            quoted(&self.attack),
            self.seq,
            quoted(&self.method),
            quoted(&self.url),
            BASE64_STANDARD.encode(wire),
        )
    }

    /// Reads a record of CSV.
    ///
    /// # Errors
    /// In words that follow the record's number.
    pub fn from_csv(record: &str) -> Result<Self, String> {
        let fields = fields(record);
        let [timestamp, code, latency, bytes_out, bytes_in, error, body, attack, seq, method, url, headers] = fields.as_slice() else {
            return Err(format!("has {} fields, not 12", fields.len()));
        };
        fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
            text.parse().map_err(|_| format!("the {name} '{text}' is not a number"))
        }
        let wire = String::from_utf8_lossy(&decoded(headers)?).into_owned();
        let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in wire.lines().filter_map(|line| line.split_once(':')) {
            headers.entry(name.to_owned()).or_default().push(value.trim().to_owned());
        }
        Ok(Self {
            attack: attack.clone(),
            seq: number("seq", seq)?,
            code: number("code", code)?,
            timestamp: number("timestamp", timestamp)?,
            latency: number("latency", latency)?,
            bytes_out: number("bytes out", bytes_out)?,
            bytes_in: number("bytes in", bytes_in)?,
            error: error.clone(),
            body: decoded(body)?,
            method: method.clone(),
            url: url.clone(),
            headers,
        })
    }

    /// When it ended.
    #[must_use]
    pub fn end(&self) -> i128 {
        self.timestamp + i128::from(self.latency)
    }
}

fn decoded(text: &str) -> Result<Vec<u8>, String> {
    BASE64_STANDARD.decode(text).map_err(|why| format!("is not base64: {why}"))
}

/// As Go's CSV writer quotes.
fn quoted(text: &str) -> String {
    let needed = text.contains([',', '"', '\n', '\r']) || text.starts_with([' ', '\t']) || text == "\\.";
    if needed { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// The fields of one record, quotes taken off.
fn fields(record: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = record.trim_end_matches(['\n', '\r']).chars().peekable();
    while let Some(letter) = letters.next() {
        let field = fields.last_mut().expect("there is one");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' if quoted || field.is_empty() => quoted = !quoted,
            ' ' | '\t' if !quoted && field.is_empty() => {}
            ',' if !quoted => fields.push(String::new()),
            letter => field.push(letter),
        }
    }
    fields
}

/// What reports are made of: counts and times of all hits so far.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    latencies: Histogram,
    bytes_in: u64,
    bytes_out: u64,
    earliest: Option<i128>,
    latest: i128,
    end: i128,
    successes: u64,
    codes: BTreeMap<String, u64>,
    errors: Vec<String>,
    seen: HashSet<String>,
    buckets: Option<Buckets>,
}

/// So many different errors are listed; beyond it a server that numbers its errors would fill the memory.
const ERRORS_MAX: usize = 10_000;

impl Metrics {
    /// Nothing yet, counted into buckets too.
    #[must_use]
    pub fn with_buckets(buckets: Option<Buckets>) -> Self {
        Self { buckets, ..Self::default() }
    }

    /// One more hit.
    pub fn add(&mut self, hit: &Hit) {
        self.latencies.record(Nanos(u64::try_from(hit.latency).unwrap_or(0)));
        self.bytes_in += hit.bytes_in;
        self.bytes_out += hit.bytes_out;
        self.latest = if self.earliest.is_none() { hit.timestamp } else { self.latest.max(hit.timestamp) };
        self.end = if self.earliest.is_none() { hit.end() } else { self.end.max(hit.end()) };
        self.earliest = Some(self.earliest.map_or(hit.timestamp, |earliest| earliest.min(hit.timestamp)));
        self.successes += u64::from(Status(hit.code).is_success());
        *self.codes.entry(hit.code.to_string()).or_default() += 1;
        if !hit.error.is_empty() && self.errors.len() < ERRORS_MAX && !self.seen.contains(&hit.error) {
            self.errors.push(hit.error.clone());
            self.seen.insert(hit.error.clone());
        }
        if let Some(buckets) = &mut self.buckets {
            buckets.add(hit.latency);
        }
    }

    fn requests(&self) -> u64 {
        self.latencies.count()
    }

    fn duration(&self) -> i128 {
        self.latest - self.earliest.unwrap_or(self.latest)
    }

    fn wait(&self) -> i128 {
        self.end - self.latest
    }

    fn rate(&self) -> f64 {
        let seconds = seconds(self.duration());
        if seconds > 0.0 { self.requests() as f64 / seconds } else { self.requests() as f64 }
    }

    fn throughput(&self) -> f64 {
        let seconds = seconds(self.duration() + self.wait());
        // One request has no span to speak of.
        if self.duration() > 0 && seconds > 0.0 { self.successes as f64 / seconds } else { self.successes as f64 }
    }

    fn share(&self) -> f64 {
        if self.requests() == 0 { 0.0 } else { self.successes as f64 / self.requests() as f64 }
    }

    fn per_request(&self, bytes: u64) -> f64 {
        if self.requests() == 0 { 0.0 } else { bytes as f64 / self.requests() as f64 }
    }

    fn quantile(&self, q: f64) -> i128 {
        i128::from(self.latencies.quantile(q).unwrap_or_default().0)
    }

    fn mean(&self) -> i128 {
        self.latencies.mean().unwrap_or(0.0) as i128
    }

    fn least(&self) -> i128 {
        i128::from(self.latencies.min().unwrap_or_default().0)
    }

    fn greatest(&self) -> i128 {
        i128::from(self.latencies.max().unwrap_or_default().0)
    }

    /// The report `text`.
    #[must_use]
    pub fn text(&self) -> String {
        let shown = |nanos: i128| go::duration(rounded(nanos));
        let latencies =
            [self.least(), self.mean(), self.quantile(0.5), self.quantile(0.9), self.quantile(0.95), self.quantile(0.99), self.greatest()];
        let codes: String = self.codes.iter().map(|(code, count)| format!("{code}:{count}  ")).collect();
        let rows = [
            ("Requests", "[total, rate, throughput]", format!("{}, {:.2}, {:.2}", self.requests(), self.rate(), self.throughput())),
            (
                "Duration",
                "[total, attack, wait]",
                format!("{}, {}, {}", shown(self.duration() + self.wait()), shown(self.duration()), shown(self.wait())),
            ),
            ("Latencies", "[min, mean, 50, 90, 95, 99, max]", latencies.map(shown).join(", ")),
            ("Bytes In", "[total, mean]", format!("{}, {:.2}", self.bytes_in, self.per_request(self.bytes_in))),
            ("Bytes Out", "[total, mean]", format!("{}, {:.2}", self.bytes_out, self.per_request(self.bytes_out))),
            ("Success", "[ratio]", format!("{:.2}%", self.share() * 100.0)),
            ("Status Codes", "[code:count]", codes),
        ];
        let rows: Vec<Vec<String>> = rows.into_iter().map(|(a, b, c)| vec![a.to_owned(), b.to_owned(), c]).collect();
        let mut text = go::table(&rows) + "Error Set:\n";
        for error in &self.errors {
            text += &visible(error);
            text.push('\n');
        }
        text
    }

    /// The report `json`: one line.
    #[must_use]
    pub fn json(&self) -> String {
        #[derive(Serialize)]
        struct Latencies {
            total: i128,
            mean: i128,
            #[serde(rename = "50th")]
            p50: i128,
            #[serde(rename = "90th")]
            p90: i128,
            #[serde(rename = "95th")]
            p95: i128,
            #[serde(rename = "99th")]
            p99: i128,
            max: i128,
            min: i128,
        }
        #[derive(Serialize)]
        struct Bytes {
            total: u64,
            #[serde(serialize_with = "go_float")]
            mean: f64,
        }
        #[derive(Serialize)]
        struct Report<'a> {
            latencies: Latencies,
            #[serde(skip_serializing_if = "Option::is_none")]
            buckets: Option<&'a Buckets>,
            bytes_in: Bytes,
            bytes_out: Bytes,
            earliest: String,
            latest: String,
            end: String,
            duration: i128,
            wait: i128,
            requests: u64,
            #[serde(serialize_with = "go_float")]
            rate: f64,
            #[serde(serialize_with = "go_float")]
            throughput: f64,
            #[serde(serialize_with = "go_float")]
            success: f64,
            status_codes: &'a BTreeMap<String, u64>,
            errors: &'a [String],
        }
        let when = |at: i128| if self.earliest.is_some() { rfc3339(at) } else { "0001-01-01T00:00:00Z".to_owned() };
        let report = Report {
            latencies: Latencies {
                total: i128::try_from(self.latencies.sum()).unwrap_or(i128::MAX),
                mean: self.mean(),
                p50: self.quantile(0.5),
                p90: self.quantile(0.9),
                p95: self.quantile(0.95),
                p99: self.quantile(0.99),
                max: self.greatest(),
                min: self.least(),
            },
            buckets: self.buckets.as_ref(),
            bytes_in: Bytes { total: self.bytes_in, mean: self.per_request(self.bytes_in) },
            bytes_out: Bytes { total: self.bytes_out, mean: self.per_request(self.bytes_out) },
            earliest: when(self.earliest.unwrap_or_default()),
            latest: when(self.latest),
            end: when(self.end),
            duration: self.duration(),
            wait: self.wait(),
            requests: self.requests(),
            rate: self.rate(),
            throughput: self.throughput(),
            success: self.share(),
            status_codes: &self.codes,
            errors: &self.errors,
        };
        serde_json::to_string(&report).expect("text and numbers can be written") + "\n"
    }

    /// The report `hist`.
    #[must_use]
    pub fn histogram(&self) -> String {
        self.buckets.as_ref().map(Buckets::text).unwrap_or_default()
    }

    /// The report `hdrplot`.
    #[must_use]
    pub fn hdrplot(&self) -> String {
        let mut rows = vec![["Value(ms)", "Percentile", "TotalCount", "1/(1-Percentile)"].map(str::to_owned).to_vec()];
        for q in LOGARITHMIC {
            let inverse = if q < 1.0 { 1.0 / (1.0 - q) } else { 10_000_000.0 };
            rows.push(vec![
                format!("{:.6}", self.quantile(q) as f64 / 1e6),
                format!("{q:.6}"),
                format!("{}", (q * self.requests() as f64 + 0.5) as u64),
                format!("{inverse:.6}"),
            ]);
        }
        go::table(&rows)
    }
}

/// Go writes a whole float without a fraction.
fn go_float<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Beyond this, whole numbers are not exact any more.
    if value.fract() == 0.0 && value.abs() < 9e15 { serializer.serialize_i64(*value as i64) } else { serializer.serialize_f64(*value) }
}

/// As Go makes seconds of a duration, to the last bit.
fn seconds(nanos: i128) -> f64 {
    const SECOND: i128 = 1_000_000_000;
    (nanos / SECOND) as f64 + (nanos % SECOND) as f64 / 1e9
}

/// To the next smaller unit, as vegeta rounds.
fn rounded(nanos: i128) -> i128 {
    const UNITS: [i128; 6] = [3_600_000_000_000, 60_000_000_000, 1_000_000_000, 1_000_000, 1_000, 1];
    for pair in UNITS.windows(2) {
        if nanos >= pair[0] {
            return (nanos + pair[1] / 2) / pair[1] * pair[1];
        }
    }
    nanos
}

/// Counts of latencies between bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buckets {
    bounds: Vec<i64>,
    counts: Vec<u64>,
}

impl Buckets {
    /// From `[0,1ms,10ms]`.
    ///
    /// # Errors
    /// In vegeta's or Go's words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).filter(|inner| !inner.is_empty());
        let inner = inner.ok_or_else(|| format!("bad buckets: {text}"))?;
        let mut bounds = Vec::new();
        for bound in inner.split(',') {
            bounds.push(i64::try_from(go::parse_duration(bound.trim())?).map_err(|_| format!("bad buckets: {text}"))?);
        }
        if bounds[0] > 0 {
            bounds.insert(0, 0);
        }
        let counts = vec![0; bounds.len()];
        Ok(Self { bounds, counts })
    }

    fn add(&mut self, latency: i64) {
        let place = self.bounds.iter().rposition(|bound| *bound <= latency).unwrap_or(0);
        self.counts[place] += 1;
    }

    fn text(&self) -> String {
        let total: u64 = self.counts.iter().sum();
        let mut rows = vec![["Bucket", "", "#", "%", "Histogram"].map(str::to_owned).to_vec()];
        for (place, count) in self.counts.iter().enumerate() {
            let share = if total == 0 { 0.0 } else { *count as f64 / total as f64 };
            let upper = self.bounds.get(place + 1).map_or("+Inf".to_owned(), |bound| go::duration(i128::from(*bound)));
            rows.push(vec![
                format!("[{},", go::duration(i128::from(self.bounds[place]))),
                format!("{upper}]"),
                count.to_string(),
                format!("{:.2}%", share * 100.0),
                "#".repeat((share * 75.0) as usize),
            ]);
        }
        go::table(&rows)
    }
}

/// An object whose keys are the lower bounds, ascending.
impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.bounds.iter().map(i64::to_string).zip(&self.counts))
    }
}

/// The quantiles of `hdrplot`: five steps in each half of what is left.
const LOGARITHMIC: [f64; 94] = [
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.775, 0.8, 0.825, 0.85, 0.875, 0.8875, 0.9, 0.9125, 0.925, 0.9375, 0.94375,
    0.95, 0.95625, 0.9625, 0.96875, 0.971_875, 0.975, 0.978_125, 0.98125, 0.984_375, 0.985_938, 0.9875, 0.989_062, 0.990_625, 0.992_188,
    0.992_969, 0.99375, 0.994_531, 0.995_313, 0.996_094, 0.996_484, 0.996_875, 0.997_266, 0.997_656, 0.998_047, 0.998_242, 0.998_437,
    0.998_633, 0.998_828, 0.999_023, 0.999_121, 0.999_219, 0.999_316, 0.999_414, 0.999_512, 0.999_561, 0.999_609, 0.999_658, 0.999_707,
    0.999_756, 0.99978, 0.999_805, 0.999_829, 0.999_854, 0.999_878, 0.99989, 0.999_902, 0.999_915, 0.999_927, 0.999_939, 0.999_945,
    0.999_951, 0.999_957, 0.999_963, 0.999_969, 0.999_973, 0.999_976, 0.999_979, 0.999_982, 0.999_985, 0.999_986, 0.999_988, 0.999_989,
    0.999_991, 0.999_992, 0.999_993, 0.999_994, 0.999_995, 0.999_996, 0.999_997, 0.999_998, 0.999_999, 1.0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    pub(super) fn hit(seq: u64, code: u16, latency_us: i64) -> Hit {
        Hit {
            attack: "a, \"b\"".to_owned(),
            seq,
            code,
            timestamp: 1_795_237_208_548_207_138 + i128::from(seq) * 50_000_000,
            latency: latency_us * 1_000,
            bytes_out: 8,
            bytes_in: 612,
            error: if code >= 400 { "404 Not Found".to_owned() } else { String::new() },
            body: b"body".to_vec(),
            method: "GET".to_owned(),
            url: "http://a.test/".to_owned(),
            headers: [("Content-Type".to_owned(), vec!["text/html".to_owned(), "x".to_owned()])].into(),
        }
    }

    fn metrics(buckets: &str) -> Metrics {
        let mut metrics = Metrics::with_buckets(Some(Buckets::parse(buckets).unwrap()));
        for (seq, (code, latency)) in [(200, 441), (404, 973), (200, 5_170), (404, 942), (200, 1_003), (404, 600)].into_iter().enumerate() {
            metrics.add(&hit(seq as u64, code, latency));
        }
        metrics
    }

    #[test]
    fn reports_have_the_original_s_columns() {
        let metrics = metrics("[0,200us,1ms]");
        insta::assert_snapshot!(metrics.text());
        insta::assert_snapshot!(metrics.json());
        insta::assert_snapshot!(metrics.histogram());
        insta::assert_snapshot!(metrics.hdrplot());
    }

    #[test]
    fn nothing_attacked_is_reported_as_nothing() {
        assert!(Metrics::default().text().starts_with("Requests      [total, rate, throughput]         0, 0.00, 0.00\n"));
        assert!(Metrics::default().json().contains("\"errors\":[]"));
    }

    #[test]
    fn mistakes_in_results_are_named() {
        assert!(Hit::from_csv("1,2,3").unwrap_err().contains("3 fields, not 12"));
        assert!(Hit::from_csv("x,200,1,0,0,,,,0,GET,u,").unwrap_err().contains("timestamp 'x'"));
        assert!(Hit::from_json("{\"timestamp\":\"x\"}").is_err());
        assert!(Buckets::parse("0,1ms").is_err() && Buckets::parse("[x]").is_err());
    }

    proptest! {
        #[test]
        fn a_hit_reads_back_from_either_text(attack in ".{0,9}", error in "[ -~\n]{0,20}", seq: u64, latency in 0i64..i64::MAX, body: Vec<u8>) {
            let hit = Hit { attack: attack.replace(['\n', '\r'], " "), error: error.replace('\n', " "), seq, latency, body, ..hit(3, 200, 1) };
            prop_assert_eq!(&Hit::from_json(&hit.json()).unwrap(), &hit);
            prop_assert_eq!(&Hit::from_csv(&hit.csv()).unwrap(), &hit);
        }
    }
}
