//! The thread objects of scripts: one worker as `setup`, `done` and the worker itself see it.
//!
//! States share nothing, so what goes from one to another is copied: nil, booleans, numbers, strings and tables of these.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::net::Reach;
use mlua::{Lua, LuaString, Table, Value, WeakLua};

use crate::state::within;

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
        Copied::of(&value, 0)?.into_lua(lua)
    };
    own.raw_set("get", lua.create_function(get)?)?;
    let of = state.clone();
    let set = move |_: &Lua, (name, value): (LuaString, Value)| {
        let state = of.try_upgrade().ok_or_else(gone)?;
        let value = Copied::of(&value, 0)?.into_lua(&state)?;
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

/// A value outside any state.
enum Copied {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(Vec<u8>),
    Table(Vec<(Self, Self)>),
}

/// Tables within tables; one that holds itself has no end.
const DEPTH_MAX: u32 = 100;

impl Copied {
    fn of(value: &Value, depth: u32) -> mlua::Result<Self> {
        let refused = || mlua::Error::runtime(format!("cannot transfer '{}' to thread", value.type_name()));
        Ok(match value {
            Value::Nil => Self::Nil,
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Integer(value) => Self::Number(*value as f64),
            Value::Number(value) => Self::Number(*value),
            Value::String(text) => {
                // As in wrk, where text ends with its first NUL.
                let bytes = text.as_bytes();
                Self::Text(bytes.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())
            }
            Value::Table(_) if depth == DEPTH_MAX => return Err(refused()),
            Value::Table(table) => {
                let pairs = table.pairs::<Value, Value>().map(|pair| {
                    let (key, value) = pair?;
                    Ok((Self::of(&key, depth + 1)?, Self::of(&value, depth + 1)?))
                });
                Self::Table(pairs.collect::<mlua::Result<_>>()?)
            }
            _ => return Err(refused()),
        })
    }

    fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
        Ok(match self {
            Self::Nil => Value::Nil,
            Self::Boolean(value) => Value::Boolean(value),
            Self::Number(value) => Value::Number(value),
            Self::Text(bytes) => Value::String(lua.create_string(bytes)?),
            Self::Table(pairs) => {
                let table = lua.create_table()?;
                for (key, value) in pairs {
                    table.raw_set(key.into_lua(lua)?, value.into_lua(lua)?)?;
                }
                Value::Table(table)
            }
        })
    }
}
