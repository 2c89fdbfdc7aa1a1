//! Where the requests of a file go: told before the first is sent.
//!
//! A recording, a collection or a list of URLs names its servers itself, and whoever runs it may know one of them. So every server is
//! told with the number of its requests, also where all of them are sent to another one.

use import::collection::Collection;
use plan::{Also, Plan, Target};
use resolve::Scenarios;
use scenario::Scenario;

/// The servers that a file names, and those that its requests may go to.
#[derive(Debug)]
pub struct Destinations {
    path: String,
    /// Where requests go that may not go where the file says.
    target: Target,
    also: Also,
    /// Those that the user named besides.
    named: Also,
    /// Where the file itself sends its requests, and how many.
    servers: Vec<(Target, usize)>,
    /// Who wrote the file.
    author: Author,
}

/// Who wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Author {
    /// The user: a scenario.
    User,
    /// Another tool, or a browser.
    Tool,
}

/// What chose where the requests of a file go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// `--target`.
    Target,
    /// A URL beside the file, or that of a saved plan.
    Address,
    /// The file alone.
    File,
}

/// What is said of where requests go.
#[derive(Debug, PartialEq, Eq)]
pub enum DestinationNote {
    /// What is as it was asked for.
    Remark(String),
    /// What the user may not know: several servers are loaded.
    Doubt {
        /// Which.
        text: String,
        /// How many.
        servers: usize,
    },
}

impl Destinations {
    /// Where the requests of the file go that a plan names as its scenario or as its list of URLs, or that it was made of; `None` without
    /// any of them.
    pub fn of(plan: &Plan, scenarios: &Scenarios) -> Option<Self> {
        if let Some((path, requests)) = scenarios.single() {
            return Self::of_requests(&format!("'{}'", report::visible(path)), requests);
        }
        let Some(file) = plan.scenario() else { return Self::of_urls(plan) };
        let author = if scenarios.requests(&file.path).is_some() { Author::Tool } else { Author::User };
        Some(Self::new(&file.path, plan, &*scenarios.of_plan(plan)?, author, &scenarios.wishes().also))
    }

    /// Of a scenario that a plan names; `typed` are servers that the command line names.
    pub fn new(path: &str, plan: &Plan, scenario: &Scenario, author: Author, typed: &Also) -> Self {
        let own = scenario.draft.url.as_ref().and_then(|url| url.parse::<Target>().ok()).unwrap_or_else(|| plan.target().clone());
        let servers = scenario.servers().into_iter().map(|(other, requests)| (other.unwrap_or_else(|| own.clone()), requests)).collect();
        let path = format!("'{}'", report::visible(path));
        // What is no server is told of the plan.
        let named = Also::read(&[typed.written(), scenario.also_named.clone()].concat(), &mut Vec::new());
        Self { path, target: plan.target().clone(), also: plan.also().clone(), named, servers, author }
    }

    /// Of another tool's requests, whose file is called `shown`.
    pub fn of_requests(shown: &str, requests: &Collection) -> Option<Self> {
        let servers = requests.servers();
        let (target, _) = servers.first()?.clone();
        Some(Self { path: shown.to_owned(), target, also: Also::Any, named: Also::default(), servers, author: Author::Tool })
    }

    /// Of the list of URLs that a plan names, if it has one. A line counts as often as it is chosen beside the others.
    pub fn of_urls(plan: &Plan) -> Option<Self> {
        let mix = plan.variation().mix.as_ref()?;
        let mut servers: Vec<(Target, usize)> = Vec::new();
        for route in &mix.routes {
            match servers.iter_mut().find(|(known, _)| known.same_origin(&route.target)) {
                Some((_, requests)) => *requests += route.weight as usize,
                None => servers.push((route.target.clone(), route.weight as usize)),
            }
        }
        let path = format!("'{}'", report::visible(&mix.path));
        Some(Self { path, target: plan.target().clone(), also: Also::Any, named: plan.also().clone(), servers, author: Author::User })
    }

    /// What there is to say; nothing where there is one server and the user named it.
    pub fn said(&self, choice: Choice) -> Option<DestinationNote> {
        let Self { path, target, also, named, servers, author } = self;
        let stays = |server: &Target| server.same_origin(target) || also.holds(server);
        let mut distinct: Vec<&Target> = Vec::new();
        for (server, _) in servers {
            if !distinct.iter().any(|known| known.same_server(server)) {
                distinct.push(server);
            }
        }
        let of = |stay: bool| servers.iter().filter(move |(server, _)| stays(server) == stay).cloned().collect::<Vec<_>>();
        let (kept, others) = (of(true), of(false));
        if !others.is_empty() {
            let also = if kept.is_empty() { String::new() } else { format!(", and those for {} go there", listed(&kept)) };
            let text = format!("{path}: requests for {} go to {}{also}", listed(&others), target.origin());
            return (distinct.len() > 1).then_some(DestinationNote::Remark(text));
        }
        let text = format!("{path}: requests go to {}", listed(servers));
        match (distinct.len(), author) {
            (0 | 1, Author::User) if distinct.iter().all(|server| server.same_server(target)) => None,
            (0 | 1, Author::Tool) if choice != Choice::File => None,
            (0 | 1, _) => Some(DestinationNote::Remark(text)),
            _ if choice == Choice::Target => Some(DestinationNote::Remark(text)),
            // One of them is the file's own.
            _ if distinct.iter().filter(|server| !named.holds(server)).count() <= 1 => Some(DestinationNote::Remark(text)),
            (servers, _) => Some(DestinationNote::Doubt { text, servers }),
        }
    }
}

/// `https://a.test (3) and http://b.test (1)`, the most requests first.
fn listed(servers: &[(Target, usize)]) -> String {
    let mut sorted: Vec<&(Target, usize)> = servers.iter().collect();
    sorted.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
    let more = sorted.len().saturating_sub(SERVERS_SHOWN);
    let mut texts: Vec<String> =
        sorted.iter().take(SERVERS_SHOWN).map(|(server, requests)| format!("{} ({requests})", server.origin())).collect();
    if more > 0 {
        texts.push(format!("{more} more servers"));
    }
    match texts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// So many are told by name.
const SERVERS_SHOWN: usize = 10;

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a file with so many requests for each of these servers.
    fn said(target: &str, also: &[&str], servers: &[(&str, usize)], author: Author, choice: Choice) -> Option<DestinationNote> {
        let also = Also::read(&also.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), &mut Vec::new());
        let servers = servers.iter().map(|(server, requests)| (server.parse().unwrap(), *requests)).collect();
        let named = Also::default();
        Destinations { path: "'a.har'".to_owned(), target: target.parse().unwrap(), also, named, servers, author }.said(choice)
    }

    fn remark(text: &str) -> Option<DestinationNote> {
        Some(DestinationNote::Remark(text.to_owned()))
    }

    #[test]
    fn several_servers_of_a_file_are_a_doubt_unless_they_were_named() {
        let both = [("http://a.test", 1), ("https://b.test", 3)];
        let text = "'a.har': requests go to https://b.test (3) and http://a.test (1)";
        let asked = |author, choice| said("https://b.test", &["http://a.test"], &both, author, choice);
        assert_eq!(asked(Author::Tool, Choice::File), Some(DestinationNote::Doubt { text: text.to_owned(), servers: 2 }));
        assert_eq!(asked(Author::User, Choice::File), Some(DestinationNote::Doubt { text: text.to_owned(), servers: 2 }));
        // Both were named.
        assert_eq!(asked(Author::Tool, Choice::Target), remark(text));
        let servers = both.iter().map(|(server, requests)| (server.parse().unwrap(), *requests)).collect();
        let named = Also::read(&["http://a.test".to_owned()], &mut Vec::new());
        let own = Destinations {
            path: "'a.har'".to_owned(),
            target: "https://b.test".parse().unwrap(),
            also: named.clone(),
            named,
            servers,
            author: Author::User,
        };
        assert_eq!(own.said(Choice::File), remark(text));
    }

    #[test]
    fn one_server_of_a_list_is_told_where_it_is_not_the_user_s() {
        let one = [("http://a.test", 2)];
        assert_eq!(said("http://a.test", &[], &one, Author::User, Choice::File), None);
        assert_eq!(said("http://b.test", &["any"], &one, Author::User, Choice::File), remark("'a.har': requests go to http://a.test (2)"));
    }

    #[test]
    fn http_and_https_of_one_host_are_no_doubt() {
        let both = [("http://a.test", 1), ("https://a.test", 3)];
        let told = said("https://a.test", &["http://a.test"], &both, Author::Tool, Choice::File);
        assert_eq!(told, remark("'a.har': requests go to https://a.test (3) and http://a.test (1)"));
    }

    #[test]
    fn what_goes_to_the_target_in_place_of_other_servers_is_told() {
        let three = [("http://a.test", 1), ("https://b.test", 3), ("https://login.test", 2)];
        let told = said("http://127.0.0.1:9100", &["https://login.test"], &three, Author::Tool, Choice::Target);
        let text = "'a.har': requests for https://b.test (3) and http://a.test (1) go to http://127.0.0.1:9100, and those for https://login.test (2) go there";
        assert_eq!(told, remark(text));
        assert_eq!(said("http://127.0.0.1:9100", &[], &three[..1], Author::Tool, Choice::Target), None);
        let one = [("http://127.0.0.1:9100", 4)];
        assert_eq!(said(one[0].0, &[], &one, Author::Tool, Choice::Address), None);
        assert_eq!(said(one[0].0, &[], &one, Author::Tool, Choice::File), remark("'a.har': requests go to http://127.0.0.1:9100 (4)"));
    }

    #[test]
    fn many_servers_are_not_all_told() {
        let names: Vec<String> = (0..13).map(|number| format!("http://{number}.test")).collect();
        let many: Vec<(&str, usize)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        let Some(DestinationNote::Doubt { text, servers: 13 }) = said(&names[0], &["any"], &many, Author::Tool, Choice::File) else {
            panic!("no doubt")
        };
        assert!(text.ends_with("http://9.test (1) and 3 more servers"), "{text}");
    }
}
