// JSON: read into maps and lists in the order of the text, with whole numbers that stay exact; written as Groovy writes it.

// Numbers that JavaScript's own reader would round.
const $LONG_NUMBER = /[\[:,\s]-?\d{16}/;

function $parseJson(text) {
  if (text === null || text === undefined) throw $error("IllegalArgumentException", "Text must not be null or empty");
  text = text instanceof $Bytes ? text.text() : $text(text);
  if (text.trim() === "") throw $error("IllegalArgumentException", "Text must not be null or empty");
  try {
    if ($LONG_NUMBER.test(" " + text)) return new $JsonReader(text).whole();
    return $mapped(JSON.parse(text));
  } catch (error) {
    throw error instanceof $Error ? error : $error("JsonException", `Unable to parse JSON: ${error.message}`);
  }
}

function $mapped(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (typeof value[at] === "object") value[at] = $mapped(value[at]);
    return value;
  }
  const map = new Map();
  for (const key of Object.keys(value)) map.set(key, $mapped(value[key]));
  return map;
}

class $JsonReader {
  constructor(text) { this.text = text; this.at = 0; }
  whole() {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail();
    return value;
  }
  fail() { throw $error("JsonException", `Unable to parse JSON: '${this.text.slice(this.at, this.at + 10)}' at ${this.at}`); }
  space() { while (/\s/.test(this.text.charAt(this.at))) this.at++; }
  take(letter) {
    this.space();
    if (this.text[this.at] !== letter) return false;
    this.at++;
    return true;
  }
  value(depth) {
    if (depth > 500) this.fail();
    this.space();
    const letter = this.text[this.at];
    if (letter === "{") {
      this.at++;
      const map = new Map();
      if (this.take("}")) return map;
      do {
        this.space();
        if (this.text[this.at] !== "\"") this.fail();
        const key = this.string();
        if (!this.take(":")) this.fail();
        map.set(key, this.value(depth + 1));
      } while (this.take(","));
      if (!this.take("}")) this.fail();
      return map;
    }
    if (letter === "[") {
      this.at++;
      const list = [];
      if (this.take("]")) return list;
      do list.push(this.value(depth + 1)); while (this.take(","));
      if (!this.take("]")) this.fail();
      return list;
    }
    if (letter === "\"") return this.string();
    const simple = /[-+.\w]+/y;
    simple.lastIndex = this.at;
    const found = simple.exec(this.text);
    if (!found) this.fail();
    const word = found[0];
    if (/^-?\d+$/.test(word)) { this.at += word.length; return $fit(BigInt(word)); }
    const value = JSON.parse(word);
    this.at += word.length;
    return value;
  }
  string() {
    const text = /"(?:[^"\\]|\\.)*"/ys;
    text.lastIndex = this.at;
    const found = text.exec(this.text);
    if (!found) this.fail();
    this.at += found[0].length;
    return JSON.parse(found[0]);
  }
}

// As JsonOutput writes it: letters outside of ASCII as \u….
function $jsonText(text) {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, (letter) => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0"));
}

function $toJson(value, plain) {
  if (value === null || value === undefined) return "null";
  switch (typeof value) {
    case "string": return plain ? JSON.stringify(value) : $jsonText(value);
    case "number": case "bigint": case "boolean": return $text(value);
  }
  if (value instanceof $Scaled) return value.toString();
  if (Array.isArray(value) || value instanceof Set) return "[" + [...value].map((item) => $toJson(item, plain)).join(",") + "]";
  if (value instanceof Map) return "{" + [...value].map(([key, item]) => $toJson($text(key), plain) + ":" + $toJson(item, plain)).join(",") + "}";
  if (value instanceof $JsonBuilder) return $toJson(value.content, plain);
  if (value instanceof $Atomic) return $text(value.value);
  if (value instanceof $Date) return $toJson(new $SimpleDateFormat("yyyy-MM-dd'T'HH:mm:ssZ").format(value), plain);
  if (value instanceof $Entry) return $toJson(new Map([["key", value.key], ["value", value.value]]), plain);
  if (value instanceof $Bytes) return $toJson(value.list());
  if (value.constructor === Object) return $toJson(new Map(Object.entries(value)), plain);
  return $toJson($text(value), plain);
}

function $pretty(text, indent, step) {
  const value = new $JsonReader(text).whole();
  const write = (item, before) => {
    const inner = before + step;
    if (Array.isArray(item)) return item.length === 0 ? "[\n" + before + "\n" + before + "]" : "[\n" + item.map((one) => inner + write(one, inner)).join(",\n") + "\n" + before + "]";
    if (item instanceof Map) return item.size === 0 ? "{\n" + before + "\n" + before + "}" : "{\n" + [...item].map(([key, one]) => inner + $toJson(key) + ": " + write(one, inner)).join(",\n") + "\n" + before + "}";
    return $toJson(item);
  };
  return write(value, indent);
}

class $JsonSlurper {
  parseText(text) { return $parseJson(text); }
  parse(value) { return $parseJson(value instanceof $File ? value.getText() : value); }
  setType() { return this; }
}
$class.JsonSlurper = $JsonSlurper;
$class.JsonSlurperClassic = $JsonSlurper;

$class.JsonOutput = { toJson: (value) => $toJson(value), prettyPrint: (text) => $pretty($text(text), "", "    ") };

class $JsonBuilder {
  constructor(content) { this.content = content === undefined ? new Map() : content; }
  call(content) { this.content = typeof content === "function" ? $do(content) : content; return this.content; }
  apply(content) { return this.call(content); }
  getContent() { return this.content; }
  toPrettyString() { return $pretty($toJson(this.content), "", "    "); }
  toString() { return $toJson(this.content); }
}
$class.JsonBuilder = $JsonBuilder;

// org.json: JSONObject and JSONArray hold maps and lists.
function $wrapped(value) { return value instanceof Map ? new $JSONObject(value) : Array.isArray(value) ? new $JSONArray(value) : value; }
function $bare(value) { return value instanceof $JSONObject || value instanceof $JSONArray ? value.content : value; }

class $JSONObject {
  constructor(value) {
    this.content = value === undefined ? new Map() : value instanceof Map ? value : value instanceof $JSONObject ? value.content : $parseJson(value);
    if (!(this.content instanceof Map)) throw $error("JSONException", "A JSONObject text must begin with '{'");
  }
  static quote(text) { return JSON.stringify($text(text)); }
  get(key) {
    if (!this.content.has(key)) throw $error("JSONException", `JSONObject["${key}"] not found.`);
    return $wrapped($null(this.content.get(key)));
  }
  opt(key) { return $wrapped($null(this.content.get(key))); }
  getString(key) { return $text(this.get(key)); }
  getInt(key) { return $as(this.get(key), "int"); }
  getLong(key) { return $as(this.get(key), "long"); }
  getDouble(key) { return $as(this.get(key), "double"); }
  getBoolean(key) { const value = this.get(key); return value === true || value === "true"; }
  getJSONObject(key) { return this.get(key); }
  getJSONArray(key) { return this.get(key); }
  optString(key, otherwise = "") { return this.content.has(key) ? $text(this.opt(key)) : otherwise; }
  optInt(key, otherwise = 0) { return this.content.has(key) ? $as(this.opt(key), "int") : otherwise; }
  optLong(key, otherwise = 0) { return this.content.has(key) ? $as(this.opt(key), "long") : otherwise; }
  optBoolean(key, otherwise = false) { return this.content.has(key) ? this.getBoolean(key) : otherwise; }
  optJSONObject(key) { return this.opt(key); }
  optJSONArray(key) { return this.opt(key); }
  put(key, value) { this.content.set(key, $bare(value)); return this; }
  has(key) { return this.content.has(key); }
  isNull(key) { return $null(this.content.get(key)) === null; }
  remove(key) { return $MAP.remove(this.content, key); }
  keys() { return new $Iterator(this.content.keys()); }
  keySet() { return new Set(this.content.keys()); }
  length() { return this.content.size; }
  size() { return this.content.size; }
  isEmpty() { return this.content.size === 0; }
  toMap() { return this.content; }
  names() { return new $JSONArray([...this.content.keys()]); }
  toString(indent) { return indent === undefined ? $toJson(this.content, true) : $pretty($toJson(this.content, true), "", " ".repeat(Number(indent))); }
}
$JSONObject.NULL = null;
$class.JSONObject = $JSONObject;

class $JSONArray {
  constructor(value) {
    this.content = value === undefined ? [] : Array.isArray(value) ? value.map($bare) : value instanceof Set ? [...value] : $parseJson(value);
    if (!Array.isArray(this.content)) throw $error("JSONException", "A JSONArray text must start with '['");
  }
  get(at) {
    if (!(at >= 0 && at < this.content.length)) throw $error("JSONException", `JSONArray[${at}] not found.`);
    return $wrapped($null(this.content[Number(at)]));
  }
  opt(at) { return $wrapped($null(this.content[Number(at)])); }
  getString(at) { return $text(this.get(at)); }
  getInt(at) { return $as(this.get(at), "int"); }
  getLong(at) { return $as(this.get(at), "long"); }
  getDouble(at) { return $as(this.get(at), "double"); }
  getBoolean(at) { const value = this.get(at); return value === true || value === "true"; }
  getJSONObject(at) { return this.get(at); }
  getJSONArray(at) { return this.get(at); }
  getAt(at) { return this.get(at); }
  put(at, value) { if (value === undefined) this.content.push($bare(at)); else this.content[Number(at)] = $bare(value); return this; }
  remove(at) { return $wrapped($null(this.content.splice(Number(at), 1)[0])); }
  length() { return this.content.length; }
  size() { return this.content.length; }
  isEmpty() { return this.content.length === 0; }
  toList() { return this.content; }
  iterator() { return new $Iterator(this.content.map($wrapped)); }
  [Symbol.iterator]() { return this.content.map($wrapped)[Symbol.iterator](); }
  join(by) { return this.content.map((item) => $toJson(item, true)).join($text(by)); }
  toString(indent) { return indent === undefined ? $toJson(this.content, true) : $pretty($toJson(this.content, true), "", " ".repeat(Number(indent))); }
}
$class.JSONArray = $JSONArray;
