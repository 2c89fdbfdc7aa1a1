//! The server's side of many runs as one small table: what it used at each load.
//!
//! Where throughput stops growing, one of these columns says why: a thread at 100 %, a queue that fills, a quota.

use analysis::quantity::{NONE, bytes, count, decimal};
use analysis::server_side::{LevelSide, ServerSide, server_of};
use measure::Summary;

use crate::columns::Columns;
use crate::visible;

/// The table with a line above it, indented by two; nothing where no server was seen. A row for each load: what it is called and
/// all its runs.
#[must_use]
pub fn table(head: &str, loads: &[(String, Vec<&Summary>)]) -> String {
    let runs = || loads.iter().flat_map(|(_, runs)| runs).copied();
    let Some(asked) = server_of(runs()) else { return String::new() };
    let about = runs().find_map(|run| ServerSide::asked(run, asked)).map(|side| side.seen.about.clone()).unwrap_or_default();
    let sides: Vec<(&str, Option<LevelSide>)> = loads.iter().map(|(name, runs)| (name.as_str(), LevelSide::of(runs, asked))).collect();
    let throttled = sides.iter().any(|(_, side)| side.and_then(|side| side.throttled).is_some());
    let mut heads = vec![head, "CPU", "busiest thread", "waiting", "memory", "queued", "overflows", "machine CPU"];
    if throttled {
        heads.push("throttled");
    }
    let mut columns = Columns::new(&heads);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    for (name, side) in &sides {
        let cell = |figure: Option<String>| figure.unwrap_or_else(|| NONE.to_owned());
        let of = |figure: fn(&LevelSide) -> Option<f64>| side.as_ref().and_then(figure);
        let mut cells = vec![
            (*name).to_owned(),
            cell(of(|side| Some(side.cpu)).map(|cpu| decimal(cpu, 2))),
            cell(of(|side| side.busiest_thread).map(percent)),
            cell(of(|side| side.waiting).map(|waiting| decimal(waiting, 2))),
            cell(of(|side| side.memory_bytes).map(bytes)),
            cell(of(|side| side.accept_queue).map(|queued| count(queued as u64))),
            cell(of(|side| Some(side.overflows)).map(|lost| count(lost.round() as u64))),
            cell(of(|side| side.machine_cpu).map(|busy| decimal(busy, 2))),
        ];
        if throttled {
            cells.push(cell(of(|side| side.throttled).map(percent)));
        }
        columns.row(&cells);
    }
    let lines: String = columns.lines().into_iter().map(|line| format!("  {line}\n")).collect();
    format!("\n  The server's side: {}\n{lines}", visible(&about))
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn a_row_for_each_load_and_no_table_for_a_server_that_was_not_seen() {
        let all = fixtures::summaries();
        let run = |wanted: &str| all.iter().find(|(name, _)| *name == wanted).map(|(_, run)| run).unwrap();
        let (seen, unseen) = (run("a_server_that_was_watched"), run("closed_all_well"));
        assert_eq!(table("users", &[("50".to_owned(), vec![unseen])]), "");
        let text = table("users", &[("50".to_owned(), vec![unseen]), ("200".to_owned(), vec![seen, seen])]);
        let lines: Vec<&str> = text.trim().lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[0].contains("app (812)") && lines[2].contains('–') && lines[3].contains("129"), "{text}");
    }
}
