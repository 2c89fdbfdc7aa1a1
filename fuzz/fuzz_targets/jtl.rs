//! A result file of JMeter, CSV or XML: what it begins with says which.
//!
//! Whatever the bytes: no panic, what was read can be written in both forms and is read back, as CSV the same to the letter, and a run and a
//! dashboard can be made of it.
#![no_main]

use jtl::{Form, HEADER, JtlRun, XML_FOOT, XML_HEAD, read, write_csv, write_xml};
use libfuzzer_sys::fuzz_target;
use report::jmeter::Statistics;

fuzz_target!(|bytes: &[u8]| {
    let Some(form) = Form::of(bytes) else { return };
    let (mut csv, mut xml) = (format!("{HEADER}\n").into_bytes(), XML_HEAD.as_bytes().to_vec());
    let (mut rows, mut statistics) = (0_u64, Statistics::default());
    let whole = read(bytes, form, |sample, _| {
        rows += 1;
        statistics.add(sample);
        write_csv(sample, &mut csv).expect("memory takes every byte");
        write_xml(sample, &mut xml).expect("memory takes every byte");
    });
    let mut run = JtlRun::default();
    assert_eq!(run.add("file", bytes, form).is_ok(), whole.is_ok(), "a run reads the same rows");
    if whole.is_err() {
        return;
    }
    xml.extend_from_slice(XML_FOOT.as_bytes());
    let mut again = format!("{HEADER}\n").into_bytes();
    let read_back = read(&csv[..], Form::Csv, |sample, _| write_csv(sample, &mut again).expect("memory takes every byte"));
    assert_eq!(read_back.expect("rows that were written are rows"), None);
    assert!(again == csv, "{}\n{}", String::from_utf8_lossy(&csv), String::from_utf8_lossy(&again));
    let mut elements = 0;
    assert_eq!(read(&xml[..], Form::Xml, |_, _| elements += 1).expect("elements that were written are elements"), None);
    assert_eq!(elements, rows);
    assert_eq!(statistics.is_empty(), rows == 0);
    serde_json::from_str::<serde_json::Value>(&statistics.json()).expect("figures are JSON");
    assert_eq!(run.finish().is_some(), rows > 0, "rows are a run");
});
