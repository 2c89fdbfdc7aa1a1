//! What a file is, by what is in it; names are not asked.

use std::fmt;

use plan::setting::ENVIRONMENT;

use super::Kind;
use super::targets::is_request_line;

/// As much of a file is looked at, where it is not JSON.
const SAMPLE_BYTES: usize = 64 * 1024;

/// Why the kind of a file cannot be told, in words that follow its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// It is known, and not read.
    Known(String),
    /// It is nothing known.
    Unknown(String),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Known(why) | Self::Unknown(why)) = self;
        f.write_str(why)
    }
}

/// The kind of a file, or why it cannot be told, in words that follow its name.
///
/// # Errors
/// If it is none of them, with what it may be.
pub fn guess(bytes: &[u8]) -> Result<Kind, Unread> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let text = String::from_utf8_lossy(sample);
    let text = text.trim_start();
    if text.is_empty() {
        return Err(Unread::Unknown("holds nothing".to_owned()));
    }
    if sample.contains(&0) {
        return Err(Unread::Unknown("is not text".to_owned()));
    }
    if text.starts_with('<') && super::jmeter::is_one(text) {
        return Ok(Kind::Jmeter);
    }
    if text.starts_with(['{', '[']) {
        return document(bytes, text);
    }
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("//"));
    for line in lines() {
        let value = |key: &str| line.strip_prefix(key)?.trim_start().strip_prefix(':').map(|value| value.trim().trim_matches(['"', '\'']));
        if value("openapi").or_else(|| value("\"openapi\"")).is_some_and(|version| version.starts_with('3')) {
            return Ok(Kind::OpenApi);
        }
        if value("swagger").is_some() {
            return Err(Unread::Known(SWAGGER.to_owned()));
        }
        if value("type").is_some_and(|kind| kind.contains("insomnia.rest/5")) || value("__export_format").is_some() {
            return Ok(Kind::Insomnia);
        }
    }
    let Some(first) = lines().next() else { return Err(Unread::Unknown("holds nothing but comments".to_owned())) };
    // A script may set variables, and feed curl from another command.
    let before = |line: &&str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        let is_value = word
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
        is_value || matches!(word, "export" | "set" | "echo" | "printf" | "cat" | "cd" | "source" | "." | "sleep")
    };
    let commands = |line: &str| line.split(['|', ';', '&']).any(begins_with_curl);
    if lines().find(|line| commands(line) || !before(line)).is_some_and(commands) {
        return Ok(Kind::Curl);
    }
    if is_request_line(first) && first.split_whitespace().nth(1).is_some_and(|url| url.contains("://")) {
        return Ok(Kind::Vegeta);
    }
    if first.starts_with("Invoke-WebRequest") || first.starts_with("fetch(") {
        return Err(Unread::Known("is a request copied for another program; copy it as cURL".to_owned()));
    }
    let is_url = |line: &str| {
        let word = line.split_whitespace().next().unwrap_or_default();
        word.contains("://") || word.contains("$(") || word.contains("${")
    };
    let is_variable = |line: &str| {
        line.split_once('=').is_some_and(|(name, _)| name.trim().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    };
    if lines().find(|line| !is_variable(line)).is_some_and(is_url) {
        return Ok(Kind::Siege);
    }
    Err(Unread::Unknown("is none of the files that loadline reads".to_owned()))
}

fn begins_with_curl(command: &str) -> bool {
    let is_curl = |word: &str| !word.contains("://") && matches!(word.rsplit(['/', '\\']).next(), Some("curl" | "curl.exe"));
    command.split_whitespace().take(3).any(is_curl)
}

const SWAGGER: &str =
    "is a description by Swagger 2, and loadline reads OpenAPI 3; converters such as swagger2openapi make one of the other";

/// By the keys of a document, of which the first line may be one of its own.
fn document(bytes: &[u8], text: &str) -> Result<Kind, Unread> {
    let keys = serde_json::from_slice::<Keys>(bytes).map(|Keys(keys)| keys);
    let has = |keys: &[String], key: &str| keys.iter().any(|known| known == key);
    match keys {
        Ok(keys) => {
            if has(&keys, "log") {
                Ok(Kind::Har)
            } else if has(&keys, "openapi") {
                Ok(Kind::OpenApi)
            } else if has(&keys, "swagger") {
                Err(Unread::Known(SWAGGER.to_owned()))
            } else if has(&keys, "__export_format") || has(&keys, "_type") || has(&keys, "resources") {
                Ok(Kind::Insomnia)
            } else if has(&keys, "item") || has(&keys, "collection") && !has(&keys, "type") {
                Ok(Kind::Postman)
            } else if has(&keys, "collection") {
                Ok(Kind::Insomnia)
            } else if has(&keys, "requests") && has(&keys, "order") {
                Err(Unread::Known(
                    "is a collection of Postman's first version; open it in Postman and export it as Collection v2.1".to_owned(),
                ))
            } else if has(&keys, "values") && has(&keys, "name") {
                Err(Unread::Known(format!("is an environment of Postman; give it with {ENVIRONMENT:#} FILE beside a collection")))
            } else if has(&keys, "method") && has(&keys, "url") && (has(&keys, "httpVersion") || has(&keys, "headersSize")) {
                // One request of a recording.
                Ok(Kind::Har)
            } else if has(&keys, "method") && has(&keys, "url") {
                Ok(Kind::VegetaJson)
            } else if has(&keys, "call") {
                Ok(Kind::Ghz)
            } else {
                let shown: Vec<&str> = keys.iter().take(5).map(String::as_str).collect();
                Err(Unread::Unknown(format!(
                    "is JSON that loadline knows no use for: its keys are {}",
                    super::shortened(&shown.join(", "))
                )))
            }
        }
        // A document a line.
        Err(_) => {
            let first = text.lines().next().unwrap_or_default();
            match serde_json::from_str::<Keys>(first) {
                Ok(Keys(keys)) if has(&keys, "method") && has(&keys, "url") => Ok(Kind::VegetaJson),
                _ => by_words(text),
            }
        }
    }
}

/// Broken, or flow style of YAML: whoever reads it tells what is wrong, if it is known who should.
fn by_words(text: &str) -> Result<Kind, Unread> {
    let head: String = text.chars().take(4096).collect();
    let found = [
        ("\"log\"", Kind::Har),
        ("\"openapi\"", Kind::OpenApi),
        ("openapi:", Kind::OpenApi),
        ("getpostman.com", Kind::Postman),
        ("\"_postman_id\"", Kind::Postman),
        ("\"__export_format\"", Kind::Insomnia),
        ("__export_format:", Kind::Insomnia),
    ];
    let found = found.iter().filter_map(|(word, kind)| Some((head.find(word)?, *kind))).min_by_key(|(at, _)| *at);
    found.map(|(_, kind)| kind).ok_or_else(|| Unread::Unknown("is JSON that is broken, or that loadline knows no use for".to_owned()))
}

/// The keys of an object, whatever stands at them.
struct Keys(Vec<String>);

impl<'de> serde::Deserialize<'de> for Keys {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    map.next_value::<serde::de::IgnoredAny>()?;
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        from.deserialize_map(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_known_by_what_is_in_it() {
        for (text, kind) in [
            ("curl http://h/", Kind::Curl),
            ("# mine\n$ curl \\\n 'http://h/'", Kind::Curl),
            ("/usr/bin/curl http://h/", Kind::Curl),
            ("{\"log\": {\"entries\": []}}", Kind::Har),
            ("{\"info\": {\"name\": \"x\"}, \"item\": []}", Kind::Postman),
            ("{\"collection\": {\"info\": {}, \"item\": []}}", Kind::Postman),
            ("{\"openapi\": \"3.1.0\", \"paths\": {}}", Kind::OpenApi),
            ("# api\nopenapi: 3.0.3\npaths: {}", Kind::OpenApi),
            ("info:\n  title: x\nopenapi: '3.0.3'", Kind::OpenApi),
            ("{\"_type\": \"export\", \"__export_format\": 4, \"resources\": []}", Kind::Insomnia),
            ("type: collection.insomnia.rest/5.0\nname: x\n", Kind::Insomnia),
            ("GET http://h/curl\nX-A: 1\n", Kind::Vegeta),
            ("{\"method\":\"GET\",\"url\":\"http://h/\"}\n{\"method\":\"GET\",\"url\":\"http://h/\"}\n", Kind::VegetaJson),
            ("HOST=h\nhttp://$(HOST)/a\n", Kind::Siege),
            ("http://h/a POST x=1\n", Kind::Siege),
        ] {
            assert_eq!(guess(text.as_bytes()), Ok(kind), "{text}");
        }
    }

    #[test]
    fn what_is_none_of_them_is_told_apart() {
        for (text, part) in [
            ("", "nothing"),
            ("\0\x01", "not text"),
            ("swagger: '2.0'\n", "OpenAPI 3"),
            ("{\"swagger\": \"2.0\"}", "OpenAPI 3"),
            ("{\"id\":1,\"requests\":[],\"order\":[]}", "v2.1"),
            ("{\"a\": 1}", "its keys are a"),
            ("{\"a\": ", "broken"),
            ("Dear reader\n", "none of"),
            ("fetch('http://h/')", "copy it as cURL"),
        ] {
            let why = guess(text.as_bytes()).unwrap_err();
            assert!(why.to_string().contains(part), "{text}: {why}");
        }
    }
}
