"""Load tests as tests: the fixture ``load``, promises as assertions, and the report beside a test that fails.

::

    def test_checkout_is_quick(load):
        result = load.run("http://127.0.0.1:8080/checkout", users=20, duration="5s")
        assert result.requests.failed == 0
        assert result.p99 < "200ms"

A promise that cannot be judged (:class:`loadline.CannotTell`) fails its test; with ``loadline_cannot_tell = skip`` in pytest's settings it
skips it.
"""

from __future__ import annotations

from typing import Any, Generator, List, TypeVar

import pytest

import loadline
from loadline import CannotTell, Comparison, Result, Run, Search, Sweep


Kept = TypeVar("Kept", bound=Result)


class Load:
    """The functions of the package; what they measured is reported with a test that fails."""

    def __init__(self) -> None:
        self.results: List[Result] = []

    def run(self, target: str, **settings: Any) -> Run:
        """As :func:`loadline.run`."""
        return self._kept(loadline.run(target, **settings))

    def sweep(self, target: str, **settings: Any) -> Sweep:
        """As :func:`loadline.sweep`."""
        return self._kept(loadline.sweep(target, **settings))

    def find(self, target: str, **settings: Any) -> Search:
        """As :func:`loadline.find`."""
        return self._kept(loadline.find(target, **settings))

    def compare(self, a: str, b: str, **settings: Any) -> Comparison:
        """As :func:`loadline.compare`."""
        return self._kept(loadline.compare(a, b, **settings))

    def _kept(self, result: Kept) -> Kept:
        self.results.append(result)
        return result


@pytest.fixture
def load() -> Load:
    """Loads of this test."""
    return Load()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("loadline_cannot_tell", "what a promise that cannot be judged does to its test: fail or skip", default="fail")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, None]:
    outcome = yield
    raised = outcome.excinfo
    if raised is not None and issubclass(raised[0], CannotTell) and item.config.getini("loadline_cannot_tell") == "skip":
        outcome.force_exception(pytest.skip.Exception(str(raised[1]), _use_item_location=True))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    outcome = yield
    report = outcome.get_result()
    used = getattr(item, "funcargs", {}).get("load")
    if report.when == "call" and report.failed and isinstance(used, Load):
        for result in used.results:
            report.sections.append(("loadline", result.report()))
