//! What `--profile` asks for, as it is written.

use std::fmt;
use std::str::FromStr;

use plan::Wording;
use plan::setting::PROFILE;

use super::endpoint::Endpoint;
use crate::process::Pid;

/// One profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProfileSource {
    /// Of a page that hands one out, as Go's `net/http/pprof` does.
    Endpoint(Endpoint),
    /// Of a process, by what its runtime offers.
    Pid(Pid),
    /// The same of whoever listens where the load goes, if that is on this machine.
    Auto,
}

/// What can be asked for, as it stands in the help.
pub const FORMS: &str =
    "the URL of Go's net/http/pprof, such as http://127.0.0.1:6060/debug/pprof/profile, pid:N, or auto for whoever listens";

impl FromStr for ProfileSource {
    type Err = Wording;

    fn from_str(text: &str) -> Result<Self, Wording> {
        if let Some(number) = text.strip_prefix("pid:") {
            return match number.parse() {
                Ok(pid) if pid > 0 => Ok(Self::Pid(pid)),
                _ => Err(format!("'{text}' has no process number after the colon; auto is whoever listens where the load goes").into()),
            };
        }
        match text {
            "auto" => Ok(Self::Auto),
            // A host of that name would be a surprise.
            "pid" => Err("'pid' has no process number: it is pid:N, or auto for whoever listens where the load goes".into()),
            "none" => Err(format!("'none' is what happens without {PROFILE}").into()),
            _ => Endpoint::read(text).map(Self::Endpoint).map_err(Wording::from),
        }
    }
}

impl ProfileSource {
    /// What is taken besides: of Go's processors its locks, which cost little, and are empty where the program does not count them.
    pub(super) fn locks(&self) -> Option<Self> {
        match self {
            Self::Endpoint(endpoint) => endpoint.locks().map(Self::Endpoint),
            Self::Pid(_) | Self::Auto => None,
        }
    }

    /// The usual ending of such a file.
    #[must_use]
    pub fn ending(&self) -> &'static str {
        match self {
            Self::Endpoint(_) => "pprof",
            Self::Pid(_) | Self::Auto => "profile",
        }
    }
}

impl fmt::Display for ProfileSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint(endpoint) => endpoint.fmt(f),
            Self::Pid(pid) => write!(f, "pid:{pid}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_completed_and_printed_without_secrets() {
        for (text, shown) in [
            ("pid:812", "pid:812"),
            ("auto", "auto"),
            ("127.0.0.1:6060", "http://127.0.0.1:6060/debug/pprof/profile"),
            ("http://localhost:6060/debug/pprof/", "http://localhost:6060/debug/pprof/profile"),
            ("http://localhost:6060/debug/pprof/heap", "http://localhost:6060/debug/pprof/heap"),
            ("https://me:secret@host/internal/mutex?token=abc", "https://host/internal/mutex"),
        ] {
            assert_eq!(text.parse::<ProfileSource>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, said) in [
            ("", "URL"),
            ("pid:", "no process number"),
            ("pid:0", "no process number"),
            ("pid:x", "no process number"),
            ("pid", "auto for whoever listens"),
            ("none", "without --profile"),
            ("6060", "127.0.0.1:6060"),
            ("ftp://host/", "no http or https URL"),
            ("http://host:6060/debug/pprof/trace", "execution trace"),
            ("http://host:6060/debug/pprof/goroutine?debug=2", "for people"),
            ("http://host:6060/debug/pprof/profile?seconds=0", "seconds"),
            ("http://host:6060/debug/pprof/profile?seconds=soon", "seconds"),
        ] {
            let error = text.parse::<ProfileSource>().expect_err(text);
            assert!(error.spelt(plan::Spelling::Flags).contains(said), "{text}: {error:?}");
        }
    }
}
