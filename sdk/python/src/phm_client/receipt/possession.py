"""Checks a key and its opening against the commitment of a statement."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Any

from .format_error import FormatError, decode_base64
from .verdict import Findings

_OPENING_BYTES = 32


def check_possession(
    findings: Findings,
    statement: Mapping[str, Any],
    key: str | bytes | None,
    opening: str | bytes | None,
) -> None:
    """Add what key and opening show. No sentence quotes either."""
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
    key_bytes, opening_bytes = _read_key(key, bits), _read_opening(opening)
    if key_bytes is None:
        findings.problems.append(
            f"The key has the wrong form: the receipt is for a key of {bits} bits, "
            f"which is {_plain(bits / 4)} hexadecimal digits."
        )
    elif opening_bytes is None:
        findings.problems.append(
            "The opening has the wrong form: "
            f"an opening is base64 of exactly {_OPENING_BYTES} bytes."
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


def _read_key(key: str | bytes, bits: int) -> bytes | None:
    if isinstance(key, bytes):
        return key if len(key) * 8 == bits else None
    if len(key) * 4 != bits or not re.fullmatch(r"[0-9a-fA-F]+", key, re.ASCII) or len(key) % 2:
        return None
    return bytes.fromhex(key)


def _read_opening(opening: str | bytes) -> bytes | None:
    """HMAC pads short keys with zeros: another length could open a commitment twice."""
    try:
        content = decode_base64(opening) if isinstance(opening, str) else opening
    except FormatError:
        return None
    return content if len(content) == _OPENING_BYTES else None


def _plain(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
