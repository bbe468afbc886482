"""The beginning of an encrypted file: two lines, before the content.

    phm-encrypted-file/v1
    {"suite":…,"kem_id":…,"kdf_id":…,"aead_id":…,"enc":…,"ciphertext":…,"header":…}

The second is the sealed key. The content is bound to its ``key_id`` and not to the line, which
``reseal`` replaces.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..receipt.format_error import FormatError
from ..sealing.opening import SealedKeyError, open_parts
from ..sealing.plaintext import SealedContent
from ..sealing.recipient import RecipientKey
from ..sealing.sealed_key import SealedBytes, read_sealed_key
from ..sealing.secret_json import parse_json
from ..types import SealedKey
from .chunks import ByteSource, LineReader, chunks_of
from .errors import EncryptedFileError

_NAME = "phm-encrypted-file/"
_TYPE = f"{_NAME}v1"

# Longest line in bytes. That of a sealed key of the larger suite has up to 6,000.
_MAX_LINE_BYTES = 8192

# AES-256 has this key. A longer one would be cut to it, and a shorter one would not be what the
# file says.
_LEVEL = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class FileHeader:
    """What the sealed key of a file states in the open.

    Nothing of it is authentic before the key opens.
    """

    key_id: str
    """Names the record of the key."""
    key_commitment: str
    service: str | None
    time: str
    thumbprint: str
    """SHA-256 of the recipient's public key, in base64."""


@dataclass(frozen=True, slots=True)
class EncryptedFileInfo:
    """The sealed key of a file, and what it states in the open."""

    sealed_key: SealedKey
    header: FileHeader


@dataclass(frozen=True, slots=True)
class Container:
    """An encrypted file whose beginning was read."""

    sealed_key: SealedKey
    parts: SealedBytes
    content: Iterator[bytes]

    @property
    def header(self) -> FileHeader:
        """What the sealed key states in the open."""
        return header_of(self.parts.header)


def header_of(header: Mapping[str, Any]) -> FileHeader:
    """Return the members of a sealed key's header that are about a file."""
    return FileHeader(
        key_id=header["key_id"],
        key_commitment=header["key_commitment"],
        service=header["service"],
        time=header["time"],
        thumbprint=header["thumbprint"],
    )


def read_container(source: ByteSource) -> Container:
    """Read the beginning of a file. Raises EncryptedFileError."""
    reader = LineReader(chunks_of(source))
    first = reader.line(len(_TYPE)) or ""
    if first != _TYPE:
        raise _other_file(first)
    members, parts = _parse_line(reader.line(_MAX_LINE_BYTES))
    level = int(parts.header["security_level"])
    if level != _LEVEL:
        raise EncryptedFileError(
            "key_does_not_open",
            f"The sealed key of the file has {level} bits: a file has a key of {_LEVEL} bits.",
        )
    return Container(SealedKey(**members), parts, reader.rest())


def write_container(sealed_key: SealedKey) -> bytes:
    """Return the beginning of a file."""
    line = json.dumps(asdict(sealed_key), separators=(",", ":"))
    return f"{_TYPE}\n{line}\n".encode()


def associated_data(key_id: str) -> bytes:
    """Return what the content is authenticated with, beside itself."""
    return f"{_TYPE}\0{key_id}".encode()


def open_file_key(parts: SealedBytes, recipient_key: RecipientKey) -> SealedContent:
    """Open the sealed key of a file. Raises EncryptedFileError, or SealingUnavailableError."""
    own = base64.b64encode(hashlib.sha256(recipient_key.public_key).digest()).decode()
    stated = parts.header["thumbprint"]
    if own != stated:
        raise EncryptedFileError(
            "wrong_recipient",
            f"The file is sealed to the recipient with the thumbprint {stated}, "
            f"and you gave the key of {own}. Give the key of that recipient, "
            "or ask its owner to reseal the file to you.",
        )
    try:
        return open_parts(parts, recipient_key)
    except SealedKeyError as error:
        reason = str(error)
    raise EncryptedFileError("key_does_not_open", reason)


def _parse_line(line: str | None) -> tuple[dict[str, Any], SealedBytes]:
    if line is None:
        raise EncryptedFileError(
            "truncated",
            "The file is truncated or damaged: the line of its sealed key does not end. "
            "Take another copy of it.",
        )
    try:
        members = parse_json("the sealed key", "JSON", line)
        return members, read_sealed_key(members)
    except FormatError as error:
        reason = str(error).removesuffix(".")
    raise EncryptedFileError(
        "key_does_not_open", f"The second line of the file is not a sealed key: {reason}."
    )


def _other_file(first: str) -> EncryptedFileError:
    if re.fullmatch(rf"{_NAME}v[0-9]+", first):
        version = first.removeprefix(_NAME)
        return EncryptedFileError(
            "unsupported_version",
            f"The file has the format {version}, and this client knows v1: install a newer one.",
        )
    return EncryptedFileError(
        "not_encrypted_file",
        f'This is not an encrypted file: it does not begin with the line "{_TYPE}".',
    )
