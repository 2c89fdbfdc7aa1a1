"""One measurement in a pipeline: ``python -m loadline.ci --command "run http://127.0.0.1:8080/ -c 20 -d 30s --check 'p99 < 200ms'"``.

Leaves the result, its page, its report and (of a run) a JUnit file in a folder, and tells the report where people look: in GitHub's job summary,
and with ``--comment`` as a comment of the pull or merge request, in the place of the one before. Ends as loadline ended: 0 done, 1 a check failed or B
is worse, 4 the figures are not to be used or it cannot be told.

The action (action.yml) and GitLab's template (deploy/ci/gitlab.yml) call it; any other pipeline can.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ._command import binary

#: As much of a report as a comment takes, with room for the mark.
_COMMENT_LETTERS_MAX = 60_000
_PAGE = 100


@dataclass(frozen=True)
class Comments:
    """Where the comments of one request are."""

    all: str
    one: str
    change: str
    headers: Dict[str, str]

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Optional[Comments]:
        """Of this pipeline; ``None`` where it is not that of a request."""
        token = env.get("LOADLINE_TOKEN", "")
        if "GITLAB_CI" in env:
            if not env.get("CI_MERGE_REQUEST_IID"):
                return None
            notes = f"{env['CI_API_V4_URL']}/projects/{env['CI_PROJECT_ID']}/merge_requests/{env['CI_MERGE_REQUEST_IID']}/notes"
            return cls(notes, notes + "/{}", "PUT", {"PRIVATE-TOKEN": token})
        number = env.get("LOADLINE_REQUEST")
        if not number or "GITHUB_REPOSITORY" not in env:
            return None
        api = f"{env.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{env['GITHUB_REPOSITORY']}/issues"
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        return cls(f"{api}/{number}/comments", api + "/comments/{}", "PATCH", headers)

    def write(self, name: str, report: str) -> None:
        """Writes the report under the mark of this name: over the comment that has it, or as a new one."""
        mark = f"<!-- loadline: {name} -->"
        body = {"body": f"{mark}\n{report[:_COMMENT_LETTERS_MAX]}"}
        page = 1
        while True:
            listed = self._ask("GET", f"{self.all}?per_page={_PAGE}&page={page}")
            known = next((note["id"] for note in listed if (note.get("body") or "").startswith(mark)), None)
            if known is not None:
                self._ask(self.change, self.one.format(known), body)
                return
            if len(listed) < _PAGE:
                self._ask("POST", self.all, body)
                return
            page += 1

    def _ask(self, method: str, url: str, content: Optional[Dict[str, str]] = None) -> Any:
        data = None if content is None else json.dumps(content).encode()
        headers = {**self.headers, "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method), timeout=30) as answer:
            return json.load(answer)


def words_of(command: str) -> List[str]:
    """The words of a command as a shell takes them apart; nothing in them is executed."""
    words = shlex.split(command, comments=True)
    return words[1:] if words[:1] == ["loadline"] else words


def measure(words: Sequence[str], results: Path, name: str, comments: Optional[Comments], env: Mapping[str, str]) -> int:
    """Runs loadline with these words, and tells the report. Its exit code."""
    results.mkdir(parents=True, exist_ok=True)
    report = results / "report.md"
    outs = [f"--out=json={results / 'result.json'}", f"--out=markdown={report}", f"--out=html={results / 'report.html'}"]
    if words[0] in ("run", "replay"):
        outs.append(f"--out=junit={results / 'junit.xml'}")
    else:
        # The other files of an experiment, charts among them.
        outs += [f"--dir={results}", f"--name={name}"]
    code = subprocess.run([binary(), *words, *outs, "--force"], check=False).returncode
    if "GITHUB_OUTPUT" in env:
        _append(env["GITHUB_OUTPUT"], f"exit-code={code}\n")
    if not report.exists():
        return code
    text = report.read_text(encoding="utf-8")
    if "GITHUB_STEP_SUMMARY" in env:
        _append(env["GITHUB_STEP_SUMMARY"], text)
    if comments is not None:
        try:
            comments.write(name, text)
        except (urllib.error.URLError, OSError, ValueError) as why:
            # The result is there; that it could not be told is no reason to fail it.
            print(f"warning: the comment could not be written: {why}", file=sys.stderr)
    return code


def _append(path: str, text: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(text)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m loadline.ci", description="Measure in a pipeline, and tell the result where people look.")
    parser.add_argument("--command", required=True, help="the words after `loadline`, with quotes as a shell has them")
    parser.add_argument("--results", type=Path, default=Path("loadline-results"), help="the folder for what comes out [loadline-results]")
    parser.add_argument("--name", default="loadline", help="what tells several measurements of one request apart [loadline]")
    parser.add_argument("--comment", action="store_true", help="write the report as a comment of the request, with the token in LOADLINE_TOKEN")
    given = parser.parse_args(arguments)
    words = words_of(given.command)
    if not words:
        parser.error("--command says nothing to measure")
    comments = Comments.of(os.environ) if given.comment else None
    if given.comment and comments is None:
        print("note: this is no pipeline of a pull or merge request, so there is nothing to comment on", file=sys.stderr)
    return measure(words, given.results, given.name, comments, os.environ)


if __name__ == "__main__":
    sys.exit(main())
