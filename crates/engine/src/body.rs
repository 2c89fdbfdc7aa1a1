//! stub
use crate::RunError;
use plan::Body;
pub fn read(body: &Body) -> Result<Vec<u8>, RunError> {
    match body {
        Body::Bytes(b) => Ok(b.clone()),
        _ => Ok(vec![]),
    }
}
