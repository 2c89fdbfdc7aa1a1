//! Conditions, loops, methods and errors.

use crate::runtime::{all, beanshell, groovy};

#[test]
fn conditions() {
    all(&[
        ("if (1 > 2) { 'a' } else if (2 > 1) { 'b' } else { 'c' }", "b"),
        ("def x = 5\nif (x > 3)\n  'big'\nelse\n  'small'", "big"),
        ("if (false) 'a'; else 'b'", "b"),
        ("if (true) { return 'early' }\n'late'", "early"),
        ("def r; switch (2) { case 1: r = 'one'; break; case 2: r = 'two'; break; default: r = 'many' }; r", "two"),
        ("switch ('b') { case 'a': 'x'; break; case 'b': 'y'; break; default: 'z' }", "y"),
        ("switch (7) { case 1..5: return 'low'; case [7, 9]: return 'odd'; default: return 'other' }", "odd"),
        ("switch ('text') { case Integer: return 'number'; case String: return 'text' }", "text"),
        ("switch ('abc') { case ~/a.*/: return 'a'; default: return 'no' }", "a"),
        ("def r = ''; switch (1) { case 1: r += 'a'\ncase 2: r += 'b'; break\ncase 3: r += 'c' }; r", "ab"),
    ]);
}

#[test]
fn loops() {
    all(&[
        ("def s = 0; for (int i = 0; i < 5; i++) { s += i }; s", "10"),
        ("def s = 0; for (i in 1..3) s += i; s", "6"),
        ("def s = ''; for (String x : ['a', 'b']) { s += x }; s", "ab"),
        ("def s = ''; for (e in [a: 1, b: 2]) { s += e.key + e.value }; s", "a1b2"),
        ("def s = ''; for (c in 'abc') { s = c + s }; s", "cba"),
        ("def i = 0; while (true) { if (++i > 4) break; if (i == 2) continue }; i", "5"),
        ("def i = 0; do { i++ } while (i < 3); i", "3"),
        ("def s = ''; for (int i = 0, j = 10; i < j; i += 3, j -= 3) { s += \"$i,$j \" }; s.trim()", "0,10 3,7"),
        ("def s = ''; outer: for (i in 0..2) { for (j in 0..2) { if (j == 1) continue outer; s += \"$i$j \" } }; s.trim()", "00 10 20"),
        ("def s = 0; outer: for (int i = 0; i < 3; i++) { while (true) { s++; if (s > 4) break outer; continue outer } }; s", "3"),
        ("for (x in null) { }; 'none'", "none"),
    ]);
}

#[test]
fn methods() {
    all(&[
        ("def twice(x) { x * 2 }\ntwice(4)", "8"),
        (
            "String greet(String name, String word = 'Hello') { return word + ' ' + name }\ngreet('Ann') + greet('Bo', ' Hi')",
            "Hello Ann Hi Bo",
        ),
        ("int fact(int n) { n <= 1 ? 1 : n * fact(n - 1) }\nfact(10)", "3628800"),
        ("def f() { if (true) { 'a' } else { 'b' } }\nf()", "a"),
        ("static String f(def x) { \"<$x>\" }\nthis.f(1)", "<1>"),
        ("def f(Map m, x) { m.a + x }\nf(a: 1, 2)", "3"),
        ("f(2)\ndef f(n) { n + 1 }", "3"),
        ("@groovy.transform.Field def count = 4\ndef f() { count + 1 }\nf()", "5"),
    ]);
    all(&[("def f(n) { n + 1 }\nf(2)", "3"), ("private void log2(String x) throws IOException { println(x) }\nlog2('a')\n'done'", "done")]);
}

#[test]
fn errors() {
    all(&[
        ("try { throw new IllegalStateException('bad') } catch (IllegalStateException e) { e.message }", "bad"),
        ("try { null.trim() } catch (Exception e) { 'caught' }", "caught"),
        ("try { 5.trim() } catch (e) { 'caught' }", "caught"),
        ("try { throw new RuntimeException('x') } catch (IOException | RuntimeException e) { e.getMessage() }", "x"),
        (
            "try { try { throw new IOException('io') } catch (NumberFormatException e) { 'wrong' } } catch (IOException e) { 'right' }",
            "right",
        ),
        ("def s = ''; try { s += 'a' } finally { s += 'b' }; s", "ab"),
        ("try { assert 1 == 2 } catch (AssertionError e) { 'asserted' }", "asserted"),
        ("try { assert 1 == 2 : 'not one' } catch (Throwable t) { t.message.startsWith('not one') }", "true"),
        ("try { assert 1 == 2 } catch (Exception e) { 'as exception' } catch (Throwable t) { 'as error' }", "as error"),
        ("try { [].first() } catch (NoSuchElementException e) { 'empty' }", "empty"),
        ("try { 'abc'.substring(5) } catch (StringIndexOutOfBoundsException e) { 'short' }", "short"),
        ("try { new groovy.json.JsonSlurper().parseText('nope') } catch (groovy.json.JsonException e) { 'no JSON' }", "no JSON"),
        ("try { 1.intdiv(0) } catch (ArithmeticException e) { 'zero' }", "zero"),
        ("new Exception('m').toString()", "java.lang.Exception: m"),
    ]);
    groovy("def x = 'a'\n\nx.incrementAndGet()").run().throws("line 3: 'incrementAndGet' is not known of a text");
    groovy("def x = null\nx.trim()").run().throws("line 2: 'trim' of null");
    groovy("throw new Exception('out')").run().throws("out");
}

#[test]
fn java_as_beanshell_has_it() {
    beanshell("String a = \"x\"; int n = 3; for (int i = 0; i < n; i++) { a += i; } vars.put(\"a\", a);").run().vars(&["a=x012"]);
    beanshell("int[] values = {3, 1, 2}; int sum = 0; for (int v : values) { sum += v; } return sum + values.length;").run().gives("9");
    beanshell("int[] values = new int[3]; values[1] = 5; return values[0] + values[1];").run().gives("5");
    beanshell("String[] parts = \"a,b\".split(\",\"); return parts[1];").run().gives("b");
    beanshell("char c = 'a'; c = (char) (c + 1); return \"\" + c;").run().gives("b");
    beanshell("String s = \"\"; for (int i = 0; i < 3; i++) s += (char) ('a' + i); return s;").run().gives("abc");
    beanshell("char c = 'a'; c++; int code = (int) c; return \"\" + c + code + (char) (c + 1) + Character.toUpperCase(c);")
        .run()
        .gives("b98cB");
    beanshell("return \"7\".charAt(0) - '0';").run().gives("7");
    beanshell("if (\"abc\".charAt(1) == 'b') return \"b\"; return \"no\";").run().gives("b");
    beanshell("Random r = new Random(); int n = r.nextInt(5); return n >= 0 && n < 5;").run().gives("true");
    beanshell("import java.util.*;\nList l = new ArrayList(); l.add(\"x\"); Map m = new HashMap(); m.put(\"k\", l); return ((List) m.get(\"k\")).get(0);")
        .run()
        .gives("x");
    beanshell("int add(int a, int b) { return a + b; }\nvars.put(\"s\", String.valueOf(add(1, 2)));").run().vars(&["s=3"]);
    beanshell("x = 5; y = x * 2; vars.put(\"y\", Integer.toString(y));").run().vars(&["y=10"]);
    beanshell("String a = \"1\"; String a = \"2\"; return a;").run().gives("2");
    beanshell("StringBuffer b = new StringBuffer(); b.append(\"a\").append(1).append('c'); return b.toString();").run().gives("a1c");
    beanshell("vars.get(\"n\").equals(\"1\")").var("n", "1").run().gives("true");
}
