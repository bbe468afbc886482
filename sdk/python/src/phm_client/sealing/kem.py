"""ML-KEM-1024 and MLKEM768-X25519 (X-Wing), from the primitives of the package ``cryptography``."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .suites import ML_KEM_1024, Suite

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import mlkem, x25519

_LACKING = (
    'Sealed keys need version 48 or newer of the package "cryptography", with ML-KEM: '
    "pip install --upgrade cryptography."
)

# draft-irtf-cfrg-concrete-hybrid-kems, MLKEM768-X25519: the label of X-Wing, an ASCII drawing.
_LABEL = b"\\.//^\\"

_MLKEM768_ENC_BYTES = 1088
_POINT_BYTES = 32


class SealingUnavailableError(RuntimeError):
    """This Python cannot make or use the keys of recipients. The message says what to install."""


class DecapsulationError(Exception):
    """The encapsulated key is not one that its sender can have made."""


@dataclass(frozen=True, slots=True, repr=False)
class _HybridKey:
    mlkem: mlkem.MLKEM768PrivateKey
    x25519: x25519.X25519PrivateKey


def public_key_of(suite: Suite, seed: bytes) -> bytes:
    """Return the raw public key of a private key. Raises SealingUnavailableError."""
    if suite is ML_KEM_1024:
        return _load_1024(seed).public_key().public_bytes_raw()
    key = _expand(seed)
    return key.mlkem.public_key().public_bytes_raw() + key.x25519.public_key().public_bytes_raw()


def decapsulate(suite: Suite, seed: bytes, enc: bytes) -> bytes:
    """Return the shared secret in ``enc``, 32 bytes.

    Another key gives another secret, not an error (FIPS 203 §6.3). Raises DecapsulationError or
    SealingUnavailableError.
    """
    if suite is ML_KEM_1024:
        return _load_1024(seed).decapsulate(enc)
    key = _expand(seed)
    ciphertext, point = enc[:_MLKEM768_ENC_BYTES], enc[_MLKEM768_ENC_BYTES:]
    shared = key.mlkem.decapsulate(ciphertext) + _exchange(key.x25519, point)
    own_point = key.x25519.public_key().public_bytes_raw()
    return hashlib.sha3_256(shared + point + own_point + _LABEL).digest()


def encapsulate(suite: Suite, public_key: bytes) -> tuple[bytes, bytes]:
    """Return a new shared secret of 32 bytes, and the encapsulated key for the recipient.

    Raises SealingUnavailableError, or ValueError if the KEM refuses the public key.
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.mlkem import (
            MLKEM768PublicKey,
            MLKEM1024PublicKey,
        )
        from cryptography.hazmat.primitives.asymmetric.x25519 import (
            X25519PrivateKey,
            X25519PublicKey,
        )
    except ImportError:
        raise SealingUnavailableError(_LACKING) from None
    try:
        if suite is ML_KEM_1024:
            return MLKEM1024PublicKey.from_public_bytes(public_key).encapsulate()
        mlkem_key, own_point = public_key[:-_POINT_BYTES], public_key[-_POINT_BYTES:]
        shared, ciphertext = MLKEM768PublicKey.from_public_bytes(mlkem_key).encapsulate()
    except UnsupportedAlgorithm:
        raise SealingUnavailableError(_LACKING) from None
    ephemeral = X25519PrivateKey.generate()
    point = ephemeral.public_key().public_bytes_raw()
    shared += ephemeral.exchange(X25519PublicKey.from_public_bytes(own_point))
    secret = hashlib.sha3_256(shared + point + own_point + _LABEL).digest()
    return secret, ciphertext + point


def _exchange(private_key: x25519.X25519PrivateKey, point: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    try:
        return private_key.exchange(X25519PublicKey.from_public_bytes(point))
    except ValueError:
        # RFC 7748 §6.1: the shared secret is all zero, because the point has a low order.
        raise DecapsulationError from None


def _load_1024(seed: bytes) -> mlkem.MLKEM1024PrivateKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM1024PrivateKey
    except ImportError:
        raise SealingUnavailableError(_LACKING) from None
    try:
        return MLKEM1024PrivateKey.from_seed_bytes(seed)
    except UnsupportedAlgorithm:
        raise SealingUnavailableError(_LACKING) from None


def _expand(seed: bytes) -> _HybridKey:
    """SHAKE256 expands the seed of 32 bytes to those of both keys."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    except ImportError:
        raise SealingUnavailableError(_LACKING) from None
    seeds = hashlib.shake_256(seed).digest(96)
    try:
        return _HybridKey(
            MLKEM768PrivateKey.from_seed_bytes(seeds[:64]),
            X25519PrivateKey.from_private_bytes(seeds[64:]),
        )
    except UnsupportedAlgorithm:
        raise SealingUnavailableError(_LACKING) from None
