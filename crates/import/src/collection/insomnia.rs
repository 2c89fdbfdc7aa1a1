//! Insomnia's exports: version 4, a list of resources that name their parents, and version 5, a tree in YAML.
//!
//! Both are brought to the same shape, folders with requests in them, and read by the same code. What stands in `{{ … }}` is a variable
//! of an environment; `{% … %}` are functions, of which those that only make a value are known here.

use std::collections::BTreeMap;

use plan::FILE_TYPE;
use plan::setting::ENVIRONMENT;
use plan::template::{Template, Value};
use plan::work::{Auth, Body, Field, FieldValue};

use super::folders::{self, DEPTH_MAX, Key, aws, leave_folder_out, log_in, read_script};
use super::tree::Tree;
use super::url::{expression, variable_name, with_parameter};
use super::{Collection, Environment, Kind, PARTS_MAX, ReadError, Request, Variable, shortened};

pub(super) fn read(text: &str, wish: Option<&Environment>) -> Result<Collection, ReadError> {
    let tree = Tree::read(text)?;
    let mut collection = Collection::new(Kind::Insomnia);
    let above = Above::default();
    let wish = match wish {
        Some(Environment::Named(name)) => Some(name.as_str()),
        _ => None,
    };
    if tree.has("resources") {
        read_resources(tree.at("resources").list(), wish, &mut collection)?;
    } else if tree.has("collection") {
        collection.name = tree.at("name").words();
        let base = tree.at("environments");
        environment(base.at("data"), &mut collection);
        let variants = base.at("subEnvironments").list().iter().collect();
        choose(&base.at("name").words(), variants, wish, &mut collection)?;
        folder(tree.at("collection").list(), &above, 0, &mut collection);
    } else {
        return Err(ReadError::new("this is no collection of Insomnia: it has neither \"resources\" nor \"collection\""));
    }
    Ok(collection)
}

/// What a request has from the folders it stands in.
#[derive(Clone, Default)]
struct Above {
    group: Vec<String>,
    auth: Option<Auth>,
    key: Key,
    headers: Vec<(String, Template)>,
}

/// Puts the values of the environment that is wished for over those of the base.
fn choose(base: &str, variants: Vec<&Tree>, wish: Option<&str>, collection: &mut Collection) -> Result<(), ReadError> {
    let name = |variant: &Tree| variant.at("name").words();
    let Some(wish) = wish else {
        for variant in variants {
            let why = format!("the base environment's values hold; {ENVIRONMENT:#} '{}' takes its", shortened(&name(variant)));
            collection.leave_out(format!("the environment '{}'", shortened(&name(variant))), "the environments", why);
        }
        return Ok(());
    };
    let same = |name: &str| name.trim().eq_ignore_ascii_case(wish.trim());
    if let Some(variant) = variants.iter().find(|variant| same(&name(variant))) {
        environment(variant.at("data"), collection);
    } else if !same(base) {
        let names: Vec<String> = variants.iter().map(|variant| name(variant)).collect();
        let has =
            if names.is_empty() { "it has none beside its base".to_owned() } else { format!("it has {}", shortened(&names.join(", "))) };
        return Err(ReadError::new(format!("no environment of it is called '{}': {has}", shortened(wish))));
    }
    Ok(())
}

/// Of version 4: children name their parents, and stand in the order of their sort keys.
fn read_resources(resources: &[Tree], wish: Option<&str>, collection: &mut Collection) -> Result<(), ReadError> {
    let kind = |resource: &Tree| resource.at("_type").words();
    let roots: Vec<&Tree> = resources.iter().filter(|resource| kind(resource) == "workspace").collect();
    collection.name = roots.first().map(|root| root.at("name").words()).unwrap_or_default();
    // Those below another are variants of the base.
    let is_base = |resource: &&Tree| roots.is_empty() || roots.iter().any(|root| root.at("_id") == resource.at("parentId"));
    let (bases, variants): (Vec<&Tree>, Vec<&Tree>) =
        resources.iter().filter(|resource| kind(resource) == "environment").partition(is_base);
    bases.iter().for_each(|base| environment(base.at("data"), collection));
    choose(&bases.first().map(|base| base.at("name").words()).unwrap_or_default(), variants, wish, collection)?;
    for resource in resources {
        if matches!(kind(resource).as_str(), "grpc_request" | "websocket_request" | "socketio_request") {
            collection.leave_out(format!("'{}'", shortened(&resource.at("name").words())), resource.at("name").words(), "it is not HTTP");
        }
    }
    let mut children: BTreeMap<String, Vec<&Tree>> = BTreeMap::new();
    let parents: BTreeMap<String, String> = resources
        .iter()
        .filter(|resource| kind(resource) == "request_group")
        .map(|resource| (resource.at("_id").words(), resource.at("parentId").words()))
        .collect();
    // Folders that stand in each other are reached from nowhere.
    for resource in resources.iter().filter(|resource| kind(resource) == "request") {
        let mut parent = Some(resource.at("parentId").words());
        for _ in 0..=DEPTH_MAX {
            parent = parent.and_then(|parent| parents.get(&parent).cloned());
        }
        if parent.is_some() {
            let name = resource.at("name").words();
            collection.leave_out(format!("the request '{}'", shortened(&name)), name, "its folders stand in each other, or too deep");
        }
    }
    for resource in resources.iter().filter(|resource| matches!(kind(resource).as_str(), "request" | "request_group")) {
        // What stands in no folder stands at the top, whatever its parent is called.
        let parent = resource.at("parentId").words();
        children.entry(if parents.contains_key(&parent) { parent } else { String::new() }).or_default().push(resource);
    }
    for list in children.values_mut() {
        list.sort_by(|a, b| {
            let key = |tree: &Tree| tree.at("metaSortKey").number().unwrap_or(0.0);
            key(a).total_cmp(&key(b))
        });
    }
    descend("", &children, &Above::default(), 0, collection);
    Ok(())
}

fn descend(parent: &str, children: &BTreeMap<String, Vec<&Tree>>, above: &Above, depth: usize, collection: &mut Collection) {
    // What stands deeper has been told.
    if depth > DEPTH_MAX {
        return;
    }
    for child in children.get(parent).map_or(&[][..], Vec::as_slice) {
        if child.at("_type").text() == Some("request_group") {
            let inner = above.with(child, collection);
            descend(&child.at("_id").words(), children, &inner, depth + 1, collection);
        } else {
            request(child, above, collection);
        }
    }
}

/// Of version 5: folders have children.
fn folder(items: &[Tree], above: &Above, depth: usize, collection: &mut Collection) {
    for item in items {
        if item.has("children") || !item.has("url") && item.has("environment") {
            if depth >= DEPTH_MAX {
                leave_folder_out(&above.group, collection);
                continue;
            }
            let inner = above.with(item, collection);
            folder(item.at("children").list(), &inner, depth + 1, collection);
        } else if item.has("url") {
            let url = item.at("url").words();
            let kind = item.at("meta").at("id").words();
            if url.starts_with("ws") || kind.starts_with("ws-req") || kind.starts_with("greq") || item.has("protoFileId") {
                let name = item.at("name").words();
                collection.leave_out(format!("'{}'", shortened(&name)), name, "it is not HTTP");
                continue;
            }
            request(item, above, collection);
        }
    }
}

impl Above {
    fn with(&self, folder: &Tree, collection: &mut Collection) -> Self {
        let mut above = self.clone();
        let name = folder.at("name").words();
        above.group.push(if name.is_empty() { "folder".to_owned() } else { name });
        let place = above.group.join(" / ");
        environment(folder.at("environment"), collection);
        if let Some((auth, key)) = auth(folder.at("authentication"), &place, collection) {
            (above.auth, above.key) = (auth, key);
        }
        for header in enabled(folder.at("headers")) {
            let value = text_of(&header.at("value").words(), &place, collection);
            above.headers.push((header.at("name").words(), value));
        }
        above
    }
}

/// The values of an environment; those in objects are called `outer_inner` here.
fn environment(data: &Tree, collection: &mut Collection) {
    fn go(prefix: &str, data: &Tree, depth: usize, collection: &mut Collection) {
        for (name, value) in data.entries() {
            let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
            if !value.entries().is_empty() && depth < 4 {
                go(&name, value, depth + 1, collection);
                continue;
            }
            let text = match value {
                Tree::List(_) | Tree::Map(_) => Template::fixed(value.json()),
                _ => text_of(&value.words(), "the environment", collection),
            };
            let name = variable_name(&name);
            match collection.variables.iter_mut().find(|variable| variable.name == name) {
                Some(variable) => variable.value = text,
                None => collection.variables.push(Variable { name, value: text, secret: false }),
            }
        }
    }
    go("", data, 0, collection);
}

fn enabled(tree: &Tree) -> impl Iterator<Item = &Tree> {
    tree.list().iter().filter(|item| !item.at("disabled").is_true())
}

fn request(item: &Tree, above: &Above, collection: &mut Collection) {
    let name = item.at("name").words();
    let Some(mut request) = folders::request(&above.group, &name, item.at("method").words(), collection) else { return };
    let place = request.place.clone();
    let mut url = item.at("url").words();
    // Parts of the path such as :id have their values beside the URL.
    for parameter in item.at("pathParameters").list().iter().take(PARTS_MAX) {
        let part = format!("/:{}", parameter.at("name").words());
        if part.len() > 2 {
            url = replaced_part(&url, &part, &parameter.at("value").words());
        }
    }
    request.url = text_of(&url, &place, collection);
    for parameter in enabled(item.at("parameters")).take(PARTS_MAX) {
        let name = text_of(&parameter.at("name").words(), &place, collection);
        let value = text_of(&parameter.at("value").words(), &place, collection);
        if !name.is_empty() {
            request.url = with_parameter(&request.url, &name, &value);
        }
    }
    for header in enabled(item.at("headers")) {
        let value = text_of(&header.at("value").words(), &place, collection);
        request.take_header(&header.at("name").words(), value);
    }
    for (name, value) in &above.headers {
        request.header_if_none(name, value.clone());
    }
    body(item.at("body"), &place, &mut request, collection);
    let (auth, key) = auth(item.at("authentication"), &place, collection).unwrap_or_else(|| (above.auth.clone(), above.key.clone()));
    log_in(&mut request, auth, key);
    let scripts = |new: &str, old: &str| item.at("scripts").at(new).text().or_else(|| item.at(old).text()).unwrap_or_default().to_owned();
    let after = scripts("afterResponse", "afterResponseScript");
    read_script(&after, "after-response script", &mut request, collection);
    if !scripts("preRequest", "preRequestScript").trim().is_empty() {
        collection.leave_out("the pre-request script", &place, "scripts are not carried out");
    }
    if item.at("settings").at("followRedirects").text().or_else(|| item.at("settingFollowRedirects").text()) == Some("on") {
        request.connection.follow = Some(10);
    }
    collection.requests.push(request);
}

/// A whole part of a path.
fn replaced_part(url: &str, part: &str, value: &str) -> String {
    let Some(at) = url.match_indices(part).map(|(at, _)| at).find(|at| {
        let after = &url[at + part.len()..];
        after.is_empty() || after.starts_with(['/', '?', '#'])
    }) else {
        return url.to_owned();
    };
    format!("{}/{value}{}", &url[..at], &url[at + part.len()..])
}

fn body(body: &Tree, place: &str, request: &mut Request, collection: &mut Collection) {
    let media = body.at("mimeType").words();
    match media.as_str() {
        "" if body.at("text").is_null() && body.at("fileName").is_null() => {}
        plan::FORM_TYPE => {
            let fields = enabled(body.at("params")).map(|field| {
                (text_of(&field.at("name").words(), place, collection), text_of(&field.at("value").words(), place, collection))
            });
            request.set_form(fields.collect());
        }
        "multipart/form-data" => {
            let mut fields = Vec::new();
            for field in enabled(body.at("params")) {
                let name = field.at("name").words();
                let value = if field.at("type").text() == Some("file") {
                    let path = field.at("fileName").words();
                    if path.is_empty() {
                        collection.leave_out(format!("the file of the field '{}'", shortened(&name)), place, "the export does not name it");
                        continue;
                    }
                    FieldValue::File { path, media_type: FILE_TYPE.to_owned() }
                } else {
                    FieldValue::Text(text_of(&field.at("value").words(), place, collection))
                };
                fields.push(Field { name, value, headers: Vec::new() });
            }
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            request.body = Body::Multipart(fields);
        }
        "application/octet-stream" => match body.at("fileName").words() {
            path if path.is_empty() => collection.leave_out("the file of the body", place, "the export does not name it"),
            path => {
                request.header_if_none("Content-Type", "application/octet-stream");
                request.body = Body::File(path);
            }
        },
        media => {
            let text = body.at("text").words();
            if text.is_empty() {
                return;
            }
            let media = match media {
                // Its text is the whole message already.
                "application/graphql" => "application/json",
                "" => "text/plain",
                media => media,
            };
            request.header_if_none("Content-Type", media);
            request.body = Body::Text(text_of(&text, place, collection));
        }
    }
}

/// How something authenticates; `None` if it says nothing of it and inherits.
fn auth(tree: &Tree, place: &str, collection: &mut Collection) -> Option<(Option<Auth>, Key)> {
    let kind = tree.at("type").text()?;
    if tree.at("disabled").is_true() {
        return Some((None, None));
    }
    let mut value = |name: &str| text_of(&tree.at(name).words(), place, collection);
    let auth = match kind {
        "none" => None,
        "basic" => Some(Auth::Basic { user: value("username"), password: value("password") }),
        "digest" => Some(Auth::Digest { user: value("username"), password: value("password") }),
        "bearer" => {
            let prefix = value("prefix");
            let token = value("token");
            if prefix.is_empty() || prefix.plain() == Some("Bearer") {
                Some(Auth::Bearer(token))
            } else {
                let mut credential = prefix;
                credential.push(" ");
                credential.append(token);
                return Some((None, Some((false, Template::fixed("Authorization"), credential))));
            }
        }
        "apikey" => {
            return Some((None, folders::key(value("addTo").plain() == Some("queryParams"), value)));
        }
        "iam" => Some(aws(["accessKeyId", "secretAccessKey"], value)),
        "oauth2" => {
            collection.leave_out("OAuth 2", place, "a token must be there before the run; give it as a bearer token");
            None
        }
        other => {
            collection.leave_out(format!("the authentication '{}'", shortened(other)), place, "loadline has nothing like it");
            None
        }
    };
    Some((auth, None))
}

/// Template with `{{ variables }}` and `{% functions %}`.
fn text_of(text: &str, place: &str, collection: &mut Collection) -> Template {
    let mut found = Template::default();
    let mut rest = text;
    loop {
        let next = [("{{", "}}"), ("{%", "%}")]
            .into_iter()
            .filter_map(|(open, close)| Some((rest.find(open)?, open, close)))
            .min_by_key(|(at, ..)| *at);
        let Some((at, open, close)) = next else { break };
        let Some(length) = rest[at + 2..].find(close) else { break };
        found.push(&rest[..at]);
        let inner = rest[at + 2..at + 2 + length].trim().trim_matches('-').trim();
        let whole = &rest[at..at + length + 4];
        rest = &rest[at + length + 4..];
        if open == "{%" {
            match function(inner) {
                Some(made) => found.append(expression(made)),
                None => {
                    collection.leave_out(
                        format!("the function {}", shortened(whole)),
                        place,
                        "loadline has no such function; it is left empty",
                    );
                }
            }
            continue;
        }
        let name = inner.strip_prefix("_.").unwrap_or(inner);
        let name = name.strip_prefix("_['").and_then(|name| name.strip_suffix("']")).unwrap_or(name);
        if let Some((variable, filter)) = name.split_once('|') {
            collection.leave_out(format!("the filter '{}'", shortened(filter.trim())), place, "values are written as they are");
            found.append(Value::Variable(variable_name(variable)).into());
        } else if name.is_empty() {
            found.push(whole);
        } else {
            found.append(Value::Variable(variable_name(name)).into());
        }
    }
    found.push(rest);
    found
}

/// What only makes a value.
fn function(text: &str) -> Option<&'static str> {
    let mut words = text.split_whitespace();
    let first = words.next()?;
    let argument = words.next().unwrap_or_default().trim_matches(['\'', '"', ',']);
    match (first, argument) {
        ("uuid", _) => Some("uuid"),
        ("timestamp", _) | ("now", "unix") => Some("now unix"),
        ("now", "millis") => Some("now unix-ms"),
        ("now", "" | "iso-8601") => Some("now"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;
    use crate::collection::promise::status_check;
    use crate::collection::url::{origin, variable};

    const FOUR: &str = r#"{"_type": "export", "__export_format": 4, "__export_source": "insomnia.desktop.app:v2023.5.8", "resources": [
      {"_id": "req_2", "_type": "request", "parentId": "fld_1", "name": "Create", "method": "POST", "url": "{{ _.base_url }}/orders", "metaSortKey": 2,
       "body": {"mimeType": "application/json", "text": "{\"id\": \"{% uuid 'v4' %}\", \"by\": \"{{ _.user.name }}\"}"}, "headers": [{"name": "X-A", "value": "1"}, {"name": "X-B", "value": "2", "disabled": true}],
       "authentication": {"type": "basic", "username": "me", "password": "hunter22"}},
      {"_id": "req_1", "_type": "request", "parentId": "fld_1", "name": "List", "method": "GET", "url": "{{ base_url }}/orders", "metaSortKey": 1,
       "parameters": [{"name": "page", "value": "1"}, {"name": "off", "value": "1", "disabled": true}], "authentication": {"type": "apikey", "key": "key", "value": "k", "addTo": "queryParams"}, "body": {}},
      {"_id": "fld_1", "_type": "request_group", "parentId": "wrk_1", "name": "Orders", "metaSortKey": 5},
      {"_id": "ws_1", "_type": "websocket_request", "parentId": "wrk_1", "name": "Live", "url": "wss://h/"},
      {"_id": "env_1", "_type": "environment", "parentId": "wrk_1", "name": "Base", "data": {"base_url": "https://shop.example.com", "user": {"name": "ann"}}},
      {"_id": "env_2", "_type": "environment", "parentId": "env_1", "name": "Staging", "data": {"base_url": "https://staging.example.com"}},
      {"_id": "wrk_1", "_type": "workspace", "parentId": null, "name": "Shop"}]}"#;

    const FIVE: &str = "type: collection.insomnia.rest/5.0\nname: Shop\nmeta:\n  id: wrk_1\ncollection:\n  - name: Orders\n    meta:\n      id: fld_1\n    children:\n      - url: \"{{ _.base_url }}/orders/:id\"\n        name: One\n        meta:\n          id: req_1\n          sortKey: -1\n        method: GET\n        pathParameters:\n          - name: id\n            value: \"42\"\n        headers:\n          - name: Accept\n            value: application/json\n        authentication:\n          type: bearer\n          token: \"{% response 'body', 'req_9', 'b64::x' %}\"\n        scripts:\n          afterResponse: |-\n            insomnia.test('ok', () => {\n              insomnia.expect(insomnia.response.code).to.eql(200);\n            });\n  - url: https://shop.example.com/upload\n    name: Upload\n    method: POST\n    body:\n      mimeType: multipart/form-data\n      params:\n        - name: photo\n          type: file\n          fileName: /tmp/a.png\n        - name: title\n          value: x\nenvironments:\n  name: Base Environment\n  data:\n    base_url: https://shop.example.com\n";

    fn told(text: &str) -> (Vec<String>, Vec<String>) {
        let read = Collection::read(Kind::Insomnia, text.as_bytes(), &Wishes::default()).unwrap();
        assert_eq!(read.name, "Shop");
        let requests = read.requests.iter().map(|request| format!("{}: {} {}", request.place, request.method, request.url));
        (requests.collect(), read.left_out.iter().map(|left| format!("{}: {}", left.place, left.what)).collect())
    }

    #[test]
    fn version_4_is_in_the_order_of_its_keys() {
        let (requests, left) = told(FOUR);
        assert_eq!(
            requests,
            ["Orders / List: GET https://shop.example.com/orders?page=1&key=k", "Orders / Create: POST https://shop.example.com/orders"]
        );
        assert_eq!(left, ["the environments: the environment 'Staging'", "Live: 'Live'"]);
        let read = Collection::read(Kind::Insomnia, FOUR.as_bytes(), &Wishes::default()).unwrap();
        assert_eq!(read.requests[1].body, {
            let mut body = Template::fixed("{\"id\": \"");
            body.append(expression("uuid"));
            body.push("\", \"by\": \"");
            body.append(variable("user_name"));
            body.push("\"}");
            Body::Text(body)
        });
        assert_eq!(read.requests[1].auth, Some(Auth::Basic { user: "me".into(), password: "hunter22".into() }));
    }

    #[test]
    fn version_5_is_a_tree_in_yaml() {
        let (requests, left) = told(FIVE);
        assert_eq!(requests, ["Orders / One: GET https://shop.example.com/orders/42", "Upload: POST https://shop.example.com/upload"]);
        assert_eq!(left, ["Orders / One: the function {% response 'body', 'req_9', 'b64::x' %}"]);
        let read = Collection::read(Kind::Insomnia, FIVE.as_bytes(), &Wishes::default()).unwrap();
        assert_eq!(read.requests[0].checks, [status_check(&[200])]);
        assert!(matches!(&read.requests[1].body, Body::Multipart(fields) if fields.len() == 2));
    }

    #[test]
    fn an_environment_is_chosen_by_its_name() {
        let variants = "  subEnvironments:\n    - name: Staging\n      data:\n        base_url: https://staging.example.com\n";
        let five = format!("{FIVE}{variants}");
        for text in [FOUR, &five] {
            let read = |name: &str| {
                let wishes = Wishes { environment: Some(Environment::Named(name.to_owned())), ..Wishes::default() };
                Collection::read(Kind::Insomnia, text.as_bytes(), &wishes)
            };
            let staging = read("staging").unwrap();
            assert_eq!(origin(&staging.requests[0].url).unwrap().0.host(), "staging.example.com");
            assert!(staging.left_out.iter().all(|left| !left.what.contains("environment")));
            let why = read("production").unwrap_err();
            assert!(why.message.spelt(plan::Spelling::Flags).contains("'production': it has Staging"), "{why:?}");
        }
    }

    #[test]
    fn folders_that_stand_in_each_other_end() {
        let text = r#"{"_type": "export", "__export_format": 4, "resources": [
          {"_id": "a", "_type": "request_group", "parentId": "b"}, {"_id": "b", "_type": "request_group", "parentId": "a"},
          {"_id": "c", "_type": "request", "name": "C", "parentId": "a", "url": "http://h/"}, {"_id": "d", "_type": "request", "parentId": "x", "url": "http://h/"}]}"#;
        let read = Collection::read(Kind::Insomnia, text.as_bytes(), &Wishes::default()).unwrap();
        assert_eq!(read.requests.len(), 1);
        assert!(read.left_out[0].why.marked().contains("stand in each other"));
    }
}
