//! Data files of a test plan: data sets, and the functions that read files line by line.
//!
//! A data set gives a row with each iteration of what it stands in, to each thread that comes. Where that is the whole plan or its only
//! group, a journey has it by itself; elsewhere the user takes it there. How its lines are cut is looked up in the file: what is not in it
//! (quotation marks, rows of other lengths) need not be said.

use std::collections::BTreeMap;

use plan::work::Item;
use plan::{Charset, DataEnd, DataFile, Delimiter, RowForm, RowsFor, named_delimiter};

use super::controllers;
use super::groups::is_group;
use super::tree::Element;
use super::{Reading, Scope};
use crate::collection::url::variable_name;

/// A function reads so many columns of a file at most.
const COLUMNS_MAX: usize = 1000;

/// Data sets, and what they are here.
#[derive(Debug, Default)]
pub(super) struct DataSets<'e> {
    sets: Vec<DataSet<'e>>,
}

/// A data set.
#[derive(Debug)]
struct DataSet<'e> {
    element: &'e Element,
    /// The group that it stands in.
    group: Option<&'e Element>,
    /// How templates call its file.
    file: String,
    /// The variables, and their columns.
    columns: Vec<(String, String)>,
    /// Whether users take its rows where it stands; else each iteration of a group has one.
    is_asked_for: bool,
    /// Whether users go that want a row behind the last.
    ends_users: bool,
}

/// Where a data set was found.
#[derive(Clone, Copy)]
struct Found<'e> {
    element: &'e Element,
    group: Option<&'e Element>,
    /// Whether it is a plan's or a group's own.
    is_outermost: bool,
}

/// A file as a data set reads it.
struct Opened {
    file: DataFile,
    /// The variables, and their columns; `None` if the file's first line is not known.
    columns: Option<Vec<(String, String)>>,
}

fn is_same(one: Option<&Element>, other: Option<&Element>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

impl<'e> Reading<'e> {
    /// Data sets, whose rows are those of users.
    pub(super) fn read_data(&mut self, groups: &[&'e Element]) {
        let mut found: Vec<Found<'e>> = Vec::new();
        self.roots().into_iter().for_each(|root| data_sets(root, None, std::ptr::eq(root, self.plan), &mut found));
        let has_others = groups.iter().any(|group| matches!(group.class.as_str(), "SetupThreadGroup" | "PostThreadGroup"));
        // Of each file that is open, which data sets go on in it.
        let mut open: Vec<(String, String, Option<&'e Element>, DataFile)> = Vec::new();
        for Found { element, group, is_outermost } in found {
            let mode = element.text("shareMode").trim();
            let of_group = group.filter(|_| mode == "shareMode.group");
            let rows_for = match mode {
                "shareMode.thread" => RowsFor::EachUser,
                "shareMode.group" if group.is_none() && groups.len() > 1 => RowsFor::EachPopulation,
                _ => RowsFor::AllUsers,
            };
            let Opened { mut file, columns } = match self.opened(element) {
                Ok(opened) => opened,
                Err(why) => {
                    for name in named(element).into_iter().filter(|name| !name.is_empty()) {
                        self.names.lost.insert(name.to_owned(), format!("{} is not carried over", element.said()));
                    }
                    self.leave_out(element, &Scope::default(), why);
                    continue;
                }
            };
            file.rows_for = rows_for;
            file.end = match (element.is_on("recycle", true), element.is_on("stopThread", false)) {
                (true, _) => None,
                (false, true) => Some(DataEnd::StopUser),
                (false, false) => Some(DataEnd::Mark),
            };
            let known = open.iter().find(|(path, known, group, _)| *path == file.path && known == mode && is_same(*group, of_group));
            let mut is_asked_for = !(is_outermost && (group.is_none() || groups.len() == 1));
            match known {
                Some((.., known)) if (DataFile { name: known.name.clone(), ..file.clone() }) == *known => {
                    // Each of several goes on where the others left off.
                    file.name.clone_from(&known.name);
                    is_asked_for = true;
                    let others = self.names.data.sets.iter_mut().filter(|set| set.file == file.name);
                    others.for_each(|other| other.is_asked_for = true);
                }
                _ => {
                    if known.is_some() {
                        let why = "it begins with the first row of its file, and does not go on where another data set of that file is";
                        self.leave_out(element, &Scope::default(), why);
                    }
                    file.name = self.data_name(&file.path);
                    open.push((file.path.clone(), mode.to_owned(), of_group, file.clone()));
                    self.names.files.push(file.name.clone());
                    self.course.data.push(file.clone());
                }
            }
            if has_others && group.is_none() && rows_for == RowsFor::AllUsers {
                let why = "groups before and after the load read it by themselves, from its first row on, as the others do";
                self.leave_out(element, &Scope::default(), why);
            }
            if columns.is_none() {
                self.names.open_files.push(file.name.clone());
            }
            let columns = columns.unwrap_or_default();
            for (variable, column) in &columns {
                self.names.columns.insert(variable.clone(), (file.name.clone(), column.clone()));
            }
            let ends_users = file.end == Some(DataEnd::StopUser);
            self.names.data.sets.push(DataSet { element, group, file: file.name, columns, is_asked_for, ends_users });
        }
    }

    /// Names are columns of the data sets of the plan and of this group; those of the group go over the others.
    pub(super) fn know_columns_in(&mut self, group: &'e Element) {
        let sets = std::mem::take(&mut self.names.data.sets);
        self.names.columns.clear();
        let mut leads_elsewhere = false;
        self.roots().into_iter().for_each(|root| super::each(root, &mut |element| leads_elsewhere |= element.class == "ModuleController"));
        let is_own = |set: &&DataSet<'e>| is_same(set.group, Some(group));
        let others = sets.iter().filter(|set| !is_own(set) && (set.group.is_none() || leads_elsewhere));
        let mut own: BTreeMap<&str, &str> = BTreeMap::new();
        for set in others.chain(sets.iter().filter(is_own)) {
            for (variable, column) in &set.columns {
                self.names.columns.insert(variable.clone(), (set.file.clone(), column.clone()));
                let before = if is_own(&set) { own.insert(variable, &set.file) } else { None };
                if before.is_some_and(|file| file != set.file) {
                    let why = format!("'{variable}' is a column of another data set too, and in the whole group it is that of this one");
                    self.leave_out(set.element, &Scope::default(), why);
                }
            }
        }
        self.names.data.sets = sets;
    }

    /// Whether users of this group go when a data set has no more rows for them.
    pub(super) fn ends_with_rows(&self, group: &'e Element) -> bool {
        let takes = |set: &DataSet<'e>| is_same(set.group, Some(group)) || set.group.is_none() && !set.is_asked_for;
        self.names.data.sets.iter().any(|set| set.ends_users && takes(set))
    }

    /// What takes the row of a data set where it stands, if users do that.
    pub(super) fn row_taken(&self, element: &Element) -> Option<Item> {
        let set = self.names.data.sets.iter().find(|set| std::ptr::eq(set.element, element))?;
        set.is_asked_for.then(|| Item::NextRow(set.file.clone()))
    }

    /// Where the file of a data set is, how its lines are cut, and what its columns are called.
    fn opened(&self, element: &Element) -> Result<Opened, String> {
        let path = self.names.literal(element.text("filename")).filter(|path| !path.is_empty());
        let path = path.ok_or("the name of its file is not known before the load")?;
        let encoding = self.names.literal(element.text("fileEncoding")).unwrap_or_default();
        // What is ASCII is UTF-8.
        let encoding = match encoding.to_ascii_lowercase().as_str() {
            "" | "us-ascii" | "ascii" => None,
            name => Charset::named(name).map_err(|why| format!("its file: {why}"))?,
        };
        let is_quoted = element.is_on("quotedData", false);
        let sign = match element.text("delimiter") {
            "" => ",",
            "\\t" => "\t",
            // With quotation marks the first sign counts alone.
            sign if is_quoted => &sign[..sign.chars().next().map_or(0, char::len_utf8)],
            sign => sign,
        };
        let delimiter: Delimiter = sign.parse().map_err(|why| format!("its delimiter: {why}"))?;
        let held = self.texts.get(&path).and_then(|held| held.as_deref().ok()).map(|held| held.trim_start_matches('\u{feff}'));
        // What is not in UTF-8 was read as if it were.
        let held = held.filter(|held| encoding.is_none() || held.is_ascii());
        let has_marks = held.is_none_or(|held| held.contains('"'));
        let mut file = DataFile::of("", &path);
        file.form = RowForm { delimiter: Some(delimiter), quotes: is_quoted || !has_marks, encoding, ..RowForm::default() };
        let first = held.map(|held| held.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
        let of_file: Option<Vec<&str>> = first.map(|line| line.split(sign).map(|name| name.trim().trim_matches('"')).collect());
        let given = named(element);
        let says_names = given.iter().all(|name| name.is_empty());
        let skips = says_names || element.is_on("ignoreFirstLine", false);
        let columns: Option<Vec<&str>> = if says_names { of_file.clone() } else { Some(given) };
        let is_plain = |names: &[&str]| (0..names.len()).all(|place| !names[place].is_empty() && !names[..place].contains(&names[place]));
        let of_its_own =
            skips && columns.as_deref().is_none_or(|columns| of_file.as_deref().is_none_or(|own| own == columns) && is_plain(columns));
        if of_its_own && (of_file.is_some() || says_names) {
            // What stands between its names shows how it is cut.
            let most = |line: &str| ",\t;".chars().rev().max_by_key(|sign| line.matches(*sign).count()).filter(|sign| line.contains(*sign));
            let seen = first.and_then(most).unwrap_or(',');
            let is_seen = sign == seen.encode_utf8(&mut [0; 4]);
            if is_seen {
                file.form.delimiter = None;
            }
        } else if let Some(columns) = &columns {
            // Of several of one name the last holds.
            let names: Vec<&str> =
                columns.iter().enumerate().map(|(place, name)| if columns[place + 1..].contains(name) { "" } else { *name }).collect();
            file.name_columns(&names).map_err(|odd| format!("its column '{odd}' cannot be called so here"))?;
            file.form.has_header = skips;
        }
        let count = columns.as_ref().map_or(0, Vec::len);
        let is_even = |held: &str| held.lines().filter(|line| !line.is_empty()).all(|line| line.split(sign).count() == count);
        file.form.uneven = held.is_none_or(|held| has_marks && is_quoted || !is_even(held));
        let seems_json = path.to_ascii_lowercase().rsplit('.').next().is_some_and(|end| matches!(end, "json" | "jsonl" | "ndjson"))
            || first.is_some_and(|line| line.trim_start().starts_with('{'));
        if seems_json && file.form == RowForm::default() {
            file.form.delimiter = Some(delimiter);
        }
        let named = columns
            .map(|columns| columns.iter().filter(|name| !name.is_empty()).map(|name| ((*name).to_owned(), (*name).to_owned())).collect());
        Ok(Opened { file, columns: named })
    }

    /// Files of which functions read columns, as data files.
    pub(super) fn read_files_of_functions(&mut self) {
        let mut columns: BTreeMap<String, usize> = BTreeMap::new();
        for (function, arguments) in &self.names.mentions.calls {
            let path = arguments.first().filter(|_| *function == "__CSVRead").and_then(|path| self.names.literal(path));
            if let Some(path) = path.filter(|path| !path.is_empty() && !path.starts_with('*')) {
                let column: usize = arguments.get(1).and_then(|column| column.trim().parse().ok()).unwrap_or(0);
                let known = columns.entry(path).or_default();
                *known = (*known).max(column.min(COLUMNS_MAX));
            }
        }
        for (path, last) in columns {
            let name = self.data_name(&path);
            let header: String = (0..=last).map(|number| format!("column_{number},")).collect();
            let form = RowForm { quotes: false, uneven: true, ..RowForm::default() };
            debug_assert!(named_delimiter(&header).is_some());
            self.course.data.push(DataFile { header: Some(header), form, ..DataFile::of(&name, &path) });
            self.names.files.push(name.clone());
            self.names.read_files.insert(path, name);
        }
    }

    /// Whoever reads columns of a file has a row of it from the beginning.
    pub(super) fn rows_of_functions_taken(&self) -> Option<Item> {
        let files = self.names.rows_used.take();
        let items: Vec<Item> = files.into_iter().map(Item::NextRow).collect();
        (!items.is_empty()).then_some(Item::Once(items))
    }

    /// What templates call a data file.
    fn data_name(&self, path: &str) -> String {
        let is_taken = |name: &str| self.names.files.iter().any(|known| known == name) || self.names.is_called(name);
        free_file_name(path, is_taken)
    }
}

/// What templates call a file.
pub(super) fn free_file_name(path: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let stem = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let stem = variable_name(stem.split('.').next().unwrap_or(stem));
    super::free_name(&stem, |number| format!("{stem}_{number}"), is_taken)
}

/// The variables of a data set, as its element names them.
fn named(element: &Element) -> Vec<&str> {
    element.text("variableNames").split(',').map(str::trim).collect()
}

/// The file of a data set, if it names one.
pub(super) fn file_of(element: &Element) -> Option<&str> {
    (element.class == "CSVDataSet").then(|| element.text("filename"))
}

/// All data sets in an element.
fn data_sets<'e>(element: &'e Element, group: Option<&'e Element>, is_outermost: bool, found: &mut Vec<Found<'e>>) {
    for child in &element.children {
        if child.class == "CSVDataSet" {
            found.push(Found { element: child, group, is_outermost });
        }
        let inner = if is_group(&child.class) { Some(child) } else { group };
        // What stands in a sampler belongs to what the sampler stands in.
        let stays = is_outermost && (is_group(&child.class) || controllers::is_sampler(&child.class));
        data_sets(child, inner, stays, found);
    }
}
