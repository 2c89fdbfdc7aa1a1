//! An agent's side of a fleet: it answers those who look, and lets one commander at a time have a site of its own program.

use std::ffi::OsString;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use async_nats::{Message, Subscriber};
use engine::RunError;
use futures_util::StreamExt as _;
use futures_util::stream::select_all;
use tokio::sync::Notify;

use super::stream::{self, Ending, Inlet, Outlet};
use super::{ALL, AgentCard, Connection, OF_GROUP, Reply, Request, SESSION, TO_ONE, json, read, wall_clock};
use crate::frames::SITE_SCHEMA;
use crate::link::{self, End, Link};

/// How long the site of a session has for its end.
const GOING_MAX: Duration = Duration::from_secs(5);
/// No name of a commander is told that is longer.
const NAME_LETTERS_MAX: usize = 100;
/// No name in a subject is longer.
const TOKEN_LETTERS_MAX: usize = 64;

/// What happens at an agent, for whoever looks after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A commander has it; who, in words.
    Begun(String),
    /// It is idle again; who had it, and for how long.
    Over(String, Duration),
    /// Somebody was refused; who, and why, in words.
    Refused(String, String),
}

/// An agent in its fleet.
#[derive(Debug)]
pub struct Member {
    agent: Arc<Agent>,
}

impl Member {
    /// Leaves: whoever has it is told.
    pub fn leave(self) {
        self.agent.leaving.notify_one();
        // Whoever asks meanwhile is answered on the thread that tells them.
        let session = self.agent.session().take();
        if let Some(session) = session {
            session.ending.hasten();
            session.ending.wait(Duration::from_secs(1));
        }
    }
}

struct Agent {
    connection: Connection,
    card: AgentCard,
    /// The words that call the site of a session.
    command: Vec<OsString>,
    session: Mutex<Option<Session>>,
    news: Box<dyn Fn(News) + Send + Sync>,
    leaving: Notify,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("card", &self.card).finish_non_exhaustive()
    }
}

/// Who has the agent.
#[derive(Debug)]
struct Session {
    by: String,
    since: Instant,
    ending: Arc<Ending>,
}

/// Joins a fleet with this card. `command` calls the site of a session, which speaks over its standard streams; `news` is told what happens.
///
/// # Errors
/// If the connection is lost for good.
pub fn join(
    connection: &Connection,
    mut card: AgentCard,
    command: Vec<OsString>,
    news: impl Fn(News) + Send + Sync + 'static,
) -> Result<Member, RunError> {
    card.id = connection.client.new_inbox().replace(|letter: char| !letter.is_ascii_alphanumeric(), "");
    let subjects = [ALL.to_owned(), format!("{OF_GROUP}.{}", card.group), format!("{TO_ONE}.{}", card.id)];
    let requests = connection.wait(async {
        let mut requests = Vec::new();
        for subject in subjects {
            requests.push(connection.client.subscribe(subject).await.map_err(io::Error::other)?);
        }
        connection.client.flush().await.map_err(io::Error::other)?;
        Ok(requests)
    })?;
    let (connection, session) = (connection.clone(), Mutex::new(None));
    let agent = Arc::new(Agent { connection, card, command, session, news: Box::new(news), leaving: Notify::new() });
    agent.connection.runtime.spawn(answer_all(agent.clone(), requests));
    Ok(Member { agent })
}

async fn answer_all(agent: Arc<Agent>, requests: Vec<Subscriber>) {
    let mut requests = select_all(requests);
    loop {
        tokio::select! {
            request = requests.next() => match request {
                Some(request) => agent.answer(request).await,
                None => return,
            },
            () = agent.leaving.notified() => return,
        }
    }
}

impl Agent {
    fn session(&self) -> std::sync::MutexGuard<'_, Option<Session>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it does now, if it is not idle.
    fn busy(&self) -> Option<String> {
        let session = self.session();
        session.as_ref().map(|session| format!("a load of {} for {} s", session.by, session.since.elapsed().as_secs()))
    }

    async fn answer(self: &Arc<Self>, request: Message) {
        let Some(reply) = request.reply else { return };
        let answer = match read(&request.payload) {
            Some(Request::Look) => json(&AgentCard { busy: self.busy(), ..self.card.clone() }),
            Some(Request::Clock) => json(&wall_clock()),
            Some(Request::Claim { schema, loadline, token, by }) => {
                let by: String = by.chars().take(NAME_LETTERS_MAX).collect();
                let reply = match (self.refusal((&schema, &loadline, &token)), self.busy()) {
                    (Some(why), _) => Reply::Refused(why),
                    (None, Some(busy)) => Reply::Busy(format!("it is busy with {busy}")),
                    (None, None) => self.begin(&token, by.clone()).await.map_or_else(Reply::Refused, |()| Reply::Begun),
                };
                if let Reply::Refused(why) | Reply::Busy(why) = &reply {
                    (self.news)(News::Refused(by, why.clone()));
                }
                json(&reply)
            }
            // One that a later version asks.
            None => return,
        };
        let _ = self.connection.client.publish(reply, answer).await;
    }

    /// Why a commander cannot have it.
    fn refusal(&self, (schema, loadline, token): (&str, &str, &str)) -> Option<String> {
        if (schema, loadline) != (SITE_SCHEMA, &self.card.loadline) {
            return Some(format!(
                "it has loadline {}, and this is loadline {loadline}: use the same version on both sides",
                self.card.loadline
            ));
        }
        if token.is_empty() || token.len() > TOKEN_LETTERS_MAX || !token.chars().all(|letter| letter.is_ascii_alphanumeric()) {
            return Some("its session has no proper name".to_owned());
        }
        None
    }

    /// Begins a session.
    async fn begin(self: &Arc<Self>, token: &str, by: String) -> Result<(), String> {
        let client = &self.connection.client;
        let heard = client.subscribe(format!("{SESSION}.{token}.orders")).await.map_err(|why| why.to_string())?;
        let called = link::call(&self.command).map_err(|why| format!("its program does not start: {}", plan::plainly(&why)))?;
        let (outlet, inlet, ending, carried) = stream::open(&self.connection, heard, format!("{SESSION}.{token}.answers"));
        self.connection.runtime.spawn(carried);
        *self.session() = Some(Session { by: by.clone(), since: Instant::now(), ending: ending.clone() });
        let agent = self.clone();
        let carry = move || {
            (agent.news)(News::Begun(by.clone()));
            let begun = Instant::now();
            connect(called, (inlet, outlet), &ending);
            *agent.session() = None;
            (agent.news)(News::Over(by, begun.elapsed()));
        };
        thread::Builder::new().name("session".to_owned()).spawn(carry).map(drop).map_err(|why| {
            *self.session() = None;
            format!("the system gives no more threads there: {why}")
        })
    }
}

/// Hands the streams of a site on until it is gone.
fn connect(Link { mut orders, mut answers, end }: Link, (mut inlet, mut outlet): (Inlet, Outlet), ending: &Arc<Ending>) {
    thread::scope(|scope| {
        let end = &end;
        scope.spawn(move || {
            let _ = io::copy(&mut inlet, &mut orders);
            // Without a stream of orders the site goes by itself.
            drop(orders);
            end.wait(GOING_MAX);
        });
        let _ = io::copy(&mut answers, &mut outlet);
        end.wait(GOING_MAX);
        ending.say_at_last(end.why());
        drop(outlet);
    });
    ending.wait(GOING_MAX);
}
