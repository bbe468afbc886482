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

from phm_client import (
    PhmClient,
    ReceiptVerdict,
    UnreadableError,
    parse_receipt_text,
    verify_receipt,
)
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
    try:
        verdict = verify_receipt(altered, policy=POLICY)
    except UnreadableError as error:
        # The first letters of these have one form.
        assert member in ("key_id", "type")
        assert member in str(error)  # noqa: PT017
    else:
        assert not verdict.valid
        assert verdict.problems


def test_is_never_valid_without_a_policy() -> None:
    verdict = verify_receipt(RECEIPT, key=KEY, opening=OPENING)
    assert not verdict.valid
    assert verdict.problems == (
        "Without a pinned policy nothing shows whose log this is: "
        f'anyone can sign as "{RECEIPT["statement"]["service"]}".',
    )


UTF_16 = "it is not UTF-8 text, perhaps UTF-16: save it as UTF-8."


@pytest.mark.parametrize(
    ("receipt", "problem"),
    [
        ("", "it is not JSON, or it was cut."),
        ('{"statement": NaN}', "it is not JSON, or it was cut."),
        ("[" * 200_000, "it is not JSON, or it was cut."),
        ('{"statement": {"a": 1, "a": 2}, "proof": ""}', 'a JSON object has the member "a" twice.'),
        ("{\0}\0", UTF_16),
        (json.dumps(RECEIPT).encode("utf-16"), UTF_16),
        (json.dumps(RECEIPT).encode("utf-16-be"), UTF_16),
        (json.dumps(RECEIPT).encode("utf-32-le"), UTF_16),
        (json.dumps(RECEIPT).encode("utf-16").decode("latin-1"), UTF_16),
        (b'{"a": "\xe9"}', UTF_16),
        (None, "the receipt: expected a JSON object, got null."),
        ([], "the receipt: expected a JSON object, got a list of 0."),
        ({**RECEIPT, "more": 1}, 'the receipt has an unknown member "more".'),
        ({"statement": {}, "proof": ""}, 'statement has no member "type".'),
    ],
)
def test_gives_no_verdict_on_what_is_no_receipt(receipt: Any, problem: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        verify_receipt(receipt, policy=POLICY)
    assert str(caught.value) == f"This is not a receipt: {problem}"
    assert isinstance(caught.value, ValueError)


def saved(text: str, way: str) -> str | bytes:
    """A text as editors save it."""
    if "crlf" in way:
        text = text.replace("\n", "\r\n")
    if "bom" in way:
        text = f"\ufeff{text}"
    return text.encode() if "bytes" in way else text


WAYS = ["plain", "bom", "crlf", "bom crlf", "bytes", "bytes bom crlf"]
# What `phm generate --receipt` writes, and the download of the dashboard.
FILE = {"key_id": GENERATED["key_id"], "receipt": RECEIPT, "opening": OPENING}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("given", [RECEIPT, FILE, GENERATED], ids=["bare", "file", "answer"])
def test_reads_a_receipt_however_it_was_saved(given: Any, way: str) -> None:
    text = saved(json.dumps(given, indent=2) + "\n", way)
    policy = saved(POLICY, way)
    verdict = verify_receipt(text, policy=policy, key=KEY, opening=OPENING)
    assert verdict.problems == ()
    assert verdict.statement.key_id == GENERATED["key_id"]


def test_reads_a_file_as_dictionary_too_and_checks_what_is_in_it() -> None:
    assert verify_receipt(FILE, policy=POLICY).problems == ()
    # The opening of the file, beside a key from elsewhere.
    verdict = verify_receipt(FILE, policy=POLICY, key=KEY)
    assert any("with its opening it fits" in one for one in verdict.shown)
    answer = {**GENERATED, "key": KEY[::-1]}
    (problem,) = verify_receipt(answer, policy=POLICY).problems
    assert problem.startswith("The given key is not the key of this receipt")
    assert verify_receipt(answer, policy=POLICY, key=KEY).valid


def test_a_file_without_a_receipt_yet_is_not_called_wrong() -> None:
    with pytest.raises(UnreadableError, match="^The file has no receipt: the log did not have"):
        verify_receipt({**FILE, "receipt": None}, policy=POLICY)


@pytest.mark.parametrize("way", WAYS[:4])
def test_reads_key_and_opening_from_files(way: str) -> None:
    key, opening = (saved(f"{text}\n", way) for text in (KEY, OPENING))
    assert verify_receipt(RECEIPT, policy=POLICY, key=key, opening=opening).valid


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"policy": POLICY.encode("utf-16")}, f"The policy cannot be read: {UTF_16}"),
        ({"policy": "log"}, "The policy cannot be read: line 1 of the policy: expected log"),
        ({"key": "\0a\0b", "opening": OPENING}, f"The key has the wrong form: .*: {UTF_16}"),
        ({"key": "xyz", "opening": OPENING}, "The key has the wrong form: a key is hexadecimal"),
        ({"key": KEY, "opening": "AA=="}, "The opening has the wrong form: an opening is base64"),
        ({"key": KEY, "opening": bytes(31)}, "The opening has the wrong form: an opening is base"),
    ],
)
def test_gives_no_verdict_with_what_cannot_be_read(given: Any, problem: str) -> None:
    with pytest.raises(UnreadableError, match=f"^{problem}") as caught:
        verify_receipt(RECEIPT, **{"policy": POLICY, **given})
    assert KEY not in str(caught.value)


def test_parses_the_text_of_a_file_around_a_receipt() -> None:
    assert parse_receipt_text(f"\ufeff{json.dumps(FILE)}") == FILE
    assert parse_receipt_text(json.dumps(FILE).encode()) == FILE
    with pytest.raises(UnreadableError, match='a JSON object has the member "a" twice'):
        parse_receipt_text('{"a":1,"a":2}')
    with pytest.raises(TypeError, match="^content must be a string or bytes, got dict$"):
        parse_receipt_text(FILE)  # type: ignore[arg-type]


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
        found: dict[str, Any]
        try:
            found = as_json(verify_receipt(case["receipt"], **secrets, now=now))
        except UnreadableError as error:
            found = {"unreadable": str(error)}
        assert found == case["verdict"], case["name"]


def as_json(verdict: ReceiptVerdict) -> dict[str, Any]:
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
    assert verify_receipt(plain, policy=policy).valid
    assert verify_receipt(phm.receipt(plain.key_id), policy=policy, **own).valid
    assert verify_receipt(phm.receipt(plain.key_id).receipt, policy=policy, **own).valid
    both = phm.generate(256, enable_nist_validation=True, include=("receipt", "nist_report"))
    assert both.receipt is not None
    verdict = verify_receipt(both.receipt, policy=policy, nist_report=both.nist_report)
    assert verdict.problems == ()
    assert any("nist_report has the gate and the p-values" in one for one in verdict.shown)
    other = verify_receipt(both.receipt, policy=policy, **own)
    assert len(other.problems) == 1
