//! Requests that another tool keeps, in the place of a URL: `loadline run request.sh`, `loadline run session.har`, `loadline run -- curl …`.
//!
//! What a browser copies is meant to be pasted behind a command. Behind `--` the shell has taken it apart already, so nothing in it
//! needs to be quoted again, and no option of curl's is taken for one of ours. A file in the place of a URL is looked into; what is
//! typed beside it goes over what it says, as flags go over a saved plan.
//!
//! One request is a plan like any other, unless it has checks, or values that were given to it, which no plan is to keep. Several are a
//! scenario: they are sent one after the other by each user, with cookies and values
//! that one takes from another, and that is what scenarios are for. So such a file makes the work of one, and goes on as if it
//! had been written by hand; secrets stand in it as they are, since it is never written down.
//!
//! Invariant: what is given as the value of a variable is not saved; a plan names the variable, and asks for the value when it is run again.

use std::path::Path;

use clap::{ArgAction, Args};
use import::collection::{Collection, Environment, FILE_BYTES_MAX, Kind, Unread, Wishes, guess};
use plan::{Also, Draft, Plan, PlanError, PlanErrors, Scheme, Target};

use crate::destinations::{Choice, DestinationNote};
use crate::exit::{Exit, Failed};
use crate::inputs::{plainly, readable, whole};
use crate::other_tools;
use crate::scenarios::{self, Scenarios};
use crate::screen::{Remarks, complain};
use crate::secrets;

/// What is said about a file in the place of a URL.
#[derive(Debug, Default, Args)]
pub struct Importing {
    /// Send what a scenario or another tool's file says to this server instead of where that says
    #[arg(long, value_name = "URL", help_heading = "Requests of other tools")]
    target: Option<String>,

    /// The environment whose values hold: a file that Postman exported, or the name of one in an export of Insomnia
    #[arg(long, value_name = "FILE|NAME", help_heading = "Requests of other tools")]
    environment: Option<String>,

    /// The value of a variable of the file, such as baseUrl=http://127.0.0.1:8080 (repeatable)
    #[arg(long, value_name = "NAME=VALUE", action = ArgAction::Append, value_parser = pair, help_heading = "Requests of other tools")]
    variable: Vec<(String, String)>,

    /// Send nothing, and end with 4, if something in the file is not carried over
    #[arg(long, help_heading = "Requests of other tools")]
    strict: bool,
}

/// A draft with what the file that it names says, and what was read.
pub struct ImportedDraft {
    /// What is decided on.
    pub draft: Draft,
    /// For whoever asks for the scenario again: when a plan is decided, and when it is carried out.
    pub scenarios: Scenarios,
    /// What is not carried over, each with its place.
    pub left_out: Vec<String>,
}

/// What to do about a file that asks several servers.
pub const ONE_SERVER: &str = "give --target URL to send all of them to one server, or name each other one with --also-target ORIGIN";

impl Importing {
    /// Puts what the file that a draft names, if it names one, under what was typed, and a saved plan under both.
    pub fn take(&self, mut draft: Draft, saved: Option<&Draft>, voice: Remarks, errors: &mut PlanErrors) -> ImportedDraft {
        self.look_at_target(errors);
        let (saved, mut left_of_saved) = match (saved.cloned(), &self.target) {
            (Some(saved), Some(_)) => {
                let (saved, left) = elsewhere(saved, &draft);
                (Some(saved), left)
            }
            (saved, _) => (saved, Vec::new()),
        };
        let under = |draft: Draft| match &saved {
            Some(saved) => saved.clone().overlaid(draft),
            None => draft,
        };
        self.tell("the saved plan", &left_of_saved, voice);
        if let Some(words) = pasted(&mut draft) {
            let (pasted, left_out) = self.of_words(&words, voice, errors);
            left_of_saved.extend(left_out);
            return ImportedDraft { draft: under(pasted.overlaid(draft)), scenarios: Scenarios::default(), left_out: left_of_saved };
        }
        let stands_for_url = |url: &String| !plan::has_scheme(url) && Path::new(url).is_file();
        let in_its_place = draft.url.clone().filter(|url| draft.scenario.is_none() && stands_for_url(url));
        let mut named = draft.clone();
        if let Some(path) = &in_its_place {
            (named.scenario, named.url) = (Some(path.clone()), None);
        }
        named = under(named);
        if let Some(target) = self.target.as_ref().filter(|_| named.scenario.is_none() && named.urls.is_some() && draft.url.is_none()) {
            named.urls_at_url = true;
            // A URL would take the place of a saved list.
            let (urls, urls_sha256) = (named.urls.clone(), named.urls_sha256.clone());
            draft = Draft { url: Some(target.clone()), urls_at_url: true, urls, urls_sha256, ..draft };
        }
        let Some(path) = named.scenario.clone() else {
            self.complain_without_a_file(&named, errors);
            return ImportedDraft { draft: under(looked_at(draft, errors)), scenarios: Scenarios::default(), left_out: Vec::new() };
        };
        if self.target.is_some() {
            named.url = self.target.clone();
        }
        let host = named.url.clone();
        let before = errors.0.len();
        let scenarios = self.reading(&mut named, host, &[], errors);
        let read = if errors.0.len() == before { scenarios.requests(&path) } else { None };
        match read {
            None if errors.0.len() == before && in_its_place.is_some() && !scenarios::is_file(&path) => {
                self.complain_without_a_file(&draft, errors);
                ImportedDraft { draft: under(looked_at(draft, errors)), scenarios, left_out: Vec::new() }
            }
            // Its checks are not those of a plan, and a plan would keep what was given as a value.
            Some(Ok(read))
                if in_its_place.is_some()
                    && self.variable.is_empty()
                    && self.environment.is_none()
                    && matches!(read.requests.as_slice(), [one] if one.checks.is_empty() && read.draft(one).is_ok()) =>
            {
                let (imported, left_out) = self.one(&read, &format!("'{path}'"), voice, errors);
                draft.url = None;
                left_of_saved.extend(left_out);
                ImportedDraft {
                    draft: under(imported.overlaid(draft)),
                    scenarios: scenarios.with_single(&path, read),
                    left_out: left_of_saved,
                }
            }
            _ => {
                let mut imported = self.of_scenario(named, &path, scenarios, errors);
                self.tell(&format!("'{path}'"), &imported.left_out, voice);
                imported.left_out.extend(left_of_saved);
                imported
            }
        }
    }

    /// The same of one side of several, whose draft is whole but for what its scenario says. What its file leaves open goes to `host`. Files
    /// that were `read` before, for the same wishes, are not read again.
    pub fn of_side(&self, mut draft: Draft, host: Option<String>, read: &[Scenarios], errors: &mut PlanErrors) -> ImportedDraft {
        let Some(path) = draft.scenario.clone() else {
            return ImportedDraft { draft, scenarios: Scenarios::default(), left_out: Vec::new() };
        };
        let scenarios = self.reading(&mut draft, host, read, errors);
        self.of_scenario(draft, &path, scenarios, errors)
    }

    /// A file that says what a side sends: a scenario, or requests of another tool. `None` if it says something else, such as a result.
    pub fn file_of_side(&self, path: &str, host: Option<String>) -> Option<Scenarios> {
        // What is wrong with what was said is told with the side.
        let scenarios = self.reading(&mut Draft::default(), host, &[], &mut PlanErrors::default());
        let says = match scenarios.requests(path) {
            // A plan that is written by hand has a method and a URL, as a target of vegeta has.
            Some(Ok(read)) => read.kind != Kind::VegetaJson || read.requests.len() > 1,
            Some(Err(_)) => true,
            None => scenarios::is_file(path),
        };
        says.then_some(scenarios)
    }

    /// Where files' requests are sent instead of where they say.
    pub fn target(&self) -> Option<String> {
        self.target.clone()
    }

    /// A scenario of one's own, or one that is made of another tool's requests.
    fn of_scenario(&self, mut draft: Draft, path: &str, scenarios: Scenarios, errors: &mut PlanErrors) -> ImportedDraft {
        let nothing = Vec::new();
        if errors.0.iter().any(|error| matches!(error.setting, "variable" | "environment" | "target")) {
            // What it lacks is told, and what follows from that need not be.
            draft.scenario = None;
            return ImportedDraft { draft: placed(draft), scenarios, left_out: nothing };
        }
        match scenarios.requests(path) {
            None => {
                if self.environment.is_some() || !self.variable.is_empty() {
                    errors.push(PlanError::new(
                        "variable",
                        format!("--variable and --environment are about a file of another tool, and '{path}' is none"),
                        "write values under its variables, or take them from the environment with {{env NAME}}",
                    ));
                }
                ImportedDraft { draft, scenarios, left_out: nothing }
            }
            Some(Err(error)) => {
                errors.push(error);
                draft.scenario = None;
                ImportedDraft { draft: placed(draft), scenarios, left_out: nothing }
            }
            Some(Ok(read)) => ImportedDraft { draft, scenarios, left_out: read.all_left_out() },
        }
    }

    /// The words of a curl command as a draft, with what is left out of it.
    pub fn of_words(&self, words: &[String], voice: Remarks, errors: &mut PlanErrors) -> (Draft, Vec<String>) {
        match Collection::of_curl(words) {
            Ok(read) => self.one(&read, "the curl command", voice, errors),
            Err(why) => {
                errors.push(PlanError::new(
                    "url",
                    format!("the words after -- cannot be used: {why}"),
                    "paste a whole curl command after --",
                ));
                (placed(Draft::default()), Vec::new())
            }
        }
    }

    /// The files of a draft as they are read, and in the draft where the values of their variables come from.
    fn reading(&self, draft: &mut Draft, host: Option<String>, read: &[Scenarios], errors: &mut PlanErrors) -> Scenarios {
        let missing: Vec<&String> =
            draft.variable_names.iter().filter(|name| !self.variable.iter().any(|(given, _)| given == *name)).collect();
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|name| format!("'{name}'")).collect();
            let again: Vec<String> = missing.iter().map(|name| format!("--variable {name}=VALUE")).collect();
            let (value, was) = if names.len() == 1 { ("value of the variable", "was") } else { ("values of the variables", "were") };
            errors.push(PlanError::new(
                "variable",
                format!("the {value} {} {was} left out when this plan was saved: it may be a secret", names.join(", ")),
                format!("give {} again with {}", if names.len() == 1 { "it" } else { "them" }, again.join(" ")),
            ));
        }
        let mut hold = None;
        if let Some(named) = self.environment.as_ref().or(draft.environment.as_ref()) {
            match environment(named) {
                Ok((environment, sha256)) => {
                    if self.environment.is_none() && draft.environment_sha256.is_some() && draft.environment_sha256 != sha256 {
                        errors.push(PlanError::new(
                            "environment",
                            format!("the environment '{named}' is not what it was when this plan was saved"),
                            format!("give it again as it is now with --environment {named}"),
                        ));
                    }
                    hold = Some(environment);
                    (draft.environment, draft.environment_sha256) = (Some(named.clone()), sha256);
                }
                Err(error) => errors.push(error),
            }
        }
        if !self.variable.is_empty() {
            draft.variable_names = self.variable.iter().map(|(name, _)| name.clone()).collect();
            draft.variable_names.sort_unstable();
            draft.variable_names.dedup();
        }
        let host = host.filter(|url| plan::is_address(url)).map(|url| if plan::has_scheme(&url) { url } else { format!("http://{url}") });
        // What is no server is told of the plan.
        let also = Also::read(&draft.also_target, &mut Vec::new());
        let wishes = Wishes { variables: self.variable.clone(), environment: hold, host, also, ..Wishes::default() };
        secrets::learn_values(hidden(&wishes));
        let known = read.iter().find(|scenarios| scenarios.wishes() == &wishes);
        known.cloned().unwrap_or_else(|| Scenarios::reading_with(wishes))
    }

    /// What is not carried over, said once.
    pub fn tell(&self, shown: &str, left_out: &[String], voice: Remarks) {
        if voice == Remarks::Talking || self.strict {
            left_out.iter().for_each(|left| complain(&format!("warning: of {shown} is left out: {}", report::visible(left))));
        }
    }

    /// Says where the requests of files go, of each side that is given. With `--strict`, nothing may be left out, and they go to one server
    /// or where `--target` and `--also-target` say.
    ///
    /// # Errors
    /// If something is left out; and if a file names several servers that the user did not.
    pub fn look<'a>(
        &self,
        sides: impl IntoIterator<Item = (&'a Plan, &'a Scenarios)>,
        left_out: &[String],
        voice: Remarks,
    ) -> Result<(), Failed> {
        let mut told: Vec<DestinationNote> = Vec::new();
        let mut ways: Vec<String> = Vec::new();
        let mut refused = None;
        for (plan, scenarios) in sides {
            for way in scenarios.ways_left_out() {
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
            let choice = match (&self.target, &scenarios.wishes().host) {
                (Some(_), _) => Choice::Target,
                (None, Some(_)) if !scenarios.are_single() => Choice::Address,
                (None, _) => Choice::File,
            };
            let Some(said) = scenarios.destinations(plan).and_then(|found| found.said(choice)) else { continue };
            if told.contains(&said) {
                continue;
            }
            let help = match plan.scenario() {
                Some(_) => ONE_SERVER,
                None => "name each server that is meant with --also-target ORIGIN, or take the others out of the list",
            };
            match &said {
                DestinationNote::Remark(text) if voice == Remarks::Talking => complain(text),
                DestinationNote::Remark(_) => {}
                DestinationNote::Doubt { text, servers } if self.strict => {
                    let message = format_args!("{text}, and --strict allows one server, not {servers}");
                    refused.get_or_insert(Failed::new(Exit::NotTrustworthy, message, help));
                }
                DestinationNote::Doubt { text, .. } if voice == Remarks::Talking => {
                    complain(&format!("warning: {text}\n  help: {help}"));
                }
                DestinationNote::Doubt { .. } => {}
            }
            told.push(said);
        }
        if voice == Remarks::Talking || self.strict {
            ways.iter().for_each(|left| complain(&format!("warning: of {}", report::visible(left))));
        }
        if let Some(refused) = refused {
            return Err(refused);
        }
        match left_out.len() + ways.len() {
            0 => Ok(()),
            _ if !self.strict => Ok(()),
            many => Err(Failed::new(
                Exit::NotTrustworthy,
                format_args!(
                    "{} not carried over, and --strict allows nothing to be left out",
                    if many == 1 { "1 thing is".to_owned() } else { format!("{many} things are") }
                ),
                "leave --strict out to send the rest, or make a scenario with loadline import and put in what is missing",
            )),
        }
    }

    /// Whether what `--target` says is a server.
    pub fn look_at_target(&self, errors: &mut PlanErrors) {
        if let Some(target) = &self.target {
            server(target).map(drop).unwrap_or_else(|error| errors.push(error));
        }
    }

    /// Whoever speaks of a file has to give one.
    pub fn complain_without_a_file(&self, draft: &Draft, errors: &mut PlanErrors) {
        if let Some(target) = self.target.as_ref().filter(|_| !draft.urls_at_url) {
            errors.push(match draft.url.as_ref().filter(|_| draft.urls.is_some()) {
                Some(url) => PlanError::new(
                    "target",
                    format!("--target {target} and {url} both say where the requests of the list go"),
                    "leave one of them out: with --target all of them go there, beside a URL whole URLs go to their own servers",
                ),
                None => PlanError::new(
                    "target",
                    format!("--target {target} says where a file's requests go, and no file is given"),
                    "give the URL alone, or a scenario, a file of another tool or a list of URLs (--urls) before it",
                ),
            });
        }
        if self.environment.is_some() || !self.variable.is_empty() {
            errors.push(PlanError::new(
                "variable",
                "--variable and --environment are about a file of another tool, and none is given",
                "give the file in the place of the URL, or leave them out",
            ));
        }
    }
}

/// A draft whose URL, if it is a file that cannot be run, has been told to be one.
fn looked_at(draft: Draft, errors: &mut PlanErrors) -> Draft {
    match draft.url.as_deref().and_then(other_tools::mistake) {
        Some(mistake) => {
            errors.push(mistake);
            placed(draft)
        }
        None => draft,
    }
}

/// What a file holds, as it is sent; `None` if it is no other tool's.
pub fn collection(path: &str, bytes: &[u8], wishes: &Wishes) -> Option<Result<Collection, PlanError>> {
    // What is none of them may be a scenario, or is told to be no URL.
    let kind = match guess(bytes) {
        Ok(kind) => kind,
        Err(Unread::Known(what)) => {
            return Some(Err(PlanError::new("url", format!("'{path}' {what}"), "see loadline import --help for the files that are read")));
        }
        Err(Unread::Unknown(_)) => return None,
    };
    // A scenario holds URLs too.
    if scenarios::is_file(path) && !matches!(kind, Kind::OpenApi | Kind::Insomnia) {
        return None;
    }
    let mut read = match Collection::read(kind, bytes, wishes) {
        Ok(read) => read,
        Err(why) => {
            let help = match kind {
                Kind::OpenApi => "say where it is served with --target http://HOST:PORT".to_owned(),
                Kind::Postman | Kind::Insomnia => {
                    "give values with --environment or --variable NAME=VALUE, or say where with --target".to_owned()
                }
                _ => "look at the file there".to_owned(),
            };
            return Some(Err(PlanError::new("url", format!("'{path}' cannot be read as {}: {why}", kind.about()), help)));
        }
    };
    if !read.missing.is_empty() {
        let names = read.missing.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        let (are, values) = if read.missing.len() == 1 { ("a variable", "its value") } else { ("variables", "their values") };
        let known = read.environments();
        let known = if known.is_empty() { String::new() } else { format!(" (it has {})", known.join(", ")) };
        return Some(Err(PlanError::new(
            "variable",
            format!("'{path}' names {are} without a value: {names}"),
            format!("give {values} with --environment{known}, or --variable {}=VALUE", read.missing[0]),
        )));
    }
    if read.requests.len() > 1 {
        let folder = path.rsplit_once('/').map(|(folder, _)| folder);
        let missing = |file: &str| {
            let beside = folder.filter(|_| !file.starts_with('/')).map_or_else(|| file.to_owned(), |folder| format!("{folder}/{file}"));
            readable(&beside).err().map(|why| format!("its file '{beside}' cannot be read: {why}"))
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
            let why = "it is another site than the page's; --also-target or loadline import takes it over".to_owned();
            read.left_out.push(import::collection::LeftOut { what, place: "the recording".to_owned(), why });
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
            "target",
            format!("--target '{text}' has a path, and those are the file's"),
            format!("write {}", parsed.origin()),
        )),
        Err(why) => Err(PlanError::new("target", format!("--target '{text}' {why}"), "give a server such as http://127.0.0.1:8080")),
    }
}

/// Values that were given and are secrets, by their names or because their environment says so.
pub fn hidden(wishes: &Wishes) -> impl Iterator<Item = &str> {
    let given = wishes.variables.iter().filter(|(name, _)| plan::is_secret(name)).map(|(_, value)| value.as_str());
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
pub fn environment(named: &str) -> Result<(Environment, Option<String>), PlanError> {
    let help = "give the file that Postman exports of an environment, or the name of one in an export of Insomnia";
    let wrong = |why: String| PlanError::new("environment", format!("--environment '{named}' cannot be read: {why}"), help);
    let path = Path::new(named);
    let is_a_path = named.contains('/') || path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
    if !path.is_file() && !is_a_path {
        return Ok((Environment::Named(named.to_owned()), None));
    }
    let bytes = whole(path, FILE_BYTES_MAX).map_err(|why| wrong(plainly(&why)))?;
    let environment = Environment::read(&bytes).map_err(|why| wrong(why.to_string()))?;
    Ok((environment, Some(script::fingerprint_of(&bytes))))
}

impl Importing {
    /// The only request of a file, or of the words behind `--`, with what is left out of it.
    fn one(&self, read: &Collection, shown: &str, voice: Remarks, errors: &mut PlanErrors) -> (Draft, Vec<String>) {
        let nothing = || (placed(Draft::default()), Vec::new());
        let [request] = read.requests.as_slice() else {
            errors.push(PlanError::new(
                "url",
                format!("{shown} holds {} requests, and this sends one", read.requests.len()),
                "save it to a file, and give that in the place of the URL",
            ));
            return nothing();
        };
        let mut imported = match read.draft(request) {
            Ok(imported) => imported,
            Err(why) => {
                errors.push(PlanError::new("url", format!("{shown} cannot be run: {}", why.what), why.help));
                return nothing();
            }
        };
        let mut left_out: Vec<String> = read.left_out.iter().map(ToString::to_string).collect();
        if let (Some(target), Some(url)) = (&self.target, imported.url.as_mut()) {
            // What is no server is told of the plan.
            let origin = server(target).map_or_else(|_| target.clone(), |target| target.origin());
            *url = format!("{}{}", origin.trim_end_matches('/'), behind_host(url));
            left_out.extend(leave_ways(&mut imported, &Draft::default()));
        }
        leave_tls(&mut imported);
        secrets::learn(&imported);
        self.tell(shown, &left_out, voice);
        (imported, left_out)
    }
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

/// A saved plan whose requests are to go to another server than its own: what leads to its own, or to others that it names, is left
/// out unless it was typed. Also tells what.
pub fn elsewhere(mut saved: Draft, typed: &Draft) -> (Draft, Vec<String>) {
    let left = leave_ways(&mut saved, typed);
    let Draft { also_target, proxy, unix_socket, connect_to, .. } = typed.clone();
    (Draft { also_target, proxy, unix_socket, connect_to, ..saved }, left)
}

/// Takes what is said about TLS out of a request that is sent without: other tools do not mind it there.
pub fn leave_tls(said: &mut Draft) {
    let target = said.url.as_ref().and_then(|url| url.parse::<Target>().ok());
    if said.follow.is_none() && target.is_some_and(|target| target.scheme() == Scheme::Http) {
        (said.insecure, said.cacert, said.cert, said.key) = (false, None, None, None);
    }
}

/// The words of a curl command behind `--`, taken out of a draft; `None` if there are none.
pub fn pasted(draft: &mut Draft) -> Option<Vec<String>> {
    let is_curl = draft.script.is_none() && draft.script_arguments.first().is_some_and(|word| word == "curl");
    is_curl.then(|| std::mem::take(&mut draft.script_arguments))
}

/// Path and query of a URL as they stand in it; empty where it has none.
pub fn behind_host(url: &str) -> &str {
    &url[plan::server_in(url).end..]
}

/// The rest of the command line is judged as if the request had said where.
pub fn placed(mut draft: Draft) -> Draft {
    draft.url = Some("http://127.0.0.1/".to_owned());
    draft
}

/// `NAME=VALUE`, for `--variable`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is not NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
