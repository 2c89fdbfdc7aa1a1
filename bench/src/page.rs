//! The page: what was asked, what was measured, whether it holds. Figures get into it from here and nowhere else.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::machine::{Machine, Programs};
use crate::plans::{PLANS, Plans};
use crate::rows::Rows;
use crate::statistic::{Mean, Spread};
use crate::suite::{Extent, Findings, Level, Logs, STREAMED_CONNECTIONS, STREAMS, STREAMS_FEW, Scripted};
use crate::tool::Tool;

/// What a user on journeys may take, its data besides.
const USER_KIBIBYTES_MAX: f64 = 4.0;

/// Of the processor time of a request, as if nobody watched.
const WATCHED_MOST: f64 = 1.01;

/// Who starts a run does not wait for what surrounds it.
const ADDED_MS_MAX: f64 = 5.0;

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
    let Extent { rounds, seconds, connections, connections_many, rate, starts, .. } = *extent;
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
        "The generator runs on one core and nginx (one worker, a static answer of about 150 bytes) on another. Tools take turns\nof {seconds} s, {rounds} rounds, each round beginning with another tool. A ratio is taken within a round; given are the median over the\nrounds and, in brackets, the lowest and highest round. A bar counts as met if the median meets it. A mean with ± is of many short turns, and what would be found without end lies there in\n95 of 100 cases; such a bar counts as met, or not, if all that lies there says so.\n"
    );

    page += &table(rows(extent, findings));

    let _ = writeln!(page, "\n## {connections} keep-alive connections, http\n");
    page += &levels(&findings.plain);
    let _ = writeln!(page, "\n## {connections} keep-alive connections, https (TLS 1.3, AES-256-GCM)\n");
    page += &levels(&findings.encrypted);
    page += "\nwrk verifies no certificate; loadline verifies it (`--cacert`), once a connection. nginx needs longer for an encrypted request than\na generator does, so a generator waits for it, and falling asleep and waking up is charged to the generator: the faster it is,\nthe more often. The next table leaves that out.\n";
    let _ = writeln!(page, "\n## {connections} keep-alive connections, https, the generator's core shared with a busy loop\n");
    page += &levels(&findings.encrypted_crowded);
    for (tls, measured) in ["in cleartext", "over TLS"].iter().zip(&findings.multiplexed).filter(|(_, measured)| !measured.is_empty()) {
        let _ = writeln!(page, "\n## HTTP/2 {tls}: {STREAMS} requests at once on each of {STREAMED_CONNECTIONS} connections, nghttpd\n");
        page += &levels(measured);
    }
    let _ = writeln!(page, "\n## {connections} connections in cleartext, one request at a time on each: HTTP/1.1 (loadline) and HTTP/2\n");
    page += &levels(&findings.one_stream);
    page += "\nnginx takes longer for a request of HTTP/2, so that a generator sleeps and wakes up more often, as above; so here is the same once more\nwithout that.\n";
    let _ = writeln!(page, "\n## The same, the generator's core shared with a busy loop\n");
    page += &levels(&findings.one_stream_crowded);
    page += &protocol_tables(&findings.http3, &findings.grpc);
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

/// What the page has of HTTP/3 and gRPC, alone.
#[must_use]
pub(crate) fn protocols(http3: &[Vec<Level>; 2], grpc: &[Vec<Level>; 2]) -> String {
    format!("{}{}", table(protocol_rows(http3, grpc)), protocol_tables(http3, grpc))
}

/// What HTTP/3 costs beside oha and the smallest loop over quinn, and gRPC beside ghz and k6.
fn protocol_rows(http3: &[Vec<Level>; 2], grpc: &[Vec<Level>; 2]) -> impl Iterator<Item = Row> {
    let cpu: fn(&Level) -> &Vec<f64> = |level| &level.cpu_us;
    let [shared, single] = http3;
    let time = |protocol: &str, streams: u32| match streams {
        1 => format!("CPU time per request over {protocol}, {STREAMED_CONNECTIONS} connections, one request at a time on each"),
        _ => format!("CPU time per request over {protocol}, {STREAMED_CONNECTIONS} connections of {streams} streams"),
    };
    let mut rows = Vec::new();
    for (levels, streams) in [(shared, STREAMS_FEW), (single, 1)] {
        let of = |under, of: &str, bar| {
            ratio(format!("{}, of {of}", time("HTTP/3", streams)), of_two(levels, Tool::LoadlineHttp3(streams), under, cpu), Some(bar))
        };
        rows.extend(of(Tool::Oha(streams), "oha's", Bar::AtMost(0.7)));
        rows.extend(of(Tool::BareHttp3(streams), "the smallest loop's over quinn", Bar::AtMost(1.15)));
    }
    let [shared, single] = grpc;
    let of_ghz = of_two(shared, Tool::LoadlineGrpc(STREAMS_FEW), Tool::Ghz(STREAMS_FEW), cpu);
    rows.extend(ratio(format!("{}, of ghz's", time("gRPC", STREAMS_FEW)), of_ghz, Some(Bar::AtMost(0.2))));
    let of_k6 = of_two(single, Tool::LoadlineGrpc(1), Tool::K6, cpu);
    rows.extend(ratio(format!("{}, of k6's", time("gRPC", 1)), of_k6, Some(Bar::AtMost(0.5))));
    rows.into_iter()
}

fn protocol_tables(http3: &[Vec<Level>; 2], grpc: &[Vec<Level>; 2]) -> String {
    let mut page = String::new();
    let kinds = [("HTTP/3", "quic-go", http3), ("gRPC", "grpc-go", grpc)];
    for (protocol, server, [shared, single]) in kinds.into_iter().filter(|(_, _, [shared, _])| !shared.is_empty()) {
        let _ = writeln!(page, "\n## {protocol}: {STREAMS_FEW} requests at once on each of {STREAMED_CONNECTIONS} connections, {server}\n");
        page += &levels(shared);
        let _ = writeln!(page, "\n## {protocol}: one request at a time on each of {STREAMED_CONNECTIONS} connections, {server}\n");
        page += &levels(single);
    }
    if !page.is_empty() {
        page += "\nThese servers take several times as long for a request as a generator does: it sleeps and wakes up for nearly each, and the faster it is,\nthe more often. loadline's counts are compared with theirs, and must be equal.\n";
    }
    page
}

fn table(rows: impl IntoIterator<Item = Row>) -> String {
    let mut page = String::from("| what | bar | measured | verdict |\n|---|---|---|---|\n");
    for row in rows {
        let _ = writeln!(page, "| {} | {} | {} | {} |", row.what, row.bar, row.measured, row.verdict);
    }
    page
}

fn rows(extent: &Extent, findings: &Findings) -> Vec<Row> {
    let mut rows = Vec::new();
    let Extent { connections, connections_many, rate, runs_saved, ticks, replay_rate, watchings, .. } = *extent;
    let cpu: fn(&Level) -> &Vec<f64> = |level| &level.cpu_us;
    let qps: fn(&Level) -> &Vec<f64> = |level| &level.qps;
    let ours = |levels, figure| of_two(levels, Tool::Loadline, Tool::Wrk, figure);
    let Findings {
        plain,
        encrypted,
        encrypted_crowded,
        multiplexed,
        one_stream,
        one_stream_crowded,
        http3,
        grpc,
        many,
        scripted,
        templated,
        travelling,
        watched,
        open,
        resent,
        startup,
        logs,
        several,
        plans,
        rows: files,
    } = findings;

    let time = format!("CPU time per request, {connections} connections");
    rows.extend(ratio(format!("{time}, of wrk's"), ours(plain, cpu), Some(Bar::AtMost(0.72))));
    rows.extend(floor(&time, plain));
    let in_its_place = of_two(plain, Tool::LoadlineAb, Tool::Ab, cpu);
    rows.extend(ratio(format!("{time}, `loadline ab -k`, of ab's"), in_its_place, Some(Bar::AtMost(0.6))));
    rows.extend(ratio(format!("{time}: the bare loop's, of ab's"), of_two(plain, Tool::Bare, Tool::Ab, cpu), None));
    let encrypted_time = format!("{time}, https");
    rows.extend(ratio(format!("{encrypted_time}, of wrk's"), ours(encrypted, cpu), Some(Bar::AtMost(0.80))));
    rows.extend(floor(&encrypted_time, encrypted));
    let shared = format!("{encrypted_time}, the generator's core shared with a busy loop, so that no tool ever waits for nginx");
    rows.extend(ratio(format!("{shared}, of wrk's"), ours(encrypted_crowded, cpu), None));
    for (tls, measured) in ["cleartext", "TLS"].iter().zip(multiplexed) {
        let of = of_two(measured, Tool::LoadlineHttp2(STREAMS), Tool::H2loadHttp2(STREAMS), cpu);
        let what = format!("CPU time per request over HTTP/2, {STREAMED_CONNECTIONS} connections of {STREAMS} streams, {tls}, of h2load's");
        rows.extend(ratio(what, of, Some(Bar::AtMost(1.0))));
    }
    let one = format!("{time} of HTTP/2, one request at a time on each");
    let own = of_two(one_stream, Tool::LoadlineHttp2(1), Tool::Loadline, cpu);
    rows.extend(ratio(format!("{one}, of its own over HTTP/1.1"), own, Some(Bar::AtMost(1.3))));
    let of = of_two(one_stream, Tool::LoadlineHttp2(1), Tool::H2loadHttp2(1), cpu);
    rows.extend(ratio(format!("{one}, of h2load's"), of, None));
    let own = of_two(one_stream_crowded, Tool::LoadlineHttp2(1), Tool::Loadline, cpu);
    rows.extend(ratio(format!("{one}, the generator's core shared with a busy loop, of its own over HTTP/1.1"), own, None));
    rows.extend(protocol_rows(http3, grpc));
    rows.extend(scripts(scripted));
    let travelled = Some(Spread::of_ratios(&templated[2].cpu_us, &templated[0].cpu_us));
    let what = "CPU time per request, a journey of five steps with two extractions and three checks, of a plain request's";
    rows.extend(ratio(what.to_owned(), travelled, Some(Bar::AtMost(2.5))));
    let beside_none = Mean::of(&watched.of_alone);
    rows.push(Row {
        what: format!("{time}, the server watched (`--observe auto`), of that with `--observe none`: mean of {watchings}"),
        bar: format!("at most {WATCHED_MOST}"),
        measured: beside_none.text(3),
        verdict: beside_none.is_at_most(WATCHED_MOST).map_or("cannot be told", verdict),
    });
    rows.extend(ratio(format!("throughput at {connections_many} connections, of wrk's"), ours(many, qps), Some(Bar::AtLeast(1.3))));

    let mebi = f64::from(1 << 20);
    if let Some(level) = many.iter().find(|level| level.tool == Tool::Loadline) {
        let memory = Spread::of(&level.memory_bytes.iter().map(|bytes| bytes / mebi).collect::<Vec<_>>());
        let bar = 15.0 + 1.5 * f64::from(connections_many) / 1024.0;
        rows.push(Row {
            what: format!("memory at {connections_many} connections"),
            bar: format!("at most 15 MiB + 1.5 KiB a connection = {bar:.1} MiB"),
            measured: format!("{} MiB", memory.text(1)),
            verdict: verdict(memory.median <= bar),
        });
    }
    let mut below = |what: String, figures: &[f64], decimals: usize, unit: &str, word: &str, bar: f64| {
        let spread = Spread::of(figures);
        let met = if word == "under" { spread.median < bar } else { spread.median <= bar };
        rows.push(Row {
            what,
            bar: format!("{word} {bar} {unit}"),
            measured: format!("{} {unit}", spread.text(decimals)),
            verdict: verdict(met),
        });
    };
    let [few, wide] = travelling;
    let more = f64::from(connections_many - connections) * 1024.0;
    let each: Vec<f64> = few.iter().zip(wide).map(|(few, wide)| (wide - few) / more).collect();
    let what = format!("memory of each of {connections_many} users on that journey, with its connection, more than {connections} users'");
    below(what, &each, 2, "KiB", "at most", USER_KIBIBYTES_MAX);
    let [plain, filled, _] = templated;
    let more: Vec<f64> = filled.user_us.iter().zip(&plain.user_us).map(|(filled, plain)| filled - plain).collect();
    let what = "CPU time per request outside the kernel, a URL with `{{sequence}}` and `{{uuid}}`, more than a plain one's";
    below(what.to_owned(), &more, 2, "µs", "at most", 0.3);
    below("processor time of watching the server, of a core".to_owned(), &watched.cost_percent, 2, "%", "under", 1.0);
    below(format!("lag at {rate}/s even, p99"), &open.lag_p99_us, 0, "µs", "at most", 150.0);
    below(format!("achieved rate at {rate}/s, off by"), &open.rate_off_percent, 3, "%", "at most", 0.1);
    let again = format!("`loadline replay` of {} lines a minute ({replay_rate}/s)", u64::from(replay_rate) * 60);
    below(format!("{again}, processor time, of a core"), &resent.cpu_percent, 0, "%", "at most", 80.0);
    below(format!("{again}, achieved rate, off by"), &resent.rate_off_percent, 3, "%", "at most", 0.5);
    below("`loadline --version`".to_owned(), &startup.version_ms, 1, "ms", "under", 5.0);
    below("`loadline run -c 1 -n 1` on loopback, saved in the history".to_owned(), &startup.one_request_ms, 1, "ms", "under", 20.0);
    let added: Vec<f64> = startup.first_ms.iter().zip(&startup.first_alone_ms).map(|(saved, alone)| saved - alone).collect();
    let what = "from its start until its request arrives, what saving and watching add (to `--no-save --observe none`)";
    below(what.to_owned(), &added, 1, "ms", "at most", ADDED_MS_MAX);
    below(format!("`loadline runs --all`, {runs_saved} saved runs"), &startup.list_ms, 0, "ms", "under", 100.0);
    below(format!("`loadline report` of {ticks} seconds to a page"), &startup.page_ms, 0, "ms", "under", 300.0);
    below("processor time of a live page that is looked at, of a core".to_owned(), &startup.live_percent, 2, "%", "under", 1.0);
    let Extent { places, sites, .. } = *extent;
    below("CPU time per request of four processes, of that of one".to_owned(), &several.four_of_one, 2, "times", "at most", 1.05);
    let begins = |what: &str| format!("from the start until the first request, {places} {what}");
    below(begins("processes"), &several.processes_ms, 0, "ms", "at most", 1_000.0);
    if !several.fleet_ms.is_empty() {
        below(begins("agents that wait at a NATS server"), &several.fleet_ms, 0, "ms", "at most", 1_000.0);
    }
    if !several.ssh_ms.is_empty() {
        let alone = Spread::of(&several.logins_ms).text(0);
        let what = format!("places over SSH on loopback that have the program (as many logins at once that run `true`: {alone} ms)");
        below(begins(&what), &several.ssh_ms, 0, "ms", "at most", 2_000.0);
    }
    let commander = format!("a commander of {sites} processes on this machine");
    below(format!("{commander}, processor time, of a core"), &several.commander_percent, 1, "%", "at most", 10.0);
    let bytes: Vec<f64> = several.commander_bytes.iter().map(|bytes| bytes / mebi).collect();
    below(format!("{commander}, peak memory"), &bytes, 0, "MiB", "at most", 64.0);
    below(
        "CPU time per request with a row of its own in a result file (`--out jtl=FILE`), more than without".to_owned(),
        &files.written_us,
        2,
        "µs",
        "at most",
        1.0,
    );
    below("rows left out of it, since the file was too slow for them".to_owned(), &files.left_out_percent, 2, "%", "at most", 0.0);
    rows.extend(test_plans(extent, plans));
    rows.push(read_rows(extent, files));
    rows.extend(read_logs(extent, logs));
    rows
}

/// What test plans of JMeter cost beside JMeter.
fn test_plans(extent: &Extent, plans: &Plans) -> Vec<Row> {
    let threads = extent.connections / 2;
    let measured = plans.of_jmeter.iter().zip(&plans.jmeter_us).zip(PLANS).filter(|((of_jmeter, _), _)| !of_jmeter.is_empty());
    let rows = measured.map(|((of_jmeter, jmeter_us), (_, about, most))| {
        let spread = Spread::of(of_jmeter);
        Row {
            what: format!("CPU time per request, {about}, {threads} threads, of JMeter's {} µs", Spread::of(jmeter_us).text(0)),
            bar: format!("at most {most:.2}"),
            measured: spread.text(3),
            verdict: verdict(spread.median <= most),
        }
    });
    let mebi = Spread::of(&plans.many_bytes.iter().map(|bytes| bytes / f64::from(1 << 20)).collect::<Vec<_>>());
    let memory = Row {
        what: format!("memory of the plan of one GET with {} threads", extent.connections_many),
        bar: format!("at most {THREADS_MEBI_MAX} MiB"),
        measured: format!("{} MiB", mebi.text(1)),
        verdict: verdict(mebi.median <= THREADS_MEBI_MAX),
    };
    rows.chain([memory]).collect()
}

/// With ten thousand threads of a plan; JMeter has a thread of the system for each.
const THREADS_MEBI_MAX: f64 = 64.0;

/// What reading result files costs.
fn read_rows(extent: &Extent, files: &Rows) -> Row {
    let speed = Spread::of(&files.megabytes_a_second);
    Row {
        what: format!("`loadline report` of a result file of {} MiB in JMeter's form, a core", extent.rows_mebi),
        bar: format!("at least {ROWS_MEGABYTES_A_SECOND_MIN} MB a second"),
        measured: format!("{} MB a second", speed.text(0)),
        verdict: verdict(speed.median >= ROWS_MEGABYTES_A_SECOND_MIN),
    }
}

const ROWS_MEGABYTES_A_SECOND_MIN: f64 = 200.0;

/// What reading access logs costs.
fn read_logs(extent: &Extent, logs: &Logs) -> Vec<Row> {
    let Extent { log_mebi, stream_mebi, .. } = *extent;
    let speed = Spread::of(&logs.megabytes_a_second);
    let mut rows = vec![Row {
        what: format!("`loadline traffic` of {log_mebi} MiB of nginx's combined form, a core"),
        bar: format!("at least {LOG_MEGABYTES_A_SECOND_MIN} MB a second"),
        measured: format!("{} MB a second", speed.text(0)),
        verdict: verdict(speed.median >= LOG_MEGABYTES_A_SECOND_MIN),
    }];
    if !logs.goaccess_s.is_empty() {
        let ratio_of = Spread::of_ratios(&logs.goaccess_s, &logs.loadline_s);
        rows.extend(ratio("GoAccess' time for the same file, of loadline's".to_owned(), Some(ratio_of), Some(Bar::AtLeast(5.0))));
    }
    let first = Spread::of(&logs.memory_bytes).median;
    let longer: Vec<f64> = logs.memory_bytes_long.iter().map(|bytes| bytes / first).collect();
    let what = format!("peak memory with {stream_mebi} MiB from a pipe, of that with {log_mebi} MiB");
    rows.extend(ratio(what, Some(Spread::of(&longer)), Some(Bar::AtMost(1.1))));
    rows
}

const LOG_MEGABYTES_A_SECOND_MIN: f64 = 400.0;

/// What scripts cost: beside wrk with the same, beside a bare loop that runs none, and beside no script.
fn scripts(scripted: &[Scripted]) -> impl Iterator<Item = Row> {
    let of = |tool, script| scripted.iter().find(|one| one.level.tool == tool && one.script == script).map(|one| &one.level.cpu_us);
    let over = |what: &str, over: Option<&Vec<f64>>, under: Option<&Vec<f64>>, bar| {
        ratio(what.to_owned(), Some(Spread::of_ratios(over?, under?)), bar)
    };
    let beside_wrk = |tool, script, what: &str, bar| over(what, of(tool, Some(script)), of(Tool::Wrk, Some(script)), bar);
    let most = Some(Bar::AtMost(0.8));
    let path = "CPU time per request, a script whose `request` makes a new path, of wrk's";
    let path_floor = "the same, the bare loop's, which runs no script and sends one path again and again";
    let response = "CPU time per request, a script whose `response` is given 1 KiB, of wrk's";
    let response_floor = "the same, the bare loop's, which runs no script and reads past the 1 KiB";
    let settings = "CPU time per request, a script without functions, of no script's";
    let rows = [
        beside_wrk(Tool::Loadline, "path.lua", path, most),
        beside_wrk(Tool::Bare, "path.lua", path_floor, None),
        beside_wrk(Tool::Loadline, "response.lua", response, most),
        beside_wrk(Tool::Bare, "response.lua", response_floor, None),
        // As near to nothing as these rounds can tell.
        over(settings, of(Tool::Loadline, Some("settings.lua")), of(Tool::Loadline, None), Some(Bar::AtMost(1.03))),
    ];
    rows.into_iter().flatten()
}

/// What a ratio has to be.
#[derive(Debug, Clone, Copy)]
enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

/// The row of a ratio, if both took part.
fn ratio(what: String, ratio: Option<Spread>, bar: Option<Bar>) -> Option<Row> {
    let ratio = ratio?;
    let (bar, verdict) = match bar {
        None => ("–".to_owned(), ""),
        Some(Bar::AtMost(most)) => (format!("at most {most:.2}"), verdict(ratio.median <= most)),
        Some(Bar::AtLeast(least)) => (format!("at least {least}"), verdict(ratio.median >= least)),
    };
    Some(Row { what, bar, measured: ratio.text(2), verdict })
}

/// How far loadline is from the floor of the machine, and how far the floor is from wrk.
fn floor(time: &str, levels: &[Level]) -> impl Iterator<Item = Row> {
    let cpu: fn(&Level) -> &Vec<f64> = |level| &level.cpu_us;
    let above = ratio(
        format!("{time}, of a bare loop's (no parsing, no clock, nothing recorded)"),
        of_two(levels, Tool::Loadline, Tool::Bare, cpu),
        None,
    );
    let least = ratio(
        format!("{time}: the bare loop's, of wrk's: what one send and one receive a request cost on this machine"),
        of_two(levels, Tool::Bare, Tool::Wrk, cpu),
        None,
    );
    above.into_iter().chain(least)
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
