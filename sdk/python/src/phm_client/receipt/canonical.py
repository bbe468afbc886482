"""Canonical JSON: RFC 8785, JSON Canonicalization Scheme."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any


def canonical_json(value: Any) -> str:
    """Return the canonical form of parsed JSON. Lone surrogates are the caller's to refuse."""
    if value is None or isinstance(value, (bool, str)):
        # RFC 8785 §3.2.2.2 escapes what json escapes.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return canonical_number(value)
    if isinstance(value, Mapping):
        # §3.2.3: by the UTF-16 code units of the names.
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        members = (f"{canonical_json(name)}:{canonical_json(value[name])}" for name in names)
        return f"{{{','.join(members)}}}"
    if isinstance(value, Sequence):
        return f"[{','.join(map(canonical_json, value))}]"
    raise TypeError(f"value must be JSON, got {type(value).__name__}")


def canonical_number(value: float) -> str:
    """Return a finite number as ECMAScript writes it (RFC 8785 §3.2.2.3)."""
    number = float(value)
    if number == 0:
        return "0"
    # repr() has the shortest digits that give the same number, as ECMAScript requires.
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    point = len(text) + exponent
    return ("-" if sign else "") + _place_point(text, point)


def _place_point(digits: str, point: int) -> str:
    """Number::toString of ECMA-262, with the decimal point after this many digits."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if count > 1 else ""
    exponent = point - 1
    return f"{digits[0]}{fraction}e{'+' if exponent > 0 else '-'}{abs(exponent)}"
