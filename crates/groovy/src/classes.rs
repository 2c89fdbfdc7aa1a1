//! The classes of Java, Groovy and their usual libraries that translated scripts may name, and what of them can be called.
//!
//! A table and not whatever the JavaScript library happens to hold: so a class or a method that is missing is a mistake when the plan
//! is read, with its line, and not an error in the middle of a load. A test holds the table against the library.

/// A class that scripts may name.
pub(crate) struct Class {
    pub name: &'static str,
    /// Where it is at home.
    pub packages: &'static [&'static str],
    /// What is called on the class itself, separated by spaces.
    pub methods: &'static str,
    /// Constants of it.
    pub fields: &'static str,
    /// Whether `new` makes one.
    pub made: bool,
}

const fn class(name: &'static str, packages: &'static [&'static str], made: bool, methods: &'static str, fields: &'static str) -> Class {
    Class { name, packages, methods, fields, made }
}

const LANG: &[&str] = &["java.lang"];
const UTIL: &[&str] = &["java.util"];
const TIME: &[&str] = &["java.time"];
const CONCURRENT: &[&str] = &["java.util.concurrent"];
const LOCALES: &str = "US UK ENGLISH ROOT GERMANY GERMAN FRANCE FRENCH CHINA CHINESE JAPAN ITALY CANADA KOREA";
const WHOLE: &str = "parseInt parseLong parseShort valueOf toString toHexString toBinaryString toOctalString compare max min sum signum parseUnsignedInt bitCount reverse";

pub(crate) const CLASSES: &[Class] = &[
    class("String", LANG, true, "valueOf format join copyValueOf", "CASE_INSENSITIVE_ORDER"),
    class("Integer", LANG, true, WHOLE, "MAX_VALUE MIN_VALUE"),
    class("Long", LANG, true, WHOLE, "MAX_VALUE MIN_VALUE"),
    class("Short", LANG, true, WHOLE, "MAX_VALUE MIN_VALUE"),
    class("Byte", LANG, true, WHOLE, "MAX_VALUE MIN_VALUE"),
    class("Double", LANG, true, "parseDouble valueOf toString compare max min sum isNaN isInfinite", "MAX_VALUE MIN_VALUE NaN"),
    class("Float", LANG, true, "parseFloat valueOf toString compare max min sum isNaN isInfinite", "MAX_VALUE MIN_VALUE NaN"),
    class("Boolean", LANG, true, "parseBoolean valueOf toString", "TRUE FALSE"),
    class(
        "Character",
        LANG,
        true,
        "isDigit isLetter isLetterOrDigit isAlphabetic isUpperCase isLowerCase isWhitespace toUpperCase toLowerCase toString valueOf getNumericValue toChars",
        "MAX_VALUE MIN_VALUE",
    ),
    class("Number", LANG, false, "", ""),
    class("Object", LANG, true, "", ""),
    class("CharSequence", LANG, false, "", ""),
    class("Iterable", LANG, false, "", ""),
    class("Comparable", LANG, false, "", ""),
    class(
        "Math",
        LANG,
        false,
        "abs max min pow sqrt cbrt floor ceil round random log log10 exp sin cos tan asin acos atan atan2 hypot signum floorMod floorDiv toIntExact addExact subtractExact multiplyExact rint toRadians toDegrees",
        "PI E",
    ),
    class("System", LANG, false, "currentTimeMillis nanoTime lineSeparator identityHashCode", "out err"),
    class("Thread", LANG, false, "currentThread", ""),
    class("StringBuilder", LANG, true, "", ""),
    class("StringBuffer", LANG, true, "", ""),
    class("UUID", UTIL, false, "randomUUID fromString nameUUIDFromBytes", ""),
    class("Random", UTIL, true, "", ""),
    class("SecureRandom", &["java.security"], true, "getInstance getInstanceStrong", ""),
    class("ThreadLocalRandom", CONCURRENT, false, "current", ""),
    class("Date", UTIL, true, "parse", ""),
    class(
        "Calendar",
        UTIL,
        false,
        "getInstance",
        "YEAR MONTH DATE DAY_OF_MONTH DAY_OF_WEEK DAY_OF_YEAR WEEK_OF_YEAR HOUR HOUR_OF_DAY MINUTE SECOND MILLISECOND AM_PM AM PM ZONE_OFFSET JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY",
    ),
    class("GregorianCalendar", UTIL, true, "getInstance", ""),
    class("TimeZone", UTIL, false, "getTimeZone getDefault", ""),
    class("Locale", UTIL, true, "getDefault forLanguageTag", LOCALES),
    class("List", UTIL, false, "of copyOf", ""),
    class("ArrayList", UTIL, true, "", ""),
    class("LinkedList", UTIL, true, "", ""),
    class("Vector", UTIL, true, "", ""),
    class("ArrayDeque", UTIL, true, "", ""),
    class("Stack", UTIL, true, "", ""),
    class("Collection", UTIL, false, "", ""),
    class("Map", UTIL, false, "of entry", ""),
    class("HashMap", UTIL, true, "", ""),
    class("LinkedHashMap", UTIL, true, "", ""),
    class("TreeMap", UTIL, true, "", ""),
    class("Hashtable", UTIL, true, "", ""),
    class("ConcurrentHashMap", CONCURRENT, true, "", ""),
    class("CopyOnWriteArrayList", CONCURRENT, true, "", ""),
    class("Set", UTIL, false, "of copyOf", ""),
    class("HashSet", UTIL, true, "", ""),
    class("LinkedHashSet", UTIL, true, "", ""),
    class("TreeSet", UTIL, true, "", ""),
    class("Arrays", UTIL, false, "asList toString sort fill copyOf copyOfRange equals stream hashCode", ""),
    class(
        "Collections",
        UTIL,
        false,
        "shuffle sort reverse emptyList emptyMap emptySet singletonList singleton max min unmodifiableList unmodifiableMap synchronizedList synchronizedMap addAll frequency swap nCopies reverseOrder",
        "",
    ),
    class("Objects", UTIL, false, "equals isNull nonNull requireNonNull toString hash hashCode requireNonNullElse", ""),
    class(
        "Base64",
        &["java.util", "org.apache.commons.codec.binary"],
        true,
        "getEncoder getDecoder getUrlEncoder getUrlDecoder getMimeEncoder getMimeDecoder encodeBase64String encodeBase64 decodeBase64 encodeBase64URLSafeString",
        "",
    ),
    class("TimeUnit", CONCURRENT, false, "valueOf", "NANOSECONDS MICROSECONDS MILLISECONDS SECONDS MINUTES HOURS DAYS"),
    class("AtomicInteger", &["java.util.concurrent.atomic"], true, "", ""),
    class("AtomicLong", &["java.util.concurrent.atomic"], true, "", ""),
    class(
        "Pattern",
        &["java.util.regex"],
        false,
        "compile matches quote",
        "CASE_INSENSITIVE MULTILINE DOTALL COMMENTS LITERAL UNICODE_CASE",
    ),
    class("Matcher", &["java.util.regex"], false, "quoteReplacement", ""),
    class("SimpleDateFormat", &["java.text"], true, "", ""),
    class("DecimalFormat", &["java.text"], true, "", ""),
    class("LocalDate", TIME, false, "now of parse ofEpochDay", ""),
    class("LocalDateTime", TIME, false, "now of parse ofInstant ofEpochSecond", ""),
    class("LocalTime", TIME, false, "now of parse", "MIDNIGHT NOON"),
    class("ZonedDateTime", TIME, false, "now of parse ofInstant", ""),
    class("OffsetDateTime", TIME, false, "now of parse ofInstant", ""),
    class("Instant", TIME, false, "now parse ofEpochMilli ofEpochSecond", "EPOCH"),
    class("Duration", TIME, false, "between ofMillis ofSeconds ofMinutes ofHours ofDays", "ZERO"),
    class("ZoneId", TIME, false, "of systemDefault", ""),
    class("ZoneOffset", TIME, false, "of ofHours", "UTC"),
    class(
        "DateTimeFormatter",
        &["java.time.format"],
        false,
        "ofPattern",
        "ISO_DATE ISO_LOCAL_DATE ISO_TIME ISO_LOCAL_TIME ISO_DATE_TIME ISO_LOCAL_DATE_TIME ISO_OFFSET_DATE_TIME ISO_INSTANT BASIC_ISO_DATE",
    ),
    class("ChronoUnit", &["java.time.temporal"], false, "", "MILLIS SECONDS MINUTES HOURS DAYS WEEKS MONTHS YEARS"),
    class("URLEncoder", &["java.net"], false, "encode", ""),
    class("URLDecoder", &["java.net"], false, "decode", ""),
    class("URL", &["java.net"], true, "", ""),
    class("URI", &["java.net"], true, "create", ""),
    class("BigDecimal", &["java.math"], true, "valueOf", "ZERO ONE TEN"),
    class("BigInteger", &["java.math"], true, "valueOf", "ZERO ONE TEN"),
    class("RoundingMode", &["java.math"], false, "", "HALF_UP HALF_DOWN HALF_EVEN UP DOWN CEILING FLOOR"),
    class("StandardCharsets", &["java.nio.charset"], false, "", "UTF_8 US_ASCII ISO_8859_1"),
    class("Charset", &["java.nio.charset"], false, "forName defaultCharset", ""),
    class("MessageDigest", &["java.security"], false, "getInstance isEqual", ""),
    class("Mac", &["javax.crypto"], false, "getInstance", ""),
    class("SecretKeySpec", &["javax.crypto.spec"], true, "", ""),
    class("JsonSlurper", &["groovy.json"], true, "", ""),
    class("JsonSlurperClassic", &["groovy.json"], true, "", ""),
    class("JsonOutput", &["groovy.json"], false, "toJson prettyPrint", ""),
    class("JsonBuilder", &["groovy.json"], true, "", ""),
    class("JSONObject", &["org.json"], true, "quote", "NULL"),
    class("JSONArray", &["org.json"], true, "", ""),
    class(
        "RandomStringUtils",
        &["org.apache.commons.lang3", "org.apache.commons.lang"],
        false,
        "random randomAlphanumeric randomAlphabetic randomNumeric randomAscii",
        "",
    ),
    class("RandomUtils", &["org.apache.commons.lang3"], false, "nextInt nextLong nextDouble nextBoolean", ""),
    class(
        "StringUtils",
        &["org.apache.commons.lang3", "org.apache.commons.lang"],
        false,
        "isBlank isNotBlank isEmpty isNotEmpty isNumeric substringBetween substringAfter substringBefore substringAfterLast substringBeforeLast leftPad rightPad join split trim trimToEmpty capitalize reverse repeat contains containsIgnoreCase equals equalsIgnoreCase startsWith endsWith countMatches replace remove upperCase lowerCase defaultString defaultIfBlank defaultIfEmpty strip left right substring",
        "EMPTY SPACE",
    ),
    class(
        "StringEscapeUtils",
        &["org.apache.commons.lang3", "org.apache.commons.lang", "org.apache.commons.text"],
        false,
        "escapeJson unescapeJson escapeJava unescapeJava escapeXml escapeXml10 escapeXml11 unescapeXml escapeHtml4 unescapeHtml4 escapeHtml unescapeHtml",
        "",
    ),
    class(
        "DigestUtils",
        &["org.apache.commons.codec.digest"],
        false,
        "md5Hex shaHex sha1Hex sha256Hex sha384Hex sha512Hex md5 sha1 sha256 sha512",
        "",
    ),
    class(
        "HmacUtils",
        &["org.apache.commons.codec.digest"],
        false,
        "hmacMd5Hex hmacSha1Hex hmacSha256Hex hmacSha512Hex hmacSha1 hmacSha256 hmacSha512",
        "",
    ),
    class(
        "DateUtils",
        &["org.apache.commons.lang3.time", "org.apache.commons.lang.time"],
        false,
        "addYears addMonths addWeeks addDays addHours addMinutes addSeconds addMilliseconds",
        "",
    ),
    class("DateFormatUtils", &["org.apache.commons.lang3.time", "org.apache.commons.lang.time"], false, "format formatUTC", ""),
    class("Hex", &["org.apache.commons.codec.binary"], false, "encodeHexString encodeHex decodeHex", ""),
    class("JMeterUtils", &["org.apache.jmeter.util"], false, "getProperty getPropDefault setProperty getJMeterProperties", ""),
    class("Header", &["org.apache.jmeter.protocol.http.control"], true, "", ""),
    class("Arguments", &["org.apache.jmeter.config"], true, "", ""),
    class("Argument", &["org.apache.jmeter.config"], true, "", ""),
    class("HTTPArgument", &["org.apache.jmeter.protocol.http.util"], true, "", ""),
    class("JMeterContextService", &["org.apache.jmeter.threads"], false, "getContext", ""),
];

/// Names that stand only for what a value may be.
const TYPES: &[&str] = &[
    "Exception",
    "Throwable",
    "Closure",
    "GString",
    "Entry",
    "Queue",
    "Deque",
    "Iterator",
    "Void",
    "Function",
    "TimeCategory",
    "HTTPSamplerProxy",
];

/// The class of that simple name.
pub(crate) fn class_named(name: &str) -> Option<&'static Class> {
    CLASSES.iter().find(|class| class.name == name)
}

pub(crate) fn is_type(name: &str) -> bool {
    TYPES.contains(&name) || is_exception(name)
}

/// Exceptions are known by how they are called.
pub(crate) fn is_exception(name: &str) -> bool {
    name.ends_with("Exception") || name.ends_with("Error") || name == "Throwable"
}

/// Why there is no such class, for those that are asked for most.
pub(crate) fn reason(name: &str) -> &'static str {
    match name {
        "FileWriter" | "BufferedWriter" | "PrintWriter" | "FileOutputStream" | "PrintStream" => "files are not written by scripts here",
        "FileReader" | "BufferedReader" | "Scanner" | "Files" | "Paths" | "FileInputStream" => {
            "read a file with `new File(\"its name\").text` or `.readLines()`, or let a CSV Data Set read it"
        }
        "HttpClients" | "HttpPost" | "HttpGet" | "HttpClient" | "HttpURLConnection" | "DefaultHttpClient" => {
            "requests are samplers of the plan"
        }
        "Cipher" | "KeyFactory" | "Signature" | "KeyGenerator" | "KeyPairGenerator" => {
            "nothing is encrypted or signed with keys of this kind here"
        }
        "ObjectMapper" => "read JSON with `new groovy.json.JsonSlurper().parseText(…)`",
        "JsonPath" => "use a JSON Extractor, or JsonSlurper",
        "XmlSlurper" | "XmlParser" | "DocumentBuilderFactory" => "use an XPath Extractor",
        "Sql" | "DriverManager" => "databases are not asked here",
        "KafkaProducer" | "KafkaConsumer" | "Socket" => "only HTTP is sent here",
        "LinkedBlockingQueue" | "ConcurrentLinkedQueue" | "LinkedBlockingDeque" => {
            "users share texts, numbers, lists and maps by `props`, and no queues"
        }
        "FileServer" => "paths are relative to the plan",
        _ => "this class is not among those that are known here",
    }
}

#[cfg(test)]
mod tests {
    use rquickjs::{Context, Runtime};

    use super::CLASSES;
    use crate::jmeter::OBJECTS;
    use crate::library::LIBRARY;

    /// What a line of JavaScript gives, where the library is.
    fn given(code: &str) -> String {
        let runtime = Runtime::new().unwrap();
        Context::full(&runtime).unwrap().with(|ctx| {
            ctx.eval::<(), _>("globalThis.host = {}").unwrap();
            ctx.eval::<(), _>(LIBRARY).unwrap();
            ctx.eval::<String, _>(code).unwrap()
        })
    }

    #[test]
    fn the_library_holds_what_the_table_says() {
        let mut asked = Vec::new();
        for class in CLASSES {
            let place = format!("$class.{}", class.name);
            asked.push(format!("{place} !== undefined || \"{place}\""));
            let methods = class.methods.split_whitespace().filter(|name| {
                !(matches!(class.name, "Thread" | "JMeterUtils") && ["currentThread", "getJMeterProperties"].contains(name))
            });
            asked.extend(methods.map(|name| format!("typeof {place}.{name} === 'function' || \"{place}.{name}()\"")));
            asked.extend(
                class
                    .fields
                    .split_whitespace()
                    .filter(|_| class.name != "System")
                    .map(|name| format!("{place}.{name} !== undefined || \"{place}.{name}\"")),
            );
            if class.made {
                asked.push(format!("typeof {place}.$new === 'function' || {place}.prototype !== undefined || \"new {place}\""));
            }
        }
        for object in OBJECTS {
            let place = object.code();
            asked.extend(
                object.methods().split_whitespace().map(|name| format!("typeof {place}.{name} === 'function' || \"{place}.{name}()\"")),
            );
        }
        assert_eq!(
            given(&format!("[{}].filter((found) => found !== true).join(' ')", asked.join(",\n"))),
            "",
            "these are named and are not there"
        );
    }

    #[test]
    fn the_names_of_methods_are_those_of_the_library() {
        const OF_ALL: &str = "(() => {
            const names = new Set();
            for (const table of [$TEXT, $NUMBER, $TRUTH, $LIST, $SET, $MAP, $CLOSURE, $EXCEPTION, $LETTER, $ANY]) for (const name of Object.keys(table)) names.add(name);
            const made = [$StringBuilder, $Pattern, $Matcher, $Iterator, $Entry, $Bytes, $Encoder, $Decoder, $MessageDigest, $SecretKeySpec, $Mac, $Url, $JsonSlurper,
                $JsonBuilder, $JSONObject, $JSONArray, $Zone, $Date, $SimpleDateFormat, $Calendar, $Unit, $Formatter, $Span, $Instant, $Moment, $Random, $Uuid, $Atomic,
                $TimeUnit, $DecimalFormat, $File, $Type, $Scaled, $Argument, $Arguments, $Header];
            for (const one of made) for (const name of Object.getOwnPropertyNames(one.prototype)) names.add(name);
            for (const name of Object.keys($class.Base64.$new())) names.add(name);
            for (const object of [$vars, $props, $prev, $log, $ctx, $sampler, $arguments, $headers, $assertion, $thread, $group, $engine, $out, $event]) for (const name of Object.keys(object)) names.add(name);
            return [...names].filter((name) => name !== 'constructor' && !name.startsWith('$')).sort().join('\\n') + '\\n';
        })()";
        let found = given(OF_ALL);
        assert!(found == include_str!("library/methods.txt"), "src/library/methods.txt is to hold these:\n{found}");
    }
}
