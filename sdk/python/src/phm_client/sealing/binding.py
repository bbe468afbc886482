"""Compares the statement of a receipt with a sealed key that was opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..receipt.statement import KEY_STATEMENT, stated_recipients
from ..receipt.verdict import names
from .sealed_key import SEALED_KEY, header_recipients

# Members that statement and header share.
_SHARED = ("key_id", "service", "time", "security_level", "key_commitment")


def binding_problem(
    statement: Mapping[str, Any], header: Mapping[str, Any], digest: str
) -> str | None:
    """Return why a receipt is not of a sealed key with this header and digest; None if it is."""
    for name in _SHARED:
        stated, own = statement[name], header[name]
        if stated != own:
            return (
                f"The receipt is of another key: its {name} is {_shown(stated)}, "
                f"and the one of the sealed key is {_shown(own)}."
            )
    return (
        _recipients_mismatch(statement, header)
        or _delivery_mismatch(statement, header)
        or _digest_mismatch(statement, header, digest)
    )


def _recipients_mismatch(statement: Mapping[str, Any], header: Mapping[str, Any]) -> str | None:
    stated, own = stated_recipients(statement), header_recipients(header)
    if not stated:
        return "The receipt is of a key that was not sealed."
    if stated == own:
        return None
    if (statement["type"], header["type"]) == (KEY_STATEMENT, SEALED_KEY):
        return (
            f"The receipt names another recipient: its sealed_to is {statement['sealed_to']}, "
            f"and your thumbprint is {header['thumbprint']}."
        )
    return (
        f"The receipt names other recipients: {names(stated)}. The sealed key names {names(own)}."
    )


def _delivery_mismatch(statement: Mapping[str, Any], header: Mapping[str, Any]) -> str | None:
    stated, own = statement.get("delivery"), header.get("delivery")
    if stated == own:
        return None
    return (
        f"The receipt names another delivery: {_described(stated)}. "
        f"The sealed key names {_described(own)}."
    )


def _described(delivery: Mapping[str, Any] | None) -> str:
    if delivery is None:
        return "none"
    if delivery["context"] is None:
        return str(delivery["id"])
    return f"{delivery['id']} with {delivery['context']}"


def _digest_mismatch(
    statement: Mapping[str, Any], header: Mapping[str, Any], digest: str
) -> str | None:
    if statement["type"] == KEY_STATEMENT:
        stated, what = statement["sealed_digest"], "sealed_digest"
    else:
        stated = next(
            (one["digest"] for one in statement["sealed"] if one["to"] == header["thumbprint"]),
            None,
        )
        what = "digest for you"
    if stated == digest:
        return None
    return f"The receipt is of another ciphertext: its {what} is not the one of this sealed key."


def _shown(value: object) -> str:
    return "null" if value is None else str(value)
