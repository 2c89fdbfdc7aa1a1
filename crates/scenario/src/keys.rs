//! The keys of a scenario file, as one table.
//!
//! The reader, the schema for editors and the guide all say which keys there are. Written three times, two of them would be
//! wrong after the next change; so they are made from this table, and a key that is not in it is refused.

/// What stands after a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text, which may hold templates where it is sent.
    Text,
    /// A whole number.
    Whole,
    /// A number of users, or how many there are in stages.
    Users,
    /// A number of 0 or more.
    Number,
    /// `true` or `false`.
    Truth,
    /// Anything.
    Any,
    /// A text, or one after the other.
    Texts,
    /// Names and their texts.
    Named,
    /// Names and what each is.
    NamedOf(&'static [Kind]),
    /// A mapping with keys of its own.
    Shape(&'static Shape),
    /// A list of such mappings.
    Shapes(&'static Shape),
    /// One of these.
    Either(&'static [Kind]),
    /// One of these, or some of them, one after the other.
    AnyOf(&'static [Kind]),
}

/// A key, what stands after it, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What stands after it.
    pub kind: Kind,
    /// What it is for, in words that complete its name.
    pub about: &'static str,
}

/// A mapping with keys of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Shape {
    /// What it is called in the schema.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Its keys, in the order of the guide.
    pub keys: &'static [Key],
}

const fn key(name: &'static str, kind: Kind, about: &'static str) -> Key {
    Key { name, kind, about }
}

/// All mappings, the file itself first.
pub const SHAPES: &[&Shape] = &[
    &SCENARIO,
    &DATA,
    &LOAD,
    &POPULATION,
    &DEFAULTS,
    &RESOURCES,
    &CACHE,
    &JOURNEY,
    &STEP,
    &EXTRACTION,
    &CHECKS,
    &AUTH,
    &LOGIN,
    &API_KEY,
    &AWS,
    &FIELD,
    &BODY_FILE,
    &FOR_EACH,
    &CHOICE,
    &CASE,
    &SCRIPT,
];

/// The file itself.
pub static SCENARIO: Shape = Shape {
    name: "scenario",
    about: "What users do: where, how many of them, and which journeys they take.",
    keys: &[
        key("name", Kind::Text, "what history and reports call it"),
        key("target", Kind::Text, "the server, such as http://127.0.0.1:8080; paths of steps begin there"),
        key("load", Kind::Shape(&LOAD), "how much, how long: the settings of `loadline run`; flags go over them"),
        key(
            "checks",
            Kind::Texts,
            "what the load must keep to, or the run fails: 'p99 < 200ms', 'step login p95 < 100ms', 'journey buy failed < 1%', 'transaction checkout p99 < 1s', 'status 5xx == 0'",
        ),
        key("variables", Kind::Named, "texts that `{{NAME}}` writes, set anew for each journey unless `keep_variables` says otherwise"),
        key("keep_variables", Kind::Truth, "whether a user's variables keep their values from journey to journey [default: false]"),
        key(
            "each_place",
            Kind::Truth,
            "whether users wait for each other and take turns with those of their own process or machine alone [default: false]",
        ),
        key(
            "data",
            Kind::AnyOf(&[Kind::Text, Kind::Shape(&DATA)]),
            "files of rows, CSV or JSON lines: `{{users.id}}` is the column id of users.csv; each journey has a row",
        ),
        key("data_order", Kind::Text, "the row of a journey: in-order (the default), random or per-user"),
        key(
            "data_end",
            Kind::Text,
            "after the last row: wrap (the default), stop (the load ends), stop-user (each user that wants one goes), mark (columns are <EOF>) or error",
        ),
        key("defaults", Kind::Shape(&DEFAULTS), "what all steps have in common"),
        key("setup", Kind::Shapes(&STEP), "steps done once before the load; what they extract is every user's"),
        key("teardown", Kind::Shapes(&STEP), "steps done once after the load"),
        key(
            "teardown_when_ended",
            Kind::Truth,
            "whether `teardown` is done also where the load was ended before its end, by its users or by whoever started it [default: true]",
        ),
        key("user_teardown", Kind::Shapes(&STEP), "steps done by each user before it goes, such as a log-out; not measured"),
        key("journeys", Kind::Shapes(&JOURNEY), "what users go through, chosen by weight"),
        key("populations", Kind::Shapes(&POPULATION), "kinds of users side by side, each with journeys and a load of its own"),
        key("steps", Kind::Shapes(&STEP), "the steps of the only journey, in place of `journeys`"),
    ],
};

/// A data file with more than its name.
pub static DATA: Shape = Shape {
    name: "data",
    about: "A file of rows, and what is said of it.",
    keys: &[
        key("file", Kind::Text, "where it is"),
        key("name", Kind::Text, "how templates call it [default: the file's name without its ending]"),
        key("columns", Kind::Texts, "the names of its columns, where it has no line with them, or are to be called otherwise; CSV alone"),
        key(
            "header",
            Kind::Truth,
            "whether its first line is one with names, beside `columns` [default: false, unless the names are the same]",
        ),
        key(
            "delimiter",
            Kind::Text,
            "what stands between its fields, one sign or some, such as '|' or '::' [default: , ; or a tab, as is seen]",
        ),
        key("quotes", Kind::Truth, "whether a field may stand in quotation marks; else they are signs like any other [default: true]"),
        key(
            "uneven",
            Kind::Truth,
            "whether a row may have fewer fields than there are columns, which are empty then, or more [default: false]",
        ),
        key("encoding", Kind::Text, "how its letters are written, such as windows-1252 [default: utf-8]"),
        key(
            "for",
            Kind::Text,
            "who takes its rows one after the other: all users together, each population or each user [default: all users]",
        ),
        key("end", Kind::Text, "after its last row: wrap, stop, stop-user, mark or error [default: as `data_end` says]"),
    ],
};

const USERS: Key = key(
    "users",
    Kind::Users,
    "this many users, each on one connection, each beginning its next journey when the last is over; or stages: '0 to 50 for 1m, 50 for 5m'",
);
const CONNECTIONS: Key = key("connections", Kind::Users, "the same; with `rate`, at most this many journeys at once");
const RATE: Key = key(
    "rate",
    Kind::Texts,
    "start journeys at this rate, such as 50/s, whether answered or not; or stages: '0/s to 50/s for 1m, 50/s for 5m'",
);
const ARRIVALS: Key = key("arrivals", Kind::Text, "how journeys stand within the rate: poisson or even");
const PAUSE: Key = key("pause", Kind::Text, "wait after every answer, beside the pauses of steps");
const DURATION: Key = key("duration", Kind::Text, "measure for this long, such as 5m");
const REQUESTS: Key = key("requests", Kind::Whole, "send exactly this many requests, of whatever step; not with `rate`");

/// Settings of one load, which populations have in place of the whole run.
pub(crate) const OF_ONE_LOAD: [Key; 7] = [USERS, CONNECTIONS, RATE, ARRIVALS, PAUSE, REQUESTS, DURATION];

/// Under `load`.
pub static LOAD: Shape = Shape {
    name: "load",
    about: "How much and how long, named as the flags of `loadline run`.",
    keys: &[
        USERS,
        CONNECTIONS,
        RATE,
        ARRIVALS,
        DURATION,
        REQUESTS,
        key("warmup", Kind::Text, "load for this long before measuring, or auto"),
        PAUSE,
        key("seed", Kind::Whole, "of everything drawn by chance"),
        key("threads", Kind::Whole, "generate load with this many threads"),
        key("processes", Kind::Whole, "generate load from this many processes"),
        key("timeout", Kind::Text, "give a request up after this long"),
        key("connect_timeout", Kind::Text, "give up opening a connection after this long"),
        key("no_keepalive", Kind::Truth, "open a new connection for every request"),
        key(
            "proto",
            Kind::Texts,
            "messages of gRPC are described in these .proto files; without any, and without descriptors, the server is asked",
        ),
        key("proto_path", Kind::Texts, "imports of .proto files begin in these folders"),
        key("descriptors", Kind::Text, "messages of gRPC are described in this set of descriptors"),
        key("message_deflate", Kind::Truth, "offer to pack messages over WebSocket (permessage-deflate)"),
        key("http", Kind::Text, "what to speak: 1.1, 2, 3, or auto, as the server chooses (auto with https, else 1.1)"),
        key("streams", Kind::Number, "how many requests share a connection of HTTP/2 or HTTP/3 at once (100 with 2 and 3, 1 with auto)"),
        key("http2_stream_window", SIZE, "how much of an answer a server may send ahead over HTTP/2, such as 64KiB (4MiB)"),
        key("http2_connection_window", SIZE, "how much of all answers on a connection of HTTP/2 (64MiB)"),
        key("compressed", Kind::Truth, "ask for packed answers (gzip, br, zstd, deflate), and count them"),
        key(
            "expect_continue",
            Kind::Truth,
            "send bodies when the server says that it wants them (Expect: 100-continue), or after one second",
        ),
        key("stream", Kind::Text, "measure the events of answers that stream: sse, lines, json-lines, or auto"),
        key("event_data", Kind::Text, "count only events whose JSON has something there, such as $.choices[0].delta.content"),
        key("tokens", Kind::Text, "what a token is: events, words of the text at event_data, or what the answer says: usage, or a path"),
        key(
            "stream_for",
            Kind::Text,
            "listen to an answer that streams for this long, and end it then; one that ends before is asked for again",
        ),
        key("no_preflight", Kind::Truth, "start without looking whether the server is there"),
        key("connect_to", Kind::Text, "connect to HOST:PORT instead of the target's"),
        key("source_ip", Kind::Texts, "send from these addresses"),
        key("unix_socket", Kind::Text, "connect to this Unix socket"),
        key("proxy", Kind::Text, "send through this proxy: http://, socks5:// or socks5h://"),
        key("also_target", Kind::Texts, "servers that redirects may lead to, such as https://login.example.com"),
        key("insecure", Kind::Truth, "accept any certificate"),
        key("cacert", Kind::Text, "trust the issuers in this PEM file"),
        key("cert", Kind::Text, "show this client certificate"),
        key("key", Kind::Text, "the certificate's private key"),
        key("sni", Kind::Text, "ask for this name in the TLS handshake"),
        key("tls_version", Kind::Text, "speak only 1.2 or 1.3"),
        key("tls_resumption", Kind::Text, "whether new connections resume the TLS sessions of earlier ones: on or off (off)"),
    ],
};

/// In bytes, or with a unit.
const SIZE: Kind = Kind::Either(&[Kind::Whole, Kind::Text]);

/// Under `populations`.
pub static POPULATION: Shape = Shape {
    name: "population",
    about: "One kind of users among several that are there at the same time, with a load of its own.",
    keys: &[
        key("name", Kind::Text, "what reports call it"),
        key("journeys", Kind::Texts, "the journeys its users go through, by name [default: all]"),
        USERS,
        CONNECTIONS,
        RATE,
        ARRIVALS,
        PAUSE,
        key("start_after", Kind::Text, "begin this long after the start of the run, such as 30s"),
        key("after", Kind::Text, "begin when all users of this population have gone, which stands before it; both have users, and no rate"),
        Key { about: "be there for this long [default: to the end of the run]", ..DURATION },
        Key { about: "send at most this many requests; with `rate`, begin at most this many journeys", ..REQUESTS },
        key("iterations", Kind::Whole, "begin at most this many journeys, all its users together"),
        key("iterations_per_user", Kind::Whole, "each user begins at most this many journeys, and goes; not with `rate`"),
    ],
};

/// Under `defaults`.
pub static DEFAULTS: Shape = Shape {
    name: "defaults",
    about: "What all steps have in common; a step's own keys go over it.",
    keys: &[
        key("headers", Kind::Named, "headers of every request"),
        key("auth", Kind::Shape(&AUTH), "how every request says who the user is"),
        key("cookies", Kind::Truth, "whether users keep cookies [default: true]"),
        key("redirects", Kind::Whole, "follow up to this many redirects; a followed chain is one request [default: 0]"),
        key("resources", RESOURCES_KIND, "load what pages name as well, as a browser does: true, or which [default: false]"),
        key("encoding", Kind::Text, "how the letters of URLs, forms and bodies are written, such as windows-1252 [default: utf-8]"),
        key("cache", CACHE_KIND, "whether users keep in mind what they were answered, as a browser does: true, or how [default: false]"),
        key("timeout", Kind::Text, "give a request up after this long [default: the `timeout` of `load`]"),
        key("must_succeed", Kind::Truth, "whether a step that fails ends the journey [default: false]"),
        key("failure_ends", Kind::Text, "what a step that fails ends: journey, as `must_succeed` says, user, load or load at once"),
        key("may_fail", Kind::Truth, "whether the journey goes on where a step has no answer, or not what is extracted [default: false]"),
    ],
};

/// Whether, or which.
const RESOURCES_KIND: Kind = Kind::Either(&[Kind::Truth, Kind::Shape(&RESOURCES)]);

/// Whether, or how.
const CACHE_KIND: Kind = Kind::Either(&[Kind::Truth, Kind::Shape(&CACHE)]);

/// Under `cache`.
pub static CACHE: Shape = Shape {
    name: "cache",
    about: "What users know of answers that they have had: what is fresh is not asked for again, and of what is not they ask whether it has changed.",
    keys: &[
        key("at_most", Kind::Whole, "each user knows so many answers, those that it had last [default: 1000]"),
        key(
            "always_ask",
            Kind::Truth,
            "whether they ask about what is fresh, too: Cache-Control and Expires are not looked at [default: false]",
        ),
        key("all_methods", Kind::Truth, "whether requests of all methods ask, and not those of GET and HEAD alone [default: false]"),
        key("number", Kind::Whole, "which of the user's caches it is: each knows its own answers [default: 1]"),
    ],
};

/// Under `resources`.
pub static RESOURCES: Shape = Shape {
    name: "resources",
    about: "Which of what a page names is loaded behind it: pictures, scripts, style sheets, frames, and what those name.",
    keys: &[
        key("at_once", Kind::Whole, "so many at a time, each over a connection of its own [default: 6]"),
        key("only", Kind::Text, "those in whose URL this regular expression is found"),
        key("except", Kind::Text, "none of those in whose URL this one is found"),
        key(
            "part_of_page",
            Kind::Truth,
            "whether they are loaded whatever the checks of the page say, and one that fails ends what a failure of the page ends [default: false]",
        ),
    ],
};

/// Under `journeys`.
pub static JOURNEY: Shape = Shape {
    name: "journey",
    about: "One pass of one user through its steps.",
    keys: &[
        key("name", Kind::Text, "what reports call it"),
        key("weight", Kind::Number, "how often it is chosen, beside the others [default: 1]"),
        key("steps", Kind::Shapes(&STEP), "what is done, in order"),
    ],
};

/// Which message is waited for.
const ANSWER_KIND: Kind = Kind::Either(&[Kind::Text, Kind::Shape(&CHECKS), Kind::Texts]);

/// What is done: a request, or something about others.
pub static STEP: Shape = Shape {
    name: "step",
    about: "A request, a pause, or steps that are grouped, repeated or chosen.",
    keys: &[
        key("get", Kind::Text, "GET this path, or a whole URL of another server"),
        key("post", Kind::Text, "POST to it"),
        key("put", Kind::Text, "PUT to it"),
        key("patch", Kind::Text, "PATCH it"),
        key("delete", Kind::Text, "DELETE it"),
        key("head", Kind::Text, "HEAD of it"),
        key("options", Kind::Text, "OPTIONS of it"),
        key("method", Kind::Text, "another method, with `path`"),
        key("path", Kind::Text, "where to, with `method`"),
        key("connect", Kind::Text, "open a WebSocket to this path, or to a whole URL; one to it that is open is closed before"),
        key(
            "send",
            Kind::Any,
            "send this as a message over WebSocket, a text or JSON, and wait for its answer, the next message unless `answer` says otherwise",
        ),
        key(
            "answer",
            ANSWER_KIND,
            "which message is the answer: next, none, or the first for which these promises hold, such as 'json $.id == {{id}}'",
        ),
        key("receive", ANSWER_KIND, "wait for a message over WebSocket: next, or the first for which these promises hold"),
        key(
            "listen",
            Kind::Text,
            "take for this long what comes over WebSocket, such as 30s: each message is counted, and the time between them",
        ),
        key("ping", Kind::Truth, "send a ping over WebSocket, and wait for its pong"),
        key("close", Kind::Either(&[Kind::Truth, Kind::Whole]), "close the WebSocket: true, or the code that says why, such as 4000"),
        key(
            "grpc",
            Kind::Text,
            "call this method of gRPC, such as package.Service/Method, of the target or in a whole URL (grpc://, grpcs://)",
        ),
        key(
            "message",
            Kind::Any,
            "the message of a call, as YAML or as a text of JSON [default: {}]; a list where the method takes a stream",
        ),
        key("metadata", Kind::Named, "what a call says of itself: headers"),
        key("on", Kind::Text, "which WebSocket, as its `connect` is written [default: the last that was opened above]"),
        key("name", Kind::Text, "what reports call it [default: method and path]; beside `pacing`: places of the same name keep one pace"),
        key("headers", Kind::Named, "headers of this request"),
        key("body", Kind::Either(&[Kind::Text, Kind::Shape(&BODY_FILE)]), "a text, or {file: PATH}"),
        key("json", Kind::Any, "a body of JSON, written as YAML or as text"),
        key("form", Kind::Named, "fields of a form"),
        key(
            "multipart",
            Kind::NamedOf(&[Kind::Text, Kind::Shape(&FIELD)]),
            "fields and files of a multipart form: a text, {file: PATH, type: MEDIA}, or {text: TEXT, headers: …}",
        ),
        key(
            "extract",
            Kind::NamedOf(&[Kind::Text, Kind::Shape(&EXTRACTION)]),
            "variables taken out of the answer, such as token: json $.token; one that is not found ends the journey",
        ),
        key(
            "checks",
            Kind::Either(&[Kind::Shape(&CHECKS), Kind::Texts]),
            "promises about the answer, such as {status: 200, time: '< 500ms'}, or lines such as 'json $.items length > 0'",
        ),
        key(
            "before",
            Kind::AnyOf(&[Kind::Text, Kind::Shape(&SCRIPT)]),
            "run this JavaScript before the request is sent, which it may change: request.path, request.body, request.setHeader(NAME, VALUE)",
        ),
        key(
            "after",
            Kind::AnyOf(&[Kind::Text, Kind::Shape(&SCRIPT)]),
            "run this JavaScript when the answer was read and its values were taken; what it throws ends the journey",
        ),
        key(
            "pause",
            Kind::Text,
            "think afterwards: 2s, 1s..3s, exponential 2s, gaussian 2s 500ms, poisson 300ms or '{{ms}}ms'; alone, a step of its own",
        ),
        key("auth", Kind::Shape(&AUTH), "how this request says who the user is"),
        key("redirects", Kind::Whole, "follow up to this many redirects"),
        key("resources", RESOURCES_KIND, "load what its page names as well, as a browser does: true, or which"),
        key("encoding", Kind::Text, "how the letters of its URL, form or body are written, such as windows-1252"),
        key("cache", CACHE_KIND, "whether its answer, and what its page names, is kept in mind: true, or how"),
        key("cookies", Kind::Truth, "whether it sends the user's cookies and keeps those of its answer [default: true]"),
        key("keep_alive", Kind::Truth, "whether its connection is kept for what comes behind it [default: true]"),
        key("timeout", Kind::Text, "give this request up after this long, such as 2s"),
        key(
            "stream_for",
            Kind::Text,
            "listen to its answer that streams for this long, such as 30s, and end it then [default: the `stream_for` of `load`]",
        ),
        key("maximum_requests", Kind::Whole, "send it at most so often in the whole run; then it is left out"),
        key("must_succeed", Kind::Truth, "whether its failure ends the journey"),
        key("failure_ends", Kind::Text, "what its failure ends: journey, as `must_succeed` says, user, load or load at once"),
        key("may_fail", Kind::Truth, "whether the journey goes on where it has no answer, or not what is extracted"),
        key("once", Kind::Truth, "do it only on a user's first journey; what it extracts and its cookies are kept"),
        key(
            "cookie",
            Kind::Text,
            "keep this cookie, as if a server had set it, such as 'theme=dark' or 'theme=dark; Domain=cdn.test; Path=/img'",
        ),
        key(
            "forget",
            Kind::Text,
            "forget what the user has kept: cookies, its cache, or connections, which it closes; the next request opens one",
        ),
        key(
            "end",
            Kind::Text,
            "end this here: round or loop (the innermost), journey, user (it goes), load, or load at once (what is under way is given up)",
        ),
        key("next_row", Kind::Text, "take the next row of this data file; of a file that is named so, journeys have no row by themselves"),
        key("set", Kind::Named, "variables and what they become, computed one after the other, such as {n: '{{n}} + 1'}"),
        key("script", Kind::Either(&[Kind::Text, Kind::Shape(&SCRIPT)]), "run this JavaScript between requests"),
        key("group", Kind::Text, "a name before those of `steps`"),
        key("repeat", Kind::Text, "do `steps` this many times"),
        key("if", Kind::Text, "do `steps` if this holds, such as '{{status}} == 200 and {{n}} < 9'"),
        key("while", Kind::Text, "do `steps` again as long as this holds"),
        key(
            "as_long_as",
            Kind::Text,
            "do `steps` once, and leave them where this does not hold any more: it is looked at before each of them",
        ),
        key("for_each", Kind::Shape(&FOR_EACH), "do `steps` for each of a list"),
        key("pick", Kind::Shapes(&CHOICE), "do one of these, by chance"),
        key("switch", Kind::Text, "do one of `cases`, by what this is, such as '{{kind}}'"),
        key("cases", Kind::Shapes(&CASE), "what `switch` chooses from"),
        key("interleave", Kind::Shapes(&STEP), "do one of these each time, in turn; several belong together below `steps:`"),
        key("random_order", Kind::Shapes(&STEP), "do all of these, in another order each time; several belong together below `steps:`"),
        key(
            "parallel",
            Kind::Shapes(&STEP),
            "do all of these at the same time; several belong together, one after the other, below `steps:`",
        ),
        key("at_once", Kind::Whole, "do at most this many branches of `parallel` at a time [default: all]"),
        key("share", Kind::Text, "do `steps` in a share of the iterations, such as 30%, or in the first of them, such as 500 times"),
        key(
            "per_user",
            Kind::Truth,
            "whether each user counts turns and shares for itself [default: false: all users of the process together]",
        ),
        key(
            "run_for",
            Kind::Text,
            "do `steps` again until this long after their first request, such as 30s; looked at before each of them",
        ),
        key(
            "pacing",
            Kind::Text,
            "wait here until this long after the user's last time here, such as 10s, or at a rate, such as 120/m, or one that changes over the load, such as 0/s to 50/s for 1m, 50/s for 5m; first in a journey: its pace",
        ),
        key("of", Kind::Text, "who keeps the pace of `pacing` together: each user [default], population or all users"),
        key("together", Kind::Whole, "this many users go on at each time of a `pacing` that they keep together [default: 1]"),
        key("catch_up", Kind::Truth, "whether times of `pacing` that passed while nobody came are made up for [default: false]"),
        key("transaction", Kind::Text, "time `steps` as one, in a row of this name: what their requests take together"),
        key("include_pauses", Kind::Truth, "whether a transaction's time runs through the pauses as well [default: false]"),
        key(
            "only_row",
            Kind::Truth,
            "whether a transaction has the only row in a file of rows (`jtl`), and its requests have none [default: false]",
        ),
        key("critical_section", Kind::Text, "do `steps` one user at a time in this process; sections of the same name are one"),
        key("rendezvous", Kind::Whole, "wait here until this many users do, and go on together"),
        key("within", Kind::Text, "go on alone after waiting this long at a `rendezvous` [default: with the end of the load]"),
        key("steps", Kind::Shapes(&STEP), "what is grouped, repeated, timed or done if"),
        key("else", Kind::Shapes(&STEP), "what is done if `if` does not hold, or no case has the value"),
    ],
};

/// How a variable is found.
pub static EXTRACTION: Shape = Shape {
    name: "extraction",
    about: "Where a value stands in an answer. One of json, jmespath, regex, header, cookie, css, xpath, digest, body and status.",
    keys: &[
        key("json", Kind::Text, "a JSONPath, such as $.items[0].id; it may end with .length(), .sum(), .min(), .max(), .avg() or .keys()"),
        key("jmespath", Kind::Text, "a JMESPath, such as items[?price > `10`].id"),
        key("regex", Kind::Text, "a regular expression; its first group, or the whole match"),
        key("header", Kind::Text, "a header's name"),
        key("cookie", Kind::Text, "the name of a cookie that the answer sets"),
        key("css", Kind::Text, "a CSS selector; with ::attr(NAME) an attribute, with ::line the text in one line"),
        key("xpath", Kind::Text, "an XPath"),
        key("digest", Kind::Text, "the digest of the body: md5, sha1, sha256, sha384 or sha512"),
        key("body", Kind::Truth, "the whole body"),
        key("status", Kind::Truth, "the status"),
        key(
            "in",
            Kind::Text,
            "where it is looked for: body (the default), unescaped, text, headers, status, message, url, request, request_headers, hops, chain, or a template such as '{{page}}'",
        ),
        key("as", Kind::Text, "what is written of a match of `regex`, such as '$2-$1' [default: its first group]"),
        key(
            "take",
            Kind::Text,
            "of several: first (the default), last, a number from 0, random, every (a JSON array), joined (with commas) or count",
        ),
        key("optional", Kind::Truth, "whether the variable keeps its value if nothing is found, and the journey goes on [default: false]"),
        key("default", Kind::Text, "what it is if nothing is found; the journey then goes on"),
        key("null_is_missing", Kind::Truth, "whether a JSON null counts as nothing found [default: false: it is the text null]"),
    ],
};

/// Promises about an answer.
pub static CHECKS: Shape = Shape {
    name: "checks",
    about: "Promises about the answer; one that is not kept is a failure of its own class. What a value is compared with may be a template.",
    keys: &[
        key("status", Kind::Text, "200, 2xx, '200, 204' or 'not 5xx'; without it, below 400"),
        key("header", Kind::Named, "a header's name and a condition, such as Content-Type: contains json"),
        key("cookie", Kind::Named, "a cookie's name and a condition"),
        key("body", Kind::Text, "a condition on the body, such as contains welcome"),
        key("json", Kind::Named, "a JSONPath and a condition, such as $.items: length > 0"),
        key("jmespath", Kind::Named, "a JMESPath and a condition"),
        key("css", Kind::Named, "a CSS selector and a condition"),
        key("xpath", Kind::Named, "an XPath and a condition"),
        key("digest", Kind::Named, "md5, sha1, sha256, sha384 or sha512, and a condition on that digest of the body, such as md5: == 9a…"),
        key("variable", Kind::Named, "a variable's name and a condition on its value, also one that the step takes out of the answer"),
        key("format", Kind::Text, "what the body is: json or xml"),
        key("headers", Kind::Text, "a condition on the answer's first line and headers, as text"),
        key("message", Kind::Text, "a condition on the words that HTTP has for the status, such as == OK"),
        key("text", Kind::Text, "a condition on what a reader sees of a page"),
        key("unescaped", Kind::Text, "a condition on the body with &amp; and its like as letters"),
        key("url", Kind::Text, "a condition on where the request went, behind redirects"),
        key("request", Kind::Text, "a condition on method, URL and body of the request, as text"),
        key("request_headers", Kind::Text, "a condition on the headers of the request, as text"),
        key("hops", Kind::Text, "a condition on the bodies of the answers along redirects, the last among them"),
        key("chain", Kind::Text, "a condition on the body, and behind it those along redirects"),
        key("size", Kind::Text, "a condition on the bytes of the body, such as '< 10 KiB'"),
        key("headers_size", Kind::Text, "a condition on the bytes of the answer's head"),
        key("total_size", Kind::Text, "a condition on the bytes of the whole answer, as they came"),
        key("time", Kind::Text, "a condition on the response time, such as '< 500ms'"),
        key("failure", Kind::Text, "what rows of requests (`jtl`) say that failed by one of these [default: the condition]"),
        key(
            "answers",
            Kind::Text,
            "which answers these are about: last (the default), parts (each along redirects and of `resources`, if there are any) or all",
        ),
    ],
};

/// How a request says who the user is.
pub static AUTH: Shape = Shape {
    name: "auth",
    about: "How a request says who the user is. One of these.",
    keys: &[
        key("basic", Kind::Shape(&LOGIN), "a name and a password (RFC 7617)"),
        key("bearer", Kind::Text, "a token (RFC 6750)"),
        key("api_key", Kind::Shape(&API_KEY), "a key in a header or the query"),
        key("digest", Kind::Shape(&LOGIN), "a name and a password, answering the server's challenge (RFC 7616)"),
        key("aws", Kind::Shape(&AWS), "a signature of each request, AWS version 4"),
    ],
};

/// Keys of AWS.
pub static AWS: Shape = Shape {
    name: "aws",
    about: "Keys of AWS; the same for all users.",
    keys: &[
        key("access_key", Kind::Text, "the access key, best as {{env NAME}}"),
        key("secret_key", Kind::Text, "the secret key, best as {{env NAME}}"),
        key("session_token", Kind::Text, "the token of temporary keys"),
        key("region", Kind::Text, "such as eu-central-1"),
        key("service", Kind::Text, "such as execute-api"),
    ],
};

/// A name and a password.
pub static LOGIN: Shape = Shape {
    name: "login",
    about: "A name and a password.",
    keys: &[key("user", Kind::Text, "the name"), key("password", Kind::Text, "the password, best as {{env NAME}}")],
};

/// A key in a header or the query.
pub static API_KEY: Shape = Shape {
    name: "api_key",
    about: "A key in a header or the query.",
    keys: &[
        key("header", Kind::Text, "the header's name"),
        key("query", Kind::Text, "or the parameter's name"),
        key("value", Kind::Text, "the key, best as {{env NAME}}"),
    ],
};

/// A file in a form, or a text with more than its name.
pub static FIELD: Shape = Shape {
    name: "field",
    about: "A file in a form, or a text with headers of its own.",
    keys: &[
        key("file", Kind::Text, "where it is"),
        key("type", Kind::Text, "the file's media type [default: application/octet-stream]"),
        key("text", Kind::Text, "a text, in place of `file`"),
        key("headers", Kind::Named, "further headers of its part, such as Content-Transfer-Encoding: 8bit"),
    ],
};

/// A file as the body.
pub static BODY_FILE: Shape = Shape { name: "body_file", about: "A file as the body.", keys: &[key("file", Kind::Text, "where it is")] };

/// A loop over a list.
pub static FOR_EACH: Shape = Shape {
    name: "for_each",
    about: "Which variable goes through which list.",
    keys: &[
        key("variable", Kind::Text, "the variable that holds each"),
        key("in", Kind::Texts, "the list, or a template that writes a JSON array, such as '{{ids}}'"),
    ],
};

/// One of several.
pub static CHOICE: Shape = Shape {
    name: "choice",
    about: "One of several, of which one is done by chance.",
    keys: &[
        key("weight", Kind::Number, "how often it is chosen, beside the others [default: 1]"),
        key("steps", Kind::Shapes(&STEP), "what is done"),
    ],
};

/// One of several, by a value.
pub static CASE: Shape = Shape {
    name: "case",
    about: "One of several, which is done if `switch` has its value.",
    keys: &[
        key("value", Kind::Texts, "the value, or a list of several [default: the number of the case, from 0]"),
        key("steps", Kind::Shapes(&STEP), "what is done"),
    ],
};

/// A program in JavaScript.
pub static SCRIPT: Shape = Shape {
    name: "script",
    about: "JavaScript, and what is said of it where its text does not.",
    keys: &[
        key("text", Kind::Text, "the program: what stands in the body of a function"),
        key("name", Kind::Text, "what errors call it [default: by where it stands]"),
        key(
            "given",
            Kind::Named,
            "texts that it finds as variables of these names, written anew each time, such as {user: '{{users.name}}'}",
        ),
        key("into", Kind::Text, "the variable that holds afterwards what it returns"),
        key("reads", Kind::Texts, "variables that it reads [default: those that stand in vars.get('NAME')]"),
        key("sets", Kind::Texts, "variables that it gives a value [default: those that stand in vars.set('NAME', …)]"),
        key("reads_answer", Kind::Truth, "whether it looks at the answer, which is kept for that [default: whether it names `answer`]"),
        key(
            "reads_request",
            Kind::Truth,
            "whether it looks at the request, which is written first for that [default: whether it reads `request`]",
        ),
        key("may_fail", Kind::Truth, "whether the journey goes on where it throws [default: false]"),
        key("files", Kind::Named, "files that it reads with file('NAME'): what it calls them, and where they are"),
        key("translated", Kind::Truth, "whether `loadline import` made it of another tool's script [default: false]"),
    ],
};
