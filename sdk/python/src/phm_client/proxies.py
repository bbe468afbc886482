"""Which proxy the environment or the system names for an address, and which it may be.

A proxy of plain HTTP reads the API key and the key. A tunnel (CONNECT, SOCKS) to a service with TLS
does not.
"""

from __future__ import annotations

import ipaddress
import socket
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx


def proxy_for(url: httpx.URL) -> str | None:
    """Return the proxy of ``HTTPS_PROXY``, ``ALL_PROXY`` or the system; None for none.

    Raises ValueError for plain HTTP to another machine, if there is one.
    """
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or is_loopback(url.host) or _is_exempt(url, proxies.get("no", "")):
        return None
    if url.scheme == "http":
        raise ValueError(
            "a proxy would read the API key and the keys, because base_url is not https. "
            "HTTP_PROXY, ALL_PROXY or the system names one: use https, or name "
            f"{url.host} in NO_PROXY"
        )
    return proxy if "://" in proxy else f"http://{proxy}"


def check_no_reader(http: httpx.Client, url: httpx.URL) -> None:
    """Raise ValueError if a client of the caller sends requests to ``url`` through a proxy.

    A tunnel to another machine with TLS is allowed.
    """
    if url.scheme == "https" and not is_loopback(url.host):
        return
    # httpx has no public way to ask.
    choose = getattr(http, "_transport_for_url", None)
    pool = getattr(choose(url) if choose else None, "_pool", None)
    if isinstance(pool, (httpcore.HTTPProxy, httpcore.SOCKSProxy)):
        raise ValueError(
            "a proxy would read the API key and the keys, or reach another machine than this one: "
            f"http_client has one for {url.scheme}://{url.host}. httpx.Client(trust_env=False) "
            "ignores HTTP_PROXY and ALL_PROXY"
        )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    name = host.lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    address = _address_of(name)
    if address is None:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    # A connection to the unspecified address reaches this machine.
    return bool(mapped.is_loopback or mapped.is_unspecified)


def _address_of(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        pass
    try:
        # Short forms, such as 127.1, which resolvers take too.
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None


def _is_exempt(url: httpx.URL, no_proxy: str) -> bool:
    port = url.port or (443 if url.scheme == "https" else 80)
    listed = (one.strip().lower() for one in no_proxy.split(","))
    if any(_matches(one, url.host, port) for one in listed if one):
        return True
    # The exceptions of the system, where it has some.
    return bool(proxy_bypass(url.host))


def _matches(pattern: str, host: str, port: int) -> bool:
    if pattern == "*":
        return True
    address = _address_of(host)
    if address is not None:
        try:
            return address in ipaddress.ip_network(pattern.strip("[]"), strict=False)
        except ValueError:
            pass
    name, colon, its_port = pattern.rpartition(":")
    if colon and its_port.isdigit():
        if int(its_port) != port:
            return False
        pattern = name.strip("[]")
    if address is not None:
        return _address_of(pattern) == address
    suffix = pattern.removeprefix("*").lstrip(".")
    return bool(suffix) and (host == suffix or host.endswith(f".{suffix}"))
