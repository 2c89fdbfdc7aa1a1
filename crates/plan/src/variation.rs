//! What differs from request to request: templates, the rows they take from data files, and lists of URLs.
//!
//! The texts of a plan (its URL, headers and body) stay what was typed, templates included, so that a saved plan can be run
//! again; here is what fills them in. Files are named with what they held when the plan was made, never copied into it: a list
//! of a million addresses would make every result as long, and a column of passwords would be in all of them.
//!
//! Invariant: the n-th request of a run is decided by the plan, the files and n alone, whichever thread or user sends it.

use std::fmt;
use std::str::FromStr;

use crate::setting::URLS;
use crate::template::{Mistake, Template, is_templated};
use crate::{PlanError, Target, Wording, server_in};

use crate::data_file::DataFile;

/// How the texts of a plan are filled in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Variation {
    /// Whether `{{` in texts means anything.
    pub braces: Templating,
    /// Where rows are taken from.
    pub files: Vec<DataFile>,
    /// Which row is a request's.
    pub order: RowOrder,
    /// What happens after the last row.
    pub end: DataEnd,
    /// The list of URLs, if there is one.
    pub mix: Option<Mix>,
    /// What the file of the body holds, empty if it is no template; `None` in a plan that was saved, until its file is read again.
    pub body: Option<String>,
    /// What answers are held against, as it was typed.
    pub expects: Vec<String>,
    /// The variables that templates name, with their values. Never written down.
    pub environment: Vec<(String, String)>,
    /// Secrets that stand in other files than this plan. Never written down.
    pub concealed: Vec<String>,
}

impl Variation {
    /// What happens after the last row of the file at this place.
    #[must_use]
    pub fn end_of(&self, place: usize) -> DataEnd {
        self.files.get(place).and_then(|file| file.end).unwrap_or(self.end)
    }
}

/// What `{{` in texts means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Templating {
    /// A template.
    #[default]
    Template,
    /// Two braces.
    Text,
}

/// Which row is a request's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowOrder {
    /// The n-th request has the n-th row.
    #[default]
    InOrder,
    /// Any row, each as likely.
    Random,
    /// All requests of a user have the same row, and no other user has it.
    PerUser,
}

/// What happens after the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataEnd {
    /// The first comes again.
    #[default]
    Wrap,
    /// The load ends, and the run is complete.
    Stop,
    /// The run breaks off.
    Error,
    /// Each user that comes for a row goes.
    StopUser,
    /// Every column is [`END_MARK`].
    Mark,
}

/// What columns hold after the last row, where that is to be seen.
pub const END_MARK: &str = "<EOF>";

/// Words for values, both ways.
macro_rules! worded {
    ($kind:ty, $($word:literal => $value:expr),+; $else:literal) => {
        impl FromStr for $kind {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok($value),)+
                    _ => Err($else.to_owned()),
                }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                $(if *self == $value {
                    return f.write_str($word);
                })+
                Ok(())
            }
        }
    };
}

worded!(RowOrder, "in-order" => Self::InOrder, "random" => Self::Random, "per-user" => Self::PerUser;
    "is neither 'in-order' nor 'random' nor 'per-user'");
worded!(DataEnd, "wrap" => Self::Wrap, "stop" => Self::Stop, "error" => Self::Error, "stop-user" => Self::StopUser, "mark" => Self::Mark;
    "is none of 'wrap', 'stop', 'stop-user', 'mark' and 'error'");

/// A list of URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mix {
    /// The file.
    pub path: String,
    /// What it held when the plan was made; `None` where nobody looked.
    pub sha256: Option<String>,
    /// Whether its whole URLs go to the plan's own server too.
    pub at_url: bool,
    /// Its lines; empty in a plan that was saved, until its file is read again.
    pub routes: Vec<Route>,
    /// How one of them is chosen.
    pub turns: Turns,
}

/// How the routes of a mix take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turns {
    /// One after the other, in the order of the file.
    InOrder,
    /// By chance, each with its weight.
    Weighted,
}

/// A line of a list of URLs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// How often it is chosen, beside the others.
    pub weight: u64,
    /// Its own method, if it names one.
    pub method: Option<String>,
    /// Where it leads.
    pub target: Target,
}

/// Together they must be drawn from 53 bits of chance.
const WEIGHT_MAX: u64 = 1 << 32;

/// A URL whose path and query may be a template.
///
/// # Errors
/// All its mistakes, each in words that follow what the URL is called, and what to do.
pub(crate) fn target(url: &str, files: &[&str], braces: Templating) -> Result<Target, Vec<(String, Wording)>> {
    let plain = |url: &str| match url.parse::<Target>() {
        Ok(target) if target.port() == 0 => Err(("has port 0".to_owned(), "give the port the server listens on".into())),
        Ok(target) => Ok(target),
        Err(why) if why == "has no scheme" => {
            let url = url.trim_start_matches('/');
            Err((why, format!("write http://{url} or https://{url}").into()))
        }
        Err(why) => Err((why, "give a URL such as http://127.0.0.1:8080/healthz".into())),
    };
    if braces == Templating::Text || !is_templated(url) {
        return plain(url).map_err(|wrong| vec![wrong]);
    }
    let url = url.trim();
    let template = Template::parse(url, files).map_err(|mistakes| mistakes.iter().map(|mistake| told(mistake, url)).collect::<Vec<_>>())?;
    if let Some(at) = url[..server_in(url).end].find("{{") {
        let mistake = Mistake {
            at,
            length: 2,
            message: "only path and query can be a template: the server is looked up before the run".to_owned(),
            help: format!("write scheme, host and port out; {URLS} takes several servers").into(),
        };
        return Err(vec![told(&mistake, url)]);
    }
    let mark = Placeholder::absent_from(url);
    let target = plain(&template.marked(|number| mark.number(number))).map_err(|wrong| vec![wrong])?;
    let path = mark.filled(target.path_and_query(), &template);
    match path {
        Some(path) => Ok(target.with_path_and_query(path)),
        None => Err(vec![("has a template after #, which is not sent".to_owned(), "leave the # and what follows it out".into())]),
    }
}

/// A mistake in words that follow what the text is called.
pub(crate) fn told(mistake: &Mistake, text: &str) -> (String, Wording) {
    let line = match text[..mistake.at].matches('\n').count() {
        _ if !text.trim_end().contains('\n') => String::new(),
        before => format!(", line {}", before + 1),
    };
    (format!("is no template{line}: {}\n{}", mistake.message, mistake.pointed_out(text)), mistake.help.clone())
}

/// Stands for the values of a template where only plain text may stand: letters that no URL escapes.
#[derive(Debug, Clone)]
pub struct Placeholder(String);

impl Placeholder {
    /// One that the text does not hold.
    #[must_use]
    pub fn absent_from(text: &str) -> Self {
        let mut mark = "~value".to_owned();
        while text.contains(&mark) {
            mark.push('x');
        }
        Self(mark)
    }

    /// That of the value with this number.
    #[must_use]
    pub fn number(&self, number: usize) -> String {
        format!("{}{number}~", self.0)
    }

    /// How many there are in a text.
    #[must_use]
    pub fn count(&self, marked: &[u8]) -> usize {
        marked.windows(self.0.len()).filter(|window| *window == self.0.as_bytes()).count()
    }

    /// The text between the marks, and the number of each mark.
    ///
    /// # Panics
    /// If the marks are not this one's.
    #[must_use]
    pub fn split<'a>(&self, marked: &'a [u8]) -> Vec<(&'a [u8], Option<usize>)> {
        let mark = self.0.as_bytes();
        let mut parts = Vec::new();
        let mut rest = marked;
        while let Some(at) = rest.windows(mark.len()).position(|window| window == mark) {
            let after = &rest[at + mark.len()..];
            let end = after.iter().position(|byte| *byte == b'~').expect("a mark ends with ~");
            let number = std::str::from_utf8(&after[..end]).ok().and_then(|digits| digits.parse().ok()).expect("a mark has a number");
            parts.push((&rest[..at], Some(number)));
            rest = &after[end + 1..];
        }
        parts.push((rest, None));
        parts
    }

    /// The text with its marks filled in as they would be typed; `None` if one is missing.
    fn filled(&self, marked: &str, template: &Template) -> Option<String> {
        let values: Vec<_> = template.values().collect();
        let mut path = String::new();
        let mut seen = 0;
        for (text, number) in self.split(marked.as_bytes()) {
            path += &crate::template::literally(&String::from_utf8_lossy(text));
            if let Some(number) = number {
                path += &format!("{{{{{}}}}}", values.get(number)?);
                seen += 1;
            }
        }
        (seen == values.len()).then_some(path)
    }
}

/// Reads a list of URLs. Relative ones begin at `base`.
///
/// # Errors
/// All its mistakes.
pub(crate) fn routes(
    path: &str,
    lines: &[String],
    base: Option<&Target>,
    files: &[&str],
    braces: Templating,
) -> Result<(Vec<Route>, Turns), Vec<PlanError>> {
    let mut routes = Vec::new();
    let mut errors = Vec::new();
    let mut turns = Turns::InOrder;
    for (number, line) in (1..).zip(lines) {
        let line = line.trim();
        if is_comment(line) {
            continue;
        }
        let mut wrong = |message: String, help: Wording| {
            // A file of another kind has a mistake in each of its lines.
            if errors.len() < MISTAKES_MAX {
                errors.push(PlanError::new(URLS, format!("{URLS:#} {path}, line {number}: {message}"), help));
            }
        };
        let (first, rest) = word(line);
        let (weight, line) = match first.parse::<u64>() {
            Ok(weight) if !rest.is_empty() => (Some(weight), rest),
            _ => (None, line),
        };
        if weight.is_some_and(|weight| weight > WEIGHT_MAX) {
            wrong(format!("the weight {first} is too large"), "give a whole number such as 80".into());
            continue;
        }
        let (first, rest) = word(line);
        // A method may begin so (RFC 9110 §5.6.2), but none does: it is a weight that would be sent as a method.
        if !rest.is_empty() && first.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter)) {
            wrong(format!("the weight '{first}' is not a whole number"), "give a whole number such as 80".into());
            continue;
        }
        let is_method = !rest.is_empty() && !first.contains(['/', ':', '{']) && first.bytes().all(crate::encoding::is_token);
        let (method, url) = if is_method { (Some(first.to_owned()), rest) } else { (None, line) };
        if method.as_deref() == Some("CONNECT") {
            wrong("CONNECT opens a tunnel and has no answer to measure".to_owned(), "give another method".into());
            continue;
        }
        let whole = match base {
            Some(base) if url.starts_with('/') => format!("{}://{}{url}", base.scheme(), base.authority()),
            None if url.starts_with('/') => {
                wrong(format!("'{url}' has no server"), format!("write the whole URL, or give http://HOST:PORT/ beside {URLS}").into());
                continue;
            }
            _ => url.to_owned(),
        };
        match target(&whole, files, braces) {
            Ok(target) => {
                if weight.is_some() {
                    turns = Turns::Weighted;
                }
                routes.push(Route { weight: weight.unwrap_or(1), method, target });
            }
            Err(mistakes) => mistakes.into_iter().for_each(|(why, help)| wrong(format!("the URL '{}' {why}", shortened(url)), help)),
        }
    }
    if errors.is_empty() && routes.iter().map(|route| route.weight).sum::<u64>() == 0 {
        let (message, help) = if routes.is_empty() {
            (format!("{URLS:#} {path} holds no URL"), "write one a line: [WEIGHT] [METHOD] URL")
        } else {
            (format!("{URLS:#} {path} has only weights of 0"), "give one of them a weight above 0")
        };
        errors.push(PlanError::new(URLS, message, help));
    }
    if errors.is_empty() { Ok((routes, turns)) } else { Err(errors) }
}

/// Whether a line of a list of URLs says nothing.
pub(crate) fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// So many mistakes of one file are told.
pub(crate) const MISTAKES_MAX: usize = 20;

fn word(line: &str) -> (&str, &str) {
    line.split_once([' ', '\t']).map_or((line, ""), |(first, rest)| (first, rest.trim_start()))
}

/// A text of a file that may be anything.
fn shortened(text: &str) -> String {
    const LETTERS_MAX: usize = 80;
    let mut short: String = text.chars().take(LETTERS_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(LETTERS_MAX).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spelling;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_url_keeps_its_templates_and_escapes_the_rest() {
        let found = target("http://a.test/ü/{{random 1 9}}?q={{ choice \"a b\" c }}&x={{\"{{\"}}", &[], Templating::Template).unwrap();
        assert_eq!(found.path_and_query(), "/%C3%BC/{{random 1 9}}?q={{choice \"a b\" c}}&x={{\"{{\"}}");
        assert_eq!(target(&found.to_string(), &[], Templating::Template), Ok(found));
    }

    #[test]
    fn what_is_connected_to_is_no_template() {
        for url in ["http://{{env HOST}}/", "{{env URL}}", "http://a.test{{choice /a /b}}", "http://a.test:{{random 1 9}}/x"] {
            let wrong = target(url, &[], Templating::Template).unwrap_err();
            assert!(wrong[0].0.contains("before the run") && wrong[0].0.contains("^^"), "{url}: {wrong:?}");
        }
        assert!(target("http://a.test/#{{uuid}}", &[], Templating::Template).unwrap_err()[0].0.contains("not sent"));
    }

    #[test]
    fn braces_that_are_text_stay_text() {
        let found = target("http://a.test/?q={{x}}", &[], Templating::Text).unwrap();
        assert_eq!(found.path_and_query(), "/?q={{x}}");
    }

    #[test]
    fn a_list_of_urls_has_weights_and_methods() {
        let text = "# what people do\n80 /search?q={{uuid}}\n\n15 POST http://b.test:8080/orders\n5\tDELETE /x\n";
        let base = "http://a.test/".parse().unwrap();
        let (routes, turns) = routes("mix.txt", &lines(text), Some(&base), &[], Templating::Template).unwrap();
        let shown: Vec<_> = routes.iter().map(|route| (route.weight, route.method.as_deref(), route.target.to_string())).collect();
        assert_eq!(
            shown,
            [
                (80, None, "http://a.test/search?q={{uuid}}".to_owned()),
                (15, Some("POST"), "http://b.test:8080/orders".to_owned()),
                (5, Some("DELETE"), "http://a.test/x".to_owned())
            ]
        );
        assert_eq!(turns, Turns::Weighted);
        assert_eq!(super::routes("u", &lines("http://a/\nhttp://b/"), None, &[], Templating::Template).unwrap().1, Turns::InOrder);
    }

    #[test]
    fn every_mistake_of_a_list_is_told_with_its_line() {
        let text = "http://a/{{uid}}\n/x\nftp://a/\n99999999999 http://a/\nCONNECT http://a/\n-3 http://a/\n0.5 GET http://a/";
        let errors = routes("u", &lines(text), None, &[], Templating::Template).unwrap_err();
        let said: Vec<String> = errors.iter().map(|error| error.message.spelt(Spelling::Flags)).collect();
        assert_eq!(said.len(), 7, "{said:#?}");
        for (message, part) in said.iter().zip([
            "line 1: the URL",
            "line 2: '/x' has no server",
            "ftp",
            "too large",
            "tunnel",
            "line 6: the weight '-3' is not",
            "line 7: the weight '0.5' is not",
        ]) {
            assert!(message.contains(part), "{message}");
        }
        assert!(
            routes("u", &lines("\n# nothing\n"), None, &[], Templating::Template).unwrap_err()[0].message.marked().contains("holds no URL")
        );
        assert!(
            routes("u", &lines("0 http://a/"), None, &[], Templating::Template).unwrap_err()[0].message.marked().contains("weights of 0")
        );
        let binary = vec!["\u{0}\u{fffd}\u{1b}".repeat(1000); 1000];
        assert_eq!(routes("u", &binary, None, &[], Templating::Template).unwrap_err().len(), MISTAKES_MAX);
    }

    #[test]
    fn words_for_order_and_end_read_back() {
        for order in ["in-order", "random", "per-user"] {
            assert_eq!(order.parse::<RowOrder>().unwrap().to_string(), order);
        }
        for end in ["wrap", "stop", "error", "stop-user", "mark"] {
            assert_eq!(end.parse::<DataEnd>().unwrap().to_string(), end);
        }
    }
}
