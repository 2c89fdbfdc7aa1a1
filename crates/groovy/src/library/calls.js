// Calls, properties and indexes of values whose kind only shows when the script runs.

// A closure called; a list of as many values as it takes is taken apart.
function $do(closure, ...values) {
  if (typeof closure !== "function") {
    if (closure !== null && typeof closure === "object" && typeof closure.apply === "function") return $null(closure.apply(...values));
    throw $error("MissingMethodException", `a ${$kind(closure)} can not be called`);
  }
  if (values.length === 1 && closure.length > 1 && Array.isArray(values[0])) return $null(closure(...values[0]));
  return $null(closure(...values));
}

function $invoke(line, closure, ...values) {
  if (typeof closure !== "function" && !(closure !== null && typeof closure === "object")) {
    throw $error(closure === null || closure === undefined ? "NullPointerException" : "MissingMethodException", `line ${line}: a ${$kind(closure)} can not be called`);
  }
  return $do(closure, ...values);
}

function $methods(value) {
  switch (typeof value) {
    case "string": return $TEXT;
    case "number": case "bigint": return $NUMBER;
    case "boolean": return $TRUTH;
    case "function": return $CLOSURE;
  }
  if (Array.isArray(value)) return $LIST;
  if (value instanceof Map) return $MAP;
  if (value instanceof Set) return $SET;
  if (value instanceof $Letter) return $LETTER;
  if (value instanceof Error) return $EXCEPTION;
  if (value instanceof $Scaled) return $NUMBER;
  return null;
}

function $call(line, value, name, ...values) {
  if (value === null || value === undefined) {
    const method = $ANY[name];
    if (name === "toString" || name === "equals" || name === "is") return method(value, ...values);
    throw $error("NullPointerException", `line ${line}: '${name}' of null`);
  }
  const methods = $methods(value);
  try {
    if (methods === null) {
      const method = value[name];
      if (typeof method === "function" && name !== "constructor") return $null(method.apply(value, values));
    } else {
      const method = methods[name];
      if (method !== undefined) return $null(method(value, ...values));
      // A closure that is held by a map.
      if (value instanceof Map && typeof value.get(name) === "function") return $do(value.get(name), ...values);
      if (typeof value === "function" && value.$name && typeof value[name] === "function") return $null(value[name](...values));
    }
    const method = $ANY[name];
    if (method !== undefined) return $null(method(value, ...values));
  } catch (error) {
    throw $placed(line, error);
  }
  throw $error("MissingMethodException", `line ${line}: '${name}' is not known of a ${$kind(value)}`);
}

// What goes wrong inside of the library has the line of the call.
function $placed(line, error) {
  if (error instanceof TypeError) return $error("NullPointerException", `line ${line}: ${error.message}`);
  return error;
}

function $capital(name) { return name.charAt(0).toUpperCase() + name.slice(1); }

function $get(line, value, name) {
  if (value === null || value === undefined) throw $error("NullPointerException", `line ${line}: '${name}' of null`);
  name = $text(name);
  if (value instanceof Map) {
    if (value.has(name)) return $null(value.get(name));
    for (const [key, item] of value) if (typeof key !== "string" && $text(key) === name) return item;
    return value instanceof $Default ? value.get(name) : null;
  }
  if (name === "class") return $type($nameOf(value));
  if (typeof value === "object" || typeof value === "function") {
    if (Array.isArray(value)) {
      if (name === "length") return value.length;
      if (name !== "empty") return value.map((item) => item === null || item === undefined ? null : $get(line, item, name));
    }
    if (value instanceof Set && name !== "empty") return [...value].map((item) => $get(line, item, name));
    if ($methods(value) === null || value.$name) {
      const own = value[name];
      if (own !== undefined && typeof own !== "function") return own;
    }
  }
  const methods = $methods(value) || value;
  for (const getter of ["get" + $capital(name), "is" + $capital(name)]) {
    if (typeof methods[getter] === "function") return methods === value ? $null(value[getter]()) : $null(methods[getter](value));
  }
  // Inside of `with`, and for fields of records, a method of that name is as good.
  if (name === "length" && typeof value === "string") return value.length;
  throw $error("MissingPropertyException", `line ${line}: '${name}' is not known of a ${$kind(value)}`);
}

function $set(line, value, name, item) {
  if (value === null || value === undefined) throw $error("NullPointerException", `line ${line}: '${name}' of null is set`);
  if (value instanceof Map) { value.set(name, item); return item; }
  const setter = "set" + $capital($text(name));
  if ($methods(value) === null && typeof value[setter] === "function") { value[setter](item); return item; }
  if (value instanceof $JsonBuilder) { value.content.set(name, item); return item; }
  throw $error("MissingPropertyException", `line ${line}: '${name}' of a ${$kind(value)} can not be set`);
}

function $index(list, at) {
  at = Number(at);
  return at < 0 ? list.length + at : at;
}

function $at(line, value, key, ...more) {
  if (more.length > 0) key = [key, ...more];
  if (value === null || value === undefined) throw $error("NullPointerException", `line ${line}: '[${$text(key)}]' of null`);
  if (value instanceof Map) return $null(value.has(key) ? value.get(key) : $MAP.get(value, key));
  if (typeof key === "string" && typeof value !== "string") return $get(line, value, key);
  if (Array.isArray(value) || value instanceof Set) {
    const list = Array.isArray(value) ? value : [...value];
    if (Array.isArray(key)) return key.map((at) => $null(list[$index(list, at)]));
    return $null(list[$index(list, key)]);
  }
  if (typeof value === "string" || value instanceof $StringBuilder) {
    const text = $text(value);
    if (Array.isArray(key)) return key.map((at) => text.charAt($index(text, at))).join("");
    const at = $index(text, key);
    if (at < 0 || at >= text.length) throw $error("StringIndexOutOfBoundsException", `line ${line}: index ${key} of a text of ${text.length}`);
    return text.charAt(at);
  }
  if (value instanceof $Bytes) return Array.isArray(key) ? key.map((at) => value.at($index(value, at))) : value.at($index(value, key));
  if (typeof value.getAt === "function") return $null(value.getAt(key));
  throw $error("MissingMethodException", `line ${line}: '[${$text(key)}]' is not known of a ${$kind(value)}`);
}

// `list[1..-2]`, `text[0..<3]`: backwards where the ends are.
function $slice(line, value, from, to, inclusive) {
  if (value === null || value === undefined) throw $error("NullPointerException", `line ${line}: a range of null`);
  if (value instanceof Map || value instanceof $Matcher) return $at(line, value, $range(from, to, inclusive));
  const list = typeof value === "string" || value instanceof $StringBuilder ? $text(value) : [...$list(value)];
  let [first, last] = [$index(list, from), $index(list, to)];
  const back = first > last;
  if (!inclusive) last += back ? 1 : -1;
  if (!inclusive && first === (back ? last - 1 : last + 1)) return list.slice(0, 0);
  if (Math.min(first, last) < 0 || Math.max(first, last) >= list.length) {
    throw $error(typeof list === "string" ? "StringIndexOutOfBoundsException" : "IndexOutOfBoundsException", `line ${line}: ${from}..${to} of ${list.length}`);
  }
  const part = back ? list.slice(last, first + 1) : list.slice(first, last + 1);
  return !back ? part : typeof part === "string" ? [...part].reverse().join("") : part.reverse();
}

function $putAt(line, value, key, item) {
  if (value === null || value === undefined) throw $error("NullPointerException", `line ${line}: '[${$text(key)}]' of null is set`);
  if (value instanceof Map) value.set(key, item);
  else if (Array.isArray(value)) {
    const at = $index(value, key);
    if (at < 0) throw $error("ArrayIndexOutOfBoundsException", `line ${line}: index ${key} of a list of ${value.length}`);
    while (value.length < at) value.push(null);
    value[at] = item;
  } else if (value instanceof $Bytes) value.u8()[$index(value, key)] = Number(item) & 255;
  else if (typeof value.putAt === "function") value.putAt(key, item);
  else if (typeof key === "string") return $set(line, value, key, item);
  else throw $error("MissingMethodException", `line ${line}: '[${$text(key)}]' of a ${$kind(value)} can not be set`);
  return item;
}

function $change(line, holder, is_index, key, change) {
  return is_index ? $putAt(line, holder, key, change($at(line, holder, key))) : $set(line, holder, key, change($get(line, holder, key)));
}

function $safe(value, then) { return value === null || value === undefined ? null : then(value); }

function $spread(value, then) {
  return value === null || value === undefined ? null : [...$list(value)].map((item) => item === null || item === undefined ? null : then(item));
}

// What a loop goes over.
function $list(value) {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value) || value instanceof Set) return value;
  if (value instanceof Map) return $entries(value);
  if (typeof value === "string") return [...value];
  if (value instanceof $Bytes) return value.list();
  if (value instanceof $Matcher) return value.all();
  if (typeof value[Symbol.iterator] === "function") return [...value];
  return [value];
}

function $pointer(line, value, name) {
  if (typeof value === "function" && value.$name !== undefined || (value !== null && typeof value === "object" && value.$name !== undefined && typeof value[name] === "function")) {
    if (typeof value[name] === "function") return (...values) => $null(value[name](...values));
    return (self, ...values) => $call(line, self, name, ...values);
  }
  return (...values) => $call(line, value, name, ...values);
}

function $new(type, ...values) {
  return typeof type.$new === "function" ? type.$new(...values) : new type(...values);
}

// For `new` of JavaScript.
const $java = new Proxy({}, { get: (_, name) => function (...values) { return $new($class[name], ...values); } });

function $hash(value) {
  if (value === null || value === undefined) return 0;
  if (typeof value === "boolean") return value ? 1231 : 1237;
  if (typeof value === "number" && Number.isInteger(value) && Math.abs(value) <= 0x7fffffff) return value;
  if (Array.isArray(value)) return value.reduce((hash, item) => (Math.imul(31, hash) + $hash(item)) | 0, 1);
  let hash = 0;
  const text = $text(value);
  for (let at = 0; at < text.length; at++) hash = (Math.imul(31, hash) + text.charCodeAt(at)) | 0;
  return hash;
}

// What every value knows.
const $ANY = {
  __proto__: null,
  toString: (self) => $text(self), equals: (self, other) => $eq(self, other), hashCode: (self) => $hash(self), is: (self, other) => self === other,
  getClass: (self) => $type($nameOf(self)), inspect: (self) => typeof self === "string" ? `'${self}'` : $text(self), dump: (self) => $text(self),
  with: (self, closure) => $do(closure, self), tap: (self, closure) => { $do(closure, self); return self; }, asBoolean: (self) => $truth(self),
  each: (self, closure) => { for (const item of $list(self)) $do(closure, item); return self; },
  collect: (self, closure) => [...$list(self)].map((item) => $do(closure, item)), println: (self, value) => $print(value), print: (self, value) => $print(value),
  compareTo: (self, other) => $cmp(self, other), respondsTo: (self, name) => { const methods = $methods(self); return (methods || self)[name] !== undefined; },
};

const $CLOSURE = {
  __proto__: null,
  call: (self, ...values) => $do(self, ...values), doCall: (self, ...values) => $do(self, ...values), apply: (self, ...values) => $do(self, ...values),
  accept: (self, ...values) => $do(self, ...values), get: (self) => $do(self), test: (self, value) => $truth($do(self, value)),
  curry: (self, ...first) => (...values) => $do(self, ...first, ...values), getMaximumNumberOfParameters: (self) => self.length,
  memoize: (self) => { const known = new Map(); return (...values) => { const key = $text(values); if (!known.has(key)) known.set(key, $do(self, ...values)); return known.get(key); }; },
};

// A letter knows what a text knows.
const $LETTER = {
  __proto__: new Proxy({}, { get: (_, name) => $TEXT[name] === undefined ? undefined : (self, ...values) => $TEXT[name](self.text, ...values) }),
  charValue: (self) => self.text, toUpperCase: (self) => self.text.toUpperCase(), toLowerCase: (self) => self.text.toLowerCase(), toInteger: (self) => self.valueOf(),
};

const $EXCEPTION = {
  __proto__: null,
  getMessage: (self) => self instanceof $Error && !self.hasMessage ? null : self.message, getLocalizedMessage: (self) => self.message,
  getCause: (self) => self.reason || null, printStackTrace: (self) => { host.log("error", $text(self)); return null; },
  getStackTrace: () => [], toString: (self) => $text(self), getSuppressed: () => [], fillInStackTrace: (self) => self,
};

// What JMeter writes into a script, as a part of the program: a number, a truth, a text in quotation marks, null, or a list of these; in
// JavaScript an object, too.
function $code(line, written, is_javascript) {
  const text = written.trim();
  if (/^[-+]?0[0-7]+[lL]?$/.test(text)) return parseInt(text, 8);
  if (/^[-+]?(0|[1-9]\d*)[lLgGiI]?$/.test(text)) return $parseWhole(text.replace(/[lLgGiI]$/, ""));
  if (/^[-+]?(0|[1-9]\d*|(?=\.))(\.\d+)?([eE][-+]?\d+)?[dDfFgG]?$/.test(text)) return Number(text.replace(/[dDfFgG]$/, ""));
  if (text === "true" || text === "false") return text === "true";
  if (text === "null") return null;
  if (/^'[^'\\\n]*'$/.test(text)) return text.slice(1, -1);
  if (/^["[]/.test(text) || is_javascript && text.startsWith("{")) {
    const known = $literal(text);
    if (known !== undefined && (is_javascript || $is_plain(known))) return known;
  }
  throw $error("MissingPropertyException", `line ${line}: the value '${text}' stands in the script as it is, and is no number, truth, text in quotation marks or list`);
}

function $literal(text) { try { return JSON.parse(text); } catch { return undefined; } }

// A list, and no braces, which are a closure; nor a text in which a value would stand.
function $is_plain(value) {
  if (Array.isArray(value)) return value.every($is_plain);
  return value === null || typeof value !== "object" && !(typeof value === "string" && value.includes("$"));
}

// Keeps a value as it is now, unless it is kept already.
function $keep(name, from) {
  const value = host.get(name) === null ? host.get(from) : null;
  if (value !== null && value !== undefined) host.put(name, value);
}
