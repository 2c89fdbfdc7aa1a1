// The request that comes next, for scripts that are run before it.

function $request(what) {
  const value = host.request(what);
  if (value === null || value === undefined) throw $error("IllegalStateException", "there is no request here: scripts see and change one in a PreProcessor of its sampler");
  return value;
}

const $FORM = "application/x-www-form-urlencoded";
const $encodedField = (text) => $class.URLEncoder.encode($text(text), "UTF-8");
const $decodedField = (text) => $class.URLDecoder.decode(text, "UTF-8");

function $isInQuery() { return !/^(POST|PUT|PATCH)$/.test($request("method")); }

function $requestHeader(name) { return $lineOf($request("headers"), $text(name)); }

function $isForm() { return ($requestHeader("content-type") ?? "").toLowerCase().startsWith($FORM); }

// Both parts of the path: the query is empty where there is none.
function $pathAndQuery() {
  const path = $request("path"), at = path.indexOf("?");
  return at < 0 ? [path, ""] : [path.slice(0, at), path.slice(at + 1)];
}

class $Argument {
  constructor(name, value, given) {
    this.name = $text(name ?? "");
    this.value = $text(value ?? "");
    // The third word of Java's constructors says that it is encoded already, or is the sign in the middle.
    this.isEncoded = given === true;
    this.owner = null;
  }
  getName() { return this.name; }
  getValue() { return this.value; }
  getMetaData() { return "="; }
  isAlwaysEncoded() { return !this.isEncoded; }
  setName(name) { this.name = $text(name); return this.$changed(); }
  setValue(value) { this.value = $text(value); return this.$changed(); }
  setAlwaysEncoded(yes) { this.isEncoded = !$truth(yes); return this.$changed(); }
  setMetaData() { return null; }
  $changed() { if (this.owner !== null) $writeFields(this.owner); return null; }
  toString() { return `${this.name}=${this.value}`; }
  $pair() { return this.isEncoded ? `${this.name}=${this.value}` : `${$encodedField(this.name)}=${$encodedField(this.value)}`; }
}

class $Arguments {
  constructor() { this.list = []; }
  getArgumentCount() { return this.list.length; }
  getArgument(which) { return $null(typeof which === "string" ? this.list.find((one) => one.name === which) : this.list[Number(which)]); }
  addArgument(first, value, given) { this.list.push(first instanceof $Argument ? first : new $Argument(first, value, given)); return null; }
  removeArgument(which) {
    const at = typeof which === "number" || typeof which === "bigint" ? Number(which) : this.list.findIndex((one) => one === which || one.name === which);
    if (at >= 0) this.list.splice(at, 1);
    return null;
  }
  removeAllArguments() { this.list = []; return null; }
  clear() { return this.removeAllArguments(); }
  getArgumentsAsMap() { return new Map(this.list.map((one) => [one.name, one.value])); }
  toString() { return this.list.join("&"); }
}

// The arguments of the request as it is written: a body that is no form is one of them, without a name.
function $fieldsOf() {
  const fields = new $Arguments(), body = $request("body");
  if (body !== "" && !$isForm()) {
    fields.addArgument("", body, true);
    return fields;
  }
  const text = $isInQuery() ? $pathAndQuery()[1] : body;
  for (const pair of text === "" ? [] : text.split("&")) {
    const at = pair.indexOf("=");
    fields.addArgument($decodedField(at < 0 ? pair : pair.slice(0, at)), $decodedField(at < 0 ? "" : pair.slice(at + 1)));
  }
  return fields;
}

function $writeFields(fields) {
  const wasForm = $isForm();
  if (fields.list.length > 0 && fields.list.every((one) => one.name === "")) {
    host.setRequest("body", fields.list.map((one) => one.value).join(""));
    if (wasForm) host.setHeader("Content-Type", null);
    return null;
  }
  const text = fields.list.map((one) => one.$pair()).join("&");
  if ($isInQuery()) {
    host.setRequest("path", $pathAndQuery()[0] + (text === "" ? "" : "?" + text));
    if ($request("body") !== "") host.setRequest("body", "");
    return null;
  }
  host.setRequest("body", text);
  if (text !== "" && $requestHeader("content-type") === null) host.setHeader("Content-Type", $FORM);
  return null;
}

// A change of the request's arguments.
function $withFields(change) {
  const fields = $fieldsOf();
  change(fields);
  return $writeFields(fields);
}

const $arguments = {
  getArgumentCount: () => $fieldsOf().getArgumentCount(),
  getArgument: (which) => {
    const fields = $fieldsOf();
    for (const one of fields.list) one.owner = fields;
    return fields.getArgument(which);
  },
  addArgument: (first, value, given) => $withFields((fields) => fields.addArgument(first, value, given)),
  removeArgument: (which) => $withFields((fields) => fields.removeArgument(which)),
  removeAllArguments: () => $withFields((fields) => fields.removeAllArguments()),
  clear: () => $withFields((fields) => fields.clear()),
  getArgumentsAsMap: () => $fieldsOf().getArgumentsAsMap(),
};

class $Header {
  constructor(name, value) { this.name = $text(name ?? ""); this.value = $text(value ?? ""); this.isOfRequest = false; }
  getName() { return this.name; }
  getValue() { return this.value; }
  setName(name) { this.name = $text(name); return null; }
  setValue(value) { this.value = $text(value); if (this.isOfRequest) host.setHeader(this.name, this.value); return null; }
  toString() { return `${this.name}\t${this.value}`; }
}

$class.Header = $Header;
$class.Arguments = $Arguments;
$class.Argument = $Argument;
$class.HTTPArgument = $Argument;

function $headersOf() {
  return $request("headers").split("\n").filter((line) => line !== "").map((line) => {
    const at = line.indexOf(":"), header = new $Header(line.slice(0, at), line.slice(at + 1).trim());
    header.isOfRequest = true;
    return header;
  });
}

const $headerAt = (at) => $null($headersOf()[Number(at)]);

const $headers = {
  add: (header) => { host.setHeader(header.name, header.value); return null; },
  removeHeaderNamed: (name) => { host.setHeader($text(name), null); return null; },
  getFirstHeaderNamed: (name) => $null($headersOf().find((header) => header.name.toLowerCase() === $text(name).toLowerCase())),
  getHeader: $headerAt,
  get: $headerAt,
  size: () => $headersOf().length,
};

const $url = () => new $Url($request("url"));

const $sampler = {
  getName: () => host.label(),
  getThreadName: () => host.threadName(),
  getMethod: () => $request("method"),
  setMethod: (method) => { host.setRequest("method", $text(method)); return null; },
  getPath: () => $pathAndQuery()[0],
  setPath: (path) => { host.setRequest("place", $text(path)); return null; },
  getUrl: $url,
  getDomain: () => $url().getHost(),
  getPort: () => { const port = $url().getPort(); return port === -1 ? $url().getDefaultPort() : port; },
  getProtocol: () => $url().getProtocol(),
  getQueryString: () => $isInQuery() ? $pathAndQuery()[1] : $request("body"),
  addArgument: (name, value) => {
    if ($text(name) === "") return $arguments.addArgument(name, value, true);
    host.addField($encodedField(name), $encodedField(value));
    return null;
  },
  addEncodedArgument: (name, value) => {
    if ($text(name) === "") return $arguments.addArgument(name, value, true);
    host.addField($text(name), $text(value));
    return null;
  },
  addNonEncodedArgument: (name, value) => $arguments.addArgument(name, value, true),
  getArguments: () => $arguments,
  setArguments: (given) => given === $arguments ? null : $writeFields(given),
  getHeaderManager: () => $headers,
  getPostBodyRaw: () => { const fields = $fieldsOf().list; return fields.length > 0 && fields.every((one) => one.name === ""); },
  // A body is raw where its arguments have no names.
  setPostBodyRaw: () => null,
};
