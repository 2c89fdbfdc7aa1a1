//! What time it is, and waiting for a time, without a clock known to anybody else.
//!
//! The engine is tested to the nanosecond, so time comes from one place that can be replaced: the system's monotonic
//! clock in real runs, Tokio's paused clock in simulated ones. A wall clock would step; Tokio's timers have a grain of a
//! millisecond, twenty arrivals long at 20,000/s, so waiting for an arrival goes through a timer of the kernel's own.

use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll};
use std::time::Duration;

use plan::Nanos;
use rustix::time::{ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use tokio::io::unix::AsyncFd;

use crate::machine;

/// Time since the start of a run, and alarms.
pub trait Clock: Clone + 'static {
    /// A timer that rings once at a time; of the finest grain there is.
    type Alarm: Alarm;

    /// Now.
    fn now(&self) -> Nanos;

    /// When the run started, since 1970: for people, and for no time of a request.
    fn began(&self) -> Nanos;

    /// Processor time this thread has used so far.
    fn cpu(&self) -> Nanos;

    /// How long this thread has been ready to run without a core to run on, so far. It is read from a file of the system's, so not
    /// on the request path.
    fn in_line(&self) -> Nanos;

    /// A timer of its own.
    fn alarm(&self) -> Self::Alarm;

    /// Waits until a time with the grain of a millisecond, for what is not on the request path.
    fn sleep_until(&self, at: Nanos) -> tokio::time::Sleep;
}

/// A timer that rings once.
pub trait Alarm {
    /// Sets it; a time in the past rings at once.
    fn set(&mut self, at: Nanos);

    /// Waits for it.
    fn rung(&mut self) -> impl Future<Output = ()>;
}

/// The system's monotonic clock, counted from a start line that all workers of a run share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Monotonic {
    start: u64,
    /// When the clock stood at 0, since 1970.
    zero: Nanos,
}

fn read(clock: ClockId) -> u64 {
    let now = rustix::time::clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// This machine's monotonic clock, the same for all its processes.
#[must_use]
pub fn monotonic_now() -> Nanos {
    Nanos(read(ClockId::Monotonic))
}

impl Monotonic {
    /// A start line this much in the future.
    pub(crate) fn starting_in(span: Nanos) -> Self {
        Self { start: read(ClockId::Monotonic) + span.0, zero: Nanos::ZERO }
    }

    /// A start line at this time, which is waited for.
    pub(crate) fn starting_at(start: Nanos) -> Self {
        std::thread::sleep(start.since(monotonic_now()).into());
        Self { start: start.0, zero: Nanos::ZERO }
    }

    /// The same of a machine whose clock stood at 0 then, since 1970.
    pub(crate) fn dated(self, zero: Nanos) -> Self {
        Self { zero, ..self }
    }
}

impl Clock for Monotonic {
    type Alarm = Timer;

    #[inline]
    fn now(&self) -> Nanos {
        Nanos(read(ClockId::Monotonic).saturating_sub(self.start))
    }

    fn began(&self) -> Nanos {
        self.zero.plus(Nanos(self.start))
    }

    fn cpu(&self) -> Nanos {
        Nanos(read(ClockId::ThreadCPUTime))
    }

    fn in_line(&self) -> Nanos {
        machine::run_queue_wait().unwrap_or(Nanos::ZERO)
    }

    fn alarm(&self) -> Timer {
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)
            .expect("a timer is one more open file, and room for it is reserved");
        // SAFETY: the descriptor was just opened, and the `OwnedFd` that goes in keeps it open, as the only owner, until
        // the `AsyncFd` is dropped with it. Tokio has no other door for a timerfd.
        #[expect(unsafe_code)]
        let timer = unsafe { AsyncFd::register(timer) }.expect("a timer can be polled");
        Timer { timer, clock: *self, at: Nanos::ZERO, wake: Nanos::ZERO, early: EARLY_FIRST }
    }

    fn sleep_until(&self, at: Nanos) -> tokio::time::Sleep {
        tokio::time::sleep(Duration::from(at.since(self.now())))
    }
}

/// A core that slept takes tens of microseconds to run again, which would be each request's lag. So a timer that rings far off wakes this
/// thread early, by what the wakes before took, and the rest is waited for awake: at most the tenth part of the time.
const EARLY_SHARE: u64 = 10;
/// How early at first.
const EARLY_FIRST: Nanos = Nanos::from_micros(60);
/// A wake that takes longer is late for another reason.
const EARLY_MAX: Nanos = Nanos::from_micros(150);
/// How much earlier after a wake that came too late, and how much later after one in time: nine of ten come in time.
const EARLY_STEP: Nanos = Nanos::from_micros(9);
const LATER_STEP: Nanos = Nanos::from_micros(1);

/// A timerfd: nanosecond resolution, absolute, and free of the 50 µs slack that sleeping has.
#[derive(Debug)]
pub(crate) struct Timer {
    timer: AsyncFd<OwnedFd>,
    clock: Monotonic,
    /// When it rings.
    at: Nanos,
    /// When the kernel is asked to wake this thread.
    wake: Nanos,
    /// How long before it rings that is, where it is far off.
    early: Nanos,
}

impl Alarm for Timer {
    fn set(&mut self, at: Nanos) {
        let is_far_off = at.since(self.clock.now()).0 / EARLY_SHARE > self.early.0;
        (self.at, self.wake) = (at, if is_far_off { at.since(self.early) } else { at });
        let wake = self.clock.start + self.wake.0;
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Timespec { tv_sec: (wake / 1_000_000_000) as _, tv_nsec: (wake % 1_000_000_000) as _ };
        // Setting it also forgets that it rang before.
        rustix::time::timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::ABSTIME, &Itimerspec { it_interval: zero, it_value: value })
            .expect("the time is within what the kernel counts");
    }

    async fn rung(&mut self) {
        poll_fn(|cx| self.poll_woken(cx)).await;
        if self.wake == self.at {
            return;
        }
        let took = self.clock.now().since(self.wake);
        self.early = if took > self.early { self.early.plus(EARLY_STEP).min(EARLY_MAX) } else { self.early.since(LATER_STEP) };
        while self.clock.now() < self.at {
            // Answers are read meanwhile.
            tokio::task::yield_now().await;
        }
    }
}

impl Timer {
    fn poll_woken(&self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if self.clock.now() >= self.wake {
                return Poll::Ready(());
            }
            match self.timer.poll_read_ready(cx) {
                // Readiness may be left over from the time before; the clock has the last word.
                Poll::Ready(Ok(mut ready)) => ready.clear_ready(),
                Poll::Ready(Err(error)) => panic!("the timer cannot be polled: {error}"),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

#[cfg(any(test, feature = "simulated"))]
pub(crate) use simulated::Simulated;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use plan::Nanos;

    use super::{Alarm, Clock, EARLY_MAX, Monotonic};

    #[test]
    fn a_timer_that_is_far_off_wakes_early_and_none_rings_before_its_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let clock = Monotonic::starting_in(Nanos::ZERO);
            let mut timer = clock.alarm();
            for micros in [3000, 300, 2000, 50].repeat(25) {
                let at = clock.now().plus(Nanos::from_micros(micros));
                timer.set(at);
                assert!(timer.early <= EARLY_MAX, "{timer:?}");
                // A pause of this thread may have brought it near meanwhile.
                assert!(timer.wake == at || at.since(timer.wake) == timer.early && micros >= 300, "{timer:?}");
                timer.rung().await;
                assert!(clock.now() >= at, "{timer:?}");
            }
            timer.early = Nanos::from_micros(60);
            timer.set(clock.now().plus(Nanos::from_millis(200)));
            assert_eq!(timer.at.since(timer.wake), Nanos::from_micros(60));
        });
    }

    fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { sources(&path, found) } else { found.push(path) }
        }
    }

    #[test]
    fn no_time_of_a_request_comes_from_a_clock_that_may_step() {
        let mut found = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let clocks = [["Clock", "Id::Real"].concat(), ["System", "Time"].concat(), ["getti", "meofday"].concat()];
        let wall = ["Timestamp", "::now"].concat();
        let mut asked = Vec::new();
        for path in &found {
            let text = fs::read_to_string(path).unwrap();
            assert!(clocks.iter().all(|clock| !text.contains(clock)), "{}", path.display());
            asked.extend(text.matches(&wall).map(|_| path.file_name().unwrap().to_owned()));
        }
        assert!(found.len() > 10);
        // When the run began, for people.
        assert_eq!(asked, ["threads.rs"]);
    }
}

#[cfg(any(test, feature = "simulated"))]
mod simulated {
    use plan::Nanos;
    use std::time::Duration;
    use tokio::time::Instant;

    use super::{Alarm, Clock};

    /// Tokio's clock, which tests pause and which then jumps from timer to timer.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Simulated {
        start: Instant,
    }

    impl Simulated {
        /// Starting now.
        pub(crate) fn starting_now() -> Self {
            Self { start: Instant::now() }
        }
    }

    impl Clock for Simulated {
        type Alarm = Ring;

        fn now(&self) -> Nanos {
            Instant::now().duration_since(self.start).into()
        }

        fn began(&self) -> Nanos {
            Nanos::ZERO
        }

        fn cpu(&self) -> Nanos {
            Nanos::ZERO
        }

        fn in_line(&self) -> Nanos {
            Nanos::ZERO
        }

        fn alarm(&self) -> Ring {
            Ring { sleep: Box::pin(tokio::time::sleep(Duration::ZERO)), start: self.start }
        }

        fn sleep_until(&self, at: Nanos) -> tokio::time::Sleep {
            tokio::time::sleep_until(self.start + Duration::from(at))
        }
    }

    /// A timer of Tokio's.
    #[derive(Debug)]
    pub(crate) struct Ring {
        sleep: std::pin::Pin<Box<tokio::time::Sleep>>,
        start: Instant,
    }

    impl Alarm for Ring {
        fn set(&mut self, at: Nanos) {
            self.sleep.as_mut().reset(self.start + Duration::from(at));
        }

        async fn rung(&mut self) {
            self.sleep.as_mut().await;
        }
    }
}
