//! Properties: those that are known before the load, those that setup groups set, and those that users set on the way.
//!
//! JMeter has them in its process, for all threads. What a setup group sets becomes a variable of all users. What is set while the load is
//! on is kept where scripts keep `props`: in the process, for all its users.

use std::collections::BTreeSet;

use groovy::Language;
use plan::template::Template;
use plan::work::{Expression, Function, Item, Operator, Script};

use super::super::Reading;
use super::super::expressions::{fixed, held, two};
use super::super::groups::is_group;
use super::super::scripts::{Role, Values, language_of_function};
use super::super::text::Mentions;
use super::super::tree::{self, Element};
use super::{Call, Outcome, is_there};

/// What a script finds them under, which no variable is called.
const PROPERTY: &str = "a property";
const VALUE: &str = "its value";
const OTHERWISE: &str = "its default";

impl Call<'_, '_> {
    /// The value of a property, or a default.
    pub(super) fn property(&self) -> Result<Outcome, String> {
        let default = if self.name == "__P" { 1 } else { 2 };
        let property = self.fixed(0)?;
        // Blanks around values are no part of them, nor of defaults.
        let value = match self.names.properties.get(&property) {
            Some(value) => Template::fixed(value.trim()),
            None if self.arguments.len() > default => self.text(default)?.trimmed(),
            None => Template::fixed(if self.name == "__P" { "1" } else { property.as_str() }),
        };
        let variable = self.names.set_properties.get(&property);
        let is_left = |variable: &&String| !self.names.lost.contains_key(*variable);
        if self.names.shared.contains(&property) {
            let left = match variable.filter(is_left) {
                Some(variable) => self.names.compute("property", self.or_else(variable, value)),
                None => value,
            };
            let text = format!("def known = props.get(vars.get('{PROPERTY}'))\nreturn known == null ? vars.get('{OTHERWISE}') : known");
            return self.by_script(&text, [(PROPERTY, Template::fixed(property)), (OTHERWISE, left)]);
        }
        let Some(variable) = variable else { return Ok(value.into()) };
        if let Some(why) = self.names.lost.get(variable) {
            return self.unfit(&format!("the property '{property}' has no value here: {why}"));
        }
        Ok(Outcome::Computed("property", self.or_else(variable, value)))
    }

    /// What a variable holds, and a text where it holds nothing.
    fn or_else(&self, variable: &str, otherwise: Template) -> Expression {
        let is_unset = two(held(variable), Operator::Is, fixed(""));
        Expression::Call(Function::If, vec![is_unset, Expression::Text(otherwise), held(variable)])
    }

    /// Whether a property is there.
    pub(super) fn is_property(&self) -> Result<Outcome, String> {
        let (names, property) = (self.names, self.fixed(0)?);
        let is_known = names.properties.contains_key(&property);
        if is_known || !names.shared.contains(&property) {
            return Ok(match names.set_properties.get(&property).filter(|_| !is_known) {
                Some(variable) => is_there(held(variable), ("true", "false")),
                None => is_known.to_string().into(),
            });
        }
        let left = names.set_properties.get(&property).filter(|variable| !names.lost.contains_key(*variable));
        let left = left.map_or_else(Template::default, |variable| names.variable(variable));
        let text = format!("return (props.get(vars.get('{PROPERTY}')) != null || vars.get('{OTHERWISE}')) as String");
        self.by_script(&text, [(PROPERTY, Template::fixed(property)), (OTHERWISE, left)])
    }

    /// A property becomes a variable. What a setup group sets is every user's, as there.
    pub(super) fn set_property(&self) -> Result<Outcome, String> {
        let Some(property) = self.known(0)?.map(|property| property.trim().to_owned()) else {
            return self.unfit("the name of its property is known only on the way");
        };
        let returns = self.fixed(2)?.eq_ignore_ascii_case("true");
        if self.names.shared.contains(&property) {
            if let Some(variable) = self.names.set_properties.get(&property).filter(|_| self.names.is_before) {
                let value = self.value(1)?;
                self.names.computed.borrow_mut().push((variable.clone(), value));
            }
            let before = if returns { "before == null ? 'null' : before" } else { "''" };
            let text = format!(
                "def before = props.get(vars.get('{PROPERTY}'))\nprops.put(vars.get('{PROPERTY}'), vars.get('{VALUE}') ?: '')\nreturn {before}"
            );
            return self.by_script(&text, [(PROPERTY, Template::fixed(property)), (VALUE, self.text(1)?)]);
        }
        let Some(variable) = self.names.set_properties.get(&property) else {
            return self.unfit("the name of its property is known only on the way");
        };
        if returns {
            return self.unfit("it asks for the value before");
        }
        if !self.names.is_before && self.known(1)?.is_none() {
            return self.unfit("a property is all users', and what one sets is its own here; set it in a setUp group");
        }
        let value = self.value(1)?;
        self.names.computed.borrow_mut().push((variable.clone(), value));
        Ok(Template::default().into())
    }

    /// What a script returns that is given these.
    pub(super) fn by_script<const N: usize>(&self, text: &str, given: [(&str, Template); N]) -> Result<Outcome, String> {
        let script = self.names.script(text, Language::Groovy, Values::None, false);
        let (script, _) = script.or_else(|wrong| self.unfit(&wrong.into_iter().map(|(_, why)| why).collect::<Vec<_>>().join("; ")))?;
        let given = given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        // It finds properties that are known before the load by their defaults.
        Ok(Outcome::Script(Box::new(Script { given, reads: Vec::new(), ..script })))
    }
}

impl<'e> Reading<'e> {
    /// Looks for properties that are set on the way, and gives those that are kept in variables: of those without a group that comes before
    /// the others nothing is left.
    pub(in super::super) fn properties_kept(&mut self) -> BTreeSet<String> {
        self.names.shared = self.shared_properties();
        let (names, has_setup) = (&self.names, self.plan.children.iter().any(|group| group.class == "SetupThreadGroup"));
        let calls = names.mentions.calls.iter().filter(|(function, _)| *function == "__setProperty");
        let set_by_calls = calls.filter_map(|(_, arguments)| names.literal(arguments.first()?));
        let kept = set_by_calls.filter(|property| has_setup || !names.shared.contains(property));
        kept.chain(names.shared.iter().filter(|_| has_setup).cloned()).collect()
    }

    /// Properties that something asks for by its name, and that users or their scripts set.
    fn shared_properties(&self) -> BTreeSet<String> {
        let of_properties = |function: &str| matches!(function, "__P" | "__property" | "__isPropDefined");
        let calls = self.names.mentions.calls.iter().filter(|(function, _)| of_properties(function));
        let asked: BTreeSet<String> = calls.filter_map(|(_, arguments)| self.names.literal(arguments.first()?)).collect();
        let mut shared = BTreeSet::new();
        if !asked.is_empty() {
            self.roots().into_iter().for_each(|root| self.look_for_properties(root, None, &asked, &mut shared));
        }
        shared
    }

    /// Those that an element and all in it set. `group`: that in which it stands.
    fn look_for_properties(
        &self,
        element: &'e Element,
        group: Option<&'e Element>,
        asked: &BTreeSet<String>,
        shared: &mut BTreeSet<String>,
    ) {
        let group = if is_group(&element.class) { Some(element) } else { group };
        let mut mentions = Mentions::default();
        tree::each_text(&element.properties, &mut |text| mentions.add(text));
        let of_script = |text: &str, shared: &mut BTreeSet<String>| {
            let is_set = |name: &&String| text.contains(&format!("\"{name}\"")) || text.contains(&format!("'{name}'"));
            if sets_properties(text) {
                shared.extend(asked.iter().filter(is_set).cloned());
            }
        };
        for (function, arguments) in &mentions.calls {
            if language_of_function(function).is_some() {
                of_script(arguments.first().copied().unwrap_or_default(), shared);
            }
            let is_on_the_way = *function == "__setProperty" && arguments.get(1).is_some_and(|value| value.contains("${"));
            if is_on_the_way && group.is_some_and(|group| group.class != "SetupThreadGroup") {
                shared.extend(arguments.first().and_then(|name| self.names.literal(name)).filter(|name| asked.contains(name)));
            }
        }
        if Role::of(&element.class).is_some() {
            of_script(self.source(element).map_or("", |(text, _)| text), shared);
        }
        element.children.iter().for_each(|child| self.look_for_properties(child, group, asked, shared));
    }

    /// Keeps for all users, also those of other processes, what scripts of a setup group have set.
    pub(in super::super) fn properties_left(&self) -> Vec<Item> {
        let keep = |(property, variable): (&String, &String)| {
            let own = crate::collection::tree::json_string;
            let text = format!("const left = $props.get({}); if (left !== null) $vars.put({}, left);", own(property), own(variable));
            let script = Script {
                name: format!("the property {property}"),
                translated: true,
                sets: vec![variable.clone()],
                may_fail: true,
                ..Script::default()
            };
            Item::Script(Box::new(Script { text, ..script }))
        };
        self.names.set_properties.iter().filter(|(property, _)| self.names.shared.contains(*property)).map(keep).collect()
    }

    /// Whether something in a group that is done by itself is a script, which is worth doing without a request.
    pub(in super::super) fn runs_scripts(items: &[Item]) -> bool {
        let mut runs = false;
        plan::work::each_item(items, &mut |item| runs |= matches!(item, Item::Script(_)));
        runs
    }
}

/// Whether a script sets properties.
fn sets_properties(text: &str) -> bool {
    ["props.put", "props.set", "props[", "JMeterUtils.setProperty"].iter().any(|call| text.contains(call))
}
