"""Verifies a receipt offline: nothing is sent or fetched."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import datetime, timezone
from typing import Any, cast

from ..decode import decode
from ..types import KeyStatement, NistReport, Receipt
from .authority import CLOCK_TOLERANCE_SECONDS, AuthorityCheck
from .canonical import canonical_json
from .evidence import check_evidence
from .format_error import FormatError
from .json_text import parse_json_text
from .note import Checkpoint, parse_checkpoint
from .possession import check_possession
from .proof import TlogProof, inclusion_sides, parse_proof, root_of
from .statement import check_receipt
from .verdict import Findings, ReceiptVerdict, count, moment

_LIMIT = (
    "That the key is random, or that the service kept no copy of it: "
    "a receipt shows what the service stated, and when."
)


class _UnreadableError(Exception):
    """A receipt that cannot be read. The message is one sentence for the verdict."""


def verify_receipt(
    receipt: Receipt | Mapping[str, Any] | str,
    *,
    policy: str | None = None,
    key: str | bytes | None = None,
    opening: str | bytes | None = None,
    nist_report: NistReport | Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> ReceiptVerdict:
    """Verify a receipt of the service: the object, its parsed JSON or its text.

    A receipt, key, opening, report or policy that is wrong gives a verdict that says so. Signatures
    need the package ``cryptography``; without it the verdict is never valid and says why.

    Args:
        receipt: What ``generate`` or ``receipt`` returned, or another client stored.
        policy: Text of a policy (c2sp.org/tlog-policy) that lists the logs you accept. Pin it: keep
            one that you got independently of the receipt. Without it the verdict is never valid.
        key: The key, in hexadecimal or as bytes, to check that the receipt is for it. Needs
            ``opening``.
        opening: The ``opening`` that came with the key: base64, or 32 bytes.
        nist_report: The report that came with the key, to check that it is the evidence of the
            receipt.
        now: The time of the verification, with a UTC offset. Signatures from more than 5 minutes
            later are refused.
    """
    seconds = _check_arguments(policy, key, opening, now)
    findings = Findings()
    try:
        statement, proof, checkpoint = _read(receipt)
    except _UnreadableError as error:
        findings.problems.append(str(error))
        findings.not_shown.append("Anything: the receipt cannot be read.")
        return _verdict(findings)
    is_included = _check_inclusion(findings, statement, proof, checkpoint)
    is_own_log = _check_origin(findings, statement, checkpoint)
    authority = AuthorityCheck(findings, proof.note, checkpoint, seconds).run(policy)
    if is_included and is_own_log and authority.is_log_signed:
        _describe_statement(findings, statement, authority.signed_at)
    check_possession(findings, statement, key, opening)
    check_evidence(findings, statement, _plain(nist_report))
    findings.not_shown.append(_LIMIT)
    return _verdict(
        findings,
        statement=decode(KeyStatement, statement),
        entry_index=proof.index,
        tree_size=checkpoint.size,
        signed_at=None if authority.signed_at is None else moment(authority.signed_at),
        witnesses=authority.witnesses,
    )


def _verdict(
    findings: Findings,
    *,
    statement: KeyStatement | None = None,
    entry_index: int | None = None,
    tree_size: int | None = None,
    signed_at: datetime | None = None,
    witnesses: tuple[str, ...] = (),
) -> ReceiptVerdict:
    return ReceiptVerdict(
        valid=not findings.problems,
        problems=tuple(findings.problems),
        shown=tuple(findings.shown),
        not_shown=tuple(findings.not_shown),
        statement=statement,
        entry_index=entry_index,
        tree_size=tree_size,
        signed_at=signed_at,
        witnesses=witnesses,
    )


def _check_arguments(policy: object, key: object, opening: object, now: datetime | None) -> float:
    """Return the time in seconds since the epoch. Raises TypeError or ValueError."""
    if policy is not None and not isinstance(policy, str):
        raise TypeError(f"policy must be the text of a policy, got {type(policy).__name__}")
    for name, secret in (("key", key), ("opening", opening)):
        if secret is not None and not isinstance(secret, (str, bytes)):
            raise TypeError(f"{name} must be a string or bytes, got {type(secret).__name__}")
    if now is None:
        return datetime.now(timezone.utc).timestamp()
    if now.tzinfo is None:
        raise ValueError("now must have a UTC offset, such as datetime.now(timezone.utc)")
    return now.timestamp()


def _read(receipt: object) -> tuple[dict[str, Any], TlogProof, Checkpoint]:
    """Return statement, proof and checkpoint. Raises _UnreadableError. It verifies nothing."""
    try:
        value = parse_json_text(receipt) if isinstance(receipt, str) else _plain(receipt)
        check_receipt(value)
    except FormatError as error:
        raise _UnreadableError(f"This is not a receipt: {error}.") from None
    parts = cast("dict[str, Any]", value)
    try:
        proof = parse_proof(parts["proof"])
    except FormatError as error:
        raise _UnreadableError(f"The proof cannot be read: {error}.") from None
    try:
        checkpoint = parse_checkpoint(proof.note.text)
    except FormatError as error:
        raise _UnreadableError(f"The checkpoint cannot be read: {error}.") from None
    _check_fit(proof, checkpoint.size)
    return parts["statement"], proof, checkpoint


def _plain(value: Any) -> Any:
    """Return an object of this package, or another mapping, as parsed JSON."""
    if is_dataclass(value) and not isinstance(value, type):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        return [_plain(item) for item in items]
    return value


def _check_fit(proof: TlogProof, size: int) -> None:
    """RFC 6962 §2.1.1: index and size fix the number of hashes."""
    entries = count(size, "entry", "entries")
    if proof.index >= size:
        raise _UnreadableError(
            f"The proof is for entry {proof.index}, counted from 0, "
            f"but its checkpoint covers only {entries}."
        )
    expected = len(inclusion_sides(proof.index, size))
    if len(proof.hashes) != expected:
        raise _UnreadableError(
            f"The proof has {count(len(proof.hashes), 'hash', 'hashes')}, but entry {proof.index} "
            f"of {entries} needs {expected}: it was cut, or it is for another index."
        )


def _check_inclusion(
    findings: Findings, statement: dict[str, Any], proof: TlogProof, checkpoint: Checkpoint
) -> bool:
    """c2sp.org/tlog-proof, "Verifying a tlog proof", steps 1 and 4."""
    entry = hashlib.sha256(canonical_json(statement).encode()).digest()
    is_included = root_of(entry, proof.index, checkpoint.size, proof.hashes) == checkpoint.root
    if is_included:
        entries = count(checkpoint.size, "entry", "entries")
        findings.shown.append(
            "Statement, proof and checkpoint fit together: the statement is entry "
            f"{proof.index}, counted from 0, of a log with {entries}."
        )
    else:
        findings.problems.append(
            "The proof does not lead from the statement to the checkpoint: the statement, the "
            "proof or the checkpoint was altered, or they do not belong together."
        )
    return is_included


def _check_origin(findings: Findings, statement: dict[str, Any], checkpoint: Checkpoint) -> bool:
    """Step 2, first half: the statement names the log that it is in."""
    service = statement["service"]
    if checkpoint.origin == service:
        return True
    findings.problems.append(
        f'The statement is of the log "{service}", '
        f'but the checkpoint is of the log "{checkpoint.origin}".'
    )
    return False


def _describe_statement(
    findings: Findings, statement: dict[str, Any], signed_at: int | None
) -> None:
    evidence, time = statement["evidence"], statement["time"]
    tests = (
        "without statistical tests of its own"
        if evidence is None
        else f"with {int(evidence['tests_passed'])} of {int(evidence['total_tests'])} statistical "
        f"tests passed and the verdict {evidence['verdict']}"
    )
    findings.shown.append(
        f"The log's statement is that it generated the {int(statement['security_level'])}-bit key "
        f"{statement['key_id']} at {time}, {tests}."
    )
    if statement["sealed_to"] is not None:
        findings.shown.append(
            "The log's statement is also that the key was sealed to the recipient with the "
            f"thumbprint {statement['sealed_to']}."
        )
    if signed_at is not None and _seconds(time) > signed_at + CLOCK_TOLERANCE_SECONDS:
        findings.not_shown.append(
            "When the key was generated: the stated time is later than the signature."
        )


def _seconds(time: str) -> float:
    """Return the seconds since the epoch; for a time that does not exist, none is later."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return float("-inf")
