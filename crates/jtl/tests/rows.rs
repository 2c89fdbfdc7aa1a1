//! Files as JMeter of every version writes them, and as people set it up to: what is read of them, and what is refused.

use jtl::{FirstByte, Form, HEADER, ReadError, Sample, XML_FOOT, XML_HEAD, read, write_csv, write_xml};
use proptest::prelude::*;

/// Everything that a file holds, and where it breaks off.
fn all(text: &[u8]) -> Result<(Vec<Sample<'static>>, Option<u64>), ReadError> {
    let mut samples = Vec::new();
    let form = Form::of(text).expect("a file of JMeter's");
    let cut_off = read(text, form, |sample, _| samples.push(owned(sample)))?;
    Ok((samples, cut_off))
}

fn owned(sample: &Sample<'_>) -> Sample<'static> {
    let text = |text: &str| text.to_owned().into();
    Sample {
        time_stamp_ms: sample.time_stamp_ms,
        elapsed_ms: sample.elapsed_ms,
        label: text(&sample.label),
        response_code: text(&sample.response_code),
        response_message: text(&sample.response_message),
        thread_name: text(&sample.thread_name),
        data_type: text(&sample.data_type),
        success: sample.success,
        failure_message: text(&sample.failure_message),
        bytes: sample.bytes,
        sent_bytes: sample.sent_bytes,
        group_threads: sample.group_threads,
        all_threads: sample.all_threads,
        url: text(&sample.url),
        latency_ms: sample.latency_ms,
        idle_ms: sample.idle_ms,
        connect_ms: sample.connect_ms,
    }
}

fn samples(text: &str) -> Vec<Sample<'static>> {
    let (samples, cut_off) = all(text.as_bytes()).unwrap_or_else(|why| panic!("{why}: {text}"));
    assert_eq!(cut_off, None, "{text}");
    samples
}

fn refused(text: &str) -> String {
    all(text.as_bytes()).expect_err(text).to_string()
}

const V56: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect
1767607200123,120,home,200,OK,shop 1-7,text,true,,843,122,7,9,http://shop.test/,110,0,12
1767607200200,35,\"order, then \"\"pay\"\"\",200,OK,shop 1-1,text,false,\"Test failed: text expected to contain /id/

****** received  : [[[]]]\",12,80,7,9,http://shop.test/order,30,0,0
";

#[test]
fn a_file_of_jmeter_5_has_its_quotes_and_line_breaks() {
    let read = samples(V56);
    assert_eq!(
        read[0],
        Sample {
            time_stamp_ms: 1_767_607_200_123,
            elapsed_ms: 120,
            label: "home".into(),
            response_code: "200".into(),
            response_message: "OK".into(),
            thread_name: "shop 1-7".into(),
            data_type: "text".into(),
            success: true,
            failure_message: "".into(),
            bytes: 843,
            sent_bytes: 122,
            group_threads: 7,
            all_threads: 9,
            url: "http://shop.test/".into(),
            latency_ms: 110,
            idle_ms: 0,
            connect_ms: 12,
        }
    );
    assert_eq!((&*read[1].label, read[1].success, read.len()), ("order, then \"pay\"", false, 2));
    assert!(read[1].failure_message.ends_with("contain /id/\n\n****** received  : [[[]]]"), "{}", read[1].failure_message);
    assert_eq!(samples(&V56.replace('\n', "\r\n"))[0], read[0], "as on Windows");
    assert_eq!(samples(&format!("\u{feff}{V56}")), read);
    assert_eq!(samples(&format!("{V56}{V56}")).len(), 4, "two files one behind the other");
    assert_eq!(samples(V56.trim_end()), read, "without a last line break");
}

#[test]
fn columns_stand_in_any_order_with_any_delimiter_and_others_between_them() {
    let text = "label;Hostname;elapsed;timeStamp;responseCode;\"user\";SampleCount\nhome;host-1;120;2026/01/05 10:00:00.123;404;ann;1\n";
    for delimiter in [";", "\t", "|", ",", "^"] {
        let read = samples(&text.replace(';', delimiter));
        let expected = Sample {
            time_stamp_ms: 1_767_607_200_123,
            elapsed_ms: 120,
            label: "home".into(),
            response_code: "404".into(),
            ..Sample::default()
        };
        assert_eq!(read, [expected], "without a column success, the status tells");
    }
}

#[test]
fn files_without_a_header_have_the_columns_of_their_version() {
    let of = |row: &str| {
        let read = samples(row);
        let Sample { elapsed_ms, ref label, success, bytes, all_threads, latency_ms, .. } = read[0];
        (elapsed_ms, label.to_string(), success, bytes, all_threads, latency_ms)
    };
    let of_2 = "1389000000000,120,home,200,OK,t 1-1,text,true,843,110\n1389000000001,7,home,200,OK,t 1-1,text,true,843,5\n";
    assert_eq!(of(of_2), (120, "home".to_owned(), true, 843, 0, 110));
    assert_eq!(of("1467607200123,120,home,200,OK,t 1-1,text,true,,843,7,9,110,0\n"), (120, "home".to_owned(), true, 843, 9, 110), "3.0");
    assert_eq!(
        of("1567607200123|120|home|200|OK|t 1-1|text|true||843|122|7|9|110|0|12\n"),
        (120, "home".to_owned(), true, 843, 9, 110),
        "4.0"
    );
    let (_, of_5) = V56.split_once('\n').unwrap();
    assert_eq!(samples(of_5), samples(V56));
}

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testResults version=\"1.2\">
<httpSample t=\"1733\" lt=\"1282\" ts=\"1132021485561\" s=\"true\" lb=\"home\" rc=\"200\" rm=\"OK\" tn=\"Thread Group 1-1\" dt=\"text\"/>
<httpSample t=\"431\" it=\"0\" lt=\"120\" ct=\"9\" ts=\"1132021485992\" s=\"false\" lb=\"a &amp; b &lt;c&gt;\" rc=\"200\" rm=\"OK\" tn=\"Thread Group 1-1\" dt=\"text\" by=\"4711\" sby=\"99\" ng=\"2\" na=\"3\" user=\"ann\">
  <httpSample t=\"7\" lt=\"5\" ts=\"1132021485992\" s=\"false\" lb=\"redirect\" rc=\"302\" rm=\"Found\" tn=\"Thread Group 1-1\" dt=\"\" by=\"11\">
    <assertionResult>
      <name>inner</name>
      <failure>true</failure>
      <error>false</error>
      <failureMessage>not this one</failureMessage>
    </assertionResult>
    <java.net.URL>http://h/inner</java.net.URL>
  </httpSample>
  <assertionResult>
    <name>first</name>
    <failure>false</failure>
    <error>false</error>
    <failureMessage>held</failureMessage>
  </assertionResult>
  <assertionResult>
    <name>second</name>
    <failure>true</failure>
    <error>false</error>
    <failureMessage>expected &lt;id&gt; &amp; more</failureMessage>
  </assertionResult>
  <responseHeader class=\"java.lang.String\">HTTP/1.1 200 OK</responseHeader>
  <responseData class=\"java.lang.String\">&lt;httpSample t=&quot;1&quot;/&gt;</responseData>
  <java.net.URL>http://h/?a=1&amp;b=2</java.net.URL>
</httpSample>
<sample t=\"5\" ts=\"1132021486500\" s=\"true\" lb=\"java\" rc=\"\" rm=\"\" tn=\"\" dt=\"\"/>
</testResults>
";

#[test]
fn of_xml_the_outer_samples_count_with_their_assertions_and_urls() {
    let read = samples(XML);
    let told: Vec<_> = read.iter().map(|sample| (&*sample.label, sample.elapsed_ms, sample.success, sample.bytes)).collect();
    assert_eq!(told, [("home", 1733, true, 0), ("a & b <c>", 431, false, 4711), ("java", 5, true, 0)]);
    let second = &read[1];
    assert_eq!((&*second.failure_message, &*second.url), ("expected <id> & more", "http://h/?a=1&b=2"));
    assert_eq!((second.sent_bytes, second.group_threads, second.all_threads, second.connect_ms), (99, 2, 3, 9));
    assert_eq!((&*read[2].url, &*read[2].failure_message, &*read[2].data_type), ("", "", ""), "nothing is left of the sample before");
    let mut known = Vec::new();
    read_xml(|first_byte| known.push(first_byte));
    assert_eq!(known, [FirstByte::Known, FirstByte::Known, FirstByte::Unknown]);
}

fn read_xml(mut each: impl FnMut(FirstByte)) {
    assert!(read(XML.as_bytes(), Form::Xml, |_, first_byte| each(first_byte)).unwrap().is_none());
}

#[test]
fn a_file_that_was_cut_off_anywhere_is_read_up_to_there() {
    let (_, body) = V56.split_at(V56.find('\n').unwrap() + 1);
    let header = V56.len() - body.len();
    for cut in header..V56.len() {
        let (read, cut_off) = all(&V56.as_bytes()[..cut]).unwrap_or_else(|why| panic!("{cut}: {why}"));
        assert!(read.len() <= 2 && cut_off.is_none_or(|line| (2..=5).contains(&line)), "{cut}: {cut_off:?}");
    }
    let (read, cut_off) = all(&V56.as_bytes()[..V56.len() - 20]).unwrap();
    assert_eq!((read.len(), cut_off), (1, Some(3)));
    for cut in XML_HEAD.len()..XML.len() - 1 {
        let (read, cut_off) = all(&XML.as_bytes()[..cut]).unwrap_or_else(|why| panic!("{cut}: {why}"));
        assert!(read.len() <= 3 && cut_off.is_some(), "{cut}: {cut_off:?}");
    }
    let in_the_second = XML.find("<name>second").unwrap();
    let (read, cut_off) = all(&XML.as_bytes()[..in_the_second]).unwrap();
    assert_eq!((read.len(), cut_off), (1, Some(21)));
}

#[test]
fn what_is_no_row_is_told_in_a_sentence_with_its_line() {
    let header = "timeStamp,elapsed,label,success\n";
    let good = "1767607200123,1,a,true\n";
    for (rows, said) in [
        ("1767607200123,1,a\n", "line 3: 3 columns, where there should be 4"),
        (
            "yesterday,1,a,true\n",
            "line 3: timeStamp is 'yesterday', which is neither milliseconds since 1970 nor a date such as 2026/01/05 10:00:00.123",
        ),
        ("1767607200123,-1,a,true\n", "line 3: elapsed is '-1', which is no whole number"),
        ("1767607200123,9999999999,a,true\n", "line 3: a sample took 9999999999 ms, which is more than a month"),
        ("1767607200123,1,\"a\"b,true\n", "line 3: a text goes on behind its closing quote"),
    ] {
        assert_eq!(refused(&format!("{header}{good}{rows}{good}")), said);
    }
    assert_eq!(refused("label,elapsed\na,1\n"), "line 1: there is no column timeStamp in the header, and without it there is no run");
    assert_eq!(
        refused("timeStamp,elapsed,SampleCount\n1767607200123,99,12\n"),
        "line 2: it stands for 12 samples together, so how long each took is not in the file: let JMeter save each of them (mode=Standard)"
    );
    let sample = |attributes: &str| format!("{XML_HEAD}<httpSample {attributes}/>\n{XML_FOOT}");
    assert_eq!(refused(&sample("t=\"1\"")), "line 3: a sample has no attribute ts, and without it there is no run");
    assert_eq!(refused(&sample("ts=\"1767607200123\" t=\"x\"")), "line 3: t is 'x', which is no whole number");
    assert!(
        refused(&format!("{XML_HEAD}<httpSample ts=\"1767607200123\" t=\"1\">\n</sample>\n")).starts_with("line 4: it is not valid XML: ")
    );
}

fn text() -> impl Strategy<Value = String> {
    // Letters that files and pages have trouble with.
    prop::collection::vec(
        prop::sample::select(vec!["a", "Z", "é", "\"", ",", ";", "\n", "\r\n", "<", "&", "'", " ", "\t", "|", "€", "{"]),
        0..9,
    )
    .prop_map(|letters| letters.concat())
}

fn sample() -> impl Strategy<Value = Sample<'static>> {
    let texts = (text(), text(), text(), text(), text(), text(), text());
    let numbers = (0u64..4_000_000_000_000, 0u64..100_000, 0u64..1 << 40, 0u64..1 << 30, 0u32..10_000, 0u32..10_000);
    (texts, numbers, any::<bool>(), (0u64..1_000, 0u64..1_000, 0u64..1_000)).prop_map(|(texts, numbers, success, times)| Sample {
        label: texts.0.into(),
        response_code: texts.1.into(),
        response_message: texts.2.into(),
        thread_name: texts.3.into(),
        data_type: texts.4.into(),
        failure_message: texts.5.into(),
        url: texts.6.into(),
        time_stamp_ms: numbers.0,
        elapsed_ms: numbers.1,
        bytes: numbers.2,
        sent_bytes: numbers.3,
        group_threads: numbers.4,
        all_threads: numbers.5,
        success,
        latency_ms: times.0,
        idle_ms: times.1,
        connect_ms: times.2,
    })
}

proptest! {
    #[test]
    fn what_is_written_as_csv_reads_back_equal(written in prop::collection::vec(sample(), 1..20)) {
        let mut text = format!("{HEADER}\n").into_bytes();
        written.iter().for_each(|sample| write_csv(sample, &mut text).unwrap());
        prop_assert_eq!(all(&text).unwrap(), (written, None));
    }

    #[test]
    fn what_is_written_as_xml_reads_back_equal(written in prop::collection::vec(sample(), 0..20)) {
        let mut text = XML_HEAD.as_bytes().to_vec();
        written.iter().for_each(|sample| write_xml(sample, &mut text).unwrap());
        text.extend_from_slice(XML_FOOT.as_bytes());
        prop_assert_eq!(all(&text).unwrap(), (written, None));
    }

    #[test]
    fn no_bytes_make_reading_panic(at in 0.0..1.0f64, put in prop::collection::vec(any::<u8>(), 0..6), xml: bool) {
        let (text, form) = if xml { (XML, Form::Xml) } else { (V56, Form::Csv) };
        let at = (text.len() as f64 * at) as usize;
        let bytes = [&text.as_bytes()[..at], &put, &text.as_bytes()[at..]].concat();
        let _ = read(&*bytes, form, |_, _| ());
    }
}

/// Gives its bytes in pieces of any length, as a network does.
struct Pieces<'a>(&'a [u8], usize);

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let amount = self.0.len().min(self.1).min(into.len());
        into[..amount].copy_from_slice(&self.0[..amount]);
        self.0 = &self.0[amount..];
        self.1 = self.1 % 7 + 1;
        Ok(amount)
    }
}

#[test]
fn a_file_reads_the_same_in_whatever_pieces_it_comes() {
    for (text, form) in [(V56, Form::Csv), (XML, Form::Xml)] {
        let mut read_so = Vec::new();
        read(Pieces(text.as_bytes(), 1), form, |sample, _| read_so.push(owned(sample))).unwrap();
        assert_eq!(read_so, samples(text));
    }
}

#[test]
fn a_date_that_nobody_lives_to_see_is_refused_as_a_number_of_it_is() {
    let text = |at: &str| format!("timeStamp,elapsed,label\n{at},120,a\n");
    for late in ["4200000000000", "9014/01/05 10:00:00.123"] {
        assert!(refused(&text(late)).contains(&format!("line 2: timeStamp is '{late}', which is neither milliseconds since 1970")));
    }
    assert_eq!(samples(&text("2099/01/05 10:00:00.123"))[0].time_stamp_ms, 4_071_290_400_123);
}
