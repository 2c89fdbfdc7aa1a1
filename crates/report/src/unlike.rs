//! What two measurements differ in besides what was measured: a comparison of unlike loads says nothing about the servers.
//!
//! Two hundred users against fifty, another kernel, two cores fewer: each moves the figures by more than most changes to a
//! server do, and none of them stands in a table of figures. So it is listed, all of it, before anything is compared.
//! Where the two sides lead is no difference here: that is what they are compared for.

use measure::{Machine, Summary};
use plan::Plan;

use crate::wire;

/// Settings that say where a side is or what it is called, not what is asked of it; and the seed, which only draws.
const ELSEWHERE: [&str; 8] = ["url", "scenario_name", "seed", "connect_to", "unix_socket", "sni", "cacert", "insecure"];

/// Parts of resumed handshakes within this of one another are the same.
const RESUMED_WITHIN: f64 = 0.1;

/// What two runs differ in: their plans but for the settings in `varied`, what the servers chose to speak, and the machines.
#[must_use]
pub fn runs(a: &Summary, b: &Summary, varied: &[&str]) -> Vec<String> {
    let mut differences = plans(&a.plan, &b.plan, varied);
    // Where plans demand different versions, that stands there already.
    if a.plan.connection().http == b.plan.connection().http {
        let (from, to) = (&a.connections, &b.connections);
        if from.opened > 0 && to.opened > 0 && from.spoken() != to.spoken() {
            differences.push(format!("the server speaks {} in A and {} in B", from.spoken(), to.spoken()));
        }
    }
    if let (Some(from), Some(to)) = (wire::resumed_share(a), wire::resumed_share(b))
        && (from - to).abs() > RESUMED_WITHIN
    {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        differences.push(format!("{} of TLS handshakes were resumed in A and {} in B", percent(from), percent(to)));
    }
    differences.extend(machines(&a.machine, &b.machine));
    differences
}

/// What two plans differ in, setting by setting, but for those in `varied`.
#[must_use]
pub fn plans(a: &Plan, b: &Plan, varied: &[&str]) -> Vec<String> {
    let settings = |plan: &Plan| match serde_json::to_value(plan) {
        Ok(serde_json::Value::Object(mut settings)) => {
            // The Host header that follows from the address is where a side leads, too.
            let own = format!("Host: {}", plan.target().authority());
            if let Some(serde_json::Value::Array(headers)) = settings.get_mut("header") {
                headers.retain(|header| header.as_str() != Some(own.as_str()));
            }
            settings
        }
        _ => serde_json::Map::new(),
    };
    let (from, to) = (settings(a), settings(b));
    let skipped = |name: &str| ELSEWHERE.contains(&name) || varied.contains(&name);
    let mut names: Vec<&String> = from.keys().chain(to.keys()).filter(|name| !skipped(name)).collect();
    names.sort();
    names.dedup();
    let said = |value: Option<&serde_json::Value>| match value {
        None => "not given".to_owned(),
        Some(serde_json::Value::String(text)) => crate::visible(text),
        Some(other) => crate::visible(&other.to_string()),
    };
    let mut differences = Vec::new();
    let closed = |plan: &Plan| plan.load().is_closed();
    if closed(a) != closed(b) {
        let kind = |plan: &Plan| if closed(plan) { "closed" } else { "open" };
        differences.push(format!("the load is {} in A and {} in B", kind(a), kind(b)));
    }
    if a.target().scheme() != b.target().scheme() {
        differences.push("one side speaks TLS and the other does not".to_owned());
    }
    for name in names.into_iter().filter(|name| from.get(*name) != to.get(*name)) {
        // A fingerprint says nothing to a reader, and a whole text too much.
        if matches!(name.as_str(), "scenario_sha256" | "scenario_text") {
            differences.push("what stands in the scenario is not the same".to_owned());
            continue;
        }
        if name == "environment_sha256" {
            differences.push("what stands in the environment is not the same".to_owned());
            continue;
        }
        differences.push(format!("{} is {} in A and {} in B", name.replace('_', "-"), said(from.get(name)), said(to.get(name))));
    }
    differences
}

/// What the machines that two loads came from differ in.
#[must_use]
pub fn machines(a: &Machine, b: &Machine) -> Vec<String> {
    let memory = |machine: &Machine| analysis::quantity::bytes(machine.memory_bytes as f64);
    let parts = [
        ("loadline", a.loadline.clone(), b.loadline.clone()),
        ("the system", a.system.clone(), b.system.clone()),
        ("the processor", a.processor.clone(), b.processor.clone()),
        ("the number of cores", a.cores.to_string(), b.cores.to_string()),
        ("memory", memory(a), memory(b)),
    ];
    let differing = parts.into_iter().filter(|(_, a, b)| a != b);
    differing.map(|(name, a, b)| format!("{name} is {} in A and {} in B", crate::visible(&a), crate::visible(&b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn everything_that_differs_is_listed_and_nothing_else() {
        let plan = |line: &str| fixtures::plan(line);
        let (a, b) = (plan("http://a.test/"), plan("http://b.test/x"));
        assert_eq!(plans(&a, &b, &[]), [""; 0], "where a side leads is no difference");
        let plan::LoadRecord { mut draft, .. } = b.clone().into();
        draft.connections = "7".parse().ok();
        draft.method = Some("HEAD".to_owned());
        draft.url = Some("https://b.test/x".to_owned());
        let c = Plan::try_from(draft).unwrap();
        let said = plans(&a, &c, &[]);
        assert_eq!(said.len(), 5, "{said:?}");
        assert!(said[0].contains("TLS") && said[1].starts_with("connections is ") && said[1].ends_with(" and 7 in B"), "{said:?}");
        assert_eq!(plans(&a, &c, &["connections", "method", "http", "streams"]), said[..1]);
        let of_scenario = |sha256: &str| {
            let draft =
                plan::Draft { url: Some("http://a.test/".to_owned()), scenario: Some("s.yaml".to_owned()), ..plan::Draft::default() };
            let sources = plan::Sources { scenario_sha256: Some(sha256.to_owned()), ..plan::Sources::default() };
            Plan::try_from(plan::LoadRecord { draft, sources }).unwrap()
        };
        assert_eq!(plans(&of_scenario("aa"), &of_scenario("bb"), &[]), ["what stands in the scenario is not the same"]);
    }

    #[test]
    fn another_version_of_http_is_told_once() {
        let (_, one) = fixtures::summaries().swap_remove(0);
        let mut two = one.clone();
        assert_eq!(runs(&one, &two, &[]), [""; 0]);
        let connections = &mut two.edit_for_test().connections;
        connections.http2 = connections.opened;
        assert_eq!(runs(&one, &two, &[]), ["the server speaks HTTP/1.1 in A and HTTP/2 in B"]);
        let plan::LoadRecord { mut draft, .. } = two.plan.clone().into();
        draft.http = "2".parse().ok();
        two.edit_for_test().plan = Plan::try_from(draft).unwrap();
        let said = runs(&one, &two, &[]);
        assert!(said.len() == 2 && said.iter().all(|difference| difference.contains("not given in A")), "{said:?}");
    }

    #[test]
    fn another_part_of_resumed_handshakes_is_told() {
        let (_, mut one) = fixtures::summaries().swap_remove(0);
        let plan::LoadRecord { mut draft, .. } = one.plan.clone().into();
        draft.url = Some("https://a.test/".to_owned());
        draft.http = "1.1".parse().ok();
        draft.tls_resumption = "on".parse().ok();
        let run = one.edit_for_test();
        run.plan = Plan::try_from(draft).unwrap();
        run.tls.record_many(plan::Nanos::from_millis(1), 100);
        run.connections.resumed = 90;
        let mut two = one.clone();
        two.edit_for_test().connections.resumed = 85;
        assert_eq!(runs(&one, &two, &[]), [""; 0]);
        two.edit_for_test().connections.resumed = 0;
        let shares = one.tls.count() as f64 / 100.0;
        let from = format!("{:.0} %", 90.0 / shares);
        assert_eq!(runs(&one, &two, &[]), [format!("{from} of TLS handshakes were resumed in A and 0 % in B")]);
    }

    #[test]
    fn another_machine_is_told_part_by_part() {
        let (_, run) = fixtures::summaries().swap_remove(0);
        let mut other = run.machine.clone();
        assert_eq!(machines(&run.machine, &other), [""; 0]);
        (other.cores, other.system) = (run.machine.cores + 2, "Linux 9.9".to_owned());
        let said = machines(&run.machine, &other);
        assert!(said.len() == 2 && said[0].ends_with(" and Linux 9.9 in B") && said[1].starts_with("the number of cores is "), "{said:?}");
    }
}
