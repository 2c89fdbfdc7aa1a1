//! What servers do to clients: replies fair and foul, with the verdict each deserves.
//!
//! Kept as data, so that the reader, the simulated engine and real sockets are all tested with the same table. The
//! numbers are those of the project's list of hostile cases: 1 to 12 status lines, 13 to 28 headers, 29 to 39
//! Content-Length, 40 to 55 Transfer-Encoding and chunks, 56 to 64 replies without body, 65 to 78 the connection's
//! life. Cases that differ only in time, resets or sockets are not here: they have no bytes of their own.

use measure::{Failure, Quirk};

use super::ResponseFraming;

/// One thing a server may do.
#[derive(Debug, Clone)]
pub struct Case {
    /// Its place in the list of hostile cases; several may share one. 0: a fair reply.
    pub number: u8,
    /// What the server does.
    pub name: &'static str,
    /// What it was asked.
    pub framing: ResponseFraming,
    /// What it sends.
    pub sends: Vec<u8>,
    /// What it does then.
    pub then: Then,
    /// What has to come of it.
    pub expected: Expected,
}

/// What a server does once it has sent everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// Keeps the connection open and is silent.
    Waits,
    /// Closes its side.
    Closes,
}

/// The verdict on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Answered.
    Answered {
        /// The final status.
        status: u16,
        /// Bytes of content.
        body_bytes: u64,
        /// Whether the connection may be used again.
        reusable: bool,
        /// The quirks to be counted, in the order of [`Quirk::ALL`].
        quirks: &'static [Quirk],
    },
    /// Failed.
    Failed(Failure),
    /// Neither: a timeout has to end it.
    Unfinished,
}

/// The whole table.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut table = Vec::new();
    fair(&mut table);
    status_lines(&mut table);
    headers(&mut table);
    lengths(&mut table);
    codings(&mut table);
    chunks(&mut table);
    bodiless(&mut table);
    connections(&mut table);
    table
}

const KEPT: bool = true;
const CLOSED: bool = false;

fn answered(status: u16, body_bytes: u64, reusable: bool, quirks: &'static [Quirk]) -> Expected {
    Expected::Answered { status, body_bytes, reusable, quirks }
}

fn ok(body_bytes: u64) -> Expected {
    answered(200, body_bytes, KEPT, &[])
}

fn add(table: &mut Vec<Case>, number: u8, name: &'static str, sends: impl AsRef<[u8]>, expected: Expected) {
    let (framing, then, sends) = (ResponseFraming::Other, Then::Waits, sends.as_ref().to_vec());
    table.push(Case { number, name, framing, sends, then, expected });
}

fn add_closing(table: &mut Vec<Case>, number: u8, name: &'static str, sends: impl AsRef<[u8]>, expected: Expected) {
    let (framing, then, sends) = (ResponseFraming::Other, Then::Closes, sends.as_ref().to_vec());
    table.push(Case { number, name, framing, sends, then, expected });
}

fn add_framed(
    table: &mut Vec<Case>,
    number: u8,
    name: &'static str,
    framing: ResponseFraming,
    sends: impl AsRef<[u8]>,
    expected: Expected,
) {
    let (then, sends) = (Then::Waits, sends.as_ref().to_vec());
    table.push(Case { number, name, framing, sends, then, expected });
}

/// A reply with these header lines and a body of `body`.
fn with(lines: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{lines}\r\n\r\n{body}").into_bytes()
}

fn chunked(body: &str) -> Vec<u8> {
    with("Transfer-Encoding: chunked", body)
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn fair(table: &mut Vec<Case>) {
    add(table, 0, "a small reply", with("Server: x\r\nContent-Length: 5\r\nDate: today", "hello"), ok(5));
    add(table, 0, "an empty reply", with("Content-Length: 0", ""), ok(0));
    add(table, 0, "connection: close", with("Content-Length: 2\r\nConnection: close", "ab"), answered(200, 2, CLOSED, &[]));
    add(table, 0, "chunks", chunked("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), ok(11));
    add(table, 0, "chunks with trailers", chunked("1\r\na\r\n0\r\nX: y\r\nZ:\r\n\r\n"), ok(1));
    add_closing(table, 0, "a body that ends with the connection", with("Server: x", "hello"), answered(200, 5, CLOSED, &[]));
    add_closing(table, 0, "no header at all", "HTTP/1.1 200 OK\r\n\r\n", answered(200, 0, CLOSED, &[]));
    add(table, 0, "HTTP/1.0 closes", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", answered(200, 1, CLOSED, &[]));
    add(table, 0, "HTTP/1.0 keeps if it says so", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: Keep-Alive\r\n\r\na", ok(1));
    add_closing(table, 0, "HTTP/1.0 until close", "HTTP/1.0 200 OK\r\n\r\nabc", answered(200, 3, CLOSED, &[]));
    add(table, 0, "65 headers", with(&format!("Content-Length: 1\r\n{}A: b", "A: b\r\n".repeat(63)), "x"), ok(1));
    add(table, 0, "256 headers", with(&format!("Content-Length: 1\r\n{}A: b", "A: b\r\n".repeat(254)), "x"), ok(1));
    let mut largest = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX: ".to_vec();
    largest.resize(super::HEAD_BYTES_MAX - 4, b'x');
    add(table, 0, "the largest head allowed", joined(&[&largest, b"\r\n\r\ny"]), ok(1));
    add(
        table,
        22,
        "one byte more than the largest head allowed",
        joined(&[&largest, b"x\r\n\r\ny"]),
        Expected::Failed(Failure::LimitHeadBytes),
    );
    add(table, 0, "names in any case", with("cOnTeNt-LeNgTh: 3", "abc"), ok(3));
}

fn status_lines(table: &mut Vec<Case>) {
    use Expected::Failed;
    use Failure::{LimitHeadBytes, ProtoStatusLine, ProtoVersion, RecvEofBeforeResponse};
    add_closing(table, 1, "closes without a byte", "", Failed(RecvEofBeforeResponse));
    for (name, sends) in [
        ("garbage", "garbage"),
        ("HTTP/0.9", "<html>hello</html>"),
        ("SSH", "SSH-2.0-OpenSSH_9.9\r\n"),
        ("shoutcast", "ICY 200 OK\r\n\r\n"),
        ("lower case", "http/1.1 200 OK\r\n\r\n"),
        ("a cut protocol name", "HTT\r\n"),
        ("a space in the protocol name", "HTTP /1.1 200 OK\r\n\r\n"),
    ] {
        add(table, 2, name, sends, Failed(ProtoStatusLine));
    }
    add(table, 2, "TLS alert", b"\x15\x03\x01\x00\x02\x02\x46", Failed(ProtoStatusLine));
    for (name, sends) in [
        ("HTTP/2.0", "HTTP/2.0 200 OK\r\n\r\n"),
        ("HTTP/2", "HTTP/2 200\r\n\r\n"),
        ("HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("HTTP/2 settings", "\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64"),
        ("empty HTTP/2 settings", "\0\0\0\x04\0\0\0\0\0"),
    ] {
        add(table, 3, name, sends, Failed(ProtoVersion));
    }
    let digits = format!("HTTP/{} 200 OK\r\n\r\n", "1".repeat(100));
    for (name, sends) in [
        ("HTTP/1.10", "HTTP/1.10 200 OK\r\n\r\n"),
        ("HTTP/11.1", "HTTP/11.1 200 OK\r\n\r\n"),
        ("HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n"),
        ("HTTP/0.9 with a version", "HTTP/0.9 200 OK\r\n\r\n"),
        ("HTTP/1", "HTTP/1 200 OK\r\n\r\n"),
        ("HTTP/1.1.1", "HTTP/1.1.1 200 OK\r\n\r\n"),
        ("no version", "HTTP/\r\n"),
        ("a version of 100 digits", digits.as_str()),
    ] {
        add(table, 4, name, sends, Failed(ProtoVersion));
    }
    let digits = format!("HTTP/1.1 {} OK\r\n\r\n", "2".repeat(100));
    for (name, sends) in [
        ("status 0", "HTTP/1.1 0 OK\r\n\r\n"),
        ("status 000", "HTTP/1.1 000 OK\r\n\r\n"),
        ("status 99", "HTTP/1.1 99 OK\r\n\r\n"),
        ("status 099", "HTTP/1.1 099 OK\r\n\r\n"),
        ("status 1000", "HTTP/1.1 1000 OK\r\n\r\n"),
        ("status -1", "HTTP/1.1 -1 OK\r\n\r\n"),
        ("status 2", "HTTP/1.1 2 OK\r\n\r\n"),
        ("status 20x", "HTTP/1.1 20x OK\r\n\r\n"),
        ("status of 100 digits", digits.as_str()),
        ("no status", "HTTP/1.1\r\n\r\n"),
        ("no status after a space", "HTTP/1.1 \r\n\r\n"),
    ] {
        add(table, 5, name, sends, Failed(ProtoStatusLine));
    }
    for (status, head) in [(600, "HTTP/1.1 600 What"), (999, "HTTP/1.1 999"), (451, "HTTP/1.1 451 No")] {
        let sends = format!("{head}\r\nContent-Length: 1\r\n\r\nx");
        add(table, 6, "an unusual status", sends, answered(status, 1, KEPT, &[]));
    }
    for name in ["HTTP/1.1 200", "HTTP/1.1 200 "] {
        add(table, 7, "no reason", format!("{name}\r\nContent-Length: 1\r\n\r\nx"), ok(1));
    }
    for (name, sends) in [
        ("a tab after the version", "HTTP/1.1\t200 OK\r\n\r\n"),
        ("two spaces after the version", "HTTP/1.1  200 OK\r\n\r\n"),
        ("a tab after the status", "HTTP/1.1 200\tOK\r\n\r\n"),
    ] {
        add(table, 8, name, sends, Failed(ProtoStatusLine));
    }
    add(table, 8, "two spaces after the status", "HTTP/1.1 200  OK\r\nContent-Length: 0\r\n\r\n", ok(0));
    add(table, 9, "Latin-1 in the reason", b"HTTP/1.1 200 \xe9\xff\r\nContent-Length: 0\r\n\r\n", ok(0));
    add(table, 9, "escapes in the reason", b"HTTP/1.1 200 \x1b[2J\x07\r\nContent-Length: 0\r\n\r\n", ok(0));
    add(table, 9, "NUL in the reason", b"HTTP/1.1 200 O\0K\r\n", Failed(ProtoStatusLine));
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab";
    add(table, 10, "an empty line first", format!("\r\n{reply}"), answered(200, 2, KEPT, &[Quirk::LeadingBlankLine]));
    add(table, 10, "two empty lines first", format!("\r\n\r\n{reply}"), answered(200, 2, KEPT, &[Quirk::LeadingBlankLine]));
    add(table, 10, "three empty lines first", format!("\r\n\r\n\r\n{reply}"), Failed(ProtoStatusLine));
    add(table, 10, "an empty line of LF first", format!("\n{reply}"), answered(200, 2, KEPT, &[Quirk::LeadingBlankLine, Quirk::BareLf]));
    add(table, 10, "CR first", format!("\r{reply}"), Failed(ProtoStatusLine));
    add_closing(table, 10, "an empty line, then closes", "\r\n", Failed(RecvEofBeforeResponse));
    add(table, 11, "an endless reason", format!("HTTP/1.1 200 {}", "x".repeat(1 << 20)), Failed(LimitHeadBytes));
    add(table, 11, "an endless status", format!("HTTP/1.1 {}", "2".repeat(1 << 17)), Failed(ProtoStatusLine));
}

fn headers(table: &mut Vec<Case>) {
    use Expected::Failed;
    use Failure::{LimitHeadBytes, LimitHeaderCount, ProtoHeader, ProtoStatusLine, RecvEofInHead};
    const LF: &[Quirk] = &[Quirk::BareLf];
    for (name, sends) in [
        ("LF everywhere", "HTTP/1.1 200 OK\nContent-Length: 1\nA: b\n\nx"),
        ("LF after the status line", "HTTP/1.1 200 OK\nContent-Length: 1\r\nA: b\r\n\r\nx"),
        ("LF after a header", "HTTP/1.1 200 OK\r\nContent-Length: 1\nA: b\r\n\r\nx"),
        ("LF after the last header", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nA: b\n\r\nx"),
        ("LF as the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nA: b\r\n\nx"),
        ("LF after an empty value", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nA:\nB: c\r\n\r\nx"),
    ] {
        add(table, 13, name, sends, answered(200, 1, KEPT, LF));
    }
    add(table, 14, "CR in a value", with("A: b\rC: d", ""), Failed(ProtoHeader));
    add(table, 14, "CR between headers", "HTTP/1.1 200 OK\r\nA: b\rContent-Length: 1\r\n\r\n", Failed(ProtoHeader));
    add(table, 14, "CR after the status line", "HTTP/1.1 200 OK\rA: b\r\n", Failed(ProtoStatusLine));
    add(table, 14, "two CRs", "HTTP/1.1 200 OK\r\nA: b\r\r\n\r\n", Failed(ProtoHeader));
    const FOLD: &[Quirk] = &[Quirk::ObsFold];
    for (name, lines) in [
        ("a folded header", "A: b\r\n c\r\nContent-Length: 1"),
        ("a header folded twice", "A: b\r\n\tc\r\n  d\r\nContent-Length: 1"),
        ("a folded length", "Content-Length:\r\n 1"),
        ("a length with a fold of nothing", "Content-Length: 1\r\n \t"),
        ("an empty folded header", "Content-Length: 1\r\nA:\r\n "),
    ] {
        add(table, 15, name, with(lines, "x"), answered(200, 1, KEPT, FOLD));
    }
    add(table, 15, "a folded coding", with("Transfer-Encoding: gzip,\r\n chunked", "1\r\nx\r\n0\r\n\r\n"), answered(200, 1, KEPT, FOLD));
    add(table, 15, "a fold of LF", with("A: b\n c\r\nContent-Length: 1", "x"), answered(200, 1, KEPT, &[Quirk::BareLf, Quirk::ObsFold]));
    add(table, 15, "a length made of two lines", with("Content-Length: 1\r\n 2", "x"), Failed(Failure::ProtoLength));
    add(table, 16, "a space before the first header", with(" A: b\r\nContent-Length: 1", "x"), Failed(ProtoHeader));
    add(table, 17, "a line without colon", with("Content-Length: 1\r\nnonsense", "x"), Failed(ProtoHeader));
    add(table, 17, "a line of words without colon", with("not a header\r\nA: b", "x"), Failed(ProtoHeader));
    const SPACE: &[Quirk] = &[Quirk::SpaceBeforeColon];
    add(table, 18, "a space before the colon", with("Content-Length : 1", "x"), answered(200, 1, KEPT, SPACE));
    add(table, 18, "a tab before the colon", with("Content-Length\t : 1", "x"), answered(200, 1, KEPT, SPACE));
    add(table, 19, "an empty name", with(": b", ""), Failed(ProtoHeader));
    add(table, 19, "a name of spaces", with("A: b\r\nC D: e", ""), Failed(ProtoHeader));
    add(table, 19, "a name with a bracket", with("A(: b", ""), Failed(ProtoHeader));
    add(table, 19, "a name beyond ASCII", with("\u{e9}: b", ""), Failed(ProtoHeader));
    add(table, 20, "NUL in a value", with("A: b\0c", ""), Failed(ProtoHeader));
    add(table, 20, "NUL in a name", with("A\0: b", ""), Failed(ProtoHeader));
    add(table, 20, "NUL in a fold", with("A: b\r\n \0", ""), Failed(ProtoHeader));
    add(table, 20, "DEL in a value", with("A: b\x7fc", ""), Failed(ProtoHeader));
    add(table, 20, "an escape in a value", with("A: \x1b[2J", ""), Failed(ProtoHeader));
    add(table, 21, "bytes beyond ASCII in a value", b"HTTP/1.1 200 OK\r\nA: \x80\xff\r\nContent-Length: 0\r\n\r\n", ok(0));
    add(table, 22, "a header of 100 KB", with(&format!("A: {}", "b".repeat(100_000)), ""), Failed(LimitHeadBytes));
    add(table, 22, "a name of 100 KB", with(&"a".repeat(100_000), ""), Failed(LimitHeadBytes));
    add(table, 23, "10,000 headers", with(&"A: b\r\n".repeat(10_000), ""), Failed(LimitHeaderCount));
    add(table, 23, "257 headers", with(&format!("{}A: b", "A: b\r\n".repeat(256)), ""), Failed(LimitHeaderCount));
    add(table, 24, "headers that never end", "HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n", Expected::Unfinished);
    add(table, 24, "a status line that never ends", "HTTP/1.1 20", Expected::Unfinished);
    for (name, sends) in [
        ("closes after one byte", "H"),
        ("closes in the version", "HTTP/1."),
        ("closes in the status line", "HTTP/1.1 200 O"),
        ("closes after the status line", "HTTP/1.1 200 OK\r\n"),
        ("closes in a header", "HTTP/1.1 200 OK\r\nContent-Le"),
        ("closes before the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"),
        ("closes in the empty line", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r"),
    ] {
        add_closing(table, 25, name, sends, Failed(RecvEofInHead));
    }
    for (name, line) in [
        ("close and keep-alive", "Connection: close, keep-alive"),
        ("keep-alive and close", "Connection: keep-alive,close"),
        ("two Connection headers", "Connection: keep-alive\r\nConnection: CLOSE"),
        ("close among unknown options", "Connection: x, ,y ,  close\t"),
    ] {
        add(table, 26, name, with(&format!("{line}\r\nContent-Length: 0"), ""), answered(200, 0, CLOSED, &[]));
    }
    add(table, 26, "unknown options", with("Connection: closed, xclose\r\nContent-Length: 0", ""), ok(0));
    for value in ["timeout=0", "timeout=-1", "timeout=1000000000000000000000000000000", "max=0"] {
        add(table, 27, "an absurd Keep-Alive", with(&format!("Keep-Alive: {value}\r\nContent-Length: 0"), ""), ok(0));
    }
    add(table, 28, "markup in a value", with("A: <script>alert(1)</script>\r\nContent-Length: 0", ""), ok(0));
}

fn lengths(table: &mut Vec<Case>) {
    use Expected::Failed;
    use Failure::{ProtoExtraData, ProtoLength, RecvEofInBody};
    let length = |value: &str, body: &str| with(&format!("Content-Length: {value}"), body);
    add(table, 29, "a negative length", length("-1", ""), Failed(ProtoLength));
    for value in ["five", "+5", "0x5", "5 5", "", "5;", "5,", "5\u{b2}", "5.0"] {
        add(table, 30, "a length that is no number", length(value, "hello"), Failed(ProtoLength));
    }
    let digits = "9".repeat(100);
    for value in ["9223372036854775808", "18446744073709551615", "18446744073709551616", "18446744073709551621", &digits] {
        add(table, 31, "a length beyond 2^63", length(value, "hello"), Failed(ProtoLength));
    }
    add(table, 31, "the largest length", length("9223372036854775807", "hello"), Expected::Unfinished);
    add(table, 32, "two different lengths", length("5\r\nContent-Length: 6", "hello!"), Failed(ProtoLength));
    const REPEATED: &[Quirk] = &[Quirk::LengthRepeated];
    add(table, 33, "the same length twice on a line", length("6, 6", "hello!"), answered(200, 6, KEPT, REPEATED));
    add(table, 33, "the same length on two lines", length("6\r\ncontent-length: 6", "hello!"), answered(200, 6, KEPT, REPEATED));
    add(table, 33, "the same length, spelled twice", length("6, 06", "hello!"), answered(200, 6, KEPT, REPEATED));
    add(table, 34, "two lengths on a line", length("6, 7", "hello!"), Failed(ProtoLength));
    add(table, 35, "a length in spaces and tabs", length(" \t5\t ", "hello"), ok(5));
    add(table, 35, "a length without a space", with("Content-Length:5", "hello"), ok(5));
    add_closing(table, 36, "a body that is cut", length("10", "hello"), Failed(RecvEofInBody));
    add_closing(table, 36, "a body that never begins", length("10", ""), Failed(RecvEofInBody));
    add(table, 37, "a body that is too long", length("3", "hello"), Failed(ProtoExtraData));
    add(table, 37, "a body though its length is 0", length("0", "hello"), Failed(ProtoExtraData));
    add(table, 38, "a body of 10 GB that is under way", length("10000000000", "hello"), Expected::Unfinished);
}

fn codings(table: &mut Vec<Case>) {
    use Expected::Failed;
    use Failure::{ProtoChunk, ProtoLength, ProtoTransferEncoding};
    let coding = |value: &str, body: &str| with(&format!("Transfer-Encoding: {value}"), body);
    let body = "5\r\nhello\r\n0\r\n\r\n";
    const BOTH: &[Quirk] = &[Quirk::LengthAndChunked];
    add(table, 40, "chunked, then a length", coding("chunked\r\nContent-Length: 3", body), answered(200, 5, CLOSED, BOTH));
    add(
        table,
        40,
        "a length, then chunked",
        with("Content-Length: 123456\r\nTransfer-Encoding: chunked", body),
        answered(200, 5, CLOSED, BOTH),
    );
    add(table, 40, "chunked and a faulty length", coding("chunked\r\nContent-Length: x", body), Failed(ProtoLength));
    for value in ["identity", "gzip", "xchunked", "chunkedchunked", "chunked;a=b", "\"chunked\""] {
        add_closing(table, 41, "a coding that is not chunked", coding(value, "hello"), answered(200, 5, CLOSED, &[]));
    }
    add_closing(table, 41, "identity and a length", coding("identity\r\nContent-Length: 2", "hello"), answered(200, 5, CLOSED, BOTH));
    add(table, 41, "identity and an open connection", coding("identity", "hello"), Expected::Unfinished);
    add(table, 41, "an empty coding", coding("", body), Failed(ProtoTransferEncoding));
    add(table, 42, "chunked is not last", coding("chunked, gzip", body), Failed(ProtoTransferEncoding));
    add(table, 42, "chunked is not last, on two lines", coding("chunked\r\nTransfer-Encoding: gzip", body), Failed(ProtoTransferEncoding));
    add(table, 42, "chunked first and last", coding("chunked, gzip, chunked", body), Failed(ProtoTransferEncoding));
    const REPEATED: &[Quirk] = &[Quirk::ChunkedRepeated];
    add(table, 43, "chunked twice", coding("chunked, chunked", body), answered(200, 5, KEPT, REPEATED));
    add(table, 43, "chunked on two lines", coding("chunked\r\nTransfer-Encoding: chunked", body), answered(200, 5, KEPT, REPEATED));
    for value in ["CHUNKED", "Chunked", "chunked ", "\tchunked", "gzip, chunked", ", chunked"] {
        add(table, 44, "another spelling of chunked", coding(value, body), ok(5));
    }
    for value in ["chunked", "identity"] {
        let sends = format!("HTTP/1.0 200 OK\r\nTransfer-Encoding: {value}\r\n\r\n{body}");
        add(table, 45, "a coding in HTTP/1.0", sends, Failed(ProtoTransferEncoding));
    }
    add(table, 44, "a space in the size line of a chunk", coding("chunked", "5 \r\nhello\r\n0\t\r\n\r\n"), ok(5));
    add(table, 44, "a space before a size", coding("chunked", " 5\r\nhello\r\n0\r\n\r\n"), Failed(ProtoChunk));
}

fn chunks(table: &mut Vec<Case>) {
    use Expected::Failed;
    use Failure::{LimitChunkExt, LimitChunkOverhead, LimitTrailers, ProtoChunk, ProtoExtraData, ProtoHeader, RecvEofInBody};
    const LF: &[Quirk] = &[Quirk::ChunkBareLf];
    for size in ["FFFFFFFFFFFFFFFFF", "10000000000000000", "00000000000000005"] {
        add(table, 46, "a size of 17 digits", chunked(&format!("{size}\r\nhello")), Failed(ProtoChunk));
    }
    add(table, 46, "a size of 16 digits", chunked("0000000000000005\r\nhello\r\n0\r\n\r\n"), ok(5));
    add(table, 47, "the largest size", chunked("FFFFFFFFFFFFFFFF\r\nhello"), Expected::Unfinished);
    for (name, body) in [
        ("a negative size", "-5\r\nhello"),
        ("a size with 0x", "0x5\r\nhello"),
        ("an empty size", "\r\nhello"),
        ("an empty size line of LF", "\nhello"),
        ("a size of spaces", "  \r\nhello"),
        ("a size of letters", "g\r\nhello"),
        ("a size and something", "5 hello\r\n"),
        ("an extension without a size", ";a=b\r\nhello"),
        ("CR in a size line", "5\rx\nhello"),
    ] {
        add(table, 48, name, chunked(body), Failed(ProtoChunk));
    }
    add(table, 49, "no line end after the data", chunked("5\r\nhello0\r\n\r\n"), Failed(ProtoChunk));
    add(table, 49, "CR alone after the data", chunked("5\r\nhello\r0\r\n\r\n"), Failed(ProtoChunk));
    add(table, 49, "data longer than its size", chunked("5\r\nhello!\r\n0\r\n\r\n"), Failed(ProtoChunk));
    add(table, 49, "LF after the data", chunked("5\r\nhello\n0\r\n\r\n"), answered(200, 5, KEPT, LF));
    add(table, 49, "LF after the size", chunked("5\nhello\r\n0\r\n\r\n"), answered(200, 5, KEPT, LF));
    add(table, 49, "LF after an extension", chunked("5;a\nhello\r\n0\r\n\r\n"), answered(200, 5, KEPT, LF));
    add(table, 49, "LF after a trailer", chunked("5\r\nhello\r\n0\r\nA: b\n\r\n"), answered(200, 5, KEPT, LF));
    add(table, 49, "LF everywhere in chunks", chunked("5\nhello\n0\n\n"), answered(200, 5, KEPT, LF));
    for extension in [";a=b", ";a", ";", " ; a=\"b;c\"", ";a=\"unbalanced", ";;;", ";\u{e9}"] {
        add(table, 50, "an extension", chunked(&format!("5{extension}\r\nhello\r\n0{extension}\r\n\r\n")), ok(5));
    }
    add(table, 50, "CR in an extension", chunked("5;a\rb\r\nhello\r\n0\r\n\r\n"), Failed(ProtoChunk));
    add(table, 50, "an endless extension", chunked(&format!("5;{}", "a".repeat(100_000))), Failed(LimitChunkExt));
    add(table, 50, "endless spaces after a size", chunked(&format!("5{}", " ".repeat(100_000))), Failed(LimitChunkExt));
    let extended = format!("64;{}\r\n{}\r\n", "a".repeat(100), "x".repeat(100)).repeat(100);
    add(table, 50, "many extensions", chunked(&extended), Failed(LimitChunkExt));
    add(table, 51, "chunks of one byte", chunked(&"1\r\nx\r\n".repeat(20_000)), Failed(LimitChunkOverhead));
    add(table, 51, "a few chunks of one byte", chunked(&format!("{}0\r\n\r\n", "1\r\nx\r\n".repeat(2000))), ok(2000));
    add(table, 51, "chunks of two bytes", chunked(&format!("{}0\r\n\r\n", "2\r\nxy\r\n".repeat(20_000))), ok(40_000));
    add(table, 52, "no end of the trailers", chunked("5\r\nhello\r\n0\r\n"), Expected::Unfinished);
    add_closing(table, 52, "no end of the trailers, then closes", chunked("5\r\nhello\r\n0\r\n"), Failed(RecvEofInBody));
    add_closing(table, 53, "closes before the first chunk", chunked(""), Failed(RecvEofInBody));
    add_closing(table, 53, "closes in a size", chunked("5"), Failed(RecvEofInBody));
    add_closing(table, 53, "closes in a chunk", chunked("5\r\nhe"), Failed(RecvEofInBody));
    add_closing(table, 53, "closes before the last chunk", chunked("5\r\nhello\r\n"), Failed(RecvEofInBody));
    let last = |trailers: &str| chunked(&format!("5\r\nhello\r\n0\r\n{trailers}\r\n\r\n"));
    add(table, 54, "trailers that look like framing", last("Content-Length: 99\r\nTransfer-Encoding: gzip\r\nConnection: close"), ok(5));
    add(table, 54, "a folded trailer", last("A: b\r\n c"), answered(200, 5, KEPT, &[Quirk::ObsFold]));
    add(table, 54, "a trailer with a space before the colon", last("A : b"), answered(200, 5, KEPT, &[Quirk::SpaceBeforeColon]));
    add(table, 54, "NUL in a trailer", last("A: \0"), Failed(ProtoHeader));
    add(table, 54, "CR in a trailer", last("A: b\rC: d"), Failed(ProtoHeader));
    add(table, 54, "a trailer without colon", last("nonsense"), Failed(ProtoHeader));
    add(table, 54, "a trailer without name", last(": b"), Failed(ProtoHeader));
    add(table, 54, "a space before the first trailer", last(" A: b"), Failed(ProtoHeader));
    add(table, 54, "CR in the last line end", chunked("0\r\n\rX"), Failed(ProtoChunk));
    add(table, 54, "a huge trailer", last(&format!("A: {}", "b".repeat(100_000))), Failed(LimitTrailers));
    add(table, 54, "many trailers", last(&"A: b\r\n".repeat(10_000)), Failed(LimitTrailers));
    add(table, 55, "bytes after the last chunk", chunked("5\r\nhello\r\n0\r\n\r\nmore"), Failed(ProtoExtraData));
    const BLANK: &[Quirk] = &[Quirk::ExtraBlankLine];
    add(table, 55, "an empty line after the last chunk", chunked("5\r\nhello\r\n0\r\n\r\n\r\n"), answered(200, 5, KEPT, BLANK));
    add(table, 55, "an empty line after the body", with("Content-Length: 5", "hello\r\n"), answered(200, 5, KEPT, BLANK));
    add(table, 55, "LF after the body", with("Content-Length: 5", "hello\n"), answered(200, 5, KEPT, BLANK));
    add(table, 55, "two empty lines after the body", with("Content-Length: 5", "hello\r\n\r\n"), answered(200, 5, KEPT, BLANK));
    add(table, 55, "three empty lines after the body", with("Content-Length: 5", "hello\r\n\r\n\r\n"), Failed(ProtoExtraData));
}

fn bodiless(table: &mut Vec<Case>) {
    use Expected::Failed;
    use Failure::{LimitInterim, ProtoLength, ProtoStatusLine, ProtoSwitch, RecvEofBeforeResponse, RecvEofInHead};
    const BODY: &[Quirk] = &[Quirk::BodyUnexpected];
    let get = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    for number in [39, 56] {
        add_framed(table, number, "a length for HEAD", ResponseFraming::Head, get, ok(0));
    }
    add_framed(table, 56, "chunked for HEAD", ResponseFraming::Head, chunked(""), ok(0));
    add_framed(table, 56, "no framing for HEAD", ResponseFraming::Head, with("A: b", ""), ok(0));
    add_framed(table, 56, "a body for HEAD", ResponseFraming::Head, format!("{get}hello"), answered(200, 0, CLOSED, BODY));
    add_framed(table, 39, "a faulty length for HEAD", ResponseFraming::Head, with("Content-Length: x", ""), Failed(ProtoLength));
    for (status, head) in [(204, "HTTP/1.1 204 No Content"), (304, "HTTP/1.1 304 Not Modified")] {
        for line in ["A: b", "Content-Length: 5", "Transfer-Encoding: chunked"] {
            let reply = format!("{head}\r\n{line}\r\n\r\n");
            add(table, 57, "a reply that may not have a body", &reply, answered(status, 0, KEPT, &[]));
            let sends = format!("{reply}5\r\nhello\r\n0\r\n\r\n");
            add(table, 57, "a body that may not be", sends, answered(status, 0, CLOSED, BODY));
        }
    }
    const INTERIM: &[Quirk] = &[Quirk::Interim];
    let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let proceed = "HTTP/1.1 100 Continue\r\n\r\n";
    add(table, 58, "100, then 200", format!("{proceed}{get}hello"), answered(200, 5, KEPT, INTERIM));
    add(table, 58, "103, then 200", format!("{early}{get}hello"), answered(200, 5, KEPT, INTERIM));
    add(table, 58, "100, then 400", format!("{proceed}HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"), answered(400, 0, KEPT, INTERIM));
    add(table, 58, "100 and 103, then 200", format!("{proceed}{early}{get}hello"), answered(200, 5, KEPT, INTERIM));
    add(
        table,
        58,
        "an empty line between 100 and 200",
        format!("{proceed}\r\n{get}hello"),
        answered(200, 5, KEPT, &[Quirk::LeadingBlankLine, Quirk::Interim]),
    );
    add(table, 59, "eight interim replies", format!("{}{get}hello", early.repeat(8)), answered(200, 5, KEPT, INTERIM));
    add(table, 59, "nine interim replies", format!("{}{get}hello", early.repeat(9)), Failed(LimitInterim));
    add(table, 59, "a flood of interim replies", proceed.repeat(10_000), Failed(LimitInterim));
    add_closing(table, 60, "100, then closes", proceed, Failed(RecvEofBeforeResponse));
    add_closing(table, 60, "100, then closes in a head", format!("{proceed}HTTP/1.1 2"), Failed(RecvEofInHead));
    add(table, 60, "100, then nothing", proceed, Expected::Unfinished);
    add(table, 61, "100 with a body", format!("HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello{get}"), Failed(ProtoStatusLine));
    let switch = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
    add(table, 62, "101 to a plain request", switch, Failed(ProtoSwitch));
    add(table, 62, "101 and a tunnel's bytes", format!("{switch}\u{81}\0"), Failed(ProtoSwitch));
    add(table, 63, "205 with a body", "HTTP/1.1 205 Reset\r\nContent-Length: 5\r\n\r\nhello", answered(205, 5, KEPT, &[]));
    for line in ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Length: x", "A: b"] {
        let sends = format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n");
        add_framed(table, 63, "a tunnel", ResponseFraming::Connect, sends, answered(200, 0, CLOSED, &[]));
    }
    let refused = "HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nhello";
    add_framed(table, 63, "a tunnel that is refused", ResponseFraming::Connect, refused, answered(403, 5, KEPT, &[]));
    let doubled = "HTTP/1.1 302 Found\r\nLocation: /a\r\nLocation: file:///b\r\nContent-Length: 0\r\n\r\n";
    add(table, 64, "two Locations", doubled, answered(302, 0, KEPT, &[]));
}

fn connections(table: &mut Vec<Case>) {
    use Failure::ProtoExtraData;
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    add_closing(table, 66, "a whole reply, then closes", reply, ok(5));
    add_closing(
        table,
        68,
        "413, then closes",
        "HTTP/1.1 413 Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        answered(413, 0, CLOSED, &[]),
    );
    add(table, 70, "two replies", format!("{reply}{reply}"), Expected::Failed(ProtoExtraData));
    add(
        table,
        70,
        "two replies on a closing connection",
        "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.0",
        answered(200, 1, CLOSED, &[Quirk::ExtraData]),
    );
    add(
        table,
        70,
        "more than was announced on a closing connection",
        with("Content-Length: 5\r\nConnection: close", "hello, and more"),
        answered(200, 5, CLOSED, &[Quirk::ExtraData]),
    );
}
