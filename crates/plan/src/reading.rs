//! A load that is taken apart, and the mistakes that are met.

use std::fmt;

use crate::setting::SettingName;
use crate::{PlanError, PlanErrors, Setting, Wording};

/// Collects mistakes while a draft is taken apart.
pub(crate) struct Reading {
    pub(crate) errors: PlanErrors,
}

impl Reading {
    pub(crate) fn wrong(&mut self, setting: impl Into<&'static str>, message: impl Into<Wording>, help: impl Into<Wording>) {
        self.errors.push(PlanError::new(setting, message, help));
    }

    pub(crate) fn value<T>(&mut self, setting: SettingName, given: Option<Setting<T>>, help: impl fmt::Display) -> Option<T> {
        match given? {
            Setting::Value(value) => Some(value),
            Setting::Wrong { text, why } => {
                self.wrong(setting, format!("{setting:#} '{text}' {why}"), help.to_string());
                None
            }
        }
    }
}
