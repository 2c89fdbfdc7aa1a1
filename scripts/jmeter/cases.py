"""A case: a small test plan, what the server answers to it, and how what it was asked is compared."""

import re
from collections import Counter
from urllib.parse import urlsplit

from elements import group, plan

# What says how a client is built, and not what a plan wants.
PASSED_OVER = {"connection", "proxy-connection", "content-length"}
# Values that each client has of its own, or that are those of every plan.
EXPECTED = {"user-agent": ("Apache-HttpClient", "loadline"), "host": ("127.0.0.1",), "accept": ("*/*",)}


class Case:
    """`covers` are the elements and functions that it is about, `called` is what loadline calls a part of one that it does not carry over.
    Of what chance rules, `values` says what a value of the query has to match, `body` the same of bodies; `pauses` are the milliseconds
    (least and most) that pass between requests. `differs` is why loadline sends something else on purpose; `loosely` is then the view in
    which both are equal all the same."""

    def __init__(
        self,
        name,
        covers,
        says,
        *children,
        called=None,
        answers=None,
        files=None,
        values=None,
        body=None,
        pauses=None,
        view=None,
        differs=None,
        loosely=None,
        **whole,
    ):
        self.called = called
        self.name, self.covers, self.says, self.plan = name, covers.split(), says, plan(*children, **whole)
        self.answers, self.files, self.values, self.body, self.pauses = answers or {}, files or {}, values or {}, body, pauses or []
        self.view, self.differs, self.loosely = view or in_order, differs, loosely
        strange = [covered for covered in self.covers if not re.search(rf"\b{covered}\b", self.plan)]
        assert not strange, f"{name} is about {strange}, which it does not hold"
        assert (differs is None) == (loosely is None), f"{name} differs, and something is equal all the same"

    def seen(self, requests, view=None):
        """What a server was asked, in the way that is compared: lines of text."""
        requests = sorted(requests, key=lambda request: request.at)
        lines = (view or self.view)([(request, self.shown(request)) for request in requests])
        return lines + [f"after {shown}" for shown in self.paused(requests)]

    def shown(self, request):
        """A request as a line; what chance rules is shown as what it matches."""
        path, sign, query = request.target.partition("?")
        parts = [self.masked(*part.partition("=")) for part in query.split("&")]
        kept = sorted(
            f"{name}: {value}" for name, value in map(plain_header, request.headers) if name not in PASSED_OVER and not is_expected(name, value)
        )
        content = plain_body(request)
        content = f"<{self.body}>" if self.body and re.fullmatch(self.body, content, re.DOTALL) else content
        return " | ".join([f"{request.method} {path}{sign}{'&'.join(parts)}", *kept, *([repr(content)] if content else [])])

    def masked(self, name, sign, value):
        pattern = self.values.get(name)
        return f"{name}{sign}<{pattern}>" if pattern and re.fullmatch(pattern, value) else f"{name}{sign}{value}"

    def paused(self, requests):
        passed = [round((later.at - earlier.at) * 1000) for earlier, later in zip(requests, requests[1:])]
        within = [
            f"{low} to {high} ms" if low <= time <= high else f"{time} ms, not {low} to {high}" for time, (low, high) in zip(passed, self.pauses)
        ]
        return within + ["nothing"] * (len(self.pauses) - len(within))


def one_user(name, covers, says, *children, loops=1, on_error="continue", **more):
    """A case of one group with one user."""
    return Case(name, covers, says, group(*children, loops=loops, on_error=on_error), **more)


def is_expected(name, value):
    return value.startswith(EXPECTED.get(name, ("\n",)))


def plain_header(header):
    """A header without what is drawn anew each time, and cookies in one order."""
    name, value = header
    if name == "cookie":
        value = "; ".join(sorted(value.split("; ")))
    if name == "authorization" and value.startswith("Digest "):
        value = "Digest " + ", ".join(sorted(re.sub(r'(cnonce|response)="\w+"', r'\1="…"', part) for part in re.split(r",\s*", value[7:])))
    return name, re.sub(r"boundary=[^;\s]+", "boundary=…", value)


def plain_body(request):
    """A body as text; of a form in parts, each part without what divides them."""
    boundary = re.search(r'boundary="?([^";]+)', request.header("content-type"))
    text = request.body.decode("utf-8", "backslashreplace")
    return text.replace(boundary[1], "…") if boundary else text


# Views: what is compared of requests, each with its line.


def in_order(asked):
    return [line for _, line in asked]


def in_any_order(asked):
    return sorted(line for _, line in asked)


def per_user(asked):
    """What came on each connection, in its order; which connection is whose is not."""
    ways = {}
    for request, line in asked:
        ways.setdefault(request.connection, []).append(line)
    return [line for way in sorted(ways.values()) for line in ["a user:", *way]]


def paths(asked):
    return [urlsplit(request.target).path for request, _ in asked]


def paths_in_any_order(asked):
    return sorted(paths(asked))


def counted(bounds, total=None):
    """How often each path was asked for: between two bounds, and all together."""

    def view(asked):
        found = Counter(paths(asked))
        lines = [
            f"{path}: {low} to {high} times" if low <= found[path] <= high else f"{path}: {found[path]} times" for path, (low, high) in bounds.items()
        ]
        return lines + [f"other paths: {sorted(set(found) - set(bounds))}", *([f"{len(asked)} in all"] if total else [])]

    return view


def each_round(size):
    """Rounds of so many requests, each in any order."""
    return lambda asked: [line for at in range(0, len(asked), size) for line in sorted(line for _, line in asked[at : at + size])]
