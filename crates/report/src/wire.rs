//! What is said of a run's way over the wire beside its bytes: answers that were packed, bodies that waited for the server's word, and TLS
//! sessions that were resumed.

use analysis::quantity::{self, bytes, count, counted};
use measure::{PackedAnswers, Summary};
use plan::{HttpVersion, Resumption};

/// How many answers were packed and with what, and what those stood for that were unpacked; `None` where nobody asked for such.
pub(crate) fn packed(run: &Summary) -> Option<String> {
    let packed = &run.packed;
    if !run.plan.compressed() {
        return None;
    }
    if packed.is_empty() {
        return Some("no answer".to_owned());
    }
    let each: Vec<String> =
        packed.by_packing().filter(|(_, answers)| *answers > 0).map(|(name, answers)| format!("{} {name}", count(answers))).collect();
    let unpacked = unpacked(packed).unwrap_or_else(|| "none was unpacked, since nothing looks into them".to_owned());
    Some(format!("{} ({}); {unpacked}", counted(packed.answers(), "answer"), each.join(", ")))
}

/// What bodies stood for that were unpacked; `None` where none was.
pub(crate) fn unpacked(packed: &PackedAnswers) -> Option<String> {
    let PackedAnswers { unpacked, bytes_packed, bytes_unpacked, .. } = packed;
    let times = *bytes_unpacked as f64 / (*bytes_packed).max(1) as f64;
    (*unpacked > 0).then(|| {
        format!(
            "{} unpacked from {} to {} ({} times)",
            if *unpacked == 1 { "1 body".to_owned() } else { format!("{} bodies", count(*unpacked)) },
            bytes(*bytes_packed as f64),
            bytes(*bytes_unpacked as f64),
            quantity::figure(times)
        )
    })
}

/// What came of bodies that waited; `None` where none did.
pub(crate) fn awaited(run: &Summary) -> Option<String> {
    let came = &run.awaited;
    if !run.plan.expects_continue() {
        return None;
    }
    let parts = [
        (came.continued, "bodies sent after 100 Continue"),
        (came.ran_out, "sent after 1 s without it"),
        (came.answered_first, "not sent, because the answer came first"),
    ];
    let said: Vec<String> = parts
        .iter()
        .enumerate()
        .filter(|(at, (count, _))| *at == 0 || *count > 0)
        .map(|(_, (number, what))| format!("{} {what}", count(*number)))
        .collect();
    Some(said.join(", "))
}

/// Whether connections have a handshake of TLS beside that of the connection: over QUIC they are one.
pub(crate) fn has_handshakes(run: &Summary) -> bool {
    run.plan.target().scheme().is_tls() && run.plan.connection().http != HttpVersion::V3
}

/// How many TLS handshakes resumed a session; `None` where none was to.
pub(crate) fn resumed(run: &Summary) -> Option<String> {
    let is_asked = run.plan.connection().tls.resumption == Resumption::On && !run.tls.is_empty();
    is_asked.then(|| format!("{} of {} resumed", count(run.connections.resumed), counted(run.tls.count(), "TLS handshake")))
}

/// The part of TLS handshakes that resumed a session; `None` where none was to.
pub(crate) fn resumed_share(run: &Summary) -> Option<f64> {
    resumed(run).map(|_| run.connections.resumed as f64 / run.tls.count() as f64)
}
