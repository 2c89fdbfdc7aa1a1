//! A `.cpuprofile`: the JSON that the inspector of Node and of browsers writes.
//!
//! Source: the Chrome DevTools protocol, `Profiler.Profile`: nodes with their children, which node was running at each sample, and the
//! microseconds between samples. Time in which nothing ran is left out: a profile of processor time has none of it.

use std::collections::{HashMap, HashSet};

use measure::profiled::{CPU, Unit};
use serde::Deserialize;

use crate::profile::{Building, NAMES_MAX, Profile, ReadError};

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProfileFile {
    nodes: Vec<Node>,
    #[serde(default)]
    samples: Vec<u64>,
    #[serde(default)]
    time_deltas: Vec<f64>,
    #[serde(default)]
    start_time: f64,
    #[serde(default)]
    end_time: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    id: u64,
    call_frame: CallFrame,
    #[serde(default)]
    children: Vec<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFrame {
    function_name: String,
    #[serde(default)]
    url: String,
    #[serde(default)]
    line_number: i64,
}

/// A stack is never deeper than what a runtime's stack has room for.
const DEPTH_MAX: usize = 20_000;

/// Reads it.
pub(crate) fn read(text: &str) -> Result<Profile, ReadError> {
    let written: ProfileFile = serde_json::from_str(text).map_err(|why| {
        let cut = why.is_eof() || text.contains("\"callFrame\"");
        if cut { ReadError::Damaged(why.to_string()) } else { ReadError::Foreign(format!("its JSON is not that of a .cpuprofile: {why}")) }
    })?;
    if written.nodes.len() > NAMES_MAX {
        return Err(ReadError::TooLarge("a million functions"));
    }
    let mut building = Building::new(CPU, Unit::Nanoseconds);
    building.took(((written.end_time - written.start_time).max(0.0) * 1e3) as u64);
    let mut names = HashMap::with_capacity(written.nodes.len());
    let mut callers: HashMap<u64, u64> = HashMap::new();
    for node in &written.nodes {
        names.insert(node.id, name(&node.call_frame).map(|name| building.name(&name)).transpose()?);
        for child in &node.children {
            callers.insert(*child, node.id);
        }
    }
    let mut spent: HashMap<u64, f64> = HashMap::new();
    for (sample, micros) in written.samples.iter().zip(&written.time_deltas) {
        *spent.entry(*sample).or_default() += micros.max(0.0);
    }
    let mut spent: Vec<(u64, f64)> = spent.into_iter().collect();
    spent.sort_by_key(|(node, _)| *node);
    let idle: HashSet<u64> = written.nodes.iter().filter(|node| node.call_frame.function_name == "(idle)").map(|node| node.id).collect();
    for (node, micros) in spent {
        let value = (micros * 1e3).min(i64::MAX as f64) as i64;
        if idle.contains(&node) || value == 0 {
            continue;
        }
        if !names.contains_key(&node) {
            return Err(ReadError::Damaged(format!("it has no node {node}, which a sample names")));
        }
        let mut stack = Vec::new();
        let (mut at, mut depth) = (Some(node), 0);
        while let Some(node) = at {
            stack.extend(names.get(&node).copied().flatten());
            depth += 1;
            if depth > DEPTH_MAX {
                return Err(ReadError::Damaged("a function is its own caller".to_owned()));
            }
            at = callers.get(&node).copied();
        }
        for name in stack.iter().rev() {
            building.push(*name, false)?;
        }
        building.end(value)?;
    }
    Ok(building.finish())
}

/// What a node is called; the root, of which everything is part, has no name.
fn name(frame: &CallFrame) -> Option<String> {
    if frame.function_name == "(root)" {
        return None;
    }
    let function = if frame.function_name.is_empty() { "(anonymous)" } else { &frame.function_name };
    let file = frame.url.rsplit('/').next().unwrap_or_default();
    // Lines are counted from 0 there.
    Some(if file.is_empty() { function.to_owned() } else { format!("{function} ({file}:{})", frame.line_number.saturating_add(1)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"nodes":[
        {"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"hitCount":0,"children":[2,3]},
        {"id":2,"callFrame":{"functionName":"(idle)","url":"","lineNumber":-1}},
        {"id":3,"callFrame":{"functionName":"serve","url":"file:///srv/app.js","lineNumber":6},"children":[4]},
        {"id":4,"callFrame":{"functionName":"","url":"file:///srv/app.js","lineNumber":9}}],
        "startTime":1000,"endTime":6000,"samples":[2,3,4,4],"timeDeltas":[1000,500,700,800]}"#;

    #[test]
    fn time_is_that_of_the_samples_without_idleness() {
        let profile = read(TEXT).unwrap();
        assert_eq!(
            (profile.kind.as_str(), profile.unit, profile.total(), profile.duration_ns),
            ("cpu", Unit::Nanoseconds, 2_000_000, 5_000_000)
        );
        let stack = profile.frames(&profile.stacks()[1]);
        assert_eq!(stack.iter().map(|frame| profile.name(*frame)).collect::<Vec<_>>(), ["serve (app.js:7)", "(anonymous) (app.js:10)"]);
    }

    #[test]
    fn what_cannot_be_a_tree_is_damaged() {
        let round = TEXT.replace(r#""lineNumber":9}}"#, r#""lineNumber":9},"children":[3]}"#);
        assert!(read(&round).unwrap_err().to_string().contains("its own caller"));
        let lost = TEXT.replace("\"samples\":[2,3", "\"samples\":[2,77");
        assert!(read(&lost).unwrap_err().to_string().contains("no node 77"));
        assert!(matches!(read(&TEXT[..200]), Err(ReadError::Damaged(_))));
        assert!(matches!(read("{}"), Err(ReadError::Foreign(_))));
    }
}
