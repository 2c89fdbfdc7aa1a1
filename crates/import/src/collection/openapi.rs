//! OpenAPI 3: what an API says of itself, as one request for each of its operations.
//!
//! A description says which values are allowed, not which are sent. Where it gives an example, that is sent; else a value is made from
//! its schema, the simplest that fits, and a new one for each request where the schema says how (a UUID, a time, a range of numbers).
//! Of an object the fields that must be there are sent, and those with an example: an optional field that was made up is more often
//! refused than missed.
//!
//! Bounded: schemas that name themselves end where they begin again, and a body has a greatest number of values.

use std::collections::BTreeSet;

use plan::setting::OPENAPI_SERVER;
use plan::template::{Template, Value as Drawn};
use plan::work::{AnswerCheck, Auth, Body, Field, FieldValue};
use plan::{FILE_TYPE, Target};

use super::promise::{status_check, success};
use super::tree::Tree;
use super::url::{expression, variable, with_parameter};
use super::{Collection, Kind, PARTS_MAX, ReadError, Request, shortened};

/// References that lead to references, so many.
const REFERENCES_MAX: usize = 32;
/// Values in values, so deep.
const DEPTH_MAX: usize = 24;
/// A request is made of at most so many values.
const VALUES_MAX: usize = 5_000;
/// Of an array whose schema wants more, so many are made.
const ITEMS_MAX: usize = 10;

/// `wish` says which server; where the description leaves the host open, it is `host`.
pub(super) fn read(text: &str, wish: Option<&str>, host: Option<&str>) -> Result<Collection, ReadError> {
    let server = if wish.is_none() && host.is_some() { Server::Any(host) } else { Server::Asked(wish) };
    operations(text, server).map(|(collection, _)| collection)
}

/// Where requests go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Server<'a> {
    /// To the one that is wished for, or the first.
    Asked(Option<&'a str>),
    /// To the first; the description may leave the host open, and then it is this one, or does not matter.
    Any(Option<&'a str>),
}

/// The same, and for each of its requests what its path begins with on its server, and its path as it is described.
pub(super) fn operations(text: &str, server: Server<'_>) -> Result<(Collection, Vec<(String, String)>), ReadError> {
    let root = Tree::read(text)?;
    let version = root.at("openapi").words();
    if root.has("swagger") {
        return Err(ReadError::new("this is a description by Swagger 2, and loadline reads OpenAPI 3; converters make one of the other"));
    }
    if !version.starts_with('3') {
        return Err(ReadError::new("this is no description by OpenAPI 3: it has no \"openapi\": 3"));
    }
    let mut collection = Collection::new(Kind::OpenApi);
    collection.name = root.at("info").at("title").words();
    let wish = if let Server::Asked(wish) = server { wish } else { None };
    let begins = |servers: &[Tree], wish: Option<&str>| match (base(servers, wish), server) {
        (Err(_), Server::Any(host)) => {
            let host = host.unwrap_or("http://127.0.0.1").trim_end_matches('/');
            Ok(format!("{host}{}", servers.first().map(url_of).map(|url| path_of(&url)).unwrap_or_default()))
        }
        (found, _) => found,
    };
    let base = begins(root.at("servers").list(), wish)?;
    let mut described = Vec::new();
    let mut made = RequestParts { root: &root, place: String::new(), left: VALUES_MAX, following: Vec::new(), notes: BTreeSet::new() };
    for (path, item) in root.at("paths").entries() {
        if path.starts_with("x-") {
            continue;
        }
        let item = match made.resolved(item) {
            Ok(item) => item,
            Err(why) => {
                collection.leave_out(format!("the path {}", shortened(path)), shortened(path), why);
                continue;
            }
        };
        for (method, operation) in item.entries() {
            let known = matches!(method.as_str(), "get" | "put" | "post" | "delete" | "options" | "head" | "patch" | "trace");
            if !known || operation.entries().is_empty() && !operation.at("responses").is_null() {
                continue;
            }
            let method = method.to_ascii_uppercase();
            made.place = format!("{method} {}", shortened(path));
            made.left = VALUES_MAX;
            let own = [operation, item].into_iter().map(|tree| tree.at("servers").list()).find(|servers| !servers.is_empty());
            let base = match own.filter(|_| wish.is_none()) {
                Some(servers) => begins(servers, None)?,
                None => base.clone(),
            };
            let request = made.request(method, path, item, operation, &base, &mut collection);
            for note in std::mem::take(&mut made.notes) {
                collection.leave_out(note.0, &made.place, note.1);
            }
            collection.requests.push(request);
            let base_path = if plan::has_scheme(&base) { &base[plan::server_in(&base).end..] } else { "" };
            described.push((base_path.to_owned(), path.clone()));
        }
    }
    Ok((collection, described))
}

/// The URL that paths begin with.
fn base(servers: &[Tree], wish: Option<&str>) -> Result<String, ReadError> {
    if let Some(url) = wish.filter(|wish| wish.contains("://")) {
        return Ok(url.trim_end_matches('/').to_owned());
    }
    let urls: Vec<String> = servers.iter().map(url_of).collect();
    let shown = || urls.iter().enumerate().map(|(place, url)| format!("{} {url}", place + 1)).collect::<Vec<_>>().join(", ");
    let found = match wish {
        None => urls.first(),
        Some(wish) => match wish.parse::<usize>() {
            Ok(number) => urls.get(number.wrapping_sub(1)),
            Err(_) => {
                let wish = wish.to_lowercase();
                let holds = |server: &Tree, url: &String| {
                    url.to_lowercase().contains(&wish) || server.at("description").words().to_lowercase().contains(&wish)
                };
                servers.iter().zip(&urls).find(|(server, url)| holds(server, url)).map(|(_, url)| url)
            }
        },
    };
    match (found, wish) {
        (Some(url), _) if url.parse::<Target>().is_ok() => Ok(if plan::has_scheme(url) { url.clone() } else { format!("http://{url}") }),
        (None, Some(wish)) => Err(ReadError::new(format!("no server of it is '{}': it has {}", shortened(wish), shortened(&shown())))),
        (url, _) => {
            let (host, path) = url.map_or_else(Default::default, |url| {
                let path = path_of(url);
                let host = url.strip_suffix(path.as_str()).unwrap_or_default();
                (host.rsplit_once("://").map_or(host, |(_, host)| host).to_owned(), path)
            });
            let host = if host.is_empty() || host.contains(['{', ' ']) { "HOST" } else { &host };
            Err(ReadError::new(format!("it does not say which host to ask; give {OPENAPI_SERVER:#} http://{host}{path}")))
        }
    }
}

/// The path that a server's URL ends with, whether its beginning is a URL, a host without a scheme, or missing.
fn path_of(url: &str) -> String {
    let behind = url.split_once("://").map(|(_, rest)| rest);
    let is_host = |text: &str| text.contains([':', '.']) || text == "localhost";
    match behind {
        None if url.is_empty() || url.starts_with('/') => url.to_owned(),
        None if !is_host(url.split('/').next().unwrap_or_default()) => format!("/{url}"),
        _ => {
            let rest = behind.unwrap_or(url);
            rest.find('/').map_or_else(String::new, |at| rest[at..].to_owned())
        }
    }
}

/// With the defaults of its variables.
fn url_of(server: &Tree) -> String {
    let mut url = server.at("url").words();
    for (name, variable) in server.at("variables").entries() {
        let value = match variable.at("default") {
            Tree::Null => variable.at("enum").list().first().map(Tree::words).unwrap_or_default(),
            value => value.words(),
        };
        url = url.replace(&format!("{{{name}}}"), &value);
    }
    url.trim_end_matches('/').to_owned()
}

/// What is made of schemas for one request.
struct RequestParts<'a> {
    root: &'a Tree,
    place: String,
    left: usize,
    /// The references that lead to where we are.
    following: Vec<String>,
    /// What is left out of this request, and why.
    notes: BTreeSet<(String, String)>,
}

/// A value on its way into a request.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Fixed(Tree),
    /// An expression of loadline's, and whether it stands in quotation marks in JSON.
    Drawn(Template, Quoted),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoted {
    Yes,
    No,
}

impl Value {
    fn text(text: &str) -> Self {
        Self::Fixed(Tree::Text(text.to_owned()))
    }

    fn json(&self) -> Template {
        let mut text = Template::default();
        self.write_json(&mut text);
        text
    }

    fn write_json(&self, into: &mut Template) {
        match self {
            Self::Fixed(tree) => into.push(&tree.json()),
            Self::Drawn(expression, quoted) => {
                let mark = if *quoted == Quoted::Yes { "\"" } else { "" };
                into.push(mark);
                into.append(expression.clone());
                into.push(mark);
            }
            Self::List(items) => {
                into.push("[");
                for (place, item) in items.iter().enumerate() {
                    into.push(if place > 0 { "," } else { "" });
                    item.write_json(into);
                }
                into.push("]");
            }
            Self::Map(entries) => {
                into.push("{");
                for (place, (key, item)) in entries.iter().enumerate() {
                    into.push(if place > 0 { "," } else { "" });
                    into.push(&super::tree::json_string(key));
                    into.push(":");
                    item.write_json(into);
                }
                into.push("}");
            }
        }
    }

    /// As it stands in a URL or a header.
    fn plain(&self) -> Template {
        match self {
            Self::Fixed(Tree::List(_) | Tree::Map(_)) | Self::Map(_) | Self::List(_) => match self.items() {
                Some(items) => joined(&items, ","),
                None => self.json(),
            },
            Self::Fixed(tree) => Template::fixed(tree.words()),
            Self::Drawn(expression, _) => expression.clone(),
        }
    }

    fn items(&self) -> Option<Vec<Self>> {
        match self {
            Self::List(items) => Some(items.clone()),
            Self::Fixed(Tree::List(items)) => Some(items.iter().cloned().map(Self::Fixed).collect()),
            _ => None,
        }
    }

    fn entries(&self) -> Option<Vec<(String, Self)>> {
        match self {
            Self::Map(entries) => Some(entries.clone()),
            Self::Fixed(Tree::Map(entries)) => Some(entries.iter().map(|(key, tree)| (key.clone(), Self::Fixed(tree.clone()))).collect()),
            _ => None,
        }
    }
}

fn joined(items: &[Value], with: &str) -> Template {
    let mut text = Template::default();
    for (place, item) in items.iter().enumerate() {
        text.push(if place > 0 { with } else { "" });
        text.append(item.plain());
    }
    text
}

impl<'a> RequestParts<'a> {
    fn note(&mut self, what: impl Into<String>, why: impl Into<String>) {
        self.notes.insert((what.into(), why.into()));
    }

    /// What a reference leads to; what is none stays.
    fn resolved(&self, tree: &'a Tree) -> Result<&'a Tree, String> {
        let mut found = tree;
        for _ in 0..REFERENCES_MAX {
            let Some(reference) = found.at("$ref").text() else { return Ok(found) };
            let Some(path) = reference.strip_prefix("#/") else {
                return Err(format!("it is in another file, '{}'; put both into one, as bundlers do", shortened(reference)));
            };
            found = self.root;
            for part in path.split('/') {
                let part = plan::percent_decoded(&part.replace("~1", "/").replace("~0", "~"));
                found = match part.parse::<usize>() {
                    Ok(place) if !found.list().is_empty() => found.list().get(place).unwrap_or(&Tree::Null),
                    _ => found.at(&part),
                };
            }
            if found.is_null() {
                return Err(format!("'{}' leads nowhere", shortened(reference)));
            }
        }
        Err("its references lead in a circle".to_owned())
    }

    fn request(
        &mut self,
        method: String,
        path: &str,
        item: &'a Tree,
        operation: &'a Tree,
        base: &str,
        collection: &mut Collection,
    ) -> Request {
        let name = [operation.at("operationId"), operation.at("summary")].into_iter().map(Tree::words).find(|name| !name.trim().is_empty());
        let name = name.unwrap_or_else(|| format!("{method} {path}"));
        let group = operation.at("tags").list().first().map(Tree::words).filter(|tag| !tag.is_empty());
        let place = self.place.clone();
        let mut request = Request { name, group: group.into_iter().collect(), method, place, ..Request::default() };

        // Those of the operation go over those of the path.
        let mut parameters: Vec<&'a Tree> = Vec::new();
        for tree in item.at("parameters").list().iter().chain(operation.at("parameters").list()).take(PARTS_MAX) {
            match self.resolved(tree) {
                Ok(parameter) => {
                    let same = |other: &&Tree| other.at("name") == parameter.at("name") && other.at("in") == parameter.at("in");
                    match parameters.iter().position(same) {
                        Some(at) => parameters[at] = parameter,
                        None => parameters.push(parameter),
                    }
                }
                Err(why) => self.note("a parameter", why),
            }
        }
        let mut parts: Vec<(String, Template)> = Vec::new();
        let mut queries: Vec<(Template, Template)> = Vec::new();
        for parameter in parameters {
            let name = parameter.at("name").words();
            let stands_in = parameter.at("in").words();
            let has_example = parameter.has("example")
                || parameter.has("examples")
                || self
                    .resolved(parameter.at("schema"))
                    .is_ok_and(|schema| ["example", "examples", "default"].iter().any(|key| schema.has(key)));
            if stands_in != "path" && !parameter.at("required").is_true() && !has_example {
                continue;
            }
            let Some(value) = self.of_parameter(parameter, &name) else { continue };
            match stands_in.as_str() {
                "path" => {
                    let mut text = match parameter.at("style").text() {
                        Some("label") => Template::fixed("."),
                        Some("matrix") => Template::fixed(format!(";{name}=")),
                        _ => Template::default(),
                    };
                    text.append(value.plain().map_text(plan::percent_encoded));
                    parts.push((name, text));
                }
                "query" => query(parameter, &name, &value, &mut queries),
                // These follow from the body and the authentication.
                "header" if ["accept", "content-type", "authorization"].contains(&name.to_ascii_lowercase().as_str()) => {}
                "header" => request.take_header(&name, value.plain()),
                "cookie" => {
                    let mut cookie = Template::fixed(format!("{name}="));
                    cookie.append(value.plain());
                    request.take_header("Cookie", cookie);
                }
                other => self.note(format!("the parameter '{}' in '{}'", shortened(&name), shortened(other)), "there is no such place"),
            }
        }
        request.url = Template::fixed(base);
        request.url.append(filled_path(path, &parts));
        for (name, value) in queries.iter().take(PARTS_MAX) {
            request.url = with_parameter(&request.url, name, value);
        }
        if operation.has("requestBody") {
            self.body(operation.at("requestBody"), &mut request);
        }
        self.security(if operation.has("security") { operation.at("security") } else { self.root.at("security") }, &mut request);
        request.checks.extend(promised(operation.at("responses")));
        if operation.has("callbacks") {
            collection.leave_out("the callbacks", &request.place, "the server asks them, not the user");
        }
        request
    }

    fn of_parameter(&mut self, parameter: &'a Tree, name: &str) -> Option<Value> {
        if let Some(example) = self.example(parameter) {
            return Some(Value::Fixed(example));
        }
        if let Some((_, media)) = parameter.at("content").entries().first() {
            let value = self.example(media).map(Value::Fixed).or_else(|| self.value(media.at("schema"), name, 0))?;
            return Some(match value.json().plain() {
                Some(json) => Value::text(json),
                None => value,
            });
        }
        self.value(parameter.at("schema"), name, 0)
    }

    /// `example`, or the first of `examples`.
    fn example(&self, tree: &'a Tree) -> Option<Tree> {
        if tree.has("example") {
            return Some(tree.at("example").clone());
        }
        let (_, first) = tree.at("examples").entries().first()?;
        let first = self.resolved(first).ok()?;
        first.has("value").then(|| first.at("value").clone())
    }

    fn body(&mut self, body: &'a Tree, request: &mut Request) {
        let body = match self.resolved(body) {
            Ok(body) => body,
            Err(why) => return self.note("the body", why),
        };
        let content = body.at("content").entries();
        let plain = |media: &str| media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let is = |wanted: &dyn Fn(&str) -> bool| content.iter().find(|(media, _)| wanted(&plain(media)));
        let found = is(&|media| media == "application/json")
            .or_else(|| is(&|media| media.ends_with("+json") || media == "*/*" || media == "application/*"))
            .or_else(|| is(&|media| media == plan::FORM_TYPE))
            .or_else(|| is(&|media| media == "multipart/form-data"))
            .or_else(|| content.first());
        let Some((media_type, media)) = found else { return };
        let media_type = plain(media_type);
        let media_type = if media_type.contains('*') { "application/json".to_owned() } else { media_type };
        let example = self.example(media);
        // An example of JSON may be written as text.
        if let Some(Tree::Text(text)) = &example
            && media_type.contains("json")
            && text.trim_start().starts_with(['{', '['])
        {
            request.header_if_none("Content-Type", media_type);
            request.body = Body::Text(Template::fixed(text.as_str()));
            return;
        }
        let value = example.map(Value::Fixed).or_else(|| self.value(media.at("schema"), "body", 0));
        let Some(value) = value else {
            self.note("the body", "its schema does not say enough to make one");
            return;
        };
        match media_type.as_str() {
            plan::FORM_TYPE => {
                let entries = value.entries().unwrap_or_default();
                request.set_form(entries.into_iter().map(|(name, value)| (Template::fixed(name), value.plain())).collect());
            }
            "multipart/form-data" => {
                let schema = self.resolved(media.at("schema")).unwrap_or(&Tree::Null);
                let mut fields = Vec::new();
                for (name, value) in value.entries().unwrap_or_default() {
                    let property = self.resolved(schema.at("properties").at(&name)).unwrap_or(&Tree::Null);
                    let is_file = property.at("format").text() == Some("binary")
                        || property.has("contentMediaType")
                        || self.resolved(property.at("items")).is_ok_and(|items| items.at("format").text() == Some("binary"));
                    if is_file {
                        self.note(format!("the file of the field '{}'", shortened(&name)), "put a file of this name beside the scenario");
                        let media_type = property.at("contentMediaType").text().unwrap_or(FILE_TYPE).to_owned();
                        fields.push(Field { name: name.clone(), value: FieldValue::File { path: name, media_type }, headers: Vec::new() });
                    } else {
                        fields.push(Field { name, value: FieldValue::Text(value.plain()), headers: Vec::new() });
                    }
                }
                request.body = Body::Multipart(fields);
            }
            media if media.contains("json") => {
                request.header_if_none("Content-Type", media);
                request.body = Body::Text(value.json());
            }
            media if matches!(value, Value::Fixed(Tree::Text(_)) | Value::Drawn(..)) => {
                request.header_if_none("Content-Type", media);
                request.body = Body::Text(value.plain());
            }
            media => self
                .note(format!("the body of type {}", shortened(media)), "there is no example of it, and only JSON and forms are made up"),
        }
    }

    /// A value that fits a schema; none where one would never end, or nothing is said.
    fn value(&mut self, schema: &'a Tree, name: &str, depth: usize) -> Option<Value> {
        let reference = schema.at("$ref").text();
        if let Some(reference) = reference {
            if self.following.iter().any(|known| known == reference) {
                return None;
            }
            let resolved = match self.resolved(schema) {
                Ok(resolved) => resolved,
                Err(why) => {
                    self.note(format!("the schema '{}'", shortened(reference)), why);
                    return None;
                }
            };
            self.following.push(reference.to_owned());
            let value = self.of_schema(resolved, name, depth);
            self.following.pop();
            return value;
        }
        self.of_schema(schema, name, depth)
    }

    fn of_schema(&mut self, schema: &'a Tree, name: &str, depth: usize) -> Option<Value> {
        if depth > DEPTH_MAX || self.left == 0 {
            self.note("a part of the body", "it is larger than what is made up");
            return None;
        }
        self.left -= 1;
        for key in ["example", "default", "const"] {
            if schema.has(key) {
                return Some(Value::Fixed(schema.at(key).clone()));
            }
        }
        for key in ["examples", "enum"] {
            if let Some(first) = schema.at(key).list().first() {
                return Some(Value::Fixed(first.clone()));
            }
        }
        let all = schema.at("allOf").list();
        if !all.is_empty() {
            let mut entries: Vec<(String, Value)> = Vec::new();
            let mut other = None;
            let own = std::iter::once(schema).filter(|schema| schema.has("properties"));
            let mut parts: Vec<Value> = all.iter().filter_map(|part| self.value(part, name, depth + 1)).collect();
            parts.extend(own.filter_map(|schema| self.object(schema, depth)));
            for part in parts {
                match part.entries() {
                    Some(more) => {
                        entries.retain(|(key, _)| !more.iter().any(|(other, _)| other == key));
                        entries.extend(more);
                    }
                    None => other = Some(part),
                }
            }
            return if entries.is_empty() { other } else { Some(Value::Map(entries)) };
        }
        for key in ["oneOf", "anyOf"] {
            let choices = schema.at(key).list();
            let value = choices
                .iter()
                .filter(|choice| choice.at("type").text() != Some("null"))
                .find_map(|choice| self.value(choice, name, depth + 1));
            if value.is_some() {
                return value;
            }
        }
        let kind = match schema.at("type") {
            Tree::List(kinds) => kinds.iter().map(Tree::words).find(|kind| kind != "null").unwrap_or_default(),
            kind => kind.words(),
        };
        match kind.as_str() {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, name, depth),
            "string" => Some(self.string(schema, name)),
            "integer" | "number" => Some(number(schema, &kind)),
            "boolean" => Some(Value::Fixed(Tree::Truth(true))),
            "null" => Some(Value::Fixed(Tree::Null)),
            _ if schema.has("properties") => self.object(schema, depth),
            _ if schema.has("items") => self.array(schema, name, depth),
            _ if schema.entries().is_empty() => None,
            _ => Some(self.string(schema, name)),
        }
    }

    fn object(&mut self, schema: &'a Tree, depth: usize) -> Option<Value> {
        let required: Vec<&str> = schema.at("required").list().iter().filter_map(Tree::text).collect();
        let mut entries = Vec::new();
        for (name, property) in schema.at("properties").entries() {
            let resolved = self.resolved(property).unwrap_or(property);
            if resolved.at("readOnly").is_true() {
                continue;
            }
            let has_example = ["example", "examples", "default", "const"].iter().any(|key| resolved.has(key));
            let is_required = required.contains(&name.as_str());
            if !required.is_empty() && !is_required && !has_example {
                continue;
            }
            match self.value(property, name, depth + 1) {
                Some(value) => entries.push((name.clone(), value)),
                None if is_required => {
                    self.note(
                        format!("the field '{}'", shortened(name)),
                        "its schema holds itself, or does not say enough to make a value",
                    );
                }
                None => {}
            }
        }
        Some(Value::Map(entries))
    }

    fn array(&mut self, schema: &'a Tree, name: &str, depth: usize) -> Option<Value> {
        let least = schema.at("minItems").number().map_or(1, |least| least as usize).clamp(1, ITEMS_MAX);
        let items: Vec<Value> = (0..least).filter_map(|_| self.value(schema.at("items"), name, depth + 1)).collect();
        Some(Value::List(items))
    }

    fn string(&mut self, schema: &Tree, name: &str) -> Value {
        let fixed = |text: &str| Value::text(text);
        let drawn = |made: &str| Value::Drawn(expression(made), Quoted::Yes);
        match schema.at("format").text().unwrap_or_default() {
            "uuid" => return drawn("uuid"),
            "date-time" => return drawn("now"),
            "date" => return drawn("now date"),
            "time" => return fixed("12:00:00Z"),
            "duration" => return fixed("PT1M"),
            "email" | "idn-email" => return fixed("user@example.com"),
            "hostname" | "idn-hostname" => return fixed("example.com"),
            "ipv4" => return fixed("192.0.2.1"),
            "ipv6" => return fixed("2001:db8::1"),
            "uri" | "url" | "iri" => return fixed("https://example.com/"),
            "uri-reference" => return fixed("/"),
            "byte" => return fixed("dGV4dA=="),
            _ => {}
        }
        if schema.has("pattern") {
            let pattern = shortened(&schema.at("pattern").words());
            self.note(format!("a value for '{}' that fits {pattern}", shortened(name)), "values are not made from patterns; write one");
        }
        let bound = |key: &str| schema.at(key).number().filter(|length| (0.0..=1000.0).contains(length)).map(|length| length as usize);
        let mut text = "text".to_owned();
        while bound("minLength").is_some_and(|least| text.len() < least) {
            text.push('x');
        }
        text.truncate(bound("maxLength").unwrap_or(text.len()));
        fixed(&text)
    }

    /// How to authenticate is named; the values are the user's.
    fn security(&mut self, wanted: &'a Tree, request: &mut Request) {
        let Some(first) = wanted.list().first() else { return };
        for (name, _) in first.entries() {
            let scheme = match self.resolved(self.root.at("components").at("securitySchemes").at(name)) {
                Ok(scheme) if !scheme.is_null() => scheme,
                Ok(_) => {
                    self.note(format!("the security scheme '{}'", shortened(name)), "it is not described");
                    continue;
                }
                Err(why) => {
                    self.note(format!("the security scheme '{}'", shortened(name)), why);
                    continue;
                }
            };
            let variable: String = name
                .chars()
                .take(48)
                .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' })
                .collect();
            let variable =
                if variable.starts_with(|letter: char| letter.is_ascii_alphabetic()) { variable } else { format!("AUTH_{variable}") };
            let env = |ending: &str| Template::from(Drawn::Env(format!("{variable}{ending}")));
            let kind = scheme.at("type").words();
            match (kind.as_str(), scheme.at("scheme").words().to_ascii_lowercase().as_str()) {
                ("http", "basic") => request.auth = Some(Auth::Basic { user: env("_USER"), password: env("_PASSWORD") }),
                ("http", "bearer") | ("oauth2" | "openIdConnect", _) => request.auth = Some(Auth::Bearer(env(""))),
                ("http", "digest") => request.auth = Some(Auth::Digest { user: env("_USER"), password: env("_PASSWORD") }),
                ("apiKey", _) => {
                    let key = scheme.at("name").words();
                    match scheme.at("in").text().unwrap_or_default() {
                        "query" => request.url = with_parameter(&request.url, &Template::fixed(key), &env("")),
                        "cookie" => {
                            let mut cookie = Template::fixed(format!("{key}="));
                            cookie.append(env(""));
                            request.take_header("Cookie", cookie);
                        }
                        _ => request.take_header(&key, env("")),
                    }
                }
                _ => self.note(format!("the security scheme '{}'", shortened(name)), "loadline has nothing like it"),
            }
        }
    }
}

/// A parameter of the query, by its style.
fn query(parameter: &Tree, name: &str, value: &Value, into: &mut Vec<(Template, Template)>) {
    let style = parameter.at("style").text().unwrap_or("form");
    let explode = if parameter.has("explode") { parameter.at("explode").is_true() } else { style == "form" };
    let named = Template::fixed(name);
    if let Some(items) = value.items() {
        match style {
            "pipeDelimited" if !explode => into.push((named, joined(&items, "|"))),
            "spaceDelimited" if !explode => into.push((named, joined(&items, " "))),
            _ if explode => into.extend(items.iter().map(|item| (named.clone(), item.plain()))),
            _ => into.push((named, joined(&items, ","))),
        }
    } else if let Some(entries) = value.entries() {
        match style {
            "deepObject" => into.extend(entries.into_iter().map(|(key, value)| (Template::fixed(format!("{name}[{key}]")), value.plain()))),
            _ if explode => into.extend(entries.into_iter().map(|(key, value)| (Template::fixed(key), value.plain()))),
            _ => {
                let flat: Vec<Value> = entries.into_iter().flat_map(|(key, value)| [Value::text(&key), value]).collect();
                into.push((named, joined(&flat, ",")));
            }
        }
    } else {
        into.push((named, value.plain()));
    }
}

/// `/users/{id}` with its values; one that is not described is a variable.
fn filled_path(path: &str, parts: &[(String, Template)]) -> Template {
    let mut filled = Template::default();
    let mut rest = path;
    while let Some(open) = rest.find('{') {
        let Some(length) = rest[open..].find('}') else { break };
        filled.push(&rest[..open]);
        let name = &rest[open + 1..open + length];
        match parts.iter().find(|(known, _)| known == name) {
            Some((_, value)) => filled.append(value.clone()),
            None => filled.append(variable(name)),
        }
        rest = &rest[open + length + 1..];
    }
    filled.push(rest);
    filled
}

/// The least number that fits, or any of a range that is said.
fn number(schema: &Tree, kind: &str) -> Value {
    let whole = kind == "integer";
    // In 3.0 `exclusiveMinimum` is a truth beside `minimum`, in 3.1 the number itself.
    let bound = |key: &str, exclusive: &str, step: f64| match (schema.at(key).number(), schema.at(exclusive)) {
        (Some(bound), Tree::Truth(true)) => Some(bound + step),
        (_, number @ Tree::Number(_)) => number.number().map(|bound| bound + step),
        (bound, _) => bound,
    };
    let least = bound("minimum", "exclusiveMinimum", 1.0);
    let most = bound("maximum", "exclusiveMaximum", -1.0);
    let of = schema.at("multipleOf").number().filter(|of| *of > 0.0);
    // What numbers of floating point count exactly, which is what templates draw from.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if whole
        && of.is_none()
        && let (Some(least), Some(most)) = (least, most)
        && least.ceil() < most.floor()
        && least.abs() < EXACT
        && most.abs() < EXACT
        && most - least < EXACT
    {
        return Value::Drawn(expression(&format!("random {} {}", least.ceil(), most.floor())), Quoted::No);
    }
    let mut value = least.unwrap_or(1.0).max(f64::MIN);
    if let Some(most) = most
        && least.is_none()
    {
        value = value.min(most);
    }
    if let Some(of) = of {
        value = (value / of).ceil() * of;
    }
    let value = if whole { value.ceil() } else { value };
    let text = if value.fract() == 0.0 && value.abs() < EXACT {
        format!("{value:.0}")
    } else {
        serde_json::Number::from_f64(value).map_or("1".to_owned(), |number| number.to_string())
    };
    Value::Fixed(Tree::Number(text))
}

/// The statuses of success that are described.
fn promised(responses: &Tree) -> Option<AnswerCheck> {
    let codes: Vec<&str> = responses.entries().iter().map(|(code, _)| code.as_str()).collect();
    if codes.iter().any(|code| code.eq_ignore_ascii_case("2xx")) {
        return Some(success());
    }
    let statuses: Vec<u16> = codes.iter().filter_map(|code| code.parse().ok()).filter(|status| (200..400).contains(status)).collect();
    (!statuses.is_empty()).then(|| status_check(&statuses))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;
    use proptest::prelude::*;

    const SHOP: &str = r##"
openapi: 3.0.3
info: {title: Shop, version: "1"}
servers:
  - url: https://{stage}.example.com/v1
    description: for everybody
    variables: {stage: {default: api, enum: [api, test]}}
  - url: http://localhost:8080/v1
    description: on this machine
security: [{token: []}]
paths:
  /users/{id}:
    parameters:
      - {name: id, in: path, required: true, schema: {type: integer, minimum: 1, maximum: 500}}
    get:
      operationId: getUser
      tags: [users]
      parameters:
        - {name: fields, in: query, schema: {type: array, items: {type: string}}, example: [name, "e mail"]}
        - {name: optional, in: query, schema: {type: string}}
        - {name: X-Trace, in: header, required: true, schema: {type: string, format: uuid}}
      responses: {"200": {description: ok}, "404": {description: none}}
    delete:
      security: []
      responses: {"204": {description: gone}}
  /orders:
    post:
      summary: Place an order
      requestBody:
        content:
          application/json:
            schema: {$ref: "#/components/schemas/Order"}
      responses: {"201": {description: placed}}
  /login:
    post:
      security: [{basic: []}, {}]
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema:
              type: object
              required: [user]
              properties: {user: {type: string, example: ann}, note: {type: string}}
      responses: {default: {description: any}}
  /photos:
    post:
      requestBody:
        content:
          multipart/form-data:
            schema: {type: object, properties: {photo: {type: string, format: binary}, title: {type: string}}}
      responses: {2XX: {description: ok}}
components:
  securitySchemes:
    token: {type: http, scheme: bearer}
    basic: {type: http, scheme: basic}
  schemas:
    Order:
      type: object
      required: [id, items, parent, total, kind, when]
      properties:
        id: {type: string, format: uuid}
        number: {type: integer, readOnly: true}
        items: {type: array, minItems: 2, items: {$ref: "#/components/schemas/Item"}}
        parent: {$ref: "#/components/schemas/Order"}
        total: {type: number, minimum: 0.5}
        kind: {type: string, enum: [gift, plain]}
        when: {type: string, format: date-time}
        note: {type: string}
    Item:
      allOf:
        - {type: object, required: [sku], properties: {sku: {type: string, minLength: 6}}}
        - {type: object, required: [count], properties: {count: {type: integer, exclusiveMinimum: true, minimum: 2}}}
"##;

    fn shop(wishes: &Wishes) -> Collection {
        Collection::read(Kind::OpenApi, SHOP.as_bytes(), wishes).unwrap()
    }

    #[test]
    fn every_operation_is_a_request_with_values_that_fit() {
        let shop = shop(&Wishes::default());
        let told: Vec<String> =
            shop.requests.iter().map(|request| format!("{}: {} {}", request.name, request.method, request.url)).collect();
        assert_eq!(
            told,
            [
                "getUser: GET https://api.example.com/v1/users/{{random 1 500}}?fields=name&fields=e%20mail",
                "DELETE /users/{id}: DELETE https://api.example.com/v1/users/{{random 1 500}}",
                "Place an order: POST https://api.example.com/v1/orders",
                "POST /login: POST https://api.example.com/v1/login",
                "POST /photos: POST https://api.example.com/v1/photos",
            ]
        );
        let [get, delete, order, login, photos] = &shop.requests[..] else { panic!() };
        assert_eq!((&get.auth, &delete.auth), (&Some(Auth::Bearer(expression("env TOKEN"))), &None));
        assert_eq!(get.header("x-trace").unwrap().to_string(), "{{uuid}}");
        assert_eq!((&get.checks[..], &photos.checks[..]), (&[status_check(&[200])][..], &[success()][..]));
        let Body::Text(body) = &order.body else { panic!() };
        assert_eq!(
            body.to_string(),
            "{\"id\":\"{{uuid}}\",\"items\":[{\"sku\":\"textxx\",\"count\":3},{\"sku\":\"textxx\",\"count\":3}],\"total\":0.5,\"kind\":\"gift\",\"when\":\"{{now}}\"}"
        );
        assert_eq!(login.body, Body::Form(vec![("user".into(), "ann".into())]));
        assert_eq!(login.auth, Some(Auth::Basic { user: expression("env BASIC_USER"), password: expression("env BASIC_PASSWORD") }));
        let left: Vec<String> = shop.left_out.iter().map(|left| format!("{}: {}", left.place, left.what)).collect();
        assert_eq!(left, ["POST /orders: the field 'parent'", "POST /photos: the file of the field 'photo'"]);
    }

    #[test]
    fn the_server_is_chosen_by_number_by_its_words_or_by_url() {
        for (wish, host) in [("2", "localhost"), ("this machine", "localhost"), ("https://other.example.com/v2/", "other.example.com")] {
            let shop = shop(&Wishes { server: Some(wish.to_owned()), ..Wishes::default() });
            assert_eq!(crate::collection::origin(&shop.requests[0].url).unwrap().0.host(), host);
        }
        let wishes = Wishes { server: Some("production".to_owned()), ..Wishes::default() };
        let why = Collection::read(Kind::OpenApi, SHOP.as_bytes(), &wishes).unwrap_err();
        assert!(why.message.spelt(plan::Spelling::Flags).contains("1 https://api.example.com/v1, 2 http://localhost:8080/v1"), "{why:?}");
        let relative = "openapi: 3.1.0\nservers: [{url: /v2}]\npaths: {/a: {get: {responses: {}}}}\n";
        let why = Collection::read(Kind::OpenApi, relative.as_bytes(), &Wishes::default()).unwrap_err();
        assert!(why.message.spelt(plan::Spelling::Flags).contains("--openapi-server http://HOST/v2"), "{why:?}");
    }

    #[test]
    fn schemas_that_never_end_end() {
        let text = |schemas: &str| {
            format!(
                "openapi: 3.1.0\nservers: [{{url: 'http://h'}}]\npaths: {{/a: {{post: {{requestBody: {{content: {{application/json: {{schema: {{$ref: '#/components/schemas/A'}}}}}}}}}}}}}}\ncomponents:\n  schemas:\n{schemas}"
            )
        };
        for schemas in [
            "    A: {$ref: '#/components/schemas/A'}\n",
            "    A: {$ref: '#/components/schemas/B'}\n    B: {$ref: '#/components/schemas/A'}\n",
            "    A: {type: array, items: {$ref: '#/components/schemas/A'}}\n",
            "    A: {allOf: [{$ref: '#/components/schemas/A'}, {$ref: '#/components/schemas/A'}]}\n",
            "    A: {type: object, properties: {a: {$ref: 'other.yaml#/A'}, b: {$ref: '#/nowhere'}}}\n",
        ] {
            let read = Collection::read(Kind::OpenApi, text(schemas).as_bytes(), &Wishes::default());
            assert_eq!(read.unwrap().requests.len(), 1, "{schemas}");
        }
        // Each of ten schemas names the next ten times.
        let mut wide = String::new();
        for level in 0..10 {
            let next = char::from(b'B' + level);
            let name = char::from(b'A' + level);
            let fields: Vec<String> = (0..10).map(|field| format!("f{field}: {{$ref: '#/components/schemas/{next}'}}")).collect();
            wide += &format!("    {name}: {{type: object, properties: {{{}}}}}\n", fields.join(", "));
        }
        wide += "    K: {type: string}\n";
        let read = Collection::read(Kind::OpenApi, text(&wide).as_bytes(), &Wishes::default()).unwrap();
        assert!(read.left_out.iter().any(|left| left.why.marked().contains("larger")));
    }

    proptest! {
        #[test]
        fn a_number_that_is_made_stands_between_its_bounds(least in -1e6..1e6f64, span in 0.0..100.0f64, whole in any::<bool>()) {
            let (least, most) = (least.round(), (least + span).round().max(least.round()));
            let schema = Tree::Map(vec![("minimum".into(), Tree::Number(least.to_string())), ("maximum".into(), Tree::Number(most.to_string()))]);
            let made = match number(&schema, if whole { "integer" } else { "number" }) {
                Value::Fixed(tree) => tree.number().unwrap(),
                Value::Drawn(drawn, _) => drawn.to_string().split(' ').nth(1).unwrap().parse().unwrap(),
                other => panic!("{other:?}"),
            };
            prop_assert!((least..=most).contains(&made), "{made} for {least}..{most}");
        }
    }

    #[test]
    fn a_target_takes_the_place_of_a_server_that_is_none() {
        let read = |server: &str, host: Option<&str>| {
            let text = format!(
                "openapi: 3.1.0\nservers: [{{url: '{server}'}}]\npaths:\n  /a: {{get: {{responses: {{'200': {{description: ok}}}}}}}}\n"
            );
            let wishes = Wishes { host: host.map(str::to_owned), ..Wishes::default() };
            Collection::read(Kind::OpenApi, text.as_bytes(), &wishes)
                .map(|read| read.requests[0].url.to_string())
                .map_err(|why| why.message)
        };
        for (server, path, suggested) in [
            ("/v1", "/v1/a", "http://HOST/v1"),
            ("v1", "/v1/a", "http://HOST/v1"),
            ("{scheme}://h/v1", "/v1/a", "http://h/v1"),
            ("{scheme}://{host}/v1", "/v1/a", "http://HOST/v1"),
        ] {
            assert_eq!(read(server, Some("http://127.0.0.1:9")), Ok(format!("http://127.0.0.1:9{path}")), "{server}");
            let why = read(server, None).unwrap_err();
            assert!(why.spelt(plan::Spelling::Flags).ends_with(&format!("--openapi-server {suggested}")), "{server}: {why:?}");
        }
        // What is a server is replaced later, with those of other files.
        for (server, url) in [
            ("https://h/v1", "https://h/v1/a"),
            ("localhost:3000", "http://localhost:3000/a"),
            ("localhost:3000/v1/", "http://localhost:3000/v1/a"),
            ("api.example.com/v1", "http://api.example.com/v1/a"),
        ] {
            for host in [Some("http://127.0.0.1:9"), None] {
                assert_eq!(read(server, host), Ok(url.to_owned()), "{server}");
            }
        }
    }

    #[test]
    fn a_key_in_a_cookie_keeps_the_cookie_s_name() {
        let text = "openapi: 3.1.0\nservers: [{url: 'http://h'}]\nsecurity: [{key: []}]\npaths:\n  /a: {get: {responses: {'200': {description: ok}}}}\ncomponents: {securitySchemes: {key: {type: apiKey, in: cookie, name: SESSIONID}}}\n";
        let read = Collection::read(Kind::OpenApi, text.as_bytes(), &Wishes::default()).unwrap();
        let (concealed, _) = read.concealed();
        let cookie = concealed.requests[0].header("cookie").unwrap().to_string();
        assert!(cookie.starts_with("SESSIONID={{env "), "{cookie}");
    }
}
