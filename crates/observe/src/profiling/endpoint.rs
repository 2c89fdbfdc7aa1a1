//! Go's `net/http/pprof`, and whatever else hands out a profile at a URL.
//!
//! Each of its pages has its own idea of time. `profile` samples the processors for so many seconds. `mutex`, `block` and `allocs`
//! count since the program began, and tell what came in so many seconds only if asked to. `heap` and `goroutine` tell what is there at a
//! moment, which is worth knowing at the end of the load.

use std::fmt;
use std::time::{Duration, Instant};

use url::Url;

use super::{RunEnd, Slot, TakenProfile, wait};
use crate::asked::is_number;
use crate::fetch::{self, Client, Limits};

/// Beyond the seconds of the profile itself, an answer may take so long.
const PATIENCE: Duration = Duration::from_secs(15);

/// So long somebody may take to accept a connection before it is doubted that anybody is there.
const PROBED: Duration = Duration::from_secs(1);

/// A page that hands out a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: Url,
    span: Span,
}

/// What of time a profile tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    /// What happened in as many seconds as there are.
    Steady,
    /// What happened in so many.
    Given(u64),
    /// What is there at the end.
    Moment,
}

impl Endpoint {
    /// As it is written: without a scheme it is http, without a path the profile of the processors.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if is_number(text) {
            return Err(format!("'{text}' names no host: of this machine it is 127.0.0.1:{text}; a process is pid:{text}"));
        }
        let written = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let mut url = Url::parse(&written).map_err(|why| format!("'{text}' is neither pid:N nor a URL: {why}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(format!("'{text}' is no http or https URL"));
        }
        url.set_fragment(None);
        if matches!(url.path().trim_end_matches('/'), "" | "/debug/pprof") {
            url.set_path("/debug/pprof/profile");
        }
        let last = url.path().rsplit('/').next().unwrap_or_default().to_owned();
        if last == "trace" {
            return Err(format!("'{text}' is an execution trace, which is no profile; go tool trace shows those"));
        }
        if url.query_pairs().any(|(key, value)| key == "debug" && value != "0") {
            return Err(format!("'{text}' asks for a profile printed for people; leave debug= out"));
        }
        let given = url.query_pairs().find(|(key, _)| key == "seconds").map(|(_, value)| value.into_owned());
        let span = match (given, last.as_str()) {
            (Some(given), _) => match given.parse() {
                Ok(seconds) if (1..=3_600).contains(&seconds) => Span::Given(seconds),
                _ => {
                    return Err(format!("'{text}': seconds={given} is not a whole number from 1 to 3600; leave it out for as many as fit"));
                }
            },
            (None, "profile" | "mutex" | "block" | "allocs") => Span::Steady,
            (None, _) => Span::Moment,
        };
        Ok(Self { url, span })
    }

    /// The page of its locks, where this is Go's of the processors: beside what was worked on, what was waited for.
    pub(super) fn locks(&self) -> Option<Self> {
        let folder = self.url.path().strip_suffix("/profile").filter(|folder| folder.ends_with("/debug/pprof"))?;
        let mut url = self.url.clone();
        url.set_path(&format!("{folder}/mutex"));
        Some(Self { url, span: self.span })
    }

    pub(super) fn take(&self, slot: Slot, begun: Instant, stopped: &RunEnd) -> Result<TakenProfile, String> {
        let (begin, seconds) = match self.span {
            Span::Steady => (slot.begin, slot.seconds),
            Span::Given(seconds) => (slot.begin, seconds),
            Span::Moment => (slot.end(), 0),
        };
        let mut url = self.url.clone();
        if self.span == Span::Steady {
            url.query_pairs_mut().append_pair("seconds", &seconds.to_string());
        }
        let limits = Limits {
            what: "the profile",
            accept: "application/octet-stream, */*;q=0.5",
            time: Duration::from_secs(seconds) + PATIENCE,
            bytes: profile::BYTES_MAX,
        };
        let client = Client::within(url, limits);
        wait(begun, begin, stopped)?;
        let began = Instant::now();
        let bytes = client.read_bytes().map_err(|why| self.explained(why))?;
        Ok(TakenProfile { began, ended: Instant::now(), bytes: Box::new(|| Ok(bytes)) })
    }

    /// Whether anybody is there; nothing is asked.
    pub(super) fn reach(&self) -> Result<(), String> {
        fetch::reach(&self.url, PROBED)
    }

    /// With what to do, where it is known.
    fn explained(&self, why: String) -> String {
        if why.contains("status 404") && self.url.path().starts_with("/debug/pprof") {
            return format!("{why}: a Go program has these pages once it imports net/http/pprof and serves http.DefaultServeMux");
        }
        why
    }
}

impl fmt::Display for Endpoint {
    /// Whatever opens the page is not written down.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.url.clone();
        let _ = shown.set_password(None).and_then(|()| shown.set_username(""));
        shown.set_query(None);
        shown.fmt(f)
    }
}
