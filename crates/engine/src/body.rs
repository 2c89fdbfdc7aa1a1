//! stub
use plan::Body;
use crate::RunError;
pub fn read(body: &Body) -> Result<Vec<u8>, RunError> { match body { Body::Bytes(b) => Ok(b.clone()), _ => Ok(vec![]) } }
