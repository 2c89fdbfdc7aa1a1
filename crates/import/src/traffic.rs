//! What a log says about the traffic: the result, as reports write it.

use serde::{Deserialize, Serialize};

use crate::agents::Agents;
use crate::course::TrafficTimeline;
use crate::entry::Reason;
use crate::referers::Referers;
use crate::sample::Targets;
use crate::scrub::Personal;
use crate::took::Times;
use crate::unpacked::Compression;
use crate::users::Users;

/// The version of the keys.
pub const SCHEMA: &str = "loadline.traffic/1";

/// The traffic in some logs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Traffic {
    /// The version of these keys.
    pub schema: &'static str,
    /// What was read.
    pub files: Vec<File>,
    /// Lines of all files, or entries of HAR files.
    pub lines: u64,
    /// Those that tell of a request.
    pub requests: u64,
    /// Those that do not, by reason.
    pub unread: Vec<Unread>,
    /// Whether personal values stand in this result.
    pub personal: Personal,
    /// When how much came. `None` without a request.
    pub course: Option<TrafficTimeline>,
    /// By status; 0 where the client went away before there was one.
    pub statuses: Vec<StatusCount>,
    /// Bytes of answers, where logged.
    pub bytes: u64,
    /// How long answers took on the server, where logged.
    pub took: Option<Times>,
    /// By route, most first.
    pub routes: Vec<Route>,
    /// Requests whose route is not listed, since there are too many.
    pub others: Option<Route>,
    /// By user, where addresses are logged.
    pub users: Option<Users>,
    /// Which programs asked, where their names are logged.
    pub agents: Option<Agents>,
    /// Which servers' pages led to requests, where that is logged.
    pub referers: Option<Referers>,
    /// What a reader must know besides.
    pub remarks: Vec<String>,
    /// So many values in what routes were asked for stand in the place of others that look personal or secret.
    #[serde(skip)]
    pub stand_ins: u64,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// As given.
    pub name: String,
    /// How it was packed.
    pub packed: Compression,
    /// Its form: a name of `--log-format`, or `the given format`. `None` where it is empty or nothing known reads it.
    pub form: Option<String>,
    /// Whether the form is a guess.
    pub guessed: bool,
    /// Its lines.
    pub lines: u64,
    /// Those that tell of a request.
    pub requests: u64,
    /// Its bytes, unpacked.
    pub bytes_read: u64,
    /// Why it was not read to its end.
    pub ended_early: Option<String>,
}

/// Lines that tell of no request, for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Why.
    pub reason: Reason,
    /// How many.
    pub lines: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

/// A line that tells of no request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Its file.
    pub file: String,
    /// Its number, from 1.
    pub line: u64,
    /// How it begins, without personal values.
    pub text: String,
}

/// How many had a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct StatusCount {
    /// The status.
    pub status: u16,
    /// How many.
    pub requests: u64,
}

/// A route.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Route {
    /// `GET`; empty for others.
    pub method: String,
    /// `/users/{id}`.
    pub path: String,
    /// Its requests.
    pub requests: u64,
    /// Of all requests, from 0 to 1.
    pub share: f64,
    /// With all routes above it, from 0 to 1.
    pub cumulative_share: f64,
    /// By status.
    pub statuses: Vec<StatusCount>,
    /// Bytes of its answers.
    pub bytes: u64,
    /// How long it took, where logged.
    pub took: Option<Times>,
    /// What it was asked for, where that was wanted.
    #[serde(skip)]
    pub targets: Option<Targets>,
}

impl Route {
    /// Requests with a status from 400 on.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.statuses.iter().filter(|it| it.status >= 400).map(|it| it.requests).sum()
    }
}

impl Traffic {
    /// Lines that tell of no request.
    #[must_use]
    pub fn unread_lines(&self) -> u64 {
        self.unread.iter().map(|it| it.lines).sum()
    }
}
