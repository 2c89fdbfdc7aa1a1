//! What must not be written down: passwords, tokens and keys, by their names. By their values: [`crate::Secrets`].
//!
//! Results are kept, sent to colleagues and shown on pages, and a token in one of them is a token that has leaked. Where a
//! setting has a name, the name tells that its value is a secret, and the value is left out. Asking users to mark their secrets was
//! rejected: the one who forgets is the one who leaks.
//!
//! Invariant: what stands here instead of a secret tells nothing about it, not even its length.

mod places;

pub(crate) use self::places::{Place, in_body, in_url};
use crate::template;

/// Stands for a secret.
pub(crate) const REDACTED: &str = "***";

/// Names that are those of secrets, without what stands between their words.
const NAMES: [&str; 15] = [
    "authorization",
    "proxyauthorization",
    "cookie",
    "cookie2",
    "setcookie",
    "auth",
    "xauth",
    "dpop",
    // Parameters of URLs and fields, too short to be words in others.
    "key",
    "sig",
    "pwd",
    "pass",
    "sid",
    "otp",
    "pin",
];
/// Words that make a name that of a secret (docs/measurement.md §6.5).
const WORDS: [&str; 16] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "subscriptionkey",
    "functionskey",
    "session",
    "signature",
    "credential",
    "jwt",
    "csrf",
    "xsrf",
];

/// Whether what is called so is a secret: a header, a parameter of a URL, a field of a form, of JSON or of XML.
#[must_use]
pub fn is_secret(name: &str) -> bool {
    let name: String = name.trim().chars().filter(|letter| !"-_. ".contains(*letter)).map(|letter| letter.to_ascii_lowercase()).collect();
    NAMES.contains(&name.as_str()) || WORDS.iter().any(|word| name.contains(word))
}

/// Where in a body the values of secrets stand, as the bytes from and to: of fields of JSON, GraphQL and XML, and of forms.
#[must_use]
pub fn secret_values(text: &str) -> Vec<(usize, usize)> {
    in_body(text).into_iter().map(|place| place.range).collect()
}

/// The same in a URL, or a path with its query.
#[must_use]
pub fn secret_parameters(text: &str) -> Vec<(usize, usize)> {
    in_url(text).into_iter().map(|place| place.range).collect()
}

/// A body with its secrets left out.
pub(crate) fn body_without(text: &str) -> String {
    around_templates(text, |text| without(text, in_body(text)))
}

/// A URL, a path with its query, or a text that ends with one, with the secrets of its parameters left out.
#[must_use]
pub fn url_without_secrets(text: &str) -> String {
    around_templates(text, |text| without(text, in_url(text)))
}

fn without(text: &str, places: Vec<Place>) -> String {
    let mut shown = text.to_owned();
    for (start, end) in places.into_iter().rev().map(|place| place.range).filter(|(start, end)| !only_refers(&text[*start..*end])) {
        shown.replace_range(start..end, REDACTED);
    }
    shown
}

/// The value of a secret header or field, left out unless it only refers to one, as `Bearer {{env TOKEN}}` does.
pub(crate) fn value_without(text: &str) -> String {
    around_templates(text, |text| if only_refers(text) { text.to_owned() } else { REDACTED.to_owned() })
}

/// Stand around the number of an expression that only refers to what it writes. In no language, for private use (Unicode).
const REFERENCE: (char, char) = ('\u{E000}', '\u{E001}');
/// The same for an expression in which a secret may stand.
const EXPRESSION: (char, char) = ('\u{E002}', '\u{E003}');

/// Leaves secrets out of a text whose templates are taken for one letter each: they hold quotation marks and ampersands of
/// their own, and are kept or left out whole.
fn around_templates(text: &str, without: impl Fn(&str) -> String) -> String {
    let own = [REFERENCE.0, REFERENCE.1, EXPRESSION.0, EXPRESSION.1];
    if !text.contains(own) {
        return around_marked(text, without);
    }
    // Others for private use stand in for them, of which there are more than a text holds.
    let free = ('\u{F0000}'..='\u{FFFFD}').filter(|letter| !text.contains(*letter));
    let stand_ins: Vec<(char, char)> = own.into_iter().zip(free).collect();
    let standing = stand_ins.iter().fold(text.to_owned(), |text, (own, other)| text.replace(*own, &other.to_string()));
    let shown = around_marked(&standing, without);
    stand_ins.iter().fold(shown, |text, (own, other)| text.replace(*other, &own.to_string()))
}

fn around_marked(text: &str, without: impl Fn(&str) -> String) -> String {
    let expressions = match template::expressions(text) {
        Some(expressions) if !expressions.is_empty() => expressions,
        _ => return without(text),
    };
    let mut marked = String::new();
    let mut from = 0;
    for (number, (range, is_reference)) in expressions.iter().enumerate() {
        let (open, close) = if *is_reference { REFERENCE } else { EXPRESSION };
        marked += &text[from..range.start];
        marked += &format!("{open}{number}{close}");
        from = range.end;
    }
    marked += &text[from..];
    let mut shown = without(&marked);
    for (number, (range, is_reference)) in expressions.into_iter().enumerate() {
        let (open, close) = if is_reference { REFERENCE } else { EXPRESSION };
        shown = shown.replace(&format!("{open}{number}{close}"), &text[range]);
    }
    shown
}

/// Whether a marked text holds nothing but references, after the name of a scheme if there is one.
fn only_refers(marked: &str) -> bool {
    let value = match marked.trim().split_once(' ') {
        Some((scheme, rest)) if scheme.bytes().all(|letter| letter.is_ascii_alphabetic()) => rest,
        _ => marked.trim(),
    };
    let mut inside = false;
    let mut any = false;
    for letter in value.chars() {
        match letter {
            _ if letter == REFERENCE.0 => (inside, any) = (true, true),
            _ if letter == REFERENCE.1 => inside = false,
            _ if inside => {}
            // What stands between a name and its password.
            ':' | '.' | '-' | '_' | ' ' => {}
            _ => return false,
        }
    }
    any
}

/// Whether secrets were left out of a body.
pub(crate) fn is_body_without(text: &str) -> bool {
    in_body(text).iter().any(|Place { range: (start, end), .. }| &text[*start..*end] == REDACTED)
}

/// The value of a field of a form with its secrets left out.
pub(crate) fn field_without(name: &str, value: &str) -> String {
    if is_secret(name) { value_without(value) } else { body_without(value) }
}

/// Whether secrets were left out of it.
pub(crate) fn is_field_without(value: &str) -> bool {
    value == REDACTED || is_body_without(value)
}

/// Whether secrets were left out of a URL.
pub(crate) fn is_url_without(text: &str) -> bool {
    in_url(text).iter().any(|Place { range: (start, end), .. }| &text[*start..*end] == REDACTED)
}

/// The value of a header with its secrets left out: all of it by its name, or parameters of a URL in it, as in `Referer`.
pub(crate) fn header_without(name: &str, value: &str) -> String {
    match is_secret(name) {
        true => value_without(value),
        false if value.contains('?') => url_without_secrets(value),
        false => value.to_owned(),
    }
}

/// Whether secrets were left out of it.
pub(crate) fn is_header_without(value: &str) -> bool {
    value == REDACTED || value.contains('?') && is_url_without(value)
}

/// A text that is saved as a whole, without these values. All of it is left out where one is so short that it stands in half of the words.
pub(crate) fn text_without(text: &str, values: &[String]) -> String {
    const LETTERS_MIN: usize = 3;
    let held = |value: &&String| !value.is_empty() && *value != REDACTED && text.contains(value.as_str());
    let mut values: Vec<&String> = values.iter().filter(held).collect();
    if values.iter().any(|value| value.chars().count() < LETTERS_MIN) {
        return REDACTED.to_owned();
    }
    // Of one that is the beginning of another nothing is to be left.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    values.into_iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), REDACTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_secret() {
        for name in [
            "Authorization",
            "COOKIE",
            "Cookie2",
            "X-Api-Key",
            "x-auth-token",
            "X-Auth",
            "api_key",
            "apiKey",
            "sessionId",
            "key",
            "X-Amz-Signature",
            "client_secret",
            "Ocp-Apim-Subscription-Key",
            "X-Functions-Key",
            "X-Access-Key",
            "DPoP",
            "X-Goog-IAP-JWT-Assertion",
            "X-CSRF",
            "jwt",
            "sid",
            "otp",
            "pin",
        ] {
            assert!(is_secret(name), "{name}");
        }
        for name in ["Accept", "Host", "page", "keyword", "monkey", "User-Agent", "author", "sign", "spin", "code", "side"] {
            assert!(!is_secret(name), "{name}");
        }
    }

    #[test]
    fn secrets_in_bodies_are_left_out_and_the_rest_is_kept() {
        for (body, without) in [
            ("a=1&password=hunter22&b=2", "a=1&password=***&b=2"),
            (r#"{"user": "me", "password": "hun\"ter22", "n": 1}"#, r#"{"user": "me", "password": "***", "n": 1}"#),
            (r#"[{"api_key":123456,"a":{"token" : "x"}}]"#, r#"[{"api_key":***,"a":{"token" : "***"}}]"#),
            (r#"{"session": {"id": 7}}"#, r#"{"session": {"id": ***}}"#),
            ("plain text, token: none", "plain text, token: none"),
            (r#"{"password""#, r#"{"password""#),
            (
                "--b1\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhunter22\r\n--b1\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nkept\r\n--b1--\r\n",
                "--b1\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n***\r\n--b1\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nkept\r\n--b1--\r\n",
            ),
        ] {
            assert_eq!(body_without(body), without);
            assert_eq!(is_body_without(&body_without(body)), body != without, "{body}");
        }
        assert_eq!(url_without_secrets("/a?page=2&api_key=abc&tok%65n=x"), "/a?page=2&api_key=***&tok%65n=***");
    }

    #[test]
    fn what_is_not_json_is_the_same_after_its_secrets_were_left_out_twice() {
        let once = body_without(r#"{"password":"a,api_key[":2d{"s,9d{":D,api_key[":2d{"s,9d{":D"}"#);
        assert_eq!(body_without(&once), once);
    }

    #[test]
    fn letters_for_private_use_hide_no_template() {
        let text = |password: &str| format!("{{\"password\":\"{password}\",\"n\":\"\u{E000}\u{F0000}\"}}");
        assert_eq!(body_without(&text("\u{E001}{{choice \"one\" \"two\"}}")), text(REDACTED));
        assert_eq!(body_without(&text("{{env PASS}}")), text("{{env PASS}}"));
    }

    #[test]
    fn a_text_is_saved_without_its_secrets_or_not_at_all() {
        let without =
            |values: &[&str]| text_without("a: pw1\nb: pw1-long\n", &values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>());
        assert_eq!(without(&["pw1", "pw1-long"]), "a: ***\nb: ***\n");
        assert_eq!(without(&["elsewhere", ""]), "a: pw1\nb: pw1-long\n");
        assert_eq!(without(&["a"]), "***");
    }
}
