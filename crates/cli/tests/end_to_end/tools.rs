//! Programs that some tests need besides loadline: peers to stand beside, servers, a terminal; and the pages' script.
//!
//! Who runs `cargo test` on a machine without them, or without the right to install them, is told in a line which test was left out.
//! `make test` installs them, and demands them with `LOADLINE_TEST_TOOLS=all`: there nothing may be left out.

use std::env;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Where scripts/peers.sh builds what Debian does not have.
pub fn peers() -> PathBuf {
    let built = Path::new(env!("CARGO_BIN_EXE_loadline")).parent().and_then(Path::parent).expect("a binary lies in target/PROFILE");
    built.join("peers")
}

/// Whether all of these programs are here; those that are missing are told.
pub fn are_here(names: &[&str]) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = env::split_paths(&path).chain([peers()]).collect();
    let missing: Vec<&str> = names.iter().copied().filter(|name| !places.iter().any(|place| place.join(name).is_file())).collect();
    missing.is_empty() || left_out(&format!("{} (scripts/tools.sh, scripts/peers.sh)", missing.join(", ")))
}

/// Whether the pages have their script, without which they hold no data.
pub fn pages_are_built() -> bool {
    pages::has_charts() || left_out("the pages' script (make web)")
}

fn left_out(what: &str) -> bool {
    assert!(env::var_os("LOADLINE_TEST_TOOLS").is_none(), "this test needs {what}");
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Not by a macro: what those print of a test that passes is not shown.
    let _ = writeln!(std::io::stderr(), "left out: {test} needs {what}");
    false
}
