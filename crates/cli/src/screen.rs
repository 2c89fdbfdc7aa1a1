//! What is told while something is measured: the live view, one line of progress that is drawn over, or a line every ten seconds.
//!
//! Ten seconds without a sign look like a hang, and a log full of progress lines is no better. So the view stands where standard
//! output is a terminal with room for it, and the line where at least standard error is one. Elsewhere, as in a build server's
//! log, a line is written every ten seconds, whatever the number of loads. With `--quiet` there is nothing. All are fed from the Ticks the engine hands out once an interval, on this thread,
//! so that showing them never touches what is measured. What a command prints meanwhile stands in the view, and on
//! standard output when the view is gone.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use analysis::quantity::{self, count};
use analysis::server_side::Now;
use clap::{Args, ValueEnum};
use engine::Stop;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use live::{Palette, Terminal, View};
use measure::{IntervalCounts, RowsSoFar, Tick};
use plan::{Nanos, Plan, PlanError, PlanErrors};
use report::page::RenderedPage;
use resolve::KnownSecrets;

use crate::exit::Exit;
use crate::outputs::to_stdout;
use crate::web::Web;

/// Whether there is anything to show, and where.
#[derive(Debug, Clone)]
pub struct Screen {
    /// Hidden where nobody looks, or where the view stands.
    bar: ProgressBar,
    lines: Lines,
    voice: Remarks,
    /// What is left out of all that is said.
    known: KnownSecrets,
    stage: Arc<Stage>,
}

/// The view, if there is one, and what is printed when it is gone.
#[derive(Debug, Default)]
struct Stage {
    view: Mutex<Option<Terminal>>,
    held: Mutex<Held>,
    web: Mutex<Option<Web>>,
    server: Mutex<Option<Now>>,
    /// When the last line of progress was written, or the first load began.
    spoke: Mutex<Option<Instant>>,
}

/// Whether lines of progress are written one below the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Written,
    Unwanted,
}

/// Between two of them, whatever is measured.
const LINE_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
struct Held {
    stdout: String,
    stderr: String,
    /// What was held could not be written.
    lost: Option<io::Error>,
}

/// Whether remarks are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remarks {
    /// Progress and remarks.
    Talking,
    /// Errors only.
    Quiet,
}

/// How progress is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Telling {
    /// A live view, or one line that is drawn over.
    Live,
    /// A line every 10 s.
    Plain,
    /// Not at all.
    None,
}

/// Whether the live view is wanted.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct DisplayArgs {
    /// Tell progress: live (on a terminal), plain (a line every 10 s on standard error), none [default: live on a terminal, else plain]
    #[arg(long, value_name = "HOW", hide_possible_values = true, help_heading = "Output")]
    progress: Option<Telling>,

    /// Show a live view while measuring; this is so by itself on a terminal of at least 80 columns and 20 rows
    #[arg(long, overrides_with = "no_tui", help_heading = "Output")]
    tui: bool,

    /// Show one line of progress instead of the live view
    #[arg(long, overrides_with = "tui", help_heading = "Output")]
    no_tui: bool,

    /// Show the run in a browser while it goes on: a page on a free port of this machine, whose address is printed
    #[arg(long, help_heading = "Output")]
    web: bool,
}

impl DisplayArgs {
    /// Whether there is room for the view, if it is asked for by name.
    pub fn check(self, errors: &mut PlanErrors) {
        if self.tui && !live::fits() {
            errors.push(PlanError::new(
                "tui",
                "--tui needs a terminal of at least 80 columns and 20 rows on standard input and output",
                "make the terminal larger, or leave --tui out for a line of progress",
            ));
        }
    }
}

/// What is already known of the run that is shown.
#[derive(Debug)]
pub struct Progress {
    screen: Screen,
    /// What stands before each line, such as the level.
    what: String,
    end: Option<Nanos>,
    requests: Option<u64>,
    warmup: Nanos,
    ended: u64,
    failed: u64,
    rows: RowsSoFar,
}

impl Screen {
    /// A screen for this voice: with a line of progress that is drawn over where standard error is a terminal, and else with one every
    /// ten seconds.
    pub fn new(voice: Remarks, known: &KnownSecrets) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let bar = if voice == Remarks::Talking && is_terminal {
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style())
        } else {
            ProgressBar::hidden()
        };
        let lines = if voice == Remarks::Talking && !is_terminal { Lines::Written } else { Lines::Unwanted };
        Self { bar, lines, voice, known: known.clone(), stage: Arc::default() }
    }

    /// The same with lines of progress instead of one that is drawn over, or without any.
    fn telling(self, how: Telling) -> Self {
        match how {
            Telling::Live => self,
            Telling::Plain if self.voice == Remarks::Talking => Self { bar: ProgressBar::hidden(), lines: Lines::Written, ..self },
            Telling::Plain | Telling::None => Self { bar: ProgressBar::hidden(), lines: Lines::Unwanted, ..self },
        }
    }

    /// The same with the live view of a command, where there is room for it. `q` and Ctrl-C raise `stop`.
    pub fn with_view(self, sight: DisplayArgs, command: &str, palette: Palette, stop: &Stop) -> Self {
        if sight.web {
            *self.stage.web() = Web::open(command, stop);
        }
        if let Some(how @ (Telling::Plain | Telling::None)) = sight.progress {
            return self.telling(how);
        }
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if self.voice == Remarks::Quiet || sight.no_tui || dumb && !sight.tui || !live::fits() {
            return self;
        }
        let stop = stop.clone();
        let asked = move |times| {
            if times > 2 {
                live::give_back();
                std::process::exit(Exit::Interrupted as i32);
            }
            stop.raise();
        };
        match Terminal::take(View::new(command, palette), asked) {
            Ok(terminal) => {
                if let Some(web) = &*self.stage.web() {
                    terminal.update(|view| view.say(&web.told()));
                }
                *self.stage.view() = Some(terminal);
                Self { bar: ProgressBar::hidden(), lines: Lines::Unwanted, ..self }
            }
            // A terminal that cannot be taken over still shows a line.
            Err(_) => self,
        }
    }

    /// A remark on standard error, above the line of progress; nothing if quiet.
    pub fn say(&self, text: &str) {
        if self.voice == Remarks::Quiet {
            return;
        }
        let text = &self.known.conceal(text);
        if let Some(terminal) = &*self.stage.view() {
            terminal.update(|view| view.say(text));
            self.stage.held().stderr.push_str(&format!("{text}\n"));
            return;
        }
        self.bar.suspend(|| complain(text));
    }

    /// What went wrong, on standard error, also if quiet.
    pub fn complain(&self, text: &str) {
        complain_without(&self.known, text);
    }

    /// Prints on standard output, with the line of progress out of the way; where the view stands, in the view, and on
    /// standard output once it is gone.
    ///
    /// # Errors
    /// If standard output does not take it, or did not take what was printed while the view stood.
    pub fn print(&self, text: &str) -> io::Result<()> {
        if let Some(terminal) = &*self.stage.view() {
            terminal.update(|view| view.print(text));
            self.stage.held().stdout.push_str(text);
            return Ok(());
        }
        self.stage.held().lost.take().map_or(Ok(()), Err)?;
        self.bar.suspend(|| to_stdout(text.as_bytes()))
    }

    /// Begins to show a run.
    pub fn follow(&self, plan: &Plan, what: &str) -> Progress {
        let end = plan.duration().map(|_| plan.end());
        let requests = plan.requests().map(std::num::NonZeroU64::get);
        *self.stage.server() = None;
        // One of the two is always decided; a bar over both would jump where the other ends the run first.
        let length = end.map_or(requests.unwrap_or(1), |end| end.0);
        self.bar.set_prefix(if what.is_empty() { String::new() } else { format!("{what}  ") });
        self.bar.set_message("starting");
        self.bar.reset();
        self.bar.set_length(length);
        self.bar.tick();
        if let Some(terminal) = &*self.stage.view() {
            terminal.begin(plan, what);
        }
        if let Some(web) = &*self.stage.web() {
            web.load(plan, what);
        }
        self.stage.spoke().get_or_insert_with(Instant::now);
        let (ended, failed, rows) = (0, 0, RowsSoFar::default());
        Progress { what: what.to_owned(), screen: self.clone(), end, requests, warmup: plan.warmup(), ended, failed, rows }
    }

    /// What the server did a moment ago stands beside the next interval; asked for only where somebody looks.
    pub fn server(&self, now: impl FnOnce() -> Option<Now>) {
        let is_looked_at =
            !self.bar.is_hidden() || self.lines == Lines::Written || self.stage.view().is_some() || self.stage.web().is_some();
        if is_looked_at {
            let now = now();
            *self.stage.server() = now;
            if let Some(terminal) = &*self.stage.view() {
                terminal.update(|view| view.server(now));
            }
        }
    }

    /// Shows all that was measured so far in a browser, if one is served; made only then.
    pub fn show_result(&self, shown: impl FnOnce() -> RenderedPage) {
        if let Some(web) = &*self.stage.web() {
            web.result(&shown());
        }
    }

    /// Shows how it came out in a browser, and under what name it is saved.
    pub fn show_end(&self, shown: impl FnOnce() -> RenderedPage, saved: Option<String>) {
        if let Some(web) = &*self.stage.web() {
            web.end(&shown(), saved);
        }
    }

    /// For a thread that outlives the command.
    pub fn remote(&self) -> Remote {
        let stage = Arc::downgrade(&self.stage);
        Remote { bar: self.bar.clone(), lines: self.lines, voice: self.voice, known: self.known.clone(), stage }
    }

    /// Takes the line of progress or the view away, and prints what was held back meanwhile.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
        self.stage.clear();
    }
}

/// The screen as another thread sees it: it can say something there, and does not keep the view standing.
#[derive(Debug)]
pub struct Remote {
    bar: ProgressBar,
    lines: Lines,
    voice: Remarks,
    known: KnownSecrets,
    stage: Weak<Stage>,
}

impl Remote {
    /// A remark, as [`Screen::say`]; nothing once the screen is gone.
    pub fn say(&self, text: &str) {
        if let Some(stage) = self.stage.upgrade() {
            Screen { bar: self.bar.clone(), lines: self.lines, voice: self.voice, known: self.known.clone(), stage }.say(text);
        }
    }
}

impl Stage {
    fn view(&self) -> MutexGuard<'_, Option<Terminal>> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn web(&self) -> MutexGuard<'_, Option<Web>> {
        self.web.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn server(&self) -> MutexGuard<'_, Option<Now>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spoke(&self) -> MutexGuard<'_, Option<Instant>> {
        self.spoke.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clear(&self) {
        let Some(mut terminal) = self.view().take() else { return };
        terminal.leave();
        let mut held = self.held();
        let Held { stdout, stderr, .. } = std::mem::take(&mut *held);
        if !stderr.is_empty() {
            complain(stderr.trim_end());
        }
        held.lost = to_stdout(stdout.as_bytes()).err();
    }
}

/// However a command ends, what it had printed is not lost with the view.
impl Drop for Stage {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Progress {
    /// Shows one more interval.
    pub fn tick(&mut self, tick: &Tick) {
        self.ended += tick.succeeded + tick.failed + tick.unsent;
        self.failed += tick.failed + tick.unsent;
        self.screen.bar.set_position(match self.end {
            Some(end) => tick.to.min(end).0,
            None => self.ended,
        });
        let line = self.line(tick);
        if self.screen.lines == Lines::Written && self.is_time(Instant::now()) {
            let before = if self.what.is_empty() { String::new() } else { format!("{} · ", self.what) };
            complain(&format!("{before}{line}"));
        }
        self.screen.bar.set_message(line);
        if let Some(terminal) = &*self.screen.stage.view() {
            terminal.update(|view| view.tick(tick));
        }
        if let Some(web) = &*self.screen.stage.web() {
            web.tick(tick, self.screen.stage.server().as_ref());
        }
    }

    /// Whether the last line is long enough ago; then this one is the last.
    fn is_time(&self, now: Instant) -> bool {
        let mut spoke = self.screen.stage.spoke();
        let is_time = spoke.is_none_or(|then| now.duration_since(then) >= LINE_EVERY);
        if is_time {
            *spoke = Some(now);
        }
        is_time
    }

    /// What was counted in the same interval, for the view and the page.
    pub fn counts(&mut self, counted: &IntervalCounts) {
        self.rows.add(&counted.counts.tally);
        if let Some(web) = &*self.screen.stage.web() {
            web.rows(&self.rows);
        }
        if let Some(terminal) = &*self.screen.stage.view() {
            terminal.update(|view| view.counts(&counted.counts));
        }
    }

    /// What is said about the run so far.
    fn line(&self, tick: &Tick) -> String {
        let mut parts = vec![clock(tick.to)];
        match (self.end, self.requests) {
            (Some(end), _) if tick.to < end => parts.push(format!("{} left", clock(end.since(tick.to)))),
            (Some(_), _) => parts.push("waiting for the last answers".to_owned()),
            (None, Some(requests)) => parts.push(format!("{} of {} requests", count(self.ended), count(requests))),
            (None, None) => {}
        }
        if tick.to <= self.warmup {
            parts.push("warming up".to_owned());
        }
        // After its end no load is offered, and a rate of answers would look like a collapse.
        if self.end.is_none_or(|end| tick.to <= end) {
            parts.push(format!("{} req/s", count(tick.qps().round() as u64)));
        }
        // What a narrow terminal cuts off is not what went wrong.
        parts.push(if self.failed == 0 { "none failed".to_owned() } else { format!("{} failed", count(self.failed)) });
        if self.end.is_none_or(|end| tick.to <= end) {
            parts.extend(tick.tps().map(|tps| format!("{} journeys/s", quantity::decimal(tps, 1))));
            parts.extend(tick.events_per_second().map(|events| format!("{} events/s", count(events.round() as u64))));
        }
        parts.extend(self.screen.stage.server().as_ref().map(|now| format!("server {}", now.used())));
        parts.join(" · ")
    }
}

/// On a narrower terminal the bar is short, so that the figures behind it have room.
const WIDE_MIN: u16 = 80;

/// One line, cut at the terminal's width: a line that wraps cannot be drawn over.
fn style() -> ProgressStyle {
    let is_narrow = terminal_size::terminal_size_of(io::stderr()).is_some_and(|(width, _)| width.0 < WIDE_MIN);
    let template = if is_narrow { "  {prefix}{bar:8} {wide_msg}" } else { "  {prefix}{bar:20} {wide_msg}" };
    ProgressStyle::with_template(template).expect("the template is ours").progress_chars("━━─")
}

/// Writes a line to standard error in which nothing of a load is quoted. That it cannot be written (the terminal is gone) changes nothing.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The same of a load, without its secrets.
pub fn complain_without(known: &KnownSecrets, text: &str) {
    complain(&known.conceal(text));
}

/// `0:07`, `12:30`, `1:00:00`.
fn clock(span: Nanos) -> String {
    let secs = Duration::from(span).as_secs_f64().round() as u64;
    let (hours, minutes, secs) = (secs / 3600, secs / 60 % 60, secs % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{secs:02}") } else { format!("{minutes}:{secs:02}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;
    use plan::Draft;

    #[test]
    fn a_clock_reads_as_on_a_watch() {
        assert_eq!([7, 750, 3600].map(|secs| clock(Nanos::from_secs(secs))), ["0:07", "12:30", "1:00:00"]);
    }

    #[test]
    fn progress_tells_elapsed_left_rate_and_failures() {
        let draft = Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() };
        let mut progress = Screen::new(Remarks::Quiet, &KnownSecrets::default()).follow(&Plan::try_from(draft).unwrap(), "");
        let (_, summary) = fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap();
        let tick = |from, to| Tick {
            from: Nanos::from_secs(from),
            to: Nanos::from_secs(to),
            warmup: false,
            answered: 1234,
            succeeded: 1200,
            failed: 34,
            unsent: 0,
            ..summary.timeline[0].clone()
        };
        progress.tick(&tick(0, 1));
        progress.tick(&tick(1, 2));
        assert_eq!(progress.line(&tick(1, 2)), "0:02 · 0:08 left · 1,234 req/s · 68 failed");
        let journeys = Some(measure::JourneysTick { started: 9, completed: 7, succeeded: 7, broke_off: 1 });
        let of_journeys = Tick { journeys, ..tick(1, 2) };
        assert_eq!(progress.line(&of_journeys), "0:02 · 0:08 left · 1,234 req/s · 68 failed · 7.0 journeys/s");
        let streamed = fixtures::summaries().into_iter().find(|(name, _)| *name == "answers_that_streamed").unwrap().1;
        let of_events = Tick { streams: streamed.timeline[5].streams.clone(), ..tick(1, 2) };
        let events = of_events.streams.as_ref().unwrap().events;
        assert_eq!(progress.line(&of_events), format!("0:02 · 0:08 left · 1,234 req/s · 68 failed · {} events/s", count(events)));
        assert_eq!(progress.line(&tick(10, 11)), "0:11 · waiting for the last answers · 68 failed");
        let watched = fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").unwrap().1;
        *progress.screen.stage.server() = Now::of(&watched.observed);
        assert_eq!(progress.line(&tick(1, 2)), "0:02 · 0:08 left · 1,234 req/s · 68 failed · server 1.04 of 4 cores");
        // Beside the bar of a narrow terminal.
        let room = 60 - "  ━━━━━━━━ ".chars().count();
        let seen: String = progress.line(&tick(1, 2)).chars().take(room).collect();
        assert!(seen.contains("68 failed"), "{seen}");
    }

    #[test]
    fn a_line_comes_every_ten_seconds_whatever_the_number_of_loads() {
        let draft = Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() };
        let plan = Plan::try_from(draft).unwrap();
        let screen = Screen::new(Remarks::Quiet, &KnownSecrets::default());
        let first = screen.follow(&plan, "level 1 of 2");
        let began = screen.stage.spoke().unwrap();
        let at = |secs| began + Duration::from_secs(secs);
        assert_eq!([9, 10, 11].map(|secs| first.is_time(at(secs))), [false, true, false]);
        let second = screen.follow(&plan, "level 2 of 2");
        assert_eq!([19, 20, 29, 31].map(|secs| second.is_time(at(secs))), [false, true, false, true]);
    }

    #[test]
    fn who_wants_no_progress_or_is_quiet_gets_none() {
        let lines = |voice, how| Screen::new(voice, &KnownSecrets::default()).telling(how).lines;
        assert_eq!(lines(Remarks::Talking, Telling::Plain), Lines::Written);
        assert_eq!(lines(Remarks::Talking, Telling::None), Lines::Unwanted);
        assert_eq!(lines(Remarks::Quiet, Telling::Plain), Lines::Unwanted);
    }
}
