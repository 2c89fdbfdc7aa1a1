//! How a request is written, what is loaded behind a page, what users know of answers that they have had, and what of all that they keep they forget.

use std::num::NonZeroU32;

use plan::Charset;
use plan::work::{Cache, Item, Resources};

use super::Reading;
use super::items::USERS_MAX;
use crate::keys::{CACHE, RESOURCES};
use crate::yaml::{Node, Value};

impl Reading<'_> {
    /// Which of what a page names is loaded, if anything.
    pub(super) fn resources(&mut self, node: &Node) -> Option<Resources> {
        if !matches!(node.value, Value::Map(_)) {
            return self.truth(node)?.then(Resources::default);
        }
        let mut entries = self.shape(node, &RESOURCES)?;
        let at_once = entries.value("at_once").and_then(|node| self.at_once(node, "resources"));
        let [only, except] = ["only", "except"].map(|name| {
            let node = entries.value(name)?;
            let text = self.plain(node)?;
            if let Err(mistake) = step::regex(&text) {
                let spot = self.within(node, &text, mistake.at, mistake.length);
                self.wrong(spot, mistake.message, mistake.help);
            }
            Some(text)
        });
        let are_part = entries.value("part_of_page").and_then(|node| self.truth(node)).unwrap_or(false);
        Some(Resources { at_once: at_once.unwrap_or(Resources::AT_ONCE), only, except, are_part })
    }

    /// How many of these are under way at a time.
    pub(super) fn at_once(&mut self, node: &Node, of: &str) -> Option<NonZeroU32> {
        let at_once = NonZeroU32::new(self.whole(node, USERS_MAX)? as u32);
        if at_once.is_none() {
            let help = "write one or more, such as at_once: 6, or leave it out";
            self.wrong(node.spot, format!("nothing is done with 0 {of} at once"), help);
        }
        at_once
    }

    /// What users know of answers that they have had, if anything.
    pub(super) fn cache(&mut self, node: &Node) -> Option<Cache> {
        if !matches!(node.value, Value::Map(_)) {
            return self.truth(node)?.then(Cache::default);
        }
        let mut entries = self.shape(node, &CACHE)?;
        let at_most = entries.value("at_most").and_then(|node| {
            let at_most = NonZeroU32::new(self.whole(node, u32::MAX.into())? as u32);
            if at_most.is_none() {
                self.wrong(
                    node.spot,
                    "nothing is known in a cache of 0 answers",
                    "write one or more, such as at_most: 1000, or cache: false",
                );
            }
            at_most
        });
        let [always_ask, all_methods] =
            ["always_ask", "all_methods"].map(|name| entries.value(name).and_then(|node| self.truth(node)).unwrap_or(false));
        let number = entries.value("number").and_then(|node| {
            let number = self.whole(node, u16::MAX.into())? as u16;
            if number == 0 {
                self.wrong(node.spot, "caches are numbered from 1", "write one or more, such as number: 2");
            }
            Some(number)
        });
        Some(Cache { at_most: at_most.unwrap_or(Cache::AT_MOST), always_ask, all_methods, number: number.unwrap_or(1) })
    }

    /// How letters are written, by the name of it; `Some(None)` is UTF-8.
    pub(super) fn charset(&mut self, node: &Node) -> Option<Option<Charset>> {
        let name = self.plain(node)?;
        let help = "write a name such as windows-1252, iso-8859-15 or shift_jis";
        Charset::named(&name).map_err(|why| self.wrong(node.spot, why, help)).ok()
    }

    /// The same of what is sent.
    pub(super) fn encoding(&mut self, node: &Node) -> Option<Charset> {
        let charset = self.charset(node)??;
        if !charset.is_written() {
            let help = "write one in which each letter of ASCII is one byte, such as windows-1252";
            self.wrong(node.spot, format!("no request is written in {charset}"), help);
            return None;
        }
        Some(charset)
    }

    /// What a user forgets.
    pub(super) fn forgotten(&mut self, node: &Node) -> Option<Item> {
        match self.plain(node)?.as_str() {
            "cookies" => Some(Item::ForgetCookies),
            "cache" => Some(Item::ForgetCache),
            "connections" => Some(Item::ForgetConnections),
            _ => {
                let help = "write forget: cookies, forget: cache or forget: connections, each as a step of its own";
                self.wrong(node.spot, "users forget cookies, their cache and connections, and nothing else", help);
                None
            }
        }
    }
}
