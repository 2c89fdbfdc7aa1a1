//! Which programs asked, by what they call themselves: browsers, robots, tools.
//!
//! A load that is to be like people's should not be like that of crawlers, which may be a tenth of a log and ask for what no person does.
//! What a program calls itself need not be true; robots that say that they are robots are most of them, and these are named. Whole
//! lists of known agents were the alternative: long, never complete, and for the names of new robots of no use.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::names::{NameCount, NameCounts, Names};

/// As many names of browsers are known again: a megabyte of them.
const BROWSERS_MAX: usize = 4096;

/// Words in the names of robots.
const ROBOTS: [&[u8]; 9] = [b"bot", b"crawl", b"spider", b"slurp", b"archiver", b"facebookexternalhit", b"monitor", b"scanner", b"preview"];
/// How programs that are no browsers begin.
const TOOLS: [&[u8]; 18] = [
    b"curl/",
    b"wget/",
    b"python",
    b"go-http-client",
    b"java/",
    b"okhttp",
    b"axios",
    b"node",
    b"apache-httpclient",
    b"libwww-perl",
    b"ruby",
    b"php",
    b"guzzlehttp",
    b"postmanruntime",
    b"k6/",
    b"wrk",
    b"hey/",
    b"loadline",
];

/// The programs of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Agents {
    /// Requests whose program is logged.
    pub requests: u64,
    /// Of them, those of robots that say so.
    pub robots: u64,
    /// Those of programs that are no browsers, such as curl.
    pub tools: u64,
    /// Robots and tools as they call themselves, without their versions, most first; the first ten.
    pub listed: Vec<NameCount>,
}

/// Counts programs.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    requests: u64,
    robots: u64,
    tools: u64,
    names: Names,
    /// Programs that are neither: a log has thousands of lines of each, and looking through all of a name takes longer than the rest of its line.
    browsers: FxHashSet<Box<[u8]>>,
}

impl Counter {
    #[inline]
    pub(crate) fn add(&mut self, agent: Option<&[u8]>) {
        let Some(agent) = agent else { return };
        self.requests += 1;
        if self.browsers.contains(agent) {
            return;
        }
        let name = if let Some(name) = robot(agent) {
            self.robots += 1;
            name
        } else if TOOLS.iter().any(|tool| agent.len() >= tool.len() && agent[..tool.len()].eq_ignore_ascii_case(tool)) {
            self.tools += 1;
            product(agent)
        } else {
            if self.browsers.len() < BROWSERS_MAX {
                self.browsers.insert(agent.into());
            }
            return;
        };
        self.names.add(name);
    }

    pub(crate) fn counted(self) -> AgentCounts {
        let Self { requests, robots, tools, names, browsers: _ } = self;
        AgentCounts { requests, robots, tools, names: names.counted() }
    }
}

/// Programs that were counted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct AgentCounts {
    pub(crate) requests: u64,
    robots: u64,
    tools: u64,
    names: NameCounts,
}

impl AgentCounts {
    pub(crate) fn absorb(&mut self, other: Self) {
        self.requests += other.requests;
        self.robots += other.robots;
        self.tools += other.tools;
        self.names.absorb(other.names);
    }

    pub(crate) fn adds_up(&self) -> bool {
        self.robots.saturating_add(self.tools) <= self.requests && self.names.requests() <= self.requests
    }

    pub(crate) fn finish(self) -> Option<Agents> {
        let Self { requests, robots, tools, names } = self;
        (requests > 0).then(|| Agents { requests, robots, tools, listed: names.listed() })
    }
}

/// What a robot calls itself; `None` of what does not say that it is one.
fn robot(agent: &[u8]) -> Option<&[u8]> {
    let is_robot = |word: &[u8]| ROBOTS.iter().any(|robot| word.windows(robot.len()).any(|part| part.eq_ignore_ascii_case(robot)));
    // Most are browsers, whose names have none of these words.
    if !is_robot(agent) {
        return None;
    }
    let words = agent.split(|letter| matches!(letter, b' ' | b';' | b'(' | b')' | b',' | b'+'));
    // The address of a page about a robot may be all that says so.
    let named = |word: &&[u8]| is_robot(product(word)) && memchr::memmem::find(word, b"://").is_none() && !word.starts_with(b"www.");
    Some(words.clone().find(named).map_or_else(|| product(agent), product))
}

/// A name without its version.
fn product(word: &[u8]) -> &[u8] {
    let ends = word.iter().position(|letter| matches!(letter, b'/' | b' ')).unwrap_or(word.len());
    &word[..ends.min(40)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_are_named_as_they_call_themselves() {
        let mut counter = Counter::default();
        for agent in [
            "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/103",
            "Mozilla/5.0 (Linux; Android 6.0.1) Chrome/41 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
            "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
            "curl/8.5.0",
            "python-requests/2.31",
            "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0",
        ] {
            counter.add(Some(agent.as_bytes()));
        }
        counter.add(None);
        let agents = counter.counted().finish().unwrap();
        assert_eq!((agents.requests, agents.robots, agents.tools), (7, 4, 2));
        let names: Vec<(&str, u64)> = agents.listed.iter().map(|agent| (agent.name.as_str(), agent.requests)).collect();
        assert_eq!(names, [("Googlebot", 2), ("bingbot", 1), ("curl", 1), ("facebookexternalhit", 1), ("python-requests", 1)]);
        assert_eq!(Counter::default().counted().finish(), None);
    }
}
