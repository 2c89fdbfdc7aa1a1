//! The page: what was asked, what was measured, whether it holds. Figures get into it from here and nowhere else.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::machine::{Machine, Programs};
use crate::statistic::Spread;
use crate::suite::{Extent, Findings, Level};
use crate::tool::Tool;

/// A promise, and what came out.
struct Row {
    what: String,
    bar: String,
    measured: String,
    verdict: &'static str,
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "**not met**" }
}

/// The day, as 2026-01-31, UTC.
#[must_use]
pub fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// Writes a page whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub fn write_whole(page: &Path, text: &str) -> Result<()> {
    let new = page.with_extension("md.new");
    std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, page)).with_context(|| format!("cannot write {}", page.display()))
}

/// Makes the page.
#[must_use]
pub fn page(machine: &Machine, programs: &Programs, extent: &Extent, findings: &Findings) -> String {
    let Extent { rounds, seconds, connections, connections_many, rate, starts } = *extent;
    let mut page = String::from(
        "# Benchmarks\n\nWritten by `make bench`; run it again to measure on your machine. Nothing on this page is typed by hand.\n\n",
    );
    let _ = writeln!(
        page,
        "Measured on {}: {}. Load average before the first round: {}.\nPrograms: {}.\n",
        today(),
        machine.words(),
        machine.load_before,
        programs.versions.join("; ")
    );
    let _ = writeln!(
        page,
        "The generator runs on one core and nginx (one worker, a static answer of about 150 bytes) on another. Tools take turns\nof {seconds} s, {rounds} rounds, each round beginning with another tool. A ratio is taken within a round; given are the median over the\nrounds and, in brackets, the lowest and highest round. A bar counts as met if the median meets it.\n"
    );

    page += "| what | bar | measured | verdict |\n|---|---|---|---|\n";
    for row in rows(extent, findings) {
        let _ = writeln!(page, "| {} | {} | {} | {} |", row.what, row.bar, row.measured, row.verdict);
    }

    let _ = writeln!(page, "\n## {connections} keep-alive connections, http\n");
    page += &levels(&findings.plain);
    let _ = writeln!(page, "\n## {connections} keep-alive connections, https (TLS 1.3, AES-256-GCM)\n");
    page += &levels(&findings.encrypted);
    page += "\nwrk verifies no certificate; loadline verifies it (`--cacert`), once a connection.\n";
    let _ = writeln!(page, "\n## {connections_many} keep-alive connections, http\n");
    page += &levels(&findings.many);
    let _ = writeln!(
        page,
        "\n## Open load: {rate} requests a second, evenly spaced\n\nLag is how long after the moment it could be sent a request was sent: what the generator adds. Median lag {} µs, p99 {} µs;\n{} of a core used. wrk, ab and h2load cannot send at a rate independent of the answers, so there is nothing beside it.\n",
        Spread::of(&findings.open.lag_p50_us).text(0),
        Spread::of(&findings.open.lag_p99_us).text(0),
        Spread::of(&findings.open.cpu_share).text(2),
    );
    let _ = writeln!(
        page,
        "## Notes\n\n- Processor time is user and system time of the whole process, start included, as the kernel counts it for a finished child\n  (`getrusage`), divided by the requests the tool itself says were answered. A tool that reports a failed request is not\n  compared: the run ends with an error. loadline's count is compared with nginx's own, and must be equal.\n- Memory is the peak of the resident set (`ru_maxrss`).\n- Start-up is {starts} runs of each command, from starting the process to its end.\n- On a virtual machine or beside other work, the spread tells how much to believe."
    );
    page
}

fn rows(extent: &Extent, findings: &Findings) -> Vec<Row> {
    let mut rows = Vec::new();
    let Extent { connections, connections_many, rate, .. } = *extent;
    if let Some(ratio) = against_wrk(&findings.plain, |level| &level.cpu_us) {
        rows.push(Row {
            what: format!("CPU time per request, {connections} connections, of wrk's"),
            bar: "at most 0.72".to_owned(),
            measured: ratio.text(2),
            verdict: verdict(ratio.median <= 0.72),
        });
    }
    if let Some(ratio) = of_two(&findings.plain, Tool::Loadline, Tool::Bare, |level| &level.cpu_us) {
        rows.push(Row {
            what: format!("CPU time per request, {connections} connections, of a bare loop's (no parsing, no clock, nothing recorded)"),
            bar: "–".to_owned(),
            measured: ratio.text(2),
            verdict: "",
        });
    }
    if let Some(ratio) = of_two(&findings.plain, Tool::Bare, Tool::Wrk, |level| &level.cpu_us) {
        rows.push(Row {
            what: format!(
                "CPU time per request, {connections} connections: the bare loop's, of wrk's: what one send and one receive a request cost on this machine"
            ),
            bar: "–".to_owned(),
            measured: ratio.text(2),
            verdict: "",
        });
    }
    if let Some(ratio) = against_wrk(&findings.encrypted, |level| &level.cpu_us) {
        rows.push(Row {
            what: format!("CPU time per request, {connections} connections, https, of wrk's"),
            bar: "at most 0.80".to_owned(),
            measured: ratio.text(2),
            verdict: verdict(ratio.median <= 0.80),
        });
    }
    if let Some(ratio) = against_wrk(&findings.many, |level| &level.qps) {
        rows.push(Row {
            what: format!("throughput at {connections_many} connections, of wrk's"),
            bar: "at least 1.3".to_owned(),
            measured: ratio.text(2),
            verdict: verdict(ratio.median >= 1.3),
        });
    }
    let mebi = f64::from(1 << 20);
    if let Some(level) = findings.many.iter().find(|level| level.tool == Tool::Loadline) {
        let memory = Spread::of(&level.memory_bytes.iter().map(|bytes| bytes / mebi).collect::<Vec<_>>());
        let bar = 15.0 + 1.5 * f64::from(connections_many) / 1024.0;
        rows.push(Row {
            what: format!("memory at {connections_many} connections"),
            bar: format!("at most 15 MiB + 1.5 KiB a connection = {bar:.1} MiB"),
            measured: format!("{} MiB", memory.text(1)),
            verdict: verdict(memory.median <= bar),
        });
    }
    let lag = Spread::of(&findings.open.lag_p99_us);
    rows.push(Row {
        what: format!("lag at {rate}/s even, p99"),
        bar: "at most 150 µs".to_owned(),
        measured: format!("{} µs", lag.text(0)),
        verdict: verdict(lag.median <= 150.0),
    });
    let off = Spread::of(&findings.open.rate_off_percent);
    rows.push(Row {
        what: format!("achieved rate at {rate}/s, off by"),
        bar: "at most 0.1 %".to_owned(),
        measured: format!("{} %", off.text(3)),
        verdict: verdict(off.median <= 0.1),
    });
    let version = Spread::of(&findings.startup.version_ms);
    rows.push(Row {
        what: "`loadline --version`".to_owned(),
        bar: "under 5 ms".to_owned(),
        measured: format!("{} ms", version.text(1)),
        verdict: verdict(version.median < 5.0),
    });
    let one = Spread::of(&findings.startup.one_request_ms);
    rows.push(Row {
        what: "`loadline run -c 1 -n 1` on loopback".to_owned(),
        bar: "under 20 ms".to_owned(),
        measured: format!("{} ms", one.text(1)),
        verdict: verdict(one.median < 20.0),
    });
    rows
}

/// loadline's figure over wrk's, round by round; `None` where wrk did not take part.
fn against_wrk(levels: &[Level], figure: fn(&Level) -> &Vec<f64>) -> Option<Spread> {
    of_two(levels, Tool::Loadline, Tool::Wrk, figure)
}

/// One tool's figure over another's, round by round; `None` where one did not take part.
fn of_two(levels: &[Level], over: Tool, under: Tool, figure: fn(&Level) -> &Vec<f64>) -> Option<Spread> {
    let of = |tool: Tool| levels.iter().find(|level| level.tool == tool).map(figure);
    Some(Spread::of_ratios(of(over)?, of(under)?))
}

fn levels(levels: &[Level]) -> String {
    let mut table =
        String::from("| tool | CPU µs a request | outside the kernel | requests a second | peak memory, MiB |\n|---|---|---|---|---|\n");
    for level in levels {
        let thousands: Vec<f64> = level.qps.iter().map(|qps| qps / 1000.0).collect();
        let memory: Vec<f64> = level.memory_bytes.iter().map(|bytes| bytes / f64::from(1 << 20)).collect();
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} thousand | {} |",
            level.tool.name(),
            Spread::of(&level.cpu_us).text(2),
            Spread::of(&level.user_us).text(2),
            Spread::of(&thousands).text(1),
            Spread::of(&memory).text(1)
        );
    }
    table
}
