//! The server's side on a page: over the seconds of a run, against the loads of a ladder, and in tables.
//!
//! Some forty series are watched, and a reader who is to look at all of them looks at none. So the processors are drawn right below the
//! load, with what shows the limit that was found, and the others stand folded below these. Against the load each series is one figure a level: what does
//! not follow the load is not driven by it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use analysis::bottleneck::{Finding, Kind};
use analysis::server_side::ServerSide;
use measure::observed::{SERIES, Series, Unit, mean};
use measure::{ServerObservation, Summary};
use plan::Nanos;
use serde::Serialize;

use super::{Table, finished};
use crate::server_side::Rows;
use crate::visible::visible;

/// Series that are drawn together, over the seconds of a run.
#[derive(Debug, Serialize)]
pub(super) struct ChartSeries {
    #[serde(flatten)]
    chart: Chart,
    from_ns: Vec<u64>,
    to_ns: Vec<u64>,
}

/// Series that are drawn together, over the loads of a ladder.
#[derive(Debug, Serialize)]
pub(super) struct Climb {
    #[serde(flatten)]
    chart: Chart,
    loads: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct Chart {
    id: String,
    title: String,
    about: String,
    unit: Unit,
    /// Whether it stands folded.
    more: bool,
    lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    name: String,
    values: Vec<Option<f64>>,
}

/// What is drawn in one chart: figures that can share an axis.
struct Drawn<'a> {
    id: Cow<'a, str>,
    title: &'a str,
    names: Vec<&'a str>,
    more: bool,
}

fn first(id: &'static str, title: &'static str, names: &[&'static str]) -> Drawn<'static> {
    Drawn { id: id.into(), title, names: names.to_vec(), more: false }
}

fn more(id: &'static str, title: &'static str, names: &[&'static str]) -> Drawn<'static> {
    Drawn { more: true, ..first(id, title, names) }
}

/// Of processes and machines. Every series of [`SERIES`] stands in one of them.
fn charts() -> Vec<Drawn<'static>> {
    vec![
        first("cpu", "Processor of the server", &["machine_cpu", "cpu_user", "cpu_system", "thread_cpu_busiest", "cgroup_cpu"]),
        more("threads", "Busiest threads", &["thread_cpu"]),
        more("waiting", "Waiting on the server's side", &["accept_queue", "run_queue_wait", "runnable", "load"]),
        more("memory", "Memory of the server", &["memory", "cgroup_memory"]),
        more(
            "shares",
            "Shares on the server's side",
            &["cgroup_throttled", "steal", "iowait", "disk_busy", "pressure_cpu", "pressure_memory", "pressure_io"],
        ),
        more("lost", "Lost and sent again", &["listen_overflows", "listen_drops", "tcp_retransmits"]),
        more("processes", "Processes of the server", &["process_cpu"]),
        more("processes-system", "Processes of the server, in the kernel", &["process_cpu_system"]),
        more("threads-system", "Busiest threads, in the kernel", &["thread_cpu_system"]),
        more("cores", "Cores of the machine", &["core_cpu"]),
        more("switches", "Switches of threads", &["switches_voluntary", "switches_involuntary"]),
        more("open", "Open files, threads and processes", &["files", "threads", "processes"]),
        more("connections", "TCP connections of the machine", &["tcp_established", "tcp_time_wait", "conntrack"]),
        more("storage", "Storage", &["io_read", "io_written", "disk_read", "disk_written"]),
        more("network", "Network of the machine", &["network_in", "network_out", "loopback"]),
        more("machine-memory", "Memory of the machine", &["machine_memory", "swap"]),
        more("pressure", "What waited in the cgroup", &["cgroup_pressure_cpu", "cgroup_pressure_memory", "cgroup_pressure_io"]),
    ]
}
/// The charts that show this limit.
const fn charts_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Thread => &["threads"],
        Kind::Quota | Kind::SharedMachine => &["shares", "waiting"],
        Kind::AcceptQueue => &["waiting", "lost"],
        Kind::WorkerPool | Kind::Lock => &["threads", "waiting"],
        Kind::Memory | Kind::GarbageCollection => &["memory"],
        Kind::Disk => &["shares", "storage"],
        Kind::Network => &["network", "lost"],
        Kind::OpenFiles => &["open"],
        _ => &[],
    }
}

/// Of one chart, so many lines can be told apart.
const LINES_MAX: usize = 5;
/// Metrics of a page have an axis each; so many stand beside the other charts, and so many at all.
const METRICS_FIRST: usize = 6;
const METRICS_MAX: usize = 24;
/// Of these the most at a load is worth more than the mean, as in the table.
const AT_MOST: [&str; 4] = ["memory", "cgroup_memory", "accept_queue", "files"];

/// Everything that was seen in a run. Series that never were anything but nothing are left out.
pub(super) fn courses(summary: &Summary, findings: &[Finding]) -> Vec<ChartSeries> {
    let times = |at: &[Nanos]| at.iter().map(|at| at.0).collect::<Vec<u64>>();
    let mut all = Vec::new();
    for (number, seen) in summary.observed.iter().enumerate() {
        for drawn in drawn_of(seen.series.iter().map(|series| series.name.as_str()), findings) {
            let lines = seen.series.iter().filter(|series| drawn.names.contains(&series.name.as_str()));
            let lines = lines.map(|series| (series, series.values.clone())).collect();
            let chart = chart(&drawn, number, &seen.about, "", lines);
            all.extend(chart.map(|chart| ChartSeries { chart, from_ns: times(&seen.from_ns), to_ns: times(&seen.to_ns) }));
        }
    }
    all
}

/// Everything that was seen at several loads, a figure for each: what they are called by number, and their runs.
pub(super) fn climbs(loads: &[(f64, Vec<&Summary>)], findings: &[Finding]) -> Vec<Climb> {
    let mut all = Vec::new();
    if loads.len() < 2 {
        return all;
    }
    let places: Vec<f64> = loads.iter().map(|(load, _)| *load).collect();
    let everything = || loads.iter().flat_map(|(_, runs)| runs).flat_map(|run| &run.observed);
    let mut asked: Vec<&str> = Vec::new();
    for seen in everything() {
        if !asked.contains(&seen.asked.as_str()) {
            asked.push(&seen.asked);
        }
    }
    for (number, asked) in asked.into_iter().enumerate() {
        let seen: Vec<&ServerObservation> = everything().filter(|seen| seen.asked == asked).collect();
        let about = seen.first().map_or("", |seen| &seen.about);
        let known: Vec<&Series> = seen.iter().flat_map(|seen| &seen.series).collect();
        for drawn in drawn_of(known.iter().map(|series| series.name.as_str()), findings) {
            let mut lines: Vec<(&Series, Vec<Option<f64>>)> = Vec::new();
            for series in known.iter().filter(|series| drawn.names.contains(&series.name.as_str())) {
                if lines.iter().all(|(other, _)| (&other.name, &other.of) != (&series.name, &series.of)) {
                    lines.push((series, loads.iter().map(|(_, runs)| at_load(runs, asked, series)).collect()));
                }
            }
            let chart = chart(
                &drawn,
                number,
                about,
                "Means at each load; of memory, open files and connections that wait to be accepted the most",
                lines,
            );
            all.extend(chart.map(|chart| Climb { chart, loads: places.clone() }));
        }
    }
    all
}

/// One figure of a series for all runs at a load.
fn at_load(runs: &[&Summary], asked: &str, wanted: &Series) -> Option<f64> {
    let sides = runs.iter().flat_map(|run| ServerSide::of(run)).filter(|side| side.seen.asked == asked);
    let of = |side: ServerSide<'_>| {
        // The one that was busiest over a whole run says more than whichever was at each moment.
        if wanted.name == "thread_cpu_busiest" {
            return side.busiest_thread().map(|(_, used)| used);
        }
        let series = side.seen.series.iter().find(|series| (&series.name, &series.of) == (&wanted.name, &wanted.of))?;
        if AT_MOST.contains(&wanted.name.as_str()) { side.most_of(series) } else { side.mean_of(series) }
    };
    if AT_MOST.contains(&wanted.name.as_str()) { sides.filter_map(of).reduce(f64::max) } else { mean(sides.map(of)) }
}

/// The charts for series of these names: those of processes and machines, and one for each metric of a page.
fn drawn_of<'a>(names: impl Iterator<Item = &'a str>, findings: &[Finding]) -> Vec<Drawn<'a>> {
    let is_metric = |name: &&str| SERIES.iter().all(|known| known.name != *name);
    let mut metrics: Vec<&str> = Vec::new();
    for name in names.filter(is_metric) {
        if !metrics.contains(&name) {
            metrics.push(name);
        }
    }
    let metric = |(at, name): (usize, &'a str)| Drawn {
        id: format!("metric-{at}").into(),
        title: name,
        names: vec![name],
        more: at >= METRICS_FIRST,
    };
    let limits = findings.first().filter(|first| first.is_named()).map_or(&[][..], |first| charts_of(first.kind));
    let known: Vec<Drawn<'a>> = charts();
    let of_limits = |drawn: Drawn<'a>| Drawn { more: drawn.more && !limits.contains(&&*drawn.id), ..drawn };
    known.into_iter().map(of_limits).chain(metrics.into_iter().take(METRICS_MAX).enumerate().map(metric)).collect()
}

fn chart(drawn: &Drawn<'_>, number: usize, about: &str, how: &str, mut lines: Vec<(&Series, Vec<Option<f64>>)>) -> Option<Chart> {
    let sum = |values: &[Option<f64>]| values.iter().flatten().sum::<f64>();
    lines.retain(|(_, values)| values.iter().flatten().any(|value| *value > 0.0));
    let place = |name: &str| drawn.names.iter().position(|other| *other == name);
    // In the order of the chart; of threads, processes and cores the busiest first.
    lines.sort_by(|(a, in_a), (b, in_b)| place(&a.name).cmp(&place(&b.name)).then_with(|| sum(in_b).total_cmp(&sum(in_a))));
    lines.truncate(LINES_MAX);
    let unit = lines.first().map(|(series, _)| series.unit)?;
    let told: Vec<String> = match lines.as_slice() {
        [(one, _)] => vec![what_it_is(&one.name).unwrap_or("as the page tells it").to_owned()],
        _ => lines
            .iter()
            .filter_map(|(series, _)| Some(format!("{}: {}", label(&series.name), what_it_is(&series.name)?)))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
    };
    let said: Vec<String> = [visible(about), told.join(". "), how.to_owned()].into_iter().filter(|part| !part.is_empty()).collect();
    let line = |(series, values): (&Series, Vec<Option<f64>>)| Line {
        name: visible(series.of.as_deref().unwrap_or(&label(&series.name))),
        values,
    };
    Some(Chart {
        id: format!("server-{}{}", drawn.id, if number == 0 { String::new() } else { format!("-{number}") }),
        title: visible(drawn.title),
        about: finished(&said.join(". ")),
        unit,
        more: drawn.more,
        lines: lines.into_iter().map(line).collect(),
    })
}

fn what_it_is(name: &str) -> Option<&'static str> {
    SERIES.iter().find(|known| known.name == name).map(|known| known.about)
}

fn label(name: &str) -> String {
    name.replace('_', " ")
}

/// The server's side of a run, line by line.
pub(super) fn told(summary: &Summary) -> Option<Table> {
    let rows: Vec<Vec<String>> = ServerSide::of(summary).iter().flat_map(ServerSide::lines).map(|line| vec![visible(&line)]).collect();
    (!rows.is_empty()).then(|| Table::new("server-side", "The server's side", &["what was seen"], rows))
}

/// The server's side of several loads or sides, row by row.
pub(super) fn table(head: &str, rows: Option<Rows>) -> Option<Table> {
    rows.map(|Rows { about, heads, cells }| {
        let heads: Vec<String> = heads.into_iter().map(|name| format!("#{}", if name.is_empty() { head } else { name })).collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        Table::new("server-side", "The server's side", &heads, cells).noted(format!("{} {}", finished(&visible(&about)), Rows::LEGEND))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    fn watched() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").unwrap().1
    }

    #[test]
    fn every_series_stands_in_one_chart() {
        for known in SERIES {
            assert_eq!(charts().iter().filter(|drawn| drawn.names.contains(&known.name)).count(), 1, "{}", known.name);
        }
        for name in charts().into_iter().flat_map(|drawn| drawn.names) {
            assert!(SERIES.iter().any(|known| known.name == name), "{name}");
        }
        // A chart has one axis.
        for drawn in charts() {
            let units: Vec<Unit> = drawn.names.iter().map(|name| SERIES.iter().find(|known| known.name == *name).unwrap().unit).collect();
            assert!(units.windows(2).all(|two| two[0] == two[1]), "{}: {units:?}", drawn.id);
        }
    }

    #[test]
    fn what_was_seen_is_drawn_over_the_run_and_against_the_load() {
        let (mut low, high) = (watched(), watched());
        for series in low.edit_for_test().observed.iter_mut().flat_map(|seen| &mut seen.series) {
            series.values.iter_mut().flatten().for_each(|value| *value /= 4.0);
        }
        let courses = courses(&high, &[]);
        let ids: Vec<&str> = courses.iter().map(|course| course.chart.id.as_str()).collect();
        assert!(
            ["server-cpu", "server-threads", "server-lost", "server-processes", "server-metric-0-1"].iter().all(|id| ids.contains(id)),
            "{ids:?}"
        );
        assert!(courses.iter().all(|course| course.chart.lines.iter().all(|line| line.values.len() == course.to_ns.len())));

        assert!(climbs(&[(10.0, vec![&high])], &[]).is_empty(), "one load is no ladder");
        let unseen = fixtures::summaries().remove(0).1;
        let climbs = climbs(&[(10.0, vec![&low, &low]), (40.0, vec![&high]), (90.0, vec![&unseen])], &[]);
        let cpu = &climbs.iter().find(|climb| climb.chart.id == "server-cpu").unwrap().chart;
        let user = &cpu.lines.iter().find(|line| line.name == "cpu user").unwrap().values;
        let [Some(first), Some(second), None] = user.as_slice() else { panic!("{user:?}") };
        assert!((second / first - 4.0).abs() < 1e-6, "{user:?}");
        let (queue, side) = (&climbs.iter().find(|climb| climb.chart.id == "server-waiting").unwrap().chart, &high.observed[0]);
        let most = side.whole("accept_queue").unwrap().values.iter().flatten().fold(0.0f64, |most, value| most.max(*value));
        assert_eq!(queue.lines[0].values[1], Some(most), "of what waits, the most");
        assert!(climbs.iter().any(|climb| climb.chart.title == "go_goroutines"), "metrics of a page too");
    }

    #[test]
    fn the_charts_that_show_the_limit_are_not_folded() {
        let run = watched();
        let folded = |findings: &[Finding]| -> Vec<String> {
            let more = courses(&run, findings).into_iter().filter(|course| course.chart.more);
            more.map(|course| course.chart.id).collect()
        };
        let limit = |strength: f64| Finding {
            kind: Kind::AcceptQueue,
            strength,
            sentence: String::new(),
            brief: String::new(),
            evidence: Vec::new(),
            refuted_by: String::new(),
            remedy: String::new(),
            law: None,
        };
        let shows = |id: &String| charts_of(Kind::AcceptQueue).iter().any(|chart| *id == format!("server-{chart}"));
        assert_eq!(folded(&[]).iter().filter(|id| shows(id)).count(), 2, "{:?}", folded(&[]));
        assert_eq!(folded(&[limit(0.9)]).iter().filter(|id| shows(id)).count(), 0);
        assert_eq!(folded(&[limit(0.9)]).len(), folded(&[]).len() - 2, "the others stay folded");
        assert_eq!(folded(&[limit(0.1)]), folded(&[]), "nothing is named");
    }
}
