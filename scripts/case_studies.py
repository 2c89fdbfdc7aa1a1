#!/usr/bin/env python3
"""Fills the generated parts of a page of docs/guide/case-studies from the files of its runs.

A page says what it shows between two markers, of which the first names a kind and the files it is made from:

    <!-- table gin: made by make case-studies -->
    …
    <!-- end of table gin -->

What stands between them is written anew; everything else on the page is the author's, and holds whatever was measured. Tables, charts
and sentences are loadline's own, taken from the files it wrote; only where two runs stand side by side are they put together here.

    case_studies.py FOLDER-OF-RUNS PAGE
"""

import html
import json
import re
import shlex
import shutil
import sys
from pathlib import Path

MARKED = re.compile(r"<!-- (?P<what>[^>]*?): made by make case-studies -->\n(?P<inside>.*?)<!-- end of (?P=what) -->", re.DOTALL)
BEGUN = re.compile(r"<!-- ([^>]*?): made by make case-studies -->")

# What is on a chart, by the end of its file's name.
CHARTS = {
    "_qps_ttlb": "Throughput and mean response time over users: {}",
    "_successrate": "Share of requests that succeeded over users: {}",
    "_find": "Throughput, goodput and response time over the offered rate: {}",
    "_shift": "How far each percentile moved: {}",
    ".qps.ttlb.diff": "Throughput and mean response time, side by side: {}",
    ".successrate.diff": "Share of requests that succeeded, side by side: {}",
}


class Page:
    """One page, and the folder of the runs that it shows."""

    def __init__(self, runs, path):
        self.runs, self.path = runs, path

    def filled(self):
        text = self.path.read_text()
        marked = len(BEGUN.findall(text))
        text, filled = MARKED.subn(self.block, text)
        if filled != marked or marked == 0:
            sys.exit(f"error: {self.path} has {marked} markers, of which {filled} have an end")
        return text

    def block(self, found):
        kind, *words = found["what"].split()
        made = getattr(self, f"make_{kind}", None)
        if made is None:
            sys.exit(f"error: {self.path}: nothing is known of a block '{kind}'")
        inside = made(*words).strip("\n")
        return f"<!-- {found['what']}: made by make case-studies -->\n{inside}\n<!-- end of {found['what']} -->"

    # What a marker can ask for, by its first word.

    def make_measured(self, name):
        """When, where and by what."""
        summaries = self.summaries(name)
        machine = summaries[0]["machine"]
        others = [summary["generator"].get("others_share") for summary in summaries]
        others = max((share for share in others if share is not None), default=None)
        beside = "" if others is None else f"; programs besides the two had up to {others * 100:.0f} % of their time"
        return (
            f"*Measured on {summaries[0]['started'][:10]} on {machine['processor']}, {machine['cores']} cores, {machine['system']}, by "
            f"{machine['loadline']}. Server and load generator shared these {machine['cores']} cores{beside}. Take the figures for what "
            "they say about each other, not for what your machine will do.*"
        )

    def make_commands(self, *names):
        """The command lines that ran."""
        return "```sh\n" + "\n".join(self.command(name) for name in names) + "\n```"

    def make_conclusion(self, name):
        """What loadline concluded: the first list of its Markdown."""
        return first(self.markdown(name), r"^- ")

    def make_table(self, name):
        """The first table of its Markdown."""
        return first(self.markdown(name), r"^\|")

    def make_run(self, name):
        """The whole Markdown of a run, without the line that says when and where: the page has that."""
        kept = [line for line in self.markdown(name).splitlines() if not line.startswith("Measured ")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(kept))

    def make_text(self, name):
        """What it printed, without the list of files at its end."""
        said = self.printed(name).split("\n  files\n")[0].rstrip()
        return f"```\n{said}\n```"

    def make_rows(self, name, pattern):
        """The rows of a profile's table that match, under its head."""
        lines = self.printed(name).splitlines()
        head = next((line for line in lines if re.search(r"flat ?%", line)), "")
        rows = [line for line in lines if re.search(pattern, line)]
        return "\n".join(["```", head, *rows, "```"])

    def make_profile(self, name):
        """What a run's profile is, and the functions that spent most."""
        lines = self.markdown(name).splitlines()
        at = next((at for at, line in enumerate(lines) if line.startswith("Profile: ")), None)
        if at is None:
            return "*No profile was had of this run.*"
        table = lambda line: not line.strip() or line.startswith("|")
        end = next((end for end in range(at + 1, len(lines)) if not table(lines[end])), len(lines))
        return "\n".join(lines[at:end])

    def make_grew(self, name):
        """What grew between two profiled runs of a sweep, a search or a comparison: a sentence, and a table below it."""
        found = re.search(r"^## (What grew .*?)\n\n(.*?)(?=^## |^> |\Z)", self.markdown(name), re.DOTALL | re.MULTILINE)
        return f"**{found[1]}**\n\n{found[2].strip()}" if found else "*No two profiles were had.*"

    def make_flame(self, name, marked):
        """The flame graph of a run's first profile, as a picture beside the page; calls whose names match are marked."""
        profiled = next(iter(self.summaries(name)[0].get("profiles", [])), None)
        if profiled is None:
            return "*No profile was had of this run.*"
        images = self.path.parent / "images"
        images.mkdir(exist_ok=True)
        (images / f"{name}_flame.svg").write_text(flame(profiled, re.compile(marked)))
        plain = marked.replace("\\", "")
        return f"![Where its processors' time went, {plain} marked: {name}](images/{name}_flame.svg)"

    def make_side(self, name):
        """The server's side at each load, as a sweep or a search prints it: a title, and a table below it."""
        lines = self.printed(name).splitlines()
        at = next((at for at, line in enumerate(lines) if line.strip().startswith("The server's side:")), None)
        if at is None:
            return "*The server's side was not seen in this run.*"
        end = next((end for end in range(at + 1, len(lines)) if not lines[end].strip()), len(lines))
        return "```\n" + "\n".join(lines[at:end]) + "\n```"

    def make_chart(self, file):
        """A chart, which is copied beside the page."""
        ending = next((ending for ending in CHARTS if file.endswith(ending)), None)
        if ending is None:
            sys.exit(f"error: {self.path}: nothing is known of a chart '{file}'")
        images = self.path.parent / "images"
        images.mkdir(exist_ok=True)
        shutil.copyfile(self.runs / f"{file}.svg", images / f"{file}.svg")
        subject = file.removesuffix(ending).replace("_", " and ")
        return f"![{CHARTS[ending].format(subject)}](images/{file}.svg)"

    def make_means(self, *names):
        """Concurrency against mean time and throughput, a table for each."""
        parts = []
        for name in names:
            rows = []
            for users, qps, mean, success in self.levels(name):
                cells = (time(mean), figure(qps), f"{success:.4g} %")
                rows.append(f"| {users:,.0f} | {' | '.join(bracketed(cells, users in self.invalid(name)))} |")
            parts.append("\n".join([f"**{name}**", "", "| users | mean response time | QPS | success |", "|---:|---:|---:|---:|", *rows]))
        return "\n\n".join(parts) + self.legend(*names)

    def make_percent(self, base, *names):
        """Throughput at each level, as percent of a baseline's."""
        of = {users: qps for users, qps, _, _ in self.levels(base)}
        others = [(name, {users: qps for users, qps, _, _ in self.levels(name)}) for name in names]
        head = ["users", base, *(part for name in names for part in (name, f"of {base}"))]
        table = [f"| {' | '.join(head)} |", "|" + "---:|" * len(head)]
        for users, qps in of.items():
            cells = [f"{users:,.0f}", *bracketed([figure(qps)], users in self.invalid(base))]
            for name, levels in others:
                other = levels.get(users)
                told = ("–", "–") if other is None else (figure(other), f"{other / qps * 100:.0f} %" if qps else "–")
                cells += bracketed(told, users in self.invalid(base, name))
            table.append(f"| {' | '.join(cells)} |")
        return "\n".join(table) + self.legend(base, *names)

    def legend(self, *names):
        if not self.invalid(*names):
            return ""
        return "\n\nIn brackets: measured at a level that loadline calls INVALID, so the figure may be its own and not the server's."

    def make_asked(self, *names):
        """What pages of the server said before and after."""
        return "```\n" + "\n".join(f"{name.replace('-', ' ')}: {self.printed(name)}" for name in names) + "\n```"

    def make_metrics(self, name):
        """Series of the server's own metrics over a run: the least, the mean and the greatest."""
        rows = []
        for seen in self.summaries(name)[0]["observed"]:
            if not seen["asked"].startswith("prometheus:"):
                continue
            for series in seen["series"]:
                values = [value for value in series["values"] if value is not None]
                if values:
                    unit = str(series["unit"]).replace("_", " ")
                    cells = [f"{value:,.4g}" for value in (min(values), sum(values) / len(values), max(values))]
                    rows.append(f"| `{series['name']}` | {unit} | {' | '.join(cells)} |")
        if not rows:
            return "*The server's metrics were not seen in this run.*"
        return "\n".join(["| metric | unit | least | mean | greatest |", "|---|---|---:|---:|---:|", *rows])

    # What the files hold.

    def markdown(self, name):
        for ending in (".md", ".find.md", ".compare.md"):
            path = self.runs / f"{name}{ending}"
            if path.exists():
                return self.usual(name, path.read_text())
        sys.exit(f"error: {self.path} shows '{name}', of which {self.runs} has no Markdown")

    def printed(self, name):
        return self.usual(name, (self.runs / f"{name}.txt").read_text().strip("\n"))

    def usual(self, name, text):
        """A text with the usual ports, and with files where loadline puts them: those of the runs may have been others."""
        path = self.runs / f"{name}.command"
        if path.exists():
            url, backend, out, *_ = path.read_text().split("\0")
            for found, usual in ((url, "http://127.0.0.1:8080"), (backend, "http://127.0.0.1:8081")):
                text = text.replace(found.removeprefix("http://"), usual.removeprefix("http://"))
            text = text.replace(out, "_output/loadline").replace(str(self.runs.parent.parent), "target/targets")
        return text

    def levels(self, name):
        """Users, QPS, mean response time in ms and success in percent, from the .dat file."""
        lines = (self.runs / f"{name}.dat").read_text().splitlines()
        return [tuple(float(word) for word in line.split()) for line in lines if line and not line.startswith("#")]

    def invalid(self, *names):
        """The levels of sweeps at which loadline was the limit."""
        judged = [one for name in names for one in json.loads((self.runs / f"{name}.json").read_text())["judged"]]
        return {one["level"]["users"] for one in judged if one["validity"]["standing"] == "invalid"}

    def summaries(self, name):
        """The runs of a result."""
        for ending in (".json", ".find.json", ".compare.json"):
            path = self.runs / f"{name}{ending}"
            if path.exists():
                found = json.loads(path.read_text())
                if "trials" in found:
                    return [trial["summary"] for trial in found["trials"]]
                return [run for pair in found["pairs"] for run in (pair["a"], pair["b"])] if "pairs" in found else [found]
        sys.exit(f"error: {self.path} shows '{name}', of which {self.runs} has no result")

    def command(self, name):
        """A command line as a reader would type it."""
        _, _, _, *words = self.usual(name, (self.runs / f"{name}.command").read_text()).split("\0")[:-1]
        lines = [words.pop(0)]
        for word in (shlex.quote(re.sub(r"^pid:\d+$", "pid:PID", word)) for word in words):
            if len(lines[-1]) + len(word) > 125 and word.startswith("-"):
                lines[-1] += " \\"
                lines.append("   ")
            lines[-1] += f" {word}"
        return "\n".join(lines)


def first(markdown, pattern):
    """The first lines in a row that match."""
    taken = []
    for line in markdown.splitlines():
        if re.match(pattern, line):
            taken.append(line)
        elif taken:
            break
    return "\n".join(taken)


def flame(profiled, marked):
    """A tree of calls as a picture: each as wide as what was spent in it and below, under whoever called it."""
    width, row, letter, least = 1000, 17, 6.1, 1.5
    boxes, nexts, deepest = [], [0.0], 0
    for frame in profiled["frames"]:
        depth, share = frame["depth"], frame["cum"] / max(1, profiled["total"])
        del nexts[depth + 1 :]
        at = nexts[depth]
        nexts[depth] = at + share
        nexts.append(at)
        if share * width < least:
            continue
        deepest = max(deepest, depth)
        # No picture may hold what is no letter, whatever a profile calls its functions.
        plain = "".join(letter if letter.isprintable() else "?" for letter in frame["name"])
        name = html.escape(plain)
        fill, ink = ("#d9480f", "#ffffff") if marked.search(plain) else (("#f5d9b0", "#f2cd96")[depth % 2], "#222222")
        # Of a path to a package its last part tells which function it is.
        short = plain.rsplit("/", 1)[-1]
        room = int((share * width - 6) / letter)
        text = html.escape(short if len(short) <= room else short[: max(0, room - 1)] + "…") if room >= 4 else ""
        boxes.append(
            f'<g><title>{name}: {share * 100:.1f} %</title><rect x="{at * width:.1f}" y="{depth * row}" width="{share * width - 0.5:.1f}" '
            f'height="{row - 1}" fill="{fill}"/><text x="{at * width + 3:.1f}" y="{depth * row + 12}" fill="{ink}">{text}</text></g>'
        )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {(deepest + 1) * row}" font-family="monospace" font-size="10">'
    return "\n".join([head, f'<rect width="{width}" height="{(deepest + 1) * row}" fill="#ffffff"/>', *boxes, "</svg>", ""])


def bracketed(cells, doubtful):
    """Table cells, in brackets where they may not be the server's."""
    return [f"({cell})" if doubtful and cell != "–" else cell for cell in cells]


def figure(number):
    """Three digits, as loadline's own tables have them."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def time(milliseconds):
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.3g} s"
    return f"{milliseconds:.3g} ms" if milliseconds >= 1 else f"{milliseconds * 1000:.3g} µs"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: case_studies.py FOLDER-OF-RUNS PAGE")
    page = Page(Path(sys.argv[1]), Path(sys.argv[2]))
    page.path.write_text(page.filled())
