"""What has a receipt within it: a receipt file, the download of the dashboard, an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, cast

from .format_error import FormatError
from .json_text import parse_json_text
from .text import UnreadableError, unreadable


@dataclass(frozen=True, slots=True)
class ReceiptFile:
    """A receipt and what stands beside it. Forms are not checked. ``repr()`` hides the secrets."""

    receipt: Any
    key: str | None = field(default=None, repr=False)
    opening: str | None = field(default=None, repr=False)
    nist_report: Mapping[str, Any] | None = None
    said: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the file itself says of the key, by members of the statement."""


_SAID = ("key_id", "security_level", "sealed_to")
"""Members that a file or an answer has beside its receipt, and that the statement has too."""


def open_receipt_file(given: object) -> ReceiptFile:
    """Return the parts of a receipt, or of what has one within it. Raises UnreadableError.

    Takes an object of this package, parsed JSON, or its text or bytes.
    """
    value: Any = parse_receipt_text(given) if isinstance(given, (str, bytes)) else plain(given)
    if not isinstance(value, dict) or "receipt" not in value or "statement" in value:
        return ReceiptFile(value)
    members = cast("dict[str, Any]", value)
    if members["receipt"] is None:
        raise UnreadableError(
            "The file has no receipt: the log did not have the entry of the key in time. "
            "Get it by the key_id, and verify that."
        )
    report = members.get("nist_report")
    return ReceiptFile(
        members["receipt"],
        key=_text(members.get("key")),
        opening=_text(members.get("opening")),
        nist_report=cast("dict[str, Any]", report) if isinstance(report, dict) else None,
        said={name: members[name] for name in _SAID if members.get(name) is not None},
    )


def plain(value: Any) -> Any:
    """Return an object of this package, or another mapping, as parsed JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        return [plain(item) for item in items]
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def parse_receipt_text(content: str | bytes) -> Any:
    """Return the parsed JSON of a file that has a receipt within it, such as an answer.

    Unlike ``json.loads`` it refuses a member that is there twice. Raises UnreadableError.
    """
    if not isinstance(content, (str, bytes)):
        raise TypeError(f"content must be a string or bytes, got {type(content).__name__}")
    try:
        return parse_json_text(content)
    except FormatError as error:
        raise unreadable("This is not a receipt", error) from None
