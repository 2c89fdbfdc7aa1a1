//! Claims: which agents of a fleet a commander has, and that it has them before it says so.
//!
//! Several commanders may look at the same moment and see the same agents idle. So an agent is had when it has answered a claim, and not
//! when it was seen: who loses one to another commander takes the next that is idle. Where two have some each and neither has enough,
//! both let theirs go and look again after a pause of chance, so that one of them is first. A third who saw only theirs looks again too.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use async_nats::Client;
use engine::RunError;
use plan::Random;
use tokio::time::{Instant, sleep, timeout};

use super::stream::{self, Ending, Piece};
use super::{ANSWER_MAX, AgentCard, Connection, FleetAddress, Reply, Request, SESSION, TO_ONE, json, read, wall_clock};
use crate::frames::SITE_SCHEMA;
use crate::link::{Call, End as _, Link, Way};
use crate::words::{first_of, harmless};

/// How often one that is busy is asked again.
const BUSY_AGAIN: Duration = Duration::from_millis(200);
/// How long agents that others let go are waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// The pause before they are looked for again, at most: the site of a claim that was let go is gone by then.
const PAUSE_MAX: Duration = Duration::from_millis(600);
/// How long one that is let go has for it.
const GOING_MAX: Duration = Duration::from_secs(1);

/// Agents that a commander has.
#[derive(Debug)]
pub struct Claims {
    /// How each is called. Whoever drops one that was not called lets the agent go.
    pub calls: Vec<Call>,
    /// The names of those that were idle when they were looked for, each with why it is not had.
    pub lost: Vec<Lost>,
}

/// The name of an agent, and why it is not had.
pub type Lost = (String, String);

/// An agent that is had, and the way to it.
type Had = (AgentCard, Contact);

/// Why an agent is not had.
#[derive(Debug)]
enum NotHad {
    /// It is busy, in words that go on from its name.
    Busy(String),
    /// It does not want to, or is not there.
    Refused(String),
}

impl NotHad {
    /// In words that go on from the agent's name.
    fn why(&self) -> &str {
        let (Self::Busy(why) | Self::Refused(why)) = self;
        why
    }
}

/// The agents of an address: those that are idle, or as many of them as it says. `by` says who has them, for people.
///
/// # Errors
/// If there are none, or too few. None is kept then.
pub fn agents_of(connection: &Connection, address: &FleetAddress, by: &str) -> Result<Claims, RunError> {
    let until = Instant::now() + PATIENCE;
    let mut chance = Random::new(wall_clock().0, std::process::id().into());
    let mut looks = Looks::default();
    loop {
        let seen = Seen::of(connection.look(address.group())?, address);
        let is_late = Instant::now() >= until;
        match seen.claim(connection, by) {
            Ok((had, lost)) => return Ok(Claims { calls: calls(had, address), lost }),
            Err(short) if is_late || !looks.goes_on(&short, address) => return Err(short.error),
            Err(_) => {}
        }
        thread::sleep(PAUSE_MAX.mul_f64(chance.unit()));
    }
}

/// What came of looking for agents so far.
#[derive(Debug, Default)]
struct Looks {
    /// How often they were looked for.
    count: u32,
    /// Whether others were faster once.
    had_race: bool,
}

impl Looks {
    /// Whether they are looked for again after these.
    fn goes_on(&mut self, short: &TooFew, address: &FleetAddress) -> bool {
        self.count += 1;
        // Who takes whoever is idle lets nobody go for others.
        self.had_race |= short.is_race && address.count().is_some();
        // Who was seen busy has a load, or is had by others of whom each has too few, and who let go at once: a second look tells.
        self.had_race || self.count == 1 && short.may_be_let_go
    }
}

fn calls(had: Vec<Had>, address: &FleetAddress) -> Vec<Call> {
    let call = |(card, contact): Had| Call {
        name: card.name,
        way: Arc::new(contact),
        allowed: card.targets,
        is_here: false,
        help: format!("see who is there: loadline agents {address}"),
    };
    had.into_iter().map(call).collect()
}

/// What was seen of the agents of an address.
struct Seen<'a> {
    address: &'a FleetAddress,
    idle: VecDeque<AgentCard>,
    /// How many would do and are busy.
    busy: usize,
    /// Why others cannot be had, in words that begin with their names.
    rest: Vec<String>,
}

/// Too few agents.
struct TooFew {
    error: RunError,
    /// Whether some that were seen idle went to another commander.
    is_race: bool,
    /// Whether there were enough if others let theirs go.
    may_be_let_go: bool,
}

impl<'a> Seen<'a> {
    fn of(cards: Vec<AgentCard>, address: &'a FleetAddress) -> Self {
        let own = env!("CARGO_PKG_VERSION");
        let (mut idle, mut busy, mut others) = (VecDeque::new(), Vec::new(), Vec::new());
        for card in cards {
            match &card.busy {
                _ if (card.schema.as_str(), card.loadline.as_str()) != (SITE_SCHEMA, own) => {
                    others.push(format!("{} has loadline {}, and this is {own}", card.name, card.loadline));
                }
                Some(with) => busy.push(format!("{} is busy with {with}", card.name)),
                None => idle.push_back(card),
            }
        }
        let (count, rest) = (busy.len(), [busy, others].concat());
        Self { address, idle, busy: count, rest }
    }

    /// Claims as many as are wanted; whoever is lost to others is told beside them.
    fn claim(mut self, connection: &Connection, by: &str) -> Result<(Vec<Had>, Vec<Lost>), TooFew> {
        let wanted = self.address.count().map(|count| count.get() as usize);
        let least = wanted.unwrap_or(1);
        let (mut had, mut lost, mut is_race) = (Vec::new(), Vec::new(), false);
        let broken = |error: RunError| TooFew { error, is_race: false, may_be_let_go: false };
        // Nobody is claimed who would have to be let go again.
        while had.len() + self.idle.len() >= least && wanted.is_none_or(|wanted| had.len() < wanted) && !self.idle.is_empty() {
            let next = wanted.map_or(self.idle.len(), |wanted| wanted - had.len());
            let next: Vec<AgentCard> = self.idle.drain(..next).collect();
            for (card, answer) in claim_all(connection, next, by).map_err(broken)? {
                match answer {
                    Ok(held) => {
                        let contact = Contact {
                            connection: connection.clone(),
                            id: card.id.clone(),
                            by: by.to_owned(),
                            held: Mutex::new(Some(held)),
                        };
                        had.push((card, contact));
                    }
                    Err(why) => {
                        let is_busy = matches!(why, NotHad::Busy(_));
                        is_race |= is_busy;
                        self.busy += usize::from(is_busy);
                        lost.push((card.name, why.why().to_owned()));
                    }
                }
            }
        }
        if had.len() >= least {
            had.sort_by(|(a, _), (b, _)| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
            return Ok((had, lost));
        }
        let count = had.len() + self.idle.len();
        had.iter().for_each(|(_, contact)| contact.hasten());
        drop(had);
        Err(TooFew { error: self.too_few(count, &lost), is_race, may_be_let_go: count + self.busy >= least })
    }

    fn too_few(&self, count: usize, lost: &[Lost]) -> RunError {
        let address = self.address;
        let place = address.group().map_or_else(|| format!("at {address}"), |group| format!("in group {group} at {address}"));
        let none = match (count, address.count()) {
            (0, _) | (_, None) => format!("no agent {place} is idle"),
            (count, Some(wanted)) => format!("{count} of the {wanted} agents that are wanted {place} are idle"),
        };
        let rest: Vec<String> = lost.iter().map(|(name, why)| format!("{name}: {why}")).chain(self.rest.iter().cloned()).collect();
        let why = if rest.is_empty() { none } else { format!("{none}: {}", first_of(&rest, "; ")) };
        RunError::run(
            why,
            format!("see who is there with loadline agents {address}, and start agents on more machines with loadline agent"),
        )
    }
}

/// An agent, and whether it is had.
type Answered = (AgentCard, Result<Held, NotHad>);

/// Claims these at once.
fn claim_all(connection: &Connection, cards: Vec<AgentCard>, by: &str) -> Result<Vec<Answered>, RunError> {
    connection.wait(async {
        let ask = |card: AgentCard| {
            let (connection, by) = (connection.clone(), by.to_owned());
            tokio::spawn(async move {
                let answer = claim(&connection, &card.id, &by).await;
                (card, answer)
            })
        };
        let asked: Vec<_> = cards.into_iter().map(ask).collect();
        let mut answered = Vec::new();
        for asked in asked {
            answered.extend(asked.await.ok());
        }
        Ok(answered)
    })
}

/// Claims one agent.
async fn claim(connection: &Connection, id: &str, by: &str) -> Result<Held, NotHad> {
    let client = &connection.client;
    let token = client.new_inbox().replace(|letter: char| !letter.is_ascii_alphanumeric(), "");
    let gone = |why: &dyn fmt::Display| NotHad::Refused(why.to_string());
    let heard = client.subscribe(format!("{SESSION}.{token}.answers")).await.map_err(|why| gone(&why))?;
    let orders = format!("{SESSION}.{token}.orders");
    let (schema, loadline) = (SITE_SCHEMA.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let claim = Request::Claim { schema, loadline, token, by: by.to_owned() };
    match timeout(ANSWER_MAX, client.request(format!("{TO_ONE}.{id}"), json(&claim))).await {
        Ok(Ok(answer)) => match read(&answer.payload) {
            Some(Reply::Begun) => {}
            Some(Reply::Busy(why)) => return Err(NotHad::Busy(harmless(&why))),
            Some(Reply::Refused(why)) => return Err(NotHad::Refused(harmless(&why))),
            None => return Err(gone(&"it gave an answer that this loadline does not know")),
        },
        Ok(Err(_)) => return Err(gone(&"it is not there any more")),
        Err(_) => {
            // It may have begun, and its answer is late.
            cut(client, orders).await;
            return Err(gone(&format!("it gave no answer within {} s", ANSWER_MAX.as_secs())));
        }
    }
    let (outlet, inlet, ending, carried) = stream::open(connection, heard, orders);
    tokio::spawn(carried);
    Ok(Held { link: Some(Link { orders: Box::new(outlet), answers: Box::new(inlet), end: ending.clone() }), ending })
}

async fn cut(client: &Client, orders: String) {
    drop(timeout(ANSWER_MAX, client.publish(orders, Piece::Cut.to_bytes())).await);
}

/// An agent that is had and not called yet. It is let go where it is dropped so.
struct Held {
    /// Until it is called.
    link: Option<Link>,
    ending: Arc<Ending>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").field("ending", &self.ending).finish_non_exhaustive()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.link.take().is_some() {
            self.ending.hasten();
            self.ending.wait(GOING_MAX);
        }
    }
}

/// The way to an agent.
#[derive(Debug)]
struct Contact {
    connection: Connection,
    id: String,
    /// Who claims it, for people.
    by: String,
    /// Its first session, until it is called.
    held: Mutex<Option<Held>>,
}

impl Contact {
    /// Brings the end of a session about that was not called: where there are several, none waits for another.
    fn hasten(&self) {
        if let Some(held) = &*self.held.lock().unwrap_or_else(PoisonError::into_inner) {
            held.ending.hasten();
        }
    }

    /// Claims it anew: it has been called before, and was lost.
    fn again(&self) -> io::Result<Held> {
        self.connection.runtime.block_on(async {
            let begun = Instant::now();
            loop {
                match claim(&self.connection, &self.id, &self.by).await {
                    // It may be about to be rid of the load before, which was our own.
                    Err(NotHad::Busy(_)) if begun.elapsed() < PATIENCE => sleep(BUSY_AGAIN).await,
                    Err(not_had) => return Err(io::Error::other(not_had.why().to_owned())),
                    Ok(held) => return Ok(held),
                }
            }
        })
    }
}

impl Way for Contact {
    fn link(&self) -> io::Result<Link> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut held = held.map_or_else(|| self.again(), Ok)?;
        held.link.take().ok_or_else(|| io::ErrorKind::BrokenPipe.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(idle: usize, busy: usize) -> Vec<AgentCard> {
        let card = AgentCard::of_this_process("one".to_owned(), "eu".to_owned(), Vec::new());
        let with = |busy: Option<&str>| AgentCard { busy: busy.map(str::to_owned), ..card.clone() };
        [vec![with(None); idle], vec![with(Some("a load of me")); busy]].concat()
    }

    #[test]
    fn agents_that_others_may_let_go_are_looked_for_a_second_time_and_those_of_a_race_until_it_is_late() {
        let (three, any) = (FleetAddress::read("nats://a/eu?count=3").unwrap(), FleetAddress::read("nats://a/eu").unwrap());
        let after = |address: &FleetAddress, may_be_let_go: bool, races: [bool; 3]| {
            let mut looks = Looks::default();
            races.map(|is_race| looks.goes_on(&TooFew { error: RunError::run("", ""), is_race, may_be_let_go }, address))
        };
        for address in [&three, &any] {
            assert_eq!(after(address, true, [false; 3]), [true, false, false]);
            assert_eq!(after(address, false, [false; 3]), [false; 3]);
        }
        assert_eq!(after(&three, true, [true, false, false]), [true; 3]);
        assert_eq!(after(&any, true, [true; 3]), [true, false, false]);
    }

    #[test]
    fn those_who_are_busy_are_counted_and_of_many_the_first_are_told() {
        let address = FleetAddress::read("nats://a/eu?count=3").unwrap();
        let mut cards = seen(1, 6);
        cards.push(AgentCard { loadline: "0.0.1".to_owned(), ..cards[0].clone() });
        let seen = Seen::of(cards, &address);
        assert_eq!((seen.idle.len(), seen.busy, seen.rest.len()), (1, 6, 7));
        let told = seen.too_few(1, &[]).message.spelt(plan::Spelling::Flags);
        assert!(told.ends_with("one is busy with a load of me; and 3 more"), "{told}");
    }
}
