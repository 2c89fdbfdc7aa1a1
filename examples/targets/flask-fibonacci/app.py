"""Fibonacci numbers over HTTP, in Flask, with a cache or without.

The recursion takes time that grows by 1.6 with each n: a stand-in for work that is worth remembering. The cache keeps answers, not
the steps of the recursion: a first answer costs the same with it.
"""

import os
from functools import lru_cache

from flask import Flask, jsonify, request

app = Flask(__name__)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


# The inner calls go to the plain function, whatever stands before it here.
answer = lru_cache(maxsize=1000)(fibonacci) if os.environ.get("CACHE") == "on" else fibonacci


@app.get("/fibonacci")
def get():
    try:
        n = int(request.args["n"])
    except (KeyError, ValueError):
        n = -1
    if not 0 <= n <= 30:
        return jsonify(error="n is a whole number from 0 to 30"), 400
    return jsonify(n=n, fibonacci=answer(n))
