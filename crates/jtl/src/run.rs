//! The run that result files tell of.
//!
//! A row is a request, but for those of transaction controllers, which JMeter writes beside their requests, or instead of them: they are
//! told by their message. Counted with the others they would be requests that nobody sent, so they are left out, unless a file has nothing
//! else.
//!
//! What is not taken from the files: `Connect`, which holds the handshake of TLS and is 0 both where a connection stood and where opening one
//! took less than a millisecond; and names of threads and of machines.

use std::io::Read;

use measure::{ForeignRequest, ForeignRun, Origin, Summary};
use plan::{Draft, Nanos, Plan, Target};

use crate::failure::{failure, said, status};
use crate::read::{FirstByte, Form, ReadError, read};
use crate::sample::Sample;

/// The target of a run whose file does not tell where requests went: a name that never is one (RFC 2606).
const UNKNOWN_TARGET: &str = "http://unknown.invalid/";
/// No plan has more users.
const USERS_MAX: u64 = 1_000_000;

/// Result files of one run, put together.
#[derive(Debug, Default)]
pub struct JtlRun {
    requests: ForeignRun,
    transactions: ForeignRun,
    target: Option<Target>,
    files: Vec<Threads>,
    warnings: Vec<String>,
}

/// The most threads of one file, and when it was written.
#[derive(Debug)]
struct Threads {
    first: Nanos,
    last: Nanos,
    most: u32,
}

impl JtlRun {
    /// Takes in a file. `name` is what the user calls it.
    ///
    /// # Errors
    /// If it cannot be read, or a row is none.
    pub fn add(&mut self, name: &str, from: impl Read, form: Form) -> Result<(), ReadError> {
        let mut threads = Threads { first: Nanos::NEVER, last: Nanos::ZERO, most: 0 };
        let cut_off = read(from, form, |sample, first_byte| {
            let request = request(sample, first_byte);
            threads.first = threads.first.min(request.sent);
            threads.last = threads.last.max(request.sent.plus(request.took));
            threads.most = threads.most.max(sample.all_threads);
            if self.target.is_none() {
                self.target = target(sample);
            }
            let run = if sample.is_transaction() { &mut self.transactions } else { &mut self.requests };
            run.record(&request, || said(sample));
        })?;
        if let Some(line) = cut_off {
            self.warnings.push(format!("'{name}' breaks off in line {line}: a sample that is not whole there is left out"));
        }
        self.files.push(threads);
        Ok(())
    }

    /// The run; `None` where the files hold no sample.
    #[must_use]
    pub fn finish(self) -> Option<Summary> {
        let users = self.users();
        let Self { requests, transactions, target, mut warnings, .. } = self;
        let run = match (requests.requests(), transactions.requests()) {
            (0, 1..) => {
                warnings.push(
                    "there are transactions alone: each counts as one request here, and takes what its requests took together".to_owned(),
                );
                transactions
            }
            (_, left_out) => {
                let are = match left_out {
                    1 => "1 sample is a transaction".to_owned(),
                    more => format!("{more} samples are transactions"),
                };
                warnings.extend((left_out > 0).then(|| format!("{are}: no request, but several together, and left out")));
                requests
            }
        };
        let (first, _) = run.span()?;
        let origin = Origin {
            tool: "JMeter".to_owned(),
            started: jiff::Timestamp::from_millisecond((first.0 / 1_000_000) as i64).map(|at| at.to_string()).unwrap_or_default(),
            users,
            server: target.as_ref().map(Target::authority).unwrap_or_default(),
        };
        let mut run = run.finish(plan(target.as_ref(), users), origin)?;
        run.add_warnings(warnings);
        Some(run.close())
    }

    /// The most users at once: of files of the same time those of all together, as each JMeter of several counts its own.
    fn users(&self) -> u64 {
        let at_once = |at: &Threads| {
            let same_time = self.files.iter().filter(|file| file.first <= at.first && at.first <= file.last);
            same_time.map(|file| u64::from(file.most)).sum()
        };
        self.files.iter().map(at_once).max().unwrap_or_default()
    }
}

/// What is known of the load: where it went, and how many users there were at most.
fn plan(target: Option<&Target>, users: u64) -> Plan {
    let known = target.map(|target| format!("{}://{}/", target.scheme(), target.authority()));
    let decided = |url: String| {
        let connections = users.clamp(1, USERS_MAX).to_string().parse().ok();
        Plan::try_from(Draft { url: Some(url), connections, threads: "1".parse().ok(), ..Draft::default() }).ok()
    };
    known.and_then(decided).or_else(|| decided(UNKNOWN_TARGET.to_owned())).expect("that target and such a number are valid")
}

fn request<'a>(sample: &'a Sample<'_>, first_byte: FirstByte) -> ForeignRequest<'a> {
    ForeignRequest {
        row: &sample.label,
        sent: Nanos::from_millis(sample.time_stamp_ms),
        took: Nanos::from_millis(sample.elapsed_ms),
        first_byte: (first_byte == FirstByte::Known).then_some(Nanos::from_millis(sample.latency_ms)),
        bytes_sent: sample.sent_bytes,
        bytes_received: sample.bytes,
        status: status(sample),
        failure: failure(sample),
    }
}

/// Where it went, by its URL, or by its label where that is one.
fn target(sample: &Sample<'_>) -> Option<Target> {
    [&sample.url, &sample.label]
        .into_iter()
        .filter(|text| text.starts_with("http://") || text.starts_with("https://"))
        .find_map(|text| text.parse().ok())
}
