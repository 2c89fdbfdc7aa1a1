//! The pages in a browser, live and with history, and the JSON API they use.
//!
//! A server that starts load at the word of a browser is a weapon for every page that browser has open, and its address is known
//! to all of them. So whoever asks is looked at before what is asked: the name in `Host` (a page may have its own name lead
//! here), the origin (a page may send forms here), the token where more than this machine can reach it. And load goes only where
//! [`AllowedTargets`] lets it, judged on the address that is connected to.
//!
//! The crate knows nothing of the engine. What it can do beside reading the history it is handed as a [`Backend`]; what happens
//! meanwhile it is told through a [`Live`]. It runs on a thread of its own, prints nothing and reads no environment.
//!
//! | wanted | is |
//! |---|---|
//! | a server | [`Server::start`] with a [`ServerConfig`] |
//! | what it tells about a run under way | [`Live`] |
//! | what it can start and show | [`Backend`] |
//! | where load may go | [`AllowedTargets`] |
//! | who may ask | [`Guard`] |
//! | the routes, and what each is for | [`ROUTES`]; `docs/api/openapi.json` |

mod allowed;
mod answer;
mod api;
mod backend;
mod connection;
mod guard;
mod live;
mod permitted;
mod route;
mod server;

pub use allowed::{AllowedTargets, NoPattern};
pub use answer::Problem;
pub use backend::{Backend, MarkedTexts, Mistake, NotStarted, StageShown, StartTest, TestPreview};
pub use guard::{Guard, Token, random_text};
pub use live::{Begun, Live, RunEnd, State};
pub use permitted::PermittedSettings;
pub use route::{Operation, ROUTES, Route};
pub use server::{Server, ServerConfig};

/// The description of the API, as the server tells it.
pub const OPENAPI: &str = include_str!("../../../docs/api/openapi.json");
