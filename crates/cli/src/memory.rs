//! Memory of this process that a load does not need: given back before it begins.
//!
//! Ten thousand connections take some thirteen megabytes, and a start that reads flags, files and a history takes as much again: of code
//! that is not used until the report is written, and in room that the allocator keeps for the next large piece. A container's limit and
//! whoever asks for the resident set count both.

use std::ptr::addr_of;

use rustix::io::Errno;
use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// Large pieces, which are buffers of a moment, are given back as soon as they are freed: from this size on.
const LARGE_BYTES: libc::c_int = 64 * 1024;

/// A histogram of times up to an hour is smaller.
const KEPT_BYTES: libc::c_int = 1024 * 1024;

// SAFETY: symbols of the linker, of which only the addresses are taken.
#[expect(unsafe_code)]
unsafe extern "C" {
    /// Where the linker says that this program begins in memory.
    #[link_name = "__executable_start"]
    static PROGRAM_START: u8;
    /// Where its code ends.
    #[link_name = "etext"]
    static CODE_END: u8;
}

/// Gives back what a load does not need, and lets the allocator give back from now on what is free. Otherwise it learns from every large piece
/// that is freed to keep the next one, and a run that has ended keeps what its users needed. For commands without a load, which read
/// gigabytes through such pieces, learning is right: it is not called for them.
pub fn make_room() {
    give_back_from(LARGE_BYTES);
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: gives free pages back, under the allocator's own lock.
        #[expect(unsafe_code)]
        unsafe {
            libc::malloc_trim(0);
        }
    }
    give_back_code();
}

/// Lets the allocator keep pieces of some size for the next ones: a process that puts together what others count reads thousands of histograms a
/// second, one after the other, and asking the system for each is a third of its time.
pub fn keep_pieces() {
    give_back_from(KEPT_BYTES);
}

/// From which size on pieces are given back as soon as they are freed.
#[cfg_attr(not(target_env = "gnu"), expect(unused_variables, reason = "no other allocator has this setting"))]
fn give_back_from(bytes: libc::c_int) {
    #[cfg(target_env = "gnu")]
    for setting in [libc::M_MMAP_THRESHOLD, libc::M_TRIM_THRESHOLD] {
        // SAFETY: sets a number of the allocator, which takes its own lock.
        #[expect(unsafe_code)]
        unsafe {
            libc::mallopt(setting, bytes);
        }
    }
}

/// Gives back the pages of the program's code and constants. The kernel maps those that are used again when they are, out of the file that
/// it still holds.
fn give_back_code() {
    let start = addr_of!(PROGRAM_START) as usize;
    let end = addr_of!(CODE_END) as usize & !(page_size() - 1);
    // SAFETY: the linker puts nothing between these two that is ever written: the headers, constants and code of the program's file. Pages
    // of it that are given back are read from the file when they are used.
    #[expect(unsafe_code)]
    let given_back = unsafe { madvise(start as *mut _, end.saturating_sub(start), Advice::LinuxDontNeed) };
    // Where the linker leaves a page free between constants and code, the kernel gives back what is on both sides of it, and says so by this error.
    debug_assert!(matches!(given_back, Ok(()) | Err(Errno::NOMEM)), "{given_back:?}");
}
