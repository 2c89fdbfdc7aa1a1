//! Bodies of answers that stream, in any pieces: server-sent events, lines, messages of gRPC.
//!
//! The first byte says how the rest is cut, the second what it is. Whatever the bytes: no panic, and as many events, wherever they were cut.
#![no_main]

use engine::protocol::events::count;
use libfuzzer_sys::fuzz_target;

const TYPES: [&[u8]; 3] = [b"text/event-stream", b"application/x-ndjson", b"application/grpc"];

fuzz_target!(|bytes: &[u8]| {
    let [cut, shape, body @ ..] = bytes else { return };
    let content_type = TYPES[usize::from(*shape) % TYPES.len()];
    let path = (shape & 0x80 != 0).then(|| "$.choices[0].delta.content".parse().expect("it is a path"));
    let whole = count([body], content_type, path.as_ref());
    assert!(whole.is_some_and(|events| events <= body.len() as u64 + 1));
    for piece in [usize::from(*cut).max(1), 1] {
        assert_eq!(count(body.chunks(piece), content_type, path.as_ref()), whole, "cut into pieces of {piece}");
    }
});
