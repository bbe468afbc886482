"""Decides which failures to retry, and when."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from .errors import PhmApiError, PhmError, PhmResponseError
from .types import ErrorCode

# Temporary errors. No key or verdict was released, but a request with `ledger_unavailable` may have
# counted.
_PASSING: frozenset[ErrorCode] = frozenset(
    {
        "rate_limited",
        "request_timeout",
        "entropy_unavailable",
        "ledger_unavailable",
        "foreign_ledger",
        "overloaded",
        "receipt_pending",
        "idempotency_in_progress",
    }
)

# Statuses of a proxy that are temporary.
_PASSING_STATUSES = frozenset({429, 502, 503, 504})

_FIRST_BACKOFF_SECONDS = 0.25
_LONGEST_BACKOFF_SECONDS = 8.0

# Longest `Retry-After` that the client waits for. Longer waits are the caller's decision.
_LONGEST_RETRY_AFTER_SECONDS = 30


def may_retry(error: PhmError, *, repeatable: bool, recognised: bool = False) -> bool:
    """Return whether to send the same request again.

    A request that is not repeatable is retried only if the service cannot have executed it. A
    request that the service recognises by its ``Idempotency-Key`` is retried after all failures of
    servers.
    """
    if error.outcome_unknown and not (repeatable or recognised):
        return False
    if isinstance(error, PhmApiError):
        return error.code in _PASSING or (recognised and error.code == "internal_error")
    if isinstance(error, PhmResponseError):
        return error.status in _PASSING_STATUSES or (recognised and error.status >= 500)
    return True


def wait_seconds(error: PhmError, retry: int, random: float) -> float | None:
    """Return the seconds to wait before retry number ``retry``, counted from 0.

    The wait is ``Retry-After`` plus exponential back-off with full jitter; ``random`` is a number
    from 0 to 1. None: ``Retry-After`` is too long.
    """
    asked = retry_after_of(error) or 0
    if asked > _LONGEST_RETRY_AFTER_SECONDS:
        return None
    backoff = min(_LONGEST_BACKOFF_SECONDS, _FIRST_BACKOFF_SECONDS * 2.0 ** min(retry, 10))
    return asked + random * backoff


def is_rate_refusal(error: PhmError) -> bool:
    """Return whether a rate limit of the service or of a proxy refused the call.

    An exhausted quota does not count.
    """
    if isinstance(error, PhmApiError):
        return error.code == "rate_limited"
    return isinstance(error, PhmResponseError) and error.status == 429


def retry_after_of(error: PhmError) -> int | None:
    """Return the ``Retry-After`` of a refusal in seconds; None if it has none."""
    if isinstance(error, (PhmApiError, PhmResponseError)):
        return error.retry_after_seconds
    return None


def read_retry_after(headers: Mapping[str, str]) -> int | None:
    """Return the seconds of a ``Retry-After`` header, a number or a date (RFC 9110 §10.2.3)."""
    value = headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]{1,15}", value):
        return int(value)
    at = _http_date(value)
    if at is None:
        return None
    # By the sender's clock, if the response has a Date.
    now = _http_date(headers.get("date", ""))
    return max(0, math.ceil(at - (time.time() if now is None else now)))


def _http_date(text: str) -> float | None:
    if not text.endswith("GMT"):
        return None
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
