//! A result as the history lists it, and what a run that ended without saving left behind.
//!
//! Everything that is listed of a result follows from the result itself, so that one that was imported, or put together from
//! its journal, is listed like one that was saved just now.

use analysis::quantity::figure;
use analysis::warmup::leave_out;
use analysis::{StopReason, StopRule, Sweep, Trial};
use history::{End, Figures, Header, JournalContent, Kind, Moment, RecoveredRun, Revision, RunNotes, UnderWay};
use measure::{Histogram, Machine, Summary};
use plan::{Load, Plan};
use report::document::{Document, Terms};
use report::visible;

/// Which kind the history calls it.
pub const fn kind(document: &Document) -> Kind {
    match document {
        Document::Run(..) => Kind::Run,
        Document::Sweep(_) => Kind::Sweep,
        Document::Find(_) => Kind::Find,
        Document::Compare(_) => Kind::Compare,
    }
}

/// What is kept beside a result; `None` if nothing was measured.
pub fn kept(document: &Document, name: String, revision: Option<Revision>, tags: Vec<String>, note: String) -> Option<RunNotes> {
    let first = document.first()?;
    let target = match document {
        Document::Compare(compared) => format!("{} → {}", compared.a.name, compared.b.name),
        _ => first.plan.target().to_string(),
    };
    let started = match document {
        Document::Sweep(sweep) => &sweep.started,
        Document::Find(found) => &found.started,
        Document::Run(..) | Document::Compare(_) => &first.started,
    };
    Some(RunNotes {
        kind: kind(document),
        name,
        target,
        started: started.parse().unwrap_or_else(|_| Moment::now()),
        outcome: document.outcome(),
        figures: figures(document),
        machine: first.machine.clone(),
        revision,
        tags,
        note,
    })
}

fn figures(document: &Document) -> Figures {
    let of = |qps: f64, times: &Histogram, due: u64, bad: u64| Figures {
        qps: Some(qps),
        p50_ns: times.known_quantile(0.5).map(|time| time.0),
        p99_ns: times.known_quantile(0.99).map(|time| time.0),
        failed_share: (due > 0).then(|| bad as f64 / due as f64),
    };
    match document {
        Document::Run(run, _) => {
            let requests = &run.requests;
            of(run.qps_succeeded, &run.response_time, requests.due, requests.failed + requests.unsent)
        }
        Document::Sweep(sweep) => {
            let rows = sweep.rows();
            let Some(best) = rows.iter().max_by(|a, b| a.qps.total_cmp(&b.qps)) else { return Figures::default() };
            let mut times = Histogram::new();
            for trial in sweep.trials.iter().filter(|trial| trial.level == best.level) {
                times.add(&trial.summary.response_time);
            }
            of(best.qps, &times, best.due, best.failed)
        }
        Document::Find(found) => {
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
        Document::Compare(_) => Figures::default(),
    }
}

/// What is saved of a run that left its journal behind; `None` where nothing was measured.
///
/// # Errors
/// In words, if what it left behind cannot be read.
pub fn composed(journaled: &JournalContent) -> Result<Option<RecoveredRun>, String> {
    let Header { kind, name, revision, tags, note, .. } = &journaled.header;
    let read = journaled.result.as_deref().map(Document::read).transpose().map_err(|why| why.to_string())?;
    let mut document = match (kind, read, &journaled.under_way) {
        (Kind::Run, _, Some(under_way)) => Document::Run(Box::new(closed(under_way)), Terms::default()),
        (Kind::Sweep, None, Some(under_way)) => {
            let mut sweep = Sweep::new(name.clone(), journaled.header.started.to_string(), Vec::new());
            push(&mut sweep, under_way);
            Document::Sweep(Box::new(sweep))
        }
        (Kind::Sweep, Some(Document::Sweep(mut sweep)), Some(under_way)) => {
            push(&mut sweep, under_way);
            Document::Sweep(sweep)
        }
        (_, Some(document), _) => document,
        (_, None, _) => return Ok(None),
    };
    let stopped = match journaled.end {
        End::FromOutside => StopReason::killed(),
        End::Unwritten => StopReason {
            rule: StopRule::Killed,
            words: "it could not be saved when it ended: what was written down by then is here".to_owned(),
        },
    };
    document.stop(stopped);
    let Some(kept) = kept(&document, name.clone(), revision.clone(), tags.clone(), note.clone()) else { return Ok(None) };
    let kept = RunNotes { started: journaled.header.started, ..kept };
    Ok(Some(RecoveredRun { kept, plan: document.plan(), result: document.json() }))
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

/// The machine and the plan's own words, for a head above the report.
pub fn head(kept: &RunNotes) -> String {
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
    typed_load(plan.load())
}

fn typed_load(load: &Load) -> String {
    match load {
        Load::Closed { users, .. } if users.is_constant() => format!("-c {}", users.peak()),
        Load::Closed { users, .. } => format!("-c up to {}", users.peak()),
        Load::Open { timetable, .. } if timetable.stages().len() > 1 => format!("-r up to {}/s", figure(timetable.peak().as_per_second())),
        Load::Open { timetable, .. } => format!("-r {}/s", figure(timetable.peak().as_per_second())),
        Load::Mixed(populations) => populations.iter().map(|population| typed_load(&population.load)).collect::<Vec<_>>().join(" + "),
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
    use measure::fixtures;

    #[test]
    fn a_list_says_how_many_users_there_were_at_most() {
        let plan = |connections: &str| {
            let draft = plan::Draft { url: Some("http://h/".to_owned()), connections: connections.parse().ok(), ..plan::Draft::default() };
            Plan::try_from(draft).unwrap()
        };
        let said = ["50", "50 for 2s", "0 to 50 for 2s", "0 to 50 for 2s, 50 for 2s"].map(|users| load(&plan(users)));
        assert_eq!(said, ["-c 50", "-c 50", "-c up to 50", "-c up to 50"]);
    }

    #[test]
    fn a_list_says_the_figure_that_it_is_sorted_by() {
        for (name, run) in fixtures::summaries() {
            let document = Document::Run(Box::new(run), Terms::default());
            let (said, listed) = (document.outcome(), figures(&document).qps.unwrap_or_default());
            assert!(!said.contains("/s") || said.contains(&format!("{}/s", figure(listed))), "{name}: {said}");
        }
    }
}
