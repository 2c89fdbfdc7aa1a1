//! The page of results that came one by one: how long each took, over time.

use serde::Serialize;

use super::{Answer, Kind, Question, RenderedPage, SCHEMA, Table, View, written};
use crate::visible::visible;

/// One series: when each request began, in seconds since the first of its attack, and how long it took, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct AttackSeries {
    /// What its legend says.
    pub(crate) name: String,
    /// Whether its requests failed.
    pub(crate) failed: bool,
    /// How many requests there were before it was thinned.
    #[serde(skip)]
    pub(crate) count: u64,
    /// The longest of them.
    #[serde(skip)]
    pub(crate) longest_ms: f64,
    /// Time and latency, by time.
    pub(crate) points: Vec<(f64, f64)>,
}

#[derive(Debug, Serialize)]
struct Data {
    courses: Vec<AttackSeries>,
}

/// The page.
pub(crate) fn plot(title: &str, courses: Vec<AttackSeries>) -> RenderedPage {
    let count = |failed: bool| courses.iter().filter(|course| course.failed == failed).map(|course| course.count).sum::<u64>();
    let (well, failed) = (count(false), count(true));
    let longest = courses.iter().map(|course| course.longest_ms).fold(0.0, f64::max);
    let span = courses.iter().flat_map(|course| course.points.last()).map(|point| point.0).fold(0.0, f64::max);
    let rows: Vec<Vec<String>> = (courses.iter())
        .map(|course| {
            vec![visible(&course.name), course.count.to_string(), course.points.len().to_string(), format!("{:.3}", course.longest_ms)]
        })
        .collect();
    let words: String = rows.iter().map(|row| format!("{}: {} requests, {} ms at most\n", row[0], row[1], row[3])).collect();
    let answers = vec![
        match well + failed {
            0 => Answer::not_measured(Question::Carries, "These results hold no request"),
            all => Answer::measured(Question::Carries, format!("{all} requests within {span:.1} s, {failed} of them failed"), "latency"),
        },
        match well + failed {
            0 => Answer::not_measured(Question::Limits, "Nothing was slow: there was nothing"),
            _ => Answer::measured(Question::Limits, format!("The slowest took {longest:.3} ms"), "latency"),
        },
        Answer::not_measured(Question::Knee, "One load does not show where more load stops helping"),
    ];
    written(View {
        schema: SCHEMA,
        kind: Kind::Plot,
        title: visible(title),
        about: vec!["Latency of each request over the time at which it began.".to_owned()],
        standing: None,
        answers,
        remarks: Vec::new(),
        figures: Vec::new(),
        tables: vec![
            Table::new("series", "Series", &["attack", "#requests", "#drawn", "#slowest, ms"], rows)
                .noted("Long series are thinned by largest triangles, which keeps what stands out."),
        ],
        text: words,
        measured_by: String::new(),
        data: Data { courses },
    })
}
