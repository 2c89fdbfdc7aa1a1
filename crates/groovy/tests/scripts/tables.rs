//! JSON, digests, encodings and the other classes of libraries.

use crate::runtime::{all, beanshell};

#[test]
fn json() {
    all(&[
        (
            "groovy.json.JsonOutput.toJson([a: 1, b: [true, null, 'x\"y'], c: [d: 2.5]])",
            "{\"a\":1,\"b\":[true,null,\"x\\\"y\"],\"c\":{\"d\":2.5}}",
        ),
        (
            "import groovy.json.*\nJsonOutput.prettyPrint(JsonOutput.toJson([a: [1, 2], b: [c: 'd']]))",
            "{\n    \"a\": [\n        1,\n        2\n    ],\n    \"b\": {\n        \"c\": \"d\"\n    }\n}",
        ),
        ("new groovy.json.JsonBuilder([a: 1]).toString()", "{\"a\":1}"),
        ("def j = new groovy.json.JsonBuilder(); j([a: 1, b: 'c']); j.toString()", "{\"a\":1,\"b\":\"c\"}"),
        ("def j = new groovy.json.JsonSlurper().parseText('{\"b\": 1, \"a\": [1, {\"c\": null}]}'); j.b + j.a.size()", "3"),
        ("new groovy.json.JsonSlurper().parseText('[1, 2.5, \"x\"]')", "[1, 2.5, x]"),
        ("def j = new groovy.json.JsonSlurper().parseText('{\"data\": {\"list\": [{\"id\": 7}]}}'); j?.data?.list?.getAt(0)?.id", "7"),
        ("def j = new groovy.json.JsonSlurper().parseText('{\"z\": 1, \"a\": 2}'); j.keySet().join()", "za"),
        (
            "def j = new groovy.json.JsonSlurper().parseText('{\"a\": 1}'); j.a = 5; j.b = [1]; groovy.json.JsonOutput.toJson(j)",
            "{\"a\":5,\"b\":[1]}",
        ),
        ("groovy.json.JsonOutput.toJson('é')", "\"\\u00e9\""),
        ("groovy.json.JsonOutput.toJson(\"n${1}\" as String)", "\"n1\""),
        (
            "def j = new groovy.json.JsonSlurper().parseText('{\"s\": \"a, 12345678901234567890\", \"id\": 98765432109876543}'); j.s + j.id",
            "a, 1234567890123456789098765432109876543",
        ),
    ]);
    beanshell(
        "import org.json.JSONObject;\nimport org.json.JSONArray;\nJSONObject o = new JSONObject(\"{\\\"data\\\": {\\\"list\\\": [{\\\"id\\\": 5}, {\\\"id\\\": 6}]}, \\\"msg\\\": \\\"ok\\\"}\");\nJSONArray l = o.getJSONObject(\"data\").getJSONArray(\"list\");\nString s = \"\";\nfor (int i = 0; i < l.length(); i++) { s += l.getJSONObject(i).getInt(\"id\"); }\nJSONObject n = new JSONObject();\nn.put(\"k\", 1);\nreturn s + o.getString(\"msg\") + n.toString() + o.has(\"none\");",
    )
    .run()
    .gives("56ok{\"k\":1}false");
}

#[test]
fn digests_and_codes() {
    all(&[
        (
            "import java.security.MessageDigest\nMessageDigest.getInstance('MD5').digest('abc'.bytes).encodeHex().toString()",
            "900150983cd24fb0d6963f7d28e17f72",
        ),
        (
            "def md = java.security.MessageDigest.getInstance('SHA-256'); md.update('a'.getBytes()); md.update('bc'.getBytes('UTF-8')); md.digest().collect { String.format('%02x', it) }.join()",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
        ("org.apache.commons.codec.digest.DigestUtils.md5Hex('abc')", "900150983cd24fb0d6963f7d28e17f72"),
        ("import org.apache.commons.codec.digest.DigestUtils\nDigestUtils.sha1Hex('abc')", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("'abc'.md5()", "900150983cd24fb0d6963f7d28e17f72"),
        (
            "new BigInteger(1, java.security.MessageDigest.getInstance('MD5').digest('abc'.bytes)).toString(16).padLeft(32, '0')",
            "900150983cd24fb0d6963f7d28e17f72",
        ),
        (
            "import javax.crypto.Mac\nimport javax.crypto.spec.SecretKeySpec\ndef mac = Mac.getInstance('HmacSHA256')\nmac.init(new SecretKeySpec('key'.bytes, 'HmacSHA256'))\nmac.doFinal('The quick brown fox jumps over the lazy dog'.bytes).encodeHex().toString()",
            "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8",
        ),
        ("'user:pass'.bytes.encodeBase64().toString()", "dXNlcjpwYXNz"),
        ("new String('dXNlcjpwYXNz'.decodeBase64())", "user:pass"),
        ("Base64.getEncoder().encodeToString('añ'.getBytes('UTF-8'))", "YcOx"),
        ("new String(Base64.getDecoder().decode('YcOx'), 'UTF-8')", "añ"),
        ("java.util.Base64.getUrlEncoder().withoutPadding().encodeToString([251, 255] as byte[])", "-_8"),
        ("new String(Base64.getEncoder().encode('a'.getBytes()))", "YQ=="),
        ("import org.apache.commons.codec.binary.Base64\nBase64.encodeBase64String('a'.bytes)", "YQ=="),
        ("java.net.URLEncoder.encode('a b&c=é/', 'UTF-8')", "a+b%26c%3D%C3%A9%2F"),
        ("URLDecoder.decode('a+b%26c%C3%A9', 'UTF-8')", "a b&cé"),
        ("org.apache.commons.codec.binary.Hex.encodeHexString('az'.bytes)", "617a"),
        ("UUID.nameUUIDFromBytes('abc'.bytes).toString()", "90015098-3cd2-3fb0-9696-3f7d28e17f72"),
        ("('€'.bytes[0] & 0xff).toString() + '€'.bytes.length", "2263"),
        ("def s = new StringBuilder(); for (byte b : 'az'.getBytes()) { s.append(String.format('%02x', b & 0xff)) }; s.toString()", "617a"),
    ]);
}

#[test]
fn texts_of_commons() {
    all(&[
        (
            "import org.apache.commons.lang3.StringUtils\nStringUtils.substringBetween('a<b>c', '<', '>') + StringUtils.isBlank(' ') + StringUtils.leftPad('7', 3, '0')",
            "btrue007",
        ),
        ("org.apache.commons.lang3.StringUtils.substringAfter('a=b', '=') + org.apache.commons.lang3.StringUtils.isNumeric('12')", "btrue"),
        ("org.apache.commons.text.StringEscapeUtils.escapeJson('a\"b\\n')", "a\\\"b\\n"),
        ("org.apache.commons.lang3.StringEscapeUtils.unescapeHtml4('&lt;a&gt; &amp; &#39;')", "<a> & '"),
        ("org.apache.commons.lang3.StringEscapeUtils.escapeXml('<a b=\"c\">')", "&lt;a b=&quot;c&quot;&gt;"),
        ("org.apache.commons.lang3.RandomStringUtils.random(5, 'ab') ==~ /[ab]{5}/", "true"),
        ("org.apache.commons.lang3.RandomStringUtils.randomAlphabetic(8) ==~ /[a-zA-Z]{8}/", "true"),
    ]);
}

#[test]
fn other_classes() {
    all(&[
        ("Character.isDigit('5' as char) && Character.isLetter('a' as char) && Character.isDigit('7'.charAt(0))", "true"),
        (
            "import java.util.concurrent.atomic.AtomicInteger\ndef a = new AtomicInteger(5); a.incrementAndGet() + a.getAndIncrement() + a.get()",
            "19",
        ),
        ("Objects.equals(null, null) && Objects.isNull(null)", "true"),
        ("Collections.max([1, 5, 3]) + Collections.frequency([1, 1], 1)", "7"),
        ("Arrays.toString([1, 2] as int[])", "[1, 2]"),
        ("Boolean.parseBoolean('TRUE') && !Boolean.valueOf('x')", "true"),
        ("Integer.MAX_VALUE", "2147483647"),
        ("Long.MAX_VALUE", "9223372036854775807"),
        ("Math.floor(2.7) + Math.ceil(2.1) + Math.pow(2, 3) + Math.sqrt(16)", "17"),
        ("new URL('https://a.b:8443/c/d?e=f#g').with { [it.host, it.port, it.path, it.query] }", "[a.b, 8443, /c/d, e=f]"),
        ("[1, 2].getClass().getSimpleName() + 'a'.class.name", "ArrayListjava.lang.String"),
        ("def o = new Object(); o.toString().startsWith('java.lang.Object')", "true"),
        ("new ArrayList<Integer>(Arrays.asList(3, 4)).get(1)", "4"),
        ("List.of(1, 2).size() + Map.of('a', 1).a", "3"),
        ("BigDecimal.valueOf(3).add(new BigDecimal('1.5'))", "4.5"),
    ]);
}
