"""Verifies a receipt offline: nothing is sent or fetched."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, cast

from ..decode import decode
from ..types import (
    GeneratedKey,
    KeyStatement,
    KeyStatementV2,
    NistReport,
    Receipt,
    ReceiptResult,
)
from .authority import CLOCK_TOLERANCE_SECONDS, AuthorityCheck
from .canonical import canonical_json
from .container import open_receipt_file, plain
from .evidence import check_evidence
from .format_error import FormatError
from .note import Checkpoint, parse_checkpoint
from .possession import check_possession
from .proof import TlogProof, inclusion_sides, parse_proof, root_of
from .statement import KEY_STATEMENT_V2, check_receipt, stated_recipients
from .text import UnreadableError, unreadable
from .verdict import Findings, ReceiptVerdict, count, moment, names

ReceiptLike = Receipt | ReceiptResult | GeneratedKey | Mapping[str, Any] | str | bytes
"""A receipt, or what has one within it."""

_LIMIT = (
    "That the key is random, or that the service kept no copy of it: "
    "a receipt shows what the service stated, and when."
)


def verify_receipt(
    receipt: ReceiptLike,
    *,
    policy: str | bytes | None = None,
    key: str | bytes | None = None,
    opening: str | bytes | None = None,
    nist_report: NistReport | Mapping[str, Any] | None = None,
    now: datetime | None = None,
) -> ReceiptVerdict:
    """Verify a receipt of the service, alone or within a file or an answer.

    Takes the object, its parsed JSON, its text or bytes. A receipt, key or report that is wrong
    gives a verdict that says so. What cannot be read gets none: it raises UnreadableError.
    Signatures need the package ``cryptography``; without it the verdict is never valid and says
    why.

    Args:
        receipt: What ``generate`` or ``receipt`` returned, or what another client stored: also the
            file of ``phm generate --receipt`` and the download of the dashboard. Key, opening and
            report within it are checked too, unless you give others.
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
    file = open_receipt_file(receipt)
    key = file.key if key is None else key
    # An opening alone, as in a receipt file, is no secret to check.
    opening = file.opening if opening is None and key is not None else opening
    report = file.nist_report if nist_report is None else plain(nist_report)
    findings = Findings()
    statement, proof, checkpoint = _read(file.receipt)
    is_included = _check_inclusion(findings, statement, proof, checkpoint)
    is_own_log = _check_origin(findings, statement, checkpoint)
    authority = AuthorityCheck(findings, proof.note, checkpoint, seconds).run(policy)
    if is_included and is_own_log and authority.is_log_signed:
        _describe_statement(findings, statement, authority.signed_at)
    _check_said(findings, statement, file.said)
    check_possession(findings, statement, key, opening)
    check_evidence(findings, statement, report)
    findings.not_shown.append(_LIMIT)
    return ReceiptVerdict(
        valid=not findings.problems,
        problems=tuple(findings.problems),
        shown=tuple(findings.shown),
        not_shown=tuple(findings.not_shown),
        statement=_decoded(statement),
        entry_index=proof.index,
        tree_size=checkpoint.size,
        signed_at=None if authority.signed_at is None else moment(authority.signed_at),
        witnesses=authority.witnesses,
    )


def _check_arguments(policy: object, key: object, opening: object, now: datetime | None) -> float:
    """Return the time in seconds since the epoch. Raises TypeError or ValueError."""
    if policy is not None and not isinstance(policy, (str, bytes)):
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
    """Return statement, proof and checkpoint. Raises UnreadableError. It verifies nothing."""
    try:
        check_receipt(receipt)
    except FormatError as error:
        raise unreadable("This is not a receipt", error) from None
    parts = cast("dict[str, Any]", receipt)
    try:
        proof = parse_proof(parts["proof"])
    except FormatError as error:
        raise unreadable("The proof cannot be read", error) from None
    try:
        checkpoint = parse_checkpoint(proof.note.text)
    except FormatError as error:
        raise unreadable("The checkpoint cannot be read", error) from None
    _check_fit(proof, checkpoint.size)
    return parts["statement"], proof, checkpoint


def _check_fit(proof: TlogProof, size: int) -> None:
    """RFC 6962 §2.1.1: index and size fix the number of hashes."""
    entries = count(size, "entry", "entries")
    if proof.index >= size:
        raise UnreadableError(
            f"The proof is for entry {proof.index}, counted from 0, "
            f"but its checkpoint covers only {entries}."
        )
    expected = len(inclusion_sides(proof.index, size))
    if len(proof.hashes) != expected:
        raise UnreadableError(
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


def _check_said(findings: Findings, statement: dict[str, Any], said: Mapping[str, Any]) -> None:
    """Readers take the ID of a key from the file, not from the statement inside."""
    for name, value in said.items():
        # Beside a receipt, `sealed_to` is the first recipient, as in the record of a key.
        first = next(iter(stated_recipients(statement)), None)
        stated = first if name == "sealed_to" else statement[name]
        if value == stated:
            continue
        findings.problems.append(
            f"The file has another {name} than its receipt, which says "
            f"{'none' if stated is None else stated}: it was altered, "
            "or the receipt is for another key."
        )


def _decoded(statement: dict[str, Any]) -> KeyStatement | KeyStatementV2:
    if statement["type"] == KEY_STATEMENT_V2:
        return decode(KeyStatementV2, statement)
    return decode(KeyStatement, statement)


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
    recipients = stated_recipients(statement)
    if recipients:
        to = (
            "the recipient with the thumbprint"
            if len(recipients) == 1
            else f"{len(recipients)} recipients, with the thumbprints"
        )
        findings.shown.append(
            f"The log's statement is also that the key was sealed to {to} {names(recipients)}."
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
