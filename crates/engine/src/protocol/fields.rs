//! Fields of requests and answers as HTTP/2 and HTTP/3 have them (RFC 9113 §8.2 and §8.3, RFC 9114 §4.2 and §4.3): what is asked for taken out,
//! the rules held, the rest kept for who looks.

use measure::Failure;
use plan::Target;

use super::EncodedRef;
use super::http1::fields::offers_http3;
use super::http1::{HEAD_BYTES_MAX, HEADERS_MAX};
use super::http2::Call;

/// Headers of HTTP/1.1 that speak of its connection, and have no place in HTTP/2 and HTTP/3 (RFC 9113 §8.2.2, RFC 9114 §4.2). `Host` is `:authority` there.
const OF_A_CONNECTION: [&str; 6] = ["connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// Whether a header says that the body is in chunks.
pub(super) fn is_chunked(name: &str, value: &[u8]) -> bool {
    let last = value.rsplit(|byte| *byte == b',').next().unwrap_or_default();
    name.eq_ignore_ascii_case("transfer-encoding") && last.trim_ascii().eq_ignore_ascii_case(b"chunked")
}

/// Shows the fields of a request to this server. A header line that is none is left out, as a server could not read it either.
pub(super) fn of_request(request: EncodedRef<'_>, to: &Target, mut field: impl FnMut(&str, &[u8])) {
    field(":method", request.method().as_bytes());
    let headers = || request.header_lines().flatten().map(|(name, value)| (name, value.trim_ascii()));
    if request.method() == "CONNECT" {
        field(":authority", request.target().as_bytes());
    } else {
        field(":scheme", to.scheme().of_http().as_bytes());
        match headers().find(|(name, _)| name.eq_ignore_ascii_case("host")) {
            Some((_, host)) => field(":authority", host),
            None => field(":authority", to.authority().as_bytes()),
        }
        field(":path", request.path().unwrap_or_else(|| request.target()).as_bytes());
    }
    for (name, value) in headers() {
        let is_te = name.eq_ignore_ascii_case("te") && !value.eq_ignore_ascii_case(b"trailers");
        let is_of_a_connection = OF_A_CONNECTION.iter().any(|of_it| name.eq_ignore_ascii_case(of_it));
        if !name.is_empty() && !is_te && !is_of_a_connection {
            field(name, value);
        }
    }
}

/// Headers, for who looks.
#[derive(Default)]
pub(super) struct Fields {
    /// Names and values, one behind the other.
    bytes: Vec<u8>,
    lengths: Vec<(u32, u32)>,
}

impl Fields {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
    }

    fn push(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.lengths.push((name.len() as u32, value.len() as u32));
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Names and values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut rest = &self.bytes[..];
        self.lengths.iter().map(move |(name, value)| {
            let (name, after) = rest.split_at(*name as usize);
            let (value, after) = after.split_at(*value as usize);
            rest = after;
            (name, value)
        })
    }
}

/// A head as it is read.
#[derive(Default)]
pub(super) struct Head<'a> {
    /// 0 if it has none.
    pub(super) status: u16,
    pub(super) length: Option<u64>,
    /// Whether it says that the server speaks HTTP/3 too.
    pub(super) offers_http3: bool,
    is_behind_status: bool,
    count: usize,
    bytes: usize,
    /// Where its fields are kept, if somebody looks.
    kept: Option<&'a mut Fields>,
    /// Of a call, which its fields say more of.
    call: Option<&'a mut Call>,
    /// The first thing that breaks a rule.
    pub(super) wrong: Option<(Failure, &'static str)>,
}

impl<'a> Head<'a> {
    /// One that begins, whose fields are kept there; of a call, if it is.
    pub(super) fn of(kept: Option<&'a mut Fields>, call: Option<&'a mut Call>) -> Self {
        Self { kept, call, ..Self::default() }
    }

    /// Takes the next field.
    pub(super) fn field(&mut self, name: &[u8], value: &[u8]) {
        self.count += 1;
        self.bytes += name.len() + value.len();
        if self.bytes > HEAD_BYTES_MAX {
            self.wrong.get_or_insert((Failure::LimitHeadBytes, "a head larger than 64 KiB"));
        } else if self.count > HEADERS_MAX {
            self.wrong.get_or_insert((Failure::LimitHeaderCount, "more than 256 headers"));
        } else if let Some(wrong) = self.judge(name, value) {
            self.wrong.get_or_insert(wrong);
        } else {
            self.keep(name, value);
        }
    }

    fn keep(&mut self, name: &[u8], value: &[u8]) {
        if let Some(call) = &mut self.call {
            call.field(name, value);
        }
        if let Some(fields) = self.kept.as_mut().filter(|_| self.wrong.is_none() && name[0] != b':') {
            fields.push(name, value);
        }
    }

    /// Takes what is asked for out of a field; says what is wrong with it (RFC 9113 §8.2 and §8.3).
    fn judge(&mut self, name: &[u8], value: &[u8]) -> Option<(Failure, &'static str)> {
        if name.first() == Some(&b':') {
            let status = if let [hundreds @ b'1'..=b'9', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = *value {
                u16::from(hundreds - b'0') * 100 + u16::from(tens - b'0') * 10 + u16::from(ones - b'0')
            } else {
                0
            };
            if name != b":status" || self.status != 0 || self.is_behind_status || status == 0 {
                return Some((Failure::ProtoStatusLine, "a head with a wrong, doubled or late status"));
            }
            self.status = status;
            return None;
        }
        self.is_behind_status = true;
        let is_token = |byte: &u8| matches!(byte, b'!'..=b'~') && !byte.is_ascii_uppercase() && *byte != b':';
        let is_value = |byte: &u8| !matches!(byte, 0 | b'\r' | b'\n');
        if name.is_empty() || !name.iter().all(is_token) || !value.iter().all(is_value) {
            return Some((Failure::ProtoHeader, "a malformed header"));
        }
        if OF_A_CONNECTION.iter().any(|of_it| *of_it != "host" && of_it.as_bytes() == name) {
            return Some((Failure::ProtoHeader, "a header of a connection, which only HTTP/1 has"));
        }
        if name == b"alt-svc" {
            self.offers_http3 |= offers_http3(value);
        }
        if name == b"content-length" {
            let length = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            match length.and_then(|text| text.parse().ok()) {
                Some(length) if self.length.is_none_or(|before| before == length) => self.length = Some(length),
                _ => return Some((Failure::ProtoLength, "an invalid or contradicting content-length")),
            }
        }
        None
    }
}
