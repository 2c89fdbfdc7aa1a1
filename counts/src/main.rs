//! Counts what loadline's own work costs: instructions per request and bytes per idle user, of every kind of work.
//!
//! ```text
//! loadline-counts check FILE       count, and fail where a figure is more than 2 % above that in FILE
//! loadline-counts write FILE       count, and write FILE
//! loadline-counts run WORK N       send N requests; for Valgrind
//! ```

mod bytes;
mod instructions;
mod record;
mod work;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use record::Record;
use work::Work;

#[global_allocator]
static ALLOCATOR: bytes::Counting = bytes::Counting;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match carry_out(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn carry_out(words: &[&str]) -> Result<ExitCode> {
    match words {
        ["run", work, requests] => {
            let requests = requests.parse().context("N is a number of requests")?;
            match *work {
                instructions::BARE => work::bare(requests),
                name => Work::named(name).with_context(|| format!("there is no work '{name}'"))?.run(requests)?,
            }
            Ok(ExitCode::SUCCESS)
        }
        ["write", file] => {
            let record = Record::count()?;
            println!("{}", record.table(None));
            record.write(Path::new(file))?;
            Ok(ExitCode::SUCCESS)
        }
        ["check", file] => {
            let (record, now) = (Record::read(Path::new(file))?, Record::count()?);
            println!("{}", now.table(Some(&record)));
            let dearer = now.dearer_than(&record);
            dearer.iter().for_each(|line| eprintln!("error: {line}"));
            if !dearer.is_empty() {
                eprintln!("  help: make it cheaper; or, where the cost is worth it, make counts WRITE=1 and say why in the commit");
            }
            Ok(if dearer.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        _ => bail!("loadline-counts (check | write) FILE"),
    }
}
