//! One request as the settings of a run.
//!
//! Invariant: what is sent is what stands in the file. What a run cannot say is refused, not left out: a load without its signature
//! measures refusals.

use plan::setting::{BEARER, USER};
use plan::template::Template;
use plan::work::{Auth, Body, FieldValue};
use plan::{Draft, FILE_TYPE, Wording, percent_encoded};

use super::url::{filled, origin, with_parameter};
use super::{Collection, Connection, Request};

/// Why a request cannot be run by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// What is in the way.
    pub what: Wording,
    /// What to do.
    pub help: Wording,
}

impl Collection {
    /// A request of it as the settings of a run, with the values of variables put in. Checks and extractions are not of it.
    ///
    /// # Errors
    /// If it has something that a run does not know.
    pub fn draft(&self, request: &Request) -> Result<Draft, Unfit> {
        let fill = |text: &Template| filled(text, &self.variables);
        let unfit = |what: Wording, help: &str| Unfit { what, help: help.into() };
        if request.talk.is_some() {
            return Err(unfit("it is a part of a conversation over WebSocket".into(), "run the whole file"));
        }
        let (target, path) = origin(&fill(&request.url)).map_err(|why| unfit(why, "give the whole URL"))?;
        let mut draft = Draft {
            url: Some(format!("{}{path}", target.absolute().trim_end_matches('/'))),
            // What follows from the body is left to it, so that a body that is typed beside the request has its method.
            method: Some(request.method.clone()).filter(|method| method != if request.body == Body::Empty { "GET" } else { "POST" }),
            ..Draft::default()
        };
        for (name, value) in &request.headers {
            let value = fill(value).to_string();
            draft.header.push(if value.trim().is_empty() { format!("{name};") } else { format!("{name}: {value}") });
        }
        let whole = |text: String| (Some(text), request.header("content-type").is_none());
        let (data, is_bare) = match &request.body {
            Body::Empty => (None, false),
            Body::Text(text) | Body::Json(text) => whole(fill(text).typed()),
            Body::File(path) => whole(format!("@{path}")),
            Body::Form(fields) => {
                let fields = fields.iter().map(|(name, value)| (Template::fixed(name.as_str()), fill(value)));
                (Some(form_text(fields).typed()), false)
            }
            Body::Multipart(fields) => {
                for field in fields {
                    if field.name.contains('=') {
                        return Err(unfit(format!("the field '{}' has '=' in its name", field.name).into(), "leave it out"));
                    }
                    let value = match &field.value {
                        FieldValue::Text(text) => fill(text).typed(),
                        FieldValue::File { path, media_type } if media_type == FILE_TYPE => format!("@{path}"),
                        FieldValue::File { path, media_type } => format!("@{path};type={media_type}"),
                    };
                    draft.form.push(format!("{}={value}", field.name));
                }
                (None, false)
            }
        };
        draft.data = data;
        if is_bare {
            draft.header.push("Content-Type:".to_owned());
        }
        match &request.auth {
            None => {}
            Some(Auth::Header(name, value)) => draft.header.push(format!("{name}: {}", fill(value))),
            Some(Auth::Query(name, value)) => {
                let with_key = with_parameter(&path, &Template::fixed(name.as_str()), &fill(value));
                draft.url = Some(format!("{}{with_key}", target.absolute().trim_end_matches('/')));
            }
            Some(Auth::Basic { user, password }) => {
                let mut both = fill(user);
                both.push(":");
                both.append(fill(password));
                draft.user = Some(both.to_string());
            }
            Some(Auth::Bearer(token)) => draft.bearer = Some(fill(token).to_string()),
            Some(Auth::Digest { .. }) => {
                return Err(unfit(
                    "it authenticates with Digest, which loadline run does not".into(),
                    &format!("authenticate with {USER} or {BEARER}"),
                ));
            }
            Some(Auth::Aws(_)) => {
                let help = "send it through a proxy that signs, or make the signature with {{hmac …}} in a header";
                return Err(unfit("it is signed for AWS, which loadline run does not".into(), help));
            }
        }
        if draft.user.is_some() || draft.bearer.is_some() {
            // What the file says of it more exactly counts.
            draft.header.retain(|line| !line.to_ascii_lowercase().starts_with("authorization:"));
        }
        request.connection.settle(&mut draft);
        draft.follow = request.connection.follow.and_then(|most| most.to_string().parse().ok());
        Ok(draft)
    }
}

impl Connection {
    /// Puts what is said of it into settings; redirects are the request's.
    pub(super) fn settle(&self, draft: &mut Draft) {
        draft.insecure = self.insecure;
        draft.compressed = self.compressed;
        draft.timeout = self.timeout.as_ref().and_then(|time| time.parse().ok());
        draft.connect_timeout = self.connect_timeout.as_ref().and_then(|time| time.parse().ok());
        draft.proxy.clone_from(&self.proxy);
        draft.source_ip = self.source_ip.iter().filter_map(|address| address.parse().ok()).collect();
        draft.unix_socket.clone_from(&self.unix_socket);
        draft.connect_to = self.connect_to.as_ref().and_then(|to| to.parse().ok());
        draft.cacert.clone_from(&self.cacert);
        draft.cert.clone_from(&self.cert);
        draft.key.clone_from(&self.key);
    }
}

/// Fields as `a=1&b=2`.
pub(super) fn form_text(fields: impl IntoIterator<Item = (Template, Template)>) -> Template {
    let mut text = Template::default();
    for (place, (name, value)) in fields.into_iter().enumerate() {
        text.push(if place > 0 { "&" } else { "" });
        text.append(name.map_text(percent_encoded));
        text.push("=");
        text.append(value.map_text(percent_encoded));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::{Kind, Wishes};
    use plan::Plan;

    fn plan(text: &str) -> Plan {
        let read = Collection::read(Kind::Curl, text.as_bytes(), &Wishes::default()).unwrap();
        Plan::try_from(read.draft(&read.requests[0]).unwrap()).unwrap()
    }

    #[test]
    fn a_request_of_curl_is_a_plan_that_sends_the_same() {
        let plan =
            plan("curl -k -L 'https://api.example.com/a%20b?x=1' -H 'X-Empty;' -H 'Accept: text/plain' -u me:pw --json '{\"a\": 1}' -m 3");
        assert_eq!(plan.target().to_string(), "https://api.example.com/a%20b?x=1");
        let header = |name: &str| plan.request().headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!(header("Accept"), Some("text/plain"));
        assert_eq!(header("Authorization"), Some("Basic bWU6cHc="));
        assert_eq!(header("X-Empty"), Some(""));
        assert_eq!(plan.request().method, "POST");
    }

    #[test]
    fn what_is_a_template_to_loadline_is_text_to_curl() {
        let read = Collection::read(Kind::Curl, b"curl http://h/ -d '{{uuid}}@'", &Wishes::default()).unwrap();
        let draft = read.draft(&read.requests[0]).unwrap();
        assert_eq!(draft.data.as_deref(), Some("{{\"{{\"}}uuid}}@"));
    }

    #[test]
    fn what_a_run_cannot_do_is_refused() {
        let read = Collection::read(Kind::Curl, b"curl --digest -u a:b http://h/", &Wishes::default()).unwrap();
        assert!(read.draft(&read.requests[0]).unwrap_err().what.marked().contains("Digest"));
    }
}
