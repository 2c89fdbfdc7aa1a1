// Classes of java.lang, java.util and java.math that scripts call by their names.

function $chance() { return host.random(); }

// A whole number from one up to another, both possible.
function $between(from, to) { return Math.floor($chance() * (Number(to) - Number(from) + 1)) + Number(from); }

class $Random {
  static current() { return new $Random(); }
  static getInstance() { return new $Random(); }
  static getInstanceStrong() { return new $Random(); }
  nextInt(from, to) {
    if (from === undefined) return $between(-2147483648, 2147483647);
    if (to === undefined) [from, to] = [0, from];
    if (!(Number(to) > Number(from))) throw $error("IllegalArgumentException", "bound must be positive");
    return $between(Number(from), Number(to) - 1);
  }
  nextLong(from, to) { return from === undefined ? $between(-9007199254740991, 9007199254740991) : this.nextInt(from, to); }
  nextDouble(from, to) { return from === undefined ? $chance() : to === undefined ? $chance() * Number(from) : Number(from) + $chance() * (Number(to) - Number(from)); }
  nextFloat() { return $chance(); }
  nextBoolean() { return $chance() < 0.5; }
  nextGaussian() { return Math.sqrt(-2 * Math.log(1 - $chance())) * Math.cos(2 * Math.PI * $chance()); }
  nextBytes(bytes) { const array = bytes.u8(); for (let at = 0; at < array.length; at++) array[at] = $between(0, 255); return null; }
  ints(count, from, to) { return $array(0, count).map(() => this.nextInt(from, to)); }
  setSeed() { return null; }
}
$class.Random = $Random;
$class.SecureRandom = $Random;
$class.ThreadLocalRandom = $Random;

function $uuid() {
  const digits = $array(0, 32).map((_, at) => (at === 12 ? 4 : at === 16 ? 8 + $between(0, 3) : $between(0, 15)).toString(16)).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

class $Uuid {
  constructor(text) { this.text = text; }
  static randomUUID() { return new $Uuid($uuid()); }
  static fromString(text) {
    if (!$TEXT.isUUID($text(text))) throw $error("IllegalArgumentException", `Invalid UUID string: ${$text(text)}`);
    return new $Uuid($text(text).toLowerCase());
  }
  static nameUUIDFromBytes(bytes) {
    const array = host.digest("MD5", $toBytes(bytes).u8()).slice(0, 16);
    array[6] = (array[6] & 15) | 0x30;
    array[8] = (array[8] & 63) | 0x80;
    return new $Uuid($hex(new $Bytes(array)).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
  }
  version() { return Number(this.text[14]); }
  getMostSignificantBits() { return $fit(BigInt.asIntN(64, BigInt("0x" + this.text.replace(/-/g, "").slice(0, 16)))); }
  getLeastSignificantBits() { return $fit(BigInt.asIntN(64, BigInt("0x" + this.text.replace(/-/g, "").slice(16)))); }
  compareTo(other) { return $cmp(this.text, $text(other)); }
  equals(other) { return other instanceof $Uuid && other.text === this.text; }
  toString() { return this.text; }
}
$class.UUID = $Uuid;

function $radix(value, bits, radix) {
  value = BigInt($whole(value));
  return (value < 0n ? BigInt.asUintN(bits, value) : value).toString(radix);
}

for (const [name, bits] of [["Integer", 32], ["Long", 64], ["Short", 16], ["Byte", 8]]) {
  const parse = (text, radix) => typeof text === "string" ? $inBits($parseWhole(text, radix), bits, text) : $parseWhole(text, radix);
  const max = 2n ** BigInt(bits - 1) - 1n;
  $class[name] = {
    $name: name, $new: (value) => typeof value === "string" ? parse(value) : $whole(value), MAX_VALUE: $fit(max), MIN_VALUE: $fit(-max - 1n),
    parseInt: parse, parseLong: parse, parseShort: parse, parseUnsignedInt: parse, valueOf: (value, radix) => typeof value === "string" ? parse(value, radix) : $whole(value),
    toString: (value, radix) => radix === undefined ? $text(value) : value.toString(Number(radix)), toHexString: (value) => $radix(value, bits, 16), toBinaryString: (value) => $radix(value, bits, 2), toOctalString: (value) => $radix(value, bits, 8),
    compare: (a, b) => $cmp(a, b), max: (a, b) => a > b ? a : b, min: (a, b) => a < b ? a : b, sum: (a, b) => $plus(a, b), signum: (value) => Math.sign(Number(value)), bitCount: (value) => $radix(value, bits, 2).replace(/0/g, "").length,
    reverse: (value) => parseInt([...(Number(value) >>> 0).toString(2).padStart(32, "0")].reverse().join(""), 2) | 0,
  };
}

function $inBits(value, bits, text) {
  const max = 2n ** BigInt(bits - 1);
  if (BigInt(value) >= max || BigInt(value) < -max) throw $error("NumberFormatException", `For input string: "${text}"`);
  return value;
}

for (const name of ["Double", "Float"]) {
  $class[name] = {
    $name: name, $new: (value) => $as(value, "double"), MAX_VALUE: Number.MAX_VALUE, MIN_VALUE: Number.MIN_VALUE, NaN,
    parseDouble: $parseDecimal, parseFloat: $parseDecimal, valueOf: (value) => $as(value, "double"), toString: (value) => $text(value), compare: (a, b) => $cmp(a, b),
    max: (a, b) => Math.max(a, b), min: (a, b) => Math.min(a, b), sum: (a, b) => a + b, isNaN: (value) => Number.isNaN(value), isInfinite: (value) => Math.abs(value) === Infinity,
  };
}

$class.Boolean = {
  $name: "Boolean", $new: (value) => typeof value === "string" ? value.toLowerCase() === "true" : $truth(value), TRUE: true, FALSE: false,
  parseBoolean: (text) => text !== null && $text(text).toLowerCase() === "true", valueOf: (value) => typeof value === "boolean" ? value : value !== null && $text(value).toLowerCase() === "true", toString: (value) => $text(value),
};

const $letterOf = (value) => typeof value === "number" ? String.fromCodePoint(value) : $text(value);
$class.Character = {
  $name: "Character", $new: $letterOf, MAX_VALUE: "\uffff", MIN_VALUE: "\0",
  isDigit: (value) => /^\d$/.test($letterOf(value)), isLetter: (value) => /^\p{L}$/u.test($letterOf(value)), isAlphabetic: (value) => /^\p{L}$/u.test($letterOf(value)), isLetterOrDigit: (value) => /^[\p{L}\p{Nd}]$/u.test($letterOf(value)),
  isUpperCase: (value) => /^\p{Lu}$/u.test($letterOf(value)), isLowerCase: (value) => /^\p{Ll}$/u.test($letterOf(value)), isWhitespace: (value) => /^\s$/.test($letterOf(value)),
  toUpperCase: (value) => $letterOf(value).toUpperCase(), toLowerCase: (value) => $letterOf(value).toLowerCase(), toString: $letterOf, valueOf: $letterOf, toChars: (value) => [$letterOf(value)],
  getNumericValue: (value) => { const digit = parseInt($letterOf(value), 36); return Number.isNaN(digit) ? -1 : digit; },
};

$class.String = {
  $name: "String",
  $new: (value = "", second, third) => {
    if (value instanceof $Bytes) return value.text(typeof third === "number" ? undefined : second);
    if (Array.isArray(value)) return (third === undefined ? value : value.slice(Number(second), Number(second) + Number(third))).map((item) => typeof item === "number" ? String.fromCharCode(item & 65535) : $text(item)).join("");
    return $text(value);
  },
  valueOf: (value) => Array.isArray(value) && value.every((item) => typeof item === "string" && item.length === 1) && value.length > 0 ? value.join("") : $text(value), copyValueOf: (value) => value.join(""),
  format: (format, ...values) => format === null || /^[a-z]{2}(_[A-Z]{2})?$/.test($text(format)) && values.length > 0 && typeof values[0] === "string" && !$text(format).includes("%") ? $format(...values) : $format(format, ...values),
  join: (by, ...parts) => (parts.length === 1 && typeof parts[0] === "object" ? [...$list(parts[0])] : parts).map($text).join($text(by)), CASE_INSENSITIVE_ORDER: (a, b) => $cmp(a.toLowerCase(), b.toLowerCase()),
};

const $math = (name) => (...values) => Math[name](...values.map(Number));
$class.Math = { PI: Math.PI, E: Math.E, random: $chance, abs: (value) => value < 0 ? -value : value, max: (a, b) => a > b ? a : b, min: (a, b) => a < b ? a : b };
for (const name of ["sqrt", "cbrt", "floor", "ceil", "log", "log10", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot", "pow"]) $class.Math[name] = $math(name);
Object.assign($class.Math, {
  round: (value) => Math.floor(Number(value) + 0.5), rint: (value) => $round(value, 0, "HALF_EVEN"), signum: (value) => Math.sign(Number(value)), floorMod: (a, b) => ((a % b) + b) % b, floorDiv: (a, b) => Math.floor(a / b),
  toIntExact: (value) => value, addExact: $plus, subtractExact: $sub, multiplyExact: $mul, toRadians: (value) => value / 180 * Math.PI, toDegrees: (value) => value / Math.PI * 180,
});

$class.System = { currentTimeMillis: () => Math.floor(host.now()), nanoTime: () => $mul(Math.floor(host.now() * 1000), 1000), lineSeparator: () => "\n", identityHashCode: (value) => $hash(value) };
$class.Thread = { $name: "Thread" };
for (const name of ["Number", "CharSequence", "Iterable", "Comparable", "Collection"]) $class[name] = { $name: name };
$class.Object = { $name: "Object", $new: () => new $Object() };
class $Object { toString() { return "java.lang.Object"; } }

const $listOf = (...values) => values.length === 1 && values[0] !== null && typeof values[0] === "object" ? [...$list(values[0])] : [];
for (const name of ["ArrayList", "LinkedList", "Vector", "ArrayDeque", "Stack", "CopyOnWriteArrayList"]) $class[name] = { $name: name, $new: $listOf };
$class.List = { $name: "List", of: (...values) => Object.freeze(values.length === 1 && Array.isArray(values[0]) ? [...values[0]] : values), copyOf: (list) => Object.freeze([...$list(list)]) };
for (const name of ["HashSet", "LinkedHashSet", "TreeSet"]) $class[name] = { $name: name, $new: (...values) => new Set(name === "TreeSet" ? $listOf(...values).sort($cmp) : $listOf(...values)) };
$class.Set = { $name: "Set", of: (...values) => new Set(values), copyOf: (list) => new Set($list(list)) };
for (const name of ["HashMap", "LinkedHashMap", "Hashtable", "ConcurrentHashMap"]) $class[name] = { $name: name, $new: (map) => map instanceof Map ? new Map(map) : new Map() };

// A map in the order of its keys.
class $TreeMap extends Map {
  constructor(map) { super(); if (map instanceof Map) for (const [key, value] of map) this.set(key, value); }
  [Symbol.iterator]() { return [...super.entries()].sort(([a], [b]) => $cmp(a, b))[Symbol.iterator](); }
  entries() { return this[Symbol.iterator](); }
  keys() { return [...this].map(([key]) => key)[Symbol.iterator](); }
  values() { return [...this].map(([, value]) => value)[Symbol.iterator](); }
}
$class.TreeMap = { $name: "TreeMap", $new: (map) => new $TreeMap(map) };
$class.Map = { $name: "Map", entry: (key, value) => new $Entry(null, key, value), of: (...values) => { const map = new Map(); for (let at = 0; at < values.length; at += 2) map.set(values[at], values[at + 1]); return map; } };

$class.Arrays = {
  asList: (...values) => values.length === 1 && Array.isArray(values[0]) ? values[0] : values, toString: (list) => $text(list), sort: (list, closure) => { list.sort($order(closure)); return null; }, fill: (list, value) => { list.fill(value); return null; },
  copyOf: (list, size) => list instanceof $Bytes ? new $Bytes(list.u8().slice(0, Number(size))) : $array(null, size).map((_, at) => at < list.length ? list[at] : null), copyOfRange: (list, from, to) => list instanceof $Bytes ? new $Bytes(list.u8().slice(Number(from), Number(to))) : list.slice(Number(from), Number(to)), equals: (a, b) => $eq(a, b), stream: (list) => list, hashCode: (list) => $hash(list),
};

$class.Collections = {
  shuffle: (list, random) => { $shuffle(list, random); return null; }, sort: (list, closure) => { list.sort($order(closure)); return null; }, reverse: (list) => { list.reverse(); return null; }, emptyList: () => [], emptyMap: () => new Map(), emptySet: () => new Set(), singletonList: (item) => [item], singleton: (item) => new Set([item]),
  max: (list, closure) => $most($list(list), closure, 1), min: (list, closure) => $most($list(list), closure, -1), unmodifiableList: (list) => Object.freeze([...list]), unmodifiableMap: (map) => new Map(map), synchronizedList: (list) => list, synchronizedMap: (map) => map, addAll: (list, ...items) => $LIST.addAll(list, items.length === 1 && Array.isArray(items[0]) ? items[0] : items),
  frequency: (list, item) => $READ.count([...$list(list)], item), swap: (list, a, b) => { [list[a], list[b]] = [list[b], list[a]]; return null; }, nCopies: (count, item) => $array(item, count), reverseOrder: () => (a, b) => $cmp(b, a),
};

$class.Objects = { equals: (a, b) => $eq(a, b), isNull: (value) => $null(value) === null, nonNull: (value) => $null(value) !== null, toString: (value, otherwise) => value === null && otherwise !== undefined ? otherwise : $text(value), hash: (...values) => $hash(values), hashCode: (value) => $hash(value), requireNonNullElse: (value, other) => $null(value) === null ? other : value,
  requireNonNull: (value, message) => { if ($null(value) === null) throw $error("NullPointerException", message); return value; } };

class $Atomic {
  constructor(value = 0) { this.value = $as(value, "long"); }
  get() { return this.value; }
  set(value) { this.value = value; return null; }
  intValue() { return this.value; }
  longValue() { return this.value; }
  incrementAndGet() { return this.addAndGet(1); }
  decrementAndGet() { return this.addAndGet(-1); }
  addAndGet(by) { this.value = $plus(this.value, by); return this.value; }
  getAndAdd(by) { const old = this.value; this.addAndGet(by); return old; }
  getAndIncrement() { return this.getAndAdd(1); }
  getAndDecrement() { return this.getAndAdd(-1); }
  getAndSet(value) { const old = this.value; this.value = value; return old; }
  compareAndSet(old, value) { if (this.value !== old) return false; this.value = value; return true; }
  next() { return this.addAndGet(1); }
  toString() { return $text(this.value); }
}
$class.AtomicInteger = $Atomic;
$class.AtomicLong = $Atomic;

class $TimeUnit {
  constructor(name, nanos) { this.name = name; this.nanos = nanos; }
  to(size, nanos) { return Math.trunc(Number(size) * this.nanos / nanos); }
  toString() { return this.name; }
}
$class.TimeUnit = { valueOf: (name) => $class.TimeUnit[name] };
const $TIME_UNITS = [["NANOSECONDS", "toNanos", 1], ["MICROSECONDS", "toMicros", 1e3], ["MILLISECONDS", "toMillis", 1e6], ["SECONDS", "toSeconds", 1e9], ["MINUTES", "toMinutes", 6e10], ["HOURS", "toHours", 36e11], ["DAYS", "toDays", 864e11]];
for (const [name, method, nanos] of $TIME_UNITS) {
  $class.TimeUnit[name] = new $TimeUnit(name, nanos);
  $TimeUnit.prototype[method] = function (size) { return this.to(size, nanos); };
}

class $DecimalFormat {
  constructor(pattern) { this.pattern = $text(pattern).split(";")[0]; this.mode = "HALF_EVEN"; }
  setRoundingMode(mode) { this.mode = mode; return null; }
  setMaximumFractionDigits(digits) { this.most = Number(digits); return null; }
  setMinimumFractionDigits(digits) { this.least = Number(digits); return null; }
  setGroupingUsed(used) { if (!used) this.pattern = this.pattern.replace(/,/g, ""); return null; }
  setDecimalFormatSymbols() { return null; }
  format(value) {
    const [, before, body, after] = /^([^#0,.]*)([#0,.]*)(.*)$/.exec(this.pattern);
    const percent = /%/.test(before + after) ? 100 : 1;
    const [whole, decimals = ""] = body.split(".");
    const [least, most] = [this.least ?? (decimals.match(/0/g) || []).length, this.most ?? decimals.length];
    const rounded = $round(Math.abs(Number(value)) * percent, most, this.mode);
    let [digits, rest = ""] = rounded.toFixed(most).split(".");
    while (rest.length > least && rest.endsWith("0")) rest = rest.slice(0, -1);
    digits = digits.padStart((whole.match(/0/g) || []).length, "0");
    if (!whole.includes("0") && digits === "0" && rest !== "") digits = "";
    if (whole.includes(",")) digits = $grouped(digits);
    return (Number(value) < 0 && rounded !== 0 ? "-" : "") + before.replace(/'/g, "") + digits + (rest === "" ? "" : "." + rest) + after.replace(/'/g, "");
  }
  parse(text) { return Number($text(text).replace(/,/g, "")); }
}
$class.DecimalFormat = $DecimalFormat;

$class.BigDecimal = { $name: "BigDecimal", $new: (value) => $as(value, "double"), valueOf: (value) => Number(value), ZERO: 0, ONE: 1, TEN: 10 };
$class.BigInteger = { $name: "BigInteger", $new: (value, radix) => value instanceof $Bytes || value instanceof $Random ? 0 : typeof value === "number" && radix instanceof $Bytes ? $fit(BigInt("0x" + ($hex(radix) || "0"))) : $parseWhole(value, radix), valueOf: (value) => value, ZERO: 0, ONE: 1, TEN: 10 };
$class.RoundingMode = {};
for (const name of ["HALF_UP", "HALF_DOWN", "HALF_EVEN", "UP", "DOWN", "CEILING", "FLOOR"]) $class.RoundingMode[name] = name;
$class.Locale = { $new: (language) => $text(language), getDefault: () => "en_US", forLanguageTag: (tag) => $text(tag) };
for (const name of ["US", "UK", "ENGLISH", "ROOT", "GERMANY", "GERMAN", "FRANCE", "FRENCH", "CHINA", "CHINESE", "JAPAN", "ITALY", "CANADA", "KOREA"]) $class.Locale[name] = "en";
