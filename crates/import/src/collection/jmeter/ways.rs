//! Ways that a test plan's requests take: proxies, and the addresses that they come from.
//!
//! Each sampler there has its own, and most plans give them to all by their defaults. A load has one proxy and one list of addresses. So
//! what all samplers have is the load's; what some have is told, and those go as the others do.
//!
//! Invariant: all requests of a collection take the same way.

use std::net::IpAddr;

use plan::setting::{PROXY, SOURCE_IP};
use plan::{Target, percent_encoded};

use super::text::Names;
use crate::collection::{Collection, Connection};

/// The proxy of a sampler, by its settings.
///
/// # Errors
/// In words, if it is not known before the load, or none that can be used.
pub(super) fn proxy<'s>(setting: impl Fn(&str) -> &'s str, names: &Names<'_>) -> Result<Option<String>, String> {
    let known = |name: &str| names.literal(setting(name)).ok_or("it is known only on the way");
    let (host, port) = (known("proxyHost")?, known("proxyPort")?);
    if host.is_empty() || port.is_empty() {
        return Ok(None);
    }
    let port: u16 = port.parse().map_err(|_| format!("its port '{port}' is no number"))?;
    if port == 0 {
        return Ok(None);
    }
    if known("proxyScheme")?.eq_ignore_ascii_case("https") {
        return Err(format!("it is reached over TLS, which is not done here: {PROXY} takes one of http://"));
    }
    let (user, password) = (known("proxyUser")?, known("proxyPass")?);
    let login = if user.is_empty() { String::new() } else { format!("{}:{}@", percent_encoded(&user), percent_encoded(&password)) };
    let proxy = format!("http://{login}{host}:{port}");
    let is_host = !host.contains(['/', '@', '?', '#']) && proxy.parse::<Target>().is_ok();
    if is_host { Ok(Some(proxy)) } else { Err(format!("its server '{host}' is no host")) }
}

/// The address that a sampler comes from, by its settings.
///
/// # Errors
/// In words, if it is not known before the load, or no address.
pub(super) fn source<'s>(setting: impl Fn(&str) -> &'s str, names: &Names<'_>) -> Result<Option<String>, String> {
    let known = |name: &str| names.literal(setting(name)).ok_or("it is known only on the way");
    let address = known("ipSource")?;
    if address.is_empty() {
        return Ok(None);
    }
    let is_address = matches!(known("ipSourceType")?.as_str(), "" | "0") && address.parse::<IpAddr>().is_ok();
    let why = || format!("'{address}' is no address but a name: give the addresses with {SOURCE_IP}");
    if is_address { Ok(Some(address.clone())) } else { Err(why()) }
}

/// Keeps what all requests say alike of their ways, and tells of the rest.
pub(super) fn settle(collection: &mut Collection) {
    keep_common(collection, "its proxy", PROXY, |connection| &mut connection.proxy);
    keep_common(collection, "its source address", SOURCE_IP, |connection| &mut connection.source_ip);
}

fn keep_common(
    collection: &mut Collection,
    what: &str,
    setting: plan::setting::SettingName,
    way: fn(&mut Connection) -> &mut Option<String>,
) {
    let mut said: Vec<Option<String>> = Vec::with_capacity(collection.requests.len());
    collection.requests.iter_mut().for_each(|request| said.push(way(&mut request.connection).clone()));
    if said.windows(2).all(|pair| pair[0] == pair[1]) {
        return;
    }
    let mut left = Vec::new();
    for request in &mut collection.requests {
        if way(&mut request.connection).take().is_some() {
            left.push(request.place.clone());
        }
    }
    for place in left {
        collection.leave_out(
            what,
            place,
            format!("a load has the same for all its requests, and others have another one or none: give it with {setting}"),
        );
    }
}
