//! Names that exist, for those that do not: the nearest first.

use plan::template::nearest;

/// So many names are told.
const TOLD_MAX: usize = 10;

/// What to write in the place of a name that does not exist.
#[must_use]
pub fn instead_of<'a>(wanted: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let near = nearest(wanted, known.clone());
    let mut names: Vec<&str> = known.filter(|name| Some(*name) != near).collect();
    names.sort_unstable();
    let more = names.len().saturating_sub(TOLD_MAX);
    names.truncate(TOLD_MAX);
    let listed = names.join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match (near, names.is_empty()) {
        (Some(near), true) => format!("did you mean '{near}'?"),
        (Some(near), false) => format!("did you mean '{near}'? There are also {listed}{more}"),
        (None, true) => "there are none".to_owned(),
        (None, false) => format!("there are {listed}{more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_comes_first() {
        let names = ["Say", "SayHello", "Stop"];
        assert_eq!(instead_of("SayHelo", names.into_iter()), "did you mean 'SayHello'? There are also Say, Stop");
        assert_eq!(instead_of("Xxxxxxxxx", names.into_iter()), "there are Say, SayHello, Stop");
        assert_eq!(instead_of("Sai", ["Say"].into_iter()), "did you mean 'Say'?");
        assert_eq!(instead_of("a", [].into_iter()), "there are none");
        let many: Vec<String> = (10..30).map(|number| format!("method{number}")).collect();
        assert!(instead_of("x", many.iter().map(String::as_str)).ends_with("method19 and 10 more"));
    }
}
