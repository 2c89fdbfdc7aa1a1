"""The binary, called: settings become its flags, and the JSON that it writes becomes a result."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import sysconfig
import tempfile
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any, Dict, IO, Iterable, List, Mapping, Optional, Sequence, Union, cast

from ._results import Comparison, Run, Search, Sweep, of

Target = Union[str, "os.PathLike[str]"]
#: A limit to keep, or several.
Promises = Union[str, Sequence[str]]
Length = Union[str, timedelta]

#: Exit codes with which a result is there (docs/guide/load.md): a check broke, or the figures are not to be used.
_MEASURED = (0, 1, 4, 130)


class LoadlineError(RuntimeError):
    """The binary ended without a result; what it said is the message."""


class InputError(ValueError):
    """Something that was given is wrong; the message says what, and what to do."""


def binary() -> str:
    """The path of the binary: LOADLINE_BINARY, the one that was installed with this package, or the one on the PATH."""
    named = os.environ.get("LOADLINE_BINARY")
    if named:
        return named
    places = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent), os.path.join(site.getuserbase(), "bin")]
    for place in places:
        path = os.path.join(place, "loadline")
        if os.access(path, os.X_OK) and not _is_script(path):
            return path
    found = shutil.which("loadline")
    if found is None:
        raise FileNotFoundError("the program loadline is not installed: pip install loadline brings it, or name it in LOADLINE_BINARY")
    return found


def _is_script(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def run(
    target: Target,
    *,
    users: Optional[int] = None,
    duration: Optional[Length] = None,
    rate: Optional[str] = None,
    checks: Promises = (),
    progress: Optional[bool] = None,
    **settings: Any,
) -> Run:
    """Sends one load to a URL, or goes through the scenario in a file, and measures it.

    ``users`` send again as soon as they were answered; with a ``rate`` such as ``"200/s"`` requests are due by the clock. Every setting of
    ``loadline run --help`` is a keyword: ``headers={"X-Team": "a"}``, ``json={"item": 7}``, ``stream="sse"``, ``http="2"``. Raises
    :class:`InputError` for what is wrong with them. A check that breaks raises nothing: it stands in ``result.checks``.
    """
    words = [*_target(target), *_flags(dict(connections=users, duration=duration, rate=rate, check=_list(checks), **settings))]
    return cast(Run, _measured("run", words, progress))


def sweep(target: Target, *, levels: Union[str, Iterable[int], None] = None, duration: Optional[Length] = None, checks: Promises = (),
          progress: Optional[bool] = None, **settings: Any) -> Sweep:
    """Measures rising levels of users (or with ``rates`` of rates) and says what the curve says."""
    words = [*_target(target), *_flags(dict(levels=_commas(levels), duration=duration, check=_list(checks), **settings))]
    return cast(Sweep, _measured("sweep", words, progress))


def find(target: Target, *, slo: Promises, progress: Optional[bool] = None, **settings: Any) -> Search:
    """Searches for the highest rate that keeps promises, such as ``slo="p99 < 50ms"``."""
    return cast(Search, _measured("find", [*_target(target), *_flags(dict(slo=_list(slo), **settings))], progress))


def compare(a: Target, b: Target, *, duration: Optional[Length] = None, progress: Optional[bool] = None, **settings: Any) -> Comparison:
    """Measures two servers in pairs and says whether B is slower than A."""
    words = [*_target(a), *_target(b), *_flags(dict(duration=duration, **settings))]
    return cast(Comparison, _measured("compare", words, progress))


async def run_async(target: Target, *, users: Optional[int] = None, duration: Optional[Length] = None, rate: Optional[str] = None,
                    checks: Promises = (), **settings: Any) -> Run:
    """As :func:`run`, beside other tasks; a task that is cancelled interrupts the load."""
    words = [*_target(target), *_flags(dict(connections=users, duration=duration, rate=rate, check=_list(checks), **settings))]
    return cast(Run, await _measured_async("run", words))


async def sweep_async(target: Target, *, levels: Union[str, Iterable[int], None] = None, duration: Optional[Length] = None,
                      checks: Promises = (), **settings: Any) -> Sweep:
    """As :func:`sweep`, beside other tasks."""
    words = [*_target(target), *_flags(dict(levels=_commas(levels), duration=duration, check=_list(checks), **settings))]
    return cast(Sweep, await _measured_async("sweep", words))


async def find_async(target: Target, *, slo: Promises, **settings: Any) -> Search:
    """As :func:`find`, beside other tasks."""
    return cast(Search, await _measured_async("find", [*_target(target), *_flags(dict(slo=_list(slo), **settings))]))


async def compare_async(a: Target, b: Target, *, duration: Optional[Length] = None, **settings: Any) -> Comparison:
    """As :func:`compare`, beside other tasks."""
    return cast(Comparison, await _measured_async("compare", [*_target(a), *_target(b), *_flags(dict(duration=duration, **settings))]))


def rendered(path: str, form: str) -> str:
    """A saved result in another form."""
    done = subprocess.run([binary(), "report", path, "--quiet", "--out", f"{form}=-"], capture_output=True, text=True, check=False)
    if done.returncode not in _MEASURED:
        raise LoadlineError(done.stderr.strip())
    return done.stdout


def _target(target: Target) -> List[str]:
    text = os.fspath(target)
    if text.startswith("-"):
        raise InputError(f"'{text}' is no target: give a URL, or the file of a scenario")
    return [text]


def _list(texts: Promises) -> List[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _commas(levels: Union[str, Iterable[int], None]) -> Optional[str]:
    return levels if levels is None or isinstance(levels, str) else ",".join(str(level) for level in levels)


def _flags(settings: Mapping[str, Any]) -> List[str]:
    """``no_keepalive=True`` is ``--no-keepalive``, a list is a flag for each, and what is ``None`` or ``False`` is left out."""
    words: List[str] = []
    for name, value in settings.items():
        if name == "headers":
            words += [f"--header={header}: {text}" for header, text in dict(value).items()]
            continue
        flag = f"--{name.replace('_', '-')}"
        if name in ("json", "message") and not isinstance(value, (str, type(None))):
            value = json.dumps(value)
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is None or one is False:
                continue
            # One word: a value may begin with a dash.
            words.append(flag if one is True else f"{flag}={_text(one)}")
    return words


def _text(value: Any) -> str:
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    return str(value)


def _words(command: str, words: Sequence[str], folder: str) -> List[str]:
    path = os.path.join(folder, "result.json")
    # The others of an experiment's files stand beside its result, and go with the folder.
    files = [f"--out=json={path}"] if command == "run" else [f"--dir={folder}", "--name=result", f"--out=json={path}"]
    return [binary(), command, *words, *files, "--force"]


def _result(command: str, code: int, folder: str, said: str) -> Any:
    path = os.path.join(folder, "result.json")
    if code in _MEASURED and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return of(json.load(file))
    if code == 2:
        raise InputError(said.strip() or f"loadline {command} takes something else")
    raise LoadlineError(said.strip() or f"loadline {command} ended with {code}")


def _measured(command: str, words: Sequence[str], progress: Optional[bool]) -> Any:
    shown = _Progress.of(progress)
    with tempfile.TemporaryDirectory(prefix="loadline-") as folder:
        process = subprocess.Popen(
            _words(command, words, folder), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        said: List[str] = []
        reader = threading.Thread(target=_listen, args=(process.stderr, said, shown), daemon=True)
        reader.start()
        interrupted = False
        while True:
            try:
                code = process.wait()
                break
            except KeyboardInterrupt:
                # The first ends the load, and what was measured is the result; the second ends the program.
                process.send_signal(signal.SIGINT if not interrupted else signal.SIGKILL)
                interrupted = True
        reader.join()
        shown.end()
        return _result(command, code, folder, "".join(said))


def _listen(stderr: IO[str], said: List[str], shown: "_Progress") -> None:
    for line in stderr:
        said.append(line)
        shown.show(line.rstrip())


async def _measured_async(command: str, words: Sequence[str]) -> Any:
    with tempfile.TemporaryDirectory(prefix="loadline-") as folder:
        process = await asyncio.create_subprocess_exec(
            *_words(command, words, folder),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            _, said = await process.communicate()
        except asyncio.CancelledError:
            process.send_signal(signal.SIGINT)
            await process.wait()
            raise
        return _result(command, cast(int, process.returncode), folder, said.decode("utf-8", "replace"))


class _Progress:
    """What a load says while it is on: a line that is drawn over in a notebook, lines on standard error elsewhere where they are wanted."""

    def __init__(self, wanted: bool) -> None:
        self._wanted = wanted
        self._display: Any = None

    @classmethod
    def of(cls, progress: Optional[bool]) -> "_Progress":
        """As wanted; where nothing was said, in notebooks and on terminals."""
        in_notebook = "ipykernel" in sys.modules
        shown = cls((in_notebook or sys.stderr.isatty()) if progress is None else progress)
        if in_notebook and shown._wanted:
            from IPython.display import display

            shown._display = display(_plain("loadline …"), display_id=True)
        return shown

    def show(self, line: str) -> None:
        if not self._wanted or not line:
            return
        if self._display is not None:
            self._display.update(_plain(line))
        else:
            print(line, file=sys.stderr)

    def end(self) -> None:
        if self._display is not None:
            self._display.update(_plain(""))


def _plain(text: str) -> Dict[str, str]:
    from IPython.display import Pretty

    return cast(Dict[str, str], Pretty(text))
