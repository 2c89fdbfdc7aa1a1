//! Routes of requests, for those who come across the same requests twice.

use crate::route::Routes;

/// Which routes there are: told every request first, and then that these were all, it knows the route of each after.
#[derive(Debug, Default)]
pub struct RouteIndex {
    routes: Routes,
}

impl RouteIndex {
    /// Takes a request into account.
    #[inline]
    pub fn note(&mut self, method: &[u8], path: &[u8]) {
        self.routes.of(method, path).add(0, 0, None);
    }

    /// Decides which names stand for themselves, once all requests are noted.
    pub fn settle(&mut self) {
        self.routes.settle();
    }

    /// The number of the route of a request that was noted; 0 where routes beyond the number that is kept stand together.
    #[must_use]
    pub fn number(&self, method: &[u8], path: &[u8]) -> u32 {
        self.routes.known(method, path)
    }

    /// Number, method and text of every route: `(3, "GET", "/users/{id}")`.
    #[must_use]
    pub fn names(&self) -> Vec<(u32, String, String)> {
        self.routes.numbered()
    }
}
