//! What it costs to look at an answer: two extractions and three checks on 1 KiB of JSON, and a token in a page.
//!
//! `cargo run --release -p loadline-step --example cost` prints microseconds an answer, the least of many short rounds: what disturbs a round
//! only makes it longer.

use std::time::Instant;

use plan::Nanos;
use step::{Answer, Check, Extractor, Headers, Jar, Kind, Place, Reading, UnixSeconds};

/// Short enough that most rounds fit between two interruptions, on a busy machine too.
const ROUNDS: usize = 1000;
const ANSWERS: u32 = 50;
const HEADERS: &[u8] =
    b"Content-Type: application/json\r\nContent-Length: 1024\r\nSet-Cookie: session=0123456789abcdef; Path=/; HttpOnly\r\n";

fn main() {
    let mut order = String::from("{\"id\":4711,\"token\":\"t-0123456789abcdef\",\"ok\":true,\"items\":[");
    let mut number = 0;
    while order.len() < 960 {
        number += 1;
        order += &format!("{{\"sku\":\"article-{number:04}\",\"price\":{number}.25,\"count\":{number},\"note\":null}},");
    }
    order.pop();
    order += "],\"total\":99.5}";
    let page = format!(
        "<!doctype html><html><head><title>Shop</title></head><body>{}<form><input type=hidden name=csrf value=t-42></form></body></html>",
        "<div class=item><a href=/p/1>An article</a> <b>7.50</b></div>".repeat(14)
    );
    println!("JSON of {} bytes, a page of {} bytes", order.len(), page.len());

    let extractor = |kind, text| Extractor::compile(kind, text).expect("it is one");
    let check = |line| Check::parse(line).expect("it is one");
    let paths = [extractor(Kind::JsonPath, "$.token"), extractor(Kind::JsonPath, "$.items[0].sku")];
    let checks = [check("status 2xx"), check("json $.ok == true"), check("json $.items length > 5")];
    let cheap = [check("status 2xx"), check("body contains total"), check("time < 200ms")];
    let pattern = [extractor(Kind::Regex, "\"token\":\"([^\"]*)\"")];
    let css = [extractor(Kind::Css, "input[name=csrf]::attr(value)")];
    let xpath = [extractor(Kind::XPath, "//input[@name='csrf']/@value")];

    let order = order.as_bytes();
    told("two JSONPaths, three checks (two of JSON)", || look(order, &paths, &checks));
    told("two JSONPaths", || look(order, &paths, &[]));
    told("JSON parsed, and nothing else", || {
        assert!(Reading::new(answer(order)).json().is_ok());
    });
    told("three checks of status, text and time", || look(order, &[], &cheap));
    told("a regular expression", || look(order, &pattern, &[]));
    told("a CSS selector", || look(page.as_bytes(), &css, &[]));
    told("an XPath", || look(page.as_bytes(), &xpath, &[]));
    let (mut jar, place) = (Jar::new(), Place { host: "shop.test", path: "/cart", secure: false });
    let mut out = Vec::with_capacity(256);
    told("a cookie taken up and sent", || {
        out.clear();
        jar.take(Headers::lines(HEADERS), place, UnixSeconds(0));
        assert!(jar.write(place, UnixSeconds(0), &mut out));
    });
    println!("{:>8} bytes of heap for that jar", jar.heap_bytes());
}

fn answer(body: &[u8]) -> Answer<'_> {
    Answer { status: 200, headers: Headers::lines(HEADERS), body, elapsed: Nanos::from_millis(3) }
}

fn look(body: &[u8], extractors: &[Extractor], checks: &[Check]) {
    let reading = Reading::new(answer(body));
    for extractor in extractors {
        assert!(extractor.of(&reading).is_ok());
    }
    for check in checks {
        assert!(check.of(&reading).is_ok());
    }
}

fn told(what: &str, mut work: impl FnMut()) {
    let round = |_| {
        let from = Instant::now();
        (0..ANSWERS).for_each(|_| work());
        from.elapsed().as_secs_f64() * 1e6 / f64::from(ANSWERS)
    };
    let least = (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min);
    println!("{least:8.2} µs  {what}");
}
