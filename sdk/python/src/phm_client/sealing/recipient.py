"""Recipients of sealed keys: their key pairs, and the files that hold them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from ..options import check_text
from ..receipt.format_error import FormatError
from ..receipt.shape import Check, json_object, text_of
from ..receipt.text import plain_text
from ..types import SealSuite
from .base64url import base64url, bytes_of, encode_base64url
from .kem import public_key_of
from .public_key import public_key_problem
from .secret_json import parse_json
from .suites import DEFAULT_SUITE, SUITES, Suite, suite_name, suite_of

_TYPE = "phm-recipient/v1"
_KEY_TYPE = "phm-recipient-key/v1"

# Longest key in bytes; the suite says how long exactly.
_MAX_KEY_BYTES = 2048


@dataclass(frozen=True, slots=True)
class Recipient:
    """The public half of a recipient, to which keys are sealed."""

    suite: SealSuite
    public_key: bytes
    """Raw serialisation of the KEM: 1,216 or 1,568 bytes."""


@dataclass(frozen=True, slots=True)
class RecipientKey(Recipient):
    """A recipient with its private key. ``repr()`` hides it; keep it secret."""

    private_key: bytes = field(repr=False)
    """Seed of the KEM, from which the key pair is derived: 32 or 64 bytes."""

    @property
    def recipient(self) -> Recipient:
        """The public half, to give away."""
        return Recipient(self.suite, self.public_key)


def new_recipient(suite: SealSuite = DEFAULT_SUITE) -> RecipientKey:
    """Generate a key pair. Raises SealingUnavailableError without a new enough ``cryptography``."""
    chosen = suite_of(suite)
    private_key = os.urandom(chosen.private_key_bytes)
    return RecipientKey(chosen.name, public_key_of(chosen, private_key), private_key)


def format_recipient(recipient: Recipient) -> str:
    """Return the text of a recipient's public file, without a private key."""
    return _file(_TYPE, recipient)


def format_recipient_key(recipient_key: RecipientKey) -> str:
    """Return the text of a recipient's secret file, for a file that only its owner can read."""
    private_key = encode_base64url(recipient_key.private_key)
    return _file(_KEY_TYPE, recipient_key, private_key=private_key)


def parse_recipient(text: str | bytes) -> Recipient:
    """Read the text or bytes of a public file. Raises ValueError, also for a wrong public key."""
    suite, public_key, _ = _parse("the recipient", _RECIPIENT, text)
    return Recipient(suite.name, public_key)


def parse_recipient_key(text: str | bytes) -> RecipientKey:
    """Read the text or bytes of a secret file. Raises ValueError, which does not quote it."""
    name = "the recipient key"
    suite, public_key, members = _parse(name, _RECIPIENT_KEY, text)
    private_key = bytes_of("private_key", members["private_key"], 1, _MAX_KEY_BYTES)
    if len(private_key) != suite.private_key_bytes:
        raise FormatError(
            f"private_key: expected {suite.private_key_bytes} bytes for {suite.name}, "
            f"got {len(private_key)}"
        )
    return RecipientKey(suite.name, public_key, private_key)


def recipient_key_of(given: object) -> RecipientKey:
    """Read what a caller gives: a private key, or the text of its file. No error quotes it.

    Raises TypeError, or FormatError.
    """
    if isinstance(given, RecipientKey):
        return given
    if not isinstance(given, (str, bytes)):
        got = type(given).__name__
        raise TypeError(f"recipient_key must be a RecipientKey or the text of its file, got {got}")
    return parse_recipient_key(given)


_MEMBERS = {"suite": suite_name, "public_key": base64url(1, _MAX_KEY_BYTES)}
_RECIPIENT = json_object({"type": text_of(f'"{_TYPE}"', _TYPE), **_MEMBERS})
_RECIPIENT_KEY = json_object(
    {
        "type": text_of(f'"{_KEY_TYPE}"', _KEY_TYPE),
        **_MEMBERS,
        "private_key": base64url(1, _MAX_KEY_BYTES),
    }
)


def _parse(name: str, check: Check, text: str | bytes) -> tuple[Suite, bytes, dict[str, Any]]:
    if not isinstance(text, bytes):
        check_text("text", text)
    members = parse_json(name, "a JSON object", plain_text(text))
    check(name, members)
    suite = SUITES[members["suite"]]
    public_key = bytes_of("public_key", members["public_key"], 1, _MAX_KEY_BYTES)
    problem = public_key_problem(suite, public_key)
    if problem is not None:
        raise FormatError(f"public_key: {problem}")
    return suite, public_key, members


def _file(kind: str, recipient: Recipient, **more: str) -> str:
    public_key = encode_base64url(recipient.public_key)
    members = {"type": kind, "suite": recipient.suite, "public_key": public_key, **more}
    return json.dumps(members, separators=(",", ":")) + "\n"
