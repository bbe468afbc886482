"""A program as users of openapi-python-client write it: calls the service and prints what it got, from named types."""

import json
import sys

from phm_key_service_client import AuthenticatedClient
from phm_key_service_client.api.keys import generate, validate
from phm_key_service_client.api.metrics import metrics
from phm_key_service_client.models import (
    EntropySource,
    GeneratedKey,
    GenerateRequest,
    Metrics,
    Problem,
    ValidateRequest,
    ValidationResult,
)
from phm_key_service_client.types import Unset

BASE_URL, API_KEY = sys.argv[1:]


def client_of(api_key: str) -> AuthenticatedClient:
    return AuthenticatedClient(
        base_url=BASE_URL,
        token=api_key,
        prefix="",
        auth_header_name="X-API-Key",
        raise_on_unexpected_status=True,
    )


def until_limited(client: AuthenticatedClient) -> Problem:
    """Calls until the bucket of the API key is empty."""
    for _ in range(2_000):
        answer = metrics.sync(client=client)
        if isinstance(answer, Problem):
            return answer
    raise AssertionError("the rate limit was never met")


def describe(problem: object) -> dict[str, object]:
    assert isinstance(problem, Problem), problem
    errors = [] if isinstance(problem.errors, Unset) else problem.errors
    return {
        "status": problem.status,
        "code": problem.code.value,
        "pointers": [error.pointer for error in errors],
    }


with client_of(API_KEY) as client:
    key = generate.sync(
        client=client,
        body=GenerateRequest(security_level=256, enable_nist_validation=True),
        prefer="handling=strict",
    )
    assert isinstance(key, GeneratedKey), key
    assert not isinstance(key.nist_validation, Unset)
    validation = validate.sync(
        client=client, body=ValidateRequest(key=key.key, hash_proof=key.hash_proof)
    )
    assert isinstance(validation, ValidationResult), validation
    sums = metrics.sync(client=client, hours=1)
    assert isinstance(sums, Metrics), sums

    wrong = GenerateRequest(security_level=512)  # type: ignore[arg-type]
    starved = GenerateRequest(security_level=256, entropy_source=EntropySource.DEVICE)
    problems = [
        generate.sync(client=client, body=wrong),
        metrics.sync(client=client_of("phmsk_demo_unknown")),
        generate.sync(client=client, body=starved),
        until_limited(client),
    ]

print(
    json.dumps(
        {
            "security_level": key.security_level,
            "tests_passed": key.nist_validation.tests_passed,
            "valid": validation.valid,
            "proof_verification": validation.validation_details.proof_verification.value,
            "total_keys_generated": sums.metrics.performance.total_keys_generated,
            "problems": [describe(problem) for problem in problems],
        }
    )
)
