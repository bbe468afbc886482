"""The client and a real service."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import httpx
import pytest

import phm_client
from phm_client import ErrorCode, PhmApiError, PhmClient, RequestEvent, RetryEvent, key_bytes
from phm_client.types import KeyBatch, KeyInfoResult, KeyList

README = (Path(__file__).parents[1] / "README.md").read_text()
EXAMPLES = [part.split("```")[0] for part in README.split("```python\n")[1:]]


@pytest.mark.parametrize("level", [128, 256, 384])
def test_generates_and_validates(phm: PhmClient, level: Any) -> None:
    generated = phm.generate(level)
    assert len(key_bytes(generated)) * 8 == generated.security_level == level
    assert abs(datetime.now(timezone.utc) - generated.timestamp) < timedelta(minutes=5)
    for proof in (generated.hash_proof, None):
        assert phm.validate(generated.key, hash_proof=proof).valid
    wrong = phm.validate("00" * (level // 8), hash_proof=generated.hash_proof)
    assert not wrong.valid
    assert wrong.validation_details.proof_verification == "failed"


def test_brings_the_evidence(phm: PhmClient) -> None:
    generated = phm.generate(256, enable_nist_validation=True, include="nist_report")
    assert generated.nist_validation.certification_status == "PASS"
    assert generated.nist_grade in get_args(get_type_hints(type(generated))["nist_grade"])
    assert generated.nist_report.gate.verdict == "PASS"
    assert len(generated.nist_report.tests) == 15
    assert phm.randomness(keys=5, include="p_values").randomness.rows[0].p_values


def test_brings_a_receipt(phm: PhmClient) -> None:
    generated = phm.generate(256, include="receipt")
    assert generated.opening is not None
    receipt = phm.receipt(generated.key_id).receipt
    assert receipt.statement.key_id == generated.key_id
    assert datetime.fromisoformat(receipt.statement.time) == generated.timestamp
    assert receipt.proof.startswith("c2sp.org/tlog-proof@v1\n")


def test_brings_a_receipt_without_an_api_key(phm: PhmClient, service: str) -> None:
    receipt = phm.receipt(phm.generate(256).key_id).receipt
    key_id, commitment = receipt.statement.key_id, receipt.statement.key_commitment
    with PhmClient(service) as recipient:
        found = recipient.receipt_by_commitment(key_id, commitment).receipt
        assert found.statement == receipt.statement
        with pytest.raises(PhmApiError) as refused:
            recipient.receipt_by_commitment("phm_1", commitment)
    assert refused.value.code == "receipt_not_found"


def test_finds_and_revokes_a_key(phm: PhmClient) -> None:
    labels = {"run": f"{time.time_ns()}", "note": "Käse & ✓"}
    expires_at = datetime.now(timezone.utc) + timedelta(days=1)
    generated = [phm.generate(256, labels=labels, expires_at=expires_at) for _ in range(2)]
    assert generated[0].labels == labels
    assert generated[0].expires_at is not None
    assert abs(generated[0].expires_at - expires_at) < timedelta(milliseconds=1)
    found = [record.key_id for record in phm.list_keys(labels=labels, status="active")]
    assert found == [generated[1].key_id, generated[0].key_id]
    assert phm.revoke_key(found[0], "superseded").status == "deactivated"
    assert phm.get_key(found[0]).revocation_reason == "superseded"
    verdict = phm.validate(generated[1].key, hash_proof=generated[1].hash_proof)
    assert (verdict.valid, verdict.validation_details.key_status) == (False, "deactivated")


def test_reads_metrics(phm: PhmClient) -> None:
    phm.generate(128)
    assert phm.metrics(hours=1).metrics.performance.total_keys_generated >= 1
    series = phm.metrics_series(hours=1, step=5).series
    assert series.step_minutes == 5
    assert sum(point.keys for point in series.points) >= 1
    assert series.start < series.points[-1].start <= series.end
    assert phm.last_limits.rate is not None


def test_health_needs_no_api_key(service: str) -> None:
    with PhmClient(service) as phm:
        assert phm.health().status == "ok"
        with pytest.raises(PhmApiError) as caught:
            phm.metrics()
    assert (caught.value.status, caught.value.code) == (401, "missing_api_key")


def test_raises_what_the_service_refuses(phm: PhmClient, service: str) -> None:
    level: Any = 512
    with pytest.raises(PhmApiError) as caught:
        phm.generate(level, request_id="mine-1")
    assert caught.value.code == "invalid_request"
    assert f"{caught.value.request_id}".startswith("mine-1.")
    assert [error.pointer for error in caught.value.errors] == ["#/security_level"]
    with PhmClient(service, "phmsk_live_unknown") as stranger:
        with pytest.raises(PhmApiError, match="^invalid_api_key: "):
            stranger.generate(256)


def test_is_answered_strictly(service: str) -> None:
    """The service knows the preference that the client sends."""
    seen: list[httpx.Response] = []
    http = httpx.Client(event_hooks={"response": [seen.append]})
    with http, PhmClient(service, os.environ["PHM_API_KEY"], http_client=http) as phm:
        phm.metrics(hours=1)
    assert seen[0].headers["preference-applied"] == "handling=strict"


def generate_100(url: str, api_key: str) -> tuple[float, int, int]:
    requests: list[RequestEvent] = []
    retries: list[RetryEvent] = []
    since = time.monotonic()
    with PhmClient(
        url, api_key, timeout=60, on_request=requests.append, on_retry=retries.append
    ) as phm:
        with ThreadPoolExecutor(100) as pool:
            keys = set(pool.map(lambda _: phm.generate(256).key_id, range(100)))
    assert len(keys) == 100
    return time.monotonic() - since, len(requests), len(retries)


def test_100_calls_at_once_keep_to_the_rate_of_a_research_key(service: str) -> None:
    seconds, requests, retries = generate_100(service, os.environ["PHM_RESEARCH_API_KEY"])
    print(f"100 calls: {seconds:.1f} s, {requests} requests, {retries} retries")
    # The bucket itself takes (100 - 20) / 10 s.
    assert 7.5 < seconds < 30
    assert retries == 0


def test_two_processes_with_one_research_key_both_succeed(service: str) -> None:
    program = (
        "import os, sys; from test_live import generate_100; "
        "print(generate_100(os.environ['PHM_URL'], os.environ['PHM_SHARED_API_KEY']))"
    )
    command = [sys.executable, "-c", program]
    folder = Path(__file__).parent
    both = [subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE) for _ in range(2)]
    for process in both:
        out, _ = process.communicate(timeout=100)
        print(out.decode())
        assert process.returncode == 0


def test_runs_the_examples_of_the_readme_in_order(service: str, tmp_path: Path) -> None:
    """As a reader does who appends one after the other to a file, with the shell's lines before."""
    assert len(EXAMPLES) == 8
    policy = httpx.get(f"{service}/log/policy")
    (tmp_path / "policy.txt").write_bytes(policy.content)
    assert "/log/policy --output policy.txt" in README
    outcome = run_program("\n".join(EXAMPLES), tmp_path)
    lines = outcome.splitlines()
    assert lines[0].endswith(": 256 bits")
    assert lines[1] == "generated here"
    assert lines[2].endswith(" tests passed, gate PASS")
    assert lines[5].endswith("requests left this month")
    assert "deactivated" in lines
    assert lines[lines.index("deactivated") + 1] == "True"
    assert any(re.fullmatch(r"phm_[0-9]+ 32", line) for line in lines)
    assert any(re.fullmatch(r"report\.txt\.phm has the key phm_[0-9]+", line) for line in lines)
    assert (tmp_path / "copy.txt").read_text() == "the quarterly figures"
    assert sum(bool(re.fullmatch(r"phm_[0-9]+", line)) for line in lines) == 3


def test_each_example_stands_on_the_first(service: str, tmp_path: Path) -> None:
    """A reader may try one without those between."""
    (tmp_path / "policy.txt").write_bytes(httpx.get(f"{service}/log/policy").content)
    for example in EXAMPLES[1:]:
        run_program(f"{EXAMPLES[0]}\n{example.replace('count=1000', 'count=10')}", tmp_path)


def test_the_example_of_errors_says_what_is_wrong(service: str, tmp_path: Path) -> None:
    client = "import os\nfrom phm_client import PhmClient\n"
    wrong = f"phm = PhmClient({service!r}, 'wrong')\n"
    assert run_program(client + wrong + EXAMPLES[-1], tmp_path).startswith("401 invalid_api_key: ")


def run_program(code: str, folder: Path) -> str:
    """Run it as a file of its own, and return what it prints."""
    file = folder / "example.py"
    file.write_text(code)
    run = subprocess.run(
        [sys.executable, file.name], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


# Answers of calls that return something else, or one of several types.
ANSWERS = {
    "generate": phm_client.ReportedKey,
    "generateSealed": phm_client.ReportedSealedKey | phm_client.GeneratedSealedKeys,
    "generateBatch": KeyBatch,
    "generateSealedBatch": KeyBatch,
    "listKeys": KeyList,
    "getKey": KeyInfoResult,
    "revokeKey": KeyInfoResult,
    "getDelivery": phm_client.DeliveryResult,
}

DELIVERIES = {
    "listDeliveries": phm_client.Deliveries.list,
    "fetchDeliveries": phm_client.Deliveries.fetch,
    "removeDeliveries": phm_client.Deliveries.remove,
    "getDelivery": phm_client.Deliveries.state,
}

# Operations that the client leaves to other programs.
WITHOUT_CALL = {"logCheckpoint", "logPolicy", "livez", "readyz"}


def test_types_have_the_members_of_the_openapi_document(service: str) -> None:
    document = httpx.get(f"{service}/api/v2/openapi.json").json()
    operations = {
        operation["operationId"]: operation
        for path in document["paths"].values()
        for operation in path.values()
        if "operationId" in operation
    }
    for name in operations.keys() - WITHOUT_CALL:
        own = re.sub("[A-Z]", lambda one: f"_{one[0].lower()}", name)
        call = DELIVERIES.get(name) or getattr(PhmClient, own)
        answer = ANSWERS.get(name) or get_type_hints(call)["return"]
        schema = operations[name]["responses"]["200"]["content"]["application/json"]["schema"]
        assert_fits(answer, schema, document, name)
    problem = operations["generate"]["responses"]["503"]["content"]["application/problem+json"]
    code = resolved(problem["schema"], document)["properties"]["code"]
    assert set(get_args(ErrorCode)) == choices_of(code, document)


def test_generate_takes_what_the_openapi_document_offers(service: str) -> None:
    document = httpx.get(f"{service}/api/v2/openapi.json").json()
    body = document["paths"]["/api/v2/generate"]["post"]["requestBody"]["content"]
    properties = resolved(body["application/json"]["schema"], document)["properties"]
    hints = get_type_hints(PhmClient.generate)
    own = {"idempotency_key", "request_id", "timeout", "return"}
    assert hints.keys() - own == properties.keys()
    for name in ("security_level", "modulation_type", "entropy_source"):
        (choices,) = [
            set(get_args(one))
            for one in (hints[name], *get_args(hints[name]))
            if get_origin(one) is Literal
        ]
        offered = choices_of(properties[name], document)
        # A server offers the sources that its operator has turned on.
        assert offered == choices or (name == "entropy_source" and offered < choices)


def assert_fits(kind: Any, schema: Any, document: Any, at: str) -> None:
    schema = resolved(schema, document)
    # One schema has what comes for one recipient and for several.
    kinds = [one for one in get_args(kind) if is_dataclass(one)] or [kind]
    members = {one.name: one for part in kinds for one in fields(part)}
    properties = schema["properties"].keys() - {"success"}
    assert properties - {"warnings"} == members.keys() - {"success", "warnings"}, at
    hints = {name: hint for part in kinds for name, hint in get_type_hints(part).items()}
    optional = properties - set(schema.get("required", []))
    always = set.intersection(
        *(
            {
                one.name
                for one in fields(part)
                if one.default is MISSING and one.default_factory is MISSING
            }
            for part in kinds
        )
    )
    left = {"nist_validation", "nist_score", "nist_grade", "nist_report", "warnings"}
    assert optional - left == members.keys() - always - left, at
    for name in members.keys() & properties:
        for part in (hints[name], *get_args(hints[name])):
            if get_origin(part) is Literal:
                offered = choices_of(schema["properties"][name], document)
                # The document lists texts everywhere, numbers in requests only.
                texts = any(isinstance(choice, str) for choice in get_args(part))
                assert offered == set(get_args(part)) or not (offered or texts), f"{at}.{name}"
            if is_dataclass(part):
                inner = resolved(
                    schema["properties"][name], document, cast("type[Any]", part).__name__
                )
                inner = inner.get("items", inner)
                assert_fits(part, inner, document, f"{at}.{name}")


def choices_of(schema: Any, document: Any) -> set[Any]:
    """The values that a schema lists, as an enumeration or as constants."""
    schema = resolved(schema, document)
    constants = [one["const"] for one in schema.get("oneOf", []) if "const" in one]
    return set(schema.get("enum", constants)) - {None}


def resolved(schema: Any, document: Any, title: str | None = None) -> Any:
    """The schema behind a reference; of several the one with this title, or that is no null."""
    while "$ref" in schema or "anyOf" in schema:
        if "anyOf" in schema:
            choices = [one for one in schema["anyOf"] if one.get("type") != "null"]
            named = [one for one in choices if resolved(one, document).get("title") == title]
            schema = (named or choices)[0]
            continue
        target = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        schema = target
    return schema
