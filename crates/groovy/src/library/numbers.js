// Arithmetic. Whole numbers stay exact: what outgrows 53 bits goes on as a BigInt, and comes back where it fits.

function $fit(value) {
  return value <= 9007199254740991n && value >= -9007199254740991n ? Number(value) : value;
}

function $number(value, sign) {
  if (typeof value === "number" || typeof value === "bigint") return value;
  if (value instanceof $Letter) return value.valueOf();
  if (value instanceof $Atomic) return value.value;
  if (typeof value === "string" && value.length === 1 && (value < "0" || value > "9")) return value.charCodeAt(0);
  if (value === null || value === undefined) throw $error("NullPointerException", `'${sign}' with null`);
  throw $error("MissingMethodException", `'${sign}' is not known of a ${$kind(value)} ('${$text(value)}')`);
}

function $arith(sign, a, b, small, large) {
  a = $number(a, sign);
  b = $number(b, sign);
  if (typeof a === "number" && typeof b === "number") {
    const result = small(a, b);
    // Decimals of Groovy are exact: 0.1 + 0.2 is 0.3.
    if (!Number.isInteger(result) && Number.isFinite(result)) return Number(result.toPrecision(15));
    if (Number.isSafeInteger(result) || !Number.isInteger(a) || !Number.isInteger(b) || !large || !Number.isFinite(result)) return result;
    return $fit(large(BigInt(a), BigInt(b)));
  }
  if (large && (typeof a === "bigint" || Number.isInteger(a)) && (typeof b === "bigint" || Number.isInteger(b))) return $fit(large(BigInt(a), BigInt(b)));
  return small(Number(a), Number(b));
}

function $plus(a, b) {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  if (typeof a === "string" || typeof b === "string") return $text(a) + $text(b);
  if (Array.isArray(a)) return Array.isArray(b) || b instanceof Set ? [...a, ...b] : [...a, b];
  if (a instanceof Map && b instanceof Map) return new Map([...a, ...b]);
  if (a instanceof Set) return new Set([...a, ...(Array.isArray(b) || b instanceof Set ? b : [b])]);
  if (a instanceof $Date) return b instanceof $Span ? b.after(a) : new $Date(a.ms + Number(b) * 86400000);
  if (a instanceof $StringBuilder || b instanceof $StringBuilder) return $text(a) + $text(b);
  if (a !== null && typeof a === "object" && typeof a.plus === "function") return a.plus(b);
  return $arith("+", a, b, (x, y) => x + y, (x, y) => x + y);
}

function $sum(first, ...rest) {
  for (const next of rest) first = $plus(first, next);
  return first;
}

function $sub(a, b) {
  if (typeof a === "number" && typeof b === "number") return $arith("-", a, b, (x, y) => x - y, (x, y) => x - y);
  if (typeof a === "string" && !(b instanceof $Letter)) {
    if (b instanceof $Pattern) return $TEXT.replaceFirst(a, b, "");
    return typeof b === "number" && a.length === 1 && (a < "0" || a > "9") ? a.charCodeAt(0) - b : a.replace($text(b), () => "");
  }
  if (typeof a === "string" && a.length === 1) return a.charCodeAt(0) - b.valueOf();
  if (Array.isArray(a)) return a.filter((item) => Array.isArray(b) || b instanceof Set ? ![...b].some((other) => $eq(item, other)) : !$eq(item, b));
  if (a instanceof Set) return new Set([...a].filter((item) => Array.isArray(b) || b instanceof Set ? ![...b].some((other) => $eq(item, other)) : !$eq(item, b)));
  if (a instanceof $Date) return b instanceof $Span ? b.before(a) : b instanceof $Date ? Math.floor(a.ms / 86400000) - Math.floor(b.ms / 86400000) : new $Date(a.ms - Number(b) * 86400000);
  if (a !== null && typeof a === "object" && typeof a.minus === "function") return a.minus(b);
  return $arith("-", a, b, (x, y) => x - y, (x, y) => x - y);
}

function $mul(a, b) {
  if (typeof a === "string") return a.repeat(Number(b));
  if (Array.isArray(a)) {
    const result = [];
    for (let at = 0; at < Number(b); at++) result.push(...a);
    return result;
  }
  return $arith("*", a, b, (x, y) => x * y, (x, y) => x * y);
}

// Groovy's: of whole numbers a decimal, which after ten digits is rounded where it would not end.
function $div(a, b) {
  a = $number(a, "/");
  b = $number(b, "/");
  const whole = (typeof a === "bigint" || Number.isInteger(a)) && (typeof b === "bigint" || Number.isInteger(b));
  if (whole && b == 0) throw $error("ArithmeticException", "Division by zero");
  if (whole && (typeof a === "bigint" || typeof b === "bigint") && BigInt(a) % BigInt(b) === 0n) return $fit(BigInt(a) / BigInt(b));
  const result = Number(a) / Number(b);
  if (!whole || Number.isInteger(result)) return result;
  let rest = Number(b);
  for (let x = Number(a), y = rest; ;) {
    if (y === 0) { rest = Math.abs(rest / x); break; }
    [x, y] = [y, x % y];
  }
  while (rest % 2 === 0) rest /= 2;
  while (rest % 5 === 0) rest /= 5;
  return rest === 1 ? result : Number(result.toFixed(10));
}

// Java's: of whole numbers a whole one.
function $idiv(a, b) {
  a = $number(a, "/");
  b = $number(b, "/");
  const whole = (typeof a === "bigint" || Number.isInteger(a)) && (typeof b === "bigint" || Number.isInteger(b));
  if (!whole) return Number(a) / Number(b);
  if (b == 0) throw $error("ArithmeticException", "/ by zero");
  return typeof a === "bigint" || typeof b === "bigint" ? $fit(BigInt(a) / BigInt(b)) : Math.trunc(a / b);
}

function $mod(a, b) {
  if ($number(b, "%") == 0) throw $error("ArithmeticException", "Division by zero");
  return $arith("%", a, b, (x, y) => x % y + 0, (x, y) => x % y);
}

function $pow(a, b) {
  return $arith("**", a, b, (x, y) => x ** y, Number(b) >= 0 ? (x, y) => x ** y : null);
}

function $neg(value) {
  value = $number(value, "-");
  return value === 0 ? 0 : -value;
}

function $step(value, by) {
  if (value instanceof $Letter) return new $Letter(String.fromCharCode(value.valueOf() + by));
  if (typeof value === "string" && value.length > 0) return value.slice(0, -1) + String.fromCharCode(value.charCodeAt(value.length - 1) + by);
  if (value instanceof $Date) return new $Date(value.ms + by * 86400000);
  return $plus($number(value, "++"), by);
}

function $bits(sign, a, b) {
  if (typeof a === "boolean" || typeof b === "boolean") {
    const [x, y] = [$truth(a), $truth(b)];
    return sign === "&" ? x && y : sign === "|" ? x || y : x !== y;
  }
  if (a instanceof Set || Array.isArray(a)) return sign === "&" ? $LIST.intersect([...a], b) : $plus(a, b);
  const [x, y] = [BigInt($whole($number(a, sign))), BigInt($whole($number(b, sign)))];
  const small = typeof a !== "bigint" && Math.abs(Number(a)) <= 0xffffffff;
  switch (sign) {
    case "&": return $fit(BigInt.asIntN(64, x & y));
    case "|": return $fit(BigInt.asIntN(64, x | y));
    case "^": return $fit(BigInt.asIntN(64, x ^ y));
    case "<<": return $fit(BigInt.asIntN(64, x << (y & 63n)));
    case ">>": return $fit(x >> (y & 63n));
    default: return small ? Number(x) >>> Number(y) : $fit(BigInt.asUintN(64, x) >> (y & 63n));
  }
}

function $shl(target, value) {
  if (Array.isArray(target)) { target.push(value); return target; }
  if (target instanceof Set) { target.add(value); return target; }
  if (target instanceof Map) {
    if (value instanceof $Entry) target.set(value.key, value.value);
    else for (const [key, item] of value) target.set(key, item);
    return target;
  }
  if (typeof target === "string") return target + $text(value);
  if (target instanceof $StringBuilder) return target.append(value);
  if (target !== null && typeof target === "object" && typeof target.leftShift === "function") return target.leftShift(value);
  return $bits("<<", target, value);
}

function $whole(value) {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case "number": return Number.isFinite(value) ? Math.trunc(value) + 0 : 0;
    case "bigint": return value;
    case "string": return value.length === 1 ? value.charCodeAt(0) : $parseWhole(value.trim());
  }
  return Number(value.valueOf());
}

function $parseWhole(text, radix) {
  if (text === null || text === undefined) throw $error("NumberFormatException", "null");
  text = $text(text);
  if (radix !== undefined && Number(radix) !== 10) {
    const digits = text.replace(/^[-+]/, "");
    const valid = [...digits.toLowerCase()].every((digit) => !Number.isNaN(parseInt(digit, Number(radix))));
    if (!valid || digits === "") throw $error("NumberFormatException", `For input string: "${text}"`);
    return parseInt(text, Number(radix));
  }
  if (!/^[-+]?\d+$/.test(text)) throw $error("NumberFormatException", `For input string: "${text}"`);
  return $fit(BigInt(text.replace(/^\+/, "")));
}

function $parseDecimal(text) {
  if (text === null || text === undefined) throw $error("NullPointerException", "null is no number");
  text = $text(text).trim();
  if (!/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?[dDfF]?$/.test(text)) throw $error("NumberFormatException", `For input string: "${text}"`);
  return Number(text.replace(/[dDfF]$/, ""));
}

function $range(from, to, inclusive) {
  if (typeof from === "string" && typeof to === "string") {
    const codes = $range(from.charCodeAt(0), to.charCodeAt(0), inclusive);
    return codes.map((code) => String.fromCharCode(code));
  }
  const [first, last] = [Number(from), Number(to)];
  if (Math.abs(last - first) > 1000000) throw $error("IllegalArgumentException", `a range of ${Math.abs(last - first)} numbers; up to 1,000,000 are made`);
  const list = [];
  if (first <= last) for (let at = first; inclusive ? at <= last : at < last; at++) list.push(at);
  else for (let at = first; inclusive ? at >= last : at > last; at--) list.push(at);
  return list;
}

function $array(fill, size, ...rest) {
  const list = [];
  for (let at = 0; at < Number(size); at++) list.push(rest.length === 0 ? fill : $array(fill, ...rest));
  return list;
}

// Rounded to so many digits, half away from zero where nothing else is said; from the decimal text, so that 2.675 is what it says.
function $round(value, digits, mode = "HALF_UP") {
  value = Number(value);
  const negative = value < 0;
  const shifted = Number($shifted(Math.abs(value), digits));
  let whole = Math.floor(shifted);
  const rest = shifted - whole;
  const up = { HALF_UP: rest >= 0.5, HALF_DOWN: rest > 0.5, HALF_EVEN: rest > 0.5 || (rest === 0.5 && whole % 2 === 1), UP: rest > 0, DOWN: false,
    CEILING: rest > 0 && !negative, FLOOR: rest > 0 && negative }[$text(mode)];
  if (up) whole += 1;
  return Number($shifted(negative ? -whole : whole, -digits));
}

function $shifted(value, digits) {
  const [number, exponent = "0"] = String(value).split("e");
  return `${number}e${Number(exponent) + digits}`;
}

const $NUMBER = {
  __proto__: null,
  toInteger: (self) => $whole(self), toLong: (self) => $whole(self), toDouble: (self) => Number(self), toFloat: (self) => Number(self),
  toBigDecimal: (self) => self, toBigInteger: (self) => $whole(self),
  intValue: (self) => $whole(self), longValue: (self) => $whole(self), doubleValue: (self) => Number(self), floatValue: (self) => Number(self),
  shortValue: (self) => $whole(self), byteValue: (self) => (Number(self) << 24) >> 24,
  plus: (self, other) => $plus(self, other), minus: (self, other) => $sub(self, other), multiply: (self, other) => $mul(self, other),
  div: (self, other) => $div(self, other), mod: (self, other) => $mod(self, other), remainder: (self, other) => $mod(self, other),
  intdiv: (self, other) => $idiv($whole(self), $whole(other)), divide: (self, other, scale, mode) =>
    scale === undefined ? $div(self, other) : typeof scale === "number" ? $round(Number(self) / Number(other), scale, mode) : $round(Number(self) / Number(other), 0, scale),
  add: (self, other) => $plus(self, other), subtract: (self, other) => $sub(self, other),
  power: (self, other) => $pow(self, other), pow: (self, other) => $pow(self, other), negate: (self) => $neg(self),
  abs: (self) => self < 0 ? -self : self, signum: (self) => self < 0 ? -1 : self > 0 ? 1 : 0,
  max: (self, other) => self > other ? self : other, min: (self, other) => self < other ? self : other,
  round: (self, digits) => digits === undefined ? Math.floor(Number(self) + 0.5) : $round(self, Number(digits)),
  trunc: (self, digits) => digits === undefined ? Math.trunc(Number(self)) : $round(self, Number(digits), "DOWN"),
  setScale: (self, digits, mode) => new $Scaled($round(self, Number(digits), mode === undefined ? "HALF_UP" : mode), Number(digits)),
  times: (self, closure) => { for (let at = 0; at < Number(self); at++) $do(closure, at); return null; },
  upto: (self, to, closure) => { for (let at = Number(self); at <= Number(to); at++) $do(closure, at); return null; },
  downto: (self, to, closure) => { for (let at = Number(self); at >= Number(to); at--) $do(closure, at); return null; },
  step: (self, to, by, closure) => { for (let at = Number(self); by > 0 ? at < to : at > to; at += Number(by)) $do(closure, at); return null; },
  compareTo: (self, other) => $cmp(self, other), next: (self) => $plus(self, 1), previous: (self) => $sub(self, 1),
  isNaN: (self) => Number.isNaN(self), isInfinite: (self) => self === Infinity || self === -Infinity,
  toPlainString: (self) => $text(self), stripTrailingZeros: (self) => self, scale: (self) => ($text(self).split(".")[1] || "").length,
  toString: (self, radix) => radix === undefined ? $text(self) : self.toString(Number(radix)),
  getTime: (self) => self, toEpochMilli: (self) => self,
};

// A decimal with a fixed number of digits: prints them all, counts as the number.
class $Scaled extends Number {
  constructor(value, digits) { super(value); this.digits = digits; }
  toString() { return Number(this.valueOf()).toFixed(Math.max(0, this.digits)); }
}

const $TRUTH = {
  __proto__: null,
  booleanValue: (self) => self, compareTo: (self, other) => $cmp(self, other), and: (self, other) => self && other, or: (self, other) => self || other,
  xor: (self, other) => self !== other,
};
