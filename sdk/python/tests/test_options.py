"""What the client takes, and what it says of what it does not take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from scripted import ScriptedServer, answers

from phm_client import PhmClient

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

SECRET = "phmsk_live_secret"


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "keys.example",
        "/phm",
        "ftp://keys.example",
        "http://",
        "http://user:secret@keys.example",
        "http://keys.example?secret",
        "http://keys.example#secret",
        "http://keys.example:99999",
        "http://keys.example/\n",
    ],
)
def test_refuses_an_address_that_cannot_be_used(base_url: str) -> None:
    with pytest.raises(ValueError, match="^base_url must") as caught:
        PhmClient(base_url, SECRET)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("api_key", ["with space", f"{SECRET}\n", "schlüssel", "a\x00"])
def test_refuses_an_api_key_that_is_no_header_value(api_key: str) -> None:
    with pytest.raises(ValueError, match="^api_key must be printable ASCII") as caught:
        PhmClient("http://keys.example", api_key)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"timeout": 0}, ValueError),
        ({"timeout": -1}, ValueError),
        ({"timeout": float("nan")}, ValueError),
        ({"timeout": float("inf")}, ValueError),
        ({"timeout": "60"}, TypeError),
        ({"attempt_timeout": True}, TypeError),
        ({"attempt_timeout": 1e9}, ValueError),
        ({"max_retries": -1}, ValueError),
        ({"max_retries": 101}, ValueError),
        ({"max_retries": 1.5}, TypeError),
        ({"max_retries": None}, TypeError),
        ({"on_request": 1}, TypeError),
        ({"on_retry": "print"}, TypeError),
        ({"base_url": None}, TypeError),
        ({"base_url": b"http://keys.example"}, TypeError),
        ({"api_key": 1}, TypeError),
        ({"api_key": ""}, ValueError),
        ({"pace": "no"}, TypeError),
        ({"http_client": httpx.AsyncClient()}, TypeError),
    ],
)
def test_names_the_option_that_cannot_be_used(
    options: dict[str, Any], kind: type[Exception]
) -> None:
    (name,) = options
    with pytest.raises(kind, match=f"^{name} must"):
        PhmClient(**{"base_url": "http://keys.example", **options})


def test_refuses_arguments_of_calls_before_anything_is_sent(answered: Answered) -> None:
    phm, server = answered(answers())
    for request_id in ("", "a b", "x" * 129, "a\n"):
        with pytest.raises(ValueError, match="^request_id must"):
            phm.health(request_id=request_id)
    number: Any = 5
    with pytest.raises(TypeError, match="^request_id must be a string, got int$"):
        phm.health(request_id=number)
    with pytest.raises(TypeError, match="^hash_proof must be a string, got int$"):
        phm.validate("ff", hash_proof=number)
    with pytest.raises(ValueError, match="^timeout must"):
        phm.generate(256, timeout=0)
    wrong: Any = ["nist_report", 5]
    with pytest.raises(TypeError, match="^an item of include must be a string, got int$"):
        phm.generate(256, enable_nist_validation=True, include=wrong)
    with pytest.raises(TypeError, match="^include must be a string, got int$"):
        phm.generate(256, include=number)
    with pytest.raises(TypeError, match="^key_id must be a string, got int$"):
        phm.receipt(number)
    for key_id in ("", "phm_0", "phm_1/../x", SECRET, "phm_1\n"):
        with pytest.raises(
            ValueError, match="^key_id must be the one of a generated key"
        ) as caught:
            phm.receipt(key_id)
        assert SECRET not in str(caught.value)
    for commitment in ("", SECRET, "A" * 43 + "=\n", "A" * 42 + "B="):
        with pytest.raises(
            ValueError, match="^key_commitment must be 32 bytes in base64"
        ) as caught:
            phm.receipt_by_commitment("phm_1", commitment)
        assert SECRET not in str(caught.value)
    listed: Any = ["nist_report"]
    with pytest.raises(TypeError, match="^include must be a string, got list$"):
        phm.randomness(include=listed)
    generated: Any = phm.generate(256)
    with pytest.raises(TypeError, match="^key must be a string, got GeneratedKey$"):
        phm.validate(generated)
    assert len(server.received) == 1


def test_keeps_the_base_path(answered: Answered) -> None:
    _, server = answered(answers())
    with PhmClient(f"{server.address}/phm//", "x") as phm:
        phm.health()
    assert server.received[0].path == "/phm/health"


def test_is_closed_with_its_block(answered: Answered) -> None:
    phm, _ = answered(answers())
    with phm as same:
        assert same is phm
        phm.health()
    with pytest.raises(RuntimeError, match="the client is closed"):
        phm.health()


def test_sends_by_the_callers_own_http_client_and_leaves_it_open() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(302, headers={"location": "http://elsewhere.example"})

    http = httpx.Client(transport=httpx.MockTransport(answer), follow_redirects=True)
    with PhmClient("http://keys.example", "x", http_client=http) as phm:
        with pytest.raises(Exception, match="redirects to http://elsewhere.example/"):
            phm.metrics()
    assert len(seen) == 1
    assert not http.is_closed
