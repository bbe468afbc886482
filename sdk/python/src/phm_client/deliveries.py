"""Deliveries: sealed keys that wait at the service for registered recipients."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, Literal, TypeVar

from .binding import delivery_in, distinct, receipt_problem
from .call import Call
from .options import (
    check_delivery_id,
    check_delivery_ids,
    check_recipient_name,
    check_wait,
)
from .receipt.format_error import FormatError
from .sealing.sealed_key import read_sealed_key
from .types import (
    DeliveryList,
    DeliveryResult,
    DeliveryStates,
    FetchedDelivery,
    FetchResult,
    RemoveResult,
)

T = TypeVar("T")

_PATH = "/api/v2/deliveries"


class Deliveries:
    """The deliveries of a client: ``PhmClient.deliveries``.

    Every method takes ``timeout`` and ``request_id`` as those of the client do.
    """

    def __init__(self, send: Callable[[Call[Any]], Any]) -> None:
        """Made by the client alone."""
        self._send = send

    def list(
        self,
        recipient: str,
        *,
        state: Literal["waiting", "received"] | None = None,
        wait: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> DeliveryList:
        """Return a page of the copies for a recipient, oldest first.

        ``next_cursor`` is the ``cursor`` of the next page, and None at the end. With ``wait``, a
        response without copies comes only after so many seconds: ask again at once.
        """
        given = {
            "recipient": check_recipient_name(recipient),
            "state": state,
            "wait": check_wait(wait),
            "limit": limit,
            "cursor": cursor,
        }

        def check(page: DeliveryList) -> str | None:
            if not distinct(copy.delivery_id for copy in page.deliveries):
                return "it has a delivery_id twice"
            if len(page.deliveries) > (100 if limit is None else limit):
                return "it has more deliveries than limit"
            if page.next_cursor is not None and page.next_cursor == cursor:
                return "its next_cursor is that of this page"
            return None

        return self._call(
            Call(
                method="GET",
                path=_PATH,
                answer=DeliveryList,
                query={name: str(value) for name, value in given.items() if value is not None},
                extra=float(wait or 0),
                request_id=request_id,
                timeout=timeout,
                check=check,
            )
        )

    def fetch(
        self,
        recipient: str,
        ids: Sequence[str],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> FetchResult:
        """Return the sealed keys of up to 100 copies, with receipts.

        The service then has their states as ``received``. Repeatable. Open each with
        ``open_sealed_key``, and remove it when you need it no more. Raises PhmApiError with
        ``delivery_gone`` or ``delivery_not_found`` if none can be fetched.
        """
        return self._take("fetch", FetchResult, recipient, ids, request_id, timeout, _fetched)

    def remove(
        self,
        recipient: str,
        ids: Sequence[str],
        *,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> RemoveResult:
        """Remove up to 100 copies from the box of a recipient.

        A repeated call changes nothing, so the client retries.
        """
        return self._take("remove", RemoveResult, recipient, ids, request_id, timeout)

    def state(
        self,
        delivery_id: str,
        *,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> DeliveryStates:
        """Return the state of a delivery of the account at each of its recipients."""

        def check(result: DeliveryResult) -> str | None:
            same = result.delivery.delivery_id == delivery_id
            return None if same else "it is about another delivery"

        return self._call(
            Call(
                method="GET",
                path=f"{_PATH}/{check_delivery_id(delivery_id)}",
                answer=DeliveryResult,
                query={},
                request_id=request_id,
                timeout=timeout,
                check=check,
            )
        ).delivery

    def _take(
        self,
        action: str,
        answer: type[T],
        recipient: str,
        ids: Sequence[str],
        request_id: str | None,
        timeout: float | None,
        of_each: Callable[[Any], str | None] = lambda _: None,
    ) -> T:
        wanted = check_delivery_ids(ids)

        def check(result: Any) -> str | None:
            if [copy.delivery_id for copy in result.deliveries] != wanted:
                return "its deliveries are not those of the request"
            return next((problem for problem in map(of_each, result.deliveries) if problem), None)

        body = {"recipient": check_recipient_name(recipient), "ids": wanted}
        return self._call(
            Call(
                method="POST",
                path=f"{_PATH}/{action}",
                answer=answer,
                places=len(wanted),
                body=json.dumps(body).encode(),
                query={},
                request_id=request_id,
                timeout=timeout,
                check=check,
            )
        )

    def _call(self, call: Call[T]) -> T:
        answer: T = self._send(call)
        return answer


def _fetched(copy: FetchedDelivery) -> str | None:
    """Tell what of a fetched copy does not belong to it; None if all does."""
    if (copy.state == "received") != (copy.sealed_key is not None):
        return "a sealed_key in it does not fit the state"
    if copy.sealed_key is None:
        return None
    if copy.key_id is None:
        return "a sealed_key in it has no key_id"
    try:
        header = read_sealed_key(asdict(copy.sealed_key)).header
    except FormatError:
        return "a sealed_key in it cannot be read"
    if header["key_id"] != copy.key_id:
        return "a sealed_key in it is another key"
    if delivery_in(header) != copy.delivery_id:
        return "a sealed_key in it is of another delivery"
    return None if copy.receipt is None else receipt_problem(copy.receipt, copy.key_id)
