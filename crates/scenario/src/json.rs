//! Text as it stands in a string of JSON.

/// The text, escaped, without quotation marks around it.
pub(crate) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// What a JSON array holds, each as it is written into a request: a string as it is, anything else as JSON. `None` if it is none.
pub(crate) fn items(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let values: Vec<serde_json::Value> = serde_json::from_slice(text).ok()?;
    Some(values.iter().map(|value| step::extract::text_of(value).as_bytes().to_vec()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_for_a_string() {
        assert_eq!(escaped("a\"b\n"), "a\\\"b\\n");
    }

    #[test]
    fn an_array_is_taken_apart() {
        assert_eq!(items(b"[1, \"a\", {\"b\": 2}]").unwrap(), [b"1".to_vec(), b"a".to_vec(), b"{\"b\":2}".to_vec()]);
        assert_eq!(items(b"7"), None);
    }
}
