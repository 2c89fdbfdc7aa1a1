//! Where load may go at the word of others, as patterns: the one fence that is made of them, here and on every site.

use engine::{Fence, RunError};
use plan::Target;
use serve::AllowedTargets;

/// What a browser starts tests in.
pub const SERVE: &str = "loadline serve";

/// Lets through what the patterns allow; `by` is what was started with them.
pub fn fence(allowed: AllowedTargets, by: &str) -> Fence {
    let help = format!("whoever started {by} allows {allowed}; more with --allow-target");
    Fence::new(&help, allowed.texts(), move |host, address| allowed.lets(host, address))
}

/// Whether patterns may let load go to a target: not where they do not, wherever its name leads. Patterns of another loadline may be no
/// patterns here; then it is seen there.
pub fn may_reach(patterns: &[String], target: &Target) -> bool {
    patterns.is_empty() || AllowedTargets::read(patterns).map_or(true, |allowed| allowed.may_let(target.host(), target.port()))
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
        let may = |patterns: &[&str], url: &str| {
            may_reach(&patterns.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), &url.parse().unwrap())
        };
        assert!(may(&[], "http://a.test/") && may(&["http://"], "http://a.test/") && may(&["loopback"], "http://a.test/"));
        assert!(!may(&["loopback"], "http://192.0.2.1/") && !may(&["b.test", "loopback:81"], "http://a.test/"));
        assert!(fence_of(&["http://a/".to_owned()]).unwrap_err().message.marked().contains("is a URL"));
    }
}
