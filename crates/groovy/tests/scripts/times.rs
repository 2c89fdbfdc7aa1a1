//! Dates of both kinds; the clock of the host stands at 2023-11-14T22:13:20.123Z.

use crate::runtime::all;

#[test]
fn dates_of_java_util() {
    all(&[
        ("System.currentTimeMillis()", "1700000000123"),
        ("new Date().time", "1700000000123"),
        ("new java.util.Date().time", "1700000000123"),
        ("new Date().getTime().toString()", "1700000000123"),
        ("new Date().format('yyyy-MM-dd')", "2023-11-14"),
        ("new Date().format(\"yyyy-MM-dd'T'HH:mm:ss.SSS'Z'\", TimeZone.getTimeZone('UTC'))", "2023-11-14T22:13:20.123Z"),
        ("new Date().format('HH:mm', TimeZone.getTimeZone('GMT+05:30'))", "03:43"),
        (
            "import java.text.SimpleDateFormat\ndef f = new SimpleDateFormat('dd/MM/yyyy HH:mm:ss')\nf.format(new Date())",
            "14/11/2023 22:13:20",
        ),
        ("new java.text.SimpleDateFormat('EEE, d MMM yyyy').format(new Date())", "Tue, 14 Nov 2023"),
        ("new java.text.SimpleDateFormat('hh:mm a EEEE MMMM yy').format(new Date())", "10:13 PM Tuesday November 23"),
        ("new java.text.SimpleDateFormat('yyyyMMddHHmmss').parse('20240229010203').time", "1709168523000"),
        ("new java.text.SimpleDateFormat('yyyy-MM-dd').parse('2024-03-01').format('E')", "Fri"),
        ("Date.parse('yyyy-MM-dd', '2024-01-31').plus(1).format('MM-dd')", "02-01"),
        ("(new Date() + 1).format('dd') + (new Date() - 14).format('-MM-dd')", "15-10-31"),
        ("def c = Calendar.getInstance(); c.add(Calendar.DAY_OF_MONTH, 20); c.getTime().format('yyyy-MM-dd')", "2023-12-04"),
        ("def c = Calendar.instance; c.set(Calendar.HOUR_OF_DAY, 5); c.get(Calendar.HOUR_OF_DAY) + c.get(Calendar.YEAR)", "2028"),
        ("Calendar c = Calendar.getInstance(); c.setTime(new Date(0L)); c.add(Calendar.MONTH, 1); c.getTimeInMillis()", "2678400000"),
        (
            "def c = Calendar.getInstance(); c.set(2024, Calendar.JANUARY, 31); c.add(Calendar.MONTH, 1); c.time.format('yyyy-MM-dd')",
            "2024-02-29",
        ),
        ("new Date(0L).toString()", "Thu Jan 01 00:00:00 UTC 1970"),
        ("new Date(1000L).before(new Date())", "true"),
        ("String.format('%1$tY-%1$tm-%1$td', new Date())", "2023-11-14"),
        ("new Date()[Calendar.MONTH]", "10"),
        ("(System.currentTimeMillis() / 1000) as long", "1700000000"),
        ("java.util.concurrent.TimeUnit.MINUTES.toMillis(5)", "300000"),
        ("use(groovy.time.TimeCategory) { (new Date() + 3.days - 1.hour).format('dd HH') }", "17 21"),
        (
            "import groovy.time.TimeCategory\nuse (TimeCategory) { 2.weeks.from.now.format('MM-dd') + 1.month.ago.format(' MM-dd') }",
            "11-28 10-14",
        ),
        ("def d = new Date(); Long m = d.getMinutes(); m.mod(5)", "3"),
    ]);
}

#[test]
fn dates_of_java_time() {
    all(&[
        ("java.time.LocalDate.now().toString()", "2023-11-14"),
        ("import java.time.LocalDate\nLocalDate.now().plusDays(20).toString()", "2023-12-04"),
        (
            "import java.time.*\nimport java.time.format.DateTimeFormatter\nLocalDateTime.now().format(DateTimeFormatter.ofPattern('yyyy-MM-dd HH:mm:ss'))",
            "2023-11-14 22:13:20",
        ),
        ("java.time.LocalDate.of(2024, 1, 31).plusMonths(1).toString()", "2024-02-29"),
        ("java.time.LocalDate.parse('2024-02-28').plusDays(2).dayOfWeek", "FRIDAY"),
        ("java.time.LocalDate.parse('01/02/2024', java.time.format.DateTimeFormatter.ofPattern('dd/MM/yyyy')).toString()", "2024-02-01"),
        ("java.time.Instant.now().toString()", "2023-11-14T22:13:20.123Z"),
        ("java.time.Instant.now().toEpochMilli()", "1700000000123"),
        ("java.time.Instant.now().getEpochSecond()", "1700000000"),
        (
            "java.time.ZonedDateTime.now(java.time.ZoneOffset.UTC).format(java.time.format.DateTimeFormatter.ISO_INSTANT)",
            "2023-11-14T22:13:20.123Z",
        ),
        ("java.time.LocalDateTime.parse('2024-01-01T10:00').plusHours(15).toString()", "2024-01-02T01:00"),
        ("java.time.OffsetDateTime.now(java.time.ZoneOffset.ofHours(2)).toString()", "2023-11-15T00:13:20.123+02:00"),
        (
            "import java.time.temporal.ChronoUnit\nChronoUnit.DAYS.between(java.time.LocalDate.of(2024, 1, 1), java.time.LocalDate.of(2024, 3, 1))",
            "60",
        ),
        ("java.time.Duration.between(java.time.Instant.ofEpochSecond(0), java.time.Instant.ofEpochSecond(90)).toMinutes()", "1"),
        ("java.time.LocalTime.of(9, 5).format(java.time.format.DateTimeFormatter.ofPattern('hh:mm a'))", "09:05 AM"),
        ("java.time.LocalDate.now().getYear() + java.time.LocalDate.now().monthValue", "2034"),
        ("java.time.LocalDateTime.now().minusMinutes(14).toLocalTime().toString()", "21:59:20.123"),
        ("java.time.LocalDate.of(2024, 5, 1).isAfter(java.time.LocalDate.now())", "true"),
    ]);
}
