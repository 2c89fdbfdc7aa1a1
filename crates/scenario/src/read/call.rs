//! Steps that call a method of gRPC.

use plan::template::Template;
use plan::work::{Body, Step, Talk};
use plan::{Target, method_of};

use super::{Defaults, Entries, Reading};
use crate::yaml::{Node, Value};

impl Reading<'_> {
    pub(super) fn call(&mut self, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Option<Step> {
        let (_, node) = entries.take("grpc").expect("it was looked for");
        let called = self.method(node);
        let own_name = entries.value("name").and_then(|node| self.plain(node));
        let (headers, shared_secrets) = self.headers(defaults.headers, entries.value("metadata"));
        let elsewhere = called.as_ref().and_then(|(_, elsewhere)| elsewhere.as_ref());
        // What all steps send to say who the user is, is for the target alone.
        let auth = entries.value("auth").map(|node| self.auth(node));
        let auth = auth.unwrap_or_else(|| defaults.auth.clone().filter(|_| elsewhere.is_none()));
        let body = match entries.value("message") {
            Some(node) => self.called_with(node),
            None => Some(Body::Json(Template::fixed("{}"))),
        };
        let common = self.common(entries, defaults);
        let (path, elsewhere) = called?;
        let name = own_name.unwrap_or_else(|| name_of(&path));
        let name = if group.is_empty() { name } else { format!("{group} / {name}") };
        let (method, path) = ("POST".to_owned(), Template::fixed(path));
        Some(Step { talk: Some(Talk::Call), name, method, path, elsewhere, headers, shared_secrets, body: body?, auth, ..common })
    }

    /// The path of a method, and the server that it is called on, if another than the target is named.
    fn method(&mut self, node: &Node) -> Option<(String, Option<Target>)> {
        let text = self.plain(node)?;
        let help = "write package.Service/Method, or a whole URL such as grpc://127.0.0.1:50051/package.Service/Method";
        if text.contains("{{") {
            self.wrong(node.spot, "the method of a call cannot be a template: its messages are looked up before the run", "write it out");
            return None;
        }
        let (path, elsewhere) = if plan::has_scheme(&text) {
            match text.parse::<Target>() {
                Ok(target) if target.scheme().is_grpc() && target.credentials().is_none() => {
                    (target.path_and_query().to_owned(), Some(target.with_path_and_query("/".to_owned())))
                }
                Ok(_) => {
                    self.wrong(node.spot, format!("'{}' is no URL of gRPC, or holds a password", text.escape_debug()), help);
                    return None;
                }
                Err(why) => {
                    self.wrong(node.spot, format!("the URL '{}' {why}", text.escape_debug()), help);
                    return None;
                }
            }
        } else {
            (format!("/{}", text.trim_start_matches('/')), None)
        };
        if method_of(&path).is_none() {
            self.wrong(node.spot, format!("'{}' names no method", text.escape_debug()), help);
            return None;
        }
        Some((path, elsewhere))
    }

    /// A message: JSON, as YAML has it or as a text.
    fn called_with(&mut self, node: &Node) -> Option<Body> {
        match &node.value {
            Value::Scalar { text, .. } if !text.trim_start().starts_with(['{', '[']) => {
                self.wrong(node.spot, "a message of a call is an object, or a list of them", "write message: {name: value}");
                None
            }
            Value::Scalar { .. } | Value::List(_) | Value::Map(_) => self.json_body(node).map(Body::Json),
            Value::Told => None,
        }
    }
}

/// What reports call a step that has no name of its own.
pub(crate) fn name_of(path: &str) -> String {
    format!("call {}", path.trim_start_matches('/'))
}
