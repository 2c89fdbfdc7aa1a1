//! Result files of JMeter, wherever a command takes a result of loadline.
//!
//! They are recognised by their beginning, since people name them as they like, and read as a stream, since they may be larger than
//! memory. What comes of them is a run like any other, but for what it says of itself. A command of its own to turn them into
//! results, the alternative, would be one more to know before the first look at a file.

use std::fs::{File, metadata};
use std::io::Read;
use std::path::Path;

use jtl::{Form, JtlRun};
use report::document::Terms;
use report::{Document, visible};

/// Enough of a file to know it by.
const BEGINNING_BYTES: u64 = 64 << 10;

/// The form of a result file of JMeter's; `None` of any other, and of what is no file that can be read twice.
pub fn form(path: &Path) -> Option<Form> {
    if !metadata(path).ok()?.is_file() {
        return None;
    }
    let mut beginning = Vec::new();
    File::open(path).ok()?.take(BEGINNING_BYTES).read_to_end(&mut beginning).ok()?;
    Form::of(&beginning)
}

/// The run that these files tell of together.
///
/// # Errors
/// Every file that cannot be read, and why.
pub fn run<'a>(files: &[(&'a Path, Form)]) -> Result<Document, Vec<(&'a Path, String)>> {
    let (mut run, mut wrong) = (JtlRun::default(), Vec::new());
    for (path, form) in files {
        let name = path.display().to_string();
        let read = File::open(path).map_err(jtl::ReadError::from).and_then(|file| run.add(&name, file, *form));
        wrong.extend(read.err().map(|why| (*path, visible(&why.to_string()))));
    }
    match run.finish() {
        Some(run) if wrong.is_empty() => Ok(Document::Run(Box::new(run), Terms::default())),
        None if wrong.is_empty() => Err(files.iter().map(|(path, _)| (*path, "there is no sample in it".to_owned())).collect()),
        _ => Err(wrong),
    }
}
