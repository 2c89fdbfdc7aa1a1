//! Promises, and whether a run kept them: `p99 < 200ms`, `failed < 0.1%`, `qps > 5000`.
//!
//! Other tools judge the answers they got, so that a server which refuses everything at once passes `p99 < 200ms` with
//! room to spare. Here a request that failed counts as never answered: a quantile is taken over all requests that fell due,
//! with the failed and unsent ones slower than any other, and `qps` counts answers that succeeded. Where failed requests
//! cannot be told from good ones in a histogram (`service_time`, `ttfb`), both extremes must agree.
//!
//! A quantile with fewer than ten requests beyond it is judged only if the binomial distribution leaves no doubt; otherwise
//! the promise is neither held nor broken. The alternative, to read the figure all the same, turns gates green or red by
//! chance. Requests count in full here, however much they resemble each other: a check is about this run, in which a second
//! of standing still did happen, and not about what the next one would show ([`crate::interval`] is).
//!
//! A promise may be about a part of the load: `step login p95 < 100ms`, `transaction checkout failed < 1%`, `url /a p99 < 50ms`. A name holds
//! whatever its file gave it, so it is all that stands between the first word and the last before the comparison, which is looked
//! for from the right.
//!
//! Invariant: what a [`Check`] prints reads back as the same check.

mod against;
mod part;
mod slo;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use measure::{Histogram, StreamRow, Summary, Tick, quantile_is_known, rank_of};
use plan::{Nanos, carets};
use serde::{Deserialize, Serialize};

use crate::distribution::{binomial_at_least, binomial_at_most};
use crate::interval::{CONFIDENCE, Interval};
use crate::proportion::Share;
use crate::quantity::{count, figure, length, percent, time};

pub use against::{Change, RUNS_MIN, Regression, Row, against};
pub use part::Part as LoadPart;
pub(crate) use slo::response_quantile;
pub use slo::{Slo, Unsearchable};

/// With fewer requests beyond a quantile than this, it is not known (docs/measurement.md §1.5).
const TAIL_MIN: f64 = 10.0;

/// A promise: some figure of a run, and what it must keep to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Check {
    /// Of what; `None`: of the whole load.
    part: Option<LoadPart>,
    figure: Figure,
    comparison: Comparison,
    limit: Limit,
}

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Time(Span, Statistic),
    Qps,
    /// Journeys a second.
    Tps,
    Failed,
    Unsent,
    Status(u16),
    /// All statuses with that first digit.
    StatusClass(u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    Response,
    Service,
    FirstByte,
    Wait,
    Connect,
    Tls,
    BetweenMessages,
    FirstEvent,
    BetweenEvents,
    TimePerToken,
}

impl Span {
    /// Whether it is one of answers that stream.
    const fn is_of_events(self) -> bool {
        matches!(self, Self::FirstEvent | Self::BetweenEvents | Self::TimePerToken)
    }

    /// Whether each request has one of it at most, from when it was due on, or for each of its tokens.
    const fn is_once_a_request(self) -> bool {
        matches!(self, Self::Response | Self::FirstEvent | Self::TimePerToken)
    }

    /// What stands before a statistic of it.
    const fn prefix(self) -> &'static str {
        match self {
            Self::FirstEvent => "first_event ",
            Self::TimePerToken => "time_per_token ",
            _ => "",
        }
    }
}

/// What is printed comes first of those that mean the same.
const SPANS: [(&str, Span); 18] = [
    ("response_time", Span::Response),
    ("service_time", Span::Service),
    ("first_byte", Span::FirstByte),
    ("ttfb", Span::FirstByte),
    ("wait", Span::Wait),
    ("connect", Span::Connect),
    ("tls", Span::Tls),
    ("between_messages", Span::BetweenMessages),
    ("between-messages", Span::BetweenMessages),
    ("first_event", Span::FirstEvent),
    ("first-event", Span::FirstEvent),
    ("ttft", Span::FirstEvent),
    ("between_events", Span::BetweenEvents),
    ("between-events", Span::BetweenEvents),
    ("itl", Span::BetweenEvents),
    ("time_per_token", Span::TimePerToken),
    ("time-per-token", Span::TimePerToken),
    ("tpot", Span::TimePerToken),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Statistic {
    /// In percent, as written.
    Quantile(f64),
    Mean,
    Max,
}

/// How a figure is compared with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Below,
    AtMost,
    Above,
    AtLeast,
    /// Only of counts and shares.
    Equal,
}

impl Comparison {
    fn holds<T: PartialOrd + Copy>(self, figure: T, limit: T) -> bool {
        match self {
            Self::Below => figure < limit,
            Self::AtMost => figure <= limit,
            Self::Above => figure > limit,
            Self::AtLeast => figure >= limit,
            Self::Equal => figure == limit,
        }
    }

    const fn wants_little(self) -> bool {
        matches!(self, Self::Below | Self::AtMost)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Limit {
    Time(Nanos),
    PerSecond(f64),
    Percent(f64),
    Count(u64),
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(part) = &self.part {
            write!(f, "{part} ")?;
        }
        write!(f, "{} {} {}", self.figure, self.comparison, self.limit)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(Span::Response, statistic) => statistic.fmt(f),
            Self::Time(span, statistic) => {
                let name = SPANS.iter().find(|(_, known)| known == span).map_or("", |(name, _)| name);
                write!(f, "{name} {statistic}")
            }
            Self::Qps => f.write_str("qps"),
            Self::Tps => f.write_str("tps"),
            Self::Failed => f.write_str("failed"),
            Self::Unsent => f.write_str("unsent"),
            Self::Status(status) => write!(f, "status {status}"),
            Self::StatusClass(digit) => write!(f, "status {digit}xx"),
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quantile(percent) => write!(f, "p{percent}"),
            Self::Mean => f.write_str("mean"),
            Self::Max => f.write_str("max"),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Equal => "==",
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => time.fmt(f),
            Self::PerSecond(rate) => rate.fmt(f),
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Count(count) => count.fmt(f),
        }
    }
}

/// What is wrong with a check's text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckError {
    text: String,
    /// In characters, from 0.
    column: usize,
    length: usize,
    message: String,
}

impl CheckError {
    /// Where the mistake begins, in characters, from 1.
    #[must_use]
    pub const fn column(&self) -> usize {
        self.column + 1
    }

    /// How many characters are meant.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.length
    }

    /// What is wrong, without the place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// What is wrong, then the text, then carets under the mistake.
impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, column, length, message } = self;
        write!(f, "{message}{}", carets(text, *column, *length))
    }
}

impl std::error::Error for CheckError {}

/// A part of the text that knows where it stands.
#[derive(Clone, Copy)]
struct Part<'a> {
    whole: &'a str,
    from: usize,
    to: usize,
}

impl<'a> Part<'a> {
    fn new(whole: &'a str, from: usize, to: usize) -> Self {
        let part = &whole[from..to];
        let from = from + (part.len() - part.trim_start().len());
        Self { whole, from, to: (from + part.trim().len()).max(from) }
    }

    fn text(self) -> &'a str {
        &self.whole[self.from..self.to]
    }

    fn wrong(self, message: impl Into<String>) -> CheckError {
        CheckError {
            text: self.whole.to_owned(),
            column: self.whole[..self.from].chars().count(),
            length: self.text().chars().count(),
            message: message.into(),
        }
    }
}

impl FromStr for Check {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<Self, CheckError> {
        Self::read(text, text.len())
    }
}

impl Check {
    /// The part of the load that it is about; `None`: the whole.
    #[must_use]
    pub const fn part(&self) -> Option<&LoadPart> {
        self.part.as_ref()
    }

    /// Reads `text` up to the byte `end`; errors point into the whole of it.
    fn read(text: &str, end: usize) -> Result<Self, CheckError> {
        let Some(last) = text[..end].rfind(SIGNS) else {
            let whole = Part::new(text, 0, end);
            if whole.text().is_empty() {
                return Err(whole.wrong("a check is empty; write one such as p99 < 200ms"));
            }
            let after = Part { from: whole.to, ..whole };
            return Err(after.wrong("a check needs <, <=, > or >= and a limit, such as p99 < 200ms"));
        };
        two_in_one(text, end)?;
        let at = text[..=last].trim_end_matches(SIGNS).len();
        let length = last + 1 - at;
        let sign = Part { whole: text, from: at, to: at + length };
        let (part, about) = part::read(Part::new(text, 0, at))?;
        let figure = read_figure(about)?;
        if let Some(part) = &part {
            part.measures(figure).map_err(|why| about.wrong(why))?;
        }
        let is_counted = !matches!(figure, Figure::Time(..) | Figure::Qps | Figure::Tps);
        let comparison = match sign.text() {
            "<" => Comparison::Below,
            "<=" => Comparison::AtMost,
            ">" => Comparison::Above,
            ">=" => Comparison::AtLeast,
            "==" if is_counted => Comparison::Equal,
            _ => return Err(sign.wrong("a check compares with <, <=, > or >=, and a number of requests also with ==")),
        };
        let limit = read_limit(figure, Part::new(text, at + length, end))?;
        let check = Self { part, figure, comparison, limit };
        check.can_fail().map_err(|why| Part::new(text, 0, end).wrong(why))?;
        Ok(check)
    }

    /// A promise that nothing can break, or nothing can keep, is a slip of the pen.
    fn can_fail(&self) -> Result<(), String> {
        let empty = match (self.comparison, self.limit) {
            (Comparison::Below, Limit::Time(Nanos(0)) | Limit::Count(0)) => "no run can keep it",
            (Comparison::Below, Limit::Percent(percent) | Limit::PerSecond(percent)) if percent <= 0.0 => "no run can keep it",
            (Comparison::Above, Limit::Percent(percent)) if percent >= 100.0 => "no run can keep it",
            (Comparison::AtLeast, Limit::Time(Nanos(0)) | Limit::Count(0)) => "no run can break it",
            (Comparison::AtLeast, Limit::Percent(percent) | Limit::PerSecond(percent)) if percent <= 0.0 => "no run can break it",
            (Comparison::AtMost, Limit::Percent(percent)) if percent >= 100.0 => "no run can break it",
            _ => return Ok(()),
        };
        Err(format!("'{self}' says nothing: {empty}"))
    }
}

/// What a comparison is made of.
const SIGNS: [char; 4] = ['<', '>', '=', '!'];

const FIGURES: &str = "p50 … p99.9, mean, max (also of a part: first_byte p95, service_time p95, connect p99, tls, wait, between_messages, first_event, between_events, time_per_token), qps, tps, failed, \
     unsent, status 503 or status 5xx; and of a step, journey, transaction, population or URL: step login p95";

/// Refuses two promises in one text, each of which would be a promise of its own.
fn two_in_one(text: &str, end: usize) -> Result<(), CheckError> {
    for joint in [" and ", "&&", ",", ";"] {
        // The name of a step may have such a word in it.
        let second = text[..end].match_indices(joint).map(|(at, _)| at).find(|at| text[..*at].parse::<Check>().is_ok());
        if let Some(at) = second {
            return Err(Part::new(text, at, at + joint.len()).wrong("two promises in one: give each by itself"));
        }
    }
    Ok(())
}

/// What other tools call a figure.
fn called_here(word: &str) -> Option<&'static str> {
    Some(match word.to_ascii_lowercase().replace(['_', '-'], "").as_str() {
        "error" | "errors" | "errorrate" | "failures" | "failure" | "fail" | "httpreqfailed" => "failed",
        "latency" | "duration" | "responsetime" | "httpreqduration" => "p95 or mean",
        "avg" | "average" => "mean",
        "median" | "med" => "p50",
        "rps" | "throughput" | "rate" | "requests" => "qps",
        "p" | "percentile" => "p99",
        _ => return None,
    })
}

fn read_figure(part: Part<'_>) -> Result<Figure, CheckError> {
    let text = part.text();
    match text {
        "" => return Err(part.wrong(format!("a check begins with what it is about: {FIGURES}"))),
        "qps" => return Ok(Figure::Qps),
        "tps" => return Ok(Figure::Tps),
        "failed" => return Ok(Figure::Failed),
        "unsent" => return Ok(Figure::Unsent),
        _ => {}
    }
    if let Some(status) = text.strip_prefix("status").and_then(|rest| rest.strip_prefix(['.', ' '])).map(str::trim) {
        let place = Part { from: part.to - status.len(), ..part };
        return read_status(status).ok_or_else(|| place.wrong("a status is 100 to 599, or a class such as 5xx"));
    }
    let (span, place) = match text.split_once(['.', ' ']) {
        Some((name, _)) if !name.starts_with(|c: char| c == 'p' && text[1..].starts_with(|c: char| c.is_ascii_digit())) => {
            let before = Part { to: part.from + name.len(), ..part };
            let span = SPANS.iter().find(|(known, _)| *known == name).map(|(_, span)| *span);
            let span = span.ok_or_else(|| before.wrong(not_measured(name)))?;
            (span, Part::new(part.whole, part.from + name.len() + 1, part.to))
        }
        _ => (Span::Response, part),
    };
    match place.text() {
        "mean" => Ok(Figure::Time(span, Statistic::Mean)),
        "max" => Ok(Figure::Time(span, Statistic::Max)),
        text => match text.strip_prefix('p').map(|percent| (percent, number(percent))) {
            Some((_, Some(percent))) if percent > 0.0 && percent < 100.0 => Ok(Figure::Time(span, Statistic::Quantile(percent))),
            Some((digits, _)) if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                Err(place.wrong("a percentile lies between p0 and p100, such as p99 or p99.9"))
            }
            _ if place.from == part.from => Err(place.wrong(not_measured(text))),
            _ => Err(place.wrong("of a time, a check takes a percentile such as p99, mean or max")),
        },
    }
}

fn not_measured(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    if SPANS.iter().any(|(span, _)| *span == lower) {
        return format!("'{name}' is a time with many values; write {lower} p95 or {lower} mean");
    }
    match called_here(name) {
        Some(here) => format!("'{name}' is not measured: here it is called {here}"),
        None => format!("'{name}' is not measured; a check is about {FIGURES}"),
    }
}

fn read_status(text: &str) -> Option<Figure> {
    if let Some(digit) = text.strip_suffix("xx") {
        return digit.parse().ok().filter(|digit| (1..=5).contains(digit) && text.len() == 3).map(Figure::StatusClass);
    }
    text.parse().ok().filter(|status| (100..=599).contains(status) && text.len() == 3).map(Figure::Status)
}

fn read_limit(figure: Figure, part: Part<'_>) -> Result<Limit, CheckError> {
    let text = part.text();
    match figure {
        Figure::Time(..) => {
            let wanted = "a time with its unit, such as 200ms";
            if text.is_empty() {
                return Err(part.wrong(format!("the limit is missing: give {wanted}")));
            }
            if number(text).is_some() {
                return Err(part.wrong(format!("'{text}' of what? give {wanted}")));
            }
            text.parse().map(Limit::Time).map_err(|_| part.wrong(format!("'{text}' is not {wanted}")))
        }
        Figure::Qps | Figure::Tps => {
            let bare = text.strip_suffix("/s").unwrap_or(text).trim_end();
            let (digits, factor) = match bare.strip_suffix(['k', 'K']) {
                Some(thousands) => (thousands, 1e3),
                None => (bare, 1.0),
            };
            number(digits)
                .map(|rate| Limit::PerSecond(rate * factor))
                .ok_or_else(|| part.wrong(format!("'{text}' is not a rate such as 5000 or 5000/s")))
        }
        Figure::Failed | Figure::Unsent | Figure::Status(_) | Figure::StatusClass(_) => {
            let wrong = || part.wrong(format!("'{text}' is not a share such as 0.1%, nor a count such as 10"));
            match text.strip_suffix('%') {
                Some(percent) => number(percent.trim_end()).filter(|percent| *percent <= 100.0).map(Limit::Percent).ok_or_else(wrong),
                None => text.parse().map(Limit::Count).map_err(|_| wrong()),
            }
        }
    }
}

/// Digits with at most one point; no sign, exponent or `inf`.
fn number(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c.is_ascii_digit() || c == '.');
    plain.then(|| text.parse().ok()).flatten()
}

impl From<Check> for String {
    fn from(check: Check) -> Self {
        check.to_string()
    }
}

impl TryFrom<String> for Check {
    type Error = CheckError;

    fn try_from(text: String) -> Result<Self, CheckError> {
        text.parse()
    }
}

/// A check, what was measured, and what follows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The promise.
    pub check: Check,
    /// The figure it is about; `None` where there is none.
    pub measured: Option<CheckFigure>,
    /// Where the figure is a share: its exact 95 % interval, requests taken as independent.
    pub interval: Option<Interval>,
    /// Whether it was kept.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Whether a promise was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It was.
    Held,
    /// It was not.
    Broken,
    /// The run cannot tell.
    NotJudgeable {
        /// Why not.
        why: Why,
    },
}

impl Judgement {
    /// A promise about what was not measured at all.
    #[must_use]
    pub(crate) fn of_nothing(check: &Check) -> Self {
        Self { check: check.clone(), measured: None, interval: None, verdict: Verdict::NotJudgeable { why: Why::Nothing } }
    }

    /// What was measured and what follows, after the check's own words: `12.3 ms`, `not judgeable: …`.
    #[must_use]
    pub fn about(&self) -> String {
        let measured = match (self.measured, self.check.figure) {
            (Some(CheckFigure::Never), Figure::Time(_, Statistic::Quantile(percentile))) => {
                let beyond = percent(((100.0 - percentile) * 1e6).round() / 1e6);
                let what = self.check.part().filter(|part| part.is_of_several()).map_or("request", LoadPart::kind);
                format!("more than {beyond} % of {what}s failed, and a failed {what} counts as infinitely slow")
            }
            (measured, _) => measured.map_or_else(String::new, |measured| measured.to_string()),
        };
        match &self.verdict {
            Verdict::Held | Verdict::Broken => measured,
            Verdict::NotJudgeable { why } if measured.is_empty() => why.to_string(),
            Verdict::NotJudgeable { why } => format!("{measured}, but {why}"),
        }
    }
}

impl Verdict {
    /// In a word or two.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Broken => "FAILED",
            Self::NotJudgeable { .. } => "not judgeable",
        }
    }

    const fn of(holds: bool) -> Self {
        if holds { Self::Held } else { Self::Broken }
    }
}

/// The figure that a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "kind", content = "value", rename_all = "snake_case")]
pub enum CheckFigure {
    /// Nanoseconds.
    Time(Nanos),
    /// The quantile lies among the requests that failed: no time was long enough.
    Never,
    /// Between these, because failed requests cannot be told from good ones.
    Between(Nanos, Nanos),
    /// Answers a second that succeeded.
    PerSecond(f64),
    /// Hits of all requests that fell due.
    Share(Share),
}

/// In words that follow "it was": `12.3 ms`, `3.2 %`.
impl fmt::Display for CheckFigure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let long = |span: Nanos| if span == Nanos::NEVER { "never".to_owned() } else { time(span.0 as f64) };
        match self {
            Self::Time(span) => f.write_str(&time(span.0 as f64)),
            Self::Never => f.write_str("a request failed, and a failed request counts as infinitely slow"),
            Self::Between(low, high) => write!(f, "between {} and {}", long(*low), long(*high)),
            Self::PerSecond(rate) => write!(f, "{}/s", figure(*rate)),
            // With digits enough to tell it from a limit: 0.105 % is not 0.1 %.
            Self::Share(share) => write!(f, "{} of {}, {} %", count(share.hits), count(share.of), figure(share.value() * 100.0)),
        }
    }
}

/// Why a run cannot tell whether a promise was kept. Completes "not judgeable: …".
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Why {
    /// Nothing was measured.
    Nothing,
    /// Too few requests beyond the quantile, and no clear case either.
    TooFewSamples {
        /// How many requests there were.
        samples: u64,
        /// How many the quantile needs.
        wanted: u64,
        /// How much longer to run at this rate.
        more_seconds: f64,
    },
    /// The failed requests of this span are among its times and cannot be told apart; the answer depends on which they are.
    FailuresWithin,
    /// Without loadline's own delays it would hold.
    OwnDelay,
    /// The figures are loadline's own ([`crate::Standing::Invalid`]), whatever they are.
    Invalid,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing of it was measured"),
            Self::TooFewSamples { samples, wanted, more_seconds } => {
                let (samples, wanted) = (count(*samples), count(*wanted));
                write!(
                    f,
                    "{samples} requests, where {wanted} are needed; run it {} longer",
                    length(Nanos::from_secs(more_seconds.ceil() as u64))
                )
            }
            Self::FailuresWithin => f.write_str("it depends on which of these times belong to failed requests"),
            Self::OwnDelay => {
                f.write_str("loadline itself was late by so much that it would hold otherwise: run it again on a quieter machine")
            }
            Self::Invalid => f.write_str("the run is INVALID"),
        }
    }
}

/// Holds every check against a finished run.
#[must_use]
pub fn judge(checks: &[Check], run: &Summary) -> Vec<Judgement> {
    checks.iter().map(|check| check.judge(run)).collect()
}

impl Check {
    fn judge(&self, run: &Summary) -> Judgement {
        let judged = |measured, verdict| Judgement { check: self.clone(), measured, interval: None, verdict };
        let nothing = || judged(None, Verdict::NotJudgeable { why: Why::Nothing });
        let Some(of) = part::Measurements::of(self.part.as_ref(), run) else { return nothing() };
        let due = of.due;
        let hits = match self.figure {
            Figure::Time(span, statistic) => {
                let times = of.times(span);
                let Limit::Time(limit) = self.limit else { return nothing() };
                if times.all == 0 {
                    return nothing();
                }
                let (low, high) = match statistic {
                    Statistic::Quantile(percent) => {
                        let q = percent / 100.0;
                        let bounds = times.quantile(q);
                        if !quantile_is_known(times.all, q) {
                            return judged(measured(bounds), self.by_count(&times, q, limit, run.duration_s));
                        }
                        bounds
                    }
                    Statistic::Max => times.quantile(1.0),
                    Statistic::Mean => times.mean(run.plan.connection().timeout),
                };
                let verdict = match self.between(low, high, limit) {
                    Verdict::Broken if self.is_broken_by_loadline(run, limit) => Verdict::NotJudgeable { why: Why::OwnDelay },
                    verdict => verdict,
                };
                return judged(measured((low, high)), verdict);
            }
            Figure::Qps => {
                let Limit::PerSecond(limit) = self.limit else { return nothing() };
                if run.duration_s <= 0.0 {
                    return nothing();
                }
                return judged(Some(CheckFigure::PerSecond(of.qps)), Verdict::of(self.comparison.holds(of.qps, limit)));
            }
            Figure::Tps => {
                let (Limit::PerSecond(limit), Some(tps)) = (self.limit, of.tps) else { return nothing() };
                return judged(Some(CheckFigure::PerSecond(tps)), Verdict::of(self.comparison.holds(tps, limit)));
            }
            Figure::Failed => of.failed,
            Figure::Unsent => run.requests.unsent,
            Figure::Status(status) => run.status.get(&status).copied().unwrap_or(0),
            Figure::StatusClass(digit) => run.status.range(digit * 100..(digit + 1) * 100).map(|(_, count)| count).sum(),
        };
        if due == 0 {
            return nothing();
        }
        let share = Share { hits, of: due };
        Judgement {
            interval: Some(share.interval(CONFIDENCE)),
            ..judged(Some(CheckFigure::Share(share)), Verdict::of(self.holds_for(share)))
        }
    }

    /// Whether a time of the whole load would have kept the limit without what loadline's own delays added, as far as those are known.
    fn is_broken_by_loadline(&self, run: &Summary, limit: Nanos) -> bool {
        let q = match self.figure {
            Figure::Time(Span::Response, Statistic::Quantile(percent)) => percent / 100.0,
            Figure::Time(Span::Response, Statistic::Max) => 1.0,
            _ => return false,
        };
        let all_well = run.requests.succeeded == run.requests.due;
        let without = || run.quantile_without_own_delay(q).is_some_and(|time| self.comparison.holds(time.0, limit.0));
        self.part.is_none() && all_well && !run.own_delay.is_empty() && without()
    }

    fn holds_for(&self, share: Share) -> bool {
        match self.limit {
            // Multiplied out, so that 1 of 1,000 is exactly 0.1 %.
            Limit::Percent(percent) => self.comparison.holds(share.hits as f64 * 100.0, percent * share.of as f64),
            Limit::Count(count) => self.comparison.holds(share.hits, count),
            Limit::Time(_) | Limit::PerSecond(_) => false,
        }
    }

    /// The verdict on a figure between `low` and `high`, where `None` is longer than any time.
    fn between(&self, low: Option<Nanos>, high: Option<Nanos>, limit: Nanos) -> Verdict {
        let holds = |figure: Option<Nanos>| self.comparison.holds(figure.map_or(u128::MAX, |time| time.0.into()), limit.0.into());
        if holds(low) == holds(high) { Verdict::of(holds(low)) } else { Verdict::NotJudgeable { why: Why::FailuresWithin } }
    }

    /// With too few requests to go by the figure itself: what the number of slower ones proves.
    fn by_count(&self, times: &Times<'_>, q: f64, limit: Nanos, seconds: f64) -> Verdict {
        let (fewest, most) = times.slower(limit, self.comparison);
        let chance = (1.0 - CONFIDENCE) / 2.0;
        let surely_fast = binomial_at_most(most, times.all, 1.0 - q) <= chance;
        let surely_slow = binomial_at_least(fewest, times.all, 1.0 - q) <= chance;
        if surely_fast || surely_slow {
            return Verdict::of(surely_fast == self.comparison.wants_little());
        }
        let wanted = TAIL_MIN / (1.0 - q);
        let more_seconds = seconds * (wanted / times.all as f64 - 1.0);
        Verdict::NotJudgeable { why: Why::TooFewSamples { samples: times.all, wanted: wanted.round() as u64, more_seconds } }
    }
}

fn measured((low, high): (Option<Nanos>, Option<Nanos>)) -> Option<CheckFigure> {
    match (low, high) {
        (Some(low), Some(high)) if low == high => Some(CheckFigure::Time(low)),
        (Some(low), Some(high)) => Some(CheckFigure::Between(low, high)),
        (Some(low), None) => Some(CheckFigure::Between(low, Nanos::NEVER)),
        _ => Some(CheckFigure::Never),
    }
}

/// Times of `all` requests, of which `good` succeeded; the histogram may hold times of failed ones too.
#[derive(Clone)]
struct Times<'a> {
    histogram: Cow<'a, Histogram>,
    good: u64,
    all: u64,
}

impl<'a> Times<'a> {
    fn of(run: &'a Summary, span: Span) -> Self {
        let due = run.requests.due;
        let mixed = |histogram: &'a Histogram| Self {
            histogram: Cow::Borrowed(histogram),
            good: run.requests.succeeded.min(histogram.count()),
            all: due,
        };
        let pure = |histogram: &'a Histogram, never: u64| Self {
            histogram: Cow::Borrowed(histogram),
            good: histogram.count(),
            all: histogram.count() + never,
        };
        match span {
            Span::Response => {
                let histogram = &run.response_time_succeeded;
                Self { histogram: Cow::Borrowed(histogram), good: histogram.count(), all: due }
            }
            Span::Service => mixed(&run.service_time),
            Span::FirstByte => mixed(&run.ttfb),
            Span::Wait => pure(&run.wait, run.requests.unsent),
            Span::Connect => pure(&run.connect, 0),
            Span::Tls => pure(&run.tls, 0),
            Span::BetweenMessages => match run.websockets.as_deref() {
                Some(websockets) => pure(&websockets.between_messages, 0),
                None => Self { histogram: Cow::Owned(Histogram::new()), good: 0, all: 0 },
            },
            Span::FirstEvent | Span::BetweenEvents | Span::TimePerToken => {
                Self::of_streams(run.streams.as_deref(), span, (due, run.requests.failed + run.requests.unsent))
            }
        }
    }

    /// Times of events of answers, of which the requests that failed may have had none.
    fn of_streams(row: Option<&'a StreamRow>, span: Span, (due, failed): (u64, u64)) -> Self {
        let histogram = row.and_then(|row| match span {
            Span::FirstEvent => Some(&row.first_event),
            Span::TimePerToken => row.tokens.as_ref().map(|tokens| &tokens.time_per_token),
            _ => Some(&row.between_events),
        });
        let Some(histogram) = histogram else { return Self { histogram: Cow::Owned(Histogram::new()), good: 0, all: 0 } };
        let good = histogram.count();
        let never = if span == Span::FirstEvent { failed.min(due.saturating_sub(good)) } else { 0 };
        Self { histogram: Cow::Borrowed(histogram), good, all: good + never }
    }

    /// Times of failed requests within the histogram.
    fn mixed_in(&self) -> u64 {
        self.histogram.count() - self.good
    }

    /// The quantile with failed requests as never answered: the least and the greatest it can be.
    fn quantile(&self, q: f64) -> (Option<Nanos>, Option<Nanos>) {
        let rank = rank_of(q, self.all);
        if rank > self.good {
            return (None, None);
        }
        // At one extreme the failed requests were the slowest in the histogram, at the other the fastest.
        (self.histogram.at_rank(rank), self.histogram.at_rank(rank + self.mixed_in()))
    }

    /// The mean with failed requests at their `timeout`: the least and the greatest it can be.
    fn mean(&self, timeout: Nanos) -> (Option<Nanos>, Option<Nanos>) {
        let never = (self.all - self.good) as f64 * timeout.0 as f64;
        let (low, high) = if self.mixed_in() == 0 {
            (self.histogram.sum() as f64, self.histogram.sum() as f64)
        } else {
            (sum_of(self.histogram.recorded(), self.good), {
                let mut slowest: Vec<_> = self.histogram.recorded().collect();
                slowest.reverse();
                sum_of(slowest.into_iter(), self.good)
            })
        };
        let mean = |sum: f64| Some(Nanos(((sum + never) / self.all as f64).round() as u64));
        (mean(low), mean(high))
    }

    /// How many of all do not keep below `limit`: at least and at most.
    fn slower(&self, limit: Nanos, comparison: Comparison) -> (u64, u64) {
        let strict = matches!(comparison, Comparison::Below | Comparison::AtLeast);
        let fast = self.histogram.count_where(|time| time < limit || (!strict && time == limit));
        let (fast_most, fast_fewest) = (fast.min(self.good), fast.saturating_sub(self.mixed_in()));
        (self.all - fast_most, self.all - fast_fewest)
    }
}

fn sum_of(buckets: impl Iterator<Item = (Nanos, u64)>, count: u64) -> f64 {
    let mut left = count;
    let mut sum = 0.0;
    for (time, count) in buckets {
        let taken = count.min(left);
        sum += time.0 as f64 * taken as f64;
        left -= taken;
    }
    sum
}

/// When to give up during a run: `failed > 50% for 5s`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct AbortRule {
    when: Check,
    lasting: Nanos,
}

impl fmt::Display for AbortRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.when.fmt(f)?;
        if self.lasting > Nanos::ZERO { write!(f, " for {}", self.lasting) } else { Ok(()) }
    }
}

impl FromStr for AbortRule {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<Self, CheckError> {
        let (end, lasting) = match text.find(" for ") {
            None => (text.len(), Nanos::ZERO),
            Some(at) => {
                let part = Part::new(text, at + " for ".len(), text.len());
                let lasting = part.text().parse().map_err(|_| part.wrong(format!("'{}' is not a time such as 5s", part.text())))?;
                (at, lasting)
            }
        };
        let when = Check::read(text, end)?;
        let seen =
            when.part.is_none() && matches!(when.figure, Figure::Time(Span::Response, _) | Figure::Qps | Figure::Failed | Figure::Unsent);
        if seen {
            Ok(Self { when, lasting })
        } else {
            let about = Part::new(text, 0, text[..end].rfind(SIGNS).map_or(end, |last| text[..=last].trim_end_matches(SIGNS).len()));
            Err(about.wrong(format!(
                "'{}' is known only at the end; during a run, watch a response time such as p99, qps, failed or unsent",
                about.text()
            )))
        }
    }
}

impl From<AbortRule> for String {
    fn from(rule: AbortRule) -> Self {
        rule.to_string()
    }
}

impl TryFrom<String> for AbortRule {
    type Error = CheckError;

    fn try_from(text: String) -> Result<Self, CheckError> {
        text.parse()
    }
}

/// Watches the ticks of a run for an [`AbortRule`].
#[derive(Debug, Clone)]
pub struct AbortWatch {
    rule: AbortRule,
    since: Option<Nanos>,
}

impl AbortWatch {
    /// From the beginning of a run.
    #[must_use]
    pub const fn new(rule: AbortRule) -> Self {
        Self { rule, since: None }
    }

    /// Takes the next tick. True once the condition has held in every tick for as long as the rule says; ticks of the warm-up
    /// do not count, and one in which nothing ended neither begins such a time nor ends it (a hung server must not hide).
    pub fn tick(&mut self, tick: &Tick) -> bool {
        if tick.warmup {
            return false;
        }
        match self.rule.when.during(tick) {
            Some(true) => {
                let since = *self.since.get_or_insert(tick.from);
                tick.to.since(since) >= self.rule.lasting
            }
            Some(false) => {
                self.since = None;
                false
            }
            None => false,
        }
    }
}

impl Check {
    /// Whether the condition surely holds in this interval; `None` if there is nothing to go by.
    fn during(&self, tick: &Tick) -> Option<bool> {
        let ended = tick.succeeded + tick.failed + tick.unsent;
        match (self.figure, self.limit) {
            (Figure::Qps, Limit::PerSecond(limit)) => {
                let seconds = tick.to.since(tick.from).as_secs_f64();
                (seconds > 0.0).then(|| self.comparison.holds(tick.succeeded as f64 / seconds, limit))
            }
            _ if ended == 0 => None,
            (Figure::Failed, _) => Some(self.holds_for(Share { hits: tick.failed + tick.unsent, of: ended })),
            (Figure::Unsent, _) => Some(self.holds_for(Share { hits: tick.unsent, of: ended })),
            (Figure::Time(Span::Response, statistic), Limit::Time(limit)) => {
                let histogram = tick.response_time.unpack().ok()?;
                let times = Times { good: tick.succeeded.min(histogram.count()), all: ended, histogram: Cow::Borrowed(&histogram) };
                let (low, high) = match statistic {
                    Statistic::Quantile(percent) => times.quantile(percent / 100.0),
                    Statistic::Max => times.quantile(1.0),
                    // What failed fast took at least as long as the slowest that did not.
                    Statistic::Mean => times.mean(histogram.max().unwrap_or_default()),
                };
                Some(self.between(low, high, limit) == Verdict::Held)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;
    use proptest::prelude::*;

    fn check(text: &str) -> Check {
        text.parse().unwrap_or_else(|why| panic!("{text}: {why}"))
    }

    fn run(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(known, _)| *known == name).unwrap().1
    }

    fn verdict(text: &str, run: &Summary) -> Verdict {
        judge(&[check(text)], run).remove(0).verdict
    }

    /// `good` answers after 10 ms and `bad` failures after 1 ms.
    fn fast_failures(good: u64, bad: u64) -> Summary {
        let mut summary = run("a_single_request");
        let run = summary.edit_for_test();
        for histogram in [&mut run.response_time, &mut run.response_time_succeeded, &mut run.service_time, &mut run.ttfb] {
            *histogram = Histogram::new();
            (0..good).for_each(|_| histogram.record(Nanos::from_millis(10)));
        }
        for histogram in [&mut run.response_time, &mut run.service_time, &mut run.ttfb] {
            (0..bad).for_each(|_| histogram.record(Nanos::from_millis(1)));
        }
        (run.requests.due, run.requests.succeeded, run.requests.failed) = (good + bad, good, bad);
        run.status = [(200, good), (503, bad)].into();
        (run.duration_s, run.qps, run.qps_succeeded) = (10.0, (good + bad) as f64 / 10.0, good as f64 / 10.0);
        run.timeline.clear();
        summary
    }

    #[test]
    fn checks_print_as_they_are_written() {
        for text in [
            "p99 < 200ms",
            "p99.9 <= 1s500ms",
            "failed < 0.1%",
            "failed <= 0",
            "qps > 5000",
            "service_time p95 < 50ms",
            "status 503 < 1%",
            "status 5xx <= 3",
            "status 2xx >= 99.5%",
            "first_byte mean <= 20ms",
            "max < 2s",
            "unsent < 1%",
            "wait p50 < 1ms",
            "connect p90 < 5ms",
            "tls max < 1s",
            "tps > 5",
            "status 5xx == 0",
            "failed == 0",
            "step login p95 < 100ms",
            "step GET /search?q=<a> p95 < 100ms",
            "step log in and out failed < 1%",
            "journey buy failed < 1%",
            "journey buy tps > 2.5",
            "url /a?b=c qps > 100",
            "first_event p95 < 800ms",
            "between_events p99 < 100ms",
            "time_per_token p50 < 30ms",
            "step log in first_event p95 < 800ms",
            "url /a between_events max < 1s",
        ] {
            assert_eq!(check(text).to_string(), text);
        }
    }

    #[test]
    fn checks_are_read_as_people_write_them() {
        for (text, printed) in [
            ("p99<200ms", "p99 < 200ms"),
            ("  response_time.p50  >=  1500us ", "p50 >= 1ms500us"),
            ("qps > 5k", "qps > 5000"),
            ("qps>5000/s", "qps > 5000"),
            ("failed < .5 %", ""),
            ("failed < 0.5 %", "failed < 0.5%"),
            ("ttfb.p95 < 20ms", "first_byte p95 < 20ms"),
            ("connect.p99 < 5ms", "connect p99 < 5ms"),
            ("status.429 < 1%", "status 429 < 1%"),
            ("status.5xx==0", "status 5xx == 0"),
            ("step  login  p95<1s", "step login p95 < 1s"),
            ("first-event p95 < 800ms", "first_event p95 < 800ms"),
            ("ttft.p95 < 800ms", "first_event p95 < 800ms"),
            ("between-events p99 < 100ms", "between_events p99 < 100ms"),
            ("itl max < 1s", "between_events max < 1s"),
            ("tpot.p50 < 30ms", "time_per_token p50 < 30ms"),
            ("step  log in  ttft  p95<1s", "step log in first_event p95 < 1s"),
            ("step ask first-event.p95 < 1s", "step ask first_event p95 < 1s"),
        ] {
            match text.parse::<Check>() {
                Ok(check) => assert_eq!(check.to_string(), printed),
                Err(_) => assert_eq!(printed, "", "{text}"),
            }
        }
    }

    #[test]
    fn a_mistake_has_a_caret_under_it() {
        for (text, column, says) in [
            ("p99 < 200mz", 7, "is not a time"),
            ("p99 < 200", 7, "of what?"),
            ("p99 < ", 7, "missing"),
            ("p99", 4, "needs <"),
            ("", 1, "empty"),
            ("   ", 4, "empty"),
            ("p99 = 200ms", 5, "compares with"),
            ("p99 => 200ms", 5, "compares with"),
            ("p99 != 200ms", 5, "compares with"),
            ("p100 < 1s", 1, "between p0 and p100"),
            ("ttfb.p0 < 1s", 6, "between p0 and p100"),
            ("ttfb.median < 1s", 6, "percentile such as"),
            ("latency.p99 < 1s", 1, "'latency' is not measured: here it is called p95 or mean"),
            ("errors < 1%", 1, "called failed"),
            ("latency < 200ms", 1, "called p95 or mean"),
            ("p99<200ms and failed<1%", 11, "two promises in one"),
            ("p99 < 200ms, failed < 1%", 12, "two promises in one"),
            ("p99 == 200ms", 5, "compares with"),
            ("step p95 < 1s", 1, "the name of a step"),
            ("step login unsent < 1s", 12, "of a step, a check takes"),
            ("journey buy qps > 1", 13, "of a journey, a check takes"),
            ("url /a first_byte < 1s", 8, "'first_byte' is a time with many values"),
            ("ttfb < 1s", 1, "write ttfb p95 or ttfb mean"),
            ("speed > 3", 1, "'speed' is not measured"),
            ("< 200ms", 1, "begins with"),
            ("status.900 < 1%", 8, "100 to 599"),
            ("status.6xx < 1%", 8, "100 to 599"),
            ("failed < 1ms", 10, "not a share"),
            ("failed < 101%", 10, "not a share"),
            ("failed < -1%", 10, "not a share"),
            ("qps > fast", 7, "not a rate"),
            ("qps > inf", 7, "not a rate"),
            ("größe.p99 < 1s", 1, "'größe' is not measured"),
            ("failed < 0%", 1, "no run can keep it"),
            ("qps >= 0", 1, "no run can break it"),
        ] {
            let error = text.parse::<Check>().expect_err(text);
            assert_eq!(error.column(), column, "{error}");
            assert!(error.message().contains(says), "{text}: {error}");
        }
        assert_eq!(
            "p99 < 200mz".parse::<Check>().unwrap_err().to_string(),
            "'200mz' is not a time with its unit, such as 200ms\n  p99 < 200mz\n        ^^^^^"
        );
    }

    #[test]
    fn a_fast_failure_does_not_improve_a_percentile() {
        let run = fast_failures(9_000, 1_000);
        assert!(run.response_time.quantile(0.05).unwrap() < Nanos::from_millis(2));
        assert_eq!(verdict("p89 < 11ms", &run), Verdict::Held);
        assert_eq!(verdict("p91 < 11ms", &run), Verdict::Broken);
        assert_eq!(judge(&[check("p99 < 1h")], &run)[0].measured, Some(CheckFigure::Never));
        assert_eq!(verdict("p5 > 5ms", &run), Verdict::Held);
        // The mean counts a failure as long as its timeout, 30 s by default or longer.
        assert_eq!(verdict("mean < 1s", &run), Verdict::Broken);
        assert_eq!(verdict("qps > 950", &run), Verdict::Broken);
        assert_eq!(verdict("max < 1h", &run), Verdict::Broken);
    }

    #[test]
    fn failures_that_cannot_be_told_apart_leave_a_doubt_only_where_they_decide() {
        let mut run = fast_failures(8_000, 1_000);
        // Of the good ones an eighth took 100 ms: p85 of all due is 10 ms or 100 ms, as the failures are the fast or slow ones.
        (0..1_000).for_each(|_| run.edit_for_test().service_time.record(Nanos::from_millis(100)));
        let record = run.edit_for_test();
        (record.requests.due, record.requests.succeeded) = (10_000, 9_000);
        assert_eq!(verdict("service_time.p85 < 50ms", &run), Verdict::NotJudgeable { why: Why::FailuresWithin });
        assert_eq!(verdict("service_time.p85 < 200ms", &run), Verdict::Held);
        assert_eq!(verdict("service_time.p50 < 50ms", &run), Verdict::Held);
        assert_eq!(verdict("service_time.p95 < 1h", &run), Verdict::Broken);
    }

    #[test]
    fn a_share_counts_all_that_fell_due() {
        let run = fast_failures(999, 1);
        assert_eq!(verdict("failed < 0.1%", &run), Verdict::Broken);
        assert_eq!(verdict("failed <= 0.1%", &run), Verdict::Held);
        assert_eq!(verdict("failed < 2", &run), Verdict::Held);
        assert_eq!(verdict("status.503 < 1%", &run), Verdict::Held);
        assert_eq!(verdict("status.5xx <= 0", &run), Verdict::Broken);
        assert_eq!(verdict("status.2xx >= 99.9%", &run), Verdict::Held);
        assert_eq!(verdict("status.404 <= 0", &run), Verdict::Held);
        let judgement = judge(&[check("failed < 0.1%")], &run).remove(0);
        assert!(judgement.interval.unwrap().contains(0.001));
        assert_eq!(judgement.measured, Some(CheckFigure::Share(Share { hits: 1, of: 1_000 })));
    }

    #[test]
    fn too_few_samples_are_judged_only_in_clear_cases() {
        // Ten beyond p99 need a thousand; 400 of which none is slow are still clear, 300 are not.
        assert_eq!(verdict("p99 < 20ms", &fast_failures(1_000, 0)), Verdict::Held);
        assert_eq!(verdict("p99 < 20ms", &fast_failures(400, 0)), Verdict::Held);
        let Verdict::NotJudgeable { why: why @ Why::TooFewSamples { more_seconds, .. } } = verdict("p99 < 20ms", &fast_failures(300, 0))
        else {
            panic!()
        };
        assert!((more_seconds - 10.0 * (1_000.0 / 300.0 - 1.0)).abs() < 1e-6);
        assert_eq!(why.to_string(), "300 requests, where 1,000 are needed; run it 24 s longer");
        // A run in which everything fails is broken, however short.
        assert_eq!(verdict("p99 < 20ms", &fast_failures(0, 3)), Verdict::Broken);
        assert_eq!(verdict("p99 < 20ms", &fast_failures(250, 50)), Verdict::Broken);
        assert_eq!(verdict("p99 > 20ms", &fast_failures(250, 50)), Verdict::Held);
    }

    #[test]
    fn several_runs_are_judged_by_all_their_requests() {
        let (fine, slow) = (fast_failures(900, 0), fast_failures(90, 10));
        let all = Summary::together(&[&fine, &slow, &fine]).unwrap();
        assert_eq!((all.requests.due, all.requests.failed, all.status[&503], all.response_time.count()), (1_900, 10, 10, 1_900));
        assert!((all.qps_succeeded - 1_890.0 / 30.0).abs() < 1e-9, "{}", all.qps_succeeded);
        // One run of the three alone breaks it; what was promised is about the side.
        assert_eq!((verdict("failed < 1%", &slow), verdict("failed < 1%", &all)), (Verdict::Broken, Verdict::Held));
        assert_eq!(Summary::together(&[]), None);
    }

    #[test]
    fn nothing_measured_is_neither_held_nor_broken() {
        let mut run = fast_failures(0, 0);
        for text in ["p99 < 1s", "failed < 1%", "mean < 1s", "tls.p99 < 1s"] {
            assert_eq!(verdict(text, &run), Verdict::NotJudgeable { why: Why::Nothing }, "{text}");
        }
        run.edit_for_test().duration_s = 0.0;
        assert_eq!(verdict("qps > 1", &run), Verdict::NotJudgeable { why: Why::Nothing });
    }

    #[test]
    fn every_fixture_can_be_judged() {
        let checks: Vec<Check> = ["p50 < 20ms", "p99.9 < 1s", "failed < 1%", "ttfb.mean < 1s", "wait.p99 < 1ms"].map(check).to_vec();
        for (name, run) in fixtures::summaries() {
            let judgements = judge(&checks, &run);
            assert_eq!(judgements.len(), checks.len(), "{name}");
            if name == "closed_all_well" {
                assert!(judgements.iter().all(|judgement| judgement.verdict == Verdict::Held), "{judgements:?}");
            }
            if name == "nothing_answered" {
                assert_eq!(judgements[0].verdict, Verdict::Broken);
            }
        }
        assert_eq!(verdict("p99 < 100ms", &run("open_with_a_stall")), Verdict::Broken, "a second of 20 stands still");
    }

    fn tick(second: u64, succeeded: u64, failed: u64) -> Tick {
        let mut tick = run("a_single_request").timeline[0].clone();
        let mut times = Histogram::new();
        (0..succeeded).for_each(|_| times.record(Nanos::from_millis(10)));
        (tick.from, tick.to) = (Nanos::from_secs(second), Nanos::from_secs(second + 1));
        (tick.succeeded, tick.failed, tick.unsent, tick.response_time) = (succeeded, failed, 0, times.pack());
        tick
    }

    fn aborts_at(rule: &str, ticks: &[Tick]) -> Option<usize> {
        let mut watch = AbortWatch::new(rule.parse().unwrap_or_else(|why| panic!("{why}")));
        ticks.iter().position(|tick| watch.tick(tick))
    }

    #[test]
    fn a_run_is_given_up_after_as_long_as_the_rule_says() {
        let mut ticks: Vec<Tick> = (0..20).map(|second| tick(second, 10, if second < 6 { 0 } else { 90 })).collect();
        assert_eq!(aborts_at("failed > 50% for 5s", &ticks), Some(10));
        assert_eq!(aborts_at("failed > 50%", &ticks), Some(6));
        assert_eq!(aborts_at("failed > 95% for 5s", &ticks), None);
        assert_eq!(aborts_at("qps < 11 for 3s", &ticks), Some(2));
        assert_eq!(aborts_at("p99 > 1s for 3s", &ticks), Some(8), "failed requests are never answered");
        assert_eq!(aborts_at("p5 > 1s for 3s", &ticks), None);
        // One good second begins the count anew; one in which nothing ended does not.
        ticks[8] = tick(8, 100, 0);
        assert_eq!(aborts_at("failed > 50% for 5s", &ticks), Some(13));
        ticks[8] = tick(8, 0, 0);
        assert_eq!(aborts_at("failed > 50% for 5s", &ticks), Some(10));
        ticks[6].warmup = true;
        assert_eq!(aborts_at("failed > 50% for 5s", &ticks), Some(11));
    }

    #[test]
    fn abort_rules_read_back_and_point_at_mistakes() {
        for text in ["failed > 50% for 5s", "p99 > 2s", "qps < 10 for 1m"] {
            assert_eq!(text.parse::<AbortRule>().unwrap().to_string(), text);
        }
        for (text, column) in
            [("failed > 50% for ever", 18), ("status.503 > 50% for 5s", 1), ("failed >> 50% for 5s", 8), ("failed > 50 % of 5s", 10)]
        {
            let error = text.parse::<AbortRule>().expect_err(text);
            assert_eq!(error.column(), column, "{error}");
        }
    }

    #[test]
    fn a_judgement_is_written_with_its_reason() {
        let checks = ["p99 < 20ms", "failed < 1%", "p50 < 5ms"].map(check);
        let got = serde_json::to_value(judge(&checks, &fast_failures(300, 0))).unwrap();
        assert_eq!(got[0]["check"], "p99 < 20ms");
        assert_eq!(got[0]["why"]["samples"], 300);
        assert_eq!((&got[1]["verdict"], &got[1]["measured"]["value"]["of"]), (&"held".into(), &300.into()));
        assert_eq!((&got[2]["verdict"], &got[2]["measured"]["kind"]), (&"broken".into(), &"time".into()));
    }

    #[test]
    fn checks_travel_as_text() {
        let json = serde_json::to_string(&check("p99<200ms")).unwrap();
        assert_eq!(json, "\"p99 < 200ms\"");
        assert_eq!(serde_json::from_str::<Check>(&json).unwrap(), check("p99 < 200ms"));
        assert!(serde_json::from_str::<Check>("\"p99\"").is_err());
    }

    fn any_check() -> impl Strategy<Value = Check> {
        let span = prop::sample::select(SPANS.map(|(_, span)| span).to_vec());
        let statistic =
            prop_oneof![(1u32..99_999).prop_map(|k| Statistic::Quantile(f64::from(k) / 1e3)), Just(Statistic::Mean), Just(Statistic::Max)];
        let comparison = prop::sample::select(vec![Comparison::Below, Comparison::AtMost, Comparison::Above, Comparison::AtLeast]);
        let counted = prop_oneof![
            Just(Figure::Failed),
            Just(Figure::Unsent),
            (100u16..600).prop_map(Figure::Status),
            (1u16..6).prop_map(Figure::StatusClass)
        ];
        let share = prop_oneof![(0.001..99.9f64).prop_map(Limit::Percent), (1u64..u64::MAX).prop_map(Limit::Count)];
        let subject = prop_oneof![
            (span, statistic, 1u64..u64::MAX / 2)
                .prop_map(|(span, statistic, time)| (Figure::Time(span, statistic), Limit::Time(Nanos(time)))),
            (0.001..1e12f64).prop_map(|rate| (Figure::Qps, Limit::PerSecond(rate))),
            (counted, share),
        ];
        let part = prop_oneof![
            Just(None),
            "[a-zA-Z/?=<>&.{}-]([a-z /<>=!]{0,8}[a-z])?".prop_map(|name| Some(LoadPart::Step(name))),
            "[a-z ]{0,5}[a-z]".prop_map(|name| Some(LoadPart::Journey(name.trim().to_owned()))),
            "[a-z ]{0,5}[a-z]".prop_map(|name| Some(LoadPart::Transaction(name.trim().to_owned()))),
            "[a-z ]{0,5}[a-z]".prop_map(|name| Some(LoadPart::Population(name.trim().to_owned()))),
            "/[a-z?=]{0,9}".prop_map(|name| Some(LoadPart::Url(name))),
        ];
        (part, subject, comparison).prop_map(|(part, (figure, limit), comparison)| {
            let part = part.filter(|part| part.measures(figure).is_ok());
            Check { part, figure, comparison, limit }
        })
    }

    proptest! {
        #[test]
        fn a_printed_check_reads_back(check in any_check(), lasting in 1u64..1 << 50) {
            prop_assert_eq!(check.to_string().parse::<Check>(), Ok(check.clone()));
            let rule = AbortRule { when: check, lasting: Nanos(lasting) };
            if let Ok(read) = rule.to_string().parse::<AbortRule>() {
                prop_assert_eq!(read, rule);
            }
        }

        #[test]
        fn no_text_brings_the_reader_down(text in "\\PC{0,30}", front in prop::sample::select(vec!["", "p99 <", "failed >", "status.", "qps>", "ttfb."])) {
            let text = format!("{front}{text}");
            if let Err(error) = text.parse::<Check>() {
                prop_assert!(error.column() <= text.chars().count() + 1);
            }
            let _ = text.parse::<AbortRule>();
        }

        #[test]
        fn more_failures_never_mend_a_broken_promise(good in 0u64..3_000, bad in 0u64..300, more in 1u64..300, percent in 1u32..100) {
            let text = format!("p{percent} < 11ms");
            // The same requests, more of them failing.
            let more = more.min(good);
            let (before, after) = (fast_failures(good, bad), fast_failures(good - more, bad + more));
            if verdict(&text, &before) == Verdict::Broken {
                prop_assert_eq!(verdict(&text, &after), Verdict::Broken);
            }
        }
    }
}
