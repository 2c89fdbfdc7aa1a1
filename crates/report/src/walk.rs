//! One request or one journey, with everything that was sent and answered: what a writer of scenarios looks at before a load.
//!
//! The words a load has for a failure are one example and a count. Here every request stands whole, in the order it was sent, each with
//! its checks and with the variables as they were afterwards. What is secret has been left out by whoever made the [`Walk`].

use std::io;

use crate::rendering::Rendering;
use crate::visible::visible;
use measure::reason;

/// A request or a journey that was gone through once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// What was tried.
    pub title: String,
    /// In the order they were sent.
    pub exchanges: Vec<Exchange>,
    /// What failed, in words; `None` if nothing did.
    pub wrong: Option<String>,
}

/// A request and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// What it is part of: `setup`, `teardown`, or nothing.
    pub part: &'static str,
    /// The step.
    pub name: String,
    /// The request, as it was sent.
    pub request: String,
    /// The status, or why there is none.
    pub result: Result<u16, String>,
    /// Lines `name: value`.
    pub headers: String,
    /// The beginning of the body.
    pub body: String,
    /// So many bytes of the body are not kept.
    pub bytes_left_out: usize,
    /// How long the answer took, in words; empty where it led elsewhere.
    pub took: String,
    /// Each check, and what was there instead if it did not hold.
    pub checks: Vec<(String, Result<(), String>)>,
    /// What was to be taken out of the answer and was not there.
    pub missing: Vec<String>,
    /// Every variable that has a value afterwards.
    pub variables: Vec<(String, String)>,
}

/// Every format of a walk.
pub const WALK_FORMATS: &[Rendering<Walk>] = &[
    Rendering { name: "text", about: "every request and answer, for people", extension: "txt", render: |it| Ok(text(it).into_bytes()) },
    Rendering { name: "html", about: "a page for a browser", extension: "html", render: |it| io::Result::Ok(page(it).into_bytes()) },
];

/// Of a body, so many letters are shown in the text.
const BODY_LETTERS_MAX: usize = 2_000;

impl Exchange {
    fn outcome(&self) -> String {
        let came = match &self.result {
            Ok(_) if self.is_message() => "answered".to_owned(),
            Ok(status) => format!("{status} {}", reason(*status)),
            Err(why) => format!("no answer: {why}"),
        };
        match (&self.result, self.took.is_empty()) {
            (Ok(401), true) => format!("{came}, and sent again with the answer to its challenge"),
            (_, true) => format!("{came}, which was followed"),
            _ => format!("{came} after {}", self.took),
        }
    }

    fn heading(&self, number: usize) -> String {
        let part = if self.part.is_empty() { String::new() } else { format!("{}: ", self.part) };
        format!("{number}. {part}{}: {}", visible(&self.name), self.outcome())
    }

    /// Whether it is a message over WebSocket, on a connection that was opened before: it has no head.
    fn is_message(&self) -> bool {
        self.result == Ok(101) && self.request.lines().next().is_none_or(|line| !line.ends_with(" HTTP/1.1"))
    }

    fn is_well(&self) -> bool {
        self.missing.is_empty() && self.result.is_ok() && self.checks.iter().all(|(_, held)| held.is_ok())
    }

    /// What was found out about the answer, a line each.
    fn findings(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .checks
            .iter()
            .map(|(check, held)| match held {
                Ok(()) => format!("check    held    {}", visible(check)),
                Err(why) => format!("check    FAILED  {}", visible(why)),
            })
            .collect();
        lines.extend(self.missing.iter().map(|missing| format!("extract  FAILED  {}", visible(missing))));
        lines.extend(self.variables.iter().map(|(name, value)| format!("variable {} = {}", visible(name), visible(value))));
        lines
    }

    /// The answer as it came: status, headers, and the body as far as it is kept.
    fn answer(&self, letters_max: usize) -> String {
        let Ok(status) = &self.result else { return String::new() };
        let head = || format!("HTTP/1.1 {status} {}\n{}\n", reason(*status), self.headers);
        let mut answer = if self.is_message() { String::new() } else { head() };
        let shown: String = self.body.chars().take(letters_max).collect();
        answer += &shown;
        let left_out = self.body.len() - shown.len() + self.bytes_left_out;
        if left_out > 0 {
            if !shown.ends_with('\n') {
                answer.push('\n');
            }
            answer += &format!("… and {left_out} bytes more");
        }
        answer
    }
}

/// Lines with a sign before each.
fn quoted(sign: &str, text: &str) -> String {
    text.trim_end().lines().map(|line| format!("   {sign} {}", visible(line)).trim_end().to_owned() + "\n").collect()
}

/// What it came to, in one sentence.
fn verdict(walk: &Walk) -> String {
    match &walk.wrong {
        Some(why) => format!("Failed: {}", visible(why)),
        None => match walk.exchanges.len() {
            1 => "The request succeeded.".to_owned(),
            count => format!("All {count} requests succeeded."),
        },
    }
}

/// For people.
#[must_use]
pub fn text(walk: &Walk) -> String {
    let mut text = format!("\n  {}\n", visible(&walk.title));
    for (number, exchange) in (1..).zip(&walk.exchanges) {
        text += &format!("\n{}\n", exchange.heading(number));
        text += &quoted(">", &exchange.request);
        let answer = exchange.answer(BODY_LETTERS_MAX);
        if !answer.is_empty() {
            text += "\n";
            text += &quoted("<", &answer);
        }
        let findings = exchange.findings();
        if !findings.is_empty() {
            text += "\n";
            findings.iter().for_each(|line| text += &format!("   {line}\n"));
        }
    }
    text + &format!("\n  {}\n", verdict(walk))
}

/// For a browser.
#[must_use]
pub fn page(walk: &Walk) -> String {
    let escaped = |text: &str| pages::escaped(text);
    let mut body = format!("<h1>{}</h1>\n<p><strong>{}</strong></p>\n", escaped(&visible(&walk.title)), escaped(&verdict(walk)));
    for (number, exchange) in (1..).zip(&walk.exchanges) {
        let open = if exchange.is_well() { "" } else { " open" };
        body += &format!("<details{open}>\n<summary>{}</summary>\n", escaped(&exchange.heading(number)));
        let plain = |text: &str| text.lines().map(|line| visible(line) + "\n").collect::<String>();
        body += &format!("<pre>{}</pre>\n", escaped(&plain(&exchange.request)));
        let answer = exchange.answer(usize::MAX);
        if !answer.is_empty() {
            body += &format!("<pre>{}</pre>\n", escaped(&plain(&answer)));
        }
        let findings = exchange.findings();
        if !findings.is_empty() {
            body += "<ul>\n";
            findings.iter().for_each(|line| body += &format!("<li>{}</li>\n", escaped(line)));
            body += "</ul>\n";
        }
        body += "</details>\n";
    }
    pages::still(&walk.title, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk() -> Walk {
        let first = Exchange {
            part: "",
            name: "log in".to_owned(),
            request: "POST /login HTTP/1.1\r\nHost: a.test\r\n\r\nuser=ada&password=***".to_owned(),
            result: Ok(303),
            headers: "Location: /account\n".to_owned(),
            body: String::new(),
            bytes_left_out: 0,
            took: String::new(),
            checks: Vec::new(),
            missing: Vec::new(),
            variables: Vec::new(),
        };
        let second = Exchange {
            request: "GET /account HTTP/1.1\r\nHost: a.test\r\n\r\n".to_owned(),
            result: Ok(200),
            headers: "Content-Type: application/json\n".to_owned(),
            body: "{\"user\":\"<ada>\u{1b}\"}".to_owned(),
            bytes_left_out: 90_000,
            took: "1.2 ms".to_owned(),
            checks: vec![
                ("status 200".to_owned(), Ok(())),
                ("json $.user == ada".to_owned(), Err("json $.user == ada: was \"<ada>\"".to_owned())),
            ],
            missing: vec!["json $.token found nothing in {…}".to_owned()],
            variables: vec![("status".to_owned(), "200".to_owned())],
            ..first.clone()
        };
        let third = Exchange {
            part: "teardown",
            name: "bye".to_owned(),
            result: Err("connection refused".to_owned()),
            took: "3 s".to_owned(),
            ..first.clone()
        };
        Walk {
            title: "shop, journey 'buy'".to_owned(),
            exchanges: vec![first, second, third],
            wrong: Some("the step 'log in': json $.user".to_owned()),
        }
    }

    #[test]
    fn a_walk_shows_every_request_and_answer() {
        insta::assert_snapshot!("walk", text(&walk()));
    }

    #[test]
    fn what_a_server_sent_is_no_markup_of_the_page() {
        let page = page(&walk());
        assert!(page.contains("&lt;ada&gt;") && !page.contains("<ada>") && !page.contains('\u{1b}'), "{page}");
        assert!(page.contains("<details open>") && page.contains("<details>"), "{page}");
        assert!(page.contains("Content-Security-Policy"));
    }
}
