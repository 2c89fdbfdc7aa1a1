//! Where load may go at the word of a browser: patterns of addresses and names.
//!
//! The machine that serves may reach what its user's browser may not: a database, another team's service, the address at which
//! clouds hand out credentials. So by default load goes to this machine and to private networks, and anything else has to be
//! named. Link-local addresses are in neither: 169.254.169.254 is where clouds keep their secrets.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// Patterns, of which one is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedTargets(Vec<Pattern>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    place: Place,
    port: Option<u16>,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Any,
    Loopback,
    Private,
    Net(IpAddr, u8),
    /// A name, in small letters.
    Name(String),
    /// Everything that ends so, such as `.example.com`.
    Below(String),
}

/// It is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoPattern(String);

impl fmt::Display for NoPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoPattern {}

impl AllowedTargets {
    /// This machine and private networks.
    #[must_use]
    pub fn usual() -> Self {
        let pattern = |place, text: &str| Pattern { place, port: None, text: text.to_owned() };
        Self(vec![pattern(Place::Loopback, "loopback"), pattern(Place::Private, "private")])
    }

    /// Those that are given; without any the usual ones.
    ///
    /// # Errors
    /// For each text that is no pattern: the text, and why.
    pub fn read(texts: &[String]) -> Result<Self, Vec<(String, NoPattern)>> {
        if texts.is_empty() {
            return Ok(Self::usual());
        }
        let (mut patterns, mut wrong) = (Vec::new(), Vec::new());
        for text in texts {
            match text.parse() {
                Ok(pattern) => patterns.push(pattern),
                Err(why) => wrong.push((text.clone(), why)),
            }
        }
        if wrong.is_empty() { Ok(Self(patterns)) } else { Err(wrong) }
    }

    /// The patterns as they were given, from which the same are read again.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(|pattern| pattern.text.clone()).collect()
    }

    /// Whether load may go to this host, wherever its name leads: where it is an address, that is known.
    #[must_use]
    pub fn may_let(&self, host: &str, port: u16) -> bool {
        if let Ok(ip) = host.parse() {
            return self.lets(host, SocketAddr::new(ip, port));
        }
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let may = |place: &Place| match place {
            Place::Any | Place::Loopback | Place::Private | Place::Net(..) => true,
            Place::Name(_) | Place::Below(_) => place.names(&host),
        };
        self.0.iter().any(|pattern| pattern.port.is_none_or(|its| its == port) && may(&pattern.place))
    }

    /// Whether load may go to this address, reached by this name.
    #[must_use]
    pub fn lets(&self, host: &str, address: SocketAddr) -> bool {
        // An IPv4 address in IPv6's clothes leads to the same place.
        let ip = address.ip().to_canonical();
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        self.0.iter().any(|pattern| pattern.port.is_none_or(|port| port == address.port()) && pattern.place.holds(&host, ip))
    }
}

impl fmt::Display for AllowedTargets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().join(", "))
    }
}

impl Place {
    fn holds(&self, host: &str, ip: IpAddr) -> bool {
        match self {
            Self::Any => true,
            // The unspecified address leads to this machine.
            Self::Loopback => ip.is_loopback() || ip.is_unspecified(),
            Self::Private => match ip {
                IpAddr::V4(ip) => ip.is_private(),
                IpAddr::V6(ip) => ip.is_unique_local(),
            },
            Self::Net(net, bits) => match (net, ip) {
                (IpAddr::V4(net), IpAddr::V4(ip)) => begins(&net.octets(), &ip.octets(), *bits),
                (IpAddr::V6(net), IpAddr::V6(ip)) => begins(&net.octets(), &ip.octets(), *bits),
                _ => false,
            },
            Self::Name(_) | Self::Below(_) => self.names(host),
        }
    }

    /// Whether it is this name, in small letters, or one that it is below.
    fn names(&self, host: &str) -> bool {
        match self {
            Self::Name(name) => name == host,
            Self::Below(ending) => host.len() > ending.len() && host.ends_with(ending.as_str()),
            Self::Any | Self::Loopback | Self::Private | Self::Net(..) => false,
        }
    }
}

/// Whether both begin with the same so many bits.
fn begins(a: &[u8], b: &[u8], bits: u8) -> bool {
    let (whole, rest) = (usize::from(bits / 8), bits % 8);
    let mask = if rest == 0 { 0 } else { !(0xff_u8 >> rest) };
    a[..whole] == b[..whole] && (rest == 0 || (a[whole] ^ b[whole]) & mask == 0)
}

impl FromStr for Pattern {
    type Err = NoPattern;

    fn from_str(given: &str) -> Result<Self, NoPattern> {
        let text = given.trim();
        let wrong = |why: &str| NoPattern(why.to_owned());
        if text.contains("://") {
            return Err(wrong("is a URL; name the host alone, such as api.example.com or api.example.com:8080"));
        }
        // An IPv6 address has colons of its own: a port stands behind its brackets.
        let (place, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((place, "")) => (place, None),
            Some((place, port)) => (place, Some(port.strip_prefix(':').ok_or_else(|| wrong("has something else than a port after ']'"))?)),
            None => match text.rsplit_once(':') {
                Some((place, port)) if !place.contains(':') => (place, Some(port)),
                _ => (text, None),
            },
        };
        let port = match port {
            None | Some("*") => None,
            Some(port) => Some(port.parse().ok().filter(|port| *port != 0).ok_or_else(|| wrong("has a port that is none"))?),
        };
        let place = place.to_ascii_lowercase();
        let place = match place.as_str() {
            "" => return Err(wrong("names nothing")),
            "any" | "*" => Place::Any,
            "loopback" => Place::Loopback,
            "private" => Place::Private,
            _ => match place.split_once('/') {
                Some((net, bits)) => {
                    let net: IpAddr = net.parse().map_err(|_| wrong("is no network such as 10.1.0.0/16"))?;
                    let most = if net.is_ipv4() { 32 } else { 128 };
                    let bits = bits.parse().ok().filter(|bits| *bits <= most).ok_or_else(|| wrong("has too many bits for its address"))?;
                    Place::Net(net, bits)
                }
                None => match place.parse::<IpAddr>() {
                    Ok(ip) => Place::Net(ip, if ip.is_ipv4() { 32 } else { 128 }),
                    Err(_) => name(&place).ok_or_else(|| {
                        wrong("is neither a name, *.NAME, an address, a network such as 10.1.0.0/16, loopback, private nor any")
                    })?,
                },
            },
        };
        Ok(Self { place, port, text: text.to_owned() })
    }
}

fn name(text: &str) -> Option<Place> {
    let (below, name) = text.strip_prefix("*.").map_or((false, text), |name| (true, name));
    let name = name.trim_end_matches('.');
    let sound = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '.' | '_'));
    sound.then(|| if below { Place::Below(format!(".{name}")) } else { Place::Name(name.to_owned()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lets(patterns: &[&str], host: &str, address: &str) -> bool {
        let texts: Vec<String> = patterns.iter().map(|&text| text.to_owned()).collect();
        AllowedTargets::read(&texts).unwrap().lets(host, address.parse().unwrap())
    }

    #[test]
    fn this_machine_and_private_networks_are_the_usual_and_nothing_else_is() {
        for address in
            ["127.0.0.1:80", "127.9.9.9:80", "[::1]:80", "10.0.0.1:80", "172.31.0.1:1", "192.168.1.1:443", "[fd00::1]:80", "0.0.0.0:80"]
        {
            assert!(lets(&[], "x.test", address), "{address}");
        }
        for address in ["169.254.169.254:80", "[fe80::1]:80", "8.8.8.8:80", "172.32.0.1:80", "[2001:db8::1]:80", "[::ffff:8.8.8.8]:80"] {
            assert!(!lets(&[], "localhost", address), "{address}: what a name says does not matter");
        }
        assert!(lets(&[], "x", "[::ffff:127.0.0.1]:80"), "the same place in other clothes");
    }

    #[test]
    fn a_pattern_is_an_address_a_network_or_a_name_with_or_without_a_port() {
        assert!(lets(&["203.0.113.0/25"], "x", "203.0.113.127:80") && !lets(&["203.0.113.0/25"], "x", "203.0.113.128:80"));
        assert!(lets(&["203.0.113.7:8080"], "x", "203.0.113.7:8080") && !lets(&["203.0.113.7:8080"], "x", "203.0.113.7:80"));
        assert!(lets(&["[2001:db8::1]:80"], "x", "[2001:db8::1]:80") && lets(&["2001:db8::/32"], "x", "[2001:db8:9::]:1"));
        assert!(lets(&["API.example.com"], "api.example.com.", "8.8.8.8:80"));
        assert!(lets(&["*.example.com"], "a.b.example.com", "8.8.8.8:80") && !lets(&["*.example.com"], "example.com", "8.8.8.8:80"));
        assert!(!lets(&["*.example.com"], "evilexample.com", "8.8.8.8:80"));
        assert!(
            lets(&["any"], "x", "8.8.8.8:80") && !lets(&["loopback"], "x", "10.0.0.1:80"),
            "what is given takes the place of the usual"
        );
        assert!(lets(&["0.0.0.0/0"], "x", "8.8.8.8:80") && !lets(&["0.0.0.0/0"], "x", "[2001:db8::1]:80"));
    }

    #[test]
    fn a_name_may_be_let_where_one_of_the_addresses_may_be_its_own() {
        let may = |patterns: &[&str], host: &str, port: u16| {
            AllowedTargets::read(&patterns.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()).unwrap().may_let(host, port)
        };
        assert!(may(&["loopback"], "a.test", 80) && may(&["10.0.0.0/8", "b.test"], "a.test", 80) && may(&["any:80"], "a.test", 80));
        assert!(may(&["*.test"], "A.test.", 80) && may(&["a.test:80"], "a.test", 80));
        assert!(!may(&["*.b.test", "b.test"], "a.test", 80) && !may(&["loopback:81"], "a.test", 80));
        assert!(may(&["loopback"], "127.0.0.1", 80) && !may(&["loopback"], "192.0.2.1", 80) && !may(&["loopback"], "2001:db8::1", 80));
    }

    #[test]
    fn what_is_no_pattern_is_refused_each_with_its_reason() {
        let texts: Vec<String> = ["http://a/", "10.0.0.0/33", "a b", "", "a:99999", "10.0.0.0.0/8"].map(str::to_owned).into();
        let wrong = AllowedTargets::read(&texts).unwrap_err();
        assert_eq!(wrong.len(), texts.len());
        assert!(wrong[0].1.to_string().contains("is a URL"));
        assert_eq!(AllowedTargets::usual().to_string(), "loopback, private");
    }
}
