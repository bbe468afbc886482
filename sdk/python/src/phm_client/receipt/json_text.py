"""Reads JSON texts in which no object has a member twice."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from .format_error import FormatError, quoted

# What UTF-16 looks like when it is read as UTF-8, with and without a byte order mark.
_UTF_16 = re.compile("\ufffd|\0?{\0")


def parse_json_text(text: str) -> Any:
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

    try:
        # RFC 8259 §8.1: a parser may ignore a byte order mark. Editors on Windows write one.
        value = json.loads(
            text.removeprefix("\ufeff"), parse_constant=_refuse, object_pairs_hook=members
        )
    except (ValueError, RecursionError):
        reason = "UTF-8 text" if _UTF_16.match(text) else "JSON, or it was cut"
        raise FormatError(f"it is not {reason}") from None
    if repeated:
        raise FormatError(f"a JSON object has the member {quoted(repeated[0])} twice")
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
