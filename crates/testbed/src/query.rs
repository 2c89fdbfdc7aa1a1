//! The `name=value` pairs of a request's query, percent-decoded.

use std::borrow::Cow;

/// The pairs of a query in their order; a name without `=` has an empty value.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    })
}

/// The value of the first pair with this name.
pub(crate) fn value<'a>(query: &'a str, wanted: &str) -> Option<Cow<'a, str>> {
    pairs(query).find(|(name, _)| name == wanted).map(|(_, value)| value)
}

/// Percent escapes and `+` resolved; what is no escape stays as it is, what is no UTF-8 becomes U+FFFD.
fn decoded(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(if first == b'+' { b' ' } else { first });
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_in_order_and_names_may_stand_alone() {
        let pairs: Vec<_> = pairs("a=1&&close&b=x=y").collect();
        assert_eq!(pairs, [("a".into(), "1".into()), ("close".into(), "".into()), ("b".into(), "x=y".into())]);
    }

    #[test]
    fn escapes_are_resolved_and_broken_ones_stay() {
        assert_eq!(value("q=%2D5+a%", "q").unwrap(), "-5 a%");
        assert_eq!(value("q=%zz%4", "q").unwrap(), "%zz%4");
        assert_eq!(value("q=%FF", "q").unwrap(), "\u{FFFD}");
        assert_eq!(value("q=1", "other"), None);
    }
}
