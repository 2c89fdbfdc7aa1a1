//! What this machine can do and targets differ by, kept between runs: a file in the user's data directory. Keeping it beside the results
//! was rejected: results move between machines.

use std::path::PathBuf;
use std::{env, fs, io};

use experiment::calibration::Calibration;
use measure::SummaryBuilder;

use crate::inputs::plainly;
use crate::outputs::whole;

/// What is kept for this machine and this version; nothing where nothing is, or it cannot be read.
pub fn kept() -> Option<Calibration> {
    let kept: Calibration = serde_json::from_str(&fs::read_to_string(path()?).ok()?).ok()?;
    kept.is_of(&engine::machine::machine()).then_some(kept)
}

/// Keeps it, and says where.
///
/// # Errors
/// In words, if there is no place for it or it cannot be written.
pub fn keep(calibration: &Calibration) -> Result<PathBuf, String> {
    let path = path().ok_or("neither XDG_DATA_HOME nor HOME names a directory")?;
    let told = |why: &io::Error| format!("'{}' cannot be written: {}", path.display(), plainly(why));
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|why| told(&why))?;
    }
    let mut bytes = serde_json::to_vec_pretty(calibration).map_err(|why| why.to_string())?;
    bytes.push(b'\n');
    whole(&path, &bytes).map_err(|why| told(&why))?;
    Ok(path)
}

/// Puts what this machine could have done into a result, so that its reports can tell.
pub fn note_ceiling(run: &mut SummaryBuilder) {
    run.set_ceiling(kept().and_then(|kept| kept.ceiling_of(run)));
}

fn path() -> Option<PathBuf> {
    data_directory().map(|data| data.join("calibration.json"))
}

/// `$XDG_DATA_HOME/loadline`, or below `~/.local/share` (XDG Base Directory Specification 0.8).
pub fn data_directory() -> Option<PathBuf> {
    let named = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = named("XDG_DATA_HOME").or_else(|| named("HOME").map(|home| home.join(".local/share")))?;
    Some(data.join("loadline"))
}
