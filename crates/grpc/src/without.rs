//! The same words in a program that was built without gRPC: each says so.

use crate::Mistake;

const SAID: &str = "this loadline was built without gRPC";

fn mistake() -> Mistake {
    Mistake::new(SAID, "build it with the feature grpc, which it has by default")
}

/// As with gRPC.
///
/// # Errors
/// Always.
pub fn compile(
    _protos: &[String],
    _folders: &[String],
    _read: impl Fn(&str) -> Result<Vec<u8>, String> + 'static,
) -> Result<Vec<u8>, Vec<Mistake>> {
    Err(vec![mistake()])
}

/// As with gRPC: none.
#[must_use]
pub const fn known(_service: &str) -> Option<Vec<u8>> {
    None
}

/// There are none.
#[derive(Debug, Clone)]
pub enum Descriptors {}

impl Descriptors {
    /// As with gRPC.
    ///
    /// # Errors
    /// Always.
    pub fn read(_set: &[u8]) -> Result<Self, String> {
        Err(SAID.to_owned())
    }

    /// As with gRPC.
    ///
    /// # Errors
    /// Always.
    pub fn of(_contents: &plan::Contents) -> Result<Self, Mistake> {
        Err(mistake())
    }

    /// As with gRPC.
    ///
    /// # Errors
    /// Never: there are none.
    pub fn method_at(&self, _path: &str) -> Result<Method, Mistake> {
        match *self {}
    }

    /// As with gRPC.
    ///
    /// # Errors
    /// Never: there are none.
    pub fn method(&self, _service: &str, _method: &str) -> Result<Method, Mistake> {
        match *self {}
    }
}

/// There are none.
#[derive(Debug, Clone)]
pub enum Method {}

impl Method {
    /// As with gRPC.
    ///
    /// # Errors
    /// Never: there are none.
    pub fn packed_as<'a>(self, _metadata: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, Mistake> {
        match self {}
    }

    /// As with gRPC.
    #[must_use]
    pub const fn answers_several(&self) -> bool {
        match *self {}
    }

    /// As with gRPC.
    ///
    /// # Errors
    /// Never: there are none.
    pub fn encode(&self, _json: &[u8], _out: &mut Vec<u8>) -> Result<(), Vec<Mistake>> {
        match *self {}
    }

    /// As with gRPC.
    ///
    /// # Errors
    /// Never: there are none.
    pub fn answer(&self, _content: &[u8]) -> Result<Vec<u8>, String> {
        match *self {}
    }

    /// As with gRPC.
    ///
    /// # Errors
    /// Never: there are none.
    pub fn request(&self, _content: &[u8]) -> Result<Vec<u8>, String> {
        match *self {}
    }
}

/// The same of what a server says of its messages.
pub mod reflection {
    /// None is asked.
    pub const METHODS: [&str; 0] = [];

    /// Nothing is gathered.
    #[derive(Debug)]
    pub struct Gathering(());

    /// What it would come to.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum Gathered {
        /// As with gRPC.
        Set(Vec<u8>),
        /// As with gRPC.
        Others(Vec<String>),
    }

    impl Gathering {
        /// As with gRPC.
        #[must_use]
        pub const fn of(_service: &str) -> Self {
            Self(())
        }

        /// Nothing.
        #[must_use]
        pub const fn asks(&self) -> Option<Vec<u8>> {
            None
        }

        /// As with gRPC.
        ///
        /// # Errors
        /// Always.
        pub fn take(&mut self, _content: &[u8]) -> Result<(), String> {
            Err(super::SAID.to_owned())
        }

        /// Nothing.
        #[must_use]
        pub const fn finish(self) -> Gathered {
            Gathered::Set(Vec::new())
        }
    }
}
