"""The calls that generate many keys, as iterators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, TypeVar, cast, overload

from .binding import Check, of_batch, of_key
from .deliver import DeliverBatch, deliver_batch_member, part_of
from .errors import PhmApiError
from .generation import (
    Include,
    KeyCalls,
    ReceiptOnly,
    Report,
    ReportAndReceipt,
    SealTo,
    key_body,
    key_form,
    seal_to_member,
    sealed_form,
)
from .idempotency import read_idempotency_key
from .options import check_request_id, check_seconds, check_whole
from .process import this_process
from .sealing.recipient import Recipient
from .types import (
    EntropySource,
    GeneratedKey,
    GeneratedSealedKey,
    GeneratedSealedKeys,
    KeyBatch,
    ModulationType,
    ReportedKey,
    ReportedSealedKey,
    SecurityLevel,
    ValidatedKey,
    ValidatedSealedKey,
)

K = TypeVar("K", bound="GeneratedKey | GeneratedSealedKey | GeneratedSealedKeys")

# Most keys that the service generates in one request.
_MAX_BATCH = 1000


class BatchCalls(KeyCalls):
    """The methods of ``PhmClient`` that generate many keys."""

    @overload
    def generate_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        enable_nist_validation: Literal[True],
        include: Report | ReportAndReceipt,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[ReportedKey]: ...

    @overload
    def generate_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        enable_nist_validation: Literal[True],
        include: ReceiptOnly | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[ValidatedKey]: ...

    @overload
    def generate_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        enable_nist_validation: bool = False,
        include: ReceiptOnly | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[GeneratedKey]: ...

    def generate_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        enable_nist_validation: bool = False,
        include: Include | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[GeneratedKey]:
        """Return an iterator over ``count`` new keys, which it fetches ``chunk`` at a time.

        Each request has an ``Idempotency-Key`` of its own, so the client retries after a lost
        response. If the service had generated those keys, the iterator raises ``PhmKeyLostError``
        with their IDs. Keys that it returned before are not affected.

        Args:
            security_level: Length of the keys in bits.
            count: Number of keys, at least 1.
            enable_nist_validation: As for ``generate``.
            include: As for ``generate``.
            modulation_type: As for ``generate``.
            entropy_source: As for ``generate``.
            labels: As for ``generate``; all keys get them.
            expires_at: As for ``generate``; for all keys.
            chunk: Most keys in one request, 1 to 1000; with ``include`` at most 100. If the service
                cannot generate so many in time, the iterator asks for as many as it can.
            idempotency_key: True selects a new UUID for each request, False sends none. With text
                the iterator sends one request, and ``count`` must not exceed ``chunk``.
            request_id: See the class; all requests have it.
            timeout: Seconds for each request with its retries.
        """
        body = key_body(
            security_level,
            enable_nist_validation,
            include,
            modulation_type,
            entropy_source,
            labels,
            expires_at,
        )
        form = key_form(body, GeneratedKey, ValidatedKey, ReportedKey)
        path, check = "/api/v2/generate/batch", of_key(body)
        return self._batches(
            path, form, body, count, chunk, idempotency_key, request_id, timeout, check
        )

    @overload
    def generate_sealed_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        seal_to: Recipient | str,
        enable_nist_validation: Literal[True],
        include: Report | ReportAndReceipt,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[ReportedSealedKey]: ...

    @overload
    def generate_sealed_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        seal_to: Recipient | str,
        enable_nist_validation: Literal[True],
        include: ReceiptOnly | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[ValidatedSealedKey]: ...

    @overload
    def generate_sealed_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        seal_to: Recipient | str,
        enable_nist_validation: bool = False,
        include: ReceiptOnly | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[GeneratedSealedKey]: ...

    @overload
    def generate_sealed_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        seal_to: list[SealTo] | tuple[SealTo, ...],
        enable_nist_validation: bool = False,
        include: Include | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[GeneratedSealedKeys]: ...

    @overload
    def generate_sealed_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        seal_to: SealTo | list[SealTo] | tuple[SealTo, ...],
        deliver: DeliverBatch,
        enable_nist_validation: bool = False,
        include: Include | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[GeneratedSealedKeys]: ...

    def generate_sealed_batch(
        self,
        security_level: SecurityLevel,
        *,
        count: int,
        seal_to: SealTo | list[SealTo] | tuple[SealTo, ...],
        deliver: DeliverBatch | None = None,
        enable_nist_validation: bool = False,
        include: Include | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        chunk: int = 100,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[GeneratedSealedKey] | Iterator[GeneratedSealedKeys]:
        """Return an iterator over ``count`` new keys, all sealed to the same recipients.

        It works as ``generate_batch`` does, with ``seal_to`` as for ``generate_sealed``. With
        ``deliver`` the service keeps the sealed keys for their recipients. It sends a lost response
        again, so no key is lost.
        """
        body = {
            **key_body(
                security_level,
                enable_nist_validation,
                include,
                modulation_type,
                entropy_source,
                labels,
                expires_at,
            ),
            "seal_to": seal_to_member(seal_to),
            **deliver_batch_member(deliver, count),
        }
        form = sealed_form(body)
        path, check = "/api/v2/generate/sealed/batch", of_key(body, seal_to)
        return self._batches(
            path,
            form,
            body,
            count,
            chunk,
            idempotency_key,
            request_id,
            timeout,
            check,
        )

    def _batches(
        self,
        path: str,
        form: type[K],
        body: dict[str, Any],
        count: int,
        chunk: int,
        idempotency_key: str | bool,
        request_id: str | None,
        timeout: float | None,
        of_one: Check,
    ) -> Iterator[K]:
        """Check the arguments now; the iterator sends its first request when it is first used."""
        check_whole("count", count)
        check_whole("chunk", chunk, _MAX_BATCH)
        check_request_id(request_id)
        if timeout is not None:
            check_seconds("timeout", timeout)
        read_idempotency_key(idempotency_key)
        is_one = isinstance(idempotency_key, str)
        if is_one and count > chunk:
            raise ValueError("with idempotency_key, count must be at most chunk: one request")
        answer = cast("type[KeyBatch[K]]", cast(Any, KeyBatch)[form])

        def request(keys: int, done: int) -> KeyBatch[K]:
            unique = read_idempotency_key(idempotency_key)
            whole = part_of(body, done, keys)
            check = of_batch(whole, of_one)
            return self._generate(
                path, answer, whole, unique, request_id, timeout, check=check, places=keys
            )

        return _iterate(request, count, chunk, this_process(), may_split=not is_one)


def _iterate(
    request: Callable[[int, int], KeyBatch[K]],
    count: int,
    chunk: int,
    process: tuple[int, int],
    *,
    may_split: bool,
) -> Iterator[K]:
    left = count
    while left > 0:
        _check_process(process)
        wanted = min(left, chunk)
        try:
            batch = request(wanted, count - left)
        except PhmApiError as error:
            most = error.max_count or 0
            if error.code != "batch_too_large" or not may_split or not 0 < most < wanted:
                raise
            chunk = most
            continue
        left -= wanted
        for key in batch.keys:
            _check_process(process)
            yield key


def _check_process(process: tuple[int, int]) -> None:
    """Raise RuntimeError after a fork: both processes would go on with the same keys."""
    if this_process() != process:
        raise RuntimeError(
            "this iterator over keys is of another process, from before a fork: make one here"
        )
