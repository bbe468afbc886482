"""Pacing: the arithmetic of the bucket's copy, and the queue before it."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from scripted import GENERATED, ScriptedServer, answers, fails, stays_silent

from phm_client import Limit, PhmClient, PhmTimeoutError
from phm_client.pace import Pace
from phm_client.turns import Turns

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

RESEARCH_POLICY = '"rate";q=20;w=2'


def research(remaining: int) -> Limit:
    return Limit(limit=20, remaining=remaining, reset_seconds=1, window_seconds=2)


class Service:
    """The service's bucket (GCRA, as src/accounts/rate-limit.ts has it), on a clock of the test."""

    def __init__(self, burst: int, per_second: float) -> None:
        self.burst, self.per_second, self._full_at = burst, per_second, 0.0

    def take(self, now: float) -> tuple[bool, Limit]:
        interval = 1 / self.per_second
        full_at = max(self._full_at, now)
        allowed = full_at - now <= (self.burst - 1) * interval + 1e-9
        self._full_at = full_at + interval if allowed else full_at
        remaining = max(0, int(self.burst - (self._full_at - now) / interval + 1e-6))
        return allowed, Limit(self.burst, remaining, 1, int(self.burst / self.per_second))


class Process:
    """A client with calls that wait, on the clock of the test."""

    def __init__(self, calls: int, seed: int) -> None:
        self.pace = Pace(random.Random(seed).random)
        self.waiting = calls
        self.under_way: list[tuple[float, float, bool, Limit]] = []
        self.refusals = 0

    def step(self, now: float, service: Service, latency: float) -> None:
        ended = [one for one in self.under_way if one[1] <= now]
        self.under_way = [one for one in self.under_way if one[1] > now]
        for sent_at, _, allowed, rate in ended:
            self.pace.answered(ok=allowed, rate=rate, sent_at=sent_at, now=now)
            if not allowed:
                self.pace.refused(1, sent_at=sent_at, now=now)
                self.refusals += 1
                self.waiting += 1
            self.pace.ended()
        while self.waiting and self.pace.wait(now, 0) == 0:
            self.pace.sent(now)
            self.waiting -= 1
            self.under_way.append((now, now + latency, *service.take(now + latency / 2)))

    @property
    def done(self) -> bool:
        return not self.waiting and not self.under_way


def simulate(processes: list[Process], service: Service, latency: float) -> float:
    now = 0.0
    while not all(process.done for process in processes):
        for process in processes:
            process.step(now, service, latency)
        now += 0.005
        assert now < 600
    return now


@pytest.mark.parametrize("latency", [0.005, 0.05, 0.5, 2.0])
@pytest.mark.parametrize(("burst", "per_second"), [(20, 10), (200, 100), (1, 1), (5, 5)])
def test_one_process_is_never_refused_once_it_knows_the_limit(
    latency: float, burst: int, per_second: float
) -> None:
    calls = burst + int(20 * per_second)
    process = Process(calls, seed=1)
    seconds = simulate([process], Service(burst, per_second), latency)
    # What the first requests, sent before any answer, may run into.
    assert process.refusals <= max(0, 10 - burst)
    assert seconds < 1.5 * 20 + 3 + 4 * latency


@pytest.mark.parametrize("count", [2, 3])
def test_processes_with_one_key_all_come_to_an_end(count: int) -> None:
    processes = [Process(100, seed) for seed in range(count)]
    service = Service(20, 10)
    seconds = simulate(processes, service, 0.02)
    assert seconds < 60
    assert sum(process.refusals for process in processes) < 100 * count


def test_holds_back_all_but_ten_before_an_answer_states_the_limit() -> None:
    pace = Pace(lambda: 0.0)
    for _ in range(10):
        assert pace.wait(0, 0) == 0
        pace.sent(0)
    assert pace.wait(0, 0) is None
    pace.answered(ok=True, rate=research(9), sent_at=0, now=1)
    assert pace.wait(1, 0) == 0
    # Nine tokens, of which one is kept back.
    assert pace.wait(1, 8) == pytest.approx(0.1)
    assert pace.wait(1, 18) == pytest.approx(1.1)


def test_goes_without_limits_where_the_service_states_none() -> None:
    pace = Pace(lambda: 0.0)
    for _ in range(10):
        pace.sent(0)
    pace.answered(ok=True, rate=None, sent_at=0, now=1)
    assert pace.wait(1, 1000) == 0


def test_pauses_all_requests_after_a_refusal() -> None:
    pace = Pace(lambda: 1.0)
    pace.sent(0)
    pace.answered(ok=True, rate=research(19), sent_at=0, now=0)
    pace.refused(2, sent_at=0, now=1)
    assert pace.wait(1, 0) == pytest.approx(2.25)
    assert pace.wait(4, 0) == 0
    # A request that was in progress with the first reports the same refusal.
    pace.refused(2, sent_at=0.5, now=1)
    assert pace.pause(1) == pytest.approx(2.25)


def test_turns_come_in_the_order_of_the_calls(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"ratelimit_policy": '"rate";q=20;w=2', "ratelimit": '"rate";r=0;t=1'}
    phm, server = answered(answers(GENERATED, **told))
    phm.generate(128)
    turns = phm._transport.connections.get().turns
    assert turns is not None
    # When a thread sends after its turn has come is up to the machine.
    came: list[int] = []
    leave = turns._leave

    def note(waiter: Any) -> None:
        if waiter.went:
            came.append(waiter.ticket)
        leave(waiter)

    monkeypatch.setattr(turns, "_leave", note)
    begun: list[threading.Thread] = []
    for number in range(6):
        call = threading.Thread(
            target=phm.generate, args=(128,), kwargs={"request_id": f"n{number}"}
        )
        call.start()
        begun.append(call)
        # Until it has joined the queue, as ticket 1 and so on.
        while turns._last <= number:
            time.sleep(0.001)
    for call in begun:
        call.join()
    assert came == [1, 2, 3, 4, 5, 6]
    sent_by = {one.headers["x-request-id"].split(".")[0] for one in server.received[1:]}
    assert sent_by == {f"n{number}" for number in range(6)}


def test_calls_whose_turn_cannot_come_in_time_fail_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = StillClock(monkeypatch)
    turns = Turns(lambda: 0.0)
    turns.take(turns.ticket(), clock.now + 4.5)
    rate = Limit(limit=2, remaining=0, reset_seconds=2, window_seconds=2)
    turns.answered(ok=True, rate=rate, sent_at=clock.now)
    turns.ended()
    with turns._lock:
        waiting = [turns._join(turns.ticket(), clock.now + 4.5, 1) for _ in range(8)]
        turns._advance()
    # One token comes in a second, and half a token is kept in reserve.
    assert [one.too_late is None for one in waiting] == [True] * 3 + [False] * 5
    for one in waiting[3:]:
        assert one.too_late is not None
        assert (one.too_late.ahead, one.too_late.per_second) == (3, 1)


def test_a_refusal_pauses_the_queue_before_the_next_call_may_go(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    original: dict[str, Callable[..., None]] = {}
    for name in ("refused", "ended"):

        def note(turns: Turns, *args: Any, _name: str = name, **more: Any) -> None:
            told.append(_name)
            original[_name](turns, *args, **more)

        original[name] = getattr(Turns, name)
        monkeypatch.setattr(Turns, name, note)
    phm, _ = answered(fails("rate_limited", 429), answers(GENERATED))
    phm.generate(256)
    assert told == ["refused", "ended", "ended"]


def test_an_interrupted_hook_gives_its_turn_back(answered: Answered) -> None:
    interrupts = iter([True] * 10)

    def interrupt(_: object) -> None:
        if next(interrupts, False):
            raise KeyboardInterrupt

    phm, server = answered(answers(GENERATED), on_request=interrupt, timeout=2)
    for _ in range(10):
        with pytest.raises(KeyboardInterrupt):
            phm.generate(256)
    # At most ten may be in progress before an answer states the limit. None of those above is.
    phm.generate(256)
    assert len(server.received) == 1


def test_calls_of_health_need_no_turn(answered: Answered) -> None:
    phm, server = answered(*[stays_silent] * 10, answers(), attempt_timeout=0.4, max_retries=0)

    def silent(_: int) -> None:
        with pytest.raises(PhmTimeoutError):
            phm.generate(128)

    with ThreadPoolExecutor(10) as pool:
        done = pool.map(silent, range(10))
        while len(server.received) < 10:
            time.sleep(0.01)
        assert phm.health().success
        list(done)


def test_a_batch_takes_a_token_for_each_key_but_no_more_than_the_bucket_holds() -> None:
    pace = Pace(lambda: 0.0)
    pace.answered(ok=True, rate=research(20), sent_at=0, now=0)
    assert (pace.cost(5), pace.cost(100)) == (5, 20)
    assert pace.wait(0, 0, 100) == 0
    pace.sent(0, 15)
    # 5 tokens are left, 10 a second come, and one is kept in reserve.
    assert pace.wait(0, 0, 4) == 0
    assert pace.wait(0, 0, 8) == pytest.approx(0.4)
    assert pace.wait(0, 8, 100) == pytest.approx(2.3)


class StillClock:
    """The time of a queue, which the test moves on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("phm_client.turns.time", self)

    def monotonic(self) -> float:
        return self.now


def steps_of(calls: int, clock: StillClock, *, refusals: bool) -> int:
    """Count the steps in which so many calls that wait at once all get their turn."""
    turns = Turns(lambda: 0.5)
    steps = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal steps
        steps += event == "call"

    sys.setprofile(count)
    try:
        with turns._lock:
            waiting = []
            for _ in range(calls):
                waiting.append(turns._join(turns.ticket(), clock.now + 1e6, 1))
                turns._advance()
        went = 0
        while went < calls:
            clock.now += 0.01
            first = went
            while went < calls and waiting[went].went:
                went += 1
            for number in range(first, went):
                rate = Limit(limit=100, remaining=100, reset_seconds=1, window_seconds=1)
                turns.answered(ok=True, rate=rate, sent_at=clock.now)
                if refusals and number % 200 == 199:
                    turns.refused(0, sent_at=clock.now)
                turns.ended()
            if went == first:
                with turns._lock:
                    turns._advance()
    finally:
        sys.setprofile(None)
    assert turns._size == 0
    assert turns._queued == 0
    return steps


@pytest.mark.parametrize("refusals", [False, True])
def test_five_times_as_many_calls_take_about_five_times_as_many_steps(
    monkeypatch: pytest.MonkeyPatch, refusals: bool
) -> None:
    clock = StillClock(monkeypatch)
    few = steps_of(400, clock, refusals=refusals)
    many = steps_of(2_000, clock, refusals=refusals)
    assert many <= 2 * 5 * few
