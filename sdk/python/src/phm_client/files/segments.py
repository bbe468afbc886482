"""The encrypted content: Tink's Streaming AEAD, type AES-GCM-HKDF.

With 256-bit keys, SHA-256 and segments of 1 MiB:
https://developers.google.com/tink/streaming-aead/aes_gcm_hkdf_streaming

    40 ‖ salt (32 bytes) ‖ nonce prefix (7 bytes) ‖ segment 0 ‖ segment 1 ‖ …
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .chunks import pieces_of
from .errors import EncryptedFileError, damaged

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_PREFIX_BYTES = 7
_TAG_BYTES = 16


@dataclass(frozen=True, slots=True)
class StreamParameters:
    """The parameters of a key of Tink."""

    hash_name: str
    """As ``cryptography`` names it."""
    key_bytes: int
    """Length of the derived AES key, and of the salt."""
    segment_bytes: int
    """Ciphertext of a segment. The first holds the header of the stream too."""

    @property
    def header_bytes(self) -> int:
        """Length of the header of a stream."""
        return 1 + self.key_bytes + _PREFIX_BYTES


# Those of AES256_GCM_HKDF_1MB. Tests of published vectors have others.
FILES = StreamParameters("SHA256", 32, 2**20)


def encrypt_content(
    chunks: Iterable[bytes],
    key: bytes,
    associated_data: bytes,
    parameters: StreamParameters = FILES,
    random: bytes | None = None,
) -> Iterator[bytes]:
    """Yield the encrypted content. ``random`` is for test vectors."""
    start = parameters.header_bytes
    header = bytes([start]) + (random or os.urandom(start - 1))
    cipher, prefix = _read(header, key, associated_data, parameters)
    yield header
    size = parameters.segment_bytes - _TAG_BYTES
    for number, (piece, is_last) in enumerate(pieces_of(chunks, size - start, size)):
        yield cipher.encrypt(_nonce(prefix, number, is_last), piece, None)


def decrypt_content(
    chunks: Iterable[bytes],
    key: bytes,
    associated_data: bytes,
    parameters: StreamParameters = FILES,
) -> Iterator[bytes]:
    """Yield the content, each segment after it was authenticated. Raises EncryptedFileError."""
    cipher: AESGCM | None = None
    prefix = b""
    start, size = parameters.header_bytes, parameters.segment_bytes
    for number, (piece, is_last) in enumerate(pieces_of(chunks, size, size)):
        segment = piece
        if cipher is None:
            if len(segment) < start + _TAG_BYTES:
                raise _truncated(0)
            if segment[0] != start:
                raise damaged("its content has another header")
            cipher, prefix = _read(bytes(segment[:start]), key, associated_data, parameters)
            segment = segment[start:]
        # Only the segment of an empty file has no content.
        if len(segment) < _TAG_BYTES or (number > 0 and len(segment) == _TAG_BYTES):
            raise _truncated(number)
        plaintext = _open(cipher, _nonce(prefix, number, is_last), segment)
        if plaintext is None:
            if is_last and _open(cipher, _nonce(prefix, number, False), segment) is not None:
                raise _truncated(number + 1)
            raise damaged(f"segment {number} is not authentic: it was altered, moved or cut")
        yield plaintext


def _read(
    header: bytes, key: bytes, associated_data: bytes, parameters: StreamParameters
) -> tuple[AESGCM, bytes]:
    """Return cipher and nonce prefix of a stream, by HKDF (RFC 5869)."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    end = 1 + parameters.key_bytes
    algorithm = getattr(hashes, parameters.hash_name)()
    hkdf = HKDF(algorithm, parameters.key_bytes, header[1:end], associated_data)
    return AESGCM(hkdf.derive(key)), header[end:]


def _open(cipher: AESGCM, nonce: bytes, segment: memoryview) -> bytes | None:
    from cryptography.exceptions import InvalidTag

    try:
        return cipher.decrypt(nonce, segment, None)
    except InvalidTag:
        return None


def _nonce(prefix: bytes, number: int, is_last: bool) -> bytes:
    """The number keeps a segment in its place, and the last byte shows a missing end.

    Raises OverflowError from 4 PiB on.
    """
    return prefix + number.to_bytes(4, "big") + bytes([is_last])


def _truncated(segments: int) -> EncryptedFileError:
    return EncryptedFileError(
        "truncated",
        f"The file is truncated: its end is missing after {segments} whole segments. "
        "Take another copy of it.",
    )
