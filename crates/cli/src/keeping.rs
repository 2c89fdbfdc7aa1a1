//! Keeping what is measured: the flags of every command that measures, and a run on its way into the history.
//!
//! Saving must never spoil a run. So it happens after the report, on nobody's time but its own; the database is not touched
//! before; and where it cannot be written, that is a warning beside a result that stands. Only who names a file with `--db` has
//! asked for an output: that file is looked at before the first request, like any other, and if it cannot be written after
//! all, the exit code says so.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgAction, Args};
use engine::Stop;
use history::{
    End, Entry, Filter, FinishedJournal, Fresh, Header, HistoryError, Id, Journal, Kind, Looking, Moment, Origin, RecoveryOutcome,
    Reference, Revision, Store,
};
use measure::IntervalCounts;
use plan::setting::TAG;
use plan::{Plan, PlanError, PlanErrors, Spelling};
use report::Document;

use crate::exit::{Exit, Failed};
use crate::inputs::{TEXT_BYTES_MAX, whole};
use crate::jmeter;
use crate::saved::{self, composed};
use crate::screen::complain;

/// Which history.
#[derive(Debug, Clone, Default, Args)]
pub struct At {
    /// Use this history [default: LOADLINE_DB, or history.db in the user's data directory]
    #[arg(long, value_name = "FILE", help_heading = "History")]
    db: Option<PathBuf>,
}

/// Whether and how a result is saved.
#[derive(Debug, Clone, Default, Args)]
pub struct HistoryArgs {
    /// Do not save the result in the history
    #[arg(long, help_heading = "History")]
    no_save: bool,

    /// Save it with this word, to find it by (repeatable)
    #[arg(long, value_name = "WORD", action = ArgAction::Append, help_heading = "History")]
    tag: Vec<String>,

    /// Save it with this text
    #[arg(long, value_name = "TEXT", help_heading = "History")]
    note: Option<String>,

    #[command(flatten)]
    at: At,
}

/// Git is not waited for longer than this; with a warm cache it takes a few milliseconds for some thousand files.
const GIT_PATIENCE: Duration = Duration::from_millis(200);

impl At {
    /// The file; `None` if there is no place for one.
    fn path(&self) -> Option<PathBuf> {
        let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        self.db.clone().or_else(|| set("LOADLINE_DB")).or_else(|| crate::calibration::data_directory().map(|data| data.join("history.db")))
    }

    /// The history, made if there is none; runs that were ended from outside are in it, and what became of them is told.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn open(&self) -> Result<Store, Failed> {
        let path = self.path().ok_or_else(no_place)?;
        let mut store = Store::open(&path).map_err(|error| refused(&error))?;
        match store.take_in(&mut composed) {
            Ok(taken) => taken.iter().for_each(tell),
            Err(error) => complain(&format!(
                "warning: runs that were cut short could not be taken in: {error}\n  help: {}",
                error.help().spelt(Spelling::Flags)
            )),
        }
        Ok(store)
    }

    /// The run that a reference means.
    ///
    /// # Errors
    /// If there is none, or several.
    pub fn find(&self, text: &str) -> Result<(Store, Entry), Failed> {
        let reference: Reference = text.parse().map_err(|error| refused(&error))?;
        let store = self.open()?;
        let entry = store.resolve(&reference).map_err(|error| refused(&error))?;
        Ok((store, entry))
    }

    /// The baseline that a saved run is held against: that of its name and kind.
    ///
    /// # Errors
    /// If there is none.
    fn baseline_beside(&self, other: &str) -> Result<(Store, Entry), Failed> {
        let (store, other) = self.find(other)?;
        let (name, kind) = (&other.kept.name, other.kept.kind);
        let baseline = store.baseline_of(name, kind).map_err(|error| refused(&error))?.ok_or_else(|| {
            Failed::new(
                Exit::Usage,
                format_args!("no baseline of a {kind} called '{}' is set", report::visible(name)),
                format_args!("set one with 'loadline baseline set REF', or name another run than @baseline"),
            )
        })?;
        Ok((store, baseline))
    }

    /// Two results, each as [`At::read`] reads it; `@baseline` is that of the name and kind of the other.
    pub fn read_both(&self, a: &str, b: &str) -> [Result<(Vec<u8>, String), ReadError>; 2] {
        let read = |text: &str, other: &str| {
            if text != "@baseline" || !other.starts_with('@') && Path::new(other).exists() {
                return self.read(text);
            }
            let (store, entry) = self.baseline_beside(other).map_err(ReadError::Reference)?;
            result_of(&store, &entry)
        };
        [read(a, b), read(b, a)]
    }

    /// What stands in a file, or in the history if the text refers to it: everything that begins with `@`, and the beginning of
    /// an id where no file has that name. Of a result file of JMeter's, the run that it tells of. The second is what to call it.
    ///
    /// # Errors
    /// For a reference, if it means nothing; for a file, what the system says.
    pub fn read(&self, text: &str) -> Result<(Vec<u8>, String), ReadError> {
        let path = Path::new(text);
        let refers = text.starts_with('@') || (Id::may_begin_with(text) && !path.exists());
        if !refers {
            let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let bytes = match jmeter::form(path) {
                Some(form) => jmeter::run(&[(path, form)])
                    .map(|run| run.json())
                    .map_err(|wrong| std::io::Error::other(wrong.into_iter().map(|(_, why)| why).collect::<String>())),
                None => whole(path, TEXT_BYTES_MAX),
            };
            return bytes.map(|bytes| (bytes, stem)).map_err(ReadError::File);
        }
        let (store, entry) = match self.find(text) {
            Ok(found) => found,
            // A word that is neither is most likely a file that is missing.
            Err(_) if !text.starts_with('@') => {
                return Err(ReadError::File(std::io::ErrorKind::NotFound.into()));
            }
            Err(failed) => return Err(ReadError::Reference(failed)),
        };
        result_of(&store, &entry)
    }
}

fn result_of(store: &Store, entry: &Entry) -> Result<(Vec<u8>, String), ReadError> {
    let result = store.result(&entry.id).map_err(|error| ReadError::Reference(refused(&error)))?;
    Ok((result.into_bytes(), format!("{}-{}", entry.kept.name, entry.short)))
}

/// Why neither a file nor a saved run can be read.
#[derive(Debug)]
pub enum ReadError {
    /// The file cannot.
    File(std::io::Error),
    /// The saved run cannot, or there is none.
    Reference(Failed),
}

/// What became of a run that was ended from outside.
fn tell(taken: &RecoveryOutcome) {
    match taken {
        RecoveryOutcome::In(entry, end) => {
            let how = match end {
                End::FromOutside => "was ended from outside",
                End::Unwritten => "could not be saved when it ended",
            };
            let (kind, name, started) = (entry.kept.kind, report::visible(&entry.kept.name), entry.kept.started);
            complain(&format!("note: {kind} {name} of {started} {how}; what it had measured is saved as {}", entry.short));
        }
        RecoveryOutcome::Empty { name, kind, started, end } => {
            let before = match kind {
                Kind::Run | Kind::Sweep => "its first second was over",
                Kind::Find => "its first trial was over",
                Kind::Compare => "its first pair was over",
            };
            let how = match end {
                End::FromOutside => format!("was ended from outside before {before}"),
                End::Unwritten => "could not be saved when it ended, and what it measured could not be written down either".to_owned(),
            };
            complain(&format!("note: {kind} {} of {started} {how}; nothing of it is left", report::visible(name)));
        }
        RecoveryOutcome::Damaged { path, why } => complain(&format!(
            "warning: the journal '{}' is skipped: {why}\n  help: it belonged to a run that was not saved; remove it if it is not worth a look",
            path.display()
        )),
    }
}

fn no_place() -> Failed {
    Failed::new(Exit::Usage, NO_PLACE, "name a file in LOADLINE_DB, or with --db FILE")
}

const NO_PLACE: &str = "there is no place for a history: neither LOADLINE_DB, XDG_DATA_HOME nor HOME is set";

/// An error of the history as one of a command that is about it.
pub fn refused(error: &HistoryError) -> Failed {
    let exit = match error {
        HistoryError::Unusable { .. } | HistoryError::Corrupt { .. } | HistoryError::Damaged { .. } => Exit::NotCarriedOut,
        _ => Exit::Usage,
    };
    Failed::new(exit, error.to_string(), error.help())
}

/// A run on its way into the history.
#[derive(Debug)]
pub struct RunSaver(Wish);

#[derive(Debug)]
enum Wish {
    /// Nothing is to be kept.
    Nothing,
    /// It is to be kept, and there is no place.
    Nowhere,
    /// It is to be kept there.
    Somewhere(Box<RunToSave>),
}

#[derive(Debug)]
struct RunToSave {
    path: PathBuf,
    asked: SaveRequest,
    kind: Kind,
    name: String,
    tags: Vec<String>,
    note: String,
    begun: Option<Begun>,
}

/// What is known from the moment a run begins.
#[derive(Debug)]
struct Begun {
    id: Id,
    revision: Option<Revision>,
    /// Git at work, from the end of the load on.
    looking: Option<Looking>,
    journal: Journal,
}

/// Whether saving is an output that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SaveRequest {
    /// With `--db`.
    ByFlag,
    /// As always.
    Usually,
}

impl HistoryArgs {
    /// As asked for elsewhere than on the command line.
    pub const fn of(at: At, tag: Vec<String>, note: Option<String>) -> Self {
        Self { no_save: false, tag, note, at }
    }

    /// Which history is meant.
    pub fn at(&self) -> At {
        self.at.clone()
    }

    /// Decides where to save, and looks at it where the user named it. Every mistake goes to `errors`.
    pub fn decide(self, kind: Kind, name: &str, errors: &mut PlanErrors) -> RunSaver {
        let Self { no_save, mut tag, note, at } = self;
        for word in tag.iter().filter(|word| word.is_empty() || word.chars().any(|c| c.is_whitespace() || c.is_control() || c == ',')) {
            errors.push(PlanError::new(
                TAG,
                format!("{TAG:#} '{word}' is empty, or holds a space, a comma or a control character"),
                format!("give a plain word, such as {TAG:#} release"),
            ));
        }
        if no_save {
            return RunSaver(Wish::Nothing);
        }
        let asked = if at.db.is_some() { SaveRequest::ByFlag } else { SaveRequest::Usually };
        let Some(path) = at.path() else { return RunSaver(Wish::Nowhere) };
        if let (SaveRequest::ByFlag, Err(error)) = (asked, history::look(&path)) {
            errors.push(PlanError::new("db", format!("--db: {error}"), error.help()));
        }
        tag.sort();
        tag.dedup();
        let (name, note) = (name.to_owned(), note.unwrap_or_default());
        RunSaver(Wish::Somewhere(Box::new(RunToSave { path, asked, kind, name, tags: tag, note, begun: None })))
    }
}

impl RunSaver {
    /// Nothing is kept.
    pub const NOTHING: Self = Self(Wish::Nothing);

    /// A run begins: from now on it leaves something behind, whatever ends it, and can be asked to end by whoever sees it in the history.
    /// Takes microseconds; files are written elsewhere.
    pub fn begin(&mut self, stop: &Stop) {
        let Wish::Somewhere(kept) = &mut self.0 else { return };
        let (id, stop) = (Id::fresh(), stop.clone());
        let revision = env::current_dir().ok().and_then(|dir| Revision::of(&dir));
        let header = Header {
            id: id.clone(),
            kind: kept.kind,
            name: kept.name.clone(),
            started: Moment::now(),
            machine: engine::machine::machine(),
            revision: revision.clone(),
            tags: kept.tags.clone(),
            note: kept.note.clone(),
        };
        kept.begun = Some(Begun { id, revision, looking: None, journal: Journal::begin(&kept.path, header, move || stop.raise()) });
    }

    /// What it will be called for good; `None` where nothing is kept.
    pub fn id(&self) -> Option<String> {
        self.begun().map(|begun| begun.id.to_string())
    }

    /// A load begins, called `what`.
    pub fn load(&self, plan: &Plan, what: impl Into<String>) {
        if let Some(begun) = self.begun() {
            begun.journal.load(plan, what);
        }
    }

    /// A second of it.
    pub fn second(&self, counted: &IntervalCounts) {
        if let Some(begun) = self.begun() {
            begun.journal.second(counted);
        }
    }

    /// Everything measured so far, as JSON that is only made if it is kept.
    pub fn result_so_far(&self, json: impl FnOnce() -> Vec<u8>) {
        if let Some(begun) = self.begun() {
            begun.journal.result_so_far(json());
        }
    }

    /// No more load: now git may compare files, while the report is made.
    pub fn load_is_over(&mut self) {
        if let Wish::Somewhere(kept) = &mut self.0
            && let Some(begun) = &mut kept.begun
        {
            begun.look();
        }
    }

    fn begun(&self) -> Option<&Begun> {
        if let Wish::Somewhere(kept) = &self.0 { kept.begun.as_ref() } else { None }
    }

    /// Saves the result, and says under what name.
    ///
    /// # Errors
    /// If the user named the file and it cannot be written. Where it is only the usual place, that is told, and no error: also to who wants to
    /// hear of nothing else, since a result that is believed to be saved is lost.
    pub fn save(&mut self, json: &[u8]) -> Result<String, Failed> {
        let is_an_output = matches!(&self.0, Wish::Somewhere(kept) if kept.asked == SaveRequest::ByFlag);
        self.save_or_why(json).or_else(|(message, help)| {
            if is_an_output {
                return Err(Failed::new(Exit::OutputNotWritten, message, help));
            }
            complain(&format!("warning: {message}\n  help: {help}"));
            Ok(String::new())
        })
    }

    /// The same, and tells nobody.
    ///
    /// # Errors
    /// Why it could not be saved, and what to do.
    pub fn save_or_why(&mut self, json: &[u8]) -> Result<String, (String, String)> {
        let mut kept = match std::mem::replace(&mut self.0, Wish::Nothing) {
            Wish::Nothing => return Ok(String::new()),
            Wish::Nowhere => {
                return Err((
                    format!("the result is not saved: {NO_PLACE}"),
                    "name a file in LOADLINE_DB, or with --db FILE; or give --no-save".to_owned(),
                ));
            }
            Wish::Somewhere(kept) => kept,
        };
        let Some(begun) = kept.begun.take() else { return Ok(String::new()) };
        let (journal, saved) = saved(*kept, begun, json);
        // What is saved needs no journal. What is not is kept by it, up to its last second, if it could be written.
        match (saved, journal.end()) {
            (Ok(line), ended) => {
                if let Ok(ended) = ended {
                    ended.remove();
                }
                Ok(line)
            }
            (Err((message, help)), ended) => {
                let journal_is_kept = ended.and_then(FinishedJournal::leave).is_ok();
                let later = if journal_is_kept { "; what was measured is kept beside it until 'loadline runs' can take it in" } else { "" };
                Err((format!("the result could not be saved: {message}{later}"), help))
            }
        }
    }

    /// Nothing was measured: nothing is left behind.
    pub fn discard(&mut self) {
        if let Wish::Somewhere(kept) = &mut self.0
            && let Some(begun) = kept.begun.take()
            && let Ok(ended) = begun.journal.end()
        {
            ended.remove();
        }
    }
}

impl Begun {
    /// Asks git, once.
    fn look(&mut self) {
        if self.looking.is_none() && self.revision.is_some() {
            self.looking = env::current_dir().ok().map(|dir| Looking::at(&dir));
        }
    }
}

/// Saves it: the line that says so, or why not and what to do. The journal is given back.
fn saved(kept: RunToSave, mut begun: Begun, json: &[u8]) -> (Journal, Result<String, (String, String)>) {
    begun.look();
    let RunToSave { path, name, tags, note, .. } = kept;
    let Begun { id, revision, looking, journal } = begun;
    let told = |error: &HistoryError| (error.to_string(), error.help().spelt(Spelling::Flags));
    let ours = || "please report this with the command line".to_owned();
    let save = || {
        let text = String::from_utf8_lossy(json);
        let result = Document::read(&text).map_err(|why| (format!("it cannot be read back: {why}"), ours()))?;
        let mut store = Store::open(&path).map_err(|error| told(&error))?;
        // Of all there is to wait for, git comes last: it has been at work meanwhile.
        let revision = match looking {
            Some(looking) => revision.map(|revision| revision.with(looking.found(GIT_PATIENCE))),
            None => revision,
        };
        let Some(kept) = saved::kept(&result, name, revision, tags, note) else { return Ok(String::new()) };
        let plan = result.plan();
        let fresh = Fresh { id, kept, origin: Origin::Saved, plan: &plan, result: json };
        let entry = store.save(&fresh).map_err(|error| told(&error))?;
        // Another run that began later may have ended before this one.
        let last = store.list(&Filter { limit: Some(1), ..Filter::default() }).map_err(|error| told(&error))?;
        let is_last = last.first().is_some_and(|last| last.id == entry.id);
        Ok(match is_last {
            true => format!("  saved as @last ({0}); loadline show {0}\n", entry.short),
            false => format!("  saved as {0}; loadline show {0}\n", entry.short),
        })
    };
    let saved = save();
    (journal, saved)
}
