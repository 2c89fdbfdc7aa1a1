//! Whether TLS sessions are resumed.

use std::fmt;
use std::str::FromStr;

/// Whether new connections resume the TLS sessions of earlier ones (RFC 8446 §2.2, RFC 5077).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Resumption {
    /// Each handshake is a full one.
    #[default]
    Off,
    /// As browsers do, where the server gives what it takes.
    On,
}

impl FromStr for Resumption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Self::Off),
            "on" => Ok(Self::On),
            _ => Err("is neither on nor off".to_owned()),
        }
    }
}

impl fmt::Display for Resumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "off",
            Self::On => "on",
        })
    }
}
