//! Values outside any state: nil, booleans, numbers, strings and tables of these.
//!
//! States share nothing, so what goes from one to another is copied. Where a thread was in another process, what it had at its end is
//! written down there and put into the state that stands for it here, so that `done` sees what it would have seen of its own threads.

use std::collections::BTreeMap;

use mlua::{Lua, Value};
use serde::{Deserialize, Serialize};

use crate::ScriptError;
use crate::state::State;

/// Tables within tables; one that holds itself has no end.
const DEPTH_MAX: u32 = 100;
/// So much of what a thread had goes to another process.
const THREAD_BYTES_MAX: usize = 1 << 20;
/// What a value takes at least.
const VALUE_BYTES_MIN: usize = 8;
/// What is there before a script is, and no value of its own.
const LIBRARIES: [&str; 13] =
    ["_G", "_VERSION", "bit", "coroutine", "debug", "ffi", "io", "jit", "math", "os", "package", "string", "table"];

/// A value outside any state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Copied {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(#[serde(with = "serde_bytes")] Vec<u8>),
    Table(Vec<(Self, Self)>),
}

/// Why a value is not copied.
#[derive(Debug)]
enum NotCopied {
    /// It is no plain value: the name of its type.
    Kind(&'static str),
    TooLarge,
    Lua(mlua::Error),
}

impl Copied {
    /// A copy.
    ///
    /// # Errors
    /// As in wrk, if it is no plain value.
    pub(crate) fn of(value: &Value) -> mlua::Result<Self> {
        Self::within(value, 0, &mut usize::MAX.clone()).map_err(|why| match why {
            NotCopied::Kind(kind) => mlua::Error::runtime(format!("cannot transfer '{kind}' to thread")),
            NotCopied::TooLarge => mlua::Error::runtime("a value is too large to transfer it to thread"),
            NotCopied::Lua(error) => error,
        })
    }

    /// A copy that takes at most what is left of some bytes.
    fn within(value: &Value, depth: u32, left: &mut usize) -> Result<Self, NotCopied> {
        let mut take = |bytes: usize| {
            *left = left.checked_sub(bytes).ok_or(NotCopied::TooLarge)?;
            Ok::<_, NotCopied>(())
        };
        take(VALUE_BYTES_MIN)?;
        Ok(match value {
            Value::Nil => Self::Nil,
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Integer(value) => Self::Number(*value as f64),
            Value::Number(value) => Self::Number(*value),
            Value::String(text) => {
                // As in wrk, where text ends with its first NUL.
                let bytes = text.as_bytes();
                let bytes = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
                take(bytes.len())?;
                Self::Text(bytes.to_vec())
            }
            Value::Table(_) if depth == DEPTH_MAX => return Err(NotCopied::Kind(value.type_name())),
            Value::Table(table) => {
                let pairs = table.pairs::<Value, Value>().map(|pair| {
                    let (key, value) = pair.map_err(NotCopied::Lua)?;
                    Ok((Self::within(&key, depth + 1, left)?, Self::within(&value, depth + 1, left)?))
                });
                Self::Table(pairs.collect::<Result<_, _>>()?)
            }
            _ => return Err(NotCopied::Kind(value.type_name())),
        })
    }

    pub(crate) fn into_lua(self, lua: &Lua) -> mlua::Result<Value> {
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

/// What a thread had at its end, by its global names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadValues {
    values: Vec<(String, Copied)>,
    /// Names of what is no plain value.
    others: Vec<String>,
    /// Names of what is too large to go to another process.
    too_large: Vec<String>,
}

impl ThreadValues {
    /// Those of a state.
    ///
    /// # Errors
    /// If the state is broken.
    pub(crate) fn of(state: &State) -> Result<Self, ScriptError> {
        let failed = |error: mlua::Error| state.failed("reading what a thread had", &error);
        let mut all = BTreeMap::new();
        for pair in state.lua.globals().pairs::<Value, Value>() {
            let (name, value) = pair.map_err(failed)?;
            let Value::String(name) = name else { continue };
            // A name that is no text cannot be told, and scripts have none.
            let Ok(name) = name.to_str() else { continue };
            if !LIBRARIES.contains(&&*name) {
                all.insert(name.to_owned(), value);
            }
        }
        let (mut read, mut left) = (Self::default(), THREAD_BYTES_MAX);
        for (name, value) in all {
            let mut rest = left;
            match Copied::within(&value, 0, &mut rest) {
                Ok(value) => {
                    left = rest.saturating_sub(name.len());
                    read.values.push((name, value));
                }
                Err(NotCopied::Kind(_)) => read.others.push(name),
                Err(NotCopied::TooLarge) => read.too_large.push(name),
                Err(NotCopied::Lua(error)) => return Err(failed(error)),
            }
        }
        Ok(read)
    }

    /// Gives a state that stands for the thread what the thread had, and nothing else of its own. The names of what was too large come out.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn put_into(self, state: &State) -> mlua::Result<Vec<String>> {
        let globals = state.lua.globals();
        let Self { values, others, too_large } = self;
        let mut gone: Vec<Value> = Vec::new();
        for pair in globals.pairs::<Value, Value>() {
            let (name, value) = pair?;
            let is_library = matches!(&name, Value::String(name) if LIBRARIES.iter().any(|known| name.as_bytes() == known.as_bytes()));
            // What is no plain value, such as a function, stays as the file made it.
            let is_plain = || !matches!(Copied::within(&value, 0, &mut THREAD_BYTES_MAX.clone()), Err(NotCopied::Kind(_)));
            if !is_library && is_plain() {
                gone.push(name);
            }
        }
        for name in gone {
            globals.raw_set(name, Value::Nil)?;
        }
        for (name, value) in values {
            globals.raw_set(name, value.into_lua(&state.lua)?)?;
        }
        // What cannot be copied is refused here as it is there.
        for name in others {
            if globals.raw_get::<Value>(name.as_str())?.is_nil() {
                globals.raw_set(name, state.lua.create_function(|_, ()| Ok(()))?)?;
            }
        }
        for name in &too_large {
            globals.raw_set(name.as_str(), Value::Nil)?;
        }
        Ok(too_large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Globals, Libraries};

    fn state(text: &str) -> State {
        let state = State::new(&"a.lua".into(), Libraries::Sandboxed, &Globals::default(), usize::MAX).unwrap();
        state.execute(text.as_bytes()).unwrap();
        state
    }

    fn said(state: &State, text: &str) -> String {
        state.lua.load(format!("return tostring({text})")).eval().unwrap()
    }

    #[test]
    fn what_a_thread_had_is_had_by_the_one_that_stands_for_it() {
        const FILE: &str = "count, only_at_first, list = 0, 1, {1, {a = 'x'}} function response() end";
        let there = state(FILE);
        let change = "count, only_at_first = 7, nil; list[2].a = 'y'; mixed = {response}; later = response; big = ('x'):rep(2000000)";
        there.lua.load(change).exec().unwrap();
        let bytes = engine::to_bytes(&ThreadValues::of(&there).unwrap());
        let here = state(FILE);
        let too_large = engine::from_bytes::<ThreadValues>(&bytes).unwrap().put_into(&here).unwrap();
        assert_eq!(too_large, ["big"]);
        let all = "count, only_at_first, list[1], list[2].a, type(response), type(big), type(string.rep), type(wrk.format)";
        let seen: Vec<String> = all.split(", ").map(|what| said(&here, what)).collect();
        assert_eq!(seen, ["7", "nil", "1", "y", "function", "nil", "function", "function"]);
        for other in ["mixed", "later", "response"] {
            let value: Value = here.lua.globals().get(other).unwrap();
            assert!(Copied::of(&value).unwrap_err().to_string().contains("cannot transfer 'function' to thread"), "{other}");
        }
    }

    #[test]
    fn a_table_that_holds_itself_is_no_plain_value() {
        let there = state("ring = {} ring.ring = ring");
        assert_eq!(ThreadValues::of(&there).unwrap().others.iter().filter(|name| *name == "ring").count(), 1);
    }
}
