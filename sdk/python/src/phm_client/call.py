"""One call of the service."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

T = TypeVar("T")

Method = Literal["GET", "POST"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """One call. ``repr()`` hides the body, which may hold a key."""

    method: Method
    path: str
    answer: type[T]
    repeatable: bool = True
    """True if the client may send it again although the service may have executed it."""
    places: int = 1
    """Places that it takes of the rate limit; a batch one for each key, but at most the burst."""
    extra: float = 0.0
    """Seconds that the service may wait before it answers, beyond the timeouts."""
    body: bytes | None = field(default=None, repr=False)
    query: dict[str, str | list[str]]
    authenticated: bool = True
    also_answers: int | None = None
    """A status besides 2xx whose body is a result and not an error."""
    idempotency_key: str | None = None
    """Value of ``Idempotency-Key``. The service executes a call with it at most once."""
    request_id: str | None = None
    timeout: float | None = None
    check: Callable[[Any], str | None] | None = field(default=None, repr=False)
    """Tells what in a response does not fit this call; None if all does (``binding``)."""
