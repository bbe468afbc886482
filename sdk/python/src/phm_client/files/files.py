"""Encrypts, decrypts and reseals files.

An output appears under its name when it is whole, or not at all.
"""

from __future__ import annotations

import errno
import os
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..options import check_bool
from ..sealing.recipient import Recipient, RecipientKey
from .container import EncryptedFileInfo, FileHeader
from .errors import EncryptedFileError
from .streams import FileStream, decrypt_stream, read_file_key, reseal_stream

PathLike = str | os.PathLike[str]

SUFFIX = ".phm"

# Start of a temporary name. A character takes four bytes at most, the rest of the name 42, and file
# systems allow 255.
_MAX_START = 50

# Modes of new files. What was decrypted is for its owner.
FOR_ALL, FOR_OWNER = 0o666, 0o600


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that was written."""

    path: Path
    header: FileHeader
    """What the sealed key states in the open; ``key_id`` names the record of the key."""


def decrypt_file(
    path: PathLike,
    *,
    recipient_key: RecipientKey | str | bytes,
    out: PathLike | None = None,
    overwrite: bool = False,
) -> WrittenFile:
    """Decrypt a file. Sends nothing.

    Raises EncryptedFileError, and then leaves no output; also SealingUnavailableError and OSError.
    Only its owner can read the output.

    Args:
        path: The encrypted file.
        recipient_key: The recipient's private key, or the text of its file.
        out: The output. By default the path without ``.phm``.
        overwrite: Replaces an output that is there.
    """
    file = Path(path)
    target = _without_suffix(file) if out is None else Path(out)
    return write_file(
        file,
        target,
        lambda source: decrypt_stream(source, recipient_key=recipient_key),
        overwrite=overwrite,
        mode=FOR_OWNER,
    )


def reseal(
    path: PathLike,
    *,
    recipient_key: RecipientKey | str | bytes,
    to: Recipient | str | bytes,
    out: PathLike | None = None,
    overwrite: bool | None = None,
) -> WrittenFile:
    """Seal the key of an encrypted file to another recipient. Sends nothing.

    The content is copied as it is, and not decrypted. Raises as ``decrypt_file`` does.

    Args:
        path: The encrypted file.
        recipient_key: The private key of its recipient, or the text of its file.
        to: The new recipient, or the text of its file.
        out: The output. By default the file itself, which is replaced when the new one is whole. It
            keeps its permissions, and a link to it stays a link.
        overwrite: Replaces an output that is there. By default only the file itself.
    """
    file = Path(path)
    return write_file(
        file,
        file if out is None else Path(out),
        lambda source: reseal_stream(source, recipient_key=recipient_key, to=to),
        overwrite=out is None if overwrite is None else overwrite,
        mode=FOR_ALL,
        is_same_file=out is None or Path(out) == file,
    )


def encrypted_file_key(path: PathLike) -> EncryptedFileInfo:
    """Read the sealed key of an encrypted file. Needs no private key.

    Raises EncryptedFileError.
    """
    with open(path, "rb", buffering=0) as source:
        return read_file_key(source)


def write_file(
    path: Path,
    out: Path,
    work: Callable[[BinaryIO], FileStream],
    *,
    overwrite: bool,
    mode: int,
    is_same_file: bool = False,
) -> WrittenFile:
    """Write what ``work`` makes of a file. The output has its name when it is whole.

    With ``is_same_file`` the output is the file itself, with another beginning.
    """
    check_bool("overwrite", overwrite)
    with open(path, "rb", buffering=0) as source:
        _refuse(out, overwrite)
        # Otherwise the new file would take the place of a link, and the file that it names would
        # stay as it was.
        place = out.resolve() if is_same_file else out
        with _made(place, overwrite=overwrite, mode=mode) as target:
            if is_same_file:
                _resemble(target.fileno(), source.fileno())
            stream = work(source)
            for chunk in stream:
                _write_all(target, chunk)
            # Windows replaces no file that is open.
            source.close()
    return WrittenFile(out, stream.header)


def _refuse(out: Path, overwrite: bool) -> None:
    if not overwrite and os.path.lexists(out):
        raise _output_exists(out)
    # Another name in its place would destroy a device, such as /dev/null.
    if out.exists() and not out.is_file():
        raise EncryptedFileError(
            "output_exists",
            f"{out} is not a regular file, and is not replaced: name another output.",
        )


@contextmanager
def _made(place: Path, *, overwrite: bool, mode: int) -> Iterator[BinaryIO]:
    """Make a file, and give it its name at the end. Leaves nothing if a step fails."""
    part = place.with_name(f"{place.name[:_MAX_START]}.{uuid.uuid4()}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(part, flags, mode), "wb", buffering=0) as file:
            yield file
            # Otherwise a crash of the machine could leave the name without the content.
            os.fsync(file.fileno())
        if overwrite:
            os.replace(part, place)
        else:
            _give_name(part, place)
        _sync_folder(place.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _resemble(file: int, old: int) -> None:
    """Give a file the permissions of the one that it replaces.

    Also its owner and group as far as this user may.
    """
    if sys.platform == "win32":
        return
    was, own = os.fstat(old), os.fstat(file)
    if (was.st_uid, was.st_gid) != (own.st_uid, own.st_gid):
        try:
            os.fchown(file, was.st_uid, was.st_gid)
        except OSError:
            # Only root gives files away. Other users may give them to their groups.
            with suppress(OSError):
                os.fchown(file, own.st_uid, was.st_gid)
    if (was.st_mode ^ own.st_mode) & 0o777:
        os.fchmod(file, was.st_mode & 0o777)


def _sync_folder(folder: Path) -> None:
    """Make a name durable: the caller may delete the plaintext next, also from another disk."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        # Windows opens no folder, and a folder may be there to write to alone.
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _write_all(target: BinaryIO, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        # Without a buffer, a write may take a part.
        view = view[target.write(view) :]


def _give_name(part: Path, out: Path) -> None:
    """Give a file its name unless another has it."""
    try:
        os.link(part, out)
    except FileExistsError:
        raise _output_exists(out) from None
    except OSError:
        # File systems without hard links, such as FAT, have nothing that is atomic.
        if os.path.lexists(out):
            raise _output_exists(out) from None
        part.rename(out)
    else:
        part.unlink()


def _output_exists(out: Path) -> EncryptedFileError:
    return EncryptedFileError(
        "output_exists", f"{out} exists: give another path as out, or overwrite=True."
    )


def _without_suffix(path: Path) -> Path:
    if path.suffix == SUFFIX and path.stem:
        return path.with_suffix("")
    raise ValueError(f"the path does not end with {SUFFIX}: give the path of the output as out")
