//! Versions of one file, whose paths differ in one part of its name only.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::Counts;

/// So many names that differ in one part only are versions of one file.
const VERSIONS_MIN: usize = 5;

/// Puts versions of a file together: `/app.a1.js`, `/app.b7.js` and more are `/app.{version}.js`.
pub(super) fn without_versions(routes: Vec<(String, String, Counts)>) -> Vec<(String, String, Counts)> {
    let mut together: BTreeMap<(String, String), Vec<Counts>> = BTreeMap::new();
    let mut alone = Vec::new();
    let mut sure: FxHashMap<(String, String), usize> = FxHashMap::default();
    for (method, path, _) in &routes {
        if let Some(whole) = versioned(path) {
            *sure.entry((method.clone(), whole)).or_default() += 1;
        }
    }
    for (method, path, counts) in routes {
        match versioned(&path).map(|whole| (method.clone(), whole)).filter(|key| sure[key] >= VERSIONS_MIN) {
            Some(key) => together.entry(key).or_default().push(counts),
            None => alone.push((method, path, counts)),
        }
    }
    alone.extend(together.into_iter().map(|((method, path), counts)| {
        let mut all = Counts::default();
        counts.into_iter().for_each(|counts| all.absorb(counts));
        (method, path, all)
    }));
    alone
}

/// `/app.{version}.js` of `/app.a1.js`: a name of three parts with a digit in the middle.
fn versioned(path: &str) -> Option<String> {
    let (before, name) = path.rsplit_once('/')?;
    let mut parts = name.split('.');
    let (stem, version, ending) = (parts.next()?, parts.next()?, parts.next()?);
    let is_version = parts.next().is_none()
        && version.bytes().any(|letter| letter.is_ascii_digit())
        && version.bytes().all(|it| it.is_ascii_alphanumeric());
    (is_version && !stem.is_empty() && !ending.is_empty()).then(|| format!("{before}/{stem}.{{version}}.{ending}"))
}
