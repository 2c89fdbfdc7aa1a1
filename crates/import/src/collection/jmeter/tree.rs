//! A test plan's file as a tree of elements.
//!
//! JMeter writes each element and, beside it, a `hashTree` with what stands in it. Here an element has its children, so that whoever reads
//! on sees the tree that JMeter shows. What is switched off there is not in it.
//!
//! Bounded: no entities, so many nodes, so deep.

use roxmltree::{Document, Node, ParsingOptions};

use crate::collection::ReadError;

/// Elements stand in each other at most so deep, in the file, where each takes two.
const DEPTH_MAX: usize = 400;
/// A plan of fifty megabytes has fewer.
const NODES_MAX: u32 = 4_000_000;

/// An element of a test plan.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// What it is: the last part of its tag, such as `HTTPSamplerProxy`.
    pub(super) class: String,
    /// What the user calls it.
    pub(super) name: String,
    /// Where it begins in the file, from 1.
    pub(super) line: usize,
    /// The file, if it is not the plan's own.
    pub(super) file: std::rc::Rc<str>,
    /// Its settings, in the order of the file.
    pub(super) properties: Vec<Property>,
    /// What stands in it, in the order of the file.
    pub(super) children: Vec<Element>,
}

/// A setting of an element.
#[derive(Debug)]
pub(super) struct Property {
    /// As JMeter calls it, such as `HTTPSampler.path`.
    pub(super) name: String,
    /// What it is.
    pub(super) value: Content,
}

/// What a setting holds.
#[derive(Debug)]
pub(super) enum Content {
    /// A text, a number or a truth.
    Text(String),
    /// Settings of its own, or a list.
    List(Vec<Property>),
}

impl Element {
    /// Reads a file; its root, in which the test plan stands.
    ///
    /// # Errors
    /// If it is no XML, or no test plan.
    pub(super) fn read(text: &str) -> Result<Self, ReadError> {
        let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        let document = Document::parse_with_options(text, options).map_err(|why| {
            let at = why.pos();
            let told = why.to_string();
            // It ends with the place, which is told by itself.
            let told = told.rsplit_once(" at ").map_or(told.as_str(), |(told, _)| told);
            let message = format!("it is no whole XML: {told}");
            // That an element is never closed is known at the end, and told of the beginning.
            if (at.row, at.col) == (1, 1) { ReadError::new(message) } else { ReadError::at(at.row as usize, at.col as usize, message) }
        })?;
        let root = document.root_element();
        if root.tag_name().name() != "jmeterTestPlan" {
            return Err(ReadError::new("it is XML, and no test plan of JMeter"));
        }
        let lines: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        let mut children = Vec::new();
        for tree in root.children().filter(|node| node.has_tag_name("hashTree")) {
            children.extend(elements(tree, &lines, 0)?);
        }
        Ok(Self { class: "jmeterTestPlan".to_owned(), children, ..Self::default() })
    }

    /// The same as those of another file.
    pub(super) fn of_file(mut self, path: &str) -> Self {
        fn mark(element: &mut Element, file: &std::rc::Rc<str>) {
            element.file = file.clone();
            element.children.iter_mut().for_each(|child| mark(child, file));
        }
        mark(&mut self, &path.into());
        self
    }

    /// A setting as text; empty if it has none.
    pub(super) fn text(&self, name: &str) -> &str {
        text_of(&self.properties, name)
    }

    /// A setting that is on or off.
    pub(super) fn is_on(&self, name: &str, default: bool) -> bool {
        truth(self.text(name), default)
    }

    /// A setting that is a list, or has settings of its own.
    pub(super) fn list(&self, name: &str) -> &[Property] {
        list_of(&self.properties, name)
    }

    /// The texts of a setting that is a list.
    pub(super) fn texts(&self, name: &str) -> Vec<&str> {
        self.list(name).iter().filter_map(Property::text).collect()
    }

    /// What it is and what it is called, as people are told.
    pub(super) fn said(&self) -> String {
        format!("the {} '{}'", self.class, self.name)
    }
}

/// A setting among these, as text; empty if there is none.
pub(super) fn text_of<'p>(properties: &'p [Property], name: &str) -> &'p str {
    properties.iter().find(|property| property.name == name).and_then(Property::text).unwrap_or_default()
}

/// A setting among these that is a list, or has settings of its own.
pub(super) fn list_of<'p>(properties: &'p [Property], name: &str) -> &'p [Property] {
    match properties.iter().find(|property| property.name == name).map(|property| &property.value) {
        Some(Content::List(list)) => list,
        _ => &[],
    }
}

/// Calls `seen` with every text of these settings.
pub(super) fn each_text<'p>(properties: &'p [Property], seen: &mut dyn FnMut(&'p str)) {
    for property in properties {
        match &property.value {
            Content::Text(text) => seen(text),
            Content::List(list) => each_text(list, seen),
        }
    }
}

/// A text that is on or off.
pub(super) fn truth(text: &str, default: bool) -> bool {
    match text.trim() {
        "" => default,
        text => text.eq_ignore_ascii_case("true"),
    }
}

impl Property {
    /// Its text, if it is none with settings of its own.
    pub(super) fn text(&self) -> Option<&str> {
        if let Content::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Those of its own.
    pub(super) fn own(&self) -> &[Self] {
        if let Content::List(list) = &self.value { list } else { &[] }
    }
}

/// The elements of a `hashTree`, each with what stands in the `hashTree` behind it.
fn elements(tree: Node<'_, '_>, lines: &[usize], depth: usize) -> Result<Vec<Element>, ReadError> {
    let line = |node: Node<'_, '_>| lines.partition_point(|end| *end < node.range().start) + 1;
    if depth > DEPTH_MAX {
        return Err(ReadError::at(line(tree), 1, "its elements stand in each other too deep"));
    }
    let mut found: Vec<Element> = Vec::new();
    let mut is_on = false;
    for node in tree.children().filter(Node::is_element) {
        let tag = node.tag_name().name();
        if tag == "hashTree" {
            if let Some(element) = found.last_mut().filter(|_| is_on) {
                element.children = elements(node, lines, depth + 1)?;
            }
            is_on = false;
            continue;
        }
        is_on = truth(node.attribute("enabled").unwrap_or_default(), true);
        if is_on {
            found.push(Element {
                class: tag.rsplit('.').next().unwrap_or(tag).to_owned(),
                name: node.attribute("testname").unwrap_or_default().trim().to_owned(),
                line: line(node),
                file: std::rc::Rc::default(),
                properties: properties(node, 0),
                children: Vec::new(),
            });
        }
    }
    Ok(found)
}

/// The settings in an element, or in one of its settings.
fn properties(node: Node<'_, '_>, depth: usize) -> Vec<Property> {
    let mut found = Vec::new();
    for node in node.children().filter(Node::is_element) {
        let mut name = node.attribute("name").unwrap_or_default().to_owned();
        let value = match node.tag_name().name() {
            // Name, value and the value before it.
            "doubleProp" | "FloatProperty" => {
                let inner = |tag: &str| node.children().find(|inner| inner.has_tag_name(tag)).map(whole_text).unwrap_or_default();
                name = inner("name");
                Content::Text(inner("value"))
            }
            "elementProp" | "collectionProp" | "mapProp" => {
                Content::List(if depth < DEPTH_MAX { properties(node, depth + 1) } else { Vec::new() })
            }
            // What a view of results saves.
            "objProp" => continue,
            _ => Content::Text(whole_text(node)),
        };
        found.push(Property { name, value });
    }
    found
}

fn whole_text(node: Node<'_, '_>) -> String {
    node.children().filter_map(|inner| inner.text()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_what_stands_behind_them_and_what_is_off_is_left_out() {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<jmeterTestPlan version=\"1.2\"><hashTree>
  <TestPlan testname=\" Plan \"><boolProp name=\"a\"> TRUE </boolProp></TestPlan>
  <hashTree>
    <ThreadGroup testname=\"off\" enabled=\"false\"/><hashTree><HTTPSamplerProxy testname=\"in it\"/><hashTree/></hashTree>
    <kg.apc.jmeter.Group testname=\"on\"><stringProp name=\"n\">a&#xd;
b</stringProp><doubleProp><name>d</name><value>1.5</value><savedValue>0.0</savedValue></doubleProp>
      <collectionProp name=\"c\"><stringProp name=\"49\">x</stringProp></collectionProp></kg.apc.jmeter.Group>
    <hashTree><Arguments testname=\"inner\"/><hashTree/></hashTree>
  </hashTree>
</hashTree></jmeterTestPlan>";
        let root = Element::read(text).unwrap();
        let plan = &root.children[0];
        assert_eq!((plan.class.as_str(), plan.name.as_str(), plan.line, plan.is_on("a", false)), ("TestPlan", "Plan", 3, true));
        let [group] = &plan.children[..] else { panic!("{plan:?}") };
        assert_eq!((group.class.as_str(), group.text("n"), group.text("d"), group.line), ("Group", "a\r\nb", "1.5", 6));
        assert_eq!((group.list("c").len(), group.children[0].name.as_str()), (1, "inner"));
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_place() {
        let told = |text: &str| Element::read(text).unwrap_err().wording().marked().to_owned();
        assert!(told("<jmeterTestPlan><hashTree>\n<TestPlan>").starts_with("it is no whole XML: "));
        assert!(told("<jmeterTestPlan><hashTree>\n<TestPlan a=1></TestPlan>").starts_with("line 2, column 13: it is no whole XML: "));
        assert!(told("<html/>").contains("no test plan"));
        let bomb = "<!DOCTYPE a [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><jmeterTestPlan>&b;</jmeterTestPlan>";
        assert!(told(bomb).contains("no whole XML"), "{}", told(bomb));
        let deep = format!("<jmeterTestPlan>{}", "<hashTree><a/>".repeat(2_000)) + &"</hashTree>".repeat(2_000) + "</jmeterTestPlan>";
        assert!(told(&deep).contains("too deep"), "{}", told(&deep));
    }
}
