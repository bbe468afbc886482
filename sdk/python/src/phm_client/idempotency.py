"""Values of the header ``Idempotency-Key``."""

from __future__ import annotations

import os
import re
import time
import uuid

from .options import check_text

# What the service accepts.
_FORM = re.compile(r"[\x21-\x7e]{1,255}")


def new_idempotency_key() -> str:
    """Return a new UUIDv7 (RFC 9562 §5.7): milliseconds since the epoch, then 74 random bits."""
    value = time.time_ns() // 1_000_000 << 80 | int.from_bytes(os.urandom(10), "big")
    value = value & ~(0xF << 76) | 7 << 76  # version
    value = value & ~(0b11 << 62) | 0b10 << 62  # variant
    return str(uuid.UUID(int=value))


def read_idempotency_key(value: object) -> str | None:
    """Return the header's value: True asks for a new one, False for none.

    Raises TypeError or ValueError.
    """
    if isinstance(value, bool):
        return new_idempotency_key() if value else None
    check_text("idempotency_key", value)
    text = str(value)
    if not _FORM.fullmatch(text):
        raise ValueError("idempotency_key must be 1 to 255 visible ASCII characters")
    return text
