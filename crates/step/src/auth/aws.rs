//! AWS Signature Version 4: what API Gateway, S3, OpenSearch and everything that imitates them want of a request.
//!
//! AWS's own signer (`aws-sigv4`) brings a runtime's worth of crates for four chained hashes over a text whose form is documented.
//! What is hard is that form, and it is held by the vectors of AWS's test suite and documentation. The signing key changes
//! once a day and is kept; what is left for each request are two hashes over what is sent and two over the key.
//!
//! Source: AWS Identity and Access Management, "Create a signed AWS API request". Invariant: what is signed is what is sent; nothing of
//! a request is rewritten but the copy that is hashed.

use std::cell::RefCell;
use std::fmt;

use percent_encoding::percent_decode_str;
use plan::write_percent_encoded;
use ring::{digest, hmac};

use crate::date::UnixSeconds;

use super::hex;

/// Keys and what they are for; printing shows no secret.
#[derive(Clone)]
pub struct Aws {
    access_key: String,
    secret_key: String,
    token: Option<String>,
    region: String,
    service: String,
    /// The signing key of a day.
    of_day: RefCell<Option<(i64, [u8; 32])>>,
}

impl fmt::Debug for Aws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aws").field("region", &self.region).field("service", &self.service).finish_non_exhaustive()
    }
}

/// What of a request is signed. Printing shows neither headers nor body.
#[derive(Clone, Copy)]
pub struct Signable<'a> {
    /// `GET`
    pub method: &'a str,
    /// As in the `Host` header, with a port that is not the scheme's.
    pub host: &'a str,
    /// As sent, percent-encoded.
    pub path_and_query: &'a str,
    /// Further headers of the request that are to be signed: name and value. `Host` and those that signing adds are signed anyway.
    pub headers: &'a [(&'a str, &'a str)],
    /// Its body.
    pub payload: Payload<'a>,
}

impl fmt::Debug for Signable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.method, self.host)
    }
}

/// The body, as far as a signature covers it.
#[derive(Clone, Copy)]
pub enum Payload<'a> {
    /// Hashed.
    Bytes(&'a [u8]),
    /// `UNSIGNED-PAYLOAD`: over TLS, where S3 accepts it.
    Unsigned,
}

/// Headers to be added to a signed request.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature {
    /// Names and values, in the order in which they are sent: `x-amz-date`, then `x-amz-content-sha256` and
    /// `x-amz-security-token` if they are needed, `authorization` last.
    pub headers: Vec<(&'static str, String)>,
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.headers.iter().map(|(name, _)| name)).finish()
    }
}

impl Aws {
    /// `service` as in `execute-api`, `s3`, `es`; `token` of temporary credentials.
    #[must_use]
    pub fn new(access_key: &str, secret_key: &str, token: Option<&str>, region: &str, service: &str) -> Self {
        Self {
            access_key: access_key.to_owned(),
            secret_key: secret_key.to_owned(),
            token: token.map(str::to_owned),
            region: region.to_owned(),
            service: service.to_owned(),
            of_day: RefCell::new(None),
        }
    }

    /// The headers to be added to a request at this moment.
    #[must_use]
    pub fn sign(&self, request: &Signable<'_>, now: UnixSeconds) -> Signature {
        let stamp = now.compact();
        let date = &stamp[..8];
        let payload = match request.payload {
            Payload::Bytes(bytes) => hex(digest::digest(&digest::SHA256, bytes).as_ref()),
            Payload::Unsigned => "UNSIGNED-PAYLOAD".to_owned(),
        };
        let mut added = vec![("x-amz-date", stamp.clone())];
        // S3 wants to be told; other services only if it is not the hash they find themselves.
        if self.is_s3() || matches!(request.payload, Payload::Unsigned) {
            added.push(("x-amz-content-sha256", payload.clone()));
        }
        if let Some(token) = &self.token {
            added.push(("x-amz-security-token", token.clone()));
        }
        let (names, canonical) = self.canonical(request, &added, &payload);
        let scope = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        let hashed = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let to_sign = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashed}");
        let signature = hex(mac(&self.key(now.day(), date), to_sign.as_bytes()).as_ref());
        added.push((
            "authorization",
            format!("AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", self.access_key),
        ));
        Signature { headers: added }
    }

    fn is_s3(&self) -> bool {
        matches!(self.service.as_str(), "s3" | "s3-object-lambda" | "s3-outposts" | "s3express")
    }

    /// The names of the signed headers, and the request in the form that is hashed.
    fn canonical(&self, request: &Signable<'_>, added: &[(&str, String)], payload: &str) -> (String, String) {
        let (path, query) = request.path_and_query.split_once('?').unwrap_or((request.path_and_query, ""));
        let path = if self.is_s3() { once_encoded(path) } else { twice_encoded(path) };
        let mut headers: Vec<(String, String)> = [("host", request.host)]
            .into_iter()
            .chain(request.headers.iter().copied())
            .chain(added.iter().map(|(name, value)| (*name, value.as_str())))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.split_ascii_whitespace().collect::<Vec<_>>().join(" ")))
            .collect();
        // Stable: values of one name stay in the order in which they are sent.
        headers.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut joined: Vec<(String, String)> = Vec::with_capacity(headers.len());
        for (name, value) in headers {
            match joined.last_mut() {
                Some((last, _)) if *last == name && name == "host" => {}
                Some((last, values)) if *last == name => {
                    values.push(',');
                    values.push_str(&value);
                }
                _ => joined.push((name, value)),
            }
        }
        let names = joined.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
        let lines: String = joined.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let canonical = format!("{}\n{path}\n{}\n{lines}\n{names}\n{payload}", request.method, canonical_query(query));
        (names, canonical)
    }

    fn key(&self, day: i64, date: &str) -> [u8; 32] {
        if let Some((of, key)) = *self.of_day.borrow()
            && of == day
        {
            return key;
        }
        let mut key = digested(mac(format!("AWS4{}", self.secret_key).as_bytes(), date.as_bytes()));
        for part in [self.region.as_str(), self.service.as_str(), "aws4_request"] {
            key = digested(mac(&key, part.as_bytes()));
        }
        *self.of_day.borrow_mut() = Some((day, key));
        key
    }
}

fn mac(key: &[u8], text: &[u8]) -> hmac::Tag {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text)
}

fn digested(tag: hmac::Tag) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(tag.as_ref());
    bytes
}

/// For S3: each part encoded once, whatever was written encoded already; dots and double slashes are names there.
fn once_encoded(path: &str) -> String {
    let encoded: Vec<String> = path.split('/').map(|part| encoded(&decoded(part))).collect();
    let path = encoded.join("/");
    if path.starts_with('/') { path } else { format!("/{path}") }
}

/// For all others: without dots and double slashes, and what is sent encoded encoded again.
fn twice_encoded(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let ends = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
    let mut out: String = parts.iter().map(|part| format!("/{}", encoded(part.as_bytes()))).collect();
    if ends || out.is_empty() {
        out.push('/');
    }
    out
}

/// Names and values encoded once and sorted by their encoded form.
fn canonical_query(query: &str) -> String {
    let mut pairs: Vec<(String, String)> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (encoded(&decoded(name)), encoded(&decoded(value)))
        })
        .collect();
    pairs.sort();
    pairs.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

fn encoded(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    write_percent_encoded(bytes, &mut out);
    out.into_iter().map(char::from).collect()
}

/// `%41` is `A`; what is no code stays as it is, and so does `+`.
fn decoded(text: &str) -> Vec<u8> {
    percent_decode_str(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2015-08-30T12:36:00Z, of AWS's test suite.
    const SUITE: UnixSeconds = UnixSeconds(1_440_938_160);
    /// 2013-05-24T00:00:00Z, of the S3 API reference.
    const S3: UnixSeconds = UnixSeconds(1_369_353_600);

    fn suite() -> Aws {
        Aws::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None, "us-east-1", "service")
    }

    fn s3() -> Aws {
        Aws::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", None, "us-east-1", "s3")
    }

    fn authorization(signature: &Signature) -> &str {
        let (name, value) = signature.headers.last().unwrap();
        assert_eq!(*name, "authorization");
        value
    }

    fn signature(aws: &Aws, request: &Signable<'_>, now: UnixSeconds) -> String {
        authorization(&aws.sign(request, now)).rsplit_once("Signature=").unwrap().1.to_owned()
    }

    fn get<'a>(path_and_query: &'a str) -> Signable<'a> {
        Signable { method: "GET", host: "example.amazonaws.com", path_and_query, headers: &[], payload: Payload::Bytes(b"") }
    }

    #[test]
    fn the_vectors_of_the_published_test_suite_come_out() {
        let form: &[(&str, &str)] = &[("Content-Type", "application/x-www-form-urlencoded")];
        let cases = [
            ("get-vanilla", get("/"), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            (
                "get-vanilla-query-order-key-case",
                get("/?Param2=value2&Param1=value1"),
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            ("normalize-path/get-relative", get("/example/.."), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("normalize-path/get-slashes", get("//"), "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("post-vanilla", Signable { method: "POST", ..get("/") }, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "post-x-www-form-urlencoded",
                Signable { method: "POST", headers: form, payload: Payload::Bytes(b"Param1=value1"), ..get("/") },
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ];
        for (name, request, expected) in cases {
            assert_eq!(signature(&suite(), &request, SUITE), expected, "{name}");
        }
        assert_eq!(
            authorization(&suite().sign(&get("/"), SUITE)),
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, \
             Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
        );
    }

    #[test]
    fn the_examples_of_the_documentation_come_out() {
        let iam = Aws::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None, "us-east-1", "iam");
        let users = Signable {
            method: "GET",
            host: "iam.amazonaws.com",
            path_and_query: "/?Action=ListUsers&Version=2010-05-08",
            headers: &[("content-type", "application/x-www-form-urlencoded; charset=utf-8")],
            payload: Payload::Bytes(b""),
        };
        assert_eq!(signature(&iam, &users, SUITE), "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
        let object = |method, path_and_query, headers, body| Signable {
            method,
            host: "examplebucket.s3.amazonaws.com",
            path_and_query,
            headers,
            payload: Payload::Bytes(body),
        };
        let cases = [
            (
                object("GET", "/test.txt", &[("Range", "bytes=0-9")][..], &b""[..]),
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            ),
            (
                object(
                    "PUT",
                    "/test$file.text",
                    &[("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                    b"Welcome to Amazon S3.",
                ),
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
            ),
            (object("GET", "/?lifecycle", &[], b""), "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
            (object("GET", "/?max-keys=2&prefix=J", &[], b""), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
        ];
        for (request, expected) in cases {
            assert_eq!(signature(&s3(), &request, S3), expected, "{}", request.path_and_query);
        }
    }

    #[test]
    fn a_session_token_is_sent_and_signed() {
        let aws = Aws::new("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", Some("session"), "us-east-1", "service");
        let signed = aws.sign(&get("/"), SUITE);
        let names: Vec<_> = signed.headers.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["x-amz-date", "x-amz-security-token", "authorization"]);
        assert!(authorization(&signed).contains("SignedHeaders=host;x-amz-date;x-amz-security-token,"));
    }

    #[test]
    fn an_unsigned_payload_says_so_and_may_be_anything() {
        let request = Signable { payload: Payload::Unsigned, ..get("/") };
        let signed = s3().sign(&request, S3);
        assert_eq!(signed.headers[1], ("x-amz-content-sha256", "UNSIGNED-PAYLOAD".to_owned()));
        let names: Vec<_> = suite().sign(&request, SUITE).headers.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["x-amz-date", "x-amz-content-sha256", "authorization"]);
    }

    #[test]
    fn paths_and_queries_are_hashed_in_the_form_the_services_expect() {
        let cases = [
            ("/", "/", "/"),
            ("", "/", "/"),
            ("/a/b/", "/a/b/", "/a/b/"),
            ("/a//b/./c/../d", "/a/b/d", "/a//b/./c/../d"),
            ("/a%20b", "/a%2520b", "/a%20b"),
            ("/a!b~c", "/a%21b~c", "/a%21b~c"),
            ("/../..", "/", "/../.."),
            ("/%e1%88%b4", "/%25e1%2588%25b4", "/%E1%88%B4"),
            ("/%ff%", "/%25ff%25", "/%FF%25"),
        ];
        for (path, others, s3) in cases {
            assert_eq!((twice_encoded(path).as_str(), once_encoded(path).as_str()), (others, s3), "{path}");
        }
        let cases =
            [("", ""), ("b=2&a=1", "a=1&b=2"), ("a=2&a=1&a", "a=&a=1&a=2"), ("x=%2f&x=a b+c", "x=%2F&x=a%20b%2Bc"), ("&&a=b=c", "a=b%3Dc")];
        for (query, expected) in cases {
            assert_eq!(canonical_query(query), expected);
        }
    }

    #[test]
    fn headers_are_joined_and_trimmed_as_they_are_signed() {
        let headers = &[("X-B", "  two   words "), ("x-a", "1"), ("X-A", "2"), ("Host", "other")];
        let (names, canonical) = suite().canonical(&Signable { headers, ..get("/") }, &[], "hash");
        assert_eq!(names, "host;x-a;x-b");
        assert_eq!(canonical, "GET\n/\n\nhost:example.amazonaws.com\nx-a:1,2\nx-b:two words\n\nhost;x-a;x-b\nhash");
    }

    #[test]
    fn the_key_of_another_day_is_another() {
        let aws = suite();
        let today = signature(&aws, &get("/"), SUITE);
        let tomorrow = signature(&aws, &get("/"), UnixSeconds(SUITE.0 + 86_400));
        assert_ne!(today, tomorrow);
        assert_eq!(signature(&aws, &get("/"), SUITE), today);
        assert_eq!(signature(&suite(), &get("/"), UnixSeconds(SUITE.0 + 86_400)), tomorrow);
    }

    #[test]
    fn no_secret_is_printed() {
        let aws = Aws::new("access-key", "secret-key", Some("the-token"), "eu", "s3");
        let printed = format!("{aws:?} {:?}", aws.sign(&get("/"), SUITE));
        assert!(!["access-key", "secret-key", "the-token", "Signature="].iter().any(|secret| printed.contains(secret)), "{printed}");
    }
}
