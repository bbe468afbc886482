"""Labels and expiry of requests for keys, and the calls that list, show and revoke keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from scripted import (
    GENERATED,
    KEY,
    SEALED,
    TIMESTAMP,
    ScriptedServer,
    Step,
    answers,
    batch,
    breaks,
    fails,
    page,
)

from phm_client import KeyInfo, PhmApiError, PhmClient, PhmResponseError

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]

LABELS = {"env": "a&b", "g": "", "more": "x"}
EXPIRES = datetime(2027, 1, 31, 13, tzinfo=timezone(timedelta(hours=1)))
ENDS: dict[str, Any] = {"labels": {"env": "prod"}, "expires_at": EXPIRES}
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
    "labels": {"env": "prod"},
    "expires_at": TIMESTAMP,
    "revoked_at": None,
    "revocation_reason": None,
    "receipt_url": None,
}

CALLS: dict[str, tuple[Step, Callable[[PhmClient], Any]]] = {
    "generate": (answers(GENERATED), lambda phm: phm.generate(256, **ENDS)),
    "generate_sealed": (
        answers(SEALED),
        lambda phm: phm.generate_sealed(256, seal_to="backup", **ENDS),
    ),
    "generate_batch": (batch(1), lambda phm: list(phm.generate_batch(256, count=1, **ENDS))),
    "generate_sealed_batch": (
        batch(1, form=SEALED),
        lambda phm: list(phm.generate_sealed_batch(256, count=1, seal_to="backup", **ENDS)),
    ),
}


def keys(*numbers: int, following: str | None = None, **members: Any) -> Step:
    """A page of the keys with these numbers."""
    records = [{**RECORD, **members, "key_id": f"phm_{number}"} for number in numbers]
    return answers({"keys": records, "next_cursor": following, "timestamp": TIMESTAMP})


@pytest.mark.parametrize("call", CALLS)
def test_sends_labels_and_expiry(answered: Answered, call: str) -> None:
    answer, ask = CALLS[call]
    phm, server = answered(answer)
    ask(phm)
    body = json.loads(server.received[0].body)
    assert body["labels"] == {"env": "prod"}
    assert body["expires_at"] == "2027-01-31T13:00:00.000+01:00"


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


def test_lists_keys_over_all_pages(answered: Answered) -> None:
    phm, server = answered(
        keys(5, 4, following="c+/1", labels=LABELS),
        keys(following="c2"),
        keys(3, following="c3", labels=LABELS),
        keys(2, labels=LABELS),
    )
    records = phm.list_keys(labels={"env": "a&b", "g": ""}, status="active")
    assert server.received == []
    assert [record.key_id for record in islice(records, 2)] == ["phm_5", "phm_4"]
    assert len(server.received) == 1
    rest = list(records)
    assert [record.key_id for record in rest] == ["phm_3", "phm_2"]
    filters = [("label", "env:a&b"), ("label", "g:"), ("status", "active")]
    sent = [parse_qsl(urlsplit(one.path).query, keep_blank_values=True) for one in server.received]
    assert sent == [filters] + [[*filters, ("cursor", one)] for one in ("c+/1", "c2", "c3")]
    (record, *_) = rest
    assert type(record) is KeyInfo
    assert record.evidence is not None
    assert (record.labels, record.evidence.gate_p_value) == (LABELS, 1)
    assert (record.expires_at, record.security_strength_bits) == (record.created_at, None)
    assert len({hash(one) for one in rest}) == 2


def test_sends_every_filter_and_repeats_a_lost_page(
    answered: Answered, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phm_client.transport._random", lambda: 0.0)  # no back-off
    phm, server = answered(breaks, page(502), keys(1, security_level=128))
    records = phm.list_keys(
        created_after=EXPIRES,
        created_before=EXPIRES.astimezone(timezone.utc),
        security_level=128,
        source="os",
        evidence="none",
        api_key_id="key_1",
    )
    assert [record.key_id for record in records] == ["phm_1"]
    (path,) = {one.path for one in server.received}
    assert len(server.received) == 3
    assert dict(parse_qsl(urlsplit(path).query)) == {
        "created_after": "2027-01-31T13:00:00.000+01:00",
        "created_before": "2027-01-31T12:00:00.000+00:00",
        "security_level": "128",
        "source": "os",
        "evidence": "none",
        "api_key_id": "key_1",
    }


def test_checks_filters_at_once(answered: Answered) -> None:
    phm, server = answered(keys(1))
    with pytest.raises(ValueError, match="^created_after must have an offset"):
        phm.list_keys(created_after=datetime(2027, 1, 31))
    with pytest.raises(TypeError, match="^labels must be a mapping, got list"):
        phm.list_keys(labels=["env:prod"])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^timeout must be more than 0"):
        phm.list_keys(timeout=0)
    assert server.received == []


def test_refuses_a_page_that_does_not_say_whether_another_follows(answered: Answered) -> None:
    phm, server = answered(answers({"keys": [RECORD], "timestamp": TIMESTAMP}))
    with pytest.raises(PhmResponseError, match="/next_cursor is missing"):
        list(phm.list_keys())
    assert len(server.received) == 1


def test_shows_and_revokes_a_key(answered: Answered, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phm_client.transport._random", lambda: 0.0)  # no back-off
    revoked = {"status": "compromised", "revoked_at": TIMESTAMP}
    reason = "key_compromise"
    record = {**RECORD, "key_id": "phm_7", **revoked, "revocation_reason": reason}
    answer = answers({"key": record, "timestamp": TIMESTAMP})
    phm, server = answered(answer, breaks, answer)
    assert phm.get_key("phm_7").revocation_reason == reason
    key = phm.revoke_key("phm_7", "key_compromise")
    assert (key.status, key.revoked_at) == ("compromised", key.created_at)
    path = "/api/v2/keys/phm_7"
    sent = [(one.method, one.path, one.body) for one in server.received]
    revocation = ("POST", f"{path}/revoke", b'{"reason": "key_compromise"}')
    assert sent == [("GET", path, b""), revocation, revocation]


def test_sends_only_key_ids(answered: Answered) -> None:
    phm, server = answered(fails("key_not_found", 404))
    with pytest.raises(PhmApiError) as caught:
        phm.get_key("phm_7")
    assert caught.value.code == "key_not_found"
    for text in ("", "phm_01", "../health", KEY):
        with pytest.raises(ValueError, match="^key_id must be"):
            phm.get_key(text)
        with pytest.raises(ValueError, match="^key_id must be"):
            phm.revoke_key(text, "superseded")
    assert len(server.received) == 1
