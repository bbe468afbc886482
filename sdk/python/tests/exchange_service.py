"""The service of an exchange: a transport of httpx that answers by the script, in virtual time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

import httpx
from exchange_file import BODIES, Members, base64url, merge, resolved

MIB = 2**20


class VirtualTime:
    """Stands for the modules ``time`` and ``threading`` of a client that one thread uses."""

    # 2026-02-03T04:05:06Z
    START = 1_770_091_506.0

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return self.START + self.now

    def sleep(self, seconds: float) -> None:
        # No wait leaves the time where it is, as rounding could.
        self.now += max(seconds, 1e-6)

    def condition(self, _lock: object) -> _Condition:
        return _Condition(self)


class _Condition:
    """Waits until its time is over: there is no other thread to end the wait."""

    def __init__(self, clock: VirtualTime) -> None:
        self._clock = clock

    def wait(self, timeout: float) -> None:
        self._clock.sleep(timeout)

    def notify(self) -> None:
        pass


@dataclass(frozen=True)
class Seen:
    line: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any
    at: float


Rendered = tuple[int, dict[str, str], str]


class ExchangeService(httpx.BaseTransport):
    def __init__(self, clock: VirtualTime) -> None:
        self._clock = clock
        self.seen: list[Seen] = []
        self.script: list[Members] = []
        """Answers to the next requests."""
        self.unexpected = 0
        """Requests beyond the script."""
        self._sent: dict[int, Rendered] = {}
        self._made = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        seen = self._note(request)
        if not self.script:
            self.unexpected += 1
            raise _broken()
        answer = self.script.pop(0)
        self._wait(answer.get("after", 0), request)
        fault = answer.get("fault")
        if fault == "refused":
            raise httpx.ConnectError("refused") from ConnectionRefusedError(
                111, "Connection refused"
            )
        if fault == "broken":
            raise _broken()
        if fault == "silent":
            self._wait(1e9, request)
        status, headers, text = self._sent[len(self.seen)] = self._rendered(answer, seen)
        return httpx.Response(status, headers=headers, stream=_Body(self, text, answer, request))

    def _note(self, request: httpx.Request) -> Seen:
        content = request.read()
        seen = Seen(
            f"{request.method} {request.url.path}",
            parse_qs(request.url.query.decode(), keep_blank_values=True),
            {name.lower(): value for name, value in request.headers.items()},
            json.loads(content) if content else None,
            self._clock.now,
        )
        self.seen.append(seen)
        return seen

    def _wait(self, seconds: float, request: httpx.Request) -> None:
        """Wait as a connection does: until the attempt is over at most."""
        if not seconds:
            return
        left = request.extensions["timeout"].get("read")
        self._clock.sleep(min(seconds, left))
        if seconds > left:
            raise httpx.ReadTimeout("no answer in time")

    def stall(self, request: httpx.Request) -> None:
        self._wait(1e9, request)

    def _rendered(self, answer: Members, seen: Seen) -> Rendered:
        own_id = seen.headers["x-request-id"]
        if "repeats" in answer:
            status, headers, text = self._sent[answer["repeats"]]
            own = {"x-request-id": own_id} if answer.get("echo") else {}
            return status, {**headers, **own}, text
        status, kind, text = self._content(answer)
        own = {} if "html" in answer else {"x-request-id": own_id}
        stated = {"content-type": kind, **own, **resolved(answer.get("headers", {}))}
        return status, {name: one for name, one in stated.items() if one is not None}, text

    def _content(self, answer: Members) -> tuple[int, str, str]:
        status = answer.get("status", 200)
        if "html" in answer:
            return answer["html"], "text/html", f"<h1>{answer['html']}</h1>"
        if "text" in answer or "fault" in answer:
            return status, "application/json", resolved(answer.get("text", ""))
        if "problem" in answer:
            problem = _problem(answer["problem"], answer.get("status"))
            body = resolved(merge(problem, answer.get("with", {})))
            return body["status"], "application/problem+json; charset=utf-8", json.dumps(body)
        body = {"success": True, **resolved(self._members(answer))}
        return status, "application/json", json.dumps(body)

    def _members(self, answer: Members) -> Members:
        """Return the members of a successful answer, without ``success``."""
        return _with(self._base(answer), answer.get("with", {}), answer.get("without", ()))

    def _base(self, answer: Members) -> Members:
        each, timestamp = answer.get("each", {}), BODIES["timestamp"]
        if "page" in answer:
            keys = [merge(numbered(BODIES["info"], one), each) for one in answer["page"]]
            return {"keys": keys, "next_cursor": answer.get("next"), "timestamp": timestamp}
        if "batch" in answer:
            numbers = answer["batch"]
            if isinstance(numbers, int):
                numbers = range(self._made + 1, self._made + 1 + numbers)
                self._made += len(numbers)
            form = BODIES[answer.get("of", "generated")]
            keys = [merge(numbered(form, one), each) for one in numbers]
            return {"keys": keys, "count": len(keys), "timestamp": timestamp}
        body: Members = BODIES[answer["body"]]
        return numbered(body, answer["number"]) if "number" in answer else body


class _Body(httpx.SyncByteStream):
    def __init__(
        self, service: ExchangeService, text: str, answer: Members, request: httpx.Request
    ) -> None:
        self._service, self._text, self._answer = service, text, answer
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        fault = self._answer.get("fault")
        if fault is None:
            for _ in range(self._answer.get("padding_mib", 0)):
                yield b" " * MIB
            yield self._text.encode()
            return
        yield b'{"success": true'
        if fault == "stalls":
            self._service.stall(self._request)
        raise _broken()


def _broken() -> httpx.RemoteProtocolError:
    return httpx.RemoteProtocolError("the server closed the connection")


def _with(body: Members, members: Members, without: Any) -> Members:
    changed = deepcopy(merge(body, members))
    for path in without:
        *names, last = path.split("/")
        parent: Any = changed
        for name in names:
            parent = parent[int(name) if isinstance(parent, list) else name]
        parent.pop(last, None)
    return changed


def numbered(body: Members, number: int) -> Members:
    """Return a body of the key with this number, of which no other has anything."""
    key_id = f"phm_{number}"
    over: Members = {"key_id": key_id}
    if "key" in body:
        over["key"] = (f"{number:08x}" * 12)[: len(body["key"])]
    if body.get("sealed_key"):
        over["sealed_key"] = {
            "enc": base64url(key_id.ljust(1_120, ".")),
            "ciphertext": base64url(key_id.ljust(240, ".")),
            "header": {"$base64url": {"key_id": key_id}},
        }
    if body.get("receipt"):
        over["receipt"] = {"statement": {"key_id": key_id}}
    if body.get("receipt_url"):
        over["receipt_url"] = f"/api/v2/keys/{key_id}/receipt"
    return merge(body, over)


def _problem(code: str, status: int | None) -> Members:
    """Return a problem document as the service writes it."""
    return {
        "success": False,
        "type": f"urn:phm:error:{code}",
        "title": "Title",
        "status": BODIES["statuses"][code] if status is None else status,
        "detail": "Do something.",
        "code": code,
        "help": f"docs/errors#{code}",
        "request_id": "of-the-body",
        "timestamp": BODIES["timestamp"],
    }
