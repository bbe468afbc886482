"""Checks of the members of a JSON object from outside: exactly these members, each of a form."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from .canonical import canonical_number
from .format_error import FormatError, decode_base64, decode_base64_of, quoted, received

# Checks a value. The name begins the message of its FormatError.
Check = Callable[[str, Any], None]


def mismatch(name: str, expected: str, value: object) -> FormatError:
    """Return the error that names a member, what it must be, and what came."""
    return FormatError(f"{name}: expected {expected}, got {_described(value)}")


def _described(value: object) -> str:
    if isinstance(value, str):
        return received(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return _number_text(value)
    if value is None:
        return "null"
    return f"a list of {len(value)}" if isinstance(value, list) else "an object"


def _number_text(value: float) -> str:
    """A number of any size, as ECMAScript shows it after reading it from JSON."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return canonical_number(number)


def json_object(members: Mapping[str, Check]) -> Check:
    """Accept an object with exactly these members."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise mismatch(name, "a JSON object", value)
        for member in value:
            if member not in members:
                raise FormatError(f"{name} has an unknown member {quoted(member)}")
        for member, check_member in members.items():
            if member not in value:
                raise FormatError(f'{name} has no member "{member}"')
            check_member(member, value[member])

    return check


def unless(check_value: Check, problem_of: Callable[[Any], str | None]) -> Check:
    """Accept what ``check_value`` does, unless ``problem_of`` finds something.

    It continues a sentence that begins with the name.
    """

    def check(name: str, value: Any) -> None:
        check_value(name, value)
        problem = problem_of(value)
        if problem is not None:
            raise FormatError(f"{name} {problem}")

    return check


def typed(types: Mapping[str, Check]) -> Check:
    """Accept an object of one of these types, which its member ``type`` names.

    An unknown type is named before all else.
    """
    names = tuple(types)

    def check(name: str, value: Any) -> None:
        kind = value.get("type", names[0]) if isinstance(value, dict) else names[0]
        if not isinstance(kind, str) or kind not in types:
            raise mismatch("type", " or ".join(f'"{one}"' for one in names), kind)
        types[kind](name, value)

    return check


def or_null(check_value: Check) -> Check:
    """Accept null too."""

    def check(name: str, value: Any) -> None:
        if value is not None:
            check_value(name, value)

    return check


def json_list(check_item: Check, most: int) -> Check:
    """Accept a list of at most ``most`` items."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, list) or len(value) > most:
            raise mismatch(name, f"a list of at most {most}", value)
        for item in value:
            check_item(f"an item of {name}", item)

    return check


def text_of(expected: str, form: str) -> Check:
    """Accept text of this form, a regular expression; ``expected`` describes it."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or not re.fullmatch(form, value, re.ASCII):
            raise mismatch(name, expected, value)

    return check


def origin(name: str, value: Any) -> None:
    """Accept the origin of a log."""
    if (
        not isinstance(value, str)
        or not 1 <= len(value) <= 255
        or any(
            one == "+" or one.isspace() or unicodedata.category(one) in ("Cc", "Cs")
            for one in value
        )
    ):
        raise mismatch(name, "the origin of a log", value)


def base64_of(length: int) -> Check:
    """Accept base64 of this many bytes."""

    def check(name: str, value: Any) -> None:
        if not isinstance(value, str):
            raise mismatch(name, f"base64 of {length} bytes", value)
        decode_base64_of(length, name, value)

    return check


def base64_up_to(most: int) -> Check:
    """Accept base64 of 1 to ``most`` bytes."""

    def check(name: str, value: Any) -> None:
        try:
            length = len(decode_base64(value)) if isinstance(value, str) else 0
        except FormatError:
            length = 0
        if not 1 <= length <= most:
            raise mismatch(name, f"base64 of 1 to {most} bytes", value)

    return check


def number(least: int, most: int, *, whole: bool = False) -> Check:
    """Accept a number from ``least`` to ``most``."""

    def check(name: str, value: Any) -> None:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        fits = is_number and least <= value <= most
        if not fits or (whole and value != int(value)):
            raise mismatch(name, f"a number from {least} to {most}", value)

    return check


key_id = text_of("a key ID such as phm_1", r"phm_[1-9][0-9]{0,38}")
time = text_of(
    "a time such as 2026-01-31T12:00:00.000+00:00",
    r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+00:00",
)
