//! Whether this machine can hold as many connections as the plan wants, asked before the run.
//!
//! A run that finds out in its middle has measured the generator. The need is stated beside what there is, with the
//! command that changes it.

use std::net::SocketAddr;

use plan::setting::{CONNECTIONS, SOURCE_IP};
use plan::{Load, Part, Plan};

use super::socket::{LocalPorts, is_ipv4_loopback};
use crate::RunError;
use crate::machine::FILES_BESIDES;

/// Whether this process may open a file for every connection of these parts of a plan; `files_max` is its limit, already raised.
///
/// # Errors
/// If it may not: need, limit, and what to do.
pub(crate) fn check_limits(plan: &Plan, parts: &[Part], files_max: u64) -> Result<(), RunError> {
    let connections = plan.open_connections_of(parts);
    let need = connections + u64::from(FILES_BESIDES);
    if need <= files_max {
        return Ok(());
    }
    let raise = format!("ulimit -n {}", need.next_power_of_two());
    let help = match files_max.checked_sub(u64::from(FILES_BESIDES)) {
        None | Some(0) => raise,
        Some(possible) => format!("{raise}, or {}", fewer(plan, possible)),
    };
    Err(RunError::input(format!("{connections} connections need {need} open files, but this process may open {files_max}"), help))
}

/// Whether there is a local port for all connections of a plan from this machine to these addresses of one family. Over IPv4 loopback there always is: further local
/// addresses are taken by themselves unless some are given.
pub(super) fn check_ports(plan: &Plan, connections: u64, addresses: &[SocketAddr], ports: LocalPorts) -> Result<(), RunError> {
    let given = &plan.connection().source_ips;
    if given.is_empty() && addresses.iter().all(|address| is_ipv4_loopback(address.ip())) {
        return Ok(());
    }
    let ipv4 = addresses.iter().any(SocketAddr::is_ipv4);
    let sources = given.iter().filter(|source| source.is_ipv4() == ipv4).count().max(1) as u64;
    let each = u64::from(ports.count()) * addresses.len() as u64;
    if connections <= each * sources {
        return Ok(());
    }
    let address = |count: u64| if count == 1 { "1 local address".to_owned() } else { format!("{count} local addresses") };
    Err(RunError::input(
        format!(
            "{connections} connections need {connections} local ports, but {} {} {} (net.ipv4.ip_local_port_range {}-{})",
            address(sources),
            if sources == 1 { "has" } else { "have" },
            each * sources,
            ports.lowest,
            ports.highest,
        ),
        format!(
            "give {} with {SOURCE_IP}, widen it with sysctl net.ipv4.ip_local_port_range='1024 65535', or {}",
            address(connections.div_ceil(each)),
            fewer(plan, each * sources),
        ),
    ))
}

/// How a plan is given no more open connections than these. For populations, a number for all of them multiplies what each has.
fn fewer(plan: &Plan, possible: u64) -> String {
    let possible = (possible / u64::from(plan.connections_each().get())).max(1);
    match plan.load() {
        Load::Mixed(_) => format!("fewer connections in the populations, at most {possible} in all"),
        Load::Closed { .. } | Load::Open { .. } => format!("{CONNECTIONS:#} {possible}"),
    }
}
