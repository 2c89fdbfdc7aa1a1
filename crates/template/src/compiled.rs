//! A plan's templates, compiled: whatever does not differ from request to request is text already.
//!
//! The head of a request is made by the engine, with marks in the place of values, so that what is checked and added there
//! (names, line breaks, the way of closing, the proxy) is checked and added here as well. Then it is cut at the marks.

use std::collections::HashMap;
use std::sync::Arc;

use engine::protocol::Layout;
use grpc::{Descriptors, Method};
use plan::setting::{DATA, DATA_FILE, HEADER, MESSAGE, NO_TEMPLATES, PROTO, SCENARIO, URLS};
use plan::template::{Digest, Piece, Template, Value, is_templated};
use plan::{Body, Charset, Contents, FormValue, Placeholder, Plan, PlanError, PlanErrors, Target, Templating};
use ring::hmac;

use crate::data::{Data, DataError};
use crate::write::{Part, Place, Writer, civil, days_between};

/// One route's request.
pub(crate) struct Compiled {
    /// Where the parts of its request stand, but for its body.
    pub(crate) layout: Layout,
    /// Where it goes.
    pub(crate) target: Target,
    /// Up to the line break of the last header; with the length of the body and the blank line, where that is known.
    pub(crate) head: Vec<Part>,
    pub(crate) body: Content,
    /// Of a call of gRPC, whose body is JSON until it is written.
    pub(crate) method: Option<Method>,
}

/// What follows the head.
pub(crate) enum Content {
    /// The same each time; its length is in the head.
    Fixed(Vec<u8>),
    /// Written first: the head tells its length, or it becomes a message.
    Written(Vec<Part>),
}

/// Compiles a plan's requests: one, or as many as its list has routes.
pub(crate) fn compile(plan: &Plan, files: &[Arc<Data>]) -> Result<Vec<Compiled>, PlanErrors> {
    let mut compiling = Compiling { plan, pieces: Pieces::of_plan(plan, files), method: None };
    match method_of(plan) {
        Ok(method) => compiling.method = method,
        Err(error) => return Err(PlanErrors(vec![error])),
    }
    let body = compiling.body();
    let request = plan.request();
    let compiled = match &plan.variation().mix {
        None => compiling.route(plan.target(), &request.method, &body).into_iter().collect(),
        Some(mix) => {
            if mix.routes.is_empty() {
                let message = format!("the list of URLs '{}' has not been read", mix.path);
                compiling.pieces.errors.push(PlanError::new(URLS, message, format!("give it again with {URLS:#} {}", mix.path)));
            }
            let nothing = Compiling::nothing();
            let routes = mix.routes.iter().filter_map(|route| {
                let method = route.method.as_deref().unwrap_or(&request.method);
                // A list mixes what reads with what writes, and only what writes has a body.
                let has_none = route.method.is_some() && matches!(method, "GET" | "HEAD" | "DELETE" | "OPTIONS" | "TRACE");
                compiling.route(&route.target, method, if has_none { &nothing } else { &body })
            });
            routes.collect()
        }
    };
    if compiling.pieces.errors.is_empty() { Ok(compiled) } else { Err(compiling.pieces.errors) }
}

/// A body, its values marked.
struct MarkedBody {
    mark: Placeholder,
    bytes: Vec<u8>,
    values: Vec<Value>,
    place: Place,
}

struct Compiling<'a> {
    plan: &'a Plan,
    pieces: Pieces<'a>,
    /// Of a plan whose requests are calls of gRPC.
    method: Option<Method>,
}

/// The method that a plan calls, if it is one of gRPC.
fn method_of(plan: &Plan) -> Result<Option<Method>, PlanError> {
    if !plan.target().scheme().is_grpc() {
        return Ok(None);
    }
    let described = Descriptors::of(plan.contents()).map_err(|wrong| PlanError::new(PROTO, wrong.message, wrong.help))?;
    let method = described.method_at(plan.target().path_and_query());
    let method = method.map_err(|wrong| PlanError::new("url", wrong.message, wrong.help))?;
    let metadata = plan.request().headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    method.packed_as(metadata).map(Some).map_err(|wrong| PlanError::new(HEADER, wrong.message, wrong.help))
}

/// What texts are compiled with, and the mistakes found on the way.
pub(crate) struct Pieces<'a> {
    pub(crate) files: &'a [Arc<Data>],
    /// How templates call the files, in their order.
    pub(crate) names: Vec<&'a str>,
    pub(crate) environment: &'a [(String, String)],
    /// What other files hold.
    pub(crate) contents: &'a Contents,
    /// The variables of a user, by their places.
    pub(crate) variables: &'a [String],
    /// How the letters of what is filled in are written, but for headers; `None`: as UTF-8.
    pub(crate) charset: Option<Charset>,
    /// Whether what is compiled is a body.
    pub(crate) in_body: bool,
    pub(crate) errors: PlanErrors,
    /// Files of weighted rows, each read once.
    pub(crate) weighted: HashMap<String, Option<Arc<Data>>>,
}

impl Compiling<'_> {
    fn nothing() -> MarkedBody {
        MarkedBody { mark: Placeholder::absent_from(""), bytes: Vec::new(), values: Vec::new(), place: Place::Plain }
    }

    fn template(&self, text: &str) -> Option<Template> {
        let variation = self.plan.variation();
        if variation.braces == Templating::Text || !is_templated(text) {
            return None;
        }
        let names: Vec<&str> = variation.files.iter().map(|file| file.name.as_str()).collect();
        Some(Template::parse(text, &names).expect("a plan's templates are valid"))
    }

    /// The body's bytes, read and encoded as the engine does, with marks.
    fn body(&mut self) -> MarkedBody {
        let plan = self.plan;
        let request = plan.request();
        let mut texts: String = plan.texts().map(|(_, text)| text).collect();
        let (mark, values, bytes) = loop {
            let mark = Placeholder::absent_from(&texts);
            let mut values = Vec::new();
            let body = self.marked_body(&mark, &mut values);
            let bytes = engine::body::encode(&body, plan.contents()).unwrap_or_else(|why| {
                self.pieces.errors.push(PlanError::new(DATA, why.message, why.help));
                Vec::new()
            });
            // A file of a form, read only now, may hold the mark as well.
            if values.is_empty() || bytes.is_empty() || mark.count(&bytes) == values.len() {
                break (mark, values, bytes);
            }
            texts += &mark.number(0);
        };
        let types = request.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = types.map(|(_, value)| value.to_ascii_lowercase()).next().unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        let place = match &request.body {
            _ if self.method.is_some() => Place::Json,
            Body::Bytes(_) | Body::File(_) if kind == "application/json" || kind.ends_with("+json") => Place::Json,
            Body::Bytes(_) | Body::File(_) if kind == plan::FORM_TYPE => Place::Form,
            _ => Place::Plain,
        };
        MarkedBody { mark, bytes, values, place }
    }

    fn marked_body(&self, mark: &Placeholder, values: &mut Vec<Value>) -> Body {
        let mut marked = |template: &Template| {
            let before = values.len();
            values.extend(template.values().cloned());
            template.marked(|number| mark.number(before + number))
        };
        match &self.plan.request().body {
            Body::Bytes(bytes) => match std::str::from_utf8(bytes).ok().and_then(|text| self.template(text)) {
                Some(template) => Body::Bytes(marked(&template).into_bytes()),
                None => Body::Bytes(bytes.clone()),
            },
            Body::File(path) => match self.plan.variation().body.as_ref().and_then(|text| self.template(text)) {
                Some(template) => Body::Bytes(marked(&template).into_bytes()),
                None => Body::File(path.clone()),
            },
            Body::Form { boundary, parts } => {
                let mut parts = parts.clone();
                for part in &mut parts {
                    if let FormValue::Text(text) = &mut part.value
                        && let Some(template) = self.template(text)
                    {
                        *text = marked(&template);
                    }
                }
                Body::Form { boundary: boundary.clone(), parts }
            }
            other => other.clone(),
        }
    }

    fn route(&mut self, target: &Target, method: &str, body: &MarkedBody) -> Option<Compiled> {
        let plan = self.plan;
        let has_body = !body.bytes.is_empty();
        let own = plan.target().authority();
        let mut headers: Vec<(String, String)> = plan.request().headers.clone();
        headers.retain(|(name, _)| {
            let name = name.to_ascii_lowercase();
            // The length follows from the body, and what is said about a body that is not sent is wrong.
            name != "content-length" && (has_body || !name.starts_with("content-") || plan.variation().mix.is_none())
        });
        for (name, value) in &mut headers {
            if name.eq_ignore_ascii_case("host") && *value == own {
                *value = target.authority();
            }
        }
        let texts: String =
            headers.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]).chain([target.path_and_query(), method]).collect();
        let mark = Placeholder::absent_from(&texts);
        let mut values: Vec<(Value, Place)> = Vec::new();
        let mut marked = |text: &str, place: Place| match self.template(text) {
            None => text.to_owned(),
            Some(template) => {
                let before = values.len();
                values.extend(template.values().map(|value| (value.clone(), place)));
                template.marked(|number| mark.number(before + number))
            }
        };
        let path = marked(target.path_and_query(), Place::Url);
        let headers: Vec<(String, String)> = headers.iter().map(|(name, value)| (name.clone(), marked(value, Place::Header))).collect();
        let mut head = match engine::head(plan, &target.clone().with_path_and_query(path), method, &headers) {
            Ok(head) => head,
            Err(why) => {
                self.pieces.errors.push(PlanError::new("url", why.message, why.help));
                return None;
            }
        };
        let body_values: Vec<(Value, Place)> = body.values.iter().map(|value| (value.clone(), body.place)).collect();
        let body_parts = self.pieces.cut(&body.mark, &body.bytes, &body_values);
        let mut body = match &body_parts[..] {
            [] => Content::Fixed(Vec::new()),
            [Part::Text(text)] => Content::Fixed(text.clone()),
            _ => Content::Written(body_parts),
        };
        if let (Some(method), Content::Fixed(json)) = (&self.method, &mut body) {
            let mut message = Vec::new();
            for wrong in method.encode(json, &mut message).err().into_iter().flatten() {
                self.pieces.errors.push(PlanError::new(MESSAGE, wrong.message, wrong.help));
            }
            *json = message;
        }
        // A call tells no length: its messages do.
        if self.method.is_some() {
            head.extend_from_slice(b"\r\n");
        } else if let Content::Fixed(bytes) = &body {
            if !bytes.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
                head.extend_from_slice(format!("Content-Length: {}\r\n", bytes.len()).as_bytes());
            }
            head.extend_from_slice(b"\r\n");
        }
        let head = self.pieces.cut(&mark, &head, &values);
        Some(Compiled { layout: Layout::new(method, 0), target: target.clone(), head, body, method: self.method.clone() })
    }
}

impl<'a> Pieces<'a> {
    fn of_plan(plan: &'a Plan, files: &'a [Arc<Data>]) -> Self {
        let variation = plan.variation();
        let names = variation.files.iter().map(|file| file.name.as_str()).collect();
        Self {
            files,
            names,
            environment: &variation.environment,
            contents: plan.contents(),
            variables: &[],
            charset: None,
            in_body: false,
            errors: PlanErrors::default(),
            weighted: HashMap::new(),
        }
    }

    /// The parts of a marked text.
    pub(crate) fn cut(&mut self, mark: &Placeholder, marked: &[u8], values: &[(Value, Place)]) -> Vec<Part> {
        let mut parts = Vec::new();
        if values.is_empty() {
            add_text(&mut parts, marked);
            return parts;
        }
        for (text, number) in mark.split(marked) {
            add_text(&mut parts, text);
            if let Some((value, place)) = number.map(|number| &values[number]) {
                self.value(&mut parts, value, *place);
            }
        }
        parts
    }

    pub(crate) fn pieces(&mut self, pieces: &[Piece], place: Place) -> Vec<Part> {
        let mut parts = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.text(&mut parts, "the text", text.as_bytes(), place),
                Piece::Value(value) => self.value(&mut parts, value, place),
            }
        }
        parts
    }

    pub(crate) fn value(&mut self, parts: &mut Vec<Part>, value: &Value, place: Place) {
        let is_as_it_is = place == Place::Header || !self.in_body && matches!(value, Value::Raw(_));
        // What is made of others, such as base64, is made of them as UTF-8.
        let charset = self.charset.take();
        match charset.filter(|_| !is_as_it_is) {
            None => self.plain_value(parts, value, place),
            Some(charset) => match (value, place) {
                (Value::FormEncoded(pieces), _) => {
                    for (pieces, place) in encoded_pieces(pieces) {
                        self.value_in(charset, parts, &Value::Raw(pieces.to_vec()), place);
                    }
                }
                (Value::Raw(_), place) => self.value_in(charset, parts, value, place.as_it_is()),
                _ => self.value_in(charset, parts, value, place),
            },
        }
        self.charset = charset;
    }

    fn value_in(&mut self, charset: Charset, parts: &mut Vec<Part>, value: &Value, place: Place) {
        let mut inner = Vec::new();
        self.plain_value(&mut inner, value, Place::Plain);
        let is_plain = |part: &Part| matches!(part, Part::Value(writer, _) if writer.is_plain_in(Place::Url));
        if inner.iter().all(is_plain) {
            inner.into_iter().for_each(|part| add(parts, part));
        } else if let [Part::Text(text)] = &inner[..] {
            let mut encoded = Vec::new();
            charset.encode(text, &mut encoded);
            self.text(parts, "", &encoded, place);
        } else {
            parts.push(Part::Value(Writer::InCharset(charset, inner), place));
        }
    }

    fn plain_value(&mut self, parts: &mut Vec<Part>, value: &Value, place: Place) {
        let writer = match value {
            Value::Uuid => Writer::Uuid,
            Value::Random { low, high } => Writer::Random { low: *low, high: *high },
            Value::Sequence { from } => Writer::Sequence { from: *from },
            Value::RandomText { length, letters } => Writer::RandomText { length: *length, letters: letters.chars().collect() },
            Value::RandomDate { first, last, form } => {
                Writer::RandomDate { first: civil(*first), days: days_between(*first, *last), form: form.clone() }
            }
            Value::Now { form, shift } => Writer::Now { form: form.clone(), shift: *shift },
            Value::Body => Writer::Body,
            Value::Choice(pieces) => {
                // Each is in its own place, so that what is chosen needs no second look.
                let choices = pieces.iter().map(|piece| self.pieces(std::slice::from_ref(piece), place)).collect();
                parts.push(Part::Value(Writer::Choice(choices), Place::Plain));
                return;
            }
            Value::Env(name) => {
                let known = self.environment.iter().find(|(known, _)| known == name);
                let text = known.map(|(_, value)| value.clone()).unwrap_or_else(|| {
                    let message = format!("a template names the variable {name}, which is not in the environment");
                    self.errors.push(PlanError::new(NO_TEMPLATES, message, format!("set it, as in {name}=… loadline …")));
                    String::new()
                });
                self.text(parts, &format!("the variable {name}"), text.as_bytes(), place);
                return;
            }
            Value::Variable(name) => match self.variables.iter().position(|known| known == name) {
                Some(place) => Writer::Variable(place),
                None => {
                    let message = format!("a template names the variable '{name}', and nothing gives it a value");
                    self.errors.push(PlanError::new(SCENARIO, message, "declare it under variables:, or extract it before"));
                    return;
                }
            },
            Value::File(path, charset) => {
                let mut bytes = self.file(path);
                if let Some(charset) = charset {
                    bytes = charset.decode(&bytes).into_owned().into_bytes();
                }
                if place == Place::Header {
                    // A token in a file of its own ends with a line break that is not part of it.
                    bytes.truncate(bytes.trim_ascii_end().len());
                }
                self.text(parts, &format!("the file '{path}'"), &bytes, place);
                return;
            }
            Value::Weighted { path, group } => {
                let is_after_slash = matches!(parts.last(), Some(Part::Text(text)) if text.ends_with(b"/"));
                let before = if is_after_slash { Before::Slash } else { Before::Other };
                parts.extend(self.weighted(path, group.as_deref(), place, before).map(|writer| Part::Value(writer, Place::Plain)));
                return;
            }
            Value::Raw(pieces) => {
                let inner = self.pieces(pieces, place.as_it_is());
                inner.into_iter().for_each(|part| add(parts, part));
                return;
            }
            // What is written so means itself everywhere.
            Value::FormEncoded(pieces) => {
                for (pieces, place) in encoded_pieces(pieces) {
                    self.pieces(pieces, place).into_iter().for_each(|part| add(parts, part));
                }
                return;
            }
            Value::Base64(pieces) => {
                let inner = self.pieces(pieces, Place::Plain);
                if let [] | [Part::Text(_)] = &inner[..] {
                    let text = match inner.first() {
                        Some(Part::Text(text)) => text.clone(),
                        _ => Vec::new(),
                    };
                    let mut encoded = Vec::new();
                    crate::write::encode(&text, &mut encoded);
                    self.text(parts, "", &encoded, place);
                    return;
                }
                Writer::Base64(inner)
            }
            Value::Hmac { digest, coding, key, message } => {
                let algorithm = match digest {
                    Digest::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
                    Digest::Sha256 => hmac::HMAC_SHA256,
                    Digest::Sha384 => hmac::HMAC_SHA384,
                    Digest::Sha512 => hmac::HMAC_SHA512,
                };
                let mut known = Vec::new();
                self.value(&mut known, key, Place::Plain);
                let key = match known.pop() {
                    Some(Part::Text(key)) => key,
                    _ => Vec::new(),
                };
                Writer::Hmac { key: hmac::Key::new(algorithm, &key), coding: *coding, message: self.pieces(message, Place::Plain) }
            }
            Value::Column { file, column } => {
                let number = self.names.iter().position(|known| known == file).unwrap_or_default();
                match self.files.get(number).map(|data| data.column(column)) {
                    Some(Ok(column)) => Writer::Column { file: number, column },
                    Some(Err(wrong)) => {
                        self.errors.push(PlanError::new(DATA_FILE, wrong.message, wrong.help));
                        return;
                    }
                    // The file could not be opened, and that was told.
                    None => return,
                }
            }
        };
        let place = if writer.is_plain_in(place) { Place::Plain } else { place };
        parts.push(Part::Value(writer, place));
    }

    /// Adds a text that is known before the run, escaped for its place.
    fn text(&mut self, parts: &mut Vec<Part>, what: &str, text: &[u8], place: Place) {
        if place == Place::Header && !text.iter().all(|byte| place.allows(*byte)) {
            self.errors.push(PlanError::new(
                HEADER,
                format!("{what} in a header holds a line break or another control character"),
                "leave it out, or send it in the body; {{base64 …}} writes any bytes",
            ));
            return;
        }
        let mut escaped = Vec::with_capacity(text.len());
        place.escape(text, &mut escaped);
        add_text(parts, &escaped);
    }

    /// The rows of a file, each as it stands in its place.
    fn weighted(&mut self, path: &str, group: Option<&str>, place: Place, before: Before) -> Option<Writer> {
        let wrong = |message: String, help: &str| PlanError::new(NO_TEMPLATES, message, help);
        let data = match self.weighted.get(path) {
            Some(data) => data.clone()?,
            None => {
                let Some(held) = self.contents.get(path) else {
                    self.errors.push(unread(path));
                    self.weighted.insert(path.to_owned(), None);
                    return None;
                };
                let read = Data::of_bytes(path, held).map_err(|mistakes| {
                    for DataError { message, help } in mistakes {
                        // It is told as the files that are named by that flag are.
                        let message = message.replacen("the data file", "the file", 1);
                        self.errors.push(wrong(format!("{message} (of {{{{weighted {path}}}}})"), &help));
                    }
                });
                let data = read.ok().map(Arc::new);
                self.weighted.insert(path.to_owned(), data.clone());
                data?
            }
        };
        let column = |name: &str| data.columns().iter().position(|column| column == name);
        let (groups, weights, values) = (column("group"), column("weight"), data.columns().len() - 1);
        if group.is_some() && groups.is_none() {
            self.errors.push(wrong(format!("the file {path} has no column 'group'"), "add it, or name no group"));
            return None;
        }
        let (mut bounds, mut rows) = (Vec::new(), Vec::new());
        let mut bound = 0_u64;
        for row in 0..data.count() {
            if let (Some(group), Some(column)) = (group, groups)
                && data.field(row, column) != group.as_bytes()
            {
                continue;
            }
            let weight = match weights.filter(|column| *column != values) {
                None => Some(1),
                Some(column) => std::str::from_utf8(data.field(row, column)).ok().and_then(|text| text.trim().parse::<u64>().ok()),
            };
            let Some(weight) = weight.filter(|weight| *weight <= WEIGHT_MAX) else {
                let message = format!("the file {path} has a weight that is no whole number of at most {WEIGHT_MAX}, in row {}", row + 1);
                self.errors.push(wrong(message, "write one such as 80"));
                return None;
            };
            if weight > 0 {
                bound += weight;
                bounds.push(bound);
                rows.push(data.field(row, values).to_vec());
            }
        }
        if rows.is_empty() {
            let of = group.map_or_else(String::new, |group| format!(" of the group '{}'", group.escape_debug()));
            self.errors.push(wrong(format!("the file {path} has no row{of} with a weight above 0"), "look at the file there"));
            return None;
        }
        // Paths after the slash that a path begins with: they stand as they are, and their own slash is that one.
        let are_paths =
            before == Before::Slash && matches!(place, Place::Url | Place::RawUrl) && rows.iter().all(|row| row.first() == Some(&b'/'));
        let mut texts = Vec::with_capacity(rows.len());
        for row in rows {
            let mut text = Vec::new();
            let (row, place) = if are_paths { (&row[1..], Place::RawUrl) } else { (&row[..], place) };
            if place == Place::Header && !row.iter().all(|byte| place.allows(*byte)) {
                self.errors.push(wrong(
                    format!("a row of the file {path} in a header holds a line break or another control character"),
                    "leave it out, or send it in the body",
                ));
                return None;
            }
            place.escape(row, &mut text);
            texts.push(text);
        }
        Some(Writer::Weighted { bounds, texts })
    }

    fn file(&mut self, path: &str) -> Vec<u8> {
        let held = self.contents.get(path);
        if held.is_none() {
            self.errors.push(unread(path));
        }
        held.map_or_else(Vec::new, |bytes| bytes.to_vec())
    }
}

fn unread(path: &str) -> PlanError {
    let message = format!("the file '{path}' of a template was not read when the plan was made");
    PlanError::new(NO_TEMPLATES, message, "check the path, which begins at the current directory")
}

/// The pieces of a text that is encoded as in a form, and how each stands there: what is raw may be encoded already.
fn encoded_pieces(pieces: &[Piece]) -> impl Iterator<Item = (&[Piece], Place)> {
    pieces.iter().map(|piece| match piece {
        Piece::Value(Value::Raw(inner)) => (inner.as_slice(), Place::KeptForm),
        piece => (std::slice::from_ref(piece), Place::Form),
    })
}

/// What stands before a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Slash,
    Other,
}

/// Together they must be drawn from 53 bits of chance.
const WEIGHT_MAX: u64 = 1 << 32;

fn add(parts: &mut Vec<Part>, part: Part) {
    match part {
        Part::Text(text) => add_text(parts, &text),
        value @ Part::Value(..) => parts.push(value),
    }
}

pub(crate) fn add_text(parts: &mut Vec<Part>, text: &[u8]) {
    if text.is_empty() {
        return;
    }
    if let Some(Part::Text(before)) = parts.last_mut() {
        before.extend_from_slice(text);
    } else {
        parts.push(Part::Text(text.to_vec()));
    }
}
