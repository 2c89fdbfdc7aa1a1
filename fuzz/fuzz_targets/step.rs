//! An answer as a step reads it, and what a user wrote to read it with.
//!
//! The first line is an expression, the second a check, what follows up to an empty line are headers, the rest is the body. Whatever the
//! bytes: no panic; mistakes lie in the text; examples are short and on one line; a check in words is the same check; a jar stays small and
//! its header has no line of its own in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plan::Nanos;
use step::auth::{Account, Challenge, Digest};
use step::{Answer, Check, Extractor, Headers, Jar, Kind, Place, Reading, UnixSeconds, Which, check, cookies};

fuzz_target!(|bytes: &[u8]| {
    let mut lines = bytes.splitn(3, |byte| *byte == b'\n');
    let mut line = || String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let (expression, promise) = (line(), line());
    let rest = lines.next().unwrap_or_default();
    let head_ends = rest.windows(2).position(|window| window == b"\n\n").unwrap_or(rest.len());
    let headers = Headers::lines(&rest[..head_ends]);
    let body = rest.get(head_ends + 2..).unwrap_or_default();
    let reading = Reading::new(Answer { status: 200, headers, body, elapsed: Nanos(1) });
    let is_short = |text: &str| text.len() <= check::EXCERPT_BYTES_MAX && !text.chars().any(char::is_control);
    let fits = |mistake: &step::Mistake, text: &str| {
        assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length), "{mistake:?}");
    };

    for kind in Kind::ALL {
        match Extractor::compile(kind, &expression) {
            Err(mistake) => fits(&mistake, &expression),
            Ok(extractor) => {
                for which in [Which::First, Which::Last, Which::Nth(1), Which::Random, Which::Every, Which::Joined, Which::Count] {
                    let mut extractor = extractor.clone().taking(which);
                    let mut written = Vec::new();
                    let wrote = extractor.write(&reading, &mut written);
                    match extractor.of(&reading) {
                        Ok(value) => assert_eq!(written, step::extract::text_of(&value).as_bytes()),
                        Err(missing) => {
                            assert!(is_short(&missing.found) && is_short(&missing.sought), "{missing:?}");
                            assert_eq!(wrote, Err(missing));
                        }
                    }
                }
            }
        }
    }
    match Check::parse(&promise) {
        Err(mistake) => fits(&mistake, &promise),
        Ok(check) => {
            let again = Check::parse(check.words()).expect("a check's words are a check");
            assert_eq!(again.words(), check.words());
            let judged = check.of(&reading);
            assert_eq!(judged, again.of(&reading));
            if let Err(broken) = judged {
                assert!(is_short(&broken.actual) && is_short(&broken.check), "{broken:?}");
            }
        }
    }
    match Check::parse_open(&promise) {
        Err(mistake) => fits(&mistake, &promise),
        Ok((check, blank)) => {
            if let Some(blank) = blank {
                assert!(promise.is_char_boundary(blank.at) && blank.at + blank.length <= promise.len(), "{blank:?}");
            }
            let judged = check.of_filled(&reading, expression.as_bytes());
            assert_eq!(check.filled(&expression).map_or(false, |closed| closed.of(&reading).is_ok()), judged.is_ok());
        }
    }
    let mut jar = Jar::new();
    let place = Place { host: "shop.a.test", path: "/x/y", secure: true };
    jar.take(headers, place, UnixSeconds(0));
    assert!(jar.heap_bytes() <= 2 * cookies::JAR_BYTES_MAX);
    let mut sent = Vec::new();
    jar.write(place, UnixSeconds(0), &mut sent);
    assert!(!sent.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t'));
    if let Ok(challenge) = Challenge::of(headers) {
        let answer = Digest::new(challenge, &Account::new("u", "p"), [0; 16]).authorization("GET", &expression, body);
        assert!(!answer.chars().any(char::is_control));
    }
    if let Err(mistake) = step::body::json(&expression) {
        fits(&mistake, &expression);
    }
    let _ = expression.parse::<plan::work::Think>();
});
