//! What a server does that is not quite right, yet no reason to fail a request.
//!
//! RFC 9112 often lets a client choose between tolerance and refusal. A measuring tool is strict in its verdict
//! and lenient in reading: it accepts what browsers and curl accept, and counts it here, so that the report can
//! say it. Like [`crate::Failure`], the list is closed and an entry costs one addition.

macro_rules! quirks {
    ($($name:ident, $code:literal, $about:literal;)*) => {
        /// An oddity in an answer that was accepted all the same.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Quirk {
            $(#[doc = $about] $name,)*
        }

        impl Quirk {
            /// Every quirk, in the order of [`Quirk::index`].
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable name in JSON, such as `bare_lf`.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// What the server did, in words that follow a count.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$name => $about,)* }
            }
        }
    };
}

quirks! {
    LeadingBlankLine, "leading_blank_line", "answers began with an empty line";
    BareLf, "bare_lf", "answers ended lines with a bare LF";
    ObsFold, "obs_fold", "answers folded a header over two lines";
    SpaceBeforeColon, "space_before_colon", "answers had a space between a header's name and its colon";
    LengthRepeated, "length_repeated", "answers repeated the same Content-Length";
    LengthAndChunked, "length_and_chunked", "answers had both Content-Length and Transfer-Encoding";
    ChunkBareLf, "chunk_bare_lf", "answers ended chunk lines with a bare LF";
    ExtraBlankLine, "extra_blank_line", "answers were followed by an empty line";
    Unsolicited, "unsolicited", "idle connections got bytes nobody had asked for";
    NoCloseNotify, "no_close_notify", "TLS connections were closed without close_notify";
    ChunkedRepeated, "chunked_repeated", "answers named chunked twice in Transfer-Encoding";
    BodyUnexpected, "body_unexpected", "answers that may not have a body (HEAD, 204, 304) were followed by one, so the connection was closed";
    ExtraData, "extra_data", "answers that ended their connection were followed by more bytes";
    Interim, "interim", "interim (1xx) answers came before the final one";
    SentAgain, "sent_again", "requests that the server had not taken up (GOAWAY, REFUSED_STREAM, H3_REQUEST_REJECTED) were sent again";
    LongEvent, "long_event", "answers that stream had events of more than 1 MiB";
}

impl Quirk {
    /// How many quirks there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The quirk's place in [`Quirk::ALL`], for arrays of counts.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A set of quirks seen in one answer: two bytes, `Copy`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Quirks(u16);

impl Quirks {
    /// No quirk.
    pub const NONE: Self = Self(0);

    /// Adds one.
    pub const fn insert(&mut self, quirk: Quirk) {
        self.0 |= 1 << quirk.index();
    }

    /// Takes one out.
    pub const fn remove(&mut self, quirk: Quirk) {
        self.0 &= !(1 << quirk.index());
    }

    /// Whether it is there.
    #[must_use]
    pub const fn contains(self, quirk: Quirk) -> bool {
        self.0 & (1 << quirk.index()) != 0
    }

    /// Whether there is none, which is the rule and cheap to ask.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Those that are there.
    pub fn iter(self) -> impl Iterator<Item = Quirk> {
        Quirk::ALL.iter().copied().filter(move |quirk| self.contains(*quirk))
    }
}
