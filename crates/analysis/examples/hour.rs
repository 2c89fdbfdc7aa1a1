//! Prints how long the intervals of a one-hour run take: 3,600 ticks, 2,000 replicates. Run it in release.

use std::time::Instant;

use analysis::interval::{REPLICATES, Slice, slices_between, uncertainty};
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
                unsent: 0,
                bytes_sent: 0,
                bytes_received: 0,
                in_flight: 0,
                connections: 0,
                cpu: Nanos::ZERO,
                lag_max: Nanos::ZERO,
                response_time: times.pack(),
            }
        })
        .collect();
    let began = Instant::now();
    let slices: Vec<Slice> = slices_between(&ticks, Nanos::ZERO, Nanos::from_secs(SECONDS)).expect("the ticks were packed here");
    let unpacked = began.elapsed();
    let uncertainty = uncertainty(&slices, REPLICATES, &mut random);
    let all = began.elapsed();
    println!("{} intervals, {} samples, {REPLICATES} replicates", uncertainty.intervals, uncertainty.samples);
    println!(
        "unpacking {:.2} s, intervals {:.2} s, together {:.2} s",
        unpacked.as_secs_f64(),
        (all - unpacked).as_secs_f64(),
        all.as_secs_f64()
    );
    for quantile in &uncertainty.quantiles {
        println!("{quantile:?}");
    }
}
