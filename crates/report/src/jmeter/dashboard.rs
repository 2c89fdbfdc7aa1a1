//! JMeter's dashboard: the pages, tables and charts that it makes of a file of samples, under the same names.
//!
//! Pipelines publish the folder and read `statistics.json` in it, people open `index.html`. So the files are called as JMeter calls them, and
//! show what they show, in our words and with charts that are pictures: no script, nothing from elsewhere. What is counted of a label is drawn for the
//! labels with the most samples, as far as lines can be told apart; the tables have all of them.
//!
//! Invariant: the same samples give the same bytes.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pages::{escaped, still};

use super::statistics::{Bin, CLASS_MS, Label, SATISFIED_MS, Statistics, TOLERATED_MS, TOTAL};
use crate::chart::{Axis, Chart, Dash, Fill, Ink, Marker, Marks, Point, Series, Side, Start, ticks};

/// The page that people open.
pub const INDEX: &str = "index.html";

/// A file of the folder: its path in it, and what it holds.
pub type PageFile = (&'static str, String);

/// A place along the bottom, and the value there.
type Placed = (f64, Option<f64>);
type Values = Vec<Placed>;

/// What a line is called, and its values.
type Line = (String, Values);

/// Lines that can be told apart by colour and dash.
const LINES_MAX: usize = 8;
const INKS: [Ink; 4] = [Ink::Blue, Ink::Vermillion, Ink::Green, Ink::Purple];
const MARKERS: [Marker; 4] = [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond];
/// So few values are marked: a line of one would not be seen.
const MARKED_MAX: usize = 40;
/// Kinds of errors that a row of the samplers shows.
const ERRORS_SHOWN: usize = 5;

/// The files of a dashboard of the samples of this file.
#[must_use]
pub fn dashboard(statistics: &Statistics, source: &str, zone: &TimeZone) -> Vec<PageFile> {
    let page = |title: &str, charts: &[Chart]| {
        let charts: String = charts.iter().map(figure).collect();
        still(title, &format!("<p><a href=\"../../index.html\">Back to the tables</a></p>\n<h1>{title}</h1>\n{charts}"))
    };
    vec![
        (INDEX, index(statistics, source, zone)),
        ("content/pages/OverTime.html", page("Over time", &over_time(statistics))),
        ("content/pages/Throughput.html", page("Throughput", &throughput(statistics))),
        ("content/pages/ResponseTimes.html", page("Response times", &response_times(statistics))),
        ("statistics.json", statistics.json()),
    ]
}

/// A picture, which holds its title.
fn figure(chart: &Chart) -> String {
    format!("<p>{}</p>\n", chart.svg())
}

/// A table in HTML; the first cell of a row is its head.
fn table(title: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    let title = format!("<h2>{}</h2>\n", escaped(title));
    if rows.is_empty() {
        return title + "<p>None.</p>\n";
    }
    let mut html = title + "<table>\n<thead><tr>";
    heads.iter().for_each(|head| html += &format!("<th scope=\"col\">{}</th>", escaped(head)));
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += "<tr>";
        row.iter().for_each(|cell| html += &format!("<td>{}</td>", escaped(cell)));
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n"
}

fn index(statistics: &Statistics, source: &str, zone: &TimeZone) -> String {
    let total = &statistics.total;
    let moment = |ms: u64| {
        let at = i64::try_from(ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        at.map_or_else(String::new, |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string())
    };
    let (from, to) = total.span().unwrap_or_default();
    let pair = |name: &str, value: String| vec![name.to_owned(), value];
    let labels = || statistics.labels.iter().map(|(name, label)| (name.as_str(), label));
    let with_total = || std::iter::once((TOTAL, total)).chain(labels());
    let mut html = "<h1>Dashboard</h1>\n<p>More: <a href=\"content/pages/OverTime.html\">over time</a>, <a \
                    href=\"content/pages/Throughput.html\">throughput</a>, <a href=\"content/pages/ResponseTimes.html\">response times</a>, <a \
                    href=\"statistics.json\">statistics.json</a>. Times are those of the file, from sending on: while users wait for a slow \
                    answer they send nothing, so what others would have waited meanwhile is not in them.</p>\n"
        .to_owned();
    html += &table(
        "Test and report",
        &["", ""],
        &[pair("Source file", source.to_owned()), pair("Start", moment(from)), pair("End", moment(to))],
    );
    let apdex: Vec<Vec<String>> = with_total()
        .map(|(name, label)| {
            vec![format!("{:.3}", label.apdex()), format!("{SATISFIED_MS} ms"), format!("{TOLERATED_MS} ms"), name.to_owned()]
        })
        .collect();
    html += &table("APDEX (Application Performance Index)", &["Apdex", "T (satisfied up to)", "F (frustrated above)", "Label"], &apdex);
    let well = total.count - total.failed;
    let percent = |count: u64| if total.count == 0 { 0.0 } else { count as f64 / total.count as f64 * 100.0 };
    let summary = [("OK", well), ("KO", total.failed)]
        .map(|(name, count)| vec![name.to_owned(), count.to_string(), format!("{:.2} %", percent(count))]);
    html += &table("Requests summary", &["", "Requests", "Share"], &summary);
    let heads = [
        "Label",
        "#Samples",
        "FAIL",
        "Error %",
        "Average",
        "Min",
        "Max",
        "Median",
        "90th pct",
        "95th pct",
        "99th pct",
        "Transactions/s",
        "Received",
        "Sent",
    ];
    let rows: Vec<Vec<String>> = with_total().map(|(name, label)| statistics_row(name, label)).collect();
    html += &table("Statistics: requests, executions, response times (ms), throughput, network (KB/s)", &heads, &rows);
    let mut errors: Vec<(&String, &u64)> = total.errors.iter().collect();
    errors.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let rows: Vec<Vec<String>> = errors
        .iter()
        .map(|(error, count)| {
            let of_errors = **count as f64 / total.failed.max(1) as f64 * 100.0;
            vec![(*error).clone(), count.to_string(), format!("{of_errors:.2} %"), format!("{:.2} %", percent(**count))]
        })
        .collect();
    html += &table("Errors", &["Type of error", "Number of errors", "% in errors", "% in all samples"], &rows);
    let mut heads = vec!["Sample", "#Samples", "#Errors"];
    (0..ERRORS_SHOWN).for_each(|_| heads.extend(["Error", "#Errors"]));
    let failing = with_total().filter(|(_, label)| label.failed > 0 && !label.is_transaction);
    let rows: Vec<Vec<String>> = failing.map(|(name, label)| sampler_row(name, label)).collect();
    html += &table("Top 5 errors by sampler", &heads, &rows);
    still("Dashboard", &html)
}

fn statistics_row(name: &str, label: &Label) -> Vec<String> {
    let (received, sent) = label.traffic();
    let mut row = vec![name.to_owned(), label.count.to_string(), label.failed.to_string(), format!("{:.2} %", label.failed_percent())];
    let quantiles = [0.5, 0.9, 0.95, 0.99].map(|share| label.quantile_ms(share));
    row.extend([label.mean_ms(), label.min_ms(), label.max_ms()].into_iter().chain(quantiles).map(|ms| format!("{ms:.2}")));
    row.extend([label.throughput(), received, sent].map(|value| format!("{value:.2}")));
    row
}

fn sampler_row(name: &str, label: &Label) -> Vec<String> {
    let mut errors: Vec<(&String, &u64)> = label.errors.iter().collect();
    errors.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let mut row = vec![name.to_owned(), label.count.to_string(), label.failed.to_string()];
    for place in 0..ERRORS_SHOWN {
        let (error, count) = errors.get(place).map_or_else(Default::default, |(error, count)| ((*error).clone(), count.to_string()));
        row.extend([error, count]);
    }
    row
}

/// A chart of lines from zero on.
fn chart(title: &str, along: &str, value: &str, lines: Vec<Line>) -> Chart {
    let most = |of: &dyn Fn(&Placed) -> f64| lines.iter().flat_map(|(_, values)| values).map(of).fold(0.0, f64::max);
    let ((x_scale, x_ticks), (y_scale, y_ticks)) = (ticks::from_zero(most(&|it| it.0)), ticks::from_zero(most(&|it| it.1.unwrap_or(0.0))));
    let axis = |title: &str, scale, ticks| Axis { title: title.to_owned(), scale, ticks, start: Start::Whole, ink: None };
    let count = lines.len();
    let left_out = if count > LINES_MAX { vec![vec![format!("the first {LINES_MAX} of {count}")]] } else { Vec::new() };
    let names = lines.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let is_empty = lines.iter().all(|(_, values)| values.is_empty());
    let series = lines.into_iter().take(LINES_MAX).enumerate().map(|(place, (name, points))| {
        let dash = if place < INKS.len() { Dash::Solid } else { Dash::Dashed };
        let marks =
            if points.len() > MARKED_MAX { Marks::Line { points, dash } } else { marked(&points, MARKERS[place % MARKERS.len()], dash) };
        Series { name, side: Side::Left, ink: INKS[place % INKS.len()], marks }
    });
    Chart {
        title: title.to_owned(),
        subtitle: left_out,
        description: format!("{title}: {value} by {along}, of {names}."),
        x: axis(along, x_scale, x_ticks),
        y: axis(value, y_scale, y_ticks),
        y2: None,
        strip: None,
        series: series.collect(),
        notes: Vec::new(),
        hollow: None,
        empty: is_empty.then(|| "No samples".to_owned()),
    }
}

/// Values with a marker each.
fn marked(values: &[Placed], marker: Marker, dash: Dash) -> Marks {
    Marks::Points { points: values.iter().map(|(x, y)| Point { x: *x, y: *y, fill: Fill::Solid }).collect(), marker, dash }
}

/// A chart of single points.
fn cloud(title: &str, along: &str, value: &str, mut clouds: Vec<Line>) -> Chart {
    for (_, values) in &mut clouds {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let mut chart = chart(title, along, value, clouds.clone());
    for ((series, (_, values)), marker) in chart.series.iter_mut().zip(&clouds).zip(MARKERS.into_iter().cycle()) {
        // A gap after each, so that no line joins them.
        let apart: Values = values.iter().flat_map(|(x, y)| [(*x, *y), (*x, None)]).collect();
        series.marks = marked(&apart, marker, Dash::Solid);
    }
    chart
}

const TIME: &str = "Seconds since the first sample";
const MILLIS: &str = "Milliseconds";

impl Statistics {
    /// A line of what is read of each bin.
    fn line(&self, name: &str, of: impl Fn(&Bin) -> Option<f64>) -> Line {
        (name.to_owned(), self.bins().map(|(at, bin)| (at, of(bin))).collect())
    }

    /// A line for each label, of the mean of what is read of its sums.
    fn means(&self, of: impl Fn(&super::statistics::Means) -> u64 + Copy) -> Vec<Line> {
        let labels = self.labels_by_count().into_iter().filter(|(_, label)| !label.is_transaction);
        let mean = |bin: &Bin, name: &str| bin.labels.get(name).map(|means| of(means) as f64 / means.count as f64);
        labels.map(|(name, _)| self.line(name, |bin| mean(bin, name))).collect()
    }

    /// So many of a bin as there are a second.
    fn each_second(&self, count: u64) -> Option<f64> {
        Some(count as f64 / self.bin_secs() as f64)
    }

    /// The keys of a map of each bin, in their order.
    fn keys<'a, V: 'a>(&'a self, of: impl Fn(&'a Bin) -> &'a std::collections::BTreeMap<String, V>) -> Vec<&'a str> {
        let keys: std::collections::BTreeSet<&str> = self.bins().flat_map(|(_, bin)| of(bin).keys().map(String::as_str)).collect();
        keys.into_iter().collect()
    }
}

fn over_time(statistics: &Statistics) -> [Chart; 6] {
    let quantile = |name: &str, share: f64| statistics.line(name, |bin| bin.times.quantile(share).map(plan::Nanos::as_millis_f64));
    let groups = statistics.keys(|bin| &bin.threads).into_iter();
    let threads = groups.map(|group| statistics.line(group, |bin| bin.threads.get(group).map(|count| f64::from(*count)))).collect();
    [
        chart("Response time over time", TIME, MILLIS, statistics.means(|means| means.elapsed_ms)),
        chart(
            "Response time percentiles over time (successful responses)",
            TIME,
            MILLIS,
            vec![quantile("median", 0.5), quantile("90th", 0.9), quantile("95th", 0.95), quantile("99th", 0.99), quantile("max", 1.0)],
        ),
        chart("Active threads over time", TIME, "Threads", threads),
        chart(
            "Bytes throughput over time",
            TIME,
            "Bytes a second",
            vec![
                statistics.line("received", |bin| statistics.each_second(bin.bytes)),
                statistics.line("sent", |bin| statistics.each_second(bin.sent_bytes)),
            ],
        ),
        chart("Latencies over time", TIME, MILLIS, statistics.means(|means| means.latency_ms)),
        chart("Connect time over time", TIME, MILLIS, statistics.means(|means| means.connect_ms)),
    ]
}

fn throughput(statistics: &Statistics) -> [Chart; 6] {
    let codes = statistics.keys(|bin| &bin.codes).into_iter();
    let codes = codes.map(|code| {
        let name = if code.is_empty() { "(no code)" } else { code };
        statistics.line(name, |bin| statistics.each_second(bin.codes.get(code).copied().unwrap_or(0)))
    });
    let labels = statistics.labels_by_count().into_iter().filter(|(_, label)| !label.is_transaction);
    let labels =
        labels.map(|(name, _)| statistics.line(name, |bin| statistics.each_second(bin.labels.get(name).map_or(0, |means| means.count))));
    let by_rate = |of: &dyn Fn(&Bin) -> Option<f64>| -> Values {
        statistics.bins().map(|(_, bin)| (statistics.each_second(bin.ended).unwrap_or(0.0), of(bin))).collect()
    };
    let median = |times: &measure::Histogram| times.quantile(0.5).map(plan::Nanos::as_millis_f64);
    [
        chart("Hits per second", TIME, "Requests begun a second", vec![statistics.line("all", |bin| statistics.each_second(bin.begun))]),
        chart("Codes per second", TIME, "Responses a second", codes.collect()),
        chart("Transactions per second", TIME, "Requests ended a second", labels.collect()),
        chart(
            "Total transactions per second",
            TIME,
            "Requests ended a second",
            vec![
                statistics.line("success", |bin| statistics.each_second(bin.ended - bin.failed)),
                statistics.line("failure", |bin| statistics.each_second(bin.failed)),
            ],
        ),
        cloud(
            "Response time vs request",
            "Requests a second",
            "Median response time, ms",
            vec![("successes".to_owned(), by_rate(&|bin| median(&bin.times)))],
        ),
        cloud(
            "Latencies vs request",
            "Requests a second",
            "Median latency, ms",
            vec![("all".to_owned(), by_rate(&|bin| median(&bin.latencies)))],
        ),
    ]
}

fn response_times(statistics: &Statistics) -> [Chart; 4] {
    let labels = || statistics.labels_by_count().into_iter().filter(|(_, label)| !label.is_transaction);
    let percentiles = labels().map(|(name, label)| {
        let values = (0..=1_000).map(|part| (f64::from(part) / 10.0, Some(label.quantile_ms(f64::from(part) / 1_000.0))));
        (name.to_owned(), values.collect())
    });
    let total = &statistics.total;
    let slow = total.count - total.failed - total.satisfied - total.tolerated;
    let classes = [total.satisfied, total.tolerated, slow, total.failed];
    let synthetic = (1..).map(f64::from).zip(classes.map(|count| Some(count as f64))).collect();
    let along = format!("1: at most {SATISFIED_MS} ms, 2: at most {TOLERATED_MS} ms, 3: longer, 4: failed");
    let by_threads =
        statistics.by_threads.iter().map(|(threads, means)| (f64::from(*threads), Some(means.elapsed_ms as f64 / means.count as f64)));
    let distribution = labels().filter_map(|(name, _)| {
        let classes = statistics.classes.get(name)?;
        Some((name.to_owned(), classes.iter().map(|(class, count)| ((class * CLASS_MS) as f64, Some(*count as f64))).collect()))
    });
    [
        chart("Response time percentiles", "Percent of the samples", MILLIS, percentiles.collect()),
        cloud("Synthetic response times distribution", &along, "Responses", vec![("responses".to_owned(), synthetic)]),
        cloud("Time vs threads", "Active threads", "Mean response time, ms", vec![("all".to_owned(), by_threads.collect())]),
        cloud(
            &format!("Response time distribution (successful responses, classes of {CLASS_MS} ms)"),
            "Milliseconds, the beginning of the class",
            "Responses",
            distribution.collect(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::statistics::tests::{sample, statistics};
    use super::*;

    fn files(statistics: &Statistics) -> Vec<PageFile> {
        dashboard(statistics, "out.jtl", &TimeZone::UTC)
    }

    #[test]
    fn the_tables_hold_every_row_and_the_pages_every_chart() {
        let files = files(&statistics());
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            [
                "index.html",
                "content/pages/OverTime.html",
                "content/pages/Throughput.html",
                "content/pages/ResponseTimes.html",
                "statistics.json"
            ]
        );
        let index = &files[0].1;
        for part in [
            "<td>2026-01-05 10:00:00 UTC</td>",
            "<td>0.300</td><td>500 ms</td><td>1500 ms</td><td>order</td>",
            "<td>KO</td><td>4</td><td>19.05 %</td>",
            "<tr><td>order</td><td>10</td><td>4</td><td>40.00 %</td><td>700.00</td>",
            "<td>Test failed: no price</td><td>3</td><td>75.00 %</td><td>14.29 %</td>",
            "<tr><td>order</td><td>10</td><td>4</td><td>Test failed: no price</td><td>3</td><td>500/Internal Server Error</td><td>1</td>",
        ] {
            assert!(index.contains(part), "{part} is not in {index}");
        }
        let charts = |name: &str| files.iter().find(|(file, _)| *file == name).unwrap().1.matches("<svg").count();
        assert_eq!(
            ["content/pages/OverTime.html", "content/pages/Throughput.html", "content/pages/ResponseTimes.html"].map(charts),
            [6, 6, 4]
        );
    }

    #[test]
    fn what_a_server_said_becomes_no_markup_and_nothing_at_all_is_a_dashboard_too() {
        let mut hostile = Statistics::default();
        let evil = "<script>alert(1)</script>";
        hostile.add(&jtl::Sample { failure_message: evil.into(), label: evil.into(), ..sample(0, 10, "", "200", false) });
        for (name, text) in files(&hostile).iter().filter(|(name, _)| name.ends_with(".html")) {
            assert!(!text.contains("<script>"), "{name}");
        }
        assert_eq!(files(&Statistics::default()).len(), 5);
    }

    #[test]
    fn the_same_samples_give_the_same_bytes() {
        assert_eq!(files(&statistics()), files(&statistics()));
    }
}
