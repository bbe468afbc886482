"""The form of a receipt and its statement: docs/receipts.md of the project."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from .canonical import canonical_number
from .format_error import FormatError, decode_base64, decode_base64_of, quoted
from .note import MAX_NOTE_LENGTH

# Checks a value. The name begins the message of its FormatError.
_Check = Callable[[str, Any], None]


def check_receipt(value: object) -> None:
    """Raise FormatError that names the first member of a wrong form, missing or unknown."""
    _RECEIPT("the receipt", value)


def _mismatch(name: str, expected: str, value: object) -> FormatError:
    return FormatError(f"{name}: expected {expected}, got {_described(value)}")


def _described(value: object) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return canonical_number(value)
    if value is None:
        return "null"
    return f"a list of {len(value)}" if isinstance(value, list) else "an object"


def _object(members: Mapping[str, _Check]) -> _Check:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise _mismatch(name, "a JSON object", value)
        for member in value:
            if member not in members:
                raise FormatError(f"{name} has an unknown member {quoted(member)}")
        for member, check_member in members.items():
            if member not in value:
                raise FormatError(f'{name} has no member "{member}"')
            check_member(member, value[member])

    return check


def _or_null(check_value: _Check) -> _Check:
    def check(name: str, value: Any) -> None:
        if value is not None:
            check_value(name, value)

    return check


def _list(check_item: _Check, most: int) -> _Check:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, list) or len(value) > most:
            raise _mismatch(name, f"a list of at most {most}", value)
        for item in value:
            check_item(f"an item of {name}", item)

    return check


def _text(expected: str, form: str) -> _Check:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, str) or not re.fullmatch(form, value, re.ASCII):
            raise _mismatch(name, expected, value)

    return check


def _origin(name: str, value: Any) -> None:
    if (
        not isinstance(value, str)
        or not 1 <= len(value) <= 255
        or any(
            one == "+" or one.isspace() or unicodedata.category(one) in ("Cc", "Cs")
            for one in value
        )
    ):
        raise _mismatch(name, "the origin of a log", value)


def _base64(length: int) -> _Check:
    def check(name: str, value: Any) -> None:
        if not isinstance(value, str):
            raise _mismatch(name, f"base64 of {length} bytes", value)
        decode_base64_of(length, name, value)

    return check


def _base64_up_to(most: int) -> _Check:
    def check(name: str, value: Any) -> None:
        try:
            length = len(decode_base64(value)) if isinstance(value, str) else 0
        except FormatError:
            length = 0
        if not 1 <= length <= most:
            raise _mismatch(name, f"base64 of 1 to {most} bytes", value)

    return check


def _number(least: int, most: int, *, whole: bool = False) -> _Check:
    def check(name: str, value: Any) -> None:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        fits = is_number and least <= value <= most
        if not fits or (whole and value != int(value)):
            raise _mismatch(name, f"a number from {least} to {most}", value)

    return check


def _proof(name: str, value: Any) -> None:
    # A proof is a note and at most as much again before it.
    if not isinstance(value, str) or len(value) > 2 * MAX_NOTE_LENGTH:
        raise _mismatch(name, "the text of a c2sp.org/tlog-proof@v1", value)


_word = _text(
    'a word of lower-case letters, digits, "-" and "_"',
    r"[a-z0-9][a-z0-9_-]{0,63}",
)
_count = _number(0, 1000, whole=True)

_RECEIPT = _object(
    {
        "statement": _object(
            {
                "type": _text('"phm-key-receipt/v1"', r"phm-key-receipt/v1"),
                "service": _origin,
                "key_id": _text("a key ID such as phm_1", r"phm_[1-9][0-9]{0,38}"),
                "time": _text(
                    "a time such as 2026-01-31T12:00:00.000+00:00",
                    r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}\+00:00",
                ),
                "security_level": _number(1, 2**16 - 1, whole=True),
                "security_strength_bits": _number(0, 2**16 - 1, whole=True),
                "key_commitment": _base64(32),
                "evidence": _or_null(
                    _object(
                        {
                            "digest": _text(
                                '"sha256:" and 64 hexadecimal digits', r"sha256:[0-9a-f]{64}"
                            ),
                            "verdict": _text("PASS or FAIL", r"PASS|FAIL"),
                            "tests_passed": _count,
                            "total_tests": _count,
                        }
                    )
                ),
                "modulation": _word,
                "sources": _list(_object({"name": _word, "credit_bits": _number(0, 2**32)}), 32),
                "row_digest": _base64(32),
                "sealed_to": _or_null(_base64_up_to(4096)),
                "sealed_digest": _or_null(_base64(32)),
                "software": _text("up to 255 printable ASCII characters", r"[!-~]{1,255}"),
                "salt": _base64(32),
            }
        ),
        "proof": _proof,
    }
)
