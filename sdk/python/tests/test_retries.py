"""Real connections that fail, timeouts, and hooks. sdk/exchanges has what is sent again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from scripted import (
    GENERATED,
    ScriptedServer,
    Step,
    answers,
    breaks,
    drips,
    fails,
    half,
    stays_silent,
)

from phm_client import (
    PhmClient,
    PhmConnectionError,
    PhmTimeoutError,
)

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]


# Faults of sdk/exchanges stand for these.
@pytest.mark.parametrize("lost", [breaks, half])
def test_a_connection_that_ends_is_closed_early(answered: Answered, lost: Step) -> None:
    phm, server = answered(lost, max_retries=1)
    with pytest.raises(PhmConnectionError, match=r"\(closed early, or not HTTP\)") as caught:
        phm.generate(128)
    assert (caught.value.outcome_unknown, len(server.received)) == (True, 1)
    with pytest.raises(PhmConnectionError, match=r"\(closed early, or not HTTP\)"):
        phm.metrics()
    assert len(server.received) == 3


def test_a_refused_connection_carried_nothing(answered: Answered) -> None:
    attempts: list[int] = []
    phm, server = answered(
        answers(), max_retries=1, on_request=lambda event: attempts.append(event.attempt)
    )
    server.stop()
    with pytest.raises(PhmConnectionError, match=r"\(Connection refused\)$") as caught:
        phm.generate(128)
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    assert (caught.value.outcome_unknown, attempts) == (False, [1, 2])


@pytest.mark.parametrize("slow", [stays_silent, drips])
def test_ends_a_generate_whose_outcome_is_then_unknown(answered: Answered, slow: Step) -> None:
    phm, server = answered(slow, attempt_timeout=0.5)
    with pytest.raises(PhmTimeoutError) as caught:
        phm.generate(128, request_id="my-own")
    address = f"{server.address}/api/v2/generate"
    sent = server.received[0].headers["x-request-id"]
    assert str(caught.value) == f"no response from {address} within 0.5 s (request {sent})"
    assert sent.startswith("my-own.")
    assert (caught.value.outcome_unknown, caught.value.timeout_seconds) == (True, 0.5)
    assert len(server.received) == 1


def test_takes_a_timeout_for_one_call(answered: Answered) -> None:
    phm, _ = answered(stays_silent)
    with pytest.raises(PhmTimeoutError):
        phm.health(timeout=0.3)


def test_tells_hooks_of_requests_and_retries_and_nothing_secret(answered: Answered) -> None:
    events: list[Any] = []
    phm, _ = answered(
        fails("overloaded", retry_after="0"),
        answers(),
        on_request=events.append,
        on_retry=events.append,
    )
    phm.validate(GENERATED["key"], request_id="mine")
    first, retry, second = events
    assert (first.method, first.path, first.attempt) == ("POST", "/api/v2/validate", 1)
    assert (retry.attempt, retry.error.code, retry.request_id) == (1, "overloaded", "mine")
    assert second.attempt == 2
    for event in events:
        assert GENERATED["key"] not in repr(event)
        assert "phmsk_" not in repr(event)


def test_logs_an_exception_of_a_hook_and_goes_on(
    answered: Answered, caplog: pytest.LogCaptureFixture
) -> None:
    def fails_itself(_event: object) -> None:
        raise OSError("disk full")

    phm, _ = answered(answers(), on_request=fails_itself)
    assert phm.generate(256).key == GENERATED["key"]
    assert "a hook of the PHM client failed" in caplog.text
