"""Computes when the next request may be sent, from given times and without clocks or locks.

The service keeps a bucket of tokens for each API key, and the headers of each response describe it.
This module keeps a copy of that bucket. The copy errs on the low side: it sends later than the
service would allow, and other clients with the same API key lower it further. A refusal (429)
empties it and pauses all requests. ``sdk/src/pace.ts`` does the same for TypeScript.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from .limits import Limit

# Most requests in progress before a response states the limit. The smallest plan's bucket holds 20.
_FIRST_REQUESTS = 10

# Requests sent this far apart may arrive together; the copy keeps that many tokens in reserve.
_JITTER_SECONDS = 0.1

# First guess of the rate if refusals have no headers. Refusals halve it, and successful responses
# raise it.
_FIRST_GUESS = 10.0
_LEAST_GUESS = 0.25
_RAISE = 1.02

_FIRST_BACKOFF_SECONDS = 0.25
_LONGEST_BACKOFF_SECONDS = 8.0

# Longest pause after a refusal, and after the last request whatever the headers say. The next
# request then asks the service itself.
_LONGEST_PAUSE_SECONDS = 30.0

# Longest time between two requests that a service may state. Limits of longer times are mistakes.
_LONGEST_GAP_SECONDS = 3_600


@dataclass(frozen=True, slots=True)
class _Bucket:
    per_second: float
    burst: float
    stated: bool
    """True if the service stated these figures."""

    @property
    def reserve(self) -> float:
        """Tokens in reserve for requests that arrive closer together than they were sent."""
        return min(max(1.0, self.per_second * _JITTER_SECONDS), (self.burst - 1) / 2)


def _is_credible(rate: Limit) -> bool:
    """Return whether a service can mean this limit. One that it cannot mean counts as none."""
    return rate.limit > 0 and 0 < rate.window_seconds <= _LONGEST_GAP_SECONDS * rate.limit


class Pace:
    """The copy of the bucket. ``random`` returns numbers from 0 to 1."""

    def __init__(self, random: Callable[[], float]) -> None:
        self._random = random
        self._bucket: _Bucket | None = None
        # True if the service responds and states no limit.
        self._unlimited = False
        # Tokens at `_at`, which is in the future during a pause.
        self._tokens = 0.0
        self._at = -math.inf
        self._in_flight = 0
        self._sent_at = -math.inf
        self._refusals = 0
        self._refused_at = -math.inf
        self._paused_until = -math.inf

    @property
    def burst(self) -> float | None:
        """Tokens that the full bucket holds; None if it is not known."""
        return self._bucket.burst if self._bucket else None

    @property
    def stated_per_second(self) -> float | None:
        """Requests per second that the service stated; None if it stated none."""
        return self._bucket.per_second if self._bucket and self._bucket.stated else None

    def cost(self, places: int) -> float:
        """Return the tokens that a request takes: its places, but no more than the bucket holds."""
        return min(float(places), self._bucket.burst if self._bucket else 1.0)

    def wait(self, now: float, ahead: float, places: int = 1) -> float | None:
        """Return the seconds until a request may be sent after others that take ``ahead`` tokens.

        None: not until another request has ended.
        """
        pause = self.pause(now)
        if self._bucket is None:
            free = self._unlimited or self._in_flight + ahead < _FIRST_REQUESTS
            return pause if free else None
        # A request that takes the whole bucket leaves no reserve.
        needed = min(self._bucket.burst, self.cost(places) + self._bucket.reserve)
        lacking = ahead + needed - self._tokens_at(now + pause)
        wait = pause + max(0.0, lacking / self._bucket.per_second)
        # The headers may be wrong: one request asks the service itself after a while.
        probe = max(pause, self._sent_at + _LONGEST_PAUSE_SECONDS - now)
        return wait if ahead > 0 else min(wait, probe)

    def least_wait(self, now: float, ahead: float, places: int = 1) -> float:
        """Return a lower bound of the wait; only the current pause while the rate is a guess."""
        stated = self.stated_per_second is not None
        certain = self.wait(now, ahead, places) if stated else None
        return self.pause(now) if certain is None else certain

    def pause(self, now: float) -> float:
        """Return the rest of the pause after a refusal, in seconds."""
        return max(0.0, self._paused_until - now)

    def sent(self, now: float, places: int = 1) -> None:
        """Take the tokens of a request that is sent."""
        self._in_flight += 1
        self._sent_at = now
        if self._bucket:
            self._settle(now, max(0.0, self._tokens_at(now) - self.cost(places)))

    def ended(self) -> None:
        """Note that a request has ended, successfully or not."""
        self._in_flight -= 1

    def answered(self, *, ok: bool, rate: Limit | None, sent_at: float, now: float) -> None:
        """Update the copy from a response's headers; ``rate`` is None if they state no limit."""
        if rate is not None and _is_credible(rate):
            self._follow(rate, sent_at, now)
        elif ok and (self._bucket is None or self._bucket.stated):
            self._bucket = None
            self._unlimited = True
        if ok:
            self._refusals = 0
            self._raise_guess(now)

    def refused(self, retry_after_seconds: int | None, *, sent_at: float, now: float) -> None:
        """Note that a rate limit refused a request."""
        pause = float(retry_after_seconds or 0)
        # Requests sent before the first refusal arrived only repeat it.
        if sent_at > self._refused_at:
            backoff = _FIRST_BACKOFF_SECONDS * 2.0 ** min(self._refusals, 10)
            self._refusals += 1
            self._refused_at = now
            pause += self._random() * min(_LONGEST_BACKOFF_SECONDS, backoff)
            self._lower_guess()
        until = now + min(_LONGEST_PAUSE_SECONDS, pause)
        self._paused_until = max(self._paused_until, until)
        # Tokens that arrive during the pause are left to others with the same API key; one request
        # may follow it.
        if self._bucket:
            self._settle(self._paused_until, 1 + self._bucket.reserve)

    def _tokens_at(self, now: float) -> float:
        if self._bucket is None:
            return 0.0
        refill = self._bucket.per_second * max(0.0, now - self._at)
        return min(self._bucket.burst, self._tokens + refill)

    def _settle(self, at: float, tokens: float) -> None:
        self._tokens = tokens
        self._at = max(self._at, at)

    def _follow(self, rate: Limit, sent_at: float, now: float) -> None:
        known = self.stated_per_second is not None
        tokens = self._tokens_at(now)
        burst = float(rate.limit)
        self._bucket = _Bucket(burst / rate.window_seconds, burst, stated=True)
        if now < self._paused_until:
            return
        if not known:
            self._settle(now, max(0.0, min(burst - self._in_flight, rate.remaining)))
            return
        # `remaining` is the rest, rounded down, when the request arrived: after it was sent.
        floor = rate.remaining + self._bucket.per_second * (now - sent_at)
        self._settle(now, min(burst, floor if tokens >= floor + 1 else tokens))

    def _lower_guess(self) -> None:
        if self.stated_per_second is not None:
            return
        guess = max(_LEAST_GUESS, self._bucket.per_second / 2) if self._bucket else _FIRST_GUESS
        self._bucket = _Bucket(guess, 1.0, stated=False)

    def _raise_guess(self, now: float) -> None:
        if self._bucket is None or self._bucket.stated:
            return
        tokens = self._tokens_at(now)
        self._bucket = replace(self._bucket, per_second=self._bucket.per_second * _RAISE)
        if now >= self._at:
            self._settle(now, tokens)
