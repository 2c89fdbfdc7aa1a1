//! The server's side of many runs as one small table: what it used at each load, or on each side of a comparison.
//!
//! Where throughput stops growing, one of these columns says why: a thread at 100 %, a queue that fills, a quota.

use analysis::Sweep;
use analysis::comparison::{Comparison, Pair};
use analysis::found::CapacityReport;
use analysis::quantity::{NONE, bytes, count, decimal, four_digits, time};
use analysis::server_side::{LevelSide, ServerSide, server_of};
use measure::Summary;

use crate::columns::{Columns, wrapped};
use crate::visible;

/// Runs under the name of what they have in common: a load, or a side.
pub(crate) type Loads<'a> = Vec<(String, Vec<&'a Summary>)>;

/// What a narrow terminal does without, the least first.
const LEAST: [&str; 5] = ["overflows", "memory", "waiting", "queued", "machine CPU"];

/// The server's side, a row for each load or side.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    /// Whom it is about, as of the first run in which each was seen.
    pub(crate) about: String,
    /// What the columns are called; the first, which holds names, is called nothing.
    pub(crate) heads: Vec<&'static str>,
    /// A cell for each head.
    pub(crate) cells: Vec<Vec<String>>,
}

/// The levels of a sweep with their runs.
pub(crate) fn levels(sweep: &Sweep) -> Loads<'_> {
    sweep.by_level().into_iter().map(|(level, runs)| (level.to_string(), runs)).collect()
}

/// The trials of a search, each by itself: it may have measured the same rate twice, with a minute between.
pub(crate) fn trials(found: &CapacityReport) -> Loads<'_> {
    found.trials.iter().map(|trial| (format!("{}/s", four_digits(trial.rate)), vec![&trial.summary])).collect()
}

/// The server's side of a ladder as text; nothing where no server was seen.
#[must_use]
pub fn of_sweep(sweep: &Sweep, columns: usize) -> String {
    Rows::of_loads(&levels(sweep)).map_or_else(String::new, |rows| rows.text(columns))
}

/// The same of a search.
#[must_use]
pub fn of_search(found: &CapacityReport, columns: usize) -> String {
    Rows::of_loads(&trials(found)).map_or_else(String::new, |rows| rows.text(columns))
}

/// Both sides of a comparison, by the pairs that count.
pub(crate) fn sides(compared: &Comparison) -> Loads<'_> {
    let side = |name: &str, run: fn(&Pair) -> &Summary| (name.to_owned(), compared.sound().map(run).collect());
    vec![side("A", |pair| &pair.a), side("B", |pair| &pair.b)]
}

/// Two runs as the sides that they are.
pub(crate) fn two<'a>(a: &'a Summary, b: &'a Summary) -> Loads<'a> {
    vec![("A".to_owned(), vec![a]), ("B".to_owned(), vec![b])]
}

/// Both sides as text, with what a request costs on each; nothing where no server was seen.
pub(crate) fn of_sides(sides: &[(String, Vec<&Summary>)], width: usize) -> String {
    let mut text = Rows::of_sides(sides).map_or_else(String::new, |rows| rows.text(width));
    for line in cost(sides).iter().flat_map(|cost| wrapped(cost, width - 2)) {
        text += &format!("  {line}\n");
    }
    text
}

/// What a request costs the server on both sides, in a sentence; `None` unless both were seen.
pub(crate) fn cost(sides: &[(String, Vec<&Summary>)]) -> Option<String> {
    let each = |runs: &[&Summary]| {
        let asked = server_of(runs.iter().copied())?;
        let used = runs.iter().map(|run| Some(ServerSide::asked(run, asked)?.cpu()? / run.qps)).filter(|it| it.is_none_or(f64::is_finite));
        measure::observed::mean(used)
    };
    let [(_, a), (_, b)] = sides else { return None };
    let (a, b) = (each(a)?, each(b)?);
    (a > 0.0 && b > 0.0).then(|| {
        let change = (b / a - 1.0) * 100.0;
        let size = decimal(change.abs(), usize::from(change.abs() < 9.95));
        let change = match change {
            _ if change.abs() < 0.5 => "as much".to_owned(),
            _ if change < 0.0 => format!("{size} % less"),
            _ => format!("{size} % more"),
        };
        format!("For a request the server used {} of processor time in A and {} in B: {change}.", time(a * 1e9), time(b * 1e9))
    })
}

impl Rows {
    /// A row for each load. It is the same server at all of them, since a row about something else would be none.
    pub(crate) fn of_loads(loads: &[(String, Vec<&Summary>)]) -> Option<Self> {
        let asked = server_of(loads.iter().flat_map(|(_, runs)| runs).copied())?;
        let about = loads.iter().flat_map(|(_, runs)| runs).find_map(|run| about(run, asked))?;
        let sides = loads.iter().map(|(name, runs)| (name.clone(), LevelSide::of(runs, asked))).collect();
        Some(Self::of(about, sides))
    }

    /// A row for each side, each about the server of its own.
    pub(crate) fn of_sides(sides: &[(String, Vec<&Summary>)]) -> Option<Self> {
        let mut named = Vec::new();
        let mut rows = Vec::new();
        for (name, runs) in sides {
            let asked = server_of(runs.iter().copied());
            named.extend(asked.and_then(|asked| Some(format!("{name}: {}", runs.iter().find_map(|run| about(run, asked))?))));
            rows.push((name.clone(), asked.and_then(|asked| LevelSide::of(runs, asked))));
        }
        (!named.is_empty()).then(|| Self::of(named.join("; "), rows))
    }

    fn of(about: String, sides: Vec<(String, Option<LevelSide>)>) -> Self {
        let throttled = sides.iter().any(|(_, side)| side.and_then(|side| side.throttled).is_some());
        let mut heads = vec!["", "CPU", "busiest thread", "waiting", "memory", "queued", "overflows", "machine CPU"];
        if throttled {
            heads.push("throttled");
        }
        let share = |share: f64| format!("{:.0} %", share * 100.0);
        let row = |(name, side): (String, Option<LevelSide>)| {
            let cell = |figure: Option<String>| figure.unwrap_or_else(|| NONE.to_owned());
            let of = |figure: fn(&LevelSide) -> Option<f64>| side.as_ref().and_then(figure);
            let mut cells = vec![
                name,
                cell(of(|side| Some(side.cpu)).map(|cpu| decimal(cpu, 2))),
                cell(of(|side| side.busiest_thread).map(share)),
                cell(of(|side| side.waiting).map(|waiting| decimal(waiting, 2))),
                cell(of(|side| side.memory_bytes).map(bytes)),
                cell(of(|side| side.accept_queue).map(|queued| count(queued as u64))),
                cell(of(|side| Some(side.overflows)).map(|lost| count(lost.round() as u64))),
                cell(of(|side| side.machine_cpu).map(|busy| decimal(busy, 2))),
            ];
            if throttled {
                cells.push(cell(of(|side| side.throttled).map(share)));
            }
            cells
        };
        Self { about, heads, cells: sides.into_iter().map(row).collect() }
    }

    /// As lines with one above them, indented by two.
    pub(crate) fn text(&self, width: usize) -> String {
        let mut columns = Columns::new(&self.heads);
        self.cells.iter().for_each(|cells| columns.row(cells));
        let lines: String = columns.within(width - 2, &LEAST).into_iter().map(|line| format!("  {line}\n")).collect();
        let about = wrapped(&format!("The server's side: {}", visible(&self.about)), width - 2);
        let about: String = about.iter().map(|line| format!("  {line}\n")).collect();
        format!("\n{about}{lines}")
    }

    /// As a section of Markdown.
    pub(crate) fn markdown(&self) -> String {
        let rule = "---:|".repeat(self.heads.len() - 1);
        let head = format!("## The server's side\n\n{}\n\n| {} |\n|---|{rule}\n", visible::markdown(&self.about), self.heads.join(" | "));
        let table = self.cells.iter().fold(head, |table, cells| table + &format!("| {} |\n", cells.join(" | ")));
        format!("{table}\n{}\n", Self::LEGEND)
    }

    /// What the columns are, for whoever reads them apart from the guide.
    pub(crate) const LEGEND: &str = "CPU: cores the server used. Busiest thread: share of a core, at most. Waiting: its threads that were ready \
                                     and got no core. Memory and queued: at most; queued are connections that waited to be accepted, overflows \
                                     those lost since too many did. Machine CPU: busy cores of its machine.";
}

/// What is watched, by the first run in which it was seen.
fn about(run: &Summary, asked: &str) -> Option<String> {
    ServerSide::asked(run, asked).map(|side| side.seen.about.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{ServerObservation, fixtures};

    fn run(wanted: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == wanted).map(|(_, run)| run).unwrap()
    }

    #[test]
    fn a_row_for_each_load_and_no_table_for_a_server_that_was_not_seen() {
        let (seen, unseen) = (run("a_server_that_was_watched"), run("closed_all_well"));
        assert_eq!(Rows::of_loads(&[("50".to_owned(), vec![&unseen])]), None);
        let rows = Rows::of_loads(&[("50".to_owned(), vec![&unseen]), ("200".to_owned(), vec![&seen, &seen])]).unwrap();
        let text = rows.text(100);
        let lines: Vec<&str> = text.trim().lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert!(lines[0].contains("app (812)") && lines[2].contains('–') && lines[3].contains("129"), "{text}");
        let table = rows.markdown();
        assert!(table.starts_with("## The server's side\n\napp (812)") && table.contains("\n| 200 | "), "{table}");
    }

    #[test]
    fn each_side_is_about_the_server_of_its_own() {
        // Both servers are watched in every run, and each run loads one of them.
        let loaded = |port: u16| {
            let mut run = run("a_server_that_was_watched");
            let mut plan = serde_json::to_value(&run.plan).unwrap();
            plan["url"] = serde_json::json!(format!("http://127.0.0.1:{port}/"));
            run.edit_for_test().plan = serde_json::from_value(plan).unwrap();
            let one = run.observed[0].clone();
            let watched = |port: u16| ServerObservation { asked: format!("port:{port}"), about: format!("app at {port}"), ..one.clone() };
            run.edit_for_test().observed = [8_081, 8_082].map(watched).into();
            run
        };
        let (a, b) = (loaded(8_081), loaded(8_082));
        let rows = Rows::of_sides(&[("A".to_owned(), vec![&a]), ("B".to_owned(), vec![&b])]).unwrap();
        assert_eq!((rows.about.as_str(), rows.cells.len()), ("A: app at 8081; B: app at 8082", 2));
        assert_eq!(Rows::of_sides(&[("A".to_owned(), vec![&run("closed_all_well")])]), None);
    }

    #[test]
    fn what_a_request_costs_is_told_where_both_were_seen() {
        let (a, mut b) = (run("a_server_that_was_watched"), run("a_server_that_was_watched"));
        assert!(cost(&two(&a, &b)).unwrap().ends_with("in B: as much."));
        b.edit_for_test().qps *= 2.0;
        let said = cost(&two(&a, &b)).unwrap();
        assert!(said.starts_with("For a request the server used ") && said.ends_with("in B: 50 % less."), "{said}");
        assert!(cost(&two(&b, &a)).unwrap().ends_with("in B: 100 % more."));
        assert_eq!(cost(&two(&a, &run("closed_all_well"))), None);
    }
}
