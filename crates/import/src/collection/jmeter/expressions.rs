//! Expressions that a test plan's controllers, counters and functions are made of.

use plan::template::{Template, Value};
use plan::work::{Case, Expression, Item, Operator};

/// A text or a number that is always the same.
pub(super) fn fixed(value: impl Copy + ToString) -> Expression {
    Expression::Text(Template::fixed(value.to_string()))
}

/// What a variable holds, by its name here.
pub(super) fn held(name: &str) -> Expression {
    Expression::Text(Value::Variable(name.to_owned()).into())
}

/// Two of them with an operator between.
pub(super) fn two(left: Expression, operator: Operator, right: Expression) -> Expression {
    Expression::Two(operator, Box::new((left, right)))
}

/// The part at the place that an expression says, from 0.
pub(super) fn part_at(place: Expression, parts: Vec<Vec<Item>>) -> Item {
    let case = |(items, place): (Vec<Item>, usize)| Case { values: vec![place.to_string()], items };
    Item::Switch { value: place, cases: parts.into_iter().zip(0..).map(case).collect(), otherwise: Vec::new() }
}
