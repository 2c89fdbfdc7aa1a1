//! What is seen of an answer that may lead on to another.

use measure::Failure;
use plan::{Bounds, Nanos, Target};

use crate::protocol::{Header, ResponseSink};
use crate::redirect::{self, Hops, RedirectError};

/// Picks the Location header out of an answer.
#[derive(Debug, Default)]
pub(super) struct Location {
    values: Vec<Vec<u8>>,
}

impl Location {
    /// The place it leads to, or the failure and what it looked like.
    pub(super) fn destination(&self, from: &Target, hops: Hops, bounds: &Bounds) -> Result<Target, (Failure, String)> {
        let value = match self.values.as_slice() {
            [value] => value,
            [] => return Err((Failure::RedirectTarget, "a redirect without Location".to_owned())),
            several => return Err((Failure::RedirectTarget, format!("a redirect with {} Locations", several.len()))),
        };
        redirect::destination(from, &String::from_utf8_lossy(value), hops, |to| bounds.hold(to)).map_err(|error| {
            let text = match &error {
                RedirectError::Target(why) => format!("Location '{}' {why}", value.escape_ascii()),
                RedirectError::Outside(to) => Bounds::refusal(to),
                RedirectError::Limit => format!("{} redirects, the last from {from}", hops.followed),
            };
            (error.failure(), text)
        })
    }
}

impl ResponseSink for Location {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        self.values =
            headers.iter().filter(|header| header.name.eq_ignore_ascii_case("location")).map(|header| header.value.to_vec()).collect();
    }
}

/// Sees an answer of a chain: where it leads, and what its own sink sees of it.
pub(super) struct Chained<'a, E> {
    pub(super) location: &'a mut Location,
    pub(super) sink: &'a mut E,
}

impl<E: ResponseSink> ResponseSink for Chained<'_, E> {
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.location.head(status, headers);
        self.sink.head(status, headers);
    }

    fn read_at(&mut self, at: Nanos) {
        self.sink.read_at(at);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.sink.body(bytes);
    }

    fn cut_off(&mut self) -> Option<u16> {
        self.sink.cut_off()
    }

    fn complete(&mut self) {
        self.sink.complete();
    }
}
