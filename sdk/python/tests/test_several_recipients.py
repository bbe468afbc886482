"""Keys for several recipients: the request, what the response must fit, and what opens it."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import httpx
import pytest

from phm_client import (
    GeneratedSealedKeys,
    KeyStatementV2,
    PhmApiError,
    PhmClient,
    Recipient,
    SealedKeyError,
    new_recipient,
    open_sealed_key,
    sealed_key_json,
)


def thumbprint(recipient: Recipient) -> str:
    return base64.b64encode(hashlib.sha256(recipient.public_key).digest()).decode()


def test_generates_one_key_for_all(phm: PhmClient, service: str) -> None:
    policy = httpx.get(f"{service}/log/policy").text
    owners = (new_recipient(), new_recipient("ML-KEM-1024"))
    names = tuple(thumbprint(one) for one in owners)
    sealed = phm.generate_sealed(
        256, seal_to=[one.recipient for one in owners], include="receipt", labels={"a": "b"}
    )
    assert isinstance(sealed, GeneratedSealedKeys)
    assert len(sealed.sealed_keys) == 2
    receipt = sealed.receipt or phm.receipt(sealed.key_id).receipt
    assert isinstance(receipt.statement, KeyStatementV2)
    assert tuple(one.to for one in receipt.statement.sealed) == names
    keys = set()
    for own in owners:
        for written in (sealed, sealed_key_json(sealed), json.loads(sealed_key_json(sealed))):
            opened = open_sealed_key(
                written, own, policy=policy, receipt=receipt, expect_recipients=owners
            )
            keys.add(opened.key)
            assert opened.recipients == names
    assert len(keys) == 1
    record = phm.get_key(sealed.key_id)
    assert (record.sealed_to, record.recipients) == (names[0], names)
    stranger = new_recipient()
    with pytest.raises(SealedKeyError, match="^The key is sealed to another recipient: "):
        open_sealed_key(sealed, stranger)
    with pytest.raises(SealedKeyError, match="^The key is sealed to a further recipient"):
        open_sealed_key(sealed, owners[0], expect_recipients=[])


def test_generates_batches_for_all(phm: PhmClient) -> None:
    owners = (new_recipient(), new_recipient())
    for validated in (False, True):
        batch = phm.generate_sealed_batch(
            128,
            count=3,
            chunk=2,
            seal_to=tuple(one.recipient for one in owners),
            enable_nist_validation=validated,
        )
        made = list(batch)
        assert [(one.nist_validation is not None) for one in made] == [validated] * 3
        keys = [{open_sealed_key(one, own).key for own in owners} for one in made]
        assert all(len(one) == 1 for one in keys)
        assert len(set().union(*keys)) == 3


def test_refuses_lists_that_no_key_can_have(phm: PhmClient) -> None:
    own = new_recipient().recipient
    wrong: list[Any] = [[], [own], [own] * 9]
    for seal_to in wrong:
        with pytest.raises(ValueError, match="^seal_to must have 2 to 8 recipients, got [019]: "):
            phm.generate_sealed(256, seal_to=seal_to)
    with pytest.raises(TypeError, match="^seal_to must be a Recipient or the name of a registered"):
        phm.generate_sealed(256, seal_to=[own, 5])  # type: ignore[call-overload]
    with pytest.raises(PhmApiError) as caught:
        phm.generate_sealed(256, seal_to=[own, own])
    assert caught.value.code == "invalid_request"
    assert '"seal_to[1]" is the same recipient as "seal_to[0]"' in str(caught.value)
