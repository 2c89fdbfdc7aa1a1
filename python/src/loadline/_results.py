"""Results: what the binary wrote as JSON, with names for what is asked for most.

The forms are those of docs/guide/reading-a-report.md; ``document`` has all of it.
"""

from __future__ import annotations

import html
import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, Type, Union

from ._figures import CannotTell, Time

if TYPE_CHECKING:
    import pandas

Document = Dict[str, Any]


def _time(ns: Optional[float], doubt: Optional[str]) -> Time:
    return Time(None if ns is None else ns / 1e9, doubt)


@dataclass(frozen=True)
class Requests:
    """What became of requests: ``due`` is the sum of the others."""

    due: int
    succeeded: int
    failed: int
    unsent: int

    @property
    def failed_share(self) -> float:
        """Failed and unsent, of those that fell due, from 0 to 1."""
        return (self.failed + self.unsent) / self.due if self.due else 0.0


@dataclass(frozen=True)
class Times:
    """How times of one kind lie."""

    document: Document = field(repr=False)
    doubt: Optional[str] = field(default=None, repr=False)

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.document["count"])

    @property
    def mean(self) -> Time:
        """Their mean."""
        return _time(self.document.get("mean_ns"), self.doubt)

    @property
    def max(self) -> Time:
        """The longest."""
        return _time(self.document.get("max_ns"), self.doubt)

    def quantile(self, q: float) -> Time:
        """The quantile, from 0 to 1, as far as the result has it: 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999."""
        known = {float(name): value for name, value in self.document["quantiles"].items()}
        if q not in known:
            raise KeyError(f"the result has no quantile {q}, but {', '.join(str(name) for name in sorted(known))}")
        value = known[q]
        few = f"{self.count:,} requests are too few for the quantile {q}" if value is None else None
        return _time(value, self.doubt or few)


@dataclass(frozen=True)
class Failure:
    """Requests that failed in one way."""

    name: str
    side: str
    count: int


@dataclass(frozen=True)
class CheckResult:
    """A check, and what became of it: ``held``, ``broken`` or ``not_judgeable``."""

    check: str
    verdict: str

    def __bool__(self) -> bool:
        if self.verdict == "not_judgeable":
            raise CannotTell(f"cannot tell whether '{self.check}' holds")
        return self.verdict == "held"


@dataclass(frozen=True)
class Validity:
    """Whether the figures are those of the server: ``valid``, ``degraded`` or ``invalid``, with what made it so."""

    standing: str
    causes: Tuple[str, ...]

    def __bool__(self) -> bool:
        return self.standing != "invalid"


@dataclass(frozen=True)
class Finding:
    """What is the limit, or may be, with the evidence."""

    kind: str
    sentence: str
    strength: float
    evidence: Tuple[str, ...]
    remedy: str


def _findings(document: Document) -> List[Finding]:
    return [
        Finding(one["kind"], one["sentence"], one["strength"], tuple(one["evidence"]), one["remedy"])
        for one in document.get("bottleneck") or []
    ]


def _validity(document: Mapping[str, Any]) -> Validity:
    told = document.get("validity") or {"standing": "valid", "causes": []}
    return Validity(told["standing"], tuple(cause["cause"] for cause in told["causes"]))


@dataclass(frozen=True)
class Result:
    """A result of any kind."""

    document: Document = field(repr=False)

    @property
    def schema(self) -> str:
        """What the document is, such as ``loadline.run/1``."""
        return str(self.document["schema"])

    @property
    def limits(self) -> List[Finding]:
        """What stops the server there, the most likely first; a finding of the kind ``none`` says that nothing did."""
        return _findings(self.document)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the document, which ``loadline report`` and :func:`read` take."""
        Path(path).write_text(json.dumps(self.document), encoding="utf-8")

    def report(self) -> str:
        """The report in words, as the command line has it."""
        return self._rendered("text")

    def page(self) -> str:
        """The page with its charts, whole: one file of HTML that needs nothing else."""
        return self._rendered("html")

    def markdown(self) -> str:
        """The report as Markdown."""
        return self._rendered("markdown")

    def _rendered(self, form: str) -> str:
        from ._command import rendered

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "result.json")
            self.save(path)
            return rendered(path, form)

    def _repr_html_(self) -> str:
        # A frame of its own: neither the notebook's styles nor its scripts meet the page's.
        return f'<iframe srcdoc="{html.escape(self.page())}" sandbox="allow-scripts" style="width: 100%; height: 42em; border: 0"></iframe>'

    def to_pandas(self) -> "pandas.DataFrame":
        """The rows of the result as a table; times are in seconds."""
        try:
            import pandas
        except ModuleNotFoundError as missing:
            raise ModuleNotFoundError("to_pandas needs pandas: pip install 'loadline[pandas]'") from missing
        return pandas.DataFrame(self._rows())

    def _rows(self) -> List[Dict[str, Any]]:
        raise NotImplementedError


@dataclass(frozen=True)
class Run(Result):
    """One load."""

    @property
    def qps(self) -> float:
        """Answers a second that succeeded."""
        return float(self.document["qps_succeeded"])

    @property
    def requests(self) -> Requests:
        """What became of them."""
        return Requests(**{name: self.document["requests"][name] for name in ("due", "succeeded", "failed", "unsent")})

    @property
    def validity(self) -> Validity:
        """Whether the figures are those of the server."""
        return _validity(self.document)

    @property
    def _doubt(self) -> Optional[str]:
        validity = self.validity
        return None if validity else f"the run is INVALID ({', '.join(validity.causes)})"

    def times(self, kind: str = "response_time") -> Times:
        """Times of one kind: ``response_time``, ``service_time``, ``ttfb``, ``connect``, ``tls``, ``wait``, ``lag``."""
        return Times(self.document[kind], self._doubt)

    @property
    def mean(self) -> Time:
        """The mean response time."""
        return self.times().mean

    @property
    def p50(self) -> Time:
        """Half of the response times were at most this."""
        return self.times().quantile(0.5)

    @property
    def p90(self) -> Time:
        """90 of 100 response times were at most this."""
        return self.times().quantile(0.9)

    @property
    def p95(self) -> Time:
        """95 of 100 response times were at most this."""
        return self.times().quantile(0.95)

    @property
    def p99(self) -> Time:
        """99 of 100 response times were at most this."""
        return self.times().quantile(0.99)

    @property
    def p999(self) -> Time:
        """999 of 1000 response times were at most this."""
        return self.times().quantile(0.999)

    @property
    def max(self) -> Time:
        """The longest response time."""
        return self.times().max

    @property
    def status(self) -> Dict[int, int]:
        """How often each status was answered."""
        return {int(status): times for status, times in self.document["status"].items()}

    @property
    def failures(self) -> List[Failure]:
        """In which ways requests failed, the most frequent first."""
        return [Failure(one["class"], one["side"], one["count"]) for one in self.document["failures"]]

    @property
    def checks(self) -> List[CheckResult]:
        """What became of the checks that were given."""
        return [CheckResult(one["check"], one["verdict"]) for one in self.document.get("checks") or []]

    @property
    def ok(self) -> bool:
        """Whether all checks held. Raises :class:`CannotTell` where none broke and one cannot be judged."""
        checks = self.checks
        return not any(check.verdict == "broken" for check in checks) and all(bool(check) for check in checks)

    @property
    def ended(self) -> str:
        """How it ended: ``finished``, ``interrupted`` and the like."""
        return str(self.document["ended"]["how"])

    def _rows(self) -> List[Dict[str, Any]]:
        rows = []
        for tick in self.document["timeline"]:
            length = (tick["to_ns"] - tick["from_ns"]) / 1e9
            times = tick["response_time"]
            row = {
                "from_s": tick["from_ns"] / 1e9,
                "to_s": tick["to_ns"] / 1e9,
                "qps": tick["succeeded"] / length if length else 0.0,
                **{name: tick[name] for name in ("due", "succeeded", "failed", "unsent", "in_flight", "connections")},
                "mean_s": _seconds(times.get("mean_ns")),
            }
            row.update({f"p{float(q) * 100:g}_s": _seconds(value) for q, value in times["quantiles"].items()})
            rows.append(row)
        return rows

    def __str__(self) -> str:
        return f"{self.qps:,.4g} requests a second, p50 {self.p50}, p99 {self.p99}, {self.requests.failed:,} failed, {self.validity.standing.upper()}"


def _seconds(ns: Optional[float]) -> Optional[float]:
    return None if ns is None else ns / 1e9


@dataclass(frozen=True)
class Level:
    """One level of a sweep, all repetitions together."""

    document: Document = field(repr=False)
    level: float
    unit: str
    qps: float
    mean: Time
    p99: Time
    failed: int
    success_percent: float
    standing: str
    generator_limited: bool


def _level(document: Mapping[str, Any]) -> Tuple[float, str]:
    ((unit, value),) = document.items()
    return float(value), str(unit)


@dataclass(frozen=True)
class Sweep(Result):
    """Loads of rising levels."""

    @property
    def levels(self) -> List[Level]:
        """Every level that was measured, ascending."""
        levels = []
        for row in self.document["rows"]:
            level, unit = _level(row["level"])
            doubt = "the level is INVALID" if row["standing"] == "invalid" else None
            p99 = row["response_time_p99_ns"]
            few = f"{row['due']:,} requests are too few for a p99" if p99 is None else None
            levels.append(
                Level(
                    dict(row),
                    level,
                    unit,
                    row["qps"],
                    _time(row["response_time_mean_ns"], doubt),
                    _time(p99, doubt or few),
                    row["failed"],
                    row["success_percent"],
                    row["standing"],
                    row["generator_limited"],
                )
            )
        return levels

    @property
    def best(self) -> Optional[Level]:
        """The least level at which nearly all of the throughput is reached; ``None`` where the levels do not say."""
        best = self.document["best"]
        if best.get("best") != "at":
            return None
        return next((level for level in self.levels if level.level == best["level"]), None)

    @property
    def model(self) -> List[str]:
        """What the law of the curve says, or why none was accepted, in sentences."""
        return list((self.document.get("model") or {}).get("words") or [])

    def _rows(self) -> List[Dict[str, Any]]:
        columns = ("qps", "qps_spread", "due", "failed", "success_percent", "generator_cpu", "generator_limited", "standing", "repetitions")
        rows: List[Dict[str, Any]] = []
        for level in self.levels:
            row = level.document
            named: Dict[str, Any] = {level.unit: level.level}
            named.update((name, row[name]) for name in columns)
            named.update(mean_s=_seconds(row["response_time_mean_ns"]), p99_s=_seconds(row["response_time_p99_ns"]))
            named.update((name, row[name]) for name in ("tps", "events_per_second", "tokens_per_second") if name in row)
            rows.append(named)
        return rows

    def __str__(self) -> str:
        best = self.best
        return "no best level" if best is None else f"best at {best.level:g} {best.unit}: {best.qps:,.4g} requests a second, p99 {best.p99}"


@dataclass(frozen=True)
class Trial:
    """One rate that a search tried."""

    rate: float
    seconds: float
    purpose: str
    missed: Optional[str]
    counts: bool
    run: Run = field(repr=False)


@dataclass(frozen=True)
class Search(Result):
    """A search for the highest rate that keeps promises."""

    @property
    def carries(self) -> Optional[float]:
        """The highest rate that was seen to keep them; ``None`` where none did."""
        rate = self.document["carries"]
        return None if rate is None else float(rate)

    @property
    def interval(self) -> Tuple[Optional[float], Optional[float]]:
        """Between which rates the limit lies with 95 % confidence; an end that is ``None`` is open."""
        capacity = self.document.get("capacity") or {}
        return capacity.get("low"), capacity.get("high")

    @property
    def limited_by(self) -> str:
        """What bounds the answer: ``slo``, or ``generator``, ``budget`` and the like."""
        return str(self.document["limited_by"]["by"])

    @property
    def promises(self) -> List[str]:
        """What was to be kept."""
        return [promise["text"] for promise in self.document["slo"]]

    @property
    def trials(self) -> List[Trial]:
        """Every rate that was tried, in order."""
        promises = self.promises
        return [
            Trial(
                trial["rate"],
                trial["seconds"],
                trial["purpose"],
                None if trial["missed"] is None else promises[trial["missed"]],
                trial["doubt"] is None,
                Run(trial["summary"]),
            )
            for trial in self.document["trials"]
        ]

    def _rows(self) -> List[Dict[str, Any]]:
        return [
            {
                "rate": trial.rate,
                "seconds": trial.seconds,
                "purpose": trial.purpose,
                "missed": trial.missed,
                "counts": trial.counts,
                "qps": trial.run.qps,
                "failed": trial.run.requests.failed,
                "p50_s": float(trial.run.p50),
                "p99_s": float(trial.run.p99),
            }
            for trial in self.trials
        ]

    def __str__(self) -> str:
        carries = self.carries
        rate = "no rate" if carries is None else f"{carries:,.4g}/s"
        return f"{rate} keeps {' and '.join(self.promises)} (bounded by {self.limited_by})"


@dataclass(frozen=True)
class Change:
    """How one figure of B differs from that of A: ``estimate`` 0.1 is a tenth more, with its interval of 95 %."""

    metric: str
    a: float
    b: float
    estimate: float
    low: Optional[float]
    high: Optional[float]
    verdict: str


@dataclass(frozen=True)
class Comparison(Result):
    """Two servers, or two builds of one, measured in pairs."""

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, ``same_within`` (surely within what matters), or ``cannot_tell``."""
        return str(self.document["comparison"]["verdict"]["verdict"])

    @property
    def is_worse(self) -> bool:
        """Whether B is worse than A. Raises :class:`CannotTell` where that cannot be told."""
        if self.verdict == "cannot_tell":
            raise CannotTell(f"cannot tell: {' '.join(self.reading)}")
        return self.verdict == "worse"

    @property
    def changes(self) -> List[Change]:
        """Figure by figure."""
        changes = []
        for one in self.document["comparison"]["changes"]:
            interval = one.get("interval") or {}
            changes.append(
                Change(one["metric"], one["a"], one["b"], one["estimate"], interval.get("low"), interval.get("high"), one["verdict"])
            )
        return changes

    @property
    def reading(self) -> List[str]:
        """What it comes to, in sentences."""
        return list(self.document["reading"])

    @property
    def pairs(self) -> List[Tuple[Run, Run]]:
        """The runs of A and B, pair by pair."""
        return [(Run(pair["a"]), Run(pair["b"])) for pair in self.document["pairs"]]

    def _rows(self) -> List[Dict[str, Any]]:
        return [vars(change).copy() for change in self.changes]

    def __str__(self) -> str:
        return " ".join(self.reading)


_KINDS: Dict[str, Type[Result]] = {"run": Run, "sweep": Sweep, "find": Search, "compare": Comparison}


def of(document: Document) -> Result:
    """The result that a document is."""
    schema = str(document.get("schema", ""))
    name, _, kind = schema.partition(".")
    known = _KINDS.get(kind.partition("/")[0])
    if name != "loadline" or known is None:
        raise ValueError("this is no result of loadline that this package reads")
    return known(document)


def read(path: Union[str, "os.PathLike[str]"]) -> Result:
    """Reads a result that was saved, by :meth:`Result.save` or by ``--out json=FILE``."""
    return of(json.loads(Path(path).read_text(encoding="utf-8")))
