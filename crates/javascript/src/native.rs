//! The host as functions of JavaScript. What they are called for scripts, and how values are read there, is in `prelude.js`.

use std::cell::RefCell;
use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rquickjs::convert::Coerced;
use rquickjs::{Ctx, Exception, Function, IntoJs, Object, Persistent, Result, TypedArray, Value};

use crate::{Act, Host, Said};

/// The objects of the user whose script is called, once it has any.
#[derive(Clone, Default)]
pub(crate) struct Kept(Rc<RefCell<Option<Persistent<Object<'static>>>>>);

impl Kept {
    pub(crate) fn set(&self, objects: Option<Persistent<Object<'static>>>) {
        *self.0.borrow_mut() = objects;
    }

    pub(crate) fn take(&self) -> Option<Persistent<Object<'static>>> {
        self.0.borrow_mut().take()
    }
}

impl From<Option<String>> for Said {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Nothing, Self::Text)
    }
}

impl<'js> IntoJs<'js> for Said {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self {
            Self::Nothing => Ok(Value::new_null(ctx.clone())),
            Self::Text(text) => text.into_js(ctx),
            Self::Number(number) => number.into_js(ctx),
            Self::Truth(truth) => truth.into_js(ctx),
            Self::Bytes(bytes) => array(ctx, &bytes),
        }
    }
}

/// Bytes that count in the memory of the scripts.
fn array<'js>(ctx: &Ctx<'js>, bytes: &[u8]) -> Result<Value<'js>> {
    Ok(TypedArray::<u8>::new_copy(ctx.clone(), bytes)?.into_value())
}

/// Bytes as they are, any other value as text in UTF-8.
fn bytes_of(value: &Value<'_>) -> Result<Vec<u8>> {
    if let Ok(array) = TypedArray::<u8>::from_value(value.clone()) {
        // One by one: a view of them is not safe, since a script could take the memory away meanwhile.
        return (0..array.len() as u32).map(|at| array.as_object().get(at)).collect();
    }
    value.get::<Coerced<String>>().map(|text| text.0.into_bytes())
}

fn refused(ctx: &Ctx<'_>, what: &str) -> rquickjs::Error {
    Exception::throw_message(ctx, what)
}

/// Everything that a host does, by its name.
pub(crate) fn natives<'js, H: Host>(ctx: &Ctx<'js>, host: &Rc<RefCell<H>>, objects: &Kept) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let of = || host.clone();

    let asked = of();
    native.set("get", Function::new(ctx.clone(), move |name: String| Said::from(asked.borrow().get(&name)))?)?;
    let asked = of();
    native.set("put", Function::new(ctx.clone(), move |name: String, text: Option<String>| asked.borrow_mut().put(&name, text))?)?;
    let asked = of();
    native.set("names", Function::new(ctx.clone(), move || asked.borrow().names())?)?;
    let asked = of();
    native.set("property", Function::new(ctx.clone(), move |name: String| Said::from(asked.borrow().property(&name)))?)?;
    let asked = of();
    native.set(
        "setProperty",
        Function::new(ctx.clone(), move |name: String, text: Option<String>| asked.borrow_mut().set_property(&name, text))?,
    )?;
    let asked = of();
    native.set("log", Function::new(ctx.clone(), move |level: String, text: String| asked.borrow_mut().log(&level, &text))?)?;
    let asked = of();
    native.set("answer", Function::new(ctx.clone(), move |what: String| asked.borrow().answer(&what))?)?;
    let asked = of();
    native.set("request", Function::new(ctx.clone(), move |what: String| asked.borrow().request(&what))?)?;
    let asked = of();
    native.set("about", Function::new(ctx.clone(), move |what: String| asked.borrow().about(&what))?)?;
    let asked = of();
    native.set("now", Function::new(ctx.clone(), move || asked.borrow().now())?)?;
    let asked = of();
    native.set("random", Function::new(ctx.clone(), move || asked.borrow_mut().random())?)?;

    let asked = of();
    let act = move |ctx: Ctx<'js>, what: String, first: Option<String>, second: Option<String>| -> Result<()> {
        let act = match what.as_str() {
            "fail" => Act::Fail(first),
            "succeed" => Act::Succeed,
            "setAnswer" => Act::SetAnswer(first.unwrap_or_default(), second.unwrap_or_default()),
            "setRequest" => Act::SetRequest(first.unwrap_or_default(), second.unwrap_or_default()),
            "setHeader" => Act::SetHeader(first.unwrap_or_default(), second),
            "addField" => Act::AddField(first.unwrap_or_default(), second.unwrap_or_default()),
            "ignore" => Act::Ignore,
            "stopUser" => Act::StopUser,
            "stopTest" => Act::StopTest,
            _ => Act::NextIteration,
        };
        asked.borrow_mut().act(act).map_err(|why| refused(&ctx, &why))
    };
    native.set("act", Function::new(ctx.clone(), act)?)?;

    let asked = of();
    let digest = move |ctx: Ctx<'js>, algorithm: String, bytes: Value<'js>| -> Result<Value<'js>> {
        match asked.borrow().digest(&algorithm, &bytes_of(&bytes)?) {
            Some(digest) => array(&ctx, &digest),
            None => Err(refused(&ctx, &format!("there is no digest '{algorithm}': take MD5, SHA-1, SHA-256, SHA-384 or SHA-512"))),
        }
    };
    native.set("digest", Function::new(ctx.clone(), digest)?)?;
    let asked = of();
    let hmac = move |ctx: Ctx<'js>, algorithm: String, key: Value<'js>, bytes: Value<'js>| -> Result<Value<'js>> {
        match asked.borrow().hmac(&algorithm, &bytes_of(&key)?, &bytes_of(&bytes)?) {
            Some(tag) => array(&ctx, &tag),
            None => Err(refused(&ctx, &format!("there is no signature with '{algorithm}': take MD5, SHA1, SHA256, SHA384 or SHA512"))),
        }
    };
    native.set("hmac", Function::new(ctx.clone(), hmac)?)?;
    let encode = |ctx: Ctx<'js>, form: String, bytes: Value<'js>| -> Result<String> {
        let bytes = bytes_of(&bytes)?;
        match form.as_str() {
            "hex" => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
            "base64" => Ok(STANDARD.encode(bytes)),
            "base64url" => Ok(URL_SAFE_NO_PAD.encode(bytes)),
            _ => Err(refused(&ctx, &format!("bytes are not written as '{form}': take hex, base64, base64url or bytes"))),
        }
    };
    native.set("encode", Function::new(ctx.clone(), encode)?)?;
    let utf8 = |ctx: Ctx<'js>, value: Value<'js>| array(&ctx, &bytes_of(&value)?);
    native.set("utf8", Function::new(ctx.clone(), utf8)?)?;
    let text = |value: Value<'js>| bytes_of(&value).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    native.set("text", Function::new(ctx.clone(), text)?)?;

    let asked = of();
    let file = move |name: String| asked.borrow().file(&name).map_or(Said::Nothing, |bytes| Said::Bytes(bytes.to_vec()));
    native.set("file", Function::new(ctx.clone(), file)?)?;

    let kept = objects.clone();
    let objects = move |ctx: Ctx<'js>| -> Result<Object<'js>> {
        if let Some(objects) = &*kept.0.borrow() {
            return objects.clone().restore(&ctx);
        }
        let objects = Object::new(ctx.clone())?;
        kept.set(Some(Persistent::save(&ctx, objects.clone())));
        Ok(objects)
    };
    native.set("objects", Function::new(ctx.clone(), objects)?)?;
    Ok(native)
}
