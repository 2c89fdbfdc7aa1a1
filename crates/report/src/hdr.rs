//! The distribution of response times in HdrHistogram's percentile text, which its plotter and many scripts read.
//!
//! Laid out as `outputPercentileDistribution` of HdrHistogram does with 5 ticks for each halving of what lies above, values
//! in milliseconds. Mean and deviation in the footer are those of the exact sums, not of bucket middles, and so differ from
//! its own by up to 0.1 %.

use std::io;

use analysis::Reading;
use measure::Histogram;
use plan::Nanos;

use crate::{Format, Style};

/// HdrHistogram's percentile text.
pub const FORMAT: Format =
    Format { name: "hdr", about: "the distribution of response times as HdrHistogram's percentile text", extension: "hgrm", render };

/// As HdrHistogram's own tools and wrk2 print it.
const TICKS_PER_HALF_DISTANCE: u32 = 5;
/// With three significant digits (the least power of two above 2 × 10³).
const SUB_BUCKETS: u64 = 2048;

fn render(reading: &Reading<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    distribution(&reading.run.response_time, out)
}

fn distribution(times: &Histogram, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let mut counted = 0;
    for step in times.to_hdr().iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        counted += step.count_since_last_iteration();
        let value = Nanos(step.value_iterated_to()).as_millis_f64();
        let level = step.quantile_iterated_to();
        write!(out, "{value:>12.3} {level:.12} {counted:>10}")?;
        if level < 1.0 {
            write!(out, " {:>14.2}", 1.0 / (1.0 - level))?;
        }
        writeln!(out)?;
    }
    let millis = |ns: Option<f64>| ns.unwrap_or(0.0) / 1e6;
    let max = times.max().unwrap_or_default();
    writeln!(out, "#[Mean    = {:>12.3}, StdDeviation   = {:>12.3}]", millis(times.mean()), millis(times.stdev()))?;
    writeln!(out, "#[Max     = {:>12.3}, Total count    = {:>12}]", max.as_millis_f64(), times.count())?;
    writeln!(out, "#[Buckets = {:>12}, SubBuckets     = {SUB_BUCKETS:>12}]", buckets(max))
}

/// How many times the range of the sub-buckets has to be doubled until it holds the greatest value, and one.
fn buckets(max: Nanos) -> u32 {
    let mut buckets = 1;
    while buckets < 54 && (SUB_BUCKETS << (buckets - 1)) <= max.0 {
        buckets += 1;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(times: &Histogram) -> String {
        let mut bytes = Vec::new();
        distribution(times, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn it_is_laid_out_as_hdr_histogram_does() {
        let mut times = Histogram::new();
        (1..=1_000).for_each(|ms| times.record(Nanos::from_millis(ms)));
        let text = written(&times);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "       Value     Percentile TotalCount 1/(1-Percentile)");
        assert_eq!(lines[1], "");
        assert_eq!(lines[3], "     100.008 0.100000000000        100           1.11");
        assert_eq!(lines[lines.len() - 4], "    1000.342 1.000000000000       1000");
        assert_eq!(lines[lines.len() - 3], "#[Mean    =      500.500, StdDeviation   =      288.819]");
        assert_eq!(lines[lines.len() - 2], "#[Max     =     1000.000, Total count    =         1000]");
    }

    #[test]
    fn counts_and_levels_climb_to_the_whole() {
        let mut times = Histogram::new();
        (0..5_000u64).for_each(|k| times.record(Nanos(100_000 + k * k)));
        let text = written(&times);
        let rows: Vec<Vec<f64>> = text
            .lines()
            .skip(2)
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().map(|cell| cell.parse().unwrap()).collect())
            .collect();
        assert!(rows.windows(2).all(|pair| pair[0][0] <= pair[1][0] && pair[0][1] <= pair[1][1] && pair[0][2] <= pair[1][2]));
        assert_eq!(rows.last().unwrap()[1..], [1.0, 5_000.0]);
    }

    #[test]
    fn nothing_measured_is_a_header_and_a_footer() {
        let text = written(&Histogram::new());
        assert!(text.ends_with("SubBuckets     =         2048]\n") && !text.contains("NaN"), "{text}");
    }
}
