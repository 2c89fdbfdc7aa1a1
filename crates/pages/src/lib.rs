//! The shell of every page in a browser: one HTML file that holds its script, its style and its data.
//!
//! A report is sent by mail, opened from a disk a year later, and shows what a foreign server said. So the file asks the
//! network for nothing, and a policy in its head lets only the one script and the one style run whose digests stand there:
//! whatever a server put into a header or an error page, a browser will not execute it. A nonce would have to be random, and
//! the same result must give the same bytes.
//!
//! Invariants: text reaches the document as JSON in a data block or escaped; the same page gives the same bytes.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

/// The script that draws every page; empty where it was not built.
pub const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/page.js"));
/// The style of every page; empty where it was not built.
pub const STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/page.css"));

/// The script of the pages that a server serves; empty where it was not built.
pub const APP_SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/app.js"));
/// Their style; empty where it was not built.
pub const APP_STYLE: &str = include_str!(concat!(env!("OUT_DIR"), "/app.css"));

macro_rules! shell_of {
    ($mode:literal) => {
        concat!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
            "<meta name=\"color-scheme\" content=\"light dark\">\n<title>loadline</title>\n",
            "<link rel=\"stylesheet\" href=\"/assets/app.css\">\n<link rel=\"icon\" href=\"data:,\">\n</head>\n<body>\n",
            "<noscript><main><h1>loadline</h1><p>These pages need JavaScript, which is off in this browser. ",
            "The same lists: <code>loadline runs</code> and <code>loadline show</code>.</p></main></noscript>\n",
            "<div id=\"app\" data-shows=\"",
            $mode,
            "\"></div>\n<script src=\"/assets/app.js\" defer></script>\n</body>\n</html>\n"
        )
    };
}

/// What a page looks like that was built without its script.
const PLAIN_STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;\
background:#fff}pre{overflow:auto;padding:1rem;background:#f4f5f7;font:13px/1.5 ui-monospace,monospace}\
table{border-collapse:collapse;margin:1rem 0;display:block;overflow:auto}td,th{padding:.25rem .75rem;border-bottom:1px solid #d5d9de;\
text-align:left;vertical-align:top}@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#14171c}pre{background:#1c2027}}";

/// Whether the charts are in this program.
#[must_use]
pub const fn has_charts() -> bool {
    !SCRIPT.is_empty() && !STYLE.is_empty()
}

/// What a page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<'a> {
    /// What the browser calls it.
    pub title: &'a str,
    /// The data of its charts and tables, as JSON.
    pub json: &'a str,
    /// The answers, for a reader without the script.
    pub answers: &'a [String],
    /// The whole report as text, for the same reader.
    pub text: &'a str,
    /// The tables, for the same reader.
    pub tables: &'a [Table],
}

/// A table: a title, heads and rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What it shows.
    pub title: String,
    /// One a column.
    pub heads: Vec<String>,
    /// Cells in the order of the heads.
    pub rows: Vec<Vec<String>>,
}

/// The page as one HTML file.
#[must_use]
pub fn document(page: &Page<'_>) -> String {
    if has_charts() { with(page, SCRIPT, STYLE) } else { plain(page) }
}

/// What a server has to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// A history, and what is started from it.
    All,
    /// The one run under way.
    OneRun,
}

/// The page that a server sends for every address: its script and style come from the same server, and the script looks at the
/// address. The server's policy lets in nothing else, so nothing stands in the page itself.
#[must_use]
pub const fn shell(shell: Shell) -> &'static str {
    match (APP_SCRIPT.is_empty(), shell) {
        (true, _) => concat!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>loadline</title>\n</head>\n<body>\n<main>\n",
            "<h1>loadline</h1>\n<p>This loadline was built without its pages (cargo build alone leaves them out; make build needs npm). ",
            "Its API is there all the same: <a href=\"/api/v1/openapi.json\">/api/v1/openapi.json</a> describes it.</p>\n</main>\n</body>\n</html>\n"
        ),
        (false, Shell::All) => shell_of!("all"),
        (false, Shell::OneRun) => shell_of!("one"),
    }
}

fn with(page: &Page<'_>, script: &str, style: &str) -> String {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; img-src blob: data:; base-uri 'none'; form-action 'none'",
        digest(script),
        digest(style)
    );
    format!(
        "{head}<style>{style}</style>\n</head>\n<body>\n<noscript>{without}</noscript>\n<div id=\"page\"></div>\n\
         <script type=\"application/json\" id=\"data\">{json}</script>\n<script>{script}</script>\n</body>\n</html>\n",
        head = head(page.title, &policy),
        without = told(page, "Charts and switches need JavaScript, which is off in this browser."),
        json = in_script(page.json),
    )
}

fn plain(page: &Page<'_>) -> String {
    let policy = format!("default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'", digest(PLAIN_STYLE));
    format!(
        "{head}<style>{PLAIN_STYLE}</style>\n</head>\n<body>\n{told}</body>\n</html>\n",
        head = head(page.title, &policy),
        told = told(page, "This loadline was built without its charts (cargo build alone leaves them out; make build needs npm)."),
    )
}

/// A page that needs no script: `body` is HTML, made of what was [escaped].
#[must_use]
pub fn still(title: &str, body: &str) -> String {
    let policy = format!("default-src 'none'; style-src '{}'; base-uri 'none'; form-action 'none'", digest(PLAIN_STYLE));
    format!("{}<style>{PLAIN_STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n", head(title, &policy))
}

fn head(title: &str, policy: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{}</title>\n",
        escaped(title)
    )
}

/// The report in words, for whoever has no script.
fn told(page: &Page<'_>, why: &str) -> String {
    let mut html = format!("<main>\n<h1>{}</h1>\n<p><em>{}</em></p>\n", escaped(page.title), escaped(why));
    for answer in page.answers {
        html += &format!("<p>{}</p>\n", escaped(answer));
    }
    html += &format!("<pre>{}</pre>\n", escaped(page.text));
    for table in page.tables {
        html += &format!("<h2>{}</h2>\n<table>\n<thead><tr>", escaped(&table.title));
        table.heads.iter().for_each(|head| html += &format!("<th scope=\"col\">{}</th>", escaped(head)));
        html += "</tr></thead>\n<tbody>\n";
        for row in &table.rows {
            html += "<tr>";
            row.iter().for_each(|cell| html += &format!("<td>{}</td>", escaped(cell)));
            html += "</tr>\n";
        }
        html += "</tbody>\n</table>\n";
    }
    html + "</main>\n"
}

/// The digest of a script or style as a policy names it.
#[must_use]
pub fn digest(source: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(source.as_bytes())))
}

/// JSON so that it can stand in a script element: it cannot end the element, open a comment, or break a line of script.
#[must_use]
pub fn in_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe += &format!("\\u{:04x}", u32::from(letter)),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Text as HTML shows it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            // HTML has no way to write it; browsers show this in its place.
            '\0' => safe.push('\u{fffd}'),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "</script><script>alert(1)</script><!--\u{2028}'\"&</noscript><img src=x onerror=alert(1)>";

    fn page() -> (Vec<String>, Vec<Table>, String) {
        let tables = vec![Table { title: HOSTILE.to_owned(), heads: vec![HOSTILE.to_owned()], rows: vec![vec![HOSTILE.to_owned()]] }];
        (vec![HOSTILE.to_owned()], tables, format!("{{\"a\":\"{}\"}}", HOSTILE.replace('"', "\\\"")))
    }

    fn both() -> [String; 2] {
        let (answers, tables, json) = page();
        let page = Page { title: HOSTILE, json: &json, answers: &answers, text: HOSTILE, tables: &tables };
        [with(&page, "start()", "p{}"), plain(&page)]
    }

    #[test]
    fn no_text_from_outside_becomes_markup() {
        for html in both() {
            assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("<!--"), "{html}");
            assert!(!html.contains('\u{2028}') || !html[html.find("id=\"data\"").unwrap_or(html.len())..].contains('\u{2028}'));
        }
        let [html, _] = both();
        assert_eq!(html.matches("</script>").count(), 2);
        assert_eq!(html.matches("</noscript>").count(), 1);
    }

    #[test]
    fn the_policy_lets_in_the_script_and_the_style_by_digest_and_nothing_else() {
        let [html, plain] = both();
        assert!(html.contains(&format!("default-src 'none'; script-src '{}'; style-src '{}'", digest("start()"), digest("p{}"))), "{html}");
        assert!(plain.contains("default-src 'none'; style-src 'sha256-") && !plain.contains("script-src"));
        for html in [html, plain] {
            assert!(!html.contains("unsafe"), "{html}");
        }
    }

    #[test]
    fn a_digest_is_that_of_the_standard() {
        assert_eq!(digest(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn a_page_without_charts_says_so_and_tells_all_in_words() {
        let [_, plain] = both();
        assert!(plain.contains("built without its charts"));
        assert!(plain.contains("&lt;/script&gt;") && plain.contains("<table>"));
    }

    #[test]
    fn what_stands_in_a_script_is_the_same_json() {
        assert_eq!(in_script("{\"a\":\"<b>&\u{2029}é\"}"), "{\"a\":\"\\u003cb\\u003e\\u0026\\u2029é\"}");
    }
}
