//! A page as a tree, read as browsers read it.
//!
//! Tokens against forged requests stand in hidden fields, and pages are seldom well-formed. `html5ever` is the parser of Servo: it
//! builds the tree that a browser builds, whatever the page looks like. The crates that add selectors to it (`scraper`, `dom_query`)
//! set no bound to what a search may cost (docs/decisions/steps.md); so the tree, the [selectors](select) and [XPath](xpath) are our own.
//!
//! A page is a server's, and the rules of HTML can be made to cost much: each paragraph may repeat every formatting element that was
//! left open, and each attribute is compared with all before it. So pages are read in small pieces, and reading ends, as with the
//! end of the page, when there is more than any page has.
//!
//! Invariant: whatever is read, the tree has at most some [`NODES_MAX`] nodes, and looking in it takes at most [`STEPS_MAX`] steps.

pub(crate) mod select;
pub(crate) mod xpath;

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, LocalName, ParseOpts, QualName, ns, parse_document};

/// What follows is not looked at.
pub(crate) const HTML_BYTES_MAX: usize = 1024 * 1024;
/// More elements and texts than the largest pages have: some 300,000 in the HTML specification on one page.
const NODES_MAX: usize = 300_000;
/// Browsers stop nesting here too (Chromium, WebKit: 512).
const DEPTH_MAX: u32 = 512;
/// Read at once; what is between two looks at the bounds.
const PIECE_BYTES: usize = 1024;
/// White space, slashes and quotes in one tag or comment: more than any tag needs, and few enough to be compared with each other.
const SEPARATORS_MAX: usize = 8192;
/// Elements looked at in one search, some tenths of a second.
pub(crate) const STEPS_MAX: u32 = 20_000_000;

/// A node's place in its document.
pub(crate) type Id = u32;
const NONE: Id = Id::MAX;
pub(crate) const ROOT: Id = 0;

/// A page.
#[derive(Debug)]
pub(crate) struct Document {
    nodes: Vec<Node>,
    /// The name of what is no element; the parser promises not to ask for it.
    nameless: QualName,
}

#[derive(Debug)]
struct Node {
    parent: Id,
    before: Id,
    after: Id,
    first: Id,
    last: Id,
    depth: u32,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// The document, comments, instructions.
    Other,
    Element(Element),
    Text(StrTendril),
}

#[derive(Debug)]
pub(crate) struct Element {
    name: QualName,
    attributes: Vec<Attribute>,
}

impl Element {
    pub(crate) fn name(&self) -> &str {
        &self.name.local
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| str::eq_ignore_ascii_case(&attribute.name.local, name)).map(|attribute| &*attribute.value)
    }

    /// Whether it has an attribute whose name begins so.
    pub(crate) fn has_attribute_beginning(&self, prefix: &str) -> bool {
        let begins = |name: &str| name.get(..prefix.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(prefix));
        self.attributes.iter().any(|attribute| begins(&attribute.name.local))
    }
}

impl Document {
    /// Reads a page, whatever it is.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(HTML_BYTES_MAX)]);
        let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
        let mut parser = parse_document(Sink::new(), ParseOpts { tree_builder, ..ParseOpts::default() });
        let mut rest = &*text;
        let (mut seen, mut separators) = (0, 0);
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
            rest = after;
            parser.process(StrTendril::from_slice(piece));
            let sink = &parser.tokenizer.sink.sink;
            if sink.is_full() {
                break;
            }
            // Nothing happens to the tree while a tag is read.
            if sink.events.get() == seen {
                separators += piece.bytes().filter(|byte| byte.is_ascii_whitespace() || b"/\"'=".contains(byte)).count();
                if separators > SEPARATORS_MAX {
                    break;
                }
            } else {
                (seen, separators) = (sink.events.get(), 0);
            }
        }
        parser.finish()
    }

    fn node(&self, id: Id) -> &Node {
        &self.nodes[id as usize]
    }

    pub(crate) fn element(&self, id: Id) -> Option<&Element> {
        match &self.node(id).content {
            Content::Element(element) => Some(element),
            Content::Text(_) | Content::Other => None,
        }
    }

    /// All elements, in the order of the page.
    pub(crate) fn elements(&self) -> impl Iterator<Item = &Element> {
        self.descendants(ROOT).filter_map(|id| self.element(id))
    }

    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        some(self.node(id).parent)
    }

    pub(crate) fn parent_element(&self, id: Id) -> Option<Id> {
        self.parent(id).filter(|parent| self.element(*parent).is_some())
    }

    pub(crate) fn before(&self, id: Id) -> Option<Id> {
        some(self.node(id).before)
    }

    pub(crate) fn after(&self, id: Id) -> Option<Id> {
        some(self.node(id).after)
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(some(self.node(id).first), |child| self.after(*child))
    }

    pub(crate) fn element_before(&self, id: Id) -> Option<Id> {
        std::iter::successors(self.before(id), |other| self.before(*other)).find(|other| self.element(*other).is_some())
    }

    pub(crate) fn element_after(&self, id: Id) -> Option<Id> {
        std::iter::successors(self.after(id), |other| self.after(*other)).find(|other| self.element(*other).is_some())
    }

    /// A node's descendants in the order of the page, without itself.
    pub(crate) fn descendants(&self, of: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(some(self.node(of).first), move |id| {
            if let Some(first) = some(self.node(*id).first) {
                return Some(first);
            }
            let mut id = *id;
            while id != of {
                if let Some(after) = self.after(id) {
                    return Some(after);
                }
                id = self.parent(id)?;
            }
            None
        })
    }

    /// The text in and below a node.
    pub(crate) fn text(&self, id: Id) -> Cow<'_, str> {
        if let Content::Text(text) = &self.node(id).content {
            return Cow::Borrowed(text);
        }
        let mut whole = Cow::Borrowed("");
        for node in self.descendants(id) {
            if let Content::Text(text) = &self.node(node).content {
                if whole.is_empty() {
                    whole = Cow::Borrowed(text);
                } else {
                    whole.to_mut().push_str(text);
                }
            }
        }
        whole
    }

    /// The text below an element as a reader sees it in one line: white space is a single blank, and there is one between blocks. Scripts
    /// and styles are no text; what is preformatted stays as it is. So does jsoup's `Element.text()`.
    pub(crate) fn line(&self, id: Id) -> String {
        let mut line = String::new();
        self.write_line(id, &mut line);
        line.truncate(line.trim_end().len());
        line
    }

    fn write_line(&self, id: Id, line: &mut String) {
        let keeps_space = self.element(id).is_some_and(|element| PREFORMATTED.contains(&element.name()));
        for child in self.children(id) {
            match &self.node(child).content {
                Content::Text(text) if keeps_space => line.push_str(text),
                Content::Text(text) => {
                    for letter in text.chars() {
                        match letter {
                            ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{a0}' => part(line),
                            // What nobody sees.
                            '\u{200b}' | '\u{ad}' => {}
                            letter => line.push(letter),
                        }
                    }
                }
                Content::Element(element) if matches!(element.name(), "script" | "style") => {}
                Content::Element(element) => {
                    let is_block = BLOCKS.contains(&element.name());
                    if is_block {
                        part(line);
                    }
                    self.write_line(child, line);
                    if is_block {
                        part(line);
                    }
                }
                Content::Other => {}
            }
        }
    }

    pub(crate) fn is_text(&self, id: Id) -> bool {
        matches!(self.node(id).content, Content::Text(_))
    }
}

/// Elements whose white space is meant.
const PREFORMATTED: [&str; 4] = ["pre", "plaintext", "title", "textarea"];

/// Elements that begin and end a line, and what breaks one.
const BLOCKS: [&str; 58] = [
    "html",
    "head",
    "body",
    "frameset",
    "noscript",
    "meta",
    "link",
    "title",
    "frame",
    "noframes",
    "section",
    "nav",
    "aside",
    "hgroup",
    "header",
    "footer",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "pre",
    "div",
    "blockquote",
    "hr",
    "address",
    "figure",
    "figcaption",
    "form",
    "fieldset",
    "ins",
    "del",
    "dl",
    "dt",
    "dd",
    "li",
    "table",
    "caption",
    "thead",
    "tfoot",
    "tbody",
    "colgroup",
    "col",
    "tr",
    "th",
    "td",
    "details",
    "menu",
    "article",
    "main",
    "center",
    "template",
    "plaintext",
    "br",
];

/// A blank between what was written and what comes, if there is none yet.
fn part(line: &mut String) {
    if !line.is_empty() && !line.ends_with(' ') {
        line.push(' ');
    }
}

fn some(id: Id) -> Option<Id> {
    (id != NONE).then_some(id)
}

/// So much may still be looked at in one search.
#[derive(Debug)]
pub(crate) struct Budget(Cell<u32>);

impl Budget {
    pub(crate) fn new() -> Self {
        Self(Cell::new(STEPS_MAX))
    }

    /// Whether one more step may be taken.
    #[inline]
    pub(crate) fn step(&self) -> bool {
        self.steps(1)
    }

    #[inline]
    pub(crate) fn steps(&self, count: u32) -> bool {
        let left = self.0.get().saturating_sub(count);
        self.0.set(left);
        left > 0
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// What a search that was given up says.
pub(crate) const TOO_LONG: &str = "was given up: it looked at more than 20,000,000 elements";

/// Where the parser puts what it reads.
struct Sink {
    document: RefCell<Document>,
    /// How often something happened, to tell tags that do not end.
    events: Cell<u64>,
    deepest: Cell<u32>,
}

impl Sink {
    fn new() -> Self {
        let sink = Self {
            document: RefCell::new(Document { nodes: Vec::new(), nameless: QualName::new(None, ns!(html), LocalName::from("")) }),
            events: Cell::new(0),
            deepest: Cell::new(0),
        };
        sink.add(Content::Other);
        sink
    }

    fn is_full(&self) -> bool {
        self.document.borrow().nodes.len() > NODES_MAX || self.deepest.get() > DEPTH_MAX
    }

    fn happened(&self) {
        self.events.set(self.events.get() + 1);
    }

    fn add(&self, content: Content) -> Id {
        self.happened();
        let mut document = self.document.borrow_mut();
        let id = Id::try_from(document.nodes.len()).unwrap_or(NONE - 1);
        document.nodes.push(Node { parent: NONE, before: NONE, after: NONE, first: NONE, last: NONE, depth: 0, content });
        id
    }

    /// Puts a node or a text into `parent`, before `next`, or last if that is [`NONE`].
    fn insert(&self, parent: Id, next: Id, child: NodeOrText<Id>) {
        self.happened();
        let child = match child {
            NodeOrText::AppendNode(node) => {
                self.document.borrow_mut().detach(node);
                node
            }
            NodeOrText::AppendText(text) => {
                let mut document = self.document.borrow_mut();
                let before = if next == NONE { document.node(parent).last } else { document.node(next).before };
                if let Some(before) = some(before)
                    && let Content::Text(known) = &mut document.nodes[before as usize].content
                {
                    known.push_tendril(&text);
                    return;
                }
                drop(document);
                self.add(Content::Text(text))
            }
        };
        let depth = self.document.borrow_mut().link(parent, next, child);
        self.deepest.set(self.deepest.get().max(depth));
    }
}

impl Document {
    /// Puts a node that has no parent into one; gives how deep it is then.
    fn link(&mut self, parent: Id, next: Id, child: Id) -> u32 {
        let before = if next == NONE { self.node(parent).last } else { self.node(next).before };
        let depth = self.node(parent).depth + 1;
        let node = &mut self.nodes[child as usize];
        (node.parent, node.before, node.after, node.depth) = (parent, before, next, depth);
        match some(before) {
            Some(before) => self.nodes[before as usize].after = child,
            None => self.nodes[parent as usize].first = child,
        }
        match some(next) {
            Some(next) => self.nodes[next as usize].before = child,
            None => self.nodes[parent as usize].last = child,
        }
        depth
    }

    fn detach(&mut self, id: Id) {
        let node = &mut self.nodes[id as usize];
        let (parent, before, after) = (node.parent, node.before, node.after);
        (node.parent, node.before, node.after) = (NONE, NONE, NONE);
        let Some(parent) = some(parent) else { return };
        match some(before) {
            Some(before) => self.nodes[before as usize].after = after,
            None => self.nodes[parent as usize].first = after,
        }
        match some(after) {
            Some(after) => self.nodes[after as usize].before = before,
            None => self.nodes[parent as usize].last = before,
        }
    }
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Document;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> Document {
        self.document.into_inner()
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Ref<'a, QualName> {
        Ref::map(self.document.borrow(), |document| document.element(*target).map_or(&document.nameless, |element| &element.name))
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _flags: ElementFlags) -> Id {
        self.add(Content::Element(Element { name, attributes }))
    }

    fn create_comment(&self, _text: StrTendril) -> Id {
        self.add(Content::Other)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Id {
        self.add(Content::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.insert(*parent, NONE, child);
    }

    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        let has_parent = self.document.borrow().parent(*element).is_some();
        if has_parent {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public: StrTendril, _system: StrTendril) {
        self.happened();
    }

    /// A template's content is its children here: whoever looks for an element finds it where it is written.
    fn get_template_contents(&self, target: &Id) -> Id {
        *target
    }

    fn same_node(&self, one: &Id, other: &Id) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        let parent = self.document.borrow().parent(*sibling);
        if let Some(parent) = parent {
            self.insert(parent, *sibling, child);
        }
    }

    fn add_attrs_if_missing(&self, target: &Id, attributes: Vec<Attribute>) {
        self.happened();
        if let Content::Element(element) = &mut self.document.borrow_mut().nodes[*target as usize].content {
            for attribute in attributes {
                if element.attributes.iter().all(|known| known.name != attribute.name) {
                    element.attributes.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        self.happened();
        self.document.borrow_mut().detach(*target);
    }

    fn reparent_children(&self, node: &Id, new_parent: &Id) {
        loop {
            let first = self.document.borrow().node(*node).first;
            let Some(first) = some(first) else { return };
            self.insert(*new_parent, NONE, NodeOrText::AppendNode(first));
        }
    }

    fn pop(&self, _node: &Id) {
        self.happened();
    }
}

/// Whether an element has the name that a selector or a path says: in pages, case does not matter.
pub(crate) fn is_called(element: &Element, name: &str) -> bool {
    element.name().eq_ignore_ascii_case(name)
}

/// Without white space at both ends, which in a page is the author's indentation.
pub(crate) fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tree in brackets, to be compared.
    fn outline(document: &Document, id: Id) -> String {
        let inner: String = document.children(id).map(|child| outline(document, child)).collect();
        match &document.node(id).content {
            Content::Element(element) => format!("{}({inner})", element.name()),
            Content::Text(text) => format!("'{text}'"),
            Content::Other => inner,
        }
    }

    #[test]
    fn a_page_becomes_the_tree_that_a_browser_builds() {
        let cases = [
            ("", "html(head()body())"),
            ("plain", "html(head()body('plain'))"),
            ("<p>a<p>b", "html(head()body(p('a')p('b')))"),
            ("<table><tr><td>x", "html(head()body(table(tbody(tr(td('x'))))))"),
            ("<b>1<p>2</b>3</p>", "html(head()body(b('1')p(b('2')'3')))"),
            ("<table>lost<tr></table>", "html(head()body('lost'table(tbody(tr()))))"),
            ("<template><i>x</i></template>", "html(head(template(i('x')))body())"),
            ("<noscript><a>x</a></noscript>y", "html(head(noscript())body(a('x')'y'))"),
            ("<script>if (a < b) {}</script>", "html(head(script('if (a < b) {}'))body())"),
            ("a&amp;b&eacute;&#x41;", "html(head()body('a&b\u{e9}A'))"),
            ("<!-- no --><!doctype html><ul><li>1<!-- x --><li>2", "html(head()body(ul(li('1')li('2'))))"),
        ];
        for (page, expected) in cases {
            let document = Document::read(page.as_bytes());
            assert_eq!(outline(&document, ROOT), expected, "{page}");
        }
    }

    #[test]
    fn a_text_in_one_line_is_what_a_reader_sees() {
        let line = |page: &str| Document::read(page.as_bytes()).line(ROOT);
        let page = "<div> a  <b>b</b>\n&nbsp;c&amp;<p>d</p>e<br>f<script>g</script><pre> h\n i</pre></div>";
        assert_eq!((line(page), line("<p> </p>")), ("a b c& d e f  h\n i".to_owned(), String::new()));
    }

    #[test]
    fn pages_made_to_cost_much_are_cut_off() {
        let deep = "<div>".repeat(200_000);
        let formats: String = (0..50_000).map(|number| format!("<p><b id={number}>")).collect();
        let attributes: String = (0..200_000).map(|number| format!(" a{number}=1")).collect();
        let quoted: String = (0..200_000).map(|number| format!("a{number}='>'")).collect();
        let wide = "<br>".repeat(200_000);
        let tables = "<table>x".repeat(50_000);
        for page in
            [deep, formats, format!("<a{attributes}>x"), format!("<a {quoted}>x"), wide, tables, "<".repeat(1_000_000), "&".repeat(500_000)]
        {
            let document = Document::read(page.as_bytes());
            assert!(document.nodes.len() < 2 * NODES_MAX, "{}", document.nodes.len());
            assert!(document.text(ROOT).len() <= 2 * HTML_BYTES_MAX);
            assert!(document.line(ROOT).len() <= 2 * HTML_BYTES_MAX);
        }
    }

    #[test]
    fn a_long_address_in_a_tag_is_no_attack() {
        // One letter in 64 of base64 is a slash.
        let image = format!("<img src='data:image/png;base64,{}'><i>after</i>", ("A".repeat(63) + "/").repeat(2500));
        let document = Document::read(image.as_bytes());
        assert_eq!(document.text(ROOT), "after");
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_page_of_which_all_links_agree(bytes in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..300),
            "(</?(a|b|p|table|tr|td|div|form|select|option|svg|math|template|frameset|body|html|li)( a=1)?>|x| ){0,60}".prop_map(String::into_bytes),
        ]) {
            let document = Document::read(&bytes);
            let walked: Vec<Id> = document.descendants(ROOT).collect();
            for id in &walked {
                let parent = document.parent(*id).expect("what is below something has a parent");
                prop_assert!(document.children(parent).any(|child| child == *id));
                if let Some(after) = document.after(*id) {
                    prop_assert_eq!(document.before(after), Some(*id));
                }
            }
            let mut once = walked.clone();
            once.sort_unstable();
            once.dedup();
            prop_assert_eq!(once.len(), walked.len());
        }
    }
}
