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
use std::rc::Rc;

use clap::{ArgAction, Args};
use import::collection::{Collection, Kind, Wishes, properties};
use plan::{Also, Draft, LoadRecord, Plan, PlanError, PlanErrors, Sources, Spelling};
use resolve::{KnownSecrets, Reader, Scenarios, behind_host, environment, hidden, is_scenario_file, leave_tls, leave_ways, placed, server};

use crate::destinations::{Choice, DestinationNote, Destinations};
use crate::exit::{Exit, Failed};
use crate::inputs;
use crate::screen::{Remarks, complain_without};

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

    #[command(flatten, next_help_heading = "Requests of other tools")]
    properties: PropertyArgs,

    /// Send nothing, and end with 4, if something in the file is not carried over
    #[arg(long, help_heading = "Requests of other tools")]
    strict: bool,

    /// Whether the command chooses rates.
    #[arg(skip)]
    chooses_rates: bool,
}

/// The properties of a test plan of JMeter, said as `jmeter` takes them.
#[derive(Debug, Default, Args)]
pub struct PropertyArgs {
    /// The value of a property of a test plan (__P), as jmeter takes it: -Jusers=50 (repeatable)
    #[arg(short = 'J', long, value_name = "NAME=VALUE", action = ArgAction::Append, value_parser = pair)]
    property: Vec<(String, String)>,

    /// A file of such properties, NAME=VALUE a line; those of -J go over it (repeatable)
    #[arg(long, value_name = "FILE", action = ArgAction::Append)]
    properties: Vec<String>,
}

/// A file of properties is kept in memory.
const PROPERTIES_BYTES_MAX: u64 = 16 << 20;

impl PropertyArgs {
    /// All of them, of which the last of a name holds. Every file that cannot be read goes to `errors`.
    pub fn read(&self, reader: &Reader, errors: &mut PlanErrors) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for path in &self.properties {
            match reader.read(path, PROPERTIES_BYTES_MAX) {
                Ok(bytes) => pairs.extend(properties(&String::from_utf8_lossy(&bytes))),
                Err(why) => errors.push(PlanError::new(
                    "properties",
                    format!("--properties '{path}' cannot be read: {}", plan::plainly(&why)),
                    "give a file of lines such as users=50",
                )),
            }
        }
        pairs.extend_from_slice(&self.property);
        pairs
    }

    /// Whether nothing is said.
    pub const fn is_empty(&self) -> bool {
        self.property.is_empty() && self.properties.is_empty()
    }
}

/// A load with what the file that it names says, and what was read.
pub struct ImportedLoad {
    /// What is decided on.
    pub load: LoadRecord,
    /// For whoever asks for the scenario again: when a plan is decided, and when it is carried out.
    pub scenarios: Scenarios,
    /// What is not carried over, each with its place.
    pub left_out: Vec<String>,
}

/// What to do about a file that asks several servers.
pub const ONE_SERVER: &str = "give --target URL to send all of them to one server, or name each other one with --also-target ORIGIN";

impl Importing {
    /// The same of a command that chooses the rates at which its loads come.
    pub fn at_rates(self) -> Self {
        Self { chooses_rates: true, ..self }
    }

    /// Puts what the file that a draft names, if it names one, under what was typed, and a saved plan under both.
    pub fn take(
        &self,
        mut draft: Draft,
        saved: Option<&LoadRecord>,
        (known, voice): (&KnownSecrets, Remarks),
        errors: &mut PlanErrors,
    ) -> ImportedLoad {
        known.learn(&draft);
        inputs::warn_of(&draft, (known, voice));
        let reader = &inputs::reader(known);
        self.look_at_target(errors);
        let plain = || Scenarios::new(reader, Wishes::default());
        let (saved, mut left_of_saved) = match (saved.cloned(), &self.target) {
            (Some(saved), Some(_)) => {
                let (saved, left) = elsewhere(saved, &draft);
                (Some(saved), left)
            }
            (saved, _) => (saved, Vec::new()),
        };
        let under = |load: LoadRecord| match &saved {
            Some(saved) => saved.clone().repeated(load),
            None => load,
        };
        self.tell("the saved plan", &left_of_saved, (reader.secrets(), voice));
        if let Some(words) = pasted(&mut draft) {
            let (pasted, left_out) = self.of_words(&words, (reader, voice), errors);
            left_of_saved.extend(left_out);
            return ImportedLoad { load: under(pasted.overlaid(draft).into()), scenarios: plain(), left_out: left_of_saved };
        }
        let stands_for_url = |url: &String| !plan::has_scheme(url) && Path::new(url).is_file();
        let in_its_place = draft.url.clone().filter(|url| draft.scenario.is_none() && stands_for_url(url));
        let mut named = draft.clone();
        if let Some(path) = &in_its_place {
            (named.scenario, named.url) = (Some(path.clone()), None);
        }
        let mut named = under(named.into());
        let mut sources = Sources::default();
        let is_list = named.draft.scenario.is_none() && named.draft.urls.is_some() && draft.url.is_none();
        if let Some(target) = self.target.as_ref().filter(|_| is_list) {
            // A URL would take the place of a saved list.
            draft = Draft { url: Some(target.clone()), urls: named.draft.urls.clone(), ..draft };
            sources = Sources { urls_at_url: true, urls_sha256: named.sources.urls_sha256.clone(), ..sources };
        }
        let Some(path) = named.draft.scenario.clone() else {
            self.complain_without_a_file(&named.draft, is_list || named.sources.urls_at_url, errors);
            let load = under(LoadRecord { draft: looked_at(draft, reader, errors), sources });
            return ImportedLoad { load, scenarios: plain(), left_out: Vec::new() };
        };
        if self.target.is_some() {
            named.draft.url = self.target.clone();
        }
        let host = named.draft.url.clone();
        let before = errors.0.len();
        let scenarios = self.reading(&mut named, host, (reader, &[]), errors);
        let read = if errors.0.len() == before { scenarios.requests(&path) } else { None };
        match read {
            None if errors.0.len() == before && in_its_place.is_some() && !is_scenario_file(&path) => {
                self.complain_without_a_file(&draft, false, errors);
                ImportedLoad { load: under(looked_at(draft, reader, errors).into()), scenarios, left_out: Vec::new() }
            }
            // Its checks are not those of a plan, and a plan would keep what was given as a value.
            Some(Ok(read))
                if in_its_place.is_some()
                    && read.course.is_none()
                    && !self.gives_values()
                    && matches!(read.requests.as_slice(), [one] if one.checks.is_empty() && read.draft(one).is_ok()) =>
            {
                let (imported, left_out) = self.one(&read, &format!("'{path}'"), (reader, voice), errors);
                draft.url = None;
                left_of_saved.extend(left_out);
                ImportedLoad {
                    load: under(imported.overlaid(draft).into()),
                    scenarios: scenarios.with_single(&path, read),
                    left_out: left_of_saved,
                }
            }
            _ => {
                let mut imported = self.of_scenario(named, &path, scenarios, errors);
                self.tell(&format!("'{path}'"), &imported.left_out, (reader.secrets(), voice));
                imported.left_out.extend(left_of_saved);
                imported
            }
        }
    }

    /// The same of one side of several, whose load is whole but for what its scenario says. What its file leaves open goes to `host`. Files
    /// that were `read` before, for the same wishes, are not read again.
    pub fn of_side(
        &self,
        mut load: LoadRecord,
        host: Option<String>,
        (reader, read): (&Rc<Reader>, &[Scenarios]),
        errors: &mut PlanErrors,
    ) -> ImportedLoad {
        let Some(path) = load.draft.scenario.clone() else {
            return ImportedLoad { load, scenarios: Scenarios::new(reader, Wishes::default()), left_out: Vec::new() };
        };
        let scenarios = self.reading(&mut load, host, (reader, read), errors);
        self.of_scenario(load, &path, scenarios, errors)
    }

    /// A file that says what a side sends: a scenario, or requests of another tool. `None` if it says something else, such as a result.
    pub fn file_of_side(&self, path: &str, host: Option<String>, reader: &Rc<Reader>) -> Option<Scenarios> {
        // What is wrong with what was said is told with the side.
        let scenarios = self.reading(&mut LoadRecord::default(), host, (reader, &[]), &mut PlanErrors::default());
        let says = match scenarios.requests(path) {
            // A plan that is written by hand has a method and a URL, as a target of vegeta has.
            Some(Ok(read)) => read.kind != Kind::VegetaJson || read.requests.len() > 1,
            Some(Err(_)) => true,
            None => is_scenario_file(path),
        };
        says.then_some(scenarios)
    }

    /// Where files' requests are sent instead of where they say.
    pub fn target(&self) -> Option<String> {
        self.target.clone()
    }

    /// A scenario of one's own, or one that is made of another tool's requests.
    fn of_scenario(&self, load: LoadRecord, path: &str, scenarios: Scenarios, errors: &mut PlanErrors) -> ImportedLoad {
        let nothing = Vec::new();
        let without = |LoadRecord { draft, sources }: LoadRecord| LoadRecord { draft: placed(Draft { scenario: None, ..draft }), sources };
        if errors.0.iter().any(|error| matches!(error.setting, "variable" | "properties" | "environment" | "target")) {
            // What it lacks is told, and what follows from that need not be.
            return ImportedLoad { load: without(load), scenarios, left_out: nothing };
        }
        match scenarios.requests(path) {
            None => {
                if self.gives_values() {
                    errors.push(PlanError::new(
                        "variable",
                        format!("--variable, --property and --environment are about a file of another tool, and '{path}' is none"),
                        "write values under its variables, or take them from the environment with {{env NAME}}",
                    ));
                }
                ImportedLoad { load, scenarios, left_out: nothing }
            }
            Some(Err(error)) => {
                errors.push(error);
                ImportedLoad { load: without(load), scenarios, left_out: nothing }
            }
            Some(Ok(read)) => {
                let left_out = if load.draft.duration.is_some() { read.left_out_of_ended() } else { read.all_left_out() };
                ImportedLoad { load, scenarios, left_out: left_out.iter().map(|left| left.spelt(Spelling::Flags)).collect() }
            }
        }
    }

    /// The words of a curl command as a draft, with what is left out of it.
    pub fn of_words(&self, words: &[String], said: (&Rc<Reader>, Remarks), errors: &mut PlanErrors) -> (Draft, Vec<String>) {
        match Collection::of_curl(words) {
            Ok(read) => self.one(&read, "the curl command", said, errors),
            Err(why) => {
                errors.push(PlanError::new(
                    "url",
                    format!("the words after -- cannot be used: {}", why.wording().marked()),
                    "paste a whole curl command after --",
                ));
                (placed(Draft::default()), Vec::new())
            }
        }
    }

    /// The files of a draft as they are read, and in the draft where the values of their variables come from.
    fn reading(
        &self,
        LoadRecord { draft, sources }: &mut LoadRecord,
        host: Option<String>,
        (reader, read): (&Rc<Reader>, &[Scenarios]),
        errors: &mut PlanErrors,
    ) -> Scenarios {
        let given_properties = self.properties.read(reader, errors);
        let given = || self.variable.iter().chain(&given_properties).map(|(name, _)| name);
        let missing: Vec<&String> = sources.variable_names.iter().filter(|name| !given().any(|given| given == *name)).collect();
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
        if let Some(named) = self.environment.as_ref().or(sources.environment.as_ref()) {
            match environment(named, reader) {
                Ok((environment, sha256)) => {
                    if self.environment.is_none() && sources.environment_sha256.is_some() && sources.environment_sha256 != sha256 {
                        errors.push(PlanError::new(
                            "environment",
                            format!("the environment '{named}' is not what it was when this plan was saved"),
                            format!("give it again as it is now with --environment {named}"),
                        ));
                    }
                    hold = Some(environment);
                    (sources.environment, sources.environment_sha256) = (Some(named.clone()), sha256);
                }
                Err(error) => errors.push(error),
            }
        }
        if given().next().is_some() {
            sources.variable_names = given().cloned().collect();
            sources.variable_names.sort_unstable();
            sources.variable_names.dedup();
        }
        let host = host.filter(|url| plan::is_address(url)).map(|url| if plan::has_scheme(&url) { url } else { format!("http://{url}") });
        // What is no server is told of the plan.
        let also = Also::read(&draft.also_target, &mut Vec::new());
        let comes_at_a_rate = self.chooses_rates || draft.rate.is_some();
        let wishes = Wishes {
            variables: self.variable.clone(),
            properties: given_properties,
            comes_at_a_rate,
            environment: hold,
            host,
            also,
            ..Wishes::default()
        };
        reader.secrets().learn_values(hidden(&wishes));
        let known = read.iter().find(|scenarios| scenarios.wishes() == &wishes);
        known.cloned().unwrap_or_else(|| Scenarios::new(reader, wishes))
    }

    /// What is not carried over, said once.
    pub fn tell(&self, shown: &str, left_out: &[String], (known, voice): (&KnownSecrets, Remarks)) {
        if voice == Remarks::Talking || self.strict {
            left_out
                .iter()
                .for_each(|left| complain_without(known, &format!("warning: of {shown} is left out: {}", report::visible(left))));
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
        (known, voice): (&KnownSecrets, Remarks),
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
                (None, Some(_)) if scenarios.single().is_none() => Choice::Address,
                (None, _) => Choice::File,
            };
            let Some(said) = Destinations::of(plan, scenarios).and_then(|found| found.said(choice)) else { continue };
            if told.contains(&said) {
                continue;
            }
            let help = match plan.scenario() {
                Some(_) => ONE_SERVER,
                None => "name each server that is meant with --also-target ORIGIN, or take the others out of the list",
            };
            match &said {
                DestinationNote::Remark(text) if voice == Remarks::Talking => complain_without(known, text),
                DestinationNote::Remark(_) => {}
                DestinationNote::Doubt { text, servers } if self.strict => {
                    let message = format_args!("{text}, and --strict allows one server, not {servers}");
                    refused.get_or_insert(Failed::new(Exit::NotTrustworthy, message, help));
                }
                DestinationNote::Doubt { text, .. } if voice == Remarks::Talking => {
                    complain_without(known, &format!("warning: {text}\n  help: {help}"));
                }
                DestinationNote::Doubt { .. } => {}
            }
            told.push(said);
        }
        if voice == Remarks::Talking || self.strict {
            ways.iter().for_each(|left| complain_without(known, &format!("warning: of {}", report::visible(left))));
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

    /// Whether anything is said that gives values to a file's variables.
    fn gives_values(&self) -> bool {
        self.environment.is_some() || !self.variable.is_empty() || !self.properties.is_empty()
    }

    /// Whether what `--target` says is a server.
    pub fn look_at_target(&self, errors: &mut PlanErrors) {
        if let Some(target) = &self.target {
            server(target).map(drop).unwrap_or_else(|error| errors.push(error));
        }
    }

    /// Whoever speaks of a file has to give one.
    pub fn complain_without_a_file(&self, draft: &Draft, is_list: bool, errors: &mut PlanErrors) {
        if let Some(target) = self.target.as_ref().filter(|_| !is_list) {
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
        if self.gives_values() {
            errors.push(PlanError::new(
                "variable",
                "--variable, --property and --environment are about a file of another tool, and none is given",
                "give the file in the place of the URL, or leave them out",
            ));
        }
    }
}

/// A draft whose URL, if it is a file that cannot be run, has been told to be one.
fn looked_at(draft: Draft, reader: &Reader, errors: &mut PlanErrors) -> Draft {
    match draft.url.as_deref().and_then(|url| resolve::mistake(url, reader.inputs())) {
        Some(mistake) => {
            errors.push(mistake);
            placed(draft)
        }
        None => draft,
    }
}

impl Importing {
    /// The only request of a file, or of the words behind `--`, with what is left out of it.
    fn one(
        &self,
        read: &Collection,
        shown: &str,
        (reader, voice): (&Rc<Reader>, Remarks),
        errors: &mut PlanErrors,
    ) -> (Draft, Vec<String>) {
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
                errors.push(PlanError::new("url", format!("{shown} cannot be run: {}", why.what.marked()), why.help));
                return nothing();
            }
        };
        let mut left_out: Vec<String> = read.left_out.iter().map(|left| left.wording().spelt(Spelling::Flags)).collect();
        if let (Some(target), Some(url)) = (&self.target, imported.url.as_mut()) {
            // What is no server is told of the plan.
            let origin = server(target).map_or_else(|_| target.clone(), |target| target.origin());
            *url = format!("{}{}", origin.trim_end_matches('/'), behind_host(url));
            left_out.extend(leave_ways(&mut imported, &Draft::default()));
        }
        leave_tls(&mut imported);
        reader.secrets().learn(&imported);
        self.tell(shown, &left_out, (reader.secrets(), voice));
        (imported, left_out)
    }
}

/// A saved plan whose requests are to go to another server than its own: what leads to its own, or to others that it names, is left
/// out unless it was typed. Also tells what.
pub fn elsewhere(mut saved: LoadRecord, typed: &Draft) -> (LoadRecord, Vec<String>) {
    let left = leave_ways(&mut saved.draft, typed);
    let Draft { also_target, proxy, unix_socket, connect_to, .. } = typed.clone();
    saved.draft = Draft { also_target, proxy, unix_socket, connect_to, ..saved.draft };
    (saved, left)
}

/// The words of a curl command behind `--`, taken out of a draft; `None` if there are none.
pub fn pasted(draft: &mut Draft) -> Option<Vec<String>> {
    let is_curl = draft.script.is_none() && draft.script_arguments.first().is_some_and(|word| word == "curl");
    is_curl.then(|| std::mem::take(&mut draft.script_arguments))
}

/// `NAME=VALUE`, for `--variable`.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("it is not NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
