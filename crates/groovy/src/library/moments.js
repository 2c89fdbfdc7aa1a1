// Moments of java.time: local ones, those with a zone, instants, spans, and the formats of both.

const $UNITS = { MILLIS: 1, SECONDS: 1000, MINUTES: 60000, HOURS: 3600000, DAYS: $DAY, WEEKS: 7 * $DAY };

class $Unit {
  constructor(name) { this.name = name; }
  between(from, to) { return from.until(to, this); }
  toString() { return $capital(this.name.toLowerCase()); }
}
$class.ChronoUnit = {};
for (const name of [...Object.keys($UNITS), "MONTHS", "YEARS"]) $class.ChronoUnit[name] = new $Unit(name);

class $Formatter {
  constructor(pattern, zone = null) { this.pattern = pattern; this.zone = zone; }
  static ofPattern(pattern) { $printDate($text(pattern), $fields(0, 0), "", true); return new $Formatter($text(pattern)); }
  withZone(zone) { return new $Formatter(this.pattern, $Zone.of(zone)); }
  withLocale() { return this; }
  format(value) {
    if (value instanceof $Instant) {
      const zone = this.zone || $UTC;
      if (this.pattern === "instant") return value.toString();
      return $printDate(this.pattern, $fields(value.ms, zone.minutes), zone.id, true);
    }
    return value.format(this);
  }
  parse(text) { return $Moment.read("LocalDateTime", text, this); }
  toString() { return this.pattern; }
}
Object.assign($Formatter, {
  ISO_DATE: new $Formatter("yyyy-MM-dd"), ISO_LOCAL_DATE: new $Formatter("yyyy-MM-dd"), ISO_TIME: new $Formatter("time"), ISO_LOCAL_TIME: new $Formatter("time"),
  ISO_LOCAL_DATE_TIME: new $Formatter("local"), ISO_DATE_TIME: new $Formatter("iso"), ISO_OFFSET_DATE_TIME: new $Formatter("iso"), ISO_INSTANT: new $Formatter("instant"), BASIC_ISO_DATE: new $Formatter("yyyyMMdd"),
});
$class.DateTimeFormatter = $Formatter;

function $number_(value) { return value === undefined ? 0 : Number(value); }

class $Span {
  constructor(ms, months = 0) { this.ms = Number(ms); this.months = months; }
  // Of a date of java.util, as TimeCategory has it.
  after(date) { return new $Date($addMonths(date.ms, 0, this.months) + this.ms); }
  before(date) { return new $Date($addMonths(date.ms, 0, -this.months) - this.ms); }
  getAgo() { return this.before(new $Date()); }
  getFrom() { return { getNow: () => this.after(new $Date()) }; }
  static between(from, to) { return new $Span(to.ms - from.ms); }
  toMillis() { return this.ms; }
  getSeconds() { return Math.floor(this.ms / 1000); }
  toSeconds() { return Math.floor(this.ms / 1000); }
  toMinutes() { return Math.trunc(this.ms / 60000); }
  toHours() { return Math.trunc(this.ms / 3600000); }
  toDays() { return Math.trunc(this.ms / $DAY); }
  toNanos() { return this.ms * 1000000; }
  plus(other) { return other instanceof $Date ? this.after(other) : new $Span(this.ms + other.ms, this.months + other.months); }
  minus(other) { return new $Span(this.ms - other.ms); }
  isNegative() { return this.ms < 0; }
  compareTo(other) { return Math.sign(this.ms - other.ms); }
  equals(other) { return other instanceof $Span && other.ms === this.ms; }
  toString() {
    const seconds = this.ms / 1000;
    const [hours, minutes] = [Math.trunc(seconds / 3600), Math.trunc(seconds % 3600 / 60)];
    const rest = $text(Number((seconds % 60).toFixed(3)));
    return "PT" + (hours ? hours + "H" : "") + (minutes ? minutes + "M" : "") + (rest !== "0" || this.ms === 0 ? rest + "S" : "");
  }
}
$class.Duration = {
  between: $Span.between, ofMillis: (size) => new $Span(size), ofSeconds: (size) => new $Span(Number(size) * 1000), ofMinutes: (size) => new $Span(Number(size) * 60000),
  ofHours: (size) => new $Span(Number(size) * 3600000), ofDays: (size) => new $Span(Number(size) * $DAY), ZERO: new $Span(0),
};

class $Instant {
  constructor(ms) { this.ms = ms; }
  static now() { return new $Instant(Math.floor(host.now())); }
  static parse(text) {
    const ms = Date.parse($text(text));
    if (Number.isNaN(ms)) throw $error("DateTimeParseException", `Text '${$text(text)}' could not be parsed`);
    return new $Instant(ms);
  }
  static ofEpochMilli(ms) { return new $Instant(Number(ms)); }
  static ofEpochSecond(seconds) { return new $Instant(Number(seconds) * 1000); }
  toEpochMilli() { return this.ms; }
  getEpochSecond() { return Math.floor(this.ms / 1000); }
  getNano() { return ((this.ms % 1000) + 1000) % 1000 * 1000000; }
  plus(size, unit) { return new $Instant(this.ms + (unit === undefined ? size.ms : Number(size) * $UNITS[unit.name])); }
  minus(size, unit) { return new $Instant(this.ms - (unit === undefined ? size.ms : Number(size) * $UNITS[unit.name])); }
  plusMillis(size) { return new $Instant(this.ms + Number(size)); }
  minusMillis(size) { return new $Instant(this.ms - Number(size)); }
  plusSeconds(size) { return new $Instant(this.ms + Number(size) * 1000); }
  minusSeconds(size) { return new $Instant(this.ms - Number(size) * 1000); }
  truncatedTo(unit) { return new $Instant(this.ms - this.ms % $UNITS[unit.name]); }
  atZone(zone) { return new $Moment("ZonedDateTime", this.ms, $Zone.of(zone)); }
  atOffset(zone) { return new $Moment("OffsetDateTime", this.ms, $Zone.of(zone)); }
  until(other, unit) { return Math.trunc((other.ms - this.ms) / $UNITS[unit.name]); }
  isBefore(other) { return this.ms < other.ms; }
  isAfter(other) { return this.ms > other.ms; }
  compareTo(other) { return Math.sign(this.ms - other.ms); }
  equals(other) { return other instanceof $Instant && other.ms === this.ms; }
  toString() { return new Date(this.ms).toISOString().replace(/\.000Z$/, "Z"); }
}
$Instant.EPOCH = new $Instant(0);
$class.Instant = $Instant;

// All others. A local one has no zone: its fields are those of UTC.
class $Moment {
  constructor(kind, ms, zone) { this.kind = kind; this.ms = kind === "LocalDate" ? ms - ((ms % $DAY) + $DAY) % $DAY : kind === "LocalTime" ? ((ms % $DAY) + $DAY) % $DAY : ms; this.zone = zone || $UTC; }
  static now(kind, zone) {
    const ms = Math.floor(host.now());
    const found = zone === undefined ? $UTC : $Zone.of(zone);
    return kind.startsWith("Local") ? new $Moment(kind, ms + found.minutes * 60000) : new $Moment(kind, ms, found);
  }
  static read(kind, text, formatter) {
    text = $text(text);
    const patterns = formatter !== undefined && !["iso", "instant", "local", "time"].includes(formatter.pattern) ? [formatter.pattern]
      : kind === "LocalDate" ? ["yyyy-MM-dd"] : kind === "LocalTime" ? ["HH:mm:ss.S", "HH:mm:ss", "HH:mm"]
        : kind === "LocalDateTime" ? ["yyyy-MM-dd'T'HH:mm:ss.S", "yyyy-MM-dd'T'HH:mm:ss", "yyyy-MM-dd'T'HH:mm"] : ["yyyy-MM-dd'T'HH:mm:ss.SX", "yyyy-MM-dd'T'HH:mm:ssX", "yyyy-MM-dd'T'HH:mmX"];
    for (const pattern of patterns) {
      const fields = $readDate(pattern, text.replace(/\[.*\]$/, ""), true);
      if (fields === null) continue;
      const zone = fields.minutes === null ? $UTC : new $Zone(fields.minutes === 0 ? "Z" : $distance(fields.minutes, ":"));
      if (kind.startsWith("Local")) fields.minutes = null;
      return new $Moment(kind, $momentOf(fields, 0), kind.startsWith("Local") ? $UTC : zone);
    }
    throw $error("DateTimeParseException", `Text '${text}' could not be parsed`);
  }
  fields() { return $fields(this.ms, this.zone.minutes); }
  as(kind) { return new $Moment(kind, this.ms, this.zone); }
  made(ms) { return new $Moment(this.kind, ms, this.zone); }
  format(formatter) {
    const pattern = formatter instanceof $Formatter ? formatter.pattern : $text(formatter);
    const fields = this.fields();
    const time = () => $printDate(fields.milli !== 0 ? "HH:mm:ss.SSS" : "HH:mm:ss", fields, "", true);
    if (pattern === "time") return time();
    if (pattern === "local" || pattern === "iso") {
      const offset = pattern === "local" || this.kind.startsWith("Local") ? "" : fields.minutes === 0 ? "Z" : $distance(fields.minutes, ":");
      return $printDate("yyyy-MM-dd'T'", fields, "", true) + time() + offset;
    }
    if (pattern === "instant") return new $Instant(this.ms).toString();
    return $printDate(pattern, this.fields(), this.zone.id, true);
  }
  plus(size, unit) {
    if (unit === undefined) return size instanceof $Span ? this.made(this.ms + size.ms) : this.made(this.ms + Number(size) * (this.kind === "LocalDate" ? $DAY : 1000));
    if (unit.name === "MONTHS" || unit.name === "YEARS") return this.plusMonths(Number(size) * (unit.name === "YEARS" ? 12 : 1));
    return this.made(this.ms + Number(size) * $UNITS[unit.name]);
  }
  minus(size, unit) { return size instanceof $Span ? this.made(this.ms - size.ms) : this.plus(-Number(size), unit); }
  plusMonths(size) { return this.made($addMonths(this.ms, this.zone.minutes, Number(size))); }
  minusMonths(size) { return this.plusMonths(-Number(size)); }
  plusYears(size) { return this.plusMonths(Number(size) * 12); }
  minusYears(size) { return this.plusMonths(-Number(size) * 12); }
  change(change) {
    const fields = this.fields();
    change(fields);
    fields.minutes = null;
    return this.made($momentOf(fields, this.zone.minutes));
  }
  withYear(value) { return this.change((fields) => { fields.year = Number(value); }); }
  withMonth(value) { return this.change((fields) => { fields.month = Number(value); }); }
  withDayOfMonth(value) { return this.change((fields) => { fields.day = Number(value); }); }
  withHour(value) { return this.change((fields) => { fields.hour = Number(value); }); }
  withMinute(value) { return this.change((fields) => { fields.minute = Number(value); }); }
  withSecond(value) { return this.change((fields) => { fields.second = Number(value); }); }
  withNano(value) { return this.change((fields) => { fields.milli = Math.floor(Number(value) / 1000000); }); }
  truncatedTo(unit) { const local = this.ms + this.zone.minutes * 60000; return this.made(this.ms - ((local % $UNITS[unit.name]) + $UNITS[unit.name]) % $UNITS[unit.name]); }
  getYear() { return this.fields().year; }
  getMonthValue() { return this.fields().month; }
  getMonth() { return $MONTHS[this.fields().month - 1].toUpperCase(); }
  getDayOfMonth() { return this.fields().day; }
  getDayOfYear() { return this.fields().day_of_year; }
  getDayOfWeek() { return $DAYS[this.fields().weekday].toUpperCase(); }
  getHour() { return this.fields().hour; }
  getMinute() { return this.fields().minute; }
  getSecond() { return this.fields().second; }
  getNano() { return this.fields().milli * 1000000; }
  lengthOfMonth() { const fields = this.fields(); return $monthLength(fields.year, fields.month); }
  isLeapYear() { return $monthLength(this.fields().year, 2) === 29; }
  toLocalDate() { return new $Moment("LocalDate", this.ms + this.zone.minutes * 60000); }
  toLocalTime() { return new $Moment("LocalTime", this.ms + this.zone.minutes * 60000); }
  toLocalDateTime() { return new $Moment("LocalDateTime", this.ms + this.zone.minutes * 60000); }
  toOffsetDateTime() { return new $Moment("OffsetDateTime", this.ms, this.zone); }
  toZonedDateTime() { return new $Moment("ZonedDateTime", this.ms, this.zone); }
  atStartOfDay(zone) { return zone === undefined ? new $Moment("LocalDateTime", this.ms) : new $Moment("ZonedDateTime", this.ms - $Zone.of(zone).minutes * 60000, $Zone.of(zone)); }
  atTime(hour, minute, second) { return hour instanceof $Moment ? new $Moment("LocalDateTime", this.ms + hour.ms) : new $Moment("LocalDateTime", this.ms + ((Number(hour) * 60 + Number(minute)) * 60 + $number_(second)) * 1000); }
  atZone(zone) { return new $Moment("ZonedDateTime", this.ms - $Zone.of(zone).minutes * 60000, $Zone.of(zone)); }
  atOffset(zone) { return new $Moment("OffsetDateTime", this.ms - $Zone.of(zone).minutes * 60000, $Zone.of(zone)); }
  withZoneSameInstant(zone) { return new $Moment(this.kind, this.ms, $Zone.of(zone)); }
  withOffsetSameInstant(zone) { return new $Moment(this.kind, this.ms, $Zone.of(zone)); }
  getZone() { return this.zone; }
  getOffset() { return this.zone; }
  toInstant(zone) { return new $Instant(this.ms - (zone === undefined ? 0 : $Zone.of(zone).minutes * 60000)); }
  toEpochSecond(zone) { return Math.floor(this.toInstant(zone).ms / 1000); }
  toEpochDay() { return Math.floor(this.ms / $DAY); }
  toSecondOfDay() { return Math.floor(this.ms / 1000); }
  until(other, unit) {
    if (unit.name === "MONTHS" || unit.name === "YEARS") {
      const [from, to] = [this.fields(), other.fields()];
      let months = (to.year - from.year) * 12 + to.month - from.month;
      if (months > 0 && this.plusMonths(months).ms > other.ms) months--;
      if (months < 0 && this.plusMonths(months).ms < other.ms) months++;
      return unit.name === "YEARS" ? Math.trunc(months / 12) : months;
    }
    return Math.trunc((other.ms - this.ms) / $UNITS[unit.name]);
  }
  isBefore(other) { return this.ms < other.ms; }
  isAfter(other) { return this.ms > other.ms; }
  isEqual(other) { return this.ms === other.ms; }
  compareTo(other) { return Math.sign(this.ms - other.ms); }
  equals(other) { return other instanceof $Moment && other.kind === this.kind && other.ms === this.ms; }
  next() { return this.plus(1); }
  toString() {
    const fields = this.fields();
    const date = $printDate("yyyy-MM-dd", fields, "", true);
    if (this.kind === "LocalDate") return date;
    const time = $printDate(fields.milli !== 0 ? "HH:mm:ss.SSS" : fields.second !== 0 ? "HH:mm:ss" : "HH:mm", fields, "", true);
    if (this.kind === "LocalTime") return time;
    if (this.kind === "LocalDateTime") return `${date}T${time}`;
    const offset = fields.minutes === 0 ? "Z" : $distance(fields.minutes, ":");
    return `${date}T${time}${offset}` + (this.kind === "ZonedDateTime" && /[A-Za-z]{2}/.test(this.zone.id) ? `[${this.zone.id}]` : "");
  }
}
for (const [unit, ms] of [["Seconds", 1000], ["Minutes", 60000], ["Hours", 3600000], ["Days", $DAY], ["Weeks", 7 * $DAY], ["Nanos", 0.000001]]) {
  $Moment.prototype["plus" + unit] = function (size) { return this.made(this.ms + Math.trunc(Number(size) * ms)); };
  $Moment.prototype["minus" + unit] = function (size) { return this.made(this.ms - Math.trunc(Number(size) * ms)); };
}

function $monthOf(month) { return typeof month === "string" ? $MONTHS.findIndex((name) => name.toUpperCase() === month) : Number(month) - 1; }

for (const kind of ["LocalDate", "LocalDateTime", "LocalTime", "ZonedDateTime", "OffsetDateTime"]) {
  $class[kind] = {
    $name: kind,
    now: (zone) => $Moment.now(kind, zone),
    parse: (text, formatter) => $Moment.read(kind, text, formatter),
    of: (...values) => {
      if (kind === "LocalTime") return new $Moment(kind, (($number_(values[0]) * 60 + $number_(values[1])) * 60 + $number_(values[2])) * 1000);
      if (values[0] instanceof $Moment && values[0].kind === "LocalDateTime") return values[0].atZone(values[1]).as(kind);
      if (values[0] instanceof $Moment) return new $Moment(kind, values[0].ms + values[1].ms - (kind.startsWith("Local") ? 0 : $Zone.of(values[2] || values[1]).minutes * 60000), kind.startsWith("Local") ? undefined : $Zone.of(values[2]));
      const zone = kind.startsWith("Local") ? $UTC : $Zone.of(values[values.length - 1]);
      const [year, month, day, hour, minute, second, nano] = values;
      return new $Moment(kind, Date.UTC(Number(year), $monthOf(month), Number(day), $number_(hour), $number_(minute), zone === $UTC || typeof second === "number" ? $number_(second) : 0, typeof nano === "number" ? nano / 1000000 : 0) - zone.minutes * 60000, zone);
    },
    ofInstant: (instant, zone) => kind.startsWith("Local") ? new $Moment(kind, instant.ms + $Zone.of(zone).minutes * 60000) : new $Moment(kind, instant.ms, $Zone.of(zone)),
    ofEpochDay: (days) => new $Moment(kind, Number(days) * $DAY),
    ofEpochSecond: (seconds, _nano, zone) => new $Moment(kind, Number(seconds) * 1000 + (zone ? $Zone.of(zone).minutes * 60000 : 0)),
  };
}
$class.LocalTime.MIDNIGHT = new $Moment("LocalTime", 0);
$class.LocalTime.NOON = new $Moment("LocalTime", $DAY / 2);

// Of groovy.time.TimeCategory: `3.days`, `1.hour`.
for (const [name, ms, months] of [["Second", 1000, 0], ["Minute", 60000, 0], ["Hour", 3600000, 0], ["Day", $DAY, 0], ["Week", 7 * $DAY, 0], ["Month", 0, 1], ["Year", 0, 12]]) {
  $NUMBER["get" + name] = $NUMBER[`get${name}s`] = (size) => new $Span(Number(size) * ms, Number(size) * months);
}
