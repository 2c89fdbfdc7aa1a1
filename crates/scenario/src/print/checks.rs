//! Checks as a person would write them: by what they are about, or as lines.

use plan::work::{Along, AnswerCheck};
use step::Check;

use super::page::{Map, Value};

/// By what they are about, where that keeps their order and each of them; as lines otherwise.
pub(super) fn checked(checks: &[AnswerCheck]) -> Value {
    if checks.iter().any(is_more) {
        return lines(checks);
    }
    let mut map = Map::default();
    let mut rest = checks;
    let mut said: Vec<&str> = Vec::new();
    while let [first, ..] = rest {
        let word = first.subject.word();
        let count = rest.iter().take_while(|check| check.subject.word() == word).count();
        let (group, others) = rest.split_at(count);
        rest = others;
        let targets: Vec<&str> = group.iter().filter_map(|check| check.subject.target()).collect();
        let is_twice = targets.iter().enumerate().any(|(place, target)| targets[..place].contains(target));
        if said.contains(&word) || is_twice || (targets.is_empty() && count > 1) {
            return lines(checks);
        }
        said.push(word);
        if targets.is_empty() {
            map.put(word, Value::number(first.condition.clone()));
        } else {
            let mut conditions = Map::default();
            targets.into_iter().zip(group).for_each(|(target, check)| conditions.put(target, check.condition.clone()));
            map.put(word, conditions);
        }
    }
    Value::Map(map)
}

/// Whether more is said of a check than what must hold.
fn is_more(check: &AnswerCheck) -> bool {
    check.failure.is_some() || check.along != Along::Last
}

fn lines(checks: &[AnswerCheck]) -> Value {
    let line = |check: &AnswerCheck| {
        Check::compile_open(&check.subject, &check.condition)
            .map_or_else(|_| format!("{} {}", check.subject.word(), check.condition), |(check, _)| check.words().to_owned())
    };
    let with_more = |check: &AnswerCheck| {
        let mut map = Map::default();
        let condition = Value::number(check.condition.clone());
        match check.subject.target() {
            None => map.put(check.subject.word(), condition),
            Some(target) => {
                let mut inner = Map::default();
                inner.put(target, condition);
                map.put(check.subject.word(), inner);
            }
        }
        map.put_some("failure", check.failure.as_deref());
        map.put_some("answers", (check.along != Along::Last).then(|| check.along.word()));
        Value::Map(map)
    };
    let each = checks.iter().map(|check| if is_more(check) { with_more(check) } else { Value::from(line(check)) });
    Value::List(each.collect())
}
