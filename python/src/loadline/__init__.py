"""Load tests of HTTP APIs from Python: how much an API carries, where its knee is, and whether a change made it slower.

>>> import loadline
>>> result = loadline.run("http://127.0.0.1:8080/healthz", users=50, duration="10s")
>>> result.qps, result.p99
>>> assert result.p99 < "50ms"

What measures is the loadline binary, which comes with this package; every setting of its command line is a keyword here
(``stream="sse"`` is ``--stream sse``). Each result is what the binary wrote as JSON, in ``document``, with names for what is asked for most.
"""

from ._command import InputError, LoadlineError, binary, compare, compare_async, find, find_async, run, run_async, sweep, sweep_async
from ._figures import CannotTell, Time
from ._results import Change, CheckResult, Comparison, Failure, Finding, Level, Requests, Result, Run, Search, Sweep, Times, Trial, Validity, read

__all__ = [
    "CannotTell",
    "Change",
    "CheckResult",
    "Comparison",
    "Failure",
    "Finding",
    "InputError",
    "Level",
    "LoadlineError",
    "Requests",
    "Result",
    "Run",
    "Search",
    "Sweep",
    "Time",
    "Times",
    "Trial",
    "Validity",
    "binary",
    "compare",
    "compare_async",
    "find",
    "find_async",
    "read",
    "run",
    "run_async",
    "sweep",
    "sweep_async",
]
