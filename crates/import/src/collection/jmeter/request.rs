//! A sampler of a test plan as a request, with what stands around it in the plan.

use std::num::NonZeroU32;

use plan::template::{Piece, Template, Value};
use plan::work::{Auth, Body, Expression, Field, FieldValue, Function, Operator, Resources};
use plan::{Charset, FILE_TYPE, FORM_TYPE, Nanos, path_encoded, percent_decoded};

use super::expressions::{fixed, two};
use super::text::{Names, as_in_forms, form_encoded};
use super::tree::{Element, Property, list_of, text_of, truth};
use super::ways;
use crate::collection::Request;
use crate::collection::url::{filled, pieces_of_origin};

/// JMeter follows so many redirects.
const REDIRECTS_MAX: u8 = 20;
/// No browser loads more at once.
const BRANCHES_MAX: u32 = 100;

/// What elements around a sampler say of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Surroundings<'e> {
    /// HTTP Request Defaults, the nearest last.
    pub(super) defaults: Vec<&'e Element>,
    /// Header managers, the nearest last.
    pub(super) headers: Vec<&'e Element>,
    /// The nearest authorization manager.
    pub(super) auth: Option<&'e Element>,
}

impl<'e> Surroundings<'e> {
    /// Calls `seen` with every element of them that says something of a request.
    pub(super) fn each(&self, seen: &mut dyn FnMut(&'e Element)) {
        self.defaults.iter().chain(&self.headers).for_each(|element| seen(element));
    }
}

/// What is said of a sampler: its request, and what of it is not carried over.
pub(super) struct Said {
    pub(super) request: Request,
    /// What, and why.
    pub(super) left_out: Vec<(String, String)>,
    /// How long its answer may take.
    pub(super) timeout: Option<Nanos>,
    /// How long opening a connection may take, in milliseconds.
    pub(super) connect_timeout: Option<u64>,
    /// Whether it opens a connection of its own.
    pub(super) closes: bool,
    /// How the letters of its arguments are written; `None`: as UTF-8.
    pub(super) encoding: Option<Charset>,
}

impl Surroundings<'_> {
    /// A setting of a sampler, or of the defaults that hold for it.
    fn setting<'a>(&'a self, sampler: &'a Element, name: &str) -> &'a str {
        let own = sampler.text(name);
        if !own.is_empty() {
            return own;
        }
        self.defaults.iter().rev().map(|defaults| defaults.text(name)).find(|text| !text.is_empty()).unwrap_or_default()
    }

    /// The request of a sampler.
    ///
    /// # Errors
    /// In words, if it cannot be sent as it is meant.
    pub(super) fn request(&self, sampler: &Element, names: &Names) -> Result<Said, String> {
        let mut left_out = Vec::new();
        let setting = |name: &str| self.setting(sampler, &format!("HTTPSampler.{name}"));
        let method = match names.literal(setting("method")) {
            Some(method) if method.is_empty() => "GET".to_owned(),
            Some(method) => method.to_ascii_uppercase(),
            None => return Err("its method is known only on the way".to_owned()),
        };
        let charset = self.charset(sampler, names)?;
        let is_odd = |argument: Argument<'_>| !text_of(argument.0.own(), "Argument.name").is_ascii();
        let as_browsers = charset.is_some() && sampler.is_on("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", false);
        if as_browsers && self.arguments(sampler).any(is_odd) {
            left_out.push(("its encoding".to_owned(), "names of fields are written as UTF-8 in forms in parts".to_owned()));
        }
        let url = self.url(sampler, names, (&method, charset))?;
        let mut request = Request { name: sampler.name.clone(), method, url, ..Request::default() };
        for manager in &self.headers {
            let headers = manager.list("HeaderManager.headers");
            let named = |header: &Property| text_of(header.own(), "Header.name").trim().to_ascii_lowercase();
            // Those of the nearest one hold.
            request.headers.retain(|(known, _)| !headers.iter().any(|header| named(header) == known.to_ascii_lowercase()));
            for header in headers {
                // Line breaks at its end are the file's.
                request.take_header(
                    text_of(header.own(), "Header.name").trim(),
                    names.template(text_of(header.own(), "Header.value").trim())?,
                );
            }
        }
        self.body(sampler, names, charset, &mut request)?;
        request.auth = self.login(&request, names)?;
        let follows = ["follow_redirects", "auto_redirects"].iter().any(|name| truth(setting(name), false));
        request.connection.follow = follows.then_some(REDIRECTS_MAX);
        let time = |name: &str| {
            let text = setting(name);
            if text.trim().is_empty() { Some(0) } else { names.number(text).map(|number| number.max(0.0) as u64) }
        };
        let timeout = time("response_timeout");
        if timeout.is_none() {
            left_out.push(("its response timeout".to_owned(), "it is known only on the way".to_owned()));
        }
        let timeout = timeout.filter(|time| *time > 0).map(Nanos::from_millis);
        request.resources = truth(setting("image_parser"), false).then(|| {
            let mut regex = |name: &str, what: &str| {
                let text = setting(name);
                match names.literal(text) {
                    Some(text) if text.is_empty() => None,
                    // It is held against the whole address.
                    Some(text) => Some(format!("^(?:{text})$")),
                    None => {
                        left_out.push((what.to_owned(), "it is known only on the way".to_owned()));
                        None
                    }
                }
            };
            let only = regex("embedded_url_re", "which embedded resources it loads");
            let except = regex("embedded_url_exclude_re", "which embedded resources it does not load");
            let is_parallel = truth(setting("concurrentDwn"), false);
            let pool = if is_parallel { time("concurrentPool") } else { Some(1) };
            let at_once = pool.and_then(|pool| NonZeroU32::new(pool.min(u64::from(BRANCHES_MAX)) as u32));
            Resources {
                at_once: at_once.unwrap_or(Resources::AT_ONCE),
                only,
                except,
                are_part: !names.is_property_on("httpsampler.ignore_failed_embedded_resources"),
            }
        });
        match ways::proxy(setting, names) {
            Ok(proxy) => request.connection.proxy = proxy,
            Err(why) => left_out.push(("its proxy".to_owned(), why)),
        }
        match ways::source(setting, names) {
            Ok(address) => request.connection.source_ip = address,
            Err(why) => left_out.push(("its source address".to_owned(), why)),
        }
        let connect_timeout = time("connect_timeout").filter(|time| *time > 0);
        Ok(Said { request, left_out, timeout, connect_timeout, closes: !truth(setting("use_keepalive"), true), encoding: charset })
    }

    fn url(&self, sampler: &Element, names: &Names, (method, charset): (&str, Option<Charset>)) -> Result<Template, String> {
        let setting = |name: &str| self.setting(sampler, &format!("HTTPSampler.{name}"));
        let mut path = names.template(setting("path").trim())?;
        let mut url = Template::default();
        // A variable may hold the beginning of a whole URL, or bring the slash along.
        let known = filled(&path, &names.known);
        let begins_with = |text: &str| known.beginning().is_some_and(|known| known.starts_with(text));
        let is_whole = begins_with("http://") || begins_with("https://");
        let of_origin = pieces_of_origin(&path, &names.known);
        if let ([first @ Piece::Value(value), rest @ ..], false) = (path.pieces(), is_whole) {
            let first = Template::of([first.clone()]);
            let is_settled = matches!(value, Value::Variable(name) if !names.varying.contains(name));
            let mut placed = if !is_settled {
                names.compute("path", without_slash(first))
            } else if begins_with("/") {
                filled(&first, &names.known)
            } else {
                first
            };
            rest.iter().for_each(|piece| placed.push_piece(piece.clone()));
            path = placed;
        }
        if !is_whole {
            let protocol = names.literal(setting("protocol")).ok_or("its protocol is known only on the way")?;
            url.push(if protocol.is_empty() { "http" } else { &protocol });
            url.push("://");
            url.append(names.template(setting("domain").trim())?);
            let port = names.literal(setting("port")).ok_or("its port is known only on the way")?;
            if !port.is_empty() && port != "0" {
                url.push(":");
                url.push(&port);
            }
            if setting("domain").trim().is_empty() {
                // Where the user says.
                url = Template::default();
            }
            if !path.beginning().is_some_and(|text| text.starts_with('/')) {
                url.push("/");
            }
        }
        let path = as_it_is(&path, if is_whole { of_origin } else { 0 });
        url.append(if charset.is_some() { path.map_text(path_encoded) } else { path });
        // A whole URL is sent as it is.
        if has_query(method) && !is_whole && !self.is_raw(sampler) {
            let mut is_first = !url.contains('?');
            for argument in self.arguments(sampler) {
                let Some((name, value)) = argument.written(names, charset)? else { continue };
                url.push(if is_first { "?" } else { "&" });
                is_first = false;
                url.append(name);
                url.push(argument.sign());
                url.append(value);
            }
        }
        Ok(url)
    }

    fn body(&self, sampler: &Element, names: &Names, charset: Option<Charset>, request: &mut Request) -> Result<(), String> {
        let charset_name = charset.map_or("UTF-8", Charset::name);
        let raw = self.is_raw(sampler);
        if !has_body(&request.method, raw) {
            return Ok(());
        }
        let files: Vec<&Property> = list_of(sampler.list("HTTPsampler.Files"), "HTTPFileArgs.files")
            .iter()
            .filter(|file| !text_of(file.own(), "File.path").trim().is_empty())
            .collect();
        let path = |file: &Property| names.literal(text_of(file.own(), "File.path")).ok_or("the name of its file is known only on the way");
        if let [file] = &files[..]
            && text_of(file.own(), "File.paramname").trim().is_empty()
        {
            request.body = Body::File(path(file)?);
            let media_type = text_of(file.own(), "File.mimetype").trim();
            if !media_type.is_empty() {
                request.header_if_none("Content-Type", media_type);
            }
            return Ok(());
        }
        if raw {
            let mut text = Template::default();
            // In these, values would be encoded; there they stand as they are.
            let kind = request.header("content-type").map(Template::to_string).unwrap_or_default().to_ascii_lowercase();
            let is_encoded = kind.contains("json") || kind.contains(FORM_TYPE);
            for argument in self.arguments(sampler) {
                let value = names.template(text_of(argument.0.own(), "Argument.value"))?;
                text.append(if is_encoded { as_it_is(&value, 0) } else { value });
            }
            request.body = if text.is_empty() { Body::Empty } else { Body::Text(text) };
            request.header_if_none("Content-Type", format!("text/plain; charset={charset_name}"));
            return Ok(());
        }
        if !files.is_empty() || sampler.is_on("HTTPSampler.DO_MULTIPART_POST", false) {
            let mut fields = Vec::new();
            // In the way of browsers, only files say what they are.
            let says_all = !sampler.is_on("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", false);
            let coded = |coding: &str| says_all.then(|| ("Content-Transfer-Encoding".to_owned(), coding.to_owned()));
            for argument in self.arguments(sampler) {
                let name =
                    names.literal(text_of(argument.0.own(), "Argument.name")).ok_or("the name of a field is known only on the way")?;
                let value = names.template(text_of(argument.0.own(), "Argument.value"))?;
                let kind = Some(text_of(argument.0.own(), "HTTPArgument.content_type").trim()).filter(|kind| !kind.is_empty());
                let kind = kind.unwrap_or("text/plain");
                let kind = if kind.contains(';') { kind.to_owned() } else { format!("{kind}; charset={charset_name}") };
                if !name.is_empty() {
                    let typed = says_all.then(|| ("Content-Type".to_owned(), kind));
                    fields.push(Field { name, value: FieldValue::Text(value), headers: typed.into_iter().chain(coded("8bit")).collect() });
                }
            }
            for file in files {
                let name = names.literal(text_of(file.own(), "File.paramname")).ok_or("the name of a field is known only on the way")?;
                let media_type = Some(text_of(file.own(), "File.mimetype").trim()).filter(|text| !text.is_empty()).unwrap_or(FILE_TYPE);
                let value = FieldValue::File { path: path(file)?, media_type: media_type.to_owned() };
                fields.push(Field { name, value, headers: coded("binary").into_iter().collect() });
            }
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            request.header_if_none("Content-Type", format!("multipart/form-data; charset={charset_name}"));
            request.body = Body::Multipart(fields);
            return Ok(());
        }
        let mut fields = Vec::new();
        for argument in self.arguments(sampler) {
            let name = names.template(text_of(argument.0.own(), "Argument.name"))?;
            let value = names.template(text_of(argument.0.own(), "Argument.value"))?;
            // Every name and value is encoded; without the tick what is encoded already is decoded before.
            let is_plain = truth(text_of(argument.0.own(), "HTTPArgument.always_encode"), false);
            let decoded =
                |text: &str| charset.map_or_else(|| percent_decoded(&text.replace('+', " ")), |charset| charset.decoded_in_form(text));
            let kept = |pieces: Vec<Piece>| Value::FormEncoded(vec![Piece::Value(Value::Raw(pieces))]);
            let meant = |text: Template| if is_plain { text } else { with_values(&text.map_text(decoded), kept) };
            if !name.is_empty() {
                fields.push((meant(name), meant(value)));
            }
        }
        let own_type =
            request.headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("content-type")).map(|at| request.headers.remove(at));
        request.set_form(fields);
        if let Body::Text(text) = &mut request.body {
            *text = text.map_text(as_in_forms);
        }
        if let Some((name, value)) = own_type {
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            request.header_if_none(&name, value);
        } else if matches!(request.method.as_str(), "POST" | "PUT" | "PATCH" | "DELETE") {
            request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            request.header_if_none("Content-Type", format!("{FORM_TYPE}; charset={charset_name}"));
        }
        Ok(())
    }

    /// The arguments of a sampler, and behind them those of the defaults that hold for it, of the nearest first.
    fn arguments<'a>(&'a self, sampler: &'a Element) -> impl Iterator<Item = Argument<'a>> {
        let elements = std::iter::once(sampler).chain(self.defaults.iter().rev().copied());
        elements.flat_map(|element| list_of(element.list("HTTPsampler.Arguments"), "Arguments.arguments")).map(Argument)
    }

    /// Whether its arguments are the body as it is.
    fn is_raw(&self, sampler: &Element) -> bool {
        let mut arguments = self.arguments(sampler).peekable();
        sampler.is_on("HTTPSampler.postBodyRaw", false)
            || arguments.peek().is_some() && arguments.all(|argument| text_of(argument.0.own(), "Argument.name").trim().is_empty())
    }

    /// How the letters of its arguments are written; `None`: as UTF-8.
    ///
    /// # Errors
    /// In words, if they cannot be written so here.
    fn charset(&self, sampler: &Element, names: &Names) -> Result<Option<Charset>, String> {
        let said = self.setting(sampler, "HTTPSampler.contentEncoding");
        let said = names.literal(said).ok_or("its encoding is known only on the way")?;
        let charset = if said.is_empty() { None } else { Charset::named(&said)? };
        match charset.filter(|charset| !charset.is_written()) {
            Some(charset) => Err(format!(
                "no request is written in {charset} here: give it an encoding in which each letter of ASCII is one byte, such as UTF-8"
            )),
            None => Ok(charset),
        }
    }

    /// How a user says who it is at this request.
    fn login(&self, request: &Request, names: &Names) -> Result<Option<Auth>, String> {
        let Some(manager) = self.auth else { return Ok(None) };
        // Compared are the URLs with the values that are known.
        let known = |text: &Template| filled(&unmarked(text), &names.known).to_string();
        let url = known(&request.url);
        for entry in manager.list("AuthManager.auth_list") {
            let of = |name: &str| text_of(entry.own(), &format!("Authorization.{name}"));
            let place = known(&names.template(of("url").trim())?);
            if !url.starts_with(place.as_str()) {
                continue;
            }
            let (user, password) = (names.template(of("username"))?, names.template(of("password"))?);
            return match of("mechanism").trim() {
                "" | "BASIC" | "BASIC_DIGEST" => Ok(Some(Auth::Basic { user, password })),
                "DIGEST" => Ok(Some(Auth::Digest { user, password })),
                mechanism => Err(format!("it authenticates with {mechanism}, which is not carried out here")),
            };
        }
        Ok(None)
    }
}

/// An argument of a sampler.
struct Argument<'e>(&'e Property);

impl Argument<'_> {
    /// Name and value as they stand in a query or a form; nothing of one without a name.
    fn written(&self, names: &Names, charset: Option<Charset>) -> Result<Option<(Template, Template)>, String> {
        let of = |name: &str| text_of(self.0.own(), name);
        let (name, value) = (names.template(of("Argument.name").trim())?, names.template(of("Argument.value"))?);
        if name.is_empty() {
            return Ok(None);
        }
        let encoded = truth(of("HTTPArgument.always_encode"), false);
        let as_it_is = |text: &Template| {
            let text = as_it_is(text, 0);
            if charset.is_some() { text.map_text(path_encoded) } else { text }
        };
        if !encoded {
            return Ok(Some((as_it_is(&name), as_it_is(&value))));
        }
        // Names are always written as UTF-8.
        let value = value.map_text(|text| charset.map_or_else(|| form_encoded(text), |charset| charset.encoded_in_query(text)));
        Ok(Some((with_values(&name.map_text(form_encoded), Value::FormEncoded), with_values(&value, Value::FormEncoded))))
    }

    /// What stands between name and value, whatever `use_equals` says: that is the form's in which a user writes it.
    fn sign(&self) -> &str {
        let sign = self.0.own().iter().find(|property| property.name == "Argument.metadata").and_then(Property::text);
        sign.unwrap_or("=")
    }
}

/// What a path begins with, behind the slash that every path has.
fn without_slash(text: Template) -> Expression {
    let text = Expression::Text(text);
    let first = Expression::Call(Function::Substring, vec![text.clone(), fixed(0), fixed(1)]);
    let rest = Expression::Call(Function::Substring, vec![text.clone(), fixed(1)]);
    Expression::Call(Function::If, vec![two(first, Operator::Is, fixed("/")), rest, text])
}

/// A text whose values stand as they are in a URL or a body, but for so many first pieces.
fn as_it_is(text: &Template, first: usize) -> Template {
    let (before, behind) = text.pieces().split_at(first.min(text.pieces().len()));
    let mut made = Template::of(before.iter().cloned());
    made.append(with_values(&Template::of(behind.iter().cloned()), Value::Raw));
    made
}

/// A text whose values stand in another one each; those that mean themselves everywhere stay.
fn with_values(text: &Template, within: impl Fn(Vec<Piece>) -> Value) -> Template {
    Template::of(text.pieces().iter().map(|piece| match piece {
        Piece::Text(_) | Piece::Value(Value::Uuid | Value::Random { .. } | Value::Sequence { .. } | Value::Raw(_)) => piece.clone(),
        piece => Piece::Value(within(vec![piece.clone()])),
    }))
}

/// A text without the words by which its values stand as they are, or as in a form.
fn unmarked(text: &Template) -> Template {
    Template::of(text.pieces().iter().flat_map(|piece| match piece {
        Piece::Value(Value::Raw(inner) | Value::FormEncoded(inner)) => inner.clone(),
        piece => vec![piece.clone()],
    }))
}

/// Whether something follows the head of such a request. That of a DELETE stands in its URL as well.
fn has_body(method: &str, is_raw: bool) -> bool {
    match method {
        "GET" => is_raw,
        "HEAD" | "OPTIONS" | "TRACE" => false,
        _ => true,
    }
}

/// Whether arguments of such a request stand in its URL.
fn has_query(method: &str) -> bool {
    matches!(method, "GET" | "DELETE" | "OPTIONS")
}
