//! What limits the server, in the words that every format for people shares.
//!
//! Names of threads and metrics are the server's own, and part of its Findings: what goes to a terminal or a page passes through here.

use analysis::bottleneck::{self, Finding};

use crate::{prose, visible};

/// The Findings as sentences: the first with its evidence, what would refute it and what to do, and then the next candidate. Nothing
/// where nothing can be said.
#[must_use]
pub fn sentences(findings: &[Finding]) -> Vec<String> {
    bottleneck::sentences(findings).iter().map(|sentence| visible(sentence)).collect()
}

/// The same below a table, set apart from what stands before.
pub(crate) fn text(findings: &[Finding], width: u16) -> String {
    let said: String = sentences(findings).iter().map(|sentence| prose(sentence, width)).collect();
    if said.is_empty() { said } else { format!("\n{said}") }
}

/// The same for Markdown.
pub(crate) fn markdown(findings: &[Finding]) -> Vec<String> {
    bottleneck::sentences(findings).iter().map(|sentence| visible::markdown(sentence)).collect()
}
