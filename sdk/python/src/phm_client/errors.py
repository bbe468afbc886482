"""What a call raises. No message, attribute or cause holds the API key or a key.

Of a body they hold no more than the service quotes in ``detail`` and ``errors``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .types import ErrorCode


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field of a request: ``#/field`` in the body, ``?name`` in the query."""

    pointer: str
    message: str


class PhmError(Exception):
    """Any failure of a call."""

    request_id: str | None
    """Request id to give to the operator: the answer's, else your own, else None."""
    outcome_unknown: bool
    """Whether the service may have done what you asked, although its answer did not arrive."""

    def __init__(self, message: str, *, request_id: str | None, outcome_unknown: bool) -> None:
        super().__init__(message if request_id is None else f"{message} (request {request_id})")
        self.request_id = request_id
        self.outcome_unknown = outcome_unknown

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with `args` alone: a process pool could not pass it on.
        return _restore, (type(self), self.args, self.__dict__)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _restore(kind: type[PhmError], args: tuple[Any, ...], attributes: dict[str, Any]) -> PhmError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class PhmApiError(PhmError):
    """The service refused the call and says why. Decide by ``code``."""

    status: int
    """HTTP status."""
    code: ErrorCode
    """Stable name of the error. A newer service may have codes that the type does not list."""
    title: str
    detail: str
    """What to do."""
    errors: tuple[FieldError, ...]
    """The wrong fields, for ``invalid_request``; otherwise empty."""
    retry_after_seconds: int | None
    """Seconds to wait before another try; None if the answer names none."""

    def __init__(
        self,
        *,
        status: int,
        code: ErrorCode,
        title: str,
        detail: str,
        errors: tuple[FieldError, ...] = (),
        request_id: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        # The detail names one wrong field itself, as a rule the first.
        told = next((i for i, error in enumerate(errors) if error.message in detail), None)
        fields = "".join(
            f" {_sentence(f'{error.pointer} {error.message}')}"
            for i, error in enumerate(errors)
            if i != told
        )
        super().__init__(
            f"{code}: {title}. {detail}{fields}",
            request_id=request_id,
            # A commit that fails may have counted the request all the same.
            outcome_unknown=code == "ledger_unavailable",
        )
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.errors = errors
        self.retry_after_seconds = retry_after_seconds


class PhmResponseError(PhmError):
    """The answer is not the service's: a proxy's page, a redirect, broken JSON."""

    status: int
    """HTTP status."""
    retry_after_seconds: int | None
    """Seconds to wait before another try; None if the answer names none."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        request_id: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(
            message,
            request_id=request_id,
            # A redirect, a refusal and a 503 come from a server that did not pass the request on.
            outcome_unknown=200 <= status < 300 or (status >= 500 and status != 503),
        )
        self.status = status
        self.retry_after_seconds = retry_after_seconds


class PhmConnectionError(PhmError):
    """No connection, or one that broke. ``outcome_unknown`` is False if nothing was sent."""


class PhmTimeoutError(PhmError):
    """No answer in time, or a turn under the rate limit that would come too late."""

    timeout_seconds: float
    """Seconds that the last attempt, or the wait for a turn, was given."""

    def __init__(
        self,
        message: str,
        *,
        timeout_seconds: float,
        request_id: str | None = None,
        outcome_unknown: bool = True,
    ) -> None:
        super().__init__(message, request_id=request_id, outcome_unknown=outcome_unknown)
        self.timeout_seconds = timeout_seconds
