"""Errors of encrypted files. No message quotes a key or content."""

from __future__ import annotations

from typing import Any, Literal

EncryptedFileErrorCode = Literal[
    "not_encrypted_file",
    "unsupported_version",
    "wrong_recipient",
    "key_does_not_open",
    "damaged",
    "truncated",
    "output_exists",
]
"""Why a file cannot be encrypted, decrypted or resealed."""


class EncryptedFileError(Exception):
    """A file cannot be encrypted, decrypted or resealed. Its text says what to do.

    Decide by ``code``:

    - ``not_encrypted_file``: it does not begin as an encrypted file does.
    - ``unsupported_version``: a later version of the client wrote it.
    - ``wrong_recipient``: its key is sealed to another recipient.
    - ``key_does_not_open``: its sealed key was altered, or has another length than 256 bits.
    - ``damaged``: a part was altered, moved, or cut.
    - ``truncated``: its end is missing.
    - ``output_exists``: the output is there already, and ``overwrite`` was not given or it is
      not a regular file.
    """

    code: EncryptedFileErrorCode

    def __init__(self, code: EncryptedFileErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.code, str(self))


def damaged(what: str) -> EncryptedFileError:
    """Return the error for damage that is described by ``what``."""
    return EncryptedFileError(
        "damaged",
        f"The file is damaged: {what}. Nothing of it was released from there on. "
        "Take another copy of it.",
    )
