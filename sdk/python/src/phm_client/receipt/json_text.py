"""Reads JSON texts in which no object has a member twice."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from .format_error import FormatError, quoted
from .text import plain_text


def parse_json_text(content: str | bytes) -> Any:
    """Return the value of a JSON text.

    Raises FormatError that says what is wrong, also for a member twice: RFC 8785 §3.1 forbids it,
    because parsers differ in the value that they take.
    """
    repeated: list[str] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in pairs:
            if name in found:
                repeated.append(name)
            found[name] = value
        return found

    text = plain_text(content)
    try:
        value = json.loads(text, parse_constant=_refuse, object_pairs_hook=members)
    except (ValueError, RecursionError):
        raise FormatError("it is not JSON, or it was cut") from None
    if repeated:
        raise FormatError(f"a JSON object has the member {quoted(repeated[0])} twice")
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
