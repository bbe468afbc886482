"""HPKE in base mode, for one message: RFC 9180.

``hpke.Suite`` of the package ``cryptography`` takes no ``aad``, which sealed keys need; so this
module derives key and nonce itself.
"""

from __future__ import annotations

import hmac

from .kem import DecapsulationError, decapsulate, encapsulate
from .suites import Suite

_MODE_BASE = b"\0"
_KEY_BYTES = 32
_NONCE_BYTES = 12


class OpenFailedError(Exception):
    """The ciphertext does not open: another key sealed it, or it was altered."""


def open_base(
    suite: Suite, seed: bytes, enc: bytes, ciphertext: bytes, *, info: bytes, aad: bytes
) -> bytes:
    """Return the plaintext of the first message of a sender (RFC 9180 §6.1, OpenBase).

    Raises OpenFailedError, or SealingUnavailableError.
    """
    try:
        shared_secret = decapsulate(suite, seed, enc)
    except DecapsulationError:
        raise OpenFailedError from None
    key, nonce = derive_key(suite, shared_secret, info)
    # The KEM was found, so the package is there.
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        # §5.2: the nonce of sequence number 0 is the base nonce.
        return AESGCM(key).decrypt(nonce, ciphertext, aad)
    except InvalidTag:
        raise OpenFailedError from None


def seal_base(
    suite: Suite, public_key: bytes, plaintext: bytes, *, info: bytes, aad: bytes
) -> tuple[bytes, bytes]:
    """Return encapsulated key and ciphertext of one message (RFC 9180 §6.1, SealBase).

    Raises SealingUnavailableError.
    """
    shared_secret, enc = encapsulate(suite, public_key)
    key, nonce = derive_key(suite, shared_secret, info)
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return enc, AESGCM(key).encrypt(nonce, plaintext, aad)


def derive_key(suite: Suite, shared_secret: bytes, info: bytes) -> tuple[bytes, bytes]:
    """Return key and base nonce (§5.1, KeySchedule): base mode has no pre-shared key."""
    schedule = _LabeledHkdf(suite)
    context = (
        _MODE_BASE
        + schedule.extract(b"", b"psk_id_hash", b"")
        + schedule.extract(b"", b"info_hash", info)
    )
    secret = schedule.extract(shared_secret, b"secret", b"")
    key = schedule.expand(secret, b"key", context, _KEY_BYTES)
    return key, schedule.expand(secret, b"base_nonce", context, _NONCE_BYTES)


class _LabeledHkdf:
    """LabeledExtract and LabeledExpand (§4), with the identifier of the whole suite (§5.1)."""

    def __init__(self, suite: Suite) -> None:
        self._hash = suite.hash_name
        ids = (suite.kem_id, suite.kdf_id, suite.aead_id)
        self._prefix = b"HPKE-v1HPKE" + b"".join(number.to_bytes(2, "big") for number in ids)

    def extract(self, salt: bytes, label: bytes, ikm: bytes) -> bytes:
        return hmac.digest(salt, self._prefix + label + ikm, self._hash)

    def expand(self, secret: bytes, label: bytes, info: bytes, length: int) -> bytes:
        # RFC 5869 §2.3: the first block is enough, because no output is longer than a hash.
        message = length.to_bytes(2, "big") + self._prefix + label + info + b"\x01"
        return hmac.digest(secret, message, self._hash)[:length]
