//! XPath 1.0: `//input[@name='csrf']/@value`.
//!
//! Paths into pages are what other load testers take, and what a browser copies. No crate for it fits
//! (docs/decisions/steps.md), so the language is read here: all of XPath 1.0 but namespaces, variables, comments and instructions, which pages do
//! not have, and `id()` and `lang()`. Names are those of HTML, so that case does not matter.
//!
//! Of the newer language there are [functions](newer).
//!
//! Source: W3C, XML Path Language 1.0; sections are named where they are implemented. Invariant: a path is understood or refused before
//! the run; whatever the page, it is answered within a [`Budget`].

mod newer;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use plan::template::Mistake;

use super::{Budget, Document, Id, ROOT, TOO_LONG, is_called, trimmed};
use newer::Newer;

/// Longer paths are no paths.
const PATH_BYTES_MAX: usize = 4096;
/// Parentheses and brackets, so deep.
const DEPTH_MAX: usize = 16;
/// Each is a step down when the path is evaluated.
const OPERATORS_MAX: usize = 128;

/// An expression that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct XPath(Expression);

#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Text(Box<str>),
    Number(f64),
    Call(Function, Vec<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Negative(Box<Expression>),
    Path(Path),
}

#[derive(Debug, Clone, PartialEq)]
struct Path {
    start: Start,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
enum Start {
    Root,
    Here,
    /// Another expression, with predicates: `(//a)[1]/@href`.
    At(Box<Expression>, Vec<Expression>),
}

#[derive(Debug, Clone, PartialEq)]
struct Step {
    axis: Axis,
    test: NodeTest,
    predicates: Vec<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Itself,
    Parent,
    Ancestor,
    AncestorOrSelf,
    FollowingSibling,
    PrecedingSibling,
    Following,
    Preceding,
    Attribute,
}

const AXES: [(&str, Axis); 12] = [
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("self", Axis::Itself),
    ("parent", Axis::Parent),
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("following-sibling", Axis::FollowingSibling),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("following", Axis::Following),
    ("preceding", Axis::Preceding),
    ("attribute", Axis::Attribute),
];

#[derive(Debug, Clone, PartialEq)]
enum NodeTest {
    Name(Box<str>),
    /// `*`
    Any,
    /// `text()`
    Text,
    /// `node()`
    Node,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Operator {
    Or,
    And,
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Times,
    Divided,
    Remainder,
    Union,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Function {
    Last,
    Position,
    Count,
    Name,
    String,
    Concat,
    StartsWith,
    Contains,
    SubstringBefore,
    SubstringAfter,
    Substring,
    StringLength,
    NormalizeSpace,
    Translate,
    Boolean,
    Not,
    True,
    False,
    Number,
    Sum,
    Floor,
    Ceiling,
    Round,
    Newer(Newer),
}

/// Name, function, and how many arguments it takes at least and at most.
const FUNCTIONS: [(&str, Function, usize, usize); 24] = [
    ("last", Function::Last, 0, 0),
    ("position", Function::Position, 0, 0),
    ("count", Function::Count, 1, 1),
    ("name", Function::Name, 0, 1),
    ("local-name", Function::Name, 0, 1),
    ("string", Function::String, 0, 1),
    ("concat", Function::Concat, 2, 64),
    ("starts-with", Function::StartsWith, 2, 2),
    ("contains", Function::Contains, 2, 2),
    ("substring-before", Function::SubstringBefore, 2, 2),
    ("substring-after", Function::SubstringAfter, 2, 2),
    ("substring", Function::Substring, 2, 3),
    ("string-length", Function::StringLength, 0, 1),
    ("normalize-space", Function::NormalizeSpace, 0, 1),
    ("translate", Function::Translate, 3, 3),
    ("boolean", Function::Boolean, 1, 1),
    ("not", Function::Not, 1, 1),
    ("true", Function::True, 0, 0),
    ("false", Function::False, 0, 0),
    ("number", Function::Number, 0, 1),
    ("sum", Function::Sum, 1, 1),
    ("floor", Function::Floor, 1, 1),
    ("ceiling", Function::Ceiling, 1, 1),
    ("round", Function::Round, 1, 1),
];

/// What a path found.
#[derive(Debug, PartialEq)]
pub(crate) enum XPathResult<'d> {
    /// Texts and attributes, in the order of the page.
    Texts(Vec<Cow<'d, str>>),
    Text(String),
    Number(f64),
    Truth(bool),
}

impl XPath {
    /// Understands an expression.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        if text.len() > PATH_BYTES_MAX {
            let message = format!("the path has {} bytes; {PATH_BYTES_MAX} are allowed", text.len());
            return Err(Mistake { at: 0, length: text.len(), message, help: "shorten it".into() });
        }
        let tokens = tokens(text)?;
        let mut reader = Reader { text, tokens: &tokens, at: 0, depth: 0, operators: 0 };
        let expression = reader.expression(0)?;
        if reader.at < tokens.len() {
            return Err(reader.wrong("this is no part of the path", "such as //input[@name='csrf']/@value"));
        }
        Ok(Self(expression))
    }

    /// Whether it gives a truth, and neither texts nor a number.
    pub(crate) fn gives_truth(&self) -> bool {
        use Function::{Boolean, Contains, False, Not, StartsWith, True};
        use Operator::{And, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, Or, Unequal};
        match &self.0 {
            Expression::Call(Function::Newer(newer), _) => newer.gives_truth(),
            Expression::Call(function, _) => matches!(function, Boolean | Contains | False | Not | StartsWith | True),
            Expression::Binary(operator, _, _) => {
                matches!(operator, And | Equal | Greater | GreaterOrEqual | Less | LessOrEqual | Or | Unequal)
            }
            _ => false,
        }
    }

    /// What it gives for a page; fails if that takes too long.
    pub(crate) fn find<'d>(&self, document: &'d Document) -> Result<XPathResult<'d>, &'static str> {
        let budget = Budget::new();
        let evaluation = Evaluation { document, budget: &budget, order: order_of(document) };
        let context = Context { node: Node { id: ROOT, attribute: None }, position: 1, size: 1 };
        let value = evaluation.value(&self.0, context);
        let found = match value {
            Value::Nodes(nodes) => {
                let mut texts = Vec::with_capacity(nodes.len().min(64));
                for node in nodes {
                    if budget.is_spent() {
                        break;
                    }
                    texts.push(trimmed(evaluation.text_of(node)));
                }
                XPathResult::Texts(texts)
            }
            Value::Text(text) => XPathResult::Text(text.into_owned()),
            Value::Number(number) => XPathResult::Number(number),
            Value::Truth(truth) => XPathResult::Truth(truth),
        };
        if budget.is_spent() { Err(TOO_LONG) } else { Ok(found) }
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token<'t> {
    Text(&'t str),
    Number(f64),
    /// A name, with `-` and `.` in it.
    Name(&'t str),
    Sign(&'static str),
}

const SIGNS: [&str; 22] =
    ["::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=", "<", ">", "*", "$"];

/// Tokens with their places (§3.7).
fn tokens(text: &str) -> Result<Vec<(Token<'_>, std::ops::Range<usize>)>, Mistake> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (token, length) = if first == '"' || first == '\'' {
            let Some(end) = rest[1..].find(first) else {
                let message = "this quote does not end".to_owned();
                return Err(Mistake { at, length: rest.len(), message, help: "end it with the quote it begins with".into() });
            };
            (Token::Text(&rest[1..=end]), end + 2)
        } else if first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit())) {
            let whole = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let fraction = rest[whole..]
                .strip_prefix('.')
                .map_or(0, |after| 1 + after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len()));
            let digits = &rest[..whole + fraction];
            (Token::Number(digits.trim_end_matches('.').parse().unwrap_or(f64::NAN)), digits.len())
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '-' | '_' | '.')).unwrap_or(rest.len());
            (Token::Name(&rest[..end]), end)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            let message = format!("`{first}` is no part of a path");
            let help = "such as //input[@name='csrf']/@value".to_owned();
            return Err(Mistake { at, length: first.len_utf8(), message, help: help.into() });
        };
        tokens.push((token, at..at + length));
        at += length;
    }
    Ok(tokens)
}

struct Reader<'t> {
    text: &'t str,
    tokens: &'t [(Token<'t>, std::ops::Range<usize>)],
    at: usize,
    depth: usize,
    operators: usize,
}

/// From the loosest to the tightest (§3.1 to §3.5).
const LEVELS: [&[(&str, Operator)]; 7] = [
    &[("or", Operator::Or)],
    &[("and", Operator::And)],
    &[("=", Operator::Equal), ("!=", Operator::Unequal)],
    &[("<", Operator::Less), ("<=", Operator::LessOrEqual), (">", Operator::Greater), (">=", Operator::GreaterOrEqual)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("div", Operator::Divided), ("mod", Operator::Remainder)],
    &[("|", Operator::Union)],
];
const UNION_LEVEL: usize = LEVELS.len() - 1;

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<&Token<'t>> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn is_sign(&self, ahead: usize, sign: &str) -> bool {
        matches!(self.tokens.get(self.at + ahead), Some((Token::Sign(found), _)) if *found == sign)
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.is_sign(0, sign);
        self.at += usize::from(found);
        found
    }

    fn wrong(&self, message: &str, help: &str) -> Mistake {
        let place = self.tokens.get(self.at).map_or(self.text.len()..self.text.len(), |(_, place)| place.clone());
        Mistake { at: place.start, length: place.len(), message: message.to_owned(), help: help.into() }
    }

    fn closed(&mut self, by: &str) -> Result<(), Mistake> {
        if self.eat(by) { Ok(()) } else { Err(self.wrong(&format!("here a {by} is missing"), "close what was opened")) }
    }

    fn expression(&mut self, level: usize) -> Result<Expression, Mistake> {
        let Some(operators) = LEVELS.get(level) else { return self.path() };
        if level == UNION_LEVEL && self.is_sign(0, "-") {
            if self.depth >= DEPTH_MAX {
                return Err(self.wrong("this is too deep", "write it in another way"));
            }
            self.at += 1;
            self.depth += 1;
            let negative = Expression::Negative(Box::new(self.expression(level)?));
            self.depth -= 1;
            return Ok(negative);
        }
        let mut left = self.expression(level + 1)?;
        loop {
            let found = operators.iter().find(|(sign, _)| match self.peek() {
                Some(Token::Sign(found)) => found == sign,
                Some(Token::Name(found)) => found == sign,
                _ => false,
            });
            let Some((_, operator)) = found else { return Ok(left) };
            self.operators += 1;
            if self.operators > OPERATORS_MAX {
                return Err(self.wrong(&format!("there are more than {OPERATORS_MAX} operators in it"), "write it in another way"));
            }
            self.at += 1;
            let from = self.at;
            let right = self.expression(level + 1)?;
            if *operator == Operator::Union && !(is_nodes(&left) && is_nodes(&right)) {
                self.at = from - 1;
                return Err(self.wrong("only paths can be joined by |", "such as //h1 | //h2"));
            }
            left = Expression::Binary(*operator, Box::new(left), Box::new(right));
        }
    }

    /// §3.3 and §2.
    fn path(&mut self) -> Result<Expression, Mistake> {
        if self.depth >= DEPTH_MAX {
            return Err(self.wrong("this is too deep in parentheses and brackets", "write it in another way"));
        }
        self.depth += 1;
        let path = self.path_within();
        self.depth -= 1;
        path
    }

    fn path_within(&mut self) -> Result<Expression, Mistake> {
        let primary = match self.peek() {
            Some(Token::Text(text)) => {
                let text = Expression::Text((*text).into());
                self.at += 1;
                Some(text)
            }
            Some(Token::Number(number)) => {
                let number = Expression::Number(*number);
                self.at += 1;
                Some(number)
            }
            Some(Token::Sign("(")) => {
                self.at += 1;
                let inner = self.expression(0)?;
                self.closed(")")?;
                Some(inner)
            }
            Some(Token::Sign("$")) => return Err(self.wrong("variables are not understood here", "write the value itself")),
            Some(Token::Name(name)) if self.is_sign(1, "(") && !matches!(*name, "text" | "node") => {
                let name = *name;
                Some(self.call(name)?)
            }
            _ => None,
        };
        let Some(primary) = primary else { return Ok(Expression::Path(self.location()?)) };
        let follows = self.is_sign(0, "[") || self.is_sign(0, "/") || self.is_sign(0, "//");
        if !follows {
            return Ok(primary);
        }
        if !is_nodes(&primary) {
            return Err(self.wrong("only what a path finds has parts", "such as (//a)[1]/@href"));
        }
        let predicates = self.predicates()?;
        let mut steps = Vec::new();
        self.further(&mut steps)?;
        Ok(Expression::Path(Path { start: Start::At(Box::new(primary), predicates), steps }))
    }

    fn call(&mut self, name: &str) -> Result<Expression, Mistake> {
        let newer = || newer::FUNCTIONS.iter().map(|(name, function, least, most)| (*name, Function::Newer(*function), *least, *most));
        let Some((_, function, least, most)) = FUNCTIONS.into_iter().chain(newer()).find(|(known, ..)| *known == name) else {
            let known: Vec<&str> = FUNCTIONS.into_iter().chain(newer()).map(|(known, ..)| known).collect();
            let help = format!("there are {}", known.join("(), ")) + "()";
            return Err(self.wrong(&format!("there is no function {name}()"), &help));
        };
        let named = self.at;
        self.at += 2;
        let mut arguments = Vec::new();
        if !self.eat(")") {
            loop {
                arguments.push(self.expression(0)?);
                if !self.eat(",") {
                    break;
                }
            }
            self.closed(")")?;
        }
        let takes_nodes = matches!(function, Function::Count | Function::Sum | Function::Name);
        if !(least..=most).contains(&arguments.len()) {
            self.at = named;
            let many = if least == most { format!("{least}") } else { format!("{least} to {most}") };
            return Err(self.wrong(&format!("{name}() takes {many} arguments, not {}", arguments.len()), "give as many"));
        }
        if takes_nodes && !arguments.iter().all(is_nodes) {
            self.at = named;
            return Err(self.wrong(&format!("{name}() takes a path"), "such as count(//li)"));
        }
        Ok(Expression::Call(function, arguments))
    }

    fn predicates(&mut self) -> Result<Vec<Expression>, Mistake> {
        let mut predicates = Vec::new();
        while self.eat("[") {
            predicates.push(self.expression(0)?);
            self.closed("]")?;
        }
        Ok(predicates)
    }

    fn location(&mut self) -> Result<Path, Mistake> {
        let mut steps = Vec::new();
        let start = if self.eat("/") {
            if !self.begins_step() {
                return Ok(Path { start: Start::Root, steps });
            }
            steps.push(self.step()?);
            Start::Root
        } else if self.is_sign(0, "//") {
            Start::Root
        } else {
            steps.push(self.step()?);
            Start::Here
        };
        self.further(&mut steps)?;
        Ok(Path { start, steps })
    }

    fn begins_step(&self) -> bool {
        match self.peek() {
            Some(Token::Name(_)) => true,
            Some(Token::Sign(sign)) => matches!(*sign, "*" | "." | ".." | "@"),
            _ => false,
        }
    }

    fn further(&mut self, steps: &mut Vec<Step>) -> Result<(), Mistake> {
        loop {
            if self.eat("//") {
                let step = self.step()?;
                // `//a` is `/descendant-or-self::node()/child::a`, which is `/descendant::a` unless positions are asked for.
                if step.axis == Axis::Child && !step.predicates.iter().any(asks_position) {
                    steps.push(Step { axis: Axis::Descendant, ..step });
                } else {
                    steps.push(Step { axis: Axis::DescendantOrSelf, test: NodeTest::Node, predicates: Vec::new() });
                    steps.push(step);
                }
            } else if self.eat("/") {
                steps.push(self.step()?);
            } else {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Result<Step, Mistake> {
        if self.eat(".") {
            return Ok(Step { axis: Axis::Itself, test: NodeTest::Node, predicates: Vec::new() });
        }
        if self.eat("..") {
            return Ok(Step { axis: Axis::Parent, test: NodeTest::Node, predicates: Vec::new() });
        }
        let mut axis = Axis::Child;
        if self.eat("@") {
            axis = Axis::Attribute;
        } else if let Some(Token::Name(name)) = self.peek()
            && self.is_sign(1, "::")
        {
            let Some((_, known)) = AXES.iter().find(|(known, _)| known == name) else {
                let known: Vec<&str> = AXES.iter().map(|(known, _)| *known).collect();
                return Err(self.wrong(&format!("there is no axis {name}"), &format!("there are {}", known.join(", "))));
            };
            axis = *known;
            self.at += 2;
        }
        let test = match self.peek() {
            Some(Token::Sign("*")) => NodeTest::Any,
            Some(Token::Name(name)) if self.is_sign(1, "(") => {
                let test = match *name {
                    "text" => NodeTest::Text,
                    "node" => NodeTest::Node,
                    _ => return Err(self.wrong("this finds no nodes", "there are text() and node()")),
                };
                self.at += 1;
                if !self.is_sign(1, ")") {
                    self.at += 1;
                    return Err(self.wrong("here a ) is missing", "text() and node() take nothing"));
                }
                self.at += 1;
                test
            }
            Some(Token::Name(name)) => NodeTest::Name((*name).into()),
            _ => return Err(self.wrong("here the name of an element is missing", "such as //input[@name='csrf']/@value")),
        };
        self.at += 1;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }
}

/// Whether an expression gives nodes, and not a text, a number or a truth.
fn is_nodes(expression: &Expression) -> bool {
    matches!(expression, Expression::Path(_) | Expression::Binary(Operator::Union, ..))
}

/// Whether a predicate depends on the position among those found: a number does, and whoever calls for it.
fn asks_position(expression: &Expression) -> bool {
    fn calls(expression: &Expression) -> bool {
        match expression {
            Expression::Text(_) | Expression::Number(_) | Expression::Path(_) => false,
            Expression::Call(Function::Position | Function::Last, _) => true,
            Expression::Call(_, arguments) => arguments.iter().any(calls),
            Expression::Binary(_, left, right) => calls(left) || calls(right),
            Expression::Negative(inner) => calls(inner),
        }
    }
    let gives_number = match expression {
        Expression::Number(_) | Expression::Negative(_) => true,
        Expression::Call(function, _) => matches!(
            function,
            Function::Last
                | Function::Position
                | Function::Count
                | Function::StringLength
                | Function::Number
                | Function::Sum
                | Function::Floor
                | Function::Ceiling
                | Function::Round
        ),
        Expression::Binary(operator, ..) => {
            matches!(operator, Operator::Plus | Operator::Minus | Operator::Times | Operator::Divided | Operator::Remainder)
        }
        Expression::Text(_) | Expression::Path(_) => false,
    };
    gives_number || calls(expression)
}

/// A node, or an attribute of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Node {
    id: Id,
    attribute: Option<u32>,
}

enum Value<'d> {
    /// In the order of the page, each once.
    Nodes(Vec<Node>),
    Text(Cow<'d, str>),
    Number(f64),
    Truth(bool),
}

#[derive(Clone, Copy)]
struct Context {
    node: Node,
    position: usize,
    size: usize,
}

struct Evaluation<'d, 'b> {
    document: &'d Document,
    budget: &'b Budget,
    /// The place of each node in the page: it may have been moved after it was made.
    order: Vec<u32>,
}

fn order_of(document: &Document) -> Vec<u32> {
    let mut order = vec![0; document.nodes.len()];
    for (place, id) in (1..).zip(document.descendants(ROOT)) {
        order[id as usize] = place;
    }
    order
}

impl<'d> Evaluation<'d, '_> {
    fn value(&self, expression: &Expression, context: Context) -> Value<'d> {
        match expression {
            Expression::Text(text) => Value::Text(Cow::Owned(text.to_string())),
            Expression::Number(number) => Value::Number(*number),
            Expression::Negative(inner) => Value::Number(-self.number(&self.value(inner, context))),
            Expression::Path(path) => Value::Nodes(self.path(path, context)),
            Expression::Call(function, arguments) => self.call(*function, arguments, context),
            Expression::Binary(operator, left, right) => self.binary(*operator, left, right, context),
        }
    }

    fn path(&self, path: &Path, context: Context) -> Vec<Node> {
        let mut nodes = match &path.start {
            Start::Root => vec![Node { id: ROOT, attribute: None }],
            Start::Here => vec![context.node],
            Start::At(expression, predicates) => {
                let Value::Nodes(nodes) = self.value(expression, context) else { return Vec::new() };
                predicates.iter().fold(nodes, |nodes, predicate| self.kept(nodes, predicate))
            }
        };
        for step in &path.steps {
            let mut next = Vec::new();
            // From one node nothing is found twice.
            let mut seen = (nodes.len() > 1).then(HashSet::new);
            for node in nodes {
                for found in self.step(node, step) {
                    if seen.as_mut().is_none_or(|seen| seen.insert(found)) {
                        next.push(found);
                    }
                }
                if self.budget.is_spent() {
                    return Vec::new();
                }
            }
            self.sort(&mut next);
            nodes = next;
        }
        nodes
    }

    fn sort(&self, nodes: &mut [Node]) {
        nodes.sort_unstable_by_key(|node| (self.order[node.id as usize], node.attribute.map_or(0, |index| index + 1)));
    }

    /// What a step finds from one node, in the order of its axis.
    fn step(&self, from: Node, step: &Step) -> Vec<Node> {
        let mut found = Vec::new();
        if step.axis == Axis::Attribute {
            if let (None, Some(element)) = (from.attribute, self.document.element(from.id)) {
                for (index, attribute) in (0..).zip(&element.attributes) {
                    let fits = match &step.test {
                        NodeTest::Name(name) => str::eq_ignore_ascii_case(&attribute.name.local, name),
                        NodeTest::Any | NodeTest::Node => true,
                        NodeTest::Text => false,
                    };
                    if fits && self.budget.step() {
                        found.push(Node { id: from.id, attribute: Some(index) });
                    }
                }
            }
        } else {
            self.along(step.axis, from, &mut |node| {
                let goes_on = self.budget.step();
                if goes_on && self.fits(node, &step.test) {
                    found.push(node);
                }
                goes_on
            });
        }
        step.predicates.iter().fold(found, |nodes, predicate| self.kept(nodes, predicate))
    }

    fn fits(&self, node: Node, test: &NodeTest) -> bool {
        if node.attribute.is_some() {
            // Reached by `.` or `self::node()`.
            return *test == NodeTest::Node;
        }
        match test {
            NodeTest::Name(name) => self.document.element(node.id).is_some_and(|element| is_called(element, name)),
            NodeTest::Any => self.document.element(node.id).is_some(),
            NodeTest::Text => self.document.is_text(node.id),
            // Comments are no part of what is read here.
            NodeTest::Node => node.id == ROOT || self.document.element(node.id).is_some() || self.document.is_text(node.id),
        }
    }

    /// Calls `seen` with the nodes of an axis in its order (§2.2) until that says false.
    fn along(&self, axis: Axis, from: Node, seen: &mut dyn FnMut(Node) -> bool) {
        let document = self.document;
        let mut see = |id: Id| seen(Node { id, attribute: None });
        if from.attribute.is_some() {
            match axis {
                Axis::Itself => {
                    seen(from);
                }
                Axis::Parent => {
                    see(from.id);
                }
                Axis::Ancestor => {
                    let _ = std::iter::successors(Some(from.id), |id| document.parent(*id)).all(see);
                }
                Axis::AncestorOrSelf => {
                    let _ = seen(from)
                        && std::iter::successors(Some(from.id), |id| document.parent(*id)).all(|id| seen(Node { id, attribute: None }));
                }
                _ => {}
            }
            return;
        }
        let id = from.id;
        let upwards = || std::iter::successors(Some(id), move |id| document.parent(*id));
        let later = move |id: Id| std::iter::successors(document.after(id), move |id| document.after(*id));
        let earlier = move |id: Id| std::iter::successors(document.before(id), move |id| document.before(*id));
        let _ = match axis {
            Axis::Child => document.children(id).all(see),
            Axis::Descendant => document.descendants(id).all(see),
            Axis::DescendantOrSelf => see(id) && document.descendants(id).all(see),
            Axis::Itself => see(id),
            Axis::Parent => document.parent(id).is_some_and(see),
            Axis::Ancestor => upwards().skip(1).all(see),
            Axis::AncestorOrSelf => upwards().all(see),
            Axis::FollowingSibling => later(id).all(see),
            Axis::PrecedingSibling => earlier(id).all(see),
            Axis::Following => upwards().flat_map(later).all(|id| see(id) && document.descendants(id).all(&mut see)),
            Axis::Preceding => upwards().flat_map(earlier).all(|id| {
                let below: Vec<Id> = document.descendants(id).collect();
                self.budget.steps(u32::try_from(below.len()).unwrap_or(u32::MAX)) && below.into_iter().rev().all(&mut see) && see(id)
            }),
            Axis::Attribute => true,
        };
    }

    /// Those for which a predicate holds (§2.4).
    fn kept(&self, nodes: Vec<Node>, predicate: &Expression) -> Vec<Node> {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (position, node) in (1..).zip(nodes) {
            if !self.budget.step() {
                return Vec::new();
            }
            let holds = match self.value(predicate, Context { node, position, size }) {
                Value::Number(number) => number == position as f64,
                value => truth(&value),
            };
            if holds {
                kept.push(node);
            }
        }
        kept
    }

    fn binary(&self, operator: Operator, left: &Expression, right: &Expression, context: Context) -> Value<'d> {
        let left = self.value(left, context);
        match operator {
            Operator::Or => return Value::Truth(truth(&left) || truth(&self.value(right, context))),
            Operator::And => return Value::Truth(truth(&left) && truth(&self.value(right, context))),
            _ => {}
        }
        let right = self.value(right, context);
        if let (Operator::Union, Value::Nodes(left), Value::Nodes(right)) = (operator, &left, &right) {
            let mut seen = HashSet::new();
            let mut nodes: Vec<Node> = left.iter().chain(right).copied().filter(|node| seen.insert(*node)).collect();
            self.sort(&mut nodes);
            return Value::Nodes(nodes);
        }
        let arithmetic = |calculate: fn(f64, f64) -> f64| Value::Number(calculate(self.number(&left), self.number(&right)));
        match operator {
            Operator::Plus => arithmetic(|a, b| a + b),
            Operator::Minus => arithmetic(|a, b| a - b),
            Operator::Times => arithmetic(|a, b| a * b),
            Operator::Divided => arithmetic(|a, b| a / b),
            Operator::Remainder => arithmetic(|a, b| a % b),
            _ => Value::Truth(self.compare(operator, &left, &right)),
        }
    }

    /// §3.4: a set of nodes compares as any of its nodes does.
    fn compare(&self, operator: Operator, left: &Value<'d>, right: &Value<'d>) -> bool {
        let text = |node: &Node| Value::Text(self.text_of(*node));
        match (left, right) {
            (Value::Nodes(lefts), Value::Nodes(rights)) => lefts.iter().any(|left| {
                let left = text(left);
                rights.iter().any(|right| self.budget.step() && self.compare_one(operator, &left, &text(right)))
            }),
            (Value::Nodes(_), Value::Truth(_)) => self.compare_one(operator, &Value::Truth(truth(left)), right),
            (Value::Truth(_), Value::Nodes(_)) => self.compare_one(operator, left, &Value::Truth(truth(right))),
            (Value::Nodes(lefts), _) => lefts.iter().any(|left| self.compare_one(operator, &text(left), right)),
            (_, Value::Nodes(rights)) => rights.iter().any(|right| self.compare_one(operator, left, &text(right))),
            _ => self.compare_one(operator, left, right),
        }
    }

    fn compare_one(&self, operator: Operator, left: &Value<'d>, right: &Value<'d>) -> bool {
        if matches!(operator, Operator::Equal | Operator::Unequal) {
            let equal = match (left, right) {
                (Value::Truth(_), _) | (_, Value::Truth(_)) => truth(left) == truth(right),
                (Value::Number(_), _) | (_, Value::Number(_)) => self.number(left) == self.number(right),
                _ => self.text(left) == self.text(right),
            };
            return equal == (operator == Operator::Equal);
        }
        let order = self.number(left).partial_cmp(&self.number(right));
        match operator {
            Operator::Less => order == Some(Ordering::Less),
            Operator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Operator::Greater => order == Some(Ordering::Greater),
            _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }

    /// §4.
    fn call(&self, function: Function, arguments: &[Expression], context: Context) -> Value<'d> {
        // Without an argument most functions mean the node at hand.
        let given = |index: usize| match arguments.get(index) {
            Some(argument) => self.value(argument, context),
            None => Value::Nodes(vec![context.node]),
        };
        let text = |index: usize| self.text(&given(index)).into_owned();
        let number = |index: usize| self.number(&given(index));
        match function {
            Function::Last => Value::Number(context.size as f64),
            Function::Position => Value::Number(context.position as f64),
            Function::Count => Value::Number(if let Value::Nodes(nodes) = given(0) { nodes.len() as f64 } else { f64::NAN }),
            Function::Sum => Value::Number(match given(0) {
                Value::Nodes(nodes) => nodes.iter().map(|node| number_of(&self.text_of(*node))).sum(),
                _ => f64::NAN,
            }),
            Function::Name => Value::Text(match given(0) {
                Value::Nodes(nodes) => nodes.first().map_or(Cow::Borrowed(""), |node| self.name_of(*node)),
                _ => Cow::Borrowed(""),
            }),
            Function::String => Value::Text(Cow::Owned(text(0))),
            Function::Concat => Value::Text(Cow::Owned((0..arguments.len()).map(&text).collect())),
            Function::StartsWith => Value::Truth(text(0).starts_with(&text(1))),
            Function::Contains => Value::Truth(text(0).contains(&text(1))),
            Function::SubstringBefore => {
                Value::Text(Cow::Owned(text(0).split_once(&text(1)).map_or_else(String::new, |(before, _)| before.to_owned())))
            }
            Function::SubstringAfter => {
                Value::Text(Cow::Owned(text(0).split_once(&text(1)).map_or_else(String::new, |(_, after)| after.to_owned())))
            }
            Function::Substring => {
                let from = round(number(1));
                let to = if arguments.len() > 2 { from + round(number(2)) } else { f64::INFINITY };
                let letters = text(0);
                let within = (1i32..).zip(letters.chars()).filter(|(place, _)| from <= f64::from(*place) && f64::from(*place) < to);
                Value::Text(Cow::Owned(within.map(|(_, letter)| letter).collect()))
            }
            Function::StringLength => Value::Number(text(0).chars().count() as f64),
            Function::NormalizeSpace => Value::Text(Cow::Owned(text(0).split_ascii_whitespace().collect::<Vec<_>>().join(" "))),
            Function::Translate => {
                let (from, to): (Vec<char>, Vec<char>) = (text(1).chars().collect(), text(2).chars().collect());
                let translated = text(0)
                    .chars()
                    .filter_map(|letter| match from.iter().position(|known| *known == letter) {
                        Some(place) => to.get(place).copied(),
                        None => Some(letter),
                    })
                    .collect();
                Value::Text(Cow::Owned(translated))
            }
            Function::Boolean => Value::Truth(truth(&given(0))),
            Function::Not => Value::Truth(!truth(&given(0))),
            Function::True => Value::Truth(true),
            Function::False => Value::Truth(false),
            Function::Number => Value::Number(number(0)),
            Function::Floor => Value::Number(number(0).floor()),
            Function::Ceiling => Value::Number(number(0).ceil()),
            Function::Round => Value::Number(round(number(0))),
            Function::Newer(newer) => self.call_newer(newer, arguments, context),
        }
    }

    fn name_of(&self, node: Node) -> Cow<'d, str> {
        let Some(element) = self.document.element(node.id) else { return Cow::Borrowed("") };
        match node.attribute {
            None => Cow::Borrowed(element.name()),
            Some(index) => {
                element.attributes.get(index as usize).map_or(Cow::Borrowed(""), |attribute| Cow::Borrowed(&*attribute.name.local))
            }
        }
    }

    fn text_of(&self, node: Node) -> Cow<'d, str> {
        if self.budget.is_spent() {
            return Cow::Borrowed("");
        }
        let document: &'d Document = self.document;
        let text = match node.attribute {
            None => document.text(node.id),
            Some(index) => Cow::Borrowed(
                document
                    .element(node.id)
                    .and_then(|element| element.attributes.get(index as usize))
                    .map_or("", |attribute| &*attribute.value),
            ),
        };
        self.budget.steps(u32::try_from(text.len() / 16).unwrap_or(u32::MAX));
        text
    }

    fn text(&self, value: &Value<'d>) -> Cow<'d, str> {
        match value {
            Value::Nodes(nodes) => nodes.first().map_or(Cow::Borrowed(""), |node| self.text_of(*node)),
            Value::Text(text) => text.clone(),
            Value::Number(number) => Cow::Owned(text_of_number(*number)),
            Value::Truth(truth) => Cow::Borrowed(if *truth { "true" } else { "false" }),
        }
    }

    fn number(&self, value: &Value<'d>) -> f64 {
        match value {
            Value::Number(number) => *number,
            Value::Truth(truth) => f64::from(u8::from(*truth)),
            Value::Text(text) => number_of(text),
            Value::Nodes(_) => number_of(&self.text(value)),
        }
    }
}

fn truth(value: &Value<'_>) -> bool {
    match value {
        Value::Nodes(nodes) => !nodes.is_empty(),
        Value::Text(text) => !text.is_empty(),
        Value::Number(number) => *number != 0.0 && !number.is_nan(),
        Value::Truth(truth) => *truth,
    }
}

/// §4.4: digits, a point and a minus; anything else is no number.
fn number_of(text: &str) -> f64 {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')) { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// §4.2.
pub(crate) fn text_of_number(number: f64) -> String {
    if number == 0.0 {
        "0".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else {
        format!("{number}")
    }
}

/// §4.4: halves upwards.
fn round(number: f64) -> f64 {
    (number + 0.5).floor()
}

#[cfg(test)]
mod tests;
