//! The demo API: small, deterministic, and with something to find for whoever loads it.
//!
//! A sum, a computation that is slow and one that is remembered, a game whose steps depend on each other, and a login (`account`). It
//! keeps no state: the right card of a question follows from the question's number and the seed, so that memory does not grow
//! with the number of games and the same seed plays the same game.

use std::fmt::{Display, Write as _};
use std::hint::black_box;
use std::num::NonZeroU32;
use std::time::Duration;

use bytes::Bytes;

use crate::account;
use crate::behaviour::{Behaviour, Trickle};
use crate::distribution::draw;
use crate::query::value;

/// One endpoint of the API.
pub(crate) struct Endpoint {
    pub(crate) path: &'static str,
    about: &'static str,
    answer: fn(&RequestView<'_>) -> Answer,
}

/// What an endpoint may look at.
pub(crate) struct RequestView<'a> {
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) seed: u64,
    /// The number of the request, different for every request of a server.
    pub(crate) number: u64,
}

/// What an endpoint says.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) media_type: &'static str,
    pub(crate) body: Bytes,
}

impl Endpoint {
    pub(crate) fn answer(&self, asked: &RequestView<'_>) -> Answer {
        (self.answer)(asked)
    }
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const TEXT: &str = "text/plain; charset=utf-8";
pub(crate) const HEALTHY: &[u8] = br#"{"status":"ok"}"#;

/// All endpoints, in the order the index lists them.
pub(crate) const ENDPOINTS: &[Endpoint] = &[
    Endpoint { path: "/", about: "this list", answer: |_| text(index()) },
    Endpoint { path: "/healthz", about: "says that all is well, as fast as can be", answer: |_| healthy() },
    Endpoint { path: "/get_result", about: "?a=10&b=20: the sum of two whole numbers", answer: sum },
    Endpoint { path: "/fib", about: "?n=25: a Fibonacci number, computed the slow way (n up to 40)", answer: fib },
    Endpoint { path: "/fib-cached", about: "?n=25: the same, remembered", answer: fib_cached },
    Endpoint { path: "/question", about: "a question of the card game: its id, and from how many cards to choose", answer: question },
    Endpoint { path: "/answer", about: "?id=1&card=3: whether this was the card", answer: check_answer },
    Endpoint { path: "/pick", about: "a card, picked at random", answer: pick },
    Endpoint { path: "/users/N", about: "the user of that number, from 1 to 1000", answer: user },
    Endpoint { path: CHAT, about: "a language model's answer, streamed: forty tokens, 15 ms apart", answer: |_| chat() },
    Endpoint { path: "/orders/N", about: "the order of that number, from 1 to 1000, and whose it is", answer: order },
];

/// Where answers stream.
pub(crate) const CHAT: &str = "/v1/chat/completions";

const CHAT_EVENTS: u32 = 40;

/// An event of such an answer; all are as long.
fn chat_event(number: u32) -> String {
    format!(
        "data: {{\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"word{number:02} \"}}}}]}}\n\n"
    )
}

/// As the API of chat completions answers that OpenAI made and many servers have.
fn chat() -> Answer {
    let body: String = (0..CHAT_EVENTS).map(chat_event).chain(["data: [DONE]\n\n".to_owned()]).collect();
    Answer { status: 200, media_type: "text/event-stream", body: body.into() }
}

/// How a language model answers: eight at once are read, 60 ms each, and then an event comes every 15 ms.
#[must_use]
pub fn model_route() -> (&'static str, Behaviour) {
    let pool: Result<Behaviour, String> = "pool=8:60ms".parse();
    let drop_bytes = NonZeroU32::new(chat_event(0).len() as u32).unwrap_or(NonZeroU32::MIN);
    let trickle = Trickle { drop_bytes, every: Duration::from_millis(15) };
    (CHAT, Behaviour { trickle: Some(trickle), ..pool.unwrap_or_default() })
}

/// The endpoint's path that a path with a number at its end stands for: `/users/N` of `/users/7`.
pub(crate) fn numbered(path: &str) -> Option<&'static str> {
    let number_at = path.rfind('/')? + 1;
    let is_number = path.len() > number_at && path[number_at..].bytes().all(|byte| byte.is_ascii_digit());
    let mut shapes = ENDPOINTS.iter().map(|endpoint| endpoint.path);
    shapes.find(|shape| is_number && shape.strip_suffix('N').is_some_and(|prefix| prefix == &path[..number_at]))
}

/// The answer for a path nobody serves.
pub(crate) fn unknown(path: &str) -> Answer {
    json(404, format!(r#"{{"error":"nothing is served at {}","try":"/"}}"#, escaped(path)))
}

/// The answer to a request that says something impossible.
pub(crate) fn refused(reason: &str) -> Answer {
    json(400, format!(r#"{{"error":"{}"}}"#, escaped(reason)))
}

pub(crate) fn healthy() -> Answer {
    Answer { status: 200, media_type: JSON, body: Bytes::from_static(HEALTHY) }
}

/// What the demo API offers, for people: what it answers at `/`.
#[must_use]
pub fn index() -> String {
    let mut text = String::from("A small API to try load tests on.\n\n");
    for endpoint in ENDPOINTS {
        let _ = writeln!(text, "{:<21} {}", endpoint.path, endpoint.about);
    }
    for (path, about) in account::PAGES {
        let _ = writeln!(text, "{path:<21} {about}");
    }
    let _ = writeln!(text, "{:<21} the request's body, or its X-Id header if it has no body", ECHO);
    let _ = writeln!(text, "{:<21} ?delay=5ms&status=503&share=0.1&size=1000: behaves as told\n", BEHAVE);
    text.push_str(crate::behaviour::GRAMMAR);
    text
}

/// Where bodies come back.
pub(crate) const ECHO: &str = "/echo";
/// Where the query says how to behave.
pub(crate) const BEHAVE: &str = "/behave";

fn sum(asked: &RequestView<'_>) -> Answer {
    let numbers = whole_number(asked.query, "a").and_then(|a| Ok((a, whole_number(asked.query, "b")?)));
    match numbers {
        Ok((a, b)) => result(i128::from(a) + i128::from(b)),
        Err(reason) => refused(&reason),
    }
}

fn fib(asked: &RequestView<'_>) -> Answer {
    match fib_place(asked.query) {
        Ok(n) => result(slow_fibonacci(black_box(n))),
        Err(reason) => refused(&reason),
    }
}

fn fib_cached(asked: &RequestView<'_>) -> Answer {
    match fib_place(asked.query) {
        Ok(n) => result(FIBONACCI[n as usize]),
        Err(reason) => refused(&reason),
    }
}

/// Recursion without memory: the time grows 1.6-fold with each place, which is the point of it.
fn slow_fibonacci(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { slow_fibonacci(black_box(n - 1)) + slow_fibonacci(black_box(n - 2)) }
}

const FIBONACCI: [u64; FIB_PLACE_MAX + 1] = {
    let mut table = [0; FIB_PLACE_MAX + 1];
    table[1] = 1;
    let mut n = 2;
    while n <= FIB_PLACE_MAX {
        table[n] = table[n - 1] + table[n - 2];
        n += 1;
    }
    table
};

/// Half a second of computing; 41 would be most of a second on the thread that serves everyone else.
const FIB_PLACE_MAX: usize = 40;

fn fib_place(query: &str) -> Result<u32, String> {
    let n = whole_number(query, "n")?;
    u32::try_from(n).ok().filter(|n| *n as usize <= FIB_PLACE_MAX).ok_or_else(|| format!("n is {n}, but must be from 0 to {FIB_PLACE_MAX}"))
}

fn question(asked: &RequestView<'_>) -> Answer {
    json(200, format!(r#"{{"id":{},"cards":{CARDS}}}"#, asked.number))
}

fn check_answer(asked: &RequestView<'_>) -> Answer {
    let given = whole_number(asked.query, "id").and_then(|id| Ok((id, whole_number(asked.query, "card")?)));
    let (id, card) = match given {
        Ok(given) => given,
        Err(reason) => return refused(&reason),
    };
    let Ok(question) = u64::try_from(id) else {
        return refused(&format!("id is {id}, but no question has that id"));
    };
    if !(1..=CARDS).contains(&card) {
        return refused(&format!("card is {card}, but must be from 1 to {CARDS}"));
    }
    let right = card == right_card(asked.seed, question);
    json(200, format!(r#"{{"id":{id},"card":{card},"right":{right}}}"#))
}

fn pick(asked: &RequestView<'_>) -> Answer {
    json(200, format!(r#"{{"card":{}}}"#, 1 + draw(!asked.seed, asked.number) % CARDS as u64))
}

fn user(asked: &RequestView<'_>) -> Answer {
    match record_number(asked.path) {
        Some(number) => json(200, format!(r#"{{"id":{number},"name":"user{number}","city":"{}"}}"#, city(asked.seed, number))),
        None => unknown(asked.path),
    }
}

fn order(asked: &RequestView<'_>) -> Answer {
    let Some(number) = record_number(asked.path) else { return unknown(asked.path) };
    let (owner, items) = (1 + draw(asked.seed, number) % RECORDS, 1 + draw(!asked.seed, number) % 5);
    json(200, format!(r#"{{"id":{number},"user":{owner},"items":{items},"total":{}}}"#, items * 12))
}

/// Users and orders: so many of each.
const RECORDS: u64 = 1_000;

fn record_number(path: &str) -> Option<u64> {
    path.rsplit('/').next()?.parse().ok().filter(|number| (1..=RECORDS).contains(number))
}

fn city(seed: u64, number: u64) -> &'static str {
    const CITIES: [&str; 4] = ["Oslo", "Lima", "Accra", "Hanoi"];
    CITIES[(draw(seed, number) % CITIES.len() as u64) as usize]
}

fn right_card(seed: u64, question: u64) -> i64 {
    1 + (draw(seed, question) % CARDS as u64) as i64
}

/// Few enough that a game is won now and then.
const CARDS: i64 = 5;

fn whole_number(query: &str, name: &str) -> Result<i64, String> {
    let text = value(query, name).ok_or_else(|| format!("{name} is missing: add {name}=10 to the query"))?;
    text.parse().map_err(|_| format!("{name} is not a whole number: {text}"))
}

fn result(number: impl Display) -> Answer {
    json(200, format!(r#"{{"result":{number}}}"#))
}

pub(crate) fn json(status: u16, body: String) -> Answer {
    Answer { status, media_type: JSON, body: body.into() }
}

fn text(body: String) -> Answer {
    Answer { status: 200, media_type: TEXT, body: body.into() }
}

/// The inside of a JSON string.
fn escaped(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(path: &str, query: &str) -> (u16, String) {
        let endpoint = ENDPOINTS.iter().find(|endpoint| endpoint.path == numbered(path).unwrap_or(path)).unwrap();
        let answer = endpoint.answer(&RequestView { path, query, seed: 1, number: 7 });
        (answer.status, String::from_utf8(answer.body.to_vec()).unwrap())
    }

    #[test]
    fn two_numbers_are_added() {
        assert_eq!(ask("/get_result", "a=10&b=20"), (200, r#"{"result":30}"#.into()));
        assert_eq!(ask("/get_result", "b=-1&a=9223372036854775807"), (200, r#"{"result":9223372036854775806}"#.into()));
        let most = i64::MAX;
        assert_eq!(ask("/get_result", &format!("a={most}&b={most}")), (200, r#"{"result":18446744073709551614}"#.into()));
    }

    #[test]
    fn bad_numbers_are_refused_in_json() {
        let (status, body) = ask("/get_result", "a=10&b=%22x");
        assert_eq!((status, body.as_str()), (400, r#"{"error":"b is not a whole number: \"x"}"#));
        assert_eq!(ask("/get_result", "a=10").0, 400);
        assert_eq!(ask("/fib", "n=41").0, 400);
        assert_eq!(ask("/fib", "n=-1").0, 400);
        assert_eq!(ask("/answer", "id=1&card=6").0, 400);
    }

    #[test]
    fn the_slow_and_the_remembered_fibonacci_agree() {
        for n in 0..=20 {
            assert_eq!(ask("/fib", &format!("n={n}")), ask("/fib-cached", &format!("n={n}")));
        }
        assert_eq!(ask("/fib-cached", "n=40").1, r#"{"result":102334155}"#);
    }

    #[test]
    fn exactly_one_card_answers_a_question() {
        assert_eq!(ask("/question", ""), (200, r#"{"id":7,"cards":5}"#.into()));
        for id in 0..50 {
            let right = (1..=5).filter(|card| ask("/answer", &format!("id={id}&card={card}")).1.contains("true")).count();
            assert_eq!(right, 1, "question {id}");
        }
    }

    #[test]
    fn users_and_orders_have_numbers() {
        assert_eq!(ask("/users/7", ""), ask("/users/7", "again"));
        assert!(ask("/users/7", "").1.starts_with(r#"{"id":7,"name":"user7","city":""#));
        let (status, order) = ask("/orders/1000", "");
        assert!(status == 200 && order.starts_with(r#"{"id":1000,"user":"#), "{order}");
        for path in ["/users/0", "/users/1001", "/orders/99999999999999999999", "/users/N"] {
            assert_eq!(ask(path, "").0, 404, "{path}");
        }
        for path in ["/users", "/users/", "/users/7a", "/users/7/8", "7", "/fib/7"] {
            assert_eq!(numbered(path), None, "{path}");
        }
    }

    #[test]
    fn every_event_of_a_model_is_one_drop() {
        let (status, body) = ask(CHAT, "");
        let (path, behaviour) = model_route();
        let trickle = behaviour.trickle.unwrap();
        let mut drops = body.as_bytes().chunks(trickle.drop_bytes.get() as usize);
        assert!((status, path, behaviour.pool.is_some()) == (200, CHAT, true) && body.ends_with("data: [DONE]\n\n"));
        assert!(drops.by_ref().take(CHAT_EVENTS as usize).all(|drop| drop.starts_with(b"data: {") && drop.ends_with(b"\n\n")), "{body}");
        assert_eq!(drops.next(), Some(&b"data: [DONE]\n\n"[..]));
    }

    #[test]
    fn the_index_lists_every_endpoint() {
        let (_, index) = ask("/", "");
        for endpoint in ENDPOINTS {
            assert!(index.lines().any(|line| line.starts_with(&format!("{} ", endpoint.path))), "{}", endpoint.path);
        }
    }

    #[test]
    fn unknown_paths_are_named_safely() {
        let body = unknown("/a\"\\\u{1}").body;
        assert_eq!(&body[..], br#"{"error":"nothing is served at /a\"\\\u0001","try":"/"}"#);
    }
}
