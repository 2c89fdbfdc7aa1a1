//! Why a request did not succeed: a closed list of classes, each naming the guilty side.
//!
//! A load tester that says "socket errors: 312" leaves its user to guess whether the server, the network, this
//! machine or the command line is to blame. So every way a request can end badly is one line of the table below,
//! with the side at fault, what it means, and what to do. The alternative, an error type with text, would
//! allocate on the request path and could not be added up over workers.
//!
//! Invariant: the list is closed. Every request that fell due ends as answered, as exactly one of these, or unsent.

use std::fmt;

use plan::Wording;
use plan::setting::{
    ALSO_TARGET, BEARER, CACERT, CERT, CONNECTIONS, FOLLOW, HEADER, HTTP, INSECURE, KEY, SNI, SOURCE_IP, STREAMS, TIMEOUT, TLS_VERSION,
};
use serde::{Deserialize, Serialize};

use crate::Example;

/// Who is to blame for a [`Failure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// The server broke the protocol, closed, stalled or answered with an error status.
    Server,
    /// Something between here and there: routes, name servers, packets lost.
    Network,
    /// This machine ran out of ports, files or time, so the figure says nothing about the server.
    ThisMachine,
    /// The server, or the scenario: what was expected of an answer is not in it, and nothing tells which of the two is wrong.
    ServerOrPlan,
    /// The plan asked for it: a certificate it does not trust, too few redirects allowed.
    Plan,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::Network => "network",
            Self::ThisMachine => "this machine",
            Self::ServerOrPlan => "server or plan",
            Self::Plan => "plan",
        })
    }
}

macro_rules! failures {
    ($($name:ident, $code:literal, $side:ident, $about:literal, $remedy:literal;)*) => {
        /// The class of a failed request. `Copy`, one byte, never formatted on the request path.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Failure {
            $(#[doc = $about] $name,)*
        }

        impl Failure {
            /// Every class, in the order of [`Failure::index`].
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The stable name of the class in JSON and reports, such as `connect.refused`.
            #[must_use]
            pub const fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// The guilty side.
            #[must_use]
            pub const fn side(self) -> Side {
                match self { $(Self::$name => Side::$side,)* }
            }

            /// What happened, in words that complete "97 requests: …".
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$name => $about,)* }
            }

            /// What the user can do about it.
            #[must_use]
            pub fn remedy(self) -> Wording {
                match self { $(Self::$name => format_args!($remedy).into(),)* }
            }
        }
    };
}

failures! {
    DnsNotFound, "dns.nxdomain", Plan, "the name does not exist", "check the host's spelling";
    DnsTimeout, "dns.timeout", Network, "the name server did not answer in time", "check this machine's resolver";
    DnsEmpty, "dns.empty", Network, "the name has no address", "check the name's A and AAAA records";
    DnsOther, "dns.other", Network, "the name could not be resolved", "check this machine's resolver";

    ConnectRefused, "connect.refused", Server, "connection refused", "nothing listens there any more: look whether the server still runs";
    ConnectTimeout, "connect.timeout", Network, "no connection within the connect timeout", "a firewall drops packets or the accept queue is full: look at the listener's backlog";
    ConnectUnreachable, "connect.unreachable", Network, "host or network unreachable", "check the route to the target";
    ConnectReset, "connect.reset", Server, "connection reset while connecting", "the listener's backlog overflows: raise it, or connect more slowly";
    ConnectLocalPorts, "connect.local_ports", ThisMachine, "this machine has no free port left", "give more {SOURCE_IP} addresses, or widen net.ipv4.ip_local_port_range";
    ConnectLocalFds, "connect.local_fds", ThisMachine, "this process may open no more files", "raise ulimit -n, or use fewer {CONNECTIONS}";
    ConnectProxy, "connect.proxy", Server, "the proxy did not open a tunnel", "check that the proxy allows CONNECT to this target";
    ConnectOther, "connect.other", Network, "the connection could not be opened", "the example holds the system's own words";

    TlsTimeout, "tls.timeout", Server, "no TLS handshake within the connect timeout", "the server is too busy for handshakes, or the port speaks no TLS";
    TlsCertExpired, "tls.cert_expired", Server, "the certificate is expired or not yet valid", "renew it, or measure all the same with {INSECURE}";
    TlsCertName, "tls.cert_name", Server, "the certificate is for another name", "give the right name with {SNI}, or {INSECURE}";
    TlsCertUntrusted, "tls.cert_untrusted", Plan, "the certificate's issuer is not trusted", "give the issuer with {CACERT}, or {INSECURE}";
    TlsAlpn, "tls.alpn", Server, "client and server agreed on no protocol (ALPN)", "check the server's ALPN settings, or which version {HTTP} asks for";
    TlsAlert, "tls.alert", Server, "the server ended the handshake with an alert", "the server may want a client certificate ({CERT}, {KEY}) or another {TLS_VERSION}";
    TlsEof, "tls.eof", Server, "the connection closed during the TLS handshake", "look at the server's TLS log";
    TlsProtocol, "tls.protocol", Server, "no valid TLS was spoken", "does this port speak plain HTTP? then use http://";

    SendReset, "send.reset", Server, "connection reset while sending", "the server dropped the request: look at its limits on bodies and headers";
    SendClosed, "send.closed", Server, "connection closed while sending", "the server dropped the request: look at its limits on bodies and headers";
    SendTimeout, "send.timeout", Server, "the server stopped reading the request", "its receive buffer stayed full until the timeout";

    RecvReset, "recv.reset", Server, "connection reset before the answer was complete", "the server or a proxy dropped the connection: look at its log at that time";
    RecvEofBeforeResponse, "recv.eof_before_response", Server, "closed before answering", "the server dropped the request: look at its log at that time";
    RecvEofInHead, "recv.eof_in_head", Server, "closed in the middle of the answer's head", "the server died or was cut off while answering";
    RecvEofInBody, "recv.eof_in_body", Server, "closed in the middle of the answer's body", "the server died while answering, or announced a wrong length";
    RecvIdleTimeout, "recv.idle_timeout", Server, "no answer within the timeout", "not a byte came: the server is overloaded or hangs";
    RecvTotalTimeout, "recv.total_timeout", Server, "the answer was not complete within the timeout", "it began, then took too long: a slow body, or a stall";

    ProtoStatusLine, "proto1.status_line", Server, "the answer does not start with a valid status line", "is this an HTTP/1 port?";
    ProtoHeader, "proto1.header", Server, "a malformed header", "the example holds the bytes";
    ProtoLength, "proto1.length", Server, "an invalid or contradicting Content-Length", "the example holds the bytes";
    ProtoTransferEncoding, "proto1.transfer_encoding", Server, "a faulty Transfer-Encoding", "the example holds the bytes";
    ProtoChunk, "proto1.chunk", Server, "a malformed chunk", "the example holds the bytes";
    ProtoExtraData, "proto1.extra_data", Server, "bytes after the end of the answer", "the announced length is wrong, or two answers were sent";
    ProtoVersion, "proto1.version", Server, "an HTTP version that is not 1.0 or 1.1", "is this an HTTP/2-only port? then give {HTTP} 2";
    ProtoSwitch, "proto1.switch", Server, "switched protocols though nobody asked", "the server answered 101 to a plain request";

    Http2NotSpoken, "http2.not_spoken", Plan, "the server does not speak HTTP/2 there", "leave {HTTP} out, or give the port at which it does";
    Http2Protocol, "http2.protocol", Server, "the server broke a rule of HTTP/2", "the example says which";
    Http2Refused, "http2.refused", Server, "not taken up by the server (GOAWAY or REFUSED_STREAM), nor when it was sent again", "look at its limits of streams and of requests a connection, or use fewer {STREAMS}";
    Http2Cancel, "http2.cancel", Server, "the server cancelled the stream (RST_STREAM: CANCEL)", "it or a proxy gave the request up: look at its log at that time";
    Http2Internal, "http2.internal_error", Server, "the server failed in the stream (RST_STREAM: INTERNAL_ERROR)", "look at its log at that time";
    Http2Calm, "http2.enhance_your_calm", Server, "the server finds the load too high (RST_STREAM: ENHANCE_YOUR_CALM)", "look at its limits against floods of requests";
    Http2Needs1, "http2.http_1_1_required", Server, "the server wants HTTP/1.1 for this request (RST_STREAM: HTTP_1_1_REQUIRED)", "measure it with {HTTP} 1.1";
    Http2Reset, "http2.reset", Server, "the server reset the stream (RST_STREAM)", "the example holds its code";

    Http3NotSpoken, "http3.not_spoken", Plan, "the server does not speak HTTP/3 there", "leave {HTTP} out, or give the port at which it does";
    Http3Protocol, "http3.protocol", Server, "the server broke a rule of HTTP/3 or QUIC", "the example says which";
    Http3Refused, "http3.refused", Server, "not taken up by the server (GOAWAY or H3_REQUEST_REJECTED), nor when it was sent again", "look at its limits of streams and of requests a connection, or use fewer {STREAMS}";
    Http3Cancel, "http3.cancel", Server, "the server cancelled the stream (H3_REQUEST_CANCELLED)", "it or a proxy gave the request up: look at its log at that time";
    Http3Internal, "http3.internal_error", Server, "the server failed in the stream (H3_INTERNAL_ERROR)", "look at its log at that time";
    Http3Calm, "http3.excessive_load", Server, "the server finds the load too high (H3_EXCESSIVE_LOAD)", "look at its limits against floods of requests";
    Http3Needs1, "http3.version_fallback", Server, "the server wants HTTP/1.1 for this request (H3_VERSION_FALLBACK)", "measure it with {HTTP} 1.1";
    Http3Reset, "http3.reset", Server, "the server reset the stream", "the example holds its code";
    Http3Closed, "http3.closed", Server, "the server closed the connection with an error", "the example holds its code and reason";
    Http3Silent, "http3.silent", Network, "the connection went silent, and was given up", "packets are lost on the way, or the server has gone: look at firewalls and at its log at that time";

    WebSocketRefused, "websocket.refused", Server, "the server did not switch to WebSocket", "the example is its answer: look at the path, and at what it wants of the handshake, such as an Origin or a cookie";
    WebSocketHandshake, "websocket.handshake", Server, "the WebSocket handshake broke off", "the example says how";
    WebSocketClosed, "websocket.closed", Server, "the server closed the WebSocket", "the example holds its code and reason";
    WebSocketProtocol, "websocket.protocol", Server, "the server broke a rule of WebSocket", "the example says which";

    GrpcCancelled, "grpc.cancelled", Server, "the call was cancelled (CANCELLED)", "the server or a proxy gave the call up: look at its log at that time";
    GrpcUnknown, "grpc.unknown", Server, "the server gave no kind of error (UNKNOWN)", "the example holds its words: look at its log at that time";
    GrpcInvalidArgument, "grpc.invalid_argument", ServerOrPlan, "the server does not take the message (INVALID_ARGUMENT)", "the example holds its words: look at the fields of the message";
    GrpcDeadlineExceeded, "grpc.deadline_exceeded", Server, "the server said that the deadline has passed (DEADLINE_EXCEEDED)", "it is overloaded or hangs; {TIMEOUT} is the deadline that it is told";
    GrpcNotFound, "grpc.not_found", ServerOrPlan, "the server does not have what the call names (NOT_FOUND)", "the example holds its words: look at the message";
    GrpcAlreadyExists, "grpc.already_exists", ServerOrPlan, "what the call is to make is there already (ALREADY_EXISTS)", "send messages that differ, such as with {{{{uuid}}}}";
    GrpcPermissionDenied, "grpc.permission_denied", ServerOrPlan, "the server does not allow the call (PERMISSION_DENIED)", "look at what it wants as metadata: {HEADER}";
    GrpcResourceExhausted, "grpc.resource_exhausted", Server, "a resource of the server is used up (RESOURCE_EXHAUSTED)", "the example holds its words: look at its limits of calls, sizes and memory";
    GrpcFailedPrecondition, "grpc.failed_precondition", ServerOrPlan, "the server is not in a state for the call (FAILED_PRECONDITION)", "the example holds its words: look at what has to come before";
    GrpcAborted, "grpc.aborted", Server, "the server broke the call off (ABORTED)", "calls at the same time are in each other's way: look at its log";
    GrpcOutOfRange, "grpc.out_of_range", ServerOrPlan, "the call asks for something beyond an end (OUT_OF_RANGE)", "the example holds its words: look at the message";
    GrpcUnimplemented, "grpc.unimplemented", ServerOrPlan, "the server does not have the method (UNIMPLEMENTED)", "look at the service and the method in the URL, and which version the server runs";
    GrpcInternal, "grpc.internal", Server, "the server failed (INTERNAL)", "look at its log at that time";
    GrpcUnavailable, "grpc.unavailable", Server, "the server is not available (UNAVAILABLE)", "it or a proxy takes no calls at present: the example holds its words";
    GrpcDataLoss, "grpc.data_loss", Server, "the server lost data (DATA_LOSS)", "look at its log at that time";
    GrpcUnauthenticated, "grpc.unauthenticated", ServerOrPlan, "the server does not know who calls (UNAUTHENTICATED)", "give what it wants as metadata, such as {BEARER}";
    GrpcNoStatus, "grpc.no_status", Server, "the answer ended without a grpc-status", "does the server, or a proxy before it, speak gRPC there, and pass trailers on?";
    GrpcProtocol, "grpc.protocol", Server, "the server broke a rule of gRPC", "the example says which";

    LimitHeadBytes, "limit.head_bytes", Server, "the answer's head is larger than 64 KiB", "the server sends too many or too long headers";
    LimitHeaderCount, "limit.header_count", Server, "the answer has more than 256 headers", "the server sends too many headers";
    LimitInterim, "limit.interim", Server, "more than 8 interim (1xx) answers", "the server floods with 1xx";
    LimitChunkExt, "limit.chunk_ext", Server, "more than 8 KiB of chunk extensions", "the server pads its chunks";
    LimitChunkOverhead, "limit.chunk_overhead", Server, "chunks so tiny that framing outweighs data", "the server writes byte by byte: buffer its output";
    LimitTrailers, "limit.trailers", Server, "more than 8 KiB of trailers", "the server sends too many trailers";

    RedirectLimit, "redirect.limit", Plan, "more redirects than --follow allows", "raise {FOLLOW}, or look for a redirect loop";
    RedirectTarget, "redirect.target", Server, "a redirect that cannot be followed", "its Location is missing, doubled, or not http(s)";

    RedirectOutside, "redirect.outside", Plan, "a redirect to a server that was not named", "allow that server with {ALSO_TARGET}, or leave {FOLLOW} out";

    CheckStatus, "check.status", Server, "an error status (400 or above)", "the answer says so itself: look at the example and the server's log";

    CheckFailed, "check.failed", Server, "an answer that did not pass a check", "the example says what was expected and what came";
    ExtractNothing, "extract.nothing", ServerOrPlan, "nothing to extract from the answer, so the journey ended there", "the server answered something else, or the scenario looks in the wrong place: the example holds the expression and the beginning of the answer";

    Script, "script.failed", ServerOrPlan, "an answer in which a script failed", "the example says at which line of the script, and why: the server answered something else, or the script is wrong";
    ScriptUnsent, "script.unsent", Plan, "not sent: a script before it failed, and the journey ended there", "the example says at which line of the script, and why";

    StaleReuse, "stale_reuse", Server, "closed a kept connection just as it was used again", "it ended just then, or its keep-alive timeout is shorter than the time between requests";

    RequestValue, "request.value", Plan, "not sent: a value cannot stand where it is used", "look at where it comes from, a row of data or an answer: a header takes no line break ({{{{base64 (NAME)}}}} writes any bytes), repeat takes a whole number, for_each a JSON array, an expression numbers, a pause a time";

    ClientInterrupted, "client.interrupted", Plan, "given up because the run was ended at once", "let the run end by itself, or interrupt it only once";
    ClientInternal, "client.internal", ThisMachine, "loadline failed internally", "please report this with the example";

    OtherTool, "other_tool", ServerOrPlan, "a failure of a kind that only the tool that measured it knows", "the example holds its words";
}

impl Failure {
    /// How many classes there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The class's place in [`Failure::ALL`], for arrays of counts.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The class of that name, if there is one.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|class| class.code() == code)
    }

    /// Whether the request was given up because its time was over. Such requests are recorded in the
    /// response-time histogram at the limit; other failures have no response time.
    #[must_use]
    pub const fn is_timeout(self) -> bool {
        matches!(self, Self::ConnectTimeout | Self::TlsTimeout | Self::SendTimeout | Self::RecvIdleTimeout | Self::RecvTotalTimeout)
    }

    /// Whether there was a whole answer, so that the request has all its times.
    #[must_use]
    pub const fn is_answered(self) -> bool {
        matches!(self, Self::CheckStatus | Self::CheckFailed | Self::ExtractNothing | Self::Script) || self.is_grpc_status()
    }

    /// Whether it is what a server of gRPC answered, or failed to: a status other than OK, or none.
    #[must_use]
    pub const fn is_grpc_status(self) -> bool {
        Self::GrpcCancelled as u8 <= self as u8 && self as u8 <= Self::GrpcNoStatus as u8
    }

    /// The class of a status of gRPC by its code; `None` for 0, which is success. Codes that nobody knows are UNKNOWN, as the standard
    /// says (<https://grpc.github.io/grpc/core/md_doc_statuscodes.html>).
    #[must_use]
    pub const fn of_grpc(code: u64) -> Option<Self> {
        Some(match code {
            0 => return None,
            1 => Self::GrpcCancelled,
            3 => Self::GrpcInvalidArgument,
            4 => Self::GrpcDeadlineExceeded,
            5 => Self::GrpcNotFound,
            6 => Self::GrpcAlreadyExists,
            7 => Self::GrpcPermissionDenied,
            8 => Self::GrpcResourceExhausted,
            9 => Self::GrpcFailedPrecondition,
            10 => Self::GrpcAborted,
            11 => Self::GrpcOutOfRange,
            12 => Self::GrpcUnimplemented,
            13 => Self::GrpcInternal,
            14 => Self::GrpcUnavailable,
            15 => Self::GrpcDataLoss,
            16 => Self::GrpcUnauthenticated,
            _ => Self::GrpcUnknown,
        })
    }

    /// Whether nothing was sent at all.
    #[must_use]
    pub fn is_unsent(self) -> bool {
        self.is_connect() || matches!(self, Self::RequestValue | Self::ScriptUnsent)
    }

    /// Whether no connection could be had, so that the next attempt has to wait (back-off).
    #[must_use]
    pub fn is_connect(self) -> bool {
        let code = self.code();
        matches!(self, Self::WebSocketRefused | Self::WebSocketHandshake)
            || code.starts_with("connect.")
            || code.starts_with("tls.")
            || code.starts_with("dns.")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl Serialize for Failure {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.code())
    }
}

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Self::from_code(&code).ok_or_else(|| serde::de::Error::custom(format!("unknown failure class '{code}'")))
    }
}

/// Failures of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCount {
    /// The class, such as `connect.refused`.
    pub class: Failure,
    /// The guilty side.
    pub side: Side,
    /// How many requests.
    pub count: u64,
    /// The first of them.
    pub example: Option<Example>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_found_by_its_code_and_codes_are_unique() {
        for (index, class) in Failure::ALL.iter().enumerate() {
            assert_eq!(class.index(), index);
            assert_eq!(Failure::from_code(class.code()), Some(*class), "{} is not unique", class.code());
        }
    }

    #[test]
    fn each_status_of_grpc_has_its_class() {
        let classes: Vec<Failure> = (1..=16).filter_map(Failure::of_grpc).collect();
        let of_grpc: Vec<Failure> = Failure::ALL.iter().copied().filter(|class| class.is_grpc_status()).collect();
        assert_eq!(classes, of_grpc[..16], "in the order of their codes");
        assert_eq!((Failure::of_grpc(0), Failure::of_grpc(17)), (None, Some(Failure::GrpcUnknown)));
        assert_eq!(of_grpc[16..], [Failure::GrpcNoStatus]);
        assert!(of_grpc.iter().all(|class| class.is_answered()) && !Failure::GrpcProtocol.is_answered());
    }

    #[test]
    fn every_class_says_what_happened_and_what_to_do() {
        for class in Failure::ALL {
            assert!(!class.about().is_empty() && !class.remedy().marked().is_empty(), "{class}");
            assert!(!class.about().ends_with('.') && !class.remedy().marked().ends_with('.'), "{class}: no full stop");
        }
    }
}
