//! Files that are broken, hostile or merely large: each is read or refused, and nothing of either kind takes long.

use import::collection::{Collection, KINDS, Kind, Wishes, guess};

const MEGABYTE: usize = 1 << 20;

fn read(kind: Kind, bytes: &[u8]) -> Result<Collection, String> {
    Collection::read(kind, bytes, &Wishes::default()).map_err(|why| why.wording().spelt(plan::Spelling::Flags))
}

#[test]
fn what_is_not_text_is_refused_with_its_place() {
    let bytes: Vec<u8> = (0..4096_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (kind, name, _) in KINDS {
        assert!(read(*kind, &bytes).is_err(), "{name}");
        assert!(read(*kind, b"").is_err(), "{name}");
        let why = read(*kind, b"curl http://h/\n\xff\xfe").unwrap_err();
        assert!(why.starts_with("line "), "{name}: {why}");
    }
    assert!(guess(&bytes).is_err());
}

#[test]
fn a_line_of_a_hundred_megabytes_is_read_or_refused() {
    let long = "a".repeat(100 * MEGABYTE);
    assert!(guess(long.as_bytes()).is_err());
    let curl = read(Kind::Curl, format!("curl http://h/ -d '{long}'").as_bytes()).unwrap();
    assert_eq!(curl.requests.len(), 1);
    assert!(read(Kind::Vegeta, long.as_bytes()).unwrap_err().len() < 300);
    assert!(read(Kind::Vegeta, long.to_uppercase().as_bytes()).unwrap_err().len() < 300);
    assert!(read(Kind::Siege, long.as_bytes()).unwrap_err().len() < 300);
    assert!(read(Kind::Siege, format!("http://h/ {long}").as_bytes()).unwrap_err().len() < 300);
    let har = format!(
        "{{\"log\":{{\"entries\":[{{\"request\":{{\"method\":\"GET\",\"url\":\"http://h/\"}},\"response\":{{\"content\":{{\"text\":\"{long}\"}}}}}}]}}}}"
    );
    assert_eq!(guess(har.as_bytes()), Ok(Kind::Har));
    assert_eq!(read(Kind::Har, har.as_bytes()).unwrap().requests.len(), 1);
}

const FILES: [(Kind, &str); 10] = [
    (Kind::Ghz, "{\"call\":\"a.B/C\",\"host\":\"h\",\"insecure\":true}"),
    (Kind::Curl, "curl http://h/\n"),
    (Kind::Har, "{\"log\":{\"entries\":[{\"request\":{\"method\":\"GET\",\"url\":\"http://h/\"}}]}}"),
    (Kind::Postman, "{\"info\":{},\"item\":[{\"request\":\"http://h/\"}]}"),
    (Kind::OpenApi, "openapi: 3.0.0\nservers: [{url: http://h}]\npaths: {/a: {get: {responses: {}}}}\n"),
    (Kind::Insomnia, "type: collection.insomnia.rest/5.0\ncollection: [{url: http://h/}]\n"),
    (Kind::Vegeta, "GET http://h/\n"),
    (Kind::VegetaJson, "{\"method\":\"GET\",\"url\":\"http://h/\"}\n"),
    (Kind::Siege, "http://h/ POST a=1\n"),
    (
        Kind::Jmeter,
        "<jmeterTestPlan><hashTree><TestPlan/><hashTree><ThreadGroup/><hashTree><HTTPSamplerProxy>\
         <stringProp name=\"HTTPSampler.domain\">h</stringProp></HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>",
    ),
];

#[test]
fn a_file_that_is_cut_off_anywhere_is_read_or_refused_in_words() {
    for (kind, text) in FILES {
        for at in 0..text.len() {
            match read(kind, &text.as_bytes()[..at]) {
                Ok(read) => assert!(!read.requests.is_empty(), "{}", &text[..at]),
                Err(why) => assert!(why.len() > 10, "{}: {why}", &text[..at]),
            }
        }
    }
}

#[test]
fn a_file_of_the_wrong_kind_is_refused_in_words() {
    for (kind, text) in FILES {
        assert_eq!(guess(text.as_bytes()), Ok(kind), "{text}");
        for (other, ..) in KINDS {
            match read(*other, text.as_bytes()) {
                Ok(read) => assert!(!read.requests.is_empty()),
                Err(why) => assert!(why.len() > 10, "{text} as {}: {why}", other.name()),
            }
        }
        let read = read(kind, text.as_bytes()).unwrap();
        let made = read.work("");
        assert_eq!((made.settings.url.as_deref(), made.work.steps().len()), (Some("http://h/"), read.requests.len()), "{text}");
    }
}

#[test]
fn a_file_with_very_many_parts_ends_and_says_what_is_beyond() {
    const MANY: usize = 100_000;
    let listed = |one: &dyn Fn(usize) -> String| (0..MANY).map(one).collect::<Vec<_>>().join(",");
    let headers = listed(&|number| format!("{{\"name\":\"h{number}\",\"value\":\"v\"}}"));
    let har = format!("{{\"log\":{{\"entries\":[{{\"request\":{{\"method\":\"GET\",\"url\":\"http://h/\",\"headers\":[{headers}]}}}}]}}}}");
    let variables = listed(&|number| format!("{{\"key\":\"v{number}\",\"value\":\"{{{{v{}}}}}\"}}", number + 1));
    let postman = format!("{{\"info\":{{}},\"item\":[{{\"name\":\"A\",\"request\":\"http://h/{{{{v0}}}}\"}}],\"variable\":[{variables}]}}");
    let secrets = listed(&|number| format!("{{\"token\":\"secret-{number}\"}}"));
    let curl = format!("curl http://h/ --json '[{secrets}]' --url-query a=1");
    for (kind, text, part) in [(Kind::Har, har, "headers"), (Kind::Postman, postman, "more variables"), (Kind::Curl, curl, "")] {
        let read = read(kind, text.as_bytes()).unwrap();
        let (concealed, placeholders) = read.concealed();
        let made = concealed.work("");
        let notes = concealed.notes("a file", &placeholders, &made);
        assert!(notes.top.iter().any(|line| line.contains(part)), "{}", kind.name());
        assert!(!format!("{notes:?}{made:?}").contains("secret-"), "{}", kind.name());
    }
    let targets = "GET http://h/\n".repeat(MANY);
    let read = read(Kind::Vegeta, targets.as_bytes()).unwrap();
    assert_eq!((read.requests.len(), read.left_out[0].what.as_str()), (1000, "99000 more requests"));
    let long = format!("curl 'http://h/?{}'", "a=1&".repeat(MANY));
    assert!(Collection::read(Kind::Curl, long.as_bytes(), &Wishes::default()).unwrap_err().message.marked().contains("longer than"));
}
