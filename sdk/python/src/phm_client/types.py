"""The responses of the service, as frozen dataclasses.

Attributes have the names of the JSON members, which ``docs/api.md`` of the project explains. Times
are ``datetime`` with UTC offset, lists are tuples. Unknown members are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Generic, Literal, TypeVar

SecurityLevel = Literal[128, 256, 384]
ModulationType = Literal["phase", "frequency", "amplitude", "none"]
EntropySource = Literal["os", "quantum-simulator", "jitter", "device", "ibm-quantum", "qrng"]
SealSuite = Literal["MLKEM768-X25519", "ML-KEM-1024"]
StepMinutes = Literal[1, 5, 15, 60, 360, 1440]
KeyStatus = Literal["active", "deactivated", "compromised"]
CopyState = Literal["waiting", "received", "removed", "expired", "revoked", "unknown"]
RevocationReason = Literal["key_compromise", "superseded", "cessation_of_use", "unspecified"]

ErrorCode = Literal[
    "invalid_request",
    "malformed_json",
    "malformed_request",
    "missing_api_key",
    "invalid_api_key",
    "insufficient_scope",
    "address_not_allowed",
    "account_suspended",
    "sealed_only",
    "recipient_not_registered",
    "not_found",
    "key_not_found",
    "receipt_not_found",
    "delivery_not_found",
    "method_not_allowed",
    "request_timeout",
    "idempotency_in_progress",
    "key_already_made",
    "delivery_exists",
    "delivery_box_full",
    "delivery_gone",
    "payload_too_large",
    "batch_too_large",
    "unsupported_media_type",
    "expectation_failed",
    "idempotency_key_reused",
    "headers_too_large",
    "rate_limited",
    "quota_exceeded",
    "internal_error",
    "record_altered",
    "method_not_implemented",
    "unsupported_transfer_encoding",
    "entropy_unavailable",
    "ledger_unavailable",
    "foreign_ledger",
    "overloaded",
    "unknown_plan",
    "receipt_pending",
    "log_stopped",
    "http_version_not_supported",
]
"""Stable codes of the service's errors."""

StreamName = Literal["carrier", "modulated"]
TestName = Literal[
    "frequency",
    "block_frequency",
    "cumulative_sums",
    "runs",
    "longest_run",
    "rank",
    "dft",
    "non_overlapping_template",
    "overlapping_template",
    "universal",
    "approximate_entropy",
    "random_excursions",
    "random_excursions_variant",
    "serial",
    "linear_complexity",
]
"""The tests of SP 800-22, in the order of the reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerWarning:
    """A part of an accepted request that the service ignored."""

    code: str
    pointer: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Members of all responses."""

    timestamp: datetime
    warnings: tuple[AnswerWarning, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementEvidence:
    """The verdict on the stream of a validated key, and the digest of its p-values."""

    digest: str
    verdict: Literal["PASS", "FAIL"]
    tests_passed: int
    total_tests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementSource:
    """An entropy source of a key, and the entropy credited to it."""

    name: str
    credit_bits: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatedFacts:
    """What every statement about a key has."""

    service: str
    key_id: str
    time: str
    security_level: SecurityLevel
    security_strength_bits: int
    key_commitment: str
    evidence: StatementEvidence | None
    modulation: str
    sources: tuple[StatementSource, ...]
    row_digest: str
    software: str
    salt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStatement(_StatedFacts):
    """What the service asserts about a key.

    Its digest is an entry of the transparency log, so ``time`` stays a text, as it was signed.
    """

    type: Literal["phm-key-receipt/v1"]
    sealed_to: str | None
    sealed_digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedSeal:
    """A sealed copy of a key: the thumbprint of its recipient, and its digest."""

    digest: str
    to: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How the service keeps the copies of a key for their recipients."""

    id: str
    context: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStatementV2(_StatedFacts):
    """What the service asserts about a key that is sealed to several recipients."""

    type: Literal["phm-key-receipt/v2"]
    sealed: tuple[StatedSeal, ...]
    """In the order of the request."""
    delivery: Delivery | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A statement about a key, and the proof that the transparency log holds it.

    ``receipt_json`` returns it as the JSON that verifiers read.
    """

    statement: KeyStatement | KeyStatementV2
    proof: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiptResult(Answer):
    """Response of ``receipt``."""

    receipt: Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeyFacts(Answer):
    """What responses say of a key, besides the key itself."""

    key_id: str
    security_level: SecurityLevel
    security_strength_bits: int
    entropy_bits: float
    latency_ms: float
    source: str
    quantum_hardware: bool
    entropy_job_id: str | None
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    expires_at: datetime | None = None
    receipt: Receipt | None = None
    """With ``include="receipt"``. None if it takes over 2 s: ``PhmClient.receipt`` has it then."""
    receipt_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedKey(_KeyFacts):
    """A generated key.

    ``repr()``, comparison and ``hash()`` ignore ``key`` and ``opening``; ``key_id`` identifies it.
    """

    key: str = field(repr=False, compare=False)
    """The key in lowercase hexadecimal; ``key_bytes`` returns its bytes."""
    hash_proof: str
    opening: str | None = field(default=None, repr=False, compare=False)
    """With ``include="receipt"``: opens ``key_commitment``. Keep it as secret as the key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedKey:
    """A key, its proof and its opening, encrypted to one recipient (``docs/sealing.md``).

    ``open_sealed_key`` opens it. ``enc``, ``ciphertext`` and ``header`` are base64url.
    """

    suite: SealSuite
    kem_id: int
    kdf_id: int
    aead_id: int
    enc: str
    ciphertext: str
    header: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedSealedKey(_KeyFacts):
    """A key that only its recipient can open: ``open_sealed_key`` returns it."""

    sealed_key: SealedKey


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptDelivery:
    """What the service keeps for the recipients."""

    id: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedSealedKeys(_KeyFacts):
    """A key that each of several recipients can open: ``open_sealed_key`` finds the own copy.

    A key with ``deliver`` is one, too, also for one recipient.

    The verdict is there with ``enable_nist_validation``, the report also with ``include``.
    """

    sealed_keys: tuple[SealedKey, ...]
    """One for each recipient, in the order of ``seal_to``."""
    delivery: KeptDelivery | None = None
    """With ``deliver``."""
    nist_validation: NistValidation | None = None
    nist_score: int | None = None
    nist_grade: Literal["A", "B", "C", "D", "F"] | None = None
    nist_report: NistReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NistValidation:
    """Verdict on the stream that a key was cut from."""

    certification_status: Literal["PASS", "FAIL"]
    tests_passed: int
    total_tests: int
    compliance_level: Literal["CERTIFICATION_READY", "REVIEW", "NON_COMPLIANT"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedKey(GeneratedKey):
    """A key with ``enable_nist_validation``."""

    nist_validation: NistValidation
    nist_score: int
    nist_grade: Literal["A", "B", "C", "D", "F"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidatedSealedKey(GeneratedSealedKey):
    """A sealed key with ``enable_nist_validation``."""

    nist_validation: NistValidation
    nist_score: int
    nist_grade: Literal["A", "B", "C", "D", "F"]


Figures = Mapping[str, float | bool | tuple[float, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NistTest:
    """One test of a report, and the stream that it judged.

    ``reason`` is None unless the test does not apply.
    """

    name: TestName
    stream: StreamName
    applicable: bool
    reason: str | None = None
    parameters: Figures = field(hash=False)
    labels: tuple[str, ...]
    p_values: tuple[float, ...]
    corrected_p: float | None
    statistics: Figures = field(hash=False)
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NistWeakestTest:
    """The test with the smallest ``corrected_p`` among those that enter the gate."""

    stream: StreamName
    name: TestName


@dataclass(frozen=True, slots=True, kw_only=True)
class NistGate:
    """The verdict that releases a key."""

    p_value: float
    alpha: float
    tests: int
    weakest: NistWeakestTest
    verdict: Literal["PASS", "FAIL"]
    streams_judged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NistReport:
    """The full report on the stream that a key was cut from.

    ``tests`` judge the generator's output before modulation, ``modulation_tests`` the output after
    it.
    """

    bits: int
    constants: Literal["exact", "nist"]
    alpha: float
    tests: tuple[NistTest, ...]
    tests_passed: int
    total_tests: int
    modulation_tests: tuple[NistTest, ...]
    gate: NistGate
    evidence_definition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedKey(ValidatedKey):
    """A key with ``enable_nist_validation`` and ``include="nist_report"``."""

    nist_report: NistReport


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedSealedKey(ValidatedSealedKey):
    """A sealed key with ``enable_nist_validation`` and ``include="nist_report"``."""

    nist_report: NistReport


K = TypeVar("K", bound="GeneratedKey | GeneratedSealedKey | GeneratedSealedKeys")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyBatch(Answer, Generic[K]):
    """Response to one request for a batch: all of its keys."""

    count: int
    keys: tuple[K, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEvidence:
    """Result of the statistical suite on the stream of a validated key."""

    verdict: Literal["PASS"]
    tests_passed: int
    total_tests: int
    gate_p_value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInfo:
    """What the service knows about a key: never the key."""

    key_id: str
    status: KeyStatus
    created_at: datetime
    security_level: int
    security_strength_bits: int | None
    modulation_type: str
    source: str
    api_key_id: str
    evidence: KeyEvidence | None
    sealed_to: str | None
    """The recipient, or the first of several."""
    recipients: tuple[str, ...]
    """All recipients."""
    delivery_id: str | None
    """The delivery that keeps the sealed copies."""
    labels: Mapping[str, str] = field(hash=False)
    expires_at: datetime | None
    revoked_at: datetime | None
    revocation_reason: RevocationReason | None
    receipt_url: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyInfoResult(Answer):
    """The record of one key."""

    key: KeyInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyList(Answer):
    """A page of key records. ``next_cursor`` is None at the end."""

    keys: tuple[KeyInfo, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredCopy:
    """A sealed key that waits for a recipient, or was fetched."""

    delivery_id: str
    key_id: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryList(Answer):
    """A page of the copies for a recipient. ``next_cursor`` is None at the end."""

    deliveries: tuple[DeliveredCopy, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedDelivery:
    """A copy after a fetch. It has ``sealed_key`` if its state is ``received``."""

    delivery_id: str
    state: CopyState
    key_id: str | None = None
    until: datetime | None = None
    sealed_key: SealedKey | None = None
    receipt: Receipt | None = None
    receipt_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchResult(Answer):
    """Response of ``deliveries.fetch``, in the order of the IDs."""

    deliveries: tuple[FetchedDelivery, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryCopyState:
    """The state of a copy for its recipient."""

    delivery_id: str
    state: CopyState


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoveResult(Answer):
    """Response of ``deliveries.remove``, in the order of the IDs."""

    deliveries: tuple[DeliveryCopyState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateAtRecipient:
    """The state of a copy, for the account. ``received_at`` is None if it was not fetched."""

    recipient: str
    state: Literal["waiting", "received", "removed", "expired", "revoked"]
    received_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryStates:
    """The states of a delivery at its recipients."""

    delivery_id: str
    key_id: str
    until: datetime
    recipients: tuple[StateAtRecipient, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResult(Answer):
    """Response about one delivery."""

    delivery: DeliveryStates


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationDetails:
    """The three checks of ``validate``.

    ``retired_secret`` is None unless the key belongs to a retired version of the master secret. It
    then tells which record of the key the ledger, which decides, has. ``key_status`` is None unless
    the service recognises the key; ``valid`` is False unless it is ``active``. ``reason`` says in
    one sentence why ``valid`` is False; it is None for a valid key.
    """

    key_format: Literal["valid", "invalid"]
    entropy_check: Literal["passed", "failed", "skipped"]
    proof_verification: Literal["passed", "failed", "skipped", "unconfirmed"]
    retired_secret: Literal["record_found", "record_too_late", "no_record"] | None = None
    key_status: KeyStatus | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationResult(Answer):
    """The verdict on a key: ``valid`` if the service generated it."""

    valid: bool
    validation_details: ValidationDetails


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformanceMetrics:
    """Performance of the account's ``generate`` calls."""

    total_keys_generated: int
    average_latency_ms: float
    nist_compliance_rate: float
    error_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageMetrics:
    """Usage of the account."""

    api_key_count: int
    total_usage: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountMetrics:
    """Sums of an account over a period."""

    performance: PerformanceMetrics
    usage: UsageMetrics


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics(Answer):
    """Response of ``metrics``."""

    metrics: AccountMetrics


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesLatency:
    """Mean and percentiles of a step's latency in milliseconds."""

    mean: float
    p50: float | None
    p90: float | None
    p99: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPoint:
    """One step of a series."""

    start: datetime
    keys: int
    keys_per_second: float
    requests: int
    latency_ms: SeriesLatency | None
    streams: int
    nist_compliance_rate: float | None
    failures: int
    error_rate: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """Sums of an account in steps, with quiet steps."""

    step_minutes: StepMinutes
    start: datetime
    end: datetime
    points: tuple[SeriesPoint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSeries(Answer):
    """Response of ``metrics_series``."""

    series: Series


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomnessRow:
    """One p-value of one stream over all keys. ``p_values`` comes with ``include="p_values"``."""

    stream: StreamName
    test: TestName
    label: str
    samples: int
    histogram: tuple[int, ...]
    uniformity_p: float | None
    passed: int
    proportion: float | None
    proportion_min: float | None
    proportion_max: float | None
    verdict: Literal["pass", "fail"] | None
    p_values: tuple[float | None, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomnessSums:
    """The samples of an account's last validated keys, judged together."""

    keys: int
    first: datetime | None
    last: datetime | None
    significance_level: float
    rows: tuple[RandomnessRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Randomness(Answer):
    """Response of ``randomness``."""

    randomness: RandomnessSums


@dataclass(frozen=True, slots=True, kw_only=True)
class Latch:
    """Reason why the process generates no more keys until a restart."""

    cause: Literal[
        "self_test", "gate", "accumulated", "screen", "key_test", "repeated_key", "altered_key"
    ]
    test: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(Answer):
    """State of the server. ``success`` is False if it is not ready."""

    success: bool
    status: Literal["ok", "unavailable", "draining"]
    checks: Mapping[str, str] | None = field(default=None, hash=False)
    latch: Latch | None = None


def receipt_json(receipt: Receipt) -> str:
    """Return a receipt as JSON, for a file or for another verifier."""
    return json.dumps(asdict(receipt), separators=(",", ":"))
