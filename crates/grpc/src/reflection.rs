//! What a server says of its own messages: the conversation of `grpc.reflection`, without I/O
//! (<https://github.com/grpc/grpc/blob/master/doc/server-reflection.md>).
//!
//! One call asks for the file of a service; where files of its imports do not come with it, as some servers answer, further calls ask for
//! those by name. Both versions of the service have the same messages, of which only those fields are declared here that are used.

use std::collections::BTreeMap;

use prost::Message;
use prost_reflect::prost_types::{FileDescriptorProto, FileDescriptorSet};

use crate::framing::{next, put};

/// The methods that are asked, the newer one first.
pub const METHODS: [&str; 2] =
    ["/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"];

/// More files than this describe no service.
const FILES_MAX: usize = 10_000;

/// The code of NOT_FOUND.
const NOT_FOUND: i32 = 5;

#[derive(Clone, PartialEq, Message)]
struct Request {
    #[prost(string, tag = "1")]
    host: String,
    #[prost(string, optional, tag = "3")]
    file_by_filename: Option<String>,
    #[prost(string, optional, tag = "4")]
    file_containing_symbol: Option<String>,
    #[prost(string, optional, tag = "7")]
    list_services: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Response {
    #[prost(message, optional, tag = "4")]
    files: Option<Files>,
    #[prost(message, optional, tag = "6")]
    services: Option<Services>,
    #[prost(message, optional, tag = "7")]
    error: Option<ErrorSaid>,
}

#[derive(Clone, PartialEq, Message)]
struct Files {
    #[prost(bytes = "vec", repeated, tag = "1")]
    descriptors: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Services {
    #[prost(message, repeated, tag = "1")]
    all: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct ErrorSaid {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
}

/// The descriptors of a service, as far as they are known.
#[derive(Debug)]
pub struct Gathering {
    service: String,
    files: BTreeMap<String, FileDescriptorProto>,
    /// The services that the server has, where it does not have that one.
    services: Option<Vec<String>>,
    is_missing: bool,
    has_begun: bool,
}

/// What a server's answers came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gathered {
    /// A `FileDescriptorSet` with the service and all that it needs.
    Set(Vec<u8>),
    /// The server does not have the service, but these.
    Others(Vec<String>),
}

impl Gathering {
    /// Of a service by its whole name.
    #[must_use]
    pub fn of(service: &str) -> Self {
        Self { service: service.to_owned(), files: BTreeMap::new(), services: None, is_missing: false, has_begun: false }
    }

    /// The content of the next call; `None` when all is known.
    #[must_use]
    pub fn asks(&self) -> Option<Vec<u8>> {
        let requests: Vec<Request> = if !self.has_begun {
            vec![Request { file_containing_symbol: Some(self.service.clone()), ..Request::default() }]
        } else if self.is_missing && self.services.is_none() {
            vec![Request { list_services: Some(String::new()), ..Request::default() }]
        } else {
            let by_name = |name: &String| Request { file_by_filename: Some(name.clone()), ..Request::default() };
            self.missing().map(by_name).collect()
        };
        let mut content = Vec::new();
        requests.iter().for_each(|request| put(request, false, &mut content));
        (!content.is_empty()).then_some(content)
    }

    /// Files that others import and that have not come.
    fn missing(&self) -> impl Iterator<Item = &String> {
        let imported = self.files.values().flat_map(|file| &file.dependency);
        let mut missing: Vec<&String> = imported.filter(|name| !self.files.contains_key(*name)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.into_iter()
    }

    /// Takes the content of the answer.
    ///
    /// # Errors
    /// If it is none, or says that the server failed, in words.
    pub fn take(&mut self, mut content: &[u8]) -> Result<(), String> {
        let (known, asked_for_service) = (self.files.len(), !self.has_begun);
        self.has_begun = true;
        let mut came = false;
        while let Some((is_packed, message, rest)) = next(content)? {
            if is_packed {
                return Err("it packs its answer, which was not asked for".to_owned());
            }
            let response = Response::decode(message).map_err(|why| format!("its answer is none of reflection: {why}"))?;
            if let Some(ErrorSaid { code, message }) = response.error {
                if !(asked_for_service && code == NOT_FOUND) {
                    return Err(format!("{message} (code {code})"));
                }
                (self.is_missing, came) = (true, true);
            }
            if let Some(services) = response.services {
                self.services = Some(services.all.into_iter().map(|service| service.name).collect());
                came = true;
            }
            for bytes in response.files.into_iter().flat_map(|files| files.descriptors) {
                let file =
                    FileDescriptorProto::decode(&bytes[..]).map_err(|why| format!("what it says of a file is no description: {why}"))?;
                self.files.insert(file.name().to_owned(), file);
            }
            content = rest;
        }
        if self.files.len() > FILES_MAX {
            return Err(format!("it describes more than {FILES_MAX} files"));
        }
        if !came && self.files.len() == known {
            return Err("it does not answer what it was asked".to_owned());
        }
        Ok(())
    }

    /// What has come, when nothing more is to be asked.
    #[must_use]
    pub fn finish(self) -> Gathered {
        match self.services {
            Some(services) => Gathered::Others(services),
            None => Gathered::Set(FileDescriptorSet { file: self.files.into_values().collect() }.encode_to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Descriptors, compile};

    fn answer(responses: &[Response]) -> Vec<u8> {
        let mut content = Vec::new();
        responses.iter().for_each(|response| put(response, false, &mut content));
        content
    }

    fn asked(gathering: &Gathering) -> Vec<Request> {
        let mut content = gathering.asks().unwrap_or_default();
        let mut requests = Vec::new();
        while let Some((_, message, rest)) = next(&content).unwrap() {
            requests.push(Request::decode(message).unwrap());
            content = rest.to_vec();
        }
        requests
    }

    /// Two files, the second of which the first imports.
    fn files() -> Vec<FileDescriptorProto> {
        let read = |path: &str| match path {
            "a.proto" => Ok(b"syntax = \"proto3\"; package a; import \"b.proto\"; service S { rpc M(b.B) returns (b.B); }".to_vec()),
            "b.proto" => Ok(b"syntax = \"proto3\"; package b; message B { string name = 1; }".to_vec()),
            _ => Err("none".to_owned()),
        };
        let set = compile(&["a.proto".to_owned()], &[], read).unwrap();
        FileDescriptorSet::decode(&set[..]).unwrap().file
    }

    fn of_files(files: &[FileDescriptorProto]) -> Response {
        let descriptors = files.iter().map(Message::encode_to_vec).collect();
        Response { files: Some(Files { descriptors }), ..Response::default() }
    }

    #[test]
    fn files_that_do_not_come_by_themselves_are_asked_for() {
        let all = files();
        let (of_service, imported): (Vec<_>, Vec<_>) = all.into_iter().partition(|file| file.name() == "a.proto");
        let mut gathering = Gathering::of("a.S");
        assert_eq!(asked(&gathering)[0].file_containing_symbol.as_deref(), Some("a.S"));
        gathering.take(&answer(&[of_files(&of_service)])).unwrap();
        assert_eq!(asked(&gathering)[0].file_by_filename.as_deref(), Some("b.proto"));
        gathering.take(&answer(&[of_files(&imported)])).unwrap();
        assert_eq!(gathering.asks(), None);
        let Gathered::Set(set) = gathering.finish() else { panic!("a set") };
        assert!(Descriptors::read(&set).unwrap().method("a.S", "M").is_ok());
    }

    #[test]
    fn a_service_that_is_not_there_is_told_with_those_that_are() {
        let error = |code| Response { error: Some(ErrorSaid { code, message: "no".to_owned() }), ..Response::default() };
        let mut gathering = Gathering::of("a.T");
        gathering.take(&answer(&[error(NOT_FOUND)])).unwrap();
        assert!(asked(&gathering)[0].list_services.is_some());
        let services = Services { all: vec![Service { name: "a.S".to_owned() }] };
        gathering.take(&answer(&[Response { services: Some(services), ..Response::default() }])).unwrap();
        assert_eq!((gathering.asks(), gathering.finish()), (None, Gathered::Others(vec!["a.S".to_owned()])));
        assert_eq!(Gathering::of("a.T").take(&answer(&[error(13)])), Err("no (code 13)".to_owned()));
    }

    #[test]
    fn answers_that_are_none_end_it() {
        for (content, why) in [
            (&b""[..], "it does not answer what it was asked"),
            (b"\0\0\0\0\x01\xff", "its answer is none of reflection"),
            (b"\x01\0\0\0\0", "it packs its answer"),
            (b"\0\0\0\0\x09", "the answer ends in the middle of a message"),
            (b"\0\0\0\0\x05\x22\x03\x0a\x01\xff", "what it says of a file is no description"),
        ] {
            let told = Gathering::of("a.S").take(content).unwrap_err();
            assert!(told.starts_with(why), "{told}");
        }
    }
}
