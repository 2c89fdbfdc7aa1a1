//! A page of metrics as a source: whatever a server, its runtime or an exporter beside it tells in Prometheus' text format.
//!
//! What `/proc` cannot know, such as how long a pool was waited for or how many goroutines there are, a server often tells itself.
//! Counters are of no use as they are; told as rates they stand beside the load. A page may hold ten thousand series, so without
//! being asked only a few are kept: those by which runtimes tell their own health.

mod text;

use std::collections::BTreeMap;

use measure::ServerObservation;
use measure::observed::{Place, Unit, Value};
use plan::Nanos;
use url::Url;

use crate::asked::ObserveTarget;
pub use crate::fetch::Client;
use crate::subject::NotFound;
use crate::watcher::Source;
pub use text::{Family, Metric, metrics};

/// More series of one page are not kept.
const SERIES_MAX: usize = 64;
/// By these begin the names of what runtimes tell about themselves.
const USUAL: &[&str] = &[
    "process_cpu_seconds",
    "process_resident_memory",
    "process_open_fds",
    "go_goroutines",
    "go_threads",
    "go_gc_duration_seconds_sum",
    "go_memstats_heap_inuse",
    "go_sql_",
    "go_cpu_classes_gc_total_cpu_seconds",
    "nodejs_eventloop_lag",
    "nodejs_gc_duration_seconds_sum",
    "nodejs_heap_size_used",
    "nodejs_active_handles_total",
    "python_gc_collections",
    "jvm_memory_used",
    "jvm_threads",
    "jvm_gc_pause_seconds_sum",
    "jvm_gc_collection_seconds_sum",
    "hikaricp_connections",
    "nginx_",
    "pg_stat_database_numbackends",
    "pg_stat_activity_count",
    "mysql_global_status_threads_running",
    "redis_connected_clients",
    "redis_commands_processed",
    "node_load1",
    "node_netstat_TcpExt_Listen",
    "node_netstat_Tcp_RetransSegs",
];

/// An endpoint that is read again and again.
pub struct Endpoint {
    asked: String,
    client: Client,
    wanted: Vec<Pattern>,
    before: Option<(Nanos, BTreeMap<String, f64>)>,
    warnings: Vec<String>,
    warned: bool,
    kept: usize,
}

/// A metric's name, with `*` for any letters.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern(String);

impl Pattern {
    fn holds(&self, metric: &Metric) -> bool {
        let whole = format!("{}{{{}}}", metric.name, metric.labels);
        matches(self.0.as_bytes(), metric.name.as_bytes()) || matches(self.0.as_bytes(), whole.as_bytes())
    }
}

/// Goes back to the last star when a letter does not fit.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut letter) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while letter < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, letter));
                at += 1;
            }
            Some(wanted) if *wanted == text[letter] => (at, letter) = (at + 1, letter + 1),
            _ => match &mut star {
                Some((place, taken)) => {
                    *taken += 1;
                    (at, letter) = (*place + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == b'*')
}

impl Endpoint {
    /// Reads the page once, and finds what is wanted on it.
    ///
    /// # Errors
    /// If it cannot be read, is no page of metrics, or has none that is wanted.
    pub fn open(url: &Url, wanted: &[String]) -> Result<Self, NotFound> {
        let asked = ObserveTarget::Prometheus(url.clone()).to_string();
        let client = Client::new(url.clone());
        let read = client.read().map_err(|why| NotFound {
            message: why,
            help: format!("look at it with: curl -s {}", asked.trim_start_matches("prometheus:")).into(),
        })?;
        let found = metrics(&read);
        if found.is_empty() {
            let message = "there is no metric on this page".to_owned();
            return Err(NotFound { message, help: "give the page in Prometheus' text format, often /metrics".into() });
        }
        let wanted: Vec<Pattern> = wanted.iter().cloned().map(Pattern).collect();
        let endpoint = Self { asked, client, wanted, before: None, warnings: Vec::new(), warned: false, kept: 0 };
        for pattern in &endpoint.wanted {
            if !found.iter().any(|metric| pattern.holds(metric)) {
                return Err(NotFound {
                    message: format!("no metric there is called '{}'", pattern.0),
                    help: alike(&pattern.0, &found).into(),
                });
            }
        }
        Ok(endpoint)
    }

    /// Those of a page that are kept.
    fn chosen<'a>(&mut self, all: &'a [Metric]) -> Vec<&'a Metric> {
        let plain = all.iter().filter(|metric| metric.family != Family::Bucket);
        let mut chosen: Vec<&Metric> = if self.wanted.is_empty() {
            let few: Vec<&Metric> = plain.collect();
            if few.len() <= SERIES_MAX {
                few
            } else {
                few.into_iter().filter(|metric| USUAL.iter().any(|begin| metric.name.starts_with(begin))).collect()
            }
        } else {
            all.iter().filter(|metric| self.wanted.iter().any(|pattern| pattern.holds(metric))).collect()
        };
        let left_out = if self.wanted.is_empty() { all.len() - chosen.len() } else { chosen.len().saturating_sub(SERIES_MAX) };
        chosen.truncate(SERIES_MAX);
        if !self.warned && (chosen.is_empty() || left_out > 0 && !self.wanted.is_empty()) {
            self.warned = true;
            self.warnings.push(format!("of {} metrics on the page {} are kept: choose with --metric NAME", all.len(), chosen.len()));
        }
        chosen
    }
}

/// Which names are most like one that is missing, and how they are asked for.
fn alike(wanted: &str, found: &[Metric]) -> String {
    let mut names: Vec<&str> = found.iter().map(|metric| metric.name.as_str()).collect();
    names.dedup();
    let part = wanted.trim_matches('*').to_lowercase();
    let like: Vec<&str> = names.iter().copied().filter(|name| !part.is_empty() && name.to_lowercase().contains(&part)).collect();
    if let Some(first) = like.first() {
        return match like.len() {
            1 => format!("there is {first}"),
            _ => format!("'*{part}*' is all of {}", told(like)),
        };
    }
    format!("there are, among others: {}", told(names))
}

fn told(mut names: Vec<&str>) -> String {
    names.truncate(NAMES_TOLD);
    names.join(", ")
}

/// So many names of metrics are told to whoever asked for one that is missing.
const NAMES_TOLD: usize = 12;

impl Source for Endpoint {
    fn look(&mut self, at: Nanos) -> Result<Vec<Value>, String> {
        let read = self.client.read()?;
        let all = metrics(&read);
        if all.is_empty() {
            return Err("there is no metric on the page any more".to_owned());
        }
        let chosen = self.chosen(&all);
        let now: BTreeMap<String, f64> =
            chosen.iter().map(|metric| (format!("{}{{{}}}", metric.name, metric.labels), metric.value)).collect();
        let mut found = Vec::new();
        if let Some((then, before)) = &self.before {
            let span = at.since(*then).as_secs_f64();
            for metric in &chosen {
                let key = format!("{}{{{}}}", metric.name, metric.labels);
                let (unit, value) = match metric.family {
                    Family::Gauge => (Unit::Number, Some(metric.value)),
                    // One that is less than before began anew, and counts from nothing.
                    Family::Counter | Family::Bucket => {
                        let earlier = before.get(&key).copied();
                        let grown = earlier.map(|earlier| if metric.value >= earlier { metric.value - earlier } else { metric.value });
                        (Unit::PerSecond, grown.filter(|_| span > 0.0).map(|grown| grown / span))
                    }
                };
                let of = (!metric.labels.is_empty()).then(|| metric.labels.clone());
                found.extend(value.map(|value| Value { name: metric.name.clone().into(), of, unit, limit: None, value }));
            }
        }
        self.kept = now.len();
        self.before = Some((at, now));
        Ok(found)
    }

    fn describe(&self) -> ServerObservation {
        let place = self.asked.trim_start_matches("prometheus:").to_owned();
        let about =
            format!("{} of the page {place}", if self.kept == 1 { "1 metric".to_owned() } else { format!("{} metrics", self.kept) });
        ServerObservation { asked: self.asked.clone(), about, place: Place::Elsewhere, ..ServerObservation::default() }
    }

    fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;

    /// Answers each connection with the next of these, the last one again and again.
    fn page(answers: Vec<String>) -> Url {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/metrics", socket.local_addr().unwrap()).parse().unwrap();
        thread::spawn(move || {
            let mut answers = answers.into_iter();
            let mut last = String::new();
            for stream in socket.incoming() {
                let Ok(mut stream) = stream else { return };
                last = answers.next().unwrap_or(last);
                let mut asked = [0; 1_024];
                let _ = stream.read(&mut asked);
                let _ = stream.write_all(last.as_bytes());
            }
        });
        url
    }

    fn ok(body: &str) -> String {
        format!("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}")
    }

    #[test]
    fn counters_become_rates_and_gauges_stay() {
        let counter = |count: u32| ok(&format!("# TYPE hits counter\nhits_total{{path=\"/\"}} {count}\nqueue 7\n"));
        let url = page([0, 100, 300, 50].map(counter).to_vec());
        let mut endpoint = Endpoint::open(&url, &[]).unwrap();
        assert!(endpoint.look(Nanos::from_secs(1)).unwrap().is_empty());
        let values: Vec<(f64, Unit)> = endpoint.look(Nanos::from_secs(3)).unwrap().iter().map(|it| (it.value, it.unit)).collect();
        assert_eq!(values, [(100.0, Unit::PerSecond), (7.0, Unit::Number)]);
        let after_a_restart = endpoint.look(Nanos::from_secs(4)).unwrap();
        assert_eq!((after_a_restart[0].value, after_a_restart[0].of.as_deref()), (50.0, Some("path=\"/\"")));
        assert_eq!(endpoint.describe().about, format!("2 metrics of the page {url}"));
    }

    #[test]
    fn a_large_page_gives_what_is_usual_or_asked_for() {
        let many: String = (0..500).map(|at| format!("other{{n=\"{at}\"}} {at}\n")).collect();
        let body = ok(&format!("go_goroutines 12\n{many}"));
        let mut usual = Endpoint::open(&page(vec![body.clone()]), &[]).unwrap();
        usual.look(Nanos::ZERO).unwrap();
        assert_eq!(usual.look(Nanos::SECOND).unwrap().len(), 1);
        let mut asked = Endpoint::open(&page(vec![body.clone()]), &["other{n=\"4*".to_owned()]).unwrap();
        asked.look(Nanos::ZERO).unwrap();
        assert_eq!(asked.look(Nanos::SECOND).unwrap().len(), SERIES_MAX);
        assert!(asked.warnings()[0].contains("--metric"));
        let error = Endpoint::open(&page(vec![body]), &["nothing".to_owned()]).err().unwrap();
        assert!(error.message.contains("'nothing'") && error.help.marked().contains("go_goroutines"), "{error:?}");
        let named = metrics("go_goroutines 1\ngo_threads 2\nqueue 3\n");
        assert_eq!(
            (alike("goroutines", &named).as_str(), alike("GO", &named).as_str()),
            ("there is go_goroutines", "'*go*' is all of go_goroutines, go_threads")
        );
    }

    #[test]
    fn what_is_no_page_of_metrics_is_told_before_the_run() {
        let open = |answer: String| Endpoint::open(&page(vec![answer]), &[]).err().unwrap().message;
        assert!(open(ok("<html>hello</html>")).contains("no metric"));
        assert!(open("HTTP/1.1 404 Not Found\r\n\r\n".to_owned()).contains("404"));
        assert!(open("SSH-2.0-OpenSSH\r\n".to_owned()).contains("not HTTP"));
        assert!(open(String::new()).contains("closed"));
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let error = Endpoint::open(&format!("http://{nobody}/").parse().unwrap(), &[]).err().unwrap();
        assert!(error.message.contains("refused"), "{error:?}");
    }

    #[test]
    fn a_page_that_goes_away_is_an_error_of_the_look() {
        let mut endpoint = Endpoint::open(&page(vec![ok("a 1\n"), ok("a 1\n"), "HTTP/1.1 503 Busy\r\n\r\n".to_owned()]), &[]).unwrap();
        assert!(endpoint.look(Nanos::ZERO).is_ok());
        assert!(endpoint.look(Nanos::SECOND).unwrap_err().contains("503"));
    }

    #[test]
    fn stars_stand_for_any_letters() {
        for (pattern, text, holds) in [
            ("go_*", "go_gc", true),
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b", "axxbc", false),
            ("ab", "abc", false),
            ("a**", "a", true),
        ] {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), holds, "{pattern} {text}");
        }
    }
}
