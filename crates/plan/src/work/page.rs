//! What a browser does around a request: it loads what a page names, and keeps what it was answered.

use std::num::NonZeroU32;

/// Which of what a page names is loaded behind it, as a browser does: pictures, scripts, style sheets, frames, and what those name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resources {
    /// So many at once, each over a connection of its own.
    pub at_once: NonZeroU32,
    /// Those in whose URL this regular expression is found; `None`: all.
    pub only: Option<String>,
    /// None of those in whose URL this one is found.
    pub except: Option<String>,
    /// Whether they are a part of the page: loaded whatever the checks of its step say, and one that fails is a failure of that.
    pub are_part: bool,
}

impl Resources {
    /// So many at once where nothing is said, as browsers have it for one server.
    pub const AT_ONCE: NonZeroU32 = NonZeroU32::new(6).unwrap();
}

impl Default for Resources {
    fn default() -> Self {
        Self { at_once: Self::AT_ONCE, only: None, except: None, are_part: false }
    }
}

/// What users know of answers that they have had, and do with that: what is fresh is not asked for again, and of what is not they ask
/// whether it has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// Each user knows so many answers, those that it had last.
    pub at_most: NonZeroU32,
    /// Whether they ask about what is fresh, too, and do not look at how long that is.
    pub always_ask: bool,
    /// Whether requests of all methods ask whether what is known of their URL has changed, and not those of GET and HEAD alone.
    pub all_methods: bool,
    /// Which of a user's caches it is, from 1: each knows its own answers.
    pub number: u16,
}

impl Cache {
    /// So many answers where nothing is said.
    pub const AT_MOST: NonZeroU32 = NonZeroU32::new(1000).unwrap();
}

impl Default for Cache {
    fn default() -> Self {
        Self { at_most: Self::AT_MOST, always_ask: false, all_methods: false, number: 1 }
    }
}
