//! Webbench's two lines.

/// What was counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Answers that came whole, whatever their status.
    pub succeeded: u64,
    /// Everything else.
    pub failed: u64,
    /// Bytes of the answers.
    pub bytes: u64,
}

/// The report of a run of so many seconds. The original's spelling stays: it is what scripts look for. Counts are not cut to 31 bits.
#[must_use]
pub fn report(counts: &Counts, secs: u64) -> String {
    let Counts { succeeded, failed, bytes } = *counts;
    let secs = secs.max(1);
    let pages = (succeeded + failed) * 60 / secs;
    format!("\nSpeed={pages} pages/min, {} bytes/sec.\nRequests: {succeeded} susceed, {failed} failed.\n", bytes / secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_cut_not_rounded() {
        assert_eq!(
            report(&Counts { succeeded: 6_171, failed: 1, bytes: 20_367_059 }, 30),
            "\nSpeed=12344 pages/min, 678901 bytes/sec.\nRequests: 6171 susceed, 1 failed.\n"
        );
        assert_eq!(report(&Counts::default(), 7), "\nSpeed=0 pages/min, 0 bytes/sec.\nRequests: 0 susceed, 0 failed.\n");
        let many = Counts { succeeded: 3_000_000_000, failed: 0, bytes: 5_000_000_000 };
        assert_eq!(report(&many, 1), "\nSpeed=180000000000 pages/min, 5000000000 bytes/sec.\nRequests: 3000000000 susceed, 0 failed.\n");
    }
}
