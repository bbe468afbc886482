"""Labels and expiry of requests for keys, and the calls that list, show and revoke keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from scripted import (
    GENERATED,
    TIMESTAMP,
    ScriptedServer,
    Step,
    answers,
)

from phm_client import PhmClient

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

RECORD: dict[str, Any] = {
    "key_id": "phm_1",
    "status": "active",
    "created_at": TIMESTAMP,
    "security_level": 256,
    "security_strength_bits": None,
    "modulation_type": "phase",
    "source": "os",
    "api_key_id": "key_1",
    "evidence": {"verdict": "PASS", "tests_passed": 15, "total_tests": 15, "gate_p_value": 1},
    "sealed_to": None,
    "recipients": [],
    "delivery_id": None,
    "labels": {"env": "prod"},
    "expires_at": TIMESTAMP,
    "revoked_at": None,
    "revocation_reason": None,
    "receipt_url": None,
}


def keys(*numbers: int, following: str | None = None, **members: Any) -> Step:
    """A page of the keys with these numbers."""
    records = [{**RECORD, **members, "key_id": f"phm_{number}"} for number in numbers]
    return answers({"keys": records, "next_cursor": following, "timestamp": TIMESTAMP})


def test_returns_labels_and_expiry(answered: Answered) -> None:
    ends = {"labels": {"env": "prod"}, "expires_at": TIMESTAMP}
    phm, server = answered(answers({**GENERATED, **ends}), answers(GENERATED))
    same_moment = datetime(2026, 1, 31, 13, 0, 0, 999, timezone(timedelta(hours=1)))
    generated = phm.generate(256, labels={"env": "prod"}, expires_at=same_moment)
    assert (generated.labels, generated.expires_at) == ({"env": "prod"}, generated.timestamp)
    plain = phm.generate(256, labels={})
    assert "labels" not in json.loads(server.received[1].body)
    assert (plain.labels, plain.expires_at) == ({}, None)
    assert hash(generated) != hash(plain)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"labels": "env=prod"}, TypeError, "labels must be a mapping, got str"),
        ({"labels": {1: "x"}}, TypeError, "the name of a label must be a string, got int"),
        ({"labels": {"env": None}}, TypeError, "the value of a label must be a string, got"),
        ({"expires_at": "2027-01-31"}, TypeError, "expires_at must be a datetime, got str"),
        ({"expires_at": datetime(2027, 1, 31)}, ValueError, "expires_at must have an offset"),
    ],
)
def test_checks_labels_and_expiry(
    answered: Answered, options: Any, kind: type[Exception], message: str
) -> None:
    phm, server = answered(answers())
    with pytest.raises(kind, match=f"^{message}"):
        phm.generate(256, **options)
    with pytest.raises(kind, match=f"^{message}"):
        phm.generate_batch(256, count=1, **options)
    assert server.received == []


def test_checks_filters_at_once(answered: Answered) -> None:
    phm, server = answered(keys(1))
    with pytest.raises(ValueError, match="^created_after must have an offset"):
        phm.list_keys(created_after=datetime(2027, 1, 31))
    with pytest.raises(TypeError, match="^labels must be a mapping, got list"):
        phm.list_keys(labels=["env:prod"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^timeout must be more than 0"):
        phm.list_keys(timeout=0)
    assert server.received == []
