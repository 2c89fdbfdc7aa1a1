//! What the user wrote: every setting optional, nothing checked.
//!
//! Settings are listed once, here. A field is a flag, its doc comment the flag's help, and its name the key in files
//! and results. [`Plan`](crate::Plan)'s making takes this struct apart without `..`, so that a setting nobody reads
//! does not compile. What is read of the files that it names is no setting: it stands in [`Resolved`](crate::Resolved).

use std::num::{NonZeroU32, NonZeroU64};

use clap::{ArgAction, Args};
use serde::{Deserialize, Serialize};

use crate::plan::{HttpVersion, StreamForm, TlsVersion};
use crate::setting::{CACERT, CERT, DATA, DESCRIPTORS, FORM, JSON, KEY, MESSAGE, SCENARIO, SCRIPT, SettingName, URLS};
use crate::{
    DataEnd, EventPath, HostPort, Nanos, Pause, Resumption, RowOrder, Setting, Spacing, Timetable, TokenCount, Users, Warmup, WindowBytes,
};

/// Every setting of one load, as typed.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Draft {
    /// Where to send requests, such as http://127.0.0.1:8080/healthz; or a scenario, such as shop.yaml
    #[arg(value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,

    /// N connections, each sending again as soon as it is answered, or stages: '0 to 50 for 1m, 50 for 5m'; with --rate, at most N [default: 50]
    // What scenarios call users is typed here too.
    #[arg(short = 'c', long, alias = "users", value_name = "N", allow_negative_numbers = true, help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Setting<Users>>,

    /// Measure for this long, such as 30s or 5m [default: 10s, unless --requests or stages end the run]
    #[arg(short = 'd', long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Setting<Nanos>>,

    /// Send exactly N requests
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true, help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Setting<NonZeroU64>>,

    /// Send at this rate whether answered or not: 500/s, or stages: '0/s to 500/s for 1m, 500/s for 5m'
    #[arg(short = 'r', long, value_name = "RATE", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Setting<Timetable>>,

    /// How requests stand within the rate: poisson (as independent users come) or even [default: poisson]
    #[arg(long, value_name = "KIND", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Setting<Spacing>>,

    /// The seed of everything drawn by chance; the same seed gives the same arrivals [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<Setting<u64>>,

    /// Wait between an answer and the same user's next request: 200ms, or a range 100ms..300ms
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Setting<Pause>>,

    /// Load for this long before measuring, excluded and shown as excluded; auto: leave out the start if it differs from the rest
    #[arg(long, value_name = "TIME", help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Setting<Warmup>>,

    /// Generate load with N threads [default: the cores this process may use, never more than connections; with --requests, as many as these can be shared among evenly]
    #[arg(short = 't', long, value_name = "N", allow_negative_numbers = true, help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<Setting<NonZeroU32>>,

    /// Generate load from N processes of this machine [default: 1, or as many as it takes to open all connections]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Load")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<Setting<NonZeroU32>>,

    /// The request method [default: GET, or POST with a body]
    #[arg(short = 'X', long, value_name = "METHOD", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,

    /// A header 'Name: value'; 'Name:' leaves out one that is sent by default (repeatable)
    #[arg(short = 'H', long, value_name = "HEADER", help_heading = "Request")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub header: Vec<String>,

    /// Send this text, @FILE, or @- for standard input, as the body
    #[arg(long, value_name = "TEXT", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,

    /// Send this JSON text, @FILE, or @- for standard input, with the headers that belong to it
    #[arg(long, value_name = "TEXT", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<String>,

    /// A field of a multipart form: name=value, or name=@FILE[;type=MEDIA] to upload (repeatable)
    #[arg(long, value_name = "FIELD", help_heading = "Request")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub form: Vec<String>,

    /// Send this text, @FILE, or @- for standard input, as messages over WebSocket (ws://, wss://); of gRPC (grpc://, grpcs://) as JSON
    #[arg(long, value_name = "TEXT", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// Messages of gRPC are described in this .proto file; without it and --descriptors the server is asked (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proto: Vec<String>,

    /// Imports of .proto files begin in this folder (repeatable)
    #[arg(short = 'I', long, value_name = "DIR", help_heading = "Request")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proto_path: Vec<String>,

    /// Messages of gRPC are described in this set of descriptors, as protoc --descriptor_set_out writes it
    #[arg(long, value_name = "FILE", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptors: Option<String>,

    /// Offer to pack messages over WebSocket (permessage-deflate)
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Request")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub message_deflate: bool,

    /// Authenticate with name:password (Basic)
    #[arg(long, value_name = "USER", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,

    /// Authenticate with this bearer token
    #[arg(long, value_name = "TOKEN", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bearer: Option<String>,

    /// A cookie name=value (repeatable)
    #[arg(long, value_name = "COOKIE", help_heading = "Request")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cookie: Vec<String>,

    /// Let this Lua script choose the requests and see the answers, as in wrk; words after -- are its arguments
    #[arg(short = 's', long, value_name = "FILE", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,

    /// Take files, processes and native code from the script, and limit its memory and time
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Request")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sandbox: bool,

    /// Given to the script's init
    #[arg(last = true, value_name = "ARGUMENT", help_heading = "Request")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub script_arguments: Vec<String>,

    /// Send to the URLs in this file, a line each: [WEIGHT] [METHOD] URL; with weights by chance, else in turn
    // The doc comment is help text; its brackets are no links.
    #[allow(rustdoc::broken_intra_doc_links)]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urls: Option<String>,

    /// Count an answer as failed unless this holds, as checks of a scenario's steps do: 'status == 200', 'body contains ok', 'json $.id exists', 'time < 1s' (repeatable)
    #[arg(long, value_name = "PROMISE", help_heading = "Checks")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<String>,

    /// Rows for templates: {{users.id}} is the column id of users.csv; CSV with a header or JSON lines, FILE or NAME=FILE (repeatable)
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data_file: Vec<String>,

    /// The row of a request: in-order (the n-th has the n-th), random, or per-user (one for all requests of a user) [default: in-order]
    #[arg(long, value_name = "KIND", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_order: Option<Setting<RowOrder>>,

    /// After the last row: wrap (the first comes again), stop (end the load), or error (break off) [default: wrap]
    #[arg(long, value_name = "KIND", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_end: Option<Setting<DataEnd>>,

    /// Send {{ as it stands: URL, headers and body are no templates
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Data")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_templates: bool,

    /// Let users go through the journeys in this file (loadline init writes one to begin with); other settings go over its own
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,

    /// Requests may go to this server too, such as `https://login.example.com`, where a file or a redirect leads there; any: to every server (repeatable)
    #[arg(long, value_name = "ORIGIN", help_heading = "Request")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_target: Vec<String>,

    /// Ask for answers packed with gzip, br, zstd or deflate, unpack those that something looks into, and count both
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Request")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compressed: bool,

    /// Send bodies only when the server says that it wants them (Expect: 100-continue), or after one second
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Request")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expect_continue: bool,

    /// Follow up to N redirects; a followed chain is one request [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follow: Option<Setting<u8>>,

    /// Measure the events of answers that stream as they come: sse, lines, json-lines, or auto, as their Content-Type says
    #[arg(long, value_name = "FORM", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream: Option<Setting<StreamForm>>,

    /// Count only events whose JSON has something at this path: the tokens of a language model
    #[arg(
        help = "Count only events whose JSON has something there, such as $.choices[0].delta.content: the tokens of a language model",
        long,
        value_name = "PATH",
        help_heading = "Request"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_data: Option<Setting<EventPath>>,

    /// What a token is: each event (events), a word of the text at --event-data (words), or what the answer says: usage, or a path such as $.usage.output_tokens [default: events]
    #[arg(long, value_name = "WHAT", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Setting<TokenCount>>,

    /// Listen to an answer that streams for this long, and end it then, as a success; one that the server ends before is asked for again
    #[arg(long, value_name = "TIME", help_heading = "Request")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_for: Option<Setting<Nanos>>,

    /// Give a request up after this long, from when it fell due to its last byte [default: 30s]
    #[arg(long, value_name = "TIME", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Setting<Nanos>>,

    /// Give up opening a connection, TLS included, after this long [default: 5s]
    #[arg(long, value_name = "TIME", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_timeout: Option<Setting<Nanos>>,

    /// Open a new connection for every request
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Connection")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_keepalive: bool,

    /// What to speak: 1.1, 2, 3, or auto, as the server chooses [default: auto with https, else 1.1]
    #[arg(long, value_name = "VERSION", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<Setting<HttpVersion>>,

    /// How many requests at once share a connection of HTTP/2 or HTTP/3, at most [default: what the server takes, up to 100, with --http 2 and 3, and 1 with auto]
    #[arg(long, value_name = "N", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<Setting<NonZeroU32>>,

    /// How much of an answer a server may send ahead over HTTP/2, such as 64KiB [default: 4MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http2_stream_window: Option<Setting<WindowBytes>>,

    /// How much of all answers on a connection of HTTP/2 a server may send ahead [default: 64MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http2_connection_window: Option<Setting<WindowBytes>>,

    /// Connect to HOST:PORT instead of the URL's; Host header and TLS name stay
    #[arg(long, value_name = "HOST:PORT", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connect_to: Option<Setting<HostPort>>,

    /// Send from this address; several are taken in turn (repeatable)
    #[arg(long, value_name = "IP", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source_ip: Vec<Setting<std::net::IpAddr>>,

    /// Connect to this Unix socket instead of the URL's host
    #[arg(long, value_name = "PATH", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_socket: Option<String>,

    /// Send through this proxy: http://[user:password@]HOST:PORT (CONNECT for https), socks5:// or socks5h:// (names are looked up by the proxy)
    // The doc comment is help text; its brackets are no link.
    #[allow(rustdoc::broken_intra_doc_links)]
    #[arg(long, value_name = "URL", help_heading = "Connection")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,

    /// Start without first opening one connection to see whether the server is there
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Connection")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_preflight: bool,

    /// Accept any certificate; recorded in the result
    #[arg(short = 'k', long, action = ArgAction::SetTrue, help_heading = "TLS")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,

    /// Trust the issuers in this PEM file instead of the system's
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cacert: Option<String>,

    /// Show this client certificate (PEM, with --key)
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cert: Option<String>,

    /// The client certificate's private key (PEM)
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,

    /// Ask for and expect this name in the TLS handshake [default: the URL's host]
    #[arg(long, value_name = "NAME", help_heading = "TLS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sni: Option<String>,

    /// Speak only this TLS version: 1.2 or 1.3 [default: either]
    #[arg(long, value_name = "VERSION", help_heading = "TLS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_version: Option<Setting<TlsVersion>>,

    /// Whether new connections resume the TLS sessions of earlier ones: on or off [default: off]
    #[arg(long, value_name = "WORD", help_heading = "TLS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_resumption: Option<Setting<Resumption>>,
}

/// A list that stands over another, if it has anything.
pub(crate) fn list<T>(under: Vec<T>, over: Vec<T>) -> Vec<T> {
    if over.is_empty() { under } else { over }
}

impl Draft {
    /// Every file this draft names, with the setting that names it. Standard input (`@-`) is none.
    pub fn files(&self) -> impl Iterator<Item = (SettingName, &str)> {
        let bodies = [(DATA, self.data.as_deref()), (JSON, self.json.as_deref()), (MESSAGE, self.message.as_deref())];
        let bodies = bodies.into_iter().filter_map(|(setting, text)| Some((setting, text?.strip_prefix('@')?)));
        let uploads = self.form.iter().filter_map(|field| {
            let file = field.split_once('=')?.1.strip_prefix('@')?;
            Some((FORM, file.split_once(";type=").map_or(file, |(path, _)| path)))
        });
        let tls = [(CACERT, &self.cacert), (CERT, &self.cert), (KEY, &self.key)];
        let tls = tls.into_iter().filter_map(|(setting, path)| Some((setting, path.as_deref()?)));
        let script = self.script.as_deref().map(|path| (SCRIPT, path));
        let urls = self.urls.as_deref().map(|path| (URLS, path));
        let scenario = self.scenario.as_deref().map(|path| (SCENARIO, path));
        let described = self.descriptors.as_deref().map(|path| (DESCRIPTORS, path));
        bodies
            .chain(described)
            .chain(uploads)
            .chain(tls)
            .chain(script)
            .chain(urls)
            .chain(scenario)
            .filter(|(_, path)| !path.is_empty() && *path != "-")
    }

    /// This draft with everything `over` says put in its place, as flags go over a saved plan.
    /// Lists are replaced where `over` has any; headers are replaced by name.
    #[must_use]
    pub fn overlaid(self, over: Self) -> Self {
        fn header_name(line: &str) -> String {
            line.split([':', ';']).next().unwrap_or_default().trim().to_ascii_lowercase()
        }
        // A body given anew takes the place of the old one, of whatever kind that was.
        let new_body = over.data.is_some() || over.json.is_some() || !over.form.is_empty() || over.message.is_some();
        let new_described = !over.proto.is_empty() || over.descriptors.is_some();
        let new_load = over.rate.is_some() || over.duration.is_some() || over.requests.is_some();
        let new_target = over.url.is_some();
        // Servers belong to the file or the URL that they were named with.
        let mut also_target = if new_target { Vec::new() } else { self.also_target };
        also_target.extend(over.also_target.into_iter().filter(|more| !also_target.contains(more)).collect::<Vec<_>>());
        let mut dropped: Vec<String> = over.header.iter().map(|line| header_name(line)).collect();
        if new_body {
            dropped.extend(["content-type".to_owned(), "content-length".to_owned()]);
        }
        if new_target {
            dropped.push("host".to_owned());
        }
        if over.user.is_some() || over.bearer.is_some() {
            dropped.push("authorization".to_owned());
        }
        if !over.cookie.is_empty() {
            dropped.push("cookie".to_owned());
        }
        let mut header: Vec<String> = self.header.into_iter().filter(|line| !dropped.contains(&header_name(line))).collect();
        header.extend(over.header);
        Self {
            url: over.url.or(self.url),
            connections: over.connections.or(self.connections),
            duration: over.duration.or(if new_load { None } else { self.duration }),
            requests: over.requests.or(if new_load { None } else { self.requests }),
            rate: over.rate.or(self.rate),
            arrivals: over.arrivals.or(self.arrivals),
            seed: over.seed.or(self.seed),
            pause: over.pause.or(self.pause),
            warmup: over.warmup.or(self.warmup),
            threads: over.threads.or(self.threads),
            processes: over.processes.or(self.processes),
            method: over.method.or(self.method),
            header,
            data: if new_body { over.data } else { self.data },
            json: if new_body { over.json } else { self.json },
            form: if new_body { over.form } else { self.form },
            message: if new_body { over.message } else { self.message },
            proto: if new_described { over.proto } else { self.proto },
            proto_path: list(self.proto_path, over.proto_path),
            descriptors: if new_described { over.descriptors } else { self.descriptors },
            message_deflate: over.message_deflate || self.message_deflate,
            user: over.user.or(self.user),
            bearer: over.bearer.or(self.bearer),
            cookie: list(self.cookie, over.cookie),
            script: over.script.or(self.script),
            sandbox: over.sandbox || self.sandbox,
            script_arguments: list(self.script_arguments, over.script_arguments),
            // A URL given anew takes the place of a list.
            urls: over.urls.or(if new_target { None } else { self.urls }),
            data_file: list(self.data_file, over.data_file),
            expect: list(self.expect, over.expect),
            data_order: over.data_order.or(self.data_order),
            data_end: over.data_end.or(self.data_end),
            no_templates: over.no_templates || self.no_templates,
            scenario: over.scenario.or(self.scenario),
            also_target,
            compressed: over.compressed || self.compressed,
            expect_continue: over.expect_continue || self.expect_continue,
            follow: over.follow.or(self.follow),
            stream: over.stream.or(self.stream),
            event_data: over.event_data.or(self.event_data),
            tokens: over.tokens.or(self.tokens),
            stream_for: over.stream_for.or(self.stream_for),
            timeout: over.timeout.or(self.timeout),
            connect_timeout: over.connect_timeout.or(self.connect_timeout),
            no_keepalive: over.no_keepalive || self.no_keepalive,
            http: over.http.or(self.http),
            streams: over.streams.or(self.streams),
            http2_stream_window: over.http2_stream_window.or(self.http2_stream_window),
            http2_connection_window: over.http2_connection_window.or(self.http2_connection_window),
            connect_to: over.connect_to.or(self.connect_to),
            source_ip: list(self.source_ip, over.source_ip),
            unix_socket: over.unix_socket.or(self.unix_socket),
            proxy: over.proxy.or(self.proxy),
            no_preflight: over.no_preflight || self.no_preflight,
            insecure: over.insecure || self.insecure,
            cacert: over.cacert.or(self.cacert),
            cert: over.cert.or(self.cert),
            key: over.key.or(self.key),
            sni: over.sni.or(self.sni),
            tls_version: over.tls_version.or(self.tls_version),
            tls_resumption: over.tls_resumption.or(self.tls_resumption),
        }
    }
}
