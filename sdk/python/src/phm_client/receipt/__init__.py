"""Verifies receipts of the transparency log offline."""

from .container import parse_receipt_text
from .text import UnreadableError
from .verdict import ReceiptVerdict
from .verify import verify_receipt

__all__ = ["ReceiptVerdict", "UnreadableError", "parse_receipt_text", "verify_receipt"]
