//! Loads from several processes and machines: what they cost more than one process, how soon they begin, and what commanding them takes.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use tempfile::TempDir;

/// How long something may take to be there.
const THERE_MAX: Duration = Duration::from_secs(30);
/// So many requests a second come from all sites of a commander, however many they are.
const COMMANDED_RATE: u32 = 2_000;
/// A commander is looked at for so long, once its load is under way.
const COMMANDED: Duration = Duration::from_secs(5);

/// What was measured, round by round.
#[derive(Debug, Clone, Default)]
pub struct Several {
    /// Processor time a request of four processes, of that of one.
    pub four_of_one: Vec<f64>,
    /// From the start until the first request, with processes of this machine, in milliseconds.
    pub processes_ms: Vec<f64>,
    /// The same with agents that wait at a NATS server; empty where there is none.
    pub fleet_ms: Vec<f64>,
    /// The same over SSH on loopback, once the program is there; empty where there is no SSH server.
    pub ssh_ms: Vec<f64>,
    /// As many logins at once, of which each runs `true`, until all have ended: what SSH alone takes, in milliseconds.
    pub logins_ms: Vec<f64>,
    /// Processor time of a commander with very many sites, as a share of a core.
    pub commander_percent: Vec<f64>,
    /// Its peak resident memory, in bytes.
    pub commander_bytes: Vec<f64>,
}

/// A program that is ended with this.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A NATS server with agents that wait at it.
pub(crate) struct Fleet {
    /// Its address.
    pub url: String,
    _all: Vec<Ended>,
}

impl Fleet {
    /// Starts it; `None` where there is no NATS server on this machine.
    ///
    /// # Errors
    /// If the agents do not come.
    pub(crate) fn start(loadline: &Path, agents: u32) -> Result<Option<Self>> {
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let quiet = |command: &mut Command| command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Ended);
        let Ok(server) = quiet(Command::new("nats-server").args(["-a", "127.0.0.1", "-p", &port.to_string()])) else { return Ok(None) };
        let url = format!("nats://127.0.0.1:{port}");
        let mut all = vec![server];
        for number in 0..agents {
            all.push(quiet(Command::new(loadline).args(["agent", "--nats", &url, "--name", &format!("agent {number}")]))?);
        }
        let begun = Instant::now();
        loop {
            let listed = Command::new(loadline).args(["agents", &url, "--json"]).output()?;
            let there = serde_json::from_slice::<Value>(&listed.stdout).ok().and_then(|listed| Some(listed.as_array()?.len()));
            if there == Some(agents as usize) {
                return Ok(Some(Self { url, _all: all }));
            }
            if begun.elapsed() > THERE_MAX {
                bail!("{} of {agents} agents came to the NATS server", there.unwrap_or(0));
            }
            sleep(Duration::from_millis(100));
        }
    }
}

/// An SSH server on loopback, and an `ssh` that knows it by many names.
pub(crate) struct SshPlaces {
    dir: TempDir,
    _server: Ended,
}

impl SshPlaces {
    /// Starts it; `None` where there is no SSH server on this machine, or nobody may start one.
    ///
    /// # Errors
    /// If it does not answer.
    pub(crate) fn start() -> Result<Option<Self>> {
        let server = Path::new("/usr/sbin/sshd");
        if !server.exists() || !nix::unistd::geteuid().is_root() {
            return Ok(None);
        }
        let dir = tempfile::tempdir()?;
        let at = |name: &str| dir.path().join(name).display().to_string();
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        for key in ["host", "user"] {
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f", &at(key)]).status()?;
            if !made.success() {
                bail!("ssh-keygen made no key");
            }
        }
        std::fs::copy(at("user.pub"), at("authorized"))?;
        std::fs::create_dir_all("/run/sshd")?;
        let settings = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
             PermitRootLogin yes\nMaxStartups 100\nAcceptEnv XDG_CACHE_HOME\n",
            at("host"),
            at("authorized")
        );
        std::fs::write(at("server"), settings)?;
        let settings = format!(
            "Host place*\n HostName 127.0.0.1\n Port {port}\n User root\n IdentityFile {}\n StrictHostKeyChecking no\n \
             UserKnownHostsFile /dev/null\n LogLevel ERROR\n SetEnv XDG_CACHE_HOME={}\n",
            at("user"),
            at("cache")
        );
        std::fs::write(at("client"), settings)?;
        std::fs::write(at("ssh"), format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", at("client")))?;
        std::fs::set_permissions(at("ssh"), std::fs::Permissions::from_mode(0o755))?;
        let mut command = Command::new(server);
        command.args(["-D", "-f", &at("server")]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let places = Self { _server: Ended(command.spawn()?), dir };
        let answers = || -> Result<bool> {
            let mut asking = Command::new(places.dir.path().join("ssh"));
            asking.args(["-o", "BatchMode=yes", "place0", "true"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            Ok(asking.status()?.success())
        };
        while !answers()? {
            if begun.elapsed() > THERE_MAX {
                bail!("the SSH server does not answer");
            }
            sleep(Duration::from_millis(100));
        }
        Ok(Some(places))
    }

    /// Words before a command that let it find that `ssh`.
    pub(crate) fn prefix(&self) -> String {
        format!("env PATH={}:/usr/bin:/bin", self.dir.path().display())
    }

    /// How long so many logins at once take that run nothing, in milliseconds.
    ///
    /// # Errors
    /// If one fails.
    pub(crate) fn logins_ms(&self, count: u32) -> Result<f64> {
        let begun = Instant::now();
        let login = |number: u32| {
            let mut command = Command::new(self.dir.path().join("ssh"));
            command.args(["-o", "BatchMode=yes", &format!("place{number}"), "true"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
        };
        let logins = (0..count).map(login).collect::<std::io::Result<Vec<Child>>>()?;
        for mut login in logins {
            if !login.wait()?.success() {
                bail!("a login over SSH failed");
            }
        }
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    }

    /// So many of its names, as a load has them.
    pub(crate) fn agents(count: u32) -> String {
        (0..count).map(|number| format!("ssh:place{number}")).collect::<Vec<_>>().join(",")
    }
}

/// A commander of so many sites on this machine, with a request at once for each: its share of a core in percent, and its peak memory in bytes.
///
/// # Errors
/// If the load fails.
pub(crate) fn commander(loadline: &Path, sites: u32, url: &str) -> Result<(f64, f64)> {
    let words =
        format!("run {url} --no-save --observe none --quiet --processes {sites} -t {sites} -c {sites} --rate {COMMANDED_RATE}/s -d 30s");
    let mut running = Ended(Command::new(loadline).args(words.split(' ')).stdin(Stdio::null()).stdout(Stdio::null()).spawn()?);
    let stat = format!("/proc/{}/stat", running.0.id());
    // In ticks of ten milliseconds, the fourteenth and the fifteenth (proc_pid_stat(5)); behind the name, which may have blanks.
    let cpu = || -> Result<f64> {
        let text = std::fs::read_to_string(&stat)?;
        let after = text.rsplit(") ").next().context("no stat")?;
        let ticks: Vec<f64> = after.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse().ok()).collect();
        Ok(ticks.iter().sum::<f64>() / 100.0)
    };
    // All have begun, and told some seconds, by then.
    sleep(Duration::from_secs(5) + Duration::from_millis(30) * sites);
    let (before, begun) = (cpu()?, Instant::now());
    sleep(COMMANDED);
    let percent = (cpu()? - before) / begun.elapsed().as_secs_f64() * 100.0;
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.0.id()))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    let pid = nix::unistd::Pid::from_raw(running.0.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT)?;
    running.0.wait()?;
    Ok((percent, peak.context("no peak")? * 1024.0))
}
