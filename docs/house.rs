//! Tests of the house: the plan of ARCHITECTURE.md held against the code.
//!
//! Which crate rests on which, who may touch the world outside, which files import each other in a circle, and which have grown long.
//! Read from the source as tokens, since a path in a macro is an import too. Each list of exceptions says why, and an exception that is
//! no longer needed fails as well: it only ever gets shorter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use serde_json::Value;

/// Lines of a file, its tests with it, that are read in one sitting.
const LINES_MAX: usize = 700;

#[test]
fn crates_rest_on_what_the_plan_says() {
    let planned: BTreeMap<String, BTreeSet<String>> = rooms().into_iter().map(|room| (room.name, room.rests_on)).collect();
    assert_eq!(planned, crate_graph(), "the table 'Where things are' of ARCHITECTURE.md (left) and the manifests (right) differ");
}

#[test]
fn crates_rest_only_on_those_above_them_in_the_plan() {
    let mut above = BTreeSet::new();
    for room in rooms() {
        let below: Vec<&String> = room.rests_on.difference(&above).collect();
        assert!(below.is_empty(), "'{}' rests on {below:?}, which stand below it in ARCHITECTURE.md", room.name);
        above.insert(room.name);
    }
}

#[test]
fn every_file_that_the_plan_names_is_there() {
    for room in rooms() {
        for file in &room.files {
            let place = root().join("crates").join(&room.name).join("src").join(file.trim_end_matches("/…"));
            let is_there = place.is_dir() || place.exists() || place.with_extension("rs").exists();
            assert!(is_there, "ARCHITECTURE.md names '{file}' in the crate '{}', and it is not there", room.name);
        }
    }
}

#[test]
fn nobody_below_the_binary_touches_the_world_unnoticed() {
    let mut touched: BTreeSet<(World, String)> = BTreeSet::new();
    let allowed: BTreeSet<(World, String)> = OUTSIDE.iter().map(|(world, file, _)| (*world, (*file).to_owned())).collect();
    for source in sources().iter().filter(|source| source.krate != "cli") {
        let paths = source.paths.iter().map(|path| path.join("::"));
        let place = |world| if allowed.contains(&(world, source.krate.clone())) { source.krate.clone() } else { source.shown() };
        touched.extend(paths.filter_map(|path| World::of(&path)).map(|world| (world, place(world))));
    }
    let more: Vec<_> = touched.difference(&allowed).collect();
    assert!(more.is_empty(), "only the binary prints, exits, reads the environment and opens the user's files; these do, too: {more:#?}");
    let fewer: Vec<_> = allowed.difference(&touched).collect();
    assert!(fewer.is_empty(), "these are allowed and do no longer, so take them off the list: {fewer:#?}");
}

#[test]
fn below_the_binary_only_advice_and_other_tools_name_flags() {
    let sources = sources();
    let naming = sources.iter().filter(|source| source.krate != "cli" && source.texts.iter().any(|text| names_a_flag(text)));
    // A crate that is on the list, or else the file.
    let place =
        |source: &Source| FLAGS.iter().map(|(place, _)| *place).find(|place| *place == source.krate).map_or(source.shown(), str::to_owned);
    let found: BTreeSet<String> = naming.map(place).collect();
    let allowed: BTreeSet<String> = FLAGS.iter().map(|(place, _)| (*place).to_owned()).collect();
    let more: Vec<_> = found.difference(&allowed).collect();
    assert!(more.is_empty(), "an error names settings by plan::setting, and who shows it spells them; these write flags: {more:#?}");
    let fewer: Vec<_> = allowed.difference(&found).collect();
    assert!(fewer.is_empty(), "these name no flag any more, so take them off the list: {fewer:#?}");
}

/// Whether a text names a flag, but for whole command lines that begin with `loadline`.
fn names_a_flag(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| {
        let begins_word = text[..at].chars().next_back().is_none_or(|letter| !letter.is_ascii_alphanumeric() && letter != '-');
        let word = text[at + 2..].starts_with(|letter: char| letter.is_ascii_lowercase());
        let is_command =
            text[..at].rsplit_once("loadline ").is_some_and(|(_, words)| ![", ", "; ", ": "].iter().any(|end| words.contains(end)));
        begins_word && word && !is_command
    })
}

#[test]
fn a_closed_run_is_changed_only_in_tests() {
    // Where the method is, and the made-up runs for tests.
    let allowed = ["measure/fixtures", "measure/summary"];
    let sources = sources();
    let naming = sources.iter().filter(|source| source.paths.iter().any(|path| path.last().is_some_and(|name| name == "edit_for_test")));
    let found: Vec<String> = naming.map(Source::shown).collect();
    assert_eq!(found, allowed, "Summary::edit_for_test is for tests alone: complete a SummaryBuilder instead");
}

#[test]
fn no_circle_of_imports_leaves_its_folder() {
    let circles: Vec<String> = crate_graph().keys().flat_map(|krate| circles_of(krate)).collect();
    assert!(circles.is_empty(), "files of several folders import each other in a circle: {circles:#?}");
}

#[test]
fn long_files_say_why() {
    let long: BTreeSet<String> = sources().iter().filter(|source| source.lines > LINES_MAX).map(Source::shown).collect();
    let known: BTreeSet<String> = LONG.iter().map(|(file, _)| (*file).to_owned()).collect();
    let more: Vec<_> = long.difference(&known).collect();
    assert!(more.is_empty(), "files of more than {LINES_MAX} lines, without a word why: {more:#?}");
    let fewer: Vec<_> = known.difference(&long).collect();
    assert!(fewer.is_empty(), "these are shorter now, so take them off the list: {fewer:#?}");
}

/// What a program does with the world outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum World {
    Prints,
    Exits,
    ReadsTheEnvironment,
    OpensFiles,
}

impl World {
    fn of(path: &str) -> Option<Self> {
        let ends_with = |names: &[&str]| names.iter().any(|name| path == *name || path.ends_with(&format!("::{name}")));
        let files = ["File::open", "File::create", "OpenOptions::new", "fs::read", "fs::read_to_string", "fs::write", "fs::read_dir"];
        let environment = ["env::var", "env::var_os", "env::vars", "env::vars_os", "env::args", "env::args_os"];
        if ends_with(&["println!", "print!", "eprintln!", "eprint!", "io::stdout", "io::stderr"]) {
            Some(Self::Prints)
        } else if ends_with(&["process::exit", "process::abort"]) {
            Some(Self::Exits)
        } else if ends_with(&environment) {
            Some(Self::ReadsTheEnvironment)
        } else {
            ends_with(&files).then_some(Self::OpensFiles)
        }
    }
}

/// A row of the table 'Where things are'.
struct Room {
    name: String,
    rests_on: BTreeSet<String>,
    /// Files and folders below `src`.
    files: Vec<String>,
}

/// The rows of the table, in its order.
fn rooms() -> Vec<Room> {
    let page = read("ARCHITECTURE.md");
    let table = page.split("## Where things are").nth(1).expect("a section of that name").split("\n\n").nth(2).expect("a table");
    let rows: Vec<Room> = table.lines().filter_map(|row| row.strip_prefix("| `crates/")).map(room).collect();
    assert!(rows.len() > 10, "the table 'Where things are' has {} rows of crates", rows.len());
    rows
}

fn room(row: &str) -> Room {
    let cells: Vec<&str> = row.trim_end_matches('|').split(" | ").collect();
    let [name, _, rests_on, files] = cells[..] else { panic!("a row of four cells: {row}") };
    Room {
        name: name.trim_end_matches('`').to_owned(),
        rests_on: code_words(rests_on).into_iter().collect(),
        files: code_words(&without_parentheses(files)).iter().flat_map(|word| unfolded(word)).filter(|file| file != "build.rs").collect(),
    }
}

/// The words between backticks.
fn code_words(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0;
    text.chars()
        .filter(|letter| {
            depth += i32::from(*letter == '(');
            let is_outside = depth == 0;
            depth -= i32::from(*letter == ')');
            is_outside
        })
        .collect()
}

/// `a/{b,c}` as `a/b` and `a/c`.
fn unfolded(word: &str) -> Vec<String> {
    match word.split_once('{') {
        Some((folder, names)) => names.trim_end_matches('}').split(',').map(|name| format!("{folder}{}", name.trim())).collect(),
        None => vec![word.to_owned()],
    }
}

/// The crates below `crates/`, each with those of them that it needs when it is built for use.
fn crate_graph() -> BTreeMap<String, BTreeSet<String>> {
    let asked = ["metadata", "--no-deps", "--format-version", "1", "--offline", "--locked"];
    let answer = Command::new(env!("CARGO")).args(asked).current_dir(root()).output().expect("cargo runs");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let known: Value = serde_json::from_slice(&answer.stdout).expect("cargo answers in JSON");
    let list = |value: &Value| value.as_array().cloned().expect("a list");
    let folder = |value: &Value| PathBuf::from(value.as_str().expect("a path"));
    let name_below = |place: &Path| place.strip_prefix(root().join("crates")).ok().map(|name| name.display().to_string());
    let mut graph = BTreeMap::new();
    for package in list(&known["packages"]) {
        let Some(name) = folder(&package["manifest_path"]).parent().and_then(name_below) else { continue };
        let needed = list(&package["dependencies"]).into_iter().filter(|needed| needed["kind"].is_null() && needed["path"].is_string());
        graph.insert(name, needed.filter_map(|needed| name_below(&folder(&needed["path"]))).collect());
    }
    graph
}

/// A file of the program itself, without its tests.
struct Source {
    krate: String,
    /// Its module, from the crate's root: empty for `lib.rs` and `main.rs`.
    module: Vec<String>,
    lines: usize,
    /// Every path in it, with the names that `use` gathers in braces each by itself; a macro's ends with `!`.
    paths: Vec<Vec<String>>,
    /// Its texts in quotation marks, but for comments.
    texts: Vec<String>,
    /// The modules that it declares.
    children: BTreeSet<String>,
    /// Those of them that are tests.
    tests: BTreeSet<String>,
}

impl Source {
    fn shown(&self) -> String {
        let file = if self.module.is_empty() { "lib or main".to_owned() } else { self.module.join("/") };
        format!("{}/{file}", self.krate)
    }

    /// The folder whose idea it belongs to: `name.rs` stands beside `name/` and is the front of it.
    fn folder(&self, modules: &BTreeSet<&Vec<String>>) -> Vec<String> {
        let is_front = modules.iter().any(|other| other.len() == self.module.len() + 1 && other.starts_with(&self.module));
        let depth = if is_front { self.module.len() } else { self.module.len().saturating_sub(1) };
        self.module[..depth].to_vec()
    }
}

fn sources() -> Vec<Source> {
    crate_graph().into_keys().flat_map(|krate| sources_of(&krate)).collect()
}

fn sources_of(krate: &str) -> Vec<Source> {
    let folder = root().join("crates").join(krate).join("src");
    let mut found = Vec::new();
    let mut open = vec![folder.clone()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(&place).expect("a folder of sources").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                open.push(entry);
            } else if entry.extension().is_some_and(|ending| ending == "rs") {
                found.push(entry);
            }
        }
    }
    found.sort();
    let sources: Vec<Source> = found.iter().map(|file| source(krate, &folder, file)).collect();
    let tests: Vec<Vec<String>> = sources
        .iter()
        .flat_map(|source| source.tests.iter().map(|child| [&source.module[..], std::slice::from_ref(child)].concat()))
        .collect();
    sources.into_iter().filter(|source| !tests.iter().any(|test| source.module.starts_with(test))).collect()
}

fn source(krate: &str, folder: &Path, file: &Path) -> Source {
    let place = file.strip_prefix(folder).expect("it is below").with_extension("");
    let mut module: Vec<String> = place.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if matches!(module[..], [ref only] if only == "lib" || only == "main") {
        module.clear();
    }
    let text = fs::read_to_string(file).expect("a source can be read");
    let tokens: TokenStream = text.parse().unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let (paths, texts, children, tests) = (Vec::new(), Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut source = Source { krate: krate.to_owned(), module, lines: text.lines().count(), paths, texts, children, tests };
    read_tokens(tokens, &mut source);
    source
}

/// Takes out of tokens every path and every module that is declared, except below `#[cfg(test)]`.
fn read_tokens(tokens: TokenStream, into: &mut Source) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let (Some('#'), Some(TokenTree::Group(attribute))) = (punctuation(&tokens, at), tokens.get(at + 1))
            && attribute.to_string().replace(' ', "") == "[cfg(test)]"
        {
            let item = at + 2;
            at = after_item(&tokens, item);
            into.tests.extend(declared(&tokens, item));
            continue;
        }
        match &tokens[at] {
            TokenTree::Ident(name) if name == "mod" => {
                into.children.extend(declared(&tokens, at));
                at += 2;
            }
            TokenTree::Ident(name) if name == "doc" && punctuation(&tokens, at + 1) == Some('=') => at += 3,
            TokenTree::Ident(_) => at = read_path(&tokens, at, &[], &mut into.paths),
            TokenTree::Literal(literal) => {
                into.texts.push(literal.to_string());
                at += 1;
            }
            TokenTree::Group(group) => {
                read_tokens(group.stream(), into);
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// A path that begins there, behind `prefix`; the place behind it.
fn read_path(tokens: &[TokenTree], mut at: usize, prefix: &[String], paths: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(name)) => path.push(name.to_string()),
            Some(TokenTree::Group(names)) if names.delimiter() == Delimiter::Brace && !path.is_empty() => {
                let names: Vec<TokenTree> = names.stream().into_iter().collect();
                let mut inner = 0;
                while inner < names.len() {
                    inner = match &names[inner] {
                        TokenTree::Ident(_) => read_path(&names, inner, &path, paths),
                        _ => inner + 1,
                    };
                }
                return at + 1;
            }
            Some(TokenTree::Punct(sign)) if sign.as_char() == '*' && !path.is_empty() => path.push("*".to_owned()),
            _ => break,
        }
        at += 1;
        if punctuation(tokens, at) == Some(':') && punctuation(tokens, at + 1) == Some(':') {
            at += 2;
        } else {
            break;
        }
    }
    if punctuation(tokens, at) == Some('!') && punctuation(tokens, at + 1) != Some('=') {
        path.last_mut().expect("a name").push('!');
    }
    paths.push(path);
    at
}

/// The module with a file of its own that is declared there, `mod name;`.
fn declared(tokens: &[TokenTree], at: usize) -> Option<String> {
    match (tokens.get(at)?, tokens.get(at + 1)?, punctuation(tokens, at + 2)?) {
        (TokenTree::Ident(word), TokenTree::Ident(name), ';') if word == "mod" => Some(name.to_string()),
        _ => None,
    }
}

fn punctuation(tokens: &[TokenTree], at: usize) -> Option<char> {
    match tokens.get(at) {
        Some(TokenTree::Punct(sign)) => Some(sign.as_char()),
        _ => None,
    }
}

/// The place behind the item that begins there.
fn after_item(tokens: &[TokenTree], mut at: usize) -> usize {
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => break,
            TokenTree::Punct(sign) if sign.as_char() == ';' => break,
            _ => {}
        }
    }
    at
}

/// The circles of a crate that reach over several folders, each by its imports from one folder to another. A folder below another
/// belongs to it, but nothing belongs to the root of the crate.
fn circles_of(krate: &str) -> Vec<String> {
    let sources = sources_of(krate);
    let modules: BTreeSet<&Vec<String>> = sources.iter().map(|source| &source.module).collect();
    let front = sources.iter().find(|source| source.module.is_empty()).expect("a crate has a root");
    let imports: Vec<BTreeSet<usize>> = sources
        .iter()
        .map(|source| {
            let named = source.paths.iter().filter_map(|path| absolute(path, source));
            let files = named.filter_map(|path| file_of(&path, &modules, front));
            let others = files.filter(|module| !module.is_empty() && *module != source.module);
            others.filter_map(|module| sources.iter().position(|other| other.module == module)).collect()
        })
        .collect();
    let reached: Vec<BTreeSet<usize>> = (0..sources.len()).map(|from| reach(from, &imports)).collect();
    let together: BTreeSet<BTreeSet<usize>> = (0..sources.len())
        .filter(|one| !sources[*one].module.is_empty())
        .map(|one| reached[one].iter().copied().filter(|other| reached[*other].contains(&one)).collect())
        .collect();
    let folder = |file: usize| sources[file].folder(&modules);
    let leaves = |circle: &&BTreeSet<usize>| {
        let outermost = circle.iter().map(|file| folder(*file)).min_by_key(Vec::len).unwrap_or_default();
        circle.iter().any(|file| folder(*file) != outermost && (outermost.is_empty() || !folder(*file).starts_with(&outermost)))
    };
    let shown = |circle: &BTreeSet<usize>| {
        let imported = circle.iter().flat_map(|from| imports[*from].intersection(circle).map(move |to| (*from, *to)));
        let crossing = imported.filter(|(from, to)| folder(*from) != folder(*to));
        let crossings: Vec<String> = crossing.map(|(from, to)| format!("{} -> {}", sources[from].shown(), sources[to].shown())).collect();
        format!("{} files, by way of {}", circle.len(), crossings.join(", "))
    };
    together.iter().filter(leaves).map(shown).collect()
}

fn reach(from: usize, imports: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<usize> = imports[from].iter().copied().collect();
    while let Some(file) = open.pop() {
        if reached.insert(file) {
            open.extend(&imports[file]);
        }
    }
    reached
}

/// A path from the crate's root, if it leads into the crate.
fn absolute(path: &[String], source: &Source) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    let mut base = match first.as_str() {
        "crate" => Vec::new(),
        "self" | "super" => source.module.clone(),
        child if source.children.contains(child) => return Some([&source.module[..], path].concat()),
        _ => return None,
    };
    // Alone they are the word of a method, or that of a visibility.
    if path.iter().all(|part| matches!(part.as_str(), "crate" | "self" | "super")) {
        return None;
    }
    let ups = path.iter().take_while(|part| *part == "super").count();
    base.truncate(base.len().checked_sub(ups)?);
    let rest = if ups > 0 { &path[ups..] } else { rest };
    Some([base, rest.to_vec()].concat())
}

/// The module whose file a path leads to, also where the crate's root hands the name on.
fn file_of(path: &[String], modules: &BTreeSet<&Vec<String>>, front: &Source) -> Option<Vec<String>> {
    let longest = |path: &[String]| (1..=path.len()).rev().map(|length| path[..length].to_vec()).find(|module| modules.contains(module));
    longest(path).or_else(|| {
        let name = path.first()?;
        let handed_on = front.paths.iter().find(|known| known.len() > 1 && known.last() == Some(name))?;
        longest(&absolute(handed_on, front)?)
    })
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("docs/ is below the root").to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

/// Files below the binary that touch the world, and why they may.
const OUTSIDE: &[(World, &str, &str)] = &[
    (World::Prints, "live/terminal", "puts the terminal right again, also where the program panics"),
    (World::Prints, "script/state", "what a script prints, in one order with what C prints for it"),
    (World::OpensFiles, "engine/machine", "this machine: its processors, its quota and what its host took, in /proc and /sys"),
    (World::OpensFiles, "engine/neighbours", "whether the server runs on this machine, in /proc; belongs to `observe`"),
    (World::OpensFiles, "engine/net/socket", "the ports that this system gives, in /proc/sys"),
    (World::OpensFiles, "history", "its database and its journals"),
    (World::OpensFiles, "observe", "the server's machine"),
    (World::ReadsTheEnvironment, "resolve/inputs", "the variables that a load names"),
    (World::OpensFiles, "resolve/inputs", "the files that a load names"),
    (World::OpensFiles, "replay/log", "the log itself, which is larger than memory"),
    (World::OpensFiles, "sites/link", "this very program, to be copied to another machine"),
    (World::OpensFiles, "template/data", "rows of data, which are read while they are sent: larger than memory"),
    (World::OpensFiles, "testbed/limited", "a server that is short of its disk"),
];

/// Where flags are named below the binary, and why.
const FLAGS: &[(&str, &str)] = &[
    ("analysis", "advice in reports: what to give in the next run"),
    ("dialects", "flags of the tools whose command lines these are"),
    ("sites/machines", "words by which this program is called on another machine"),
    ("engine/net", "a warning that stands in a result"),
    ("engine/net/socket", "an example of a failure, as it stands in a result"),
    ("export/lib or main", "warnings that stand in a result"),
    ("history/revision", "git's own"),
    ("import/collection/curl", "curl's own"),
    ("import/part", "remarks that stand in a result"),
    ("measure/failure", "what happened to a request, as a result says it"),
    ("measure/fixtures", "warnings that stand in a result"),
    ("observe", "flags of the programs that it starts, and warnings that stand in a result"),
    ("plan/bounds", "an example of a failure, as it stands in a result"),
    ("report", "advice in reports: what to give in the next run"),
];

/// Files of more lines than [`LINES_MAX`], and why.
const LONG: &[(&str, &str)] = &[
    ("analysis/compare", "one estimate and its tests on simulated pairs"),
    ("analysis/gate", "one language of promises: read, judged and told"),
    ("analysis/interval", "one estimate and its tests on simulated seconds"),
    ("analysis/validity", "one list of what may be wrong with a generator, in its order"),
    ("history/store", "every question to the database"),
    ("import/collection", "requests as other tools keep them, and what is the same for every kind of file"),
    ("import/collection/curl", "curl's options, one by one"),
    ("import/collection/openapi", "one format, read and sampled"),
    ("live/view", "one picture, from the top to the bottom"),
    ("plan/template", "one language: read, printed and its mistakes"),
    ("plan/work", "one model: each item, and what is asked of all of them"),
    ("report/page/run", "one page, from the top to the bottom"),
    ("report/text", "one report, from the top to the bottom"),
    ("scenario/behaviour", "each instruction carried out"),
    ("scenario/compiled", "each item of a scenario as instructions"),
    ("scenario/read", "each key of a scenario"),
    ("step/check", "one language of checks: read, held and told"),
    ("step/html/xpath", "one language, read and evaluated"),
    ("testbed/server", "one server and its hostile answers"),
];
