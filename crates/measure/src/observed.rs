//! The server's side of the same seconds: what was seen of its processes and its machine while load was on them.
//!
//! A load generator sees that answers slow down, never why. What explains it lies on the other machine: a thread at 100 % of a
//! core, a queue that overflows, a quota. So those figures stand beside the ticks, as named series with units over the same clock.
//! A list of ticks with forty optional fields was rejected: which figures there are depends on what was watched, and whoever draws
//! or searches them wants lists.
//!
//! Invariant: every series of one [`ServerObservation`] has as many values as there are intervals; a value that could not be had is a gap.

use plan::Nanos;
use serde::{Deserialize, Serialize};

/// More intervals than these are put together by twos: seconds for an hour, longer ones after.
const INTERVALS_MAX: usize = 3_600;
/// Of each value, so many digits are kept: a file of floats with all of theirs would be three times as large and no truer.
const DIGITS: i32 = 5;

/// What was seen of one thing that was watched.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ServerObservation {
    /// What was asked for, such as `auto` or `pid:812`.
    pub asked: String,
    /// What it turned out to be, in words.
    pub about: String,
    /// Where it ran.
    pub place: Place,
    /// Cores of its machine; `None` where that was not told.
    pub cores: Option<u32>,
    /// The processes that were seen, in the order in which they were found.
    pub processes: Vec<Process>,
    /// When each interval began, from the start of the run.
    pub from_ns: Vec<Nanos>,
    /// When it ended.
    pub to_ns: Vec<Nanos>,
    /// A value an interval.
    pub series: Vec<Series>,
    /// Processor time that watching took, on this machine.
    pub cost_cpu_ns: u64,
}

/// Where something that was watched ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// On the machine the load came from: the two share its cores.
    #[default]
    ThisMachine,
    /// On another one, or unknown.
    Elsewhere,
}

/// A process that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its parent's.
    pub parent: u32,
    /// The kernel's name of it: at most 15 letters. Its arguments may hold secrets, and are not kept.
    pub name: String,
    /// Whether it held the socket that the load went to.
    pub listens: bool,
}

/// One figure over the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Which figure: one of [`SERIES`], or a metric's own name.
    pub name: String,
    /// Of which process, thread, core or labels; `None` for all together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Of its values.
    pub unit: Unit,
    /// The most it can be, where that is known: cores, memory, open files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// One an interval.
    pub values: Vec<Option<f64>>,
}

/// What a value counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Cores' worth of processor time.
    Cores,
    /// From 0 to 1.
    Share,
    /// Things at once.
    Count,
    /// Things a second.
    PerSecond,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerSecond,
    /// Whatever the source counts.
    Number,
}

/// A figure that is known by name.
#[derive(Debug, Clone, Copy)]
pub struct KnownFigure {
    /// Its name in a result.
    pub name: &'static str,
    /// Of its values.
    pub unit: Unit,
    /// What it says.
    pub about: &'static str,
}

const fn known(name: &'static str, unit: Unit, about: &'static str) -> KnownFigure {
    KnownFigure { name, unit, about }
}

/// Every figure that is read from a machine running Linux: first of the processes, then of their cgroup, then of their machine.
pub const SERIES: &[KnownFigure] = &[
    known("cpu_user", Unit::Cores, "processor time of the processes in their own code"),
    known("cpu_system", Unit::Cores, "processor time the kernel spent for them"),
    known("process_cpu", Unit::Cores, "both, of one process"),
    known("process_cpu_system", Unit::Cores, "of that, what the kernel spent for it"),
    known("thread_cpu", Unit::Cores, "both, of one of the busiest threads"),
    known("thread_cpu_system", Unit::Cores, "of that, what the kernel spent for it"),
    known("thread_cpu_busiest", Unit::Cores, "both, of whichever thread used most in that interval"),
    known("run_queue_wait", Unit::Count, "threads that were ready to run and got no core, on average"),
    known("switches_voluntary", Unit::PerSecond, "times a thread gave its core back to wait for something"),
    known("switches_involuntary", Unit::PerSecond, "times a thread's core was taken from it"),
    known("memory", Unit::Bytes, "resident memory; pages that processes share count in each"),
    known("files", Unit::Count, "open files and sockets; the limit is that of the process nearest to its own"),
    known("threads", Unit::Count, "threads"),
    known("processes", Unit::Count, "processes"),
    known("io_read", Unit::BytesPerSecond, "read from storage"),
    known("io_written", Unit::BytesPerSecond, "written towards storage"),
    known("accept_queue", Unit::Count, "connections that were established and not yet accepted by the server; the limit is its backlog"),
    known("cgroup_cpu", Unit::Cores, "processor time of the cgroup; the limit is its quota"),
    known("cgroup_throttled", Unit::Share, "share of the quota's periods in which the cgroup had to stop"),
    known("cgroup_memory", Unit::Bytes, "memory of the cgroup, its page cache included; the limit is its own"),
    known("cgroup_pressure_cpu", Unit::Share, "share of the time in which something in the cgroup waited for a core"),
    known("cgroup_pressure_memory", Unit::Share, "the same for memory"),
    known("cgroup_pressure_io", Unit::Share, "the same for storage"),
    known("machine_cpu", Unit::Cores, "busy cores of the machine"),
    known("core_cpu", Unit::Share, "how busy one core was"),
    known("steal", Unit::Share, "share of the machine's processor time that its host gave to others"),
    known("iowait", Unit::Share, "share in which cores were idle and storage was waited for"),
    known("load", Unit::Count, "load average over a minute"),
    known("runnable", Unit::Count, "threads of the machine on a core or ready for one, at that moment"),
    known("machine_memory", Unit::Bytes, "memory of the machine that is not available"),
    known("swap", Unit::Bytes, "swap in use"),
    known("network_in", Unit::BytesPerSecond, "received over its network interfaces, loopback left out"),
    known("network_out", Unit::BytesPerSecond, "sent over them"),
    known("loopback", Unit::BytesPerSecond, "sent to itself"),
    known("disk_read", Unit::BytesPerSecond, "read from its disks"),
    known("disk_written", Unit::BytesPerSecond, "written to its disks"),
    known("disk_busy", Unit::Share, "how busy the busiest disk was"),
    known("tcp_established", Unit::Count, "TCP connections"),
    known("tcp_time_wait", Unit::Count, "TCP connections in TIME_WAIT, each of which keeps a port"),
    known("tcp_retransmits", Unit::PerSecond, "TCP segments sent again"),
    known("listen_overflows", Unit::PerSecond, "connections lost since a server's accept queue was full"),
    known("listen_drops", Unit::PerSecond, "connections a listening socket dropped, for whatever reason"),
    known("conntrack", Unit::Count, "connections the firewall keeps in mind"),
    known("pressure_cpu", Unit::Share, "share of the time in which something on the machine waited for a core"),
    known("pressure_memory", Unit::Share, "the same for memory"),
    known("pressure_io", Unit::Share, "the same for storage"),
];

/// What is read of a file, where every series has a value for each interval: whoever draws or searches them counts on it.
pub(crate) fn whole<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<ServerObservation>, D::Error> {
    let all = Vec::<ServerObservation>::deserialize(deserializer)?;
    for ServerObservation { about, from_ns, to_ns, series, .. } in &all {
        let count = to_ns.len();
        if from_ns.len() != count || series.iter().any(|series| series.values.len() != count) {
            let message = format!("what was seen of {about} has {count} intervals, and not as many beginnings or values");
            return Err(serde::de::Error::custom(message));
        }
    }
    Ok(all)
}

impl ServerObservation {
    /// The series of that name over everything that was watched.
    #[must_use]
    pub fn whole(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name && series.of.is_none())
    }

    /// The series of that name, one for each process, thread or core.
    pub fn each<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Series> {
        self.series.iter().filter(move |series| series.name == name && series.of.is_some())
    }

    /// Whether nothing was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to_ns.is_empty()
    }

    /// The last interval by itself, of what was seen of everything together: for whoever looks on.
    #[must_use]
    pub fn latest(&self) -> Self {
        let last = |series: &Series| Series { values: series.values.last().copied().into_iter().collect(), ..series.empty() };
        Self {
            asked: self.asked.clone(),
            about: self.about.clone(),
            place: self.place,
            cores: self.cores,
            from_ns: self.from_ns.last().copied().into_iter().collect(),
            to_ns: self.to_ns.last().copied().into_iter().collect(),
            series: self.series.iter().filter(|series| series.of.is_none()).map(last).collect(),
            ..Self::default()
        }
    }

    /// Adds an interval. Values of series that are new leave a gap before them, and series without a value have one here.
    pub fn add(&mut self, from: Nanos, to: Nanos, values: impl IntoIterator<Item = Value>) {
        let before = self.to_ns.len();
        self.from_ns.push(from);
        self.to_ns.push(to);
        for value in values {
            let Value { name, of, unit, limit, value } = value;
            let at = self.series.iter().position(|series| series.name == name && series.of == of).unwrap_or_else(|| {
                self.series.push(Series { name: name.into_owned(), of, unit, limit: None, values: vec![None; before] });
                self.series.len() - 1
            });
            let series = &mut self.series[at];
            series.limit = limit.or(series.limit);
            // Where two have the same name, the last one stands.
            series.values.resize(before, None);
            series.values.push(Some(rounded(value)).filter(|value| value.is_finite()));
        }
        for series in &mut self.series {
            series.values.resize(before + 1, None);
        }
        if self.to_ns.len() > INTERVALS_MAX {
            self.halve();
        }
    }

    /// Two intervals become one, with the mean of what both had.
    fn halve(&mut self) {
        self.from_ns = self.from_ns.chunks(2).map(|pair| pair[0]).collect();
        self.to_ns = self.to_ns.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
        for series in &mut self.series {
            series.values = series.values.chunks(2).map(|pair| mean(pair.iter().copied()).map(rounded)).collect();
        }
    }
}

impl Series {
    /// The same without a value.
    fn empty(&self) -> Self {
        Self { name: self.name.clone(), of: self.of.clone(), unit: self.unit, limit: self.limit, values: Vec::new() }
    }
}

/// A value on its way into a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// As [`Series::name`].
    pub name: std::borrow::Cow<'static, str>,
    /// As [`Series::of`].
    pub of: Option<String>,
    /// As [`Series::unit`].
    pub unit: Unit,
    /// As [`Series::limit`].
    pub limit: Option<f64>,
    /// The value.
    pub value: f64,
}

/// The mean of those that are there; `None` if none is.
pub fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (sum, count) = values.flatten().fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = DIGITS - 1 - value.abs().log10().floor() as i32;
    if digits <= 0 {
        return value.round();
    }
    let scale = 10f64.powi(digits);
    let scaled = (value * scale).round() / scale;
    if scaled.is_finite() { scaled } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &'static str, of: Option<&str>, value: f64) -> Value {
        Value { name: name.into(), of: of.map(str::to_owned), unit: Unit::Cores, limit: None, value }
    }

    fn second(at: u64) -> (Nanos, Nanos) {
        (Nanos::from_secs(at), Nanos::from_secs(at + 1))
    }

    #[test]
    fn a_series_that_begins_late_or_ends_early_has_gaps() {
        let mut seen = ServerObservation::default();
        for (at, values) in [
            vec![value("cpu_user", None, 1.0)],
            vec![value("process_cpu", Some("a 1"), 0.5), value("cpu_user", None, f64::NAN)],
            vec![value("process_cpu", Some("b 2"), 0.25)],
        ]
        .into_iter()
        .enumerate()
        {
            let (from, to) = second(at as u64);
            seen.add(from, to, values);
        }
        assert_eq!(seen.whole("cpu_user").unwrap().values, [Some(1.0), None, None]);
        let each: Vec<_> = seen.each("process_cpu").map(|series| series.values.clone()).collect();
        assert_eq!(each, [[None, Some(0.5), None], [None, None, Some(0.25)]]);
        assert!(seen.series.iter().all(|series| series.values.len() == seen.to_ns.len()));
        let latest = seen.latest();
        assert_eq!((latest.to_ns.as_slice(), latest.series.len()), (&[Nanos::from_secs(3)][..], 1), "{latest:?}");
        assert_eq!(latest.whole("cpu_user").unwrap().values, [None]);
        assert!(ServerObservation::default().latest().is_empty());
    }

    #[test]
    fn a_file_in_which_intervals_lack_their_beginning_or_value_is_refused() {
        let mut seen = ServerObservation { about: "a server".to_owned(), ..ServerObservation::default() };
        for at in 0..3 {
            let (from, to) = second(at);
            seen.add(from, to, [value("cpu_user", None, 1.0)]);
        }
        let read = |change: fn(&mut ServerObservation)| {
            let mut seen = seen.clone();
            change(&mut seen);
            let json = serde_json::to_string(&[seen]).unwrap();
            whole(&mut serde_json::Deserializer::from_str(&json)).map_err(|why| why.to_string())
        };
        assert_eq!(read(|_| {}).unwrap(), [seen.clone()]);
        let breaks: [fn(&mut ServerObservation); 3] =
            [|seen| seen.from_ns.truncate(2), |seen| seen.to_ns.truncate(2), |seen| seen.series[0].values.truncate(2)];
        for change in breaks {
            let why = read(change).unwrap_err();
            assert!(why.contains("what was seen of a server has"), "{why}");
        }
    }

    #[test]
    fn a_long_run_keeps_its_means_and_its_span() {
        let mut seen = ServerObservation::default();
        let count = 3 * INTERVALS_MAX as u64;
        for at in 0..count {
            let (from, to) = second(at);
            seen.add(from, to, [value("cpu_user", None, if at % 2 == 0 { 0.0 } else { 1.0 })]);
        }
        assert!(seen.to_ns.len() <= INTERVALS_MAX && seen.to_ns.len() > INTERVALS_MAX / 4, "{}", seen.to_ns.len());
        assert_eq!((seen.from_ns[0], *seen.to_ns.last().unwrap()), (Nanos::ZERO, Nanos::from_secs(count)));
        let mean = mean(seen.whole("cpu_user").unwrap().values.iter().copied()).unwrap();
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert!(seen.from_ns.iter().skip(1).zip(&seen.to_ns).all(|(from, to)| from == to));
    }

    #[test]
    fn values_keep_five_digits() {
        assert_eq!(rounded(0.123_456_78), 0.12346);
        assert_eq!(rounded(123_456_789.4), 123_456_789.0);
        assert_eq!(rounded(-99.999_96), -100.0);
        assert_eq!(rounded(0.0), 0.0);
        assert!((rounded(1e-300) / 1e-300 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn names_are_told_apart() {
        let names: std::collections::BTreeSet<_> = SERIES.iter().map(|known| known.name).collect();
        assert_eq!(names.len(), SERIES.len());
    }
}
