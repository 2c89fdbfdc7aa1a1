//! The folder of a dashboard, made of a file of samples that a test wrote, or any other of JMeter's.
//!
//! Invariant: of a file that cannot be read to its end no page is written.

use std::io::BufRead as _;

use jtl::Form;
use plan::plainly;
use report::jmeter::{Statistics, dashboard};

use crate::host::Host;

/// Writes the pages; a word on what the file lacks, if it lacks something.
///
/// # Errors
/// In words, if the file cannot be read, holds no samples, or a page cannot be written.
pub fn write(samples: &str, folder: &str, host: &dyn Host) -> Result<Option<String>, String> {
    let unreadable = |why: String| format!("the file of samples '{samples}' cannot be read: {why}");
    let files = host.files();
    let mut from = files.open(samples.as_ref()).map_err(|why| unreadable(plainly(&why)))?;
    let form = from.fill_buf().map(Form::of).map_err(|why| unreadable(plainly(&why)))?;
    let form = form.ok_or_else(|| unreadable("it is no file of samples (JTL) in CSV or XML".to_owned()))?;
    let mut statistics = Statistics::default();
    let cut_off = jtl::read(from, form, |sample, _| statistics.add(sample)).map_err(|why| unreadable(why.to_string()))?;
    if statistics.is_empty() {
        return Err(format!("there are no samples in '{samples}'"));
    }
    for (name, text) in dashboard(&statistics, samples, &host.time_zone()) {
        let path = format!("{folder}/{name}");
        let unwritten = |why: std::io::Error| format!("'{path}' cannot be written: {}", plainly(&why));
        let parent = path.rsplit_once('/').map_or(".", |(parent, _)| parent);
        files.make_directory(parent.as_ref()).map_err(unwritten)?;
        files.replace(path.as_ref(), text.as_bytes()).map_err(unwritten)?;
    }
    Ok(cut_off.map(|line| format!("'{samples}' breaks off in line {line}, which is left out")))
}
