"""Each response belongs to its request, on real connections. sdk/exchanges has what shows it."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import API_KEY
from scripted import (
    GENERATED,
    ScriptedServer,
    Step,
    answers,
    exactly,
    fails,
    sends,
)
from test_key_records import keys

from phm_client import PhmClient, PhmResponseError

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]


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


SUCCESS = json.dumps({**GENERATED, "success": True}).encode()


@pytest.mark.parametrize(
    "step",
    [
        sends(200, SUCCESS, {"X-Request-Id": ""}),
        fails("overloaded", retry_after="0", x_request_id="another"),
        exactly({**GENERATED, "labels": {"a": "c"}}),
    ],
    ids=["without an ID", "a refusal of another request", "a key with other labels"],
)
def test_a_response_to_another_request_ends_the_connection(answered: Answered, step: Step) -> None:
    phm, server = answered(step, answers())
    with pytest.raises(PhmResponseError) as caught:
        phm.generate(256)
    assert caught.value.code == "another_request"
    phm.generate(256)
    assert len({one.port for one in server.received}) == 2


def test_an_endless_list_of_empty_pages_ends(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phm_client.client._MOST_EMPTY_PAGES", 20)
    phm, server = answered(*[keys(following=f"c{number}") for number in range(100)])
    with pytest.raises(PhmResponseError, match="^the list of keys does not end"):
        list(phm.list_keys())
    assert len(server.received) == 21
