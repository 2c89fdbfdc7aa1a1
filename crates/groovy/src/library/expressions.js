// Regular expressions as Java has them, carried out by those of JavaScript.

const $REGEXES = new Map();

const $CLASSES = {
  __proto__: null,
  Alpha: "a-zA-Z", Digit: "0-9", Alnum: "a-zA-Z0-9", Upper: "A-Z", Lower: "a-z", Space: "\\s", XDigit: "0-9a-fA-F", Blank: " \\t",
  Punct: "!-\\/:-@\\[-`{-~", Print: "\\x20-\\x7e", Graph: "\\x21-\\x7e", Cntrl: "\\x00-\\x1f\\x7f", ASCII: "\\x00-\\x7f",
};

// The expression of JavaScript for one of Java; the last few hundred are kept.
function $regex(pattern) {
  if (pattern instanceof $Pattern) return pattern.regex;
  if (pattern instanceof RegExp) return pattern;
  const text = $text(pattern);
  let regex = $REGEXES.get(text);
  if (regex === undefined) {
    regex = $compiled(text, 0);
    if ($REGEXES.size >= 200) $REGEXES.clear();
    $REGEXES.set(text, regex);
  }
  return regex;
}

function $compiled(text, flags) {
  let letters = "";
  if (flags & 2) letters += "i";
  if (flags & 8) letters += "m";
  if (flags & 32) letters += "s";
  if (flags & 16) return new RegExp($quoted(text), letters);
  const inline = /^\(\?([imsxu]+)\)/.exec(text);
  if (inline) {
    for (const letter of inline[1]) if ("ims".includes(letter) && !letters.includes(letter)) letters += letter;
    text = text.slice(inline[0].length);
    if (inline[1].includes("x")) flags |= 4;
  }
  if (flags & 4) text = text.replace(/\\[\s\S]|\[(?:\\.|[^\]\\])*\]|\s+|#.*/g, (part) => /^[\s#]/.test(part) ? "" : part);
  let out = "";
  let in_class = 0;
  let unicode = false;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === "\\") {
      const next = text[++at];
      if (next === "Q") {
        const end = text.indexOf("\\E", at);
        out += $quoted(text.slice(at + 1, end < 0 ? text.length : end));
        at = end < 0 ? text.length : end + 1;
      } else if (next === "E") continue;
      else if (next === "A") out += "(?<![\\s\\S])";
      else if (next === "z") out += "(?![\\s\\S])";
      else if (next === "Z") out += "(?=\\n?(?![\\s\\S]))";
      else if (next === "h") out += in_class ? " \\t\\xa0" : "[ \\t\\xa0]";
      else if (next === "R") out += "(?:\\r\\n|[\\n\\r])";
      else if (next === "p" || next === "P") {
        const name = /^\{(?:Is|java)?(\w+)\}|^(\w)/.exec(text.slice(at + 1));
        if (!name) throw $error("PatternSyntaxException", `'\\${next}' in ${text}`);
        at += name[0].length;
        const known = $CLASSES[name[1]];
        if (known) out += next === "P" ? `[^${known}]` : in_class ? known : `[${known}]`;
        else { unicode = true; out += `\\${next}{${name[1] || name[2]}}`; }
      } else out += "\\" + next;
    } else if (letter === "[") {
      if (in_class) { out += "\\["; continue; }
      in_class = 1;
      out += letter;
      if (text[at + 1] === "^") { out += "^"; at++; }
      if (text[at + 1] === "]") { out += "\\]"; at++; }
    } else if (letter === "]" && in_class) {
      in_class = 0;
      out += letter;
    } else if (!in_class && letter === "+" && /[*+?}]$/.test(out) && !/\\[*+?}]$/.test(out)) {
      continue;
    } else if (!in_class && letter === "(" && text.startsWith("(?>", at)) {
      out += "(?:";
      at += 2;
    } else if (!in_class && letter === "(" && /^\(\?[ims]+\)/.test(text.slice(at))) {
      const flag = /^\(\?([ims]+)\)/.exec(text.slice(at));
      for (const one of flag[1]) if (!letters.includes(one)) letters += one;
      at += flag[0].length - 1;
    } else out += letter;
  }
  try {
    if (unicode) return new RegExp(out.replace(/\\([^\w\s^$.*+?()[\]{}|\\\/-])/g, "$1"), letters + "u");
    return new RegExp(out, letters);
  } catch (error) {
    throw $error("PatternSyntaxException", `${error.message} in ${text}`);
  }
}

function $quoted(text) { return $text(text).replace(/[\\^$.*+?()[\]{}|\/-]/g, "\\$&"); }

class $Pattern {
  constructor(text, flags = 0) { this.source = $text(text); this.flags_ = Number(flags); this.regex = this.flags_ === 0 ? $regex(this.source) : $compiled(this.source, this.flags_); }
  matcher(text) { return new $Matcher(this.regex, $text(text)); }
  split(text) { return $split($text(text), this, 0); }
  pattern() { return this.source; }
  flags() { return this.flags_; }
  toString() { return this.source; }
  asPredicate() { return (text) => this.regex.test(text); }
  static compile(text, flags) { return text instanceof $Pattern ? text : new $Pattern(text, flags); }
  static matches(pattern, text) { return $matches($text(text), pattern); }
  static quote(text) { return "\\Q" + $text(text) + "\\E"; }
}
Object.assign($Pattern, { CASE_INSENSITIVE: 2, MULTILINE: 8, DOTALL: 32, COMMENTS: 4, LITERAL: 16, UNICODE_CASE: 64 });
$class.Pattern = $Pattern;

class $Matcher {
  constructor(regex, text) {
    this.regex = new RegExp(regex.source, regex.flags.replace("g", "") + "g");
    this.subject = text;
    this.found = null;
  }
  find(from) {
    if (from !== undefined) this.regex.lastIndex = Number(from);
    this.found = this.regex.exec(this.subject);
    if (this.found === null) { this.regex.lastIndex = this.subject.length + 1; return false; }
    if (this.found[0] === "") this.regex.lastIndex += 1;
    return true;
  }
  matches() {
    this.found = new RegExp(`^(?:${this.regex.source})$`, this.regex.flags.replace(/[gm]/g, "")).exec(this.subject);
    return this.found !== null;
  }
  lookingAt() { this.regex.lastIndex = 0; return this.find() && this.found.index === 0; }
  reset() { this.regex.lastIndex = 0; this.found = null; return this; }
  group(which = 0) {
    if (this.found === null) throw $error("IllegalStateException", "No match found");
    if (typeof which === "string") return $null((this.found.groups || {})[which]);
    if (Number(which) >= this.found.length) throw $error("IndexOutOfBoundsException", `No group ${which}`);
    return $null(this.found[Number(which)]);
  }
  groupCount() { return new RegExp(this.regex.source + "|", this.regex.flags).exec("").length - 1; }
  start() { return this.found === null ? -1 : this.found.index; }
  end() { return this.found === null ? -1 : this.found.index + this.found[0].length; }
  hitEnd() { return this.regex.lastIndex >= this.subject.length; }
  all() {
    const all = [...this.subject.matchAll(this.regex.lastIndex === 0 ? this.regex : new RegExp(this.regex.source, this.regex.flags))];
    return all.map((found) => found.length > 1 ? [...found].map($null) : found[0]);
  }
  size() { return this.all().length; }
  getCount() { return this.all().length; }
  hasGroup() { return this.groupCount() > 0; }
  getAt(at) {
    const all = this.all();
    if (Array.isArray(at)) return at.map((one) => all[$index(all, one)]);
    const found = all[$index(all, at)];
    if (found === undefined) throw $error("IndexOutOfBoundsException", `index ${at} of ${all.length} matches`);
    return found;
  }
  each(closure) { for (const found of this.all()) $do(closure, found); return this; }
  eachWithIndex(closure) { this.all().forEach((found, at) => $do(closure, found, at)); return this; }
  collect(closure) { return this.all().map((found) => closure === undefined ? found : $do(closure, found)); }
  findAll(closure) { return this.all().filter((found) => closure === undefined || $truth($do(closure, found))); }
  iterator() { return new $Iterator(this.all()); }
  replaceAll(by) { return $replace(this.subject, this.regex, by, true); }
  replaceFirst(by) { return $replace(this.subject, this.regex, by, false); }
  asBoolean() { return this.find(); }
  toString() { return `java.util.regex.Matcher[pattern=${this.regex.source}]`; }
  static quoteReplacement(text) { return $text(text).replace(/[\\$]/g, "\\$&"); }
}
$class.Matcher = $Matcher;

function $find(text, pattern) { return new $Matcher($regex(pattern), $text(text)); }

function $matches(text, pattern) {
  if (text === null || text === undefined) return false;
  const regex = $regex(pattern);
  return new RegExp(`^(?:${regex.source})$`, regex.flags.replace(/[gm]/g, "")).test($text(text));
}

function $tilde(value) {
  return typeof value === "number" ? ~value : typeof value === "bigint" ? ~value : new $Pattern(value);
}

function $replace(text, pattern, by, all) {
  const regex = $regex(pattern);
  const global = new RegExp(regex.source, regex.flags.replace("g", "") + (all ? "g" : ""));
  if (typeof by === "function") {
    return text.replace(global, (...found) => {
      const end = found.findIndex((part, at) => at > 0 && typeof part === "number");
      const groups = found.slice(0, end).map($null);
      return $text(groups.length > 1 && by.length > 1 ? by(...groups) : $do(by, groups.length > 1 ? groups : groups[0]));
    });
  }
  const replacement = $text(by);
  return text.replace(global, (...found) => {
    const names = typeof found[found.length - 1] === "object" ? found[found.length - 1] : {};
    return replacement.replace(/\\([\s\S])|\$(\d)|\$\{(\w+)\}/g, (_, letter, number, name) => {
      if (letter !== undefined) return letter;
      if (name !== undefined) return $null(names[name]) === null ? "" : names[name];
      const part = found[Number(number)];
      return typeof part === "string" ? part : "";
    });
  });
}

// As Java splits: empty texts at the end are left out where no limit is given.
function $split(text, pattern, limit) {
  if (text === "") return [""];
  const regex = $regex(pattern);
  const global = new RegExp(regex.source, regex.flags.replace("g", "") + "g");
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(global)) {
    if (limit > 0 && parts.length === limit - 1) break;
    if (found.index + found[0].length === 0 || (found[0] === "" && found.index >= text.length)) continue;
    parts.push(text.slice(from, found.index));
    from = found.index + found[0].length;
  }
  parts.push(text.slice(from));
  if (limit === 0) while (parts.length > 1 && parts[parts.length - 1] === "") parts.pop();
  return parts;
}
