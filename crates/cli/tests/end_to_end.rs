//! The binary, as a user meets it: against a real server on a free loopback port, each test in a directory of its own.

/// What was measured, or the end of the test where the host of this machine never let it be measured (`session::least_disturbed` says so).
macro_rules! or_return {
    ($measured:expr) => {
        match $measured {
            Some(measured) => measured,
            None => return,
        }
    };
}

#[path = "end_to_end/ab.rs"]
mod ab;
#[path = "end_to_end/agents.rs"]
mod agents;
#[path = "end_to_end/bad_input.rs"]
mod bad_input;
#[path = "end_to_end/bottleneck.rs"]
mod bottleneck;
#[path = "end_to_end/branches.rs"]
mod branches;
#[path = "end_to_end/calibrate.rs"]
mod calibrate;
#[path = "end_to_end/checks.rs"]
mod checks;
#[path = "end_to_end/compare.rs"]
mod compare;
#[path = "end_to_end/data.rs"]
mod data;
#[path = "end_to_end/destinations.rs"]
mod destinations;
#[path = "end_to_end/doors.rs"]
mod doors;
#[path = "end_to_end/examples.rs"]
mod examples;
#[path = "end_to_end/export.rs"]
mod export;
#[path = "end_to_end/find.rs"]
mod find;
#[path = "end_to_end/fleet.rs"]
mod fleet;
#[path = "end_to_end/grpc.rs"]
mod grpc;
#[path = "end_to_end/help.rs"]
mod help;
#[path = "end_to_end/history.rs"]
mod history;
#[path = "end_to_end/http2.rs"]
mod http2;
#[path = "end_to_end/http3.rs"]
mod http3;
#[path = "end_to_end/import.rs"]
mod import;
#[path = "end_to_end/javascript.rs"]
mod javascript;
#[path = "end_to_end/jtl.rs"]
mod jtl;
#[path = "end_to_end/networks.rs"]
mod networks;
#[path = "end_to_end/observe.rs"]
mod observe;
#[path = "end_to_end/paused.rs"]
mod paused;
#[path = "end_to_end/peers.rs"]
mod peers;
#[path = "end_to_end/processes.rs"]
mod processes;
#[path = "end_to_end/profile.rs"]
mod profile;
#[path = "end_to_end/proofs.rs"]
mod proofs;
#[path = "end_to_end/readme.rs"]
mod readme;
#[path = "end_to_end/recorder.rs"]
mod recorder;
#[path = "end_to_end/replay.rs"]
mod replay;
#[path = "end_to_end/replay_sites.rs"]
mod replay_sites;
#[path = "end_to_end/report.rs"]
mod report;
#[path = "end_to_end/run.rs"]
mod run;
#[path = "end_to_end/scenario.rs"]
mod scenario;
#[path = "end_to_end/script.rs"]
mod script;
#[path = "end_to_end/secrets.rs"]
mod secrets;
#[path = "end_to_end/serve.rs"]
mod serve;
#[path = "end_to_end/servers.rs"]
mod servers;
#[path = "end_to_end/session.rs"]
mod session;
#[path = "end_to_end/sshd.rs"]
mod sshd;
#[path = "end_to_end/streams.rs"]
mod streams;
#[path = "end_to_end/sweep.rs"]
mod sweep;
#[path = "end_to_end/terminal.rs"]
mod terminal;
#[path = "end_to_end/tools.rs"]
mod tools;
#[path = "end_to_end/traffic.rs"]
mod traffic;
#[path = "end_to_end/traffic_parts.rs"]
mod traffic_parts;
#[path = "end_to_end/try_once.rs"]
mod try_once;
#[path = "end_to_end/websocket.rs"]
mod websocket;
#[path = "end_to_end/wire.rs"]
mod wire;
#[path = "end_to_end/wrk.rs"]
mod wrk;
