//! From a file's text to a [`Scenario`]: every mistake at once, each with its place.
//!
//! A reader that stops at the first mistake makes its user run it once for each. So nothing here fails: what cannot be read is
//! noted with its place and left out, and the scenario is given only if nothing was noted.

pub(crate) mod call;
mod data;
mod ends;
mod extract;
mod items;
mod load;
mod page;
mod parts;
mod populations;
mod script;
mod surroundings;
pub(crate) mod talk;
mod texts;

use std::collections::BTreeSet;

use analysis::gate;
use plan::setting::DATA_FILE;
use plan::template::{nearest, words};
use plan::work::{
    Auth, Cache, Extent, Item, JOURNEY_NUMBER, Journey, LAST_SUCCEEDED, List, Resources, STATUS, USER_NUMBER, Variable, Weights, Work,
    is_variable_name,
};
use plan::{Charset, Draft, Nanos, PopulationDraft, Spelling, Target, Wording};

use crate::file::{Scenario, unknown_part};
use crate::keys::{CHOICE, DEFAULTS, FOR_EACH, JOURNEY, Key, SCENARIO, STEP, Shape};
use crate::mistake::Mistake;
use crate::yaml::{self, Key as Word, Node, Spot, Style, Value};

pub use surroundings::Surroundings;

/// What settings are called here.
const SPELLING: Spelling = Spelling::Keys(&[(DATA_FILE, "data")]);
/// Of a file of another kind, so many mistakes are told.
const MISTAKES_MAX: usize = 50;
/// So many are noted, of which the first are told: a file can hold a hundred thousand, each with its line.
const NOTED_MAX: usize = 4 * MISTAKES_MAX;
/// Longer messages are shortened in the middle, as they show what somebody wrote; what to do may list every key there is.
const MESSAGE_LETTERS_MAX: usize = 400;
const HELP_LETTERS_MAX: usize = 1_000;
/// What every user knows of itself.
const OWN_NAMES: [&str; 4] = [STATUS, LAST_SUCCEEDED, USER_NUMBER, JOURNEY_NUMBER];
/// Steps are counted one by one.
const STEPS_MAX: usize = 1_000;
/// So many journeys, variables, data files, and headers of a request at most: each is looked for among the others.
const OTHERS_MAX: usize = 1_000;

/// Reads a scenario. `file` is how it was named: paths in it begin where it is.
///
/// # Errors
/// All its mistakes, in the order of their places.
pub fn read(file: &str, text: &str) -> Result<Scenario, Vec<Mistake>> {
    read_within(file, text, Reach::Machine)
}

/// The same of a scenario that is carried out here: what it names and is not there is a mistake too.
///
/// # Errors
/// All its mistakes, in the order of their places.
pub fn read_among(file: &str, text: &str, surroundings: &dyn Surroundings) -> Result<Scenario, Vec<Mistake>> {
    read_as(file, text, Reach::Machine, Some(surroundings))
}

/// What a scenario may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Files of this machine, and variables of its environment: its user wrote it.
    Machine,
    /// Only what stands in it: it came from somebody else.
    Itself,
}

/// The same of a scenario that may name no more than that.
///
/// # Errors
/// All its mistakes, in the order of their places.
pub fn read_within(file: &str, text: &str, reach: Reach) -> Result<Scenario, Vec<Mistake>> {
    read_as(file, text, reach, None)
}

fn read_as(file: &str, text: &str, reach: Reach, surroundings: Option<&dyn Surroundings>) -> Result<Scenario, Vec<Mistake>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reading = Reading { reach, surroundings, ..Reading::new(file, text) };
    let scenario = reading.file();
    let mut mistakes = reading.mistakes;
    mistakes.sort_by_key(|mistake| (mistake.line, mistake.column));
    mistakes.dedup();
    mistakes.truncate(MISTAKES_MAX);
    match scenario {
        Some(scenario) if mistakes.is_empty() => Ok(scenario),
        _ => Err(mistakes),
    }
}

/// The beginning and the end of a long message, without what would move the cursor.
fn shortened(message: &str, letters_max: usize) -> String {
    const END_LETTERS: usize = 100;
    let plain = |letter: char| if letter.is_control() && letter != '\n' { ' ' } else { letter };
    // No letter is shorter than a byte, so most messages need not be counted.
    if message.len() <= letters_max || message.chars().count() <= letters_max {
        return message.chars().map(plain).collect();
    }
    let end = message.char_indices().rev().nth(END_LETTERS - 1).map_or(0, |(at, _)| at);
    let beginning = message.chars().take(letters_max - END_LETTERS);
    beginning.chain(['…']).chain(message[end..].chars()).map(plain).collect()
}

/// What all steps have in common.
#[derive(Default)]
struct Defaults<'n> {
    headers: Option<&'n Node>,
    auth: Option<Auth>,
    redirects: u8,
    resources: Option<Resources>,
    cache: Option<Cache>,
    encoding: Option<Charset>,
    timeout: Option<Nanos>,
    failure_ends: Option<Extent>,
    may_fail: bool,
}

struct Reading<'a> {
    file: &'a str,
    reach: Reach,
    /// Where what it names is looked for, if it is.
    surroundings: Option<&'a dyn Surroundings>,
    lines: Vec<&'a str>,
    text: &'a str,
    mistakes: Vec<Mistake>,
    /// Every name of a variable in the file.
    names: Vec<String>,
    /// Those that have a value where we are.
    known: BTreeSet<String>,
    /// Variables that checks of the step at hand are about, and where they stand: its extractions may give them a value.
    checked: Vec<(Spot, String)>,
    /// Whether the load looks for answers that stream.
    streams: bool,
    /// How templates call the data files.
    files: Vec<String>,
    /// Of each, where it is and what its columns are, if that was looked at.
    columns: Vec<Option<(String, Vec<String>)>>,
    /// Variables of the environment that are not there, and were told.
    unset: BTreeSet<String>,
    steps: usize,
    /// Whether it reads what one user at a time goes through.
    is_in_section: bool,
    /// Whether it reads what one user does at the same time.
    is_in_branch: bool,
    /// Whether it reads what is done in rounds, of a loop that a branch it is in holds.
    is_in_loop: bool,
    /// Connections of WebSocket that steps above open.
    opened: Vec<talk::Opened>,
}

/// The entries of a mapping, each taken at most once.
struct Entries<'n> {
    spot: Spot,
    entries: Vec<(&'n Word, &'n Node)>,
    /// What misspelt keys meant. They were told, and are read as if they were right: their own mistakes are told at once with them,
    /// and none that would only follow from their being left out.
    meant: Vec<(&'static str, (&'n Word, &'n Node))>,
}

impl<'n> Entries<'n> {
    fn take(&mut self, name: &str) -> Option<(&'n Word, &'n Node)> {
        match self.entries.iter().position(|(word, _)| word.text == name) {
            Some(at) => Some(self.entries.remove(at)),
            None => {
                let at = self.meant.iter().position(|(meant, _)| *meant == name)?;
                Some(self.meant.remove(at).1)
            }
        }
    }

    fn value(&mut self, name: &str) -> Option<&'n Node> {
        self.take(name).map(|(_, node)| node)
    }

    fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|(word, _)| word.text == name) || self.meant.iter().any(|(meant, _)| *meant == name)
    }
}

impl<'a> Reading<'a> {
    fn new(file: &'a str, text: &'a str) -> Self {
        Self {
            file,
            reach: Reach::Machine,
            surroundings: None,
            lines: text.lines().collect(),
            text,
            mistakes: Vec::new(),
            names: OWN_NAMES.map(str::to_owned).to_vec(),
            known: BTreeSet::from(OWN_NAMES.map(str::to_owned)),
            checked: Vec::new(),
            streams: false,
            files: Vec::new(),
            columns: Vec::new(),
            unset: BTreeSet::new(),
            steps: 0,
            is_in_section: false,
            is_in_branch: false,
            is_in_loop: false,
            opened: Vec::new(),
        }
    }

    /// A line of the file, by its number from 1.
    fn line(&self, number: usize) -> &'a str {
        self.lines.get(number.saturating_sub(1)).copied().unwrap_or_default()
    }

    fn wrong(&mut self, spot: Spot, message: impl Into<String>, help: impl Into<Wording>) {
        if self.mistakes.len() >= NOTED_MAX {
            return;
        }
        let (shown, shown_at) = Mistake::around(self.line(spot.line), spot.column);
        self.mistakes.push(Mistake {
            file: self.file.to_owned(),
            line: spot.line,
            column: spot.column + 1,
            message: shortened(&message.into(), MESSAGE_LETTERS_MAX),
            shown,
            shown_at,
            length: spot.length,
            help: shortened(&help.into().spelt(SPELLING), HELP_LETTERS_MAX),
        });
    }

    /// Complains of what only the user at the machine may name, where somebody else is at the other end.
    fn reaches_out(&mut self, spot: Spot, what: &str) {
        if self.reach == Reach::Itself {
            self.wrong(
                spot,
                format!("{what}, and is not taken from a browser"),
                "write what it holds into the scenario, or start the test on the command line",
            );
        }
    }

    fn file(&mut self) -> Option<Scenario> {
        let mut wrong = Vec::new();
        let root = yaml::parse(self.text, &mut wrong);
        for yaml::Wrong { spot, message, help } in wrong {
            self.wrong(spot, message, help);
        }
        let Some(root) = root.filter(|root| !root.is_nothing()) else {
            if self.mistakes.is_empty() {
                let spot = Spot { line: 1, column: 0, length: 1 };
                self.wrong(spot, "the file holds no scenario", "loadline init writes one to begin with");
            }
            return None;
        };
        let mut top = self.shape(&root, &SCENARIO)?;
        self.name_variables(&root);
        let name = top.value("name").and_then(|node| self.plain(node));
        let load = top.value("load");
        let mut draft = load.map_or_else(Draft::default, |node| self.load(node));
        self.streams = draft.stream.is_some();
        let target = top.value("target").and_then(|node| self.target(node));
        draft.url = target.as_ref().map(Target::absolute);
        self.data(&mut top, &mut draft);
        let variables = top.value("variables").map_or_else(Vec::new, |node| self.variables(node));
        let keeps_variables = top.value("keep_variables").and_then(|node| self.truth(node)).unwrap_or(false);
        let each_place = top.value("each_place").and_then(|node| self.truth(node)).unwrap_or(false);
        let defaults_node = top.value("defaults");
        let (defaults, cookies) = self.defaults(defaults_node);

        let declared = self.known.clone();
        let setup = top.value("setup").map_or_else(Vec::new, |node| self.items(node, &defaults, ""));
        let (teardown_node, user_teardown_node) = (top.value("teardown"), top.value("user_teardown"));
        let shared = self.known.clone();
        if keeps_variables {
            // A journey before may have set it; what none has set is empty.
            self.known.extend(self.names.iter().cloned());
        }
        let in_journeys = self.known.clone();
        let journeys = match (top.take("journeys"), top.take("steps")) {
            (Some((word, _)), Some(_)) => {
                let message = "'journeys' and 'steps' both say what users do";
                self.wrong(word.spot, message, "put the steps into a journey of their own");
                Vec::new()
            }
            (Some((_, node)), None) => self.journeys(node, &defaults, &in_journeys),
            (None, Some((_, node))) => {
                let items = self.items(node, &defaults, "");
                vec![Journey { name: name.clone().unwrap_or_else(|| "journey".to_owned()), weight: 1.0, items }]
            }
            (None, None) => {
                let message = "the scenario has no steps";
                self.wrong(root.spot, message, "give it steps, such as\n  steps:\n    - get: /");
                Vec::new()
            }
        };
        let populations = top.value("populations").map_or_else(Vec::new, |node| self.populations(node, load, &journeys));
        self.known = shared.union(&declared).cloned().collect();
        let teardown = teardown_node.map_or_else(Vec::new, |node| self.items(node, &defaults, ""));
        // A user goes with what its last journey left it, whichever that was; what that did not set is empty.
        self.known.extend(self.names.iter().cloned());
        let user_teardown = user_teardown_node.map_or_else(Vec::new, |node| self.items(node, &defaults, ""));
        let checks = top.value("checks").map_or_else(Vec::new, |node| self.promises(node, &journeys, &populations));
        let skips_teardown = top.value("teardown_when_ended").and_then(|node| self.truth(node)) == Some(false);
        let work = Work { variables, keeps_variables, each_place, cookies, setup, teardown, skips_teardown, user_teardown, journeys };
        Some(Scenario { populations, checks, files: self.files.clone(), ..Scenario::new(name, draft, work) })
    }

    /// What the load must keep to; what it names must be there.
    fn promises(&mut self, node: &Node, journeys: &[Journey], populations: &[PopulationDraft]) -> Vec<gate::Check> {
        let mut checks: Vec<gate::Check> = Vec::new();
        for node in self.each(node) {
            let Some(text) = self.plain(node) else { continue };
            match text.parse::<gate::Check>() {
                Err(why) => {
                    let at = text.char_indices().nth(why.column() - 1).map_or(text.len(), |(at, _)| at);
                    let spot = self.within(node, &text, at, why.length());
                    self.wrong(spot, why.message(), "write it as a figure, a comparison and a limit, such as p99 < 200ms");
                }
                Ok(check) => match check.part().and_then(|part| unknown_part(part, journeys, populations)) {
                    Some((message, help)) => self.wrong(node.spot, message, help),
                    None => checks.push(check),
                },
            }
        }
        checks
    }

    /// The entries of a mapping, if it is one; keys that are not of the shape are told.
    fn shape<'n>(&mut self, node: &'n Node, shape: &Shape) -> Option<Entries<'n>> {
        let Value::Map(entries) = &node.value else {
            if node.value == Value::Told {
                return None;
            }
            let known: Vec<&str> = shape.keys.iter().take(4).map(|key| key.name).collect();
            let help = match keyed(node, shape.keys) {
                Some((key, value)) => format!("write {key}: {value}, with a colon and a blank between them"),
                None => format!("write KEY: VALUE, with keys such as {}", known.join(", ")),
            };
            self.wrong(node.spot, format!("this is {}, and a mapping is wanted here", node.kind()), help);
            return None;
        };
        let (mut known, mut meant) = (Vec::new(), Vec::new());
        for (word, node) in entries {
            if shape.keys.iter().any(|key| key.name == word.text) {
                known.push((word, node));
            } else if let Some(near) = self.unknown(word, shape.keys) {
                meant.push((near, (word, node)));
            }
        }
        meant.retain(|(near, _)| known.iter().all(|(word, _)| word.text != *near));
        Some(Entries { spot: node.spot, entries: known, meant })
    }

    /// Tells of a key that there is not, and gives the one that was probably meant.
    fn unknown(&mut self, word: &Word, keys: &'static [Key]) -> Option<&'static str> {
        if matches!(word.text.as_str(), "include" | "includes" | "import" | "imports" | "extends" | "$ref") {
            let help = "a scenario is one file and includes no others: what several have in common stands in each of them";
            self.wrong(word.spot, format!("the key '{}' is unknown here", word.text), help);
            return None;
        }
        let near = nearest(&word.text, keys.iter().map(|key| key.name));
        let help = match near {
            Some(near) => format!("did you mean '{near}'?"),
            None => match called_here(&word.text).filter(|name| keys.iter().any(|key| key.name == *name)) {
                Some(name) => format!("here it is called '{name}'"),
                None => format!("keys here are {}", keys.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")),
            },
        };
        self.wrong(word.spot, format!("the key '{}' is unknown here", word.text.escape_debug()), help);
        near
    }

    /// Every name that a variable has somewhere in the file.
    fn name_variables(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar { .. } | Value::Told => {}
            Value::List(items) => items.iter().for_each(|item| self.name_variables(item)),
            Value::Map(entries) => {
                for (word, node) in entries {
                    match (&*word.text, &node.value) {
                        ("extract" | "variables" | "set", Value::Map(inner)) => {
                            for (word, _) in inner {
                                self.name_variable(word.spot, &word.text);
                            }
                        }
                        ("for_each", Value::Map(inner)) => {
                            for (_, node) in inner.iter().filter(|(word, _)| word.text == "variable") {
                                if let Value::Scalar { text, .. } = &node.value {
                                    self.name_variable(node.spot, text);
                                }
                            }
                        }
                        ("json", _) => {}
                        ("script" | "before" | "after", _) => {
                            for (spot, name) in script::names_of(node) {
                                self.name_variable(spot, &name);
                            }
                        }
                        _ => self.name_variables(node),
                    }
                }
            }
        }
    }

    fn name_variable(&mut self, spot: Spot, name: &str) {
        if !is_variable_name(name) {
            let message = format!("'{}' is no name of a variable", name.escape_debug());
            self.wrong(spot, message, "take letters, digits, - and _, a letter first");
        } else if name == STATUS || words().any(|word| word == name) {
            let message = format!("no variable can be called '{name}': it means something in templates already");
            self.wrong(spot, message, format!("call it my_{name}"));
        }
        if self.names.len() > OTHERS_MAX {
            // Told once, by the one that is too many.
            return;
        }
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
            if self.names.len() > OTHERS_MAX {
                self.wrong(spot, format!("the scenario has more than {OTHERS_MAX} variables"), "make several scenarios of it");
            }
        }
    }

    /// The same where it may have a name already: below a misspelt key it has none.
    fn ensure_named(&mut self, spot: Spot, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.name_variable(spot, name);
        }
    }

    fn target(&mut self, node: &Node) -> Option<Target> {
        let text = self.plain(node)?;
        if text.contains("{{") {
            let help = "write scheme, host and port out; loadline run FILE --scenario takes another server before it";
            self.wrong(node.spot, "the target cannot be a template: it is looked up before the run", help);
            return None;
        }
        match text.parse::<Target>() {
            Ok(target) if target.port() == 0 => {
                self.wrong(node.spot, format!("the target '{text}' has port 0"), "give the port the server listens on");
                None
            }
            Ok(target) if target.path_and_query() != "/" => {
                let help = format!("write {}://{}, and the path in each step", target.scheme(), target.authority());
                self.wrong(node.spot, format!("the target '{target}' has a path"), help);
                None
            }
            Ok(target) if target.scheme().is_websocket() || target.scheme().is_grpc() => {
                let (what, steps) = if target.scheme().is_grpc() { ("gRPC", "call") } else { ("WebSocket", "connect") };
                let help = format!("write {}://{}: steps that {steps} make {what} of it", target.scheme().of_http(), target.authority());
                self.wrong(node.spot, format!("the target '{target}' is one of {what}"), help);
                None
            }
            Ok(target) => Some(target),
            Err(why) => {
                self.wrong(node.spot, format!("the target '{}' {why}", text.escape_debug()), "give a server such as http://127.0.0.1:8080");
                None
            }
        }
    }

    fn variables(&mut self, node: &Node) -> Vec<Variable> {
        let mut variables = Vec::new();
        for (word, node) in self.named(node) {
            self.ensure_named(word.spot, &word.text);
            if let Some(value) = self.template(node) {
                variables.push(Variable { name: word.text.clone(), value });
            }
            self.known.insert(word.text.clone());
        }
        variables
    }

    fn defaults<'n>(&mut self, node: Option<&'n Node>) -> (Defaults<'n>, bool) {
        let Some(mut entries) = node.and_then(|node| self.shape(node, &DEFAULTS)) else { return (Defaults::default(), true) };
        let headers = entries.value("headers");
        let redirects = entries.value("redirects").and_then(|node| self.whole(node, u8::MAX.into())).unwrap_or(0);
        let (failure_ends, may_fail) = self.on_failure(&mut entries, (None, false));
        let timeout = entries.value("timeout").and_then(|node| self.timeout(node));
        let cookies = entries.value("cookies").and_then(|node| self.truth(node)).unwrap_or(true);
        let auth = entries.value("auth").and_then(|node| self.auth(node));
        let resources = entries.value("resources").and_then(|node| self.resources(node));
        let cache = entries.value("cache").and_then(|node| self.cache(node));
        let encoding = entries.value("encoding").and_then(|node| self.encoding(node));
        let redirects = u8::try_from(redirects).unwrap_or(u8::MAX);
        (Defaults { headers, auth, redirects, resources, cache, encoding, timeout, failure_ends, may_fail }, cookies)
    }

    fn journeys(&mut self, node: &Node, defaults: &Defaults<'_>, shared: &BTreeSet<String>) -> Vec<Journey> {
        let mut journeys: Vec<Journey> = Vec::new();
        let mut weights = 0.0;
        for (number, node) in (1..).zip(self.list(node)) {
            if number > OTHERS_MAX {
                self.wrong(node.spot, format!("the scenario has more than {OTHERS_MAX} journeys"), "make several scenarios of it");
                break;
            }
            self.known.clone_from(shared);
            self.opened.clear();
            let Some(mut entries) = self.shape(node, &JOURNEY) else { continue };
            let name = entries.take("name").and_then(|(_, node)| Some((node.spot, self.plain(node)?)));
            if let Some((spot, name)) = name.as_ref().filter(|(_, name)| journeys.iter().any(|journey| journey.name == *name)) {
                self.wrong(*spot, format!("two journeys are called '{}'", name.escape_debug()), "give one another name");
            }
            let weight = entries.value("weight").and_then(|node| self.weight(node)).unwrap_or(1.0);
            weights += weight;
            let items = match entries.value("steps") {
                Some(node) => self.items(node, defaults, ""),
                None => {
                    self.wrong(entries.spot, "the journey has no steps", "give it some: steps:, and below it - get: /");
                    Vec::new()
                }
            };
            journeys.push(Journey { name: name.map_or_else(|| format!("journey {number}"), |(_, name)| name), weight, items });
        }
        if journeys.is_empty() {
            self.wrong(node.spot, "there are no journeys", "give one, such as - steps: [{get: /}]");
        } else if weights <= 0.0 {
            self.wrong(node.spot, "all journeys have a weight of 0", "give one of them a weight above 0");
        }
        journeys
    }

    fn items(&mut self, node: &Node, defaults: &Defaults<'_>, group: &str) -> Vec<Item> {
        let mut items = Vec::new();
        let nodes = self.list(node);
        if nodes.is_empty() && matches!(node.value, Value::List(_)) {
            self.wrong(node.spot, "there are no steps here", "write one, such as - get: /");
        }
        for node in nodes {
            if self.steps > STEPS_MAX {
                break;
            }
            self.item(node, defaults, group, &mut items);
        }
        items
    }

    /// A step, and its pause after it.
    fn item(&mut self, node: &Node, defaults: &Defaults<'_>, group: &str, items: &mut Vec<Item>) {
        let Some(mut entries) = self.shape(node, &STEP) else { return };
        const KINDS: [&str; 38] = [
            "get",
            "post",
            "put",
            "patch",
            "delete",
            "head",
            "options",
            "method",
            "set",
            "cookie",
            "forget",
            "end",
            "next_row",
            "script",
            "pacing",
            "group",
            "transaction",
            "repeat",
            "if",
            "while",
            "as_long_as",
            "for_each",
            "run_for",
            "share",
            "pick",
            "switch",
            "interleave",
            "random_order",
            "parallel",
            "critical_section",
            "rendezvous",
            "connect",
            "send",
            "receive",
            "listen",
            "ping",
            "close",
            "grpc",
        ];
        let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| entries.has(kind)).collect();
        let once = entries.value("once").and_then(|node| self.truth(node)).unwrap_or(false);
        let pause = entries.value("pause").and_then(|node| self.duration(node, "pause"));
        let mut found = Vec::new();
        match kinds[..] {
            [] if entries.has("path") => {
                self.presume(&mut entries);
                let (word, _) = entries.take("path").expect("it is there");
                self.wrong(word.spot, "'path' needs 'method'", "write - get: /path, or method: and path:");
                return;
            }
            [] if entries.has("steps") => {
                let (word, _) = entries.take("steps").expect("it is there");
                self.wrong(
                    word.spot,
                    "nothing says what is done with these steps",
                    "put group:, transaction:, repeat:, if:, while:, as_long_as:, for_each:, run_for: or share: before them",
                );
                return;
            }
            [] => {
                if let (None, Some((word, _))) = (&pause, entries.entries.first().copied()) {
                    self.presume(&mut entries);
                    self.wrong(word.spot, "this step sends nothing", "write what it sends, such as - get: /, or a pause: 2s");
                    return;
                }
                if pause.is_none() && self.mistakes.iter().all(|mistake| mistake.line != node.spot.line) {
                    self.wrong(node.spot, "this step does nothing", "write what it sends, such as - get: /, or a pause: 2s");
                }
            }
            ["set"] => {
                let (_, node) = entries.take("set").expect("it was looked for");
                found.extend(self.set(node));
            }
            ["forget"] => {
                let (_, node) = entries.take("forget").expect("it was looked for");
                found.extend(self.forgotten(node));
            }
            ["end"] => {
                let (_, node) = entries.take("end").expect("it was looked for");
                found.extend(self.end(node));
            }
            ["cookie"] => {
                let (_, node) = entries.take("cookie").expect("it was looked for");
                found.extend(self.cookie(node).map(Item::KeepCookie));
            }
            ["next_row"] => {
                let (_, node) = entries.take("next_row").expect("it was looked for");
                found.extend(self.next_row(node));
            }
            ["script"] => {
                let (_, node) = entries.take("script").expect("it was looked for");
                found.extend(self.script(node).map(|script| Item::Script(Box::new(script))));
            }
            ["pacing"] => {
                let (_, node) = entries.take("pacing").expect("it was looked for");
                found.extend(self.pacing(node, &mut entries));
            }
            ["rendezvous"] => {
                let (_, node) = entries.take("rendezvous").expect("it was looked for");
                found.extend(self.rendezvous(node, &mut entries));
            }
            [kind @ ("critical_section" | "transaction" | "run_for" | "share" | "switch" | "interleave" | "parallel" | "random_order")] => {
                let (_, node) = entries.take(kind).expect("it was looked for");
                found.extend(match kind {
                    "transaction" => self.transaction(node, &mut entries, defaults, group),
                    "critical_section" => self.critical_section(node, &mut entries, defaults, group),
                    "run_for" => self.run_for(node, &mut entries, defaults, group),
                    "share" => self.share(node, &mut entries, defaults, group),
                    "switch" => self.switch(node, &mut entries, defaults, group),
                    "interleave" => Some(self.interleave(node, &mut entries, defaults, group)),
                    "parallel" => Some(self.parallel(node, &mut entries, defaults, group)),
                    _ => Some(self.random_order(node, defaults, group)),
                });
            }
            [kind @ ("group" | "repeat" | "if" | "while" | "as_long_as" | "for_each" | "pick")] => {
                self.control(kind, &mut entries, defaults, group, &mut found);
            }
            [kind] => {
                let step = match kind {
                    "grpc" => self.call(&mut entries, defaults, group),
                    _ if talk::KINDS.contains(&kind) => self.talk(kind, &mut entries, defaults, group),
                    _ => self.step(kind, &mut entries, defaults, group),
                };
                if let Some(step) = step {
                    self.steps += 1;
                    if self.steps == STEPS_MAX + 1 {
                        self.wrong(node.spot, format!("the scenario has more than {STEPS_MAX} steps"), "make several scenarios of it");
                    }
                    found.push(Item::Step(Box::new(step)));
                }
            }
            [first, second, ..] => {
                let (word, node) = entries.take(second).expect("it is there");
                self.presume(&mut entries);
                if second == "set" {
                    self.set(node);
                }
                self.wrong(word.spot, format!("'{first}' and '{second}' in one step"), "begin a step of its own with -");
                return;
            }
        }
        for (word, _) in std::mem::take(&mut entries.entries) {
            let what = kinds.first().map_or("pause", |kind| *kind);
            self.wrong(
                word.spot,
                format!("'{}' means nothing beside '{what}'", word.text),
                "leave it out, or put it into a step that sends something",
            );
        }
        found.extend(pause.map(Item::Pause));
        if once && !found.is_empty() {
            items.push(Item::Once(found));
        } else {
            items.append(&mut found);
        }
    }

    /// What a step that cannot be read would extract has a value from here on: else each use of it would be a mistake too.
    fn presume(&mut self, entries: &mut Entries<'_>) {
        if let Some(node) = entries.value("extract") {
            self.extractions(node);
        }
        if let Some(node) = entries.value("set") {
            self.set(node);
        }
        for node in ["script", "before", "after"].into_iter().filter_map(|key| entries.value(key)) {
            self.known.extend(script::names_of(node).into_iter().map(|(_, name)| name));
        }
    }

    /// Steps that are grouped, repeated or chosen.
    fn control(&mut self, kind: &str, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str, found: &mut Vec<Item>) {
        let (word, node) = entries.take(kind).expect("it was looked for");
        if kind == "pick" {
            let mut weights = Vec::new();
            let mut choices = Vec::new();
            let before = self.known.clone();
            let mut after: Option<BTreeSet<String>> = None;
            for node in self.list(node) {
                let Some(mut choice) = self.shape(node, &CHOICE) else { continue };
                weights.push(choice.value("weight").and_then(|node| self.weight(node)).unwrap_or(1.0));
                self.known.clone_from(&before);
                choices.push(self.steps_of(&mut choice, defaults, group));
                let now = self.known.clone();
                after = Some(after.map_or(now.clone(), |after| after.intersection(&now).cloned().collect()));
            }
            self.known = after.unwrap_or(before);
            match Weights::new(&weights) {
                Ok(weights) => found.push(Item::Pick { weights, choices }),
                Err(why) => {
                    self.wrong(node.spot, format!("nothing can be picked: {why}"), "give choices, one of them with a weight above 0");
                }
            }
            return;
        }
        match kind {
            "group" => {
                let name = self.plain(node).unwrap_or_default();
                let inner = if group.is_empty() { name.clone() } else { format!("{group} / {name}") };
                let items = self.steps_of(entries, defaults, &inner);
                found.push(Item::Group { name, items });
            }
            "repeat" => {
                let times = self.template(node);
                if let Some(text) = times.as_ref().filter(|times| times.is_fixed()).map(ToString::to_string)
                    && text.trim().parse::<u64>().is_err()
                {
                    self.wrong(node.spot, format!("'{}' is not a whole number", text.escape_debug()), "write how often, such as repeat: 3");
                }
                let items = self.rounds_of(entries, defaults, group);
                found.extend(times.map(|times| Item::Repeat { times, items }));
            }
            "if" => {
                let condition = self.condition(node);
                let before = self.known.clone();
                let items = self.steps_of(entries, defaults, group);
                let after = std::mem::replace(&mut self.known, before.clone());
                let otherwise = entries.value("else").map_or_else(Vec::new, |node| self.items(node, defaults, group));
                self.known = after.intersection(&self.known).cloned().collect();
                found.extend(condition.map(|condition| Item::If { condition, items, otherwise }));
            }
            "while" => {
                let condition = self.condition(node);
                let before = self.known.clone();
                let items = self.rounds_of(entries, defaults, group);
                self.known = before;
                found.extend(condition.map(|condition| Item::While { condition, items }));
            }
            "as_long_as" => {
                let condition = self.condition(node);
                let before = self.known.clone();
                let items = self.steps_of(entries, defaults, group);
                self.known = before;
                found.extend(condition.map(|condition| Item::AsLongAs { condition, items }));
            }
            _ => {
                let Some(mut each) = self.shape(node, &FOR_EACH) else { return };
                let name = each.value("variable").and_then(|node| Some((node.spot, self.plain(node)?)));
                let name = name.map(|(spot, name)| {
                    self.ensure_named(spot, &name);
                    name
                });
                let list = match each.value("in") {
                    Some(node @ Node { value: Value::List(nodes), .. }) => {
                        if nodes.is_empty() {
                            self.wrong(node.spot, "the list is empty", "give it something, or leave the step out");
                        }
                        Some(List::Items(nodes.iter().filter_map(|node| self.template(node)).collect()))
                    }
                    Some(node) => self.template(node).map(List::Array),
                    None => None,
                };
                let before = self.known.clone();
                self.known.extend(name.clone());
                let items = self.rounds_of(entries, defaults, group);
                self.known = before;
                match (name, list) {
                    (Some(name), Some(list)) => found.push(Item::ForEach { variable: name, list, items }),
                    _ => self.wrong(word.spot, "'for_each' wants a variable and a list", "write for_each: {variable: id, in: [1, 2, 3]}"),
                }
            }
        }
    }

    /// Variables and what they become, one after the other.
    fn set(&mut self, node: &Node) -> Option<Item> {
        let mut values = Vec::new();
        for (word, node) in self.named(node) {
            self.ensure_named(word.spot, &word.text);
            if let Some(value) = self.expression(node) {
                values.push((word.text.clone(), value));
            }
            self.known.insert(word.text.clone());
        }
        if values.is_empty() && matches!(node.value, Value::Map(_)) && self.mistakes.is_empty() {
            self.wrong(node.spot, "nothing is set here", "write a variable and its value, such as set: {n: '{{n}} + 1'}");
        }
        Some(Item::Set(values))
    }

    fn steps_of(&mut self, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Vec<Item> {
        match entries.value("steps") {
            Some(node) => self.items(node, defaults, group),
            None => {
                self.wrong(entries.spot, "there are no steps here", "put them below steps:");
                Vec::new()
            }
        }
    }

    /// The same of a loop.
    fn rounds_of(&mut self, entries: &mut Entries<'_>, defaults: &Defaults<'_>, group: &str) -> Vec<Item> {
        let is_inner = std::mem::replace(&mut self.is_in_loop, true);
        let items = self.steps_of(entries, defaults, group);
        self.is_in_loop = is_inner;
        items
    }

    fn weight(&mut self, node: &Node) -> Option<f64> {
        let text = self.plain(node)?;
        let weight = text.parse::<f64>().ok().filter(|weight| weight.is_finite() && (0.0..=1e9).contains(weight));
        if weight.is_none() {
            self.wrong(node.spot, format!("the weight '{}' is not a number of 0 or more", text.escape_debug()), "write one such as 80");
        }
        weight
    }

    /// A scalar that is no template.
    fn plain(&mut self, node: &Node) -> Option<String> {
        match &node.value {
            Value::Scalar { text, .. } if !node.is_nothing() => Some(text.clone()),
            Value::Told => None,
            _ => {
                self.wrong(node.spot, format!("this is {}, and a text is wanted here", node.kind()), "write a word, a number or a text");
                None
            }
        }
    }

    fn whole(&mut self, node: &Node, most: u64) -> Option<u64> {
        let text = self.plain(node)?;
        let number = text.parse::<u64>().ok().filter(|number| *number <= most);
        if number.is_none() {
            let range = if most == u64::MAX { "a whole number".to_owned() } else { format!("a whole number up to {most}") };
            self.wrong(node.spot, format!("'{}' is not {range}", text.escape_debug()), "write one such as 5");
        }
        number
    }

    fn truth(&mut self, node: &Node) -> Option<bool> {
        match &node.value {
            Value::Scalar { text, style: Style::Plain } if matches!(text.as_str(), "true" | "True" | "TRUE") => Some(true),
            Value::Scalar { text, style: Style::Plain } if matches!(text.as_str(), "false" | "False" | "FALSE") => Some(false),
            _ => {
                self.wrong(node.spot, "this is neither true nor false", "write true or false");
                None
            }
        }
    }

    fn list<'n>(&mut self, node: &'n Node) -> Vec<&'n Node> {
        match &node.value {
            Value::List(nodes) => nodes.iter().collect(),
            _ => {
                self.wrong(node.spot, format!("this is {}, and a list is wanted here", node.kind()), "begin each line with -");
                Vec::new()
            }
        }
    }

    /// One, or those of a list.
    fn each<'n>(&mut self, node: &'n Node) -> Vec<&'n Node> {
        match &node.value {
            Value::List(nodes) => nodes.iter().collect(),
            _ => vec![node],
        }
    }

    fn named<'n>(&mut self, node: &'n Node) -> Vec<(&'n Word, &'n Node)> {
        match &node.value {
            Value::Map(entries) => entries.iter().map(|(word, node)| (word, node)).collect(),
            _ => {
                self.wrong(node.spot, format!("this is {}, and names with values are wanted here", node.kind()), "write NAME: VALUE");
                Vec::new()
            }
        }
    }

    /// A path that begins where the scenario is.
    fn beside(&self, path: &str) -> String {
        match self.file.rsplit_once('/') {
            Some((folder, _)) if !path.starts_with('/') => format!("{folder}/{path}"),
            _ => path.to_owned(),
        }
    }
}

/// A key and its value that stand together as one text: `get /a`, or `get:/a`, which YAML takes for one word.
fn keyed<'n>(node: &'n Node, keys: &[Key]) -> Option<(&'static str, &'n str)> {
    let Value::Scalar { text, .. } = &node.value else { return None };
    let (word, value) = text.split_at(text.find([':', ' '])?);
    let value = value.trim_start_matches([':', ' ']);
    let key = keys.iter().find(|key| key.name.eq_ignore_ascii_case(word))?;
    (!value.is_empty() && !value.contains('\n') && value.len() <= KEYED_BYTES_MAX).then_some((key.name, value))
}

/// Of a longer text it is not shown what it could have been.
const KEYED_BYTES_MAX: usize = 60;

/// What other tools call something that has another name here.
fn called_here(word: &str) -> Option<&'static str> {
    let name = match word.to_ascii_lowercase().replace(['_', '-'], "").as_str() {
        "think" | "thinktime" | "wait" | "sleep" | "delay" => "pause",
        "capture" | "captures" | "save" | "store" => "extract",
        "assign" | "let" | "setvariable" | "setvar" | "compute" => "set",
        "expect" | "assert" | "asserts" | "assertions" | "validate" | "tests" => "checks",
        "loop" | "times" | "count" => "repeat",
        "foreach" | "for" => "for_each",
        "choose" | "random" | "oneof" | "uniformrandomswitch" => "pick",
        "roundrobin" | "roundrobinswitch" | "alternate" => "interleave",
        "shuffle" | "randomorder" => "random_order",
        "concurrent" | "concurrently" | "simultaneous" | "batch" | "all" => "parallel",
        "maxparallel" | "maxparallels" | "maxconcurrent" | "connectionsperhost" => "at_once",
        "percent" | "percentage" | "throughput" => "share",
        "during" | "runtime" => "run_for",
        "pace" | "constantpacing" => "pacing",
        "timer" | "tx" => "transaction",
        "mutex" | "lock" => "critical_section",
        "barrier" | "synchronize" | "meet" => "rendezvous",
        "when" | "condition" => "if",
        "url" | "uri" | "request" => "get",
        "followredirects" | "follow" => "redirects",
        "formdata" => "multipart",
        "data" | "payload" => "body",
        "scenarios" | "flows" => "journeys",
        "flow" | "requests" | "tasks" => "steps",
        "host" | "baseurl" | "server" | "base" => "target",
        "vars" | "env" => "variables",
        "feeder" | "feeders" | "csv" | "payloads" | "datafile" => "data",
        "before" | "beforeall" => "setup",
        "after" | "afterall" => "teardown",
        "vus" | "concurrency" | "threads" => "users",
        "rps" | "qps" | "arrivalrate" | "stages" | "phases" => "rate",
        _ => return None,
    };
    Some(name)
}

#[cfg(test)]
mod tests;
