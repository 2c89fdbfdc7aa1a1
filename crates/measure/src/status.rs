//! The status of an answer, and what it says by itself.
//!
//! Whether a status is a success was written as a comparison in twenty places, and they could drift apart. Other numbers than 400 were
//! rejected: a redirect that nobody asked to be followed is an answer like any other, as in wrk, vegeta and k6
//! (docs/decisions/redirects.md).
//!
//! Invariant: results and messages hold plain numbers; this type only reads them.

/// The status code of a final answer, from 200 to 999, or 101 where it came over a connection that has switched to WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Status(pub u16);

impl Status {
    /// The statuses that lead elsewhere by their Location (RFC 9110 §15.4).
    pub const REDIRECTS: [Self; 5] = [Self(301), Self(302), Self(303), Self(307), Self(308)];

    /// Whether a request answered so succeeded, where nobody says otherwise: 200 to 399, and 101.
    #[inline]
    #[must_use]
    pub const fn is_success(self) -> bool {
        matches!(self.0, 101 | 200..400)
    }

    /// Whether it is one of the [redirects](Self::REDIRECTS).
    #[must_use]
    pub fn is_redirect(self) -> bool {
        Self::REDIRECTS.contains(&self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_below_400_is_a_success() {
        for (status, is_success) in
            [(0, false), (100, false), (101, true), (200, true), (304, true), (399, true), (400, false), (503, false), (999, false)]
        {
            assert_eq!(Status(status).is_success(), is_success, "{status}");
        }
    }

    #[test]
    fn a_redirect_leads_elsewhere() {
        let redirects: Vec<u16> = (200..1000).filter(|status| Status(*status).is_redirect()).collect();
        assert_eq!(redirects, [301, 302, 303, 307, 308]);
    }
}
