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
mod library;
mod parser;
mod print;
mod translation;
mod tree;

pub use library::LIBRARY;
pub use translation::{Language, Mistake, Translation};

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
