//! Does `loadline find` find the capacity of servers of which it is known, within three minutes?

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};

use super::process::{Loadline, Serving};
use crate::experiment::Experiment;
use crate::known::SERVERS;
use crate::lab::Lab;
use crate::proof::{Band, Proof, Section, Table, share_of};
use crate::seeds;
use crate::simulated::MISS_MAX;

/// A search of one server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Searched {
    /// Which.
    pub name: String,
    /// What is promised of it.
    pub promise: String,
    /// Its capacity, requests a second.
    pub truth: f64,
    /// What the search said, requests a second.
    pub carries: Option<f64>,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end; `None` when no rate failed.
    pub high: Option<f64>,
    /// What it named as the limit.
    pub limited_by: String,
    /// How long it took.
    pub seconds: f64,
    /// Trials, and those of them that did not count.
    pub trials: (usize, usize),
    /// Its exit code.
    pub exit: i32,
}

impl Searched {
    /// By how much the interval misses the truth: 0 inside. One without an upper end that begins below it holds it, and says nothing.
    #[must_use]
    pub fn miss(&self) -> f64 {
        let below = self.low / self.truth - 1.0;
        let above = self.high.map_or(0.0, |high| 1.0 - high / self.truth);
        below.max(above).max(0.0)
    }
}

/// Real searches of ten servers.
#[derive(Debug)]
pub struct Capacities;

/// Three minutes; the last trial's end and the rests may lie beyond, and starting up does.
const SECONDS_MAX: f64 = 180.0 * 1.1;

impl Experiment for Capacities {
    type Sample = Searched;
    const NAME: &'static str = "capacities";
    const TITLE: &'static str = "Real searches of ten servers";
    const ABOUT: &'static str = "`loadline find` with its usual budget of three minutes, against `loadline demo --serve` in a process of its own. The truth is the\nrate at which the promise is just kept by the server's own arithmetic, run in virtual time over a million arrivals.";

    fn steps(lab: &Lab) -> Vec<String> {
        match lab.of(true, false) {
            true => SERVERS.iter().map(|server| server.name.to_owned()).collect(),
            // The one that is quickest to find.
            false => vec![SERVERS[1].name.to_owned()],
        }
    }

    fn measure(lab: &Lab, step: usize) -> Result<Searched> {
        let known = lab.of(SERVERS[step], SERVERS[1]);
        let loadline = Loadline::new(&lab.loadline)?;
        let server = Serving::start(&loadline)?;
        let url = server.url(&format!("/behave?{}", known.query()));
        let [late, failed] = known.promises();
        let seed = (seeds::CAPACITIES + step as u64 * 1_000).to_string();
        let fixed = ["find", &url, "--slo", &late, "--slo", &failed, "--seed", &seed, "--name", "it", "--dir", ".", "--quiet"];
        let short: &[&str] = lab.of(&[], &["--quick", "--budget", "30s"]);
        let ran = loadline.run(&[&fixed[..], short].concat(), Duration::from_secs(300))?;
        if ![0, 1, 4].contains(&ran.exit) {
            bail!("it ended with {}: {}{}", ran.exit, ran.stderr, ran.stdout);
        }
        let found = loadline.json("it.find.json")?;
        let trials = found["trials"].as_array().context("no trials in the result")?;
        Ok(Searched {
            name: known.name.to_owned(),
            promise: late,
            truth: known.truth(),
            carries: found["carries"].as_f64(),
            low: found["capacity"]["low"].as_f64().context("no capacity in the result")?,
            high: found["capacity"]["high"].as_f64(),
            limited_by: found["limited_by"]["by"].as_str().unwrap_or("?").to_owned(),
            seconds: found["spent_s"].as_f64().context("no spent_s in the result")?,
            trials: (trials.len(), trials.iter().filter(|trial| trial["doubt"].is_string()).count()),
            exit: ran.exit,
        })
    }

    fn tell(seen: &[Searched]) -> Section {
        let mut section = Section::default();
        let good = |it: &Searched| it.high.is_some() && it.miss() <= MISS_MAX;
        section.proofs.push(Proof::of_share(
            "a search of a real server gives an interval that contains its capacity or misses it by at most 3 %",
            Band::at_least(0.9),
            share_of(seen.iter().map(good)),
        ));
        let longest = seen.iter().map(|it| it.seconds).fold(0.0, f64::max);
        section.proofs.push(Proof::of_fact(
            "a search of a real server takes three minutes, the end of the last trial included",
            format!("at most {SECONDS_MAX:.0} s"),
            format!("{longest:.0} s at most"),
            longest <= SECONDS_MAX,
        ));
        let mut table = Table::new(
            "By server. All promise also that fewer than 0.1 % fail. The miss is how far the interval lies from the truth.",
            &["server", "promise", "capacity", "carries", "interval", "misses by", "limited by", "took", "trials (not counted)"],
        );
        for it in seen {
            let high = it.high.map_or_else(|| "…".to_owned(), |high| format!("{high:.0}"));
            table.rows.push(vec![
                it.name.clone(),
                it.promise.clone(),
                format!("{:.0}/s", it.truth),
                it.carries.map_or_else(|| "–".to_owned(), |carries| format!("{carries:.0}/s")),
                format!("{:.0}–{high}/s", it.low),
                match it.miss() {
                    _ if it.high.is_none() => "no upper end".to_owned(),
                    0.0 => "contains it".to_owned(),
                    miss => format!("{:.1} %", miss * 100.0),
                },
                it.limited_by.clone(),
                format!("{:.0} s", it.seconds),
                format!("{} ({})", it.trials.0, it.trials.1),
            ]);
        }
        section.tables.push(table);
        section
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn searched(low: f64, high: Option<f64>) -> Searched {
        Searched {
            name: String::new(),
            promise: String::new(),
            truth: 100.0,
            carries: Some(low),
            low,
            high,
            limited_by: "promise".to_owned(),
            seconds: 1.0,
            trials: (1, 0),
            exit: 0,
        }
    }

    #[test]
    fn an_interval_misses_by_its_nearer_end() {
        let misses =
            [(90.0, Some(110.0)), (90.0, Some(96.0)), (104.0, Some(110.0)), (90.0, None)].map(|(low, high)| searched(low, high).miss());
        assert_eq!(misses.map(|miss| (miss * 1e6).round() / 1e6), [0.0, 0.04, 0.04, 0.0]);
    }

    #[test]
    fn an_interval_without_an_end_is_no_success() {
        assert_ne!(Capacities::tell(&[searched(1.0, None)]).proofs[0].held, crate::Held::Held);
        assert_eq!(Capacities::tell(&[searched(98.0, Some(101.0))]).proofs[0].held, crate::Held::Held);
    }
}
