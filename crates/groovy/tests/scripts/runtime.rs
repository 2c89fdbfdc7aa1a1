//! A script carried out: what it is given, and what it leaves.

use groovy::{LIBRARY, Language, Translation, translate};
use md5::Digest as _;
use rquickjs::{Context, Function, Runtime};

pub struct Script {
    source: String,
    language: Language,
    setup: String,
}

/// A script of Groovy.
pub fn groovy(source: &str) -> Script {
    Script { source: source.into(), language: Language::Groovy, setup: String::new() }
}

pub fn beanshell(source: &str) -> Script {
    Script { language: Language::BeanShell, ..groovy(source) }
}

pub fn javascript(source: &str) -> Script {
    Script { language: Language::JavaScript, ..groovy(source) }
}

pub fn jexl(source: &str) -> Script {
    Script { language: Language::Jexl, ..groovy(source) }
}

/// A text as JavaScript and Rust write it alike.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.encode_utf16() {
        out.push_str(&format!("\\u{letter:04x}"));
    }
    out.push('"');
    out
}

impl Script {
    pub fn var(mut self, name: &str, value: &str) -> Self {
        self.setup.push_str(&format!("host.state.vars[{}] = {};\n", quoted(name), quoted(value)));
        self
    }

    pub fn prop(mut self, name: &str, value: &str) -> Self {
        self.setup.push_str(&format!("host.state.props[{}] = {};\n", quoted(name), quoted(value)));
        self
    }

    /// Of the last answer.
    pub fn answer(mut self, what: &str, text: &str) -> Self {
        self.setup.push_str(&format!("host.state.answer[{}] = {};\n", quoted(what), quoted(text)));
        self
    }

    pub fn file(mut self, name: &str, text: &str) -> Self {
        self.setup.push_str(&format!("host.state.files[{}] = {};\n", quoted(name), quoted(text)));
        self
    }

    /// Any line of JavaScript before.
    pub fn setup(mut self, code: &str) -> Self {
        self.setup.push_str(code);
        self.setup.push('\n');
        self
    }

    pub fn translated(&self) -> Translation {
        translate(&self.source, self.language).unwrap_or_else(|mistakes| panic!("not translated: {mistakes:#?}\n{}", self.source))
    }

    pub fn run(self) -> Outcome {
        let translation = self.translated();
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| {
            let digest = Function::new(ctx.clone(), |algorithm: String, bytes: Vec<u8>| digest(&algorithm, &bytes)).unwrap();
            ctx.globals().set("$digestOfTest", digest).unwrap();
            let hmac = Function::new(ctx.clone(), |algorithm: String, key: Vec<u8>, bytes: Vec<u8>| hmac(&algorithm, &key, &bytes)).unwrap();
            ctx.globals().set("$hmacOfTest", hmac).unwrap();
            let eval = |code: &str| -> Result<String, String> {
                ctx.eval::<rquickjs::Coerced<String>, _>(code).map(|text| text.0).map_err(|_| {
                    let caught = ctx.catch();
                    let exception = caught.as_exception();
                    exception.map_or_else(|| format!("{caught:?}"), |found| format!("{}\n{}", found.message().unwrap_or_default(), found.stack().unwrap_or_default()))
                })
            };
            eval(include_str!("host.js")).unwrap();
            eval(LIBRARY).unwrap_or_else(|error| panic!("the library: {error}"));
            eval(&self.setup).unwrap();
            let value = eval(&format!("$text((function () {{\n{}}})())", translation.javascript));
            let state = |code: &str| eval(code).unwrap();
            let pairs = |name: &str| {
                let list = state(&format!("Object.keys(host.state.{name}).sort().map((key) => key + '=' + host.state.{name}[key]).join('\\u0002')"));
                if list.is_empty() { Vec::new() } else { list.split('\u{2}').map(str::to_owned).collect() }
            };
            Outcome {
                value,
                vars: pairs("vars"),
                props: pairs("props"),
                answer: pairs("answer"),
                log: state("host.state.log.join('\\u0002')").split('\u{2}').filter(|line| !line.is_empty()).map(str::to_owned).collect(),
                failure: state("host.state.failure === undefined ? 'untouched' : host.state.failure === null ? 'succeeded' : 'failed: ' + host.state.failure"),
                ended: state("host.state.ended.join(' ')"),
                source: self.source.clone(),
                javascript: translation.javascript,
            }
        })
    }
}

fn digest(algorithm: &str, bytes: &[u8]) -> Vec<u8> {
    let ring = |algorithm| ring::digest::digest(algorithm, bytes).as_ref().to_vec();
    match algorithm {
        "MD5" => md5::Md5::digest(bytes).to_vec(),
        "SHA-1" => ring(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY),
        "SHA-256" => ring(&ring::digest::SHA256),
        "SHA-384" => ring(&ring::digest::SHA384),
        "SHA-512" => ring(&ring::digest::SHA512),
        _ => panic!("a digest '{algorithm}'"),
    }
}

fn hmac(algorithm: &str, key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let algorithm = match algorithm {
        "SHA1" => ring::hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
        "SHA256" => ring::hmac::HMAC_SHA256,
        "SHA512" => ring::hmac::HMAC_SHA512,
        _ => panic!("a code '{algorithm}'"),
    };
    ring::hmac::sign(&ring::hmac::Key::new(algorithm, key), bytes).as_ref().to_vec()
}

pub struct Outcome {
    pub value: Result<String, String>,
    pub vars: Vec<String>,
    pub props: Vec<String>,
    pub answer: Vec<String>,
    pub log: Vec<String>,
    pub failure: String,
    pub ended: String,
    source: String,
    javascript: String,
}

impl Outcome {
    fn shown(&self) -> String {
        format!("{}\n-- as --\n{}\n-- gave {:?}, log {:?}", self.source, self.javascript, self.value, self.log)
    }

    /// What it gives back, as text.
    #[track_caller]
    pub fn gives(self, value: &str) -> Self {
        assert_eq!(self.value.as_deref(), Ok(value), "{}", self.shown());
        self
    }

    #[track_caller]
    pub fn throws(self, words: &str) -> Self {
        let thrown = self.value.as_ref().expect_err(&self.shown()).clone();
        assert!(thrown.contains(words), "'{words}' is not in '{thrown}'\n{}", self.shown());
        self
    }

    /// Variables after, each `name=value`, by name.
    #[track_caller]
    pub fn vars(self, wanted: &[&str]) -> Self {
        assert!(self.value.is_ok(), "{}", self.shown());
        assert_eq!(self.vars, wanted, "{}", self.shown());
        self
    }

    #[track_caller]
    pub fn props(self, wanted: &[&str]) -> Self {
        assert!(self.value.is_ok(), "{}", self.shown());
        assert_eq!(self.props, wanted, "{}", self.shown());
        self
    }

    #[track_caller]
    pub fn logs(self, wanted: &[&str]) -> Self {
        assert!(self.value.is_ok(), "{}", self.shown());
        assert_eq!(self.log, wanted, "{}", self.shown());
        self
    }

    #[track_caller]
    pub fn fails(self, words: &str) -> Self {
        assert!(self.value.is_ok(), "{}", self.shown());
        assert_eq!(self.failure, format!("failed: {words}"), "{}", self.shown());
        self
    }

    #[track_caller]
    pub fn passes(self) -> Self {
        assert!(self.value.is_ok(), "{}", self.shown());
        assert!(["untouched", "succeeded"].contains(&self.failure.as_str()), "{}: {}", self.failure, self.shown());
        self
    }
}

/// Each script of Groovy gives that text.
#[track_caller]
pub fn all(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(source, wanted)| {
            let outcome = match translate(source, Language::Groovy) {
                Ok(_) => groovy(source).run(),
                Err(mistakes) => return Some(format!("{source}\n   not translated: {mistakes:?}")),
            };
            (outcome.value.as_deref() != Ok(wanted))
                .then(|| format!("{source}\n   gave {:?} and not {wanted:?}\n{}", outcome.value, outcome.javascript))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
