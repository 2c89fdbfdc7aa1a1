"""A server on loopback that writes down what it is asked, and answers as a plan wants it."""

import hashlib
import json
import re
import socketserver
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit


@dataclass
class Request:
    """What was asked, on which connection and when."""

    connection: int
    method: str
    target: str
    headers: list
    body: bytes
    at: float

    def header(self, name):
        return next((value for known, value in self.headers if known == name), "")


@dataclass
class Answer:
    """What is answered, after so many seconds."""

    body: str | bytes = "ok"
    status: int = 200
    kind: str = "text/plain; charset=utf-8"
    headers: list = field(default_factory=list)
    after: float = 0


def as_json(value, **more):
    return Answer(json.dumps(value), kind="application/json", **more)


def as_html(body, **more):
    return Answer(body, kind="text/html; charset=utf-8", **more)


def as_xml(body, **more):
    return Answer(body, kind="application/xml", **more)


def packed(coding, body, **more):
    """These bytes, which are JSON when they are unpacked."""
    return Answer(body, kind="application/json", headers=[("Content-Encoding", coding)], **more)


def redirect(place, status=302, **more):
    return Answer("", status=status, headers=[("Location", place), *more.pop("headers", [])], **more)


def cookies(*values):
    return Answer(headers=[("Set-Cookie", value) for value in values])


def behind_basic(request):
    """For whoever says a login at all."""
    if request.header("authorization").startswith("Basic "):
        return Answer()
    return Answer(status=401, headers=[("WWW-Authenticate", 'Basic realm="plans"')])


def behind_digest(request):
    """For `ann` with `secret`, whose proof is reckoned here again."""
    said = dict(re.findall(r'(\w+)="?([^",]*)"?', request.header("authorization").removeprefix("Digest ")))

    def digest(*words):
        return hashlib.md5(":".join(words).encode()).hexdigest()

    if said:
        proofs = digest("ann", "plans", "secret"), digest(request.method, request.target)
        between = [said.get(name, "") for name in ("nonce", "nc", "cnonce", "qop")]
        if said.get("response") == digest(proofs[0], *between, proofs[1]):
            return Answer()
    return Answer(status=401, headers=[("WWW-Authenticate", 'Digest realm="plans", nonce="abc", qop="auth", algorithm=MD5')])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # One segment for each answer.
    wbufsize = -1
    disable_nagle_algorithm = True

    def reply(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = [(name.lower(), value) for name, value in self.headers.items()]
        request = Request(self.client_address[1], self.command, self.path, headers, body, time.monotonic())
        answer = self.server.note(request)
        time.sleep(answer.after)
        body = answer.body if isinstance(answer.body, bytes) else answer.body.encode()
        self.send_response_only(answer.status)
        for name, value in [("Content-Type", answer.kind), ("Content-Length", str(len(body))), *answer.headers]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_HEAD = do_TRACE = reply

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    """Listens on a free port. `answers` are by path: an answer, a list of them in turn (the last one goes on), or what makes one."""

    daemon_threads = True
    request_queue_size = 100

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.begin({})
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def begin(self, answers):
        """Forgets what was asked, and answers in this way from now on."""
        with self.lock:
            self.seen, self.answers, self.asked = [], answers, {}

    def note(self, request):
        path = urlsplit(request.target).path
        with self.lock:
            self.seen.append(request)
            answer = self.answers.get(path, Answer())
            turn = self.asked[path] = self.asked.get(path, -1) + 1
        if callable(answer):
            return answer(request)
        return answer[min(turn, len(answer) - 1)] if isinstance(answer, list) else answer

    def handle_error(self, request, client_address):
        # That a client goes away is no error.
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)
