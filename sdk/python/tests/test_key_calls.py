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
    SEALED,
    VALIDATION,
    ScriptedServer,
    answers,
    batch,
)

from phm_client import (
    GeneratedSealedKey,
    PhmClient,
    Recipient,
    ValidatedSealedKey,
)
from phm_client.idempotency import new_idempotency_key

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

RECIPIENT = Recipient("MLKEM768-X25519", b"\xfb\xff" + bytes(1214))


def bodies(server: ScriptedServer) -> Iterator[Any]:
    return (json.loads(received.body) for received in server.received)


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
