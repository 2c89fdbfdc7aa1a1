//! Messages as users write them, and what becomes of them.

use super::*;

const SHOP: &str = r#"
syntax = "proto3";
package shop.v1;
import "google/protobuf/timestamp.proto";
enum Kind { UNKNOWN = 0; BOOK = 1; }
message Item { string name = 1; int32 count = 2; Kind kind = 3; map<string, int64> tags = 4; repeated Item parts = 5; optional bool sold = 6; }
message Order { Item item = 1; google.protobuf.Timestamp at = 2; bytes note = 3; oneof how { string card = 4; uint32 cash = 5; } }
message Receipt { int64 number = 1; bool paid = 2; Item item = 3; }
service Shop {
  rpc Buy(Order) returns (Receipt);
  rpc Watch(Order) returns (stream Receipt);
  rpc Collect(stream Item) returns (Receipt);
}
"#;

fn shop() -> Descriptors {
    let read = |path: &str| if path == "shop.proto" { Ok(SHOP.as_bytes().to_vec()) } else { Err("there is no such file".to_owned()) };
    let set = crate::compile(&["shop.proto".to_owned()], &[], read).unwrap();
    Descriptors::read(&set).unwrap()
}

fn method(name: &str) -> Method {
    shop().method("shop.v1.Shop", name).unwrap()
}

fn encoded(name: &str, json: &str) -> Result<Vec<u8>, Vec<Mistake>> {
    let mut out = Vec::new();
    method(name).encode(json.as_bytes(), &mut out).map(|()| out)
}

#[test]
fn a_message_is_its_bytes_behind_their_length() {
    let out = encoded("Buy", r#"{"item": {"name": "tea", "count": 3}, "cash": 5}"#).unwrap();
    assert_eq!(out, b"\0\0\0\0\x0b\x0a\x07\x0a\x03tea\x10\x03\x28\x05");
    let mut behind = b"head".to_vec();
    method("Buy").encode(b"{}", &mut behind).unwrap();
    assert_eq!(behind, b"head\0\0\0\0\0");
}

#[test]
fn a_packed_message_is_the_same_for_who_unpacks_it() {
    let json = format!(r#"{{"item":{{"name":"{}","count":"7"}}}}"#, "tea ".repeat(200));
    let (plain, mut packed) = (encoded("Buy", &json).unwrap(), Vec::new());
    method("Buy").packed_as([("x-team", "a"), ("Grpc-Encoding", "gzip")]).unwrap().encode(json.as_bytes(), &mut packed).unwrap();
    assert_eq!((packed[0], plain[0]), (1, 0));
    assert!(packed.len() < plain.len() / 4, "{}", packed.len());
    assert_eq!(method("Buy").request(&packed).unwrap(), method("Buy").request(&plain).unwrap());
    let mut as_it_is = Vec::new();
    method("Buy").packed_as([("grpc-encoding", "identity")]).unwrap().encode(json.as_bytes(), &mut as_it_is).unwrap();
    assert_eq!(as_it_is, plain);
    assert!(method("Buy").packed_as([("grpc-encoding", "snappy")]).unwrap_err().message.contains("'snappy'"));
}

#[test]
fn json_is_read_by_the_canonical_mapping_and_written_again() {
    let json = r#"{"item":{"name":"ü","count":"7","kind":"BOOK","tags":{"a":"9007199254740993"},"parts":[{"name":"x"}],"sold":false},"at":"2026-01-02T03:04:05Z","note":"aGk=","card":"c"}"#;
    let out = encoded("Buy", json).unwrap();
    let back: Value = serde_json::from_slice(&method("Buy").request(&out).unwrap()).unwrap();
    assert_eq!(back["item"]["tags"]["a"], "9007199254740993");
    assert_eq!((&back["item"]["count"], &back["item"]["kind"], &back["at"]), (&7.into(), &"BOOK".into(), &"2026-01-02T03:04:05Z".into()));
    assert_eq!((&back["note"], &back["card"], back.get("cash")), (&"aGk=".into(), &"c".into(), None));
    let other_names = encoded("Buy", r#"{"item":{"kind":1}}"#).unwrap();
    assert_eq!(other_names, encoded("Buy", r#"{"item":{"kind":"BOOK"}}"#).unwrap());
}

#[test]
fn what_an_answer_leaves_out_is_there_to_be_looked_at() {
    let answer = method("Buy").answer(b"\0\0\0\0\x02\x08\x07").unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&answer).unwrap(), serde_json::json!({"number": "7", "paid": false}));
    for (content, why) in [
        (&b""[..], "the answer has no message"),
        (b"\0\0\0\0\0\0\0\0\0\0", "the answer has 2 messages, and the method answers with one"),
        (b"\0\0\0\0\x02\x08", "the answer ends in the middle of a message"),
        (b"\0\0\0\0\x01\x08", "the message is no shop.v1.Receipt"),
        (b"\x01\0\0\0\x01\x08", "a message in gzip is none"),
    ] {
        let told = method("Buy").answer(content).unwrap_err();
        assert!(told.starts_with(why), "{told}");
    }
}

#[test]
fn several_messages_are_a_list() {
    let out = encoded("Collect", r#"[{"name":"a"},{"count":1}]"#).unwrap();
    assert_eq!(out, b"\0\0\0\0\x03\x0a\x01a\0\0\0\0\x02\x10\x01");
    assert_eq!(encoded("Collect", r#"{"name":"a"}"#).unwrap(), out[..8]);
    assert!(encoded("Collect", "[]").unwrap().is_empty());
    let wrong = encoded("Collect", r#"[{}, {"count": "x"}]"#).unwrap_err();
    assert!(wrong[0].message.starts_with("the message's field [1].count: "), "{wrong:?}");
    assert!(encoded("Buy", "[]").unwrap_err()[0].message.contains("not a list"), "{:?}", encoded("Buy", "[]"));
    let watched = method("Watch").answer(b"\0\0\0\0\x02\x08\x01\0\0\0\0\x02\x10\x01").unwrap();
    let list: Value = serde_json::from_slice(&watched).unwrap();
    assert_eq!((list[0]["number"].as_str(), list[1]["paid"].as_bool(), list.as_array().unwrap().len()), (Some("1"), Some(true), 2));
    assert_eq!(method("Watch").answer(b"").unwrap(), b"[]");
}

#[test]
fn packed_messages_are_unpacked() {
    let mut packed = Vec::new();
    flate2::bufread::GzEncoder::new(&b"\x08\x07"[..], flate2::Compression::fast()).read_to_end(&mut packed).unwrap();
    let content = [&[1], &(packed.len() as u32).to_be_bytes()[..], &packed].concat();
    assert!(String::from_utf8(method("Buy").answer(&content).unwrap()).unwrap().contains("\"number\":\"7\""));
}

#[test]
fn every_place_that_does_not_fit_is_told() {
    let told = |json: &str| {
        encoded("Buy", json).unwrap_err().into_iter().map(|mistake| format!("{mistake}\n{}", mistake.help)).collect::<Vec<_>>()
    };
    let all = told(r#"{"itm": 1, "item": {"name": 7, "count": "x", "kind": "BOK", "parts": [{"nme": "a"}], "tags": 3}, "note": "a"}"#);
    for words in [
        "'itm'",
        "did you mean 'item'?",
        "item.name",
        "item.count",
        "item.kind",
        "item.parts[0]: shop.v1.Item has no field 'nme'",
        "item.tags",
        "note",
    ] {
        assert!(all.iter().any(|mistake| mistake.contains(words)), "{words}: {all:#?}");
    }
    assert_eq!(all.len(), 7, "{all:#?}");
    assert!(told("{").concat().contains("not JSON"));
    assert!(told("7").concat().contains("shop.v1.Order"));
    assert!(told(r#"{"card":"a","cash":1}"#).concat().contains("how"), "{:?}", told(r#"{"card":"a","cash":1}"#));
    assert!(told("{} {}").concat().contains("not JSON"));
}

#[test]
fn names_that_there_are_not_are_told_with_those_that_there_are() {
    let told = |service: &str, method: &str| {
        let Mistake { message, help } = shop().method(service, method).unwrap_err();
        format!("{message}: {help}")
    };
    assert_eq!(told("shop.v1.Shp", "Buy"), "there is no service 'shop.v1.Shp': did you mean 'shop.v1.Shop'?");
    assert_eq!(
        told("shop.v1.Shop", "By"),
        "the service shop.v1.Shop has no method 'By': did you mean 'Buy'? There are also Collect, Watch"
    );
    assert!(Descriptors::read(b"\xff").is_err());
    assert!(method("Watch").answers_several() && !method("Collect").answers_several());
}
