//! What a worker's requests go over, what is spoken there, and the time they take: the seams that the simulated engine replaces.

use std::marker::PhantomData;

use crate::clock::Clock;
use crate::net::Dial;
use crate::protocol::{self, Protocol};

/// How connections are opened, what is spoken on them, and what time it is. Real or simulated: nobody outside of the engine has another.
pub trait Transport: 'static {
    /// Opens connections.
    type Dial: Dial + 'static;
    /// Is spoken on them.
    type Protocol: Protocol;
    /// Tells the time.
    type Clock: Clock;
}

/// What connections are read from and written to.
pub(crate) type Stream<T> = <<T as Transport>::Dial as Dial>::Stream;

/// A place on a connection.
pub(crate) type Place<T> = <<T as Transport>::Protocol as Protocol>::Place<Stream<T>>;

/// What the connections of a worker share.
pub(crate) type Memory<T> = <Place<T> as protocol::Place>::Memory;

/// What the protocol itself knows of an exchange under way.
pub(crate) type State<T> = <Place<T> as protocol::Place>::State;

/// The transport of a worker whose users behave so. Each behaviour has a type of its own, so that its whole path is compiled for it
/// alone, and into one: shared by all, each step of the path would be a call.
pub(crate) struct Path<D, P, C, B>(PhantomData<(D, P, C, B)>);

impl<D: Dial + 'static, P: Protocol, C: Clock, B: 'static> Transport for Path<D, P, C, B> {
    type Dial = D;
    type Protocol = P;
    type Clock = C;
}
