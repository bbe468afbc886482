"""The bytes of a key, however it came."""

from __future__ import annotations

from .sealing.opening import OpenedKey
from .types import GeneratedKey


def key_bytes(generated: GeneratedKey | OpenedKey) -> bytes:
    """Return the bytes of a generated key, or of a sealed key that was opened.

    Raises ``TypeError`` for anything else. The message does not quote it.
    """
    if isinstance(generated, OpenedKey):
        return generated.key
    if not isinstance(generated, GeneratedKey):
        got = type(generated).__name__
        raise TypeError(f"generated must be a GeneratedKey or an OpenedKey, got {got}")
    return bytes.fromhex(generated.key)
