//! How messages are packed on their way to a server.

use crate::Mistake;

/// Whether messages go packed with gzip, as the metadata of a call say (`grpc-encoding`).
///
/// # Errors
/// If they say that they are packed otherwise.
pub fn packs<'a>(metadata: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<bool, Mistake> {
    match metadata.into_iter().find(|(name, _)| name.eq_ignore_ascii_case("grpc-encoding")) {
        None | Some((_, "identity")) => Ok(false),
        Some((_, "gzip")) => Ok(true),
        Some((_, other)) => Err(Mistake::new(
            format!("grpc-encoding is '{}', and messages are packed with gzip or not at all", other.escape_debug()),
            "write grpc-encoding: gzip",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_say_how_messages_are_packed() {
        assert_eq!(packs([("x-team", "gzip")]), Ok(false));
        assert_eq!(packs([("Grpc-Encoding", "gzip")]), Ok(true));
        assert_eq!(packs([("grpc-encoding", "identity")]), Ok(false));
        assert!(packs([("grpc-encoding", "snappy")]).unwrap_err().message.contains("'snappy'"));
    }
}
