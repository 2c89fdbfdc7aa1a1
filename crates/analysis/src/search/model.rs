//! Servers of known capacity, simulated exactly, arrival by arrival, in virtual time.
//!
//! A search is only as good as its errors on servers whose answer is known. A real server's answer is not: it changes with
//! what else the machine does. These are queues with the arrivals the engine would send; their true capacity comes from a
//! run of the same model some hundred times as long as a trial.

use plan::{Arrivals, Nanos, Random, Rate, Share, Spacing, Timetable};

use super::{Answer, Early, Pause, Promise, PromiseFigure, Purpose, Search, Settings, Standing, Step, Trial, TrialResult, Unit};

/// How long a worker takes for a request; seconds on average.
#[derive(Debug, Clone, Copy)]
pub enum Service {
    /// Always the same.
    Fixed(f64),
    /// Exponentially distributed.
    Exponential(f64),
    /// Anything from nothing to twice the mean.
    Uniform(f64),
    /// Nine in ten exponential around half the mean, one in ten around five and a half times the mean.
    Mixed(f64),
}

impl Service {
    /// On average, seconds.
    #[must_use]
    pub fn mean(self) -> f64 {
        match self {
            Self::Fixed(mean) | Self::Exponential(mean) | Self::Uniform(mean) | Self::Mixed(mean) => mean,
        }
    }

    /// One of them, seconds.
    #[must_use]
    pub fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Fixed(seconds) => seconds,
            Self::Exponential(mean) => mean * random.exponential(),
            Self::Uniform(mean) => 2.0 * mean * random.unit(),
            Self::Mixed(mean) => mean * random.exponential() * if random.unit() < 0.1 { 5.5 } else { 0.5 },
        }
    }
}

/// What a server does with more than it can take.
#[derive(Debug, Clone, Copy)]
pub enum Temper {
    /// Lets it wait.
    Plain,
    /// Refuses what a token bucket of this rate and depth does not hold.
    Limited {
        /// Tokens a second.
        rate: f64,
        /// Tokens at most.
        burst: f64,
    },
    /// Once a request waited half a second, refuses everything for five.
    Brittle,
    /// Never answers again once a request waited half a second.
    Mortal,
}

/// A model server: `workers` take requests in order of arrival.
#[derive(Debug, Clone)]
pub struct Server {
    /// What it is called.
    pub name: &'static str,
    /// How many requests it serves at a time.
    pub workers: usize,
    /// How long one takes.
    pub service: Service,
    /// What it does with too many.
    pub temper: Temper,
    /// The promise it is searched with, seconds at p99.
    pub limit_s: f64,
    /// Times at which workers are free, by worker; the clock; the bucket's tokens when last looked at; when it heals.
    free: Vec<f64>,
    now: f64,
    bucket: (f64, f64),
    broken_until: f64,
    random: Random,
}

/// A client that waited this long goes away.
pub const TIMEOUT_S: f64 = 2.0;

impl Server {
    /// An idle one.
    #[must_use]
    pub fn new(name: &'static str, workers: usize, service: Service, temper: Temper, limit_s: f64) -> Self {
        let free = vec![0.0; workers];
        Self {
            name,
            workers,
            service,
            temper,
            limit_s,
            free,
            now: 0.0,
            bucket: (0.0, f64::MAX),
            broken_until: 0.0,
            random: Random::new(0, 0),
        }
    }

    /// The same, with this seed for its service times and for what arrives.
    #[must_use]
    pub fn seeded(&self, seed: u64) -> Self {
        Self { random: Random::new(seed, 77), ..self.clone() }
    }

    /// The response time of a request that arrives at `at`, or `None` for a failure.
    fn answer(&mut self, at: f64) -> Option<f64> {
        match self.temper {
            Temper::Limited { rate, burst } => {
                let tokens = (self.bucket.1 + (at - self.bucket.0) * rate).min(burst);
                let granted = tokens >= 1.0;
                self.bucket = (at, if granted { tokens - 1.0 } else { tokens });
                if !granted {
                    return None;
                }
            }
            Temper::Brittle | Temper::Mortal if at < self.broken_until => return None,
            _ => {}
        }
        // The earliest worker, kept at the root of a binary heap.
        let start = self.free[0].max(at);
        if start - at > 0.5 {
            match self.temper {
                Temper::Brittle => self.broken_until = at + 5.0,
                Temper::Mortal => self.broken_until = f64::INFINITY,
                _ => {}
            }
        }
        if start - at > TIMEOUT_S {
            return None;
        }
        let done = start + self.service.draw(&mut self.random);
        let mut hole = 0;
        loop {
            let left = 2 * hole + 1;
            if left >= self.workers {
                break;
            }
            let child = if left + 1 < self.workers && self.free[left + 1] < self.free[left] { left + 1 } else { left };
            if self.free[child] >= done {
                break;
            }
            self.free[hole] = self.free[child];
            hole = child;
        }
        self.free[hole] = done;
        Some(done - at)
    }

    fn arrivals(&mut self, rate: f64, seconds: f64) -> Vec<f64> {
        let timetable = Timetable::constant(Rate::per_second(rate).expect("a rate above zero"), Nanos((seconds * 1e9) as u64));
        let seed = self.random.between(0, u64::MAX - 1);
        Arrivals::new(timetable, Spacing::Poisson, seed, None, Share::WHOLE).map(|at| at.as_secs_f64()).collect()
    }

    /// One trial, ended early once no outcome of the rest could save it; drained to the last answer.
    fn trial(&mut self, rate: f64, seconds: f64, purpose: Purpose, promises: &[Promise]) -> TrialResult {
        let arrivals = self.arrivals(rate, seconds);
        let allowed: Vec<f64> = promises
            .iter()
            .map(|it| purpose.patience().map_or(f64::INFINITY, |times| it.bad_share_max * arrivals.len() as f64 * times))
            .collect();
        let mut bad = [0u64; 2];
        let mut stretches = [vec![(0, 0); seconds.ceil() as usize], vec![(0, 0); seconds.ceil() as usize]];
        let mut times: Vec<f64> = Vec::with_capacity(arrivals.len());
        let (mut last_done, mut measured, mut early, mut due) = (0.0f64, seconds, None, 0);
        for at in arrivals {
            due += 1;
            let answer = self.answer(self.now + at);
            let response = answer.unwrap_or(TIMEOUT_S);
            last_done = last_done.max(at + answer.unwrap_or(0.0));
            times.push(response);
            let verdicts = [answer.is_none() || response > self.limit_s, answer.is_none()];
            for promise in 0..2 {
                bad[promise] += u64::from(verdicts[promise]);
                let stretch = &mut stretches[promise][at as usize];
                *stretch = (stretch.0 + 1, stretch.1 + u64::from(verdicts[promise]));
            }
            if at >= 3.0 && (0..2).any(|it| bad[it] as f64 > allowed[it]) {
                (measured, early) = (at, Some(Early::Fail));
                break;
            }
        }
        times.sort_by(f64::total_cmp);
        let elapsed_s = measured.max(last_done);
        self.now += elapsed_s;
        let whole = (measured as usize).max(1);
        // As a real trial counts: nothing after its end, and no stretch for the rest of a second.
        for them in &mut stretches {
            while them.len() > whole {
                let last = them.pop().expect("longer than one");
                let before = them.last_mut().expect("one is left");
                *before = (before.0 + last.0, before.1 + last.1);
            }
        }
        let p99 = times.get((times.len() as f64 * 0.99) as usize).copied().unwrap_or(0.0);
        let failed = bad[1] as f64 / (due as f64).max(1.0);
        let [late, refused] = stretches;
        let seen = vec![
            PromiseFigure { bad: bad[0], of: None, value: p99, stretches: late },
            PromiseFigure { bad: bad[1], of: None, value: failed, stretches: refused },
        ];
        TrialResult { seconds: measured, elapsed_s, due, seen, standing: Standing::Valid, early }
    }

    /// Probes once a second until one is answered as an idle server would.
    fn rest(&mut self, seconds_max: f64) -> Pause {
        let seconds = (self.broken_until - self.now).max(0.0).ceil() + 1.0;
        let rested = Pause { seconds: seconds.min(seconds_max), recovered: seconds <= seconds_max };
        self.now += rested.seconds;
        rested
    }

    /// Whether it keeps both promises at `rate` in the long run. Far above its capacity that is seen long before the end.
    fn keeps(&self, rate: f64, promises: &[Promise], requests: f64) -> bool {
        let mut server = self.seeded(4711);
        let arrivals = server.arrivals(rate, requests / rate);
        let [late_max, failed_max] = [0, 1].map(|it| promises[it].bad_share_max * arrivals.len() as f64);
        let (mut late, mut failed) = (0.0, 0.0);
        arrivals.into_iter().all(|at| {
            let answer = server.answer(at);
            failed += f64::from(u8::from(answer.is_none()));
            late += f64::from(u8::from(answer.is_none_or(|it| it > server.limit_s)));
            late <= late_max && failed <= failed_max
        })
    }

    /// The highest rate at which it keeps them over so many requests, in requests a second. A million show a capacity to some tenths
    /// of a per cent.
    #[must_use]
    pub fn true_capacity(&self, promises: &[Promise], requests: f64) -> f64 {
        let most = match self.temper {
            Temper::Limited { rate, .. } => rate,
            _ => self.workers as f64 / self.service.mean(),
        };
        let (mut low, mut high) = (most * 0.05, most * 1.1);
        for _ in 0..10 {
            let middle = (low + high) / 2.0;
            if self.keeps(middle, promises, requests) { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    }
}

/// Of a 99th percentile below `limit_s` seconds, and of next to no failures.
#[must_use]
pub fn promises(limit_s: f64) -> Vec<Promise> {
    let late = Promise {
        text: format!("p99 < {}ms", limit_s * 1e3),
        name: "p99".into(),
        unit: Unit::Seconds,
        bad_share_max: 0.01,
        limit_s: Some(limit_s),
    };
    vec![late, Promise { text: "failed < 0.1%".into(), name: "failed".into(), unit: Unit::Share, bad_share_max: 0.001, limit_s: None }]
}

/// Carries a whole search out.
///
/// # Panics
/// If the settings contradict each other, or the search does not end.
pub fn search(server: &mut Server, settings: Settings) -> (Answer, Vec<Trial>) {
    let promises = settings.promises.clone();
    let mut search = Search::new(settings).expect("settings that fit together");
    for _ in 0..1_000 {
        match search.next() {
            Step::Trial { rate, seconds, purpose, .. } => search.learn(server.trial(rate, seconds, purpose, &promises)),
            Step::Rest { seconds_max, .. } => search.rested(server.rest(seconds_max)),
            Step::Done(answer) => return (*answer, search.trials().to_vec()),
        }
    }
    panic!("the search did not end");
}

/// By how much the interval misses the truth: 0 inside.
#[must_use]
pub fn miss(answer: &Answer, truth: f64) -> f64 {
    let below = answer.capacity.low / truth - 1.0;
    let above = answer.capacity.high.map_or(0.0, |high| 1.0 - high / truth);
    below.max(above).max(0.0)
}
