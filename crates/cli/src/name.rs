//! The name of a result, which its files and its row in the history have: as it is called, or as its URL or its file suggests.

use plan::{Draft, Target};
use scenario::Scenario;

/// The name that a draft suggests: its scenario's, or its URL's, or this one.
pub fn of_draft(draft: &Draft, scenario: Option<&Scenario>, otherwise: &str) -> String {
    match (resolve::file_of(draft), &draft.url) {
        (Some(path), _) => of_scenario(scenario.and_then(|scenario| scenario.name.as_deref()), path),
        (None, Some(url)) => of_url(url),
        (None, None) => otherwise.to_owned(),
    }
}

/// The name a URL suggests: its path's words, or its host.
pub fn of_url(url: &str) -> String {
    let Ok(target) = plan::template::around(url).concat().parse::<Target>() else { return "sweep".to_owned() };
    let path = target.path_and_query().split('?').next().unwrap_or_default();
    let words = |text: &str| {
        let plain: String =
            text.chars().map(|letter| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { ' ' }).collect();
        plain.split([' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    };
    let name = words(path);
    let name = if name.is_empty() { words(target.host()) } else { name };
    // Long enough to tell apart, short enough for every file system with an ending.
    let name: String = name.trim_start_matches(['.', '-']).chars().take(NAME_LETTERS_MAX).collect();
    if name.is_empty() { "sweep".to_owned() } else { name }
}

const NAME_LETTERS_MAX: usize = 100;

/// What the history calls what is done with a scenario: as it calls itself, or else as its file is called.
pub fn of_scenario(name: Option<&str>, path: &str) -> String {
    name.map_or_else(|| stem(path), str::to_owned)
}

fn stem(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_suggests_a_name_for_files() {
        for (url, name) in [
            ("http://127.0.0.1:8080/healthz", "healthz"),
            ("http://api.test/v1/users/?page=2", "v1-users"),
            ("http://api.test:8080/", "api.test"),
            ("http://api.test", "api.test"),
            ("http://[::1]:80/", "1"),
            ("http://api.test/..%2f..%2fetc", "2f..-2fetc"),
            ("http://api.test/.hidden", "hidden"),
            ("nonsense", "sweep"),
        ] {
            assert_eq!(of_url(url), name, "{url}");
        }
        assert_eq!(of_url(&format!("http://a.test/{}", "x".repeat(500))).len(), NAME_LETTERS_MAX);
    }
}
