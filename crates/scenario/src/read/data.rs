//! What users have before they send anything: files of rows, as a scenario names them, and cookies.

use plan::template::{Template, nearest, words};
use plan::work::Item;
use plan::{DELIMITER_HELP, DataEnd, DataFile, Delimiter, Draft, RowForm, RowsAt, RowsFor};

use step::{Jar, UnixSeconds};

use super::{Entries, OTHERS_MAX, Reading, SPELLING};
use crate::keys::DATA;
use crate::yaml::{Node, Spot, Value};

const END_HELP: &str = "write wrap, stop, stop-user, mark or error";

impl Reading<'_> {
    /// The files of rows, and what is said of all of them.
    pub(super) fn data(&mut self, top: &mut Entries<'_>, draft: &mut Draft) {
        let data = top.value("data");
        for node in data.map_or_else(Vec::new, |node| self.each(node)) {
            self.reaches_out(node.spot, "this names a file of the machine that serves");
            let written = if let Value::Map(_) = &node.value { self.described_data(node) } else { self.plain(node) };
            let Some(text) = written else { continue };
            if self.files.len() == OTHERS_MAX {
                self.wrong(node.spot, format!("the scenario has more than {OTHERS_MAX} data files"), "put rows together into one");
                break;
            }
            let known = DataFile::named(&text);
            if text.contains('[')
                && let Err(why) = &known
            {
                self.wrong(node.spot, why.message.spelt(SPELLING), why.help.clone());
                continue;
            }
            // A name that cannot be one is told here, with its place.
            let file = known.unwrap_or_else(|_| match text.split_once('=') {
                Some((name, path)) if !path.is_empty() => DataFile::of(name, path),
                _ => DataFile::of(DataFile::name_of(&text), &text),
            });
            let DataFile { name, path, .. } = &file;
            if !DataFile::is_name(name) || self.names.contains(name) || words().any(|word| word == *name) {
                let message = format!("the data file '{text}' gives no name that templates can call it by");
                self.wrong(node.spot, message, format!("give it one, as in rows={path}"));
            } else if self.files.contains(name) {
                self.wrong(
                    node.spot,
                    format!("two data files are called '{name}'"),
                    format!("give one another name, as in {name}2={path}"),
                );
            } else {
                let file = DataFile { path: self.beside(path), ..file };
                let columns = self.columns_of(node.spot, RowsAt::from(&file));
                self.columns.push(columns);
                draft.data_file.push(file.to_string());
                self.files.push(file.name);
            }
        }
        for (key, setting) in [("data_order", "data-order"), ("data_end", "data-end")] {
            let Some((word, node)) = top.take(key) else { continue };
            if data.is_none() {
                self.wrong(word.spot, format!("'{key}' is about data files, and there is none"), "name one under data");
                continue;
            }
            let Some(text) = self.plain(node) else { continue };
            let wrong = match setting {
                "data-order" => {
                    draft.data_order = text.parse().ok();
                    text.parse::<plan::RowOrder>().err()
                }
                _ => {
                    draft.data_end = text.parse().ok();
                    text.parse::<DataEnd>().err()
                }
            };
            if let Some(why) = wrong {
                let help = if setting == "data-order" { "write in-order, random or per-user" } else { END_HELP };
                self.wrong(node.spot, format!("'{}' {why}", text.escape_debug()), help);
            }
        }
    }

    /// A data file as it is typed, from what is said of it key by key.
    fn described_data(&mut self, node: &Node) -> Option<String> {
        let mut entries = self.shape(node, &DATA)?;
        let columns: Option<Vec<(Spot, String)>> = entries
            .value("columns")
            .map(|node| self.each(node).into_iter().filter_map(|node| Some((node.spot, self.plain(node)?))).collect());
        let delimiter = entries.take("delimiter").and_then(|(word, node)| Some((word.spot, self.plain(node)?)));
        let name = entries.value("name").and_then(|node| self.plain(node));
        let header = entries.take("header").and_then(|(word, node)| Some((word.spot, self.truth(node)?)));
        let quotes = entries.value("quotes").and_then(|node| self.truth(node)).unwrap_or(true);
        let uneven = entries.value("uneven").and_then(|node| self.truth(node)).unwrap_or(false);
        let encoding = entries.value("encoding").and_then(|node| self.charset(node)).flatten();
        let rows_for = entries.value("for").and_then(|node| self.rows_for(node)).unwrap_or_default();
        let end = entries.value("end").and_then(|node| {
            let text = self.plain(node)?;
            text.parse::<DataEnd>().map_err(|why| self.wrong(node.spot, format!("the end '{}' {why}", text.escape_debug()), END_HELP)).ok()
        });
        let Some(path) = entries.value("file").and_then(|node| self.plain(node)).filter(|path| !path.is_empty()) else {
            self.wrong(entries.spot, "the data file has no 'file'", "write file: PATH");
            return None;
        };
        let has_header = match header {
            Some((spot, false)) if columns.is_none() => {
                self.wrong(spot, "without a first line that names them, the columns have no names", "name them, as in columns: [id, name]");
                false
            }
            header => header.is_some_and(|(_, has_header)| has_header) && columns.is_some(),
        };
        let delimiter = delimiter.and_then(|(spot, text)| {
            let delimiter = text.parse::<Delimiter>();
            delimiter.map_err(|why| self.wrong(spot, why, format!("write {DELIMITER_HELP}"))).ok()
        });
        let name = name.unwrap_or_else(|| DataFile::name_of(&path).to_owned());
        let form = RowForm { has_header, delimiter, quotes, uneven, encoding };
        let mut file = DataFile { form, rows_for, end, ..DataFile::of(&name, &path) };
        if let Some(columns) = columns {
            if columns.iter().all(|(_, column)| column.trim().is_empty()) {
                self.wrong(entries.spot, "there are no columns here", "name them, as in columns: [id, name]");
                return None;
            }
            let names: Vec<&str> = columns.iter().map(|(_, column)| column.as_str()).collect();
            if let Err(odd) = file.name_columns(&names) {
                let spot = columns.iter().find(|(_, column)| *column == odd).map_or(entries.spot, |(spot, _)| *spot);
                self.wrong(spot, format!("'{}' cannot be the name of a column here", odd.escape_debug()), "call it otherwise");
            }
        }
        Some(file.to_string())
    }

    fn rows_for(&mut self, node: &Node) -> Option<RowsFor> {
        match self.plain(node)?.as_str() {
            "all users" => Some(RowsFor::AllUsers),
            "each population" => Some(RowsFor::EachPopulation),
            "each user" => Some(RowsFor::EachUser),
            other => {
                let message = format!("rows are not for '{}'", other.escape_debug());
                self.wrong(node.spot, message, "write for: all users, for: each population or for: each user");
                None
            }
        }
    }

    /// A cookie that users keep.
    pub(super) fn cookie(&mut self, node: &Node) -> Option<Template> {
        let cookie = self.template(node)?;
        if cookie.is_fixed() && !Jar::new().give(cookie.fixed_text().as_bytes(), "", UnixSeconds(0)) {
            let message = format!("'{}' is no cookie", cookie.fixed_text().escape_debug());
            self.wrong(node.spot, message, "write its name and its value, such as theme=dark");
            return None;
        }
        Some(cookie)
    }

    /// A row that is taken where the journey asks for it.
    pub(super) fn next_row(&mut self, node: &Node) -> Option<Item> {
        let name = self.plain(node)?;
        if !self.files.contains(&name) {
            let help = match nearest(&name, self.files.iter().map(String::as_str)) {
                Some(near) => format!("did you mean '{near}'?"),
                None if self.files.is_empty() => "name one under data".to_owned(),
                None => format!("there are {}", self.files.join(", ")),
            };
            self.wrong(node.spot, format!("no data file is called '{}'", name.escape_debug()), help);
            return None;
        }
        Some(Item::NextRow(name))
    }
}
