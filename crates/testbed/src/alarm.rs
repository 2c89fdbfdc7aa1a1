//! Waiting for an instant, to some tens of microseconds.
//!
//! Tokio's timers tick once a millisecond, so a reply due in 250 µs leaves after 1 ms: a server with known service times
//! would have unknown ones. Each serving thread therefore has one kernel timer, armed for the earliest of its alarms.
//! Where the kernel has no such timer Tokio's is used, and only accuracy is lost.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// All alarms of one thread.
pub(crate) struct Alarms {
    waiting: RefCell<BTreeMap<(Instant, u64), Waker>>,
    numbered: Cell<u64>,
    timer: Timer,
}

impl Alarms {
    /// No alarms yet. Must be called inside the runtime of the thread.
    pub(crate) fn new() -> io::Result<Rc<Alarms>> {
        Ok(Rc::new(Alarms { waiting: RefCell::default(), numbered: Cell::new(0), timer: Timer::new()? }))
    }

    /// An alarm at the given instant.
    pub(crate) fn at(self: &Rc<Alarms>, at: Instant) -> Alarm {
        let number = self.numbered.get();
        self.numbered.set(number + 1);
        Alarm { alarms: Rc::clone(self), key: (at, number) }
    }

    /// Wakes whoever is due, for ever; runs as a task of the thread.
    pub(crate) async fn ring(self: Rc<Alarms>) -> io::Result<()> {
        loop {
            self.timer.expired().await?;
            let now = Instant::now();
            let due = {
                let mut waiting = self.waiting.borrow_mut();
                let later = waiting.split_off(&(now, u64::MAX));
                std::mem::replace(&mut *waiting, later)
            };
            for waker in due.into_values() {
                waker.wake();
            }
            self.arm(now)?;
        }
    }

    fn arm(&self, now: Instant) -> io::Result<()> {
        match self.waiting.borrow().first_key_value() {
            Some(((at, _), _)) => self.timer.arm(at.saturating_duration_since(now)),
            None => Ok(()),
        }
    }
}

/// Completes at its instant.
pub(crate) struct Alarm {
    alarms: Rc<Alarms>,
    key: (Instant, u64),
}

impl Future for Alarm {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let now = Instant::now();
        if self.key.0 <= now {
            return Poll::Ready(());
        }
        let earliest = {
            let mut waiting = self.alarms.waiting.borrow_mut();
            waiting.insert(self.key, context.waker().clone());
            waiting.first_key_value().is_some_and(|(key, _)| *key == self.key)
        };
        // A timer that cannot be armed means a broken kernel; replying early is the lesser evil than never.
        if earliest && self.alarms.arm(now).is_err() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.alarms.waiting.borrow_mut().remove(&self.key);
    }
}

/// A timerfd, read as if it were a pipe: eight bytes come whenever it expires. Tokio's general wrapper for descriptors is
/// either deprecated or unsafe to build.
#[cfg(target_os = "linux")]
struct Timer(tokio::net::unix::pipe::Receiver);

#[cfg(target_os = "linux")]
impl Timer {
    fn new() -> io::Result<Timer> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        let fd = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        Ok(Timer(tokio::net::unix::pipe::Receiver::from_owned_fd_unchecked(fd)?))
    }

    fn arm(&self, after: Duration) -> io::Result<()> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        // Zero would disarm it.
        let after = after.max(Duration::from_nanos(1));
        let once = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec { tv_sec: after.as_secs() as _, tv_nsec: after.subsec_nanos().into() },
        };
        timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    async fn expired(&self) -> io::Result<()> {
        loop {
            self.0.readable().await?;
            match self.0.try_read(&mut [0; 8]) {
                Ok(_) => return Ok(()),
                // Armed anew between expiring and being read.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
struct Timer {
    armed: Cell<Option<Instant>>,
    changed: tokio::sync::Notify,
}

#[cfg(not(target_os = "linux"))]
impl Timer {
    fn new() -> io::Result<Timer> {
        Ok(Timer { armed: Cell::new(None), changed: tokio::sync::Notify::new() })
    }

    fn arm(&self, after: Duration) -> io::Result<()> {
        self.armed.set(Some(Instant::now() + after));
        self.changed.notify_one();
        Ok(())
    }

    async fn expired(&self) -> io::Result<()> {
        loop {
            match self.armed.get() {
                None => self.changed.notified().await,
                Some(at) => tokio::select! {
                    () = tokio::time::sleep_until(at.into()) => {
                        self.armed.set(None);
                        return Ok(());
                    }
                    () = self.changed.notified() => {}
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_a_serving_thread<T>(test: impl AsyncFnOnce(Rc<Alarms>) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, async {
            let alarms = Alarms::new().unwrap();
            tokio::task::spawn_local(Rc::clone(&alarms).ring());
            test(alarms).await
        })
    }

    #[test]
    fn alarms_ring_in_the_order_of_their_instants_and_never_early() {
        on_a_serving_thread(async |alarms| {
            let start = Instant::now();
            let rung = Rc::new(RefCell::new(Vec::new()));
            let tasks: Vec<_> = [3_u64, 1, 2, 0]
                .into_iter()
                .map(|place| {
                    let (at, rung) = (start + Duration::from_millis(20 * place), Rc::clone(&rung));
                    let alarm = alarms.at(at);
                    tokio::task::spawn_local(async move {
                        alarm.await;
                        assert!(Instant::now() >= at);
                        rung.borrow_mut().push(place);
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(*rung.borrow(), [0, 1, 2, 3]);
        });
    }

    #[test]
    fn a_dropped_alarm_leaves_nothing_behind() {
        on_a_serving_thread(async |alarms| {
            let mut far = Box::pin(alarms.at(Instant::now() + Duration::from_secs(3600)));
            std::future::poll_fn(|context| {
                assert!(far.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
            assert_eq!(alarms.waiting.borrow().len(), 1);
            drop(far);
            assert!(alarms.waiting.borrow().is_empty());
            alarms.at(Instant::now() + Duration::from_millis(1)).await;
        });
    }
}
