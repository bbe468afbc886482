"""Checks a key and its opening against the commitment of a statement."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .format_error import FormatError, decode_base64
from .text import UnreadableError, plain_text, unreadable
from .verdict import Findings

_OPENING_BYTES = 32


def check_possession(
    findings: Findings,
    statement: Mapping[str, Any],
    key: str | bytes | None,
    opening: str | bytes | None,
) -> None:
    """Add what key and opening show. No sentence quotes either. Raises UnreadableError."""
    if key is None and opening is None:
        findings.not_shown.append(
            "That you hold the key of this receipt: no key with its opening was given."
        )
        return
    if key is None or opening is None:
        given = "opening" if key is None else "key"
        findings.problems.append(
            f"Only the {given} was given: "
            "the commitment can be checked with the key and its opening together."
        )
        return
    bits = int(statement["security_level"])
    opening_bytes = _read_opening(opening)
    key_bytes = _read_key(key)
    if len(key_bytes) * 8 != bits:
        findings.problems.append(
            f"The key has the wrong form: the receipt is for a key of {bits} bits, "
            f"which is {_plain(bits / 4)} hexadecimal digits."
        )
    elif is_commitment(statement["key_commitment"], statement["key_id"], key_bytes, opening_bytes):
        findings.shown.append(
            "The given key is the key of this receipt: with its opening it fits the commitment."
        )
    else:
        findings.problems.append(
            "The given key is not the key of this receipt, or the opening belongs to another key: "
            "they do not fit the commitment."
        )


def is_commitment(commitment: str, key_id: str, key: bytes, opening: bytes) -> bool:
    """Return whether a commitment, in base64, is to this key under this opening."""
    bits = len(key) * 8
    message = b"phm/key-commitment/v1\0" + bits.to_bytes(2, "big") + f"{key_id}\0".encode() + key
    own = hmac.new(opening, message, hashlib.sha256).digest()
    return hmac.compare_digest(own, base64.b64decode(commitment))


_KEY_FORM = "The key has the wrong form: a key is hexadecimal digits"
_OPENING_FORM = (
    f"The opening has the wrong form: an opening is base64 of exactly {_OPENING_BYTES} bytes"
)


def _read_key(key: str | bytes) -> bytes:
    if isinstance(key, bytes):
        return key
    digits = _line(_KEY_FORM, key)
    if not re.fullmatch(r"(?:[0-9a-fA-F]{2})+", digits, re.ASCII):
        raise UnreadableError(f"{_KEY_FORM}.")
    return bytes.fromhex(digits)


def _read_opening(opening: str | bytes) -> bytes:
    """HMAC pads short keys with zeros: another length could open a commitment twice."""
    content: bytes | None = opening if isinstance(opening, bytes) else None
    if isinstance(opening, str):
        with suppress(FormatError):
            content = decode_base64(_line(_OPENING_FORM, opening))
    if content is None or len(content) != _OPENING_BYTES:
        raise UnreadableError(f"{_OPENING_FORM}.")
    return content


def _line(what: str, text: str) -> str:
    """Return the content of a file with one line."""
    try:
        return plain_text(text).strip()
    except FormatError as error:
        raise unreadable(what, error) from None


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
