//! A login: a form with a token against forged requests, a session in a cookie, an upload, a list in pages, a way out.
//!
//! What users of a journey do before anything else is log in, and a load generator that mixes up two users' cookies, or sends a
//! token of yesterday, passes against any server that looks at neither. This one looks. It keeps no state all the same: a session
//! says whose it is and is signed, and a token follows from what it belongs to, so that a million users cost nothing.

use crate::api;
use crate::distribution::draw;
use crate::query::value;

/// Where these are served, with what they are for.
pub(crate) const PAGES: &[(&str, &str)] = &[
    ("/login", "GET a form, POST it (user, password, csrf); a password is the name backwards"),
    ("/account", "whose session it is, and its token (`csrf`)"),
    ("/upload", "POST a form with a file `photo`, with the token as X-CSRF-Token"),
    ("/orders", "?page=1: the orders, in pages; `next` says which is next"),
    ("/logout", "POST, with the token as X-CSRF-Token"),
];

/// Pages of orders, and orders on each.
const PAGES_OF_ORDERS: u64 = 5;
const ORDERS_A_PAGE: u64 = 4;

/// Names are at most so long, as they stand in a cookie.
const NAME_BYTES_MAX: usize = 32;

/// What is signed with the server's seed, so that a token of one kind is none of another.
const VISITS: u64 = 0x0056_4953_4954;
const SESSIONS: u64 = 0x0053_4553_5349_4F4E;
const TOKENS: u64 = 0x0054_4F4B_454E;

/// What a page may look at.
pub(crate) struct PageView<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) query: &'a str,
    pub(crate) cookie: &'a str,
    pub(crate) token: &'a str,
    pub(crate) content_type: &'a str,
    pub(crate) body: &'a [u8],
    pub(crate) seed: u64,
    /// The number of the request, different for every request of a server.
    pub(crate) number: u64,
}

/// What it says.
pub(crate) struct Answer {
    pub(crate) answer: api::Answer,
    pub(crate) set_cookie: Option<String>,
    pub(crate) location: Option<&'static str>,
}

const HTML: &str = "text/html; charset=utf-8";

/// The answer to a request to one of the [`PAGES`].
pub(crate) fn answer(asked: &PageView<'_>) -> Answer {
    match (asked.method, asked.path) {
        ("GET", "/login") => form(asked),
        ("POST", "/login") => log_in(asked),
        ("GET", "/account") => with_session(asked, account),
        ("GET", "/orders") => with_session(asked, orders),
        ("POST", "/upload") => with_token(asked, upload),
        ("POST", "/logout") => with_token(asked, |_, _| Answer {
            set_cookie: Some("session=; Path=/; Max-Age=0".to_owned()),
            location: Some("/"),
            ..json(303, String::new())
        }),
        _ => refusal(405, &format!("{} cannot be asked for with {}", asked.path, asked.method)),
    }
}

fn form(asked: &PageView<'_>) -> Answer {
    let visit = signed(asked.seed, VISITS, &asked.number.to_string());
    let token = signed(asked.seed, TOKENS, &visit);
    let page = format!(
        "<!doctype html><title>Log in</title><form method=post action=/login><input type=hidden name=csrf value=\"{token}\"><input name=user><input name=password type=password></form>\n"
    );
    Answer {
        answer: api::Answer { status: 200, media_type: HTML, body: page.into() },
        set_cookie: Some(format!("visit={visit}; Path=/; HttpOnly")),
        location: None,
    }
}

fn log_in(asked: &PageView<'_>) -> Answer {
    let form = std::str::from_utf8(asked.body).unwrap_or_default();
    let field = |name: &str| value(form, name).unwrap_or_default();
    let visit = cookie(asked.cookie, "visit").unwrap_or_default();
    if visit.is_empty() || field("csrf") != signed(asked.seed, TOKENS, visit) {
        return refusal(403, "the token is not that of this visit");
    }
    let user = field("user");
    let is_name = (1..=NAME_BYTES_MAX).contains(&user.len()) && user.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_name || !field("password").chars().eq(user.chars().rev()) {
        return refusal(401, "there is no such user, or the password is another");
    }
    let session = format!("{user}.{}", signed(asked.seed, SESSIONS, &user));
    Answer { set_cookie: Some(format!("session={session}; Path=/; HttpOnly")), location: Some("/account"), ..json(303, String::new()) }
}

/// Whose session it is.
struct Session<'a> {
    user: &'a str,
    token: String,
}

fn with_session(asked: &PageView<'_>, answer: impl Fn(&PageView<'_>, &Session<'_>) -> Answer) -> Answer {
    let session = cookie(asked.cookie, "session").unwrap_or_default();
    match session.split_once('.').filter(|(user, signature)| *signature == signed(asked.seed, SESSIONS, user)) {
        Some((user, _)) => answer(asked, &Session { user, token: signed(asked.seed, TOKENS, session) }),
        None => refusal(401, "there is no session: log in first"),
    }
}

fn with_token(asked: &PageView<'_>, answer: impl Fn(&PageView<'_>, &Session<'_>) -> Answer) -> Answer {
    with_session(asked, |asked, session| {
        if asked.token == session.token { answer(asked, session) } else { refusal(403, "the token is not that of this session") }
    })
}

fn account(_: &PageView<'_>, session: &Session<'_>) -> Answer {
    json(200, format!(r#"{{"user":"{}","csrf":"{}","orders":{{"next":1}}}}"#, session.user, session.token))
}

fn orders(asked: &PageView<'_>, session: &Session<'_>) -> Answer {
    let page = value(asked.query, "page").map_or(Ok(1), |page| page.parse::<u64>());
    let Some(page) = page.ok().filter(|page| (1..=PAGES_OF_ORDERS).contains(page)) else {
        return refusal(404, &format!("there are pages 1 to {PAGES_OF_ORDERS}"));
    };
    let first = number_of(session.user) % 1_000_000 * 100 + (page - 1) * ORDERS_A_PAGE;
    let ids: Vec<String> = (first..first + ORDERS_A_PAGE).map(|id| id.to_string()).collect();
    let next = if page == PAGES_OF_ORDERS { "null".to_owned() } else { (page + 1).to_string() };
    json(200, format!(r#"{{"user":"{}","page":{page},"ids":[{}],"next":{next}}}"#, session.user, ids.join(",")))
}

fn upload(asked: &PageView<'_>, session: &Session<'_>) -> Answer {
    match photo(asked.content_type, asked.body) {
        Some((name, bytes)) => json(
            201,
            format!(r#"{{"user":"{}","name":"{}","bytes":{}}}"#, session.user, String::from_utf8_lossy(name).escape_default(), bytes.len()),
        ),
        None => refusal(400, "there is no form with a file 'photo'"),
    }
}

/// Name and bytes of the file in a form (RFC 7578), as far as a test needs it.
fn photo<'b>(content_type: &str, body: &'b [u8]) -> Option<(&'b [u8], &'b [u8])> {
    let boundary = content_type.strip_prefix("multipart/form-data;")?.split(';').find_map(|part| part.trim().strip_prefix("boundary="))?;
    let delimiter = [b"--", boundary.trim_matches('"').as_bytes()].concat();
    let mut rest = &body[find(body, &delimiter)? + delimiter.len()..];
    loop {
        let part = rest.strip_prefix(b"\r\n")?;
        let end = find(part, &[b"\r\n", &delimiter[..]].concat())?;
        let head_ends = find(&part[..end], b"\r\n\r\n")?;
        let (head, bytes) = (&part[..head_ends], &part[head_ends + 4..end]);
        if find(head, b"name=\"photo\"").is_some() {
            let name = &head[find(head, b"filename=\"")? + 10..];
            return Some((&name[..name.iter().position(|byte| *byte == b'"')?], bytes));
        }
        rest = &part[end + 2 + delimiter.len()..];
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// The value of a cookie that a request carries.
fn cookie<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.split(';').find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// What only this server can write under a text: enough against a client's mistake, and not meant against more.
fn signed(seed: u64, kind: u64, text: &str) -> String {
    format!("{:016x}", draw(seed ^ kind, number_of(text)))
}

/// FNV-1a (Fowler, Noll, Vo).
fn number_of(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

fn json(status: u16, body: String) -> Answer {
    Answer { answer: api::json(status, body), set_cookie: None, location: None }
}

fn refusal(status: u16, reason: &str) -> Answer {
    Answer { answer: api::Answer { status, ..api::refused(reason) }, set_cookie: None, location: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, path: &str, cookie: &str, token: &str, body: &str) -> (u16, String, String) {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let content_type = "multipart/form-data; boundary=b0";
        let answer = answer(&PageView { method, path, query, cookie, token, content_type, body: body.as_bytes(), seed: 1, number: 7 });
        (answer.answer.status, answer.set_cookie.unwrap_or_default(), String::from_utf8(answer.answer.body.to_vec()).unwrap())
    }

    fn between<'a>(text: &'a str, before: &str, after: char) -> &'a str {
        text.split_once(before).unwrap().1.split(after).next().unwrap()
    }

    /// The cookies and the token of somebody who has logged in.
    fn session(user: &str) -> (String, String) {
        let (_, visit, page) = ask("GET", "/login", "", "", "");
        let visit = visit.split(';').next().unwrap().to_owned();
        let token = between(&page, "value=\"", '"');
        let password: String = user.chars().rev().collect();
        let (status, cookie, _) = ask("POST", "/login", &visit, "", &format!("user={user}&password={password}&csrf={token}"));
        assert_eq!(status, 303);
        let cookie = cookie.split(';').next().unwrap().to_owned();
        let (_, _, account) = ask("GET", "/account", &cookie, "", "");
        let token = between(&account, "\"csrf\":\"", '"').to_owned();
        (format!("other=1; {cookie}"), token)
    }

    #[test]
    fn who_has_logged_in_is_known_and_nobody_else() {
        let (cookie, token) = session("ada");
        assert_eq!(
            ask("GET", "/account", &cookie, "", ""),
            (200, String::new(), format!(r#"{{"user":"ada","csrf":"{token}","orders":{{"next":1}}}}"#))
        );
        for cookie in ["", "session=ada", "session=ada.0000000000000000", &cookie.replace("ada", "bob")] {
            assert_eq!(ask("GET", "/account", cookie, "", "").0, 401, "{cookie}");
        }
        let (other, other_token) = session("bob");
        assert!(other_token != token && ask("POST", "/logout", &other, &token, "").0 == 403);
        let (status, set, _) = ask("POST", "/logout", &other, &other_token, "");
        assert_eq!((status, set.as_str()), (303, "session=; Path=/; Max-Age=0"));
        assert_eq!(ask("DELETE", "/account", &cookie, "", "").0, 405);
    }

    #[test]
    fn a_form_of_another_visit_and_a_wrong_password_are_refused() {
        let (_, visit, page) = ask("GET", "/login", "", "", "");
        let visit = visit.split(';').next().unwrap();
        let token = between(&page, "value=\"", '"');
        for (cookie, form, status) in [
            (visit, "user=ada&password=ada&csrf=0".to_owned(), 403),
            ("", format!("user=ada&password=ada&csrf={token}"), 403),
            ("visit=1", format!("user=ada&password=ada&csrf={token}"), 403),
            (visit, format!("user=abc&password=abc&csrf={token}"), 401),
            (visit, format!("user=a.c&password=c.a&csrf={token}"), 401),
            (visit, format!("user=&password=&csrf={token}"), 401),
            (visit, format!("user=abc&password=cba&csrf={token}"), 303),
        ] {
            assert_eq!(ask("POST", "/login", cookie, "", &form).0, status, "{form}");
        }
    }

    #[test]
    fn orders_come_in_pages_that_lead_to_each_other() {
        let (cookie, _) = session("ada");
        let mut next = "1".to_owned();
        let mut seen = Vec::new();
        while next != "null" {
            let (status, _, body) = ask("GET", &format!("/orders?page={next}"), &cookie, "", "");
            assert_eq!(status, 200);
            seen.extend(between(&body, "\"ids\":[", ']').split(',').map(str::to_owned));
            next = between(&body, "\"next\":", '}').to_owned();
        }
        seen.dedup();
        assert_eq!(seen.len(), 20);
        assert_eq!((ask("GET", "/orders?page=6", &cookie, "", "").0, ask("GET", "/orders", "", "", "").0), (404, 401));
    }

    #[test]
    fn a_file_in_a_form_is_found() {
        let (cookie, token) = session("ada");
        let form = "--b0\r\nContent-Disposition: form-data; name=\"note\"\r\n\r\nhi\r\n--b0\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"p.png\"\r\nContent-Type: image/png\r\n\r\nPIXELS\r\n--b0--\r\n";
        let (status, _, body) = ask("POST", "/upload", &cookie, &token, form);
        assert_eq!((status, body.as_str()), (201, r#"{"user":"ada","name":"p.png","bytes":6}"#));
        assert_eq!(ask("POST", "/upload", &cookie, "x", form).0, 403);
        for at in 0..form.len() - 6 {
            assert_eq!(ask("POST", "/upload", &cookie, &token, &form[..at]).0, 400, "{at}");
        }
    }
}
