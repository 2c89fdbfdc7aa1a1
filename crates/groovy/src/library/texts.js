// Texts: what Java and Groovy call on them, buffers of them, and formats.

class $StringBuilder {
  constructor(value) { this.value = typeof value === "number" || value === undefined ? "" : $text(value); }
  append(value, from, to) {
    let text = value instanceof $Bytes ? value.text() : $text(value);
    if (from !== undefined) text = text.slice(Number(from), Number(to));
    this.value += text;
    return this;
  }
  insert(at, value) { this.value = this.value.slice(0, Number(at)) + $text(value) + this.value.slice(Number(at)); return this; }
  reverse() { this.value = [...this.value].reverse().join(""); return this; }
  delete(from, to) { this.value = this.value.slice(0, Number(from)) + this.value.slice(Number(to)); return this; }
  deleteCharAt(at) { return this.delete(Number(at), Number(at) + 1); }
  replace(from, to, text) { this.value = this.value.slice(0, Number(from)) + $text(text) + this.value.slice(Number(to)); return this; }
  setLength(length) { this.value = this.value.slice(0, Number(length)).padEnd(Number(length), "\0"); return null; }
  setCharAt(at, letter) { this.replace(at, Number(at) + 1, letter); return null; }
  length() { return this.value.length; }
  size() { return this.value.length; }
  charAt(at) { return $TEXT.charAt(this.value, at); }
  substring(from, to) { return $TEXT.substring(this.value, from, to); }
  indexOf(text, from) { return $TEXT.indexOf(this.value, text, from); }
  lastIndexOf(text) { return this.value.lastIndexOf($text(text)); }
  isEmpty() { return this.value === ""; }
  contains(text) { return this.value.includes($text(text)); }
  equals(other) { return this === other; }
  compareTo(other) { return $cmp(this.value, $text(other)); }
  toString() { return this.value; }
}
$class.StringBuilder = $StringBuilder;
$class.StringBuffer = $StringBuilder;

function $bounds(text, from, to) {
  if (from < 0 || to > text.length || from > to) {
    throw $error("StringIndexOutOfBoundsException", `begin ${from}, end ${to}, length ${text.length}`);
  }
}

function $pad(text, size, pad) {
  const missing = Number(size) - text.length;
  return missing <= 0 ? "" : pad.repeat(Math.ceil(missing / pad.length)).slice(0, missing);
}

function $lines(text) {
  const lines = text.split(/\r\n|\r|\n/);
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

const $TEXT = {
  __proto__: null,
  length: (self) => self.length, size: (self) => self.length, isEmpty: (self) => self === "", isBlank: (self) => self.trim() === "",
  isAllWhitespace: (self) => self.trim() === "",
  charAt: (self, at) => {
    if (!(at >= 0 && at < self.length)) throw $error("StringIndexOutOfBoundsException", `index ${at}, length ${self.length}`);
    return self.charAt(Number(at));
  },
  codePointAt: (self, at) => self.codePointAt(Number(at)), charValue: (self) => self.charAt(0),
  substring: (self, from, to) => {
    from = Number(from);
    to = to === undefined ? self.length : Number(to);
    $bounds(self, from, to);
    return self.slice(from, to);
  },
  subSequence: (self, from, to) => $TEXT.substring(self, from, to),
  indexOf: (self, text, from) => self.indexOf(typeof text === "number" ? String.fromCharCode(text) : $text(text), from === undefined ? 0 : Number(from)),
  lastIndexOf: (self, text, from) => self.lastIndexOf(typeof text === "number" ? String.fromCharCode(text) : $text(text), from === undefined ? Infinity : Number(from)),
  contains: (self, text) => self.includes($text(text)), containsIgnoreCase: (self, text) => self.toLowerCase().includes($text(text).toLowerCase()),
  startsWith: (self, text, at) => self.startsWith($text(text), at === undefined ? 0 : Number(at)), endsWith: (self, text) => self.endsWith($text(text)),
  startsWithIgnoreCase: (self, text) => self.toLowerCase().startsWith($text(text).toLowerCase()),
  endsWithIgnoreCase: (self, text) => self.toLowerCase().endsWith($text(text).toLowerCase()),
  equals: (self, other) => other instanceof $Letter ? self === other.text : self === other,
  equalsIgnoreCase: (self, other) => typeof other === "string" && self.toLowerCase() === other.toLowerCase(),
  contentEquals: (self, other) => self === $text(other),
  compareTo: (self, other) => $compareTexts(self, $text(other)), compareToIgnoreCase: (self, other) => $compareTexts(self.toLowerCase(), $text(other).toLowerCase()),
  toLowerCase: (self) => self.toLowerCase(), toUpperCase: (self) => self.toUpperCase(), trim: (self) => self.replace(/^[\0- ]+|[\0- ]+$/g, ""),
  strip: (self) => self.trim(), stripLeading: (self) => self.trimStart(), stripTrailing: (self) => self.trimEnd(),
  capitalize: (self) => $capital(self), uncapitalize: (self) => self.charAt(0).toLowerCase() + self.slice(1), reverse: (self) => [...self].reverse().join(""),
  concat: (self, other) => self + $text(other), plus: (self, other) => self + $text(other), minus: (self, other) => $sub(self, other),
  multiply: (self, times) => self.repeat(Number(times)), repeat: (self, times) => self.repeat(Number(times)),
  replace: (self, what, by) => {
    if (what instanceof Map) {
      for (const [key, value] of what) self = self.split($text(key)).join($text(value));
      return self;
    }
    if (typeof by === "function") return $TEXT.replaceAll(self, what, by);
    return self.split($text(what)).join($text(by));
  },
  replaceAll: (self, pattern, by) => $replace(self, pattern, by, true), replaceFirst: (self, pattern, by) => $replace(self, pattern, by, false),
  matches: (self, pattern) => $matches(self, pattern), find: (self, pattern, closure) => {
    const found = new RegExp($regex(pattern)).exec(self);
    if (!found) return null;
    if (closure === undefined) return found[0];
    return $do(closure, found.length > 1 ? [...found].map($null) : found[0]);
  },
  findAll: (self, pattern, closure) => {
    const all = [...self.matchAll(new RegExp($regex(pattern), $regex(pattern).flags + "g"))];
    return all.map((found) => closure === undefined ? found[0] : $do(closure, found.length > 1 ? [...found].map($null) : found[0]));
  },
  eachMatch: (self, pattern, closure) => {
    for (const found of self.matchAll(new RegExp($regex(pattern), $regex(pattern).flags + "g"))) $do(closure, found.length > 1 ? [...found].map($null) : found[0]);
    return self;
  },
  split: (self, pattern, limit) => pattern === undefined ? $TEXT.tokenize(self) : $split(self, pattern, limit === undefined ? 0 : Number(limit)),
  tokenize: (self, letters) => {
    const wanted = letters === undefined ? " \t\n\r\f" : $text(letters);
    const parts = [];
    let part = "";
    for (const letter of self) {
      if (!wanted.includes(letter)) part += letter;
      else if (part !== "") { parts.push(part); part = ""; }
    }
    if (part !== "") parts.push(part);
    return parts;
  },
  readLines: (self) => $lines(self), lines: (self) => $lines(self),
  eachLine: (self, closure) => {
    let result = null;
    $lines(self).forEach((line, at) => { result = closure.length > 1 ? $do(closure, line, at) : $do(closure, line); });
    return result;
  },
  each: (self, closure) => { for (const letter of self) $do(closure, letter); return self; },
  eachWithIndex: (self, closure) => { [...self].forEach((letter, at) => $do(closure, letter, at)); return self; },
  collect: (self, closure) => [...self].map((letter) => $do(closure, letter)), any: (self, closure) => [...self].some((letter) => $truth($do(closure, letter))),
  every: (self, closure) => [...self].every((letter) => $truth($do(closure, letter))),
  count: (self, text) => text === "" ? 0 : self.split($text(text)).length - 1,
  toList: (self) => [...self], toSet: (self) => new Set(self), toCharArray: (self) => [...self], getChars: (self) => [...self], chars: (self) => [...self].map((letter) => letter.charCodeAt(0)),
  padLeft: (self, size, pad = " ") => $pad(self, size, $text(pad)) + self, padRight: (self, size, pad = " ") => self + $pad(self, size, $text(pad)),
  center: (self, size, pad = " ") => { const left = $pad(self, Math.floor((Number(size) + self.length) / 2), $text(pad)); return left + self + $pad(left + self, size, $text(pad)); },
  take: (self, count) => self.slice(0, Number(count)), drop: (self, count) => self.slice(Number(count)),
  takeRight: (self, count) => Number(count) <= 0 ? "" : self.slice(-Number(count)), dropRight: (self, count) => self.slice(0, Math.max(0, self.length - Number(count))),
  takeWhile: (self, closure) => { let end = 0; while (end < self.length && $truth($do(closure, self[end]))) end++; return self.slice(0, end); },
  takeBefore: (self, text) => self.includes($text(text)) ? self.slice(0, self.indexOf($text(text))) : "", takeAfter: (self, text) => self.includes($text(text)) ? self.slice(self.indexOf($text(text)) + $text(text).length) : "",
  takeBetween: (self, from, to = from) => $class.StringUtils.substringBetween(self, from, to) ?? "",
  toInteger: (self) => $parseWhole(self.trim()), toLong: (self) => $parseWhole(self.trim()), toShort: (self) => $parseWhole(self.trim()), toBigInteger: (self) => $parseWhole(self.trim()),
  toDouble: (self) => $parseDecimal(self), toFloat: (self) => $parseDecimal(self), toBigDecimal: (self) => $parseDecimal(self),
  toBoolean: (self) => ["true", "y", "1"].includes(self.trim().toLowerCase()), asBoolean: (self) => self !== "",
  isNumber: (self) => /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(self.trim()), isInteger: (self) => /^[-+]?\d{1,10}$/.test(self.trim()) && Math.abs(Number(self)) <= 2147483648,
  isLong: (self) => /^[-+]?\d{1,19}$/.test(self.trim()), isDouble: (self) => $TEXT.isNumber(self), isFloat: (self) => $TEXT.isNumber(self), isBigDecimal: (self) => $TEXT.isNumber(self),
  getBytes: (self) => new $Bytes(self), encodeBase64: (self) => $base64(new $Bytes(self)), decodeBase64: (self) => $unbase64(self), decodeHex: (self) => $unhex(self),
  bytes: (self) => new $Bytes(self), md5: (self) => $hex($digest("MD5", self)), sha256: (self) => $hex($digest("SHA-256", self)), digest: (self, algorithm) => $hex($digest($algorithm(algorithm), self)),
  format: (self, ...values) => $format(self, ...values), formatted: (self, ...values) => $format(self, ...values), intern: (self) => self, toString: (self) => self,
  hashCode: (self) => $hash(self), getAt: (self, at) => $at(0, self, at), stripIndent: (self) => $stripIndent(self),
  stripMargin: (self, margin = "|") => self.split("\n").map((line) => { const at = line.indexOf($text(margin)); return at >= 0 && line.slice(0, at).trim() === "" ? line.slice(at + 1) : line; }).join("\n"),
  normalize: (self) => self.replace(/\r\n?/g, "\n"), tr: (self, from, to) => { const [a, b] = [$spell(from), $spell(to)]; return [...self].map((letter) => a.includes(letter) ? b[Math.min(a.indexOf(letter), b.length - 1)] : letter).join(""); },
  isUUID: (self) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(self), toURL: (self) => new $Url(self), toURI: (self) => new $Url(self), expand: (self) => self, denormalize: (self) => self,
  next: (self) => $step(self, 1), isDigit: (self) => /^\d$/.test(self), isLetter: (self) => /^\p{L}$/u.test(self), isUpperCase: (self) => self !== self.toLowerCase(), isLowerCase: (self) => self !== self.toUpperCase(),
  isLetterOrDigit: (self) => /^[\p{L}\d]$/u.test(self), toCharacter: (self) => self.charAt(0),
};

function $spell(text) {
  return [...$text(text).replace(/(.)-(.)/g, (_, from, to) => $range(from, to, true).join(""))];
}

function $compareTexts(a, b) {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a.charCodeAt(at) !== b.charCodeAt(at)) return a.charCodeAt(at) - b.charCodeAt(at);
  return a.length - b.length;
}

function $stripIndent(text) {
  const lines = text.split("\n");
  const indent = Math.min(...lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length));
  return Number.isFinite(indent) ? lines.map((line) => line.slice(indent)).join("\n") : text;
}

function $grouped(digits) { return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ","); }

// Formats of java.util.Formatter: %s %d %f %x %c %b %e %n %% and those of dates, with flags, width and precision.
function $format(format, ...values) {
  if (values.length === 1 && Array.isArray(values[0])) values = values[0];
  let next = 0;
  return $text(format).replace(/%(\d+\$)?([-#+ 0,(]*)(\d+)?(\.\d+)?([a-zA-Z%])([a-zA-Z])?/g, (whole, index, flags, width, precision, kind, suffix) => {
    const is_date = kind === "t" || kind === "T";
    const behind = is_date || suffix === undefined ? "" : suffix;
    if (kind === "n") return "\n" + behind;
    if (kind === "%") return "%" + behind;
    const at = index ? parseInt(index, 10) - 1 : next++;
    if (at >= values.length) throw $error("MissingFormatArgumentException", `Format specifier '${whole}'`);
    let value = values[at];
    if (value instanceof $Letter) value = kind === "d" ? value.valueOf() : value.text;
    const digits = precision === undefined ? undefined : parseInt(precision.slice(1), 10);
    let text;
    const number = () => {
      if (typeof value !== "number" && typeof value !== "bigint" && !(value instanceof Number) && !(value instanceof $Atomic)) {
        throw $error("IllegalFormatConversionException", `${whole}: a ${$kind(value)} ('${$text(value)}') is no number`);
      }
      return value instanceof $Atomic ? value.value : value instanceof Number ? Number(value) : value;
    };
    const signed = (negative, digits_) => (negative ? (flags.includes("(") ? "(" : "-") : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "") + digits_ + (negative && flags.includes("(") ? ")" : "");
    switch (kind) {
      case "s": case "S": text = $text(value); if (digits !== undefined) text = text.slice(0, digits); break;
      case "b": case "B": text = value === null ? "false" : typeof value === "boolean" ? String(value) : "true"; break;
      case "c": case "C": text = value === null ? "null" : typeof value === "number" ? String.fromCodePoint(value) : $text(value); break;
      case "h": case "H": text = ($hash(value) >>> 0).toString(16); break;
      case "d": {
        if (value === null) { text = "null"; break; }
        const whole_ = number();
        if (typeof whole_ === "number" && !Number.isInteger(whole_)) throw $error("IllegalFormatConversionException", `${whole}: ${whole_} is no whole number`);
        const shown = String(whole_ < 0 ? -whole_ : whole_);
        text = signed(whole_ < 0, flags.includes(",") ? $grouped(shown) : shown);
        break;
      }
      case "x": case "X": case "o": {
        const whole_ = number();
        const radix = kind === "o" ? 8 : 16;
        // A byte of a digest has two digits; here nobody knows any more that it was one, but by its size.
        text = whole_ < 0 ? BigInt.asUintN(whole_ >= -128 ? 8 : whole_ >= -2147483648 ? 32 : 64, BigInt(whole_)).toString(radix) : whole_.toString(radix);
        break;
      }
      case "f": {
        if (value === null) { text = "null"; break; }
        const decimal = Number(number());
        const places = digits === undefined ? 6 : digits;
        let shown = $round(Math.abs(decimal), places).toFixed(places);
        if (flags.includes(",")) shown = shown.replace(/^\d+/, $grouped);
        text = signed(decimal < 0, shown);
        break;
      }
      case "e": case "E": text = Number(number()).toExponential(digits === undefined ? 6 : digits).replace(/e([-+])(\d)$/, "e$10$2"); break;
      case "g": text = Number(number()).toPrecision(digits === undefined ? 6 : digits); break;
      case "t": case "T": text = $dateFormat(suffix, value); break;
      default: throw $error("UnknownFormatConversionException", `Conversion = '${kind}'`);
    }
    if (kind === "S" || kind === "X" || kind === "B" || kind === "C" || kind === "E" || kind === "H") text = text.toUpperCase();
    const size = width === undefined ? 0 : parseInt(width, 10);
    if (flags.includes("-")) text = text.padEnd(size);
    else if (flags.includes("0") && "dfxXoeE".includes(kind)) {
      const sign = /^[-+ (]/.test(text) ? text[0] : "";
      text = sign + text.slice(sign.length).padStart(size - sign.length, "0");
    } else text = text.padStart(size);
    return text + behind;
  });
}
