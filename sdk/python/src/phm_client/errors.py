"""Errors of a call. No message, attribute or cause holds the API key or a key.

They repeat only those parts of a body that the service quotes in ``detail`` and ``errors``. A
message shows every character of them: a traceback on a terminal must not obey a server. Attributes
have the text as it came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .types import ErrorCode
from .visible import visible

ResponseErrorCode = Literal["not_the_service", "unexpected_form", "another_request"]
"""Why a response is not used."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field of a request: ``#/field`` in the body, ``?name`` in the query."""

    pointer: str
    message: str


class PhmError(Exception):
    """Any failure of a call."""

    request_id: str | None
    """Request ID to give to the operator: of the request that failed.

    If none was sent, your own label, or None.
    """
    outcome_unknown: bool
    """True if the service may have executed the call, although no response arrived."""
    idempotency_key: str | None = None
    """``Idempotency-Key`` of the call. Make the same call with it again to learn the outcome."""

    def __init__(self, message: str, *, request_id: str | None, outcome_unknown: bool) -> None:
        whole = message if request_id is None else f"{message} (request {request_id})"
        super().__init__(visible(whole))
        self.request_id = request_id
        self.outcome_unknown = outcome_unknown

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls the class with `args` alone, which fails in a process pool.
        return _restore, (type(self), self.args, self.__dict__)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _restore(kind: type[PhmError], args: tuple[Any, ...], attributes: dict[str, Any]) -> PhmError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(attributes)
    return error


class PhmApiError(PhmError):
    """The service refused the call. Decide by ``code``."""

    status: int
    """HTTP status."""
    code: ErrorCode
    """Stable name of the error. A newer service may have codes that the type does not list."""
    title: str
    detail: str
    """What is wrong and what to do."""
    errors: tuple[FieldError, ...]
    """The wrong fields, for ``invalid_request``; otherwise empty."""
    help: str | None
    """Where the service documents the code, relative to its base URL; None if it does not say."""
    retry_after_seconds: int | None
    """Seconds to wait before the next attempt; None if the response names none."""
    key_ids: tuple[str, ...]
    """For ``key_already_made``: the keys that the first request generated; otherwise empty."""
    max_count: int | None
    """For ``batch_too_large``: the largest ``count`` that the service accepts now."""

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
        key_ids: tuple[str, ...] = (),
        max_count: int | None = None,
        help: str | None = None,
    ) -> None:
        # The detail already names one wrong field, usually the first.
        named = next((i for i, error in enumerate(errors) if error.message in detail), None)
        fields = "".join(
            f" {_sentence(f'{error.pointer} {error.message}')}"
            for i, error in enumerate(errors)
            if i != named
        )
        super().__init__(
            f"{code}: {title}. {detail}{fields}",
            request_id=request_id,
            # A failed commit may still have counted the request.
            outcome_unknown=code == "ledger_unavailable",
        )
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
        self.errors = errors
        self.retry_after_seconds = retry_after_seconds
        self.key_ids = key_ids
        self.max_count = max_count
        self.help = help


class PhmKeyLostError(PhmApiError):
    """The first request with the ``Idempotency-Key`` generated its keys, and its response was lost.

    The code is ``key_already_made``. Discard the keys named in ``key_ids``: the service cannot send
    them again, and it generated no others.
    """


class PhmResponseError(PhmError):
    """The response is not used. Decide by ``code``.

    - ``not_the_service``: a proxy's page, a redirect, broken JSON.
    - ``unexpected_form``: a member is missing, has another form, or is there twice.
    - ``another_request``: the response belongs to another request. The connection is closed.
    """

    code: ResponseErrorCode
    status: int
    """HTTP status."""
    retry_after_seconds: int | None
    """Seconds to wait before the next attempt; None if the response names none."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: ResponseErrorCode = "not_the_service",
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
        self.code = code
        self.retry_after_seconds = retry_after_seconds


class PhmConnectionError(PhmError):
    """No connection, or a broken one. ``outcome_unknown`` is False if nothing was sent."""


class PhmTimeoutError(PhmError):
    """No response in time, or no turn under the rate limit in time."""

    timeout_seconds: float
    """Timeout in seconds of the last attempt, or of the wait for a turn."""

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
