//! What the view shows, and where: a function of what is known so far and of the room there is.
//!
//! The answer to "how is it going?" stands in the same place all the time: load at the top, throughput and response
//! times with their last minutes, failures with their classes, and whether this machine can still be trusted. What has
//! been measured before in the same command (the levels of a sweep, the trials of a search) stands below, newest last.
//! Room that is left goes to the graphs, to answers by status and to the rows of a scenario, in this order; what does not fit is left
//! out whole. Nothing blinks, nothing moves but the figures, and colour only repeats what the words say.

use std::collections::BTreeMap;
use std::time::Duration;

use analysis::quantity::{self, NONE};
use analysis::server_side::Now;
use measure::{Failure, RowKind, RowSoFar, RowsSoFar, Snapshot, Status, Tick};
use plan::{Nanos, Plan};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::history::History;

/// The least room it is drawn in: columns and rows.
pub(crate) const ROOM_MIN: (u16, u16) = (80, 20);

/// Rows of one figure's history: at least, and where there is room.
const GRAPH_ROWS: (u16, u16) = (2, 7);

/// Rows below the graphs that they leave free where something was printed before: heads, and the newest of it.
const PRINTED_ROWS: u16 = 8;

/// Rows of a kind that are listed; of more, those with the most failures say more than a page of rows.
const ROWS_MAX: usize = 12;

/// Above the rows of a kind: a free line, and the heads.
const ROWS_HEAD: usize = 2;

/// Columns of a figure's name, and of its value.
const NAME: usize = 11;
const VALUE: usize = 13;

/// Of a whole second the latest send is known here, and a single late one is nothing; beyond this it is.
const LAG_WARNED: Nanos = Nanos::from_millis(20);

/// So much of its cores in use, and the generator may be what limits.
const PROCESSOR_WARNED: f64 = 0.85;

/// Whether meaning is underlined with colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Palette {
    /// Bold and dim only.
    Plain,
    /// Also colours.
    Colours,
}

/// Everything that is known so far.
#[derive(Debug, Clone)]
pub struct View {
    palette: Palette,
    /// What is done: the command's name.
    command: String,
    /// What is asked, how the load is made.
    request: String,
    load: String,
    /// Which of several runs this is; empty for one alone.
    part: String,
    end: Option<Nanos>,
    requests: Option<u64>,
    warmup: Nanos,
    threads: u32,
    now: Nanos,
    begun: bool,
    due: u64,
    ended: u64,
    failed: u64,
    unsent: u64,
    classes: BTreeMap<Failure, u64>,
    /// Answers so far by status.
    statuses: BTreeMap<u16, u64>,
    /// Of a scenario: its populations, transactions and steps so far.
    rows: RowsSoFar,
    /// Whether the load has a rate of its own, and what fell due and succeeded in the last second that counts.
    is_open: bool,
    due_a_second: f64,
    succeeded_a_second: f64,
    in_flight: u64,
    connections: u64,
    processor: f64,
    lag_max: Nanos,
    /// What the server did a moment ago, if it is watched.
    server: Option<Now>,
    qps: History,
    p50: History,
    p99: History,
    /// Of a scenario: those to their end in the last second that counts, and those that broke off so far.
    journeys: Option<(f64, u64)>,
    /// Of answers that stream: events in the last second that counts, and how long the first of an answer took, on average and at most.
    events: Option<(f64, Option<f64>, Option<Nanos>)>,
    /// What the command has printed so far, line by line.
    printed: Vec<String>,
    /// Said beside the results.
    remark: String,
    /// How often the user asked for the end.
    asked_to_end: u8,
}

impl View {
    /// Of a command, before its first run.
    #[must_use]
    pub fn new(command: &str, palette: Palette) -> Self {
        Self {
            palette,
            command: command.to_owned(),
            request: String::new(),
            load: String::new(),
            part: String::new(),
            end: None,
            requests: None,
            warmup: Nanos::ZERO,
            threads: 1,
            now: Nanos::ZERO,
            begun: false,
            due: 0,
            ended: 0,
            failed: 0,
            unsent: 0,
            classes: BTreeMap::new(),
            statuses: BTreeMap::new(),
            rows: RowsSoFar::default(),
            is_open: false,
            due_a_second: 0.0,
            succeeded_a_second: 0.0,
            in_flight: 0,
            connections: 0,
            processor: 0.0,
            lag_max: Nanos::ZERO,
            server: None,
            qps: History::default(),
            p50: History::default(),
            p99: History::default(),
            journeys: None,
            events: None,
            printed: Vec::new(),
            remark: String::new(),
            asked_to_end: 0,
        }
    }

    /// A run begins. What was printed and said stays, and so do the graphs: the levels of a sweep are one climb, and until the first
    /// second of a level is over the last one of the level before is shown.
    pub fn begin(&mut self, plan: &Plan, part: &str) {
        *self = Self {
            request: report::request_of(plan),
            load: report::load_of(plan),
            part: part.to_owned(),
            end: plan.duration().map(|_| plan.end()),
            requests: plan.requests().map(std::num::NonZeroU64::get),
            warmup: plan.warmup(),
            threads: plan.threads().get(),
            journeys: plan.scenario().map(|_| (0.0, 0)),
            is_open: plan.load().is_open(),
            begun: true,
            qps: std::mem::take(&mut self.qps),
            p50: std::mem::take(&mut self.p50),
            p99: std::mem::take(&mut self.p99),
            due_a_second: self.due_a_second,
            succeeded_a_second: self.succeeded_a_second,
            in_flight: self.in_flight,
            connections: self.connections,
            printed: std::mem::take(&mut self.printed),
            remark: std::mem::take(&mut self.remark),
            asked_to_end: self.asked_to_end,
            ..Self::new(&self.command, self.palette)
        };
    }

    /// One more interval of the run.
    pub fn tick(&mut self, tick: &Tick) {
        self.now = tick.to;
        self.due += tick.due;
        self.ended += tick.succeeded + tick.failed + tick.unsent;
        self.failed += tick.failed;
        self.unsent += tick.unsent;
        for (class, count) in &tick.failures {
            *self.classes.entry(*class).or_default() += count;
        }
        self.in_flight = tick.in_flight;
        self.connections = tick.connections;
        if let (Some((_, broke_off)), Some(more)) = (&mut self.journeys, &tick.journeys) {
            *broke_off += more.broke_off;
        }
        // After its end no load is offered: a rate of answers would look like a collapse, and what loadline takes for nothing.
        if self.end.is_some_and(|end| tick.to > end) {
            return;
        }
        let span = tick.to.since(tick.from).as_secs_f64();
        self.processor = if span > 0.0 { tick.cpu.as_secs_f64() / span } else { 0.0 };
        self.lag_max = tick.lag_max;
        self.qps.push(Some(tick.qps()));
        if span > 0.0 {
            self.due_a_second = tick.due as f64 / span;
            self.succeeded_a_second = tick.succeeded as f64 / span;
        }
        if let (Some((last, _)), Some(tps)) = (&mut self.journeys, tick.tps()) {
            *last = tps;
        }
        if let (Some(streams), Some(a_second)) = (&tick.streams, tick.events_per_second()) {
            self.events = Some((a_second, streams.first_event.mean(), streams.first_event.max()));
        }
        let times = tick.response_time.unpack().ok();
        let quantile = |q| times.as_ref().and_then(|times| times.quantile(q)).map(|time| time.0 as f64);
        self.p50.push(quantile(0.5));
        self.p99.push(quantile(0.99));
    }

    /// What was counted in the same interval: answers by status, and the rows of a scenario.
    pub fn counts(&mut self, counts: &Snapshot) {
        for (status, count) in counts.statuses() {
            *self.statuses.entry(status).or_default() += count;
        }
        self.rows.add(&counts.tally);
    }

    /// What the server did a moment ago.
    pub fn server(&mut self, now: Option<Now>) {
        self.server = now;
    }

    /// What the command prints stands below, its last lines.
    pub fn print(&mut self, text: &str) {
        self.printed.extend(without_colour(text).lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
    }

    /// Something said beside the results; replaces what was said before.
    pub fn say(&mut self, text: &str) {
        text.lines().next().unwrap_or_default().clone_into(&mut self.remark);
    }

    /// The user asked for the end, once more.
    pub fn asked_to_end(&mut self) {
        self.asked_to_end = self.asked_to_end.saturating_add(1);
    }

    /// Draws all of it.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let width = usize::from(area.width);
        let mut lines = vec![Line::default()];
        lines.extend(self.journeys_line());
        lines.extend(self.events_line());
        lines.push(self.in_flight_line());
        lines.extend(self.failures());
        lines.extend(self.server_line());
        lines.push(self.machine_line());
        let (least, most) = GRAPH_ROWS;
        // Head, a free line, and the foot are always there.
        let mut free = area.height.saturating_sub(7 + 3 * least + lines.len() as u16);
        let statuses = self.statuses_lines(width);
        if statuses.len() <= usize::from(free) {
            free -= statuses.len() as u16;
            lines.extend(statuses);
        }
        // Journeys have a line of their own.
        for kind in [RowKind::Population, RowKind::Transaction, RowKind::Step, RowKind::Url] {
            let rows = self.rows_lines(kind, width, usize::from(free));
            free -= rows.len() as u16;
            lines.extend(rows);
        }
        let reserved = if self.printed.is_empty() { 0 } else { PRINTED_ROWS };
        let rows = (least + free.saturating_sub(reserved) / 3).min(most);
        let [head, _, figures, health, printed, foot] = Layout::vertical([
            Constraint::Length(4),
            Constraint::Length(1),
            Constraint::Length(3 * rows),
            Constraint::Length(lines.len() as u16),
            Constraint::Fill(1),
            Constraint::Length(2),
        ])
        .areas(area);
        frame.render_widget(Paragraph::new(self.head(usize::from(head.width))), head);
        self.figures(frame, figures, rows);
        frame.render_widget(Paragraph::new(lines), health);
        self.printed(frame, printed);
        frame.render_widget(Paragraph::new(self.foot()), foot);
    }

    fn head(&self, width: usize) -> Vec<Line<'_>> {
        let mut title = vec![Span::styled(format!("  loadline {}", self.command), self.bold())];
        if !self.part.is_empty() {
            title.push(Span::raw(format!("   {}", self.part)));
        }
        vec![
            Line::from(title),
            Line::raw(cut(&format!("  {}", self.request), width)),
            Line::styled(cut(&format!("  {}", self.load), width), self.dim()),
            self.progress(width),
        ]
    }

    fn progress(&self, width: usize) -> Line<'_> {
        if !self.begun {
            return Line::raw("  starting");
        }
        let mut said = vec![clock(self.now)];
        let share = match (self.end, self.requests) {
            (Some(end), _) => {
                said.push(if self.now < end {
                    format!("{} left", clock(end.since(self.now)))
                } else {
                    "waiting for the last answers".to_owned()
                });
                self.now.as_secs_f64() / end.as_secs_f64().max(1e-9)
            }
            (None, Some(requests)) => {
                said.push(format!("{} of {} requests", quantity::count(self.ended), quantity::count(requests)));
                self.ended as f64 / requests.max(1) as f64
            }
            (None, None) => 0.0,
        };
        if self.now <= self.warmup && self.warmup > Nanos::ZERO {
            said.push("warming up, not counted".to_owned());
        }
        let said = said.join(" · ");
        let room = width.saturating_sub(said.chars().count() + 6).min(40);
        let full = ((share.clamp(0.0, 1.0)) * room as f64).round() as usize;
        Line::from(vec![
            Span::raw(format!("  {}", "━".repeat(full))),
            Span::styled("─".repeat(room - full), self.dim()),
            Span::raw(format!("  {said}")),
        ])
    }

    fn figures(&self, frame: &mut Frame<'_>, area: Rect, graph_rows: u16) {
        let time = |history: &History| history.last().map_or_else(|| NONE.to_owned(), quantity::time);
        let rows = [
            ("QPS", self.qps.last().map_or_else(|| NONE.to_owned(), |qps| quantity::count(qps.round() as u64)), &self.qps),
            ("p50", time(&self.p50), &self.p50),
            ("p99", time(&self.p99), &self.p99),
        ];
        let room = usize::from(area.width).saturating_sub(2 + NAME + VALUE + 4);
        // A run whose end is known takes all the room by then.
        let seconds = self.end.map_or(0, |end| Duration::from(end).as_secs() as usize);
        let mut lines = Vec::new();
        for (name, value, history) in rows {
            let beside = if name == "QPS" { self.beside_qps() } else { Vec::new() };
            for (row, graph) in history.lines(room, usize::from(graph_rows), seconds).into_iter().enumerate() {
                // The name stands beside the foot of its graph, and what belongs to it above.
                let last = row + 1 == usize::from(graph_rows);
                let above = (row + 1 + beside.len()).checked_sub(usize::from(graph_rows)).and_then(|at| beside.get(at));
                let (label, figure) = match above {
                    _ if last => (format!("  {name:<NAME$}"), format!("{value:>VALUE$}   ")),
                    Some((word, figure)) => (format!("  {word:<NAME$}"), format!("{figure:>VALUE$}   ")),
                    None => (" ".repeat(2 + NAME), " ".repeat(VALUE + 3)),
                };
                lines.push(Line::from(vec![
                    Span::raw(label),
                    Span::styled(figure, self.bold()),
                    Span::styled(graph, self.tone(Color::Cyan)),
                ]));
            }
        }
        frame.render_widget(Paragraph::new(lines), area);
    }

    /// What stands above the figure of answers a second: what fell due, where the load has a rate, and what succeeded, where not all did.
    fn beside_qps(&self) -> Vec<(&'static str, String)> {
        let whole = |figure: f64| quantity::count(figure.round() as u64);
        let mut beside = Vec::new();
        if self.failed > 0 {
            beside.push(("succeeded", whole(self.succeeded_a_second)));
        }
        if self.is_open && self.now > Nanos::ZERO {
            beside.push(("asked for", whole(self.due_a_second)));
        }
        beside
    }

    /// Answers by status, as many as stand in a line.
    fn statuses_lines(&self, width: usize) -> Vec<Line<'_>> {
        if self.statuses.is_empty() {
            return Vec::new();
        }
        let mut all: Vec<(&u16, &u64)> = self.statuses.iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let told: Vec<String> = all.iter().map(|(status, count)| format!("{status}: {}", quantity::count(**count))).collect();
        vec![Line::raw(cut(&format!("  status     {}", told.join("   ")), width))]
    }

    /// The rows of a kind, as many as there is room for: all in their own order, else those with the most failures first, and
    /// then those with the most requests.
    fn rows_lines(&self, kind: RowKind, width: usize, room: usize) -> Vec<Line<'_>> {
        let mut listed: Vec<&RowSoFar> = self.rows.of(kind).collect();
        let all = listed.len();
        let rows = room.saturating_sub(ROWS_HEAD).min(ROWS_MAX);
        // Of more than that, the last row says so.
        let shown = if all <= rows { all } else { rows.saturating_sub(1) };
        if shown == 0 {
            return Vec::new();
        }
        if shown < all {
            listed.sort_by_key(|row| std::cmp::Reverse((row.bad, row.begun)));
            listed.truncate(shown);
        }
        let longest = listed.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).clamp(kind.name().len(), 40);
        let (begun, took) = if kind.is_of_several() { ("started", "time") } else { ("requests", "latency") };
        let head = format!("  {:<longest$}  {begun:>12}  {:>10}  {took:>10}", kind.name(), "failed");
        let mut lines = vec![Line::default(), Line::styled(cut(&head, width), self.dim())];
        for row in listed {
            let mean = row.mean.map_or_else(|| NONE.to_owned(), quantity::time);
            let (begun, bad) = (quantity::count(row.begun), quantity::count(row.bad));
            let style = if row.bad > 0 { self.tone(Color::Red) } else { Style::default() };
            let text = format!("  {:<longest$}  {begun:>12}  {bad:>10}  {mean:>10}", cut(&row.name, longest));
            lines.push(Line::styled(cut(&text, width), style));
        }
        if shown < all {
            lines.push(Line::styled(cut(&format!("  and {} more", all - shown), width), self.dim()));
        }
        lines
    }

    /// Journeys beside requests: how many come to their end.
    fn journeys_line(&self) -> Option<Line<'_>> {
        let (tps, broke_off) = self.journeys?;
        let tps = if tps < 100.0 { quantity::decimal(tps, 1) } else { quantity::count(tps.round() as u64) };
        let broken = if broke_off > 0 { format!("; {} broke off", quantity::count(broke_off)) } else { String::new() };
        Some(Line::raw(format!("  TPS        {tps:>VALUE$}   journeys to their end a second{broken}")))
    }

    /// Events of answers that stream, and how long the first of each took.
    fn events_line(&self) -> Option<Line<'_>> {
        let (a_second, mean, most) = self.events?;
        let first =
            mean.map_or_else(String::new, |mean| format!("; first event: mean {}, max {}", quantity::time(mean), quantity::nanos(most)));
        let a_second = quantity::count(a_second.round() as u64);
        Some(Line::raw(format!("  events     {a_second:>VALUE$}   a second{first}")))
    }

    fn in_flight_line(&self) -> Line<'_> {
        let connections = quantity::counted(self.connections, "connection");
        Line::raw(format!("  in flight  {:>VALUE$}   on {connections}", quantity::count(self.in_flight)))
    }

    /// What the server takes: of how many cores, and what waits for it.
    fn server_line(&self) -> Option<Line<'_>> {
        let now = self.server?;
        Some(Line::raw(format!("  server     {:>VALUE$}   {}", quantity::decimal(now.cpu, 2), now.told())))
    }

    /// What loadline itself takes and adds: whether the figures above are the server's.
    fn machine_line(&self) -> Line<'_> {
        let cores = quantity::decimal(self.processor, 2);
        let mut health = format!("  loadline   {cores:>VALUE$}   cores, in {}", quantity::counted(self.threads.into(), "thread"));
        if self.lag_max > Nanos::ZERO {
            health += &format!(", sends at most {} late", quantity::time(self.lag_max.0 as f64));
        }
        if self.processor > PROCESSOR_WARNED * f64::from(self.threads) || self.lag_max > LAG_WARNED {
            health += ": may be the limit";
            return Line::styled(health, self.tone(Color::Yellow));
        }
        Line::styled(health, self.dim())
    }

    /// One line for all, and one for each of the most frequent classes.
    fn failures(&self) -> Vec<Line<'_>> {
        const CLASSES_MAX: usize = 3;
        let bad = self.failed + self.unsent;
        if bad == 0 {
            return vec![Line::raw(format!("  failed     {:>VALUE$}", "none"))];
        }
        let share = quantity::share(bad, self.ended.max(bad));
        let mut lines = vec![Line::styled(format!("  failed     {:>VALUE$}   {share}", quantity::count(bad)), self.tone(Color::Red))];
        let mut classes: Vec<(&Failure, &u64)> = self.classes.iter().collect();
        classes.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        for (class, count) in classes.iter().take(CLASSES_MAX) {
            lines.push(Line::raw(format!("             {:>VALUE$}   {}: {}", quantity::count(**count), class.side(), self.named(**class))));
        }
        let rest: u64 = classes.iter().skip(CLASSES_MAX).map(|(_, count)| **count).sum();
        if rest > 0 {
            lines.push(Line::raw(format!("             {:>VALUE$}   of other classes", quantity::count(rest))));
        }
        if self.unsent > 0 {
            lines.push(Line::raw(format!(
                "             {:>VALUE$}   never sent: no connection was free in time",
                quantity::count(self.unsent)
            )));
        }
        lines
    }

    /// What a class is about; of error statuses, which.
    fn named(&self, class: Failure) -> String {
        let mut errors: Vec<(&u16, &u64)> = self.statuses.iter().filter(|(status, _)| !Status(**status).is_success()).collect();
        if class != Failure::CheckStatus || errors.is_empty() {
            return class.about().to_owned();
        }
        errors.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let told: Vec<String> = errors.iter().take(3).map(|(status, _)| format!("{status} {}", report::reason(**status))).collect();
        told.iter().map(|told| told.trim_end()).collect::<Vec<_>>().join(", ")
    }

    fn printed(&self, frame: &mut Frame<'_>, area: Rect) {
        let room = usize::from(area.height).saturating_sub(1);
        if self.printed.is_empty() || room < 2 {
            return;
        }
        // The heads of the columns stay when rows scroll away.
        let (head, rows) = self.printed.split_at(1);
        let from = rows.len().saturating_sub(room - 1);
        let mut lines = vec![Line::default(), Line::styled(head[0].clone(), self.dim())];
        lines.extend(rows[from..].iter().map(|row| Line::raw(row.clone())));
        frame.render_widget(Paragraph::new(lines), area);
    }

    fn foot(&self) -> Vec<Line<'_>> {
        let keys = match self.asked_to_end {
            0 => "  q  ends the load and reports what was measured",
            1 => "  ending: waiting for the last answers, then the report   q  ends at once",
            _ => "  ending at once",
        };
        vec![Line::raw(format!("  {}", self.remark)), Line::styled(keys, self.dim())]
    }

    fn bold(&self) -> Style {
        Style::default().add_modifier(Modifier::BOLD)
    }

    fn dim(&self) -> Style {
        Style::default().add_modifier(Modifier::DIM)
    }

    fn tone(&self, colour: Color) -> Style {
        match self.palette {
            Palette::Plain => Style::default(),
            Palette::Colours => Style::default().fg(colour),
        }
    }
}

/// `0:07`, `12:30`, `1:00:00`.
fn clock(span: Nanos) -> String {
    let secs = Duration::from(span).as_secs_f64().round() as u64;
    let (hours, minutes, secs) = (secs / 3600, secs / 60 % 60, secs % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{secs:02}") } else { format!("{minutes}:{secs:02}") }
}

/// At most so many columns, with an ellipsis where something is missing.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Without ANSI colours, which mean nothing inside the view.
fn without_colour(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain += before;
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;
    use plan::Draft;
    use ratatui::backend::TestBackend;

    fn plan(draft: Draft) -> Plan {
        Plan::try_from(Draft { url: Some("http://a.test/search?q=1".to_owned()), threads: "2".parse().ok(), ..draft }).unwrap()
    }

    /// What stands on a terminal of that size.
    fn screen(view: &View, (width, height): (u16, u16)) -> String {
        let mut terminal = ratatui::Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view.draw(frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let rows = (0..height).map(|y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }

    fn ticks(name: &str) -> Vec<Tick> {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1.timeline.clone()
    }

    #[test]
    fn a_run_that_goes_well_at_the_least_size() {
        let mut view = View::new("run", Palette::Plain);
        view.begin(&plan(Draft::default()), "");
        ticks("closed_all_well").iter().for_each(|tick| view.tick(tick));
        insta::assert_snapshot!(screen(&view, ROOM_MIN));
    }

    #[test]
    fn failures_are_told_by_class_and_side() {
        let mut view = View::new("run", Palette::Plain);
        view.begin(&plan(Draft { rate: "500/s".parse().ok(), ..Draft::default() }), "");
        let mut tick = ticks("closed_all_well").remove(0);
        tick.failed = 9;
        tick.unsent = 2;
        tick.failures =
            [(Failure::ConnectRefused, 2), (Failure::RecvReset, 4), (Failure::RecvTotalTimeout, 1), (Failure::SendReset, 2)].into();
        tick.lag_max = Nanos::from_millis(30);
        view.tick(&tick);
        view.say("a remark");
        view.asked_to_end();
        insta::assert_snapshot!(screen(&view, (100, 26)));
    }

    #[test]
    fn journeys_stand_beside_requests() {
        let mut view = View::new("run", Palette::Plain);
        let shop = fixtures::journeys_of_a_shop();
        view.begin(&shop.plan, "");
        shop.timeline.iter().filter(|tick| tick.to <= shop.ended.load_until).for_each(|tick| view.tick(tick));
        let shown = screen(&view, ROOM_MIN);
        let line = shown.lines().find(|line| line.contains("TPS")).unwrap_or_else(|| panic!("{shown}"));
        assert!(line.contains("journeys to their end a second; ") && line.ends_with("broke off"), "{line}");
        let tps = line.split_whitespace().nth(1).unwrap().replace(',', "").parse::<f64>().unwrap();
        assert!(tps > 300.0, "{shown}");
        assert!(shown.contains("q  ends the load"), "{shown}");
    }

    #[test]
    fn events_stand_beside_requests() {
        let mut view = View::new("run", Palette::Plain);
        view.begin(&plan(Draft::default()), "");
        assert!(!screen(&view, ROOM_MIN).contains("events"), "nothing streamed yet");
        ticks("answers_that_streamed").iter().filter(|tick| tick.to <= Nanos::from_secs(8)).for_each(|tick| view.tick(tick));
        let shown = screen(&view, ROOM_MIN);
        let line = shown.lines().find(|line| line.starts_with("  events")).unwrap_or_else(|| panic!("{shown}"));
        let a_second = line.split_whitespace().nth(1).unwrap().replace(',', "").parse::<f64>().unwrap();
        assert!(
            (900.0..1_300.0).contains(&a_second) && line.contains(" a second; first event: mean ") && line.contains(" ms, max "),
            "{line}"
        );
        assert!(shown.contains("q  ends the load"), "{shown}");
    }

    #[test]
    fn what_the_server_does_stands_above_what_loadline_does() {
        let mut view = View::new("run", Palette::Plain);
        view.begin(&plan(Draft::default()), "");
        let run = fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_watched").unwrap().1;
        run.timeline.iter().for_each(|tick| view.tick(tick));
        view.server(Now::of(&run.observed));
        let shown = screen(&view, ROOM_MIN);
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines.iter().position(|line| line.starts_with("  server")).unwrap_or_else(|| panic!("{shown}"));
        assert!(lines[at].ends_with("1.04   of 4 cores, busiest thread 99 %, 129 queued"), "{shown}");
        assert!(lines[at + 1].starts_with("  loadline") && shown.contains("q  ends the load"), "{shown}");
        view.begin(&plan(Draft::default()), "next");
        assert!(!screen(&view, ROOM_MIN).contains("server"), "of another run nothing is known yet");
    }

    #[test]
    fn what_was_measured_before_stays_in_sight() {
        let mut view = View::new("sweep", Palette::Plain);
        view.print("  users    QPS\n");
        (0..30).for_each(|row| view.print(&format!("  \x1b[32m{row:>5}\x1b[0m  1,000\n")));
        view.begin(&plan(Draft::default()), "200 users, level 8 of 12");
        let shown = screen(&view, (80, 24));
        assert!(shown.contains("users    QPS") && shown.contains("   29  1,000") && !shown.contains("    0  1,000"), "{shown}");
        assert!(shown.contains("loadline sweep   200 users, level 8 of 12"), "{shown}");
    }

    #[test]
    fn room_that_is_left_goes_to_graphs_statuses_and_steps() {
        let mut view = View::new("run", Palette::Plain);
        view.begin(&plan(Draft { rate: "500/s".parse().ok(), ..Draft::default() }), "");
        let mut tick = ticks("closed_all_well").remove(0);
        tick.failed = 9;
        tick.failures = [(Failure::CheckStatus, 9)].into();
        view.tick(&tick);
        let mut counts = Snapshot::default();
        (0..91).for_each(|_| counts.count_status(200));
        (0..9).for_each(|_| counts.count_status(429));
        view.counts(&counts);
        insta::assert_snapshot!(screen(&view, (120, 40)));
    }

    #[test]
    fn steps_that_fail_are_shown_first_where_not_all_have_room() {
        let mut view = View::new("run", Palette::Plain);
        view.begin(&plan(Draft::default()), "");
        ticks("closed_all_well").iter().take(1).for_each(|tick| view.tick(tick));
        let steps = |count: u64| {
            let step = |at: u64| measure::StepCounts {
                due: 100 + at,
                failures: (at == 3).then_some((Failure::CheckStatus, 7)).into_iter().collect(),
                ..measure::StepCounts::named(format!("step {at}").into(), 0, [])
            };
            let journeys = vec![measure::JourneyCounts::named("buy".into())];
            measure::Tally { journeys, steps: (0..count).map(step).collect(), ..measure::Tally::default() }
        };
        view.rows.add(&steps(20));
        let listed = |height: u16| -> Vec<String> {
            let shown = screen(&view, (80, height));
            let rows = shown.lines().filter(|line| line.starts_with("  step ") || line.starts_with("  and "));
            rows.skip(1).map(|line| line.split("  ").nth(1).unwrap().trim().to_owned()).collect()
        };
        assert_eq!(listed(20 + 2), ["step 3", "step 19", "and 18 more"]);
        let many = listed(60);
        assert_eq!((many.len(), many[0].as_str(), many.last().unwrap().as_str()), (ROWS_MAX, "step 3", "and 9 more"));
        view.rows = RowsSoFar::default();
        view.rows.add(&steps(3));
        assert_eq!(view.rows_lines(RowKind::Step, 80, 5).len(), 5, "all of them, in their own order");
        assert!(view.rows_lines(RowKind::Step, 80, 2).is_empty());
    }

    #[test]
    fn populations_transactions_and_steps_have_rows_of_their_own() {
        let mut view = View::new("run", Palette::Plain);
        let shop = fixtures::journeys_of_a_shop();
        view.begin(&shop.plan, "");
        view.tick(&shop.timeline[0]);
        let mut counts = Snapshot::default();
        let row = |name: &str, due| measure::PopulationCounts { due, unsent: 1, ..measure::PopulationCounts::named(name.to_owned()) };
        counts.tally.populations = vec![row("customers", 900), row("office", 30)];
        counts.tally.journeys = vec![measure::JourneyCounts::named("buy".into())];
        counts.tally.transactions = vec![measure::JourneyCounts { started: 300, ..measure::JourneyCounts::named("checkout".into()) }];
        counts.tally.steps = vec![measure::StepCounts { due: 930, ..measure::StepCounts::named("POST /login".into(), 0, []) }];
        (0..2).for_each(|_| view.counts(&counts));
        insta::assert_snapshot!(screen(&view, (80, 40)));
    }

    #[test]
    fn what_loadline_took_at_the_end_of_the_load_stays_in_sight() {
        let mut view = View::new("run", Palette::Plain);
        view.begin(&plan(Draft { duration: "10s".parse().ok(), ..Draft::default() }), "");
        let (cpu, lag_max) = (Nanos::from_millis(700), Nanos::from_millis(3));
        let last = Tick { from: Nanos::from_secs(9), to: Nanos::from_secs(10), cpu, lag_max, ..ticks("closed_all_well").remove(0) };
        view.tick(&last);
        let drain = Tick { from: last.to, to: Nanos::from_secs(11), cpu: Nanos::ZERO, lag_max: Nanos::ZERO, ..last };
        view.tick(&drain);
        assert_eq!((view.processor, view.lag_max), (0.7, lag_max));
    }

    #[test]
    fn the_graphs_of_a_sweep_go_on_from_level_to_level() {
        let mut view = View::new("sweep", Palette::Plain);
        view.begin(&plan(Draft::default()), "1 user, level 1 of 2");
        ticks("closed_all_well").iter().take(1).for_each(|tick| view.tick(tick));
        let before = view.qps.clone();
        view.begin(&plan(Draft::default()), "2 users, level 2 of 2");
        assert_eq!(view.qps, before);
        assert!(!screen(&view, ROOM_MIN).contains(&format!("QPS        {NONE:>VALUE$}")));
    }

    #[test]
    fn any_size_is_drawn_without_a_panic() {
        let mut view = View::new("run", Palette::Colours);
        view.begin(&plan(Draft::default()), "part");
        ticks("closed_all_well").iter().for_each(|tick| view.tick(tick));
        view.print("  head\n  row\n");
        for size in [(1, 1), (3, 40), (300, 2), (80, 20), (500, 100)] {
            screen(&view, size);
        }
    }

    #[test]
    fn a_second_run_begins_with_no_failures_of_the_first() {
        let mut view = View::new("sweep", Palette::Plain);
        view.begin(&plan(Draft::default()), "one");
        let mut tick = ticks("closed_all_well").remove(0);
        tick.failed = 5;
        tick.failures = [(Failure::RecvReset, 5)].into();
        view.tick(&tick);
        view.begin(&plan(Draft::default()), "two");
        let shown = screen(&view, (100, 26));
        assert!(shown.contains("none") && !shown.contains("server:"), "{shown}");
    }
}
