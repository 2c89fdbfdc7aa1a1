//! Where numbers go: `prometheus=ADDR`, `otlp=URL`, `influx=URL`.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use plan::Wording;
use plan::setting::EXPORT;
use url::Url;

/// One outlet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// Scrapes are answered at this address.
    Prometheus(SocketAddr),
    /// OpenTelemetry's protocol over HTTP, as Protobuf; the URL is that of `/v1/metrics`.
    Otlp(Url),
    /// Line protocol; the URL is that of the write call, with its database or bucket.
    Influx(Url),
}

/// A destination that is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoDestination {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Wording,
}

impl FromStr for Destination {
    type Err = NoDestination;

    fn from_str(text: &str) -> Result<Self, NoDestination> {
        let (kind, place) = text.split_once('=').unwrap_or((text, ""));
        match kind {
            "prometheus" => place.parse().map(Self::Prometheus).map_err(|_| {
                wrong(
                    format!("'{place}' is no address to answer scrapes at"),
                    format!("give an address and a port of this machine, such as {EXPORT:#} prometheus=127.0.0.1:9464"),
                )
            }),
            "otlp" => {
                let mut url = http(place, &format!("{EXPORT:#} otlp=http://127.0.0.1:4318"))?;
                if matches!(url.path(), "" | "/") {
                    url.set_path("/v1/metrics");
                }
                Ok(Self::Otlp(url))
            }
            "influx" => {
                let url = http(place, &format!("{EXPORT:#} 'influx=http://127.0.0.1:8086/write?db=loadline'"))?;
                if matches!(url.path(), "" | "/") {
                    return Err(wrong(
                        format!("'{}' does not say where to write", shown(&url)),
                        "name the call and the database: /write?db=NAME (version 1), or /api/v2/write?org=ORG&bucket=BUCKET (version 2)",
                    ));
                }
                Ok(Self::Influx(url))
            }
            _ => Err(wrong(format!("there is no exporter '{}'", kind.escape_debug()), "give prometheus=ADDR, otlp=URL or influx=URL")),
        }
    }
}

fn http(place: &str, example: &str) -> Result<Url, NoDestination> {
    match Url::parse(place) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        Ok(url) => Err(wrong(format!("'{}' is no URL of http or https", shown(&url)), format!("give one such as {example}"))),
        Err(why) => Err(wrong(format!("'{}' is no URL: {why}", place.escape_debug()), format!("give one such as {example}"))),
    }
}

fn wrong(message: String, help: impl Into<Wording>) -> NoDestination {
    NoDestination { message, help: help.into() }
}

/// Without user, password and query: those may hold a secret.
fn shown(url: &Url) -> String {
    let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prometheus(address) => write!(f, "prometheus={address}"),
            Self::Otlp(url) => write!(f, "otlp={}", shown(url)),
            Self::Influx(url) => write!(f, "influx={}", shown(url)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_collector_is_sent_to_where_collectors_listen() {
        let read = |text: &str| text.parse::<Destination>().unwrap().to_string();
        assert_eq!(read("otlp=http://collector:4318"), "otlp=http://collector:4318/v1/metrics");
        assert_eq!(read("otlp=https://host/tenant/v1/metrics"), "otlp=https://host/tenant/v1/metrics");
        assert_eq!(read("prometheus=[::1]:9464"), "prometheus=[::1]:9464");
    }

    #[test]
    fn a_secret_in_an_address_is_not_shown() {
        let shown = "influx=http://me:s3cret@host:8086/api/v2/write?bucket=b&token=s3cret".parse::<Destination>().unwrap().to_string();
        assert_eq!(shown, "influx=http://host:8086/api/v2/write");
        let refused = "otlp=ftp://me:s3cret@host/".parse::<Destination>().unwrap_err();
        assert!(!refused.message.contains("s3cret"), "{refused:?}");
    }

    #[test]
    fn what_is_no_destination_is_refused_with_an_example() {
        for (text, said) in [
            ("prometheus=9464", "no address"),
            ("prometheus", "no address"),
            ("otlp=localhost", "no URL"),
            ("influx=http://host:8086", "does not say where to write"),
            ("statsd=host:8125", "no exporter 'statsd'"),
        ] {
            let refused = text.parse::<Destination>().unwrap_err();
            assert!(refused.message.contains(said), "{text}: {refused:?}");
            assert_ne!(refused.help, Wording::default());
        }
    }
}
