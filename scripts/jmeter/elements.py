"""Elements of a test plan, written as JMeter writes them.

What is most common in plans has a short function here; any other element is `element(tag, gui, name, properties, *children)`.
"""

from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">\n'


@dataclass
class Element:
    """An element and what stands in it; `gui` is the page on which JMeter shows it."""

    tag: str
    gui: str
    name: str
    properties: dict
    children: tuple = ()
    enabled: bool = True

    def written(self):
        """The element, and the tree of its children behind it."""
        known = {"guiclass": self.gui, "testclass": self.tag, "testname": self.name} | ({} if self.enabled else {"enabled": "false"})
        inner = "".join(child.written() for child in self.children)
        tree = f"<hashTree>\n{inner}</hashTree>\n" if inner else "<hashTree/>\n"
        return tagged(self.tag, known, "".join(all_written(self.properties))) + tree


@dataclass
class Own:
    """A property with properties of its own."""

    kind: str
    properties: dict
    gui: str = ""
    name: str = ""


@dataclass
class Double:
    """A number that JMeter keeps as one; `tag` is FloatProperty in older elements."""

    value: float
    tag: str = "doubleProp"


def tagged(tag, attributes, inner):
    known = "".join(f" {name}={quoteattr(str(value))}" for name, value in attributes.items())
    return f"<{tag}{known}>{inner}</{tag}>\n" if inner else f"<{tag}{known}/>\n"


def all_written(properties):
    return (written(name, value) for name, value in properties.items())


def written(name, value):
    """A property as its kind of value is written."""
    if isinstance(value, bool):
        return tagged("boolProp", {"name": name}, str(value).lower())
    if isinstance(value, int):
        return tagged("intProp", {"name": name}, str(value))
    if isinstance(value, Double):
        inner = "".join(tagged(tag, {}, str(text)) for tag, text in [("name", name), ("value", value.value), ("savedValue", 0.0)])
        return tagged(value.tag, {}, inner)
    if isinstance(value, Own):
        known = {"name": name, "elementType": value.kind} | ({"testname": value.name} if value.name else {})
        known |= {"guiclass": value.gui, "testclass": value.kind} if value.gui else {}
        return tagged("elementProp", known, "".join(all_written(value.properties)))
    if isinstance(value, list):
        return tagged("collectionProp", {"name": name}, "".join(written(name_in_list(item), item) for item in value))
    return tagged("stringProp", {"name": name}, escape(value))


def name_in_list(item):
    """What JMeter calls an item of a list: by its own name, or by the hash that Java makes of its text."""
    if isinstance(item, Own):
        return item.name or next((text for name, text in item.properties.items() if name.endswith("name")), "")
    text = item if isinstance(item, str) else str(item)
    code = 0
    for letter in text:
        code = (31 * code + ord(letter)) & 0xFFFFFFFF
    return str(code - (1 << 32) if code >> 31 else code)


def element(tag, gui, name, properties, *children):
    return Element(tag, gui, name, properties, children)


def bean(tag, name, properties, *children):
    """One of the elements that show themselves."""
    return Element(tag, "TestBeanGUI", name, properties, children)


def off(switched):
    """The same, switched off."""
    switched.enabled = False
    return switched


# The plan and its groups.


def plan(*children, name="Plan", variables=None, **more):
    properties = {f"TestPlan.{key}": value for key, value in {"functional_mode": False, "serialize_threadgroups": False, **more}.items()}
    properties["TestPlan.user_defined_variables"] = Own("Arguments", listed(variables or {}), "ArgumentsPanel")
    whole = Element("TestPlan", "TestPlanGui", name, properties, (defaults(domain="127.0.0.1", port="${__P(port)}"), *children))
    return f"{HEAD}<hashTree>\n{whole.written()}</hashTree>\n</jmeterTestPlan>\n"


def group(*children, kind="ThreadGroup", name="Users", threads=1, loops=1, ramp=0, on_error="continue", **more):
    """A thread group; `more` are further settings of ThreadGroup by the ends of their names."""
    main = {"LoopController.loops": loops if loops == -1 else str(loops), "LoopController.continue_forever": False}
    properties = {
        "ThreadGroup.main_controller": Own("LoopController", main, "LoopControlPanel"),
        "ThreadGroup.num_threads": threads if isinstance(threads, int) else str(threads),
        "ThreadGroup.ramp_time": ramp,
        "ThreadGroup.same_user_on_next_iteration": True,
        "ThreadGroup.on_sample_error": on_error,
    }
    return Element(kind, f"{kind}Gui", name, properties | {f"ThreadGroup.{key}": value for key, value in more.items()}, children)


# Requests.


def argument(name, value, encode=False, equals=True, **more):
    """A field of a query or a form."""
    of = {"HTTPArgument.always_encode": encode, "Argument.value": value, "Argument.metadata": "=", "HTTPArgument.use_equals": equals}
    return Own("HTTPArgument", of | {f"HTTPArgument.{key}": text for key, text in more.items()} | {"Argument.name": name})


def file(path, name="", kind=""):
    return Own("HTTPFileArg", {"File.mimetype": kind, "File.path": path, "File.paramname": name})


def fields_of(arguments, files):
    properties = {"HTTPsampler.Arguments": Own("Arguments", {"Arguments.arguments": arguments}, "HTTPArgumentsPanel")}
    if files:
        properties["HTTPsampler.Files"] = Own("HTTPFileArgs", {"HTTPFileArgs.files": files})
    return properties


def settings_of(more):
    """Settings of HTTPSampler by the ends of their names."""
    return {f"HTTPSampler.{name}": value for name, value in more.items()}


def request(method, path, *children, name=None, tag="HTTPSamplerProxy", arguments=(), files=(), **more):
    common = {"method": method, "path": path, "follow_redirects": True, "use_keepalive": True, "postBodyRaw": False}
    return Element(
        tag, "HttpTestSampleGui", path if name is None else name, settings_of(common | more) | fields_of(list(arguments), list(files)), children
    )


def get(path, *children, **more):
    return request("GET", path, *children, **more)


def raw(method, path, *bodies, kind="text/plain", children=(), **more):
    """A request whose body is as it is written, of this type."""
    typed = [headers(("Content-Type", kind))] if kind else []
    return request(method, path, *typed, *children, arguments=[argument("", body) for body in bodies], **({"postBodyRaw": True} | more))


def defaults(arguments=(), **more):
    return Element("ConfigTestElement", "HttpDefaultsGui", "HTTP Request Defaults", settings_of(more) | fields_of(list(arguments), []))


def headers(*pairs):
    listed_headers = [Own("Header", {"Header.name": name, "Header.value": value}) for name, value in pairs]
    return Element("HeaderManager", "HeaderPanel", "HTTP Header Manager", {"HeaderManager.headers": listed_headers})


def cookie_manager(*cookies_written, clear=False, **more):
    cookies = [
        Own("Cookie", {"Cookie.value": value, "Cookie.domain": "127.0.0.1", "Cookie.path": "/", "Cookie.secure": False}, name=name)
        for name, value in cookies_written
    ]
    of = {"cookies": cookies, "clearEachIteration": clear, "controlledByThreadGroup": False, **more}
    return Element("CookieManager", "CookiePanel", "HTTP Cookie Manager", {f"CookieManager.{key}": value for key, value in of.items()})


def logins(*entries):
    """An authorization manager of (URL, user, password, mechanism)."""
    found = [
        Own("Authorization", dict(zip([f"Authorization.{key}" for key in ("url", "username", "password", "mechanism")], entry)) | EMPTY_LOGIN)
        for entry in entries
    ]
    properties = {"AuthManager.auth_list": found, "AuthManager.controlledByThreadGroup": False}
    return Element("AuthManager", "AuthPanel", "HTTP Authorization Manager", properties)


EMPTY_LOGIN = {"Authorization.domain": "", "Authorization.realm": ""}


# What gives variables their values.


def listed(values):
    """Variables as a list of arguments."""
    of = [{"Argument.name": name, "Argument.value": value, "Argument.metadata": "="} for name, value in values.items()]
    return {"Arguments.arguments": [Own("Argument", one) for one in of]}


def variables(**values):
    return Element("Arguments", "ArgumentsPanel", "User Defined Variables", listed(values))


def data_file(filename, names="", skip=False, **more):
    common = {"delimiter": ",", "fileEncoding": "", "filename": filename, "ignoreFirstLine": skip, "quotedData": False, "recycle": True}
    return bean("CSVDataSet", "CSV Data Set Config", common | {"shareMode": "shareMode.all", "stopThread": False, "variableNames": names} | more)


def counter(name, start="1", end="", step="1", form="", per_user=True, **more):
    of = {"start": start, "end": end, "incr": step, "name": name, "format": form, "per_user": per_user, **more}
    return Element("CounterConfig", "CounterConfigGui", "Counter", {f"CounterConfig.{key}": value for key, value in of.items()})


def random_variable(name, low, high, form="", per_thread=True):
    of = {"maximumValue": high, "minimumValue": low, "outputFormat": form, "perThread": per_thread, "randomSeed": "", "variableName": name}
    return bean("RandomVariableConfig", "Random Variable", of)


def user_parameters(names, *values, per_iteration=False):
    of = {"names": list(names), "thread_values": [list(one) for one in values], "per_iteration": per_iteration}
    return Element("UserParameters", "UserParametersGui", "User Parameters", {f"UserParameters.{key}": value for key, value in of.items()})


# Controllers.


def simple(*children, name="Simple Controller"):
    return Element("GenericController", "LogicControllerGui", name, {}, children)


def loop(times, *children, name="Loop Controller", again=True):
    """`again`: it can be entered more than once, as JMeter writes all but the loops of groups."""
    properties = {"LoopController.continue_forever": again, "LoopController.loops": times if times == -1 else str(times)}
    return Element("LoopController", "LoopControlPanel", name, properties, children)


def when(condition, *children, expression=True, each=False):
    properties = {"IfController.condition": condition, "IfController.evaluateAll": each, "IfController.useExpression": expression}
    return Element("IfController", "IfControllerPanel", "If Controller", properties, children)


def repeat_while(condition, *children, name="While Controller"):
    return Element("WhileController", "WhileControllerGui", name, {"WhileController.condition": condition}, children)


def transaction(*children, parent=False, timers=False, name="Transaction Controller"):
    properties = {"TransactionController.includeTimers": timers, "TransactionController.parent": parent}
    return Element("TransactionController", "TransactionControllerGui", name, properties, children)


def once(*children):
    return Element("OnceOnlyController", "OnceOnlyControllerGui", "Once Only Controller", {}, children)


def interleave(*children, style=0, across=False):
    properties = {"InterleaveControl.style": style, "InterleaveControl.accrossThreads": across}
    return Element("InterleaveControl", "InterleaveControlGui", "Interleave Controller", properties, children)


def one_of(*children, style=0):
    return Element("RandomController", "RandomControlGui", "Random Controller", {"InterleaveControl.style": style}, children)


def shuffled(*children):
    return Element("RandomOrderController", "RandomOrderControllerGui", "Random Order Controller", {}, children)


def share(*children, percent=None, times=None, per_user=False):
    properties = {
        "ThroughputController.style": 1 if times is None else 0,
        "ThroughputController.perThread": per_user,
        "ThroughputController.maxThroughput": 1 if times is None else times,
        "ThroughputController.percentThroughput": Double(percent or 100.0, "FloatProperty"),
    }
    return Element("ThroughputController", "ThroughputControllerGui", "Throughput Controller", properties, children)


def run_for(seconds, *children):
    return Element("RunTime", "RunTimeGui", "Runtime Controller", {"RunTime.seconds": str(seconds)}, children)


def for_each(source, name, *children, separator=True, **ends):
    """`ends` are startIndex and endIndex, which JMeter writes only if they are given."""
    of = {"inputVal": source, "returnVal": name, "useSeparator": separator, **ends}
    properties = {f"ForeachController.{key}": value for key, value in of.items()}
    return Element("ForeachController", "ForeachControlPanel", "ForEach Controller", properties, children)


def switch(value, *children):
    return Element("SwitchController", "SwitchControllerGui", "Switch Controller", {"SwitchController.value": value}, children)


def include(path):
    return Element("IncludeController", "IncludeControllerGui", "Include Controller", {"IncludeController.includepath": path})


def module(*path):
    """What stands there in the tree, from the plan's name on."""
    return Element("ModuleController", "ModuleControllerGui", "Module Controller", {"ModuleController.node_path": ["Test Plan", *path]})


def fragment(*children, name="Fragment"):
    return Element("TestFragmentController", "TestFragmentControllerGui", name, {}, children)


def critical(lock, *children):
    properties = {"CriticalSectionController.lockName": lock}
    return Element("CriticalSectionController", "CriticalSectionControllerGui", "Critical Section Controller", properties, children)


def action(which, *children, milliseconds="0", test=False):
    of = {"action": which, "target": 2 if test else 0, "duration": milliseconds}
    return Element("TestAction", "TestActionGui", "Flow Control Action", {f"ActionProcessor.{key}": value for key, value in of.items()}, children)


STOP, PAUSE, STOP_NOW, NEXT_ITERATION, NEXT_OF_LOOP, LEAVE_LOOP = range(6)


# Timers.


def timer(milliseconds):
    return Element("ConstantTimer", "ConstantTimerGui", "Constant Timer", {"ConstantTimer.delay": milliseconds})


def random_timer(kind, offset, spread):
    properties = {"ConstantTimer.delay": offset, "RandomTimer.range": spread}
    return Element(f"{kind}RandomTimer", f"{kind}RandomTimerGui", f"{kind} Random Timer", properties)


# What is taken out of answers, and what they are held against.


def regex(name, expression, **more):
    of = {"useHeaders": "false", "refname": name, "regex": expression, "template": "$1$", "default": "none", "match_number": "1"} | more
    scope = {"Sample.scope": of.pop("scope"), "Scope.variable": of.pop("variable", "")} if "scope" in of else {}
    properties = {f"RegexExtractor.{key}": value for key, value in of.items()}
    return Element("RegexExtractor", "RegexExtractorGui", "Regular Expression Extractor", properties | scope)


def json_path(names, paths, numbers="1", default="none", **more):
    of = {"referenceNames": names, "jsonPathExprs": paths, "match_numbers": numbers, "defaultValues": default, **more}
    properties = {f"JSONPostProcessor.{key}": value for key, value in of.items()}
    return Element("JSONPostProcessor", "JSONPostProcessorGui", "JSON Extractor", properties)


def between(name, left, right, **more):
    of = {"useHeaders": "false", "refname": name, "lboundary": left, "rboundary": right, "default": "none", "match_number": "1"} | more
    properties = {f"BoundaryExtractor.{key}": value for key, value in of.items()}
    return Element("BoundaryExtractor", "BoundaryExtractorGui", "Boundary Extractor", properties)


def css(name, expression, attribute="", number="1", **more):
    of = {"refname": name, "expr": expression, "attribute": attribute, "default": "none", "match_number": number, "extractor_impl": "", **more}
    return Element("HtmlExtractor", "HtmlExtractorGui", "CSS Selector Extractor", {f"HtmlExtractor.{key}": value for key, value in of.items()})


def xpath(name, query, number="-1", **more):
    of = {"default": "none", "refname": name, "matchNumber": number, "xpathQuery": query, "validate": False, "tolerant": False, "namespace": False}
    properties = {f"XPathExtractor.{key}": value for key, value in (of | more).items()}
    return Element("XPathExtractor", "XPathExtractorGui", "XPath Extractor", properties)


def xpath2(name, query, number="0", **more):
    of = {"default": "none", "refname": name, "matchNumber": number, "xpathQuery": query, "namespaces": "", **more}
    properties = {f"XPathExtractor2.{key}": value for key, value in of.items()}
    return Element("XPath2Extractor", "XPath2ExtractorGui", "XPath2 Extractor", properties)


MATCHES, CONTAINS, NOT, EQUALS, SUBSTRING, OR = 1, 2, 4, 8, 16, 32


def response(way, *patterns, field="response_data", assume=False, scope=None):
    properties = {
        "Asserion.test_strings": list(patterns),
        "Assertion.custom_message": "",
        "Assertion.test_field": f"Assertion.{field}",
        "Assertion.assume_success": assume,
        "Assertion.test_type": way,
    } | ({"Assertion.scope": scope} if scope else {})
    return Element("ResponseAssertion", "AssertionGui", "Response Assertion", properties)


def json_assertion(path, expected=None, is_regex=False, null=False, invert=False):
    properties = {"JSON_PATH": path, "EXPECTED_VALUE": expected or "", "JSONVALIDATION": expected is not None or null}
    properties |= {"EXPECT_NULL": null, "INVERT": invert, "ISREGEX": is_regex}
    return Element("JSONPathAssertion", "JSONPathAssertionGui", "JSON Assertion", properties)
