//! Templates as a behaviour of users: each request is written when its turn has come.
//!
//! What a request holds must not depend on who sends it: in closed load the fastest user would else decide which rows are
//! taken, and a run with another number of threads be another run. So a worker numbers its requests as they begin, its numbers
//! are those of its share of the whole run, and chance is drawn anew from the seed and the number. The requests that are
//! sent are the same whatever the threads; only their order on the wire is the load's.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use engine::protocol::{EncodedRef, Layout};
use engine::{Behaviour, BehaviourError, Client, End, Messages, Prepared, Request, RunError, SoFar, Stop, Transport, conclude};
use measure::{Failure, IntervalCounts, Leftovers, Outcome, Recorder, SummaryBuilder, Tally, Tick};
use plan::setting::{DATA_END, MESSAGE};
use plan::{Nanos, Plan, PlanError, PlanErrors, Random, RowOrder, Share, Turns};
use step::Check;

use crate::compiled::{Compiled, Content, compile};
use crate::data::Data;
use crate::expectations::Expectations;
use crate::feed::{Next, Order, Source, waits};
use crate::kept::{UserRows, too_few_rows};
use crate::record::Fields;
use crate::rows::for_users_on_journeys;
use crate::sink::{AllAnswers, AnswerNeeds, AnswerSink};
use crate::witness::{Exchange, Witness};
use crate::write::{Writing, digits, write};

/// Streams of chance from here on belong to requests, by their number.
const REQUESTS: u64 = 1 << 48;

/// Requests that differ, compiled and ready to be sent.
pub struct Ready {
    shared: Arc<Shared>,
}

/// What all workers read.
struct Shared {
    routes: Vec<Compiled>,
    /// Up to which number a draw means each route; empty where they take turns.
    tickets: Vec<u64>,
    files: Vec<Arc<Data>>,
    order: RowOrder,
    orders: Vec<Order>,
    seed: u64,
    /// So many keep a row of their own, where users do.
    users: u64,
    expected: Expectations,
    /// Whether all routes lead to the plan's own server.
    at_home: bool,
}

impl Ready {
    /// Compiles a plan's templates and its list of URLs. `files` are its data files, opened, in its order.
    ///
    /// # Errors
    /// For every column, file and variable that is not there, and if a data file has too few rows.
    pub fn new(plan: &Plan, files: &[Arc<Data>]) -> Result<Self, PlanErrors> {
        let variation = plan.variation();
        let compiled = compile(plan, files);
        let mut errors = PlanErrors::default();
        too_few_rows(plan, files).into_iter().chain(for_users_on_journeys(plan)).for_each(|error| errors.push(error));
        let expected = Expectations::of(plan, &mut errors);
        let routes = match compiled {
            Ok(routes) if errors.is_empty() => routes,
            Ok(_) => return Err(errors),
            Err(mut more) => {
                errors.0.into_iter().for_each(|error| more.push(error));
                return Err(more);
            }
        };
        let tickets = match &variation.mix {
            Some(mix) if mix.turns == Turns::Weighted => mix
                .routes
                .iter()
                .scan(0, |sum, route| {
                    *sum += route.weight;
                    Some(*sum)
                })
                .collect(),
            _ => Vec::new(),
        };
        let order = |(file, data): (u64, &Arc<Data>)| Order {
            order: variation.order,
            end: variation.end_of(file as usize),
            seed: plan.seed(),
            file,
            count: data.count(),
            taken: 0,
        };
        let shared = Shared {
            tickets,
            files: files.to_vec(),
            order: variation.order,
            orders: (0..).zip(files).map(order).collect(),
            seed: plan.seed(),
            users: plan.connections_max().get().into(),
            expected,
            at_home: routes.iter().all(|route| route.target.same_origin(plan.target())),
            routes,
        };
        let ready = Self { shared: Arc::new(shared) };
        // Whether a message fits that is filled in shows when it is.
        let is_filled_in = |route: &Compiled| route.method.is_some() && matches!(route.body, Content::Written(_));
        if ready.shared.routes.iter().any(is_filled_in)
            && let Err(wrong) = ready.preview(1)
        {
            return Err(PlanErrors(vec![PlanError::new(MESSAGE, wrong.message, wrong.help)]));
        }
        Ok(ready)
    }

    /// Carries a prepared plan out with these requests.
    ///
    /// # Errors
    /// If the run cannot go on, with what was measured until then.
    pub fn run(self, prepared: Prepared, watch: &mut dyn FnMut(&Tick, IntervalCounts), stop: &Stop) -> Result<SummaryBuilder, RunError> {
        let plan = prepared.plan().clone();
        conclude(&plan, self.start(prepared, Share::all(plan.threads()), stop)?, &mut |_, _| (), watch)
    }

    /// Starts these shares of a prepared plan with these requests.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn start(self, prepared: Prepared, shares: impl IntoIterator<Item = Share>, stop: &Stop) -> Result<Messages, RunError> {
        let prepared = prepared.portable(SoFar::default());
        prepared.start_with(move |share| TemplateBehaviour::new(self.shared.clone(), share), shares, stop)
    }

    /// Sends the first request of a prepared plan of one request, and tells everything about it.
    ///
    /// # Errors
    /// If it cannot be sent.
    pub fn walk(mut self, prepared: Prepared, stop: &Stop) -> Result<Vec<Exchange>, RunError> {
        let witness = Witness::default();
        let shared = Arc::get_mut(&mut self.shared).expect("nobody has begun with these requests");
        (shared.expected.witness, shared.expected.heard) = (Some(witness.clone()), AnswerNeeds::ALL);
        self.run(prepared, &mut |_, _| {}, stop)?;
        Ok(witness.take())
    }

    /// The first requests of the whole run, as they will be sent.
    ///
    /// # Errors
    /// Why there are no more.
    pub fn preview(&self, count: usize) -> Result<Vec<Vec<u8>>, BehaviourError> {
        let behaviour = TemplateBehaviour::new(self.shared.clone(), Share::WHOLE);
        let mut user = behaviour.user(0);
        let mut requests = Vec::new();
        while requests.len() < count && behaviour.write(&mut user)? {
            if user.is_unsendable && !user.bytes.is_empty() {
                let words = format!("request {}: {}", requests.len() + 1, String::from_utf8_lossy(&user.bytes));
                return Err(BehaviourError::new(words, "mend the message, or the values that are filled into it"));
            }
            if user.is_unsendable {
                return Err(BehaviourError::new(
                    format!("a value for a header of request {} holds a line break or another control character", requests.len() + 1),
                    "mend the row of the data file; {{base64 (NAME.COLUMN)}} writes any bytes",
                ));
            }
            requests.push(user.bytes.clone());
        }
        Ok(requests)
    }
}

/// One worker's requests.
struct TemplateBehaviour {
    shared: Arc<Shared>,
    share: Share,
    /// How many were chosen.
    chosen: Cell<u64>,
    sources: RefCell<Vec<Source>>,
    kept: UserRows,
    checks: Vec<Check>,
    body: RefCell<Vec<u8>>,
    scratch: RefCell<Vec<u8>>,
    answers: AllAnswers,
}

/// A user, or in open load a Lane.
struct User {
    bytes: Vec<u8>,
    layout: Layout,
    route: usize,
    /// The rows it keeps, by data file.
    kept: Vec<Fields>,
    /// Why it has none.
    wrong: Option<String>,
    /// Whether the request at hand holds what no header can, or what does not fit its message: then its bytes are words that say so.
    is_unsendable: bool,
    sink: AnswerSink,
}

impl TemplateBehaviour {
    fn new(shared: Arc<Shared>, share: Share) -> Self {
        let sources = shared.files.iter().zip(&shared.orders).map(|(data, order)| Source::new(data.clone(), *order, share)).collect();
        Self {
            kept: UserRows::new(&shared.files, shared.order, share.into(), shared.users),
            checks: shared.expected.checks(),
            shared,
            share,
            chosen: Cell::new(0),
            sources: RefCell::new(sources),
            body: RefCell::default(),
            scratch: RefCell::default(),
            answers: AllAnswers::default(),
        }
    }

    fn route(&self, number: u64, random: &mut Random) -> usize {
        let Shared { routes, tickets, .. } = &*self.shared;
        match tickets.last() {
            _ if routes.len() == 1 => 0,
            None => (number % routes.len() as u64) as usize,
            Some(sum) => {
                let ticket = random.between(0, sum - 1);
                tickets.partition_point(|up_to| *up_to <= ticket)
            }
        }
    }

    #[cold]
    fn ran_out(&self, file: usize) -> BehaviourError {
        let data = &self.shared.files[file];
        BehaviourError::new(
            format!("the data file {} has run out after {} rows", data.path(), data.count()),
            format!("give it more rows, or {DATA_END:#} wrap, or {DATA_END:#} stop"),
        )
    }
}

#[cold]
fn broken(message: String) -> BehaviourError {
    BehaviourError::new(message, "mend what the message names")
}

impl TemplateBehaviour {
    /// Writes the user's next request; `false` if the rows are over.
    fn write(&self, user: &mut User) -> Result<bool, BehaviourError> {
        if let Some(why) = user.wrong.take() {
            return Err(broken(why));
        }
        let index = self.chosen.get();
        self.chosen.set(index + 1);
        let number = self.share.number(index);
        let mut sources = self.sources.borrow_mut();
        for (file, source) in sources.iter_mut().enumerate() {
            match source.advance(number) {
                Next::Row => {}
                Next::Over | Next::UserOver => return Ok(false),
                Next::RanOut => return Err(self.ran_out(file)),
                Next::Failed(why) => return Err(broken(why)),
            }
        }
        let mut random = Random::new(self.shared.seed, REQUESTS + number);
        user.route = self.route(number, &mut random);
        let route = &self.shared.routes[user.route];
        let (mut scratch, mut is_unsafe) = (self.scratch.borrow_mut(), false);
        let mut writing = Writing {
            number,
            random: &mut random,
            sources: &sources,
            kept: &user.kept,
            variables: &[],
            body: &[],
            scratch: &mut scratch,
            is_unsafe: &mut is_unsafe,
        };
        let mut unfit = None;
        let out = &mut user.bytes;
        out.clear();
        match &route.body {
            Content::Fixed(body) => {
                writing.body = body;
                write(&route.head, out, &mut writing);
                user.layout = route.layout.with_body(out.len());
                out.extend_from_slice(body);
            }
            Content::Written(parts) => {
                let mut body = self.body.borrow_mut();
                body.clear();
                write(parts, &mut body, &mut writing);
                let mut writing = Writing { body: &body, ..writing };
                write(&route.head, out, &mut writing);
                if route.method.is_none() {
                    out.extend_from_slice(b"Content-Length: ");
                    digits(body.len() as u64, 1, out);
                    out.extend_from_slice(b"\r\n\r\n");
                }
                user.layout = route.layout.with_body(out.len());
                match &route.method {
                    None => out.extend_from_slice(&body),
                    Some(method) => unfit = method.encode(&body, out).err(),
                }
            }
        }
        user.is_unsendable = is_unsafe || unfit.is_some();
        if user.is_unsendable {
            user.bytes.clear();
        }
        if let Some(wrong) = unfit {
            let words: Vec<String> = wrong.iter().map(ToString::to_string).collect();
            user.bytes.extend_from_slice(words.join("; ").as_bytes());
        }
        Ok(true)
    }

    /// Counts a request, and what was expected of its answer.
    #[inline]
    fn record(&self, user: &mut User, outcome: &Outcome, recorder: &mut Recorder) {
        let expected = &self.shared.expected;
        let method = self.shared.routes[user.route].method.as_ref();
        if let Some(method) = method.filter(|_| outcome.result.is_ok()) {
            user.sink.translate(|content| method.answer(content));
        }
        if !expected.is_nothing() {
            expected.record(&self.checks, user.route, (&user.bytes, &user.sink), outcome, recorder);
        } else {
            recorder.record(outcome);
        }
        if let Some(witness) = &expected.witness {
            let request = EncodedRef::new(&user.bytes, user.layout);
            let name = format!("{} {}", request.method(), request.target());
            let exchange = user.sink.exchange(name, &user.bytes, outcome.result, Some(outcome.response_time()));
            witness.saw(match method {
                Some(method) => exchange.with_message(method, request),
                None => exchange,
            });
        }
        user.sink.forget();
    }
}

impl Behaviour for TemplateBehaviour {
    type User = User;

    fn opens_first(&self) -> bool {
        self.shared.at_home
    }

    fn leftovers(&self) -> Leftovers {
        Leftovers { data_waits: waits(self.sources.borrow().iter()), ..Leftovers::default() }
    }

    fn tally(&self) -> Tally {
        self.shared.expected.tally()
    }

    fn user(&self, number: u64) -> User {
        let mut user = User {
            bytes: Vec::new(),
            layout: Layout::default(),
            route: 0,
            kept: Vec::new(),
            wrong: None,
            is_unsendable: false,
            sink: AnswerSink::new(self.shared.expected.heard, Default::default(), &self.answers),
        };
        if self.shared.order == RowOrder::PerUser {
            for file in 0..self.shared.files.len() {
                let mut row = Fields::default();
                if let Err(why) = self.kept.hand_over(file, number, &mut row) {
                    user.wrong = Some(why);
                }
                user.kept.push(row);
            }
        }
        user
    }

    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    fn iterate<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>) -> impl Future<Output = Result<(), End>> {
        async move {
            client.turn(Nanos::ZERO).await?;
            if !self.write(user)? {
                client.stop();
                return Err(End::Over);
            }
            let Shared { routes, expected, at_home, .. } = &*self.shared;
            let outcome = if user.is_unsendable {
                client.refuse_saying(Failure::RequestValue, None, String::from_utf8_lossy(&user.bytes).into_owned())
            } else {
                let route = &routes[user.route];
                let request = Request::new(EncodedRef::new(&user.bytes, user.layout)).judged(expected.judges_status);
                let request = if *at_home { request } else { request.to(&route.target) };
                client.fetch_of(&request, &mut user.sink, || expected.row_of(user.route)).await?
            };
            client.record_with(&outcome, |recorder| self.record(user, &outcome, recorder));
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::template::Value;
    use plan::{Draft, Resolved};
    use std::collections::BTreeMap;
    use std::fs;
    use std::num::NonZeroU32;

    fn plan(settings: impl FnOnce(&mut Draft)) -> Plan {
        plan_of_list("", settings)
    }

    /// The same with a file 'mix' of these lines.
    fn plan_of_list(lines: &str, settings: impl FnOnce(&mut Draft)) -> Plan {
        let mut draft = Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() };
        settings(&mut draft);
        let mut resolved = Resolved::from(draft).with_file("mix", lines.as_bytes());
        let named = resolved.taken_from_outside().into_iter().filter_map(|(_, value)| match value {
            Value::File(path, _) | Value::Weighted { path, .. } => Some(path),
            _ => None,
        });
        let files: Vec<String> = resolved.draft.files().map(|(_, path)| path.to_owned()).chain(named).collect();
        for path in files {
            if let Ok(bytes) = fs::read(&path) {
                resolved.contents.insert(&path, bytes);
            }
        }
        Plan::try_from(resolved).unwrap_or_else(|errors| panic!("{errors:?}"))
    }

    fn requests(plan: &Plan, count: usize) -> Vec<String> {
        let files: Vec<Arc<Data>> = plan.variation().files.iter().map(|file| Arc::new(Data::open(&file.path).unwrap())).collect();
        let ready = Ready::new(plan, &files).unwrap_or_else(|errors| panic!("{errors:?}"));
        ready.preview(count).unwrap().into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect()
    }

    fn header(name: &str, request: &str) -> String {
        let line = request.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("{request} has no {name}"))[name.len() + 2..].to_owned()
    }

    #[test]
    fn rows_of_a_file_come_as_often_as_their_weights_say() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        fs::write(&path, "group,weight,path\nGET /a,3,/a?x=1&y=%20\nGET /a,1,/a/2\n\"GET /b\",9,/b c\n\"GET /b\",0,/never\n").unwrap();
        let file = path.display();
        let plan = plan(|draft| {
            draft.url = Some(format!("http://a.test/{{{{weighted \"{file}\" \"GET /a\"}}}}?q={{{{weighted \"{file}\" \"GET /b\"}}}}"));
            draft.header = vec![format!("X-One: {{{{weighted \"{file}\" \"GET /b\"}}}}")];
        });
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for request in requests(&plan, 4_000) {
            assert_eq!(header("x-one", &request), "/b c");
            *counts.entry(request.split(' ').nth(1).unwrap().to_owned()).or_default() += 1;
        }
        // A path stands as it is, and a value in a query is escaped. Binomial: sd √(4,000 · 3/4 · 1/4) = 27; six of them.
        assert_eq!(counts.len(), 2, "{counts:?}");
        assert!(counts["/a?x=1&y=%20?q=%2Fb%20c"].abs_diff(3_000) < 164 && counts.contains_key("/a/2?q=%2Fb%20c"), "{counts:?}");
    }

    #[test]
    fn a_file_of_weighted_rows_that_is_none_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let told = |name: &str, content: &str, group: &str| {
            let path = folder.path().join(name);
            if !content.is_empty() {
                fs::write(&path, content).unwrap();
            }
            let plan = plan(|draft| draft.url = Some(format!("http://a.test/{{{{weighted \"{}\" {group}}}}}", path.display())));
            Ready::new(&plan, &[]).err().map(|errors| errors.spelt(plan::Spelling::Flags)).unwrap_or_default()
        };
        for (name, content, group, part) in [
            ("none.csv", "", "", "was not read"),
            ("plain.csv", "word\na\n", "x", "no column 'group'"),
            ("groups.csv", "group,path\na,/a\n", "b", "no row of the group 'b'"),
            ("weights.csv", "weight,path\nmany,/a\n", "", "a weight that is no whole number"),
            ("zero.csv", "weight,path\n0,/a\n", "", "no row with a weight above 0"),
        ] {
            let told = told(name, content, group);
            assert!(told.contains(part) && !told.contains("the data file"), "{name}: {told}");
        }
        assert_eq!(told("words.csv", "word\na\n", ""), "");
    }

    #[test]
    fn the_length_is_that_of_the_body_that_was_written() {
        let plan = plan(|draft| {
            draft.json = Some("{\"n\":{{sequence 99}},\"pick\":\"{{choice \"a\\\"b\" c}}\"}".to_owned());
            draft.header = vec!["X-Body: {{base64 (body)}}".to_owned()];
        });
        for (number, request) in requests(&plan, 50).iter().enumerate() {
            let (_, body) = request.split_once("\r\n\r\n").unwrap();
            assert_eq!(header("content-length", request), body.len().to_string());
            let read: serde_json::Value = serde_json::from_str(body).unwrap();
            assert_eq!(read["n"], number + 99);
            let mut encoded = Vec::new();
            crate::write::encode(body.as_bytes(), &mut encoded);
            assert_eq!(header("x-body", request).as_bytes(), encoded);
        }
    }

    #[test]
    fn a_load_is_the_same_however_it_is_split() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.csv");
        fs::write(&path, "name\nada\nbob\ncy\n").unwrap();
        let given = |text: &str| text.parse().ok();
        let plan = plan(|draft| {
            draft.url = Some("http://a.test/{{users.name}}?n={{sequence}}&r={{random 1 9}}".to_owned());
            draft.data_file = vec![format!("users={}", path.display())];
            draft.data_order = "random".parse().ok();
            draft.expect = vec!["body contains n".parse().unwrap()];
            (draft.threads, draft.timeout, draft.duration) = ("3".parse().ok(), given("300ms"), given("4s"));
            draft.connections = "7".parse().ok();
        });
        let files: Vec<Arc<Data>> = plan.variation().files.iter().map(|file| Arc::new(Data::open(&file.path).unwrap())).collect();
        let whole = engine::split::same_however_split(&plan, &|runner, parts| {
            let shares = parts.into_iter().map(|part| part.share);
            let ready = Ready::new(&plan, &files).unwrap_or_else(|errors| panic!("{errors:?}"));
            ready.start(runner.prepare(&plan).unwrap(), shares, &Stop::new()).unwrap()
        });
        assert!(whole.summary.requests.succeeded > 500 && whole.summary.requests.failed > 20, "{:?}", whole.summary.requests);
        assert_eq!(whole.summary.urls.len(), 1);
    }

    #[test]
    fn requests_do_not_depend_on_the_number_of_threads() {
        let plan = plan(|draft| draft.url = Some("http://a.test/{{uuid}}?n={{sequence}}&r={{random 1 9}}".to_owned()));
        let ready = Ready::new(&plan, &[]).unwrap();
        let mut whole: Vec<Vec<u8>> = ready.preview(60).unwrap();
        whole.sort();
        for threads in [2, 3, 4] {
            let mut sent = Vec::new();
            for share in Share::all(NonZeroU32::new(threads).unwrap()) {
                let behaviour = TemplateBehaviour::new(ready.shared.clone(), share);
                let mut user = behaviour.user(0);
                for _ in 0..share.part(60) {
                    behaviour.write(&mut user).unwrap();
                    sent.push(user.bytes.clone());
                }
            }
            sent.sort();
            assert_eq!(sent, whole);
        }
    }

    #[test]
    fn another_seed_gives_other_requests() {
        let of = |seed: &str| {
            requests(&plan(|draft| (draft.url, draft.seed) = (Some("http://a.test/{{uuid}}".to_owned()), seed.parse().ok())), 3)
        };
        assert_eq!(of("1"), of("1"));
        assert_ne!(of("1"), of("2"));
    }

    #[test]
    fn routes_come_as_often_as_their_weights_say() {
        let lines = "70 http://a.test/a\n25 HEAD http://b.test:81/b\n5 POST http://a.test/c\n0 http://a.test/never";
        let plan = plan_of_list(lines, |draft| {
            draft.url = None;
            draft.urls = Some("mix".to_owned());
        });
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        let count = 20_000;
        for request in requests(&plan, count) {
            let line = request.lines().next().unwrap().to_owned();
            *counts.entry(format!("{line} to {}", header("host", &request))).or_default() += 1;
        }
        for (what, share) in
            [("GET /a HTTP/1.1 to a.test", 0.7), ("HEAD /b HTTP/1.1 to b.test:81", 0.25), ("POST /c HTTP/1.1 to a.test", 0.05)]
        {
            let expected = count as f64 * share;
            // Five standard deviations of a binomial count.
            let room = 5.0 * (expected * (1.0 - share)).sqrt();
            assert!((counts[what] as f64 - expected).abs() < room, "{counts:?}");
        }
        assert_eq!(counts.len(), 3);
    }

    #[test]
    fn routes_without_weights_take_turns() {
        let plan = plan_of_list("/a\nPUT /b", |draft| {
            draft.urls = Some("mix".to_owned());
            draft.data = Some("x={{sequence}}".to_owned());
        });
        let sent = requests(&plan, 4);
        let lines: Vec<&str> = sent.iter().map(|request| request.lines().next().unwrap()).collect();
        assert_eq!(lines, ["POST /a HTTP/1.1", "PUT /b HTTP/1.1", "POST /a HTTP/1.1", "PUT /b HTTP/1.1"]);
        assert!(sent[3].ends_with("\r\nContent-Length: 3\r\n\r\nx=4"), "{}", sent[3]);
    }

    #[test]
    fn what_reads_is_sent_without_the_body() {
        let plan = plan_of_list("GET /a\nDELETE /b\nPATCH /c", |draft| {
            draft.urls = Some("mix".to_owned());
            draft.data = Some("x=1".to_owned());
        });
        let sent = requests(&plan, 3);
        for request in &sent[..2] {
            assert!(request.ends_with("\r\n\r\n") && !request.contains("Content-"), "{request}");
        }
        assert!(sent[2].contains("Content-Type:") && sent[2].ends_with("Content-Length: 3\r\n\r\nx=1"));
    }

    #[test]
    fn rows_are_escaped_where_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.csv");
        fs::write(&path, "id,name\n1,\"a b/\"\"c\"\"\"\n2,d\n").unwrap();
        let plan = plan(|draft| {
            draft.url = Some("http://a.test/{{users.name}}/{{raw (users.name)}}".to_owned());
            draft.json = Some("{\"id\":{{users.id}},\"name\":\"{{users.name}}\"}".to_owned());
            draft.header = vec!["X-Name: {{users.name}}".to_owned()];
            draft.user = Some("{{users.id}}:{{users.name}}".to_owned());
            draft.data_file = vec![path.to_str().unwrap().to_owned()];
        });
        let sent = requests(&plan, 3);
        assert!(sent[0].starts_with("POST /a%20b%2F%22c%22/a%20b/\"c\" HTTP/1.1\r\n"), "{}", sent[0]);
        assert!(sent[0].ends_with("{\"id\":1,\"name\":\"a b/\\\"c\\\"\"}"));
        assert_eq!(header("x-name", &sent[0]), "a b/\"c\"");
        assert_eq!(header("authorization", &sent[1]), "Basic Mjpk");
        assert_eq!(sent[0], sent[2], "rows come again");
    }

    #[test]
    fn a_line_break_in_a_header_ends_the_request_and_not_the_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.csv");
        fs::write(&path, "name\na\n\"b\r\nEvil: yes\"\n").unwrap();
        let plan = plan(|draft| {
            draft.header = vec!["X-Name: {{users.name}}".to_owned()];
            draft.data_file = vec![path.to_str().unwrap().to_owned()];
        });
        let data = Arc::new(Data::open(path.to_str().unwrap()).unwrap());
        let ready = Ready::new(&plan, &[data]).unwrap();
        assert_eq!(ready.preview(1).unwrap().len(), 1);
        assert!(ready.preview(2).unwrap_err().message.marked().contains("request 2 holds a line break"));
        let behaviour = TemplateBehaviour::new(ready.shared.clone(), Share::WHOLE);
        let mut user = behaviour.user(0);
        let sent: Vec<_> = (0..4)
            .map(|_| {
                behaviour.write(&mut user).unwrap();
                (user.is_unsendable, user.bytes.is_empty())
            })
            .collect();
        assert_eq!(sent, [(false, false), (true, true), (false, false), (true, true)], "the rows around it are sent");
    }

    #[test]
    fn every_mistake_that_the_world_shows_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users.csv");
        fs::write(&path, "id\n1\n").unwrap();
        let plan = plan(|draft| {
            draft.url = Some("http://a.test/{{users.ip}}/{{file /nowhere/x}}".to_owned());
            draft.header = vec!["X: {{users.di}} {{env NOT_THERE}}".to_owned()];
            draft.data_file = vec![path.to_str().unwrap().to_owned()];
            draft.data_order = "per-user".parse().ok();
        });
        let data = Arc::new(Data::open(path.to_str().unwrap()).unwrap());
        let Err(errors) = Ready::new(&plan, &[data]) else { panic!("mistakes") };
        let said = errors.spelt(plan::Spelling::Flags);
        for part in [
            "no column 'ip'",
            "did you mean 'id'?",
            "'/nowhere/x'",
            "no column 'di'",
            "NOT_THERE",
            "has 1 row, which is fewer than --connections 50",
        ] {
            assert!(said.contains(part), "{part}:\n{said}");
        }
    }
}
