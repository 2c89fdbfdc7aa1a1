// Apache Commons: random texts, texts, and what escapes them.

const $DIGITS = "0123456789";
const $LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function $draw(count, letters) {
  let text = "";
  for (let at = 0; at < Number(count); at++) text += letters[$between(0, letters.length - 1)];
  return text;
}

// From so many letters to so many less one, where two numbers are given.
function $drawBetween(letters) { return (count, below) => $draw(below === undefined ? count : $between(count, Number(below) - 1), letters); }

const $ASCII = $range(32, 126, true).map((code) => String.fromCharCode(code)).join("");
$class.RandomStringUtils = {
  randomAlphanumeric: $drawBetween($LETTERS + $DIGITS), randomAlphabetic: $drawBetween($LETTERS), randomNumeric: $drawBetween($DIGITS), randomAscii: $drawBetween($ASCII),
  random: (count, letters, numbers) => typeof letters === "string" ? $draw(count, letters) : $draw(count, letters === undefined ? $ASCII : (letters ? $LETTERS : "") + (numbers ? $DIGITS : "")),
};

$class.RandomUtils = {
  nextInt: (from = 0, to = 2147483647) => $between(from, Number(to) - 1), nextLong: (from = 0, to = 9007199254740991) => $between(from, Number(to) - 1),
  nextDouble: (from = 0, to = 1) => Number(from) + $chance() * (Number(to) - Number(from)), nextBoolean: () => $chance() < 0.5,
};

const $blank = (text) => text === null || text === undefined || $text(text).trim() === "";
const $empty = (text) => text === null || text === undefined || $text(text) === "";
// Null for null.
const $of = (work) => (text, ...values) => text === null || text === undefined ? null : work($text(text), ...values);

$class.StringUtils = {
  EMPTY: "", SPACE: " ",
  isBlank: $blank, isNotBlank: (text) => !$blank(text), isEmpty: $empty, isNotEmpty: (text) => !$empty(text), isNumeric: (text) => !$empty(text) && /^\d+$/.test($text(text)),
  substringBetween: $of((text, from, to = from) => {
    const begin = text.indexOf($text(from));
    const end = begin < 0 ? -1 : text.indexOf($text(to), begin + $text(from).length);
    return end < 0 ? null : text.slice(begin + $text(from).length, end);
  }),
  substringAfter: $of((text, mark) => text.includes($text(mark)) ? text.slice(text.indexOf($text(mark)) + $text(mark).length) : ""), substringBefore: $of((text, mark) => text.includes($text(mark)) ? text.slice(0, text.indexOf($text(mark))) : text),
  substringAfterLast: $of((text, mark) => text.includes($text(mark)) ? text.slice(text.lastIndexOf($text(mark)) + $text(mark).length) : ""), substringBeforeLast: $of((text, mark) => text.includes($text(mark)) ? text.slice(0, text.lastIndexOf($text(mark))) : text),
  substring: $of((text, from, to) => text.slice(Number(from), to === undefined ? undefined : Number(to))), left: $of((text, count) => text.slice(0, Math.max(0, Number(count)))), right: $of((text, count) => Number(count) <= 0 ? "" : text.slice(-Number(count))),
  leftPad: $of((text, size, pad = " ") => $TEXT.padLeft(text, size, pad)), rightPad: $of((text, size, pad = " ") => $TEXT.padRight(text, size, pad)),
  join: (list, by = "") => [...$list(list)].map((item) => item === null ? "" : $text(item)).join($text(by)), split: $of((text, letters) => $TEXT.tokenize(text, letters)),
  trim: $of((text) => text.trim()), strip: $of((text) => text.trim()), trimToEmpty: (text) => text === null ? "" : $text(text).trim(), capitalize: $of($capital), reverse: $of($TEXT.reverse), repeat: $of((text, count) => text.repeat(Number(count))),
  contains: (text, part) => text !== null && $text(text).includes($text(part)), containsIgnoreCase: (text, part) => text !== null && $text(text).toLowerCase().includes($text(part).toLowerCase()),
  equals: (a, b) => $eq(a, b), equalsIgnoreCase: (a, b) => a === b || (a !== null && b !== null && $text(a).toLowerCase() === $text(b).toLowerCase()), startsWith: (text, part) => text !== null && $text(text).startsWith($text(part)), endsWith: (text, part) => text !== null && $text(text).endsWith($text(part)),
  countMatches: (text, part) => text === null ? 0 : $TEXT.count($text(text), part), replace: $of((text, what, by) => text.split($text(what)).join($text(by))), remove: $of((text, what) => text.split($text(what)).join("")),
  upperCase: $of((text) => text.toUpperCase()), lowerCase: $of((text) => text.toLowerCase()), defaultString: (text, otherwise = "") => text === null ? otherwise : text, defaultIfBlank: (text, otherwise) => $blank(text) ? otherwise : text, defaultIfEmpty: (text, otherwise) => $empty(text) ? otherwise : text,
};

const $escapeXml = $of((text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;").replace(/'/g, "&apos;"));
const $escapeHtml = $of((text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;"));
const $NAMED = { amp: "&", lt: "<", gt: ">", quot: "\"", apos: "'", nbsp: "\u00a0" };
const $unescapeXml = $of((text) => text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hexadecimal, decimal, name) =>
  hexadecimal ? String.fromCodePoint(parseInt(hexadecimal, 16)) : decimal ? String.fromCodePoint(Number(decimal)) : $NAMED[name] ?? whole));
const $escapeJava = $of((text) => $jsonText(text).slice(1, -1).replace(/\\u[0-9a-f]{4}/g, (code) => "\\u" + code.slice(2).toUpperCase()));
const $unescapeJava = $of((text) => text.replace(/\\(?:u([0-9a-fA-F]{4})|([\s\S]))/g, (_, code, letter) => code ? String.fromCharCode(parseInt(code, 16)) : { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" }[letter] ?? letter));
$class.StringEscapeUtils = {
  escapeJson: $of((text) => $jsonText(text).slice(1, -1).replace(/\//g, "\\/")), unescapeJson: $unescapeJava, escapeJava: $escapeJava, unescapeJava: $unescapeJava, escapeXml: $escapeXml, escapeXml10: $escapeXml, escapeXml11: $escapeXml, unescapeXml: $unescapeXml,
  escapeHtml4: $escapeHtml, unescapeHtml4: $unescapeXml, escapeHtml: $escapeHtml, unescapeHtml: $unescapeXml,
};

$class.DateUtils = { addYears: (date, size) => new $Date($addMonths(date.ms, 0, Number(size) * 12)), addMonths: (date, size) => new $Date($addMonths(date.ms, 0, Number(size))) };
for (const [name, ms] of [["Weeks", 7 * $DAY], ["Days", $DAY], ["Hours", 3600000], ["Minutes", 60000], ["Seconds", 1000], ["Milliseconds", 1]]) {
  $class.DateUtils["add" + name] = (date, size) => new $Date(date.ms + Number(size) * ms);
}
$class.DateFormatUtils = {};
for (const name of ["format", "formatUTC"]) {
  $class.DateFormatUtils[name] = (date, pattern, zone) => (date instanceof $Date ? date : new $Date(date)).format(pattern, zone instanceof $Zone ? zone : undefined);
}
