//! `loadline serve`: the pages in a browser, with history, and a form that starts a test.
//!
//! What the command line lets its user do, a browser may not: whoever is at the other end did not log in to this machine. So a
//! test from there names no file and no way around the addresses that load may go to, and one is carried out at a time.

mod test;

use std::fmt::Write as _;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use clap::{ArgAction, Args};
use engine::{RunError, Runner, Stop, Urgency};
use history::{Follower, HistoryError, Kind, Moment, RunNews, Store};
use measure::Tick;
use plan::{Draft, Plan, PlanError, PlanErrors, Setting, Stage};
use report::Document;
use report::page::{self, RenderedPage};
use resolve::KnownSecrets;
use serde::Serialize;
use serve::{
    AllowedTargets, Backend, Begun, Guard, Live, Mistake, NotStarted, RunEnd, Server, ServerConfig, StageShown, StartTest, TestPreview,
    Token,
};
use sites::Machines;

use self::test::{Test, not_started};
use super::print;
use crate::agents::{Agents, AgentsArgs};
use crate::exit::{Exit, Failed};
use crate::exporting::Exporting;
use crate::inputs::{self, plainly};
use crate::keeping::At;
use crate::profiling::Profiling;
use crate::screen::complain;
use crate::server_monitor::ObserveArgs;
use crate::{allowed, interrupt, saved, workload};

/// Where, for whom, and what may be loaded.
#[derive(Debug, Args)]
pub struct Serve {
    /// Listen here; anything but this machine asks for a token, which is printed
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:7411")]
    listen: String,

    /// Take the token from this file instead of making one up; with it this machine's browsers are asked for it too
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// Answer to this name too, such as that of a proxy in front (repeatable)
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    host: Vec<String>,

    /// Let tests go here: a name, *.NAME, an address, a network such as 10.1.0.0/16, loopback, private, any; each with :PORT if only that (repeatable) [default: loopback and private]
    #[arg(long, value_name = "PATTERN", action = ArgAction::Append)]
    allow_target: Vec<String>,

    #[command(flatten)]
    agents: AgentsArgs,

    #[command(flatten)]
    at: At,

    #[command(flatten)]
    lookout: Lookout,
}

/// Who looks on at tests that are started here: what is loaded a browser says, and who watches it whoever starts the server.
#[derive(Debug, Clone, Args)]
struct Lookout {
    #[command(flatten)]
    observing: ObserveArgs,

    #[command(flatten)]
    profiling: Profiling,

    #[command(flatten)]
    exporting: Exporting,
}

/// After the end of everything a page that is open gets so long to be told.
const FAREWELL: Duration = Duration::from_secs(3);

/// Serves until Ctrl-C; a test under way is ended, and saved.
pub fn carry_out(serve: Serve) -> Result<Exit, Failed> {
    let Serve { listen, token_file, host, allow_target, agents, at, lookout } = serve;
    let mut errors = PlanErrors::default();
    let address = match listen.parse::<SocketAddr>() {
        Ok(address) => Some(address),
        Err(_) => {
            let message = format!("--listen '{listen}' is not an address and a port");
            errors.push(PlanError::new("listen", message, "give both, such as --listen 127.0.0.1:7411"));
            None
        }
    };
    let allowed = AllowedTargets::read(&allow_target).map_err(|wrong| {
        for (text, why) in wrong {
            let message = format!("--allow-target '{text}' {why}");
            errors.push(PlanError::new("allow-target", message, "give a pattern, such as --allow-target '*.example.com' or 10.1.0.0/16"));
        }
    });
    let chosen = token_file.as_deref().map(token_in).transpose().map_err(|error| errors.push(error));
    let agents = agents.decide(&Draft::default(), &mut errors);
    let lookout = lookout.decide(&mut errors);
    let (Some(address), Ok(allowed), Ok(chosen), true) = (address, allowed, chosen, errors.is_empty()) else { return Err(errors.into()) };
    if !agents.is_empty() {
        // A machine may be off for now, but not the file that is to be copied there.
        agents.program()?;
    }
    // What is wrong with the history is told now, and runs that were ended from outside are taken in.
    let path = at.open()?.path().to_owned();
    let listener = bound(address)?;
    let address = listener.local_addr().map_err(|why| cannot(address, &why))?;
    let token = chosen.or_else(|| (!address.ip().is_loopback()).then(Token::fresh));
    let live = Live::default();
    let desk = Arc::new(LocalBackend { at, path, allowed, agents, lookout, under_way: Arc::default() });
    let house = ServerConfig { guard: Guard::new(address, host, token.clone()), live: live.clone(), desk: Some(desk.clone()) };
    let server = Server::start(listener, house).map_err(|why| cannot(address, &why))?;
    let asks = match (token_file, &token) {
        (Some(path), _) => {
            if is_for_others(&path) {
                let path = path.display();
                complain(&format!("warning: every user of this machine can read the token in '{path}'\n  help: chmod 600 {path}"));
            }
            Asks::ForThatOf(path)
        }
        (None, Some(token)) => Asks::For(token),
        (None, None) => Asks::Nothing,
    };
    print(greeting(address, &asks, &desk).as_bytes())?;
    let over = Arc::new(AtomicBool::new(false));
    let (watching, shown, ended) = (desk.clone(), live.clone(), over.clone());
    let follower = std::thread::Builder::new().name("follower".to_owned()).spawn(move || watching.follow(&shown, &ended));
    let signals = interrupt::wait()?;
    over.store(true, Ordering::Relaxed);
    // A run of another program goes on.
    if let Some(stop) = desk.test() {
        complain("ending: waiting for the last answers of the test under way; Ctrl-C again ends at once");
        stop.raise();
        interrupt::raise_again(signals, stop)?;
    }
    desk.leave();
    let _ = follower.map(JoinHandle::join);
    server.finish(FAREWELL);
    Ok(Exit::Done)
}

impl Lookout {
    /// Reads what is asked for, and tries the addresses to listen on. Every mistake goes to `errors`.
    fn decide(self, errors: &mut PlanErrors) -> test::Lookout {
        let Self { observing, profiling, exporting } = self;
        let known = KnownSecrets::default();
        exporting.decide(&known, errors);
        test::Lookout { eyes: observing.decide(&known, errors), probes: profiling.decide(&known, errors), exporting, known }
    }
}

/// What whoever opens a page is asked for.
enum Asks<'t> {
    Nothing,
    /// The token that was made up, which is told nowhere else.
    For(&'t Token),
    /// That of a file, which is no secret any more once it stands in a log.
    ForThatOf(PathBuf),
}

fn greeting(address: SocketAddr, asks: &Asks<'_>, desk: &LocalBackend) -> String {
    let mut text = "\n".to_owned();
    // Every address of this machine is one to be opened.
    let shown = if address.ip().is_unspecified() { format!("<this machine>:{}", address.port()) } else { address.to_string() };
    let at = match asks {
        Asks::Nothing => String::new(),
        Asks::For(token) => format!("#token={}", token.as_str()),
        Asks::ForThatOf(path) => format!("#token=TOKEN, with the token of '{}'", path.display()),
    };
    let _ = writeln!(text, "  loadline listens at http://{shown}/{at}");
    if !matches!(asks, Asks::Nothing) {
        let whoever =
            "Whoever has this address and the token can start tests. It is not encrypted: put a proxy with TLS or a tunnel in front.";
        let _ = writeln!(text, "  {whoever}");
    }
    let _ = writeln!(text, "  Tests may go to: {}", desk.allowed);
    if !desk.agents.is_empty() {
        let _ = writeln!(text, "  Tests come from: {}, called when one begins", desk.agents.names().join(", "));
    }
    text + "  Ctrl-C ends it.\n"
}

/// Whether others than its owner and his group may read a file.
fn is_for_others(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o004 != 0)
}

/// A listener, before anything else happens.
///
/// # Errors
/// If the port is taken, or not ours to take.
pub fn bound(address: SocketAddr) -> Result<TcpListener, Failed> {
    TcpListener::bind(address).map_err(|why| cannot(address, &why))
}

fn cannot(address: SocketAddr, why: &std::io::Error) -> Failed {
    let message = format!("the pages cannot be served at {address}: {}", plainly(why));
    Failed::new(Exit::NotCarriedOut, message, "choose another address with --listen, such as 127.0.0.1:0 for any free port")
}

/// A larger file holds something else.
const TOKEN_FILE_BYTES_MAX: u64 = 1 << 20;

fn token_in(path: &std::path::Path) -> Result<Token, PlanError> {
    let help = "give a file that holds one long word, such as from: openssl rand -hex 32";
    let wrong = |why: &str| PlanError::new("token-file", format!("--token-file '{}' {why}", path.display()), help);
    let bytes = inputs::whole(path, TOKEN_FILE_BYTES_MAX).map_err(|why| wrong(&format!("cannot be read: {}", plainly(&why))))?;
    Token::chosen(&String::from_utf8_lossy(&bytes)).map_err(wrong)
}

/// What the server does its work with.
struct LocalBackend {
    at: At,
    path: PathBuf,
    allowed: AllowedTargets,
    /// The machines that tests may come from, beside this one.
    agents: Agents,
    lookout: test::Lookout,
    under_way: Arc<Mutex<Option<UnderWay>>>,
}

/// What is under way, from its start to its saving.
enum UnderWay {
    /// A test from a browser, and what ends it.
    Test(JoinHandle<()>, Stop),
    /// A run that another program does, which is shown.
    Elsewhere,
}

impl UnderWay {
    fn is_over(&self) -> bool {
        matches!(self, Self::Test(thread, _) if thread.is_finished())
    }
}

/// So often it is looked whether another program measures, and what it has done since.
const LOOK: Duration = Duration::from_millis(500);

impl Backend for LocalBackend {
    fn store(&self) -> Result<Store, HistoryError> {
        Store::open(&self.path)
    }

    fn shown(&self, result: &str) -> Result<RenderedPage, String> {
        Document::read(result).map(|document| document.page()).map_err(|why| why.to_string())
    }

    fn beside(&self, a: (&str, &str), b: (&str, &str)) -> Result<RenderedPage, String> {
        let read = |(name, result): (&str, &str)| Document::read(result).map_err(|why| format!("{name} cannot be used: {why}"));
        match (read(a)?, read(b)?) {
            (Document::Run(from, _), Document::Run(to, _)) => Ok(page::two_runs((a.0, &from), (b.0, &to))),
            (Document::Find(from), Document::Find(to)) => Ok(page::two_searches((a.0, &from), (b.0, &to))),
            (Document::Sweep(from), Document::Sweep(to)) => {
                let curve = |name: &str, sweep| report::diff::curve(name, sweep).map_err(|why| format!("{name} cannot be drawn: {why}"));
                let (a, b) = (curve(a.0, &from)?, curve(b.0, &to)?);
                Ok(page::diff(&a, &b, [Some(&from), Some(&to)]))
            }
            (from, to) => {
                let why = from.unlike(&to).unwrap_or_else(|| "cannot compare the two".to_owned());
                Err(format!("{why}: A is {}, B is {}", a.0, b.0))
            }
        }
    }

    fn course(&self, result: &str) -> Result<Vec<f64>, String> {
        Ok(match Document::read(result).map_err(|why| why.to_string())? {
            // Of the drain there is no rate to show.
            Document::Run(run, _) => run.load_ticks().map(Tick::qps).collect(),
            Document::Sweep(sweep) => sweep.rows().iter().map(|row| row.qps).collect(),
            Document::Find(found) => found.trials.iter().map(|trial| trial.summary.qps).collect(),
            Document::Compare(compared) => compared.pairs.iter().map(|pair| pair.b.qps).collect(),
        })
    }

    fn check(&self, test: &StartTest) -> TestPreview {
        let draft = test.plan.draft();
        let (decided, mut errors) = Test::decide(&self.at, test, &secrets_of(draft), None);
        let agents = self.agents.chosen(test.agents.as_deref(), &mut errors);
        let load = decided.filter(|_| errors.is_empty()).map(|test| test.load());
        // What can be drawn is drawn, whatever else is wrong.
        let stages = match &draft.rate {
            Some(Setting::Value(timetable)) => timetable.stages().iter().map(|stage| stage_shown(stage, draft)).collect(),
            _ => Vec::new(),
        };
        let hidden = plan::Secrets::of_draft(draft);
        TestPreview { mistakes: mistakes(errors, draft), command: hidden.conceal(&command(test, &agents)), load, stages }
    }

    fn agents(&self) -> Vec<String> {
        self.agents.names()
    }

    fn start(&self, test: StartTest, live: &Live) -> Result<(), NotStarted> {
        let known = secrets_of(test.plan.draft());
        let (decided, mut errors) = Test::decide(&self.at, &test, &known, None);
        let agents = self.agents.chosen(test.agents.as_deref(), &mut errors);
        let refused = move |errors: PlanErrors, test: &StartTest| NotStarted::Mistakes(mistakes(errors, test.plan.draft()));
        if decided.is_none() || !errors.is_empty() {
            return Err(refused(errors, &test));
        }
        let fence = allowed::fence(self.allowed.clone(), allowed::SERVE);
        let (live, at, (told, heard)) = (live.clone(), self.at.clone(), mpsc::channel());
        let (under_way, lookout) = (self.under_way.clone(), self.lookout.clone());
        let stop = Stop::new();
        let raised = stop.clone();
        // What is decided stays on its thread, so it is decided there, once more.
        let carry_out = move || {
            let machines = called(agents, &stop).map_err(|error| not_started(&error, &known));
            let ended = machines.and_then(|machines| {
                // How much machines carry is part of every plan.
                let (decided, errors) = Test::decide(&at, &test, &known, machines.as_ref());
                let decided = decided.ok_or_else(|| refused(errors, &test))?;
                let runner = match machines {
                    Some(machines) => Runner::within(&fence).with_sites(Arc::new(machines)),
                    None => workload::runner(&fence),
                };
                if let Some(wrong) = decided.unreached(&runner) {
                    return Err(refused(PlanErrors(vec![wrong]), &test));
                }
                decided.carry_out(&known, &runner, &live, &lookout, (&stop, &told))
            });
            end(&under_way, || match ended {
                Ok(ended) => live.end(&ended),
                Err(why) => drop(told.send(Err(why))),
            });
        };
        {
            let mut under_way = self.under_way();
            if under_way.as_ref().is_some_and(|it| !it.is_over()) {
                return Err(NotStarted::Busy);
            }
            let thread = std::thread::Builder::new().name("test".to_owned()).spawn(carry_out);
            let unable = |why| NotStarted::Unable {
                message: format!("no thread could be made: {}", plainly(&why)),
                help: "raise the limit of threads".to_owned(),
            };
            *under_way = Some(UnderWay::Test(thread.map_err(unable)?, raised));
        }
        // A thread that panicked has told standard error why, and hung up.
        let broke_off = || NotStarted::Unable { message: "the test broke off".to_owned(), help: "see the terminal".to_owned() };
        heard.recv().unwrap_or_else(|_| Err(broke_off()))
    }
}

impl LocalBackend {
    fn under_way(&self) -> MutexGuard<'_, Option<UnderWay>> {
        locked(&self.under_way)
    }

    /// Waits for the test under way to be saved.
    fn leave(&self) {
        // Not within the lock, which the test takes at its end.
        let under_way = self.under_way().take();
        if let Some(UnderWay::Test(thread, _)) = under_way {
            let _ = thread.join();
        }
    }

    /// What ends the test from a browser that goes on, if one does.
    fn test(&self) -> Option<Stop> {
        match self.under_way().as_ref().filter(|it| !it.is_over()) {
            Some(UnderWay::Test(_, stop)) => Some(stop.clone()),
            _ => None,
        }
    }

    /// Shows runs that other programs save into the same history, one after the other, while no test from here goes on.
    fn follow(&self, live: &Live, over: &AtomicBool) {
        while !over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
            if self.test().is_some() {
                continue;
            }
            let Some(follower) = Follower::find(&self.path) else { continue };
            {
                let mut under_way = self.under_way();
                if under_way.as_ref().is_some_and(|it| !it.is_over()) {
                    continue;
                }
                *under_way = Some(UnderWay::Elsewhere);
            }
            let ended = self.show(follower, live, over);
            end(&self.under_way, || ended.iter().for_each(|ended| live.end(ended)));
        }
    }

    /// Tells what such a run does until it is over; how it came out, if anything was told of it.
    fn show(&self, mut follower: Follower, live: &Live, over: &AtomicBool) -> Option<RunEnd> {
        let header = follower.header().clone();
        let mut stop = Some(follower.stopper());
        loop {
            // Asked first: what is written before its end is heard after.
            let is_over = follower.is_over() || over.load(Ordering::Relaxed);
            for heard in follower.listen() {
                match heard {
                    RunNews::Load { plan, what } => {
                        if let Some(stop) = stop.take() {
                            let title = format!("{}, started on the command line", report::request_of(&plan));
                            let (kind, name) = (header.kind.to_string(), report::visible(&header.name));
                            live.begin(Begun { kind, name, title, started: header.started.to_string() }, stop);
                        }
                        let what = if what == header.name { String::new() } else { saved::in_words(&what) };
                        live.load(&report::visible(&what), page::begun(&plan).json());
                    }
                    RunNews::Second(tick) => live.tick(&page::tick(&tick, None)),
                    RunNews::Rows(rows) => page::rows_so_far(&rows).iter().for_each(|tables| live.rows(tables)),
                }
            }
            if is_over {
                break;
            }
            std::thread::sleep(LOOK);
        }
        stop.is_none().then(|| self.outcome(&header.id, !follower.is_over()))
    }

    /// How a run of another program came out, as the history has it; `goes_on` where loadline serve ends before it.
    fn outcome(&self, id: &history::Id, goes_on: bool) -> RunEnd {
        let saved = self.store().ok().and_then(|store| store.result(id).ok());
        match saved.map(|result| self.shown(&result)) {
            Some(Ok(shown)) => RunEnd { page: Some(shown.json().to_owned()), saved: Some(id.to_string()), trouble: None },
            Some(Err(why)) => RunEnd { trouble: Some(why), ..RunEnd::default() },
            None => {
                let trouble = match goes_on {
                    true => "loadline serve ended while it went on; loadline runs shows it when it has come to its end",
                    false => "it ended without saving a result; if it was ended from outside, loadline runs takes in what it had measured",
                };
                RunEnd { trouble: Some(trouble.to_owned()), ..RunEnd::default() }
            }
        }
    }
}

/// Calls the machines that a test comes from, if it is not this one. They are let go with it, so that one that is off is missed by no other
/// test; and not waited for where the server is to end.
///
/// # Errors
/// If one cannot be called.
fn called(agents: Agents, stop: &Stop) -> Result<Option<Machines>, RunError> {
    if agents.is_empty() {
        return Ok(None);
    }
    let (sender, called) = mpsc::channel();
    let call = move || sender.send(agents.call());
    let unable = |why: std::io::Error| RunError::run(format!("no thread could be made: {}", plainly(&why)), "raise the limit of threads");
    std::thread::Builder::new().name("call".to_owned()).spawn(call).map_err(unable)?;
    loop {
        match called.recv_timeout(LOOK) {
            Ok(called) => return called.map(Some),
            Err(RecvTimeoutError::Timeout) if stop.urgency() == Urgency::None => {}
            Err(_) => return Err(RunError::run("the machines were not waited for", "start the test again")),
        }
    }
}

/// What a test has to hide.
fn secrets_of(draft: &Draft) -> KnownSecrets {
    let known = KnownSecrets::default();
    known.learn(draft);
    known
}

fn locked(under_way: &Mutex<Option<UnderWay>>) -> MutexGuard<'_, Option<UnderWay>> {
    under_way.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells the end of what is under way, so that whoever has heard of it can start a test at once.
fn end(under_way: &Mutex<Option<UnderWay>>, tell: impl FnOnce()) {
    let mut under_way = locked(under_way);
    tell();
    *under_way = None;
}

/// A stage without a length of its own lasts as long as the test.
fn stage_shown(stage: &Stage, draft: &Draft) -> StageShown {
    let lasting = match &draft.duration {
        Some(Setting::Value(duration)) => Some(*duration),
        _ => None,
    };
    StageShown {
        from: stage.from.as_per_second(),
        to: stage.to.as_per_second(),
        seconds: stage.length.or(lasting).map(|length| length.as_secs_f64()),
    }
}

fn mistakes(errors: PlanErrors, draft: &Draft) -> Vec<Mistake> {
    let hidden = plan::Secrets::of_draft(draft);
    let without = |error: PlanError| PlanError {
        message: hidden.conceal(error.message.marked()).into(),
        help: hidden.conceal(error.help.marked()).into(),
        ..error
    };
    errors.0.into_iter().map(without).map(Mistake::from).collect()
}

/// What is said of a run that begins now.
pub fn begun(kind: Kind, name: &str, plan: &Plan) -> Begun {
    Begun { kind: kind.to_string(), name: report::visible(name), title: report::request_of(plan), started: Moment::now().to_string() }
}

/// The test as it would be typed, from these machines.
fn command(test: &StartTest, agents: &Agents) -> String {
    let plan = test.plan.draft();
    let mut words = vec!["loadline".to_owned(), test.kind().name().to_owned()];
    words.extend(plan.url.as_deref().map(quoted));
    if test.plan.load().sources.scenario_text.is_some() {
        // Its text belongs into a file.
        words.extend(plan.url.as_ref().map(|_| "--scenario".to_owned()));
        words.push("scenario.yaml".to_owned());
    }
    words.extend(test.other.as_deref().filter(|_| test.compare.is_some()).map(quoted));
    words.extend(flags(plan));
    words.extend(flags(&test.sweep));
    words.extend(flags(&test.find));
    words.extend(flags(&test.compare));
    if !agents.is_empty() {
        words.extend(["--agents".to_owned(), quoted(&agents.typed())]);
    }
    let StartTest { slo, check, abort_on, name, tag, note, .. } = test;
    let named = [("--name", name), ("--note", note)].into_iter().filter_map(|(flag, text)| Some((flag, text.as_ref()?)));
    let lists = [("--slo", slo), ("--check", check), ("--abort-on", abort_on), ("--tag", tag)];
    let lists = lists.into_iter().flat_map(|(flag, all)| all.iter().map(move |text| (flag, text)));
    for (flag, text) in lists.chain(named).filter(|(_, text)| !text.is_empty()) {
        words.extend([flag.to_owned(), quoted(text)]);
    }
    words.join(" ")
}

/// Settings as they would be typed, but for those that stand before all others.
fn flags(settings: &impl Serialize) -> Vec<String> {
    let Ok(serde_json::Value::Object(settings)) = serde_json::to_value(settings) else { return Vec::new() };
    let settings = settings.into_iter().filter(|(key, _)| !matches!(key.as_str(), "url" | "scenario_text"));
    let typed = |(key, value): (String, serde_json::Value)| {
        let flag = format!("--{}", key.replace('_', "-"));
        let give = |value: serde_json::Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            // What begins with a dash would be read as another flag, and what may be left out as the next word.
            let is_one_word = text.starts_with('-') || key == "adaptive";
            if is_one_word { vec![format!("{flag}={}", quoted(&text))] } else { vec![flag.clone(), quoted(&text)] }
        };
        match value {
            serde_json::Value::Null | serde_json::Value::Bool(false) => Vec::new(),
            serde_json::Value::Bool(true) => vec![flag],
            serde_json::Value::Array(all) => all.into_iter().flat_map(give).collect(),
            one => give(one),
        }
    };
    settings.flat_map(typed).collect()
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@%+,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_told_as_it_would_be_typed() {
        let asked: StartTest = serde_json::from_value(serde_json::json!({
            "plan": {"url": "http://127.0.0.1/?a=1&b=2", "rate": "0/s to 50/s for 1m", "header": ["X-A: it's"], "insecure": true, "threads": 2, "pause": "-1"},
            "check": ["p99 < 200ms"], "name": "x", "tag": ["a", "b"],
        }))
        .unwrap();
        assert_eq!(
            command(&asked, &Agents::default()),
            "loadline run 'http://127.0.0.1/?a=1&b=2' --header 'X-A: it'\\''s' --insecure --pause=-1 --rate '0/s to 50/s for 1m' \
             --threads 2 --check 'p99 < 200ms' --tag a --tag b --name x"
        );
    }

    #[test]
    fn a_scenario_is_told_as_the_file_it_would_be() {
        let asked = |plan: serde_json::Value| serde_json::from_value::<StartTest>(serde_json::json!({ "plan": plan })).unwrap();
        let text = "target: http://a.test\nsteps: [{get: /}]\n";
        assert_eq!(
            command(&asked(serde_json::json!({"scenario_text": text, "connections": 5})), &Agents::default()),
            "loadline run scenario.yaml --connections 5"
        );
        assert_eq!(
            command(&asked(serde_json::json!({"url": "http://127.0.0.1/", "scenario_text": text})), &Agents::default()),
            "loadline run http://127.0.0.1/ --scenario scenario.yaml"
        );
    }

    #[test]
    fn experiments_are_told_as_they_would_be_typed() {
        let told = |json: serde_json::Value| command(&serde_json::from_value(json).unwrap(), &Agents::default());
        let plan = serde_json::json!({"url": "http://127.0.0.1/", "duration": "2s"});
        let sweep = serde_json::json!({"plan": plan, "sweep": {"levels": "1,10", "all_levels": true}, "slo": ["p99 < 50ms"]});
        assert_eq!(told(sweep), "loadline sweep http://127.0.0.1/ --duration 2s --all-levels --levels 1,10 --slo 'p99 < 50ms'");
        let adaptive = serde_json::json!({"plan": plan, "sweep": {"adaptive": 12}});
        assert_eq!(told(adaptive), "loadline sweep http://127.0.0.1/ --duration 2s --adaptive=12");
        let find =
            serde_json::json!({"plan": {"url": "http://127.0.0.1/"}, "find": {"quick": true, "rate_max": "2000/s"}, "slo": ["p99 < 50ms"]});
        assert_eq!(told(find), "loadline find http://127.0.0.1/ --quick --rate-max 2000/s --slo 'p99 < 50ms'");
        let compare = serde_json::json!({"plan": plan, "other": "http://127.0.0.1:81/", "compare": {"pairs": 5, "margin": "3%"}});
        assert_eq!(told(compare), "loadline compare http://127.0.0.1/ http://127.0.0.1:81/ --duration 2s --margin 3% --pairs 5");
    }
}
