"""Encrypts, decrypts and reseals streams. Only encryption asks the service: for the key."""

from __future__ import annotations

from collections.abc import Iterator

from ..sealing.recipient import Recipient, RecipientKey
from ..sealing.sealer import seal_again
from ..types import SealedKey
from .chunks import ByteSource, chunks_of
from .container import (
    Container,
    EncryptedFileInfo,
    FileHeader,
    associated_data,
    open_file_key,
    read_container,
    write_container,
)
from .recipients import read_recipient_key, read_to
from .segments import decrypt_content, encrypt_content


class FileStream(Iterator[bytes]):
    """An iterator of chunks, and what its sealed key states in the open."""

    header: FileHeader

    def __init__(self, header: FileHeader, chunks: Iterator[bytes]) -> None:
        self.header = header
        self._chunks = chunks

    def __iter__(self) -> FileStream:
        return self

    def __next__(self) -> bytes:
        return next(self._chunks)


def encrypted(
    source: ByteSource, sealed_key: SealedKey, key_id: str, key: bytes
) -> Iterator[bytes]:
    """Yield an encrypted file."""
    yield write_container(sealed_key)
    yield from encrypt_content(chunks_of(source), key, associated_data(key_id))


def decrypt_stream(source: ByteSource, *, recipient_key: RecipientKey | str | bytes) -> FileStream:
    """Decrypt what ``encrypt_stream`` or ``encrypt_file`` of a client made. Sends nothing.

    Each segment of 1 MiB is released after it was authenticated. **A stream that fails has released
    what came before**: use it only when it has ended.

    Raises EncryptedFileError, as does the iterator, and SealingUnavailableError.

    Args:
        source: A file object that was opened for bytes, or an iterable of bytes.
        recipient_key: The recipient's private key, or the text of its file.
    """
    own = read_recipient_key(recipient_key)
    container = read_container(source)
    content = open_file_key(container.parts, own)
    bound = associated_data(container.header.key_id)
    return FileStream(container.header, decrypt_content(container.content, content.key, bound))


def reseal_stream(
    source: ByteSource,
    *,
    recipient_key: RecipientKey | str | bytes,
    to: Recipient | str | bytes,
) -> FileStream:
    """Seal the key of an encrypted stream to another recipient.

    Sends nothing, and leaves the content as it is. Raises as ``decrypt_stream`` does.

    Args:
        source: As for ``decrypt_stream``.
        recipient_key: As for ``decrypt_stream``.
        to: The new recipient, or the text of its file.
    """
    own, new = read_recipient_key(recipient_key), read_to(to)
    container = read_container(source)
    content = open_file_key(container.parts, own)
    sealed_key = seal_again(container.parts.header, content, new)
    beginning = write_container(sealed_key)
    again = read_container([beginning])
    return FileStream(again.header, _resealed(beginning, container))


def read_file_key(source: ByteSource) -> EncryptedFileInfo:
    """Read the sealed key of an encrypted stream. Needs no private key.

    Raises EncryptedFileError.
    """
    container = read_container(source)
    return EncryptedFileInfo(container.sealed_key, container.header)


def _resealed(beginning: bytes, container: Container) -> Iterator[bytes]:
    yield beginning
    yield from container.content
