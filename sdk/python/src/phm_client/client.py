"""The client: one method for each endpoint. ``generation`` and ``batches`` generate keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, NoReturn, SupportsIndex, TypeVar

import httpx

from . import binding
from .call import Call
from .connections import connections_of
from .deliveries import Deliveries
from .errors import PhmResponseError
from .file_calls import FileCalls
from .generation import given
from .hooks import RequestEvent, RetryEvent
from .limits import Limits
from .options import (
    DEFAULT_RETRIES,
    check_api_key,
    check_base_url,
    check_bool,
    check_commitment,
    check_hook,
    check_http_client,
    check_include,
    check_key_id,
    check_request_id,
    check_retries,
    check_seconds,
    check_text,
    read_labels,
    written_time,
)
from .transport import TransportOptions, send
from .types import (
    EntropySource,
    Health,
    KeyInfo,
    KeyInfoResult,
    KeyList,
    KeyStatus,
    Metrics,
    MetricsSeries,
    Randomness,
    ReceiptResult,
    RevocationReason,
    SecurityLevel,
    StepMinutes,
    ValidationResult,
)

T = TypeVar("T")


class PhmClient(FileCalls):
    """A client of one service with one API key.

    Share it among threads: calls wait in one queue that keeps to the API key's rate limit. After a
    ``fork`` both processes may go on with it: the new one starts with connections and a queue of
    its own. Methods return the service's response or raise a ``PhmError``; invalid arguments raise
    TypeError or ValueError.

    Every method takes two more keyword arguments:

    - ``timeout``: seconds for this call, instead of the client's.
    - ``request_id``: label of the call, 1 to 100 letters, digits, ``.``, ``_`` or ``-``. Each
      request sends an ``X-Request-Id`` that begins with it, which appears in errors and in the
      service's log.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        attempt_timeout: float = 30.0,
        max_retries: int = DEFAULT_RETRIES,
        pace: bool = True,
        on_request: Callable[[RequestEvent], object] | None = None,
        on_retry: Callable[[RetryEvent], object] | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        """Set up a client without sending anything.

        Args:
            base_url: URL of the service, with its base path if it has one.
            api_key: Without it, only ``health`` and ``receipt_by_commitment`` work.
            timeout: Seconds for a whole call, with retries and waits.
            attempt_timeout: Seconds for one attempt.
            max_retries: Most retries of a call, 0 to 100. Refusals by a rate limit do not count,
                because the client waits for its next turn. Unless you give a number, neither do
                attempts for which no server took the connection. With 0 each call is sent once.
            pace: False sends each call at once; a refusal by a rate limit then counts as a retry.
            on_request: Called before each request. Its exceptions are logged and ignored.
            on_retry: Called before each wait for a retry. Its exceptions are logged and ignored.
            http_client: Sends the requests: for a private certificate authority, a proxy or tests.
                You must close it yourself. After a fork, make a new one with a new client.
        """
        check_hook("on_request", on_request)
        check_hook("on_retry", on_retry)
        check_bool("pace", pace)
        check_http_client(http_client)
        credential = {} if api_key is None else {"X-API-Key": check_api_key(api_key)}
        url = check_base_url(base_url)
        self._closed = False
        self._owns_http = http_client is None
        self._transport = TransportOptions(
            connections=connections_of(url, http_client, pace=pace),
            base_url=url,
            credential=credential,
            timeout=check_seconds("timeout", timeout),
            attempt_timeout=check_seconds("attempt_timeout", attempt_timeout),
            max_retries=check_retries(max_retries),
            on_request=on_request,
            on_retry=on_retry,
        )
        self.deliveries = Deliveries(self._send)
        # A wrong proxy or certificate file is reported here and not by the first call.
        self._transport.connections.get()

    def __repr__(self) -> str:
        return f"PhmClient({self._transport.base_url!r})"

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(
            "a PhmClient cannot be pickled or copied, because it has connections and the API key: "
            "make one in each process, for example in the initializer of a pool"
        )

    def __enter__(self) -> PhmClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. Later calls raise RuntimeError."""
        self._closed = True
        # Connections from before a fork stay as they are: the parent still uses them.
        connections = self._transport.connections.existing()
        if self._owns_http and connections is not None:
            connections.http.close()

    @property
    def last_limits(self) -> Limits:
        """Limits from the latest response; empty before the first."""
        connections = self._transport.connections.existing()
        return Limits() if connections is None else connections.limits

    def validate(
        self,
        key: str,
        *,
        hash_proof: str | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ValidationResult:
        """Check whether the service generated a key: by its proof, or without one by the ledger.

        Every verdict counts against the quota. The client retries a call whose response was lost,
        which may then count twice.
        """
        check_text("key", key)
        if hash_proof is not None:
            check_text("hash_proof", hash_proof)
        body = given(key=key, hash_proof=hash_proof)
        return self._post("/api/v2/validate", ValidationResult, body, request_id, timeout)

    def list_keys(
        self,
        *,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        security_level: SecurityLevel | None = None,
        source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        evidence: Literal["PASS", "none"] | None = None,
        api_key_id: str | None = None,
        status: KeyStatus | None = None,
        expires_before: datetime | None = None,
        revoked: bool | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[KeyInfo]:
        """Return an iterator over the records of the account's keys, newest first.

        The client reads page after page while you read. A record never holds the key. A key must
        meet all filters, and have all ``labels``. Times need an offset.
        """
        check_request_id(request_id)
        if timeout is not None:
            check_seconds("timeout", timeout)
        wanted = read_labels(labels) or {}
        query: dict[str, Any] = {
            "created_after": written_time("created_after", created_after),
            "created_before": written_time("created_before", created_before),
            "security_level": security_level,
            "source": source,
            "label": [f"{name}:{value}" for name, value in wanted.items()] or None,
            "evidence": evidence,
            "api_key_id": api_key_id,
            "status": status,
            "expires_before": written_time("expires_before", expires_before),
            "revoked": None if revoked is None else str(revoked).lower(),
        }

        check = binding.of_list(query, wanted)

        def request(cursor: str | None) -> KeyList:
            pages = {**query, "cursor": cursor}
            return self._get("/api/v2/keys", KeyList, pages, request_id, timeout, check=check)

        return _records(request)

    def get_key(
        self,
        key_id: str,
        *,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> KeyInfo:
        """Return the record of a key of the account."""
        path = f"/api/v2/keys/{check_key_id(key_id)}"
        check = binding.of_key_id(key_id)
        return self._get(path, KeyInfoResult, {}, request_id, timeout, check=check).key

    def revoke_key(
        self,
        key_id: str,
        reason: RevocationReason,
        *,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> KeyInfo:
        """Revoke a key of the account.

        ``key_compromise`` makes it compromised; every other reason makes an active key deactivated.
        A repeated call changes nothing, so the client retries.
        """
        path = f"/api/v2/keys/{check_key_id(key_id)}/revoke"
        body = {"reason": reason}
        check = binding.of_revocation(key_id, reason)
        return self._post(path, KeyInfoResult, body, request_id, timeout, check=check).key

    def receipt(
        self,
        key_id: str,
        *,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ReceiptResult:
        """Return the receipt for a key of the account.

        Until a checkpoint covers the record of a new key, the service refuses with
        ``receipt_pending``, and the client retries.
        """
        path = f"/api/v2/keys/{check_key_id(key_id)}/receipt"
        check = binding.of_receipt(key_id)
        return self._get(path, ReceiptResult, {}, request_id, timeout, check=check)

    def receipt_by_commitment(
        self,
        key_id: str,
        key_commitment: str,
        *,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ReceiptResult:
        """Return the receipt for a sealed key, by two members of its header.

        Its recipient needs no API key, and none is sent. The service refuses with
        ``receipt_pending`` as in ``receipt``, and the client retries.
        """
        body = {
            "key_id": check_key_id(key_id),
            "key_commitment": check_commitment(key_commitment),
        }
        check = binding.of_receipt(key_id, key_commitment)
        return self._post(
            "/api/v2/receipts",
            ReceiptResult,
            body,
            request_id,
            timeout,
            authenticated=False,
            check=check,
        )

    def metrics(
        self,
        *,
        hours: int | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Metrics:
        """Return sums of the account over the last hours; the service's default is 24."""
        return self._get("/api/v2/metrics", Metrics, {"hours": hours}, request_id, timeout)

    def metrics_series(
        self,
        *,
        hours: int | None = None,
        step: StepMinutes | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> MetricsSeries:
        """Return the same sums in steps of ``step`` minutes, with quiet steps."""
        query = {"hours": hours, "step": step}
        return self._get("/api/v2/metrics/series", MetricsSeries, query, request_id, timeout)

    def randomness(
        self,
        *,
        keys: int | None = None,
        include: Literal["p_values"] | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Randomness:
        """Return the p-values of the account's last validated keys, judged together.

        ``include="p_values"`` adds the p-values themselves to each row.
        """
        check_include(include)
        query = {"keys": keys, "include": include}
        return self._get("/api/v2/metrics/randomness", Randomness, query, request_id, timeout)

    def health(self, *, request_id: str | None = None, timeout: float | None = None) -> Health:
        """Return the state of the server, without sending the API key.

        A server that is not ready returns ``success`` False; that is not an error.
        """
        return self._send(
            Call(
                method="GET",
                path="/health",
                answer=Health,
                query={},
                authenticated=False,
                also_answers=503,
                request_id=request_id,
                timeout=timeout,
            )
        )

    def _post(
        self,
        path: str,
        answer: type[T],
        body: dict[str, Any],
        request_id: str | None,
        timeout: float | None,
        *,
        repeatable: bool = True,
        idempotency_key: str | None = None,
        places: int = 1,
        authenticated: bool = True,
        check: Callable[[T], str | None] | None = None,
    ) -> T:
        return self._send(
            Call(
                method="POST",
                path=path,
                answer=answer,
                repeatable=repeatable,
                idempotency_key=idempotency_key,
                places=places,
                authenticated=authenticated,
                body=json.dumps(body, allow_nan=False).encode(),
                query={},
                request_id=request_id,
                timeout=timeout,
                check=check,
            )
        )

    def _get(
        self,
        path: str,
        answer: type[T],
        query: dict[str, Any],
        request_id: str | None,
        timeout: float | None,
        *,
        check: Callable[[T], str | None] | None = None,
    ) -> T:
        return self._send(
            Call(
                method="GET",
                path=path,
                answer=answer,
                query={
                    name: value if isinstance(value, list) else str(value)
                    for name, value in given(**query).items()
                },
                request_id=request_id,
                timeout=timeout,
                check=check,
            )
        )

    def _send(self, call: Call[T]) -> T:
        if self._closed:
            raise RuntimeError("the client is closed")
        check_request_id(call.request_id)
        if call.timeout is not None:
            check_seconds("timeout", call.timeout)
        return send(call, self._transport)


# A search of the service ends after 1,000 records, so this is far more than any ledger needs.
_MOST_EMPTY_PAGES = 100_000

# All are remembered while a list is read.
_LONGEST_CURSOR = 1024


def _records(request: Callable[[str | None], KeyList]) -> Iterator[KeyInfo]:
    cursor: str | None = None
    seen: set[str | None] = {"", None}
    empty = 0
    while True:
        page = request(cursor)
        yield from page.keys
        cursor = page.next_cursor
        if cursor is None:
            return
        empty = 0 if page.keys else empty + 1
        if cursor in seen or len(cursor) > _LONGEST_CURSOR or empty > _MOST_EMPTY_PAGES:
            raise PhmResponseError(
                "the list of keys does not end: a next_cursor is empty, too long or repeats, or "
                "all pages are empty",
                status=200,
                code="unexpected_form",
            )
        seen.add(cursor)
