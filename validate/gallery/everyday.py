"""Everyday servers of Python's standard library, by name: python3 everyday.py NAME. Each says where it listens.

None is made for a rule: each is a way in which people write servers, with the mistake that belongs to it.
"""

import os
import sqlite3
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

BODY = b"hello\n" * 20


class Plain(BaseHTTPRequestHandler):
    """Keeps connections; head and body in one write."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    # What a client sees of it is not to wait for Nagle's algorithm here.
    disable_nagle_algorithm = True

    def work(self):
        pass

    def do_GET(self):
        self.work()
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)
        self.wfile.flush()

    def log_message(self, *_):
        pass


class TwoWrites(Plain):
    """As the library does it: the head is one write, the body another."""

    wbufsize = 0
    disable_nagle_algorithm = False


class Closing(Plain):
    """A connection for each request."""

    protocol_version = "HTTP/1.0"


class Computing(Plain):
    """Works in Python for a millisecond or two, under the interpreter's lock."""

    def work(self):
        total = 0
        for number in range(20_000):
            total += number * number


class Writing(Plain):
    """Each request is a row that is on the disk when it is answered."""

    local = threading.local()
    database = ""

    def work(self):
        connection = getattr(self.local, "connection", None)
        if connection is None:
            connection = self.local.connection = sqlite3.connect(self.database, timeout=60, isolation_level=None)
            connection.execute("PRAGMA synchronous=FULL")
        connection.execute("INSERT INTO rows (text) VALUES (?)", (BODY.decode() * 40,))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024


def main():
    name = sys.argv[1]
    handler = {
        "two-writes": TwoWrites,
        "closing": Closing,
        "computing": Computing,
        "one-thread": Computing,
        "writing": Writing,
        "dying": Plain,
    }[name]
    if name == "writing":
        Writing.database = os.path.join(tempfile.mkdtemp(dir=os.environ.get("GALLERY_DIR", ".")), "rows.db")
        sqlite3.connect(Writing.database).execute("CREATE TABLE rows (text TEXT)")
    kind = HTTPServer if name == "one-thread" else Server
    server = kind(("127.0.0.1", 0), handler)
    print(f"http://127.0.0.1:{server.server_address[1]}/", flush=True)
    if name == "dying":
        # Long enough for whoever looks first, and well within a load.
        threading.Thread(target=lambda: (time.sleep(4), os._exit(1)), daemon=True).start()
    server.serve_forever()


main()
