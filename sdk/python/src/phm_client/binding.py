"""Whether a response belongs to its request: what it repeats of the request must be the same.

Every check returns one phrase that names what differs, without values, or None.
"""

from __future__ import annotations

import base64
import hashlib
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, cast

from .receipt.format_error import FormatError
from .sealing.recipient import Recipient
from .sealing.sealed_key import header_recipients, read_sealed_key
from .types import (
    GeneratedKey,
    GeneratedSealedKey,
    GeneratedSealedKeys,
    KeyBatch,
    KeyInfo,
    KeyInfoResult,
    KeyList,
    Receipt,
    ReceiptResult,
    SealedKey,
)

Check = Callable[[Any], "str | None"]

# Key IDs remembered, a few MiB. A peer that repeats a response does so much sooner.
_MOST_RECENT = 16_384


class RecentKeys:
    """IDs of the latest keys of a client: the service makes each key once."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._lock = threading.Lock()

    def problem(self, ids: Collection[str], *, replayed: bool) -> str | None:
        """Remember keys, and tell if one was there before.

        A replayed response, to a known ``Idempotency-Key``, has sealed keys again.
        """
        with self._lock:
            if not replayed and any(one in self._ids for one in ids):
                return "it has a key of an earlier call"
            self._ids.update(dict.fromkeys(ids))
            while len(self._ids) > _MOST_RECENT:
                del self._ids[next(iter(self._ids))]
        return None


def keys_of(answer: object) -> tuple[str, ...]:
    """Return the IDs of the keys that a response has made."""
    if isinstance(answer, KeyBatch):
        return tuple(key.key_id for key in answer.keys)
    if isinstance(answer, (GeneratedKey, GeneratedSealedKey, GeneratedSealedKeys)):
        return (answer.key_id,)
    return ()


def is_sealed(answer: object) -> bool:
    """Return whether all keys of a response are sealed: only these are ever sent twice."""
    made = answer.keys if isinstance(answer, KeyBatch) else (answer,)
    return all(isinstance(one, (GeneratedSealedKey, GeneratedSealedKeys)) for one in made)


def of_key_id(key_id: str) -> Callable[[KeyInfoResult], str | None]:
    """Return the check of ``get_key``."""
    return lambda result: None if result.key.key_id == key_id else "it is about another key"


def of_revocation(key_id: str, reason: object) -> Callable[[KeyInfoResult], str | None]:
    """Return the check of ``revoke_key``.

    A key that was revoked before keeps its reason, and a compromised key stays so.
    """

    def check(result: KeyInfoResult) -> str | None:
        key = result.key
        if key.key_id != key_id:
            return "it is about another key"
        revoked = key.revoked_at is not None and key.revocation_reason is not None
        if not revoked or key.status == "active":
            return "the key in it is not revoked"
        if reason == "key_compromise" and key.status != "compromised":
            return "the key in it is not compromised"
        return None

    return check


def of_receipt(
    key_id: str, key_commitment: str | None = None
) -> Callable[[ReceiptResult], str | None]:
    """Return the check of a receipt, and of its commitment if one is given."""
    return lambda result: receipt_problem(result.receipt, key_id, key_commitment)


def of_list(query: Mapping[str, Any], labels: Mapping[str, str]) -> Callable[[KeyList], str | None]:
    """Return the check of a page of ``list_keys``."""
    wanted = {
        name: query[name]
        for name in ("status", "security_level", "source", "api_key_id")
        if query.get(name) is not None
    }

    revoked, before = query.get("revoked"), _moment(query.get("expires_before"))

    def fits(key: KeyInfo) -> bool:
        return labels.items() <= key.labels.items() and all(
            getattr(key, name) == value for name, value in wanted.items()
        )

    # A service that does not know these filters ignores them, and lists all keys.
    def ends_as_asked(key: KeyInfo) -> bool:
        if revoked is not None and revoked != str(key.revoked_at is not None).lower():
            return False
        return before is None or (key.expires_at is not None and key.expires_at <= before)

    def check(page: KeyList) -> str | None:
        if not distinct(key.key_id for key in page.keys):
            return "it has a key_id twice"
        fit = all(fits(key) and ends_as_asked(key) for key in page.keys)
        return None if fit else "a key in it does not fit the filter"

    return check


def of_key(body: Mapping[str, Any], recipient: object = None) -> Check:
    """Return the check of a generated key, by the body of its request.

    ``recipient`` is who a sealed key was asked for: a ``Recipient``, or the name of one, whose
    public key only the service knows; or a list of them.
    """
    labels = dict(body.get("labels") or {})
    expires_at = _moment(body.get("expires_at"))
    level, source = body.get("security_level"), body.get("entropy_source")
    with_receipt = "receipt" in body.get("include", ())
    deliver = body.get("deliver", {})

    def check(key: GeneratedKey | GeneratedSealedKey | GeneratedSealedKeys) -> str | None:
        if key.security_level != level:
            return "its security_level is another"
        if dict(key.labels) != labels:
            return "its labels are others"
        if key.expires_at != expires_at:
            return "its expires_at is another"
        if source is not None and key.source != source:
            return "its source is another"
        if (key.receipt_url is not None) != with_receipt:
            return "it has no receipt_url" if with_receipt else "it has a receipt_url"
        if key.receipt_url is not None and not key.receipt_url.endswith(
            f"/keys/{key.key_id}/receipt"
        ):
            return "its receipt_url is of another key"
        if isinstance(key, GeneratedKey):
            problem = _plain_problem(key, with_receipt)
        elif "ids" not in deliver and _delivery_of(key) != deliver.get("id"):
            problem = "its delivery is another"
        else:
            problem = _sealed_problem(key, recipient)
        if problem is None and key.receipt is not None:
            problem = receipt_problem(key.receipt, key.key_id)
        return problem

    return check


def of_batch(body: Mapping[str, Any], of_one: Check) -> Callable[[KeyBatch[Any]], str | None]:
    """Return the check of a batch of keys, by the body of its request."""
    count, ids = body["count"], body.get("deliver", {}).get("ids")

    def check(batch: KeyBatch[Any]) -> str | None:
        if batch.count != count or len(batch.keys) != count:
            return "it has another number of keys"
        if not distinct(key.key_id for key in batch.keys):
            return "it has a key_id twice"
        if not distinct(_content(key) for key in batch.keys):
            return "it has a key twice"
        if ids is not None and [_delivery_of(key) for key in batch.keys] != ids:
            return "a key in it is of another delivery"
        return next((problem for problem in map(of_one, batch.keys) if problem), None)

    return check


def _plain_problem(key: GeneratedKey, with_receipt: bool) -> str | None:
    if not re.fullmatch(r"[0-9a-f]+", key.key) or len(key.key) * 4 != key.security_level:
        return "its key does not have security_level bits in hexadecimal"
    if (key.opening is not None) != with_receipt:
        return "it has no opening" if with_receipt else "it has an opening"
    return None


def _sealed_problem(key: GeneratedSealedKey | GeneratedSealedKeys, recipient: object) -> str | None:
    """Check the headers in the clear, which each recipient checks again when opening."""
    is_several = isinstance(key, GeneratedSealedKeys)
    name = "one of its sealed_keys" if is_several else "its sealed_key"
    several = isinstance(recipient, (list, tuple))
    recipients = list(cast("Sequence[object]", recipient)) if several else [recipient]
    if len(_copies(key)) != len(recipients):
        return "it has another number of sealed_keys"
    try:
        copies = [read_sealed_key(asdict(one)) for one in _copies(key)]
    except FormatError:
        return f"{name} cannot be read"
    thumbprints = tuple(one.header["thumbprint"] for one in copies)
    for parts, to in zip(copies, recipients, strict=True):
        header = parts.header
        if (header["key_id"], header["security_level"]) != (key.key_id, key.security_level):
            return f"{name} is another key"
        if header_recipients(header) != thumbprints:
            return f"{name} names other recipients"
        if delivery_in(header) != _delivery_of(key):
            return f"{name} is of another delivery"
        if isinstance(to, Recipient) and (
            parts.suite.name != to.suite or header["thumbprint"] != _thumbprint(to)
        ):
            return f"{name} is for another recipient"
    return None


def _copies(key: GeneratedSealedKey | GeneratedSealedKeys) -> tuple[SealedKey, ...]:
    return key.sealed_keys if isinstance(key, GeneratedSealedKeys) else (key.sealed_key,)


def _delivery_of(key: GeneratedSealedKey | GeneratedSealedKeys) -> str | None:
    delivery = key.delivery if isinstance(key, GeneratedSealedKeys) else None
    return None if delivery is None else delivery.id


def delivery_in(header: Mapping[str, Any]) -> object:
    """Return the ID of the delivery that a header names; None without."""
    return (header.get("delivery") or {}).get("id")


def _thumbprint(recipient: Recipient) -> str:
    return base64.b64encode(hashlib.sha256(recipient.public_key).digest()).decode()


def receipt_problem(receipt: Receipt, key_id: str, key_commitment: str | None = None) -> str | None:
    """Tell if a receipt is about another key, or about another commitment to it."""
    statement = receipt.statement
    commitment = key_commitment or statement.key_commitment
    if (statement.key_id, statement.key_commitment) == (key_id, commitment):
        return None
    return "its receipt is about another key"


def _content(key: GeneratedKey | GeneratedSealedKey | GeneratedSealedKeys) -> str:
    return key.key if isinstance(key, GeneratedKey) else _copies(key)[0].ciphertext


def distinct(values: Iterable[str]) -> bool:
    """Return whether no value is there twice."""
    found = list(values)
    return len(set(found)) == len(found)


def _moment(text: object) -> datetime | None:
    """Return a time of a request, which is exact to the millisecond."""
    return None if text is None else datetime.fromisoformat(cast(str, text))
