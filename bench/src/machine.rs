//! What figures were measured on, and with which programs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use nix::sched::sched_getaffinity;
use nix::unistd::Pid;

use crate::tool::{Tool, peer};

/// The machine as it was found.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Cores this process may use, by number.
    pub cores: Vec<usize>,
    /// The kernel's name and release.
    pub kernel: String,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The load average over a minute, before anything was measured: others were at work if it is far from 0.
    pub load_before: String,
}

impl Machine {
    /// Looks around.
    ///
    /// # Errors
    /// If the system does not tell which cores this process may use.
    pub fn look() -> Result<Self> {
        let set = sched_getaffinity(Pid::from_raw(0))?;
        let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let processor = file("/proc/cpuinfo")
            .lines()
            .find_map(|line| line.strip_prefix("model name").and_then(|rest| rest.split_once(':')).map(|(_, name)| name.trim().to_owned()))
            .unwrap_or_else(|| "unknown".to_owned());
        let memory_kb: u64 = file("/proc/meminfo")
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok())
            .unwrap_or(0);
        Ok(Self {
            processor,
            cores: (0..nix::sched::CpuSet::count()).filter(|core| set.is_set(*core).unwrap_or(false)).collect(),
            kernel: format!("{} {}", file("/proc/sys/kernel/ostype").trim(), file("/proc/sys/kernel/osrelease").trim()),
            memory_bytes: memory_kb * 1024,
            load_before: file("/proc/loadavg").split(' ').next().unwrap_or("unknown").to_owned(),
        })
    }

    /// In a line: `AMD EPYC, 2 cores, 23.5 GiB of memory, Linux 6.18`.
    #[must_use]
    pub fn words(&self) -> String {
        let memory_gib = self.memory_bytes as f64 / f64::from(1 << 30);
        format!("{}, {} cores, {memory_gib:.1} GiB of memory, {}", self.processor, self.cores.len(), self.kernel)
    }

    /// Where load generators run.
    #[must_use]
    pub fn generator_core(&self) -> usize {
        self.cores[0]
    }

    /// Where nginx runs.
    #[must_use]
    pub fn server_core(&self) -> usize {
        self.cores[1]
    }
}

/// The programs of the benchmark.
#[derive(Debug, Clone)]
pub struct Programs {
    /// Every program that takes part, in its own words.
    pub versions: Vec<String>,
    /// Peers that are not installed.
    pub missing: Vec<Tool>,
    /// Whether GoAccess is installed, which reads logs.
    pub goaccess: bool,
}

impl Programs {
    /// Asks each for its version.
    ///
    /// # Errors
    /// If loadline or nginx cannot be started.
    pub fn look(loadline: &Path) -> Result<Self> {
        let mut versions = vec![version_of(loadline)?, said("nginx", "-v").context("nginx is not installed")?];
        let mut missing = Vec::new();
        for tool in Tool::PEERS {
            match said_by(*tool) {
                Ok(version) => versions.push(version),
                Err(_) => missing.push(*tool),
            }
        }
        let goaccess = said("goaccess", "--version");
        versions.extend(goaccess.iter().map(|version| version.trim_end_matches('.').to_owned()));
        Ok(Self { versions, missing, goaccess: goaccess.is_ok() })
    }

    /// Those of these tools that are installed.
    pub(crate) fn installed(&self, tools: &[Tool]) -> Vec<Tool> {
        tools.iter().copied().filter(|tool| !self.missing.iter().any(|missing| missing.is_program_of(*tool))).collect()
    }
}

/// Its version, in its own words, or as `scripts/peers.sh` took it: what is built from a module does not know it.
fn said_by(tool: Tool) -> Result<String> {
    let Some(path) = peer(tool.name()) else { return said(tool.name(), tool.version_flag()) };
    let mark = format!(".{}-", tool.name());
    let marks = std::fs::read_dir(path.parent().unwrap_or(&path))?;
    let names = marks.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let version = names.filter_map(|name| Some(name.strip_prefix(&mark)?.split('-').next()?.to_owned())).next();
    Ok(format!("{} {}", tool.name(), version.context("no mark of its version beside it")?))
}

/// What loadline says about its version.
///
/// # Errors
/// If it is not there.
pub fn version_of(loadline: &Path) -> Result<String> {
    said(&loadline.to_string_lossy(), "--version").context("build it first: make build")
}

/// The first line a program says about its version. Its exit code is not asked: wrk ends with 1 after saying it.
fn said(program: &str, flag: &str) -> Result<String> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program).arg(flag).env("PATH", path).output().with_context(|| format!("cannot start {program}"))?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().next().with_context(|| format!("{program} {flag} says nothing"))?;
    let short = line.trim_start_matches("This is ").trim_start_matches("nginx version: ");
    Ok(short.split(" Copyright").next().unwrap_or(short).trim_end_matches("<$Revision$>").trim().to_owned())
}
