//! What the server says of a connection on its streams that go one way (RFC 9114 §6.2), without I/O.

use super::frame::{Breach, Code, Frames, Piece, kind, number, stream};

/// More settings than fit in here are none that are meant.
const SETTINGS_BYTES_MAX: u64 = 4096;

/// Names of settings that HTTP/2 has and HTTP/3 has not (§7.2.4.1).
const OF_HTTP2: [u64; 4] = [2, 3, 4, 5];

/// A stream of the server's, as its bytes come.
#[derive(Debug)]
pub(super) enum OneWay {
    /// Its kind is not known: what there is of it.
    Begun(Vec<u8>),
    Control(Control),
    /// Nothing of it is of interest, and it must stay open: without a table there is nothing to be said on it.
    OfTable,
    /// Nothing of it is of interest at all.
    Unknown,
}

/// The control stream.
#[derive(Debug, Default)]
pub(super) struct Control {
    frames: Frames,
    /// Of the frame at hand.
    content: Vec<u8>,
    has_settings: bool,
    /// The first exchange that the server does not take up.
    pub(super) goes_away: Option<u64>,
}

impl OneWay {
    /// One that begins.
    pub(super) const fn new() -> Self {
        Self::Begun(Vec::new())
    }

    /// Takes what was read next.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), Breach> {
        match self {
            Self::Begun(begun) => {
                begun.extend_from_slice(bytes);
                let Some((kind, length)) = number(begun) else { return Ok(()) };
                let rest = begun.split_off(length);
                *self = match kind {
                    stream::CONTROL => Self::Control(Control::default()),
                    stream::PUSH => return Err(Breach(Code::ID_ERROR, "it pushes, and nothing is to be pushed")),
                    stream::ENCODER | stream::DECODER => Self::OfTable,
                    _ => Self::Unknown,
                };
                self.take(&rest)
            }
            Self::Control(control) => control.take(bytes),
            Self::OfTable | Self::Unknown => Ok(()),
        }
    }

    /// It has ended.
    pub(super) fn end(&self) -> Result<(), Breach> {
        match self {
            Self::Control(_) | Self::OfTable => Err(Breach(Code::CLOSED_CRITICAL_STREAM, "it closed a stream that the connection needs")),
            Self::Begun(_) | Self::Unknown => Ok(()),
        }
    }

    /// The kind of stream that there may be one of, if it is one.
    pub(super) const fn is_control(&self) -> bool {
        matches!(self, Self::Control(_))
    }

    /// Whether what comes on it is of interest to nobody.
    pub(super) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

impl Control {
    fn take(&mut self, mut bytes: &[u8]) -> Result<(), Breach> {
        while let Some(Piece { kind, content, is_last }) = self.next(&mut bytes)? {
            if matches!(kind, kind::SETTINGS | kind::GOAWAY) {
                self.content.extend_from_slice(content);
            }
            if is_last {
                let content = std::mem::take(&mut self.content);
                match kind {
                    kind::SETTINGS => self.settings(&content)?,
                    kind::GOAWAY => self.leaves(&content)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The next piece of a frame that may come now (RFC 9114 §7.2).
    fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> Result<Option<Piece<'a>>, Breach> {
        let Self { frames, has_settings, .. } = self;
        frames.take(bytes, |kind, length| match kind {
            kind::SETTINGS if *has_settings => Err(Breach(Code::FRAME_UNEXPECTED, "SETTINGS for the second time")),
            kind::SETTINGS if length > SETTINGS_BYTES_MAX => Err(Breach(Code::SETTINGS_ERROR, "SETTINGS of more than 4 KiB")),
            kind::SETTINGS => Ok(()),
            _ if !*has_settings => Err(Breach(Code::MISSING_SETTINGS, "it does not begin with SETTINGS")),
            kind::GOAWAY if length > 8 => Err(Breach(Code::FRAME_ERROR, "a GOAWAY of a size that cannot be")),
            kind::CANCEL_PUSH => Err(Breach(Code::ID_ERROR, "it cancels a push, and nothing is to be pushed")),
            kind::DATA | kind::HEADERS | kind::PUSH_PROMISE | kind::MAX_PUSH_ID => {
                Err(Breach(Code::FRAME_UNEXPECTED, "a frame on the control stream that has no place there"))
            }
            kind if kind::OF_HTTP2.contains(&kind) => Err(Breach(Code::FRAME_UNEXPECTED, "a frame that only HTTP/2 has")),
            _ => Ok(()),
        })
    }

    /// Nothing that a server may say of itself changes what we send: our heads need no table, and extensions are not used.
    fn settings(&mut self, content: &[u8]) -> Result<(), Breach> {
        let mut rest = content;
        while !rest.is_empty() {
            let read = number(rest).and_then(|(name, length)| Some((name, length + number(&rest[length..])?.1)));
            let Some((name, length)) = read else { return Err(Breach(Code::FRAME_ERROR, "SETTINGS that end within a number")) };
            if OF_HTTP2.contains(&name) {
                return Err(Breach(Code::SETTINGS_ERROR, "a setting that only HTTP/2 has"));
            }
            rest = &rest[length..];
        }
        self.has_settings = true;
        Ok(())
    }

    fn leaves(&mut self, content: &[u8]) -> Result<(), Breach> {
        let first = number(content).filter(|(_, length)| *length == content.len()).map(|(first, _)| first);
        let Some(first) = first else { return Err(Breach(Code::FRAME_ERROR, "a GOAWAY of a size that cannot be")) };
        // Streams that we open for requests have numbers divisible by four (RFC 9000 §2.1).
        if !first.is_multiple_of(4) || self.goes_away.is_some_and(|before| first > before) {
            return Err(Breach(Code::ID_ERROR, "a GOAWAY with a stream that cannot be"));
        }
        self.goes_away = Some(first);
        Ok(())
    }
}
