//! Requests that differ: templates written, rows taken from data files, URLs chosen from a list.
//!
//! Whatever can be done once is done before the run: templates are compiled into pieces, variables and files are read, small
//! data files are taken into memory, and large ones are read ahead by a thread. What is left for each request is copying
//! bytes into a buffer that is there already.
//!
//! Invariant: the n-th request of a run is a function of the plan, the files and n; only `{{now}}` is not.

mod behaviour;
mod compiled;
mod data;
mod expectations;
mod feed;
mod kept;
mod record;
mod rows;
mod sink;
mod text;
mod witness;
mod write;

pub use behaviour::Ready;
pub use data::{Data, DataError, MEMORY_BYTES_MAX};
pub use kept::too_few_rows;
pub use record::Fields;
pub use rows::{Dealing, RowOutcome, Rows, too_large_for_each_user};
pub use sink::{AllAnswers, AnswerNeeds, AnswerSink};
pub use text::{Compiler, Text};
pub use witness::{Exchange, Witness};
pub use write::{Place, Writing};
