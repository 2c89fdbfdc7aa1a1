//! Processes and their machine as a source: two looks at `/proc` make the values of an interval.

use measure::ServerObservation;
use measure::observed::{Place, Value};
use plan::Nanos;

use crate::change::{Sample, values};
use crate::files::{Files, Folder};
use crate::subject::Subject;
use crate::watcher::Source;

/// A subject on this machine.
#[derive(Debug)]
pub struct Local {
    asked: String,
    subject: Subject,
    files: Folder,
    before: Option<Sample>,
}

impl Local {
    /// Of this machine.
    #[must_use]
    pub fn new(asked: String, subject: Subject) -> Self {
        Self { asked, subject, files: Folder::of_this_machine(), before: None }
    }
}

impl Source for Local {
    fn look(&mut self, at: Nanos) -> Result<Vec<Value>, String> {
        Ok(changed(&mut self.subject, &self.files, at, &mut self.before))
    }

    fn describe(&self) -> ServerObservation {
        described(&self.subject, self.asked.clone(), Place::ThisMachine, self.before.as_ref())
    }

    fn warnings(&mut self) -> Vec<String> {
        self.subject.warnings()
    }
}

/// A look, against the one before it.
pub(crate) fn changed(subject: &mut Subject, files: &dyn Files, at: Nanos, before: &mut Option<Sample>) -> Vec<Value> {
    let now = subject.look(files, at);
    let found = before.as_ref().map(|before| values(before, &now)).unwrap_or_default();
    *before = Some(now);
    found
}

pub(crate) fn described(subject: &Subject, asked: String, place: Place, last: Option<&Sample>) -> ServerObservation {
    let cores = last.map(|last| last.machine.cores.len() as u32).filter(|cores| *cores > 0);
    ServerObservation {
        asked,
        about: subject.about().to_owned(),
        place,
        cores,
        processes: subject.processes().to_vec(),
        ..ServerObservation::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watcher::Watcher;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn a_busy_child_is_seen_using_a_core_and_its_end_is_told() {
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap();
        let subject = Subject::of_process(&Folder::of_this_machine(), child.id(), Some(std::process::id())).unwrap();
        assert!(subject.about().ends_with(&format!("({})", child.id())), "{}", subject.about());
        let began = Instant::now();
        let watcher = Watcher::start(vec![Box::new(Local::new("pid".to_owned(), subject))]);
        while began.elapsed() < Duration::from_millis(2_500) {
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let outcome = watcher.stop(began);
        let seen = &outcome.observed[0];
        let used: f64 = seen.whole("cpu_user").unwrap().values.iter().flatten().fold(0.0, |most, value| most.max(*value));
        // On a machine that everybody uses it does not get a whole core.
        assert!(used > 0.05 && used < 1.3, "{used}: {seen:?}");
        assert!(outcome.warnings.iter().any(|warning| warning.contains("process ended")), "{:?}", outcome.warnings);
        assert_eq!(seen.cores, Some(std::fs::read_to_string("/proc/stat").unwrap().matches("\ncpu").count() as u32));
    }
}
