"""Verifies signatures of checkpoints with the package ``cryptography``, if it is installed."""

from __future__ import annotations

from .format_error import FormatError
from .note import (
    ED25519,
    ML_DSA_44_COSIGNATURE,
    Checkpoint,
    NoteSignature,
    SignedNote,
    VerifierKey,
    ed25519_cosignature_message,
    ml_dsa_44_cosignature_message,
    parse_timestamped,
)

_NO_ML_DSA = (
    'The post-quantum algorithm ML-DSA-44 needs version 48 or newer of the package "cryptography": '
    "pip install --upgrade cryptography."
)


class UnsupportedError(Exception):
    """This Python cannot verify a signature. The message says what can."""


def verify_signature(
    key: VerifierKey, note: SignedNote, checkpoint: Checkpoint, signature: NoteSignature
) -> tuple[bool, int | None]:
    """Return whether a signature is right, and its time in seconds since the epoch, if it has one.

    Raises UnsupportedError if this Python cannot tell.
    """
    if key.type == ED25519:
        return _verify_ed25519(key.public_key, note.text.encode(), signature.signature), None
    try:
        timestamp, content = parse_timestamped(signature.signature, key.type)
        if key.type == ML_DSA_44_COSIGNATURE:
            message = ml_dsa_44_cosignature_message(key.name, timestamp, checkpoint)
            is_right = _verify_ml_dsa_44(key.public_key, message, content)
        else:
            message = ed25519_cosignature_message(timestamp, note.text)
            is_right = _verify_ed25519(key.public_key, message, content)
    except FormatError:
        return False, None
    # c2sp.org/tlog-cosignature: the time 0 states none.
    return is_right, timestamp or None


def _verify_ed25519(public_key: bytes, message: bytes, signature: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise UnsupportedError(
            'Verifying signatures needs the package "cryptography": pip install cryptography.'
        ) from None
    try:
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        # ValueError: the bytes are no point of the curve, so no signature can be right.
        return False
    return True


def _verify_ml_dsa_44(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """The context of FIPS 204 is empty."""
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey
    except ImportError:
        raise UnsupportedError(_NO_ML_DSA) from None
    try:
        MLDSA44PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    except UnsupportedAlgorithm:
        raise UnsupportedError(_NO_ML_DSA) from None
    return True
