"""Checks of public keys that come from outside."""

from __future__ import annotations

from .suites import MLKEM768_X25519, Suite

# FIPS 203 §2.3: the modulus of ML-KEM.
_Q = 3329

# A generated public key has about 680 different coefficients or more. A vector that is zero, or was
# filled in part, or repeats a pattern has fewer than these.
_MIN_DIFFERENT = 256

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
    coefficients = _coefficients_of(vector)
    # FIPS 203 §7.2, modulus check.
    if any(coefficient >= _Q for coefficient in coefficients):
        return (
            "This is not a public key: "
            "its ML-KEM part has a coefficient above 3328 (FIPS 203 §7.2)."
        )
    if len(set(coefficients)) < _MIN_DIFFERENT:
        return (
            "The ML-KEM part of this public key is not random: "
            "anyone could open what is sealed to it."
        )
    if suite is MLKEM768_X25519 and _is_low_order(public_key[-_X25519_BYTES:]):
        return (
            "The X25519 part of this public key is a point of small order: "
            "its secret is known to all."
        )
    return None


def _coefficients_of(vector: bytes) -> list[int]:
    """Return the coefficients: 12 bits each, lowest first (FIPS 203 §4.2.1, ByteDecode)."""
    pairs = (int.from_bytes(vector[i : i + 3], "little") for i in range(0, len(vector), 3))
    return [half for pair in pairs for half in (pair & 0xFFF, pair >> 12)]


def _is_low_order(point: bytes) -> bool:
    # RFC 7748 §5: X25519 ignores the high bit of the last byte.
    return int.from_bytes(point, "little") & (2**255 - 1) in _LOW_ORDER_POINTS
