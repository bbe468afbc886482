"""What the client makes of answers, and what it never shows."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import traceback
from collections.abc import Callable
from datetime import datetime, timezone

import pytest
from conftest import API_KEY
from scripted import (
    GENERATED,
    KEY,
    OPENING,
    RECEIPT,
    RECEIPTED,
    VALIDATION,
    ScriptedServer,
    Step,
    answers,
    breaks,
    fails,
    page,
    sends,
    stays_silent,
)

from phm_client import (
    GeneratedKey,
    PhmClient,
    PhmConnectionError,
    PhmError,
    PhmResponseError,
    ReportedKey,
    ValidatedKey,
    key_bytes,
    receipt_json,
)

Answered = Callable[..., tuple[PhmClient, ScriptedServer]]


def test_parses_a_key_and_leaves_out_what_it_does_not_know(answered: Answered) -> None:
    phm, _ = answered(answers({**GENERATED, "later": {"member": [1]}}))
    generated = phm.generate(256)
    assert type(generated) is GeneratedKey
    assert generated.key == KEY
    assert key_bytes(generated) == bytes.fromhex(KEY)
    with pytest.raises(TypeError, match="a GeneratedKey or an OpenedKey, got str$"):
        key_bytes(KEY)  # type: ignore[arg-type]
    assert generated.latency_ms == 2.0
    assert generated.timestamp == datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
    assert generated.warnings == ()


def test_gives_one_type_for_each_form_of_request(answered: Answered) -> None:
    report = {
        "bits": 1048576,
        "constants": "exact",
        "alpha": 0.01,
        "tests": [
            {
                "name": "frequency",
                "stream": "carrier",
                "applicable": True,
                "parameters": {"flag": True, "m": 3, "pi": [0.5, 1]},
                "labels": [""],
                "p_values": [1],
                "corrected_p": None,
                "statistics": {},
                "passed": None,
            }
        ],
        "tests_passed": 1,
        "total_tests": 1,
        "modulation_tests": [],
        "gate": {
            "p_value": 0.5,
            "alpha": 0.000001,
            "tests": 1,
            "weakest": {"stream": "carrier", "name": "frequency"},
            "verdict": "PASS",
            "streams_judged": 1,
        },
        "evidence_definition": 2,
    }
    phm, _ = answered(answers({**GENERATED, **VALIDATION, "nist_report": report}))
    assert type(phm.generate(256, enable_nist_validation=True)) is ValidatedKey
    reported = phm.generate(256, enable_nist_validation=True, include="nist_report")
    assert type(reported) is ReportedKey
    test = reported.nist_report.tests[0]
    assert (test.reason, test.p_values) == (None, (1.0,))
    assert test.parameters == {"flag": True, "m": 3, "pi": (0.5, 1.0)}
    assert isinstance(hash(reported), int)


def test_brings_a_receipt_and_its_opening(answered: Answered) -> None:
    phm, server = answered(answers({**GENERATED, **RECEIPTED}))
    generated = phm.generate(256, include="receipt")
    assert type(generated) is GeneratedKey
    assert generated.opening == OPENING
    assert generated.receipt is not None
    assert generated.receipt.statement.sources[1].credit_bits == 12.5
    assert json.loads(receipt_json(generated.receipt)) == RECEIPT
    assert phm.receipt(generated.key_id).receipt == generated.receipt
    assert isinstance(hash(generated), int)
    first, second = server.received
    assert json.loads(first.body)["include"] == ["receipt"]
    assert (second.method, second.path) == ("GET", RECEIPTED["receipt_url"])


def test_never_follows_a_redirect_and_names_its_target_without_secrets(answered: Answered) -> None:
    phm, other = answered(answers())
    target = f"{other.address.replace('//', '//user:secret@')}/x?token=secret"
    phm, server = answered(page(307, location=target))
    with pytest.raises(PhmResponseError) as caught:
        phm.generate(256)
    assert f"redirects to {other.address}/x; redirects are not followed" in str(caught.value)
    assert "secret" not in str(caught.value)
    assert (caught.value.outcome_unknown, len(other.received)) == (False, 0)
    assert str(caught.value).startswith(f"{server.address}/api/v2/generate redirects")


def everything_of(error: BaseException) -> str:
    """All that a log or a debugger's summary would show of an error."""
    seen = [str(error), repr(error), repr(vars(error)), *traceback.format_exception(error)]
    for linked in (error.__cause__, error.__context__):
        if linked is not None:
            seen += [everything_of(linked), repr(vars(linked))]
    return "\n".join(seen)


@pytest.mark.parametrize(
    "step",
    [
        breaks,
        stays_silent,
        page(500),
        page(302, location="/x"),
        fails("invalid_request", 400),
        sends(200, f'"{KEY}"'.encode(), {}),
        sends(200, b"{}", {"Content-Encoding": "gzip"}),
        lambda handler: handler.wfile.write(f"{KEY}\r\n\r\n".encode()),
    ],
)
def test_no_error_holds_a_key_or_the_api_key(answered: Answered, step: Step) -> None:
    phm, _ = answered(step, max_retries=0, attempt_timeout=0.3)
    with pytest.raises(PhmError) as caught:
        phm.validate(KEY)
    shown = everything_of(caught.value)
    assert KEY not in shown
    assert API_KEY not in shown
    # httpx's errors hold the request: none is linked.
    assert caught.value.__context__ is None
    assert not hasattr(caught.value.__cause__, "request")


def test_no_repr_holds_a_key_or_the_api_key(answered: Answered) -> None:
    late = {**RECEIPTED, "receipt": None}
    phm, server = answered(answers({**GENERATED, **late}))
    generated = phm.generate(256, include="receipt")
    assert OPENING not in repr(generated)
    shown = f"{generated!r} {generated} {phm!r} {phm._transport!r}"
    assert KEY not in shown
    assert API_KEY not in shown
    assert generated.key_id in shown
    assert repr(phm) == f"PhmClient('{server.address}')"


def test_compares_answers_by_what_identifies_them(answered: Answered) -> None:
    phm, _ = answered(answers(), answers({**GENERATED, "key_id": "phm_2"}))
    one, other = phm.generate(256), phm.generate(256)
    phm, _ = answered(answers())
    same = phm.generate(256)
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert len({one, same, other}) == 2
    with pytest.raises(AttributeError):
        one.key = "00"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(one)).key == KEY


def test_errors_can_be_passed_between_processes(answered: Answered) -> None:
    phm, server = answered(fails("quota_exceeded", 429, retry_after="9"), page(404), breaks)
    for _ in range(3):
        with pytest.raises(PhmError) as caught:
            phm.generate(256)
        for twin in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):
            assert type(twin) is type(caught.value)
            assert str(twin) == str(caught.value)
            assert vars(twin) == vars(caught.value)
    assert len(server.received) == 3


def test_a_bomb_that_the_client_did_not_ask_for_is_not_inflated(answered: Answered) -> None:
    bomb = gzip.compress(b'{"success": true, "x": "' + bytes(80 * 2**20), 1)
    phm, server = answered(sends(200, bomb, {"Content-Encoding": "gzip"}), max_retries=0)
    with pytest.raises(PhmResponseError, match="is longer than 64 MiB"):
        phm.metrics()
    assert server.received[0].headers["accept-encoding"] == "identity"


def test_reads_what_a_proxy_has_compressed(answered: Answered) -> None:
    content = gzip.compress(json.dumps({**GENERATED, "success": True}).encode())
    phm, _ = answered(sends(200, content, {"Content-Encoding": "gzip"}))
    assert phm.generate(256).key == KEY
    phm, _ = answered(sends(200, content, {"Content-Encoding": "br"}), max_retries=0)
    with pytest.raises(PhmConnectionError, match="broken encoding"):
        phm.generate(256)
