"""The plaintext of a sealed key, in canonical JSON (RFC 8785).

{"hash_proof":"…","key":"<hexadecimal>","opening":"<base64>"}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..receipt.format_error import FormatError, decode_base64

_MAX_KEY_BYTES = 48
_MAX_HASH_PROOF_LENGTH = 512
_OPENING_LENGTH = 44

_FORM = (
    r'{"hash_proof":"(?P<hash_proof>[ !#-\[\]-~]{1,512})"'
    r',"key":"(?P<key>[0-9a-f]+)","opening":"(?P<opening>[A-Za-z0-9+/]{43}=)"}'
)

MAX_PLAINTEXT_BYTES = (
    len('{"hash_proof":"","key":"","opening":""}')
    + _MAX_HASH_PROOF_LENGTH
    + 2 * _MAX_KEY_BYTES
    + _OPENING_LENGTH
)


@dataclass(frozen=True, slots=True)
class SealedContent:
    """What a sealed key contains. ``repr()`` hides key and opening."""

    hash_proof: str
    key: bytes = field(repr=False)
    opening: str = field(repr=False)
    """32 bytes in base64."""


def read_plaintext(plaintext: bytes, key_bytes: int) -> SealedContent | None:
    """Return the content; None unless it has exactly this form, with a key of this length."""
    found = re.fullmatch(_FORM, plaintext.decode("ascii", "replace"))
    if found is None or len(found["key"]) != 2 * key_bytes:
        return None
    try:
        decode_base64(found["opening"])
    except FormatError:
        return None
    return SealedContent(found["hash_proof"], bytes.fromhex(found["key"]), found["opening"])
