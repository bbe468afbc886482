"""Trust policies: c2sp.org/tlog-policy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from .format_error import FormatError, quoted, received
from .note import ED25519, VerifierKey, parse_verifier_key

_NONE = "none"
_MAX_LENGTH = 2**20
_MAX_LINES = 4096


@dataclass(frozen=True)
class Group:
    """A group of witnesses and earlier groups, of which ``threshold`` must have cosigned."""

    name: str
    threshold: int
    members: tuple[str, ...]


@dataclass(frozen=True)
class Policy:
    """Accepted logs, known witnesses by their names, and the quorum of witnesses."""

    logs: tuple[VerifierKey, ...]
    witnesses: dict[str, VerifierKey]
    groups: tuple[Group, ...]
    quorum: str

    def is_met_by(self, cosigned: Iterable[str]) -> bool:
        """Return whether cosignatures of these witnesses are enough."""
        if self.quorum == _NONE:
            return True
        met = set(cosigned) & set(self.witnesses)
        # A group names only what stands above it, so one pass is enough.
        for group in self.groups:
            if sum(member in met for member in group.members) >= group.threshold:
                met.add(group.name)
        return self.quorum in met


def parse_policy(text: str) -> Policy:
    """Return a policy. Raises FormatError with the number of the line."""
    lines = text.split("\n")
    if len(text) > _MAX_LENGTH or len(lines) > _MAX_LINES:
        raise FormatError(f"expected a policy of at most 1 MiB and {_MAX_LINES} lines")
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        try:
            reader.read(line)
        except FormatError as error:
            raise FormatError(f"line {number} of the policy: {error}") from None
    return reader.policy()


class _Reader:
    def __init__(self) -> None:
        self._logs: list[VerifierKey] = []
        self._witnesses: dict[str, VerifierKey] = {}
        self._groups: list[Group] = []
        self._names = {_NONE}
        self._members: set[str] = set()
        self._quorum: str | None = None

    def read(self, line: str) -> None:
        if re.search(r"[\x00-\x08\x0a-\x1f\x7f]", line):
            raise FormatError("control characters other than tab are not allowed")
        word, *items = re.split(r"[ \t]+", line.strip(" \t"))
        if word == "" or word.startswith("#"):
            return
        readers = {
            "log": self._read_log,
            "witness": self._read_witness,
            "group": self._read_group,
            "quorum": self._read_quorum,
        }
        if word not in readers:
            raise FormatError(f"expected log, witness, group or quorum, got {received(word)}")
        readers[word](items)

    def policy(self) -> Policy:
        if self._quorum is None:
            raise FormatError("the policy has no quorum line")
        return Policy(tuple(self._logs), self._witnesses, tuple(self._groups), self._quorum)

    def _read_log(self, items: list[str]) -> None:
        if not 1 <= len(items) <= 2:
            raise FormatError("expected log <vkey> [<url>]")
        key = parse_verifier_key(items[0])
        _check_new(key, self._logs)
        self._logs.append(key)

    def _read_witness(self, items: list[str]) -> None:
        if not 2 <= len(items) <= 3:
            raise FormatError("expected witness <name> <vkey> [<url>]")
        key = parse_verifier_key(items[1])
        # Without a type of c2sp.org/tlog-cosignature, a signature says nothing of consistency.
        if key.type == ED25519:
            raise FormatError("a witness needs a key of type 4 or 6 (cosignature), got type 1")
        _check_new(key, self._witnesses.values())
        self._define(items[0])
        self._witnesses[items[0]] = key

    def _read_group(self, items: list[str]) -> None:
        if len(items) < 3:
            raise FormatError("expected group <name> <all, any or a number> <name>...")
        name, count, *members = items
        for member in members:
            self._check_defined(member)
            if member == _NONE:
                raise FormatError('"none" is no member of a group')
            if member in self._members:
                raise FormatError(f"{quoted(member)} is a member of a group already")
            self._members.add(member)
        self._define(name)
        self._groups.append(Group(name, _threshold(count, len(members)), tuple(members)))

    def _read_quorum(self, items: list[str]) -> None:
        if len(items) != 1:
            raise FormatError("expected quorum <name>")
        if self._quorum is not None:
            raise FormatError("the policy has a quorum line already")
        self._check_defined(items[0])
        self._quorum = items[0]

    def _define(self, name: str) -> None:
        if name in self._names:
            raise FormatError(f"the name {quoted(name)} is taken")
        self._names.add(name)

    def _check_defined(self, name: str) -> None:
        if name not in self._names:
            raise FormatError(f"no witness or group above is named {quoted(name)}")


def _check_new(key: VerifierKey, others: Iterable[VerifierKey]) -> None:
    """Two keys are duplicates if the public key is the same, also under another name."""
    if any(other.public_key == key.public_key for other in others):
        raise FormatError(f"the public key of {key.name} is listed already")


def _threshold(count: str, members: int) -> int:
    if count == "all":
        return members
    if count == "any":
        return 1
    if re.fullmatch(r"[1-9][0-9]{0,3}", count, re.ASCII) and int(count) <= members:
        return int(count)
    raise FormatError(f"expected all, any or a number from 1 to {members}, got {received(count)}")
