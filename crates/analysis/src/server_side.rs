//! The server's side of a run: figures over the measured span, and a few lines of them in words.
//!
//! Forty series are for whoever looks for something. Who reads a report wants to know whether the server was busy, with what, and
//! whether anything overflowed; so these stand in three lines, and what is as it should be is left out of them.

use measure::observed::{Place, Series, Unit};
use measure::{ServerObservation, Summary};
use plan::Nanos;

use crate::quantity::{bytes, count, counted, decimal, figure, tenths};

/// Of a metrics page, so many are worth a line in a report; the result has all.
const METRICS_SHOWN: usize = 8;
/// A share below this is not worth a word.
const SHARE_WORTH_SAYING: f64 = 0.01;
/// Bytes a second that are: what a log or a few connections move is not.
const BYTES_WORTH_SAYING: f64 = 1e6;
/// Waiting for memory or storage is worth a word from this share of the time on, and a table of connections when it is so full.
const PRESSURE_WORTH_SAYING: f64 = 0.05;
const FULL_WORTH_SAYING: f64 = 0.8;
/// Waiting for a core is worth a word when it is so many threads at once.
const WAITING_WORTH_SAYING: f64 = 0.1;

/// One thing that was watched, over the span that was measured.
#[derive(Debug, Clone, Copy)]
pub struct ServerSide<'a> {
    /// What was seen.
    pub seen: &'a ServerObservation,
    from: Nanos,
    until: Nanos,
}

impl<'a> ServerSide<'a> {
    /// Everything that was watched in a run.
    #[must_use]
    pub fn of(run: &'a Summary) -> Vec<Self> {
        let from = Nanos((run.excluded.duration_s * 1e9) as u64);
        run.observed.iter().map(|seen| Self { seen, from, until: run.ended.load_until }).collect()
    }

    /// That which has processes of the server, rather than a page of metrics: those of the target itself where they were watched, else
    /// the first that was asked for. What is behind the target may stand before it, and is not what was loaded.
    #[must_use]
    pub fn of_processes(run: &'a Summary) -> Option<Self> {
        let with_processes = Self::of(run).into_iter().filter(|side| side.seen.whole("cpu_user").is_some());
        // Of equals the first.
        with_processes.min_by_key(|side| !side.is_the_target(run))
    }

    /// That which was asked for so, if it has processes.
    #[must_use]
    pub fn asked(run: &'a Summary, asked: &str) -> Option<Self> {
        Self::of(run).into_iter().find(|side| side.seen.asked == asked && side.seen.whole("cpu_user").is_some())
    }

    /// Whether it is whoever listens where the load goes, by the way it was asked for.
    fn is_the_target(&self, run: &Summary) -> bool {
        let asked = self.seen.asked.as_str();
        let port = run.plan.connection().connect_to.as_ref().map_or(run.plan.target().port(), |at| at.port);
        seeks_the_target(asked) || asked.strip_prefix("port:").is_some_and(|text| text.parse() == Ok(port))
    }

    /// Values of a series with the length of their intervals; those of the measured span, or all where none lies in it.
    pub fn values(&self, series: &'a Series) -> impl Iterator<Item = (f64, f64)> {
        let middle = |at: usize| Nanos(self.seen.from_ns[at].0 / 2 + self.seen.to_ns[at].0 / 2);
        let within = move |at: usize| middle(at) >= self.from && middle(at) <= self.until;
        let any = (0..self.seen.to_ns.len()).any(within);
        let length = move |at: usize| self.seen.to_ns[at].since(self.seen.from_ns[at]).as_secs_f64();
        let values = series.values.iter().enumerate().filter(move |(at, _)| !any || within(*at));
        values.filter_map(move |(at, value)| Some(((*value)?, length(at))))
    }

    /// The mean of a series over all that was watched.
    #[must_use]
    pub fn mean(&self, name: &str) -> Option<f64> {
        self.mean_of(self.seen.whole(name)?)
    }

    /// Its greatest value.
    #[must_use]
    pub fn most(&self, name: &str) -> Option<f64> {
        self.most_of(self.seen.whole(name)?)
    }

    /// The mean of one series, each interval by its length.
    #[must_use]
    pub fn mean_of(&self, series: &'a Series) -> Option<f64> {
        let (sum, span) = self.values(series).fold((0.0, 0.0), |(sum, span), (value, length)| (sum + value * length, span + length));
        (span > 0.0).then(|| sum / span)
    }

    /// The greatest value of one series.
    #[must_use]
    pub fn most_of(&self, series: &'a Series) -> Option<f64> {
        self.values(series).map(|(value, _)| value).reduce(f64::max)
    }

    /// How often something happened that is counted a second.
    #[must_use]
    pub fn total(&self, name: &str) -> f64 {
        self.seen.whole(name).map_or(0.0, |series| self.values(series).map(|(value, length)| value * length).sum())
    }

    /// Cores the server used, on average.
    #[must_use]
    pub fn cpu(&self) -> Option<f64> {
        Some(self.mean("cpu_user")? + self.mean("cpu_system")?)
    }

    /// How many of its machine's cores the server may use, where they are not all (taskset, cpusets).
    #[must_use]
    pub fn cores_allowed(&self) -> Option<u32> {
        let allowed = self.seen.whole("cpu_user")?.limit? as u32;
        self.seen.cores.filter(|cores| allowed < *cores).map(|_| allowed)
    }

    /// The thread that used most over the whole span, and how much of a core.
    #[must_use]
    pub fn busiest_thread(&self) -> Option<(&'a str, f64)> {
        self.threads().into_iter().next()
    }

    /// The threads that were looked at one by one, and how much of a core each used over the whole span; the busiest first.
    #[must_use]
    pub fn threads(&self) -> Vec<(&'a str, f64)> {
        // A thread that was not there for a while did nothing then.
        let whole = self.seen.whole("thread_cpu_busiest").map_or(0.0, |series| self.values(series).map(|(_, length)| length).sum::<f64>());
        let used = |series: &'a Series| self.values(series).map(|(value, length)| value * length).sum::<f64>() / whole;
        let each = self.seen.series.iter().filter(|series| series.name == "thread_cpu");
        let mut threads: Vec<(&str, f64)> =
            each.filter_map(|series| Some((series.of.as_deref()?, used(series)))).filter(|(_, used)| used.is_finite()).collect();
        threads.sort_by(|a, b| b.1.total_cmp(&a.1));
        threads
    }

    /// The server's side in a few lines, the first of which names it.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut said = vec![self.name()];
        said.extend(self.processor());
        said.extend(self.resources());
        said.extend(self.machine());
        said.extend(self.metrics());
        said
    }

    fn name(&self) -> String {
        let seen = self.seen;
        let span = seen.from_ns.first().zip(seen.to_ns.last()).map_or(0.0, |(from, to)| to.since(*from).as_secs_f64());
        let cost = if span > 0.0 { format!(", at {} % of a core", tenths(seen.cost_cpu_ns as f64 / 1e9 / span)) } else { String::new() };
        format!("{}; watched by --observe {}{cost}", seen.about, seen.asked)
    }

    fn processor(&self) -> Option<String> {
        let (user, system) = (self.mean("cpu_user")?, self.mean("cpu_system")?);
        let cores = self.seen.cores.map_or_else(String::new, |cores| format!(" of {}", counted(cores.into(), "core")));
        let unit = if cores.is_empty() { " cores" } else { "" };
        let mut said = format!("it used {}{unit}{cores} ({} of that in the kernel)", decimal(user + system, 2), decimal(system, 2));
        if let Some(allowed) = self.cores_allowed() {
            said.push_str(&format!("; it may use {allowed} of them"));
        }
        if let Some((name, used)) = self.busiest_thread() {
            said.push_str(&format!("; its busiest thread, {name}, {:.0} % of one", used * 100.0));
        }
        if let Some(waiting) = self.mean("run_queue_wait").filter(|waiting| *waiting >= WAITING_WORTH_SAYING) {
            said.push_str(&format!("; {} of its threads were ready and got no core, on average", decimal(waiting, 1)));
        }
        if let Some(quota) = self.seen.whole("cgroup_cpu").and_then(|series| series.limit) {
            said.push_str(&format!("; its quota is {}", decimal(quota, 2)));
            if let Some(share) = self.mean("cgroup_throttled").filter(|share| *share >= SHARE_WORTH_SAYING) {
                said.push_str(&format!(", and it had to stop in {:.0} % of the quota's periods", share * 100.0));
            }
        }
        Some(said)
    }

    fn resources(&self) -> Option<String> {
        let mut said = Vec::new();
        if let Some(most) = self.most("memory") {
            let limit = self.seen.whole("cgroup_memory").and_then(|series| series.limit);
            let of = limit.map_or_else(String::new, |limit| format!(" of {} allowed", bytes(limit)));
            said.push(format!("{}{of} of memory at most", bytes(most)));
        }
        if let Some(files) = self.seen.whole("files")
            && let Some(most) = self.most_of(files)
        {
            let of = files.limit.map_or_else(String::new, |limit| format!(" of {}", count(limit as u64)));
            said.push(format!("{}{of} files", count(most as u64)));
        }
        if let Some(threads) = self.most("threads") {
            said.push(counted(threads as u64, "thread"));
        }
        if let Some((read, written)) = self.moved("io_read", "io_written") {
            said.push(format!("{} a second read from storage and {} written", bytes(read), bytes(written)));
        }
        if let Some(switches) = self.mean("switches_involuntary").zip(self.mean("switches_voluntary")) {
            said.push(format!(
                "{} voluntary and {} involuntary context switches a second",
                figure(switches.1.round()),
                figure(switches.0.round())
            ));
        }
        (!said.is_empty()).then(|| said.join(", "))
    }

    fn machine(&self) -> Option<String> {
        let mut said = Vec::new();
        if let Some((busy, cores)) = self.mean("machine_cpu").zip(self.seen.cores) {
            let shared = if self.seen.place == Place::ThisMachine { ", loadline's part among them" } else { "" };
            said.push(format!("its machine: {} of {} busy{shared}", decimal(busy, 2), counted(cores.into(), "core")));
        }
        for (name, what) in [
            ("steal", "of its time went to other guests of its host"),
            ("iowait", "of its time was waiting for storage"),
            ("disk_busy", "of the time its busiest disk was at work"),
        ] {
            if let Some(share) = self.mean(name).filter(|share| *share >= SHARE_WORTH_SAYING) {
                said.push(format!("{} % {what}", tenths(share)));
            }
        }
        for (name, what) in [("pressure_memory", "memory"), ("pressure_io", "storage")] {
            if let Some(share) = self.mean(name).filter(|share| *share >= PRESSURE_WORTH_SAYING) {
                said.push(format!("in {:.0} % of the time something on it waited for {what}", share * 100.0));
            }
        }
        if let Some((received, sent)) = self.moved("network_in", "network_out") {
            said.push(format!("its network carried {} a second in and {} out", bytes(received), bytes(sent)));
        }
        if let Some(kept) = self.seen.whole("conntrack").and_then(|series| Some(self.most_of(series)? / series.limit?))
            && kept >= FULL_WORTH_SAYING
        {
            said.push(format!("its firewall kept {:.0} % of the connections that it can", kept * 100.0));
        }
        if let Some(queue) = self.seen.whole("accept_queue")
            && let Some(queued) = self.most_of(queue).filter(|queued| *queued >= 1.0)
        {
            let room = queue.limit.map_or_else(String::new, |room| format!(", of {} that there is room for", count(room as u64)));
            said.push(format!("up to {} waited to be accepted{room}", counted(queued as u64, "connection")));
        }
        let overflows = self.total("listen_overflows").round() as u64;
        if overflows > 0 {
            said.push(format!("the accept queue overflowed {} times", count(overflows)));
        }
        let dropped = (self.total("listen_drops").round() as u64).saturating_sub(overflows);
        if dropped > 0 {
            said.push(format!("{} dropped for another reason", counted(dropped, "connection")));
        }
        let again = self.total("tcp_retransmits").round() as u64;
        if again > 0 {
            said.push(format!("{} sent again", counted(again, "TCP segment")));
        }
        if let Some(swap) = self.most("swap").filter(|swap| *swap > 0.0) {
            said.push(format!("{} of swap in use", bytes(swap)));
        }
        (!said.is_empty()).then(|| said.join("; "))
    }

    /// Bytes a second that came and went, on average, if that is worth a word.
    fn moved(&self, came: &str, went: &str) -> Option<(f64, f64)> {
        let (came, went) = (self.mean(came)?, self.mean(went)?);
        (came + went >= BYTES_WORTH_SAYING).then_some((came, went))
    }

    fn metrics(&self) -> Vec<String> {
        let metrics: Vec<&Series> =
            self.seen.series.iter().filter(|series| measure::observed::SERIES.iter().all(|known| known.name != series.name)).collect();
        let mut said: Vec<String> = metrics.iter().take(METRICS_SHOWN).filter_map(|series| self.metric(series)).collect();
        if metrics.len() > METRICS_SHOWN {
            said.push(format!("and {} more metrics, in the JSON result", metrics.len() - METRICS_SHOWN));
        }
        said
    }

    fn metric(&self, series: &'a Series) -> Option<String> {
        let labels = series.of.as_deref().map_or_else(String::new, |labels| format!("{{{labels}}}"));
        let rate = if series.unit == Unit::PerSecond { " a second" } else { "" };
        Some(format!(
            "{}{labels}: {}{rate} on average, at most {}",
            series.name,
            figure(self.mean_of(series)?),
            figure(self.most_of(series)?)
        ))
    }
}

/// Whether what was asked for is whoever listens where the load goes, wherever that is.
fn seeks_the_target(asked: &str) -> bool {
    asked == "auto" || asked.starts_with("ssh:")
}

/// What the server did a moment ago, for whoever looks on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Now {
    /// Cores it used.
    pub cpu: f64,
    /// Cores of its machine.
    pub cores: Option<u32>,
    /// The share of a core that its busiest thread used.
    pub busiest_thread: Option<f64>,
    /// Connections that wait to be accepted.
    pub accept_queue: Option<f64>,
    /// The share of its quota's periods in which it had to stop.
    pub throttled: Option<f64>,
    /// Busy cores of its machine.
    pub machine_cpu: Option<f64>,
}

impl Now {
    /// Of the last looks at everything that is watched: of the server itself where it is among them, else of the first with processes.
    #[must_use]
    pub fn of(latest: &[ServerObservation]) -> Option<Self> {
        let with_processes = latest.iter().filter(|seen| seen.whole("cpu_user").is_some());
        let seen = with_processes.min_by_key(|seen| !seeks_the_target(&seen.asked))?;
        let last = |name: &str| seen.whole(name).and_then(|series| series.values.last().copied().flatten());
        Some(Self {
            cpu: last("cpu_user")? + last("cpu_system")?,
            cores: seen.cores,
            busiest_thread: last("thread_cpu_busiest"),
            accept_queue: last("accept_queue"),
            throttled: last("cgroup_throttled"),
            machine_cpu: last("machine_cpu"),
        })
    }

    /// How many cores it uses: `1.94 of 2 cores`.
    #[must_use]
    pub fn used(&self) -> String {
        format!("{} {}", decimal(self.cpu, 2), self.of_cores())
    }

    /// What is said beside the number of cores that it uses, in the words of the table: `of 2 cores, busiest thread 96 %, 3 queued`; of how
    /// many cores, its busiest thread, connections that wait to be accepted, and a quota that stops it.
    #[must_use]
    pub fn told(&self) -> String {
        let mut said = vec![self.of_cores()];
        said.extend(self.busiest_thread.map(|share| format!("busiest thread {:.0} %", share * 100.0)));
        said.extend(self.accept_queue.filter(|queued| *queued >= 1.0).map(|queued| format!("{} queued", count(queued as u64))));
        let stopped = self.throttled.filter(|share| *share >= SHARE_WORTH_SAYING);
        said.extend(stopped.map(|share| format!("throttled {:.0} %", share * 100.0)));
        said.join(", ")
    }

    fn of_cores(&self) -> String {
        self.cores.map_or_else(|| "cores".to_owned(), |cores| format!("of {}", counted(cores.into(), "core")))
    }
}

/// What of all that was watched in many runs is told of as the server, by what was asked for: the target's own processes where any run
/// saw them. One answer for all of them, since a row about something else is none.
#[must_use]
pub fn server_of<'a>(runs: impl Iterator<Item = &'a Summary>) -> Option<&'a str> {
    let sides = runs.filter_map(|run| ServerSide::of_processes(run).map(|side| (!side.is_the_target(run), side.seen.asked.as_str())));
    sides.min_by_key(|(other, _)| *other).map(|(_, asked)| asked)
}

/// The server's side of all runs at one level of load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelSide {
    /// Cores the server used: the mean of the runs.
    pub cpu: f64,
    /// The share of a core its busiest thread used, at most.
    pub busiest_thread: Option<f64>,
    /// Threads that were ready and got no core: the mean.
    pub waiting: Option<f64>,
    /// Resident memory at most, in bytes.
    pub memory_bytes: Option<f64>,
    /// Connections that waited to be accepted, at most.
    pub accept_queue: Option<f64>,
    /// Connections that were lost since too many waited.
    pub overflows: f64,
    /// The share of its quota's periods in which it had to stop: the mean.
    pub throttled: Option<f64>,
    /// Busy cores of its machine: the mean.
    pub machine_cpu: Option<f64>,
}

impl LevelSide {
    /// From every run at that level, of what was `asked` for; `None` where it was not seen.
    #[must_use]
    pub fn of(runs: &[&Summary], asked: &str) -> Option<Self> {
        let sides: Vec<ServerSide<'_>> = runs.iter().filter_map(|run| ServerSide::asked(run, asked)).collect();
        let mean = |figure: &dyn Fn(&ServerSide<'_>) -> Option<f64>| measure::observed::mean(sides.iter().map(figure));
        let most = |figure: &dyn Fn(&ServerSide<'_>) -> Option<f64>| sides.iter().filter_map(figure).reduce(f64::max);
        Some(Self {
            cpu: mean(&|side| side.cpu())?,
            busiest_thread: most(&|side| side.busiest_thread().map(|(_, used)| used)),
            waiting: mean(&|side| side.mean("run_queue_wait")),
            memory_bytes: most(&|side| side.most("memory")),
            accept_queue: most(&|side| side.most("accept_queue")),
            overflows: sides.iter().map(|side| side.total("listen_overflows")).sum(),
            throttled: mean(&|side| side.mean("cgroup_throttled")),
            machine_cpu: mean(&|side| side.mean("machine_cpu")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    fn watched() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").expect("it is one of them").1
    }

    #[test]
    fn means_are_of_the_measured_span() {
        let mut run = watched();
        let side = ServerSide::of_processes(&run).unwrap();
        let whole = side.cpu().unwrap();
        assert!(whole > 0.9 && whole < 1.1, "{whole}");
        let (name, used) = side.busiest_thread().unwrap();
        assert!(name == "app-main 812" && used > 0.9, "{name} {used}");
        // The first interval is half idle; without it the mean is higher.
        run.edit_for_test().excluded.duration_s = 1.0;
        assert!(ServerSide::of_processes(&run).unwrap().cpu().unwrap() > whole);
    }

    #[test]
    fn the_lines_name_the_server_and_what_overflowed() {
        let run = watched();
        let said: Vec<String> = ServerSide::of(&run).iter().flat_map(ServerSide::lines).collect();
        let said = said.join("\n");
        for part in [
            "app (812) and one more process",
            "--observe auto",
            "of 4 cores",
            "app-main 812",
            "overflowed 60 times",
            "go_goroutines: 40",
            "hits{path=\"/\"}",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }

    #[test]
    fn what_storage_network_and_firewall_did_is_said_where_it_is_much() {
        let mut run = watched();
        let said = |run: &Summary| ServerSide::of(run)[0].lines().join("\n");
        let words = ["read from storage", "its network carried", "waited for memory", "its firewall"];
        assert!(words.iter().all(|word| !said(&run).contains(word)), "{}", said(&run));
        let count = run.observed[0].to_ns.len();
        let mut put = |name: &str, limit: Option<f64>, value: f64| {
            let series = Series { name: name.to_owned(), of: None, unit: Unit::Number, limit, values: vec![Some(value); count] };
            run.edit_for_test().observed[0].series.push(series);
        };
        for (name, value) in [("io_read", 0.0), ("io_written", 3e6), ("network_in", 2e6), ("network_out", 9e6), ("pressure_memory", 0.25)] {
            put(name, None, value);
        }
        put("conntrack", Some(100.0), 95.0);
        let said = said(&run);
        assert!(words.iter().all(|word| said.contains(word)) && said.contains("95 % of the connections that it can"), "{said}");
    }

    #[test]
    fn who_looks_on_sees_the_last_moment_of_the_server() {
        let run = watched();
        let mut latest: Vec<ServerObservation> = run.observed.iter().rev().map(ServerObservation::latest).collect();
        let now = Now::of(&latest).unwrap();
        assert_eq!(now.used(), "1.04 of 4 cores");
        assert_eq!(now.told(), "of 4 cores, busiest thread 99 %, 129 queued");
        assert!(Now { throttled: Some(0.4), ..now }.told().ends_with("129 queued, throttled 40 %"));
        // What stands behind the server is not the server.
        latest.insert(0, ServerObservation { asked: "pid:7".to_owned(), ..latest[1].clone() });
        latest[0].series.iter_mut().for_each(|series| series.values = vec![Some(0.0)]);
        assert_eq!(Now::of(&latest), Some(now));
        assert_eq!(Now::of(&latest[1..2]), None, "a page of metrics is no server");
    }

    #[test]
    fn a_level_is_all_its_runs() {
        let run = watched();
        let level = LevelSide::of(&[&run, &run], "auto").unwrap();
        assert!((level.overflows - 120.0).abs() < 1.0 && level.accept_queue == Some(129.0), "{level:?}");
        assert_eq!((LevelSide::of(&[], "auto"), LevelSide::of(&[&run], "pid:7")), (None, None));
    }

    /// A run in which these were watched, in this order, each with processes of its own.
    fn watched_by(asked: &[&str]) -> Summary {
        let mut run = watched();
        let one = run.observed[0].clone();
        run.edit_for_test().observed = asked.iter().map(|asked| ServerObservation { asked: (*asked).to_owned(), ..one.clone() }).collect();
        run
    }

    #[test]
    fn the_target_s_own_processes_are_the_server_wherever_they_stand() {
        let port = watched().plan.target().port();
        let (own, other) = (format!("port:{port}"), format!("port:{}", port.wrapping_add(1)));
        for (asked, server) in [
            (&["auto", "pid:7"][..], "auto"),
            (&["pid:7", "auto"], "auto"),
            (&["pid:7", "ssh:db"], "ssh:db"),
            (&[&other, &own], own.as_str()),
            (&["pid:8", "pid:7"], "pid:8"),
            (&[&other, "pid:7"], other.as_str()),
        ] {
            let run = watched_by(asked);
            assert_eq!(ServerSide::of_processes(&run).unwrap().seen.asked, server, "{asked:?}");
        }
    }

    #[test]
    fn many_runs_have_one_server() {
        // At the first load the target was not found in time.
        let runs = [watched_by(&["pid:7"]), watched_by(&["pid:7", "auto"])];
        assert_eq!(server_of(runs.iter()), Some("auto"));
        assert_eq!(LevelSide::of(&[&runs[0]], "auto"), None);
        assert_eq!(server_of(runs[..1].iter()), Some("pid:7"));
        assert_eq!(server_of([].into_iter()), None);
    }
}
