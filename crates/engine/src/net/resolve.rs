//! From names to addresses: looked up once, then pinned.
//!
//! A name looked up for every connection measures the resolver and, when an answer changes in the middle, two different
//! systems. Racing address families against each other (RFC 8305) would add its 250 ms to some connections and not to
//! others. So the addresses are decided before the run, in the resolver's order, from one family, and connections are
//! spread over them in turn.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use measure::Failure;
use plan::HostPort;

use super::{DialFailed, words};

/// The address written in a host, if it is one.
pub(super) fn written(at: &HostPort) -> Option<SocketAddr> {
    at.host.parse::<IpAddr>().ok().map(|ip| SocketAddr::new(ip, at.port))
}

/// Every address of a host in the system's order. Blocks; may take as long as the system's resolver pleases.
pub(super) fn addresses(at: &HostPort) -> Result<Vec<SocketAddr>, DialFailed> {
    if let Some(address) = written(at) {
        return Ok(vec![address]);
    }
    let mut distinct: Vec<SocketAddr> = Vec::new();
    for address in (at.host.as_str(), at.port).to_socket_addrs().map_err(|error| failed(&at.host, &error))? {
        if !distinct.contains(&address) {
            distinct.push(address);
        }
    }
    if distinct.is_empty() {
        return Err(DialFailed { failure: Failure::DnsEmpty, text: format!("{} has no address", at.host) });
    }
    Ok(distinct)
}

/// One family of several addresses: the first's. A name of this machine is reached over IPv4 if it can be, because a
/// server on `127.0.0.1` is commoner than one on `::1` alone, and one on `::` takes both.
pub(super) fn one_family(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let loopback = addresses.iter().all(|address| address.ip().is_loopback());
    let ipv4 = addresses.iter().any(SocketAddr::is_ipv4) && (loopback || addresses.first().is_some_and(SocketAddr::is_ipv4));
    addresses.into_iter().filter(|address| address.is_ipv4() == ipv4).collect()
}

/// The standard library hands on `getaddrinfo`'s words but not its number, so the words of glibc and musl decide.
fn failed(host: &str, error: &io::Error) -> DialFailed {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    let failure = match text {
        // EAI_NONAME
        "Name or service not known" | "Name does not resolve" => Failure::DnsNotFound,
        // EAI_NODATA
        "No address associated with hostname" | "Name has no usable address" => Failure::DnsEmpty,
        // EAI_AGAIN: no name server answered.
        "Temporary failure in name resolution" | "Try again" => Failure::DnsTimeout,
        _ => Failure::DnsOther,
    };
    DialFailed { failure, text: format!("{host}: {}", words(text)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn addresses_are_not_looked_up() {
        let at: HostPort = "[::1]:80".parse().unwrap();
        assert_eq!(addresses(&at).unwrap(), of(&["[::1]:80"]));
    }

    #[test]
    fn the_first_address_decides_the_family_and_this_machine_is_reached_over_ipv4() {
        assert_eq!(one_family(of(&["[::1]:80", "127.0.0.1:80"])), of(&["127.0.0.1:80"]));
        assert_eq!(one_family(of(&["[::1]:80"])), of(&["[::1]:80"]));
        assert_eq!(one_family(of(&["[2001:db8::1]:80", "192.0.2.1:80"])), of(&["[2001:db8::1]:80"]));
        assert_eq!(one_family(of(&["192.0.2.1:80", "[2001:db8::1]:80", "192.0.2.2:80"])), of(&["192.0.2.1:80", "192.0.2.2:80"]));
    }

    #[test]
    fn the_resolvers_words_become_classes() {
        for (words, failure) in [
            ("Name or service not known", Failure::DnsNotFound),
            ("No address associated with hostname", Failure::DnsEmpty),
            ("Temporary failure in name resolution", Failure::DnsTimeout),
            ("Non-recoverable failure in name resolution", Failure::DnsOther),
        ] {
            let error = io::Error::other(format!("failed to lookup address information: {words}"));
            assert_eq!(failed("api.test", &error).failure, failure, "{words}");
        }
        let error = io::Error::other("failed to lookup address information: Name or service not known");
        assert_eq!(failed("api.test", &error).text, "api.test: name or service not known");
    }
}
