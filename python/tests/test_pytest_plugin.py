from __future__ import annotations

import pytest


def test_promises_are_assertions_and_a_failure_has_its_report(pytester: pytest.Pytester, server: str) -> None:
    pytester.makepyfile(
        f"""
        def test_all_are_answered(load):
            assert load.run("{server}/healthz", users=1, requests=50).requests.failed == 0

        def test_breaks(load):
            assert load.run("{server}/healthz", users=1, requests=50).requests.succeeded == 51
        """
    )
    told = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    told.assert_outcomes(passed=1, failed=1)
    told.stdout.fnmatch_lines(["*- loadline -*", f"*{server}/healthz*"])


@pytest.mark.parametrize(("setting", "outcome"), [("fail", {"failed": 1}), ("skip", {"skipped": 1})])
def test_what_cannot_be_told_fails_or_skips(pytester: pytest.Pytester, server: str, setting: str, outcome: "dict[str, int]") -> None:
    pytester.makeini(f"[pytest]\nloadline_cannot_tell = {setting}\n")
    pytester.makepyfile(
        f"""
        def test_few(load):
            assert load.run("{server}/healthz", users=1, requests=5).p99 < "1h"
        """
    )
    told = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-rs")
    told.assert_outcomes(**outcome)
    told.stdout.fnmatch_lines(["*cannot tell: *"])
