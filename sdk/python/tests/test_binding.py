"""Each response belongs to its request: behind a peer that repeats or shifts responses, too."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from typing import Any

import pytest
from conftest import API_KEY
from scripted import (
    ENC,
    GENERATED,
    KEY,
    RECEIPT,
    RECEIPTED,
    SEALED,
    TIMESTAMP,
    ScriptedServer,
    Step,
    answers,
    batch,
    exactly,
    fails,
    sealed_key,
    sends,
)
from test_key_records import RECORD, keys

from phm_client import PhmApiError, PhmClient, PhmError, PhmResponseError, Recipient

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

RECIPIENT = Recipient("MLKEM768-X25519", b"\x01" + bytes(1215))
EXPIRES = datetime(2027, 1, 31, 12, tzinfo=timezone.utc)


class KeepAlivePeer:
    """A peer on one connection after the other that sends responses of earlier requests."""

    def __init__(self, service: Callable[[int, dict[str, str]], bytes], shift: int) -> None:
        self._service, self._shift = service, shift
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        number = 0
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            earlier: list[bytes] = []
            with connection, connection.makefile("rb") as requests:
                while True:
                    headers = self._read(requests)
                    if headers is None:
                        break
                    number += 1
                    earlier.append(self._service(number, headers))
                    connection.sendall(earlier[max(0, len(earlier) - 1 - self._shift)])

    @staticmethod
    def _read(requests: Any) -> dict[str, str] | None:
        if not requests.readline():
            return None
        headers: dict[str, str] = {}
        while (line := requests.readline().decode().strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        requests.read(int(headers.get("content-length", 0)))
        return headers

    def stop(self) -> None:
        self._listener.close()


def generated(number: int, headers: dict[str, str]) -> bytes:
    key = {**GENERATED, "success": True, "key_id": f"phm_{number}", "key": f"{number:064x}"}
    body = json.dumps(key).encode()
    head = f"HTTP/1.1 200 OK\r\nX-Request-Id: {headers['x-request-id']}\r\nContent-Length: "
    return f"{head}{len(body)}\r\n\r\n".encode() + body


@pytest.fixture
def peer() -> Iterator[Callable[[int], KeepAlivePeer]]:
    peers: list[KeepAlivePeer] = []

    def start(shift: int) -> KeepAlivePeer:
        peers.append(KeepAlivePeer(generated, shift))
        return peers[-1]

    yield start
    for one in peers:
        one.stop()


@pytest.mark.parametrize("shift", [1, 2, 5])
def test_no_call_returns_a_key_that_an_earlier_call_had(
    peer: Callable[[int], KeepAlivePeer], shift: int
) -> None:
    shifted = peer(shift)
    phm = PhmClient(shifted.address, API_KEY)
    got: list[str] = []
    found: set[tuple[str, bool, bool]] = set()
    for _ in range(60):
        try:
            got.append(phm.generate(256, request_id="same").key_id)
        except PhmResponseError as error:
            found.add((error.code, error.outcome_unknown, "belongs to another" in str(error)))
    assert found == {("another_request", True, True)}
    assert len(set(got)) == len(got) == 30
    # Each finding ends its connection: the next call gets its own key.
    assert shifted.connections in (30, 31)


def test_a_response_without_the_id_is_not_used(answered: Answered) -> None:
    body = json.dumps({**GENERATED, "success": True}).encode()
    phm, server = answered(sends(200, body, {"X-Request-Id": ""}), answers())
    with pytest.raises(PhmResponseError) as caught:
        phm.generate(256)
    assert (caught.value.code, caught.value.outcome_unknown) == ("another_request", True)
    assert "has no X-Request-Id" in str(caught.value)
    assert caught.value.request_id == server.received[0].headers["x-request-id"]
    assert KEY not in str(caught.value)
    phm.generate(256)
    assert len({one.port for one in server.received}) == 2


def test_refusals_need_no_id_if_they_end_the_connection_or_a_proxy_makes_them(
    answered: Answered,
) -> None:
    """The service gives an ID of its own to a request that it cannot parse."""
    closes = fails("malformed_request", 400, x_request_id="new", connection="close")
    phm, _ = answered(closes, fails("payload_too_large", 413, x_request_id=""))
    for code in ("malformed_request", "payload_too_large"):
        with pytest.raises(PhmApiError) as caught:
            phm.generate(256)
        assert (caught.value.code, caught.value.outcome_unknown) == (code, False)


def test_no_key_comes_twice_though_the_id_is_repeated(answered: Answered) -> None:
    phm, server = answered(answers(), exactly(GENERATED), batch(1, 2), batch(2, 3))
    phm.generate(256)
    refused(lambda: phm.generate(256), "it has a key of an earlier call")
    refused(
        lambda: list(phm.generate_batch(256, count=4, chunk=2)), "it has a key of an earlier call"
    )
    assert len({one.port for one in server.received}) == 2


def test_a_replayed_sealed_key_comes_again(answered: Answered) -> None:
    phm, _ = answered(exactly(of()), exactly(of(), idempotent_replayed="true"), exactly(of()))

    def call() -> str:
        return phm.generate_sealed(256, seal_to=RECIPIENT, idempotency_key="mine").key_id

    assert call() == call()
    refused(call, "it has a key of an earlier call")


def test_a_refusal_of_another_request_leaves_the_outcome_unknown(answered: Answered) -> None:
    """Otherwise the client would send a generate again whose key was made."""
    other = fails("overloaded", retry_after="0", x_request_id="another")
    phm, server = answered(other, answers())
    with pytest.raises(PhmResponseError) as caught:
        phm.generate(256)
    assert (caught.value.code, caught.value.outcome_unknown) == ("another_request", True)
    phm.generate(256)
    assert len({one.port for one in server.received}) == 2


GENERATES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "level": ({}, {"security_level": 128}, "its security_level is another"),
    "label": ({"labels": {"a": "b"}}, {"labels": {"a": "c"}}, "its labels are others"),
    "no label": ({"labels": {"a": "b"}}, {}, "its labels are others"),
    "more labels": ({}, {"labels": {"a": "b"}}, "its labels are others"),
    "expiry": ({}, {"expires_at": TIMESTAMP}, "its expires_at is another"),
    "no expiry": ({"expires_at": EXPIRES}, {}, "its expires_at is another"),
    "source": ({"entropy_source": "jitter"}, {}, "its source is another"),
    "key": ({}, {"key": KEY[:62]}, "its key does not have security_level bits"),
    "text": ({}, {"key": "g" * 64}, "its key does not have security_level bits"),
    "receipt": ({"include": "receipt"}, {}, "it has no receipt_url"),
    "unasked": ({}, RECEIPTED, "it has a receipt_url"),
    "opening": (
        {"include": "receipt"},
        {"receipt_url": RECEIPTED["receipt_url"], "receipt": None},
        "it has no opening",
    ),
    "of another": (
        {"include": "receipt"},
        {**RECEIPTED, "key_id": "phm_9", "receipt_url": "/api/v2/keys/phm_9/receipt"},
        "its receipt is about another key",
    ),
    "URL of another": (
        {"include": "receipt"},
        {**RECEIPTED, "receipt_url": "/api/v2/keys/phm_9/receipt"},
        "its receipt_url is of another key",
    ),
}


@pytest.mark.parametrize(("asked", "answer", "words"), GENERATES.values(), ids=GENERATES)
def test_a_key_is_as_it_was_asked_for(
    answered: Answered, asked: Any, answer: Any, words: str
) -> None:
    phm, server = answered(exactly({**GENERATED, **answer}), answers())
    refused(lambda: phm.generate(256, **asked), words)
    phm.generate(256)
    assert len({one.port for one in server.received}) == 2


def refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(PhmResponseError) as caught:
        call()
    assert caught.value.code == "another_request"
    assert f"belongs to another request: {words}" in str(caught.value)
    assert KEY not in str(caught.value)


def of(key_id: str = SEALED["key_id"], level: int = 256, to: str = "AQ" + "A" * 1620) -> Any:
    return {**SEALED, "sealed_key": sealed_key(key_id, level, {"public_key": to})}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (of(key_id="phm_9"), "its sealed_key is another key"),
        (of(level=128), "its sealed_key is another key"),
        (of(to="AQ"), "its sealed_key is for another recipient"),
        ({**SEALED, "sealed_key": {**of()["sealed_key"], "header": "AA"}}, "its sealed_key cannot"),
        ({**SEALED, "sealed_key": {**of()["sealed_key"], "enc": ENC[:-2]}}, "its sealed_key canno"),
    ],
)
def test_a_sealed_key_is_for_its_recipient(answered: Answered, answer: Any, words: str) -> None:
    phm, _ = answered(exactly(answer))
    refused(lambda: phm.generate_sealed(256, seal_to=RECIPIENT), words)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (batch(1), "it has another number of keys"),
        (batch(1, 2, 3), "it has another number of keys"),
        (batch(1, 1), "it has a key_id twice"),
        (
            answers({"timestamp": TIMESTAMP, "count": 2, "keys": [GENERATED]}),
            "it has another number of keys",
        ),
        (
            answers(
                {
                    "timestamp": TIMESTAMP,
                    "count": 2,
                    "keys": [{**GENERATED, "key_id": "phm_1"}, {**GENERATED, "key_id": "phm_2"}],
                }
            ),
            "it has a key twice",
        ),
    ],
)
def test_a_batch_has_as_many_distinct_keys_as_were_asked_for(
    answered: Answered, step: Step, words: str
) -> None:
    phm, _ = answered(step)
    refused(lambda: list(phm.generate_batch(256, count=2)), words)


def test_each_key_of_a_batch_is_as_it_was_asked_for(answered: Answered) -> None:
    phm, _ = answered(batch(1, 2, form={**GENERATED, "labels": {"a": "c"}}))
    refused(lambda: list(phm.generate_batch(256, count=2)), "its labels are others")


def record(**members: Any) -> Step:
    return answers({"key": {**RECORD, **members}, "timestamp": TIMESTAMP})


def test_a_record_is_the_one_that_was_asked_for(answered: Answered) -> None:
    phm, _ = answered(record(key_id="phm_2"))
    refused(lambda: phm.get_key("phm_1"), "it is about another key")
    refused(lambda: phm.revoke_key("phm_1", "superseded"), "it is about another key")
    phm, _ = answered(answers({"receipt": RECEIPT, "timestamp": TIMESTAMP}))
    refused(lambda: phm.receipt("phm_1"), "its receipt is about another key")


def test_a_receipt_has_the_commitment_that_was_asked_for(answered: Answered) -> None:
    phm, server = answered(answers({"receipt": RECEIPT, "timestamp": TIMESTAMP}))
    key_id, commitment = (RECEIPT["statement"][name] for name in ("key_id", "key_commitment"))
    assert phm.receipt_by_commitment(key_id, commitment).receipt.proof == RECEIPT["proof"]
    request = server.received[0]
    assert json.loads(request.body) == {"key_id": key_id, "key_commitment": commitment}
    assert "x-api-key" not in request.headers
    other = commitment[::-1].lstrip("=")[:42] + "A="
    words = "its receipt is about another key"
    refused(lambda: phm.receipt_by_commitment(key_id, other), words)
    refused(lambda: phm.receipt_by_commitment("phm_1", commitment), words)


REVOKED = {"status": "deactivated", "revoked_at": TIMESTAMP, "revocation_reason": "superseded"}


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, "the key in it is not revoked"),
        ({**REVOKED, "status": "active"}, "the key in it is not revoked"),
        ({**REVOKED, "revoked_at": None}, "the key in it is not revoked"),
        ({**REVOKED, "revocation_reason": None}, "the key in it is not revoked"),
        (REVOKED, "the key in it is not compromised"),
    ],
)
def test_a_revoked_key_is_revoked(answered: Answered, members: Any, words: str) -> None:
    phm, _ = answered(record(**members))
    refused(lambda: phm.revoke_key("phm_1", "key_compromise"), words)


def test_a_key_that_was_revoked_before_keeps_its_reason(answered: Answered) -> None:
    compromised = {**REVOKED, "status": "compromised", "revocation_reason": "key_compromise"}
    phm, _ = answered(record(**compromised))
    assert phm.revoke_key("phm_1", "superseded").status == "compromised"


@pytest.mark.parametrize(
    "filters",
    [{"labels": {"env": "x"}}, {"status": "compromised"}, {"source": "jitter"}],
)
def test_a_page_fits_its_filter(answered: Answered, filters: Any) -> None:
    phm, _ = answered(keys(1))
    refused(lambda: list(phm.list_keys(**filters)), "a key in it does not fit the filter")


@pytest.mark.parametrize("cursors", [["", ""], ["a", "a"], ["a", "b", "c", "a"]])
def test_a_list_that_goes_round_in_circles_ends(answered: Answered, cursors: list[str]) -> None:
    phm, server = answered(*[keys(following=cursor) for cursor in cursors])
    with pytest.raises(PhmResponseError, match="^the list of keys does not end") as caught:
        list(phm.list_keys())
    assert caught.value.code == "unexpected_form"
    assert len(server.received) == len([one for one in cursors if one]) or cursors[0] == ""


def test_an_endless_list_of_empty_pages_ends(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phm_client.client._MOST_EMPTY_PAGES", 20)
    phm, server = answered(*[keys(following=f"c{number}") for number in range(100)])
    with pytest.raises(PhmResponseError, match="^the list of keys does not end"):
        list(phm.list_keys())
    assert len(server.received) == 21


@pytest.mark.parametrize(
    "body",
    [
        f'{{"success":true,"key":"{KEY}",{json.dumps(GENERATED)[1:]}',
        json.dumps({**GENERATED, "success": True})[:-1] + ',"more":{"a":1,"a":1}}',
        '{"success":true,' + json.dumps({**GENERATED, "success": True})[1:],
    ],
)
def test_a_member_that_is_there_twice_is_refused(answered: Answered, body: str) -> None:
    phm, _ = answered(sends(200, body.encode(), {}))
    with pytest.raises(PhmError) as caught:
        phm.generate(256)
    assert isinstance(caught.value, PhmResponseError)
    assert caught.value.code == "unexpected_form"
    assert "has a member twice" in str(caught.value)
    assert KEY not in str(caught.value)
