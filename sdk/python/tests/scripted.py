"""A scripted server on real sockets that plays the service, or a proxy in front of it."""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "64f48946bc0f783ed7e06e86d8c2a30bea09f5472b2c69c850793f2a4d7161dc"
TIMESTAMP = "2026-01-31T12:00:00.000+00:00"

GENERATED: dict[str, Any] = {
    "key_id": "phm_2170353998975470955695595929441419327",
    "key": KEY,
    "security_level": 256,
    "security_strength_bits": 256,
    "entropy_bits": 254.78,
    "latency_ms": 2,
    "timestamp": TIMESTAMP,
    "source": "os",
    "quantum_hardware": False,
    "entropy_job_id": None,
    "hash_proof": "proof_1",
}
VALIDATION: dict[str, Any] = {
    "nist_validation": {
        "certification_status": "PASS",
        "tests_passed": 15,
        "total_tests": 15,
        "compliance_level": "CERTIFICATION_READY",
    },
    "nist_score": 100,
    "nist_grade": "A",
}
OPENING = "WlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlpaWlo="
RECEIPT: dict[str, Any] = {
    "statement": {
        "type": "phm-key-receipt/v1",
        "service": "phm.invalid/1",
        "key_id": "phm_2170353998975470955695595929441419327",
        "time": TIMESTAMP,
        "security_level": 256,
        "security_strength_bits": 256,
        "key_commitment": OPENING,
        "evidence": {
            "digest": f"sha256:{'0' * 64}",
            "verdict": "PASS",
            "tests_passed": 15,
            "total_tests": 15,
        },
        "modulation": "phase",
        "sources": [{"name": "os", "credit_bits": 256}, {"name": "jitter", "credit_bits": 12.5}],
        "row_digest": OPENING,
        "sealed_to": None,
        "sealed_digest": None,
        "software": "phm-key-service/0.1.0+0123456789abcdef",
        "salt": OPENING,
    },
    "proof": "c2sp.org/tlog-proof@v1\nindex 0\n\n",
}
RECEIPTED: dict[str, Any] = {
    "receipt": RECEIPT,
    "receipt_url": "/api/v2/keys/phm_2170353998975470955695595929441419327/receipt",
    "opening": OPENING,
}
SUITE: dict[str, Any] = {"kem_id": 25722, "kdf_id": 1, "aead_id": 2}
ENC = base64.urlsafe_b64encode(bytes(1120)).decode().rstrip("=")
SEALED: dict[str, Any] = {
    **{name: value for name, value in GENERATED.items() if name not in ("key", "hash_proof")},
    "sealed_key": None,
}
METRICS: dict[str, Any] = {
    "metrics": {
        "performance": {
            "total_keys_generated": 1,
            "average_latency_ms": 2.5,
            "nist_compliance_rate": 1,
            "error_rate": 0,
        },
        "usage": {"api_key_count": 1, "total_usage": 1},
    },
    "timestamp": TIMESTAMP,
}
VALID: dict[str, Any] = {
    "valid": True,
    "validation_details": {
        "key_format": "valid",
        "entropy_check": "passed",
        "proof_verification": "passed",
    },
    "timestamp": TIMESTAMP,
}
HEALTH: dict[str, Any] = {"status": "ok", "timestamp": TIMESTAMP}

# A good answer to any call: what a client does not know, it leaves out.
ANYTHING = {**GENERATED, **VALIDATION, **METRICS, **VALID, **HEALTH}


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    port: int
    """The client's, which tells connections apart."""


Step = Callable[[BaseHTTPRequestHandler], None]


class ScriptedServer:
    """Answers the first request by the first step and so on; the last step repeats for ever."""

    def __init__(self, *steps: Step, port: int = 0) -> None:
        self.received: list[Received] = []
        lock = threading.Lock()
        received = self.received

        ids: set[str] = set()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            made = ids

            asked = b""

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with lock:
                    port = self.client_address[1]
                    received.append(
                        Received(self.command, self.path, headers, body, time.monotonic(), port)
                    )
                    step = steps[min(len(received), len(steps)) - 1]
                self.asked = body
                step(self)

            do_GET = do_POST = handle_any

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._server.socket.listen(128)
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.socket.close()


def sends(status: int, body: bytes, headers: Mapping[str, str]) -> Step:
    def step(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        own = {name.lower(): value for name, value in headers.items()}
        echo = handler.headers.get("x-request-id", "of-the-service")
        sent = {"content-length": str(len(body)), "x-request-id": echo, **own}
        for name, value in sent.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return step


def answers(body: Mapping[str, Any] = ANYTHING, **headers: str) -> Step:
    """A good answer of the service. Keys in it are as they were asked for, and none comes twice."""

    def step(handler: BaseHTTPRequestHandler) -> None:
        content = json.loads(json.dumps(body))
        asked = asked_of(handler)
        if "security_level" in asked and "key_id" in content:
            number_anew(content, getattr(handler, "made", set()))
        fit_key(content, asked)
        for key in content.get("keys", ()):
            fit_key(key, asked)
        exactly(content, **headers)(handler)

    return step


def exactly(body: Mapping[str, Any], **headers: str) -> Step:
    """A successful answer with these members, whatever was asked."""
    content = json.dumps({"success": True, **body}).encode()
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return sends(200, content, {**kind, **_named(headers)})


def number_anew(key: dict[str, Any], made: set[str]) -> None:
    """Give a key another ID if the server has made one with this ID."""
    old = key["key_id"]
    while key["key_id"] in made:
        key["key_id"] = f"phm_{int(key['key_id'][4:]) + 1}"
    made.add(key["key_id"])
    if key.get("receipt"):
        key["receipt"]["statement"]["key_id"] = key["key_id"]
    if key.get("receipt_url"):
        key["receipt_url"] = key["receipt_url"].replace(old, key["key_id"])


def fit_key(key: dict[str, Any], asked: Mapping[str, Any]) -> None:
    """Change a generated key into one that was asked for, but for what a test has set."""
    level = asked.get("security_level")
    if level not in (128, 256, 384) or not ("key" in key or "sealed_key" in key):
        return
    key["security_level"] = level
    for name in ("labels", "expires_at"):
        if name in asked:
            key.setdefault(name, asked[name])
    if isinstance(key.get("key"), str):
        key["key"] = (key["key"] * 2)[: level // 4]
    if key.get("sealed_key", "") is None:
        key["sealed_key"] = sealed_key(key["key_id"], level, asked["seal_to"])


def sealed_key(key_id: str, level: int, seal_to: Mapping[str, str]) -> dict[str, Any]:
    """A sealed key whose header is right, and whose ciphertext nobody can open."""
    public_key = base64.urlsafe_b64decode(seal_to.get("public_key", "") + "==")
    header = {
        "type": "phm-sealed-key/v1",
        "service": None,
        "key_id": key_id,
        "security_level": level,
        "time": TIMESTAMP,
        **SUITE,
        "thumbprint": base64.b64encode(hashlib.sha256(public_key).digest()).decode(),
        "key_commitment": OPENING,
    }
    text = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    return {
        "suite": "MLKEM768-X25519",
        **SUITE,
        "enc": ENC,
        "ciphertext": base64.urlsafe_b64encode(key_id.encode().ljust(240, b".")).decode(),
        "header": base64.urlsafe_b64encode(text).decode().rstrip("="),
    }


def asked_of(handler: BaseHTTPRequestHandler) -> dict[str, Any]:
    """The members of the request's body."""
    body: bytes = getattr(handler, "asked", b"")
    return json.loads(body) if body else {}


def batch(*numbers: int, form: Mapping[str, Any] = GENERATED) -> Step:
    """A batch whose keys have these numbers."""
    keys = [{**form, "key_id": f"phm_{number}"} for number in numbers]
    for number, key in zip(numbers, keys, strict=True):
        if "key" in key:
            # Distinct; all lengths of a key are cut from it.
            key["key"] = (f"{number:08x}" * 12)[:64]
    return answers({"timestamp": TIMESTAMP, "count": len(keys), "keys": keys})


def fails(
    code: str,
    status: int = 503,
    errors: Any = None,
    more: Mapping[str, Any] | None = None,
    **headers: str,
) -> Step:
    """An error of the service, with further members of its problem."""
    body = {
        "success": False,
        "type": f"urn:phm:error:{code}",
        "title": "Title",
        "status": status,
        "detail": "Do something.",
        "code": code,
        "request_id": "request-of-the-test",
        "timestamp": TIMESTAMP,
    }
    body.update(more or {})
    if errors is not None:
        body["errors"] = errors
    kind = {"Content-Type": "application/problem+json"}
    return sends(status, json.dumps(body).encode(), {**kind, **_named(headers)})


def page(status: int, **headers: str) -> Step:
    """A page, as proxies answer."""
    body = f"<html><h1>{status}</h1></html>".encode()
    return sends(status, body, {"Content-Type": "text/html", **_named(headers)})


def breaks(handler: BaseHTTPRequestHandler) -> None:
    """The connection goes without an answer."""
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def half(handler: BaseHTTPRequestHandler) -> None:
    """The connection goes in the middle of the answer."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100")
    handler.end_headers()
    handler.wfile.write(b'{"success": true')
    breaks(handler)


def stays_silent(handler: BaseHTTPRequestHandler) -> None:
    """No answer while the client waits."""
    handler.connection.settimeout(30)
    handler.rfile.read(1)


def drips(handler: BaseHTTPRequestHandler) -> None:
    """A body that never ends, a byte at a time."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    try:
        for _ in range(1000):
            handler.wfile.write(b" ")
            time.sleep(0.05)
    except OSError:
        handler.close_connection = True


def _named(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
