//! Prints how long the analysis of a one-hour run takes: 3,600 ticks, 2,000 replicates. Run it in release.

use std::time::Instant;

use analysis::drift::stability;
use analysis::interval::{REPLICATES, Slice, slices_between, uncertainty};
use analysis::peaks::peaks;
use analysis::warmup::warmup;
use measure::{Histogram, Tick};
use plan::{Nanos, Random};

const SECONDS: u64 = 3_600;
const PER_SECOND: u64 = 2_000;

fn main() {
    let mut random = Random::new(1, 0);
    let mut level = 0.0f64;
    let ticks: Vec<Tick> = (0..SECONDS)
        .map(|second| {
            level = 0.5f64.mul_add(level, 0.1 * (random.unit() - 0.5));
            let mut times = Histogram::new();
            for _ in 0..PER_SECOND {
                times.record(Nanos((2e6 * level.exp() * (0.2 + random.exponential())) as u64));
            }
            Tick {
                from: Nanos::from_secs(second),
                to: Nanos::from_secs(second + 1),
                warmup: false,
                answered: PER_SECOND + random.between(0, 100),
                due: PER_SECOND,
                succeeded: PER_SECOND - second % 3,
                failed: second % 3,
                failures: std::collections::BTreeMap::new(),
                unsent: 0,
                bytes_sent: 0,
                bytes_received: 0,
                in_flight: 0,
                connections: 0,
                cpu: Nanos::ZERO,
                lag_max: Nanos::ZERO,
                response_time: times.pack(),
                journeys: None,
                streams: None,
            }
        })
        .collect();
    let first = ticks[0].response_time.unpack().expect("the ticks were packed here");
    let began = Instant::now();
    let slices: Vec<Slice> = slices_between(&ticks, Nanos::ZERO, Nanos::from_secs(SECONDS)).expect("the ticks were packed here");
    let unpacked = began.elapsed();
    let uncertainty = uncertainty(&slices, REPLICATES, &mut random);
    let drawn = began.elapsed();
    let (warm, stability, peaks) = (warmup(&slices), stability(&slices), peaks(&first));
    let all = began.elapsed();
    println!("{} intervals, {} samples, {REPLICATES} replicates", uncertainty.intervals, uncertainty.samples);
    println!(
        "unpacking {:.2} s, intervals {:.2} s, warm-up, drift and peaks {:.2} s, together {:.2} s",
        unpacked.as_secs_f64(),
        (drawn - unpacked).as_secs_f64(),
        (all - drawn).as_secs_f64(),
        all.as_secs_f64()
    );
    println!("{warm:?}, {} changes, {} peaks", stability.changes.len(), peaks.len());
    for quantile in &uncertainty.quantiles {
        println!("{quantile:?}");
    }
}
