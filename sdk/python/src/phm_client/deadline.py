"""Ends an attempt in time, however a peer spreads its bytes.

httpx bounds only the time between two bytes: a peer that sends a header byte by byte, or one
informational response (RFC 9110 §15.2) after another, would hold a call for ever.
"""

from __future__ import annotations

import ssl
import time
from typing import Any

import httpcore
import httpx

_LEAST = 0.001


class Rest(float):
    """The seconds until an attempt ends, which a later step can ask for again."""

    ends: float

    def __new__(cls, ends: float) -> Rest:
        """Return the rest now; a little if the attempt has ended."""
        rest = super().__new__(cls, max(_LEAST, ends - time.monotonic()))
        rest.ends = ends
        return rest


class TimeLeft(dict[str, float]):
    """Timeouts that httpx reads before each step: the rest of the attempt."""

    def __init__(self, ends: float) -> None:
        left = Rest(ends)
        super().__init__(connect=left, read=left, write=left, pool=left)
        self._ends = ends

    def get(self, key: str, default: Any = None) -> Any:
        """Return the rest now, for any step."""
        return Rest(self._ends)


def keep_deadlines(transport: object) -> None:
    """Let the connections that a transport of httpx makes from now on heed ``Rest``.

    Other timeouts stay as they are. httpx has no public way to name the network of a transport.
    """
    pool = getattr(transport, "_pool", None)
    network = getattr(pool, "_network_backend", None)
    if isinstance(network, httpcore.NetworkBackend) and not isinstance(network, _Network):
        pool._network_backend = _Network(network)  # type: ignore[union-attr]


def keep_deadlines_of(http: httpx.Client) -> None:
    """Do so for all transports of a client."""
    mounts = getattr(http, "_mounts", {})
    for transport in (getattr(http, "_transport", None), *mounts.values()):
        keep_deadlines(transport)


class _Network(httpcore.NetworkBackend):
    def __init__(self, network: httpcore.NetworkBackend) -> None:
        self._network = network

    def connect_tcp(self, *args: Any, **options: Any) -> httpcore.NetworkStream:
        return _Stream(self._network.connect_tcp(*args, **options))

    def connect_unix_socket(self, *args: Any, **options: Any) -> httpcore.NetworkStream:
        return _Stream(self._network.connect_unix_socket(*args, **options))

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _rest(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _rest(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        rest = _rest(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, rest))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _rest(timeout: float | None, error: type[Exception]) -> float | None:
    if not isinstance(timeout, Rest):
        return timeout
    if timeout.ends <= time.monotonic():
        raise error("the attempt has ended")
    return Rest(timeout.ends)
