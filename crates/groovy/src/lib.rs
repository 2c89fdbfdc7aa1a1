//! Scripts of JMeter plans as JavaScript.
//!
//! People write the half of their plans that no element can say in Groovy, BeanShell, JavaScript and Jexl. loadline carries out one
//! language, so these are translated, once, when the plan is read: a parser for what people really write, and a library in JavaScript for
//! the classes they call. A Java beside every load generator, the alternative, would carry out all of it, and would need a hundred times
//! the memory and a second world of threads. A script that has no equal is a [`Mistake`] with its line, before anything is sent.
//!
//! What differs from Java is said where it is decided (`docs/decisions/jmeter.md`): numbers are JavaScript's, whole ones exact at any size
//! where they come from texts; a decimal that is whole prints without `.0`; time zones are UTC and fixed offsets.
//!
//! Invariants: no text makes [`translate`] panic or go deeper than a hundred levels; what is translated touches nothing but the library
//! and the global object `host`; a translation is a function of its source.

mod classes;
mod javascript;
mod jmeter;
mod lexer;
mod parser;
mod print;
mod tree;

/// In which language a script of a plan is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Groovy, of JSR223 elements and `__groovy`.
    Groovy,
    /// BeanShell, which is Java without types; Java itself is read so, too.
    BeanShell,
    /// JavaScript as Rhino and Nashorn know it.
    JavaScript,
    /// Expressions of `__jexl2` and `__jexl3`.
    Jexl,
}

/// What becomes of a script.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Translation {
    /// The body of a JavaScript function: it may `return` a value; its last expression's value is returned where Groovy would return it.
    pub javascript: String,
    /// Names of variables that it reads by a fixed name (`vars.get("x")`, `vars["x"]`, `vars.x`, `${x}`), each once.
    pub reads: Vec<String>,
    /// Names of variables that it sets by a fixed name (`vars.put("x", …)`, `vars.x = …`), each once.
    pub sets: Vec<String>,
    /// Whether it reads or sets variables whose names are computed.
    pub names_are_computed: bool,
    /// Whether it uses anything of the last answer (`prev`, `SampleResult`, `data`, `ctx.getPreviousResult()`).
    pub reads_answer: bool,
    /// Files it reads by a fixed name (`new File("x").text`), each once.
    pub files: Vec<String>,
}

/// Something in a script that has no equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// From 1.
    pub line: usize,
    /// What it is in a few plain words with the code: "`sampler.setPath`: what a request is made of is …".
    pub message: String,
}

/// Scripts longer than this are not read, in bytes: a plan that holds one holds data.
const SOURCE_MAX: usize = 1 << 20;

/// Translates a script.
///
/// # Errors
/// Everything in it that has no equal, by line.
pub fn translate(source: &str, language: Language) -> Result<Translation, Vec<Mistake>> {
    if source.len() > SOURCE_MAX {
        let message = format!("a script of {} bytes; up to {SOURCE_MAX} are read", source.len());
        return Err(vec![Mistake { line: 1, message }]);
    }
    if language == Language::JavaScript {
        return javascript::translate(source);
    }
    print::print(parser::read(source, language), language)
}

/// JavaScript that is evaluated once in each runtime, as a script of its own, before any translation: what translations call. It uses
/// nothing of the outside but the global object `host`.
pub const LIBRARY: &str = concat!(
    include_str!("library/values.js"),
    include_str!("library/calls.js"),
    include_str!("library/numbers.js"),
    include_str!("library/texts.js"),
    include_str!("library/expressions.js"),
    include_str!("library/lists.js"),
    include_str!("library/maps.js"),
    include_str!("library/bytes.js"),
    include_str!("library/json.js"),
    include_str!("library/dates.js"),
    include_str!("library/moments.js"),
    include_str!("library/classes.js"),
    include_str!("library/commons.js"),
    include_str!("library/jmeter.js"),
);
