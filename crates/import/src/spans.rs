//! Spans of time in which a user was busy: put together where they are near each other, in whatever order they are told.
//!
//! Two servers each log half of what a user does, and logs are given in any order. Whoever looks at one request after the other sees pauses
//! and sessions that are of the order. So what is kept is a set of spans, which is the same in any order: two that are no farther apart than a
//! limit become one. With a limit of nothing, what is between them are the user's pauses; with one of half an hour, they are its sessions.
//!
//! Invariant: spans are in order, and any two are farther apart than the limit.

/// From the beginning of a request to the end of its answer, or of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) requests: u64,
}

impl Span {
    /// Whether one that does not begin before this one is within the limit.
    #[inline]
    pub(crate) fn reaches(&self, later: &Self, limit_ns: i64) -> bool {
        later.start_ns >= self.start_ns && later.start_ns.saturating_sub(self.end_ns) <= limit_ns
    }

    #[inline]
    pub(crate) fn absorb(&mut self, other: &Self) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        self.requests += other.requests;
    }
}

/// Puts spans in any order together.
pub(crate) fn joined(mut spans: Vec<Span>, limit_ns: i64) -> Vec<Span> {
    spans.sort_unstable_by_key(|it| (it.start_ns, it.end_ns));
    spans.dedup_by(|later, span| {
        let is_near = span.reaches(later, limit_ns);
        if is_near {
            span.absorb(later);
        }
        is_near
    });
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_the_same_in_any_order(told in prop::collection::vec((0i64..200, 0i64..5), 0..60), limit in 0i64..9, at in 0usize..60) {
            let spans: Vec<Span> = told.iter().map(|(start, length)| Span { start_ns: *start, end_ns: start + length, requests: 1 }).collect();
            let together = joined(spans.clone(), limit);
            let one_by_one = spans.iter().fold(Vec::new(), |before, span| joined([before, vec![*span]].concat(), limit));
            prop_assert_eq!(&one_by_one, &together);
            let (one, other) = spans.split_at(at.min(spans.len()));
            prop_assert_eq!(joined([joined(other.to_vec(), limit), joined(one.to_vec(), limit)].concat(), limit), together.clone());
            // What was told finely can be told coarsely later.
            prop_assert_eq!(joined(joined(spans, 0), limit), together.clone());
            prop_assert!(together.windows(2).all(|pair| pair[1].start_ns - pair[0].end_ns > limit));
            prop_assert_eq!(together.iter().map(|it| it.requests).sum::<u64>(), told.len() as u64);
        }
    }
}
