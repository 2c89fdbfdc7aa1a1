//! Scripts that fail: where, how far they came, and that the run ends.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use engine::{RunErrorKind, Stop};
use script::{Globals, Libraries, Script, Source};

use crate::Trial;
use crate::capture::Capture;

fn fails(script: &str) -> String {
    fails_in(&Trial::of(script))
}

fn fails_in(trial: &Trial) -> String {
    trial.run_to_the_end(&Capture::start()).map(|(measured, _)| measured.requests).unwrap_err().spelt(plan::Spelling::Flags)
}

#[test]
fn an_empty_file_changes_nothing_and_a_compiled_one_is_refused() {
    let load = |text: &[u8]| {
        let source = Source { path: "a.lua".to_owned(), text: text.into(), arguments: Vec::new(), libraries: Libraries::Whole };
        Script::load(&source, Globals::default(), &Stop::new())
    };
    assert!(load(b" \n\n").is_ok());
    assert!(load(b"\x1bLJ\x02").err().expect("it does not load").message.marked().contains("binary"));
}

#[test]
fn a_script_that_was_not_read_is_named() {
    let draft = plan::Draft { url: Some("http://a.test/".to_owned()), script: Some("a.lua".to_owned()), ..plan::Draft::default() };
    let why = Source::of(&plan::Plan::try_from(draft).unwrap()).unwrap_err().message.spelt(plan::Spelling::Flags);
    assert!(why.contains("the script 'a.lua' was not read"), "{why}");
}

#[test]
fn every_failure_names_file_line_and_function() {
    for (script, place, doing) in [
        ("wrk.method = \n= 'x'", "script.lua:2:", "loading"),
        ("\nerror('oh')", "script.lua:2:", "loading"),
        ("\n\nfunction setup() nothing() end", "script.lua:3:", "setup()"),
        ("function init() local a = nil + 1 end", "script.lua:1:", "init()"),
        ("function request() error('oh') end", "script.lua:1:", "request()"),
        ("function response()\n error('oh') end", "script.lua:2:", "response()"),
        ("function delay() return {} + 1 end", "script.lua:1:", "delay()"),
        ("function done() error({}) end", "script.lua", "done()"),
    ] {
        let said = fails(script);
        assert!(said.contains(place) && said.contains(&format!("failed in {doing}")), "{script}:\n{said}");
        assert!(doing == "done()" || script.contains("= 'x'") || said.contains("stack traceback:"), "{script}:\n{said}");
    }
}

#[test]
fn what_request_must_not_return_is_named_with_the_functions_line() {
    for (returned, words) in [
        ("nil", "request() returned nil"),
        ("42", "request() returned the number 42"),
        ("{}", "request() returned a table"),
        ("''", "no whole requests: incomplete request at 1:1"),
        ("'GET / HTTP/1.1\\r\\n'", "no whole requests: incomplete request at 1:1"),
        ("wrk.format() .. 'x'", "no whole requests: incomplete request at 4:1"),
    ] {
        let said = fails(&format!("\nfunction request()\n return {returned}\nend"));
        assert!(said.contains(words) && said.contains("script.lua:2:"), "{returned}:\n{said}");
    }
    let said = fails("function delay() return {} end");
    assert!(said.contains("delay() returned a table"), "{said}");
}

#[test]
fn what_was_measured_before_a_failure_is_kept() {
    let capture = Capture::start();
    let trial = Trial::of("local n = 0 function request() n = n + 1 if n == 12 then error('enough') end return wrk.format() end");
    let error = trial.endless().run(&capture).unwrap_err();
    assert_eq!(error.kind, RunErrorKind::Run);
    let measured = error.measured.expect("what was measured");
    assert_eq!(measured.requests.succeeded, 10, "the first call was the verification, the twelfth failed");
    assert_eq!(measured.ended.how, measure::Ending::CutShort);
}

#[test]
fn the_sandbox_takes_away_what_reaches_outside() {
    for name in
        ["os", "io", "ffi", "package", "debug", "require", "load", "loadstring", "loadfile", "dofile", "collectgarbage", "jit", "getfenv"]
    {
        let said = fails_in(&Trial::of(&format!("assert({name} == nil, 'there is {name}')")).arguments(&[]).unsandboxed_control());
        assert!(said.contains(&format!("there is {name}")), "without a sandbox there is {name}: {said}");
        Trial::of(&format!("assert({name} == nil, 'there is {name}')")).sandboxed().run(&Capture::start()).unwrap();
    }
    Trial::of("assert(string.dump == nil)").sandboxed().run(&Capture::start()).unwrap();
}

impl Trial {
    /// The same without a sandbox, to see that the sandbox makes the difference. `ffi` is a library to be asked for.
    fn unsandboxed_control(self) -> Self {
        let text = std::fs::read_to_string(&self.path).unwrap();
        std::fs::write(&self.path, format!("ffi = require('ffi')\n{text}")).unwrap();
        self
    }
}

#[test]
fn the_sandbox_runs_every_example_that_reads_no_files() {
    for name in ["post.lua", "counter.lua", "weighted.lua", "token.lua", "think.lua", "threads.lua", "pipeline.lua"] {
        let measured = Trial::example(name).sandboxed().run(&Capture::start()).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(measured.requests.succeeded >= 20, "{name}");
    }
}

#[test]
fn in_the_sandbox_no_loop_and_no_memory_is_endless() {
    for (script, words) in [
        ("while true do end", "an endless loop?"),
        ("function init() local i = 0 while true do i = i + 1 end end", "an endless loop?"),
        ("local n = 0 function request() n = n + 1 while n > 5 do end return wrk.format() end", "an endless loop?"),
        ("function response() repeat until false end", "an endless loop?"),
        ("while true do pcall(function() while true do end end) end", "over the limit of its sandbox"),
        ("local co = coroutine.wrap(function() while true do end end) while true do pcall(co) end", "over the limit"),
        ("while true do coroutine.resume(coroutine.create(function() while true do end end)) end", "over the limit"),
        ("function done() while true do end end", "an endless loop?"),
        ("local t = {} while true do t[#t + 1] = ('x'):rep(1000) .. #t end", "not enough memory"),
        ("local s = 'x' while true do s = s .. s end", "not enough memory"),
        ("x = ('x'):rep(1e9)", "not enough memory"),
        (
            "local t = {} function request() for i = 1, 1000 do t[#t + 1] = ('x'):rep(1000) .. #t end return wrk.format() end",
            "not enough memory",
        ),
        ("('a'):rep(50):find(('a*'):rep(80) .. 'b')", "a pattern of more than 128 bytes"),
    ] {
        let said = fails_in(&Trial::of(script).sandboxed().requests(1000));
        assert!(said.contains(words), "{script}:\n{said}");
    }
}

#[test]
fn a_script_that_never_loads_is_left_when_the_run_is_stopped() {
    let trial = Trial::of("while not stopped_from_outside do end");
    let stop = Stop::new();
    let (sender, receiver) = channel();
    let other = stop.clone();
    thread::spawn(move || {
        let text = std::fs::read(&trial.path).unwrap().into();
        let source = Source { path: trial.path.to_str().unwrap().to_owned(), text, arguments: Vec::new(), libraries: Libraries::Whole };
        let _ =
            sender.send(Script::load(&source, Globals::default(), &other).err().map(|error| error.message.spelt(plan::Spelling::Flags)));
    });
    // However late this is, the script does not end by itself.
    stop.raise();
    let said = receiver.recv_timeout(Duration::from_secs(60)).expect("the load is left").expect("an error");
    assert!(said.contains("was in loading"), "{said}");
}
