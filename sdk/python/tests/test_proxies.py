"""A proxy tunnels TLS, and never reads an API key or a key."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest
from conftest import API_KEY
from scripted import ScriptedServer, answers

from phm_client import PhmClient, PhmConnectionError
from phm_client.proxies import is_loopback, proxy_for

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """A proxy that notes what it gets and closes."""
    got: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                got.append(connection.recv(65536))

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", got
    listener.close()


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_loopback_address_takes_no_proxy(
    answered: Answered,
    proxy: tuple[str, list[bytes]],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    address, got = proxy
    monkeypatch.setenv(name, address)
    phm, server = answered(answers())
    phm.generate(256)
    assert (len(server.received), got) == (1, [])


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
def test_plain_http_through_a_proxy_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, scheme: str
) -> None:
    monkeypatch.setenv(name, f"{scheme}://127.0.0.1:9")
    with pytest.raises(ValueError, match="^a proxy would read the API key and the keys") as caught:
        PhmClient("http://keys.example", API_KEY)
    assert "name keys.example in NO_PROXY" in str(caught.value)
    monkeypatch.setenv("NO_PROXY", "other.example, .example")
    PhmClient("http://keys.example", API_KEY).close()


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "ALL_PROXY"])
def test_https_goes_through_a_tunnel(
    proxy: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    address, got = proxy
    monkeypatch.setenv(name, address)
    with PhmClient("https://keys.example", API_KEY, max_retries=0) as phm:
        with pytest.raises(PhmConnectionError):
            phm.generate(256)
    assert got[0].startswith(b"CONNECT keys.example:443 HTTP/1.1\r\n")
    assert API_KEY.encode() not in got[0]


def test_a_proxy_of_the_callers_own_client_is_refused_too(
    answered: Answered, proxy: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, got = proxy
    _, server = answered(answers())
    with httpx.Client(proxy=address) as http:
        for url in (server.address, "http://keys.example", "https://localhost"):
            with pytest.raises(ValueError, match="^a proxy would read the API key"):
                PhmClient(url, API_KEY, http_client=http)
        PhmClient("https://keys.example", API_KEY, http_client=http)
    mounts = {"http://": httpx.HTTPTransport(proxy=address)}
    with httpx.Client(mounts=mounts) as http:
        with pytest.raises(ValueError, match="^a proxy would read the API key"):
            PhmClient(server.address, API_KEY, http_client=http)
    monkeypatch.setenv("HTTP_PROXY", address)
    with httpx.Client() as http:
        with pytest.raises(ValueError, match="trust_env=False"):
            PhmClient(server.address, API_KEY, http_client=http)
    with httpx.Client(trust_env=False) as http:
        PhmClient(server.address, API_KEY, http_client=http).generate(256)
    assert got == []


@pytest.mark.parametrize(
    ("no_proxy", "host", "exempt"),
    [
        ("*", "keys.example", True),
        ("keys.example", "keys.example", True),
        ("KEYS.example", "keys.example", True),
        ("example", "keys.example", True),
        (".example", "keys.example", True),
        ("*.example", "keys.example", True),
        ("xample", "keys.example", False),
        ("keys.example:443", "keys.example", True),
        ("keys.example:8443", "keys.example", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("10.1.2.3:443", "10.1.2.3", True),
        ("[fd00::1]", "[fd00::1]", True),
        ("fd00::/8", "[fd00::1]", True),
        ("", "keys.example", False),
    ],
)
def test_no_proxy_is_honoured(
    monkeypatch: pytest.MonkeyPatch, no_proxy: str, host: str, exempt: bool
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", no_proxy)
    found = proxy_for(httpx.URL(f"https://{host}"))
    assert found == (None if exempt else "http://proxy.example:3128")


def test_a_proxy_of_the_system_counts_like_one_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As macOS and Windows have them, with exceptions of their own."""
    system = {"http": "http://proxy.example:3128", "https": "http://proxy.example:3128"}
    monkeypatch.setattr("phm_client.proxies.getproxies", lambda: system)
    monkeypatch.setattr("phm_client.proxies.proxy_bypass", lambda host: host == "own.example")
    with pytest.raises(ValueError, match="^a proxy would read the API key"):
        PhmClient("http://keys.example", API_KEY)
    PhmClient("http://own.example", API_KEY).close()
    assert proxy_for(httpx.URL("https://keys.example")) == "http://proxy.example:3128"
    assert proxy_for(httpx.URL("https://own.example")) is None
    assert proxy_for(httpx.URL("https://127.0.0.1")) is None


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("127.1", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", True),
        ("localhost.example", False),
        ("127.0.0.1.example", False),
        ("10.0.0.1", False),
        ("::2", False),
    ],
)
def test_knows_its_own_machine(host: str, own: bool) -> None:
    assert is_loopback(host) is own
