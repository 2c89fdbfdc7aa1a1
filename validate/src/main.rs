//! The command behind `make validate`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use bench::Machine;
use testbed::limited::Shortage;
use validate::{Extent, Lab, PARTS, Part, Resume, Store};

const USAGE: &str = "\
loadline-validate full LOADLINE RECORDS PAGE [resume] [PART…]
    measure all parts, or those named, and write the page (about 40 minutes in all);
    with resume, what this program has done already is not done again
loadline-validate short LOADLINE [PART…]
    run every part for a moment, to see that it works
loadline-validate serve SHORTAGE [ADDRESS | at IP]
    a server that is short of one thing, for the part that names what, with another behind it or at an address of its own; ends
    with a signal";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["full", loadline, records, page, "resume", parts @ ..] => full(loadline, records, page, Resume::Kept, parts),
        ["full", loadline, records, page, parts @ ..] => full(loadline, records, page, Resume::Anew, parts),
        ["short", loadline, parts @ ..] => short(loadline, parts),
        ["serve", shortage] => serve(shortage, "127.0.0.1", None),
        ["serve", shortage, "at", address] => serve(shortage, address, None),
        ["serve", shortage, behind] => serve(shortage, "127.0.0.1", Some(behind)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Measures, and writes the page after every part: what is known survives an end in the middle.
fn full(loadline: &str, records: &str, page: &str, resume: Resume, names: &[&str]) -> Result<()> {
    let parts = chosen(names)?;
    let machine = Machine::look()?;
    let loadline = Path::new(loadline);
    let version = bench::version_of(loadline)?;
    let lab = Lab::new(loadline, Extent::Full);
    let mut store = Store::open(Path::new(records), loadline, resume)?;
    for part in parts {
        (part.measure)(&lab, &mut store);
        bench::write_whole(Path::new(page), &validate::page(&lab, &machine, &version, &store))?;
    }
    eprintln!("{page} is written");
    Ok(())
}

/// Runs every part for a moment, and makes a page of it that nobody keeps. Says what ran, never how well: it is too short for that.
fn short(loadline: &str, names: &[&str]) -> Result<()> {
    let parts = chosen(names)?;
    let machine = Machine::look()?;
    let loadline = Path::new(loadline);
    let version = bench::version_of(loadline)?;
    let lab = Lab::new(loadline, Extent::Short);
    let records = tempfile::tempdir()?;
    let mut store = Store::open(records.path(), loadline, Resume::Anew)?;
    for part in &parts {
        (part.measure)(&lab, &mut store);
        let told = (part.tell)(&lab, &store);
        if let Some((step, why)) = told.failed.first() {
            bail!("{}: {step}: {why}", part.name);
        }
    }
    let text = validate::page(&lab, &machine, &version, &store);
    println!("validate: {} parts ran; the page has {} lines", parts.len(), text.lines().count());
    Ok(())
}

/// Serves until it is ended, and says where.
fn serve(name: &str, address: &str, behind: Option<&str>) -> Result<()> {
    let known = || Shortage::ALL.map(|(name, _)| name).join(", ");
    let shortage = Shortage::named(name).with_context(|| format!("there is no server that is short of '{name}'; there are {}", known()))?;
    let behind = behind.map(str::parse).transpose().context("no address of the server behind")?;
    let address = address.parse().with_context(|| format!("'{address}' is no IPv4 address"))?;
    println!("http://{}/", shortage.serve_at(address, behind)?);
    loop {
        std::thread::park();
    }
}

/// The parts of these names, all if there are none.
fn chosen(names: &[&str]) -> Result<Vec<Part>> {
    let all = || PARTS.iter().map(|part| part.name).collect::<Vec<_>>().join(", ");
    for name in names {
        PARTS.iter().find(|part| part.name == *name).with_context(|| format!("there is no part '{name}'; there are {}", all()))?;
    }
    Ok(PARTS.iter().filter(|part| names.is_empty() || names.contains(&part.name)).copied().collect())
}
