//! A result read back, whichever kind it is: what it says of itself in a list, and what a person reads.
//!
//! Everything that is listed of a result follows from the result itself, so that one that was imported, or put together from
//! its journal, is listed like one that was saved just now.

use analysis::comparison::Comparison;
use analysis::gate::{Check, Judgement, Regression, Verdict, judge};
use analysis::outage::outage;
use analysis::quantity::{count, counted, figure, length, nanos};
use analysis::warmup::leave_out;
use analysis::{Reading, Standing, StopRule, Stopped, Sweep, Trial, Validity};
use analysis::{answers, conclusion, promises_kept, scaling};
use history::{Composed, End, Figures, Header, Journaled, Kept, Kind, Moment, Revision, UnderWay};
use measure::{Ending, Histogram, Machine, Summary};
use plan::{Load, Plan};
use report::{Experiment as _, Style, prose, visible};
use serde::Deserialize;

/// A result, whichever kind it is.
#[derive(Debug)]
pub enum Saved {
    /// One load, and what it was held against.
    Run(Box<Summary>, Terms),
    /// A ladder of loads.
    Sweep(Box<Sweep>),
    /// A capacity search.
    Find(Box<analysis::found::Found>),
    /// Two sides in pairs.
    Compare(Box<Comparison>),
}

/// What a run was held against.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// What it promised.
    pub checks: Vec<Check>,
    /// What came of holding it against a saved run.
    pub against: Option<Regression>,
}

impl Terms {
    /// The run as it reads by them.
    pub fn reading<'a>(&self, run: &'a Summary) -> Reading<'a> {
        Reading::new(run, &self.checks).against(self.against.clone())
    }
}

impl Saved {
    /// Reads the JSON of a result, whichever kind it is.
    ///
    /// # Errors
    /// In words that follow the name of the file, if it is none, of another version, or damaged.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Label {
            schema: Option<String>,
            #[serde(default)]
            checks: Vec<serde_json::Value>,
            against: Option<serde_json::Value>,
        }
        let label: Label = serde_json::from_str(text).map_err(|why| format!("it is damaged, or no result: {why}"))?;
        let schema = label.schema.unwrap_or_default();
        let told = |why: &dyn std::fmt::Display| why.to_string();
        match schema.split('/').next() {
            Some("loadline.sweep") => report::sweep::read(text).map(|it| Self::Sweep(Box::new(it))).map_err(|why| told(&why)),
            Some("loadline.find") => report::find::read(text).map(|it| Self::Find(Box::new(it))).map_err(|why| told(&why)),
            Some("loadline.compare") => report::compare::read(text).map(|it| Self::Compare(Box::new(it))).map_err(|why| told(&why)),
            _ => {
                let run = report::read_summary(text).map_err(|why| told(&why))?;
                // A check this version does not know is left out: the figures are there all the same.
                let checks = label.checks.iter().filter_map(|judged| judged.get("check")?.as_str()?.parse().ok()).collect();
                // As is a verdict that this version would word in another way: the runs behind it are not in this file.
                let against = label.against.and_then(|ruling| serde_json::from_value(ruling).ok());
                Ok(Self::Run(Box::new(run), Terms { checks, against }))
            }
        }
    }

    /// Which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Run(..) => Kind::Run,
            Self::Sweep(_) => Kind::Sweep,
            Self::Find(_) => Kind::Find,
            Self::Compare(_) => Kind::Compare,
        }
    }

    /// What a person calls it.
    const fn noun(&self) -> &'static str {
        match self {
            Self::Run(..) => "run",
            Self::Sweep(_) => "sweep",
            Self::Find(_) => "search",
            Self::Compare(_) => "comparison",
        }
    }

    /// Why the two cannot stand side by side, if they cannot.
    pub fn unlike(&self, other: &Self) -> Option<String> {
        let (one, two) = (self.noun(), other.noun());
        match (self, other) {
            (Self::Compare(_), Self::Compare(_)) => Some("cannot compare two comparisons".to_owned()),
            _ if one == two => None,
            _ => Some(format!("cannot compare a {one} with a {two}")),
        }
    }

    /// Its first run; `None` if nothing was measured.
    fn first(&self) -> Option<&Summary> {
        match self {
            Self::Run(run, _) => Some(run),
            Self::Sweep(sweep) => sweep.trials.first().map(|trial| &trial.summary),
            Self::Find(found) => found.trials.first().map(|trial| &trial.summary),
            Self::Compare(compared) => compared.pairs.first().map(|pair| &pair.a),
        }
    }

    /// What is kept beside it; `None` if nothing was measured.
    pub fn kept(&self, name: String, revision: Option<Revision>, tags: Vec<String>, note: String) -> Option<Kept> {
        let first = self.first()?;
        let target = match self {
            Self::Compare(compared) => format!("{} → {}", compared.a.name, compared.b.name),
            _ => first.plan.target().to_string(),
        };
        let started = match self {
            Self::Sweep(sweep) => &sweep.started,
            Self::Find(found) => &found.started,
            Self::Run(..) | Self::Compare(_) => &first.started,
        };
        Some(Kept {
            kind: self.kind(),
            name,
            target,
            started: started.parse().unwrap_or_else(|_| Moment::now()),
            outcome: self.outcome(),
            figures: self.figures(),
            machine: first.machine.clone(),
            revision,
            tags,
            note,
        })
    }

    /// The name it gives itself, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Run(..) => None,
            Self::Sweep(sweep) => Some(&sweep.name),
            Self::Find(found) => Some(&found.name),
            Self::Compare(compared) => Some(&compared.name),
        }
    }

    /// The plan as JSON; of several the first.
    pub fn plan(&self) -> String {
        self.first().and_then(|run| serde_json::to_string(&run.plan).ok()).unwrap_or_default()
    }

    /// How it came out, in a few words.
    fn outcome(&self) -> String {
        match self {
            Self::Run(run, terms) => {
                let mut parts = Vec::new();
                match run.ended.how {
                    Ending::Finished => {}
                    Ending::Interrupted => parts.push("interrupted".to_owned()),
                    Ending::Aborted => parts.push("aborted".to_owned()),
                    Ending::CutShort | Ending::Killed => parts.push("cut short".to_owned()),
                }
                let standing = Validity::of(run).standing;
                if standing != Standing::Valid {
                    parts.push(standing.to_string());
                }
                let judged = if standing == Standing::Invalid { Vec::new() } else { judge(&terms.checks, run) };
                parts.extend(unkept(&judged));
                parts.extend(terms.against.as_ref().and_then(Regression::worse));
                let (due, bad) = (run.requests.due, run.requests.failed + run.requests.unsent);
                if bad == due && due > 0 {
                    parts.push(format!("all {} failed: {}", count(bad), report::causes(run)));
                    return parts.join(", ");
                }
                if answers::late(run).is_some() {
                    parts.push("no answer within the run".to_owned());
                    return parts.join(", ");
                }
                let redirects = answers::redirects_not_followed(run).filter(|(number, _)| *number == due);
                if let Some((number, statuses)) = redirects {
                    let statuses: Vec<String> = statuses.iter().map(u16::to_string).collect();
                    parts.push(format!("all {} were redirects ({}) that were not followed", count(number), statuses.join(", ")));
                    return parts.join(", ");
                }
                if let Some(outage) = outage(run) {
                    parts.push(format!("stopped answering after {}, {}/s before", length(outage.at), figure(outage.qps_before)));
                } else {
                    // The figure of the column beside it, by which lists are sorted and trends drawn.
                    let succeeded = if bad == 0 { "" } else { " succeeded" };
                    parts.push(format!("{}/s{succeeded}", figure(run.qps_succeeded)));
                }
                if let Some(p99) = run.response_time.known_quantile(0.99) {
                    parts.push(format!("p99 {}", nanos(Some(p99))));
                }
                parts.push(if bad == 0 { "none failed".to_owned() } else { format!("{} failed: {}", count(bad), report::causes(run)) });
                parts.join(", ")
            }
            Self::Sweep(sweep) => {
                let rows = sweep.rows();
                let best = rows.iter().max_by(|a, b| a.qps.total_cmp(&b.qps));
                let said = best.map_or_else(|| "nothing measured".to_owned(), |best| format!("{}/s at {}", figure(best.qps), best.level));
                let levels = if rows.len() == 1 { "1 level".to_owned() } else { format!("{} levels", rows.len()) };
                let broken = sweep.checks.iter().filter(|check| rows.iter().any(|row| row.broken.contains(check))).count();
                format!("{said}, {levels}{}{}", ended(sweep.stopped.as_ref()), behind(broken_of(broken, sweep.checks.len())))
            }
            Self::Find(found) => {
                let said = found.answer.carries.map_or_else(|| "no rate proven".to_owned(), |rate| format!("carries {}/s", figure(rate)));
                let promises: Vec<&str> = found.slo.iter().map(|promise| promise.text.as_str()).collect();
                format!("{said} with {}{}{}", promises.join(" and "), ended(found.stopped.as_ref()), behind(unkept(&found.judged())))
            }
            Self::Compare(compared) => {
                let verdict = compared.verdict().map_or_else(|| "no verdict".to_owned(), |verdict| format!("B is {verdict}"));
                let pairs = compared.sound().count();
                let stopped = compared.stopped.as_ref().map_or_else(String::new, |why| format!(", stopped: {why}"));
                format!("{verdict}, {pairs} pairs{stopped}{}", behind(unkept(&compared.checks))).replace("B is cannot", "cannot")
            }
        }
    }

    fn figures(&self) -> Figures {
        let of = |qps: f64, times: &Histogram, due: u64, bad: u64| Figures {
            qps: Some(qps),
            p50_ns: times.known_quantile(0.5).map(|time| time.0),
            p99_ns: times.known_quantile(0.99).map(|time| time.0),
            failed_share: (due > 0).then(|| bad as f64 / due as f64),
        };
        match self {
            Self::Run(run, _) => {
                let requests = &run.requests;
                of(run.qps_succeeded, &run.response_time, requests.due, requests.failed + requests.unsent)
            }
            Self::Sweep(sweep) => {
                let rows = sweep.rows();
                let Some(best) = rows.iter().max_by(|a, b| a.qps.total_cmp(&b.qps)) else { return Figures::default() };
                let mut times = Histogram::new();
                for trial in sweep.trials.iter().filter(|trial| trial.level == best.level) {
                    times.add(&trial.summary.response_time);
                }
                of(best.qps, &times, best.due, best.failed)
            }
            Self::Find(found) => {
                let Some(rate) = found.answer.carries else { return Figures::default() };
                let mut times = Histogram::new();
                let (mut due, mut bad) = (0, 0);
                for trial in found.trials.iter().filter(|trial| trial.counts() && (trial.rate - rate).abs() < 1e-9 * rate) {
                    let requests = &trial.summary.requests;
                    times.add(&trial.summary.response_time);
                    due += requests.due;
                    bad += requests.failed + requests.unsent;
                }
                let figures = of(rate, &times, due, bad);
                // As its page has it: the worst of the trials, in which what failed is slower than any answer.
                match found.rows().into_iter().find(|row| row.rate == rate) {
                    Some(row) if found.quantile == 0.99 => Figures { p99_ns: row.quantile.map(|time| time.0), ..figures },
                    _ => figures,
                }
            }
            Self::Compare(_) => Figures::default(),
        }
    }

    /// What a browser shows.
    pub fn page(&self) -> report::page::Shown {
        use report::page;
        match self {
            Self::Run(run, terms) => page::run(&terms.reading(run)),
            Self::Sweep(sweep) => page::sweep(sweep),
            Self::Find(found) => page::find(found),
            Self::Compare(compared) => page::compare(compared),
        }
    }

    /// What a person reads.
    pub fn text(&self, style: &Style) -> String {
        match self {
            Self::Run(run, terms) => {
                let mut bytes = Vec::new();
                let text = report::format("text").expect("the text format is in the table");
                (text.render)(&terms.reading(run), style, &mut bytes).expect("memory takes every byte");
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Self::Sweep(sweep) => {
                use report::sweep::table::{self, Counted};
                let rows = sweep.rows();
                let mut text = "\n".to_owned();
                if let Some(first) = rows.first() {
                    text += &format!("{}\n", table::header(first.level, Counted::of(first), style));
                }
                for row in &rows {
                    text += &format!("{}\n", table::row(row, style));
                }
                text += &table::failed_steps_text(&rows, style);
                text += &format!("\n{}\n", prose(table::legend(&rows).trim(), style.width));
                let said = conclusion(&rows, &scaling(sweep), sweep.stopped.as_ref());
                for sentence in said
                    .into_iter()
                    .chain(promises_kept(&sweep.checks, &rows))
                    .chain(report::limits::sentences(&analysis::limits::of_sweep(sweep)))
                {
                    text += &prose(&sentence, style.width);
                }
                text
            }
            Self::Find(found) => {
                use report::find::table;
                let mut text = format!("\n{}\n", table::header(found, style));
                for trial in &found.trials {
                    text += &format!("{}\n", table::row(found, trial, style));
                }
                text.push('\n');
                for sentence in found.sentences().into_iter().chain(report::limits::sentences(&analysis::limits::of_search(found))) {
                    text += &prose(&sentence, style.width);
                }
                text + &format!("\n{}", prose(&table::legend(found), style.width))
            }
            Self::Compare(compared) => {
                use report::compare::{conclusion, header, row};
                let mut text = header(compared, style);
                for (number, pair) in compared.pairs.iter().enumerate() {
                    text += &format!("{}\n", row(number + 1, pair, style));
                }
                text + &conclusion(compared, style)
            }
        }
    }
}

/// How many of these did not hold, if any did not: `1 of 2 checks FAILED`.
fn unkept(judged: &[Judgement]) -> Option<String> {
    broken_of(judged.iter().filter(|judgement| judgement.verdict == Verdict::Broken).count(), judged.len())
}

fn broken_of(broken: usize, all: usize) -> Option<String> {
    (broken > 0).then(|| format!("{broken} of {} {}", counted(all as u64, "check"), Verdict::Broken.name()))
}

/// Behind what was said before.
fn behind(said: Option<String>) -> String {
    said.map_or_else(String::new, |said| format!(", {said}"))
}

fn ended(stopped: Option<&Stopped>) -> String {
    use analysis::StopRule;
    match stopped.map(|stopped| stopped.rule) {
        Some(StopRule::Interrupted) => ", interrupted".to_owned(),
        Some(StopRule::Aborted) => ", given up".to_owned(),
        Some(StopRule::CutShort | StopRule::Killed) => ", cut short".to_owned(),
        _ => String::new(),
    }
}

/// The JSON of a run's result, as `--out json=FILE` has it.
pub fn json(reading: &Reading<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let json = report::format("json").expect("the JSON format is in the table");
    (json.render)(reading, &Style::PLAIN, &mut bytes).expect("memory takes every byte");
    bytes
}

/// What is saved of a run that left its journal behind; `None` where nothing was measured.
///
/// # Errors
/// In words, if what it left behind cannot be read.
pub fn composed(journaled: &Journaled) -> Result<Option<Composed>, String> {
    let Header { kind, name, revision, tags, note, .. } = &journaled.header;
    let read = journaled.result.as_deref().map(Saved::read).transpose()?;
    let mut saved = match (kind, read, &journaled.under_way) {
        (Kind::Run, _, Some(under_way)) => Saved::Run(Box::new(closed(under_way)), Terms::default()),
        (Kind::Sweep, None, Some(under_way)) => {
            let mut sweep = Sweep::new(name.clone(), journaled.header.started.to_string(), Vec::new());
            push(&mut sweep, under_way);
            Saved::Sweep(Box::new(sweep))
        }
        (Kind::Sweep, Some(Saved::Sweep(mut sweep)), Some(under_way)) => {
            push(&mut sweep, under_way);
            Saved::Sweep(sweep)
        }
        (_, Some(saved), _) => saved,
        (_, None, _) => return Ok(None),
    };
    let stopped = match journaled.end {
        End::FromOutside => Stopped::killed(),
        End::Unwritten => Stopped {
            rule: StopRule::Killed,
            words: "it could not be saved when it ended: what was written down by then is here".to_owned(),
        },
    };
    let result = cut_short(&mut saved, stopped);
    let Some(kept) = saved.kept(name.clone(), revision.clone(), tags.clone(), note.clone()) else { return Ok(None) };
    Ok(Some(Composed { kept: Kept { started: journaled.header.started, ..kept }, plan: saved.plan(), result }))
}

/// A load under way as far as it had come.
fn closed(under_way: &UnderWay) -> Summary {
    let mut run = under_way.run.clone();
    leave_out(&mut run);
    run.close()
}

/// The level under way, which is named as [`level`] wrote it.
fn push(sweep: &mut Sweep, under_way: &UnderWay) {
    // What is no level is a load beside them, of which nothing is kept before its end.
    let Ok((level, repetition)) = serde_json::from_str(&under_way.what) else { return };
    if !sweep.levels.contains(&level) {
        sweep.levels.push(level);
    }
    // Ended before anything came to its end, it says nothing.
    if under_way.run.requests.due > 0 {
        sweep.trials.push(Trial { level, repetition, summary: closed(under_way) });
    }
}

/// A level and its repetition, for the journal.
pub fn level(level: analysis::Level, repetition: u32) -> String {
    serde_json::to_string(&(level, repetition)).unwrap_or_default()
}

/// A load as the journal calls it, for people: a level and its round, or as it is.
pub fn in_words(what: &str) -> String {
    match serde_json::from_str::<(analysis::Level, u32)>(what) {
        Ok((level, 1)) => level.to_string(),
        Ok((level, repetition)) => format!("{level}, round {repetition}"),
        Err(_) => what.to_owned(),
    }
}

/// Marked as cut short, and its JSON.
fn cut_short(saved: &mut Saved, stopped: Stopped) -> Vec<u8> {
    match saved {
        Saved::Run(run, terms) => json(&terms.reading(run)),
        Saved::Sweep(sweep) => {
            sweep.stopped = Some(stopped);
            sweep.json().bytes
        }
        Saved::Find(found) => {
            found.stopped = Some(stopped);
            found.json().bytes
        }
        Saved::Compare(compared) => {
            compared.stopped = Some(stopped.words);
            compared.json().bytes
        }
    }
}

/// The machine and the plan's own words, for a head above the report.
pub fn head(kept: &Kept) -> String {
    let Machine { loadline, system, processor, cores, .. } = &kept.machine;
    let mut text = format!("  {} {}   {}\n", kept.kind, visible(&kept.name), kept.started);
    if let Some(revision) = &kept.revision {
        let branch = revision.branch.as_ref().map_or_else(String::new, |branch| format!(" on {}", visible(branch)));
        let changes = if revision.changes == history::Changes::Some { ", with changes" } else { "" };
        text += &format!("  at {}{branch}{changes}\n", revision.commit.get(..12).unwrap_or(&revision.commit));
    }
    text += &format!("  {} on {}, {}, {cores} cores\n", visible(loadline), visible(system), visible(processor));
    if !kept.tags.is_empty() {
        text += &format!("  tags: {}\n", visible(&kept.tags.join(", ")));
    }
    if !kept.note.is_empty() {
        text += &format!("  note: {}\n", visible(&kept.note));
    }
    text
}

/// The load of a plan as its command line has it: `-c 50`, `-r 500/s`.
pub fn load(plan: &Plan) -> String {
    match plan.load() {
        Load::Closed { users, .. } => format!("-c {users}"),
        Load::Open { timetable, .. } if timetable.stages().len() > 1 => format!("-r up to {}/s", figure(timetable.peak().as_per_second())),
        Load::Open { timetable, .. } => format!("-r {}/s", figure(timetable.peak().as_per_second())),
    }
}

/// What its URL suggests to call a plan.
pub fn suggested(plan: &Plan) -> String {
    if let Some(file) = plan.scenario() {
        return crate::name::of_scenario(file.name.as_deref(), &file.path);
    }
    crate::name::of_url(&plan.target().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::gate::Change;
    use measure::{Failure, FailureCount, Requests, Side, fixtures};

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    fn outcome(run: Summary, terms: Terms) -> String {
        Saved::Run(Box::new(run), terms).outcome()
    }

    fn worse() -> Regression {
        let reference = "@baseline:api".to_owned();
        Regression {
            reference,
            allowed: 0.05,
            rows: Vec::new(),
            is_invalid: false,
            is_reference_invalid: false,
            is_other_machine: false,
            runs: 8,
            verdict: Change::Worse,
        }
    }

    #[test]
    fn what_came_of_a_saved_run_is_read_back_with_the_result() {
        let run = fixture("closed_all_well");
        let terms = Terms { checks: Vec::new(), against: Some(worse()) };
        let written = json(&terms.reading(&run));
        let again = Saved::read(&String::from_utf8(written).unwrap()).unwrap();
        assert!(again.outcome().starts_with("WORSE than @baseline:api, 11,998/s"), "{}", again.outcome());
        assert!(again.text(&Style::PLAIN).contains("WORSE than @baseline:api by more than 5 %"));
        assert!(again.page().json().contains("WORSE than @baseline:api by more than 5 %"));
    }

    #[test]
    fn a_server_that_stopped_answering_is_listed_as_that() {
        let mut run = fixture("closed_all_well");
        for tick in run.edit_for_test().timeline.iter_mut().skip(4) {
            (tick.failed, tick.answered, tick.succeeded) = (200, 0, 0);
        }
        run.edit_for_test().requests = Requests { due: 49_200, succeeded: 48_000, failed: 1_200, unsent: 0 };
        run.edit_for_test().failures =
            vec![FailureCount { class: Failure::ConnectRefused, side: Side::Server, count: 1_200, example: None }];
        let said = outcome(run, Terms::default());
        assert!(said.starts_with("stopped answering after 4 s, 1") && said.contains("/s before, "), "{said}");
        assert!(said.ends_with("1,200 failed: connection refused"), "{said}");
    }

    #[test]
    fn redirects_that_nobody_followed_are_listed_as_that() {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().status = [(302, run.requests.due)].into();
        assert_eq!(outcome(run, Terms::default()), "all 120,000 were redirects (302) that were not followed");
    }

    #[test]
    fn a_list_says_the_figure_that_it_is_sorted_by() {
        for (name, run) in fixtures::summaries() {
            let saved = Saved::Run(Box::new(run), Terms::default());
            let (said, listed) = (saved.outcome(), saved.figures().qps.unwrap_or_default());
            assert!(!said.contains("/s") || said.contains(&format!("{}/s", figure(listed))), "{name}: {said}");
        }
        assert!(outcome(fixture("open_with_a_stall"), Terms::default()).contains("/s succeeded, "));
    }

    #[test]
    fn broken_checks_of_a_sweep_are_listed() {
        let level = analysis::Level::Users(std::num::NonZeroU32::MIN);
        let mut sweep = Sweep::new("api".to_owned(), String::new(), vec![level]);
        sweep.trials.push(Trial { level, repetition: 1, summary: fixture("closed_all_well") });
        sweep.checks = ["p99 < 1us", "failed < 1%"].map(|check| check.parse().unwrap()).to_vec();
        let said = Saved::Sweep(Box::new(sweep)).outcome();
        assert!(said.ends_with("1 level, 1 of 2 checks FAILED"), "{said}");
    }
}
