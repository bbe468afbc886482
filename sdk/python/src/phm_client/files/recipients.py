"""The recipients that a caller names."""

from __future__ import annotations

from ..receipt.format_error import FormatError
from ..receipt.text import plain_text
from ..sealing.recipient import (
    Recipient,
    RecipientKey,
    parse_recipient,
    parse_recipient_key,
    recipient_key_of,
)


def read_to(to: object) -> Recipient:
    """Read ``to``: a recipient, or the text of one of its files. Raises TypeError or ValueError."""
    if isinstance(to, Recipient):
        return to
    if not isinstance(to, (str, bytes)):
        raise TypeError(f"to must be a Recipient or the text of its file, got {type(to).__name__}")
    try:
        # Both files name their type.
        is_secret = '"phm-recipient-key/' in plain_text(to)
        return parse_recipient_key(to) if is_secret else parse_recipient(to)
    except FormatError as error:
        reason = str(error)
    raise ValueError(f"to is text, but not of the file of a recipient: {reason}")


def read_recipient_key(given: object) -> RecipientKey:
    """Read a private key, or the text of its file. No error quotes it."""
    try:
        return recipient_key_of(given)
    except FormatError as error:
        reason = str(error)
    raise ValueError(f"recipient_key is text, but not of the file of a recipient: {reason}")
