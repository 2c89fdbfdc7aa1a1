//! Texts with values, closures, safe navigation and what else Groovy has that Java has not.

use crate::runtime::{all, groovy};

#[test]
fn texts_with_values() {
    all(&[
        ("def n = 5; \"n is ${n} and $n\"", "n is 5 and 5"),
        ("def u = [name: 'Ann']; \"Hi $u.name!\"", "Hi Ann!"),
        ("\"${1 + 2}\"", "3"),
        ("def m = [a: [b: 'c']]; \"${m.a.b}\"", "c"),
        ("\"\"\"two\nlines\"\"\"", "two\nlines"),
        ("'''it's'''", "it's"),
        ("'a\\tb\\\\c'", "a\tb\\c"),
        ("\"\\$5\"", "$5"),
        ("/a\\d+/", "a\\d+"),
        ("'\\u00e9'", "é"),
        ("\"${'nested ' + \"${1 + 1}\"}\"", "nested 2"),
        ("\"${[1, 2]} ${[a: 1]}\"", "[1, 2] [a:1]"),
        ("'a' * 3", "aaa"),
        ("'abcabc' - 'b'", "acabc"),
        ("'' + null", "null"),
        ("\"${null}\"", "null"),
    ]);
}

#[test]
fn safe_navigation_and_spreading() {
    all(&[
        ("def a = null; a?.b", "null"),
        ("def a = [b: null]; a?.b?.c", "null"),
        ("def a = null; a?.trim()", "null"),
        ("def a = ' x '; a?.trim()", "x"),
        ("def a = null; a?.trim()?.length() ?: 0", "0"),
        ("['a', 'bb']*.length()", "[1, 2]"),
        ("[[id: 1], [id: 2]]*.id", "[1, 2]"),
        ("[[id: 1], [id: 2]].id", "[1, 2]"),
        ("def x = [2, 3]; [1, *x, 4]", "[1, 2, 3, 4]"),
        ("def add = { a, b -> a + b }; add(*[1, 2])", "3"),
    ]);
}

#[test]
fn closures() {
    all(&[
        ("def f = { it * 2 }; f(4)", "8"),
        ("def f = { a, b -> a + b }; f(1, 2)", "3"),
        ("def f = { -> 'none' }; f()", "none"),
        ("def f = { a, b = 10 -> a + b }; f(1)", "11"),
        ("def f = { String s -> s.toUpperCase() }; f.call('x')", "X"),
        ("def add = { a -> { b -> a + b } }; add(1)(2)", "3"),
        ("def n = 0; 3.times { n += it }; n", "3"),
        ("def n = []; 1.upto(3) { n << it }; n", "[1, 2, 3]"),
        ("def f = { if (it > 1) { return 'big' }; 'small' }; f(5) + f(1)", "bigsmall"),
        ("def total = 0; [1, 2, 3].each { x -> total += x }; total", "6"),
        ("def twice = { c, x -> c(c(x)) }; twice({ it + 1 }, 5)", "7"),
        ("['1', '2'].collect(Integer.&parseInt).sum()", "3"),
        ("[1, 2].collect { x -> x * x }.sum()", "5"),
        ("[3, 1, 2].stream().map(x -> x * 2).toList()", "[6, 2, 4]"),
        ("def m = [f: { 'called ' + it }]; m.f('x')", "called x"),
        ("def x = 5.with { it + 1 }; x", "6"),
        ("[1, 2, 3, 4].with { add(5); remove(0); size() }", "4"),
        ("new Date(0L).with { time + 1 }", "1"),
        ("def c = { a, b -> a * b }.curry(3); c(4)", "12"),
    ]);
}

#[test]
fn lines_go_on_where_groovy_lets_them() {
    all(&[
        ("[1, 2, 3]\n  .findAll { it > 1 }\n  .collect { it * 2 }\n  .join('-')", "4-6"),
        ("def a = 1 +\n  2\na", "3"),
        ("def a = true\n  && false\na", "false"),
        ("def x = 5 > 3\n  ? 'yes'\n  : 'no'\nx", "yes"),
        ("def m = [\n  a: 1,\n  b: 2,\n]\nm.size()", "2"),
        ("def f(a,\n  b) {\n  a + b\n}\nf(\n  1,\n  2\n)", "3"),
        ("println 'a'\nprintln('b')\n'c'", "c"),
        ("def a = 1; def b = 2; a + b", "3"),
        ("def a = 1 // one\r\ndef b = 2\r\na + b", "3"),
        ("// told\rdef a = 5\ra", "5"),
        ("def x\nx = 5\nx", "5"),
        ("// only a comment\n1 /* here */ + /* there */ 1", "2"),
    ]);
}

#[test]
fn calls_without_parentheses() {
    groovy("println 'hello'\nlog.info \"n=${1 + 1}\"\nvars.put 'a', 'b'").run().vars(&["a=b"]).logs(&["info: hello", "info: n=2"]);
}

#[test]
fn several_at_once() {
    all(&[
        ("def (a, b) = [1, 2]; \"$a-$b\"", "1-2"),
        ("def (a, b) = 'x 5'.split(' '); a + b", "x5"),
        ("def a = 1, b = 2; a + b", "3"),
        ("def a = 1; def b = 2; (a, b) = [b, a]; \"$a $b\"", "2 1"),
        ("def a; def b; a = b = 3; a + b", "6"),
    ]);
}

#[test]
fn lists_maps_and_ranges() {
    all(&[
        ("[1, 2, 3][0]", "1"),
        ("[1, 2, 3][-1]", "3"),
        ("[1, 2, 3][0..1]", "[1, 2]"),
        ("[1, 2, 3][5]", "null"),
        ("def l = [1]; l[3] = 4; l", "[1, null, null, 4]"),
        ("(1..3).collect { it * it }", "[1, 4, 9]"),
        ("(0..<3).toList()", "[0, 1, 2]"),
        ("('a'..'e').join()", "abcde"),
        ("(3..1).toList()", "[3, 2, 1]"),
        ("def m = [a: 1, 'b c': 2]; m['b c'] + m.a", "3"),
        ("def k = 'x'; def m = [(k): 1]; m.x", "1"),
        ("def m = [:]; m.a = 1; m['b'] = 2; m.put('c', 3); m", "[a:1, b:2, c:3]"),
        ("def m = [200: 'OK', 404: 'none']; m[404]", "none"),
        ("def m = [a: [b: [1, 2]]]; m.a.b[1]", "2"),
        ("def m = [n: 1]; m.n++; m.n += 5; m", "[n:7]"),
        ("'hello'[1]", "e"),
        ("'hello'[1..3]", "ell"),
        ("'hello'[-3..-1]", "llo"),
        ("'hello'[1..-2]", "ell"),
        ("[1, 2, 3, 4][1..-1]", "[2, 3, 4]"),
        ("[1, 2, 3, 4][2..0]", "[3, 2, 1]"),
        ("[1, 2, 3][0..<2]", "[1, 2]"),
    ]);
}
