//! A network between loadline and a server that carries 100 Mbit/s, on one machine.
//!
//! Over loopback nothing is ever short of network, and a server that paces its own writes is a server that waits, not a link that is
//! full. So both get a network of their own (a namespace), joined by a pair of virtual interfaces, one of which lets through what a
//! link of that speed does: frames of the usual size, each with what Ethernet adds on the wire. It takes root, iproute2, util-linux
//! and, to lose segments, nftables; where these are not there, the part says so and is left out.
//!
//! Invariant: the machine's own network is not touched, and all of it is gone with this value.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Where the server is in its network.
pub(crate) const SERVER: &str = "10.213.0.2";
const LOADLINE: &str = "10.213.0.1";
const RATE: &str = "100mbit";
/// What Ethernet adds to a frame beside its head: preamble, checksum and the gap between two (IEEE 802.3).
const OVERHEAD: &str = "24";

/// Both networks and what joins them.
pub(crate) struct Link {
    loadline: Namespace,
    server: Namespace,
}

impl Link {
    /// Makes it.
    ///
    /// # Errors
    /// Where this user may make no networks, or a program for that is missing.
    pub(crate) fn new() -> Result<Self> {
        let link = Self { loadline: Namespace::new()?, server: Namespace::new()? };
        let far = link.server.holder.id().to_string();
        let near = |words: &str| run(link.loadline.within("ip"), words);
        near(&format!("link add near type veth peer name far netns {far}"))?;
        near(&format!("address add {LOADLINE}/30 dev near"))?;
        near("link set lo up")?;
        near("link set near up")?;
        let there = |words: &str| run(link.server.within("ip"), words);
        there(&format!("address add {SERVER}/30 dev far"))?;
        // Frames as long as a cable carries, not as long as a memory copy does.
        there("link set far gso_max_segs 1")?;
        there("link set lo up")?;
        there("link set far up")?;
        // Half a second of queue holds all that is asked for at once, so that nothing is lost and sent again.
        let shape = format!("qdisc add dev far root tbf rate {RATE} burst 16kb latency 500ms overhead {OVERHEAD}");
        run(link.server.within("tc"), &shape)?;
        Ok(link)
    }

    /// The same, which loses one in twenty of the segments that carry answers.
    ///
    /// # Errors
    /// As for [`Link::new`].
    pub(crate) fn lossy() -> Result<Self> {
        let link = Self::new()?;
        // What carries nothing, an acknowledgement or the opening of a connection, is shorter.
        let rule = format!("add rule ip lossy arriving ip saddr {SERVER} meta length > 80 numgen random mod 20 0 drop");
        for words in ["add table ip lossy", "add chain ip lossy arriving { type filter hook input priority 0 ; }", &rule] {
            run(link.loadline.within("nft"), words)?;
        }
        Ok(link)
    }

    /// A program in the network of the server.
    pub(crate) fn of_server(&self, program: &str) -> Command {
        self.server.within(program)
    }

    /// A program in that of loadline.
    pub(crate) fn of_loadline(&self, program: &str) -> Command {
        self.loadline.within(program)
    }
}

/// A network with nothing in it; it lasts as long as a program in it.
struct Namespace {
    holder: Child,
}

impl Namespace {
    fn new() -> Result<Self> {
        let mut command = Command::new("unshare");
        command.args(["--net", "sleep", "infinity"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut made = Self { holder: command.spawn().context("unshare cannot be started (util-linux)")? };
        let own = fs::read_link("/proc/self/ns/net")?;
        let deadline = Instant::now() + Duration::from_secs(10);
        while fs::read_link(made.path()).map_or(true, |theirs| theirs == own) {
            if made.holder.try_wait()?.is_some() {
                bail!("no network of its own can be made: it takes root");
            }
            if Instant::now() > deadline {
                bail!("a network of its own did not come up");
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(made)
    }

    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/ns/net", self.holder.id()))
    }

    fn within(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.path().display())).arg(program);
        command
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

fn run(mut command: Command, words: &str) -> Result<()> {
    let program = command.get_args().last().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    let output = command.args(words.split(' ')).stdin(Stdio::null()).output().context("nsenter cannot be started (util-linux)")?;
    if !output.status.success() {
        bail!("{program} {words}: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
