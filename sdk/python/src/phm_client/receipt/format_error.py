"""Refusals of texts from outside, and the small parsers that all formats use."""

from __future__ import annotations

import base64
import binascii
import json
import re

HASH_BYTES = 32
_SHOWN_CHARACTERS = 60
# No secret of the service is as short.
_HARMLESS_CHARACTERS = 24
_MAX_SAFE = 2**53 - 1


class FormatError(ValueError):
    """A text has not the form of its format. The message says what was expected, and what came."""


def quoted(name: str) -> str:
    """Return a name in quotes for a message: shortened, with control characters escaped."""
    shown = f"{name[:_SHOWN_CHARACTERS]}…" if len(name) > _SHOWN_CHARACTERS else name
    return json.dumps(shown, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def received(text: str) -> str:
    """Return what came, for a message: of a long text only the length, for it can be a secret."""
    if len(text) <= _HARMLESS_CHARACTERS:
        return quoted(text)
    return f"a text of {len(text)} characters"


def decode_base64(text: str) -> bytes:
    """Return the bytes of padded, canonical base64 (RFC 4648 §4). Raises FormatError."""
    decoded = _decode_loosely(text)
    if decoded is None:
        raise FormatError(f"expected padded base64 (RFC 4648 §4), got {received(text)}")
    return decoded


def decode_base64_of(length: int, name: str, text: str) -> bytes:
    """Return the bytes of base64 of exactly this length. Raises FormatError."""
    decoded = _decode_loosely(text)
    if decoded is None or len(decoded) != length:
        raise FormatError(
            f"{name}: expected base64 (RFC 4648 §4) of {length} bytes, got {received(text)}"
        )
    return decoded


def _decode_loosely(text: str) -> bytes | None:
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    # Unused bits must be zero: each byte string has one encoding.
    return decoded if base64.b64encode(decoded).decode() == text else None


def parse_decimal(name: str, text: str) -> int:
    """Return a decimal number below 2^53 without leading zeros. Raises FormatError."""
    value = int(text) if re.fullmatch(r"0|[1-9][0-9]{0,15}", text, re.ASCII) else -1
    if not 0 <= value <= _MAX_SAFE:
        raise FormatError(
            f"{name}: expected a decimal number below 2^53 without leading zeros, "
            f"got {received(text)}"
        )
    return value


def is_line(text: str) -> bool:
    """Return whether a text is Unicode without control characters below U+0020."""
    return re.search(r"[\x00-\x1f\ud800-\udfff]", text) is None
