//! The files a machine tells about itself in: its own, those of a folder, or those that came over a wire.
//!
//! Whatever is read of a server stands under `/proc` and `/sys`, here and on any other machine. If sampling opened files by
//! itself, a test could only look at the machine it runs on, and reading over ssh would be a second implementation. So it asks a
//! [`Files`], by the path a file has on that machine.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::PathBuf;

use crate::listener::Listening;
use crate::sock_diag;

/// Files of a machine, by their paths there.
pub trait Files {
    /// The whole text; what is not UTF-8 in it is replaced.
    ///
    /// # Errors
    /// As the system says; a file that came over no wire is missing.
    fn text(&self, path: &str) -> io::Result<String>;

    /// The first lines for which `wanted` holds, and the one before them, which is a heading. A table with a line for each of ten
    /// thousand connections is not read to its end for the three at its beginning.
    ///
    /// # Errors
    /// As for [`Files::text`].
    fn text_while(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<String>;

    /// The names in a folder.
    ///
    /// # Errors
    /// As for [`Files::text`].
    fn names(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Where a symbolic link leads.
    ///
    /// # Errors
    /// As for [`Files::text`].
    fn link(&self, path: &str) -> io::Result<String>;

    /// How many names a folder has.
    ///
    /// # Errors
    /// As for [`Files::text`].
    fn count(&self, folder: &str) -> io::Result<u64>;

    /// The sockets that accept TCP connections in the network that this folder of `/proc` is of, where there is a shorter way to
    /// them than by its tables.
    fn listening(&self, _net: &str) -> Option<Vec<Listening>> {
        None
    }

    /// Whether one of the links in a folder leads to a target that is wanted.
    ///
    /// # Errors
    /// If the folder is not there, or not to be read.
    fn leads_to(&self, folder: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<bool> {
        Ok(self.names(folder)?.iter().any(|name| self.link(&format!("{folder}/{name}")).is_ok_and(|target| wanted(&target))))
    }
}

/// The files below a folder, `/` for this machine's own.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

/// Tables are read in pieces of this size; the kernel makes them a page at a time.
const PIECE_BYTES: usize = 4_096;

impl Folder {
    /// This machine.
    #[must_use]
    pub fn of_this_machine() -> Self {
        Self { root: PathBuf::from("/") }
    }

    /// The files of a machine as they were copied to a folder.
    pub fn copied(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

impl Files for Folder {
    fn text(&self, path: &str) -> io::Result<String> {
        // Files of the kernel have no length, so that nothing can be reserved; most fit into a page.
        let mut bytes = Vec::with_capacity(PIECE_BYTES);
        fs::File::open(self.at(path))?.read_to_end(&mut bytes)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|wrong| String::from_utf8_lossy(wrong.as_bytes()).into_owned()))
    }

    fn text_while(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<String> {
        let mut file = fs::File::open(self.at(path))?;
        let mut bytes = Vec::new();
        let mut looked_at = 0;
        let mut piece = [0; PIECE_BYTES];
        let mut heading = true;
        loop {
            let read = file.read(&mut piece)?;
            bytes.extend_from_slice(&piece[..read]);
            while let Some(length) = bytes[looked_at..].iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&bytes[looked_at..looked_at + length]);
                if !heading && !wanted(&line) {
                    bytes.truncate(looked_at);
                    return Ok(String::from_utf8_lossy(&bytes).into_owned());
                }
                heading = false;
                looked_at += length + 1;
            }
            if read == 0 {
                return Ok(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }

    fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.at(folder))? {
            // What goes away while a folder is read is none of its names.
            let Ok(entry) = entry else { continue };
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
        Ok(names)
    }

    // One name at a time: a process with ten thousand connections has as many, and all of them at once would be half a megabyte.
    fn leads_to(&self, folder: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<bool> {
        let leads = |entry: &fs::DirEntry| fs::read_link(entry.path()).is_ok_and(|target| wanted(&target.to_string_lossy()));
        Ok(fs::read_dir(self.at(folder))?.flatten().any(|entry| leads(&entry)))
    }

    fn link(&self, path: &str) -> io::Result<String> {
        Ok(fs::read_link(self.at(path))?.to_string_lossy().into_owned())
    }

    fn listening(&self, net: &str) -> Option<Vec<Listening>> {
        let network = |of: &str| fs::read_link(format!("{of}/ns/net"));
        let is_ours = || match net.strip_suffix("/net")? {
            "/proc" | "/proc/self" => Some(true),
            process => Some(network(process).ok()? == network("/proc/self").ok()?),
        };
        (self.root.as_os_str() == "/" && is_ours()?).then(sock_diag::listening)?.ok()
    }

    fn count(&self, folder: &str) -> io::Result<u64> {
        let path = self.at(folder);
        // Since Linux 6.2 the size of /proc/PID/fd is the number of open files; listing ten thousand takes milliseconds.
        match fs::metadata(&path)?.len() {
            size if size > 0 && folder.ends_with("/fd") && self.root.as_os_str() == "/" => Ok(size),
            _ => Ok(fs::read_dir(path)?.count() as u64),
        }
    }
}

/// Files that were written down: recorded for a test, or told by another machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordedFiles {
    texts: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
    counts: BTreeMap<String, u64>,
}

impl RecordedFiles {
    /// Adds lines as `grep -H` writes them: `PATH:LINE`. Of what is not so, nothing is kept.
    pub fn add_lines(&mut self, told: &str) {
        for line in told.lines().filter(|line| line.starts_with('/')) {
            // A cgroup may have a colon in its name, and no file of it has.
            let end = match line.strip_prefix("/sys/fs/cgroup/").and_then(|rest| CGROUP_FILES.iter().find_map(|file| rest.find(file))) {
                Some(at) => line["/sys/fs/cgroup/".len() + at + 1..].find(':').map(|colon| "/sys/fs/cgroup/".len() + at + 1 + colon),
                None => line.find(':'),
            };
            let Some(end) = end else { continue };
            let text = self.texts.entry(line[..end].to_owned()).or_default();
            text.push_str(&line[end + 1..]);
            text.push('\n');
        }
    }

    /// Adds links as `ls -l` lists them: a line `FOLDER:`, then lines that end in `NAME -> TARGET`.
    pub fn add_links(&mut self, listed: &str) {
        let mut folder = "";
        for line in listed.lines() {
            if let Some((before, target)) = line.split_once(" -> ") {
                let name = before.rsplit(' ').next().unwrap_or_default();
                self.links.insert(format!("{folder}/{name}"), target.to_owned());
            } else if let Some(name) = line.strip_suffix(':') {
                folder = name.trim_end_matches('/');
            }
        }
    }

    /// Adds lines `FOLDER:COUNT`.
    pub fn add_counts(&mut self, told: &str) {
        for (folder, count) in told.lines().filter_map(|line| line.rsplit_once(':')) {
            if let Ok(count) = count.trim().parse() {
                self.counts.insert(folder.to_owned(), count);
            }
        }
    }

    /// Adds a file.
    pub fn add_text(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.texts.insert(path.into(), text.into());
    }

    /// Takes away what is about to be told anew: the file, or all that a pattern of a shell may mean.
    pub fn forget_like(&mut self, pattern: &str) {
        let begin = pattern.split(['*', '[', '?']).next().unwrap_or_default();
        let is_pattern = begin.len() < pattern.len();
        self.texts.retain(|path, _| if is_pattern { !path.starts_with(begin) } else { path != pattern });
    }

    /// Takes everything of a process away, as when it ends.
    pub fn forget(&mut self, pid: u32) {
        let gone = format!("/proc/{pid}/");
        self.texts.retain(|path, _| !path.starts_with(&gone));
        self.links.retain(|path, _| !path.starts_with(&gone));
        self.counts.retain(|path, _| !path.starts_with(&gone));
    }
}

/// Files of a cgroup that are read, as their paths end.
pub(crate) const CGROUP_FILES: &[&str] = &[
    "/cgroup.procs",
    "/cpu.stat",
    "/cpu.max",
    "/cpu.cfs_quota_us",
    "/cpu.cfs_period_us",
    "/cpuacct.usage",
    "/memory.current",
    "/memory.max",
    "/memory.usage_in_bytes",
    "/memory.limit_in_bytes",
    "/cpu.pressure",
    "/memory.pressure",
    "/io.pressure",
];

impl Files for RecordedFiles {
    fn text(&self, path: &str) -> io::Result<String> {
        self.texts.get(path).cloned().ok_or_else(missing)
    }

    fn text_while(&self, path: &str, wanted: &dyn Fn(&str) -> bool) -> io::Result<String> {
        let text = self.text(path)?;
        let mut lines = text.lines();
        let heading = lines.next().into_iter();
        Ok(heading.chain(lines.take_while(|line| wanted(line))).fold(String::new(), |all, line| all + line + "\n"))
    }

    fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let begin = format!("{}/", folder.trim_end_matches('/'));
        let mut names: Vec<String> = Vec::new();
        let paths = self.texts.range(begin.clone()..).map(|(path, _)| path).take_while(|path| path.starts_with(&begin));
        let links = self.links.range(begin.clone()..).map(|(path, _)| path).take_while(|path| path.starts_with(&begin));
        for path in paths.chain(links) {
            let name = path[begin.len()..].split('/').next().unwrap_or_default();
            if names.last().is_none_or(|last| last != name) {
                names.push(name.to_owned());
            }
        }
        names.sort();
        names.dedup();
        if names.is_empty() { Err(missing()) } else { Ok(names) }
    }

    fn link(&self, path: &str) -> io::Result<String> {
        self.links.get(path).cloned().ok_or_else(missing)
    }

    fn count(&self, folder: &str) -> io::Result<u64> {
        match self.counts.get(folder) {
            Some(count) => Ok(*count),
            None => Ok(self.names(folder)?.len() as u64),
        }
    }
}

fn missing() -> io::Error {
    io::ErrorKind::NotFound.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_to_the_last_line_that_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let many: String = (0..10_000).map(|at| format!("{at}: no\n")).collect();
        fs::write(folder.path().join("table"), format!("heading\n0: yes\n1: yes\n{many}")).unwrap();
        let read = Folder::copied(folder.path()).text_while("/table", &|line| line.ends_with("yes")).unwrap();
        assert_eq!(read, "heading\n0: yes\n1: yes\n");
        fs::write(folder.path().join("short"), "heading\n0: yes").unwrap();
        let read = Folder::copied(folder.path()).text_while("/short", &|line| line.ends_with("yes")).unwrap();
        assert_eq!(read, "heading\n0: yes");
    }

    #[test]
    fn what_grep_and_ls_tell_are_files_again() {
        let mut told = RecordedFiles::default();
        told.add_lines(
            "/proc/1/stat:1 (a:b) S 0\n/proc/net/tcp:  sl\n/proc/net/tcp:   0: 0100007F:1F90\ngrep: /proc/2/io: Permission denied\n",
        );
        told.add_lines("/sys/fs/cgroup/kubepods.slice:cri-containerd:ab/cpu.stat:nr_periods 12\n");
        told.add_links("/proc/1/fd/:\ntotal 0\nlrwx------ 1 root root 64 Nov 21 08:40 3 -> socket:[123]\nlr-x 1 root 4 -> /dev/null\n");
        told.add_counts("/proc/1/fd:12\n");
        assert_eq!(told.text("/proc/1/stat").unwrap(), "1 (a:b) S 0\n");
        assert_eq!(told.text("/proc/net/tcp").unwrap(), "  sl\n   0: 0100007F:1F90\n");
        assert_eq!(told.text("/sys/fs/cgroup/kubepods.slice:cri-containerd:ab/cpu.stat").unwrap(), "nr_periods 12\n");
        assert_eq!(told.link("/proc/1/fd/3").unwrap(), "socket:[123]");
        assert_eq!(told.names("/proc/1").unwrap(), ["fd", "stat"]);
        assert_eq!(told.names("/proc/1/fd").unwrap(), ["3", "4"]);
        assert_eq!(told.count("/proc/1/fd").unwrap(), 12);
        assert!(told.text("/proc/2/io").is_err());
    }
}
