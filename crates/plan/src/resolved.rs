//! A load of which everything that it names has been read.
//!
//! Between what was typed and what will be done stands what the files hold: a script, a list of URLs, a body, certificates, a scenario.
//! Whoever decides on a plan must not open them, or it would be another plan each time; whoever carries it out must not either, or it
//! would not be the plan that was decided on, and no other machine could do it. So they are read in between, once, and
//! [`Plan`](crate::Plan) is decided from what was read.
//!
//! Invariant: what files and variables hold is here and in the plan, and never in what is written with a result.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::{fmt, io};

use crate::template::{Template, Value};
use crate::{Draft, LoadRecord, Sources, variation};

/// A load with what was read of its files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resolved {
    /// What was typed, over the settings of its scenario and those of a saved plan.
    pub draft: Draft,
    /// What is on record of its files.
    pub sources: Sources,
    /// What its files hold. A file that is missing here was not read: that of a saved plan is, when the plan is run again.
    pub contents: Contents,
    /// The variables of the environment that it names, with their values.
    pub environment: Vec<(String, String)>,
    /// Secrets that stand in other places than its settings, such as in a scenario.
    pub secrets: Vec<String>,
}

impl Resolved {
    /// The same with what a file holds.
    #[must_use]
    pub fn with_file(mut self, path: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.contents.insert(path, bytes);
        self
    }

    /// What templates take from outside, each once with the first setting that names it: variables of the environment and files. Texts that
    /// are no templates are left out: the plan tells what is wrong with them.
    #[must_use]
    pub fn taken_from_outside(&self) -> Vec<(&'static str, Value)> {
        let Draft { url, header, user, bearer, cookie, data, json, message, form, urls, no_templates, .. } = &self.draft;
        let mut found: Vec<(&'static str, Value)> = Vec::new();
        let mut look = |setting: &'static str, text: &str| {
            let Ok(template) = Template::parse_any(text) else { return };
            template.each_value(&mut |value| {
                let is_outside = matches!(value, Value::Env(_) | Value::File(..) | Value::Weighted { .. });
                if is_outside && !found.iter().any(|(_, known)| known == value) {
                    found.push((setting, value.clone()));
                }
            });
        };
        if *no_templates {
            return found;
        }
        url.iter().for_each(|url| look("url", url));
        header.iter().chain(user).chain(bearer).chain(cookie).for_each(|text| look("header", text));
        for body in [data, json, message].into_iter().flatten() {
            match body.strip_prefix('@') {
                // A body that is no text is sent as it is.
                Some(path) => {
                    let body = self.contents.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok());
                    body.iter().for_each(|text| look("data", text));
                }
                None => look("data", body),
            }
        }
        form.iter().filter_map(|field| field.split_once('=')).for_each(|(_, value)| look("form", value));
        if let Some(list) = urls.as_ref().and_then(|path| self.contents.text(path)) {
            list.lines().filter(|line| !variation::is_comment(line)).for_each(|line| look("urls", line));
        }
        found
    }
}

/// Of which nothing was read.
impl From<LoadRecord> for Resolved {
    fn from(LoadRecord { draft, sources }: LoadRecord) -> Self {
        Self { draft, sources, ..Self::default() }
    }
}

/// Of which nothing was read.
impl From<Draft> for Resolved {
    fn from(draft: Draft) -> Self {
        LoadRecord::from(draft).into()
    }
}

/// What files hold, by their paths as they were named. Copies share it.
#[derive(Clone, Default)]
pub struct Contents {
    files: BTreeMap<String, Arc<[u8]>>,
    /// Those that are not taken into memory.
    large: BTreeMap<String, Arc<dyn LargeFile>>,
}

/// A file that is read while load is sent, since memory is not to hold it.
pub trait LargeFile: fmt::Debug + Send + Sync {
    /// How many bytes it has.
    ///
    /// # Errors
    /// If that cannot be seen any more.
    fn length(&self) -> io::Result<u64>;

    /// When it was last written, in seconds since 1970 and nanoseconds, where the system says so: what was written again may be another text of
    /// the same length.
    fn written_at(&self) -> Option<(i64, i64)> {
        None
    }

    /// Reads some bytes from this place on; none at its end.
    ///
    /// # Errors
    /// If it cannot be read.
    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// Reads a file that is not in memory, from a place on.
#[derive(Debug)]
pub struct ReadFrom<'a> {
    /// The file.
    pub file: &'a dyn LargeFile,
    /// What is read next.
    pub offset: u64,
}

impl io::Read for ReadFrom<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(into, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl Contents {
    /// What the file of this path holds, if it was read.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.files.get(path)
    }

    /// The same as text, without the mark that some editors put at its beginning. What is no text is made one.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<String> {
        self.get(path).map(|bytes| String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').to_owned())
    }

    /// Puts in what a file holds.
    pub fn insert(&mut self, path: &str, bytes: impl Into<Arc<[u8]>>) {
        self.files.insert(path.to_owned(), bytes.into());
    }

    /// Puts in a file that is not taken into memory.
    pub fn insert_large(&mut self, path: &str, file: Arc<dyn LargeFile>) {
        self.large.insert(path.to_owned(), file);
    }

    /// Every file that is not taken into memory, in the order of their paths.
    pub fn large(&self) -> impl Iterator<Item = (&str, &Arc<dyn LargeFile>)> {
        self.large.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// Every file in memory, in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes))
    }
}

/// A file that is not in memory, with its path.
type NamedFile<'a> = (&'a String, &'a Arc<dyn LargeFile>);

/// Files that are not in memory are the same where they are one.
impl PartialEq for Contents {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |((a, one), (b, another)): (NamedFile<'_>, NamedFile<'_>)| a == b && Arc::ptr_eq(one, another);
        self.files == other.files && self.large.len() == other.large.len() && self.large.iter().zip(&other.large).all(is_same)
    }
}

impl Eq for Contents {}

/// A file may hold secrets.
impl fmt::Debug for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.files.iter().map(|(path, bytes)| (path, format!("{} bytes", bytes.len())))).finish()
    }
}
