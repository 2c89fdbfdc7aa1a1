//! The JSON Schema of scenario files, for editors: completion, help and red lines while one writes.
//!
//! It is made from the table of keys and kept as a file, because editors want an address and not a program.

use serde_json::{Map, Value, json};

use crate::keys::{Kind, SCENARIO, SHAPES, Shape};

/// JSON Schema, draft 2020-12.
#[must_use]
pub fn schema() -> Value {
    let shapes: Map<String, Value> = SHAPES.iter().map(|shape| (shape.name.to_owned(), object(shape))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of loadline",
        "$ref": format!("#/$defs/{}", SCENARIO.name),
        "$defs": shapes,
    })
}

fn object(shape: &Shape) -> Value {
    let keys: Map<String, Value> = shape
        .keys
        .iter()
        .map(|key| {
            let mut of = kind(key.kind);
            of["description"] = Value::String(key.about.to_owned());
            (key.name.to_owned(), of)
        })
        .collect();
    json!({ "type": "object", "description": shape.about, "properties": keys, "additionalProperties": false })
}

fn kind(of: Kind) -> Value {
    // YAML reads 200 as a number and true as a truth; both are texts where texts are sent.
    let text = || json!({ "type": ["string", "number", "boolean"] });
    let reference = |shape: &Shape| json!({ "$ref": format!("#/$defs/{}", shape.name) });
    match of {
        Kind::Text => text(),
        Kind::Whole => json!({ "type": "integer", "minimum": 0 }),
        Kind::Users => {
            let stage = || json!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^ *[0-9]" });
            json!({ "anyOf": [stage(), { "type": "array", "items": stage() }] })
        }
        Kind::Number => json!({ "type": "number", "minimum": 0 }),
        Kind::Truth => json!({ "type": "boolean" }),
        Kind::Any => json!({}),
        Kind::Texts => json!({ "anyOf": [text(), { "type": "array", "items": text() }] }),
        Kind::Named => json!({ "type": "object", "additionalProperties": text() }),
        Kind::NamedOf(kinds) => json!({ "type": "object", "additionalProperties": kind(Kind::Either(kinds)) }),
        Kind::Shape(shape) => reference(shape),
        Kind::Shapes(shape) => json!({ "type": "array", "items": reference(shape) }),
        Kind::AnyOf(kinds) => json!({ "anyOf": [kind(Kind::Either(kinds)), { "type": "array", "items": kind(Kind::Either(kinds)) }] }),
        Kind::Either(kinds) => json!({ "anyOf": kinds.iter().map(|one| kind(*one)).collect::<Vec<_>>() }),
    }
}
