//! What was checked out in the working directory: the commit, the branch, and whether files differ from it.
//!
//! Whoever finds last month's figures wants to know what they are the figures of. The commit is read from `.git` itself, in
//! some microseconds, when a run begins: by its end another may be checked out. Whether files differ is known only to git, which
//! compares them all: it is asked once, when the load is over, compares while the report is made, is not waited for beyond a
//! moment, and where it does not answer, that is unknown. A crate that reads repositories in its stead was rejected: it is larger than all of loadline, and would have
//! to be as right as git about filters, submodules and index formats.
//!
//! Invariant: nothing here fails a run, and nothing waits longer than it was told.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// What was checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// The commit in full, as hexadecimal digits.
    pub commit: String,
    /// The branch; `None` where a commit is checked out without one.
    pub branch: Option<String>,
    /// Whether files differ from it.
    pub changes: Changes,
}

/// Whether files under version control differ from the commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// None does.
    None,
    /// Some do.
    Some,
    /// Git is not there, or did not answer in time.
    Unknown,
}

impl Revision {
    /// What is checked out where `directory` lies, with changes unknown; `None` outside of any repository, before its first
    /// commit, and where it is kept in a way that is not known here.
    #[must_use]
    pub fn of(directory: &Path) -> Option<Self> {
        let git = directory.ancestors().map(|dir| dir.join(".git")).find(|git| git.exists())?;
        let git = if git.is_file() {
            // A worktree or a submodule: a line that says where the real one is.
            let text = fs::read_to_string(&git).ok()?;
            git.parent()?.join(text.strip_prefix("gitdir:")?.trim())
        } else {
            git
        };
        let head = fs::read_to_string(git.join("HEAD")).ok()?;
        let Some(name) = head.trim().strip_prefix("ref:").map(str::trim) else {
            return Self::at(head.trim(), None);
        };
        let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
        let common = match fs::read_to_string(git.join("commondir")) {
            Ok(path) => git.join(path.trim()),
            Err(_) => PathBuf::from(&git),
        };
        let loose = [&git, &common].into_iter().find_map(|dir| fs::read_to_string(dir.join(name)).ok());
        let commit = loose.or_else(|| {
            let packed = fs::read_to_string(common.join("packed-refs")).ok()?;
            packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' ').map(str::to_owned))
        })?;
        Self::at(commit.trim(), Some(branch))
    }

    fn at(commit: &str, branch: Option<String>) -> Option<Self> {
        let is_one = commit.len() >= 40 && commit.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_one.then(|| Self { commit: commit.to_owned(), branch, changes: Changes::Unknown })
    }

    /// The same with what git found out about its files.
    #[must_use]
    pub fn with(self, changes: Changes) -> Self {
        Self { changes, ..self }
    }

    /// The first seven digits, with `+` behind them where files differ.
    #[must_use]
    pub fn short(&self) -> String {
        let changed = if self.changes == Changes::Some { "+" } else { "" };
        format!("{}{changed}", self.commit.get(..7).unwrap_or(&self.commit))
    }
}

/// Git, comparing files with the commit. Ended if it is dropped.
#[derive(Debug)]
pub struct Looking {
    /// `None` where there is no git.
    git: Option<(Child, Receiver<Option<bool>>)>,
    begun: Instant,
}

impl Looking {
    /// Begins to compare the files where `directory` lies. Returns at once. Files that git does not know are no changes:
    /// results are among them.
    #[must_use]
    pub fn at(directory: &Path) -> Self {
        Self { git: asked(directory), begun: Instant::now() }
    }

    /// What was found. Git is given so long in all, counted from when it was asked.
    #[must_use]
    pub fn found(mut self, patience: Duration) -> Changes {
        self.answer(patience).unwrap_or(Changes::Unknown)
    }

    fn answer(&mut self, patience: Duration) -> Option<Changes> {
        let (mut git, answer) = self.git.take()?;
        let some = answer.recv_timeout(patience.saturating_sub(self.begun.elapsed())).ok().flatten();
        if some != Some(false) {
            let _ = git.kill();
        }
        let ended = git.wait().ok()?;
        match some? {
            true => Some(Changes::Some),
            false => ended.success().then_some(Changes::None),
        }
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        let _ = self.answer(Duration::ZERO);
    }
}

/// Git at work, and where its first letter comes from: one is enough to know.
fn asked(directory: &Path) -> Option<(Child, Receiver<Option<bool>>)> {
    let mut git: Child = Command::new("git")
        // A repository may name a program that watches its files: looking must not start it, nor write the index anew.
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain", "--untracked-files=no", "--no-renames"])
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut told = git.stdout.take()?;
    let (sender, answer) = channel();
    // Without the thread nothing is ever answered, which is what not knowing looks like.
    let _ = std::thread::Builder::new().name("git".to_owned()).spawn(move || {
        let mut first = [0];
        // That nobody waits any more is no matter.
        let _ = sender.send(told.read(&mut first).ok().map(|letters| letters > 0));
    });
    Some((git, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn git(dir: &Path, line: &str) {
        let settings = ["-c", "user.name=a", "-c", "user.email=a@a.test", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"];
        let done = Command::new("git").args(settings).args(line.split(' ')).current_dir(dir).output().expect("git is there");
        assert!(done.status.success(), "git {line}: {}", String::from_utf8_lossy(&done.stderr));
    }

    #[test]
    fn a_repository_tells_its_commit_its_branch_and_whether_files_differ() {
        let dir = tempfile::tempdir().unwrap();
        let sub = dir.path().join("a/b");
        fs::create_dir_all(&sub).unwrap();
        git(dir.path(), "init -q");
        assert_eq!(Revision::of(dir.path()), None, "there is no commit yet");
        fs::write(dir.path().join("file"), "1").unwrap();
        git(dir.path(), "add file");
        git(dir.path(), "commit -q -m one");
        let loose = Revision::of(&sub).unwrap();
        assert_eq!((loose.branch.as_deref(), loose.commit.len(), loose.changes), (Some("main"), 40, Changes::Unknown));
        fs::write(dir.path().join("result.json"), "not known to git").unwrap();
        assert_eq!(Looking::at(&sub).found(LONG), Changes::None);
        git(dir.path(), "pack-refs --all");
        assert_eq!(Revision::of(&sub).unwrap(), loose);
        fs::write(dir.path().join("file"), "2").unwrap();
        let changed = loose.clone().with(Looking::at(&sub).found(LONG));
        assert_eq!(changed.short(), format!("{}+", &loose.commit[..7]));
        git(dir.path(), "checkout -q --detach");
        assert_eq!(Revision::of(&sub).unwrap(), Revision { branch: None, ..loose.clone() });
        git(dir.path(), "worktree add -q -b other tree HEAD");
        assert_eq!(Revision::of(&dir.path().join("tree")).unwrap(), Revision { branch: Some("other".to_owned()), ..loose });
    }

    #[test]
    fn outside_of_a_repository_or_in_a_broken_one_there_is_none() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Revision::of(dir.path()), None);
        fs::create_dir(dir.path().join(".git")).unwrap();
        for head in ["", "ref: refs/heads/gone", "nonsense"] {
            fs::write(dir.path().join(".git/HEAD"), head).unwrap();
            assert_eq!(Revision::of(dir.path()), None, "{head}");
        }
    }

    #[test]
    fn git_that_takes_too_long_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Looking::at(dir.path()).found(Duration::ZERO), Changes::Unknown);
    }
}
