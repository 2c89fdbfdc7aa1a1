//! Scripts as they stand whole in plans.

use crate::runtime::{beanshell, groovy};

#[test]
fn a_user_is_made_up() {
    groovy(
        "import org.apache.commons.lang3.RandomStringUtils\nimport java.text.SimpleDateFormat\n\ndef names = ['Ann', 'Bo', 'Cy'] as String[]\ndef random = new Random()\nString name = names[random.nextInt(names.length)]\ndef mail = \"${name.toLowerCase()}.${RandomStringUtils.randomNumeric(4)}@example.com\"\nint age = 18 + (int) (Math.random() * 50)\nCalendar cal = Calendar.getInstance()\ncal.add(Calendar.YEAR, -age)\nvars.put('name', name)\nvars.put('mail', mail)\nvars.put('adult', (age >= 18).toString())\nvars.put('born', new SimpleDateFormat('yyyy').format(cal.getTime()).length() + '')\nvars.put('ok', (mail ==~ /(ann|bo|cy)\\.\\d{4}@example\\.com/).toString())\nvars.remove('name')\nvars.remove('mail')",
    )
    .run()
    .vars(&["adult=true", "born=4", "ok=true"]);
}

#[test]
fn a_request_is_signed() {
    groovy(
        "import javax.crypto.Mac\nimport javax.crypto.spec.SecretKeySpec\nimport java.security.MessageDigest\n\ndef sign(String data, String key) {\n    Mac mac = Mac.getInstance(\"HmacSHA256\")\n    mac.init(new SecretKeySpec(key.getBytes(\"UTF-8\"), \"HmacSHA256\"))\n    return mac.doFinal(data.getBytes(\"UTF-8\")).encodeBase64().toString()\n}\n\nString stamp = String.valueOf(System.currentTimeMillis())\nString body = vars.get('body') ?: ''\ndef params = [stamp: stamp, user: vars.get('user'), app: 'web']\nString canonical = params.sort().collect { k, v -> \"${k}=${v}\" }.join('&')\nbyte[] md = MessageDigest.getInstance('SHA-256').digest((canonical + body).getBytes())\nStringBuilder hex = new StringBuilder()\nfor (byte b : md) {\n    String h = Integer.toHexString(0xff & b)\n    if (h.length() == 1) hex.append('0')\n    hex.append(h)\n}\nvars.put('canonical', canonical)\nvars.put('hash', hex.toString())\nvars.put('signature', sign(canonical, 'secret'))",
    )
    .var("body", "{}")
    .var("user", "ann")
    .run()
    .vars(&[
        "body={}",
        "canonical=app=web&stamp=1700000000123&user=ann",
        "hash=7443fbfea3eac8895e8085823307f34c8675e63df1046e1145968a666c8ffbc0",
        "signature=VrPiiiIaEyM2/idB1win8bAdNTNUo638EJOrIOxRHBg=",
        "user=ann",
    ]);
}

#[test]
fn a_list_is_checked() {
    let script = "import groovy.json.JsonSlurper\n\nif (!prev.isSuccessful()) {\n    log.warn(\"skipped: {}\", prev.getResponseCode())\n    return\n}\ntry {\n    def json = new JsonSlurper().parseText(prev.getResponseDataAsString())\n    if (!(json instanceof Map)) throw new IllegalStateException('no object')\n    def missing = ['id', 'token'].findAll { !json[it] }\n    if (missing) {\n        AssertionResult.setFailure(true)\n        AssertionResult.setFailureMessage(\"missing: ${missing.join(', ')}\")\n        return\n    }\n    json.items.eachWithIndex { item, i ->\n        vars.put(\"item_${i + 1}\", item.name?.toString() ?: 'none')\n    }\n    vars.put('item_matchNr', json.items.size().toString())\n} catch (Throwable e) {\n    AssertionResult.setFailure(true)\n    AssertionResult.setFailureMessage(e.message)\n}";
    let with = |body: &str| groovy(script).answer("body", body).setup("host.state.answer.ok = true").run();
    with("{\"id\": 1, \"token\": \"t\", \"items\": [{\"name\": \"a\"}, {}]}").passes().vars(&["item_1=a", "item_2=none", "item_matchNr=2"]);
    with("{\"id\": 1}").fails("missing: token");
    with("[1]").fails("no object");
    groovy(script).answer("code", "500").run().logs(&["warn: skipped: 500"]).passes();
}

#[test]
fn tries_are_counted() {
    groovy(
        "def http = prev.getResponseCode() as int\nint tries = (vars.get('tries') ?: '0') as int\nsynchronized (props) {\n  if (http >= 500) {\n    props.put('errors', String.valueOf(((props.get('errors') ?: '0') as int) + 1))\n  }\n}\nvars.put('tries', (++tries).toString())\nboolean again = tries < 3 && http != 200\nvars.put('again', again.toString())\nif (!again) { vars.remove('tries') }",
    )
    .answer("code", "503")
    .var("tries", "1")
    .run()
    .props(&["errors=1"])
    .vars(&["again=true", "tries=2"]);
}

#[test]
fn an_old_beanshell_script() {
    beanshell(
        "import java.text.SimpleDateFormat;\nimport java.util.Date;\n\n// counts on\nint n = Integer.parseInt(vars.get(\"n\"));\nn++;\nvars.put(\"n\", n + \"\");\nString[] parts = vars.get(\"list\").split(\";\");\nString longest = \"\";\nfor (int i = 0; i < parts.length; i++) {\n    if (parts[i].length() > longest.length()) {\n        longest = parts[i];\n    }\n}\nvars.put(\"longest\", longest);\nmask(text) { return text.substring(0, 1) + \"***\"; }\nvars.put(\"masked\", mask(longest));\nif (n % 2 == 0 && !longest.equals(\"\")) { log.info(\"even \" + n); } else { log.info(\"odd \" + n); }\nString uuid = UUID.randomUUID().toString();\nStringBuffer digits = new StringBuffer();\nfor (int i = 0; i < uuid.length(); i++) {\n    if (!Character.isDigit(uuid.charAt(i))) {\n        int value = uuid.charAt(i);\n        digits.append(value);\n        continue;\n    }\n    digits.append(uuid.charAt(i));\n}\nvars.put(\"digits\", digits.toString().matches(\"\\\\d+\") + \"\");",
    )
    .var("n", "3")
    .var("list", "a;ccc;bb")
    .run()
    .vars(&["digits=true", "list=a;ccc;bb", "longest=ccc", "masked=c***", "n=4"])
    .logs(&["info: even 4"]);
}

#[test]
fn texts_found_and_cut() {
    groovy(
        "def html = prev.getResponseDataAsString()\ndef matcher = (html =~ /name=\"csrf\" value=\"(.+?)\"/)\nif (matcher.find()) {\n  vars.put('csrf', matcher.group(1))\n} else {\n  prev.setSuccessful(false)\n}\ndef links = html.findAll(/href=\"([^\"]+)\"/) { all, link -> link }.unique()\nvars.put('links', links.join(' '))\ndef pairs = 'a=1&b=2'.split('&').collectEntries { p -> def (k, v) = p.split('='); [(k): URLDecoder.decode(v, 'UTF-8')] }\nvars.put('b', pairs.b)\nvars.put('title', html.substring(html.indexOf('<title>') + 7, html.indexOf('</title>')))",
    )
    .answer("body", "<title>Home</title><input name=\"csrf\" value=\"x-1\"><a href=\"/a\"><a href=\"/b\"><a href=\"/a\">")
    .run()
    .vars(&["b=2", "csrf=x-1", "links=/a /b", "title=Home"])
    .passes();
}

#[test]
fn a_pause_is_computed() {
    groovy("import java.util.Date;\nDate date = new Date();\nLong minutes = date.getMinutes();\nLong last = minutes.mod(20);\n\nif (last < 10) {\n\tlog.info(\"low\");\n\treturn 1000;\n} else {\n\treturn 100;\n}").run().gives("100");
    groovy("return (ctx.getThreadNum() + 1) * 100").run().gives("300");
}
