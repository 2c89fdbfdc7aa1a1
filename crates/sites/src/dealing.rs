//! What the sources of a load send, dealt to the sites that they are on.
//!
//! Blocks are made on this machine as sources take them, and go to each site among its other orders. Few are on their way to a source at once,
//! so that an order to end and a question for the time are not behind minutes of them.

use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::{Dealer, Outlet, RunError, Slices};
use measure::SourceId;
use plan::Part;

use crate::frames::{Order, PIECE_BYTES, frame};
use crate::outgoing::Outgoing;

/// Blocks on their way to the sources of the load under way, where there are such. A clone is of the same load.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dealing(Arc<Mutex<Option<Lines>>>);

/// The ways of blocks.
#[derive(Debug)]
struct Lines {
    dealer: Dealer,
    /// The site of each source.
    sites: BTreeMap<SourceId, usize>,
}

impl Dealing {
    /// Begins with the sources of these parts, which are those of the sites that take these orders. A slice has a block for each source, by
    /// their numbers.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub(crate) fn begin(&self, groups: &[Vec<Part>], orders: &[Sender<Outgoing>], slices: Slices) -> Result<(), RunError> {
        let of_group =
            |(site, parts): (usize, &Vec<Part>)| parts.iter().map(|part| (SourceId(part.of_run.index()), site)).collect::<Vec<_>>();
        let sites: BTreeMap<SourceId, usize> = groups.iter().enumerate().flat_map(of_group).collect();
        let outlets = sites.iter().map(|(source, site)| outlet(source.0, orders[*site].clone())).collect();
        let dealer = Dealer::new(outlets);
        // The first block may be taken before this is done.
        let mut lines = self.lines();
        dealer
            .start(slices)
            .map_err(|why| RunError::run(format!("the system gives no more threads: {why}"), "raise the limit on processes"))?;
        *lines = Some(Lines { dealer, sites });
        Ok(())
    }

    /// A site says that this source has taken a block.
    pub(crate) fn taken(&self, site: usize, source: u32) {
        if let Some(Lines { dealer, sites }) = &*self.lines()
            && sites.get(&SourceId(source)) == Some(&site)
        {
            dealer.taken(source as usize);
        }
    }

    /// These sources take nothing any more.
    pub(crate) fn leave(&self, sources: impl IntoIterator<Item = SourceId>) {
        if let Some(Lines { dealer, .. }) = &*self.lines() {
            sources.into_iter().for_each(|source| dealer.leave(source.0 as usize));
        }
    }

    /// Nothing more is dealt.
    pub(crate) fn end(&self) {
        *self.lines() = None;
    }

    fn lines(&self) -> MutexGuard<'_, Option<Lines>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.dealer.close();
    }
}

/// Sends the blocks of a source among these orders.
fn outlet(source: u32, orders: Sender<Outgoing>) -> Outlet {
    Box::new(move |block| {
        let mut rest = &block[..];
        loop {
            let (piece, behind) = rest.split_at(rest.len().min(PIECE_BYTES));
            let order = Order::Block { source, piece: piece.to_vec(), is_last: behind.is_empty() };
            if orders.send(Outgoing::Order(frame(&order).into())).is_err() {
                return false;
            }
            if behind.is_empty() {
                return true;
            }
            rest = behind;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{BLOCKS_AHEAD, Slice, from_bytes};
    use plan::{Draft, Plan};
    use std::sync::mpsc::{Receiver, channel};

    fn groups(threads: u32, sites: usize) -> Vec<Vec<Part>> {
        let draft = Draft { url: Some("http://a.test/".to_owned()), threads: threads.to_string().parse().ok(), ..Draft::default() };
        let plan = Plan::try_from(Draft { connections: "64".parse().ok(), ..draft }).unwrap();
        plan.parts().chunks(threads as usize / sites).map(<[Part]>::to_vec).collect()
    }

    fn next(orders: &Receiver<Outgoing>) -> (u32, Vec<u8>, bool) {
        let Outgoing::Order(order) = orders.recv().unwrap() else { panic!("a file") };
        match from_bytes(&order[4..]).unwrap() {
            Order::Block { source, piece, is_last } => (source, piece, is_last),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_site_gets_the_blocks_of_its_own_sources_and_more_as_these_are_taken() {
        let (orders, sites): (Vec<_>, Vec<_>) = (0..2).map(|_| channel()).unzip();
        let slice = |number: u8| -> Slice { (0..4).map(|source| vec![source, number]).collect() };
        let slices: Slices = Box::new(move || Box::new((0..100).map(slice)));
        let dealing = Dealing::default();
        dealing.begin(&groups(4, 2), &orders, slices).unwrap();
        for (site, own) in [(0, [0, 1]), (1, [2, 3])] {
            for number in 0..BLOCKS_AHEAD as u8 {
                assert_eq!(own.map(|_| next(&sites[site])), own.map(|source| (source, vec![source as u8, number], true)));
            }
        }
        // What another site says of it does not count.
        dealing.taken(1, 0);
        dealing.taken(0, 1);
        dealing.taken(0, 77);
        assert_eq!(next(&sites[0]), (1, vec![1, BLOCKS_AHEAD as u8], true));
        // The next slice was made for that source; the others get theirs when they have taken one.
        dealing.taken(1, 3);
        assert_eq!(next(&sites[1]), (3, vec![3, BLOCKS_AHEAD as u8], true));
        dealing.end();
        assert!(sites.iter().all(|orders| orders.try_recv().is_err()), "nothing comes behind the end");
    }

    #[test]
    fn a_large_block_goes_in_pieces() {
        let (orders, site) = channel();
        let block: Vec<u8> = (0..PIECE_BYTES * 2 + 5).map(|at| (at % 251) as u8).collect();
        let sent = block.clone();
        let slices: Slices = Box::new(move || Box::new(std::iter::once(vec![sent])));
        let dealing = Dealing::default();
        dealing.begin(&groups(1, 1), &[orders], slices).unwrap();
        let pieces = [next(&site), next(&site), next(&site)];
        assert_eq!(
            pieces.each_ref().map(|(_, piece, is_last)| (piece.len(), *is_last)),
            [(PIECE_BYTES, false), (PIECE_BYTES, false), (5, true)]
        );
        assert_eq!(pieces.map(|(_, piece, _)| piece).concat(), block);
    }
}
