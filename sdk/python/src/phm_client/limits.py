"""Limits in the headers ``RateLimit-Policy`` and ``RateLimit``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit at the time of the response."""

    limit: int
    """Requests that fit into the window, or into the full bucket."""
    remaining: int
    reset_seconds: int
    """Seconds until the limit is whole again."""
    window_seconds: int
    """Seconds in which the limit becomes whole from empty."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits from the latest response."""

    quota: Limit | None = None
    """The account's month; None if it is unlimited or not stated."""
    rate: Limit | None = None
    """The API key's bucket on the server that responded; None if none is stated."""


def read_limits(headers: Mapping[str, str]) -> Limits | None:
    """Return the limits in a response's headers; None if it has none, as before authentication."""
    policies = _read_items(headers.get("ratelimit-policy", ""))
    current = _read_items(headers.get("ratelimit", ""))
    if not current:
        return None

    def limit(name: str) -> Limit | None:
        members = {**policies.get(name, {}), **current.get(name, {})}
        if not members.keys() >= {"q", "w", "r", "t"}:
            return None
        return Limit(members["q"], members["r"], members["t"], members["w"])

    return Limits(quota=limit("quota"), rate=limit("rate"))


# A list of `"name";a=1;b=2`: the part of RFC 9651 that the service uses. Numbers are bounded,
# because Python has no largest integer.
_ITEM = re.compile(r'"([a-z]+)"((?:;[a-z]+=[0-9]{1,15})*)')
_PARAMETER = re.compile(r";([a-z]+)=([0-9]{1,15})")


def _read_items(header: str) -> dict[str, dict[str, int]]:
    return {
        name: {key: int(value) for key, value in _PARAMETER.findall(parameters)}
        for name, parameters in _ITEM.findall(header)
    }
