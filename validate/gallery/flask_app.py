"""A small Flask application, as the tutorial has it: its own development server, or two workers of gunicorn."""

import time

from flask import Flask, jsonify

app = Flask(__name__)


@app.get("/")
def index():
    time.sleep(0.02)
    return jsonify(hello="world" * 20)
