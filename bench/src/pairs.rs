//! Two builds of loadline beside each other: did a change make it dearer?
//!
//! Every load is carried out by both in turns of four, mirrored, so that a drift of the machine favours neither, and what is compared
//! lies side by side. Rejected: two pages of `make bench` held against each other, since hours apart the kernel alone costs more or less.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::launch::{Ran, run_on};
use crate::logs;
use crate::machine::Machine;
use crate::nginx::Nginx;
use crate::statistic::{Mean, Spread};
use crate::suite::{Extent, allow_files, journey};
use crate::tool::Tool;

/// What both are asked to do: a name, and the words after the program.
struct Load {
    name: &'static str,
    words: Vec<String>,
}

/// A figure of one load, a number a turn, ours and the other's.
#[derive(Default)]
struct Figures {
    ours: Vec<f64>,
    others: Vec<f64>,
}

/// How many times each load is carried out by each.
const TURNS: usize = 4;

/// Measures both under every load, and prints a row a load: what a request costs, and what ours costs of the other's.
///
/// # Errors
/// If a program cannot be run, or fails requests.
pub fn against(loadline: &Path, other: &Path) -> Result<()> {
    let machine = Machine::look()?;
    let extent = Extent { seconds: 3, ..Extent::FULL };
    allow_files(&extent)?;
    let nginx = Nginx::start(machine.server_core(), extent.connections_many)?;
    let dir = tempfile::tempdir()?;
    let log = dir.path().join("access.log");
    let mut out = BufWriter::new(File::create(&log)?);
    logs::write_lines(u64::from(extent.replay_rate) * u64::from(extent.seconds), &mut out)?;
    out.flush()?;

    println!("{}\n", machine.words());
    println!(
        "{:<24} {:>20} {:>26} {:>26} {:>12}",
        "load", "µs a request (other)", "of the other's time", "of it outside the kernel", "MiB (other)"
    );
    for Load { name, words } in loads(&nginx, &extent, &log) {
        let [mut cpu_us, mut user_us, mut memory, mut lag_us] = [const { Figures { ours: vec![], others: vec![] } }; 4];
        for turn in 0..TURNS {
            for side in [0, 1, 1, 0].map(|side| (side + turn) % 2) {
                let mut command = vec![[loadline, other][side].display().to_string()];
                command.extend(words.iter().cloned());
                let Ran { usage, stdout, stderr } = run_on(machine.generator_core(), &command)?;
                let requests = Tool::Loadline.count(&stdout).with_context(|| format!("{name}: {stderr}"))?.requests as f64;
                let result: Value = serde_json::from_str(&stdout)?;
                cpu_us.of(side).push(usage.cpu_us as f64 / requests);
                user_us.of(side).push(usage.user_us as f64 / requests);
                memory.of(side).push(usage.memory_bytes_max as f64 / f64::from(1 << 20));
                lag_us.of(side).extend(result.pointer("/lag/quantiles/0.99").and_then(Value::as_f64).map(|lag| lag / 1e3));
            }
        }
        let lag = if lag_us.ours.is_empty() || lag_us.others.is_empty() {
            String::new()
        } else {
            format!("   lag p99 {:.0} µs ({:.0})", Spread::of(&lag_us.ours).median, Spread::of(&lag_us.others).median)
        };
        println!(
            "{name:<24} {:>20} {:>26} {:>26} {:>12}{lag}",
            cpu_us.medians(2),
            Mean::of(&cpu_us.ratios()).text(3),
            Mean::of(&user_us.ratios()).text(3),
            memory.medians(1),
        );
    }
    Ok(())
}

/// Every kind of work once.
fn loads(nginx: &Nginx, extent: &Extent, log: &Path) -> Vec<Load> {
    let Extent { connections, connections_many, seconds, rate, replay_rate, .. } = *extent;
    let closed = |name, url: &str, connections: u32, trust: Option<&Path>, script: Option<&str>| Load {
        name,
        words: Tool::Loadline.command(Path::new("loadline"), url, connections, seconds, trust, script)[1..].to_vec(),
    };
    let script = format!("{}/scripts/path.lua", env!("CARGO_MANIFEST_DIR"));
    let mut travelling = closed("journey of five steps", &nginx.http(), connections, None, None);
    travelling.words.extend(journey());
    let mut crowd = closed("10,000 on the journey", &nginx.http(), connections_many, None, None);
    crowd.words.extend(journey());
    let words = |text: String| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    vec![
        closed("plain", &nginx.http(), connections, None, None),
        closed("https", &nginx.https(), connections, Some(&nginx.certificate()), None),
        closed("template", &format!("{}?n={{{{sequence}}}}&id={{{{uuid}}}}", nginx.http()), connections, None, None),
        travelling,
        closed("script", &nginx.http(), connections, None, Some(&script)),
        Load {
            name: "open load",
            words: words(format!(
                "run -t 1 -r {rate}/s --arrivals even -c {connections} -d {seconds}s --quiet --out json=- {}",
                nginx.http()
            )),
        },
        Load {
            name: "replay",
            words: words(format!(
                "replay {} {} -t 1 --speed {}x --writes -c {connections} --no-save --quiet --out json=-",
                log.display(),
                nginx.http(),
                f64::from(replay_rate) / logs::LINES_A_SECOND as f64
            )),
        },
        closed("10,000 connections", &nginx.http(), connections_many, None, None),
        crowd,
    ]
}

impl Figures {
    fn of(&mut self, side: usize) -> &mut Vec<f64> {
        if side == 0 { &mut self.ours } else { &mut self.others }
    }

    /// Ours by the other's, turn by turn.
    fn ratios(&self) -> Vec<f64> {
        self.ours.iter().zip(&self.others).map(|(ours, other)| ours / other).collect()
    }

    /// Both medians: `8.91 (9.02)`.
    fn medians(&self, decimals: usize) -> String {
        let [ours, others] = [&self.ours, &self.others].map(|figures| Spread::of(figures).median);
        format!("{ours:.decimals$} ({others:.decimals$})")
    }
}
