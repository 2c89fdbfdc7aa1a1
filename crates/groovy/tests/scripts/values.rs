//! What operators give, as Groovy gives it.

use crate::runtime::{all, beanshell};

#[test]
fn arithmetic() {
    all(&[
        ("1 + 2", "3"),
        ("7 / 2", "3.5"),
        ("6 / 2", "3"),
        ("10 / 3", "3.3333333333"),
        ("1 / 8", "0.125"),
        ("7.intdiv(2)", "3"),
        ("(7 / 2) as int", "3"),
        ("int x = 7 / 2; x", "3"),
        ("-7 % 3", "-1"),
        ("7.mod(3)", "1"),
        ("2 ** 10", "1024"),
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("10 - 2 - 3", "5"),
        ("1_000_000", "1000000"),
        ("0xff", "255"),
        ("10L + 5", "15"),
        ("1.5f * 2", "3"),
        ("9007199254740993L + 1", "9007199254740994"),
        ("'9007199254740993'.toLong() + 1", "9007199254740994"),
        ("1 << 4", "16"),
        ("255 >> 4", "15"),
        ("6 & 3", "2"),
        ("6 | 3", "7"),
        ("6 ^ 3", "5"),
        ("~5", "-6"),
        ("def i = 5; i++; ++i; i", "7"),
        ("def i = 5; def j = i++; \"$i $j\"", "6 5"),
        ("int i = 5; def j = i--; \"$i $j\"", "4 5"),
        ("def x = 10; x += 5; x *= 2; x -= 1; x", "29"),
        ("def x = null; x ?= 5; x", "5"),
        ("Math.max(3, 7) + Math.abs(-2)", "9"),
        ("Math.round(2.5)", "3"),
        ("3.7.toInteger()", "3"),
        ("2.345.round(2)", "2.35"),
        ("5.0 == 5", "true"),
        ("0.1 + 0.2", "0.3"),
        ("(byte) 200", "-56"),
    ]);
}

#[test]
fn java_divides_whole_numbers_as_whole_ones() {
    beanshell("return 7 / 2;").run().gives("3");
    beanshell("return 7 / 2.0;").run().gives("3.5");
    beanshell("double total = 7; return total / 2;").run().gives("3.5");
    beanshell("return (double) 7 / 2;").run().gives("3.5");
    beanshell("int a = 7; int b = 2; int c = a / b; return c;").run().gives("3");
}

#[test]
fn equality_and_order() {
    all(&[
        ("'a' == 'a'", "true"),
        ("'200' == 200", "false"),
        ("[1, 2] == [1, 2]", "true"),
        ("[a: 1] == [a: 1]", "true"),
        ("[1, 2] == [2, 1]", "false"),
        ("null == null", "true"),
        ("null == 'a'", "false"),
        ("'a' != 'b'", "true"),
        ("1 <=> 2", "-1"),
        ("'b' <=> 'a'", "1"),
        ("'a' < 'b'", "true"),
        ("5 >= 5", "true"),
        ("def a = [1]; a.is(a)", "true"),
        ("'x' in ['x', 'y']", "true"),
        ("3 in 1..5", "true"),
        ("'k' in [k: 1]", "true"),
        ("3 !in [1, 2]", "true"),
        ("'a' instanceof String", "true"),
        ("[1] instanceof List", "true"),
        ("[a: 1] instanceof Map", "true"),
        ("5 instanceof Integer", "true"),
        ("5 !instanceof String", "true"),
        ("'a'.equals('a') && !'a'.equals('b')", "true"),
    ]);
}

#[test]
fn truth() {
    all(&[
        ("'' ? 'yes' : 'no'", "no"),
        ("' ' ? 'yes' : 'no'", "yes"),
        ("0 ? 'yes' : 'no'", "no"),
        ("[] ? 'yes' : 'no'", "no"),
        ("[0] ? 'yes' : 'no'", "yes"),
        ("[:] ? 'yes' : 'no'", "no"),
        ("null ? 'yes' : 'no'", "no"),
        ("!null", "true"),
        ("!'a'", "false"),
        ("null ?: 'else'", "else"),
        ("'' ?: 'else'", "else"),
        ("'it' ?: 'else'", "it"),
        ("null || 'a'", "true"),
        ("'a' && []", "false"),
        ("def f = { throw new Exception('asked') }; 'a' ?: f()", "a"),
    ]);
}

#[test]
fn casts() {
    all(&[
        ("'42' as int", "42"),
        ("'42' as Integer + 1", "43"),
        ("('42' as int) + 1", "43"),
        ("42 as String", "42"),
        ("(int) 3.9", "3"),
        ("(String) 5 + 1", "51"),
        ("(char) 97", "a"),
        ("(int) ('a' as char)", "97"),
        ("65 as char", "A"),
        ("'1.5' as double", "1.5"),
        ("'true'.toBoolean()", "true"),
        ("[3, 1, 3] as Set", "[3, 1]"),
        ("'12'.toInteger() + '30'.toLong()", "42"),
        ("' 7 '.trim().toInteger()", "7"),
        ("Integer.parseInt('12') + Long.parseLong('3')", "15"),
        ("Integer.valueOf('7')", "7"),
        ("String.valueOf(12)", "12"),
        ("Double.parseDouble('2.50')", "2.5"),
        ("new Integer(5) + 1", "6"),
        ("def x = (props.get('none') ?: '30') as int; x * 2", "60"),
        ("null as String", "null"),
    ]);
}

#[test]
fn numbers_that_are_none() {
    crate::runtime::groovy("'abc' as int").run().throws("For input string: \"abc\"");
    crate::runtime::groovy("Integer.parseInt(null)").run().throws("null");
    crate::runtime::groovy("Integer.parseInt('99999999999')").run().throws("99999999999");
    all(&[("try { Integer.parseInt('x') } catch (NumberFormatException e) { 'no number' }", "no number")]);
}
