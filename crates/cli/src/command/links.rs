//! `loadline links DIR`: links by whose names loadline is taken for another tool.
//!
//! An alias serves a person at a prompt; scripts and Makefiles find programs by their names. A link in a directory that comes
//! first in PATH serves them, and taking it away undoes it. Nothing that exists is ever replaced, so that no real tool is lost.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use clap::Args;
use dialects::DIALECTS;

use super::print;
use crate::exit::{Exit, Failed};
use crate::inputs::plainly;

/// Where to.
#[derive(Debug, Args)]
pub struct Links {
    /// Make the links in this directory, made if missing
    #[arg(value_name = "DIR")]
    dir: PathBuf,
}

/// Makes a link a dialect, and says so.
pub fn carry_out(links: &Links) -> Result<Exit, Failed> {
    let failed = |path: &std::path::Path, why: &std::io::Error, help: &str| {
        Failed::new(Exit::OutputNotWritten, format_args!("'{}' cannot be made: {}", path.display(), plainly(why)), help)
    };
    let program = std::env::current_exe().map_err(|why| {
        Failed::new(
            Exit::NotCarriedOut,
            format_args!("this program's own file is not known: {}", plainly(&why)),
            "make the links by hand: ln -s $(command -v loadline) DIR/wrk",
        )
    })?;
    let here = |why: &std::io::Error| failed(&links.dir, why, "choose a directory you may write to");
    fs::create_dir_all(&links.dir).map_err(|why| here(&why))?;
    let dir = fs::canonicalize(&links.dir).map_err(|why| here(&why))?;
    let mut said = String::new();
    for dialect in DIALECTS {
        let path = dir.join(dialect.name);
        if fs::read_link(&path).is_ok_and(|leads| leads == program) {
            said += &format!("{}  was there\n", path.display());
            continue;
        }
        symlink(&program, &path)
            .map_err(|why| failed(&path, &why, "what is there is not replaced: move it away, or choose another directory"))?;
        said += &format!("{}\n", path.display());
    }
    said += &format!("Put the directory first where programs are looked for: PATH='{}':\"$PATH\"\n", dir.display());
    print(said.as_bytes())
}
