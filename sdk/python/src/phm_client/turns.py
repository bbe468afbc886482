"""The queue of a client's requests under the rate limit: first come, first served."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import SystemRandom

from .limits import Limit
from .pace import Pace

# The queue looks at every call when so many events have happened, as a part of the calls in it.
_EVENTS_PER_CALL = 0.25


_random = SystemRandom().random


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
    cost: float = field(default=0.0, compare=False)
    """Tokens that it takes, when they were last counted."""
    went: bool = field(default=False, compare=False)
    too_late: NoTurn | None = field(default=None, compare=False)
    gave_up: bool = field(default=False, compare=False)

    @property
    def waits(self) -> bool:
        return not (self.went or self.gave_up) and self.too_late is None


class Turns:
    """The queue in which threads wait for their turn. All times are from ``time.monotonic``.

    No event looks at every call in it: tickets are a heap, in which those that left stay until they
    come first.
    """

    def __init__(self, random: Callable[[], float] = _random) -> None:
        self._lock = threading.Lock()
        self._pace = Pace(random)
        self._line: list[_Waiter] = []
        # Calls that wait, and their tokens, counted for a bucket that holds `_burst`.
        self._size = 0
        self._queued = 0.0
        self._burst: float | None = None
        self._events = 0
        self._was_stated = False
        # Ticket of the last call that came for the first time.
        self._last = -1
        self._tickets = itertools.count()

    def ticket(self) -> int:
        """Return a place behind all earlier ones."""
        return next(self._tickets)

    def take(self, ticket: int, deadline: float, places: int = 1) -> None:
        """Wait until the request may be sent, and count it as sent: ``ended`` must follow.

        It takes ``places`` of the rate limit. A call that asks again keeps its ticket. Raises
        NoTurn when it is known that the turn cannot come before the deadline.
        """
        with self._lock:
            waiter = self._join(ticket, deadline, places)
            try:
                self._advance()
                while waiter.waits:
                    waiter.woken.wait(self._patience(waiter))
                    self._look_again(waiter)
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

    def _join(self, ticket: int, deadline: float, places: int) -> _Waiter:
        waiter = _Waiter(ticket, deadline, places, threading.Condition(self._lock))
        waiter.cost = self._pace.cost(places)
        # A call that asks again stands somewhere before the last one.
        is_counted = ticket > self._last and self._burst == self._pace.burst
        ahead, place = (self._queued, self._size) if is_counted else (0.0, 0)
        self._last = max(self._last, ticket)
        heappush(self._line, waiter)
        self._size += 1
        self._queued += waiter.cost
        if not self._is_in_time(waiter, ahead):
            self._drop(waiter, place)
        return waiter

    def _leave(self, waiter: _Waiter) -> None:
        self._size -= 1
        self._queued -= waiter.cost

    def _drop(self, waiter: _Waiter, ahead: int) -> None:
        waiter.too_late = NoTurn(ahead, self._pace.stated_per_second)
        self._leave(waiter)
        waiter.woken.notify()

    def _is_in_time(self, waiter: _Waiter, ahead: float) -> bool:
        now = time.monotonic()
        return now + self._pace.least_wait(now, ahead, waiter.places) < waiter.deadline

    def _first(self) -> _Waiter | None:
        while self._line and not self._line[0].waits:
            heappop(self._line)
        return self._line[0] if self._line else None

    def _advance(self) -> None:
        """Start the calls whose turn has come, and fail those whose turn cannot come in time."""
        now = time.monotonic()
        self._events += 1
        while (first := self._first()) and self._pace.wait(now, 0, first.places) == 0:
            self._pace.sent(now, first.places)
            first.went = True
            self._leave(first)
            first.woken.notify()
        is_stated = self._pace.stated_per_second is not None
        is_news = is_stated and not self._was_stated
        self._was_stated = is_stated
        if is_news or self._events >= self._size * _EVENTS_PER_CALL:
            self._drop_late()
        # The first in the queue watches the clock.
        if first := self._first():
            first.woken.notify()

    def _drop_late(self) -> None:
        """Fail every call whose turn cannot come in time, which takes as long as the queue is."""
        self._events = 0
        self._burst = self._pace.burst
        kept: list[_Waiter] = []
        ahead = 0.0
        for waiter in sorted(one for one in self._line if one.waits):
            if self._is_in_time(waiter, ahead):
                self._queued -= waiter.cost
                waiter.cost = self._pace.cost(waiter.places)
                self._queued += waiter.cost
                ahead += waiter.cost
                kept.append(waiter)
            else:
                self._drop(waiter, len(kept))
        # In order, it is a heap.
        self._line = kept

    def _look_again(self, waiter: _Waiter) -> None:
        """Go on after a wait: a turn may have come, or the time of this call may be over."""
        if not waiter.waits:
            return
        if not self._is_in_time(waiter, 0):
            self._drop(waiter, self._size - 1)
        self._advance()

    def _patience(self, waiter: _Waiter) -> float:
        """Return the seconds after which a waiter checks again."""
        now = time.monotonic()
        patience = waiter.deadline - now
        if self._first() is waiter:
            turn = self._pace.wait(now, 0, waiter.places)
            patience = patience if turn is None else min(patience, turn)
        return max(0.0, patience)

    def _abandon(self, waiter: _Waiter) -> None:
        if waiter.waits:
            waiter.gave_up = True
            self._leave(waiter)
        elif waiter.went:
            self._pace.ended()
        self._advance()
