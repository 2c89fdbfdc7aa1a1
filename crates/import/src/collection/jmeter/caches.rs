//! Cache managers: what users keep in mind of answers, and when they forget it.

use std::num::NonZeroU32;

use plan::work::Cache;

use super::tree::Element;
use super::{Reading, Scope};

/// A cache manager knows so many answers where it does not say.
const AT_MOST: u32 = 5000;

impl<'e> Reading<'e> {
    /// What the user of a sampler keeps in mind of its answer, by the cache manager that holds for it.
    pub(super) fn cache_of(&mut self, scope: &Scope<'e>) -> Option<Cache> {
        let manager = scope.cache?;
        let known = self.caches.iter().position(|known| std::ptr::eq(*known, manager));
        let place = known.unwrap_or_else(|| {
            self.caches.push(manager);
            self.caches.len() - 1
        });
        let said = manager.text("maxSize");
        let at_most = if said.trim().is_empty() { Some(AT_MOST.into()) } else { self.names.number(said) };
        if at_most.is_none() {
            self.leave_out(
                manager,
                &Scope::default(),
                format!("its size '{said}' is known only on the way, so it knows {AT_MOST} answers"),
            );
        }
        // Numbers that are larger are cut off at the largest there is.
        let at_most = NonZeroU32::new(at_most.map_or(AT_MOST, |most| most as u32)).unwrap_or(NonZeroU32::MIN);
        Some(Cache {
            at_most,
            always_ask: !manager.is_on("useExpires", false),
            all_methods: true,
            number: u16::try_from(place + 1).unwrap_or(u16::MAX),
        })
    }
}

impl<'e> Reading<'e> {
    /// Whether users of a group forget what they keep in mind with each iteration. They forget all of it.
    pub(super) fn forgets_caches(&mut self, group: &'e Element) -> bool {
        let emptied = self.caches.iter().filter(|manager| is_emptied(manager, group)).count();
        if emptied > 0 && emptied < self.caches.len() {
            let why = "of its cache managers some are cleared with each iteration: here all are";
            self.leave_out(group, &Scope::default(), why);
        }
        emptied > 0
    }
}

/// Whether a cache manager forgets what it keeps in mind with each iteration of a group.
fn is_emptied(manager: &Element, group: &Element) -> bool {
    if manager.is_on("CacheManager.controlledByThread", false) {
        return !group.is_on("ThreadGroup.same_user_on_next_iteration", true);
    }
    manager.is_on("clearEachIteration", false)
}
