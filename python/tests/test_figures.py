from __future__ import annotations

import math

import pytest

from loadline import CannotTell, Time
from loadline._figures import seconds


@pytest.mark.parametrize(
    ("text", "value"), [("50ms", 0.05), ("1.5s", 1.5), ("1m30s", 90.0), ("2 s", 2.0), ("80us", 8e-5), ("80µs", 8e-5), ("5ns", 5e-9), ("1h", 3600.0)]
)
def test_times_are_those_of_the_command_line(text: str, value: float) -> None:
    assert seconds(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["50", "", "ms", "50 minutes", "-5ms", "5ms and more"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no time"):
        seconds(text)


def test_a_time_is_held_against_a_promise_and_compared_as_a_number() -> None:
    p99 = Time(0.04)
    assert p99 < "50ms" and p99 <= "40ms" and p99 > "10ms" and p99 >= "0.04s"
    assert not p99 < "40ms"
    assert p99 < 1 and max(p99, Time(0.05)) == 0.05
    assert (repr(p99), repr(Time(2)), repr(Time(3e-5)), p99.ms) == ("40 ms", "2 s", "30 µs", 40.0)


def test_where_nothing_can_be_said_a_promise_says_so() -> None:
    unknown = Time(None, "12 requests are too few")
    for time in (unknown, Time(0.04, "the run is INVALID")):
        with pytest.raises(CannotTell, match="cannot tell: "):
            assert time < "50ms"
        with pytest.raises(CannotTell, match="cannot tell: "):
            assert time >= "50ms"
    assert math.isnan(unknown) and repr(unknown) == "–"
    with pytest.raises(ValueError):
        assert unknown < "soon"
