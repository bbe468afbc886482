"""Opens a sealed key with the recipient's private key, and checks all that comes with it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, cast

from ..receipt.format_error import FormatError
from ..receipt.json_text import parse_json_text
from ..receipt.possession import is_commitment
from ..receipt.statement import MAX_RECIPIENTS
from ..receipt.text import UnreadableError
from ..receipt.verdict import ReceiptVerdict
from ..receipt.verify import ReceiptLike, verify_receipt
from ..types import (
    GeneratedSealedKey,
    GeneratedSealedKeys,
    NistReport,
    Receipt,
    SealedKey,
    SecurityLevel,
)
from .binding import binding_problem
from .expected import expectation_problem
from .hpke import OpenFailedError, open_base
from .plaintext import SealedContent, read_plaintext
from .recipient import Recipient, RecipientKey, recipient_key_of
from .sealed_key import (
    SEALED_KEY,
    SEALED_KEY_V2,
    SealedBytes,
    header_recipients,
    read_sealed_key,
)

_INFO_LABELS = {SEALED_KEY: b"phm/seal/v1\0", SEALED_KEY_V2: b"phm/seal/v2\0"}


class SealedKeyError(Exception):
    """A sealed key that does not open, or that does not fit its response or receipt.

    The message is one sentence that says why.
    """

    verdict: ReceiptVerdict | None
    """Verdict on the receipt, if it was verified."""

    def __init__(self, message: str, verdict: ReceiptVerdict | None = None) -> None:
        super().__init__(message)
        self.verdict = verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedKey:
    """A key that was sealed.

    ``repr()``, comparison and ``hash()`` ignore ``key`` and ``opening``.
    """

    key_id: str
    key: bytes = field(repr=False, compare=False)
    security_level: SecurityLevel
    hash_proof: str
    """Proof for ``validate``."""
    opening: str = field(repr=False, compare=False)
    """Opens ``key_commitment`` of the receipt. Keep it as secret as the key."""
    service: str | None
    """Origin of the service's log; None without a log."""
    time: str
    """When the service accepted the request, in ISO 8601."""
    recipients: tuple[str, ...]
    """Thumbprints in base64 of all to whom the key is sealed, in the order of the request."""
    verdict: ReceiptVerdict | None
    """Valid, if a receipt was verified; otherwise None."""


def open_sealed_key(
    sealed: GeneratedSealedKey | GeneratedSealedKeys | SealedKey | Mapping[str, Any] | str | bytes,
    recipient_key: RecipientKey | str | bytes,
    *,
    receipt: ReceiptLike | None = None,
    policy: str | bytes | None = None,
    nist_report: NistReport | Mapping[str, Any] | None = None,
    expect_recipients: Iterable[Recipient | str] | None = None,
    now: datetime | None = None,
) -> OpenedKey:
    """Open a sealed key. Nothing is sent or fetched.

    Always checks recipient, form, length and commitment, and that the response names the same key.
    With a receipt it also verifies that, and that the receipt is of this key, recipient and
    ciphertext. Without a receipt nothing shows that the service sealed the key: anyone can seal to
    a public key.

    Raises SealedKeyError if anything does not hold, and SealingUnavailableError without version 48
    or newer of the package ``cryptography``.

    Args:
        sealed: What ``generate_sealed`` returned or another client stored: the response or its
            ``sealed_key``, also as parsed JSON or as its text or bytes. Of a response for several
            recipients, the own copy is opened.
        recipient_key: The key pair of the recipient, or the text or bytes of its file.
        receipt: The receipt, as for ``verify_receipt``. By default the one in the response, if you
            give a policy.
        policy: As for ``verify_receipt``: pin it.
        nist_report: As for ``verify_receipt``.
        expect_recipients: All recipients that the key may have beside you, and must have: as
            objects, as the texts of their files, or as thumbprints in base64. A key that is sealed
            to a further one, or not to one of them, is refused. Empty: to you alone.
        now: As for ``verify_receipt``.
    """
    response = _response_of(sealed)
    own = _recipient_key_of(recipient_key)
    if receipt is None and policy is not None:
        receipt = _receipt_in(response)
    parts = _own_copy(response, own)
    content = open_parts(parts, own)
    header = parts.header
    _check_response(response, header)
    if expect_recipients is not None:
        problem = expectation_problem(header, expect_recipients)
        if problem is not None:
            raise SealedKeyError(problem)
    verdict = None
    if receipt is not None:
        try:
            verdict = verify_receipt(
                receipt,
                policy=policy,
                key=content.key,
                opening=content.opening,
                nist_report=nist_report,
                now=now,
            )
        except UnreadableError as error:
            raise SealedKeyError(str(error)) from None
        _check_receipt(verdict, parts)
    return OpenedKey(
        key_id=header["key_id"],
        key=content.key,
        security_level=header["security_level"],
        hash_proof=content.hash_proof,
        opening=content.opening,
        service=header["service"],
        time=header["time"],
        recipients=header_recipients(header),
        verdict=verdict,
    )


def sealed_key_json(sealed: GeneratedSealedKey | GeneratedSealedKeys | SealedKey) -> str:
    """Return a sealed key as JSON, with its receipt, for a file or for ``phm open``."""
    if not isinstance(sealed, (GeneratedSealedKey, GeneratedSealedKeys, SealedKey)):
        got = type(sealed).__name__
        raise TypeError(f"sealed must be a GeneratedSealedKey or its SealedKey, got {got}")
    members = _response_of(sealed)
    if isinstance(members.get("receipt"), Receipt):
        members["receipt"] = asdict(members["receipt"])
    return json.dumps(members, separators=(",", ":"))


def _receipt_in(response: Mapping[str, Any]) -> Any:
    if "receipt" not in response:
        raise ValueError(
            "a policy was given without a receipt: pass the receipt, or a response that has one"
        )
    if response["receipt"] is None:
        raise SealedKeyError(
            "The answer has no receipt yet, because the log did not have its entry in time: "
            "get it by the key_id, and pass it."
        )
    return response["receipt"]


def _response_of(sealed: object) -> dict[str, Any]:
    """Return the response as parsed JSON; ``sealed_key`` or ``sealed_keys`` is there."""
    if isinstance(sealed, (GeneratedSealedKey, GeneratedSealedKeys)):
        response = {
            **_members_of(sealed),
            "key_id": sealed.key_id,
            "security_level": sealed.security_level,
        }
        # Without `include="receipt"` there is no URL.
        return response if sealed.receipt_url is None else {**response, "receipt": sealed.receipt}
    if isinstance(sealed, SealedKey):
        return {"sealed_key": asdict(sealed)}
    value: Any = sealed
    if isinstance(sealed, (str, bytes)):
        try:
            value = parse_json_text(sealed)
        except FormatError as error:
            raise SealedKeyError(f"This is not a sealed key: {error}.") from None
    if isinstance(value, Mapping):
        members = dict(cast("Mapping[str, Any]", value))
        if "sealed_key" in members or "sealed_keys" in members:
            return members
        value = members
    return {"sealed_key": value}


def _members_of(sealed: GeneratedSealedKey | GeneratedSealedKeys) -> dict[str, Any]:
    if isinstance(sealed, GeneratedSealedKeys):
        return {"sealed_keys": [asdict(one) for one in sealed.sealed_keys]}
    return {"sealed_key": asdict(sealed.sealed_key)}


def _recipient_key_of(given: object) -> RecipientKey:
    try:
        return recipient_key_of(given)
    except FormatError as error:
        # No reason quotes the text.
        reason = str(error).removesuffix(".")
    raise SealedKeyError(f"This is not the key of a recipient: {reason}.")


def _own_copy(response: Mapping[str, Any], own: RecipientKey) -> SealedBytes:
    """Return the copy with the recipient's thumbprint, or the first if none has it."""
    if "sealed_keys" not in response:
        return _parts_of(response["sealed_key"])
    copies = response["sealed_keys"]
    if not isinstance(copies, (list, tuple)) or not 1 <= len(copies) <= MAX_RECIPIENTS:
        expected = f"sealed_keys: expected a list of 1 to {MAX_RECIPIENTS}"
        raise SealedKeyError(f"This is not a sealed key: {expected}.")
    all_parts = [_parts_of(one) for one in cast("list[object]", copies)]
    thumbprint = _base64(hashlib.sha256(own.public_key).digest())
    found = (one for one in all_parts if one.header["thumbprint"] == thumbprint)
    return next(found, all_parts[0])


def _parts_of(sealed_key: object) -> SealedBytes:
    try:
        return read_sealed_key(sealed_key)
    except FormatError as error:
        raise SealedKeyError(f"This is not a sealed key: {error}.") from None


def _check_response(response: Mapping[str, Any], header: Mapping[str, Any]) -> None:
    """Check what the response says of the key: anyone on the way could have exchanged it."""
    for name in ("key_id", "security_level"):
        if name in response and response[name] != header[name]:
            given = json.dumps(response[name], ensure_ascii=False)
            raise SealedKeyError(
                f"The answer states the {name} {given}, but the sealed key is of {header[name]}."
            )


def open_parts(parts: SealedBytes, recipient_key: RecipientKey) -> SealedContent:
    """Open a sealed key, and check recipient, form, length and commitment."""
    _check_recipient(parts, recipient_key)
    content = read_plaintext(
        _decrypt(parts, recipient_key.private_key),
        int(parts.header["security_level"]) // 8,
    )
    if content is None:
        raise SealedKeyError(
            f"The sealed content is not a key of {int(parts.header['security_level'])} bits "
            "with its proof and opening."
        )
    _check_commitment(parts.header, content)
    return content


def _check_recipient(parts: SealedBytes, recipient_key: RecipientKey) -> None:
    if recipient_key.suite != parts.suite.name:
        raise SealedKeyError(
            f"The key is sealed with {parts.suite.name}, "
            f"and this recipient key is for {recipient_key.suite}."
        )
    own = _base64(hashlib.sha256(recipient_key.public_key).digest())
    stated = parts.header["thumbprint"]
    if own != stated:
        raise SealedKeyError(
            "The key is sealed to another recipient: "
            f"its thumbprint is {stated}, and yours is {own}."
        )


def _decrypt(parts: SealedBytes, private_key: bytes) -> bytes:
    suite, enc, ciphertext, aad = parts.suite, parts.enc, parts.ciphertext, parts.aad
    info = _INFO_LABELS[parts.header["type"]] + hashlib.sha256(aad).digest()
    if len(private_key) == suite.private_key_bytes:
        try:
            return open_base(suite, private_key, enc, ciphertext, info=info, aad=aad)
        except OpenFailedError:
            pass
    raise SealedKeyError(
        "The sealed key does not open: it or its header was altered, "
        "or the private key does not belong to the public key."
    )


def _check_commitment(header: Mapping[str, Any], content: SealedContent) -> None:
    """AES-GCM does not commit to its key: one ciphertext can open to two keys.

    The commitment in the header fits only one.
    """
    opening = base64.b64decode(content.opening)
    if not is_commitment(header["key_commitment"], header["key_id"], content.key, opening):
        raise SealedKeyError(
            "The key inside is not the one of the header: its key_commitment is of another key."
        )


def _check_receipt(verdict: ReceiptVerdict, parts: SealedBytes) -> None:
    """Check that a receipt is valid, and that its statement is of this sealed key."""
    digest = _base64(hashlib.sha256(parts.enc + parts.ciphertext).digest())
    problem = binding_problem(asdict(verdict.statement), parts.header, digest)
    if problem is not None or not verdict.valid:
        raise SealedKeyError(problem or verdict.problems[0], verdict)


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
