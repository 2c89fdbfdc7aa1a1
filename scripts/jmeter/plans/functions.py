"""Functions in texts, each as the body of a request."""

from cases import Case, in_any_order, one_user
from elements import *
from server import Answer

DATE = r"\d{4}-\d\d-\d\d"
LINES = {"lines.txt": "first\nsecond\n", "rows.csv": "a,1\nb,2\n", "shop.xml": "<shop><item>One</item><item>Two</item></shop>"}


def later(covers, text, says, value, name=None, **more):
    """The same of what an answer holds, `${v}`."""
    takes = get("/value", regex("v", "(?s)(.+)"))
    named = name or f"later-{covers.strip('_').lower()}"
    return one_user(named, covers, says, takes, raw("POST", "/f", f"[{text}]"), answers={"/value": Answer(value)}, **more)


def function(covers, text, says, name=None, **more):
    """What `text` becomes is sent."""
    return one_user(name or f"function-{covers.strip('_').lower()}", covers, says, raw("POST", "/f", f"[{text}]"), **more)


CASES = [
    function("__P", "${__P(none)} ${__P(none,d)} ${__P(none,${__P(other,e)})} ${__P(empty,)}", "properties with defaults, also in each other"),
    function("__property", "${__property(none)} ${__property(none,,d)}", "properties that have their own name for a default"),
    function("__setProperty", "${__setProperty(a,1)}${__P(a)}", "a property that the plan sets"),
    Case(
        "properties-set-on-the-way",
        "__setProperty __P __property __isPropDefined",
        "a property that users set, and all others read",
        group(
            raw("POST", "/before", "${__P(token,none)} ${__property(token)} ${__property(token,,d)} ${__isPropDefined(token)}"),
            get("/login", regex("t", "t=(.*)")),
            raw("POST", "/set", "[${__setProperty(token,${t},true)}][${__setProperty(token,${t}x)}]"),
            raw("POST", "/own", "${__P(token,none)} ${__isPropDefined(token)} ${__isPropDefined(other)}"),
            loops=2,
        ),
        group(raw("POST", "/other", "${__P(token,none)}"), name="Others", threads=2),
        answers={"/login": [Answer("t=abc"), Answer("t=def")]},
        serialize_threadgroups=True,
    ),
    Case(
        "properties-of-scripts",
        "SetupThreadGroup JSR223Sampler __P",
        "properties that scripts of a group before the others set, and one that a user's script sets",
        group(
            bean("JSR223Sampler", "prepare", {"scriptLanguage": "groovy", "cacheKey": "true", "script": "props.put('a', 'one')\nprops.put('b', 'two')"}),
            kind="SetupThreadGroup",
            name="Before",
        ),
        group(
            raw("POST", "/first", "${__P(a)} ${__property(b)} ${__P(c,none)}"),
            bean("JSR223Sampler", "go on", {"scriptLanguage": "groovy", "cacheKey": "true", "script": "props.put('b', props.get('a') + '!')"}),
            raw("POST", "/second", "${__P(a)} ${__property(b)}"),
        ),
    ),
    function(
        "__V", "${__V(a)} ${__V(a${n})} ${__V(no)} ${__V(no,d)}", "a variable whose name is put together", variables={"a": "A", "a1": "A1", "n": "1"}
    ),
    function("__eval", "${__eval(x ${a} y)} ${__eval(${t})}", "texts in which variables stand", variables={"a": "A", "t": "<${a}>"}),
    function("__evalVar", "${__evalVar(t)}", "a variable in whose text variables stand", variables={"a": "A", "t": "<${a}>"}),
    function(
        "__UUID",
        "${__UUID}|${__UUID()}",
        "an identifier by chance",
        body=r"\[[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\|[-0-9a-f]{36}\]",
    ),
    function("__Random", "${__Random(1,6)} ${__Random(7,7)}", "a whole number by chance", loops=5, body=r"\[[1-6] 7\]"),
    function("__Random", "${__Random(5,6,dice)} ${dice}", "a number by chance that a variable keeps", name="random-kept", body=r"\[([56]) \1\]"),
    function("__RandomString", "${__RandomString(5,ab)}", "letters by chance", body=r"\[[ab]{5}\]"),
    function("__RandomDate", "${__RandomDate(,2024-01-01,2024-01-31,,)}", "a date by chance", body=r"\[2024-01-\d\d\]"),
    function(
        "__RandomFromMultipleVars",
        "${__RandomFromMultipleVars(a|b)}",
        "one of several variables by chance",
        body=r"\[(A|B)\]",
        variables={"a": "A", "b": "B"},
    ),
    function(
        "__time",
        "${__time} ${__time()} ${__time(/1000)} ${__time(yyyy-MM-dd)}",
        "times in milliseconds and seconds, and a date",
        body=rf"\[\d{{13}} \d{{13}} \d{{10}} {DATE}\]",
    ),
    function(
        "__time",
        "${__time(YMD)} ${__time(HH:mm)} ${__time(dd.MM.yyyy HH:mm:ss)} ${__time(/60000)}",
        "times in other forms",
        name="time-in-forms",
        body=r"\[\d{8} \d\d:\d\d \d\d\.\d\d\.\d{4} \d\d:\d\d:\d\d \d{8}\]",
    ),
    function("__timeShift", "${__timeShift(yyyy-MM-dd,2024-02-28,P2D,,)}", "a date and some days"),
    function("__dateTimeConvert", "${__dateTimeConvert(01212018,MMddyyyy,dd/MM/yyyy,)}", "a date in another form"),
    function(
        "__dateTimeConvert",
        "${__dateTimeConvert(05/03/2024,dd/MM/yyyy,yyyy-MM-dd HH:mm)}|${__dateTimeConvert(1700000000123,,yyyy-MM-dd)}",
        "a date in a form that wants a time of day, and milliseconds as a date",
        name="dates-without-a-time",
    ),
    Case("threadnum", "__threadNum", "the number of a user in its group", group(raw("POST", "/f", "${__threadNum}"), threads=2), view=in_any_order),
    function("__threadGroupName", "${__threadGroupName}", "the name of the group"),
    function("__samplerName", "${__samplerName()}", "the name of the sampler"),
    function("__TestPlanName", "${__TestPlanName}", "what the plan's file is called"),
    function("__counter", "${__counter(TRUE,)} ${__counter(FALSE,)}", "how often it was asked", loops=3),
    function("__intSum", "${__intSum(1,-2,${n})}", "sums", variables={"n": "4"}),
    function("__longSum", "${__longSum(9999999999,1)}", "sums of great numbers"),
    function("__split", "${__split(a|b||c,part,|)} ${part_2} ${part_3} ${part_n}", "the parts of a text as variables"),
    function("__regexFunction", "${__regexFunction(b(.),$1$,,,none,,text)}", "a match in a variable", variables={"text": "a1b2"}),
    function(
        "__regexFunction",
        "${__regexFunction((.)(\\d),<$2$$1$>,ALL,-,,m,text)} ${m} ${m_matchNr} ${m_g0} ${m_g2}",
        "all matches in a variable, with their groups",
        name="regexfunction-all",
        variables={"text": "a1b2c"},
    ),
    function(
        "__regexFunction",
        "${__regexFunction((.)(\\d),$1$,2,,,m,text)} ${m_g1} ${__regexFunction(x,$0$,,,no match,n,text)} ${n} ${n_matchNr} ${__regexFunction(\\d,$0$,9,,none,,text)}",
        "one of several matches in a variable, and none",
        name="regexfunction-places",
        variables={"text": "a1b2c"},
    ),
    function(
        "__regexFunction",
        "${__regexFunction(${letter}(\\d),$1$,RAND,,,,text)} ${__regexFunction(${letter}(\\d),$1$,0.5,,,,text)}",
        "a match by chance, and one in the middle",
        name="regexfunction-drawn",
        body=r"\[[12] 1\]",
        variables={"text": "a1a2", "letter": "a"},
    ),
    Case(
        "regexfunction-answer",
        "__regexFunction",
        "a match in the answer before",
        group(get("/page"), raw("POST", "/f", "[${__regexFunction(<b>(.*?)</b>,$1$,,,none)}]"), loops=2),
        answers={"/page": [Answer("<b>one</b>"), Answer("two")]},
    ),
    function(
        "__XPath",
        "${__XPath(shop.xml,//item)} ${__XPath(shop.xml,//item/@id)} ${__XPath(shop.xml,//item)}",
        "matches in a file, which places take in turns",
        name="xpath-in-turns",
        loops=2,
        files={"shop.xml": "<shop><item id='1'>One</item><item id='2'>Two</item><item id='3'>Three</item></shop>"},
    ),
    function(
        "__CSVRead",
        "${__CSVRead(rows.csv,0)} ${__CSVRead(rows.csv,1)}${__CSVRead(rows.csv,next)}",
        "columns of a file, row by row",
        loops=3,
        files=LINES,
    ),
    function("__StringFromFile", "${__StringFromFile(lines.txt)}", "a file line by line", loops=3, files=LINES),
    function("__FileToString", "${__FileToString(lines.txt)}", "a whole file", files=LINES),
    function("__StringToFile", "${__StringToFile(written.txt,text,false)}", "a file that is written"),
    function("__XPath", "${__XPath(shop.xml,//item/text())}", "a match in a file", loops=2, files=LINES),
    function("__char", "${__char(65,0x42,C)}", "letters by their codes"),
    function("__unescape", "${__unescape(a\\tb)}", "a text with its escapes carried out"),
    function("__unescapeHtml", "${__unescapeHtml(&lt;a&gt;)}", "HTML as text"),
    function("__escapeHtml", "${__escapeHtml(<a>)}", "text as HTML"),
    function("__escapeXml", "${__escapeXml(<a b='c'>)}", "text as XML"),
    function("__urlencode", "${__urlencode(a b&c/ü~*)}", "text as part of a URL"),
    function("__urlencode", "${__urlencode(${a})}", "a variable as part of a URL", name="urlencode-of-a-variable", variables={"a": "x y"}),
    function("__urldecode", "${__urldecode(a+b%26c)}", "part of a URL as text"),
    function("__escapeOroRegexpChars", "${__escapeOroRegexpChars([a.b],)}", "a text as an expression that finds it"),
    function(
        "__escapeOroRegexpChars",
        "${__escapeOroRegexpChars(<a b_ü>[${__threadNum}],)}",
        "a text that is known only on the way as an expression that finds it",
        name="escapeororegexpchars-on-the-way",
    ),
    function(
        "__changeCase", "${__changeCase(Ann lee,UPPER,)} ${__changeCase(Ann,LOWER,)} ${__changeCase(ann,CAPITALIZE,)}", "letters of either case"
    ),
    function("__digest", "${__digest(MD5,ok,,,)} ${__digest(SHA-256,ok,salt,true,)}", "sums of a text"),
    function("__machineName", "${__machineName()}", "what this machine is called"),
    function("__machineIP", "${__machineIP()}", "the address of this machine"),
    function("__isVarDefined", "${__isVarDefined(a)} ${__isVarDefined(no)}", "whether there is a variable", variables={"a": "A"}),
    function("__isPropDefined", "${__isPropDefined(port)} ${__isPropDefined(no)}", "whether there is a property"),
    function("__log", "${__log(text)}", "a text that is logged"),
    function("__logn", "${__logn(text)}", "a text that is only logged"),
    function("__groovy", '${__groovy(1 + 1)} ${__groovy(vars.get("a"))}', "an expression in Groovy", variables={"a": "A"}),
    function("__jexl2", "${__jexl2(1 + 1)}", "an expression in the older JEXL"),
    function("__jexl3", "${__jexl3(${n} + 1)}", "an expression in JEXL", variables={"n": "4"}),
    function("__javaScript", "${__javaScript(1 + 1)}", "an expression in JavaScript"),
    function("__BeanShell", "${__BeanShell(1 + 1)}", "an expression in BeanShell"),
    one_user(
        "predefined",
        "TestPlan",
        "when the test began",
        raw("POST", "/f", "${TESTSTART.MS}"),
        body=r"\d{13}",
        called="TESTSTART.MS",
    ),
    later("__P", "${__P(none,${v})}", "a default that an answer holds", "a b"),
    later("__property", "${__property(none,,${v})}", "a default that an answer holds", "a b"),
    later("__V", "${__V(v)} ${__V(none,${v})}", "a variable that an answer holds", "a b"),
    later("__eval", "${__eval(<${v}>)}", "a text with what an answer holds", "a b"),
    later("__evalVar", "${__evalVar(v)}", "a variable that an answer holds", "a b"),
    later("__Random", "${__Random(${v},${v})} ${__Random(${v},7,n)} ${n}", "a range that an answer holds", "7"),
    later("__RandomFromMultipleVars", "${__RandomFromMultipleVars(v|v,x)} ${x}", "variables that an answer holds", "a b"),
    later("__intSum", "${__intSum(${v},-2,n)} ${n}", "a sum of what an answer holds", "40"),
    later("__longSum", "${__longSum(${v},1)}", "a great sum of what an answer holds", "9999999999"),
    later("__split", "${__split(${v},part,|)} ${part_1} ${part_2} ${part_n}", "the parts of what an answer holds", "a|b||c"),
    later("__char", "${__char(${v},66)} ${__char(0x${v})}", "codes that an answer holds", "65"),
    later("__unescape", "${__unescape(${v})}", "escapes that an answer holds", r'a\tb\u0041\101 \"\q'),
    later("__unescapeHtml", "${__unescapeHtml(${v})}", "HTML that an answer holds", "&lt;a&gt; &amp; &#65;"),
    later("__escapeHtml", "${__escapeHtml(${v})}", "what an answer holds as HTML", "<a b=\"c\"> & 'd'"),
    later("__escapeXml", "${__escapeXml(${v})}", "what an answer holds as XML", "<a b=\"c\"> & 'd'"),
    later("__urlencode", "${__urlencode(${v})}", "what an answer holds as part of a URL", "a b&c/ü~*"),
    later("__urldecode", "${__urldecode(${v})}", "what an answer holds as text", "a+b%26c%C3%BC"),
    later("__changeCase", "${__changeCase(${v},UPPER,)} ${__changeCase(${v},LOWER,x)} ${x} ${__changeCase(${v},CAPITALIZE,)}", "letters of an answer", "ann Lee"),
    later("__digest", "${__digest(MD5,${v},,,)} ${__digest(SHA-256,x,${v},true,d)} ${d}", "sums of what an answer holds", "a b"),
    later("__isVarDefined", "${__isVarDefined(v)} ${__isVarDefined(w)}", "whether there is what an answer holds", "a"),
    later("__log", "${__log(${v})}${__logn(${v})}", "what an answer holds is logged", "a b"),
    later("__regexFunction", "${__regexFunction((.)b,$1$,,,none,,v)}", "a match in what an answer held", "a1b2b"),
    later("__timeShift", "${__timeShift(,${v},PT2S,,)}", "a time that an answer holds, and two seconds", "1700000000123"),
    later("__timeShift", "${__timeShift(yyyy-MM-dd,${v},P3D,,d)} ${d}", "a day that an answer holds, and three days", "2024-02-27", name="later-timeshift-of-a-day"),
    later(
        "__timeShift",
        "${__timeShift(yyyy-MM-dd,${v},P3D,,)}",
        "what an answer holds is no day: it is today",
        "soon",
        name="later-timeshift-of-no-day",
        body=rf"\[{DATE}\]",
    ),
    later(
        "__dateTimeConvert",
        "${__dateTimeConvert(${v},dd/MM/yyyy HH:mm,yyyy-MM-dd'T'HH:mm,d)} ${d} ${__dateTimeConvert(${v}x,dd/MM/yyyy,yyyy-MM-dd)}",
        "a time that an answer holds in another form, and what is none",
        "05/03/2024 17:30",
    ),
    later("__groovy", "${__groovy(vars.get('v') + 1)} ${__groovy('${v}'.length())}", "an expression about what an answer holds", "abc"),
    later("__jexl3", "${__jexl3(${v} + 1)} ${__jexl3(vars.get('v') == '41')}", "an expression about what an answer holds", "41"),
    later("__jexl2", "${__jexl2(${v} + 1)}", "an expression about what an answer holds", "41"),
    # `vars.get('v').length` without parentheses is there the method itself, and written as that.
    later(
        "__javaScript",
        "${__javaScript('${v}' + 1)} ${__javaScript('${v}'.length)} ${__javaScript(vars.get('v').length())} ${__javaScript('${v}'.toUpperCase())}",
        "an expression about what an answer holds",
        "abc",
    ),
    later("__BeanShell", '${__BeanShell(vars.get("v") + 1)}', "an expression about what an answer holds", "abc"),
    later("__counter", "${__counter(TRUE,c)} ${c} ${v}", "a count that a variable keeps", "a"),
    function("__P", "${__P(none,a\\,b)} ${__P( none , d )} ${__P(none,(a))}", "commas, spaces and brackets in arguments", name="arguments"),
]
