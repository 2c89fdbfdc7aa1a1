//! Made-up access logs, and what reading one costs.
//!
//! A log that is the same in every round and on every machine, of any length: some thousands of users on some dozens of routes, a day
//! of them, in nginx's combined form. Real logs are nobody's to give away, and one whose lines repeat would be read from the
//! processor's caches alone.

use std::io::{self, Write};

/// Users, by their address.
const USERS: u64 = 5_000;
/// So many lines a second are in the log.
pub const LINES_A_SECOND: u64 = 200;
/// 2026-01-02T00:00:00Z.
const BEGINS: i64 = 1_767_312_000;
const AGENTS: [&str; 4] = [
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0.0.0 Safari/537.36",
    "shop-app/4.2.1 (android 15)",
];
const ROUTES: [&str; 12] = [
    "/",
    "/healthz",
    "/api/v1/products",
    "/api/v1/products/",
    "/api/v1/users/",
    "/api/v1/orders/",
    "/api/v1/cart",
    "/api/v1/search?q=",
    "/static/app.js",
    "/static/app.css",
    "/login",
    "/images/",
];

/// Numbers that are the same each time, and do not repeat: Marsaglia's xorshift64.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) const fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    pub(crate) const fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Writes lines until they come to so many bytes, and says how many.
///
/// # Errors
/// If `out` does not take them.
pub fn write(bytes: u64, out: &mut impl Write) -> io::Result<u64> {
    write_until(out, |_, written| written >= bytes)
}

/// Writes so many lines.
///
/// # Errors
/// If `out` does not take them.
pub fn write_lines(lines: u64, out: &mut impl Write) -> io::Result<u64> {
    write_until(out, |number, _| number >= lines)
}

/// Writes lines until so many, which come to so many bytes, are enough.
fn write_until(out: &mut impl Write, enough: impl Fn(u64, u64) -> bool) -> io::Result<u64> {
    let (mut written, mut number, mut random) = (0, 0_u64, Chance::new());
    let (mut second, mut stamp) = (u64::MAX, String::new());
    let mut line = Vec::new();
    while !enough(number, written) {
        let chance = random.draw();
        let now = number / LINES_A_SECOND;
        if now != second {
            second = now;
            let then = jiff::Timestamp::from_second(BEGINS + i64::try_from(now).unwrap_or(0)).unwrap_or(jiff::Timestamp::MAX);
            stamp = then.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string();
        }
        let user = chance % USERS;
        let route = ROUTES[(chance >> 16) as usize % ROUTES.len()];
        let own = if route.len() > 1 && route.ends_with(['/', '=']) { format!("{}", (chance >> 24) % 20_000) } else { String::new() };
        let method = if route == "/login" || route == "/api/v1/cart" { "POST" } else { "GET" };
        let status = [200, 200, 200, 200, 200, 200, 200, 304, 404, 500][(chance >> 40) as usize % 10];
        line.clear();
        writeln!(
            line,
            "10.{}.{}.{} - - [{stamp}] \"{method} {route}{own} HTTP/1.1\" {status} {} \"https://shop.example/\" \"{}\"",
            user / 250,
            user % 250,
            user % 7 + 1,
            (chance >> 32) % 50_000,
            AGENTS[(user % 4) as usize]
        )?;
        out.write_all(&line)?;
        written += line.len() as u64;
        number += 1;
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_the_same_each_time_and_has_the_lines_it_says() {
        let mut logs = [Vec::new(), Vec::new()];
        let lines = logs.each_mut().map(|log| write(100_000, log).expect("memory takes every byte"));
        assert_eq!(logs[0], logs[1]);
        let text = String::from_utf8(logs.into_iter().next().expect("there are two")).expect("it is text");
        assert_eq!(lines, [text.lines().count() as u64; 2]);
        assert!(text.len() >= 100_000 && text.contains("[02/Jan/2026:00:00:00 +0000] \"GET /"), "{}", &text[..200]);
        let mut first: Vec<&str> = text.lines().collect();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len() as u64, lines[0], "no line is there twice");
        let mut few = Vec::new();
        assert_eq!(write_lines(7, &mut few).expect("memory takes every byte"), 7);
        assert!(text.starts_with(&String::from_utf8(few).expect("it is text")));
    }
}
