//! Expressions as JavaScript, but for what follows a value with a dot.

use super::{Held, Printer, mangled, quoted};
use crate::classes::{class_named, is_exception, is_type, reason};
use crate::jmeter::{Object, object_named, value_named};
use crate::translation::Language;
use crate::tree::{Expression, Kind, Parameter, Part, Statement, Suffix, SuffixKind, Type};

/// Types that a value is made into by a cast; any other leaves it as it is.
const CAST: &[&str] = &[
    "int",
    "long",
    "short",
    "byte",
    "Integer",
    "Long",
    "Short",
    "Byte",
    "BigInteger",
    "double",
    "float",
    "Double",
    "Float",
    "BigDecimal",
    "Number",
    "boolean",
    "Boolean",
    "char",
    "Character",
    "List",
    "ArrayList",
    "LinkedList",
    "Collection",
    "Set",
    "HashSet",
    "LinkedHashSet",
    "TreeSet",
    "Object",
];

impl Printer {
    pub(super) fn expressions(&mut self, expressions: &[Expression]) -> String {
        let printed: Vec<String> = expressions.iter().map(|expression| self.expression(expression)).collect();
        printed.join(", ")
    }

    pub(super) fn expression(&mut self, expression: &Expression) -> String {
        let line = expression.line;
        match &expression.kind {
            Kind::Null => "null".into(),
            Kind::Boolean(value) => value.to_string(),
            Kind::Number { text, .. } => text.clone(),
            Kind::Text(parts) => self.text(line, parts),
            Kind::Letter(text) => format!("new $Letter({})", quoted(text)),
            Kind::Reference(text) => match self.reference(line, text) {
                Some(code) => format!("$code({line}, {code})"),
                None => "null".into(),
            },
            Kind::Name(name) => self.name(line, name),
            Kind::List(items) => format!("[{}]", self.expressions(items)),
            Kind::Map(entries) => {
                let entries: Vec<String> =
                    entries.iter().map(|(key, value)| format!("[{}, {}]", self.expression(key), self.expression(value))).collect();
                format!("new Map([{}])", entries.join(", "))
            }
            Kind::Spread(list) => format!("...$list({})", self.expression(list)),
            Kind::Closure(parameters, body, has_arrow) => self.closure(parameters, body, *has_arrow),
            Kind::Unary(sign, value) => self.unary(sign, value),
            Kind::Step(sign, before, target) => self.step(sign, *before, target, true),
            Kind::Row(first, rest) => self.row(first, rest),
            Kind::Power(base, exponent) => format!("$pow({}, {})", self.expression(base), self.expression(exponent)),
            Kind::InstanceOf(value, kind, is) => {
                let value = self.expression(value);
                let array = if kind.is_array { "[]" } else { "" };
                format!("({}$is({value}, {}))", if *is { "" } else { "!" }, quoted(&format!("{}{array}", kind.name)))
            }
            Kind::Cast(kind, value, reads) => self.cast(kind, value, *reads),
            Kind::Choice(condition, then, other) => {
                format!("({} ? {} : {})", self.truth(condition), self.expression(then), self.expression(other))
            }
            Kind::Elvis(value, other) => format!("$elvis({}, () => {})", self.expression(value), self.in_parentheses(other)),
            Kind::Range(from, to, inclusive) => format!("$range({}, {}, {inclusive})", self.expression(from), self.expression(to)),
            Kind::Assign(target, operator, value) => self.assign(target, operator, value),
            Kind::AssignMany(names, value) => {
                let value = self.expression(value);
                let names: Vec<String> = names.iter().map(|name| self.variable(name)).collect();
                format!("([{}] = $list({value}))", names.join(", "))
            }
            Kind::Path(value, suffixes) => self.path(line, value, suffixes),
            Kind::New(kind, arguments) => self.creation(line, kind, arguments),
            Kind::NewArray(kind, sizes) => {
                let fill = match kind.name.as_str() {
                    "int" | "long" | "short" | "double" | "float" => "0",
                    "boolean" => "false",
                    _ => "null",
                };
                if kind.name == "byte" && sizes.len() == 1 {
                    return format!("new $Bytes(new Uint8Array({}))", self.expressions(sizes));
                }
                format!("$array({fill}, {})", self.expressions(sizes))
            }
        }
    }

    /// An arrow's body; braces would begin a block.
    fn in_parentheses(&mut self, expression: &Expression) -> String {
        format!("({})", self.expression(expression))
    }

    /// A value of which nobody takes the result.
    pub(super) fn effect(&mut self, expression: &Expression) -> String {
        match &expression.kind {
            Kind::Step(sign, before, target) => self.step(sign, *before, target, false),
            _ => self.expression(expression),
        }
    }

    /// As a condition.
    pub(super) fn truth(&mut self, expression: &Expression) -> String {
        let is_boolean = match &expression.kind {
            Kind::Boolean(_) | Kind::InstanceOf(..) | Kind::Unary("!", _) => true,
            Kind::Row(_, rest) => {
                !matches!(rest[0].0, "+" | "-" | "*" | "/" | "%" | "<<" | ">>" | ">>>" | "&" | "|" | "^" | "<=>" | "=~") || self.is_jexl()
            }
            _ => false,
        };
        let code = self.expression(expression);
        if is_boolean { code } else { format!("$truth({code})") }
    }

    fn is_jexl(&self) -> bool {
        self.language == Language::Jexl
    }

    fn text(&mut self, line: usize, parts: &[Part]) -> String {
        if let [Part::Text(text)] = parts {
            return quoted(text);
        }
        let mut printed = vec!["\"\"".to_owned()];
        for part in parts {
            printed.push(match part {
                Part::Text(text) => quoted(text),
                Part::Reference(text) => self.reference(line, text).unwrap_or_default(),
                Part::Code(Expression { kind: Kind::Name(name), .. }) if !self.is_known(name) => {
                    self.note_read(name);
                    format!("$ref({})", quoted(name))
                }
                Part::Code(code) => format!("$text({})", self.expression(code)),
            });
        }
        format!("({})", printed.join(" + "))
    }

    /// What JMeter would have put in: `name` or `__name(arguments)`.
    pub(super) fn reference(&mut self, line: usize, text: &str) -> Option<String> {
        match reference(text) {
            Ok((code, name)) => {
                if let Some(name) = name {
                    self.note_read(&name);
                }
                Some(code)
            }
            Err(message) => {
                self.fail(line, message);
                None
            }
        }
    }

    pub(super) fn note_read(&mut self, name: &str) {
        note(&mut self.reads, name);
    }

    /// Whether something gives this name a value.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.held(name).is_some()
            || self.assigned.contains(name)
            || self.functions.contains(name)
            || object_named(name).is_some()
            || value_named(name).is_some()
    }

    /// Whether the script itself gives this name a value.
    pub(super) fn is_own(&self, name: &str) -> bool {
        self.held(name).is_some() || self.assigned.contains(name)
    }

    /// A variable that is written to; one that is declared nowhere is one of the whole script.
    pub(super) fn variable(&mut self, name: &str) -> String {
        if self.held(name).is_none() {
            self.hoisted.insert(name.to_owned());
        }
        mangled(name)
    }

    fn name(&mut self, line: usize, name: &str) -> String {
        if self.is_own(name) {
            return self.variable(name);
        }
        if self.functions.contains(name) {
            return mangled(name);
        }
        if let Some(object) = object_named(name) {
            return self.object(object).to_owned();
        }
        if let Some((code, of_answer)) = value_named(name) {
            self.reads_answer |= of_answer;
            return code.to_owned();
        }
        if let Some(class) = class_named(name) {
            return format!("$class.{}", class.name);
        }
        if is_type(name) {
            return format!("$type({})", quoted(name));
        }
        if self.delegates > 0 && !name.starts_with(char::is_uppercase) {
            return format!("$get({line}, $with{}, {})", self.delegates, quoted(name));
        }
        if self.imports.contains_key(name) || name.starts_with(char::is_uppercase) {
            let reason = reason(name);
            self.fail(line, format!("`{name}`: {reason}"));
        } else {
            self.fail_of_name(line, format!("`{name}`: nothing gives it a value; one of the plan is read by `vars.get(\"{name}\")`"));
        }
        "null".into()
    }

    /// The JavaScript for an object of JMeter; what it tells is noted.
    pub(super) fn object(&mut self, object: Object) -> &'static str {
        self.reads_answer |= object == Object::Sample;
        self.judges |= object == Object::Assertion;
        object.code()
    }

    fn closure(&mut self, parameters: &[Parameter], body: &[Statement], has_arrow: bool) -> String {
        if !has_arrow {
            let it = [Parameter { name: "it".into(), kind: None, default: None }];
            let (parameters, body) = self.function(&it, body);
            return format!("(({parameters}) => {body})");
        }
        let (parameters, body) = self.function(parameters, body);
        format!("(({parameters}) => {body})")
    }

    /// The closure of `with`: names that nothing gives a value are those of what it is called with.
    pub(super) fn delegating(&mut self, body: &[Statement]) -> String {
        self.delegates += 1;
        let depth = self.delegates;
        let it = [Parameter { name: "it".into(), kind: None, default: None }];
        let (_, body) = self.function(&it, body);
        self.delegates -= 1;
        format!("((it) => {{ const $with{depth} = it; {body} }})")
    }

    fn unary(&mut self, sign: &str, value: &Expression) -> String {
        match (sign, &value.kind) {
            ("!", _) => format!("(!{})", self.truth(value)),
            ("-", Kind::Number { text, .. }) => format!("(-{text})"),
            ("-", _) => format!("$neg({})", self.expression(value)),
            ("~", _) => format!("$tilde({})", self.expression(value)),
            _ => self.expression(value),
        }
    }

    fn step(&mut self, sign: &str, before: bool, target: &Expression, wanted: bool) -> String {
        let by = if sign == "++" { "1" } else { "-1" };
        if let Kind::Name(name) = &target.kind {
            let is_whole = matches!(self.held(name), Some(Held::Whole));
            let name = self.variable(name);
            return match (is_whole, before || !wanted) {
                (true, true) => format!("{sign}{name}"),
                (true, false) => format!("{name}{sign}"),
                (false, true) => format!("({name} = $step({name}, {by}))"),
                (false, false) => format!("[{name}, {name} = $step({name}, {by})][0]"),
            };
        }
        let changed = self.change(target, &format!("$step($v, {by})"));
        if before || !wanted { changed } else { format!("$step({changed}, -({by}))") }
    }

    /// Gives a part of something a value computed from its value, `$v`.
    fn change(&mut self, target: &Expression, code: &str) -> String {
        let line = target.line;
        let Kind::Path(value, suffixes) = &target.kind else {
            self.fail(line, "a value is given to something that holds none");
            return "null".into();
        };
        let Some((last, before)) = suffixes.split_last() else { return "null".into() };
        if let Some(found) = self.set_of_object(value, before, last, Some(code), None) {
            return found;
        }
        let holder = if before.is_empty() { self.expression(value) } else { self.path(line, value, before) };
        let (helper, key) = self.key(last);
        format!("$change({line}, {holder}, {helper}, {key}, ($v) => {code})")
    }

    /// Whether a suffix is an index, and its key.
    fn key(&mut self, suffix: &Suffix) -> (bool, String) {
        match &suffix.kind {
            SuffixKind::Property(name) => (false, quoted(name)),
            SuffixKind::Computed(name) => (false, self.expression(name)),
            SuffixKind::Index(items) => (true, self.expressions(items)),
            _ => (false, "null".into()),
        }
    }

    fn assign(&mut self, target: &Expression, operator: &'static str, value: &Expression) -> String {
        let line = target.line;
        if let Kind::Name(name) = &target.kind {
            let held = self.held(name).cloned().unwrap_or(Held::Anything);
            let code = if operator.is_empty() {
                self.coerced(&held, None, value)
            } else {
                let is_decimal = self.is_decimal(target) || self.is_decimal(value);
                let value = self.expression(value);
                let name = mangled(name);
                let code = self.binary(operator, &name, &value, is_decimal);
                if held == Held::Whole && !matches!(operator, "+" | "-") { format!("$whole({code})") } else { code }
            };
            let name = self.variable(name);
            return format!("({name} = {code})");
        }
        if !operator.is_empty() {
            let value = self.expression(value);
            let code = self.binary(operator, "$v", &value, false);
            return self.change(target, &code);
        }
        let Kind::Path(holder, suffixes) = &target.kind else { return "null".into() };
        let Some((last, before)) = suffixes.split_last() else { return "null".into() };
        if let Some(found) = self.set_of_object(holder, before, last, None, Some(value)) {
            return found;
        }
        let holder = if before.is_empty() { self.expression(holder) } else { self.path(line, holder, before) };
        let (is_index, key) = self.key(last);
        let value = self.expression(value);
        format!("{}({line}, {holder}, {key}, {value})", if is_index { "$putAt" } else { "$set" })
    }

    fn row(&mut self, first: &Expression, rest: &[(&'static str, Expression)]) -> String {
        if let "||" | "&&" = rest[0].0 {
            let mut printed = vec![self.truth(first)];
            for (_, right) in rest {
                printed.push(self.truth(right));
            }
            return format!("({})", printed.join(&format!(" {} ", rest[0].0)));
        }
        if rest[0].0 == "<<" && matches!(self.subject(first), Held::File(_)) {
            self.fail(first.line, "`<<` to a file: files are not written by scripts here");
        }
        let mut decimal = self.is_decimal(first);
        let mut code = self.expression(first);
        let mut at = 0;
        while at < rest.len() {
            let (operator, right) = &rest[at];
            if *operator == "+" {
                // A long sum in one call.
                let mut sum = format!("$sum({code}");
                while let Some(("+", right)) = rest.get(at).map(|(operator, right)| (*operator, right)) {
                    decimal |= self.is_decimal(right);
                    sum.push_str(", ");
                    sum.push_str(&self.expression(right));
                    at += 1;
                }
                sum.push(')');
                code = sum;
                continue;
            }
            decimal |= self.is_decimal(right);
            let right = self.expression(right);
            code = self.binary(operator, &code, &right, decimal);
            at += 1;
        }
        code
    }

    fn binary(&mut self, operator: &str, left: &str, right: &str, decimal: bool) -> String {
        if self.is_jexl() {
            let name = match operator {
                "==" => return format!("$jexl.eq({left}, {right})"),
                "!=" => return format!("(!$jexl.eq({left}, {right}))"),
                "<" | "<=" | ">" | ">=" => return format!("($jexl.compare({left}, {right}) {operator} 0)"),
                "-" => "sub",
                "*" => "mul",
                "/" => return format!("$jexl.div({left}, {right}, {decimal})"),
                "%" => "mod",
                "=~" => "matches",
                "!~" => return format!("(!$jexl.matches({left}, {right}))"),
                "=^" => return format!("$text({left}).startsWith($text({right}))"),
                "=$" => return format!("$text({left}).endsWith($text({right}))"),
                _ => "",
            };
            if !name.is_empty() {
                return format!("$jexl.{name}({left}, {right})");
            }
        }
        match operator {
            "+" => format!("$sum({left}, {right})"),
            "-" => format!("$sub({left}, {right})"),
            "*" => format!("$mul({left}, {right})"),
            "/" if self.language == Language::BeanShell && !decimal => format!("$idiv({left}, {right})"),
            "/" => format!("$div({left}, {right})"),
            "%" => format!("$mod({left}, {right})"),
            "**" => format!("$pow({left}, {right})"),
            "==" => format!("$eq({left}, {right})"),
            "!=" => format!("(!$eq({left}, {right}))"),
            "===" => format!("$same({left}, {right})"),
            "!==" => format!("(!$same({left}, {right}))"),
            "<" | "<=" | ">" | ">=" => format!("($cmp({left}, {right}) {operator} 0)"),
            "<=>" => format!("$cmp({left}, {right})"),
            "=~" => format!("$find({left}, {right})"),
            "==~" => format!("$matches({left}, {right})"),
            "in" => format!("$in({left}, {right})"),
            "!in" => format!("(!$in({left}, {right}))"),
            "<<" => format!("$shl({left}, {right})"),
            "?:" => format!("$elvis({left}, () => ({right}))"),
            _ => format!("$bits({}, {left}, {right})", quoted(operator)),
        }
    }

    /// Whether a value is a decimal for sure, so that Java divides it as one.
    fn is_decimal(&self, expression: &Expression) -> bool {
        match &expression.kind {
            Kind::Number { decimal, .. } => *decimal,
            Kind::Name(name) => matches!(self.held(name), Some(Held::Decimal)),
            Kind::Cast(kind, ..) => matches!(kind.name.as_str(), "double" | "float" | "Double" | "Float"),
            Kind::Unary("-", value) => self.is_decimal(value),
            Kind::Row(first, rest) => self.is_decimal(first) || rest.iter().any(|(_, right)| self.is_decimal(right)),
            Kind::Path(_, suffixes) => match suffixes.last().map(|suffix| &suffix.kind) {
                Some(SuffixKind::Method(name, _)) => {
                    matches!(
                        name.as_str(),
                        "parseDouble" | "parseFloat" | "random" | "sqrt" | "pow" | "doubleValue" | "toDouble" | "nextDouble"
                    )
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn cast(&mut self, kind: &Type, value: &Expression, reads: bool) -> String {
        let code = self.expression(value);
        let name = kind.name.as_str();
        if kind.is_array {
            return if name == "byte" { format!("$as({code}, \"byte[]\")") } else { format!("$as({code}, \"List\")") };
        }
        match name {
            "int" | "long" | "short" if !reads => format!("$whole({code})"),
            "String" | "GString" => format!("$string({code})"),
            _ if CAST.contains(&name) => format!("$as({code}, {})", quoted(name)),
            _ => code,
        }
    }

    fn creation(&mut self, line: usize, kind: &Type, arguments: &[Expression]) -> String {
        let name = simple(&kind.name);
        if name == "File" {
            return self.file(line, arguments);
        }
        let home = if name == kind.name { self.imports.get(name).cloned() } else { Some(kind.name.clone()) };
        let printed = self.expressions(arguments);
        let separator = if arguments.is_empty() { "" } else { ", " };
        if let Some(class) = class_named(name) {
            if let Some(home) = home.filter(|home| !is_home(class.packages, home)) {
                self.fail(line, format!("`{home}`: {}", reason(name)));
            } else if !class.made {
                self.fail(line, format!("`new {name}()`: no such thing is made by `new`"));
            }
            return format!("$new($class.{name}{separator}{printed})");
        }
        if is_exception(name) {
            return format!("$error({}{separator}{printed})", quoted(name));
        }
        let reason = reason(name);
        self.fail(line, format!("`new {name}()`: {reason}"));
        "null".into()
    }

    fn file(&mut self, line: usize, arguments: &[Expression]) -> String {
        let name = match arguments {
            [Expression { kind: Kind::Text(parts), .. }] => match parts.as_slice() {
                [Part::Text(name)] => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        let Some(name) = name else {
            self.fail(line, "`new File()`: files are read by one fixed name here, and this one is computed");
            return "null".into();
        };
        note(&mut self.files, &name);
        format!("new $File({})", quoted(&name))
    }

    /// What is known of a value before it is computed.
    pub(super) fn subject(&self, expression: &Expression) -> Held {
        match &expression.kind {
            Kind::Name(name) => match self.held(name) {
                Some(held @ (Held::Object(_) | Held::File(_))) => held.clone(),
                Some(_) => Held::Anything,
                None if self.assigned.contains(name) => Held::Anything,
                None => object_named(name).map_or(Held::Anything, Held::Object),
            },
            Kind::New(kind, arguments) if simple(&kind.name) == "File" => match arguments.first().map(|argument| &argument.kind) {
                Some(Kind::Text(parts)) => match parts.as_slice() {
                    [Part::Text(name)] => Held::File(name.clone()),
                    _ => Held::Anything,
                },
                _ => Held::Anything,
            },
            Kind::Path(value, suffixes) => {
                let Held::Object(mut object) = self.subject(value) else { return Held::Anything };
                for suffix in suffixes {
                    let method = match &suffix.kind {
                        SuffixKind::Method(name, _) => Some(name.clone()),
                        SuffixKind::Property(name) => object.getter(name),
                        _ => None,
                    };
                    let Some(next) = method.and_then(|method| object.of(&method)) else { return Held::Anything };
                    object = next;
                }
                Held::Object(object)
            }
            _ => Held::Anything,
        }
    }
}

/// A class's name without its package.
fn simple(whole: &str) -> &str {
    whole.rsplit('.').next().unwrap_or(whole)
}

/// Adds a name that is not there yet.
pub(crate) fn note(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}

/// Whether a whole name is that of a class in one of these packages.
pub(super) fn is_home(packages: &[&str], whole: &str) -> bool {
    whole.rsplit_once('.').is_some_and(|(package, _)| packages.contains(&package))
}

/// The JavaScript for what JMeter puts into a script, and the variable it reads.
pub(crate) fn reference(text: &str) -> Result<(String, Option<String>), String> {
    let text = text.trim();
    if !text.starts_with("__") {
        if text.contains(['{', '(']) {
            return Err(format!("`${{{text}}}`: a name that is computed"));
        }
        return Ok((format!("$ref({})", quoted(text)), Some(text.to_owned())));
    }
    let (name, arguments) = text.split_once('(').map_or((text, ""), |(name, rest)| (name, rest.strip_suffix(')').unwrap_or(rest)));
    let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
    let argument = |at: usize| arguments.get(at).copied().filter(|argument| !argument.is_empty());
    let fixed = !arguments.iter().any(|argument| argument.contains("${"));
    let code = match (name, argument(0), argument(1)) {
        ("__P", Some(name), default) => format!("$property({}, {})", quoted(name), quoted(default.unwrap_or("1"))),
        ("__property", Some(name), None) => format!("$property({}, {0})", quoted(name)),
        ("__time", None, _) => "String(host.now())".into(),
        ("__time", Some(form), None) if !form.starts_with('/') => {
            format!("$new($class.SimpleDateFormat, {}).format($new($class.Date))", quoted(form))
        }
        ("__threadNum", ..) => "String(host.threadNumber())".into(),
        ("__threadGroupName", ..) => "host.groupName()".into(),
        ("__samplerName", ..) => "host.label()".into(),
        ("__UUID", ..) => "$uuid()".into(),
        ("__Random", Some(from), Some(to)) if from.parse::<i64>().is_ok() && to.parse::<i64>().is_ok() => {
            format!("String($between({from}, {to}))")
        }
        ("__V", Some(name), _) if !name.contains(['$', '(']) => return Ok((format!("$ref({})", quoted(name)), Some(name.to_owned()))),
        _ => String::new(),
    };
    if code.is_empty() || !fixed {
        return Err(format!("`${{{text}}}`: this function is not computed inside of scripts; set a variable to it before, and read that"));
    }
    Ok((code, None))
}
