//! What a plan expects of answers: the same promises that a scenario's steps make, and a row for each URL they are counted in.

use std::sync::Arc;

use measure::{Failure, Outcome, Recorder, Status, StepCounts, SuccessRule, Tally};
use plan::setting::EXPECT;
use plan::{Plan, PlanError, PlanErrors, Secrets, Target};
use step::{Answer, Check, Exchange, Headers, Reading};

use crate::sink::{AnswerNeeds, AnswerSink};
use crate::witness::Witness;

/// So many URLs have a row of their own; those of a longer list have one together, so that memory does not grow with it.
const ROWS_MAX: usize = 100;

/// The promises and the rows of a plan.
#[derive(Default)]
pub(crate) struct Expectations {
    checks: Vec<Check>,
    /// What they look at.
    pub(crate) heard: AnswerNeeds,
    /// Whether they say which statuses are right.
    pub(crate) judges_status: bool,
    names: Vec<Arc<str>>,
    /// The row of each route.
    row_of: Vec<usize>,
    /// Where each goes.
    servers: Vec<Target>,
    /// Who sees everything, if anybody does.
    pub(crate) witness: Option<Witness>,
}

impl Expectations {
    /// Reads what is expected, and gives each URL its row: none for a plan that neither expects anything nor has a list.
    pub(crate) fn of(plan: &Plan, errors: &mut PlanErrors) -> Self {
        let mut expected = Self::default();
        for text in &plan.variation().expects {
            match Check::parse(text) {
                Ok(check) if check.variable().is_some() => {
                    let message = format!("{EXPECT}: variables are those of a scenario, and there is none");
                    errors.push(PlanError::new(EXPECT, message, "hold a part of the answer against it, such as body contains welcome"));
                }
                Ok(check) => {
                    expected.heard = expected.heard.with_check(&check);
                    expected.judges_status |= check.words().starts_with("status");
                    expected.checks.push(check);
                }
                Err(wrong) => {
                    let carets =
                        plan::carets(text, text[..wrong.at].chars().count(), text[wrong.at..wrong.at + wrong.length].chars().count());
                    errors.push(PlanError::new(EXPECT, format!("{EXPECT}: {}{carets}", wrong.message), wrong.help));
                }
            }
        }
        let request = plan.request();
        match &plan.variation().mix {
            Some(mix) => {
                for route in &mix.routes {
                    let method = route.method.as_deref().unwrap_or(&request.method);
                    let at_home = route.target.same_origin(plan.target());
                    let place = if at_home { route.target.path_and_query().to_owned() } else { route.target.to_string() };
                    let row = expected.row(&format!("{method} {place}"));
                    expected.row_of.push(row);
                    expected.servers.push(route.target.clone());
                }
            }
            None if !expected.checks.is_empty() => {
                let row = expected.row(&format!("{} {}", request.method, plan.target().path_and_query()));
                expected.row_of.push(row);
                expected.servers.push(plan.target().clone());
            }
            None => {}
        }
        expected
    }

    /// Its name is printed and saved, and so tells no secret of its URL.
    fn row(&mut self, name: &str) -> usize {
        let name = plan::url_without_secrets(name);
        if let Some(row) = self.names.iter().position(|known| **known == *name) {
            return row;
        }
        match self.names.len() {
            ROWS_MAX => self.names.push("all other URLs".into()),
            more if more > ROWS_MAX => return ROWS_MAX,
            _ => self.names.push(name.into()),
        }
        self.names.len() - 1
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.names.is_empty()
    }

    /// The row that requests of this route are counted in, if there are any.
    pub(crate) fn row_of(&self, route: usize) -> Option<usize> {
        self.row_of.get(route).copied()
    }

    pub(crate) fn tally(&self) -> Tally {
        let checks = || self.checks.iter().map(|check| Arc::from(check.words()));
        Tally { steps: self.names.iter().map(|name| StepCounts::named(name.clone(), 0, checks())).collect(), ..Tally::default() }
    }

    /// Copies for one thread: expressions keep scratch memory of their own.
    pub(crate) fn checks(&self) -> Vec<Check> {
        self.checks.clone()
    }

    /// Counts a request that is over, with what its answer was held against.
    pub(crate) fn record(
        &self,
        checks: &[Check],
        route: usize,
        (request, sink): (&[u8], &AnswerSink),
        outcome: &Outcome,
        recorder: &mut Recorder,
    ) {
        let Some(row) = self.row_of(route) else { return recorder.record(outcome) };
        let name = &self.names[row];
        let judged = match outcome.result {
            Err(failure) => {
                recorder.step_failed(row, failure, outcome.done, || name.to_string());
                SuccessRule::ByStatus
            }
            Ok(status) => self.judge(checks, (row, route, status), (request, sink), outcome, recorder),
        };
        recorder.record_step(outcome, row, judged);
    }

    fn judge(
        &self,
        checks: &[Check],
        (row, route, status): (usize, usize, u16),
        (request, sink): (&[u8], &AnswerSink),
        outcome: &Outcome,
        recorder: &mut Recorder,
    ) -> SuccessRule {
        let mut judged =
            if Status(status).is_success() || self.judges_status { SuccessRule::Well } else { SuccessRule::Failed(Failure::CheckStatus) };
        let name = &self.names[row];
        if let Some(refusal) = sink.refusal() {
            let said = || format!("{name}: {refusal}");
            recorder.step_example(row, Failure::CheckFailed, outcome.done, said);
            return SuccessRule::Failed(Failure::CheckFailed);
        }
        let answer = Answer { status, headers: Headers::lines(&sink.headers), body: &sink.body, elapsed: outcome.response_time() };
        let reading =
            Reading::of_exchange(answer, Exchange { server: &self.servers[route], request, received: outcome.bytes_in, hops: b"" });
        for (number, check) in checks.iter().enumerate() {
            let held = check.of(&reading);
            if let Some(witness) = &self.witness {
                witness.checked(check.words(), held.as_ref().copied().map_err(ToString::to_string));
            }
            match held {
                Ok(()) => recorder.checked(outcome, row, number, Ok::<(), fn() -> String>(())),
                Err(broken) => {
                    // A server may send back what it was sent.
                    let said = || Secrets::of_request(request).conceal(&broken.to_string());
                    recorder.checked(outcome, row, number, Err(said));
                    if judged == SuccessRule::Well {
                        let is_status = !Status(status).is_success() && check.words().starts_with("status");
                        let failure = if is_status { Failure::CheckStatus } else { Failure::CheckFailed };
                        judged = SuccessRule::Failed(failure);
                        recorder.step_example(row, failure, outcome.done, || format!("{name}: {}", said()));
                    }
                }
            }
        }
        if judged == SuccessRule::Failed(Failure::CheckStatus) {
            recorder.step_failed(row, Failure::CheckStatus, outcome.done, || format!("{name}: answered with the status {status}"));
        }
        judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_called_by_its_url_without_secrets() {
        let mut expected = Expectations::default();
        let rows = ["GET /a?b=1&api_key=k1&token=t1&c", "GET /a?b=1&api_key=k2&token=t2&c", "GET /a"].map(|name| expected.row(name));
        assert_eq!(rows, [0, 0, 1], "those that differ in a secret alone are one");
        assert_eq!(expected.names.iter().map(|name| &**name).collect::<Vec<_>>(), ["GET /a?b=1&api_key=***&token=***&c", "GET /a"]);
    }
}
