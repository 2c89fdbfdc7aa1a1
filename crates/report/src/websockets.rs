//! What came over WebSocket without being asked for, in a sentence.

use analysis::quantity::{count, counted};
use measure::{Summary, Unasked};

/// Messages, pings and closes that nobody waited for; `None` where there were none.
pub(crate) fn unasked(run: &Summary) -> Option<String> {
    let Unasked { messages, pings, closes } = &run.websockets.as_deref()?.unasked;
    let mut said = Vec::new();
    if *messages > 0 {
        said.push(format!("{} that answered none of ours", counted(*messages, "message")));
    }
    if *pings > 0 {
        said.push(format!("{}, answered", counted(*pings, "ping")));
    }
    let closed: Vec<String> = closes.iter().map(|(code, closes)| format!("{} with {}", count(*closes), close_of(*code))).collect();
    if !closed.is_empty() {
        said.push(format!("closes by the server: {}", closed.join(", ")));
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// The code of a close, and its name (RFC 6455 §7.4.1 and those registered since).
fn close_of(code: u16) -> String {
    let name = match code {
        1000 => "normal",
        1001 => "going away",
        1002 => "protocol error",
        1003 => "unsupported data",
        1005 => return "no code".to_owned(),
        1007 => "invalid data",
        1008 => "policy violation",
        1009 => "message too big",
        1010 => "extension missing",
        1011 => "internal error",
        1012 => "service restart",
        1013 => "try again later",
        1014 => "bad gateway",
        _ => return code.to_string(),
    };
    format!("{code} ({name})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn what_came_unasked_is_told_with_codes_by_name() {
        let (_, mut run) = fixtures::summaries().remove(0);
        let mut told = |unasked: Unasked| {
            run.edit_for_test().websockets.get_or_insert_default().unasked = unasked;
            super::unasked(&run)
        };
        assert_eq!(told(Unasked::default()), None);
        let closes = [(1005, 1), (1013, 2_000), (4000, 3)].into_iter().collect();
        assert_eq!(
            told(Unasked { messages: 1, pings: 40, closes }).as_deref(),
            Some(
                "1 message that answered none of ours; 40 pings, answered; closes by the server: 1 with no code, 2,000 with 1013 (try again later), 3 with 4000"
            )
        );
    }
}
