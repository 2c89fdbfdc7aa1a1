//! A plan, decided from a load: every setting in its turn, and every mistake told.

use std::net::IpAddr;
use std::num::NonZeroU32;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::grpc::read_calls;
use crate::load_settings::{Ending, LoadWords, read_load, read_populations};
use crate::plan::{
    CONNECT_TIMEOUT_DEFAULT, Connection, HttpVersion, Identity, Keepalive, Plan, Preflight, SCENARIO_TEXT, STREAMS_DEFAULT,
    SaidOfVariables, ScenarioFile, StreamForm, THREADS_MAX, TIMEOUT_DEFAULT, Tls, TlsVersion, Verification, texts,
};
use crate::proxy::read_proxy;
use crate::reading::Reading;
use crate::request_settings::{
    HeaderWords, ScriptWords, UrlsWords, read_body, read_data_files, read_headers, read_method, read_script, read_targets, read_templates,
};
use crate::setting::{
    CACERT, CERT, CHECK, COMPRESSED, CONNECT_TIMEOUT, CONNECT_TO, DATA, DATA_END, DATA_FILE, DATA_ORDER, DURATION, EVENT_DATA, EXPECT,
    EXPECT_CONTINUE, FOLLOW, FORM, HTTP, HTTP2_CONNECTION_WINDOW, HTTP2_STREAM_WINDOW, INSECURE, JSON, KEY, MESSAGE, MESSAGE_DEFLATE,
    METHOD, NO_TEMPLATES, PROCESSES, PROXY, RATE, REQUESTS, SCENARIO, SCRIPT, SEED, SNI, SOURCE_IP, STREAM, STREAM_FOR, STREAMS,
    SettingName, THREADS, TIMEOUT, TLS_RESUMPTION, TLS_VERSION, TOKENS, UNIX_SOCKET, URLS,
};
use crate::template::is_templated;
use crate::{
    Also, Body, Draft, Load, LoadRecord, MessageSource, Nanos, PlanErrors, Request, Resolved, Resumption, RowOrder, Scheme, Setting,
    Sources, Spelling, Templating, TokenCount, Variation, WindowBytes,
};

/// Of a load of which nothing was read: that names no files, or a saved one that is only looked at.
impl TryFrom<Draft> for Plan {
    type Error = PlanErrors;

    fn try_from(draft: Draft) -> Result<Self, PlanErrors> {
        Self::try_from(Resolved::from(draft))
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut record = LoadRecord::deserialize(deserializer)?;
        // What is saved says so where it is another one; older files say nothing, and what they tell of spoke this.
        record.draft.http.get_or_insert(Setting::Value(HttpVersion::V1));
        Self::try_from(record).map_err(|errors| D::Error::custom(errors.spelt(Spelling::KEYS)))
    }
}

/// Of a load of which nothing was read: a saved one that is only looked at.
impl TryFrom<LoadRecord> for Plan {
    type Error = PlanErrors;

    fn try_from(record: LoadRecord) -> Result<Self, PlanErrors> {
        Self::try_from(Resolved::from(record))
    }
}

/// Complains of what has no place beside messages over WebSocket.
fn read_websocket(r: &mut Reading, given: &[(bool, SettingName)], has_message: bool) {
    for (_, setting) in given.iter().filter(|(given, _)| *given) {
        let help = if [DATA, JSON, FORM].contains(setting) { format!("give {MESSAGE}") } else { format!("leave {setting} out") };
        r.wrong(*setting, format!("{setting} is about HTTP, and the URL is one of WebSocket"), help);
    }
    if !has_message {
        r.wrong(
            MESSAGE,
            "the URL is one of WebSocket, and there is no message to send",
            format!("give one, such as {MESSAGE:#} '{{\"n\":1}}'"),
        );
    }
}

impl TryFrom<Resolved> for Plan {
    type Error = PlanErrors;

    fn try_from(resolved: Resolved) -> Result<Self, PlanErrors> {
        let Resolved { draft, sources, contents, environment: variables, secrets } = resolved;
        let Sources {
            script_sha256,
            urls_sha256,
            urls_at_url,
            data_file_sha256,
            scenario_sha256,
            scenario_text,
            scenario_name,
            connections_each,
            environment,
            environment_sha256,
            variable_names,
            populations,
            replay,
        } = sources;
        let Draft {
            url,
            connections,
            duration,
            requests,
            rate,
            arrivals,
            seed,
            pause,
            warmup,
            threads,
            processes,
            method,
            header,
            data,
            json,
            form,
            message,
            proto,
            proto_path,
            descriptors,
            message_deflate,
            user,
            bearer,
            cookie,
            script,
            sandbox,
            script_arguments,
            urls,
            data_file,
            expect,
            data_order,
            data_end,
            no_templates,
            scenario,
            also_target,
            compressed,
            expect_continue,
            follow,
            stream,
            event_data,
            tokens,
            stream_for,
            timeout,
            connect_timeout,
            no_keepalive,
            http,
            streams,
            http2_stream_window,
            http2_connection_window,
            connect_to,
            source_ip,
            unix_socket,
            proxy,
            no_preflight,
            insecure,
            cacert,
            cert,
            key,
            sni,
            tls_version,
            tls_resumption,
        } = draft;
        let mut reading = Reading { errors: PlanErrors::default() };
        let r = &mut reading;

        if scenario.is_some() && scenario_text.is_some() {
            r.wrong(SCENARIO, "a scenario is given as a file and as text", "leave one of them out");
        }
        if scenario.is_some() || scenario_text.is_some() {
            for (given, flag) in [
                (script.is_some(), SCRIPT),
                (urls.is_some(), URLS),
                (data.is_some(), DATA),
                (json.is_some(), JSON),
                (!form.is_empty(), FORM),
                (message.is_some(), MESSAGE),
                (method.is_some() && method.as_deref() != Some("GET"), METHOD),
                (no_templates, NO_TEMPLATES),
                (!expect.is_empty(), EXPECT),
            ] {
                if given {
                    r.wrong(flag, format!("{flag} and a scenario contradict: what is sent stands in its steps"), "leave one of them out");
                }
            }
            if rate.is_some() && requests.is_some() {
                r.wrong(
                    REQUESTS,
                    format!("{REQUESTS} and the {RATE} of a scenario contradict: the rate starts journeys, each with as many requests as it takes"),
                    format!("end the load with {DURATION}"),
                );
            }
        }
        let connections_each = connections_each.unwrap_or(NonZeroU32::MIN);
        let scenario = match (scenario, scenario_text) {
            (Some(path), _) => {
                let said = SaidOfVariables { environment, environment_sha256, names: variable_names };
                Some(ScenarioFile { path, name: scenario_name, sha256: scenario_sha256, text: None, said, connections_each })
            }
            (None, Some(text)) => {
                let (path, said) = (SCENARIO_TEXT.to_owned(), SaidOfVariables::default());
                Some(ScenarioFile { path, name: scenario_name, sha256: None, text: Some(text), said, connections_each })
            }
            (None, None) => None,
        };

        let braces = if no_templates { Templating::Text } else { Templating::Template };
        let files = read_data_files(r, &data_file, data_file_sha256);
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let mut wrong = Vec::new();
        let also = Also::read(&also_target, &mut wrong);
        wrong.into_iter().for_each(|error| r.errors.push(error));
        let urls_given = urls.is_some();
        let list = urls.map(|path| {
            let lines = contents.text(&path).map(|text| text.lines().map(str::to_owned).collect());
            UrlsWords { path, sha256: urls_sha256, lines, elsewhere: urls_at_url.then_some(&also) }
        });
        let (target, mix) = read_targets(r, url.as_deref(), list, &names, braces);
        let seed = r.value(SEED, seed, format_args!("give a whole number, such as {SEED:#} 1")).unwrap_or(1);

        let ending = Ending { duration, requests };
        let words = LoadWords { connections, rate, arrivals, pause, warmup };
        let (load, duration, requests, warmup) = if populations.is_empty() {
            read_load(r, ending, words)
        } else {
            if scenario.is_none() {
                r.wrong(
                    "populations",
                    "populations go through the journeys of a scenario, and there is none",
                    format!("name it with {SCENARIO}"),
                );
            }
            read_populations(r, ending, words, populations)
        };
        let threads = r.value(THREADS, threads, format_args!("give a whole number, such as {THREADS:#} 2")).unwrap_or(NonZeroU32::MIN);
        if threads.get() > THREADS_MAX {
            r.wrong(
                THREADS,
                format!("{THREADS:#} {threads} is more than {THREADS_MAX}"),
                format!("one thread a core is enough; leave {THREADS} out"),
            );
        }

        let processes = r.value(PROCESSES, processes, format_args!("give a whole number, such as {PROCESSES:#} 4"));
        if let Some(processes) = processes.filter(|processes| *processes > threads) {
            r.wrong(
                PROCESSES,
                format!("{PROCESSES:#} {processes} is more than {THREADS:#} {threads}, and each process has a thread at least"),
                format!("give {THREADS:#} {processes}, or leave {THREADS} out"),
            );
        }

        let is_websocket = target.as_ref().is_some_and(|target| target.scheme().is_websocket());
        let is_grpc = target.as_ref().is_some_and(|target| target.scheme().is_grpc());
        if let Some(target) = target.as_ref().filter(|_| is_grpc) {
            let given = [
                (!form.is_empty(), FORM),
                (method.as_deref().is_some_and(|method| !["GET", "POST"].contains(&method)), METHOD),
                (script.is_some(), SCRIPT),
                (scenario.is_some(), SCENARIO),
                (urls_given, URLS),
                (stream.as_ref().is_some_and(|form| !matches!(form, Setting::Value(StreamForm::Auto))), STREAM),
                (event_data.is_some(), EVENT_DATA),
                (tokens.as_ref().is_some_and(|count| !matches!(count, Setting::Value(TokenCount::Events))), TOKENS),
                (compressed, COMPRESSED),
                (expect_continue, EXPECT_CONTINUE),
                (http.as_ref().is_some_and(|http| !matches!(http, Setting::Value(HttpVersion::V2))), HTTP),
                (follow.as_ref().is_some_and(|follow| !matches!(follow, Setting::Value(0))), FOLLOW),
            ];
            let messages = [(message.is_some(), MESSAGE), (data.is_some(), DATA), (json.is_some(), JSON)];
            read_calls(r, target, (&given, braces), &messages);
            if replay.is_some() {
                r.wrong("url", "a log is sent again over HTTP, and the URL is one of gRPC", "write http:// or https://");
            }
        } else if is_websocket {
            read_websocket(
                r,
                &[
                    (data.is_some(), DATA),
                    (json.is_some(), JSON),
                    (!form.is_empty(), FORM),
                    (method.as_deref().is_some_and(|method| method != "GET"), METHOD),
                    (script.is_some(), SCRIPT),
                    (stream.is_some(), STREAM),
                    (compressed, COMPRESSED),
                    (expect_continue, EXPECT_CONTINUE),
                    (http.as_ref().is_some_and(|http| !matches!(http, Setting::Value(HttpVersion::V1))), HTTP),
                    (follow.as_ref().is_some_and(|follow| !matches!(follow, Setting::Value(0))), FOLLOW),
                ],
                message.is_some() || scenario.is_some(),
            );
            if replay.is_some() {
                r.wrong("url", "a log is sent again over HTTP, and the URL is one of WebSocket", "write http:// or https://");
            }
        } else if message.is_some() && scenario.is_none() && target.is_some() {
            r.wrong(
                MESSAGE,
                format!("{MESSAGE} is sent over WebSocket or gRPC, and the URL is not ws://, wss://, grpc:// or grpcs://"),
                format!("send it with {DATA}"),
            );
        }
        let described = MessageSource { protos: proto, folders: proto_path, descriptors };
        if target.is_some() {
            described.judge(r, is_grpc || scenario.is_some());
        }
        if message_deflate && !is_websocket && scenario.is_none() && target.is_some() {
            r.wrong(
                MESSAGE_DEFLATE,
                format!("{MESSAGE_DEFLATE} is about messages over WebSocket, and the URL is not ws:// or wss://"),
                format!("leave {MESSAGE_DEFLATE} out"),
            );
        }
        let body = read_body(r, data.or(message), json.clone(), &form, seed);
        let method = if is_websocket {
            "GET".to_owned()
        } else if is_grpc {
            "POST".to_owned()
        } else {
            read_method(r, method, &body)
        };
        let credentials = target.as_ref().and_then(|target| target.credentials().cloned());
        let headers = read_headers(
            r,
            &HeaderWords { header, user, bearer, cookie, credentials, json: json.is_some(), compressed, expect_continue, braces },
            target.as_ref(),
            if is_websocket || is_grpc { &Body::Empty } else { &body },
        );

        if expect_continue && body == Body::Empty && scenario.is_none() && replay.is_none() {
            r.wrong(
                EXPECT_CONTINUE,
                format!("{EXPECT_CONTINUE} is about requests with a body, and there is none"),
                format!("give one with {DATA}, or leave {EXPECT_CONTINUE} out"),
            );
        }

        let timeout = r.value(TIMEOUT, timeout, format_args!("give a time, such as {TIMEOUT:#} 30s")).unwrap_or(TIMEOUT_DEFAULT);
        let connect_timeout = r
            .value(CONNECT_TIMEOUT, connect_timeout, format_args!("give a time, such as {CONNECT_TIMEOUT:#} 5s"))
            .unwrap_or(CONNECT_TIMEOUT_DEFAULT);
        for (setting, value) in [(TIMEOUT, timeout), (CONNECT_TIMEOUT, connect_timeout)] {
            if value == Nanos::ZERO {
                r.wrong(setting, format!("{setting} is zero, so every request would fail"), format!("give a time, such as {setting:#} 5s"));
            }
        }
        let connect_to =
            r.value(CONNECT_TO, connect_to, format_args!("give the address to connect to, such as {CONNECT_TO:#} 10.0.0.7:8080"));
        let source_ips: Vec<IpAddr> = source_ip
            .into_iter()
            .filter_map(|ip| r.value(SOURCE_IP, Some(ip), format_args!("give an address of this machine, such as {SOURCE_IP:#} 10.0.0.2")))
            .collect();
        let follow = r.value(FOLLOW, follow, format_args!("give a whole number up to 255, such as {FOLLOW:#} 5")).unwrap_or(0);
        let stream =
            r.value(STREAM, stream, format_args!("give {STREAM:#} sse, {STREAM:#} lines, {STREAM:#} json-lines or {STREAM:#} auto"));
        let event_data = r.value(EVENT_DATA, event_data, format_args!("give a path such as {EVENT_DATA:#} '$.choices[0].delta.content'"));
        if event_data.is_some() && stream.is_none() {
            r.wrong(EVENT_DATA, format!("{EVENT_DATA} is about the events of answers that stream"), format!("add {STREAM:#} auto"));
        }
        let tokens = r.value(TOKENS, tokens, format_args!("give {TOKENS:#} words, {TOKENS:#} usage or {TOKENS:#} '$.usage.output_tokens'"));
        let stream_for = r.value(STREAM_FOR, stream_for, format_args!("give a time, such as {STREAM_FOR:#} 30s"));
        let tokens = tokens.filter(|tokens| *tokens != TokenCount::Events);
        for (setting, given) in [(TOKENS, tokens.is_some()), (STREAM_FOR, stream_for.is_some())] {
            if given && stream.is_none() {
                r.wrong(setting, format!("{setting} is about answers that stream"), format!("add {STREAM:#} auto"));
            }
        }
        if tokens == Some(TokenCount::Words) && event_data.is_none() {
            r.wrong(
                TOKENS,
                format!("{TOKENS:#} words counts words of a text, and no {EVENT_DATA} says where it is"),
                format!("add {EVENT_DATA:#} '$.choices[0].delta.content'"),
            );
        }
        if stream_for == Some(Nanos::ZERO) {
            r.wrong(STREAM_FOR, format!("{STREAM_FOR} is zero"), format!("give a time, such as {STREAM_FOR:#} 30s"));
        }
        let order = r.value(DATA_ORDER, data_order, format_args!("give {DATA_ORDER:#} in-order, random or per-user"));
        let end = r.value(DATA_END, data_end, format_args!("give {DATA_END:#} wrap, stop, stop-user, mark or error"));
        for (setting, given) in [(DATA_ORDER, order.is_some()), (DATA_END, end.is_some())] {
            if given && files.is_empty() {
                r.wrong(setting, format!("{setting} is about data files, and there is none"), format!("name one with {DATA_FILE}"));
            }
        }
        let rows = (order.unwrap_or_default(), end.unwrap_or_default());
        let proxy = read_proxy(r, proxy);
        if let Some(path) = &unix_socket {
            for (given, flag) in [(connect_to.is_some(), CONNECT_TO), (proxy.is_some(), PROXY), (!source_ips.is_empty(), SOURCE_IP)] {
                if given {
                    r.wrong(UNIX_SOCKET, format!("{UNIX_SOCKET:#} {path} and {flag} both say how to connect"), "leave one of them out");
                }
            }
        }
        if connect_to.is_some() && proxy.is_some() {
            r.wrong(CONNECT_TO, format!("{CONNECT_TO} and {PROXY} both say where to connect"), "leave one of them out");
        }

        // Scripts of wrk know HTTP/1.1 alone. Where the URL is wrong, nobody knows.
        let is_offered = script.is_none() && target.as_ref().is_some_and(|target| target.scheme() == Scheme::Https);
        let by_itself = match (is_grpc, is_offered) {
            (true, _) => HttpVersion::V2,
            (false, true) => HttpVersion::Auto,
            (false, false) => HttpVersion::V1,
        };
        let http = r.value(HTTP, http, format_args!("give {HTTP:#} 1.1, {HTTP:#} 2, {HTTP:#} 3 or {HTTP:#} auto")).unwrap_or(by_itself);
        let streams = r.value(STREAMS, streams, format_args!("give a whole number from 1 on, such as {STREAMS:#} 10"));
        if streams.is_some() && http == HttpVersion::V1 {
            r.wrong(
                STREAMS,
                format!("{STREAMS} is about connections of HTTP/2 and HTTP/3"),
                format!("add {HTTP:#} 2 or {HTTP:#} 3, or leave {STREAMS} out"),
            );
        }
        // Unless HTTP/2 or HTTP/3 is wished for, what a server chooses to speak does not change how many connections it sees.
        let streams = streams.map_or(if http.is_to_be_shared() { STREAMS_DEFAULT } else { 1 }, NonZeroU32::get);

        let mut window = |setting: SettingName, given: Option<Setting<WindowBytes>>, by_itself| {
            if given.is_some() && matches!(http, HttpVersion::V1 | HttpVersion::V3) {
                r.wrong(setting, format!("{setting} is about connections of HTTP/2"), format!("add {HTTP:#} 2, or leave {setting} out"));
            }
            r.value(setting, given, format_args!("give a size from 65535 bytes to 2147483647, such as {setting:#} 256KiB"))
                .unwrap_or(by_itself)
        };
        let stream_window = window(HTTP2_STREAM_WINDOW, http2_stream_window, WindowBytes::OF_STREAM);
        let connection_window = window(HTTP2_CONNECTION_WINDOW, http2_connection_window, WindowBytes::OF_CONNECTION);

        let tls_version = r.value(TLS_VERSION, tls_version, format_args!("give {TLS_VERSION:#} 1.2 or 1.3"));
        let resumption = r.value(TLS_RESUMPTION, tls_resumption, format_args!("give {TLS_RESUMPTION:#} on or {TLS_RESUMPTION:#} off"));
        let identity = match (cert, key) {
            (Some(cert), Some(key)) => Some(Identity { cert, key }),
            (None, None) => None,
            (Some(_), None) => {
                r.wrong(CERT, format!("{CERT} is given without its private key"), format!("give the key's PEM file with {KEY}"));
                None
            }
            (None, Some(_)) => {
                r.wrong(KEY, format!("{KEY} is given without its certificate"), format!("give the certificate's PEM file with {CERT}"));
                None
            }
        };
        if insecure && cacert.is_some() {
            r.wrong(INSECURE, format!("{INSECURE} accepts any certificate, and {CACERT} says whom to trust"), "leave one of them out");
        }
        let over_tls = target.as_ref().is_none_or(|target| target.scheme().is_tls()) || follow > 0 || scenario.is_some();
        let scheme = target.as_ref().map_or(Scheme::Http, |target| target.scheme());
        for (given, flag) in [
            (insecure, INSECURE),
            (cacert.is_some(), CACERT),
            (identity.is_some(), CERT),
            (sni.is_some(), SNI),
            (tls_version.is_some(), TLS_VERSION),
            (resumption.is_some(), TLS_RESUMPTION),
        ] {
            if given && !over_tls {
                r.wrong(flag, format!("{flag} is about TLS, and the URL is {scheme}://"), format!("use {scheme}s://, or leave {flag} out"));
            }
        }

        let plain = target.as_ref().is_some_and(|target| matches!(target.scheme(), Scheme::Http | Scheme::Grpc));
        let asks_proxy = plain && proxy.as_ref().is_some_and(|proxy| !proxy.tunnels_all());
        if http == HttpVersion::V3 {
            if scheme == Scheme::Http && target.is_some() {
                let help = format!("write https://, or leave {HTTP} out");
                r.wrong(HTTP, format!("{HTTP:#} 3 goes over QUIC, which is always encrypted, and the URL is http://"), help);
            }
            for (given, setting, why) in [
                (proxy.is_some(), PROXY, "proxies carry TCP, and HTTP/3 goes over UDP"),
                (unix_socket.is_some(), UNIX_SOCKET, "HTTP/3 goes over UDP"),
                (tls_version == Some(TlsVersion::V12), TLS_VERSION, "QUIC has TLS 1.3 built in"),
                (resumption == Some(Resumption::On), TLS_RESUMPTION, "which handshakes of QUIC resume a session cannot be told"),
            ] {
                if given {
                    r.wrong(HTTP, format!("{HTTP:#} 3 and {setting} contradict: {why}"), "leave one of them out");
                }
            }
        }
        if http == HttpVersion::V2 && asks_proxy {
            r.wrong(
                HTTP,
                format!("{HTTP:#} 2 and {PROXY} on plain http contradict: such a proxy is asked in HTTP/1.1"),
                "leave one of them out, or measure https, which goes through a tunnel",
            );
        }
        let script = read_script(r, ScriptWords { script, sandbox, script_arguments, script_sha256 });
        if script.is_some() {
            if http != HttpVersion::V1 {
                r.wrong(
                    HTTP,
                    format!("{HTTP:#} {http} and {SCRIPT} contradict: wrk's scripts write and read HTTP/1.1 as bytes"),
                    format!("leave {HTTP} out"),
                );
            }
            if stream.is_some() {
                r.wrong(
                    STREAM,
                    format!("{STREAM} and {SCRIPT} contradict: a script writes several requests at once and sees every answer itself"),
                    "leave one of them out",
                );
            }
            if follow > 0 {
                r.wrong(FOLLOW, format!("{FOLLOW} and {SCRIPT} contradict: a script sees every answer itself"), "leave one of them out");
            }
            for (given, setting) in [(compressed, COMPRESSED), (expect_continue, EXPECT_CONTINUE)] {
                if given {
                    r.wrong(
                        setting,
                        format!("{setting} and {SCRIPT} contradict: a script writes its requests and reads their answers itself"),
                        "leave one of them out",
                    );
                }
            }
            if asks_proxy {
                r.wrong(
                    PROXY,
                    format!("{PROXY} and {SCRIPT} on plain http contradict: a proxy wants whole URLs, which scripts do not write"),
                    "leave one of them out, or measure https, which goes through a tunnel",
                );
            }
        }

        let request = Request { method, headers, body };
        // What is no text is sent as it is.
        let text_of = |held: &[u8]| std::str::from_utf8(held).ok().filter(|text| is_templated(text)).unwrap_or_default().to_owned();
        let text_of_file = match &request.body {
            Body::File(path) => contents.get(path).map(|held| if braces == Templating::Template { text_of(held) } else { String::new() }),
            Body::Empty | Body::Bytes(_) | Body::Form { .. } => None,
        };
        let variation = Variation {
            braces,
            files,
            order: rows.0,
            end: rows.1,
            mix,
            body: text_of_file,
            expects: expect,
            environment: variables,
            concealed: secrets,
        };
        if scenario.is_none() {
            read_templates(r, target.as_ref(), &request, &variation);
        }
        if !variation.expects.is_empty() && (script.is_some() || replay.is_some()) {
            let what = if replay.is_some() { "a replay".to_owned() } else { SCRIPT.to_string() };
            r.wrong(
                EXPECT,
                format!("{EXPECT} and {what} contradict: that looks at the answers itself"),
                format!("leave {EXPECT} out, and hold the whole with {CHECK}, such as {CHECK:#} 'failed < 1%'"),
            );
        }
        let differs = variation.mix.is_some()
            || braces == Templating::Template
                && target.as_ref().is_some_and(|target| texts(target, &request, &variation).any(|(_, text)| is_templated(text)));
        if differs && script.is_some() {
            let (setting, what, help) = if variation.mix.is_some() {
                (URLS, URLS.to_string(), "leave one of them out".to_owned())
            } else {
                let help = format!("leave one of them out, or send {{{{ as it is with {NO_TEMPLATES}");
                (NO_TEMPLATES, "a template ({{…}})".to_owned(), help)
            };
            r.wrong(setting, format!("{SCRIPT} and {what} contradict: a script chooses the requests itself"), help);
        }
        let servers = variation.mix.iter().flat_map(|mix| &mix.routes).map(|route| &route.target);
        if target.is_some() && servers.clone().any(|other| other.scheme().is_websocket() != is_websocket) {
            r.wrong(
                URLS,
                format!("the URLs of {URLS} are of WebSocket and of HTTP, and what is sent to one cannot be sent to the other"),
                "make a list and a run for each, or a scenario",
            );
        }
        if follow > 0 && target.as_ref().is_some_and(|target| servers.into_iter().any(|other| !other.same_origin(target))) {
            r.wrong(
                FOLLOW,
                format!("{FOLLOW} and a list of URLs of several servers contradict: redirects begin at the one server of the plan"),
                format!("leave {FOLLOW} out, or make a list and a run for each server"),
            );
        }
        if variation.order == RowOrder::PerUser && load.as_ref().is_some_and(Load::is_open) {
            r.wrong(
                DATA_ORDER,
                format!("{DATA_ORDER:#} per-user is about users, and {RATE} sends requests without any"),
                format!("leave out {RATE}, or take rows in-order or random"),
            );
        }

        match (target, load) {
            (Some(target), Some(load)) if reading.errors.is_empty() => Ok(Self {
                // They are in a header.
                target: target.without_credentials(),
                request,
                variation,
                stream,
                event_data,
                tokens,
                stream_for,
                compressed,
                expect_continue,
                replay,
                messages: described,
                load,
                duration,
                requests,
                iterations: None,
                iterations_per_user: None,
                warmup,
                seed,
                threads,
                processes,
                connection: Connection {
                    timeout,
                    connect_timeout,
                    message_deflate,
                    keepalive: if no_keepalive { Keepalive::CloseEach } else { Keepalive::Reuse },
                    connect_to,
                    source_ips,
                    unix_socket,
                    proxy,
                    follow,
                    http,
                    streams,
                    stream_window,
                    connection_window,
                    preflight: if no_preflight { Preflight::Skip } else { Preflight::Connect },
                    tls: Tls {
                        verification: if insecure { Verification::Off } else { Verification::On },
                        cacert,
                        identity,
                        sni,
                        version: tls_version,
                        resumption: resumption.unwrap_or_default(),
                    },
                },
                script,
                scenario,
                also,
                contents,
            }),
            _ => Err(reading.errors),
        }
    }
}
