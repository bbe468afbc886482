"""The calls that generate one key. ``batches`` has those that generate many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeVar, cast, overload

from .binding import of_key
from .deliver import Deliver, deliver_member
from .idempotency import read_idempotency_key
from .options import read_include, read_labels, written_time
from .receipt.statement import MAX_RECIPIENTS
from .sealing.base64url import encode_base64url
from .sealing.recipient import Recipient
from .types import (
    EntropySource,
    GeneratedKey,
    GeneratedSealedKey,
    GeneratedSealedKeys,
    ModulationType,
    ReportedKey,
    ReportedSealedKey,
    SecurityLevel,
    ValidatedKey,
    ValidatedSealedKey,
)

T = TypeVar("T")

Report = Literal["nist_report"] | tuple[Literal["nist_report"]]
ReceiptOnly = Literal["receipt"] | tuple[Literal["receipt"]]
SealTo = Recipient | str

ReportAndReceipt = (
    tuple[Literal["nist_report"], Literal["receipt"]]
    | tuple[Literal["receipt"], Literal["nist_report"]]
)
Include = Report | ReceiptOnly | ReportAndReceipt


class KeyCalls(ABC):
    """The methods of ``PhmClient`` that generate one key."""

    @overload
    def generate(
        self,
        security_level: SecurityLevel,
        *,
        enable_nist_validation: Literal[True],
        include: Report | ReportAndReceipt,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ReportedKey: ...

    @overload
    def generate(
        self,
        security_level: SecurityLevel,
        *,
        enable_nist_validation: Literal[True],
        include: ReceiptOnly | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ValidatedKey: ...

    @overload
    def generate(
        self,
        security_level: SecurityLevel,
        *,
        enable_nist_validation: bool = False,
        include: ReceiptOnly | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> GeneratedKey: ...

    def generate(
        self,
        security_level: SecurityLevel,
        *,
        enable_nist_validation: bool = False,
        include: Include | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> GeneratedKey:
        """Generate a key.

        Without ``idempotency_key`` the client retries only if the service cannot have generated
        one. If a call fails with ``outcome_unknown``, a key may have been generated and counted,
        but the response was lost.

        With ``idempotency_key`` the client also retries after a lost response, and the service
        never generates a second key. If it had generated the first, the call raises
        ``PhmKeyLostError`` with its ID: the key itself cannot be sent again.

        Args:
            security_level: Length of the key in bits.
            enable_nist_validation: Run the SP 800-22 suite on the stream that the key is cut from.
                The method then returns a ``ValidatedKey``.
            include: ``"nist_report"`` adds the suite's full report and needs
                ``enable_nist_validation``. The method then returns a ``ReportedKey``.
                ``"receipt"`` adds ``receipt``, ``receipt_url`` and ``opening``. For both, give a
                tuple.
            modulation_type: None selects the service's default, as for ``entropy_source``.
            entropy_source: Source mixed in besides the operating system.
            labels: Names and values by which ``list_keys`` finds the key. They are stored and
                shown: put no secret in them.
            expires_at: Time with an offset from which ``validate`` calls the key invalid.
            idempotency_key: Value of ``Idempotency-Key``, 1 to 255 visible ASCII characters, or
                True for a new UUID. The service remembers it for 24 hours.
            request_id: See the class.
            timeout: See the class.
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
        unique = read_idempotency_key(idempotency_key)
        return self._generate(
            "/api/v2/generate", form, body, unique, request_id, timeout, check=of_key(body)
        )

    @overload
    def generate_sealed(
        self,
        security_level: SecurityLevel,
        *,
        seal_to: Recipient | str,
        enable_nist_validation: Literal[True],
        include: Report | ReportAndReceipt,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ReportedSealedKey: ...

    @overload
    def generate_sealed(
        self,
        security_level: SecurityLevel,
        *,
        seal_to: Recipient | str,
        enable_nist_validation: Literal[True],
        include: ReceiptOnly | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> ValidatedSealedKey: ...

    @overload
    def generate_sealed(
        self,
        security_level: SecurityLevel,
        *,
        seal_to: Recipient | str,
        enable_nist_validation: bool = False,
        include: ReceiptOnly | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> GeneratedSealedKey: ...

    @overload
    def generate_sealed(
        self,
        security_level: SecurityLevel,
        *,
        seal_to: list[SealTo] | tuple[SealTo, ...],
        enable_nist_validation: bool = False,
        include: Include | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> GeneratedSealedKeys: ...

    @overload
    def generate_sealed(
        self,
        security_level: SecurityLevel,
        *,
        seal_to: SealTo | list[SealTo] | tuple[SealTo, ...],
        deliver: Deliver,
        enable_nist_validation: bool = False,
        include: Include | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> GeneratedSealedKeys: ...

    def generate_sealed(
        self,
        security_level: SecurityLevel,
        *,
        seal_to: SealTo | list[SealTo] | tuple[SealTo, ...],
        deliver: Deliver | None = None,
        enable_nist_validation: bool = False,
        include: Include | None = None,
        modulation_type: ModulationType | None = None,
        entropy_source: EntropySource | None = None,
        labels: Mapping[str, str] | None = None,
        expires_at: datetime | None = None,
        idempotency_key: str | bool = True,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> GeneratedSealedKey | GeneratedSealedKeys:
        """Generate a key that only its recipient can open, with ``open_sealed_key``.

        Several recipients all get the same key, and the method returns ``GeneratedSealedKeys``.

        The client also retries after a lost response: the service then sends the same sealed key
        again and generates no second one.

        Args:
            security_level: Length of the key in bits.
            seal_to: The recipient, or the name under which the operator registered it; or a list
                or tuple of two to eight of them.
            deliver: The service keeps each sealed key for its recipient, and the method returns
                ``GeneratedSealedKeys``, also for one recipient. ``deliveries.fetch`` gets them.
            enable_nist_validation: As for ``generate``; the method then returns a
                ``ValidatedSealedKey``.
            include: As for ``generate``; with ``"nist_report"`` the method returns a
                ``ReportedSealedKey``. The opening is always in the sealed key.
            modulation_type: None selects the service's default, as for ``entropy_source``.
            entropy_source: Source mixed in besides the operating system.
            labels: As for ``generate``.
            expires_at: As for ``generate``.
            idempotency_key: Value of ``Idempotency-Key``, 1 to 255 visible ASCII characters. True
                selects a new UUID, False sends none. Within 24 hours the same call with the same
                value returns the same sealed key.
            request_id: See the class.
            timeout: See the class.
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
            **deliver_member(deliver),
        }
        form: type[GeneratedSealedKey | GeneratedSealedKeys] = sealed_form(body)
        unique = read_idempotency_key(idempotency_key)
        check = of_key(body, seal_to)
        path = "/api/v2/generate/sealed"
        return self._generate(path, form, body, unique, request_id, timeout, check=check)

    @abstractmethod
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
        check: Callable[[T], str | None] | None = None,
    ) -> T: ...

    def _generate(
        self,
        path: str,
        form: type[T],
        body: dict[str, Any],
        idempotency_key: str | None,
        request_id: str | None,
        timeout: float | None,
        *,
        check: Callable[[T], str | None],
        places: int = 1,
    ) -> T:
        return self._post(
            path,
            form,
            body,
            request_id,
            timeout,
            repeatable=False,
            idempotency_key=idempotency_key,
            places=places,
            check=check,
        )


def given(**arguments: Any) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {name: value for name, value in arguments.items() if value is not None}


def key_body(
    security_level: object,
    enable_nist_validation: bool,
    include: object,
    modulation_type: object,
    entropy_source: object,
    labels: object,
    expires_at: object,
) -> dict[str, Any]:
    """Return the members that all requests for keys share."""
    return given(
        security_level=security_level,
        enable_nist_validation=enable_nist_validation or None,
        include=read_include(include),
        modulation_type=modulation_type,
        entropy_source=entropy_source,
        labels=read_labels(labels),
        expires_at=written_time("expires_at", expires_at),
    )


def key_form(
    body: dict[str, Any], plain: type[T], validated: type[T], reported: type[T]
) -> type[T]:
    """Return the form of the response to a request."""
    if not body.get("enable_nist_validation"):
        return plain
    return reported if "nist_report" in body.get("include", ()) else validated


def sealed_form(body: dict[str, Any]) -> Any:
    """Return the form of the response to a request for a sealed key."""
    if isinstance(body["seal_to"], list) or "deliver" in body:
        return GeneratedSealedKeys
    return key_form(body, GeneratedSealedKey, ValidatedSealedKey, ReportedSealedKey)


def seal_to_member(recipients: object) -> dict[str, str] | list[dict[str, str]]:
    """Return the member ``seal_to`` of a request."""
    if not isinstance(recipients, (list, tuple)):
        return _one_recipient(recipients)
    several = cast("Sequence[object]", recipients)
    if not 2 <= len(several) <= MAX_RECIPIENTS:
        raise ValueError(
            f"seal_to must have 2 to {MAX_RECIPIENTS} recipients, got {len(several)}: "
            "give one alone"
        )
    return [_one_recipient(one) for one in several]


def _one_recipient(recipient: object) -> dict[str, str]:
    if isinstance(recipient, Recipient):
        return {"suite": recipient.suite, "public_key": encode_base64url(recipient.public_key)}
    if not isinstance(recipient, str):
        got = type(recipient).__name__
        raise TypeError(f"seal_to must be a Recipient or the name of a registered one, got {got}")
    # No name starts so. The file may be the secret one, which must not be sent.
    if recipient.lstrip().startswith("{"):
        raise ValueError("seal_to is the text of a file: use parse_recipient(text)")
    return {"recipient": recipient}
