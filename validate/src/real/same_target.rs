//! Does `loadline compare` stay silent about a server and itself?
//!
//! Three shapes: closed load, open load, and a pool that is used up. Commands' restarts are left out: they need a server
//! that takes longer to start than to measure. The verdict with the usual margins is the program's own; without any margin
//! the same runs are judged again.

use std::time::Duration;

use analysis::compare::{self, Values, Verdict, paired};
use analysis::proportion::Share;
use anyhow::{Context as _, Result, bail};
use measure::Summary;
use serde::{Deserialize, Serialize};

use super::process::{Loadline, Serving};
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Band, Proof, Section, Table, percent, share_of};
use crate::seeds;
use crate::simulated::no_margins;

/// A server compared with itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Agreed {
    /// Under which load.
    pub shape: String,
    /// The verdict of each comparison, in a word.
    pub verdicts: Vec<String>,
    /// Whether the same runs were called worse or better without any margin.
    pub alarms_without_margin: Vec<bool>,
    /// Pairs left out, because the generator was the limit, over all comparisons.
    pub left_out: usize,
    /// Between which factors the 95 % interval of the median's change ran, on average: how much could have been seen.
    pub p50_width: f64,
}

/// Real comparisons of a server with itself.
#[derive(Debug)]
pub struct SameTarget;

const SHAPES: [(&str, &str, &[&str]); 3] = [
    ("4 users, answers after 1 ms (exponential)", "/behave?delay=exp:1ms", &["-c", "4"]),
    ("1,500 a second, answers after 2 ms (log-normal)", "/behave?delay=lognormal:2ms:0.5", &["-c", "64", "-r", "1500/s"]),
    ("8 users of a pool of 4 workers with 2 ms", "/behave?pool=4:2ms", &["-c", "8"]),
];
/// Whatever they vary by: as many in every comparison.
const PAIRS: &str = "8";

impl Experiment for SameTarget {
    type Sample = Agreed;
    const NAME: &'static str = "same-target";
    const TITLE: &'static str = "Real comparisons of a server with itself";
    const ABOUT: &'static str = "`loadline compare URL URL` with eight pairs of runs of 600 ms each, against `loadline demo --serve` in a process of its own: ten\ncomparisons of each shape. A false alarm is the verdict *worse* or *better* on the whole.";

    fn steps(lab: &Lab) -> Vec<String> {
        SHAPES.iter().take(lab.of(3, 1)).map(|(name, ..)| (*name).to_owned()).collect()
    }

    fn measure(lab: &Lab, step: usize) -> Result<Agreed> {
        let (shape, path, load) = SHAPES[step];
        let loadline = Loadline::new(&lab.loadline)?;
        let server = Serving::start(&loadline)?;
        let url = server.url(path);
        let mut agreed =
            Agreed { shape: shape.to_owned(), verdicts: Vec::new(), alarms_without_margin: Vec::new(), left_out: 0, p50_width: 0.0 };
        let comparisons = lab.of(10, 1);
        for nth in 0..comparisons {
            let seed = (seeds::SAME_TARGET + step as u64 * 1_000 + nth * 20).to_string();
            let fixed = ["compare", &url, &url, "-d", lab.of("600ms", "60ms"), "--pairs", PAIRS, "--cooldown", "0s", "--seed", &seed];
            let words = [&fixed[..], &["--name", "same", "--dir", ".", "--force", "--quiet"], load].concat();
            let ran = loadline.run(&words, Duration::from_secs(120))?;
            if ![0, 1, 4].contains(&ran.exit) {
                bail!("it ended with {}: {}{}", ran.exit, ran.stderr, ran.stdout);
            }
            let result = loadline.json("same.compare.json")?;
            let verdict = result["comparison"]["verdict"]["verdict"].as_str().context("no verdict in the result")?;
            agreed.verdicts.push(verdict.to_owned());
            let mut pairs: Vec<(Values, Values)> = Vec::new();
            for pair in result["pairs"].as_array().context("no pairs in the result")? {
                if pair["left_out"].is_string() {
                    agreed.left_out += 1;
                    continue;
                }
                let side = |name: &str| -> Result<Values> { Ok(compare::values(&serde_json::from_value::<Summary>(pair[name].clone())?)) };
                pairs.push((side("a")?, side("b")?));
            }
            let comparison = paired(&pairs, &no_margins());
            agreed.alarms_without_margin.push(matches!(comparison.verdict, Verdict::Worse | Verdict::Better));
            let p50 = comparison.changes.iter().find(|change| change.metric == compare::Metric::P50);
            agreed.p50_width += p50.and_then(|change| change.interval).map_or(0.0, |interval| interval.width()) / comparisons as f64;
            eprintln!("same-target: {} of {comparisons}: {verdict}", nth + 1);
        }
        Ok(agreed)
    }

    fn tell(seen: &[Agreed]) -> Section {
        let mut section = Section::default();
        let alarm = |verdict: &String| verdict == "worse" || verdict == "better";
        let said = share_of(seen.iter().flat_map(|it| it.verdicts.iter().map(alarm)));
        section.proofs.push(Proof::of_share(
            "a real server compared with itself is called worse or better, with the usual margins",
            Band::at_most(0.05),
            said,
        ));
        let bare = share_of(seen.iter().flat_map(|it| it.alarms_without_margin.iter().copied()));
        section.proofs.push(Proof::of_share(
            "a real server compared with itself is called worse or better, without any margin",
            Band::at_most(0.05),
            bare,
        ));
        let mut table = Table::new(
            "By load. The width is that of the 95 % interval of the change of p50, on average.",
            &["load", "worse or better", "without any margin", "same", "cannot tell", "pairs left out", "width"],
        );
        for it in seen {
            let count = |word: &str| it.verdicts.iter().filter(|verdict| *verdict == word).count();
            let shares: [Share; 2] = [share_of(it.verdicts.iter().map(alarm)), share_of(it.alarms_without_margin.iter().copied())];
            table.rows.push(vec![
                it.shape.clone(),
                percent(shares[0]),
                percent(shares[1]),
                count("same_within").to_string(),
                count("cannot_tell").to_string(),
                it.left_out.to_string(),
                format!("{:.1} %", it.p50_width * 100.0),
            ]);
        }
        section.tables.push(table);
        section
    }
}
