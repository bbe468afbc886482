"""The queue of a client's requests under the rate limit: first come, first served."""

from __future__ import annotations

import itertools
import threading
import time
from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field
from random import random as real_random

from .limits import Limit
from .pace import Pace


class NoTurn(Exception):
    """The turn cannot come before the deadline."""

    def __init__(self, ahead: int, per_second: float | None) -> None:
        super().__init__()
        self.ahead = ahead
        self.per_second = per_second


@dataclass(order=True, slots=True)
class _Waiter:
    ticket: int
    deadline: float = field(compare=False)
    places: int = field(compare=False)
    woken: threading.Condition = field(compare=False)
    went: bool = field(default=False, compare=False)
    too_late: NoTurn | None = field(default=None, compare=False)


class Turns:
    """The queue in which threads wait for their turn. All times are from ``time.monotonic``."""

    def __init__(self, random: Callable[[], float] = real_random) -> None:
        self._lock = threading.Lock()
        self._pace = Pace(random)
        self._waiting: list[_Waiter] = []
        self._tickets = itertools.count()

    def ticket(self) -> int:
        """Return a place behind all earlier ones."""
        return next(self._tickets)

    def take(self, ticket: int, deadline: float, places: int = 1) -> None:
        """Wait until the request may be sent, and count it as sent: ``ended`` must follow.

        It takes ``places`` of the rate limit. A call that asks again keeps its ticket. Raises
        NoTurn as soon as the turn cannot come before the deadline.
        """
        with self._lock:
            waiter = _Waiter(ticket, deadline, places, threading.Condition(self._lock))
            insort(self._waiting, waiter)
            try:
                self._advance()
                while not waiter.went and waiter.too_late is None:
                    waiter.woken.wait(self._patience(waiter))
                    self._advance()
            except BaseException:
                self._abandon(waiter)
                raise
        if waiter.too_late is not None:
            raise waiter.too_late

    def answered(self, *, ok: bool, rate: Limit | None, sent_at: float) -> None:
        """Update the pace from the headers of a response."""
        with self._lock:
            self._pace.answered(ok=ok, rate=rate, sent_at=sent_at, now=time.monotonic())
            self._advance()

    def refused(self, retry_after_seconds: int | None, *, sent_at: float) -> None:
        """Note that a rate limit refused the request."""
        with self._lock:
            self._pace.refused(retry_after_seconds, sent_at=sent_at, now=time.monotonic())
            self._advance()

    def ended(self) -> None:
        """Note that the request has ended, successfully or not."""
        with self._lock:
            self._pace.ended()
            self._advance()

    @property
    def pause(self) -> float:
        """Seconds for which all requests now wait after a refusal."""
        with self._lock:
            return self._pace.pause(time.monotonic())

    def _advance(self) -> None:
        """Start the calls whose turn has come, and fail those whose turn cannot come in time."""
        now = time.monotonic()
        while self._waiting and self._pace.wait(now, 0, self._waiting[0].places) == 0:
            waiter = self._waiting.pop(0)
            self._pace.sent(now, waiter.places)
            waiter.went = True
            waiter.woken.notify()
        self._drop_late(now)
        # The first in the queue watches the clock.
        if self._waiting:
            self._waiting[0].woken.notify()

    def _drop_late(self, now: float) -> None:
        kept: list[_Waiter] = []
        ahead = 0.0
        for waiter in self._waiting:
            if now + self._pace.least_wait(now, ahead, waiter.places) < waiter.deadline:
                kept.append(waiter)
                ahead += self._pace.cost(waiter.places)
            else:
                waiter.too_late = NoTurn(len(kept), self._pace.stated_per_second)
                waiter.woken.notify()
        self._waiting = kept

    def _patience(self, waiter: _Waiter) -> float:
        """Return the seconds after which a waiter checks again."""
        now = time.monotonic()
        patience = waiter.deadline - now
        if self._waiting[0] is waiter:
            turn = self._pace.wait(now, 0, waiter.places)
            patience = patience if turn is None else min(patience, turn)
        return max(0.0, patience)

    def _abandon(self, waiter: _Waiter) -> None:
        if waiter in self._waiting:
            self._waiting.remove(waiter)
        elif waiter.went:
            self._pace.ended()
        self._advance()
