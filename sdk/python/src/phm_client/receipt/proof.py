"""Proofs that an entry is in a log: c2sp.org/tlog-proof, with the tree of RFC 6962 §2.1."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from .format_error import (
    HASH_BYTES,
    FormatError,
    decode_base64,
    decode_base64_of,
    parse_decimal,
    received,
)
from .note import MAX_NOTE_LENGTH, SignedNote, parse_note

_HEADER = "c2sp.org/tlog-proof@v1"
_MAX_HASHES = 63


@dataclass(frozen=True)
class TlogProof:
    """An inclusion proof, the leaf's sibling first, with its checkpoint."""

    index: int
    hashes: tuple[bytes, ...]
    note: SignedNote


def parse_proof(text: str) -> TlogProof:
    """Return the parts of a proof. Raises FormatError. It verifies nothing."""
    head, separator, checkpoint = text.partition("\n\n")
    if not separator or len(head) > MAX_NOTE_LENGTH:
        raise FormatError("a proof needs an empty line before its checkpoint")
    lines = head.split("\n")
    if lines[0] != _HEADER:
        raise FormatError(f'line 1 of a proof: expected "{_HEADER}", got {received(lines[0])}')
    index_at = 1
    if lines[1:] and lines[1].startswith("extra "):
        _check_extra(lines[1])
        index_at = 2
    index = _parse_index(lines[index_at] if index_at < len(lines) else "", index_at + 1)
    hashes = _parse_hashes(lines[index_at + 1 :], index_at + 2)
    if re.search(r"\n\n[^\n]", checkpoint) is None:
        raise FormatError("the checkpoint has no signature line")
    return TlogProof(index, hashes, parse_note(checkpoint))


def _check_extra(line: str) -> None:
    """Nothing authenticates these bytes, so only their form matters."""
    try:
        decode_base64(line.removeprefix("extra "))
    except FormatError as error:
        raise FormatError(f"line 2 of a proof, extra data: {error}") from None


def _parse_index(line: str, number: int) -> int:
    if not line.startswith("index "):
        raise FormatError(
            f'line {number} of a proof: expected "index <number>", got {received(line)}'
        )
    return parse_decimal(f"line {number} of a proof, index", line.removeprefix("index "))


def _parse_hashes(lines: list[str], first: int) -> tuple[bytes, ...]:
    if len(lines) > _MAX_HASHES:
        raise FormatError(f"expected at most {_MAX_HASHES} hashes in a proof, got {len(lines)}")
    return tuple(
        decode_base64_of(HASH_BYTES, f"line {first + i} of a proof, hash", line)
        for i, line in enumerate(lines)
    )


def inclusion_sides(index: int, size: int) -> list[str]:
    """Return the side of each hash of an inclusion proof, the leaf's sibling first."""
    sides: list[str] = []
    start, end = 0, size
    while end - start > 1:
        # k of §2.1: the largest power of two below the width.
        middle = start + (1 << ((end - start - 1).bit_length() - 1))
        if index < middle:
            sides.append("right")
            end = middle
        else:
            sides.append("left")
            start = middle
    return sides[::-1]


def root_of(entry: bytes, index: int, size: int, hashes: tuple[bytes, ...]) -> bytes:
    """Return the root that an inclusion proof of the right length leads to (§2.1.1)."""
    node = hashlib.sha256(b"\0" + entry).digest()
    for side, sibling in zip(inclusion_sides(index, size), hashes, strict=True):
        left, right = (sibling, node) if side == "left" else (node, sibling)
        node = hashlib.sha256(b"\1" + left + right).digest()
    return node
