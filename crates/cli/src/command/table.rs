//! stub
use analysis::*;
use report::Style;
pub fn header(_: Option<&plan::Plan>, _: &Style) -> String { "header\n".into() }
pub fn row(r: &LevelRow, _: &Style) -> String { format!("{} {} {:?} {}\n", r.level, r.qps, r.ttlb_mean_ns, r.success_percent) }
pub fn ending(s: &Sweep, _: &Style) -> String { conclusion(&s.rows(), s.stopped.as_ref()).join("\n") + "\n" }
pub fn sweep_files(s: &Sweep) -> Vec<(&'static str, Vec<u8>)> { vec![(".json", serde_json::to_vec(s).unwrap())] }
