"""Checks a checkpoint against a pinned policy: the log's signature, then the quorum."""

from __future__ import annotations

from dataclasses import dataclass

from .format_error import FormatError
from .note import (
    ML_DSA_44_COSIGNATURE,
    Checkpoint,
    SignedNote,
    VerifierKey,
)
from .policy import Policy, parse_policy
from .signatures import UnsupportedError, verify_signature
from .text import plain_text, unreadable
from .verdict import Findings, instant, names

CLOCK_TOLERANCE_SECONDS = 300
"""How far the clocks of log, witnesses and verifier may differ."""


@dataclass(frozen=True)
class Authority:
    """True ``is_log_signed``: a key of the policy signed, and no known signature is wrong."""

    is_log_signed: bool = False
    signed_at: int | None = None
    witnesses: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Signed:
    """A right signature of a key."""

    key: VerifierKey
    timestamp: int | None


class AuthorityCheck:
    """One check of a checkpoint's signatures. ``now`` is in seconds since the epoch."""

    def __init__(
        self, findings: Findings, note: SignedNote, checkpoint: Checkpoint, now: float
    ) -> None:
        self._findings = findings
        self._note = note
        self._checkpoint = checkpoint
        self._now = now

    def run(self, policy_text: str | bytes | None) -> Authority:
        """Check the signatures and add what they show. Raises UnreadableError."""
        problems = self._findings.problems
        if policy_text is None:
            problems.append(
                "Without a pinned policy nothing shows whose log this is: "
                f'anyone can sign as "{self._checkpoint.origin}".'
            )
            return Authority()
        try:
            policy = parse_policy(plain_text(policy_text))
        except FormatError as error:
            raise unreadable("The policy cannot be read", error) from None
        before = len(problems)
        log = self._check_log(policy)
        is_log_signed = len(problems) == before
        witnesses = self._check_witnesses(policy)
        if is_log_signed:
            self._describe_log(log)
        self._describe_witnesses(policy, witnesses)
        signed_at = next((one.timestamp for one in log if one.timestamp is not None), None)
        return Authority(is_log_signed, signed_at, tuple(witnesses))

    def _check_log(self, policy: Policy) -> list[_Signed]:
        """Return the right signatures by keys that the policy lists for this log."""
        problems = self._findings.problems
        origin = self._checkpoint.origin
        keys = [key for key in policy.logs if key.name == origin]
        if not keys:
            others = dict.fromkeys(f'"{key.name}"' for key in policy.logs)
            listed = names(others) if others else "no log at all"
            problems.append(f'The policy does not list the log "{origin}": it lists {listed}.')
            return []
        before = len(problems)
        right = [one for key in keys for one in self._signatures_by(key, f'the log "{origin}"')]
        if not right and len(problems) == before:
            problems.append(
                f'The checkpoint has no signature by the key of the policy for the log "{origin}" '
                f"(key ID {names(key.hex_id for key in keys)}): "
                "another key signed, or the signature was removed."
            )
        return right

    def _check_witnesses(self, policy: Policy) -> dict[str, _Signed]:
        """Return the witnesses that cosigned, by their names in the policy."""
        right: dict[str, _Signed] = {}
        for name, key in policy.witnesses.items():
            signed = self._signatures_by(key, f'the witness "{name}"')
            if signed:
                right[name] = signed[0]
        if not policy.is_met_by(right):
            who = f"only {names(right)} cosigned" if right else "no witness of it cosigned"
            self._findings.problems.append(
                f'Not yet cosigned: the policy asks for the quorum "{policy.quorum}" of witnesses, '
                f"but {who} this checkpoint. Fetch the receipt again later."
            )
        return right

    def _signatures_by(self, key: VerifierKey, who: str) -> list[_Signed]:
        """Return the right signatures of one key. A wrong one is a problem, by signed-note."""
        problems = self._findings.problems
        if not key.has_own_key_id:
            problems.append(
                f"The policy's key for {who} was altered: its key ID {key.hex_id} "
                "does not belong to its name and public key."
            )
            return []
        right: list[_Signed] = []
        for signature in self._note.signatures:
            if (signature.name, signature.key_id) != (key.name, key.key_id):
                continue
            try:
                is_right, timestamp = verify_signature(key, self._note, self._checkpoint, signature)
            except UnsupportedError as error:
                problems.append(f"The signature of {who} was not verified. {error}")
                continue
            if not is_right:
                problems.append(
                    f"The signature of {who} is wrong: the checkpoint or the signature was altered."
                )
            elif (timestamp or 0) > self._now + CLOCK_TOLERANCE_SECONDS:
                problems.append(
                    f"The signature of {who} is from {instant(timestamp or 0)}, "
                    "which is in the future: check the clock of this machine."
                )
            else:
                right.append(_Signed(key, timestamp))
        return right

    def _describe_log(self, log: list[_Signed]) -> None:
        how = dict.fromkeys(
            _algorithm(one.key)
            if one.timestamp is None
            else f"{_algorithm(one.key)} at {instant(one.timestamp)}"
            for one in log
        )
        self._findings.shown.append(
            f'The log "{self._checkpoint.origin}" signed the checkpoint with {names(how)}.'
        )
        not_shown = self._findings.not_shown
        if not any(_is_post_quantum(one.key) for one in log):
            not_shown.append(
                "That the signature withstands quantum computers: the policy accepts the Ed25519 "
                "key of the log, so the post-quantum signature was not required."
            )
        if all(one.timestamp is None for one in log):
            not_shown.append("When the log signed: its Ed25519 signature states no time.")

    def _describe_witnesses(self, policy: Policy, witnesses: dict[str, _Signed]) -> None:
        not_shown = self._findings.not_shown
        if not witnesses:
            not_shown.append(
                "That others see the same log: no witness of the policy cosigned. "
                "Without independent witnesses a log is a file signed by its owner."
            )
            return
        who = names(
            name if one.timestamp is None else f"{name} at {instant(one.timestamp)}"
            for name, one in witnesses.items()
        )
        asked = "" if policy.quorum == "none" else ", as the policy asks"
        self._findings.shown.append(
            f"Witnesses saw a log without contradictions up to this checkpoint{asked}: {who}."
        )
        if not all(_is_post_quantum(one.key) for one in witnesses.values()):
            not_shown.append(
                "That the cosignatures of all witnesses withstand quantum computers: "
                "some are Ed25519."
            )


def _is_post_quantum(key: VerifierKey) -> bool:
    return key.type == ML_DSA_44_COSIGNATURE


def _algorithm(key: VerifierKey) -> str:
    return "ML-DSA-44" if _is_post_quantum(key) else "Ed25519"
