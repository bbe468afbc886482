"""The scripted exchanges of sdk/exchanges, which the TypeScript client makes too.

No exchange takes wall time, opens a socket or starts a thread.
"""

from __future__ import annotations

import base64
import re
import threading
import traceback
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from conftest import API_KEY
from exchange_file import BODIES, Members, exchanges, resolved
from exchange_service import ExchangeService, Seen, VirtualTime

import phm_client
from phm_client import Deliver, DeliverBatch, Limit, PhmClient, PhmError, Recipient
from phm_client.turns import Turns

# Calls that send no API key.
OPEN = ("health", "receipt_by_commitment")
# Calls with one request for each batch or page.
SEVERAL = ("generate_batch", "generate_sealed_batch", "list_keys", "more")

SLACK = 0.005

ACTIVE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u3164\ufe0f\U000e0000-\U000e007f]"
)

EXCHANGES = exchanges()


@pytest.mark.parametrize(
    "exchange", EXCHANGES, ids=[f"{e['file']}: {e['name']}" for e in EXCHANGES]
)
def test_exchange(exchange: Members, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = VirtualTime()
    for module in ("transport", "turns", "deadline", "retry"):
        monkeypatch.setattr(f"phm_client.{module}.time", clock)
    threads = SimpleNamespace(Lock=threading.Lock, Condition=clock.condition)
    monkeypatch.setattr("phm_client.turns.threading", threads)
    number = exchange.get("random", 0.0)
    monkeypatch.setattr("phm_client.transport._random", lambda: number)
    monkeypatch.setattr(Turns.__init__, "__defaults__", (lambda: number,))
    _Run(exchange, clock).all()


class _Run:
    def __init__(self, exchange: Members, clock: VirtualTime) -> None:
        self._exchange = exchange
        self._clock = clock
        self._service = ExchangeService(clock)
        given = {"api_key": API_KEY, **exchange.get("client", {})}
        options = {name: value for name, value in given.items() if value is not None}
        http = httpx.Client(transport=self._service, trust_env=False)
        self._phm = PhmClient(
            f"http://keys.example{options.pop('base_path', '')}",
            http_client=http,
            **options,
        )
        self._iterator: Iterator[Any] = iter(())

    def all(self) -> None:
        for step in self._exchange["steps"]:
            for _ in range(step.get("times", 1)):
                self._step(step)
        ids = [one.headers["x-request-id"] for one in self._service.seen]
        assert len(set(ids)) == len(ids)

    def _step(self, step: Members) -> None:
        service, clock = self._service, self._clock
        first, since = len(service.seen), clock.now
        service.script = list(step.get("answers", ()))
        value: Any = None
        error: Exception | None = None
        try:
            value = self._call(step)
        except (PhmError, TypeError, ValueError) as caught:
            error = caught
        sent = service.seen[first:]
        assert service.unexpected == 0, f"more was sent than the script has answers for: {error!r}"
        assert service.script == [], f"answers were not asked for: {error!r}"
        _check_requests(step, sent)
        if "at" in step:
            assert [one.at - since for one in sent] == pytest.approx(step["at"], abs=SLACK)
        if "ends" in step:
            assert clock.now - since == pytest.approx(step["ends"], abs=SLACK)
        if "limits" in step:
            assert _limits_of(self._phm) == step["limits"]
        if step.get("fails"):
            assert error is not None, f"the call did not fail: {value!r}"
            _check_failure(step["fails"], error, sent[-1] if sent else None)
            return
        if error is not None:
            raise error
        if "count" in step:
            assert len(value) == step["count"]
        if "returns" in step:
            _has(value, resolved(step["returns"]), "")

    def _call(self, step: Members) -> Any:
        name, read = step["call"], step.get("read")
        if name == "more":
            return list(islice(self._iterator, read))
        made = attrgetter(name)(self._phm)(**_arguments(resolved(step.get("args", {}))))
        if not isinstance(made, Iterator):
            return made
        self._iterator = made
        return list(islice(made, read))


def _arguments(given: Members) -> Members:
    """Return arguments in the types of this client."""
    arguments = dict(given)
    for name in ("expires_at", "created_after", "created_before", "expires_before"):
        if isinstance(arguments.get(name), str):
            arguments[name] = datetime.fromisoformat(arguments[name].replace("Z", "+00:00"))
    if "deliver" in arguments:
        arguments["deliver"] = _deliver(**arguments["deliver"])
    seal_to = arguments.get("seal_to")
    if isinstance(seal_to, list):
        arguments["seal_to"] = [_seal_to(one) for one in seal_to]
    elif isinstance(seal_to, dict):
        arguments["seal_to"] = _seal_to(seal_to)
    return arguments


def _seal_to(member: dict[str, str]) -> Recipient | str:
    return member.get("recipient") or _recipient(**member)


def _deliver(**given: Any) -> Deliver | DeliverBatch:
    kept = {"keep_for": given["for"]} if "for" in given else {}
    return DeliverBatch(given["ids"], **kept) if "ids" in given else Deliver(given["id"], **kept)


def _recipient(suite: str, public_key: str) -> Recipient:
    return Recipient(suite, base64.urlsafe_b64decode(public_key + "=="))  # type: ignore[arg-type]


def _limits_of(phm: PhmClient) -> Members:
    def one(limit: Limit | None) -> Members | None:
        if limit is None:
            return None
        return {
            "limit": limit.limit,
            "remaining": limit.remaining,
            "window": limit.window_seconds,
            "reset": limit.reset_seconds,
        }

    return {"quota": one(phm.last_limits.quota), "rate": one(phm.last_limits.rate)}


def _check_requests(step: Members, sent: list[Seen]) -> None:
    for request in sent:
        _check_request(request, step["call"], step.get("args", {}))
    if step["call"] not in SEVERAL:
        for request in sent:
            assert _plain(request) == _plain(sent[0])
    if "sends" not in step:
        return
    given = step["sends"]
    expected = given if isinstance(given, list) else [given] * len(sent)
    assert len(expected) == len(sent)
    for one, request in zip(expected, sent, strict=True):
        _check_sent(one, request)


def _plain(request: Seen) -> tuple[Any, ...]:
    """Return what is the same in every attempt."""
    return request.line, request.query, {**request.headers, "x-request-id": ""}, request.body


def _check_request(request: Seen, call: str, args: Members) -> None:
    """Check what is true of every request."""
    headers = request.headers
    label = f"{args['request_id']}." if "request_id" in args else ""
    request_id = headers["x-request-id"]
    assert request_id.startswith(label)
    rest = request_id.removeprefix(label)
    assert re.fullmatch(r"[0-9a-f]{16}" if label else r"[0-9a-f]{32}|.*\..*", rest)
    assert headers.get("x-api-key") == (None if call in OPEN else API_KEY)
    assert headers["accept-encoding"] == "identity"
    assert headers.get("content-type") == (None if request.body is None else "application/json")


def _check_sent(expected: Members, request: Seen) -> None:
    if "line" in expected:
        assert request.line == expected["line"]
    if "query" in expected:
        lists = {
            name: one if isinstance(one, list) else [one] for name, one in expected["query"].items()
        }
        assert request.query == lists
    if "body" in expected:
        assert request.body == resolved(expected["body"])
    for name, text in expected.get("headers", {}).items():
        actual = request.headers.get(name)
        if isinstance(text, str) and text.startswith("/"):
            assert actual is not None
            assert re.search(text[1:-1], actual)
        else:
            assert actual == text


NAMES = {"retry_after": "retry_after_seconds", "timeout": "timeout_seconds", "why": "code"}


def _check_failure(expected: Members, error: Exception, last: Seen | None) -> None:
    """Check an error, and that it shows no secret and no character that acts on a terminal."""
    members = dict(expected)
    kind = members.pop("class")
    if kind == "argument":
        assert isinstance(error, (TypeError, ValueError)), repr(error)
    else:
        assert type(error) is getattr(phm_client, kind), repr(error)
    message = members.pop("message", "")
    assert re.search(message if isinstance(message, str) else message["python"], str(error))
    for name in ("request_id", "idempotency_key"):
        if members.get(name) == "$sent":
            assert last is not None
            members[name] = last.headers[name.replace("_", "-").replace("request", "x-request")]
    for name, value in members.items():
        _has(getattr(error, NAMES.get(name, name), None), value, name)
    shown = _everything_of(error)
    assert API_KEY not in shown
    assert BODIES["key"][32:] not in shown
    assert not ACTIVE.search(str(error))


def _everything_of(error: BaseException) -> str:
    """Return all that a log or a debugger's summary would show of an error."""
    seen = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    for linked in (error.__cause__, error.__context__):
        if linked is not None:
            # The errors of httpx hold the request.
            assert not hasattr(linked, "request")
            seen += [_everything_of(linked), repr(vars(linked))]
    return "\n".join(seen)


def _has(value: Any, expected: Any, at: str) -> None:
    """Assert that a value has the expected members, and others as well; a list has no others."""
    if isinstance(expected, dict):
        for name, one in expected.items():
            got = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
            _has(got, one, f"{at}/{name}")
    elif isinstance(expected, list):
        assert len(value) == len(expected), at
        for i, (got, one) in enumerate(zip(value, expected, strict=True)):
            _has(got, one, f"{at}/{i}")
    elif isinstance(value, datetime):
        assert value == datetime.fromisoformat(expected.replace("Z", "+00:00")), at
    else:
        assert value == expected, at
        assert isinstance(value, bool) == isinstance(expected, bool), at
