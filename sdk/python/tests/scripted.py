"""A scripted server on real sockets that plays the service, or a proxy in front of it."""

from __future__ import annotations

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
SEALED_KEY: dict[str, Any] = {
    "suite": "MLKEM768-X25519",
    "kem_id": 25722,
    "kdf_id": 1,
    "aead_id": 2,
    "enc": "AA",
    "ciphertext": "AA",
    "header": "AA",
}
SEALED: dict[str, Any] = {
    **{name: value for name, value in GENERATED.items() if name not in ("key", "hash_proof")},
    "sealed_key": SEALED_KEY,
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


Step = Callable[[BaseHTTPRequestHandler], None]


class ScriptedServer:
    """Answers the first request by the first step and so on; the last step repeats for ever."""

    def __init__(self, *steps: Step) -> None:
        self.received: list[Received] = []
        lock = threading.Lock()
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with lock:
                    received.append(
                        Received(self.command, self.path, headers, body, time.monotonic())
                    )
                    step = steps[min(len(received), len(steps)) - 1]
                step(self)

            do_GET = do_POST = handle_any

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.socket.close()


def sends(status: int, body: bytes, headers: Mapping[str, str]) -> Step:
    def step(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return step


def answers(body: Mapping[str, Any] = ANYTHING, **headers: str) -> Step:
    """A good answer of the service."""
    content = json.dumps({"success": True, **body}).encode()
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return sends(200, content, {**kind, **_named(headers)})


def batch(*numbers: int, form: Mapping[str, Any] = GENERATED) -> Step:
    """A batch whose keys have these numbers."""
    keys = [{**form, "key_id": f"phm_{number}"} for number in numbers]
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
    kind = {"Content-Type": "application/problem+json", "X-Request-Id": "request-of-the-test"}
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
