"""Base64url of RFC 4648 §5 without padding, and canonical: each byte string has one encoding."""

from __future__ import annotations

import base64
import re

from ..receipt.format_error import FormatError, decode_base64
from ..receipt.shape import Check

_KINDS: dict[type, str] = {bool: "boolean", int: "number", float: "number"}


def encode_base64url(content: bytes) -> str:
    """Return the encoding of these bytes."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def bytes_of(name: str, value: object, least: int, most: int) -> bytes:
    """Return ``least`` to ``most`` decoded bytes.

    Raises FormatError, which names the member and does not quote it: it may be a private key.
    """
    decoded = _decode(value, most) if isinstance(value, str) else None
    if decoded is not None and least <= len(decoded) <= most:
        return decoded
    length = str(least) if least == most else f"{least} to {most}"
    got = (
        f"{len(value)} characters" if isinstance(value, str) else _KINDS.get(type(value), "object")
    )
    raise FormatError(
        f"{name}: expected base64url without padding (RFC 4648 §5) of {length} bytes, got {got}"
    )


def base64url(least: int, most: int) -> Check:
    """Accept base64url of ``least`` to ``most`` bytes."""

    def check(name: str, value: object) -> None:
        bytes_of(name, value, least, most)

    return check


def _decode(text: str, most: int) -> bytes | None:
    if len(text) > -(-most * 4 // 3) or not re.fullmatch(r"[A-Za-z0-9_-]*", text):
        return None
    padding = "=" * (-len(text) & 3)
    try:
        return decode_base64(text.replace("-", "+").replace("_", "/") + padding)
    except FormatError:
        return None
