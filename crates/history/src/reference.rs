//! What a saved run is called on a command line: `@last`, `@last-2`, `@NAME`, `@NAME-2`, `@baseline`, or the beginning of its id.
//!
//! Everything that begins with `@` is a reference and never a file, so that neither can be taken for the other.

use std::fmt;
use std::str::FromStr;

use crate::{HistoryError, Id};

/// Which saved run is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// So many before the one that began last.
    Last(u32),
    /// The last of this name; where no run has it and it ends with `-2`, two before the last of the name without that.
    Named(String),
    /// The baseline of this name; without a name the one that was set last.
    Baseline(Option<String>),
    /// The one whose id begins so.
    Begins(String),
}

impl FromStr for Reference {
    type Err = HistoryError;

    fn from_str(text: &str) -> Result<Self, HistoryError> {
        let no = || HistoryError::NoReference(text.to_owned());
        let Some(word) = text.strip_prefix('@') else {
            return if Id::may_begin_with(text) { Ok(Self::Begins(text.to_owned())) } else { Err(no()) };
        };
        match word {
            "" => Err(no()),
            "last" => Ok(Self::Last(0)),
            "baseline" => Ok(Self::Baseline(None)),
            _ => {
                if let Some(back) = word.strip_prefix("last-").and_then(|back| back.parse().ok()) {
                    Ok(Self::Last(back))
                } else if let Some(name) = word.strip_prefix("baseline:") {
                    Ok(Self::Baseline(Some(name.to_owned())))
                } else {
                    Ok(Self::Named(word.to_owned()))
                }
            }
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last(0) => f.write_str("@last"),
            Self::Last(back) => write!(f, "@last-{back}"),
            Self::Named(name) => write!(f, "@{name}"),
            Self::Baseline(None) => f.write_str("@baseline"),
            Self::Baseline(Some(name)) => write!(f, "@baseline:{name}"),
            Self::Begins(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_printed_as_it_is_read() {
        for text in ["@last", "@last-2", "@healthz", "@last-week", "@baseline", "@baseline:healthz", "k3f9"] {
            assert_eq!(text.parse::<Reference>().unwrap().to_string(), text);
        }
        assert_eq!("@last-2".parse(), Ok(Reference::Last(2)));
        assert_eq!("@last-week".parse(), Ok(Reference::Named("last-week".to_owned())), "a name may begin like another word");
        for text in ["", "@", "result.json", "K3F9", "k3f9k3f9k3f9k3f9"] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
    }
}
