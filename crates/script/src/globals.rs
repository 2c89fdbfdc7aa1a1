//! What a script finds in the table `wrk` before it changes anything.

use std::sync::Arc;

use engine::net::Reach;
use engine::{Fence, RunError, body};
use plan::{Keepalive, Plan};

/// Whose scripts these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interface {
    /// wrk's.
    #[default]
    Wrk,
    /// wrk2's, which branched off before `delay` was added and has statistics of another kind.
    Wrk2,
}

/// The first values of the table `wrk`, the URL for `args[0]`, and where the script's connections may go.
#[derive(Debug, Clone, Default)]
pub struct Globals {
    /// Which tool's.
    pub interface: Interface,
    /// As typed.
    pub url: String,
    /// `http` or `https`.
    pub scheme: String,
    /// Without brackets, if it is an IPv6 address.
    pub host: String,
    /// As text; `None` where the URL has none.
    pub port: Option<String>,
    /// With the query.
    pub path: String,
    /// Such as `GET`.
    pub method: String,
    /// Names and values; `Host` is added where it is missing.
    pub headers: Vec<(String, String)>,
    /// The body, if there is one.
    pub body: Option<Vec<u8>>,
    /// Addresses that the script may choose.
    pub reach: Arc<Reach>,
}

impl Globals {
    /// Those of a plan, which reach where the fence lets them.
    ///
    /// # Errors
    /// If the file of its body was not read.
    pub fn of(plan: &Plan, fence: &Fence) -> Result<Self, RunError> {
        let target = plan.target();
        let request = plan.request();
        let mut headers = request.headers.clone();
        let has_connection = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("connection"));
        if plan.connection().keepalive == Keepalive::CloseEach && !has_connection {
            headers.push(("Connection".to_owned(), "close".to_owned()));
        }
        let body = body::encode(&request.body, plan.contents())?;
        Ok(Self {
            interface: Interface::Wrk,
            url: target.absolute(),
            scheme: target.scheme().to_string(),
            host: target.host().to_owned(),
            port: (target.port() != target.scheme().default_port()).then(|| target.port().to_string()),
            path: target.path_and_query().to_owned(),
            method: request.method.clone(),
            headers,
            body: (!body.is_empty()).then_some(body),
            reach: Arc::new(Reach::of(plan).within(fence.clone())),
        })
    }
}
