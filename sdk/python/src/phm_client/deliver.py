"""What a request for sealed keys says about their delivery."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .options import check_delivery_id, check_text

_CONTEXT_BYTES = 32


@dataclass(frozen=True, slots=True)
class Deliver:
    """The delivery of a key. Its recipients are registered ones."""

    id: str
    """A new UUID, in lower case."""
    keep_for: str = field(default="1h", kw_only=True)
    """A number and s, m, h or d, from ``60s`` to ``7d``."""
    context: bytes | None = field(default=None, kw_only=True)
    """32 bytes, which the recipients compare with what they expect."""


@dataclass(frozen=True, slots=True)
class DeliverBatch:
    """The deliveries of a batch, one for each key. Their recipients are registered ones."""

    ids: Sequence[str]
    """A new UUID for each key, in lower case."""
    keep_for: str = field(default="1h", kw_only=True)
    """As for ``Deliver``."""
    context: bytes | None = field(default=None, kw_only=True)
    """As for ``Deliver``."""


def deliver_member(deliver: Deliver | None) -> dict[str, Any]:
    """Return the member ``deliver`` of a request for one key."""
    if deliver is None:
        return {}
    if not isinstance(deliver, Deliver):
        raise TypeError(f"deliver must be a Deliver, got {type(deliver).__name__}")
    return {"deliver": {"id": check_delivery_id(deliver.id), **_shared(deliver)}}


def deliver_batch_member(deliver: DeliverBatch | None, count: object) -> dict[str, Any]:
    """Return the member ``deliver`` of a request for this many keys."""
    if deliver is None:
        return {}
    if not isinstance(deliver, DeliverBatch):
        raise TypeError(f"deliver must be a DeliverBatch, got {type(deliver).__name__}")
    ids = [check_delivery_id(one) for one in deliver.ids]
    if len(ids) != count:
        raise ValueError(f"deliver must have an ID for each key, got {len(ids)}")
    return {"deliver": {"ids": ids, **_shared(deliver)}}


def part_of(body: Mapping[str, Any], start: int, count: int) -> dict[str, Any]:
    """Return the request for ``count`` keys from ``start`` on of a request for many."""
    part = {**body, "count": count}
    if "deliver" in body:
        ids = body["deliver"]["ids"][start : start + count]
        part["deliver"] = {**body["deliver"], "ids": ids}
    return part


def _shared(deliver: Deliver | DeliverBatch) -> dict[str, str]:
    check_text("keep_for", deliver.keep_for)
    members = {"for": deliver.keep_for}
    if deliver.context is not None:
        if len(deliver.context) != _CONTEXT_BYTES:
            raise ValueError(f"context must be {_CONTEXT_BYTES} bytes, got {len(deliver.context)}")
        members["context"] = base64.b64encode(deliver.context).decode()
    return members
