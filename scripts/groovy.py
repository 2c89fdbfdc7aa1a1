#!/usr/bin/env python3
"""Holds the cases of crates/groovy/tests against the real Groovy: says which of them it answers otherwise.

Takes JMeter's folder `lib`, which brings Groovy, and needs a Java. Cases that read the clock stand on a fixed moment and are left out."""

import base64
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "crates/groovy/tests/scripts"
ASK = r"""
TimeZone.setDefault(TimeZone.getTimeZone('UTC')); Locale.setDefault(Locale.US)
int wrong = 0, all = 0
new File(args[0]).eachLine { line ->
  def (source, wanted) = line.split(' ', 2).collect { new String(it.trim().decodeBase64(), 'UTF-8') }
  def found
  try {
    def known = new Binding(); known.setVariable('props', new Properties())
    found = "${new GroovyShell(known).evaluate(source)}".toString()
  } catch (Throwable thrown) { found = 'throws ' + thrown }
  all++
  if (found != wanted) { wrong++; println "$source\n  Groovy: $found\n  here:   $wanted" }
}
println "$wrong of $all differ"
"""


def cases():
    for path in sorted(TESTS.glob("*.rs")):
        for block in re.finditer(r"all\(&\[(.*?)\n    \]\);", path.read_text(), re.S):
            for source, wanted in re.findall(r'\(\s*"((?:[^"\\]|\\.)*)",\s*"((?:[^"\\]|\\.)*)",?\s*\)', block.group(1), re.S):
                if not re.search(r"\bnow\b|\bago\b|currentTime|new Date\(\)|getInstance\(\)|Calendar\.instance", source):
                    yield plain(source), plain(wanted)


def plain(text):
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found.group(1), found.group(1)), text, flags=re.S)


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} JMETER/lib")
    packed = [" ".join(base64.b64encode(text.encode()).decode() or "=" for text in case) for case in cases()]
    with tempfile.TemporaryDirectory() as folder:
        listed, ask = Path(folder) / "cases", Path(folder) / "ask.groovy"
        listed.write_text("\n".join(packed))
        ask.write_text(ASK)
        subprocess.run(["java", "-cp", f"{sys.argv[1]}/*", "groovy.ui.GroovyMain", str(ask), str(listed)], check=True)


main()
