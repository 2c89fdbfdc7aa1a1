//! Requests that another tool keeps, as they are sent; and what of such a file holds for another server.
//!
//! A file of one of them says where, how and what in its own words. Ways that lead to its own server (a proxy, a socket, an address) lead
//! astray where the user sends its requests to another one, so they are left out and told.

use std::path::Path;

use import::collection::{Collection, Environment, FILE_BYTES_MAX, Kind, Unread, Wishes, beside, guess};
use plan::setting::{ALSO_TARGET, ENVIRONMENT, TARGET, VARIABLE};
use plan::{Draft, PlanError, Scheme, Target, plainly};

use crate::{Reader, fingerprint, is_scenario_file};

/// A file names so many others at most, those of these included.
const INCLUDED_MAX: usize = 100;

/// What the user says about a file, with the files that it includes, which stand beside it, and what it asks of the machine.
#[must_use]
pub fn with_included(path: &str, kind: Kind, bytes: &[u8], wishes: &Wishes, reader: &Reader) -> Wishes {
    let file = path.rsplit('/').next().unwrap_or(path).to_owned();
    let mut wishes = Wishes { file, ..wishes.clone() };
    loop {
        let named = Collection::includes(kind, bytes, &wishes);
        if named.is_empty() {
            let included = wishes.included.values().flatten().map(String::as_bytes);
            // Looking for an address may take a while.
            if kind == Kind::Jmeter && std::iter::once(bytes).chain(included).any(names_machine) {
                wishes.machine = reader.inputs().machine();
            }
            let variables = Collection::variables_with_default(kind, bytes, &wishes);
            wishes.unset = variables.into_iter().filter(|name| reader.inputs().variable(name).is_none()).collect();
            return wishes;
        }
        for name in named {
            let held = if wishes.included.len() < INCLUDED_MAX {
                reader.whole(&beside(path, &name), FILE_BYTES_MAX).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            } else {
                Err(format!("more than {INCLUDED_MAX} files are included"))
            };
            wishes.included.insert(name, held);
        }
    }
}

/// Whether a test plan asks for the machine's name or its address.
fn names_machine(plan: &[u8]) -> bool {
    const WORD: &[u8] = b"__machine";
    plan.windows(WORD.len()).any(|word| word == WORD)
}

/// What a file holds, as it is sent; `None` if it is no other tool's.
#[must_use]
pub fn collection(path: &str, bytes: &[u8], wishes: &Wishes, reader: &Reader) -> Option<Result<Collection, PlanError>> {
    // What is none of them may be a scenario, or is told to be no URL.
    let kind = match guess(bytes) {
        Ok(kind) => kind,
        Err(Unread::Known(what)) => {
            return Some(Err(PlanError::new("url", format!("'{path}' {what}"), "see loadline import --help for the files that are read")));
        }
        Err(Unread::Unknown(_)) => return None,
    };
    // A scenario holds URLs too.
    if is_scenario_file(path) && !matches!(kind, Kind::OpenApi | Kind::Insomnia) {
        return None;
    }
    let wishes = &with_included(path, kind, bytes, wishes, reader);
    let mut read = match Collection::read(kind, bytes, wishes) {
        Ok(read) => read,
        Err(why) => {
            let help = match kind {
                Kind::OpenApi => format!("say where it is served with {TARGET:#} http://HOST:PORT"),
                Kind::Postman | Kind::Insomnia => {
                    format!("give values with {ENVIRONMENT} or {VARIABLE:#} NAME=VALUE, or say where with {TARGET}")
                }
                Kind::Jmeter => format!("look at the file there, or give values with {VARIABLE:#} NAME=VALUE"),
                _ => "look at the file there".to_owned(),
            };
            return Some(Err(PlanError::new(
                "url",
                format!("'{path}' cannot be read as {}: {}", kind.about(), why.wording().marked()),
                help,
            )));
        }
    };
    if !read.missing.is_empty() {
        let names = read.missing.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        let (are, values) = if read.missing.len() == 1 { ("a variable", "its value") } else { ("variables", "their values") };
        let known = read.environments();
        let known = if known.is_empty() { String::new() } else { format!(" (it has {})", known.join(", ")) };
        return Some(Err(PlanError::new(
            VARIABLE,
            format!("'{path}' names {are} without a value: {names}"),
            format!("give {values} with {ENVIRONMENT}{known}, or {VARIABLE:#} {}=VALUE", read.missing[0]),
        )));
    }
    if read.requests.len() > 1 {
        let missing = |file: &str| {
            let file = beside(path, file);
            reader.unreadable(&file).map(|why| format!("its file '{file}' cannot be read: {why}"))
        };
        let all = read.clone();
        read.leave_out_requests(|request| request.files().find_map(&missing));
        if read.requests.is_empty() {
            // Each of them is told as one that cannot be sent.
            read = all;
        }
    }
    if kind == Kind::Har {
        for (host, requests) in read.keep_first_site(&wishes.also) {
            let what = format!("what was asked of {host} ({requests})");
            let why = format!("it is another site than the page's; {ALSO_TARGET} or loadline import takes it over").into();
            read.left_out.push(import::collection::Omission { what, place: "the recording".to_owned(), why });
        }
    }
    Some(Ok(read))
}

/// The server that `--target` names.
///
/// # Errors
/// If it is none, or more than that.
pub fn server(text: &str) -> Result<Target, PlanError> {
    match text.parse::<Target>() {
        Ok(target) if target.path_and_query() == "/" => Ok(target),
        Ok(parsed) => Err(PlanError::new(
            TARGET,
            format!("{TARGET:#} '{text}' has a path, and those are the file's"),
            format!("write {}", parsed.origin()),
        )),
        Err(why) => Err(PlanError::new(TARGET, format!("{TARGET:#} '{text}' {why}"), "give a server such as http://127.0.0.1:8080")),
    }
}

/// Values that were given and are secrets, by their names or because their environment says so.
pub fn hidden(wishes: &Wishes) -> impl Iterator<Item = &str> {
    let given =
        wishes.variables.iter().chain(&wishes.properties).filter(|(name, _)| plan::is_secret(name)).map(|(_, value)| value.as_str());
    let values = match &wishes.environment {
        Some(Environment::Values(values)) => values.as_slice(),
        _ => &[],
    };
    let of_environment = values.iter().filter(|value| value.secret || plan::is_secret(&value.name)).filter_map(|value| value.value.plain());
    given.chain(of_environment)
}

/// An environment by its file or its name, and what the file holds, in short.
///
/// # Errors
/// If the file cannot be read, or is none.
pub fn environment(named: &str, reader: &Reader) -> Result<(Environment, Option<String>), PlanError> {
    let help = "give the file that Postman exports of an environment, or the name of one in an export of Insomnia";
    let wrong = |why: String| PlanError::new(ENVIRONMENT, format!("{ENVIRONMENT:#} '{named}' cannot be read: {why}"), help);
    let is_a_path = named.contains('/') || Path::new(named).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if !is_a_path && !reader.inputs().look(named).is_ok_and(|about| about.is_regular) {
        return Ok((Environment::Named(named.to_owned()), None));
    }
    let bytes = reader.read(named, FILE_BYTES_MAX).map_err(|why| wrong(plainly(&why)))?;
    let environment = Environment::read(&bytes).map_err(|why| wrong(why.wording().marked().to_owned()))?;
    Ok((environment, Some(fingerprint(&bytes))))
}

/// Takes ways to other servers than the URL's out of what a file says, but for those that `over` takes the place of; tells what it took.
pub fn leave_ways(said: &mut Draft, over: &Draft) -> Vec<String> {
    let mut left = Vec::new();
    let mut leave = |what: &str, way: Option<String>, typed: bool| {
        left.extend(way.filter(|_| !typed).map(|way| format!("the {what} '{way}': requests go to the target alone")));
    };
    leave("proxy", said.proxy.take().map(|proxy| plan::url_without_secrets(&proxy)), over.proxy.is_some());
    leave("Unix socket", said.unix_socket.take(), over.unix_socket.is_some());
    leave("address", said.connect_to.take().map(|to| to.to_string()), over.connect_to.is_some());
    left
}

/// Takes what is said about TLS out of a request that is sent without: other tools do not mind it there.
pub fn leave_tls(said: &mut Draft) {
    let target = said.url.as_ref().and_then(|url| url.parse::<Target>().ok());
    if said.follow.is_none() && target.is_some_and(|target| target.scheme() == Scheme::Http) {
        (said.insecure, said.cacert, said.cert, said.key) = (false, None, None, None);
    }
}

/// Path and query of a URL as they stand in it; empty where it has none.
#[must_use]
pub fn behind_host(url: &str) -> &str {
    &url[plan::server_in(url).end..]
}

/// The rest of the command line is judged as if the request had said where.
#[must_use]
pub fn placed(mut draft: Draft) -> Draft {
    draft.url = Some("http://127.0.0.1/".to_owned());
    draft
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{KnownSecrets, MemoryInputs};

    #[test]
    fn only_a_plan_that_asks_for_the_machine_is_told_of_it() {
        let reader = Reader::new(MemoryInputs::default().on_machine("box", "10.0.0.7"), KnownSecrets::default());
        let told = |plan: &str| with_included("p.jmx", Kind::Jmeter, plan.as_bytes(), &Wishes::default(), &reader).machine;
        assert_eq!(told("<jmeterTestPlan>${__machineName}</jmeterTestPlan>"), ("box".to_owned(), "10.0.0.7".to_owned()));
        assert_eq!(told("<jmeterTestPlan/>"), Default::default());
    }

    #[test]
    fn a_plan_is_told_which_of_its_variables_are_not_in_the_environment() {
        let reader = Reader::new(MemoryInputs::default().with_variable("HOME", "/home/me"), KnownSecrets::default());
        let plan = "<jmeterTestPlan><hashTree><TestPlan testname=\"p\"><stringProp name=\"TestPlan.comments\">\
            ${__env(HOME,,a)} ${__env(NONE,,b)}</stringProp></TestPlan><hashTree/></hashTree></jmeterTestPlan>";
        let wishes = with_included("p.jmx", Kind::Jmeter, plan.as_bytes(), &Wishes::default(), &reader);
        assert_eq!(wishes.unset.iter().map(String::as_str).collect::<Vec<_>>(), ["NONE"]);
    }
}
