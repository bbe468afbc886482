"""Keys sealed to their recipient: docs/sealing.md of the project."""

from .kem import SealingUnavailableError
from .opening import OpenedKey, SealedKeyError, open_sealed_key, sealed_key_json
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
    "OpenedKey",
    "Recipient",
    "RecipientKey",
    "SealedKeyError",
    "SealingUnavailableError",
    "format_recipient",
    "format_recipient_key",
    "new_recipient",
    "open_sealed_key",
    "parse_recipient",
    "parse_recipient_key",
    "sealed_key_json",
]
