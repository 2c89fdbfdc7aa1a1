//! Where results go: standard output, and files that appear whole or not at all.
//!
//! A report that overwrites last week's baseline, or a file cut off in the middle because a disk was full, costs more than
//! the run. So every output is looked at before the first request, a file that exists is only replaced with `--force`, and
//! each is written to a temporary name in its own directory and then renamed. An output that fails after all is told,
//! and does not take the others with it.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use analysis::Reading;
use plan::{PlanError, PlanErrors};
use report::{FORMATS, Format, Rendering, Style};
use tempfile::NamedTempFile;

use crate::detail::Detail;
use crate::inputs::plainly;
use crate::request_log::{LOG_FORMATS, LogFormat};
use crate::screen::Remarks;
use crate::step_summary;

/// One `--out FORMAT=FILE`, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Out(String);

impl Out {
    /// Whether it asks for this format.
    pub fn is_of(&self, format: &str) -> bool {
        self.0.split_once('=').is_some_and(|(name, _)| name == format)
    }

    /// The file that is to have this format, if it is one.
    pub fn file_of(&self, format: &str) -> Option<&str> {
        self.0.split_once('=').filter(|(name, file)| *name == format && !file.is_empty() && *file != "-").map(|(_, file)| file)
    }

    /// With the format named that alone has the file's ending, where none is named.
    #[must_use]
    pub fn with_format<T>(self, table: &[Rendering<T>]) -> Self {
        self.named(table.iter().map(|format| Named { name: format.name, extension: format.extension }))
    }

    fn named(self, mut table: impl Iterator<Item = Named>) -> Self {
        let Some(ending) = Path::new(&self.0).extension().and_then(OsStr::to_str).filter(|_| !self.0.contains('=')) else { return self };
        let format = table.find(|format| format.extension == ending).filter(|_| table.all(|format| format.extension != ending));
        format.map_or_else(|| self.clone(), |format| Self(format!("{}={}", format.name, self.0)))
    }
}

impl FromStr for Out {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.to_owned()))
    }
}

impl std::fmt::Display for Out {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a file that exists is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is kept, and that is an error.
    Keep,
    /// It is replaced.
    Replace,
}

/// Of `--force`.
impl From<bool> for Existing {
    fn from(force: bool) -> Self {
        if force { Self::Replace } else { Self::Keep }
    }
}

/// Where one rendering goes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Stdout,
    File(PathBuf),
}

/// Every output of one run, looked at and ready.
pub struct Outputs {
    all: Vec<(&'static Format, Place)>,
    /// Files that every request is written to while the load is on.
    pub logs: Vec<(&'static LogFormat, PathBuf)>,
    text: Text,
}

/// Where the text report goes that every run has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    /// To standard output.
    Stdout,
    /// To standard error, because standard output carries another format.
    Stderr,
    /// Only where the user said.
    Asked,
}

/// The format every run is told in.
const TEXT: &str = "text";
/// The format of a job's summary.
const MARKDOWN: &str = "markdown";

impl Outputs {
    /// Looks at what was asked for: of a finished run, and with these formats of a log while it is on.
    pub fn check(outs: &[Out], log_formats: &'static [LogFormat], existing: Existing, errors: &mut PlanErrors) -> Self {
        let table = FORMATS.iter().map(RunFormat::Whole).chain(log_formats.iter().map(RunFormat::Log));
        let (mut all, mut logs) = (Vec::new(), Vec::new());
        for output in places(outs, &table, RunFormat::named, existing, errors) {
            match output {
                (RunFormat::Whole(format), place) => all.push((format, place)),
                (RunFormat::Log(format), Place::File(path)) => {
                    look_over(&path, errors);
                    logs.push((format, path));
                }
                (RunFormat::Log(LogFormat { name, extension, .. }), Place::Stdout) => errors.push(PlanError::new(
                    "out",
                    format!("--out {name}=- would write rows where the report stands, while the load is on"),
                    format!("give a file or a named pipe, such as --out {name}=requests.{extension}"),
                )),
            }
        }
        let text = if all.iter().any(|(format, _)| format.name == TEXT) {
            Text::Asked
        } else if all.iter().any(|(_, place)| *place == Place::Stdout) {
            Text::Stderr
        } else {
            Text::Stdout
        };
        Self { all, logs, text }
    }

    /// Writes all of them. The text report comes last, so that nothing scrolls it away, and it always comes.
    ///
    /// # Errors
    /// Each output that could not be written, with what to do.
    pub fn write(&self, reading: &Reading<'_>, detail: Detail, styles: &Styles, voice: Remarks) -> Result<(), PlanErrors> {
        let mut errors = PlanErrors::default();
        let mut text = self.text;
        for (format, place) in &self.all {
            let bytes = rendered(format, reading, if *place == Place::Stdout { &styles.stdout } else { &styles.file });
            let written = match place {
                Place::Stdout => to_stdout(&bytes),
                Place::File(path) => whole(path, &bytes),
            };
            if let Err(why) = written {
                let shown = match place {
                    Place::Stdout => "standard output".to_owned(),
                    Place::File(path) => format!("'{}'", path.display()),
                };
                errors.push(PlanError::new(
                    "out",
                    format!("the {} output could not be written to {shown}: {}", format.name, plainly(&why)),
                    "make room or choose another place, and run again with --out",
                ));
                if format.name == TEXT {
                    text = if *place == Place::Stdout { Text::Stderr } else { Text::Stdout };
                }
            }
        }
        let markdown = FORMATS.iter().find(|format| format.name == MARKDOWN).expect("the Markdown format is in the table");
        step_summary::append(&rendered(markdown, reading, &styles.file), &mut errors);
        match text {
            Text::Asked => {}
            Text::Stderr if voice == Remarks::Quiet && errors.is_empty() => {}
            Text::Stderr => {
                let _ = io::stderr().lock().write_all(&detail.report(reading, &styles.file));
            }
            Text::Stdout => {
                if let Err(why) = to_stdout(&detail.report(reading, &styles.stdout)) {
                    errors.push(PlanError::new(
                        "out",
                        format!("the report could not be written to standard output: {}", plainly(&why)),
                        "give --out text=FILE",
                    ));
                    let _ = io::stderr().lock().write_all(&detail.report(reading, &styles.file));
                }
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

impl Outputs {
    /// What stands below the text report: under which name the run is saved, unless no remarks are wanted, and on a terminal the headline
    /// once more, so that it is in view however long the report is.
    pub fn close(&self, saved: &str, reading: &Reading<'_>, styles: &Styles, voice: Remarks) {
        let mut text = String::new();
        if !saved.is_empty() && voice == Remarks::Talking {
            text += &format!("{saved}\n");
        }
        if styles.screen == Showing::Terminal && self.text == Text::Stdout {
            text += &report::closing(reading, &styles.stdout);
        }
        // That it cannot be said changes nothing: the report above had the same fate, and that was told.
        let _ = match self.text {
            Text::Asked => Ok(()),
            Text::Stdout => to_stdout(text.as_bytes()),
            Text::Stderr => io::stderr().lock().write_all(text.as_bytes()),
        };
    }
}

/// What a load is written as: when it is finished, or while it is on.
#[derive(Clone, Copy)]
enum RunFormat {
    Whole(&'static Format),
    Log(&'static LogFormat),
}

impl RunFormat {
    fn named(self) -> Named {
        match self {
            Self::Whole(format) => Named { name: format.name, extension: format.extension },
            Self::Log(format) => Named { name: format.name, extension: format.extension },
        }
    }
}

/// What a row of a table of formats is called.
#[derive(Debug, Clone, Copy)]
struct Named {
    name: &'static str,
    extension: &'static str,
}

/// Which formats go where: each known, each to a place of its own that can be written.
fn places<F: Copy>(
    outs: &[Out],
    table: &(impl Iterator<Item = F> + Clone),
    named: fn(F) -> Named,
    existing: Existing,
    errors: &mut PlanErrors,
) -> Vec<(F, Place)> {
    let example = |name: &str| match table.clone().map(named).find(|format| format.name == name) {
        Some(format) => format!("{name}=result.{}", format.extension),
        None => "json=result.json".to_owned(),
    };
    let mut all: Vec<(F, Place)> = Vec::new();
    for out in outs {
        let Out(given) = &out.clone().named(table.clone().map(named));
        let Some((name, file)) = given.split_once('=') else {
            errors.push(PlanError::new("out", format!("--out '{given}' is not FORMAT=FILE"), format!("write --out {}", example(given))));
            continue;
        };
        let Some(format) = table.clone().find(|format| named(*format).name == name) else {
            let known: Vec<&str> = table.clone().map(|format| named(format).name).collect();
            let known = format!("give one of {}", known.join(", "));
            errors.push(if LOG_FORMATS.iter().any(|log| log.name == name) {
                let what = format!("--out '{given}' asks for a row for every request, and only a single load writes one while it is on");
                PlanError::new("out", what, format!("give it to loadline run or loadline replay; here, {known}"))
            } else {
                PlanError::new("out", format!("--out '{given}' asks for the unknown format '{name}'"), known)
            });
            continue;
        };
        let place = match file {
            "" => {
                errors.push(PlanError::new("out", format!("--out '{given}' names no file"), format!("write --out {}", example(name))));
                continue;
            }
            "-" => Place::Stdout,
            file => {
                look(Path::new(file), "out", existing, errors);
                Place::File(PathBuf::from(file))
            }
        };
        if let Some((other, _)) = all.iter().find(|(_, taken)| same(taken, &place)) {
            let into = if place == Place::Stdout { "standard output".to_owned() } else { format!("'{file}'") };
            errors.push(PlanError::new(
                "out",
                format!("--out {}=… and --out {name}=… both write to {into}", named(*other).name),
                "give each its own file",
            ));
            continue;
        }
        all.push((format, place));
    }
    all
}

/// The outputs of what is more than one run: a sweep, a search, a comparison.
#[derive(Debug)]
pub struct Renderings<T: 'static> {
    all: Vec<(&'static Rendering<T>, Place)>,
}

impl<T> Renderings<T> {
    /// Nothing was asked for.
    pub const fn none() -> Self {
        Self { all: Vec::new() }
    }

    /// Looks at what was asked for. Standard output may be one of the places where no table grows on it.
    pub fn check(
        outs: &[Out],
        table: &'static [Rendering<T>],
        existing: Existing,
        stdout: StandardOutput,
        errors: &mut PlanErrors,
    ) -> Self {
        let all = places(outs, &table.iter(), |format| Named { name: format.name, extension: format.extension }, existing, errors);
        if stdout == StandardOutput::Taken
            && let Some((format, _)) = all.iter().find(|(_, place)| *place == Place::Stdout)
        {
            errors.push(PlanError::new(
                "out",
                format!("--out {}=- would stand among the rows of the table", format.name),
                format!("give a file, such as --out {}=result.{}", format.name, format.extension),
            ));
        }
        Self { all }
    }

    /// Without that of this format: there turned out to be nothing in it.
    pub fn without(mut self, format: &str) -> Self {
        self.all.retain(|(known, _)| known.name != format);
        self
    }

    /// Whether one of them is written to standard output.
    pub fn to_stdout(&self) -> bool {
        self.all.iter().any(|(_, place)| *place == Place::Stdout)
    }

    /// Writes all of them; what could not be written goes to `lost`.
    pub fn write(&self, result: &T, lost: &mut PlanErrors) {
        for (format, place) in &self.all {
            let bytes = (format.render)(result).expect("memory takes every byte");
            let (written, shown) = match place {
                Place::Stdout => (to_stdout(&bytes), "standard output".to_owned()),
                Place::File(path) => (whole(path, &bytes), format!("'{}'", path.display())),
            };
            if let Err(why) = written {
                lost.push(PlanError::new(
                    "out",
                    format!("the {} output could not be written to {shown}: {}", format.name, plainly(&why)),
                    "make room or choose another place, and render the .json again with loadline report",
                ));
            }
        }
    }
}

/// What `--help` says of `--out`, from the table of formats, so that none is missing.
pub fn out_help<T>(table: &[Rendering<T>]) -> String {
    let known: Vec<&str> = table.iter().map(|format| format.name).collect();
    format!("Write the result also as FORMAT=FILE: {} (repeatable)", known.join(", "))
}

/// The same of a single run, whose report may go to standard output.
pub fn run_out_help() -> String {
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let logs: Vec<&str> = LOG_FORMATS.iter().map(|format| format.name).collect();
    format!(
        "Write the result also as FORMAT=FILE, with - for standard output: {}; or every request while the load is on: {} (repeatable)",
        known.join(", "),
        logs.join(", ")
    )
}

/// Whether a rendering may go to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StandardOutput {
    /// Nothing else is written there.
    Free,
    /// A table grows on it.
    Taken,
}

/// Where standard output leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Showing {
    /// To a terminal, which shows the end of what was printed.
    Terminal,
    /// To a file or another program.
    Elsewhere,
}

/// How text looks on standard output and in files.
pub struct Styles {
    /// Where standard output leads.
    pub screen: Showing,
    /// With colour where it is wanted.
    pub stdout: Style,
    /// Always without.
    pub file: Style,
}

fn rendered(format: &Format, reading: &Reading<'_>, style: &Style) -> Vec<u8> {
    let mut bytes = Vec::new();
    (format.render)(reading, style, &mut bytes).expect("memory takes every byte");
    bytes
}

/// Looks whether a file can be written, without touching it.
pub fn look(path: &Path, setting: &'static str, existing: Existing, errors: &mut PlanErrors) {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => {
            errors.push(PlanError::new(setting, format!("'{shown}' is a directory"), "give a file in it"));
            return;
        }
        // A device such as /dev/null or a named pipe holds nothing that could be lost.
        Ok(about) if about.is_file() && existing == Existing::Keep => {
            errors.push(PlanError::new(setting, format!("the file '{shown}' exists"), "give another name, or --force to replace it"));
            return;
        }
        _ => {}
    }
    if is_special(path) {
        return;
    }
    if let Err(why) = NamedTempFile::with_prefix_in(".loadline-", directory(path)) {
        let help = if why.kind() == io::ErrorKind::NotFound {
            format!("make its directory first: mkdir -p '{}'", directory(path).display())
        } else {
            "choose a directory you may write to".to_owned()
        };
        errors.push(PlanError::new(setting, format!("the file '{shown}' cannot be written: {}", plainly(&why)), help));
    }
}

/// The same of a file that is written over in its place.
fn look_over(path: &Path, errors: &mut PlanErrors) {
    if path.is_file()
        && let Err(why) = fs::OpenOptions::new().write(true).open(path)
    {
        let what = format!("the file '{}' cannot be written: {}", path.display(), plainly(&why));
        errors.push(PlanError::new("out", what, "choose a file you may write to"));
    }
}

/// Neither a file nor free for one: a device or a pipe, which is written to and not replaced.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
}

fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether two outputs would write to the same place.
fn same(a: &Place, b: &Place) -> bool {
    match (a, b) {
        (Place::Stdout, Place::Stdout) => true,
        (Place::File(a), Place::File(b)) => !is_special(a) && resolved(a) == resolved(b),
        _ => false,
    }
}

/// A path whose directory has one spelling; the file itself need not exist.
fn resolved(path: &Path) -> PathBuf {
    let directory = fs::canonicalize(directory(path)).unwrap_or_else(|_| directory(path).to_owned());
    fs::canonicalize(path).unwrap_or_else(|_| path.file_name().map_or_else(|| directory.clone(), |name| directory.join(name)))
}

/// Writes a file so that a reader sees the old one or the whole new one.
///
/// # Errors
/// As the file system says; then the old file is untouched and nothing is left behind.
pub fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if is_special(path) {
        return fs::OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    // A link keeps leading where it leads: the file behind it is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".loadline-");
    // As the umask has it, like any file a program makes: a temporary one is private unless told.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(directory(path))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}

/// Writes to standard output. That nobody reads on (`| head`) is the reader's choice and no error.
///
/// # Errors
/// As the system says, but never for a closed pipe.
pub fn to_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(outs: &[&str], existing: Existing) -> String {
        let mut errors = PlanErrors::default();
        let outs: Vec<Out> = outs.iter().map(|out| Out((*out).to_owned())).collect();
        let _ = Outputs::check(&outs, LOG_FORMATS, existing, &mut errors);
        errors.spelt(plan::Spelling::Flags)
    }

    #[test]
    fn mistakes_in_outputs_are_told_together() {
        let text = errors(&["json", "yaml=x", "json=", "json=/nowhere/at/all/x.json", "json=-", "text=-"], Existing::Keep);
        for part in
            ["is not FORMAT=FILE", "unknown format 'yaml'", "names no file", "mkdir -p '/nowhere/at/all'", "both write to standard output"]
        {
            assert!(text.contains(part), "{part}:\n{text}");
        }
    }

    #[test]
    fn the_ending_of_a_file_names_its_format_where_only_one_has_it() {
        let named = |given: &str| Out(given.to_owned()).with_format(report::TRAFFIC_FORMATS).0;
        assert_eq!(named("a/report.html"), "html=a/report.html");
        assert_eq!(named("csv=r.html"), "csv=r.html");
        // Two have this ending.
        assert_eq!(named("r.txt"), "r.txt");
        for given in ["report", "report.pdf", "html"] {
            assert_eq!(named(given), given);
        }
    }

    #[test]
    fn a_file_that_exists_is_kept_unless_told_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("r.json");
        fs::write(&file, "precious").unwrap();
        let out = format!("json={}", file.display());
        assert!(errors(&[&out], Existing::Keep).contains("--force"));
        assert_eq!(errors(&[&out], Existing::Replace), "");
        let twice = format!("text={}/./r.json", dir.path().display());
        assert!(errors(&[&out, &twice], Existing::Replace).contains("both write to"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "looking leaves nothing behind");
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("r.json");
        whole(&file, b"one").unwrap();
        whole(&file, b"two").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert!(whole(&dir.path().join("missing/r.json"), b"x").is_err());
    }

    #[test]
    fn devices_are_written_to_and_not_replaced() {
        assert_eq!(errors(&["json=/dev/null", "text=/dev/null"], Existing::Keep), "");
        whole(Path::new("/dev/null"), b"x").unwrap();
    }
}
