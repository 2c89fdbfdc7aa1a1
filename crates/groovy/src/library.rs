//! The library in JavaScript, a file a subject, in the order in which they need each other.

/// JavaScript that is evaluated once in each runtime, as a script of its own, before any translation: what translations call. It uses
/// nothing of the outside but the global object `host`, and all that an engine has by the standard of 2020: BigInt, Proxy, RegExp, Date, JSON.
pub const LIBRARY: &str = concat!(
    include_str!("library/values.js"),
    include_str!("library/calls.js"),
    include_str!("library/numbers.js"),
    include_str!("library/texts.js"),
    include_str!("library/expressions.js"),
    include_str!("library/lists.js"),
    include_str!("library/maps.js"),
    include_str!("library/bytes.js"),
    include_str!("library/json.js"),
    include_str!("library/dates.js"),
    include_str!("library/moments.js"),
    include_str!("library/classes.js"),
    include_str!("library/commons.js"),
    include_str!("library/jmeter.js"),
    include_str!("library/request.js"),
);
