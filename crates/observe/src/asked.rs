//! What `--observe` asks for, as it is written.

use std::fmt;
use std::str::FromStr;

use plan::SshHost;
use url::Url;

use crate::process::Pid;

/// One thing to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObserveTarget {
    /// Whatever listens where the load goes, if that is on this machine.
    Auto,
    /// Nothing.
    None,
    /// A process and all it started.
    Pid(Pid),
    /// Whatever listens on this port of this machine.
    Port(u16),
    /// Every process in a cgroup.
    Cgroup(String),
    /// A container, by its id or the beginning of it.
    Container(String),
    /// A page of metrics.
    Prometheus(Url),
    /// Whatever listens on the target's port of another machine.
    Ssh(SshHost),
}

/// What can be asked for, as it stands in the help.
pub const FORMS: &str = "auto, none, pid:N, port:N, cgroup:PATH, container:ID, prometheus:URL or ssh:[USER@]HOST[:PORT]";

/// Fewer digits of a container's id may mean several.
const ID_DIGITS_MIN: usize = 6;

impl FromStr for ObserveTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |what: &str| format!("'{text}' has no {what} after the colon");
        match (kind, rest) {
            ("auto", "") => Ok(Self::Auto),
            ("none", "") => Ok(Self::None),
            ("pid", _) => match rest.parse() {
                Ok(pid) if pid > 0 => Ok(Self::Pid(pid)),
                _ => Err(number("process number")),
            },
            ("port", _) => match rest.parse() {
                Ok(port) if port > 0 => Ok(Self::Port(port)),
                _ => Err(number("port between 1 and 65535")),
            },
            ("cgroup", path) if !path.trim_matches('/').is_empty() => {
                if path.split('/').any(|part| part == "..") {
                    return Err(format!("'{text}' leads out of where cgroups are mounted"));
                }
                Ok(Self::Cgroup(path.to_owned()))
            }
            ("cgroup", _) => Err(number("path such as system.slice/nginx.service")),
            ("container", id) if id.len() >= ID_DIGITS_MIN && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) => {
                Ok(Self::Container(id.to_owned()))
            }
            ("container", _) => Err(format!(
                "'{text}' does not hold a container's id: at least {ID_DIGITS_MIN} hexadecimal digits, as docker ps or crictl ps lists it"
            )),
            ("prometheus", port) if is_number(port) => {
                Err(format!("'{text}' names no host; of this machine it is prometheus:127.0.0.1:{port}"))
            }
            ("prometheus", url) => {
                let written = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
                let mut url = Url::parse(&written).map_err(|why| format!("'{text}' holds no URL: {why}"))?;
                if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
                    return Err(format!("'{text}' holds no http or https URL"));
                }
                if url.path() == "/" && url.query().is_none() {
                    url.set_path("/metrics");
                }
                Ok(Self::Prometheus(url))
            }
            ("ssh", to) => SshHost::read(to).map(Self::Ssh).ok_or_else(|| number("host such as ssh:root@web1")),
            _ => Err(match meant(text) {
                Some(meant) => format!("'{text}' does not say what it is: {meant}"),
                None => format!("'{text}' is not one of {FORMS}"),
            }),
        }
    }
}

/// Whether it is digits and nothing else.
pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What someone may have meant who left out the word before the colon.
fn meant(text: &str) -> Option<String> {
    if is_number(text) {
        return Some(format!("a process is pid:{text}, and whoever listens on a port port:{text}"));
    }
    if text.starts_with("http://") || text.starts_with("https://") {
        return Some(format!("a page of metrics is prometheus:{text}"));
    }
    if text.starts_with('/') {
        return Some(format!("a cgroup is cgroup:{text}"));
    }
    let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
    if text.contains('@') {
        return Some(format!("another machine is ssh:{text}"));
    }
    (is_number(port) && !host.is_empty() && !host.contains(':') && !KINDS.contains(&host))
        .then(|| format!("a page of metrics is prometheus:{text}, and whoever listens on a port of this machine port:{port}"))
}

/// The words before the colon.
const KINDS: [&str; 8] = ["auto", "none", "pid", "port", "cgroup", "container", "prometheus", "ssh"];

impl fmt::Display for ObserveTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Pid(pid) => write!(f, "pid:{pid}"),
            Self::Port(port) => write!(f, "port:{port}"),
            Self::Cgroup(path) => write!(f, "cgroup:{path}"),
            Self::Container(id) => write!(f, "container:{id}"),
            Self::Prometheus(url) => {
                // Whatever opens the endpoint is not written down.
                let mut shown = url.clone();
                let _ = shown.set_password(None).and_then(|()| shown.set_username(""));
                if shown.query().is_some() {
                    shown.set_query(None);
                }
                write!(f, "prometheus:{shown}")
            }
            Self::Ssh(host) => host.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_printed_again() {
        for text in [
            "auto",
            "none",
            "pid:812",
            "port:8080",
            "cgroup:system.slice/nginx.service",
            "container:0123456789ab",
            "prometheus:http://127.0.0.1:9100/metrics",
            "ssh:web1",
            "ssh:root@web1:2222",
        ] {
            assert_eq!(text.parse::<ObserveTarget>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_endpoint_is_completed_and_its_password_is_not_printed() {
        let asked: ObserveTarget = "prometheus:localhost:9100".parse().unwrap();
        assert_eq!(asked.to_string(), "prometheus:http://localhost:9100/metrics");
        let asked: ObserveTarget = "prometheus:https://me:secret@host/x?token=abc".parse().unwrap();
        assert_eq!(asked.to_string(), "prometheus:https://host/x");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("", "is not one of"),
            ("pid", "no process number"),
            ("pid:0", "no process number"),
            ("pid:abc", "no process number"),
            ("port:70000", "no port"),
            ("cgroup:", "no path"),
            ("cgroup:../../etc", "leads out"),
            ("container:web", "docker ps"),
            ("prometheus:ftp://x", "no http"),
            ("prometheus:", "URL"),
            ("ssh:", "no host"),
            ("ssh:-oProxyCommand=evil", "no host"),
            ("ssh:user@", "no host"),
            ("ssh:a b", "no host"),
            ("nonsense", "is not one of"),
            ("auto:1", "is not one of"),
            ("8080", "pid:8080, and whoever listens on a port port:8080"),
            ("localhost:9100", "prometheus:localhost:9100, and whoever listens on a port of this machine port:9100"),
            ("http://localhost:9100", "prometheus:http://localhost:9100"),
            ("/system.slice/nginx.service", "cgroup:/system.slice/nginx.service"),
            ("me@web1", "ssh:me@web1"),
            ("prometheus:9100", "prometheus:127.0.0.1:9100"),
        ] {
            let error = text.parse::<ObserveTarget>().expect_err(text);
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}
