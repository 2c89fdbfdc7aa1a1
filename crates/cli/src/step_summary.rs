//! The summary that a GitHub job shows: a file the runner names, to which every step appends Markdown.
//!
//! Whoever gates a pull request looks at the job's page and not into its log. Nothing is asked for on the command line: the
//! variable is set only where somebody will look.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use plan::{PlanError, PlanErrors};

use crate::inputs::plainly;

/// Where the runner says the file is.
const VARIABLE: &str = "GITHUB_STEP_SUMMARY";

/// Appends `markdown`, if there is where. That it cannot be written goes to `errors`.
pub fn append(markdown: &[u8], errors: &mut PlanErrors) {
    let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from) else { return };
    let written = OpenOptions::new().create(true).append(true).open(&path).and_then(|mut file| {
        file.write_all(markdown)?;
        file.write_all(b"\n")
    });
    if let Err(why) = written {
        errors.push(PlanError::new(
            "out",
            format!("the summary could not be written to '{}', which {VARIABLE} names: {}", path.display(), plainly(&why)),
            format!("unset {VARIABLE}, or let it name a file that can be written"),
        ));
    }
}
