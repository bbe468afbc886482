"""Files that are encrypted under a key of their own: docs/encrypted-files.md of the project."""

from .container import EncryptedFileInfo, FileHeader
from .errors import EncryptedFileError, EncryptedFileErrorCode
from .files import WrittenFile, decrypt_file, encrypted_file_key, reseal
from .streams import FileStream, decrypt_stream, read_file_key, reseal_stream

__all__ = [
    "EncryptedFileError",
    "EncryptedFileErrorCode",
    "EncryptedFileInfo",
    "FileHeader",
    "FileStream",
    "WrittenFile",
    "decrypt_file",
    "decrypt_stream",
    "encrypted_file_key",
    "read_file_key",
    "reseal",
    "reseal_stream",
]
