//! Does a server that stands still show in the response time, as arithmetic says?
//!
//! SIGSTOP freezes the server in the middle of an even open load. Of a freeze of S seconds in a run of T, a request due u
//! seconds after its beginning waits S − u: the q-quantile of the response time is S − (1 − q)·T. A tool that counts from
//! when it sent, over four connections, has four slow answers and nothing else: that is the service time, given beside it.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::process::{Loadline, Serving, ended};
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Proof, Section, Table};

/// A run in which the server stood still for a while.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Thawed {
    /// For how long it was frozen, seconds.
    pub frozen_s: f64,
    /// How long the run was.
    pub run_s: f64,
    /// Requests due, and those recorded in the response time.
    pub requests: (u64, u64),
    /// Quantile, response time, service time and what arithmetic says of the response time, in milliseconds.
    pub quantiles: Vec<(f64, f64, f64, f64)>,
    /// The longest response time, in milliseconds.
    pub max_ms: f64,
    /// The lag's 99th percentile, in milliseconds: how far the generator itself was off.
    pub lag_p99_ms: f64,
}

/// A frozen server.
#[derive(Debug)]
pub struct Frozen;

const QUANTILES: [f64; 3] = [0.9, 0.95, 0.99];

impl Frozen {
    /// A run of so many seconds in which the server is frozen for so long.
    ///
    /// # Errors
    /// If it cannot be carried out.
    pub fn freeze(loadline: &Loadline, run_s: u64, frozen: Duration) -> Result<Thawed> {
        let server = Serving::start(loadline)?;
        let (url, duration) = (server.url("/healthz"), format!("{run_s}s"));
        let words = ["run", &url, "-r", "1000/s", "--arrivals", "even", "-c", "4", "-d", &duration, "--quiet", "--force"];
        let idle = server.cpu()?;
        let mut child =
            loadline.command(&[&words[..], &["--out", "json=it.json"]].concat()).spawn().context("loadline cannot be started")?;
        // So much work is no connection attempt any more, but load.
        let loaded = idle + Duration::from_millis(5);
        while server.cpu()? < loaded {
            if child.try_wait()?.is_some() {
                bail!("loadline ended before the server had anything to do");
            }
            thread::sleep(Duration::from_millis(1));
        }
        let begun = Instant::now();
        server.signal(Signal::STOP)?;
        thread::sleep(frozen);
        server.signal(Signal::CONT)?;
        let frozen_s = begun.elapsed().as_secs_f64();
        let ran = ended(child, Duration::from_secs(120))?;
        let run = loadline.summary("it.json").with_context(|| format!("it said: {}", ran.stderr))?;
        let ms = |time: Option<plan::Nanos>| time.map_or(0.0, plan::Nanos::as_millis_f64);
        let quantile = |q: f64| {
            let arithmetic = (frozen_s - (1.0 - q) * run.duration_s).max(0.0) * 1e3;
            (q, ms(run.response_time.quantile(q)), ms(run.service_time.quantile(q)), arithmetic)
        };
        Ok(Thawed {
            frozen_s,
            run_s: run.duration_s,
            requests: (run.requests.due, run.response_time.count()),
            quantiles: QUANTILES.map(quantile).to_vec(),
            max_ms: ms(run.response_time.max()),
            lag_p99_ms: ms(run.lag.quantile(0.99)),
        })
    }
}

impl Experiment for Frozen {
    type Sample = Vec<Thawed>;
    const NAME: &'static str = "frozen";
    const TITLE: &'static str = "A frozen server";
    const ABOUT: &'static str = "The server's process is stopped (SIGSTOP) for a second in the middle of 1,000 requests a second, evenly spaced, over four\nconnections. Of a freeze of S in a run of T the q-quantile of the response time is S − (1 − q)·T. Beside it the service time, which\nis what a tool reports that counts from when it sent.";

    fn steps(_: &Lab) -> Vec<String> {
        vec!["freezes".to_owned()]
    }

    fn measure(lab: &Lab, _: usize) -> Result<Self::Sample> {
        let loadline = Loadline::new(&lab.loadline)?;
        (0..lab.of(3, 1)).map(|_| Self::freeze(&loadline, lab.of(6, 3), Duration::from_millis(lab.of(1_000, 500)))).collect()
    }

    fn tell(seen: &[Self::Sample]) -> Section {
        let mut section = Section::default();
        let all = || seen.iter().flatten();
        let worst = all().flat_map(|it| it.quantiles.iter()).map(|(_, is, _, should)| (is / should - 1.0).abs()).fold(0.0, f64::max);
        section.proofs.push(Proof::of_fact(
            "a server frozen for a second shows in the response time as arithmetic says: p90, p95 and p99 off by",
            "at most 10 %",
            format!("{:.1} % at most", worst * 100.0),
            worst <= 0.10,
        ));
        let lost: u64 = all().map(|it| it.requests.0.abs_diff(it.requests.1)).sum();
        let due: u64 = all().map(|it| it.requests.0).sum();
        section.proofs.push(Proof::of_fact(
            "of the requests that met the freeze none is left out, and none is invented",
            "as many response times as requests",
            format!("{} of {due}", due - lost.min(due)),
            lost == 0 && due > 0,
        ));
        let mut table = Table::new(
            "By run, in milliseconds.",
            &["frozen for", "quantile", "response time", "by arithmetic", "service time", "lag p99"],
        );
        for it in all() {
            for (q, response, service, should) in &it.quantiles {
                table.rows.push(vec![
                    format!("{:.2} s of {:.0} s", it.frozen_s, it.run_s),
                    format!("p{:.0}", q * 100.0),
                    format!("{response:.0}"),
                    format!("{should:.0}"),
                    format!("{service:.1}"),
                    format!("{:.2}", it.lag_p99_ms),
                ]);
            }
        }
        section.tables.push(table);
        section
    }
}
