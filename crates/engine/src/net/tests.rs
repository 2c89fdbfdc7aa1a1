//! Connections to servers of this process: each misbehaves in one way.
