"""Checks of public keys that come from outside."""

from __future__ import annotations

from .suites import MLKEM768_X25519, Suite

# FIPS 203 §2.3: the modulus of ML-KEM.
_Q = 3329

_X25519_BYTES = 32

# The u-coordinates of the points of small order, and those of them that are not reduced. They give
# an all-zero shared secret (RFC 7748 §6.1).
_P = 2**255 - 19
_LOW_ORDER_POINTS = frozenset(
    {
        0,
        1,
        0x00B8495F16056286FDB1329CEB8D09DA6AC49FF1FAE35616AEB8413B7C7AEBE0,
        0x57119FD0DD4E22D8868E1C58C45C44045BEF839C55B1D0B1248C50A3BC959C5F,
        _P - 1,
        _P,
        _P + 1,
    }
)


def public_key_problem(suite: Suite, public_key: bytes) -> str | None:
    """Return a sentence that says why nothing must be sealed to this public key, or None."""
    if len(public_key) != suite.public_key_bytes:
        return (
            f"A public key of {suite.name} has {suite.public_key_bytes} bytes, "
            f"and this one has {len(public_key)}."
        )
    vector = public_key[: suite.vector_bytes]
    if not any(vector):
        return "The ML-KEM part of this public key is zero: anyone could open what is sealed to it."
    if not _is_reduced(vector):
        return (
            "This is not a public key: "
            "its ML-KEM part has a coefficient above 3328 (FIPS 203 §7.2)."
        )
    if suite is MLKEM768_X25519 and _is_low_order(public_key[-_X25519_BYTES:]):
        return (
            "The X25519 part of this public key is a point of small order: "
            "its secret is known to all."
        )
    return None


def _is_reduced(vector: bytes) -> bool:
    """FIPS 203 §7.2, modulus check: each 12-bit coefficient is below q."""
    pairs = (int.from_bytes(vector[i : i + 3], "little") for i in range(0, len(vector), 3))
    return all(pair & 0xFFF < _Q and pair >> 12 < _Q for pair in pairs)


def _is_low_order(point: bytes) -> bool:
    # RFC 7748 §5: X25519 ignores the high bit of the last byte.
    return int.from_bytes(point, "little") & (2**255 - 1) in _LOW_ORDER_POINTS
