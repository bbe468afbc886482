"""Reads JSON texts that may hold a private key."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from ..receipt.format_error import FormatError


def parse_json(name: str, expected: str, text: str) -> Any:
    """Return the value of a JSON text. Raises FormatError, which does not quote it."""
    try:
        return json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        pass
    # Raised above, it would have the error of json as its context, which holds the text.
    raise FormatError(f"{name}: expected {expected}, got other text")


def _refuse(_constant: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")
