"""The suites of sealed keys: HPKE (RFC 9180) with the KEMs of draft-ietf-hpke-pq."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..receipt.format_error import FormatError
from ..receipt.shape import mismatch
from ..types import SealSuite


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite. The numbers are those of the IANA registry "HPKE"; the AEAD is AES-256-GCM."""

    name: SealSuite
    kem_id: int
    kdf_id: int
    aead_id: int
    hash_name: str
    """Hash function of the KDF, HKDF, as ``hashlib`` names it."""
    vector_bytes: int
    """Length of the public key's ML-KEM polynomial vector, with which it begins."""
    public_key_bytes: int
    enc_bytes: int
    private_key_bytes: int
    """Length of the seed that stands for the private key."""


MLKEM768_X25519 = Suite("MLKEM768-X25519", 0x647A, 1, 2, "sha256", 1152, 1216, 1120, 32)
ML_KEM_1024 = Suite("ML-KEM-1024", 0x0042, 3, 2, "sha512", 1536, 1568, 1568, 64)

DEFAULT_SUITE: SealSuite = "MLKEM768-X25519"
SUITES: dict[str, Suite] = {suite.name: suite for suite in (MLKEM768_X25519, ML_KEM_1024)}
_NAMES = " or ".join(f'"{name}"' for name in SUITES)


def suite_of(name: object) -> Suite:
    """Return the suite of this name. Raises ValueError for another."""
    if isinstance(name, str) and name in SUITES:
        return SUITES[name]
    raise ValueError(f"suite must be {_NAMES}, got {name!r:.60}")


def suite_name(name: str, value: Any) -> None:
    """Accept the name of a suite in a member called ``name``."""
    if not isinstance(value, str) or value not in SUITES:
        raise mismatch(name, _NAMES, value)


def suite_of_ids(name: str, members: Mapping[str, Any]) -> Suite:
    """Return the suite with the numbers in ``members``. Raises FormatError, begun by ``name``."""
    ids = tuple(members[one] for one in ("kem_id", "kdf_id", "aead_id"))
    for suite in SUITES.values():
        if ids == (suite.kem_id, suite.kdf_id, suite.aead_id):
            return suite
    kem, kdf, aead = map(int, ids)
    raise FormatError(
        f"{name}: expected the numbers of {_NAMES}, "
        f"got kem_id {kem}, kdf_id {kdf} and aead_id {aead}"
    )
