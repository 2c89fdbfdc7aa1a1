//! Results of several loads (a sweep, a search, a comparison) as files: what all of them have, whichever they are.

use analysis::Sweep;
use analysis::comparison::Comparison;
use analysis::found::CapacityReport;

use crate::page::{self, RenderedPage};
use crate::{COMPARE_FORMATS, FIND_FORMATS, Rendering, ResultFile, SWEEP_FORMATS, compare, find, sweep};

/// A result of several loads.
pub trait Experiment: Sized + 'static {
    /// The endings of its files.
    const ENDINGS: &'static [&'static str];
    /// Every format of it.
    const FORMATS: &'static [Rendering<Self>];

    /// Whether nothing was measured.
    fn is_empty(&self) -> bool;

    /// Every file of it, one for each of the endings.
    fn files(&self) -> Vec<ResultFile>;

    /// The file with everything in it.
    fn json(&self) -> ResultFile;

    /// The report for a place that has no charts beside it.
    fn markdown_without_charts(&self) -> String;

    /// What a browser shows.
    fn page(&self) -> RenderedPage;
}

const IN_MEMORY: &str = "memory takes every byte";

impl Experiment for Sweep {
    const ENDINGS: &'static [&'static str] =
        &[".dat", ".json", "_qps_ttlb.png", "_qps_ttlb.svg", "_successrate.png", "_successrate.svg", ".md"];
    const FORMATS: &'static [Rendering<Self>] = SWEEP_FORMATS;

    fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    fn files(&self) -> Vec<ResultFile> {
        sweep::files(self).expect(IN_MEMORY)
    }

    fn json(&self) -> ResultFile {
        sweep::json(self).expect(IN_MEMORY)
    }

    fn markdown_without_charts(&self) -> String {
        sweep::markdown::without_charts(self)
    }

    fn page(&self) -> RenderedPage {
        page::sweep(self)
    }
}

impl Experiment for CapacityReport {
    const ENDINGS: &'static [&'static str] = &[".find.json", "_find.png", "_find.svg", ".find.md"];
    const FORMATS: &'static [Rendering<Self>] = FIND_FORMATS;

    fn is_empty(&self) -> bool {
        self.trials.is_empty()
    }

    fn files(&self) -> Vec<ResultFile> {
        find::files(self).expect(IN_MEMORY)
    }

    fn json(&self) -> ResultFile {
        find::json(self).expect(IN_MEMORY)
    }

    fn markdown_without_charts(&self) -> String {
        find::markdown::without_charts(self)
    }

    fn page(&self) -> RenderedPage {
        page::find(self)
    }
}

impl Experiment for Comparison {
    const ENDINGS: &'static [&'static str] = &[".compare.json", ".compare.md", "_shift.png", "_shift.svg"];
    const FORMATS: &'static [Rendering<Self>] = COMPARE_FORMATS;

    fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    fn files(&self) -> Vec<ResultFile> {
        compare::files(self).expect(IN_MEMORY)
    }

    fn json(&self) -> ResultFile {
        compare::json(self).expect(IN_MEMORY)
    }

    fn markdown_without_charts(&self) -> String {
        compare::without_charts(self)
    }

    fn page(&self) -> RenderedPage {
        page::compare(self)
    }
}
