//! The command behind `make bench`.

use std::io::{BufWriter, Write as _, stdout};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use bench::{Extent, Machine, Programs};

const USAGE: &str = "\
loadline-bench full LOADLINE PAGE    measure everything and write the page (about 5 minutes)
loadline-bench against LOADLINE OTHER  measure two builds in turns, a row a load (about 15 minutes)
loadline-bench protocols LOADLINE    measure HTTP/3 and gRPC alone, and print what the page has of them (about 5 minutes)
loadline-bench short LOADLINE        run every part for a moment, to see that it works";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["full", loadline, page] => full(Path::new(loadline), Path::new(page)),
        ["protocols", loadline] => protocols(Path::new(loadline)),
        ["short", loadline] => short(Path::new(loadline)),
        ["against", loadline, other] => bench::against(Path::new(loadline), Path::new(other)),
        ["bare", url, connections, seconds] => bench::bare(url, connections, seconds, None),
        ["bare", url, connections, seconds, trust] => bench::bare(url, connections, seconds, Some(trust)),
        ["bare-http3", url, connections, streams, seconds, trust] => bench::bare_http3(url, connections, streams, seconds, trust),
        ["logged", mebi] => logged(mebi),
        ["measured", core, usage, command @ ..] => bench::measured(core, Path::new(usage), command),
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

/// Writes a log of so many MiB to standard output.
fn logged(mebi: &str) -> Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, stdout().lock());
    bench::logs::write(mebi.parse::<u64>()? << 20, &mut out)?;
    out.flush()?;
    Ok(())
}

/// Measures, and writes the page whole or not at all.
fn full(loadline: &Path, page: &Path) -> Result<()> {
    let machine = Machine::look()?;
    let programs = Programs::look(loadline)?;
    if let Some(tool) = programs.missing.first() {
        bail!("{} is not installed, and the page compares with it", tool.name());
    }
    if !programs.goaccess {
        bail!("goaccess is not installed, and the page compares with it");
    }
    let findings = bench::run(&machine, &programs, loadline, &Extent::FULL)?;
    let text = bench::page(&machine, &programs, &Extent::FULL, &findings);
    bench::write_whole(page, &text)?;
    print!("{text}");
    Ok(())
}

/// Measures what is not over TCP as HTTP has it, and prints it.
fn protocols(loadline: &Path) -> Result<()> {
    let machine = Machine::look()?;
    let programs = Programs::look(loadline)?;
    print!("{}", bench::protocols(&machine, &programs, loadline, &Extent::FULL)?);
    Ok(())
}

/// Runs every part for a moment. Says what ran and how many requests were counted, never how fast: it is too short for that.
fn short(loadline: &Path) -> Result<()> {
    let machine = Machine::look()?;
    let programs = Programs::look(loadline)?;
    for tool in &programs.missing {
        println!("bench: {} is not installed, left out", tool.name());
    }
    let findings = bench::run(&machine, &programs, loadline, &Extent::SHORT)?;
    // The page is made as well: what writes it must keep working between two full runs.
    let text = bench::page(&machine, &programs, &Extent::SHORT, &findings);
    println!("bench: every part ran; the page has {} lines", text.lines().count());
    Ok(())
}
