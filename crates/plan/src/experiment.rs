//! The settings of a search and of a comparison besides those of their load, as typed.

use std::num::NonZeroU32;

use clap::Args;
use serde::{Deserialize, Serialize};

use crate::{Margin, Nanos, Rate, Setting};

/// How a search is carried out.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchDraft {
    /// Take at most this long [default: 3m; 1m with --quick, 1h with --publish]
    #[arg(long, value_name = "TIME", help_heading = "Search")]
    pub budget: Option<Setting<Nanos>>,

    /// Answer within a minute, to 5 %
    #[arg(long, conflicts_with = "publish", help_heading = "Search")]
    pub quick: bool,

    /// Answer within an hour, to 1 %, with a soak of ten minutes
    #[arg(long, help_heading = "Search")]
    pub publish: bool,

    /// Never load with more than this, such as 2000/s
    #[arg(long, value_name = "RATE", help_heading = "Search")]
    pub rate_max: Option<Setting<Rate>>,
}

/// How a comparison is carried out.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ComparisonDraft {
    /// Measure this many pairs; fewer than 5 give no verdict [default: 5 to 20, by how much the first 5 differ among each other]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Comparison")]
    pub pairs: Option<Setting<NonZeroU32>>,

    /// A change up to this does not matter, such as 3% [default: 2% of rates and the median, 5% of p95 and p99]
    #[arg(long, value_name = "PERCENT", allow_negative_numbers = true, help_heading = "Comparison")]
    pub margin: Option<Setting<Margin>>,

    /// Rest for this long between runs [default: 500ms]
    #[arg(long, value_name = "TIME", help_heading = "Comparison")]
    pub cooldown: Option<Setting<Nanos>>,
}
