"""What a user's cache keeps, and what of that is asked for again."""

from cases import in_any_order, one_user, paths
from elements import *
from server import Answer, as_html, redirect


def cache(expires=False, **more):
    """A cache manager; with `expires` it does not ask again for what is fresh."""
    properties = {"clearEachIteration": False, "useExpires": expires, "CacheManager.controlledByThread": False, **more}
    return Element("CacheManager", "CacheManagerGui", "HTTP Cache Manager", properties)


def kept(**headers):
    return Answer(headers=[(name.replace("_", "-"), value) for name, value in headers.items()])


def which(asked):
    """The paths that were asked for at all."""
    return sorted(set(paths(asked)))


DATE = ("Date", "Tue, 14 Nov 2023 22:13:20 GMT")

CASES = [
    one_user(
        "cache-by-max-age",
        "CacheManager",
        "what is fresh by max-age is not asked for again; its own sampler, pauses and extractors are passed over",
        cache(True),
        get("/fresh", regex("code", "o(k)")),
        get("/fresh", regex("code", "(o)")),
        get("/stale"),
        get("/stale"),
        get("/after/${code}"),
        loops=2,
        answers={"/fresh": kept(Cache_Control="public, max-age=600", ETag='"f"'), "/stale": kept(Cache_Control="max-age=0", ETag='"s"')},
    ),
    one_user(
        "cache-by-expires",
        "CacheManager",
        "what is fresh by Expires, what is over, and what is no date",
        cache(True),
        *[get(path) for path in ["/far", "/past", "/none", "/both"] for _ in range(2)],
        answers={
            "/far": kept(Expires="Tue, 14 Nov 2090 22:13:20 GMT"),
            "/past": kept(Expires="Tue, 14 Nov 2023 22:13:20 GMT", ETag='"p"'),
            "/none": kept(Expires="0", ETag='"n"'),
            "/both": kept(Expires="Tue, 14 Nov 2090 22:13:20 GMT", Cache_Control="max-age=0"),
        },
    ),
    one_user(
        "cache-without-a-time",
        "CacheManager",
        "what says nothing about its time, or only when it last changed",
        cache(True),
        *[get(path) for path in ["/marked", "/changed", "/dated", "/plain", "/private", "/recheck"] for _ in range(2)],
        answers={
            "/marked": kept(ETag='"m"'),
            "/changed": kept(Last_Modified="Tue, 14 Nov 2023 22:13:20 GMT"),
            "/dated": Answer(headers=[DATE, ("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT")]),
            "/private": kept(Cache_Control="private"),
            "/recheck": kept(Cache_Control="no-cache", ETag='"r"'),
        },
    ),
    one_user(
        "cache-of-what-changes",
        "CacheManager",
        "marks that are others each time",
        cache(),
        *[get("/changing") for _ in range(3)],
        answers={"/changing": [kept(ETag=f'"{number}"') for number in range(3)]},
        differs="the marks that are sent are those of the last answer; JMeter keeps those of the first",
        loosely=paths,
    ),
    one_user(
        "cache-fresh-again",
        "CacheManager",
        "fresh, over, and fresh again",
        cache(True),
        get("/short"),
        get("/short", timer(1500)),
        get("/short"),
        get("/after"),
        answers={"/short": [kept(Cache_Control="max-age=1", ETag='"1"'), Answer("", status=304, headers=[("Cache-Control", "max-age=60")])]},
        differs="an answer that comes again is fresh again; JMeter keeps in mind when the first was over",
        loosely=which,
    ),
    one_user(
        "cache-not-kept",
        "CacheManager",
        "no-store, answers that failed, and those to POST",
        cache(True),
        *[get(path) for path in ["/secret", "/gone", "/moved"] for _ in range(2)],
        raw("POST", "/made", "x"),
        raw("POST", "/made", "x"),
        get("/made"),
        get("/made"),
        answers={
            "/secret": kept(Cache_Control="no-store, max-age=60", ETag='"x"'),
            "/gone": Answer(status=404, headers=[("ETag", '"g"'), ("Cache-Control", "max-age=60")]),
            "/moved": redirect("/there", headers=[("Cache-Control", "max-age=60")]),
            "/there": kept(Cache_Control="max-age=60"),
            "/made": kept(Cache_Control="max-age=60"),
        },
    ),
    one_user(
        "cache-of-other-methods",
        "CacheManager",
        "what other methods send of what a GET was answered",
        cache(),
        get("/made"),
        request("HEAD", "/made"),
        raw("POST", "/made", "x"),
        answers={"/made": kept(ETag='"m"')},
    ),
    one_user(
        "cache-vary",
        "CacheManager",
        "answers that differ by a header of the request",
        cache(True),
        get("/list", headers(("Accept", "text/html"))),
        get("/list", headers(("Accept", "text/html"))),
        get("/list", headers(("Accept", "text/csv"))),
        get("/list", headers(("Accept", "text/csv"))),
        get("/list", headers(("Accept", "text/html"))),
        get("/any", headers(("Accept", "text/html"))),
        get("/any", headers(("Accept", "text/html"))),
        answers={"/list": kept(Vary="Accept", Cache_Control="max-age=60"), "/any": kept(Vary="*", Cache_Control="max-age=60", ETag='"a"')},
    ),
    one_user(
        "cache-emptied",
        "CacheManager",
        "forgotten with each iteration",
        cache(True, clearEachIteration=True),
        get("/fresh"),
        get("/fresh"),
        get("/marked"),
        get("/marked"),
        loops=3,
        answers={"/fresh": kept(Cache_Control="max-age=600"), "/marked": kept(ETag='"m"', Cache_Control="no-cache")},
    ),
    one_user(
        "cache-embedded",
        "CacheManager",
        "what pages embed is asked for once",
        cache(True),
        get("/page", image_parser=True),
        get("/other", image_parser=True, concurrentDwn=True, concurrentPool="3"),
        get("/after"),
        loops=2,
        answers={
            "/page": as_html('<img src="/a.png"><link rel="stylesheet" href="/s.css">', headers=[("Cache-Control", "no-cache"), ("ETag", '"p"')]),
            "/other": as_html('<img src="/a.png"><img src="/b.png"><script src="/c.js"></script>', headers=[("Cache-Control", "no-cache")]),
            "/a.png": kept(Cache_Control="max-age=600"),
            "/s.css": Answer("@import 'more.css';", kind="text/css", headers=[("Cache-Control", "max-age=600")]),
            "/more.css": Answer("", kind="text/css", headers=[("ETag", '"m"'), ("Cache-Control", "no-cache")]),
            "/c.js": kept(ETag='"c"', Cache_Control="max-age=0"),
        },
        view=in_any_order,
    ),
    one_user(
        "cache-in-its-scope",
        "CacheManager",
        "samplers outside of its scope know nothing of it",
        simple(cache(), get("/kept"), get("/kept")),
        get("/kept"),
        answers={"/kept": kept(ETag='"1"')},
    ),
    one_user(
        "caches-of-several",
        "CacheManager",
        "several cache managers know each their own answers",
        simple(cache(), get("/kept"), get("/kept")),
        simple(cache(True), get("/kept"), get("/kept"), get("/fresh"), get("/fresh")),
        # JMeter forgets what is too much in a thread of its own, a moment later.
        simple(cache(maxSize=1), get("/fresh"), action(PAUSE, milliseconds="200"), get("/kept"), get("/kept")),
        loops=2,
        answers={"/kept": kept(ETag='"1"', Cache_Control="no-cache"), "/fresh": kept(ETag='"2"', Cache_Control="max-age=600")},
    ),
    one_user(
        "cache-of-one",
        "CacheManager",
        "one answer is known at most",
        cache(maxSize=1),
        get("/one"),
        get("/two"),
        get("/two"),
        answers={"/one": kept(ETag='"1"'), "/two": kept(ETag='"2"')},
    ),
    one_user(
        "cache-redirected",
        "CacheManager",
        "a redirect to what is fresh, and to what has a mark",
        cache(True),
        get("/from"),
        get("/from"),
        get("/marked"),
        get("/marked"),
        get("/after"),
        answers={
            "/from": redirect("/to"),
            "/to": kept(Cache_Control="max-age=600"),
            "/marked": redirect("/mark"),
            "/mark": kept(Cache_Control="no-cache", ETag='"m"'),
        },
    ),
]
