"""A sealed key as it travels, and its header: docs/sealing.md of the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..receipt.canonical import canonical_json
from ..receipt.format_error import FormatError
from ..receipt.shape import (
    base64_of,
    json_list,
    json_object,
    key_id,
    mismatch,
    number,
    or_null,
    origin,
    text_of,
    time,
    typed,
    unless,
)
from ..receipt.statement import MAX_RECIPIENTS, delivery_or_null, recipients_problem
from .base64url import base64url, bytes_of
from .plaintext import MAX_PLAINTEXT_BYTES
from .secret_json import parse_json
from .suites import SUITES, Suite, suite_name, suite_of_ids

# AES-GCM's tag, which ends the ciphertext (RFC 9180 §7.3, Nt).
_TAG_BYTES = 16
_MAX_HEADER_BYTES = 2048


@dataclass(frozen=True, slots=True)
class SealedBytes:
    """A sealed key in bytes. ``aad`` are the bytes of ``header``."""

    suite: Suite
    enc: bytes
    ciphertext: bytes
    aad: bytes
    header: Mapping[str, Any]


def read_sealed_key(value: object) -> SealedBytes:
    """Return the parts of a sealed key, parsed JSON.

    Raises FormatError that names the first member which is missing, unknown or of the wrong form,
    and if the numbers of the suite differ in name, members and header. It opens nothing.
    """
    _SEALED_KEY("the sealed key", value)
    members: Any = value
    suite = SUITES[members["suite"]]
    enc = bytes_of("enc", members["enc"], suite.enc_bytes, suite.enc_bytes)
    ciphertext = bytes_of("ciphertext", members["ciphertext"], 1, _MAX_CIPHERTEXT_BYTES)
    aad = bytes_of("header", members["header"], 1, _MAX_HEADER_BYTES)
    header = _parse_header(aad)
    for name, ids in (("the sealed key", members), ("the header", header)):
        if suite_of_ids(name, ids) is not suite:
            raise FormatError(
                f"{name}: expected the numbers of {suite.name}, got those of another suite"
            )
    return SealedBytes(suite, enc, ciphertext, aad, header)


def _parse_header(content: bytes) -> Mapping[str, Any]:
    # An encoding that is not UTF-8 is not canonical.
    value = parse_json("the header", "JSON", content.decode("utf-8", "replace"))
    _HEADER("the header", value)
    suite_of_ids("the header", value)
    if canonical_json(value).encode() != content:
        raise FormatError(
            "the header: expected canonical JSON (RFC 8785), got another form of JSON"
        )
    return cast("dict[str, Any]", value)


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise mismatch(name, "text", value)


def _level(name: str, value: Any) -> None:
    if isinstance(value, bool) or value not in (128, 256, 384):
        raise mismatch(name, "128, 256 or 384", value)


_MAX_CIPHERTEXT_BYTES = _TAG_BYTES + MAX_PLAINTEXT_BYTES
_id = number(0, 0xFFFF, whole=True)
_IDS = {"kem_id": _id, "kdf_id": _id, "aead_id": _id}

_SEALED_KEY = json_object(
    {
        "suite": suite_name,
        **_IDS,
        "enc": _text,
        "ciphertext": base64url(_TAG_BYTES + 1, _MAX_CIPHERTEXT_BYTES),
        "header": base64url(2, _MAX_HEADER_BYTES),
    }
)

SEALED_KEY = "phm-sealed-key/v1"
SEALED_KEY_V2 = "phm-sealed-key/v2"

_SEALED_FACTS = {
    "service": or_null(origin),
    "key_id": key_id,
    "security_level": _level,
    "time": time,
    **_IDS,
    "thumbprint": base64_of(32),
    "key_commitment": base64_of(32),
}


def _copies_problem(header: Mapping[str, Any]) -> str | None:
    problem = recipients_problem(header["recipients"], header["delivery"])
    if problem is None and header["thumbprint"] not in header["recipients"]:
        return "does not name its own recipient among all"
    return problem


_HEADER = typed(
    {
        SEALED_KEY: json_object({"type": text_of(f'"{SEALED_KEY}"', SEALED_KEY), **_SEALED_FACTS}),
        SEALED_KEY_V2: unless(
            json_object(
                {
                    "type": text_of(f'"{SEALED_KEY_V2}"', SEALED_KEY_V2),
                    **_SEALED_FACTS,
                    "recipients": json_list(base64_of(32), MAX_RECIPIENTS),
                    "delivery": delivery_or_null,
                }
            ),
            _copies_problem,
        ),
    }
)


def header_recipients(header: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the thumbprints of all recipients that a header names, in their order."""
    if header["type"] == SEALED_KEY:
        return (header["thumbprint"],)
    return tuple(header["recipients"])
