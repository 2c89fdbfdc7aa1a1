//! What requests that stand in folders have in common, whether Postman keeps them or Insomnia.

use plan::template::Template;
use plan::work::{Auth, AwsKeys};

use super::url::with_parameter;
use super::{Collection, Request, is_method, promise, shortened};

/// Folders in folders, so deep.
pub(super) const DEPTH_MAX: usize = 32;

/// A key in a header or the query: whether it is the query, name and value.
pub(super) type Key = Option<(bool, Template, Template)>;

/// A key's name and value, if it has a name.
pub(super) fn key(in_query: bool, mut value: impl FnMut(&str) -> Template) -> Key {
    let (name, value) = (value("key"), value("value"));
    (!name.is_empty()).then_some((in_query, name, value))
}

/// The keys of an AWS account; `access_key` and `secret_key` are what theirs are called.
pub(super) fn aws([access_key, secret_key]: [&str; 2], mut value: impl FnMut(&str) -> Template) -> Auth {
    Auth::Aws(Box::new(AwsKeys {
        access_key: value(access_key),
        secret_key: value(secret_key),
        session_token: Some(value("sessionToken")).filter(|token| !token.is_empty()),
        region: value("region"),
        service: value("service"),
    }))
}

/// What a folder that is not read is told as.
pub(super) fn leave_folder_out(group: &[String], collection: &mut Collection) {
    collection.leave_out("the folder", group.join(" / "), format!("folders stand in each other at most {DEPTH_MAX} deep"));
}

/// A request in these folders with this method, GET if it has none; `None` if that is no method, which is told.
pub(super) fn request(group: &[String], name: &str, method: String, collection: &mut Collection) -> Option<Request> {
    let place = group.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(" / ");
    let place = if place.is_empty() { "a request without a name".to_owned() } else { place };
    let method = if method.is_empty() { "GET".to_owned() } else { method };
    if !is_method(&method) {
        collection.leave_out(format!("the request with the method '{}'", shortened(&method)), &place, "it is no method");
        return None;
    }
    Some(Request { name: name.to_owned(), group: group.to_vec(), method, place, ..Request::default() })
}

/// Puts into a request how it authenticates. A header that says it goes before.
pub(super) fn log_in(request: &mut Request, auth: Option<Auth>, key: Key) {
    if request.header("authorization").is_none() {
        request.auth = auth;
    }
    match key {
        Some((true, name, value)) => request.url = with_parameter(&request.url, &name, &value),
        Some((false, name, value)) => request.header_if_none(&name.to_string(), value),
        None => {}
    }
}

/// Reads the checks of a script into a request, and tells what else stands in it.
pub(super) fn read_script(script: &str, called: &str, request: &mut Request, collection: &mut Collection) {
    let unread = promise::read(script, request);
    if let Some(first) = unread.first() {
        let more = if unread.len() > 1 { format!(" and {} more lines", unread.len() - 1) } else { String::new() };
        let what = format!("of the {called} '{first}'{more}");
        collection.leave_out(what, &request.place, "scripts are not carried out; of them only simple checks are read");
    }
}
