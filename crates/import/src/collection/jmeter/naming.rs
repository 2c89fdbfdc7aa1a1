//! What variables of a plan are called here.
//!
//! Names of a plan hold any signs, and here letters, digits and `_`. So several of a plan would have one name here: of these, one keeps it,
//! and those of the others spell their signs.

use std::collections::{BTreeMap, BTreeSet};

use plan::template::{Template, Value};
use plan::work::{spelled_name, variable_name};

use super::text::Names;

impl Names<'_> {
    /// What a variable is called here.
    pub(super) fn plain(&self, name: &str) -> String {
        self.renamed.get(name.trim()).cloned().unwrap_or_else(|| variable_name(name))
    }

    /// Only a variable, by its name in the plan.
    pub(super) fn variable(&self, name: &str) -> Template {
        Value::Variable(self.plain(name)).into()
    }

    /// Gives variables names in which signs are spelled, where they would have the same one as another. What is named only, and has no
    /// value, is told apart from what has one.
    pub(super) fn tell_apart(&mut self, given: &BTreeSet<&str>) {
        let given: BTreeSet<&str> = given.iter().map(|name| name.trim()).collect();
        let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let named = self.mentions.references.iter().copied().filter(|name| !given.contains(name));
        for name in given.iter().copied().chain(named) {
            alike.entry(variable_name(name)).or_default().push(name);
        }
        alike.retain(|_, names| names.len() > 1 && names.iter().any(|name| given.contains(name)));
        let mut renamed: BTreeMap<String, String> = BTreeMap::new();
        let mut called: BTreeMap<String, &str> =
            given.iter().map(|name| (variable_name(name), *name)).filter(|(plain, _)| !alike.contains_key(plain)).collect();
        for (plain, names) in &alike {
            // Who is called so there is called so here.
            let first = names.iter().copied().find(|name| name == plain).unwrap_or(names[0]);
            for name in names.iter().copied() {
                let own = if name == first { plain.clone() } else { spelled_name(name) };
                match called.get(&own).copied() {
                    Some(other) if given.contains(name) => {
                        self.namesakes.insert(name.to_owned(), other.to_owned());
                        self.namesakes.insert(other.to_owned(), name.to_owned());
                    }
                    _ => _ = called.insert(own.clone(), name),
                }
                renamed.insert(name.to_owned(), own);
            }
        }
        renamed.retain(|name, own| variable_name(name) != *own);
        self.renamed = renamed;
    }
}
