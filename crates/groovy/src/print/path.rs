//! What follows a value: calls, properties, indexes; and what is known of them by what they follow.

use super::expression::is_home;
use super::{Held, Printer, mangled, quoted};
use crate::classes::{Class, class_named, is_exception, is_type, reason};
use crate::jmeter::{Object, accessor};
use crate::translation::Language;
use crate::tree::{Expression, Kind, Part, Suffix, SuffixKind};

/// First parts of the names of packages.
const ROOTS: &[&str] = &["java", "javax", "org", "groovy", "com", "net", "io", "jakarta", "kg", "eu", "us", "de"];

/// Methods of every value; what an object of JMeter does not know is one of these or a mistake.
const OF_ALL: &[&str] = &["toString", "equals", "hashCode", "getClass", "is"];

/// All methods of all values of the library; a test holds it against that.
const METHODS: &str = include_str!("../library/methods.txt");

/// What was reached so far.
#[derive(Clone, Copy)]
enum Place {
    Value,
    Object(Object),
    Class(&'static Class),
    /// A type of which nothing but its name is known.
    Type,
}

impl Printer {
    pub(super) fn path(&mut self, line: usize, value: &Expression, suffixes: &[Suffix]) -> String {
        let (mut code, mut place, begin) = self.begin(line, value, suffixes);
        for suffix in &suffixes[begin..] {
            (code, place) = match place {
                Place::Object(object) => self.of_object(&code, object, suffix),
                Place::Class(class) => self.of_class(code, class, suffix),
                Place::Type => (self.of_value(&code, suffix), Place::Value),
                Place::Value => (self.of_value(&code, suffix), Place::Value),
            };
        }
        code
    }

    /// The value that a path begins with, and how many suffixes belong to its name.
    fn begin(&mut self, line: usize, value: &Expression, suffixes: &[Suffix]) -> (String, Place, usize) {
        if let Held::Object(object) = self.subject(value) {
            let code = match &value.kind {
                Kind::Name(name) if self.is_own(name) => {
                    self.object(object);
                    mangled(name)
                }
                _ => self.expression(value),
            };
            return (code, Place::Object(object), 0);
        }
        if matches!(self.subject(value), Held::File(_)) {
            return (self.expression(value), Place::Object(Object::File), 0);
        }
        let Kind::Name(name) = &value.kind else { return (self.expression(value), Place::Value, 0) };
        if self.is_own(name) {
            return (self.expression(value), Place::Value, 0);
        }
        if let Some(Suffix { kind: SuffixKind::Call(arguments), line, .. }) = suffixes.first() {
            return (self.function_call(*line, name, arguments), Place::Value, 1);
        }
        if name == "bsh" && matches!(suffixes.first(), Some(Suffix { kind: SuffixKind::Property(property), .. }) if property == "args") {
            return ("$args()".into(), Place::Value, 1);
        }
        if name == "this" {
            return self.of_script(line, suffixes);
        }
        if ROOTS.contains(&name.as_str()) {
            return self.whole_name(line, name, suffixes);
        }
        if let Some(class) = class_named(name) {
            if let Some(home) = self.imports.get(name).cloned().filter(|home| !is_home(class.packages, home)) {
                self.fail(line, format!("`{home}`: {}", reason(name)));
            }
            return (format!("$class.{name}"), Place::Class(class), 0);
        }
        if is_type(name) {
            return (format!("$type({})", quoted(name)), Place::Type, 0);
        }
        (self.expression(value), Place::Value, 0)
    }

    /// `this.f()` and `this.x` of a script.
    fn of_script(&mut self, line: usize, suffixes: &[Suffix]) -> (String, Place, usize) {
        match suffixes.first().map(|suffix| &suffix.kind) {
            Some(SuffixKind::Method(name, arguments)) if self.functions.contains(name) => {
                (self.function_call(line, name, arguments), Place::Value, 1)
            }
            Some(SuffixKind::Property(name)) if self.is_known(name) => {
                let name = Expression { line, kind: Kind::Name(name.clone()) };
                (self.expression(&name), Place::Value, 1)
            }
            _ => {
                self.fail(line, "`this`: a script is no object here");
                ("null".into(), Place::Value, 0)
            }
        }
    }

    /// `java.util.UUID` and on.
    fn whole_name(&mut self, line: usize, root: &str, suffixes: &[Suffix]) -> (String, Place, usize) {
        let mut whole = root.to_owned();
        for (at, suffix) in suffixes.iter().enumerate() {
            let SuffixKind::Property(part) = &suffix.kind else { break };
            whole.push('.');
            whole.push_str(part);
            if whole == "org.apache.jmeter.samplers.SampleResult" {
                return (self.object(Object::Sample).to_owned(), Place::Object(Object::Sample), at + 1);
            }
            if part.starts_with(char::is_uppercase) {
                if let Some(class) = class_named(part).filter(|class| is_home(class.packages, &whole)) {
                    return (format!("$class.{part}"), Place::Class(class), at + 1);
                }
                if is_type(part) {
                    return (format!("$type({})", quoted(part)), Place::Type, at + 1);
                }
                self.fail(line, format!("`{whole}`: {}", reason(part)));
                return ("null".into(), Place::Value, suffixes.len());
            }
        }
        // The last one may be called: `org.a.B.c()` has been read as far as `B`.
        self.fail(line, format!("`{whole}`: nothing gives it a value"));
        ("null".into(), Place::Value, suffixes.len())
    }

    fn function_call(&mut self, line: usize, name: &str, arguments: &[Expression]) -> String {
        let printed = self.expressions(arguments);
        if self.functions.contains(name) {
            return format!("{}({printed})", mangled(name));
        }
        match name {
            "println" | "print" => format!("$print({printed})"),
            "printf" => format!("$print($format({printed}))"),
            "size" | "empty" if self.language == Language::Jexl => format!("$jexl.{name}({printed})"),
            "use" if self.language == Language::Groovy && arguments.len() == 2 && printed.starts_with("$type(\"TimeCategory\")") => {
                format!("$do({})", self.expression(&arguments[1]))
            }
            "sleep" => {
                self.fail(line, "`sleep`: pauses are timers of the plan");
                "null".into()
            }
            _ if self.delegates > 0 => {
                let separator = if arguments.is_empty() { "" } else { ", " };
                format!("$call({line}, $with{}, {}{separator}{printed})", self.delegates, quoted(name))
            }
            _ => {
                self.fail_of_name(line, format!("`{name}()`: there is no such method in the script"));
                "null".into()
            }
        }
    }

    fn of_value(&mut self, code: &str, suffix: &Suffix) -> String {
        let line = suffix.line;
        let base = if suffix.safe || suffix.spread { "$o" } else { code };
        let inner = match &suffix.kind {
            SuffixKind::Method(name, arguments) => {
                if !METHODS.split_whitespace().any(|known| known == name) && !self.keys.contains(name) {
                    let reason = match name.as_str() {
                        "execute" | "openConnection" | "openStream" => "programs and connections are not used by scripts here",
                        _ => "nothing that is known here has such a method",
                    };
                    self.fail(line, format!("`.{name}()`: {reason}"));
                }
                if let ("with" | "tap", [Expression { kind: Kind::Closure(parameters, body, false), .. }]) =
                    (name.as_str(), arguments.as_slice())
                    && parameters.is_empty()
                {
                    let closure = self.delegating(body);
                    format!("$call({line}, {base}, {}, {closure})", quoted(name))
                } else {
                    let separator = if arguments.is_empty() { "" } else { ", " };
                    let arguments = self.expressions(arguments);
                    format!("$call({line}, {base}, {}{separator}{arguments})", quoted(name))
                }
            }
            SuffixKind::Property(name) => format!("$get({line}, {base}, {})", quoted(name)),
            SuffixKind::Computed(name) => {
                let name = self.expression(name);
                format!("$get({line}, {base}, {name})")
            }
            SuffixKind::Index(items) if is_range(items) => match &items[0].kind {
                Kind::Range(from, to, inclusive) => {
                    let (from, to) = (self.expression(from), self.expression(to));
                    format!("$slice({line}, {base}, {from}, {to}, {inclusive})")
                }
                _ => String::new(),
            },
            SuffixKind::Index(items) => {
                let items = self.expressions(items);
                format!("$at({line}, {base}, {items})")
            }
            SuffixKind::Call(arguments) => {
                let separator = if arguments.is_empty() { "" } else { ", " };
                let arguments = self.expressions(arguments);
                format!("$invoke({line}, {base}{separator}{arguments})")
            }
            SuffixKind::Pointer(name) => format!("$pointer({line}, {base}, {})", quoted(name)),
        };
        match (suffix.safe, suffix.spread) {
            (_, true) => format!("$spread({code}, ($o) => {inner})"),
            (true, _) => format!("$safe({code}, ($o) => {inner})"),
            _ => inner,
        }
    }

    fn of_object(&mut self, code: &str, object: Object, suffix: &Suffix) -> (String, Place) {
        let line = suffix.line;
        match &suffix.kind {
            SuffixKind::Method(name, arguments) => {
                if !object.knows(name) {
                    if OF_ALL.contains(&name.as_str()) {
                        return (self.of_value(code, suffix), Place::Value);
                    }
                    self.fail(line, format!("`{}.{name}`: {}", object.shown(), object.reason(name)));
                    return ("null".into(), Place::Value);
                }
                self.note_names(object, name, arguments);
                self.note_request(line, object, name, arguments);
                let arguments = self.expressions(arguments);
                self.given(object, name, format!("{code}.{name}({arguments})"))
            }
            SuffixKind::Property(name) if matches!(object, Object::Vars | Object::Props) => {
                if object == Object::Vars {
                    self.note_read(name);
                }
                (format!("{code}.get({})", quoted(name)), Place::Value)
            }
            SuffixKind::Index(items) if matches!(object, Object::Vars | Object::Props) && items.len() == 1 => {
                self.note_names(object, "get", items);
                let key = self.expressions(items);
                (format!("{code}.get({key})"), Place::Value)
            }
            SuffixKind::Property(name) if object == Object::Sample && matches!(name.as_str(), "TEXT" | "BINARY") => {
                (quoted(name), Place::Value)
            }
            SuffixKind::Property(name) => match object.getter(name) {
                Some(getter) => {
                    self.note_request(line, object, &getter, &[]);
                    self.given(object, &getter, format!("{code}.{getter}()"))
                }
                None => {
                    self.fail(line, format!("`{}.{name}`: {}", object.shown(), object.reason(name)));
                    ("null".into(), Place::Value)
                }
            },
            _ => {
                self.fail(line, format!("`{}` is used in a way that is not known here", object.shown()));
                ("null".into(), Place::Value)
            }
        }
    }

    /// What a method of an object gives.
    fn given(&mut self, object: Object, method: &str, code: String) -> (String, Place) {
        match object.of(method) {
            Some(next) => (self.object(next).to_owned(), Place::Object(next)),
            None => (code, Place::Value),
        }
    }

    /// Notes what a call has to do with the next request.
    fn note_request(&mut self, line: usize, object: Object, method: &str, arguments: &[Expression]) {
        let is_named = match arguments.first().map(|argument| &argument.kind) {
            Some(Kind::Text(parts)) => matches!(parts.as_slice(), [Part::Text(name)] if !name.is_empty()),
            _ => false,
        };
        if let Some(reads) = object.uses_request(method, is_named) {
            self.request.get_or_insert(line);
            self.reads_request |= reads;
            self.sets_path |= method == "setPath";
        }
    }

    /// Notes the variables that a call reads or sets.
    fn note_names(&mut self, object: Object, method: &str, arguments: &[Expression]) {
        if object != Object::Vars {
            return;
        }
        let (reads, sets) = match method {
            "get" | "getObject" => (true, false),
            "put" | "putObject" | "remove" => (false, true),
            "entrySet" | "putAll" => {
                self.names_are_computed = true;
                return;
            }
            _ => return,
        };
        match arguments.first().map(|argument| &argument.kind) {
            Some(Kind::Text(parts)) if matches!(parts.as_slice(), [Part::Text(_)]) => {
                let [Part::Text(name)] = parts.as_slice() else { return };
                if reads {
                    self.note_read(name);
                }
                if sets {
                    super::expression::note(&mut self.sets, name);
                }
            }
            _ => self.names_are_computed = true,
        }
    }

    fn of_class(&mut self, code: String, class: &'static Class, suffix: &Suffix) -> (String, Place) {
        let line = suffix.line;
        let has = |names: &str, name: &str| names.split(' ').any(|known| known == name);
        match &suffix.kind {
            SuffixKind::Method(name, arguments) => {
                if let Some(object) = object_of(class.name, name) {
                    return (self.object(object).to_owned(), Place::Object(object));
                }
                if !has(class.methods, name) {
                    self.fail(line, format!("`{}.{name}`: {}", class.name, missing(class.name, name)));
                    return ("null".into(), Place::Value);
                }
                let arguments = self.expressions(arguments);
                (format!("{code}.{name}({arguments})"), Place::Value)
            }
            SuffixKind::Property(name) if name == "class" => (format!("$type({})", quoted(class.name)), Place::Value),
            SuffixKind::Property(name) if class.name == "System" && matches!(name.as_str(), "out" | "err") => {
                (self.object(Object::Out).to_owned(), Place::Object(Object::Out))
            }
            SuffixKind::Property(name) if has(class.fields, name) => (format!("{code}.{name}"), Place::Value),
            SuffixKind::Property(name)
                if object_of(class.name, &accessor("get", name)).is_some() || has(class.methods, &accessor("get", name)) =>
            {
                let getter = Suffix { line, kind: SuffixKind::Method(accessor("get", name), Vec::new()), safe: false, spread: false };
                self.of_class(code, class, &getter)
            }
            SuffixKind::Property(name) => {
                // A class in a class, as `Map.Entry`.
                if is_type(name) || is_exception(name) {
                    return (format!("$type({})", quoted(name)), Place::Type);
                }
                self.fail(line, format!("`{}.{name}`: {}", class.name, missing(class.name, name)));
                ("null".into(), Place::Value)
            }
            SuffixKind::Pointer(name) => {
                if name == "new" {
                    return (format!("((...a) => $new({code}, ...a))"), Place::Value);
                }
                (format!("$pointer({line}, {code}, {})", quoted(name)), Place::Value)
            }
            _ => {
                self.fail(line, format!("`{}` is used in a way that is not known here", class.name));
                ("null".into(), Place::Value)
            }
        }
    }

    /// `vars.x = …`, `prev.successful = …`: with `change`, a value computed from the old one, `$v`.
    pub(super) fn set_of_object(
        &mut self,
        value: &Expression,
        before: &[Suffix],
        last: &Suffix,
        change: Option<&str>,
        new: Option<&Expression>,
    ) -> Option<String> {
        let object = match self.subject(value) {
            Held::Object(mut object) => {
                for suffix in before {
                    let method = match &suffix.kind {
                        SuffixKind::Method(name, _) => Some(name.clone()),
                        SuffixKind::Property(name) => object.getter(name),
                        _ => None,
                    };
                    object = object.of(&method?)?;
                }
                object
            }
            Held::File(_) if before.is_empty() => Object::File,
            _ => return None,
        };
        let holder = if before.is_empty() { self.expression(value) } else { self.path(last.line, value, before) };
        if let Object::Vars | Object::Props = object {
            let key = match &last.kind {
                SuffixKind::Property(name) => Expression { line: last.line, kind: Kind::Text(vec![Part::Text(name.clone())]) },
                SuffixKind::Index(items) => {
                    self.note_names(object, "put", items);
                    let key = self.expressions(items);
                    return Some(self.put(object, &holder, &key, change, new));
                }
                _ => return None,
            };
            let keys = [key];
            self.note_names(object, "put", &keys);
            let key = self.expression(&keys[0]);
            return Some(self.put(object, &holder, &key, change, new));
        }
        let SuffixKind::Property(name) = &last.kind else { return None };
        match (object.setter(name), new) {
            (Some(setter), Some(new)) => {
                self.note_request(last.line, object, &setter, &[]);
                let new = self.expression(new);
                Some(format!("{holder}.{setter}({new})"))
            }
            _ => {
                self.fail(last.line, format!("`{}.{name}`: {}", object.shown(), object.reason(name)));
                Some("null".into())
            }
        }
    }

    fn put(&mut self, object: Object, holder: &str, key: &str, change: Option<&str>, new: Option<&Expression>) -> String {
        if let Some(change) = change {
            if object == Object::Vars {
                self.names_are_computed |= !key.starts_with('"');
            }
            return format!("{holder}.put({key}, (($v) => {change})({holder}.get({key})))");
        }
        let new = new.map_or_else(|| "null".to_owned(), |new| self.expression(new));
        format!("{holder}.put({key}, {new})")
    }
}

/// The object of JMeter that a class hands out.
fn object_of(class: &str, method: &str) -> Option<Object> {
    match (class, method) {
        ("Thread", "currentThread") => Some(Object::Thread),
        ("JMeterContextService", "getContext") => Some(Object::Context),
        ("JMeterUtils", "getJMeterProperties") => Some(Object::Props),
        _ => None,
    }
}

/// Why a class has no such method here.
fn missing(class: &str, name: &str) -> &'static str {
    match (class, name) {
        ("Thread", "sleep") | ("TimeUnit", "sleep") => "pauses are timers of the plan",
        ("System", "getenv" | "getProperty" | "setProperty") => {
            "the environment is not seen by scripts here; give the plan a property, and read it by `props.get`"
        }
        ("System", "exit") => "a test ends by `ctx.getEngine().stopTest()`",
        _ => "this is not among what is known of the class here",
    }
}

/// Whether an index is a range as it stands there.
fn is_range(items: &[Expression]) -> bool {
    matches!(items, [Expression { kind: Kind::Range(..), .. }])
}
