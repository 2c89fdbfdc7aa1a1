//! The files of a sweep or a comparison: a directory, a name, and one ending each.
//!
//! They belong together and overwrite each other's predecessors, so they are looked at as one: either all may be written
//! or none is touched. The directory is made when the first file is written, not when it is looked at.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args};
use plan::{PlanError, PlanErrors};
use report::Rendering;

use crate::inputs::plainly;
use crate::outputs::{Existing, Out, Renderings, StandardOutput, whole};

/// Where results go that nobody gave a place: beside the user's work, and easy to ignore.
pub const DIRECTORY: &str = "_output/loadline";

/// Where a command puts its files. Which formats there are, each command says in its help.
#[derive(Debug, Args)]
pub struct Filing {
    /// Begin the names of all files with this [default: from the path of the URL, or its host]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    name: Option<String>,

    /// Write files into this directory, made if missing
    #[arg(long, value_name = "DIR", default_value = DIRECTORY, help_heading = "Output")]
    dir: PathBuf,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,
}

impl Filing {
    /// What happens to files that exist.
    pub const fn existing(&self) -> Existing {
        if self.force { Existing::Replace } else { Existing::Keep }
    }

    /// The name given, or else this one.
    pub fn name_or(&self, suggested: impl FnOnce() -> String) -> String {
        self.name.clone().unwrap_or_else(suggested)
    }

    /// The command's own files. What hinders their writing goes to `errors`.
    pub fn files(&self, name: &str, endings: &'static [&'static str], errors: &mut PlanErrors) -> Files {
        // What was typed is taken as it is; of what was suggested a word is made, since it may be the name of a scenario.
        let suggested: String =
            name.chars().map(|letter| if letter.is_alphanumeric() || "._-".contains(letter) { letter } else { '-' }).collect();
        let files = Files::new(self.dir.clone(), if self.name.is_some() { name } else { suggested.trim_start_matches('.') }, endings);
        files.check(self.existing(), errors);
        files
    }

    /// What was asked for besides, of a command whose table grows on standard output. Every mistake goes to `errors`.
    pub fn renderings<T>(&self, formats: &'static [Rendering<T>], errors: &mut PlanErrors) -> Renderings<T> {
        Renderings::check(&self.out, formats, self.existing(), StandardOutput::Taken, errors)
    }
}

/// A set of files with one name.
#[derive(Debug, Clone)]
pub struct Files {
    dir: PathBuf,
    name: String,
    endings: &'static [&'static str],
}

impl Files {
    /// `DIR/NAMEending` for each ending.
    pub fn new(dir: PathBuf, name: impl Into<String>, endings: &'static [&'static str]) -> Self {
        Self { dir, name: name.into(), endings }
    }

    /// Their common name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One of them.
    pub fn path(&self, ending: &str) -> PathBuf {
        debug_assert!(self.endings.contains(&ending), "{ending} was not looked at");
        self.dir.join(format!("{}{ending}", self.name))
    }

    /// Where they are, in lines for people.
    pub fn listed(&self) -> String {
        let mut text = "\n  files\n".to_owned();
        for ending in self.endings {
            text += &format!("    {}\n", self.path(ending).display());
        }
        text
    }

    /// Looks whether all of them can be written.
    pub fn check(&self, existing: Existing, errors: &mut PlanErrors) {
        if self.name.is_empty() || self.name.contains('/') || self.name.contains('\0') || self.name.starts_with('.') {
            errors.push(PlanError::new(
                "name",
                format!("--name '{}' is not a file name", self.name),
                "give a plain word, such as --name healthz",
            ));
            return;
        }
        let there: Vec<PathBuf> = self.endings.iter().map(|ending| self.path(ending)).filter(|path| path.exists()).collect();
        if let (Existing::Keep, [first, others @ ..]) = (existing, there.as_slice()) {
            let shown = first.display();
            let message = match others.len() {
                0 => format!("the file '{shown}' exists"),
                1 => format!("the file '{shown}' and one more of this name exist"),
                more => format!("the file '{shown}' and {more} more of this name exist"),
            };
            errors.push(PlanError::new("name", message, "give another --name or --dir, or --force to replace them"));
        }
        for path in there.iter().filter(|path| path.is_dir()) {
            errors.push(PlanError::new("name", format!("'{}' is a directory", path.display()), "give another --name"));
        }
        if let Err(why) = writable(&self.dir) {
            errors.push(PlanError::new(
                "dir",
                format!("the directory '{}' cannot be written to: {}", self.dir.display(), plainly(&why)),
                "give a directory you may write to with --dir",
            ));
        }
    }

    /// Writes one of them, whole or not at all.
    ///
    /// # Errors
    /// As the file system says, with the path.
    pub fn write(&self, ending: &str, bytes: &[u8]) -> Result<(), PlanError> {
        let path = self.path(ending);
        fs::create_dir_all(&self.dir).and_then(|()| whole(&path, bytes)).map_err(|why| {
            PlanError::new(
                "dir",
                format!("'{}' could not be written: {}", path.display(), plainly(&why)),
                "make room, or choose another place with --dir",
            )
        })
    }
}

/// Whether a file can be made in this directory, or the directory in the nearest one that exists.
fn writable(dir: &Path) -> io::Result<()> {
    let mut dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    while !dir.exists() {
        dir = match dir.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
    }
    tempfile::Builder::new().prefix(".loadline-").tempfile_in(dir).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(files: &Files, existing: Existing) -> String {
        let mut errors = PlanErrors::default();
        files.check(existing, &mut errors);
        errors.spelt(plan::Spelling::Flags)
    }

    #[test]
    fn files_that_exist_are_told_as_one_and_replaced_when_told() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::new(dir.path().join("a/b"), "healthz", &[".dat", ".json", ".md"]);
        assert_eq!(errors(&files, Existing::Keep), "");
        assert!(!dir.path().join("a").exists(), "looking makes no directory");
        for ending in [".dat", ".md"] {
            files.write(ending, b"1").unwrap();
        }
        assert!(errors(&files, Existing::Keep).contains("healthz.dat' and one more of this name exist"));
        assert_eq!(errors(&files, Existing::Replace), "");
    }

    #[test]
    fn a_name_is_no_path_and_a_file_no_directory() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["", "a/b", "..", ".hidden"] {
            assert!(errors(&Files::new(dir.path().to_owned(), name, &[".dat"]), Existing::Keep).contains("is not a file name"), "{name}");
        }
        fs::write(dir.path().join("file"), "").unwrap();
        assert!(errors(&Files::new(dir.path().join("file/sub"), "x", &[".dat"]), Existing::Keep).contains("--dir"));
    }
}
