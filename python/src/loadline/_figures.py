"""Times that can be held against a promise, and that say where they cannot."""

from __future__ import annotations

import re
from typing import Any, Optional, Union

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|µs|ms|s|m|h)")


class CannotTell(AssertionError):
    """A promise can neither be said to be kept nor to be broken: too few requests, or a run whose figures are not to be used."""


def seconds(text: str) -> float:
    """The seconds of a time as loadline takes it: ``50ms``, ``1.5s``, ``1m30s``."""
    parts = _PART.findall(text)
    if not parts or re.sub(r"\s", "", "".join(number + unit for number, unit in parts)) != re.sub(r"\s", "", text):
        raise ValueError(f"'{text}' is no time: write one with its unit, such as 50ms")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


class Time(float):
    """Seconds, as a number; compared with a text it is held against a promise: ``result.p99 < "50ms"``.

    Where nothing can be said (``doubt``), such a comparison raises :class:`CannotTell`. Numbers are compared as numbers.
    """

    doubt: Optional[str]

    def __new__(cls, value: Optional[float], doubt: Optional[str] = None) -> Time:
        time = super().__new__(cls, float("nan") if value is None else value)
        time.doubt = doubt
        return time

    @property
    def ms(self) -> float:
        """The same in milliseconds."""
        return float(self) * 1e3

    def _promise(self, other: Union[str, float]) -> float:
        if not isinstance(other, str):
            return other
        limit = seconds(other)
        if self.doubt is not None:
            raise CannotTell(f"cannot tell: {self.doubt}")
        return limit

    def __lt__(self, other: Any) -> bool:
        return float(self) < self._promise(other)

    def __le__(self, other: Any) -> bool:
        return float(self) <= self._promise(other)

    def __gt__(self, other: Any) -> bool:
        return float(self) > self._promise(other)

    def __ge__(self, other: Any) -> bool:
        return float(self) >= self._promise(other)

    def __repr__(self) -> str:
        value = float(self)
        if value != value:
            return "–"
        for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
            if abs(value) * factor >= 1.0:
                return f"{value * factor:.3g} {unit}"
        return f"{value * 1e9:.3g} ns"

    __str__ = __repr__
