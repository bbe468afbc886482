"""What a type checker says of programs that use the client; `test_types.py` runs mypy on it."""

from typing import Literal

from typing_extensions import assert_type

from phm_client import (
    ErrorCode,
    GeneratedKey,
    NistReport,
    PhmApiError,
    PhmClient,
    Receipt,
    ReportedKey,
    ValidatedKey,
    key_bytes,
)


def use(phm: PhmClient, wanted: bool) -> str:
    plain = phm.generate(256)
    assert_type(plain, GeneratedKey)
    assert_type(key_bytes(plain), bytes)
    assert_type(phm.generate(128, enable_nist_validation=wanted), GeneratedKey)
    validated = phm.generate(256, enable_nist_validation=True)
    assert_type(validated, ValidatedKey)
    assert_type(validated.nist_validation.tests_passed, int)
    assert_type(validated.nist_grade, Literal["A", "B", "C", "D", "F"])
    reported = phm.generate(384, enable_nist_validation=True, include="nist_report")
    assert_type(reported, ReportedKey)
    assert_type(reported.nist_report, NistReport)
    assert_type(phm.generate(256, include="receipt"), GeneratedKey)
    assert_type(phm.generate(256, enable_nist_validation=True, include="receipt"), ValidatedKey)
    both = phm.generate(256, enable_nist_validation=True, include=("nist_report", "receipt"))
    assert_type(both, ReportedKey)
    assert_type(both.opening, str | None)
    assert_type(phm.receipt(plain.key_id).receipt, Receipt)
    quota = phm.last_limits.quota
    return f"{plain.key} {quota.remaining if quota else None} {phm.health().status}"


def code_of(error: PhmApiError) -> ErrorCode | None:
    if error.code == "out_of_luck":  # type: ignore[comparison-overlap]
        return None
    return error.code


def misuse(phm: PhmClient) -> None:
    phm.generate(512)  # type: ignore[call-overload]
    phm.generate(256, modulation_type="loud")  # type: ignore[call-overload]
    phm.generate(256, include="nist_report")  # type: ignore[call-overload]
    phm.generate(256, include=("receipts",))  # type: ignore[call-overload]
    phm.generate(256, enable_nist=True)  # type: ignore[call-overload]
    phm.generate(256).nist_validation  # type: ignore[attr-defined]
    phm.generate(256).key = "00"  # type: ignore[misc]
    phm.validate()  # type: ignore[call-arg]
    phm.metrics_series(step=7)  # type: ignore[arg-type]
