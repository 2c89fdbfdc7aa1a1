//! The report that fits on a screen: what came out, whether promises were kept, how fast, what failed and why, what limits it.
//!
//! A terminal of 80 columns has 24 rows. A report that is longer has scrolled its answer away by the time it is read, and what stays
//! in view is its small print. So this one has a place for each question and a number of lines for all of them; what does not fit is
//! left out by rank, and said to be. Everything is in the whole report ([`crate::text`]), which a saved run is shown as.
//! Rejected: the whole report with its answer at the end, since nobody reads seventy lines twice.
//!
//! Invariants: with its closing line a plain run takes at most [`LINES_MAX`] lines at 80 columns. No broken promise and no
//! class of failures is left out before a remark is. Text from the server cannot steer the terminal.

use analysis::ceiling::CeilingUse;
use analysis::gate::{Change, Regression, Verdict};
use analysis::quantity::{self, NONE, count, counted, nanos, share, time};
use analysis::server_side::ServerSide;
use analysis::warmup::in_words;
use analysis::{Reading, Standing, disturbances};
use measure::{FailureCount, Histogram, RowKind, Status, Summary, WarmUp};
use plan::Nanos;

use crate::columns::{Columns, wrapped};
use crate::style::Tone;
use crate::visible::{shortened, visible};
use crate::{Style, journeys, profiles, story, streamed, text, websockets, wire};
use measure::reason;

/// The rows of a terminal, the saved-as line and the headline below it included.
pub const LINES_MAX: usize = 24;
/// The line that says under which name the run is saved, and a blank one above it.
const SAVED_LINES: usize = 2;
/// The percentiles that are asked for; the whole report has more.
const QUANTILES: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];
/// Times that differ by less than this share are one row.
const SAME_WITHIN: f64 = 0.05;
/// Of one kind of remark, of failures, of statuses and of steps, this many.
const REMARKS_MAX: usize = 3;
const FAILURES_MAX: usize = 3;
const STATUSES_MAX: usize = 6;
const STEPS_MAX: usize = 12;
/// An example, and the sentence that says what limits the server.
const EXAMPLE_LINES: usize = 4;
const EXAMPLE_LETTERS_MAX: usize = 240;
const LIMIT_LINES: usize = 2;
/// The headline below the report: the whole of it stands above.
const CLOSING_LINES: usize = 2;

/// How early something is left out where there is no room: what is never left out, then what goes last, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Kept,
    Cause,
    Warning,
    Remark,
    Gap,
    Aside,
}

struct Block {
    rank: Rank,
    lines: Vec<String>,
}

/// The report as it grows.
struct Screenful<'a> {
    blocks: Vec<Block>,
    style: &'a Style,
}

/// The report, without the line that names where the run is saved and without the one that closes it.
#[must_use]
pub fn short(reading: &Reading<'_>, style: &Style) -> String {
    let summary = reading.run;
    let mut page = Screenful { blocks: Vec::new(), style };
    page.gap();
    head(reading, &mut page);
    checks(reading, &mut page);
    against(reading, &mut page);
    // Steps stand in the place of the times of all requests together.
    if summary.scenario.is_none() {
        times(reading, &mut page);
    }
    rows(summary, &mut page);
    answers(summary, &mut page);
    failures(summary, &mut page);
    limits(reading, &mut page);
    remarks(reading, &mut page);
    let closing = closing(reading, style).lines().count();
    page.fitted(LINES_MAX.saturating_sub(closing + SAVED_LINES))
}

/// The headline once more, to stand last where a terminal shows the end: with broken promises and a run that is not to be trusted.
#[must_use]
pub fn closing(reading: &Reading<'_>, style: &Style) -> String {
    let broken = reading.checks.iter().filter(|judgement| judgement.verdict == Verdict::Broken).count() as u64;
    let mut parts = Vec::new();
    if reading.validity.standing != Standing::Valid {
        parts.push(reading.validity.standing.to_string());
    }
    if broken > 0 {
        parts.push(format!("{} of {} {}", count(broken), counted(reading.checks.len() as u64, "check"), Verdict::Broken.name()));
    }
    parts.extend(reading.against.as_ref().and_then(Regression::worse).map(|said| visible(&said)));
    let text = match parts.is_empty() {
        true => story::answer(reading),
        false => format!("{}: {}", parts.join(", "), story::answer(reading)),
    };
    let width = style.columns() - 2;
    // Behind its semicolon stands what failed: that is never left out without a mark.
    lines(style, tone(reading), &ended(&text, width, CLOSING_LINES), width).map(|line| format!("  {line}\n")).collect()
}

impl Screenful<'_> {
    fn push(&mut self, rank: Rank, lines: Vec<String>) {
        self.blocks.push(Block { rank, lines });
    }

    fn gap(&mut self) {
        if self.blocks.last().is_none_or(|block| block.rank != Rank::Gap) {
            self.push(Rank::Gap, vec![String::new()]);
        }
    }

    /// A text over the whole width.
    fn say(&mut self, rank: Rank, tone: Tone, text: &str) {
        let said = lines(self.style, tone, text, self.style.columns() - 2).map(|line| format!("  {line}")).collect();
        self.push(rank, said);
    }

    /// A name in the margin and a text beside it.
    fn entry(&mut self, rank: Rank, name: &str, tone: Tone, text: &str) {
        self.entry_of(rank, name, tone, text, usize::MAX);
    }

    /// The same in so many lines at most.
    fn entry_of(&mut self, rank: Rank, name: &str, tone: Tone, text: &str, lines_max: usize) {
        let width = self.style.columns() - text::MARGIN;
        let text = within(text, width, lines_max);
        let margin = text::MARGIN - 2;
        let said = lines(self.style, tone, &text, width)
            .enumerate()
            .map(|(at, line)| format!("  {:<margin$}{line}", if at == 0 { name } else { "" }))
            .collect();
        self.push(rank, said);
    }

    /// What fits: the highest rank goes first, and of one rank what stands last.
    fn fitted(mut self, lines_max: usize) -> String {
        let mut left_out = 0;
        while self.lines() + usize::from(left_out > 0) > lines_max {
            // Of several that are equal, `max_by_key` gives the last.
            let can_go = (0..self.blocks.len()).filter(|at| self.blocks[*at].rank > Rank::Kept);
            let Some(at) = can_go.max_by_key(|at| self.blocks[*at].rank) else { break };
            left_out += u64::from(self.blocks.remove(at).rank != Rank::Gap);
        }
        if left_out > 0 {
            let more = format!("and {} more: --full shows the whole report", count(left_out));
            self.entry(Rank::Kept, "", Tone::Aside, &more);
        }
        let lines = self.blocks.iter().flat_map(|block| &block.lines);
        lines.map(|line| format!("{}\n", line.trim_end())).collect()
    }

    fn lines(&self) -> usize {
        self.blocks.iter().map(|block| block.lines.len()).sum()
    }
}

fn lines<'a>(style: &'a Style, tone: Tone, text: &str, width: usize) -> impl Iterator<Item = String> + use<'a> {
    wrapped(text, width).into_iter().map(move |line| style.paint(tone, &line.replace('\u{a0}', " ")))
}

/// The text in so many lines: without what stands behind a semicolon, which the rest is true without, else with a mark where it is cut.
/// Rejected: a cut at a comma or a bracket without a mark, since "721 failed: never sent" is not what "… (700), 503 (21)" says.
fn within(text: &str, width: usize, lines_max: usize) -> String {
    let all = wrapped(text, width);
    if all.len() <= lines_max {
        return text.to_owned();
    }
    let cut = all[..lines_max].join(" ");
    match cut.rfind("; ").filter(|at| *at > cut.len() / 2) {
        Some(at) => cut[..at].to_owned(),
        None => ended(text, width, lines_max),
    }
}

/// The text in so many lines, with a mark where it is cut between words.
fn ended(text: &str, width: usize, lines_max: usize) -> String {
    let all = wrapped(text, width);
    if all.len() <= lines_max {
        return text.to_owned();
    }
    let cut = all[..lines_max].join(" ");
    format!("{}…", cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words))
}

fn tone(reading: &Reading<'_>) -> Tone {
    let requests = &reading.run.requests;
    if requests.due > 0 && requests.succeeded == 0 { Tone::Bad } else { Tone::Answer }
}

fn head(reading: &Reading<'_>, page: &mut Screenful<'_>) {
    let summary = reading.run;
    let until = match summary.measured_by {
        Some(_) => format!("for {}", quantity::length(summary.ended.load_until)),
        None => story::until(&summary.plan),
    };
    let warmup = match summary.excluded.duration_s {
        0.0 => String::new(),
        secs => format!(", after a warm-up of {}", quantity::length(Nanos((secs * 1e9) as u64))),
    };
    let over = if summary.measured_by.is_none() { story::over(summary) } else { String::new() };
    let span = format!("{over}, {until}{warmup}");
    let room = (page.style.columns() - 2).saturating_sub(span.chars().count());
    page.say(Rank::Aside, Tone::Aside, &format!("{}{span}", shortened(&story::requests_of(summary), room.saturating_sub(1))));
    page.gap();
    if let Some(ending) = story::ending(reading) {
        let (happened, _) = ending.split_once(": ").unwrap_or((&ending, ""));
        page.say(Rank::Kept, Tone::Caution, happened);
    }
    page.say(Rank::Kept, tone(reading), &story::answer(reading));
    let validity = &reading.validity;
    let causes = validity.causes.iter().filter(|cause| cause.standing > Standing::Valid).count() as u64;
    let worst = validity.causes.first().map_or_else(String::new, |cause| cause.what.to_string());
    let more = if causes > 1 { format!(" (and {})", counted(causes - 1, "more cause")) } else { String::new() };
    match validity.standing {
        Standing::Valid => {}
        Standing::Degraded => page.say(Rank::Kept, Tone::Caution, &format!("DEGRADED: {worst}{more}")),
        Standing::Invalid => page.say(Rank::Kept, Tone::Bad, &format!("{}: {worst}{more}", text::INVALID)),
    }
    page.gap();
}

/// So many checks leave room for a second line each.
const CHECKS_FEW: usize = 2;

/// Broken promises first; kept ones may have to go.
fn checks(reading: &Reading<'_>, page: &mut Screenful<'_>) {
    let mut checks: Vec<_> = reading.checks.iter().collect();
    checks.sort_by_key(|judgement| match judgement.verdict {
        Verdict::Broken => 0,
        Verdict::NotJudgeable { .. } => 1,
        Verdict::Held => 2,
    });
    let width = checks.iter().map(|judgement| judgement.verdict.name().len()).max().unwrap_or(0);
    for (at, judgement) in checks.into_iter().enumerate() {
        let rank = match judgement.verdict {
            Verdict::Broken | Verdict::NotJudgeable { .. } => Rank::Kept,
            Verdict::Held => Rank::Warning,
        };
        let lines_max = match judgement.verdict {
            Verdict::Broken => usize::MAX,
            // Why, and how much longer to run; of many, that they are not judged.
            Verdict::NotJudgeable { .. } if reading.checks.len() <= CHECKS_FEW => 2,
            _ => 1,
        };
        let name = if at == 0 { "checks" } else { "" };
        // Of one that is not judged, the figure says nothing that counts; why, and what to do, does.
        let about = match &judgement.verdict {
            Verdict::NotJudgeable { why } => why.to_string(),
            Verdict::Broken | Verdict::Held => judgement.about(),
        };
        page.entry_of(rank, name, text::verdict_tone(&judgement.verdict), &text::judged(judgement, &about, width), lines_max);
    }
    page.gap();
}

/// What came of holding it against a saved run; the figures only where they became worse.
fn against(reading: &Reading<'_>, page: &mut Screenful<'_>) {
    let Some(ruling) = &reading.against else { return };
    page.entry_of(Rank::Kept, "against", text::change_tone(ruling.verdict), &visible(&ruling.sentence()), 2);
    for row in ruling.rows.iter().filter(|row| row.verdict == Change::Worse) {
        page.entry(Rank::Cause, "", text::change_tone(row.verdict), &text::moved(row));
    }
    page.gap();
}

/// One table: mean, percentiles and the longest.
fn times(reading: &Reading<'_>, page: &mut Screenful<'_>) {
    let summary = reading.run;
    let response = &summary.response_time;
    if response.count() < 2 && summary.streams.is_none() {
        return;
    }
    let mut rows: Vec<(&str, &Histogram)> = vec![("response time", response)];
    if summary.plan.load().is_open() && differ(response, &summary.service_time) {
        rows.push(("service time", &summary.service_time));
    }
    let well = &summary.response_time_succeeded;
    if !well.is_empty() && well.count() < response.count() && differ(response, well) {
        rows.push((" of successes", well));
    }
    if let Some(streams) = &summary.streams {
        rows.extend([("first event", &streams.first_event), ("between events", &streams.between_events)]);
    }
    let known: Vec<f64> = QUANTILES.into_iter().filter(|q| rows.iter().any(|(_, times)| times.known_quantile(*q).is_some())).collect();
    let names: Vec<String> = known.iter().map(|q| quantity::percentile(*q)).collect();
    let heads: Vec<&str> = ["", "mean"].into_iter().chain(names.iter().map(String::as_str)).chain(["max"]).collect();
    let mut table = Columns::new(&heads);
    for (name, times) in &rows {
        let mut cells = vec![(*name).to_owned(), times.mean().map_or_else(|| NONE.to_owned(), time)];
        cells.extend(known.iter().map(|q| story::quantile(reading, times, *q)));
        cells.push(nanos(times.max()));
        table.row(&cells);
    }
    let width = page.style.columns() - 2;
    let lines = table.within(width, &["p95", "mean", "p99.9", "p90"]).into_iter().map(|line| format!("  {line}")).collect();
    page.push(Rank::Kept, lines);
    if let Some(said) = streamed::said(summary) {
        page.entry(Rank::Kept, "events", if summary.streams.is_some() { Tone::Normal } else { Tone::Caution }, &said);
    }
    if let Some(unasked) = websockets::unasked(summary) {
        page.entry(Rank::Aside, "unasked", Tone::Normal, &unasked);
    }
    let shown: Vec<&Histogram> = rows.iter().map(|(_, times)| *times).collect();
    if let Some(missing) = story::missing_among(reading, &shown, &known, &QUANTILES) {
        page.say(Rank::Aside, Tone::Aside, &missing);
    }
    page.gap();
}

fn differ(a: &Histogram, b: &Histogram) -> bool {
    let apart = |a: f64, b: f64| (a - b).abs() > a.max(b) * SAME_WITHIN;
    let means = a.mean().zip(b.mean()).is_some_and(|(a, b)| apart(a, b));
    let tails = a.known_quantile(0.99).zip(b.known_quantile(0.99)).is_some_and(|(a, b)| apart(a.0 as f64, b.0 as f64));
    means || tails
}

/// The rows of a scenario but for its journeys, or of a list of URLs.
fn rows(summary: &Summary, page: &mut Screenful<'_>) {
    for rows in journeys::Rows::all(summary).into_iter().filter(|rows| rows.kind != RowKind::Journey) {
        let mut table = Columns::new(rows.heads);
        rows.cells.iter().take(STEPS_MAX).for_each(|row| table.row(row));
        let width = page.style.columns() - 2;
        let lines = table.within(width, rows.least).into_iter().map(|line| format!("  {line}")).collect();
        page.push(Rank::Kept, lines);
        let more = rows.cells.len().saturating_sub(STEPS_MAX) as u64;
        if more > 0 {
            page.say(Rank::Kept, Tone::Aside, &format!("and {} more: --full", counted(more, rows.heads[0])));
        }
        page.gap();
    }
    for (at, line) in journeys::broken(journeys::counted(summary)).iter().take(REMARKS_MAX).enumerate() {
        page.entry_of(Rank::Cause, if at == 0 { "broken" } else { "" }, Tone::Bad, line, 2);
    }
}

fn answers(summary: &Summary, page: &mut Screenful<'_>) {
    if summary.status.is_empty() || summary.requests.due < 2 {
        return;
    }
    let mut statuses: Vec<(u16, u64)> = summary.status.iter().map(|(status, number)| (*status, *number)).collect();
    let more = statuses.len().saturating_sub(STATUSES_MAX) as u64;
    if more > 0 {
        statuses.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
        statuses.truncate(STATUSES_MAX);
    }
    let tone = if statuses.iter().any(|(status, _)| !Status(*status).is_success()) { Tone::Caution } else { Tone::Normal };
    let mut said: Vec<String> = statuses
        .iter()
        .map(|(status, number)| format!("{status}\u{a0}{}: {}", reason(*status).replace(' ', "\u{a0}"), count(*number)))
        .collect();
    if more > 0 {
        said.push(format!("{} more {}", count(more), if more == 1 { "status" } else { "statuses" }));
    }
    page.entry(Rank::Kept, "answers", tone, &said.join(", "));
    if summary.redirects > 0 {
        page.entry(Rank::Remark, "", Tone::Normal, &format!("{} followed", counted(summary.redirects, "redirect")));
    }
    let ran_out = if summary.awaited.ran_out > 0 { Tone::Caution } else { Tone::Normal };
    for (name, tone, said) in [("packed", Tone::Normal, wire::packed(summary)), ("bodies", ran_out, wire::awaited(summary))] {
        if let Some(said) = said {
            page.entry(Rank::Remark, name, tone, &said);
        }
    }
    if let Some(said) = wire::resumed(summary) {
        page.entry(Rank::Remark, "connections", Tone::Normal, &said);
    }
}

fn failures(summary: &Summary, page: &mut Screenful<'_>) {
    let requests = &summary.requests;
    let mut name = "failed";
    for (at, failure) in summary.failures.iter().take(FAILURES_MAX).enumerate() {
        failed(summary, failure, name, page);
        if let Some(remedy) = story::remedy(summary, failure.class).filter(|_| at == 0) {
            page.entry_of(Rank::Cause, "", Tone::Normal, &format!("Fix: {remedy}"), 2);
        }
        name = "";
    }
    let more = summary.failures.iter().skip(FAILURES_MAX);
    let (kinds, sum) = more.fold((0, 0), |(kinds, sum), failure| (kinds + 1, sum + failure.count));
    if kinds > 0 {
        page.entry(Rank::Cause, "", Tone::Bad, &format!("{} × {}", count(sum), counted(kinds, "other cause")));
    }
    if requests.unsent > 0 {
        page.entry(Rank::Kept, "unsent", Tone::Bad, &text::unsent(summary));
    }
}

fn failed(summary: &Summary, failure: &FailureCount, name: &str, page: &mut Screenful<'_>) {
    let about = match story::statuses(summary, failure) {
        Some(statuses) => {
            let several = statuses.len() > 1;
            let said = statuses.iter().map(|(status, number)| match several {
                true => format!("{status} {} ({})", reason(*status), count(*number)),
                false => format!("{status} {}", reason(*status)),
            });
            said.collect::<Vec<_>>().join(", ")
        }
        None => story::cause(summary, failure),
    };
    let part = share(failure.count, summary.requests.due);
    page.entry_of(Rank::Kept, name, Tone::Bad, &format!("{} × {about} ({part}, {})", count(failure.count), failure.class.code()), 3);
    if let Some(example) = &failure.example {
        let said = format!("first after {}: {}", quantity::length(example.at), shortened(&example.text, EXAMPLE_LETTERS_MAX));
        page.entry_of(Rank::Warning, "", Tone::Normal, &said, EXAMPLE_LINES);
    }
}

fn limits(reading: &Reading<'_>, page: &mut Screenful<'_>) {
    let Some(first) = reading.bottleneck.first() else { return };
    let tone = if first.is_named() { Tone::Caution } else { Tone::Normal };
    page.entry_of(Rank::Cause, "what limits it", tone, &visible(&first.headline()), LIMIT_LINES);
}

/// What a reader should know besides, the most important first.
fn remarks(reading: &Reading<'_>, page: &mut Screenful<'_>) {
    let summary = reading.run;
    if let Some(replayed) = &summary.replayed {
        let (tone, said) = text::as_logged(replayed);
        page.entry(Rank::Cause, "as logged", tone, &said);
    }
    for (at, warning) in summary.warnings.iter().take(REMARKS_MAX).enumerate() {
        page.entry_of(Rank::Warning, if at == 0 { "warnings" } else { "" }, Tone::Caution, &visible(warning), 3);
    }
    for (at, sentence) in reading.noticed().iter().take(REMARKS_MAX).enumerate() {
        page.entry_of(Rank::Remark, if at == 0 { "noticed" } else { "" }, Tone::Caution, sentence, 3);
    }
    if let Some(found) = summary.excluded.found.filter(|found| !matches!(found, WarmUp::Until { .. })) {
        page.entry_of(Rank::Remark, "warm-up", Tone::Caution, &in_words(found), 2);
    }
    for side in ServerSide::of(summary).iter().take(1) {
        for line in side.lines().iter().take(1) {
            page.entry_of(Rank::Remark, "server's side", Tone::Normal, &visible(line), 2);
        }
    }
    for profiled in summary.profiles.iter().take(1) {
        page.entry_of(Rank::Remark, "profile", Tone::Normal, &format!("{}: --full lists the functions", profiles::in_all(profiled)), 2);
    }
    if let Some(used) = CeilingUse::of(summary).filter(CeilingUse::is_near) {
        page.entry_of(Rank::Remark, "this machine", Tone::Caution, &used.in_words(), 2);
    }
    if reading.validity.standing == Standing::Valid {
        for disturbance in disturbances(&reading.validity).iter().take(1) {
            page.entry_of(Rank::Aside, "caution", Tone::Caution, disturbance, 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(blocks: &[(Rank, &str)], lines_max: usize) -> String {
        let mut page = Screenful { blocks: Vec::new(), style: &Style::PLAIN };
        blocks.iter().for_each(|(rank, line)| page.push(*rank, vec![(*line).to_owned()]));
        page.fitted(lines_max)
    }

    #[test]
    fn of_equals_the_last_is_left_out() {
        let causes = [(Rank::Kept, "answer"), (Rank::Cause, "broken  one"), (Rank::Cause, "        two"), (Rank::Cause, "        three")];
        let shown = text(&causes, 3);
        assert!(shown.starts_with("answer\nbroken  one\n") && shown.contains("and 2 more") && !shown.contains("two"), "{shown}");
        assert_eq!(text(&causes, 4).lines().count(), 4);
        let ranked = text(&[(Rank::Aside, "beside"), (Rank::Cause, "cause"), (Rank::Kept, "kept")], 3);
        assert_eq!(ranked.lines().count(), 3, "{ranked}");
        assert!(!text(&[(Rank::Aside, "beside"), (Rank::Cause, "cause"), (Rank::Kept, "kept")], 2).contains("beside"));
    }

    #[test]
    fn of_many_populations_it_is_said_how_many_are_not_shown() {
        let row = |number: usize| measure::PopulationRow {
            name: format!("p{number}"),
            requests: measure::Requests::default(),
            qps: 1.0,
            response_time: Histogram::default(),
            failures: std::collections::BTreeMap::new(),
            streams: None,
        };
        let shown = |count: usize| {
            let mut run = measure::fixtures::summaries().remove(0).1;
            run.edit_for_test().populations = (1..=count).map(row).collect();
            let mut page = Screenful { blocks: Vec::new(), style: &Style::PLAIN };
            rows(&run, &mut page);
            page.fitted(100)
        };
        assert!(shown(STEPS_MAX + 2).contains("and 2 populations more: --full"), "{}", shown(STEPS_MAX + 2));
        assert!(!shown(STEPS_MAX).contains("more"), "{}", shown(STEPS_MAX));
    }

    #[test]
    fn a_sentence_is_cut_where_it_stays_true_or_says_that_it_is_cut() {
        assert_eq!(within("21 requests, where 1,000 are needed; run about 90 s more", 40, 1), "21 requests, where 1,000 are needed");
        assert_eq!(
            within("721 of 20,700 failed (3.48 %): never sent (700), 503 (21)", 50, 1),
            "721 of 20,700 failed (3.48 %): never sent…"
        );
        assert_eq!(ended("all went well for long; but 7 of 9 failed in the end", 40, 1), "all went well for long; but 7 of…");
        assert_eq!(within("short", 40, 1), "short");
    }
}
