"""Checks a ``nist_report`` against the digest in a statement: docs/receipts.md of the project."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping
from typing import Any

from .canonical import canonical_json
from .verdict import Findings

# The tests of a stream with their numbers of p-values, in the order in which the ledger has them.
_CARRIER = {
    "frequency": 1,
    "block_frequency": 1,
    "cumulative_sums": 2,
    "runs": 1,
    "longest_run": 1,
    "rank": 1,
    "dft": 1,
    "non_overlapping_template": 148,
    "overlapping_template": 1,
    "universal": 1,
    "approximate_entropy": 1,
    "random_excursions": 8,
    "random_excursions_variant": 18,
    "serial": 2,
    "linear_complexity": 1,
}
_QUICK = ("frequency", "block_frequency", "runs", "longest_run")
_MODULATED = {name: _CARRIER[name] for name in _QUICK}

# P-values are stored in units of 10^-9, rounded down; a test that does not apply has this value.
_UNITS = 10**9
_NOT_APPLICABLE = 0xFFFFFFFF


def check_evidence(
    findings: Findings, statement: Mapping[str, Any], report: Mapping[str, Any] | None
) -> None:
    """Add what the report shows."""
    evidence = statement["evidence"]
    if report is None:
        if evidence is not None:
            findings.not_shown.append(
                "Which p-values the statistical tests had: no nist_report was given."
            )
    elif evidence is None:
        findings.problems.append(
            "The receipt states no statistical tests, so the nist_report is not of its key."
        )
    elif _digest_of(report) == evidence["digest"]:
        findings.shown.append(
            "The given nist_report has the gate and the p-values that the receipt states."
        )
    else:
        findings.problems.append(
            "The given nist_report is not the one of this receipt: its digest differs."
        )


def _digest_of(report: Mapping[str, Any]) -> str | None:
    """Return ``evidence.digest`` of a report; None if it has not the form of one."""
    try:
        gate = report["gate"]
        content = {
            "definition": report["evidence_definition"],
            "gate_p_value": gate["p_value"],
            "p_values": base64.b64encode(_pack(report)).decode(),
            "verdict": gate["verdict"],
        }
        text = canonical_json(content)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _pack(report: Mapping[str, Any]) -> bytes:
    units = _units(report["tests"], _CARRIER) + _units(report["modulation_tests"], _MODULATED)
    return b"".join(unit.to_bytes(4, "little") for unit in units)


def _units(tests: Any, places: Mapping[str, int]) -> list[int]:
    found = {test["name"]: test for test in reversed(list(tests))}
    units: list[int] = []
    for name, length in places.items():
        test = found.get(name)
        if test is None or not test["applicable"]:
            units += [_NOT_APPLICABLE] * length
            continue
        values = test["p_values"]
        if len(values) != length:
            raise ValueError(f"expected {length} p-values, got {len(values)}")
        units += [_whole_units(value) for value in values]
    return units


def _whole_units(value: float) -> int:
    """Round down. The product alone may round up past ``value``."""
    if not 0 <= value <= 1:
        raise ValueError("expected a p-value from 0 to 1")
    units = math.floor(value * float(_UNITS))
    return units - 1 if units / _UNITS > value else units
