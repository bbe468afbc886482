"""Which calls the client sends again, when, and when it gives up."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
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
    page,
    stays_silent,
)

from phm_client import (
    PhmApiError,
    PhmClient,
    PhmConnectionError,
    PhmError,
    PhmResponseError,
    PhmTimeoutError,
)
from phm_client.retry import read_retry_after, wait_seconds

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

CALLS: dict[str, Callable[[PhmClient], Any]] = {
    "generate": lambda phm: phm.generate(256),
    "validate": lambda phm: phm.validate("ff"),
    "metrics": lambda phm: phm.metrics(),
    "health": lambda phm: phm.health(),
}

# What docs/errors.md says of sending the same request again.
ERRORS_PAGE = Path(__file__).parents[3] / "docs/errors.md"
ADVICE = re.findall(r"^\| `(\w+)` \| (\d+) \|.*\| ([^|]+) \|$", ERRORS_PAGE.read_text(), re.M)


def requests_of(answered: Answered, first: Step, call: str) -> int:
    phm, server = answered(first, answers())
    with suppress(PhmError):
        CALLS[call](phm)
    return len(server.received)


def test_the_errors_page_is_read() -> None:
    assert len(ADVICE) >= 18


@pytest.mark.parametrize(("code", "status", "advice"), ADVICE)
def test_follows_codes_as_the_errors_page_says(
    answered: Answered, code: str, status: str, advice: str
) -> None:
    again = advice in ("yes", "after a wait")
    failing = fails(code, int(status), retry_after="0")
    lost = code == "ledger_unavailable"
    assert requests_of(answered, failing, "generate") == (2 if again and not lost else 1)
    assert requests_of(answered, failing, "validate") == (2 if again else 1)


@pytest.mark.parametrize("status", [429, 503])
def test_follows_a_page_that_never_reached_the_service(answered: Answered, status: int) -> None:
    assert requests_of(answered, page(status), "generate") == 2


@pytest.mark.parametrize("status", [301, 403, 404, 413, 500])
def test_does_not_follow_a_page_of_another_refusal(answered: Answered, status: int) -> None:
    assert requests_of(answered, page(status), "metrics") == 1


@pytest.mark.parametrize("lost", [breaks, half, page(502), page(504)])
def test_follows_a_lost_answer_but_that_of_a_generate(answered: Answered, lost: Step) -> None:
    for call in ("validate", "metrics", "health"):
        assert requests_of(answered, lost, call) == 2
    assert requests_of(answered, lost, "generate") == 1
    phm, _ = answered(lost)
    with pytest.raises((PhmConnectionError, PhmResponseError)) as caught:
        phm.generate(128)
    assert caught.value.outcome_unknown


def test_asks_until_the_timeout_is_over_while_no_server_takes_the_connection(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, server = answered(stays_silent)
    server.stop()
    clock = Clock(monkeypatch)
    attempts: list[int] = []
    phm = PhmClient(
        server.address, "x", pace=False, on_request=lambda event: attempts.append(event.attempt)
    )
    with pytest.raises(PhmConnectionError) as caught:
        phm.generate(128)
    address = f"{server.address}/api/v2/generate"
    assert str(caught.value) == (f"the service cannot be reached at {address} (Connection refused)")
    assert not caught.value.outcome_unknown
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    assert attempts == list(range(1, len(attempts) + 1))
    assert clock.waits[:6] == [0.25, 0.5, 1, 2, 4, 8]
    assert 51 < sum(clock.waits) < 59


def test_counts_refused_connections_if_the_caller_gives_a_number(answered: Answered) -> None:
    _, server = answered(stays_silent)
    server.stop()
    attempts: list[int] = []
    phm = PhmClient(
        server.address, "x", max_retries=2, on_request=lambda event: attempts.append(event.attempt)
    )
    with pytest.raises(PhmConnectionError) as caught:
        phm.generate(128)
    assert (caught.value.outcome_unknown, attempts) == (False, [1, 2, 3])


def test_reaches_a_server_that_starts_late(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, stopped = answered(stays_silent)
    stopped.stop()
    port = int(stopped.address.rpartition(":")[2])
    late: list[ScriptedServer] = []

    def start() -> None:
        if not late and len(clock.waits) == 6:
            late.append(ScriptedServer(answers(), port=port))

    clock = Clock(monkeypatch, start)
    assert PhmClient(stopped.address, "x", pace=False).generate(256).key_id == GENERATED["key_id"]
    late[0].stop()
    assert sum(clock.waits) > 15


def test_sends_once_with_max_retries_0_though_nothing_was_sent(answered: Answered) -> None:
    phm, server = answered(answers(), max_retries=0)
    server.stop()
    with pytest.raises(PhmConnectionError):
        phm.generate(128)


class Clock:
    """The time of the transport, which a wait moves on at once. Random numbers are at most 1."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, on_wait: Callable[[], None] = lambda: None
    ) -> None:
        self.waits: list[float] = []
        self._on_wait = on_wait
        monkeypatch.setattr("phm_client.transport.time", self)
        monkeypatch.setattr("phm_client.transport._random", lambda: 1.0)

    def monotonic(self) -> float:
        return time.monotonic() + sum(self.waits)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self._on_wait()


def test_sends_the_same_request_again(answered: Answered) -> None:
    phm, server = answered(fails("overloaded", retry_after="0"), answers())
    phm.generate(384, request_id="same-one")
    first, second = server.received
    assert (first.path, first.body) == (second.path, second.body)
    assert first.body == b'{"security_level": 384}'
    own, other = (dict(one.headers) for one in (first, second))
    ids = [one.pop("x-request-id") for one in (own, other)]
    assert own == other
    assert [one.partition(".")[0] for one in ids] == ["same-one", "same-one"]
    assert ids[0] != ids[1]


def test_ends_after_max_retries_with_the_last_failure(answered: Answered) -> None:
    steps = (fails("overloaded", retry_after="0"), fails("ledger_unavailable", retry_after="0"))
    phm, server = answered(*steps, max_retries=2)
    with pytest.raises(PhmApiError) as caught:
        phm.metrics()
    assert (caught.value.code, len(server.received)) == ("ledger_unavailable", 3)


@pytest.mark.parametrize("code", ["overloaded", "rate_limited"])
def test_sends_once_with_max_retries_0(answered: Answered, code: str) -> None:
    phm, server = answered(fails(code, retry_after="0"), max_retries=0)
    with pytest.raises(PhmApiError):
        phm.metrics()
    assert len(server.received) == 1


def test_does_not_count_refusals_of_the_rate_limit(answered: Answered) -> None:
    refusal = fails("rate_limited", 429, retry_after="0")
    phm, server = answered(refusal, refusal, refusal, answers(), max_retries=1)
    phm.generate(128)
    assert len(server.received) == 4


def test_counts_them_without_pacing(answered: Answered) -> None:
    refusal = fails("rate_limited", 429, retry_after="0")
    phm, server = answered(refusal, max_retries=1, pace=False)
    with pytest.raises(PhmApiError):
        phm.generate(128)
    assert len(server.received) == 2


def test_waits_between_requests_as_the_answer_asks(answered: Answered) -> None:
    phm, server = answered(fails("overloaded", retry_after="1"), answers())
    phm.generate(128)
    first, second = server.received
    assert second.at - first.at >= 0.99


@pytest.mark.parametrize(("seconds", "timeout"), [(20, 15), (100, 3600)])
@pytest.mark.parametrize("code", ["overloaded", "rate_limited"])
def test_does_not_begin_a_wait_that_is_too_long(
    answered: Answered, code: str, seconds: int, timeout: float
) -> None:
    phm, server = answered(fails(code, retry_after=str(seconds)), timeout=timeout)
    with pytest.raises(PhmApiError) as caught:
        phm.metrics()
    assert (caught.value.retry_after_seconds, len(server.received)) == (seconds, 1)


def test_doubles_waits_up_to_a_limit_with_full_jitter() -> None:
    overloaded = PhmApiError(status=503, code="overloaded", title="", detail="")
    longest = [wait_seconds(overloaded, retry, 1) for retry in (0, 1, 2, 3, 4, 5, 6, 60, 10_000)]
    assert longest == [0.25, 0.5, 1, 2, 4, 8, 8, 8, 8]
    assert wait_seconds(overloaded, 3, 0) == 0
    asked = PhmApiError(status=503, code="overloaded", title="", detail="", retry_after_seconds=7)
    assert wait_seconds(asked, 1, 0.5) == 7.25
    asked.retry_after_seconds = 31
    assert wait_seconds(asked, 0, 0) is None


def test_reads_retry_after_as_seconds_and_as_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_770_091_506.0)  # 2026-02-03T04:05:06Z
    assert read_retry_after({}) is None
    assert read_retry_after({"retry-after": "120"}) == 120
    assert read_retry_after({"retry-after": "Tue, 03 Feb 2026 04:05:16 GMT"}) == 10
    assert read_retry_after({"retry-after": "Tue, 03 Feb 2026 04:05:00 GMT"}) == 0
    skewed = {"date": "Tue, 03 Feb 2026 05:05:06 GMT"}
    asked = {"retry-after": "Tue, 03 Feb 2026 05:05:08 GMT"}
    assert read_retry_after({**asked, **skewed}) == 2
    for none in ("", "soon", "-3", "1.5", "2026-02-03", "²", "GMT", "9" * 5000):
        assert read_retry_after({"retry-after": none}) is None


def test_ends_an_attempt_in_time_and_repeats_what_may_be(answered: Answered) -> None:
    phm, server = answered(stays_silent, answers(), attempt_timeout=0.5)
    phm.metrics()
    assert len(server.received) == 2


@pytest.mark.parametrize("slow", [stays_silent, drips])
def test_ends_a_generate_whose_outcome_is_then_unknown(answered: Answered, slow: Step) -> None:
    phm, server = answered(slow, attempt_timeout=0.5)
    since = time.monotonic()
    with pytest.raises(PhmTimeoutError) as caught:
        phm.generate(128, request_id="my-own")
    assert time.monotonic() - since < 5
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
