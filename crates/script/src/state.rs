//! One Lua state: the libraries a script is given, the table `wrk`, and the doors the engine comes in by.
//!
//! In wrk a script may do whatever the user may: it has `os`, `io` and, through `ffi`, the whole machine. That is what
//! existing scripts rely on, and what nobody wants of a script they did not write. So there are two kinds of states. In a
//! sandbox nothing reaches outside; memory is limited by the allocator, and time by counting instructions, which is the
//! same on every machine. LuaJIT counts none in compiled code, so a sandbox is not compiled, and is slower.
//!
//! States are made on the main thread and work on another, never on two at once.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use engine::net::Reach;
use mlua::chunk::ChunkMode;
use mlua::{Function, HookTriggers, Lua, LuaOptions, LuaString, StdLib, Table, Value, VmState};

use crate::error::Outside;
use crate::{Globals, ScriptError};

/// What a script may use besides the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Libraries {
    /// Everything wrk's scripts have: files, processes, native code.
    #[default]
    Whole,
    /// Nothing that reaches outside, limited memory, limited time.
    Sandboxed,
}

/// A state in the sandbox may hold so much (docs/measurement.md, the limits of scripts).
const SANDBOX_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Instructions between two looks at the budget.
const INSTRUCTIONS_A_LOOK: u32 = 1_000;

/// Instructions one call of `request`, `response` or `delay` may take in the sandbox: about 10 ms.
pub(crate) const CALL_INSTRUCTIONS_MAX: i64 = 1_000_000;

/// The same for what is called once: loading, `setup`, `init`, `done`. About 5 s.
pub(crate) const ONCE_INSTRUCTIONS_MAX: i64 = 500_000_000;

/// How long `wrk.connect` tries.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// A Lua state with a script in it.
#[derive(Clone)]
pub(crate) struct State {
    pub(crate) lua: Lua,
    doors: Table,
    path: Arc<str>,
    /// Instructions left, in a sandbox.
    left: Option<Arc<AtomicI64>>,
}

impl State {
    /// A state with `wrk` in it, but no script yet. It may hold `bytes_max` bytes.
    pub(crate) fn new(path: &Arc<str>, libraries: Libraries, globals: &Globals, bytes_max: usize) -> Result<Self, ScriptError> {
        let failed = |error: mlua::Error| ScriptError::lua(path, "making its state", &error);
        let lua = match libraries {
            // SAFETY: nothing but the user's own script runs in this state, and it is given what wrk gives it: native code by
            // `ffi` and C modules, with the rights of the user who named the script. Who does not trust it says --sandbox.
            #[expect(unsafe_code)]
            Libraries::Whole => unsafe { Lua::unsafe_new() },
            Libraries::Sandboxed => {
                let safe = StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::BIT;
                Lua::new_with(safe, LuaOptions::new()).map_err(failed)?
            }
        };
        // A clone does not collect garbage when it is dropped, which would wait for whoever is inside.
        let lua = lua.clone();
        let mut left = None;
        let library = (|| {
            let library: Table = lua.load(include_str!("wrk.lua")).set_name("=wrk.lua").call(natives(&lua, globals)?)?;
            if libraries == Libraries::Sandboxed {
                left = Some(confine(&lua)?);
                lua.set_memory_limit(SANDBOX_BYTES_MAX.min(bytes_max))?;
            } else {
                lua.set_memory_limit(bytes_max)?;
            }
            Ok(library)
        })()
        .map_err(failed)?;
        Ok(Self { lua, doors: library, path: path.clone(), left })
    }

    /// Runs the script's file in it.
    pub(crate) fn execute(&self, text: &[u8]) -> Result<(), ScriptError> {
        self.allow(ONCE_INSTRUCTIONS_MAX);
        // Compiled chunks can break memory safety, whatever the libraries.
        let loaded = self.lua.load(text).set_name(format!("@{}", self.path)).set_mode(ChunkMode::Text).exec();
        loaded.map_err(|error| self.failed("loading", &error)).and_then(|()| self.flush())
    }

    /// Sends out what scripts have printed: C's buffer is the whole program's.
    pub(crate) fn flush(&self) -> Result<(), ScriptError> {
        self.door("flush").and_then(|flush| flush.call(())).map_err(|error| self.failed("print()", &error))
    }

    /// A function of `wrk.lua`.
    pub(crate) fn door(&self, name: &str) -> mlua::Result<Function> {
        self.doors.raw_get(name)
    }

    /// Calls a function of `wrk.lua` that is called once.
    pub(crate) fn call<R: mlua::FromLuaMulti>(&self, name: &str, doing: &str, with: impl mlua::IntoLuaMulti) -> Result<R, ScriptError> {
        self.allow(ONCE_INSTRUCTIONS_MAX);
        self.door(name).and_then(|door| door.call(with)).map_err(|error| self.failed(doing, &error))
    }

    /// Whether the script defines this function.
    pub(crate) fn defines(&self, name: &str) -> Result<bool, ScriptError> {
        self.call("has", "looking for its functions", name)
    }

    /// The next call may take so many instructions.
    #[inline]
    pub(crate) fn allow(&self, instructions: i64) {
        if let Some(left) = &self.left {
            left.store(instructions, Ordering::Relaxed);
        }
    }

    pub(crate) fn failed(&self, doing: &str, error: &mlua::Error) -> ScriptError {
        ScriptError::lua(&self.path, doing, error)
    }

    /// An error about what a function of the script returned: it names where the function stands.
    pub(crate) fn returned(&self, function: &str, what: &str) -> ScriptError {
        let place = self.lua.globals().raw_get::<Function>(function).ok().and_then(|function| {
            let about = function.info();
            Some(format!("{}:{}", about.short_src?, about.line_defined?))
        });
        let place = place.unwrap_or_else(|| self.path.to_string());
        ScriptError::new(
            format!("the script '{}' failed: {place}: {function}() returned {what}", self.path),
            match function {
                "request" => "return a string with one or more whole requests, such as wrk.format(\"GET\", \"/path\")",
                _ => "return a number of milliseconds",
            },
        )
    }
}

/// Takes away what reaches outside, and counts instructions.
fn confine(lua: &Lua) -> mlua::Result<Arc<AtomicI64>> {
    let left = Arc::new(AtomicI64::new(ONCE_INSTRUCTIONS_MAX));
    let native = lua.create_table()?;
    let spent = left.clone();
    native.raw_set("is_spent", lua.create_function(move |_, ()| Ok(spent.load(Ordering::Relaxed) < 0))?)?;
    let print = |_: &Lua, text: LuaString| {
        // That nobody reads it is not the script's fault.
        let _ = std::io::stdout().write_all(&text.as_bytes());
        Ok(())
    };
    native.raw_set("print", lua.create_function(print)?)?;
    lua.load(include_str!("sandbox.lua")).set_name("=sandbox.lua").call::<()>(native)?;
    let counted = left.clone();
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(INSTRUCTIONS_A_LOOK), move |_, _| {
        if counted.fetch_sub(i64::from(INSTRUCTIONS_A_LOOK), Ordering::Relaxed) < 0 {
            return Err(mlua::Error::runtime("the script took more instructions than its sandbox allows: an endless loop?"));
        }
        Ok(VmState::Continue)
    })?;
    Ok(left)
}

/// What `wrk.lua` is made of.
fn natives(lua: &Lua, globals: &Globals) -> mlua::Result<Table> {
    let native = lua.create_table()?;
    let Globals { interface: _, url: _, scheme, host, port, path, method, headers, body, reach } = globals;
    native.raw_set("scheme", scheme.as_str())?;
    native.raw_set("host", host.as_str())?;
    native.raw_set("port", port.as_deref())?;
    native.raw_set("path", path.as_str())?;
    native.raw_set("method", method.as_str())?;
    if let Some(body) = body {
        native.raw_set("body", lua.create_string(body)?)?;
    }
    let table = lua.create_table()?;
    for (name, value) in headers {
        table.raw_set(name.as_str(), value.as_str())?;
    }
    native.raw_set("headers", table)?;
    // Where Debian's LuaJIT, and so Debian's wrk, looks besides.
    native.raw_set("modules", "/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua")?;
    native.raw_set("binaries", format!("/usr/lib/{}-linux-gnu/lua/5.1/?.so;/usr/lib/lua/5.1/?.so", std::env::consts::ARCH))?;
    let named = reach.clone();
    native.raw_set("lookup", lua.create_function(move |lua, of| lookup(lua, &named, of))?)?;
    native.raw_set("time_us", lua.create_function(|_, ()| Ok(time_us()))?)?;
    let reach = reach.clone();
    let connect = move |_: &Lua, address: String| Ok(engine::net::answers(within(&reach, &address)?, CONNECT_MAX));
    native.raw_set("connect", lua.create_function(connect)?)?;
    Ok(native)
}

/// The time of day in microseconds since 1970, as wrk2's scripts read it.
fn time_us() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_micros() as f64)
}

fn lookup(lua: &Lua, reach: &Reach, (host, service): (String, Value)) -> mlua::Result<Table> {
    let service = match &service {
        Value::String(text) => text.to_str()?.to_string(),
        Value::Integer(port) => port.to_string(),
        Value::Number(port) => port.to_string(),
        Value::Nil => String::new(),
        other => return Err(mlua::Error::runtime(format!("a {} is no service", other.type_name()))),
    };
    let found =
        engine::net::lookup(&host, &service).map_err(|why| mlua::Error::runtime(format!("unable to resolve {host}:{service} {why}")))?;
    reach.learn_of(&host, &found);
    addresses(lua, &found)
}

/// An address that the script chose, where the plan's servers have it.
pub(crate) fn within(reach: &Reach, address: &str) -> mlua::Result<SocketAddr> {
    let address = address.parse()?;
    if reach.holds(address) { Ok(address) } else { Err(mlua::Error::external(Outside(address))) }
}

/// Addresses as text, from which `wrk.lua` makes objects.
pub(crate) fn addresses(lua: &Lua, addresses: &[SocketAddr]) -> mlua::Result<Table> {
    lua.create_sequence_from(addresses.iter().map(ToString::to_string))
}
