//! What JMeter hands to a script: its objects, what of each can be called here, and why the rest can not.

/// An object of JMeter, or one that only some things may be asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Object {
    Vars,
    Props,
    Log,
    Sample,
    Assertion,
    Context,
    Sampler,
    Arguments,
    Headers,
    ThreadGroup,
    Engine,
    Thread,
    Out,
    Event,
    File,
}

/// All of them.
#[cfg(test)]
pub(crate) const OBJECTS: &[Object] = &[
    Object::Vars,
    Object::Props,
    Object::Log,
    Object::Sample,
    Object::Assertion,
    Object::Context,
    Object::Sampler,
    Object::Arguments,
    Object::Headers,
    Object::ThreadGroup,
    Object::Engine,
    Object::Thread,
    Object::Out,
    Object::Event,
];

/// Names that a script finds, and the object behind each.
const NAMES: &[(&str, Object)] = &[
    ("vars", Object::Vars),
    ("props", Object::Props),
    ("log", Object::Log),
    ("prev", Object::Sample),
    ("SampleResult", Object::Sample),
    ("sampleResult", Object::Sample),
    ("Response", Object::Sample),
    ("AssertionResult", Object::Assertion),
    ("ctx", Object::Context),
    ("sampler", Object::Sampler),
    ("OUT", Object::Out),
    ("sampleEvent", Object::Event),
];

/// Names that a script finds, and the JavaScript that gives their value.
const VALUES: &[(&str, &str, bool)] = &[
    ("Parameters", "$text(host.parameters())", false),
    ("args", "$args()", false),
    ("Label", "host.label()", false),
    ("SampleLabel", "host.label()", false),
    ("FileName", "\"\"", false),
    ("threadName", "host.threadName()", false),
    ("ResponseData", "$prev.getResponseData()", true),
    ("data", "$prev.getResponseData()", true),
    ("ResponseCode", "$prev.getResponseCode()", true),
    ("ResponseMessage", "$prev.getResponseMessage()", true),
    ("ResponseHeaders", "$prev.getResponseHeaders()", true),
    ("RequestHeaders", "$prev.getRequestHeaders()", true),
    ("SamplerData", "$prev.getSamplerData()", true),
];

/// Variables of BeanShell whose values JMeter reads when the script is over.
pub(crate) const OUTCOMES: &[&str] = &["Failure", "FailureMessage", "IsSuccess", "ResponseCode", "ResponseMessage"];

pub(crate) fn object_named(name: &str) -> Option<Object> {
    NAMES.iter().find(|(found, _)| *found == name).map(|(_, object)| *object)
}

/// The JavaScript for such a name, and whether it is about the last answer.
pub(crate) fn value_named(name: &str) -> Option<(&'static str, bool)> {
    VALUES.iter().find(|(found, _, _)| *found == name).map(|(_, code, of_answer)| (*code, *of_answer))
}

impl Object {
    /// Its name in the JavaScript library.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Vars => "$vars",
            Self::Props => "$props",
            Self::Log => "$log",
            Self::Sample => "$prev",
            Self::Assertion => "$assertion",
            Self::Context => "$ctx",
            Self::Sampler => "$sampler",
            Self::Arguments => "$arguments",
            Self::Headers => "$headers",
            Self::ThreadGroup => "$group",
            Self::Engine => "$engine",
            Self::Thread => "$thread",
            Self::Out => "$out",
            Self::Event => "$event",
            Self::File => "$file",
        }
    }

    /// What people call it.
    pub(crate) fn shown(self) -> &'static str {
        match self {
            Self::Vars => "vars",
            Self::Props => "props",
            Self::Log => "log",
            Self::Sample => "prev",
            Self::Assertion => "AssertionResult",
            Self::Context => "ctx",
            Self::Sampler => "sampler",
            Self::Arguments => "sampler.getArguments()",
            Self::Headers => "sampler.getHeaderManager()",
            Self::ThreadGroup => "ctx.getThreadGroup()",
            Self::Engine => "ctx.getEngine()",
            Self::Thread => "ctx.getThread()",
            Self::Out => "OUT",
            Self::Event => "sampleEvent",
            Self::File => "File",
        }
    }

    /// What can be called, separated by spaces.
    pub(crate) fn methods(self) -> &'static str {
        match self {
            Self::Vars => "get put putObject getObject remove entrySet putAll getIteration getThreadName",
            Self::Props => "get put getProperty setProperty containsKey getOrDefault putIfAbsent remove",
            Self::Log => "info warn error debug trace isInfoEnabled isWarnEnabled isErrorEnabled isDebugEnabled isTraceEnabled",
            Self::Sample => {
                "getResponseDataAsString getResponseData getResponseCode isResponseCodeOK getResponseMessage isSuccessful getTime getLatency getConnectTime getStartTime getEndTime getTimeStamp getURL getUrlAsString getResponseHeaders getRequestHeaders getSamplerData getQueryString getSubResults getSampleLabel getThreadName getBytes getBytesAsLong getBodySize getBodySizeAsLong getContentType getMediaType getErrorCount getSampleCount getAssertionResults getRedirectLocation setSuccessful setResponseCode setResponseCodeOK setResponseMessage setResponseMessageOK setResponseOK setResponseData setIgnore setStopThread setStopTest setStopTestNow setStartNextThreadLoop setDataType setDataEncoding setContentType setEncodingAndType"
            }
            Self::Assertion => {
                "setFailure setError setFailureMessage isFailure isError getFailureMessage setResultForFailure setResultForNull getName"
            }
            Self::Context => {
                "getThreadNum getThreadGroup getVariables getProperties getPreviousResult getCurrentSampler getThread getEngine setStartNextThreadLoop"
            }
            Self::Sampler => {
                "getName getThreadName getMethod setMethod getPath setPath getUrl getDomain getPort getProtocol getQueryString addArgument addEncodedArgument addNonEncodedArgument getArguments setArguments getHeaderManager getPostBodyRaw setPostBodyRaw"
            }
            Self::Arguments => "getArgumentCount getArgument addArgument removeArgument removeAllArguments clear getArgumentsAsMap",
            Self::Headers => "add removeHeaderNamed getFirstHeaderNamed getHeader get size",
            Self::ThreadGroup => "getName",
            Self::Engine => "stopTest stopTestNow askThreadsToStop",
            Self::Thread => "getName getThreadName getId threadId stop getThreadNum",
            Self::Out => "println print printf",
            Self::Event => "getResult getThreadGroup",
            Self::File => "getText readLines eachLine exists getName",
        }
    }

    /// The object that a method gives.
    pub(crate) fn of(self, method: &str) -> Option<Self> {
        match (self, method) {
            (Self::Context, "getVariables") => Some(Self::Vars),
            (Self::Context, "getProperties") => Some(Self::Props),
            (Self::Context, "getPreviousResult") | (Self::Event, "getResult") => Some(Self::Sample),
            (Self::Context, "getCurrentSampler") => Some(Self::Sampler),
            (Self::Sampler, "getArguments") => Some(Self::Arguments),
            (Self::Sampler, "getHeaderManager") => Some(Self::Headers),
            (Self::Context, "getThreadGroup") => Some(Self::ThreadGroup),
            (Self::Context, "getThread") => Some(Self::Thread),
            (Self::Context, "getEngine") => Some(Self::Engine),
            _ => None,
        }
    }

    /// Why a method is not there.
    pub(crate) fn reason(self, method: &str) -> &'static str {
        match (self, method) {
            (Self::Sampler, "setDomain" | "setPort" | "setProtocol" | "setServer") => {
                "a request goes where its sampler says; put the server into a variable that the sampler names"
            }
            (Self::Sampler, "setName") => "requests keep their names here; name the sampler `${variable}` and set the variable before it",
            (Self::Sampler | Self::Arguments | Self::Headers, _) => {
                "of the next request, method, path, arguments, body and headers are seen and changed by scripts here; put other values into variables that it names"
            }
            (Self::Sample, "setSampleLabel") => {
                "requests keep their names here; name the sampler `${variable}` and set the variable before it"
            }
            (Self::Sample, "setStartTime" | "setEndTime" | "sampleStart" | "sampleEnd" | "setLatency" | "samplePause" | "sampleResume") => {
                "times are measured and not set here"
            }
            (Self::Sample, "addSubResult" | "storeSubResult" | "addRawSubResult") => "an answer has no parts here",
            (Self::Sample, _) => "this is not known of an answer here",
            (Self::Vars, _) => "variables are read by `get`, set by `put` and taken away by `remove`",
            (Self::Props, _) => "properties are read by `get` and set by `put`",
            (Self::Engine | Self::ThreadGroup, _) => "how a test is carried out is not changed by scripts here, but for ending it",
            (Self::Thread, "sleep") => "pauses are timers of the plan",
            (Self::File, _) => "files are only read by scripts here, by a fixed name: `new File(\"its name\").text`",
            _ => "this is not known here",
        }
    }

    pub(crate) fn knows(self, method: &str) -> bool {
        self.methods().split(' ').any(|known| known == method)
    }

    /// What a method has to do with the next request: nothing, or whether it looks at it.
    pub(crate) fn uses_request(self, method: &str, is_named: bool) -> Option<bool> {
        match (self, method) {
            (Self::Sampler, "getName" | "getThreadName" | "getArguments" | "getHeaderManager" | "setPostBodyRaw") => None,
            (Self::Sampler, "setPath" | "setMethod") | (Self::Headers, "add" | "removeHeaderNamed") => Some(false),
            // One without a name is the body, or a part of it.
            (Self::Sampler, "addArgument" | "addEncodedArgument") => Some(!is_named),
            (Self::Sampler | Self::Arguments | Self::Headers, _) => Some(true),
            _ => None,
        }
    }

    /// The method behind a property: `prev.responseCode`.
    pub(crate) fn getter(self, property: &str) -> Option<String> {
        ["get", "is"].iter().map(|prefix| accessor(prefix, property)).find(|method| self.knows(method))
    }

    pub(crate) fn setter(self, property: &str) -> Option<String> {
        Some(accessor("set", property)).filter(|method| self.knows(method))
    }
}

/// `get` and `responseCode` as `getResponseCode`.
pub(crate) fn accessor(prefix: &str, property: &str) -> String {
    let mut letters = property.chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    format!("{prefix}{first}{}", letters.as_str())
}
