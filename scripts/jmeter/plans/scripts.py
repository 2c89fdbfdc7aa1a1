"""Scripts before samplers, in their place, and behind their answers."""

from cases import one_user
from elements import *
from plans.answers import jmes_path
from server import Answer, as_json

SHOP = {"items": [{"id": 1, "open": False, "price": 2.5}, {"id": 2, "open": True, "price": 10}], "total": 12.5}


def script(tag, text, language="groovy", children=(), **more):
    of = {"scriptLanguage": language, "parameters": "", "filename": "", "cacheKey": "true", "script": text, **more}
    return bean(tag, f"a {tag}", of, *children)


def beanshell(tag, text, **more):
    return bean(f"BeanShell{tag}", f"a BeanShell{tag}", {"filename": "", "parameters": "", "resetInterpreter": "false", "script": text, **more})


def before(name, says, text, path, *, tag="JSR223PreProcessor", language="groovy", **more):
    """A script, and the request whose path holds what it set."""
    return one_user(name, tag, says, get(path, script(tag, text, language)), **more)


def behind(name, says, answer, text, show, **more):
    """A script behind an answer, and a request whose body is what it set."""
    post = script("JSR223PostProcessor", text)
    return one_user(name, "JSR223PostProcessor", says, get("/answer", post), raw("POST", "/found", show), answers={"/answer": answer}, **more)


def post(path, *children, **more):
    return request("POST", path, *children, **more)


def changed(name, says, text, method, path, **more):
    """A script that changes the request of its sampler, which is sent twice."""
    return one_user(name, "JSR223PreProcessor", says, method(path, script("JSR223PreProcessor", text), **more), loops=2)


SIGN = """
import javax.crypto.Mac
import javax.crypto.spec.SecretKeySpec
def mac = Mac.getInstance('HmacSHA256')
mac.init(new SecretKeySpec('secret'.getBytes('UTF-8'), 'HmacSHA256'))
vars.put('signature', mac.doFinal('/orders'.getBytes('UTF-8')).encodeHex().toString())
"""

NUMBERS = "int n = ${n} * 2\nvars.put('x', '' + (n + ${__threadNum}) + '${n}')\nvars.put('y', '' + ${n} % 4)"
CODE = """
def parts = [${n} + 1, ${d} + 0.25, ${o}, ${q}.length(), ${l}.sum(), ${e} == null]
if (${t}) parts << 'yes'
vars.put('x', parts.join('-'))
"""

CASES = [
    before("script-signs", "a signature over the path", SIGN, "/orders?s=${signature}"),
    before("script-base64", "base64 of a text", "vars.put('x', 'Ann:word'.bytes.encodeBase64().toString())", "/a?x=${x}"),
    before("script-counts", "a variable that counts", "vars.put('n', ((vars.get('n') ?: '0') as int) + 1 as String)", "/a?n=${n}", loops=3),
    before("script-reads", "a variable of the plan", "vars.put('x', vars.get('who').toUpperCase())", "/a?x=${x}", variables={"who": "ann"}),
    before("script-with-values", "values that are written into the script", "vars.put('x', '${who}' + ${n})", "/a?x=${x}", variables={"who": "ann", "n": "4"}),
    one_user(
        "script-with-numbers",
        "JSR223PreProcessor",
        "whole numbers that are known only on the way and stand in the script as they are",
        counter("n", start="3", step="4"),
        get("/a?x=${x}&y=${y}", script("JSR223PreProcessor", NUMBERS, cacheKey="false")),
        loops=3,
    ),
    one_user(
        "script-kept-as-compiled",
        "JSR223PreProcessor JSR223PostProcessor",
        "a script that is kept as it was compiled first, with the values of that time",
        counter("n", start="3", step="4"),
        script("JSR223PreProcessor", NUMBERS),
        get("/a?x=${x}&y=${y}&z=${z}", regex("v", "(.)"), script("JSR223PostProcessor", "vars.put('z', \"${n}-${__counter(TRUE,)}-${v}\")")),
        get("/b?x=${x}&y=${y}&z=${z}"),
        loops=3,
        variables={"z": "none"},
        answers={"/a": [Answer("1"), Answer("2"), Answer("3")]},
    ),
    one_user(
        "script-with-values-as-code",
        "JSR223PreProcessor BeanShellPreProcessor",
        "numbers, truths, texts and lists that are known only on the way and stand in the script as they are",
        get("/value", *[regex(name, f"{name}=(.*?);") for name in "ndoqlet"]),
        get("/a?x=${x}&y=${y}", script("JSR223PreProcessor", CODE), beanshell("PreProcessor", 'vars.put("y", "" + (${n} % 5) + ${t} + ${q});')),
        answers={"/value": Answer('n=41;d=2.5;o=010;q="word";l=[1, 2];e=null;t=true;')},
    ),
    one_user(
        "script-with-a-word-as-code",
        "JSR223PreProcessor",
        "a word that is known only on the way and stands in a script as it is, which has no such name",
        get("/value", regex("v", "(.+)")),
        get("/a?x=${x}", script("JSR223PreProcessor", "vars.put('x', '' + ${v})")),
        get("/b?x=${x}"),
        variables={"x": "none"},
        answers={"/value": Answer("abc")},
    ),
    before("script-lists", "lists and maps", "def all = [3, 1, 2].sort().collect { it * 2 }\nvars.put('x', all.join('-'))", "/a?x=${x}"),
    before("script-texts", "parts of texts", "def t = 'a,b,c'.split(',')\nvars.put('x', t[1] + t.size())", "/a?x=${x}"),
    before("script-decides", "one thing or another", "if (vars.get('x') == null) vars.put('x', 'first') else vars.put('x', 'later')", "/a?x=${x}", loops=2),
    before("script-numbers", "whole numbers and others", "int a = 7\nvars.put('x', (a.intdiv(2)) + '/' + (a / 2) + '/' + (a % 4))", "/a?x=${x}"),
    one_user("beanshell-before", "BeanShellPreProcessor", "BeanShell before a sampler", get("/a?x=${x}", beanshell("PreProcessor", 'vars.put("x", "b" + 1);'))),
    one_user(
        "beanshell-behind",
        "BeanShellPostProcessor",
        "BeanShell behind an answer",
        get("/a", beanshell("PostProcessor", 'vars.put("x", prev.getResponseCode());')),
        get("/b?x=${x}"),
    ),
    one_user("script-sampler", "JSR223Sampler", "a script in the place of a sampler", script("JSR223Sampler", "vars.put('z', '3')"), get("/b?z=${z}")),
    one_user(
        "script-returns-a-text",
        "JSR223Sampler RegexExtractor BoundaryExtractor JSR223PostProcessor",
        "what a script returns in the place of a sampler, with extractors and a script behind it",
        script(
            "JSR223Sampler",
            "return 'id=7;id=9;'",
            children=[
                regex("a", r"id=(\d)"),
                regex("b", r"id=(\d)", match_number="2", template="<$1$>"),
                regex("c", r"x(\d)"),
                regex("all", r"id=(\d)", match_number="-1"),
                between("d", "id=", ";"),
                script("JSR223PostProcessor", "vars.put('e', vars.get('a') + '!')"),
            ],
        ),
        raw("POST", "/f", "${a} ${b} ${c} ${d} ${e} ${all_2} ${all_matchNr}"),
        loops=2,
    ),
    one_user(
        "script-returns-json",
        "JSR223Sampler JSONPostProcessor JMESPathExtractor",
        "JSON that a script returns in the place of a sampler, with extractors behind it",
        script(
            "JSR223Sampler",
            "return groovy.json.JsonOutput.toJson([user: [id: 7, name: 'Ann Lee'], items: [[id: 1], [id: 2]], none: null])",
            children=[
                json_path("a", "$.user.name"),
                json_path("b", "$.items[*].id", "-1"),
                json_path("c", "$.none"),
                json_path("d", "$.items[*].id", "2"),
                json_path("e", "$.nothing"),
                jmes_path("f", "items[1].id"),
            ],
        ),
        raw("POST", "/f", "${a} ${b_1} ${b_2} ${b_matchNr} ${c} ${d} ${e} ${f}"),
    ),
    one_user(
        "script-returns-a-page",
        "JSR223Sampler HtmlExtractor XPathExtractor",
        "a page that a script returns in the place of a sampler, with extractors behind it",
        script(
            "JSR223Sampler",
            "return '<html><body><a id=\"x\" href=\"/1\">One</a><a href=\"/2\">Two</a></body></html>'",
            children=[css("a", "a"), css("b", "a", "href", "2"), css("c", "b"), xpath("d", "//a[2]"), xpath("e", "//a/@href")],
        ),
        raw("POST", "/f", "${a} ${b} ${c} ${d} ${e}"),
    ),
    one_user(
        "script-in-the-scope-of-an-extractor",
        "JSR223Sampler RegexExtractor",
        "an extractor of the group looks at what a script returns, too",
        regex("t", r"id=(\d)"),
        get("/a"),
        script("JSR223Sampler", "return 'no more'"),
        raw("POST", "/f", "${t}"),
        answers={"/a": Answer("id=1")},
    ),
    one_user(
        "script-around-a-debug-sampler",
        "DebugSampler JSR223PreProcessor JSR223PostProcessor",
        "scripts of the group are run before and behind what shows variables, too",
        script("JSR223PreProcessor", "vars.put('n', ((vars.get('n') ?: '0') as int) + 1 as String)"),
        script("JSR223PostProcessor", "vars.put('m', ((vars.get('m') ?: '0') as int) + 1 as String)"),
        get("/a?n=${n}"),
        bean("DebugSampler", "Debug", {"displayJMeterProperties": False, "displayJMeterVariables": True, "displaySystemProperties": False}),
        get("/b?n=${n}&m=${m}"),
        loops=2,
    ),
    behind(
        "script-json",
        "a value out of a tree of JSON",
        as_json(SHOP),
        "def json = new groovy.json.JsonSlurper().parseText(prev.getResponseDataAsString())\nvars.put('id', json.items.find { it.open }.id as String)",
        "${id}",
    ),
    behind("script-regex", "a part of the answer", Answer("token=abc; x=1"), "def m = prev.responseDataAsString =~ /token=(\\w+)/\nvars.put('t', m[0][1])", "${t}"),
    behind("script-code", "status and length", Answer("four"), "vars.put('c', prev.getResponseCode() + prev.getResponseDataAsString().length())", "${c}"),
    one_user(
        "script-behind-extractor",
        "JSR223PostProcessor",
        "a script that goes on with what an extractor found",
        get("/answer", regex("id", "id=(\\d+)"), script("JSR223PostProcessor", "vars.put('id', (vars.get('id').toInteger() + 1).toString())")),
        get("/b?id=${id}"),
        answers={"/answer": Answer("id=41")},
    ),
    one_user(
        "script-judges",
        "JSR223Assertion",
        "a script that finds an answer to have failed, so that the iteration ends",
        get("/a", script("JSR223Assertion", "if (!prev.getResponseDataAsString().contains('yes')) { AssertionResult.setFailure(true) }")),
        get("/b"),
        on_error="startnextloop",
        loops=2,
        answers={"/a": [Answer("yes"), Answer("no")]},
    ),
    one_user(
        "script-pauses",
        "JSR223Timer",
        "a script that says how long to wait",
        get("/a"),
        get("/b", script("JSR223Timer", "return 300L")),
        pauses=[(250, 600)],
    ),
    one_user("script-of-a-group", "JSR223PreProcessor", "a script of a whole group", script("JSR223PreProcessor", "vars.put('x', 'g')"), get("/a?x=${x}"), get("/b?x=${x}")),
    one_user("script-in-a-value", "HTTPSamplerProxy", "a function that runs a script", get("/a?x=${__groovy(vars.get('who').reverse())}"), variables={"who": "abc"}),
    one_user(
        "script-as-a-condition",
        "IfController",
        "a condition that is a script",
        when("${__groovy(vars.get('who').startsWith('a'))}", get("/yes")),
        when("${__groovy(vars.get('who').startsWith('b'))}", get("/no")),
        variables={"who": "abc"},
    ),
    changed("script-adds-an-argument", "an argument that a script adds", "sampler.addArgument('s', 'a b&c')", get, "/a", arguments=[argument("n", "1")]),
    changed("script-adds-to-a-form", "a field that a script adds to a form", "sampler.addArgument('s', vars.get('x') ?: 'none')", post, "/a", arguments=[argument("n", "1")]),
    changed("script-changes-the-path", "another path, the arguments stay", "sampler.setPath('/b')", get, "/a", arguments=[argument("n", "1")]),
    changed("script-changes-the-method", "another method", "sampler.setMethod('OPTIONS')", get, "/a"),
    changed("script-changes-a-field", "a field of a form", "sampler.getArguments().getArgument(0).setValue('new ' + sampler.arguments.getArgument(0).value)", post, "/a", arguments=[argument("n", "old", encode=True)]),
    changed("script-removes-an-argument", "an argument that a script takes out", "sampler.getArguments().removeArgument('n')", get, "/a", arguments=[argument("n", "1"), argument("m", "2")]),
    one_user(
        "script-signs-a-body",
        "JSR223PreProcessor",
        "a header that a script computes from the body",
        headers(("X-Kept", "1")),
        raw(
            "POST",
            "/a",
            '{"id": ${n}}',
            children=[
                script(
                    "JSR223PreProcessor",
                    "import org.apache.jmeter.protocol.http.control.Header\n"
                    "def body = sampler.getArguments().getArgument(0).getValue()\n"
                    "sampler.getHeaderManager().add(new Header('X-Signature', body.md5()))",
                )
            ],
        ),
        variables={"n": "17"},
    ),
    one_user(
        "script-replaces-a-body",
        "JSR223PreProcessor",
        "another body",
        raw(
            "POST",
            "/a",
            "old",
            children=[
                script(
                    "JSR223PreProcessor",
                    "sampler.getArguments().removeAllArguments()\nsampler.addNonEncodedArgument('', '{\"a\": 1}', '')\nsampler.setPostBodyRaw(true)",
                )
            ],
        ),
    ),
    one_user(
        "script-replaces-a-header",
        "JSR223PreProcessor",
        "a header that a script takes out, and another one",
        get(
            "/a",
            headers(("X-Old", "1"), ("X-Kept", "2")),
            script(
                "JSR223PreProcessor",
                "def manager = sampler.getHeaderManager()\nmanager.removeHeaderNamed('X-Old')\n"
                "manager.add(new org.apache.jmeter.protocol.http.control.Header('X-New', vars.get('n')))",
            ),
        ),
        variables={"n": "17"},
    ),
    one_user(
        "beanshell-adds-an-argument",
        "BeanShellPreProcessor",
        "an argument that BeanShell adds",
        get("/a", beanshell("PreProcessor", 'sampler.addArgument("b", "c d"); sampler.addArgument("n", vars.get("n"));')),
        variables={"n": "17"},
    ),
]
