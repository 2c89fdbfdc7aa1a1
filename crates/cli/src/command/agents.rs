//! `loadline agents nats://…`: who waits at a NATS server for work.

use analysis::quantity::time;
use clap::Args;
use plan::PlanErrors;
use plan::setting::AGENTS;
use serde::Serialize;
use sites::{AgentCard, AgentClock};

use super::runs::laid_out;
use crate::exit::{Exit, Failed};
use crate::nats::{self, NatsArgs};

/// Where they are, and how they are told.
#[derive(Debug, Args)]
pub struct Agents {
    /// The server, and the group if only one is meant, such as nats://10.0.0.1:4222/eu
    #[arg(value_name = "URL")]
    url: String,

    /// As JSON
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    nats: NatsArgs,
}

/// An agent, and how far away it is.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    card: &'a AgentCard,
    clock: Option<AgentClock>,
}

/// Asks all of them, and lists who answers.
pub fn carry_out(agents: &Agents) -> Result<Exit, Failed> {
    let mut errors = PlanErrors::default();
    let access = agents.nats.access(&mut errors);
    let address = nats::address((AGENTS, "the address"), &agents.url, nats::FLEET, &mut errors);
    let Some(address) = address.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    let connection = nats::connect(&address, &access)?;
    let cards = connection.look(address.group()).map_err(Failed::from)?;
    let clocks = connection.measure(&cards).map_err(Failed::from)?;
    let listed: Vec<Listed<'_>> = cards.iter().zip(clocks).map(|(card, clock)| Listed { card, clock }).collect();
    if agents.json {
        let mut text = serde_json::to_string_pretty(&listed).expect("an agent can be written");
        text.push('\n');
        return super::print(text.as_bytes());
    }
    if listed.is_empty() {
        let place = address.group().map_or_else(String::new, |group| format!("in group {group} "));
        return super::print(
            format!("\n  No agent {place}waits at {address}: start one with loadline agent --nats {address}\n\n").as_bytes(),
        );
    }
    let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
    rows.extend(listed.iter().map(cells));
    let room = crate::output_args::terminal_columns().map_or(usize::MAX, usize::from);
    super::print(laid_out(rows, &FIGURES, &LEAST, room).as_bytes())
}

const HEADS: [&str; 9] = ["name", "group", "loadline", "cores", "connections", "round trip", "clock", "load may go to", "does"];
const FIGURES: [&str; 3] = ["cores", "connections", "round trip"];
const LEAST: [&str; 3] = ["load may go to", "loadline", "clock"];

fn cells(Listed { card, clock }: &Listed<'_>) -> Vec<String> {
    vec![
        report::visible(&card.name),
        report::visible(&card.group),
        report::visible(&card.loadline),
        card.cores.to_string(),
        card.connections_max.to_string(),
        clock.map_or_else(|| "?".to_owned(), |clock| time(clock.round_trip.0 as f64)),
        clock.map_or_else(|| "?".to_owned(), ahead),
        report::visible(&card.targets.join(", ")),
        card.busy.as_deref().map_or_else(|| "idle".to_owned(), report::visible),
    ]
}

/// `+1.2 ms ± 0.3 ms`.
fn ahead(clock: AgentClock) -> String {
    let sign = if clock.ahead < 0 { '-' } else { '+' };
    format!("{sign}{} ± {}", time(clock.ahead.unsigned_abs() as f64), time(clock.round_trip.0 as f64 / 2.0))
}
