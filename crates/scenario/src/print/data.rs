//! Files of rows, as a scenario names them.

use plan::{DataFile, RowForm, RowsFor};

use super::page::{Map, Value};

/// A data file: as it is typed, or key by key where that says more than its name and its columns.
pub(super) fn file(text: &str) -> Value {
    let Ok(file) = DataFile::named(text) else { return Value::from(text.to_owned()) };
    let RowForm { has_header, delimiter, quotes, uneven, encoding } = file.form;
    if file.form == RowForm::default() && file.rows_for == RowsFor::AllUsers && file.end.is_none() {
        return Value::from(text.to_owned());
    }
    let truth = |is: bool| Value::Bare(is.to_string());
    let mut map = Map::default();
    map.put("file", file.path.clone());
    map.put("name", file.name.clone());
    let columns = file.columns();
    let sign = columns.as_ref().map(|(_, sign)| *sign).filter(|sign| sign.as_str() != ",").or(delimiter);
    map.put_some(
        "columns",
        columns.map(|(columns, _)| Value::List(columns.into_iter().map(|name| Value::from(name.to_owned())).collect())),
    );
    map.put_some("header", has_header.then(|| truth(true)));
    map.put_some("delimiter", sign.map(|sign| sign.as_str().to_owned()));
    map.put_some("quotes", (!quotes).then(|| truth(false)));
    map.put_some("uneven", uneven.then(|| truth(true)));
    map.put_some("encoding", encoding.map(|encoding| encoding.to_string()));
    map.put_some(
        "for",
        match file.rows_for {
            RowsFor::AllUsers => None,
            RowsFor::EachPopulation => Some("each population"),
            RowsFor::EachUser => Some("each user"),
        },
    );
    map.put_some("end", file.end.map(|end| end.to_string()));
    Value::Map(map)
}
