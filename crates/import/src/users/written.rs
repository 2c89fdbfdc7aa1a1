//! Users as a part of a survey has them: numbers that stand for addresses, and spans by what is between them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Counter, FxHashMap, HALVINGS_MOST, USERS_MOST, User, is_sampled};
use crate::key::Key;
use crate::scrub::Personal;
use crate::spans::Span;

/// Nobody was busy more often: that many half hours are thirty years.
const USER_SPANS_MOST: usize = 1 << 19;

#[derive(Serialize, Deserialize)]
struct WrittenUsers {
    requests: u64,
    halvings: u32,
    session_halvings: u32,
    pause_halvings: u32,
    is_finer: bool,
    users: Vec<WrittenUser>,
}

/// Number, requests, whether it is restless, its spans, and its name where that is kept. Of each span: how long after the end of the one before it
/// begins (the first since 1970), how long it lasts, and its requests.
#[derive(Serialize, Deserialize)]
struct WrittenUser(u64, u64, bool, Vec<(i64, i64, u64)>, Option<String>);

impl Serialize for Counter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut users: Vec<WrittenUser> = self
            .users
            .iter()
            .map(|(hash, user)| {
                let mut before_ns = 0;
                let spans = user.earlier.iter().chain([&user.last]).map(|span| {
                    // What is too far apart for a number wraps, and wraps back.
                    let (gap_ns, length_ns) = (span.start_ns.wrapping_sub(before_ns), span.end_ns.wrapping_sub(span.start_ns));
                    before_ns = span.end_ns;
                    (gap_ns, length_ns, span.requests)
                });
                let spans = spans.collect();
                WrittenUser(*hash, user.requests, self.restless.contains(hash), spans, self.names.get(hash).map(|name| name.to_string()))
            })
            .collect();
        users.sort_unstable_by_key(|user| user.0);
        let Self { requests, halvings, session_halvings, pause_halvings, is_finer, .. } = *self;
        WrittenUsers { requests, halvings, session_halvings, pause_halvings, is_finer, users }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Counter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = WrittenUsers::deserialize(deserializer)?;
        Self::try_from(written).map_err(serde::de::Error::custom)
    }
}

impl TryFrom<WrittenUsers> for Counter {
    type Error = &'static str;

    fn try_from(written: WrittenUsers) -> Result<Self, Self::Error> {
        let WrittenUsers { requests, halvings, session_halvings, pause_halvings, is_finer, users } = written;
        if halvings > session_halvings || session_halvings > pause_halvings || pause_halvings > HALVINGS_MOST {
            return Err("its samples of users are none");
        }
        if users.len() > USERS_MOST {
            return Err("it has more users than are kept");
        }
        // Whoever puts parts together asks for no address.
        let counter = Self::new(Key::default(), Personal::LeftOut);
        let mut counter = Self { requests, halvings, session_halvings, pause_halvings, is_finer, ..counter };
        let mut all_spans: FxHashMap<u64, Vec<Span>> = FxHashMap::default();
        let mut left = requests;
        for WrittenUser(hash, requests, is_restless, written, name) in users {
            left = left.checked_sub(requests).ok_or("its users make more requests than there are")?;
            if written.len() > USER_SPANS_MOST {
                return Err("a user is there more often than time allows");
            }
            let (mut end_ns, mut of_spans) = (0_i64, 0_u64);
            let mut spans = Vec::with_capacity(written.len());
            for (gap_ns, length_ns, requests) in written {
                let start_ns = end_ns.wrapping_add(gap_ns);
                end_ns = start_ns.wrapping_add(length_ns);
                if end_ns < start_ns {
                    return Err("a user's times are none");
                }
                of_spans = of_spans.saturating_add(requests);
                spans.push(Span { start_ns, end_ns, requests });
            }
            let is_known = is_sampled(hash, session_halvings);
            if requests == 0 || of_spans > requests || (is_known && of_spans != requests) || spans.iter().any(|span| span.requests == 0) {
                return Err("a user's requests do not add up");
            }
            let Some(last) = spans.last().copied() else { return Err("a user was never there") };
            if counter.users.insert(hash, User { requests, last, earlier: Vec::new() }).is_some() {
                return Err("a user is there twice");
            }
            if is_restless {
                counter.restless.insert(hash);
            }
            if is_known {
                all_spans.insert(hash, spans);
            }
            counter.names.extend(name.map(|name| (hash, name.into())));
        }
        for (hash, spans) in all_spans {
            let spans = crate::spans::joined(spans, counter.limit_ns(hash));
            counter.put_spans(hash, spans);
        }
        counter.make_room();
        Ok(counter)
    }
}
