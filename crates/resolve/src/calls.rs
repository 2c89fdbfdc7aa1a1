//! What describes the messages of calls of gRPC: read from files, or asked of the server.
//!
//! Whichever it is, it comes to a set of descriptors in the plan's contents, so that the plan is carried out anywhere without the files and
//! without asking again.

use std::rc::Rc;
use std::sync::Arc;

use engine::protocol::{Encoded, Layout};
use engine::{AskError, Fence, RunError, Runner};
use grpc::Descriptors;
use grpc::reflection::{Gathered, Gathering, METHODS};
use measure::Failure;
use plan::setting::{DESCRIPTORS, PROTO, PROTO_PATH};
use plan::work::Talk;
use plan::{Plan, PlanError, PlanErrors, Resolved, Target};
use scenario::Scenario;

use crate::Reader;

/// A `.proto` file is kept in memory.
const PROTO_BYTES_MAX: u64 = 16 << 20;

/// A server that has to be asked more often describes no service.
const CALLS_MAX: usize = 100;

/// Reads what the settings name. Servers are asked when there is a plan.
pub(crate) fn read_described(resolved: &mut Resolved, reader: &Rc<Reader>, errors: &mut PlanErrors) {
    let draft = &resolved.draft;
    if resolved.contents.get(plan::DESCRIPTORS).is_some() {
        return;
    }
    if let Some(path) = &draft.descriptors {
        // What cannot be read has been told.
        if let Some(set) = resolved.contents.get(path).filter(|set| !set.is_empty()).cloned() {
            resolved.contents.insert(plan::DESCRIPTORS, set);
        }
    } else if !draft.proto.is_empty() {
        let reading = reader.clone();
        let read = move |path: &str| reading.whole(path, PROTO_BYTES_MAX).map(|bytes| bytes.to_vec());
        match grpc::compile(&draft.proto, &draft.proto_path, read) {
            Ok(set) => resolved.contents.insert(plan::DESCRIPTORS, set),
            Err(wrong) => {
                wrong.into_iter().for_each(|wrong| errors.push(PlanError::new(PROTO, format!("{PROTO}: {}", wrong.message), wrong.help)));
            }
        }
    }
}

/// Whether servers are to be asked what the messages of a plan's calls are like.
pub(crate) fn are_asked_for(plan: &Plan) -> bool {
    let source = plan.messages();
    source.protos.is_empty() && source.descriptors.is_none() && plan.contents().get(plan::DESCRIPTORS).is_none()
}

/// The methods that a plan calls.
pub(crate) fn called(plan: &Plan, scenario: Option<&Scenario>) -> Vec<Target> {
    let mut methods = Vec::new();
    if plan.target().scheme().is_grpc() {
        methods.push(plan.target().clone());
    }
    if let Some(scenario) = scenario {
        scenario.work.each_step(&mut |step| {
            if step.talk == Some(Talk::Call) {
                // A server that the plan does not allow is another in the file alone.
                let place = step.elsewhere.as_ref().filter(|place| plan.also().holds(place)).unwrap_or(plan.target());
                methods.push(place.clone().over_grpc().with_path_and_query(step.path.to_string()));
            }
        });
    }
    methods
}

/// Whether one of the methods answers with a stream, as far as that is described.
pub(crate) fn answer_in_streams(methods: &[Target], described: &[u8]) -> bool {
    let Ok(described) = Descriptors::read(described) else { return false };
    methods.iter().filter_map(|method| described.method_at(method.path_and_query()).ok()).any(|method| method.answers_several())
}

/// What servers say of the services that are called, each asked once for all loads of a command.
pub(crate) fn ask(plan: &Plan, methods: &[Target], reader: &Reader) -> Result<Vec<u8>, PlanErrors> {
    let (mut all, mut asked, mut errors) = (Vec::new(), Vec::new(), PlanErrors::default());
    for method in methods {
        let Some((service, _)) = plan::method_of(method.path_and_query()) else { continue };
        let what = format!("{}/{service}", method.origin());
        if asked.contains(&what) {
            continue;
        }
        let described = match grpc::known(service) {
            Some(set) => Ok(set.into()),
            None => reader.asked(&what, || ask_server(plan, method, service)),
        };
        match described {
            // Sets behind one another are one set (<https://protobuf.dev/programming-guides/encoding/#last-one-wins>).
            Ok(set) => all.extend_from_slice(&set),
            Err(error) => errors.push(error),
        }
        asked.push(what);
    }
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

/// What one server says of one service.
fn ask_server(plan: &Plan, server: &Target, service: &str) -> Result<Arc<[u8]>, PlanError> {
    for method in METHODS {
        match gather(plan, &server.clone().with_path_and_query(method.to_owned()), service) {
            Ok(Gathered::Set(set)) => return Ok(set.into()),
            Ok(Gathered::Others(services)) => return Err(others(service, &services)),
            // The next may be one that it has.
            Err(AskError::Failed(Failure::GrpcUnimplemented, _)) => {}
            Err(AskError::Unreached(error)) => {
                let RunError { message, help, .. } = *error;
                return Err(PlanError::new("url", message, help));
            }
            Err(AskError::Failed(failure, words)) => {
                let words = if words.is_empty() { failure.about().to_owned() } else { format!("{}: {words}", failure.about()) };
                return Err(no_answer(&words));
            }
        }
    }
    Err(no_answer("it does not offer reflection"))
}

fn no_answer(why: &str) -> PlanError {
    let message = format!("the server does not say what its messages are like: {why}");
    PlanError::new(
        "url",
        message,
        format!("name what describes them with {PROTO:#} FILE and {PROTO_PATH:#} DIR, or with {DESCRIPTORS:#} FILE"),
    )
}

/// A service that is not there, with those that are.
fn others(service: &str, services: &[String]) -> PlanError {
    let help = grpc::instead_of(service, services.iter().map(String::as_str));
    PlanError::new("url", format!("the server has no service '{service}'"), help)
}

fn gather(plan: &Plan, method: &Target, service: &str) -> Result<Gathered, AskError> {
    let failed = |why: String| AskError::Failed(Failure::GrpcProtocol, why);
    // What is asked goes as it is, and an answer comes as the question went.
    let headers: Vec<(String, String)> =
        plan.request().headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("grpc-encoding")).cloned().collect();
    let mut bytes = engine::head(plan, method, "POST", &headers).map_err(|error| AskError::Unreached(Box::new(error)))?;
    bytes.extend_from_slice(b"\r\n");
    let head = bytes.len();
    let mut gathering = Gathering::of(service);
    let mut calls = 0;
    while let Some(content) = gathering.asks() {
        calls += 1;
        if calls > CALLS_MAX {
            return Err(failed(format!("it was asked {CALLS_MAX} times")));
        }
        bytes.truncate(head);
        bytes.extend_from_slice(&content);
        let request = Encoded { bytes: bytes.clone(), layout: Layout::new("POST", head) };
        let answer = engine::ask(&Runner::within(&Fence::open()), plan, method, request)?;
        gathering.take(&answer).map_err(failed)?;
    }
    Ok(gathering.finish())
}
