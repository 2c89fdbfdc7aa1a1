//! What to do.
