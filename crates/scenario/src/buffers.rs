//! Buffers that are lent for a moment, so that the next who needs one finds it as large as it was.
//!
//! Invariant: what is kept is bounded, whatever one answer needed.

use std::cell::RefCell;

/// What one large answer needed is not kept for small ones.
const KEPT_BYTES_MAX: usize = 1 << 20;

pub(crate) fn lend(stack: &RefCell<Vec<Vec<u8>>>) -> Vec<u8> {
    stack.borrow_mut().pop().unwrap_or_default()
}

pub(crate) fn take_back(stack: &RefCell<Vec<Vec<u8>>>, mut buffer: Vec<u8>) {
    if buffer.capacity() > 0 && buffer.capacity() <= KEPT_BYTES_MAX {
        buffer.clear();
        stack.borrow_mut().push(buffer);
    }
}
