//! Why a script cannot go on: the file, the line, the way there, and what to do.
//!
//! Lua's own words name the place; ours name what was being done. A traceback is part of the message, since the line that
//! failed is seldom the line that is wrong.

use std::net::SocketAddr;

use engine::{BehaviourError, RunError};
use plan::Wording;
use plan::setting::ALSO_TARGET;

/// A script does not load, or failed in one of its functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError {
    /// What happened, with file, line and traceback.
    pub message: Wording,
    /// What to do.
    pub help: Wording,
}

/// An address that a script chose, and that no server of the plan has.
#[derive(Debug, thiserror::Error)]
#[error("{0} is no address of the target, and load goes only to servers that are named")]
pub(crate) struct Outside(pub(crate) SocketAddr);

impl ScriptError {
    pub(crate) fn new(message: impl Into<Wording>, help: impl Into<Wording>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    /// What Lua said when the script did this.
    pub(crate) fn lua(path: &str, doing: &str, error: &mlua::Error) -> Self {
        let root = root(error);
        if let mlua::Error::ExternalError(why) = root
            && let Some(Outside(address)) = why.downcast_ref()
        {
            let help = format!("{ALSO_TARGET:#} http://{address} allows it");
            return Self::new(format!("the script '{path}' failed in {doing}: {}", said(error)), help);
        }
        let (help, said) = match root {
            mlua::Error::SyntaxError { .. } => ("mend the line it names", said(error)),
            mlua::Error::MemoryError(_) => (
                "let the script keep less: each of its states may use a share of this machine's memory",
                format!("{path}: not enough memory"),
            ),
            _ => {
                let said = said(error);
                let is_missing = said.contains("module '") && said.contains("' not found:");
                let help = "install the module for Lua 5.1 (Debian: apt install lua-NAME), or say where it is with LUA_PATH and LUA_CPATH";
                (if is_missing { help } else { "mend the line it names" }, said)
            }
        };
        Self::new(format!("the script '{path}' failed in {doing}: {said}"), help)
    }
}

/// The error below what callbacks wrap around it.
fn root(error: &mlua::Error) -> &mlua::Error {
    match error {
        mlua::Error::CallbackError { cause, .. } => root(cause),
        mlua::Error::WithContext { cause, .. } => root(cause),
        _ => error,
    }
}

/// Lua's words, without those of the binding.
fn said(error: &mlua::Error) -> String {
    match error {
        mlua::Error::RuntimeError(text) | mlua::Error::MemoryError(text) => text.clone(),
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        mlua::Error::CallbackError { traceback, cause } => {
            let cause = said(cause);
            // The innermost traceback is the one that leads to the place.
            if cause.contains("stack traceback:") { cause } else { format!("{cause}\n{traceback}") }
        }
        other => other.to_string(),
    }
}

impl<M> From<ScriptError> for RunError<M> {
    fn from(error: ScriptError) -> Self {
        Self::run(error.message, error.help)
    }
}

impl From<ScriptError> for BehaviourError {
    fn from(error: ScriptError) -> Self {
        Self { message: error.message, help: error.help }
    }
}
