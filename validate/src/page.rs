//! The page: what was claimed, what was asked, what came out. Figures get into it from here and nowhere else.

use std::fmt::Write as _;

use bench::Machine;

use crate::defects;
use crate::experiment::{PARTS, Told};
use crate::lab::Lab;
use crate::proof::{Held, Table};
use crate::seeds;
use crate::store::Store;

/// Makes the page from everything that is known.
#[must_use]
pub fn page(lab: &Lab, machine: &Machine, version: &str, store: &Store) -> String {
    let told: Vec<Told> = PARTS.iter().map(|part| (part.tell)(lab, store)).collect();
    let mut page = String::from(
        "# Validation\n\nDoes loadline keep what it claims? Written by `make validate`; run it again to see for yourself. Nothing on this page is typed by hand,\nand a claim that misses its target is shown as missed.\n\n",
    );
    let _ = writeln!(
        page,
        "Written on {}: {}. Load average before: {}.\nProgram: {version}. Simulations draw from seeds from {} on, which nothing was tuned on.\n",
        bench::today(),
        machine.words(),
        machine.load_before,
        seeds::FIRST
    );
    let all = || told.iter().flat_map(|told| &told.section.proofs);
    let count = |held: Held| all().filter(|proof| proof.held == held).count();
    let failed = told.iter().map(|told| told.failed.len()).sum::<usize>();
    let _ = writeln!(
        page,
        "Of {} claims {} held, {} were missed, and of {} it cannot be told: the figure misses the target, and chance may have done it.{}\nShares come with their 95 % intervals (Clopper and Pearson's).\n",
        all().count(),
        count(Held::Held),
        count(Held::Missed),
        count(Held::Open),
        if failed > 0 { format!(" {failed} steps have no result; their sections say why.") } else { String::new() }
    );
    page += "| claim | target | figure | |\n|---|---|---|---|\n";
    for proof in all() {
        let _ = writeln!(page, "| {} | {} | {} | {} |", proof.claim, proof.target, proof.figure, proof.held);
    }
    for it in &told {
        section(&mut page, it);
    }
    let _ = write!(
        page,
        "\n## Defects of other tools, and the tests that keep them out\n\nFound by reading the sources of other load generators, and not run. Each test below exists; another test sees to that.\n\n{}",
        defects::marked()
    );
    page
}

fn section(page: &mut String, told: &Told) {
    let _ = writeln!(page, "\n## {}\n\n{}\n", told.title, told.about);
    if !told.days.is_empty() {
        let _ = writeln!(page, "Measured on {}, in {}.\n", told.days.join(", "), spoken(told.seconds));
    }
    for (step, why) in &told.failed {
        let _ = writeln!(page, "- **no result**: {step}: {}", why.replace('\n', " "));
    }
    if !told.failed.is_empty() {
        page.push('\n');
    }
    let tables: Vec<String> = told.section.tables.iter().map(table).collect();
    page.push_str(&tables.join("\n"));
}

fn table(table: &Table) -> String {
    let row = |cells: &[String]| format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "));
    let mut text = format!("{}\n\n{}|{}\n", table.about, row(&table.head), "---|".repeat(table.head.len()));
    text.extend(table.rows.iter().map(|cells| row(cells)));
    text
}

fn spoken(seconds: f64) -> String {
    if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}
