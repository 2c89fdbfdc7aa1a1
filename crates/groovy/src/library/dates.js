// Dates of java.util: moments, patterns that print and read them, calendars. Zones are UTC and fixed distances from it: the zones of the
// world change their clocks by tables that are not here, so they count as UTC.

const $DAY = 86400000;
const $MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const $DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const $STRANGE = new Set();

// Minutes that a zone is ahead of UTC.
class $Zone {
  constructor(id) {
    this.id = $text(id);
    const found = /^(?:UTC|GMT)?([-+])(\d{1,2})(?::?(\d{2}))?$/.exec(this.id);
    this.minutes = found ? (found[1] === "-" ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3] || 0)) : 0;
    if (!found && !/^(UTC|GMT|Z|UCT|Etc\/UTC|Etc\/GMT|Universal|Zulu|[A-Z]{2,4}T?)$/.test(this.id) && !$STRANGE.has(this.id) && $STRANGE.size < 100) {
      // Told once.
      $STRANGE.add(this.id);
      host.log("warn", `the time zone ${this.id} is taken as UTC: only fixed distances as GMT+02:00 are known`);
    }
  }
  static of(value) { return value instanceof $Zone ? value : new $Zone(value); }
  getID() { return this.id; }
  getId() { return this.id; }
  getRawOffset() { return this.minutes * 60000; }
  getOffset() { return this.minutes * 60000; }
  getDisplayName() { return this.id; }
  getTotalSeconds() { return this.minutes * 60; }
  getRules() { return this; }
  normalized() { return this; }
  toZoneId() { return this; }
  equals(other) { return other instanceof $Zone && other.id === this.id; }
  toString() { return this.id; }
}
const $UTC = new $Zone("UTC");
$class.TimeZone = { getTimeZone: (id) => $Zone.of(id), getDefault: () => $UTC };
$class.ZoneId = { of: (id) => $Zone.of(id), systemDefault: () => $UTC };
$class.ZoneOffset = { of: (id) => $Zone.of(id), ofHours: (hours) => new $Zone(`${hours < 0 ? "-" : "+"}${String(Math.abs(Number(hours))).padStart(2, "0")}:00`), UTC: new $Zone("Z") };

function $distance(minutes, colon) {
  const size = Math.abs(minutes);
  return (minutes < 0 ? "-" : "+") + String(Math.floor(size / 60)).padStart(2, "0") + colon + String(size % 60).padStart(2, "0");
}

// What a moment is in a zone.
function $fields(ms, minutes) {
  const date = new Date(Number(ms) + minutes * 60000);
  const year = date.getUTCFullYear();
  const start = Date.UTC(year, 0, 1);
  const day_of_year = Math.floor((date.getTime() - start) / $DAY) + 1;
  return {
    year, month: date.getUTCMonth() + 1, day: date.getUTCDate(), hour: date.getUTCHours(), minute: date.getUTCMinutes(), second: date.getUTCSeconds(),
    milli: date.getUTCMilliseconds(), weekday: date.getUTCDay(), day_of_year, week: Math.ceil((day_of_year + new Date(start).getUTCDay()) / 7),
    iso_week: $isoWeek(date), minutes,
  };
}

function $isoWeek(date) {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * $DAY);
  return Math.ceil(((thursday.getTime() - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / $DAY + 1) / 7);
}

// A pattern as pieces: [letter, how often], or a text.
function $pieces(pattern) {
  const pieces = [];
  for (const part of $text(pattern).match(/'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']+/g) || []) {
    if (part === "''") pieces.push("'");
    else if (part[0] === "'") pieces.push(part.slice(1, -1).replace(/''/g, "'"));
    else if (/[A-Za-z]/.test(part[0])) pieces.push([part[0], part.length]);
    else pieces.push(part);
  }
  return pieces;
}

// As SimpleDateFormat and DateTimeFormatter print it; `zone` is what z shows.
function $printDate(pattern, fields, zone, java_time) {
  const number = (value, size) => String(value).padStart(size, "0");
  return $pieces(pattern).map((piece) => {
    if (typeof piece === "string") return java_time ? piece.replace(/[[\]]/g, "") : piece;
    const [letter, size] = piece;
    switch (letter) {
      case "y": case "u": case "Y":
        if (letter === "u" && !java_time) return number(fields.weekday || 7, size);
        return size === 2 ? number(fields.year % 100, 2) : number(fields.year, size);
      case "M": case "L": return size >= 4 ? $MONTHS[fields.month - 1] : size === 3 ? $MONTHS[fields.month - 1].slice(0, 3) : number(fields.month, size);
      case "d": return number(fields.day, size);
      case "H": return number(fields.hour, size);
      case "k": return number(fields.hour || 24, size);
      case "h": return number(fields.hour % 12 || 12, size);
      case "K": return number(fields.hour % 12, size);
      case "m": return number(fields.minute, size);
      case "s": return number(fields.second, size);
      case "S":
        if (!java_time) return number(fields.milli, size);
        return (number(fields.milli, 3) + number(fields.nano || 0, 6)).slice(0, size).padEnd(size, "0");
      case "n": return number(fields.milli * 1000000, size);
      case "A": return number(((fields.hour * 60 + fields.minute) * 60 + fields.second) * 1000 + fields.milli, size);
      case "E": case "e": return size >= 4 ? $DAYS[fields.weekday] : $DAYS[fields.weekday].slice(0, 3);
      case "a": return fields.hour < 12 ? "AM" : "PM";
      case "D": return number(fields.day_of_year, size);
      case "w": return number(java_time ? fields.iso_week : fields.week, size);
      case "F": return number(Math.ceil(fields.day / 7), size);
      case "Q": case "q": return number(Math.ceil(fields.month / 3), size);
      case "G": return "AD";
      case "z": case "V": return zone;
      case "Z": return $distance(fields.minutes, "");
      case "X": if (fields.minutes === 0) return "Z"; // falls through
      case "x": return size === 1 && fields.minutes % 60 === 0 ? $distance(fields.minutes, "").slice(0, 3) : $distance(fields.minutes, size === 2 || size === 1 ? "" : ":");
      case "O": return fields.minutes === 0 ? "GMT" : "GMT" + $distance(fields.minutes, ":");
      default: throw $error("IllegalArgumentException", `Illegal pattern character '${letter}'`);
    }
  }).join("");
}

// What of a text a pattern names; null where it does not fit. The text may go on behind it.
function $readDate(pattern, text, whole) {
  const fields = { year: 1970, month: 1, day: 1, hour: 0, minute: 0, second: 0, milli: 0, minutes: null, afternoon: null, has_date: false, has_time: false };
  const pieces = $pieces(pattern);
  let at = 0;
  const digits = (max) => {
    const found = new RegExp(`[-+]?\\d{1,${max}}`, "y");
    found.lastIndex = at;
    const part = found.exec(text);
    if (!part) return null;
    at += part[0].length;
    return Number(part[0]);
  };
  const word = (names, short) => {
    const rest = text.slice(at).toLowerCase();
    const index = names.findIndex((name) => rest.startsWith(name.toLowerCase()));
    if (index >= 0) { at += names[index].length; return index; }
    const abbreviated = names.findIndex((name) => rest.startsWith(name.slice(0, short).toLowerCase()));
    if (abbreviated >= 0) at += short;
    return abbreviated;
  };
  for (let index = 0; index < pieces.length; index++) {
    const piece = pieces[index];
    if (typeof piece === "string") {
      if (!text.startsWith(piece, at)) return null;
      at += piece.length;
      continue;
    }
    const [letter, size] = piece;
    // Where digits follow at once, a field has exactly its letters.
    const next = pieces[index + 1];
    const max = Array.isArray(next) && !"EazZXx".includes(next[0]) ? size : letter === "S" ? 9 : 10;
    let value = null;
    switch (letter) {
      case "y": case "u": case "Y":
        value = digits(max === 10 && size > 2 ? 6 : max);
        if (value === null) return null;
        fields.year = size === 2 && value < 100 ? value + (value > 50 ? 1900 : 2000) : value;
        fields.has_date = true;
        break;
      case "M": case "L":
        value = size >= 3 ? word($MONTHS, 3) + 1 : digits(max);
        if (!value) return null;
        fields.month = value;
        break;
      case "d": value = digits(max); fields.day = value; fields.has_date = true; break;
      case "D": value = digits(max); fields.day = value; break;
      case "H": case "k": value = digits(max); fields.hour = value % 24; fields.has_time = true; break;
      case "h": case "K": value = digits(max); fields.hour = value % 12; fields.has_time = true; break;
      case "m": value = digits(max); fields.minute = value; break;
      case "s": value = digits(max); fields.second = value; break;
      case "S": {
        const from = at;
        value = digits(max);
        const length = at - from;
        fields.milli = value === null ? null : length > 3 ? Math.trunc(value / 10 ** (length - 3)) : size === 3 || size < length ? value : value * 10 ** Math.max(0, 3 - Math.max(length, size));
        break;
      }
      case "E": value = word($DAYS, 3); if (value < 0) return null; break;
      case "a": value = word(["AM", "PM"], 2); if (value < 0) return null; fields.afternoon = value === 1; break;
      case "z": case "Z": case "X": case "x": case "V": case "O": {
        const zone = /Z|(?:UTC|GMT)?[-+]\d{2}:?\d{2}|(?:UTC|GMT)?[-+]\d{2}|[A-Za-z_\/]+/y;
        zone.lastIndex = at;
        const found = zone.exec(text);
        if (!found) return null;
        at += found[0].length;
        fields.minutes = new $Zone(found[0]).minutes;
        value = 0;
        break;
      }
      default: throw $error("IllegalArgumentException", `Illegal pattern character '${letter}'`);
    }
    if (value === null) return null;
  }
  if (whole && at < text.length) return null;
  if (fields.afternoon && fields.hour < 12) fields.hour += 12;
  return fields;
}

function $momentOf(fields, minutes) {
  const date = new Date(0);
  date.setUTCFullYear(fields.year, fields.month - 1, fields.day);
  date.setUTCHours(fields.hour, fields.minute, fields.second, fields.milli);
  return date.getTime() - (fields.minutes === null || fields.minutes === undefined ? minutes : fields.minutes) * 60000;
}

class $Date {
  constructor(value, month, day, hour = 0, minute = 0, second = 0) {
    if (value === undefined) this.ms = Math.floor(host.now());
    else if (month !== undefined) this.ms = Date.UTC(1900 + Number(value), Number(month), Number(day), Number(hour), Number(minute), Number(second));
    else if (typeof value === "string") this.ms = Date.parse(value);
    else this.ms = Number(value instanceof $Date ? value.ms : value);
  }
  static parse(pattern, text) { return text === undefined ? Date.parse($text(pattern)) : new $SimpleDateFormat(pattern).parse(text); }
  get time() { return this.ms; }
  fields() { return $fields(this.ms, 0); }
  getTime() { return this.ms; }
  setTime(ms) { this.ms = Number(ms); return null; }
  toTimestamp() { return this; }
  toInstant() { return new $Instant(this.ms); }
  toCalendar() { return new $Calendar(this.ms); }
  getYear() { return this.fields().year - 1900; }
  getMonth() { return this.fields().month - 1; }
  getDate() { return this.fields().day; }
  getDay() { return this.fields().weekday; }
  getHours() { return this.fields().hour; }
  getMinutes() { return this.fields().minute; }
  getSeconds() { return this.fields().second; }
  getTimezoneOffset() { return 0; }
  before(other) { return this.ms < other.ms; }
  after(other) { return this.ms > other.ms; }
  compareTo(other) { return Math.sign(this.ms - other.ms); }
  equals(other) { return other instanceof $Date && this.ms === other.ms; }
  plus(days) { return new $Date(this.ms + Number(days) * $DAY); }
  minus(days) { return days instanceof $Date ? $sub(this, days) : this.plus(-Number(days)); }
  format(pattern, zone) { const format = new $SimpleDateFormat(pattern); if (zone) format.setTimeZone(zone); return format.format(this); }
  getDateString() { return this.format("MM/dd/yy"); }
  clearTime() { this.ms -= ((this.ms % $DAY) + $DAY) % $DAY; return this; }
  next() { return this.plus(1); }
  previous() { return this.plus(-1); }
  getAt(field) { return new $Calendar(this.ms).get(field); }
  toISOString() { return new Date(this.ms).toISOString(); }
  clone() { return new $Date(this.ms); }
  valueOf() { return this.ms; }
  toString() { return $printDate("EEE MMM dd HH:mm:ss z yyyy", this.fields(), "UTC"); }
}
$class.Date = $Date;

class $SimpleDateFormat {
  constructor(pattern) { this.pattern = pattern === undefined ? "M/d/yy h:mm a" : $text(pattern); this.zone = $UTC; $printDate(this.pattern, $fields(0, 0), ""); }
  setTimeZone(zone) { this.zone = $Zone.of(zone); return null; }
  getTimeZone() { return this.zone; }
  setLenient() { return null; }
  applyPattern(pattern) { this.pattern = $text(pattern); return null; }
  toPattern() { return this.pattern; }
  format(value) {
    const ms = value instanceof $Date ? value.ms : value instanceof $Calendar ? value.ms : value;
    if (typeof ms !== "number") throw $error("IllegalArgumentException", `Cannot format a ${$kind(value)} as a Date`);
    return $printDate(this.pattern, $fields(ms, this.zone.minutes), this.zone.id);
  }
  parse(text) {
    const fields = $readDate(this.pattern, $text(text), false);
    if (fields === null) throw $error("ParseException", `Unparseable date: "${$text(text)}"`);
    return new $Date($momentOf(fields, this.zone.minutes));
  }
}
$class.SimpleDateFormat = $SimpleDateFormat;

function $dateFormat(letter, value) {
  const ms = value instanceof $Date || value instanceof $Calendar || value instanceof $Instant ? value.ms : value instanceof $Moment ? value.ms : Number(value);
  const pattern = { Y: "yyyy", m: "MM", d: "dd", e: "d", H: "HH", M: "mm", S: "ss", L: "SSS", F: "yyyy-MM-dd", T: "HH:mm:ss", R: "HH:mm", D: "MM/dd/yy", B: "MMMM", b: "MMM", A: "EEEE", a: "EEE", p: "a", y: "yy", I: "hh", z: "Z", j: "DDD" }[letter];
  if (letter === "s") return String(Math.floor(ms / 1000));
  if (letter === "Q") return String(ms);
  if (pattern === undefined) throw $error("UnknownFormatConversionException", `Conversion = 't${letter}'`);
  return $printDate(pattern, $fields(ms, 0), "UTC");
}

const $CALENDAR = [null, "YEAR", "MONTH", "WEEK_OF_YEAR", null, "DATE", "DAY_OF_YEAR", "DAY_OF_WEEK", null, "AM_PM", "HOUR", "HOUR_OF_DAY", "MINUTE", "SECOND", "MILLISECOND", "ZONE_OFFSET"];

class $Calendar {
  constructor(ms, month, day, hour = 0, minute = 0, second = 0) {
    this.zone = $UTC;
    this.ms = month !== undefined ? Date.UTC(Number(ms), Number(month), Number(day), Number(hour), Number(minute), Number(second)) : typeof ms === "number" ? ms : Math.floor(host.now());
    if (ms instanceof $Zone) this.zone = ms;
  }
  static getInstance(zone) { return new $Calendar(zone instanceof $Zone ? zone : undefined); }
  getTime() { return new $Date(this.ms); }
  setTime(date) { this.ms = date.ms; return null; }
  getTimeInMillis() { return this.ms; }
  setTimeInMillis(ms) { this.ms = Number(ms); return null; }
  setTimeZone(zone) { this.zone = $Zone.of(zone); return null; }
  getTimeZone() { return this.zone; }
  setLenient() { return null; }
  setFirstDayOfWeek() { return null; }
  fields() { return $fields(this.ms, this.zone.minutes); }
  get(field) {
    const fields = this.fields();
    switch ($CALENDAR[field]) {
      case "YEAR": return fields.year;
      case "MONTH": return fields.month - 1;
      case "WEEK_OF_YEAR": return fields.week;
      case "DATE": return fields.day;
      case "DAY_OF_YEAR": return fields.day_of_year;
      case "DAY_OF_WEEK": return fields.weekday + 1;
      case "AM_PM": return fields.hour < 12 ? 0 : 1;
      case "HOUR": return fields.hour % 12;
      case "HOUR_OF_DAY": return fields.hour;
      case "MINUTE": return fields.minute;
      case "SECOND": return fields.second;
      case "MILLISECOND": return fields.milli;
      case "ZONE_OFFSET": return this.zone.minutes * 60000;
    }
    throw $error("ArrayIndexOutOfBoundsException", `no field ${field} of a Calendar`);
  }
  put(change) {
    const fields = this.fields();
    change(fields);
    fields.minutes = null;
    this.ms = $momentOf(fields, this.zone.minutes);
    return null;
  }
  set(field, value, ...more) {
    if (more.length > 0) {
      const [day, hour, minute, second] = more;
      return this.put((fields) => Object.assign(fields, { year: Number(field), month: Number(value) + 1, day: Number(day) }, hour === undefined ? {} : { hour: Number(hour), minute: Number(minute) }, second === undefined ? {} : { second: Number(second) }));
    }
    value = Number(value);
    switch ($CALENDAR[field]) {
      case "YEAR": return this.put((fields) => { fields.year = value; });
      case "MONTH": return this.put((fields) => { fields.month = value + 1; });
      case "DATE": return this.put((fields) => { fields.day = value; });
      case "DAY_OF_YEAR": return this.put((fields) => { fields.month = 1; fields.day = value; });
      case "DAY_OF_WEEK": this.ms += (value - 1 - this.fields().weekday) * $DAY; return null;
      case "AM_PM": return this.put((fields) => { fields.hour = fields.hour % 12 + value * 12; });
      case "HOUR": return this.put((fields) => { fields.hour = (fields.hour < 12 ? 0 : 12) + value; });
      case "HOUR_OF_DAY": return this.put((fields) => { fields.hour = value; });
      case "MINUTE": return this.put((fields) => { fields.minute = value; });
      case "SECOND": return this.put((fields) => { fields.second = value; });
      case "MILLISECOND": return this.put((fields) => { fields.milli = value; });
    }
    throw $error("ArrayIndexOutOfBoundsException", `no field ${field} of a Calendar`);
  }
  add(field, by) {
    by = Number(by);
    switch ($CALENDAR[field]) {
      case "YEAR": this.ms = $addMonths(this.ms, this.zone.minutes, by * 12); return null;
      case "MONTH": this.ms = $addMonths(this.ms, this.zone.minutes, by); return null;
      case "WEEK_OF_YEAR": this.ms += by * 7 * $DAY; return null;
      case "DATE": case "DAY_OF_YEAR": case "DAY_OF_WEEK": this.ms += by * $DAY; return null;
      case "HOUR": case "HOUR_OF_DAY": this.ms += by * 3600000; return null;
      case "MINUTE": this.ms += by * 60000; return null;
      case "SECOND": this.ms += by * 1000; return null;
      case "MILLISECOND": this.ms += by; return null;
    }
    throw $error("IllegalArgumentException", `no field ${field} of a Calendar`);
  }
  getActualMaximum(field) {
    const fields = this.fields();
    return $CALENDAR[field] === "DATE" ? $monthLength(fields.year, fields.month) : { MONTH: 11, HOUR_OF_DAY: 23, MINUTE: 59, SECOND: 59, MILLISECOND: 999 }[$CALENDAR[field]];
  }
  getAt(field) { return this.get(field); }
  before(other) { return this.ms < other.ms; }
  after(other) { return this.ms > other.ms; }
  format(pattern) { const format = new $SimpleDateFormat(pattern); format.setTimeZone(this.zone); return format.format(this); }
  toInstant() { return new $Instant(this.ms); }
  clone() { const copy = new $Calendar(this.ms); copy.zone = this.zone; return copy; }
  clear() { this.ms = -this.zone.minutes * 60000; return null; }
}
for (const [index, name] of $CALENDAR.entries()) if (name !== null) $Calendar[name] = index;
$Calendar.DAY_OF_MONTH = 5;
$Calendar.AM = 0;
$Calendar.PM = 1;
$MONTHS.forEach((name, index) => { $Calendar[name.toUpperCase()] = index; });
$DAYS.forEach((name, index) => { $Calendar[name.toUpperCase()] = index + 1; });
$class.Calendar = $Calendar;
$class.GregorianCalendar = $Calendar;

function $monthLength(year, month) { return new Date(Date.UTC(year, month, 0)).getUTCDate(); }

// The same day some months on, or the last one of that month.
function $addMonths(ms, minutes, months) {
  const fields = $fields(ms, minutes);
  const index = fields.year * 12 + fields.month - 1 + months;
  fields.year = Math.floor(index / 12);
  fields.month = index - fields.year * 12 + 1;
  fields.day = Math.min(fields.day, $monthLength(fields.year, fields.month));
  fields.minutes = null;
  return $momentOf(fields, minutes);
}
