//! What is loaded behind a page, and what users know of answers that they have had, as they are printed.

use plan::work::{Cache, Resources};

use super::page::{Map, Value};

/// Which of what a page names is loaded.
pub(super) fn resources(resources: &Resources) -> Value {
    let mut map = Map::default();
    if resources.at_once != Resources::AT_ONCE {
        map.put("at_once", Value::Bare(resources.at_once.to_string()));
    }
    map.put_some("only", resources.only.clone());
    map.put_some("except", resources.except.clone());
    map.put_some("part_of_page", resources.are_part.then(|| Value::Bare("true".to_owned())));
    if *resources == Resources::default() { Value::Bare("true".to_owned()) } else { Value::Map(map) }
}

/// What users know of answers.
pub(super) fn cache(cache: &Cache) -> Value {
    let mut map = Map::default();
    if cache.at_most != Cache::AT_MOST {
        map.put("at_most", Value::Bare(cache.at_most.to_string()));
    }
    if cache.always_ask {
        map.put("always_ask", Value::Bare("true".to_owned()));
    }
    if cache.all_methods {
        map.put("all_methods", Value::Bare("true".to_owned()));
    }
    if cache.number != 1 {
        map.put("number", Value::Bare(cache.number.to_string()));
    }
    if *cache == Cache::default() { Value::Bare("true".to_owned()) } else { Value::Map(map) }
}
