"""The connections and the queue of one client in one process."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

import httpx

from .binding import RecentKeys
from .deadline import keep_deadlines, keep_deadlines_of
from .limits import Limits
from .process import PerProcess, this_process
from .proxies import check_no_reader, proxy_for
from .turns import Turns

# One connection for each thread with a request in progress.
_POOL = httpx.Limits(max_connections=None, max_keepalive_connections=20)


class Connections:
    """What a client needs to send requests, and what it learned from responses."""

    def __init__(self, http: httpx.Client, *, pace: bool) -> None:
        self.http = http
        self.turns = Turns() if pace else None
        self.limits = Limits()
        self.recent = RecentKeys()


def connections_of(
    base_url: str, http_client: httpx.Client | None, *, pace: bool
) -> PerProcess[Connections]:
    """Return the connections of a client, new ones in each process."""
    url = httpx.URL(base_url)
    make_http = _own(url) if http_client is None else _given(http_client, url)
    return PerProcess(lambda: Connections(make_http(), pace=pace))


def _own(url: httpx.URL) -> Callable[[], httpx.Client]:
    def make() -> httpx.Client:
        # Without TLS, no time is spent on reading the authorities: this context trusts none.
        verify = url.scheme == "https" or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        # With a transport of its own, httpx takes no proxy from the environment.
        transport = httpx.HTTPTransport(limits=_POOL, proxy=proxy_for(url), verify=verify)
        keep_deadlines(transport)
        headers = {"User-Agent": "phm-client/0.1.0 (Python)"}
        return httpx.Client(transport=transport, headers=headers)

    return make


def _given(http: httpx.Client, url: httpx.URL) -> Callable[[], httpx.Client]:
    made_in = this_process()

    def check() -> httpx.Client:
        if this_process() != made_in:
            raise RuntimeError(
                "http_client has connections of another process, from before a fork: make an "
                "httpx.Client and a PhmClient in this process"
            )
        check_no_reader(http, url)
        keep_deadlines_of(http)
        return http

    return check


def drop_connection(response: httpx.Response) -> None:
    """Make the connection of a response useless: it may hold answers to other requests.

    Closing it would free its number, which another thread could get and read meanwhile.
    """
    stream = response.extensions.get("network_stream")
    found = stream.get_extra_info("socket") if stream is not None else None
    if isinstance(found, socket.socket):
        with suppress(OSError):
            # Not the method of ssl.SSLSocket, which would go on without encryption.
            socket.socket.shutdown(found, socket.SHUT_RDWR)
