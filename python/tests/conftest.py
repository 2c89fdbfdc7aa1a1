"""A server to load: the demo API of the binary itself."""

from __future__ import annotations

import socket
import subprocess
import time
from typing import Iterator

import pytest

import loadline

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    demo = subprocess.Popen([loadline.binary(), "demo", "--serve", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as there:
                if there.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        demo.terminate()
        demo.wait()


@pytest.fixture(autouse=True)
def history(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test writes into the history of whoever runs it."""
    monkeypatch.setenv("LOADLINE_DB", str(tmp_path_factory.mktemp("history") / "history.db"))
