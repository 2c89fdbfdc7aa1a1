//! Is what limits a server named, on servers that are built to be short of one thing each?
//!
//! Each server is a process of its own ([`testbed::limited`]), and loadline sees of it what it would see of any: a ladder of loads or
//! a single run, and `/proc`. What is judged is the first Finding of the result, as the program wrote it. Beside the servers that are
//! short of something stand two that are not, loaded well below what they carry: there the right answer is that no limit was reached.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use analysis::proportion::Share;
use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::link::{self, Link};
use super::process::{Loadline, Ran, ended};
use super::starved::starving;
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Proof, Section, Table};

/// What was said of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Named {
    /// What it is short of, in words.
    pub short_of: String,
    /// Whether it is short of anything.
    pub limited: bool,
    /// The Findings that are right.
    pub wanted: Vec<String>,
    /// The kinds of the Findings and their strengths, the strongest first; empty where the server cannot be made here.
    pub said: Vec<(String, f64)>,
    /// The first of them, in its own words.
    pub sentence: String,
    /// Why the server cannot be made on this machine.
    pub impossible: Option<String>,
}

impl Named {
    /// Whether the first Finding is right.
    #[must_use]
    pub fn is_right(&self) -> bool {
        self.said.first().is_some_and(|(kind, _)| self.wanted.contains(kind))
    }
}

/// Servers that are short of one thing each.
#[derive(Debug)]
pub struct Bottlenecks;

struct Case {
    short_of: &'static str,
    /// Of [`testbed::limited::Shortage`].
    server: &'static str,
    wanted: &'static [&'static str],
    load: Load,
    around: Around,
}

/// What makes a server short of something besides its own doing.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Around {
    Nothing,
    /// Cores that its cgroup may use.
    Quota(f64),
    /// The server behind it.
    Behind(&'static str),
    /// Files that it may open.
    Files(u64),
    /// A link between it and loadline.
    Link,
    /// The same, and it loses segments.
    LossyLink,
    /// Not the server but loadline is kept short, of a core.
    StarvedLoadline,
    /// And by a quota of so many.
    LimitedLoadline(f64),
}

#[derive(Clone, Copy)]
enum Load {
    /// A ladder of closed loads.
    Ladder,
    /// A rate far below what the server carries, and for how long.
    Rate(&'static str, &'static str),
}

const fn case(short_of: &'static str, server: &'static str, wanted: &'static [&'static str]) -> Case {
    Case { short_of, server, wanted, load: Load::Ladder, around: Around::Nothing }
}

/// Those that are short of something, and those that are not.
const CASES: [Case; 21] = [
    case("four workers that wait", "workers", &["worker_pool"]),
    case("a rate it lets through", "rate", &["rate_limit"]),
    case("one thread for all work", "thread", &["thread"]),
    case("cores", "cores", &["processor"]),
    case("room beside loadline", "room", &["shared_machine", "generator"]),
    Case { around: Around::Quota(0.4), ..case("a quota of 0.4 cores", "cores", &["quota"]) },
    case("acceptance of connections", "acceptance", &["accept_queue"]),
    case("a lock", "lock", &["lock"]),
    case("time beside its collector", "collector", &["garbage_collection"]),
    Case { load: Load::Rate("200/s", "8s"), ..case("memory: it keeps 64 KiB a request", "memory", &["memory"]) },
    case("storage", "storage", &["disk"]),
    case("admission: 503 with Retry-After", "admission", &["overload"]),
    case("soundness: it fails beyond eight at once", "soundness", &["errors"]),
    Case { around: Around::Behind("workers"), ..case("an upstream with four workers", "upstream", &["not_visible"]) },
    Case { around: Around::Files(FILES), ..case("files: it may open 24", "files", &["open_files"]) },
    Case { around: Around::Link, ..case("network: a link of 100 Mbit/s", "link", &["network"]) },
    Case { around: Around::LossyLink, ..case("segments: the link loses one in 20", "nothing", &["lost_packets"]) },
    Case { around: Around::StarvedLoadline, ..case("a load generator: it gets a tenth of a core", "nothing", &["generator"]) },
    Case { around: Around::LimitedLoadline(0.1), ..case("a load generator: its quota is a tenth of a core", "room", &["generator"]) },
    Case { load: Load::Rate("100/s", "6s"), ..case("nothing, at 100 a second", "nothing", &["none"]) },
    case("nothing, in a ladder that it answers with ease", "nothing", &["none"]),
];

/// Fewer than the connections of the highest load, and enough for those of the others.
const FILES: u64 = 24;

/// So many of so many have to be right.
const RIGHT_MIN: (u64, u64) = (11, 12);

impl Experiment for Bottlenecks {
    type Sample = Named;
    const NAME: &'static str = "bottlenecks";
    const TITLE: &'static str = "What limits a server";
    const ABOUT: &'static str = "`loadline sweep` (or `run`, at a fixed rate) against servers that are each short of one thing, in a process of their own on the same\nmachine; twice it is the link between the two, which is short or loses segments, and twice loadline. The first Finding of the result must be the right one.";

    fn steps(lab: &Lab) -> Vec<String> {
        CASES.iter().take(lab.of(CASES.len(), 2)).map(|case| case.short_of.to_owned()).collect()
    }

    fn measure(lab: &Lab, step: usize) -> Result<Named> {
        let case = &CASES[step];
        let mut named = Named {
            short_of: case.short_of.to_owned(),
            limited: case.wanted != ["none"],
            wanted: case.wanted.iter().map(|kind| (*kind).to_owned()).collect(),
            said: Vec::new(),
            sentence: String::new(),
            impossible: None,
        };
        let loadline = Loadline::new(&lab.loadline)?;
        let behind = if let Around::Behind(name) = case.around { Some(Limited::start(name, None)?) } else { None };
        let linked = match case.around {
            Around::Link => Link::new().map(Some),
            Around::LossyLink => Link::lossy().map(Some),
            _ => Ok(None),
        };
        let linked = match linked {
            Ok(linked) => linked,
            Err(why) => {
                named.impossible = Some(format!("{why:#}"));
                return Ok(named);
            }
        };
        let mut server = match &linked {
            Some(link) => Limited::start_behind(link, case.server)?,
            None => Limited::start(case.server, behind.as_ref())?,
        };
        let limited = match case.around {
            Around::Quota(cores) => server.limit(cores),
            Around::Files(files) => server.limit_files(files),
            _ => Ok(()),
        };
        if let Err(why) = limited {
            named.impossible = Some(format!("{why:#}"));
            return Ok(named);
        }
        let pid = format!("pid:{}", server.child.id());
        let words = match case.load {
            Load::Ladder => {
                let each = lab.of("3s", "1200ms");
                let users = if case.wanted == ["none"] { "1,2,4,8" } else { "1,4,16,32" };
                let fixed = ["sweep", &server.url, "--levels", users, "-d", each, "--all-levels", "--cooldown", "200ms"];
                // In another network nobody is found to listen; and who is never accepted is not waited for half a minute.
                let own: &[&str] = match case.around {
                    Around::Link | Around::LossyLink => &["--observe", &pid],
                    Around::Files(_) => &["--timeout", "1s"],
                    _ => &[],
                };
                [&fixed[..], own, &["--name", "it", "--dir", "."]].concat()
            }
            Load::Rate(rate, span) => vec!["run", &server.url, "-r", rate, "-d", span, "--out", "json=it.json", "--force"],
        };
        let words = [&words[..], &["--quiet"]].concat();
        let limit = Duration::from_secs(120);
        let ran: Ran = match (&linked, case.around) {
            (Some(link), _) => ended(loadline.command_by(link.of_loadline(&loadline.program()), &words).spawn()?, limit)?,
            (None, Around::StarvedLoadline) => starving(loadline.command(&words), limit)?,
            (None, Around::LimitedLoadline(cores)) => {
                let mut child = loadline.command(&words).spawn().context("loadline cannot be started")?;
                match Quota::on(&child, cores) {
                    Ok(_quota) => ended(child, limit)?,
                    Err(why) => {
                        child.kill()?;
                        child.wait()?;
                        named.impossible = Some(format!("{why:#}"));
                        return Ok(named);
                    }
                }
            }
            (None, _) => loadline.run(&words, limit)?,
        };
        if ![0, 1, 4].contains(&ran.exit) {
            bail!("it ended with {}: {}{}", ran.exit, ran.stderr, ran.stdout);
        }
        let result = loadline.json("it.json")?;
        let findings = result["bottleneck"].as_array().context("no Findings in the result")?;
        let text = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        named.said = findings.iter().map(|it| (text(&it["kind"]), it["strength"].as_f64().unwrap_or(0.0))).collect();
        named.sentence = findings.first().map_or_else(String::new, |first| text(&first["sentence"]));
        eprintln!("bottlenecks: {}: {}: {}", case.short_of, named.said.first().map_or("nothing said", |(kind, _)| kind), named.sentence);
        Ok(named)
    }

    fn tell(seen: &[Named]) -> Section {
        let mut section = Section::default();
        let right = |limited: bool| {
            let of = || seen.iter().filter(move |it| it.limited == limited && it.impossible.is_none());
            Share { hits: of().filter(|it| it.is_right()).count() as u64, of: of().count() as u64 }
        };
        let short = right(true);
        section.proofs.push(Proof::of_fact(
            "of servers that are each short of one thing, the first Finding names it",
            format!("of at least {} in {}", RIGHT_MIN.0, RIGHT_MIN.1),
            format!("of {} in {}", short.hits, short.of),
            short.of > 0 && short.hits * RIGHT_MIN.1 >= short.of * RIGHT_MIN.0,
        ));
        let healthy = right(false);
        if healthy.of > 0 {
            section.proofs.push(Proof::of_fact(
                "of servers loaded well below what they carry, no cause is named",
                "every time",
                format!("of {} in {}", healthy.hits, healthy.of),
                healthy.hits == healthy.of,
            ));
        }
        let mut table = Table::new(
            "By server. Strengths are an order from 0 to 1, no probabilities.",
            &["short of", "first Finding", "in its words", "the next", "right"],
        );
        for it in seen {
            let kind = |at: usize| it.said.get(at).map_or_else(|| "–".to_owned(), |(kind, strength)| format!("`{kind}` ({strength:.2})"));
            table.rows.push(vec![
                it.short_of.clone(),
                kind(0),
                it.impossible.clone().map_or_else(|| it.sentence.clone(), |why| format!("cannot be made here: {why}")),
                kind(1),
                match (it.impossible.is_some(), it.is_right()) {
                    (true, _) => "–",
                    (false, true) => "yes",
                    (false, false) => "**no**",
                }
                .to_owned(),
            ]);
        }
        section.tables.push(table);
        section
    }
}

/// A server that is short of something, in a process of its own. It ends with this value.
struct Limited {
    child: Child,
    url: String,
    quota: Option<Quota>,
}

impl Limited {
    fn start(name: &str, behind: Option<&Self>) -> Result<Self> {
        // This very program has them: see its command `serve`.
        let program = std::env::current_exe().context("this program's own file is not known")?;
        let mut command = Command::new(program);
        command.args(["serve", name]).args(behind.map(|behind| behind.url.trim_start_matches("http://").trim_end_matches('/')));
        Self::by(command, name)
    }

    /// In a network of its own, at the other end of a link.
    fn start_behind(link: &Link, name: &str) -> Result<Self> {
        let program = std::env::current_exe().context("this program's own file is not known")?;
        let mut command = link.of_server(&program.display().to_string());
        command.args(["serve", name, "at", link::SERVER]);
        Self::by(command, name)
    }

    fn by(mut command: Command, name: &str) -> Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().context("a server cannot be started")?;
        let out = child.stdout.take().context("its standard output was taken")?;
        let url = BufReader::new(out).lines().next().transpose()?.filter(|line| line.starts_with("http://"));
        let server = Self { child, url: url.unwrap_or_default(), quota: None };
        if server.url.is_empty() {
            bail!("the server '{name}' did not say where it listens");
        }
        Ok(server)
    }

    /// Lets it open so many files.
    ///
    /// # Errors
    /// Where this user may not decide that.
    fn limit_files(&mut self, files: u64) -> Result<()> {
        let limit = Rlimit { current: Some(files), maximum: Some(files) };
        prlimit(Some(Pid::from_child(&self.child)), Resource::Nofile, limit).context("its limit of open files cannot be set")?;
        Ok(())
    }

    /// Lets it use so many cores.
    ///
    /// # Errors
    /// Where this user may make no cgroups.
    fn limit(&mut self, cores: f64) -> Result<()> {
        self.quota = Some(Quota::on(&self.child, cores)?);
        Ok(())
    }
}

impl Drop for Limited {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Only an empty one can be removed.
        drop(self.quota.take());
    }
}

/// A cgroup that may use so many cores. It ends with this value, as soon as nobody is in it.
pub(super) struct Quota {
    /// One, or two where limits and accounts are kept apart.
    folders: Vec<PathBuf>,
}

/// A quota counts over this many microseconds.
const PERIOD_US: f64 = 100_000.0;

impl Quota {
    /// Puts a process into one.
    ///
    /// # Errors
    /// Where this user may make no cgroups.
    pub(super) fn on(child: &Child, cores: f64) -> Result<Self> {
        let name = format!("loadline-validate-{}", child.id());
        let (quota, period) = ((cores * PERIOD_US).round(), PERIOD_US);
        let (mounts, limits) = if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
            (vec!["/sys/fs/cgroup"], vec![("cpu.max", format!("{quota} {period}"))])
        } else {
            let limits = vec![("cpu.cfs_period_us", period.to_string()), ("cpu.cfs_quota_us", quota.to_string())];
            (vec!["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuacct"], limits)
        };
        let mut made = Self { folders: Vec::new() };
        for mount in mounts {
            let folder = Path::new(mount).join(&name);
            match fs::create_dir(&folder) {
                Ok(()) => made.folders.push(folder),
                // The account is the same folder as the limit by another name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !made.folders.is_empty() => {}
                Err(error) => return Err(error).with_context(|| format!("no cgroup can be made in {mount}")),
            }
        }
        for (file, limit) in limits {
            fs::write(made.folders[0].join(file), limit).with_context(|| format!("{file} cannot be set"))?;
        }
        for folder in &made.folders {
            fs::write(folder.join("cgroup.procs"), child.id().to_string()).context("the server cannot be put into its cgroup")?;
        }
        Ok(made)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // The server in it may take a moment to end.
        let deadline = std::time::Instant::now() + Duration::from_secs(2);
        for folder in &self.folders {
            while fs::remove_dir(folder).is_err() && std::time::Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Held;

    fn named(limited: bool, wanted: &str, said: &str) -> Named {
        Named {
            short_of: "x".to_owned(),
            limited,
            wanted: vec![wanted.to_owned()],
            said: vec![(said.to_owned(), 0.9)],
            sentence: String::new(),
            impossible: None,
        }
    }

    #[test]
    fn eleven_of_twelve_are_enough_and_ten_are_not() {
        let told = |right: usize| {
            let seen: Vec<Named> = (0..12).map(|at| named(true, "lock", if at < right { "lock" } else { "disk" })).collect();
            Bottlenecks::tell(&seen).proofs[0].held
        };
        assert_eq!([told(12), told(11), told(10)], [Held::Held, Held::Held, Held::Missed]);
    }

    #[test]
    fn a_healthy_server_that_is_blamed_is_a_miss_and_one_that_cannot_be_made_is_neither() {
        let mut all = vec![named(true, "lock", "lock"), named(false, "none", "disk")];
        assert_eq!(Bottlenecks::tell(&all).proofs.iter().map(|it| it.held).collect::<Vec<_>>(), [Held::Held, Held::Missed]);
        all[1] = named(false, "none", "none");
        all.push(Named { said: Vec::new(), impossible: Some("no cgroups".to_owned()), ..named(true, "quota", "") });
        assert_eq!(Bottlenecks::tell(&all).proofs.iter().map(|it| it.held).collect::<Vec<_>>(), [Held::Held, Held::Held]);
    }

    #[test]
    fn there_are_twelve_kinds_at_least_and_each_has_its_server() {
        let kinds: std::collections::BTreeSet<_> = CASES.iter().map(|case| case.wanted[0]).collect();
        assert!(kinds.len() > 12, "{kinds:?}");
        let known = |name: &str| testbed::limited::Shortage::named(name).is_some();
        let behind = |around: Around| if let Around::Behind(name) = around { known(name) } else { true };
        assert!(CASES.iter().all(|case| known(case.server) && behind(case.around)));
    }
}
