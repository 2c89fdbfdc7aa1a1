// What JMeter hands to scripts, over the global object `host`.

function $print(...values) { host.log("info", values.map($text).join(" ")); return null; }

// A variable that JMeter would have put into the script; as it stands where it has no value.
function $ref(name) { const value = host.get(name); return value === null || value === undefined ? "${" + name + "}" : value; }

function $property(name, otherwise) { const value = host.getProperty(name); return value === null || value === undefined ? otherwise : value; }

function $args() { const text = host.parameters(); return text === null || text === undefined || text.trim() === "" ? [] : text.trim().split(/\s+/); }

// An object by its name, as vars holds it beside texts.
const $vars = {
  get(name) {
    name = $text(name);
    const value = host.get(name);
    return value === null || value === undefined ? null : value;
  },
  put(name, value) {
    if (value === null || value === undefined) host.remove($text(name));
    else host.put($text(name), $text(value));
    return null;
  },
  getObject(name) {
    name = $text(name);
    return Object.hasOwn(host.objects, name) ? $null(host.objects[name]) : this.get(name);
  },
  putObject(name, value) {
    name = $text(name);
    if (typeof value === "string") { delete host.objects[name]; host.put(name, value); } else host.objects[name] = value;
    return null;
  },
  remove(name) {
    name = $text(name);
    const old = this.getObject(name);
    delete host.objects[name];
    host.remove(name);
    return old;
  },
  entrySet() { return host.names().map((name) => new $Entry(null, name, this.get(name))); },
  putAll(map) { for (const [key, value] of map) this.put(key, value); return null; },
  getIteration() { return host.iteration(); },
  getThreadName() { return host.threadName(); },
};

// What is no text is kept as JSON under a name of its own, since every user's script has its own values.
const $KEPT = "\u0001";

function $kept(value) {
  if (value instanceof $Atomic) throw $error("UnsupportedOperationException", "props.put of a counter: numbers that all users share are not counted by scripts here; use a Counter");
  if (value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Map) && !(value instanceof Set)) throw $error("UnsupportedOperationException", `props.put of a ${$kind(value)}: only texts, numbers, lists and maps are shared`);
  return $toJson(value, true);
}

function $frozen(value) {
  if (Array.isArray(value)) { value.forEach($frozen); return Object.freeze(value); }
  if (value instanceof Map) {
    for (const item of value.values()) $frozen(item);
    const refuse = () => { throw $error("UnsupportedOperationException", "what props hold is not changed in place: put it anew"); };
    return Object.assign(value, { set: refuse, delete: refuse, clear: refuse });
  }
  return value;
}

const $props = {
  get(name, otherwise) {
    name = $text(name);
    const value = host.getProperty(name);
    if (value !== null && value !== undefined) return value;
    const kept = host.getProperty($KEPT + name);
    return kept !== null && kept !== undefined && kept !== "" ? $frozen($parseJson(kept)) : otherwise === undefined ? null : otherwise;
  },
  put(name, value) {
    name = $text(name);
    const old = this.get(name);
    const is_text = typeof value === "string";
    if (!is_text) host.setProperty(name, null);
    if (!is_text || host.getProperty($KEPT + name)) host.setProperty($KEPT + name, is_text ? "" : $kept(value));
    if (is_text) host.setProperty(name, value);
    return old;
  },
  getProperty(name, otherwise) { const value = this.get(name); return typeof value === "string" ? value : otherwise === undefined ? null : otherwise; },
  setProperty(name, value) { return this.put(name, $text(value)); },
  getOrDefault(name, otherwise) { return this.get(name, otherwise); },
  putIfAbsent(name, value) { const old = this.get(name); if (old === null) this.put(name, value); return old; },
  containsKey(name) { return this.get(name) !== null; },
  remove(name) { const old = this.get(name); host.setProperty($text(name), null); if (host.getProperty($KEPT + $text(name))) host.setProperty($KEPT + $text(name), ""); return old; },
};

// `{}` in a line of the log is the next value; an exception at the end is told with it.
function $logged(level) {
  return (text, ...values) => {
    let line = $text(text);
    for (const value of values.length === 1 && Array.isArray(values[0]) ? values[0] : values) {
      if (line.includes("{}")) line = line.replace("{}", () => $text(value));
      else if (value instanceof Error) line += ": " + $text(value);
    }
    host.log(level, line);
    return null;
  };
}

const $log = {
  info: $logged("info"), warn: $logged("warn"), error: $logged("error"), debug: $logged("debug"), trace: $logged("debug"),
  isInfoEnabled: () => true, isWarnEnabled: () => true, isErrorEnabled: () => true, isDebugEnabled: () => false, isTraceEnabled: () => false,
};

const $out = { println: $print, print: $print, printf: (format, ...values) => $print($format(format, ...values)) };

function $told(what) { return $null(host.answer(what)); }

const $prev = {
  getResponseDataAsString: () => $told("body") ?? "",
  getResponseData: () => new $Bytes($told("body") ?? ""),
  getResponseCode: () => $string($told("code")) ?? "",
  isResponseCodeOK: () => /^[23]\d\d$/.test($text($told("code"))),
  getResponseMessage: () => $told("message") ?? "",
  isSuccessful: () => $told("ok") === true,
  getTime: () => $told("time"),
  getLatency: () => $told("latency"),
  getConnectTime: () => $told("connect"),
  getStartTime: () => $told("start"),
  getEndTime: () => $told("end"),
  getTimeStamp: () => $told("start"),
  getURL: () => { const url = $told("url"); return url === null ? null : new $Url(url); },
  getUrlAsString: () => $told("url") ?? "",
  getResponseHeaders: () => $told("headers") ?? "",
  getRequestHeaders: () => $told("requestHeaders") ?? "",
  getSamplerData: () => { const url = $told("url"); return (url === null ? "" : url + "\n\n") + ($told("data") ?? ""); },
  getQueryString: () => $told("data") ?? "",
  getSubResults: () => [],
  getSampleLabel: () => $told("label") ?? "",
  getThreadName: () => host.threadName(),
  getBytes: () => $told("bytes"),
  getBytesAsLong: () => $told("bytes"),
  getBodySize: () => $utf8($told("body") ?? "").length,
  getBodySizeAsLong: () => $utf8($told("body") ?? "").length,
  getContentType: () => $header("content-type") ?? "",
  getMediaType: () => ($header("content-type") ?? "").split(";")[0].trim(),
  getRedirectLocation: () => $header("location"),
  getErrorCount: () => $told("ok") === true ? 0 : 1,
  getSampleCount: () => 1,
  getAssertionResults: () => [],
  setSuccessful: (ok) => { if ($truth(ok)) host.succeed(); else host.fail(null); return null; },
  setResponseCode: (code) => { host.setAnswer("code", $text(code)); return null; },
  setResponseCodeOK: () => { host.setAnswer("code", "200"); return null; },
  setResponseMessage: (text) => { host.setAnswer("message", $text(text)); return null; },
  setResponseMessageOK: () => { host.setAnswer("message", "OK"); return null; },
  setResponseOK: () => { host.setAnswer("code", "200"); host.setAnswer("message", "OK"); host.succeed(); return null; },
  setResponseData: (data) => { host.setAnswer("body", data instanceof $Bytes ? data.text() : $text(data)); return null; },
  setIgnore: () => { host.ignore(); return null; },
  setStopThread: (stop) => { if ($truth(stop)) host.stopUser(); return null; },
  setStopTest: (stop) => { if ($truth(stop)) host.stopTest(); return null; },
  setStopTestNow: (stop) => { if ($truth(stop)) host.stopTest(); return null; },
  setStartNextThreadLoop: (next) => { if ($truth(next)) host.nextIteration(); return null; },
  // How an answer is shown changes nothing here.
  setDataType: () => null, setDataEncoding: () => null, setContentType: () => null, setEncodingAndType: () => null,
};

// What a line of headers says behind its name.
function $lineOf(lines, name) {
  const begin = name.toLowerCase() + ":";
  const line = lines.split(/\r?\n/).find((line) => line.toLowerCase().startsWith(begin));
  return line === undefined ? null : line.slice(begin.length).trim();
}

function $header(name) { return $lineOf($told("headers") ?? "", name); }

const $assertion = {
  failed: false, words: null,
  $begin() { this.failed = false; this.words = null; },
  setFailure(failed) {
    const was = this.failed;
    this.failed = $truth(failed);
    if (this.failed) host.fail(this.words);
    else if (was) host.succeed();
    return null;
  },
  setError(failed) { return this.setFailure(failed); },
  setFailureMessage(text) { this.words = $string(text); if (this.failed) host.fail(this.words); return null; },
  setResultForFailure(text) { this.setFailure(true); return this.setFailureMessage(text); },
  setResultForNull() { return this.setResultForFailure("Response was null"); },
  isFailure() { return this.failed; },
  isError() { return false; },
  getFailureMessage() { return this.words; },
  getName() { return host.label(); },
};

// What BeanShell leaves in the variables that JMeter reads.
function $judge({ Failure = null, FailureMessage = null, IsSuccess = null, ResponseCode = null, ResponseMessage = null }) {
  if (ResponseCode !== null) host.setAnswer("code", $text(ResponseCode));
  if (ResponseMessage !== null) host.setAnswer("message", $text(ResponseMessage));
  if (Failure !== null && $truth(Failure)) host.fail($string(FailureMessage));
  if (IsSuccess !== null) { if ($truth(IsSuccess)) host.succeed(); else host.fail($string(ResponseMessage)); }
}

const $event = { getResult: () => $prev, getThreadGroup: () => host.groupName() };
const $group = { getName: () => host.groupName() };
const $engine = { stopTest: () => { host.stopTest(); return null; }, stopTestNow: () => { host.stopTest(); return null; }, askThreadsToStop: () => { host.stopTest(); return null; } };
const $thread = {
  getName: () => host.threadName(), getThreadName: () => host.threadName(), getId: () => host.threadNumber(), threadId: () => host.threadNumber(), getThreadNum: () => host.threadNumber() - 1, stop: () => { host.stopUser(); return null; },
};
const $ctx = {
  getThreadNum: () => host.threadNumber() - 1, getThreadGroup: () => $group, getVariables: () => $vars, getProperties: () => $props, getPreviousResult: () => $prev, getCurrentSampler: () => $sampler, getThread: () => $thread, getEngine: () => $engine,
  setStartNextThreadLoop: (next) => { if ($truth(next)) host.nextIteration(); return null; },
};

$class.JMeterUtils = { getProperty: (name) => $props.getProperty(name), getPropDefault: (name, otherwise) => { const value = $props.getProperty(name); return value === null ? otherwise : typeof otherwise === "number" ? Number(value) : typeof otherwise === "boolean" ? value === "true" : value; }, setProperty: (name, value) => $props.setProperty(name, value) };
$class.JMeterContextService = { getContext: () => $ctx };

class $File {
  constructor(name) { this.name = name; }
  getText() {
    const text = host.file(this.name);
    if (text === null || text === undefined) throw $error("FileNotFoundException", `${this.name} (No such file or directory)`);
    return text;
  }
  readLines() { return $lines(this.getText()); }
  eachLine(first, closure) { return $TEXT.eachLine(this.getText(), typeof first === "function" ? first : closure); }
  exists() { return $null(host.file(this.name)) !== null; }
  getName() { return this.name.split("/").pop(); }
  toString() { return this.name; }
}

// Jexl: texts that are numbers count as numbers.
const $jexl = {
  number(value) {
    if (value === null || value === undefined || value === "") return 0;
    if (typeof value === "boolean") return value ? 1 : 0;
    const number = typeof value === "string" ? Number(value) : value;
    if (Number.isNaN(number)) throw $error("ArithmeticException", `'${$text(value)}' is no number`);
    return number;
  },
  eq(a, b) {
    if (typeof a === "string" && typeof b === "string") return a === b;
    if (a === null || a === undefined || b === null || b === undefined) return $eq(a, b);
    if (typeof a === "boolean" || typeof b === "boolean") return (a === true || $text(a).toLowerCase() === "true") === (b === true || $text(b).toLowerCase() === "true");
    if (typeof a === "number" || typeof b === "number") return Number(a) === Number(b);
    return $eq(a, b);
  },
  compare(a, b) {
    if (typeof a === "string" && typeof b === "string") return $cmp(a, b);
    return $cmp($jexl.number(a), $jexl.number(b));
  },
  sub(a, b) { return $sub($jexl.number(a), $jexl.number(b)); },
  mul(a, b) { return $mul($jexl.number(a), $jexl.number(b)); },
  div(a, b, decimal) {
    const is_decimal = decimal || [a, b].some((value) => typeof value === "string" && value.includes("."));
    return (is_decimal ? $div : $idiv)($jexl.number(a), $jexl.number(b));
  },
  mod(a, b) { return $mod($jexl.number(a), $jexl.number(b)); },
  matches(a, b) { return typeof b === "string" ? $matches(a, b) : $in(a, b); },
  size(value) { return value === null || value === undefined ? 0 : $call(0, value, "size"); },
  empty(value) { return value === null || value === undefined || (value !== false && !$truth(value)); },
};

// Chance and time are the host's for JavaScript of plans, too.
Math.random = () => host.random();
globalThis.Date = class Date extends globalThis.Date {
  constructor(...values) { if (values.length === 0) super(host.now()); else super(...values); }
  static now() { return Math.floor(host.now()); }
};

// For JavaScript of plans, which calls Java's methods on values of its own: what a kind does not know yet.
for (const [prototype, methods] of [[String.prototype, $TEXT], [Array.prototype, $LIST], [Map.prototype, $MAP], [Set.prototype, $SET]]) {
  for (const name of Object.keys(methods)) {
    if (name in prototype) continue;
    Object.defineProperty(prototype, name, { enumerable: false, configurable: true, writable: true, value: function (...values) { return $null(methods[name](typeof this === "object" && this instanceof String ? String(this) : this, ...values)); } });
  }
}
