"""Carries out each test plan with JMeter and with loadline against the same server, and compares what it was asked. Called by jmeter.sh.

    compare.py LOADLINE JMETER check [NAME…]
    compare.py LOADLINE JMETER write          (of all)

docs/jmeter.md is the record of it. `write` makes it anew; `check` fails where a case is not as it says there.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from plans import answers, caches, controllers, flow, functions, groups, letters, nested, plugins, requests, scripts, values
from server import Server

PAGE = Path("docs/jmeter.md")
PARTS = {
    "Requests": requests,
    "Caches": caches,
    "Letters": letters,
    "Variables, data files and counters": values,
    "Controllers": controllers,
    "What ends what": flow,
    "Controllers in each other": nested,
    "Groups, pauses and pace": groups,
    "Extractors, assertions and scripts": answers,
    "More scripts": scripts,
    "Functions": functions,
    "Plugins": plugins,
}
EQUAL, DIFFERS, NOT_CARRIED, WRONG = KINDS = "equal", "differs", "not carried", "wrong"
# Seconds that a plan may take.
LONGEST = 15
# Letters of a line that is not equal.
SHOWN = 160
HEAD = """\
# JMeter beside loadline

Written by `make jmeter-test WRITE=1`; run it again to see for yourself. Nothing on this page is typed by hand.

Compared on {date}: {jmeter}, with the plugins of [scripts/peers.sh](../scripts/peers.sh); {loadline}; {system}.

Each test plan is carried out twice against a server on this machine that writes down what it is asked: by JMeter, and by `loadline run`. Method, path, query,
headers and body of all requests are compared, in the order of each user; where chance rules, numbers and ranges; where users wait, the pauses between requests.
Not compared are headers that say how a client is built (`Connection`, `Accept: */*`, the client's own `User-Agent`). The plans are made by
[scripts/jmeter/plans](../scripts/jmeter/plans). How loadline reads test plans: [Test plans of JMeter](guide/jmeter.md).

Of {total} plans {equal} are sent as JMeter sends them; {differs} differ for the reason that is given; {not_carried} hold something that is not carried over:
loadline tells it by name, and sends nothing with `--strict`; {wrong} are wrong: they differ without a reason.
"""


class Jmeter:
    """JMeter as a process that carries out one plan after the other."""

    def __init__(self, home, folder):
        self.home, self.folder = home.resolve(), folder
        words = [
            "java",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Djava.awt.headless=true",
            # As its own script has it: the plugin for requests at the same time needs it.
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            f"-Djmeter.logfile={self.home}/jmeter.log",
            f"-Dlog4j2.configurationFile={self.home}/bin/log4j2.xml",
        ]
        classes = f"{self.home}/lib/*:{self.home}/lib/ext/*:{self.home}/bin/ApacheJMeter.jar"
        words += ["-cp", classes, str(Path(__file__).resolve().with_name("Driver.java")), str(self.home)]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder, text=True)
        self.version = self.process.stdout.readline().strip()
        if not self.version:
            sys.exit(f"error: JMeter does not start; see {self.home}/jmeter.log")

    def carry_out(self, port, plan):
        self.process.stdin.write(f"{port} {plan}\n")
        self.process.stdin.flush()
        outcome = self.process.stdout.readline().strip()
        if outcome != "ended":
            sys.exit(f"error: {plan.name}: JMeter: {outcome or 'it is gone'}; see {self.home}/jmeter.log")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Verdict:
    """What became of a case, and why."""

    kind: str
    why: str = ""


def told_of(loadline, port, plan, *more):
    """What loadline says of a plan that it carries out."""
    words = [loadline, "run", plan.name, "--variable", f"port={port}", "--no-save", *more]
    environment = os.environ | {"XDG_DATA_HOME": str(plan.parent / "data"), "NO_COLOR": "1"}
    done = subprocess.run(
        words, cwd=plan.parent, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST, stdin=subprocess.DEVNULL
    )
    told = re.findall(r"^warning: of .*? is left out: (.*)$", done.stderr, re.MULTILINE)
    # A value that nothing gives is told, and sent as JMeter sends it.
    told = [line for line in told if not line.endswith("as JMeter does")]
    return told, re.findall(r"^error: (.*)$", done.stderr, re.MULTILINE)


def compare(case, loadline, jmeter, server):
    """Carries out a case with both, in JMeter's folder: some functions of it look for files there."""
    folder = jmeter.folder
    for left in folder.iterdir():
        left.unlink()
    plan = folder / f"{case.name}.jmx"
    plan.write_text(case.plan)
    for name, text in case.files.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    server.begin(case.answers)
    jmeter.carry_out(server.port, plan)
    theirs = server.seen
    assert theirs, f"{case.name}: JMeter sends nothing"
    server.begin(case.answers)
    try:
        told, errors = told_of(loadline, server.port, plan)
    except subprocess.TimeoutExpired:
        return Verdict(WRONG, f"loadline goes on for longer than {LONGEST} s")
    verdict = judged(case, theirs, server.seen, told or ([] if server.seen else errors))
    if verdict.kind == NOT_CARRIED:
        server.begin(case.answers)
        told_of(loadline, server.port, plan, "--strict")
        if server.seen:
            return Verdict(WRONG, "with --strict something is sent all the same")
    return verdict


def judged(case, theirs, ours, told):
    if told:
        names = "|".join([*case.covers, *([re.escape(case.called)] if case.called else [])])
        named = [line for line in told if re.search(rf"\b(?:{names})\b", line)]
        return Verdict(NOT_CARRIED, plain(named[0])) if named else Verdict(WRONG, f"loadline leaves out something else: {plain(told[0])}")
    expected, found = case.seen(theirs), case.seen(ours)
    if expected == found:
        return Verdict(EQUAL)
    if case.loosely and case.seen(theirs, case.loosely) == case.seen(ours, case.loosely):
        return Verdict(DIFFERS, case.differs)
    at = next(at for at in range(len(expected) + len(found)) if expected[at : at + 1] != found[at : at + 1])
    first, second = [without_port(lines[at])[:SHOWN] if at < len(lines) else "nothing" for lines in (expected, found)]
    return Verdict(WRONG, f"at {at + 1} of {len(expected)}, JMeter: `{first}`; loadline: `{second}`")


def without_port(line):
    """A line without the port, which is another one each time."""
    return re.sub(r"(127\.0\.0\.1(?::|%3A))\d+", r"\1…", line)


def plain(told):
    """What is told, without where in the file it stands, as Markdown."""
    inner = re.search(r"no request in it can be sent \((.*)\)$", told)
    return re.sub(r"^line \d+, .*?: ", "", inner[1] if inner else told).replace("<", "\\<")


def listed(cases, verdicts):
    """A table of cases, a line each."""
    lines = ["| plan | elements | what | loadline |", "|---|---|---|---|"]
    for case in cases:
        verdict = verdicts[case.name]
        cells = [
            case.name,
            ", ".join(f"`{covered}`" for covered in case.covers),
            case.says,
            verdict.kind + (f": {verdict.why}" if verdict.why else ""),
        ]
        lines.append(" | ".join(["", *(cell.replace("|", "\\|") for cell in cells), ""]).strip())
    return "\n".join(lines)


def by_element(cases, verdicts):
    """A table of elements, with the plans of each verdict."""
    covered = {}
    for case in cases:
        for name in case.covers:
            covered.setdefault(name, {}).setdefault(verdicts[case.name].kind, []).append(case.name)
    lines = [f"| element | {' | '.join(KINDS)} |", "|---|---|---|---|---|"]
    for name, found in sorted(covered.items(), key=lambda item: (item[0].startswith("__"), item[0].lower())):
        lines.append(f"| `{name}` | " + " | ".join(", ".join(found.get(kind, [])) or "–" for kind in KINDS) + " |")
    return "\n".join(lines)


def page(verdicts, versions):
    cases = [case for part in PARTS.values() for case in part.CASES]
    kinds = [verdict.kind for verdict in verdicts.values()]
    counts = {"total": len(kinds)} | {kind.replace(" ", "_"): kinds.count(kind) for kind in KINDS}
    parts = [HEAD.format(date=time.strftime("%Y-%m-%d"), system=f"{platform.system()} {platform.release()}", **versions, **counts)]
    parts += [f"## Elements and functions\n\nThe names of the plans that are about each.\n\n{by_element(cases, verdicts)}\n"]
    parts += [f"## {title}\n\n{listed(part.CASES, verdicts)}\n" for title, part in PARTS.items()]
    return "\n".join(parts)


def recorded():
    """The kinds of verdict that the page has, by the case's name."""
    rows = re.findall(rf"^\| ([-\w]+) \| `.* \| ({'|'.join(KINDS)})(?:: .*)? \|$", PAGE.read_text(), re.MULTILINE)
    return dict(rows)


def main(loadline, home, mode, *wanted):
    cases = [case for part in PARTS.values() for case in part.CASES]
    names = [case.name for case in cases]
    assert len(set(names)) == len(names), "two plans have one name"
    if unknown := set(wanted) - set(names):
        sys.exit(f"error: no plan is called {', '.join(sorted(unknown))}")
    chosen = [case for case in cases if not wanted or case.name in wanted]
    loadline, server, verdicts = str(Path(loadline).resolve()), Server(), {}
    with tempfile.TemporaryDirectory() as folder:
        jmeter = Jmeter(Path(home), Path(folder))
        for case in chosen:
            verdict = compare(case, loadline, jmeter, server)
            if verdict.kind == WRONG and case.pauses:
                # A busy machine holds up requests, too.
                verdict = compare(case, loadline, jmeter, server)
            verdicts[case.name] = verdict
            print(f"{verdict.kind:11} {case.name}{': ' if verdict.why else ''}{verdict.why}", flush=True)
        jmeter.end()
    version = subprocess.run([loadline, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    kept = recorded() if mode == "check" else {name: verdict.kind for name, verdict in verdicts.items()}
    changed = [
        f"{name}: {kept.get(name, 'nothing')} in {PAGE}, and {verdict.kind} now"
        for name, verdict in verdicts.items()
        if verdict.kind != kept.get(name)
    ]
    changed += [f"{case.name}: it has a reason to differ, and is equal" for case in chosen if case.differs and verdicts[case.name].kind == EQUAL]
    changed += [f"{name}: it is in {PAGE}, and there is no such plan" for name in set(kept) - set(names)]
    if mode == "write":
        PAGE.write_text(page(verdicts, {"jmeter": jmeter.version, "loadline": version}))
    kinds = [verdict.kind for verdict in verdicts.values()]
    print(", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS))
    print("\n".join([*changed, f"{len(chosen) - len(changed)} passed, {len(changed)} failed"]))
    if changed and mode == "check":
        print("  help: make jmeter-test WRITE=1 writes what is so now")
    sys.exit(bool(changed))


if __name__ == "__main__":
    main(*sys.argv[1:])
