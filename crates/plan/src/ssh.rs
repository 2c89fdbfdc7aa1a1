//! Another machine as the user's own ssh knows it: its name, keys, jump hosts and agent come along with ssh.
//!
//! Pure: which words ssh is called with. Nothing is ever asked of the user: a connection that would ask fails before the run instead.

use std::fmt;

/// Connecting may take a jump host or two.
pub const SSH_CONNECT_SECONDS: u32 = 10;

/// Whom ssh connects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshHost {
    /// `[USER@]HOST`, as ssh takes it.
    pub to: String,
    /// The port, if it is not the usual one, or that of ssh's own settings.
    pub port: Option<u16>,
}

impl SshHost {
    /// `[USER@]HOST[:PORT]`; `None` if it is none.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim_start_matches("//");
        let (to, port) = match text.rsplit_once(':') {
            Some((to, port)) if !to.is_empty() && !to.ends_with(':') && (!to.contains(':') || to.ends_with(']')) => {
                (to, Some(port.parse().ok()?))
            }
            _ => (text, None),
        };
        let to = to.replace(['[', ']'], "");
        // What begins with a dash would be an option of ssh.
        let is_name = !to.is_empty() && !to.starts_with('-') && !to.contains(|letter: char| letter.is_whitespace() || letter.is_control());
        (is_name && !to.ends_with('@')).then_some(Self { to, port })
    }

    /// The words behind `ssh` that run a program of the shell `sh` there, whatever the user's own shell is, over the standard streams.
    #[must_use]
    pub fn words(&self, program: &str) -> Vec<String> {
        let connect = format!("ConnectTimeout={SSH_CONNECT_SECONDS}");
        let mut words: Vec<String> =
            ["-T", "-o", "BatchMode=yes", "-o", &connect, "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2"]
                .map(str::to_owned)
                .into();
        if let Some(port) = self.port {
            words.extend(["-p".to_owned(), port.to_string()]);
        }
        words.extend(["--".to_owned(), self.to.clone(), format!("exec sh -c {}", sh_quoted(program))]);
        words
    }

    /// What to do about a connection that does not come about.
    #[must_use]
    pub fn by_hand(&self) -> String {
        format!("try it: {}", self.trial())
    }

    /// The command that tries it, and says nothing where all is well.
    #[must_use]
    pub fn trial(&self) -> String {
        let port = self.port.map_or_else(String::new, |port| format!("-p {port} "));
        format!("ssh -o BatchMode=yes {port}{} true", self.to)
    }
}

/// A word as the shell `sh` takes it back whole, whatever is in it. So do fish and csh, also where one such word is quoted within another: a
/// backslash between quotation marks is itself in some of them and not in others, so none is put there.
#[must_use]
pub fn sh_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r#"'"'"'"#))
}

/// `ssh:[USER@]HOST[:PORT]`.
impl fmt::Display for SshHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ssh:{}", self.to)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_without_a_backslash_of_its_own() {
        assert_eq!(sh_quoted("it's"), r#"'it'"'"'s'"#);
        assert!(!sh_quoted(&sh_quoted("it's")).contains('\\'));
    }
}
