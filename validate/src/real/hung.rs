//! Is a server that never answers reported as what it is, and does the run end?

use std::time::Duration;

use anyhow::{Context as _, Result};
use measure::Failure;
use serde::{Deserialize, Serialize};

use super::process::{Loadline, Serving};
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Proof, Section, Table};

/// A run against a server that never answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Waited {
    /// Under which load.
    pub load: String,
    /// Requests that fell due, timed out, and were never sent because no connection was free before their time was over.
    pub requests: (u64, u64, u64),
    /// How many are in the response time.
    pub recorded: u64,
    /// The least and the greatest response time, in milliseconds.
    pub between_ms: (f64, f64),
    /// The timeout, in milliseconds.
    pub limit_ms: f64,
    /// When the run had ended, and when it should have at the latest, in seconds.
    pub ended_s: (f64, f64),
    /// Its exit code.
    pub exit: i32,
}

impl Waited {
    /// All timeouts at their limit, none left out.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let (due, timed_out, unsent) = self.requests;
        due > 0 && timed_out > 0 && timed_out + unsent == due && self.recorded == due && self.between_ms == (self.limit_ms, self.limit_ms)
    }

    /// Whether it ended in time.
    #[must_use]
    pub fn is_punctual(&self) -> bool {
        self.ended_s.0 <= self.ended_s.1
    }
}

/// A server that never answers.
#[derive(Debug)]
pub struct Hung;

const LOADS: [(&str, &[&str]); 2] = [("closed, 10 users", &["-c", "10"]), ("open, 100 a second", &["-c", "100", "-r", "100/s"])];

impl Hung {
    /// A run of two seconds with a timeout of half a second; load `0` closed, `1` open.
    ///
    /// # Errors
    /// If it cannot be carried out.
    pub fn wait(loadline: &Loadline, server: &Serving, load: usize) -> Result<Waited> {
        let (name, words) = LOADS[load];
        let url = server.url("/behave?never");
        let fixed = ["run", &url, "-d", "2s", "--timeout", "500ms", "--quiet", "--out", "json=it.json", "--force"];
        let ran = loadline.run(&[&fixed[..], words].concat(), Duration::from_secs(120))?;
        let run = loadline.summary("it.json").with_context(|| format!("it said: {}", ran.stderr))?;
        let timed_out = run.failures.iter().filter(|failure| failure.class == Failure::RecvIdleTimeout).map(|failure| failure.count).sum();
        let ms = |time: Option<plan::Nanos>| time.map_or(0.0, plan::Nanos::as_millis_f64);
        Ok(Waited {
            load: name.to_owned(),
            requests: (run.requests.due, timed_out, run.requests.unsent),
            recorded: run.response_time.count(),
            between_ms: (ms(run.response_time.min()), ms(run.response_time.max())),
            limit_ms: 500.0,
            // The load, the timeout of what was sent last, and a second for a machine that is busy.
            ended_s: (run.ended.drained_at.as_secs_f64(), 2.0 + 0.5 + 1.0),
            exit: ran.exit,
        })
    }
}

impl Experiment for Hung {
    type Sample = Waited;
    const NAME: &'static str = "hung";
    const TITLE: &'static str = "A server that never answers";
    const ABOUT: &'static str = "Two seconds of load with a timeout of half a second. Every request must be a timeout, recorded at its limit, and the run must end.";

    fn steps(_: &Lab) -> Vec<String> {
        LOADS.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn measure(lab: &Lab, step: usize) -> Result<Waited> {
        let loadline = Loadline::new(&lab.loadline)?;
        Self::wait(&loadline, &Serving::start(&loadline)?, step)
    }

    fn tell(seen: &[Waited]) -> Section {
        let mut section = Section::default();
        let complete = seen.iter().filter(|it| it.is_complete()).count();
        section.proofs.push(Proof::of_fact(
            "requests that are never answered are all timeouts at their limit, none left out",
            "in every load",
            format!("in {complete} of {}", seen.len()),
            complete == seen.len(),
        ));
        let late = seen.iter().map(|it| it.ended_s.0 - it.ended_s.1 + 1.0).fold(f64::NEG_INFINITY, f64::max);
        section.proofs.push(Proof::of_fact(
            "the run ends when the timeout of the last request is over",
            "within a second of it",
            format!("{:.2} s after it at most", late.max(0.0)),
            seen.iter().all(Waited::is_punctual),
        ));
        let mut table = Table::new("By load.", &["load", "due", "timed out", "unsent", "recorded", "response times", "ended after"]);
        for it in seen {
            let (due, timed_out, unsent) = it.requests;
            table.rows.push(vec![
                it.load.clone(),
                due.to_string(),
                timed_out.to_string(),
                unsent.to_string(),
                it.recorded.to_string(),
                format!("{:.0}–{:.0} ms", it.between_ms.0, it.between_ms.1),
                format!("{:.2} s", it.ended_s.0),
            ]);
        }
        section.tables.push(table);
        section
    }
}
