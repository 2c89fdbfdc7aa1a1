//! Steps over WebSocket and calls, as they are printed.

use plan::work::{Body, Reply, Step, Talk};

use super::page::{Map, Value};
use super::{Steps, auth, checks, json, named, own_from, own_name};
use crate::read::call;
use crate::read::talk::name_of;

impl Steps<'_> {
    /// A call of gRPC.
    fn call(&self, step: &Step, path: &str, group: &str, map: &mut Map) {
        let method = path.trim_start_matches('/');
        let place = step.elsewhere.as_ref().map_or_else(|| method.to_owned(), |elsewhere| format!("{}{path}", elsewhere.origin()));
        map.put("grpc", place);
        let name = own_name(step, group);
        if name != call::name_of(path) {
            map.put("name", name);
        }
        if let Body::Json(message) = &step.body {
            map.put("message", json(message));
        }
        let inherited = self.defaults.auth.as_ref().filter(|_| step.elsewhere.is_none());
        if step.auth.as_ref() != inherited {
            map.put("auth", step.auth.as_ref().map_or_else(|| Value::from("none"), auth));
        }
        let own = own_from(step, &self.defaults.headers).unwrap_or(0);
        map.put_all("metadata", named(&step.headers[own..]));
        self.rest(step, map);
    }

    /// A step over WebSocket.
    pub(super) fn talk(&self, step: &Step, talk: &Talk, path: &str, group: &str, map: &mut Map) {
        let defaults = self.defaults;
        if *talk == Talk::Call {
            return self.call(step, path, group, map);
        }
        match talk {
            Talk::Connect => map.put("connect", path),
            Talk::Send(reply) => {
                match &step.body {
                    Body::Json(message) => map.put("send", json(message)),
                    Body::Text(message) => map.put("send", message.to_string()),
                    Body::Empty | Body::Form(_) | Body::Multipart(_) | Body::File(_) => map.put("send", ""),
                }
                if *reply != Reply::Next {
                    map.put("answer", awaited(reply));
                }
            }
            Talk::Receive(reply) => map.put("receive", awaited(reply)),
            Talk::Listen(time) => map.put("listen", time.to_string()),
            Talk::Ping => map.put("ping", Value::Bare("true".to_owned())),
            Talk::Close(code) => map.put("close", Value::Bare(code.to_string())),
            Talk::Call => {}
        }
        if *talk != Talk::Connect {
            map.put("on", path);
        }
        let name = own_name(step, group);
        if name != plan::url_without_secrets(&name_of(talk, path)) {
            map.put("name", name);
        }
        if *talk == Talk::Connect {
            let inherited = defaults.auth.as_ref().filter(|_| step.elsewhere.is_none());
            if step.auth.as_ref() != inherited {
                map.put("auth", step.auth.as_ref().map_or_else(|| Value::from("none"), auth));
            }
            let own = own_from(step, &defaults.headers).unwrap_or(0);
            map.put_all("headers", named(&step.headers[own..]));
        }
        self.rest(step, map);
    }
}

/// Which message is waited for.
fn awaited(reply: &Reply) -> Value {
    match reply {
        Reply::Nothing => Value::from("none"),
        Reply::Next => Value::from("next"),
        Reply::First(conditions) => checks::checked(conditions),
    }
}
