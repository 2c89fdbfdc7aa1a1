//! The tables, as the steps that lead to them.
//!
//! A step that has been released is never edited: files it made are out there, and would differ from those made anew. What
//! changes is a new step at the end. How many were taken stands in the file (`user_version`), beside a mark that the file is
//! ours (`application_id`).
//!
//! Results stand in a table of their own: a list of ten thousand runs must not read through their megabytes.

/// "LOAD" in ASCII.
pub(crate) const APPLICATION_ID: u32 = 0x4C4F_4144;

/// Each step leads from the version of its place to the next.
pub(crate) const STEPS: &[&str] = &["
    CREATE TABLE run (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        target TEXT NOT NULL,
        started_ms INTEGER NOT NULL,
        saved_ms INTEGER NOT NULL,
        origin TEXT NOT NULL,
        outcome TEXT NOT NULL,
        qps REAL,
        p50_ns INTEGER,
        p99_ns INTEGER,
        failed_share REAL,
        machine TEXT NOT NULL,
        revision TEXT,
        branch TEXT,
        changes TEXT,
        note TEXT NOT NULL,
        stored_bytes INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX run_by_start ON run (started_ms DESC, seq DESC);
    CREATE INDEX run_by_name ON run (name, started_ms DESC, seq DESC);

    CREATE TABLE tag (
        run INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (run, tag)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX tag_by_name ON tag (tag, run);

    CREATE TABLE result (
        run INTEGER PRIMARY KEY REFERENCES run (seq) ON DELETE CASCADE,
        plan TEXT NOT NULL,
        json_zlib BLOB NOT NULL
    ) STRICT;

    CREATE TABLE baseline (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL,
        kind TEXT NOT NULL,
        run INTEGER NOT NULL REFERENCES run (seq) ON DELETE CASCADE,
        UNIQUE (name, kind)
    ) STRICT;
    CREATE INDEX baseline_by_run ON baseline (run);
"];

/// The latest version.
pub(crate) fn version() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FNV-1a: enough to notice an edit.
    fn mark(text: &str) -> u64 {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |mark, byte| (mark ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    #[test]
    fn a_step_that_was_released_is_not_edited() {
        let marks: Vec<u64> = STEPS.iter().map(|step| mark(step)).collect();
        assert_eq!(marks, [17_193_871_843_634_475_128], "add a step at the end, and its mark here");
    }
}
