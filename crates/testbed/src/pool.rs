//! A pool of workers with one queue: its capacity is exactly workers ÷ mean service time.
//!
//! Threads that sleep for a service time drift: every timer rounds up, and the error adds up to a capacity nobody
//! asked for. Here a worker is only the instant at which it will be free. A request starts at the later of its arrival
//! and the first such instant, its reply is due one service time after its start, and the next request of that worker
//! starts from the *due* instant, not from when the reply really left. Late timers delay replies; they never cost capacity.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::distribution::Distribution;

/// So many workers, each serving one request at a time, first come first served.
///
/// A request whose client gave up still occupies its worker, as it does in most servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pool {
    /// How many requests are served at a time.
    pub workers: NonZeroU32,
    /// How long a worker takes for one.
    pub service: Distribution,
}

impl Pool {}

/// The workers of a pool, as the instants at which they become free.
#[derive(Debug)]
pub struct Workers {
    free_at: BinaryHeap<Reverse<Duration>>,
}

impl Workers {
    /// So many idle workers.
    pub fn idle(workers: NonZeroU32) -> Workers {
        Workers { free_at: vec![Reverse(Duration::ZERO); workers.get() as usize].into() }
    }

    /// Takes in a request that arrives at `arrival` and needs `service`; tells when its reply is due. Requests are
    /// served in the order of the calls.
    pub fn admit(&mut self, arrival: Duration, service: Duration) -> Duration {
        let Some(mut first_free) = self.free_at.peek_mut() else {
            return arrival + service;
        };
        let due = first_free.0.max(arrival) + service;
        *first_free = Reverse(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn workers(count: u32) -> Workers {
        Workers::idle(NonZeroU32::new(count).unwrap())
    }

    #[test]
    fn idle_workers_start_at_once_and_the_rest_wait_in_line() {
        let mut workers = workers(2);
        let due: Vec<Duration> = (0..5).map(|_| workers.admit(ms(100), ms(10))).collect();
        assert_eq!(due, [ms(110), ms(110), ms(120), ms(120), ms(130)]);
    }

    #[test]
    fn a_worker_that_was_idle_does_not_make_up_for_it() {
        let mut workers = workers(1);
        assert_eq!(workers.admit(ms(0), ms(10)), ms(10));
        assert_eq!(workers.admit(ms(500), ms(10)), ms(510));
    }

    #[test]
    fn a_saturated_pool_serves_workers_divided_by_service_time() {
        let mut workers = workers(4);
        let service = Duration::from_micros(250);
        let last = (0..16_000).map(|_| workers.admit(Duration::ZERO, service)).max().unwrap();
        assert_eq!(last, ms(1000));
    }

    #[test]
    fn a_short_request_overtakes_no_one_but_finishes_first() {
        let mut workers = workers(2);
        assert_eq!(workers.admit(ms(0), ms(100)), ms(100));
        assert_eq!(workers.admit(ms(0), ms(10)), ms(10));
        assert_eq!(workers.admit(ms(1), ms(10)), ms(20));
    }
}
