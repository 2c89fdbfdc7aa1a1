//! `jmeter.log`: what happened, a line each, and what of the plan is not carried over.
//!
//! Its lines begin as JMeter's do (time, level, who), so that whatever looks for `ERROR` or `WARN` in them finds them. It is written as it
//! comes: of a test that was killed, the lines until then are there.

use std::io::Write;

use jiff::Zoned;
use jiff::tz::TimeZone;
use plan::plainly;

use crate::host::Host;

/// A log that is being written.
pub struct Log {
    path: String,
    file: Box<dyn Write + Send>,
    zone: TimeZone,
    /// Why a line could not be written, of the first that could not.
    unwritten: Option<String>,
}

impl Log {
    /// Makes the file anew.
    ///
    /// # Errors
    /// In words, if it cannot be made.
    pub fn create(path: &str, zone: &TimeZone, host: &dyn Host) -> Result<Self, String> {
        let file = host.files().create(path.as_ref());
        let file = file.map_err(|why| format!("the log '{path}' cannot be written: {}; name another with -j FILE", plainly(&why)))?;
        Ok(Self { path: path.to_owned(), file, zone: zone.clone(), unwritten: None })
    }

    /// What it is called.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What happened.
    pub fn info(&mut self, text: &str) {
        self.line("INFO", text);
    }

    /// What is not as it should be.
    pub fn warn(&mut self, text: &str) {
        self.line("WARN", text);
    }

    /// Why it ends.
    pub fn error(&mut self, text: &str) {
        self.line("ERROR", text);
    }

    fn line(&mut self, level: &str, text: &str) {
        let now = Zoned::now().with_time_zone(self.zone.clone());
        let text = report::visible(&text.replace('\n', " "));
        let written = writeln!(self.file, "{} {level} loadline: {text}", now.strftime("%Y-%m-%d %H:%M:%S,%3f"));
        if let Err(why) = written.and_then(|()| self.file.flush()) {
            self.unwritten.get_or_insert_with(|| plainly(&why));
        }
    }

    /// Whether all of it was written.
    ///
    /// # Errors
    /// In words, if a line was not.
    pub fn close(self) -> Result<(), String> {
        let Self { path, unwritten, .. } = self;
        unwritten.map_or(Ok(()), |why| Err(format!("the log '{path}' could not be written: {why}")))
    }
}
