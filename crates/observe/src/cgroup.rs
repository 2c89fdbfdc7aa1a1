//! The cgroup a server runs in: its quota, its memory, its pressure; and its processes.
//!
//! A container that may use half a core stops at half a core, however idle the machine is, and nothing outside its cgroup shows
//! that. The quota often is not on the cgroup of the process but on one above it, so the nearest quota upwards is the one that is
//! watched. Version 2 has everything in one folder; version 1 has a folder for each controller, and some machines run both.

use std::collections::BTreeSet;

use crate::files::Files;
use crate::machine::{self, Pressure};
use crate::process::{Pid, keyed};

/// Where cgroups are mounted, as systemd and every container engine do it.
const MOUNT: &str = "/sys/fs/cgroup";
/// Deeper trees are not searched for processes.
const DEPTH_MAX: u32 = 8;
/// Version 1 writes "no limit" as a number just below 2^63.
const UNLIMITED: u64 = 1 << 62;

/// The folders of one cgroup.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cgroup {
    /// Where its processor time and quota are told.
    cpu: Option<Folder>,
    /// Where its memory is.
    memory: Option<Folder>,
    /// Where its pressure is: version 2 only.
    pressure: Option<String>,
}

/// A folder, and how it tells.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Folder {
    path: String,
    version: Version,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A cgroup at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CgroupSample {
    /// Processor time so far, in nanoseconds.
    pub cpu_ns: Option<u64>,
    /// How many cores it may use.
    pub quota_cores: Option<f64>,
    /// The quota's periods so far, and those in which it had to stop.
    pub periods: Option<(u64, u64)>,
    /// Memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The most it may have.
    pub memory_max_bytes: Option<u64>,
    /// What waited.
    pub pressure: Pressure,
}

impl Cgroup {
    /// That of a process; `None` for the root, which is the machine.
    #[must_use]
    pub fn of(files: &dyn Files, pid: Pid) -> Option<Self> {
        let text = files.text(&format!("/proc/{pid}/cgroup")).ok()?;
        let unified = [MOUNT.to_owned(), format!("{MOUNT}/unified")];
        let mut found = Self::default();
        for line in text.lines() {
            let mut fields = line.splitn(3, ':');
            let (Some(number), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else { continue };
            let path = path.trim_end_matches('/');
            if path.is_empty() {
                continue;
            }
            if number == "0" {
                let exists = |mount: &&String| files.text(&format!("{mount}{path}/cpu.stat")).is_ok();
                if let Some(mount) = unified.iter().find(exists) {
                    found = found.or(Self::two(format!("{mount}{path}")));
                }
                continue;
            }
            let folder = |file: &str| {
                let single = controllers.split(',').map(|name| format!("{MOUNT}/{name}{path}"));
                let path = std::iter::once(format!("{MOUNT}/{controllers}{path}")).chain(single);
                path.filter(|path| files.text(&format!("{path}/{file}")).is_ok()).map(|path| Folder { path, version: Version::One }).next()
            };
            if controllers.split(',').any(|name| name == "cpu") {
                found.cpu = folder("cpu.stat").or(found.cpu);
            }
            if controllers.split(',').any(|name| name == "memory") {
                found.memory = folder("memory.usage_in_bytes").or(found.memory);
            }
        }
        (found != Self::default()).then_some(found)
    }

    /// That of a folder, given as a path or as it stands below the mount.
    #[must_use]
    pub fn at(files: &dyn Files, path: &str) -> Option<(Self, String)> {
        let inner = path.trim_matches('/');
        let whole = if path.starts_with(MOUNT) { format!("/{inner}") } else { format!("{MOUNT}/{inner}") };
        files.text(&format!("{whole}/cgroup.procs")).ok()?;
        let version_1 =
            files.text(&format!("{whole}/cpu.cfs_quota_us")).is_ok() || files.text(&format!("{whole}/memory.usage_in_bytes")).is_ok();
        let cgroup = if version_1 {
            let folder =
                |file: &str| files.text(&format!("{whole}/{file}")).ok().map(|_| Folder { path: whole.clone(), version: Version::One });
            Self { cpu: folder("cpu.stat"), memory: folder("memory.usage_in_bytes"), pressure: None }
        } else {
            Self::two(whole.clone())
        };
        Some((cgroup, whole))
    }

    fn two(path: String) -> Self {
        let folder = Some(Folder { path: path.clone(), version: Version::Two });
        Self { cpu: folder.clone(), memory: folder, pressure: Some(path) }
    }

    fn or(self, other: Self) -> Self {
        Self { cpu: self.cpu.or(other.cpu), memory: self.memory.or(other.memory), pressure: self.pressure.or(other.pressure) }
    }

    /// The folders that are read, for whoever must ask for them first: with all above them, where a quota may be.
    #[must_use]
    pub fn folders(&self) -> BTreeSet<String> {
        let folders = self.cpu.iter().chain(&self.memory).map(|folder| folder.path.as_str()).chain(self.pressure.as_deref());
        folders.flat_map(upwards).map(str::to_owned).collect()
    }

    /// Looks at it.
    #[must_use]
    pub fn sample(&self, files: &dyn Files) -> CgroupSample {
        let text = |path: String| files.text(&path).unwrap_or_default();
        let mut seen = CgroupSample::default();
        if let Some(Folder { path, version }) = &self.cpu {
            seen.cpu_ns = match version {
                Version::Two => keyed(&text(format!("{path}/cpu.stat")), "usage_usec ").map(|us| us * 1_000),
                Version::One => {
                    let beside = path.replacen("/cpu/", "/cpuacct/", 1);
                    [path, &beside].iter().find_map(|path| keyed(&text(format!("{path}/cpuacct.usage")), ""))
                }
            };
            if let Some((above, cores)) = upwards(path).find_map(|above| Some((above, quota(files, above, *version)?))) {
                seen.quota_cores = Some(cores);
                let stat = text(format!("{above}/cpu.stat"));
                seen.periods = keyed(&stat, "nr_periods ").zip(keyed(&stat, "nr_throttled "));
            }
        }
        if let Some(Folder { path, version }) = &self.memory {
            let (now, most) = match version {
                Version::Two => ("memory.current", "memory.max"),
                Version::One => ("memory.usage_in_bytes", "memory.limit_in_bytes"),
            };
            seen.memory_bytes = keyed(&text(format!("{path}/{now}")), "");
            let limit = |above: &str| keyed(&text(format!("{above}/{most}")), "").filter(|bytes| *bytes < UNLIMITED);
            seen.memory_max_bytes = upwards(path).find_map(limit);
        }
        if let Some(path) = &self.pressure {
            seen.pressure = machine::pressure(files, path, ".pressure");
        }
        seen
    }
}

/// A folder and those above it, as far as the mount.
fn upwards(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| above(path))
}

fn above(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(above, _)| above).filter(|above| above.len() > MOUNT.len())
}

fn quota(files: &dyn Files, folder: &str, version: Version) -> Option<f64> {
    let number = |file: &str| files.text(&format!("{folder}/{file}")).ok()?.trim().parse::<f64>().ok();
    let (quota, period) = match version {
        Version::Two => {
            let text = files.text(&format!("{folder}/cpu.max")).ok()?;
            let (quota, period) = text.trim().split_once(' ')?;
            (quota.parse::<f64>().ok()?, period.parse().ok()?)
        }
        Version::One => (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?),
    };
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

/// Every process in a cgroup and those below it.
#[must_use]
pub fn processes(files: &dyn Files, folder: &str) -> Vec<Pid> {
    let mut found = BTreeSet::new();
    let mut left = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = left.pop() {
        let Ok(text) = files.text(&format!("{folder}/cgroup.procs")) else { continue };
        found.extend(text.lines().filter_map(|line| line.parse::<Pid>().ok()));
        if depth < DEPTH_MAX {
            // A file has no names; so whatever has some is a folder, and whichever has no processes is left at once.
            let inner = files
                .names(&folder)
                .unwrap_or_default()
                .into_iter()
                .filter(|name| !name.contains('.') || name.contains("slice") || name.contains("scope") || name.contains("service"));
            left.extend(inner.map(|name| (format!("{folder}/{name}"), depth + 1)));
        }
    }
    found.into_iter().collect()
}

/// The folder of the cgroup of the container with this id, or its beginning; `None` if no process is in such a cgroup.
#[must_use]
pub fn of_container(files: &dyn Files, id: &str) -> Option<Pid> {
    crate::listener::pids(files).into_iter().find(|pid| {
        let text = files.text(&format!("/proc/{pid}/cgroup")).unwrap_or_default();
        text.lines().any(|line| line.split(['/', '-', ':', '.']).any(|part| part.len() >= ID_LETTERS && part.starts_with(id)))
    })
}

/// Ids of containers are 64 hexadecimal digits long; nothing else in the path of a cgroup is that long.
const ID_LETTERS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::RecordedFiles;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn version_two() -> RecordedFiles {
        let mut told = RecordedFiles::default();
        told.add_text("/proc/10/cgroup", format!("0::/system.slice/docker-{ID}.scope/inner\n"));
        let folder = format!("/sys/fs/cgroup/system.slice/docker-{ID}.scope");
        told.add_text(format!("{folder}/inner/cpu.stat"), "usage_usec 5000\nuser_usec 4000\nsystem_usec 1000\n");
        told.add_text(format!("{folder}/inner/cpu.max"), "max 100000\n");
        told.add_text(format!("{folder}/inner/memory.current"), "4096\n");
        told.add_text(format!("{folder}/inner/memory.max"), "max\n");
        told.add_text(format!("{folder}/inner/cpu.pressure"), "some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n");
        told.add_text(format!("{folder}/inner/cgroup.procs"), "10\n12\n");
        told.add_text(format!("{folder}/cpu.max"), "50000 100000\n");
        told.add_text(format!("{folder}/cpu.stat"), "usage_usec 9000\nnr_periods 40\nnr_throttled 9\nthrottled_usec 12\n");
        told.add_text(format!("{folder}/memory.max"), "1048576\n");
        told.add_text(format!("{folder}/cgroup.procs"), "");
        told
    }

    #[test]
    fn a_quota_above_the_cgroup_holds_for_it() {
        let told = version_two();
        let cgroup = Cgroup::of(&told, 10).unwrap();
        let seen = cgroup.sample(&told);
        assert_eq!((seen.cpu_ns, seen.quota_cores, seen.periods), (Some(5_000_000), Some(0.5), Some((40, 9))));
        assert_eq!((seen.memory_bytes, seen.memory_max_bytes, seen.pressure.cpu_us), (Some(4_096), Some(1_048_576), Some(77)));
        assert_eq!(cgroup.folders().len(), 3, "{:?}", cgroup.folders());
    }

    #[test]
    fn the_first_version_is_read_from_its_own_folders() {
        let mut told = RecordedFiles::default();
        told.add_text("/proc/10/cgroup", "4:memory:/app\n2:cpu,cpuacct:/app\n0::/\n");
        told.add_text("/sys/fs/cgroup/cpu,cpuacct/app/cpu.stat", "nr_periods 10\nnr_throttled 2\nthrottled_time 55\n");
        told.add_text("/sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", "150000\n");
        told.add_text("/sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", "100000\n");
        told.add_text("/sys/fs/cgroup/cpu,cpuacct/app/cpuacct.usage", "123\n");
        told.add_text("/sys/fs/cgroup/memory/app/memory.usage_in_bytes", "777\n");
        told.add_text("/sys/fs/cgroup/memory/app/memory.limit_in_bytes", "9223372036854771712\n");
        let seen = Cgroup::of(&told, 10).unwrap().sample(&told);
        assert_eq!((seen.cpu_ns, seen.quota_cores, seen.periods), (Some(123), Some(1.5), Some((10, 2))));
        assert_eq!((seen.memory_bytes, seen.memory_max_bytes), (Some(777), None));
    }

    #[test]
    fn the_root_is_the_machine_and_no_cgroup() {
        let mut told = RecordedFiles::default();
        told.add_text("/proc/10/cgroup", "0::/\n2:cpu:/\n");
        told.add_text("/sys/fs/cgroup/cpu.stat", "usage_usec 5\n");
        assert_eq!(Cgroup::of(&told, 10), None);
    }

    #[test]
    fn a_container_is_found_by_the_beginning_of_its_id() {
        let told = version_two();
        assert_eq!(of_container(&told, &ID[..12]), Some(10));
        assert_eq!(of_container(&told, ID), Some(10));
        assert_eq!(of_container(&told, "fedcba987654"), None);
    }

    #[test]
    fn processes_of_inner_cgroups_belong_to_it() {
        let told = version_two();
        assert_eq!(
            processes(&told, "/sys/fs/cgroup/system.slice/docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope"),
            [10, 12]
        );
        let (_, folder) = Cgroup::at(&told, &format!("system.slice/docker-{ID}.scope")).unwrap();
        assert!(folder.starts_with("/sys/fs/cgroup/system.slice/"));
        assert!(Cgroup::at(&told, "no/such").is_none());
    }
}
