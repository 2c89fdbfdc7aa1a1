//! The tools: how each is asked for the same load, and how many requests it says it made.
//!
//! Counts come from a tool's own output, never from rate times duration. An answer that cannot be read, or tells of
//! errors, is an error here: a tool that failed half its requests would look cheap.

use std::mem::discriminant;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::bare::counted;

/// The method of gRPC that is called: its server is `scripts/grpcd`.
const METHOD: &str = "grpc.testing.TestService/UnaryCall";
/// With this, of five bytes.
const MESSAGE: &str = r#"{"payload":{"body":"aGVsbG8="}}"#;

/// The address of that method for loadline.
pub(crate) fn grpc_url(at: &str) -> String {
    format!("grpc://{at}/{METHOD}")
}

/// A program or a folder that `scripts/peers.sh` puts beside this one; `None` where it did not.
pub(crate) fn peer(name: &str) -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let path = program.parent()?.parent()?.join("peers").join(name);
    path.exists().then_some(path)
}

/// A load generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// The one this is about.
    Loadline,
    /// wrk.
    Wrk,
    /// ApacheBench, with keep-alive.
    Ab,
    /// loadline in ab's place, with the same words.
    LoadlineAb,
    /// h2load, speaking HTTP/1.1.
    H2load,
    /// loadline, speaking HTTP/2 with so many requests at once on each connection.
    LoadlineHttp2(u32),
    /// h2load, in the same way.
    H2loadHttp2(u32),
    /// loadline, speaking HTTP/3 with so many requests at once on each connection.
    LoadlineHttp3(u32),
    /// oha, in the same way.
    Oha(u32),
    /// loadline, calling a method of gRPC with so many calls at once on each connection.
    LoadlineGrpc(u32),
    /// ghz, in the same way.
    Ghz(u32),
    /// k6, calling it with one call at a time on each connection, as each of its users has one.
    K6,
    /// No tool: a bare loop of sends and receives, the floor of the machine.
    Bare,
    /// No tool: the smallest loop over the library that speaks QUIC, with so many requests at once on each connection.
    BareHttp3(u32),
}

/// What a tool counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Count {
    /// Requests that were answered.
    pub requests: u64,
    /// Answers a second, by the tool's own clock.
    pub qps: f64,
}

impl Tool {
    /// Those loadline is compared with.
    pub const PEERS: &[Self] = &[Self::Wrk, Self::Ab, Self::H2load, Self::Oha(1), Self::Ghz(1), Self::K6];

    /// Where it is: on the path, or where `scripts/peers.sh` put it beside this program.
    pub(crate) fn program(self) -> String {
        match self {
            Self::Oha(_) | Self::Ghz(_) | Self::K6 => {
                peer(self.name()).map_or_else(|| self.name().to_owned(), |path| path.display().to_string())
            }
            _ => self.name().to_owned(),
        }
    }

    /// Whether every request it counts, and no other, was received: it ends only when all are answered.
    pub(crate) const fn is_counted_by_server(self) -> bool {
        matches!(self, Self::Loadline | Self::LoadlineAb | Self::LoadlineHttp3(_) | Self::LoadlineGrpc(_))
    }

    /// Whether both are the same program.
    pub(crate) fn is_program_of(self, other: Self) -> bool {
        match self {
            Self::H2load => matches!(other, Self::H2load | Self::H2loadHttp2(_)),
            _ => discriminant(&self) == discriminant(&other),
        }
    }

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loadline => "loadline",
            Self::Wrk => "wrk",
            Self::Ab => "ab",
            Self::LoadlineAb => "loadline ab",
            Self::H2load => "h2load",
            Self::LoadlineHttp2(_) => "loadline --http 2",
            Self::H2loadHttp2(_) => "h2load, HTTP/2",
            Self::LoadlineHttp3(_) => "loadline --http 3",
            Self::Oha(_) => "oha",
            Self::LoadlineGrpc(_) => "loadline, gRPC",
            Self::Ghz(_) => "ghz",
            Self::K6 => "k6",
            Self::Bare | Self::BareHttp3(_) => "(bare loop)",
        }
    }

    pub(crate) const fn version_flag(self) -> &'static str {
        match self {
            Self::Wrk => "-v",
            Self::Ab => "-V",
            _ => "--version",
        }
    }

    /// The command for closed load on one thread; a script is given to those that take wrk's.
    pub(crate) fn command(
        self,
        loadline: &Path,
        url: &str,
        connections: u32,
        seconds: u32,
        trust: Option<&Path>,
        script: Option<&str>,
    ) -> Vec<String> {
        let mut script = script.map(|path| format!(" -s {path}")).unwrap_or_default();
        if self == Self::Loadline && !script.is_empty() {
            // wrk sends a script's requests with no headers but Host.
            script += " -H User-Agent: -H Accept:";
        }
        let own_trust = trust.map(|path| format!(" --cacert {}", path.display())).unwrap_or_default();
        let ours = |users: u32, more: &str| {
            format!("{} run -t 1 -c {users} -d {seconds}s --quiet{own_trust}{more} --out json=- {url}", loadline.display())
        };
        let text = match self {
            Self::Loadline => ours(connections, &script),
            Self::LoadlineHttp2(streams) => ours(connections * streams, &format!(" --http 2 --streams {streams}")),
            Self::H2loadHttp2(streams) => format!("h2load -t 1 -c {connections} -m {streams} -D {seconds} {url}"),
            Self::Wrk => format!("wrk -t 1 -c {connections} -d {seconds}s --timeout 30s{script} {url}"),
            // The time limit sets a request limit of 50,000 unless one is given after it.
            Self::Ab => format!("ab -q -k -c {connections} -t {seconds} -n 100000000 {url}"),
            Self::LoadlineAb => format!("{} ab -q -k -c {connections} -t {seconds} -n 100000000 {url}", loadline.display()),
            Self::Bare | Self::BareHttp3(_) => {
                let program = std::env::current_exe().map_or_else(|_| "loadline-bench".to_owned(), |path| path.display().to_string());
                let trust = trust.map(|path| format!(" {}", path.display())).unwrap_or_default();
                let (word, streams) =
                    if let Self::BareHttp3(streams) = self { ("bare-http3", format!(" {streams}")) } else { ("bare", String::new()) };
                format!("{program} {word} {url} {connections}{streams} {seconds}{trust}")
            }
            Self::LoadlineHttp3(streams) => ours(connections * streams, &format!(" --http 3 --streams {streams}")),
            Self::Oha(streams) => format!(
                "{} --http-version 3 -c {connections} -p {streams} -z {seconds}s -w --no-tui --output-format json{own_trust} {url}",
                self.program()
            ),
            Self::LoadlineGrpc(streams) => ours(connections * streams, &format!(" --streams {streams} --message {MESSAGE}")),
            Self::Ghz(streams) => format!(
                "{} --insecure --call {METHOD} -d {MESSAGE} --connections {connections} -c {} -z {seconds}s --duration-stop ignore -O json {}",
                self.program(),
                connections * streams,
                url.trim_start_matches("grpc://").split('/').next().unwrap_or_default()
            ),
            Self::K6 => format!(
                "{} run --quiet --no-usage-report --no-thresholds --vus {connections} --duration {seconds}s -e AT={} -e METHOD={METHOD} {}/scripts/call.js",
                self.program(),
                url.trim_start_matches("grpc://").split('/').next().unwrap_or_default(),
                env!("CARGO_MANIFEST_DIR")
            ),
            Self::H2load => format!("h2load --h1 -t 1 -c {connections} -D {seconds} {url}"),
        };
        text.split(' ').map(str::to_owned).collect()
    }

    /// What the tool says it did.
    ///
    /// # Errors
    /// If its words are not understood, or tell of failed requests.
    pub fn count(self, stdout: &str) -> Result<Count> {
        let counted = match self {
            Self::Loadline | Self::LoadlineHttp2(_) | Self::LoadlineHttp3(_) | Self::LoadlineGrpc(_) => from_json(stdout),
            Self::Wrk => from_wrk(stdout),
            Self::Ab | Self::LoadlineAb => from_ab(stdout),
            Self::H2load | Self::H2loadHttp2(_) => from_h2load(stdout),
            Self::Oha(_) => from_oha(stdout),
            Self::Ghz(_) => from_ghz(stdout),
            Self::K6 => from_k6(stdout),
            Self::Bare | Self::BareHttp3(_) => counted(stdout).map(|(requests, qps)| Count { requests, qps }),
        };
        let count = counted.with_context(|| format!("what {} said:\n{stdout}", self.name()))?;
        if count.requests == 0 {
            bail!("{} made no request at all:\n{stdout}", self.name());
        }
        Ok(count)
    }
}

fn from_json(stdout: &str) -> Result<Count> {
    let result: Value = serde_json::from_str(stdout)?;
    let requests = |key: &str| result["requests"][key].as_u64().with_context(|| format!("no requests.{key}"));
    if requests("failed")? > 0 || requests("unsent")? > 0 {
        bail!("requests failed: {}", result["failures"]);
    }
    Ok(Count { requests: requests("succeeded")?, qps: result["qps"].as_f64().context("no qps")? })
}

fn from_wrk(stdout: &str) -> Result<Count> {
    if let Some(line) = stdout.lines().find(|line| line.contains("Socket errors") || line.contains("Non-2xx")) {
        bail!("{}", line.trim());
    }
    let requests = stdout.lines().find_map(|line| line.split_once(" requests in ")).context("no count of requests")?.0;
    Ok(Count { requests: requests.trim().parse()?, qps: number_after(stdout, "Requests/sec:")? })
}

fn from_ab(stdout: &str) -> Result<Count> {
    let failed = number_after(stdout, "Failed requests:")?;
    if failed > 0.0 {
        bail!("{failed} failed requests");
    }
    Ok(Count { requests: number_after(stdout, "Complete requests:")? as u64, qps: number_after(stdout, "Requests per second:")? })
}

fn from_h2load(stdout: &str) -> Result<Count> {
    let line = stdout.lines().find(|line| line.starts_with("requests:")).context("no line 'requests:'")?;
    let part = |word: &str| -> Result<u64> {
        let found = line.trim_start_matches("requests:").split(',').find_map(|part| part.trim().strip_suffix(word));
        Ok(found.with_context(|| format!("no count of{word}"))?.trim().parse()?)
    };
    if part(" failed")? > 0 || part(" errored")? > 0 {
        bail!("{line}");
    }
    let finished = stdout.lines().find_map(|line| line.strip_prefix("finished in ")).context("no line 'finished in'")?;
    let qps = finished.split(", ").nth(1).and_then(|part| part.strip_suffix(" req/s")).context("no rate")?;
    Ok(Count { requests: part(" succeeded")?, qps: qps.parse()? })
}

fn from_oha(stdout: &str) -> Result<Count> {
    let result: Value = serde_json::from_str(stdout)?;
    let qps = result["summary"]["requestsPerSec"].as_f64().context("no summary.requestsPerSec")?;
    Ok(Count { requests: only(&result, ["statusCodeDistribution", "errorDistribution"], "200")?, qps })
}

fn from_ghz(stdout: &str) -> Result<Count> {
    let result: Value = serde_json::from_str(stdout)?;
    let qps = result["rps"].as_f64().context("no rps")?;
    Ok(Count { requests: only(&result, ["statusCodeDistribution", "errorDistribution"], "OK")?, qps })
}

/// How often this status was, if there was no other and nothing failed.
fn only(result: &Value, [statuses, errors]: [&str; 2], status: &str) -> Result<u64> {
    let other = result[statuses].as_object().with_context(|| format!("no {statuses}"))?.keys().any(|name| name != status);
    if other || result[errors].as_object().is_some_and(|errors| !errors.is_empty()) {
        bail!("requests failed: {} {}", result[statuses], result[errors]);
    }
    result[statuses][status].as_u64().with_context(|| format!("no {status} in {statuses}"))
}

/// What `scripts/call.js` writes at its end: the counts of calls and of those that failed, and calls a second.
fn from_k6(stdout: &str) -> Result<Count> {
    let line = stdout.lines().rev().find(|line| line.starts_with('{')).context("no line with counts")?;
    let result: Value = serde_json::from_str(line)?;
    let failed = result["failed"].as_f64().context("no count of failed calls")?;
    if failed > 0.0 {
        bail!("{failed} calls failed");
    }
    Ok(Count {
        requests: result["calls"].as_u64().context("no count of calls")?,
        qps: result["rate"].as_f64().context("no calls a second")?,
    })
}

/// The number that follows a label.
fn number_after(text: &str, label: &str) -> Result<f64> {
    let rest = text.lines().find_map(|line| line.trim().strip_prefix(label)).with_context(|| format!("no line '{label}'"))?;
    Ok(rest.split_whitespace().next().unwrap_or_default().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRK: &str = "\
Running 1s test @ http://127.0.0.1:8080/
  1 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.02ms  201.04us   6.10ms   89.39%
    Req/Sec    98.10k     3.22k  101.04k    80.00%
  97646 requests in 1.00s, 14.62MB read
Requests/sec:  97612.31
Transfer/sec:     14.62MB
";

    const AB: &str = "\
Concurrency Level:      100
Time taken for tests:   1.000 seconds
Complete requests:      62102
Failed requests:        0
Keep-Alive requests:    62102
Requests per second:    62095.49 [#/sec] (mean)
";

    const H2LOAD: &str = "\
finished in 1.00s, 89120.00 req/s, 12.92MB/s
requests: 89120 total, 89220 started, 89120 done, 89120 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 89120 2xx, 0 3xx, 0 4xx, 0 5xx
";

    const OHA: &str = r#"{"summary": {"requestsPerSec": 2560.5}, "statusCodeDistribution": {"200": 5120}, "errorDistribution": {}}"#;

    const GHZ: &str = r#"{"count": 7001, "rps": 3500.25, "errorDistribution": {}, "statusCodeDistribution": {"OK": 7001}}"#;

    const K6: &str = "\n{\"calls\":812,\"failed\":0,\"rate\":406.0}\n";

    #[test]
    fn every_tool_is_taken_at_its_own_word() {
        assert_eq!(Tool::Wrk.count(WRK).unwrap(), Count { requests: 97_646, qps: 97_612.31 });
        assert_eq!(Tool::Ab.count(AB).unwrap(), Count { requests: 62_102, qps: 62_095.49 });
        assert_eq!(Tool::H2load.count(H2LOAD).unwrap(), Count { requests: 89_120, qps: 89_120.0 });
        assert_eq!(Tool::Oha(10).count(OHA).unwrap(), Count { requests: 5120, qps: 2560.5 });
        assert_eq!(Tool::Ghz(10).count(GHZ).unwrap(), Count { requests: 7001, qps: 3500.25 });
        assert_eq!(Tool::K6.count(K6).unwrap(), Count { requests: 812, qps: 406.0 });
        assert_eq!(Tool::Bare.count("12 answers, 6.5 a second\n").unwrap(), Count { requests: 12, qps: 6.5 });
        let json = r#"{"requests": {"due": 7, "succeeded": 7, "failed": 0, "unsent": 0}, "qps": 3.5}"#;
        assert_eq!(Tool::Loadline.count(json).unwrap(), Count { requests: 7, qps: 3.5 });
    }

    #[test]
    fn a_tool_with_failed_requests_is_not_compared() {
        let wrk = WRK.replace("Requests/sec", "  Socket errors: connect 0, read 3, write 0, timeout 0\nRequests/sec");
        assert!(Tool::Wrk.count(&wrk).is_err());
        assert!(Tool::Ab.count(&AB.replace("Failed requests:        0", "Failed requests:        9")).is_err());
        assert!(Tool::H2load.count(&H2LOAD.replace("0 errored", "4 errored")).is_err());
        let oha = OHA.replace(r#""errorDistribution": {}"#, r#""errorDistribution": {"timeout": 2}"#);
        assert!(Tool::Oha(10).count(&oha).is_err());
        assert!(Tool::Ghz(10).count(&GHZ.replace(r#""OK": 7001"#, r#""OK": 7000, "Unavailable": 1"#)).is_err());
        assert!(Tool::K6.count(&K6.replace(r#""failed":0"#, r#""failed":3"#)).is_err());
        let json = r#"{"requests": {"due": 7, "succeeded": 6, "failed": 1, "unsent": 0}, "qps": 3.5}"#;
        assert!(Tool::Loadline.count(json).is_err());
    }

    #[test]
    fn words_that_are_not_understood_are_an_error_with_the_words() {
        for tool in [Tool::Loadline, Tool::Wrk, Tool::Ab, Tool::LoadlineAb, Tool::H2load, Tool::Oha(1), Tool::Ghz(1), Tool::K6, Tool::Bare]
        {
            let error = tool.count("unexpected").unwrap_err();
            assert!(format!("{error:#}").contains("unexpected"), "{error:#}");
        }
    }
}
