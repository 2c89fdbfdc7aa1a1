//! Bytes of memory that an idle user takes: one that has had an answer and waits for the next.
//!
//! Counted by the allocator, in the simulated engine: the difference between many users and few, less what the simulated connections
//! and the server take themselves. Resident memory, which `make bench` measures, holds the kernel's pages and the allocator's too, and
//! is never the same twice.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;

use crate::work::{self, Work};

/// The system's allocator, with a count of what is allocated and not freed.
pub struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// The two calls are handed on as they are.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Bytes that are allocated now.
pub fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// Few and many users.
const USERS: [u32; 2] = [100, 1100];

/// What one more user of this work takes.
pub fn per_user(work: Work) -> Result<f64> {
    let [few, many] = USERS;
    let slope = |bytes: [usize; 2]| (bytes[1] as f64 - bytes[0] as f64) / f64::from(many - few);
    let ours = slope([work.idle(few)?, work.idle(many)?]);
    Ok((ours - slope([work::bare_idle(few), work::bare_idle(many)])).round())
}
