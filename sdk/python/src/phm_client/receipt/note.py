"""Signed notes, verifier keys and checkpoints.

c2sp.org/signed-note, c2sp.org/tlog-checkpoint, c2sp.org/tlog-cosignature.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass

from .format_error import (
    HASH_BYTES,
    FormatError,
    decode_base64,
    decode_base64_of,
    is_line,
    parse_decimal,
    received,
)

# Signature types of c2sp.org/signed-note.
ED25519 = 1
ED25519_COSIGNATURE = 4
ML_DSA_44_COSIGNATURE = 6

MAX_NOTE_LENGTH = 2**20
_MAX_SIGNATURES = 64
_KEY_ID_BYTES = 4
_TIMESTAMP_BYTES = 8

# FIPS 204 Table 2 for ML-DSA-44.
_PUBLIC_KEY_BYTES = {ED25519: 32, ED25519_COSIGNATURE: 32, ML_DSA_44_COSIGNATURE: 1312}
_COSIGNATURE_BYTES = {ED25519_COSIGNATURE: 64, ML_DSA_44_COSIGNATURE: 2420}


@dataclass(frozen=True)
class NoteSignature:
    """A signature line. ``signature`` is without the key ID."""

    name: str
    key_id: int
    signature: bytes


@dataclass(frozen=True)
class SignedNote:
    """A text, with its final newline, and its signatures."""

    text: str
    signatures: tuple[NoteSignature, ...]


@dataclass(frozen=True)
class VerifierKey:
    """A public key with its name, key ID and signature type."""

    name: str
    key_id: int
    type: int
    public_key: bytes

    @property
    def hex_id(self) -> str:
        """The key ID as eight hexadecimal digits."""
        return f"{self.key_id:08x}"

    @property
    def has_own_key_id(self) -> bool:
        """Whether the key ID belongs to the name and public key."""
        message = f"{self.name}\n".encode() + bytes([self.type]) + self.public_key
        return hashlib.sha256(message).digest()[:_KEY_ID_BYTES] == self.key_id.to_bytes(4, "big")


@dataclass(frozen=True)
class Checkpoint:
    """Name, size and root hash of a log."""

    origin: str
    size: int
    root: bytes


def parse_note(note: str) -> SignedNote:
    """Return the parts of a signed note. Raises FormatError. It verifies no signature."""
    _check_text(note)
    text, separator, lines = note.rpartition("\n\n")
    if not separator:
        raise FormatError("a signed note needs an empty line before its signatures")
    return SignedNote(f"{text}\n", _parse_signature_lines(lines))


def _parse_signature_lines(text: str) -> tuple[NoteSignature, ...]:
    if not text.endswith("\n"):
        raise FormatError("the last signature line needs a final newline")
    lines = text[:-1].split("\n")
    if len(lines) > _MAX_SIGNATURES:
        raise FormatError(f"expected at most {_MAX_SIGNATURES} signature lines, got {len(lines)}")
    return tuple(_parse_signature_line(line, i + 1) for i, line in enumerate(lines))


def _parse_signature_line(line: str, number: int) -> NoteSignature:
    where = f"signature line {number}"
    found = re.fullmatch(r"— ([^\s\ufeff]+) ([^\s\ufeff]+)", line)
    if found is None or not is_key_name(found[1]):
        raise FormatError(f'{where}: expected "— <key name> <base64>", got {received(line)}')
    content = _decode_at(where, found[2])
    if len(content) <= _KEY_ID_BYTES:
        raise FormatError(f"{where}: expected a key ID and a signature, got {len(content)} bytes")
    key_id = int.from_bytes(content[:_KEY_ID_BYTES], "big")
    return NoteSignature(found[1], key_id, content[_KEY_ID_BYTES:])


def parse_verifier_key(text: str) -> VerifierKey:
    """Return a verifier key. Raises FormatError, also for a type that is not known."""
    found = re.fullmatch(r"([^+]*)\+([0-9a-f]{8})\+([^\n\r\u2028\u2029]*)", text)
    if found is None or not is_key_name(found[1]):
        raise FormatError(
            'expected a verifier key "<name>+<8 hexadecimal digits>+<base64>", '
            f"got {received(text)}"
        )
    name = found[1]
    content = _decode_at(f"verifier key {name}", found[3])
    kind = content[0] if content else None
    length = _PUBLIC_KEY_BYTES.get(-1 if kind is None else kind)
    if kind is None or length is None:
        got = "none" if kind is None else kind
        raise FormatError(f"verifier key {name}: expected signature type 1, 4 or 6, got {got}")
    if len(content) - 1 != length:
        raise FormatError(
            f"verifier key {name}: expected {length} bytes for signature type {kind}, "
            f"got {len(content) - 1}"
        )
    return VerifierKey(name, int(found[2], 16), kind, content[1:])


def parse_checkpoint(text: str) -> Checkpoint:
    """Return the checkpoint in the text of a note. Raises FormatError."""
    if not text.endswith("\n"):
        raise FormatError("a checkpoint needs a final newline")
    lines = text[:-1].split("\n")
    if len(lines) < 3:
        raise FormatError(f"expected origin, size and root hash, got {len(lines)} lines")
    if "" in lines:
        raise FormatError(f"line {lines.index('') + 1} of a checkpoint must not be empty")
    return Checkpoint(
        lines[0],
        parse_decimal("line 2, tree size", lines[1]),
        decode_base64_of(HASH_BYTES, "line 3, root hash", lines[2]),
    )


def parse_timestamped(content: bytes, kind: int) -> tuple[int, bytes]:
    """Return the seconds since the epoch and the signature of a cosignature."""
    expected = _TIMESTAMP_BYTES + _COSIGNATURE_BYTES[kind]
    if len(content) != expected:
        raise FormatError(
            f"expected {expected} bytes of cosignature of type {kind}, got {len(content)}"
        )
    timestamp = int.from_bytes(content[:_TIMESTAMP_BYTES], "big")
    if timestamp >= 2**53:
        raise FormatError(f"expected a time below 2^53 seconds in a cosignature, got {timestamp}")
    return timestamp, content[_TIMESTAMP_BYTES:]


def ed25519_cosignature_message(timestamp: int, checkpoint_text: str) -> bytes:
    """Return what an Ed25519 cosigner signs."""
    return f"cosignature/v1\ntime {timestamp}\n{checkpoint_text}".encode()


def ml_dsa_44_cosignature_message(cosigner: str, timestamp: int, tree: Checkpoint) -> bytes:
    """Return what an ML-DSA-44 cosigner of a checkpoint signs. Raises FormatError."""
    return b"".join(
        (
            b"subtree/v1\n\0",
            _short_text("the name of a cosigner", cosigner),
            timestamp.to_bytes(8, "big"),
            _short_text("the origin of a log", tree.origin),
            # A checkpoint is the subtree that begins with entry 0.
            bytes(8),
            tree.size.to_bytes(8, "big"),
            tree.root,
        )
    )


def _short_text(name: str, text: str) -> bytes:
    encoded = text.encode()
    if not 1 <= len(encoded) <= 255:
        raise FormatError(f"expected {name} with 1 to 255 bytes, got {len(encoded)}")
    return bytes([len(encoded)]) + encoded


def is_key_name(name: str) -> bool:
    """Return whether a key may have this name: no Unicode space, plus sign or control character."""
    return name != "" and not any(
        one == "+" or one.isspace() or unicodedata.category(one) in ("Cc", "Cs") for one in name
    )


def _check_text(text: str) -> None:
    if len(text) > MAX_NOTE_LENGTH:
        raise FormatError(f"expected a note of at most 1 MiB, got {len(text)} characters")
    for number, line in enumerate(text.split("\n"), 1):
        if not is_line(line):
            raise FormatError(f"line {number}: expected Unicode text without control characters")


def _decode_at(where: str, text: str) -> bytes:
    try:
        return decode_base64(text)
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from None
