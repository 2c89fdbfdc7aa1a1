//! Secrets that stand in the text of a scenario, to be left out where the text itself is saved.
//!
//! A scenario that is a file stays where its user keeps it. One that came as text becomes part of the result, and what is a secret there is
//! known by its name: the value of `password`, in a form as in a body of JSON, of a header, of a way to log in, or of a parameter.

use plan::{is_secret, secret_parameters, secret_values};

use crate::yaml::{self, Node, Value};

/// Every value in the text that its name, or the name of what it stands in, calls a secret; templates are none.
#[must_use]
pub fn hidden_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(root) = yaml::parse(text, &mut Vec::new()) {
        walk(&root, false, &mut found);
    }
    found.retain(|value| !value.is_empty());
    found.sort_unstable();
    found.dedup();
    found
}

/// Keys of a scenario whose values are secrets whatever they are called elsewhere.
const ALWAYS: [&str; 2] = ["bearer", "secret_key"];

fn walk(node: &Node, inside: bool, found: &mut Vec<String>) {
    match &node.value {
        Value::Told => {}
        Value::Scalar { text, .. } => {
            if inside && !text.contains("{{") {
                found.push(text.clone());
            }
            // Fields of a body that is written as text, and parameters of a path.
            let values = secret_values(text).into_iter().chain(secret_parameters(text)).map(|(from, to)| text[from..to].to_owned());
            found.extend(values.filter(|value| !value.starts_with("{{")));
        }
        Value::List(nodes) => nodes.iter().for_each(|node| walk(node, inside, found)),
        Value::Map(entries) => {
            // `api_key: {header: X-Key, value: …}`: the value alone is one.
            let is_key = entries.iter().any(|(word, _)| word.text == "value");
            for (word, node) in entries {
                // How somebody logs in holds names too; what of it is a secret has a name of its own.
                let by_name = word.text != "auth" && is_secret(&word.text) || ALWAYS.contains(&&*word.text);
                let secret = inside && (!is_key || word.text == "value") || by_name;
                walk(node, secret, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_name_calls_a_secret_is_found_wherever_it_stands() {
        let text = "steps:\n  - post: /login\n    json: {user: ada, password: lovelace}\n    headers: {X-Api-Key: k1, Accept: text/plain}\n  - get: /\n    auth: {bearer: tok}\n  - get: /a\n    auth: {api_key: {header: X-Key, value: abc}}\n  - get: /b\n    auth: {basic: {user: me, password: '{{word}}'}}\n";
        assert_eq!(hidden_in(text), ["abc", "k1", "lovelace", "tok"]);
        assert!(hidden_in("]").is_empty());
    }

    #[test]
    fn fields_of_bodies_and_parameters_of_paths_are_found() {
        let text = "steps:\n  - post: /login?token=t1&a=b\n    body: 'user=ada&password=lovelace'\n  - post: /json\n    json: '{\"user\": \"ada\", \"password\": \"p1\"}'\n";
        assert_eq!(hidden_in(text), ["lovelace", "p1", "t1"]);
    }
}
