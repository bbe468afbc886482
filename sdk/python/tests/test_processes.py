"""One client in several processes and threads: each call gets its own answer, or an error."""

from __future__ import annotations

import asyncio
import copy
import multiprocessing
import os
import pickle
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from conftest import API_KEY
from scripted import ANYTHING, ScriptedServer, Step, answers, batch, sends

from phm_client import Limits, PhmClient, PhmConnectionError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]


def in_child(work: Callable[[], str]) -> Callable[[], str]:
    """Fork, and do the work in the child. Returns a function that waits for its outcome."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            outcome = work()
        except BaseException as error:
            outcome = f"{type(error).__name__}: {error}"
        os.write(theirs, outcome.encode())
        os._exit(0)
    os.close(theirs)

    def result() -> str:
        os.waitpid(pid, 0)
        with os.fdopen(ours) as pipe:
            return pipe.read()

    return result


def slowly(step: Step) -> Step:
    """The step after a pause, in which other processes send their requests."""

    def late(handler: Any) -> None:
        time.sleep(random.random() / 50)
        step(handler)

    return late


def call_with_own_label(phm: PhmClient, name: str) -> str:
    return "own" if phm.generate(256, labels={"of": name}).labels == {"of": name} else "another's"


def test_children_get_their_own_answers(answered: Answered) -> None:
    phm, _ = answered(slowly(answers()))
    phm.generate(256)
    start = time.monotonic() + 0.3

    def work(number: int) -> str:
        time.sleep(max(0, start - time.monotonic()))
        return ",".join(call_with_own_label(phm, f"{number}.{i}") for i in range(3))

    children = [in_child(lambda number=number: work(number)) for number in range(36)]  # type: ignore[misc]
    assert [result() for result in children] == ["own,own,own"] * 36
    # The parent goes on over its own connection.
    assert call_with_own_label(phm, "parent") == "own"


def test_a_grandchild_gets_its_own_answers_too(answered: Answered) -> None:
    phm, server = answered(answers())
    phm.generate(256)

    def work() -> str:
        mine = call_with_own_label(phm, "child")
        return mine + in_child(lambda: call_with_own_label(phm, "grandchild"))()

    assert in_child(work)() == "ownown"
    assert len({one.port for one in server.received}) == 3


def test_multiprocessing_with_fork_gets_its_own_answers(answered: Answered) -> None:
    phm, _ = answered(slowly(answers()))
    phm.generate(256)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()

    def work(number: int) -> None:
        queue.put(call_with_own_label(phm, f"{number}"))

    children = [context.Process(target=work, args=(number,)) for number in range(8)]
    for child in children:
        child.start()
    assert [queue.get() for _ in children] == ["own"] * 8
    for child in children:
        child.join()


def test_a_fork_without_the_hooks_of_python_is_found_by_its_process_id(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    phm, server = answered(answers())
    phm.generate(256)
    monkeypatch.setattr("phm_client.process._count_fork", lambda: None)
    monkeypatch.setattr("phm_client.process._forks", 0)
    monkeypatch.setattr(os, "getpid", lambda: 7)
    phm.generate(256)
    assert len({one.port for one in server.received}) == 2


def test_a_child_starts_with_a_queue_and_limits_of_its_own(answered: Answered) -> None:
    told = {"ratelimit_policy": '"rate";q=2;w=2', "ratelimit": '"rate";r=0;t=2'}
    phm, _ = answered(answers(ANYTHING, **told))
    phm.generate(256)
    assert phm.last_limits.rate is not None
    queue = phm._transport.connections.get().turns
    assert queue is not None

    def work() -> str:
        assert phm.last_limits == Limits()
        assert phm._transport.connections.get().turns is not queue
        return call_with_own_label(phm, "child")

    # A thread that the child does not have holds the lock.
    with queue._lock:
        assert in_child(work)() == "own"


def test_a_call_in_another_thread_at_the_fork_stays_in_the_parent(answered: Answered) -> None:
    begun, forked = threading.Event(), threading.Event()

    def waits(handler: Any) -> None:
        begun.set()
        forked.wait(10)
        answers()(handler)

    phm, _ = answered(waits, answers())
    outcomes: list[str] = []
    call = threading.Thread(target=lambda: outcomes.append(call_with_own_label(phm, "thread")))
    call.start()
    assert begun.wait(10)
    child = in_child(lambda: call_with_own_label(phm, "child"))
    assert child() == "own"
    forked.set()
    call.join()
    assert outcomes == ["own"]


@pytest.mark.parametrize("hook", ["on_request", "answer"])
def test_a_call_that_forks_goes_on_in_the_parent_only(answered: Answered, hook: str) -> None:
    """In the child it ends with an error and touches neither connection nor queue."""
    children: list[int] = []
    ours, theirs = os.pipe()

    def fork(*_: Any) -> None:
        if not children:
            children.append(os.fork())

    if hook == "on_request":
        phm, _ = answered(answers(), on_request=fork)
    else:
        # As from the handler of a signal that comes while the call reads.
        http = httpx.Client(event_hooks={"response": [fork]})
        phm, _ = answered(answers(), http_client=http)
    try:
        outcome = call_with_own_label(phm, "parent")
    except PhmConnectionError as error:
        outcome = f"{error.outcome_unknown} {error}"
    if children[0] == 0:
        os.write(theirs, outcome.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        assert pipe.read().startswith("True the process was forked during the call, which goes on")
    os.waitpid(children[0], 0)
    assert outcome == "own"
    assert call_with_own_label(phm, "later") == "own"


def test_an_iterator_over_keys_goes_on_in_one_process_only(answered: Answered) -> None:
    phm, server = answered(batch(1, 2, 3), batch(4, 5, 6))
    keys = phm.generate_batch(256, count=6, chunk=3)
    assert next(keys).key_id == "phm_1"
    unstarted = phm.generate_batch(256, count=3, idempotency_key="mine")
    refusal = "RuntimeError: this iterator over keys is of another process, from before a fork"
    assert in_child(lambda: next(keys).key_id)().startswith(refusal)
    assert in_child(lambda: next(unstarted).key_id)().startswith(refusal)
    assert [key.key_id for key in keys] == [f"phm_{number}" for number in range(2, 7)]
    assert len(server.received) == 2


def test_closing_in_a_child_leaves_the_connection_of_the_parent(answered: Answered) -> None:
    phm, server = answered(answers())
    with phm:
        phm.generate(256)

        def work() -> str:
            phm.close()
            del phm._transport.connections._states[next(iter(phm._transport.connections._states))]
            return "closed"

        assert in_child(work)() == "closed"
        phm.generate(256)
        assert len({one.port for one in server.received}) == 1


def test_an_http_client_of_the_caller_is_refused_after_a_fork(answered: Answered) -> None:
    with httpx.Client() as http:
        phm, server = answered(answers(), http_client=http)
        phm.generate(256)
        outcome = in_child(lambda: call_with_own_label(phm, "child"))()
        assert outcome.startswith("RuntimeError: http_client has connections of another process")
        phm.generate(256)
    assert len(server.received) == 2


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_client_is_neither_pickled_nor_copied(
    answered: Answered, copied: Callable[[PhmClient], object]
) -> None:
    phm, _ = answered(answers())
    with pytest.raises(TypeError, match="^a PhmClient cannot be pickled or copied, ") as caught:
        copied(phm)
    assert API_KEY not in str(caught.value)


def test_threads_of_two_event_loops_get_their_own_answers(answered: Answered) -> None:
    phm, _ = answered(slowly(answers()))

    async def calls(loop: int) -> list[str]:
        made = (asyncio.to_thread(call_with_own_label, phm, f"{loop}.{n}") for n in range(8))
        return list(await asyncio.gather(*made))

    found: list[str] = []
    threads = [
        threading.Thread(target=lambda n=n: found.extend(asyncio.run(calls(n)))) for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["own"] * 16


@pytest.fixture
def seeded() -> Iterator[None]:
    state = random.getstate()
    yield
    random.setstate(state)


@pytest.mark.usefixtures("seeded")
def test_no_seed_of_the_program_repeats_what_is_random(answered: Answered) -> None:
    phm, server = answered(answers())
    for _ in range(2):
        random.seed(1)
        phm.generate(256, idempotency_key=True)
    for name in ("x-request-id", "idempotency-key"):
        assert len({one.headers[name] for one in server.received}) == 2


def test_a_connection_that_answers_twice_is_not_used_again(answered: Answered) -> None:
    def twice(handler: Any) -> None:
        sends(200, b"{}", {})(handler)
        sends(200, b"{}", {})(handler)

    phm, server = answered(twice, answers())
    with pytest.raises(Exception, match="is not JSON of the PHM key service"):
        phm.generate(256)
    assert call_with_own_label(phm, "mine") == "own"
    assert len({one.port for one in server.received}) == 2
