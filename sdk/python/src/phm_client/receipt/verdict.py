"""The result of a verification, in words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from ..types import KeyStatement, KeyStatementV2

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptVerdict:
    """What a receipt shows. All texts are whole sentences in English."""

    valid: bool
    """True if every check that was asked for passed, under a policy."""
    problems: tuple[str, ...]
    """What is wrong; empty if and only if ``valid`` is True."""
    shown: tuple[str, ...]
    """What the receipt shows. Read it together with ``problems``."""
    not_shown: tuple[str, ...]
    """What the receipt does not show. Never empty: no receipt shows that a key is random."""
    statement: KeyStatement | KeyStatementV2
    """What the service stated about the key. Trust it only if ``valid`` is True."""
    entry_index: int
    """Index of the statement's entry in the log, from 0."""
    tree_size: int
    """Number of entries under the checkpoint."""
    signed_at: datetime | None
    """Time of the log's ML-DSA-44 signature; None without such a signature."""
    witnesses: tuple[str, ...]
    """Names that the policy gives to the witnesses whose cosignatures are right."""


@dataclass
class Findings:
    """Sentences that a verification collects."""

    problems: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    not_shown: list[str] = field(default_factory=list)


def instant(seconds: int) -> str:
    """Return seconds since the epoch in ISO 8601, such as 2026-11-23T01:19:17Z."""
    try:
        return moment(seconds).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return f"{seconds} seconds after 1970"


def moment(seconds: int) -> datetime:
    """Return seconds since the epoch as a time. Raises OverflowError after the year 9999."""
    return _EPOCH + timedelta(seconds=seconds)


def count(value: int, one: str, many: str) -> str:
    """Return a count with its noun: "1 entry", "2 entries"."""
    return f"{value} {one if value == 1 else many}"


def names(items: Iterable[str]) -> str:
    """Return names joined: "a", "a and b", "a, b and c"."""
    *others, last = items
    return f"{', '.join(others)} and {last}" if others else last
