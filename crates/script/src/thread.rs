//! The thread objects of scripts: one worker as `setup`, `done` and the worker itself see it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::net::Reach;
use mlua::{Lua, LuaString, Table, Value, WeakLua};

use crate::state::within;
use crate::values::Copied;

/// What the engine and the script both know of a worker.
#[derive(Debug)]
pub(crate) struct Shared {
    stopped: AtomicBool,
    address: Mutex<Option<SocketAddr>>,
    reach: Arc<Reach>,
}

impl Shared {
    pub(crate) fn new(reach: Arc<Reach>) -> Self {
        Self { stopped: AtomicBool::new(false), address: Mutex::new(None), reach }
    }

    #[inline]
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What `wrk.lua` makes a thread object of, in whichever state. It does not keep the thread's own state alive, in which it
/// also lives.
pub(crate) fn functions(lua: &Lua, state: &WeakLua, shared: &Arc<Shared>) -> mlua::Result<Table> {
    let own = lua.create_table()?;
    let gone = || mlua::Error::runtime("the thread is gone");
    let of = state.clone();
    let get = move |lua: &Lua, name: LuaString| {
        let state = of.try_upgrade().ok_or_else(gone)?;
        let value: Value = state.globals().get(state.create_string(name.as_bytes())?)?;
        Copied::of(&value)?.into_lua(lua)
    };
    own.raw_set("get", lua.create_function(get)?)?;
    let of = state.clone();
    let set = move |_: &Lua, (name, value): (LuaString, Value)| {
        let state = of.try_upgrade().ok_or_else(gone)?;
        let value = Copied::of(&value)?.into_lua(&state)?;
        state.globals().set(state.create_string(name.as_bytes())?, value)
    };
    own.raw_set("set", lua.create_function(set)?)?;
    let stopped = shared.clone();
    let stop = move |_: &Lua, ()| {
        stopped.stopped.store(true, Ordering::Relaxed);
        Ok(())
    };
    own.raw_set("stop", lua.create_function(stop)?)?;
    let addressed = shared.clone();
    let address = move |_: &Lua, ()| Ok(addressed.address().map(|address| address.to_string()));
    own.raw_set("address", lua.create_function(address)?)?;
    let addressed = shared.clone();
    let direct = move |_: &Lua, address: String| {
        let address = within(&addressed.reach, &address)?;
        *addressed.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
        Ok(())
    };
    own.raw_set("direct", lua.create_function(direct)?)?;
    Ok(own)
}
