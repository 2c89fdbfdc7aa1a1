//! On which machine each site is: sites that share its cores know each other, and one of them looks for others there.

/// The machine that a site is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// The commander's.
    Here,
    /// One that is told from others.
    Known(&'a str),
    /// One whose system does not say which it is: that of this site alone.
    Alone(&'a str),
}

/// The processes on the machine of each site, for one site of each machine, which looks for others on its cores.
pub(crate) fn together(sites: &[(Place<'_>, u32)]) -> Vec<Option<Vec<u32>>> {
    let of = |(number, (place, _)): (usize, &(Place<'_>, u32))| {
        let is_first = sites[..number].iter().all(|(other, _)| other != place);
        is_first.then(|| sites.iter().filter(|(other, _)| other == place).map(|(_, process)| *process).collect())
    };
    sites.iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_several_sites_has_one_that_looks_for_others() {
        let found = together(&[(Place::Known("a"), 7), (Place::Known("b"), 8), (Place::Known("a"), 9), (Place::Alone("a"), 9)]);
        assert_eq!(found, [Some(vec![7, 9]), Some(vec![8]), None, Some(vec![9])]);
        assert_eq!(together(&[(Place::Here, 1), (Place::Here, 2)]), [Some(vec![1, 2]), None]);
    }
}
