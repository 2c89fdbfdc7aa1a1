//! A plan as it is written down: with a result, without secrets; or for another process, with everything.
//!
//! Both say what was decided as it would be typed, by one function, so that neither can forget a setting that the other has. What is
//! written with a result names its files and leaves secrets out. What another process is to carry out holds both: it cannot open files
//! that are here, and has nobody to ask for a password. It is for a wire, and never for a file.
//!
//! Invariant: a plan that was encoded and decoded is the same plan.

use serde::{Deserialize, Serialize};

use std::num::NonZeroU32;

use crate::plan::{ACCEPT_ENCODING, EXPECT_CONTINUE, texts};
use crate::secret::{self, REDACTED};
use crate::template::is_templated;
use crate::{
    Amount, Body, Confinement, Connection, Contents, Draft, FormValue, HttpVersion, Keepalive, Load, LoadRecord, MessageSource, Nanos,
    Plan, PlanErrors, PopulationDraft, Preflight, Resolved, Resumption, SaidOfVariables, ScenarioFile, Scheme, ScriptFile, Setting,
    Sources, Spelling, Stages, Templating, Tls, Variation, Verification, Warmup, WindowBytes,
};

/// What becomes of secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Secrecy {
    /// They are written.
    Kept,
    /// `***` stands in their place.
    LeftOut,
}

impl Secrecy {
    fn of(self, text: &str, without: impl FnOnce(&str) -> String) -> String {
        if self == Self::Kept { text.to_owned() } else { without(text) }
    }
}

/// Of another version nothing is understood.
const VERSION: u32 = 2;

/// A plan with everything it takes to carry it out but what its files hold.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    version: u32,
    load: LoadRecord,
    environment: Vec<(String, String)>,
    secrets: Vec<String>,
}

/// Why a text is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DecodeError {
    /// It is not what [`Plan::encode`] writes.
    #[error("the plan is damaged: {0}")]
    Damaged(String),
    /// It was written by another version of the program.
    #[error("the plan is of version {0}, and this is version {VERSION}: use the same loadline on both sides")]
    Version(u32),
    /// What it asks for is impossible.
    #[error("{}", .0.spelt(Spelling::KEYS))]
    Refused(PlanErrors),
}

impl Plan {
    /// All of the plan, its secrets included, but what its files hold ([`Plan::contents`]), which goes beside it: for another process, and
    /// never to be saved.
    #[must_use]
    pub fn encode(&self) -> String {
        let Variation { environment, concealed, .. } = &self.variation;
        let whole = Whole {
            version: VERSION,
            load: self.clone().record(Secrecy::Kept),
            environment: environment.clone(),
            secrets: concealed.clone(),
        };
        serde_json::to_string(&whole).expect("texts and numbers are JSON")
    }

    /// The plan that [`Plan::encode`] wrote, with what its files hold.
    ///
    /// # Errors
    /// If the text is damaged, of another version, or no valid plan.
    pub fn decode(text: &str, contents: Contents) -> Result<Self, DecodeError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let damaged = |why: serde_json::Error| DecodeError::Damaged(why.to_string());
        let Version { version } = serde_json::from_str(text).map_err(damaged)?;
        if version != VERSION {
            return Err(DecodeError::Version(version));
        }
        let Whole { version: _, load, environment, secrets } = serde_json::from_str(text).map_err(damaged)?;
        Self::try_from(Resolved { environment, secrets, contents, ..Resolved::from(load) }).map_err(DecodeError::Refused)
    }
}

/// Without secrets, and without what files hold.
impl From<Plan> for LoadRecord {
    fn from(plan: Plan) -> Self {
        plan.record(Secrecy::LeftOut)
    }
}

/// Stages that end with a number of requests have no length to write.
fn as_typed<V: Amount>(stages: &Stages<V>, duration: Option<Nanos>) -> Stages<V> {
    let mut stages = stages.stages().to_vec();
    if let Some(last) = stages.last_mut().filter(|_| duration.is_none()) {
        last.length = None;
    }
    Stages::new(stages)
}

impl Plan {
    /// Everything that was decided, as it would be typed.
    fn record(self, secrecy: Secrecy) -> LoadRecord {
        let Plan {
            target,
            request,
            load,
            duration,
            requests,
            iterations: _,
            iterations_per_user: _,
            warmup,
            seed,
            threads,
            processes,
            connection,
            script,
            scenario,
            also,
            variation,
            stream,
            event_data,
            tokens,
            stream_for,
            compressed,
            expect_continue,
            replay,
            messages: MessageSource { protos, folders, descriptors },
            contents: _,
        } = self;
        let scenario_name = scenario.as_ref().and_then(|file| file.name.clone());
        let connections_each = scenario.as_ref().map(|file| file.connections_each).filter(|each| each.get() > 1);
        let (scenario, scenario_sha256, scenario_text, said) = match scenario {
            None => (None, None, None, SaidOfVariables::default()),
            Some(ScenarioFile { text: Some(text), said, .. }) => {
                let text = if secrecy == Secrecy::LeftOut { secret::text_without(&text, &variation.concealed) } else { text };
                (None, None, Some(text), said)
            }
            Some(ScenarioFile { path, sha256, text: None, said, .. }) => (Some(path), sha256, None, said),
        };
        let SaidOfVariables { environment, environment_sha256, names: variable_names } = said;
        let Connection {
            timeout,
            connect_timeout,
            keepalive,
            connect_to,
            source_ips,
            unix_socket,
            proxy,
            follow,
            preflight,
            http,
            streams,
            message_deflate,
            stream_window,
            connection_window,
            tls: Tls { verification, cacert, identity, sni, version, resumption },
        } = connection;
        let populations = match &load {
            Load::Mixed(populations) => populations.iter().map(PopulationDraft::from).collect(),
            Load::Closed { .. } | Load::Open { .. } => Vec::new(),
        };
        let (connections, rate, arrivals, pause) = match load {
            Load::Closed { users, pause } => (Some(as_typed(&users, duration)), None, None, pause),
            Load::Open { timetable, spacing, connections_max } => {
                (Some(connections_max.into()), Some(as_typed(&timetable, duration)), Some(spacing), None)
            }
            Load::Mixed(_) => (None, None, None, None),
        };
        let typed_duration =
            if rate.is_some() || connections.as_ref().is_some_and(|users| !users.is_one_number()) { None } else { duration };

        let braces_matter = secrecy == Secrecy::Kept
            || texts(&target, &request, &variation).any(|(_, text)| is_templated(text))
            || variation.mix.is_some()
            || matches!(request.body, Body::File(_));
        let Variation { braces, files, order, end, mix, body: _, expects, environment: _, concealed: _ } = variation;
        let (urls, urls_sha256, urls_at_url) = mix.map_or((None, None, false), |mix| (Some(mix.path), mix.sha256, mix.at_url));
        let data_order = (!files.is_empty()).then_some(Setting::Value(order));
        let data_end = (!files.is_empty()).then_some(Setting::Value(end));
        let data_file_sha256 = files.iter().map(|file| file.sha256.clone()).collect::<Option<Vec<String>>>().unwrap_or_default();
        let data_file = files.iter().map(ToString::to_string).collect();
        let has = |name: &str| request.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let mut header: Vec<String> = request
            .headers
            .iter()
            .filter(|(name, _)| !(matches!(request.body, Body::Form { .. }) && name.eq_ignore_ascii_case("content-type")))
            .map(|(name, value)| {
                if value.is_empty() {
                    format!("{name};")
                } else {
                    format!("{name}: {}", secrecy.of(value, |value| secret::header_without(name, value)))
                }
            })
            .collect();
        let scheme = target.scheme();
        let is_http = !scheme.is_websocket() && !scheme.is_grpc();
        let by_itself = [
            ("Host", true),
            ("User-Agent", true),
            ("Accept", !scheme.is_grpc()),
            (ACCEPT_ENCODING.0, compressed),
            (EXPECT_CONTINUE.0, expect_continue),
        ];
        header.extend(by_itself.iter().filter(|(name, is_sent)| *is_sent && !has(name)).map(|(name, _)| format!("{name}:")));
        if request.body != Body::Empty && is_http && !has("content-type") {
            header.push("Content-Type:".to_owned());
        }

        let (mut data, mut message, mut form) = (None, None, Vec::new());
        match request.body {
            Body::Empty => {}
            Body::Bytes(bytes) => data = Some(secrecy.of(&String::from_utf8_lossy(&bytes), secret::body_without)),
            Body::File(path) => data = Some(format!("@{path}")),
            Body::Form { parts, .. } => {
                form = parts
                    .into_iter()
                    .map(|part| match part.value {
                        FormValue::Text(text) => {
                            format!("{}={}", part.name, secrecy.of(&text, |text| secret::field_without(&part.name, text)))
                        }
                        FormValue::File { path, media_type } => format!("{}=@{path};type={media_type}", part.name),
                    })
                    .collect();
            }
        }
        if !is_http {
            message = data.take();
        }
        let (cert, key) = identity.map_or((None, None), |identity| (Some(identity.cert), Some(identity.key)));
        let (script, script_arguments, sandbox, script_sha256) = match script {
            None => (None, Vec::new(), false, None),
            Some(ScriptFile { path, arguments, confinement, sha256 }) => {
                (Some(path), arguments, confinement == Confinement::Sandbox, sha256)
            }
        };

        let is_https = target.scheme() == Scheme::Https;
        let draft = Draft {
            url: Some(if secrecy == Secrecy::Kept { target.absolute() } else { target.to_string() }),
            connections: connections.map(Setting::Value),
            duration: typed_duration.map(Setting::Value),
            requests: requests.map(Setting::Value),
            rate: rate.map(Setting::Value),
            arrivals: arrivals.map(Setting::Value),
            seed: Some(Setting::Value(seed)),
            pause: pause.map(Setting::Value),
            warmup: (warmup != Warmup::Lasting(Nanos::ZERO)).then_some(Setting::Value(warmup)),
            threads: Some(Setting::Value(threads)),
            processes: processes.map(Setting::Value),
            method: Some(request.method),
            script,
            sandbox,
            script_arguments,
            urls,
            data_file,
            expect: expects,
            data_order,
            data_end,
            no_templates: braces == Templating::Text && braces_matter,
            scenario,
            header,
            data,
            json: None,
            form,
            message,
            proto: protos,
            proto_path: folders,
            descriptors,
            message_deflate,
            user: None,
            bearer: None,
            cookie: Vec::new(),
            also_target: also.written(),
            compressed,
            expect_continue,
            follow: Some(Setting::Value(follow)),
            stream: stream.map(Setting::Value),
            event_data: event_data.map(Setting::Value),
            tokens: tokens.map(Setting::Value),
            stream_for: stream_for.map(Setting::Value),
            timeout: Some(Setting::Value(timeout)),
            connect_timeout: Some(Setting::Value(connect_timeout)),
            no_keepalive: keepalive == Keepalive::CloseEach,
            http: (http != HttpVersion::V1 || is_https).then_some(Setting::Value(http)),
            streams: NonZeroU32::new(streams).filter(|_| http != HttpVersion::V1).map(Setting::Value),
            http2_stream_window: Some(stream_window).filter(|window| *window != WindowBytes::OF_STREAM).map(Setting::Value),
            http2_connection_window: Some(connection_window).filter(|window| *window != WindowBytes::OF_CONNECTION).map(Setting::Value),
            connect_to: connect_to.map(Setting::Value),
            source_ip: source_ips.into_iter().map(Setting::Value).collect(),
            unix_socket,
            proxy: proxy.map(|proxy| {
                let user = proxy.authorization.as_deref().map(|basic| secrecy.of(basic, |_| REDACTED.to_owned()));
                proxy.written(user)
            }),
            no_preflight: preflight == Preflight::Skip,
            insecure: verification == Verification::Off,
            cacert,
            cert,
            key,
            sni,
            tls_version: version.map(Setting::Value),
            tls_resumption: (resumption == Resumption::On).then_some(Setting::Value(resumption)),
        };
        let sources = Sources {
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
        };
        LoadRecord { draft, sources }
    }
}

#[cfg(test)]
mod tests;
