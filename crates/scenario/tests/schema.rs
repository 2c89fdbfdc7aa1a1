//! The schema for editors says what the reader does.

use scenario::keys::SHAPES;
use scenario::schema::schema;
use serde_json::Value;

/// Whether a value is as the schema says: the part of JSON Schema that ours is written in.
fn accepts(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let found = root.pointer(reference.trim_start_matches('#')).ok_or_else(|| format!("{reference} leads nowhere"))?;
        return accepts(root, found, value);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let refused: Vec<String> = choices.iter().map(|choice| accepts(root, choice, value)).filter_map(Result::err).collect();
        return if refused.len() < choices.len() { Ok(()) } else { Err(refused.join(" and ")) };
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    if !(types.contains(&kind) || kind == "integer" && types.contains(&"number")) {
        return Err(format!("{value} is {kind} and not {types:?}"));
    }
    match value {
        // The one pattern there is.
        Value::String(text) if schema["pattern"] == "^ *[0-9]" => match text.trim_start().starts_with(|first: char| first.is_ascii_digit())
        {
            true => Ok(()),
            false => Err(format!("{text} begins with no digit")),
        },
        Value::Array(items) => items.iter().try_for_each(|item| accepts(root, &schema["items"], item)),
        Value::Object(fields) => fields.iter().try_for_each(|(key, field)| match schema["properties"].get(key) {
            Some(of) => accepts(root, of, field).map_err(|why| format!("{key}: {why}")),
            None => match &schema["additionalProperties"] {
                Value::Bool(false) => Err(format!("{key} is unknown")),
                of => accepts(root, of, field).map_err(|why| format!("{key}: {why}")),
            },
        }),
        _ => Ok(()),
    }
}

/// YAML as JSON has it, by the parser that the reader uses.
fn json(text: &str) -> Value {
    use saphyr_parser::{Event, Parser, ScalarStyle};
    fn value<'a>(events: &mut impl Iterator<Item = Event<'a>>, event: Event<'a>) -> Value {
        match event {
            Event::Scalar(text, ScalarStyle::Plain, ..) => serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text.into_owned())),
            Event::Scalar(text, ..) => Value::String(text.into_owned()),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match events.next().unwrap() {
                        Event::SequenceEnd => return Value::Array(items),
                        event => items.push(value(events, event)),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut fields = serde_json::Map::new();
                loop {
                    match events.next().unwrap() {
                        Event::MappingEnd => return Value::Object(fields),
                        event => {
                            let key = value(events, event);
                            let next = events.next().unwrap();
                            let field = value(events, next);
                            fields.insert(key.as_str().map_or_else(|| key.to_string(), str::to_owned), field);
                        }
                    }
                }
            }
            other => panic!("{other:?}"),
        }
    }
    let mut parser = Parser::new_from_str(text);
    let mut events = std::iter::from_fn(move || Some(parser.next_event()?.unwrap().0))
        .filter(|event| !matches!(event, Event::StreamStart | Event::DocumentStart(_) | Event::Nothing));
    let first = events.next().unwrap();
    value(&mut events, first)
}

#[test]
fn the_starter_is_as_the_schema_says() {
    let schema = schema();
    assert_eq!(accepts(&schema, &schema, &json(scenario::STARTER)), Ok(()));
    assert_eq!(accepts(&schema, &schema, &json(scenario::CHAT_COMPLETIONS)), Ok(()));
}

#[test]
fn what_the_reader_refuses_the_schema_refuses() {
    let schema = schema();
    for text in ["stepz: []", "steps: [{get: /, chekcs: {}}]", "load: {users: many}\nsteps: [{get: /}]", "journeys: {a: 1}"] {
        assert!(scenario::read("x.yaml", text).is_err(), "{text}");
        assert!(accepts(&schema, &schema, &json(text)).is_err(), "{text}");
    }
    for text in ["load: {users: 0 to 5 for 1s}\nsteps: [{get: /}]", "load: {users: [0 to 5 for 1s, 5 for 2s]}\nsteps: [{get: /}]"] {
        assert!(scenario::read("x.yaml", &format!("target: http://a.test\n{text}")).is_ok(), "{text}");
        assert_eq!(accepts(&schema, &schema, &json(text)), Ok(()));
    }
}

#[test]
fn every_key_is_in_the_schema_and_has_words() {
    let schema = schema();
    for shape in SHAPES {
        for key in shape.keys {
            let found = &schema["$defs"][shape.name]["properties"][key.name];
            assert!(found["description"].as_str().is_some_and(|about| about.len() > 5), "{}.{}", shape.name, key.name);
        }
    }
}

#[test]
fn every_mapping_that_a_key_leads_to_is_in_the_list() {
    let text = schema().to_string();
    for reference in text.split("#/$defs/").skip(1) {
        let name = reference.split('"').next().unwrap();
        assert!(SHAPES.iter().any(|shape| shape.name == name), "{name}");
    }
}
