"""Sealed keys, batches, and calls that are safe to retry."""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scripted import (
    ENC,
    GENERATED,
    SEALED,
    VALIDATION,
    Received,
    ScriptedServer,
    Step,
    answers,
    batch,
    breaks,
    fails,
    half,
    page,
)

from phm_client import (
    GeneratedKey,
    GeneratedSealedKey,
    PhmApiError,
    PhmClient,
    PhmConnectionError,
    PhmError,
    PhmKeyLostError,
    Recipient,
    ValidatedSealedKey,
)
from phm_client.idempotency import new_idempotency_key

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

RECIPIENT = Recipient("MLKEM768-X25519", b"\xfb\xff" + bytes(1214))
LOST = [
    breaks,
    half,
    page(500),
    page(502),
    page(504),
    fails("internal_error", 500),
    fails("ledger_unavailable", retry_after="0"),
]

CALLS: dict[str, Callable[[PhmClient], Any]] = {
    "generate": lambda phm: phm.generate(256, idempotency_key=True),
    "generate_sealed": lambda phm: phm.generate_sealed(256, seal_to=RECIPIENT),
    "generate_batch": lambda phm: list(phm.generate_batch(256, count=1)),
    "generate_sealed_batch": lambda phm: list(
        phm.generate_sealed_batch(256, count=1, seal_to=RECIPIENT)
    ),
}
ANSWERS: dict[str, Step] = {
    "generate": answers(GENERATED),
    "generate_sealed": answers(SEALED),
    "generate_batch": batch(1),
    "generate_sealed_batch": batch(1, form=SEALED),
}


def unique_of(received: Received) -> str:
    return received.headers["idempotency-key"]


def bodies(server: ScriptedServer) -> Iterator[Any]:
    return (json.loads(received.body) for received in server.received)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("lost", LOST)
def test_repeats_a_lost_call_with_the_same_idempotency_key(
    answered: Answered, monkeypatch: pytest.MonkeyPatch, call: str, lost: Step
) -> None:
    monkeypatch.setattr("phm_client.transport._random", lambda: 0.0)  # no back-off
    phm, server = answered(lost, fails("idempotency_in_progress", 409), ANSWERS[call])
    CALLS[call](phm)
    first, *others = server.received
    assert len(others) == 2
    for other in others:
        assert (other.path, other.body) == (first.path, first.body)
        assert unique_of(other) == unique_of(first)
    assert len({one.headers["x-request-id"] for one in server.received}) == 3
    assert uuid.UUID(unique_of(first)).version == 7


def test_sends_no_idempotency_key_with_a_plain_call(answered: Answered) -> None:
    phm, server = answered(answers(GENERATED), answers(SEALED))
    phm.generate(256)
    phm.generate_sealed(256, seal_to="backup", idempotency_key=False)
    assert not any("idempotency-key" in received.headers for received in server.received)
    lost, once = answered(breaks, answers())
    with pytest.raises(PhmConnectionError) as caught:
        lost.generate_sealed(256, seal_to="backup", idempotency_key=False)
    assert (caught.value.idempotency_key, len(once.received)) == (None, 1)


def test_says_which_keys_were_lost(answered: Answered) -> None:
    made = fails("key_already_made", 409, more={"key_id": "phm_7"})
    phm, server = answered(breaks, made)
    with pytest.raises(PhmKeyLostError) as caught:
        phm.generate(256, idempotency_key="order-17")
    assert (caught.value.code, caught.value.key_ids) == ("key_already_made", ("phm_7",))
    assert not caught.value.outcome_unknown
    assert [unique_of(received) for received in server.received] == ["order-17", "order-17"]
    several = fails("key_already_made", 409, more={"key_ids": ["phm_7", "phm_8"]})
    phm, _ = answered(batch(5, 6), breaks, several)
    keys = phm.generate_batch(256, count=4, chunk=2)
    assert [next(keys).key_id, next(keys).key_id] == ["phm_5", "phm_6"]
    with pytest.raises(PhmKeyLostError) as caught:
        next(keys)
    assert caught.value.key_ids == ("phm_7", "phm_8")


def test_names_the_idempotency_key_of_a_failed_call(answered: Answered) -> None:
    phm, server = answered(breaks, max_retries=1)
    with pytest.raises(PhmConnectionError) as caught:
        phm.generate_sealed(256, seal_to="backup")
    assert caught.value.outcome_unknown
    first, second = server.received
    assert caught.value.idempotency_key == unique_of(first) == unique_of(second)


@pytest.mark.parametrize("last", [fails("quota_exceeded", 429), page(404)])
def test_a_refused_retry_leaves_the_outcome_unknown(answered: Answered, last: Step) -> None:
    phm, _ = answered(breaks, last)
    with pytest.raises(PhmError) as caught:
        phm.generate(256, idempotency_key=True)
    assert caught.value.outcome_unknown
    phm, _ = answered(last)
    with pytest.raises(PhmError) as caught:
        phm.generate(256, idempotency_key=True)
    assert not caught.value.outcome_unknown


def test_seals_to_a_recipient_or_a_registered_name(answered: Answered) -> None:
    phm, server = answered(answers({**SEALED, **VALIDATION}))
    sealed = phm.generate_sealed(256, seal_to=RECIPIENT)
    assert type(sealed) is GeneratedSealedKey
    assert sealed.key_id == SEALED["key_id"]
    assert (sealed.sealed_key.kem_id, sealed.sealed_key.suite) == (25722, "MLKEM768-X25519")
    validated = phm.generate_sealed(384, seal_to="backup", enable_nist_validation=True)
    assert type(validated) is ValidatedSealedKey
    first, second = bodies(server)
    assert first == {
        "security_level": 256,
        "seal_to": {"suite": "MLKEM768-X25519", "public_key": "-_8" + "A" * 1619},
    }
    assert second["seal_to"] == {"recipient": "backup"}
    assert server.received[0].path == "/api/v2/generate/sealed"
    with pytest.raises(TypeError, match="^seal_to must be a Recipient or the name .*, got bytes$"):
        phm.generate_sealed(256, seal_to=b"")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="^seal_to is the text of a file: use parse_recipient"):
        phm.generate_sealed(256, seal_to='{"type":"phm-recipient-key/v1"}')
    assert len(server.received) == 2


def test_fetches_batches_of_100(answered: Answered) -> None:
    phm, server = answered(batch(*range(1, 101)), batch(*range(101, 201)), batch(*range(201, 251)))
    keys = phm.generate_batch(128, count=250)
    assert server.received == []
    first = next(keys)
    assert type(first) is GeneratedKey
    assert (len(first.key), len(server.received)) == (32, 1)
    assert [key.key_id for key in keys] == [f"phm_{number}" for number in range(2, 251)]
    assert list(bodies(server)) == [
        {"security_level": 128, "count": count} for count in (100, 100, 50)
    ]
    assert len({unique_of(received) for received in server.received}) == 3
    assert {received.path for received in server.received} == {"/api/v2/generate/batch"}


def test_fetches_sealed_batches(answered: Answered) -> None:
    phm, server = answered(
        batch(1, 2, form={**SEALED, **VALIDATION}), batch(3, form={**SEALED, **VALIDATION})
    )
    keys = phm.generate_sealed_batch(
        256, count=3, seal_to="backup", chunk=2, enable_nist_validation=True, request_id="mine"
    )
    sealed = list(keys)
    assert [type(key) for key in sealed] == [ValidatedSealedKey] * 3
    assert sealed[2].sealed_key.enc == ENC
    assert [body["count"] for body in bodies(server)] == [2, 1]
    labels = [received.headers["x-request-id"].split(".") for received in server.received]
    assert [label for label, _ in labels] == ["mine", "mine"]
    assert labels[0] != labels[1]
    assert server.received[0].path == "/api/v2/generate/sealed/batch"


def too_large(most: int) -> Step:
    return fails("batch_too_large", 413, more={"max_count": most})


def test_asks_for_as_many_as_the_service_can_generate(answered: Answered) -> None:
    phm, server = answered(too_large(3), batch(1, 2, 3), batch(4, 5, 6), batch(7))
    assert len(list(phm.generate_batch(256, count=7, enable_nist_validation=False))) == 7
    assert [body["count"] for body in bodies(server)] == [7, 3, 3, 1]
    assert len({unique_of(received) for received in server.received}) == 4


@pytest.mark.parametrize("most", [0, 5, 6])
def test_gives_up_if_the_service_names_no_smaller_count(answered: Answered, most: int) -> None:
    phm, server = answered(too_large(most))
    with pytest.raises(PhmApiError) as caught:
        list(phm.generate_batch(256, count=5))
    assert (caught.value.max_count, len(server.received)) == (most, 1)


def test_sends_one_request_with_a_given_idempotency_key(answered: Answered) -> None:
    phm, server = answered(batch(1, 2))
    assert len(list(phm.generate_batch(256, count=2, idempotency_key="part-1"))) == 2
    assert unique_of(server.received[0]) == "part-1"
    with pytest.raises(ValueError, match="^with idempotency_key, count must be at most chunk"):
        phm.generate_batch(256, count=101, idempotency_key="part-1")
    phm, server = answered(too_large(1))
    with pytest.raises(PhmApiError):
        list(phm.generate_batch(256, count=2, idempotency_key="part-1"))
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"count": 1, "chunk": 1001}, "chunk must be from 1 to 1000, got 1001"),
        ({"count": 1, "request_id": ""}, "request_id must be "),
        ({"count": 1, "timeout": 0}, "timeout must be more than 0"),
        ({"count": 1, "idempotency_key": ""}, "idempotency_key must be 1 to 255 visible ASCII"),
    ],
)
def test_checks_arguments_of_a_batch_at_once(
    answered: Answered, options: Any, message: str
) -> None:
    phm, _ = answered(answers())
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        phm.generate_batch(256, **options)


@pytest.mark.parametrize("value", ["", "a b", "é", "x" * 256, "a\n"])
def test_refuses_an_idempotency_key_that_is_no_header(answered: Answered, value: str) -> None:
    phm, server = answered(answers())
    with pytest.raises(ValueError, match="^idempotency_key must be 1 to 255 visible ASCII"):
        phm.generate(256, idempotency_key=value)
    with pytest.raises(TypeError, match="^count must be a whole number, got float$"):
        phm.generate_batch(256, count=1.0)  # type: ignore[call-overload]
    assert server.received == []


def test_makes_a_uuid_of_version_7() -> None:
    before = time.time_ns() // 1_000_000
    made = [uuid.UUID(new_idempotency_key()) for _ in range(1000)]
    after = time.time_ns() // 1_000_000
    for one in made:
        assert (one.version, one.variant) == (7, uuid.RFC_4122)
        assert before <= one.int >> 80 <= after
    assert len(set(made)) == 1000
