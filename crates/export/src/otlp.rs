//! OpenTelemetry's metrics as Protobuf.
//!
//! Source: `opentelemetry/proto/collector/metrics/v1/metrics_service.proto` and the messages it is made of, of which those are
//! declared here that are told. The generated crate was rejected: it brings a gRPC stack for a dozen messages that are frozen.

use std::time::{SystemTime, UNIX_EPOCH};

use prost::Message;

use crate::board::{BOUNDS, Board, Load, Times};
use crate::family::{Family, Labels, Points, Unit, families};

/// The temporality *cumulative*: each value counts from the beginning of its load.
const CUMULATIVE: i32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    pub resource_metrics: Vec<ResourceMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub rejected_data_points: i64,
    #[prost(string, tag = "2")]
    pub error_message: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    pub resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub scope_metrics: Vec<ScopeMetrics>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    pub scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Scope {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metric {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub description: String,
    #[prost(string, tag = "3")]
    pub unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 9")]
    pub data: Option<Data>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
pub(crate) enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "9")]
    Histogram(Histogram),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Gauge {
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<NumberPoint>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sum {
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    pub aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    pub is_monotonic: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Histogram {
    #[prost(message, repeated, tag = "1")]
    pub data_points: Vec<HistogramPoint>,
    #[prost(int32, tag = "2")]
    pub aggregation_temporality: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NumberPoint {
    #[prost(fixed64, tag = "2")]
    pub start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    pub time_unix_nano: u64,
    #[prost(double, optional, tag = "4")]
    pub as_double: Option<f64>,
    #[prost(message, repeated, tag = "7")]
    pub attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HistogramPoint {
    #[prost(fixed64, tag = "2")]
    pub start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    pub time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    pub count: u64,
    #[prost(double, optional, tag = "5")]
    pub sum: Option<f64>,
    #[prost(fixed64, repeated, tag = "6")]
    pub bucket_counts: Vec<u64>,
    #[prost(double, repeated, tag = "7")]
    pub explicit_bounds: Vec<f64>,
    #[prost(message, repeated, tag = "9")]
    pub attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct KeyValue {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(message, optional, tag = "2")]
    pub value: Option<AnyValue>,
}

/// Of its kinds, text.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AnyValue {
    #[prost(string, optional, tag = "1")]
    pub string_value: Option<String>,
}

fn attribute(key: &str, value: &str) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { string_value: Some(value.to_owned()) }) }
}

/// Everything on the board, as the body of a request.
pub(crate) fn body(board: &Board) -> Vec<u8> {
    let identity = &board.identity;
    let resource = Resource {
        attributes: vec![
            attribute("service.name", "loadline"),
            attribute("service.version", env!("CARGO_PKG_VERSION")),
            attribute("loadline.run.id", &identity.run),
            attribute("loadline.run.name", &identity.name),
            attribute("loadline.command", &identity.command),
            attribute("url.full", &identity.target),
        ],
    };
    let scope = Scope { name: "loadline".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
    let metrics = families(board).iter().map(|family| metric(board, family)).collect();
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics }];
    ExportRequest { resource_metrics: vec![ResourceMetrics { resource: Some(resource), scope_metrics }] }.encode_to_vec()
}

fn metric(board: &Board, family: &Family<'_>) -> Metric {
    let number = |(labels, load, value): &(Labels<'_>, &Load, f64)| NumberPoint {
        start_time_unix_nano: nanos(load.began),
        time_unix_nano: nanos(board.at),
        as_double: Some(*value),
        attributes: attributes(labels),
    };
    let times = |(labels, load, times): &(Labels<'_>, &Load, &Times)| HistogramPoint {
        start_time_unix_nano: nanos(load.began),
        time_unix_nano: nanos(board.at),
        count: times.count,
        sum: Some(times.sum),
        bucket_counts: times.buckets.to_vec(),
        explicit_bounds: BOUNDS.to_vec(),
        attributes: attributes(labels),
    };
    let data = match &family.points {
        Points::Counters(points) => {
            Data::Sum(Sum { data_points: points.iter().map(number).collect(), aggregation_temporality: CUMULATIVE, is_monotonic: true })
        }
        Points::Gauges(points) => Data::Gauge(Gauge { data_points: points.iter().map(number).collect() }),
        Points::Histograms(points) => {
            Data::Histogram(Histogram { data_points: points.iter().map(times).collect(), aggregation_temporality: CUMULATIVE })
        }
    };
    let unit = match family.unit {
        Unit::None => "1",
        Unit::Seconds => "s",
        Unit::Bytes => "By",
    };
    Metric { name: format!("loadline.{}", family.name), description: family.about.to_owned(), unit: unit.to_owned(), data: Some(data) }
}

fn attributes(labels: &Labels<'_>) -> Vec<KeyValue> {
    labels.iter().map(|(key, value)| attribute(&format!("loadline.{key}"), value)).collect()
}

fn nanos(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// What the receiver did not take, though it answered well.
pub(crate) fn refusal(answer: &[u8]) -> Option<String> {
    let partial = ExportResponse::decode(answer).ok()?.partial_success?;
    (partial.rejected_data_points > 0).then(|| format!("{} values refused: {}", partial.rejected_data_points, partial.error_message))
}
