//! Descriptions of messages, and the methods that send them.

use std::io::Read as _;

use flate2::bufread::GzDecoder;
use plan::Contents;
use plan::setting::PROTO;
use prost_reflect::{DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor, SerializeOptions};
use serde_json::{Deserializer, Serializer, Value};

use crate::framing::{next, put};
use crate::names::instead_of;
use crate::{Mistake, fit};

/// What a packed message may become, in bytes.
const UNPACKED_BYTES_MAX: u64 = 64 << 20;

static READ: DeserializeOptions = DeserializeOptions::new();

/// With fields that have the value that stands for none, so that a check finds them.
static WRITTEN: SerializeOptions = SerializeOptions::new().skip_default_fields(false);

/// As they were given.
static GIVEN: SerializeOptions = SerializeOptions::new();

/// What services, methods and messages are like.
#[derive(Debug, Clone)]
pub struct Descriptors(DescriptorPool);

impl Descriptors {
    /// Of a `FileDescriptorSet`.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn read(set: &[u8]) -> Result<Self, String> {
        DescriptorPool::decode(set).map(Self).map_err(|why| format!("{why:?}"))
    }

    /// Of a plan's contents.
    ///
    /// # Errors
    /// If there are none, or what there is cannot be used.
    pub fn of(contents: &Contents) -> Result<Self, Mistake> {
        let again = || format!("name what describes them with {PROTO}");
        let Some(set) = contents.get(plan::DESCRIPTORS) else {
            return Err(Mistake::new("what describes the messages has not been read", again()));
        };
        Self::read(set).map_err(|why| Mistake::new(format!("what describes the messages cannot be used: {why}"), again()))
    }

    /// The method that a path of a request names.
    ///
    /// # Errors
    /// If it names none, or none that there is.
    pub fn method_at(&self, path: &str) -> Result<Method, Mistake> {
        let Some((service, method)) = plan::method_of(path) else {
            return Err(Mistake::new(format!("'{}' names no method", path.escape_debug()), "write /package.Service/Method"));
        };
        self.method(service, method)
    }

    /// The method of a service, both by their whole names.
    ///
    /// # Errors
    /// If there is none, with those that there are.
    pub fn method(&self, service: &str, method: &str) -> Result<Method, Mistake> {
        let Some(found) = self.0.get_service_by_name(service) else {
            let names: Vec<String> = self.0.services().map(|service| service.full_name().to_owned()).collect();
            let help = instead_of(service, names.iter().map(String::as_str));
            return Err(Mistake::new(format!("there is no service '{}'", service.escape_debug()), help));
        };
        let Some(found) = found.methods().find(|known| known.name() == method) else {
            let names: Vec<String> = found.methods().map(|method| method.name().to_owned()).collect();
            let help = instead_of(method, names.iter().map(String::as_str));
            return Err(Mistake::new(format!("the service {service} has no method '{}'", method.escape_debug()), help));
        };
        Ok(Method {
            input: found.input(),
            output: found.output(),
            sends_several: found.is_client_streaming(),
            answers_several: found.is_server_streaming(),
            packs: false,
        })
    }
}

/// A method: what it is sent and what it answers with.
#[derive(Debug, Clone)]
pub struct Method {
    input: MessageDescriptor,
    output: MessageDescriptor,
    sends_several: bool,
    answers_several: bool,
    packs: bool,
}

impl Method {
    /// The same with messages that are packed on their way to the server as the metadata of its calls say (`grpc-encoding`).
    ///
    /// # Errors
    /// If they name another way than gzip.
    pub fn packed_as<'a>(self, metadata: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Mistake> {
        match metadata.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("grpc-encoding")) {
            None | Some((_, "identity")) => Ok(self),
            Some((_, "gzip")) => Ok(Self { packs: true, ..self }),
            Some((_, other)) => Err(Mistake::new(
                format!("grpc-encoding is '{}', and messages are packed with gzip or not at all", other.escape_debug()),
                "write grpc-encoding: gzip",
            )),
        }
    }

    /// Whether its answer is any number of messages.
    #[must_use]
    pub const fn answers_several(&self) -> bool {
        self.answers_several
    }

    /// Puts a message behind `out` as it stands in a request; of a method that takes several, each of a list.
    ///
    /// # Errors
    /// If the JSON does not fit, with every place. What stands behind `out` then is of no use.
    pub fn encode(&self, json: &[u8], out: &mut Vec<u8>) -> Result<(), Vec<Mistake>> {
        let begins_list = || json.trim_ascii_start().starts_with(b"[");
        if self.sends_several && begins_list() {
            let list: Vec<Value> = serde_json::from_slice(json).map_err(|why| vec![not_json(&why)])?;
            return list.iter().try_for_each(|value| self.put(value, out).map_err(|_| fit::mistakes(&self.input, true, json)));
        }
        let mut reading = Deserializer::from_slice(json);
        let wrong = |_| fit::mistakes(&self.input, false, json);
        self.put(&mut reading, out).map_err(wrong)?;
        reading.end().map_err(wrong)
    }

    fn put<'de, D: serde::Deserializer<'de>>(&self, json: D, out: &mut Vec<u8>) -> Result<(), D::Error> {
        let message = DynamicMessage::deserialize_with_options(self.input.clone(), json, &READ)?;
        put(&message, self.packs, out);
        Ok(())
    }

    /// The JSON of an answer's content: its message, or a list of them where a method answers with several.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub fn answer(&self, content: &[u8]) -> Result<Vec<u8>, String> {
        json_of(&self.output, self.answers_several, &WRITTEN, content)
    }

    /// The same of what was sent, without fields that nobody gave a value.
    ///
    /// # Errors
    /// As [`Method::answer`].
    pub fn request(&self, content: &[u8]) -> Result<Vec<u8>, String> {
        json_of(&self.input, self.sends_several, &GIVEN, content)
    }
}

fn json_of(descriptor: &MessageDescriptor, are_several: bool, options: &SerializeOptions, mut content: &[u8]) -> Result<Vec<u8>, String> {
    let mut json = Vec::new();
    let mut count = 0;
    while let Some((packed, bytes, rest)) = next(content)? {
        json.push(if count == 0 { b'[' } else { b',' });
        let unpacked = if packed { Some(unpacked(bytes)?) } else { None };
        let message = DynamicMessage::decode(descriptor.clone(), unpacked.as_deref().unwrap_or(bytes))
            .map_err(|why| format!("the message is no {}: {why}", descriptor.full_name()))?;
        message.serialize_with_options(&mut Serializer::new(&mut json), options).map_err(|why| why.to_string())?;
        (count, content) = (count + 1, rest);
    }
    match count {
        _ if are_several => {
            if count == 0 {
                json.push(b'[');
            }
            json.push(b']');
            Ok(json)
        }
        1 => Ok(json.split_off(1)),
        0 => Err("the answer has no message".to_owned()),
        more => Err(format!("the answer has {more} messages, and the method answers with one")),
    }
}

fn unpacked(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes)
        .take(UNPACKED_BYTES_MAX + 1)
        .read_to_end(&mut unpacked)
        .map_err(|why| format!("a message in gzip is none: {why}"))?;
    if unpacked.len() as u64 > UNPACKED_BYTES_MAX { Err("a packed message of more than 64 MiB".to_owned()) } else { Ok(unpacked) }
}

fn not_json(why: &serde_json::Error) -> Mistake {
    Mistake::new(format!("the message is not JSON: {why}"), "put it right")
}

#[cfg(test)]
mod tests;
