"""The form of a receipt and its statement: docs/receipts.md of the project."""

from __future__ import annotations

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
)


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

_RECEIPT = json_object(
    {
        "statement": json_object(
            {
                "type": text_of('"phm-key-receipt/v1"', r"phm-key-receipt/v1"),
                "service": origin,
                "key_id": key_id,
                "time": time,
                "security_level": number(1, 2**16 - 1, whole=True),
                "security_strength_bits": number(0, 2**16 - 1, whole=True),
                "key_commitment": base64_of(32),
                "evidence": or_null(
                    json_object(
                        {
                            "digest": text_of(
                                '"sha256:" and 64 hexadecimal digits', r"sha256:[0-9a-f]{64}"
                            ),
                            "verdict": text_of("PASS or FAIL", r"PASS|FAIL"),
                            "tests_passed": _count,
                            "total_tests": _count,
                        }
                    )
                ),
                "modulation": _word,
                "sources": json_list(
                    json_object({"name": _word, "credit_bits": number(0, 2**32)}), 32
                ),
                "row_digest": base64_of(32),
                "sealed_to": or_null(base64_up_to(4096)),
                "sealed_digest": or_null(base64_of(32)),
                "software": text_of("up to 255 printable ASCII characters", r"[!-~]{1,255}"),
                "salt": base64_of(32),
            }
        ),
        "proof": _proof,
    }
)
