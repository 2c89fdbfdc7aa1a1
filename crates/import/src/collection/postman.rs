//! Postman's collections, version 2.
//!
//! A collection is folders in folders, and authentication, variables and scripts may stand at each of them. What a request inherits
//! is put into it here, so that nothing that comes later needs to know of folders.

use plan::FILE_TYPE;
use plan::template::{Template, Value};
use plan::work::{Auth, Body, Field, FieldValue};

use super::folders::{self, DEPTH_MAX, Key, aws, leave_folder_out, log_in, read_script};
use super::tree::{Tree, json_string};
use super::url::{expression, variable_name};
use super::{Collection, Kind, ReadError, Request, Variable, shortened};

pub(super) fn read(text: &str) -> Result<Collection, ReadError> {
    let tree = Tree::read_json(text)?;
    // Postman's own API puts the collection into an object.
    let root = if tree.has("collection") && !tree.has("item") { tree.at("collection") } else { &tree };
    if !root.has("item") {
        return Err(ReadError::new("this is no Postman collection: it has no \"item\""));
    }
    let schema = root.at("info").at("schema").words();
    if schema.contains("/v1.") {
        return Err(ReadError::new("this is a collection of Postman's first version; open it in Postman and export it as Collection v2.1"));
    }
    let mut collection = Collection::new(Kind::Postman);
    collection.name = root.at("info").at("name").words();
    for variable in root.at("variable").list() {
        let name = variable.at("key").text().or_else(|| variable.at("id").text()).unwrap_or_default();
        if !name.is_empty() && !variable.at("disabled").is_true() {
            let value = text_of(&variable.at("value").words(), "the variables", &mut collection);
            let secret = variable.at("type").text() == Some("secret");
            collection.variables.push(Variable { name: variable_name(name), value, secret });
        }
    }
    let above = Above { group: Vec::new(), auth: None, key: None, scripts: Vec::new() };
    let above = above.with(root, &mut collection);
    items(root.at("item"), &above, 0, &mut collection);
    Ok(collection)
}

/// Postman sends no body with these, unless the request says otherwise (`disableBodyPruning`).
const WITHOUT_BODY: [&str; 5] = ["GET", "HEAD", "COPY", "PURGE", "UNLOCK"];

/// What a request has from the folders it stands in.
#[derive(Clone)]
struct Above {
    group: Vec<String>,
    auth: Option<Auth>,
    key: Key,
    scripts: Vec<String>,
}

impl Above {
    fn with(&self, tree: &Tree, collection: &mut Collection) -> Self {
        let mut above = self.clone();
        let place = if above.group.is_empty() { "the collection".to_owned() } else { above.group.join(" / ") };
        if let Some((auth, key)) = auth(tree.at("auth"), &place, collection) {
            (above.auth, above.key) = (auth, key);
        }
        above.scripts.extend(script(tree, "test"));
        if script(tree, "prerequest").is_some() {
            collection.leave_out("the pre-request script", &place, "scripts are not carried out");
        }
        above
    }
}

fn items(tree: &Tree, above: &Above, depth: usize, collection: &mut Collection) {
    for item in tree.list() {
        let name = item.at("name").words();
        if item.has("item") {
            let mut inner = above.clone();
            inner.group.push(if name.is_empty() { "folder".to_owned() } else { name });
            if depth >= DEPTH_MAX {
                leave_folder_out(&inner.group, collection);
                continue;
            }
            let inner = inner.with(item, collection);
            items(item.at("item"), &inner, depth + 1, collection);
        } else if !item.at("request").is_null() {
            request(item, &name, above, collection);
        }
    }
}

fn request(item: &Tree, name: &str, above: &Above, collection: &mut Collection) {
    let written = item.at("request");
    // A URL alone is a request too.
    let (method, url) = match written {
        Tree::Text(_) => ("GET".to_owned(), written),
        _ => (written.at("method").words(), written.at("url")),
    };
    let Some(mut request) = folders::request(&above.group, name, method, collection) else { return };
    let place = request.place.clone();
    request.url = url_of(url, &place, collection);
    match written.at("header") {
        // Of version 2.0: all of them in one text.
        Tree::Text(lines) => {
            for (name, value) in lines.lines().filter_map(|line| line.split_once(':')) {
                let value = text_of(value.trim(), &place, collection);
                request.take_header(name, value);
            }
        }
        headers => {
            for header in headers.list().iter().filter(|header| !header.at("disabled").is_true()) {
                let value = text_of(&header.at("value").words(), &place, collection);
                let name = header.at("key").words();
                if name.contains("{{") {
                    collection.leave_out(format!("the header '{}'", shortened(&name)), &place, "a header's name cannot be a variable");
                } else {
                    request.take_header(&name, value);
                }
            }
        }
    }
    let keeps_body = item.at("protocolProfileBehavior").at("disableBodyPruning").is_true();
    if keeps_body || !WITHOUT_BODY.contains(&request.method.as_str()) {
        body(written.at("body"), &place, &mut request, collection);
    }
    let (auth, key) = auth(written.at("auth"), &place, collection).unwrap_or_else(|| (above.auth.clone(), above.key.clone()));
    log_in(&mut request, auth, key);
    for script in above.scripts.iter().cloned().chain(script(item, "test")) {
        read_script(&script, "test script", &mut request, collection);
    }
    if script(item, "prerequest").is_some() {
        collection.leave_out("the pre-request script", &place, "scripts are not carried out");
    }
    if item.at("protocolProfileBehavior").at("followRedirects").is_true() {
        request.connection.follow = Some(10);
    }
    collection.requests.push(request);
}

/// The lines of a script that do something.
fn script(tree: &Tree, listen: &str) -> Option<String> {
    let mut text = String::new();
    for event in tree.at("event").list().iter().filter(|event| event.at("listen").text() == Some(listen) && !event.at("disabled").is_true())
    {
        match event.at("script").at("exec") {
            Tree::Text(script) => text += script,
            lines => lines.list().iter().for_each(|line| {
                text += &line.words();
                text.push('\n');
            }),
        }
        text.push('\n');
    }
    (!text.trim().is_empty()).then_some(text)
}

/// Template with `{{variables}}`.
pub(super) fn text_of(text: &str, place: &str, collection: &mut Collection) -> Template {
    let mut found = Template::default();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        // Of more than two opening braces the last two open.
        let open = open + rest[open + 2..].bytes().take_while(|byte| *byte == b'{').count();
        let after = &rest[open + 2..];
        let Some(close) = after.find("}}") else { break };
        let name = after[..close].trim();
        if let Some(inner) = after[..close].rfind("{{") {
            found.push(&rest[..open + 2 + inner]);
            rest = &rest[open + 2 + inner..];
            continue;
        }
        found.push(&rest[..open]);
        rest = &after[close + 2..];
        if let Some(dynamic) = name.strip_prefix('$') {
            match dynamic_value(dynamic) {
                Some(made) => found.append(expression(made)),
                None => {
                    collection.leave_out(
                        format!("the value of {{{{${}}}}}", shortened(dynamic)),
                        place,
                        "loadline makes no such values; a data file can hold some (docs/guide/data.md)",
                    );
                    found.push(dynamic);
                }
            }
        } else if name.is_empty() {
            found.push("{{}}");
        } else {
            found.append(Value::Variable(variable_name(name)).into());
        }
    }
    found.push(rest);
    found
}

/// What Postman makes anew for each request.
fn dynamic_value(name: &str) -> Option<&'static str> {
    Some(match name {
        "guid" | "randomUUID" => "uuid",
        "timestamp" => "now unix",
        "isoTimestamp" => "now",
        "randomInt" => "random 0 1000",
        "randomBoolean" => "choice true false",
        _ => return None,
    })
}

fn url_of(url: &Tree, place: &str, collection: &mut Collection) -> Template {
    let written = match url {
        Tree::Text(text) => text.clone(),
        _ => {
            let raw = url.at("raw").words();
            if raw.is_empty() { assembled(url) } else { raw }
        }
    };
    // Parts of a path such as :id have their values beside the URL.
    let mut values: Vec<(String, String)> = Vec::new();
    for variable in url.at("variable").list() {
        let key = variable.at("key").text().or_else(|| variable.at("id").text()).unwrap_or_default();
        values.push((key.to_owned(), variable.at("value").words()));
    }
    let path = plan::server_in(&written).end;
    let query = written[path..].find(['?', '#']).map_or(written.len(), |at| path + at);
    let mut whole = written[..path].to_owned();
    for (place_in_path, part) in written[path..query].split('/').enumerate() {
        whole += if place_in_path > 0 { "/" } else { "" };
        match part.strip_prefix(':').filter(|name| !name.is_empty()) {
            Some(name) => {
                let value = values.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).unwrap_or_default();
                if value.is_empty() {
                    whole += &format!("{{{{{name}}}}}");
                } else {
                    whole += value;
                }
            }
            None => whole += part,
        }
    }
    text_of(&(whole + &written[query..]), place, collection)
}

/// From its parts, where the whole does not stand beside them.
fn assembled(url: &Tree) -> String {
    let joined = |tree: &Tree, with: &str| match tree {
        Tree::List(parts) => {
            parts.iter().map(|part| if part.has("value") { part.at("value").words() } else { part.words() }).collect::<Vec<_>>().join(with)
        }
        other => other.words(),
    };
    let host = joined(url.at("host"), ".");
    if host.is_empty() {
        return String::new();
    }
    let mut text = match url.at("protocol").words() {
        protocol if protocol.is_empty() => host,
        protocol => format!("{}://{host}", protocol.trim_end_matches("://")),
    };
    let port = url.at("port").words();
    if !port.is_empty() {
        text += &format!(":{port}");
    }
    let path = joined(url.at("path"), "/");
    text += if path.starts_with('/') { "" } else { "/" };
    text += &path;
    let pairs: Vec<String> = url
        .at("query")
        .list()
        .iter()
        .filter(|pair| !pair.at("disabled").is_true())
        .map(|pair| {
            if pair.at("value").is_null() {
                pair.at("key").words()
            } else {
                format!("{}={}", pair.at("key").words(), pair.at("value").words())
            }
        })
        .collect();
    if pairs.is_empty() { text } else { format!("{text}?{}", pairs.join("&")) }
}

fn body(body: &Tree, place: &str, request: &mut Request, collection: &mut Collection) {
    if body.at("disabled").is_true() {
        return;
    }
    let enabled = |tree: &Tree| tree.list().iter().filter(|field| !field.at("disabled").is_true()).cloned().collect::<Vec<_>>();
    match body.at("mode").text().unwrap_or_default() {
        "raw" => {
            let raw = body.at("raw").words();
            if raw.is_empty() {
                return;
            }
            let content_type = match body.at("options").at("raw").at("language").text().unwrap_or_default() {
                "json" => "application/json",
                "xml" => "application/xml",
                "html" => "text/html",
                "javascript" => "application/javascript",
                _ => "text/plain",
            };
            request.header_if_none("Content-Type", content_type);
            request.body = Body::Text(text_of(&raw, place, collection));
        }
        "urlencoded" => {
            let fields = match body.at("urlencoded") {
                Tree::Text(text) => text
                    .split('&')
                    .filter(|pair| !pair.is_empty())
                    .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                    .map(|(name, value)| (plan::percent_decoded(name), plan::percent_decoded(value)))
                    .collect(),
                fields => enabled(fields).iter().map(|field| (field.at("key").words(), field.at("value").words())).collect::<Vec<_>>(),
            };
            let fields = fields.into_iter().map(|(name, value)| (text_of(&name, place, collection), text_of(&value, place, collection)));
            request.set_form(fields.collect());
        }
        "formdata" => {
            let mut fields = Vec::new();
            for field in enabled(body.at("formdata")) {
                let name = field.at("key").words();
                if field.at("type").text() == Some("file") {
                    let media_type = field.at("contentType").text().unwrap_or(FILE_TYPE).to_owned();
                    let paths: Vec<String> = match field.at("src") {
                        Tree::List(paths) => paths.iter().map(Tree::words).collect(),
                        path => vec![path.words()],
                    };
                    for path in paths {
                        if path.is_empty() {
                            collection.leave_out(
                                format!("the file of the field '{}'", shortened(&name)),
                                place,
                                "the collection does not name it",
                            );
                        } else {
                            fields.push(Field {
                                name: name.clone(),
                                value: FieldValue::File { path, media_type: media_type.clone() },
                                headers: Vec::new(),
                            });
                        }
                    }
                } else {
                    fields.push(Field {
                        name,
                        value: FieldValue::Text(text_of(&field.at("value").words(), place, collection)),
                        headers: Vec::new(),
                    });
                }
            }
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            request.body = Body::Multipart(fields);
        }
        "graphql" => {
            let graphql = body.at("graphql");
            let query = text_of(&json_string(&graphql.at("query").words()), place, collection);
            let variables = graphql.at("variables");
            let variables = match variables {
                Tree::Text(text) => text.trim().to_owned(),
                Tree::Null => String::new(),
                other => other.json(),
            };
            let mut text = Template::fixed("{\"query\":");
            text.append(query);
            if !variables.is_empty() {
                text.push(",\"variables\":");
                text.append(text_of(&variables, place, collection));
            }
            let operation = graphql.at("operationName").words();
            if !operation.is_empty() {
                text.push(&format!(",\"operationName\":{}", json_string(&operation)));
            }
            text.push("}");
            request.header_if_none("Content-Type", "application/json");
            request.body = Body::Text(text);
        }
        "file" => {
            let path = body.at("file").at("src").words();
            if path.is_empty() {
                collection.leave_out("the file of the body", place, "the collection does not name it");
            } else {
                request.body = Body::File(path);
            }
        }
        "" => {}
        other => collection.leave_out(format!("the body of the mode '{}'", shortened(other)), place, "it is not known here"),
    }
}

/// How something authenticates; `None` if it says nothing of it and inherits.
fn auth(tree: &Tree, place: &str, collection: &mut Collection) -> Option<(Option<Auth>, Key)> {
    let kind = tree.at("type").text()?.to_owned();
    let mut value = |name: &str| -> Template {
        // A list of pairs in 2.1, an object in 2.0.
        let found = match tree.at(&kind) {
            Tree::List(pairs) => pairs.iter().find(|pair| pair.at("key").text() == Some(name)).map(|pair| pair.at("value").words()),
            object => Some(object.at(name).words()),
        };
        text_of(&found.unwrap_or_default(), place, collection)
    };
    let auth = match kind.as_str() {
        "noauth" => None,
        "basic" => Some(Auth::Basic { user: value("username"), password: value("password") }),
        "bearer" => Some(Auth::Bearer(value("token"))),
        "digest" => Some(Auth::Digest { user: value("username"), password: value("password") }),
        "apikey" => {
            return Some((None, folders::key(value("in").plain() == Some("query"), value)));
        }
        "awsv4" => Some(aws(["accessKey", "secretKey"], value)),
        "oauth2" => {
            let token = value("accessToken");
            if token.is_empty() {
                collection.leave_out("OAuth 2", place, "a token must be there before the run; give it as a bearer token");
                None
            } else if value("addTokenTo").plain() == Some("queryParams") {
                return Some((None, Some((true, Template::fixed("access_token"), token))));
            } else {
                Some(Auth::Bearer(token))
            }
        }
        other => {
            collection.leave_out(format!("the authentication '{}'", shortened(other)), place, "loadline has nothing like it");
            None
        }
    };
    Some((auth, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;
    use crate::collection::promise::status_check;
    use crate::collection::url::variable;

    const SHOP: &str = r#"{
      "info": {"_postman_id": "5f1c", "name": "Shop", "schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"},
      "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}", "type": "string"}]},
      "variable": [{"key": "baseUrl", "value": "https://shop.example.com/api"}, {"key": "token", "value": ""}],
      "item": [
        {"name": "Log in", "request": {"method": "POST", "auth": {"type": "noauth"}, "header": [{"key": "X-Trace", "value": "{{$guid}}"}, {"key": "X-Off", "value": "1", "disabled": true}],
          "body": {"mode": "raw", "raw": "{\"user\": \"me\", \"password\": \"{{password}}\"}", "options": {"raw": {"language": "json"}}},
          "url": {"raw": "{{baseUrl}}/login", "host": ["{{baseUrl}}"], "path": ["login"]}},
          "event": [{"listen": "test", "script": {"exec": ["pm.test(\"ok\", function () {", "    pm.response.to.have.status(200);", "});", "var json = pm.response.json();", "pm.collectionVariables.set(\"token\", json.token);"], "type": "text/javascript"}}]},
        {"name": "Orders", "item": [
          {"name": "List", "request": {"method": "GET", "header": [], "url": {"raw": "{{baseUrl}}/orders?page=1&size={{$randomInt}}", "query": [{"key": "page", "value": "1"}, {"key": "off", "value": "1", "disabled": true}]}}},
          {"name": "One", "request": {"method": "GET", "url": {"raw": "{{baseUrl}}/orders/:id", "host": ["{{baseUrl}}"], "path": ["orders", ":id"], "variable": [{"key": "id", "value": "42"}]},
             "auth": {"type": "apikey", "apikey": [{"key": "key", "value": "X-Api-Key"}, {"key": "value", "value": "k"}]}}},
          {"name": "Upload", "event": [{"listen": "prerequest", "script": {"exec": ["pm.sendRequest();"]}}], "request": {"method": "POST", "url": "{{baseUrl}}/photos", "body": {"mode": "formdata", "formdata": [{"key": "title", "value": "x", "type": "text"}, {"key": "photo", "type": "file", "src": "/tmp/a.png"}]}}},
          {"name": "Search", "request": {"method": "POST", "url": "{{baseUrl}}/graphql", "body": {"mode": "graphql", "graphql": {"query": "query { a(b: \"c\") }", "variables": "{\"id\": {{$randomInt}}}"}}}}
        ]},
        {"name": "Signed", "request": {"method": "GET", "url": {"protocol": "https", "host": ["s3", "example", "com"], "path": ["b", "k"], "query": [{"key": "a", "value": "b"}]},
          "auth": {"type": "awsv4", "awsv4": [{"key": "accessKey", "value": "AK"}, {"key": "secretKey", "value": "SK"}, {"key": "region", "value": "eu-west-1"}, {"key": "service", "value": "s3"}]}}}
      ]}"#;

    fn shop() -> Collection {
        Collection::read(Kind::Postman, SHOP.as_bytes(), &Wishes::default()).unwrap()
    }

    #[test]
    fn a_collection_is_its_requests_with_what_folders_say() {
        let shop = shop();
        let told: Vec<String> =
            shop.requests.iter().map(|request| format!("{}: {} {}", request.place, request.method, request.url)).collect();
        assert_eq!(
            told,
            [
                "Log in: POST https://shop.example.com/api/login",
                "Orders / List: GET https://shop.example.com/api/orders?page=1&size={{random 0 1000}}",
                "Orders / One: GET https://shop.example.com/api/orders/42",
                "Orders / Upload: POST https://shop.example.com/api/photos",
                "Orders / Search: POST https://shop.example.com/api/graphql",
                "Signed: GET https://s3.example.com/b/k?a=b",
            ]
        );
        let [login, list, one, upload, search, signed] = &shop.requests[..] else { panic!() };
        assert_eq!((&login.auth, &list.auth), (&None, &Some(Auth::Bearer(variable("token")))));
        assert_eq!(login.checks, [status_check(&[200])]);
        assert_eq!(login.extractions[0].expression, "$.token");
        assert_eq!(login.header("x-trace").unwrap().to_string(), "{{uuid}}");
        assert!(login.header("x-off").is_none());
        assert_eq!((one.auth.clone(), one.header("x-api-key").unwrap().to_string()), (None, "k".to_owned()));
        assert!(matches!(&upload.body, Body::Multipart(fields) if fields.len() == 2));
        let Body::Text(graphql) = &search.body else { panic!() };
        assert_eq!(graphql.to_string(), "{\"query\":\"query { a(b: \\\"c\\\") }\",\"variables\":{\"id\": {{random 0 1000}}}}");
        assert!(matches!(&signed.auth, Some(Auth::Aws(aws)) if aws.region == "eu-west-1".into()));
    }

    #[test]
    fn what_cannot_be_carried_over_has_its_place() {
        let left: Vec<String> = shop().left_out.iter().map(|left| format!("{}: {}", left.place, left.what)).collect();
        assert_eq!(left, ["Orders / Upload: the pre-request script", "Log in: the value of the variable 'password'"]);
    }

    #[test]
    fn only_and_except_choose_requests() {
        let wishes = Wishes { only: vec!["orders".to_owned()], except: vec!["post".to_owned()], ..Wishes::default() };
        let read = Collection::read(Kind::Postman, SHOP.as_bytes(), &wishes).unwrap();
        assert_eq!(read.requests.iter().map(|request| request.name.as_str()).collect::<Vec<_>>(), ["List", "One"]);
        let wishes = Wishes { only: vec!["nowhere".to_owned()], ..Wishes::default() };
        let why = Collection::read(Kind::Postman, SHOP.as_bytes(), &wishes).unwrap_err();
        assert_eq!(why.wording().spelt(plan::Spelling::Flags), "of its requests (6) none is left by --only and --except");
    }

    #[test]
    fn a_base_url_that_nobody_knows_is_asked_for() {
        let text = r#"{"info": {}, "item": [{"name": "A", "request": {"url": "{{base}}/a"}}]}"#;
        let why = Collection::read(Kind::Postman, text.as_bytes(), &Wishes::default()).unwrap_err();
        assert!(why.message.spelt(plan::Spelling::Flags).contains("--variable base=http://HOST"), "{why:?}");
        let wishes = Wishes { variables: vec![("base".to_owned(), "http://h:8080".to_owned())], ..Wishes::default() };
        let read = Collection::read(Kind::Postman, text.as_bytes(), &wishes).unwrap();
        assert_eq!(read.requests[0].url.to_string(), "http://h:8080/a");
    }

    #[test]
    fn folders_without_end_and_broken_files_end() {
        let deep = format!("{{\"info\": {{}}, \"item\": {}{}}}", "[{\"item\": ".repeat(40), "]".to_owned() + &"}]".repeat(40));
        let _ = Collection::read(Kind::Postman, deep.as_bytes(), &Wishes::default());
        for end in (0..SHOP.len()).step_by(101) {
            assert!(Collection::read(Kind::Postman, &SHOP.as_bytes()[..end], &Wishes::default()).is_err());
        }
    }

    fn read_items(items: &str) -> Collection {
        let text = format!("{{\"info\": {{\"name\": \"A\"}}, \"item\": [{items}]}}");
        Collection::read(Kind::Postman, text.as_bytes(), &Wishes::default()).unwrap()
    }

    #[test]
    fn an_empty_form_is_no_body() {
        for mode in ["formdata", "urlencoded"] {
            let items = format!(
                "{{\"request\": {{\"method\": \"POST\", \"url\": \"http://h/a\", \"body\": {{\"mode\": \"{mode}\", \"{mode}\": []}}}}}}, {{\"request\": {{\"url\": \"http://h/b\"}}}}"
            );
            let read = read_items(&items);
            assert_eq!(read.requests[0].body, Body::Empty, "{mode}");
        }
    }

    #[test]
    fn methods_without_a_body_have_none_unless_the_request_says_so() {
        let item = |method: &str, behaviour: &str| {
            format!(
                "{{\"protocolProfileBehavior\": {{{behaviour}}}, \"request\": {{\"method\": \"{method}\", \"url\": \"http://h/a\", \"body\": {{\"mode\": \"raw\", \"raw\": \"x\"}}}}}}"
            )
        };
        let off = "\"disableBodyPruning\": true";
        let read = read_items(&[item("GET", ""), item("HEAD", ""), item("GET", off), item("POST", ""), item("DELETE", "")].join(","));
        let sent: Vec<(bool, bool)> =
            read.requests.iter().map(|request| (request.body != Body::Empty, request.header("content-type").is_some())).collect();
        assert_eq!(sent, [(false, false), (false, false), (true, true), (true, true), (true, true)]);
    }

    #[test]
    fn a_query_of_graphql_without_variables_has_none() {
        let body = |variables: &str| {
            format!(
                "{{\"request\": {{\"method\": \"POST\", \"url\": \"http://h/a\", \"body\": {{\"mode\": \"graphql\", \"graphql\": {{\"query\": \"{{a}}\"{variables}}}}}}}}}"
            )
        };
        let read = read_items(&[body(""), body(", \"variables\": \"\""), body(", \"variables\": \"{\\\"a\\\": 1}\"")].join(","));
        let bodies: Vec<String> = read
            .requests
            .iter()
            .map(|request| if let Body::Text(text) = &request.body { text.to_string() } else { String::new() })
            .collect();
        assert_eq!(bodies, ["{\"query\":\"{a}\"}", "{\"query\":\"{a}\"}", "{\"query\":\"{a}\",\"variables\":{\"a\": 1}}"]);
    }

    #[test]
    fn a_token_of_oauth_stands_where_the_collection_says() {
        let item = |to: &str| {
            format!(
                "{{\"request\": {{\"url\": \"http://h/a\", \"auth\": {{\"type\": \"oauth2\", \"oauth2\": [{{\"key\": \"accessToken\", \"value\": \"t\"}}, {{\"key\": \"addTokenTo\", \"value\": \"{to}\"}}]}}}}}}"
            )
        };
        let read = read_items(&[item("header"), item("queryParams")].join(","));
        assert_eq!(
            (read.requests[0].auth.clone(), read.requests[0].url.to_string().as_str()),
            (Some(Auth::Bearer("t".into())), "http://h/a")
        );
        assert_eq!((read.requests[1].auth.clone(), read.requests[1].url.to_string().as_str()), (None, "http://h/a?access_token=t"));
    }

    #[test]
    fn a_form_whose_field_is_named_by_a_variable_keeps_its_type() {
        let item = "{\"request\": {\"method\": \"POST\", \"url\": \"http://h/a\", \"body\": {\"mode\": \"urlencoded\", \"urlencoded\": [{\"key\": \"{{k}}\", \"value\": \"a b\"}]}}}";
        let read = read_items(&format!("{item},{item}"));
        for request in &read.requests {
            assert_eq!(request.header("content-type").and_then(Template::plain), Some(plan::FORM_TYPE));
            assert!(matches!(&request.body, Body::Text(text) if text.to_string() == "{{k}}=a%20b"), "{request:?}");
        }
    }

    #[test]
    fn a_url_of_variables_goes_to_the_target() {
        let wishes = Wishes { host: Some("http://127.0.0.1:9".to_owned()), ..Wishes::default() };
        let url = |variables: &str, url: &str| {
            let text = format!(
                "{{\"info\": {{\"name\": \"A\"}}, \"item\": [{{\"request\": {{\"url\": \"{url}\"}}}}], \"variable\": [{variables}]}}"
            );
            Collection::read(Kind::Postman, text.as_bytes(), &wishes).map(|read| (read.requests[0].url.to_string(), read.missing))
        };
        let placed = |path: &str| Ok((format!("http://127.0.0.1:9{path}"), Vec::new()));
        assert_eq!(url("", "{{protocol}}://{{hostname}}:{{port}}/a/b?c=1"), placed("/a/b?c=1"));
        assert_eq!(url("", "{{host}}:{{port}}/a"), placed("/a"));
        assert_eq!(url("", "https://{{host}}"), placed("/"));
        assert_eq!(url("", "{{baseUrl}}/a"), placed("/a"));
        assert_eq!(url("{\"key\": \"baseUrl\", \"value\": \"/\"}", "{{baseUrl}}/health"), placed("/health"));
        assert_eq!(url("{\"key\": \"base\", \"value\": \"/v1\"}", "{{scheme}}://{{host}}{{base}}/a"), placed("/v1/a"));
        assert_eq!(url("", "{{scheme}}://{{host}}{{base}}/a").unwrap().1, ["base"], "what stands in the path is told");
    }
}
