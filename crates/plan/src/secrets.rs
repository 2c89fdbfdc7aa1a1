//! The secrets of one load by their values: collected from what was typed, decided or sent, and left out of any text.
//!
//! A server may send back what it was sent, in an error page that is kept as an example, and a message may quote what was typed. There
//! no name tells that it is a secret, and only the value itself can be looked for.

use std::fmt;

use crate::encoding::from_base64;
use crate::secret::{Place, REDACTED, in_body, in_url, is_secret};
use crate::{Body, Draft, FormValue, Plan, Target, percent_decoded, server_in, template};

/// Shorter values would be found in text that has nothing to do with them (docs/measurement.md §6.5).
const VALUE_LETTERS_MIN: usize = 6;
/// Of a value that was cut off, so much of its beginning gives it away.
const BEGINNING_LETTERS: usize = 8;

/// So much of a request is looked at: an answer's example is shorter, and what is beyond is seldom sent back first.
const REQUEST_BYTES: usize = 64 << 10;

/// The values of the secrets of one load. Never printed, and never written down.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// In every form in which they may be found, the longest first.
    forms: Vec<String>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} forms of secrets", self.forms.len())
    }
}

impl Secrets {
    /// Everything in a draft that is a secret, whether or not it can be used.
    #[must_use]
    pub fn of_draft(draft: &Draft) -> Self {
        let mut found = Values::default();
        draft.url.iter().chain(&draft.proxy).chain(&draft.also_target).for_each(|url| found.url(url));
        for line in &draft.header {
            if let Some((name, value)) = line.split_once(':') {
                found.header(name, value);
            }
        }
        draft.user.iter().for_each(|user| found.user(user));
        draft.bearer.iter().for_each(|token| found.value(token));
        draft.cookie.iter().for_each(|cookie| found.header("cookie", cookie));
        draft.data.iter().chain(&draft.json).chain(&draft.message).filter(|body| !body.starts_with('@')).for_each(|body| found.body(body));
        draft.form.iter().filter_map(|field| field.split_once('=')).for_each(|(name, value)| found.field(name, value));
        found.secrets()
    }

    /// Everything in a plan that is a secret.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        let mut found = Values::default();
        found.target(plan.target());
        for (name, value) in &plan.request().headers {
            found.header(name, value);
        }
        if let Some(authorization) = plan.connection().proxy.as_ref().and_then(|proxy| proxy.authorization.as_deref()) {
            found.header("authorization", authorization);
        }
        match &plan.request().body {
            Body::Empty | Body::File(_) => {}
            Body::Bytes(bytes) => found.body(&String::from_utf8_lossy(bytes)),
            Body::Form { parts, .. } => {
                for part in parts {
                    if let FormValue::Text(text) = &part.value {
                        found.field(&part.name, text);
                    }
                }
            }
        }
        let environment = plan.variation().environment.iter().map(|(_, value)| value.as_str());
        found.secrets().and(Self::of_values(environment.chain(plan.variation().concealed.iter().map(String::as_str))))
    }

    /// Everything in a request, as it was sent, that is a secret.
    #[must_use]
    pub fn of_request(request: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&request[..request.len().min(REQUEST_BYTES)]);
        let mut found = Values::default();
        // Several may follow one another. A line of a body that looks like one of a head is treated as such.
        for line in text.lines() {
            match (line.strip_suffix(" HTTP/1.1"), line.split_once(':')) {
                (Some(asked), _) => found.url(asked.split_once(' ').map_or(asked, |(_, url)| url)),
                (None, Some((name, value))) => found.header(name, value),
                (None, None) => {}
            }
        }
        if let Some((_, body)) = text.split_once("\r\n\r\n") {
            found.body(body);
        }
        found.secrets()
    }

    /// These values, whatever they are called.
    pub fn of_values<'a>(values: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found = Values::default();
        values.into_iter().for_each(|value| found.value(value));
        found.secrets()
    }

    /// These and others.
    #[must_use]
    pub fn and(mut self, others: Self) -> Self {
        self.forms.extend(others.forms);
        self.forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        self.forms.dedup();
        self
    }

    /// The text with every secret left out: as it is, in base64, percent-encoded, in hexadecimal digits or escaped, and one
    /// that was cut off as far as it goes.
    #[must_use]
    pub fn conceal(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for form in &self.forms {
            if text.contains(form.as_str()) {
                text = text.replace(form.as_str(), REDACTED);
            }
        }
        for form in self.forms.iter().filter(|form| form.len() > BEGINNING_LETTERS) {
            let Some(beginning) = form.get(..BEGINNING_LETTERS) else { continue };
            while let Some(at) = text.find(beginning) {
                let alike = text[at..].chars().zip(form.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum::<usize>();
                text.replace_range(at..at + alike, REDACTED);
            }
        }
        text
    }
}

/// Values on their way to [`Secrets`].
#[derive(Default)]
struct Values(Vec<String>);

impl Values {
    fn value(&mut self, value: &str) {
        let value = value.trim();
        let around = template::around(value);
        if around.len() > 1 {
            // What a template names is no secret; what stands around it may be.
            around.into_iter().for_each(|piece| self.value(piece));
            return;
        }
        if value != REDACTED && value.chars().count() >= VALUE_LETTERS_MIN {
            self.0.push(value.to_owned());
        }
    }

    fn header(&mut self, name: &str, value: &str) {
        if !is_secret(name) {
            if value.contains('?') {
                self.parameters(value);
            }
            return;
        }
        let value = value.trim();
        if name.trim().to_ascii_lowercase().trim_end_matches('2').ends_with("cookie") {
            value.split(';').for_each(|pair| self.value(pair.split_once('=').map_or(pair, |(_, value)| value)));
            return;
        }
        match value.split_once(' ') {
            Some((scheme, rest)) if scheme.bytes().all(|letter| letter.is_ascii_alphabetic()) => {
                self.value(rest);
                if let Some(user) = from_base64(rest.trim()).filter(|_| scheme.eq_ignore_ascii_case("basic")) {
                    self.user(&user);
                }
            }
            _ => self.value(value),
        }
    }

    /// `name:password`.
    fn user(&mut self, user: &str) {
        self.value(user);
        self.value(user.split_once(':').map_or(user, |(_, password)| password));
    }

    fn target(&mut self, target: &Target) {
        if let Some((user, password)) = target.credentials() {
            self.user(&format!("{user}:{password}"));
        }
        self.parameters(target.path_and_query());
    }

    /// A URL as typed, which may be none.
    fn url(&mut self, url: &str) {
        if url.starts_with(['/', '?']) {
            return self.parameters(url);
        }
        let rest = &url[server_in(url).start..];
        // A password may hold what ends a host, and then the URL is none; it is a password all the same.
        let user = rest.rsplit_once('@').map(|(user, _)| user);
        if let Some(user) = user {
            self.user(user);
            self.user(&percent_decoded(user));
        }
        self.parameters(rest);
    }

    fn parameters(&mut self, url: &str) {
        self.places(url, in_url(url));
    }

    fn body(&mut self, text: &str) {
        self.places(text, in_body(text));
    }

    fn field(&mut self, name: &str, value: &str) {
        if is_secret(name) { self.value(value) } else { self.body(value) }
    }

    fn places(&mut self, text: &str, places: Vec<Place>) {
        for Place { range: (start, end), value } in places {
            self.value(&text[start..end]);
            self.value(&percent_decoded(&value));
            self.value(&value);
        }
    }

    fn secrets(self) -> Secrets {
        let mut forms: Vec<String> = Vec::new();
        for value in self.0 {
            let bytes = value.as_bytes();
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let percent = |plain: &dyn Fn(u8) -> bool, upper: bool| -> String {
                bytes
                    .iter()
                    .map(|byte| match (plain(*byte), upper) {
                        (true, _) => char::from(*byte).to_string(),
                        (_, true) => format!("%{byte:02X}"),
                        (_, false) => format!("%{byte:02x}"),
                    })
                    .collect()
            };
            let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            let base64 = crate::base64(bytes);
            forms.extend([
                percent(&unreserved, true),
                percent(&unreserved, false),
                base64.trim_end_matches('=').replace('+', "-").replace('/', "_"),
                base64.trim_end_matches('=').to_owned(),
                hex.to_uppercase(),
                hex,
                bytes.escape_ascii().to_string(),
                value.escape_debug().to_string(),
                value.replace('\\', "\\\\").replace('"', "\\\""),
                value,
            ]);
        }
        Secrets::default().and(Secrets { forms })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_url_in_a_query_hides_no_secret_before_it() {
        let request = b"GET /login?api_key=S3cretkey&next=http://b.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n";
        assert_eq!(Secrets::of_request(request).conceal("it was S3cretkey"), "it was ***");
        let typed = |url: &str| Secrets::of_draft(&Draft { url: Some(url.to_owned()), ..Draft::default() }).conceal("it was S3cretkey");
        assert_eq!(typed("a.test/x?api_key=S3cretkey&next=http://b.test/"), "it was ***");
        assert_eq!(typed("http://me:S3cretkey@a.test/"), "it was ***");
        let also = Draft { also_target: vec!["https://me:S3cretkey@a.test".to_owned()], ..Draft::default() };
        assert_eq!(Secrets::of_draft(&also).conceal("it was S3cretkey"), "it was ***");
    }

    #[test]
    fn a_secret_that_was_cut_off_is_left_out_as_far_as_it_goes() {
        let secrets = Secrets::of_draft(&Draft { bearer: Some("s3cr3t-t0ken-of-mine".to_owned()), ..Draft::default() });
        assert_eq!(secrets.conceal("401: bad s3cr3t-t0ken… (cut)"), "401: bad ***… (cut)");
        assert!(!format!("{secrets:?}").contains("s3cr3t"));
    }

    #[test]
    fn what_was_sent_is_left_out_of_what_was_seen_whichever_file_it_came_from() {
        let request = b"POST /a?token=S3cret-of-url HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer S3cret-of-header\r\n\r\n{\"password\": \"S3cret-of-body\"}";
        let seen = Secrets::of_request(request).conceal("h: S3cret-of-url, S3cret-of-header, S3cret-of-body");
        assert_eq!(seen, "h: ***, ***, ***");
    }

    #[test]
    fn what_is_inside_basic_authentication_is_secret_too() {
        let draft = Draft { header: vec!["Authorization: Basic bWU6aHVudGVyMjI=".to_owned()], ..Draft::default() };
        assert_eq!(Secrets::of_draft(&draft).conceal("hunter22 me:hunter22 bWU6aHVudGVyMjI="), "*** *** ***");
    }

    proptest! {
        #[test]
        fn a_planted_secret_is_found_in_every_form(secret in "[a-zA-Z0-9+/=._~ %\"\\\\é-]{12,40}", place in 0..8usize) {
            let secret = secret.trim().replace(' ', "_");
            prop_assume!(secret.chars().count() >= 12);
            let draft = match place {
                0 => Draft { bearer: Some(secret.clone()), ..Draft::default() },
                1 => Draft { user: Some(format!("me:{secret}")), ..Draft::default() },
                2 => Draft { header: vec![format!("X-Api-Key: {secret}")], ..Draft::default() },
                3 => Draft { cookie: vec![format!("sid={}", secret.replace(';', ""))], ..Draft::default() },
                4 => Draft { header: vec![format!("Authorization: Bearer {secret}")], ..Draft::default() },
                5 => Draft { form: vec![format!("password={secret}")], ..Draft::default() },
                6 => Draft { json: Some(format!("{{\"token\": {secret:?}}}")), ..Draft::default() },
                _ => Draft { proxy: Some(format!("http://me:{secret}@p:1")), ..Draft::default() },
            };
            let secrets = Secrets::of_draft(&draft);
            let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            for form in [secret.clone(), crate::base64(secret.as_bytes()), hex, secret.as_bytes().escape_ascii().to_string()] {
                let shown = secrets.conceal(&format!("before {form} after"));
                prop_assert!(!shown.contains(form.trim_end_matches('=')), "{} is in {}", form, shown);
                prop_assert!(shown.starts_with("before") && shown.ends_with("after"), "{}", shown);
            }
        }
    }
}
