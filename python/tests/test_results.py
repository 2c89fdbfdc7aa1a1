from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

import loadline
from loadline import CannotTell, InputError, LoadlineError


def test_a_run_has_what_the_binary_counted(server: str, tmp_path: Path) -> None:
    result = loadline.run(f"{server}/healthz", users=2, requests=500, headers={"X-Team": "a"}, checks=["failed < 1%", "mean < 1ns"])
    assert (result.requests.due, result.requests.succeeded, result.requests.failed_share) == (500, 500, 0.0)
    assert result.status == {200: 500} and result.failures == [] and result.ended == "finished"
    assert [header for header in result.document["plan"]["header"] if header.startswith("X-Team")] == ["X-Team: a"]
    assert 0 < result.p50 <= result.max and result.times("ttfb").count == 500
    # The figures of a disturbed machine are not to be used, and then no check is judged.
    if result.validity:
        assert [check.verdict for check in result.checks] == ["held", "broken"] and not result.ok
    else:
        with pytest.raises(CannotTell):
            result.ok  # noqa: B018
    result.save(tmp_path / "r.json")
    assert loadline.read(tmp_path / "r.json") == result
    assert f"{server}/healthz" in result.report() and "<html" in result.page() and "|" in result.markdown()
    assert "iframe" in result._repr_html_()


def test_few_requests_have_no_p99(server: str) -> None:
    result = loadline.run(f"{server}/healthz", users=1, requests=20)
    with pytest.raises(CannotTell, match="INVALID|too few"):
        assert result.p99 < "1h"
    with pytest.raises(KeyError, match="no quantile 0.42"):
        result.times().quantile(0.42)


def test_a_sweep_has_its_levels_and_a_comparison_its_changes(server: str) -> None:
    swept = loadline.sweep(f"{server}/healthz", levels=[1, 2], duration=timedelta(milliseconds=300), cooldown="0s")
    assert [(level.level, level.unit) for level in swept.levels] == [(1.0, "users"), (2.0, "users")]
    assert all(level.qps > 0 and level.success_percent == 100 for level in swept.levels)
    assert swept.best in [None, *swept.levels] and isinstance(swept.limits, list)
    compared = loadline.compare(f"{server}/healthz", f"{server}/healthz", pairs=2, duration="300ms", warmup="0s")
    assert {change.metric for change in compared.changes} >= {"qps", "p50"} and len(compared.pairs) == 2
    assert compared.verdict == "cannot_tell", "two pairs give no verdict"
    with pytest.raises(CannotTell):
        compared.is_worse  # noqa: B018


def test_a_search_has_its_trials(server: str) -> None:
    # No answer is there so soon, so the search ends with its first rates.
    found = loadline.find(f"{server}/healthz", slo="p90 < 1ns", quick=True)
    assert found.promises == ["p90 < 1ns"] and found.trials[0].run.requests.due > 0
    assert (found.carries, found.trials[0].missed) == (None, "p90 < 1ns")
    assert str(found).startswith("no rate keeps p90 < 1ns")


def test_tables_are_pandas(server: str) -> None:
    pandas = pytest.importorskip("pandas")
    result = loadline.run(f"{server}/healthz", users=1, duration="1s")
    table = result.to_pandas()
    assert isinstance(table, pandas.DataFrame) and table["succeeded"].sum() == result.requests.succeeded
    assert {"qps", "p50_s"} <= set(table.columns)


def test_what_is_wrong_is_told_in_the_words_of_the_command_line(server: str) -> None:
    with pytest.raises(InputError, match="--duration"):
        loadline.run(server, duration="soon")
    with pytest.raises(InputError, match="colour|unexpected argument"):
        loadline.run(server, no_such_setting=True)
    with pytest.raises(LoadlineError, match="refused"):
        loadline.run("http://127.0.0.1:9/", users=1, requests=1)
    with pytest.raises(InputError):
        loadline.run("--help")


def test_values_are_passed_as_they_are(server: str) -> None:
    result = loadline.run(f"{server}/healthz", users=1, requests=2, json={"text": "-- a 'b' \"c\""}, no_keepalive=True, note="- a note")
    assert result.document["plan"]["data"] == '{"text": "-- a \'b\' \\"c\\""}'
    assert result.document["connections"]["opened"] == 2


def test_loads_run_beside_other_tasks(server: str) -> None:
    async def both() -> "list[loadline.Run]":
        loads = [loadline.run_async(f"{server}/healthz", users=1, requests=50) for _ in range(2)]
        return list(await asyncio.gather(*loads))

    assert [result.requests.succeeded for result in asyncio.run(both())] == [50, 50]


def test_a_task_that_is_cancelled_ends_its_load(server: str) -> None:
    async def cancelled() -> float:
        begun = time.monotonic()
        load = asyncio.create_task(loadline.run_async(f"{server}/healthz", users=1, duration="60s"))
        await asyncio.sleep(1)
        load.cancel()
        with pytest.raises(asyncio.CancelledError):
            await load
        return time.monotonic() - begun

    assert asyncio.run(cancelled()) < 40


def test_an_interrupted_run_is_a_result(server: str) -> None:
    timer = threading.Timer(1.5, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    result = loadline.run(f"{server}/healthz", users=1, rate="50/s", duration="60s")
    assert result.ended == "interrupted" and 0 < result.requests.succeeded < 3000
