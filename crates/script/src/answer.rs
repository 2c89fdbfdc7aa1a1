//! Shows answers to `response(status, headers, body)` at little cost.
//!
//! wrk makes a table and some ten strings for every answer, whether the script looks at them or not. But a server answers
//! with the same head over and over, and a table constructor of constants is one instruction of LuaJIT: a copy of a template.
//! So a head that came before is compiled, once, into a function that makes its table; and a function that names no
//! `headers` and no `body` among its arguments cannot see them, so none are made for it.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt::Write as _;

use engine::protocol::http1::{Header, Observer};
use mlua::{Function, Lua, Table};

use crate::state::State;

/// More of one answer is not kept for a script: memory must not grow with what a server sends.
pub(crate) const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;

/// An answer's memory is kept for the next one up to this.
const KEPT_BYTES: usize = 64 * 1024;

/// What a user has heard of the answer at hand.
#[derive(Debug, Default)]
pub(crate) struct Ear {
    /// Whether anybody wants to know.
    listens: bool,
    /// Lines `name: value\n`. Neither names hold colons nor values line feeds.
    head: Vec<u8>,
    body: Vec<u8>,
    pub(crate) overflowed: bool,
}

impl Observer for Ear {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        if !self.listens {
            return;
        }
        self.head.clear();
        self.body.clear();
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
        if self.body.len() + bytes.len() > ANSWER_BYTES_MAX {
            self.overflowed = true;
            return;
        }
        self.body.extend_from_slice(bytes);
    }
}

impl Ear {
    pub(crate) fn new(listens: bool) -> Self {
        Self { listens, ..Self::default() }
    }

    fn forget(&mut self) {
        self.head.clear();
        self.body.clear();
        if self.body.capacity() > KEPT_BYTES {
            self.body = Vec::new();
        }
    }
}

/// The function `response` of one state.
pub(crate) struct Answers {
    /// How many of its arguments it takes.
    wants: Cell<u8>,
    ask: Function,
    status: Function,
    answer: Function,
    heads: RefCell<Heads>,
}

impl Answers {
    pub(crate) fn new(state: &State) -> mlua::Result<Self> {
        let ask = state.door("wants")?;
        Ok(Self {
            wants: Cell::new(ask.call(())?),
            ask,
            status: state.door("status")?,
            answer: state.door("answer")?,
            heads: RefCell::default(),
        })
    }

    /// Calls `response` with what was heard.
    pub(crate) fn show(&self, lua: &Lua, status: u16, ear: &mut Ear) -> mlua::Result<()> {
        if self.wants.get() < 2 {
            if !self.status.call::<bool>(status)? {
                ear.forget();
                return Ok(());
            }
            // It is another function now.
            self.wants.set(self.ask.call(())?);
        }
        let headers = self.heads.borrow_mut().table(lua, &ear.head)?;
        let body = if self.wants.get() > 2 { Some(lua.create_string(&ear.body)?) } else { None };
        ear.forget();
        if self.answer.call::<bool>((status, headers, body))? {
            self.wants.set(self.ask.call(())?);
        }
        Ok(())
    }
}

/// Heads that came before, and what makes their tables.
#[derive(Default)]
struct Heads {
    /// The one that came last.
    last: Vec<u8>,
    make: Option<Function>,
    known: HashMap<Vec<u8>, Option<Function>>,
}

/// So many different heads are remembered. A server that never repeats one costs no more than this.
const HEADS_MAX: usize = 64;

/// Larger ones are not compiled.
const COMPILED_BYTES_MAX: usize = 4096;

impl Heads {
    fn table(&mut self, lua: &Lua, head: &[u8]) -> mlua::Result<Table> {
        if self.last == head
            && let Some(make) = &self.make
        {
            return make.call(());
        }
        if head.len() > COMPILED_BYTES_MAX {
            return from_lines(lua, head);
        }
        match self.known.get_mut(head) {
            None => {
                if self.known.len() == HEADS_MAX {
                    self.known.clear();
                }
                self.known.insert(head.to_vec(), None);
                from_lines(lua, head)
            }
            Some(known) => {
                let make = match known {
                    Some(make) => make.clone(),
                    None => known.insert(lua.load(constructor(head)).set_name("=headers").into_function()?).clone(),
                };
                head.clone_into(&mut self.last);
                let table = make.call(());
                self.make = Some(make);
                table
            }
        }
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

/// `return {["Server"]="nginx",…}`; of duplicate names the last stays, as in an assignment.
fn constructor(head: &[u8]) -> String {
    let mut text = "return {".to_owned();
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
    text.push('}');
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

    #[test]
    fn a_compiled_head_is_the_table_of_its_lines_and_each_time_a_new_one() {
        let lua = Lua::new();
        let mut heads = Heads::default();
        let head = b"Server: a\"b\\\xff]]\nX: 1\nx: 2\nX: 3\nEmpty: \n";
        let first = pairs(&heads.table(&lua, head).unwrap());
        let expected: Vec<(String, Vec<u8>)> = [("Empty", &b""[..]), ("Server", b"a\"b\\\xff]]"), ("X", b"3"), ("x", b"2")]
            .map(|(name, value)| (name.to_owned(), value.to_vec()))
            .into();
        assert_eq!(first, expected);
        let second = heads.table(&lua, head).unwrap();
        assert!(heads.make.is_some(), "the second time it is compiled");
        assert_eq!(pairs(&second), expected);
        second.raw_set("mine", 1).unwrap();
        assert_eq!(pairs(&heads.table(&lua, head).unwrap()), expected, "what a script does to its table stays there");
    }

    #[test]
    fn heads_that_never_repeat_are_not_collected() {
        let lua = Lua::new();
        let mut heads = Heads::default();
        for number in 0..1_000 {
            let table = heads.table(&lua, format!("Id: {number}\n").as_bytes()).unwrap();
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
            let table = pairs(&heads.table(&lua, head).unwrap());
            assert_eq!(table[0], ("A".to_owned(), b"\"..error('x')..\"".to_vec()));
            assert_eq!(table[1], ("B\"]=1,[\"C".to_owned(), b"\\".to_vec()));
        }
    }
}
