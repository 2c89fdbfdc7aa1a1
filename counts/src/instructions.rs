//! Instructions that a request takes, counted by Valgrind's callgrind: the same figure on a busy machine as on a quiet one.
//!
//! The work is carried out by the real worker in the simulated engine: in-memory connections and a clock that jumps. So nothing
//! happens by time, and the kernel's part, which is most of what a request costs and not ours, is not in it. What a request takes is
//! the difference between a long run and a short one, divided by the difference of their requests: starting and reporting cancel out.
//! What the simulated connections, their server and the bare exchange take is counted in the same way and subtracted.
//!
//! Real sockets were tried: what happens by time (heartbeats, looks for late answers, polls) outweighs the requests under Valgrind, and
//! three runs gave figures a factor two apart. Processor time differs by several percent between one turn and the next.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::work::Work;

/// The name of the exchange without loadline.
pub const BARE: &str = "bare";

/// Requests of a short run and a long one.
const REQUESTS: [u64; 2] = [2_000, 6_000];

/// Instructions per request of every kind of work, by its name, beyond those of the bare exchange.
pub fn per_request() -> Result<BTreeMap<String, f64>> {
    let bare = slope(BARE)?;
    Work::ALL.into_iter().map(|work| Ok((work.name().to_owned(), (slope(work.name())? - bare).round()))).collect()
}

fn slope(work: &str) -> Result<f64> {
    let [few, many] = REQUESTS;
    let (less, more) = (instructions(work, few)?, instructions(work, many)?);
    if more <= less {
        bail!("{work}: {few} requests took {less} instructions, and {many} took {more}");
    }
    Ok((more - less) as f64 / (many - few) as f64)
}

/// Instructions of one run from its beginning to its end.
fn instructions(work: &str, requests: u64) -> Result<u64> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("callgrind");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet", &format!("--callgrind-out-file={}", file.display())])
        .arg(std::env::current_exe()?)
        .args(["run", work, &requests.to_string()])
        .stdin(Stdio::null())
        .output()
        .context("cannot start valgrind; on Debian: apt-get install valgrind")?;
    if !output.status.success() {
        bail!("{work} under valgrind: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    let text = std::fs::read_to_string(&file).context("callgrind wrote nothing")?;
    let total = text.lines().find_map(|line| line.strip_prefix("summary: ")).context("callgrind gave no summary")?;
    Ok(total.trim().parse()?)
}
