//! The thread objects of scripts: one worker as `setup`, `done` and the worker itself see it.
//!
//! States share nothing, so what goes from one to another is copied: nil, booleans, numbers, strings and tables of these.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mlua::{AnyUserData, Lua, LuaString, MetaMethod, UserData, UserDataMethods, Value, WeakLua};

use crate::address::Address;

/// What the engine and the script both know of a worker.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    stopped: AtomicBool,
    address: Mutex<Option<SocketAddr>>,
}

impl Shared {
    #[inline]
    pub(crate) fn has_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn address(&self) -> Option<SocketAddr> {
        *self.address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread object. It does not keep its state alive: it also lives in it.
#[derive(Clone)]
pub(crate) struct Thread {
    pub(crate) state: WeakLua,
    pub(crate) shared: Arc<Shared>,
}

impl UserData for Thread {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("get", |lua, thread, name: LuaString| {
            let state = thread.state()?;
            let value: Value = state.globals().get(state.create_string(name.as_bytes())?)?;
            Copied::of(&value, 0)?.into_lua(lua)
        });
        methods.add_method("set", |_, thread, (name, value): (LuaString, Value)| {
            let state = thread.state()?;
            let value = Copied::of(&value, 0)?.into_lua(&state)?;
            state.globals().set(state.create_string(name.as_bytes())?, value)
        });
        methods.add_method("stop", |_, thread, ()| {
            thread.shared.stopped.store(true, Ordering::Relaxed);
            Ok(())
        });
        // Methods are found before this is asked.
        methods.add_meta_method(MetaMethod::Index, |_, thread, field: LuaString| {
            Ok(if field == "addr" { thread.shared.address().map(Address) } else { None })
        });
        methods.add_meta_method(MetaMethod::NewIndex, |_, thread, (field, value): (LuaString, Value)| {
            let refused = || mlua::Error::runtime(format!("cannot set '{}' on thread", value.type_name()));
            if field != "addr" {
                return Err(refused());
            }
            let address = AnyUserData::borrow::<Address>(value.as_userdata().ok_or_else(refused)?).map_err(|_| refused())?.0;
            *thread.shared.address.lock().unwrap_or_else(PoisonError::into_inner) = Some(address);
            Ok(())
        });
    }
}

impl Thread {
    fn state(&self) -> mlua::Result<Lua> {
        self.state.try_upgrade().ok_or_else(|| mlua::Error::runtime("the thread is gone"))
    }
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
