//! ghz's files of settings: one method of gRPC, a message, and how it is called (<https://ghz.sh/docs/options>).

use std::collections::BTreeMap;

use plan::template::{Template, literally};
use plan::work::{Body, Talk};
use plan::{Draft, Setting};
use serde::Deserialize;
use serde_json::Value;

use super::{Collection, Kind, ReadError, Request, shortened};

/// The settings that have an equal; of the others, those that change what is sent or counted are told.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Written {
    name: String,
    call: String,
    host: String,
    proto: String,
    protoset: String,
    import_paths: Vec<String>,
    insecure: bool,
    #[serde(rename = "skipTLS")]
    skip_tls: bool,
    cacert: String,
    cert: String,
    key: String,
    cname: String,
    data: Value,
    data_file: String,
    metadata: BTreeMap<String, String>,
    enable_compression: bool,
    concurrency: Option<u32>,
    connections: Option<u32>,
    total: Option<u64>,
    rps: Option<f64>,
    duration: String,
    max_duration: String,
    timeout: String,
    connect_timeout: String,
    load_schedule: String,
    load_start: Option<f64>,
    load_end: Option<f64>,
    load_max_duration: String,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// What changes nothing of what is sent: how ghz itself works, and how it reports.
const PASSED_OVER: [&str; 16] = [
    "$schema",
    "async",
    "config",
    "count-errors",
    "cpus",
    "debug",
    "duration-stop",
    "format",
    "keepalive",
    "output",
    "reflect-metadata",
    "skipFirst",
    "tags",
    "lb-strategy",
    "O",
    "o",
];

/// As ghz has them where a file is silent.
const CONCURRENCY: u32 = 50;
const TOTAL: u64 = 200;
const TIMEOUT: &str = "20s";

/// A file of settings.
pub(super) fn read(text: &str) -> Result<Collection, ReadError> {
    let written: Written = serde_json::from_str(text).map_err(|why| {
        let message = why.to_string();
        ReadError::at(why.line(), why.column(), message.split(" at line ").next().unwrap_or_default())
    })?;
    let mut collection = Collection::new(Kind::Ghz);
    // `package.Service.Method` is written too.
    let call = written.call.trim_start_matches('/');
    let path = if call.contains('/') {
        Some(call.to_owned())
    } else {
        call.rsplit_once('.').map(|(service, method)| format!("{service}/{method}"))
    };
    let Some(path) = path else {
        return Err(ReadError::new(format!("'{}' under call names no method, such as package.Service/Method", shortened(call))));
    };
    if written.host.is_empty() {
        return Err(ReadError::new("it names no host: ghz takes it from the command line; write it under host"));
    }
    let place = "the file".to_owned();
    let scheme = if written.insecure { "http" } else { "https" };
    let mut request = Request {
        name: path.clone(),
        method: "POST".to_owned(),
        url: Template::fixed(format!("{scheme}://{}/{path}", written.host)),
        talk: Some(Talk::Call),
        place: place.clone(),
        ..Request::default()
    };
    for (name, value) in &written.metadata {
        let value = filled(value, &mut collection);
        request.take_header(name, value);
    }
    if written.enable_compression {
        request.take_header("grpc-encoding", Template::fixed("gzip"));
    }
    request.body = body(&written, &mut collection);
    let path_of = |path: &str| Some(path.to_owned()).filter(|path| !path.is_empty());
    let connection = &mut request.connection;
    (connection.cacert, connection.cert, connection.key) = (path_of(&written.cacert), path_of(&written.cert), path_of(&written.key));
    connection.insecure = written.skip_tls;
    // Without an end where it is 0.
    connection.timeout =
        Some(path_of(&written.timeout).unwrap_or_else(|| TIMEOUT.to_owned())).filter(|time| !matches!(time.as_str(), "0" | "0s"));
    connection.connect_timeout = path_of(&written.connect_timeout);
    *collection.load = load(&written, &mut collection);
    for name in written.others.keys().filter(|name| !PASSED_OVER.contains(&name.as_str())) {
        collection.leave_out(format!("the setting '{}'", shortened(name)), place.clone(), "loadline has no equal of it");
    }
    collection.name = written.name;
    collection.requests.push(request);
    Ok(collection)
}

/// What is sent with each call: an object, or a list of them for a method that takes a stream.
fn body(written: &Written, collection: &mut Collection) -> Body {
    match &written.data {
        Value::Null if !written.data_file.is_empty() => Body::File(written.data_file.clone()),
        Value::Null => Body::Json(Template::fixed("{}")),
        // A text is JSON of its own.
        Value::String(text) => Body::Json(filled(text, collection)),
        data => Body::Json(filled(&data.to_string(), collection)),
    }
}

/// How often the method is called.
fn load(written: &Written, collection: &mut Collection) -> Draft {
    let place = "the file";
    let users = written.concurrency.unwrap_or(CONCURRENCY).max(1);
    let connections = written.connections.unwrap_or(1).clamp(1, users);
    let given = |text: &str| Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
    let mut load = Draft {
        connections: users.to_string().parse().ok(),
        http: "2".parse().ok(),
        streams: users.div_ceil(connections).to_string().parse().ok(),
        sni: given(&written.cname),
        proto: given(&written.proto).into_iter().collect(),
        proto_path: written.import_paths.clone(),
        descriptors: given(&written.protoset),
        ..Draft::default()
    };
    match given(&written.duration) {
        Some(duration) => load.duration = duration.parse().ok(),
        None => {
            load.requests = written.total.unwrap_or(TOTAL).to_string().parse().ok();
            if !written.max_duration.is_empty() {
                collection.leave_out(
                    "max-duration",
                    place,
                    "a load ends after a number of requests or after a time, here after the number",
                );
            }
        }
    }
    match written.load_schedule.as_str() {
        "" | "const" => load.rate = written.rps.filter(|rps| *rps > 0.0).and_then(|rps| format!("{rps}/s").parse().ok()),
        "line" if written.load_end.is_some() && !written.load_max_duration.is_empty() => {
            let (start, end) = (written.load_start.unwrap_or(1.0), written.load_end.unwrap_or(1.0));
            load.rate = format!("{start}/s to {end}/s for {}", written.load_max_duration).parse().ok();
            // The stages say how long.
            (load.duration, load.requests) = (None, None);
        }
        other => collection.leave_out(
            format!("the schedule '{}'", shortened(other)),
            place,
            "write its stages under rate, such as 100/s for 10s, 200/s for 10s",
        ),
    }
    if matches!(load.rate, Some(Setting::Wrong { .. })) {
        load.rate = None;
        collection.leave_out("rps", place, "it is no rate");
    }
    load
}

/// A text with what ghz fills in (<https://ghz.sh/docs/calldata>); of what has no equal, the words stand as they are, and are told.
fn filled(text: &str, collection: &mut Collection) -> Template {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((action, after)) = after.split_once("}}") else { break };
        made += &literally(before);
        match equal(action) {
            Some(value) => made += &format!("{{{{{value}}}}}"),
            None => {
                made += &literally(&format!("{{{{{action}}}}}"));
                collection.leave_out(
                    format!("{{{{{}}}}}", shortened(action.trim())),
                    "the file",
                    "loadline has no equal of it; it is sent as it stands",
                );
            }
        }
        rest = after;
    }
    made += &literally(rest);
    Template::parse(&made, &[]).unwrap_or_else(|_| Template::fixed(text))
}

fn equal(action: &str) -> Option<String> {
    let words: Vec<&str> = action.split_whitespace().collect();
    Some(match words[..] {
        [".RequestNumber"] => "sequence 0".to_owned(),
        [".UUID"] | ["newUUID"] => "uuid".to_owned(),
        [".Timestamp"] => "now".to_owned(),
        [".TimestampUnix"] => "now unix".to_owned(),
        [".TimestampUnixMilli"] => "now unix-ms".to_owned(),
        [".TimestampUnixNano"] => "now unix-ns".to_owned(),
        // Go's end is beyond the last.
        ["randomInt", low, high] => format!("random {} {}", low.parse::<i64>().ok()?, high.parse::<i64>().ok()? - 1),
        ["randomString", length] => format!("random-text {}", length.parse::<u32>().ok().filter(|length| *length > 0)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::{Wishes, guess};

    fn collection(text: &str) -> Result<Collection, ReadError> {
        assert_eq!(guess(text.as_bytes()), Ok(Kind::Ghz));
        Collection::read(Kind::Ghz, text.as_bytes(), &Wishes::default())
    }

    #[test]
    fn a_file_becomes_a_call_and_its_load() {
        let read = collection(
            r#"{"proto": "./greeter.proto", "import-paths": ["protos"], "call": "helloworld.Greeter.SayHello", "total": 2000, "concurrency": 60,
                "connections": 4, "rps": 500, "insecure": true, "host": "0.0.0.0:50051", "timeout": "5s", "cpus": 2,
                "data": {"name": "Joe {{randomString 8}}", "n": "{{.RequestNumber}}", "x": "{{.WorkerID}}"},
                "metadata": {"trace_id": "{{.UUID}}"}, "max-duration": "10s", "stream-interval": "25ms"}"#,
        )
        .unwrap();
        let request = &read.requests[0];
        assert_eq!(request.url.to_string(), "http://0.0.0.0:50051/helloworld.Greeter/SayHello");
        assert_eq!((request.talk.clone(), request.connection.timeout.as_deref()), (Some(Talk::Call), Some("5s")));
        assert_eq!(request.headers[0].1.typed(), "{{uuid}}");
        let Body::Json(body) = &request.body else { panic!("{:?}", request.body) };
        assert_eq!(body.typed(), r#"{"n":"{{sequence 0}}","name":"Joe {{random-text 8}}","x":"{{"{{"}}.WorkerID}}"}"#);
        let import = read.work("ghz/ghz.json");
        let settings = serde_json::to_value(&import.settings).unwrap();
        assert_eq!((&settings["connections"], &settings["streams"], &settings["requests"]), (&60.into(), &15.into(), &2000.into()));
        assert_eq!((&settings["rate"], &settings["proto"][0]), (&"500/s".into(), &"ghz/./greeter.proto".into()));
        let left: Vec<&str> = read.left_out.iter().map(|left| left.what.as_str()).collect();
        assert_eq!(left, ["{{.WorkerID}}", "max-duration", "the setting 'stream-interval'"]);
    }

    #[test]
    fn what_a_file_leaves_open_is_as_ghz_has_it() {
        let read = collection(r#"{"call": "a.B/C", "host": "h:1", "duration": "10s"}"#).unwrap();
        assert_eq!(read.requests[0].url.to_string(), "https://h:1/a.B/C");
        assert_eq!(read.load.connections, "50".parse().ok());
        assert_eq!((read.load.duration.clone(), read.load.requests.clone()), ("10s".parse().ok(), None));
        assert!(collection(r#"{"call": "C", "host": "h:1"}"#).unwrap_err().wording().marked().contains("names no method"));
        assert!(collection(r#"{"call": "a.B/C", "total": 1}"#).unwrap_err().wording().marked().contains("names no host"));
        assert!(collection(r#"{"call": "a.B/C", "host": "h:1", "total": "x"}"#).is_err());
    }
}
