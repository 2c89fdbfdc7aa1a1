//! Why a sample failed, as one of loadline's classes, and the exception by which JMeter tells of each of these.
//!
//! JMeter names the class of a Java exception in the place of the status, and the words of the exception beside it. Each names a
//! side to look at, so reports of both tools speak of the same things. Matching words alone was rejected: they are those of the system
//! that ran JMeter, in its language; the class decides where it can.
//!
//! Invariant: what is not known is [`Failure::OtherTool`], with its own words as the example.

use measure::{Failure, Status};

use crate::sample::Sample;

/// What stands before the class of an exception (`HTTPSamplerBase.NON_HTTP_RESPONSE_CODE`).
const EXCEPTION: &str = "Non HTTP response code";
/// What stands before its words.
const WORDS: &str = "Non HTTP response message: ";

/// The status of the answer, if the sample has one.
pub(crate) fn status(sample: &Sample<'_>) -> Option<u16> {
    sample.response_code.trim().parse().ok().filter(|status| (100..1000).contains(status))
}

/// Why it failed; `None` if it succeeded.
pub(crate) fn failure(sample: &Sample<'_>) -> Option<Failure> {
    if sample.success {
        return None;
    }
    Some(match (status(sample), sample.response_code.trim().strip_prefix(EXCEPTION)) {
        (Some(status), _) if !Status(status).is_success() => Failure::CheckStatus,
        (Some(_), _) => Failure::CheckFailed,
        (None, Some(class)) => of_exception(class.rsplit(['.', ' ', ':']).next().unwrap_or_default(), &sample.response_message),
        (None, None) if !sample.failure_message.is_empty() => Failure::CheckFailed,
        (None, None) => Failure::OtherTool,
    })
}

/// What it looked like, in words.
pub(crate) fn said(sample: &Sample<'_>) -> String {
    let code = sample.response_code.trim();
    let what = match (sample.failure_message.trim(), code.strip_prefix(EXCEPTION)) {
        ("", Some(class)) => format!("{}: {}", class.trim_start_matches([':', ' ']), words(&sample.response_message)),
        ("", None) => format!("{code} {}", sample.response_message),
        (message, _) => message.to_owned(),
    };
    // As long as any example is.
    format!("{}: {}", sample.label, what.trim()).chars().take(1_000).collect()
}

fn words(message: &str) -> &str {
    message.strip_prefix(WORDS).unwrap_or(message)
}

fn of_exception(class: &str, message: &str) -> Failure {
    let message = words(message).to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match class {
        "UnknownHostException" => Failure::DnsNotFound,
        "ConnectTimeoutException" => Failure::ConnectTimeout,
        "SocketTimeoutException" if says(&["connect"]) => Failure::ConnectTimeout,
        "SocketTimeoutException" => Failure::RecvIdleTimeout,
        "BindException" => Failure::ConnectLocalPorts,
        "NoRouteToHostException" | "ConnectException" | "HttpHostConnectException" | "SocketException"
            if says(&["cannot assign requested address", "address already in use"]) =>
        {
            Failure::ConnectLocalPorts
        }
        "NoRouteToHostException" | "PortUnreachableException" => Failure::ConnectUnreachable,
        "ConnectException" | "HttpHostConnectException" if says(&["timed out", "timeout"]) => Failure::ConnectTimeout,
        "ConnectException" | "HttpHostConnectException" if says(&["unreachable", "no route"]) => Failure::ConnectUnreachable,
        "ConnectException" | "HttpHostConnectException" if says(&["refused"]) => Failure::ConnectRefused,
        "ConnectException" | "HttpHostConnectException" => Failure::ConnectOther,
        "NoHttpResponseException" => Failure::RecvEofBeforeResponse,
        "ConnectionClosedException" | "TruncatedChunkException" | "EOFException" => Failure::RecvEofInBody,
        "MalformedChunkCodingException" => Failure::ProtoChunk,
        "SocketException" if says(&["too many open files"]) => Failure::ConnectLocalFds,
        "SocketException" if says(&["unreachable"]) => Failure::ConnectUnreachable,
        "SocketException" if says(&["broken pipe"]) => Failure::SendClosed,
        "SocketException" if says(&["unexpected end of file"]) => Failure::RecvEofBeforeResponse,
        // By JMeter itself, as it ended.
        "SocketException" if says(&["socket closed", "socket is closed"]) => Failure::ClientInterrupted,
        "SocketException" if says(&["reset", "abort"]) => Failure::RecvReset,
        "InterruptedIOException" | "InterruptedException" | "RequestAbortedException" => Failure::ClientInterrupted,
        "CircularRedirectException" | "RedirectException" => Failure::RedirectLimit,
        "ScriptException" => Failure::ScriptUnsent,
        "URISyntaxException" | "MalformedURLException" | "IllegalArgumentException" => Failure::RequestValue,
        "SSLPeerUnverifiedException" | "CertificateException" => Failure::TlsCertName,
        "SSLHandshakeException" | "SSLException" | "SSLProtocolException" => of_tls(says),
        _ => Failure::OtherTool,
    }
}

fn of_tls(says: impl Fn(&[&str]) -> bool) -> Failure {
    if says(&["pkix", "certification path", "trust anchor", "self signed", "self-signed"]) {
        Failure::TlsCertUntrusted
    } else if says(&["expired", "notafter", "not yet valid"]) {
        Failure::TlsCertExpired
    } else if says(&["no subject alternative", "doesn't match", "no name matching"]) {
        Failure::TlsCertName
    } else if says(&["fatal alert"]) {
        Failure::TlsAlert
    } else if says(&["closed connection during handshake", "terminated the handshake", "during handshake"]) {
        Failure::TlsEof
    } else if says(&["connection reset", "connection was aborted"]) {
        Failure::RecvReset
    } else {
        Failure::TlsProtocol
    }
}

/// What stands in the place of the status where there is no answer.
#[must_use]
pub fn response_code(failure: Failure) -> String {
    format!("{EXCEPTION}: {}", exception(failure))
}

/// What stands beside it.
#[must_use]
pub fn response_message(failure: Failure) -> String {
    format!("{WORDS}{}", failure.about())
}

/// The exception by which JMeter's HTTP samplers tell of such a failure.
const fn exception(failure: Failure) -> &'static str {
    use Failure as F;
    match failure {
        F::DnsNotFound | F::DnsTimeout | F::DnsEmpty | F::DnsOther => "java.net.UnknownHostException",
        F::ConnectTimeout => "org.apache.http.conn.ConnectTimeoutException",
        F::ConnectRefused | F::ConnectReset | F::ConnectProxy | F::ConnectOther => "org.apache.http.conn.HttpHostConnectException",
        F::ConnectUnreachable => "java.net.NoRouteToHostException",
        F::ConnectLocalPorts => "java.net.BindException",
        F::ConnectLocalFds | F::SendReset | F::RecvReset => "java.net.SocketException",
        F::TlsTimeout | F::SendTimeout | F::RecvIdleTimeout | F::RecvTotalTimeout => "java.net.SocketTimeoutException",
        F::TlsCertExpired | F::TlsCertName | F::TlsCertUntrusted | F::TlsAlpn | F::TlsAlert | F::TlsEof | F::TlsProtocol => {
            "javax.net.ssl.SSLException"
        }
        F::SendClosed | F::RecvEofBeforeResponse | F::RecvEofInHead | F::StaleReuse => "org.apache.http.NoHttpResponseException",
        F::RecvEofInBody => "org.apache.http.ConnectionClosedException",
        F::ProtoStatusLine
        | F::ProtoHeader
        | F::ProtoLength
        | F::ProtoTransferEncoding
        | F::ProtoChunk
        | F::ProtoExtraData
        | F::ProtoVersion
        | F::ProtoSwitch
        | F::LimitHeadBytes
        | F::LimitHeaderCount
        | F::LimitInterim
        | F::LimitChunkExt
        | F::LimitChunkOverhead
        | F::LimitTrailers
        | F::Http2NotSpoken
        | F::Http2Protocol
        | F::Http2Refused
        | F::Http2Cancel
        | F::Http2Internal
        | F::Http2Calm
        | F::Http2Needs1
        | F::Http2Reset
        | F::Http3NotSpoken
        | F::Http3Protocol
        | F::Http3Refused
        | F::Http3Cancel
        | F::Http3Internal
        | F::Http3Calm
        | F::Http3Needs1
        | F::Http3Reset
        | F::Http3Closed
        | F::Http3Silent
        | F::WebSocketRefused
        | F::WebSocketHandshake
        | F::WebSocketClosed
        | F::WebSocketProtocol
        | F::GrpcCancelled
        | F::GrpcUnknown
        | F::GrpcInvalidArgument
        | F::GrpcDeadlineExceeded
        | F::GrpcNotFound
        | F::GrpcAlreadyExists
        | F::GrpcPermissionDenied
        | F::GrpcResourceExhausted
        | F::GrpcFailedPrecondition
        | F::GrpcAborted
        | F::GrpcOutOfRange
        | F::GrpcUnimplemented
        | F::GrpcInternal
        | F::GrpcUnavailable
        | F::GrpcDataLoss
        | F::GrpcUnauthenticated
        | F::GrpcNoStatus
        | F::GrpcProtocol => "org.apache.http.client.ClientProtocolException",
        F::RedirectTarget => "java.net.MalformedURLException",
        F::RequestValue => "java.lang.IllegalArgumentException",
        F::ClientInterrupted => "java.io.InterruptedIOException",
        F::ScriptUnsent => "javax.script.ScriptException",
        F::RedirectLimit
        | F::RedirectOutside
        | F::CheckStatus
        | F::CheckFailed
        | F::ExtractNothing
        | F::Script
        | F::ClientInternal
        | F::OtherTool => "java.io.IOException",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_of_java_are_classes_of_ours() {
        for (class, message, expected) in [
            ("java.net.UnknownHostException", "shop.test: Name or service not known", Failure::DnsNotFound),
            ("java.net.SocketTimeoutException", "Read timed out", Failure::RecvIdleTimeout),
            ("java.net.SocketTimeoutException", "connect timed out", Failure::ConnectTimeout),
            (
                "org.apache.http.conn.ConnectTimeoutException",
                "Connect to shop.test:443 [shop.test/192.0.2.7] failed: Connect timed out",
                Failure::ConnectTimeout,
            ),
            (
                "org.apache.http.conn.HttpHostConnectException",
                "Connect to localhost:9 [localhost/127.0.0.1] failed: Connection refused (Connection refused)",
                Failure::ConnectRefused,
            ),
            ("java.net.ConnectException", "Connection refused", Failure::ConnectRefused),
            ("java.net.ConnectException", "Connection timed out", Failure::ConnectTimeout),
            ("java.net.NoRouteToHostException", "Cannot assign requested address (Address not available)", Failure::ConnectLocalPorts),
            ("java.net.NoRouteToHostException", "No route to host", Failure::ConnectUnreachable),
            ("java.net.BindException", "Address already in use: connect", Failure::ConnectLocalPorts),
            ("java.net.SocketException", "Connection reset", Failure::RecvReset),
            ("java.net.SocketException", "Broken pipe (Write failed)", Failure::SendClosed),
            ("java.net.SocketException", "Socket closed", Failure::ClientInterrupted),
            ("org.apache.http.NoHttpResponseException", "shop.test:443 failed to respond", Failure::RecvEofBeforeResponse),
            (
                "javax.net.ssl.SSLHandshakeException",
                "PKIX path building failed: unable to find valid certification path",
                Failure::TlsCertUntrusted,
            ),
            ("javax.net.ssl.SSLHandshakeException", "Received fatal alert: handshake_failure", Failure::TlsAlert),
            ("javax.net.ssl.SSLHandshakeException", "Remote host terminated the handshake", Failure::TlsEof),
            ("javax.net.ssl.SSLException", "Unsupported or unrecognized SSL message", Failure::TlsProtocol),
            ("java.lang.IllegalStateException", "anything", Failure::OtherTool),
        ] {
            let sample = Sample {
                response_code: format!("Non HTTP response code: {class}").into(),
                response_message: format!("Non HTTP response message: {message}").into(),
                label: "home".into(),
                ..Sample::default()
            };
            assert_eq!((failure(&sample), status(&sample)), (Some(expected), None), "{class}: {message}");
            assert_eq!(said(&sample), format!("home: {class}: {message}"));
        }
    }

    #[test]
    fn a_status_decides_unless_an_assertion_did() {
        let sample = |code: &'static str, success: bool, message: &'static str| Sample {
            response_code: code.into(),
            success,
            failure_message: message.into(),
            ..Sample::default()
        };
        let of = |code, success, message| failure(&sample(code, success, message));
        assert_eq!(of("503", false, ""), Some(Failure::CheckStatus));
        assert_eq!(of("404", true, ""), None, "whoever set JMeter up wanted it so");
        assert_eq!(of("200", false, "Test failed: text expected"), Some(Failure::CheckFailed));
        assert_eq!(of("", false, "no row"), Some(Failure::CheckFailed));
        assert_eq!((of("", false, ""), of("OK", true, "")), (Some(Failure::OtherTool), None));
        assert_eq!((status(&sample("200", true, "")), status(&sample("7", true, ""))), (Some(200), None));
    }

    #[test]
    fn what_is_written_reads_back_as_what_it_is_told_for() {
        let read = |failure: Failure| {
            let (code, message) = (response_code(failure), response_message(failure));
            super::failure(&Sample { response_code: code.into(), response_message: message.into(), ..Sample::default() })
        };
        for failure in [
            Failure::DnsNotFound,
            Failure::ConnectTimeout,
            Failure::ConnectRefused,
            Failure::ConnectUnreachable,
            Failure::ConnectLocalPorts,
            Failure::RecvIdleTimeout,
            Failure::RecvReset,
            Failure::RecvEofBeforeResponse,
            Failure::RecvEofInBody,
            Failure::RequestValue,
            Failure::ScriptUnsent,
            Failure::ClientInterrupted,
        ] {
            assert_eq!(read(failure), Some(failure), "{}", response_message(failure));
        }
    }
}
