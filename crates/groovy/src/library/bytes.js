// Bytes, and what makes texts of them: UTF-8, Base64, hexadecimal digits, digests, URLs.

// A row of bytes; one that was a text keeps it until somebody asks for its bytes.
class $Bytes {
  constructor(value) {
    if (typeof value === "string") { this.string = value; this.array = null; } else { this.string = null; this.array = value; }
  }
  u8() {
    if (this.array === null) { this.array = $utf8(this.string); this.string = null; }
    return this.array;
  }
  text(charset) {
    if (charset !== undefined && charset !== null && /8859|ascii|1252/i.test($text(charset))) return Array.from(this.u8(), (byte) => String.fromCharCode(byte)).join("");
    return this.string !== null ? this.string : $fromUtf8(this.array);
  }
  get length() { return this.u8().length; }
  size() { return this.length; }
  isEmpty() { return this.length === 0; }
  at(index) {
    const array = this.u8();
    if (!(index >= 0 && index < array.length)) throw $error("ArrayIndexOutOfBoundsException", `Index ${index} out of bounds for length ${array.length}`);
    return (array[index] << 24) >> 24;
  }
  list() { return Array.from(this.u8(), (byte) => (byte << 24) >> 24); }
  encodeHex() { return $hex(this); }
  encodeBase64() { return $base64(this); }
  encodeBase64Url() { return $base64(this).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, ""); }
  collect(closure) { return this.list().map((byte) => $do(closure, byte)); }
  each(closure) { for (const byte of this.list()) $do(closure, byte); return this; }
  md5() { return $hex($digest("MD5", this)); }
  sha256() { return $hex($digest("SHA-256", this)); }
  digest(algorithm) { return $hex($digest($algorithm(algorithm), this)); }
  toList() { return this.list(); }
  join(by) { return this.list().join(by); }
  equals(other) { return other instanceof $Bytes && this.length === other.length && this.u8().every((byte, at) => byte === other.u8()[at]); }
  toString() { return "[" + this.list().join(", ") + "]"; }
}

function $toBytes(value) {
  return value instanceof $Bytes ? value : Array.isArray(value) ? $as(value, "byte[]") : new $Bytes($text(value));
}

function $utf8(text) {
  const bytes = new Uint8Array(text.length * 3);
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    let code = text.charCodeAt(at);
    if (code < 0x80) { bytes[end++] = code; continue; }
    if (code < 0x800) { bytes[end++] = 0xc0 | (code >> 6); bytes[end++] = 0x80 | (code & 63); continue; }
    if (code >= 0xd800 && code < 0xdc00 && at + 1 < text.length) {
      const low = text.charCodeAt(at + 1);
      if (low >= 0xdc00 && low < 0xe000) {
        at++;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        bytes[end++] = 0xf0 | (code >> 18);
        bytes[end++] = 0x80 | ((code >> 12) & 63);
        bytes[end++] = 0x80 | ((code >> 6) & 63);
        bytes[end++] = 0x80 | (code & 63);
        continue;
      }
    }
    if (code >= 0xd800 && code < 0xe000) { bytes[end++] = 63; continue; }
    bytes[end++] = 0xe0 | (code >> 12);
    bytes[end++] = 0x80 | ((code >> 6) & 63);
    bytes[end++] = 0x80 | (code & 63);
  }
  return bytes.slice(0, end);
}

function $fromUtf8(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at++];
    const more = first < 0x80 ? 0 : first >= 0xf0 && first < 0xf5 ? 3 : first >= 0xe0 ? 2 : first >= 0xc2 ? 1 : -1;
    let code = more === 0 ? first : more === 3 ? first & 7 : more === 2 ? first & 15 : first & 31;
    let valid = more >= 0 && first < 0xf5;
    for (let rest = 0; valid && rest < more; rest++) {
      if ((bytes[at] & 0xc0) !== 0x80) { valid = false; break; }
      code = (code << 6) | (bytes[at++] & 63);
    }
    text += valid && code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  }
  return text;
}

const $BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function $base64(value) {
  const bytes = $toBytes(value).u8();
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b, c] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    text += $BASE64[a >> 2] + $BASE64[((a & 3) << 4) | ((b || 0) >> 4)];
    text += at + 1 < bytes.length ? $BASE64[((b & 15) << 2) | ((c || 0) >> 6)] : "=";
    text += at + 2 < bytes.length ? $BASE64[c & 63] : "=";
  }
  return text;
}

function $unbase64(value) {
  const text = (value instanceof $Bytes ? value.text() : $text(value)).replace(/[\s=]/g, "").replace(/-/g, "+").replace(/_/g, "/");
  const bytes = new Uint8Array(Math.floor(text.length * 3 / 4));
  let end = 0;
  let bits = 0;
  let held = 0;
  for (const letter of text) {
    const digit = $BASE64.indexOf(letter);
    if (digit < 0) throw $error("IllegalArgumentException", `Illegal base64 character ${letter}`);
    bits = (bits << 6) | digit;
    held += 6;
    if (held >= 8) { held -= 8; bytes[end++] = (bits >> held) & 255; }
  }
  return new $Bytes(bytes.slice(0, end));
}

class $Encoder {
  constructor(url, pad = true) { this.url = url; this.pad = pad; }
  encodeToString(value) {
    let text = $base64(value);
    if (this.url) text = text.replace(/\+/g, "-").replace(/\//g, "_");
    return this.pad ? text : text.replace(/=+$/, "");
  }
  encode(value) { return new $Bytes(this.encodeToString(value)); }
  withoutPadding() { return new $Encoder(this.url, false); }
}

class $Decoder { decode(value) { return $unbase64(value); } }

$class.Base64 = {
  $new: () => ({ encode: (value) => new $Bytes($base64(value)), encodeToString: $base64, decode: (value) => $unbase64(value), encodeAsString: $base64 }),
  getEncoder: () => new $Encoder(false), getMimeEncoder: () => new $Encoder(false), getUrlEncoder: () => new $Encoder(true),
  getDecoder: () => new $Decoder(), getMimeDecoder: () => new $Decoder(), getUrlDecoder: () => new $Decoder(),
  encodeBase64String: (value) => $base64(value), encodeBase64: (value) => new $Bytes($base64(value)), decodeBase64: (value) => $unbase64(value),
  encodeBase64URLSafeString: (value) => new $Encoder(true, false).encodeToString(value),
};

function $hex(value) { return Array.from($toBytes(value).u8(), (byte) => byte.toString(16).padStart(2, "0")).join(""); }
function $hexed(value) { return $hex(value); }

function $unhex(value) {
  const text = Array.isArray(value) ? value.join("") : $text(value);
  if (text.length % 2 !== 0 || /[^0-9a-fA-F]/.test(text)) throw $error("DecoderException", `'${text}' is not hexadecimal`);
  return new $Bytes(Uint8Array.from(text.match(/../g) || [], (pair) => parseInt(pair, 16)));
}

$class.Hex = { encodeHexString: (value) => $hex(value), encodeHex: (value) => [...$hex(value)], decodeHex: (value) => $unhex(value) };

function $algorithm(name) {
  const plain = $text(name).toUpperCase().replace(/[-_]/g, "");
  const known = { MD5: "MD5", SHA: "SHA-1", SHA1: "SHA-1", SHA256: "SHA-256", SHA384: "SHA-384", SHA512: "SHA-512" }[plain];
  if (known === undefined) throw $error("NoSuchAlgorithmException", `${$text(name)} MessageDigest not available`);
  return known;
}

function $digest(algorithm, value) { return new $Bytes(host.digest(algorithm, $toBytes(value).u8())); }

function $joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let end = 0;
  for (const part of parts) { all.set(part, end); end += part.length; }
  return all;
}

class $MessageDigest {
  constructor(algorithm) { this.name = $algorithm(algorithm); this.parts = []; }
  static getInstance(algorithm) { return new $MessageDigest(algorithm); }
  static isEqual(a, b) { return $toBytes(a).equals($toBytes(b)); }
  update(value, from, length) {
    let bytes = typeof value === "number" ? Uint8Array.of(value & 255) : $toBytes(value).u8();
    if (from !== undefined) bytes = bytes.slice(Number(from), Number(from) + Number(length));
    this.parts.push(bytes);
    return null;
  }
  digest(value) {
    if (value !== undefined) this.update(value);
    const bytes = $joined(this.parts);
    this.parts = [];
    return new $Bytes(host.digest(this.name, bytes));
  }
  reset() { this.parts = []; return null; }
  getAlgorithm() { return this.name; }
}
$class.MessageDigest = $MessageDigest;

class $SecretKeySpec {
  constructor(key, ...rest) { this.key = $toBytes(key); this.algorithm = $text(rest[rest.length - 1]); }
  getEncoded() { return this.key; }
  getAlgorithm() { return this.algorithm; }
}
$class.SecretKeySpec = $SecretKeySpec;

function $hmac(algorithm, key, value) { return new $Bytes(host.hmac(algorithm, $toBytes(key).u8(), $toBytes(value).u8())); }

class $Mac {
  constructor(algorithm) {
    const name = $text(algorithm).toUpperCase().replace(/^HMAC[-_]?/, "").replace("-", "");
    if (!["MD5", "SHA1", "SHA256", "SHA512"].includes(name)) throw $error("NoSuchAlgorithmException", `Algorithm ${$text(algorithm)} not available`);
    this.name = name;
    this.parts = [];
  }
  static getInstance(algorithm) { return new $Mac(algorithm); }
  init(key) { this.key = key.key; return null; }
  update(value) { this.parts.push($toBytes(value).u8()); return null; }
  doFinal(value) {
    if (value !== undefined) this.update(value);
    if (this.key === undefined) throw $error("IllegalStateException", "MAC not initialized");
    const bytes = $joined(this.parts);
    this.parts = [];
    return $hmac(this.name, this.key, new $Bytes(bytes));
  }
  getMacLength() { return { MD5: 16, SHA1: 20, SHA256: 32, SHA512: 64 }[this.name]; }
}
$class.Mac = $Mac;

$class.DigestUtils = {};
for (const [name, algorithm] of [["md5", "MD5"], ["sha", "SHA-1"], ["sha1", "SHA-1"], ["sha256", "SHA-256"], ["sha384", "SHA-384"], ["sha512", "SHA-512"]]) {
  $class.DigestUtils[name] = (value) => $digest(algorithm, value);
  $class.DigestUtils[name + "Hex"] = (value) => $hex($digest(algorithm, value));
}

$class.HmacUtils = {};
for (const [name, algorithm] of [["Md5", "MD5"], ["Sha1", "SHA1"], ["Sha256", "SHA256"], ["Sha512", "SHA512"]]) {
  $class.HmacUtils["hmac" + name] = (key, value) => $hmac(algorithm, key, value);
  $class.HmacUtils[`hmac${name}Hex`] = (key, value) => $hex($hmac(algorithm, key, value));
}

$class.StandardCharsets = { UTF_8: "UTF-8", US_ASCII: "US-ASCII", ISO_8859_1: "ISO-8859-1" };
$class.Charset = { forName: (name) => $text(name), defaultCharset: () => "UTF-8" };

$class.URLEncoder = {
  encode: (text) => Array.from($utf8($text(text)), (byte) => {
    const letter = String.fromCharCode(byte);
    return /[A-Za-z0-9.*_-]/.test(letter) ? letter : letter === " " ? "+" : "%" + byte.toString(16).toUpperCase().padStart(2, "0");
  }).join(""),
};
$class.URLDecoder = {
  decode: (text) => {
    const bytes = [];
    const plain = $text(text);
    for (let at = 0; at < plain.length; at++) {
      if (plain[at] === "%") {
        const digits = plain.slice(at + 1, at + 3);
        if (!/^[0-9a-fA-F]{2}$/.test(digits)) throw $error("IllegalArgumentException", `URLDecoder: '%${digits}' is no byte`);
        bytes.push(parseInt(digits, 16));
        at += 2;
      } else if (plain[at] === "+") bytes.push(32);
      else {
        const letter = String.fromCodePoint(plain.codePointAt(at));
        bytes.push(...$utf8(letter));
        at += letter.length - 1;
      }
    }
    return $fromUtf8(bytes);
  },
};

class $Url {
  constructor(text) {
    this.text = $text(text);
    const parts = /^(?:([A-Za-z][\w+.-]*):)?(?:\/\/(?:([^@/?#]*)@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?)?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(this.text);
    if (!parts) throw $error("MalformedURLException", this.text);
    [, this.scheme, this.user, this.host, this.port, this.path, this.query, this.fragment] = parts.map($null);
  }
  static create(text) { return new $Url(text); }
  getProtocol() { return this.scheme; }
  getScheme() { return this.scheme; }
  getHost() { return this.host; }
  getPort() { return this.port === null ? -1 : Number(this.port); }
  getDefaultPort() { return { http: 80, https: 443 }[this.scheme] || -1; }
  getPath() { return this.path; }
  getRawPath() { return this.path; }
  getQuery() { return this.query; }
  getRawQuery() { return this.query; }
  getFragment() { return this.fragment; }
  getRef() { return this.fragment; }
  getFile() { return this.path + (this.query === null ? "" : "?" + this.query); }
  getAuthority() { return this.host === null ? null : this.host + (this.port === null ? "" : ":" + this.port); }
  getUserInfo() { return this.user; }
  toURL() { return this; }
  toURI() { return this; }
  toExternalForm() { return this.text; }
  equals(other) { return other instanceof $Url && other.text === this.text; }
  toString() { return this.text; }
}
$class.URL = $Url;
$class.URI = $Url;
