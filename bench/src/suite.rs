//! What is measured, in which order.
//!
//! Tools take turns, and each round begins with another one, so that a machine that warms up or is disturbed does not
//! favour a place in the line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::Value;

use crate::counting::CountingServer;
use crate::launch::{Busy, Ran, Usage, now_us, run_anywhere, run_on};
use crate::machine::{Machine, Programs};
use crate::nghttpd::Nghttpd;
use crate::nginx::Nginx;
use crate::plans::{Plans, Runs};
use crate::rows::{Files, Rows};
use crate::spread::{self, Fleet, Several, SshPlaces};
use crate::tool::{Count, Tool};
use crate::{logs, page, saved};

/// Requests at once on each connection of HTTP/2.
pub(crate) const STREAMS: u32 = 100;
/// As many connections have that many.
pub(crate) const STREAMED_CONNECTIONS: u32 = 10;
/// The same of HTTP/3 and gRPC, whose servers take more time for each.
pub(crate) const STREAMS_FEW: u32 = 10;

/// Turns of this length show whether the server is watched: it is looked at once a second.
const WATCHED_SECONDS_MOST: u32 = 3;

/// How much of everything.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    /// How often every tool takes its turn.
    pub rounds: usize,
    /// The length of one turn.
    pub seconds: u32,
    /// How often the server is watched in two turns and left alone in two.
    pub watchings: usize,
    /// Keep-alive connections of the steady load.
    pub connections: u32,
    /// Connections of the wide load.
    pub connections_many: u32,
    /// Requests a second of the open load.
    pub rate: u32,
    /// How many times loadline is started.
    pub starts: usize,
    /// Runs in the history that is listed.
    pub runs_saved: u32,
    /// Seconds of the run that is rendered.
    pub ticks: u32,
    /// MiB of the log that is read from a file.
    pub log_mebi: u64,
    /// MiB of the result file that is read.
    pub rows_mebi: u64,
    /// MiB of the log that is read from a pipe, to see that memory does not grow.
    pub stream_mebi: u64,
    /// Lines a second of the log that is sent again.
    pub replay_rate: u32,
    /// Processes, and agents, whose start is timed.
    pub places: u32,
    /// Sites of one commander.
    pub sites: u32,
}

impl Extent {
    /// What the page is made from.
    pub const FULL: Self = Self {
        rounds: 5,
        seconds: 5,
        watchings: 24,
        connections: 100,
        connections_many: 10_000,
        rate: 20_000,
        starts: 50,
        runs_saved: 10_000,
        ticks: 3_600,
        log_mebi: 512,
        rows_mebi: 512,
        stream_mebi: 10_240,
        // A million a minute.
        replay_rate: 17_000,
        places: 10,
        sites: 200,
    };
    /// Only to see that everything works; the rate is high enough for a 99th percentile to be told.
    pub const SHORT: Self = Self {
        rounds: 1,
        seconds: 1,
        watchings: 1,
        connections: 10,
        connections_many: 100,
        rate: 2_000,
        starts: 2,
        runs_saved: 100,
        ticks: 60,
        log_mebi: 4,
        rows_mebi: 4,
        stream_mebi: 8,
        replay_rate: 2_000,
        places: 2,
        sites: 4,
    };
}

/// One tool over all rounds of one load.
#[derive(Debug, Clone)]
pub struct Level {
    /// Which.
    pub tool: Tool,
    /// Processor time per request in microseconds, round by round.
    pub cpu_us: Vec<f64>,
    /// The part of it spent outside the kernel.
    pub user_us: Vec<f64>,
    /// Answers a second.
    pub qps: Vec<f64>,
    /// Peak resident memory in bytes.
    pub memory_bytes: Vec<f64>,
}

/// One tool with one script, or none.
#[derive(Debug, Clone)]
pub struct Scripted {
    /// The file below `bench/scripts`; `None`: no script.
    pub script: Option<&'static str>,
    /// What was measured.
    pub level: Level,
}

/// Who is measured with which script. The bare loop runs none: it sends one request for what the script asks for, over and over.
const SCRIPTED: &[(Tool, Option<&str>)] = &[
    (Tool::Loadline, None),
    (Tool::Loadline, Some("settings.lua")),
    (Tool::Loadline, Some("path.lua")),
    (Tool::Wrk, Some("path.lua")),
    (Tool::Bare, Some("path.lua")),
    (Tool::Loadline, Some("response.lua")),
    (Tool::Wrk, Some("response.lua")),
    (Tool::Bare, Some("response.lua")),
];

/// The open load over all rounds.
#[derive(Debug, Clone, Default)]
pub struct Steady {
    /// How late requests were sent, p50, in microseconds.
    pub lag_p50_us: Vec<f64>,
    /// The same, p99.
    pub lag_p99_us: Vec<f64>,
    /// How far the achieved rate was from the asked one, in percent.
    pub rate_off_percent: Vec<f64>,
    /// Cores used.
    pub cpu_share: Vec<f64>,
}

/// What it costs to watch the server.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Processor time that watching took by its own account, as a share of a core, in percent.
    pub cost_percent: Vec<f64>,
    /// Processor time per request of two turns that were watched, of that of the two beside them that were not.
    pub of_alone: Vec<f64>,
}

/// A log sent again, over all rounds.
#[derive(Debug, Clone, Default)]
pub struct Resent {
    /// How far the achieved rate was from that of the log at its speed, in percent.
    pub rate_off_percent: Vec<f64>,
    /// Processor time of the whole process, reading the log twice included, as a share of a core while it was sent, in percent.
    pub cpu_percent: Vec<f64>,
}

/// Times of short commands, in milliseconds.
#[derive(Debug, Clone, Default)]
pub struct Startup {
    /// `loadline --version`.
    pub version_ms: Vec<f64>,
    /// `loadline run -c 1 -n 1`, saved in a history that is there.
    pub one_request_ms: Vec<f64>,
    /// The same, until its request arrives.
    pub first_ms: Vec<f64>,
    /// The same of a run that is neither saved nor watched.
    pub first_alone_ms: Vec<f64>,
    /// `loadline runs --all`.
    pub list_ms: Vec<f64>,
    /// `loadline report`, of a long run to its page.
    pub page_ms: Vec<f64>,
    /// Processor time that a live page with a browser on it takes, as a share of a core.
    pub live_percent: Vec<f64>,
}

/// Reading an access log, round by round.
#[derive(Debug, Clone, Default)]
pub struct Logs {
    /// How long `loadline traffic` takes for a file, in seconds.
    pub loadline_s: Vec<f64>,
    /// How long GoAccess takes for it; empty where it is not installed.
    pub goaccess_s: Vec<f64>,
    /// Millions of bytes in a second of loadline's processor time.
    pub megabytes_a_second: Vec<f64>,
    /// loadline's peak resident memory with the file, in bytes.
    pub memory_bytes: Vec<f64>,
    /// The same with a log that is longer by far.
    pub memory_bytes_long: Vec<f64>,
}

/// Everything that was measured.
#[derive(Debug, Clone)]
pub struct Findings {
    /// Keep-alive connections over http.
    pub plain: Vec<Level>,
    /// Very many of them.
    pub many: Vec<Level>,
    /// Keep-alive connections over https.
    pub encrypted: Vec<Level>,
    /// The same with the generator's core shared, so that the server waits for the generator and never the other way round.
    pub encrypted_crowded: Vec<Level>,
    /// HTTP/2 with many requests at once on few connections, in cleartext and with TLS; empty where nghttpd is not installed.
    pub multiplexed: [Vec<Level>; 2],
    /// HTTP/1.1 on nginx, and HTTP/2 with one request at a time on each connection.
    pub one_stream: Vec<Level>,
    /// The same with the generator's core shared.
    pub one_stream_crowded: Vec<Level>,
    /// HTTP/3 with many requests at once on few connections, and with one; empty where its server was not built.
    pub http3: [Vec<Level>; 2],
    /// gRPC in the same ways; empty where its server was not built.
    pub grpc: [Vec<Level>; 2],
    /// Keep-alive connections over http, with wrk's scripts.
    pub scripted: Vec<Scripted>,
    /// loadline over http with the plain URL, with one that is a template, and with a journey of five steps: in turns.
    pub templated: [Level; 3],
    /// Peak resident memory in bytes with users on that journey, round by round: as many as connections of the steady load, and as of
    /// the wide one.
    pub travelling: [Vec<f64>; 2],
    /// Watching the server, or not.
    pub watched: Watched,
    /// Open load.
    pub open: Steady,
    /// A log sent again.
    pub resent: Resent,
    /// Starting.
    pub startup: Startup,
    /// Logs.
    pub logs: Logs,
    /// Several processes.
    pub several: Several,
    /// Test plans beside JMeter.
    pub plans: Plans,
    /// Result files in JMeter's form.
    pub rows: Rows,
}

/// Measures everything.
///
/// # Errors
/// If there are fewer than two cores, or a tool cannot be run, fails requests, or says something that is not understood.
pub fn run(machine: &Machine, programs: &Programs, loadline: &Path, extent: &Extent) -> Result<Findings> {
    if machine.cores.len() < 2 {
        bail!("generator and server need a core each, and this process may use {}", machine.cores.len());
    }
    allow_files(extent)?;
    let nginx = Nginx::start(machine.server_core(), extent.connections_many)?;
    let suite = Suite { machine, loadline, extent, nginx: &nginx };
    let installed = |tools: &[Tool]| programs.installed(tools);
    let everyone = installed(&[Tool::Loadline, Tool::Wrk, Tool::Ab, Tool::LoadlineAb, Tool::H2load, Tool::Bare]);
    let with_wrk = installed(&[Tool::Loadline, Tool::Wrk]);
    let with_floor = installed(&[Tool::Loadline, Tool::Wrk, Tool::Bare]);
    Ok(Findings {
        plain: suite.closed("plain", &everyone, &nginx.http(), extent.connections, None)?,
        encrypted: suite.closed("https", &with_floor, &nginx.https(), extent.connections, Some(&nginx.certificate()))?,
        encrypted_crowded: {
            let _busy = Busy::on(machine.generator_core());
            suite.closed("https, generator's core shared", &with_floor, &nginx.https(), extent.connections, Some(&nginx.certificate()))?
        },
        multiplexed: suite.multiplexed(&installed(&[Tool::LoadlineHttp2(STREAMS), Tool::H2loadHttp2(STREAMS)]))?,
        one_stream: suite.one_stream("one stream a connection", &installed)?,
        one_stream_crowded: {
            let _busy = Busy::on(machine.generator_core());
            suite.one_stream("one stream a connection, generator's core shared", &installed)?
        },
        http3: suite.http3(&installed)?,
        grpc: suite.grpc(&installed)?,
        scripted: suite.scripted(&installed)?,
        templated: suite.templated()?,
        travelling: suite.travelling()?,
        watched: suite.watched()?,
        open: suite.open()?,
        resent: suite.resent()?,
        startup: suite.startup()?,
        logs: suite.logs(programs)?,
        several: suite.several()?,
        plans: suite.plans()?,
        rows: suite.rows()?,
        many: suite.closed("many connections", &with_wrk, &nginx.http(), extent.connections_many, None)?,
    })
}

/// HTTP/3 and gRPC alone, as the page has them.
///
/// # Errors
/// As [`run`].
pub fn protocols(machine: &Machine, programs: &Programs, loadline: &Path, extent: &Extent) -> Result<String> {
    let nginx = Nginx::start(machine.server_core(), extent.connections_many)?;
    let suite = Suite { machine, loadline, extent, nginx: &nginx };
    let installed = |tools: &[Tool]| programs.installed(tools);
    Ok(page::protocols(&suite.http3(&installed)?, &suite.grpc(&installed)?))
}

/// Lets this process open as many files as the wide load needs.
///
/// # Errors
/// If it may not.
pub(crate) fn allow_files(extent: &Extent) -> Result<()> {
    let files_needed = u64::from(extent.connections_many) + 256;
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if hard < files_needed {
        bail!("{} connections need {files_needed} open files, and this process may open {hard}", extent.connections_many);
    }
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    Ok(())
}

impl Level {
    const fn none(tool: Tool) -> Self {
        Self { tool, cpu_us: vec![], user_us: vec![], qps: vec![], memory_bytes: vec![] }
    }

    fn take(&mut self, usage: &Usage, count: Count) {
        self.cpu_us.push(usage.cpu_us as f64 / count.requests as f64);
        self.user_us.push(usage.user_us as f64 / count.requests as f64);
        self.qps.push(count.qps);
        self.memory_bytes.push(usage.memory_bytes_max as f64);
    }
}

/// loadline drains what it sent, so its count and the server's are the same. The others leave requests behind at their end.
fn agree(before: u64, after: u64, counted: u64) -> Result<()> {
    let received = after - before;
    if received != counted {
        bail!("loadline counted {counted} requests, and the server received {received}");
    }
    Ok(())
}

/// A server as tools meet it.
struct Against<'a> {
    /// What each of them loads.
    url: &'a dyn Fn(Tool) -> String,
    /// The certificate to trust.
    trust: Option<&'a Path>,
    /// Requests the server received so far.
    requests: &'a dyn Fn() -> Result<u64>,
}

struct Suite<'a> {
    machine: &'a Machine,
    loadline: &'a Path,
    extent: &'a Extent,
    nginx: &'a Nginx,
}

impl Suite<'_> {
    fn closed(&self, what: &str, tools: &[Tool], url: &str, connections: u32, trust: Option<&Path>) -> Result<Vec<Level>> {
        let nginx = Against { url: &|_| url.to_owned(), trust, requests: &|| self.nginx.requests() };
        self.closed_at(what, tools, &nginx, connections)
    }

    /// HTTP/2 as h2load is made for it.
    fn multiplexed(&self, tools: &[Tool]) -> Result<[Vec<Level>; 2]> {
        let Some(nghttpd) = Nghttpd::start(self.machine.server_core())? else { return Ok(Default::default()) };
        let connections = STREAMED_CONNECTIONS;
        Ok([
            self.closed("HTTP/2", tools, &nghttpd.http(), connections, None)?,
            self.closed("HTTP/2 over TLS", tools, &nghttpd.https(), connections, Some(&nghttpd.certificate()))?,
        ])
    }

    /// HTTP/3 beside oha and the smallest loop over the library that speaks QUIC.
    fn http3(&self, installed: &dyn Fn(&[Tool]) -> Vec<Tool>) -> Result<[Vec<Level>; 2]> {
        let Some(server) = CountingServer::of_http3(self.machine.server_core())? else { return Ok(Default::default()) };
        let levels = |what, connections, streams| {
            let tools = installed(&[Tool::LoadlineHttp3(streams), Tool::Oha(streams), Tool::BareHttp3(streams)]);
            let server = Against { url: &|_| server.url.clone(), trust: Some(&server.certificate()), requests: &|| server.requests() };
            self.closed_at(what, &tools, &server, connections)
        };
        Ok([levels("HTTP/3", STREAMED_CONNECTIONS, STREAMS_FEW)?, levels("HTTP/3, one stream a connection", STREAMED_CONNECTIONS, 1)?])
    }

    /// gRPC beside ghz, whose calls share connections, and beside k6, whose users have one each.
    fn grpc(&self, installed: &dyn Fn(&[Tool]) -> Vec<Tool>) -> Result<[Vec<Level>; 2]> {
        let Some(server) = CountingServer::of_grpc(self.machine.server_core())? else { return Ok(Default::default()) };
        let levels = |what, streams, peer| {
            let tools = installed(&[Tool::LoadlineGrpc(streams), peer]);
            let server = Against { url: &|_| server.url.clone(), trust: None, requests: &|| server.requests() };
            self.closed_at(what, &tools, &server, STREAMED_CONNECTIONS)
        };
        Ok([levels("gRPC", STREAMS_FEW, Tool::Ghz(STREAMS_FEW))?, levels("gRPC, one call a connection", 1, Tool::K6)?])
    }

    /// HTTP/2 without its gain, beside HTTP/1.1.
    fn one_stream(&self, what: &str, installed: &dyn Fn(&[Tool]) -> Vec<Tool>) -> Result<Vec<Level>> {
        let tools = installed(&[Tool::Loadline, Tool::LoadlineHttp2(1), Tool::H2loadHttp2(1)]);
        let url = |tool| if tool == Tool::Loadline { self.nginx.http() } else { self.nginx.http2() };
        let nginx = Against { url: &url, trust: None, requests: &|| self.nginx.requests() };
        self.closed_at(what, &tools, &nginx, self.extent.connections)
    }

    fn closed_at(&self, what: &str, tools: &[Tool], server: &Against<'_>, connections: u32) -> Result<Vec<Level>> {
        let mut levels: Vec<Level> = tools.iter().map(|tool| Level::none(*tool)).collect();
        for round in 0..self.extent.rounds {
            for turn in 0..tools.len() {
                let level = &mut levels[(round + turn) % tools.len()];
                let url = (server.url)(level.tool);
                let command = level.tool.command(self.loadline, &url, connections, self.extent.seconds, server.trust, None);
                let before = (server.requests)()?;
                let Ran { usage, stdout, stderr } = run_on(self.machine.generator_core(), &command)?;
                let count = level.tool.count(&stdout).with_context(|| stderr)?;
                if level.tool.is_counted_by_server() {
                    agree(before, (server.requests)()?, count.requests)?;
                }
                level.take(&usage, count);
                eprintln!("{what}, round {}: {} made {} requests", round + 1, level.tool.name(), count.requests);
            }
        }
        Ok(levels)
    }

    fn scripted(&self, installed: &dyn Fn(&[Tool]) -> Vec<Tool>) -> Result<Vec<Scripted>> {
        let mut all: Vec<Scripted> = SCRIPTED
            .iter()
            .filter(|(tool, _)| installed(&[*tool]).len() == 1)
            .map(|(tool, script)| Scripted { script: *script, level: Level::none(*tool) })
            .collect();
        let count = all.len();
        for round in 0..self.extent.rounds {
            for turn in 0..count {
                let Scripted { script, level } = &mut all[(round + turn) % count];
                let path = script.map(|name| format!("{}/scripts/{name}", env!("CARGO_MANIFEST_DIR")));
                let Extent { connections, seconds, .. } = *self.extent;
                let url = match (level.tool, *script) {
                    (Tool::Bare, Some("path.lua")) => format!("{}item/123456", self.nginx.http()),
                    (Tool::Bare, Some("response.lua")) => format!("{}kilobyte", self.nginx.http()),
                    _ => self.nginx.http(),
                };
                let command = level.tool.command(self.loadline, &url, connections, seconds, None, path.as_deref());
                let Ran { usage, stdout, stderr } = run_on(self.machine.generator_core(), &command)?;
                let count = level.tool.count(&stdout).with_context(|| stderr)?;
                level.take(&usage, count);
                let script = script.unwrap_or("no script");
                eprintln!("{script}, round {}: {} made {} requests", round + 1, level.tool.name(), count.requests);
            }
        }
        Ok(all)
    }

    fn templated(&self) -> Result<[Level; 3]> {
        let url = self.nginx.http();
        let urls = [url.clone(), format!("{url}?n={{{{sequence}}}}&id={{{{uuid}}}}"), url];
        let mut levels = [Level::none(Tool::Loadline), Level::none(Tool::Loadline), Level::none(Tool::Loadline)];
        for round in 0..self.extent.rounds {
            for turn in 0..urls.len() {
                let at = (round + turn) % urls.len();
                let Extent { connections, seconds, .. } = *self.extent;
                let mut command = Tool::Loadline.command(self.loadline, &urls[at], connections, seconds, None, None);
                if at == 2 {
                    command.extend(journey());
                }
                let before = self.nginx.requests()?;
                let Ran { usage, stdout, stderr } = run_on(self.machine.generator_core(), &command)?;
                let count = Tool::Loadline.count(&stdout).with_context(|| stderr)?;
                self.agree(before, count.requests)?;
                levels[at].take(&usage, count);
                let what = ["the plain URL", "a template", "a journey of five steps"][at];
                eprintln!("requests that differ, round {}: {} with {what}", round + 1, count.requests);
            }
        }
        Ok(levels)
    }

    /// Users on a journey, few and many.
    fn travelling(&self) -> Result<[Vec<f64>; 2]> {
        let Extent { connections, connections_many, seconds, rounds, .. } = *self.extent;
        let mut memory = [Vec::new(), Vec::new()];
        for round in 0..rounds {
            for (users, memory) in [connections, connections_many].into_iter().zip(&mut memory) {
                let mut command = Tool::Loadline.command(self.loadline, &self.nginx.http(), users, seconds, None, None);
                command.extend(journey());
                let Ran { usage, stdout, stderr } = run_on(self.machine.generator_core(), &command)?;
                let count = Tool::Loadline.count(&stdout).with_context(|| stderr)?;
                memory.push(usage.memory_bytes_max as f64);
                eprintln!("journeys, round {}: {} requests of {users} users", round + 1, count.requests);
            }
        }
        Ok(memory)
    }

    fn plans(&self) -> Result<Plans> {
        let Extent { connections, connections_many, seconds, rounds, .. } = *self.extent;
        let runs = Runs {
            loadline: self.loadline,
            core: self.machine.generator_core(),
            port: self.nginx.port(),
            // Half of those of the steady load: JMeter has a thread for each.
            users: connections / 2,
            // What a virtual machine learns on the way has its time.
            seconds: 2 * seconds,
        };
        runs.measure(rounds, connections_many)
    }

    fn rows(&self) -> Result<Rows> {
        let Extent { connections, seconds, rounds, rows_mebi: mebi, .. } = *self.extent;
        let url = self.nginx.http();
        Files { loadline: self.loadline, core: self.machine.generator_core(), url, connections, seconds, mebi }.measure(rounds)
    }

    /// Under the steady load, in turns of which each round has two of both, mirrored, so that a drift favours neither.
    /// Single turns differ by several percent whoever watches, so there are many short ones, and what is compared lies side by side.
    fn watched(&self) -> Result<Watched> {
        let Extent { connections, seconds, watchings, .. } = *self.extent;
        let mut all = Watched::default();
        for time in 0..watchings {
            // Processor time and requests, watched and alone.
            let mut spent = [(0, 0); 2];
            let mut costs = Vec::new();
            for alone in [0, 1, 1, 0].map(|turn| (turn + time) % 2) {
                let url = self.nginx.http();
                let mut command = Tool::Loadline.command(self.loadline, &url, connections, seconds.min(WATCHED_SECONDS_MOST), None, None);
                command.extend(["--observe", ["auto", "none"][alone]].map(str::to_owned));
                let Ran { usage, stdout, stderr } = run_on(self.machine.generator_core(), &command)?;
                spent[alone].0 += usage.cpu_us;
                spent[alone].1 += Tool::Loadline.count(&stdout).with_context(|| stderr)?.requests;
                if alone == 0 {
                    costs.push(watching_percent(&stdout)?);
                }
            }
            let [watched, alone] = spent.map(|(cpu_us, requests)| cpu_us as f64 / requests as f64);
            all.cost_percent.push(costs.iter().sum::<f64>() / costs.len() as f64);
            all.of_alone.push(watched / alone);
            eprintln!("watching the server, {} of {watchings}: {watched:.2} µs a request, and {alone:.2} µs without", time + 1);
        }
        Ok(all)
    }

    fn agree(&self, before: u64, counted: u64) -> Result<()> {
        agree(before, self.nginx.requests()?, counted)
    }

    fn open(&self) -> Result<Steady> {
        let mut steady = Steady::default();
        let Extent { rate, connections, seconds, .. } = *self.extent;
        let command = format!(
            "{} run -t 1 -r {rate}/s --arrivals even -c {connections} -d {seconds}s --quiet --out json=- {}",
            self.loadline.display(),
            self.nginx.http()
        );
        let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
        for round in 0..self.extent.rounds {
            let before = self.nginx.requests()?;
            let ran = run_on(self.machine.generator_core(), &command)?;
            let count = Tool::Loadline.count(&ran.stdout)?;
            self.agree(before, count.requests)?;
            let result: Value = serde_json::from_str(&ran.stdout)?;
            let number =
                |pointer: &str| result.pointer(pointer).and_then(Value::as_f64).with_context(|| format!("no {pointer} in the result"));
            steady.lag_p50_us.push(number("/lag/quantiles/0.5")? / 1e3);
            steady.lag_p99_us.push(number("/lag/quantiles/0.99")? / 1e3);
            steady.rate_off_percent.push((number("/qps")? / f64::from(rate) - 1.0).abs() * 100.0);
            steady.cpu_share.push(number("/generator/cpu_share")?);
            eprintln!("open load, round {}: {} requests", round + 1, count.requests);
        }
        Ok(steady)
    }

    fn resent(&self) -> Result<Resent> {
        let Extent { replay_rate, connections, seconds, .. } = *self.extent;
        let dir = tempfile::tempdir()?;
        let log = dir.path().join("access.log");
        let mut out = BufWriter::new(File::create(&log)?);
        let lines = logs::write_lines(u64::from(replay_rate) * u64::from(seconds), &mut out)?;
        out.flush()?;
        // Orders are sent too, with empty bodies: the server answers whatever it is asked.
        let command = format!(
            "{} replay {} {} -t 1 --speed {}x --writes -c {connections} --no-save --quiet --out json=-",
            self.loadline.display(),
            log.display(),
            self.nginx.http(),
            f64::from(replay_rate) / logs::LINES_A_SECOND as f64
        );
        let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let mut resent = Resent::default();
        for round in 0..self.extent.rounds {
            let before = self.nginx.requests()?;
            let ran = run_on(self.machine.generator_core(), &command)?;
            let count = Tool::Loadline.count(&ran.stdout)?;
            self.agree(before, count.requests)?;
            if count.requests != lines {
                bail!("loadline sent {} requests of a log of {lines}", count.requests);
            }
            let result: Value = serde_json::from_str(&ran.stdout)?;
            let sent_s = result["duration_s"].as_f64().context("no duration_s in the result")?;
            resent.rate_off_percent.push((count.qps / f64::from(replay_rate) - 1.0).abs() * 100.0);
            resent.cpu_percent.push(ran.usage.cpu_us as f64 / 1e4 / sent_s);
            eprintln!("a log sent again, round {}: {lines} lines", round + 1);
        }
        Ok(resent)
    }

    fn startup(&self) -> Result<Startup> {
        let dir = tempfile::tempdir()?;
        let file = |name: &str| dir.path().join(name).display().to_string();
        let url = self.nginx.http();
        saved::history(&dir.path().join("many.db"), self.extent.runs_saved)?;
        self.command_ms(&format!("run -c 1 -d 1500ms --quiet --no-save --out json={} {url}", file("short.json")))?;
        saved::lengthened(&dir.path().join("short.json"), &dir.path().join("long.json"), self.extent.ticks)?;
        // The first makes the history.
        let one = format!("run -c 1 -n 1 --quiet --db {} {url}", file("history.db"));
        self.command_ms(&one)?;
        let arrivals = Arrivals::new()?;
        let first = |words: &str| {
            self.until_first_ms(&arrivals, &format!("{} run -c 1 -n 1 --quiet {words} {}", self.loadline.display(), arrivals.url))
        };
        let mut startup = Startup::default();
        for _ in 0..self.extent.starts {
            startup.version_ms.push(self.command_ms("--version")?);
            startup.one_request_ms.push(self.command_ms(&one)?);
            startup.first_ms.push(first(&format!("--db {}", file("history.db")))?);
            startup.first_alone_ms.push(first("--no-save --observe none")?);
            startup.list_ms.push(self.command_ms(&format!("runs --all --db {}", file("many.db")))?);
            startup.page_ms.push(self.command_ms(&format!("report {} --force --out html={}", file("long.json"), file("long.html")))?);
        }
        eprintln!("startup: {} times each", self.extent.starts);
        for round in 0..self.extent.rounds {
            startup.live_percent.push(self.live_percent()?);
            eprintln!("live page, round {}", round + 1);
        }
        Ok(startup)
    }

    fn logs(&self, programs: &Programs) -> Result<Logs> {
        let dir = tempfile::tempdir()?;
        let file = |name: &str| dir.path().join(name).display().to_string();
        let log = file("access.log");
        let mut out = BufWriter::new(File::create(&log)?);
        let lines = logs::write(self.extent.log_mebi << 20, &mut out)?;
        out.flush()?;
        let bytes = std::fs::metadata(&log)?.len() as f64;
        let loadline = self.loadline.display();
        let mut read = Logs::default();
        for round in 0..self.extent.rounds {
            let ours = format!("{loadline} traffic {log} --quiet --force --out json={}", file("traffic.json"));
            let usage = self.pinned(&ours)?;
            read.loadline_s.push(usage.elapsed_us as f64 / 1e6);
            read.megabytes_a_second.push(bytes / usage.cpu_us as f64);
            read.memory_bytes.push(usage.memory_bytes_max as f64);
            let told: Value = serde_json::from_slice(&std::fs::read(file("traffic.json"))?)?;
            if told["requests"].as_u64() != Some(lines) {
                bail!("loadline read {} requests of {lines}", told["requests"]);
            }
            if programs.goaccess {
                let theirs = format!("goaccess {log} --no-global-config --log-format=COMBINED -o {}", file("goaccess.json"));
                read.goaccess_s.push(self.pinned(&theirs)?.elapsed_us as f64 / 1e6);
            }
            eprintln!("logs, round {}: {lines} lines", round + 1);
        }
        // Who writes the long one is small, so the peak of both is loadline's.
        let writer = std::env::current_exe()?;
        let pipe = format!("'{}' logged {} | {loadline} traffic - --quiet", writer.display(), self.extent.stream_mebi);
        let usage = run_on(self.machine.generator_core(), &["sh".to_owned(), "-c".to_owned(), pipe])?.usage;
        read.memory_bytes_long.push(usage.memory_bytes_max as f64);
        eprintln!("logs: {} MiB from a pipe", self.extent.stream_mebi);
        Ok(read)
    }

    fn several(&self) -> Result<Several> {
        let Extent { rounds, seconds, connections, places, sites, .. } = *self.extent;
        let dir = tempfile::tempdir()?;
        let (file, url) = (dir.path().join("run.json"), self.nginx.http());
        let mut several = Several::default();
        for round in 0..rounds {
            let mut each = [0.0; 2];
            // Each round begins with the other.
            for turn in [round % 2, 1 - round % 2] {
                let words = format!("run {url} -c {connections} -t 4 -d {seconds}s --processes {} --no-save --observe none", [4, 1][turn]);
                let usage = self.pinned(&format!("{} {words} --quiet --force --out json={}", self.loadline.display(), file.display()))?;
                let told: Value = serde_json::from_slice(&std::fs::read(&file)?)?;
                let succeeded = told["requests"]["succeeded"].as_f64().filter(|count| *count > 0.0).context("no request succeeded")?;
                each[turn] = usage.cpu_us as f64 / succeeded;
            }
            several.four_of_one.push(each[0] / each[1]);
        }
        let arrivals = Arrivals::new()?;
        let words = format!("run -c {places} -t {places} -n {places} --no-save --observe none --quiet");
        // Over all cores, as a user starts it: what ssh reckons for ten logins is most of the time.
        let first = |command: &str| arrivals.until_first_ms(|| run_anywhere(command));
        let fleet = Fleet::start(self.loadline, places)?;
        let ssh = SshPlaces::start()?;
        let loadline = self.loadline.display();
        let over_ssh =
            |ssh: &SshPlaces| format!("{} {loadline} {words} --agents {} {}", ssh.prefix(), SshPlaces::agents(places), arrivals.url);
        if let Some(ssh) = &ssh {
            // The first brings the program there.
            first(&over_ssh(ssh))?;
        }
        for _ in 0..rounds {
            let local = format!("{loadline} {words} --processes {places} {}", arrivals.url);
            several.processes_ms.push(first(&local)?);
            if let Some(fleet) = &fleet {
                let waiting = format!("{loadline} {words} --agents {} {}", fleet.url, arrivals.url);
                several.fleet_ms.push(first(&waiting)?);
            }
            if let Some(ssh) = &ssh {
                several.ssh_ms.push(first(&over_ssh(ssh))?);
                several.logins_ms.push(ssh.logins_ms(places)?);
            }
        }
        drop((fleet, ssh));
        let (percent, bytes) = spread::commander(self.loadline, sites, &url)?;
        several.commander_percent.push(percent);
        several.commander_bytes.push(bytes);
        eprintln!("several processes: {rounds} rounds, and {sites} of one commander");
        Ok(several)
    }

    /// What these words cost, on the generator's core.
    fn pinned(&self, words: &str) -> Result<Usage> {
        let command: Vec<String> = words.split(' ').map(str::to_owned).collect();
        Ok(run_on(self.machine.generator_core(), &command)?.usage)
    }

    /// How long loadline takes for these words, on the generator's core.
    fn command_ms(&self, words: &str) -> Result<f64> {
        Ok(self.pinned(&format!("{} {words}", self.loadline.display()))?.elapsed_us as f64 / 1e3)
    }

    /// How long it takes until the first request of this command arrives, started on the generator's core.
    fn until_first_ms(&self, arrivals: &Arrivals, command: &str) -> Result<f64> {
        arrivals.until_first_ms(|| Ok(self.pinned(command)?.begun_us))
    }

    /// What the thread of the pages takes while a run goes on and somebody looks at it.
    fn live_percent(&self) -> Result<f64> {
        let seconds = self.extent.seconds + 2;
        let mut child = Command::new(self.loadline)
            .args(["run", "-c", "1", "-t", "1", "-r", "100/s", "-d", &format!("{seconds}s"), "--no-save", "--observe", "none", "--web"])
            .arg(self.nginx.http())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        // Held to the end, so that nothing it says meets a closed pipe.
        let mut said = BufReader::new(child.stderr.take().context("standard error is piped")?);
        let looked = look_at(child.id(), &mut said, self.extent.seconds);
        if looked.is_err() {
            let _ = child.kill();
        }
        child.wait()?;
        looked
    }
}

/// What watching took of a core, as the result of a run tells it, in percent.
fn watching_percent(stdout: &str) -> Result<f64> {
    let result: Value = serde_json::from_str(stdout)?;
    let watched = result["observed"].as_array().filter(|watched| !watched.is_empty()).context("nothing was watched")?;
    let spent: f64 = watched.iter().filter_map(|one| one["cost_cpu_ns"].as_f64()).sum();
    Ok(spent / 1e9 / result["duration_s"].as_f64().context("no duration_s")? * 100.0)
}

/// What makes a run one of journeys.
pub(crate) fn journey() -> [String; 2] {
    ["--scenario".to_owned(), format!("{}/scripts/journey.yaml", env!("CARGO_MANIFEST_DIR"))]
}

/// A server that says when requests arrive.
struct Arrivals {
    url: String,
    /// In microseconds since 1970-01-01, each the first of its connection.
    first: Receiver<u64>,
}

impl Arrivals {
    fn new() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/", listener.local_addr()?);
        let (tell, first) = channel();
        // It ends with the program, or with whoever is told.
        thread::spawn(move || {
            let mut request = [0; 4096];
            for mut stream in listener.incoming().map_while(Result::ok) {
                // A request of some two hundred bytes arrives whole on loopback.
                if !matches!(stream.read(&mut request), Ok(1..)) {
                    continue;
                }
                if tell.send(now_us()).is_err() {
                    return;
                }
                // Whoever is gone needs no answer.
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
                let _ = stream.read(&mut request);
            }
        });
        Ok(Self { url, first })
    }

    /// How long it takes until the first request arrives of a command that `run` carries out, which tells when it was started.
    fn until_first_ms(&self, run: impl FnOnce() -> Result<u64>) -> Result<f64> {
        // Those that came after the first of the command before.
        self.first.try_iter().for_each(drop);
        let begun_us = run()?;
        let arrived = self.first.try_iter().next().context("no request arrived")?;
        Ok(arrived.saturating_sub(begun_us) as f64 / 1e3)
    }
}

/// Follows the live page of a program that has just been started, as a browser does.
fn look_at(pid: u32, said: &mut BufReader<ChildStderr>, seconds: u32) -> Result<f64> {
    let address = said
        .lines()
        .map_while(Result::ok)
        .find_map(|line| Some(line.split_once("live at http://")?.1.trim_end_matches('/').to_owned()))
        .context("no address of a live page was said")?;
    let mut stream = TcpStream::connect(&address)?;
    write!(stream, "GET /api/v1/live/stream HTTP/1.1\r\nhost: {address}\r\n\r\n")?;
    let mut ticks = BufReader::new(stream).lines().map_while(Result::ok).filter(|line| line == "event: tick");
    ticks.next().context("the live page tells nothing")?;
    let (begun, before) = (Instant::now(), cpu_of_pages(pid)?);
    for _ in 0..seconds {
        ticks.next().context("the live page ended before its run")?;
    }
    let used = cpu_of_pages(pid)?.saturating_sub(before);
    Ok(used.as_secs_f64() / begun.elapsed().as_secs_f64() * 100.0)
}

/// Processor time of the threads that serve pages (`/proc/PID/task/TID/schedstat`, whose first number is nanoseconds on a core).
fn cpu_of_pages(pid: u32) -> Result<Duration> {
    let mut used = Duration::ZERO;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let task = task?.path();
        if std::fs::read_to_string(task.join("comm"))?.trim_end() == "pages" {
            let told = std::fs::read_to_string(task.join("schedstat"))?;
            used += Duration::from_nanos(told.split(' ').next().unwrap_or_default().parse()?);
        }
    }
    Ok(used)
}
