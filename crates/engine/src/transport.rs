//! What a worker's requests go over, and the time they take: the two seams that the simulated engine replaces.

use std::marker::PhantomData;

use crate::clock::Clock;
use crate::net::Dial;

/// How connections are opened, and what time it is. Real or simulated: nobody outside of the engine has another.
pub trait Transport: 'static {
    /// Opens connections.
    type Dial: Dial + 'static;
    /// Tells the time.
    type Clock: Clock;
}

/// The transport of a worker whose users behave so. Each behaviour has a type of its own, so that its whole path is compiled for it
/// alone, and into one: shared by all, each step of the path would be a call.
pub(crate) struct Path<D, C, B>(PhantomData<(D, C, B)>);

impl<D: Dial + 'static, C: Clock, B: 'static> Transport for Path<D, C, B> {
    type Dial = D;
    type Clock = C;
}
