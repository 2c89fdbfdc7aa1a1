//! Addresses as scripts hold them: `wrk.lookup` finds them, `thread.addr` takes them, `tostring` shows them.

use std::net::SocketAddr;

use mlua::{MetaMethod, UserData, UserDataMethods};

/// An address object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address(pub(crate) SocketAddr);

impl UserData for Address {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        // wrk writes no brackets around IPv6 addresses.
        methods.add_meta_method(MetaMethod::ToString, |_, address, ()| Ok(format!("{}:{}", address.0.ip(), address.0.port())));
    }
}
