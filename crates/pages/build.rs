//! Takes the built script and style of `web/` into the crate, if they were built.
//!
//! `cargo build` must work where there is no Node, so a missing script is no error: the crate then says that it has none,
//! and pages say so to their reader. The directory is in the repository and empty, so that Cargo notices when it fills.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let built = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("Cargo tells it")).join("../../web/dist");
    println!("cargo::rerun-if-changed={}", built.display());
    let out = PathBuf::from(env::var("OUT_DIR").expect("Cargo tells it"));
    for name in ["page.js", "page.css", "app.js", "app.css"] {
        let bytes = fs::read(built.join(name)).unwrap_or_default();
        fs::write(out.join(name), bytes).expect("the directory for built files can be written to");
    }
}
