"""What the client finds in receipts, offline."""

from __future__ import annotations

import base64
import json
import os
import struct
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx
import pytest

from phm_client import PhmClient, ReceiptVerdict, verify_receipt
from phm_client.receipt.canonical import canonical_json, canonical_number

FOLDER = Path(__file__).parents[3] / "docs/examples/receipt"
GENERATED: dict[str, Any] = json.loads((FOLDER / "generated.json").read_text())
POLICY = (FOLDER / "policy.txt").read_text()
RECEIPT: dict[str, Any] = GENERATED["receipt"]
KEY: str = GENERATED["key"]
OPENING: str = GENERATED["opening"]


def test_shows_what_a_right_receipt_shows() -> None:
    verdict = verify_receipt(RECEIPT, policy=POLICY, key=KEY, opening=OPENING)
    assert verdict.problems == ()
    assert verdict.valid
    assert verdict.statement is not None
    assert verdict.statement.key_id == GENERATED["key_id"]
    assert (verdict.entry_index, verdict.tree_size) == (5, 6)
    assert verdict.signed_at is not None
    stated = datetime.fromisoformat(verdict.statement.time)
    assert abs(verdict.signed_at - stated) < timedelta(seconds=2)
    shown = "\n".join(verdict.shown)
    assert "signed the checkpoint with ML-DSA-44 at 2026-11-23T01:41:10Z." in shown
    assert "with its opening it fits the commitment." in shown
    assert verdict.not_shown[-1].startswith("That the key is random")
    assert KEY not in repr(verdict)
    assert OPENING not in repr(verdict)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_takes_text_and_bytes(mark: str) -> None:
    text = mark + json.dumps(RECEIPT, indent=2, sort_keys=True)
    opening = base64.b64decode(OPENING)
    verdict = verify_receipt(text, policy=POLICY, key=bytes.fromhex(KEY), opening=opening)
    assert verdict.valid


@pytest.mark.parametrize("member", RECEIPT["statement"])
def test_finds_each_altered_member(member: str) -> None:
    value: Any = RECEIPT["statement"][member]
    other: Any = {"sources": [], "evidence": None}.get(member, RECEIPT["statement"]["salt"])
    if isinstance(value, int):
        other = value - 128
    elif isinstance(value, str):
        other = value.replace(value[3], "1" if value[3] != "1" else "2", 1)
    assert other != value
    altered = {**RECEIPT, "statement": {**RECEIPT["statement"], member: other}}
    verdict = verify_receipt(altered, policy=POLICY)
    assert not verdict.valid
    assert verdict.problems


def test_is_never_valid_without_a_policy() -> None:
    verdict = verify_receipt(RECEIPT, key=KEY, opening=OPENING)
    assert not verdict.valid
    assert verdict.problems == (
        "Without a pinned policy nothing shows whose log this is: "
        f'anyone can sign as "{RECEIPT["statement"]["service"]}".',
    )


@pytest.mark.parametrize(
    ("receipt", "problem"),
    [
        ("", "it is not JSON, or it was cut."),
        ('{"statement": NaN}', "it is not JSON, or it was cut."),
        ("[" * 200_000, "it is not JSON, or it was cut."),
        ('{"statement": {"a": 1, "a": 2}, "proof": ""}', 'a JSON object has the member "a" twice.'),
        ("{\0}\0", "it is not UTF-8 text."),
        (None, "the receipt: expected a JSON object, got null."),
        ([], "the receipt: expected a JSON object, got a list of 0."),
        ({**RECEIPT, "more": 1}, 'the receipt has an unknown member "more".'),
        ({"statement": {}, "proof": ""}, 'statement has no member "type".'),
    ],
)
def test_says_what_is_no_receipt(receipt: Any, problem: str) -> None:
    verdict = verify_receipt(receipt, policy=POLICY)
    assert verdict.problems == (f"This is not a receipt: {problem}",)
    assert (verdict.statement, verdict.entry_index, verdict.valid) == (None, None, False)


@pytest.mark.parametrize("missing", ["mldsa", "ed25519"])
def test_says_which_signature_this_python_cannot_check(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    """As without the package, and as with a release before 48."""
    module = f"cryptography.hazmat.primitives.asymmetric.{missing}"
    monkeypatch.setitem(sys.modules, module, None)
    policy = POLICY
    if missing == "ed25519":
        (key,) = [line.split(": ")[1] for line in POLICY.splitlines() if "Ed25519" in line]
        policy = f"log {key}\nquorum none\n"
    verdict = verify_receipt(RECEIPT, policy=policy)
    (problem,) = verdict.problems
    assert problem.startswith('The signature of the log "phm.invalid/')
    assert '" was not verified. ' in problem
    assert ("post-quantum" in problem) == (missing == "mldsa")
    assert not any("signed the checkpoint" in sentence for sentence in verdict.shown)


def test_refuses_wrong_types_without_quoting_them() -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match="^policy must be the text of a policy, got int$"):
        verify_receipt(RECEIPT, policy=wrong)
    with pytest.raises(TypeError, match="^key must be a string or bytes, got int$"):
        verify_receipt(RECEIPT, key=wrong)
    with pytest.raises(ValueError, match="^now must have a UTC offset"):
        verify_receipt(RECEIPT, now=datetime(2026, 1, 1))


def test_refuses_a_signature_from_the_future() -> None:
    early = datetime(2026, 1, 1, tzinfo=timezone.utc)
    (problem,) = verify_receipt(RECEIPT, policy=POLICY, now=early).problems
    assert "is from 2026-11-23T01:41:10Z, which is in the future" in problem


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        # RFC 8785, appendix B.
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_writes_numbers_as_rfc_8785_does(bits: str, text: str) -> None:
    (value,) = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_number(value) == text


def test_writes_objects_as_rfc_8785_does() -> None:
    # RFC 8785 §3.2.3: names in the order of their UTF-16 code units.
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7}
    names = ("\\r", "1", "\x80", "\xf6", "\u20ac", "\U0001f600", "\ufb33")
    members = ",".join(
        f'"{name}":{n}' for name, n in zip(names, (2, 4, 6, 7, 1, 5, 3), strict=True)
    )
    assert canonical_json(value) == f"{{{members}}}"
    # §3.2.2.2.
    assert canonical_json("\u20ac$\x0f\nA'\"\\/\x7f") == '"\u20ac$\\u000f\\nA\'\\"\\\\/\x7f"'


def test_gives_the_verdicts_of_the_other_verifier() -> None:
    """Cases with the verdicts of the TypeScript client, in a file that the environment names."""
    file = os.environ.get("PHM_RECEIPT_CASES")
    if file is None:
        pytest.skip("PHM_RECEIPT_CASES names no file")
    given = json.loads(Path(file).read_text())
    now = datetime.fromtimestamp(given["now"], timezone.utc)
    assert len(given["cases"]) > 70
    for case in given["cases"]:
        secrets = {name: case.get(name) for name in ("policy", "key", "opening")}
        verdict = verify_receipt(case["receipt"], **secrets, now=now)
        assert as_json(verdict) == case["verdict"], case["name"]


def as_json(verdict: ReceiptVerdict) -> dict[str, Any]:
    statement = verdict.statement
    assert (statement is None) == (verdict.entry_index is None)
    signed_at = verdict.signed_at
    return {
        "valid": verdict.valid,
        "problems": list(verdict.problems),
        "shown": list(verdict.shown),
        "notShown": list(verdict.not_shown),
        "entryIndex": verdict.entry_index,
        "treeSize": verdict.tree_size,
        "signedAt": signed_at and signed_at.isoformat().replace("+00:00", "Z"),
        "witnesses": list(verdict.witnesses),
    }


def test_verifies_receipts_of_a_service(phm: PhmClient, service: str) -> None:
    policy = httpx.get(f"{service}/log/policy").text
    plain = phm.generate(128, include="receipt")
    assert plain.receipt is not None
    own: dict[str, Any] = {"key": plain.key, "opening": plain.opening}
    assert verify_receipt(plain.receipt, policy=policy, **own).valid
    assert verify_receipt(phm.receipt(plain.key_id).receipt, policy=policy, **own).valid
    both = phm.generate(256, enable_nist_validation=True, include=("receipt", "nist_report"))
    assert both.receipt is not None
    verdict = verify_receipt(both.receipt, policy=policy, nist_report=both.nist_report)
    assert verdict.problems == ()
    assert any("nist_report has the gate and the p-values" in one for one in verdict.shown)
    other = verify_receipt(both.receipt, policy=policy, **own)
    assert len(other.problems) == 1
