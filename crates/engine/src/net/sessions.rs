//! TLS sessions that a worker's connections may resume.
//!
//! rustls keeps eight tickets of a server. Of a hundred users who open their next connection at about the same time eight would resume
//! then, and the share would say how many users there are. So as many are kept as a worker has users at most times; a ticket of TLS 1.3 is
//! used once (RFC 8446 §C.4), and servers give one or two with each connection.
//!
//! Each worker has its own, so that its lock is never waited for. Invariant: memory does not grow with the number of connections.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::NamedGroup;
use rustls::client::{ClientSessionStore, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::pki_types::ServerName;

/// So many tickets of a server are kept: a kilobyte or two each.
const TICKETS_MAX: usize = 1024;

/// Of so many servers.
const SERVERS_MAX: usize = 64;

/// What was learned of servers.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    servers: Mutex<HashMap<ServerName<'static>, Known>>,
}

#[derive(Debug, Default)]
struct Known {
    group: Option<NamedGroup>,
    of_tls12: Option<Tls12ClientSessionValue>,
    tickets: VecDeque<Tls13ClientSessionValue>,
}

impl Sessions {
    fn servers(&self) -> MutexGuard<'_, HashMap<ServerName<'static>, Known>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn learn(&self, server: ServerName<'static>, what: impl FnOnce(&mut Known)) {
        let mut servers = self.servers();
        if servers.len() < SERVERS_MAX || servers.contains_key(&server) {
            what(servers.entry(server).or_default());
        }
    }
}

impl ClientSessionStore for Sessions {
    fn set_kx_hint(&self, server: ServerName<'static>, group: NamedGroup) {
        self.learn(server, |known| known.group = Some(group));
    }

    fn kx_hint(&self, server: &ServerName<'_>) -> Option<NamedGroup> {
        self.servers().get(server)?.group
    }

    fn set_tls12_session(&self, server: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.learn(server, |known| known.of_tls12 = Some(session));
    }

    fn tls12_session(&self, server: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.servers().get(server)?.of_tls12.clone()
    }

    fn remove_tls12_session(&self, server: &ServerName<'static>) {
        if let Some(known) = self.servers().get_mut(server) {
            known.of_tls12 = None;
        }
    }

    fn insert_tls13_ticket(&self, server: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.learn(server, |known| {
            if known.tickets.len() == TICKETS_MAX {
                known.tickets.pop_front();
            }
            known.tickets.push_back(ticket);
        });
    }

    fn take_tls13_ticket(&self, server: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.servers().get_mut(server)?.tickets.pop_back()
    }
}
