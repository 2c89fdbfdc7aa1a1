//! A runtime with its scripts, for the users of one worker.
//!
//! Invariant: nothing that lives in a runtime outlives it: whoever keeps something of it keeps its context as well, and drops that last.

use std::cell::{Cell, RefCell, RefMut};
use std::rc::Rc;
use std::time::Instant;

use rquickjs::context::EvalOptions;
use rquickjs::convert::Coerced;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Error, Function, Object, Persistent, Runtime, Value};

use crate::native::{Kept, natives};
use crate::{Host, LOOKS_MAX, MEMORY_BYTES_MAX, TIME_MAX, Thrown};

/// What stands before a script in its first line, and behind it.
const BEGIN: &str = "(function () {";
const END: &str = "\n})";
/// A thread of the load has at least 2 MiB.
const STACK_BYTES_MAX: usize = 256 << 10;
/// What scripts are called where the engine tells of them.
const FILE: &str = "users_script";

/// The scripts of one worker, and what they share.
pub struct Engine<H: Host> {
    scripts: Vec<Persistent<Function<'static>>>,
    /// Those of the user whose script is called.
    objects: Kept,
    host: Rc<RefCell<H>>,
    bound: Rc<Bound>,
    context: Context,
}

/// How far a call may still go.
struct Bound {
    looks: Cell<u32>,
    until: Cell<Instant>,
}

impl Bound {
    fn begin(&self) {
        self.looks.set(LOOKS_MAX);
        self.until.set(Instant::now() + TIME_MAX);
    }

    /// One look; whether the call is over its bounds.
    fn look(&self) -> bool {
        let left = if Instant::now() > self.until.get() { 0 } else { self.looks.get().saturating_sub(1) };
        self.looks.set(left);
        left == 0
    }
}

/// What a user keeps between its scripts.
pub struct Objects {
    object: Persistent<Object<'static>>,
    /// Dropped last.
    _context: Context,
}

impl<H: Host> Engine<H> {
    /// A runtime whose scripts ask this host. `library`: a program that is run first, whose names all scripts have.
    ///
    /// # Errors
    /// If there is no memory for it, or the library does not come to its end.
    pub fn new(host: H, library: Option<&str>) -> Result<Self, Thrown> {
        let (context, bound) = bounded()?;
        let (host, objects) = (Rc::new(RefCell::new(host)), Kept::default());
        context.with(|ctx| {
            let begun = (|| {
                let begin: Function<'_> = ctx.eval(include_str!("prelude.js"))?;
                let close: Function<'_> = begin.call((natives(&ctx, &host, &objects)?,))?;
                if let Some(library) = library {
                    let mut options = EvalOptions::default();
                    options.strict = false;
                    options.filename = Some("library".to_owned());
                    ctx.eval_with_options::<Value<'_>, _>(library, options)?;
                }
                close.call::<_, ()>(())
            })();
            begun.catch(&ctx).map_err(|caught| thrown(&caught, false))
        })?;
        Ok(Self { scripts: Vec::new(), objects, host, bound, context })
    }

    /// Makes a script ready to be called, by the number that is given.
    ///
    /// # Errors
    /// If it is none.
    pub fn compile(&mut self, text: &str) -> Result<usize, Thrown> {
        self.bound.begin();
        let compiled = self.context.with(|ctx| compiled(&ctx, text).map(|function| Persistent::save(&ctx, function)))?;
        self.scripts.push(compiled);
        Ok(self.scripts.len() - 1)
    }

    /// What scripts ask, between two calls.
    #[must_use]
    pub fn host(&self) -> RefMut<'_, H> {
        self.host.borrow_mut()
    }

    /// Calls a script for a user that keeps these objects. What it returns, as text; nothing where that is nothing.
    ///
    /// # Errors
    /// If it throws, runs too long or takes too much memory.
    pub fn call(&self, script: usize, objects: &mut Option<Objects>) -> Result<Option<String>, Thrown> {
        let Some(script) = self.scripts.get(script).cloned() else { return Ok(None) };
        self.bound.begin();
        self.objects.set(objects.take().map(|objects| objects.object));
        let returned = self.context.with(|ctx| {
            let called = script.restore(&ctx).and_then(|script| {
                let value: Value<'_> = script.call(())?;
                // What it has put off is part of it.
                while self.bound.looks.get() > 0 && ctx.execute_pending_job() {
                    self.bound.look();
                }
                if value.is_undefined() || value.is_null() { Ok(None) } else { value.get::<Coerced<String>>().map(|text| Some(text.0)) }
            });
            called.catch(&ctx).map_err(|caught| thrown(&caught, self.bound.looks.get() == 0))
        });
        *objects = self.objects.take().map(|object| Objects { object, _context: self.context.clone() });
        if returned.is_err() {
            self.context.runtime().run_gc();
        }
        returned
    }
}

impl<H: Host> Drop for Engine<H> {
    fn drop(&mut self) {
        // Functions in the runtime hold the same cell.
        self.objects.take();
    }
}

/// See [`crate::check`].
pub(crate) fn check(text: &str) -> Result<(), Thrown> {
    let (context, _) = bounded()?;
    context.with(|ctx| compiled(&ctx, text).map(drop))
}

/// A context of its own with the bounds that hold for all.
fn bounded() -> Result<(Context, Rc<Bound>), Thrown> {
    let none = |_: Error| Thrown { line: 0, column: 0, message: "there is no memory for scripts".to_owned() };
    let runtime = Runtime::new().map_err(none)?;
    runtime.set_memory_limit(MEMORY_BYTES_MAX);
    runtime.set_max_stack_size(STACK_BYTES_MAX);
    let bound = Rc::new(Bound { looks: Cell::new(LOOKS_MAX), until: Cell::new(Instant::now() + TIME_MAX) });
    let looking = bound.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || looking.look())));
    Ok((Context::full(&runtime).map_err(none)?, bound))
}

fn compiled<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Function<'js>, Thrown> {
    let mut options = EvalOptions::default();
    options.filename = Some(FILE.to_owned());
    let function = ctx.eval_with_options::<Function<'js>, _>(format!("{BEGIN}{text}{END}"), options);
    function.catch(ctx).map_err(|caught| thrown(&caught, false))
}

/// What an error says, and where in the script it arose.
fn thrown(caught: &CaughtError<'_>, is_over_time: bool) -> Thrown {
    let (message, stack) = match caught {
        CaughtError::Error(error) => (error.to_string(), String::new()),
        CaughtError::Exception(exception) => (said(exception.as_object()), exception.stack().unwrap_or_default()),
        CaughtError::Value(value) => {
            (value.get::<Coerced<String>>().map_or_else(|_| "it threw something".to_owned(), |text| text.0), String::new())
        }
    };
    let message = match message.as_str() {
        _ if is_over_time => "it ran too long: a script has about half a second".to_owned(),
        "InternalError: out of memory" | "null" => {
            format!("it took too much memory: all scripts of a thread have {} MiB together", MEMORY_BYTES_MAX >> 20)
        }
        _ => message,
    };
    let (line, column) = place(&stack).unwrap_or((0, 0));
    Thrown { line, column: if line == 1 { column.saturating_sub(BEGIN.len()) } else { column }, message }
}

/// The error in words: what `fail` was told, or its kind and message.
fn said(error: &Object<'_>) -> String {
    let of = |name: &str| error.get::<_, Coerced<String>>(name).map(|text| text.0).unwrap_or_default();
    let (name, message) = (of("name"), of("message"));
    if name == "Failure" { message } else { format!("{name}: {message}") }
}

/// Line and column of the first place in a stack that is in the script.
fn place(stack: &str) -> Option<(usize, usize)> {
    let at = stack.match_indices("users_script:").map(|(at, found)| &stack[at + found.len()..]).next()?;
    let mut numbers = at.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next().and_then(|column| column.parse().ok()).unwrap_or(0)))
}
