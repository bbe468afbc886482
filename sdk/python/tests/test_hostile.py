"""What a hostile peer can do to a call: hold it, break it, or write to a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import httpx
import pytest
from conftest import API_KEY
from scripted import ScriptedServer, Step, sends

from phm_client import PhmClient, PhmError, PhmTimeoutError

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

HEAD = "HTTP/1.1 200 OK\r\n"
CHUNKED = f"{HEAD}Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n1"


def repeats(start: str, part: str) -> Step:
    """Sends a part again and again, for longer than a client waits, and then closes."""

    def step(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        try:
            handler.wfile.write(start.encode())
            for _ in range(40):
                handler.wfile.write(part.encode())
                time.sleep(0.05)
        except OSError:
            pass

    return step


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(
    "step",
    [
        repeats("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
        repeats(HEAD, "x"),
        repeats(CHUNKED, ";x"),
        repeats(f"{CHUNKED}\r\n{{\r\n0\r\n", "x"),
    ],
    ids=["informational responses", "a header", "an extension of a chunk", "a trailer"],
)
def test_no_part_of_a_response_outlasts_the_attempt(
    answered: Answered, step: Step, own: bool
) -> None:
    http = None if own else httpx.Client(trust_env=False)
    phm, _ = answered(step, attempt_timeout=0.2, max_retries=0, http_client=http)
    with pytest.raises(PhmTimeoutError):
        phm.health()


def test_leaves_the_timeouts_of_the_callers_own_requests_as_they_are(answered: Answered) -> None:
    with httpx.Client(trust_env=False) as http:
        phm, server = answered(sends(200, b"own", {}), http_client=http)
        PhmClient(server.address, API_KEY, http_client=http)
        assert http.get(server.address, timeout=None).text == "own"
        assert http.get(server.address, timeout=5).text == "own"
        phm.close()


@pytest.mark.parametrize("host", ["xn--a", "a\xad\xff"])
def test_a_redirect_to_nowhere_is_an_error_of_the_client(answered: Answered, host: str) -> None:
    phm, _ = answered(sends(302, b"", {"Location": f"http://{host}/"}), max_retries=0)
    with pytest.raises(PhmError, match="redirects|its Location is no address|not HTTP"):
        phm.health()
