"""Sends one call: attempts with timeouts, and waits for turns and retries between them."""

from __future__ import annotations

import random
import secrets
import ssl
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

import httpx

from .answer import Reply, read_answer
from .call import Call
from .connections import Connections, drop_connection
from .deadline import TimeLeft
from .errors import PhmConnectionError, PhmError, PhmKeyLostError, PhmResponseError, PhmTimeoutError
from .hooks import RequestEvent, RetryEvent, notify
from .limits import read_limits
from .options import REQUEST_ID_SUFFIX, DefaultRetries
from .process import PerProcess, this_process
from .retry import is_rate_refusal, may_retry, retry_after_of, wait_seconds
from .turns import NoTurn

T = TypeVar("T")

# Least rest of the timeout when a request is sent after a wait.
_LEAST_SECONDS = 1.0

# Far more than any response has.
_MAX_BODY_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportOptions:
    """Options of the transport. ``repr()`` hides headers, which may hold the API key."""

    connections: PerProcess[Connections]
    base_url: str
    credential: dict[str, str] = field(repr=False)
    timeout: float
    attempt_timeout: float
    max_retries: int
    on_request: Callable[[RequestEvent], object] | None
    on_retry: Callable[[RetryEvent], object] | None


def send(call: Call[T], options: TransportOptions) -> T:
    """Return the response to a call. Raises PhmError."""
    sending = _Sending(call, options)
    try:
        return sending.run()
    except PhmError as error:
        error.idempotency_key = call.idempotency_key
        # A refused retry does not show what became of the first request.
        if sending.lost_a_response and not isinstance(error, PhmKeyLostError):
            error.outcome_unknown = True
        raise


class _TooLarge(Exception):
    """A body is longer than the bound."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


# Unlike the functions of `random`, it is the same in no two processes, however a program seeds.
_random = random.SystemRandom().random


class _Sending(Generic[T]):
    def __init__(self, call: Call[T], options: TransportOptions) -> None:
        self._call = call
        self._options = options
        self._process = this_process()
        self._connections = options.connections.get()
        self._turns = self._connections.turns if call.authenticated else None
        self._timeout = options.timeout if call.timeout is None else call.timeout
        self._deadline = time.monotonic() + self._timeout + call.extra
        # A request sent later could not get its response in time: its outcome would be unknown.
        self._last_start = self._deadline - min(_LEAST_SECONDS, self._timeout / 10)
        self._ticket = self._turns.ticket() if self._turns else 0
        self._address = f"{options.base_url}{call.path}"
        self._path = httpx.URL(self._address).path
        # The rate limit's refusal of the last attempt, until the next turn.
        self._refusal: PhmError | None = None
        self._retries = 0
        # Attempts that found no server, which do not count as retries.
        self._unreached = 0
        # The `X-Request-Id` of the last attempt; before it, the caller's label.
        self._request_id = call.request_id
        self.lost_a_response = False

    def run(self) -> T:
        attempt = 1
        while True:
            self._check_process()
            waited = self._take_turn()
            answer = self._attempt(attempt, waited)
            if not isinstance(answer, PhmError):
                return answer
            self.lost_a_response = self.lost_a_response or answer.outcome_unknown
            wait = self._wait_before_retry(answer)
            if wait is None:
                raise answer
            self._notify_retry(attempt, wait, answer)
            # After a refusal by the rate limit, the queue waits.
            if self._refusal is None:
                time.sleep(wait)
            attempt += 1

    def _notify_request(self, attempt: int, waited: float) -> None:
        event = RequestEvent(
            method=self._call.method,
            path=self._path,
            attempt=attempt,
            wait_seconds=waited,
            request_id=self._call.request_id,
        )
        notify(self._options.on_request, event)

    def _notify_retry(self, attempt: int, wait: float, error: PhmError) -> None:
        event = RetryEvent(
            method=self._call.method,
            path=self._path,
            attempt=attempt,
            wait_seconds=wait,
            error=error,
            request_id=self._call.request_id,
        )
        notify(self._options.on_retry, event)

    def _take_turn(self) -> float:
        """Wait for a turn and return the seconds that this took."""
        if self._turns is None:
            return 0.0
        since = time.monotonic()
        try:
            self._turns.take(self._ticket, self._last_start, self._call.places)
            return time.monotonic() - since
        except NoTurn as no_turn:
            ahead, per_second = no_turn.ahead, no_turn.per_second
        raise self._refusal or self._too_late(ahead, per_second)

    def _attempt(self, attempt: int, waited: float) -> T | PhmError:
        try:
            self._notify_request(attempt, waited)
            self._check_process()
            return self._answer()
        finally:
            # The queue of another process may be locked for ever.
            if self._turns and self._process == this_process():
                self._turns.ended()

    def _check_process(self) -> None:
        """Raise PhmConnectionError in a process that was forked during the call.

        The connection, and the response, belong to the process that began it.
        """
        if self._process != this_process():
            raise PhmConnectionError(
                "the process was forked during the call, which goes on in its parent",
                request_id=self._request_id,
                outcome_unknown=True,
            )

    def _answer(self) -> T | PhmError:
        """Return the response or the error. Raised here, the error would hold the request."""
        sent_at = time.monotonic()
        attempt = self._options.attempt_timeout + self._call.extra
        seconds = max(0.001, min(attempt, self._deadline - sent_at))
        answer: T | PhmError
        try:
            answer = self._exchange(sent_at, sent_at + seconds)
        except httpx.HTTPError as error:
            answer = self._failure(error, seconds)
        except UnicodeError:
            # httpx reads the target of a redirect, also when it does not follow it.
            answer = self._lost("its Location is no address", unknown=True)
        except _TooLarge as error:
            answer = PhmResponseError(
                f"the response of {self._address} is longer than {_MAX_BODY_BYTES // 2**20} MiB "
                f"(status {error.status}): it does not come from the PHM key service",
                status=error.status,
                request_id=self._request_id,
            )
        self._check_process()
        if self._turns and isinstance(answer, PhmError) and is_rate_refusal(answer):
            self._turns.refused(retry_after_of(answer), sent_at=sent_at)
        return answer

    def _exchange(self, sent_at: float, ends: float) -> T | PhmError:
        http, call = self._connections.http, self._call
        # Fresh for each attempt: the response to another one must not fit.
        self._request_id = _fresh_id(call.request_id)
        request = http.build_request(
            call.method,
            self._address,
            params=call.query or None,
            headers=self._headers(self._request_id),
            content=call.body,
            extensions={"timeout": TimeLeft(ends)},
        )
        # Following a redirect would send the API key elsewhere.
        response = http.send(request, stream=True, follow_redirects=False)
        self._check_process()
        sound = False
        try:
            body = _read_body(response, ends)
            self._check_process()
            reply = Reply(
                response.status_code,
                response.headers,
                body,
                self._address,
                self._request_id,
                self._connections.recent,
            )
            answer = read_answer(reply, call)
            # Other responses on this connection may be those of other requests, too.
            sound = not isinstance(answer, PhmResponseError)
            if sound:
                self._note_limits(response, sent_at)
            return answer
        finally:
            # A child of this process shares the connection: it must leave it as it is.
            if self._process == this_process():
                if not sound:
                    drop_connection(response)
                response.close()

    def _headers(self, request_id: str) -> dict[str, str]:
        call = self._call
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "X-Request-Id": request_id,
        }
        if call.body is not None:
            headers["Content-Type"] = "application/json"
        if call.body is not None or call.query:
            headers["Prefer"] = "handling=strict"
        if call.authenticated:
            headers.update(self._options.credential)
        if call.idempotency_key is not None:
            headers["Idempotency-Key"] = call.idempotency_key
        return headers

    def _note_limits(self, response: httpx.Response, sent_at: float) -> None:
        limits = read_limits(response.headers)
        if limits is not None:
            self._connections.limits = limits
        if self._turns:
            rate = limits.rate if limits else None
            self._turns.answered(ok=response.is_success, rate=rate, sent_at=sent_at)

    def _wait_before_retry(self, error: PhmError) -> float | None:
        """Return the seconds until the next attempt; None if there is none."""
        self._refusal = None
        max_retries = self._options.max_retries
        call = self._call
        recognised = call.idempotency_key is not None
        if not may_retry(error, repeatable=call.repeatable, recognised=recognised):
            return None
        if max_retries == 0:
            return None
        unreached = isinstance(max_retries, DefaultRetries) and _is_unreached(error)
        wait = wait_seconds(error, self._unreached if unreached else self._retries, _random())
        queued = self._turns is not None and is_rate_refusal(error)
        uncounted = queued or unreached
        if wait is None or (not uncounted and self._retries >= max_retries):
            return None
        if self._turns is not None and queued:
            wait = self._turns.pause
        if time.monotonic() + wait >= self._last_start:
            return None
        if queued:
            self._refusal = error
        elif unreached:
            self._unreached += 1
        else:
            self._retries += 1
        return wait

    def _too_late(self, ahead: int, per_second: float | None) -> PhmTimeoutError:
        limit = "" if per_second is None else f", at {per_second:g} per second"
        return PhmTimeoutError(
            f"not sent to {self._address}: the rate limit does not admit it within "
            f"{self._timeout:g} s (calls ahead of it: {ahead}{limit})",
            timeout_seconds=self._timeout,
            request_id=self._call.request_id,
            outcome_unknown=False,
        )

    def _failure(self, error: httpx.HTTPError, seconds: float) -> PhmError:
        never_sent = isinstance(error, _NEVER_SENT)
        if isinstance(error, httpx.TimeoutException) and not never_sent:
            return PhmTimeoutError(
                f"no response from {self._address} within {seconds:g} s",
                timeout_seconds=seconds,
                request_id=self._request_id,
            )
        cause = _os_error(error)
        failure = self._lost(_reason(error, cause, seconds), unknown=not never_sent)
        failure.__cause__ = cause
        return failure

    def _lost(self, reason: str, *, unknown: bool) -> PhmConnectionError:
        what = (
            f"the connection to {self._address} failed before the response was complete"
            if unknown
            else f"the service cannot be reached at {self._address}"
        )
        return PhmConnectionError(
            f"{what} ({reason})" if reason else what,
            request_id=self._request_id if unknown else self._call.request_id,
            outcome_unknown=unknown,
        )


# Errors of httpx for requests that were never sent.
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


def _is_unreached(error: PhmError) -> bool:
    """Return whether no server took the connection, as while one starts.

    A failure of TLS is one of the configuration.
    """
    cause = error.__cause__
    return (
        isinstance(error, PhmConnectionError)
        and not error.outcome_unknown
        and isinstance(cause, OSError)
        and not isinstance(cause, ssl.SSLError)
    )


def _fresh_id(label: str | None) -> str:
    """Return a value of ``X-Request-Id`` that nobody can guess, which begins with the label."""
    if label is None:
        return secrets.token_hex(16)
    return f"{label}.{secrets.token_hex(REQUEST_ID_SUFFIX // 2)}"


def _read_body(response: httpx.Response, ends: float) -> bytes:
    """Return the body. The connection stays in use until the response is closed."""
    body = bytearray()
    inflate = _decoder(response.headers.get("content-encoding", "identity"))
    # Unlike `iter_bytes`, the stream itself is not closed at its end.
    for chunk in cast("httpx.SyncByteStream", response.stream):
        body += inflate(chunk, _MAX_BODY_BYTES + 1 - len(body))
        if len(body) > _MAX_BODY_BYTES:
            raise _TooLarge(response.status_code)
        if time.monotonic() > ends:
            raise httpx.ReadTimeout("the response did not end in time")
    return bytes(body)


def _decoder(encoding: str) -> Callable[[bytes, int], bytes]:
    """Return a function that decodes a chunk to at most so many bytes.

    The client asks for no encoding; some proxies compress all the same.
    """
    name = encoding.strip().lower()
    if name in ("identity", ""):
        return lambda chunk, most: chunk
    if name not in ("gzip", "x-gzip", "deflate"):
        raise httpx.DecodingError("unknown encoding")
    inflate = zlib.decompressobj(wbits=47)  # gzip or zlib, by the content

    def decode(chunk: bytes, most: int) -> bytes:
        try:
            return inflate.decompress(chunk, most)
        except zlib.error:
            raise httpx.DecodingError("broken encoding") from None

    return decode


def _os_error(error: BaseException) -> OSError | None:
    """Return the system's own error. The errors between it and httpx's error hold the request."""
    found: OSError | None = None
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError):
            found = cause
        cause = cause.__cause__ or cause.__context__
    return found


_WORDS: dict[type[httpx.HTTPError], str] = {
    httpx.RemoteProtocolError: "closed early, or not HTTP",
    httpx.DecodingError: "broken encoding",
    httpx.ProxyError: "refused by the proxy",
    httpx.UnsupportedProtocol: "unsupported protocol",
}


def _reason(error: httpx.HTTPError, cause: OSError | None, seconds: float) -> str:
    if isinstance(error, httpx.TimeoutException):
        return f"no connection within {seconds:g} s"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"certificate verify failed: {cause.verify_message}"
    if isinstance(cause, ssl.SSLError):
        return f"TLS: {cause.reason or 'failed'}"
    if cause is not None and cause.strerror:
        return cause.strerror
    # The messages of httpx may quote the response.
    words = [text for kind, text in _WORDS.items() if isinstance(error, kind)]
    return words[0] if words else type(error).__name__
