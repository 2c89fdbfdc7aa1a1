//! How requests are put together from samplers and what stands around them.

use plan::work::Body;

use super::*;

/// A sampler of a method with arguments of (name, value, whether it is encoded), and further settings.
fn send(method: &str, path: &str, named: &[(&str, &str, &str)], more: &[(&str, &str)]) -> String {
    let argument = |(name, value, is_encoded): &(&str, &str, &str)| {
        item(&[("Argument.name", name), ("Argument.value", value), ("Argument.metadata", "="), ("HTTPArgument.always_encode", is_encoded)])
    };
    let named: String = named.iter().map(argument).collect();
    let arguments = format!("<collectionProp name=\"Arguments.arguments\">{named}</collectionProp>");
    let own = [
        ("HTTPSampler.domain", "a.test"),
        ("HTTPSampler.path", path),
        ("HTTPSampler.method", method),
        ("HTTPsampler.Arguments", &arguments),
    ];
    element("HTTPSamplerProxy", path, &[&own[..], more].concat(), &[])
}

fn extractor(name: &str) -> String {
    element("RegexExtractor", "x", &[("RegexExtractor.refname", name), ("RegexExtractor.regex", "(.)")], &[])
}

fn header(name: &str, value: &str) -> String {
    let header = item(&[("Header.name", name), ("Header.value", value)]);
    element("HeaderManager", "h", &[("HeaderManager.headers", &header)], &[])
}

pub(super) fn made(children: &[String]) -> (Work, Vec<String>) {
    let (made, left) = import(&plan_of(&[], &[group(&[], children)]));
    (made.work, left)
}

#[test]
fn what_is_held_against_parts_of_a_sample_is_held_where_there_are_any() {
    let held = |scope: &str, more: (&str, &str)| {
        let patterns = "<stringProp name=\"1\">good</stringProp>";
        let settings = [
            ("Assertion.scope", scope),
            ("Asserion.test_strings", patterns),
            ("Assertion.test_type", "16"),
            ("Assertion.custom_message", "It is not"),
        ];
        let assertion = element("ResponseAssertion", "r", &settings, &[]);
        let properties = [("HTTPSampler.domain", "a.test"), ("HTTPSampler.path", "/a"), ("HTTPSampler.method", "GET"), more];
        let (made, left) = import(&plan_of(&[], &[group(&[], &[element("HTTPSamplerProxy", "a", &properties, &[assertion])])]));
        let failures = made.work.steps()[0].checks.iter().map(|check| check.failure.clone().unwrap_or_default()).collect::<Vec<_>>();
        (failures.join(", "), left.len())
    };
    let none = ("x", "");
    for (scope, more, expected) in [
        ("", none, ("It is not", 0)),
        ("all", none, ("It is not", 0)),
        ("children", none, ("", 0)),
        ("parent", ("HTTPSampler.follow_redirects", "true"), ("It is not", 0)),
        ("all", ("HTTPSampler.follow_redirects", "true"), ("It is not", 0)),
        ("children", ("HTTPSampler.image_parser", "true"), ("It is not", 0)),
    ] {
        assert_eq!(held(scope, more), (expected.0.to_owned(), expected.1), "{scope} {more:?}");
    }
}

#[test]
fn what_is_held_against_each_answer_of_a_sample_says_so() {
    let held = |class: &str, scope: &str, settings: &[(&str, &str)], more: (&str, &str)| {
        let assertion = element(class, "r", &[&[("Assertion.scope", scope)], settings].concat(), &[]);
        let sampler = send("GET", "/a", &[], &[more]).replacen("<hashTree></hashTree>", &format!("<hashTree>{assertion}</hashTree>"), 1);
        let (work, left) = made(&[sampler]);
        let checks =
            work.steps()[0].checks.iter().map(|check| format!("{} {} of {}", check.subject.word(), check.condition, check.along.word()));
        (checks.collect::<Vec<_>>().join("; "), left.len())
    };
    let text = [("Asserion.test_strings", "<stringProp name=\"1\">ok</stringProp>"), ("Assertion.test_type", "16")];
    let (follow, page) = (("HTTPSampler.follow_redirects", "true"), ("HTTPSampler.image_parser", "true"));
    let of = |scope: &str, more: (&str, &str)| held("ResponseAssertion", scope, &text, more).0;
    assert_eq!(of("parent", follow), "body contains \"ok\" of last");
    assert_eq!(of("all", follow), "body contains \"ok\" of all");
    assert_eq!(of("children", page), "body contains \"ok\" of parts");
    // Where there are no others, there is nothing to be looked at.
    assert_eq!((of("all", ("", "")), of("children", ("", ""))), ("body contains \"ok\" of last".to_owned(), String::new()));
    let time = [("DurationAssertion.duration", "500")];
    assert_eq!(held("DurationAssertion", "all", &time, follow), ("time <= 500ms of last".to_owned(), 1));
    assert_eq!(held("DurationAssertion", "children", &time, follow), (String::new(), 1));
}

#[test]
fn values_stand_in_paths_and_queries_as_they_are_unless_they_are_to_be_encoded() {
    let paths = |sampler: String| {
        let (work, left) = made(&[get("x", "/x", &[extractor("id")]), sampler]);
        assert_eq!(left, Vec::<String>::new());
        work.steps()[1].path.to_string()
    };
    assert_eq!(paths(send("GET", "/a/${id}?q=${id}", &[], &[])), "/a/{{raw (id)}}?q={{raw (id)}}");
    assert_eq!(
        paths(send("GET", "/a", &[("r", "${id}", "false"), ("s", "${id}&amp;", "true")], &[])),
        "/a?r={{raw (id)}}&s={{form-encoded (id)}}%26"
    );
    assert_eq!(paths(send("GET", "/a/${__Random(1,6)}", &[], &[])), "/a/{{random 1 6}}");
    assert_eq!(paths(send("GET", "/a", &[("flag", "", "false")], &[])), "/a?flag=");
}

#[test]
fn a_value_may_bring_the_slash_of_its_path_along() {
    let (work, left) = made(&[get("x", "/x", &[extractor("link")]), get("a", "${link}/b", &[])]);
    assert_eq!(
        (outline(&work.journeys[0].items), left),
        ("x, path_1=if(substring({{link}}, 0, 1) == \"/\", substring({{link}}, 1), {{link}}), a".to_owned(), vec![])
    );
    assert_eq!(work.steps()[1].path.to_string(), "/{{raw (path_1)}}/b");
    let variables =
        format!("<elementProp name=\"TestPlan.user_defined_variables\">{}</elementProp>", arguments(&[("base", "/api"), ("word", "w")]));
    let plan = plan_of(&[], &[group(&[], &[get("a", "${base}/a/${word}", &[]), get("b", "${word}", &[])])]);
    let (made, _) = import(&plan.replacen("</TestPlan>", &(variables + "</TestPlan>"), 1));
    let paths: Vec<String> = made.work.steps().iter().map(|step| step.path.to_string()).collect();
    assert_eq!(paths, ["/api/a/{{raw (word)}}", "/{{raw (word)}}"]);
}

#[test]
fn a_login_is_for_the_urls_that_begin_with_its_own_whatever_variables_they_are_made_of() {
    let entry =
        item(&[("Authorization.url", "http://a.test/api/"), ("Authorization.username", "ann"), ("Authorization.password", "secret")]);
    let manager = element("AuthManager", "m", &[("AuthManager.auth_list", &entry)], &[]);
    let variables = format!("<elementProp name=\"TestPlan.user_defined_variables\">{}</elementProp>", arguments(&[("part", "api")]));
    let plan = plan_of(&[], &[group(&[], &[manager, get("a", "/${part}/x", &[]), get("b", "/other", &[])])]);
    let (made, _) = import(&plan.replacen("</TestPlan>", &(variables + "</TestPlan>"), 1));
    assert_eq!(made.work.steps().iter().map(|step| step.auth.is_some()).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn a_form_in_parts_says_what_its_parts_are_but_in_the_way_of_browsers() {
    let file = "<elementProp name=\"\"><stringProp name=\"File.path\">n.txt</stringProp><stringProp name=\"File.paramname\">n</stringProp></elementProp>";
    let files = format!("<collectionProp name=\"HTTPFileArgs.files\">{file}</collectionProp>");
    let of = |as_browsers: &str| {
        let more = [("HTTPsampler.Files", files.as_str()), ("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART", as_browsers)];
        let (work, left) = made(&[send("POST", "/f", &[("a", "1", "false")], &more)]);
        assert_eq!(left, Vec::<String>::new());
        let step = work.steps()[0].clone();
        assert_eq!(
            step.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>(),
            ["Content-Type: multipart/form-data; charset=UTF-8"]
        );
        let Body::Multipart(fields) = step.body else { panic!("{:?}", step.body) };
        let told = |(name, value): &(String, String)| format!("{name}: {value}");
        fields.iter().map(|field| field.headers.iter().map(told).collect::<Vec<_>>().join("; ")).collect::<Vec<_>>()
    };
    let text = "Content-Type: text/plain; charset=UTF-8; Content-Transfer-Encoding: 8bit";
    assert_eq!((of("false"), of("true")), (vec![text.to_owned(), "Content-Transfer-Encoding: binary".to_owned()], vec![String::new(); 2]));
}

#[test]
fn a_delete_has_the_type_of_a_form_and_what_has_no_body_has_none() {
    let (work, left) = made(&[send("DELETE", "/d", &[], &[]), send("HEAD", "/h", &[("a", "1", "false")], &[])]);
    let sent: Vec<String> = work.steps().iter().map(|step| format!("{} {} {:?}", step.method, step.path, step.body)).collect();
    assert_eq!((sent, left), (vec!["DELETE /d Empty".to_owned(), "HEAD /h Empty".to_owned()], vec![]));
    let types: Vec<String> = work.steps().iter().flat_map(|step| &step.headers).map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(types, ["Content-Type: application/x-www-form-urlencoded; charset=UTF-8"]);
}

#[test]
fn values_stand_in_a_body_as_they_are_whatever_its_type() {
    let raw = send("POST", "/j", &[("", "{\"list\": ${list}}", "false")], &[])
        .replace("<hashTree></hashTree>", &format!("<hashTree>{}</hashTree>", header("Content-Type", "application/json")));
    let (work, left) = made(&[get("x", "/x", &[extractor("list")]), raw]);
    assert_eq!(left, Vec::<String>::new());
    let Body::Json(text) = &work.steps()[1].body else { panic!("{:?}", work.steps()[1].body) };
    assert_eq!(text.to_string(), "{\"list\": {{raw (list)}}}");
}

#[test]
fn answers_are_kept_in_mind_where_their_manager_stands() {
    let manager = |settings: &[(&str, &str)]| element("CacheManager", "c", settings, &[]);
    let kept = |children: &[String]| {
        let (work, left) = made(children);
        assert_eq!(left, Vec::<String>::new());
        work.steps().iter().map(|step| step.cache.map(|cache| (cache.at_most.get(), cache.always_ask))).collect::<Vec<_>>()
    };
    let inner = element("GenericController", "g", &[], &[manager(&[("useExpires", "true"), ("maxSize", "7")]), get("b", "/b", &[])]);
    assert_eq!(kept(&[get("a", "/a", &[]), inner.clone()]), [None, Some((7, false))]);
    assert_eq!(kept(&[manager(&[]), get("a", "/a", &[]), inner.clone()]), [Some((5000, true)); 2], "the outer one holds");
    let emptied = manager(&[("clearEachIteration", "true")]);
    assert_eq!(outline_of(&[emptied, get("a", "/a", &[])]), "ForgetCache, a");
    let by_thread = manager(&[("clearEachIteration", "true"), ("CacheManager.controlledByThread", "true")]);
    assert_eq!(outline_of(&[by_thread, get("a", "/a", &[])]), "a");
    let (work, left) = made(&[inner.clone(), inner.replace("/b", "/c"), inner.clone()]);
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(work.steps().iter().map(|step| step.cache.map(|cache| cache.number)).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    let (_, left) = made(&[inner.clone(), inner.replace("useExpires", "clearEachIteration")]);
    assert!(matches!(&left[..], [only] if only.contains("here all are")), "{left:?}");
    let (_, left) = made(&[manager(&[("maxSize", "${n}")]), get("a", "/a", &[])]);
    assert!(left.iter().any(|told| told.contains("its size '${n}' is known only on the way, so it knows 5000 answers")), "{left:?}");
}

#[test]
fn cookies_are_those_of_the_samplers_where_their_manager_stands() {
    let manager = |policy: &str| element("CookieManager", "c", &[("CookieManager.policy", policy)], &[]);
    let inner = element("GenericController", "g", &[], &[manager("standard"), get("b", "/b", &[])]);
    let kept = |children: &[String]| {
        let (work, left) = made(children);
        (work.cookies, work.steps().iter().map(|step| step.cookies).collect::<Vec<_>>(), left.len())
    };
    assert_eq!(kept(&[get("a", "/a", &[]), inner.clone()]), (true, vec![false, true], 0));
    assert_eq!(kept(&[manager("standard"), get("a", "/a", &[])]), (true, vec![true], 0));
    assert_eq!(kept(&[manager("ignoreCookies"), get("a", "/a", &[]), inner.clone()]), (true, vec![false, false], 0), "the outer one holds");
    assert_eq!(kept(&[get("a", "/a", &[])]), (false, vec![true], 0));
    let emptied = manager("standard")
        .replace("</CookieManager>", "<boolProp name=\"CookieManager.clearEachIteration\">true</boolProp></CookieManager>");
    assert_eq!(outline_of(&[emptied.clone(), get("a", "/a", &[])]), "ForgetCookies, a");
    let closing = get("a", "/a", &[])
        .replace("</HTTPSamplerProxy>", "<boolProp name=\"HTTPSampler.use_keepalive\">false</boolProp></HTTPSamplerProxy>");
    let (work, left) = made(&[closing, get("b", "/b", &[])]);
    assert_eq!((work.steps().iter().map(|step| step.closes).collect::<Vec<_>>(), left.len()), (vec![true, false], 0));
    let written = item(&[("Cookie.name", "theme"), ("Cookie.value", "${x}"), ("Cookie.domain", "a.test"), ("Cookie.path", "/")]);
    let written = format!("<collectionProp name=\"CookieManager.cookies\">{written}</collectionProp></CookieManager>");
    let with_one = manager("standard").replace("</CookieManager>", &written);
    let cookie = "KeepCookie(Template { pieces: [Text(\"theme=${x}; Domain=a.test; Path=/\")] })";
    let told = " !the whole plan: the variable 'x': nothing in the plan gives it a value, so it is sent with its braces, as JMeter does";
    assert_eq!(outline_of(&[with_one, get("a", "/a", &[])]), format!("once ({cookie}), a{told}"));
    assert_eq!(
        outline_of(&[emptied.replace("</CookieManager>", &written), get("a", "/a", &[])]),
        format!("ForgetCookies, {cookie}, a{told}")
    );
    let second = inner.replace("/b", "/c");
    let (_, left) = made(&[inner, second]);
    assert!(matches!(&left[..], [only] if only.contains("the cookies of all cookie managers of its group together")), "{left:?}");
}

#[test]
fn scripts_that_change_a_request_belong_to_it() {
    let script = |text: &str| element("JSR223PreProcessor", "s", &[("scriptLanguage", "groovy"), ("script", text)], &[]);
    let with = |sampler: String, scripts: &[String]| {
        sampler.replace("<hashTree></hashTree>", &format!("<hashTree>{}</hashTree>", scripts.concat()))
    };
    let all = [script("vars.put('n', '1')"), script("sampler.addArgument('a', vars.get('n'))"), script("vars.put('m', '2')")];
    let (work, left) = made(&[with(send("GET", "/a?m=${m}", &[], &[]), &all), send("GET", "/b", &[], &[])]);
    assert_eq!(left, Vec::<String>::new());
    let steps = work.steps();
    assert_eq!(steps.iter().map(|step| step.before.len()).collect::<Vec<_>>(), [2, 0], "from the first on that changes it");
    assert!(steps[0].before.iter().all(|script| script.translated && script.may_fail && !script.reads_request));
    // It is written before the script that looks at it: what that sets is too late for it.
    let late = script("vars.put('m', sampler.getMethod())");
    for (sampler, scripts, why) in [
        (send("GET", "/a?m=${m}", &[], &[]), vec![late.clone()], "sets 'm', which it names"),
        (send("POST", "/a", &[("v", "${m}", "true")], &[]), vec![late], "sets 'm', which it names"),
        (send("GET", "/a?m=1", &[], &[]), vec![script("sampler.setPath('/b')")], "its own has a query"),
    ] {
        let (work, left) = made(&[with(sampler, &scripts), send("GET", "/b", &[], &[])]);
        assert_eq!(work.steps().len(), 1);
        assert!(matches!(&left[..], [only] if only.contains(why)), "{left:?}");
    }
    let behind = element("JSR223PostProcessor", "s", &[("script", "\nlog.info(sampler.getPath())")], &[]);
    let (_, left) = made(&[with(send("GET", "/a", &[], &[]), &[behind])]);
    assert!(matches!(&left[..], [only] if only.contains("line 2 of its script: `sampler`: the next request")), "{left:?}");
}

#[test]
fn letters_are_written_as_the_sampler_says() {
    let sampler = |method: &str, encoding: &str, always: &str, text: &str| {
        let argument = item(&[("HTTPArgument.always_encode", always), ("Argument.name", "n\u{fc}"), ("Argument.value", text)]);
        element(
            "HTTPSamplerProxy",
            "x",
            &[
                ("HTTPSampler.domain", "a.test"),
                ("HTTPSampler.path", "/\u{fc}"),
                ("HTTPSampler.method", method),
                ("HTTPSampler.contentEncoding", encoding),
                ("HTTPsampler.Arguments", &format!("<collectionProp name=\"Arguments.arguments\">{argument}</collectionProp>")),
            ],
            &[],
        )
    };
    let (work, left) = made(&[sampler("GET", "ISO-8859-1", "true", "\u{df}\u{20ac}"), sampler("POST", "Cp1251", "false", "%E6+\u{436}")]);
    assert_eq!(left, Vec::<String>::new());
    let steps = work.steps();
    assert_eq!(steps[0].path.to_string(), "/%C3%BC?n%C3%BC=%DF%3F");
    let Body::Form(fields) = &steps[1].body else { panic!("{:?}", steps[1].body) };
    assert_eq!((fields[0].0.as_str(), fields[0].1.to_string().as_str()), ("n\u{fc}", "\u{436} \u{436}"));
    assert_eq!(steps[1].encoding.map(|encoding| encoding.to_string()).as_deref(), Some("windows-1251"));
    let typed = steps[1].headers.iter().find(|(name, _)| name == "Content-Type").map(|(_, value)| value.to_string());
    assert_eq!(typed.as_deref(), Some("application/x-www-form-urlencoded; charset=windows-1251"));
    for (encoding, told) in [
        ("no such", "no encoding is called 'no such'"),
        ("UTF-16", "no request is written in utf-16be here"),
        ("${__UUID}", "its encoding is known only on the way"),
    ] {
        let (_, left) = made(&[get("a", "/a", &[]), sampler("GET", encoding, "true", "x")]);
        assert!(left.join(" ").contains(told), "{encoding}: {left:?}");
    }
}
