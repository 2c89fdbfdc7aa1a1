//! What is called on texts, and regular expressions.

use crate::runtime::all;

#[test]
fn methods_of_texts() {
    all(&[
        ("'hello'.length() + 'ab'.size()", "7"),
        ("'hello'.substring(1, 3)", "el"),
        ("'hello'.substring(3)", "lo"),
        ("'hello'.indexOf('l') + 'hello'.lastIndexOf('l')", "5"),
        ("'a.b.c'.replace('.', '-')", "a-b-c"),
        ("'a1b22'.replaceAll('[0-9]+', '#')", "a#b#"),
        ("'a1b2'.replaceFirst(/\\d/, 'x')", "axb2"),
        ("'John Smith'.replaceAll(/(\\w+) (\\w+)/, '$2 $1')", "Smith John"),
        ("'a-b'.replaceAll(/-/) { '+' }", "a+b"),
        ("'a,b,,c,,'.split(',').size()", "4"),
        ("'a|b'.split('\\\\|')[1]", "b"),
        ("'a:b:c'.split(':', 2)[1]", "b:c"),
        ("'abc'.split('')", "[a, b, c]"),
        ("''.split(',').length", "1"),
        ("'a,,b'.tokenize(',')", "[a, b]"),
        ("'  x '.trim() + '|'", "x|"),
        ("'aB'.toUpperCase() + 'aB'.toLowerCase()", "ABab"),
        ("'abc'.contains('b') && 'abc'.startsWith('a') && 'abc'.endsWith('c')", "true"),
        ("'ABC'.equalsIgnoreCase('abc')", "true"),
        ("''.isEmpty() && ' '.isBlank()", "true"),
        ("'abc'.charAt(1)", "b"),
        ("'abc123'.matches('[a-z]+\\\\d+')", "true"),
        ("'7'.padLeft(3, '0') + 'a'.padRight(3, '.') + '|'", "007a..|"),
        ("'abc'.reverse() + 'abc'.capitalize()", "cbaAbc"),
        ("'a\\nb\\n'.readLines()", "[a, b]"),
        ("def n = 0; 'a\\nb'.eachLine { n++ }; n", "2"),
        ("'abcdef'.take(2) + 'abcdef'.drop(4)", "abef"),
        ("'12'.isNumber() && !'1x'.isNumber() && '12'.isInteger()", "true"),
        ("'hello'.hashCode()", "99162322"),
        ("'a'.concat('b').compareTo('ac')", "-1"),
        ("'a b c'.count(' ')", "2"),
        ("'abc'.toList()", "[a, b, c]"),
        ("'abc'.bytes.length + 'é'.getBytes('UTF-8').length", "5"),
        ("new StringBuilder('a').append('b').append(1).insert(0, '<').reverse().toString()", "1ba<"),
        ("def sb = new StringBuilder(); sb << 'a' << 1; sb.toString() + sb.length()", "a12"),
        ("String.join('-', ['a', 'b']) + String.join('+', 'c', 'd')", "a-bc+d"),
        ("'a' <=> 'b'", "-1"),
        ("'abc'.each { }.toString()", "abc"),
        ("'x=1;y=2'.split(';').collectEntries { def p = it.split('='); [(p[0]): p[1]] }", "[x:1, y:2]"),
    ]);
}

#[test]
fn formats() {
    all(&[
        ("String.format('%05d', 42)", "00042"),
        ("String.format('%.2f', 3.14159)", "3.14"),
        ("String.format('%s-%s', 'a', 1)", "a-1"),
        ("String.format('%x %X %o', 255, 255, 8)", "ff FF 10"),
        ("String.format('%-5s|%5s', 'ab', 'cd')", "ab   |   cd"),
        ("String.format('%,d', 1234567)", "1,234,567"),
        ("String.format('%2$s %1$s', 'a', 'b')", "b a"),
        ("String.format('%b %c %%', true, 'x' as char)", "true x %"),
        ("String.format('%08.3f', -3.5)", "-003.500"),
        ("String.format('%+d', 5)", "+5"),
        ("sprintf = String.format('%.1f', 0.25); sprintf", "0.3"),
        ("'%d items'.formatted(3)", "3 items"),
        ("new java.text.DecimalFormat('#.##').format(3.14159)", "3.14"),
        ("new java.text.DecimalFormat('0.00').format(2)", "2.00"),
        ("new java.text.DecimalFormat('#,##0.0').format(12345.67)", "12,345.7"),
        ("new java.text.DecimalFormat('000').format(7)", "007"),
        ("new BigDecimal('2.5').setScale(2, java.math.RoundingMode.HALF_UP).toString()", "2.50"),
        ("Integer.toHexString(255) + Integer.toBinaryString(5)", "ff101"),
        ("Long.toString(36, 36) + Integer.parseInt('ff', 16)", "10255"),
    ]);
}

#[test]
fn regular_expressions() {
    all(&[
        ("def m = 'id=42;' =~ /id=(\\d+)/; m[0][1]", "42"),
        ("def m = 'token: abc' =~ /token: (\\w+)/; m.find() ? m.group(1) : 'none'", "abc"),
        ("def m = ('a1b2' =~ /([a-z])(\\d)/); m.size() + m[1][2]", "22"),
        ("if ('abc' =~ /b/) 'found' else 'none'", "found"),
        ("('abc' =~ /x/) ? 'found' : 'none'", "none"),
        ("'200' ==~ /2\\d\\d/", "true"),
        ("'2001' ==~ /2\\d\\d/", "false"),
        ("def m = 'x' =~ /y/; m ? m[0] : 'NONE'", "NONE"),
        ("('a1b22' =~ /\\d+/).collect { it }", "[1, 22]"),
        ("def r = []; ('k1=v1,k2=v2' =~ /(\\w+)=(\\w+)/).each { all, k, v -> r << k + v }; r", "[k1v1, k2v2]"),
        (
            "import java.util.regex.*\nPattern p = Pattern.compile('(\\\\w+)@(\\\\w+)')\nMatcher m = p.matcher('me@here')\nm.matches() ? m.group(2) : ''",
            "here",
        ),
        (
            "def m = java.util.regex.Pattern.compile('\\\"id\\\":(\\\\d+)').matcher('{\"id\":7}{\"id\":8}'); def l = []; while (m.find()) { l.add(m.group(1)) }; l",
            "[7, 8]",
        ),
        ("'ABC' ==~ /(?i)abc/", "true"),
        ("'a.b'.split(java.util.regex.Pattern.quote('.')).size()", "2"),
        ("'a1b2'.findAll(/\\d/)", "[1, 2]"),
        ("'a1b2'.find(/[a-z]\\d/)", "a1"),
        ("'x-y_z'.replaceAll('[^a-zA-Z]', '')", "xyz"),
        ("'aaa'.replaceAll('a++', 'b')", "b"),
        ("'\\t a'.replaceAll(/\\p{Space}+/, '_')", "_a"),
        ("def p = ~/\\d+/; p.matcher('12').matches()", "true"),
        ("'price: $5'.replaceAll('\\\\$', 'USD')", "price: USD5"),
        ("'a'.replaceAll('a', java.util.regex.Matcher.quoteReplacement('$1'))", "$1"),
    ]);
}
