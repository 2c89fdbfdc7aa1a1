//! Services whose messages are the same everywhere.

use crate::compile;

const HEALTH: &str = include_str!("health.proto");

/// The descriptors of a service that every server has alike, as a `FileDescriptorSet`: that of health checks. `None` of all others.
#[must_use]
pub fn known(service: &str) -> Option<Vec<u8>> {
    if service != "grpc.health.v1.Health" {
        return None;
    }
    compile(&["grpc/health/v1/health.proto".to_owned()], &[], |_| Ok(HEALTH.as_bytes().to_vec())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Descriptors;

    #[test]
    fn health_is_known() {
        let described = Descriptors::read(&known("grpc.health.v1.Health").unwrap()).unwrap();
        let check = described.method("grpc.health.v1.Health", "Check").unwrap();
        assert_eq!(check.answer(b"\0\0\0\0\x02\x08\x01").unwrap(), br#"{"status":"SERVING"}"#);
        assert!(described.method("grpc.health.v1.Health", "Watch").unwrap().answers_several());
        assert_eq!(known("grpc.health.v1.Wealth"), None);
    }
}
