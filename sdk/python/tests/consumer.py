"""What a type checker says of programs that use the client; `test_types.py` runs mypy on it."""

from collections.abc import Iterator
from typing import Literal

from typing_extensions import assert_type

from phm_client import (
    ErrorCode,
    GeneratedKey,
    GeneratedSealedKey,
    NistReport,
    PhmApiError,
    PhmClient,
    Receipt,
    ReportedKey,
    ReportedSealedKey,
    SealedKey,
    ValidatedKey,
    ValidatedSealedKey,
    key_bytes,
    new_recipient,
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


def use_sealed(phm: PhmClient) -> None:
    own = new_recipient()
    sealed = phm.generate_sealed(256, seal_to=own.recipient, idempotency_key="order-17")
    assert_type(sealed, GeneratedSealedKey)
    assert_type(sealed.sealed_key, SealedKey)
    validated = phm.generate_sealed(256, seal_to="backup", enable_nist_validation=True)
    assert_type(validated, ValidatedSealedKey)
    assert_type(phm.generate(256, idempotency_key=True), GeneratedKey)
    assert_type(phm.generate_batch(256, count=1000), Iterator[GeneratedKey])
    tested = phm.generate_batch(256, count=5, chunk=2, enable_nist_validation=True)
    assert_type(tested, Iterator[ValidatedKey])
    reported = phm.generate_sealed_batch(
        256, count=5, seal_to=own, enable_nist_validation=True, include="nist_report"
    )
    assert_type(reported, Iterator[ReportedSealedKey])


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
    phm.generate_sealed(256)  # type: ignore[call-overload]
    phm.generate_sealed(256, seal_to=b"")  # type: ignore[call-overload]
    phm.generate_sealed(256, seal_to="backup").key  # type: ignore[attr-defined]
    phm.generate_batch(256)  # type: ignore[call-overload]
    phm.generate(256).nist_validation  # type: ignore[attr-defined]
    phm.generate(256).key = "00"  # type: ignore[misc]
    phm.validate()  # type: ignore[call-arg]
    phm.metrics_series(step=7)  # type: ignore[arg-type]
