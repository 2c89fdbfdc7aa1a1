//! Where load may go at the word of others, as patterns: the one fence that is made of them, here and on every site.

use engine::{Fence, RunError};
use serve::AllowedTargets;

/// What a browser starts tests in.
pub const SERVE: &str = "loadline serve";

/// Lets through what the patterns allow; `by` is what was started with them.
pub fn fence(allowed: AllowedTargets, by: &str) -> Fence {
    let help = format!("whoever started {by} allows {allowed}; more with --allow-target");
    Fence::new(&help, allowed.texts(), move |host, address| allowed.lets(host, address))
}

/// That of a commander, in whose words there is none where everything is allowed.
///
/// # Errors
/// If one of them is no pattern here: then the commander is another loadline.
pub fn fence_of(patterns: &[String]) -> Result<Fence, RunError> {
    if patterns.is_empty() {
        return Ok(Fence::open());
    }
    AllowedTargets::read(patterns).map(|allowed| fence(allowed, SERVE)).map_err(|wrong| {
        let wrong: Vec<String> = wrong.into_iter().map(|(text, why)| format!("'{text}' {why}")).collect();
        RunError::input(wrong.join("; "), "use the same loadline on both sides")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_make_the_same_fence_elsewhere() {
        let texts = ["10.1.0.0/16", "*.example.com:8080", "loopback", "[2001:db8::1]:80"].map(str::to_owned);
        let allowed = AllowedTargets::read(&texts).unwrap();
        assert_eq!(AllowedTargets::read(&allowed.texts()).unwrap(), allowed);
        assert_eq!(AllowedTargets::read(&AllowedTargets::usual().texts()).unwrap(), AllowedTargets::usual());
        assert!(fence_of(&["http://a/".to_owned()]).unwrap_err().message.marked().contains("is a URL"));
    }
}
