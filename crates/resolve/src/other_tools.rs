//! What stands in the place of a URL and is neither a server nor a file that loadline runs: no file at all, or another tool's script.
//!
//! The first thing that people type is what they typed with their last tool: `loadline run script.js`. "The URL has no scheme" is true
//! and helps nobody. So the file is looked into as far as it takes to call it by its name, and what to do instead is said.

use std::io::ErrorKind;
use std::path::Path;

use plan::{PlanError, begins_with_host, has_scheme, plainly};

use crate::Inputs;

/// As much of a file as tells what it is.
const BYTES_LOOKED_AT: u64 = 64 << 10;

/// A tool's script: what it is called, what shows it, and what to do instead.
struct Script {
    is: &'static str,
    /// Endings of its files; empty where what it holds is enough.
    endings: &'static [&'static str],
    /// Any of these stands in it; empty where the ending is enough.
    signs: &'static [&'static str],
    help: &'static str,
}

const AS_SCENARIO: &str = "write its requests as a scenario (loadline init shows how), or record them in a browser and give the HAR file";

const SCRIPTS: &[Script] = &[
    Script { is: "a k6 script", endings: &["js", "mjs", "cjs", "ts"], signs: &["'k6", "\"k6", "k6/http"], help: AS_SCENARIO },
    Script { is: "an autocannon script", endings: &["js", "mjs", "cjs", "ts"], signs: &["autocannon"], help: AS_SCENARIO },
    Script { is: "an Artillery script", endings: &["js", "mjs", "cjs", "ts"], signs: &["artillery"], help: AS_SCENARIO },
    Script { is: "a Tsung configuration", endings: &[], signs: &["<tsung"], help: AS_SCENARIO },
    Script { is: "a Locust script", endings: &["py"], signs: &["locust"], help: AS_SCENARIO },
    Script { is: "a Gatling simulation", endings: &["scala", "java", "kt", "js", "ts"], signs: &["gatling"], help: AS_SCENARIO },
    Script { is: "a Lua script", endings: &["lua"], signs: &[], help: "give it with -s and the URL beside it: loadline run -s SCRIPT URL" },
    Script {
        is: "a result of loadline",
        endings: &[],
        signs: &["\"schema\":\"loadline.", "\"schema\": \"loadline."],
        help: "show it with loadline show FILE, or run its plan again with loadline run --from FILE",
    },
    Script { is: "a JavaScript file", endings: &["js", "mjs", "cjs", "ts"], signs: &[], help: AS_SCENARIO },
    Script { is: "a Python file", endings: &["py"], signs: &[], help: AS_SCENARIO },
];

/// What is wrong with a word in the place of a URL that names a file; nothing if it is to be read as a URL.
#[must_use]
pub fn mistake(word: &str, inputs: &dyn Inputs) -> Option<PlanError> {
    if has_scheme(word) || word.contains("{{") {
        return None;
    }
    let (path, about) = (Path::new(word), inputs.look(word));
    let is_directory = |path: &Path| inputs.look(&path.to_string_lossy()).is_ok_and(|about| about.is_directory);
    let wrong = |message: String, help: String| Some(PlanError::new("url", message, help));
    if is_directory(path) && !begins_with_host(word) {
        return wrong(format!("'{word}' is a directory"), "give a URL, a scenario, or a file of requests".to_owned());
    }
    if about.is_err_and(|why| why.kind() == ErrorKind::NotFound) {
        let is_a_path = ["/", "./", "../", "~/"].iter().any(|beginning| word.starts_with(beginning))
            || (word.contains('/') && path.parent().is_some_and(is_directory))
            || (word.contains('.') && !begins_with_host(word));
        let help = format!("check the path; for a server of that name, write http://{}", word.trim_start_matches(['.', '~', '/']));
        return if is_a_path { wrong(format!("there is no file '{word}'"), help) } else { None };
    }
    let bytes = match inputs.beginning(word, BYTES_LOOKED_AT) {
        Ok(bytes) => bytes,
        Err(why) => return wrong(format!("'{word}' cannot be read: {}", plainly(&why)), "give a file that you may read".to_owned()),
    };
    let text = String::from_utf8_lossy(&bytes);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let script = SCRIPTS.iter().find(|script| {
        (script.endings.is_empty() || script.endings.contains(&ending.as_str()))
            && (script.signs.is_empty() || script.signs.iter().any(|sign| text.contains(sign)))
    });
    if let Some(script) = script {
        let help = script.help.replace("FILE", word).replace("SCRIPT", word);
        return wrong(format!("'{word}' is {}, and loadline does not run it as it is", script.is), help);
    }
    if is_log(&bytes) {
        return wrong(
            format!("'{word}' is an access log"),
            format!("send its requests again with loadline replay {word} URL, or look at it with loadline traffic {word}"),
        );
    }
    wrong(
        format!("'{word}' is a file, and none that loadline can run"),
        "give a URL, a scenario (.yaml), a test plan of JMeter (.jmx), or requests of curl, HAR, Postman, OpenAPI, Insomnia, vegeta or siege".to_owned(),
    )
}

/// Whether any line of the file is one of an access log.
fn is_log(bytes: &[u8]) -> bool {
    let mut survey = import::Survey::new(import::FormChoice::default(), import::Personal::LeftOut);
    survey.read("", bytes).is_ok() && survey.finish().files.iter().any(|file| file.requests > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LocalInputs;

    #[test]
    fn scripts_of_other_tools_are_called_by_name() {
        let dir = tempfile::tempdir().unwrap();
        for (name, text, is) in [
            ("a.js", "import http from 'k6/http';", "a k6 script"),
            ("b.js", "const autocannon = require('autocannon')", "an autocannon script"),
            ("d.py", "from locust import HttpUser", "a Locust script"),
            ("e.scala", "import io.gatling.core.Predef._", "a Gatling simulation"),
            ("f.lua", "request = function() end", "a Lua script"),
            ("g.js", "console.log(1)", "a JavaScript file"),
            ("h.json", "{\"schema\":\"loadline.run/1\"}", "a result of loadline"),
            ("i.log", "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.1\" 200 2326\n", "an access log"),
            ("j.txt", "quick server\n", "is a file, and none that loadline can run"),
        ] {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            let told = mistake(path.to_str().unwrap(), &LocalInputs).unwrap();
            assert!(told.message.marked().contains(is), "{told:?}");
        }
    }

    #[test]
    fn what_is_no_file_is_told_from_a_server() {
        for word in ["nosuch.har", "./nosuch", "/no/such/script.js", "src/nosuch.yaml"] {
            assert!(mistake(word, &LocalInputs).is_some_and(|told| told.message == format!("there is no file '{word}'").into()), "{word}");
        }
        for word in ["127.0.0.1:8080/healthz", "localhost/a.js", "api.test/a/b.json", "http://nosuch.har", "healthz"] {
            assert_eq!(mistake(word, &LocalInputs), None, "{word}");
        }
    }
}
