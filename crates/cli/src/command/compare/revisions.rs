//! Two revisions of the user's own repository as the two sides: each in a folder of its own, built there, and its server started from it.
//!
//! The working tree is not touched: a comparison takes minutes, in which people go on working. So each revision is a worktree of git's in a
//! folder for a while. Checking out one after the other was rejected for that, and copying the folder since git knows what belongs to a
//! revision and a copy does not.
//!
//! Invariant: the worktrees go with this value.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use clap::Args;
use plan::{PlanError, PlanErrors};
use tempfile::TempDir;
use trial::RunError;

use crate::exit::Failed;
use crate::inputs::plainly;

/// Which revisions, and how each becomes a server.
#[derive(Debug, Args)]
pub struct RevisionArgs {
    /// Compare two revisions of this git repository: A is this one, such as main; with --start and --url
    #[arg(long, value_name = "REVISION", help_heading = "Comparison")]
    a_ref: Option<String>,

    /// B is this revision [default: HEAD]
    #[arg(long, value_name = "REVISION", help_heading = "Comparison")]
    b_ref: Option<String>,

    /// Run this command in each revision before its first run, such as 'make server'
    #[arg(long, value_name = "COMMAND", help_heading = "Comparison")]
    build: Option<String>,

    /// Start this command in each revision before each of its runs, and stop it after
    #[arg(long, value_name = "COMMAND", help_heading = "Comparison")]
    start: Option<String>,
}

/// A revision that is looked at.
#[derive(Debug)]
struct Revision {
    /// As it was typed, and its commit's beginning.
    name: String,
    commit: String,
    /// Where it is checked out.
    folder: PathBuf,
}

/// Both, checked out while this lives.
#[derive(Debug)]
pub struct Revisions {
    repository: PathBuf,
    sides: [Revision; 2],
    build: Option<String>,
    start: String,
    /// Holds both folders.
    _home: TempDir,
}

/// As many lines of a build that failed are shown.
const LINES_MAX: usize = 20;

impl RevisionArgs {
    /// What is to be compared, or `None` where no revision is given. Every mistake goes to `errors`.
    pub fn decide(self, errors: &mut PlanErrors) -> Option<Revisions> {
        let Self { a_ref, b_ref, build, start } = self;
        let given = [a_ref.is_some(), b_ref.is_some(), build.is_some(), start.is_some()].contains(&true);
        let usage = "write --a-ref main --b-ref HEAD --build 'make server' --start './server --port 8080' --url http://127.0.0.1:8080/";
        let (Some(a), Some(start)) = (a_ref, start) else {
            if given {
                errors.push(PlanError::new("compare", "revisions are compared with --a-ref and --start together", usage));
            }
            return None;
        };
        let inside = match git(None, &["rev-parse", "--show-toplevel", "--show-prefix"]) {
            Ok(told) => told,
            Err(why) => {
                errors.push(PlanError::new("a-ref", format!("this folder is in no git repository: {why}"), "run it inside the repository"));
                return None;
            }
        };
        let mut lines = inside.lines();
        let (repository, prefix) = (PathBuf::from(lines.next().unwrap_or_default()), lines.next().unwrap_or_default().to_owned());
        let home = match tempfile::Builder::new().prefix("loadline-").tempdir() {
            Ok(home) => home,
            Err(why) => {
                let message = format!("no folder can be made for the revisions: {}", plainly(&why));
                errors.push(PlanError::new("a-ref", message, "name another folder for temporary files in TMPDIR"));
                return None;
            }
        };
        let revisions =
            [("a-ref", "a", a), ("b-ref", "b", b_ref.unwrap_or_else(|| "HEAD".to_owned()))].map(|(flag, place, typed)| {
                match git(None, &["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{typed}^{{commit}}")]) {
                    Ok(commit) => {
                        let commit = commit.trim().to_owned();
                        let short = commit.get(..8).unwrap_or(&commit);
                        Some(Revision { name: format!("{typed} ({short})"), folder: home.path().join(place), commit })
                    }
                    Err(_) => {
                        errors.push(PlanError::new(
                            flag,
                            format!("--{flag} '{typed}' is no revision of this repository"),
                            "git log shows them",
                        ));
                        None
                    }
                }
            });
        let [Some(a), Some(b)] = revisions else { return None };
        // Commands run where the user is, within the repository.
        let start = if prefix.is_empty() { start } else { format!("cd {} && {start}", quoted(&prefix)) };
        let build = build.map(|build| if prefix.is_empty() { build } else { format!("cd {} && {build}", quoted(&prefix)) });
        Some(Revisions { repository, sides: [a, b], build, start, _home: home })
    }
}

impl Revisions {
    /// What starts each side's server.
    pub fn commands(&self) -> [String; 2] {
        self.sides.each_ref().map(|side| format!("cd {} && {}", quoted(&side.folder.display().to_string()), self.start))
    }

    /// What reports call each side.
    pub fn names(&self) -> [String; 2] {
        self.sides.each_ref().map(|side| side.name.clone())
    }

    /// Checks both out and builds them; `say` is told what is going on.
    ///
    /// # Errors
    /// If git cannot check one out, or its build fails; with the last that it said.
    pub fn build(&self, say: &dyn Fn(&str)) -> Result<(), Failed> {
        for side in &self.sides {
            let folder = side.folder.display().to_string();
            let failed = |what: String, help: &'static str| -> Failed { RunError::run(format!("{} {what}", side.name), help).into() };
            git(Some(&self.repository), &["worktree", "add", "--quiet", "--detach", &folder, &side.commit])
                .map_err(|why| failed(format!("cannot be checked out: {why}"), "look with git worktree list"))?;
            let Some(build) = &self.build else { continue };
            say(&format!("building {}: {build}", side.name));
            let built = Command::new("/bin/sh").args(["-c", build]).current_dir(&side.folder).stdin(Stdio::null()).output();
            let unbuilt = |what: String| failed(format!("cannot be built: {what}"), "try the command of --build alone in a shell");
            let done = built.map_err(|why| unbuilt(plainly(&why)))?;
            if !done.status.success() {
                let said = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
                let lines: Vec<&str> = said.lines().collect();
                let last = lines[lines.len().saturating_sub(LINES_MAX)..].iter().map(|line| format!("\n    {}", report::visible(line)));
                return Err(unbuilt(format!("'{build}' ended with {}{}", done.status, last.collect::<String>())));
            }
        }
        Ok(())
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        for side in &self.sides {
            let _ = git(Some(&self.repository), &["worktree", "remove", "--force", &side.folder.display().to_string()]);
        }
    }
}

/// What git says to these words, or its complaint in a line.
fn git(at: Option<&PathBuf>, words: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    if let Some(at) = at {
        command.current_dir(at);
    }
    let done = command.args(words).stdin(Stdio::null()).output().map_err(|why| format!("git cannot be called: {}", plainly(&why)))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let complaint = String::from_utf8_lossy(&done.stderr).lines().next().unwrap_or("it says nothing").to_owned();
    Err(report::visible(&complaint))
}

/// As one word of a shell's.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
