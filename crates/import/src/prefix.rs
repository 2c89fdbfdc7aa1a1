//! What collectors write before a line of a log: syslog's time, host and program, or the three words of a container's runtime.
//!
//! Such a line reads as one of a known form whose first value is the collector's: every request is then of one client, and a JSON
//! line is none. So the words are taken off before the form is guessed, where nearly all lines have them.

use crate::stamp::iso;

/// Who wrote something before each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prefix {
    /// `Jul  8 11:07:01 web01 nginx[2869]: `, or as RFC 5424 has it, with or without its `<30>`.
    Syslog,
    /// `2025-07-08T11:07:01.5Z stdout F `, as Kubernetes' runtimes write.
    Container,
}

/// Of the lines of a sample, so many in twenty have the prefix of a log that has one.
const MOST_IN_20: usize = 19;

impl Prefix {
    /// That of nearly all of these lines.
    pub(crate) fn of(lines: &[&[u8]]) -> Option<Self> {
        let has = |prefix: Self| 20 * lines.iter().filter(|line| prefix.rest(line).is_some()).count() >= MOST_IN_20 * lines.len();
        [Self::Container, Self::Syslog].into_iter().find(|prefix| !lines.is_empty() && has(*prefix))
    }

    /// After the name of a form.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Syslog => "behind syslog's prefix",
            Self::Container => "behind a container runtime's prefix",
        }
    }

    /// The line behind it.
    #[inline]
    pub(crate) fn rest(self, line: &[u8]) -> Option<&[u8]> {
        match self {
            Self::Container => {
                let (time, rest) = word(line)?;
                let (stream, rest) = word(rest)?;
                let (part, rest) = word(rest)?;
                (is_time(time) && matches!(stream, b"stdout" | b"stderr") && matches!(part, b"F" | b"P")).then_some(rest)
            }
            Self::Syslog => syslog(line),
        }
    }
}

fn syslog(line: &[u8]) -> Option<&[u8]> {
    let (priority, line) = match line.strip_prefix(b"<") {
        Some(inside) => {
            let close = inside.iter().take(4).position(|letter| *letter == b'>')?;
            (true, &inside[close + 1..])
        }
        None => (false, line),
    };
    // RFC 5424: version, time, host, program, process, kind, data.
    if let Some(line) = line.strip_prefix(b"1 ").filter(|_| priority) {
        let (time, mut line) = word(line)?;
        for _ in 0..4 {
            (_, line) = word(line)?;
        }
        let rest = match line.first()? {
            b'[' => &line[memchr::memmem::find(line, b"] ")? + 2..],
            _ => word(line)?.1,
        };
        return is_time(time).then_some(rest);
    }
    let after_time = match word(line)? {
        (time, rest) if is_time(time) => rest,
        // `Jul  8 11:07:01`
        (month, _) if MONTHS.contains(&month) => {
            let clock = line.get(7..15)?;
            (clock[2] == b':' && clock[5] == b':' && line.get(15) == Some(&b' ')).then(|| &line[16..])?
        }
        _ => return None,
    };
    let (_, rest) = word(after_time)?;
    let (program, rest) = word(rest)?;
    (program.last() == Some(&b':') && program.first().is_some_and(u8::is_ascii_alphabetic)).then_some(rest)
}

const MONTHS: [&[u8]; 12] = [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

/// A word and what follows its blank.
fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let blank = memchr::memchr(b' ', text)?;
    Some((&text[..blank], &text[blank + 1..]))
}

fn is_time(word: &[u8]) -> bool {
    word.get(10) == Some(&b'T') && iso(word).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_collector_wrote_is_taken_off() {
        for (prefix, line) in [
            (Prefix::Syslog, "Jul  8 11:07:01 web01 nginx[2869]: 1.2.3.4 - -"),
            (Prefix::Syslog, "<30>Jul 18 11:07:01 web01 nginx: 1.2.3.4 - -"),
            (Prefix::Syslog, "2025-07-08T11:07:01.123456+00:00 web01 nginx[2869]: 1.2.3.4 - -"),
            (Prefix::Syslog, "<30>1 2025-07-08T11:07:01Z web01 nginx 2869 - - 1.2.3.4 - -"),
            (Prefix::Syslog, "<30>1 2025-07-08T11:07:01Z web01 nginx 2869 - [a b=\"c d\"] 1.2.3.4 - -"),
            (Prefix::Container, "2025-07-08T11:07:01.123456789Z stdout F 1.2.3.4 - -"),
        ] {
            assert_eq!(prefix.rest(line.as_bytes()), Some(&b"1.2.3.4 - -"[..]), "{line}");
            assert_eq!(Prefix::of(&[line.as_bytes()]), Some(prefix), "{line}");
        }
    }

    #[test]
    fn lines_of_their_own_have_no_prefix() {
        for line in [
            "1.2.3.4 - - [08/Jul/2021:11:07:01 +0000] \"GET / HTTP/1.1\" 200 5",
            "www.example.org 1.2.3.4 - - [08/Jul/2021:11:07:01 +0000] \"GET / HTTP/1.1\" 200 5",
            "{\"time\":\"2025-07-08T11:07:01Z\"}",
            "2025-07-08T11:07:01Z GET / 200",
            "<",
            "<30>",
            "Jul",
            "Jul  8 11:07",
            "",
        ] {
            assert_eq!(Prefix::of(&[line.as_bytes()]), None, "{line}");
        }
    }
}
