//! A server whose behaviour is known in advance and which counts what it served.
//!
//! A load generator's numbers can be checked only against a server of which the truth is known: how long it takes, when
//! it stalls, where its capacity ends, how many requests it received. [`Testbed`] is that server, and at the same time
//! the demo API; [`scripted`] plays exact bytes to clients that must survive them. A recorded or mocked server
//! would say what it is told, not what happened on a socket.

mod account;
mod alarm;
mod api;
mod behaviour;
mod certificate;
mod counts;
mod distribution;
#[cfg(target_os = "linux")]
pub mod limited;
pub mod model;
mod overload;
mod pool;
mod portion;
mod query;
mod reply;
mod scalability;
pub mod scripted;
mod server;
mod stall;
pub mod talk;
mod wire;

pub use api::{index, model_route};
pub use behaviour::{Behaviour, BodyFraming, Fault, GRAMMAR, ResetPoint, Trickle};
pub use certificate::{ClientCertificate, Identity, ServerCertificate, Tls};
pub use counts::Counts;
pub use distribution::Distribution;
pub use overload::{Breakdown, Health, RateLimit, Window};
pub use pool::{Pool, Workers};
pub use portion::{Choice, Portion};
pub use scalability::Scalability;
pub use server::{Config, Testbed};
pub use stall::Stall;
