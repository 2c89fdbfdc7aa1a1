//! Where a message's JSON does not fit: looked for only when it does not, since who encodes it is told of the first place alone.

use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Map, Value};

use crate::Mistake;
use crate::names::instead_of;

/// Messages in messages are looked into so deep.
const DEPTH_MAX: u32 = 64;

/// Everything in the JSON that is wrong, which is a message or a list of several; at least one mistake.
pub(crate) fn mistakes(descriptor: &MessageDescriptor, are_several: bool, json: &[u8]) -> Vec<Mistake> {
    let value: Value = match serde_json::from_slice(json) {
        Ok(value) => value,
        Err(why) => return vec![Mistake::new(format!("the message is not JSON: {why}"), "put it right")],
    };
    let mut found = Vec::new();
    match &value {
        Value::Array(values) if are_several => {
            for (number, value) in values.iter().enumerate() {
                look(descriptor, value, (&format!("[{number}]"), 0), &mut found);
            }
        }
        value => look(descriptor, value, ("", 0), &mut found),
    }
    if found.is_empty() {
        // Nothing by itself, so all of it together.
        found.extend(whole(descriptor, &value).map(|why| wrong("", &why)));
    }
    if found.is_empty() {
        found.push(Mistake::new(format!("the message is no {}", descriptor.full_name()), "look at its fields"));
    }
    found
}

/// What is wrong with a value as a whole, if anything is.
fn whole(descriptor: &MessageDescriptor, value: &Value) -> Option<String> {
    DynamicMessage::deserialize(descriptor.clone(), value).err().map(|why| why.to_string())
}

fn wrong(place: &str, why: &str) -> Mistake {
    let place = if place.is_empty() { "the message".to_owned() } else { format!("the message's field {place}") };
    Mistake::new(format!("{place}: {why}"), "look at what the method takes")
}

fn look(descriptor: &MessageDescriptor, value: &Value, (place, depth): (&str, u32), found: &mut Vec<Mistake>) {
    let Some(why) = whole(descriptor, value) else { return };
    // Messages of the library have a JSON of their own.
    if descriptor.full_name().starts_with("google.protobuf.") || depth == DEPTH_MAX {
        return found.push(wrong(place, &why));
    }
    let Value::Object(fields) = value else {
        let what = match value {
            Value::Array(_) => "one message, and not a list of them",
            _ => "an object",
        };
        return found.push(wrong(place, &format!("{} is {what}", descriptor.full_name())));
    };
    let before = found.len();
    for (name, value) in fields {
        let Some(field) = descriptor.get_field_by_json_name(name).or_else(|| descriptor.get_field_by_name(name)) else {
            let names: Vec<String> = descriptor.fields().map(|field| field.json_name().to_owned()).collect();
            let message = format!("{} has no field '{}'", descriptor.full_name(), name.escape_debug());
            let message = if place.is_empty() { message } else { format!("{place}: {message}") };
            found.push(Mistake::new(message, instead_of(name, names.iter().map(String::as_str))));
            continue;
        };
        let below = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
        look_at_field(descriptor, &field, (name, value), (&below, depth + 1), found);
    }
    if found.len() == before {
        found.push(wrong(place, &why));
    }
}

fn look_at_field(
    descriptor: &MessageDescriptor,
    field: &FieldDescriptor,
    (name, value): (&str, &Value),
    (place, depth): (&str, u32),
    found: &mut Vec<Mistake>,
) {
    match (field.kind(), value) {
        (Kind::Message(inner), Value::Array(values)) if field.is_list() => {
            for (number, value) in values.iter().enumerate() {
                look(&inner, value, (&format!("{place}[{number}]"), depth), found);
            }
        }
        (Kind::Message(inner), value) if !field.is_list() && !field.is_map() && !value.is_null() => {
            look(&inner, value, (place, depth), found);
        }
        _ => {
            let alone = Value::Object(Map::from_iter([(name.to_owned(), value.clone())]));
            found.extend(whole(descriptor, &alone).map(|why| wrong(place, &why)));
        }
    }
}
