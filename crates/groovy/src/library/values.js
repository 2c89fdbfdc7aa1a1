// What values of Groovy and Java are here, and what every operator needs to know of them: truth, text, equality, order, errors.
//
// Texts are strings, numbers are numbers (a BigInt where a whole one needs more than 53 bits), lists and arrays are arrays, maps and sets are
// Map and Set, closures are functions. Only a letter of Java, 'a', is an object of its own: it counts as a number and prints as a text.

const $class = { __proto__: null };

class $Letter {
  constructor(text) { this.text = text; }
  toString() { return this.text; }
  valueOf() { return this.text.charCodeAt(0); }
}

class $Type {
  constructor(name) { this.$name = name; }
  getName() { return $fullName(this.$name); }
  getSimpleName() { return this.$name; }
  getCanonicalName() { return $fullName(this.$name); }
  get name() { return this.getName(); }
  get simpleName() { return this.$name; }
  isInstance(value) { return $is(value, this.$name); }
  equals(other) { return other != null && other.$name === this.$name; }
  toString() { return "class " + this.getName(); }
}

function $fullName(name) {
  if (/^(String|Integer|Long|Double|Boolean|BigDecimal|.*Exception|.*Error|Object)$/.test(name)) {
    return name === "BigDecimal" ? "java.math.BigDecimal" : "java.lang." + name;
  }
  return /^(ArrayList|LinkedHashMap|LinkedHashSet|Date|Random|UUID)$/.test(name) ? "java.util." + name : name;
}

function $type(name) { return new $Type(name); }

class $Error extends Error {
  constructor(kind, message, cause) {
    super(message === undefined || message === null ? "" : $text(message));
    this.kind = kind;
    this.name = kind;
    this.hasMessage = message !== undefined && message !== null;
    this.reason = cause === undefined ? null : cause;
  }
}

function $error(kind, message, cause) {
  if (message instanceof Error) return new $Error(kind, message.message, message);
  return new $Error(kind, message, cause);
}

function $thrown(value) {
  return value instanceof Error ? value : $error("Exception", value);
}

// Which kinds are more than one.
const $PARENTS = {
  __proto__: null,
  NumberFormatException: "IllegalArgumentException", JsonException: "RuntimeException", ArrayIndexOutOfBoundsException: "IndexOutOfBoundsException",
  StringIndexOutOfBoundsException: "IndexOutOfBoundsException", MissingMethodException: "GroovyRuntimeException",
  MissingPropertyException: "GroovyRuntimeException", FileNotFoundException: "IOException", UnsupportedEncodingException: "IOException",
};

function $catches(error, kinds) {
  if (kinds.length === 0) return true;
  const kind = error instanceof $Error ? error.kind : error instanceof RangeError ? "StackOverflowError" : "NullPointerException";
  const is_error = kind.endsWith("Error");
  for (const wanted of kinds) {
    if (wanted === "Throwable" || wanted === "Object" || wanted === kind) return true;
    if (wanted === "Exception" && !is_error) return true;
    if (wanted === "RuntimeException" && !is_error && !/^(IOException|ParseException|Exception|FileNotFoundException)$/.test(kind)) return true;
    if (wanted === "Error" && is_error) return true;
    for (let parent = $PARENTS[kind]; parent; parent = $PARENTS[parent]) if (parent === wanted) return true;
  }
  return false;
}

function $kind(value) {
  if (value === null || value === undefined) return "null";
  switch (typeof value) {
    case "string": return "text";
    case "number": case "bigint": return "number";
    case "boolean": return "truth value";
    case "function": return "closure";
  }
  if (Array.isArray(value)) return "list";
  if (value instanceof Map) return "map";
  if (value instanceof Set) return "set";
  if (value instanceof $Letter) return "letter";
  if (value instanceof Error) return "exception";
  if (value instanceof $Bytes) return "row of bytes";
  return value.constructor && value.constructor.name ? value.constructor.name.replace("$", "") : "object";
}

function $null(value) { return value === undefined ? null : value; }

function $truth(value) {
  switch (typeof value) {
    case "boolean": return value;
    case "string": return value !== "";
    case "number": return value !== 0 && value === value;
    case "bigint": return value !== 0n;
    case "undefined": return false;
    case "function": return true;
  }
  if (value === null) return false;
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Map || value instanceof Set) return value.size > 0;
  if (value instanceof $Matcher) return value.find();
  if (value instanceof $Bytes) return value.length > 0;
  if (value instanceof $StringBuilder) return value.value !== "";
  if (value instanceof $Atomic) return value.value !== 0;
  return true;
}

function $elvis(value, other) { return $truth(value) ? value : other(); }

// As text, the way Groovy prints it.
function $text(value) {
  switch (typeof value) {
    case "string": return value;
    case "number": return value === Infinity || value === -Infinity || value !== value ? String(value) : $digits(value);
    case "bigint": case "boolean": return String(value);
    case "undefined": return "null";
    case "function": return "closure";
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return "[" + value.map((item) => item === value ? "(this Collection)" : $text(item)).join(", ") + "]";
  if (value instanceof Map) {
    if (value.size === 0) return "[:]";
    const parts = [];
    for (const [key, item] of value) parts.push($text(key) + ":" + (item === value ? "(this Map)" : $text(item)));
    return "[" + parts.join(", ") + "]";
  }
  if (value instanceof Set) return "[" + [...value].map($text).join(", ") + "]";
  if (value instanceof $Error) return $fullName(value.kind) + (value.hasMessage ? ": " + value.message : "");
  return String(value);
}

// Without an exponent, as long as Java would have none.
function $digits(value) {
  const text = String(value);
  return text.includes("e") ? text.replace(/e\+?/, "E").replace(/^(-?\d+)E/, "$1.0E") : text;
}

function $string(value) { return value === null || value === undefined ? null : $text(value); }

function $same(a, b) { return a === b || (typeof a !== "object" && $eq(a, b)); }

function $eq(a, b) {
  if (a === undefined) a = null;
  if (b === undefined) b = null;
  if (a === b) return true;
  if (a === null || b === null) return false;
  if (a instanceof $Letter) return typeof b === "number" ? a.valueOf() === b : a.text === $text(b);
  if (b instanceof $Letter) return $eq(b, a);
  const kind = typeof a;
  if (kind === "number" || kind === "bigint") return (typeof b === "number" || typeof b === "bigint") && a == b;
  if (kind !== "object" || typeof b !== "object") return (a instanceof $StringBuilder || b instanceof $StringBuilder) && $text(a) === $text(b);
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => $eq(item, b[at]));
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    for (const [key, item] of a) if (!b.has(key) || !$eq(item, b.get(key))) return false;
    return true;
  }
  if (a instanceof Set) return b instanceof Set && a.size === b.size && [...a].every((item) => b.has(item));
  if (typeof a.equals === "function") return a.equals(b);
  return false;
}

function $cmp(a, b) {
  if (a === undefined) a = null;
  if (b === undefined) b = null;
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (a instanceof $Letter || b instanceof $Letter) {
    const code = (value) => typeof value === "string" ? value.charCodeAt(0) : Number(value);
    return Math.sign(code(a) - code(b));
  }
  if (typeof a === "boolean" && typeof b === "boolean") return a ? 1 : -1;
  const numbers = (value) => typeof value === "number" || typeof value === "bigint";
  if (numbers(a) && numbers(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : 1;
  if (typeof a === "object" && typeof a.compareTo === "function") return a.compareTo(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let at = 0; at < a.length && at < b.length; at++) {
      const order = $cmp(a[at], b[at]);
      if (order !== 0) return order;
    }
    return Math.sign(a.length - b.length);
  }
  throw $error("IllegalArgumentException", `Cannot compare a ${$kind(a)} ('${$text(a)}') with a ${$kind(b)} ('${$text(b)}')`);
}

const $LISTS = ["List", "ArrayList", "LinkedList", "Collection", "Iterable", "Vector", "Stack", "AbstractList", "Queue", "Deque"];
const $MAPS = ["Map", "HashMap", "LinkedHashMap", "TreeMap", "LazyMap", "Hashtable", "ConcurrentHashMap", "JSONObject"];
const $SETS = ["Set", "HashSet", "LinkedHashSet", "TreeSet", "Collection", "Iterable"];

function $is(value, type) {
  if (value === null || value === undefined) return false;
  if (type === "Object") return true;
  if (type === "byte[]") return value instanceof $Bytes;
  if (type.endsWith("[]")) return Array.isArray(value);
  switch (typeof value) {
    case "string": return type === "String" || type === "CharSequence" || type === "GString" || type === "Comparable" || (type === "Character" && value.length === 1);
    case "number":
      if (type === "Number" || type === "Comparable") return true;
      return Number.isInteger(value)
        ? type === "Integer" || type === "Long" || type === "BigInteger" || type === "Short" || type === "Byte"
        : type === "Double" || type === "BigDecimal" || type === "Float";
    case "bigint": return ["Number", "Long", "BigInteger", "Comparable"].includes(type);
    case "boolean": return type === "Boolean";
    case "function": return type === "Closure";
  }
  if (Array.isArray(value)) return $LISTS.includes(type);
  if (value instanceof Map) return $MAPS.includes(type);
  if (value instanceof Set) return $SETS.includes(type);
  if (value instanceof $Letter) return type === "Character";
  if (value instanceof Error) return $catches(value, [type]);
  const known = $class[type];
  return (typeof known === "function" && known.prototype !== undefined && value instanceof known)
    || (value.constructor && value.constructor.name === "$" + type);
}

function $nameOf(value) {
  switch (typeof value) {
    case "string": return "String";
    case "number": return Number.isInteger(value) ? "Integer" : "BigDecimal";
    case "bigint": return "Long";
    case "boolean": return "Boolean";
    case "function": return "Closure";
  }
  if (Array.isArray(value)) return "ArrayList";
  if (value instanceof Map) return "LinkedHashMap";
  if (value instanceof Set) return "LinkedHashSet";
  if (value instanceof $Error) return value.kind;
  return $kind(value);
}

// A case of a switch: a type, a list, a range, a pattern, a closure, or a value.
function $case(wanted, value) {
  if (wanted instanceof $Type) return $is(value, wanted.$name);
  if (typeof wanted === "function") {
    if (wanted.$name) return $is(value, wanted.$name);
    return $truth($do(wanted, value));
  }
  if (Array.isArray(wanted)) return wanted.some((item) => $eq(item, value)) || $eq(wanted, value);
  if (wanted instanceof Map) return wanted.has(value);
  if (wanted instanceof Set) return wanted.has(value);
  if (wanted instanceof $Pattern) return value !== null && $matches(value, wanted);
  if (wanted !== null && typeof wanted === "object" && wanted.$name) return $is(value, wanted.$name);
  return $eq(wanted, value);
}

function $in(value, wanted) {
  if (wanted === null || wanted === undefined) return false;
  if (typeof wanted === "string") return wanted === $text(value);
  return $case(wanted, value);
}

function $as(value, type) {
  switch (type) {
    case "byte": return value instanceof $Letter || typeof value === "number" ? (Number(value) << 24) >> 24 : $as(value, "int");
    case "int": case "long": case "short": case "Integer": case "Long": case "Short": case "Byte": case "BigInteger":
      return typeof value === "string" ? $parseWhole(value.trim()) : $whole(value);
    case "double": case "float": case "Double": case "Float": case "BigDecimal": case "Number":
      if (value === null || value === undefined) return null;
      return typeof value === "string" ? $parseDecimal(value) : Number(value);
    case "boolean": case "Boolean": return $truth(value);
    case "char": case "Character":
      if (value === null || value === undefined) return null;
      return new $Letter(typeof value === "number" ? String.fromCharCode(value) : $text(value).charAt(0));
    case "byte[]": return value instanceof $Bytes ? value : new $Bytes(typeof value === "string" ? value : Uint8Array.from($list(value), (item) => Number(item) & 255));
    case "List": case "ArrayList": case "LinkedList": case "Collection": return value === null ? null : Array.isArray(value) ? value : [...$list(value)];
    case "Set": case "HashSet": case "LinkedHashSet": return value === null ? null : new Set($list(value));
    case "TreeSet": return value === null ? null : new Set([...$list(value)].sort($cmp));
  }
  return value;
}
