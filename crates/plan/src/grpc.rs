//! Calls of gRPC: where the messages of a method are described, and what has no place beside them.
//!
//! A plan has messages as JSON and names what describes them: .proto files, a set of descriptors, or neither, and then the server is
//! asked. What that came to is bytes in the plan's contents; nothing here knows what is in them.

use crate::reading::Reading;
use crate::setting::{DATA, DESCRIPTORS as DESCRIPTORS_SETTING, FORM, JSON, MESSAGE, PROTO, PROTO_PATH, SettingName};
use crate::{Target, Templating};

/// What messages are described by, as it was named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageSource {
    /// `.proto` files.
    pub protos: Vec<String>,
    /// Where their imports begin.
    pub folders: Vec<String>,
    /// A file with a set of descriptors, as `protoc --descriptor_set_out` writes it.
    pub descriptors: Option<String>,
}

/// Under which name the contents of a plan hold the descriptors of its messages: a `FileDescriptorSet`, whichever of its sources it came from.
pub const DESCRIPTORS: &str = "\0descriptors";

impl MessageSource {
    /// Complains of what describes messages where there are none, or twice.
    pub(crate) fn judge(&self, r: &mut Reading, is_grpc: bool) {
        let given =
            [(!self.protos.is_empty(), PROTO), (!self.folders.is_empty(), PROTO_PATH), (self.descriptors.is_some(), DESCRIPTORS_SETTING)];
        for (_, setting) in given.into_iter().filter(|(given, _)| *given && !is_grpc) {
            let help = format!("leave {setting} out");
            r.wrong(setting, format!("{setting} is about messages of gRPC, and the URL is not grpc:// or grpcs://"), help);
        }
        if is_grpc && !self.protos.is_empty() && self.descriptors.is_some() {
            r.wrong(DESCRIPTORS_SETTING, format!("{PROTO} and {DESCRIPTORS_SETTING} both describe the messages"), "keep one of them");
        }
        if is_grpc && self.protos.is_empty() && !self.folders.is_empty() {
            r.wrong(
                PROTO_PATH,
                format!("{PROTO_PATH} is where imports of .proto files begin, and there are none"),
                format!("name one with {PROTO}"),
            );
        }
    }
}

/// Complains of what has no place beside calls, of a method that is none, and of a message that is missing or given twice.
pub(crate) fn read_calls(
    r: &mut Reading,
    target: &Target,
    (given, braces): (&[(bool, SettingName)], Templating),
    messages: &[(bool, SettingName)],
) {
    for (_, setting) in given.iter().filter(|(given, _)| *given) {
        let help = if *setting == FORM { format!("give the message as JSON with {MESSAGE}") } else { format!("leave {setting} out") };
        r.wrong(*setting, format!("{setting} is about HTTP, and the URL is one of gRPC"), help);
    }
    let path = target.path_and_query();
    if braces == Templating::Template && path.contains("{{") {
        r.wrong("url", "the method of a call cannot be a template: its messages are looked up before the run", "write it out");
    } else if method_of(path).is_none() {
        let help = format!("write it behind the server, such as {}/package.Service/Method", target.origin());
        r.wrong("url", format!("the URL '{target}' names no method of a service"), help);
    }
    let messages: Vec<SettingName> = messages.iter().filter(|(given, _)| *given).map(|(_, setting)| *setting).collect();
    match messages[..] {
        // Two bodies are told as those of any other request.
        [_] | [DATA | JSON, _, ..] => {}
        [one, other, ..] => r.wrong(one, format!("{one} and {other} both give the message"), "keep one of them"),
        [] => {
            let help = format!("give one as JSON, such as {MESSAGE:#} '{{}}'");
            r.wrong(MESSAGE, "the URL is one of gRPC, and there is no message to send", help);
        }
    }
}

/// The service and the method that a path names.
#[must_use]
pub fn method_of(path: &str) -> Option<(&str, &str)> {
    let (service, method) = path.strip_prefix('/')?.split_once('/')?;
    let is_name = |name: &str| !name.is_empty() && !name.contains(['/', '?', '#']);
    (is_name(service) && is_name(method)).then_some((service, method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_service_and_a_method() {
        assert_eq!(method_of("/a.b.C/D"), Some(("a.b.C", "D")));
        for path in ["", "/", "/a.b.C", "/a.b.C/", "//D", "/a/b/c", "/a.b.C/D?x=1", "a.b.C/D"] {
            assert_eq!(method_of(path), None, "{path}");
        }
    }
}
