//! One request as the settings of a run.
//!
//! Invariant: what is sent is what stands in the file. What a run cannot say is refused, not left out: a load without its signature
//! measures refusals.

use plan::{Draft, percent_encoded};

use super::{Auth, Body, Collection, FieldValue, Request, Text};

/// Why a request cannot be run by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// What is in the way.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl Collection {
    /// A request of it as the settings of a run, with the values of variables put in. Checks and extractions are not of it.
    ///
    /// # Errors
    /// If it has something that a run does not know.
    pub fn draft(&self, request: &Request) -> Result<Draft, Unfit> {
        let fill = |text: &Text| text.filled(&self.variables);
        let unfit = |what: String, help: &str| Unfit { what, help: help.to_owned() };
        let (target, path) = fill(&request.url).origin().map_err(|why| unfit(why, "give the whole URL"))?;
        let mut draft = Draft {
            url: Some(format!("{}{}", target.absolute().trim_end_matches('/'), path.written())),
            // What follows from the body is left to it, so that a body that is typed beside the request has its method.
            method: Some(request.method.clone()).filter(|method| method != if request.body == Body::None { "GET" } else { "POST" }),
            ..Draft::default()
        };
        for (name, value) in &request.headers {
            let value = fill(value).written();
            draft.header.push(if value.trim().is_empty() { format!("{name};") } else { format!("{name}: {value}") });
        }
        match &request.body {
            Body::None => {}
            Body::Raw(text) => {
                draft.data = Some(fill(text).written_as_text());
                if request.header("content-type").is_none() {
                    draft.header.push("Content-Type:".to_owned());
                }
            }
            Body::Fields(fields) => draft.data = Some(fields_as_text(fields, &fill).written_as_text()),
            Body::Form(fields) => {
                for field in fields {
                    if field.name.contains('=') {
                        return Err(unfit(format!("the field '{}' has '=' in its name", field.name), "leave it out"));
                    }
                    let value = match &field.value {
                        FieldValue::Text(text) => fill(text).written_as_text(),
                        FieldValue::File { path, media_type: None } => format!("@{path}"),
                        FieldValue::File { path, media_type: Some(media) } => format!("@{path};type={media}"),
                    };
                    draft.form.push(format!("{}={value}", field.name));
                }
            }
            Body::File(path) => {
                draft.data = Some(format!("@{path}"));
                if request.header("content-type").is_none() {
                    draft.header.push("Content-Type:".to_owned());
                }
            }
        }
        match &request.auth {
            Auth::None => {}
            Auth::Basic(user, password) => {
                let mut both = fill(user);
                both.push(":");
                both.append(fill(password));
                draft.user = Some(both.written());
            }
            Auth::Bearer(token) => draft.bearer = Some(fill(token).written()),
            Auth::Digest(..) => {
                return Err(unfit(
                    "it authenticates with Digest, which loadline run does not".to_owned(),
                    "authenticate with --user or --bearer",
                ));
            }
            Auth::Aws(_) => {
                let help = "send it through a proxy that signs, or make the signature with {{hmac …}} in a header";
                return Err(unfit("it is signed for AWS, which loadline run does not".to_owned(), help));
            }
        }
        if draft.user.is_some() || draft.bearer.is_some() {
            // What the file says of it more exactly counts.
            draft.header.retain(|line| !line.to_ascii_lowercase().starts_with("authorization:"));
        }
        let connection = &request.connection;
        draft.insecure = connection.insecure;
        draft.follow = connection.follow.and_then(|most| most.to_string().parse().ok());
        draft.timeout = connection.timeout.as_ref().and_then(|time| time.parse().ok());
        draft.connect_timeout = connection.connect_timeout.as_ref().and_then(|time| time.parse().ok());
        draft.proxy.clone_from(&connection.proxy);
        draft.unix_socket.clone_from(&connection.unix_socket);
        draft.connect_to = connection.connect_to.as_ref().and_then(|to| to.parse().ok());
        draft.cacert.clone_from(&connection.cacert);
        draft.cert.clone_from(&connection.cert);
        draft.key.clone_from(&connection.key);
        Ok(draft)
    }
}

/// Fields as `a=1&b=2`.
pub(super) fn fields_as_text(fields: &[(Text, Text)], fill: &dyn Fn(&Text) -> Text) -> Text {
    let mut text = Text::default();
    for (place, (name, value)) in fields.iter().enumerate() {
        text.push(if place > 0 { "&" } else { "" });
        text.append(fill(name).map_literals(percent_encoded));
        text.push("=");
        text.append(fill(value).map_literals(percent_encoded));
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
        assert!(read.draft(&read.requests[0]).unwrap_err().what.contains("Digest"));
    }
}
