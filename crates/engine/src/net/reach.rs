//! Which addresses a program may choose by itself: those of the servers that the plan names.
//!
//! A script can send a thread's load to an address, and try one. Load on a machine that nobody named is an attack on it, whoever
//! wrote the script. So each address it chooses is held against those that the plan's names lead to. What a name led to once stays:
//! a name with many addresses tells others each time it is looked up.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use plan::{Also, HostPort, Plan, Scheme, Target};

use super::{first_hop, resolve};
use crate::Fence;

/// The addresses that load of a plan may go to. Without a plan there are none.
#[derive(Debug, Default)]
pub struct Reach {
    bounds: Places,
    fence: Fence,
    known: Mutex<HashSet<SocketAddr>>,
}

#[derive(Debug)]
enum Places {
    These(Vec<HostPort>),
    All,
}

impl Default for Places {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

impl Reach {
    /// Every address.
    #[must_use]
    pub fn open() -> Self {
        Self { bounds: Places::All, ..Self::default() }
    }

    /// What a plan names: where its connections go, and its other servers.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let Also::Servers(others) = plan.also() else { return Self::open() };
        // A Unix socket has no address, and stands in for the target.
        let own = plan.connection().unix_socket.is_none().then(|| first_hop(plan));
        let places = own.into_iter().chain(others.iter().flat_map(places)).collect();
        Self { bounds: Places::These(places), ..Self::default() }
    }

    /// The same where a fence lets it through, by the name that led to it.
    #[must_use]
    pub fn within(self, fence: Fence) -> Self {
        Self { fence, ..self }
    }

    /// Load may go to these, which the plan's own names led to.
    pub fn learn(&self, addresses: &[SocketAddr]) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).extend(addresses);
    }

    /// The same where a host was looked up that the plan may name or not.
    pub fn learn_of(&self, host: &str, addresses: &[SocketAddr]) {
        let Places::These(places) = &self.bounds else { return };
        let is_named = |address: &&SocketAddr| places.iter().any(|place| place.host == host && place.port == address.port());
        let is_let = |address: &&SocketAddr| self.fence.look(host, &[**address]).is_ok();
        let named: Vec<SocketAddr> = addresses.iter().filter(is_named).filter(is_let).copied().collect();
        self.learn(&named);
    }

    /// Whether load may go to an address. Blocks, since names may be looked up.
    #[must_use]
    pub fn holds(&self, address: SocketAddr) -> bool {
        let Places::These(places) = &self.bounds else { return self.fence.look(&address.ip().to_string(), &[address]).is_ok() };
        let is_known = || self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(&address);
        if is_known() {
            return true;
        }
        for place in places.iter().filter(|place| place.port == address.port()) {
            // A name without an address allows none.
            self.learn_of(&place.host, &resolve::addresses(place).unwrap_or_default());
        }
        is_known()
    }
}

/// Both ports of a server that is one for http and https.
fn places(server: &Target) -> Vec<HostPort> {
    let at = |port| HostPort { host: server.host().to_owned(), port };
    if server.port() == server.scheme().default_port() {
        [Scheme::Http, Scheme::Https].map(|scheme| at(scheme.default_port())).into()
    } else {
        vec![at(server.port())]
    }
}

#[cfg(test)]
mod tests {
    use plan::Draft;

    use super::*;

    fn reach(url: &str, also: &[&str], connect_to: Option<&str>) -> Reach {
        let draft = Draft {
            url: Some(url.to_owned()),
            also_target: also.iter().map(|text| (*text).to_owned()).collect(),
            connect_to: connect_to.map(|text| text.parse().unwrap()),
            ..Draft::default()
        };
        Reach::of(&Plan::try_from(draft).unwrap())
    }

    fn held(reach: &Reach, address: &str) -> bool {
        reach.holds(address.parse().unwrap())
    }

    #[test]
    fn only_addresses_of_named_servers_are_reached() {
        let own = reach("http://127.0.0.1:8080/", &[], None);
        assert!(held(&own, "127.0.0.1:8080") && !held(&own, "127.0.0.1:8081") && !held(&own, "127.0.0.2:8080"));
        let more = reach("http://127.0.0.1:8080/", &["https://127.0.0.2", "http://127.0.0.3:81"], None);
        assert!(held(&more, "127.0.0.2:443") && held(&more, "127.0.0.2:80") && held(&more, "127.0.0.3:81"));
        assert!(!held(&more, "127.0.0.3:80") && held(&reach("http://127.0.0.1/", &["any"], None), "192.0.2.1:9"));
        let elsewhere = reach("http://127.0.0.1:8080/", &[], Some("127.0.0.9:90"));
        assert!(held(&elsewhere, "127.0.0.9:90") && !held(&elsewhere, "127.0.0.1:8080"), "the user said where the target is");
        assert!(!held(&Reach::default(), "127.0.0.1:80"));
    }

    #[test]
    fn a_fence_holds_for_what_a_plan_names_too() {
        let fence = Fence::new("", Vec::new(), |host, address| host == "127.0.0.2" || address.port() == 80);
        let named = reach("http://127.0.0.1:80/", &["http://127.0.0.2:81/", "http://127.0.0.3:81/"], None).within(fence.clone());
        assert!(held(&named, "127.0.0.1:80") && held(&named, "127.0.0.2:81"));
        assert!(!held(&named, "127.0.0.3:81"), "it is named, and outside");
        let open = Reach::open().within(fence);
        assert!(held(&open, "127.0.0.9:80") && !held(&open, "127.0.0.9:22"));
    }

    #[test]
    fn what_a_named_host_led_to_stays_and_other_hosts_teach_nothing() {
        let own = reach("http://a.invalid:8080/", &[], None);
        own.learn_of("a.invalid", &["192.0.2.1:8080".parse().unwrap(), "192.0.2.1:22".parse().unwrap()]);
        own.learn_of("b.invalid", &["192.0.2.2:8080".parse().unwrap()]);
        assert!(held(&own, "192.0.2.1:8080") && !held(&own, "192.0.2.1:22") && !held(&own, "192.0.2.2:8080"));
    }
}
