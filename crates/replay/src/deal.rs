//! A log dealt out: the requests of all sources, read once, in blocks.
//!
//! Each slice of the load's time has a block for each source, also for one that sends nothing in it: so a source knows that nothing of
//! its own falls due meanwhile, and is never waited for by the others.
//!
//! Invariant: the blocks of all sources together are what was found, each request in one of them, at the same time however many there are.

use std::sync::{Arc, OnceLock};

use engine::Slice;
use plan::{Nanos, Share};

use crate::block::{About, Draft};
use crate::found::due;
use crate::order::{Merged, Owners, ReplayPlan, TimedRequest};

/// A slice is so long: eight of them ahead are two seconds, or less where its requests are many bytes.
const SLICE_TIME: Nanos = Nanos::from_millis(250);
/// It ends before that where its requests have so many bytes.
const SLICE_BYTES: usize = 1 << 20;

/// How the reading of a log ended.
#[derive(Debug)]
pub(crate) struct ReadToEnd {
    /// The requests that were dealt.
    pub(crate) dealt: u64,
    /// Why it could not be read to its end.
    pub(crate) failed: Option<String>,
}

/// The slices of a log for some sources.
pub(crate) struct Deal {
    merged: Merged,
    /// The first request of the next slice.
    next: Option<(Nanos, TimedRequest)>,
    begins_ns: i64,
    factor: f64,
    drafts: Vec<Draft>,
    dealt: u64,
    /// Where it is told how it ended.
    end: Arc<OnceLock<ReadToEnd>>,
    is_over: bool,
}

impl Deal {
    /// Of a log that begins there, for the sources of these shares.
    pub(crate) fn new((score, begins_ns): (Arc<ReplayPlan>, i64), shares: &[Share], end: Arc<OnceLock<ReadToEnd>>) -> Self {
        let factor = score.pick.options.speed.factor();
        let drafts = shares.iter().map(|_| Draft::default()).collect();
        Self { merged: Merged::new(score, Owners::of(shares)), next: None, begins_ns, factor, drafts, dealt: 0, end, is_over: false }
    }

    fn read(&mut self) -> Option<(Nanos, TimedRequest)> {
        let next = self.merged.next()?;
        Some((due(next.at_ns, self.begins_ns, self.factor), next))
    }
}

impl Iterator for Deal {
    type Item = Slice;

    fn next(&mut self) -> Option<Slice> {
        if self.is_over {
            return None;
        }
        let (mut first, mut bytes) = (None, 0);
        let until = loop {
            let Some((due, request)) = self.next.take().or_else(|| self.read()) else {
                self.is_over = true;
                let _ = self.end.set(ReadToEnd { dealt: self.dealt, failed: self.merged.failed.take() });
                break Nanos::NEVER;
            };
            if due.since(*first.get_or_insert(due)) >= SLICE_TIME || bytes >= SLICE_BYTES {
                self.next = Some((due, request));
                break due;
            }
            let TimedRequest { client, route, logged, is_late, .. } = request;
            bytes += request.request.bytes.len();
            self.dealt += 1;
            self.drafts[request.source as usize].add(request.request.as_ref(), About { due, route, client, logged, is_late });
        };
        Some(self.drafts.iter_mut().map(|draft| draft.finish(until)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Block;
    use crate::{Clients, Log, Options, Ready, look};
    use plan::{Draft, Plan};
    use std::collections::BTreeMap;
    use std::io::Write as _;
    use std::num::NonZeroU32;

    /// A log of several seconds, with lines of many clients, some of which stand behind their times, and a pause.
    fn log(decimals: bool) -> String {
        let line = |at: u64| {
            let ms = at * at * 7919 % 30_000 / 100 * 100 + u64::from(at.is_multiple_of(3)) * 60_000;
            let second = 1_700_000_000 + ms / 1000;
            let time = if decimals { format!("{second}.{:03}", ms % 1000) } else { second.to_string() };
            (ms, format!("{{\"time\":\"{time}\",\"path\":\"/{at}\",\"status\":200,\"ip\":\"c{}\"}}\n", at * at % 31))
        };
        let mut lines: Vec<(u64, String)> = (0..2_000).map(line).collect();
        lines.sort();
        lines.chunks_mut(3).for_each(<[_]>::reverse);
        lines.into_iter().map(|(_, line)| line).collect()
    }

    fn plan() -> Plan {
        Plan::try_from(Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() }).unwrap()
    }

    /// Due, client, and bytes of each request, by source, as they come out of its blocks.
    fn dealt(text: &str, options: &Options, sources: u32) -> Vec<Vec<(Nanos, u64, Vec<u8>)>> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let found = look(vec![Log::open(file.path().to_str().unwrap()).unwrap()], options.clone()).unwrap();
        let sent = found.sent;
        let ready = Ready::new(&plan(), found).unwrap();
        let shares: Vec<Share> = Share::all(NonZeroU32::new(sources).unwrap()).collect();
        let end = Arc::default();
        let mut all = vec![Vec::new(); sources as usize];
        let mut since = Nanos::ZERO;
        for slice in Deal::new(ready.log(), &shares, Arc::clone(&end)) {
            let blocks: Vec<Block> = slice.into_iter().map(|block| Block::read(block).unwrap()).collect();
            assert_eq!(blocks.len(), shares.len());
            let until = blocks[0].until();
            for (block, all) in blocks.into_iter().zip(&mut all) {
                assert_eq!(block.until(), until, "a slice ends for everybody at once");
                let clients: Vec<u64> = (0..).map_while(|at| block.about(at)).map(|about| about.client).collect();
                all.extend(block.into_requests().zip(clients).map(|((due, bytes), client)| {
                    assert!(due >= since && until.is_none_or(|until| due <= until), "{since} {due} {until:?}");
                    (due, client, bytes)
                }));
            }
            since = until.unwrap_or(Nanos::NEVER);
        }
        assert_eq!(since, Nanos::NEVER, "the last block says that it is the last");
        let ReadToEnd { dealt, failed } = end.get().unwrap();
        assert_eq!((*dealt, failed), (sent, &None));
        all
    }

    #[test]
    fn one_to_fifty_sources_send_what_one_would_at_the_same_times() {
        for (decimals, clients) in [(true, Clients::Free), (false, Clients::Free), (true, Clients::InOrder), (false, Clients::InOrder)] {
            let (text, options) = (log(decimals), Options { clients, ..Options::default() });
            let alone = dealt(&text, &options, 1).remove(0);
            assert!(alone.len() == 2_000 && alone.is_sorted_by_key(|(due, ..)| *due));
            for sources in 2..=50 {
                let parts = dealt(&text, &options, sources);
                let mut of_client: BTreeMap<u64, usize> = BTreeMap::new();
                for (source, part) in parts.iter().enumerate() {
                    assert!(part.is_sorted_by_key(|(due, ..)| *due));
                    for (_, client, _) in part.iter().filter(|(_, client, _)| *client > 0) {
                        assert_eq!(*of_client.entry(*client).or_insert(source), source, "a client of two sources");
                    }
                }
                assert_eq!(of_client.is_empty(), clients == Clients::Free);
                let mut together: Vec<_> = parts.into_iter().flatten().collect();
                let mut expected = alone.clone();
                together.sort();
                expected.sort();
                assert!(together == expected, "{sources} sources, {decimals} {clients:?}");
            }
        }
    }
}
