//! The connections of a worker that carry several exchanges at once, and who waits for a place on one.
//!
//! Of those that lead to an origin the one with the fewest places taken is used. While somebody opens one to there, the others wait for it:
//! else all users of a load that begins would open one each.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use plan::Target;

use super::same_origin;

/// A connection as its pool sees it.
pub(super) trait Carrier {
    /// Its places.
    fn shares(&self) -> &Shares;

    /// How many it has.
    fn room(&self) -> Room;
}

/// The places of one connection.
pub(super) struct Shares {
    /// Where it leads, if not to the plan's target.
    to: Option<Target>,
    /// How many places there are.
    taken: Cell<u32>,
    /// How many of them are not yet counted as given up.
    held: Cell<u32>,
    is_counted: Cell<bool>,
    /// Who waits for one.
    pub(super) waiting: Waiting,
}

impl Shares {
    pub(super) const fn to(&self) -> Option<&Target> {
        self.to.as_ref()
    }

    /// Whether the connection is counted as closed.
    pub(super) const fn is_counted(&self) -> bool {
        self.is_counted.get()
    }

    /// A place is taken.
    pub(super) fn take(&self) {
        self.taken.set(self.taken.get() + 1);
        self.held.set(self.held.get() + 1);
    }

    /// A place that was taken is there no more. Whether it was the last.
    pub(super) fn leave(&self) -> bool {
        self.taken.set(self.taken.get() - 1);
        self.taken.get() == 0
    }

    /// A place is given up, as far as is counted, if it was `held`; whether the connection, which may be broken, is counted as closed with it.
    pub(super) fn release(&self, held: &mut bool, is_broken: bool) -> bool {
        if std::mem::take(held) {
            self.held.set(self.held.get() - 1);
        }
        (self.held.get() == 0 || is_broken) && !self.is_counted.replace(true)
    }
}

/// How many places a connection has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// None any more.
    Over,
    /// The server has not said yet.
    Untold,
    /// So many at most.
    Places(u32),
}

/// Who waits for a place.
#[derive(Clone, Default)]
pub(super) struct Waiting(Rc<RefCell<Vec<Waker>>>);

impl Waiting {
    pub(super) fn wake_all(&self) {
        self.0.take().into_iter().for_each(Waker::wake);
    }
}

/// The connections of a worker.
pub(super) struct Pool<C> {
    open: RefCell<Vec<Weak<C>>>,
    /// Where somebody opens one: `None` is the plan's target.
    opening: RefCell<Vec<Option<Target>>>,
    /// Who waits for that, or for a server to say how many exchanges it takes.
    waiting: Waiting,
    /// How many places a connection has at most, as planned.
    places: u32,
}

impl<C> Pool<C> {
    /// One whose connections have so many places at most.
    pub(super) fn new(places: u32) -> Self {
        Self { open: RefCell::default(), opening: RefCell::default(), waiting: Waiting::default(), places }
    }

    /// The places of a connection that was opened to there, of which none is taken.
    pub(super) fn shares(&self, to: Option<&Target>) -> Shares {
        let (taken, held, is_counted) = (Cell::new(0), Cell::new(0), Cell::new(false));
        Shares { to: to.cloned(), taken, held, is_counted, waiting: self.waiting.clone() }
    }

    /// A connection to there was opened, or could not be.
    pub(super) fn opened(&self, to: Option<&Target>) {
        self.opening.borrow_mut().retain(|origin| !same_origin(origin.as_ref(), to));
        self.waiting.wake_all();
    }

    /// A connection that others may have places on.
    pub(super) fn add(&self, connection: &Rc<C>) {
        if self.places > 1 {
            self.open.borrow_mut().push(Rc::downgrade(connection));
        }
    }
}

impl<C: Carrier> Pool<C> {
    /// A connection that is open and has a free place; `None` if one has to be opened. Pending while somebody opens one.
    pub(super) fn poll_free(&self, cx: &mut Context<'_>, to: Option<&Target>) -> Poll<Option<Rc<C>>> {
        if self.places == 1 {
            return Poll::Ready(None);
        }
        let mut best: Option<Rc<C>> = None;
        let mut waits = self.opening.borrow().iter().any(|origin| same_origin(origin.as_ref(), to));
        self.open.borrow_mut().retain(|connection| {
            let Some(connection) = connection.upgrade() else { return false };
            let (room, shares) = (connection.room(), connection.shares());
            if room == Room::Over {
                return false;
            }
            if same_origin(shares.to(), to) {
                match room {
                    Room::Places(places) => {
                        let taken = shares.taken.get();
                        if taken < self.places.min(places.max(1)) && best.as_ref().is_none_or(|best| best.shares().taken.get() > taken) {
                            best = Some(connection);
                        }
                    }
                    Room::Untold | Room::Over => waits = true,
                }
            }
            true
        });
        if best.is_some() {
            return Poll::Ready(best);
        }
        if waits {
            self.waiting.0.borrow_mut().push(cx.waker().clone());
            return Poll::Pending;
        }
        self.opening.borrow_mut().push(to.cloned());
        Poll::Ready(None)
    }
}
