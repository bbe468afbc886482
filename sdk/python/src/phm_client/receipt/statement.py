"""The form of a receipt and its statement: docs/receipts.md of the project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .note import MAX_NOTE_LENGTH
from .shape import (
    base64_of,
    base64_up_to,
    json_list,
    json_object,
    key_id,
    mismatch,
    number,
    or_null,
    origin,
    text_of,
    time,
    typed,
    unless,
)

KEY_STATEMENT = "phm-key-receipt/v1"
KEY_STATEMENT_V2 = "phm-key-receipt/v2"

MAX_RECIPIENTS = 8
"""Most recipients of one key."""


def check_receipt(value: object) -> None:
    """Raise FormatError that names the first member of a wrong form, missing or unknown."""
    _RECEIPT("the receipt", value)


def _proof(name: str, value: Any) -> None:
    # A proof is a note and at most as much again before it.
    if not isinstance(value, str) or len(value) > 2 * MAX_NOTE_LENGTH:
        raise mismatch(name, "the text of a c2sp.org/tlog-proof@v1", value)


_word = text_of(
    'a word of lower-case letters, digits, "-" and "_"',
    r"[a-z0-9][a-z0-9_-]{0,63}",
)
_count = number(0, 1000, whole=True)

delivery_or_null = or_null(
    json_object(
        {
            "id": text_of(
                "a UUID in lower case",
                r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            ),
            "context": or_null(base64_of(32)),
        }
    )
)


def stated_recipients(statement: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the thumbprints of all recipients that a statement names, in their order."""
    if statement["type"] == KEY_STATEMENT_V2:
        return tuple(one["to"] for one in statement["sealed"])
    return () if statement["sealed_to"] is None else (statement["sealed_to"],)


def recipients_problem(recipients: Sequence[str], delivery: object) -> str | None:
    """Return why no key can have these recipients, after "it"; None if one can."""
    least, length = 2 if delivery is None else 1, len(recipients)
    if not least <= length <= MAX_RECIPIENTS:
        named = "1 recipient" if length == 1 else f"{length} recipients"
        return f"names {named} instead of {least} to {MAX_RECIPIENTS}"
    return None if len(set(recipients)) == length else "names one recipient twice"


_STATED_FACTS = {
    "service": origin,
    "key_id": key_id,
    "time": time,
    "security_level": number(1, 2**16 - 1, whole=True),
    "security_strength_bits": number(0, 2**16 - 1, whole=True),
    "key_commitment": base64_of(32),
    "evidence": or_null(
        json_object(
            {
                "digest": text_of('"sha256:" and 64 hexadecimal digits', r"sha256:[0-9a-f]{64}"),
                "verdict": text_of("PASS or FAIL", r"PASS|FAIL"),
                "tests_passed": _count,
                "total_tests": _count,
            }
        )
    ),
    "modulation": _word,
    "sources": json_list(json_object({"name": _word, "credit_bits": number(0, 2**32)}), 32),
    "row_digest": base64_of(32),
    "software": text_of("up to 255 printable ASCII characters", r"[!-~]{1,255}"),
    "salt": base64_of(32),
}

_STATEMENT_V1 = json_object(
    {
        "type": text_of(f'"{KEY_STATEMENT}"', KEY_STATEMENT),
        **_STATED_FACTS,
        "sealed_to": or_null(base64_up_to(4096)),
        "sealed_digest": or_null(base64_of(32)),
    }
)

_STATEMENT_V2 = unless(
    json_object(
        {
            "type": text_of(f'"{KEY_STATEMENT_V2}"', KEY_STATEMENT_V2),
            **_STATED_FACTS,
            "sealed": json_list(
                json_object({"digest": base64_of(32), "to": base64_of(32)}), MAX_RECIPIENTS
            ),
            "delivery": delivery_or_null,
        }
    ),
    lambda statement: recipients_problem(stated_recipients(statement), statement["delivery"]),
)

_RECEIPT = json_object(
    {
        "statement": typed({KEY_STATEMENT: _STATEMENT_V1, KEY_STATEMENT_V2: _STATEMENT_V2}),
        "proof": _proof,
    }
)
