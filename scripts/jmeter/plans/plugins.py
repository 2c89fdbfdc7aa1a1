"""Groups, timers, controllers and functions of plugins that many plans have."""

from cases import Case, counted, in_any_order, one_user
from elements import *

from plans.functions import later as later_on

CASUTG = "com.blazemeter.jmeter.threads"
KG = "kg.apc.jmeter"


def plugin_group(tag, properties, *children, controller="VirtualUserController"):
    """A group of a plugin, and what its users go through without an end."""
    if controller == "LoopController":
        main = Own("LoopController", {"LoopController.continue_forever": False, "LoopController.loops": -1}, "LoopControlPanel")
    else:
        main = Own(f"com.blazemeter.jmeter.control.{controller}", {})
    whole = {"ThreadGroup.main_controller": main, "ThreadGroup.on_sample_error": "continue", **properties}
    return Element(tag, f"{tag}Gui", tag.rsplit(".", 1)[-1], whole, children)


def target(level, hold, ramp="0", steps="", **more):
    return {"TargetLevel": level, "RampUp": ramp, "Steps": steps, "Hold": hold, "LogFilename": "", "Iterations": "", "Unit": "S", **more}


def rows(*listed_rows):
    return [[str(number) for number in row] for row in listed_rows]


def shaping(*schedule):
    return Element(f"{KG}.timers.VariableThroughputTimer", f"{KG}.timers.VariableThroughputTimerGui", "Shaping", {"load_profile": rows(*schedule)})


def function(covers, text, says, name=None, **more):
    return one_user(name or f"plugin-{covers.strip('_').lower()}", covers, says, raw("POST", "/f", f"[{text}]"), **more)


def later(covers, *more, **settings):
    return later_on(covers, *more, name=f"plugin-later-{covers.strip('_').lower()}", **settings)


def weighted(rows, *children, random=False):
    """Parts of a controller, with name, weight and whether each is there."""
    weights = [[name, str(weight), str(on).lower()] for name, weight, on in rows]
    kind = "com.blazemeter.jmeter.control.WeightedSwitchController"
    return Element(kind, f"{kind}Gui", "Weighted Switch Controller", {"Weights": weights, "IsRandomChoice": random}, children)


CASES = [
    Case(
        "group-of-so-many-at-once",
        "ConcurrencyThreadGroup",
        "two users for a second, each with a pause before its request",
        plugin_group(f"{CASUTG}.concurrency.ConcurrencyThreadGroup", target("2", "1"), get("/a", timer("200"))),
        view=counted({"/a": (7, 12)}),
    ),
    Case(
        "group-in-steps",
        "SteppingThreadGroup",
        "two users, one after the other",
        plugin_group(
            f"{KG}.threads.SteppingThreadGroup",
            {
                "ThreadGroup.num_threads": "2",
                "Threads initial delay": "0",
                "Start users count": "1",
                "Start users count burst": "0",
                "Start users period": "1",
                "Stop users count": "2",
                "Stop users period": "1",
                "flighttime": "1",
                "rampUp": "0",
            },
            get("/a", timer("200")),
            controller="LoopController",
        ),
        view=counted({"/a": (11, 18)}),
    ),
    Case(
        "group-of-slopes",
        "UltimateThreadGroup",
        "slopes of users that lie over each other",
        plugin_group(
            f"{KG}.threads.UltimateThreadGroup",
            {"ultimatethreadgroupdata": rows((1, 0, 0, 2, 0), (1, 1, 0, 1, 0))},
            get("/a", timer("200")),
            controller="LoopController",
        ),
        view=counted({"/a": (11, 18)}),
    ),
    Case(
        "group-of-arrivals",
        "ArrivalsThreadGroup",
        "users who come at a rate",
        plugin_group(f"{CASUTG}.arrivals.ArrivalsThreadGroup", target("6", "1", ConcurrencyLimit=""), get("/a")),
        view=counted({"/a": (4, 8)}),
    ),
    Case(
        "group-of-arrivals-in-a-table",
        "FreeFormArrivalsThreadGroup",
        "users who come at rates that a table says",
        plugin_group(
            f"{CASUTG}.arrivals.FreeFormArrivalsThreadGroup",
            {"Schedule": rows((5, 5, 1), (5, 15, 1)), "LogFilename": "", "Iterations": "", "ConcurrencyLimit": "", "Unit": "S"},
            get("/a"),
        ),
        view=counted({"/a": (12, 18)}),
    ),
    Case(
        "at-the-same-time",
        "ParallelSampler",
        "requests at the same time, and what follows them",
        group(
            Element(
                "com.blazemeter.jmeter.controller.ParallelSampler",
                "com.blazemeter.jmeter.controller.ParallelControllerGui",
                "Parallel",
                {"MAX_THREAD_NUMBER": "6", "PARENT_SAMPLE": False, "LIMIT_MAX_THREAD_NUMBER": False},
                (get("/a"), get("/b"), get("/c")),
            ),
            get("/behind"),
            loops=2,
        ),
        view=in_any_order,
    ),
    Case(
        "a-schedule-of-requests",
        "VariableThroughputTimer",
        "so many requests in each second of the test, which ends with the schedule",
        shaping((10, 10, 1), (10, 20, 1)),
        group(get("/a"), threads=10, loops=-1),
        view=counted({"/a": (18, 48)}),
    ),
    one_user(
        "parts-by-weight",
        "WeightedSwitchController",
        "one part each time, in turns by their weights",
        weighted([("a", 5, True), ("off", 9, False), ("b", 3, True), ("c", 2, True)], get("/a"), off(get("/off")), simple(get("/b"), get("/b2")), transaction(get("/c"))),
        get("/after"),
        loops=12,
    ),
    one_user(
        "parts-by-weight-in-a-loop",
        "WeightedSwitchController LoopController",
        "turns that go on from round to round and from iteration to iteration",
        loop(3, weighted([("a", 1, True), ("b", "${b}", True), ("c", 2, True)], get("/a"), get("/b"), loop(2, get("/c")))),
        loops=2,
        variables={"b": "1"},
    ),
    Case(
        "parts-by-weight-and-chance",
        "WeightedSwitchController",
        "one part each time, by chance and their weights",
        group(weighted([("a", 70, True), ("b", 30, True)], get("/a"), get("/b"), random=True), loops=200),
        view=counted({"/a": (110, 170), "/b": (30, 90)}, 200),
    ),
    function("__base64Encode", "${__base64Encode(ab c)}", "a text in base64"),
    function("__base64Decode", "${__base64Decode(YWIgYw==)}", "what stands in base64"),
    function("__strLen", "${__strLen(ab c)}", "how long a text is"),
    function("__substring", "${__substring(abcdef,1,3)}", "a part of a text"),
    function("__strReplace", "${__strReplace(a-b-c,-,+,r)} ${r}", "a text with others in it"),
    # Its plugin has two classes of this name, and the one that looks for a regular expression is what JMeter takes.
    function("__strReplace", "${__strReplace(a1b22c,[0-9]+,#,r)} ${r}", "a text with others where a pattern is found", name="plugin-strreplace-by-patterns"),
    function(
        "__strReplace",
        "${__strReplace(id=${__threadNum}\\, n=18,(\\w+)=(\\d+),$2=$1,r)} ${r} ${__strReplace(a1b2,${__threadNum}.,<$0${__threadNum}>)}",
        "texts, patterns and what takes their place that are known only on the way",
        name="plugin-strreplace-on-the-way",
    ),
    later("__base64Encode", "${__base64Encode(${v},x)} ${x}", "what an answer holds in base64", "ab c"),
    later("__base64Decode", "${__base64Decode(${v},x)} ${x}", "what stands in base64 in an answer", "YWIgYw=="),
    later("__strLen", "${__strLen(${v},n)} ${n}", "how long what an answer holds is", "ab ü"),
    later("__substring", "${__substring(${v},1,3,x)} ${x}", "a part of what an answer holds", "abcdef"),
    later("__strReplace", "${__strReplace(${v},-,+,r)} ${r}", "what an answer holds with others in it", "a-b-c"),
    later("__chooseRandom", "${__chooseRandom(${v},${v},x)} ${x}", "one of several texts that an answer holds", "a b"),
    later("__MD5", "${__MD5(${v},x)} ${x}", "a digest of what an answer holds", "a b"),
    later("__isDefined", "${__isDefined(v)}", "whether there is what an answer holds", "a"),
    later("__if", "${__if(${v},1,yes,no,r)} ${r} ${__if(${v},2,<${v}>,no)}", "one text or another by what an answer holds", "2"),
    later("__uppercase", "${__uppercase(${v},x)} ${x}", "what an answer holds in capital letters", "ab ü"),
    later("__lowercase", "${__lowercase(${v},x)} ${x}", "what an answer holds in small letters", "AB Ü"),
    later("__doubleSum", "${__doubleSum(1.5,${v},r)} ${r}", "a sum of what an answer holds", "2.25"),
    later("__env", "${__env(NO_SUCH_VARIABLE,,${v})}", "a default that an answer holds", "a b"),
    function("__chooseRandom", "${__chooseRandom(a,b,x)}", "one of several texts by chance", body=r"\[[ab]\]"),
    function("__MD5", "${__MD5(abc)}", "a digest"),
    function("__env", "${__env(HOME)} ${__env(HOME,home)} ${home}", "a variable of the environment"),
    function("__env", "${__env(NO_SUCH_VARIABLE,v,d)} ${v}", "a variable that is not in the environment", name="plugin-env-default"),
    function("__isDefined", "${__isDefined(a)} ${__isDefined(b)}", "whether a variable is there", variables={"a": "1"}),
    function("__iterationNum", "${__iterationNum}", "the number of the iteration", loops=2),
    function("__if", "${__if(${a},1,yes,no,r)} ${__if(${a},2,yes,no)}", "one text or another", variables={"a": "1"}),
    function("__uppercase", "${__uppercase(ab c)}", "a text in capital letters"),
    function("__lowercase", "${__lowercase(AB C)}", "a text in small letters"),
    function("__doubleSum", "${__doubleSum(1.5,2.25,r)} ${r}", "a sum"),
    function("__caseFormat", "${__caseFormat(ab cd,UPPER_CAMEL_CASE)} ${__caseFormat(ab cd,kebab-case)}", "words in other forms"),
    function(
        "__caseFormat",
        "${__caseFormat(Ab  cd_${__threadNum} ,kebab_case)} ${__caseFormat( ab ${__threadNum},UPPER_UNDERSCORE,r)} ${r} ${__caseFormat(_ab - Cd_)}",
        "words that are known only on the way, and what stands around words",
        name="plugin-caseformat-on-the-way",
    ),
]
