//! What each route does.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use history::{Entry, Filter, HistoryError, Id, Kind, Moment, Reference, Store};
use hyper::StatusCode;
use plan::{Draft, Plan, Spelling};
use report::page::{Point, trend};
use serde::{Deserialize, Serialize};

use crate::answer::{self, Answer, Problem};
use crate::{Backend, Live, NotStarted, Operation, StartTest, State};

/// So many runs are listed at once, unless fewer are asked for.
const LISTED: u32 = 50;
const LISTED_MAX: u32 = 200;
/// A course is drawn a hundred pixels wide.
const COURSE_MAX: usize = 60;
/// So many courses are kept: reading a result again costs milliseconds, and a saved result never changes.
const COURSES_MAX: usize = 2_000;

/// A request that was admitted, taken apart.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) operation: Operation,
    /// What stood in the place of `{run}`.
    pub(crate) run: String,
    pub(crate) query: Query,
    pub(crate) body: Bytes,
}

/// What was asked for after the question mark; whoever reads it takes it, and what is left nobody knows.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn new(text: &str) -> Self {
        Self(url::form_urlencoded::parse(text.as_bytes()).into_owned().collect())
    }

    /// The value of a name that may be there once.
    fn one(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let mut all = self.all(name);
        let last = all.pop();
        if all.is_empty() { Ok(last) } else { Err(Problem::unreadable(format!("'{name}' is given twice"), "give it once")) }
    }

    /// The same, of which an empty one is none: what a form sends that was not filled in.
    fn word(&mut self, name: &str) -> Result<Option<String>, Problem> {
        self.one(name).map(|value| value.filter(|value| !value.is_empty()))
    }

    fn needed(&mut self, name: &str) -> Result<String, Problem> {
        self.word(name)?.ok_or_else(|| Problem::unreadable(format!("'{name}' is missing"), format!("give ?{name}=…")))
    }

    fn all(&mut self, name: &str) -> Vec<String> {
        let (wanted, rest) = std::mem::take(&mut self.0).into_iter().partition(|(key, _)| key == name);
        self.0 = rest;
        wanted.into_iter().map(|(_, value)| value).collect()
    }

    fn number(&mut self, name: &str, most: u32) -> Result<Option<u32>, Problem> {
        let Some(text) = self.one(name)? else { return Ok(None) };
        text.parse()
            .ok()
            .filter(|number| *number <= most)
            .map(Some)
            .ok_or_else(|| Problem::unreadable(format!("'{name}' is '{text}'"), format!("give a whole number from 0 to {most}")))
    }

    fn end(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(Problem::unreadable(format!("'{name}' means nothing here"), "see /api/v1/openapi.json")),
        }
    }
}

/// Answers what concerns saved runs and starting. `courses` is kept between requests.
pub(crate) fn answer(desk: &dyn Backend, live: &Live, courses: &Courses, mut request: Request) -> Result<Answer, Problem> {
    let query = &mut request.query;
    match request.operation {
        Operation::List => {
            let filter = filter(query)?;
            request.query.end()?;
            list(&store(desk)?, &filter)
        }
        Operation::Compare => {
            let (a, b) = (query.needed("a")?, query.needed("b")?);
            request.query.end()?;
            compare(desk, &a, &b)
        }
        Operation::Trend => {
            let name = query.needed("name")?;
            let kind = kind(query)?.unwrap_or(Kind::Run);
            request.query.end()?;
            over_time(&store(desk)?, &name, kind)
        }
        Operation::Agents => {
            request.query.end()?;
            Ok(answer::json(StatusCode::OK, &serde_json::json!({ "agents": desk.agents() })))
        }
        Operation::Check => {
            let test = read(&request.body)?;
            request.query.end()?;
            Ok(answer::json(StatusCode::OK, &desk.check(&test)))
        }
        Operation::Start => {
            let test = read(&request.body)?;
            request.query.end()?;
            start(desk, live, test)
        }
        Operation::Change => {
            let change = read(&request.body)?;
            request.query.end()?;
            changed(&mut store(desk)?, &request.run, change)
        }
        Operation::Remove => {
            request.query.end()?;
            let mut store = store(desk)?;
            let entry = resolved(&store, &request.run)?;
            store.remove(&entry.id).map_err(|error| told(&error))?;
            Ok(answer::json(StatusCode::OK, &entry))
        }
        operation => {
            request.query.end()?;
            one(desk, courses, operation, &request.run)
        }
    }
}

/// Text that is JSON and has no other keys than the known ones.
fn read<T: for<'de> Deserialize<'de>>(body: &Bytes) -> Result<T, Problem> {
    // A list would do as well for what reads it, its values in the order of the keys.
    serde_json::from_slice(body)
        .and_then(object)
        .map_err(|why| Problem::unreadable(format!("what was sent cannot be used: {why}"), "see /api/v1/openapi.json for its keys"))
}

fn object<T: for<'de> Deserialize<'de>>(value: serde_json::Value) -> serde_json::Result<T> {
    if value.is_object() { serde_json::from_value(value) } else { Err(serde::de::Error::custom("it is no object")) }
}

fn store(desk: &dyn Backend) -> Result<Store, Problem> {
    desk.store().map_err(|error| told(&error))
}

/// What is wrong with the history, as an answer.
fn told(error: &HistoryError) -> Problem {
    // Where it is was said on the command line that serves.
    let help = error.help().spelt(Spelling::Flags);
    match error {
        HistoryError::Unknown { .. } | HistoryError::Ambiguous { .. } | HistoryError::NoReference(_) => {
            Problem::missing(error.to_string(), help)
        }
        HistoryError::Damaged { .. } => Problem::impossible(error.to_string(), help),
        _ => Problem::unavailable(error.to_string(), help),
    }
}

fn kind(query: &mut Query) -> Result<Option<Kind>, Problem> {
    let Some(text) = query.one("kind")? else { return Ok(None) };
    let help = "give run, sweep, find or compare";
    text.parse().map(Some).map_err(|why| Problem::unreadable(format!("'kind' is '{text}', which {why}"), help))
}

fn filter(query: &mut Query) -> Result<Filter, Problem> {
    let since = match query.one("since")? {
        None => None,
        Some(text) => {
            let whole = if text.len() == "2026-11-01".len() { format!("{text}T00:00:00Z") } else { text.clone() };
            let moment: Result<Moment, _> = whole.parse();
            Some(moment.map_err(|_| {
                Problem::unreadable(format!("'since' is '{text}'"), "give a date such as 2026-11-01, or a time in RFC 3339")
            })?)
        }
    };
    Ok(Filter {
        text: query.word("q")?,
        name: query.word("name")?,
        tags: query.all("tag").into_iter().filter(|tag| !tag.is_empty()).collect(),
        target: query.word("target")?,
        kind: kind(query)?,
        since,
        revision: query.word("revision")?,
        limit: Some(query.number("limit", LISTED_MAX)?.unwrap_or(LISTED)),
        offset: query.number("offset", u32::MAX)?.unwrap_or(0),
    })
}

#[derive(Serialize)]
struct Listed {
    /// How many the filter lets through.
    total: u64,
    runs: Vec<Entry>,
}

fn list(store: &Store, filter: &Filter) -> Result<Answer, Problem> {
    let runs = store.list(filter).map_err(|error| told(&error))?;
    let total = store.count(filter).map_err(|error| told(&error))?;
    Ok(answer::json(StatusCode::OK, &Listed { total, runs }))
}

#[derive(Serialize)]
struct Known {
    #[serde(flatten)]
    entry: Entry,
    /// What was done, as a draft that does it again.
    plan: serde_json::Value,
}

/// What is said of a load in any case; the rest of a plan may be what every plan has by itself.
const ALWAYS: [&str; 5] = ["url", "connections", "duration", "rate", "requests"];

/// A plan as its user would write it, without what every plan of such a load has by itself.
fn without_defaults(mut plan: serde_json::Value) -> serde_json::Value {
    let Some(settings) = plan.as_object_mut() else { return plan };
    let load = settings.iter().filter(|(key, _)| ALWAYS.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone())).collect();
    let usual = serde_json::from_value::<Draft>(serde_json::Value::Object(load)).ok().and_then(|draft| Plan::try_from(draft).ok());
    let Some(serde_json::Value::Object(usual)) = usual.and_then(|usual| serde_json::to_value(usual).ok()) else { return plan };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    settings.retain(|key, value| match key.as_str() {
        always if ALWAYS.contains(&always) => true,
        "threads" => value.as_u64() != Some(cores),
        _ => usual.get(key) != Some(&*value),
    });
    plan
}

/// What is asked of one saved run.
fn one(desk: &dyn Backend, courses: &Courses, operation: Operation, run: &str) -> Result<Answer, Problem> {
    let store = store(desk)?;
    let entry = resolved(&store, run)?;
    let damaged = |why: String| told(&HistoryError::Damaged { id: entry.short.clone(), why });
    if operation == Operation::Read {
        let plan = store.plan(&entry.id).map_err(|error| told(&error))?;
        let plan = serde_json::from_str(&plan).map_or(serde_json::Value::Null, without_defaults);
        return Ok(answer::json(StatusCode::OK, &Known { entry, plan }));
    }
    if operation == Operation::Course
        && let Some(known) = courses.known(&entry.id)
    {
        return Ok(answer::json_text(StatusCode::OK, known));
    }
    let result = store.result(&entry.id).map_err(|error| told(&error))?;
    match operation {
        Operation::Course => {
            let values = thinned(&desk.course(&result).map_err(damaged)?);
            let bytes = Bytes::from(serde_json::json!({ "values": values }).to_string());
            courses.keep(entry.id, bytes.clone());
            Ok(answer::json_text(StatusCode::OK, bytes))
        }
        Operation::Show => {
            let shown = desk.shown(&result).map_err(damaged)?;
            Ok(answer::json_text(StatusCode::OK, shown.json().to_owned()))
        }
        Operation::Save => {
            let shown = desk.shown(&result).map_err(damaged)?;
            Ok(answer::download(&format!("loadline-{}.html", entry.short), "text/html; charset=utf-8", shown.document()))
        }
        _ => Ok(answer::json_text(StatusCode::OK, result)),
    }
}

fn resolved(store: &Store, run: &str) -> Result<Entry, Problem> {
    let reference: Reference = run.parse().map_err(|error| told(&error))?;
    store.resolve(&reference).map_err(|error| told(&error))
}

/// What is said of a saved run; what is left out stays as it is.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Change {
    name: Option<String>,
    note: Option<String>,
    /// All of them, in the place of those it has.
    tags: Option<Vec<String>>,
    /// Makes it the baseline of its name.
    baseline: Option<bool>,
}

/// Notes and names are words for people; what is longer is a document.
const WORDS_MAX: usize = 10_000;

fn changed(store: &mut Store, run: &str, change: Change) -> Result<Answer, Problem> {
    let Change { name, note, tags, baseline } = change;
    let mut entry = resolved(store, run)?;
    let name = name.map(|name| name.trim().to_owned());
    if name.as_ref().is_some_and(|name| name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control)) {
        return Err(Problem::impossible("a name is 1 to 100 letters, without control characters", "give another name"));
    }
    if note.as_ref().is_some_and(|note| note.len() > WORDS_MAX) {
        return Err(Problem::impossible("the note is longer than 10,000 bytes", "give a shorter one"));
    }
    if baseline == Some(false) {
        return Err(Problem::impossible("a baseline is replaced by another one, and not taken away", "make another run the baseline"));
    }
    if let Some(tags) = tags {
        let gone: Vec<String> = entry.kept.tags.iter().filter(|tag| !tags.contains(tag)).cloned().collect();
        entry = store.tag(&entry.id, &tags, &gone).map_err(|error| impossible(&error))?;
    }
    if let Some(name) = name {
        entry = store.rename(&entry.id, &name).map_err(|error| told(&error))?;
    }
    if let Some(note) = note {
        entry = store.note(&entry.id, &note).map_err(|error| told(&error))?;
    }
    if baseline == Some(true) {
        entry = store.set_baseline(&entry.id).map_err(|error| told(&error))?;
    }
    Ok(answer::json(StatusCode::OK, &entry))
}

/// A word that cannot be a tag is the asker's mistake.
fn impossible(error: &HistoryError) -> Problem {
    match error {
        HistoryError::NoTag(_) => Problem::impossible(error.to_string(), error.help().spelt(Spelling::Flags)),
        other => told(other),
    }
}

/// As many values as are drawn: means of neighbours.
fn thinned(values: &[f64]) -> Vec<f64> {
    let each = values.len().div_ceil(COURSE_MAX).max(1);
    values.chunks(each).map(|some| some.iter().sum::<f64>() / some.len() as f64).map(|mean| (mean * 1e3).round() / 1e3).collect()
}

fn compare(desk: &dyn Backend, a: &str, b: &str) -> Result<Answer, Problem> {
    let store = store(desk)?;
    let side = |run: &str| {
        let entry = resolved(&store, run)?;
        let result = store.result(&entry.id).map_err(|error| told(&error))?;
        Ok::<_, Problem>((format!("{} {}", entry.kept.name, entry.short), result))
    };
    let (a, b) = (side(a)?, side(b)?);
    let shown =
        desk.beside((&a.0, &a.1), (&b.0, &b.1)).map_err(|why| Problem::impossible(why, "choose two runs, two sweeps, or two searches"))?;
    Ok(answer::json_text(StatusCode::OK, shown.json().to_owned()))
}

fn over_time(store: &Store, name: &str, kind: Kind) -> Result<Answer, Problem> {
    let points = store.trend(name, kind).map_err(|error| told(&error))?;
    if points.is_empty() {
        return Err(Problem::missing(format!("no saved {kind} is called '{name}'"), "see what there is with 'loadline runs'"));
    }
    let points: Vec<Point> = points
        .into_iter()
        .map(|point| Point {
            id: point.id.to_string(),
            started: point.started.to_string(),
            revision: point.revision,
            qps: point.figures.qps,
            p50_ns: point.figures.p50_ns,
            p99_ns: point.figures.p99_ns,
            failed_share: point.figures.failed_share,
        })
        .collect();
    Ok(answer::json_text(StatusCode::OK, trend(name, kind.name(), &points).json().to_owned()))
}

fn start(desk: &dyn Backend, live: &Live, test: StartTest) -> Result<Answer, Problem> {
    match desk.start(test, live) {
        Ok(()) => Ok(answer::json(StatusCode::ACCEPTED, &serde_json::json!({ "page": "/live", "stream": "/api/v1/live/stream" }))),
        Err(NotStarted::Mistakes(mistakes)) => Err(Problem::mistaken(mistakes)),
        Err(NotStarted::Busy) => {
            Err(Problem::conflict("a test is under way, and two at once would measure each other", "wait for its end, or stop it"))
        }
        Err(NotStarted::Refused { message, help }) => Err(Problem::forbidden(message, help)),
        Err(NotStarted::Unable { message, help }) => Err(Problem::impossible(message, help)),
    }
}

/// What goes on, in the words of the API.
pub(crate) fn state(live: &Live) -> Answer {
    answer::json(StatusCode::OK, &live.state())
}

/// Ends the run under way.
pub(crate) fn stop(live: &Live) -> Result<Answer, Problem> {
    if live.stop() {
        return Ok(answer::json(StatusCode::ACCEPTED, &live.state()));
    }
    let message = if live.state() == State::Idle { "nothing is under way" } else { "the run has ended already" };
    Err(Problem::conflict(message, "start a test first"))
}

/// Exchanges the token.
pub(crate) fn token_in(body: &Bytes) -> Result<String, Problem> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SignIn {
        token: String,
    }
    read::<SignIn>(body).map(|given| given.token)
}

/// Courses of saved runs that were asked for before.
#[derive(Debug, Default)]
pub(crate) struct Courses(Mutex<HashMap<Id, Bytes>>);

impl Courses {
    fn known(&self, id: &Id) -> Option<Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn keep(&self, id: Id, bytes: Bytes) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= COURSES_MAX {
            all.clear();
        }
        all.insert(id, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_to_its_end() {
        let mut query = Query::new("q=a+b&tag=x&tag=y&name=&kind=sweep&since=2026-11-01");
        let filter = filter(&mut query).unwrap();
        assert_eq!(
            (filter.text.as_deref(), filter.tags.len(), filter.limit, filter.kind),
            (Some("a b"), 2, Some(LISTED), Some(Kind::Sweep))
        );
        assert!(filter.since.is_some() && query.end().is_ok());
        let mut query = Query::new("colour=blue");
        assert!(super::filter(&mut query).is_ok() && query.end().is_err());
        for wrong in ["limit=201", "limit=", "limit=x", "kind=walk", "since=yesterday", "name=a&name=b", "offset=-1"] {
            assert!(super::filter(&mut Query::new(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_plan_is_shown_as_its_user_would_write_it() {
        let draft =
            Draft { url: Some("http://a.test/".to_owned()), connections: "20".parse().ok(), follow: "3".parse().ok(), ..Draft::default() };
        let plan = serde_json::to_value(Plan::try_from(draft).unwrap()).unwrap();
        assert!(plan["header"].is_array() && plan["connect_timeout"].is_string());
        let shown = without_defaults(plan);
        let keys: Vec<&String> = shown.as_object().unwrap().keys().filter(|key| *key != "threads").collect();
        assert_eq!(keys, ["connections", "duration", "follow", "url"], "{shown}");
        assert_eq!(without_defaults(serde_json::Value::Null), serde_json::Value::Null);
    }

    #[test]
    fn a_course_keeps_its_shape_in_few_values() {
        let hour: Vec<f64> = (0..3_600).map(f64::from).collect();
        let few = thinned(&hour);
        assert!(few.len() <= COURSE_MAX && few.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(thinned(&[1.0, 2.0]), [1.0, 2.0]);
        assert!(thinned(&[]).is_empty());
    }
}
