//! The names of settings that errors speak of, each once.
//!
//! A name is written into a [`Wording`](crate::Wording) between two marks, and becomes a flag or a key where somebody reads it.

use std::fmt;

/// Marks of private use, which no text for people has a reason to hold.
pub(crate) const BEGIN: char = '\u{10fff0}';
pub(crate) const END: char = '\u{10fff1}';
/// Before the second mark: the value of the setting comes next.
pub(crate) const WITH_VALUE: &str = ":";

/// The name of a setting: its flag without dashes. In a [`Wording`](crate::Wording), `{RATE}` is the setting, and `{RATE:#}` stands before its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingName(&'static str);

impl SettingName {
    /// Its flag without dashes.
    #[must_use]
    pub const fn flag(self) -> &'static str {
        self.0
    }

    /// The setting with this flag.
    pub(crate) fn of(flag: &str) -> Option<Self> {
        ALL.iter().copied().find(|setting| setting.0 == flag)
    }
}

impl From<SettingName> for &'static str {
    fn from(setting: SettingName) -> Self {
        setting.0
    }
}

/// Between marks, for a [`Wording`](crate::Wording).
impl fmt::Display for SettingName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = if f.alternate() { WITH_VALUE } else { "" };
        write!(f, "{BEGIN}{}{value}{END}", self.0)
    }
}

macro_rules! settings {
    ($($name:ident = $flag:literal),* $(,)?) => {
        $(#[doc = concat!("`--", $flag, "`")] pub const $name: SettingName = SettingName($flag);)*
        /// All of them.
        pub const ALL: &[SettingName] = &[$($name),*];
    };
}

settings! {
    NATS = "nats", NATS_CREDENTIALS = "nats-creds", NATS_CA = "nats-ca", NATS_NKEY = "nats-nkey", ALLOW_SCRIPTS = "allow-scripts", ALLOW_TARGET = "allow-target",
    ABORT_ON = "abort-on", AGENTS = "agents", AGENT_BINARY = "agent-binary", ADAPTIVE = "adaptive", ALL_LEVELS = "all-levels", ALSO_TARGET = "also-target", ARRIVALS = "arrivals",
    BEARER = "bearer", BUDGET = "budget", CACERT = "cacert", CERT = "cert", CHECK = "check", COMPRESSED = "compressed", CONNECTIONS = "connections",
    CONNECT_TIMEOUT = "connect-timeout", CONNECT_TO = "connect-to", COOKIE = "cookie", COOLDOWN = "cooldown", DATA = "data",
    DATA_END = "data-end", DATA_FILE = "data-file", DATA_ORDER = "data-order", DB = "db", DURATION = "duration",
    ENVIRONMENT = "environment", EVENT_DATA = "event-data", DESCRIPTORS = "descriptors", EXCEPT = "except", EXPECT = "expect", EXPORT = "export", FOLLOW = "follow", FORM = "form", HEADER = "header", HOST = "host", HTTP = "http", INSECURE = "insecure", JSON = "json", KEY = "key", LEVELS = "levels", MARGIN = "margin", MESSAGE = "message", MESSAGE_DEFLATE = "message-deflate", METHOD = "method", NO_PREFLIGHT = "no-preflight", NO_SAVE = "no-save", NO_TEMPLATES = "no-templates", OBSERVE = "observe", ONLY = "only", OPENAPI_SERVER = "openapi-server", PAIRS = "pairs", PAUSE = "pause", PROCESSES = "processes", PROFILE = "profile", PROPERTY = "property", PROTO = "proto", PROTO_PATH = "proto-path", PROXY = "proxy", QUICK = "quick", RATE = "rate", RATES = "rates", RATE_MAX = "rate-max", READY_WITHIN = "ready-within", REPEAT = "repeat", REQUESTS = "requests", SANDBOX = "sandbox", SCENARIO = "scenario", SCRIPT = "script", SEED = "seed", SLO = "slo", SNI = "sni", SOURCE_IP = "source-ip", STREAM = "stream", STREAM_FOR = "stream-for", STREAMS = "streams", TAG = "tag", TARGET = "target", THREADS = "threads", TIMEOUT = "timeout", TLS_VERSION = "tls-version", TOKENS = "tokens", UNIX_SOCKET = "unix-socket", URLS = "urls", EXPECT_CONTINUE = "expect-continue", HTTP2_CONNECTION_WINDOW = "http2-connection-window", HTTP2_STREAM_WINDOW = "http2-stream-window", TLS_RESUMPTION = "tls-resumption",
    USER = "user", VARIABLE = "variable", WARMUP = "warmup", WRITES = "writes",
}
