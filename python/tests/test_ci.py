from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, Dict, Iterator, List, Tuple

import pytest
import yaml

from loadline import read
from loadline.ci import main, words_of


class Forge:
    """The comments of a request, as GitHub and GitLab keep them."""

    def __init__(self) -> None:
        self.comments: List[Dict[str, Any]] = [{"id": number, "body": f"remark {number}"} for number in range(120)]
        self.asked: List[Tuple[str, str]] = []
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                path, _, query = self.path.partition("?")
                forge.asked.append((self.command, path))
                content = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
                told: Any = {}
                if self.command == "GET":
                    page = int(dict(pair.split("=") for pair in query.split("&"))["page"])
                    told = forge.comments[(page - 1) * 100 : page * 100]
                elif self.command == "POST":
                    forge.comments.append({"id": 1000 + len(forge.comments), **content})
                else:
                    number = int(path.rsplit("/", 1)[1])
                    next(comment for comment in forge.comments if comment["id"] == number).update(content)
                body = json.dumps(told).encode()
                self.send_response(200 if self.headers.get("Authorization") == "Bearer t" or self.headers.get("PRIVATE-TOKEN") == "t" else 401)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PATCH = do_PUT = _answer

            def log_message(self, *_: Any) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def forge() -> Iterator[Forge]:
    forge = Forge()
    yield forge
    forge.server.shutdown()


@pytest.mark.parametrize("pipeline", ["github", "gitlab"])
def test_a_report_is_one_comment_however_often_it_is_written(
    server: str, forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pipeline: str
) -> None:
    monkeypatch.delenv("GITLAB_CI", raising=False)
    summary = tmp_path / "summary.md"
    env = {
        "github": {"GITHUB_API_URL": forge.url, "GITHUB_REPOSITORY": "a/b", "LOADLINE_REQUEST": "7", "GITHUB_STEP_SUMMARY": str(summary)},
        "gitlab": {"GITLAB_CI": "true", "CI_API_V4_URL": forge.url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "7"},
    }[pipeline]
    for name, value in {"LOADLINE_TOKEN": "t", **env}.items():
        monkeypatch.setenv(name, value)
    command = f"loadline run {server}/healthz -c 1 -n 20 --check 'failed < 1%'"
    for _ in range(2):
        assert main(["--command", command, "--results", str(tmp_path / "out"), "--name", "health", "--comment"]) in (0, 4)
    ours = [comment for comment in forge.comments if comment["body"].startswith("<!-- loadline: health -->")]
    assert len(ours) == 1 and "/healthz" in ours[0]["body"]
    assert [method for method, _ in forge.asked] == ["GET", "GET", "POST", "GET", "GET", "PATCH" if pipeline == "github" else "PUT"]
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert names == ["junit.xml", "report.html", "report.md", "result.json"]
    assert read(tmp_path / "out" / "result.json").schema.startswith("loadline.run/")
    assert summary.exists() == (pipeline == "github")


def test_a_check_that_fails_fails_the_pipeline_and_an_unwritten_comment_does_not(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("GITLAB_CI", raising=False)
    for name, value in {"GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_REPOSITORY": "a/b", "LOADLINE_REQUEST": "7"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    command = f"run {server}/status/503 -c 1 -n 5 --check 'failed < 1%'"
    code = main(["--command", command, "--results", str(tmp_path / "out"), "--comment"])
    assert code in (1, 4) and (tmp_path / "output").read_text() == f"exit-code={code}\n"
    assert "warning: the comment could not be written" in capfd.readouterr().err


def test_charts_of_a_sweep_lie_beside_its_report(server: str, tmp_path: Path) -> None:
    command = f"sweep {server}/healthz --levels 1,2 -d 200ms --cooldown 0s"
    assert main(["--command", command, "--results", str(tmp_path), "--name", "health"]) in (0, 4)
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"report.md", "result.json", "health_qps_ttlb.png", "health_successrate.svg"}


def test_words_are_taken_apart_as_a_shell_does_and_nothing_is_executed() -> None:
    assert words_of("loadline run 'http://a/?b=c d' --check \"p99 < 1s\" $(id) # why") == ["run", "http://a/?b=c d", "--check", "p99 < 1s", "$(id)"]
    with pytest.raises(SystemExit):
        main(["--command", ""])


ROOT = Path(__file__).parents[2]


def run_line(line: str, env: Dict[str, str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """A line of a pipeline's, with this Python as the machine's."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(["bash", "-e", "-c", line], env={**os.environ, **env, "PATH": path}, cwd=folder, capture_output=True, text=True, check=False)


def test_the_action_measures_as_its_file_says(server: str, tmp_path: Path) -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    install, measure, upload = action["runs"]["steps"]
    # The package is there already.
    assert run_line(install["run"], {"VERSION": ""}, tmp_path).returncode == 0
    assert set(action["inputs"]) == {"command", "version", "comment", "name", "results", "token"}
    assert set(measure["env"]) == {"COMMAND", "RESULTS", "NAME", "COMMENT", "LOADLINE_TOKEN", "LOADLINE_REQUEST"}
    env = {"COMMAND": f"run {server}/healthz -c 1 -n 20 --check 'mean < 1h'", "RESULTS": "out", "NAME": "a", "COMMENT": "", "LOADLINE_REQUEST": ""}
    summary, output = tmp_path / "summary.md", tmp_path / "output"
    done = run_line(measure["run"], {**env, "GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output)}, tmp_path)
    assert done.returncode in (0, 4), done.stderr
    assert output.read_text() == f"exit-code={done.returncode}\n" and "/healthz" in summary.read_text()
    assert (tmp_path / "out" / "junit.xml").exists() and upload["with"]["path"] == "${{ inputs.results }}"


def test_the_template_of_gitlab_measures_as_its_file_says(server: str, tmp_path: Path) -> None:
    job = yaml.safe_load((ROOT / "deploy/ci/gitlab.yml").read_text(encoding="utf-8"))[".loadline"]
    env = {"LOADLINE_COMMAND": f"run {server}/healthz -c 1 -n 20", "CI_JOB_NAME_SLUG": "load", "LOADLINE_COMMENT": ""}
    for line in [*job["before_script"], *job["script"]]:
        done = run_line(line, env, tmp_path)
        assert done.returncode in (0, 4), done.stderr
    assert (tmp_path / job["artifacts"]["reports"]["junit"]).exists() and job["artifacts"]["paths"] == ["loadline-results"]
