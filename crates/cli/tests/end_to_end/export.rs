//! `--export`: what receivers are told is what the report says, and nothing that happens to them touches the run.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point;
use prost::Message as _;
use rustix::process::Signal;

use crate::session::{Session, server};
use crate::tools;

/// A receiver that keeps the bodies it is sent and answers with a status.
pub struct Receiver {
    pub address: SocketAddr,
    taken: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Receiver {
    pub fn answering(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let taken = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&taken);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = Arc::clone(&kept);
                thread::spawn(move || receive(stream.unwrap(), status, &kept));
            }
        });
        Self { address, taken }
    }

    pub fn bodies(&self) -> Vec<Vec<u8>> {
        self.taken.lock().unwrap().clone()
    }
}

fn receive(stream: TcpStream, status: &str, kept: &Mutex<Vec<Vec<u8>>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        kept.lock().unwrap().push(body);
        let _ = write!(reader.get_mut(), "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
    }
}

/// `GET`, and the whole answer.
fn fetched(address: &str, path: &str, accept: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

/// Ends what it holds when the test does.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_real_prometheus_reads_a_run_while_it_goes_on() {
    if !tools::are_here(&["prometheus"]) {
        return;
    }
    let server = server();
    let mut session = Session::new().file(
        "prometheus.yml",
        "global:\n  scrape_interval: 1s\nscrape_configs:\n- job_name: loadline\n  file_sd_configs:\n  - files: [targets.json]\n    refresh_interval: 1s\n",
    );
    let line = format!("run {} -c 2 -d 60s --name reads --no-tui --export prometheus=127.0.0.1:0", server.url("/healthz?token=s3cret"));
    let (running, address) = session.start(&line).rest_of_stderr_line("metrics are at http://");
    let address = address.split('/').next().unwrap().to_owned();

    // Both forms, as told by the scraper's own checker and by what ends them.
    let plain = fetched(&address, "/metrics", "*/*");
    assert!(plain.contains("text/plain; version=0.0.4") && !plain.contains("# EOF"), "{plain}");
    let open = fetched(&address, "/metrics", "application/openmetrics-text; version=1.0.0");
    assert!(open.contains("application/openmetrics-text") && open.ends_with("# EOF\n"), "{open}");
    assert!(!plain.contains("s3cret") && plain.contains("loadline_run_info{"), "{plain}");
    assert!(fetched(&address, "/", "*/*").contains("404") && fetched(&address, "/", "*/*").contains("/metrics"));

    std::fs::write(session.path("targets.json"), format!("[{{\"targets\":[\"{address}\"]}}]")).unwrap();
    let mut prometheus = Started(
        Command::new("prometheus")
            .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data", "--web.listen-address=127.0.0.1:0"])
            .current_dir(session.path(""))
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("prometheus is installed by scripts/tools.sh"),
    );
    let log = BufReader::new(prometheus.0.stderr.take().unwrap());
    let (tell, told) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for line in log.lines().map_while(Result::ok) {
            if let Some((_, rest)) = line.split_once("msg=\"Listening on\" address=") {
                let _ = tell.send(rest.trim().to_owned());
            }
        }
    });
    let api = told.recv_timeout(Duration::from_secs(60)).expect("prometheus says where it listens");
    let deadline = Instant::now() + Duration::from_secs(50);
    let query = "/api/v1/query?query=loadline_requests_total%7Bresult%3D%22succeeded%22%7D";
    let count = loop {
        let answer = fetched(&api, query, "*/*");
        let value = answer.rsplit_once("\"value\":[").and_then(|(_, rest)| rest.split('"').nth(1)?.parse::<f64>().ok());
        match value {
            Some(value) if value > 0.0 => break value,
            _ => assert!(Instant::now() < deadline, "{answer}"),
        }
        thread::sleep(Duration::from_millis(100));
    };
    let buckets = fetched(&api, "/api/v1/query?query=histogram_quantile(0.5,rate(loadline_response_time_seconds_bucket%5B10s%5D))", "*/*");
    assert!(buckets.contains("\"status\":\"success\""), "{buckets}");
    let ran = running.signal(Signal::INT).end().exits(130);
    assert!(count.fract() == 0.0 && ran.stdout.contains("succeeded"), "{count}");
    assert!(server.counts().received as f64 >= count);
}

#[test]
fn promtool_finds_no_fault_with_the_text() {
    if !tools::are_here(&["promtool"]) {
        return;
    }
    let server = server();
    let mut session = Session::new();
    let line = format!("run {} -c 2 -d 60s --no-tui --export prometheus=127.0.0.1:0", server.url("/healthz"));
    let (running, address) = session.start(&line).rest_of_stderr_line("metrics are at http://");
    let address = address.split('/').next().unwrap();
    let deadline = Instant::now() + Duration::from_secs(50);
    let text = loop {
        let text = fetched(address, "/metrics", "*/*");
        if text.contains("result=\"succeeded\"") || Instant::now() > deadline {
            break text;
        }
    };
    running.signal(Signal::INT).end().exits(130);
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    promtool.stdin.take().unwrap().write_all(body.as_bytes()).unwrap();
    let said = promtool.wait_with_output().unwrap();
    assert!(said.status.success() && said.stderr.is_empty(), "{}\n{body}", String::from_utf8_lossy(&said.stderr));
    for family in ["loadline_response_time_seconds_bucket", "loadline_service_time_seconds_count", "loadline_in_flight", "le=\"+Inf\""] {
        assert!(body.contains(family), "{family} is not in:\n{body}");
    }
}

fn value_of<'a>(attributes: &'a [KeyValue], key: &str) -> &'a str {
    let found = attributes.iter().find(|attribute| attribute.key == key).and_then(|attribute| attribute.value.as_ref()?.value.as_ref());
    match found {
        Some(Value::StringValue(text)) => text,
        other => panic!("{key}: {other:?}"),
    }
}

#[test]
fn journeys_are_told_by_name_and_end() {
    let server = server();
    let collector = Receiver::answering("200 OK");
    let text = format!(
        "target: {}\nload: {{users: 1, requests: 30}}\nsteps:\n  - get: /healthz\n  - get: /behave?status=503\n    name: broken\n",
        server.url("").trim_end_matches('/')
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline(&format!("run s.yaml --no-save --export otlp=http://{}", collector.address)).exits(0);
    let bodies = collector.bodies();
    let request = ExportMetricsServiceRequest::decode(bodies.last().expect("the end is told in any case").as_slice()).unwrap();
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let value = |name: &str, labels: &[(&str, &str)]| {
        let metric = metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("{name}"));
        let points = match metric.data.as_ref().unwrap() {
            Data::Sum(sum) => &sum.data_points,
            Data::Gauge(gauge) => &gauge.data_points,
            other => panic!("{name}: {other:?}"),
        };
        let wanted = |point: &&opentelemetry_proto::tonic::metrics::v1::NumberDataPoint| {
            labels.iter().all(|(key, value)| value_of(&point.attributes, key) == *value)
        };
        match points.iter().find(wanted).unwrap_or_else(|| panic!("{name} {labels:?}: {points:?}")).value {
            Some(number_data_point::Value::AsDouble(value)) => value,
            other => panic!("{name}: {other:?}"),
        }
    };
    let journey = ("loadline.journey", "journey");
    assert_eq!(value("loadline.journeys_started", &[journey]), 15.0);
    assert_eq!(value("loadline.journeys", &[journey, ("loadline.result", "failed")]), 15.0);
    assert_eq!(value("loadline.journeys", &[journey, ("loadline.result", "succeeded")]), 0.0);
    assert_eq!(value("loadline.step_requests", &[("loadline.step", "GET /healthz"), ("loadline.result", "succeeded")]), 15.0);
    assert_eq!(value("loadline.step_requests", &[("loadline.step", "broken"), ("loadline.result", "failed")]), 15.0);
    assert!(metrics.iter().any(|metric| metric.name == "loadline.tps"));
}

#[test]
fn a_collector_is_told_the_totals_of_the_report() {
    let server = server();
    let collector = Receiver::answering("200 OK");
    let mut session = Session::new();
    let line = format!(
        "run {} -c 2 -n 500 --name told --out json=r.json --export otlp=http://{}",
        server.url("/healthz?api_key=s3cret"),
        collector.address
    );
    let ran = session.loadline(&line).exits(0);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    let report = session.json("r.json");
    let bodies = collector.bodies();
    let last = bodies.last().expect("the end is told in any case");
    assert!(!last.windows(6).any(|bytes| bytes == b"s3cret"));
    let request = ExportMetricsServiceRequest::decode(last.as_slice()).unwrap();
    let resource = &request.resource_metrics[0];
    let attributes = &resource.resource.as_ref().unwrap().attributes;
    assert_eq!((value_of(attributes, "loadline.run.name"), value_of(attributes, "service.name")), ("told", "loadline"));
    let saved: serde_json::Value = serde_json::from_str(&session.loadline("runs --json").exits(0).stdout).unwrap();
    assert_eq!(saved["runs"][0]["id"], value_of(attributes, "loadline.run.id"));

    let metrics = &resource.scope_metrics[0].metrics;
    let metric = |name: &str| metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("{name}")).data.as_ref().unwrap();
    let Data::Sum(requests) = metric("loadline.requests") else { panic!("requests only grow") };
    let succeeded = requests.data_points.iter().find(|point| value_of(&point.attributes, "loadline.result") == "succeeded").unwrap();
    assert_eq!(succeeded.value, Some(number_data_point::Value::AsDouble(500.0)));
    assert!(requests.is_monotonic && succeeded.start_time_unix_nano < succeeded.time_unix_nano);
    let Data::Histogram(times) = metric("loadline.response_time") else { panic!("times are a histogram") };
    let point = &times.data_points[0];
    assert_eq!((point.count, point.bucket_counts.iter().sum::<u64>()), (500, 500));
    assert_eq!(point.bucket_counts.len(), point.explicit_bounds.len() + 1);
    let mean_ns = report["response_time"]["mean_ns"].as_f64().unwrap();
    assert!((point.sum.unwrap() * 1e9 / 500.0 / mean_ns - 1.0).abs() < 0.001);
}

#[test]
fn every_level_of_a_sweep_and_every_side_of_a_pair_is_a_load_of_its_own() {
    let server = server();
    let url = server.url("/healthz");
    assert_eq!(loads_of(&format!("sweep {url} --levels 1,2 -d 300ms")), ["1 user, round 1", "2 users, round 1"]);
    assert_eq!(loads_of(&format!("compare {url} {url} --pairs 1 -d 300ms")), ["pair 1 of 1, A", "pair 1 of 1, B"]);
}

/// The loads that a collector is told of, by name.
fn loads_of(command: &str) -> Vec<String> {
    let collector = Receiver::answering("200 OK");
    let mut session = Session::new();
    let line = format!("{command} --export otlp=http://{}", collector.address);
    let ran = session.loadline(&line);
    assert!(matches!(ran.exit, 0 | 4), "{}", ran.stderr);
    let request = ExportMetricsServiceRequest::decode(collector.bodies().last().unwrap().as_slice()).unwrap();
    let metrics = &request.resource_metrics[0].scope_metrics[0].metrics;
    let Some(Data::Sum(due)) = &metrics.iter().find(|metric| metric.name == "loadline.requests_due").unwrap().data else { panic!() };
    let mut loads: Vec<String> = due.data_points.iter().map(|point| value_of(&point.attributes, "loadline.load").to_owned()).collect();
    loads.sort();
    loads
}

#[test]
fn a_database_of_seconds_gets_each_second_once() {
    let server = server();
    let database = Receiver::answering("204 No Content");
    let mut session = Session::new();
    let line = format!(
        "run {} -c 2 -d 2500ms --name 'a b,c' --out json=r.json --export 'influx=http://me:s3cret@{}/write?db=loadline'",
        server.url("/healthz"),
        database.address
    );
    let ran = session.loadline(&line);
    assert!(matches!(ran.exit, 0 | 4) && !ran.stderr.contains("warning: --export"), "{}", ran.stderr);
    let text: String = database.bodies().iter().map(|body| std::str::from_utf8(body).unwrap()).collect();
    let lines: Vec<_> = influxdb_line_protocol::parse_lines(&text).collect::<Result<_, _>>().unwrap();
    assert!(lines.len() >= 2, "{text}");
    let mut succeeded = 0;
    let mut times = Vec::new();
    for line in &lines {
        assert_eq!(line.series.measurement, "loadline");
        assert_eq!(line.tag_value("name").unwrap(), &"a b,c");
        match line.field_value("succeeded") {
            Some(influxdb_line_protocol::FieldValue::I64(count)) => succeeded += count,
            other => panic!("{other:?}"),
        }
        times.push(line.timestamp.unwrap());
    }
    assert_eq!(succeeded, session.json("r.json")["requests"]["succeeded"].as_i64().unwrap());
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]), "{times:?}");
}

#[test]
fn receivers_that_are_down_slow_or_refuse_cost_a_warning_and_nothing_else() {
    let server = server();
    let refusing = Receiver::answering("404 Not Found");
    // Takes connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let down = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let mut session = Session::new();
    let line = format!(
        "run {} -c 2 -n 300 --out json=r.json --export otlp=http://{down} --export 'influx=http://u:s3cret@{}/write?db=x' --export otlp=http://{}",
        server.url("/healthz"),
        refusing.address,
        silent.local_addr().unwrap()
    );
    let ran = session.loadline(&line).exits(0).says("all 300 succeeded").complains("answered with status 404");
    assert_eq!(session.json("r.json")["requests"]["succeeded"], 300);
    assert_eq!(ran.stderr.matches("warning: --export").count(), 3, "{}", ran.stderr);
    assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
    assert_eq!(server.counts().received, 300);
}

#[test]
fn an_outlet_that_cannot_be_is_a_mistake_before_the_run() {
    let server = server();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut session = Session::new();
    let url = server.url("/healthz");
    session
        .loadline(&format!("run {url} -n 1 --export prometheus=9464 --export otlp=host --export influx=http://h --export graphite=x"))
        .exits(2)
        .complains("no address to answer scrapes at")
        .complains("'host' is no URL")
        .complains("does not say where to write")
        .complains("no exporter 'graphite'");
    session
        .loadline(&format!("run {url} -n 1 --export prometheus={}", taken.local_addr().unwrap()))
        .exits(2)
        .complains("cannot be used")
        .complains("give a free port");
    assert_eq!(server.counts().received, 0);
}
