//! Shows answers to `response(status, headers, body)` at little cost.
//!
//! wrk makes a table and some ten strings for every answer, whether the script looks at them or not. But a server answers
//! with the same head over and over, and a table constructor of constants is one instruction of LuaJIT: a copy of a template.
//! So a head that came before is compiled, once, into a function that makes its table; and a function that names no
//! `headers` and no `body` among its arguments cannot see them, so none are made for it.
//!
//! A script that has `ffi` is given its body by address and length, which Lua makes a string of before the call that was handed them
//! returns. Nothing but that call, in code of ours, is given the address.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use engine::protocol::{Header, ResponseSink};
use mlua::{Function, Lua, Table};

use crate::state::State;

/// More of one answer is not kept for a script: memory must not grow with what a server sends.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// All answers of a thread together: a server that sends much on many connections gets no more.
pub(crate) const ANSWERS_BYTES_MAX: usize = 256 * 1024 * 1024;

/// An answer's memory is kept for the next one up to this.
const KEPT_BYTES: usize = 64 * 1024;

/// What a user has heard of the answer at hand.
#[derive(Debug, Default)]
pub(crate) struct AnswerSink {
    /// Whether anybody wants to know.
    listens: bool,
    /// Lines `name: value\n`, kept for the next answer, which mostly has the same. Neither names hold colons nor values line feeds.
    head: Vec<u8>,
    body: Vec<u8>,
    pub(crate) overflowed: bool,
    /// What all users of the thread have of their answers. Only that thread counts: it is atomic because the script is read on another.
    all_bytes: Arc<AtomicUsize>,
}

impl ResponseSink for AnswerSink {
    #[inline]
    fn wants_head(&self) -> bool {
        self.listens
    }

    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        if !self.listens {
            return;
        }
        self.drop_body();
        if self.knows(headers) {
            return;
        }
        self.head.clear();
        for header in headers {
            self.head.extend_from_slice(header.name.as_bytes());
            self.head.extend_from_slice(b": ");
            self.head.extend_from_slice(header.value);
            self.head.push(b'\n');
        }
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        if !self.listens {
            return;
        }
        let all = self.all_bytes.load(Relaxed) + bytes.len();
        if self.body.len() + bytes.len() > ANSWER_BYTES_MAX || all > ANSWERS_BYTES_MAX {
            self.overflowed = true;
            return;
        }
        self.all_bytes.store(all, Relaxed);
        self.body.extend_from_slice(bytes);
    }
}

impl AnswerSink {
    /// Of a user of a thread whose users have so many bytes of answers together.
    pub(crate) fn new(listens: bool, all_bytes: Arc<AtomicUsize>) -> Self {
        Self { listens, head: Vec::new(), body: Vec::new(), overflowed: false, all_bytes }
    }

    fn drop_body(&mut self) {
        self.all_bytes.store(self.all_bytes.load(Relaxed) - self.body.len(), Relaxed);
        self.body.clear();
    }

    /// Whether these are the lines of the head at hand: looking costs less than writing.
    fn knows(&self, headers: &[Header<'_>]) -> bool {
        let mut rest = self.head.as_slice();
        for header in headers {
            let after = [header.name.as_bytes(), b": ", header.value, b"\n"].iter().try_fold(rest, |rest, part| rest.strip_prefix(*part));
            let Some(after) = after else { return false };
            rest = after;
        }
        rest.is_empty()
    }

    pub(crate) fn forget(&mut self) {
        self.drop_body();
        self.overflowed = false;
        if self.body.capacity() > KEPT_BYTES {
            self.body = Vec::new();
        }
    }
}

/// A connection that is gone has none.
impl Drop for AnswerSink {
    fn drop(&mut self) {
        self.drop_body();
    }
}

/// The function `response` of one state.
pub(crate) struct Answers {
    /// How many of its arguments it takes.
    wants: Cell<u8>,
    ask: Function,
    status: Function,
    answer: Function,
    callees: Callees,
    heads: RefCell<Heads>,
}

/// What a compiled head calls.
struct Callees {
    /// Whether `response` has become another function.
    moved: Function,
    /// Makes a string of the bytes at an address, where the script has `ffi` anyway.
    text: Option<Function>,
}

impl Answers {
    pub(crate) fn new(state: &State) -> mlua::Result<Self> {
        let ask = state.door("wants")?;
        Ok(Self {
            wants: Cell::new(ask.call(())?),
            ask,
            status: state.door("status")?,
            answer: state.door("answer")?,
            callees: Callees { moved: state.door("moved")?, text: state.door("text").ok() },
            heads: RefCell::default(),
        })
    }

    /// Calls `response` with what was heard.
    pub(crate) fn show(&self, lua: &Lua, status: u16, sink: &mut AnswerSink) -> mlua::Result<()> {
        if self.wants.get() < 2 {
            if !self.status.call::<bool>(status)? {
                sink.forget();
                return Ok(());
            }
            // It is another function now.
            self.wants.set(self.ask.call(())?);
        }
        let mut heads = self.heads.borrow_mut();
        let show = heads.compiled(lua, &self.callees, &sink.head)?;
        let wants_body = self.wants.get() > 2;
        let has_moved = match show {
            Some(show) if self.callees.text.is_some() => {
                // Handing text over costs a handle and a protected call, as long as memory is limited; and text has to be proved
                // to be UTF-8 before. Numbers cost nothing. The bytes stay where they are until the call returns.
                let (at, length) = if wants_body { (sink.body.as_ptr().expose_provenance(), sink.body.len()) } else { (0, 0) };
                show.call::<bool>((status, at, length))?
            }
            show => {
                let body = if wants_body { Some(lua.create_string(&sink.body)?) } else { None };
                match show {
                    Some(show) => show.call::<bool>((status, body))?,
                    None => self.answer.call::<bool>((status, from_lines(lua, &sink.head)?, body))?,
                }
            }
        };
        sink.forget();
        if has_moved {
            self.wants.set(self.ask.call(())?);
        }
        Ok(())
    }
}

/// Heads that came before, and what shows an answer with one of them.
#[derive(Default)]
struct Heads {
    /// The one that came last.
    last: Vec<u8>,
    show: Option<Function>,
    known: HashMap<Vec<u8>, Option<Function>>,
}

/// So many different heads are remembered. A server that never repeats one costs no more than this.
const HEADS_MAX: usize = 64;

/// Larger ones are not compiled.
const COMPILED_BYTES_MAX: usize = 4096;

impl Heads {
    /// A function of status and body, or of status, address and length, if this head came before.
    fn compiled(&mut self, lua: &Lua, callees: &Callees, head: &[u8]) -> mlua::Result<Option<&Function>> {
        if self.show.is_none() || self.last != head {
            if head.len() > COMPILED_BYTES_MAX {
                return Ok(None);
            }
            let Some(known) = self.known.get_mut(head) else {
                if self.known.len() == HEADS_MAX {
                    self.known.clear();
                }
                self.known.insert(head.to_vec(), None);
                return Ok(None);
            };
            let show = match known {
                Some(show) => show.clone(),
                None => {
                    let Callees { moved, text } = callees;
                    known.insert(lua.load(source(head, text.is_some())).set_name("=headers").call((moved, text.as_ref()))?).clone()
                }
            };
            head.clone_into(&mut self.last);
            self.show = Some(show);
        }
        Ok(self.show.as_ref())
    }
}

fn lines(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    head.split(|byte| *byte == b'\n').filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        Some((&line[..colon], line.get(colon + 2..)?))
    })
}

fn from_lines(lua: &Lua, head: &[u8]) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for (name, value) in lines(head) {
        table.raw_set(lua.create_string(name)?, lua.create_string(value)?)?;
    }
    Ok(table)
}

/// Calls `response` with a table `{["Server"]="nginx",…}`; of duplicate names the last stays, as in an assignment.
fn source(head: &[u8], by_address: bool) -> String {
    let (given, body) = if by_address { ("at, length", "text(at, length)") } else { ("body", "body") };
    let mut text = format!("local moved, text = ... return function(status, {given}) response(status, {{");
    let all: Vec<_> = lines(head).collect();
    for (place, (name, value)) in all.iter().enumerate() {
        if all[place + 1..].iter().all(|(later, _)| later != name) {
            text.push('[');
            quote(&mut text, name);
            text.push_str("]=");
            quote(&mut text, value);
            text.push(',');
        }
    }
    let _ = write!(text, "}}, {body}) return moved() end");
    text
}

fn quote(text: &mut String, bytes: &[u8]) {
    text.push('"');
    for byte in bytes {
        // Everything else by number, so that nothing a server sends is ever code.
        if byte.is_ascii_alphanumeric() || b" -_./:;,=()".contains(byte) {
            text.push(char::from(*byte));
        } else {
            let _ = write!(text, "\\{byte:03}");
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(table: &Table) -> Vec<(String, Vec<u8>)> {
        let mut pairs: Vec<_> = table
            .pairs::<String, mlua::LuaString>()
            .map(|pair| pair.map(|(name, value)| (name, value.as_bytes().to_vec())).unwrap())
            .collect();
        pairs.sort();
        pairs
    }

    /// A state whose `response` puts what it is given into globals, and what shows it an answer with this head, made or compiled.
    fn shown(lua: &Lua, heads: &mut Heads, head: &[u8]) -> Table {
        lua.load("function response(s, h, b) status, headers, body = s, h, b end").exec().unwrap();
        let moved: Function = lua.load("return function() return false end").eval().unwrap();
        match heads.compiled(lua, &Callees { moved, text: None }, head).unwrap() {
            None => from_lines(lua, head).unwrap(),
            Some(show) => {
                assert!(!show.call::<bool>((204, "text")).unwrap());
                assert_eq!(lua.globals().get::<u16>("status").unwrap(), 204);
                assert_eq!(lua.globals().get::<String>("body").unwrap(), "text");
                lua.globals().get("headers").unwrap()
            }
        }
    }

    #[test]
    fn an_ear_holds_the_head_it_heard_last() {
        let mut sink = AnswerSink::new(true, Arc::default());
        let header = |name, value: &'static str| Header { name, value: value.as_bytes() };
        let heads: [&[Header<'_>]; 6] = [
            &[header("A", "1"), header("B", "2")],
            &[header("A", "1"), header("B", "2")],
            &[header("A", "1")],
            &[header("A", "1"), header("B", "2"), header("C", "")],
            &[header("A", "12")],
            &[],
        ];
        for headers in heads {
            sink.head(200, headers);
            let told: Vec<_> = lines(&sink.head).collect();
            let expected: Vec<_> = headers.iter().map(|header| (header.name.as_bytes(), header.value)).collect();
            assert_eq!(told, expected);
            sink.forget();
        }
    }

    #[test]
    fn a_compiled_head_is_the_table_of_its_lines_and_each_time_a_new_one() {
        let lua = Lua::new();
        let mut heads = Heads::default();
        let head = b"Server: a\"b\\\xff]]\nX: 1\nx: 2\nX: 3\nEmpty: \n";
        let first = pairs(&shown(&lua, &mut heads, head));
        let expected: Vec<(String, Vec<u8>)> = [("Empty", &b""[..]), ("Server", b"a\"b\\\xff]]"), ("X", b"3"), ("x", b"2")]
            .map(|(name, value)| (name.to_owned(), value.to_vec()))
            .into();
        assert_eq!(first, expected);
        let second = shown(&lua, &mut heads, head);
        assert!(heads.show.is_some(), "the second time it is compiled");
        assert_eq!(pairs(&second), expected);
        second.raw_set("mine", 1).unwrap();
        assert_eq!(pairs(&shown(&lua, &mut heads, head)), expected, "what a script does to its table stays there");
    }

    #[test]
    fn heads_that_never_repeat_are_not_collected() {
        let lua = Lua::new();
        let mut heads = Heads::default();
        for number in 0..1_000 {
            let table = shown(&lua, &mut heads, format!("Id: {number}\n").as_bytes());
            assert_eq!(table.get::<String>("Id").unwrap(), number.to_string());
        }
        assert!(heads.known.len() <= HEADS_MAX);
    }

    #[test]
    fn what_a_server_sends_is_never_code() {
        let lua = Lua::new();
        let mut heads = Heads::default();
        let head = b"A: \"..error('x')..\"\nB\"]=1,[\"C: \\\n";
        for _ in 0..3 {
            let table = pairs(&shown(&lua, &mut heads, head));
            assert_eq!(table[0], ("A".to_owned(), b"\"..error('x')..\"".to_vec()));
            assert_eq!(table[1], ("B\"]=1,[\"C".to_owned(), b"\\".to_vec()));
        }
    }

    #[test]
    fn answers_of_a_thread_share_what_they_may_keep() {
        let all = Arc::<AtomicUsize>::default();
        let (mut first, mut second) = (AnswerSink::new(true, all.clone()), AnswerSink::new(true, all.clone()));
        first.body(&[0; 1_000]);
        all.store(ANSWERS_BYTES_MAX - 500, Relaxed);
        second.body(&[0; 400]);
        assert!(!second.overflowed);
        second.body(&[0; 200]);
        assert!(second.overflowed && second.body.len() == 400, "others have the rest");
        all.store(1_400, Relaxed);
        second.forget();
        drop(first);
        assert_eq!(all.load(Relaxed), 0, "what is done with is given back");
    }
}
