//! Which form a profile has, by what it begins with: nobody should have to say.

use std::io::Read as _;

use flate2::read::MultiGzDecoder;

use crate::profile::{BYTES_MAX, Profile, ReadError};
use crate::{cpuprofile, folded, perf, pprof};

/// A form that profiles are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// pprof's protobuf: Go, and most that can write for it.
    Pprof,
    /// Stacks with semicolons between their frames, a line each: py-spy, and whatever flame graphs are made from.
    Folded,
    /// What `perf script` prints.
    Perf,
    /// A `.cpuprofile` of Node or a browser.
    Cpuprofile,
}

/// Reads a profile, packed with gzip or not. Of several kinds of values `kind` is read; without one, the usual.
///
/// # Errors
/// If it is too large, damaged, something else, or has no values of that kind.
pub fn read(bytes: &[u8], kind: Option<&str>) -> Result<Profile, ReadError> {
    let unpacked;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        unpacked = unpack(bytes)?;
        &unpacked
    } else {
        bytes
    };
    if bytes.len() > BYTES_MAX {
        return Err(TOO_LARGE);
    }
    let profile = match form(bytes)? {
        Form::Pprof => return pprof::read(bytes, kind),
        Form::Folded => folded::read(&text(bytes)?)?,
        Form::Perf => perf::read(&text(bytes)?, kind)?,
        Form::Cpuprofile => cpuprofile::read(&text(bytes)?)?,
    };
    match kind {
        Some(asked) if asked != profile.kind => Err(ReadError::NoSuchKind { asked: asked.to_owned(), known: profile.kind }),
        _ => Ok(profile),
    }
}

const TOO_LARGE: ReadError = ReadError::TooLarge("64 MB unpacked");

fn unpack(packed: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut unpacked = Vec::new();
    let most = BYTES_MAX as u64 + 1;
    match MultiGzDecoder::new(packed).take(most).read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() > BYTES_MAX => Err(TOO_LARGE),
        Ok(_) => Ok(unpacked),
        Err(why) => Err(ReadError::Damaged(format!("it does not unpack: {why}"))),
    }
}

fn text(bytes: &[u8]) -> Result<String, ReadError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| ReadError::Foreign("it is neither pprof's nor text".to_owned()))
}

fn form(bytes: &[u8]) -> Result<Form, ReadError> {
    let foreign = |why: &str| Err(ReadError::Foreign(why.to_owned()));
    let Some(first) = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) else { return foreign("it is empty") };
    if bytes.starts_with(b"PERFILE2") {
        return foreign("it is what perf record writes; give what perf script -i makes of it");
    }
    // Words of the machine: 0, the 3 that follow, version 0, the period and a pad of 0.
    if is_of_gperftools(bytes) {
        return foreign("it is what gperftools' profiler writes; give what go tool pprof -proto PROGRAM FILE makes of it");
    }
    if *first == b'{' && std::str::from_utf8(bytes).is_ok() {
        return Ok(Form::Cpuprofile);
    }
    if *first == b'<' {
        return foreign("it is a page or a picture; give the profile itself");
    }
    // A name in a text may hold anything but a NUL.
    if pprof::is_one(bytes) || bytes.contains(&0) {
        return Ok(Form::Pprof);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Form::Pprof) };
    if text.starts_with("goroutine profile:") || text.starts_with("heap profile:") || text.starts_with("--- ") {
        return foreign("it is a profile printed for people; fetch it without ?debug=");
    }
    if perf::is_one(text) { Ok(Form::Perf) } else { Ok(Form::Folded) }
}

/// Whether it begins as gperftools' own form does, with words of either length and order.
fn is_of_gperftools(bytes: &[u8]) -> bool {
    let words = |length: usize| {
        let word = move |at: usize| bytes.get(at * length..(at + 1) * length);
        let is = move |at: usize, value: u8| {
            word(at).is_some_and(|word| {
                let (first, last) = (word[0], word[length - 1]);
                word.iter().filter(|byte| **byte != 0).count() <= 1 && (first == value || last == value) && first.max(last) == value
            })
        };
        is(0, 0) && is(1, 3) && is(2, 0) && is(4, 0)
    };
    words(8) || words(4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_form_is_told_by_its_beginning() {
        for (bytes, wanted) in [
            (&b"main;work 3\n"[..], Form::Folded),
            (b"{\"nodes\": []}", Form::Cpuprofile),
            (b"  {\"nodes\": []}", Form::Cpuprofile),
            (b"app  812  12.5: 10 cpu-clock:\n\t 55d0 work+0x1 (/app)\n\n", Form::Perf),
            (b"main;\x1b[2J 3\n", Form::Folded),
            (b"\x0a\x04\x08\x01\x10\x02", Form::Pprof),
        ] {
            assert_eq!(form(bytes).unwrap(), wanted, "{}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(read(&packed(b"a;b 2\n"), None).unwrap().total(), 2);
    }

    #[test]
    fn what_is_no_profile_is_told_as_what_it_is() {
        for (bytes, said) in [
            (&b""[..], "empty"),
            (b" \n", "empty"),
            (b"PERFILE2\x00\x01", "perf script"),
            (b"<html>not found</html>", "page"),
            (b"goroutine profile: total 7\n", "debug"),
            (b"\x1f\x8b\x08nonsense", "unpack"),
            (b"just some words", "no profile"),
            (b"{\"schema\": \"loadline.run/1\"}", "no profile"),
            (b"\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\x27\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01", "gperftools"),
            (b"\x7fELF\x02\x01\x01\x00\x00\x00", "damaged"),
        ] {
            let error = read(bytes, None).expect_err(&String::from_utf8_lossy(bytes)).to_string();
            assert!(error.contains(said), "{}: {error}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_packed_file_that_unpacks_without_end_is_refused() {
        let bomb = packed(&vec![b'a'; BYTES_MAX + 1]);
        assert!(bomb.len() < 1 << 20);
        assert_eq!(read(&bomb, None).unwrap_err().to_string(), "it has more than 64 MB unpacked, which is more than is read of a profile");
    }

    #[test]
    fn a_kind_that_is_not_there_is_told_with_what_is() {
        let error = read(b"a;b 3", Some("heap")).unwrap_err();
        assert_eq!(error.to_string(), "it has no values of 'heap', but of samples");
    }

    proptest! {
        #[test]
        fn no_bytes_make_reading_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), form in 0..3usize) {
            let head: &[u8] = [&b""[..], b"\x0a\x04\x08\x01\x10\x02", b"{\"nodes\":"][form];
            let _ = read(&[head, &bytes].concat(), None);
        }
    }
}
