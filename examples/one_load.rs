//! One load carried out from a program of one's own: ten users for a second, and what came of it.
//!
//! `cargo run -p loadline-trial --example one_load -- http://127.0.0.1:8080/`

use engine::{Runner, Stop};
use measure::Summary;
use plan::{Draft, Plan, Spelling};

/// Loads a server with ten users for a second.
pub fn load(url: &str) -> Result<Summary, String> {
    let draft = Draft { url: Some(url.to_owned()), threads: "1".parse().ok(), ..Draft::default() };
    let draft = Draft { connections: "10".parse().ok(), duration: "1s".parse().ok(), ..draft };
    let plan = Plan::try_from(draft).map_err(|mistakes| mistakes.spelt(Spelling::KEYS))?;
    let runner = Runner::threads();
    trial::carry_out(&plan, &mut [], &Stop::new(), |watch, stop| runner.prepare(&plan)?.run(watch, stop))
        .map_err(|error| error.spelt(Spelling::KEYS))
}

fn main() -> Result<(), String> {
    let run = load(&std::env::args().nth(1).ok_or("give the URL of a server of yours")?)?;
    println!("{:.0} requests a second, {} failed, p99 {:?}", run.qps, run.requests.failed, run.response_time.known_quantile(0.99));
    Ok(())
}
