//! Prometheus' text format and OpenMetrics, as far as they agree: `name{labels} value`, and `# TYPE name counter`.
//!
//! A line that is not so is skipped: one bad exporter line must not take the others away. Labels are kept as they were written;
//! only where they end has to be known, and a quoted value may hold a bracket.

use std::collections::HashMap;

/// One line of a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Metric {
    /// Its name.
    pub name: String,
    /// Its labels as they were written, without brackets.
    pub labels: String,
    /// Its value; always finite.
    pub value: f64,
    /// Whether it only grows.
    pub family: Family,
}

/// Whether a value says something by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// It does.
    Gauge,
    /// It is a count since the beginning.
    Counter,
    /// A bucket of a histogram: a counter, and one of many.
    Bucket,
}

/// Every metric of a page, in its order.
#[must_use]
pub fn metrics(page: &str) -> Vec<Metric> {
    let mut types: HashMap<&str, &str> = HashMap::new();
    let mut found = Vec::new();
    for line in page.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let mut words = rest.split_ascii_whitespace();
            if let (Some(name), Some(kind)) = (words.next(), words.next()) {
                types.insert(name, kind);
            }
        } else if !line.starts_with('#') && !line.is_empty() {
            found.extend(metric(line, &types));
        }
    }
    found
}

fn metric(line: &str, types: &HashMap<&str, &str>) -> Option<Metric> {
    let end = line.find(|letter: char| letter == '{' || letter.is_ascii_whitespace())?;
    let name = &line[..end];
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
    if name.is_empty() || !name.chars().all(is_name) || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return None;
    }
    let (labels, rest) = match line[end..].strip_prefix('{') {
        Some(inner) => {
            let close = closing(inner)?;
            (inner[..close].trim().trim_end_matches(','), &inner[close + 1..])
        }
        None => ("", &line[end..]),
    };
    let value: f64 = rest.split_ascii_whitespace().next()?.parse().ok()?;
    value.is_finite().then(|| Metric { name: name.to_owned(), labels: labels.to_owned(), value, family: family(name, types) })
}

/// The bracket that ends labels: the first one outside quotes.
fn closing(inner: &str) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    for (at, letter) in inner.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '}' if !quoted => return Some(at),
            _ => {}
        }
    }
    None
}

/// OpenMetrics declares a counter without its `_total`; a histogram and a summary have lines with endings of their own.
fn family(name: &str, types: &HashMap<&str, &str>) -> Family {
    let declared = |name: &str| types.get(name).copied();
    if declared(name) == Some("counter") || name.strip_suffix("_total").is_some_and(|stem| declared(stem) == Some("counter")) {
        return Family::Counter;
    }
    for (ending, family) in [("_bucket", Family::Bucket), ("_sum", Family::Counter), ("_count", Family::Counter)] {
        if name.strip_suffix(ending).is_some_and(|stem| matches!(declared(stem), Some("histogram" | "summary"))) {
            return family;
        }
    }
    match declared(name) {
        None if name.ends_with("_total") => Family::Counter,
        None if name.ends_with("_bucket") => Family::Bucket,
        _ => Family::Gauge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_page_is_read_line_by_line() {
        let page = "\
# HELP http_requests_total Requests.
# TYPE http_requests_total counter
http_requests_total{method=\"post\",path=\"/a}b\",q=\"say \\\"hi\\\"\"} 1027 1395066363000
# TYPE temperature gauge
temperature -3.5e1
# TYPE wait histogram
wait_bucket{le=\"0.5\"} 3
wait_sum 5.5
wait_count 4
# TYPE hits counter
hits_total 8 # {trace_id=\"x\"} 1
untyped_total 9
nan NaN
odd line here
9bad 1
cut{a=\"b\" 1
# EOF
";
        let found: Vec<(String, String, f64, Family)> =
            metrics(page).into_iter().map(|it| (it.name, it.labels, it.value, it.family)).collect();
        let line = |name: &str, labels: &str, value, family| (name.to_owned(), labels.to_owned(), value, family);
        assert_eq!(
            found,
            [
                line("http_requests_total", "method=\"post\",path=\"/a}b\",q=\"say \\\"hi\\\"\"", 1027.0, Family::Counter),
                line("temperature", "", -35.0, Family::Gauge),
                line("wait_bucket", "le=\"0.5\"", 3.0, Family::Bucket),
                line("wait_sum", "", 5.5, Family::Counter),
                line("wait_count", "", 4.0, Family::Counter),
                line("hits_total", "", 8.0, Family::Counter),
                line("untyped_total", "", 9.0, Family::Counter),
            ]
        );
    }

    proptest! {
        #[test]
        fn no_page_makes_reading_fail_badly(page in "(.{0,40}\n){0,5}", line in "[a-z_]{1,5}[{][^\n]{0,20}[}] [0-9.eE+-]{1,6}") {
            prop_assert!(metrics(&page).iter().all(|metric| metric.value.is_finite()));
            let _ = metrics(&line);
        }
    }
}
