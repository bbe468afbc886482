"""Compares the recipients of a sealed key with those that its opener demands."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from ..receipt.format_error import FormatError, decode_base64
from .recipient import Recipient, parse_recipient
from .sealed_key import header_recipients

_THUMBPRINT_BYTES = 32


def expectation_problem(
    header: Mapping[str, Any], expected: Iterable[Recipient | str]
) -> str | None:
    """Return why the recipients of a key are not those expected; None if they are.

    The opener itself need not be among those expected. Raises TypeError for what is no recipient.
    """
    if isinstance(expected, (str, bytes, Recipient)):
        raise TypeError("expect_recipients must be a list")
    demanded = dict.fromkeys([header["thumbprint"], *map(_thumbprint, expected)])
    actual = header_recipients(header)
    further = next((one for one in actual if one not in demanded), None)
    if further is not None:
        return (
            "The key is sealed to a further recipient, whom you did not expect: "
            f"its thumbprint is {further}."
        )
    missing = next((one for one in demanded if one not in actual), None)
    if missing is None:
        return None
    return f"The key is not sealed to a recipient whom you expected: its thumbprint is {missing}."


def _thumbprint(expected: object) -> str:
    if isinstance(expected, str) and _is_thumbprint(expected):
        return expected
    try:
        recipient = parse_recipient(expected) if isinstance(expected, str) else expected
    except ValueError:
        recipient = None
    if not isinstance(recipient, Recipient):
        raise TypeError(
            "expect_recipients must hold results of new_recipient or parse_recipient, texts of "
            "recipient files, or thumbprints in base64"
        )
    return base64.b64encode(hashlib.sha256(recipient.public_key).digest()).decode()


def _is_thumbprint(text: str) -> bool:
    try:
        return len(decode_base64(text)) == _THUMBPRINT_BYTES
    except FormatError:
        return False
