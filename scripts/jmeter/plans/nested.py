"""Every controller in every other one."""

from cases import one_user
from elements import *

# How each is written around samplers, and what it is; `place` makes its names its own.
CONTROLLERS = {
    "simple": ("GenericController", lambda place, *inner: simple(*inner)),
    "loop": ("LoopController", lambda place, *inner: loop(2, *inner)),
    "while": (
        "WhileController",
        lambda place, *inner: repeat_while(f"${{__jexl3(${{__jm__{place}__idx}} < 2,)}}", *inner, name=place),
    ),
    "if": ("IfController", lambda place, *inner: when("${yes}", *inner)),
    "if-each": ("IfController", lambda place, *inner: when("${yes}", *inner, each=True)),
    "for-each": ("ForeachController", lambda place, *inner: for_each("word", "w", *inner)),
    "once": ("OnceOnlyController", lambda place, *inner: once(*inner)),
    "transaction": ("TransactionController", lambda place, *inner: transaction(*inner)),
    "turns": ("InterleaveControl", lambda place, *inner: interleave(simple(*inner), get(f"/{place}/other"), style=1)),
    "switch": ("SwitchController", lambda place, *inner: switch("1", get("/never"), simple(*inner))),
    "share": ("ThroughputController", lambda place, *inner: share(*inner, percent=50.0)),
    "alone": ("CriticalSectionController", lambda place, *inner: critical(place, *inner)),
}


def within(outer):
    """A case of all controllers in this one."""
    make = CONTROLLERS[outer][1]
    # A section in a section of the same thread waits for itself nowhere, and is told here.
    others = [inner for inner in CONTROLLERS if (outer, inner) != ("alone", "alone")]
    inner = [CONTROLLERS[kind][1](f"{outer}_{kind}", get(f"/{kind}/a"), get(f"/{kind}/b")) for kind in others]
    classes = sorted({CONTROLLERS[kind][0] for kind in [outer, *others]})
    return one_user(
        f"all-in-{outer}",
        " ".join(classes),
        f"every controller in one of the kind {CONTROLLERS[outer][0]}",
        make(outer, *inner),
        get("/after"),
        loops=4,
        variables={"yes": "true", "word_1": "x", "word_2": "y"},
    )


CASES = [within(outer) for outer in CONTROLLERS]
