"""What the client makes of answers, and what it never shows."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import traceback
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest
from conftest import API_KEY
from scripted import (
    GENERATED,
    HEALTH,
    KEY,
    OPENING,
    RECEIPT,
    RECEIPTED,
    VALID,
    VALIDATION,
    ScriptedServer,
    Step,
    answers,
    breaks,
    exactly,
    fails,
    page,
    sends,
    stays_silent,
)

from phm_client import (
    FieldError,
    GeneratedKey,
    PhmApiError,
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


def test_sends_several_values_of_include(answered: Answered) -> None:
    phm, server = answered(answers({**GENERATED, **VALIDATION, **RECEIPTED}))
    validated = phm.generate(256, enable_nist_validation=True, include="receipt")
    assert type(validated) is ValidatedKey
    with pytest.raises(PhmResponseError, match="/nist_report is missing"):
        phm.generate(256, enable_nist_validation=True, include=("nist_report", "receipt"))
    assert json.loads(server.received[1].body)["include"] == ["nist_report", "receipt"]


def test_takes_a_receipt_that_comes_later(answered: Answered) -> None:
    late = {**GENERATED, **RECEIPTED, "receipt": None}
    pending = fails("receipt_pending", retry_after="0")
    body = {"receipt": RECEIPT, "timestamp": GENERATED["timestamp"]}
    phm, server = answered(answers(late), pending, answers(body))
    generated = phm.generate(256, include="receipt")
    assert (generated.receipt, generated.opening) == (None, OPENING)
    assert phm.receipt(generated.key_id).receipt.proof == RECEIPT["proof"]
    assert len(server.received) == 3


def test_passes_warnings_on(answered: Answered) -> None:
    warning = {"code": "unknown_field", "pointer": "#/x", "detail": "was ignored"}
    phm, _ = answered(answers({**GENERATED, "warnings": [warning]}))
    (found,) = phm.generate(256).warnings
    assert (found.code, found.pointer) == ("unknown_field", "#/x")


def test_sends_what_was_given_and_asks_for_strict(answered: Answered) -> None:
    phm, server = answered(answers())
    phm.generate(
        128,
        enable_nist_validation=True,
        modulation_type="none",
        entropy_source="os",
        request_id="a.b-c_1",
    )
    phm.metrics(hours=3)
    phm.metrics()
    generate, hours, plain = server.received
    assert json.loads(generate.body) == {
        "security_level": 128,
        "enable_nist_validation": True,
        "modulation_type": "none",
        "entropy_source": "os",
    }
    assert generate.headers["prefer"] == hours.headers["prefer"] == "handling=strict"
    assert "prefer" not in plain.headers
    assert generate.headers["x-api-key"] == API_KEY
    assert hours.path == "/api/v2/metrics?hours=3"


def test_sends_no_api_key_to_health_and_takes_not_ready_for_an_answer(answered: Answered) -> None:
    body = {**HEALTH, "success": False, "status": "draining", "checks": {"ledger": "failed"}}
    phm, server = answered(sends(503, json.dumps(body).encode(), {}))
    health = phm.health()
    assert (health.success, health.status) == (False, "draining")
    assert health.checks == {"ledger": "failed"}
    assert "x-api-key" not in server.received[0].headers


def test_tells_what_the_service_refused(answered: Answered) -> None:
    errors = [{"pointer": "#/key", "message": "is missing"}, {"pointer": 3}, None]
    phm, server = answered(fails("invalid_request", 400, errors, retry_after="5"))
    with pytest.raises(PhmApiError) as caught:
        phm.validate("ff")
    error = caught.value
    assert (error.status, error.code, error.title) == (400, "invalid_request", "Title")
    assert error.errors == (FieldError("#/key", "is missing"),)
    sent = server.received[0].headers["x-request-id"]
    assert (error.request_id, error.retry_after_seconds) == (sent, 5)
    assert str(error) == (
        f"invalid_request: Title. Do something. #/key is missing. (request {sent})"
    )


def test_names_each_wrong_field_once() -> None:
    error = PhmApiError(
        status=400,
        code="invalid_request",
        title="Title",
        detail='"a" is missing. 2 more fields are wrong.',
        errors=(
            FieldError("#/a", "is missing"),
            FieldError("#/b", 'is unknown; is it "c"?'),
            FieldError("#/d", "is missing"),
        ),
    )
    assert str(error) == (
        'invalid_request: Title. "a" is missing. 2 more fields are wrong. '
        '#/b is unknown; is it "c"? #/d is missing.'
    )


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


@pytest.mark.parametrize(
    ("body", "unknown"),
    [
        (b"", True),
        (b"[]", True),
        (b"null", True),
        (b"\xff\xfe", True),
        (b'{"success": true, "key_id": "' + KEY.encode(), True),
        (b'{"success": true, "entropy_bits": NaN}', True),
        (b"[" * 200_000, True),
        (b'{"success": false}', True),
    ],
)
def test_says_so_when_the_answer_is_not_the_services(
    answered: Answered, body: bytes, unknown: bool
) -> None:
    phm, _ = answered(sends(200, body, {"Content-Type": "text/html"}))
    with pytest.raises(PhmResponseError) as caught:
        phm.generate(256)
    assert "is not JSON of the PHM key service (status 200, text/html)" in str(caught.value)
    assert caught.value.outcome_unknown is unknown
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("key_id", None, "/key_id is not a key ID but NoneType"),
        ("key_id", "phm_1\x1b[2J", "/key_id is not a key ID but str"),
        ("key_id", "phm_01", "/key_id is not a key ID but str"),
        ("timestamp", "2026-01-31T12:00:00", "/timestamp is not a date-time but str"),
        ("timestamp", "2026-01-31", "/timestamp is not a date-time but str"),
        ("timestamp", "2026-13-31T12:00:00Z", "/timestamp is not a date-time but str"),
        ("expires_at", "2026-01-31T12:00:00Z\n", "/expires_at is not a date-time but str"),
        ("latency_ms", "2", "/latency_ms is not float but str"),
        ("quantum_hardware", 1, "/quantum_hardware is not bool but int"),
        ("security_level", True, "/security_level is not int but bool"),
        ("timestamp", "today", "/timestamp is not a date-time but str"),
        ("entropy_job_id", {}, "/entropy_job_id is not str but dict"),
        ("warnings", {}, "/warnings is not a list but dict"),
        ("key", ..., "/key is missing"),
    ],
)
def test_names_a_member_that_is_not_as_known(
    answered: Answered, member: str, value: Any, words: str
) -> None:
    body = {**GENERATED, member: value}
    if value is ...:
        del body[member]
    phm, _ = answered(exactly(body))
    with pytest.raises(PhmResponseError) as caught:
        phm.generate(256)
    assert words in str(caught.value)
    assert caught.value.outcome_unknown
    assert KEY not in everything_of(caught.value)


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


def test_states_the_limits_of_the_latest_answer(answered: Answered) -> None:
    headers = {
        "ratelimit_policy": '"rate";q=20;w=2, "quota";q=1000;w=2592000',
        "ratelimit": '"rate";r=18;t=1, "quota";r=998;t=822350',
    }
    phm, _ = answered(answers(VALID, **headers), answers(VALID, ratelimit='"rate";r=x'))
    assert phm.last_limits.rate is None
    phm.validate("ff")
    rate, quota = phm.last_limits.rate, phm.last_limits.quota
    assert rate is not None
    assert quota is not None
    assert (rate.limit, rate.remaining, rate.window_seconds) == (20, 18, 2)
    assert (quota.limit, quota.remaining, quota.reset_seconds) == (1000, 998, 822350)


@pytest.mark.parametrize("time", ["2026-01-31T12:00:00Z", "2026-01-31T13:00:00.5+01:00"])
def test_reads_all_times_of_rfc_3339(answered: Answered, time: str) -> None:
    phm, _ = answered(exactly({**GENERATED, "timestamp": time}))
    half = 500_000 if "." in time else 0
    expected = datetime(2026, 1, 31, 12, 0, 0, half, timezone.utc)
    assert phm.generate(256).timestamp == expected


@pytest.mark.parametrize("member", ["key_id", "time"])
def test_checks_the_forms_in_a_receipt_too(answered: Answered, member: str) -> None:
    statement = {**RECEIPT["statement"], member: "\x1b]0;title\x07"}
    receipt = {**RECEIPT, "statement": statement}
    phm, _ = answered(exactly({"receipt": receipt, "timestamp": GENERATED["timestamp"]}))
    with pytest.raises(PhmResponseError, match=f"/receipt/statement/{member} is not a ") as caught:
        phm.receipt(GENERATED["key_id"])
    assert "\x1b" not in str(caught.value)


def test_a_lost_key_has_the_form_of_a_key_id(answered: Answered) -> None:
    made = fails("key_already_made", 409, more={"key_ids": ["phm_7", "\x1b[2J", 8]})
    phm, _ = answered(made)
    with pytest.raises(PhmApiError) as caught:
        phm.generate(256, idempotency_key=True)
    assert caught.value.key_ids == ("phm_7",)


def test_a_bomb_that_the_client_did_not_ask_for_is_not_inflated(answered: Answered) -> None:
    bomb = gzip.compress(b'{"success": true, "x": "' + bytes(80 * 2**20))
    phm, server = answered(sends(200, bomb, {"Content-Encoding": "gzip"}), max_retries=0)
    with pytest.raises(PhmConnectionError, match="has more than 67108864 bytes"):
        phm.metrics()
    assert server.received[0].headers["accept-encoding"] == "identity"


def test_reads_what_a_proxy_has_compressed(answered: Answered) -> None:
    content = gzip.compress(json.dumps({**GENERATED, "success": True}).encode())
    phm, _ = answered(sends(200, content, {"Content-Encoding": "gzip"}))
    assert phm.generate(256).key == KEY
    phm, _ = answered(sends(200, content, {"Content-Encoding": "br"}), max_retries=0)
    with pytest.raises(PhmConnectionError, match="broken encoding"):
        phm.generate(256)
