//! Which requests of a log are sent, and as what.

use std::fmt;
use std::str::FromStr;

use import::Entry;
use plan::setting::{EXCEPT, HOST, ONLY, WRITES};
use plan::{Nanos, Spacing, Speed, Wording};

use crate::rules::{Pattern, Rewrite};

/// How a log is played.
#[derive(Debug, Clone)]
pub struct Options {
    /// The form of the log, if it is not to be guessed.
    pub form: import::FormChoice,
    /// How many times as fast.
    pub speed: Speed,
    /// From this moment of the log on.
    pub from: Option<Moment>,
    /// Up to this one.
    pub to: Option<Moment>,
    /// Only what one of these means; everything where there is none.
    pub only: Vec<Pattern>,
    /// Nothing that one of these means.
    pub except: Vec<Pattern>,
    /// Only what was asked of these hosts, where there are any.
    pub hosts: Vec<String>,
    /// What becomes of paths: every rule is held against what those before it made.
    pub rewrites: Vec<Rewrite>,
    /// Whether requests that may change something are sent.
    pub writes: Writes,
    /// Whether a client waits for its answers.
    pub clients: Clients,
    /// How lines stand within a second where the log has no finer time.
    pub spacing: Spacing,
    /// The seed of that.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            form: import::FormChoice::default(),
            speed: Speed::LOGGED,
            from: None,
            to: None,
            only: Vec::new(),
            except: Vec::new(),
            hosts: Vec::new(),
            rewrites: Vec::new(),
            writes: Writes::LeftOut,
            clients: Clients::Free,
            spacing: Spacing::Poisson,
            seed: 1,
        }
    }
}

/// Whether requests that may change something are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Only methods that are safe by RFC 9110 §9.2.1.
    LeftOut,
    /// All of them.
    Sent,
}

/// Whether a client's request waits for the answer to its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    /// Requests are sent at their times.
    Free,
    /// One after the other; what waits for another counts as waiting.
    InOrder,
}

/// A moment of a log.
#[derive(Debug, Clone, PartialEq)]
pub enum Moment {
    /// A date and a time, as typed.
    At(String),
    /// A time of day: the first after the log's beginning.
    OfDay(Nanos),
    /// So long after the log's beginning.
    After(Nanos),
}

impl Moment {
    /// In nanoseconds since 1970, of a log that begins there by a clock that is so many seconds before UTC; a time of day is looked
    /// for from `after` on.
    pub(crate) fn resolved(&self, begins_ns: i64, after_ns: i64, offset_s: i32) -> i64 {
        match self {
            Self::At(text) => import::moment(text, offset_s).unwrap_or(begins_ns),
            Self::After(span) => begins_ns.saturating_add(span.0 as i64),
            Self::OfDay(time) => {
                let wall = after_ns + i64::from(offset_s) * SECOND_NS;
                let of_day = wall.rem_euclid(DAY_NS);
                after_ns + (time.0 as i64 - of_day).rem_euclid(DAY_NS)
            }
        }
    }
}

pub(crate) const SECOND_NS: i64 = 1_000_000_000;
const DAY_NS: i64 = 86_400 * SECOND_NS;

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "is no moment such as 2024-01-31T13:55, 13:55 or +10m".to_owned();
        let bare = text.trim();
        if let Some(span) = bare.strip_prefix('+') {
            return span.parse().map(Self::After).map_err(|_| wrong());
        }
        if import::moment(bare, 0).is_some() {
            return Ok(Self::At(bare.to_owned()));
        }
        let parts: Vec<u64> = bare.split(':').map(str::parse::<u64>).collect::<Result<_, _>>().map_err(|_| wrong())?;
        match parts[..] {
            [hour @ 0..24, minute @ 0..60] => Ok(Self::OfDay(Nanos::from_secs(hour * 3600 + minute * 60))),
            [hour @ 0..24, minute @ 0..60, second @ 0..60] => Ok(Self::OfDay(Nanos::from_secs(hour * 3600 + minute * 60 + second))),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(text) => f.write_str(text),
            Self::After(span) => write!(f, "+{span}"),
            Self::OfDay(time) => {
                let seconds = time.0 / 1_000_000_000;
                write!(f, "{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
            }
        }
    }
}

/// Why a request of the log is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOut {
    /// Before or after the wanted span.
    Time,
    /// By `--only` and `--except`.
    Pattern,
    /// Asked of another host.
    Host,
    /// It may change something.
    Write,
    /// It asks for no path: CONNECT, or `OPTIONS *`.
    NoPath,
    /// The connection became another protocol's (101).
    Upgrade,
    /// Its line stands too far behind its time.
    Late,
}

impl LeftOut {
    /// Every reason, in the order of the telling.
    pub const ALL: [Self; 7] = [Self::Time, Self::Pattern, Self::Host, Self::Write, Self::NoPath, Self::Upgrade, Self::Late];

    /// In words that follow a number of requests.
    #[must_use]
    pub fn words(self) -> Wording {
        match self {
            Self::Time => "outside the wanted time".into(),
            Self::Pattern => format!("not wanted by {ONLY} or {EXCEPT}").into(),
            Self::Host => format!("asked of other hosts; {HOST} names those that are sent").into(),
            Self::Write => format!("that may change something; {WRITES} sends them").into(),
            Self::NoPath => "that ask for no path (CONNECT, OPTIONS *)".into(),
            Self::Upgrade => "whose connection changed its protocol (101), such as WebSockets".into(),
            Self::Late => "more than two minutes behind their place in the log; name logs of different times as files of their own".into(),
        }
    }
}

/// The options, with moments and hosts found in the log.
#[derive(Debug, Clone)]
pub(crate) struct Pick {
    pub(crate) options: Options,
    pub(crate) from_ns: i64,
    pub(crate) to_ns: i64,
    pub(crate) hosts: Vec<String>,
}

/// Methods that are safe and can be sent.
const SAFE: [&[u8]; 3] = [b"GET", b"HEAD", b"OPTIONS"];

/// Whether a request of this method has no body unless it says so.
pub(crate) fn is_safe(method: &[u8]) -> bool {
    SAFE.contains(&method)
}

impl Pick {
    /// Path and query of a request that is sent, as they stand in the log.
    #[inline]
    pub(crate) fn look<'a>(&self, entry: &Entry<'a>) -> Result<&'a [u8], LeftOut> {
        if entry.start_ns < self.from_ns || entry.start_ns >= self.to_ns {
            return Err(LeftOut::Time);
        }
        let Some(target) = entry.path_and_query().filter(|_| entry.method != b"CONNECT") else { return Err(LeftOut::NoPath) };
        let Options { only, except, writes, .. } = &self.options;
        let means = |pattern: &Pattern| pattern.means(entry.method, entry.path, target);
        if (!only.is_empty() && !only.iter().any(means)) || except.iter().any(means) {
            return Err(LeftOut::Pattern);
        }
        if !self.hosts.is_empty()
            && !entry.host().is_some_and(|host| self.hosts.iter().any(|wanted| wanted.as_bytes().eq_ignore_ascii_case(host)))
        {
            return Err(LeftOut::Host);
        }
        if *writes == Writes::LeftOut && !is_safe(entry.method) {
            return Err(LeftOut::Write);
        }
        if entry.status == 101 {
            return Err(LeftOut::Upgrade);
        }
        Ok(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_log() {
        // 2000-10-10 22:55:36 by a clock two hours before UTC.
        let begins = 971_211_336 * SECOND_NS;
        let resolved = |text: &str, after: i64| text.parse::<Moment>().unwrap().resolved(begins, after, 7200) / SECOND_NS - 971_211_336;
        assert_eq!(resolved("+10m", begins), 600);
        assert_eq!(resolved("22:56", begins), 24);
        assert_eq!(resolved("22:55", begins), 86_400 - 36, "that of the next day, as today's is over");
        assert_eq!(resolved("01:00:36", begins), 2 * 3600 + 300);
        assert_eq!(resolved("2000-10-10T22:55:46", begins), 10);
        assert_eq!(resolved("2000-10-10T20:55:46Z", begins), 10);
        for text in ["", "soon", "25:00", "12", "+x", "2000-10", "1:2:3:4"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
