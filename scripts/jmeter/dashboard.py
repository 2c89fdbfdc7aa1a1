"""JMeter makes its dashboard of the rows that loadline writes, and its figures are those of loadline's own dashboard of the same rows."""

import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PLAN = Path("examples/jmeter/shop.jmx").resolve()


def figures(folder):
    return json.loads((folder / "statistics.json").read_text())


def is_near(theirs, ours):
    """Their percentiles are interpolated between two samples, which may be milliseconds apart."""
    return theirs == ours if isinstance(theirs, str) else math.isclose(theirs, ours, rel_tol=0.02, abs_tol=2)


def main(loadline, home):
    loadline, jar = str(Path(loadline).resolve()), Path(home).resolve() / "bin" / "ApacheJMeter.jar"
    demo = subprocess.Popen([loadline, "demo", "--serve", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        port = next(found[1] for line in demo.stdout if (found := re.search(r"127\.0\.0\.1:(\d+)", line)))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)

            def run(*words):
                ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
                assert ended.returncode == 0, f"{' '.join(map(str, words))}: {ended.stdout}{ended.stderr}"

            run(loadline, "jmeter", "-n", "-t", PLAN, f"-Jport={port}", "-Jusers=20", "-l", "out.jtl", "-e", "-o", "ours")
            run("java", "-Djava.awt.headless=true", "-jar", jar, "-g", "out.jtl", "-o", "theirs")
            theirs, ours = figures(folder / "theirs"), figures(folder / "ours")
            assert theirs.keys() == ours.keys(), f"{sorted(theirs)} there, and {sorted(ours)} here"
            far = [
                f"{label}: {key} is {row[key]} there, and {ours[label].get(key)} here"
                for label, row in theirs.items()
                for key in row
                if key not in ours[label] or not is_near(row[key], ours[label][key])
            ]
            pages = ["index.html", *(f"content/pages/{page}.html" for page in ("OverTime", "ResponseTimes", "Throughput"))]
            far += [f"there is no {page}" for page in pages if not (folder / "theirs" / page).exists() or not (folder / "ours" / page).exists()]
    finally:
        demo.terminate()
        demo.wait()
    print("\n".join([*far, f"{len(theirs)} rows of the dashboard, {len(far)} differences"]))
    sys.exit(bool(far))


if __name__ == "__main__":
    main(*sys.argv[1:])
