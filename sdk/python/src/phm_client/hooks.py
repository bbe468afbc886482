"""Hooks of a caller. They never see the API key, a body or a response."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from .call import Method
from .errors import PhmError

E = TypeVar("E")

_LOGGER = logging.getLogger("phm_client")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestEvent:
    """A request that is about to be sent."""

    method: Method
    path: str
    """Path of the URL, with the base path and without the query."""
    attempt: int
    """1 for the first request of a call, 2 for its first retry, and so on."""
    wait_seconds: float
    """Seconds for which this request waited for its turn under the rate limit."""
    request_id: str | None
    """Your own label of the call, or None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryEvent:
    """A request that failed and is about to be sent again."""

    method: Method
    path: str
    attempt: int
    """Number of the failed request: 1 for the first request of a call."""
    wait_seconds: float
    """Seconds until the retry; under a rate limit at least that long."""
    error: PhmError
    request_id: str | None


def notify(hook: Callable[[E], object] | None, event: E) -> None:
    """Call a hook and log its exception: a broken hook must not lose a key."""
    if hook is None:
        return
    try:
        hook(event)
    except Exception:
        _LOGGER.exception("a hook of the PHM client failed")
