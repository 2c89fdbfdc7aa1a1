//! Every word of wrk's interface for scripts.

use engine::Stop;
use plan::{Draft, Plan};
use script::{Globals, Script, Source};

use crate::Trial;
use crate::capture::Capture;

/// Runs a script whose `done` writes `result`, and returns that.
fn result_of(script: &str, trial: impl FnOnce(Trial) -> Trial) -> String {
    let capture = Capture::start();
    let trial = trial(Trial::of(""));
    let text = format!("local function tell(text) local f = io.open({:?}, 'w') f:write(text) f:close() end\n{script}", trial.result());
    std::fs::write(&trial.path, text).unwrap();
    let (_, result) = trial.run_to_the_end(&capture).unwrap_or_else(|error| panic!("{error:?}"));
    result.expect("done wrote its result")
}

#[test]
fn the_table_wrk_holds_the_url_taken_apart() {
    let capture = Capture::start();
    let trial = Trial::of(
        "function request()
           local w = wrk
           local seen = {w.scheme, w.host, w.port, w.method, w.path, tostring(w.body), w.headers.Host, type(w.thread), tostring(w.thread.addr)}
           return wrk.format('POST', '/seen', nil, table.concat(seen, '|'))
         end",
    );
    trial.run(&capture).unwrap();
    let address = capture.address();
    let expected = format!("http|127.0.0.1|{}|GET|/|nil|{address}|userdata|{address}", address.port());
    let request = capture.requests().swap_remove(0);
    assert_eq!(request.rsplit("\r\n").next().unwrap(), expected);
}

#[test]
fn what_top_level_and_init_say_is_in_the_one_request() {
    let capture = Capture::start();
    let trial = Trial::of(
        "wrk.method = 'PUT'
         wrk.headers['X-One'] = 1
         function init(args)
           wrk.path = '/from-init/' .. args[1] .. '/' .. #args
           wrk.headers['X-Two'] = true
           wrk.body = 'text'
         end",
    );
    trial.arguments(&["a", "b"]).requests(3).run(&capture).unwrap();
    let requests = capture.requests();
    assert_eq!(requests.len(), 3);
    let mut lines: Vec<&str> = requests[0].split("\r\n").collect();
    assert_eq!(lines.remove(0), "PUT /from-init/a/2 HTTP/1.1");
    assert_eq!(lines.pop(), Some("text"));
    assert_eq!(lines.remove(0), format!("Host: {}", capture.address()), "Host comes first");
    lines.sort_unstable();
    assert_eq!(lines, ["", "Content-Length: 4", "X-One: 1", "X-Two: true"]);
    assert!(requests.iter().all(|request| *request == requests[0]));
}

#[test]
fn format_falls_back_to_wrk_and_writes_into_the_table_it_is_given() {
    let capture = Capture::start();
    let trial = Trial::of(
        "wrk.body = 'default'
         local own = {['X-Own'] = 'yes'}
         local turn = 0
         function request()
           turn = turn + 1
           if turn % 2 == 0 then return wrk.format('POST', '/own', own, 'mine') end
           return wrk.format('GET', '/seen?' .. tostring(own.Host == wrk.headers.Host) .. (own['Content-Length'] or 'none'))
         end",
    );
    trial.requests(2).run(&capture).unwrap();
    let requests = capture.requests();
    // The first call was the verification.
    assert!(
        requests[0].starts_with("POST /own ") && requests[0].contains("X-Own: yes") && requests[0].ends_with("\r\n\r\nmine"),
        "{requests:?}"
    );
    assert!(requests[0].contains("Host: 127.0.0.1"));
    assert!(requests[1].starts_with("GET /seen?true4 ") && requests[1].ends_with("\r\n\r\ndefault"), "{requests:?}");
}

#[test]
fn init_is_given_the_url_and_the_words() {
    let said = result_of(
        "function init(args) words = {#args, args[0]:match('^http://') or '?', args[1], args[2]} end
         local thread
         function setup(t) thread = t end
         function done() tell(table.concat(thread:get('words'), ' ')) end",
        |trial| trial.arguments(&["one", "two words"]),
    );
    assert_eq!(said, "2 http:// one two words");
}

#[test]
fn threads_are_set_up_in_order_and_read_after_the_run() {
    let said = result_of(
        "local threads = {}
         function setup(thread)
           thread:set('id', #threads)
           thread:set('nested', {a = {1, true, 'x'}})
           threads[#threads + 1] = thread
           order = (order or '') .. #threads
         end
         function init() initialised = id end
         count = 0
         function response() count = count + 1 end
         function done(summary)
           local total, text = 0, order
           for _, t in ipairs(threads) do
             total = total + t:get('count')
             local n = t:get('nested')
             text = text .. ' ' .. t:get('id') .. t:get('initialised') .. tostring(n.a[2]) .. n.a[3] .. tostring(t:get('nothing'))
           end
           tell(text .. ' ' .. tostring(total == summary.requests))
         end",
        |trial| trial.threads(3).requests(30),
    );
    assert_eq!(said, "123 00truexnil 11truexnil 22truexnil true");
}

#[test]
fn what_cannot_be_copied_to_a_thread_is_refused_by_wrks_words() {
    for (statement, words) in [
        ("thread:set('f', function() end)", "cannot transfer 'function' to thread"),
        ("thread.color = 1", "cannot set 'number' on thread"),
        ("thread.addr = 'x'", "cannot set 'string' on thread"),
        ("local t = {} t.t = t thread:set('t', t)", "cannot transfer 'table' to thread"),
    ] {
        let trial = Trial::of(&format!("function setup(thread) {statement} end"));
        let error = trial.run(&Capture::start()).unwrap_err().spelt(plan::Spelling::Flags);
        assert!(error.contains(words), "{statement}: {error}");
    }
}

#[test]
fn response_sees_status_headers_and_body() {
    let said = result_of(
        "local paths, place = {'/twice', '/empty', '/chunked', '/fail', '/large', '/x'}, 0
         function request() place = place % #paths + 1 return wrk.format(nil, paths[place]) end
         seen = {}
         function response(status, headers, body)
           seen[#seen + 1] = status .. ',' .. (headers['X-Many'] or '') .. ',' .. (headers['Server'] or '') .. ',' .. (#body < 30 and body or #body)
         end
         local thread
         function setup(t) thread = t end
         function done() tell(table.concat(thread:get('seen'), ';')) end",
        |trial| trial.requests(6),
    );
    assert_eq!(
        said,
        "200,,capture,;200,,,abcde;503,,capture,not now;200,,capture,300000;200,,capture,you asked for /x;200,second,capture,two"
    );
}

#[test]
fn every_answer_s_body_is_its_own_whatever_was_there_before() {
    // The same head and length again and again, so that heads are compiled and memory is used again.
    let said = result_of(
        "local n = 0
         function request() n = n % 7 + 1 return wrk.format(nil, '/' .. string.rep(tostring(n), 5)) end
         kept = {}
         function response(status, headers, body) kept[#kept + 1] = body end
         local thread
         function setup(t) thread = t end
         function done()
           local wrong, all = 0, thread:get('kept')
           for place, body in ipairs(all) do
             if body ~= 'you asked for /' .. string.rep(tostring(place % 7 + 1), 5) then wrong = wrong + 1 end
           end
           tell(#all .. ' ' .. wrong)
         end",
        |trial| trial.requests(300),
    );
    assert_eq!(said, "300 0");
    // Bodies of every length, with bytes that are no text, and none.
    let said = result_of(
        "local paths, place = {'/empty', '/large', '/binary', '/chunked'}, 0
         function request() place = place % #paths + 1 return wrk.format(nil, paths[place]) end
         lengths = {}
         function response(status, headers, body) lengths[#body] = (lengths[#body] or 0) + 1 binary = #body == 256 and body:byte(256) or binary end
         local thread
         function setup(t) thread = t end
         function done()
           local lengths = thread:get('lengths')
           tell(table.concat({lengths[0], lengths[300000], lengths[256], lengths[5], thread:get('binary')}, ' '))
         end",
        |trial| trial.requests(40),
    );
    assert_eq!(said, "10 10 10 10 255");
}

#[test]
fn a_request_that_is_made_anew_each_time_is_compiled_as_a_whole() {
    // One trace from the call to its return, which a loop with few turns would prevent: the compiler gives up at it, with 9.
    for headers in ["", "wrk.headers['X-A'] = 'b' wrk.headers['X-B'] = 'c' wrk.headers['X-C'] = 4"] {
        let said = result_of(
            &format!(
                "{headers}
                 whole, loops = 0, ''
                 local util = require('jit.util')
                 jit.attach(function(what, trace, f, pc, code)
                   local about = what == 'stop' and util.traceinfo(trace)
                   if about and about.linktype == 'return' and about.nins > whole then whole = about.nins end
                   if what == 'abort' and code == 9 then
                     local place = util.funcinfo(f, pc)
                     loops = loops .. ' ' .. place.source .. ':' .. place.currentline
                   end
                 end, 'trace')
                 local n = 0
                 function request() n = n + 1 return wrk.format('GET', '/item/' .. n) end
                 local thread
                 function setup(t) thread = t end
                 function done() tell((thread:get('whole') > 60 and 'whole' or thread:get('whole')) .. thread:get('loops')) end"
            ),
            |trial| trial.requests(400),
        );
        assert_eq!(said, "whole", "{headers}");
    }
}

#[test]
fn headers_are_written_each_once_however_many_there_are() {
    for count in [0, 1, 5, 6, 7, 8, 30] {
        let capture = Capture::start();
        let trial = Trial::of(&format!(
            "for i = 1, {count} do wrk.headers['X-' .. i] = i end
             function request() return wrk.format('POST', nil, nil, 'text') end"
        ));
        trial.requests(3).run(&capture).unwrap();
        for request in capture.requests() {
            let mut lines: Vec<&str> = request.split("\r\n\r\n").next().unwrap().split("\r\n").skip(1).collect();
            lines.sort_unstable();
            let mut expected: Vec<String> = (1..=count).map(|place| format!("X-{place}: {place}")).collect();
            expected.extend([format!("Host: {}", capture.address()), "Content-Length: 4".to_owned()]);
            expected.sort();
            assert_eq!(lines, expected);
        }
    }
}

#[test]
fn a_response_that_takes_fewer_arguments_or_becomes_another_sees_the_same() {
    let said = result_of(
        "seen = ''
         local function full(status, headers, body) seen = seen .. headers.Server .. #body .. ' ' end
         function response(status) seen = seen .. status .. ' ' if #seen > 10 then response = full end end
         local thread
         function setup(t) thread = t end
         function done() tell(thread:get('seen')) end",
        |trial| trial.requests(5),
    );
    assert_eq!(said, "200 200 200 capture15 capture15 ");
    let said = result_of(
        "seen = ''
         function response(...) local status, headers, body = ... seen = seen .. select('#', ...) .. headers.Server .. #body end
         local thread
         function setup(t) thread = t end
         function done() tell(thread:get('seen')) end",
        |trial| trial.requests(1),
    );
    assert_eq!(said, "3capture15");
}

#[test]
fn a_token_is_used_from_the_answer_that_brings_it_on() {
    let capture = Capture::start();
    Trial::example("token.lua").requests(4).run(&capture).unwrap();
    assert_eq!(capture.lines(), ["POST /login", "GET /private", "GET /private", "GET /private"]);
    assert!(capture.requests()[1].contains("\r\nX-Token: s3cret\r\n"));
}

#[test]
fn stop_ends_the_load_of_its_thread() {
    let capture = Capture::start();
    let trial = Trial::of("local n = 0 function response() n = n + 1 if n == 10 then wrk.thread:stop() end end");
    let measured = trial.endless().run(&capture).unwrap();
    assert_eq!(capture.requests().len(), 10);
    assert_eq!(measured.requests.succeeded, 10);
    assert_eq!(measured.ended.how, measure::Ending::Finished);
}

#[test]
fn a_batch_is_one_write_and_every_answer_counts() {
    let capture = Capture::start();
    let measured = Trial::example("pipeline.lua").requests(30).run(&capture).unwrap();
    assert_eq!(measured.requests.succeeded, 30);
    let connections = capture.connections();
    assert_eq!((connections.len(), connections[0].len()), (1, 30), "all on one connection");
    assert_eq!(capture.lines()[..4], ["GET /a", "GET /b?c=d", "POST /e", "GET /a"]);
    assert_eq!(measured.service_time.count(), 30);
    let sent: usize = capture.requests().iter().map(String::len).sum();
    assert_eq!(measured.bytes.sent, sent as u64);
    // wrk counts in threes; here a script may vary.
    let capture = Capture::start();
    let trial = Trial::of("local n = 0 function request() n = n % 3 + 1 return wrk.format():rep(n) end");
    assert_eq!(trial.requests(12).run(&capture).unwrap().requests.succeeded, 12);
}

#[test]
fn delay_is_in_milliseconds_and_part_of_no_request() {
    let capture = Capture::start();
    let trial = Trial::of("function delay() return 40.9 end");
    let measured = trial.requests(5).run(&capture).unwrap();
    let ended = measured.ended.load_until;
    assert!(ended.as_secs_f64() >= 0.2, "five times 40 ms: {ended}");
    let slowest = measured.response_time.max().unwrap();
    assert!(slowest.as_secs_f64() < 0.04 * 5.0, "the wait is no part of the time: {slowest}");
    for nothing in ["nil", "0", "-5", "0/0"] {
        let trial = Trial::of(&format!("function delay() return {nothing} end"));
        assert_eq!(trial.run(&capture).unwrap().requests.succeeded, 20);
    }
}

#[test]
fn delay_and_a_rate_contradict_each_other() {
    let trial = Trial { rate: Some("100/s"), ..Trial::of("function delay() return 1 end") };
    let error = trial.run(&Capture::start()).unwrap_err();
    assert!(error.spelt(plan::Spelling::Flags).contains("defines delay(), and --rate says"), "{error:?}");
}

#[test]
fn a_rate_sends_what_request_chooses() {
    let capture = Capture::start();
    let trial = Trial { rate: Some("1000/s"), ..Trial::example("counter.lua") };
    assert_eq!(trial.requests(40).run(&capture).unwrap().requests.due, 40);
    let mut lines = capture.lines();
    lines.sort();
    let mut expected: Vec<String> = (2..42).map(|number| format!("GET /item/{number}")).collect();
    expected.sort();
    assert_eq!(lines, expected);
}

#[test]
fn a_load_that_a_script_chooses_is_the_same_however_it_is_split() {
    let text = "
        local number = 0
        function request()
          number = number + 1
          return wrk.format('GET', '/item/' .. number)
        end
        function response(status, headers, body)
          if status == 200 and not body:find('/item/') then error('a body of another path: ' .. body) end
        end";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split.lua");
    std::fs::write(&path, text).unwrap();
    let draft = Draft {
        url: Some("http://a.test/".to_owned()),
        script: Some(path.display().to_string()),
        threads: "3".parse().ok(),
        connections: "7".parse().ok(),
        duration: "4s".parse().ok(),
        timeout: "300ms".parse().ok(),
        ..Draft::default()
    };
    let text = std::fs::read(&path).unwrap();
    let plan = Plan::try_from(plan::Resolved::from(draft).with_file(path.to_str().unwrap(), text)).unwrap();
    let whole = engine::split::same_however_split(&plan, &|runner, parts| {
        let shares = parts.into_iter().map(|part| part.share);
        let source = Source::of(&plan).unwrap().unwrap();
        let mut script = Script::load(&source, Globals::of(&plan, &engine::Fence::open()).unwrap(), &Stop::new()).unwrap();
        script.start(&plan, runner, shares, &mut || (), &Stop::new()).unwrap()
    });
    assert_eq!(whole.broken, None);
    assert!(whole.summary.requests.succeeded > 500 && whole.summary.requests.failed > 20, "{:?}", whole.summary.requests);
}

#[test]
fn done_is_given_summary_latency_and_requests() {
    let said = result_of(
        "wrk.path = '/fail'
         function delay() return 2 end
         function done(summary, latency, requests)
           local e = summary.errors
           local sum = 0
           for i = 1, #latency do local value, count = latency(i) sum = sum + count end
           local none, zero = latency(#latency + 1)
           tell(table.concat({summary.requests, tostring(summary.duration > 0), tostring(summary.bytes > 0), e.connect, e.read, e.write, e.status,
             e.timeout, tostring(latency.min <= latency:percentile(50) and latency:percentile(50) <= latency:percentile(99.999)),
             tostring(latency:percentile(100) == latency.max), tostring(latency.mean > 0), tostring(latency.stdev >= 0), sum, none, zero,
             latency.unknown, tostring(#requests >= 1 and requests.max > 0)}, ' '))
         end",
        |trial| trial.requests(150),
    );
    assert_eq!(said, "150 true true 0 0 0 150 0 true true true true 150 0 0 unknown true");
}

#[test]
fn wrk2_s_statistics_count_every_value_and_are_no_functions() {
    let script = "
        function done(summary, latency, requests)
          local last, sorted = 0, true
          for i = 1, #latency do sorted = sorted and latency[i] >= last last = latency[i] end
          local called = pcall(function() return latency(1) end)
          tell(table.concat({#latency, tostring(sorted), tostring(latency[1] == latency.min), tostring(latency[#latency] == latency.max),
            tostring(latency:percentile(100) == latency.max), tostring(latency:percentile(0) == latency.min), tostring(called),
            tostring(latency.mean > 0 and latency.stdev >= 0)}, ' '))
        end";
    let said = result_of(script, |trial| trial.for_wrk2().requests(150));
    assert_eq!(said, "150 true true true true true false true");
}

#[test]
fn wrk2_knows_no_delay_and_tells_the_time() {
    let said = result_of(
        "function delay() error('called') end
         local now = wrk.time_us()
         function done() tell(os.difftime(os.time(), now / 1e6) .. ' ' .. type(now)) end",
        |trial| Trial { rate: Some("1000/s"), ..trial.for_wrk2() },
    );
    let (apart, kind) = said.split_once(' ').unwrap();
    // Whole seconds are compared with microseconds.
    assert!(apart.parse::<f64>().unwrap().abs() < 60.0, "{said}");
    assert_eq!(kind, "number");
}

#[test]
fn lookup_and_connect_find_and_try_addresses() {
    let capture = Capture::start();
    let port = capture.address().port();
    let said = result_of(
        &format!(
            "local text
             function setup(thread)
               local found = wrk.lookup('127.0.0.1', '{port}')
               text = #found .. ' ' .. tostring(found[1]) .. ' ' .. tostring(wrk.connect(found[1]))
               text = text .. ' ' .. tostring(wrk.connect(wrk.lookup('127.0.0.1', '1')[1])) .. ' ' .. tostring(wrk.lookup('::1', 'http')[1])
               text = text .. ' ' .. #wrk.addrs
             end
             function done() tell(text) end"
        ),
        |trial| trial.also("http://127.0.0.1:1").also(&format!("http://127.0.0.1:{port}")),
    );
    assert_eq!(said, format!("1 127.0.0.1:{port} true false ::1:80 1"));
}

#[test]
fn a_thread_sends_to_the_address_it_was_given() {
    let (named, given) = (Capture::start(), Capture::start());
    let port = given.address().port();
    for body in ["", "function response() end"] {
        let trial = Trial::of(&format!("function setup(thread) thread.addr = wrk.lookup('127.0.0.1', '{port}')[1] end {body}"));
        trial.also(&format!("http://127.0.0.1:{port}")).run(&named).unwrap();
        assert_eq!((named.requests().len(), given.requests().len()), (0, 20));
        given.forget();
    }
}

#[test]
fn a_script_chooses_no_address_of_a_server_that_nobody_named() {
    let (named, given) = (Capture::start(), Capture::start());
    let port = given.address().port();
    let to = format!("wrk.lookup('127.0.0.1', '{port}')[1]");
    for (body, doing) in [
        (format!("function setup(thread) thread.addr = {to} end"), "setup()"),
        (format!("function init() wrk.thread.addr = {to} end"), "init()"),
        (format!("wrk.connect({to})"), "loading"),
    ] {
        for trial in [Trial::of(&body), Trial::of(&body).sandboxed()] {
            let error = trial.run(&named).unwrap_err().spelt(plan::Spelling::Flags);
            assert!(error.contains(&format!("failed in {doing}: 127.0.0.1:{port} is no address of the target")), "{error}");
            assert!(error.ends_with(&format!("\n  help: --also-target http://127.0.0.1:{port} allows it")), "{error}");
            assert_eq!((named.requests().len(), given.requests().len()), (0, 0));
        }
    }
    // Those of the target are its own.
    Trial::of("function setup(thread) thread.addr = wrk.lookup(wrk.host, wrk.port)[1] end").sandboxed().run(&named).unwrap();
    assert_eq!(named.requests().len(), 20);
}

#[test]
fn scripts_have_luas_whole_library_as_in_wrk() {
    let said = result_of(
        "local ffi, bit = require('ffi'), require('bit')
         ffi.cdef('int abs(int);')
         local text = ffi.C.abs(-7) .. ' ' .. bit.band(6, 3) .. ' ' .. type(os.getenv) .. type(debug.traceback) .. type(jit.on) .. ' ' .. _VERSION
         function done() tell(text) end",
        |trial| trial,
    );
    assert_eq!(said, "7 2 functionfunctionfunction Lua 5.1");
}

#[test]
fn head_requests_end_with_their_heads() {
    let capture = Capture::start();
    let trial = Trial::of("function request() return 'HEAD /empty HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n' end");
    assert_eq!(trial.run(&capture).unwrap().requests.succeeded, 20);
}
