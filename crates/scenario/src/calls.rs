//! Calls of gRPC, compiled: the method of a step, and its message.

use grpc::{Descriptors, Method, Mistake};
use plan::PlanError;
use plan::setting::{PROTO, SCENARIO};
use plan::template::Template;
use plan::work::{Step, Talk};

use crate::compiled::{Compiling, Content};

impl Compiling<'_> {
    /// The method that a step calls; its message, where it is the same each time, becomes bytes.
    pub(crate) fn called(&mut self, step: &Step, headers: &[(String, Template)], body: &mut Content) -> Option<Method> {
        if step.talk != Some(Talk::Call) {
            return None;
        }
        let contents = self.plan.contents();
        let described = self.described.take().unwrap_or_else(|| {
            Descriptors::of(contents).map_err(|wrong| self.errors.push(PlanError::new(PROTO, wrong.message, wrong.help)))
        });
        let method = described.as_ref().ok().map(|described| described.method_at(&step.path.to_string()));
        self.described = Some(described);
        let metadata = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.plain()?)));
        let method = match method?.and_then(|method| method.packed_as(metadata)) {
            Ok(method) => method,
            Err(Mistake { message, help }) => {
                self.mistaken(step, &message, help);
                return None;
            }
        };
        if let Content::Fixed(json) = body {
            let mut message = Vec::new();
            for wrong in method.encode(json, &mut message).err().into_iter().flatten() {
                self.mistaken(step, &wrong.message, wrong.help);
            }
            *json = message;
        }
        Some(method)
    }

    fn mistaken(&mut self, step: &Step, message: &str, help: String) {
        self.errors.push(PlanError::new(SCENARIO, format!("the step '{}': {message}", step.name), help));
    }
}
