//! Rows as JMeter writes them: CSV in its default columns, and XML.
//!
//! What reads these files (JMeter's listeners and dashboard, Taurus, plug-ins of build servers) finds columns by their order and refuses
//! a header that it does not know, so both are exactly JMeter's
//! ([`CSVSaveService`](https://github.com/apache/jmeter/blob/master/src/core/src/main/java/org/apache/jmeter/save/CSVSaveService.java),
//! [`SampleResultConverter`](https://github.com/apache/jmeter/blob/master/src/core/src/main/java/org/apache/jmeter/save/converters/SampleResultConverter.java)).
//!
//! Invariant: what is written here, the reader of this crate reads back as it was, but for what XML cannot hold: some characters, and the URL
//! of what has none.

use std::io::{self, Write};

use crate::Sample;
use crate::sample::NO_URL;

/// The first line of a CSV file, without its line break.
pub const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,\
     grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// What an XML file begins with.
pub const XML_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n";

/// What an XML file ends with.
pub const XML_FOOT: &str = "</testResults>\n";

/// Writes a row of a CSV file with the columns of [`HEADER`], and its line break.
///
/// # Errors
/// As the writer's.
pub fn write_csv(sample: &Sample<'_>, to: &mut impl Write) -> io::Result<()> {
    // Taken apart without `..`, so that a field nobody writes does not compile.
    let Sample {
        time_stamp_ms,
        elapsed_ms,
        label,
        response_code,
        response_message,
        thread_name,
        data_type,
        success,
        failure_message,
        bytes,
        sent_bytes,
        group_threads,
        all_threads,
        url,
        latency_ms,
        idle_ms,
        connect_ms,
    } = sample;
    write!(to, "{time_stamp_ms},{elapsed_ms},")?;
    for text in [label, response_code, response_message, thread_name, data_type] {
        write_field(text, to)?;
        to.write_all(b",")?;
    }
    write!(to, "{success},")?;
    write_field(failure_message, to)?;
    write!(to, ",{bytes},{sent_bytes},{group_threads},{all_threads},")?;
    write_field(url, to)?;
    writeln!(to, ",{latency_ms},{idle_ms},{connect_ms}")
}

/// A text as a field: in quotes where it has to be, and quotes in it twice.
fn write_field(text: &str, to: &mut impl Write) -> io::Result<()> {
    if !text.contains([',', '"', '\r', '\n']) {
        return to.write_all(text.as_bytes());
    }
    to.write_all(b"\"")?;
    for (number, part) in text.split('"').enumerate() {
        if number > 0 {
            to.write_all(b"\"\"")?;
        }
        to.write_all(part.as_bytes())?;
    }
    to.write_all(b"\"")
}

/// Writes an element of an XML file, between [`XML_HEAD`] and [`XML_FOOT`], and its line break: `sample` of a transaction, `httpSample` of
/// a request. An assertion that failed and the URL are elements in it.
///
/// # Errors
/// As the writer's.
pub fn write_xml(sample: &Sample<'_>, to: &mut impl Write) -> io::Result<()> {
    let Sample {
        time_stamp_ms,
        elapsed_ms,
        label,
        response_code,
        response_message,
        thread_name,
        data_type,
        success,
        failure_message,
        bytes,
        sent_bytes,
        group_threads,
        all_threads,
        url,
        latency_ms,
        idle_ms,
        connect_ms,
    } = sample;
    let (kind, has_url) = (if sample.is_transaction() { "sample" } else { "httpSample" }, !url.is_empty() && url != NO_URL);
    write!(
        to,
        "<{kind} t=\"{elapsed_ms}\" it=\"{idle_ms}\" lt=\"{latency_ms}\" ct=\"{connect_ms}\" ts=\"{time_stamp_ms}\" s=\"{success}\""
    )?;
    for (name, text) in [("lb", label), ("rc", response_code), ("rm", response_message), ("tn", thread_name), ("dt", data_type)] {
        write!(to, " {name}=\"")?;
        write_escaped(text, to)?;
        to.write_all(b"\"")?;
    }
    write!(to, " by=\"{bytes}\" sby=\"{sent_bytes}\" ng=\"{group_threads}\" na=\"{all_threads}\"")?;
    if failure_message.is_empty() && !has_url {
        return writeln!(to, "/>");
    }
    writeln!(to, ">")?;
    if !failure_message.is_empty() {
        write!(to, "  <assertionResult>\n    <name></name>\n    <failure>true</failure>\n    <error>false</error>\n    <failureMessage>")?;
        write_escaped(failure_message, to)?;
        writeln!(to, "</failureMessage>\n  </assertionResult>")?;
    }
    if has_url {
        write!(to, "  <java.net.URL>")?;
        write_escaped(url, to)?;
        writeln!(to, "</java.net.URL>")?;
    }
    writeln!(to, "</{kind}>")
}

/// A text for an attribute or an element. Tabs and line breaks are references, since a reader makes spaces of them in attributes; what
/// XML 1.0 cannot hold at all is the replacement character.
fn write_escaped(text: &str, to: &mut impl Write) -> io::Result<()> {
    let mut plain_from = 0;
    for (at, character) in text.char_indices() {
        let escaped = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\t' => "&#x9;",
            '\n' => "&#xa;",
            '\r' => "&#xd;",
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => "\u{fffd}",
            _ => continue,
        };
        to.write_all(&text.as_bytes()[plain_from..at])?;
        to.write_all(escaped.as_bytes())?;
        plain_from = at + character.len_utf8();
    }
    to.write_all(&text.as_bytes()[plain_from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Sample<'static> {
        Sample {
            time_stamp_ms: 1_767_607_200_123,
            elapsed_ms: 120,
            label: "GET /a, b".into(),
            response_code: "200".into(),
            response_message: "OK".into(),
            thread_name: "shop 1-7".into(),
            data_type: "text".into(),
            success: false,
            failure_message: "Test failed: text expected to contain /\"id\"/\nand more".into(),
            bytes: 843,
            sent_bytes: 122,
            group_threads: 7,
            all_threads: 9,
            url: "http://h/a?x=1&y=2".into(),
            latency_ms: 110,
            idle_ms: 0,
            connect_ms: 12,
        }
    }

    #[test]
    fn a_row_has_the_columns_of_the_header_and_quotes_what_needs_it() {
        let mut written = Vec::new();
        write_csv(&sample(), &mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "1767607200123,120,\"GET /a, b\",200,OK,shop 1-7,text,false,\"Test failed: text expected to contain /\"\"id\"\"/\nand more\",\
             843,122,7,9,http://h/a?x=1&y=2,110,0,12\n"
        );
        let mut plain = Vec::new();
        write_csv(&Sample::default(), &mut plain).unwrap();
        let commas = |text: &str| text.matches(',').count();
        assert_eq!(commas(&String::from_utf8(plain).unwrap()), commas(HEADER));
    }

    #[test]
    fn a_transaction_is_an_element_of_its_own_kind_without_a_url() {
        let message = crate::transaction_message(2, 0);
        let transaction = Sample { response_message: message.into(), failure_message: "".into(), url: NO_URL.into(), ..sample() };
        assert!(transaction.is_transaction());
        let (mut csv, mut xml) = (Vec::new(), Vec::new());
        write_csv(&transaction, &mut csv).unwrap();
        write_xml(&transaction, &mut xml).unwrap();
        let (csv, xml) = (String::from_utf8(csv).unwrap(), String::from_utf8(xml).unwrap());
        assert!(
            csv.contains(",\"Number of samples in transaction : 2, number of failing samples : 0\",") && csv.contains(",null,"),
            "{csv}"
        );
        assert!(xml.starts_with("<sample t=") && xml.ends_with("/>\n") && xml.matches('<').count() == 1, "{xml}");
    }

    #[test]
    fn an_element_has_jmeters_attributes_and_escapes_what_xml_needs() {
        let mut written = Vec::new();
        write_xml(&sample(), &mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "<httpSample t=\"120\" it=\"0\" lt=\"110\" ct=\"12\" ts=\"1767607200123\" s=\"false\" lb=\"GET /a, b\" rc=\"200\" rm=\"OK\" \
             tn=\"shop 1-7\" dt=\"text\" by=\"843\" sby=\"122\" ng=\"7\" na=\"9\">\n  <assertionResult>\n    <name></name>\n    \
             <failure>true</failure>\n    <error>false</error>\n    <failureMessage>Test failed: text expected to contain \
             /&quot;id&quot;/&#xa;and more</failureMessage>\n  </assertionResult>\n  \
             <java.net.URL>http://h/a?x=1&amp;y=2</java.net.URL>\n</httpSample>\n"
        );
    }
}
