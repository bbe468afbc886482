"""Keys sealed to their recipient: docs/sealing.md of the project."""

from .kem import SealingUnavailableError
from .recipient import (
    Recipient,
    RecipientKey,
    format_recipient,
    format_recipient_key,
    new_recipient,
    parse_recipient,
    parse_recipient_key,
)

__all__ = [
    "Recipient",
    "RecipientKey",
    "SealingUnavailableError",
    "format_recipient",
    "format_recipient_key",
    "new_recipient",
    "parse_recipient",
    "parse_recipient_key",
]
