//! Values of variables that stand beside a collection: Postman's environments and globals, files of their own, and Insomnia's, by name.
//!
//! A collection is shared and an environment is not, so what decides where requests go and as whom is in neither's main file. Whoever
//! imports says which of them holds.

use super::postman::text_of;
use super::tree::Tree;
use super::{Collection, Kind, ReadError, VARIABLES_MAX, Variable, variable_name};

/// Which values hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Environment {
    /// Those of the environment with this name, in an export of Insomnia.
    Named(String),
    /// These, of a file that Postman exported.
    Values(Vec<Variable>),
}

impl Environment {
    /// Reads what Postman exports as an environment or as globals.
    ///
    /// # Errors
    /// If it is neither.
    pub fn read(bytes: &[u8]) -> Result<Self, ReadError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let tree = Tree::read_json(super::utf8(bytes)?)?;
        // Postman's own API puts it into an object.
        let root = if tree.has("environment") { tree.at("environment") } else { &tree };
        if !root.has("values") {
            return Err(ReadError::new("this is no environment of Postman: it has no \"values\""));
        }
        let mut values: Vec<Variable> = Vec::new();
        // What is odd in a value is odd in the request that names it, and is told there.
        let mut told = Collection::new(Kind::Postman);
        for value in root.at("values").list().iter().take(VARIABLES_MAX) {
            let name = value.at("key").words();
            let is_off = value.has("enabled") && !value.at("enabled").is_true();
            if name.is_empty() || is_off {
                continue;
            }
            let secret = value.at("type").text() == Some("secret");
            let variable =
                Variable { name: variable_name(&name), value: text_of(&value.at("value").words(), "the environment", &mut told), secret };
            match values.iter_mut().find(|known| known.name == variable.name) {
                Some(known) => *known = variable,
                None => values.push(variable),
            }
        }
        Ok(Self::Values(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;

    const SHOP: &str = r#"{"info": {"name": "Shop", "schema": "v2.1.0"}, "variable": [{"key": "base", "value": "https://old"}, {"key": "page", "value": "1"}],
      "item": [{"name": "List", "request": {"url": "{{base}}/orders?page={{page}}&as={{who}}&t={{token}}"}}]}"#;

    #[test]
    fn an_environment_of_postman_goes_over_the_collection() {
        let file = r#"{"id": "1", "name": "test", "_postman_variable_scope": "environment", "values": [
          {"key": "base", "value": "https://{{host}}", "enabled": true}, {"key": "host", "value": "test.example", "enabled": true},
          {"key": "page", "value": "9", "enabled": false}, {"key": "token", "value": "s3cr3t-t0ken", "type": "secret", "enabled": true}]}"#;
        let environment = Environment::read(file.as_bytes()).unwrap();
        let wishes = Wishes { environment: Some(environment), ..Wishes::default() };
        let read = Collection::read(Kind::Postman, SHOP.as_bytes(), &wishes).unwrap();
        assert_eq!(read.requests[0].url.to_string(), "https://test.example/orders?page={{page}}&as={{who}}&t={{token}}");
        assert_eq!(
            crate::collection::url::filled(&read.requests[0].url, &read.variables).to_string(),
            "https://test.example/orders?page=1&as=&t=s3cr3t-t0ken"
        );
        assert!(read.variables.iter().any(|variable| variable.name == "token" && variable.secret));
        assert_eq!(read.missing, ["who"]);
        let over = Wishes { variables: vec![("who".to_owned(), "ann".to_owned())], ..wishes };
        assert!(Collection::read(Kind::Postman, SHOP.as_bytes(), &over).unwrap().missing.is_empty());
        for broken in ["{}", "[", "{\"values\": 1"] {
            assert!(Environment::read(broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_collection_of_postman_has_no_environments_of_its_own() {
        let wishes = Wishes { environment: Some(Environment::Named("test".to_owned())), ..Wishes::default() };
        let why = Collection::read(Kind::Postman, SHOP.as_bytes(), &wishes).unwrap_err();
        assert!(
            why.message.spelt(plan::Spelling::Flags).contains("'test'")
                && why.message.spelt(plan::Spelling::Flags).contains("give the file"),
            "{why:?}"
        );
    }
}
