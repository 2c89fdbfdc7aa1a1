"""The sum of two numbers, over HTTP, in Flask.

What a route does is nothing; so what is measured is what Flask and the server that runs it take for a request.
"""

from flask import Flask, jsonify, request

app = Flask(__name__)


@app.get("/get_result")
def get_result():
    try:
        a, b = int(request.args["a"]), int(request.args["b"])
    except (KeyError, ValueError):
        return jsonify(error="a and b are whole numbers"), 400
    return jsonify(result=a + b)
