"""Verifies receipts of the transparency log offline."""

from .verdict import ReceiptVerdict
from .verify import verify_receipt

__all__ = ["ReceiptVerdict", "verify_receipt"]
