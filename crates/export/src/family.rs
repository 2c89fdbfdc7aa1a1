//! What is told: one table of metrics, for every protocol that tells totals.
//!
//! Written once, so that Prometheus and OpenTelemetry cannot be told different things.

use measure::RowKind;

use crate::board::{Board, EventTotals, Load, RowTotals, Times};

/// One metric with all its values.
#[derive(Debug)]
pub(crate) struct Family<'a> {
    /// In words joined by underscores, without unit and without `_total`.
    pub name: &'static str,
    pub about: &'static str,
    pub unit: Unit,
    pub points: Points<'a>,
}

/// The unit of a metric, as it ends the name in Prometheus, and by its code in OpenTelemetry (UCUM).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    None,
    Seconds,
    Bytes,
}

/// Labels of a value, beside those of the run.
pub(crate) type Labels<'a> = Vec<(&'static str, &'a str)>;

#[derive(Debug)]
pub(crate) enum Points<'a> {
    /// Only grows.
    Counters(Vec<(Labels<'a>, &'a Load, f64)>),
    Gauges(Vec<(Labels<'a>, &'a Load, f64)>),
    Histograms(Vec<(Labels<'a>, &'a Load, &'a Times)>),
}

/// `1xx` to `5xx`; a status beyond them is none that HTTP knows.
fn class_of(digit: u16) -> &'static str {
    ["other", "1xx", "2xx", "3xx", "4xx", "5xx"].get(usize::from(digit)).copied().unwrap_or("other")
}

const fn side(side: measure::Side) -> &'static str {
    match side {
        measure::Side::Server => "server",
        measure::Side::Network => "network",
        measure::Side::ThisMachine => "this_machine",
        measure::Side::ServerOrPlan => "server_or_plan",
        measure::Side::Plan => "plan",
    }
}

/// A name and a value.
type Label = (&'static str, &'static str);

/// All metrics.
pub(crate) fn families(board: &Board) -> Vec<Family<'_>> {
    let counters = |count: &dyn Fn(&Load) -> f64| -> Points<'_> {
        Points::Counters(board.loads.iter().map(|load| (named(load), load, count(load))).collect())
    };
    let gauges = |value: &dyn Fn(&Load) -> Option<f64>| -> Points<'_> {
        Points::Gauges(board.loads.iter().filter_map(|load| Some((named(load), load, value(load)?))).collect())
    };
    let histograms = |times: fn(&Load) -> &Times| -> Points<'_> {
        Points::Histograms(board.loads.iter().map(|load| (named(load), load, times(load))).collect())
    };
    let labelled = |each: &dyn Fn(&Load) -> Vec<(Label, f64)>| -> Points<'_> {
        let values = board.loads.iter().flat_map(|load| {
            each(load).into_iter().map(move |(label, value)| {
                let mut labels = named(load);
                labels.push(label);
                (labels, load, value)
            })
        });
        Points::Counters(values.collect())
    };
    let mut families = vec![
        Family {
            name: "requests_due",
            about: "Requests that fell due.",
            unit: Unit::None,
            points: counters(&|load| load.totals.due as f64),
        },
        Family {
            name: "requests",
            about: "Requests that ended, by how: succeeded, failed, or unsent because no connection came free in time.",
            unit: Unit::None,
            points: labelled(&|load| {
                let totals = &load.totals;
                vec![
                    (("result", "succeeded"), totals.succeeded as f64),
                    (("result", "failed"), totals.failed as f64),
                    (("result", "unsent"), totals.unsent as f64),
                ]
            }),
        },
        Family {
            name: "answers",
            about: "Answers by the class of their status.",
            unit: Unit::None,
            points: labelled(&|load| {
                load.totals.answers.iter().map(|(digit, count)| (("status", class_of(*digit)), *count as f64)).collect()
            }),
        },
        Family {
            name: "failures",
            about: "Requests that failed, by class and guilty side.",
            unit: Unit::None,
            points: Points::Counters(
                board
                    .loads
                    .iter()
                    .flat_map(|load| {
                        load.totals.failures.iter().map(move |(class, count)| {
                            let mut labels = named(load);
                            labels.push(("class", class.code()));
                            labels.push(("side", side(class.side())));
                            (labels, load, *count as f64)
                        })
                    })
                    .collect(),
            ),
        },
        Family {
            name: "response_time",
            about: "From when a request was due to its last byte: what users feel. Failures count at their limit.",
            unit: Unit::Seconds,
            points: histograms(|load| &load.totals.response_time),
        },
        Family {
            name: "service_time",
            about: "From when a request was sent to its last byte: what the server took.",
            unit: Unit::Seconds,
            points: histograms(|load| &load.totals.service_time),
        },
        Family {
            name: "lag",
            about: "From when a request could be sent until it was: what the load generator added.",
            unit: Unit::Seconds,
            points: histograms(|load| &load.totals.lag),
        },
        Family {
            name: "sent",
            about: "Bytes written, headers included.",
            unit: Unit::Bytes,
            points: counters(&|load| load.totals.bytes_sent as f64),
        },
        Family {
            name: "received",
            about: "Bytes read, headers included.",
            unit: Unit::Bytes,
            points: counters(&|load| load.totals.bytes_received as f64),
        },
        Family {
            name: "connections_opened",
            about: "Connections opened.",
            unit: Unit::None,
            points: counters(&|load| load.totals.connections_opened as f64),
        },
        Family {
            name: "generator_cpu",
            about: "Processor time of the load generator's workers.",
            unit: Unit::Seconds,
            points: counters(&|load| load.totals.cpu),
        },
        Family {
            name: "qps",
            about: "Answers a second, in the last second.",
            unit: Unit::None,
            points: gauges(&|load| Some(load.now.qps)),
        },
        Family {
            name: "rate_asked",
            about: "Requests a second asked for in the last second, in open load; journeys a second of a scenario.",
            unit: Unit::None,
            points: gauges(&|load| load.now.asked),
        },
        Family {
            name: "in_flight",
            about: "Requests that fell due and have no end yet.",
            unit: Unit::None,
            points: gauges(&|load| Some(load.now.in_flight as f64)),
        },
        Family {
            name: "connections",
            about: "Connections open.",
            unit: Unit::None,
            points: gauges(&|load| Some(load.now.connections as f64)),
        },
        Family {
            name: "lag_max",
            about: "Greatest lag of the last second.",
            unit: Unit::Seconds,
            points: gauges(&|load| Some(load.now.lag_max)),
        },
    ];
    if board.loads.iter().any(|load| load.totals.events.is_some()) {
        families.extend(of_events(board));
    }
    for kind in [RowKind::Population, RowKind::Journey, RowKind::Transaction, RowKind::Step] {
        if board.loads.iter().any(|load| rows(load, kind).next().is_some()) {
            families.extend(of_rows(board, kind));
        }
    }
    families
}

/// What is told of answers that stream, of which there are some.
fn of_events(board: &Board) -> Vec<Family<'_>> {
    let each = || board.loads.iter().filter_map(|load| Some((load, load.totals.events.as_ref()?)));
    let timed = |name, about, times: fn(&EventTotals) -> &Times| Family {
        name,
        about,
        unit: Unit::Seconds,
        points: Points::Histograms(each().map(|(load, events)| (named(load), load, times(events))).collect()),
    };
    let counted = |name, about, points| Family { name, about, unit: Unit::None, points };
    vec![
        counted(
            "events",
            "Events of answers that stream.",
            Points::Counters(each().map(|(load, events)| (named(load), load, events.count as f64)).collect()),
        ),
        counted(
            "events_per_second",
            "Events a second, in the last second.",
            Points::Gauges(each().map(|(load, _)| (named(load), load, load.now.events.unwrap_or(0.0))).collect()),
        ),
        timed("first_event", "From when a request was due to the first event of its answer.", |events| &events.first),
        timed("between_events", "From one event of an answer to its next.", |events| &events.between),
    ]
}

fn rows(load: &Load, kind: RowKind) -> impl Iterator<Item = &RowTotals> {
    load.totals.rows.iter().filter(move |row| row.kind == kind)
}

/// What is told of the rows of a kind, of which there are some.
fn of_rows(board: &Board, kind: RowKind) -> Vec<Family<'_>> {
    let each = || {
        board.loads.iter().flat_map(move |load| {
            rows(load, kind).map(move |row| {
                let mut labels = named(load);
                if kind == RowKind::Step {
                    labels.push(("journey", &*row.journey));
                }
                labels.push((kind.name(), &*row.name));
                (labels, load, row)
            })
        })
    };
    let begun = || Points::Counters(each().map(|(labels, load, row)| (labels, load, row.begun as f64)).collect());
    let times = || Points::Histograms(each().map(|(labels, load, row)| (labels, load, &row.times)).collect());
    let ended = |cut_off: Option<&'static str>| {
        let values = each().flat_map(|(labels, load, row)| {
            let results = [(Some("succeeded"), row.succeeded), (Some("failed"), row.failed), (cut_off, row.cut_off)];
            results.into_iter().filter_map(move |(result, count)| {
                let mut labels = labels.clone();
                labels.push(("result", result?));
                Some((labels, load, count as f64))
            })
        });
        Points::Counters(values.collect())
    };
    let counted = |name, about, points| Family { name, about, unit: Unit::None, points };
    let timed = |name, about| Family { name, about, unit: Unit::Seconds, points: times() };
    match kind {
        RowKind::Population => vec![
            counted(
                "population_requests",
                "Requests of a population that ended, by population and how: succeeded, failed, or unsent.",
                ended(Some("unsent")),
            ),
            timed("population_response_time", "From when a request of a population was due to its last byte, by population."),
        ],
        RowKind::Journey => vec![
            counted("journeys_started", "Journeys begun, by journey.", begun()),
            counted(
                "journeys",
                "Journeys that ended, by journey and how: succeeded, failed (went to the end with a step that failed), or broke_off before it.",
                ended(Some("broke_off")),
            ),
            counted(
                "tps",
                "Journeys finished a second, in the last second.",
                Points::Gauges(board.loads.iter().filter_map(|load| Some((named(load), load, load.now.tps?))).collect()),
            ),
        ],
        RowKind::Transaction => vec![
            counted("transactions_started", "Transactions begun, by transaction.", begun()),
            counted(
                "transactions",
                "Transactions that ended, by transaction and how: succeeded, failed (finished with a step that failed), or broke_off before it.",
                ended(Some("broke_off")),
            ),
            timed("transaction_time", "What the requests of a transaction took together, by transaction; of those that finished."),
        ],
        RowKind::Step => {
            vec![counted("step_requests", "Requests of a step that ended, by journey, step and how: succeeded or failed.", ended(None))]
        }
        RowKind::Url | RowKind::Site => Vec::new(),
    }
}

fn named(load: &Load) -> Labels<'_> {
    vec![("load", load.name.as_str())]
}
