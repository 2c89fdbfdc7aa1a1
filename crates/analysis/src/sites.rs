//! Where sites of one run disagree: what one of them sees that the others do not is between it and the server, or its own.
//!
//! All sites send the same load to the same server in the same time, so the server answers all of them alike. A site whose median is
//! higher by more than noise, while the others agree, sees something else on top. Where opening a connection takes longer from there by
//! about as much, it is the way; where that site itself was late, it is the site. Where neither shows, no cause is named.
//!
//! Invariant: of one site alone, or of sites that all differ from each other, nothing is said.

use measure::{PackedHistogram, SiteRow, Summary};
use plan::Nanos;

use crate::quantity::time;

/// Fewer requests of a site do not make a median to compare.
const REQUESTS_MIN: u64 = 100;
/// Medians of sites that are alike differ by less than this share, or than [`APART_MIN`]: each is known to about a hundredth from the
/// fewest requests, and machines are not the same.
const APART_SHARE: f64 = 0.25;
/// Two machines of one room differ by some tenths of a millisecond.
const APART_MIN: Nanos = Nanos::from_micros(500);
/// A way that explains half of the difference is the greater part of it; a round trip for a connection, and one for an answer.
const EXPLAINED_SHARE: f64 = 0.5;

/// A clock that is known less exactly may count a second in the one before or after it.
const CLOCK_ERROR_MAX: Nanos = Nanos::from_millis(500);

/// A sentence for each site that sees what the others do not, or whose seconds may be others.
pub(crate) fn sentences(run: &Summary) -> Vec<String> {
    let clocks = run.sites.iter().filter_map(|site| Some((site, site.clock_error?))).filter(|(_, error)| *error > CLOCK_ERROR_MAX);
    let clocks = clocks.map(|(site, error)| {
        format!(
            "the clock of {} is known to ± {} alone: what it counted may stand in a second beside the right one",
            site.name,
            time(error.0 as f64)
        )
    });
    apart(run).into_iter().chain(clocks).collect()
}

/// The medians of a site.
struct Medians<'a> {
    name: &'a str,
    response_time: Nanos,
    lag: Nanos,
    /// `None` where it opened no connection in time to be counted.
    connect: Option<Nanos>,
}

impl<'a> Medians<'a> {
    fn of(site: &'a SiteRow) -> Option<Self> {
        let median = |times: &PackedHistogram| times.unpack().ok()?.quantile(0.5);
        let SiteRow { name, response_time, lag, connect, .. } = site;
        Some(Self { name, response_time: median(response_time)?, lag: median(lag)?, connect: median(connect) })
    }
}

fn apart(run: &Summary) -> Vec<String> {
    let sites: Vec<Medians<'_>> =
        run.sites.iter().filter(|site| site.response_time.count() >= REQUESTS_MIN).filter_map(Medians::of).collect();
    let others = |site: &Medians<'_>, of: &dyn Fn(&Medians<'_>) -> Option<Nanos>| -> Vec<Nanos> {
        let mut others: Vec<Nanos> = sites.iter().filter(|other| other.name != site.name).filter_map(of).collect();
        others.sort_unstable();
        others
    };
    let sentence = |site: &Medians<'_>| {
        let rest = others(site, &|site| Some(site.response_time));
        let (least, most) = (rest.first()?, rest.last()?);
        // The others have to agree among themselves.
        let more = site.response_time.since(*most);
        if is_apart(*least, most.since(*least)) || !is_apart(*most, more) {
            return None;
        }
        let late = site.lag.since(others(site, &|site| Some(site.lag)).last().copied()?);
        let way = site.connect.zip(others(site, &|site| site.connect).last().copied());
        let way = way.map_or(Nanos::ZERO, |(own, others)| own.since(others));
        let explains = |part: Nanos| part.0 as f64 >= more.0 as f64 * EXPLAINED_SHARE;
        let sees = format!("{} waits {} longer for half of its answers than the others at most", site.name, time(more.0 as f64));
        Some(if explains(late) {
            format!("{sees}, and loadline itself was late there by as much: its figures are its own")
        } else if explains(way) {
            format!("{sees}, and connects {} slower: the way from there, not the server", time(way.0 as f64))
        } else {
            format!("{sees}; why cannot be told from here")
        })
    };
    sites.iter().filter_map(sentence).collect()
}

fn is_apart(than: Nanos, by: Nanos) -> bool {
    by > APART_MIN && by.0 as f64 > than.0 as f64 * APART_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Histogram, Requests, fixtures};

    /// A site with its median, the time of a connection and its lag, in milliseconds.
    fn site(name: &str, (median, connect, lag): (u64, u64, u64)) -> SiteRow {
        let of = |millis: u64| {
            let mut histogram = Histogram::new();
            (0..200).for_each(|_| histogram.record(Nanos::from_millis(millis)));
            histogram.pack_whole()
        };
        SiteRow {
            name: name.to_owned(),
            threads: 1,
            requests: Requests::default(),
            response_time: of(median),
            connect: of(connect),
            lag: of(lag),
            cpu_ns: 0,
            clock_error: None,
            lost: None,
            machine: None,
        }
    }

    fn said(sites: Vec<SiteRow>) -> Vec<String> {
        let mut run = fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap().1;
        run.edit_for_test().sites = sites;
        sentences(&run)
    }

    #[test]
    fn a_site_that_is_far_away_is_told_from_a_server_that_is_slow() {
        let near = || site("eu-1", (10, 1, 0));
        let far = said(vec![near(), site("eu-3", (11, 1, 0)), site("us-1", (50, 41, 0))]);
        assert_eq!(
            far,
            [
                "us-1 waits 39.0 ms longer for half of its answers than the others at most, and connects 40.0 ms slower: the way from there, not the server"
            ]
        );
        let starved = said(vec![near(), site("us-1", (50, 1, 40))]);
        assert!(starved[0].ends_with("its figures are its own"), "{starved:?}");
        let unknown = said(vec![near(), site("us-1", (50, 1, 0))]);
        assert!(unknown[0].ends_with("why cannot be told from here"), "{unknown:?}");
    }

    #[test]
    fn a_clock_that_is_not_known_to_a_second_is_told() {
        let with_clock = |error: u64| SiteRow { clock_error: Some(Nanos::from_millis(error)), ..site("b", (10, 1, 0)) };
        assert_eq!(said(vec![site("a", (10, 1, 0)), with_clock(400)]), Vec::<String>::new());
        let told = said(vec![site("a", (10, 1, 0)), with_clock(700)]);
        assert!(told[0].starts_with("the clock of b is known to ± 700 ms alone"), "{told:?}");
    }

    #[test]
    fn of_sites_that_agree_or_all_differ_nothing_is_said() {
        assert_eq!(said(vec![site("a", (10, 1, 0))]), Vec::<String>::new());
        assert_eq!(said(vec![site("a", (10, 1, 0)), site("b", (12, 1, 0))]), Vec::<String>::new());
        assert_eq!(said(vec![site("a", (10, 1, 0)), site("b", (30, 1, 0)), site("c", (90, 1, 0))]), Vec::<String>::new());
    }
}
